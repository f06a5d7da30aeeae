"""Depression and ranking (C22–C25): constant penalties on full kernels keep the ranking, others need a margin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import Q, combine, constant, entries, shift, subtract, sup
from property_tests.search import find_instance
from property_tests.strategies import mdps, numbers, operators, policies, tables_like
from pyresac.tabular.exact import ExactMDP, ExactRev

HALF = Fraction(1, 2)
SMALL = mdps(max_states=3, max_actions=2)
LOOP = ExactMDP(transition=(((1,), (1,)),), reward=((1, 0),), discount=HALF)
"""One state that both actions keep, R = (1, 0): Q* = (2, 1)."""
EXIT = ExactMDP(transition=(((1, 0), (0, 1)), ((0, 1), (0, 1))), reward=((1, 1), (0, 0)), discount=HALF)
"""s₀: a₁ stays, a₂ leads to s₁, R = (1, 1); s₁ absorbs with R = 0: Q*(s₀) = (2, 1)."""


def order(x: Fraction, y: Fraction) -> int:
    """−1, 0 or 1: how x compares with y."""
    return (x > y) - (x < y)


def ranking(q: Q) -> list[int]:
    """How every two actions compare at every state."""
    return [order(x, y) for row in q for x in row for y in row]


def penalty_range(operator: ExactRev) -> tuple[Fraction, Fraction]:
    """[m, M]: the smallest and the largest value of the total penalty λ_epi·Γ + κ."""
    total = [operator.lambda_epi * g + operator.kappa for g in entries(operator.epistemic)]
    return min(total), max(total)


def without_penalty(operator: ExactRev) -> ExactRev:
    """The same backup with Γ = 0 and κ = 0."""
    return ExactRev(operator.mdp, value=operator.value, kernels=operator.kernels)


@claim("C23", lean="RESAC.constant_depression")
@claim("C22", lean="RESAC.constant_ranking")
@given(st.data(), operators(SMALL), numbers(), numbers())
def test_c22_constant_penalty_shifts_uniformly(
    data: st.DataObject, operator: ExactRev, kappa: Fraction, level: Fraction
) -> None:
    """Constant Δ on full kernels: Q*_rob = Q* − γΔ/(1−γ) exactly; the ranking is kept.

    Lean: RESAC.constant_ranking.
    """
    flat = replace(operator, kappa=kappa, epistemic=constant(operator.epistemic, level))
    delta, gamma = flat.lambda_epi * level + kappa, operator.mdp.discount
    plain, robust = without_penalty(flat).fixed_point(), flat.fixed_point()
    assert robust == shift(plain, -gamma * delta / (1 - gamma))
    assert ranking(robust) == ranking(plain)


@claim("C23", lean=("RESAC.rev_depression", "RESAC.revNext_depression"))
@given(operators(SMALL))
def test_c23_depression_bounds(operator: ExactRev) -> None:
    """γm/(1−γ) ≤ Q* − Q*_rob ≤ γM/(1−γ), both forms, any sign (Lean: RESAC.rev_depression)."""
    (low, high), gamma = penalty_range(operator), operator.mdp.discount
    depression = subtract(without_penalty(operator).fixed_point(), operator.fixed_point())
    for x in entries(depression):
        assert gamma * low / (1 - gamma) <= x <= gamma * high / (1 - gamma)


@claim("C23", lean=("RESAC.revDone_depression_le", "RESAC.depression_refuted_done"))
@given(st.data(), SMALL)
def test_c23_under_a_done_mask_only_the_upper_bound(data: st.DataObject, mdp: ExactMDP) -> None:
    """With masked pairs and κ ≥ 0: 0 ≤ Q* − Q*_rob ≤ γκ/(1−γ), and 0 is reached where all is masked (C23)."""
    rows = st.lists(st.booleans(), min_size=mdp.n_actions, max_size=mdp.n_actions).map(tuple)
    done = data.draw(st.lists(rows, min_size=mdp.n_states, max_size=mdp.n_states).map(tuple))
    kappa = abs(data.draw(numbers()))
    plain, robust = ExactRev(mdp, done=done).fixed_point(), ExactRev(mdp, done=done, kappa=kappa).fixed_point()
    for s in range(mdp.n_states):
        for a in range(mdp.n_actions):
            drop = plain[s][a] - robust[s][a]
            assert 0 <= drop <= mdp.discount * kappa / (1 - mdp.discount)
            assert drop == 0 or not done[s][a]


@st.composite
def near_the_margin(draw: st.DrawFn, at: str | None = None) -> tuple[ExactRev, Q]:
    """An operator whose λ_epi makes γ(M−m)/(1−γ) a fraction (1 included) of the widest gap of Q*; and Q*."""
    operator = draw(operators(mdps(max_states=3, min_actions=2, scaled=False), at=at))
    plain = without_penalty(operator).fixed_point()
    gap, gamma = max(max(row) - min(row) for row in plain), operator.mdp.discount
    spread = max(entries(operator.epistemic)) - min(entries(operator.epistemic))
    if gamma * spread == 0:
        return operator, plain
    part = draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(3, 4), Fraction(1, 3)]))
    return replace(operator, lambda_epi=part * gap * (1 - gamma) / (gamma * spread)), plain


def assert_kept(gap: Fraction, margin: Fraction, change: Fraction) -> None:
    """A gap of at least the margin keeps its sign, strictly where it is above the margin."""
    if gap >= margin:
        assert change >= 0
    if gap > margin:
        assert change > 0


@claim("C22", lean=("RESAC.margin_theorem", "RESAC.margin_theorem_next"))
@claim("C25", lean="RESAC.margin_theorem")
@given(near_the_margin())
def test_c22_margin_theorem(instance: tuple[ExactRev, Q]) -> None:
    """A gap of Q* of at least γ(M−m)/(1−γ) survives, strictly with a strict gap (Lean: RESAC.margin_theorem)."""
    operator, plain = instance
    (low, high), gamma = penalty_range(operator), operator.mdp.discount
    margin = gamma * (high - low) / (1 - gamma)
    for row, changed in zip(plain, operator.fixed_point(), strict=True):
        for i, j in permutations(range(len(row)), 2):
            assert_kept(row[i] - row[j], margin, changed[i] - changed[j])


@claim("C22", lean="RESAC.rev_ranking_of_margin")
@given(near_the_margin(at="pair"))
def test_c22_margin_theorem_pair_form(instance: tuple[ExactRev, Q]) -> None:
    """For Γ(s, a) the margin γ(pen(s,a₁) − pen(s,a₂)) + γ²(M−m)/(1−γ) suffices (Lean: RESAC.rev_ranking_of_margin)."""
    operator, plain = instance
    (low, high), gamma = penalty_range(operator), operator.mdp.discount
    tail = gamma**2 * (high - low) / (1 - gamma)
    for row, changed, costs in zip(plain, operator.fixed_point(), operator.epistemic, strict=True):
        for i, j in permutations(range(len(row)), 2):
            margin = gamma * operator.lambda_epi * (costs[i] - costs[j]) + tail
            assert_kept(row[i] - row[j], margin, changed[i] - changed[j])


@claim("C22", lean="RESAC.margin_theorem_policy")
@given(st.data(), mdps(max_states=3, min_actions=2, max_actions=2, scaled=False))
def test_c22_margin_theorem_for_a_fixed_policy(data: st.DataObject, mdp: ExactMDP) -> None:
    """a' ∼ π: the oscillation of the penalty's mean under π counts, however much Γ itself varies."""
    policy, gamma_table = data.draw(policies(mdp)), data.draw(tables_like(mdp))
    plain, discount = ExactRev(mdp, value=policy).fixed_point(), mdp.discount
    means = [sum(p * g for p, g in zip(*rows, strict=True)) for rows in zip(policy, gamma_table, strict=True)]
    spread, gap = max(means) - min(means), max(max(row) - min(row) for row in plain)
    part = data.draw(st.sampled_from([Fraction(1), HALF, Fraction(3, 4), Fraction(2)]))
    weight = part * gap * (1 - discount) / (discount * spread) if discount * spread else part
    penalised = ExactRev(
        mdp, value=policy, epistemic=gamma_table, lambda_epi=weight, kappa=data.draw(numbers()), penalty_at="next"
    ).fixed_point()
    margin = discount * weight * spread / (1 - discount)
    for row, changed in zip(plain, penalised, strict=True):
        for i, j in permutations(range(len(row)), 2):
            assert_kept(row[i] - row[j], margin, changed[i] - changed[j])


@claim("C22", lean="RESAC.margin_sharp")
def test_c22_margin_is_sharp() -> None:
    """In `EXIT` with Γ(s₀) = 2, Γ(s₁) = 0, next-pair: the gap 1 is below the margin 2 and flips; λ = 1/2 only ties."""
    gamma_table: Q = ((2, 2), (0, 0))
    full = ExactRev(EXIT, epistemic=gamma_table, lambda_epi=1, penalty_at="next").fixed_point()
    half = ExactRev(EXIT, epistemic=gamma_table, lambda_epi=HALF, penalty_at="next").fixed_point()
    assert full[0][0] < full[0][1]
    assert half[0][0] == half[0][1]


COUNTEREXAMPLES = [
    pytest.param(
        ExactRev(LOOP, epistemic=((4, 0),), lambda_epi=1),
        (2, 1),
        (-1, 0),
        id="a-pair",
        marks=claim("C22", lean="RESAC.ranking_refuted"),
    ),
    pytest.param(
        ExactRev(EXIT, epistemic=((4, 4), (0, 0)), lambda_epi=1),
        (2, 1),
        (Fraction(-3, 2), -1),
        id="b-state",
        marks=claim("C22", lean="RESAC.ranking_refuted_state"),
    ),
    pytest.param(
        ExactRev(EXIT, epistemic=((2, 2), (0, 0)), lambda_epi=1, penalty_at="next"),
        (2, 1),
        (HALF, 1),
        id="c-next",
        marks=claim("C22", lean="RESAC.ranking_refuted_next"),
    ),
    pytest.param(
        ExactRev(replace(LOOP, reward=((1, 1),)), kappa=2, done=((False, True),)),
        (2, 1),
        (HALF, 1),
        id="d-done",
        marks=claim("C22", lean="RESAC.ranking_refuted_done"),
    ),
]


@claim("C22", lean="RESAC.ranking_refuted")
@pytest.mark.parametrize(("operator", "plain", "robust"), COUNTEREXAMPLES)
def test_c22_smallest_counterexamples(operator: ExactRev, plain: tuple, robust: tuple) -> None:
    """The ranking of the paper's proposition flips; γ = 1/2, λ = 1 (Lean: RESAC.ranking_refuted)."""
    bare = ExactRev(operator.mdp, done=operator.done)
    assert bare.fixed_point()[0] == plain
    assert operator.fixed_point()[0] == robust
    assert order(*plain) == -order(*robust)


