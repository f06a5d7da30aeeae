module

public import RESAC.Foundations.Squares
public import RESAC.Robust.Regularization

public section

/-!
# The Euclidean norm: robust squares, spectral norms

Where the paper writes `‖·‖₂`. A norm is a number `c ≥ 0` whose square is, or bounds, a sum of
squares; so no roots are taken, and the statements hold over every ordered field.

## Main definitions
* `SpectralBound W c`: `‖W x‖₂ ≤ c·‖x‖₂` for every `x`.
* `Net.SpectralProduct net c`: `c` is a product of such bounds, one for each layer.

## Main statements
* `robust_squared_loss_l2`: the largest squared error over `‖δ‖₂ ≤ ε` is `(|y - w·x| + ε‖w‖₂)²`,
  attained (C39).
* `Net.sqNorm_eval_le`: a network with 1-Lipschitz activations is Lipschitz in the Euclidean norm
  with the product of its layers' spectral norms (C05).
* `frobenius_spectralBound`: the Frobenius norm is a spectral bound, so such bounds exist.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K] [LE K]

/-- `c` bounds the spectral norm of `W`: `‖W x‖₂ ≤ c·‖x‖₂` for every `x`. -/
structure SpectralBound {m n : Nat} (W : Fin m → Fin n → K) (c : K) : Prop where
  /-- The bound is non-negative. -/
  nonneg : 0 ≤ c
  /-- It bounds the stretch of every input, squared. -/
  le : ∀ x : Fin n → K, sqNorm (fun i => dot (W i) x) ≤ c ^ 2 * sqNorm x

/-- `c` is a product of spectral bounds, one for each layer. -/
@[expose] def Net.SpectralProduct : {n m : Nat} → Net K n m → K → Prop
  | _, _, .input _, c => c = 1
  | _, _, .layer net W _ _, c => ∃ c₁ c₂, net.SpectralProduct c₁ ∧ SpectralBound W c₂ ∧ c = c₁ * c₂

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {n m : Nat}

/-! ## The robust square -/

/-- **The robust squared loss in the Euclidean norm** (Appendix B, "Extension to squared error"):
with `N = ‖w‖₂`, `max_{‖δ‖₂ ≤ ε} (y - w·(x + δ))² = (|y - w·x| + ε·N)²`, attained. C39. -/
theorem robust_squared_loss_l2 [DecidableLE K] (w x : Fin n → K) (y : K) {ε N : K} (hε : 0 ≤ ε)
    (hN : 0 ≤ N) (hw : N ^ 2 = sqNorm w) :
    IsMaximum (fun δ : Fin n → K => sqNorm δ ≤ ε ^ 2)
      (fun δ => (y - dot w fun i => x i + δ i) ^ 2) ((mag (y - dot w x) + ε * N) ^ 2) where
  le δ hδ := by
    have e : (dot w fun i => x i + δ i) = dot w x + dot w δ := by
      unfold dot
      rw [← fsum_add]
      congr 1; funext i; grind
    have h₁ : dot w δ ^ 2 ≤ (ε * N) ^ 2 := by
      have h₁ := cauchy_schwarz w δ
      have h₂ := mul_le_mul_left hδ (sqNorm_nonneg w)
      rw [← hw] at h₁ h₂
      unfold dot
      grind
    have hεN := mul_nonneg hε hN
    have h₂ := le_of_sq_le hεN h₁
    have h₃ := le_of_sq_le (a := -dot w δ) hεN (by grind)
    have h₄ := le_mag (y - dot w x)
    have h₅ := neg_le_mag (y - dot w x)
    rw [e]
    apply sq_le_sq <;> grind
  attained := by
    by_cases h₀ : N = 0
    · refine ⟨fun _ => 0, ?_, ?_⟩
      · have e : sqNorm (fun _ : Fin n => (0 : K)) = 0 := by
          unfold sqNorm
          rw [show (fun _ : Fin n => (0 : K) ^ 2) = fun _ => 0 by funext i; grind, fsum_zero]
        rw [e]
        exact sq_nonneg ε
      · have e : (fun i => x i + 0) = x := by funext i; grind
        show (y - dot w fun i => x i + 0) ^ 2 = _
        rw [e, h₀]
        unfold mag
        split <;> grind
    · let c := -(ε * sign (y - dot w x)) / N
      have hs : sign (y - dot w x) ^ 2 = 1 := by unfold sign; split <;> grind
      have e₀ : sqNorm (fun i => c * w i) = ε ^ 2 := by
        have hc : c = -(ε * sign (y - dot w x)) / N := rfl
        rw [sqNorm_mul, ← hw, hc]
        grind
      refine ⟨fun i => c * w i, by rw [e₀]; exact le_refl _, ?_⟩
      have e : (dot w fun i => x i + c * w i) = dot w x + c * N ^ 2 := by
        rw [hw]
        unfold dot sqNorm
        rw [← fsum_mul_left, ← fsum_add]
        congr 1; funext i; grind
      have e₁ : c * N ^ 2 = -(ε * N * sign (y - dot w x)) := by
        have hc : c = -(ε * sign (y - dot w x)) / N := rfl
        rw [hc]
        grind
      show (y - dot w fun i => x i + c * w i) ^ 2 = _
      rw [e, e₁]
      have h₄ := mul_sign (y - dot w x)
      generalize dot w x = p at *
      unfold sign at *
      split at h₄ <;> simp_all <;> grind

