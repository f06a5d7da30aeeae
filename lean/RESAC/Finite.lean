module

public import RESAC.Monetary

public section

/-!
# Finite sums, expectations, maxima and minima
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u}

/-- The sum of the values of `f`. -/
@[expose] def fsum [Field K] : {n : Nat} → (Fin n → K) → K
  | 0, _ => 0
  | _ + 1, f => f 0 + fsum (fun i => f i.succ)

/-- `p` is a probability vector: non-negative weights that sum to one. -/
structure IsProb [Field K] [LE K] {n : Nat} (p : Fin n → K) : Prop where
  /-- Weights are non-negative. -/
  nonneg : ∀ i, 0 ≤ p i
  /-- Weights sum to one. -/
  total : fsum p = 1

/-- The expectation of `f` under the weights `p`. -/
@[expose] def expect [Field K] {n : Nat} (p f : Fin n → K) : K := fsum (fun i => p i * f i)

variable [LE K] [DecidableLE K]

/-- The largest value of `f`. -/
@[expose] def fmax : {n : Nat} → (Fin (n + 1) → K) → K
  | 0, f => f 0
  | _ + 1, f => larger (f 0) (fmax (fun i => f i.succ))

/-- The smallest value of `f`. -/
@[expose] def fmin : {n : Nat} → (Fin (n + 1) → K) → K
  | 0, f => f 0
  | _ + 1, f => smaller (f 0) (fmin (fun i => f i.succ))

end Definitions

end RESAC
