"""The algorithms over critics of values: what each formula is, exactly, and the identities between them.

A formula of `pyresac.deep.algorithms` is plain arithmetic on tensors. In float64 and on small dyadic numbers it rounds
nothing, so it is held without tolerance against the same formula over `Fraction`, and on finite MDPs against the
tabular operator of its algorithm (`ExactRev`). log π is a number like any other there; where it is the logarithm of a
policy's probabilities, `RevOperator` with `PolicyEntropy` and a derived bound take the place of the exact operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from property_tests.floating import Floats, array
from property_tests.rational import Q, combine
from property_tests.strategies import discounts, full_distributions, mdps, numbers, policies, tables_like
from pyresac.deep.algorithms import algorithm_type
from pyresac.deep.algorithms.algorithm import ActorInputs, Algorithm, TargetInputs
from pyresac.deep.algorithms.resac import RESAC, RESACOptions, lower_confidence_bound
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.random_source import Noise
from pyresac.deep.slopes import slopes
from pyresac.tabular.exact import ExactMDP, ExactRev
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.values import PolicyEntropy
from pyresac.training.presets import options_for

HALF = Fraction(1, 2)
UNIT = 2.0**-53
SHARES = st.sampled_from([Fraction(n, 8) for n in range(9)])
"""In [0, 1]."""
TEMPERATURES = st.sampled_from([Fraction(0), Fraction(1, 8), HALF, Fraction(3)])
CLIPPED = ("sac", "sac-n", "td3")
"""Their target takes the minimum of all heads."""
PLAIN = {"independence": 0.0, "lambda_epi": 0.0, "lambda_ale": 0.0, "beta_ood": 0.0, "beta_lcb": 0.0}
"""RE-SAC's shared minimum without penalties."""

Rows = tuple[tuple[Fraction, ...], ...]
Reals = tuple[Fraction, ...]


def algorithm(name: str, heads: int, **options: Any) -> Algorithm[Any]:
    """An algorithm of so many critics."""
    found = algorithm_type(name)
    return found(found.options_type(ensemble_size=heads, **options))


class Draws(Noise):
    """Gives out what a test says."""

    def __init__(self, *, subset: Sequence[int] = (), uniform: Sequence[Tensor] = ()) -> None:
        super().__init__(0, torch.device("cpu"))
        self._subset, self._uniform = list(subset), list(uniform)

    def subset(self, size: int, of: int) -> Tensor:
        assert len(self._subset) == size
        assert max(self._subset) < of
        return torch.tensor(self._subset)

    def uniform(self, *shape: int) -> Tensor:
        found = self._uniform.pop(0)
        assert tuple(found.shape) == shape
        return found


def wide(numbers: Sequence[Any]) -> Tensor:
    """float64, exact for dyadic rationals."""
    return torch.from_numpy(np.array(numbers, dtype=object).astype(np.float64))


def fractions(tensor: Tensor) -> Any:
    """The rationals that the floats are, nested as the tensor."""
    return tuple(fractions(part) for part in tensor) if tensor.ndim else Fraction(tensor.item())


@dataclass(frozen=True)
class Numbers:
    """A batch's numbers: heads (K, B), the rest (B,)."""

    heads: Rows
    log_prob: Reals
    reward: Reals
    going: Reals
    discount: Fraction
    alpha: Fraction
    state_value: Reals

    def after(self, noise: Noise | None = None, at: Callable[[Tensor], Tensor] | None = None) -> TargetInputs:
        """As a target takes them."""
        size = len(self.reward)
        layout = NetworkLayout(1, (), (1,), 1)
        return TargetInputs(
            reward=wide(self.reward),
            going=wide(self.going),
            discount=float(self.discount),
            heads=wide(self.heads),
            next_action=torch.zeros(size, 1, dtype=torch.double),
            log_prob=wide(self.log_prob),
            alpha=float(self.alpha),
            critic=Network(layout, torch.ones(len(self.heads), layout.length, dtype=torch.double)),
            heads_at=_no_action if at is None else at,
            noise=Draws() if noise is None else noise,
            state_value=wide(self.state_value),
        )

    def backup(self, value: Callable[[int], Fraction]) -> Reals:
        """r + γ(1 − d)·value, transition by transition."""
        return tuple(self.reward[i] + self.discount * self.going[i] * value(i) for i in range(len(self.reward)))

    def column(self, i: int) -> list[Fraction]:
        """What the heads say of transition i."""
        return [row[i] for row in self.heads]

    def soft(self, i: int, chosen: Sequence[int]) -> Fraction:
        """min_{k of chosen} Q_k − α·log π."""
        return min(self.heads[k][i] for k in chosen) - self.alpha * self.log_prob[i]


