module

public import RESAC.Foundations.Sum

public section

/-!
# Sums of squares

The Euclidean norm without roots: a vector is at most `c ≥ 0` long iff `sqNorm x ≤ c²`.

## Main definitions
* `sqNorm x`: the sum of the squares of `x`.

## Main statements
* `cauchy_schwarz`: `(Σ xᵢyᵢ)² ≤ Σ xᵢ²·Σ yᵢ²`, over every ordered field.
* `le_of_sq_le`: squares of non-negative elements are ordered as the elements are.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

/-- The square of the Euclidean norm. -/
@[expose] def sqNorm {K : Type u} [Field K] {n : Nat} (x : Fin n → K) : K := fsum fun i => x i ^ 2

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {n : Nat} {a b : K}

/-- A square is non-negative. -/
theorem sq_nonneg (a : K) : 0 ≤ a ^ 2 := by
  have := mul_self_nonneg a
  grind

/-- Numbers whose squares are ordered are ordered, if the larger one is non-negative. -/
theorem le_of_sq_le (hb : 0 ≤ b) (h : a ^ 2 ≤ b ^ 2) : a ≤ b := by
  false_or_by_contra
  rename_i hn
  have := OrderedRing.mul_pos (a := a - b) (b := a + b) (by grind) (by grind)
  grind

/-- Sums of squares are non-negative. -/
theorem sqNorm_nonneg (x : Fin n → K) : 0 ≤ sqNorm x := fsum_nonneg fun i => sq_nonneg (x i)

/-- Only the zero vector has length zero. -/
theorem eq_zero_of_sqNorm {x : Fin n → K} (h : sqNorm x = 0) (i : Fin n) : x i = 0 := by
  have := eq_zero_of_fsum_eq_zero (fun i => sq_nonneg (x i)) h i
  grind

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- A factor comes out squared. -/
theorem sqNorm_mul (c : K) (x : Fin n → K) : sqNorm (fun i => c * x i) = c ^ 2 * sqNorm x := by
  unfold sqNorm
  rw [← fsum_mul_left]
  congr 1; funext i; grind

/-- **The inequality of Cauchy and Schwarz**, over every ordered field. -/
theorem cauchy_schwarz (x y : Fin n → K) :
    (fsum fun i => x i * y i) ^ 2 ≤ sqNorm x * sqNorm y := by
  generalize hZ : (fsum fun i => x i * y i) = Z
  generalize hX : sqNorm x = X
  generalize hY : sqNorm y = Y
  have hY₀ : 0 ≤ Y := hY ▸ sqNorm_nonneg y
  by_cases h : Y = 0
  · have hy := eq_zero_of_sqNorm (hY.trans h)
    have e : (fun i => x i * y i) = fun _ => 0 := by funext i; rw [hy i]; grind
    rw [e, fsum_zero] at hZ
    rw [h, ← hZ]
    clear hy e
    grind
  · have key : sqNorm (fun i => Y * x i - Z * y i) = Y * (X * Y - Z ^ 2) := by
      have e : (fun i => (Y * x i - Z * y i) ^ 2) =
          fun i => Y ^ 2 * x i ^ 2 - 2 * Y * Z * (x i * y i) + Z ^ 2 * y i ^ 2 := by
        funext i; grind
      unfold sqNorm at hX hY ⊢
      rw [e, fsum_add, fsum_sub, fsum_mul_left, fsum_mul_left, fsum_mul_left, hX, hY, hZ]
      grind
    have h₁ := sqNorm_nonneg (fun i => Y * x i - Z * y i)
    rw [key] at h₁
    false_or_by_contra
    rename_i hn
    have := OrderedRing.mul_pos (a := Y) (b := Z ^ 2 - X * Y) (by grind) (by grind)
    grind

end RESAC
