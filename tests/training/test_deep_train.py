"""`python -m pyresac.train` with the deep agent: folders, curves, repeatability, and how it stops when it diverges."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from safetensors import SafetensorError
from tiny_run import TINY
from train_command import assert_refused

from pyresac.errors import InputError
from pyresac.tasks.experience import Experience, Numbers
from pyresac.tasks.gymnasium_task import BoxTask
from pyresac.train import main
from pyresac.training import deep_agent
from pyresac.training.checkpoint import load_checkpoint
from pyresac.training.deep_trainee import DeepTrainee


def rows(run: Path) -> list[dict[str, str]]:
    with open(run / "metrics.csv", newline="") as handle:
        return list(csv.DictReader(handle))


def trained(tiny: Path, run: Path, *arguments: str, steps: int = 400) -> int:
    return main([*TINY, "--corridor", str(tiny), "--steps", str(steps), *arguments, "--run-dir", str(run)])


def trainee_of(tiny: Path, run: Path) -> DeepTrainee:
    """A fresh trainee of a run's configuration."""
    values = json.loads((run / "config.json").read_text())
    del values["agent"]
    return deep_agent.build(deep_agent.read_config(values, "here"))


def test_a_run_writes_what_it_did(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert trained(tiny, run) == 0
    assert [row["step"] for row in rows(run)] == ["100", "200", "300", "400"]
    last = {name: float(value) for name, value in rows(run)[-1].items()}
    assert all(math.isfinite(value) for value in last.values())
    assert last["updates"] == (400 - 40) // 2
    assert 0 < last["alpha"] <= 0.6
    assert last["kappa"] > 0
    assert last["sigma_mean"] > 0
    result = json.loads((run / "result.json").read_text())
    assert (result["steps"], result["updates"]) == (400, 180)
    assert {"learned", "none", "headway"} < set(result["controllers"])
    assert result["return"] == pytest.approx(np.mean(result["controllers"]["learned"]["reward"]))
    config = json.loads((run / "config.json").read_text())
    assert (config["agent"], config["algorithm"], config["preset"]) == ("deep", "resac", "default")
    assert config["options"]["hidden"] == [8, 8]
    assert list((run / "tensorboard").glob("events.*"))
    assert sorted(path.name for path in (run / "checkpoints").iterdir()) == [
        "step-000000000300.ckpt",
        "step-000000000400.ckpt",
    ]
    text = capsys.readouterr().out
    assert "replay of 300 transitions, 0 MiB" in text
    assert "learned better by" in text
    again = tmp_path / "again"
    assert main(["--config", str(run / "config.json"), "--run-dir", str(again)]) == 0
    assert (again / "metrics.csv").read_bytes() == (run / "metrics.csv").read_bytes()
    assert (again / "result.json").read_bytes() == (run / "result.json").read_bytes()


def test_another_seed_is_another_run(tiny: Path, tmp_path: Path) -> None:
    for name, seed in (("a", "3"), ("b", "4")):
        assert trained(tiny, tmp_path / name, "--seed", seed, steps=100) == 0
    states = [load_checkpoint(tmp_path / name / "checkpoints/step-000000000100.ckpt").arrays for name in "ab"]
    for name in ("learner/critic", "learner/actor", "learner/generator", "replay/rows"):
        assert states[0][name].tobytes() != states[1][name].tobytes(), name


def everything(trainee: DeepTrainee) -> dict[str, bytes]:
    """State and arrays without what `measure` changes: the window of statistics, the best return, the schedule."""
    state: dict[str, Any] = trainee.state()
    for name in ("statistics", "algorithm", "best_return"):
        del state["learner"][name]
    del state["task"]["finished"], state["episodes"]
    arrays = {name: array.tobytes() for name, array in trainee.arrays().items()}
    return {**arrays, "state": json.dumps(state, sort_keys=True).encode()}


def test_evaluation_does_not_disturb_training(tiny: Path, tmp_path: Path) -> None:
    assert trained(tiny, tmp_path / "run", steps=2) == 0
    plain, measured = (trainee_of(tiny, tmp_path / "run") for _ in range(2))
    for _ in range(4):
        plain.advance(60)
        measured.advance(60)
        measured.measure()
        measured.learner.best.matrix.copy_(plain.learner.best.matrix)
    assert everything(plain) == everything(measured)


def test_the_outcome_does_not_depend_on_the_portions(tiny: Path, tmp_path: Path) -> None:
    assert trained(tiny, tmp_path / "run", steps=2) == 0
    whole, parts = (trainee_of(tiny, tmp_path / "run") for _ in range(2))
    whole.advance(200)
    for portion in (2, 40, 6, 100, 52):
        parts.advance(portion)
    assert whole.step == parts.step == 200
    assert whole.state() == parts.state()
    assert everything(whole) == everything(parts)


def test_updates_begin_when_they_should(tiny: Path, tmp_path: Path) -> None:
    assert trained(tiny, tmp_path / "run", steps=2) == 0
    trainee = trainee_of(tiny, tmp_path / "run")
    before = {name: array.tobytes() for name, array in trainee.learner.arrays().items()}
    counts = []
    for _ in range(5):
        trainee.advance(20)
        counts.append(trainee.learner.updates)
        if trainee.step <= 40:
            now = {name: array.tobytes() for name, array in trainee.learner.arrays().items()}
            assert {name for name in now if now[name] != before[name]} == {"generator"}
    assert counts == [0, 0, 10, 20, 30]


def test_the_last_decisions_of_trips_are_skipped_where_asked(tiny: Path, tmp_path: Path) -> None:
    found = {}
    for name, option in (("kept", "--no-skip-terminals"), ("skipped", "--skip-terminals")):
        assert trained(tiny, tmp_path / name, option, steps=100) == 0
        trainee = trainee_of(tiny, tmp_path / name)
        trainee.advance(200)
        buffer = trainee.buffer
        found[name] = float(buffer.batch(torch.from_numpy(buffer.rows[: buffer.size])).terminal.sum())
    assert found["kept"] > 0
    assert found["skipped"] == 0


# --- divergence


def check_finite(run: Path) -> None:
    """Networks, moments and rows of every checkpoint; the corridor itself has infinite times."""
    for path in (run / "checkpoints").iterdir():
        for name, array in load_checkpoint(path).arrays.items():
            assert name.startswith("task/") or np.isfinite(array).all(), name


def check_stop(run: Path, code: int, error: str, quantity: str) -> None:
    """Code 1; the message names quantity, update, step and checkpoint; everything on disk is finite."""
    assert code == 1
    assert "Traceback" not in error
    assert re.search(rf"stopped: {quantity} .*at update [\d,]+ by step [\d,]+; the last good checkpoint is ", error)
    (name,) = re.findall(r"the last good checkpoint is (\S+)", error)
    saved = sorted((run / "checkpoints").iterdir())
    assert Path(name) == saved[-1]
    check_finite(run)
    assert not (run / "result.json").exists()


@pytest.mark.parametrize(
    "wild",
    [
        ["--reward-scale", "1e30"],
        ["--critic-lr", "1e25", "--grad-clip", "None"],
        ["--actor-lr", "1e38", "--critic-lr", "1e15"],
    ],
    ids=["rewards", "critics", "actor"],
)
def test_divergence_stops_before_a_bad_state_is_saved(
    wild: list[str], tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    code = trained(tiny, run, *wild, "--checkpoint-every", "20", "--keep-checkpoints", "50", steps=1000)
    check_stop(
        run,
        code,
        capsys.readouterr().err.replace("\n", " "),
        r"(critic_loss is (inf|nan)|actor_loss|the (critic|actor|target))",
    )


@pytest.mark.parametrize("network", ["critic", "actor"])
def test_a_poisoned_network_stops_the_run(
    network: str, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even where it is the last update before a checkpoint that spoils it, and no loss has shown it yet."""
    plain = DeepTrainee.advance

    def advance(self: DeepTrainee, steps: int) -> None:
        plain(self, steps)
        if self.step == 200:
            with torch.no_grad():
                getattr(self.learner, network).matrix[0, 3] = math.nan

    monkeypatch.setattr(DeepTrainee, "advance", advance)
    run = tmp_path / "run"
    code = trained(tiny, run)
    check_stop(run, code, capsys.readouterr().err.replace("\n", " "), f"the {network} is not finite")
    assert [path.name for path in (run / "checkpoints").iterdir()] == ["step-000000000100.ckpt"]


@pytest.mark.parametrize(
    ("rate", "every", "quantity"),
    [
        ("1e300", "20", r"actions of the policy are not finite"),
        # parameters of 1e30 are finite; what the network makes of them is not
        ("1e30", "2", r"actions of the (averaged )?policy are not finite"),
    ],
)
def test_a_policy_that_breaks_before_its_loss_is_what_the_message_names(
    rate: str, every: str, quantity: str, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not the environment that refuses its action."""
    run = tmp_path / "run"
    code = trained(tiny, run, "--actor-lr", rate, "--eval-every", every, "--checkpoint-every", "20", steps=1000)
    check_stop(run, code, capsys.readouterr().err.replace("\n", " "), quantity)


def test_an_environment_that_gives_no_number_at_once_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--env", "Pendulum-v1", "--env-options", '{"g": NaN}']
    message = "gave an observation that is not finite in float32: [nan, nan, nan] in copy 0"
    assert_refused(command, message, tmp_path / "run", capsys)


@pytest.mark.parametrize("place", ["reward", "observation"])
def test_an_environment_that_breaks_is_named_with_the_step(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once there are checkpoints."""
    run = tmp_path / "run"
    plain = PendulumEnv.step

    def breaking(env: PendulumEnv, action: Any) -> Any:
        observation, reward, *rest = plain(env, action)
        if list(run.glob("checkpoints/*000030*")):
            observation, reward = (np.full(3, np.nan), reward) if place == "observation" else (observation, np.inf)
        return observation, reward, *rest

    monkeypatch.setattr(PendulumEnv, "step", breaking)
    assert main([*PENDULUM, "--run-dir", str(run)]) == 1
    error = capsys.readouterr().err.replace("\n", " ")
    assert (
        f"{place} that is not finite in float32: {'inf' if place == 'reward' else '[nan, nan, nan]'} in copy 0" in error
    )
    assert f"by step 30; the last good checkpoint is {run / 'checkpoints/step-000000000030.ckpt'}" in error


PENDULUM = [
    *("--env", "Pendulum-v1", "--hidden", "8", "--actor-hidden", "8", "--buffer-size", "500", "--no-tensorboard"),
    *("--steps", "90", "--eval-every", "90", "--eval-episodes", "1", "--checkpoint-every", "30"),
    *("--learning-starts", "40", "--batch-size", "16"),
]
"""A run with a checkpoint every 30 of its 90 steps."""


@pytest.mark.parametrize("kind", [RuntimeError, ConnectionResetError, InputError, SystemExit])
def test_an_environments_own_error_says_where_training_stood(
    kind: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its traceback is its author's, whatever its type; the checkpoint is added from which the run goes on."""
    run = tmp_path / "run"
    plain = BoxTask.step

    def breaking(task: BoxTask, unit: Numbers) -> Experience:
        if len(list((run / "checkpoints").iterdir())) == 2:
            raise kind("the simulator broke")
        return plain(task, unit)

    with monkeypatch.context() as patch:
        patch.setattr(BoxTask, "step", breaking)
        with pytest.raises(RuntimeError, match="the simulator broke") as caught:
            main([*PENDULUM, "--run-dir", str(run)])
    note = f"training stood at step 60; the last good checkpoint is {run / 'checkpoints/step-000000000060.ckpt'}"
    if kind is RuntimeError:
        assert caught.value.__notes__ == [note]
    else:
        # else the command would call it bad input, or a disk that refused
        assert str(caught.value) == f"{kind.__name__} during training: the simulator broke\n{note}"
        assert isinstance(caught.value.__cause__, kind)  # with SystemExit the command would end as if all were well
    assert main([*PENDULUM, "--run-dir", str(run), "--resume"]) == 0
    assert json.loads((run / "result.json").read_text())["steps"] == 90


def test_memory_that_an_environment_exhausts_names_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    plain = BoxTask.step

    def exhausting(task: BoxTask, unit: Numbers) -> Experience:
        if list(run.glob("checkpoints/*000030*")):
            raise MemoryError("Unable to allocate 7 TiB")
        return plain(task, unit)

    monkeypatch.setattr(BoxTask, "step", exhausting)
    assert main([*PENDULUM, "--run-dir", str(run)]) == 1
    error = " ".join(capsys.readouterr().err.split())
    last = run / "checkpoints/step-000000000030.ckpt"
    assert f"Unable to allocate 7 TiB; training stood at step 30; the last good checkpoint is {last}" in error


def test_an_interrupt_at_once_names_the_way_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a second Ctrl-C comes: without a folder, without a checkpoint, and after one."""
    run = tmp_path / "run"
    command = [*PENDULUM, "--run-dir", str(run)]
    plain, begun = BoxTask.step, BoxTask.__init__

    def interrupted(after: int, *resume: str) -> str:
        def step(task: BoxTask, unit: Numbers) -> Experience:
            if len(list((run / "checkpoints").iterdir())) == after:
                raise KeyboardInterrupt
            return plain(task, unit)

        def begin(*arguments: Any) -> None:
            if after < 0:
                raise KeyboardInterrupt
            begun(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(BoxTask, "step", step)
            patch.setattr(BoxTask, "__init__", begin)
            assert main([*command, *resume]) == 130
        return capsys.readouterr().err

    way = f"with\n  python -m pyresac.train --run-dir {run} --resume"
    assert interrupted(-1) == "stopped: interrupted before there was a run folder\n"
    assert interrupted(0) == f"stopped: interrupted; go on from the beginning, there is no checkpoint, {way}\n"
    last = run / "checkpoints/step-000000000030.ckpt"
    assert interrupted(1, "--resume") == f"stopped: interrupted; go on from {last}, {way}\n"


@pytest.mark.parametrize("copies", [1, 7, 64])
def test_a_run_looks_for_a_stop_now_and_then(copies: int) -> None:
    """Also with more environments side by side than steps between two looks."""
    config = deep_agent.preset_config(None, None, "Pendulum-v1")
    problem = dataclasses.replace(config.problem, num_envs=copies)
    options = dataclasses.replace(config.options, buffer_size=100)
    run = dataclasses.replace(config.run, steps=copies, eval_every=copies, checkpoint_every=copies)
    chunk = deep_agent.build(dataclasses.replace(config, problem=problem, options=options, run=run)).chunk
    assert chunk % copies == 0
    assert 0 < chunk <= max(50, copies)


def test_values_that_no_return_is_known_for_are_not_printed_as_nan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0.99²⁰⁰ is above 1 %, so that no decision of Pendulum's 200 has a known discounted return."""
    options = ["--hidden", "8", "--actor-hidden", "8", "--learning-starts", "0", "--final-episodes", "2"]
    assert main(["--env", "Pendulum-v1", *options, "--steps", "1", "--run-dir", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "nan" not in out.split("training 1 steps")[1]
    assert "The critics' values cannot be compared with returns" in re.sub(r"\s+", " ", out)


def test_a_run_that_learns_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And may go on."""
    run = ["--run-dir", str(tmp_path / "run")]
    assert main([*PENDULUM, "--steps", "30", "--final-episodes", "2", *run]) == 0
    note = "note: 30 steps end before the first update, at step 41 (learning_starts = 40, update_every = 1)"
    assert note in " ".join(capsys.readouterr().err.split())
    assert main([*run, "--resume", "--steps", "60"]) == 0
    assert "note" not in capsys.readouterr().err


def test_without_a_checkpoint_it_says_so(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert trained(tiny, tmp_path / "run", "--reward-scale", "1e30") == 1
    assert "critic_loss is inf at update 1 by step 42; there is no checkpoint yet" in capsys.readouterr().err.replace(
        "\n", " "
    )
    assert not list((tmp_path / "run/checkpoints").iterdir())


def test_two_critics_with_b0_never_end_in_a_silent_nan(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    code = trained(tiny, run, "--preset", "resac-b0", "--ensemble-size", "2", "--update-every", "2", steps=800)
    if code == 1:
        check_stop(run, code, capsys.readouterr().err.replace("\n", " "), r".*(critic|actor)")
    else:
        assert code == 0
        assert all(math.isfinite(float(value)) for value in rows(run)[-1].values())
        check_finite(run)


def test_one_critic_without_penalties_is_trained(tiny: Path, tmp_path: Path) -> None:
    plain = ["--lambda-epi", "0", "--beta-ood", "0", "--beta-lcb", "0", "--ensemble-size", "1"]
    assert trained(tiny, tmp_path / "run", *plain, steps=200) == 0
    assert float(rows(tmp_path / "run")[-1]["sigma_mean"]) == 0.0


@pytest.mark.parametrize("preset", ["resac-paper", "epistemic-only", "aleatoric-only", "published-code"])
def test_every_preset_trains(preset: str, tiny: Path, tmp_path: Path) -> None:
    assert trained(tiny, tmp_path / "run", "--preset", preset, steps=200) == 0
    last = {name: float(value) for name, value in rows(tmp_path / "run")[-1].items()}
    without_unit = ("q_eval", "sigma_eval", "earned_eval") if preset == "published-code" else ()
    assert all(math.isfinite(value) for name, value in last.items() if name not in without_unit)


def test_a_full_disk_is_a_message(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyresac.training.checkpoint as module

    plain, written = module.save_file, [0]

    def full(arrays: Any, path: Path, metadata: Any) -> None:
        written[0] += 1
        plain(arrays, path, metadata=metadata)
        if written[0] == 3:
            path.write_bytes(path.read_bytes()[:999])
            raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(module, "save_file", full)
    run = tmp_path / "run"
    assert trained(tiny, run) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert f"No space left on device: {run / 'checkpoints/step-000000000300.ckpt'} at step 300; go on from" in error
    monkeypatch.undo()
    saved = list((run / "checkpoints").iterdir())
    assert saved
    assert all(path.suffix == ".ckpt" and load_checkpoint(path).arrays for path in saved), "no part of a file is left"
    assert main(["--run-dir", str(run), "--resume"]) == 0
    whole = tmp_path / "whole"
    assert trained(tiny, whole) == 0
    assert (whole / "metrics.csv").read_bytes() == (run / "metrics.csv").read_bytes()


def test_standardised_rewards_leave_values_without_a_unit(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert trained(tiny, run, "--standardise-rewards") == 0
    assert {row["q_eval"] for row in rows(run)} == {"nan"}
    assert "the critics learned standardised rewards" in " ".join(capsys.readouterr().out.split())
    assert json.loads((run / "result.json").read_text())["values"] == {"q": None, "sigma": None, "earned": None}
