"""A deep algorithm on the bus corridor or on any Gymnasium environment with a Box action: `python -m pyresac.train`.

PyTorch takes seconds to import: nothing here does before `build`, so that help and messages about options come at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from msgspec import Meta

from pyresac.deep.algorithms import ALGORITHMS, algorithm_type
from pyresac.deep.algorithms.deep_options import DeepOptions
from pyresac.envs.bus.named import corridor_named
from pyresac.envs.bus.named_controllers import controller_named
from pyresac.envs.bus.objectives import objective_named
from pyresac.errors import InputError
from pyresac.options import Checked, differences, kinds_of, read_options, to_plain
from pyresac.tasks.environments import keywords_in
from pyresac.tasks.variation import UNCHANGED, Variation
from pyresac.training import presets
from pyresac.training.agents import FirstLook
from pyresac.training.run_options import CommandOptions, RunOptions

if TYPE_CHECKING:
    from pyresac.tasks.task import Task
    from pyresac.training.deep_trainee import DeepTrainee

CORRIDOR = "corridor"
MOST_THREADS, MOST_COPIES = 1024, 4096
GYMNASIUM_CORRIDORS = ("pyresac/BusCorridor-v0", "BusCorridor-v0")


@dataclass(frozen=True)
class ProblemOptions(Checked):
    """The problem, and the machine it is solved on."""

    env: str = CORRIDOR
    """corridor, or a Gymnasium id of an environment with a Box action: Hopper-v5, Pendulum-v1, …"""
    env_options: str = "{}"
    """JSON object of keyword arguments for a Gymnasium environment."""
    corridor: str = "default"
    """Which corridor: default, a JSON file, or published-slow:FOLDER / published-fast:FOLDER."""
    published: bool = False
    """Keep the published corridor program's accidents, as a comparison with its figures needs."""
    observation: Literal["paper", "full"] = "paper"
    """What is seen of the corridor: the paper's state, or lateness, load and waiting passengers beside it."""
    rule: str | None = None
    """A controller of the corridor, such as schedule or linear: an action is then added to its holding."""
    objective: str = "reward"
    """What a day of the corridor is worth, and a transition earns: reward (the paper's), reward:neighbours=1,
    passengers:followers=1,denied=5, …"""
    num_envs: Annotated[int, Meta(ge=1, le=MOST_COPIES)] = 8
    """Environments in lockstep; steps count those of all of them."""
    device: str = "cpu"
    """PyTorch's name of a device: cpu, cuda, cuda:1, …"""
    threads: Annotated[int, Meta(ge=1, le=MOST_THREADS)] = 1
    """Threads that the critics are shared out to, from 1 to 1024; they change no bit of the outcome."""
    variation: tyro.conf.OmitArgPrefixes[Variation] = field(default_factory=Variation)

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        super().__post_init__()
        self.keywords()
        if self.env != CORRIDOR and (self.corridor != "default" or self.published):
            raise InputError(f"corridor and published go with env = {CORRIDOR!r}; env is {self.env!r}")
        if self.env != CORRIDOR and (self.observation != "paper" or self.rule is not None):
            raise InputError(f"observation and rule go with env = {CORRIDOR!r}; env is {self.env!r}")
        if self.env != CORRIDOR and self.objective != "reward":
            raise InputError(f"objective goes with env = {CORRIDOR!r}; env is {self.env!r}")
        objective_named(self.objective)
        if self.rule is not None:
            controller_named(self.rule)
        if self.env in GYMNASIUM_CORRIDORS:
            raise InputError(f"env = {self.env!r}; the corridor is trained on as --env {CORRIDOR}, with whole trips")
        if self.env == CORRIDOR and self.keywords():
            raise InputError(f"env_options go with a Gymnasium id; env is {CORRIDOR!r}")
        if self.env == CORRIDOR and self.variation != UNCHANGED:
            changed = differences(to_plain(UNCHANGED), to_plain(self.variation))
            given = ", ".join(change.partition(":")[0] for change in changed)
            raise InputError(f"{given} is given, but physics and noise go with a Gymnasium id; env is {CORRIDOR!r}")

    def keywords(self) -> dict[str, Any]:
        """`env_options` as a dictionary."""
        return keywords_in(self.env_options)


