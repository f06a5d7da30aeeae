module

public import Mathlib.Algebra.Order.Ring.Defs
public import Mathlib.Data.Fintype.Basic

public section

/-! Finite sums and products by a factor. -/

noncomputable section

universe u v w

axiom Finset.sum {ι : Type u} {M : Type v} [AddCommMonoid M] (s : Finset ι) (f : ι → M) : M
section
variable {ι : Type u} {R : Type v} {s : Finset ι} {f g : ι → R}
axiom Finset.sum_add_distrib [AddCommMonoid R] : s.sum (fun i => f i + g i) = s.sum (fun i => f i) + s.sum (fun i => g i)
axiom Finset.sum_mul [NonUnitalNonAssocSemiring R] (s : Finset ι) (f : ι → R) (b : R) : s.sum (fun i => f i) * b = s.sum fun i => f i * b
axiom Finset.mul_sum [NonUnitalNonAssocSemiring R] (s : Finset ι) (f : ι → R) (b : R) : b * s.sum (fun i => f i) = s.sum fun i => b * f i
end
