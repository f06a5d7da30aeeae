module

public section

/-!
# Stand-in for Mathlib

Signatures of the Mathlib declarations that the layer uses, so that the layer can be checked where
Mathlib is absent. Each part names the files of Mathlib that hold the declarations. An `axiom` is
taken on trust. `Field`, `LinearOrder` and `IsStrictOrderedRing` stand for the weaker classes that
Mathlib asks for. A build with Mathlib does not see this file.
-/

noncomputable section

universe u v w

/-! Order/Defs/PartialOrder, Order/Defs/LinearOrder, Order/Lattice -/

class Preorder (α : Type u) extends LE α, LT α
class PartialOrder (α : Type u) extends Preorder α
class LinearOrder (α : Type u) extends PartialOrder α
@[instance] axiom Preorder.instLawfulOrderLT {α : Type u} [Preorder α] : Std.LawfulOrderLT α
@[instance] axiom LinearOrder.instIsLinearOrder {α : Type u} [LinearOrder α] : Std.IsLinearOrder α
@[instance] axiom LinearOrder.toDecidableLE {α : Type u} [LinearOrder α] : DecidableLE α
class SemilatticeSup (α : Type u) extends PartialOrder α
class Lattice (α : Type u) extends SemilatticeSup α
@[expose, reducible] instance LinearOrder.toLattice {α : Type u} [LinearOrder α] : Lattice α :=
  { toPartialOrder := inferInstance }

/-! Algebra/Field/Defs, Algebra/Group/Defs, Algebra/Order/Ring/Defs, Algebra/Order/Group/Abs -/

class Field (K : Type u) where
  toGrindField : Lean.Grind.Field K
attribute [instance, reducible] Field.toGrindField
class AddCommMonoid (M : Type u) extends Add M, Zero M
class AddGroup (G : Type u) extends Add G, Sub G
@[expose, reducible] instance Field.toAddCommMonoid {K : Type u} [Field K] : AddCommMonoid K :=
  { zero := 0 }
@[expose, reducible] instance Field.toAddGroup {K : Type u} [Field K] : AddGroup K := {}
class IsStrictOrderedRing (R : Type u) [Field R] [LinearOrder R] : Prop
@[instance] axiom IsStrictOrderedRing.toGrind {R : Type u} [Field R] [LinearOrder R]
    [IsStrictOrderedRing R] : Lean.Grind.OrderedRing R
axiom abs {α : Type u} [Lattice α] [AddGroup α] (a : α) : α
section
variable {α : Type u} [Field α] [LinearOrder α] [IsStrictOrderedRing α] {a b c : α}
axiom abs_sub_le_iff : abs (a - b) ≤ c ↔ a - b ≤ c ∧ b - a ≤ c
axiom abs_of_nonneg (h : 0 ≤ a) : abs a = a
axiom abs_of_nonpos (h : a ≤ 0) : abs a = -a
end

/-! Data/Fintype/Defs, Data/Finset, Algebra/BigOperators -/

class Fintype (α : Type u)
@[instance] axiom Fin.fintype (n : Nat) : Fintype (Fin n)
axiom Finset (α : Type u) : Type u
@[instance] axiom Finset.instMembership {α : Type u} : Membership α (Finset α)
@[expose] def Finset.Nonempty {α : Type u} (s : Finset α) : Prop := ∃ x, x ∈ s
axiom Finset.univ {α : Type u} [Fintype α] : Finset α
axiom Finset.mem_univ {α : Type u} [Fintype α] (x : α) : x ∈ (Finset.univ : Finset α)
axiom Finset.univ_nonempty {α : Type u} [Fintype α] [_root_.Nonempty α] :
    (Finset.univ : Finset α).Nonempty
axiom Finset.sum {ι : Type u} {M : Type v} [AddCommMonoid M] (s : Finset ι) (f : ι → M) : M
section
variable {ι : Type u} {R : Type v} [Field R] {s : Finset ι} {f g : ι → R}
axiom Finset.sum_add_distrib : s.sum (fun i => f i + g i) = s.sum f + s.sum g
axiom Finset.sum_mul (s : Finset ι) (f : ι → R) (b : R) : s.sum f * b = s.sum fun i => f i * b
axiom Finset.mul_sum (s : Finset ι) (f : ι → R) (b : R) : b * s.sum f = s.sum fun i => b * f i
axiom Fin.sum_univ_zero (f : Fin 0 → R) : Finset.univ.sum f = 0
axiom Fin.sum_univ_succ {n : Nat} (f : Fin (n + 1) → R) :
    Finset.univ.sum f = f 0 + Finset.univ.sum fun i : Fin n => f i.succ
