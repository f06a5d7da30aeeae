"""Any Gymnasium environment with a Box action as a task: copies in lockstep, each a plain environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from pyresac.errors import CheckpointError, DivergenceError, InputError
from pyresac.tasks.action_box import ActionBox
from pyresac.tasks.environments import make_environment
from pyresac.tasks.experience import Experience, Numbers
from pyresac.tasks.features import Observations
from pyresac.tasks.restorable import require_restorable, tried
from pyresac.tasks.snapshots import (
    environment_state,
    prepare_player,
    restore_environment,
    restore_wrappers,
)
from pyresac.tasks.task import Codes, Played, PolicyFunction, play_in_blocks
from pyresac.tasks.variation import UNCHANGED, Variation

SIDE_BY_SIDE = 32
"""Evaluation episodes in lockstep, at most."""
LONGEST = 100_000
"""Steps after which an evaluation episode is cut, so that one in an environment without a time limit ends."""
NEGLIGIBLE = 0.01
"""Weight γ^i below which the rewards from step i on are left out of a discounted return."""

Environment = gym.Env[Any, Any]


class BoxTask:
    """`copies` environments of one id. Observations are flattened as they are: nothing is rescaled."""

    reported: tuple[str, ...] = ("length",)

    def __init__(
        self,
        env_id: str,
        keywords: Mapping[str, Any],
        copies: int,
        seed: int,
        variation: Variation = UNCHANGED,
    ) -> None:
        """Raises InputError for no copies or a negative seed, if there is no such environment, if its spaces are not
        allowed (a Box of floats with finite bounds for the action, `Observations` for the rest), if it cannot be varied
        so, or if it cannot be saved and resumed exactly."""
        for name, number, least in (("copies", copies, 1), ("seed", seed, 0)):
            if number < least:
                raise InputError(f"{name} = {number}; it must be at least {least}")
        self.copies = copies
        self.title = f"{env_id}, {copies} copies side by side" if copies > 1 else env_id
        if variation != UNCHANGED:
            self.title += f"; {variation.words}"
        self._id, self._keywords, self._where = env_id, dict(keywords), f"environment {env_id!r}"
        self._variation = variation
        self._envs = [self._made(evaluation=False) for _ in range(copies)]
        space = self._envs[0].action_space
        self.box = ActionBox.of(space, self._where)
        if not isinstance(space, gym.spaces.Box) or not np.issubdtype(space.dtype, np.floating):
            raise InputError(f"{self._where} has the action space {space}; the deep agent needs a Box of floats")
        self._space = space
        self._observations = Observations(self._envs[0].observation_space, self._where)
        self.dense, self.categories = self._observations.dense, self._observations.categories
        self._players = [self._made(evaluation=True) for _ in range(2)]
        with tried(self._where):
            self._try(self._players[0])
        require_restorable(self._players[0], self._players[1], self._where)
        self._unplayed = environment_state(self._players[0])
        self._dense, self._codes = self._blank(copies)
        words = np.random.SeedSequence([seed, 0]).generate_state(copies, np.uint32)
        with tried(self._where):
            for row, word in enumerate(words):
                first, _ = self._envs[row].reset(seed=int(word))
                self._observations.read(first, self._dense[row], self._codes[row])
            self._require_finite(self._dense, "a first observation")
        self._running = np.zeros(copies)
        self._finished: list[float] = []

    def _try(self, env: Environment) -> None:
        """One step, read as those of training are."""
        dense, codes = self._blank(1)
        first, _ = env.reset(seed=0)
        self._observations.read(first, dense[0], codes[0])
        self._require_finite(dense, "a first observation")
        after, reward, _, _, _ = env.step(self._actions(np.zeros((1, len(self.box.half)), dtype=np.float32))[0])
        self._observations.read(after, dense[0], codes[0])
        self._require_finite(dense, "an observation")
        self._require_finite(np.array([self._number(reward)], dtype=np.float32), "a reward")

    def observe(self) -> tuple[Numbers, Codes]:
        """Features of the present state of each copy."""
        return self._dense, self._codes

    def step(self, unit: Numbers) -> Experience:
        """Act in each copy: `copies` transitions. s′ is what the step led to, also where an episode ended there.

        Raises DivergenceError if the environment gives a number that is not finite.
        """
        rewards, terminal, over = np.empty(self.copies), np.zeros(self.copies, dtype=bool), list[int]()
        after, after_codes = self._blank(self.copies)
        for row, (env, action) in enumerate(zip(self._envs, self._actions(unit), strict=True)):
            observation, reward, terminated, truncated, _ = env.step(action)
            self._observations.read(observation, after[row], after_codes[row])
            rewards[row] = self._number(reward)
            # a time limit says nothing about s′, whose value counts
            terminal[row] = terminated
            if terminated or truncated:
                over.append(row)
        self._require_finite(after, "an observation")
        kept = rewards.astype(np.float32)
        self._require_finite(kept, "a reward")
        self._running += rewards
        found = Experience(
            action=unit,
            dense=self._dense,
            codes=self._codes,
            reward=kept,
            terminal=terminal,
            next_dense=after,
            next_codes=after_codes,
        )
        self._dense, self._codes = after, after_codes
        if over:
            self._begin_anew(over)
        return found

    def _begin_anew(self, rows: list[int]) -> None:
        self._dense, self._codes = self._dense.copy(), self._codes.copy()
        for row in rows:
            first, _ = self._envs[row].reset()
            self._observations.read(first, self._dense[row], self._codes[row])
        self._require_finite(self._dense, "a first observation")
        self._finished += self._running[rows].tolist()
        self._running[rows] = 0.0

    def finished(self) -> list[float]:
        """Returns of the episodes that have ended since the last call."""
        found, self._finished = self._finished, []
        return found

    def play(self, policy: PolicyFunction, episodes: int, seed: int, discount: float) -> Played:
        """Episodes in environments of their own, episode i begun with a seed hashed from (seed, 1, i).

        Metrics: "return", "length" in steps, "cut" (1 where a time limit ended the episode). Raises DivergenceError
        if the environment gives a number that is not finite.
        """
        envs = self._anew(min(episodes, SIDE_BY_SIDE))

        def block(first: int, count: int) -> Played:
            sources = [np.random.SeedSequence([seed, 1, i]) for i in range(first, first + count)]
            return self._played(self._side_by_side(policy, envs, [_word(source) for source in sources]), discount)

        return play_in_blocks(block, episodes, SIDE_BY_SIDE)

    def _played(self, episodes: list[_Episode], discount: float) -> Played:
        known = [episode.discounted(discount) for episode in episodes]
        pairs = list(zip(episodes, map(len, known), strict=True))
        return Played(
            metrics={
                "return": np.array([sum(episode.rewards) for episode in episodes]),
                "length": np.array([float(len(episode.rewards)) for episode in episodes]),
                "cut": np.array([float(episode.cut) for episode in episodes]),
            },
            dense=_stacked([e.dense[:count] for e, count in pairs], self.dense, np.float32),
            codes=_stacked([e.codes[:count] for e, count in pairs], len(self.categories), np.int64),
            action=_stacked([e.action[:count] for e, count in pairs], len(self.box.half), np.float32),
            discounted=np.concatenate(known),
        )

    def _anew(self, count: int) -> list[Environment]:
        """Environments for evaluation in the state that they were made in, whatever has been played in them, with the
        wrappers of the first training one."""
        while len(self._players) < count:
            self._players.append(self._made(evaluation=True))
            self._players[-1].reset(seed=0)  # so that all that an environment makes at its first reset can be restored
        for env in self._players[:count]:
            prepare_player(env, self._unplayed, self._envs[0])
        return self._players[:count]

    def _side_by_side(self, policy: PolicyFunction, envs: list[Environment], seeds: list[int]) -> list[_Episode]:
        episodes = [_Episode() for _ in seeds]
        dense, codes = self._blank(len(seeds))
        for row, seed in enumerate(seeds):
            first, _ = envs[row].reset(seed=seed)
            self._observations.read(first, dense[row], codes[row])
        going = list(range(len(seeds)))
        while going:
            self._require_finite(dense, "an observation")
            unit = policy(dense[going], codes[going])
            for row, own, action in zip(going, unit, self._actions(unit), strict=True):
                episode = episodes[row]
                episode.dense.append(dense[row].copy())
                episode.codes.append(codes[row].copy())
                episode.action.append(own)
                after, reward, terminated, truncated, _ = envs[row].step(action)
                episode.rewards.append(self._number(reward))
                self._observations.read(after, dense[row], codes[row])
                episode.terminated = bool(terminated)
                episode.cut = not terminated and bool(truncated or len(episode.rewards) == LONGEST)
            self._require_finite(np.array([episodes[row].rewards[-1] for row in going]), "a reward")
            going = [row for row in going if not (episodes[row].terminated or episodes[row].cut)]
        return episodes

    def state(self) -> dict[str, Any]:
        """The environments, and the returns of the episodes under way."""
        return {
            "environments": [environment_state(env) for env in self._envs],
            "running": self._running.tolist(),
            "finished": list(self._finished),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The present observations."""
        return {"dense": self._dense, "codes": self._codes}

    def load(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from `state` and `arrays`."""
        for name, own in self.arrays().items():
            if arrays[name].shape != own.shape or arrays[name].dtype != own.dtype:
                raise CheckpointError(
                    f"the checkpoint's {name} observations are {arrays[name].dtype}{arrays[name].shape}; "
                    f"expected {own.dtype}{own.shape}"
                )
        if len(state["environments"]) != self.copies:
            raise CheckpointError(f"the checkpoint has {len(state['environments'])} environments, not {self.copies}")
        for env, saved in zip(self._envs, state["environments"], strict=True):
            restore_environment(env, saved)
        self._dense, self._codes = arrays["dense"].copy(), arrays["codes"].copy()
        self._running = np.array(state["running"], dtype=np.float64)
        self._finished = list(state["finished"])

    def load_for_play(self, state: Mapping[str, Any]) -> None:
        """See `Task`: statistics that wrappers keep."""
        restore_wrappers(self._envs[0], state["environments"][0])

    def _made(self, evaluation: bool) -> Environment:
        return self._variation.applied(make_environment(self._id, self._keywords), evaluation)

    def _actions(self, unit: Numbers) -> NDArray[Any]:
        """(n, …) in the space's type and shape; rounding must not lead out of the space."""
        space = self._space
        actions = self.box.to_action(unit).astype(space.dtype, copy=False).reshape(-1, *space.shape)
        inside: NDArray[Any] = np.minimum(np.maximum(actions, space.low), space.high)
        return inside

    def _blank(self, count: int) -> tuple[Numbers, Codes]:
        return (
            np.empty((count, self.dense), dtype=np.float32),
            np.empty((count, len(self.categories)), dtype=np.int64),
        )

    def _number(self, reward: Any) -> float:
        """Raises TypeError for what is no number, an array of one included."""
        if (isinstance(reward, np.ndarray) and reward.ndim > 0) or not isinstance(reward, SupportsFloat):
            raise TypeError(f"{self._where} gave the reward {reward!r}; it must be a number")
        return float(reward)

    def _require_finite(self, numbers: NDArray[Any], what: str) -> None:
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers.reshape(len(numbers), -1)).all(axis=1))[0])
            raise DivergenceError(
                f"{self._where} gave {what} that is not finite in float32: {numbers[row].tolist()} in copy {row}"
            )


