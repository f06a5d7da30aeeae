module

public import Mathlib.Trusted

public section

/-! Finite sets and types. -/

noncomputable section

universe u v w

structure Finset (α : Type u) where
  mem : α → Prop
@[expose] instance Finset.instMembership {α : Type u} : Membership α (Finset α) := ⟨fun s a => s.mem a⟩
class Fintype (α : Type u) where
  elems : Finset α
  complete : ∀ x : α, x ∈ elems
instance Fin.fintype (n : Nat) : Fintype (Fin n) := ⟨⟨fun _ => True⟩, trusted⟩
@[expose] protected def Finset.Nonempty {α : Type u} (s : Finset α) : Prop := ∃ x : α, x ∈ s
@[expose] def Finset.univ {α : Type u} [Fintype α] : Finset α := Fintype.elems
@[simp, grind ←] theorem Finset.mem_univ {α : Type u} [Fintype α] (x : α) : x ∈ (Finset.univ : Finset α) := Fintype.complete x
axiom Finset.univ_nonempty {α : Type u} [Fintype α] [_root_.Nonempty α] :
    (Finset.univ : Finset α).Nonempty
