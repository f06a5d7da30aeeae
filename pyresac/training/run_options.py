"""Options that every training command has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from pyresac.errors import InputError
from pyresac.options import Checked, Count

LARGEST_SEED = 2**32 - 1
"""32 bits: a larger seed would be split into two words, and could share its streams with another seed."""


Steps = Annotated[int, Meta(ge=1, le=10**12 - 1)]
"""A number of steps; the names of checkpoints have twelve digits."""
EpisodeCount = Annotated[int, Meta(ge=1, le=1_000_000)]


@dataclass(frozen=True)
class CommandOptions(Checked):
    """What to train, and where the run lives."""

    agent: str = "deep"
    """deep: an algorithm with neural networks. tabular: RE-SAC on tables, for Discrete spaces."""
    run_dir: str | None = None
    """Folder of the run; by default a new one under runs/, named after algorithm, environment, seed and time."""
    resume: bool = False
    """Go on with the run in `run_dir`, from its last checkpoint, with its saved options."""
    config: str | None = None
    """JSON file of options (a run folder's config.json, say); options on the command line override it."""

    def __post_init__(self) -> None:
        """Raise InputError for a combination that means nothing."""
        super().__post_init__()
        for name in ("run_dir", "config"):
            if getattr(self, name) == "":
                raise InputError(f"--{name.replace('_', '-')} was given an empty path")
        if self.resume and self.run_dir is None:
            raise InputError("--resume was given without --run-dir; name the folder of the run to resume")
        if self.resume and self.config is not None:
            raise InputError("--resume was given with --config; a resumed run has the options saved in its folder")


@dataclass(frozen=True)
class RunOptions(Checked):
    """How long it runs, and what it writes."""

    steps: Steps = 300_000
    """Environment steps in all; a larger number on resume extends the run."""
    seed: Annotated[int, Meta(ge=0, le=LARGEST_SEED)] = 0
    """Seed of everything, from 0 to 2³² − 1: equal seeds and options give bit-identical runs."""
    eval_every: Steps = 10_000
    """Steps from one greedy evaluation to the next; each writes a row of metrics.csv."""
    eval_episodes: EpisodeCount = 30
    """Episodes of each evaluation."""
    final_episodes: Annotated[int, Meta(ge=2, le=1_000_000)] = 1_000
    """Episodes of the evaluation at the end."""
    checkpoint_every: Steps = 50_000
    """Steps from one checkpoint to the next; one more is written at the end and at Ctrl-C."""
    keep_checkpoints: Count = 2
    """How many of the newest checkpoints stay."""
    tensorboard: bool = True
    """Write TensorBoard event files beside metrics.csv."""


FREE_ON_RESUME = frozenset(
    {
        *("run.steps", "run.checkpoint_every", "run.keep_checkpoints", "run.final_episodes", "run.tensorboard"),
        "problem.threads",
    }
)
"""Options that a resumed run may change: none of them changes what has been learned at a given step."""
