module

public import RESACReal.Contraction
public import RESAC.Live.Counterproof
public import RESAC.Live.EnsembleStd
public import Mathlib.Data.Real.Sqrt

public section

/-!
# Live penalties over `ℝ`

## Main statements
* `contracts_iff`: the core's `Contracts` is Mathlib's `ContractingWith`, for some constant.
* `norm_contractingWith_iff`: `q ↦ R + γ·(q - λ·|q|)` contracts iff `λ < 1/γ - 1`;
  `norm_paper_inside`, `norm_paper_outside`: `γ = 0.99` with `λ = 0.01` and `0.02` (C14).
* `std_two`: two heads' standard deviation penalty is `λ/√2` times their gap (C16).
-/

noncomputable section

namespace RESAC.Reals

/-- The core's absolute value is Mathlib's. -/
theorem mag_eq_abs (x : Real) : mag x = abs x := by
  by_cases h : 0 ≤ x
  · rw [mag_of_nonneg h, abs_of_nonneg h]
  · have h' : x ≤ 0 := by grind
    rw [mag_of_nonpos h', abs_of_nonpos h']

/-- A map of the reals contracts in the core's sense iff it does in Mathlib's. -/
theorem contracts_iff (T : Real → Real) : Contracts Real T ↔ ∃ K, ContractingWith K T := by
  constructor
  · intro ⟨c, hc, hT⟩
    have h₁ : Within (1 : Real) 1 0 := by unfold Within; grind
    have h₂ := (near_iff.1 (hT 1 1 0 h₁)).nonneg
    have hc₀ : 0 ≤ c := by grind
    have hK : ((⟨c, hc₀⟩ : NNReal) : Real) < 1 := hc
    exact ⟨⟨c, hc₀⟩, NNReal.coe_lt_one.1 hK, LipschitzWith.of_dist_le_mul fun x y =>
      within_iff_dist.1 (hT _ x y (within_iff_dist.2 (Std.le_refl _)))⟩
  · intro ⟨K, hK⟩
    exact ⟨K, NNReal.coe_lt_one.2 hK.1, fun ε x y h => within_iff_dist.2 (Std.le_trans
      (hK.dist_le_mul x y) (mul_le_mul_left (within_iff_dist.1 h) (NNReal.coe_nonneg K)))⟩

/-- **The norm penalty's threshold.** Appendix E, summary (i), and (S1); C14. -/
theorem norm_contractingWith_iff (R : Real) {γ lam : Real} (hγ : 0 < γ) (hlam : 0 ≤ lam) :
    (∃ K, ContractingWith K fun q : Real => R + γ * (q - lam * abs q)) ↔ lam < 1 / γ - 1 := by
  have e : (fun q : Real => R + γ * (q - lam * abs q)) = normBackup R γ lam := by
    funext q; unfold normBackup; rw [mag_eq_abs]
  rw [e, ← contracts_iff, normBackup_contracts_iff R hγ hlam]

/-- At the paper's `γ = 0.99` and `λ = 0.01` the live penalty of a single value contracts. With two
entries the paper's sum over all weights does not: `RESAC.revLive_weight_paper`. C14. -/
theorem norm_paper_inside (R : Real) :
    ∃ K, ContractingWith K fun q : Real => R + 99 / 100 * (q - 1 / 100 * abs q) :=
  (norm_contractingWith_iff R (by grind) (by grind)).2 (by grind)

/-- At `λ = 0.02` it does not. C14. -/
theorem norm_paper_outside (R : Real) :
    ¬ ∃ K, ContractingWith K fun q : Real => R + 99 / 100 * (q - 2 / 100 * abs q) := by
  rw [norm_contractingWith_iff R (by grind) (by grind)]
  grind

/-- **Two heads**: a penalty of `λ` standard deviations is `λ/√2` times the gap. C16. -/
theorem std_two {lam s : Real} {q : Fin 2 → Real} (hs : IsStd s q) :
    lam * s = lam / Real.sqrt 2 * abs (q 0 - q 1) := by
  have h : Real.sqrt 2 ^ 2 = 2 := Real.sq_sqrt (by grind)
  rw [isStd_two hs (Real.sqrt_nonneg 2) h]
  unfold gapPen
  rw [mag_eq_abs]

end RESAC.Reals
