"""Certificates (C47) and the rounding that they allow for (C48)."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import Q, Vector, combine, dot, entries, subtract, sup
from property_tests.strategies import distributions, mdps, operators, tables_like, values
from pyresac.formal.certificates import LeanEntry, certificate, rounded_up
from pyresac.tabular import FiniteMDP, IntervalSet, Max, Min, PolicyMean, RevOperator, WorstOfKernels
from pyresac.tabular.exact import ExactMDP, ExactRev
from pyresac.tabular.exact.mdp import Kernel
from pyresac.tabular.solvers.certificate import Rounding, underflow_unit
from pyresac.tabular.values import UNIT, ValueFunctional

SUBNORMAL = underflow_unit()
U, ETA = Fraction(UNIT), Fraction(SUBNORMAL) / 2


@claim("C47", lean=("RESAC.span_bounds", "RESAC.certified"))
@given(st.data(), operators())
def test_c47_the_span_of_the_residual_bounds_the_fixed_point(data: st.DataObject, operator: ExactRev) -> None:
    """T Q + γ·low/(1 − γ) ≤ Q* ≤ T Q + γ·high/(1 − γ), for every value functional, penalty form and finite set."""
    q = data.draw(tables_like(operator.mdp))
    image, best, gamma = operator(q), operator.fixed_point(), operator.mdp.discount
    pairs = [(s, a) for s in range(operator.mdp.n_states) for a in operator.mdp.actions(s)]
    residual = [image[s][a] - q[s][a] for s, a in pairs]
    low, high = min(residual), max(residual)
    for s, a in pairs:
        assert image[s][a] + gamma * low / (1 - gamma) <= best[s][a] <= image[s][a] + gamma * high / (1 - gamma)
        assert q[s][a] + low / (1 - gamma) <= best[s][a] <= q[s][a] + high / (1 - gamma)


def floats(table: Q) -> np.ndarray:
    """The float64 copy of a dyadic table."""
    return np.array(table, dtype=np.float64)


@claim("C47", lean="RESAC.Problem.sound")
@given(st.data(), mdps(max_states=3, max_actions=2, dyadic=True), st.sampled_from(["max", "min", "policy"]))
def test_c47_what_a_certificate_says_is_true_of_the_exact_fixed_point(
    data: st.DataObject, mdp: ExactMDP, kind: str
) -> None:
    """The bound that Lean is asked to check holds, and its range of the residual is the exact one, rounded outwards."""
    model = FiniteMDP.from_arrays(floats(mdp.transition), floats(mdp.reward), float(mdp.discount))
    q, gamma_table = data.draw(tables_like(mdp, dyadic=True)), data.draw(tables_like(mdp, dyadic=True))
    place = data.draw(st.sampled_from(["pair", "next"]))
    other = data.draw(
        st.permutations([mdp.transition[s][a] for s in range(mdp.n_states) for a in range(mdp.n_actions)])
    )
    kernels = [mdp.transition, [other[s * mdp.n_actions : (s + 1) * mdp.n_actions] for s in range(mdp.n_states)]]
    exact_value = kind if kind != "policy" else tuple(
        data.draw(distributions(mdp.n_actions, dyadic=True)) for _ in range(mdp.n_states)
    )  # fmt: skip
    value = {"max": Max(), "min": Min()}.get(kind) or PolicyMean(floats(exact_value))
    operator = RevOperator(
        model, epistemic=floats(gamma_table), lambda_epi=0.5, kappa=0.25, value=value, penalty_at=place,
        expectation=WorstOfKernels([floats(k) for k in kernels]),
    )  # fmt: skip
    exact = ExactRev(
        mdp, epistemic=gamma_table, lambda_epi=Fraction(1, 2), kappa=Fraction(1, 4), penalty_at=place,
        value=exact_value, kernels=kernels,
    )  # fmt: skip
    found = certificate(operator, floats(q))
    residual = entries(subtract(exact(q), q))
    assert Fraction(found.low, found.den) <= min(residual) < Fraction(found.low + 1, found.den)
    assert Fraction(found.high - 1, found.den) < max(residual) <= Fraction(found.high, found.den)
    assert sup(subtract(exact.fixed_point(), q)) <= found.exact_bound <= found.bound


def float_value(value: str | Q) -> ValueFunctional:
    """The float64 twin of an exact value functional."""
    if isinstance(value, str):
        return Max() if value == "max" else Min()
    return PolicyMean(floats(value))


@st.composite
def interval_sets(draw: st.DrawFn, mdp: ExactMDP) -> tuple[Kernel, Kernel]:
    """Dyadic bounds [s][a][s'] on a row of the MDP, of different widths below and above it, cut to [0, 1]."""
    width = st.sampled_from([Fraction(0), Fraction(1, 8), Fraction(1, 4), Fraction(1)])
    states, actions = range(mdp.n_states), range(mdp.n_actions)

    def moved(sign: int) -> Kernel:
        ends = [[[p + sign * draw(width) for p in mdp.transition[s][a]] for a in actions] for s in states]
        return tuple(tuple(tuple(min(max(x, Fraction(0)), Fraction(1)) for x in row) for row in s) for s in ends)

    return moved(-1), moved(1)


@claim("C47", lean="RESAC.IntervalProblem.sound")
@given(st.data(), mdps(max_states=3, max_actions=2, dyadic=True))
def test_c47_a_certificate_over_intervals_is_true_of_the_exact_worst_case(data: st.DataObject, mdp: ExactMDP) -> None:
    """Each row is a member of its set, no vertex of which has a smaller mean; the bound holds for the fixed point."""
    low, high = data.draw(interval_sets(mdp))
    value = data.draw(values(mdp, dyadic=True))
    q, gamma_table = data.draw(tables_like(mdp, dyadic=True)), data.draw(tables_like(mdp, dyadic=True))
    model = FiniteMDP.from_arrays(floats(mdp.transition), floats(mdp.reward), float(mdp.discount))
    operator = RevOperator(
        model, epistemic=floats(gamma_table), lambda_epi=0.5, value=float_value(value), penalty_at="next",
        expectation=IntervalSet(floats(low), floats(high)),
    )  # fmt: skip
    found = certificate(operator, floats(q))
    v = [
        {"max": max, "min": min}[value](row) if isinstance(value, str) else dot(value[s], row)
        for s, row in enumerate(combine(lambda x, g: x - g / 2, q, gamma_table))
    ]
    for s in range(mdp.n_states):
        for a in range(mdp.n_actions):
            assert_worst(found.states[s][a], low[s][a], high[s][a], v)
    exact = ExactRev(
        mdp, epistemic=gamma_table, lambda_epi=Fraction(1, 2), value=value, penalty_at="next",
        kernels=[vertex_kernel(mdp, low, high, order) for order in permutations(range(mdp.n_states))],
    )  # fmt: skip
    residual = entries(subtract(exact(q), q))
    assert Fraction(found.low, found.den) <= min(residual) < Fraction(found.low + 1, found.den)
    assert Fraction(found.high - 1, found.den) < max(residual) <= Fraction(found.high, found.den)
    assert sup(subtract(exact.fixed_point(), q)) <= found.exact_bound <= found.bound


@claim("C47", lean="RESAC.IntervalProblem.sound")
@pytest.mark.parametrize("row", [(0.1, 0.2, 0.7), (0.55, 0.2, 0.25), (0.25, 0.25, 0.5)])
def test_c47_points_for_intervals_are_the_row_divided_by_its_exact_sum(row: tuple[float, ...]) -> None:
    """As rationals 0.1, 0.2, 0.7 sum to less than 1 and 0.55, 0.2, 0.25 to more: as ends they would leave no row."""
    rows = np.array([[row]] * 3)
    mdp = FiniteMDP.from_arrays(rows, np.zeros((3, 1)), 0.5)
    found = certificate(RevOperator(mdp, expectation=IntervalSet(rows, rows)), np.array([[1.0], [3.0], [2.0]]))
    exact = [Fraction(p) for p in row]
    for (entry,) in found.states:
        (worst,) = entry.rows
        assert [Fraction(w, sum(w for _, w in worst)) for _, w in worst] == [p / sum(exact) for p in exact]


def assert_worst(entry: LeanEntry, low: Vector, high: Vector, v: list[Fraction]) -> None:
    """What Lean checks of a row: within its bounds, at the lower above the threshold, at the upper below it."""
    (row,), box = entry.rows, entry.box
    assert box is not None
    total, threshold = sum(w for _, w in row), v[box.pivot]
    assert {i for i, x in enumerate(high) if x > 0} == {i for i, _ in row}
    for (i, w), (least, most) in zip(row, box.bounds, strict=True):
        assert (Fraction(least, total), Fraction(most, total)) == (low[i], high[i])
        assert least <= w <= most
        assert w == least or v[i] <= threshold
        assert w == most or v[i] >= threshold


def vertex_kernel(mdp: ExactMDP, low: Kernel, high: Kernel, order: tuple[int, ...]) -> Kernel:
    """The kernel of all rows that are filled up in one order of the states: for each value function one is worst."""

    def row(least: Vector, most: Vector) -> Vector:
        filled, left = list(least), 1 - sum(least)
        for i in order:
            step = min(left, most[i] - least[i])
            filled[i] += step
            left -= step
        return tuple(filled)

    pairs = range(mdp.n_actions)
    return tuple(tuple(row(low[s][a], high[s][a]) for a in pairs) for s in range(mdp.n_states))


@claim("C47", lean="RESAC.Problem.sound")
def test_c47_unavailable_actions_repeat_an_available_one() -> None:
    """Where an action is unavailable, the state's first available one stands in its place."""
    mdp = FiniteMDP.from_arrays(
        [[[1.0, 0], [0, 1.0]], [[0.5, 0.5], [0, 0]]], [[1.0, 0], [2.0, 0]], 0.5, available=[[True, True], [True, False]]
    )
    found = certificate(RevOperator(mdp), np.array([[1.0, 2], [3, -np.inf]]))
    assert found.states[1][1] == found.states[1][0]


@claim("C47", lean="RESAC.Problem.sound")
def test_c47_a_policy_whose_rows_miss_one_is_divided_by_its_exact_sum() -> None:
    """Three and seven tenths in float64 do not make one; all states get weights of the same sum."""
    policy = np.array([[0.3, 0.7], [1.0, 0.0]])
    mdp = FiniteMDP.from_arrays([[[1.0, 0], [0, 1.0]], [[0.5, 0.5], [0, 1.0]]], [[1.0, 0], [2.0, 0]], 0.5)
    found = certificate(RevOperator(mdp, value=PolicyMean(policy)), np.zeros((2, 2)))
    first = [Fraction(p) for p in policy[0].tolist()]
    assert sum(first) != 1
    for state, row in zip(found.states, ([p / sum(first) for p in first], [1, 0]), strict=True):
        assert [Fraction(e.weight, found.scale) for e in state] == row


@claim("C47", lean="RESAC.Problem.sound")
def test_c47_residuals_between_two_numerators_are_rounded_outwards() -> None:
    """Rows of float thirds do not sum to a power of two, so the residual is no multiple of 1/den."""
    rows, q = [[[1 / 3, 2 / 3]], [[2 / 3, 1 / 3]]], [0.3, 0.1]
    found = certificate(RevOperator(FiniteMDP.from_arrays(rows, [[1.0], [0.0]], 0.5)), np.array(q)[:, None])
    residual = []
    for s, reward in enumerate((1, 0)):
        weights = [Fraction(p) for p in rows[s][0]]
        mean = sum(p * Fraction(x) for p, x in zip(weights, q, strict=True)) / sum(weights)
        residual.append((reward + mean / 2 - Fraction(q[s])) * found.den)
    assert all(x.denominator > 1 for x in residual)
    assert found.low < min(residual) < found.low + 1
    assert found.high - 1 < max(residual) < found.high


@given(st.fractions(0, 10**6))
def test_bounds_are_rounded_up_to_few_digits(x: Fraction) -> None:
    """rounded_up(x) is at least x, by at most one in a hundred."""
    assert x <= rounded_up(x) <= x * Fraction(101, 100)


# ---------------------------------------------------------------------------------------------- rounding


def row_model(weights: list[float], reward: float, discount: float) -> FiniteMDP:
    """One state and one action whose row is cut into as many self-loops: only the arithmetic matters here."""
    n = len(weights)
    row = np.array(weights) / np.sum(weights)
    transition = np.tile(row, (n, 1, 1))
    return FiniteMDP.from_arrays(transition, np.full((n, 1), reward), discount)


NORMAL = st.floats(-1e6, 1e6, allow_nan=False)
WEIGHTS = st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=7)