@dataclass
class _Episode:
    """What an evaluation episode has been so far, an entry a decision."""

    dense: list[Numbers] = field(default_factory=list)
    codes: list[Codes] = field(default_factory=list)
    action: list[Numbers] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    terminated: bool = False
    cut: bool = False

    def discounted(self, discount: float) -> NDArray[np.float64]:
        """(m,) Σ γ^i r from each of the first m decisions on, those for which it is known."""
        found, ahead = np.empty(len(self.rewards)), 0.0
        for place in range(len(self.rewards) - 1, -1, -1):
            ahead = self.rewards[place] + discount * ahead
            found[place] = ahead
        if not self.cut:
            return found
        # After a cut the rewards that would have come are missing. From a decision n steps before it their weights are
        # γ^n and less, a share γ^n of all: below 1 % from n = ln(0.01)/ln(γ) on, so such decisions are kept.
        before = np.arange(len(found), 0, -1)
        return found[discount**before <= NEGLIGIBLE]


def _word(source: np.random.SeedSequence) -> int:
    # 32 bits: some environments hand their seed to generators that take no more
    return int(source.generate_state(1, np.uint32)[0])


def _stacked(parts: list[list[NDArray[Any]]], width: int, dtype: type[Any]) -> NDArray[Any]:
    rows = [row for part in parts for row in part]
    return np.array(rows, dtype=dtype).reshape(len(rows), width)
