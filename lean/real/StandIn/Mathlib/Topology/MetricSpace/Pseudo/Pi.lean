module

public import Mathlib.Topology.UniformSpace.Real
public import Mathlib.Data.Fintype.Basic

public section

/-! The sup metric on finite products. -/

noncomputable section

universe u v w

section
variable {β : Type u} {X : β → Type v}
@[expose] instance Pi.uniformSpace [∀ b, UniformSpace (X b)] :
    UniformSpace (∀ b, X b) where
  uniformity U := ∀ b, UniformSpace.uniformity fun p : X b × X b => ∃ q, U q ∧ (q.1 b, q.2 b) = p
instance Pi.complete [∀ b, UniformSpace (X b)] [∀ b, CompleteSpace (X b)] :
    CompleteSpace (∀ b, X b) := trusted
axiom ax.supE [Fintype β] (f : β → ENNReal) : ENNReal
axiom ax.supR [Fintype β] (f : β → Real) : Real
axiom ax.piBorn [∀ b, Bornology (X b)] (U : (∀ b, X b) → Prop) : Prop
@[expose] instance Pi.instBornology [∀ b, Bornology (X b)] : Bornology (∀ b, X b) := ⟨ax.piBorn⟩
@[expose] instance pseudoEMetricSpacePi [Fintype β] [∀ b, PseudoEMetricSpace (X b)] :
    PseudoEMetricSpace (∀ b, X b) where
  edist f g := ax.supE fun b => edist (f b) (g b)
  edist_comm := trusted
  toUniformSpace := Pi.uniformSpace
@[expose] instance emetricSpacePi [Fintype β] [∀ b, EMetricSpace (X b)] :
    EMetricSpace (∀ b, X b) := .ofT0PseudoEMetricSpace _
@[expose, reducible] def PseudoEMetricSpace.toPseudoMetricSpaceOfDist {X : Type v} [e : PseudoEMetricSpace X]
    (dist : X → X → Real) (_h : ∀ x y : X, 0 ≤ dist x y) : PseudoMetricSpace X where
  dist := dist
  dist_comm := trusted
  edist := edist
  toUniformSpace := PseudoEMetricSpace.toUniformSpace
  toBornology := ⟨fun _ => True⟩
@[expose, reducible] def PseudoMetricSpace.replaceBornology {α : Type v} [B : Bornology α] (m : PseudoMetricSpace α)
    (_H : ∀ s, @Bornology.cobounded _ B s ↔ @Bornology.cobounded _ PseudoMetricSpace.toBornology s) :
    PseudoMetricSpace α :=
  { m with
    toBornology := B }
@[expose] instance pseudoMetricSpacePi [Fintype β] [∀ b, PseudoMetricSpace (X b)] :
    PseudoMetricSpace (∀ b, X b) := by
  let i := PseudoEMetricSpace.toPseudoMetricSpaceOfDist
    (fun f g : ∀ b, X b => ax.supR fun b => dist (f b) (g b)) (fun _ _ => trusted)
  refine i.replaceBornology fun _ => ?_
  exact trusted
axiom dist_pi_le_iff [Fintype β] [∀ b, PseudoMetricSpace (X b)] {f g : ∀ b, X b} {r : Real}
    (hr : 0 ≤ r) : dist f g ≤ r ↔ ∀ b, dist (f b) (g b) ≤ r
end