def pair_penalty(mdp: ExactMDP) -> st.SearchStrategy[ExactRev]:
    """Γ(s, a) ≥ 0 with λ = 1."""
    tables = tables_like(mdp, size=4).map(lambda g: combine(abs, g))
    return tables.map(lambda g: ExactRev(mdp, epistemic=g, lambda_epi=1))


def state_penalty(mdp: ExactMDP) -> st.SearchStrategy[ExactRev]:
    """Γ(s) ≥ 0 with λ = 1."""
    return pair_penalty(mdp).map(
        lambda t: replace(t, epistemic=tuple((row[0],) * mdp.n_actions for row in t.epistemic))
    )


def next_penalty(mdp: ExactMDP) -> st.SearchStrategy[ExactRev]:
    """Γ(s', a') = Γ(s') ≥ 0 inside the expectation."""
    return state_penalty(mdp).map(lambda t: replace(t, penalty_at="next"))


def done_kappa(mdp: ExactMDP) -> st.SearchStrategy[ExactRev]:
    """A constant κ ≥ 0 under a done mask."""
    rows = st.lists(st.booleans(), min_size=mdp.n_actions, max_size=mdp.n_actions).map(tuple)
    masks = st.lists(rows, min_size=mdp.n_states, max_size=mdp.n_states).map(tuple)
    return st.builds(lambda k, d: ExactRev(mdp, kappa=abs(k), done=d), numbers(4), masks)


