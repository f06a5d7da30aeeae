"""`python -m pyresac.solve`: every line that it prints, whatever the width of the terminal, and what each of several
processes does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from property_tests.together import ThreadProcess, by_threads
from pyresac import solve as command
from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, RevOperator, Solution, solve
from pyresac.tabular.shares import OneProcess

LONG = f"{'long' * 55}[bold]"
"""A name that fits into no line, and holds what Rich takes for a style."""
MDP = FiniteMDP.from_arrays(
    [[[0, 1, 0], [1, 0, 0]], [[0, 0, 1], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]],
    [[0.0, 1.0], [0.0, 3.0], [0.0, 4.0]], 0.5, initial=[0.5, 0.25, 0.25],
)  # fmt: skip
"""The last state earns 4 a step, so 8 in all; the second stays for 3 a step, 6, against 0 + 8/2; the first goes there
for 3, or takes 1 a step, 2."""
VALUES, ACTIONS = [3.0, 6.0, 8.0], [0, 1, 1]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in command.launched.__globals__["SIZES"]:
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / f"{LONG}.npz"
    MDP.save(path)
    return path


@pytest.fixture
def solution() -> Solution:
    return solve(RevOperator(MDP))


@pytest.mark.parametrize(("show", "shown"), [(0, 0), (1, 1), (2, 2), (3, 3), (10, 3)])
def test_states_are_shown_with_value_and_action(
    show: int, shown: int, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = model.with_name(f"{LONG}.csv")
    assert command.main([str(model), "--show", str(show), "-o", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{model}: {MDP!r}"
    assert lines[-1] == f"Written to {out}"
    assert lines[-2].startswith("Every value is within ")
    assert lines[-3] == f"Value at the start: {0.5 * 3 + 0.25 * 6 + 0.25 * 8:.10g}"
    rows = [[word for word in line.split() if word not in "│┃"] for line in lines[1:-3] if line[:1] in "│┃"]
    expected = [[str(s), f"{VALUES[s]:g}", str(ACTIONS[s])] for s in range(shown)]
    assert rows == ([["state", "value", "action"], *expected] if show else [])
    assert bool(lines[1:-3]) == bool(show)


def test_nothing_is_said_of_a_start_or_a_file_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replace(MDP, initial=None).save(tmp_path / "m.npz")
    assert command.main([str(tmp_path / "m.npz")]) == 0
    shown = capsys.readouterr().out
    assert "start" not in shown
    assert "Written" not in shown


def test_the_certificate_has_three_digits_and_says_how_it_came(solution: Solution) -> None:
    told = command.certificate(replace(solution, error_bound=1.23456e-9, method="a", iterations=7, seconds=2.71828))
    assert told == (
        "Every value is within 1.23e-09 of the true fixed point of this model as stored, rounding included "
        "(a, 7 certified sweeps, 2.72 s). The tolerance is met."
    )
    told = command.certificate(replace(solution, converged=False, message="why"))
    assert told.endswith(" The tolerance is not met: why.")


def test_what_is_written_is_the_solution(solution: Solution, tmp_path: Path) -> None:
    command.write(solution, tmp_path / "v.csv")
    header, *lines = (tmp_path / "v.csv").read_text().splitlines()
    assert header == "idstate,value,idaction"
    rows = [line.split(",") for line in lines]
    assert [(int(s), float(v), int(a)) for s, v, a in rows] == list(
        zip(range(3), solution.v.tolist(), ACTIONS, strict=True)
    )
    # a process of several knows its own rows of Q alone
    for part, names in (
        (solution, ["error_bound", "policy", "q", "v"]),
        (replace(solution, q=solution.q[:1]), ["error_bound", "policy", "v"]),
    ):
        command.write(part, tmp_path / "v.npz")
        with np.load(tmp_path / "v.npz") as found:
            assert sorted(found) == names
            for name in names:
                np.testing.assert_array_equal(found[name], getattr(part, name))


def test_a_file_in_no_folder_is_refused_before_the_model_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([str(tmp_path / "none.npz"), "-o", str(tmp_path / "new" / "v.csv")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "v.csv; there is no folder " in told


def test_a_long_solve_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Not before so many seconds have passed, and again after as many more; on the error stream, a line each."""
    now, told = 100.0, []
    monkeypatch.setattr(command.time, "monotonic", lambda: now)
    monkeypatch.setenv("COLUMNS", "20")
    follow = command.follower()
    step = command.QUIET_SECONDS / 2
    for iteration, now in enumerate(100.0 + step * np.array([0.0, 1.0, 2.0, 3.0, 3.5, 4.5, 5.5, 6.5])):  # noqa: B007
        follow(iteration, 0.12345)
        told.append(capsys.readouterr())
    assert {shown.out for shown in told} == {""}
    assert [shown.err for shown in told] == [
        f"sweep {i}: every value is within about 0.12\n" if i in (2, 5, 7) else "" for i in range(8)
    ]


