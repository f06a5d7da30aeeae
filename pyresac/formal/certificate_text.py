"""A certified table as a Lean file: the problem, the check, and what follows for the table."""

from __future__ import annotations

import re
import textwrap
from fractions import Fraction

from pyresac.formal.certificates import LeanCertificate, LeanEntry, exponent
from pyresac.formal.errors import FormalError
from pyresac.formal.interval_rows import Box

WIDTH = 100
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def lean_text(found: LeanCertificate, name: str, title: str) -> str:
    """The Lean file: the problem, the check, and what follows for the table.

    name: the last part of the namespace. title: one line on what was solved.
    """
    if not NAME.fullmatch(name):
        raise FormalError(f"name is {name!r}; it must be a letter followed by letters, digits and _")
    rows = max(len(e.rows) for state in found.states for e in state)
    states = ",\n    ".join("[" + ",\n     ".join(_entry(e) for e in state) + "]" for state in found.states)
    bound = found.bound
    interval = any(e.box for state in found.states for e in state)
    return TEXT.format(
        module="Intervals" if interval else "Checker",
        problem="IntervalProblem" if interval else "Problem",
        operator=SETS if interval else KERNELS,
        boxes=_boxes(found) if interval else "",
        name=name,
        title=textwrap.fill(title, WIDTH),
        n=len(found.states) - 1,
        m=len(found.states[0]) - 1,
        k=rows - 1,
        den=found.den,
        gamma_num=found.gamma.numerator,
        gamma_den=found.gamma.denominator,
        functional=found.functional,
        scale=found.scale,
        states=states,
        low=found.low,
        high=found.high,
        bound=f"{bound.numerator} / {bound.denominator}" if bound.denominator > 1 else str(bound.numerator),
        about=decimal(bound),
    )


def decimal(x: Fraction) -> str:
    """A number of few digits, exactly, in scientific notation."""
    if x == 0:
        return "0"
    e = exponent(x)
    digits = x / Fraction(10) ** e
    return f"{float(digits):g}e{e}"


def _entry(e: LeanEntry) -> str:
    rows = ", ".join(_list_of_pairs(row) for row in e.rows)
    return _wrapped(f"⟨{e.reward}, {e.penalty}, {e.offset}, {e.value}, {e.weight}, [{rows}]⟩")


def _boxes(found: LeanCertificate) -> str:
    rows = (",\n     ".join(_box(e.box) for e in state if e.box) for state in found.states)
    return "\n  boxes := [\n    " + ",\n    ".join(f"[{row}]" for row in rows) + "]"


def _box(box: Box) -> str:
    return _wrapped(f"⟨{box.pivot}, {_list_of_pairs(box.bounds)}⟩")


def _list_of_pairs(pairs: tuple[tuple[int, int], ...]) -> str:
    return "[" + ", ".join(f"({x}, {y})" for x, y in pairs) + "]"


def _wrapped(text: str) -> str:
    return ("\n      ").join(textwrap.wrap(text, WIDTH - 6, break_long_words=False, break_on_hyphens=False))


KERNELS = "The operator and the table: numerators over `den`, each row as (next state, weight)."
SETS = """\
The operator and the table: numerators over `den`; for each pair the worst member of its set as
(next state, weight), the state whose value is the threshold, and (lower, upper) over the row's sum."""


TEXT = """\
module

public import RESAC.Certificate.{module}

public section

/-!
# A certified table: {name}

{title}

Written by `python -m pyresac.formal.certify`: do not edit. The table was computed in float64 by a
solver that nobody need trust; the kernel decides that it is within {about} of the fixed point.
-/

noncomputable section

namespace RESAC.Certificates.{name}

set_option maxRecDepth 100000

/-- {operator} -/
@[expose] def problem : {problem} where
  n := {n}
  m := {m}
  k := {k}
  den := {den}
  gammaNum := {gamma_num}
  gammaDen := {gamma_den}
  functional := .{functional}
  scale := {scale}
  states := [
    {states}]
  lo := {low}
  hi := {high}{boxes}

/-- The kernel runs the checker. -/
theorem checked : problem.check = true := by decide +kernel

/-- **The fixed point exists, is unique, and is within {about} of the table, in the sup-norm.** -/
theorem certified : ∃ Qs, problem.backup Qs = Qs ∧ (∀ Q', problem.backup Q' = Q' → Q' = Qs) ∧
    supNorm (fun s a => problem.table s a - Qs s a) ≤ {bound} :=
  {problem}.sound_supNorm checked (by decide +kernel)

end RESAC.Certificates.{name}
"""
