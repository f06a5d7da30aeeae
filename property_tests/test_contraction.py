"""The frozen backup is a γ-contraction, monotone and discounting, for every value and expectation functional.

Exact: `ExactRev` over ℚ, so each statement is an equality or an inequality without tolerance.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import below, combine, shift, sign_of_log_sum, subtract, sup
from property_tests.strategies import (
    discounts,
    mdps,
    numbers,
    operators,
    positive,
    tables_like,
)
from pyresac.tabular.exact import ExactMDP, ExactRev


@claim("C11", lean="RESAC.rev_contraction")
@given(st.data(), operators())
def test_c11_contraction(data: st.DataObject, operator: ExactRev) -> None:
    """‖T Q₁ − T Q₂‖ ≤ γ‖Q₁ − Q₂‖, whatever the frozen penalty (Lean: RESAC.rev_contraction)."""
    q1, q2 = data.draw(tables_like(operator.mdp)), data.draw(tables_like(operator.mdp))
    assert sup(subtract(operator(q1), operator(q2))) <= operator.mdp.discount * sup(subtract(q1, q2))


@claim("C11", lean="RESAC.rev_discount")
@given(st.data(), operators())
def test_c11_modulus_gamma_is_attained(data: st.DataObject, operator: ExactRev) -> None:
    """γ is the exact modulus: Q and Q + c are moved to a distance of exactly γ|c| (Lean: RESAC.rev_discount)."""
    q, c = data.draw(tables_like(operator.mdp)), data.draw(numbers())
    assert sup(subtract(operator(shift(q, c)), operator(q))) == operator.mdp.discount * abs(c)


@claim("C09", lean="RESAC.rev_mono")
@given(st.data(), operators())
def test_c09_monotone(data: st.DataObject, operator: ExactRev) -> None:
    """Q₁ ≤ Q₂ pointwise gives T Q₁ ≤ T Q₂ pointwise (Lean: RESAC.rev_mono)."""
    q1, step = data.draw(tables_like(operator.mdp)), data.draw(tables_like(operator.mdp))
    q2 = combine(lambda x, y: x + abs(y), q1, step)
    assert below(operator(q1), operator(q2))


@claim("C10", lean="RESAC.rev_discount")
@given(st.data(), operators(mdps(masked=True)), numbers())
def test_c10_discounting(data: st.DataObject, operator: ExactRev, c: Fraction) -> None:
    """T(Q + c) = T Q + γc, exactly, on full kernels, unavailable pairs apart (Lean: RESAC.rev_discount)."""
    mdp = operator.mdp
    q = data.draw(tables_like(mdp))
    shifted, plain = operator(shift(q, c)), operator(q)
    for s in range(mdp.n_states):
        for a in mdp.actions(s):
            assert shifted[s][a] == plain[s][a] + mdp.discount * c


@claim("C10", lean=("RESAC.revDone_discount_fails", "RESAC.revDone_contraction"))
@given(st.data(), mdps(discount=discounts(zero=False)), positive())
def test_c10_done_mask_breaks_discounting_but_not_contraction(data: st.DataObject, mdp: ExactMDP, c: Fraction) -> None:
    """Under a done mask T(Q + c) ≤ T Q + γc for c ≥ 0, with equality failing on every masked pair (C10)."""
    rows = st.lists(st.booleans(), min_size=mdp.n_actions, max_size=mdp.n_actions).map(tuple)
    done = data.draw(st.lists(rows, min_size=mdp.n_states, max_size=mdp.n_states).map(tuple))
    operator = ExactRev(mdp, kappa=data.draw(numbers()), done=done)
    q1, q2 = data.draw(tables_like(mdp)), data.draw(tables_like(mdp))
    gain = subtract(operator(shift(q1, c)), operator(q1))
    for s in range(mdp.n_states):
        for a in range(mdp.n_actions):
            assert gain[s][a] == (0 if done[s][a] else mdp.discount * c)
    assert sup(subtract(operator(q1), operator(q2))) <= mdp.discount * sup(subtract(q1, q2))


@claim("C03", lean="RESAC.robust_finite_contraction")
@given(st.data(), operators(robust=True))
def test_c03_robust_backup(data: st.DataObject, operator: ExactRev) -> None:
    """The worst case over a finite rectangular set contracts, and lies below every one of its kernels (C03).

    Lean: RESAC.robust_finite_contraction.
    """
    q1, q2 = data.draw(tables_like(operator.mdp)), data.draw(tables_like(operator.mdp))
    assert sup(subtract(operator(q1), operator(q2))) <= operator.mdp.discount * sup(subtract(q1, q2))
    singles = [
        ExactRev(
            operator.mdp,
            epistemic=operator.epistemic,
            lambda_epi=operator.lambda_epi,
            kappa=operator.kappa,
            value=operator.value,
            penalty_at=operator.penalty_at,
            kernels=[kernel],
        )(q1)
        for kernel in operator.kernels or ()
    ]
    assert operator(q1) == combine(lambda *xs: min(xs), *singles)


@claim("C11", lean="RESAC.rev_iterate")
@given(st.data(), operators(), st.integers(0, 5))
def test_c11_n_steps(data: st.DataObject, operator: ExactRev, n: int) -> None:
    """‖Tⁿ Q₁ − Tⁿ Q₂‖ ≤ γⁿ‖Q₁ − Q₂‖ (Lean: RESAC.rev_iterate)."""
    q1, q2 = data.draw(tables_like(operator.mdp)), data.draw(tables_like(operator.mdp))
    bound = operator.mdp.discount**n * sup(subtract(q1, q2))
    for _ in range(n):
        q1, q2 = operator(q1), operator(q2)
    assert sup(subtract(q1, q2)) <= bound


@claim("C02", lean="RESAC.lse_monetary")
@given(st.lists(st.tuples(positive(), positive()), min_size=1, max_size=5), positive())
def test_c02_log_sum_exp_is_monetary(pairs: list[tuple[Fraction, Fraction]], c: Fraction) -> None:
    """log Σ exp is monotone, translation-equivariant, non-expansive, between max and max + log n (C02).

    Exact in y = exp(q/α): the four statements read Σ is monotone, Σ c·y = c·Σ y,
    Σ y¹/Σ y² ≤ max y¹/y², and max y ≤ Σ y ≤ n·max y (Lean: RESAC.lse_monetary).
    """
    y1, y2 = [x for x, _ in pairs], [x for _, x in pairs]
    larger = [max(x, y) for x, y in pairs]
    assert sum(y1) <= sum(larger)
    assert sum(c * y for y in y1) == c * sum(y1)
    assert min(x / y for x, y in pairs) <= sum(y1) / sum(y2) <= max(x / y for x, y in pairs)
    assert max(y1) <= sum(y1) <= len(y1) * max(y1)


@claim("C02", lean="RESAC.softBackup_contraction")
@given(st.data(), mdps(max_states=2, max_actions=2, discount=st.sampled_from([Fraction(1, 2), Fraction(9, 10)])))
def test_c02_soft_backup_contracts(data: st.DataObject, mdp: ExactMDP) -> None:
    """γ|Σ P log(Σy¹/Σy²)| ≤ γ·max|log(y¹/y²)|, exactly, at α = 1 and Q = log y (Lean: RESAC.softBackup_contraction)."""
    cell = st.lists(positive(), min_size=mdp.n_actions, max_size=mdp.n_actions)
    exp1 = data.draw(st.lists(cell, min_size=mdp.n_states, max_size=mdp.n_states))
    exp2 = data.draw(st.lists(cell, min_size=mdp.n_states, max_size=mdp.n_states))
    ratios = [x / y for r1, r2 in zip(exp1, exp2, strict=True) for x, y in zip(r1, r2, strict=True)]
    distance = max(max(r, 1 / r) for r in ratios)
    for s in range(mdp.n_states):
        for row in mdp.transition[s]:
            for sign in (1, -1):
                change = [(sign * p, sum(y1) / sum(y2)) for p, y1, y2 in zip(row, exp1, exp2, strict=True)]
                assert sign_of_log_sum([*change, (Fraction(-1), distance)]) <= 0


@claim("C11", lean="RESAC.fixedPoint_not_unique")
@given(st.integers(0, 60))
def test_c11_uniqueness_fails_on_the_naturals(n: int) -> None:
    """On S = ℕ, n → n + 1, γ = 1/2, R = 0, both 0 and 2ⁿ are fixed: finiteness (or boundedness) is used (C11)."""
    backup = [Fraction(1, 2) * f(n + 1) for f in (lambda _: Fraction(0), lambda m: Fraction(2) ** m)]
    assert backup == [0, Fraction(2) ** n]
