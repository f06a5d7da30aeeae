module

public import RESACReal.Finite
public import RESAC.Contraction.Continuous
public import Mathlib.MeasureTheory.Integral.Bochner.Basic
public import Mathlib.Probability.Kernel.Basic
public import Mathlib.Topology.ContinuousMap.Bounded.Basic

public section

/-!
# Continuous spaces: bounded continuous functions and Markov kernels

Appendix E, Theorem (Continuous-Space Extension), repaired (C12): `Q` ranges over the bounded
continuous functions on `S × A`, the expectation is an integral against a Markov kernel. That the
backup of such a function is one again (the Feller property) is a hypothesis, `FellerBackup`.

## Main statements
* `integral_monetaryOn`: an integral is monetary on the integrable functions.
* `FellerBackup.contractingWith`, `FellerBackup.existsUnique`: contraction, Banach's fixed point.
* `monetary_functional`: every monetary functional, so the maximum over finitely many actions, is a
  value functional as asked for.
-/

noncomputable section

namespace RESAC.Reals

universe u v

open MeasureTheory ProbabilityTheory

variable {S : Type u} {A : Type v} [MeasurableSpace S] [MeasurableSpace A]

/-- Integrable functions are closed under constants. -/
theorem integrable_closed (μ : Measure S) [IsProbabilityMeasure μ] :
    ClosedUnderConst fun f : S → Real => Integrable f μ :=
  ⟨fun _ c hf => Integrable.add hf (integrable_const c)⟩

/-- An integral against a probability measure is monetary on the integrable functions. -/
theorem integral_monetaryOn (μ : Measure S) [IsProbabilityMeasure μ] :
    MonetaryOn (fun f : S → Real => Integrable f μ) (integral μ) where
  mono _ _ hf hg h := integral_mono hf hg h
  translate f c hf := by
    refine (integral_add hf (integrable_const c)).trans ?_
    rw [integral_const, probReal_univ, smul_eq_mul]
    grind

variable [TopologicalSpace S] [TopologicalSpace A]

/-- `T` is the REV backup on bounded continuous functions: with the expectation of a kernel `P` and
the value functional `V`, it maps this class to itself. -/
structure FellerBackup (R : S → A → Real) (γ : Real) (P : Kernel (S × A) S)
    (V : S → (A → Real) → Real) (pen : S → A → Real)
    (T : BoundedContinuousFunction (S × A) Real → BoundedContinuousFunction (S × A) Real) :
    Prop where
  /-- `T Q` is the backup of `Q`: the backup of a bounded continuous function is one. -/
  backup : ∀ (Q : BoundedContinuousFunction (S × A) Real) (s : S) (a : A), T Q (s, a) =
    rev R γ (fun s a => integral (P (s, a))) V pen (fun s a => Q (s, a)) s a
  /-- Value functions are integrable. -/
  values : ∀ (Q : BoundedContinuousFunction (S × A) Real) (s : S) (a : A),
    Integrable (fun s' => V s' fun a' => Q (s', a')) (P (s, a))
  /-- The value functional is non-expansive on sections. -/
  functional : ∀ (Q₁ Q₂ : BoundedContinuousFunction (S × A) Real) (s : S) (ε : Real),
    (∀ a, Within ε (Q₁ (s, a)) (Q₂ (s, a))) →
      Within ε (V s fun a => Q₁ (s, a)) (V s fun a => Q₂ (s, a))

variable {R pen : S → A → Real} {γ : NNReal} {P : Kernel (S × A) S} [IsMarkovKernel P]
variable {V : S → (A → Real) → Real}
variable {T : BoundedContinuousFunction (S × A) Real → BoundedContinuousFunction (S × A) Real}

/-- **Contraction on bounded continuous functions.** C12. -/
theorem FellerBackup.contractingWith (h : FellerBackup R γ P V pen T) (hγ : γ < 1) :
    ContractingWith γ T := by
  refine ⟨hγ, LipschitzWith.of_dist_le_mul fun Q₁ Q₂ => ?_⟩
  have h₀ : (0 : Real) ≤ γ * dist Q₁ Q₂ := mul_nonneg (NNReal.coe_nonneg γ) dist_nonneg
  refine (BoundedContinuousFunction.dist_le h₀).2 fun x => within_iff_dist.1 ?_
  obtain ⟨s, a⟩ := x
  rw [h.backup, h.backup]
  have hP : IsProbabilityMeasure (P (s, a)) := IsMarkovKernel.isProbabilityMeasure (s, a)
  have hv := (integral_monetaryOn (P (s, a))).within (integrable_closed _) (h.values Q₁ s a)
    (h.values Q₂ s a) fun s' => h.functional Q₁ Q₂ s' (dist Q₁ Q₂) fun a' =>
      within_iff_dist.2 (BoundedContinuousFunction.dist_coe_le_dist (s', a'))
  exact ((hv.sub_right (pen s a)).mul_left (NNReal.coe_nonneg γ)).add_left (R s a)

/-- **The unique fixed point**, by Banach's theorem: bounded continuous functions are complete.
C12. -/
theorem FellerBackup.existsUnique (h : FellerBackup R γ P V pen T) (hγ : γ < 1) :
    ∃ Q, T Q = Q ∧ ∀ Q', T Q' = Q' → Q' = Q := by
  have hT := h.contractingWith hγ
  have : Nonempty (BoundedContinuousFunction (S × A) Real) :=
    ⟨BoundedContinuousFunction.const _ 0⟩
  exact ⟨_, hT.fixedPoint_isFixedPt, fun _ e => hT.fixedPoint_unique e⟩

omit [MeasurableSpace S] [MeasurableSpace A] in
/-- Every monetary functional meets `FellerBackup.functional`; over finitely many actions the
maximum is one (`sup_monetary`). -/
theorem monetary_functional (hV : ∀ s, Monetary (V s))
    (Q₁ Q₂ : BoundedContinuousFunction (S × A) Real) (s : S) (ε : Real)
    (h : ∀ a, Within ε (Q₁ (s, a)) (Q₂ (s, a))) :
    Within ε (V s fun a => Q₁ (s, a)) (V s fun a => Q₂ (s, a)) :=
  (hV s).within h

end RESAC.Reals