variable [LinearOrder R] [IsStrictOrderedRing R]
axiom Finset.sum_le_sum (h : ∀ i, i ∈ s → f i ≤ g i) : s.sum f ≤ s.sum g
axiom Finset.sum_pos (h : ∀ i, i ∈ s → 0 < f i) (hs : s.Nonempty) : 0 < s.sum f
end
section
variable {α : Type u} {β : Type v} [SemilatticeSup α] {s : Finset β}
axiom Finset.sup' (s : Finset β) (H : s.Nonempty) (f : β → α) : α
axiom Finset.sup'_le (H : s.Nonempty) (f : β → α) {a : α} (hs : ∀ b, b ∈ s → f b ≤ a) :
    s.sup' H f ≤ a
axiom Finset.le_sup' (f : β → α) {b : β} (h : b ∈ s) : f b ≤ s.sup' ⟨b, h⟩ f
end

/-! Data/Real/Basic, Data/Real/Sqrt, Analysis/SpecialFunctions, Data/NNReal/Defs -/

axiom Real : Type
@[instance] axiom Real.instField : Field Real
@[instance] axiom Real.linearOrder : LinearOrder Real
@[instance] axiom Real.instIsStrictOrderedRing : IsStrictOrderedRing Real
axiom Real.exp : Real → Real
axiom Real.log : Real → Real
axiom Real.exp_add (x y : Real) : Real.exp (x + y) = Real.exp x * Real.exp y
axiom Real.add_one_le_exp (x : Real) : x + 1 ≤ Real.exp x
axiom Real.exp_log {x : Real} (hx : 0 < x) : Real.exp (Real.log x) = x
axiom Real.sqrt : Real → Real
axiom Real.sqrt_nonneg (x : Real) : 0 ≤ Real.sqrt x
axiom Real.sq_sqrt {x : Real} (h : 0 ≤ x) : Real.sqrt x ^ 2 = x
@[expose] def NNReal : Type := { r : Real // 0 ≤ r }
@[expose] def NNReal.toReal : NNReal → Real := Subtype.val
instance : Coe NNReal Real := ⟨NNReal.toReal⟩
@[instance] axiom NNReal.instLT : LT NNReal
@[instance] axiom NNReal.instOne : OfNat NNReal 1
axiom NNReal.coe_nonneg (r : NNReal) : 0 ≤ (r : Real)
axiom NNReal.coe_lt_one {r : NNReal} : (r : Real) < 1 ↔ r < 1

/-! Topology/MetricSpace/Pseudo/Defs, …/Pi, …/Lipschitz, Topology/UniformSpace/Pi -/

class TopologicalSpace (α : Type u)
@[instance] axiom instTopologicalSpaceProd {α : Type u} {β : Type v} [TopologicalSpace α]
    [TopologicalSpace β] : TopologicalSpace (α × β)
class UniformSpace (α : Type u)
class CompleteSpace (α : Type u) [UniformSpace α] : Prop
class Dist (α : Type u) where
  dist : α → α → Real
export Dist (dist)
class PseudoMetricSpace (α : Type u) extends Dist α, UniformSpace α
class MetricSpace (α : Type u) extends PseudoMetricSpace α
class PseudoEMetricSpace (α : Type u)
class EMetricSpace (α : Type u) extends PseudoEMetricSpace α
@[expose, reducible] instance PseudoMetricSpace.toPseudoEMetricSpace {α : Type u}
    [PseudoMetricSpace α] : PseudoEMetricSpace α := {}
@[expose, reducible] instance MetricSpace.toEMetricSpace {α : Type u} [MetricSpace α] :
    EMetricSpace α := { toPseudoEMetricSpace := inferInstance }
axiom dist_nonneg {α : Type u} [PseudoMetricSpace α] {x y : α} : 0 ≤ dist x y
@[instance] axiom Real.metricSpace : MetricSpace Real
@[instance] axiom Real.instCompleteSpace : CompleteSpace Real
axiom Real.dist_eq (x y : Real) : dist x y = abs (x - y)
section
variable {β : Type u} {X : β → Type v}
axiom Pi.dist [Fintype β] [∀ b, PseudoMetricSpace (X b)] : (∀ b, X b) → (∀ b, X b) → Real
@[expose, reducible] instance Pi.uniformSpace [∀ b, UniformSpace (X b)] :
    UniformSpace (∀ b, X b) := {}
@[instance] axiom Pi.complete [∀ b, UniformSpace (X b)] [∀ b, CompleteSpace (X b)] :
    CompleteSpace (∀ b, X b)
@[expose, reducible] instance pseudoMetricSpacePi [Fintype β] [∀ b, PseudoMetricSpace (X b)] :
    PseudoMetricSpace (∀ b, X b) := { dist := Pi.dist, toUniformSpace := Pi.uniformSpace }
@[expose, reducible] instance metricSpacePi [Fintype β] [∀ b, MetricSpace (X b)] :
    MetricSpace (∀ b, X b) := { toPseudoMetricSpace := pseudoMetricSpacePi }
axiom dist_pi_le_iff [Fintype β] [∀ b, PseudoMetricSpace (X b)] {f g : ∀ b, X b} {r : Real}
    (hr : 0 ≤ r) : dist f g ≤ r ↔ ∀ b, dist (f b) (g b) ≤ r
end
axiom LipschitzWith {α : Type u} {β : Type v} [PseudoEMetricSpace α] [PseudoEMetricSpace β]
    (K : NNReal) (f : α → β) : Prop
axiom LipschitzWith.of_dist_le_mul {α : Type u} {β : Type v} [PseudoMetricSpace α]
    [PseudoMetricSpace β] {K : NNReal} {f : α → β} :
    (∀ x y, dist (f x) (f y) ≤ K * dist x y) → LipschitzWith K f

/-! Logic/Function/Iterate, Dynamics/FixedPoints/Basic, Topology/MetricSpace/Contracting -/

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

/-! Topology/ContinuousMap/Bounded/Basic -/

axiom BoundedContinuousFunction (α : Type u) (β : Type v) [TopologicalSpace α]
    [PseudoMetricSpace β] : Type (max u v)
namespace BoundedContinuousFunction
variable {α : Type u} {β : Type v} [TopologicalSpace α] [MetricSpace β]
@[instance] axiom instCoeFun : CoeFun (BoundedContinuousFunction α β) fun _ => α → β
@[instance] axiom instMetricSpace : MetricSpace (BoundedContinuousFunction α β)
@[instance] axiom instCompleteSpace [CompleteSpace β] :
    CompleteSpace (BoundedContinuousFunction α β)
axiom const (α : Type u) {β : Type v} [TopologicalSpace α] [MetricSpace β] (b : β) :
    BoundedContinuousFunction α β
axiom dist_coe_le_dist {f g : BoundedContinuousFunction α β} (x : α) : dist (f x) (g x) ≤ dist f g
axiom dist_le {f g : BoundedContinuousFunction α β} {C : Real} (C0 : 0 ≤ C) :
    dist f g ≤ C ↔ ∀ x, dist (f x) (g x) ≤ C
end BoundedContinuousFunction

/-! MeasureTheory/Integral/Bochner, Probability/Kernel/Defs -/

axiom Set (α : Type u) : Type u
axiom Set.univ {α : Type u} : Set α
@[instance] axiom Real.instSMul : SMul Real Real
axiom smul_eq_mul (a b : Real) : a • b = a * b
class MeasurableSpace (α : Type u)
@[instance] axiom Prod.instMeasurableSpace {α : Type u} {β : Type v} [MeasurableSpace α]
    [MeasurableSpace β] : MeasurableSpace (α × β)
namespace MeasureTheory
axiom Measure (α : Type u) [MeasurableSpace α] : Type u
variable {α : Type u} [MeasurableSpace α]
axiom Measure.real (μ : Measure α) (s : Set α) : Real
class IsProbabilityMeasure (μ : Measure α) : Prop
axiom probReal_univ {μ : Measure α} [IsProbabilityMeasure μ] : μ.real Set.univ = 1
axiom Integrable (f : α → Real) (μ : Measure α) : Prop
axiom integral (μ : Measure α) (f : α → Real) : Real
variable {μ : Measure α} {f g : α → Real}
axiom integrable_const [IsProbabilityMeasure μ] (c : Real) : Integrable (fun _ => c) μ
axiom Integrable.add (hf : Integrable f μ) (hg : Integrable g μ) :
    Integrable (fun x => f x + g x) μ
axiom integral_add (hf : Integrable f μ) (hg : Integrable g μ) :
    integral μ (fun x => f x + g x) = integral μ f + integral μ g
axiom integral_const (c : Real) : integral μ (fun _ => c) = μ.real Set.univ • c
axiom integral_mono (hf : Integrable f μ) (hg : Integrable g μ) (h : ∀ x, f x ≤ g x) :
    integral μ f ≤ integral μ g
end MeasureTheory
namespace ProbabilityTheory
axiom Kernel (α : Type u) (β : Type v) [MeasurableSpace α] [MeasurableSpace β] : Type (max u v)
variable {α : Type u} {β : Type v} [MeasurableSpace α] [MeasurableSpace β]
@[instance] axiom Kernel.instCoeFun : CoeFun (Kernel α β) fun _ => α → MeasureTheory.Measure β
class IsMarkovKernel (κ : Kernel α β) : Prop where
  isProbabilityMeasure : ∀ a, MeasureTheory.IsProbabilityMeasure (κ a)
end ProbabilityTheory
