"""`python -m pyresac.train --agent tabular`: options, logs, errors, and what the agent learns."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from train_command import assert_refused

from pyresac.errors import InputError
from pyresac.options import read_options, to_plain
from pyresac.tabular.tabular_learner import LearnerOptions
from pyresac.tasks.discrete import EnvOptions, make_resumable
from pyresac.train import main
from pyresac.training import tabular_agent as tabular
from pyresac.training.checkpoint import load_checkpoint
from pyresac.training.metrics_log import MetricsLog
from pyresac.training.run_options import RunOptions
from pyresac.training.tabular_agent import TabularConfig, TabularTrainee
from pyresac.training.versions import kernels_of_products, of_libraries

TABULAR = ["--agent", "tabular"]
SHORT = [*TABULAR, "--steps", "6000", "--eval-every", "1500", "--eval-episodes", "5", "--final-episodes", "10"]


class Loop(gym.Env[int, int]):
    """One state, one action, reward 1 for ever: worth 1/(1 − γ). A time limit must not change that."""

    observation_space = gym.spaces.Discrete(1)
    action_space = gym.spaces.Discrete(1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return 0, 1.0, False, False, {}


class Ending(Loop):
    """The same, but a true end after one step: worth 1."""

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return 0, 1.0, True, False, {}


class Secretive(Loop):
    """Hides a part of its state where a snapshot does not look."""

    def __init__(self) -> None:
        self.hidden = {0: 0}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.hidden[0] += 1
        return 0, float(self.hidden[0]), False, False, {}


@pytest.fixture(autouse=True, scope="module")
def environments() -> Iterator[None]:
    made = {"test/Loop-v0": Loop, "test/Ending-v0": Ending, "test/Secretive-v0": Secretive}
    for name, entry in made.items():
        gym.register(name, entry_point=entry, max_episode_steps=1)
    yield
    for name in made:
        del gym.registry[name]


def rows(run: Path) -> list[dict[str, str]]:
    with open(run / "metrics.csv", newline="") as handle:
        return list(csv.DictReader(handle))


def trained(env: str, steps: int, **learner: Any) -> TabularTrainee:
    trainee = TabularTrainee(TabularConfig(problem=EnvOptions(env=env), learner=LearnerOptions(**learner)))
    trainee.advance(steps)
    return trainee


PLAIN = {"lambda_epi": 0.0, "lambda_ale": 0.0, "beta_lcb": 0.0, "beta_ood": 0.0, "discount": 0.5}


def test_time_limits_bootstrap_and_terminals_do_not() -> None:
    # Both environments end every episode after one step; only one of them truly ends.
    limited = trained("test/Loop-v0", 1000, **PLAIN).learner.q[:, 0, 0]
    assert limited == pytest.approx(np.full(5, 2.0), abs=1e-3)
    ended = trained("test/Ending-v0", 1000, **PLAIN).learner.q[:, 0, 0]
    assert ended == pytest.approx(np.full(5, 1.0), abs=1e-3)


def test_cliff_walking_reaches_the_optimum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    arguments = [*TABULAR, "--env", "CliffWalking-v1", "--steps", "60000", "--final-episodes", "2"]
    assert main([*arguments, "--anneal-steps", "40000", "--run-dir", str(run)]) == 0
    result = json.loads((run / "result.json").read_text())
    # Thirteen steps of −1: −(1 − γ¹³)/(1 − γ).
    assert result["optimum"] == pytest.approx(-(1 - 0.99**13) / 0.01, abs=2 * result["optimum_error"] + 1e-12)
    assert result["policy_value"] == pytest.approx(result["optimum"], abs=1e-6)
    assert result["measured_return"] == -13.0
    out = capsys.readouterr().out
    assert "The learned policy is optimal, to within" in out
    assert "exact optimum, γ = 0.99" in out
    assert "\x1b[" not in out, "no control sequences where the output is no terminal"


@pytest.mark.slow
def test_frozen_lake_comes_close_to_the_optimum(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert main([*TABULAR, "--env", "FrozenLake-v1", "--run-dir", str(run), "--no-tensorboard"]) == 0
    result = json.loads((run / "result.json").read_text())
    assert result["optimum"] == pytest.approx(0.5420, abs=1e-4)
    assert result["policy_value"] >= 0.98 * result["optimum"]
    error = result["measured_discounted_error"]
    # The measured episodes are cut after 100 steps, which takes at most γ¹⁰⁰ from the value; 95 % bands doubled.
    low = result["policy_value"] - 0.99**100 - 2 * error
    assert low <= result["measured_discounted"] <= result["policy_value"] + 2 * error


def test_one_seed_is_one_run_bit_for_bit(tmp_path: Path) -> None:
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert main([*SHORT, "--seed", seed, "--run-dir", str(tmp_path / name)]) == 0
    first, second, other = (tmp_path / name for name in "abc")
    assert (first / "metrics.csv").read_bytes() == (second / "metrics.csv").read_bytes()
    assert (first / "result.json").read_bytes() == (second / "result.json").read_bytes()
    tables = [load_checkpoint(run / "checkpoints/step-000000006000.ckpt").arrays for run in (first, second, other)]
    for name in ("q", "target", "counts", "kappa"):
        assert tables[0][name].tobytes() == tables[1][name].tobytes()
        assert tables[0][name].tobytes() != tables[2][name].tobytes(), "another seed must give another run"


def test_versions_name_the_kernels_of_products(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"user_api": "blas", "internal_api": "openblas", "version": "0.3", "architecture": "SkylakeX"}
    other = {"user_api": "blas", "internal_api": "blis", "version": None}
    threads = {"user_api": "openmp", "internal_api": "openmp", "version": None}
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: [one, threads, other, one])
    assert kernels_of_products() == "blis ? ?, openblas 0.3 SkylakeX"
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: [threads])
    assert kernels_of_products() == "none loaded"
    assert "blas" not in of_libraries(), "the same measures on another processor are no other version's"


def test_run_folder_holds_config_versions_curves_and_result(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert (
        main([*SHORT, "--temperature", "0.02", "--env-options", '{"is_slippery": false}', "--run-dir", str(run)]) == 0
    )
    config = json.loads((run / "config.json").read_text())
    assert config["agent"] == "tabular"
    assert config["learner"]["temperature"] == 0.02
    assert "command" not in config
    versions = json.loads((run / "versions.json").read_text())
    assert {"git", "numpy", "gymnasium", "blas"} <= versions.keys()
    # the simulator decides what a task earns
    assert ("mujoco" in versions) == (importlib.util.find_spec("mujoco") is not None)
    assert [row["step"] for row in rows(run)] == ["1500", "3000", "4500", "6000"]
    assert all(np.isfinite(float(value)) for value in rows(run)[-1].values())
    assert list((run / "tensorboard").glob("events.*"))
    again = tmp_path / "again"
    assert main(["--config", str(run / "config.json"), "--run-dir", str(again)]) == 0
    assert (again / "metrics.csv").read_bytes() == (run / "metrics.csv").read_bytes()


def test_metrics_are_cut_back_to_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    for torn in ("30,0.125\n", "30,0.", "30", ""):
        path.write_text("step,a\n10,0.5\n20,0.25\n" + torn)
        with MetricsLog(path, ["a"], 20, None) as log:
            log.write(30, {"a": 0.1})
        assert path.read_text() == "step,a\n10,0.5\n20,0.25\n30,0.1\n"
    with pytest.raises(InputError, match="has the columns step, a; this run writes step, b"):
        MetricsLog(path, ["b"], 20, None)


def test_each_row_speaks_of_the_steps_since_the_last() -> None:
    trainee = TabularTrainee(TabularConfig(problem=EnvOptions(env="test/Ending-v0"), learner=LearnerOptions(**PLAIN)))
    trainee.advance(500)
    trainee.learner.q[...] = 1.0
    first = trainee.measure()
    assert first["td_error"] > 0.0
    assert first["train_return"] == 1.0
    trainee.advance(500)
    assert trainee.measure()["td_error"] == 0.0


def test_tensorboard_gets_the_numbers_of_the_csv(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = tmp_path / "run"
    assert main([*SHORT, "--run-dir", str(run)]) == 0
    events = EventAccumulator(str(run / "tensorboard")).Reload()
    seen = [(event.step, np.float32(event.value)) for event in events.Scalars("sigma_mean")]
    assert seen == [(int(row["step"]), np.float32(row["sigma_mean"])) for row in rows(run)]


def test_an_environment_without_a_table_is_trained_without_an_optimum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SHORT, "--env", "test/Loop-v0", "--run-dir", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "its optimum is not known" in out
    assert json.loads((tmp_path / "run/result.json").read_text())["optimum"] is None


BAD = [
    (["--agent", "sarsa"], "agent 'sarsa' is unknown; known are"),
    (["--env", "NoSuchLake-v1"], "cannot make environment 'NoSuchLake-v1'"),
    (["--env", "FrozenLake-v0"], "cannot make environment 'FrozenLake-v0'"),
    (["--env", "nowhere:Lake-v1"], "cannot make environment 'nowhere:Lake-v1'"),
    (["--env", "CartPole-v1"], "has the observation space Box"),
    (["--env", "Blackjack-v1"], "has the observation space Tuple"),
    (["--env", "test/Secretive-v0"], "cannot be saved and resumed"),
    (["--env-options", "{"], "is not JSON"),
    (["--env-options", "[1]"], "it must be a JSON object"),
    (["--env-options", '{"no_such": 1}'], "no_such"),
    (["--discount", "1"], "discount = 1.0; it must lie in [0, 1)"),
    (["--discount", "high"], "could not convert string to float: 'high'"),
    (["--temperature", "-1"], "temperature = -1.0; it must be greater than 0"),
    (["--beta-lcb", "0.5"], "beta_lcb = 0.5; it must be at most 0"),
    (["--ensemble-size", "1"], "the variance of one head is undefined"),
    (["--ensemble-size", "9" * 25], "heads, states and actions needs"),
    (["--ensemble-size", "9" * 12], "heads, states and actions needs"),
    (["--steps", "0"], "steps = 0; it must lie in [1, 999999999999]"),
    (["--seed", "-1"], "seed = -1; it must lie in [0, 4294967295]"),
    (["--seed", "4294967296"], "seed = 4294967296; it must lie in [0, 4294967295]"),
    (["--eval-step-limit", "0"], "eval_step_limit = 0; it must be at least 1"),
    (["--no-such-option", "1"], "--no-such-option"),
    (["--config", "missing.json"], "cannot read configuration missing.json"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_is_one_message_and_code_2_before_any_work(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused([*TABULAR, *arguments], message, tmp_path / "run", capsys)


def test_resume_needs_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--resume"])
    assert end.value.code == 2
    assert "--resume was given without --run-dir" in capsys.readouterr().err


def test_configuration_file_is_typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "config.json"
    for content, message in [
        ("[]", "it must be a JSON object"),
        ('{"learner": {"discont": 0.9}}', "has unknown options discont; known are"),
        ('{"learner": {"discount": "0.9"}}', "learner.discount = '0.9'; expected `float`, got `str`"),
        ('{"run": {"steps": true}}', "run.steps = True; expected `int`, got `bool`"),
        ('{"run": 3}', "run = 3; expected `object`, got `int`"),
        ('{"learner": {"discount": 2}}', "learner.discount = 2; it must lie in [0, 1)"),
    ]:
        file.write_text(content)
        assert main([*TABULAR, "--config", str(file)]) == 2
        assert message in capsys.readouterr().err


def test_options_survive_json_exactly() -> None:
    config = TabularConfig(run=RunOptions(steps=7), learner=LearnerOptions(discount=0.1 + 0.2))
    assert read_options(TabularConfig, json.loads(json.dumps(to_plain(config))), "here") == config


def test_divergence_stops_with_quantity_step_and_last_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A live variance penalty has no modulus (C15): far from zero the refreshed tables run away.
    wild = ["--env", "CliffWalking-v1", "--lambda-epi", "50", "--initial-spread", "100", "--target-rate", "1"]
    run = tmp_path / "run"
    code = main([*SHORT, *wild, "--steps", "50000", "--checkpoint-every", "1000", "--run-dir", str(run)])
    error = capsys.readouterr().err
    assert code == 1
    assert "tables are not finite" in error
    assert "by step" in error
    for path in (run / "checkpoints").glob("*.ckpt"):
        assert np.isfinite(load_checkpoint(path).arrays["q"]).all()


def test_a_full_disk_is_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(self: object, *arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyresac.training.loop.RunFolder.save", full)
    assert main([*SHORT, "--run-dir", str(tmp_path / "run")]) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert "stopped: No space left on device at step 6,000; go on from the beginning, there is no checkpoint" in error


def test_snapshot_check_accepts_toy_text() -> None:
    for name in ("FrozenLake-v1", "CliffWalking-v1"):
        make_resumable(EnvOptions(env=name)).close()
    with pytest.raises(InputError, match="cannot be saved and resumed: a restored copy departs after 1 steps"):
        make_resumable(EnvOptions(env="test/Secretive-v0"))


def test_evaluation_does_not_disturb_training() -> None:
    plain, measured = (tabular.build(TabularConfig()) for _ in range(2))
    for _ in range(4):
        plain.advance(500)
        measured.advance(500)
        measured.measure()
    assert plain.learner.q.tobytes() == measured.learner.q.tobytes()


def test_progress_bar_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pyresac.train", *SHORT, "--run-dir", str(tmp_path / "run")]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                block = os.read(ours, 65536)
            except OSError:  # Linux's way to say that the other end is closed
                break
            if not block:
                break
            seen += block
    os.close(ours)
    assert process.returncode == 0
    text = seen.decode()
    assert "training" in text
    assert "6,000/6,000" in text
    assert "return" in text
