"""A deep learner in its task: what the training loop drives, saves and resumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console

from pyresac.deep.algorithms.algorithm import Algorithm
from pyresac.deep.algorithms.deep_options import DeepOptions
from pyresac.deep.learner import Learner
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.replay import ReplayBuffer, RowWidths, buffer_bytes
from pyresac.errors import DivergenceError, InputError
from pyresac.tasks.experience import Numbers
from pyresac.tasks.snapshots import generator_state, restore_generator
from pyresac.tasks.task import Codes, Played, Task
from pyresac.training.deep_report import FINAL_SEED, Comparison, print_result, result_of
from pyresac.training.run_options import RunOptions

COMPARED = 8192
"""Evaluated decisions, at most, whose values are compared with their returns."""


class DeepTrainee:
    """The loop's `Trainee`: `copies` environments in lockstep, updates off policy."""

    shown: Mapping[str, str] = {"return": "eval_return", "Q": "q_eval", "σ": "sigma_mean", "α": "alpha"}

    def __init__(
        self, task: Task, algorithm: Algorithm[Any], run: RunOptions, device: torch.device, threads: int = 1
    ) -> None:
        """Raises InputError for a buffer that memory does not hold."""
        options: DeepOptions = algorithm.options
        self.task, self.algorithm, self.options, self._run = task, algorithm, options, run
        self.chunk = max(1, 50 // task.copies) * task.copies
        widths = RowWidths(len(task.box.half), task.dense, len(task.categories))
        self.buffer = ReplayBuffer(options.buffer_size, widths)
        learner_seed, replay_seed = np.random.SeedSequence([run.seed, 2]).generate_state(2)
        self.learner = Learner(
            algorithm,
            actions=widths.action,
            dense=task.dense,
            categories=task.categories,
            log_volume=task.box.log_volume,
            seed=int(learner_seed),
            device=device,
            threads=threads,
        )
        self._replay = np.random.Generator(np.random.PCG64(int(replay_seed)))
        self.step = 0
        self._episodes = 0
        self.columns = (
            *("episodes", "train_return", "eval_return"),
            *task.reported,
            *("q_eval", "sigma_eval", "earned_eval"),
            *self.learner.statistics.names,
            *self._own_statistics(),
            *("alpha", "updates"),
        )

    @property
    def title(self) -> str:
        """What is trained, and what its buffer takes."""
        options, widths = self.options, self.buffer.widths
        layers = "×".join(str(width) for width in options.hidden)
        memory = buffer_bytes(options.buffer_size, widths) / 2**20
        return (
            f"{self.algorithm.title}, {options.ensemble_size} critics {layers}, on {self.task.title}; "
            f"replay of {options.buffer_size:,} transitions, {memory:,.0f} MiB"
        )

    @property
    def work(self) -> Mapping[str, int]:
        """Other counters than the steps, for the progress bar."""
        return {"updates": self.learner.updates}

    def advance(self, steps: int) -> None:
        """Interact and learn; `steps` counts the steps of all copies, so it is a multiple of their number."""
        for _ in range(steps // self.task.copies):
            if self.learner.not_finite is not None:
                return
            actions = self._actions()
            if not np.isfinite(actions).all():
                self.learner.not_finite = f"actions of the policy are not finite at update {self.learner.updates:,}"
                return
            found = self.task.step(actions)
            self.learner.observe(found.dense)
            self.buffer.add(self.algorithm.kept(found))
            self.step += self.task.copies
            self.algorithm.moved(self.step)
            for _ in range(self._due() - self.learner.updates):
                batch = self.buffer.sample(self.options.batch_size, self._replay, self.learner.device)
                self.learner.update(batch)

    def _actions(self) -> Numbers:
        if self.step < self.options.random_steps:
            return self.learner.random_actions(self.task.copies)
        return self.learner.explore(self.features(*self.task.observe()))

    def _own_statistics(self) -> dict[str, float]:
        return self.algorithm.statistics(self.learner.critic, self.learner.target)

    def _due(self) -> int:
        """Updates that are due after the steps so far."""
        begun = max(0, self.step - self.options.learning_starts)
        return begun // self.options.update_every * self.options.updates if self.buffer.size else 0

    def features(self, dense: Numbers, codes: Codes) -> Inputs:
        """Features as tensors on the learner's device."""
        device = self.learner.device
        numbers = torch.from_numpy(np.ascontiguousarray(dense)).to(device)
        return Inputs(numbers, torch.from_numpy(codes).to(device) if codes.shape[1] else None)

    def play(self, episodes: int, seed: int, actor: Network | None = None, task: Task | None = None) -> Played:
        """Episodes of the deterministic averaged policy or of another actor, in this task or in one with its spaces.

        Raises DivergenceError if the policy or the environment gives a number that is not finite.
        """

        def policy(dense: Numbers, codes: Codes) -> Numbers:
            actions = self.learner.exploit(self.features(dense, codes), actor)
            if not np.isfinite(actions).all():
                which = "averaged policy" if actor is None else "policy"
                raise DivergenceError(f"actions of the {which} are not finite at update {self.learner.updates:,}")
            return actions

        return (self.task if task is None else task).play(policy, episodes, seed, self.options.discount)

    def measure(self) -> dict[str, float]:
        """Play the averaged policy on the evaluation episodes, and begin the training statistics anew."""
        played = self.play(self._run.eval_episodes, 0)
        self.learner.evaluated(float(played.returns.mean()), self.step)
        finished = self.task.finished()
        self._episodes += len(finished)
        compared = self.compare(played)
        row = {
            "episodes": float(self._episodes),
            "train_return": float(np.mean(finished)) if finished else float("nan"),
            "eval_return": float(played.returns.mean()),
            **{name: float(played.metrics[name].mean()) for name in self.task.reported},
            "q_eval": compared.value,
            "sigma_eval": compared.deviation,
            "earned_eval": compared.earned,
            **self.learner.statistics.means(),
            **self._own_statistics(),
            "alpha": self.learner.alpha,
            "updates": float(self.learner.updates),
        }
        scale = self.options.reward_scale
        for name in row.keys() & {"q_mean", "target_mean", "sigma_mean", "state_value_mean"}:
            row[name] /= scale
        self.learner.statistics.begin()
        return row

    def compare(self, played: Played) -> Comparison:
        """Q̄ and σ_ens at evaluated decisions beside their discounted returns."""
        value, deviation, earned = self.predictions(played)
        if not len(value):
            return Comparison(float("nan"), float("nan"), float("nan"))
        return Comparison(float(value.mean()), float(deviation.mean()), float(earned.mean()))

    def predictions(self, played: Played) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Q̄, σ_ens and the discounted return of evenly chosen decisions, each (m,), in the task's rewards.

        Empty if no return is known, or if the critics learned rewards standardised batch by batch, which have no unit.
        """
        count = len(played.discounted)
        if not count or not self.algorithm.values_have_a_unit:
            return np.empty(0), np.empty(0), np.empty(0)
        chosen = np.unique(np.linspace(0, count - 1, min(count, COMPARED)).astype(np.int64))
        state = self.features(played.dense[chosen], played.codes[chosen])
        heads = self.learner.values(state, torch.from_numpy(played.action[chosen]).to(self.learner.device))
        found = heads.double().cpu().numpy() / self.options.reward_scale
        spread = found.std(axis=0, ddof=1) if len(found) > 1 else np.zeros(len(chosen))
        return found.mean(axis=0), spread, played.discounted[chosen]

    def diverged(self) -> str | None:
        """The first quantity that was not finite, and since which update."""
        if self.learner.not_finite is not None:
            return self.learner.not_finite
        for name, tensor in self.learner.networks().items():
            if not bool(torch.isfinite(tensor).all()):
                return f"the {name} is not finite at update {self.learner.updates:,}"
        return None

    def state(self) -> dict[str, Any]:
        """Counters, generators, statistics and the environments."""
        return {
            "step": self.step,
            "episodes": self._episodes,
            "replay": generator_state(self._replay),
            "learner": self.learner.state(),
            "task": self.task.state(),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Networks, optimisers, buffer, environments."""
        parts = {"learner": self.learner.arrays(), "replay": self.buffer.arrays(), "task": self.task.arrays()}
        return {f"{part}/{name}": array for part, arrays in parts.items() for name, array in arrays.items()}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take on a saved state. Raises CheckpointError if a part of it does not fit."""
        parts: dict[str, dict[str, NDArray[Any]]] = {"learner": {}, "replay": {}, "task": {}}
        for name, array in arrays.items():
            part, _, own = name.partition("/")
            parts.setdefault(part, {})[own] = array
        # the task first: another corridor shows in the networks' shapes too, but there it is not named
        self.task.load(state["task"], parts["task"])
        self.learner.load(state["learner"], parts["learner"])
        self.buffer.load_arrays(parts["replay"])
        restore_generator(self._replay, state["replay"])
        self.step, self._episodes = state["step"], state["episodes"]

    def result(self) -> dict[str, Any]:
        """What was learned beside the classical rules, as JSON."""
        played = self.play(self._run.final_episodes, FINAL_SEED)
        return result_of(self.task, played, self.compare(played), self.step, self.learner.updates)

    def show(self, result: Mapping[str, Any], console: Console) -> None:
        """Print it."""
        print_result(console, self.task, result, self.algorithm.values_have_a_unit)


def device_named(name: str) -> torch.device:
    """A device of PyTorch. Raises InputError if it cannot be used."""
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
        torch.Generator(device=device)
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"device = {name!r} cannot be used: {reason}") from error
    return device
