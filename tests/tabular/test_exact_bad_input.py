"""The exact twin refuses all that the float side refuses, and floats besides: nothing rounded passes for exact."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import bad_numbers
import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP
from pyresac.tabular.exact import ExactLive, ExactMDP, ExactRev, sets, shift, sup_distance, table
from pyresac.tabular.exact.polytopes import vertices

HALF, ONE, NONE = Fraction(1, 2), Fraction(1), Fraction(0)
KERNEL = (((HALF, HALF), (NONE, ONE)), ((NONE, ONE), (ONE, NONE)))
TABLE = ((ONE, NONE), (NONE, Fraction(2)))
POLICY = ((HALF, HALF), (NONE, ONE))
ROW = (HALF, HALF)
COST = ((NONE, ONE), (ONE, NONE))
MDP = ExactMDP(KERNEL, TABLE, HALF)
LESS = ExactMDP(KERNEL, TABLE, HALF, ((True, False), (True, True)))
REV = ExactRev(MDP)
SCALED, SPREAD = ExactLive(MDP, "scaled", HALF), ExactLive(MDP, "variance", HALF)
WORST = {
    "l1": sets.l1(HALF),
    "l1 on the successors": sets.l1(HALF, "nominal"),
    "total variation": sets.total_variation(HALF),
    "contamination": sets.contamination(HALF),
    "cvar": sets.cvar(HALF),
    "l infinity": sets.l_infinity(HALF),
    "transport": sets.transport(COST, HALF),
}
USE_OF_A_NUMBER: dict[str, Callable[[Any], object]] = {
    "discount": lambda x: ExactMDP(KERNEL, TABLE, x),
    "lambda_epi": lambda x: ExactRev(MDP, lambda_epi=x),
    "kappa": lambda x: ExactRev(MDP, kappa=x),
    "lam": lambda x: ExactLive(MDP, "norm", x),
    "constant": MDP.constant,
    "shift": lambda x: shift(TABLE, x),
    "radius of l1": sets.l1,
    "radius of total variation": sets.total_variation,
    "share": sets.contamination,
    "alpha": sets.cvar,
    "radius of l infinity": sets.l_infinity,
    "radius of transport": lambda x: sets.transport(COST, x),
}
USE_OF_AN_ARRAY: dict[str, tuple[Any, Callable[[Any], object]]] = {
    "transition": (KERNEL, lambda x: ExactMDP(x, TABLE, HALF)),
    "reward": (TABLE, lambda x: ExactMDP(KERNEL, x, HALF)),
    "epistemic": (TABLE, lambda x: ExactRev(MDP, epistemic=x)),
    "policy": (POLICY, lambda x: ExactRev(MDP, value=x)),
    "policy of a live penalty": (POLICY, lambda x: ExactLive(MDP, "norm", HALF, value=x)),
    "kernels": (KERNEL, lambda x: ExactRev(MDP, kernels=[KERNEL, x])),
    "Q": (TABLE, REV),
    "Q of its value": (TABLE, REV.value_of),
    "v": (ROW, REV.backup),
    "Q of a live penalty": (TABLE, SCALED.single),
    "heads": (TABLE, lambda x: SPREAD.heads((TABLE, x))),
    "table": (TABLE, table),
    "table to shift": (TABLE, lambda x: shift(x, 1)),
    "first": (TABLE, lambda x: sup_distance(x, TABLE)),
    "second": (TABLE, lambda x: sup_distance(TABLE, x)),
    "cost": (COST, lambda x: sets.transport(x, HALF)),
    "low": (ROW, lambda x: sets.filled(x, (ONE, ONE), ROW)),
    "high": ((ONE, ONE), lambda x: sets.filled(ROW, x, ROW)),
    "values to fill by": (ROW, lambda x: sets.filled(ROW, (ONE, ONE), x)),
    "inequalities": (((ONE, ONE),), lambda x: vertices(x, (ONE,), 2)),
    "bound": ((ONE,), lambda x: vertices(((ONE, ONE),), x, 2)),
    **{f"p of {name}": (ROW, lambda x, worst=worst: worst(x, ROW)) for name, worst in WORST.items()},
    **{f"v of {name}": (ROW, lambda x, worst=worst: worst(ROW, x)) for name, worst in WORST.items()},
}
every_bad_number = pytest.mark.parametrize(
    "bad",
    [*bad_numbers.NUMBERS.values(), *bad_numbers.FLOATS.values()],
    ids=[*bad_numbers.NUMBERS, *bad_numbers.FLOATS],
)


def listed(x: Any) -> Any:
    """Nested lists of a nest of tuples."""
    return [listed(entry) for entry in x] if isinstance(x, tuple) else x


def spoiled(good: Any, place: tuple[int, ...], bad: object) -> Any:
    """The nest with another entry at a place."""
    found = listed(good)
    inner = found
    for index in place[:-1]:
        inner = inner[index]
    inner[place[-1]] = bad
    return found


@pytest.mark.parametrize("name", USE_OF_A_NUMBER)
@every_bad_number
def test_a_number_is_a_rational(name: str, bad: object) -> None:
    USE_OF_A_NUMBER[name](HALF)
    with pytest.raises(InputError, match=r"the exact twin takes fractions\.Fraction or int"):
        USE_OF_A_NUMBER[name](bad)


@pytest.mark.parametrize("name", USE_OF_AN_ARRAY)
@every_bad_number
def test_one_entry_that_is_no_rational(name: str, bad: object) -> None:
    """At each place in turn: all other entries are rationals."""
    good, use = USE_OF_AN_ARRAY[name]
    use(listed(good))
    for place in np.ndindex(np.array(good, dtype=object).shape):
        with pytest.raises(InputError, match=r"the exact twin takes fractions\.Fraction or int"):
            use(spoiled(good, place, bad))


@pytest.mark.parametrize("name", USE_OF_AN_ARRAY)
@pytest.mark.parametrize("spoil", bad_numbers.ARRAYS.values(), ids=bad_numbers.ARRAYS)
def test_the_float_sides_bad_arrays(name: str, spoil: Callable[[Any], Any]) -> None:
    good, use = USE_OF_AN_ARRAY[name]
    with pytest.raises(InputError):
        use(spoil(np.array(good, dtype=float)))


@pytest.mark.parametrize(
    "name", [name for name in USE_OF_AN_ARRAY if name not in ("table", "table to shift", "policy")]
)
@pytest.mark.parametrize("other", ["longer", "shorter", "number", "flat", "empty"])
def test_other_shapes_are_refused(name: str, other: str) -> None:
    good, use = USE_OF_AN_ARRAY[name]
    rows = listed(good)
    shapes = {
        "longer": [*rows, rows[0]], "shorter": rows[:-1], "number": 3, "flat": [ONE] * 7, "empty": [[]] * len(rows),
    }  # fmt: skip
    with pytest.raises(InputError):
        use(shapes[other])


def test_rows_of_policies_are_distributions_over_available_actions() -> None:
    for row, said in (
        ((HALF, NONE), r"row s=0 of policy is \['1/2', '0'\]; it must be a probability vector"),
        ((Fraction(3, 2), -HALF), r"row s=0 of policy is \['3/2', '-1/2'\]"),
        ((HALF, HALF), "policy takes the unavailable action a=1 at s=0"),
    ):
        for use in (lambda x: ExactRev(LESS, value=x), lambda x: ExactLive(LESS, "norm", 1, value=x)):
            with pytest.raises(InputError, match=said):
                use((row, (ONE, NONE)))
    for rows in ((POLICY[0],), (*POLICY, POLICY[0]), ((ONE,), (ONE,)), ()):
        with pytest.raises(InputError, match="policy has "):
            ExactRev(MDP, value=rows)


@pytest.mark.parametrize(("s", "a"), [(0, 0), (1, 0), (1, 1)])
def test_rows_of_kernels_are_distributions_at_each_available_pair(s: int, a: int) -> None:
    """Of the model and of each kernel of a set; at the pair that is not available anything may stand."""
    for row, said in (
        ([HALF, Fraction(1, 3)], "sums to 5/6; rows must sum to 1"),
        ([Fraction(3, 2), -HALF], "has the entry -1/2; probabilities are at least 0"),
        ([ONE], "has 1 entries; expected 2"),
    ):
        bad = spoiled(KERNEL, (s, a), row)
        with pytest.raises(InputError, match=rf"row \(s={s}, a={a}\) of transition {said}"):
            dataclasses.replace(LESS, transition=bad)
        with pytest.raises(InputError, match=rf"row \(s={s}, a={a}\) of kernels\[1\] {said}"):
            ExactRev(LESS, kernels=[KERNEL, bad])
        free = spoiled(KERNEL, (0, 1), row)
        assert ExactRev(LESS, kernels=[KERNEL, free]).fixed_point() == ExactRev(LESS).fixed_point()


@pytest.mark.parametrize("name", ["available", "done"])
@pytest.mark.parametrize(
    "flags", [5, "ab", ((True,), (True,)), ((True, True),), ((True, 2), (True, True)), ((True, "1"), (1, 1)), ()]
)
def test_flags_are_booleans_for_each_pair(name: str, flags: Any) -> None:
    with pytest.raises(InputError, match=f"{name} "):
        ExactMDP(KERNEL, TABLE, HALF, flags) if name == "available" else ExactRev(MDP, done=flags)


@pytest.mark.parametrize("discount", [1, -1, Fraction(-1, 10**30), Fraction(10**30 + 1, 10**30)])
def test_the_limits_of_a_discount(discount: Any) -> None:
    ExactMDP(KERNEL, TABLE, 0)
    ExactMDP(KERNEL, TABLE, Fraction(10**30 - 1, 10**30))
    with pytest.raises(InputError, match=rf"discount is {discount}; it must lie in \[0, 1\)"):
        ExactMDP(KERNEL, TABLE, discount)


TINY = Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("make", "least", "most"),
    [
        (sets.l1, 0, 2),
        (sets.total_variation, 0, 1),
        (sets.contamination, 0, 1),
        (sets.l_infinity, 0, 1),
        (sets.cvar, TINY, 1),
        (lambda x: sets.transport(COST, x), 0, None),
    ],
    ids=["l1", "total variation", "contamination", "l infinity", "cvar", "transport"],
)
def test_the_limits_of_every_set(make: Callable[[Any], Any], least: Any, most: Any) -> None:
    """The limit is accepted and gives a row; the next number is refused."""
    for allowed in (least, 10**30 if most is None else most):
        row = make(allowed)(ROW, (ONE, NONE))
        assert (sum(row), min(row) >= 0) == (1, True)
    for refused in [least - TINY] + ([] if most is None else [most + TINY]):
        with pytest.raises(InputError, match="it must "):
            make(refused)


def test_costs_and_rows_that_do_not_fit() -> None:
    for cost, said in (
        (((NONE, -ONE), (ONE, NONE)), "cost is -1 from s=0 to s=1"),
        (((NONE, ONE), (ONE, HALF)), "cost is 1/2 from s=1 to s=1"),
        (((NONE, ONE),), r"cost has 1 rows of lengths \[2\]"),
        ((), r"cost has 0 rows"),
    ):
        with pytest.raises(InputError, match=said):
            sets.transport(cost, HALF)
    for name, worst in WORST.items():
        for p in ((HALF, ONE), (Fraction(3, 2), -HALF), ()):
            with pytest.raises(InputError, match=r"p is .* it must be a probability vector"):
                worst(p, ROW)
        with pytest.raises(InputError, match=r"(v|p) has (3|1) entries"):
            worst(ROW if name != "transport" else (ONE,), (ONE, ONE, ONE) if name != "transport" else (ONE,))


@pytest.mark.parametrize("make", [sets.l1, sets.total_variation, sets.contamination])
@pytest.mark.parametrize("support", ["some", "", None, True])
def test_mass_moves_everywhere_or_to_the_successors(make: Callable[..., Any], support: Any) -> None:
    with pytest.raises(InputError, match=r"support is .*; it must be 'all' or 'nominal'"):
        make(HALF, support)


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        (3, "inner is 3; it must be a function"),
        (lambda p, v: [0.5, 0.5], "0.5 is a float"),
        (lambda p, v: [ONE], r"inner's row at \(s=0, a=0\) has 1 entries; expected 2"),
        (lambda p, v: [ONE, ONE], r"inner's row at \(s=0, a=0\) is \['1', '1'\]; it must sum to 1"),
        (lambda p, v: [Fraction(3, 2), -HALF], r"inner's row at \(s=0, a=0\) is"),
        (lambda p, v: 5, r"inner's row at \(s=0, a=0\) is 5; it must be a sequence"),
    ],
)
def test_a_set_of_ones_own_gives_rows(inner: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ExactRev(MDP, inner=inner)(TABLE)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda: ExactRev(MDP, value="best"), "value is 'best'; it must be 'max', 'min' or a policy"),
        (lambda: ExactLive(MDP, "norm", 1, value="best"), "value is 'best'"),
        (lambda: ExactRev(MDP, penalty_at="here"), "penalty_at is 'here'; it must be 'pair' or 'next'"),
        (lambda: ExactRev(MDP, kernels=[]), r"kernels is \[\]; a robust set needs"),
        (lambda: ExactRev(MDP, kernels=5), "kernels is 5; a robust set needs"),
        (lambda: ExactRev(MDP, kernels=[KERNEL], inner=sets.l1(1)), "kernels and inner are both given"),
        (lambda: ExactLive(FiniteMDP.from_exact(MDP), "norm", 1), "mdp is a FiniteMDP; it must be an ExactMDP"),
        (lambda: ExactLive(MDP, "other", 1), "kind is 'other'"),
        (lambda: ExactLive(MDP, "norm", 1, target="all"), "target is 'all'"),
        (lambda: SPREAD.single(TABLE), "kind 'variance' acts on an ensemble of heads"),
        (lambda: SCALED.heads((TABLE, TABLE)), "kind 'scaled' acts on one table"),
        (lambda: SPREAD.heads((TABLE,)), "the ensemble has K = 1 heads; .* at least 2"),
        (lambda: ExactLive(MDP, "gap", 1).heads((TABLE,) * 3), "the ensemble has K = 3 heads; .* exactly 2"),
        (lambda: SPREAD.heads(None), "the ensemble is a NoneType"),
        (lambda: sup_distance(TABLE, TABLE[:1]), "tables of 2 and 1 rows have no distance"),
        (lambda: ExactMDP(KERNEL, TABLE, HALF, ((False, False), (True, True))), "state s=0 has no available action"),
        (lambda: FiniteMDP.from_exact(FiniteMDP.from_exact(MDP)), "mdp is a FiniteMDP; it must be an ExactMDP"),
        (lambda: FiniteMDP.from_exact(None), "mdp is a NoneType; it must be an ExactMDP"),
        (lambda: sets.filled((HALF,), (ONE, ONE), (ONE, ONE)), "low has 1 entries; expected 2"),
        (lambda: sets.filled((ONE, ONE), (ONE, ONE), (ONE, ONE)), "the interval set is empty"),
        (lambda: vertices(((ONE,),), (ONE,), 2), "the inequalities must be rows of 2 numbers, each with a bound"),
    ],
)
def test_options_that_do_not_fit(use: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        use()
