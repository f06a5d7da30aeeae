"""How much memory there is, so that what cannot fit is refused before any work: systems grant what they do not have."""

from __future__ import annotations

import os

from pyresac.errors import InputError


def available_bytes() -> int | None:
    """Bytes of memory that are free now, or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def require_memory(needed: int, what: str) -> None:
    """Raise InputError, which begins with `what`, if so many bytes are not free."""
    free = available_bytes()
    if free is not None and needed > free:
        raise InputError(f"{what} needs {needed / 2**20:,.0f} MiB of memory or more; {free / 2**20:,.0f} MiB are free")
