"""A model as a folder of arrays, for models that one process does not hold: each maps the files and copies its rows.

    model.json     {"format": "pyresac-folder-1", "states": S, "actions": A, "discount": γ, "checksums": {…}}
    indptr.npy     (S·A + 1,) int32 or int64; row s·A + a of the kernel belongs to the pair (s, a)
    indices.npy    (entries,) int32 or int64, the successors
    data.npy       (entries,) float64, their probabilities
    reward.npy     (S, A) float64
    available.npy  (S, A) bool, absent where every action is available
    initial.npy    (S,) float64, absent where the first state is not known

The files are NumPy's. `model.json` is written last, so a folder without it was not finished. A checksum is
Σ (2i + 1)·wᵢ mod 2⁶⁴ over the elements of an array, read as unsigned numbers: a sum, so that processes which each read
a part of the array add their parts up.
"""

from __future__ import annotations

import json
import shutil
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyresac.atomic import sync_folder, write_atomically
from pyresac.errors import InputError
from pyresac.jit import compiled
from pyresac.reading import read_object
from pyresac.tabular.readers.arrays import Arrays

FORMAT = "pyresac-folder-1"
HEAD = "model.json"
KINDS = {
    "indptr": ("int32", "int64"),
    "indices": ("int32", "int64"),
    "data": ("float64",),
    "reward": ("float64",),
    "available": ("bool",),
    "initial": ("float64",),
}
OPTIONAL = ("available", "initial")


@compiled
def weighted_sum(words: NDArray[np.unsignedinteger[Any]], first: int) -> int:
    """Σ (2i + 1)·wᵢ mod 2⁶⁴, where the first of `words` has the place `first` in its array."""
    total, weight = np.uint64(0), np.uint64(2 * first + 1)
    for word in words:
        total += np.uint64(word) * weight
        weight += np.uint64(2)
    return total  # type: ignore[return-value]


def checksum(part: NDArray[Any], first: int = 0) -> int:
    """What `part`, which begins at element `first` of an array, adds to the array's checksum."""
    flat = np.ascontiguousarray(part).reshape(-1)
    return int(weighted_sum(flat.view(f"uint{8 * flat.itemsize}"), first))


