"""Checkpoint files and run folders: whole or refused, and nothing in them is ever executed."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from pyresac.errors import CheckpointError, InputError
from pyresac.training.checkpoint import FORMAT_1, KEY, load_checkpoint, save_checkpoint
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


def test_other_programs_can_read_the_arrays(tmp_path: Path) -> None:
    found = load_file(write(tmp_path / "a.ckpt"))
    assert {name: array.tobytes() for name, array in found.items()} == {n: a.tobytes() for n, a in ARRAYS.items()}


def test_equal_content_is_equal_bytes(tmp_path: Path) -> None:
    assert write(tmp_path / "a.ckpt").read_bytes() == write(tmp_path / "b.ckpt").read_bytes()


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ckpt")
    content = path.read_bytes()
    for length in [*range(0, len(content), 7), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match="is truncated, damaged or no pyresac checkpoint"):
            load_checkpoint(path)
    path.write_bytes(content + b"x")
    with pytest.raises(CheckpointError, match="is truncated, damaged or no pyresac checkpoint"):
        load_checkpoint(path)


@pytest.mark.parametrize("bit", [1, 8, 32, 128])
def test_every_altered_byte_is_found(bit: int, tmp_path: Path) -> None:
    path = write(tmp_path / "a.ckpt")
    content = bytearray(path.read_bytes())
    for position in range(len(content)):
        content[position] ^= bit
        path.write_bytes(content)
        with pytest.raises(CheckpointError) as caught:
            load_checkpoint(path)
        assert str(path) in str(caught.value)
        content[position] ^= bit


def test_altered_names_types_and_shapes_are_found(tmp_path: Path) -> None:
    """Also where the file is a whole one of safetensors."""
    path = write(tmp_path / "a.ckpt")
    with safe_open(path, framework="numpy") as file:
        text = file.metadata()[KEY]
    plain = {name: np.array(array) for name, array in ARRAYS.items()}
    renamed = {("Q" if name == "q" else name): array for name, array in plain.items()}
    swapped = {**plain, "small": plain["scalar"].astype(np.float32), "scalar": plain["small"].astype(np.float64)}
    for other, message in (
        (renamed, "the arrays Q, q are on one side only"),
        ({name: array for name, array in plain.items() if name != "mask"}, "the arrays mask are on one side only"),
        ({**plain, "more": plain["q"]}, "the arrays more are on one side only"),
        ({**plain, "q": plain["q"].view(np.int64)}, "array 'q' does not match its SHA-256"),
        ({**plain, "q": plain["q"].reshape(4, 6)}, "array 'q' does not match its SHA-256"),
        ({**plain, "q": plain["q"] + 1.0}, "array 'q' does not match its SHA-256"),
        (swapped, "does not match its SHA-256"),
    ):
        save_file(other, path, metadata={KEY: text})
        with pytest.raises(CheckpointError, match=message):
            load_checkpoint(path)
    save_file(plain, path, metadata={KEY: text})
    assert load_checkpoint(path).state == STATE


def test_the_first_format_is_refused_with_the_way_on(tmp_path: Path) -> None:
    path = tmp_path / "a.ckpt"
    path.write_bytes(FORMAT_1 + bytes(60))
    with pytest.raises(CheckpointError, match=r"is of format 1, .*go on with the commit that versions.json names"):
        load_checkpoint(path)


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
    with pytest.raises(CheckpointError, match="is truncated, damaged or no pyresac checkpoint"):
        load_checkpoint(path)


def test_other_files_of_safetensors_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "foreign.ckpt"
    for metadata in (None, {"format": "pt"}):
        save_file({"q": np.zeros(3)}, path, metadata=metadata)
        with pytest.raises(CheckpointError, match=f"is not a pyresac checkpoint: its metadata have no entry '{KEY}'"):
            load_checkpoint(path)


def test_missing_file_is_a_checkpoint_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot read checkpoint"):
        load_checkpoint(tmp_path / "none.ckpt")


def forged(path: Path, content: str, number: str = "2") -> None:
    """With a true digest."""
    text = f"{number} {hashlib.sha256(content.encode()).hexdigest()} {content}"
    save_file({"q": np.zeros(3)}, path, metadata={KEY: text})


Q = {"q": {"dtype": "float64", "shape": [3], "sha256": hashlib.sha256(bytes(24)).hexdigest()}}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"state": {}}, "without state and arrays"),
        ({"state": [], "arrays": Q}, "without state and arrays"),
        ({"state": {}, "arrays": []}, "without state and arrays"),
        ([], "without state and arrays"),
        ({"state": {}, "arrays": {}}, "the arrays q are on one side only"),
        ({"state": {}, "arrays": {"q": {}}}, "array 'q' does not match"),
        ({"state": {}, "arrays": {"q": 3}}, "array 'q' does not match"),
        ({"state": {}, "arrays": {"q": {**Q["q"], "shape": [-1]}}}, "array 'q' does not match"),
    ],
)
def test_forged_headers_are_refused(tmp_path: Path, header: object, message: str) -> None:
    path = tmp_path / "forged.ckpt"
    forged(path, json.dumps({"state": {}, "arrays": Q}))
    assert load_checkpoint(path).state == {}
    forged(path, json.dumps(header))
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(path)


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "\x00"])
def test_a_state_that_is_not_json_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "forged.ckpt"
    forged(path, content)
    with pytest.raises(CheckpointError, match=r"the state of checkpoint .* is not JSON"):
        load_checkpoint(path)


def test_a_later_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "later.ckpt"
    forged(path, json.dumps({"state": {}, "arrays": Q}), number="3")
    with pytest.raises(CheckpointError, match="is of format 3; this version reads format 2"):
        load_checkpoint(path)


def test_objects_and_infinite_floats_are_not_written(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ckpt")
    before = path.read_bytes()
    with pytest.raises(TypeError, match="array 'bad' has type object"):
        save_checkpoint(path, {}, {"bad": np.array([None])})
    for kind in (np.complex64, np.longdouble, "U3", "M8[s]"):
        with pytest.raises(TypeError, match="array 'bad' has type"):
            save_checkpoint(path, {}, {"bad": np.zeros(2, dtype=kind)})
    with pytest.raises(ValueError, match="JSON"):
        save_checkpoint(path, {"x": float("nan")}, {})
    assert path.read_bytes() == before


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.ckpt")
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*a\.ckpt"):
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
    with pytest.raises(CheckpointError, match=r"truncated, damaged.*remove it to resume from step-000000000001\.ckpt"):
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


LIMITED = """
import resource, signal, sys, numpy as np
from pathlib import Path
from pyresac.training.checkpoint import save_checkpoint
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    save_checkpoint(Path(sys.argv[1]), {}, {"q": np.zeros(100_000)})
except OSError as error:
    print(error.errno, error.filename)
"""


def test_a_disk_that_refuses_in_the_middle_is_an_os_error_that_names_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ckpt")
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{errno.EFBIG} {path}\n"
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path], "no temporary file stays behind"
