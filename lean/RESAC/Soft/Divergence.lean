module

public import RESAC.Soft.ExpMean

public section

/-!
# Relative entropy and the Gibbs measure

## Main definitions
* `AbsCont p r`: `p` puts no weight where `r` puts none (`p ≪ r`).
* `kl log p r`: the Kullback–Leibler divergence `∑ᵢ pᵢ·log (pᵢ/rᵢ)`. Division by zero is zero in
  Lean, where the convention of the literature is `KL = ∞`; so statements ask for `AbsCont p r`.
* `gibbs exp α p f`: the Gibbs measure `∝ pᵢ·exp (fᵢ/α)`.

## Main statements
* `kl_nonneg`, `kl_eq_zero_iff`: Gibbs' inequality with its case of equality.
* `gibbs_isProb`, `gibbs_eq_zero_iff`: the Gibbs measure is a probability vector with the support
  of its weights.
* `expect_sub_kl`: the variational identity
  `E_π f - α·KL(π‖p) = expMean α p f - α·KL(π‖gibbs α p f)`, for `α` of either sign. The
  Donsker–Varadhan duality (C26, `α < 0`) and the closed form of the regularised policy (C29,
  `α > 0`) are both read off from it.

Paper: Appendix B (the correspondence chain) and Appendix C (the semi-Bayesian prior).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K] {n : Nat}

/-- `p ≪ r`: `p` puts no weight where `r` puts none. -/
@[expose] def AbsCont (p r : Fin n → K) : Prop := ∀ i, r i = 0 → p i = 0

/-- The Kullback–Leibler divergence `∑ᵢ pᵢ·log (pᵢ/rᵢ)`. -/
@[expose] def kl (log : K → K) (p r : Fin n → K) : K := fsum fun i => p i * log (p i / r i)

/-- The Gibbs measure: the weights `p`, tilted by `exp (f/α)` and normalised. -/
@[expose] def gibbs (exp : K → K) (α : K) (p f : Fin n → K) : Fin n → K :=
  fun i => p i * exp (f i / α) / expect p fun j => exp (f j / α)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {exp log : K → K} {n : Nat} {p r : Fin n → K} {α : K}

/-! ## Gibbs' inequality -/

/-- One term of Gibbs' inequality: `log x ≤ x - 1` at `x = r/p`. -/
theorem sub_le_mul_log_div (h : ExpLog exp log) {p r : K} (hp : 0 ≤ p) (hr : 0 ≤ r)
    (hpr : r = 0 → p = 0) : p - r ≤ p * log (p / r) := by
  by_cases hp₀ : p = 0
  · subst hp₀; grind
  · have hr' : 0 < r := by grind
    have hp' : 0 < p := by grind
    have h₁ := mul_le_mul_left (h.log_le_sub_one (div_pos hr' hp')) hp
    rw [h.log_div hr' hp'] at h₁
    rw [h.log_div hp' hr']
    have h₂ : p * (r / p) = r := by grind
    grind

/-- Equality in one term of Gibbs' inequality forces `p = r`. -/
theorem eq_of_sub_eq_mul_log_div (h : ExpLog exp log) {p r : K} (hp : 0 ≤ p) (hr : 0 ≤ r)
    (hpr : r = 0 → p = 0) (he : p - r = p * log (p / r)) : p = r := by
  by_cases hp₀ : p = 0
  · subst hp₀; grind
  · have hr' : 0 < r := by grind
    have hp' : 0 < p := by grind
    by_cases h₁ : r / p = 1
    · grind
    · have h₂ := OrderedRing.mul_lt_mul_of_pos_left (h.log_lt_sub_one (div_pos hr' hp') h₁) hp'
      rw [h.log_div hr' hp'] at h₂
      rw [h.log_div hp' hr'] at he
      have h₃ : p * (r / p) = r := by grind
      grind

/-- **Gibbs' inequality**: the divergence of two probability vectors is non-negative. -/
theorem kl_nonneg (h : ExpLog exp log) (hp : IsProb p) (hr : IsProb r) (hpr : AbsCont p r) :
    0 ≤ kl log p r := by
  have h₁ := fsum_mono fun i => sub_le_mul_log_div h (hp.nonneg i) (hr.nonneg i) (hpr i)
  rw [fsum_sub, hp.total, hr.total] at h₁
  unfold kl
  grind

/-- The divergence vanishes only for equal vectors. -/
theorem kl_eq_zero_iff (h : ExpLog exp log) (hp : IsProb p) (hr : IsProb r) (hpr : AbsCont p r) :
    kl log p r = 0 ↔ p = r := by
  have key := fun i => sub_le_mul_log_div h (hp.nonneg i) (hr.nonneg i) (hpr i)
  constructor
  · intro h₀
    funext i
    have h₁ := eq_zero_of_fsum_eq_zero (f := fun i => p i * log (p i / r i) - (p i - r i))
      (fun i => by have := key i; grind)
      (by rw [fsum_sub, fsum_sub, hp.total, hr.total]; unfold kl at h₀; grind) i
    exact eq_of_sub_eq_mul_log_div h (hp.nonneg i) (hr.nonneg i) (hpr i) (by grind)
  · rintro rfl
    have e : (fun i => p i * log (p i / p i)) = fun _ => 0 := by
      funext i
      by_cases hi : p i = 0
      · grind
      · rw [show p i / p i = 1 by grind, h.log_one]; grind
    unfold kl
    rw [e, fsum_zero]

