module

public import Mathlib.Algebra.BigOperators.Ring.Finset

public section

/-! Sums over `Fin n`. -/

noncomputable section

universe u v w

section
variable {R : Type v}
axiom Fin.sum_univ_zero [AddCommMonoid R] (f : Fin 0 → R) : Finset.univ.sum (fun i => f i) = 0
axiom Fin.sum_univ_succ [AddCommMonoid R] {n : Nat} (f : Fin (n + 1) → R) :
    Finset.univ.sum (fun i => f i) = f 0 + Finset.univ.sum fun i : Fin n => f i.succ
end
