"""Write what the exact operator computes as theorems: `python -m pyresac.formal.vectors`.

Every theorem says that a Lean definition (`rev`, `revNext`, `revLive`, `ensembleBackup`, `revDone`, `tBad`) has, on
one random rational instance, the value that `pyresac.tabular.exact` computed; Lean's kernel decides it. So the
definitions that the theorems speak of and the code that the property tests hold against the solvers are the same
functions. The soft operators are not among them: ℚ has no exponential.
"""

from __future__ import annotations

import random
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Literal

import tyro

from pyresac.command import safe_streams
from pyresac.formal.instances import InstanceSource
from pyresac.tabular.exact import ExactLive, ExactMDP, ExactRev, Table
from pyresac.tabular.exact.mdp import Kernel

SEED = 20
EACH = 6
"""Vectors of every kind."""
WIDTH = 100
IMPORTS = ("RESAC.Foundations.Tables", "RESAC.Contraction.Terminal", "RESAC.Live.EnsembleStd")
"""Where the definitions of the statements are."""
VALUES = ("max", "min", "policy")
At = Literal["pair", "next"]


@dataclass(frozen=True)
class Vector:
    """One theorem: what it is an instance of, in words, and its statement."""

    kind: str
    statement: str


@dataclass(frozen=True)
class VectorsOptions:
    """Where to write."""

    root: Path = Path("lean")
    """Folder of the Lean sources."""


# ---------------------------------------------------------------------------------------------- Lean text


def rows(table: Sequence[Sequence[Fraction]]) -> str:
    """A table as a Lean list of lists."""
    return "[" + ", ".join("[" + ", ".join(str(x) for x in row) + "]" for row in table) + "]"


def tab(table: Sequence[Sequence[Fraction]]) -> str:
    """A table as a function of (s, a)."""
    return f"(table {rows(table)})"


def kernel_list(kernel: Kernel) -> str:
    """A kernel as a Lean list, state by state."""
    return "[" + ", ".join(rows(state) for state in kernel) + "]"


def expectation(mdp: ExactMDP, kernels: Sequence[Kernel] | None) -> str:
    """E: the kernel's, or the worst of a finite set."""
    if kernels is None:
        return f"(kernelE (kernelTable {kernel_list(mdp.transition)}))"
    listed = ", ".join(kernel_list(k) for k in kernels)
    return f"(robustE (kernelSet {len(kernels)} [{listed}]))"


def value_text(value: str | Table) -> str:
    """V: the maximum, the minimum, or a policy's mean."""
    return {"max": "maxV", "min": "(fun _ => fmin)"}[value] if isinstance(value, str) else f"(policyV {tab(value)})"


def operator_text(mdp: ExactMDP, kernels: Sequence[Kernel] | None, value: str | Table) -> str:
    """R γ E V: what every operator begins with."""
    return f"{tab(mdp.reward)} ({mdp.discount})\n{expectation(mdp, kernels)}\n{value_text(value)}"


def pairs(mdp: ExactMDP, left: str, right: str) -> str:
    """left = right at every pair; both are functions of (s, a)."""
    return f"∀ (s : Fin {mdp.n_states}) (a : Fin {mdp.n_actions}), {left} s a =\n{right} s a"


# ---------------------------------------------------------------------------------------------- the kinds


def frozen(draw: InstanceSource, value: str, robust: bool, at: At, fixed: bool) -> str:
    """A backup with a frozen penalty, or its fixed point."""
    mdp = draw.mdp()
    chosen: str | Table = draw.policy(mdp) if value == "policy" else value
    kernels = draw.kernels(mdp) if robust else None
    gamma, lam, kappa = draw.like(mdp), draw.factor(), draw.number(4)
    operator = ExactRev(
        mdp, epistemic=gamma, lambda_epi=lam, kappa=kappa, value=_exact(chosen), kernels=kernels, penalty_at=at
    )
    q = operator.fixed_point() if fixed else draw.like(mdp)
    result = operator(q)
    head = operator_text(mdp, kernels, chosen)
    scaled = f"{lam} * table {rows(gamma)} s a"
    if at == "pair":
        left = f"rev {head} (fun s a => {scaled} + {_signed(kappa)}) {tab(q)}"
    else:
        left = f"revNext {head} (fun s a => {scaled}) ({kappa})\n{tab(q)}"
    return pairs(mdp, left, f"table {rows(result)}")


