"""Penalties that look at the Q being updated (C13–C16, C36, C37, C46): exact moduli, thresholds, and expansion."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import Q, combine, constant, entries, geometric, subtract, sup
from property_tests.search import find_instance
from property_tests.strategies import discounts, ensembles, mdps, numbers, positive, tables_like, values
from pyresac.tabular.exact import ExactLive, ExactMDP, ExactRev

HUNDREDTHS = Fraction(1, 100)
POINT = ExactMDP(transition=(((1,),),), reward=((0,),), discount=Fraction(1, 2))
LAMBDAS = st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(3), Fraction(1, 1000)])
SMALL = mdps(max_states=2, max_actions=2)


def distance(first: tuple[Q, ...], second: tuple[Q, ...]) -> Fraction:
    """The sup-norm over heads and pairs."""
    return max(sup(subtract(x, y)) for x, y in zip(first, second, strict=True))


def at_discount(gamma: Fraction) -> ExactMDP:
    """One state, one action, reward 0."""
    return replace(POINT, discount=gamma)


@claim("C13", lean="RESAC.tBad_exactModulus")
@given(st.data(), SMALL, LAMBDAS)
def test_c13_scaled_penalty_has_modulus_gamma_plus_lambda(data: st.DataObject, mdp: ExactMDP, lam: Fraction) -> None:
    """T_bad: distances grow at most by γ + λ, and Q, Q + c attain it (Lean: RESAC.tBad_exactModulus)."""
    live = ExactLive(mdp, "scaled", lam, value=data.draw(values(mdp)))
    q1, q2, c = data.draw(tables_like(mdp)), data.draw(tables_like(mdp)), data.draw(numbers())
    modulus = mdp.discount + lam
    assert sup(subtract(live.single(q1), live.single(q2))) <= modulus * sup(subtract(q1, q2))
    raised = combine(lambda x: x + c, q1)
    assert sup(subtract(live.single(raised), live.single(q1))) == modulus * abs(c)


@claim("C13", lean="RESAC.tBad_contracts_iff")
@given(discounts(), positive(), positive(), numbers())
@example(Fraction(1, 2), Fraction(1, 2), Fraction(1), Fraction(0))
def test_c13_threshold_is_sharp_both_ways(gamma: Fraction, lam: Fraction, step: Fraction, q: Fraction) -> None:
    """Contraction below γ + λ = 1, isometry at 1, expansion above, from every point (Lean: RESAC.tBad_contracts_iff).

    The paper's existential is also met by q₁ = q₂; here the two points differ.
    """
    live = ExactLive(at_discount(gamma), "scaled", lam)
    moved = abs(live.single(((q + step,),))[0][0] - live.single(((q,),))[0][0])
    assert moved == (gamma + lam) * step
    assert (moved < step) == (gamma + lam < 1)
    assert (moved > step) == (gamma + lam > 1)


@claim("C14", lean="RESAC.revLive_norm_exactModulus")
@claim("C37", lean="RESAC.revLive_modulus")
@given(st.data(), SMALL, LAMBDAS)
def test_c14_norm_penalty_has_modulus_gamma_one_plus_lambda(data: st.DataObject, mdp: ExactMDP, lam: Fraction) -> None:
    """R + γ(E V(Q) − λ|Q|): modulus γ(1 + λ) on every finite MDP, attained on q ≤ 0.

    Lean: RESAC.revLive_norm_exactModulus.
    """
    live = ExactLive(mdp, "norm", lam, value=data.draw(values(mdp)))
    q1, q2, c = data.draw(tables_like(mdp)), data.draw(tables_like(mdp)), data.draw(positive())
    modulus = mdp.discount * (1 + lam)
    assert sup(subtract(live.single(q1), live.single(q2))) <= modulus * sup(subtract(q1, q2))
    zero, under = constant(q1, 0), constant(q1, -c)
    assert sup(subtract(live.single(zero), live.single(under))) == modulus * c


@claim("C14", lean="RESAC.normBackup_nonneg")
@given(discounts(), LAMBDAS, st.tuples(positive(), positive()))
def test_c14_norm_penalty_on_positive_values(gamma: Fraction, lam: Fraction, q: tuple[Fraction, Fraction]) -> None:
    """On q ≥ 0 and one pair the modulus is γ|1 − λ| exactly (Lean: RESAC.normBackup_nonneg)."""
    live = ExactLive(at_discount(gamma), "norm", lam)
    moved = abs(live.single(((q[0],),))[0][0] - live.single(((q[1],),))[0][0])
    assert moved == gamma * abs(1 - lam) * abs(q[0] - q[1])


@claim("C14", lean=("RESAC.normBackup_paper_inside", "RESAC.normBackup_paper_outside"))
@pytest.mark.parametrize(("lam", "modulus"), [(1 * HUNDREDTHS, 9999), (2 * HUNDREDTHS, 10098)])
def test_c14_one_entry_at_the_papers_lambda_is_just_inside(lam: Fraction, modulus: int) -> None:
    """γ = 0.99 and the penalty λ|Q(s, a)|: λ = 0.01 has modulus 0.9999, λ = 0.02 has 1.0098; the threshold is 1/99.

    Lean: RESAC.normBackup_paper_inside, RESAC.normBackup_paper_outside. A live penalty below it contracts: freezing
    is sufficient, not necessary. The paper's own κ sums over all entries: the next tests.
    """
    gamma = 99 * HUNDREDTHS
    live = ExactLive(at_discount(gamma), "norm", lam)
    moved = sup(subtract(live.single(((0,),)), live.single(((-1,),))))
    assert moved == Fraction(modulus, 10000)
    assert (moved < 1) == (lam < 1 / gamma - 1)


def weight_backup(mdp: ExactMDP, lam: Fraction, q: Q) -> Q:
    """R + γ(E[max Q] − λ·Σ|Q|): the paper's κ_Q on a table, whose weights are its entries."""
    return ExactRev(mdp, kappa=lam * sum(abs(x) for x in entries(q)))(q)


