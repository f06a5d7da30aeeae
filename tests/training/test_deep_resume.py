"""Resuming the deep agent: N + save + a new process + N equals 2N bit for bit, whatever ended the first process."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny_run import TINY
from train_command import call, start, wait_for
from train_command import same_run as same

from pyresac.deep.algorithms import ALGORITHMS
from pyresac.train import main
from pyresac.training.checkpoint import load_checkpoint, save_checkpoint

SCHEDULED = ["--beta-lcb-end", "-0.1", "--beta-steps", "300", "--anchor-weight", "0.1"]
"""So that the schedule and the anchor have a state to resume."""


def options(tiny: Path, run: Path, steps: int, *more: str) -> list[str]:
    return [
        *(*TINY, "--corridor", str(tiny), *SCHEDULED, "--no-tensorboard"),
        *("--steps", str(steps), *more, "--run-dir", str(run)),
    ]


@pytest.fixture(scope="module")
def whole(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 400 steps in one piece; not to be changed."""
    run: Path = tmp_path_factory.mktemp("whole") / "run"
    assert main(options(tiny, run, 400)) == 0
    return run


@pytest.mark.parametrize("half", [20, 194, 200])
def test_two_halves_equal_the_whole(half: int, whole: Path, tiny: Path, tmp_path: Path) -> None:
    """Before the first update; inside a day, a window of statistics and a round of the buffer; and at a boundary."""
    halves = tmp_path / "halves"
    assert main(options(tiny, halves, half)) == 0
    done = call("--run-dir", str(halves), "--resume", "--steps", "400")
    assert done.returncode == 0, done.stderr
    assert f"resumed at step {half} of 400" in done.stdout
    same(whole, halves, 400)