def live(draw: InstanceSource, kind: Literal["scaled", "norm"], value: str) -> str:
    """A backup whose penalty looks at the Q being updated."""
    mdp, lam = draw.mdp(), draw.factor()
    chosen: str | Table = draw.policy(mdp) if value == "policy" else value
    q = draw.like(mdp)
    result = ExactLive(mdp, kind, lam, value=_exact(chosen)).single(q)
    head = operator_text(mdp, None, chosen)
    if kind == "norm":
        return pairs(mdp, f"revLive {head} (normPen ({lam}))\n{tab(q)}", f"table {rows(result)}")
    left = f"(fun s a => rev {head} (fun _ _ => 0)\n{tab(q)} s a + {lam} * table {rows(q)} s a)"
    return pairs(mdp, left, f"table {rows(result)}")


def ensemble(draw: InstanceSource, kind: Literal["variance", "gap"], target: Literal["head", "mean"]) -> str:
    """A live penalty computed from all heads; per head, or on the mean of the heads."""
    mdp, lam = draw.mdp(), draw.factor()
    heads = tuple(draw.like(mdp) for _ in range(2 if kind == "gap" else 2 + draw.below(2)))
    result = ExactLive(mdp, kind, lam, target=target).heads(heads)
    penalty = f"(gapPen ({lam}))" if kind == "gap" else f"(fun q => {lam} * ensembleVar q)"
    head = operator_text(mdp, None, "max")
    listed = f"(heads {len(heads)} [{', '.join(rows(q) for q in heads)}])"
    if target == "head":
        listing = f"heads {len(heads)} [{', '.join(rows(q) for q in result)}]"
        where = f"∀ (i : Fin {len(heads)}) (s : Fin {mdp.n_states}) (a : Fin {mdp.n_actions}), "
        return f"{where}ensembleBackup {head} {penalty}\n{listed} i s a =\n{listing} i s a"
    seen = f"(fun i => {listed} i s a)"
    left = f"rev {head} (fun s a => {penalty} {seen})\n(fun s a => ensembleMean {seen})"
    return pairs(mdp, left, f"table {rows(result[0])}")


def masked(draw: InstanceSource, fixed: bool) -> str:
    """A backup whose bracket is masked at terminal pairs, or its fixed point."""
    mdp = draw.mdp()
    done = draw.done(mdp)
    gamma, lam, kappa = draw.like(mdp), draw.factor(), draw.number(4)
    operator = ExactRev(mdp, epistemic=gamma, lambda_epi=lam, kappa=kappa, done=done)
    q = operator.fixed_point() if fixed else draw.like(mdp)
    goes_on = tab([[Fraction(int(not d)) for d in row] for row in done])
    head = f"{tab(mdp.reward)} ({mdp.discount})\n{goes_on} {expectation(mdp, None)} maxV"
    left = f"revDone {head} (fun s a => {lam} * table {rows(gamma)} s a + {_signed(kappa)})\n{tab(q)}"
    return pairs(mdp, left, f"table {rows(operator(q))}")


def bad(draw: InstanceSource) -> str:
    """The paper's T_bad on the line."""
    discount, lam, q = draw.discount(), draw.factor(), draw.number()
    mdp = ExactMDP((((Fraction(1),),),), ((Fraction(0),),), discount)
    result = ExactLive(mdp, "scaled", lam).single(((q,),))
    return f"tBad ({discount}) ({lam}) ({q} : Rat) = {_signed(result[0][0])}"


def _exact(value: str | Table) -> Literal["max", "min"] | Table:
    if isinstance(value, str):
        return "max" if value == "max" else "min"
    return value


def _signed(x: Fraction) -> str:
    return f"({x})" if x < 0 else str(x)


# ---------------------------------------------------------------------------------------------- the files


