"""The training loop with a trainee that only keeps a diary, and what a run folder is given in which order."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from rich.console import Console

from pyresac.errors import CheckpointError
from pyresac.training.checkpoint import fitting, load_checkpoint, save_checkpoint
from pyresac.training.folder import RunFiles, RunFolder, new_run_path
from pyresac.training.loop import require_same_run, restore_latest, train
from pyresac.training.metrics_log import MetricsLog
from pyresac.training.progress_bar import TrainingProgress
from pyresac.training.run_options import RunOptions

CONFIG: Mapping[str, Any] = {"agent": "none", "name": "λ", "run": {"seed": 3}}


class Diary:
    """A `Trainee` that learns nothing."""

    chunk = 7
    columns = ("a", "b")
    shown: ClassVar[Mapping[str, str]] = {"A": "a"}
    title = "nothing"
    work: ClassVar[Mapping[str, int]] = {}

    def __init__(self) -> None:
        self.step, self.notes = 0, list[str]()

    def advance(self, steps: int) -> None:
        """One word."""
        self.notes.append(f"+{steps}")
        self.step += steps

    def measure(self) -> dict[str, float]:
        """Two numbers."""
        self.notes.append(f"measured {self.step}")
        return {"a": self.step / 4, "b": -1.0}

    def state(self) -> dict[str, Any]:
        """The step."""
        return {"step": self.step}

    def arrays(self) -> dict[str, Any]:
        """One array."""
        return {"numbers": np.full(2, float(self.step))}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Take it on."""
        assert arrays["numbers"].tolist() == [state["step"]] * 2
        self.step = state["step"]

    def diverged(self) -> str | None:
        """Never."""
        return None

    def result(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def show(self, result: Mapping[str, Any], console: Console) -> None:
        """Nothing."""


def trained(trainee: Diary, folder: RunFolder, **options: Any) -> None:
    given = {"eval_every": 10, "checkpoint_every": 15, "keep_checkpoints": 9, "tensorboard": False, **options}
    train(trainee, RunOptions(**given), folder, dict(CONFIG), Console(file=io.StringIO()))


def test_a_run_stops_at_every_boundary_and_between_them_to_look_for_a_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint's rows are on the disk before it, and the bar is told of each row and each portion."""
    trainee = Diary()
    folder, sync, save = RunFolder.create(tmp_path / "run", CONFIG), MetricsLog.sync, RunFolder.save
    moved, note = TrainingProgress.moved, TrainingProgress.note

    def noted(name: str, plain: Any) -> Any:
        def call(self: Any, *given: Any) -> Any:
            trainee.notes.append(f"{name} {given[0]}" if given else name)
            return plain(self, *given)

        return call

    for kind, name, plain in (
        (MetricsLog, "sync", sync),
        (RunFolder, "save", save),
        (TrainingProgress, "moved", moved),
        (TrainingProgress, "note", note),
    ):
        monkeypatch.setattr(kind, name, noted(name, plain))
    trained(trainee, folder, steps=32)
    notes, trainee.notes = trainee.notes, []
    assert notes == [
        *("+7", "moved 7", "+3", "moved 10", "measured 10", "note {'A': 2.5}"),
        *("+5", "moved 15", "sync", "save 15"),
        *("+5", "moved 20", "measured 20", "note {'A': 5.0}"),
        *("+7", "moved 27", "+3", "moved 30", "measured 30", "note {'A': 7.5}", "sync", "save 30"),
        *("+2", "moved 32", "sync", "save 32"),
    ]
    assert folder.metrics_file.read_text() == "step,a,b\n10,2.5,-1.0\n20,5.0,-1.0\n30,7.5,-1.0\n"
    assert not folder.tensorboard.exists()
    again = Diary()
    restore_latest(again, folder, dict(CONFIG))
    trained(again, folder, steps=32)
    assert (again.step, again.notes, trainee.notes) == (32, [], ["sync", "save 32"])


def test_the_shortest_run_has_a_checkpoint(tmp_path: Path) -> None:
    """Of one step, and of none that is left."""
    folder = RunFolder.create(tmp_path / "run", CONFIG)
    trained(Diary(), folder, steps=1)
    latest = folder.latest()
    assert latest is not None
    assert load_checkpoint(latest).state.keys() == {"step", "versions", "config", "trainee"}
    assert latest.name == "step-000000000001.ckpt"


@pytest.mark.parametrize("lacking", ["config", "trainee"])
def test_a_checkpoint_of_something_else_is_named(lacking: str, tmp_path: Path) -> None:
    path = tmp_path / "a.ckpt"
    save_checkpoint(path, {name: {} for name in ("config", "trainee") if name != lacking}, {})
    with pytest.raises(CheckpointError, match=r"^this file is not one of a training run$"):
        require_same_run(load_checkpoint(path), {}, "this file")
    save_checkpoint(path, {"config": {}, "trainee": {}}, {})
    require_same_run(load_checkpoint(path), {}, "this file")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("rows"), "this file lacks 'rows'"),
        (TypeError("no list"), "this file does not fit this version: TypeError: no list"),
        (OverflowError("too large"), "this file does not fit this version: OverflowError: too large"),
        (CheckpointError("as it is"), "as it is"),
    ],
)
def test_a_state_that_does_not_fit_is_one_sentence(error: Exception, said: str) -> None:
    with pytest.raises(CheckpointError) as caught, fitting("this file"):
        raise error
    assert str(caught.value) == said


# --- the folder


def test_a_configuration_is_text_that_people_read(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", CONFIG)
    text = '{\n  "agent": "none",\n  "name": "λ",\n  "run": {\n    "seed": 3\n  }\n}\n'
    assert folder.config_file.read_text(encoding="utf-8") == text
    folder.write_config({"name": "μ"})
    assert folder.config_file.read_text(encoding="utf-8") == '{\n  "name": "μ"\n}\n'
    path = folder.save(7, {}, {}, keep=1)
    assert json.loads(folder.progress_file.read_text()) == {"step": 7, "checkpoint": path.name}


def damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_newest_checkpoint_is_read_and_the_one_before_it_named(count: int, tmp_path: Path) -> None:
    """Where there is no other one, none is."""
    folder = RunFolder.create(tmp_path / "run", CONFIG)
    for step in range(1, count + 1):
        folder.save(step, {"trainee": step}, {}, keep=9)
    files = RunFiles(tmp_path / "run")
    latest, loaded = files.latest(), files.load_latest()
    assert latest is not None
    assert loaded is not None
    assert latest.name == f"step-{count:012d}.ckpt"
    assert loaded.state["trainee"] == count
    damaged(latest)
    with pytest.raises(CheckpointError) as caught:
        files.load_latest()
    advice = str(caught.value).partition("; remove it to resume from ")[2]
    assert advice == (f"step-{count - 1:012d}.ckpt" if count > 1 else "")
    assert str(latest) in str(caught.value)


def test_new_runs_of_one_second_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "strftime", lambda form: f"now:{form}")
    names = []
    for _ in range(3):
        path = new_run_path("label", tmp_path)
        path.mkdir()
        names.append(path.relative_to(tmp_path).as_posix())
    stem = "label-now:%Y%m%d-%H%M%S"
    assert names == [stem, f"{stem}-2", f"{stem}-3"]
    monkeypatch.chdir(tmp_path)
    assert new_run_path("label") == Path("runs", stem)
