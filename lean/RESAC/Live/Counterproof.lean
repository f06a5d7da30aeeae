module

public import RESAC.Foundations.Modulus

public section

/-!
# Penalties that look at the value being updated: one state, one action

Appendix E of the paper ("Remark (non-triviality of the fixed-penalty design)") argues that the
penalty must be frozen, since a penalty that varies with `Q` turns the backup into
`T_bad q = γ·q + λ·q`. Here is what is true of `T_bad`, and of the backup that the paper's argument
is about once the penalty carries the operator's own sign and discount.

## Main definitions
* `tBad γ lam`: the paper's `T_bad`.
* `normBackup R γ lam`: the backup `R + γ·(q - lam·|q|)`, whose penalty grows with the size of `q`.

## Main statements
* `tBad_exactModulus`, `tBad_contracts_iff`: the modulus of `T_bad` is exactly `γ + λ`, so `1` is a
  sharp boundary; `tBad_not_contraction`, `tBad_expansion` are its two sides (C13).
* `tBad_paper_statement_vacuous`: what the paper's theorem says of `T_bad` holds of every map (C13).
* `normBackup_exactModulus`, `normBackup_contracts_iff`: the exact modulus is `γ·(1 + λ)`, so the
  backup contracts iff `λ < 1/γ - 1`: freezing is not *necessary* (C14).
* `normBackup_paper_inside`, `normBackup_paper_outside`: `γ = 0.99` with `λ = 0.01` and `0.02`.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {R γ lam q₁ q₂ : K}

section Definitions

/-- The paper's Eq. (tbad): the backup whose aleatoric term is `λ·Q`. -/
@[expose] def tBad {K : Type u} [Field K] (γ lam q : K) : K := γ * q + lam * q

/-- One state, one action, the penalty `κ_Q = lam·|q|` with the operator's sign and discount. -/
@[expose] def normBackup {K : Type u} [Field K] [LE K] [DecidableLE K] (R γ lam q : K) : K :=
  R + γ * (q - lam * mag q)

end Definitions

/-! ## The paper's `T_bad` -/

/-- The modulus of `T_bad` is `γ + λ`, and no smaller number is one. Appendix E, "Necessity of the
frozen-parameter design"; C13. -/
theorem tBad_exactModulus (hγ : 0 ≤ γ) (hlam : 0 ≤ lam) :
    ExactModulus (tBad γ lam) (γ + lam) where
  holds ε x y h := by
    have h' := Within.mul_left h (by grind : 0 ≤ γ + lam)
    unfold tBad
    rwa [Semiring.right_distrib γ lam x, Semiring.right_distrib γ lam y] at h'
  least c' h := h.le_of_pair 1 0 (by rw [near_iff]; unfold Within; grind) (fun ε h' => by
    rw [near_iff] at h'; unfold Within tBad at h'; grind)

/-- `T_bad` contracts exactly below the boundary `γ + λ = 1`. Appendix E, "sharp boundary"; C13. -/
theorem tBad_contracts_iff (hγ : 0 ≤ γ) (hlam : 0 ≤ lam) :
    Contracts K (tBad γ lam) ↔ γ + lam < 1 :=
  (tBad_exactModulus hγ hlam).contracts_iff

/-- `T_bad` is not a contraction when `γ + λ ≥ 1`: no `c < 1` is a modulus. This is what the paper's
`T_bad_not_contraction` means to say. Appendix E; C13. -/
theorem tBad_not_contraction (hγ : 0 ≤ γ) (hlam : 0 ≤ lam) (h : 1 ≤ γ + lam) :
    ¬ Contracts K (tBad γ lam) := by
  rw [tBad_contracts_iff hγ hlam]
  grind

/-- `T_bad` strictly expands every distance when `γ + λ > 1`. Appendix E, `T_bad_expansion`; C13. -/
theorem tBad_expansion [DecidableLE K] (h : 1 < γ + lam) (hne : q₁ ≠ q₂) :
    mag (q₁ - q₂) < mag (tBad γ lam q₁ - tBad γ lam q₂) := by
  have key : ∀ d : K, 0 < d → d < (γ + lam) * d := by
    intro d hd
    have := OrderedRing.mul_lt_mul_of_pos_right h hd
    grind
  have e : tBad γ lam q₁ - tBad γ lam q₂ = (γ + lam) * (q₁ - q₂) := by unfold tBad; grind
  rw [e]
  generalize hd : q₁ - q₂ = d
  have hd0 : d ≠ 0 := by grind
  have h₁ := key d
  have h₂ := key (-d)
  generalize hm : (γ + lam) * d = m at *
  have hm' : (γ + lam) * -d = -m := by grind
  unfold mag
  grind

/-- The paper states non-contraction as `∃ q₁ q₂, |T q₁ - T q₂| ≥ |q₁ - q₂|`. Every map whatever
satisfies this, by `q₁ = q₂`. Appendix E, `T_bad_not_contraction`; C13. -/
theorem tBad_paper_statement_vacuous [DecidableLE K] (T : K → K) :
    ∃ q₁ q₂, mag (q₁ - q₂) ≤ mag (T q₁ - T q₂) :=
  ⟨0, 0, by unfold mag; grind⟩

/-! ## The norm penalty with the operator's sign and discount -/

