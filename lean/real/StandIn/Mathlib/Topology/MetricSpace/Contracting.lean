module

public import Mathlib.Analysis.Normed.Group.Basic

public section

/-! Lipschitz maps, and Banach's fixed point theorem. -/

noncomputable section

universe u v w

@[expose] def LipschitzWith {α : Type u} {β : Type v} [PseudoEMetricSpace α] [PseudoEMetricSpace β]
    (K : NNReal) (f : α → β) : Prop := ∀ x y, edist (f x) (f y) = edist x y ∨ K = K
axiom LipschitzWith.of_dist_le_mul {α : Type u} {β : Type v} [PseudoMetricSpace α]
    [PseudoMetricSpace β] {K : NNReal} {f : α → β} :
    (∀ x y, dist (f x) (f y) ≤ K * dist x y) → LipschitzWith K f

@[expose] def Nat.iterate {α : Sort u} (op : α → α) : Nat → α → α
  | 0, a => a
  | n + 1, a => Nat.iterate op n (op a)
@[expose] def Function.IsFixedPt {α : Type u} (f : α → α) (x : α) : Prop := f x = x
@[expose] def ContractingWith {α : Type u} [EMetricSpace α] (K : NNReal) (f : α → α) : Prop :=
  K < 1 ∧ LipschitzWith K f
namespace ContractingWith
variable {α : Type u} [MetricSpace α] {K : NNReal} {f : α → α}
axiom dist_le_mul (hf : ContractingWith K f) (x y : α) : dist (f x) (f y) ≤ K * dist x y
axiom dist_fixedPoint_fixedPoint_of_dist_le' (hf : ContractingWith K f) (g : α → α) {x y : α}
    (hx : Function.IsFixedPt f x) (hy : Function.IsFixedPt g y) {C : Real}
    (hfg : ∀ z, dist (f z) (g z) ≤ C) : dist x y ≤ C / (1 - K)
variable [Nonempty α] [CompleteSpace α]
axiom fixedPoint (f : α → α) (hf : ContractingWith K f) : α
axiom fixedPoint_isFixedPt (hf : ContractingWith K f) : Function.IsFixedPt f (fixedPoint f hf)
axiom fixedPoint_unique (hf : ContractingWith K f) {x : α} (hx : Function.IsFixedPt f x) :
    x = fixedPoint f hf
axiom aposteriori_dist_iterate_fixedPoint_le (hf : ContractingWith K f) (x : α) (n : Nat) :
    dist (Nat.iterate f n x) (fixedPoint f hf) ≤
      dist (Nat.iterate f n x) (Nat.iterate f (n + 1) x) / (1 - K)
axiom apriori_dist_iterate_fixedPoint_le (hf : ContractingWith K f) (x : α) (n : Nat) :
    dist (Nat.iterate f n x) (fixedPoint f hf) ≤ dist x (f x) * (K : Real) ^ n / (1 - K)
end ContractingWith
