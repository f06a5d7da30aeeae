"""Have Lean's kernel check a solved table: `python -m pyresac.formal.certify MODEL`.

MODEL is an MDP file (see `FiniteMDP.load`; a .drn file may hold intervals) or the id of a Gymnasium toy-text
environment. The table is solved here in float64, or read with --table from a .npy file, whoever computed it. Its
residual is computed in exact rationals; a Lean file with the problem and the theorem ‖Q − Q*‖∞ ≤ bound is written;
and the kernel checks it (`RESAC.Problem.sound`, `RESAC.IntervalProblem.sound`, C47). Ends with status 1 where the
table is not within the tolerance, or the kernel refuses the file, and with status 2 where there is nothing to check:
an unusable file, a NaN, rows that do not sum to 1.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro

from pyresac.atomic import write_atomically
from pyresac.command import safe_streams
from pyresac.errors import InputError
from pyresac.formal.build import Builder, Result
from pyresac.formal.certificate_text import decimal, lean_text
from pyresac.formal.certificates import LeanCertificate, certificate, rounded_up
from pyresac.formal.check import built_folder, report
from pyresac.formal.errors import FormalError
from pyresac.formal.home import cache_folder
from pyresac.formal.install import install, lock
from pyresac.formal.sources import closure, read_module, read_tree
from pyresac.tabular import FiniteMDP, IntervalSet, Max, Min, Nominal, PolicyMean, RevOperator, WorstOfKernels, solve
from pyresac.tabular.checks import Floats
from pyresac.tabular.expectations import ExpectationFunctional
from pyresac.tabular.readers.drn import IntervalModelError
from pyresac.tabular.values import ValueFunctional

PROGRAM = "python -m pyresac.formal.certify"
CHECKER = "RESAC.Certificate.Intervals"
"""The module that imports every checker."""
FILES = (".npz", ".csv", ".mdp", ".tra", ".drn")


@dataclass(frozen=True)
class CertifyOptions:
    """What to certify."""

    model: Annotated[str, tyro.conf.Positional]
    """An MDP file (.npz, .csv, .mdp, .tra, .drn) or the id of a toy-text environment."""
    discount: float | None = None
    """The discount, in [0, 1); .npz and .mdp files bring their own."""
    table: Path | None = None
    """A .npy file with the table (S, A) to certify (default: solve it here)."""
    kernels: tuple[Path, ...] = ()
    """Further MDP files: with the model's own kernel theirs form a robust set."""
    radius: float | None = None
    """Every positive probability may be off by this, in [0, 1]: an interval set. A .drn file brings its own."""
    value: Literal["max", "min"] = "max"
    """The value functional over actions."""
    policy: Path | None = None
    """A .npy file with a policy (S, A), whose mean takes the place of --value: the table is the policy's own."""
    kappa: float = 0.0
    """The frozen penalty κ."""
    tolerance: float = 1e-9
    """What ‖Q − Q*‖∞ must be at most, above 0."""
    out: Path = Path("Certificate.lean")
    """The Lean file to write; its name, a letter followed by letters, digits and _, names the theorem."""
    write_only: bool = False
    """Write the file, and leave the check to `pyresac.formal.check` or `lake build`."""
    root: Path = Path("lean")
    """Folder of the library's Lean sources."""
    cache: Path | None = None
    """Folder of the checker (see `pyresac.formal.check`)."""
    timeout: float = 900.0
    """Seconds that the check of the file may take."""