def _no_action(_: Tensor) -> Tensor:
    raise AssertionError("no other action may be asked for")


@st.composite
def batches(draw: st.DrawFn, heads: int | None = None, size: int | None = None) -> Numbers:
    """K and B are powers of two, so that means are exact."""
    k = draw(st.sampled_from([1, 2, 4])) if heads is None else heads
    b = draw(st.sampled_from([1, 2, 4])) if size is None else size

    def row(of: st.SearchStrategy[Fraction]) -> Reals:
        return tuple(draw(st.lists(of, min_size=b, max_size=b)))

    dyadic = numbers(dyadic=True)
    return Numbers(
        heads=tuple(row(dyadic) for _ in range(k)),
        log_prob=row(dyadic),
        reward=row(dyadic),
        going=row(st.sampled_from([Fraction(1), Fraction(0)])),
        discount=draw(discounts(dyadic=True)),
        alpha=draw(TEMPERATURES),
        state_value=row(dyadic),
    )


def now(given: Numbers) -> ActorInputs:
    """As an actor's objective takes them."""
    unit = torch.zeros(len(given.reward), 1, dtype=torch.double)
    return ActorInputs(wide(given.heads), wide(given.log_prob), unit, float(given.alpha), unit)


def actor_slopes(own: Algorithm[Any], given: Numbers) -> list[Tensor]:
    """The loss, and its slopes in heads and log π."""
    with_heads = now(given)

    def loss(heads: Tensor, log_prob: Tensor) -> Tensor:
        return own.actor_loss(ActorInputs(heads, log_prob, with_heads.unit, with_heads.alpha, with_heads.action))

    value, found = slopes(loss, with_heads.heads, with_heads.log_prob)
    return [value, *(part for part in found if part is not None)]


def mean(of: Sequence[Fraction]) -> Fraction:
    return sum(of, Fraction(0)) / len(of)


# Each formula, over rationals.


@pytest.mark.parametrize("name", CLIPPED)
@given(drawn=batches())
def test_the_target_of_clipped_critics(name: str, drawn: Numbers) -> None:
    """r + γ(1 − d)(min_k Q̂_k − α·log π); TD3 has no entropy."""
    size = len(drawn.heads)
    alpha = Fraction(0) if name == "td3" else drawn.alpha
    expected = drawn.backup(lambda i: min(drawn.column(i)) - alpha * drawn.log_prob[i])
    assert fractions(algorithm(name, size).target(drawn.after())) == expected


@given(batches(heads=4), st.permutations(range(4)), st.integers(1, 4))
def test_redqs_target_is_that_of_its_subset(drawn: Numbers, order: list[int], size: int) -> None:
    """The minimum of the chosen heads alone, whatever the others say, in any order of choosing."""
    chosen = order[:size]
    found = algorithm("redq", 4, subset_size=size).target(drawn.after(Draws(subset=chosen)))
    assert fractions(found) == drawn.backup(lambda i: drawn.soft(i, chosen))


@given(batches(), SHARES)
def test_bacs_target_is_the_blend_of_two_backups(drawn: Numbers, share: Fraction) -> None:
    """λ·(r + γ(1 − d)V(s′)) + (1 − λ)·SAC's target."""
    heads = range(len(drawn.heads))
    exploit, explore = drawn.backup(lambda i: drawn.state_value[i]), drawn.backup(lambda i: drawn.soft(i, heads))
    found = algorithm("bac", len(drawn.heads), blend=float(share)).target(drawn.after())
    assert fractions(found) == tuple(share * x + (1 - share) * y for x, y in zip(exploit, explore, strict=True))


