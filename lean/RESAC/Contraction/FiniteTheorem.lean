module

public import RESAC.Contraction.Existence

public section

/-!
# Appendix E as the paper states it

Finite, non-empty `S = Fin (n + 1)` and `A = Fin (m + 1)`, a transition kernel `P`, the maximum over
actions, the penalties `λ·Γ(s,a)` and `κ`, the sup-norm. The field is any linearly ordered one; `ℝ`
is a case.

## Main definitions
* `supNorm Q`: `‖Q‖∞ = max_{s,a} |Q(s,a)|`.
* `paperRev R P Γ γ lam κ`: the operator of Appendix E, symbol by symbol.

## Main statements
* `paperRev_eq_rev`: it is a case of the general operator.
* `max_over_actions_nonexpansive`: property (P).
* `paper_monotonicity`: Lemma (Monotonicity), C09. `paper_discounting`: Lemma (Discounting), C10.
* `resac_contraction`: Theorem (RE-SAC Contraction), whole: the contraction in the sup-norm, and the
  unique fixed point (C11).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K] [LE K] [DecidableLE K] {n m : Nat}

/-- The sup-norm `‖Q‖∞ = max_{s,a} |Q(s,a)|`. -/
@[expose] def supNorm (Q : Fin (n + 1) → Fin (m + 1) → K) : K :=
  fmax fun s => fmax fun a => mag (Q s a)