@claim("C14", lean="RESAC.revLive_weight_exactModulus")
@given(st.data(), SMALL, LAMBDAS)
def test_c14_the_norm_of_all_entries_has_modulus_gamma_one_plus_lambda_size(
    data: st.DataObject, mdp: ExactMDP, lam: Fraction
) -> None:
    """κ = λ·Σ|Q|: exact modulus γ(1 + λ·|S||A|), attained by 0 and −1 (Lean: RESAC.revLive_weight_exactModulus)."""
    modulus = mdp.discount * (1 + lam * mdp.n_states * mdp.n_actions)
    first, second = data.draw(tables_like(mdp)), data.draw(tables_like(mdp))
    moved = sup(subtract(weight_backup(mdp, lam, first), weight_backup(mdp, lam, second)))
    assert moved <= modulus * sup(subtract(first, second))
    zero = constant(first, 0)
    assert sup(subtract(weight_backup(mdp, lam, zero), weight_backup(mdp, lam, constant(zero, -1)))) == modulus


@claim("C14", lean=("RESAC.revLive_weight_paper", "RESAC.revLive_weight_contracts_iff"))
def test_c14_at_the_papers_lambda_two_entries_are_too_many() -> None:
    """γ = 0.99, λ = 0.01, one state and two actions: modulus 1.0098 (Lean: RESAC.revLive_weight_paper)."""
    pair = ExactMDP(transition=(((1,), (1,)),), reward=((0, 0),), discount=99 * HUNDREDTHS)
    zero = constant(pair.reward, 0)
    moved = sup(subtract(weight_backup(pair, HUNDREDTHS, zero), weight_backup(pair, HUNDREDTHS, constant(zero, -1))))
    assert moved == Fraction(10098, 10000) > 1


