"""Options: what is allowed, what the presets are, and how files and presets combine."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyresac.deep.algorithms.resac_options import AlgorithmOptions, Departures
from pyresac.training.config import from_dict
from train_command import assert_refused

from pyresac.errors import InputError
from pyresac.train import main, to_saved
from pyresac.training import deep_agent as resac
from pyresac.training import presets

NAN = float("nan")
BAD: list[tuple[str, Any, str]] = [
    *((name, 0, "[1, inf)") for name in ("ensemble_size", "batch_size", "buffer_size", "update_every", "updates")),
    ("actor_every", 0, "[1, inf)"),
    ("beta_steps", 0, "[1, inf)"),
    *((name, -0.1, "[0, inf)") for name in ("lambda_epi", "lambda_ale", "beta_ood", "anchor_weight")),
    ("learning_starts", -1, "[0, inf)"),
    *((name, 0.0, "(0, inf)") for name in ("critic_lr", "actor_lr", "temperature_lr", "reward_scale")),
    *((name, value, "(0, 1]") for name in ("tau", "ema_rate") for value in (0.0, 1.5)),
    *(("discount", value, "[0, 1)") for value in (1.0, -0.1)),
    *(("independence", value, "[0, 1]") for value in (1.1, -0.1)),
    ("beta_lcb", 0.5, "(-inf, 0]"),
    ("beta_lcb_end", 0.5, "(-inf, 0]"),
    ("grad_clip", 0.0, "(0, inf)"),
    *(("initial_mean", value, "[-3, 3]") for value in (-4.0, 3.5)),
    *(("alpha_init", value, "(0, 0.6]") for value in (0.7, 0.0)),
    *((name, NAN, "") for name in ("discount", "lambda_epi", "beta_lcb", "critic_lr", "alpha_max", "grad_clip")),
    *((name, float("inf"), "") for name in ("lambda_ale", "reward_scale", "critic_lr")),
]


@pytest.mark.parametrize(("name", "value", "allowed"), BAD, ids=[f"{name}={value}" for name, value, _ in BAD])
def test_a_bad_value_is_named_with_its_range(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"{name} = {value}; it must lie in {allowed}")):
        AlgorithmOptions(**{name: value})


def test_every_number_is_checked() -> None:
    """No option can be added without a range: NaN and numbers far below zero are refused everywhere."""
    checked = {name for name, _, _ in BAD} | {"alpha_max", "target_entropy", "hidden", "actor_hidden", "departures"}
    assert checked == {field.name for field in dataclasses.fields(AlgorithmOptions)}


def test_other_bad_values() -> None:
    for name in ("hidden", "actor_hidden"):
        for widths in ((), (64, 0)):
            with pytest.raises(InputError, match=re.escape(f"{name} = {list(widths)}; it needs at least one layer")):
                AlgorithmOptions(**{name: widths})  # type: ignore[arg-type]
    for value in (NAN, float("inf")):
        with pytest.raises(InputError, match=f"target_entropy = {value}; it must be finite"):
            AlgorithmOptions(target_entropy=value)
    with pytest.raises(InputError, match=re.escape("alpha_max = 0; it must lie in (0, inf)")):
        AlgorithmOptions(alpha_max=0)
    with pytest.raises(InputError, match=re.escape("cloning = -1; it must lie in [0, inf)")):
        Departures(cloning=-1)


ALONE: dict[str, Any] = {"ensemble_size": 1, "lambda_epi": 0.0, "beta_ood": 0.0, "beta_lcb": 0.0}


@pytest.mark.parametrize(
    ("name", "value"), [("lambda_epi", 0.1), ("beta_ood", 0.1), ("beta_lcb", -1.0), ("beta_lcb_end", -1.0)]
)
def test_one_critic_has_no_variance(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"ensemble_size = 1 with {name} = {value}: the variance of one critic"):
        AlgorithmOptions(**{**ALONE, name: value})


def test_one_critic_is_allowed_where_none_is_needed() -> None:
    AlgorithmOptions(**ALONE)


# --- presets

PAPER_5_2 = {
    "ensemble_size": 10,
    "hidden": (64, 64, 64),
    "actor_hidden": (64, 64, 64),
    "critic_lr": 1e-5,
    "actor_lr": 1e-5,
    "temperature_lr": 1e-5,
    "batch_size": 2048,
    "buffer_size": 1_000_000,
    "discount": 0.99,
    "tau": 0.01,
    "lambda_ale": 0.01,
    "beta_lcb": -2.0,
    "beta_lcb_end": None,
    "beta_ood": 0.01,
    "target_entropy": -1.0,
    "alpha_max": 0.6,
    "grad_clip": 1.0,
    "actor_every": 2,
    "update_every": 5,
    "updates": 1,
    "independence": 1.0,
    "anchor_weight": 0.0,
    "reward_scale": 1.0,
    "initial_mean": 0.0,
    "departures": Departures(),
}
PAPER_5_1 = {
    "ensemble_size": 10,
    "hidden": (256, 256),
    "actor_hidden": (256, 256),
    "discount": 0.99,
    "tau": 0.005,
    "critic_lr": 3e-4,
    "actor_lr": 3e-4,
    "batch_size": 256,
    "buffer_size": 1_000_000,
    "independence": 0.75,
    "beta_lcb": -2.0,
    "beta_lcb_end": -1.0,
    "beta_ood": 0.01,
    "lambda_ale": 0.01,
    "ema_rate": 0.005,
    "anchor_weight": 0.1,
    "departures": Departures(),
}
"""250 updates for each 4,000 steps are `updates` for each `update_every`, below."""


@pytest.mark.parametrize("corridor", [True, False])
def test_the_papers_settings_to_the_letter(corridor: bool) -> None:
    bus = dataclasses.asdict(presets.algorithm("resac-paper", corridor))
    assert {name: bus[name] for name in PAPER_5_2 if name != "departures"} == {
        name: value for name, value in PAPER_5_2.items() if name != "departures"
    }
    b0 = presets.algorithm("resac-b0", corridor)
    assert {name: getattr(b0, name) for name in PAPER_5_1} == PAPER_5_1
    assert b0.updates / b0.update_every == 250 / 4000
    assert b0.actor_every == 1
    assert presets.algorithm("resac-paper", corridor).departures == Departures()


def test_the_runs_are_as_long_as_the_papers() -> None:
    assert presets.run_options("resac-b0", False).steps == 8_000_000


def test_the_published_code_differs_in_its_departures_alone() -> None:
    paper, code = presets.algorithm("resac-paper", True), presets.algorithm("published-code", True)
    assert code == dataclasses.replace(
        paper,
        lambda_epi=0.0,
        departures=Departures(
            add_kappa=True,
            kappa_biases=True,
            standardise_rewards=True,
            cloning=1e-3,
            full_range_jacobian=True,
            fan_out_init=True,
            skip_terminals=True,
        ),
    )
    assert all(getattr(code.departures, field.name) for field in dataclasses.fields(Departures)), "each is made"
    assert code.penalty_scale() == -paper.penalty_scale() == -0.01


@pytest.mark.parametrize("corridor", [True, False])
def test_the_ablations_leave_out_what_they_say(corridor: bool) -> None:
    full = presets.algorithm("resac", corridor)
    assert presets.algorithm("epistemic-only", corridor) == dataclasses.replace(full, lambda_ale=0.0)
    alone = presets.algorithm("aleatoric-only", corridor)
    assert alone.lambda_ale == full.lambda_ale
    assert (alone.lambda_epi, alone.beta_ood, alone.beta_lcb, alone.ensemble_size) == (0.0, 0.0, 0.0, 2)
    assert full.lambda_epi > 0
    assert full.lambda_ale > 0
    assert full.beta_lcb < 0


@pytest.mark.parametrize("preset", presets.PRESETS)
@pytest.mark.parametrize("env", [None, "Pendulum-v1"])
def test_every_preset_is_a_configuration(preset: str, env: str | None) -> None:
    config = resac.preset_config(preset, env)
    assert config.preset == preset
    assert config.problem.env == (env or "corridor")
    assert from_dict(resac.Config, json.loads(json.dumps(to_saved(config))), "here") == config
    for name in ("steps", "eval_every", "checkpoint_every"):
        assert getattr(config.run, name) % config.problem.num_envs == 0
    small = dataclasses.replace(config, algorithm=dataclasses.replace(config.algorithm, buffer_size=100))
    trainee = resac.build(small)
    assert trainee.step == 0
    assert trainee.learner.options.ensemble_size == config.algorithm.ensemble_size


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="preset 'fast' is unknown; known are resac, quick, resac-paper"):
        resac.preset_config("fast", None)


# --- files over presets


class ParsedError(Exception):
    """Carries what would be built."""

    def __init__(self, config: resac.Config) -> None:
        super().__init__()
        self.config = config


def parsed(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> resac.Config:
    def stop(config: resac.Config) -> None:
        raise ParsedError(config)

    monkeypatch.setattr(resac, "build", stop)
    with pytest.raises(ParsedError) as caught:
        main(list(arguments))
    return caught.value.config


def test_a_file_is_merged_over_its_preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"preset": "resac-paper", "algorithm": {"tau": 0.5, "discount": 0.9}, "run": {"seed": 3}}')
    config = parsed(monkeypatch, "--config", str(file), "--discount", "0.95")
    expected = resac.preset_config("resac-paper", None)
    assert config.algorithm == dataclasses.replace(expected.algorithm, tau=0.5, discount=0.95)
    assert config.run == dataclasses.replace(expected.run, seed=3)
    assert config.preset == "resac-paper"
    same = parsed(monkeypatch, "--config", str(file), "--preset", "resac-paper", "--discount", "0.95")
    assert to_saved(same) == to_saved(config)
    file.write_text('{"algorithm": {"tau": 0.5}, "problem": {"env": "Pendulum-v1"}}')
    config = parsed(monkeypatch, "--config", str(file))
    assert config.algorithm == dataclasses.replace(presets.CONTROL, tau=0.5), "of the environment that the file names"
    config = parsed(monkeypatch, "--config", str(file), "--preset", "resac-b0")
    assert config.algorithm == dataclasses.replace(presets.B0, tau=0.5)


def test_the_default_is_resac_on_the_corridor(monkeypatch: pytest.MonkeyPatch) -> None:
    config = parsed(monkeypatch)
    assert config.algorithm == presets.CORRIDOR
    assert (config.preset, config.problem.env) == ("resac", "corridor")
    assert parsed(monkeypatch, "--env", "Pendulum-v1").algorithm == presets.CONTROL
    assert parsed(monkeypatch, "--preset", "quick").run == presets.run_options("quick", True)


def test_departures_are_options(monkeypatch: pytest.MonkeyPatch) -> None:
    config = parsed(monkeypatch, "--preset", "published-code", "--no-add-kappa")
    assert config.algorithm.departures == dataclasses.replace(presets.PUBLISHED_CODE.departures, add_kappa=False)


def test_two_presets_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"preset": "resac-paper"}')
    assert main(["--config", str(file), "--preset", "resac-b0"]) == 2
    assert f"--preset resac-b0 was given with {file}, which has the preset 'resac-paper'" in capsys.readouterr().err


BAD_COMMANDS = [
    (["--preset", "fast"], "preset 'fast' is unknown; known are"),
    (["--preset", ""], "preset '' is unknown; known are"),
    (["--discount", "1"], "discount = 1.0; it must lie in [0, 1)"),
    (["--beta-lcb", "0.5"], "beta_lcb = 0.5; it must lie in (-inf, 0]"),
    (["--ensemble-size", "1"], "the variance of one critic is undefined"),
    (["--num-envs", "0"], "num_envs = 0; it must be at least 1"),
    (["--threads", "0"], "threads = 0; it must be at least 1"),
    (["--threads", "1025"], "threads = 1025; it must be at most 1024"),
    (["--threads", "9" * 23], "it must be at most 1024"),
    (["--ensemble-size", "9" * 23], f"ensemble_size = {'9' * 23}, hidden = [64, 64, 64]"),
    (["--hidden", "1000000", "1000000"], "hidden = [1000000, 1000000], actor_hidden = [64, 64, 64] and batch_size"),
    (["--batch-size", "9" * 23], f"batch_size = {'9' * 23} need"),
    (["--steps", "12"], "steps = 12; it must be a multiple of num_envs = 8"),
    (["--eval-every", "1001"], "eval_every = 1001; it must be a multiple of num_envs = 8"),
    (["--checkpoint-every", "9"], "checkpoint_every = 9; it must be a multiple of num_envs = 8"),
    (["--device", "abacus"], "device = 'abacus' cannot be used"),
    (["--device", "meta"], "device = 'meta' cannot be used"),
    (["--device", "privateuseone"], "device = 'privateuseone' cannot be used"),
    (["--env", "a:b:c"], "cannot make environment 'a:b:c'"),
    (["--corridor", "nowhere"], "corridor is 'nowhere'; expected default, a .json file"),
    (["--corridor", "missing.json"], "missing.json: cannot be read"),
    (["--env-options", "{}}"], "is not JSON"),
    (["--env-options", '{"a": 1}'], "env_options go with a Gymnasium id"),
    (["--env", "CartPole-v1"], "the deep agent needs a Box"),
    (["--env", "NoSuch-v1"], "NoSuch"),
    (["--env", "Pendulum-v1", "--published"], "corridor and published go with env = 'corridor'"),
    (["--buffer-size", "1000000000000"], "buffer_size = 1,000,000,000,000 needs"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_COMMANDS, ids=[" ".join(a) for a, _ in BAD_COMMANDS])
def test_bad_input_is_one_message_and_code_2_before_any_work(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(arguments, message, tmp_path / "run", capsys)
