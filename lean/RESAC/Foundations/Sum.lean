module

public import RESAC.Foundations.Order

public section

/-!
# Finite sums

Vectors are functions `Fin n → K`. The sum recurses on `n`, so that the kernel can evaluate it on
concrete rational vectors.

## Main definitions
* `fsum f`: the sum of the values of `f`.

## Main statements
* `fsum_add`, `fsum_sub`, `fsum_mul_left`, `fsum_const`: sums are linear.
* `fsum_swap`: the order of two sums may be exchanged.
* `fsum_eq_single`: a vector that is zero but at one place.
* `fsum_mono`, `fsum_nonneg`, `le_fsum`: sums respect the order.
* `mag_fsum_le`: the triangle inequality.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

/-- The sum of the values of `f`. -/
@[expose] def fsum {K : Type u} [Field K] : {n : Nat} → (Fin n → K) → K
  | 0, _ => 0
  | _ + 1, f => f 0 + fsum (fun i => f i.succ)

variable {K : Type u} [Field K]

/-! ## Linearity -/

/-- The sum of an empty vector. -/
theorem fsum_empty (f : Fin 0 → K) : fsum f = 0 := rfl

/-- The sum of a vector splits off its first value. -/
theorem fsum_succ {n : Nat} (f : Fin (n + 1) → K) : fsum f = f 0 + fsum fun i => f i.succ := rfl

/-- A sum of zeros is zero. -/
theorem fsum_zero : ∀ {n : Nat}, fsum (fun _ : Fin n => (0 : K)) = 0
  | 0 => rfl
  | n + 1 => by rw [fsum, fsum_zero]; grind

/-- Sums are additive. -/
theorem fsum_add : ∀ {n : Nat} (f g : Fin n → K), fsum (fun i => f i + g i) = fsum f + fsum g
  | 0, _, _ => by simp only [fsum]; grind
  | n + 1, f, g => by simp only [fsum]; rw [fsum_add]; grind

/-- Sums respect differences. -/
theorem fsum_sub : ∀ {n : Nat} (f g : Fin n → K), fsum (fun i => f i - g i) = fsum f - fsum g
  | 0, _, _ => by simp only [fsum]; grind
  | n + 1, f, g => by simp only [fsum]; rw [fsum_sub]; grind

/-- Sums respect negation. -/
theorem fsum_neg : ∀ {n : Nat} (f : Fin n → K), fsum (fun i => -f i) = -fsum f
  | 0, _ => by simp only [fsum]; grind
  | n + 1, f => by simp only [fsum]; rw [fsum_neg]; grind

/-- A common factor on the left moves out of a sum. -/
theorem fsum_mul_left (c : K) : ∀ {n : Nat} (f : Fin n → K), fsum (fun i => c * f i) = c * fsum f
  | 0, _ => by simp only [fsum]; grind
  | n + 1, f => by simp only [fsum]; rw [fsum_mul_left]; grind

/-- A common factor on the right moves out of a sum. -/
theorem fsum_mul_right (c : K) {n : Nat} (f : Fin n → K) :
    fsum (fun i => f i * c) = fsum f * c := by
  have e : (fun i => f i * c) = fun i => c * f i := by funext i; grind
  rw [e, fsum_mul_left]; grind

attribute [local instance] Semiring.natCast in
/-- A sum of equal values is their number times the value. -/
theorem fsum_const (c : K) :
    ∀ {n : Nat}, fsum (fun _ : Fin n => c) = (n : K) * c
  | 0 => by simp only [fsum]; grind
  | n + 1 => by rw [fsum, fsum_const]; grind

/-- The order of two sums may be exchanged. -/
theorem fsum_swap : ∀ {m n : Nat} (f : Fin m → Fin n → K),
    fsum (fun i => fsum (fun j => f i j)) = fsum (fun j => fsum (fun i => f i j))
  | 0, n, f => by simp only [fsum]; rw [fsum_zero]
  | m + 1, n, f => by simp only [fsum]; rw [fsum_add, fsum_swap]

/-- A vector that is zero but at `i` sums to its value there. -/
theorem fsum_eq_single : ∀ {n : Nat} (f : Fin n → K) (i : Fin n), (∀ j, j ≠ i → f j = 0) →
    fsum f = f i
  | n + 1, f, i, h => by
    rw [fsum_succ]
    refine Fin.cases (fun h => ?_) (fun i h => ?_) i h
    · have e : (fun j : Fin n => f j.succ) = fun _ => 0 := by
        funext j; exact h j.succ (Fin.succ_ne_zero j)
      rw [e, fsum_zero]; grind
    · have e := fsum_eq_single (fun j => f j.succ) i fun j hj =>
        h j.succ fun hij => hj (Fin.succ_inj.1 hij)
      rw [e, h 0 (Fin.succ_ne_zero i).symm]; grind

/-! ## Order -/

variable [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- Sums are monotone. -/
theorem fsum_mono : ∀ {n : Nat} {f g : Fin n → K}, (∀ i, f i ≤ g i) → fsum f ≤ fsum g
  | 0, _, _, _ => by simp only [fsum]; grind
  | n + 1, f, g, h => by
    have h₀ := h 0
    have h₁ := fsum_mono fun i : Fin n => h i.succ
    simp only [fsum]; grind

/-- A sum of non-negative values is non-negative. -/
theorem fsum_nonneg {n : Nat} {f : Fin n → K} (h : ∀ i, 0 ≤ f i) : 0 ≤ fsum f := by
  have := fsum_mono h
  rwa [fsum_zero] at this

/-- A sum of positive values over a non-empty range is positive. -/
theorem fsum_pos {n : Nat} {f : Fin (n + 1) → K} (h : ∀ i, 0 < f i) : 0 < fsum f := by
  have h₀ := h 0
  have h₁ := fsum_nonneg (f := fun i : Fin n => f i.succ) fun i => by have := h i.succ; grind
  rw [fsum_succ]; grind

/-- A value of a non-negative vector is at most the sum. -/
theorem le_fsum : ∀ {n : Nat} {f : Fin n → K}, (∀ i, 0 ≤ f i) → ∀ i, f i ≤ fsum f
  | n + 1, f, h, i => by
    have h₀ := h 0
    have h₁ := fsum_nonneg (f := fun i : Fin n => f i.succ) fun i => h i.succ
    rw [fsum_succ]
    refine Fin.cases ?_ (fun i => ?_) i
    · grind
    · have := le_fsum (f := fun i : Fin n => f i.succ) (fun i => h i.succ) i
      grind

/-- If non-negative values sum to zero, each is zero. -/
theorem eq_zero_of_fsum_eq_zero {n : Nat} {f : Fin n → K} (h : ∀ i, 0 ≤ f i) (h₀ : fsum f = 0)
    (i : Fin n) : f i = 0 := by
  have h₁ := h i
  have h₂ := le_fsum h i
  grind

/-- The absolute value of a sum is at most the sum of the absolute values. -/
theorem mag_fsum_le [DecidableLE K] :
    ∀ {n : Nat} (f : Fin n → K), mag (fsum f) ≤ fsum fun i => mag (f i)
  | 0, _ => by simp only [fsum]; rw [mag_zero]; grind
  | n + 1, f => by
    have h₁ := mag_add_le (f 0) (fsum fun i : Fin n => f i.succ)
    have h₂ := mag_fsum_le fun i : Fin n => f i.succ
    simp only [fsum]; grind

end RESAC