INTERVALS = (
    "@type: MDP\n@model\nstate 0\n\taction a\n\t\t0 : [0.25, 1]\n\t\t1 : [0, 0.75]\nstate 1\n\taction a\n\t\t1 : 1\n"
)


def test_a_folder_holds_a_model_and_no_intervals(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([str(model), "--write-folder", str(tmp_path / LONG)]) == 0
    assert capsys.readouterr().out == f"{model}: {MDP!r}\nWritten to {tmp_path / LONG}\n"
    np.testing.assert_array_equal(FiniteMDP.load(tmp_path / LONG).dense(), MDP.dense())
    (tmp_path / "m.drn").write_text(INTERVALS)
    options = command.Solve(tmp_path / "m.drn", discount=0.5, write_folder=tmp_path / "new")
    with pytest.raises(InputError, match=r"m\.drn is an interval model; a folder holds no intervals"):
        command.run(options)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("tolerance", "code"), [(1e-8, 0), (0.0, command.NOT_CERTIFIED)])
def test_the_first_of_several_processes_speaks_and_writes(
    tolerance: float, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All return what became of the tolerance; the values are those of all states."""
    MDP.save_folder(tmp_path / "model")
    options = command.Solve(tmp_path / "model", tolerance=tolerance, out=tmp_path / "v.npz")
    assert by_threads(2, lambda process: command.run(options, process)) == [code] * 2
    assert capsys.readouterr().out.count("Every value is within") == 1
    with np.load(tmp_path / "v.npz") as found:
        np.testing.assert_allclose(found["v"], VALUES, rtol=0, atol=1e-7)
        assert found["policy"].tolist() == ACTIONS
        assert "q" not in found


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        (lambda folder: command.Solve(folder), False),
        (lambda folder: command.Solve(folder, write_folder=folder.with_name("new")), True),
        (lambda folder: command.Solve(folder / "model.json"), True),
    ],
)
def test_several_processes_take_a_folder_and_write_none(
    change: Callable[[Path], command.Solve], refused: bool, tmp_path: Path
) -> None:
    MDP.save_folder(tmp_path / "model")
    options = change(tmp_path / "model")

    def one(process: ThreadProcess) -> str:
        try:
            return str(command.run_by_many(options, process, lambda _: None))
        except InputError as error:
            return str(error)

    told = f"{options.model} is to be solved by 2 processes, which take a folder; write one by --write-folder DIR"
    assert [(said.startswith(told), said == "0") for said in by_threads(2, one)] == [(refused, not refused)] * 2
    assert not (tmp_path / "new").exists()


class Ranked(OneProcess):
    """A process that is told its place."""

    def __init__(self, rank: int) -> None:
        self.rank = rank


@pytest.mark.parametrize(
    ("size", "kind", "sweeps"), [(0, "folder", False), (1, "folder", True), (0, "file", False), (1, "file", False)]
)
def test_one_process_of_mpirun_solves_a_folder_as_several_do(
    size: int, kind: str, sweeps: bool, model: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    MDP.save_folder(model.with_name("folder"))
    monkeypatch.setattr(command, "launched", lambda: size)
    monkeypatch.setattr(command, "MpiProcesses", None)
    assert command.main([str(model if kind == "file" else model.with_name("folder"))]) == 0
    assert ("(value_iteration, " in capsys.readouterr().out) == sweeps


@pytest.mark.parametrize("rank", [0, 1])
def test_what_all_would_say_the_first_one_says(
    rank: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """But what befalls one process alone, this one says, on one line of the error stream."""
    monkeypatch.setattr(command, "launched", lambda: 2)
    monkeypatch.setattr(command, "MpiProcesses", lambda: Ranked(rank))
    monkeypatch.setenv("COLUMNS", "20")
    assert command.main([str(tmp_path / "none")]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert bool(shown.err) == (rank == 0)
    MDP.save_folder(tmp_path / "model")

    def fails(*_: object) -> int:
        print("said by all")
        raise ZeroDivisionError("[bold]")

    monkeypatch.setattr(command, "run", fails)
    with pytest.raises(ZeroDivisionError):
        command.main([str(tmp_path / "model")])
    shown = capsys.readouterr()
    assert shown.out == ("said by all\n" if rank == 0 else "")
    assert shown.err == f"process {rank + 1} of 1 failed, which ends all of them: ZeroDivisionError: [bold]\n"
