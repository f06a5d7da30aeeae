"""What just meets a limit is allowed, and what goes one further is refused."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from deep_cases import small_learner

from pyresac.deep import agent
from pyresac.deep.agent import Agent
from pyresac.deep.algorithms import algorithm_type
from pyresac.deep.algorithms.sac import SAC, SACOptions
from pyresac.deep.temperature import LARGEST_EXPONENT
from pyresac.errors import InputError
from pyresac.tasks.experience import LARGEST_CODE
from pyresac.tasks.features import Observations
from pyresac.training import deep_agent


def options(algorithm: str, **given: Any) -> Callable[[], Any]:
    return lambda: algorithm_type(algorithm).options_type(**given)


def typed(**given: Any) -> Callable[[], None]:
    """These options of SAC on Pendulum, as from the command line."""
    config = deep_agent.preset_config(None, "sac", "Pendulum-v1")
    return lambda: deep_agent.require_use(
        dataclasses.replace(config, options=dataclasses.replace(config.options, **given)), []
    )


def seen(*categories: int) -> Callable[[], Observations]:
    return lambda: Observations(gym.spaces.MultiDiscrete(np.array(categories)), "this task")


@pytest.mark.parametrize(
    ("met", "beyond", "message"),
    [
        (
            options("sac", alpha_init=0.5, alpha_max=0.5),
            options("sac", alpha_init=math.nextafter(0.5, 1.0), alpha_max=0.5),
            "alpha_init = 0.5000000000000001; it must be at most alpha_max = 0.5",
        ),
        (
            options("redq", subset_size=4, ensemble_size=4),
            options("redq", subset_size=4, ensemble_size=3),
            "subset_size = 4; it must be at most ensemble_size = 3",
        ),
        (
            options("tqc", dropped=7, quantiles=8),
            options("tqc", dropped=8, quantiles=8),
            "dropped = 8; it must be less than quantiles = 8",
        ),
        (
            options("tqc", hidden=(8, 8), critics="implicit"),
            options("tqc", hidden=(8,), critics="implicit"),
            "hidden = [8]; implicit quantile critics need two layers",
        ),
        (
            typed(buffer_size=256, batch_size=256),
            typed(buffer_size=255, batch_size=256),
            "buffer_size = 255; it must be at least batch_size = 256, or every batch holds transitions more than once",
        ),
        (
            seen(LARGEST_CODE - 2, 2),
            seen(LARGEST_CODE - 2, 3),
            "this task has 16,777,217 categories; at most 16,777,216 can be kept",
        ),
    ],
)
def test_a_limit_is_allowed_and_nothing_beyond(met: Callable[[], Any], beyond: Callable[[], Any], message: str) -> None:
    met()
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        beyond()


SIZES: Mapping[str, Any] = {"hidden": (5, 4), "actor_hidden": (3,), "batch_size": 7}


def test_networks_that_just_fit_into_memory_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters, gradient, two moments and a copy, and a batch's activations, four bytes each."""
    # an action of 2, a state of 6: the critics' weights and biases, then the actor's, which gives 2 means and 2 log s
    critics = 2 * ((8 * 5 + 5) + (5 * 4 + 4) + (4 + 1))
    actor = (6 * 3 + 3) + (3 * 4 + 4)
    # critics' inputs and their layers' outputs; of the actor, of both states, the hidden ones
    activations = 7 * (8 + 2 * (5 + 4 + 1) + 2 * 3)
    needed = 4 * (5 * (critics + actor) + activations)

    def made(free: int | None) -> Agent:
        monkeypatch.setattr(agent, "available_bytes", lambda: free)
        return Agent(
            SAC(SACOptions(**SIZES)), actions=2, dense=6, categories=(), log_volume=0.0, seed=0,
            device=torch.device("cpu"),
        )  # fmt: skip

    for free in (None, needed):
        found = made(free)
        assert found.critic.matrix.numel() + found.actor.matrix.numel() == critics + actor
    message = (
        "ensemble_size = 2, hidden = [5, 4], actor_hidden = [3] and batch_size = 7 need 0 MiB of memory or more; 0 MiB "
        "are free"
    )
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        made(needed - 1)


def test_a_temperature_is_finite_as_long_as_float32_holds_it() -> None:
    temperature = small_learner("sac").temperature
    assert temperature is not None
    last = np.float32(LARGEST_EXPONENT)
    temperature.log_alpha.fill_(float(last))
    assert temperature.alpha == math.exp(LARGEST_EXPONENT) < np.finfo(np.float32).max
    temperature.log_alpha.fill_(float(np.nextafter(last, np.float32(np.inf))))
    assert temperature.alpha == math.inf


def test_the_policy_acts_after_the_random_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first decisions of all copies together are random ones, as many as were asked for."""
    config = deep_agent.preset_config(None, "sac", "Pendulum-v1")
    trainee = deep_agent.build(
        dataclasses.replace(
            config,
            problem=dataclasses.replace(config.problem, num_envs=2),
            options=dataclasses.replace(config.options, random_steps=6, buffer_size=300, **SIZES),
            run=dataclasses.replace(config.run, steps=100, eval_every=100, checkpoint_every=100),
        )
    )
    acted: list[str] = []

    def noted(name: str, plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(given: Any) -> Any:
            acted.append(name)
            return plain(given)

        return call

    for name in ("random_actions", "explore"):
        monkeypatch.setattr(trainee.learner, name, noted(name, getattr(trainee.learner, name)))
    trainee.advance(12)
    assert acted == ["random_actions"] * 3 + ["explore"] * 3
