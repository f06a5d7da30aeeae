"""Reading and writing MDPs: round trips, and files that are not what they claim."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from pyresac import atomic
from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, families

HEADER = "idstatefrom,idaction,idstateto,probability,reward\n"
ROWS = "0,0,1,1.0,2.0\n1,0,0,0.5,1.0\n1,0,1,0.5,3.0\n1,1,1,1.0,0.0\n"


@pytest.mark.parametrize("mdp", [families.random_dense(4, 2, 0.9, 0), families.grid(3, 0.95)], ids=["dense", "sparse"])
def test_npz_keeps_everything(tmp_path: Path, mdp: FiniteMDP) -> None:
    mdp.save(tmp_path / "mdp.npz")
    again = FiniteMDP.load(tmp_path / "mdp.npz")
    np.testing.assert_array_equal(again.dense(), mdp.dense())
    np.testing.assert_array_equal(again.reward, mdp.reward)
    assert (again.discount, again.is_sparse) == (mdp.discount, mdp.is_sparse)
    assert (again.initial is None) == (mdp.initial is None)


def test_csv_rewards_are_averaged_and_missing_pairs_unavailable(tmp_path: Path) -> None:
    path = tmp_path / "mdp.csv"
    path.write_text(HEADER + ROWS)
    mdp = FiniteMDP.load(path, discount=0.9)
    assert mdp.reward.tolist() == [[2.0, 0.0], [2.0, 0.0]]
    assert mdp.available is not None
    assert mdp.available.tolist() == [[True, False], [True, True]]
    mdp.save(tmp_path / "again.csv")
    again = FiniteMDP.load(tmp_path / "again.csv", discount=0.9)
    np.testing.assert_array_equal(again.dense(), mdp.dense())
    np.testing.assert_array_equal(again.reward, mdp.reward)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("state,action,next,p,r\n0,0,0,1,0\n", r"the columns are \['state'"),
        (HEADER, "no rows under its header"),
        (HEADER + "0,0,0,1.0,0\n0,0,0,0.0,0\n", r"line 3: .* stands on line 2 already"),
        (HEADER + "0,0,0,1.0,0\n-1,0,0,1.0,0\n", "line 3: idstatefrom is -1.0; ids are whole numbers"),
        (HEADER + "0,0.5,0,1.0,0\n", "line 2: idaction is 0.5"),
        (HEADER + "0,0,0,0.98,0\n", r"row \(s=0, a=0\) of transition sums to 0.98"),
        (HEADER + "0,0,0,one,0\n", "one"),
        (HEADER + "0,0,0,1.0\n", "rows have 4 fields"),
        (HEADER + "0,0,9000000,1.0,0\n", "ids reach s=9000000"),
        (HEADER + "0,0,2147483647,1.0,0\n", "ids reach s=2147483647"),
        (
            HEADER + "0,0,2147483648,1.0,0\n",
            "line 2: idstateto is 2147483648.0; ids are whole numbers from 0, below 2³¹",
        ),
    ],
)
def test_csv_that_is_no_mdp_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mdp.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        FiniteMDP.load(path, discount=0.9)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_csv_may_name_so_many_pairs_and_no_more(tmp_path: Path, rows: int) -> None:
    """64 a row and 1024 besides: one id that is a mistake must not ask for all memory."""
    path, most = tmp_path / "mdp.csv", 64 * rows + 1024
    for last, fits in ((most - 1, True), (most, False)):
        path.write_text(HEADER + "".join(f"0,{last - i},0,1,0\n" for i in range(rows)))
        if fits:
            assert FiniteMDP.load(path, 0.9).reward.shape == (1, most)
        else:
            with pytest.raises(InputError, match=f"ids reach s=0, a={most} with only {rows} rows"):
                FiniteMDP.load(path, 0.9)


def test_a_csv_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    """A row that is gone with its line end, or the last digits of a number, leave rows that would make an MDP too."""
    path = tmp_path / "mdp.csv"
    families.grid(3, 0.95).save(path)
    whole = path.read_bytes()
    for end in range(len(whole) - 1):  # without its last line end it is whole
        path.write_bytes(whole[:end])
        with pytest.raises(InputError):
            FiniteMDP.load(path, discount=0.95)


@pytest.mark.parametrize("ending", [".csv", ".npz"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"mdp{ending}"
    families.grid(3, 0.95).save(path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        families.random_dense(4, 2, 0.9, 0).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_csv_needs_a_discount(tmp_path: Path) -> None:
    path = tmp_path / "mdp.csv"
    path.write_text(HEADER + ROWS)
    with pytest.raises(InputError, match="holds no discount"):
        FiniteMDP.load(path)


def test_archives_that_are_truncated_foreign_or_pickled_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mdp.npz"
    families.grid(3, 0.9).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"no readable \.npz"):
        FiniteMDP.load(path)
    np.savez(path, a=np.zeros(3))
    with pytest.raises(InputError, match="not an MDP written by"):
        FiniteMDP.load(path)
    np.savez(path, allow_pickle=True, format=np.array([{"x": 1}], dtype=object))
    with pytest.raises(InputError, match=r"no readable \.npz"):
        FiniteMDP.load(path)
    for name, message in (("missing.npz", "is not a file"), ("mdp.json", "known endings")):
        (tmp_path / "mdp.json").write_text("{}")
        with pytest.raises(InputError, match=message):
            FiniteMDP.load(tmp_path / name)


def test_a_sparse_kernel_with_an_index_out_of_range_is_refused(tmp_path: Path) -> None:
    mdp = families.grid(3, 0.9)
    indptr, indices, data = mdp.csr()
    wrong = indices.copy()
    wrong[0] = 99
    with (tmp_path / "mdp.npz").open("wb") as file:
        np.savez(
            file, format=np.array("pyresac-mdp-1"), reward=mdp.reward, discount=np.array(0.9),
            indptr=indptr, indices=wrong, data=data,
        )  # fmt: skip
    with pytest.raises(InputError, match="sparse kernel is not valid"):
        FiniteMDP.load(tmp_path / "mdp.npz")