/-- A backup whose value and penalty move by at most `ε` and `δ` moves by at most `γ·(ε + δ)`. -/
theorem within_backup {ε δ v₁ v₂ p₁ p₂ : K} (hγ : 0 ≤ γ) (hv : Within ε v₁ v₂)
    (hp : Within δ p₁ p₂) : Within (γ * (ε + δ)) (R + γ * (v₁ - p₁)) (R + γ * (v₂ - p₂)) :=
  ((hv.sub hp).mul_left hγ).add_left R

/-- The norm penalty's modulus is exactly `γ·(1 + λ)`, for every reward. Appendix E, "Necessity of
the frozen-parameter design"; C14. -/
theorem normBackup_exactModulus [DecidableLE K] (R : K) (hγ : 0 ≤ γ) (hlam : 0 ≤ lam) :
    ExactModulus (normBackup R γ lam) (γ * (1 + lam)) where
  holds ε x y h := by
    have h' := within_backup (R := R) hγ h (Within.mag h |>.mul_left hlam)
    have e : γ * (1 + lam) * ε = γ * (ε + lam * ε) := by grind
    rw [e]
    exact h'
  least c' h := h.le_of_pair 0 (-1) (by rw [near_iff]; unfold Within; grind) (fun ε h' => by
    have m₁ : mag (-1 : K) = 1 := by unfold mag; grind
    rw [near_iff] at h'; unfold Within normBackup at h'; rw [mag_zero, m₁] at h'; grind)

/-- On `q ≤ 0` the norm backup scales every distance by `γ·(1 + λ)`. C14. -/
theorem normBackup_nonpos [DecidableLE K] (h₁ : q₁ ≤ 0) (h₂ : q₂ ≤ 0) :
    normBackup R γ lam q₁ - normBackup R γ lam q₂ = γ * (1 + lam) * (q₁ - q₂) := by
  unfold normBackup; rw [mag_of_nonpos h₁, mag_of_nonpos h₂]; grind

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- On `q ≥ 0` the norm backup scales every distance by `γ·(1 - λ)` only. C14. -/
theorem normBackup_nonneg [DecidableLE K] (h₁ : 0 ≤ q₁) (h₂ : 0 ≤ q₂) :
    normBackup R γ lam q₁ - normBackup R γ lam q₂ = γ * (1 - lam) * (q₁ - q₂) := by
  unfold normBackup; rw [mag_of_nonneg h₁, mag_of_nonneg h₂]; grind

/-- For `γ > 0`, a modulus `γ·(1 + λ)` is below one iff `λ` is below the threshold `1/γ - 1`. -/
theorem live_threshold (hγ : 0 < γ) : γ * (1 + lam) < 1 ↔ lam < 1 / γ - 1 := by
  constructor
  · intro h
    have h' := OrderedRing.mul_lt_mul_of_pos_right h (inv_pos hγ)
    have e : γ * (1 + lam) * γ⁻¹ = 1 + lam := by grind
    rw [e] at h'
    grind
  · intro h
    have h' := OrderedRing.mul_lt_mul_of_pos_left h hγ
    have e : γ * (1 / γ - 1) = 1 - γ := by grind
    rw [e] at h'
    grind

/-- The norm backup contracts iff `λ < 1/γ - 1`: below this threshold the penalty may depend on `Q`.
This refutes "the frozen-weight design is *necessary*". Appendix E, summary (i), and (S1); C14. -/
theorem normBackup_contracts_iff [DecidableLE K] (R : K) (hγ : 0 < γ) (hlam : 0 ≤ lam) :
    Contracts K (normBackup R γ lam) ↔ lam < 1 / γ - 1 := by
  rw [(normBackup_exactModulus R (by grind) hlam).contracts_iff, live_threshold hγ]

/-- At the paper's `γ = 0.99` and `λ_ale = 0.01` the live penalty of a **single** value still
contracts, with modulus `0.9999`. (With two entries the paper's sum of all does not:
`revLive_weight_paper`.) C14. -/
theorem normBackup_paper_inside [DecidableLE K] (R : K) :
    ExactModulus (normBackup R (99 / 100) (1 / 100)) (9999 / 10000 : K) ∧
      Contracts K (normBackup R (99 / 100) (1 / 100)) := by
  have h := normBackup_exactModulus (γ := 99 / 100) (lam := 1 / 100) R (by grind) (by grind)
  have e : (99 / 100 * (1 + 1 / 100) : K) = 9999 / 10000 := by grind
  rw [e] at h
  exact ⟨h, h.contracts_iff.2 (by grind)⟩

/-- At `γ = 0.99` and `λ = 0.02` it does not: the modulus is `1.0098`. C14. -/
theorem normBackup_paper_outside [DecidableLE K] (R : K) :
    ExactModulus (normBackup R (99 / 100) (2 / 100)) (10098 / 10000 : K) ∧
      ¬ Contracts K (normBackup R (99 / 100) (2 / 100)) := by
  have h := normBackup_exactModulus (γ := 99 / 100) (lam := 2 / 100) R (by grind) (by grind)
  have e : (99 / 100 * (1 + 2 / 100) : K) = 10098 / 10000 := by grind
  rw [e] at h
  exact ⟨h, fun hc => by have := h.contracts_iff.1 hc; grind⟩

end RESAC
