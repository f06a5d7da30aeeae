module

public section

/-!
# Stand-in for Mathlib

Declarations of Mathlib that the layer uses, so that the layer can be checked where Mathlib is absent. The class
hierarchy at `ℝ` is Mathlib's own, as of v4.28.0: what extends what, which operation comes from where, what is an
instance by which name and priority, what unfolds. Proofs of propositions are taken on trust: `trusted`, which
proves anything, or an `axiom`; so are the operations of `ℝ` themselves. Classes of properties that the layer only
passes on have `True` for a field. No file of the layer may name `trusted`. A build with Mathlib does not see this
file.
-/

noncomputable section

universe u v w

axiom trusted {p : Prop} : p

/-! order -/
class Preorder (α : Type u) extends LE α, LT α where
  protected le_refl : ∀ a : α, a ≤ a
  protected le_trans : ∀ a b c : α, a ≤ b → b ≤ c → a ≤ c
  lt := fun a b => a ≤ b ∧ ¬b ≤ a
  protected lt_iff_le_not_ge : ∀ a b : α, a < b ↔ a ≤ b ∧ ¬b ≤ a := by intros; rfl
instance {α : Type u} [Preorder α] : Std.LawfulOrderLT α where
  lt_iff := Preorder.lt_iff_le_not_ge
instance {α : Type u} [Preorder α] : Std.IsPreorder α where
  le_refl := Preorder.le_refl
  le_trans := Preorder.le_trans
class PartialOrder (α : Type u) extends Preorder α where
  protected le_antisymm : ∀ a b : α, a ≤ b → b ≤ a → a = b
instance {α : Type u} [PartialOrder α] : Std.IsPartialOrder α where
  le_antisymm := PartialOrder.le_antisymm
class LinearOrder (α : Type u) extends PartialOrder α, Min α, Max α, Ord α where
  protected le_total (a b : α) : a ≤ b ∨ b ≤ a
  toDecidableLE : DecidableLE α
  toDecidableEq : DecidableEq α
  toDecidableLT : DecidableLT α
attribute [instance 900] LinearOrder.toDecidableLT
attribute [instance 900] LinearOrder.toDecidableLE
attribute [instance 900] LinearOrder.toDecidableEq
instance {α : Type u} [LinearOrder α] : Std.IsLinearOrder α where
  le_total := LinearOrder.le_total
class SemilatticeSup (α : Type u) extends PartialOrder α where
  sup : α → α → α
  protected le_sup_left : ∀ a b : α, a ≤ sup a b
@[expose] instance SemilatticeSup.toMax {α : Type u} [SemilatticeSup α] : Max α where
  max a b := SemilatticeSup.sup a b
class SemilatticeInf (α : Type u) extends PartialOrder α where
  inf : α → α → α
class Lattice (α : Type u) extends SemilatticeSup α, SemilatticeInf α
class DistribLattice (α : Type u) extends Lattice α
@[expose, reducible] instance (priority := 100) LinearOrder.toLattice {α : Type u}
    [LinearOrder α] : Lattice α where
  sup := max
  inf := min
  le_sup_left := trusted
@[expose] instance Pi.hasLe {ι : Type u} {π : ι → Type v} [∀ i, LE (π i)] :
    LE (∀ i, π i) where
  le x y := ∀ i, x i ≤ y i
@[expose] instance Pi.preorder {ι : Type u} {π : ι → Type v} [∀ i, Preorder (π i)] : Preorder (∀ i, π i) where
  toLE := inferInstanceAs (LE (∀ i, π i))
  le_refl := fun a i => Preorder.le_refl (a i)
  le_trans := fun _ _ _ h₁ h₂ i => Preorder.le_trans _ _ _ (h₁ i) (h₂ i)

@[grind =] theorem max_def {α : Type u} [LinearOrder α] (a b : α) : max a b = if a ≤ b then b else a := trusted
@[grind =] theorem min_def {α : Type u} [LinearOrder α] (a b : α) : min a b = if a ≤ b then a else b := trusted

/-! algebra -/
class AddSemigroup (G : Type u) extends Add G where
  protected add_assoc : ∀ a b c : G, a + b + c = a + (b + c)
class Semigroup (G : Type u) extends Mul G where
  protected mul_assoc : ∀ a b c : G, a * b * c = a * (b * c)
