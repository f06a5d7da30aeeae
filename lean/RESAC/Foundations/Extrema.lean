module

public import RESAC.Foundations.Order

public section

/-!
# The largest and the smallest value of a vector

## Main definitions
* `fmax f`, `fmin f`: the largest and the smallest value of a non-empty vector `Fin (n + 1) → K`.

## Main statements
* `le_fmax`, `fmax_le_iff`, `exists_eq_fmax`: `fmax f` is the least upper bound, and it is attained.
* `fmin_le`, `le_fmin_iff`, `exists_eq_fmin`: the same for the greatest lower bound `fmin f`.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [LE K] [DecidableLE K]

/-- The largest value of `f`. -/
@[expose] def fmax : {n : Nat} → (Fin (n + 1) → K) → K
  | 0, f => f 0
  | _ + 1, f => larger (f 0) (fmax (fun i => f i.succ))

/-- The smallest value of `f`. -/
@[expose] def fmin : {n : Nat} → (Fin (n + 1) → K) → K
  | 0, f => f 0
  | _ + 1, f => smaller (f 0) (fmin (fun i => f i.succ))

end Definitions

variable {K : Type u} [LE K] [DecidableLE K]

/-- The largest value is attained. -/
theorem exists_eq_fmax : ∀ {n : Nat} (f : Fin (n + 1) → K), ∃ i, f i = fmax f
  | 0, _ => ⟨0, rfl⟩
  | n + 1, f => by
    obtain ⟨i, hi⟩ := exists_eq_fmax fun i : Fin (n + 1) => f i.succ
    rw [fmax, larger]
    split
    · exact ⟨i.succ, hi⟩
    · exact ⟨0, rfl⟩

/-- The smallest value is attained. -/
theorem exists_eq_fmin : ∀ {n : Nat} (f : Fin (n + 1) → K), ∃ i, f i = fmin f
  | 0, _ => ⟨0, rfl⟩
  | n + 1, f => by
    obtain ⟨i, hi⟩ := exists_eq_fmin fun i : Fin (n + 1) => f i.succ
    rw [fmin, smaller]
    split
    · exact ⟨0, rfl⟩
    · exact ⟨i.succ, hi⟩

variable [IsLinearOrder K]

/-- Every value is at most the largest. -/
theorem le_fmax : ∀ {n : Nat} (f : Fin (n + 1) → K) (i : Fin (n + 1)), f i ≤ fmax f
  | 0, f, i => by
    have : i = 0 := Fin.fin_one_eq_zero i
    subst this; exact le_refl _
  | n + 1, f, i => by
    refine Fin.cases (le_larger_left _ _) (fun i => ?_) i
    exact le_trans (le_fmax (fun i => f i.succ) i) (le_larger_right _ _)

/-- The largest value is the least upper bound. -/
theorem fmax_le_iff {n : Nat} {f : Fin (n + 1) → K} {c : K} : fmax f ≤ c ↔ ∀ i, f i ≤ c := by
  constructor
  · intro h i; exact le_trans (le_fmax f i) h
  · intro h
    obtain ⟨i, hi⟩ := exists_eq_fmax f
    rw [← hi]; exact h i

/-- An upper bound is at least the largest value. -/
theorem fmax_le {n : Nat} {f : Fin (n + 1) → K} {c : K} (h : ∀ i, f i ≤ c) : fmax f ≤ c :=
  fmax_le_iff.2 h

/-- An attained upper bound is the largest value. -/
theorem fmax_eq {n : Nat} {f : Fin (n + 1) → K} {c : K} (i : Fin (n + 1)) (hi : f i = c)
    (h : ∀ j, f j ≤ c) : fmax f = c :=
  le_antisymm (fmax_le h) (hi ▸ le_fmax f i)

/-- The smallest value is at most every value. -/
theorem fmin_le : ∀ {n : Nat} (f : Fin (n + 1) → K) (i : Fin (n + 1)), fmin f ≤ f i
  | 0, f, i => by
    have : i = 0 := Fin.fin_one_eq_zero i
    subst this; exact le_refl _
  | n + 1, f, i => by
    refine Fin.cases (smaller_le_left _ _) (fun i => ?_) i
    exact le_trans (smaller_le_right _ _) (fmin_le (fun i => f i.succ) i)

/-- The smallest value is the greatest lower bound. -/
theorem le_fmin_iff {n : Nat} {f : Fin (n + 1) → K} {c : K} : c ≤ fmin f ↔ ∀ i, c ≤ f i := by
  constructor
  · intro h i; exact le_trans h (fmin_le f i)
  · intro h
    obtain ⟨i, hi⟩ := exists_eq_fmin f
    rw [← hi]; exact h i

/-- A lower bound is at most the smallest value. -/
theorem le_fmin {n : Nat} {f : Fin (n + 1) → K} {c : K} (h : ∀ i, c ≤ f i) : c ≤ fmin f :=
  le_fmin_iff.2 h

/-- An attained lower bound is the smallest value. -/
theorem fmin_eq {n : Nat} {f : Fin (n + 1) → K} {c : K} (i : Fin (n + 1)) (hi : f i = c)
    (h : ∀ j, c ≤ f j) : fmin f = c :=
  le_antisymm (hi ▸ fmin_le f i) (le_fmin h)

variable [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K]

/-- The minimum is the maximum of the negated values, negated. -/
theorem fmin_eq_neg_fmax {n : Nat} (f : Fin (n + 1) → K) : fmin f = -fmax fun i => -f i := by
  obtain ⟨i, hi⟩ := exists_eq_fmin f
  have h : fmax (fun i => -f i) = -fmin f := fmax_eq i (by rw [hi]) fun j => by
    have := fmin_le f j
    grind
  rw [h]; grind

end RESAC