/-! ## Networks -/

/-- Sums of squares are monotone in the size of their terms. -/
theorem sqNorm_mono {x y : Fin n → K} (h : ∀ i, x i ^ 2 ≤ y i ^ 2) : sqNorm x ≤ sqNorm y :=
  fsum_mono h

/-- **The Frobenius norm is a spectral bound.** -/
theorem frobenius_spectralBound (W : Fin m → Fin n → K) {c : K} (hc : 0 ≤ c)
    (h : (fsum fun i => sqNorm (W i)) ≤ c ^ 2) : SpectralBound W c where
  nonneg := hc
  le x := by
    have h₁ : sqNorm (fun i => dot (W i) x) ≤ fsum fun i => sqNorm (W i) * sqNorm x :=
      fsum_mono fun i => cauchy_schwarz (W i) x
    rw [fsum_mul_right] at h₁
    exact le_trans h₁ (mul_le_mul_right h (sqNorm_nonneg x))

/-- A product of spectral bounds is non-negative. -/
theorem Net.SpectralProduct.nonneg {net : Net K n m} {c : K} (h : net.SpectralProduct c) :
    0 ≤ c := by
  induction net generalizing c with
  | input => have := OrderedRing.zero_lt_one (R := K); rw [SpectralProduct] at h; grind
  | layer net W b σ ih =>
    rw [SpectralProduct] at h
    obtain ⟨c₁, c₂, h₁, h₂, rfl⟩ := h
    exact mul_nonneg (ih h₁) h₂.nonneg

/-- **A network is Lipschitz in the Euclidean norm with the product of its layers' spectral norms**
(§4.1, as the paper writes it), for 1-Lipschitz activations. C05. -/
theorem Net.sqNorm_eval_le [DecidableLE K] {net : Net K n m} (hσ : net.NonExpansive) {c : K}
    (hc : net.SpectralProduct c) (x y : Fin n → K) :
    sqNorm (fun i => net.eval x i - net.eval y i) ≤ c ^ 2 * sqNorm fun i => x i - y i := by
  induction net generalizing c with
  | input =>
    rw [SpectralProduct] at hc
    subst hc
    simp only [eval]
    rw [show (1 : K) ^ 2 = 1 by grind, Semiring.one_mul]
    exact le_refl _
  | layer net W b σ ih =>
    rw [NonExpansive] at hσ
    rw [SpectralProduct] at hc
    obtain ⟨c₁, c₂, h₁, h₂, rfl⟩ := hc
    have step : sqNorm (fun i => (Net.layer net W b σ).eval x i - (Net.layer net W b σ).eval y i) ≤
        sqNorm fun i => dot (W i) fun j => net.eval x j - net.eval y j := by
      refine sqNorm_mono fun i => ?_
      simp only [eval]
      have e : (dot (W i) fun j => net.eval x j - net.eval y j) =
          dot (W i) (net.eval x) + b i - (dot (W i) (net.eval y) + b i) := by
        have : (dot (W i) fun j => net.eval x j - net.eval y j) =
            dot (W i) (net.eval x) - dot (W i) (net.eval y) := by
          unfold dot
          rw [← fsum_sub]
          congr 1; funext j; grind
        rw [this]; grind
      rw [e]
      generalize dot (W i) (net.eval x) + b i = p
      generalize dot (W i) (net.eval y) + b i = q
      have h₃ := hσ.2 (mag (p - q)) p q (within_iff_mag.2 (le_refl _))
      have h₄ := within_iff_mag.1 h₃
      have h₅ := le_mag (σ p - σ q)
      have h₆ := neg_le_mag (σ p - σ q)
      have h₇ := sq_le_sq (a := σ p - σ q) (b := mag (p - q)) (by grind) (by grind)
      have h₈ : mag (p - q) ^ 2 = (p - q) ^ 2 := by unfold mag; split <;> grind
      rw [h₈] at h₇
      exact h₇
    have h₃ := h₂.le fun j => net.eval x j - net.eval y j
    have h₄ := mul_le_mul_left (ih hσ.1 h₁) (sq_nonneg c₂)
    refine le_trans step (le_trans h₃ (le_trans h₄ ?_))
    rw [show c₂ ^ 2 * (c₁ ^ 2 * sqNorm fun i => x i - y i) =
      (c₁ * c₂) ^ 2 * sqNorm fun i => x i - y i by grind]
    exact le_refl _

end RESAC
