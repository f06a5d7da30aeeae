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

end RESAC
