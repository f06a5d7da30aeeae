"""SAC-N, REDQ and BAC: the settings of their papers, the published ones, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from registry import algorithm_of

from pyresac.deep.algorithms import ALGORITHMS, algorithm_type
from pyresac.deep.algorithms.deep_options import DeepOptions
from pyresac.deep.learner import Learner
from pyresac.errors import InputError
from pyresac.training.presets import PRESETS, options_for


def options(name: str, **given: Any) -> DeepOptions:
    return algorithm_type(name).options_type(**given)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sac-n", {"ensemble_size": 10, "actor_ascends": "min", "actor_optimism": None, "alpha_init": 0.2}),
        (
            "redq",
            {
                "ensemble_size": 10,
                "subset_size": 2,
                "updates": 20,
                "update_every": 1,
                "actor_every": 20,
                "actor_ascends": "mean",
                "random_steps": 5_000,
                "learning_starts": 5_000,
                "alpha_init": 1.0,
                "target_entropy": None,
            },
        ),
        (
            "bac",
            {"ensemble_size": 2, "blend": 0.5, "expectile": 0.7, "exploitation": "buffer", "actor_ascends": "min"},
        ),
    ],
)
def test_the_papers_settings(name: str, expected: dict[str, Any]) -> None:
    """And what all share: 256×256, γ = 0.99, τ = 0.005, rates of 3e-4, batches of 256, a million transitions."""
    found = options_for("default", name, corridor=False)
    assert {key: getattr(found, key) for key in expected} == expected
    shared = {
        "hidden": (256, 256),
        "actor_hidden": (256, 256),
        "discount": 0.99,
        "tau": 0.005,
        "critic_lr": 3e-4,
        "actor_lr": 3e-4,
        "temperature_lr": 3e-4,
        "temperature_on": "state",
        "batch_size": 256,
        "buffer_size": 1_000_000,
        "grad_clip": None,
        "ema_rate": 1.0,
        "reward_scale": 1.0,
    }
    assert {key: getattr(found, key) for key in shared} == shared


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sac-n", {"ensemble_size": 10, "actor_optimism": 1.0, "alpha_init": 0.2, "updates": 1}),
        (
            "redq",
            {
                "ensemble_size": 10,
                "subset_size": 2,
                "updates": 1,
                "actor_every": 1,
                "actor_ascends": "mean",
                "alpha_init": 0.2,
                "random_steps": 10_000,
                "learning_starts": 10_000,
            },
        ),
        ("bac", {"exploitation": "uniform", "uniform_actions": 10, "blend": 0.5, "updates": 1}),
    ],
)
def test_the_published_settings(name: str, expected: dict[str, Any]) -> None:
    """One update every 16 steps."""
    found = options_for(f"published-{name}", name, corridor=False)
    assert {key: getattr(found, key) for key in expected} == expected
    assert found.update_every == 16


@pytest.mark.parametrize("corridor", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_settings_for_both_kinds_of_task(name: str, corridor: bool) -> None:
    """None of its defaults is at odds with those of the task."""
    assert type(options_for("default", name, corridor)) is algorithm_type(name).options_type


@pytest.mark.parametrize("corridor", [False, True])
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_usable(preset: str, corridor: bool) -> None:
    """On both kinds of task."""
    assert options_for(preset, None, corridor).batch_size >= 1


def test_redq_on_the_corridor_keeps_its_rhythm_of_the_actor() -> None:
    """The corridor's own settings have the actor in every second update."""
    assert options_for("default", "sac", corridor=True).actor_every == 2
    found = options_for("default", "redq", corridor=True)
    assert found.actor_every == found.updates == 20


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("redq", {"subset_size": 11}, r"subset_size = 11; it must be at most ensemble_size = 10"),
        ("redq", {"subset_size": 0}, r"subset_size = 0; it must be at least 1"),
        ("sac-n", {"ensemble_size": 1, "actor_optimism": 1.0}, r"ensemble_size = 1 with actor_optimism = 1.0"),
        ("sac-n", {"actor_optimism": -1.0}, r"actor_optimism = -1.0; it must be at least 0"),
        ("bac", {"blend": 1.5}, r"blend = 1.5; it must lie in \[0, 1\]"),
        ("bac", {"expectile": 1.0}, r"expectile = 1.0; it must lie in \(0, 1\)"),
        ("bac", {"uniform_actions": 0}, r"uniform_actions = 0; it must be at least 1"),
    ],
)
def test_what_is_refused(name: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        options(name, **given)


def small(name: str, **given: Any) -> Learner:
    own = algorithm_of(options(name, hidden=(4,), actor_hidden=(4,), **given))
    return Learner(own, actions=1, dense=2, categories=(3,), log_volume=0.0, seed=0, device=torch.device("cpu"))


def test_a_value_of_states_is_kept_where_there_is_one() -> None:
    """V is a network of one head and one output that sees what the actor sees; its optimiser is saved as well."""
    with_value, without = small("bac").arrays(), small("bac", exploitation="uniform").arrays()
    more = {"state_value", "state_value.step", "state_value.exp_avg", "state_value.exp_avg_sq"}
    assert with_value.keys() - without.keys() == more
    assert without.keys() - with_value.keys() == set()
    learner = small("bac")
    assert learner.state_value is not None
    assert learner.state_value.layout.outputs == learner.state_value.heads == 1
    assert learner.state_value.layout.dense == learner.actor.layout.dense == 2
    assert learner.statistics.names[-3:] == ("state_value_loss", "state_value_mean", "state_value_grad")


def test_a_learner_with_v_draws_its_critics_and_actor_as_without() -> None:
    """So that λ = 0 and λ > 0 start from the same networks."""
    first, second = small("bac").networks(), small("sac").networks()
    for name, matrix in second.items():
        assert torch.equal(first[name], matrix)
