"""`python -m pyresac.solve FILE --discount 0.99 --set l1:0.1`: solve a finite MDP, with a guarantee.

Reads what `FiniteMDP.load` reads. Prints the values and actions of the first states and the certificate in words;
writes all of them to a CSV or NPZ file. Exit codes: 0 the tolerance is met; 3 it is not (the bound that was reached is
printed and written all the same); 2 bad input; 1 the disk refused; 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro
from rich.table import Table

from pyresac.atomic import atomic_writer
from pyresac.command import checked, exit_code, wide_console
from pyresac.errors import InputError
from pyresac.tabular import (
    Chi2Ball,
    Contamination,
    CVaR,
    EntropicRisk,
    ExpectationFunctional,
    FiniteMDP,
    IntervalSet,
    KLBall,
    L1Ball,
    LikelihoodBall,
    LInfinityBall,
    Max,
    Mellowmax,
    Min,
    RevOperator,
    Soft,
    Solution,
    TotalVariation,
    ValueFunctional,
    solve,
)
from pyresac.tabular.readers.drn import IntervalModelError

PROGRAM = "python -m pyresac.solve"
NOT_CERTIFIED = 3
SETS: dict[str, Callable[[FiniteMDP, float, bool], ExpectationFunctional]] = {
    "l1": lambda _, radius, best: L1Ball(radius, optimistic=best),
    "tv": lambda _, radius, best: TotalVariation(radius, optimistic=best),
    "linf": lambda _, radius, best: LInfinityBall(radius, optimistic=best),
    "interval": lambda mdp, radius, best: IntervalSet.around(mdp, radius, optimistic=best),
    "kl": lambda _, radius, best: KLBall(radius, optimistic=best),
    "likelihood": lambda _, radius, best: LikelihoodBall(radius, optimistic=best),
    "chi2": lambda _, radius, best: Chi2Ball(radius, optimistic=best),
    "cvar": lambda _, alpha, best: CVaR(alpha, optimistic=best),
    "contamination": lambda _, share, best: Contamination(share, optimistic=best),
    "entropic": lambda _, beta, best: EntropicRisk(beta, optimistic=best),
}
VALUES: dict[str, Callable[[float], ValueFunctional]] = {"soft": Soft, "mellowmax": Mellowmax}


@dataclass(frozen=True)
class Solve:
    """Solve a finite MDP from a file: nominal or robust, with a guaranteed error bound."""

    model: tyro.conf.Positional[Path]
    """The model: .npz (of FiniteMDP.save), .csv (idstatefrom,idaction,idstateto,probability,reward), PRISM's .tra with
    the .lab, .srew and .trew beside it, Storm's .drn (interval models too) or Cassandra's .mdp."""
    discount: float | None = None
    """γ in [0, 1); only .npz and .mdp hold one, which is the default."""
    set: str | None = None
    """NAME:NUMBER, the uncertainty set and its size: l1, tv, linf, interval, kl, likelihood, chi2 (radius), cvar
    (share), contamination (share), entropic (β). By default none: the nominal model."""
    optimistic: bool = False
    """The best case over the set instead of the worst."""
    value: str = "max"
    """max, min, soft:TEMPERATURE or mellowmax:OMEGA."""
    tolerance: float = 1e-8
    """What the values may be off by, in the reward's unit; 0 asks for all that float64 can certify."""
    method: Literal[
        "auto", "value_iteration", "gauss_seidel", "modified_policy_iteration", "policy_iteration", "anderson"
    ] = "auto"
    """How to solve; auto picks by size and structure."""
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """Where to write: .csv (state, value, action) or .npz (q, v, policy, error_bound)."""
    show: int = 10
    """States to print."""


def named(text: str, what: str, known: list[str]) -> tuple[str, float]:
    """NAME:NUMBER taken apart. Raises InputError."""
    name, colon, number = text.partition(":")
    if name not in known:
        raise InputError(f"{what} is {text!r}; known names are {', '.join(known)}")
    try:
        size = float(number)
    except ValueError:
        size = np.nan
    if not colon or not np.isfinite(size):
        raise InputError(f"{what} is {text!r}; it must be NAME:NUMBER, such as {name}:0.1")
    return name, size


