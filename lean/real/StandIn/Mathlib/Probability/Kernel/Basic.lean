module

public import Mathlib.MeasureTheory.Integral.Bochner.Basic
public import Mathlib.Data.FunLike.Basic

public section

/-! Kernels. -/

noncomputable section

universe u v w

namespace ProbabilityTheory
structure Kernel (α : Type u) (β : Type v) [MeasurableSpace α] [MeasurableSpace β] where
  toFun : α → MeasureTheory.Measure β
variable {α : Type u} {β : Type v} {mα : MeasurableSpace α} {mβ : MeasurableSpace β}
@[expose] instance Kernel.instFunLike : FunLike (Kernel α β) α (MeasureTheory.Measure β) := ⟨Kernel.toFun, trusted⟩
class IsMarkovKernel (κ : Kernel α β) : Prop where
  isProbabilityMeasure : ∀ a, MeasureTheory.IsProbabilityMeasure (κ a)
end ProbabilityTheory