/-! ## The Gibbs measure -/

/-- The Gibbs measure is a probability vector. -/
theorem gibbs_isProb (h : ExpLog exp log) (hp : IsWeight p) (α : K) (f : Fin n → K) :
    IsProb (gibbs exp α p f) where
  nonneg i := div_nonneg (mul_nonneg (hp.nonneg i) (by have := h.exp_pos (f i / α); grind))
    (h.partition_pos hp α f)
  total := by
    have hz := h.partition_pos hp α f
    have hZ : fsum (fun i => p i * exp (f i / α)) = expect p fun j => exp (f j / α) := rfl
    unfold gibbs
    generalize expect p (fun j => exp (f j / α)) = Z at hz hZ
    have e : (fun i => p i * exp (f i / α) / Z) = fun i => p i * exp (f i / α) * Z⁻¹ := by
      funext i; grind
    rw [e, fsum_mul_right, hZ]
    grind

/-- The Gibbs measure has the support of its weights. -/
theorem gibbs_eq_zero_iff (h : ExpLog exp log) (hp : IsWeight p) (α : K) (f : Fin n → K)
    (i : Fin n) : gibbs exp α p f i = 0 ↔ p i = 0 := by
  have hz := h.partition_pos hp α f
  have he := h.exp_ne_zero (f i / α)
  unfold gibbs
  generalize expect p (fun j => exp (f j / α)) = Z at hz
  constructor
  · intro h₀
    have : p i * exp (f i / α) = 0 := by grind
    grind
  · intro h₀
    grind

/-- **The variational identity** behind Donsker–Varadhan and the regularised policy:
`E_π f - α·KL(π‖p) = expMean α p f - α·KL(π‖gibbs α p f)`. -/
theorem expect_sub_kl (h : ExpLog exp log) (hα : α ≠ 0) (hp : IsWeight p) {π : Fin n → K}
    (hπ : IsProb π) (hac : AbsCont π p) (f : Fin n → K) :
    expect π f - α * kl log π p = expMean exp log α p f - α * kl log π (gibbs exp α p f) := by
  have hz := h.partition_pos hp α f
  have e : (fun i => π i * log (π i / gibbs exp α p f i)) = fun i =>
      (π i * log (π i / p i) - α⁻¹ * (π i * f i))
        + log (expect p fun j => exp (f j / α)) * π i := by
    funext i
    by_cases hi : π i = 0
    · grind
    · have hi' : 0 < π i := by have := hπ.nonneg i; grind
      have hi₀ : 0 < p i := by have := hp.nonneg i; have := hac i; grind
      unfold gibbs
      generalize expect p (fun j => exp (f j / α)) = Z at hz
      have hx := h.exp_pos (f i / α)
      rw [h.log_div hi' (div_pos (OrderedRing.mul_pos hi₀ hx) hz),
        h.log_div (OrderedRing.mul_pos hi₀ hx) hz, h.log_mul hi₀ hx, h.log_exp, h.log_div hi' hi₀]
      grind
  have e₂ : fsum (fun i => π i * f i) = expect π f := rfl
  unfold kl expMean
  rw [e, fsum_add, fsum_sub, fsum_mul_left, fsum_mul_left, hπ.total, e₂]
  grind

/-- What is left of the divergence to the Gibbs measure: it is non-negative, and zero only there. -/
theorem kl_gibbs_nonneg (h : ExpLog exp log) (hp : IsWeight p) (α : K) (f : Fin n → K)
    {π : Fin n → K} (hπ : IsProb π) (hac : AbsCont π p) :
    0 ≤ kl log π (gibbs exp α p f) ∧
      (kl log π (gibbs exp α p f) = 0 ↔ π = gibbs exp α p f) := by
  have hg := gibbs_isProb h hp α f
  have hac' : AbsCont π (gibbs exp α p f) := fun i hi =>
    hac i ((gibbs_eq_zero_iff h hp α f i).1 hi)
  exact ⟨kl_nonneg h hπ hg hac', kl_eq_zero_iff h hπ hg hac'⟩

/-- The Gibbs measure is absolutely continuous with respect to its weights. -/
theorem gibbs_absCont (h : ExpLog exp log) (hp : IsWeight p) (α : K) (f : Fin n → K) :
    AbsCont (gibbs exp α p f) p := fun i => (gibbs_eq_zero_iff h hp α f i).2

end RESAC