@dataclass(frozen=True)
class DeepConfig:
    """Train a deep algorithm on the bus corridor or another continuous task."""

    command: tyro.conf.OmitArgPrefixes[CommandOptions] = field(default_factory=CommandOptions)
    algorithm: str = presets.DEFAULT_ALGORITHM
    """The algorithm; `docs/algorithms/` has a page for each."""
    preset: str = presets.DEFAULT
    """Settings to start from."""
    run: tyro.conf.OmitArgPrefixes[RunOptions] = field(default_factory=RunOptions)
    problem: tyro.conf.OmitArgPrefixes[ProblemOptions] = field(default_factory=ProblemOptions)
    options: tyro.conf.OmitArgPrefixes[DeepOptions] = field(default_factory=DeepOptions)

    @property
    def label(self) -> str:
        """Part of the name of a new run folder."""
        name = self.algorithm if self.preset == presets.DEFAULT else f"{self.algorithm}-{self.preset}"
        return f"{name}-{self.problem.env.replace('/', '-').replace(':', '-')}-seed{self.run.seed}"


def config_type(options_type: type[DeepOptions]) -> type[DeepConfig]:
    """`DeepConfig` with the options of one algorithm, as parsers need it; the same class for the same options."""
    if options_type not in _CONFIG_TYPES:
        kind = tyro.conf.OmitArgPrefixes[options_type]  # type: ignore[valid-type]
        options = ("options", kind, field(default_factory=options_type))
        _CONFIG_TYPES[options_type] = make_dataclass("DeepConfig", [options], bases=(DeepConfig,), frozen=True)
    return _CONFIG_TYPES[options_type]


_CONFIG_TYPES: dict[type[DeepOptions], type[DeepConfig]] = {}


def read_config(values: Mapping[str, Any], where: str) -> DeepConfig:
    """A configuration from JSON, whose algorithm says which options it has. Raises InputError naming `where`."""
    name = values.get("algorithm", presets.DEFAULT_ALGORITHM)
    return read_options(config_type(algorithm_type(name).options_type), dict(values), where)


