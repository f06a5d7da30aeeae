"""Plans: runs side by side, killed and gone on, failures that stop nobody, and the command's refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import gymnasium
import pytest

from pyresac.experiments import noise, pool
from pyresac.experiments.__main__ import main
from pyresac.experiments.experiment import EXPERIMENTS, SCALES, Run, experiment
from pyresac.training.command_line import planned

WORKER = """
import json, sys, time
from pathlib import Path
path, fails = Path(sys.argv[1]), sys.argv[2] == "fails"
path.mkdir(exist_ok=True)
(path / "config.json").write_text("{}")
count = path / "count"
done = len(count.read_text()) if count.exists() else 0
for step in range(done, 5):
    time.sleep(0.05)
    if fails and step == 2:
        sys.exit(1)
    with open(count, "a") as file:
        file.write("x")
(path / "result.json").write_text("{}")
"""
"""Stands for a run: five steps, each kept as soon as it is done."""


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def command(folder: Path, run: Run) -> list[str]:
        return [sys.executable, "-c", WORKER, str(folder / run.name), "fails" if "bad" in run.name else "works"]

    monkeypatch.setattr(pool, "command", command)


@pytest.mark.usefixtures("stand_in")
def test_all_runs_are_made_and_a_failing_one_stops_nobody(tmp_path: Path) -> None:
    runs = [Run(name, {}) for name in ("one", "bad", "two", "three")]
    most = 0

    def shown(progress: pool.PoolProgress) -> None:
        nonlocal most
        most = max(most, len(progress.running))

    progress = pool.run_locally(tmp_path, runs, 2, shown)
    assert sorted(progress.finished) == ["one", "three", "two"]
    assert progress.failed == ["bad"]
    assert most == 2


@pytest.mark.usefixtures("stand_in")
def test_a_finished_run_is_not_made_again(tmp_path: Path) -> None:
    runs = [Run("one", {}), Run("two", {})]
    pool.run_locally(tmp_path, runs[:1], 1)
    before = (tmp_path / "one" / "count").stat().st_mtime_ns
    progress = pool.run_locally(tmp_path, runs, 1)
    assert sorted(progress.finished) == ["one", "two"]
    assert (tmp_path / "one" / "count").stat().st_mtime_ns == before


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("moment", [0.0, 0.15, 0.4])
def test_an_interrupt_stops_the_runs_and_the_same_call_goes_on(tmp_path: Path, moment: float) -> None:
    runs = [Run("one", {}), Run("two", {})]
    began = time.monotonic()

    def interrupt(progress: pool.PoolProgress) -> None:
        if time.monotonic() - began >= moment:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.run_locally(tmp_path, runs, 2, interrupt)
    progress = pool.run_locally(tmp_path, runs, 2)
    assert sorted(progress.finished) == ["one", "two"]
    # nothing that was kept is done twice
    assert [(tmp_path / run.name / "count").read_text() for run in runs] == ["xxxxx", "xxxxx"]


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_end_of_the_command_ends_its_runs(number: signal.Signals, tmp_path: Path) -> None:
    """As a supervisor or a closed terminal asks for it: no run trains on without its plan."""
    former = signal.signal(number, signal.default_int_handler)
    started: list[subprocess.Popen[bytes]] = []

    def end(progress: pool.PoolProgress) -> None:
        started.extend(progress.running.values())
        os.kill(os.getpid(), number)

    try:
        with pytest.raises(KeyboardInterrupt, match=f"stopped by {number.name}"):
            pool.run_locally(tmp_path, [Run("one", {})], 1, end)
        assert [process.poll() for process in started] == [-signal.SIGTERM]
        assert signal.getsignal(number) is signal.default_int_handler
        signal.signal(number, signal.SIG_IGN)  # as under nohup
        assert pool.run_locally(tmp_path, [Run("one", {})], 1, end).finished == ["one"]
    finally:
        signal.signal(number, former)


def test_a_run_that_has_begun_is_resumed(tmp_path: Path) -> None:
    run = Run("one", {"algorithm": "td3", "seed": 3, "tensorboard": False, "hidden": (8, 8)})
    fresh = pool.command(tmp_path, run)
    assert fresh[-8:] == ["--algorithm", "td3", "--seed", "3", "--no-tensorboard", "--hidden", "8", "8"]
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "config.json").write_text("{}")
    assert pool.command(tmp_path, run)[-3:] == ["--run-dir", str(tmp_path / "one"), "--resume"]


class Scripted:
    """A place whose runs end, well or not, when they are asked for the second time; `b` leaves no result."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def start(self, folder: Path, run: Run) -> tuple[Path, str]:
        return folder, run.name

    def ended(self, handle: tuple[Path, str]) -> bool | None:
        folder, name = handle
        self.asked.append(name)
        if self.asked.count(name) < 2:
            return None
        if name != "b":
            (folder / name).mkdir()
            (folder / name / "result.json").touch()
        return name != "c"

    def stop(self, handles: Sequence[object]) -> None:
        pytest.fail("nothing was stopped")


