"""Runs of algorithms without weights' norm, or without a temperature, are evaluated with their figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyresac import evaluate, train


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_figures_are_of_what_the_algorithm_has(
    algorithm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    options = (
        "--env Pendulum-v1 --steps 220 --learning-starts 200 --eval-every 110 --checkpoint-every 220 --batch-size 8"
    )
    few = "--eval-episodes 2 --final-episodes 2 --hidden 4 --no-tensorboard --buffer-size 300"
    assert train.main(["--algorithm", algorithm, *options.split(), *few.split(), "--run-dir", str(run)]) == 0
    assert evaluate.main([str(run), "--episodes", "1"]) == 0
    written = {path.name for path in (run / "figures").iterdir()}
    assert {"learning-curve.png", "uncertainty.png"} <= written
    assert "uncertainty.png" in "".join(capsys.readouterr().out.split())
