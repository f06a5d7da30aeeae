module

public section

/-!
# Stand-in for Mathlib

Signatures of the Mathlib declarations that the layer uses, so that the layer can be checked where
Mathlib is absent. Each part names the files of Mathlib, as of v4.28.0, that hold the declarations,
and says where it deviates. An `axiom` is taken on trust. Throughout, classes have only the fields
that the layer needs, definitions that it does not unfold are axioms, `Field`, `LinearOrder` and
`IsStrictOrderedRing` stand for weaker classes, and instances that Mathlib leaves unnamed have a
name. A build with Mathlib does not see this file.
-/

noncomputable section

universe u v w

/-! Order/Defs/PartialOrder, Order/Defs/LinearOrder, Order/Lattice, Order/Basic (`Pi.hasLe`) -/

class Preorder (α : Type u) extends LE α, LT α
class PartialOrder (α : Type u) extends Preorder α
class LinearOrder (α : Type u) extends PartialOrder α
@[instance] axiom Preorder.instLawfulOrderLT {α : Type u} [Preorder α] : Std.LawfulOrderLT α
@[instance] axiom LinearOrder.instIsLinearOrder {α : Type u} [LinearOrder α] : Std.IsLinearOrder α
@[instance] axiom LinearOrder.toDecidableLE {α : Type u} [LinearOrder α] : DecidableLE α
class SemilatticeSup (α : Type u) extends PartialOrder α
class Lattice (α : Type u) extends SemilatticeSup α
@[expose, reducible] instance (priority := 100) LinearOrder.toLattice {α : Type u}
    [LinearOrder α] : Lattice α :=
  { toPartialOrder := inferInstance }
@[expose, reducible] instance Pi.hasLe {ι : Type u} {π : ι → Type v} [∀ i, LE (π i)] :
    LE (∀ i, π i) where
  le x y := ∀ i, x i ≤ y i

/-! Algebra/Field/Defs, Algebra/Field/Basic (`Field.toGrindField`), Algebra/Group/Defs,
Algebra/Group/Action/Defs (`smul_eq_mul`), Algebra/Notation/Pi/Defs (`Pi.instMul`, of which
`Pi.instAdd` is the additive form), Algebra/Order/Ring/Defs, Algebra/Order/Group/Unbundled/Abs and
Algebra/Order/Group/Abs (`mabs`, `mabs_of_one_le`, `mabs_of_le_one`, `mabs_div_le_iff`)

A `Field` is here what core calls a field, in Mathlib a class of its own from which core's follows.
`Field.toAddCommMonoid` and `Field.toAddGroup` are there chains of parents. -/

class Field (K : Type u) where
  toGrindField : Lean.Grind.Field K
attribute [instance, reducible] Field.toGrindField
class AddCommMonoid (M : Type u) extends Add M, Zero M
class AddGroup (G : Type u) extends Add G, Sub G
@[expose, reducible] instance Field.toAddCommMonoid {K : Type u} [Field K] : AddCommMonoid K :=
  { zero := 0 }
@[expose, reducible] instance Field.toAddGroup {K : Type u} [Field K] : AddGroup K := {}
@[expose, reducible] instance Pi.instAdd {ι : Type u} {M : ι → Type v} [∀ i, Add (M i)] :
    Add (∀ i, M i) where
  add f g i := f i + g i
axiom smul_eq_mul {α : Type u} [Mul α] (a b : α) : a • b = a * b
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

/-! Data/Fintype/Defs, Data/Fintype/Basic (`Fin.fintype`), Data/Finset/Defs, Data/Finset/Empty
(`Finset.Nonempty`), Data/Finset/BooleanAlgebra (`Finset.univ_nonempty`)

A `Fintype` is in Mathlib a finite set with a proof that it holds every element. -/

