"""Rows that are filled from one end of the values, and transport plans, without Numba: on numbers that do not round
each value is the exact twin's, the weights are a row of the set that attains it, and where a search begins does not
matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from interpreted_kernels import interpret, plain

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, IntervalSet, L1Ball, WassersteinBall
from pyresac.tabular.exact import sets
from pyresac.tabular.expectations import filling, intervals, l1, rows, wasserstein
from pyresac.tabular.expectations.base import WorstRows


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Within it nothing is compiled."""
    for module in (filling, intervals, l1, wasserstein):
        interpret(monkeypatch, module)
    with np.errstate(over="ignore"):
        yield


def exact(values: np.ndarray) -> tuple[Fraction, ...]:
    return tuple(Fraction(float(x)) for x in values)


def cases(seed: int, most: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows of sixteenths or finer, some of them 0, and values with ties."""
    rng = np.random.default_rng(seed)
    for n in (1, 1, 2, 2, 3, 3, 4, 5, 5, 6, most, most):
        p = rng.multinomial(64, rng.dirichlet(np.full(n, 0.7))) / 64
        yield p, rng.integers(-3, 4 if n < 8 else 60, size=n).astype(float)


def solved(row: Callable[..., Any], p: np.ndarray, upper: np.ndarray, x: np.ndarray, *rest: Any) -> tuple[Any, ...]:
    """(value, moved, warm, weights) for each place to begin at; all must be the same. rest: parameter, lowest."""
    found: list[tuple[float, float, float, list[float]]] = []
    for warm in (np.nan, *range(len(p))):
        w = np.full(len(p) + 2, np.nan)
        longer = np.append(x, [-99.0, 99.0])  # what is beyond the row is of no row
        value, moved, at = row(p, upper, longer, *rest, float(warm), True, w)
        assert np.isnan(w[len(p) :]).all()
        found.append((value, moved, at, w[: len(p)].tolist()))
        again = row(p, upper, np.append(x, [-99.0, 99.0]), *rest, float(warm), False, np.full(len(p) + 2, np.nan))
        assert again == (value, moved, at)
    assert all((one[0], one[1]) == found[0][:2] for one in found)
    assert all(one[3] == found[0][3] for one in found)
    return found[0]


def assert_solves(found: tuple[Any, ...], worst: sets.WorstRow, p: np.ndarray, x: np.ndarray, lowest: float) -> None:
    """The twin's value; a row that attains it, with the twin's weights wherever a value is one state's alone."""
    value, moved, _, weights = found
    states, mass = (*exact(x), Fraction(lowest)), (*exact(p), Fraction(0))
    row = worst(mass, states)
    best = sum((a * b for a, b in zip(row, states, strict=True)), Fraction(0))
    assert Fraction(float(value)) == best
    assert sum(exact(np.array(weights))) + Fraction(float(moved)) == 1
    assert min(weights) >= 0.0
    for level in set(states):
        here = sum((a for a, b in zip(row, states, strict=True) if b == level), Fraction(0))
        given = sum((Fraction(w) for w, b in zip(weights, states, strict=False) if b == level), Fraction(0))
        assert given + (Fraction(float(moved)) if level == lowest else 0) == here


@pytest.mark.parametrize("radius", [0.0, 0.125, 0.5, 1.0, 1.75, 2.0])
@pytest.mark.parametrize("below", [0.0, 2.0])
def test_rows_of_the_l1_ball(interpreted: None, radius: float, below: float) -> None:
    """`below`: how far below the row's least value that of another state lies."""
    for p, x in cases(1, 30):
        lowest = float(x[p > 0.0].min() - below)
        found = solved(plain(l1.l1_row), p, p, x, radius, lowest)
        # a successor without mass may not be below what mass moves to
        high = np.maximum(x, lowest)
        assert_solves(found, sets.l1(Fraction(radius)), p, high, lowest)
        row = sets.l1(Fraction(radius))((*exact(p), Fraction(0)), (*exact(high), Fraction(lowest)))
        left = sum((a - b for a, b, y in zip(exact(p), row, high, strict=False) if y > lowest), Fraction(0))
        assert Fraction(float(found[1])) == left, "what is lowest already stays"


@pytest.mark.parametrize("share", [0.0, 0.125, 0.5, 1.0])
def test_rows_of_a_contamination(interpreted: None, share: float) -> None:
    for p, x in cases(2, 9):
        lowest = float(x.min() - 1.0)
        for warm, wanted in ((np.nan, True), (3.0, True), (7.0, False)):
            w = np.full(len(p), np.nan)
            value, moved, at = plain(l1.contaminated_row)(p, p, x.copy(), share, lowest, warm, wanted, w)
            row = sets.contamination(Fraction(share))((*exact(p), Fraction(0)), (*exact(x), Fraction(lowest)))
            assert Fraction(value) == sum(a * b for a, b in zip(row, (*exact(x), Fraction(lowest)), strict=True))
            assert moved == share
            assert at == warm or np.isnan(warm)
            assert np.isnan(w).all() if not wanted else exact(w) == tuple(row[:-1])


@pytest.mark.parametrize("alpha", [0.125, 0.25, 0.5, 1.0])
def test_rows_of_the_mean_of_a_tail(interpreted: None, alpha: float) -> None:
    for p, x in cases(3, 40):
        found = solved(plain(intervals.tail_row), p, p, x, alpha, np.nan)
        assert found[1] == 0.0
        assert_solves(found, sets.cvar(Fraction(alpha)), p, x, 99.0)
        twice = solved(plain(intervals.tail_row), 2.0 * p, p, x, alpha, np.nan)
        assert twice[0] == found[0], "a row is divided by its sum"


@pytest.mark.parametrize("width", [0.0, 0.0625, 0.25, 1.0])
def test_rows_of_intervals(interpreted: None, width: float) -> None:
    for p, x in cases(4, 40):
        low, high = np.maximum(p - width, 0.0), np.minimum(p + width, 1.0)
        value, moved, _, weights = solved(plain(intervals.interval_row), low, high, x, 0.0, np.nan)
        row = sets.filled(exact(low), exact(high), exact(x))
        assert Fraction(value) == sum(a * b for a, b in zip(row, exact(x), strict=True))
        assert (moved, sum(exact(np.array(weights)))) == (0.0, 1)
        assert ((low <= weights) & (weights <= high)).all()
        assert Fraction(value) == sum(a * b for a, b in zip(exact(np.array(weights)), exact(x), strict=True))


@pytest.mark.parametrize("n", [1, 2, 12, 13, 14, 40])
def test_a_level_is_found_from_everywhere(interpreted: None, n: int) -> None:
    """Beyond twelve steps a sort takes over; either way the level, what is below it and on it are those of a loop."""
    rng = np.random.default_rng(n)
    fill, sort = plain(filling.fill_level), plain(filling.level_by_sorting)
    for ties in (False, True):
        x = rng.permutation(n).astype(float) // (2 if ties else 1)
        room = rng.integers(0, 4, size=n) / 16.0
        room[0] += 0.0625
        longer = np.append(x, -5.0)
        for left in (0.0, 0.03125, room.sum() / 2, float(room.sum()), room.sum() + 1.0):
            up_to = {level: room[x <= level].sum() for level in x}
            enough = [level for level in x if up_to[level] >= left]
            first = min(enough) if enough else x.max()
            for warm in (np.nan, *range(n)):
                before = (room.copy(), longer.copy())
                level, below, on, at = fill(n, room, longer, left, float(warm))
                assert below == room[x < level].sum()
                assert below <= left
                assert on == min(left - below, up_to[level] - below)
                assert below + on == min(left, room.sum())
                assert x[int(at)] == level
                if np.isnan(warm):
                    assert level == first
                elif level != x[int(warm)]:
                    # the next value but for those without room
                    assert level == first or below == left
                else:
                    assert at == warm
                np.testing.assert_array_equal(before[0], room)
                np.testing.assert_array_equal(before[1], longer)
            if enough:
                assert sort(room, longer, left) == (first if left > 0.0 else x.min())
    assert sort(np.empty(0), longer, 1.0) == -np.inf


METRICS = {
    "line": lambda n: np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float),
    "discrete": lambda n: 1.0 - np.eye(n),
    "one way": lambda n: np.add.outer(np.arange(n), 2.0 * np.arange(n)) % 5 * (1.0 - np.eye(n)),
}


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_transport_plans(interpreted: None, kind: str, sign: float) -> None:
    """Hulls and plans of rows of unequal length, at some of the pairs, into room that was used before."""
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 5, 7):
        cost, v = METRICS[kind](n), rng.integers(-4, 5, size=n).astype(float)
        ball = WassersteinBall(0.5, cost)
        order, path, length = ball._order, np.full((n, n), -1, dtype=np.int32), np.zeros(n, dtype=np.int64)
        assert (np.diff(np.take_along_axis(cost, order, axis=1), axis=1) >= 0.0).all()
        plain(wasserstein.hulls)(cost, order, sign, v, path, length)
        signed = exact(sign * v)
        for x in range(n):
            hull = sets._hull(exact(cost[x]), signed)
            # of states at one place of the hull either may be named
            points = [(cost[x, y], v[y]) for y in path[x, : length[x]]]
            assert points == [(cost[x, y], v[y]) for y in hull]
        rows_of = [rng.multinomial(16, rng.dirichlet(np.full(n, 0.7))) / 16 for _ in range(4)]
        kept = [np.flatnonzero(p if i else np.ones(n)) for i, p in enumerate(rows_of)]
        indptr = np.concatenate([[0], np.cumsum([len(k) for k in kept])])
        indices, data = np.concatenate(kept), np.concatenate([p[k] for p, k in zip(rows_of, kept, strict=True)])
        radius = np.array([0.0, 0.25, 0.5, 9.0])
        for pairs in (np.empty(0, dtype=np.int64), np.array([2, 0, 3])):
            count = len(pairs) or 4
            room = np.full(count, n + 1)
            for wanted in (False, True):
                slots = np.concatenate([[0], np.cumsum(room)]) if wanted else np.empty(0, dtype=np.int64)
                columns, weights = np.full(room.sum(), 77), np.full(room.sum(), 77.0)
                out = np.full(count + 1, 77.0)
                plain(wasserstein.over_plans)(
                    indptr, indices, data, radius, cost, path, length, sign, v, pairs, slots, 0, count, out, columns,
                    weights,
                )  # fmt: skip
                assert out[count] == 77.0
                for i in range(count):
                    pair = int(pairs[i]) if len(pairs) else i
                    row = sets.transport([exact(c) for c in cost], Fraction(radius[pair]))(exact(rows_of[pair]), signed)
                    best = float(sum((a * b for a, b in zip(row, exact(v), strict=True)), Fraction(0)))
                    assert out[i] == pytest.approx(best, abs=1e-14)
                    if wanted:
                        part = slice(slots[i], slots[i + 1])
                        assert weights[part].min() >= 0.0
                        assert weights[part].sum() == pytest.approx(1.0, abs=1e-14)
                        assert weights[part] @ v[columns[part]] == pytest.approx(best, abs=1e-14)
                        moved = np.zeros(n)
                        np.add.at(moved, columns[part], weights[part])
                        if radius[pair] == 0.0:
                            assert moved @ v == pytest.approx(rows_of[pair] @ v, abs=1e-14) or kind == "one way"
                if not wanted:
                    assert (columns == 77).all()
                    assert (weights == 77.0).all()


