module

public import Mathlib.Topology.UniformSpace.Real
public import Mathlib.Data.FunLike.Basic

public section

/-! Bounded continuous functions. -/

noncomputable section

universe u v w

axiom Continuous {X : Type u} {Y : Type v} [TopologicalSpace X] [TopologicalSpace Y] (f : X → Y) : Prop
axiom Metric.continuous_iff {α : Type u} {β : Type v} [PseudoMetricSpace α] [PseudoMetricSpace β] {f : α → β} :
    Continuous f ↔ ∀ b, ∀ ε > 0, ∃ δ > 0, ∀ a, dist a b < δ → dist (f a) (f b) < ε
structure ContinuousMap (X : Type u) (Y : Type v) [TopologicalSpace X] [TopologicalSpace Y] where
  protected toFun : X → Y
  protected continuous_toFun : Continuous toFun
structure BoundedContinuousFunction (α : Type u) (β : Type v) [TopologicalSpace α]
    [PseudoMetricSpace β] : Type (max u v) extends ContinuousMap α β where
  map_bounded' : ∃ C, ∀ x y, dist (toFun x) (toFun y) ≤ C
namespace BoundedContinuousFunction
variable {α : Type u} {β : Type v} [TopologicalSpace α] [PseudoMetricSpace β]
variable {f g : BoundedContinuousFunction α β} {x : α} {C : Real}
@[expose] instance instFunLike : FunLike (BoundedContinuousFunction α β) α β := ⟨fun f => f.toFun, trusted⟩
protected theorem bounded (f : BoundedContinuousFunction α β) : ∃ C, ∀ x y : α, dist (f x) (f y) ≤ C := f.map_bounded'
protected theorem continuous (f : BoundedContinuousFunction α β) : Continuous f := f.continuous_toFun
axiom ax.dist : BoundedContinuousFunction α β → BoundedContinuousFunction α β → Real
axiom ax.edist : BoundedContinuousFunction α β → BoundedContinuousFunction α β → ENNReal
axiom ax.u : UniformSpace (BoundedContinuousFunction α β)
axiom ax.b : Bornology (BoundedContinuousFunction α β)
@[expose] instance instDist : Dist (BoundedContinuousFunction α β) := ⟨ax.dist⟩
theorem dist_coe_le_dist (x : α) : dist (f x) (g x) ≤ dist f g := trusted
axiom dist_le (C0 : (0 : Real) ≤ C) : dist f g ≤ C ↔ ∀ x : α, dist (f x) (g x) ≤ C
@[expose] instance instPseudoMetricSpace : PseudoMetricSpace (BoundedContinuousFunction α β) where
  dist_comm := trusted
  edist := ax.edist
  toUniformSpace := ax.u
  toBornology := ax.b
@[expose] instance instMetricSpace {β : Type v} [MetricSpace β] :
    MetricSpace (BoundedContinuousFunction α β) where
  eq_of_dist_eq_zero := trusted
instance instCompleteSpace [CompleteSpace β] :
    CompleteSpace (BoundedContinuousFunction α β) := trusted
variable (α) in
@[expose] def const (b : β) : BoundedContinuousFunction α β := ⟨⟨fun _ => b, trusted⟩, trusted⟩
end BoundedContinuousFunction
