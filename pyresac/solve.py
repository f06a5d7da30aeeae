"""`python -m pyresac.solve FILE --discount 0.99 --set l1:0.1`: solve a finite MDP, with a guarantee.

Reads what `FiniteMDP.load` reads. Prints the values and actions of the first states and the certificate in words;
writes all of them to a CSV or NPZ file. Exit codes: 0 the tolerance is met; 3 it is not (the bound that was reached is
printed and written all the same); 2 bad input; 1 the disk refused; 130 interrupted.

Models that one process does not hold: `--write-folder DIR` writes a folder of arrays, and `mpirun -n N python -m
pyresac.solve DIR` (extra mpi) solves it by N processes, each with its own rows: the same bits for every N.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import tyro
from rich.table import Table

from pyresac.atomic import atomic_writer, require_output
from pyresac.command import checked, console, exit_code, wide_console
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
    RenyiBall,
    RevOperator,
    Soft,
    Solution,
    TotalVariation,
    ValueFunctional,
    solve,
)
from pyresac.tabular.readers.drn import IntervalModelError
from pyresac.tabular.shares import MpiProcesses, OneProcess, Processes, Share, agreed, launched, together

PROGRAM = "python -m pyresac.solve"
NOT_CERTIFIED = 3
QUIET_SECONDS = 5.0
"""How long a solve may last before its progress is told, and again after that."""
Result = TypeVar("Result")
SETS: dict[str, Callable[[FiniteMDP, float, bool], ExpectationFunctional]] = {
    "l1": lambda _, radius, best: L1Ball(radius, optimistic=best),
    "tv": lambda _, radius, best: TotalVariation(radius, optimistic=best),
    "linf": lambda _, radius, best: LInfinityBall(radius, optimistic=best),
    "interval": lambda mdp, radius, best: IntervalSet.around(mdp, radius, optimistic=best),
    "kl": lambda _, radius, best: KLBall(radius, optimistic=best),
    "likelihood": lambda _, radius, best: LikelihoodBall(radius, optimistic=best),
    "chi2": lambda _, radius, best: Chi2Ball(radius, optimistic=best),
    "renyi": lambda _, radius, best: RenyiBall(radius, optimistic=best),
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
    the .lab, .srew and .trew beside it, Storm's .drn (interval models too), .umb (extra umb), Cassandra's .mdp, or a
    folder that --write-folder wrote, which is all that several processes take."""
    discount: float | None = None
    """γ in [0, 1); only .npz, .mdp and folders hold one, which is the default."""
    set: str | None = None
    """NAME:NUMBER, the uncertainty set and its size: l1, tv, linf, interval, kl, likelihood, chi2, renyi (radius; renyi
    of order 2), cvar (share), contamination (share), entropic (β). By default none: the nominal model."""
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
    """Where to write: .csv (state, value, action) or .npz (v, policy, error_bound, and q unless several processes
    solve)."""
    show: int = 10
    """States to print."""
    write_folder: Path | None = None
    """Write the model into this new folder, and do nothing else."""


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


def model_of(options: Solve, processes: Processes | None) -> tuple[FiniteMDP, IntervalSet | None]:
    """The model of the file, or this process's share of the folder, and the set of an interval model."""
    path = options.model
    if processes is not None:
        return Share.load(path, processes, options.discount), None
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
            table: dict[str, Any] = {"q": solution.q} if len(solution.q) == len(solution.v) else {}
            table |= {"v": solution.v, "policy": solution.policy, "error_bound": np.array(solution.error_bound)}
            np.savez_compressed(file, allow_pickle=False, **table)
            return
        file.write(b"idstate,value,idaction\n")
        for s, (v, a) in enumerate(zip(solution.v.tolist(), solution.policy.tolist(), strict=True)):
            file.write(f"{s},{v!r},{a}\n".encode())


def check(options: Solve) -> None:
    """InputError unless the options make sense by themselves."""
    if options.out is not None and options.out.suffix not in (".csv", ".npz"):
        raise InputError(f"out is {options.out}; known endings are .csv and .npz")
    if options.out is not None:
        require_output(options.out, options.model)
    if options.show < 0:
        raise InputError(f"show is {options.show}; it must be at least 0")


