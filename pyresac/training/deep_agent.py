"""Deep RE-SAC on the bus corridor or on any Gymnasium environment with a Box action: `python -m pyresac.train`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
import tyro
from rich.console import Console

from pyresac.deep.algorithms.resac_options import AlgorithmOptions
from pyresac.deep.networks.compiled_passes import use_threads
from pyresac.envs.bus.named import corridor_named
from pyresac.errors import InputError
from pyresac.tasks.corridor_task import CorridorTask
from pyresac.tasks.environments import keywords_in
from pyresac.tasks.task import Task
from pyresac.training import presets
from pyresac.training.deep_report import report
from pyresac.training.deep_trainee import DeepTrainee
from pyresac.training.run_options import CommandOptions, RunOptions

CORRIDOR = "corridor"
MOST_THREADS = 1024
GYMNASIUM_CORRIDORS = ("pyresac/BusCorridor-v0", "BusCorridor-v0")


@dataclass(frozen=True)
class ProblemOptions:
    """The problem, and the machine it is solved on."""

    env: str = CORRIDOR
    """corridor, or a Gymnasium id of an environment with a Box action: Hopper-v5, Pendulum-v1, …"""
    env_options: str = "{}"
    """JSON object of keyword arguments for a Gymnasium environment."""
    corridor: str = "default"
    """Which corridor: default, a JSON file, or published-slow:FOLDER / published-fast:FOLDER."""
    published: bool = False
    """Keep the published corridor program's accidents, as a comparison with its figures needs."""
    num_envs: int = 8
    """Environments in lockstep, at least 1; steps count those of all of them."""
    device: str = "cpu"
    """PyTorch's name of a device: cpu, cuda, cuda:1, …"""
    threads: int = 1
    """Threads that the critics are shared out to, from 1 to 1024; they change no bit of the outcome."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        for name in ("num_envs", "threads"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} = {getattr(self, name)}; it must be at least 1")
        if self.threads > MOST_THREADS:
            raise InputError(f"threads = {self.threads}; it must be at most {MOST_THREADS}")
        self.keywords()
        if self.env != CORRIDOR and (self.corridor != "default" or self.published):
            raise InputError(f"corridor and published go with env = {CORRIDOR!r}; env is {self.env!r}")
        if self.env in GYMNASIUM_CORRIDORS:
            raise InputError(f"env = {self.env!r}; the corridor is trained on as --env {CORRIDOR}, with whole trips")
        if self.env == CORRIDOR and self.keywords():
            raise InputError(f"env_options go with a Gymnasium id; env is {CORRIDOR!r}")

    def keywords(self) -> dict[str, Any]:
        """`env_options` as a dictionary."""
        return keywords_in(self.env_options)


@dataclass(frozen=True)
class Config:
    """Train RE-SAC, the robust ensemble soft actor-critic, on the bus corridor or another continuous task."""

    command: tyro.conf.OmitArgPrefixes[CommandOptions] = field(default_factory=CommandOptions)
    preset: str = "resac"
    """Settings to start from: resac, quick, resac-paper, resac-b0, epistemic-only, aleatoric-only, published-code."""
    run: tyro.conf.OmitArgPrefixes[RunOptions] = field(default_factory=lambda: presets.run_options("resac", True))
    problem: tyro.conf.OmitArgPrefixes[ProblemOptions] = field(default_factory=ProblemOptions)
    algorithm: tyro.conf.OmitArgPrefixes[AlgorithmOptions] = field(default_factory=lambda: presets.CORRIDOR)

    @property
    def label(self) -> str:
        """Part of the name of a new run folder."""
        return f"{self.preset}-{self.problem.env.replace('/', '-').replace(':', '-')}-seed{self.run.seed}"


class Trainee(DeepTrainee):
    """A `DeepTrainee` that ends with this agent's report."""

    def __init__(self, config: Config, task: Task, device: torch.device) -> None:
        super().__init__(task, config.algorithm, config.run, device)
        self.config = config

    def report(self, console: Console) -> dict[str, Any]:
        """Print what was learned beside the classical rules; return the same as a dictionary."""
        return report(self, self.config.run.final_episodes, console)


def preset_config(preset: str, env: str | None) -> Config:
    """A preset's full configuration for an environment (the corridor by default). InputError if it is unknown."""
    problem = ProblemOptions() if env in (None, CORRIDOR) else ProblemOptions(env=str(env), num_envs=1)
    corridor = problem.env == CORRIDOR
    return Config(
        preset=preset,
        run=presets.run_options(preset, corridor),
        problem=problem,
        algorithm=presets.algorithm(preset, corridor),
    )


def build(config: Config) -> Trainee:
    """The trainee of a configuration, at step 0. Raises InputError before any work if it is not usable."""
    problem, run = config.problem, config.run
    for name in ("steps", "eval_every", "checkpoint_every"):
        if getattr(run, name) % problem.num_envs:
            raise InputError(f"{name} = {getattr(run, name)}; it must be a multiple of num_envs = {problem.num_envs}")
    device = _device(problem.device)
    use_threads(problem.threads)
    return Trainee(config, make_task(problem, run.seed), device)


def make_task(problem: ProblemOptions, seed: int) -> Task:
    """The problem's environments. Raises InputError if there are none such."""
    if problem.env == CORRIDOR:
        return CorridorTask(corridor_named(problem.corridor), problem.num_envs, seed, problem.published)
    from pyresac.tasks.gymnasium_task import BoxTask

    return BoxTask(problem.env, problem.keywords(), problem.num_envs, seed)


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
        torch.Generator(device=device)
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"device = {name!r} cannot be used: {reason}") from error
    return device