def flips(operator: ExactRev) -> bool:
    """Whether some two actions of one state are strictly ordered before, and strictly the other way after."""
    before = ranking(ExactRev(operator.mdp, done=operator.done).fixed_point())
    after = ranking(operator.fixed_point())
    return any(x * y < 0 for x, y in zip(before, after, strict=True))


@claim("C22", lean="RESAC.ranking_refuted_policy")
def test_c22_fixed_policy_counterexample() -> None:
    """The uniform policy on the same MDP, Γ(s₀,·) = 2 at the next pair: (5/3, 1) becomes (1/3, 1)."""
    half = ((HALF, HALF), (HALF, HALF))
    plain = ExactRev(EXIT, value=half).fixed_point()
    robust = ExactRev(EXIT, value=half, epistemic=((2, 2), (0, 0)), lambda_epi=1, penalty_at="next").fixed_point()
    assert plain[0] == (Fraction(5, 3), 1)
    assert robust[0] == (Fraction(1, 3), 1)


@claim("C22", lean="RESAC.ranking_refuted")
@pytest.mark.parametrize("penalty", [pair_penalty, state_penalty, next_penalty, done_kappa])
def test_c22_hypothesis_finds_a_flip(penalty: Callable[[ExactMDP], st.SearchStrategy[ExactRev]]) -> None:
    """For each of the four penalties Hypothesis finds a flipped pair of actions (Lean: RESAC.ranking_refuted).

    The margin theorem holds of what it finds, the done mask apart: the gap that flipped is below the margin.
    """
    instances = mdps(max_states=2, max_actions=2, min_actions=2, discount=st.just(HALF), scaled=False).flatmap(penalty)
    operator = find_instance(instances, flips)
    if operator.done is None:
        low, high = penalty_range(operator)
        gaps = [abs(row[0] - row[1]) for row in ExactRev(operator.mdp).fixed_point()]
        assert min(gaps) < operator.mdp.discount * (high - low) / (1 - operator.mdp.discount)


