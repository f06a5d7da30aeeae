module

public import RESAC.Foundations.Order

public section

/-!
# Attained minima and maxima

The paper writes `min` and `max` over sets of distributions, policies and perturbations. Over an
arbitrary ordered field such an optimum need not exist, so where the paper claims one, the library
states both halves: the value is a bound, and some admissible point attains it.

## Main definitions
* `IsMinimum D F m`: `m` is the smallest value of `F` on the admissible set `D`.
* `IsMaximum D F m`: `m` is the largest one.

## Main statements
* `IsMinimum.unique`, `IsMaximum.unique`: an optimum is unique.
* `IsMinimum.affine`: scaling by a non-negative factor and adding a constant commute with `min`.
-/

namespace RESAC

open Lean.Grind Std

universe u v

variable {K : Type u} [LE K] {ι : Type v} {D : ι → Prop} {F : ι → K} {m m' : K}

/-- `m = min {F x | x ∈ D}`, and the minimum is attained. -/
structure IsMinimum (D : ι → Prop) (F : ι → K) (m : K) : Prop where
  /-- No admissible point has a smaller value. -/
  le : ∀ x, D x → m ≤ F x
  /-- An admissible point has this value. -/
  attained : ∃ x, D x ∧ F x = m

/-- `m = max {F x | x ∈ D}`, and the maximum is attained. -/
structure IsMaximum (D : ι → Prop) (F : ι → K) (m : K) : Prop where
  /-- No admissible point has a larger value. -/
  le : ∀ x, D x → F x ≤ m
  /-- An admissible point has this value. -/
  attained : ∃ x, D x ∧ F x = m

/-- A minimum is unique. -/
theorem IsMinimum.unique [IsLinearOrder K] (h : IsMinimum D F m) (h' : IsMinimum D F m') :
    m = m' := by
  obtain ⟨x, hx, rfl⟩ := h.attained
  obtain ⟨y, hy, rfl⟩ := h'.attained
  exact le_antisymm (h.le y hy) (h'.le x hx)

/-- A maximum is unique. -/
theorem IsMaximum.unique [IsLinearOrder K] (h : IsMaximum D F m) (h' : IsMaximum D F m') :
    m = m' := by
  obtain ⟨x, hx, rfl⟩ := h.attained
  obtain ⟨y, hy, rfl⟩ := h'.attained
  exact le_antisymm (h'.le x hx) (h.le y hy)

/-- `min (c + γ·F) = c + γ·min F` for `0 ≤ γ`. -/
theorem IsMinimum.affine [Field K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
    (h : IsMinimum D F m) {γ : K} (hγ : 0 ≤ γ) (c : K) :
    IsMinimum D (fun x => c + γ * F x) (c + γ * m) where
  le x hx := by have := mul_le_mul_left (h.le x hx) hγ; grind
  attained := by
    obtain ⟨x, hx, rfl⟩ := h.attained
    exact ⟨x, hx, rfl⟩

end RESAC