class Fintype (α : Type u)
@[instance] axiom Fin.fintype (n : Nat) : Fintype (Fin n)
axiom Finset (α : Type u) : Type u
@[instance] axiom Finset.instMembership {α : Type u} : Membership α (Finset α)
@[expose] def Finset.Nonempty {α : Type u} (s : Finset α) : Prop := ∃ x, x ∈ s
axiom Finset.univ {α : Type u} [Fintype α] : Finset α
axiom Finset.mem_univ {α : Type u} [Fintype α] (x : α) : x ∈ (Finset.univ : Finset α)
axiom Finset.univ_nonempty {α : Type u} [Fintype α] [_root_.Nonempty α] :
    (Finset.univ : Finset α).Nonempty

/-! Algebra/BigOperators/Group/Finset/Defs and …/Basic (`Finset.prod`, `prod_mul_distrib`),
Algebra/BigOperators/Ring/Finset (`sum_mul`, `mul_sum`), Algebra/BigOperators/Fin
(`Fin.prod_univ_zero`, `Fin.prod_univ_succ`), Algebra/Order/BigOperators/Group/Finset
(`prod_le_prod'` gives `sum_le_sum`, `one_lt_prod` gives `sum_pos`)

Those on `prod` are stated for products; the layer uses the additive form that Mathlib generates. -/

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

/-! Data/Finset/Lattice/Fold -/

section
variable {α : Type u} {β : Type v} [SemilatticeSup α] {s : Finset β}
axiom Finset.sup' (s : Finset β) (H : s.Nonempty) (f : β → α) : α
axiom Finset.sup'_le (H : s.Nonempty) (f : β → α) {a : α} (hs : ∀ b, b ∈ s → f b ≤ a) :
    s.sup' H f ≤ a
axiom Finset.le_sup' (f : β → α) {b : β} (h : b ∈ s) : f b ≤ s.sup' ⟨b, h⟩ f
end

/-! Data/Real/Basic, Analysis/Complex/Exponential (`Real.exp`), Analysis/SpecialFunctions/Log/Basic,
Data/Real/Sqrt, Data/NNReal/Defs

In Mathlib `NNReal` derives its order and its one from ℝ. -/

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

/-! Topology/Defs/Basic, Topology/Constructions/SumProd, Topology/UniformSpace/Defs, …/Cauchy
(`CompleteSpace`), …/Pi, …/Real, Topology/EMetricSpace/Defs, …/Pi, Topology/MetricSpace/Pseudo/Defs,
…/Pseudo/Pi, Topology/MetricSpace/Defs, …/Basic (`Real.metricSpace`, `metricSpacePi`)

A function space has two extended metrics, one from those of its factors and one from its metric.
In Mathlib they are equal by unfolding, here for want of fields. `Pi.dist` names the distance that
is a field of `pseudoMetricSpacePi` there. -/

class TopologicalSpace (α : Type u)
@[instance] axiom instTopologicalSpaceProd {α : Type u} {β : Type v} [TopologicalSpace α]
    [TopologicalSpace β] : TopologicalSpace (α × β)
class UniformSpace (α : Type u)
class CompleteSpace (α : Type u) [UniformSpace α] : Prop
class PseudoEMetricSpace (α : Type u)
class EMetricSpace (α : Type u) extends PseudoEMetricSpace α
class Dist (α : Type u) where
  dist : α → α → Real
export Dist (dist)
class PseudoMetricSpace (α : Type u) extends Dist α, UniformSpace α
axiom dist_nonneg {α : Type u} [PseudoMetricSpace α] {x y : α} : 0 ≤ dist x y
@[expose, reducible] instance (priority := 100) PseudoMetricSpace.toPseudoEMetricSpace {α : Type u}
    [PseudoMetricSpace α] : PseudoEMetricSpace α := {}
@[instance] axiom Real.pseudoMetricSpace : PseudoMetricSpace Real
axiom Real.dist_eq (x y : Real) : dist x y = abs (x - y)
class MetricSpace (α : Type u) extends PseudoMetricSpace α
@[expose, reducible] instance (priority := 100) MetricSpace.toEMetricSpace {α : Type u}
    [MetricSpace α] : EMetricSpace α := { toPseudoEMetricSpace := inferInstance }
