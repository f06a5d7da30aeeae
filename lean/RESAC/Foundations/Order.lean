module

public section

/-!
# Distances in an ordered field, without a metric

The paper measures everything in the sup-norm. Over an arbitrary linearly ordered field a supremum
need not exist, so the library states every estimate pointwise: `Within ε a b` says that `a` and `b`
differ by at most `ε`, and "`‖Q₁ - Q₂‖∞ ≤ ε`" becomes `∀ s a, Within ε (Q₁ s a) (Q₂ s a)`.

## Main definitions
* `Within ε a b`: `|a - b| ≤ ε`, without an absolute value.
* `mag x`: the absolute value of `x` (needs a decidable order).
* `larger a b`, `smaller a b`: maximum and minimum of two elements.

## Main statements
* `Within.refl`, `Within.symm`, `Within.trans`, `Within.add`, `Within.mul_left`: the metric's laws.
* `within_iff_mag`: `Within ε a b ↔ mag (a - b) ≤ ε`.
* `mul_le_mul_left`, `le_div_iff`, …: the few facts of ordered fields that products need.
-/

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [LE K]

/-- `a` and `b` differ by at most `ε`. -/
@[expose] def Within [Field K] (ε a b : K) : Prop := a ≤ b + ε ∧ b ≤ a + ε

/-- The absolute value. -/
@[expose] def mag [Field K] [DecidableLE K] (x : K) : K := if 0 ≤ x then x else -x

/-- The larger of two elements. -/
@[expose] def larger [DecidableLE K] (a b : K) : K := if a ≤ b then b else a

/-- The smaller of two elements. -/
@[expose] def smaller [DecidableLE K] (a b : K) : K := if a ≤ b then a else b

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {a b c d ε δ : K}

/-! ## Products and quotients -/

/-- Multiplying by a non-negative factor on the left keeps an inequality. -/
theorem mul_le_mul_left (h : a ≤ b) (hc : 0 ≤ c) : c * a ≤ c * b :=
  OrderedRing.mul_le_mul_of_nonneg_left h hc

/-- Multiplying by a non-negative factor on the right keeps an inequality. -/
theorem mul_le_mul_right (h : a ≤ b) (hc : 0 ≤ c) : a * c ≤ b * c :=
  OrderedRing.mul_le_mul_of_nonneg_right h hc

/-- A product of non-negative factors is non-negative. -/
theorem mul_nonneg (ha : 0 ≤ a) (hb : 0 ≤ b) : 0 ≤ a * b :=
  OrderedRing.mul_nonneg ha hb

/-- The inverse of a positive element is positive. -/
theorem inv_pos (ha : 0 < a) : 0 < a⁻¹ :=
  Field.IsOrdered.inv_pos_iff.2 ha

/-- A positive denominator moves to the other side. -/
theorem le_div_iff (hc : 0 < c) : a ≤ b / c ↔ a * c ≤ b := by
  have hne : c ≠ 0 := by grind
  have e : b / c * c = b := by grind
  rw [← Field.IsOrdered.mul_le_mul_iff_of_pos_right (a := a) (b := b / c) hc, e]

/-- A positive denominator moves to the other side. -/
theorem div_le_iff (hc : 0 < c) : a / c ≤ b ↔ a ≤ b * c := by
  have hne : c ≠ 0 := by grind
  have e : a / c * c = a := by grind
  rw [← Field.IsOrdered.mul_le_mul_iff_of_pos_right (a := a / c) (b := b) hc, e]

/-- A quotient of a non-negative by a positive element is non-negative. -/
theorem div_nonneg (ha : 0 ≤ a) (hb : 0 < b) : 0 ≤ a / b := by
  rw [le_div_iff hb]; grind

/-- Powers of a non-negative element are non-negative. -/
theorem pow_nonneg (ha : 0 ≤ a) : ∀ n : Nat, 0 ≤ a ^ n
  | 0 => by grind
  | n + 1 => by
    have := mul_nonneg (pow_nonneg ha n) ha
    rw [Semiring.pow_succ]; exact this

/-- Powers of a factor in `[0, 1]` stay at most one. -/
theorem pow_le_one (ha : 0 ≤ a) (h₁ : a ≤ 1) : ∀ n : Nat, a ^ n ≤ 1
  | 0 => by grind
  | n + 1 => by
    have := mul_le_mul_right (pow_le_one ha h₁ n) ha
    rw [Semiring.pow_succ]; grind

/-- A square is non-negative. -/
theorem mul_self_nonneg (a : K) : 0 ≤ a * a := by
  rcases le_total (a := 0) (b := a) with h | h
  · exact mul_nonneg h h
  · have := mul_nonneg (a := -a) (b := -a) (by grind) (by grind)
    grind

/-! ## The pointwise distance -/

/-- Every element is at distance zero from itself. -/
theorem Within.refl (a : K) : Within 0 a a := by
  unfold Within; grind

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- Distance is symmetric. -/
theorem Within.symm (h : Within ε a b) : Within ε b a := ⟨h.2, h.1⟩

/-- The triangle inequality. -/
theorem Within.trans (h₁ : Within ε a b) (h₂ : Within δ b c) : Within (ε + δ) a c := by
  unfold Within at *; grind

/-- A bound may be enlarged. -/
theorem Within.mono (h : Within ε a b) (hε : ε ≤ δ) : Within δ a b := by
  unfold Within at *; grind

/-- A bound is non-negative. -/
theorem Within.nonneg (h : Within ε a b) : 0 ≤ ε := by
  unfold Within at h; grind

