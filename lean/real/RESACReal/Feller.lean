module

public import RESACReal.Contraction
public import RESAC.Contraction.Feller
public import Mathlib.Topology.ContinuousMap.Bounded.Basic

public section

/-!
# An infinite state space with nothing left to assume

The states are the real numbers, the actions finitely many; each action leads to a random choice
among finitely many continuous maps, so that the kernel has the Feller property. Rewards and
penalties are bounded and continuous. Then the backup maps families of bounded continuous functions
to such families, contracts, and has exactly one fixed point among them, since they are complete.
Appendix E, Theorem (Continuous-Space Extension), with its hypotheses discharged; C12.

## Main definitions
* `fellerBackup`: the backup as a map of bounded continuous functions, one for each action.

## Main statements
* `continuousFn_iff`, `nice`, `ofNice`: the core's bounded continuous functions are Mathlib's.
* `feller_contractingWith`, `feller_existsUnique`: contraction, and exactly one fixed point (C12).
-/

noncomputable section

namespace RESAC.Reals

/-- Continuity by `ε` and `δ` is Mathlib's. -/
theorem continuousFn_iff {f : Real → Real} : ContinuousFn f ↔ Continuous f := by
  rw [Metric.continuous_iff]
  constructor
  · intro h x ε hε
    obtain ⟨δ, hδ, k⟩ := h x (ε / 2) (by grind)
    refine ⟨δ, hδ, fun y hy => ?_⟩
    have h₁ : Within δ y x := within_iff_dist.2 (by grind)
    have h₂ := within_iff_dist.1 (k y h₁.symm).symm
    clear k h
    grind
  · intro h x ε hε
    obtain ⟨δ, hδ, k⟩ := h x ε hε
    refine ⟨δ / 2, by grind, fun y hy => ?_⟩
    have h₁ := within_iff_dist.1 hy.symm
    have h₂ := k y (by clear k h; grind)
    have h₃ : Within ε (f y) (f x) := within_iff_dist.2 (by clear k h; grind)
    exact h₃.symm

/-- Mathlib's bounded continuous functions are the core's. -/
theorem nice (f : BoundedContinuousFunction Real Real) : Nice fun x => f x where
  continuous := continuousFn_iff.2 f.continuous
  bounded := by
    obtain ⟨C, h⟩ := f.bounded
    rcases Std.le_total (a := 0) (b := f 0) with h₀ | h₀
    · exact ⟨C + f 0, fun x => by
        have := within_iff_dist.2 (h x 0)
        unfold Within at *
        clear h
        grind⟩
    · exact ⟨C - f 0, fun x => by
        have := within_iff_dist.2 (h x 0)
        unfold Within at *
        clear h
        grind⟩

/-- And the core's are Mathlib's. -/
@[expose] def ofNice {f : Real → Real} (h : Nice f) : BoundedContinuousFunction Real Real :=
  ⟨⟨f, continuousFn_iff.1 h.continuous⟩, by
    obtain ⟨B, k⟩ := h.bounded
    refine ⟨B + B, fun x y => within_iff_dist.1 ?_⟩
    have h₁ := k x
    have h₂ := k y
    unfold Within at *
    clear k
    grind⟩

variable {k m : Nat} {w : Fin (m + 1) → Fin k → Real} {g : Fin (m + 1) → Fin k → Real → Real}
variable {γ : NNReal} (R pen : Fin (m + 1) → BoundedContinuousFunction Real Real)

/-- The REV backup as a map of bounded continuous functions, one for each action. -/
@[expose] def fellerBackup (γ : NNReal) (hw : ∀ a, IsProb (w a)) (hg : ∀ a i, Continuous (g a i))
    (Q : Fin (m + 1) → BoundedContinuousFunction Real Real) :
    Fin (m + 1) → BoundedContinuousFunction Real Real := fun a =>
  ofNice ((feller_backupOn (R := fun s a => R a s) (pen := fun s a => pen a s)
    (NNReal.coe_nonneg γ) hw (fun a i => continuousFn_iff.2 (hg a i)) (fun a => nice (R a))
    fun a => nice (pen a)).maps (fun s a => Q a s) (fun a => nice (Q a)) a)

/-- It is the REV backup, with the maximum over actions. -/
theorem fellerBackup_apply (hw : ∀ a, IsProb (w a)) (hg : ∀ a i, Continuous (g a i))
    (Q : Fin (m + 1) → BoundedContinuousFunction Real Real) (s : Real) (a : Fin (m + 1)) :
    fellerBackup R pen γ hw hg Q a s =
      rev (fun s a => R a s) (γ : Real) (feller w g) maxV (fun s a => pen a s) (fun s a => Q a s) s a :=
  rfl

/-- **It contracts.** C12. -/
theorem feller_contractingWith (hγ : γ < 1) (hw : ∀ a, IsProb (w a))
    (hg : ∀ a i, Continuous (g a i)) : ContractingWith γ (fellerBackup R pen γ hw hg) := by
  refine ⟨hγ, LipschitzWith.of_dist_le_mul fun Q₁ Q₂ => ?_⟩
  have h₀ : (0 : Real) ≤ γ * dist Q₁ Q₂ := mul_nonneg (NNReal.coe_nonneg γ) dist_nonneg
  refine (dist_pi_le_iff h₀).2 fun a => (BoundedContinuousFunction.dist_le h₀).2 fun s =>
    within_iff_dist.1 ?_
  have h : near (dist Q₁ Q₂) (fun s a => Q₁ a s) (fun s a => Q₂ a s) := fun s a =>
    within_iff_dist.2 (Std.le_trans (BoundedContinuousFunction.dist_coe_le_dist s)
      ((dist_pi_le_iff dist_nonneg).1 (Std.le_refl _) a))
  exact feller_contraction (R := fun s a => R a s) (pen := fun s a => pen a s) (NNReal.coe_nonneg γ) hw
    (fun a i => continuousFn_iff.2 (hg a i)) (fun a => nice (R a)) (fun a => nice (pen a))
    (fun a => nice (Q₁ a)) (fun a => nice (Q₂ a)) h s a

/-- **The continuous-space extension with every hypothesis discharged**: among the bounded continuous
functions the backup on the real line has exactly one fixed point. C12. -/
theorem feller_existsUnique (hγ : γ < 1) (hw : ∀ a, IsProb (w a))
    (hg : ∀ a i, Continuous (g a i)) :
    ∃ Q, fellerBackup R pen γ hw hg Q = Q ∧
      ∀ Q', fellerBackup R pen γ hw hg Q' = Q' → Q' = Q := by
  have h := feller_contractingWith R pen hγ hw hg
  have : Nonempty (Fin (m + 1) → BoundedContinuousFunction Real Real) :=
    ⟨fun _ => BoundedContinuousFunction.const _ 0⟩
  exact ⟨_, h.fixedPoint_isFixedPt, fun _ e => h.fixedPoint_unique e⟩

end RESAC.Reals