def test_every_change_and_every_wait_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is done if its command succeeded and there is its result; the next one takes its place in the order of the
    plan."""
    events: list[object] = []
    monkeypatch.setattr(pool, "time", SimpleNamespace(sleep=events.append))

    def shown(progress: pool.PoolProgress) -> None:
        waiting = "".join(run.name for run in progress.waiting)
        events.append((waiting, *("".join(part) for part in (progress.running, progress.finished, progress.failed))))

    folder = tmp_path / "new" / "folder"
    progress = pool.run_plan(Scripted(), folder, [Run(name, {}) for name in "abcd"], 2, shown)
    assert (progress.finished, progress.failed, progress.waiting, progress.running) == (["a", "d"], ["b", "c"], [], {})
    wait = pool.POLL_SECONDS
    assert events == [
        *(("bcd", "a", "", ""), ("cd", "ab", "", "")),
        *(wait, ("cd", "ab", "", "")),
        *(("cd", "b", "a", ""), ("cd", "", "a", "b"), wait, ("cd", "", "a", "b")),
        *(("d", "c", "a", "b"), ("", "cd", "a", "b"), wait, ("", "cd", "a", "b")),
        *(("", "d", "a", "bc"), ("", "", "ad", "bc"), wait, ("", "", "ad", "bc")),
    ]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_planned_run_is_a_command_line_that_training_takes(name: str) -> None:
    for scale in SCALES:
        runs = experiment(name).runs(scale)
        assert len({run.name for run in runs}) == len(runs)
        kinds = {str(run.options.get("preset")): run for run in runs}
        for run in kinds.values():
            _, config = planned(run.flags)
            assert config.run.steps == run.options["steps"]
            assert config.run.seed == run.options["seed"]


def test_bad_input_is_one_sentence_and_makes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, words in [
        (["run", "colour"], "experiment 'colour' is unknown; known are returns"),
        (["plan", "colour"], "experiment 'colour' is unknown"),
        (["run", "returns", "--workers", "0"], "workers = 0; it must be at least 1"),
        (
            ["run", "returns", "--only", "sac-*", "pacman-*"],
            "--only 'pacman-*' fits the name of no run; its runs are sac-",
        ),
        (["plan", "poisoning", "--only", "*"], "--only '*' fits the name of no run; it trains nothing"),
        (["report"], "has no results yet"),
    ]:
        assert main(arguments) == 2
        assert words in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["runs", "results"])
def test_a_folder_that_cannot_be_written_is_refused_before_any_run(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pool, "started", lambda *_: pytest.fail("a run was started"))
    (tmp_path / "taken").touch()
    assert main(["run", "returns", "--scale", "smoke", f"--{option}", "taken"]) == 2
    assert "cannot write to folder taken/returns" in " ".join(capsys.readouterr().err.split())


def test_a_task_without_its_extra_is_refused_before_any_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str, **_: object) -> None:
        raise ImportError("No module named 'mujoco'")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gymnasium, "make", missing)
    assert main(["run", "returns", "--scale", "smoke"]) == 2
    assert "cannot make environment 'Hopper-v5': No module named 'mujoco'" in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("stand_in")
def test_only_the_chosen_runs_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(  # the stand-in's runs hold no curves
        noise,
        "last_quarters",
        lambda folder, runs: {run.name: 1.0 for run in runs if pool.is_finished(folder, run)},
    )
    whole = [run.name for run in noise.runs("cpu")]
    folders = ["--runs", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    assert main(["run", "noise", "--only", "lambda-0-noise-1-*", "lambda-0-noise-0-*-seed8", *folders]) == 0
    made = sorted(path.name for path in (tmp_path / "runs" / "noise-cpu").iterdir() if path.is_dir())
    assert made == sorted(f"lambda-0-noise-{name}" for name in NOISE_RUNS)
    kept = json.loads((tmp_path / "results" / "noise" / "cpu.json").read_text())
    assert (kept["finished"], kept["planned"]) == (4, len(whole))
    # a run with other patterns is of the same plan
    assert main(["run", "noise", "--only", "lambda-0.001-noise-1-*-seed8", *folders]) == 0
    kept = json.loads((tmp_path / "results" / "noise" / "cpu.json").read_text())
    assert (kept["finished"], kept["planned"]) == (5, len(whole))


NOISE_RUNS = ["0-HalfCheetah-v5-seed8", *(f"1-HalfCheetah-v5-seed{seed}" for seed in (8, 16, 24))]


def test_a_folder_of_another_plan_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "returns-smoke"
    folder.mkdir()
    (folder / "plan.json").write_text(json.dumps({"sac-Hopper-v5-seed8": ["--steps", "1"]}))
    assert main(["run", "returns", "--scale", "smoke", "--runs", str(tmp_path), "--results", str(tmp_path / "r")]) == 2
    assert "holds another plan: bac-Hopper-v5-seed8" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_a_real_run_killed_at_a_random_moment_goes_on(tmp_path: Path) -> None:
    options = {
        "algorithm": "sac",
        "env": "Pendulum-v1",
        "steps": 400,
        "eval_every": 200,
        "checkpoint_every": 50,
        "random_steps": 50,
        "learning_starts": 50,
        "hidden": (8,),
        "actor_hidden": (8,),
        "eval_episodes": 1,
        "final_episodes": 2,
        "tensorboard": False,
        "buffer_size": 1000,
    }
    whole, cut = Run("whole", options), Run("cut", options)
    pool.run_locally(tmp_path, [whole], 1)
    process = subprocess.Popen(pool.command(tmp_path, cut), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not list((tmp_path / "cut").glob("checkpoints/step-*")):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    progress = pool.run_locally(tmp_path, [whole, cut], 1)
    assert progress.failed == []
    assert (tmp_path / "cut" / "metrics.csv").read_bytes() == (tmp_path / "whole" / "metrics.csv").read_bytes()