@given(st.data(), batches(heads=2, size=2), st.integers(1, 3), SHARES)
def test_the_published_bac_takes_the_best_of_random_actions(
    data: st.DataObject, drawn: Numbers, tried: int, share: Fraction
) -> None:
    """max_j min_k Q̂_k(s′, a_j), a_j = 2u_j − 1 of uniform u_j, in place of V(s′)."""
    uniform = [wide([[data.draw(SHARES)] for _ in range(2)]) for _ in range(tried)]
    tables = data.draw(st.lists(st.lists(numbers(dyadic=True), min_size=4, max_size=4), min_size=tried, max_size=tried))
    asked: list[Tensor] = []

    def heads_at(action: Tensor) -> Tensor:
        asked.append(action)
        return wide(tables[len(asked) - 1]).view(2, 2)

    own = algorithm("bac", 2, blend=float(share), exploitation="uniform", uniform_actions=tried)
    inputs = replace(drawn.after(Draws(uniform=uniform), heads_at), state_value=None)
    found = fractions(own.target(inputs))
    if share == 0:
        assert not asked
    else:
        assert [fractions(action) for action in asked] == [fractions(2.0 * u - 1.0) for u in uniform]
    explore = drawn.backup(lambda i: drawn.soft(i, range(2)))
    exploit = drawn.backup(lambda i: max(min(table[i], table[2 + i]) for table in tables))
    assert found == tuple(share * x + (1 - share) * y for x, y in zip(exploit, explore, strict=True))


@pytest.mark.parametrize(("name", "factor"), [("sac", HALF), ("sac-n", HALF), ("bac", HALF), ("redq", 1), ("td3", 1)])
@given(drawn=batches())
def test_the_critics_loss_is_a_sum_of_mean_squares(name: str, factor: Fraction, drawn: Numbers) -> None:
    """½ or 1 times Σ_k E[(Q_k − y)²]; SAC's Eq. 5 has the half."""
    if name == "redq" and len(drawn.heads) == 1:
        return
    loss = algorithm(name, len(drawn.heads)).critic_loss(wide(drawn.heads), wide(drawn.reward))
    squares = [mean([(q - y) ** 2 for q, y in zip(row, drawn.reward, strict=True)]) for row in drawn.heads]
    assert fractions(loss) == factor * sum(squares)


@pytest.mark.parametrize(
    ("name", "ascends"), [("sac", "min"), ("sac", "mean"), ("sac-n", "min"), ("bac", "min"), ("redq", "mean")]
)
@given(drawn=batches())
def test_the_soft_actors_loss(name: str, ascends: str, drawn: Numbers) -> None:
    """E[α·log π − Q], Q the minimum or the mean of the heads; what each algorithm's default is."""
    if name == "redq" and len(drawn.heads) == 1:
        return
    options = {"actor_ascends": ascends} if (name, ascends) == ("sac", "mean") else {}
    loss = algorithm(name, len(drawn.heads), **options).actor_loss(now(drawn))
    of = min if ascends == "min" else mean
    expected = mean([drawn.alpha * drawn.log_prob[i] - of(drawn.column(i)) for i in range(len(drawn.reward))])
    assert fractions(loss) == expected


@given(batches(), st.sampled_from([Fraction(n, 8) for n in range(1, 8)]))
def test_bacs_v_is_fitted_by_expectile_regression(drawn: Numbers, tau: Fraction) -> None:
    """E[|τ − 1(u < 0)|·u²], u = min_k Q̂_k(s, a) − V(s), and its slope in V; heads are frozen."""
    own, size = algorithm("bac", len(drawn.heads), expectile=float(tau)), len(drawn.reward)
    loss, (slope,) = slopes(lambda v: own.state_value_loss(v, wide(drawn.heads)), wide(drawn.state_value))
    error = [min(drawn.column(i)) - drawn.state_value[i] for i in range(size)]
    weight = [1 - tau if u < 0 else tau for u in error]
    assert fractions(loss) == mean([w * u**2 for w, u in zip(weight, error, strict=True)])
    assert slope is not None
    assert fractions(slope) == tuple(-2 * w * u / size for w, u in zip(weight, error, strict=True))