def model_of(options: Solve) -> tuple[FiniteMDP, IntervalSet | None]:
    """The model of the file, and the set of an interval model. Raises InputError."""
    path = options.model
    try:
        return FiniteMDP.load(path, options.discount), None
    except IntervalModelError:
        if options.set is not None:
            raise InputError(
                f"{path} is an interval model, which has its set; --set {options.set} cannot be another"
            ) from None
        assert options.discount is not None  # the file was read with it
        return IntervalSet.load(path, options.discount, optimistic=options.optimistic)


def operator_of(options: Solve, mdp: FiniteMDP, intervals: IntervalSet | None = None) -> RevOperator:
    """The backup that the options ask for. Raises InputError."""
    value: ValueFunctional
    if options.value in ("max", "min"):
        value = Max() if options.value == "max" else Min()
    else:
        name, size = named(options.value, "value", ["max", "min", *VALUES])
        if name not in VALUES:
            raise InputError(f"value is {options.value!r}; {name} takes no number")
        value = VALUES[name](size)
    expectation: ExpectationFunctional | None = intervals
    if options.set is not None:
        name, size = named(options.set, "set", list(SETS))
        expectation = SETS[name](mdp, size, options.optimistic)
    elif options.optimistic and intervals is None:
        raise InputError("--optimistic is given without --set; name the set whose best case is meant")
    return RevOperator(mdp, value=value, expectation=expectation)


def certificate(solution: Solution) -> str:
    """The guarantee in words."""
    bound = np.format_float_scientific(solution.error_bound, precision=2)
    met = "The tolerance is met." if solution.converged else f"The tolerance is not met: {solution.message}."
    return (
        f"Every value is within {bound} of the true fixed point of this model as stored, rounding included "
        f"({solution.method}, {solution.iterations} certified sweeps, {solution.seconds:.3g} s). {met}"
    )


def write(solution: Solution, path: Path) -> None:
    """The table to `path`."""
    with atomic_writer(path) as file:
        if path.suffix == ".npz":
            np.savez_compressed(
                file, q=solution.q, v=solution.v, policy=solution.policy, error_bound=np.array(solution.error_bound)
            )
            return
        file.write(b"idstate,value,idaction\n")
        for s, (v, a) in enumerate(zip(solution.v.tolist(), solution.policy.tolist(), strict=True)):
            file.write(f"{s},{v!r},{a}\n".encode())


def run(options: Solve) -> int:
    """Read, solve, print, write."""
    if options.out is not None and options.out.suffix not in (".csv", ".npz"):
        raise InputError(f"out is {options.out}; known endings are .csv and .npz")
    if options.out is not None and not options.out.parent.is_dir():
        raise InputError(f"{options.out.parent} is not a folder; make it before writing {options.out.name} into it")
    if options.show < 0:
        raise InputError(f"show is {options.show}; it must be at least 0")
    operator = operator_of(options, *model_of(options))
    mdp = operator.mdp
    console = wide_console()
    console.print(f"{options.model}: {mdp!r}")
    solution = solve(operator, tolerance=options.tolerance, method=options.method)
    if options.out is not None:
        write(solution, options.out)
    table = Table("state", "value", "action")
    for s in range(min(options.show, mdp.n_states)):
        table.add_row(str(s), f"{solution.v[s]:.10g}", str(solution.policy[s]))
    if options.show:
        console.print(table)
    if mdp.initial is not None:
        console.print(f"Value at the start: {float(mdp.initial @ solution.v):.10g}")
    console.print(certificate(solution), soft_wrap=True)
    if options.out is not None:
        console.print(f"Written to {options.out}")
    return 0 if solution.converged else NOT_CERTIFIED


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return exit_code(lambda: run(tyro.cli(Solve, args=checked(arguments), prog=PROGRAM, description=__doc__)))


if __name__ == "__main__":
    sys.exit(main())
