module

public import RESAC.Foundations.Order

public section

/-!
# Exponential and logarithm over an ordered field

Soft backups, entropies and the entropic risk need `exp` and `log`. Three laws carry everything that
the library says about them, so they are the hypothesis (`ExpLog exp log`) of every soft theorem,
and the rest is derived here. The real exponential and logarithm satisfy them; `ℚ` carries no such
pair (`exp 1` would have a root of every order), so no soft statement is about rational numbers.

## Main definitions
* `ExpLog exp log`: `exp (x + y) = exp x * exp y`, `1 + x ≤ exp x`, `0 < x → exp (log x) = x`.

## Main statements
* `ExpLog.exp_zero`, `ExpLog.exp_pos`, `ExpLog.exp_lt`, `ExpLog.exp_le`: `exp` is positive and
  strictly increasing.
* `ExpLog.log_exp`, `ExpLog.log_one`, `ExpLog.log_mul`, `ExpLog.log_inv`, `ExpLog.log_div`,
  `ExpLog.log_exp_mul`, `ExpLog.log_le`, `ExpLog.log_lt`: `log` is the inverse, turns products into
  sums and is strictly increasing.
* `ExpLog.one_add_lt_exp`, `ExpLog.log_le_sub_one`, `ExpLog.log_lt_sub_one`: the tangents at `0` and
  at `1`, strict away from them; the source of `KL ≥ 0`.

Used for the paper's §3.1 (soft Bellman operator) and its Appendices B and C; claims C02, C26, C29,
C30.
-/

namespace RESAC

open Lean.Grind Std

universe u

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- `exp` and `log` behave like the exponential and the natural logarithm. -/
structure ExpLog (exp log : K → K) : Prop where
  /-- `exp` turns sums into products. -/
  exp_add : ∀ x y, exp (x + y) = exp x * exp y
  /-- `exp` lies above its tangent at zero. -/
  one_add_le_exp : ∀ x, 1 + x ≤ exp x
  /-- `log` is a right inverse of `exp` on the positive elements; elsewhere it may be anything. -/
  exp_log : ∀ x, 0 < x → exp (log x) = x

namespace ExpLog

variable {exp log : K → K}

/-- `exp 0 = 1`. -/
theorem exp_zero (h : ExpLog exp log) : exp 0 = 1 := by
  have h1 := h.exp_add 0 0
  have h2 := h.one_add_le_exp 0
  have h3 : exp (0 : K) ≠ 0 := by
    intro h0
    rw [h0] at h2
    grind
  have h4 : (0 : K) + 0 = 0 := by grind
  rw [h4] at h1
  grind

/-- `exp (-x)` is the inverse of `exp x`, as a product. -/
theorem exp_mul_exp_neg (h : ExpLog exp log) (x : K) : exp x * exp (-x) = 1 := by
  rw [← h.exp_add, show x + -x = 0 by grind, h.exp_zero]

/-- `exp x` is the square of `exp (x / 2)`. -/
theorem exp_eq_sq (h : ExpLog exp log) (x : K) : exp x = exp (x / 2) * exp (x / 2) := by
  rw [← h.exp_add]
  congr 1
  grind

/-- `exp` is positive. -/
theorem exp_pos (h : ExpLog exp log) (x : K) : 0 < exp x := by
  have h1 := h.exp_mul_exp_neg x
  have h2 := OrderedRing.sq_nonneg (a := exp (x / 2))
  have h4 := h.exp_eq_sq x
  have h3 : exp x ≠ 0 := by grind
  grind

/-- `exp` never vanishes. -/
theorem exp_ne_zero (h : ExpLog exp log) (x : K) : exp x ≠ 0 := by
  have := h.exp_pos x
  grind

/-- `exp (-x) = (exp x)⁻¹`. -/
theorem exp_neg (h : ExpLog exp log) (x : K) : exp (-x) = (exp x)⁻¹ := by
  have := h.exp_mul_exp_neg x
  have := h.exp_ne_zero x
  grind

/-- `exp` is strictly increasing. -/
theorem exp_lt (h : ExpLog exp log) {x y : K} (hxy : x < y) : exp x < exp y := by
  have h1 := h.one_add_le_exp (y - x)
  have h2 : exp y = exp x * exp (y - x) := by rw [← h.exp_add]; congr 1; grind
  have h3 := OrderedRing.mul_lt_mul_of_pos_left (show 1 < exp (y - x) by grind) (h.exp_pos x)
  grind

/-- `exp` is increasing. -/
theorem exp_le (h : ExpLog exp log) {x y : K} (hxy : x ≤ y) : exp x ≤ exp y := by
  by_cases he : x = y
  · grind
  · have := h.exp_lt (show x < y by grind)
    grind