@given(st.lists(numbers(dyadic=True), min_size=4, max_size=4), numbers(dyadic=True), st.integers(1, 6))
def test_the_expectile_grows_from_the_least_to_the_largest(values: list[Fraction], at: Fraction, eighths: int) -> None:
    """The loss's slope in V is ≤ 0 at the least and ≥ 0 at the largest value of Q, 0 at the mean for τ = ½, and falls
    in τ at every V: the V where it turns lies between them and grows with τ."""

    def slope(v: Fraction, tau: Fraction) -> Fraction:
        own = algorithm("bac", 1, expectile=float(tau))
        _, (found,) = slopes(lambda leaf: own.state_value_loss(leaf, wide([values])), wide([v] * len(values)))
        assert found is not None
        return sum(fractions(found), Fraction(0))

    tau = Fraction(eighths, 8)
    assert slope(min(values), tau) <= 0 <= slope(max(values), tau)
    assert slope(at, tau + Fraction(1, 8)) <= slope(at, tau)
    assert slope(mean(values), HALF) == 0


# Identities between the algorithms.


@given(batches(heads=2))
def test_sac_n_with_two_heads_is_sac(drawn: Numbers) -> None:
    """Target, critics' loss, actor's loss and slopes."""
    first, second = algorithm("sac", 2), algorithm("sac-n", 2)
    assert torch.equal(first.target(drawn.after()), second.target(drawn.after()))
    heads, y = wide(drawn.heads), wide(drawn.reward)
    assert torch.equal(first.critic_loss(heads, y), second.critic_loss(heads, y))
    for one, other in zip(actor_slopes(first, drawn), actor_slopes(second, drawn), strict=True):
        assert torch.equal(one, other)


@given(batches(heads=2), st.permutations(range(2)))
def test_redq_with_both_heads_of_two_has_sacs_target(drawn: Numbers, order: list[int]) -> None:
    own = algorithm("redq", 2).target(drawn.after(Draws(subset=order)))
    assert torch.equal(own, algorithm("sac", 2).target(drawn.after()))


@given(batches())
def test_resac_without_penalties_at_rho_zero_has_sac_ns_target(drawn: Numbers) -> None:
    """In every head; and its actor, with β_lcb = 0, ascends the mean as REDQ's does."""
    size = len(drawn.heads)
    plain = algorithm("resac", size, **PLAIN)
    y = plain.target(drawn.after())
    assert torch.equal(y, algorithm("sac-n", size).target(drawn.after()).expand_as(y))
    assert torch.equal(
        plain.actor_loss(now(drawn)), algorithm("sac", size, actor_ascends="mean").actor_loss(now(drawn))
    )


@given(batches(heads=2))
def test_resac_on_box_tasks_is_sac_to_rounding(drawn: Numbers) -> None:
    """Its default there: two heads, ρ = 0, no penalties, and β_lcb = −1/√2, where the bound is the minimum.

    Q̄ − min = |Q₁ − Q₂|/2 and σ² = (Q₁ − Q₂)²/2, so (Q̄ − min)² = σ²/2 on rationals. The losses of the critics differ by
    the factor ½, which Adam's step does not see but for its ε.
    """
    options = options_for("default", "resac", corridor=False)
    assert isinstance(options, RESACOptions)
    first, second = RESAC(options), algorithm("sac", 2)
    y = first.target(drawn.after())
    assert torch.equal(y, second.target(drawn.after()).expand_as(y))
    heads = wide(drawn.heads)
    assert torch.equal(first.critic_loss(heads, y), 2.0 * second.critic_loss(heads, y))
    bound = lower_confidence_bound(heads, options.beta_lcb)
    for i, found in enumerate(bound.tolist()):
        column = drawn.column(i)
        variance = sum((q - mean(column)) ** 2 for q in column)
        assert (mean(column) - min(column)) ** 2 == variance / 2
        # a root, a product and a sum round numbers below 64, and β is a rounded root itself
        assert abs(found - float(min(column))) <= 8 * 64 * UNIT
    # where both heads agree, the minimum has the slope of either and RE-SAC's bound that of the mean
    differ = heads[0] != heads[1]
    for one, other in zip(actor_slopes(first, drawn), actor_slopes(second, drawn), strict=True):
        alike = (one - other).abs() <= 8 * 64 * UNIT
        assert bool((alike[..., differ] if one.ndim else alike).all())


