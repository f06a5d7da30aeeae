module

public import RESAC.Live.Ensemble

public section

/-!
# The residual ensemble variance is not bounded by κ

Appendix F, remark on ensemble variance: what is left of `Γ_epi` "is bounded by `κ`". It is not: the
variance is quadratic in the size of the heads, `κ` linear in the weights, and the one knows nothing
of the other.

## Main statements
* `variance_exceeds_kappa`: two heads `±t` of one weight each, for every `λ` (C43).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- **The ensemble variance is not bounded by `κ`**: for every `λ ≥ 0` two heads `t` and `-t`, the
outputs of one weight each at the input `1`, whose sample variance `2t²` exceeds `κ = λ·t`, here with
`t = λ + 1`. Appendix F, Remark (ensemble variance in high-aleatoric environments), 2.; C43. -/
theorem variance_exceeds_kappa [DecidableLE K] {lam : K} (hlam : 0 ≤ lam) :
    ∃ t : K, 0 < t ∧ kappa lam (fun _ : Fin 1 => t) = lam * t ∧
      ensembleVar (fun i : Fin 2 => if i = 0 then t else -t) = 2 * t ^ 2 ∧
      kappa lam (fun _ : Fin 1 => t) < ensembleVar (fun i : Fin 2 => if i = 0 then t else -t) := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have h := OrderedRing.mul_pos (show 0 < lam + 1 by grind) (show 0 < lam + 2 by grind)
  have e₁ : kappa lam (fun _ : Fin 1 => lam + 1) = lam * (lam + 1) := by
    simp only [kappa, fsum]
    rw [mag_of_nonneg (by grind)]
    grind
  have e₂ : ensembleVar (fun i : Fin 2 => if i = 0 then lam + 1 else -(lam + 1)) =
      2 * (lam + 1) ^ 2 := by
    simp [ensembleVar, ensembleMean, fsum]
    grind
  refine ⟨lam + 1, by grind, e₁, e₂, ?_⟩
  rw [e₁, e₂]
  grind

end RESAC
