"""The loop that any agent is trained by: advance, evaluate, log, checkpoint, stop when asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from numpy.typing import NDArray
from rich.console import Console

from pyresac.errors import CheckpointError, DivergenceError, InputError
from pyresac.options import differences
from pyresac.training.checkpoint import Checkpoint, fitting
from pyresac.training.folder import RunFolder
from pyresac.training.metrics_log import MetricsLog
from pyresac.training.progress_bar import TrainingProgress
from pyresac.training.run_options import FREE_ON_RESUME, RunOptions
from pyresac.training.signals import StopRequest


class Trainee(Protocol):
    """What the loop needs of an agent with its environment."""

    chunk: int
    """Steps after which the loop looks for a stop request."""
    columns: Sequence[str]
    """Names of the numbers in `measure`."""
    shown: Mapping[str, str]
    """Labels in the progress bar, each with the column that it shows."""

    @property
    def title(self) -> str:
        """What is trained, in one line."""

    @property
    def step(self) -> int:
        """Environment steps so far."""

    @property
    def work(self) -> Mapping[str, int]:
        """Other counters whose rates the progress bar shows."""

    def advance(self, steps: int) -> None:
        """Interact and learn for so many steps. The outcome must not depend on how steps are divided among calls."""

    def measure(self) -> dict[str, float]:
        """Evaluate, and begin the training statistics anew. Must draw from no generator that training uses."""

    def state(self) -> dict[str, Any]:
        """Everything but arrays that `restore` needs, as JSON."""

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays that `restore` needs."""

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take on a saved state. Raises CheckpointError if it does not fit."""

    def diverged(self) -> str | None:
        """The quantity that is no longer finite, or None."""

    def result(self) -> dict[str, Any]:
        """The results at the end of training, as JSON."""

    def show(self, result: Mapping[str, Any], console: Console) -> None:
        """Print the result."""


def restore_latest(trainee: Trainee, folder: RunFolder, config: dict[str, Any]) -> None:
    """Bring the trainee to the folder's newest checkpoint (nothing to do before the first one).

    Raises CheckpointError if it is damaged, if there was one and it is gone, or if it is of another configuration: then
    it names the fields that differ.
    """
    saved = folder.load_latest()
    if saved is None:
        folder.require_untouched()
        return
    where = folder.latest()
    with fitting(f"checkpoint {where}"):
        require_same_run(saved, config, f"checkpoint {where}")
        trainee.restore(saved.state["trainee"], saved.arrays)


def require_same_run(saved: Checkpoint, config: dict[str, Any], where: str) -> None:
    """Raise CheckpointError unless `saved` is of a training run with this configuration; it names the differences."""
    if not {"config", "trainee"} <= saved.state.keys():
        raise CheckpointError(f"{where} is not one of a training run")
    changed = differences(saved.state["config"], config, free=FREE_ON_RESUME)
    if changed:
        raise CheckpointError(f"{where} belongs to another configuration: {'; '.join(changed)}")


def train(
    trainee: Trainee, options: RunOptions, folder: RunFolder, config: dict[str, Any], console: Console
) -> str | None:
    """Train up to `options.steps`; return the name of the signal that ended it early, or None.

    A checkpoint is on disk for the step it returns at. Raises DivergenceError when a quantity is no longer finite,
    before that state is saved.
    """
    saved_at = -1
    events = folder.tensorboard if options.tensorboard else None
    with (
        StopRequest() as stop,
        MetricsLog(folder.metrics_file, trainee.columns, trainee.step, events) as log,
        TrainingProgress(console, options.steps, trainee.step, trainee.work) as bar,
    ):
        while trainee.step < options.steps and not stop:
            with _last_checkpoint_named(trainee, folder):
                trainee.advance(_next_boundary(trainee.step, trainee.chunk, options) - trainee.step)
                quantity = trainee.diverged()
                if quantity is not None:
                    raise DivergenceError(quantity)
            bar.moved(trainee.step, trainee.work)
            if trainee.step % options.eval_every == 0:
                with _last_checkpoint_named(trainee, folder):
                    row = trainee.measure()
                log.write(trainee.step, row)
                bar.note({label: row[column] for label, column in trainee.shown.items()})
            if trainee.step % options.checkpoint_every == 0:
                saved_at = _save(trainee, folder, config, options, log)
        if saved_at != trainee.step:
            _save(trainee, folder, config, options, log)
    return stop.name


def _next_boundary(step: int, chunk: int, options: RunOptions) -> int:
    due = [period * (step // period + 1) for period in (options.eval_every, options.checkpoint_every)]
    return min(*due, step + chunk, options.steps)


def _save(trainee: Trainee, folder: RunFolder, config: dict[str, Any], options: RunOptions, log: MetricsLog) -> int:
    log.sync()
    state = {"config": config, "trainee": trainee.state()}
    folder.save(trainee.step, state, trainee.arrays(), options.keep_checkpoints)
    return trainee.step


@contextmanager
def _last_checkpoint_named(trainee: Trainee, folder: RunFolder) -> Iterator[None]:
    """Add the step and the last good checkpoint to a DivergenceError's message; to any other error, as a note."""
    try:
        yield
    except (Exception, SystemExit) as error:
        last = folder.latest()
        good = "there is no checkpoint yet" if last is None else f"the last good checkpoint is {last}"
        if isinstance(error, DivergenceError):
            raise DivergenceError(f"{error} by step {trainee.step:,}; {good}") from error
        # an error of the environment: its author needs the traceback
        note = f"training stood at step {trainee.step:,}; {good}"
        if isinstance(error, MemoryError):
            raise MemoryError(f"{error}; {note}") from error
        if isinstance(error, InputError | OSError | SystemExit):
            # commands show the first two in one line, without a traceback, and the third ends them without a word; so
            # they are raised as another type
            raise RuntimeError(f"{type(error).__name__} during training: {error}\n{note}") from error
        error.add_note(note)
        raise
