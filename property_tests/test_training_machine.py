"""A run that is begun, stopped, killed, resumed and extended in any order is the run that was never interrupted.

The command itself runs, in this process, on the smallest problems. A kill is an exception that nothing catches, in the
middle of a step, of an evaluation or of a save; what a killed process leaves on the disk is the tests' of
`tests/training`.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pyresac.train import main
from pyresac.training.checkpoint import load_checkpoint
from pyresac.training.folder import RunFiles, RunFolder
from tests.support.tiny_run import TINY, save_tiny_corridor

OPTIONS = {
    "tabular": (
        *("--agent", "tabular", "--env", "FrozenLake-v1", "--eval-every", "30", "--eval-episodes", "2"),
        *("--final-episodes", "2", "--no-tensorboard"),
    ),
    # evaluations and updates are all that take time
    "deep": (*TINY[:-4], "--corridor", "CORRIDOR", "--eval-every", "30", "--no-tensorboard", "--ensemble-size", "2"),
}
END, GRID = 120, 2
"""Steps of the whole run, and what all numbers of steps are multiples of: the environments side by side."""
FOLDER = tempfile.TemporaryDirectory(prefix="training-machine-")
multiples = st.integers(1, END // GRID).map(lambda n: GRID * n)


class Killed(BaseException):
    """Nothing in the program knows it."""


def trained(agent: str, path: Path, *arguments: object) -> int:
    """The exit code of the command, which prints into nothing that is shown."""
    corridor = Path(FOLDER.name) / "corridor.json"
    if not corridor.exists():
        save_tiny_corridor(corridor)
    given = [str(corridor) if word == "CORRIDOR" else word for word in OPTIONS[agent]]
    begun = (path / "config.json").is_file()
    words = ["--resume"] if begun else given
    return main([*words, *map(str, arguments), "--run-dir", str(path)])


@cache
def whole(agent: str) -> RunFiles:
    """The uninterrupted run."""
    path = Path(FOLDER.name) / f"whole-{agent}"
    assert trained(agent, path, "--steps", END) == 0
    return RunFiles(path)


class TrainingMachine(RuleBasedStateMachine):
    """One run of an agent."""

    agent: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.path = Path(tempfile.mkdtemp(dir=FOLDER.name)) / "run"
        self.step, self.done = 0, False

    @rule(steps=multiples, every=multiples, keep=st.integers(1, 3))
    def go_on(self, steps: int, every: int, keep: int) -> None:
        """Begin, or resume, up to a step; a step that is behind is refused."""
        code = self.trained("--steps", steps, "--checkpoint-every", every, "--keep-checkpoints", keep)
        assert code == (0 if steps >= self.step else 2)
        self.step = max(self.step, steps)
        assert self.saved_step() == self.step

    @rule(
        every=multiples,
        place=st.sampled_from(["advance", "measure", "before a save", "after a save"]),
        call=st.integers(1, 4),
    )
    def kill(self, every: int, place: str, call: int) -> None:
        """At the call of this number, if it comes to that; what is there then is the last checkpoint."""
        reached, left = list[int](), [call]

        def killing(of: Any, name: str, after: bool) -> Any:
            real = getattr(of, name)

            def call_of(*arguments: Any, **more: Any) -> Any:
                left[0] -= 1
                if left[0] == 0 and not after:
                    raise Killed
                result = real(*arguments, **more)
                if name == "save":
                    reached.append(arguments[1])
                if left[0] == 0:
                    raise Killed
                return result

            return mock.patch.object(of, name, call_of)

        kind = self.trainee()
        of, name = (RunFolder, "save") if place.endswith("save") else (kind, place)
        noted = mock.patch.object(RunFolder, "save", self.noting(reached)) if of is kind else mock.MagicMock()
        with suppress(Killed), noted, killing(of, name, place == "after a save"):
            assert self.trained("--steps", END, "--checkpoint-every", every) == 0
        self.step = max([self.step, *reached])
        assert self.saved_step() == self.step

    @precondition(lambda self: self.step > 0)
    @rule(seed=st.integers(1, 3))
    def another_seed_is_refused(self, seed: int) -> None:
        before = self.content()
        assert self.trained("--seed", seed) == 2
        assert self.content() == before

    @invariant()
    def what_is_logged_is_the_whole_runs(self) -> None:
        if (self.path / "metrics.csv").exists():
            files = RunFiles(self.path)
            mine, all_rows = (one.metrics_file.read_text().splitlines() for one in (files, whole(self.agent)))
            # a kill can leave rows after the last checkpoint; these too are the whole run's
            assert mine == all_rows[: len(mine)]

    def teardown(self) -> None:
        """Extended to the end, it is the whole run."""
        if self.step == 0 and not self.path.exists():
            return
        assert self.trained("--steps", END) == 0
        mine, other = RunFiles(self.path), whole(self.agent)
        for name in ("metrics_file", "result_file"):
            assert getattr(mine, name).read_bytes() == getattr(other, name).read_bytes()
        saved = [load_checkpoint(files.checkpoints / f"step-{END:012d}.ckpt") for files in (mine, other)]
        assert saved[0].arrays.keys() == saved[1].arrays.keys()
        for name, array in saved[0].arrays.items():
            np.testing.assert_array_equal(array, saved[1].arrays[name])
        assert saved[0].state["trainee"] == saved[1].state["trainee"]

    def trained(self, *arguments: object) -> int:
        return trained(self.agent, self.path, *arguments)

    def trainee(self) -> type[Any]:
        """The class that the loop trains."""
        if self.agent == "tabular":
            from pyresac.training.tabular_agent import TabularTrainee

            return TabularTrainee
        from pyresac.training.deep_trainee import DeepTrainee

        return DeepTrainee

    def noting(self, reached: list[int]) -> Any:
        """`RunFolder.save`, and a note of the step."""
        real = RunFolder.save

        def save(folder: RunFolder, step: int, *rest: Any) -> Path:
            path = real(folder, step, *rest)
            reached.append(step)
            return path

        return save

    def saved_step(self) -> int:
        latest = RunFiles(self.path).latest() if self.path.exists() else None
        return 0 if latest is None else int(latest.stem.partition("-")[2])

    def content(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.path.rglob("*") if path.is_file()}


class TabularMachine(TrainingMachine):
    """On FrozenLake."""

    agent: ClassVar[str] = "tabular"


class DeepMachine(TrainingMachine):
    """On a corridor of four stops."""

    agent: ClassVar[str] = "deep"


QUICK = [Phase.explicit, Phase.generate]
"""Without shrinking, whose many runs take minutes; an example is short anyhow."""
TestTabularRun = TabularMachine.TestCase
TestTabularRun.settings = settings(max_examples=8, stateful_step_count=6, deadline=None, phases=QUICK)
TestDeepRun = DeepMachine.TestCase
TestDeepRun.settings = settings(max_examples=3, stateful_step_count=5, deadline=None, phases=QUICK)
