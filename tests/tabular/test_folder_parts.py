"""A folder of arrays in parts: each has its rows and its share of the checksums; and what is refused of each array."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP
from pyresac.tabular.readers import folders

S, A = 5, 3


def uneven() -> FiniteMDP:
    """Rows of different lengths, actions that are not there, and a first state by chance."""
    rng = np.random.default_rng(0)
    available = rng.random((S, A)) < 0.6
    available[:, 1] = True
    kernel = np.zeros((S, A, S))
    for s, a in np.argwhere(available):
        kernel[s, a, rng.permutation(S)[: 1 + (s + a) % S]] = 1.0 / (1 + (s + a) % S)
    return FiniteMDP.from_arrays(kernel, rng.normal(size=(S, A)), 0.5, available=available, initial=np.eye(S)[2])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    uneven().save_folder(tmp_path / "model")
    return tmp_path / "model"


def by_hand(array: np.ndarray) -> int:
    """Σ (2i + 1)·wᵢ mod 2⁶⁴ in Python's whole numbers."""
    flat = np.ascontiguousarray(array).ravel()
    words = [int.from_bytes(word.tobytes(), "little") for word in flat]
    return sum((2 * i + 1) * word for i, word in enumerate(words)) % 2**64


def test_the_head_tells_of_every_array(path: Path) -> None:
    text = (path / folders.HEAD).read_text()
    assert text.startswith('{\n "format": ')
    assert text.endswith("}\n")
    head = json.loads(text)
    assert (head["states"], head["actions"], head["discount"]) == (S, A, 0.5)
    assert head["checksums"] == {file.stem: by_hand(np.load(file)) for file in path.glob("*.npy")}
    assert sorted(head["checksums"]) == ["available", "data", "indices", "indptr", "initial", "reward"]


@pytest.mark.parametrize("cuts", [[0, 5], [0, 1, 5], [0, 2, 3, 5], [0, 1, 2, 3, 4, 5]])
def test_parts_hold_their_rows_and_their_checksums_add_up(path: Path, cuts: list[int]) -> None:
    mdp, folder, found = FiniteMDP.load(path), folders.open_folder(path), dict[str, int]()
    assert mdp.available is not None
    for start, stop in pairwise(cuts):
        part, sums = folder.rows(start, stop)
        kernel: Any = part.transition
        np.testing.assert_array_equal(kernel.toarray().reshape(stop - start, A, S), uneven().dense()[start:stop])
        np.testing.assert_array_equal(np.asarray(part.reward), uneven().reward[start:stop])
        np.testing.assert_array_equal(np.asarray(part.available), mdp.available[start:stop])
        found = {name: found.get(name, 0) + value for name, value in sums.items()}
    folder.check_sums(found)
    assert {name: value % 2**64 for name, value in found.items()} == folder.checksums
    for name in found:
        folder.check_sums(found | {name: found[name] % 2**64 + 3 * 2**64})
        with pytest.raises(InputError, match=rf"{name}\.npy is not as it was written; its checksum has changed"):
            folder.check_sums(found | {name: found[name] + 1})


def entries_of(lengths: list[int], path: Path, actions: int = 2) -> folders.Folder:
    """A folder whose states have so many entries, all of them of the last action."""
    path.mkdir()
    rows = np.zeros((len(lengths), actions), dtype=np.int64)
    rows[:, -1] = lengths
    np.save(path / "indptr.npy", np.concatenate([[0], np.cumsum(rows)]))
    np.save(path / "indices.npy", np.concatenate([np.arange(length) for length in lengths]).astype(np.int32))
    np.save(path / "data.npy", np.concatenate([np.full(length, 1 / max(length, 1)) for length in lengths]))
    np.save(path / "reward.npy", np.zeros((len(lengths), actions)))
    folders.seal(path, 0.5)
    return folders.open_folder(path)


@pytest.mark.parametrize(
    ("lengths", "parts", "cuts"),
    [
        # 6 of 12 entries lie before the fourth state, 4 of 12 before the third
        ([2] * 6, 2, [0, 3, 6]),
        ([2] * 6, 3, [0, 2, 4, 6]),
        # all but the last one are short; 9·1//3 = 3 entries lie before the fourth state, 6 before none but the end
        ([1, 1, 1, 1, 5], 3, [0, 3, 4, 5]),
        # the first one has all that two would share; each process has a state
        ([5, 1, 1, 1, 1], 3, [0, 1, 2, 5]),
        ([5, 1, 1, 1, 1], 2, [0, 1, 5]),
        # 7 of 10 entries are two thirds, rounded down to 6: before the third state
        ([3, 3, 1, 3], 3, [0, 1, 2, 4]),
        # 3 and 7 of 11 entries both lie before the second state
        ([9, 1, 1], 3, [0, 1, 2, 3]),
        ([1, 1, 1], 3, [0, 1, 2, 3]),
        ([1, 4, 1], 1, [0, 3]),
    ],
)  # fmt: skip
def test_processes_have_about_as_many_entries(lengths: list[int], parts: int, cuts: list[int], tmp_path: Path) -> None:
    assert entries_of(lengths, tmp_path / "model").cuts(parts) == cuts


