module

public import RESAC.Foundations.Order

public section

/-!
# Monetary functionals

A functional `V` on `X → K` is *monetary* if it is monotone and translation-equivariant,
`V (f + c) = V f + c`. (The word is from the theory of risk measures; Blackwell's two conditions on
an operator are the same idea.) Everything that the paper puts between a `Q` and its backup is of
this kind: an expectation, a maximum over actions, a policy's mean, log-sum-exp, the worst case over
a set of kernels, the entropic risk.

## Main definitions
* `Monetary V`.

## Main statements
* `Monetary.within`: a monetary functional is non-expansive in the sup-norm.
* `Monetary.eval`: evaluation at a point is monetary.
* `Monetary.shift`: `f ↦ V (f + h)` is monetary. A penalty *inside* the functional is harmless.
* `Monetary.comp`: monetary functionals compose. Closure under convex combinations, maxima and
  minima are cases of it (`RESAC.Foundations.Finite`).
* `Monetary.neg`: the conjugate `f ↦ -V (-f)` is monetary.
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

variable {K : Type u} [Field K] [LE K]
variable {X : Type v} {Y : Type w} {V : (X → K) → K}

/-- **A monetary functional is non-expansive**: arguments within `ε` have values within `ε`. For the
maximum this is property (P) of Appendix E. -/
theorem Monetary.within (hV : Monetary V) {f g : X → K} {ε : K}
    (h : ∀ x, Within ε (f x) (g x)) : Within ε (V f) (V g) := by
  have h₁ := hV.mono f (fun x => g x + ε) (fun x => (h x).1)
  have h₂ := hV.mono g (fun x => f x + ε) (fun x => (h x).2)
  rw [hV.translate] at h₁ h₂
  exact ⟨h₁, h₂⟩

/-- A constant subtracted from the argument is subtracted from the value. -/
theorem Monetary.translate_sub (hV : Monetary V) (f : X → K) (c : K) :
    V (fun x => f x - c) = V f - c := by
  have h := hV.translate f (-c)
  have e : (fun x => f x - c) = fun x => f x + -c := by funext x; grind
  rw [e, h]; grind

/-- Evaluation at a point is monetary. -/
theorem Monetary.eval (x : X) : Monetary fun f : X → K => f x where
  mono _ _ h := h x
  translate _ _ := rfl

/-- Monetary functionals compose: an outer one over `Y`, and a family of inner ones, one for each
`y`. -/
theorem Monetary.comp {U : (Y → K) → K} {W : Y → (X → K) → K} (hU : Monetary U)
    (hW : ∀ y, Monetary (W y)) : Monetary fun f => U fun y => W y f where
  mono f g h := hU.mono _ _ fun y => (hW y).mono f g h
  translate f c := by
    have e : (fun y => W y fun x => f x + c) = fun y => W y f + c := by
      funext y; exact (hW y).translate f c
    rw [e, hU.translate]

variable [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- Monetary functionals are closed under a fixed shift of the argument. -/
theorem Monetary.shift (hV : Monetary V) (h : X → K) : Monetary fun f => V fun x => f x + h x where
  mono f g hfg := hV.mono _ _ fun x => by have := hfg x; grind
  translate f c := by
    rw [← hV.translate]; congr 1; funext x; grind

/-- A penalty subtracted inside a monetary functional leaves it monetary. -/
theorem Monetary.shift_sub (hV : Monetary V) (h : X → K) :
    Monetary fun f => V fun x => f x - h x where
  mono f g hfg := hV.mono _ _ fun x => by have := hfg x; grind
  translate f c := by
    rw [← hV.translate]; congr 1; funext x; grind

/-- The conjugate of a monetary functional is monetary: it exchanges best and worst case. -/
theorem Monetary.neg (hV : Monetary V) : Monetary fun f => -V fun x => -f x where
  mono f g hfg := by
    have := hV.mono (fun x => -g x) (fun x => -f x) fun x => by have := hfg x; grind
    grind
  translate f c := by
    have e : (fun x => -(f x + c)) = fun x => -f x - c := by funext x; grind
    rw [e, hV.translate_sub]; grind

end RESAC
