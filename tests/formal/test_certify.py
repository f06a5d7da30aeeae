"""The certify command: what it writes, what it refuses, and what the kernel makes of it."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from pyresac.formal.certificate_text import decimal, lean_text
from pyresac.formal.certificates import certificate, rounded_up
from pyresac.formal.certified_examples import EXAMPLES, FOLDER, example_text
from pyresac.formal.certify import main
from pyresac.formal.errors import FormalError
from pyresac.formal.install import Checker
from pyresac.tabular import (
    FiniteMDP,
    IntervalSet,
    L1Ball,
    LiveOperator,
    NormPenalty,
    PolicyMean,
    RevOperator,
    Soft,
    solve,
)
from pyresac.tabular.families import chain
from tests.formal.test_vectors import checked

ROOT = Path(__file__).parents[2] / "lean"
LAKE = ["FrozenLake-v1", "--discount", "0.9", "--write-only"]


INTERVALS = """@type: MDP
@reward_models
r
@nr_states
2
@nr_choices
2
@model
state 0 [1] init
\taction go [0]
\t\t0 : [0.25, 0.5]
\t\t1 : [0.5, 0.75]
state 1 [0]
\taction stay [0]
\t\t1 : [1, 1]
"""
"""An interval model of two states, in Storm's format."""


@pytest.fixture
def model() -> RevOperator:
    """A chain of three states."""
    return RevOperator(chain(3, 0.5))


def test_the_command_writes_a_file_for_an_environment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "Lake.lean"
    assert main([*LAKE, "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "namespace RESAC.Certificates.Lake" in text
    assert "by decide +kernel" in text
    assert re.search(r"‖Q − Q\*‖∞ ≤ \S+e-1\d, for 64 pairs", capsys.readouterr().out)


def test_a_table_that_is_not_near_enough_is_told_by_how_much(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: RevOperator
) -> None:
    """Q + 0.01 is 0.01 off: the residual −0.005 over 1 − γ = ½. No file is written."""
    model.mdp.save(tmp_path / "chain.npz")
    np.save(tmp_path / "q.npy", solve(model, tolerance=1e-14).q + 0.01)
    arguments = [str(tmp_path / "chain.npz"), "--table", str(tmp_path / "q.npy"), "--out", str(tmp_path / "Off.lean")]
    assert main([*arguments, "--write-only"]) == 1
    said = capsys.readouterr().err
    assert "certified within 1.01e-2 of the fixed point, not within 1e-09" in said
    assert "its residual reaches 5.01e-3" in said
    assert not (tmp_path / "Off.lean").exists()
    assert main([*arguments, "--write-only", "--tolerance", "0.02"]) == 0


def test_the_values_of_a_policy_are_written_with_its_weights(tmp_path: Path, model: RevOperator) -> None:
    model.mdp.save(tmp_path / "chain.npz")
    np.save(tmp_path / "policy.npy", np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]))
    out = tmp_path / "Policy.lean"
    arguments = [str(tmp_path / "chain.npz"), "--policy", str(tmp_path / "policy.npy"), "--out", str(out)]
    assert main([*arguments, "--write-only"]) == 0
    text = out.read_text(encoding="utf-8")
    assert "functional := .mean" in text
    assert "scale := 4" in text


def test_intervals_of_a_radius_and_of_a_drn_file_are_written_with_their_bounds(tmp_path: Path) -> None:
    """A pivot and the bounds of every pair; the same intervals from a file of Storm's."""
    out = tmp_path / "Ball.lean"
    assert main([*LAKE, "--radius", "0.05", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "public import RESAC.Certificate.Intervals" in text
    assert "def problem : IntervalProblem where" in text
    assert len(re.findall(r"⟨\d+, \[\(", text)) == 64
    drn = tmp_path / "model.drn"
    drn.write_text(INTERVALS, encoding="utf-8")
    arguments = [str(drn), "--discount", "0.5", "--write-only", "--out", str(out)]
    assert main(arguments) == 0
    assert "⟨1, [(1, 2), (2, 3)]⟩" in out.read_text(encoding="utf-8")
    assert main([*arguments, "--radius", "0.1"]) == 2


def test_a_policy_that_takes_an_unavailable_action_is_refused() -> None:
    rows, rewards = [[[1.0, 0], [0, 1.0]], [[0.5, 0.5], [0, 0]]], [[1.0, 0], [2.0, 0]]
    mdp = FiniteMDP.from_arrays(rows, rewards, 0.5, available=[[True, True], [True, False]])
    operator = RevOperator(mdp, value=PolicyMean([[0.5, 0.5], [0.5, 0.5]]))
    with pytest.raises(FormalError, match="the policy takes the unavailable action a=1 at s=1"):
        certificate(operator, np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["FrozenLake-v1"], "for an environment's id give --discount"),
        ([*LAKE, "--tolerance", "0"], "--tolerance is 0; it must be above 0"),
        ([*LAKE, "--tolerance", "nan"], "--tolerance is nan; it must be above 0"),
        ([*LAKE, "--out", "1bad.lean"], "name is '1bad'; it must be a letter"),
        (["missing.npz"], "missing.npz is not a file"),
        ([*LAKE, "--radius", "1.5"], "radius is 1.5; it must be in [0, 1]"),
        ([*LAKE, "--radius", "0.1", "--kernels", "other.npz"], "two robust sets; give one of them"),
    ],
)
def test_bad_options_get_a_sentence(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_rows_that_do_not_sum_to_one_and_tables_with_nan_get_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: RevOperator
) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("idstatefrom,idaction,idstateto,probability,reward\n0,0,0,0.9,1\n")
    assert main([str(wrong), "--discount", "0.5"]) == 2
    assert "sum" in capsys.readouterr().err
    model.mdp.save(tmp_path / "chain.npz")
    q = np.zeros((3, 2))
    q[1, 1] = np.nan
    np.save(tmp_path / "q.npy", q)
    assert main([str(tmp_path / "chain.npz"), "--table", str(tmp_path / "q.npy")]) == 2
    assert "the table holds nan at (s=1, a=1)" in capsys.readouterr().err