def test_a_part_may_have_no_entry(tmp_path: Path) -> None:
    """Whether a state has an action is asked of the whole model."""
    folder = entries_of([1, 0, 2], tmp_path / "model")
    for start in range(3):
        kernel: Any = folder.rows(start, start + 1)[0].transition
        assert kernel.nnz == [1, 0, 2][start]


@pytest.mark.parametrize(("states", "actions"), [(1, 1), (1, 3), (3, 1)])
def test_a_folder_may_have_one_state_or_one_action(states: int, actions: int, tmp_path: Path) -> None:
    mdp = FiniteMDP.from_arrays(np.full((states, actions, states), 1 / states), np.ones((states, actions)), 0.5)
    mdp.save_folder(tmp_path / "model")
    np.testing.assert_array_equal(FiniteMDP.load(tmp_path / "model").dense(), mdp.dense())


def saved(name: str, array: np.ndarray) -> Callable[[Path], None]:
    """Another array in the place of one."""
    return lambda path: np.save(path / f"{name}.npy", array)


def headed(**changes: object) -> Callable[[Path], None]:
    """A head with other entries."""

    def change(path: Path) -> None:
        values = json.loads((path / folders.HEAD).read_text()) | changes
        (path / folders.HEAD).write_text(json.dumps(values))

    return change


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "no checksums": (headed(checksums=None), "model.json: checksums must be one whole number an array"),
    "a list of checksums": (headed(checksums=[1]), "model.json: checksums must be one whole number an array"),
    "checksums of text": (headed(checksums={"data": "1"}), "model.json: checksums must be one whole number an array"),
    "a discount that is true": (headed(discount=True), "discount is True; it must be a number in [0, 1)"),
    "a discount that is false": (headed(discount=False), "discount is False; it must be a number in [0, 1)"),
    "a discount of text": (headed(discount="0.5"), "discount is '0.5'; it must be a number in [0, 1)"),
    "no discount": (headed(discount=None), "discount is None; it must be a number in [0, 1)"),
    "other actions": (headed(actions=4), "model.json: 5 states and 4 actions; reward.npy has shape (5, 3)"),
    "rewards in a row": (saved("reward", np.ones(15)), "reward.npy has shape (15,); expected (S, A)"),
    "rewards of no state": (saved("reward", np.ones((0, 3))), "reward.npy has shape (0, 3); expected (S, A)"),
    "rewards of no action": (saved("reward", np.ones((5, 0))), "reward.npy has shape (5, 0); expected (S, A)"),
    "few ends of rows": (saved("indptr", np.zeros(15, int)), "indptr.npy has shape (15,); expected (16,)"),
    "few indices": (saved("indices", np.zeros(2, int)), "indices.npy has shape (2,); expected ("),
    "data in a table": (saved("data", np.ones((2, 2))), "; expected ("),
    "a mask of other pairs": (
        saved("available", np.ones((3, 5), bool)),
        "available.npy has shape (3, 5); expected (5, 3)",
    ),
    "a start of fewer states": (saved("initial", np.ones(4)), "initial.npy has shape (4,); expected (5,)"),
    "a late first row": (saved("indptr", np.arange(1, 17)), "indptr.npy goes from 1 to 16; expected 0 to "),
    "a last row that goes on": (saved("indptr", np.arange(16) * 9), "indptr.npy goes from 0 to 135; expected 0 to "),
    "a mask of numbers": (saved("available", np.ones((5, 3))), "available.npy holds float64; expected bool"),
    "other bytes": (saved("initial", np.ones(5, ">f8")), "initial.npy holds >f8; expected float64"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_array_or_a_head_of_another_kind_is_refused(name: str, path: Path) -> None:
    change, message = REFUSED[name]
    change(path)
    with pytest.raises(InputError, match=re.escape(message)):
        folders.open_folder(path)


def test_ends_of_rows_must_not_fall(path: Path) -> None:
    ends = np.load(path / "indptr.npy", mmap_mode="r+")
    ends[4], ends[5] = ends[5] + 1, ends[4]
    ends.flush()
    with pytest.raises(
        InputError, match=r"indptr\.npy goes from 0 to \d+ in the rows of the states 0 to 4; it must rise"
    ):
        folders.open_folder(path).rows(0, S)


def test_a_file_is_no_folder_and_a_done_masked_reading_makes_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InputError, match="file is not a folder"):
        folders.open_folder(tmp_path / "file")
    with pytest.raises(InputError, match="file exists and is no empty folder; nothing is written over"):
        uneven().save_folder(tmp_path / "file")
    for reading in ({"continuation": np.ones((S, A))}, {"terminal": np.zeros(S, dtype=bool)}):
        with pytest.raises(InputError, match="a done-masked reading is not saved; save the full-kernel MDP"):
            uneven().replace(**reading).save_folder(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_arrays_are_on_the_disk_before_the_head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A head without them would be a finished model."""
    done: list[str] = []
    write = folders.write_atomically
    monkeypatch.setattr(folders, "sync_folder", lambda path: done.append(f"sync {path.name}"))

    def writing(path: Path, content: bytes) -> None:
        done.append(f"write {path.name}")
        write(path, content)

    monkeypatch.setattr(folders, "write_atomically", writing)
    uneven().save_folder(tmp_path / "model")
    assert done == ["sync model", "write model.json"]