/-- `exp` is injective. -/
theorem exp_inj (h : ExpLog exp log) {x y : K} (hxy : exp x = exp y) : x = y := by
  have h1 := fun hlt : x < y => h.exp_lt hlt
  have h2 := fun hlt : y < x => h.exp_lt hlt
  grind

/-- `exp` reflects `≤`. -/
theorem le_of_exp_le (h : ExpLog exp log) {x y : K} (hxy : exp x ≤ exp y) : x ≤ y := by
  have h2 := fun hlt : y < x => h.exp_lt hlt
  grind

/-- `exp` reflects `<`. -/
theorem lt_of_exp_lt (h : ExpLog exp log) {x y : K} (hxy : exp x < exp y) : x < y := by
  have h2 := fun hlt : y ≤ x => h.exp_le hlt
  grind

/-- `log` is a left inverse of `exp`. -/
theorem log_exp (h : ExpLog exp log) (x : K) : log (exp x) = x :=
  h.exp_inj (h.exp_log _ (h.exp_pos x))

/-- `log 1 = 0`. -/
theorem log_one (h : ExpLog exp log) : log 1 = 0 := by
  rw [← h.exp_zero, h.log_exp]

/-- `log` is increasing on the positive elements. -/
theorem log_le (h : ExpLog exp log) {x y : K} (hx : 0 < x) (hxy : x ≤ y) : log x ≤ log y := by
  apply h.le_of_exp_le
  rw [h.exp_log x hx, h.exp_log y (by grind)]
  exact hxy

/-- `log` is strictly increasing on the positive elements. -/
theorem log_lt (h : ExpLog exp log) {x y : K} (hx : 0 < x) (hxy : x < y) : log x < log y := by
  apply h.lt_of_exp_lt
  rw [h.exp_log x hx, h.exp_log y (by grind)]
  exact hxy

/-- `log` turns products into sums. -/
theorem log_mul (h : ExpLog exp log) {x y : K} (hx : 0 < x) (hy : 0 < y) :
    log (x * y) = log x + log y := by
  apply h.exp_inj
  rw [h.exp_add, h.exp_log x hx, h.exp_log y hy, h.exp_log _ (OrderedRing.mul_pos hx hy)]

/-- A factor `exp c` leaves the logarithm as the summand `c`: what makes log-sum-exp
translation-equivariant. -/
theorem log_exp_mul (h : ExpLog exp log) (c : K) {x : K} (hx : 0 < x) :
    log (exp c * x) = c + log x := by
  rw [h.log_mul (h.exp_pos c) hx, h.log_exp]

/-- `log x⁻¹ = -log x`. -/
theorem log_inv (h : ExpLog exp log) {x : K} (hx : 0 < x) : log x⁻¹ = -log x := by
  have h1 : 0 < x⁻¹ := Field.IsOrdered.inv_pos_iff.mpr hx
  have h2 := h.log_mul hx h1
  rw [show x * x⁻¹ = 1 by grind, h.log_one] at h2
  grind

/-- `log` turns quotients into differences. -/
theorem log_div (h : ExpLog exp log) {x y : K} (hx : 0 < x) (hy : 0 < y) :
    log (x / y) = log x - log y := by
  rw [Field.div_eq_mul_inv, h.log_mul hx (Field.IsOrdered.inv_pos_iff.mpr hy), h.log_inv hy]
  grind

/-- `log` lies below its tangent at one. -/
theorem log_le_sub_one (h : ExpLog exp log) {x : K} (hx : 0 < x) : log x ≤ x - 1 := by
  have h1 := h.one_add_le_exp (log x)
  rw [h.exp_log x hx] at h1
  grind

/-- `exp` lies strictly above its tangent away from zero. -/
theorem one_add_lt_exp (h : ExpLog exp log) {x : K} (hx : x ≠ 0) : 1 + x < exp x := by
  have h1 := h.exp_eq_sq x
  have h2 := h.one_add_le_exp (x / 2)
  by_cases hn : 0 ≤ 1 + x / 2
  · have h3 := OrderedRing.mul_le_mul_of_nonneg_left h2 hn
    have h4 := OrderedRing.mul_le_mul_of_nonneg_right h2 (show 0 ≤ exp (x / 2) by grind)
    have h5 := OrderedRing.sq_nonneg (a := x)
    have h6 : x * x ≠ 0 := by grind
    have h7 : x / 2 = x * (2 : K)⁻¹ := by grind
    grind
  · have := h.exp_pos x
    grind

/-- `log` lies strictly below its tangent away from one. -/
theorem log_lt_sub_one (h : ExpLog exp log) {x : K} (hx : 0 < x) (h1 : x ≠ 1) :
    log x < x - 1 := by
  have h2 : log x ≠ 0 := by
    intro h0
    have := h.exp_log x hx
    rw [h0, h.exp_zero] at this
    grind
  have h3 := h.one_add_lt_exp h2
  rw [h.exp_log x hx] at h3
  grind

end ExpLog

end RESAC