@safe_streams()
def main(arguments: list[str] | None = None) -> int:
    """The command: 0 where the kernel accepts the bound, 1 where the table or the file fails, 2 on bad input."""
    try:
        options = tyro.cli(CertifyOptions, args=arguments, prog=PROGRAM, description=__doc__)
        operator, q, how = solved(options)
        found = certificate(operator, q)
        title = f"`{Path(options.model).name}`, discount {operator.mdp.discount!r}: {how}."
        text = lean_text(found, options.out.stem, title)
        if failure := shortfall(found, options.tolerance):
            print(f"{PROGRAM}: {failure}", file=sys.stderr)
            return 1
        write_atomically(options.out, text.encode())
        print(f"{options.out}: ‖Q − Q*‖∞ ≤ {decimal(found.bound)}, for {q.size} pairs")
        return 0 if options.write_only else check_file(options)
    except (FormalError, InputError, OSError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2


def solved(options: CertifyOptions) -> tuple[RevOperator, Floats, str]:
    """The operator, its table, and in words where the table is from."""
    if not options.tolerance > 0:
        raise FormalError(f"--tolerance is {options.tolerance:g}; it must be above 0")
    mdp, expectation = _model(options)
    value: ValueFunctional = Max() if options.value == "max" else Min()
    if options.policy is not None and options.value != "max":
        raise FormalError(f"--policy and --value {options.value} are two value functionals; give one of them")
    if options.policy is not None:
        value = PolicyMean(_numbers("--policy", options.policy))
    operator = RevOperator(mdp, kappa=options.kappa, value=value, expectation=expectation)
    if options.table is not None:
        return operator, _numbers("--table", options.table), f"table from {options.table.name}"
    solution = solve(operator, tolerance=options.tolerance / 10)
    return operator, solution.q, f"solved by {solution.method.replace('_', ' ')}"


def _model(options: CertifyOptions) -> tuple[FiniteMDP, ExpectationFunctional]:
    """The model and what stands for its expectation: its kernel, the worst of several, or of an interval set."""
    given, discount = Path(options.model), options.discount
    try:
        mdp = FiniteMDP.load(given, discount) if given.suffix in FILES else _environment(options.model, discount)
    except IntervalModelError:
        if options.kernels or options.radius is not None:
            raise FormalError(
                f"{given.name} holds its own intervals; give neither --kernels nor --radius with it"
            ) from None
        assert discount is not None  # or the file would not have been read
        return IntervalSet.load(given, discount)
    if options.kernels and options.radius is not None:
        raise FormalError("--kernels and --radius are two robust sets; give one of them")
    if options.radius is not None:
        return mdp, IntervalSet.around(mdp, options.radius)
    others = [FiniteMDP.load(path, mdp.discount).transition for path in options.kernels]
    return mdp, WorstOfKernels([mdp.transition, *others]) if others else Nominal()


def _environment(name: str, discount: float | None) -> FiniteMDP:
    if discount is None:
        raise FormalError(
            f"{name} is no file ending in {', '.join(FILES)}; for an environment's id give --discount, in [0, 1)"
        )
    return FiniteMDP.from_gymnasium(name, discount)


def _numbers(option: str, path: Path) -> Floats:
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FormalError(f"{option} {path} is no readable .npy file: {error}") from error
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiu":
        raise FormalError(f"{option} {path} holds no array of numbers; it must be a .npy file of shape (S, A)")
    return np.asarray(found, dtype=np.float64)


def shortfall(found: LeanCertificate, tolerance: float) -> str:
    """By how much the table fails the tolerance; empty where it does not."""
    asked = Fraction(tolerance)
    if found.exact_bound <= asked:
        return ""
    spread = decimal(rounded_up(Fraction(max(-found.low, found.high), found.den)))
    return (
        f"the table is certified within {decimal(found.bound)} of the fixed point, not within {tolerance:g}: "
        f"its residual reaches {spread}, which 1/(1 − γ) = {float(1 / (1 - found.gamma)):.4g} magnifies; "
        "solve to a smaller tolerance, or ask for --tolerance "
        f"{float(found.bound):g}"
    )


def check_file(options: CertifyOptions) -> int:
    """Have the kernel check the file that was written, over the library's own."""
    root = options.root.resolve()
    library = read_tree(root)
    if CHECKER not in library:
        raise FormalError(f"{options.root} holds no {CHECKER}; --root names the library's Lean sources")
    home = cache_folder(options.cache)
    checker = install(home, print)
    file = options.out.resolve()
    name = ".".join(file.relative_to(root).with_suffix("").parts) if file.is_relative_to(root) else file.stem
    module = read_module(name, file)
    modules = {m: library[m] for m in [CHECKER, *closure(library, CHECKER)]} | {name: module}
    built = built_folder(home, root)
    built.mkdir(parents=True, exist_ok=True)
    results: list[Result] = []
    with lock(built / "lock"):
        for result in Builder(checker, built, modules, options.timeout).run(jobs=2):
            results.append(result)
            print(report(result), flush=True)
    good = all(r.state in ("checked", "cached") for r in results)
    print("The kernel accepts the bound." if good else "The kernel did not accept the file.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
