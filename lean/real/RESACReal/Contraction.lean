module

public import RESAC.Contraction.FixedPoint
public import Mathlib.Algebra.Field.Basic
public import Mathlib.Algebra.Order.Ring.Defs
public import Mathlib.Topology.MetricSpace.Basic
public import Mathlib.Topology.MetricSpace.Contracting
public import Mathlib.Topology.MetricSpace.Pseudo.Pi
public import Mathlib.Topology.UniformSpace.Real

public section

/-!
# The REV backup in Mathlib's terms

For finite `S` and `A`, any monetary `E` and `V` and any frozen penalty, on `S → A → ℝ` with the sup
metric. Appendix E, Theorem (RE-SAC Contraction); C11.

## Main statements
* `contractingWith_of_modulus`: the core's `Modulus T γ` is Mathlib's `ContractingWith γ T`.
* `rev_contractingWith`, `revNext_contractingWith`: both forms of the backup.
* `rev_fixedPoint`: it exists and is unique, with Mathlib's a-priori and a-posteriori estimates.
* `rev_fixedPoint_dist`: it moves by at most `γ/(1-γ)` times the change of the penalty.
* `rev_fixedPoint_antitone`: more penalty, less value.
-/

noncomputable section

namespace RESAC.Reals

universe u v

variable {S : Type u} {A : Type v} [Fintype S] [Fintype A]

/-- The core's pointwise distance is the metric of `ℝ`. -/
theorem within_iff_dist {ε x y : Real} : Within ε x y ↔ dist x y ≤ ε := by
  rw [Real.dist_eq, abs_sub_le_iff]
  unfold Within
  constructor
  · intro h; exact ⟨by grind, by grind⟩
  · intro h; exact ⟨by grind, by grind⟩

/-- Pointwise on finite sets, it is the sup metric. -/
theorem near_iff_dist {ε : Real} (hε : 0 ≤ ε) {Q₁ Q₂ : S → A → Real} :
    near ε Q₁ Q₂ ↔ dist Q₁ Q₂ ≤ ε :=
  ⟨fun h => (dist_pi_le_iff hε).2 fun s => (dist_pi_le_iff hε).2 fun a => within_iff_dist.1 (h s a),
    fun h s a => within_iff_dist.2 ((dist_pi_le_iff hε).1 ((dist_pi_le_iff hε).1 h s) a)⟩

/-- On finite sets every distance exists. -/
theorem hasDist (Q₁ Q₂ : S → A → Real) [Nonempty S] [Nonempty A] : HasDist Real Q₁ Q₂ := by
  refine ⟨dist Q₁ Q₂, (near_iff_dist dist_nonneg).2 (Std.le_refl _), fun ε h => ?_⟩
  obtain ⟨s⟩ := ‹Nonempty S›
  obtain ⟨a⟩ := ‹Nonempty A›
  exact (near_iff_dist (h s a : Within _ _ _).nonneg).1 h

/-- A modulus below one is Mathlib's `ContractingWith`. -/
theorem contractingWith_of_modulus {γ : NNReal} (hγ : γ < 1) {T : (S → A → Real) → S → A → Real}
    (hT : Modulus T (γ : Real)) : ContractingWith γ T := by
  refine ⟨hγ, LipschitzWith.of_dist_le_mul fun Q₁ Q₂ => ?_⟩
  have h₀ : (0 : Real) ≤ γ * dist Q₁ Q₂ := mul_nonneg (NNReal.coe_nonneg γ) dist_nonneg
  exact (near_iff_dist h₀).1 (hT _ _ _ ((near_iff_dist dist_nonneg).2 (Std.le_refl _)))

variable (R : S → A → Real) {γ : NNReal} {E : S → A → (S → Real) → Real}
variable {V : S → (A → Real) → Real} (pen : S → A → Real)

/-- **The REV backup is `ContractingWith γ`.** Appendix E, Theorem (RE-SAC Contraction); C11. -/
theorem rev_contractingWith (hγ : γ < 1) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) :
    ContractingWith γ (rev R (γ : Real) E V pen) :=
  contractingWith_of_modulus hγ (rev_blackwell (NNReal.coe_nonneg γ) hE hV).modulus

