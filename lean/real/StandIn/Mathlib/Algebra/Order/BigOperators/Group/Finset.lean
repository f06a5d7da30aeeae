module

public import Mathlib.Algebra.BigOperators.Ring.Finset

public section

/-! Sums and the order. -/

noncomputable section

universe u v w

section
variable {ι : Type u} {R : Type v} {s : Finset ι} {f g : ι → R}
class AddLeftMono (N : Type u) [Add N] [LE N] : Prop
instance {N : Type u} [AddCommMonoid N] [PartialOrder N] [IsOrderedAddMonoid N] : AddLeftMono N := ⟨⟩
axiom Finset.sum_le_sum [AddCommMonoid R] [Preorder R] [AddLeftMono R] (h : ∀ i ∈ s, f i ≤ g i) : s.sum (fun i => f i) ≤ s.sum (fun i => g i)
axiom Finset.sum_pos [AddCommMonoid R] [PartialOrder R] [IsOrderedCancelAddMonoid R] (h : ∀ i ∈ s, 0 < f i) (hs : s.Nonempty) : 0 < s.sum (fun i => f i)
end
