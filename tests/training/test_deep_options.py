"""Options: what is allowed, what the presets are, and how files and presets combine."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from train_command import assert_refused

from pyresac.deep.algorithms import ALGORITHMS, algorithm_type
from pyresac.deep.algorithms.deep_options import DeepOptions, EntropyOptions
from pyresac.deep.algorithms.resac import Departures, RESACOptions
from pyresac.deep.algorithms.sac import SAC
from pyresac.errors import InputError
from pyresac.train import main
from pyresac.training import deep_agent, presets
from pyresac.training.agents import agent_module
from pyresac.training.command_line import planned, to_saved
from pyresac.training.deep_agent import DeepConfig

NAN, INFINITE = float("nan"), float("inf")
COUNT, NATURAL = "it must be at least 1", "it must be at least 0"
BAD: list[tuple[type[DeepOptions], str, Any, str]] = [
    *((DeepOptions, name, 0, COUNT) for name in ("ensemble_size", "batch_size", "buffer_size", "actor_every")),
    *((DeepOptions, name, 0, COUNT) for name in ("update_every", "updates")),
    *((DeepOptions, name, -1, NATURAL) for name in ("learning_starts", "random_steps")),
    *((DeepOptions, name, 0.0, "it must be greater than 0") for name in ("critic_lr", "actor_lr", "reward_scale")),
    *((DeepOptions, name, value, "it must lie in (0, 1]") for name in ("tau", "ema_rate") for value in (0.0, 1.5)),
    *((DeepOptions, "discount", value, "it must lie in [0, 1)") for value in (1.0, -0.1)),
    (DeepOptions, "grad_clip", 0.0, "it must be greater than 0"),
    (DeepOptions, "activation", "gelu", ""),
    *((EntropyOptions, name, 0.0, "it must be greater than 0") for name in ("alpha_init", "alpha_max")),
    (EntropyOptions, "temperature_lr", -1e-3, NATURAL),
    (EntropyOptions, "temperature_on", "both", ""),
    *((EntropyOptions, "target_entropy", value, "it must be finite") for value in (NAN, INFINITE)),
    *((EntropyOptions, "initial_mean", value, "it must lie in [-3, 3]") for value in (-4.0, 3.5)),
    *((RESACOptions, name, -0.1, NATURAL) for name in ("lambda_epi", "lambda_ale", "beta_ood", "anchor_weight")),
    *((RESACOptions, "independence", value, "it must lie in [0, 1]") for value in (1.1, -0.1)),
    *((RESACOptions, name, 0.5, "it must be at most 0") for name in ("beta_lcb", "beta_lcb_end")),
    (RESACOptions, "beta_steps", 0, COUNT),
]


@pytest.mark.parametrize(
    ("kind", "name", "value", "allowed"), BAD, ids=[f"{name}={value}" for _, name, value, _ in BAD]
)
def test_a_bad_value_is_named_with_its_range(kind: type[DeepOptions], name: str, value: Any, allowed: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"{name} = {value!r}; {allowed}")):
        kind(**{name: value})


def number_fields(kind: type[Any]) -> list[str]:
    """Fields that hold a number or None."""
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    return [
        name
        for name, value in defaults.items()
        if value is None or (isinstance(value, float | int) and value is not True)
    ]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_number_is_checked(algorithm: str) -> None:
    """No option of any algorithm can be added without a check: NaN, infinities, texts and booleans are refused."""
    kind = algorithm_type(algorithm).options_type
    names = [name for name in number_fields(kind) if not isinstance(getattr(kind(), name), bool)]
    assert len(names) > 10
    for name in names:
        for value in (NAN, INFINITE, -INFINITE, "1", True):
            with pytest.raises(InputError, match=re.escape(f"{name} = {value!r}; ")):
                kind(**{name: value})


UNBOUNDED = {"target_entropy"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_number_has_a_bound(algorithm: str) -> None:
    kind = algorithm_type(algorithm).options_type
    for name in set(number_fields(kind)) - UNBOUNDED:
        whole = isinstance(getattr(kind(), name), int)
        refused = 0
        for value in (-(10**9), 10**9) if whole else (-1e30, 1e30):
            try:
                kind(**{name: value})
            except InputError:
                refused += 1
        assert refused, name


def test_other_bad_values() -> None:
    for name in ("hidden", "actor_hidden"):
        with pytest.raises(InputError, match=re.escape(f"{name} = []; it needs at least one layer")):
            DeepOptions(**{name: ()})  # type: ignore[arg-type]
        with pytest.raises(InputError, match=re.escape(f"{name} = (64, 0); it must be at least 1")):
            DeepOptions(**{name: (64, 0)})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cloning = -1; it must be at least 0"):
        Departures(cloning=-1)
    with pytest.raises(InputError, match=re.escape("alpha_init = 0.7; it must be at most alpha_max = 0.6")):
        EntropyOptions(alpha_init=0.7, alpha_max=0.6)


ALONE: dict[str, Any] = {"ensemble_size": 1, "lambda_epi": 0.0, "beta_ood": 0.0, "beta_lcb": 0.0}


@pytest.mark.parametrize(
    ("name", "value"), [("lambda_epi", 0.1), ("beta_ood", 0.1), ("beta_lcb", -1.0), ("beta_lcb_end", -1.0)]
)
def test_one_critic_has_no_variance(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"ensemble_size = 1 with {name} = {value}: the variance of one critic"):
        RESACOptions(**{**ALONE, name: value})


def test_one_critic_is_allowed_where_none_is_needed() -> None:
    RESACOptions(**ALONE)


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


def of_resac(preset: str, corridor: bool) -> RESACOptions:
    found = presets.options_for(preset, "resac", corridor)
    assert isinstance(found, RESACOptions)
    return found


@pytest.mark.parametrize("corridor", [True, False])
def test_the_papers_settings_to_the_letter(corridor: bool) -> None:
    bus = dataclasses.asdict(of_resac("resac-paper", corridor))
    assert {name: bus[name] for name in PAPER_5_2 if name != "departures"} == {
        name: value for name, value in PAPER_5_2.items() if name != "departures"
    }
    b0 = of_resac("resac-b0", corridor)
    assert {name: getattr(b0, name) for name in PAPER_5_1} == PAPER_5_1
    assert b0.updates / b0.update_every == 250 / 4000
    assert b0.actor_every == 1
    assert of_resac("resac-paper", corridor).departures == Departures()


def test_the_runs_are_as_long_as_the_papers() -> None:
    assert presets.run_options("resac-b0", None, False).steps == 8_000_000


def test_the_published_code_differs_in_its_departures_alone() -> None:
    paper, code = of_resac("resac-paper", True), of_resac("published-code", True)
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


@pytest.mark.parametrize("corridor", [True, False])
def test_the_ablations_leave_out_what_they_say(corridor: bool) -> None:
    full = of_resac("penalties", corridor)
    assert full == of_resac("default", corridor) or not corridor
    assert of_resac("epistemic-only", corridor) == dataclasses.replace(full, lambda_ale=0.0)
    alone = of_resac("aleatoric-only", corridor)
    assert alone.lambda_ale == full.lambda_ale
    assert (alone.lambda_epi, alone.beta_ood, alone.beta_lcb, alone.ensemble_size) == (0.0, 0.0, 0.0, 2)
    assert full.lambda_epi > 0
    assert full.lambda_ale > 0
    assert full.beta_lcb < 0


def test_on_box_tasks_resac_is_sac_in_all_that_both_read() -> None:
    """The rest of its settings, which no formula reads: β_lcb is where its bound of two heads is their minimum."""
    resac, sac = of_resac("default", False), presets.options_for("default", "sac", False)
    shared = {field.name for field in dataclasses.fields(resac)} & {field.name for field in dataclasses.fields(sac)}
    assert {name for name in shared if getattr(resac, name) != getattr(sac, name)} == set()
    assert (resac.lambda_epi, resac.lambda_ale, resac.beta_ood, resac.independence) == (0.0, 0.0, 0.0, 0.0)
    assert resac.beta_lcb == -(0.5**0.5)


NAMED = [
    *((preset, found.algorithm) for preset, found in presets.PRESETS.items()),
    *(("default", algorithm) for algorithm in ALGORITHMS),
]


@pytest.mark.parametrize(("preset", "algorithm"), NAMED)
@pytest.mark.parametrize("env", [None, "Pendulum-v1"])
def test_every_preset_and_algorithm_is_a_configuration(preset: str, algorithm: str | None, env: str | None) -> None:
    config = deep_agent.preset_config(preset, algorithm, env)
    assert (config.preset, config.algorithm) == (preset, algorithm or "resac")
    assert config.problem.env == (env or "corridor")
    assert deep_agent.read_config(json.loads(json.dumps(to_saved(config))), "here") == config
    for name in ("steps", "eval_every", "checkpoint_every"):
        assert getattr(config.run, name) % config.problem.num_envs == 0
    small = dataclasses.replace(config, options=dataclasses.replace(config.options, buffer_size=100))
    trainee = deep_agent.build(small)
    assert trainee.step == 0
    assert trainee.learner.critic.heads == config.options.ensemble_size
    assert algorithm_type(config.algorithm).title in trainee.title


def test_an_algorithm_that_shares_anothers_options_is_the_one_that_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    """A newcomer's class may change a formula of SAC and no option."""
    newcomer = ModuleType("pyresac.deep.algorithms.newcomer")

    class Newcomer(SAC):
        """SAC of another title."""

        title = "Newcomer"

    vars(newcomer)["Newcomer"] = Newcomer
    monkeypatch.setitem(sys.modules, newcomer.__name__, newcomer)
    monkeypatch.setitem(ALGORITHMS, "newcomer", "newcomer.Newcomer")
    assert Newcomer.options_type is SAC.options_type
    for name, kind in (("newcomer", Newcomer), ("sac", SAC)):
        config = deep_agent.preset_config(None, name, "Pendulum-v1")
        small = dataclasses.replace(config, options=dataclasses.replace(config.options, buffer_size=100))
        assert type(deep_agent.build(small).algorithm) is kind


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="preset 'swift' is unknown; known are default, quick, resac-paper"):
        deep_agent.preset_config("swift", None, None)