def follower() -> Callable[[int, float], None]:
    """Tells of a long solve how far it is, on the error stream."""
    last, out = time.monotonic(), console(stderr=True)

    def follow(iteration: int, bound: float) -> None:
        nonlocal last
        if time.monotonic() - last >= QUIET_SECONDS:
            last = time.monotonic()
            out.print(f"sweep {iteration}: every value is within about {bound:.2g}", soft_wrap=True)

    return follow


def save_model(options: Solve, path: Path) -> int:
    """Write the model into a folder."""
    mdp, intervals = model_of(options, None)
    if intervals is not None:
        raise InputError(f"{options.model} is an interval model; a folder holds no intervals")
    mdp.save_folder(path)
    wide_console().print(f"{options.model}: {mdp!r}\nWritten to {path}", soft_wrap=True, markup=False)
    return 0


def run(options: Solve, processes: Processes | None = None) -> int:
    """Read, solve, print, write."""
    common(processes, lambda: check(options))
    if options.write_folder is not None:
        return save_model(options, options.write_folder)
    model = model_of(options, processes)
    operator = common(processes, lambda: operator_of(options, *model))
    mdp = operator.mdp
    out = wide_console()
    out.print(f"{options.model}: {mdp!r}", soft_wrap=True, markup=False)
    solution = solve(operator, tolerance=options.tolerance, method=options.method, follow=follower())
    if isinstance(mdp, Share):
        solution = replace(solution, v=mdp.gathered(solution.v), policy=mdp.gathered(solution.policy))
    if processes is not None and processes.rank > 0:
        return 0 if solution.converged else NOT_CERTIFIED
    if options.out is not None:
        write(solution, options.out)
    table = Table("state", "value", "action")
    for s in range(min(options.show, len(solution.v))):
        table.add_row(str(s), f"{solution.v[s]:.10g}", str(solution.policy[s]))
    if options.show:
        out.print(table)
    if mdp.initial is not None:
        out.print(f"Value at the start: {float(mdp.initial @ solution.v):.10g}")
    out.print(certificate(solution), soft_wrap=True)
    if options.out is not None:
        out.print(f"Written to {options.out}", soft_wrap=True, markup=False)
    return 0 if solution.converged else NOT_CERTIFIED


def common(processes: Processes | None, work: Callable[[], Result]) -> Result:
    """work(), whose failure is that of all processes."""
    return work() if processes is None else agreed(processes, work)


def run_by_many(options: Solve, processes: Processes, say: Callable[[str], None]) -> int:
    """`run` in one of the processes that mpirun started; say: prints what this process alone knows."""

    def folder_alone() -> None:
        if not options.model.is_dir() or options.write_folder is not None:
            raise InputError(
                f"{options.model} is to be solved by {processes.size} processes, which take a folder; write one by "
                "--write-folder DIR, in one process"
            )

    with together(processes, say):
        agreed(processes, folder_alone)
        return run(options, processes)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""

    def options() -> Solve:
        return tyro.cli(Solve, args=checked(arguments), prog=PROGRAM, description=__doc__)

    def alone() -> int:
        given = options()
        return run(given, OneProcess() if size == 1 and given.model.is_dir() else None)

    size = launched()
    if size <= 1:
        return exit_code(alone)
    try:
        processes = MpiProcesses()
    except ImportError as problem:
        missing = InputError(f"this is one of {size} processes, but mpi4py is missing: pip install 'pyresac[mpi]'")
        missing.__cause__ = problem
        return exit_code(lambda: raised(missing))
    say = partial(console(stderr=True).print, soft_wrap=True, markup=False)
    if processes.rank == 0:
        return exit_code(lambda: run_by_many(options(), processes, say))
    # what all processes would say, the first one says
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return exit_code(lambda: run_by_many(options(), processes, say))


def raised(error: InputError) -> int:
    """Raise it."""
    raise error


if __name__ == "__main__":
    sys.exit(main())