@given(batches())
def test_bac_without_exploitation_is_sac(drawn: Numbers) -> None:
    """λ = 0: SAC's target, losses and slopes, and no V is learned."""
    size = len(drawn.heads)
    first, second = algorithm("sac", size), algorithm("bac", size, blend=0.0)
    assert second.state_value_lr is None
    assert algorithm("bac", size).state_value_lr is not None
    assert algorithm("bac", size, exploitation="uniform").state_value_lr is None
    assert torch.equal(first.target(drawn.after()), second.target(drawn.after()))
    heads, y = wide(drawn.heads), wide(drawn.reward)
    assert torch.equal(first.critic_loss(heads, y), second.critic_loss(heads, y))
    for one, other in zip(actor_slopes(first, drawn), actor_slopes(second, drawn), strict=True):
        assert torch.equal(one, other)


@given(batches(heads=4), st.sampled_from([Fraction(0), HALF, Fraction(1), Fraction(2)]))
def test_the_published_sac_n_is_the_optimist_of_resacs_bound(drawn: Numbers, optimism: Fraction) -> None:
    """Its actor ascends Q̄ + β·σ_ens where RE-SAC's ascends Q̄ − |β|·σ_ens: one formula, two signs."""
    own, heads = algorithm("sac-n", 4, actor_optimism=float(optimism)), wide(drawn.heads)
    ascended = lower_confidence_bound(heads, float(optimism))
    expected = (float(drawn.alpha) * wide(drawn.log_prob) - ascended).mean()
    assert torch.equal(own.actor_loss(now(drawn)), expected)
    assert bool((ascended >= heads.mean(0)).all())
    # σ² is rational; its root, a product and a sum round numbers below 64
    for i, above in enumerate((ascended - heads.mean(0)).tolist()):
        column = drawn.column(i)
        variance = sum((q - mean(column)) ** 2 for q in column) / 3
        assert abs(above - float(optimism) * float(variance) ** 0.5) <= 8 * 64 * UNIT


# Symmetry and order.


@pytest.mark.parametrize("name", ["sac", "sac-n", "td3", "redq", "bac", "resac"])
@given(drawn=batches(heads=4), order=st.permutations(range(4)))
def test_the_order_of_heads_means_nothing(name: str, drawn: Numbers, order: list[int]) -> None:
    """Targets and losses; RE-SAC's targets, one a head, move with their heads. TD3's actor is the exception below."""
    moved = replace(drawn, heads=tuple(drawn.heads[k] for k in order))
    options = {"lambda_epi": 0.0, "beta_lcb": 0.0, "beta_ood": 0.0, "independence": 0.5} if name == "resac" else {}
    own = algorithm(name, 4, **options)
    # the same two heads, where they are now
    first, second = Draws(subset=[0, 3]), Draws(subset=[order.index(0), order.index(3)])
    before, after = own.target(drawn.after(first)), own.target(moved.after(second))
    assert torch.equal(before[order] if name == "resac" else before, after)
    y = wide(drawn.reward)
    assert torch.equal(own.critic_loss(wide(drawn.heads), y), own.critic_loss(wide(moved.heads), y))
    if name != "td3":
        assert torch.equal(own.actor_loss(now(drawn)), own.actor_loss(now(moved)))
    if name == "bac":
        v = wide(drawn.state_value)
        assert torch.equal(own.state_value_loss(v, wide(drawn.heads)), own.state_value_loss(v, wide(moved.heads)))


def test_td3s_actor_ascends_the_first_head_alone() -> None:
    """So there the order of heads does mean something; with `actor_ascends = mean` it does not."""
    layout = NetworkLayout(1, (), (1,), 1)
    critic = Network(layout, torch.arange(3.0 * layout.length).view(3, -1))
    assert torch.equal(algorithm("td3", 3).actor_heads(critic).matrix, critic.matrix[:1])
    assert torch.equal(algorithm("td3", 3, actor_ascends="mean").actor_heads(critic).matrix, critic.matrix)
    for name in ("sac", "sac-n", "redq", "bac", "resac"):
        assert algorithm(name, 3).actor_heads(critic) is critic


