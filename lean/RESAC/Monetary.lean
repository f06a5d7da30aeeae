module

public import RESAC.Order

public section

/-!
# Monetary functionals
-/

namespace RESAC

open Lean.Grind Std

universe u v w

/-- A functional on `X → K` is *monetary* if it is monotone and translation-equivariant. -/
structure Monetary {K : Type u} [Field K] [LE K] {X : Type v} (V : (X → K) → K) : Prop where
  /-- A pointwise larger argument has a larger value. -/
  mono : ∀ f g : X → K, (∀ x, f x ≤ g x) → V f ≤ V g
  /-- A constant added to the argument is added to the value. -/
  translate : ∀ (f : X → K) (c : K), V (fun x => f x + c) = V f + c

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {X : Type v} {Y : Type w}

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- A monetary functional is non-expansive. -/
theorem Monetary.within {V : (X → K) → K} (hV : Monetary V) {f g : X → K} {ε : K}
    (h : ∀ x, Within ε (f x) (g x)) : Within ε (V f) (V g) := by
  have h₁ := hV.mono f (fun x => g x + ε) (fun x => (h x).1)
  have h₂ := hV.mono g (fun x => f x + ε) (fun x => (h x).2)
  rw [hV.translate] at h₁ h₂
  exact ⟨h₁, h₂⟩

end RESAC
