module

public import Mathlib.Algebra.Order.Ring.Defs
public import Mathlib.Order.ConditionallyCompleteLattice.Indexed

public section

/-! ℝ, with its order and its infima. -/

noncomputable section

universe u v w

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
axiom Real.ax.sInf : Set Real → Real
@[expose, reducible] instance Real.instConditionallyCompleteLattice :
    ConditionallyCompleteLattice Real where
  toLattice := LinearOrder.toLattice
  sInf := Real.ax.sInf