def test_threads_change_no_bit(whole: Path, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a resumed run may have another number of them."""
    monkeypatch.setattr("pyresac.deep.networks.compiled_passes.WORTH_SHARING", 0)
    run = tmp_path / "run"
    assert main(options(tiny, run, 200, "--threads", "2")) == 0
    assert main(["--run-dir", str(run), "--resume", "--steps", "400", "--threads", "3"]) == 0
    config = json.loads((run / "config.json").read_text())
    assert config["problem"]["threads"] == 3
    assert (run / "metrics.csv").read_bytes() == (whole / "metrics.csv").read_bytes()
    first, second = (load_checkpoint(one / "checkpoints/step-000000000400.ckpt").arrays for one in (run, whole))
    assert {name: array.tobytes() for name, array in first.items()} == {n: a.tobytes() for n, a in second.items()}


@pytest.mark.parametrize("every", ["14", "2000"])
def test_another_rhythm_of_checkpoints_is_the_same_run(every: str, whole: Path, tiny: Path, tmp_path: Path) -> None:
    assert main(options(tiny, tmp_path / "run", 400, "--checkpoint-every", every)) == 0
    same(whole, tmp_path / "run", 400)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_says_how_to_go_on(number: signal.Signals, tiny: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    process = start(*options(tiny, cut, 10_000_000, "--checkpoint-every", "10000000"))
    wait_for(cut / "metrics.csv", process, 2)
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert f"Stopped by {number.name} at step" in out
    assert f"python -m pyresac.train --run-dir {cut} --resume" in out
    assert "Traceback" not in error
    assert not (cut / "result.json").exists()
    (saved,) = (cut / "checkpoints").iterdir()
    end = int(saved.stem.removeprefix("step-")) + 100
    assert main(["--run-dir", str(cut), "--resume", "--steps", str(end)]) == 0
    assert main(options(tiny, whole, end)) == 0
    same(whole, cut, end)


KILLER = """
import os, signal, sys
import pyresac.atomic as files
from pyresac.train import main

moment, count = sys.argv[1], int(sys.argv[2])

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def checkpoint(path):
    global count
    count -= str(path).endswith(".ckpt")
    return count < 0

plain_replace, plain_sync = os.replace, os.fsync

def replace(source, target):
    last = checkpoint(target)
    if last and moment == "before":
        die()
    plain_replace(source, target)
    if last and moment == "after":
        die()

def sync(descriptor):
    path = os.readlink(f"/proc/self/fd/{descriptor}")
    if moment == "torn" and path.endswith(".ckpt." + str(os.getpid()) + ".tmp"):
        global count
        count -= 1
        if count < 0:
            os.truncate(path, os.path.getsize(path) // 2)
            die()
    plain_sync(descriptor)

files.os.replace, files.os.fsync = replace, sync
main(sys.argv[3:])
"""


@pytest.mark.parametrize(("moment", "count"), [("torn", 0), ("torn", 2), ("before", 1), ("after", 2)])
def test_killed_while_it_saves(moment: str, count: int, whole: Path, tiny: Path, tmp_path: Path) -> None:
    """Half a file on disk, a whole one not yet in its place, or one in its place with the older ones still there."""
    killed = tmp_path / "killed"
    command = [sys.executable, "-c", KILLER, moment, str(count), *options(tiny, killed, 400)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert bool(list(killed.rglob("*.tmp"))) == (moment != "after")
    again = [] if list((killed / "checkpoints").glob("*.ckpt")) else ["--steps", "400"]
    assert main(["--run-dir", str(killed), "--resume", *again]) == 0
    same(whole, killed, 400)
    assert not list(killed.rglob("*.tmp"))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_killed_and_resumed_is_one_run(algorithm: str, tiny: Path, tmp_path: Path) -> None:
    """Killed when its second checkpoint is written and not in its place; resumed, stopped, and resumed again."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    common = [*TINY, "--corridor", str(tiny), "--algorithm", algorithm, "--no-tensorboard"]
    assert main([*common, "--steps", "300", "--run-dir", str(whole)]) == 0
    command = [sys.executable, "-c", KILLER, "before", "1", *common, "--steps", "300", "--run-dir", str(killed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert [path.name for path in (killed / "checkpoints").glob("*.ckpt")] == ["step-000000000100.ckpt"]
    assert main(["--run-dir", str(killed), "--resume", "--steps", "234"]) == 0
    assert main(["--run-dir", str(killed), "--resume", "--steps", "300"]) == 0
    same(whole, killed, 300)


@pytest.mark.slow
def test_killed_at_random_moments(whole: Path, tiny: Path, tmp_path: Path) -> None:
    killed, often = tmp_path / "killed", ["--checkpoint-every", "20"]
    began = time.monotonic()
    assert call(*options(tiny, tmp_path / "timed", 400, *often)).returncode == 0
    duration = time.monotonic() - began
    draw = random.Random(time.time_ns())
    seen = []
    for _ in range(3):
        process = start(
            *(["--run-dir", str(killed), "--resume"] if killed.exists() else options(tiny, killed, 400, *often))
        )
        time.sleep(draw.uniform(0.4, 1.0) * duration)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        seen.append(sorted(path.name for path in killed.rglob("*.ckpt")))
    last = ["--run-dir", str(killed), "--resume"] if killed.exists() else options(tiny, killed, 400, *often)
    done = call(*last)
    assert done.returncode == 0, (done.stderr, seen)
    same(whole, killed, 400)
    assert not list(killed.rglob("*.tmp"))


# --- what is refused, with nothing lost


@pytest.fixture(scope="module")
def finished(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 200 steps with two checkpoints; not to be changed."""
    run: Path = tmp_path_factory.mktemp("finished") / "run"
    assert main(options(tiny, run, 200)) == 0
    return run


def files(run: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


def copy_of(run: Path, target: Path) -> Path:
    for path, content in files(run).items():
        place = target / path.relative_to(run)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return target


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--discount", "0.9"], "options.discount: 0.97 → 0.9"),
        (["--seed", "5"], "run.seed: 0 → 5"),
        (["--num-envs", "4"], "problem.num_envs: 2 → 4"),
        (["--hidden", "9"], "options.hidden: [8, 8] → [9]"),
        (["--eval-every", "50"], "run.eval_every: 100 → 50"),
        (["--skip-terminals"], "options.departures.skip_terminals: False → True"),
        (["--preset", "resac-b0"], "--preset resac-b0 was given with"),
        (["--algorithm", "sac"], "--algorithm sac was given with"),
        (["--agent", "tabular"], "was started with agent 'deep', not 'tabular'"),
        (["--steps", "100"], "steps = 100, but"),
        (["--steps", "201"], "steps = 201; it must be a multiple of num_envs = 2"),
    ],
)
def test_a_resumed_run_keeps_its_options(
    changes: list[str], message: str, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(finished)
    assert main(["--run-dir", str(finished), "--resume", *changes]) == 2
    assert message in capsys.readouterr().err
    assert files(finished) == before


def test_a_finished_run_resumes_to_its_report(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (finished / "result.json").read_bytes()
    assert main(["--run-dir", str(finished), "--resume"]) == 0
    assert "Nothing was left to do" in capsys.readouterr().out
    assert (finished / "result.json").read_bytes() == before


def test_an_existing_folder_is_refused(tiny: Path, finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(finished)
    assert main(options(tiny, finished, 200)) == 2
    assert "exists; go on with it by --resume" in capsys.readouterr().err
    assert files(finished) == before


NEWEST = "checkpoints/step-000000000200.ckpt"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-1], "is truncated, damaged or no"),
        (lambda content: content[:30], "is truncated, damaged or no"),
        (lambda content: b"", "is truncated, damaged or no"),
        (lambda content: b"PK" + content[2:], "is truncated, damaged or no"),
        (lambda content: content[:-5] + bytes([content[-5] ^ 1]) + content[-4:], "is damaged"),
    ],
    ids=["end cut", "header cut", "empty", "foreign", "one bit"],
)
def test_a_damaged_checkpoint_is_refused_and_the_one_before_it_serves(
    damage: object, message: str, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copy_of(finished, tmp_path / "run")
    newest = run / NEWEST
    newest.write_bytes(damage(newest.read_bytes()))  # type: ignore[operator]
    before = files(run)
    assert main(["--run-dir", str(run), "--resume"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "remove it to resume from step-000000000100.ckpt" in error
    assert files(run) == before
    newest.unlink()
    assert main(["--run-dir", str(run), "--resume"]) == 0
    same(finished, run, 200)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("learner/critic", r"the critic of the checkpoint is missing"),
        ("learner/actor.exp_avg_sq", r"the actor.exp_avg_sq of the checkpoint is missing"),
        ("replay/rows", "lacks 'rows'"),
    ],
)
def test_a_checkpoint_without_an_array_is_refused(
    name: str, message: str, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copy_of(finished, tmp_path / "run")
    saved = load_checkpoint(run / NEWEST)
    arrays = {key: array for key, array in saved.arrays.items() if key != name}
    assert len(arrays) == len(saved.arrays) - 1
    save_checkpoint(run / NEWEST, saved.state, arrays)
    assert main(["--run-dir", str(run), "--resume"]) == 2
    assert message in capsys.readouterr().err


def test_a_checkpoint_of_another_configuration_is_refused(
    tiny: Path, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, other = copy_of(finished, tmp_path / "run"), tmp_path / "other"
    assert main(options(tiny, other, 200, "--tau", "0.5")) == 0
    (run / NEWEST).write_bytes((other / NEWEST).read_bytes())
    assert main(["--run-dir", str(run), "--resume"]) == 2
    assert "belongs to another configuration: options.tau: 0.5 → 0.01" in capsys.readouterr().err


@pytest.mark.parametrize("other", ["[200.0, 400.0, 600.0]", "[200.0, 400.0, 600.0, 801.0]"])
def test_an_edited_corridor_file_is_noticed(
    other: str, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of another shape, or of the same, where the days under way would fit."""
    own, run = tmp_path / "own.json", tmp_path / "run"
    own.write_text(tiny.read_text())
    assert main(options(own, run, 100)) == 0
    text = own.read_text()
    launches = "[200.0, 400.0, 600.0, 800.0]"
    assert text.count(launches) == 2
    own.write_text(text.replace(launches, other))
    assert main(["--run-dir", str(run), "--resume", "--steps", "200"]) == 2
    error = capsys.readouterr().err.replace("\n", " ")
    assert "the checkpoint's corridor is not the one that 'tiny' names now: its file has changed" in error


def test_two_processes_do_not_share_a_run(tiny: Path, finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pyresac.training.folder import RunFolder

    held = RunFolder.open(finished)
    try:
        assert main(["--run-dir", str(finished), "--resume"]) == 2
        assert "is in use by another process" in capsys.readouterr().err
    finally:
        held.close()
