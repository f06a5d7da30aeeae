module

public import Mathlib.Trusted

public section

/-! Orders, groups, rings, fields, and what `grind` takes them for. -/

noncomputable section

universe u v w

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