@given(batches(size=2))
def test_td3s_actor_loss(drawn: Numbers) -> None:
    """−E[Q_1] of one head, −E[Q̄] of several; log π plays no part."""
    loss = algorithm("td3", len(drawn.heads)).actor_loss(now(drawn))
    assert fractions(loss) == -mean([mean(drawn.column(i)) for i in range(2)])


@pytest.mark.parametrize("name", ["sac", "sac-n", "td3", "redq", "bac"])
@given(data=st.data(), drawn=batches(heads=4))
def test_higher_heads_never_lower_a_target(name: str, data: st.DataObject, drawn: Numbers) -> None:
    """Minimum and mean are monotone: so is each target, and each actor's value, in every head."""
    raised = tuple(tuple(q + abs(data.draw(numbers(dyadic=True))) for q in row) for row in drawn.heads)
    higher, own = replace(drawn, heads=raised), algorithm(name, 4)
    low, high = (own.target(case.after(Draws(subset=[1, 2]))) for case in (drawn, higher))
    assert bool((low <= high).all())
    assert bool(own.actor_loss(now(drawn)) >= own.actor_loss(now(higher)))


@given(batches(heads=4), numbers(dyadic=True))
def test_a_constant_on_all_heads_comes_out_discounted(drawn: Numbers, constant: Fraction) -> None:
    """Translation equivariance, with monotonicity the two halves of a contraction: y moves by γ(1 − d)·c."""
    shifted = replace(
        drawn,
        heads=tuple(tuple(q + constant for q in row) for row in drawn.heads),
        state_value=tuple(v + constant for v in drawn.state_value),
    )
    for name in ("sac", "sac-n", "td3", "redq", "bac"):
        own = algorithm(name, 4)
        first, second = (fractions(own.target(case.after(Draws(subset=[3, 0])))) for case in (drawn, shifted))
        assert second == tuple(y + drawn.discount * g * constant for y, g in zip(first, drawn.going, strict=True))


@given(batches(heads=4), st.permutations(range(4)))
def test_more_heads_lower_a_minimum(drawn: Numbers, order: list[int]) -> None:
    """SAC-N's target ≤ REDQ's of any subset ≤ that of any one head of it; min ≤ mean for the actor."""
    all_heads = fractions(algorithm("sac-n", 4).target(drawn.after()))
    pair = fractions(algorithm("redq", 4).target(drawn.after(Draws(subset=order[:2]))))
    one = fractions(algorithm("redq", 4, subset_size=1).target(drawn.after(Draws(subset=order[:1]))))
    assert all(x <= y <= z for x, y, z in zip(all_heads, pair, one, strict=True))
    least, average = algorithm("sac-n", 4), algorithm("redq", 4)
    assert bool(least.actor_loss(now(drawn)) >= average.actor_loss(now(drawn)))


@given(batches(heads=2), SHARES, SHARES)
def test_bac_lies_between_its_two_backups(drawn: Numbers, first: Fraction, second: Fraction) -> None:
    """And moves from SAC's target to r + γ(1 − d)V(s′) as λ grows."""
    low, high = sorted((first, second))
    ends = [fractions(algorithm("bac", 2, blend=share).target(drawn.after())) for share in (0.0, 1.0)]
    found = [fractions(algorithm("bac", 2, blend=float(share)).target(drawn.after())) for share in (low, high)]
    for explore, less, more, exploit in zip(ends[0], *found, ends[1], strict=True):
        assert explore <= less <= more <= exploit or explore >= less >= more >= exploit


# On finite MDPs: the target, averaged over s′ ~ P and a′ ~ π, is the tabular operator's backup.