@claim("C46", lean=("RESAC.polyak_norm_exactModulus", "RESAC.polyak_norm_contracts_iff", "RESAC.polyak_fixed_iff"))
@given(st.data(), SMALL, LAMBDAS, st.fractions(Fraction(1, 100), 1, max_denominator=100))
def test_c46_averaged_target_networks_have_the_live_threshold(
    data: st.DataObject, mdp: ExactMDP, lam: Fraction, tau: Fraction
) -> None:
    """(1 − τ)Q + τ·T Q: exact modulus 1 − τ + τγ(1 + λ), below 1 iff λ < 1/γ − 1.

    Lean: RESAC.polyak_norm_contracts_iff.
    """
    live = ExactLive(mdp, "norm", lam, value=data.draw(values(mdp)))

    def averaged(q: Q) -> Q:
        return combine(lambda x, y: (1 - tau) * x + tau * y, q, live.single(q))

    modulus = 1 - tau + tau * mdp.discount * (1 + lam)
    first, second = data.draw(tables_like(mdp)), data.draw(tables_like(mdp))
    assert sup(subtract(averaged(first), averaged(second))) <= modulus * sup(subtract(first, second))
    zero = constant(first, 0)
    assert sup(subtract(averaged(zero), averaged(constant(zero, -1)))) == modulus
    if mdp.discount > 0:
        assert (modulus < 1) == (lam < 1 / mdp.discount - 1)


@claim("C15", lean="RESAC.variance_not_modulus")
@given(st.data(), mdps(max_states=2, max_actions=2, discount=discounts(zero=False)), LAMBDAS, positive(40))
def test_c15_live_variance_has_no_modulus(data: st.DataObject, mdp: ExactMDP, lam: Fraction, modulus: Fraction) -> None:
    """γ > 0, K ≥ 2: for every λ > 0 and every c, a pair that T moves apart by more than c times its distance.

    Two heads (t, −t) against (t + 1, −t − 1), the other heads at 0 (Lean: RESAC.variance_not_modulus).
    """
    live = ExactLive(mdp, "variance", lam, value=data.draw(values(mdp)))
    idle = data.draw(st.integers(0, 2))
    k, zero = 2 + idle, constant(mdp.reward, 0)
    # Spread 2t²/(K−1) against 2(t+1)²/(K−1): a gap of (4t+2)/(K−1), from which a plain change of 1 is taken.
    t = (modulus / mdp.discount + 1) * (k - 1) / lam
    near = (constant(zero, t), constant(zero, -t), *[zero] * idle)
    far = (constant(zero, t + 1), constant(zero, -t - 1), *[zero] * idle)
    assert distance(near, far) == 1
    assert distance(live.heads(near), live.heads(far)) > modulus


@claim("C15", lean="RESAC.variance_not_modulus")
def test_c15_hypothesis_finds_an_expansion() -> None:
    """Found, not given: ensembles that one backup at γ = 1/2, λ = 1 moves apart by more than ten times (C15)."""
    live = ExactLive(POINT, "variance", 1)

    def expands(pair: tuple[tuple[Q, ...], tuple[Q, ...]]) -> bool:
        before = distance(*pair)
        return before > 0 and distance(live.heads(pair[0]), live.heads(pair[1])) > 10 * before

    table = st.integers(-100, 100).map(lambda x: ((Fraction(x),),))
    head_pairs = st.tuples(st.tuples(table, table), st.tuples(table, table))
    first, second = find_instance(head_pairs, expands)
    assert first != second


@claim("C16", lean="RESAC.gap_headTarget_exactModulus")
@given(st.data(), SMALL, LAMBDAS)
def test_c16_two_heads_per_head_target(data: st.DataObject, mdp: ExactMDP, beta: Fraction) -> None:
    """Head k ← R + γ(E V(q_k) − β|q₁ − q₂|): exact modulus γ(1 + 2β) (Lean: RESAC.gap_headTarget_exactModulus)."""
    live = ExactLive(mdp, "gap", beta, value=data.draw(values(mdp)))
    check_two_heads(data, live, mdp.discount * (1 + 2 * beta))