@claim("C48", lean=("RESAC.Sums.error", "RESAC.backup_error", "RESAC.backup_formula"))
@given(st.data(), WEIGHTS, NORMAL, st.floats(0.0, 0.999), st.sampled_from([1.0, 1e-300, 1e200]))
def test_c48_the_compiled_backup_errs_by_no_more_than_the_theorem_says(
    data: st.DataObject, weights: list[float], reward: float, discount: float, scale: float
) -> None:
    """The sweep's own order of operations, against exact rationals, theorem and code."""
    mdp = row_model(weights, reward, discount)
    n = mdp.n_states
    v = np.array(data.draw(st.lists(NORMAL, min_size=n, max_size=n))) * scale
    total = 0.0
    for p, x in zip(mdp.dense()[0, 0], v, strict=True):
        total += float(p) * float(x)
    q = reward + discount * total
    row = [Fraction(float(p)) for p in mdp.dense()[0, 0]]
    rho, size = Fraction(mdp.row_error), Fraction(float(np.abs(v).max()))
    exact = Fraction(reward) + Fraction(discount) * sum(
        p * Fraction(float(x)) for p, x in zip(row, v, strict=True)
    ) / sum(row)
    error = abs(Fraction(q) - exact)
    power = (1 + U) ** (n + 1)
    theorem = (
        U * abs(Fraction(q)) + ETA + Fraction(discount) * (((power - 1) * (1 + rho) + rho) * size + n * ETA * power)
    )
    assert error <= theorem
    code = Rounding(RevOperator(mdp), fused=True).backup(float(size), abs(q))
    assert theorem <= Fraction(code)


