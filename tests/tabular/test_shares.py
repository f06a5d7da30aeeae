"""A folder of arrays, and processes that share it: by mpirun, and what all of them refuse."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from property_tests.together import ThreadProcess, by_threads
from pyresac import solve as command
from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, L1Ball, RevOperator, Soft, families, shares, solve
from pyresac.tabular.readers import folders
from pyresac.tabular.shares import OneProcess, Share, agreed, together
from pyresac.tabular.solvers.api import model_of

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
import numpy as np
from pyresac.tabular import IntervalSet, L1Ball, RevOperator, solve
from pyresac.tabular.shares import MpiProcesses, Share

processes = MpiProcesses()
share = Share.load(sys.argv[1], processes)
for name, expectation in (("nominal", None), ("l1", L1Ball(0.2)), ("interval", IntervalSet.around(share, 0.1))):
    found = solve(RevOperator(share, expectation=expectation), tolerance=1e-9)
    v, policy = share.gathered(found.v), share.gathered(found.policy)
    if processes.rank == processes.size - 1:
        np.savez(f"{sys.argv[2]}-{name}.npz", v=v, policy=policy, error_bound=found.error_bound)
"""
ONE_FAILS = """
import sys
from pyresac.tabular.shares import MpiProcesses, together

processes = MpiProcesses()
with together(processes, lambda text: print(text, file=sys.stderr, flush=True)):
    if processes.rank == 1:
        raise ZeroDivisionError("a fault of one")
    processes.everyone(None)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    families.random_sparse(60, 3, 5, 0.8, seed=0).save_folder(path)
    return path


def mpirun(size: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`size` processes of this Python; the test is skipped where MPI is absent."""
    pytest.importorskip("mpi4py", reason="mpi4py is absent (extra mpi)")
    beside = Path(sys.executable).parent / "mpirun"
    launcher = str(beside) if beside.is_file() else shutil.which("mpirun")
    if launcher is None:
        pytest.skip("mpirun is absent (extra mpi)")
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    command = [launcher, "--oversubscribe", "-n", str(size), sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
def test_one_two_and_three_processes_of_mpi_give_the_same_bits(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    for size in (1, 2, 3):
        run = mpirun(size, program, folder, tmp_path / f"by{size}")
        assert run.returncode == 0, run.stderr
    mdp = FiniteMDP.load(folder)
    for name, make in (("nominal", None), ("l1", command.SETS["l1"]), ("interval", command.SETS["interval"])):
        expectation = make and make(mdp, 0.2 if name == "l1" else 0.1, False)
        one = solve(RevOperator(mdp, expectation=expectation), tolerance=1e-9, method="value_iteration")
        for size in (1, 2, 3):
            with np.load(tmp_path / f"by{size}-{name}.npz") as found:
                assert found["v"].tobytes() == one.v.tobytes()
                assert found["policy"].tolist() == one.policy.tolist()
                assert float(found["error_bound"]) == one.error_bound


@pytest.mark.slow
def test_the_command_under_mpirun(folder: Path, tmp_path: Path) -> None:
    """The first process speaks and writes; a model that one process finds wrong is one sentence and no answer."""
    out = tmp_path / "v.npz"
    run = mpirun(2, "-m", "pyresac.solve", folder, "--set", "l1:0.2", "--tolerance", 1e-9, "-o", out)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("The tolerance is met") == 1
    one = solve(RevOperator(FiniteMDP.load(folder), expectation=L1Ball(0.2)), tolerance=1e-9, method="value_iteration")
    with np.load(out) as found:
        assert found["v"].tobytes() == one.v.tobytes()
        assert "q" not in found
    data = np.load(folder / "data.npy", mmap_mode="r+")
    data[-1] += 0.5
    data.flush()
    run = mpirun(2, "-m", "pyresac.solve", folder, "-o", tmp_path / "w.npz")
    assert run.returncode == 2
    assert run.stderr.count("error:") == 1
    assert re.search(r"row \(s=\d+, a=2\) of .* sums to 1.5.* \(here states are counted from s=3\d\)", run.stderr)
    assert not (tmp_path / "w.npz").exists()


@pytest.mark.slow
def test_a_process_that_fails_alone_ends_all(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(ONE_FAILS)
    run = mpirun(3, program)
    assert run.returncode not in (0, 3)
    assert "process 2 of 3 failed, which ends all of them: ZeroDivisionError: a fault of one" in run.stderr


def test_a_folder_keeps_everything(tmp_path: Path) -> None:
    for mdp in (families.grid(3, 0.95), families.random_dense(4, 2, 0.9, 0)):
        path = tmp_path / f"of{mdp.n_states}"
        mdp.save_folder(path)
        again = FiniteMDP.load(path)
        np.testing.assert_array_equal(again.dense(), mdp.dense())
        np.testing.assert_array_equal(again.reward, mdp.reward)
        assert again.discount == mdp.discount
        assert (again.initial is None) == (mdp.initial is None)
    some = FiniteMDP.from_arrays(np.ones((1, 2, 1)), [[1.0, 2.0]], 0.5, available=[[True, False]])
    some.save_folder(tmp_path / "some")
    available = FiniteMDP.load(tmp_path / "some").available
    assert available is not None
    assert available.tolist() == [[True, False]]
    assert FiniteMDP.load(tmp_path / "some", 0.25).discount == 0.25


def test_arrays_of_other_means_are_sealed(folder: Path) -> None:
    """`seal` writes the head that `save_folder` wrote."""
    before = (folder / folders.HEAD).read_text()
    (folder / folders.HEAD).unlink()
    folders.seal(folder, 0.8)
    assert (folder / folders.HEAD).read_text() == before


def test_a_checksum_is_a_sum_over_parts_and_sees_a_swap() -> None:
    values = np.random.default_rng(0).normal(size=101)
    whole = folders.checksum(values)
    assert (folders.checksum(values[:40]) + folders.checksum(values[40:], 40)) % 2**64 == whole
    swapped = values.copy()
    swapped[[3, 4]] = swapped[[4, 3]]
    assert folders.checksum(swapped) != whole
    words = np.array([5, -1, 7], dtype=np.int32)
    assert folders.checksum(words) == (5 * 1 + (2**32 - 1) * 3 + 7 * 5) % 2**64


def spoil(path: Path, name: str, change: object) -> None:
    """Change an array of the folder in place."""
    array = np.load(path / f"{name}.npy", mmap_mode="r+")
    change(array)  # type: ignore[operator]
    array.flush()


def head(path: Path, **changes: object) -> None:
    """Change the head of the folder."""
    values = json.loads((path / folders.HEAD).read_text()) | changes
    (path / folders.HEAD).write_text(json.dumps(values))


WRONG = {
    "no head": (lambda p: (p / "model.json").unlink(), "was not finished"),
    "format": (lambda p: head(p, format="x"), "format is 'x'"),
    "discount": (lambda p: head(p, discount=1.0), "discount is 1.0; it must be a number in"),
    "states": (lambda p: head(p, states=59), "59 states and 3 actions; reward.npy has shape"),
    "checksums": (lambda p: head(p, checksums={}), "knows"),
    "cut": (lambda p: os.truncate(p / "data.npy", 500), "data.npy is no readable array, or was cut"),
    "no file": (lambda p: (p / "data.npy").unlink(), "No such file"),
    "text": (lambda p: (p / "indptr.npy").write_text("0 1 2"), "indptr.npy is no readable array"),
    "type": (lambda p: np.save(p / "data.npy", np.ones(3, np.float32)), "holds float32; expected float64"),
    "columns": (lambda p: np.save(p / "reward.npy", np.ones((60, 3), order="F")), "stored column by column"),
    "length": (lambda p: np.save(p / "data.npy", np.ones(5)), "expected"),
    "starts": (lambda p: spoil(p, "indptr", lambda a: a.__setitem__(90, 10**6)), "it must rise from 0 to"),
    "successor": (lambda p: spoil(p, "indices", lambda a: a.__setitem__(-1, 60)), "numbered from 0 to 59"),
    "probability": (lambda p: spoil(p, "data", lambda a: a.__setitem__(-1, 0.9)), "rows must sum to 1"),
    "negative": (lambda p: spoil(p, "data", lambda a: a.__setitem__(0, -0.5)), "must be finite and at least 0"),
    "reward": (lambda p: spoil(p, "reward", lambda a: a.__setitem__((0, 0), 7.0)), "its checksum has changed"),
    "not finite": (lambda p: spoil(p, "reward", lambda a: a.__setitem__((0, 0), np.nan)), "must be finite"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_folder_is_refused_by_one_process_and_by_all(folder: Path, name: str) -> None:
    change, message = WRONG[name]
    change(folder)
    with pytest.raises(InputError, match=f"{message}|its checksum has changed"):
        FiniteMDP.load(folder)

    def refused(process: ThreadProcess) -> str:
        with pytest.raises(InputError, match=message) as error:
            Share.load(folder, process)
        return str(error.value)

    assert len(set(by_threads(3, refused))) == 1, "all say the same"


def test_more_processes_than_states_are_refused(tmp_path: Path) -> None:
    families.chain(2, 0.9).save_folder(tmp_path / "two")

    def refused(process: ThreadProcess) -> None:
        with pytest.raises(InputError, match="has 2 states; 3 processes are too many"):
            Share.load(tmp_path / "two", process)

    by_threads(3, refused)


def test_what_shares_do_not_do_is_said(folder: Path) -> None:
    share, v = Share.load(folder, OneProcess()), np.zeros(60)
    with pytest.raises(InputError, match="'value_iteration' alone"):
        solve(RevOperator(share), method="policy_iteration")
    with pytest.raises(InputError, match="Soft with Nominal is solved by one"):
        solve(RevOperator(share, value=Soft(1.0)))
    assert "states 0 to 59 of 60" in repr(share)
    model = model_of(RevOperator(share))
    for use in (lambda: model.system(v, solve_loops=False), lambda: model.in_place_sweep(v, backward=False)):
        with pytest.raises(InputError, match="'value_iteration' alone"):
            use()


def test_nothing_is_written_over_and_what_fails_leaves_nothing(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mdp = families.chain(3, 0.9)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(InputError, match="nothing is written over"):
        mdp.save_folder(folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    with pytest.raises(InputError, match="is not a folder; make it before"):
        mdp.save_folder(tmp_path / "no" / "where")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folders, "write_atomically", full)
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new"):
        with pytest.raises(OSError, match="No space left"):
            mdp.save_folder(tmp_path / name)
    assert list((tmp_path / "empty").iterdir()) == []
    assert not (tmp_path / "new").exists()


def test_one_failure_is_everybodys_and_a_fault_ends_all() -> None:
    """`agreed` raises in all what one met; `together` ends all for what nobody else knows, but not for bad input."""

    def met(process: ThreadProcess) -> str:
        def work() -> int:
            if process.rank == 1:
                raise OSError("the disk of one")
            return 7

        with pytest.raises(OSError, match="the disk of one"):
            agreed(process, work)
        return "went on"

    assert by_threads(3, met) == ["went on"] * 3

    said: list[str] = []
    ended: list[int] = []

    class Alone(OneProcess):
        def abort(self, code: int) -> None:
            ended.append(code)

    with pytest.raises(ZeroDivisionError), together(Alone(), said.append):
        raise ZeroDivisionError("by zero")
    assert said == ["process 1 of 1 failed, which ends all of them: ZeroDivisionError: by zero"]
    assert ended == [1]
    with pytest.raises(InputError), together(Alone(), said.append):
        raise InputError("known to all")
    assert len(ended) == 1


def test_the_command_writes_a_folder_and_solves_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("OMPI_COMM_WORLD_SIZE", raising=False)
    families.chain(5, 0.9).save(tmp_path / "chain.npz")
    path = tmp_path / "chain"
    assert command.main([str(tmp_path / "chain.npz"), "--write-folder", str(path)]) == 0
    assert command.main([str(path), "--set", "l1:0.1", "-o", str(tmp_path / "v.npz")]) == 0
    expected = solve(RevOperator(families.chain(5, 0.9), expectation=L1Ball(0.1)))
    assert np.load(tmp_path / "v.npz")["v"] == pytest.approx(expected.v, abs=1e-7)
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "1")
    capsys.readouterr()
    assert command.main([str(path)]) == 0
    assert "value_iteration" in capsys.readouterr().out, "as every other number of processes does"


def test_many_processes_without_mpi4py_are_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    def missing() -> None:
        raise ImportError("no module")

    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    monkeypatch.setattr(command, "MpiProcesses", missing)
    assert command.main([str(folder)]) == 2
    assert "this is one of 3 processes, but mpi4py is missing" in capsys.readouterr().err


@pytest.mark.parametrize("variable", shares.SIZES)
def test_many_processes_take_a_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, variable: str
) -> None:
    path = tmp_path / "chain.npz"
    families.chain(5, 0.9).save(path)
    monkeypatch.delenv("OMPI_COMM_WORLD_SIZE", raising=False)
    monkeypatch.setenv(variable, "2")
    monkeypatch.setattr(command, "MpiProcesses", OneProcess)
    assert command.main([str(path)]) == 2
    assert "which take a folder; write one by --write-folder" in " ".join(capsys.readouterr().err.split())
