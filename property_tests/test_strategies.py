"""The strategies reach every kind of instance that the theorems speak of, and shrink to the smallest."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import Phase, find, given, settings

from property_tests.rational import entries
from property_tests.search import find_instance
from property_tests.strategies import mdps, operators
from pyresac.tabular.exact import ExactMDP, ExactRev
from pyresac.tabular.mdp import FiniteMDP

Kind = Callable[[ExactMDP], bool]


def absorbing(mdp: ExactMDP) -> bool:
    """Whether some state of several is kept by each of its actions."""
    return mdp.n_states > 1 and any(all(row[s] == 1 for row in mdp.transition[s]) for s in range(mdp.n_states))


KINDS: dict[str, Kind] = {
    "discount 0": lambda m: m.discount == 0,
    "discount near 1": lambda m: m.discount > Fraction(99, 100),
    "one state": lambda m: m.n_states == 1,
    "one action": lambda m: m.n_actions == 1,
    "three states and actions": lambda m: m.n_states == m.n_actions == 3,
    "absorbing state": absorbing,
    "zero reward": lambda m: not any(entries(m.reward)),
    "huge reward": lambda m: max(map(abs, entries(m.reward))) >= 2**20,
    "tiny reward": lambda m: 0 < max(map(abs, entries(m.reward))) <= Fraction(4, 2**20),
    "repeated rows": lambda m: any(len(set(rows)) < len(rows) for rows in m.transition),
    "spread row": lambda m: any(min(row) > 0 for rows in m.transition for row in rows if len(row) > 1),
    "unavailable action": lambda m: any(len(m.actions(s)) < m.n_actions for s in range(m.n_states)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dyadic", [False, True])
def test_every_kind_is_reached(kind: str, dyadic: bool) -> None:
    """Each kind of instance is generated, by the rational strategy and by the dyadic one."""
    assert KINDS[kind](find_instance(mdps(dyadic=dyadic, masked=True), KINDS[kind]))


def test_shrinks_to_the_smallest_instance() -> None:
    """Of all MDPs with a positive reward the one reported has one state, one action, γ = 1/2 and reward 1."""
    shrinking = settings(max_examples=500, database=None, phases=tuple(Phase))  # whatever the profile leaves out
    smallest = find(mdps(), lambda m: max(entries(m.reward)) > 0, settings=shrinking)
    assert smallest == ExactMDP(transition=(((1,),),), reward=((1,),), discount=Fraction(1, 2))


@given(mdps(dyadic=True, masked=True))
def test_dyadic_instances_are_exact_in_float64(mdp: ExactMDP) -> None:
    """The float copy of a dyadic instance is the instance itself: `to_exact` gives it back."""
    back = FiniteMDP.from_exact(mdp).to_exact()
    assert back.discount == mdp.discount
    for s in range(mdp.n_states):
        for a in mdp.actions(s):
            assert back.transition[s][a] == mdp.transition[s][a]
            assert back.reward[s][a] == mdp.reward[s][a]


@pytest.mark.parametrize(
    "wanted",
    [
        lambda t: t.kernels is not None and t.penalty_at == "next",
        lambda t: isinstance(t.value, tuple) and t.lambda_epi > 0,
        lambda t: t.value == "min" and t.kappa < 0,
        lambda t: any(x < 0 for x in entries(t.epistemic)),
    ],
)
def test_operators_reach_every_option(wanted: Callable[[ExactRev], bool]) -> None:
    """Robust sets, both penalty forms, each value functional and penalties of either sign are generated."""
    assert wanted(find_instance(operators(), wanted))