/-- The operator of Appendix E:
`T Q(s,a) = R(s,a) + γ·(Σ_{s'} P(s'|s,a)·max_{a'} Q(s',a') - λ·Γ(s,a) - κ)`. -/
@[expose] def paperRev (R : Fin (n + 1) → Fin (m + 1) → K)
    (P : Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → K) (Γ : Fin (n + 1) → Fin (m + 1) → K)
    (γ lam κ : K) (Q : Fin (n + 1) → Fin (m + 1) → K) : Fin (n + 1) → Fin (m + 1) → K :=
  fun s a => R s a + γ * (fsum (fun s' => P s a s' * fmax (Q s')) - lam * Γ s a - κ)

end Definitions

variable {K : Type u} [Field K] [LE K] [DecidableLE K] {n m : Nat}
variable {R Γ : Fin (n + 1) → Fin (m + 1) → K}
variable {P : Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → K} {γ lam κ : K}

/-- The paper's operator is the REV operator with the kernel's expectation, the maximum over actions
and the frozen penalty `λ·Γ + κ`. -/
theorem paperRev_eq_rev :
    paperRev R P Γ γ lam κ = rev R γ (kernelE P) maxV fun s a => lam * Γ s a + κ := by
  funext Q s a
  unfold paperRev rev kernelE maxV expect
  grind

variable [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-! ## The sup-norm -/

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- The sup-norm is the least bound of all entries. -/
theorem supNorm_le_iff {Q : Fin (n + 1) → Fin (m + 1) → K} {c : K} :
    supNorm Q ≤ c ↔ ∀ s a, mag (Q s a) ≤ c := by
  unfold supNorm
  simp only [fmax_le_iff]

/-- The sup-norm of a difference bounds the pointwise distances, and it is the least such bound. -/
theorem near_iff_supNorm {Q₁ Q₂ : Fin (n + 1) → Fin (m + 1) → K} {ε : K} :
    near ε Q₁ Q₂ ↔ supNorm (fun s a => Q₁ s a - Q₂ s a) ≤ ε := by
  rw [supNorm_le_iff]
  constructor
  · intro h s a; exact within_iff_mag.1 (h s a)
  · intro h s a; exact within_iff_mag.2 (h s a)

/-- A modulus in the sup-norm. -/
theorem Modulus.supNorm_le
    {T : (Fin (n + 1) → Fin (m + 1) → K) → Fin (n + 1) → Fin (m + 1) → K} {c : K}
    (hT : Modulus T c) (Q₁ Q₂ : Fin (n + 1) → Fin (m + 1) → K) :
    supNorm (fun s a => T Q₁ s a - T Q₂ s a) ≤ c * supNorm fun s a => Q₁ s a - Q₂ s a :=
  near_iff_supNorm.1 (hT _ Q₁ Q₂ (near_iff_supNorm.2 (le_refl _)))

/-- **Property (P)**: `|V^{Q₁}(s) - V^{Q₂}(s)| ≤ ‖Q₁ - Q₂‖∞`. Appendix E, Setup. -/
theorem max_over_actions_nonexpansive (Q₁ Q₂ : Fin (n + 1) → Fin (m + 1) → K) (s : Fin (n + 1)) :
    mag (fmax (Q₁ s) - fmax (Q₂ s)) ≤ supNorm fun s a => Q₁ s a - Q₂ s a := by
  have h := near_iff_supNorm.2 (le_refl (supNorm fun s a => Q₁ s a - Q₂ s a))
  exact within_iff_mag.1 (fmax_monetary.within (h s))

/-! ## The two lemmas and the theorem -/

/-- **Lemma (Monotonicity)**, under (A0) and (A1). Appendix E; C09. -/
theorem paper_monotonicity (A0 : 0 ≤ γ) (A1 : ∀ s a s', 0 ≤ P s a s')
    {Q₁ Q₂ : Fin (n + 1) → Fin (m + 1) → K} (h : ∀ s a, Q₁ s a ≤ Q₂ s a) (s : Fin (n + 1))
    (a : Fin (m + 1)) : paperRev R P Γ γ lam κ Q₁ s a ≤ paperRev R P Γ γ lam κ Q₂ s a := by
  have h₁ : fsum (fun s' => P s a s' * fmax (Q₁ s')) ≤ fsum fun s' => P s a s' * fmax (Q₂ s') :=
    expect_mono (A1 s a) fun s' => fmax_monetary.mono _ _ (h s')
  have h₂ := mul_le_mul_left h₁ A0
  unfold paperRev; grind

/-- **Lemma (Discounting)**, under (A2): `T(Q + c) = T Q + γ·c`. Appendix E; C10. -/
theorem paper_discounting (A2 : ∀ s a, fsum (P s a) = 1) (Q : Fin (n + 1) → Fin (m + 1) → K)
    (c : K) (s : Fin (n + 1)) (a : Fin (m + 1)) :
    paperRev R P Γ γ lam κ (fun s a => Q s a + c) s a =
      paperRev R P Γ γ lam κ Q s a + γ * c := by
  have h₁ : fsum (fun s' => P s a s' * fmax fun a' => Q s' a' + c) =
      fsum (fun s' => P s a s' * fmax (Q s')) + c := by
    have e : (fun s' => P s a s' * fmax fun a' => Q s' a' + c) =
        fun s' => P s a s' * fmax (Q s') + P s a s' * c := by
      funext s'; rw [fmax_monetary.translate]; grind
    rw [e, fsum_add, fsum_mul_right, A2 s a]; grind
  unfold paperRev
  rw [h₁]; grind

/-- **Theorem (RE-SAC Contraction).** Under (A0)-(A2) the operator of Appendix E is a γ-contraction
in the sup-norm with a unique fixed point `Q*_robust`. Proved over every linearly ordered field,
without completeness. C11. -/
theorem resac_contraction (A0 : 0 ≤ γ) (A0' : γ < 1) (A1 : ∀ s a s', 0 ≤ P s a s')
    (A2 : ∀ s a, fsum (P s a) = 1) :
    (∀ Q₁ Q₂ : Fin (n + 1) → Fin (m + 1) → K,
      supNorm (fun s a => paperRev R P Γ γ lam κ Q₁ s a - paperRev R P Γ γ lam κ Q₂ s a) ≤
        γ * supNorm fun s a => Q₁ s a - Q₂ s a) ∧
      HasUniqueFixedPoint (paperRev R P Γ γ lam κ) := by
  rw [paperRev_eq_rev]
  obtain ⟨hT, hQ⟩ := rev_unique_fixedPoint_max (R := R) (pen := fun s a => lam * Γ s a + κ) A0 A0'
    fun s a => ⟨A1 s a, A2 s a⟩
  exact ⟨hT.supNorm_le, hQ⟩

end RESAC