@dataclass(frozen=True)
class Finite:
    """A finite MDP, tables of the heads and of log π, a policy, states that end, and a table V."""

    mdp: ExactMDP
    heads: tuple[Q, ...]
    log_policy: Q
    policy: Q
    going: Reals
    state_value: Reals
    alpha: Fraction

    def numbers(self) -> Numbers:
        """Every (s, a, s′, a′), in order."""
        places = list(self.places())
        return Numbers(
            heads=tuple(tuple(head[after][b] for _, _, after, b in places) for head in self.heads),
            log_prob=tuple(self.log_policy[after][b] for _, _, after, b in places),
            reward=tuple(self.mdp.reward[s][a] for s, a, _, _ in places),
            going=tuple(self.going[after] for _, _, after, _ in places),
            discount=self.mdp.discount,
            alpha=self.alpha,
            state_value=tuple(self.state_value[after] for _, _, after, _ in places),
        )

    def places(self) -> product[tuple[int, ...]]:
        states, actions = range(self.mdp.n_states), range(self.mdp.n_actions)
        return product(states, actions, states, actions)

    def average(self, y: Sequence[Fraction]) -> Q:
        """Σ P(s′|s, a)·π(a′|s′)·y(s, a, s′, a′), a table [s][a]."""
        total = [[Fraction(0)] * self.mdp.n_actions for _ in range(self.mdp.n_states)]
        for (s, a, after, b), value in zip(self.places(), y, strict=True):
            total[s][a] += self.mdp.transition[s][a][after] * self.policy[after][b] * value
        return tuple(tuple(row) for row in total)

    def least(self, chosen: Sequence[int]) -> Q:
        """min_{k of chosen} Q_k − α·log π, a table."""
        lowest = combine(lambda *q: min(q), *(self.heads[k] for k in chosen))
        return combine(lambda q, log: q - self.alpha * log, lowest, self.log_policy)

    def backup(self, q: Q) -> Q:
        """The exact operator under π, where nothing follows an end."""
        operator = ExactRev(self.mdp, value=self.policy)
        return operator.backup([g * v for g, v in zip(self.going, operator.value_of(q), strict=True)])


@st.composite
def finite(draw: st.DrawFn, heads: int = 3) -> Finite:
    """Dyadic throughout; some states may end."""
    mdp = draw(mdps(dyadic=True))
    return Finite(
        mdp=mdp,
        heads=tuple(draw(tables_like(mdp, dyadic=True)) for _ in range(heads)),
        log_policy=draw(tables_like(mdp, dyadic=True)),
        policy=draw(policies(mdp, dyadic=True)),
        going=tuple(Fraction(int(draw(st.booleans()))) for _ in range(mdp.n_states)),
        state_value=tuple(draw(numbers(dyadic=True)) for _ in range(mdp.n_states)),
        alpha=draw(TEMPERATURES),
    )


@pytest.mark.parametrize("name", CLIPPED)
@given(case=finite())
def test_clipped_critics_back_up_the_least_table(name: str, case: Finite) -> None:
    """SAC, SAC-N: T^π of min_k Q_k − α·log π. TD3: the same without entropy, for its policy."""
    if name == "td3":
        case = replace(case, alpha=Fraction(0))
    y = fractions(algorithm(name, 3).target(case.numbers().after()))
    assert case.average(y) == case.backup(case.least(range(3)))


@given(finite())
def test_redq_backs_up_the_mean_over_its_subsets(case: Finite) -> None:
    """Over all pairs, each equally likely: T^π of E_M[min_{k ∈ M} Q_k] − α·log π."""
    pairs = list(combinations(range(3), 2))
    own = algorithm("redq", 3)
    backups = [case.average(fractions(own.target(case.numbers().after(Draws(subset=pair))))) for pair in pairs]
    expected = case.backup(combine(lambda *q: sum(q, Fraction(0)) / len(pairs), *(case.least(pair) for pair in pairs)))
    assert combine(lambda *q: sum(q, Fraction(0)) / len(pairs), *backups) == expected


@given(finite(), SHARES)
def test_bac_backs_up_the_blend(case: Finite, share: Fraction) -> None:
    """λ·T_V + (1 − λ)·T^π, T_V the backup of the table V: the BEE operator with V for its maximum."""
    y = fractions(algorithm("bac", 3, blend=float(share)).target(case.numbers().after()))
    exploit = ExactRev(case.mdp).backup([g * v for g, v in zip(case.going, case.state_value, strict=True)])
    explore = case.backup(case.least(range(3)))
    assert case.average(y) == combine(lambda x, z: share * x + (1 - share) * z, exploit, explore)