@claim("C16", lean="RESAC.gap_meanTarget_exactModulus")
@given(st.data(), SMALL, LAMBDAS)
def test_c16_two_heads_mean_target(data: st.DataObject, mdp: ExactMDP, beta: Fraction) -> None:
    """Every head ← R + γ(E V(q̄) − β|q₁ − q₂|) on one pair: exact modulus γ·max(1, 2β).

    Lean: RESAC.gap_meanTarget_exactModulus.

    With more than one pair the mean of the next pair and the gap of this one move apart independently:
    the modulus is then γ(1 + 2β) as for the per-head target.
    """
    live = ExactLive(mdp, "gap", beta, value=data.draw(values(mdp)), target="mean")
    factor = max(Fraction(1), 2 * beta) if mdp.n_states * mdp.n_actions == 1 else 1 + 2 * beta
    first, second = data.draw(ensembles(mdp, heads=2)), data.draw(ensembles(mdp, heads=2))
    before, after = distance(first, second), distance(live.heads(first), live.heads(second))
    assert after <= mdp.discount * factor * before


def check_two_heads(data: st.DataObject, live: ExactLive, modulus: Fraction) -> None:
    """The bound on a drawn pair of ensembles, and a pair that attains it."""
    first, second = data.draw(ensembles(live.mdp, heads=2)), data.draw(ensembles(live.mdp, heads=2))
    before, after = distance(first, second), distance(live.heads(first), live.heads(second))
    assert after <= modulus * before
    zero = constant(live.mdp.reward, 0)
    low, high = constant(zero, -1), constant(zero, 1)
    assert distance(live.heads((zero, zero)), live.heads((low, high))) == modulus


@claim("C16", lean="RESAC.gap_meanTarget_exactModulus")
@given(discounts(), LAMBDAS)
def test_c16_mean_target_modulus_is_attained(gamma: Fraction, beta: Fraction) -> None:
    """One pair: a common shift moves by γ, opposite shifts by 2γβ (Lean: RESAC.gap_meanTarget_exactModulus)."""
    live = ExactLive(at_discount(gamma), "gap", beta, target="mean")

    def heads(x: int, y: int) -> tuple[Q, ...]:
        return (((Fraction(x),),), ((Fraction(y),),))

    assert distance(live.heads(heads(0, 0)), live.heads(heads(1, 1))) == gamma
    assert distance(live.heads(heads(0, 0)), live.heads(heads(1, -1))) == 2 * gamma * beta


@claim("C16", lean="RESAC.gap_meanTarget_exactModulus")
@given(discounts(), LAMBDAS)
def test_c16_mean_target_with_several_pairs(gamma: Fraction, beta: Fraction) -> None:
    """s₀ → s₁: the mean at s₁ falls by 1 while the gap at s₀ grows by 2, a move of γ(1 + 2β), above γ·max(1, 2β)."""
    line = ExactMDP(transition=(((0, 1),), ((0, 1),)), reward=((0,), (0,)), discount=gamma)
    live = ExactLive(line, "gap", beta, target="mean")
    zero: Q = constant(line.reward, 0)
    moved = (((Fraction(1),), (Fraction(-1),)), ((Fraction(-1),), (Fraction(-1),)))
    assert distance((zero, zero), moved) == 1
    assert distance(live.heads((zero, zero)), live.heads(moved)) == gamma * (1 + 2 * beta)


@claim("C16", lean="RESAC.IsStd.within")
@given(st.lists(st.tuples(numbers(), numbers()), min_size=2, max_size=5))
def test_c16_standard_deviation_is_lipschitz(pairs: list[tuple[Fraction, Fraction]]) -> None:
    """|std(x) − std(y)| ≤ √(K/(K−1))·max|x − y|, without roots (Lean: RESAC.IsStd.within).

    With a = var x, b = var y, c = K/(K−1)·ε²: √a ≤ √b + √c iff a − b − c ≤ 2√(bc), that is, the left is
    negative or its square is at most 4bc.
    """
    k = len(pairs)

    def variance(values: list[Fraction]) -> Fraction:
        mean = sum(values, Fraction(0)) / k
        return sum((x - mean) ** 2 for x in values) / (k - 1)

    a, b = variance([x for x, _ in pairs]), variance([y for _, y in pairs])
    c = Fraction(k, k - 1) * max(abs(x - y) for x, y in pairs) ** 2
    for large, small in ((a, b), (b, a)):
        excess = large - small - c
        assert excess <= 0 or excess**2 <= 4 * small * c


