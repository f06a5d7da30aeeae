module

public import RESAC.Soft.ExpLog
public import RESAC.Foundations.Finite

public section

/-!
# The exponential mean

One functional stands behind log-sum-exp, mellowmax, the entropic risk and the value of a
KL-regularised policy: the mean of `exp (f / α)` under some weights, taken back by `α·log`. For
`α > 0` it leans to the largest value, for `α < 0` to the smallest; in both cases it is monetary.

## Main definitions
* `IsWeight p`: non-negative weights, not all zero. A probability vector is one, and so is `1`.
* `expMean exp log α p f`: `α·log (∑ᵢ pᵢ·exp (fᵢ/α))`.

## Main statements
* `expMean_monetary`: the exponential mean is monetary for every `α ≠ 0` and all weights.
* `expMean_const`: under a probability vector a constant is its own exponential mean.

Log-sum-exp is the case `p = 1` (`RESAC.Soft.SoftBellman`, C02), the entropic risk the case `α = -1/β`
(`RESAC.Soft.EntropicRisk`, C26), the regularised policy's value the case of a prior `p = π₀`
(`RESAC.Soft.SoftPolicy`, C29).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K] {n : Nat}

/-- Non-negative weights, not all zero. -/
structure IsWeight [LE K] [LT K] (p : Fin n → K) : Prop where
  /-- Weights are non-negative. -/
  nonneg : ∀ i, 0 ≤ p i
  /-- Some weight is positive. -/
  exists_pos : ∃ i, 0 < p i

/-- The exponential mean at temperature `α` under the weights `p`: `α·log (∑ᵢ pᵢ·exp (fᵢ/α))`. -/
@[expose] def expMean (exp log : K → K) (α : K) (p f : Fin n → K) : K :=
  α * log (expect p fun i => exp (f i / α))

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {exp log : K → K} {n : Nat} {p : Fin n → K} {α : K}

/-- A quotient of positive elements is positive. -/
theorem div_pos {a b : K} (ha : 0 < a) (hb : 0 < b) : 0 < a / b := by
  rw [Field.div_eq_mul_inv]; exact OrderedRing.mul_pos ha (inv_pos hb)

/-- A probability vector has a positive entry. -/
theorem IsProb.isWeight (hp : IsProb p) : IsWeight p where
  nonneg := hp.nonneg
  exists_pos := by
    apply Classical.byContradiction
    intro hn
    have h₁ := fsum_mono (f := p) (g := fun _ => 0) fun i => by
      have : ¬ 0 < p i := fun hi => hn ⟨i, hi⟩
      grind
    rw [fsum_zero, hp.total] at h₁
    have := OrderedRing.zero_lt_one (R := K)
    grind

/-- All weights equal to one. -/
theorem isWeight_one : IsWeight (fun _ : Fin (n + 1) => (1 : K)) where
  nonneg _ := by have := OrderedRing.zero_lt_one (R := K); grind
  exists_pos := ⟨0, OrderedRing.zero_lt_one⟩

/-- A positive function has a positive mean under any weights. -/
theorem IsWeight.expect_pos (hp : IsWeight p) {f : Fin n → K} (hf : ∀ i, 0 < f i) :
    0 < expect p f := by
  obtain ⟨i, hi⟩ := hp.exists_pos
  have h₁ := le_fsum (f := fun j => p j * f j)
    (fun j => mul_nonneg (hp.nonneg j) (by have := hf j; grind)) i
  have h₂ := OrderedRing.mul_pos hi (hf i)
  unfold expect
  grind

/-- The partition function is positive. -/
theorem ExpLog.partition_pos (h : ExpLog exp log) (hp : IsWeight p) (α : K) (f : Fin n → K) :
    0 < expect p fun i => exp (f i / α) :=
  hp.expect_pos fun _ => h.exp_pos _

/-- The exponential mean is monotone: for `α < 0` the two reversals cancel. -/
theorem expMean_mono (h : ExpLog exp log) (hα : α ≠ 0) (hp : IsWeight p) {f g : Fin n → K}
    (hfg : ∀ i, f i ≤ g i) : expMean exp log α p f ≤ expMean exp log α p g := by
  have pos := h.partition_pos hp α
  unfold expMean
  by_cases hs : 0 < α
  · have h₁ : ∀ j, exp (f j / α) ≤ exp (g j / α) := fun j => h.exp_le (by
      have := mul_le_mul_right (hfg j) (show 0 ≤ α⁻¹ by have := inv_pos hs; grind)
      grind)
    exact mul_le_mul_left (h.log_le (pos f) (expect_mono hp.nonneg h₁)) (by grind)
  · have h₁ : ∀ j, exp (g j / α) ≤ exp (f j / α) := fun j => h.exp_le (by
      have h₂ := inv_pos (show 0 < -α by grind)
      have h₃ : (-α)⁻¹ = -α⁻¹ := by grind
      have := mul_le_mul_right (hfg j) (show 0 ≤ -α⁻¹ by grind)
      grind)
    have := mul_le_mul_left (h.log_le (pos g) (expect_mono hp.nonneg h₁)) (show 0 ≤ -α by grind)
    grind

/-- The exponential mean is translation-equivariant: `exp (c/α)` leaves the logarithm as `c/α`. -/
theorem expMean_translate (h : ExpLog exp log) (hα : α ≠ 0) (hp : IsWeight p) (f : Fin n → K)
    (c : K) : expMean exp log α p (fun i => f i + c) = expMean exp log α p f + c := by
  have e : (fun i => exp ((f i + c) / α)) = fun i => exp (c / α) * exp (f i / α) := by
    funext j
    rw [← h.exp_add]
    congr 1
    grind
  unfold expMean
  rw [e, expect_mul_left, h.log_exp_mul _ (h.partition_pos hp α f)]
  grind

/-- **The exponential mean is monetary**, at every temperature `α ≠ 0` of either sign and under all
weights. -/
theorem expMean_monetary (h : ExpLog exp log) (hα : α ≠ 0) (hp : IsWeight p) :
    Monetary (expMean exp log α p) :=
  ⟨fun _ _ => expMean_mono h hα hp, expMean_translate h hα hp⟩

/-- Under a probability vector a constant is its own exponential mean. -/
theorem expMean_const (h : ExpLog exp log) (hα : α ≠ 0) (hp : IsProb p) (c : K) :
    expMean exp log α p (fun _ => c) = c := by
  unfold expMean
  rw [expect_const hp, h.log_exp]
  grind

end RESAC
