module

public import RESAC.Soft.Divergence

public section

/-!
# The entropy decomposition of total uncertainty

## Main definitions
* `entropy log p`: the Shannon entropy `-∑ᵢ pᵢ·log pᵢ`.
* `posteriorMean q p`: the predictive distribution `p̄ = ∑_w q_w·p_w`.
* `mutualInfo log q p`: `I = ∑_w q_w·KL(p_w‖p̄)`, the information that the outcome carries about the
  parameters `w`.

## Main statements
* `entropy_decomposition`: total uncertainty is expected aleatoric entropy plus mutual information
  (C30).
* `mutualInfo_nonneg`: the epistemic part is non-negative, so aleatoric entropy never exceeds the
  total.
* `mutualInfo_eq_zero_iff`: it vanishes only where every model with positive weight predicts the
  same distribution.

Paper: Appendix C (the semi-Bayesian prior), "Decomposition" (Depeweg et al.).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K] {m n : Nat}

/-- The Shannon entropy `H(p) = -∑ᵢ pᵢ·log pᵢ`. -/
@[expose] def entropy (log : K → K) (p : Fin n → K) : K := -fsum fun i => p i * log (p i)

/-- The predictive distribution `p̄ = ∑_w q_w·p_w`. -/
@[expose] def posteriorMean (q : Fin m → K) (p : Fin m → Fin n → K) : Fin n → K :=
  fun i => expect q fun w => p w i

/-- The mutual information of outcome and parameters, `I = ∑_w q_w·KL(p_w‖p̄)`. -/
@[expose] def mutualInfo (log : K → K) (q : Fin m → K) (p : Fin m → Fin n → K) : K :=
  expect q fun w => kl log (p w) (posteriorMean q p)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {exp log : K → K} {m n : Nat} {q : Fin m → K} {p : Fin m → Fin n → K}

/-- The predictive distribution is a probability vector. -/
theorem posteriorMean_isProb (hq : IsProb q) (hp : ∀ w, IsProb (p w)) :
    IsProb (posteriorMean q p) :=
  hq.mix hp

/-- A model with positive weight is absolutely continuous with respect to the prediction. -/
theorem absCont_posteriorMean (hq : IsProb q) (hp : ∀ w, IsProb (p w)) {w : Fin m} (hw : q w ≠ 0) :
    AbsCont (p w) (posteriorMean q p) := by
  intro i hi
  have h₁ : q w * p w i = 0 := eq_zero_of_fsum_eq_zero (f := fun w => q w * p w i)
    (fun w => mul_nonneg (hq.nonneg w) ((hp w).nonneg i)) hi w
  have h₂ : p w i = (q w)⁻¹ * (q w * p w i) := by clear h₁ hi; grind
  rw [h₂, h₁]
  grind

/-- Each term of the mutual information is non-negative. -/
theorem mutualInfo_term_nonneg (h : ExpLog exp log) (hq : IsProb q) (hp : ∀ w, IsProb (p w))
    (w : Fin m) : 0 ≤ q w * kl log (p w) (posteriorMean q p) := by
  by_cases hw : q w = 0
  · rw [hw]; grind
  · exact mul_nonneg (hq.nonneg w)
      (kl_nonneg h (hp w) (posteriorMean_isProb hq hp) (absCont_posteriorMean hq hp hw))

/-- **The epistemic part is non-negative** (C30). -/
theorem mutualInfo_nonneg (h : ExpLog exp log) (hq : IsProb q) (hp : ∀ w, IsProb (p w)) :
    0 ≤ mutualInfo log q p :=
  fsum_nonneg (mutualInfo_term_nonneg h hq hp)

