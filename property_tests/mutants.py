"""Can the tests fail? One-line faults are put into a copy of `pyresac`; each must be found.

    python -m property_tests.mutants [--only NAME ...] [--jobs N] [--list]

Each mutant replaces a text that occurs exactly once in its file. It first meets the test files that speak of what it
breaks, then, if it survives them, the whole suite of its part (`mutant.SUITES`). The working tree is never touched: all
happens in a temporary copy of the repository. Exit status 0 says that the unchanged copy passes and that every mutant
is killed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from property_tests.corridor_mutants import CORRIDOR
from property_tests.deep_mutants import DEEP
from property_tests.experiment_mutants import EXPERIMENTS
from property_tests.family_mutants import FAMILY
from property_tests.formal_mutants import FORMAL
from property_tests.mutant import SUITES, Mutant
from property_tests.norm_mutants import NORM
from property_tests.quantile_mutants import QUANTILES

ROOT = Path(__file__).resolve().parent.parent
TIME_LIMIT = 900.0
"""Seconds for one run of pytest; a run beyond it has no verdict."""

OPERATOR, SOLVERS, LIVE = "test_float_operator", "test_solvers", "test_float_live"
INNER, EXACT, TERMINALS = "test_inner_problems", "test_contraction", "test_terminals"
SETS, SHARES, S_RECTANGULAR = "test_sets", "test_shares", "test_s_rectangular"
BY_HAND = "tests/tabular/test_expectations.py"

TABULAR = (
    Mutant(
        "exact: discount dropped",
        "exact/operator.py",
        "mdp.reward[s][a] + mdp.discount * self._bracket(s, a, v)",
        "mdp.reward[s][a] + self._bracket(s, a, v)",
        (EXACT,),
    ),
    Mutant(
        "exact: penalty added",
        "exact/operator.py",
        "_dot(self._worst_row(s, a, v), v) - self.frozen(s, a)",
        "_dot(self._worst_row(s, a, v), v) + self.frozen(s, a)",
        ("test_penalties", "test_ranking"),
    ),
    Mutant(
        "exact: best case over the kernels",
        "exact/operator.py",
        "return min((k[s][a] for k in self._kernels)",
        "return max((k[s][a] for k in self._kernels)",
        (EXACT,),
    ),
    Mutant(
        "exact: done mask ignored",
        "exact/operator.py",
        "return self.done is not None and self.done[s][a]",
        "return self.done is None and self.done is not None",
        (EXACT, "test_ranking"),
    ),
    Mutant(
        "exact: next-pair penalty added to Q",
        "exact/operator.py",
        "return [x - self.lambda_epi * g for x, g in",
        "return [x + self.lambda_epi * g for x, g in",
        (OPERATOR,),
    ),
    Mutant(
        "exact: unavailable actions counted",
        "exact/operator.py",
        "return choose(values[a] for a in self.mdp.actions(s))",
        "return choose(values)",
        (OPERATOR,),
    ),
    Mutant(
        "exact: variance over K",
        "exact/live.py",
        "Fraction(0)) / (len(values) - 1)",
        "Fraction(0)) / len(values)",
        (LIVE,),
    ),
    Mutant(
        "exact: norm penalty loses the discount",
        "exact/live.py",
        "else -self.mdp.discount * self.lam",
        "else -self.lam",
        ("test_live",),
    ),
    Mutant(
        "exact: gap of the heads loses its sign",
        "exact/live.py",
        "return abs(values[0] - values[1])",
        "return values[0] - values[1]",
        (LIVE,),
    ),
    Mutant(
        "float: discount dropped",
        "operator.py",
        "q = self.shifted_reward + self.mdp.discount * self.expectation(self.mdp, v)",
        "q = self.shifted_reward + self.expectation(self.mdp, v)",
        (OPERATOR,),
    ),
    Mutant(
        "float: penalty added",
        "operator.py",
        "mdp.reward - mdp.discount * self.frozen",
        "mdp.reward + mdp.discount * self.frozen",
        (OPERATOR,),
    ),
    Mutant(
        "float: penalty not discounted",
        "operator.py",
        "mdp.reward - mdp.discount * self.frozen",
        "mdp.reward - self.frozen",
        (OPERATOR,),
    ),
    Mutant(
        "float: kappa forgotten in the pair form",
        "operator.py",
        'frozen = self.scaled + self.kappa if penalty_at == "pair"',
        'frozen = self.scaled if penalty_at == "pair"',
        (OPERATOR,),
    ),
    Mutant(
        "float: next-pair penalty added to Q",
        "operator.py",
        'return q if self.penalty_at == "pair" else q - self.scaled',
        'return q if self.penalty_at == "pair" else q + self.scaled',
        (OPERATOR,),
    ),
    Mutant(
        "float: penalty at an end not masked",
        "operator.py",
        "frozen if mdp.continuation is None else frozen * mdp.continuation",
        "frozen",
        (TERMINALS,),
    ),
    Mutant(
        "float: rounding bound of zero",
        "operator.py",
        "return 1.01 * (mdp.discount * inner + 8 * UNIT * parts)",
        "return 0.0 * (mdp.discount * inner + 8 * UNIT * parts)",
        (OPERATOR,),
    ),
    Mutant(
        "max over states for max over actions",
        "values.py",
        "_filled(q, available, -np.inf).max(axis=1)",
        "np.resize(_filled(q, available, -np.inf).max(axis=0), q.shape[0])",
        (OPERATOR,),
    ),
    Mutant(
        "min sees unavailable actions",
        "values.py",
        "_filled(q, available, np.inf).min(axis=1)",
        "q.min(axis=1)",
        (OPERATOR,),
    ),
    Mutant(
        "soft value without its temperature outside",
        "values.py",
        "top + self.temperature * np.log(total)",
        "top + np.log(total)",
        (OPERATOR,),
    ),
    Mutant(
        "mellowmax counts unavailable actions",
        "values.py",
        "count = present.sum(axis=1)",
        "count = q.shape[1]",
        (OPERATOR,),
    ),
    Mutant(
        "entropy bonus subtracted",
        "values.py",
        "self._mean(q, available) + self.temperature * entropy",
        "self._mean(q, available) - self.temperature * entropy",
        (OPERATOR,),
    ),
    Mutant(
        "kernel transposed",
        "mdp.py",
        "return np.asarray(self.transition @ v, dtype=np.float64)\n        return",
        "return np.asarray(self.transition.transpose(2, 1, 0) @ v, dtype=np.float64)\n        return",
        (OPERATOR,),
    ),
    Mutant(
        "exact rows not divided by their sums",
        "mdp.py",
        "return tuple(x / total for x in entries) if total else tuple(entries)",
        "return tuple(entries)",
        (OPERATOR, "test_edge_cases"),
    ),
    Mutant(
        "best of the kernels",
        "expectations/base.py",
        "np.asarray(np.min([k.model.expect(v)",
        "np.asarray(np.max([k.model.expect(v)",
        (OPERATOR,),
    ),
    Mutant(
        "l1 ball moves the whole radius",
        "expectations/l1.py",
        "fill_level(len(p), p, x, 0.5 * radius, warm)",
        "fill_level(len(p), p, x, radius, warm)",
        (
            INNER,
            SETS,
        ),
    ),
    Mutant(
        "l1 ball takes from the lowest values",
        "expectations/l1.py",
        "x[i] = -max(x[i], lowest)",
        "x[i] = max(x[i], lowest)",
        (
            INNER,
            SETS,
        ),
    ),
    Mutant(
        "total variation of half the radius",
        "expectations/l1.py",
        "scale: ClassVar[float] = 2.0",
        "scale: ClassVar[float] = 1.0",
        (SETS,),
    ),
    Mutant(
        "contamination of everything",
        "expectations/l1.py",
        "value = share * lowest",
        "value = lowest",
        (SETS,),
    ),
    Mutant(
        "interval set filled from the highest value",
        "expectations/intervals.py",
        "value += (most if y < level else least) * y",
        "value += (most if y > level else least) * y",
        (
            INNER,
            SETS,
        ),
    ),
    Mutant(
        "CVaR of the whole row",
        "expectations/intervals.py",
        "share = alpha * total",
        "share = total",
        (SETS,),
    ),
    Mutant(
        "L-infinity ball off the support",
        "expectations/intervals.py",
        "second=np.where(p > 0.0, p + radius, 0.0)",
        "second=p",
        (SETS,),
    ),
    Mutant(
        "entropic risk seeks risk",
        "expectations/gibbs.py",
        "value = lowest - spread * (np.log1p(slack) / theta)",
        "value = lowest + spread * (np.log1p(slack) / theta)",
        (INNER,),
    ),
    Mutant(
        "entropic risk of a large tilt is the worst case",
        "expectations/gibbs.py",
        "value = lowest - np.log(total) / beta",
        "value = lowest",
        (INNER,),
    ),
    Mutant(
        "polytope of one vertex",
        "exact/polytopes.py",
        "if min(solution) >= 0:",
        "if min(solution) >= 0 and not found:",
        (SETS,),
    ),
    Mutant(
        "vertices with negative weights",
        "exact/polytopes.py",
        "if min(solution) >= 0:",
        "if max(solution) >= 0:",
        (SETS,),
    ),
    Mutant(
        "power divergences: the ball of radius c twice as large",
        "expectations/power.py",
        "above = log_c + log_whole / s",
        "above = 2.0 * log_c + log_whole / s",
        (BY_HAND, SETS),
    ),
    Mutant(
        "power divergences: a level that is not the best is taken",
        "expectations/power.py",
        "if gap <= enough:",
        "if gap <= 0.01:",
        (BY_HAND, SETS),
    ),
    Mutant(
        "power divergences: weights of another power",
        "expectations/power.py",
        "w[i] = share * power",
        "w[i] = share * power * rest",
        (BY_HAND, SETS),
    ),
    Mutant(
        "Rényi's ball of the dual order",
        "expectations/power.py",
        "radius * ((self.order - 1.0) / self.order)",
        "radius / self.order",
        (BY_HAND, SETS),
    ),
    Mutant(
        "s-rectangular: the pivot keeps its mass",
        "s_rectangular.py",
        "own, turn = p[order[pivot]], np.inf",
        "own, turn = 0.0, np.inf",
        (S_RECTANGULAR,),
    ),
    Mutant(
        "s-rectangular: the pivot does not count as a giver",
        "s_rectangular.py",
        "turn = spent / (takers - givers - 1)",
        "turn = spent / (takers - givers)",
        (S_RECTANGULAR,),
    ),
    Mutant(
        "s-rectangular: weights by slopes and not by their inverses",
        "s_rectangular.py",
        "policy[s, a] = 1.0 / (slope[a] * rate)",
        "policy[s, a] = 1.0 / counts.size",
        (S_RECTANGULAR,),
    ),
    Mutant(
        "exact s-rectangular: the budget is that of one action",
        "exact/s_rectangular.py",
        "if more > budget:",
        "if more > 2 * budget:",
        (S_RECTANGULAR,),
    ),
    Mutant(
        "shares: values in the wrong order",
        "shares.py",
        "self._share.gathered(self._own.image, first=self._share.first, out=self.image)",
        "self._share.gathered(self._own.image, out=self.image)",
        (SHARES,),
    ),
    Mutant(
        "shares: a bound from the own rows alone",
        "shares.py",
        "longest=int(longest), largest=reward",
        "longest=model.longest_row, largest=reward",
        (SHARES,),
    ),
    Mutant(
        "shares: the own residual alone",
        "shares.py",
        "return Residual(-most[0], most[1], found.v_size",
        "return Residual(found.low, found.high, found.v_size",
        (SHARES,),
    ),
    Mutant(
        "folder: a checksum that does not see a swap",
        "readers/folders.py",
        "weight += np.uint64(2)",
        "weight += np.uint64(0)",
        ("tests/tabular/test_shares.py",),
    ),
    Mutant(
        "likelihood ball of half the radius",
        "expectations/likelihood.py",
        "best = max(best, mean + (mean + mu) * np.expm1(s - radius))",
        "best = max(best, mean + (mean + mu) * np.expm1(s - 0.5 * radius))",
        (SETS,),
    ),
    Mutant(
        "likelihood ball never leaves the successors",
        "expectations/likelihood.py",
        "if least > lowest:",
        "if least < lowest:",
        (SETS,),
    ),
    Mutant(
        "a level that is too low is kept",
        "expectations/filling.py",
        "if left > up_to:",
        "if left > up_to and warm < 0.0:",
        (SETS, INNER),
    ),
    Mutant(
        "games are taken for problems of one player",
        "solvers/policy_iteration.py",
        "isinstance(value, Min) == getattr",
        "isinstance(value, Min) != getattr",
        ("tests/tabular/test_solvers.py",),
    ),
    Mutant(
        "evaluations are never undone",
        "solvers/policy_iteration.py",
        "if self._kept is None:\n            return v, residual",
        "if self._kept is None or residual.size > 0.0:\n            return v, residual",
        ("tests/tabular/test_solvers.py",),
    ),
    Mutant(
        "KL ball of half the radius",
        "expectations/gibbs.py",
        "gap = radius / theta - spent",
        "gap = 0.5 * radius / theta - spent",
        (INNER,),
    ),
    Mutant(
        "chi2 ball forgets the mass that was dropped",
        "expectations/chi2.py",
        "excess = radius if whole else mass * (1.0 + radius) - 1.0",
        "excess = radius",
        (SETS,),
    ),
    Mutant(
        "Wasserstein ball pays half the way",
        "expectations/wasserstein.py",
        "left -= price",
        "left -= 0.5 * price",
        (SETS,),
    ),
    Mutant(
        "Wasserstein ball from the cheapest gain",
        "expectations/wasserstein.py",
        "if slope > most:",
        "if slope > 0.0 and (best < 0 or slope < most):",
        (SETS,),
    ),
    Mutant(
        "best case of the wrong sign",
        "expectations/rows.py",
        "out[i] = sign * value",
        "out[i] = value",
        (SETS,),
    ),
    Mutant(
        "mass may leave the successors",
        "expectations/rows.py",
        "if not everywhere:",
        "if everywhere and not everywhere:",
        (SETS,),
    ),
    Mutant(
        "exact: l1 ball moves the whole radius",
        "exact/sets.py",
        "row, left = list(p), size / 2",
        "row, left = list(p), size",
        (SETS,),
    ),
    Mutant(
        "saved: a mean of equal rewards",
        "readers/files.py",
        "reward = np.where(least == most, least, reward)",
        "reward = np.where(least == most, reward, reward)",
        ("tests/tabular/test_saved_models.py",),
    ),
    Mutant(
        "exact: floats pass for values of a backup",
        "exact/operator.py",
        'mdp, v = self.mdp, vector("v", v, self.mdp.n_states)',
        "mdp = self.mdp",
        ("tests/tabular/test_exact_bad_input.py",),
    ),
    Mutant(
        "exact: CVaR without its share",
        "exact/sets.py",
        "[min(x / share, Fraction(1)) for x in p]",
        "[min(x, Fraction(1)) for x in p]",
        (SETS,),
    ),
    Mutant(
        "robust sweep: discount dropped",
        "solvers/robust.py",
        "np.multiply(self._expected.reshape(self.q.shape), self.discount, out=self.q)",
        "np.multiply(self._expected.reshape(self.q.shape), 1.0, out=self.q)",
        (SETS,),
    ),
    Mutant(
        "live: variance over K",
        "live.py",
        "var(axis=0, ddof=1)",
        "var(axis=0, ddof=0)",
        (LIVE,),
    ),
    Mutant(
        "live: norm penalty of the old sign only",
        "live.py",
        "self.plain(q) - gamma * penalty.lam * np.abs(q)",
        "self.plain(q) - gamma * penalty.lam * q",
        (LIVE,),
    ),
    Mutant(
        "live: the paper's modulus of T_bad times gamma",
        "live.py",
        "return gamma + self.lam",
        "return gamma * (1 + self.lam)",
        (LIVE,),
    ),
    Mutant(
        "live: population and unbiased deviation swapped",
        "live.py",
        "return self.lam / np.sqrt(2) if self.ddof else self.lam / 2",
        "return self.lam / 2 if self.ddof else self.lam / np.sqrt(2)",
        (LIVE,),
    ),
    Mutant(
        "live: variance said to have a modulus",
        "live.py",
        "return np.inf if gamma * self.lam > 0 else gamma",
        "return gamma * (1 + 2 * self.lam)",
        (LIVE,),
    ),
    Mutant(
        "ends are not absorbing",
        "readers/toy_text.py",
        "dst = np.where(done, n_states, dst)",
        "dst = np.where(done & (dst < 0), n_states, dst)",
        (TERMINALS,),
    ),
    Mutant(
        "reward of an outcome not weighted",
        "readers/toy_text.py",
        "(prob * rew)[live]",
        "rew[live]",
        (TERMINALS,),
    ),
    Mutant(
        "chance of going on computed from living outcomes",
        "readers/toy_text.py",
        "(src[live & done], act[live & done]), prob[live & done])",
        "(src[live & ~done], act[live & ~done]), prob[live & ~done])",
        (TERMINALS,),
    ),
    Mutant(
        "counts: unseen pairs available",
        "readers/counts.py",
        "available = seen > 0",
        "available = seen >= 0",
        ("test_edge_cases",),
    ),
    Mutant(
        "certificate: bound without 1/(1 − γ)",
        "solvers/certificate.py",
        "rate = self._discount / (1 - self._discount)",
        "rate = self._discount",
        (SOLVERS,),
    ),
    Mutant(
        "certificate: bound without γ",
        "solvers/certificate.py",
        "rate = self._discount / (1 - self._discount)",
        "rate = 1 / (1 - self._discount)",
        (SOLVERS,),
    ),
    Mutant(
        "certificate: only the upper end counts",
        "solvers/certificate.py",
        "plain = max(-low, high, Fraction(0))",
        "plain = max(high, Fraction(0))",
        (SOLVERS,),
    ),
    Mutant(
        "certificate: rounding left out",
        "solvers/certificate.py",
        "e_b = Fraction(self._rounding.backup(residual.v_size, residual.q_size))",
        "e_b = Fraction(0)",
        (SOLVERS,),
    ),
    Mutant(
        "solver: claims convergence whatever the bound",
        "solvers/api.py",
        "seconds, bound <= goal, name, message, operator)",
        "seconds, True, name, message, operator)",
        (SOLVERS,),
    ),
    Mutant(
        "sweep: discount dropped",
        "solvers/models.py",
        "self.q *= self.discount",
        "self.q *= 1.0",
        (SOLVERS,),
    ),
    Mutant(
        "sweep: expectation stored for the value",
        "kernels.py",
        "q[s, a] = x",
        "q[s, a] = total",
        (SOLVERS,),
    ),
)


MUTANTS = (*TABULAR, *DEEP, *FAMILY, *NORM, *QUANTILES, *EXPERIMENTS, *FORMAL, *CORRIDOR)


def mutate(copy: Path, mutant: Mutant) -> None:
    """Apply `mutant` to the copy; ValueError where its text is not found exactly once."""
    path = copy / mutant.source
    text = path.read_text(encoding="utf-8")
    found = text.count(mutant.old)
    if found != 1:
        raise ValueError(
            f"mutant {mutant.name!r}: its text occurs {found} times in {mutant.source}; it must occur exactly once"
        )
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")


def copy_repository(target: Path, source: Path = ROOT) -> None:
    """What the suites need, with the caches of compiled kernels, into `target`."""
    for folder in ("pyresac", "property_tests", "tests"):
        shutil.copytree(source / folder, target / folder)
    shutil.copy2(source / "pyproject.toml", target)


@dataclass(frozen=True)
class Outcome:
    """What pytest said of one copy: its exit status (None where it ran out of time), the first failure, its tail."""

    status: int | None
    failure: str
    tail: str


def run_tests(copy: Path, wanted: tuple[str, ...]) -> Outcome:
    """Run these files or folders of the copy's tests, up to the first failure."""
    options = ["-x", "-q", "-p", "no:cacheprovider", "--tb", "line"]
    if all(path.startswith("property_tests") for path in wanted):  # where the profile is registered
        options += ["--hypothesis-profile", "mutants"]
    # Options meant for the outer run (workers, say) would change what a test's exit status means.
    environment = os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", "PYTEST_ADDOPTS": ""}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *wanted],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(None, "", f"no verdict after {TIME_LIMIT:.0f} s")
    # an ERROR, of a file that cannot be collected, say, is no failure of a test
    first = re.search(r"^FAILED (\S+)", done.stdout, flags=re.MULTILINE)
    return Outcome(done.returncode, first.group(1) if first else "", (done.stdout + done.stderr)[-2000:])