def test_operators_without_a_finite_rational_form_are_refused_by_name(model: RevOperator) -> None:
    q = np.zeros((3, 2))
    with pytest.raises(
        FormalError, match=r"LiveOperator; a certificate is for a RevOperator, whose penalties are froz"
    ):
        certificate(LiveOperator(model.mdp, NormPenalty(0.1)), q)  # type: ignore[arg-type]
    with pytest.raises(FormalError, match="the value functional is Soft; Lean checks Max, Min and PolicyMean"):
        certificate(RevOperator(model.mdp, value=Soft(1.0)), q)
    with pytest.raises(
        FormalError, match="the expectation is L1Ball; Lean checks Nominal, WorstOfKernels and IntervalS"
    ):
        certificate(RevOperator(model.mdp, expectation=L1Ball(0.1)), q)
    with pytest.raises(FormalError, match="the interval set is optimistic; Lean checks the worst case over it"):
        certificate(RevOperator(model.mdp, expectation=IntervalSet.around(model.mdp, 0.1, optimistic=True)), q)
    with pytest.raises(FormalError, match=r"the table has shape \(2, 3\); the MDP asks for \(3, 2\)"):
        certificate(model, q.T)
    masked = FiniteMDP.from_gymnasium("FrozenLake-v1", 0.9, done_masked=True)
    with pytest.raises(FormalError, match="done-masked reading"):
        certificate(RevOperator(masked), np.zeros(masked.reward.shape))


@pytest.mark.parametrize(
    ("x", "rounded", "text"),
    [(Fraction(1, 3), Fraction(334, 1000), "3.34e-1"), (Fraction(1000), Fraction(1000), "1e3"), (Fraction(0), 0, "0")],
)
def test_bounds_in_decimal(x: Fraction, rounded: Fraction, text: str) -> None:
    assert rounded_up(x) == rounded
    assert decimal(rounded_up(x)) == text


def shipped(name: str) -> tuple[str, np.ndarray]:
    """A shipped file and the table in it."""
    text = (ROOT / FOLDER / f"{name}.lean").read_text(encoding="utf-8")
    flat = " ".join(text.split())
    den = int(re.search(r"den := (\d+)", flat)[1])  # type: ignore[index]
    values = [int(x) for x in re.findall(r"⟨-?\d+, -?\d+, -?\d+, (-?\d+),", flat)]
    operator, _ = EXAMPLES[name]()
    return text, np.array([x / den for x in values]).reshape(operator.mdp.reward.shape)


@pytest.mark.parametrize(
    "name",
    ["FrozenLake", "RobustChain", "IntervalChain", "PolicyChain", pytest.param("Corridor", marks=pytest.mark.slow)],
)
def test_a_shipped_certificate_is_what_python_writes_for_its_table(name: str) -> None:
    text, q = shipped(name)
    assert example_text(name, q) == text, "run python -m pyresac.formal.certified_examples"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_kernel_refuses_a_residual_that_is_out_of_range(
    checker: Checker, tmp_path: Path, model: RevOperator
) -> None:
    """The right bound is accepted; one below the residual by the last digit is refused."""
    found = certificate(model, np.zeros((3, 2)))
    right = lean_text(found, "Right", "All zeros.")
    assert checked(checker, tmp_path, "Right", right, needs="RESAC.Certificate.Checker") == ("checked", [])
    wrong = right.replace(f"hi := {found.high}\n", f"hi := {found.high - 2**21}\n").replace(".Right", ".Wrong")
    assert wrong != right
    state, _ = checked(checker, tmp_path, "Wrong", wrong, needs="RESAC.Certificate.Checker")
    assert state == "failed"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_kernel_refuses_a_row_that_is_not_the_worst_of_its_set(checker: Checker, tmp_path: Path) -> None:
    """A lower end less by one: the row, though a member of the wider set, is above it where the value is high."""
    right, _ = shipped("IntervalChain")
    wrong = right.replace("(6755399441055744, 7656119366529844)]⟩", "(6755399441055743, 7656119366529844)]⟩", 1)
    assert wrong != right
    state, _ = checked(checker, tmp_path, "Wrong", wrong, needs="RESAC.Certificate.Intervals")
    assert state == "failed"