@[expose, reducible] instance Real.metricSpace : MetricSpace Real :=
  { toPseudoMetricSpace := Real.pseudoMetricSpace }
@[instance] axiom Real.instCompleteSpace : CompleteSpace Real
section
variable {β : Type u} {X : β → Type v}
@[expose, reducible] instance Pi.uniformSpace [∀ b, UniformSpace (X b)] :
    UniformSpace (∀ b, X b) := {}
@[instance] axiom Pi.complete [∀ b, UniformSpace (X b)] [∀ b, CompleteSpace (X b)] :
    CompleteSpace (∀ b, X b)
@[expose, reducible] instance pseudoEMetricSpacePi [Fintype β] [∀ b, PseudoEMetricSpace (X b)] :
    PseudoEMetricSpace (∀ b, X b) := {}
@[expose, reducible] instance emetricSpacePi [Fintype β] [∀ b, EMetricSpace (X b)] :
    EMetricSpace (∀ b, X b) := { toPseudoEMetricSpace := pseudoEMetricSpacePi }
axiom Pi.dist [Fintype β] [∀ b, PseudoMetricSpace (X b)] : (∀ b, X b) → (∀ b, X b) → Real
@[expose, reducible] instance pseudoMetricSpacePi [Fintype β] [∀ b, PseudoMetricSpace (X b)] :
    PseudoMetricSpace (∀ b, X b) := { dist := Pi.dist, toUniformSpace := Pi.uniformSpace }
@[expose, reducible] instance metricSpacePi [Fintype β] [∀ b, MetricSpace (X b)] :
    MetricSpace (∀ b, X b) := { toPseudoMetricSpace := pseudoMetricSpacePi }
axiom dist_pi_le_iff [Fintype β] [∀ b, PseudoMetricSpace (X b)] {f g : ∀ b, X b} {r : Real}
    (hr : 0 ≤ r) : dist f g ≤ r ↔ ∀ b, dist (f b) (g b) ≤ r
end

/-! Topology/EMetricSpace/Lipschitz, Topology/MetricSpace/Lipschitz -/

axiom LipschitzWith {α : Type u} {β : Type v} [PseudoEMetricSpace α] [PseudoEMetricSpace β]
    (K : NNReal) (f : α → β) : Prop
axiom LipschitzWith.of_dist_le_mul {α : Type u} {β : Type v} [PseudoMetricSpace α]
    [PseudoMetricSpace β] {K : NNReal} {f : α → β} :
    (∀ x y, dist (f x) (f y) ≤ K * dist x y) → LipschitzWith K f

/-! Logic/Function/Iterate, Logic/Function/Defs (`Function.IsFixedPt`),
Topology/MetricSpace/Contracting -/

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

/-! Data/FunLike/Basic, Topology/ContinuousMap/Bounded/Basic

In Mathlib a `DFunLike` is injective into functions, too. -/

class DFunLike (F : Sort u) (α : outParam (Sort v)) (β : outParam (α → Sort w)) where
  coe : F → ∀ a : α, β a
@[expose] abbrev FunLike (F : Sort u) (α : Sort v) (β : Sort w) := DFunLike F α fun _ => β
@[expose, reducible] instance (priority := 100) DFunLike.hasCoeToFun {F : Sort u} {α : Sort v}
    {β : α → Sort w} [DFunLike F α β] : CoeFun F fun _ => ∀ a : α, β a where
  coe := @DFunLike.coe _ _ β _
axiom BoundedContinuousFunction (α : Type u) (β : Type v) [TopologicalSpace α]
    [PseudoMetricSpace β] : Type (max u v)