def base_config(values: Mapping[str, Any], first: FirstLook, where: str) -> DeepConfig:
    """What the command line starts from: a file's values over those of the preset that it or the command line names.

    Raises InputError if the two name different presets or algorithms, or for what is unknown.
    """
    chosen = {}
    for name, given in (("preset", first.preset), ("algorithm", first.algorithm)):
        of_file = values.get(name)
        if not isinstance(of_file, str | None):
            raise InputError(f"{where}: {name} = {of_file!r}; it must be a name")
        if None not in (given, of_file) and given != of_file:
            raise InputError(f"--{name} {given} was given with {where}, which has the {name} {of_file!r}; give one")
        chosen[name] = given if of_file is None else of_file
    problem = values.get("problem")
    env = first.env if first.env is not None else problem.get("env") if isinstance(problem, dict) else None
    if not isinstance(env, str | None):
        raise InputError(f"{where}: problem.env = {env!r}; it must be a name")
    base = to_plain(preset_config(chosen["preset"], chosen["algorithm"], env))
    return read_config(_merged(base, values), where)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` on `base`, table by table."""
    both = {
        name: _merged(base[name], over[name])
        for name in base.keys() & over.keys()
        if isinstance(base[name], dict) and isinstance(over[name], dict)
    }
    return {**base, **over, **both}


def reads(config: DeepConfig) -> tuple[str, list[str]]:
    """Who reads options of its own, and their names."""
    return config.algorithm, sorted(kinds_of(type(config.options)))


def require_read(config: DeepConfig, arguments: list[str]) -> None:
    """Raise InputError for an option of other algorithms that this one does not read, naming those that it reads."""
    _, own = reads(config)
    others = {name for other in ALGORITHMS for name in kinds_of(algorithm_type(other).options_type)}
    for flag, name in _typed(arguments):
        if name in others - set(own):
            raise InputError(f"{flag}: {config.algorithm} reads no {name}; it reads {', '.join(own)}")


def _typed(arguments: list[str]) -> Iterator[tuple[str, str]]:
    """The flags of a command line, each with the name of its option."""
    for argument in arguments:
        if argument.startswith("--"):
            flag = argument.partition("=")[0]
            yield flag, flag.removeprefix("--").removeprefix("no-").replace("-", "_").partition(".")[0]


def require_use(config: DeepConfig, arguments: list[str]) -> None:
    """Raise InputError for an option that is typed or set in a file and would change nothing, or a buffer below its
    batch."""
    options = config.options
    typed = {name: flag for flag, name in _typed(arguments)}
    usual = preset_config(config.preset, config.algorithm, config.problem.env).options
    for name, (other, needed) in options.idle().items():
        value = getattr(options, name)
        if name in typed or value != getattr(usual, name):
            given = typed.get(name, f"{name} = {value!r}")
            raise InputError(f"{given}: it goes with {needed}; {other} is {getattr(options, other)!r}")
    if options.buffer_size < options.batch_size:
        raise InputError(
            f"buffer_size = {options.buffer_size}; it must be at least batch_size = {options.batch_size}, or every "
            f"batch holds transitions more than once"
        )


def unlearned(config: DeepConfig) -> str | None:
    """What a run of these steps does not learn, in a sentence; None if critics and actor learn.

    It is no bad input: a run may be made in parts, by more `steps` on resume.
    """
    options, run = config.options, config.run
    first = options.learning_starts + options.update_every
    if run.steps < first:
        return (
            f"{run.steps:,} steps end before the first update, at step {first:,} (learning_starts = "
            f"{options.learning_starts:,}, update_every = {options.update_every:,}): nothing is learned"
        )
    updates = (run.steps - options.learning_starts) // options.update_every * options.updates
    if updates < options.actor_every:
        every = f"actor_every = {options.actor_every:,}"
        return f"{run.steps:,} steps make {updates:,} updates, and {every}: no actor is learned"
    return None


def description(config: DeepConfig) -> str:
    """For the help text."""
    return (
        f"Train {algorithm_type(config.algorithm).title} on the bus corridor or another continuous task. "
        f"Algorithms: {', '.join(ALGORITHMS)}. Presets: {', '.join(presets.PRESETS)}."
    )


def preset_config(preset: str | None, algorithm: str | None, env: str | None) -> DeepConfig:
    """A preset's full configuration for an environment (the corridor by default). InputError if it is unknown."""
    chosen = presets.DEFAULT if preset is None else preset
    corridor = env is None or env == CORRIDOR
    problem = ProblemOptions(**presets.problem_for(chosen)) if corridor else ProblemOptions(env=str(env), num_envs=1)
    options = presets.options_for(chosen, algorithm, corridor)
    return config_type(type(options))(
        algorithm=presets.preset_named(chosen, algorithm)[1],
        preset=chosen,
        run=presets.run_options(chosen, algorithm, corridor),
        problem=problem,
        options=options,
    )


def threads() -> AbstractContextManager[None]:
    """One thread for the libraries; those of `problem.threads` are the networks' own."""
    from pyresac.deep.networks.compiled_passes import single_threaded_libraries

    return single_threaded_libraries()


def build(config: DeepConfig) -> DeepTrainee:
    """The trainee of a configuration, at step 0. Raises InputError before any work if it is not usable."""
    problem, run = config.problem, config.run
    for name in ("steps", "eval_every", "checkpoint_every"):
        if getattr(run, name) % problem.num_envs:
            raise InputError(f"{name} = {getattr(run, name)}; it must be a multiple of num_envs = {problem.num_envs}")
    task = make_task(problem, run.seed)
    from pyresac.training.deep_trainee import DeepTrainee, device_named  # PyTorch, after all that needs none

    device = device_named(problem.device)
    # by its name: two algorithms may read options of one type
    algorithm = algorithm_type(config.algorithm)(config.options)
    return DeepTrainee(task, algorithm, run, device, problem.threads)


def make_task(problem: ProblemOptions, seed: int) -> Task:
    """The problem's environments. Raises InputError if there are none such."""
    if problem.env == CORRIDOR:
        from pyresac.tasks.corridor_task import CorridorTask

        rule = None if problem.rule is None else controller_named(problem.rule)
        corridor = corridor_named(problem.corridor)
        return CorridorTask(
            corridor, problem.num_envs, seed, problem.published, problem.observation, rule, problem.objective
        )
    from pyresac.tasks.gymnasium_task import BoxTask

    return BoxTask(problem.env, problem.keywords(), problem.num_envs, seed, problem.variation)