/-- The epistemic part vanishes exactly where all models of positive weight agree. -/
theorem mutualInfo_eq_zero_iff (h : ExpLog exp log) (hq : IsProb q) (hp : ∀ w, IsProb (p w)) :
    mutualInfo log q p = 0 ↔ ∀ w, q w ≠ 0 → p w = posteriorMean q p := by
  have hm := posteriorMean_isProb hq hp
  constructor
  · intro h₀ w hw
    have h₁ := eq_zero_of_fsum_eq_zero (mutualInfo_term_nonneg h hq hp) h₀ w
    have h₂ : kl log (p w) (posteriorMean q p) = 0 := by
      have e : kl log (p w) (posteriorMean q p) =
        (q w)⁻¹ * (q w * kl log (p w) (posteriorMean q p)) := by clear h₁; grind
      rw [e, h₁]; grind
    exact (kl_eq_zero_iff h (hp w) hm (absCont_posteriorMean hq hp hw)).1 h₂
  · intro hall
    have e : (fun w => q w * kl log (p w) (posteriorMean q p)) = fun _ => 0 := by
      funext w
      by_cases hw : q w = 0
      · rw [hw]; grind
      · rw [(kl_eq_zero_iff h (hp w) hm (absCont_posteriorMean hq hp hw)).2 (hall w hw)]; grind
    show fsum (fun w => q w * kl log (p w) (posteriorMean q p)) = 0
    rw [e, fsum_zero]

/-- One model's weighted divergence, written as a difference of two sums. -/
private theorem weighted_kl_eq (h : ExpLog exp log) (hq : IsProb q) (hp : ∀ w, IsProb (p w))
    (w : Fin m) : q w * kl log (p w) (posteriorMean q p) =
      fsum (fun i => q w * (p w i * log (p w i))) -
        fsum (fun i => log (posteriorMean q p i) * (q w * p w i)) := by
  unfold kl
  rw [← fsum_sub, ← fsum_mul_left]
  congr 1
  funext i
  by_cases hw : q w = 0
  · grind
  · by_cases hi : p w i = 0
    · grind
    · have hi' : 0 < p w i := by have := (hp w).nonneg i; grind
      have hm' : 0 < posteriorMean q p i := by
        have := (posteriorMean_isProb hq hp).nonneg i
        have := absCont_posteriorMean hq hp hw i
        grind
      rw [h.log_div hi' hm']
      grind

/-- **Total uncertainty = expected aleatoric entropy + mutual information** (Appendix C,
Depeweg et al.; C30): `H(p̄) = E_q[H(p_w)] + I`. -/
theorem entropy_decomposition (h : ExpLog exp log) (hq : IsProb q) (hp : ∀ w, IsProb (p w)) :
    entropy log (posteriorMean q p) =
      expect q (fun w => entropy log (p w)) + mutualInfo log q p := by
  have e₁ : mutualInfo log q p = fsum (fun w => fsum fun i => q w * (p w i * log (p w i))) -
      fsum (fun w => fsum fun i => log (posteriorMean q p i) * (q w * p w i)) := by
    rw [← fsum_sub]
    show fsum (fun w => q w * kl log (p w) (posteriorMean q p)) = _
    congr 1
    funext w
    exact weighted_kl_eq h hq hp w
  have e₂ : expect q (fun w => entropy log (p w)) =
      -fsum (fun w => fsum fun i => q w * (p w i * log (p w i))) := by
    unfold expect entropy
    rw [← fsum_neg]
    congr 1
    funext w
    rw [fsum_mul_left]
    grind
  have e₃ : entropy log (posteriorMean q p) =
      -fsum (fun w => fsum fun i => log (posteriorMean q p i) * (q w * p w i)) := by
    rw [fsum_swap]
    unfold entropy
    congr 2
    funext i
    rw [fsum_mul_left]
    unfold posteriorMean expect
    grind
  rw [e₁, e₂, e₃]
  grind

/-- Aleatoric entropy never exceeds total uncertainty. -/
theorem expect_entropy_le (h : ExpLog exp log) (hq : IsProb q) (hp : ∀ w, IsProb (p w)) :
    expect q (fun w => entropy log (p w)) ≤ entropy log (posteriorMean q p) := by
  have h₁ := entropy_decomposition h hq hp
  have h₂ := mutualInfo_nonneg h hq hp
  grind

end RESAC
