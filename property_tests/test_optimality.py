"""What the fixed point is the optimum of, and how solvers reach it (C49, C50), in exact rationals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import Q, below, constant, dot, entries, subtract, sup
from property_tests.strategies import discounts, mdps, positive, tables_like
from pyresac.tabular.exact import ExactMDP, ExactRev

TINY = mdps(max_states=2, max_actions=2)
SMALL = mdps(max_states=3, max_actions=2)


def deterministic(mdp: ExactMDP, actions: tuple[int, ...]) -> Q:
    """π[s][a] of a deterministic policy."""
    return tuple(tuple(Fraction(int(a == chosen)) for a in range(mdp.n_actions)) for chosen in actions)


def greedy(q: Q) -> tuple[int, ...]:
    """The first best action of each state."""
    return tuple(max(range(len(row)), key=lambda a, row=row: row[a]) for row in q)


def at_least(first: Q, second: Q) -> bool:
    """first ≥ second everywhere."""
    return below(second, first)


@st.composite
def penalised(draw: st.DrawFn, small: st.SearchStrategy[ExactMDP]) -> ExactRev:
    """A maximising operator with a frozen penalty of the pair or of the next pair."""
    mdp = draw(small)
    place = draw(st.sampled_from(["pair", "next"]))
    return ExactRev(mdp, epistemic=draw(tables_like(mdp)), lambda_epi=1, kappa=1, penalty_at=place)


@claim("C49", lean=("RESAC.policy_le_optimum", "RESAC.greedy_eq_optimum"))
@given(penalised(SMALL))
def test_c49_the_fixed_point_is_the_best_value_of_all_policies(operator: ExactRev) -> None:
    """Q^π ≤ Q* for every deterministic π, with equality for one greedy for what V reads of Q*."""
    best = operator.fixed_point()
    mdp = operator.mdp
    values = [
        replace(operator, value=deterministic(mdp, actions)).fixed_point()
        for actions in product(range(mdp.n_actions), repeat=mdp.n_states)
    ]
    assert all(at_least(best, q) for q in values)
    assert best in values


@claim("C49", lean=("RESAC.policyIteration_terminates", "RESAC.policy_improvement"))
@given(penalised(SMALL))
def test_c49_policy_iteration_ends_within_the_number_of_policies(operator: ExactRev) -> None:
    """Values never fall, gain a sweep each, and one of the first |A|^|S| + 1 is Q*."""
    mdp, actions = operator.mdp, (0,) * operator.mdp.n_states
    best, before = operator.fixed_point(), None
    for _ in range(mdp.n_actions**mdp.n_states + 1):
        q = replace(operator, value=deterministic(mdp, actions)).fixed_point()
        if before is not None:
            assert at_least(q, operator(before))
        if q == best:
            return
        before = q
        seen = q if operator.penalty_at == "pair" else subtract(q, operator.epistemic)
        actions = greedy(seen)
    raise AssertionError("no policy was optimal")


@claim("C49", lean=("RESAC.history_le_optimum", "RESAC.history_return_le"))
@given(st.data(), mdps(max_states=2, max_actions=2, discount=discounts()), st.integers(1, 3))
def test_c49_policies_that_remember_do_no_better(data: st.DataObject, mdp: ExactMDP, steps: int) -> None:
    """k steps of a policy drawn afresh at every history, then Q*, are worth at most Q*."""
    best = ExactRev(mdp).fixed_point()
    choose = st.integers(0, mdp.n_actions - 1)

    def worth(s: int, a: int, left: int) -> Fraction:
        if left == 0:
            return best[s][a]
        following = [
            worth(t, data.draw(choose), left - 1) if p else Fraction(0) for t, p in enumerate(mdp.transition[s][a])
        ]
        return mdp.reward[s][a] + mdp.discount * dot(mdp.transition[s][a], following)

    assert all(worth(s, a, steps) <= best[s][a] for s in range(mdp.n_states) for a in range(mdp.n_actions))


def low_start(operator: ExactRev) -> Q:
    """A table below its own backup: a constant far enough down."""
    zero = constant(operator.mdp.reward, 0)
    c = min(entries(operator(zero))) / (1 - operator.mdp.discount)
    return constant(zero, min(c, 0))


@claim("C49", lean=("RESAC.modifiedPolicyIteration_rate", "RESAC.modifiedPolicyIteration_step"))
@given(st.data(), TINY)
def test_c49_modified_policy_iteration_gains_a_sweep_a_round(data: st.DataObject, mdp: ExactMDP) -> None:
    """From below its own backup: each round gains at least T Q, stays below Q* and below its backup."""
    operator = ExactRev(mdp)
    best, q = operator.fixed_point(), low_start(operator)
    error = sup(subtract(best, q))
    for k in range(1, 4):
        policy = replace(operator, value=deterministic(mdp, greedy(q)))
        swept = operator(q)
        for _ in range(data.draw(st.integers(1, 3))):
            q = policy(q)
        assert at_least(q, swept)
        assert at_least(best, q)
        assert at_least(operator(q), q)
        assert sup(subtract(best, q)) <= mdp.discount**k * error


@claim("C49", lean=("RESAC.gaussSeidel_rate", "RESAC.inPlace_step"))
@given(st.data(), SMALL)
def test_c49_gauss_seidel_gains_a_sweep_a_round(data: st.DataObject, mdp: ExactMDP) -> None:
    """The same for sweeps in place, in any order that visits every state."""
    operator = ExactRev(mdp)
    best, q = operator.fixed_point(), low_start(operator)
    error = sup(subtract(best, q))
    for k in range(1, 4):
        swept = operator(q)
        for s in data.draw(st.permutations(range(mdp.n_states))):
            row = operator(q)[s]
            q = (*q[:s], row, *q[s + 1 :])
        assert at_least(q, swept)
        assert at_least(best, q)
        assert sup(subtract(best, q)) <= mdp.discount**k * error


@claim("C50", lean="RESAC.stochastic_tracks")
@given(st.data(), TINY, positive(4))
def test_c50_noisy_asynchronous_updates_track_the_fixed_point(
    data: st.DataObject, mdp: ExactMDP, size: Fraction
) -> None:
    """Steps of ½ at entries in turn, noise that halves: the denoised iterate stays within D = max(d₀, γω/(1 − γ)).

    ω bounds the averaged noise; the iterate is within D + ω of Q* at every time (Lean: RESAC.denoised_stays, the
    invariant of RESAC.stochastic_tracks).
    """
    operator = ExactRev(mdp)
    best = operator.fixed_point()
    x = data.draw(tables_like(mdp))
    pairs = [(s, a) for s in range(mdp.n_states) for a in range(mdp.n_actions)]
    noise = dict.fromkeys(pairs, Fraction(0))
    omega = size
    gamma = mdp.discount
    start = sup(subtract(x, best))
    bound = max(start, gamma * omega / (1 - gamma))
    for t in range(12):
        s, a = pairs[t % len(pairs)]
        w = size * data.draw(st.sampled_from([-1, 1])) / 2**t
        target = operator(x)[s][a] + w
        noise[s, a] = (noise[s, a] + w) / 2
        x = tuple(
            tuple((y + target) / 2 if (i, j) == (s, a) else y for j, y in enumerate(row)) for i, row in enumerate(x)
        )
        assert max(abs(y) for y in noise.values()) <= omega
        assert all(abs(x[i][j] - noise[i, j] - best[i][j]) <= bound for i, j in pairs)
