module

public import Mathlib.Topology.MetricSpace.Basic

public section

/-! Norms: a second way to every metric, which the first must agree with. -/

noncomputable section

universe u v w

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