class AddCommMagma (G : Type u) extends Add G where
  protected add_comm : ∀ a b : G, a + b = b + a
class CommMagma (G : Type u) extends Mul G where
  protected mul_comm : ∀ a b : G, a * b = b * a
class AddCommSemigroup (G : Type u) extends AddSemigroup G, AddCommMagma G
class CommSemigroup (G : Type u) extends Semigroup G, CommMagma G
class AddZeroClass (M : Type u) extends Zero M, Add M where
  protected zero_add : ∀ a : M, 0 + a = a
  protected add_zero : ∀ a : M, a + 0 = a
class MulOneClass (M : Type u) extends One M, Mul M where
  protected one_mul : ∀ a : M, 1 * a = a
  protected mul_one : ∀ a : M, a * 1 = a
class AddMonoid (M : Type u) extends AddSemigroup M, AddZeroClass M where
  protected nsmul : Nat → M → M
class Monoid (M : Type u) extends Semigroup M, MulOneClass M where
  protected npow : Nat → M → M
@[default_instance high, expose] instance Monoid.Pow {M : Type u} [Monoid M] : Pow M Nat :=
  ⟨fun x n => Monoid.npow n x⟩
@[expose] instance AddMonoid.toNSMul {M : Type u} [AddMonoid M] : SMul Nat M := ⟨AddMonoid.nsmul⟩
class AddCommMonoid (M : Type u) extends AddMonoid M, AddCommSemigroup M
class CommMonoid (M : Type u) extends Monoid M, CommSemigroup M
class DivInvMonoid (G : Type u) extends Monoid G, Inv G, Div G where
  protected zpow : Int → G → G
@[expose] instance DivInvMonoid.toZPow {M : Type u} [DivInvMonoid M] : Pow M Int :=
  ⟨fun x n => DivInvMonoid.zpow n x⟩
class SubNegMonoid (G : Type u) extends AddMonoid G, Neg G, Sub G where
  protected zsmul : Int → G → G
@[expose] instance SubNegMonoid.toZSMul {M : Type u} [SubNegMonoid M] : SMul Int M := ⟨SubNegMonoid.zsmul⟩
class AddGroup (A : Type u) extends SubNegMonoid A where
  protected neg_add_cancel : ∀ a : A, -a + a = 0
class AddCommGroup (G : Type u) extends AddGroup G, AddCommMonoid G
class Distrib (R : Type u) extends Mul R, Add R where
  protected left_distrib : ∀ a b c : R, a * (b + c) = a * b + a * c
  protected right_distrib : ∀ a b c : R, (a + b) * c = a * c + b * c
class MulZeroClass (M₀ : Type u) extends Mul M₀, Zero M₀ where
  zero_mul : ∀ a : M₀, 0 * a = 0
  mul_zero : ∀ a : M₀, a * 0 = 0
class SemigroupWithZero (S₀ : Type u) extends Semigroup S₀, MulZeroClass S₀
class MulZeroOneClass (M₀ : Type u) extends MulOneClass M₀, MulZeroClass M₀
class MonoidWithZero (M₀ : Type u) extends Monoid M₀, MulZeroOneClass M₀, SemigroupWithZero M₀
class AddMonoidWithOne (R : Type u) extends NatCast R, AddMonoid R, One R where
  natCast_zero : natCast 0 = 0
  natCast_succ : ∀ n, natCast (n + 1) = natCast n + 1
class AddCommMonoidWithOne (R : Type u) extends AddMonoidWithOne R, AddCommMonoid R
class AddGroupWithOne (R : Type u) extends IntCast R, AddMonoidWithOne R, AddGroup R
class NonUnitalNonAssocSemiring (α : Type u) extends AddCommMonoid α, Distrib α, MulZeroClass α
class NonUnitalSemiring (α : Type u) extends NonUnitalNonAssocSemiring α, SemigroupWithZero α
class NonAssocSemiring (α : Type u) extends NonUnitalNonAssocSemiring α, MulZeroOneClass α,
    AddCommMonoidWithOne α
