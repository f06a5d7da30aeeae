"""Ends of episodes: as absorbing states they keep the kernel full; a done mask is another operator (C10, C22 d)."""

from __future__ import annotations

from fractions import Fraction

import gymnasium
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.floating import exact
from property_tests.rational import shift, subtract, sup
from property_tests.strategies import discounts, distributions, numbers
from pyresac.tabular.exact import ExactMDP, ExactRev
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator

Outcome = tuple[Fraction, int, Fraction, bool]


class Episode(gymnasium.Env[int, int]):
    """An environment that is its transition table, in the manner of Gymnasium's toy-text family."""

    def __init__(self, outcomes: list[list[list[Outcome]]]) -> None:
        self.observation_space = gymnasium.spaces.Discrete(len(outcomes))
        self.action_space = gymnasium.spaces.Discrete(len(outcomes[0]))
        self.initial_state_distrib = np.full(len(outcomes), 1 / len(outcomes))
        self.P = {
            s: {a: [(float(p), t, float(r), done) for p, t, r, done in rows] for a, rows in enumerate(state)}
            for s, state in enumerate(outcomes)
        }


@st.composite
def episodes(draw: st.DrawFn) -> list[list[list[Outcome]]]:
    """Tables of one to three states: dyadic chances, duplicate successors, ends anywhere."""
    n, actions = draw(st.integers(1, 3)), draw(st.integers(1, 2))

    def rows() -> list[Outcome]:
        chances = draw(distributions(3, dyadic=True))
        return [(p, draw(st.integers(0, n - 1)), draw(numbers(4, dyadic=True)), draw(st.booleans())) for p in chances]

    return [[rows() for _ in range(actions)] for _ in range(n)]


def with_end(outcomes: list[list[list[Outcome]]], gamma: Fraction) -> ExactMDP:
    """The MDP with one more state, absorbing with reward 0, that every end leads to."""
    n = len(outcomes)

    def row(rows: list[Outcome]) -> tuple[Fraction, ...]:
        return tuple(
            sum((p for p, t, _, done in rows if (n if done else t) == target), Fraction(0)) for target in range(n + 1)
        )

    end = tuple(Fraction(int(i == n)) for i in range(n + 1))
    actions = len(outcomes[0])
    return ExactMDP(
        transition=(*(tuple(row(rows) for rows in state) for state in outcomes), (end,) * actions),
        reward=(
            *(tuple(sum((p * r for p, _, r, _ in rows), Fraction(0)) for rows in state) for state in outcomes),
            (0,) * actions,
        ),
        discount=gamma,
    )


@claim("C10", lean="RESAC.rev_discount")
@given(episodes(), discounts(dyadic=True), numbers(4, dyadic=True))
def test_c10_ends_as_absorbing_states_keep_the_kernel_full(
    outcomes: list[list[list[Outcome]]], gamma: Fraction, c: Fraction
) -> None:
    """The model read from `P` has the values of the episode, and discounting T(Q + c) = T Q + γc holds of it.

    Every state is a start, so an end may be entered otherwise, too, and gets a state of its own.
    """
    mdp = FiniteMDP.from_gymnasium(Episode(outcomes), float(gamma))
    reference = ExactRev(with_end(outcomes, gamma)).fixed_point()
    model = ExactRev(mdp.to_exact())
    assert model.fixed_point()[: len(outcomes)] == reference[: len(outcomes)]
    q = exact(np.zeros((mdp.n_states, mdp.n_actions)))
    assert model(shift(q, c)) == shift(model(q), gamma * c)


@claim("C22", lean="RESAC.ranking_refuted_done")
@given(st.data(), episodes(), discounts(dyadic=True), numbers(4, dyadic=True))
def test_c22_done_masked_reading_drops_the_penalty_at_the_end(
    data: st.DataObject, outcomes: list[list[list[Outcome]]], gamma: Fraction, kappa: Fraction
) -> None:
    """r + γ(1 − done)(V − κ), outcome by outcome, is what the done-masked reading computes.

    Exact: all numbers are dyadic with few bits (Lean: RESAC.ranking_refuted_done).
    """
    n, actions = len(outcomes), len(outcomes[0])
    mdp = FiniteMDP.from_gymnasium(Episode(outcomes), float(gamma), done_masked=True)
    row = st.lists(numbers(dyadic=True), min_size=actions, max_size=actions).map(tuple)
    q = data.draw(st.lists(row, min_size=n, max_size=n))
    values = [max(x) for x in q]
    # What an added or absorbing end holds must be 0: its value is pinned.
    table = np.zeros((mdp.n_states, actions))
    table[:n] = [[float(x) for x in r] for r in q]
    assert mdp.terminal is not None
    table[mdp.terminal] = 0.0
    values = [Fraction(0) if mdp.terminal[s] else v for s, v in enumerate(values)]
    computed = exact(RevOperator(mdp, kappa=float(kappa))(table))
    for s, state in enumerate(outcomes):
        if mdp.terminal[s]:
            continue
        for a, rows in enumerate(state):
            expected = sum((p * (r + gamma * (not done) * (values[t] - kappa)) for p, t, r, done in rows), Fraction(0))
            assert computed[s][a] == expected


@claim("C10", lean="RESAC.revDone_contraction")
@given(st.data(), episodes(), discounts(dyadic=True, zero=False), numbers(4, dyadic=True))
def test_c10_contraction_survives_the_done_mask(
    data: st.DataObject, outcomes: list[list[list[Outcome]]], gamma: Fraction, kappa: Fraction
) -> None:
    """The masked backup contracts still: distances shrink by γ, whatever κ is (C10)."""
    mdp = FiniteMDP.from_gymnasium(Episode(outcomes), float(gamma), done_masked=True)
    cell = numbers(dyadic=True).map(float)
    row = st.lists(cell, min_size=mdp.n_actions, max_size=mdp.n_actions)
    table = st.lists(row, min_size=mdp.n_states, max_size=mdp.n_states).map(np.array)
    operator = RevOperator(mdp, kappa=float(kappa))
    q1, q2 = data.draw(table), data.draw(table)
    moved = sup(subtract(exact(operator(q1)), exact(operator(q2))))
    assert moved <= gamma * sup(subtract(exact(q1), exact(q2)))