@given(finite(), SHARES)
def test_the_published_bac_backs_up_the_best_action(case: Finite, share: Fraction) -> None:
    """If every action of a finite MDP is tried, its exploitation is the backup of max_a min_k Q_k(s′, a)."""
    places, actions = list(case.places()), range(case.mdp.n_actions)
    tried = iter(actions)

    def heads_at(_: Tensor) -> Tensor:
        action = next(tried)
        return wide([[head[after][action] for _, _, after, _ in places] for head in case.heads])

    uniform = [torch.full((len(places), 1), 0.5, dtype=torch.double) for _ in actions]
    own = algorithm("bac", 3, blend=float(share), exploitation="uniform", uniform_actions=len(actions))
    inputs = replace(case.numbers().after(Draws(uniform=uniform), heads_at), state_value=None)
    operator = ExactRev(case.mdp, value="max")
    best = operator.value_of(combine(lambda *q: min(q), *case.heads))
    exploit = operator.backup([g * v for g, v in zip(case.going, best, strict=True)])
    explore = case.backup(case.least(range(3)))
    expected = combine(lambda x, z: share * x + (1 - share) * z, exploit, explore)
    assert case.average(fractions(own.target(inputs))) == expected


@pytest.mark.parametrize("name", ["sac", "sac-n", "redq", "bac"])
@given(data=st.data(), case=finite())
def test_with_the_entropy_of_a_policy_it_is_the_soft_operator(name: str, data: st.DataObject, case: Finite) -> None:
    """log π of a policy with full support is irrational: `RevOperator` of `PolicyEntropy`, within rounding.

    A target is a sum of three parts after at most six roundings, log π rounded once more; a mean over S·A of them has
    S·A + 2 more.
    """
    alpha = 0.5
    policy = array(tuple(data.draw(full_distributions(case.mdp.n_actions)) for _ in range(case.mdp.n_states)))
    policy /= policy.sum(axis=1, keepdims=True)
    places = np.array(list(case.places()))
    log_prob = np.log(policy)[places[:, 2], places[:, 3]]
    inputs = replace(
        case.numbers().after(Draws(subset=[2, 0])),
        log_prob=torch.from_numpy(log_prob),
        going=torch.ones(len(places), dtype=torch.double),
        alpha=alpha,
    )
    y = algorithm(name, 3, **({"blend": 0.0} if name == "bac" else {})).target(inputs).numpy()
    transition = np.array([[[float(p) for p in row] for row in state] for state in case.mdp.transition])
    weight = transition[places[:, 0], places[:, 1], places[:, 2]] * policy[places[:, 2], places[:, 3]]
    shape = (case.mdp.n_states, case.mdp.n_actions, -1)
    found = (weight * y).reshape(shape).sum(axis=2)
    chosen = [2, 0] if name == "redq" else [0, 1, 2]
    lowest: Floats = np.min([array(case.heads[k]) for k in chosen], axis=0)
    operator = RevOperator(FiniteMDP.from_exact(case.mdp), value=PolicyEntropy(policy, alpha))
    largest = float(np.abs(lowest).max())
    size = float(np.abs(array(case.mdp.reward)).max()) + largest + alpha * float(np.abs(log_prob).max())
    roundings = 8 + 2 * case.mdp.n_states * case.mdp.n_actions + 2
    bound = operator.rounding(largest) + roundings * UNIT * size
    assert np.abs(found - operator(lowest)).max() <= bound


def test_subsets_are_equally_likely() -> None:
    """`Noise.subset` over 4,000 draws: each of the six pairs of four, in either order, within five deviations."""
    noise, counts = Noise(0, torch.device("cpu")), dict.fromkeys(permutations(range(4), 2), 0)
    for _ in range(4000):
        first, second = noise.subset(2, 4).tolist()
        counts[first, second] += 1
    expected = 4000 / 12
    assert max(abs(count - expected) for count in counts.values()) <= 5.0 * expected**0.5
