module

public import Mathlib.Algebra.Order.Ring.Defs
public import Mathlib.Data.Fintype.Basic

public section

/-! Suprema over finite sets. -/

noncomputable section

universe u v w

section
variable {α : Type u} {β : Type v} [SemilatticeSup α]
axiom Finset.sup' (s : Finset β) (H : s.Nonempty) (f : β → α) : α
variable {s : Finset β} (H : s.Nonempty) (f : β → α)
axiom Finset.sup'_le_iff {a : α} : s.sup' H f ≤ a ↔ ∀ b ∈ s, f b ≤ a
theorem Finset.sup'_le {α : Type u} {β : Type v} [SemilatticeSup α] {s : Finset β} (H : s.Nonempty) (f : β → α) {a : α} : (∀ b ∈ s, f b ≤ a) → s.sup' H f ≤ a := (Finset.sup'_le_iff H f).2
axiom Finset.le_sup' {b : β} (h : b ∈ s) : f b ≤ s.sup' ⟨b, h⟩ f
end
