module

public import Mathlib.Algebra.Field.Basic

public section

/-! Ordered rings, and absolute values. -/

noncomputable section

universe u v w

class IsOrderedAddMonoid (α : Type u) [AddCommMonoid α] [PartialOrder α] : Prop where
  protected add_le_add_left : ∀ a b : α, a ≤ b → ∀ c, a + c ≤ b + c
class IsOrderedCancelAddMonoid (α : Type u) [AddCommMonoid α] [PartialOrder α] : Prop extends
    IsOrderedAddMonoid α
class IsStrictOrderedRing (R : Type u) [Semiring R] [PartialOrder R] : Prop extends
    IsOrderedCancelAddMonoid R, Nontrivial R
instance {R : Type u} [Semiring R] [PartialOrder R] [IsStrictOrderedRing R] : Lean.Grind.OrderedRing R := trusted'
  where trusted' : Lean.Grind.OrderedRing R := trusted
@[expose] instance Mul.toSMul (α : Type u) [Mul α] : SMul α α := ⟨Mul.mul⟩
theorem smul_eq_mul {α : Type u} [Mul α] (a b : α) : a • b = a * b := rfl
@[expose] instance Pi.instAdd {ι : Type u} {M : ι → Type v} [∀ i, Add (M i)] :
    Add (∀ i, M i) where
  add f g i := f i + g i

@[expose, grind] def abs {α : Type u} [Lattice α] [AddGroup α] (a : α) : α := max a (-a)
section
variable {α : Type u} [AddCommGroup α] [LinearOrder α] [IsOrderedAddMonoid α] {a b c : α}
axiom abs_sub_le_iff : abs (a - b) ≤ c ↔ a - b ≤ c ∧ b - a ≤ c
end
section
variable {α : Type u} [Lattice α] [AddGroup α] {a b c : α}
axiom abs_of_nonneg (h : 0 ≤ a) : abs a = a
axiom abs_of_nonpos (h : a ≤ 0) : abs a = -a
end