def toy_row(p: Any, upper: Any, x: Any, parameter: float, lowest: float, warm: float, wanted: bool, w: Any) -> Any:
    """Writes down what it is given: half of each weight stays, the rest moves."""
    SEEN.append((p.tolist(), upper.tolist(), x[: len(p)].tolist(), parameter, lowest, warm, wanted))
    w[: len(p)] = 0.5 * p
    return float(p @ x[: len(p)]) + 0.5, 0.5 if parameter > 0.0 else 0.0, 10.0 * parameter


SEEN: list[tuple[Any, ...]] = []


@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_a_row_is_given_and_where_its_answer_goes(
    everywhere: bool, sign: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of two, no and three successors, one without mass: by pairs or in order, from `start` to `stop`."""
    loop = rows._over_rows
    monkeypatch.setitem(loop.__globals__, "row", toy_row)
    indptr, indices = np.array([0, 2, 2, 5, 6]), np.array([1, 3, 0, 2, 3, 2])
    first = np.array([0.25, 0.75, 0.5, 0.0, 0.5, 1.0])
    second, parameter = first + 1.0, np.array([0.0, 0.5, 0.25, 0.75])
    v = np.array([2.0, -1.0, -4.0, 3.0])
    lowest_at = int(np.argmin(sign * v))
    lowest = float(sign * v[lowest_at])
    for pairs, start, stop in ((np.empty(0, dtype=np.int64), 0, 4), (np.array([3, 2, 0, 1]), 1, 4)):
        for wanted in (False, True):
            for warm in (np.empty(0), np.array([7.0, 8.0, 9.0, 6.0])):
                SEEN.clear()
                slots = np.array([0, 4, 8, 12, 16]) if wanted else np.empty(0, dtype=np.int64)
                out, columns, weights = np.full(5, 77.0), np.full(17, 77), np.full(17, 77.0)
                before = warm.copy()
                loop(
                    indptr, indices, first, second, parameter, warm, everywhere, sign, v, lowest, lowest_at, pairs,
                    slots, start, stop, out, columns, weights,
                )  # fmt: skip
                assert out[4] == 77.0
                assert (columns[16], weights[16]) == (77, 77.0)
                seen = iter(list(SEEN))
                for i in range(4):
                    pair = int(pairs[i]) if len(pairs) else i
                    part = slice(indptr[pair], indptr[pair + 1])
                    if not start <= i < stop:
                        assert out[i] == 77.0
                        assert not wanted or (columns[4 * i : 4 * i + 4] == 77).all()
                        continue
                    p, x, states = first[part], sign * v[indices[part]], indices[part]
                    expected = dict.fromkeys(range(4), 0.0)
                    if len(p):
                        floor = lowest if everywhere else float(x[p > 0.0].min())
                        guess = before[pair] if len(before) else np.nan
                        np.testing.assert_equal(
                            next(seen),
                            (p.tolist(), second[part].tolist(), x.tolist(), parameter[pair], floor, guess, wanted),
                        )
                        assert out[i] == sign * (p @ x + 0.5)
                        if len(warm):
                            assert warm[pair] == 10.0 * parameter[pair]
                        for y, mass in zip(states, p, strict=True):
                            expected[int(y)] += 0.5 * mass
                        if parameter[pair] > 0.0:
                            at = lowest_at if everywhere else int(states[(p > 0.0) & (x == floor)][0])
                            expected[at] += 0.5
                    else:
                        assert out[i] == 0.0
                    if wanted:
                        found = dict.fromkeys(range(4), 0.0)
                        for y, mass in zip(columns[4 * i : 4 * i + 4], weights[4 * i : 4 * i + 4], strict=True):
                            found[int(y)] += float(mass)
                        assert found == expected
                        moves = len(p) and parameter[pair] > 0.0 and everywhere
                        beyond = slice(4 * i + len(p) + bool(moves), 4 * i + 4)
                        assert not columns[beyond].any()
                        assert not weights[beyond].any()
                assert next(seen, None) is None


def test_pairs_workers_and_room() -> None:
    """A number a pair that is named; into what is given; with as much room as the worst row may need."""
    mdp = FiniteMDP.from_arrays(np.full((3, 2, 3), [0.5, 0.5, 0.0]), np.zeros((3, 2)), 0.5)
    ball, v = L1Ball(0.5).bound_to(mdp), np.array([1.0, 3.0, -1.0])
    assert ball.bound_to(mdp) is ball
    assert ball.room(mdp).tolist() == (np.diff(mdp.csr()[0]) + 1).tolist()
    out = np.empty(2)
    assert ball.expect(mdp, v, pairs=np.array([1, 4]), out=out) is out
    assert out.tolist() == [1.0, 1.0]
    room = WorstRows.for_pairs(ball.room(mdp))
    assert room.slots.tolist() == np.concatenate([[0], np.cumsum(ball.room(mdp))]).tolist()
    assert (len(room.columns), len(room.weights)) == (room.slots[-1],) * 2
    none = WorstRows.none()
    assert (len(none.slots), len(none.columns), len(none.weights)) == (0, 0, 0)
    best = L1Ball(0.5, optimistic=True)
    assert best(mdp, v).tolist() == [[2.5, 2.5]] * 3
    assert best.worst_rows(mdp, v).toarray().tolist() == [[0.25, 0.75, 0.0]] * 6
    assert ball.worst_rows(mdp, v).toarray().tolist() == [[0.5, 0.25, 0.25]] * 6
    assert ball.worst_rows(mdp, v).nnz == 18
    for given, said in (("some", "support is 'some'"), (None, "support is None")):
        with pytest.raises(InputError, match=said):
            L1Ball(0.5, given)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="optimistic is 1; it must be True or False"):
        L1Ball(0.5, optimistic=1)  # type: ignore[arg-type]
    own = np.full((3, 2), 0.5)
    kept = L1Ball(own)
    own[:] = 9.0
    assert np.asarray(kept.radius).tolist() == [[0.5] * 2] * 3


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (np.zeros((2, 3)), r"metric has shape \(2, 3\); expected \(S, S\)"),
        (np.zeros((0, 0)), "metric"),
        ([[0.0, 1.0], [-2.0, 0.0]], r"metric is -2\.0 from s=1 to s=0; distances are at least 0"),
        ([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.5]], r"metric is 0\.5 from s=2 to s=2"),
        ([[0.0, 1.0, 1.0], [1.0, 0.5, 1.0], [1.0, 1.0, 0.0]], r"metric is 0\.5 from s=1 to s=1"),
    ],
)
def test_metrics_that_are_none(metric: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        WassersteinBall(0.5, metric)
    mdp = FiniteMDP.from_arrays(np.full((3, 1, 3), [0.5, 0.5, 0.0]), np.zeros((3, 1)), 0.5)
    with pytest.raises(InputError, match=r"metric has shape \(2, 2\); the MDP asks for \(3, 3\)"):
        WassersteinBall(0.5, np.zeros((2, 2)))(mdp, np.zeros(3))


def test_intervals_that_are_none_name_the_pair() -> None:
    """The first bad entry, by its state, action and successor; rows that are not there are not looked at."""
    mdp = FiniteMDP.from_arrays(np.full((3, 2, 3), 1 / 3), np.zeros((3, 2)), 0.5, renormalise=True)
    some = FiniteMDP.from_arrays(
        mdp.dense(), np.zeros((3, 2)), 0.5, available=[[True, True], [True, False], [True, True]], renormalise=True
    )
    lower, upper = np.zeros((3, 2, 3)), np.ones((3, 2, 3))
    for which, value, said in (
        ("lower", -0.25, r"interval \[-0\.25, 1\.0\] at \(s=1, a=1, s'=2\)"),
        ("upper", 1.5, r"interval \[0\.0, 1\.5\] at \(s=1, a=1, s'=2\)"),
    ):
        bounds = {"lower": lower.copy(), "upper": upper.copy()}
        bounds[which][1, 1, 2] = value
        with pytest.raises(InputError, match=said):
            IntervalSet(bounds["lower"], bounds["upper"]).bound_to(mdp)
        assert IntervalSet(bounds["lower"], bounds["upper"])(some, np.arange(3.0))[1].tolist() == [0.0, 0.0]
    heavy, light = lower.copy(), upper.copy()
    heavy[1, 1], light[1, 1] = 0.5, 0.25
    for low, high, said in (
        (heavy, upper, r"row \(s=1, a=1\) has Σ lower = 1\.5 and Σ upper = 3\.0"),
        (lower, light, r"row \(s=1, a=1\) has Σ lower = 0\.0 and Σ upper = 0\.75"),
    ):
        with pytest.raises(InputError, match=said):
            IntervalSet(low, high).bound_to(mdp)
        IntervalSet(low, high).bound_to(some)
