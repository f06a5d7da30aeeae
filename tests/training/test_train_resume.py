"""Resuming: N + save + a new process + N equals 2N bit for bit, whatever ended the first process."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import gymnasium as gym
import pytest
from train_command import call, start, wait_for

from pyresac.train import main

STEPS, HALF = "12000", "6000"
TABULAR = ["--agent", "tabular"]
EVERY = ["--eval-every", "1500", "--checkpoint-every", "2000"]
COMMON = [*TABULAR, *EVERY, "--eval-episodes", "3", "--final-episodes", "5"]
NEWEST_TAXI = max(name for name in gym.registry if name.startswith("Taxi-v"))


def options(run: Path, *arguments: str) -> list[str]:
    return [*COMMON, *arguments, "--run-dir", str(run)]


def going_on(run: Path) -> list[str]:
    return ["--checkpoint-every", "1000", *(["--resume"] if run.exists() else ["--steps", "40000"])]


def same(first: Path, second: Path, step: int = 12000) -> None:
    name = f"checkpoints/step-{step:012d}.ckpt"
    assert (first / "metrics.csv").read_bytes() == (second / "metrics.csv").read_bytes()
    assert (first / "result.json").read_bytes() == (second / "result.json").read_bytes()
    config = [json.loads((run / "config.json").read_text()) for run in (first, second)]
    assert config[0] == config[1]
    assert (first / name).read_bytes() == (second / name).read_bytes()


@pytest.mark.parametrize("env", ["FrozenLake-v1", "CliffWalking-v1", NEWEST_TAXI])
def test_two_halves_equal_the_whole(env: str, tmp_path: Path) -> None:
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    # 6100 is no multiple of anything: the halves meet in the middle of an episode and of a window of statistics.
    assert main([*COMMON, "--env", env, "--steps", STEPS, "--run-dir", str(whole)]) == 0
    assert main([*COMMON, "--env", env, "--steps", "6100", "--run-dir", str(halves)]) == 0
    done = call(*options(halves, "--resume", "--steps", STEPS))
    assert done.returncode == 0, done.stderr
    assert "resumed at step 6,100" in done.stdout
    same(whole, halves)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_says_how_to_go_on(number: signal.Signals, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    process = start(*options(cut, "--steps", "10000000", "--checkpoint-every", "10000000"))
    wait_for(cut / "metrics.csv", process, 2)
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert f"Stopped by {number.name} at step" in out
    assert f"python -m pyresac.train --run-dir {cut} --resume" in out
    assert "Traceback" not in error
    assert not (cut / "result.json").exists()
    (saved,) = (cut / "checkpoints").iterdir()
    step = int(saved.stem.removeprefix("step-"))
    end = str(step + 1000)
    assert main(["--run-dir", str(cut), "--resume", "--steps", end, "--checkpoint-every", "2000"]) == 0
    assert main([*COMMON, "--steps", end, "--run-dir", str(whole)]) == 0
    same(whole, cut, int(end))


@pytest.mark.slow
def test_kill_at_random_moments_loses_nothing_but_time(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main([*COMMON, "--steps", "40000", "--checkpoint-every", "1000", "--run-dir", str(whole)]) == 0
    began = time.monotonic()
    assert call(*options(tmp_path / "timed", "--steps", "40000", "--checkpoint-every", "1000")).returncode == 0
    duration = time.monotonic() - began
    draw = random.Random(time.time_ns())
    for _ in range(5):
        process = start(*options(killed, *going_on(killed)))
        time.sleep(draw.uniform(0, duration))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    done = call(*options(killed, *going_on(killed)))
    assert done.returncode == 0, done.stderr
    same(whole, killed, 40000)
    assert not list(killed.rglob("*.tmp")), "what a killed process was writing is cleared away"


def test_a_finished_run_resumes_to_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert main([*COMMON, "--steps", HALF, "--run-dir", str(run)]) == 0
    before = (run / "result.json").read_bytes()
    assert main(["--run-dir", str(run), "--resume"]) == 0
    assert "Nothing was left to do" in capsys.readouterr().out
    assert (run / "result.json").read_bytes() == before
    assert main(["--run-dir", str(run), "--resume", "--steps", "10"]) == 2
    assert "steps = 10, but" in capsys.readouterr().err


def test_an_existing_folder_and_changed_options_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert main([*COMMON, "--steps", HALF, "--run-dir", str(run)]) == 0
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert main(["--run-dir", str(run)]) == 2
    assert "exists; go on with it by --resume" in capsys.readouterr().err
    assert main(["--run-dir", str(run), "--resume", "--discount", "0.9", "--seed", "5"]) == 2
    error = capsys.readouterr().err
    assert "run.seed: 0 → 5" in error
    assert "learner.discount: 0.99 → 0.9" in error
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_checkpoint_of_another_configuration_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, other = tmp_path / "run", tmp_path / "other"
    assert main([*COMMON, "--steps", HALF, "--run-dir", str(run)]) == 0
    assert main([*COMMON, "--steps", HALF, "--temperature", "0.5", "--run-dir", str(other)]) == 0
    (run / "checkpoints/step-000000006000.ckpt").write_bytes(
        (other / "checkpoints/step-000000006000.ckpt").read_bytes()
    )
    capsys.readouterr()
    assert main(["--run-dir", str(run), "--resume"]) == 2
    assert "belongs to another configuration: learner.temperature: 0.5 → 0.002" in capsys.readouterr().err


def test_a_damaged_checkpoint_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert main([*COMMON, "--steps", HALF, "--run-dir", str(run)]) == 0
    newest = run / "checkpoints/step-000000006000.ckpt"
    newest.write_bytes(newest.read_bytes()[:-1])
    capsys.readouterr()
    assert main(["--run-dir", str(run), "--resume"]) == 2
    error = capsys.readouterr().err
    assert "is truncated, damaged or no" in error
    assert "remove it to resume from step-000000004000.ckpt" in error
    newest.unlink()
    assert main(["--run-dir", str(run), "--resume"]) == 0
    assert newest.exists()