@claim("C25", lean="RESAC.practical_bound_refuted")
def test_c25_small_depression_still_flips() -> None:
    """γ = 1/2, R = (1, 0, −100), Γ = (4, 0, 0): depression ≤ 4 against a spread of 101, and yet a flip.

    (2, 1, −99) becomes (−1, 0, −100) (Lean: RESAC.practical_bound_refuted).
    """
    mdp = ExactMDP(transition=(((1,), (1,), (1,)),), reward=((1, 0, -100),), discount=HALF)
    operator = ExactRev(mdp, epistemic=((4, 0, 0),), lambda_epi=1)
    plain, robust = ExactRev(mdp).fixed_point(), operator.fixed_point()
    assert plain == ((2, 1, -99),)
    assert robust == ((-1, 0, -100),)
    assert sup(subtract(plain, robust)) <= 4
    assert max(plain[0]) - min(plain[0]) == 101


@claim("C25", lean="RESAC.practical_bound_refuted")
def test_c25_hypothesis_finds_a_flip_under_the_practical_bound() -> None:
    """Found, not given: a flip although the depression is below a tenth of the spread (C25)."""

    def depressed_little_yet_flipped(operator: ExactRev) -> bool:
        plain = ExactRev(operator.mdp).fixed_point()
        depression = sup(subtract(plain, operator.fixed_point()))
        return flips(operator) and 10 * depression < max(plain[0]) - min(plain[0])

    rewards = st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.just(-100)).map(lambda r: (r,))
    costs = st.lists(st.integers(0, 4), min_size=3, max_size=3).map(lambda g: (tuple(g),))
    instances = st.builds(
        lambda r, g: ExactRev(
            ExactMDP(transition=(((1,), (1,), (1,)),), reward=r, discount=HALF), epistemic=g, lambda_epi=1
        ),
        rewards,
        costs,
    )
    operator = find_instance(instances, depressed_little_yet_flipped)
    assert flips(operator)


@claim("C22", lean="RESAC.kappa_ranking_next")
@given(st.data(), operators(SMALL), numbers())
def test_c22_kappa_plays_no_part(data: st.DataObject, operator: ExactRev, kappa: Fraction) -> None:
    """Changing κ alone never changes the ranking on full kernels (Lean: RESAC.kappa_ranking_next)."""
    assume(kappa != operator.kappa)
    assert ranking(replace(operator, kappa=kappa).fixed_point()) == ranking(operator.fixed_point())
