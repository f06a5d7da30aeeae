"""Options that every training command has."""

from __future__ import annotations

from dataclasses import dataclass

from pyresac.errors import InputError


@dataclass(frozen=True)
class CommandOptions:
    """What to train, and where the run lives."""

    agent: str = "resac"
    """Name of the agent; the options below the first two groups are its own."""
    run_dir: str | None = None
    """Folder of the run; by default a new one under runs/, named after agent, environment, seed and time."""
    resume: bool = False
    """Go on with the run in `run_dir`, from its last checkpoint, with its saved options."""
    config: str | None = None
    """JSON file of options (a run folder's config.json, say); options on the command line override it."""

    def __post_init__(self) -> None:
        """Raise InputError for a combination that means nothing."""
        if self.resume and self.run_dir is None:
            raise InputError("--resume was given without --run-dir; name the folder of the run to resume")
        if self.resume and self.config is not None:
            raise InputError("--resume was given with --config; a resumed run has the options saved in its folder")


LARGEST_SEED = 2**32 - 1
"""A word: a larger seed would be two of them, and share its streams with another."""


@dataclass(frozen=True)
class RunOptions:
    """How long it runs, and what it writes."""

    steps: int = 300_000
    """Environment steps in all, at least 1; a larger number on resume extends the run."""
    seed: int = 0
    """Seed of everything, from 0 to 2³² − 1: equal seeds and options give bit-identical runs."""
    eval_every: int = 10_000
    """Steps between greedy evaluations, each a row of metrics.csv; at least 1."""
    eval_episodes: int = 30
    """Episodes of such an evaluation, at least 1."""
    final_episodes: int = 1_000
    """Episodes measured at the end, at least 2."""
    checkpoint_every: int = 50_000
    """Steps between checkpoints, at least 1; one more is written at the end and at Ctrl-C."""
    keep_checkpoints: int = 2
    """How many of the newest checkpoints stay, at least 1."""
    tensorboard: bool = True
    """Write TensorBoard event files beside metrics.csv."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        least = {"seed": 0, "final_episodes": 2}
        names = (
            "steps",
            "seed",
            "eval_every",
            "eval_episodes",
            "final_episodes",
            "checkpoint_every",
            "keep_checkpoints",
        )
        for name in names:
            value, low = getattr(self, name), least.get(name, 1)
            if value < low:
                raise InputError(f"{name} = {value}; it must be at least {low}")
        if self.seed > LARGEST_SEED:
            raise InputError(f"seed = {self.seed}; it must be at most {LARGEST_SEED}")


FREE_ON_RESUME = frozenset(
    {
        *("run.steps", "run.checkpoint_every", "run.keep_checkpoints", "run.final_episodes", "run.tensorboard"),
        "problem.threads",
    }
)
"""Options that a resumed run may change: none of them enters what is learned up to a given step."""