/-- So is the form with the penalty of the next pair. C08, C11. -/
theorem revNext_contractingWith (hγ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (lamG : S → A → Real) (κ : Real) :
    ContractingWith γ (revNext R (γ : Real) E V lamG κ) :=
  contractingWith_of_modulus hγ (revNext_blackwell (NNReal.coe_nonneg γ) hE hV).modulus

instance : Nonempty (S → A → Real) := ⟨fun _ _ => 0⟩

/-- **The fixed point**: it exists, no other point is fixed, and the `n`-th iterate is within
`γⁿ·‖T Q - Q‖/(1-γ)` (a priori) and `‖Tⁿ Q - Tⁿ⁺¹ Q‖/(1-γ)` (a posteriori) of it. C11. -/
theorem rev_fixedPoint (hγ : γ < 1) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) :
    let T := rev R (γ : Real) E V pen
    ∃ Q : S → A → Real, T Q = Q ∧ (∀ Q', T Q' = Q' → Q' = Q) ∧ ∀ (Q₀ : S → A → Real) (n : Nat),
      dist (Nat.iterate T n Q₀) Q ≤ dist Q₀ (T Q₀) * (γ : Real) ^ n / (1 - γ) ∧
      dist (Nat.iterate T n Q₀) Q ≤
        dist (Nat.iterate T n Q₀) (Nat.iterate T (n + 1) Q₀) / (1 - γ) := by
  have h := rev_contractingWith R pen hγ hE hV
  exact ⟨_, h.fixedPoint_isFixedPt, fun _ e => h.fixedPoint_unique e, fun Q₀ n =>
    ⟨h.apriori_dist_iterate_fixedPoint_le Q₀ n, h.aposteriori_dist_iterate_fixedPoint_le Q₀ n⟩⟩

/-- **Dependence on the penalty**: fixed points for two penalties are within
`γ·‖pen₁ - pen₂‖/(1-γ)` of each other. C11. -/
theorem rev_fixedPoint_dist (hγ : γ < 1) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    (pen₁ pen₂ Q₁ Q₂ : S → A → Real) (h₁ : rev R (γ : Real) E V pen₁ Q₁ = Q₁)
    (h₂ : rev R (γ : Real) E V pen₂ Q₂ = Q₂) :
    dist Q₁ Q₂ ≤ γ * dist pen₁ pen₂ / (1 - γ) := by
  refine (rev_contractingWith R pen₁ hγ hE hV).dist_fixedPoint_fixedPoint_of_dist_le' _ h₁ h₂
    fun Q => ?_
  have h₀ : (0 : Real) ≤ γ * dist pen₁ pen₂ := mul_nonneg (NNReal.coe_nonneg γ) dist_nonneg
  refine (near_iff_dist h₀).1 fun s a => ?_
  have h : near (dist pen₁ pen₂) pen₁ pen₂ := (near_iff_dist dist_nonneg).2 (Std.le_refl _)
  have h' := ((h s a : Within _ _ _).symm.mul_left (NNReal.coe_nonneg γ))
  unfold rev
  rw [near_iff]
  unfold Within at *
  grind

/-- **More penalty, less value.** C11. -/
theorem rev_fixedPoint_antitone [Nonempty S] [Nonempty A] (hγ : γ < 1)
    (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) {pen₁ pen₂ Q₁ Q₂ : S → A → Real}
    (hpen : ∀ s a, pen₂ s a ≤ pen₁ s a) (h₁ : rev R (γ : Real) E V pen₁ Q₁ = Q₁)
    (h₂ : rev R (γ : Real) E V pen₂ Q₂ = Q₂) (s : S) (a : A) : Q₁ s a ≤ Q₂ s a :=
  rev_fixedPoint_mono (NNReal.coe_nonneg γ) (NNReal.coe_lt_one.2 hγ) hE hV
    (fun _ _ => Std.le_refl _) hpen h₁ h₂ (hasDist _ _) s a

end RESAC.Reals
