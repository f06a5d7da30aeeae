module

public import Mathlib.Data.Real.Archimedean

public section

/-! Non-negative reals, metrics, and that ℝ is complete. -/

noncomputable section

universe u v w

@[expose] def NNReal : Type := { r : Real // 0 ≤ r }
@[expose] def NNReal.toReal : NNReal → Real := Subtype.val
@[expose] instance : Coe NNReal Real := ⟨NNReal.toReal⟩
@[expose] instance : Zero NNReal := ⟨⟨0, trusted⟩⟩
@[expose] instance : One NNReal := ⟨⟨1, trusted⟩⟩
@[expose] instance : PartialOrder NNReal where
  le a b := a.toReal ≤ b.toReal
  lt a b := a.toReal < b.toReal
  le_refl := trusted
  le_trans := trusted
  lt_iff_le_not_ge := trusted
  le_antisymm := trusted
axiom NNReal.coe_nonneg (r : NNReal) : 0 ≤ (r : Real)
axiom NNReal.coe_lt_one {r : NNReal} : (r : Real) < 1 ↔ r < 1

/-! metrics -/
axiom ENNReal : Type
axiom ENNReal.ofReal : Real → ENNReal
class TopologicalSpace (α : Type u) where
  protected IsOpen : (α → Prop) → Prop
@[expose] instance Pi.topologicalSpace {ι : Type u} {Y : ι → Type v} [∀ i, TopologicalSpace (Y i)] : TopologicalSpace (∀ i, Y i) where
  IsOpen U := ∀ i, TopologicalSpace.IsOpen fun y : Y i => ∃ f, U f ∧ f i = y
axiom ax.prodOpen {α : Type u} {β : Type v} [TopologicalSpace α] [TopologicalSpace β] : (α × β → Prop) → Prop
@[expose] instance instTopologicalSpaceProd {α : Type u} {β : Type v} [TopologicalSpace α]
    [TopologicalSpace β] : TopologicalSpace (α × β) := ⟨ax.prodOpen⟩
class UniformSpace (α : Type u) extends TopologicalSpace α where
  protected uniformity : (α × α → Prop) → Prop
class CompleteSpace (α : Type u) [UniformSpace α] : Prop where
  complete : True
class EDist (α : Type u) where
  edist : α → α → ENNReal
export EDist (edist)
class Bornology (α : Type u) where
  cobounded : (α → Prop) → Prop
class PseudoEMetricSpace (α : Type u) extends EDist α where
  toUniformSpace : UniformSpace α
  edist_comm : ∀ x y : α, edist x y = edist y x
attribute [instance] PseudoEMetricSpace.toUniformSpace
class EMetricSpace (α : Type u) extends PseudoEMetricSpace α where
  eq_of_edist_eq_zero : ∀ {x y : α}, edist x y = ENNReal.ofReal 0 → x = y
class Dist (α : Type u) where
  dist : α → α → Real
export Dist (dist)
class PseudoMetricSpace (α : Type u) extends Dist α where
  dist_comm : ∀ x y : α, dist x y = dist y x
  edist : α → α → ENNReal
  toUniformSpace : UniformSpace α
  toBornology : Bornology α
attribute [instance] PseudoMetricSpace.toUniformSpace
attribute [instance] PseudoMetricSpace.toBornology
axiom dist_nonneg {α : Type u} [PseudoMetricSpace α] {x y : α} : 0 ≤ dist x y
@[expose] instance (priority := 200) PseudoMetricSpace.toEDist {α : Type u} [PseudoMetricSpace α] : EDist α :=
  ⟨PseudoMetricSpace.edist⟩
@[expose] instance (priority := 100) PseudoMetricSpace.toPseudoEMetricSpace {α : Type u}
    [h : PseudoMetricSpace α] : PseudoEMetricSpace α :=
  { h with
    edist_comm := trusted }
class MetricSpace (α : Type u) extends PseudoMetricSpace α where
  eq_of_dist_eq_zero : ∀ {x y : α}, dist x y = 0 → x = y
@[expose, reducible] def EMetricSpace.ofT0PseudoEMetricSpace (α : Type u) [h : PseudoEMetricSpace α] : EMetricSpace α :=
  { h with eq_of_edist_eq_zero := trusted }
@[expose, reducible] def MetricSpace.ofT0PseudoMetricSpace (α : Type u) [h : PseudoMetricSpace α] : MetricSpace α where
  toPseudoMetricSpace := h
  eq_of_dist_eq_zero := trusted
axiom ax.realUniform : UniformSpace Real
axiom ax.realEdist : Real → Real → ENNReal
axiom ax.realBorn : Bornology Real
@[expose] instance Real.pseudoMetricSpace : PseudoMetricSpace Real where
  dist x y := abs (x - y)
  dist_comm := trusted
  edist := ax.realEdist
  toUniformSpace := ax.realUniform
  toBornology := ax.realBorn
theorem Real.dist_eq (x y : Real) : dist x y = abs (x - y) := rfl
@[expose] instance (priority := 100) MetricSpace.toEMetricSpace {α : Type u}
    [MetricSpace α] : EMetricSpace α := .ofT0PseudoEMetricSpace α
@[expose] instance Real.metricSpace : MetricSpace Real := .ofT0PseudoMetricSpace Real
instance Real.instCompleteSpace : CompleteSpace Real := trusted
