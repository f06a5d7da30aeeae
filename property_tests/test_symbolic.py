"""Identities that the paper prints, checked symbolically (C24, C32) and at its own figures."""

from __future__ import annotations

from fractions import Fraction

import sympy

from property_tests.claims import claim
from pyresac.tabular.exact import ExactMDP, ExactRev


@claim("C24", lean="RESAC.depression_figure")
def test_c24_worked_figure() -> None:
    """γ = 0.99 and Δ = 0.125 give γΔ/(1−γ) = 12.375, the paper's 12.4 (Lean: RESAC.depression_figure)."""
    gamma, delta = Fraction(99, 100), Fraction(125, 1000)
    assert Fraction(5, 1000) * 5 + Fraction(1, 10**4) * 10**3 == delta
    mdp = ExactMDP(transition=(((1,),),), reward=((1,),), discount=gamma)
    drop = ExactRev(mdp).fixed_point()[0][0] - ExactRev(mdp, kappa=delta).fixed_point()[0][0]
    assert drop == Fraction(12375, 1000)
    assert round(float(drop), 1) == 12.4


@claim("C24", lean="RESAC.depression_figure")
def test_c24_depression_is_the_sum_of_the_discounted_penalties() -> None:
    """Σ_{k≥1} γ^k Δ = γΔ/(1−γ), and it solves d = γ(Δ + d) uniquely."""
    gamma, delta, d, n = sympy.symbols("gamma Delta d n", positive=True)
    (solution,) = sympy.solve(sympy.Eq(d, gamma * (delta + d)), d)
    assert sympy.simplify(solution - gamma * delta / (1 - gamma)) == 0
    partial = gamma * delta * (1 - gamma**n) / (1 - gamma)
    step = partial.subs(n, n + 1) - partial - gamma ** (n + 1) * delta
    assert sympy.simplify(step) == 0
    assert partial.subs(n, 0) == 0


@claim("C32")
def test_c32_sample_complexity_algebra() -> None:
    """Regret c·e^{βH}·√(S²AT), averaged over T and set to ε, gives T = c²·e^{2βH}·S²A/ε², as the paper says.

    No theorem: the regret bounds themselves are cited, and the RE-SAC side is declared informal.
    """
    c, b, h, s, a, t, eps = sympy.symbols("c beta H S A T epsilon", positive=True)
    regret = c * sympy.exp(b * h) * sympy.sqrt(s**2 * a * t)
    (solution,) = sympy.solve(sympy.Eq(regret / t, eps), t)
    claimed = c**2 * sympy.exp(2 * b * h) * s**2 * a / eps**2
    assert sympy.simplify(solution / claimed) == 1
    # The average regret falls in T, so a smaller T misses ε.
    assert sympy.simplify(sympy.diff(regret / t, t)).is_negative


@claim("C32")
def test_c32_root_of_squares() -> None:
    """√(S²AT)/T = S√A/√T, the second line of the paper's derivation."""
    s, a, t = sympy.symbols("S A T", positive=True)
    assert sympy.simplify(sympy.sqrt(s**2 * a * t) / t - sympy.sqrt(s**2 * a) / sympy.sqrt(t)) == 0