namespace BoundedContinuousFunction
variable {α : Type u} {β : Type v} [TopologicalSpace α] [PseudoMetricSpace β]
@[instance] axiom instFunLike : FunLike (BoundedContinuousFunction α β) α β
@[instance] axiom instPseudoMetricSpace : PseudoMetricSpace (BoundedContinuousFunction α β)
@[expose, reducible] instance instMetricSpace {β : Type v} [MetricSpace β] :
    MetricSpace (BoundedContinuousFunction α β) := { toPseudoMetricSpace := instPseudoMetricSpace }
@[instance] axiom instCompleteSpace [CompleteSpace β] :
    CompleteSpace (BoundedContinuousFunction α β)
axiom const (α : Type u) {β : Type v} [TopologicalSpace α] [PseudoMetricSpace β] (b : β) :
    BoundedContinuousFunction α β
axiom dist_coe_le_dist {f g : BoundedContinuousFunction α β} (x : α) : dist (f x) (g x) ≤ dist f g
axiom dist_le {f g : BoundedContinuousFunction α β} {C : Real} (C0 : 0 ≤ C) :
    dist f g ≤ C ↔ ∀ x, dist (f x) (g x) ≤ C
end BoundedContinuousFunction

/-! Data/Set/Defs, MeasureTheory/MeasurableSpace/Defs, …/Constructions,
MeasureTheory/Measure/MeasureSpaceDef (`Measure.real`), …/Typeclasses/Finite, …/Probability,
MeasureTheory/Function/L1Space/Integrable, MeasureTheory/Integral/Bochner/Basic,
Probability/Kernel/Defs

Integrands have values in ℝ here, in Mathlib in a normed space, ordered for `integral_mono`. That
a probability measure is finite is there two instances. -/

axiom Set (α : Type u) : Type u
axiom Set.univ {α : Type u} : Set α
class MeasurableSpace (α : Type u)
@[instance] axiom Prod.instMeasurableSpace {α : Type u} {β : Type v} [MeasurableSpace α]
    [MeasurableSpace β] : MeasurableSpace (α × β)
namespace MeasureTheory
axiom Measure (α : Type u) [MeasurableSpace α] : Type u
variable {α : Type u} [MeasurableSpace α]
axiom Measure.real (μ : Measure α) (s : Set α) : Real
class IsProbabilityMeasure (μ : Measure α) : Prop
class IsFiniteMeasure (μ : Measure α) : Prop
@[instance] axiom IsProbabilityMeasure.toIsFiniteMeasure (μ : Measure α)
    [IsProbabilityMeasure μ] : IsFiniteMeasure μ
axiom probReal_univ {μ : Measure α} [IsProbabilityMeasure μ] : μ.real Set.univ = 1
axiom Integrable (f : α → Real) (μ : Measure α) : Prop
axiom integral (μ : Measure α) (f : α → Real) : Real
variable {μ : Measure α} {f g : α → Real}
axiom integrable_const [IsFiniteMeasure μ] (c : Real) : Integrable (fun _ => c) μ
axiom Integrable.add (hf : Integrable f μ) (hg : Integrable g μ) : Integrable (f + g) μ
axiom integral_add (hf : Integrable f μ) (hg : Integrable g μ) :
    integral μ (fun x => f x + g x) = integral μ f + integral μ g
axiom integral_const (c : Real) : integral μ (fun _ => c) = μ.real Set.univ • c
axiom integral_mono (hf : Integrable f μ) (hg : Integrable g μ) (h : f ≤ g) :
    integral μ f ≤ integral μ g
end MeasureTheory
namespace ProbabilityTheory
axiom Kernel (α : Type u) (β : Type v) [MeasurableSpace α] [MeasurableSpace β] : Type (max u v)
variable {α : Type u} {β : Type v} [MeasurableSpace α] [MeasurableSpace β]
@[instance] axiom Kernel.instFunLike : FunLike (Kernel α β) α (MeasureTheory.Measure β)
class IsMarkovKernel (κ : Kernel α β) : Prop where
  isProbabilityMeasure : ∀ a, MeasureTheory.IsProbabilityMeasure (κ a)
end ProbabilityTheory