def test_an_unknown_algorithm_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="algorithm 'ppo' is unknown; known are resac, sac, td3"):
        deep_agent.preset_config(None, "ppo", None)


def test_a_preset_of_another_algorithm_is_refused() -> None:
    with pytest.raises(InputError, match="preset 'resac-b0' is one of the algorithm 'resac', not of 'sac'"):
        deep_agent.preset_config("resac-b0", "sac", None)


# --- files over presets


class ParsedError(Exception):
    """Carries what would be built."""

    def __init__(self, config: DeepConfig) -> None:
        super().__init__()
        self.config = config


def parsed(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> DeepConfig:
    def stop(config: DeepConfig) -> None:
        raise ParsedError(config)

    monkeypatch.setattr(deep_agent, "build", stop)
    with pytest.raises(ParsedError) as caught:
        main(list(arguments))
    return caught.value.config


def test_a_file_is_merged_over_its_preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"preset": "resac-paper", "options": {"tau": 0.5, "discount": 0.9}, "run": {"seed": 3}}')
    config = parsed(monkeypatch, "--config", str(file), "--discount", "0.95")
    expected = deep_agent.preset_config("resac-paper", None, None)
    assert config.options == dataclasses.replace(expected.options, tau=0.5, discount=0.95)
    assert config.run == dataclasses.replace(expected.run, seed=3)
    assert config.preset == "resac-paper"
    same = parsed(monkeypatch, "--config", str(file), "--preset", "resac-paper", "--discount", "0.95")
    assert to_saved(same) == to_saved(config)
    file.write_text('{"options": {"tau": 0.5}, "problem": {"env": "Pendulum-v1"}}')
    config = parsed(monkeypatch, "--config", str(file))
    of_pendulum = deep_agent.preset_config(None, None, "Pendulum-v1").options
    assert config.options == dataclasses.replace(of_pendulum, tau=0.5), "of the environment that the file names"
    config = parsed(monkeypatch, "--config", str(file), "--preset", "resac-b0")
    assert config.options == dataclasses.replace(of_resac("resac-b0", False), tau=0.5)
    file.write_text('{"algorithm": "td3", "options": {"smoothing_noise": 0.3}}')
    config = parsed(monkeypatch, "--config", str(file))
    assert config.options == dataclasses.replace(presets.options_for("default", "td3", True), smoothing_noise=0.3)


