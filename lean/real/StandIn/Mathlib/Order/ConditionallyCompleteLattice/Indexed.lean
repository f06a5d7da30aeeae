module

public import Mathlib.Algebra.Order.Ring.Defs

public section

/-! Sets, and infima of bounded families. -/

noncomputable section

universe u v w

@[expose] def Set (α : Type u) : Type u := α → Prop
@[expose] def Set.univ {α : Type u} : Set α := fun _ => True
@[expose] instance Set.instMembership {α : Type u} : Membership α (Set α) := ⟨fun s a => s a⟩
@[expose] def Set.range {α : Type u} {ι : Sort v} (f : ι → α) : Set α := fun x => ∃ y, f y = x
@[expose] def Set.Nonempty {α : Type u} (s : Set α) : Prop := ∃ x, x ∈ s
@[expose] def lowerBounds {α : Type u} [LE α] (s : Set α) : Set α := fun x => ∀ ⦃a⦄, a ∈ s → x ≤ a
@[expose] def BddBelow {α : Type u} [LE α] (s : Set α) : Prop := Set.Nonempty (lowerBounds s)
class InfSet (α : Type u) where
  sInf : Set α → α
class ConditionallyCompleteLattice (α : Type u) extends Lattice α, InfSet α
@[expose] def iInf {α : Type u} {ι : Sort v} [InfSet α] (s : ι → α) : α := InfSet.sInf (Set.range s)
section
variable {α : Type u} {ι : Sort v} [ConditionallyCompleteLattice α] {f : ι → α} {a : α}
axiom ciInf_le (H : BddBelow (Set.range f)) (c : ι) : iInf f ≤ f c
axiom le_ciInf [Nonempty ι] (H : ∀ x, a ≤ f x) : a ≤ iInf f
end