class Semiring (α : Type u) extends NonUnitalSemiring α, NonAssocSemiring α, MonoidWithZero α
class Ring (R : Type u) extends Semiring R, AddCommGroup R, AddGroupWithOne R
class CommSemiring (R : Type u) extends Semiring R, CommMonoid R
class CommRing (α : Type u) extends Ring α, CommMonoid α
@[expose] instance (priority := 100) CommRing.toCommSemiring {α : Type u} [s : CommRing α] : CommSemiring α := { s with }
class Nontrivial (α : Type u) : Prop where
  exists_pair_ne : ∃ x y : α, x ≠ y
class DivisionRing (K : Type u) extends Ring K, DivInvMonoid K, Nontrivial K where
  protected inv_zero : (0 : K)⁻¹ = 0
class Field (K : Type u) extends CommRing K, DivisionRing K

class Nat.AtLeastTwo (n : Nat) : Prop where
  prop : n ≥ 2
instance Nat.instAtLeastTwo (n : Nat) [NeZero n] : (n + 1).AtLeastTwo := ⟨trusted⟩
@[expose] instance (priority := 100) instOfNatAtLeastTwo {R : Type u} {n : Nat} [NatCast R] [Nat.AtLeastTwo n] :
    OfNat R n := ⟨Nat.cast (OfNat.ofNat n)⟩

@[expose] instance (priority := 100) Semiring.toGrindSemiring (α : Type u) [s : Semiring α] :
    Lean.Grind.Semiring α :=
  { s with
    nsmul := ⟨s.nsmul⟩
    npow := ⟨fun a n => a^n⟩
    ofNat | 0 | 1 | _ + 2 => inferInstance
    natCast := inferInstance
    add_zero := trusted
    add_assoc := trusted
    add_comm := trusted
    mul_assoc := trusted
    mul_one := trusted
    one_mul := trusted
    left_distrib := trusted
    right_distrib := trusted
    zero_mul := trusted
    mul_zero := trusted
    pow_zero := trusted
    pow_succ := trusted
    ofNat_eq_natCast := trusted
    ofNat_succ := trusted
    nsmul_eq_natCast_mul := trusted }
@[expose] instance (priority := 100) Ring.toGrindRing (α : Type u) [s : Ring α] :
    Lean.Grind.Ring α :=
  { s, Semiring.toGrindSemiring α with
    nsmul := ⟨s.nsmul⟩
    npow := ⟨fun a n => a^n⟩
    zsmul := ⟨s.zsmul⟩
    natCast := inferInstance
    intCast := inferInstance
    sub_eq_add_neg := trusted
    neg_zsmul := trusted
    neg_add_cancel := trusted
    intCast_ofNat := trusted
    intCast_neg := trusted
    zsmul_natCast_eq_nsmul := trusted }
@[expose] instance (priority := 100) CommSemiring.toGrindCommSemiring (α : Type u) [s : CommSemiring α] :
    Lean.Grind.CommSemiring α :=
  { Semiring.toGrindSemiring α with
    mul_comm := trusted }
@[expose] instance (priority := 100) CommRing.toGrindCommRing (α : Type u) [s : CommRing α] :
    Lean.Grind.CommRing α :=
  { Ring.toGrindRing α with
    mul_comm := trusted }
@[expose] instance (priority := 100) Field.toGrindField {K : Type u} [Field K] : Lean.Grind.Field K :=
  { CommRing.toGrindCommRing K, ‹Field K› with
    inv a := a⁻¹
    zpow := ⟨fun a n => a^n⟩
    div_eq_mul_inv := trusted
    inv_zero := trusted
    mul_inv_cancel := trusted
    zpow_zero := trusted
    zpow_succ := trusted
    zpow_neg := trusted
    zero_ne_one := trusted }

class IsOrderedAddMonoid (α : Type u) [AddCommMonoid α] [PartialOrder α] : Prop where
  protected add_le_add_left : ∀ a b : α, a ≤ b → ∀ c, a + c ≤ b + c
class IsOrderedCancelAddMonoid (α : Type u) [AddCommMonoid α] [PartialOrder α] : Prop extends
    IsOrderedAddMonoid α
class IsStrictOrderedRing (R : Type u) [Semiring R] [PartialOrder R] : Prop extends
    IsOrderedCancelAddMonoid R, Nontrivial R