@dataclass(frozen=True, eq=False)
class Folder:
    """A folder that was opened: its arrays are mapped, and nothing of them is read yet."""

    path: Path
    n_states: int
    n_actions: int
    discount: float
    arrays: dict[str, NDArray[Any]]
    checksums: dict[str, int]

    def cuts(self, parts: int) -> list[int]:
        """The first state of each of `parts` ranges with about equally many entries, and S. Raises InputError."""
        n = self.n_states
        if parts > n:
            raise InputError(f"{self.path} has {n} states; {parts} processes are too many, as each takes at least one")
        indptr, entries = self.arrays["indptr"], len(self.arrays["data"])
        found = [0]
        for i in range(1, parts):
            at = bisect_left(range(n), entries * i // parts, key=lambda s: int(indptr[s * self.n_actions]))
            found.append(min(max(at, found[-1] + 1), n - parts + i))
        return [*found, n]

    def rows(self, start: int, stop: int) -> tuple[Arrays, dict[str, int]]:
        """Copies of the rows of the states start…stop − 1, and what each array adds to its checksum.

        The kernel is CSR of shape ((stop − start)·A, S). Raises InputError where the arrays contradict one another.
        """
        n, a = stop - start, self.n_actions
        indptr = np.array(self.arrays["indptr"][start * a : stop * a + 1])
        first, last, entries = int(indptr[0]), int(indptr[-1]), len(self.arrays["data"])
        if not 0 <= first <= last <= entries or (np.diff(indptr) < 0).any():
            raise InputError(
                f"{self.path}: indptr.npy goes from {first} to {last} in the rows of the states {start} to {stop - 1}; "
                f"it must rise from 0 to {entries}"
            )
        begins = {"indptr": start * a, "indices": first, "data": first, "reward": start * a, "available": start * a}
        part = {
            "indices": np.array(self.arrays["indices"][first:last]),
            "data": np.array(self.arrays["data"][first:last]),
            "reward": np.array(self.arrays["reward"][start:stop]),
        }
        if "available" in self.arrays:
            part["available"] = np.array(self.arrays["available"][start:stop])
        sums = {name: checksum(array, begins[name]) for name, array in part.items()}
        sums["indptr"] = checksum(indptr if stop == self.n_states else indptr[:-1], begins["indptr"])
        initial = self.arrays.get("initial")
        if initial is not None:
            sums["initial"] = checksum(np.array(initial[start:stop]), start)
        outside = np.flatnonzero((part["indices"] < 0) | (part["indices"] >= self.n_states))
        if len(outside):
            raise InputError(
                f"{self.path}: indices.npy holds {part['indices'][outside[0]]} at {first + outside[0]}; states are "
                f"numbered from 0 to {self.n_states - 1}"
            )
        kernel = sparse.csr_array((part["data"], part["indices"], indptr - first), shape=(n * a, self.n_states))
        return Arrays(kernel, part["reward"], self.discount, available=part.get("available")), sums

    def check_sums(self, found: dict[str, int]) -> None:
        """InputError unless the arrays are those that were sealed; found: the sums over all parts."""
        for name, told in self.checksums.items():
            if found[name] % 2**64 != told:
                raise InputError(f"{self.path}: {name}.npy is not as it was written; its checksum has changed")


def load(path: Path, discount: float | None = None) -> Arrays:
    """The whole model of a folder; `discount` replaces the one stored. Raises InputError."""
    folder = open_folder(path)
    model, sums = folder.rows(0, folder.n_states)
    folder.check_sums(sums)
    initial = folder.arrays.get("initial")
    return Arrays(
        model.transition, model.reward, folder.discount if discount is None else discount,
        available=model.available, initial=None if initial is None else np.array(initial),
    )  # fmt: skip


def open_folder(path: Path) -> Folder:
    """Map the arrays of a folder that `save` or `seal` finished. Raises InputError for anything else."""
    if not path.is_dir():
        raise InputError(f"{path} is not a folder")
    if not (path / HEAD).is_file():
        raise InputError(f"{path} holds no {HEAD}, which is written last: it is no model, or was not finished")
    head = read_object(path / HEAD)
    if head.get("format") != FORMAT:
        raise InputError(f"{path / HEAD}: format is {head.get('format')!r}; expected {FORMAT!r}")
    sums = head.get("checksums")
    if not isinstance(sums, dict) or not all(isinstance(x, int) for x in sums.values()):
        raise InputError(f"{path / HEAD}: checksums must be one whole number an array")
    gamma = head.get("discount")
    if isinstance(gamma, bool) or not isinstance(gamma, (int, float)) or not 0 <= gamma < 1:
        raise InputError(f"{path / HEAD}: discount is {gamma!r}; it must be a number in [0, 1)")
    arrays = _mapped(path)
    n_states, n_actions = arrays["reward"].shape
    if (head.get("states"), head.get("actions")) != (n_states, n_actions):
        raise InputError(
            f"{path / HEAD}: {head.get('states')} states and {head.get('actions')} actions; reward.npy has shape "
            f"{(n_states, n_actions)}"
        )
    if sums.keys() != arrays.keys():
        raise InputError(f"{path} holds the arrays {sorted(arrays)}; {HEAD} knows {sorted(sums)}")
    return Folder(path, n_states, n_actions, float(gamma), arrays, sums)


def save(mdp: Arrays, path: Path) -> None:
    """Write `mdp`, which was checked, into a new or empty folder, or leave nothing behind. Raises InputError."""
    if mdp.continuation is not None or mdp.terminal is not None:
        raise InputError("a done-masked reading is not saved; save the full-kernel MDP")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path} exists and is no empty folder; nothing is written over")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path.absolute().parent} is not a folder; make it before writing {path.name} into it")
    rows = sparse.csr_array(
        mdp.transition.reshape(-1, mdp.transition.shape[2])
        if isinstance(mdp.transition, np.ndarray)
        else mdp.transition
    )
    given = {"indptr": rows.indptr, "indices": rows.indices, "data": rows.data, "reward": mdp.reward}
    given |= {name: getattr(mdp, name) for name in OPTIONAL if getattr(mdp, name) is not None}
    made = not path.exists()
    path.mkdir(exist_ok=True)
    try:
        for name, array in given.items():
            np.save(path / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
        seal(path, mdp.discount)
    except BaseException:
        for name in given:
            (path / f"{name}.npy").unlink(missing_ok=True)
        if made:
            shutil.rmtree(path, ignore_errors=True)
        raise


def seal(path: Path, discount: float) -> None:
    """Finish a folder whose arrays were written by other means (`numpy.lib.format.open_memmap`, say): check their types
    and shapes, and write `model.json`. Raises InputError."""
    arrays = _mapped(path)
    n_states, n_actions = arrays["reward"].shape
    head = {
        "format": FORMAT, "states": n_states, "actions": n_actions, "discount": float(discount),
        "checksums": {name: checksum(array) for name, array in arrays.items()},
    }  # fmt: skip
    sync_folder(path)
    write_atomically(path / HEAD, (json.dumps(head, indent=1) + "\n").encode())


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of the folder, mapped; their types and shapes are those of a model. Raises InputError."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, kinds in KINDS.items():
        file = path / f"{name}.npy"
        if not file.exists() and name in OPTIONAL:
            continue
        try:
            array = np.load(file, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise InputError(f"{file} is no readable array, or was cut: {reason}") from None
        if not isinstance(array, np.ndarray) or array.dtype.name not in kinds or not array.dtype.isnative:
            raise InputError(f"{file} holds {getattr(array, 'dtype', type(array))}; expected {' or '.join(kinds)}")
        if array.ndim > 1 and not array.flags.c_contiguous:
            raise InputError(f"{file} is stored column by column; rows (C order) are expected")
        arrays[name] = array
    shape = arrays["reward"].shape
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"{path / 'reward.npy'} has shape {shape}; expected (S, A)")
    entries = arrays["data"].shape
    expected = {
        "indptr": (shape[0] * shape[1] + 1,), "indices": entries, "data": (arrays["data"].size,), "available": shape,
        "initial": (shape[0],),
    }  # fmt: skip
    for name, size in expected.items():
        if name in arrays and arrays[name].shape != size:
            raise InputError(f"{path / name}.npy has shape {arrays[name].shape}; expected {size}")
    ends = int(arrays["indptr"][0]), int(arrays["indptr"][-1])
    if ends != (0, arrays["data"].size):
        raise InputError(f"{path / 'indptr.npy'} goes from {ends[0]} to {ends[1]}; expected 0 to {arrays['data'].size}")
    return arrays
