"""Checkpoint files and run folders: whole or refused, and nothing in them is ever executed."""

from __future__ import annotations

import errno
import io
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from pyresac.errors import CheckpointError, InputError
from pyresac.training import checkpoint as module
from pyresac.training.checkpoint import MAGIC, load_checkpoint, save_checkpoint
from pyresac.training.folder import RunFolder, new_run_path

ARRAYS = {
    "q": np.linspace(-1, 1, 24).reshape(2, 3, 4),
    "counts": np.arange(6, dtype=np.int64).reshape(2, 3),
    "mask": np.array([True, False]),
    "small": np.float32([1.5]),
    "scalar": np.array(7.0),
    "empty": np.zeros((0, 3)),
}
STATE = {"step": 12, "generator": {"state": 2**127 + 1}, "text": "λ", "x": 0.1}


def write(path: Path) -> Path:
    save_checkpoint(path, STATE, ARRAYS)
    return path


def test_round_trip_is_bitwise(tmp_path: Path) -> None:
    loaded = load_checkpoint(write(tmp_path / "a.ckpt"))
    assert loaded.state == STATE
    assert loaded.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert loaded.arrays[name].dtype == array.dtype
        assert loaded.arrays[name].shape == array.shape
        assert loaded.arrays[name].tobytes() == array.tobytes()
        assert loaded.arrays[name].flags.writeable


def test_layout_of_memory_does_not_matter(tmp_path: Path) -> None:
    matrix = np.arange(12.0).reshape(3, 4)
    save_checkpoint(tmp_path / "a", {}, {"x": np.asfortranarray(matrix), "y": matrix[::2, ::-1]})
    loaded = load_checkpoint(tmp_path / "a").arrays
    assert np.array_equal(loaded["x"], matrix)
    assert np.array_equal(loaded["y"], matrix[::2, ::-1])


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ckpt")
    content = path.read_bytes()
    for length in [*range(0, len(content), 7), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match=r"truncated|not a pyresac checkpoint"):
            load_checkpoint(path)
    path.write_bytes(content + b"x")
    with pytest.raises(CheckpointError, match="longer than its header says"):
        load_checkpoint(path)


def test_every_altered_byte_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ckpt")
    content = bytearray(path.read_bytes())
    for position in range(0, len(content), 5):
        content[position] ^= 1
        path.write_bytes(content)
        with pytest.raises(CheckpointError):
            load_checkpoint(path)
        content[position] ^= 1


class Trap:
    """Unpickling this raises: the test would see it."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('executed')",)


def npz() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, q=np.zeros(3))
    return buffer.getvalue()


@pytest.mark.parametrize("content", [b"", b"hello", npz(), pickle.dumps(Trap()), b"{}"], ids=range(5))
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "foreign.ckpt"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="is not a pyresac checkpoint"):
        load_checkpoint(path)


def test_missing_file_is_a_checkpoint_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot read checkpoint"):
        load_checkpoint(tmp_path / "none.ckpt")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"arrays": [{"name": "q", "dtype": "|O", "shape": [1], "sha256": ""}], "state": {}}, "unusable array"),
        ({"arrays": [{"name": "q", "dtype": "<f8", "shape": [-1], "sha256": ""}], "state": {}}, "unusable array"),
        ({"arrays": [{"name": "q", "dtype": "<f8", "shape": [2**40], "sha256": ""}], "state": {}}, "truncated"),
        ({"arrays": [{"name": "q"}], "state": {}}, "unusable array"),
        ({"state": {}}, "without state and arrays"),
        ([], "without state and arrays"),
    ],
)
def test_forged_headers_are_refused(tmp_path: Path, header: object, message: str) -> None:
    raw = json.dumps(header).encode()
    digest = module.hashlib.sha256(raw).digest()
    path = tmp_path / "forged.ckpt"
    path.write_bytes(MAGIC + len(raw).to_bytes(8, "little") + digest + raw + pickle.dumps(Trap()))
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(path)


def test_objects_and_infinite_floats_are_not_written(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ckpt")
    before = path.read_bytes()
    with pytest.raises(TypeError, match="array 'bad' has type object"):
        save_checkpoint(path, {}, {"bad": np.array([None])})
    with pytest.raises(ValueError, match="JSON"):
        save_checkpoint(path, {"x": float("nan")}, {})
    assert path.read_bytes() == before


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.ckpt")
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(path, {"step": 13}, ARRAYS)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path], "no temporary file stays behind"


def test_run_folder_keeps_the_newest_checkpoints(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", {"agent": "x"})
    assert folder.load_latest() is None
    for step in (5, 100, 20_000):
        folder.save(step, {}, ARRAYS, keep=2)
    assert [p.name for p in sorted(folder.checkpoints.iterdir())] == [
        "step-000000000100.ckpt",
        "step-000000020000.ckpt",
    ]
    latest = folder.load_latest()
    assert latest is not None
    assert latest.state["step"] == 20_000
    assert {"python", "numpy", "git"} <= latest.state["versions"].keys()


def test_damaged_newest_checkpoint_names_the_one_before(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", {})
    folder.save(1, {}, ARRAYS, keep=2)
    newest = folder.save(2, {}, ARRAYS, keep=2)
    newest.write_bytes(newest.read_bytes()[:-3])
    with pytest.raises(CheckpointError, match=r"truncated.*remove it to resume from step-000000000001\.ckpt"):
        folder.load_latest()


def test_run_folder_is_never_overwritten_nor_shared(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", {})
    with pytest.raises(InputError, match="exists; go on with it by --resume"):
        RunFolder.create(tmp_path / "run", {})
    with pytest.raises(InputError, match="is in use by another process"):
        RunFolder.open(tmp_path / "run")
    folder.close()
    RunFolder.open(tmp_path / "run").close()
    with pytest.raises(InputError, match="exists and is no run folder"):
        RunFolder.create(tmp_path, {})
    with pytest.raises(InputError, match="no such folder"):
        RunFolder.open(tmp_path / "none")
    with pytest.raises(InputError, match=r"no config\.json"):
        RunFolder.open(tmp_path)


def test_run_folder_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: object, target: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(InputError, match=r"cannot make run folder .*Permission denied"):
        RunFolder.create(tmp_path / "run", {})
    assert list(tmp_path.iterdir()) == []


def test_new_run_paths_do_not_clash(tmp_path: Path) -> None:
    first = new_run_path("x", tmp_path)
    first.mkdir()
    assert new_run_path("x", tmp_path) != first
