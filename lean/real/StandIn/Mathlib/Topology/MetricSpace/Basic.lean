module

public import Mathlib.Topology.MetricSpace.Pseudo.Pi

public section

/-! Finite products of metric spaces. -/

noncomputable section

universe u v w

section
variable {β : Type u} {X : β → Type v}
@[expose] instance metricSpacePi [Fintype β] [∀ b, MetricSpace (X b)] :
    MetricSpace (∀ b, X b) := .ofT0PseudoMetricSpace _
end
