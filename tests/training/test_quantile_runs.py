"""TQC and DSAC by the command: presets, and runs that resume bit for bit on a Gymnasium task and the corridor."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyresac.deep.algorithms.dsac import DSACOptions
from pyresac.deep.algorithms.tqc import TQCOptions
from pyresac.train import main
from pyresac.training.checkpoint import load_checkpoint
from pyresac.training.presets import options_for

SHORT = [
    *("--hidden", "8", "8", "--actor-hidden", "8", "--batch-size", "8", "--buffer-size", "100", "--num-envs", "1"),
    *("--quantiles", "4", "--ensemble-size", "2", "--random-steps", "0", "--learning-starts", "20"),
    *("--update-every", "4", "--eval-episodes", "1", "--final-episodes", "2", "--eval-every", "40"),
    *("--checkpoint-every", "40", "--no-tensorboard"),
]


@pytest.mark.parametrize("algorithm", [["tqc"], ["tqc", "--critics", "implicit"], ["dsac"]])
@pytest.mark.parametrize("env", ["Pendulum-v1", "corridor"])
def test_two_halves_equal_the_whole(algorithm: list[str], env: str, tiny: Path, tmp_path: Path) -> None:
    task = ["--corridor", str(tiny)] if env == "corridor" else ["--env", env]
    options = ["--algorithm", *algorithm, *task, *SHORT]
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    assert main([*options, "--steps", "80", "--run-dir", str(whole)]) == 0
    assert main([*options, "--steps", "40", "--run-dir", str(halves)]) == 0
    assert main(["--run-dir", str(halves), "--resume", "--steps", "80"]) == 0
    assert (whole / "metrics.csv").read_bytes() == (halves / "metrics.csv").read_bytes()
    (first, second) = (
        load_checkpoint(next((run / "checkpoints").glob("step-000000000080*"))).arrays for run in (whole, halves)
    )
    assert {name: array.tobytes() for name, array in first.items()} == {n: a.tobytes() for n, a in second.items()}


@pytest.mark.parametrize("corridor", [False, True])
def test_presets(corridor: bool) -> None:
    tqc, published = options_for("default", "tqc", corridor), options_for("published-tqc", None, corridor)
    assert isinstance(tqc, TQCOptions)
    assert isinstance(published, TQCOptions)
    assert (tqc.ensemble_size, tqc.quantiles, tqc.dropped, tqc.drops_from, tqc.critics) == (5, 25, 2, "pool", "fixed")
    assert (published.drops_from, published.critics, published.cosines, published.dropped) == (
        "critic",
        "implicit",
        32,
        2,
    )
    assert published.update_every == 16
    dsac, published_dsac = options_for("default", "dsac", corridor), options_for("published-dsac", None, corridor)
    assert isinstance(dsac, DSACOptions)
    assert isinstance(published_dsac, DSACOptions)
    assert (dsac.ensemble_size, dsac.quantiles, dsac.cosines, dsac.normalisation) == (2, 32, 64, "layer")
    assert (published_dsac.quantiles, published_dsac.update_every) == (8, 16)
    if not corridor:
        assert (tqc.hidden, published.hidden, dsac.hidden) == ((512, 512, 512), (256, 256), (256, 256))
