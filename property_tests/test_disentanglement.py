"""What κ and the ensemble variance measure (C20, C21), and what "poisoning" excludes (C01). All exact."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import Q, dot, entries
from property_tests.search import find_instance
from property_tests.strategies import mdps, numbers, positive, tables_like
from pyresac.tabular.exact import ExactMDP, ExactRev


def covariance(weights: list[Fraction], xs: list[Fraction], ys: list[Fraction]) -> Fraction:
    """E[XY] − E[X]E[Y]."""
    return dot(weights, [x * y for x, y in zip(xs, ys, strict=True)]) - dot(weights, xs) * dot(weights, ys)


def trained_weight(samples: int, rate: Fraction = Fraction(1, 2), target: Fraction = Fraction(1)) -> Fraction:
    """A critic's one weight after `samples` steps w ← w + rate·(target − w) from 0."""
    w = Fraction(0)
    for _ in range(samples):
        w += rate * (target - w)
    return w


@claim("C20", lean="RESAC.cov_kappa")
@given(positive())
def test_c20_kappa_covaries_with_the_number_of_samples(lam: Fraction) -> None:
    """Weight 1 − 2⁻ⁿ after n samples, n uniform on {1, 2}: Cov(κ, n) = λ/16 ≠ 0 (Lean: RESAC.cov_kappa)."""
    assert [trained_weight(n) for n in (1, 2)] == [Fraction(1, 2), Fraction(3, 4)]
    kappas = [lam * abs(trained_weight(n)) for n in (1, 2)]
    assert covariance([Fraction(1, 2)] * 2, kappas, [Fraction(1), Fraction(2)]) == lam / 16


@claim("C20", lean="RESAC.cov_const")
@given(st.data(), positive(), st.integers(1, 4), numbers())
def test_c20_true_for_fixed_weights(data: st.DataObject, lam: Fraction, n: int, weight: Fraction) -> None:
    """For weights that do not depend on the data the covariance is 0, with every statistic (Lean: RESAC.cov_const)."""
    statistic = data.draw(st.lists(numbers(), min_size=n, max_size=n))
    assert covariance([Fraction(1, n)] * n, [lam * abs(weight)] * n, statistic) == 0


@claim("C20", lean="RESAC.cov_kappa")
def test_c20_hypothesis_finds_a_covariance() -> None:
    """Found, not given: a learning rate, a target and two sample sizes with Cov(κ, n) ≠ 0 (C20)."""
    runs = st.tuples(st.sampled_from([Fraction(1, 2), Fraction(1, 3)]), numbers(), st.integers(0, 4), st.integers(0, 4))

    def covaries(run: tuple[Fraction, Fraction, int, int]) -> bool:
        rate, target, *sizes = run
        kappas = [abs(trained_weight(n, rate, target)) for n in sizes]
        return covariance([Fraction(1, 2)] * 2, kappas, [Fraction(n) for n in sizes]) != 0

    _, target, *sizes = find_instance(runs, covaries)
    assert target != 0
    assert sizes[0] != sizes[1]


@claim("C21", lean="RESAC.ensembleVar_le")
@given(numbers(), st.lists(st.fractions(-1, 1, max_denominator=8), min_size=2, max_size=6), positive())
def test_c21_variance_of_an_ensemble_near_one_value(
    centre: Fraction, offsets: list[Fraction], radius: Fraction
) -> None:
    """Heads within ε of one value have unbiased variance ≤ K·ε²/(K−1) (Lean: RESAC.ensembleVar_le)."""
    k = len(offsets)
    assert variance([centre + radius * x for x in offsets]) <= k * radius**2 / (k - 1)


@claim("C21", lean="RESAC.ensembleVar_split")
@given(st.integers(1, 4), numbers(), positive())
def test_c21_sharp_for_an_even_number_of_heads(half: int, centre: Fraction, radius: Fraction) -> None:
    """Half the heads at +ε and half at −ε attain the bound (Lean: RESAC.ensembleVar_split)."""
    k = 2 * half
    heads = [centre + radius] * half + [centre - radius] * half
    assert variance(heads) == k * radius**2 / (k - 1)


@claim("C21", lean="RESAC.kappa_pos_iff")
@given(numbers().map(abs), st.lists(numbers(2), max_size=4))
def test_c21_kappa_is_positive_whatever_the_noise(lam: Fraction, weights: list[Fraction]) -> None:
    """κ = λ·Σ|w| > 0 iff λ > 0 and some weight is not 0: the environment does not occur (Lean: RESAC.kappa_pos_iff)."""
    kappa = lam * sum(abs(w) for w in weights)
    assert (kappa > 0) == (lam > 0 and any(w != 0 for w in weights))


def variance(values: list[Fraction]) -> Fraction:
    """The unbiased variance."""
    mean = sum(values, Fraction(0)) / len(values)
    return sum((x - mean) ** 2 for x in values) / (len(values) - 1)