instance {R : Type u} [Semiring R] [PartialOrder R] [IsStrictOrderedRing R] : Lean.Grind.OrderedRing R := trusted'
  where trusted' : Lean.Grind.OrderedRing R := trusted
@[expose] instance Mul.toSMul (α : Type u) [Mul α] : SMul α α := ⟨Mul.mul⟩
theorem smul_eq_mul {α : Type u} [Mul α] (a b : α) : a • b = a * b := rfl
@[expose] instance Pi.instAdd {ι : Type u} {M : ι → Type v} [∀ i, Add (M i)] :
    Add (∀ i, M i) where
  add f g i := f i + g i

@[expose, grind] def abs {α : Type u} [Lattice α] [AddGroup α] (a : α) : α := max a (-a)
section
variable {α : Type u} [AddCommGroup α] [LinearOrder α] [IsOrderedAddMonoid α] {a b c : α}
axiom abs_sub_le_iff : abs (a - b) ≤ c ↔ a - b ≤ c ∧ b - a ≤ c
end
section
variable {α : Type u} [Lattice α] [AddGroup α] {a b c : α}
axiom abs_of_nonneg (h : 0 ≤ a) : abs a = a
axiom abs_of_nonpos (h : a ≤ 0) : abs a = -a
end

/-! finsets -/
structure Finset (α : Type u) where
  mem : α → Prop
@[expose] instance Finset.instMembership {α : Type u} : Membership α (Finset α) := ⟨fun s a => s.mem a⟩
class Fintype (α : Type u) where
  elems : Finset α
  complete : ∀ x : α, x ∈ elems
instance Fin.fintype (n : Nat) : Fintype (Fin n) := ⟨⟨fun _ => True⟩, trusted⟩
@[expose] protected def Finset.Nonempty {α : Type u} (s : Finset α) : Prop := ∃ x : α, x ∈ s
@[expose] def Finset.univ {α : Type u} [Fintype α] : Finset α := Fintype.elems
@[simp, grind ←] theorem Finset.mem_univ {α : Type u} [Fintype α] (x : α) : x ∈ (Finset.univ : Finset α) := Fintype.complete x
axiom Finset.univ_nonempty {α : Type u} [Fintype α] [_root_.Nonempty α] :
    (Finset.univ : Finset α).Nonempty
axiom Finset.sum {ι : Type u} {M : Type v} [AddCommMonoid M] (s : Finset ι) (f : ι → M) : M
section
variable {ι : Type u} {R : Type v} {s : Finset ι} {f g : ι → R}
axiom Finset.sum_add_distrib [AddCommMonoid R] : s.sum (fun i => f i + g i) = s.sum (fun i => f i) + s.sum (fun i => g i)
axiom Finset.sum_mul [NonUnitalNonAssocSemiring R] (s : Finset ι) (f : ι → R) (b : R) : s.sum (fun i => f i) * b = s.sum fun i => f i * b
axiom Finset.mul_sum [NonUnitalNonAssocSemiring R] (s : Finset ι) (f : ι → R) (b : R) : b * s.sum (fun i => f i) = s.sum fun i => b * f i
axiom Fin.sum_univ_zero [AddCommMonoid R] (f : Fin 0 → R) : Finset.univ.sum (fun i => f i) = 0
axiom Fin.sum_univ_succ [AddCommMonoid R] {n : Nat} (f : Fin (n + 1) → R) :
    Finset.univ.sum (fun i => f i) = f 0 + Finset.univ.sum fun i : Fin n => f i.succ