/-- Distance zero is equality. -/
theorem within_zero_iff : Within 0 a b ↔ a = b := by
  constructor
  · intro h; apply le_antisymm <;> (unfold Within at h; grind)
  · rintro rfl; exact Within.refl a

/-- Bounds add up over sums. -/
theorem Within.add (h₁ : Within ε a b) (h₂ : Within δ c d) : Within (ε + δ) (a + c) (b + d) := by
  unfold Within at *; grind

/-- Bounds add up over differences. -/
theorem Within.sub (h₁ : Within ε a b) (h₂ : Within δ c d) : Within (ε + δ) (a - c) (b - d) := by
  unfold Within at *; grind

/-- A common summand does not change the distance. -/
theorem Within.add_left (h : Within ε a b) (c : K) : Within ε (c + a) (c + b) := by
  unfold Within at *; grind

/-- A common subtrahend does not change the distance. -/
theorem Within.sub_right (h : Within ε a b) (c : K) : Within ε (a - c) (b - c) := by
  unfold Within at *; grind

/-- A non-negative factor scales the distance. -/
theorem Within.mul_left (h : Within ε a b) (hc : 0 ≤ c) : Within (c * ε) (c * a) (c * b) := by
  have h₁ := OrderedRing.mul_le_mul_of_nonneg_left h.1 hc
  have h₂ := OrderedRing.mul_le_mul_of_nonneg_left h.2 hc
  unfold Within; grind

/-! ## The larger and the smaller of two elements -/

section Decidable

variable [DecidableLE K]

omit [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- `larger` is the least upper bound of two elements. -/
theorem larger_le_iff : larger a b ≤ c ↔ a ≤ c ∧ b ≤ c := by
  unfold larger; split <;> grind

omit [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- The first element is at most the larger one. -/
theorem le_larger_left (a b : K) : a ≤ larger a b := by
  unfold larger; split <;> grind

omit [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- The second element is at most the larger one. -/
theorem le_larger_right (a b : K) : b ≤ larger a b := by
  unfold larger; split <;> grind

omit [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- `smaller` is the greatest lower bound of two elements. -/
theorem le_smaller_iff : c ≤ smaller a b ↔ c ≤ a ∧ c ≤ b := by
  unfold smaller; split <;> grind

omit [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- The smaller element is at most the first one. -/
theorem smaller_le_left (a b : K) : smaller a b ≤ a := by
  unfold smaller; split <;> grind

omit [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- The smaller element is at most the second one. -/
theorem smaller_le_right (a b : K) : smaller a b ≤ b := by
  unfold smaller; split <;> grind

/-! ## The absolute value -/

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- The absolute value of a non-negative element is itself. -/
theorem mag_of_nonneg (h : 0 ≤ a) : mag a = a := by
  unfold mag; grind

/-- The absolute value of a non-positive element is its negative. -/
theorem mag_of_nonpos (h : a ≤ 0) : mag a = -a := by
  unfold mag; grind

/-- Absolute values are non-negative. -/
theorem mag_nonneg (a : K) : 0 ≤ mag a := by
  unfold mag; grind

/-- The absolute value of zero. -/
theorem mag_zero : mag (0 : K) = 0 := by
  unfold mag; grind

/-- Only zero has absolute value zero. -/
theorem mag_eq_zero_iff : mag a = 0 ↔ a = 0 := by
  unfold mag; grind

/-- The absolute value is even. -/
theorem mag_neg (a : K) : mag (-a) = mag a := by
  unfold mag; grind

/-- An element is at most its absolute value. -/
theorem le_mag (a : K) : a ≤ mag a := by
  unfold mag; grind

/-- A negative is at most the absolute value. -/
theorem neg_le_mag (a : K) : -a ≤ mag a := by
  unfold mag; grind

/-- `|a| ≤ c` means `-c ≤ a ≤ c`. -/
theorem mag_le_iff : mag a ≤ c ↔ a ≤ c ∧ -a ≤ c := by
  unfold mag; grind

/-- Distance does not depend on the order of its points. -/
theorem mag_sub_comm (a b : K) : mag (a - b) = mag (b - a) := by
  unfold mag; grind

/-- The triangle inequality. -/
theorem mag_add_le (a b : K) : mag (a + b) ≤ mag a + mag b := by
  unfold mag; grind

/-- The absolute value is multiplicative. -/
theorem mag_mul (a b : K) : mag (a * b) = mag a * mag b := by
  rcases le_total (a := 0) (b := a) with ha | ha <;>
    rcases le_total (a := 0) (b := b) with hb | hb
  · rw [mag_of_nonneg ha, mag_of_nonneg hb, mag_of_nonneg (mul_nonneg ha hb)]
  · have := mul_nonneg (a := a) (b := -b) ha (by grind)
    rw [mag_of_nonneg ha, mag_of_nonpos hb, mag_of_nonpos (by grind)]; grind
  · have := mul_nonneg (a := -a) (b := b) (by grind) hb
    rw [mag_of_nonpos ha, mag_of_nonneg hb, mag_of_nonpos (by grind)]; grind
  · have := mul_nonneg (a := -a) (b := -b) (by grind) (by grind)
    rw [mag_of_nonpos ha, mag_of_nonpos hb, mag_of_nonneg (by grind)]; grind

/-- The pointwise distance is the absolute value of the difference. -/
theorem within_iff_mag : Within ε a b ↔ mag (a - b) ≤ ε := by
  unfold Within mag; grind

/-- The absolute value is non-expansive. -/
theorem Within.mag (h : Within ε a b) : Within ε (mag a) (mag b) := by
  unfold Within RESAC.mag at *; grind

end Decidable

end RESAC