def test_the_default_is_resac_on_the_corridor(monkeypatch: pytest.MonkeyPatch) -> None:
    config = parsed(monkeypatch)
    assert config.options == of_resac("default", True)
    assert (config.algorithm, config.preset, config.problem.env) == ("resac", "default", "corridor")
    assert parsed(monkeypatch, "--env", "Pendulum-v1").options == of_resac("default", False)
    assert parsed(monkeypatch, "--preset", "quick").run == presets.run_options("quick", None, True)
    assert parsed(monkeypatch, "--algorithm", "sac").options == presets.options_for("default", "sac", True)


def test_departures_are_options(monkeypatch: pytest.MonkeyPatch) -> None:
    config = parsed(monkeypatch, "--preset", "published-code", "--no-add-kappa")
    assert isinstance(config.options, RESACOptions)
    expected = dataclasses.replace(of_resac("published-code", True).departures, add_kappa=False)
    assert config.options.departures == expected


def test_two_presets_or_algorithms_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"preset": "resac-paper"}')
    assert main(["--config", str(file), "--preset", "resac-b0"]) == 2
    assert f"--preset resac-b0 was given with {file}, which has the preset 'resac-paper'" in capsys.readouterr().err
    file.write_text('{"algorithm": "td3"}')
    assert main(["--config", str(file), "--algorithm", "sac"]) == 2
    assert f"--algorithm sac was given with {file}, which has the algorithm 'td3'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"preset": ["resac"]}', "preset = ['resac']; it must be a name"),
        ('{"algorithm": 3}', "algorithm = 3; it must be a name"),
        ('{"agent": ["deep"]}', "agent ['deep'] is unknown"),
        ('{"agent": "resac"}', "is of an earlier version, which called the deep agent 'resac'"),
        ('{"options": 3}', "options"),
        ('{"problem": []}', "problem"),
        ('{"options": {"discont": 0.9}}', "has unknown options discont; known are"),
        ('{"options": {"departures": {"add": true}}}', "has unknown options add; known are"),
        ('{"options": {"discount": "0.9"}}', "options.discount = '0.9'; expected `float`, got `str`"),
        ('{"run": {"steps": true}}', "run.steps = True; expected `int`, got `bool`"),
        ('{"run": {"steps": ' + "9" * 400 + "}}", "999; it must lie in [1, 999999999999]"),
        ('{"options": {"discount": ' + "9" * 400 + "}}", "Number out of range"),
        ('{"problem": {"env": ["corridor"]}}', "problem.env = ['corridor']; it must be a name"),
        ('{"options": {"hidden": [64, 0]}}', "options.hidden[1] = 0; it must be at least 1"),
        ('{"options": {"discount": 1.5}}', "options.discount = 1.5; it must lie in [0, 1)"),
        ('{"options": {"departures": {"cloning": -1}}}', "options.departures.cloning = -1; it must be at least 0"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "it must be a JSON object"),
        ('{"run": {"steps": NaN}}', "steps"),
        ('{"options": {"lambda_ale": Infinity}}', "lambda_ale"),
        ("\udc80", "is not UTF-8 text"),
    ],
)
def test_a_file_that_does_not_fit_is_one_sentence(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(content.encode(errors="surrogateescape"))
    assert main(["--config", str(file), "--run-dir", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert str(file) in error
    assert len(error) < 2000
    assert not (tmp_path / "run").exists()


BAD_COMMANDS = [
    (["--preset", "swift"], "preset 'swift' is unknown; known are"),
    (["--preset", ""], "preset '' is unknown; known are"),
    (["--algorithm", "ppo"], "algorithm 'ppo' is unknown; known are resac, sac, td3"),
    (["--algorithm", ""], "algorithm '' is unknown; known are"),
    (["--algorithm", "sac", "--lambda-epi", "0.1"], "--lambda-epi: sac reads no lambda_epi; it reads"),
    (["--algorithm", "td3", "--alpha-init=0.1"], "--alpha-init: td3 reads no alpha_init; it reads"),
    (["--algorithm", "sac", "--preset", "resac-b0"], "preset 'resac-b0' is one of the algorithm 'resac'"),
    (["--agent", "tabular", "--algorithm", "sac"], "--algorithm goes with the deep agent"),
    (["--discount", "1"], "discount = 1.0; it must lie in [0, 1)"),
    (["--beta-lcb", "0.5"], "beta_lcb = 0.5; it must be at most 0"),
    (["--ensemble-size", "1"], "the variance of one critic is undefined"),
    (["--num-envs", "0"], "num_envs = 0; it must lie in [1, 4096]"),
    (["--num-envs", "10000000"], "num_envs = 10000000; it must lie in [1, 4096]"),
    (["--eval-episodes", "100000000"], "eval_episodes = 100000000; it must lie in [1, 1000000]"),
    (["--final-episodes", "100000000"], "final_episodes = 100000000; it must lie in [2, 1000000]"),
    (["--steps", "8000000000000"], "steps = 8000000000000; it must lie in [1, 999999999999]"),
    (["--threads", "0"], "threads = 0; it must lie in [1, 1024]"),
    (["--threads", "1025"], "threads = 1025; it must lie in [1, 1024]"),
    (["--threads", "9" * 23], "it must lie in [1, 1024]"),
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
    (["--corridor", "nowhere"], "corridor is 'nowhere'; expected default, disturbed, a .json file"),
    (["--corridor", "missing.json"], "cannot read missing.json: No such file"),
    (["--env-options", "{}}"], "is not JSON"),
    (["--env-options", '{"a": 1}'], "env_options go with a Gymnasium id"),
    (["--env", "CartPole-v1"], "the deep agent needs a Box"),
    (["--env", "NoSuch-v1"], "NoSuch"),
    (["--env", "Pendulum-v1", "--published"], "corridor and published go with env = 'corridor'"),
    (["--env", "Pendulum-v1", "--corridor", "disturbed"], "corridor and published go with env = 'corridor'"),
    (["--env", "Pendulum-v1", "--observation", "full"], "observation and rule go with env = 'corridor'"),
    (["--env", "Pendulum-v1", "--rule", "schedule"], "observation and rule go with env = 'corridor'"),
    (["--env", "Pendulum-v1", "--objective", "passengers"], "objective goes with env = 'corridor'; env is 'Pendulum"),
    (["--env", "pyresac/BusCorridor-v0"], "the corridor is trained on as --env corridor, with whole trips"),
    (["--env", "BusCorridor-v0"], "the corridor is trained on as --env corridor, with whole trips"),
    (["--buffer-size", "1000000000000"], "buffer_size = 1,000,000,000,000 needs"),
    (["--buffer-size", "100"], "buffer_size = 100; it must be at least batch_size = 256"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_COMMANDS, ids=[" ".join(a) for a, _ in BAD_COMMANDS])
def test_bad_input_is_one_message_and_code_2_before_any_work(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(arguments, message, tmp_path / "run", capsys)


IDLE = [
    ("sac", ["--renorm-warmup", "10"], "normalisation = 'batch'; normalisation is 'none'"),
    ("td3", ["--normalisation", "batch", "--tau=0.1"], "normalisation other than 'batch'"),
    *(
        ("dsac", ["--temperature-lr", "0", f"--{name}", value], "temperature_lr above 0; temperature_lr is 0.0")
        for name, value in (("target-entropy", "-1"), ("alpha-max", "0.6"), ("temperature-on", "next"))
    ),
    *(
        ("bac", ["--blend", "0", f"--{name}", value], "blend above 0; blend is 0.0")
        for name, value in (("exploitation", "uniform"), ("expectile", "0.9"), ("state-value-lr", "0.1"))
    ),
    ("bac", ["--uniform-actions", "3"], "exploitation = 'uniform'; exploitation is 'buffer'"),
    ("bac", ["--exploitation", "uniform", "--expectile", "0.9"], "exploitation = 'buffer'"),
    ("bac", ["--exploitation", "uniform", "--state-value-lr", "0.9"], "exploitation = 'buffer'"),
    ("sac-n", ["--actor-optimism", "0", "--actor-ascends", "mean"], "actor_optimism = None; actor_optimism is 0.0"),
    ("td3", ["--smoothing-noise", "0", "--smoothing-clip", "1"], "smoothing_noise above 0"),
    ("tqc", ["--cosines", "3"], "critics = 'implicit'; critics is 'fixed'"),
    ("tqc", ["--embedding-activation", "relu"], "critics = 'implicit'; critics is 'fixed'"),
    ("tqc", ["--dropped", "0", "--drops-from", "critic"], "dropped above 0; dropped is 0"),
    ("resac", ["--beta-lcb", "0", "--sigma-clip", "1"], "beta_lcb below 0; beta_lcb is 0.0"),
    ("resac", ["--beta-lcb", "0", "--adaptive-beta"], "beta_lcb below 0; beta_lcb is 0.0"),
]
"""Options that are typed, the last of which changes nothing beside the others."""


@pytest.mark.parametrize(("algorithm", "typed", "needed"), IDLE, ids=[f"{name} {' '.join(a)}" for name, a, _ in IDLE])
def test_an_option_that_would_change_nothing_is_refused(algorithm: str, typed: list[str], needed: str) -> None:
    name, config = planned(["--algorithm", algorithm, *typed])
    flag = [word.partition("=")[0] for word in typed if word.startswith("--")][-1]
    with pytest.raises(InputError, match=re.escape(f"{flag}: it goes with {needed}")):
        agent_module(name).require_use(config, typed)
    if len(typed) > 2:  # nor does it hinder who types the others alone
        others = typed[: typed.index(flag)] if flag in typed else typed[:-1]
        agent_module(name).require_use(planned(["--algorithm", algorithm, *others])[1], others)


def test_a_part_of_the_options_is_of_its_type() -> None:
    with pytest.raises(InputError, match=re.escape("departures = {}; it must be Departures(…)")):
        RESACOptions(departures={})  # type: ignore[arg-type]
    assert RESACOptions(departures=Departures()).departures == Departures()


def test_a_file_cannot_set_what_would_change_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "idle.json"
    file.write_text(json.dumps({"algorithm": "sac", "options": {"renorm_warmup": 7}}), encoding="utf-8")
    message = "renorm_warmup = 7: it goes with normalisation = 'batch'; normalisation is 'none'"
    assert_refused(["--config", str(file)], message, tmp_path / "run", capsys)
    _, config = planned(["--config", str(file), "--normalisation", "batch"])
    deep_agent.require_use(config, ["--normalisation", "batch"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--algorithm", "sac", "--actor-ascend", "min"],
            "--actor-ascend: there is no such option; did you mean --actor-ascends? sac reads activation, actor_asc",
        ),
        (
            ["--algorithm", "redq", "--subset-sise=3"],
            "--subset-sise: there is no such option; did you mean --subset-size",
        ),
        (["--no-normalise-observation"], "did you mean --normalise-observations?"),
        (["--stps", "7"], "--stps: there is no such option; did you mean --steps? resac reads activation, "),
        (["--num-env", "7"], "did you mean --num-envs?"),
        (["--full-range-jacobean"], "did you mean --full-range-jacobian?"),
        (["--colour", "7"], "--colour: there is no such option; resac reads activation, "),
        (["--agent", "tabular", "--zzz"], "--zzz: there is no such option; the tabular agent reads "),
        (["--seed", "1", "7"], "'7' belongs to no option; --help lists them all"),
    ],
)
def test_an_unknown_option_names_those_that_are_read(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(arguments, message, tmp_path / "run", capsys)


@pytest.mark.parametrize(("preset", "algorithm"), NAMED)
def test_what_stands_in_a_preset_may_be_idle(preset: str, algorithm: str | None) -> None:
    """An option of a preset has no effect beside another that is typed: that is no fault of who types."""
    for env in (None, "Pendulum-v1"):
        config = deep_agent.preset_config(preset, algorithm, env)
        deep_agent.require_use(config, ["--preset", preset])
        names = {field.name for field in dataclasses.fields(config.options)}
        idle = config.options.idle()
        assert idle.keys() <= names
        assert {other for other, _ in idle.values()} <= names


@pytest.mark.parametrize(
    ("steps", "options", "said"),
    [
        (
            5000,
            {},
            "before the first update, at step 5,004 (learning_starts = 5,000, update_every = 4)",
        ),
        (5003, {}, "nothing is learned"),
        (5004, {"actor_every": 2}, "5,004 steps make 1 updates, and actor_every = 2: no actor is learned"),
        (5004, {"actor_every": 1}, None),
        (5004, {"actor_every": 20, "updates": 20}, None),
        (5007, {"actor_every": 40, "updates": 20}, "make 20 updates, and actor_every = 40"),
        (5008, {"actor_every": 40, "updates": 20}, None),
    ],
)
def test_a_run_that_ends_before_it_learns_says_so(steps: int, options: dict[str, Any], said: str | None) -> None:
    config = deep_agent.preset_config(None, "sac", None)
    given = dataclasses.replace(
        config,
        run=dataclasses.replace(config.run, steps=steps),
        options=dataclasses.replace(config.options, learning_starts=5_000, update_every=4, **options),
    )
    found = deep_agent.unlearned(given)
    assert found is None if said is None else said in str(found)


def test_idle_options_are_of_no_formula() -> None:
    """`beta_steps` is none of them, though it is idle without `beta_lcb_end`: plans write it for every variant."""
    assert "beta_steps" not in RESACOptions().idle()