def freeze_and_refresh(mdp: ExactMDP, lam: Fraction, q: Q, backups: int, value: Literal["max", "min"]) -> Q:
    """`backups` backups with the penalty λ|q| frozen at the q of the last refresh."""
    frozen = ExactRev(mdp, epistemic=combine(abs, q), lambda_epi=lam, value=value)
    for _ in range(backups):
        q = frozen(q)
    return q


@claim("C36", lean="RESAC.refresh_norm_exactModulus")
@given(st.data(), mdps(max_states=2, max_actions=2), LAMBDAS, st.integers(1, 4), st.sampled_from(["max", "min"]))
def test_c36_outer_modulus(
    data: st.DataObject, mdp: ExactMDP, lam: Fraction, backups: int, value: Literal["max", "min"]
) -> None:
    """N frozen backups, then a refresh: modulus γᴺ + Lγ(1−γᴺ)/(1−γ), attained on q < 0.

    Lean: RESAC.refresh_norm_exactModulus.
    """
    gamma = mdp.discount
    modulus = gamma**backups + lam * gamma * geometric(gamma, backups)

    def outer(q: Q) -> Q:
        return freeze_and_refresh(mdp, lam, q, backups, value)

    q1, q2 = data.draw(tables_like(mdp)), data.draw(tables_like(mdp))
    assert sup(subtract(outer(q1), outer(q2))) <= modulus * sup(subtract(q1, q2))
    assert sup(subtract(outer(constant(q1, 0)), outer(constant(q1, -1)))) == modulus


@claim("C36", lean="RESAC.refresh_norm_contracts_iff")
@given(discounts(zero=False), positive(4), st.integers(1, 6))
@example(Fraction(99, 100), Fraction(2, 100), 1)
@example(Fraction(99, 100), Fraction(2, 100), 200)
@example(Fraction(99, 100), Fraction(1, 99), 50)
def test_c36_same_threshold_for_every_number_of_backups(gamma: Fraction, lam: Fraction, backups: int) -> None:
    """The outer map contracts iff λ < 1/γ − 1, whatever N is (Lean: RESAC.refresh_norm_contracts_iff)."""
    mdp = at_discount(gamma)
    moved = sup(subtract(*(freeze_and_refresh(mdp, lam, ((Fraction(x),),), backups, "max") for x in (0, -1))))
    assert (moved < 1) == (lam < 1 / gamma - 1)
    assert (moved == 1) == (lam == 1 / gamma - 1)


@claim("C36", lean="RESAC.refreshFactor_paper")
def test_c36_figures() -> None:
    """γ = 0.99, λ = 0.02: 1.0098 at N = 1, tending to Lγ/(1−γ) = 1.98."""
    mdp = at_discount(99 * HUNDREDTHS)
    one, many = (
        sup(subtract(*(freeze_and_refresh(mdp, 2 * HUNDREDTHS, ((Fraction(x),),), n, "max") for x in (0, -1))))
        for n in (1, 900)
    )
    assert one == Fraction(10098, 10000)
    assert abs(many - Fraction(198, 100)) < Fraction(1, 1000)


@claim("C37", lean="RESAC.revLive_modulus_not_exact")
@given(discounts(), st.tuples(numbers(), numbers()))
def test_c37_lipschitz_bound_need_not_be_attained(gamma: Fraction, q: tuple[Fraction, Fraction]) -> None:
    """pen(q) = q on one pair is 1-Lipschitz, and the backup is constant: γ(1 + L) is only an upper bound (C37)."""
    images = [ExactRev(at_discount(gamma), epistemic=((x,),), lambda_epi=1)(((x,),)) for x in q]
    assert images[0] == images[1]
