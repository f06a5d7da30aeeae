"""Live penalties in float64: equal to the exact twin on dyadic instances, and their moduli as reported (C13–C16)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.floating import Floats, array, exact
from property_tests.strategies import discounts, mdps, tables_like
from pyresac.tabular.exact import ExactLive, ExactMDP
from pyresac.tabular.live import (
    EnsembleDeviation,
    EnsembleVariance,
    LiveOperator,
    NormPenalty,
    ScaledPenalty,
    empirical_modulus,
    ensemble_variance,
)
from pyresac.tabular.mdp import FiniteMDP

LAMBDAS = st.sampled_from([0.25, 0.0, 1.0, 3.0])
SMALL = mdps(dyadic=True, max_states=2, max_actions=2)


@claim("C13")
@claim("C14")
@pytest.mark.parametrize(("kind", "penalty"), [("scaled", ScaledPenalty), ("norm", NormPenalty)])
@given(data=st.data(), source=SMALL, lam=LAMBDAS)
def test_c13_c14_float_equals_exact(
    kind: str, penalty: type, data: st.DataObject, source: ExactMDP, lam: float
) -> None:
    """With few enough bits nothing rounds: the float T Q is the exact one."""
    q = data.draw(tables_like(source, dyadic=True))
    computed = LiveOperator(FiniteMDP.from_exact(source), penalty(lam))(array(q))
    assert exact(computed) == ExactLive(source, kind, Fraction(lam)).single(q)


@claim("C15")
@pytest.mark.parametrize("heads", [2, 3, 4])
@pytest.mark.parametrize("target", ["head", "mean"])
@given(data=st.data(), source=SMALL, lam=LAMBDAS)
def test_c15_float_equals_exact(heads: int, target: str, data: st.DataObject, source: ExactMDP, lam: float) -> None:
    """K live heads with the unbiased variance; exact for K = 2, to a few units of rounding elsewhere.

    With |q| ≤ 8: Var ≤ K/(K−1)·64, from K − 1 sums and two divisions of relative error u each, doubled by the square;
    then the plain part (|R| ≤ 2²², or the like) rounds with what it is added to.
    """
    ensemble = tuple(data.draw(tables_like(source, dyadic=True)) for _ in range(heads))
    live = LiveOperator(FiniteMDP.from_exact(source), EnsembleVariance(lam, heads=heads, target=target))
    computed = live(np.stack([array(q) for q in ensemble]))
    reference = ExactLive(source, "variance", Fraction(lam), target=target).heads(ensemble)
    spread = 128.0 * lam * 8 * heads
    plain = live.plain.rounding(8.0) + 2**-53 * 16 * (spread + 2.0**23)
    allowed = Fraction(0) if heads == 2 else Fraction(2**-53 * spread + plain)
    for table, expected in zip(computed, reference, strict=True):
        for row, wanted in zip(exact(table), expected, strict=True):
            assert all(abs(x - y) <= allowed for x, y in zip(row, wanted, strict=True))


@claim("C16")
@pytest.mark.parametrize("target", ["head", "mean"])
@given(data=st.data(), source=SMALL, lam=LAMBDAS)
def test_c16_population_deviation_of_two_heads_equals_exact(
    target: str, data: st.DataObject, source: ExactMDP, lam: float
) -> None:
    """With divisor K the deviation of two heads is |q₁ − q₂|/2: a perfect square, so nothing rounds (C16)."""
    ensemble = tuple(data.draw(tables_like(source, dyadic=True)) for _ in range(2))
    live = LiveOperator(FiniteMDP.from_exact(source), EnsembleDeviation(lam, ddof=0, target=target))
    computed = live(np.stack([array(q) for q in ensemble]))
    reference = ExactLive(source, "gap", Fraction(lam) / 2, target=target).heads(ensemble)
    assert tuple(exact(table) for table in computed) == reference


@claim("C21", lean="RESAC.ensembleVar_le")
@given(st.lists(st.integers(-64, 64), min_size=2, max_size=6))
def test_c21_ensemble_variance_is_unbiased(heads: list[int]) -> None:
    """`ensemble_variance` divides by K − 1: on integers it is the rational value to within its K + 3 roundings."""
    k, values = len(heads), [Fraction(x) for x in heads]
    mean = sum(values) / k
    reference = sum((x - mean) ** 2 for x in values) / (k - 1)
    computed = Fraction(float(ensemble_variance(np.array(heads, dtype=float).reshape(k, 1, 1))[0, 0]))
    # The computed mean is off by (K + 1)u·64, which moves each square by 4·64 times that; sums add K + 3 units.
    allowed = Fraction(2**-53) * (4 * 64**2 * (k + 1) * k + (k + 4) * reference)
    assert abs(computed - reference) <= allowed


def two_heads(mdp: ExactMDP, x: float, y: float) -> Floats:
    """The heads x and y, constant over pairs."""
    shape = (mdp.n_states, mdp.n_actions)
    return np.stack([np.full(shape, x), np.full(shape, y)])


@claim("C16", lean="RESAC.gap_headTarget_exactModulus")
@pytest.mark.parametrize("ddof", [1, 0])
@given(
    source=mdps(dyadic=True, max_states=2, max_actions=2, discount=discounts(dyadic=True), scaled=False), lam=LAMBDAS
)
def test_c16_deviation_modulus_is_attained(ddof: int, source: ExactMDP, lam: float) -> None:
    """Two heads, per-head target: γ(1 + 2β), β = λ/√2 unbiased and λ/2 population.

    Lean: RESAC.gap_headTarget_exactModulus.
    """
    live = LiveOperator(FiniteMDP.from_exact(source), EnsembleDeviation(lam, ddof=ddof))
    beta = lam / np.sqrt(2.0) if ddof == 1 else lam / 2
    modulus = live.exact_modulus()
    assert modulus == pytest.approx(float(source.discount) * (1 + 2 * beta), rel=2**-50, abs=0)
    reached = empirical_modulus(live, two_heads(source, 0.0, 0.0), two_heads(source, -1.0, 1.0))
    # |T| ≤ 5 + 8λ; each of the two images is off by 16 units of that, and their difference by one more.
    slack = 2**-53 * 40 * (5 + 8 * lam)
    assert abs(reached - modulus) <= slack


@claim("C16", lean="RESAC.gap_meanTarget_exactModulus")
@pytest.mark.parametrize("ddof", [1, 0])
@given(gamma=discounts(dyadic=True), lam=LAMBDAS)
def test_c16_mean_target_modulus(ddof: int, gamma: Fraction, lam: float) -> None:
    """Two heads, mean target, one pair: γ·max(1, 2β) (Lean: RESAC.gap_meanTarget_exactModulus)."""
    point = ExactMDP(transition=(((1,),),), reward=((0,),), discount=gamma)
    live = LiveOperator(FiniteMDP.from_exact(point), EnsembleDeviation(lam, ddof=ddof, target="mean"))
    zero = two_heads(point, 0.0, 0.0)
    common = empirical_modulus(live, zero, two_heads(point, 1.0, 1.0))
    opposite = empirical_modulus(live, zero, two_heads(point, -1.0, 1.0))
    modulus = live.exact_modulus()
    assert modulus is not None
    assert abs(max(common, opposite) - modulus) <= 2**-53 * 40 * (1 + 2 * lam)


@claim("C13", lean="RESAC.tBad_exactModulus")
@claim("C14", lean="RESAC.revLive_norm_exactModulus")
@claim("C16", lean="RESAC.gap_headTarget_exactModulus")
@pytest.mark.parametrize(
    "penalty", [ScaledPenalty(0.5), NormPenalty(0.5), EnsembleDeviation(0.5), EnsembleDeviation(0.5, ddof=0)]
)
@given(data=st.data(), source=mdps(dyadic=True, max_states=2, max_actions=2, scaled=False))
def test_reported_moduli_bound_every_ratio(penalty: object, data: st.DataObject, source: ExactMDP) -> None:
    """No measured ratio is above `exact_modulus`, up to the rounding of two images over the distance."""
    live = LiveOperator(FiniteMDP.from_exact(source), penalty)
    count = 1 if live.penalty.heads is None else live.penalty.heads
    first, second = (
        np.stack([array(data.draw(tables_like(source, dyadic=True))) for _ in range(count)]) for _ in range(2)
    )
    if live.penalty.heads is None:
        first, second = first[0], second[0]
    apart = float(np.abs(first - second).max())
    if apart == 0:
        return
    # |T| ≤ 4 + 8 + 8: sixteen units of rounding of that in each image.
    slack = 2 * 16 * 2**-53 * 20 / apart
    assert empirical_modulus(live, first, second) <= live.exact_modulus() + slack


@claim("C15", lean="RESAC.variance_not_modulus")
@given(
    mdps(dyadic=True, max_states=2, max_actions=2, discount=discounts(dyadic=True, zero=False)),
    st.sampled_from([0.25, 1.0, 3.0]),
    st.integers(1, 1000),
)
def test_c15_variance_expands_beyond_any_modulus(source: ExactMDP, lam: float, modulus: int) -> None:
    """γ, λ > 0: `exact_modulus` is infinite, a pair of ensembles beats any c (Lean: RESAC.variance_not_modulus)."""
    live = LiveOperator(FiniteMDP.from_exact(source), EnsembleVariance(lam))
    t = float(np.ceil((modulus / float(source.discount) + 1) / lam))
    assert live.exact_modulus() == np.inf
    assert empirical_modulus(live, two_heads(source, t, -t), two_heads(source, t + 1, -t - 1)) > modulus
