"""The exact twin on small examples that are worked out by hand or by plain loops: linear systems that need a pivot,
polytopes, live penalties, masks, and what is refused at the limit of what is allowed."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tabular.exact import ExactLive, ExactMDP, ExactRev, s_rectangular, sets, shift, sup_distance
from pyresac.tabular.exact.linear import solve_linear
from pyresac.tabular.exact.mdp import vector
from pyresac.tabular.exact.polytopes import vertices

F = Fraction
HALF = F(1, 2)
KERNEL = (
    ((HALF, HALF, 0), (0, 0, 1)),
    ((0, 1, 0), (F(1, 4), F(1, 4), HALF)),
    ((1, 0, 0), (0, HALF, HALF)),
)
REWARD = ((1, 2), (-1, 0), (F(1, 2), 3))
SOME = ((True, True), (False, True), (True, False))


def mdp(**changes: object) -> ExactMDP:
    options = {"transition": KERNEL, "reward": REWARD, "discount": F(3, 4)} | changes
    return ExactMDP(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_regular_systems_are_solved_exactly(size: int) -> None:
    """Also those whose first pivots are 0: every matrix of small whole numbers that is regular, in turn."""
    rng, solved = np.random.default_rng(size), 0
    for _ in range(60):
        matrix = [[F(int(x)) for x in row] for row in rng.integers(-1, 3, size=(size, size))]
        x = [F(int(a), int(b)) for a, b in zip(rng.integers(-5, 6, size), rng.integers(1, 5, size), strict=True)]
        right = [sum((a * b for a, b in zip(row, x, strict=True)), F(0)) for row in matrix]
        before = [list(row) for row in matrix]
        if round(np.linalg.det(np.array(matrix, dtype=float))) == 0:
            with pytest.raises(StopIteration):
                solve_linear(matrix, right)
            continue
        solved += 1
        assert solve_linear(matrix, right) == x
        assert matrix == before
    assert solved > 5


def test_systems_of_unequal_sizes_are_none() -> None:
    for matrix, right in (([[F(1)]], [F(1), F(2)]), ([[F(1)], [F(2)]], [F(1)]), ([[F(1), F(2)], [F(3)]], [F(1), F(2)])):
        with pytest.raises(ValueError, match="zip"):
            solve_linear(matrix, right)


def test_corners_of_a_polytope_by_hand() -> None:
    """Of three states, p₀ ≤ ½ and p₀ + p₁ ≤ ¾: six edges meet in five corners, one of which is met twice."""
    found = vertices([[1, 0, 0], [1, 1, 0]], [HALF, F(3, 4)], 3)
    assert sorted(found) == [(0, 0, 1), (0, F(3, 4), F(1, 4)), (HALF, 0, HALF), (HALF, F(1, 4), F(1, 4))]
    assert vertices([], [], 2) in ([(1, 0), (0, 1)], [(0, 1), (1, 0)])
    assert vertices([[1, 1]], [HALF], 2) == []
    assert vertices([[1, 1]], [1], 2) == [(1, 0), (0, 1)], "each once, though its basis is not unique"
    assert vertices([[-1, 0], [1, 0]], [-HALF, HALF], 2) == [(HALF, HALF)]
    for matrix, bound in (([[1, 1]], [1, 1]), ([[1]], [1]), ([[1, 1], [1]], [1, 1])):
        with pytest.raises(InputError, match="the inequalities must be rows of 2 numbers, each with a bound"):
            vertices(matrix, bound, 2)


def test_live_penalties_by_loops() -> None:
    """Every kind and target on a model in which some pairs are not there: those hold 0."""
    model, heads = mdp(available=SOME), (REWARD, ((0, 5), (7, -3), (2, 9)), ((1, 1), (4, 4), (-2, 0)))
    best = ExactRev(model)
    lam = F(2, 3)
    pairs = [(s, a) for s, a in product(range(3), range(2)) if SOME[s][a]]
    scaled, norm = ExactLive(model, "scaled", lam).single(heads[1]), ExactLive(model, "norm", lam).single(heads[1])
    plain = best(heads[1])
    for s, a in product(range(3), range(2)):
        x = heads[1][s][a]
        here = (s, a) in pairs
        assert scaled[s][a] == (plain[s][a] + lam * x if here else 0)
        assert norm[s][a] == (plain[s][a] - F(3, 4) * lam * abs(x) if here else 0)
    mean_table = tuple(tuple(F(sum(q[s][a] for q in heads), 3) for a in range(2)) for s in range(3))
    for target in ("head", "mean"):
        found = ExactLive(model, "variance", lam, target=target).heads(heads)
        assert len(found) == 3
        for k, (s, a) in product(range(3), product(range(3), range(2))):
            values = [F(q[s][a]) for q in heads]
            mean = sum(values, F(0)) / 3
            spread = sum(((x - mean) ** 2 for x in values), F(0)) / 2
            base = best(heads[k] if target == "head" else mean_table)[s][a]
            assert found[k][s][a] == (base - F(3, 4) * lam * spread if (s, a) in pairs else 0)
        two = ExactLive(model, "gap", lam, target=target).heads(heads[:2])
        mean_of_two = tuple(tuple(F(heads[0][s][a] + heads[1][s][a], 2) for a in range(2)) for s in range(3))
        for k, (s, a) in product(range(2), pairs):
            base = best(heads[k] if target == "head" else mean_of_two)[s][a]
            assert two[k][s][a] == base - F(3, 4) * lam * abs(heads[0][s][a] - heads[1][s][a])
    worst = ExactLive(model, "scaled", lam, value="min").single(heads[1])
    assert worst[1][1] == ExactRev(model, value="min")(heads[1])[1][1] + lam * heads[1][1][1]
    for wrong in ((heads[0], heads[1][:2]), (((1,), (1,), (1,)), heads[0])):
        with pytest.raises(InputError, match=r"head [01] has"):
            ExactLive(model, "variance", lam).heads(wrong)


@pytest.mark.parametrize("at", ["pair", "next"])
@pytest.mark.parametrize("value", ["max", "min", "policy"])
def test_a_backup_by_loops(at: str, value: str) -> None:
    """Penalties, kernels, ends of episodes, and pairs that are not there; the fixed point is one, and of no other."""
    model = mdp(available=SOME)
    epistemic = ((1, F(1, 3)), (2, 0), (F(5, 2), 7))
    done = ((False, True), (False, False), (False, True))
    other = (((0, 0, 1), (HALF, 0, HALF)), ((1, 0, 0), (0, 0, 1)), ((F(1, 3), F(1, 3), F(1, 3)), (1, 0, 0)))
    policy = ((F(1, 3), F(2, 3)), (0, 1), (1, 0))
    chosen = policy if value == "policy" else value
    rev = ExactRev(
        model, epistemic, F(1, 2), F(1, 5), chosen, kernels=[KERNEL, other], penalty_at=at, done=done,  # type: ignore[arg-type]
    )  # fmt: skip

    def backup(q: object) -> list[list[Fraction]]:
        seen = [[F(q[s][a]) - (F(1, 2) * epistemic[s][a] if at == "next" else 0) for a in range(2)] for s in range(3)]  # type: ignore[index]
        v = []
        for s in range(3):
            there = [seen[s][a] for a in range(2) if SOME[s][a]]
            mean = sum((policy[s][a] * seen[s][a] for a in range(2)), F(0))
            v.append({"max": max(there), "min": min(there), "policy": mean}[value])
        assert rev.value_of(q) == tuple(v)  # type: ignore[arg-type]
        rows = [[F(0)] * 2 for _ in range(3)]
        for s, a in product(range(3), range(2)):
            if SOME[s][a]:
                worst = min(sum((F(p) * x for p, x in zip(k[s][a], v, strict=True)), F(0)) for k in (KERNEL, other))
                paid = F(1, 5) + (F(1, 2) * epistemic[s][a] if at == "pair" else 0)
                rows[s][a] = REWARD[s][a] + (0 if done[s][a] else F(3, 4) * (worst - paid))
        return rows

    q: object = ((1, -2), (3, 4), (F(1, 7), 0))
    assert [list(row) for row in rev(q)] == backup(q)  # type: ignore[arg-type]
    found = rev.fixed_point()
    assert [list(row) for row in found] == backup(found)
    assert all(found[s][a] == 0 for s, a in product(range(3), range(2)) if not SOME[s][a])
    for s, a in product(range(3), range(2)):
        assert rev.frozen(s, a) == F(1, 5) + (F(1, 2) * epistemic[s][a] if at == "pair" else 0)


def test_tables_are_moved_and_measured() -> None:
    assert shift(REWARD, F(1, 2)) == tuple(tuple(x + F(1, 2) for x in row) for row in REWARD)
    other = ((1, 2), (-1, F(-7, 2)), (2, 3))
    assert sup_distance(REWARD, other) == F(7, 2)
    assert sup_distance((), ()) == 0
    assert mdp().constant(F(1, 3)) == ((F(1, 3),) * 2,) * 3
    assert (mdp().n_states, mdp().n_actions, mdp().actions(1), mdp(available=SOME).actions(1)) == (3, 2, [0, 1], [1])
    assert vector("v", [1, 2]) == vector("v", [1, 2], 2) == (1, 2)
    with pytest.raises(InputError, match="v has 2 entries; expected 3"):
        vector("v", [1, 2], 3)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"reward": REWARD[:2]}, "reward has 2 rows of lengths [2]; expected 3 states × 2 actions, each at least 1"),
        ({"reward": ((1,), (1, 2), (1, 2))}, "reward has 3 rows of lengths [1, 2]; expected 3 states × 2 actions"),
        ({"transition": ()}, "reward has 3 rows of lengths [2]; expected 0 states × 0 actions"),
        ({"transition": (((1,),),), "reward": ((1,),), "discount": 1}, "discount is 1; it must lie in [0, 1)"),
        ({"discount": F(-1, 9)}, "discount is -1/9; it must lie in [0, 1)"),
        ({"available": (*SOME[:2], (False, False))}, "state s=2 has no available action"),
        ({"transition": ((*KERNEL[0][:1], (0, 1)), *KERNEL[1:])}, "row (s=0, a=1) of transition has 2 entries"),
    ],
)
def test_models_that_are_none(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        mdp(**changes)


def test_worst_rows_by_hand() -> None:
    p, v = (F(1, 8), F(3, 8), HALF, F(0)), (F(4), F(1), F(2), F(0))
    for worst, row in (
        (sets.l1(HALF), (0, F(3, 8), F(3, 8), F(1, 4))),
        (sets.l1(HALF, "nominal"), (0, F(5, 8), F(3, 8), 0)),
        (sets.l1(2), (0, 0, 0, 1)),
        (sets.total_variation(F(1, 4)), (0, F(3, 8), F(3, 8), F(1, 4))),
        (sets.total_variation(F(1, 4), "nominal"), (0, F(5, 8), F(3, 8), 0)),
        (sets.contamination(F(1, 4)), (F(3, 32), F(9, 32), F(3, 8), F(1, 4))),
        (sets.contamination(F(1, 4), "nominal"), (F(3, 32), F(17, 32), F(3, 8), 0)),
        (sets.cvar(HALF), (0, F(3, 4), F(1, 4), 0)),
        (sets.cvar(1), p),
        (sets.l_infinity(F(1, 8)), (0, HALF, HALF, 0)),
        (sets.l_infinity(1), (0, 1, 0, 0)),
    ):
        assert tuple(worst(p, v)) == row
    line = [[abs(x - y) for y in range(4)] for x in range(4)]
    # one step from 0 to 1 gains three, from 2 to 3 two, from 1 by 2 to 3 half of one a step
    for radius, row in (
        (0, p),
        (F(1, 16), (F(1, 16), F(7, 16), HALF, 0)),
        (F(1, 8), (0, HALF, HALF, 0)),
        (F(3, 8), (0, HALF, F(1, 4), F(1, 4))),
        (F(5, 8), (0, HALF, 0, HALF)),
        (F(13, 8), (0, 0, 0, 1)),
        (9, (0, 0, 0, 1)),
    ):
        assert tuple(sets.transport(line, radius)(p, v)) == row
    assert sets.filled((0, F(1, 4), 0), (HALF, 1, HALF), (3, 2, 1)) == [0, HALF, HALF]
    # ties go to the first
    assert sets.filled((0, 0), (1, 1), (1, 1)) == [1, 0]


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_a_budget_for_one_action_is_that_of_its_ball(norm: str) -> None:
    """With more actions the least of them cannot do better than the best alone, nor worse than sharing evenly."""
    v, radius = (F(3), F(0), F(-2)), F(1, 4)
    ball = sets.l1 if norm == "l1" else sets.l_infinity
    one = mdp(transition=tuple(state[:1] for state in KERNEL), reward=tuple(row[:1] for row in REWARD))
    exact = ExactRev(one, inner=ball(radius)).backup(v)
    assert s_rectangular.backup(one, v, radius, norm) == [row[0] for row in exact]  # type: ignore[arg-type]
    both, half = mdp(), ExactRev(mdp(), inner=ball(radius / 2)).backup(v)
    worst = ExactRev(both, inner=ball(radius)).backup(v)
    for s, found in enumerate(s_rectangular.backup(both, v, radius, norm)):  # type: ignore[arg-type]
        assert max(worst[s]) <= found <= max(half[s])
    some = mdp(available=SOME)
    assert s_rectangular.backup(some, v, radius, norm)[1] == worst[1][1]  # type: ignore[arg-type]


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_the_curve_of_an_action_is_its_value_at_every_budget(norm: str) -> None:
    """Between the budgets at which it turns it is straight: at many others the ball's own worst row says the same."""
    rng, ball = np.random.default_rng(3), sets.l1 if norm == "l1" else sets.l_infinity
    for n in (1, 2, 3, 4, 5, 6, 7):
        for distinct in (False, True, True, True):
            p = [F(int(x), 24) for x in rng.multinomial(24, rng.dirichlet(np.ones(n)))]
            v = [F(int(x)) for x in (rng.permutation(n) ** 2 if distinct else rng.integers(-4, 5, size=n))]
            curve = s_rectangular._curve(p, v, F(2), HALF, norm)  # type: ignore[arg-type]
            budgets, values = zip(*curve, strict=True)
            assert budgets[0] == 0
            assert list(budgets) == sorted(set(budgets))
            assert list(values) == sorted(set(values), reverse=True)
            for k in range(49):
                budget = F(k, 24 if norm == "l1" else 48)
                found = values[-1]
                for (left, high), (right, low) in pairwise(curve):
                    if left <= budget <= right:
                        found = high + (low - high) * (budget - left) / (right - left)
                row = ball(budget)(p, v)
                assert found == 2 + HALF * sum((a * b for a, b in zip(row, v, strict=True)), F(0))