@claim("C48", lean=("RESAC.formula_covers", "RESAC.pow_le_of_small"))
@given(
    st.floats(0, 1e300), st.floats(0, 1e300), st.floats(0, 1 - 2**-53), st.integers(1, 10**9),
    st.sampled_from([0.0, 2.0**-52, 1e-9, 1e-3]),
)  # fmt: skip
def test_c48_the_factor_covers_quadratic_terms_and_the_formula_s_own_rounding(
    v_size: float, q_size: float, discount: float, row: int, row_error: float
) -> None:
    """1.02·(…) in float64 is at least 1.015·(…) in rationals, and that at least the theorem's bound."""
    products = discount * v_size * ((row + 1) * UNIT + row_error)
    computed = Fraction(1.02 * (products + UNIT * q_size) + 4.0 * (row + 8) * SUBNORMAL)
    gamma, size, rho = Fraction(discount), Fraction(v_size), Fraction(row_error)
    formula = Fraction(203, 200) * (gamma * size * ((row + 1) * U + rho) + U * Fraction(q_size))
    assert computed >= formula + ETA * (1 + Fraction(203, 200) * row)


@claim("C48", lean="RESAC.backup_formula")
@pytest.mark.parametrize("n", [1, 10, 1000])
def test_c48_powers_of_small_rounding(n: int) -> None:
    """(1 + u)ᴺ − 1 ≤ 1.0102·N·u while N·u ≤ 1/100, also at the limit."""
    for u in (U, Fraction(1, 100 * n)):
        assert (1 + u) ** n - 1 <= Fraction(10102, 10000) * n * u
