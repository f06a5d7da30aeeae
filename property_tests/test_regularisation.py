"""Squared loss under bounded perturbations (C27) and the Geist factor (C28), exactly and symbolically."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import sympy
from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import dot
from property_tests.search import find_instance
from property_tests.strategies import DISCOUNTS, numbers, positive

WEIGHTS = st.lists(numbers(), min_size=1, max_size=4)


def loss(y: Fraction, w: list[Fraction], x: list[Fraction]) -> Fraction:
    """(y − w·x)²."""
    return (y - dot(w, x)) ** 2


@claim("C27", lean="RESAC.robust_squared_loss")
@given(st.data(), WEIGHTS, numbers(), numbers().map(abs))
def test_c27_robust_squared_loss(data: st.DataObject, w: list[Fraction], y: Fraction, radius: Fraction) -> None:
    """max over ‖δ‖∞ ≤ ε of (y − w·(x+δ))² is (|r| + ε‖w‖₁)², attained at −ε·s·sgn(w).

    Lean: RESAC.robust_squared_loss.
    """
    n = len(w)
    x = data.draw(st.lists(numbers(), min_size=n, max_size=n))
    residual, norm = y - dot(w, x), sum(abs(v) for v in w)
    worst = (abs(residual) + radius * norm) ** 2

    sign = 1 if residual >= 0 else -1
    attained = [u - radius * sign * ((v > 0) - (v < 0)) for u, v in zip(x, w, strict=True)]
    assert loss(y, w, attained) == worst

    inside = data.draw(st.lists(st.fractions(-1, 1, max_denominator=8), min_size=n, max_size=n))
    assert loss(y, w, [u + radius * d for u, d in zip(x, inside, strict=True)]) <= worst
    corners = product((-radius, radius), repeat=n)
    assert max(loss(y, w, [u + d for u, d in zip(x, delta, strict=True)]) for delta in corners) == worst


@claim("C28", lean="RESAC.geist_factor_larger")
@given(st.sampled_from(DISCOUNTS), positive())
def test_c28_geist_factor_is_larger(gamma: Fraction, strength: Fraction) -> None:
    """γ < (γ + μα)/(1 + μα) < 1 for γ < 1 and μα > 0: looser, not tighter (Lean: RESAC.geist_factor_larger)."""
    assert gamma < (gamma + strength) / (1 + strength) < 1


@claim("C28", lean="RESAC.geist_factor_larger")
def test_c28_symbolic() -> None:
    """(γ + μα)/(1 + μα) − γ = μα(1 − γ)/(1 + μα), and SymPy sees that it is positive."""
    strength, slack = sympy.symbols("strength slack", positive=True)
    gamma = 1 - slack
    excess = sympy.simplify((gamma + strength) / (1 + strength) - gamma)
    assert sympy.simplify(excess - strength * slack / (1 + strength)) == 0
    assert excess.is_positive


@claim("C28", lean="RESAC.geist_factor_larger")
def test_c28_hypothesis_refutes_strictly_tighter() -> None:
    """Found, not given: γ and μα at which the paper's factor is above γ (C28)."""
    pairs = st.tuples(st.sampled_from(DISCOUNTS), positive())
    gamma, strength = find_instance(pairs, lambda x: (x[0] + x[1]) / (1 + x[1]) > x[0])
    assert 0 <= gamma < 1
    assert strength > 0
