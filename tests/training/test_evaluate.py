"""`python -m pyresac.evaluate`: numbers, figures, errors, and that it only reads."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from pyresac import corridor as corridor_command
from pyresac import train
from pyresac.envs.bus import METRICS, Corridor, Direction, default_corridor, metrics_table, simulate_days
from pyresac.envs.bus.corridor_files import save_corridor
from pyresac.errors import CheckpointError, InputError
from pyresac.evaluate import main
from pyresac.training.checkpoint import load_checkpoint, save_checkpoint
from pyresac.training.folder import RunFiles, RunFolder
from pyresac.training.restored import restore_run

DAYS = 4
SMALL = [
    *("--hidden", "8", "--actor-hidden", "8", "--ensemble-size", "2", "--batch-size", "16"),
    *("--learning-starts", "80", "--buffer-size", "2000", "--no-tensorboard", "--eval-episodes", "2"),
]


def lengths(steps: int, evaluation: int, checkpoint: int, final: int) -> list[str]:
    names = ("--steps", "--eval-every", "--checkpoint-every", "--final-episodes")
    return [word for pair in zip(names, map(str, (steps, evaluation, checkpoint, final)), strict=True) for word in pair]


FIGURES = ("learning-curve", "values", "uncertainty", "time-space", "predictions")


def line() -> Corridor:
    """Four stops, six trips a direction."""
    stops = ("A", "B", "C", "D")
    length, speed = np.array([400.0, 300.0, 500.0]), np.full((3, 2), 8.0)
    demand = 15.0 * np.ones((2, 4, 4)) * ~np.eye(4, dtype=bool)
    up = Direction(stops, length, speed, 600.0 * np.arange(6))
    down = Direction(stops[::-1], length[::-1], speed, 600.0 * np.arange(6) + 300.0)
    return Corridor("small", stops, up, down, demand, headway=600.0)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds of one setting on the small line."""
    folder = tmp_path_factory.mktemp("runs")
    save_corridor(line(), folder / "line.json")
    paths = [folder / f"tiny-seed{seed}" for seed in range(2)]
    for seed, path in enumerate(paths):
        where = ["--corridor", str(folder / "line.json"), "--seed", str(seed), "--run-dir", str(path)]
        assert train.main([*where, *lengths(800, 200, 400, DAYS), *SMALL]) == 0
    return paths


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on something else than the corridor."""
    path = tmp_path_factory.mktemp("runs") / "pendulum"
    assert train.main(["--env", "Pendulum-v1", "--run-dir", str(path), *lengths(200, 100, 100, 2), *SMALL]) == 0
    return path


@pytest.fixture
def copy(runs: list[Path], tmp_path: Path) -> Path:
    """The first run, to be spoilt."""
    return Path(shutil.copytree(runs[0], tmp_path / "copy"))


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def call(*arguments: object) -> Any:
        capsys.readouterr()
        assert main([*map(str, arguments), "--json", "--no-figures"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


def test_json_repeats_the_report_that_training_ended_with(runs: list[Path], output: Callable[..., Any]) -> None:
    found = output(runs[0], "--days", DAYS)
    result = json.loads((runs[0] / "result.json").read_text())
    for metric in ("reward", "wait", "travel"):
        learned = found["learned"]["tiny-seed0"][metric]["values"]
        assert learned == result["controllers"]["learned"][metric]
        for name, values in found["controllers"].items():
            assert values[metric]["values"] == result["controllers"][name][metric]
            gap = found["differences"][name][metric]["mean"]
            assert gap == pytest.approx(np.mean(learned) - values[metric]["mean"], rel=1e-9, abs=0)
    values = found["runs"]["tiny-seed0"]["values"]
    assert values["q"] == pytest.approx(result["values"]["q"], rel=1e-12, abs=0)
    assert values["earned"] == pytest.approx(result["values"]["earned"], rel=1e-12, abs=0)
    assert found["runs"]["tiny-seed0"]["step"] == 800


def test_the_same_numbers_twice_and_other_days_for_another_seed(runs: list[Path], output: Callable[..., Any]) -> None:
    first, second = output(runs[0], "--episodes", 3), output(runs[0], "--episodes", 3)
    assert first == second
    assert output(runs[0], "--episodes", 3, "--seed", 7)["learned"] != first["learned"]


def test_level_widens_the_intervals(runs: list[Path], output: Callable[..., Any]) -> None:
    narrow, wide = (output(runs[0], "--days", 4, "--level", level)["differences"]["none"] for level in (0.5, 0.99))
    assert 0.0 < narrow["wait"]["half_width"] < wide["wait"]["half_width"]


def test_every_policy_is_that_of_the_newest_checkpoint(runs: list[Path]) -> None:
    saved = load_checkpoint(runs[0] / "checkpoints" / "step-000000000800.ckpt")
    found = {policy: restore_run(runs[0], policy) for policy in ("averaged", "best", "actor")}
    for policy, restored in found.items():
        np.testing.assert_array_equal(restored.actor.matrix.numpy(), saved.arrays[f"learner/{policy}"])
        np.testing.assert_array_equal(
            restored.trainee.learner.critic.matrix.detach().numpy(), saved.arrays["learner/critic"]
        )
    actions = [restored.play(2, 0).action for restored in found.values()]
    assert len({action.tobytes() for action in actions}) > 1


def test_the_controller_plays_the_days_of_the_task_bit_for_bit(runs: list[Path]) -> None:
    restored = restore_run(runs[0])
    played = restored.play(3, 5)
    days = metrics_table(simulate_days(line(), restored.controller(), [10_005, 10_006, 10_007]))
    for name in METRICS:
        np.testing.assert_array_equal(days[name], played.metrics[name])


def test_the_corridor_command_takes_a_run(runs: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--corridor", str(runs[0].parent / "line.json"), "--seeds", "2", "--first-seed", "10005", "--json"]
    capsys.readouterr()
    assert corridor_command.main(["simulate", "--controller", f"learned:{runs[0]}", *where]) == 0
    found = json.loads(capsys.readouterr().out)["metrics"]["reward"]["values"]
    np.testing.assert_allclose(found, restore_run(runs[0]).play(2, 5).returns, rtol=1e-6)
    for other in ("learned:nowhere", "learned:"):
        assert corridor_command.main(["simulate", "--controller", other, *where]) == 2


def test_a_controller_refuses_a_corridor_with_more_stops(runs: list[Path]) -> None:
    with pytest.raises(InputError, match=r"stop \d+ was met on another corridor than small, with 4"):
        simulate_days(default_corridor(), restore_run(runs[0]).controller(), [0])


def test_tables_compare_runs_and_rules(runs: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--days", "3", "--no-figures", "--controllers", "none", "target:slack=20"]
    assert main([*map(str, runs), *arguments]) == 0
    text = capsys.readouterr().out
    for words in ("reward", "10⁶", "wait", "travel", "imbalance", "bunching", "tiny-seed1", "2 seeds", "correlation"):
        assert words in text
    assert "target:slack=20" in text
    assert "headway" not in text
    shown = next(row for row in text.splitlines() if "tiny-seed0" in row and "small" not in row).split()
    reward = restore_run(runs[0]).play(3, 5_000).returns.mean() / 1e6
    assert float(shown[1]) == pytest.approx(reward, abs=5e-4)


def test_a_single_day_has_no_interval(runs: list[Path], output: Callable[..., Any]) -> None:
    assert output(runs[0], "--days", 1)["differences"] == {}


@pytest.mark.parametrize(("episodes", "told"), [(1, False), (2, True)])
def test_differences_are_explained_where_there_are_some(
    runs: list[Path], episodes: int, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(runs[0]), "--episodes", str(episodes), "--no-figures"]) == 0
    assert ("Under a mean:" in capsys.readouterr().out) == told


@pytest.mark.parametrize(("kind", "beginning"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_figures_are_drawn(runs: list[Path], tmp_path: Path, kind: str, beginning: bytes) -> None:
    which = runs if kind == "png" else runs[:1]
    assert main([*map(str, which), "--days", "2", "--figures", str(tmp_path / "new"), "--format", kind]) == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(f"{name}.{kind}" for name in FIGURES)
    for path in (tmp_path / "new").iterdir():
        assert path.read_bytes().startswith(beginning)
        if kind == "png":
            pixels = matplotlib.image.imread(path)[..., :3]
            assert min(pixels.shape[:2]) > 400
            assert 0.005 < float((pixels.min(axis=2) < 0.9).mean()) < 0.6


def test_evaluating_reads_only_and_works_while_the_run_is_held(copy: Path) -> None:
    held = RunFolder.open(copy)
    before = digests(copy)
    try:
        with pytest.raises(InputError, match="in use"):
            RunFolder.open(copy)
        assert main([str(copy), "--days", "2"]) == 0
    finally:
        held.close()
    after = digests(copy)
    new = {name for name in after if name not in before}
    assert new == {f"figures/{name}.png" for name in FIGURES}
    assert {name: after[name] for name in before} == before


def test_another_task_shows_returns(pendulum: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(pendulum), "--episodes", "2", "--figures", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "length" in text
    assert "200.0" in text
    assert "reward" not in text
    # a time limit ends all its episodes, so that no return is known to its end
    assert sorted(path.name for path in tmp_path.iterdir()) == ["learning-curve.png", "uncertainty.png"]


def test_unknown_returns_are_none_in_json(pendulum: Path, output: Callable[..., Any]) -> None:
    found = output(pendulum, "--episodes", 2)
    assert found["runs"]["pendulum"]["values"] == {"decisions": 0, "q": None, "earned": None, "correlation": None}
    assert found["learned"]["pendulum"]["length"]["values"] == [200.0, 200.0]
    assert found["controllers"] == {}


def test_a_row_that_is_being_written_does_not_disturb(copy: Path) -> None:
    with open(copy / "metrics.csv", "a") as handle:
        handle.write("1000,1.0,nan,-12")
    assert main([str(copy), "--days", "2", "--figures", str(copy / "new")]) == 0
    assert (copy / "new" / "learning-curve.png").exists()


def test_a_checkpoint_that_is_removed_while_it_is_read_gives_the_next(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest, calls = copy / "checkpoints" / "step-000000000800.ckpt", []

    def reading(path: Path) -> Any:
        calls.append(path.name)
        if len(calls) == 1:
            newest.rename(newest.with_name("step-000000001200.ckpt"))
        return load_checkpoint(path)

    monkeypatch.setattr("pyresac.training.folder.load_checkpoint", reading)
    saved = RunFiles(copy).load_latest()
    assert saved is not None
    assert saved.state["step"] == 800
    assert calls == ["step-000000000800.ckpt", "step-000000001200.ckpt"]


def no_config(run: Path) -> None:
    (run / "config.json").unlink()


def tabular(run: Path) -> None:
    (run / "config.json").write_text('{"agent": "tabular"}')


def former(run: Path) -> None:
    (run / "config.json").write_text('{"agent": "resac"}')


def no_checkpoint(run: Path) -> None:
    for path in (run / "checkpoints").iterdir():
        path.unlink()


def no_checkpoint_yet(run: Path) -> None:
    no_checkpoint(run)
    (run / "progress.json").unlink()
    (run / "result.json").unlink()


def damaged(run: Path) -> None:
    path = max((run / "checkpoints").iterdir())
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def reconfigured(run: Path) -> None:
    values = json.loads((run / "config.json").read_text())
    values["options"]["discount"] = 0.9
    (run / "config.json").write_text(json.dumps(values))


def misspelt(run: Path) -> None:
    values = json.loads((run / "config.json").read_text())
    values["options"]["discont"] = 0.9
    (run / "config.json").write_text(json.dumps(values))


def bad_metrics(run: Path) -> None:
    (run / "metrics.csv").write_text("step,eval_return\n1,two\n")


def test_a_damaged_curve_costs_the_figures_and_not_the_numbers(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad_metrics(copy)
    assert main([str(copy), "--days", "2", "--json"]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["figures"] == []
    assert "metrics.csv is not a table" in shown.err


SPOILT = [
    (no_config, "copy is not a run folder: there is no config.json"),
    (tabular, "run of the agent 'tabular'"),
    (former, "is of an earlier version, which called the deep agent 'resac'"),
    (no_checkpoint, "has progress.json, so checkpoints were written, but there is none in"),
    (no_checkpoint_yet, "no checkpoint yet; the first one is written at step 400"),
    (damaged, "step-000000000800.ckpt is damaged"),
    (reconfigured, "belongs to another configuration: options.discount: 0.97 → 0.9"),
    (misspelt, "unknown options discont"),
    (bad_metrics, "metrics.csv is not a table of 2 numbers a line"),
]


@pytest.mark.parametrize(("spoil", "message"), SPOILT, ids=[spoil.__name__ for spoil, _ in SPOILT])
def test_an_unusable_run_is_refused(
    copy: Path, spoil: Callable[[Path], None], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(copy)
    before = digests(copy)
    assert main([str(copy), "--days", "2"]) == 2
    assert message in capsys.readouterr().err
    assert digests(copy) == before


def test_a_spoilt_curve_does_not_cost_the_table(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad_metrics(copy)
    assert main([str(copy), "--days", "2"]) == 2
    assert "headway" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere is not a run folder: no such folder"),
        (["RUN", "RUN"], "each may be given once"),
        (["RUN", "--days", "0"], "episodes = 0; it must lie in [1, 1000000]"),
        (["RUN", "--days", "100000000"], "episodes = 100000000; it must lie in [1, 1000000]"),
        (["RUN", "--seed", "-1"], "seed = -1"),
        (["RUN", "--level", "1"], "level = 1.0; it must lie between 0 and 1"),
        (["RUN", "--controllers", "magic"], "controller 'magic' is unknown"),
        (["RUN", "--controllers", "none", "none"], "none, none; each may be given once"),
        (["RUN", "--device", "abacus"], "device = 'abacus' cannot be used"),
        (["RUN", "PENDULUM"], "different problems: env: 'corridor' → 'Pendulum-v1'"),
        (["PENDULUM", "--controllers", "none"], "learned Pendulum-v1"),
    ],
)
def test_bad_input_ends_with_code_two(
    runs: list[Path], pendulum: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"RUN": str(runs[0]), "PENDULUM": str(pendulum)}
    assert main([names.get(word, word) for word in arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--policy", "worst"], ["--format", "jpg"], ["--wrong"]])
def test_unknown_choices_end_with_code_two(runs: list[Path], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([str(runs[0]), *arguments])
    assert exit_.value.code == 2


def test_an_array_of_another_shape_is_refused(copy: Path) -> None:
    path = copy / "checkpoints" / "step-000000000800.ckpt"
    saved = load_checkpoint(path)
    save_checkpoint(path, saved.state, saved.arrays | {"learner/best": np.zeros((1, 3), dtype=np.float32)})
    with pytest.raises(CheckpointError, match=r"the best of .* is float32\(1, 3\); expected"):
        restore_run(copy)
    save_checkpoint(path, saved.state, {name: a for name, a in saved.arrays.items() if name != "learner/best"})
    with pytest.raises(CheckpointError, match=r"the best of .* is missing; expected"):
        restore_run(copy)


def test_the_disk_refusing_ends_with_code_one(runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert main([str(runs[0]), "--days", "2", "--figures", str(tmp_path / "file" / "below")]) == 1


def test_a_file_for_the_figures_is_refused(
    runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("kept")
    assert main([str(runs[0]), "--figures", str(tmp_path / "file")]) == 2
    assert "which is a file; name a folder" in capsys.readouterr().err.replace("\n", " ")
    assert (tmp_path / "file").read_text() == "kept"


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }
