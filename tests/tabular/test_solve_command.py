"""`python -m pyresac.solve`: what it prints, writes, returns and refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyresac import solve as command
from pyresac.tabular import L1Ball, RevOperator, Soft, families, solve


def call(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr("sys.argv", ["solve", *map(str, arguments)])
    return command.main()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "chain.csv"
    families.chain(5, 0.9).save(path)
    return path


def test_a_robust_solve_is_printed_and_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path
) -> None:
    out = tmp_path / f"{'long' * 55}[bold].npz"
    assert call(monkeypatch, model, "--discount", 0.9, "--set", "l1:0.2", "--tolerance", 1e-9, "-o", out) == 0
    expected = solve(RevOperator(families.chain(5, 0.9), expectation=L1Ball(0.2)), tolerance=1e-9)
    with np.load(out) as written:
        assert np.abs(written["v"] - expected.v).max() <= 1e-8
        assert written["policy"].tolist() == expected.policy.tolist()
        assert written["error_bound"] <= 1e-9
    said = capsys.readouterr().out
    assert "rounding included" in said
    assert "The tolerance is met" in said
    assert f"Written to {out}" in said.splitlines(), "one line, brackets and all"


def test_a_folder_s_name_is_printed_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    read, written = tmp_path / "[bold]chain.npz", tmp_path / f"{'long' * 55}[bold]"
    families.chain(5, 0.9).save(read)
    assert call(monkeypatch, read, "--write-folder", written) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{read}: FiniteMDP(")
    assert last == f"Written to {written}"


def test_policies_go_to_csv_and_the_value_may_be_soft(
    monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    assert call(monkeypatch, model, "--discount", 0.9, "--value", "soft:0.5", "-o", out, "--show", 0) == 0
    lines = out.read_text().splitlines()
    assert lines[0] == "idstate,value,idaction"
    v = solve(RevOperator(families.chain(5, 0.9), value=Soft(0.5))).v
    assert [float(line.split(",")[1]) for line in lines[1:]] == pytest.approx(v.tolist(), abs=1e-7)


def test_a_tolerance_out_of_reach_is_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    assert call(monkeypatch, model, "--discount", 0.9, "--tolerance", 0) == command.NOT_CERTIFIED
    assert "The tolerance is not met" in capsys.readouterr().out


@pytest.mark.parametrize("name", command.SETS)
def test_every_set_has_a_worst_and_a_best_case(
    monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path, name: str
) -> None:
    values = []
    for flags in ((), ("--optimistic",)):
        out = tmp_path / "v.npz"
        assert call(monkeypatch, model, "--discount", 0.9, "--set", f"{name}:0.3", *flags, "-o", out) == 0
        values.append(np.load(out)["v"])
    assert (values[0] <= values[1]).all()
    assert values[0].max() < values[1].max()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "a CSV holds no discount"),
        (("--discount", 0.9, "--set", "l3:0.1"), "set is 'l3:0.1'; known names are l1, tv"),
        (("--discount", 0.9, "--set", "l1"), "it must be NAME:NUMBER, such as l1:0.1"),
        (("--discount", 0.9, "--set", "l1:7"), "radius is 7.0; it must be in [0, 2]"),
        (("--discount", 0.9, "--value", "maximum"), "value is 'maximum'"),
        (("--discount", 0.9, "--value", "max:1"), "max takes no number"),
        (("--discount", 0.9, "--optimistic"), "without --set"),
        (("--discount", 0.9, "-o", "out.txt"), "known endings are .csv and .npz"),
        (("--discount", 0.9, "--show", -1), "show is -1"),
    ],
)
def test_bad_options_are_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    model: Path,
    arguments: tuple[object, ...],
    message: str,
) -> None:
    assert call(monkeypatch, model, *arguments) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")