def check_baseline(base: Path, mutants: list[Mutant], jobs: int) -> str | None:
    """None where the unchanged copy passes, in which case its compiled kernels are cached; else what is wrong."""
    where = subprocess.run(
        [sys.executable, "-c", "import pyresac; print(pyresac.__file__)"],
        cwd=base,
        env=os.environ | {"PYTHONPATH": str(base)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    if not Path(where).is_relative_to(base):
        return f"the copy's tests would import {where}, which is not in the copy"
    # suite by suite, which need different options
    portions = []
    for suite in SUITES.values():
        files = sorted({path for mutant in mutants for path in mutant.paths if path.startswith(f"{suite}/")})
        portions += [tuple(files[i::jobs]) for i in range(min(jobs, len(files)))]
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = pool.map(lambda portion: run_tests(base, portion), portions)
        failures = [outcome for outcome in outcomes if outcome.status != 0]
    return failures[0].tail if failures else None


def judge(base: Path, mutant: Mutant) -> tuple[str, str]:
    """("killed", the test), ("survived", ""), or ("no verdict", why)."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        copy_repository(copy, base)
        mutate(copy, mutant)
        for wanted in mutant.attempts:
            outcome = run_tests(copy, wanted)
            if outcome.status == 1 and outcome.failure.startswith(wanted):
                return "killed", outcome.failure.removeprefix(f"{mutant.suite}/")
            if outcome.status != 0:
                return "no verdict", outcome.tail
    return "survived", ""


def run(mutants: list[Mutant], jobs: int) -> int:
    """Judge `mutants`, print a line for each, and return the exit status."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mutants-base-") as folder:
        base = Path(folder)
        copy_repository(base)
        for mutant in mutants:
            with tempfile.TemporaryDirectory(prefix="mutant-") as trial:
                target = Path(trial) / mutant.source
                target.parent.mkdir(parents=True)
                shutil.copy2(base / mutant.source, target)
                mutate(Path(trial), mutant)
        problem = check_baseline(base, mutants, jobs)
        if problem is not None:
            print(f"the unchanged copy does not pass:\n{problem}")
            return 2
        print(f"unchanged: passes ({time.perf_counter() - started:.0f} s)", flush=True)
        verdicts = []
        with ThreadPoolExecutor(jobs) as pool:
            pending = {pool.submit(judge, base, mutant): mutant for mutant in mutants}
            for done in as_completed(pending):
                verdict, detail = done.result()
                verdicts.append(verdict)
                print(f"{verdict:10}  {pending[done].name:52}  {detail}", flush=True)
    killed = verdicts.count("killed")
    print(f"{killed} of {len(mutants)} mutants killed in {time.perf_counter() - started:.0f} s")
    return 0 if killed == len(mutants) else 1


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m property_tests.mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="judge only these mutants")
    parser.add_argument("--sample", type=int, metavar="N", help="judge N of them, evenly spaced in the list")
    parser.add_argument("--jobs", type=int, default=2, help="mutants judged at a time (default 2)")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    options = parser.parse_args()
    if options.list:
        print("\n".join(mutant.name for mutant in MUTANTS))
        return 0
    known = {mutant.name: mutant for mutant in MUTANTS}
    unknown = sorted(set(options.only or ()) - set(known))
    if unknown or options.jobs < 1:
        parser.error(f"unknown mutants {unknown}; see --list" if unknown else "--jobs must be at least 1")
    chosen = [known[name] for name in options.only or known]
    if options.sample is not None:
        if not 1 <= options.sample <= len(chosen):
            parser.error(f"--sample {options.sample}: it must lie between 1 and {len(chosen)}")
        chosen = [chosen[place * len(chosen) // options.sample] for place in range(options.sample)]
    return run(chosen, options.jobs)


if __name__ == "__main__":
    sys.exit(main())