def poisoned(q: Q, optimum: Q, noise: Q, threshold: Fraction, eps: Fraction) -> bool:
    """The appendix's reading: Q < Q* on the non-empty set {σ² ≥ σ₀²}, and |Q − Q*| ≤ ε elsewhere."""
    cells = list(zip(entries(q), entries(optimum), entries(noise), strict=True))
    high = [x < y for x, y, sigma in cells if sigma >= threshold]
    low = [abs(x - y) <= eps for x, y, sigma in cells if sigma < threshold]
    return bool(high) and all(high) and all(low)


FORK = ExactMDP(
    transition=(((0, Fraction(1, 2), Fraction(1, 2)),), ((0, 1, 0),), ((0, 0, 1),)),
    reward=((0,), (1,), (0,)),
    discount=Fraction(1, 2),
)
"""s₀ → s₁ or s₂ with ½ each; V(s₁, s₂) = (2, 0), so the variance of the next value is 1 at s₀ and 0 elsewhere."""


def next_value_variance(mdp: ExactMDP, v: list[Fraction]) -> Q:
    """σ²(s, a): the variance of v(s') under P(·|s, a)."""
    return tuple(tuple(dot(row, [x**2 for x in v]) - dot(row, v) ** 2 for row in rows) for rows in mdp.transition)


@claim("C01", lean="RESAC.Poisoned.not_overestimating")
@given(st.data(), mdps(max_states=2, max_actions=2), positive(), positive())
def test_c01_poisoning_excludes_overestimation(
    data: st.DataObject, mdp: ExactMDP, threshold: Fraction, eps: Fraction
) -> None:
    """A poisoned Q is not above Q* everywhere (Lean: RESAC.Poisoned.not_overestimating)."""
    optimum = ExactRev(mdp).fixed_point()
    noise = next_value_variance(mdp, [max(row) for row in optimum])
    offset = st.sampled_from([Fraction(-1), Fraction(0), Fraction(1, 8)])
    q = tuple(tuple(x + data.draw(offset) for x in row) for row in optimum)
    overestimates = all(x >= y for x, y in zip(entries(q), entries(optimum), strict=True))
    assert not (poisoned(q, optimum, noise, threshold, eps) and overestimates)


@claim("C01", lean="RESAC.Fork.poisoned_unbounded")
@given(st.integers(1, 10**6))
def test_c01_poisoning_does_not_exclude_divergence(t: int) -> None:
    """Q_t(s₀) = Q*(s₀) − t, exact elsewhere, is poisoned at every t and unbounded (C01).

    Lean: RESAC.Fork.poisoned_unbounded. The variance is that of V_t(s'), exact at s₁ and s₂.
    """
    optimum = ExactRev(FORK).fixed_point()
    noise = next_value_variance(FORK, [row[0] for row in optimum])
    assert (optimum, noise) == (((Fraction(1, 2),), (2,), (0,)), ((1,), (0,), (0,)))
    q: Q = ((optimum[0][0] - t,), *optimum[1:])
    assert poisoned(q, optimum, noise, threshold=Fraction(1), eps=Fraction(0))
    assert max(abs(x) for x in entries(q)) >= t - 1


def meets_definition_one(q: Q, optimum: Q, noise: Q, chosen: Q, threshold: Fraction, eps: Fraction) -> bool:
    """Definition 1 as printed, with `chosen` = 1 on P_t: (i) on P_t where σ² ≥ σ₀², (ii) off P_t where σ² < σ₀²."""
    cells = list(zip(*map(entries, (q, optimum, noise, chosen)), strict=True))
    first = all(x < y for x, y, sigma, inside in cells if inside and sigma >= threshold)
    second = all(abs(x - y) <= eps for x, y, sigma, inside in cells if not inside and sigma < threshold)
    return first and second


@claim("C01", lean="RESAC.poisonedAsWritten_of_bounded")
@given(st.data(), mdps(max_states=2, max_actions=2))
def test_c01_definition_as_printed_is_vacuous(data: st.DataObject, mdp: ExactMDP) -> None:
    """With P_t everything and σ₀² above every variance, any Q meets Definition 1, Q* itself too (C01)."""
    optimum = ExactRev(mdp).fixed_point()
    noise = next_value_variance(mdp, [max(row) for row in optimum])
    everything, threshold = mdp.constant(1), max(entries(noise)) + 1
    for q in (data.draw(tables_like(mdp)), optimum):
        assert meets_definition_one(q, optimum, noise, everything, threshold, Fraction(0))
    assert not poisoned(optimum, optimum, noise, threshold, Fraction(0))


@claim("C01", lean="RESAC.Fork.poisoned_unbounded")
def test_c01_hypothesis_finds_a_poisoned_function() -> None:
    """Found, not given: a poisoned Q on `FORK` whose error exceeds the whole range of Q* (C01)."""
    optimum = ExactRev(FORK).fixed_point()
    noise = next_value_variance(FORK, [row[0] for row in optimum])
    candidates = st.tuples(numbers(), st.just(Fraction(2)), st.just(Fraction(0))).map(lambda x: tuple((y,) for y in x))

    def far_and_poisoned(q: Q) -> bool:
        return poisoned(q, optimum, noise, Fraction(1), Fraction(0)) and abs(q[0][0]) > 2

    assert far_and_poisoned(find_instance(candidates, far_and_poisoned))
