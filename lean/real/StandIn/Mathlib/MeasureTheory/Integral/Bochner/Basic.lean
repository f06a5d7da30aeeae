module

public import Mathlib.Analysis.Normed.Group.Basic

public section

/-! Measures and integrals. -/

noncomputable section

universe u v w

class MeasurableSpace (α : Type u) where
  MeasurableSet' : Set α → Prop
axiom ax.prodMeas {α : Type u} {β : Type v} [MeasurableSpace α] [MeasurableSpace β] : MeasurableSpace (α × β)
@[expose] instance Prod.instMeasurableSpace {α : Type u} {β : Type v} [MeasurableSpace α]
    [MeasurableSpace β] : MeasurableSpace (α × β) := ax.prodMeas
namespace MeasureTheory
axiom Measure (α : Type u) [MeasurableSpace α] : Type u
variable {α : Type u} {m : MeasurableSpace α} {μ : Measure α}
axiom Measure.real {α : Type u} {_ : MeasurableSpace α} (μ : Measure α) (s : Set α) : Real
class IsProbabilityMeasure (μ : Measure α) : Prop where
  measure_univ : True
class IsFiniteMeasure (μ : Measure α) : Prop where
  measure_univ_lt_top : True
class IsZeroOrProbabilityMeasure (μ : Measure α) : Prop where
  measure_univ : True
instance [IsProbabilityMeasure μ] : IsZeroOrProbabilityMeasure μ := ⟨trivial⟩
instance (priority := 100) [IsZeroOrProbabilityMeasure μ] : IsFiniteMeasure μ := ⟨trivial⟩
axiom probReal_univ [IsProbabilityMeasure μ] : μ.real Set.univ = 1
class ENorm (E : Type u) where
  enorm : E → ENNReal
class ESeminormedAddMonoid (E : Type u) [TopologicalSpace E] extends ENorm E, AddMonoid E
@[expose] instance {E : Type u} [SeminormedAddGroup E] : ENorm E := ⟨fun e => ENNReal.ofReal (Norm.norm e)⟩
@[expose] instance SeminormedAddGroup.toESeminormedAddMonoid {E : Type u} [SeminormedAddGroup E] : ESeminormedAddMonoid E := {}
class ContinuousAdd (M : Type u) [TopologicalSpace M] [Add M] : Prop where
  c : True
instance {E : Type u} [SeminormedAddCommGroup E] : ContinuousAdd E := ⟨trivial⟩
axiom Integrable {α : Type u} {ε : Type v} [ENorm ε] [TopologicalSpace ε] {_ : MeasurableSpace α} (f : α → ε) (μ : Measure α) : Prop
axiom integral {α : Type u} {G : Type v} [NormedAddCommGroup G] [NormedSpace Real G] {_ : MeasurableSpace α} (μ : Measure α) (f : α → G) : G
axiom integrable_const {β : Type v} [NormedAddCommGroup β] [IsFiniteMeasure μ] (c : β) : Integrable (fun _ : α => c) μ
axiom Integrable.add {ε' : Type v} [TopologicalSpace ε'] [ESeminormedAddMonoid ε'] [ContinuousAdd ε'] {f g : α → ε'} (hf : Integrable f μ) (hg : Integrable g μ) : Integrable (f + g) μ
section
variable {E : Type v} [NormedAddCommGroup E] [NormedSpace Real E]
axiom integral_add {f g : α → E} (hf : Integrable f μ) (hg : Integrable g μ) :
    integral μ (fun x => f x + g x) = integral μ (fun x => f x) + integral μ (fun x => g x)
axiom integral_const [CompleteSpace E] (c : E) : integral μ (fun _ => c) = μ.real Set.univ • c
class IsOrderedModule (K : Type u) (E : Type v) [SMul K E] [PartialOrder E] : Prop where
  c : True
instance : IsOrderedModule Real Real := ⟨trivial⟩
class OrderClosedTopology (E : Type v) [TopologicalSpace E] [PartialOrder E] : Prop where
  c : True
instance : OrderClosedTopology Real := ⟨trivial⟩
axiom integral_mono [PartialOrder E] [IsOrderedAddMonoid E] [IsOrderedModule Real E] [OrderClosedTopology E] {f g : α → E} (hf : Integrable f μ) (hg : Integrable g μ) (h : f ≤ g) :
    integral μ (fun x => f x) ≤ integral μ (fun x => g x)
end
end MeasureTheory
