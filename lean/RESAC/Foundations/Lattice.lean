module

public import RESAC.Foundations.Order

public section

/-!
# Laws of the larger and the smaller of two elements

## Main statements
* `larger_eq_left`, `larger_eq_right`, `smaller_eq_left`, `smaller_eq_right`: their values.
* `mul_larger`, `mul_smaller`: a non-negative factor moves inside.
-/

namespace RESAC

open Lean.Grind Std

universe u

variable {K : Type u} [LE K] [DecidableLE K] [IsLinearOrder K] {a b c : K}

omit [IsLinearOrder K] in
/-- The larger of two elements in order is the second. -/
theorem larger_eq_right (h : a ≤ b) : larger a b = b := if_pos h

/-- The larger of two elements against the order is the first. -/
theorem larger_eq_left (h : b ≤ a) : larger a b = a := by
  unfold larger; split
  · exact le_antisymm h ‹a ≤ b›
  · rfl

omit [IsLinearOrder K] in
/-- The smaller of two elements in order is the first. -/
theorem smaller_eq_left (h : a ≤ b) : smaller a b = a := if_pos h

/-- The smaller of two elements against the order is the second. -/
theorem smaller_eq_right (h : b ≤ a) : smaller a b = b := by
  unfold smaller; split
  · exact le_antisymm ‹a ≤ b› h
  · rfl

variable [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K]

/-- A non-negative factor moves into `larger`. -/
theorem mul_larger (hc : 0 ≤ c) (a b : K) : c * larger a b = larger (c * a) (c * b) := by
  rcases le_total (a := a) (b := b) with h | h
  · rw [larger_eq_right h, larger_eq_right (mul_le_mul_left h hc)]
  · rw [larger_eq_left h, larger_eq_left (mul_le_mul_left h hc)]

/-- A non-negative factor moves into `smaller`. -/
theorem mul_smaller (hc : 0 ≤ c) (a b : K) : c * smaller a b = smaller (c * a) (c * b) := by
  rcases le_total (a := a) (b := b) with h | h
  · rw [smaller_eq_left h, smaller_eq_left (mul_le_mul_left h hc)]
  · rw [smaller_eq_right h, smaller_eq_right (mul_le_mul_left h hc)]

end RESAC
