module

public import RESAC.Robust.Layers
public import RESAC.Foundations.Optimum

public section

/-!
# Robustness and regularization

## Main statements
* `robust_squared_loss`: the largest squared loss over the perturbations `‖δ‖∞ ≤ ε` of an input is
  `(|y - w·x| + ε·‖w‖₁)²`, and it is attained (C27).
* `geist_factor_larger`: the factor `(γ + μα)/(1 + μα)`, "strictly tighter" according to the paper,
  is strictly larger than `γ`; it is below one (C28).

Paper: Appendix B, "Robustness ⟺ Regularization" (Xu et al.), in the `l∞`/`l¹` pairing that it names
for the Lasso and that its penalty uses; Appendix C, last subsection (Geist et al.).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- `|a| ≤ b` implies `a² ≤ b²`. -/
theorem sq_le_sq {a b : K} (h : a ≤ b) (h' : -a ≤ b) : a ^ 2 ≤ b ^ 2 := by
  have := mul_nonneg (show 0 ≤ b - a by grind) (show 0 ≤ b + a by grind)
  grind

/-- The worst perturbation `δᵢ = -ε·sgn(r)·sgn(wᵢ)` moves the prediction by `ε·‖w‖₁`, away from the
target. -/
theorem dot_worst_perturbation [DecidableLE K] {n : Nat} (w x : Fin n → K) (c : K) :
    dot w (fun i => x i + -c * sign (w i)) = dot w x - c * l1 w := by
  unfold dot l1
  rw [← fsum_mul_left, ← fsum_sub]
  congr 1
  funext i
  have := mul_sign (w i)
  grind

/-- **The robust squared loss is a regularised one** (Appendix B, Theorem (Xu et al.); C27):
`max_{‖δ‖∞ ≤ ε} (y - w·(x + δ))² = (|y - w·x| + ε·‖w‖₁)²`, attained. -/
theorem robust_squared_loss [DecidableLE K] {n : Nat} (w x : Fin n → K) (y : K) {ε : K}
    (hε : 0 ≤ ε) :
    IsMaximum (fun δ : Fin n → K => ∀ i, mag (δ i) ≤ ε)
      (fun δ => (y - dot w fun i => x i + δ i) ^ 2)
      ((mag (y - dot w x) + ε * l1 w) ^ 2) where
  le δ hδ := by
    have h₁ := dot_within w (x := fun i => x i + δ i) (y := x) (ε := ε) fun i =>
      within_iff_mag.2 (by rw [show x i + δ i - x i = δ i by grind]; exact hδ i)
    have h₂ := le_mag (y - dot w x)
    have h₃ := neg_le_mag (y - dot w x)
    unfold Within at h₁
    apply sq_le_sq <;> grind
  attained := by
    refine ⟨fun i => -(ε * sign (y - dot w x)) * sign (w i), fun i => ?_, ?_⟩
    · rw [mag_mul, mag_sign, mag_neg, mag_mul, mag_sign, mag_of_nonneg hε]
      grind
    · have h₁ := dot_worst_perturbation w x (ε * sign (y - dot w x))
      show (y - dot w fun i => x i + -(ε * sign (y - dot w x)) * sign (w i)) ^ 2 = _
      rw [h₁]
      unfold sign mag
      generalize dot w x = p
      split <;> grind

/-- **The Geist factor is larger than `γ`, not smaller** (refutes "strictly tighter", Appendix C;
C28): for `γ < 1` and `μα > 0`, `γ < (γ + μα)/(1 + μα) < 1`. -/
theorem geist_factor_larger {γ μ α : K} (hγ : γ < 1) (hμα : 0 < μ * α) :
    γ < (γ + μ * α) / (1 + μ * α) ∧ (γ + μ * α) / (1 + μ * α) < 1 := by
  generalize μ * α = x at *
  have h01 := OrderedRing.zero_lt_one (R := K)
  have h₁ := OrderedRing.mul_lt_mul_of_pos_right hγ hμα
  have hp : 0 < 1 + x := by grind
  have e : (γ + x) / (1 + x) * (1 + x) = γ + x := by clear h₁; grind
  constructor
  · apply (Field.IsOrdered.mul_lt_mul_iff_of_pos_right hp).1
    rw [e]
    grind
  · apply (Field.IsOrdered.mul_lt_mul_iff_of_pos_right hp).1
    rw [e]
    grind

end RESAC
