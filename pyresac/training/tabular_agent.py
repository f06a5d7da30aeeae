"""The tabular RE-SAC agent on a discrete Gymnasium environment: `python -m pyresac.train --agent tabular`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from threadpoolctl import threadpool_limits

from pyresac.errors import CheckpointError, InputError
from pyresac.options import kinds_of, read_options
from pyresac.tabular.tabular_learner import LearnerOptions, TabularLearner
from pyresac.tasks.discrete import EnvOptions, PlayedEpisodes, make_discrete, make_resumable, play
from pyresac.tasks.snapshots import (
    environment_state,
    generator_state,
    prepare_player,
    restore_environment,
    restore_generator,
)
from pyresac.training.agents import FirstLook
from pyresac.training.run_options import CommandOptions, RunOptions
from pyresac.training.tabular_report import print_report, result_of

_EVALUATION = 1
_TRAINING = 0
_FINAL = 2**32
"""Stands for the step in the seed of the last evaluation."""


@dataclass(frozen=True)
class TabularConfig:
    """Train tabular RE-SAC on a Gymnasium environment with Discrete spaces, and compare it with the exact optimum."""

    command: tyro.conf.OmitArgPrefixes[CommandOptions] = field(default_factory=CommandOptions)
    run: tyro.conf.OmitArgPrefixes[RunOptions] = field(default_factory=RunOptions)
    problem: tyro.conf.OmitArgPrefixes[EnvOptions] = field(default_factory=EnvOptions)
    learner: tyro.conf.OmitArgPrefixes[LearnerOptions] = field(default_factory=LearnerOptions)

    @property
    def label(self) -> str:
        """Part of the name of a new run folder."""
        return f"tabular-{self.problem.env.replace('/', '-').replace(':', '-')}-seed{self.run.seed}"


class TabularTrainee:
    """A learner in its environment; the loop's `Trainee`. Raises InputError for an environment it cannot work with."""

    chunk = 1000
    columns = (
        "episodes",
        "train_return",
        "td_error",
        "eval_return",
        "eval_length",
        "eval_cut",
        "q_mean",
        "sigma_mean",
        "kappa_mean",
        "temperature",
        "exploration",
    )
    shown: Mapping[str, str] = {"return": "eval_return", "σ": "sigma_mean", "κ": "kappa_mean", "α": "temperature"}

    def __init__(self, config: TabularConfig) -> None:
        self.config = config
        self._env = make_resumable(config.problem)
        self._eval_env = make_discrete(config.problem)
        self._eval_env.reset(seed=0)
        self._unplayed = environment_state(self._eval_env)
        spaces: Any = self._env
        learner_seed, env_seed = _seeds(config.run.seed, _TRAINING, 0, 2)
        self.learner = TabularLearner(
            int(spaces.observation_space.n), int(spaces.action_space.n), config.learner, learner_seed
        )
        first, _ = self._env.reset(seed=env_seed)
        self._state = int(first)
        self._episodes = 0
        self._episode_return = 0.0
        self._begin_sums()

    def _begin_sums(self) -> None:
        """Training statistics since the last evaluation."""
        self._sums = {"episodes": 0.0, "return": 0.0, "steps": 0.0, "error": 0.0}

    @property
    def title(self) -> str:
        """What is trained, for the first line."""
        heads, states, actions = self.learner.q.shape
        return f"tabular RE-SAC, {heads} heads, on {self.config.problem.env} ({states} states, {actions} actions)"

    @property
    def step(self) -> int:
        """Environment steps so far."""
        return self.learner.step

    @property
    def work(self) -> Mapping[str, int]:
        """None: there is an update a step."""
        return {}

    def advance(self, steps: int) -> None:
        """Interact and learn. The end of an episode is `terminated`; a time limit only starts a new episode."""
        env, learner, sums = self._env, self.learner, self._sums
        state, episode_return, error = self._state, self._episode_return, sums["error"]
        for _ in range(steps):
            action = learner.act(state)
            observation, reward, terminated, truncated, _ = env.step(action)
            received, after = float(reward), int(observation)
            error += learner.update(state, action, received, after, terminated=bool(terminated))
            episode_return += received
            state = after
            if terminated or truncated:
                self._episodes += 1
                sums["episodes"] += 1
                sums["return"] += episode_return
                episode_return = 0.0
                first, _ = env.reset()
                state = int(first)
        self._state, self._episode_return, sums["error"] = state, episode_return, error
        sums["steps"] += steps

    def measure(self) -> dict[str, float]:
        """Play the greedy policy, and begin the training statistics anew."""
        options, sums, learner = self.config, self._sums, self.learner
        (seed,) = _seeds(options.run.seed, _EVALUATION, self.step, 1)
        played = self._play(options.run.eval_episodes, seed)
        row = {
            "episodes": float(self._episodes),
            "train_return": sums["return"] / sums["episodes"] if sums["episodes"] else float("nan"),
            "td_error": sums["error"] / sums["steps"],
            "eval_return": float(played.returns.mean()),
            "eval_length": float(played.lengths.mean()),
            "eval_cut": played.cut / options.run.eval_episodes,
            "q_mean": float(learner.q.mean()),
            "sigma_mean": float(learner.deviation().mean()),
            "kappa_mean": float(learner.kappa.mean()),
            "temperature": learner.temperature,
            "exploration": learner.exploration,
        }
        self._begin_sums()
        return row

    def _play(self, episodes: int, seed: int) -> PlayedEpisodes:
        """The greedy policy, in an environment that earlier evaluations have left no trace in."""
        prepare_player(self._eval_env, self._unplayed, self._env)
        discount, limit = self.config.learner.discount, self.config.problem.eval_step_limit
        return play(self._eval_env, self.learner.greedy_policy(), episodes, seed, discount, limit)

    def state(self) -> dict[str, Any]:
        """Counters, generators and the environment's state."""
        return {
            "step": self.step,
            "state": self._state,
            "episodes": self._episodes,
            "episode_return": self._episode_return,
            "window": self._sums,
            "learner_generator": generator_state(self.learner.rng),
            "environment": environment_state(self._env),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The tables."""
        return self.learner.arrays()

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take on a saved state. Raises CheckpointError if a table does not fit."""
        try:
            self.learner.load_arrays(dict(arrays), state["step"])
        except InputError as error:
            raise CheckpointError(f"the checkpoint's {error}") from error
        self._state, self._episodes = state["state"], state["episodes"]
        self._episode_return = state["episode_return"]
        self._sums = dict(state["window"])
        restore_generator(self.learner.rng, state["learner_generator"])
        restore_environment(self._env, state["environment"])

    def diverged(self) -> str | None:
        """Name the first table with an entry that is not finite, and what makes that happen."""
        for name, table in (("Q-tables", self.learner.q), ("target tables", self.learner.target)):
            if not np.isfinite(table).all():
                return (
                    f"the {name} are not finite: penalties that follow the tables diverge when lambda_epi or "
                    f"lambda_ale is too large for the values at hand (claims C15, C36)"
                )
        return None

    def result(self) -> dict[str, Any]:
        """What was learned beside the exact optimum, as JSON."""
        (seed,) = _seeds(self.config.run.seed, _EVALUATION, _FINAL, 1)
        played = self._play(self.config.run.final_episodes, seed)
        return result_of(self._eval_env, self.learner, played)

    def show(self, result: Mapping[str, Any], console: Console) -> None:
        """Print it."""
        print_report(console, self.config.problem.env, result)


def base_config(values: Mapping[str, Any], first: FirstLook, where: str) -> TabularConfig:
    """What the command line starts from. Raises InputError for what is unknown or of the deep agent."""
    for name in ("algorithm", "preset"):
        if getattr(first, name) is not None:
            raise InputError(f"--{name} goes with the deep agent; the tabular one has none")
    return read_options(TabularConfig, dict(values), where)


def reads(config: TabularConfig) -> tuple[str, list[str]]:
    """Who reads options of its own, and their names."""
    return "the tabular agent", sorted(kinds_of(type(config.learner)))


def require_read(config: TabularConfig, arguments: list[str]) -> None:
    """All options are this agent's."""


def require_use(config: TabularConfig, arguments: list[str]) -> None:
    """Each of its options has an effect."""


def unlearned(config: TabularConfig) -> str | None:
    """It learns from its first step on."""
    return None


def description(config: TabularConfig) -> str:
    """For the help text."""
    return TabularConfig.__doc__ or ""


def threads() -> AbstractContextManager[Any]:
    """One thread for the products of the exact values."""
    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits


def build(config: TabularConfig) -> TabularTrainee:
    """The trainee of a configuration, at step 0. Raises InputError before any work if it is not usable."""
    return TabularTrainee(config)


def _seeds(seed: int, purpose: int, step: int, count: int) -> list[int]:
    """Independent seeds for one purpose: training and evaluation never share a stream."""
    return [int(word) for word in np.random.SeedSequence([seed, purpose, step]).generate_state(count)]
