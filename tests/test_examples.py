"""Every example runs as a newcomer would run it, in an empty folder."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SAYS = {
    "a_line_from_gtfs": "5 stops, 24 trips, a bus every 600 s",
    "certify_your_mdp": "‖Q − Q*‖ ≤",
    "robust_policy_from_counts": "at least",
    "train_on_your_environment": "Return of the averaged policy in 5 episodes",
    "your_own_algorithm": "step  1500: return",
    "your_own_bus_controller": "patient waits less than headway by",
}


def test_every_example_is_known() -> None:
    assert [path.stem for path in EXAMPLES] == sorted(SAYS)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    if path.stem == "a_line_from_gtfs" and importlib.util.find_spec("partridge") is None:
        pytest.skip("partridge is not installed: pip install 'pyresac[gtfs]'")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, str(path)]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert SAYS[path.stem] in run.stdout
