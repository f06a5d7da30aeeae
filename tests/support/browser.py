"""Pages in headless Chromium, where there is one."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr"),
)


def shown(address: str, profile: Path, width: int = 1280) -> tuple[str, str]:
    """The page after four seconds of its own time, and what it wrote to the console. Skips without a browser."""
    browser = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := which(name))), None
    )
    if browser is None:
        pytest.skip("no Chromium here")
    size = f"--window-size={width},900"
    command = [
        browser,
        *OPTIONS,
        size,
        f"--user-data-dir={profile}",
        "--virtual-time-budget=4000",
        "--dump-dom",
        address,
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    return found.stdout, "\n".join(line for line in found.stderr.splitlines() if ":CONSOLE" in line)