class AddLeftMono (N : Type u) [Add N] [LE N] : Prop
instance {N : Type u} [AddCommMonoid N] [PartialOrder N] [IsOrderedAddMonoid N] : AddLeftMono N := ⟨⟩
axiom Finset.sum_le_sum [AddCommMonoid R] [Preorder R] [AddLeftMono R] (h : ∀ i ∈ s, f i ≤ g i) : s.sum (fun i => f i) ≤ s.sum (fun i => g i)
axiom Finset.sum_pos [AddCommMonoid R] [PartialOrder R] [IsOrderedCancelAddMonoid R] (h : ∀ i ∈ s, 0 < f i) (hs : s.Nonempty) : 0 < s.sum (fun i => f i)
end
section
variable {α : Type u} {β : Type v} [SemilatticeSup α]
axiom Finset.sup' (s : Finset β) (H : s.Nonempty) (f : β → α) : α
variable {s : Finset β} (H : s.Nonempty) (f : β → α)
axiom Finset.sup'_le_iff {a : α} : s.sup' H f ≤ a ↔ ∀ b ∈ s, f b ≤ a
theorem Finset.sup'_le {α : Type u} {β : Type v} [SemilatticeSup α] {s : Finset β} (H : s.Nonempty) (f : β → α) {a : α} : (∀ b ∈ s, f b ≤ a) → s.sup' H f ≤ a := (Finset.sup'_le_iff H f).2
axiom Finset.le_sup' {b : β} (h : b ∈ s) : f b ≤ s.sup' ⟨b, h⟩ f
end

/-! ℝ -/
axiom Real : Type
axiom Real.ax.zero : Real
axiom Real.ax.one : Real
axiom Real.ax.add : Real → Real → Real
axiom Real.ax.mul : Real → Real → Real
axiom Real.ax.neg : Real → Real
axiom Real.ax.inv : Real → Real
axiom Real.ax.le : Real → Real → Prop
axiom Real.ax.lt : Real → Real → Prop
axiom Real.ax.max : Real → Real → Real
axiom Real.ax.min : Real → Real → Real
axiom Real.ax.ofNat : Nat → Real
axiom Real.ax.ofInt : Int → Real
axiom Real.ax.npow : Nat → Real → Real
axiom Real.ax.nsmul : Nat → Real → Real
axiom Real.ax.zsmul : Int → Real → Real
namespace Real
@[expose] instance : Zero Real := ⟨Real.ax.zero⟩
@[expose] instance : One Real := ⟨Real.ax.one⟩
@[expose] instance : Add Real := ⟨Real.ax.add⟩
@[expose] instance : Neg Real := ⟨Real.ax.neg⟩
@[expose] instance : Mul Real := ⟨Real.ax.mul⟩
@[expose] instance : Sub Real := ⟨fun a b => a + -b⟩
@[expose] instance : Inv Real := ⟨Real.ax.inv⟩
@[expose] instance instNatCast : NatCast Real where natCast n := Real.ax.ofNat n
@[expose] instance instIntCast : IntCast Real where intCast n := Real.ax.ofInt n
@[expose] instance commRing : CommRing Real where
  natCast n := Real.ax.ofNat n
  intCast n := Real.ax.ofInt n
  npow := Real.ax.npow
  nsmul := Real.ax.nsmul
  zsmul := Real.ax.zsmul
  add_zero := trusted
  zero_add := trusted
  add_comm := trusted
  add_assoc := trusted
  mul_zero := trusted
  zero_mul := trusted
  mul_one := trusted
  one_mul := trusted
  mul_comm := trusted
  mul_assoc := trusted
  left_distrib := trusted
  right_distrib := trusted
  neg_add_cancel := trusted
  natCast_zero := trusted
  natCast_succ := trusted
@[expose] instance instRing : Ring Real := by infer_instance
@[expose] instance : CommSemiring Real := by infer_instance
@[expose] instance semiring : Semiring Real := by infer_instance
@[expose] instance : AddCommGroup Real := by infer_instance
@[expose] instance : AddGroup Real := by infer_instance
@[expose] instance : AddCommMonoid Real := by infer_instance
@[expose] instance : AddMonoid Real := by infer_instance
@[expose] instance : Monoid Real := by infer_instance
@[expose] instance : LT Real := ⟨Real.ax.lt⟩
@[expose] instance : LE Real := ⟨Real.ax.le⟩
@[expose] instance partialOrder : PartialOrder Real where
  le := (· ≤ ·)
  lt := (· < ·)
  lt_iff_le_not_ge := trusted
  le_refl := trusted
  le_trans := trusted
  le_antisymm := trusted
@[expose] instance : Preorder Real := by infer_instance
instance instIsOrderedAddMonoid : IsOrderedAddMonoid Real := trusted
instance instIsStrictOrderedRing : IsStrictOrderedRing Real := trusted
instance instIsOrderedCancelAddMonoid : IsOrderedCancelAddMonoid Real := trusted
@[expose] instance : Max Real := ⟨Real.ax.max⟩
@[expose] instance : Min Real := ⟨Real.ax.min⟩
@[expose] instance : DistribLattice Real where
  sup := (max · ·)
  inf := (min · ·)
  le_sup_left := trusted
@[expose] instance lattice : Lattice Real := inferInstance
@[expose] instance : SemilatticeSup Real := inferInstance
axiom ax.decLE : DecidableLE Real
axiom ax.decLT : DecidableLT Real
axiom ax.decEq : DecidableEq Real
axiom ax.ord : Ord Real
@[expose] instance linearOrder : LinearOrder Real where
  toPartialOrder := Real.partialOrder
  toMin := inferInstance
  toMax := inferInstance
  toOrd := Real.ax.ord
  le_total := trusted
  toDecidableLE := Real.ax.decLE
  toDecidableEq := Real.ax.decEq
  toDecidableLT := Real.ax.decLT
axiom ax.zpow : Int → Real → Real
@[expose] instance instDivInvMonoid : DivInvMonoid Real where
  div := fun a b => a * b⁻¹
  zpow := Real.ax.zpow
@[expose] instance instField : Field Real where
  exists_pair_ne := trusted
  inv_zero := trusted
@[expose] instance decidableLT (a b : Real) : Decidable (a < b) := by infer_instance
@[expose] instance decidableLE (a b : Real) : Decidable (a ≤ b) := by infer_instance
end Real
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
@[expose] instance metricSpacePi [Fintype β] [∀ b, MetricSpace (X b)] :
    MetricSpace (∀ b, X b) := .ofT0PseudoMetricSpace _
axiom dist_pi_le_iff [Fintype β] [∀ b, PseudoMetricSpace (X b)] {f g : ∀ b, X b} {r : Real}
    (hr : 0 ≤ r) : dist f g ≤ r ↔ ∀ b, dist (f b) (g b) ≤ r
end

/-! norms: a second way to every metric -/
class Norm (E : Type u) where
  norm : E → Real
class SeminormedAddGroup (E : Type u) extends Norm E, AddGroup E, PseudoMetricSpace E where
  dist_eq : ∀ x y : E, dist x y = norm (-x + y)
class SeminormedAddCommGroup (E : Type u) extends Norm E, AddCommGroup E, PseudoMetricSpace E where
  dist_eq : ∀ x y : E, dist x y = norm (-x + y)
class NormedAddGroup (E : Type u) extends Norm E, AddGroup E, MetricSpace E where
  dist_eq : ∀ x y : E, dist x y = norm (-x + y)
class NormedAddCommGroup (E : Type u) extends Norm E, AddCommGroup E, MetricSpace E where
  dist_eq : ∀ x y : E, dist x y = norm (-x + y)
@[expose] instance (priority := 100) NormedAddGroup.toSeminormedAddGroup {E : Type u} [s : NormedAddGroup E] : SeminormedAddGroup E := { s with dist_eq := trusted }
@[expose] instance (priority := 100) NormedAddCommGroup.toSeminormedAddCommGroup {E : Type u} [s : NormedAddCommGroup E] : SeminormedAddCommGroup E := { s with dist_eq := trusted }
@[expose] instance (priority := 100) SeminormedAddCommGroup.toSeminormedAddGroup {E : Type u} [s : SeminormedAddCommGroup E] : SeminormedAddGroup E := { s with dist_eq := trusted }
@[expose] instance (priority := 100) NormedAddCommGroup.toNormedAddGroup {E : Type u} [s : NormedAddCommGroup E] : NormedAddGroup E := { s with dist_eq := trusted }
@[expose] instance Real.norm : Norm Real where norm r := abs r
@[expose] instance Real.normedAddCommGroup : NormedAddCommGroup Real := ⟨trusted⟩
section
variable {ι : Type u} {G : ι → Type v}
@[expose] instance Pi.addCommGroup [∀ i, AddCommGroup (G i)] : AddCommGroup (∀ i, G i) where
  add f g i := f i + g i
  zero _ := 0
  neg f i := - f i
  sub f g i := f i - g i
  nsmul n f i := AddMonoid.nsmul n (f i)
  zsmul n f i := SubNegMonoid.zsmul n (f i)
  add_assoc := trusted
  zero_add := trusted
  add_zero := trusted
  add_comm := trusted
  neg_add_cancel := trusted
@[expose] instance Pi.seminormedAddCommGroup [Fintype ι] [∀ i, SeminormedAddCommGroup (G i)] : SeminormedAddCommGroup (∀ i, G i) :=
  { Pi.addCommGroup, pseudoMetricSpacePi with
    norm f := ax.supR fun b => Norm.norm (f b)
    dist_eq := trusted }
@[expose] instance Pi.normedAddCommGroup [Fintype ι] [∀ i, NormedAddCommGroup (G i)] : NormedAddCommGroup (∀ i, G i) :=
  { Pi.seminormedAddCommGroup, metricSpacePi with dist_eq := trusted }
end
class NormedSpace (𝕜 : Type u) (E : Type v) [Field 𝕜] [SeminormedAddCommGroup E] extends SMul 𝕜 E
@[expose] instance NormedField.toNormedSpace : NormedSpace Real Real where
  smul := Mul.mul

/-! Lipschitz -/
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

class DFunLike (F : Sort u) (α : outParam (Sort v)) (β : outParam (α → Sort w)) where
  coe : F → ∀ a : α, β a
  coe_injective' : ∀ f g, coe f = coe g → f = g
@[expose] abbrev FunLike (F : Sort u) (α : Sort v) (β : Sort w) := DFunLike F α fun _ => β
@[expose, reducible] instance (priority := 100) DFunLike.hasCoeToFun {F : Sort u} {α : Sort v}
    {β : α → Sort w} [DFunLike F α β] : CoeFun F fun _ => ∀ a : α, β a where
  coe := @DFunLike.coe _ _ β _
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

@[expose] def Set (α : Type u) : Type u := α → Prop
@[expose] def Set.univ {α : Type u} : Set α := fun _ => True
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
namespace ProbabilityTheory
structure Kernel (α : Type u) (β : Type v) [MeasurableSpace α] [MeasurableSpace β] where
  toFun : α → MeasureTheory.Measure β
variable {α : Type u} {β : Type v} {mα : MeasurableSpace α} {mβ : MeasurableSpace β}
@[expose] instance Kernel.instFunLike : FunLike (Kernel α β) α (MeasureTheory.Measure β) := ⟨Kernel.toFun, trusted⟩
class IsMarkovKernel (κ : Kernel α β) : Prop where
  isProbabilityMeasure : ∀ a, MeasureTheory.IsProbabilityMeasure (κ a)
end ProbabilityTheory

/-! Data/Set/Operations (`Set.range`), Order/Bounds/Defs, Order/SetNotation, and
Order/ConditionallyCompleteLattice/Defs, …/Indexed -/
@[expose] instance Set.instMembership {α : Type u} : Membership α (Set α) := ⟨fun s a => s a⟩
@[expose] def Set.range {α : Type u} {ι : Sort v} (f : ι → α) : Set α := fun x => ∃ y, f y = x
@[expose] def Set.Nonempty {α : Type u} (s : Set α) : Prop := ∃ x, x ∈ s
@[expose] def lowerBounds {α : Type u} [LE α] (s : Set α) : Set α := fun x => ∀ ⦃a⦄, a ∈ s → x ≤ a
@[expose] def BddBelow {α : Type u} [LE α] (s : Set α) : Prop := Set.Nonempty (lowerBounds s)
class InfSet (α : Type u) where
  sInf : Set α → α
class ConditionallyCompleteLattice (α : Type u) extends Lattice α, InfSet α
@[expose] def iInf {α : Type u} {ι : Sort v} [InfSet α] (s : ι → α) : α := InfSet.sInf (Set.range s)
axiom Real.ax.sInf : Set Real → Real
@[expose, reducible] instance Real.instConditionallyCompleteLattice :
    ConditionallyCompleteLattice Real where
  toLattice := LinearOrder.toLattice
  sInf := Real.ax.sInf
section
variable {α : Type u} {ι : Sort v} [ConditionallyCompleteLattice α] {f : ι → α} {a : α}
axiom ciInf_le (H : BddBelow (Set.range f)) (c : ι) : iInf f ≤ f c
axiom le_ciInf [Nonempty ι] (H : ∀ x, a ≤ f x) : a ≤ iInf f
end
