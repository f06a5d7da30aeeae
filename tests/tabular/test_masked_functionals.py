"""Values, operators and live penalties by hand where actions are missing, numbers are flat or a count is small."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tabular import (
    EnsembleDeviation,
    EnsembleVariance,
    FiniteMDP,
    LiveOperator,
    Max,
    Mellowmax,
    Min,
    Nominal,
    NormPenalty,
    PolicyEntropy,
    PolicyMean,
    RevOperator,
    ScaledPenalty,
    Soft,
    empirical_modulus,
    ensemble_variance,
    solve,
)
from pyresac.tabular.exact import ExactMDP
from pyresac.tabular.readers import Arrays
from pyresac.tabular.solvers.models import GeneralModel, value_weights
from pyresac.tabular.values import UNIT, ValueFunctional

MASK = np.array([[False, True, True], [True, False, True], [True, True, True], [False, False, True]])
Q = np.array([[9.0, 1.0, 3.0], [2.0, -9.0, 2.0], [-1.0, 0.5, 0.25], [9.0, -9.0, -4.0]])


def test_greedy_actions_are_available_and_the_lowest_among_equals() -> None:
    for hidden in (9.0, -9.0, np.nan):
        q = np.where(MASK, Q, hidden)
        assert Max().greedy(q, MASK).tolist() == [2, 0, 1, 2]
        assert Min().greedy(q, MASK).tolist() == [1, 0, 0, 2]
    assert Max().greedy(Q).tolist() == [0, 0, 1, 0]
    assert Min().greedy(Q).tolist() == [1, 1, 0, 1]


@pytest.mark.parametrize("rate", [0.25, 2.0, 40.0])
def test_soft_policies_are_the_slopes_of_their_values(rate: float) -> None:
    """Of Soft and of Mellowmax, by the odds of two actions, written out; nothing falls on what is not available."""
    for value in (Soft(1.0 / rate), Mellowmax(rate)):
        for mask in (None, MASK):
            found = value.policy(np.where(MASK, Q, np.nan) if mask is not None else Q, mask)
            for s, row in enumerate(Q):
                there = [a for a in range(3) if mask is None or mask[s, a]]
                for a in range(3):
                    share = 1.0 / sum(math.exp(min(rate * (row[b] - row[a]), 700.0)) for b in there)
                    assert found[s, a] == (pytest.approx(share, rel=1e-12, abs=1e-300) if a in there else 0.0)


@pytest.mark.parametrize("omega", [5e-324, 1e-200, 1e-18, 1e-3, 1.0, 30.0])
def test_a_mellowmax_lies_on_the_available_actions_alone(omega: float) -> None:
    """(1/ω)·log of the mean of exp(ω·q), from the mean, which is its limit, on."""
    found = Mellowmax(omega)(np.where(MASK, Q, np.nan), MASK)
    for s, row in enumerate(Q):
        there = row[MASK[s]]
        top, mean = there.max(), there.mean()
        if omega < 1e-15:
            expected = mean
        elif omega == 1e-3:
            # the mean, half the variance times ω, and less than ω² times the cube of what lies between
            expected = mean + 0.5 * omega * there.var()
        else:
            expected = top + math.log(np.exp(omega * (there - top)).mean()) / omega
        assert found[s] == pytest.approx(expected, rel=1e-13, abs=1e-4 if omega == 1e-3 else 0.0)
    alone = Mellowmax(omega)(np.array([[5.0, 5.0, 5.0]]))
    assert alone.tolist() == [5.0]


@pytest.mark.parametrize(
    ("value", "row"),
    [
        (Max(), [0.0, 1.0, 0.0]), (Min(), [1.0, 0.0, 0.0]), (Soft(1e-3), [0.0, 1.0, 0.0]),
        (Mellowmax(1e4), [0.0, 1.0, 0.0]), (PolicyMean([[0.25, 0.5, 0.25]] * 2), [0.25, 0.5, 0.25]),
        (PolicyEntropy([[0.25, 0.5, 0.25]] * 2, 1.0), [0.25, 0.5, 0.25]),
    ],
)  # fmt: skip
def test_weights_of_a_value_are_its_slope_at_what_it_reads(value: ValueFunctional, row: list[float]) -> None:
    """In the next-pair form the penalty moves what is best."""
    rows = np.full((2, 3, 2), 0.5)
    mdp = FiniteMDP.from_arrays(rows, np.zeros((2, 3)), 0.5)
    penalty = np.array([[0.0, 0.0, 9.0], [4.0, 0.0, 9.0]])
    q = np.array([[1.0, 2.0, 9.0], [5.0, 3.0, 9.0]])
    operator = RevOperator(mdp, value=value, epistemic=penalty, lambda_epi=1.0, penalty_at="next")
    # what is read: (1, 2, 0) and (1, 3, 0); the least is the last
    wanted = [0.0, 0.0, 1.0] if isinstance(value, Min) else row
    assert value_weights(operator, q).tolist() == [wanted, wanted]
    model = GeneralModel(operator)
    v = np.array([1.0, 3.0])
    model.sweep(v)
    matrix = model.system(v, solve_loops=False).matrix.toarray()
    np.testing.assert_allclose(matrix, 0.25, rtol=1e-12)


@pytest.mark.parametrize("place", ["pair", "next"])
@pytest.mark.parametrize("kappa", [0.0, 0.25])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_what_is_frozen_is_written_out(place: Any, kappa: float, given: bool, masked: bool) -> None:
    """λΓ and κ at each pair, times the probability that the episode goes on; no penalty at terminals."""
    mdp = FiniteMDP.from_arrays(np.full((2, 2, 2), 0.5), [[1.0, 2.0], [3.0, 4.0]], 0.5)
    going_on, terminal = np.array([[0.5, 0.25], [1.0, 0.0]]), np.array([True, False])
    if masked:
        mdp = mdp.replace(continuation=going_on, terminal=terminal)
    gamma = np.array([[1.0, 2.0], [4.0, 8.0]])
    operator = RevOperator(mdp, epistemic=gamma if given else None, lambda_epi=0.5, kappa=kappa, penalty_at=place)
    for s in range(2):
        for a in range(2):
            scaled = 0.5 * gamma[s, a] if given and not (masked and terminal[s]) else 0.0
            frozen = kappa + (scaled if place == "pair" else 0.0)
            frozen *= going_on[s, a] if masked else 1.0
            assert operator.scaled[s, a] == scaled
            assert operator.frozen[s, a] == frozen
            assert operator.shifted_reward[s, a] == mdp.reward[s, a] - 0.5 * frozen
            assert operator.seen(gamma)[s, a] == gamma[s, a] - (scaled if place == "next" else 0.0)
    assert (operator._scaled_size, operator._frozen_size) == (operator.scaled.max(), operator.frozen.max())
    for array in (operator.scaled, operator.frozen, operator.shifted_reward):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1.0


def test_distances_are_over_available_pairs() -> None:
    mdp = FiniteMDP.from_arrays(np.full((4, 3, 4), 0.25), np.zeros((4, 3)), 0.5, available=MASK)
    other = np.where(MASK, Q, 70.0)
    other[2, 1] -= 4.0
    other[1, 2] += 3.0
    operator, whole = RevOperator(mdp), RevOperator(mdp.replace(available=None))
    assert operator.distance(Q, other) == 4.0
    assert whole.distance(Q, other) == 79.0
    assert (operator.modulus, whole.modulus) == (0.5, 0.5)
    # twice as far at the next: half of what the best actions differ by
    assert empirical_modulus(operator, Q, Q + 3.0) == 0.5
    apart = Q.copy()
    apart[0, 2] += 8.0
    assert empirical_modulus(operator, Q, apart) == 0.5 * 8.0 / 4 / 8.0
    for name, pair in (("first", (np.full((4, 3), np.inf), Q)), ("second", (Q, np.full((4, 3), np.inf)))):
        with (
            np.errstate(invalid="ignore"),
            pytest.raises(InputError, match=rf"^{name}\[0\] is .*; every entry must be finite$"),
        ):
            empirical_modulus(operator, *pair)
    hidden = np.where(MASK, Q, np.nan)
    assert empirical_modulus(operator, hidden, hidden + 1.0) == 0.5
    with pytest.raises(InputError, match="the two tables are equal"):
        empirical_modulus(operator, Q, np.where(MASK, Q, 70.0))
    with pytest.raises(InputError, match="operator is a FiniteMDP; it must be a LiveOperator or a RevOperator"):
        empirical_modulus(mdp, Q, Q)  # type: ignore[arg-type]


HEADS = np.array([[[1.0, 2.0]], [[5.0, -2.0]], [[0.0, 3.0]]])


@pytest.mark.parametrize("target", ["head", "mean"])
@pytest.mark.parametrize("heads", [2, 3])
@pytest.mark.parametrize("kind", ["variance", "deviation", "population"])
def test_live_penalties_of_heads_are_written_out(kind: str, heads: int, target: Any) -> None:
    """One state, two actions: T q_k = r + ½(max q_k − λ·spread), or the maximum of the mean."""
    mdp = FiniteMDP.from_arrays(np.ones((1, 2, 1)), [[1.0, -1.0]], 0.5)
    penalty: Any = {
        "variance": EnsembleVariance(0.25, heads, target),
        "deviation": EnsembleDeviation(0.25, heads, 1, target),
        "population": EnsembleDeviation(0.25, heads, 0, target),
    }[kind]
    q = HEADS[:heads]
    found = LiveOperator(mdp, penalty)(q)
    assert found.shape == (heads, 1, 2)
    for a in range(2):
        column = q[:, 0, a].tolist()
        mean = sum(column) / heads
        squares = sum((x - mean) ** 2 for x in column)
        spread = squares / (heads - 1) if kind == "variance" else math.sqrt(squares / (heads - (kind == "deviation")))
        assert penalty.of(q)[0, a] == pytest.approx(0.25 * spread, rel=1e-14, abs=0.0)
        for k in range(heads):
            best = max(q[k, 0]) if target == "head" else max(sum(q[:, 0, b]) / heads for b in range(2))
            assert found[k, 0, a] == pytest.approx([1.0, -1.0][a] + 0.5 * (best - 0.25 * spread), rel=1e-14, abs=0.0)
    for shape in ((heads + 1, 1, 2), (1, 2), (heads, 2, 1)):
        with pytest.raises(InputError, match=rf"^Q has shape .*; {type(penalty).__name__} acts on \({heads}, 1, 2\)$"):
            LiveOperator(mdp, penalty)(np.zeros(shape))


@pytest.mark.parametrize(
    ("penalty", "of_one_pair", "of_more"),
    [
        (ScaledPenalty(0.25), 0.75, 0.75),
        (NormPenalty(0.25), 0.625, 0.625),
        (EnsembleVariance(0.25), np.inf, np.inf),
        (EnsembleVariance(0.25, 3, "mean"), np.inf, np.inf),
        (EnsembleDeviation(0.25, ddof=0), 0.625, 0.625),
        (EnsembleDeviation(2.0**0.5 / 4), 0.75, 0.75),
        (EnsembleDeviation(0.25, 3), None, None),
        (EnsembleDeviation(0.25, 3, target="mean"), None, None),
        (EnsembleDeviation(0.5, ddof=0, target="mean"), 0.5, None),
        (EnsembleDeviation(4.0, ddof=0, target="mean"), 2.0, None),
    ],
    ids=repr,
)
def test_moduli_are_known_of_two_heads_or_one_pair(penalty: Any, of_one_pair: Any, of_more: Any) -> None:
    one = FiniteMDP.from_arrays([[[1.0]]], [[1.0]], 0.5)
    more = [
        FiniteMDP.from_arrays(np.ones((1, 2, 1)), [[1.0, 2.0]], 0.5),
        FiniteMDP.from_arrays(np.full((2, 1, 2), 0.5), [[1.0], [2.0]], 0.5),
    ]
    for mdp, modulus in ((one, of_one_pair), *((mdp, of_more) for mdp in more)):
        found = LiveOperator(mdp, penalty).exact_modulus()
        assert found == (modulus if modulus is None else pytest.approx(modulus, rel=1e-15, abs=0.0))


def test_a_variance_takes_two_heads_and_says_how_many_there_are() -> None:
    for given, heads in ((3.0, 1), (np.zeros((1, 2, 2)), 1), (np.zeros((0, 2, 2)), 0)):
        with pytest.raises(InputError, match=f"^the ensemble has K = {heads} heads; a variance"):
            ensemble_variance(given)  # type: ignore[arg-type]
    for kind in (EnsembleVariance, EnsembleDeviation):
        with pytest.raises(InputError, match=r"^the ensemble has K = 0 heads"):
            kind(0.5, 0)
        with pytest.raises(InputError, match=r"^heads is -1; it must be a whole number of at least 0$"):
            kind(0.5, -1)
        with pytest.raises(InputError, match=r"^target is None; it must be 'head' or 'mean'$"):
            kind(0.5, target=None)
    for ddof in (2, True, -1):
        with pytest.raises(InputError, match=rf"^ddof is {ddof}; it must be 0 \(population\) or 1 \(unbiased\)$"):
            EnsembleDeviation(0.5, ddof=ddof)  # type: ignore[arg-type]


def test_an_mdp_says_what_it_holds() -> None:
    """One successor a row counts as one; what a reader gave of a masked reading is kept; and the refusals."""
    cycle = np.roll(np.eye(3), 1, axis=1)[:, None, :]
    dense = FiniteMDP.from_arrays(cycle, [[1.0], [-4.0], [2.0]], 0.5)
    rows = FiniteMDP.from_arrays(dense.matrix, dense.reward, 0.5)
    assert (dense.longest_row, rows.longest_row) == (3, 1)
    assert dense.reward_size == rows.reward_size == 4.0
    assert (repr(dense), repr(rows)) == (
        "FiniteMDP(3 states, 1 actions, discount 0.5, dense)",
        "FiniteMDP(3 states, 1 actions, discount 0.5, sparse: 3 transitions)",
    )
    for mdp in (dense, rows):
        assert mdp.expect(np.array([1.0, 2.0, 4.0])).tolist() == [[2.0], [4.0], [1.0]]
    with pytest.raises(InputError, match="mdp is a FiniteMDP; it must be an ExactMDP"):
        FiniteMDP.from_exact(dense)  # type: ignore[arg-type]
    going_on, end = np.full((3, 1), 0.5), np.array([True, False, False])
    for continuation, terminal in ((going_on, None), (None, end), (going_on, end), (None, None)):
        read = FiniteMDP._read(Arrays(cycle, dense.reward, 0.5, continuation=continuation, terminal=terminal))
        assert read.continuation is continuation
        assert read.terminal is terminal
    with pytest.raises(InputError, match="this MDP is a done-masked reading; build the full-kernel one"):
        dense.replace(continuation=going_on).to_exact()
    assert isinstance(dense.to_exact(), ExactMDP)
    assert solve(RevOperator(rows)).converged


class OddValue(Max):
    """A maximum that says that it is three larger, and off by 2⁻¹⁰ and a bit of what it reads."""

    def rounding(self, magnitude: float, n_actions: int) -> float:
        """2⁻¹⁰ + 2⁻¹²·magnitude."""
        return 2.0**-10 + 2.0**-12 * magnitude

    def magnitude(self, magnitude: float, n_actions: int) -> float:
        """Three more."""
        return magnitude + 3.0


class OddMean(Nominal):
    """A mean that says that it is off by 2⁻⁸ of the values."""

    def rounding(self, mdp: FiniteMDP, magnitude: float) -> float:
        """2⁻⁸·magnitude."""
        return 2.0**-8 * magnitude


@pytest.mark.parametrize("place", ["pair", "next"])
def test_every_term_of_an_operator_s_rounding_counts(place: Any) -> None:
    """|Q| ≤ 2, |R| ≤ 4, λΓ ≤ 3, κ = −1/4, γ = 1/2: V's error, E's, and eight roundings of what is added up."""
    mdp = FiniteMDP.from_arrays(np.full((2, 2, 2), 0.5), [[1.0, -4.0], [2.0, 0.0]], 0.5)
    operator = RevOperator(
        mdp, epistemic=np.array([[6.0, 1.0], [0.0, 2.0]]), lambda_epi=0.5, kappa=-0.25, value=OddValue(),
        expectation=OddMean(), penalty_at=place,
    )  # fmt: skip
    penalty, frozen = (3.0, 0.25) if place == "next" else (0.0, 2.75)
    read = 2.0 + penalty
    value_error = 2.0**-10 + 2.0**-12 * read + (3 * UNIT * read if place == "next" else 0.0)
    values = read + 3.0 + value_error
    inner = value_error + 2.0**-8 * values
    parts = 4.0 + 0.5 * (values + frozen + 0.25 + penalty)
    assert operator.rounding(2.0) == pytest.approx(1.01 * (0.5 * inner + 8 * UNIT * parts), rel=1e-14, abs=0.0)


def test_the_action_that_a_policy_takes_and_should_not_is_named() -> None:
    """Not the first that is not available."""
    available = np.array([[True, False], [False, True]])
    for kind in (PolicyMean, lambda rows: PolicyEntropy(rows, 1.0)):
        with pytest.raises(InputError, match=r"^policy takes the unavailable action a=0 at s=1$"):
            kind([[1.0, 0.0], [0.5, 0.5]])(np.zeros((2, 2)), available)