def families() -> Iterator[tuple[str, str, list[tuple[str, Callable[[InstanceSource], str]]]]]:
    """(file, title, kinds): each kind is its name in words and a function that draws a statement."""
    expectations, forms = (False, True), ("pair", "next")
    for fixed, value in product((False, True), VALUES):
        kinds: list[tuple[str, Callable[[InstanceSource], str]]] = []
        for robust, at in product(expectations, forms):
            name = f"{'worst of a finite set' if robust else 'nominal'}, {'Γ(s,a)' if at == 'pair' else PRIMED}"
            kinds.append((name, _bind(frozen, value, robust, at, fixed)))
        what = "Fixed points" if fixed else "Backups"
        yield f"{'Fixed' if fixed else 'Backup'}{value.capitalize()}", f"{what}: {TITLES[value]}", kinds
    kinds = [(f"{LIVE[kind]}, {TITLES[v]}", _bind(live, kind, v)) for kind, v in product(LIVE, VALUES)]
    yield "Live", "Live penalties, one Q-function", kinds
    kinds = [
        (f"{ENSEMBLE[kind]}, {TARGETS[target]}", _bind(ensemble, kind, target))
        for kind, target in product(ENSEMBLE, TARGETS)
    ]
    yield "Ensemble", "Live penalties, an ensemble", kinds
    kinds = [("one backup", _bind(masked, False)), ("fixed point", _bind(masked, True)), ("T_bad", bad)]
    yield "Terminal", "Masked terminal pairs, and T_bad", kinds


PRIMED = "Γ(s',a')"
TITLES = {"max": "the maximum", "min": "the minimum", "policy": "a policy"}
LIVE = {"scaled": "λ·Q added", "norm": "λ·|Q| subtracted"}
ENSEMBLE = {"variance": "λ·variance", "gap": "λ·|q₁ - q₂|"}
TARGETS = {"head": "per head", "mean": "on the mean of the heads"}


def _bind(kind: Callable[..., str], *arguments: object) -> Callable[[InstanceSource], str]:
    return lambda draw: kind(draw, *arguments)


def vectors() -> dict[str, tuple[str, list[Vector]]]:
    """file → (title, vectors). Each kind has its own seeded source: a new kind leaves the others as they are."""
    files = {}
    for file, title, kinds in families():
        found = []
        for name, kind in kinds:
            draw = InstanceSource(random.Random(f"{SEED} {file} {name}"))
            found += [Vector(name, kind(draw)) for _ in range(EACH)]
        files[file] = (title, found)
    return files


def lean_files() -> dict[str, str]:
    """Path below the source folder → text, for every generated file."""
    files = {f"RESAC/Vectors/{file}.lean": _file(title, found) for file, (title, found) in vectors().items()}
    imports = "".join(f"public import {path.removesuffix('.lean').replace('/', '.')}\n" for path in files)
    total = sum(len(found) for _, found in vectors().values())
    files["RESAC/Vectors.lean"] = f"module\n\n{imports}\n{MAIN.format(total=total)}"
    return files


def _file(title: str, found: list[Vector]) -> str:
    imports = "".join(f"public import {name}\n" for name in IMPORTS)
    lines = [f"module\n\n{imports}\npublic section\n\n/-!\n# Vectors. {title}\n\n{NOTE}\n-/\n"]
    lines.append("noncomputable section\n\nnamespace RESAC\n")
    kind = ""
    for vector in found:
        if vector.kind != kind:
            kind = vector.kind
            lines.append(f"/-! ## {kind[0].upper()}{kind[1:]} -/\n")
        lines.append(wrapped(f"example : {vector.statement} := by") + "\n  decide +kernel\n")
    return "\n".join([*lines, "end RESAC\n"])


def wrapped(text: str) -> str:
    """Each line broken at blanks to at most WIDTH characters; all but the first are indented."""
    lines = []
    for number, line in enumerate(text.split("\n")):
        indent = "    " if number else ""
        lines += textwrap.wrap(
            line,
            WIDTH,
            initial_indent=indent,
            subsequent_indent="      ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines)


NOTE = """Generated by `python -m pyresac.formal.vectors`: do not edit. Each right-hand side was computed by
the exact Python operator (`pyresac.tabular.exact`); the kernel decides that the Lean definition
agrees."""
MAIN = """/-!
# The code computes what the theorems speak of

{total} theorems, written by `python -m pyresac.formal.vectors`: on random rational instances the
definitions of this library have the values that the exact Python operator computed.
-/
"""


@safe_streams()
def main(arguments: list[str] | None = None) -> int:
    """Write the files, and remove those of kinds that are no more."""
    root = tyro.cli(VectorsOptions, args=arguments, prog="python -m pyresac.formal.vectors", description=__doc__).root
    files = lean_files()
    for old in (root / "RESAC/Vectors").glob("*.lean"):
        if f"RESAC/Vectors/{old.name}" not in files:
            old.unlink()
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    print(f"{sum(len(found) for _, found in vectors().values())} vectors in {len(files) - 1} files under {root}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
