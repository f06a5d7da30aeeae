module

public import RESAC.Contraction.Operator

public section

/-!
# Q-value poisoning and the other pathologies

Definition 1 of the paper calls a learning process poisoned if `Q_t` lies below `Q*` where the local
aleatoric variance is high and is accurate where it is low. The last appendix sets it against
uniform overestimation and divergence, and calls the three mutually exclusive.

## Main definitions
* `nextVariance P V s a`: the local aleatoric variance `Var_P[V(s') | s,a]`.
* `PoisonedAsWritten`: Definition 1, literally, at one step.
* `Poisoned`: the appendix's reading, where the poisoned set *is* the set of high variance.
* `Fork`: three states; `s₀` leads to `s₁` or `s₂` with probability one half each.

## Main statements
* `poisonedAsWritten_of_bounded`, `poisonedAsWritten_fin`: as written, Definition 1 holds of every
  learner, an exact one included: take `P_t` everything and `σ₀²` above every variance.
* `Poisoned.not_overestimating`: under the appendix's reading, poisoning excludes uniform
  overestimation.
* `Fork.poisoned_unbounded`: it does not exclude divergence: `Q_t(s₀) = Q*(s₀) - t` is poisoned at
  every step, exact elsewhere, and falls below every bound.
* `overestimating_unbounded`: nor do uniform overestimation and divergence exclude each other.

Paper: §1, Definition 1, and Appendix H; C01.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

section Definitions

variable {K : Type u} [Field K] {S : Type v} {A : Type w}

/-- The local aleatoric variance `Var_P[V(s') | s,a]`. -/
@[expose] def nextVariance {n : Nat} (P : S → A → Fin n → K) (V : Fin n → K) (s : S) (a : A) : K :=
  expect (P s a) (fun s' => V s' ^ 2) - expect (P s a) V ^ 2

variable [LE K] [LT K]

/-- Definition 1 as written, at one step: there are a threshold `σ₀² > 0` and a non-empty set `P` of
pairs such that `Q < Q*` on the pairs of `P` with variance at least `σ₀²`, and `|Q - Q*| ≤ ε` off
`P` where the variance is below `σ₀²`. -/
@[expose] def PoisonedAsWritten (Qstar Q variance : S → A → K) (ε : K) : Prop :=
  ∃ (σ₀ : K) (P : S → A → Prop), 0 < σ₀ ∧ (∃ s a, P s a) ∧
    (∀ s a, P s a → σ₀ ≤ variance s a → Q s a < Qstar s a) ∧
    (∀ s a, ¬ P s a → variance s a < σ₀ → Within ε (Q s a) (Qstar s a))

/-- Q-value poisoning at one step in the reading of the appendix's table,
`P_t = {(s,a) : σ²(s,a) ≥ σ₀²}`. -/
structure Poisoned (Qstar Q variance : S → A → K) (σ₀ ε : K) : Prop where
  /-- The threshold is positive. -/
  threshold : 0 < σ₀
  /-- Some pair is noisy: the poisoned set is not empty. -/
  noisy : ∃ s a, σ₀ ≤ variance s a
  /-- Noisy pairs are underestimated. -/
  under : ∀ s a, σ₀ ≤ variance s a → Q s a < Qstar s a
  /-- Quiet pairs are estimated to within `ε`. -/
  accurate : ∀ s a, variance s a < σ₀ → Within ε (Q s a) (Qstar s a)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {S : Type v} {A : Type w}

/-! ## Definition 1 as written says nothing -/

/-- **Definition 1 is met by every learner whose variances are bounded**, whatever `Q`, `Q*` and `ε`
are. -/
theorem poisonedAsWritten_of_bounded [Nonempty S] [Nonempty A] {variance : S → A → K} {B : K}
    (hB : ∀ s a, variance s a ≤ B) (Qstar Q : S → A → K) (ε : K) :
    PoisonedAsWritten Qstar Q variance ε := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have ⟨σ₀, h₀, h₁⟩ : ∃ σ₀ : K, 0 < σ₀ ∧ B < σ₀ := by
    by_cases h : 0 ≤ B
    · exact ⟨B + 1, by grind, by grind⟩
    · exact ⟨1, h01, by grind⟩
  refine ⟨σ₀, fun _ _ => True, h₀, ⟨Classical.choice ‹_›, Classical.choice ‹_›, trivial⟩, ?_, ?_⟩
  · intro s a _ h
    have := hB s a
    grind
  · intro s a h
    exact absurd trivial h

/-- On finite state and action sets Definition 1 holds of every learner, `Q = Q*` included (C01). -/
theorem poisonedAsWritten_fin [DecidableLE K] {n m : Nat}
    (Qstar Q variance : Fin (n + 1) → Fin (m + 1) → K) (ε : K) :
    PoisonedAsWritten Qstar Q variance ε :=
  poisonedAsWritten_of_bounded (B := fmax fun s => fmax (variance s))
    (fun s a => le_trans (le_fmax (variance s) a) (le_fmax (fun s => fmax (variance s)) s))
    Qstar Q ε

/-! ## Against overestimation -/

/-- **Poisoning excludes uniform overestimation** (Appendix H; C01). -/
theorem Poisoned.not_overestimating {Qstar Q variance : S → A → K} {σ₀ ε : K}
    (h : Poisoned Qstar Q variance σ₀ ε) : ¬ ∀ s a, Qstar s a ≤ Q s a := by
  intro hover
  obtain ⟨s, a, hsa⟩ := h.noisy
  have := h.under s a hsa
  have := hover s a
  grind

/-- **Uniform overestimation does not exclude divergence**: `Q* + t` is at least `Q*` at every pair
for every `t ≥ 0`, and rises above every bound. Against "mutually exclusive", Appendix H; C01. -/
theorem overestimating_unbounded (Qstar : S → A → K) (s : S) (a : A) (B : K) :
    ∃ t : K, 0 ≤ t ∧ (∀ s a, Qstar s a ≤ Qstar s a + t) ∧ B < Qstar s a + t := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have ⟨t, ht, hB⟩ : ∃ t : K, 0 ≤ t ∧ B < Qstar s a + t := by
    by_cases h : B < Qstar s a
    · exact ⟨0, by grind, by grind⟩
    · exact ⟨B - Qstar s a + 1, by grind, by grind⟩
  exact ⟨t, ht, fun s a => by grind, hB⟩

/-! ## Not against divergence -/

namespace Fork

/-- `s₀` leads to `s₁` or `s₂` with probability one half each; both are absorbing. -/
@[expose] def kernel (K : Type u) [Field K] : Fin 3 → Fin 1 → Fin 3 → K := fun s _ s' =>
  if s = 0 then (if s' = 0 then 0 else 1 / 2) else point s s'

/-- Reward one at `s₁`, none elsewhere. -/
@[expose] def reward (K : Type u) [Field K] : Fin 3 → Fin 1 → K := fun s _ => point 1 s

/-- The Q-function with value `q₀` at `s₀`, and the exact values `2` and `0` at `s₁` and `s₂`. -/
@[expose] def Q (q₀ : K) : Fin 3 → Fin 1 → K := fun s _ =>
  if s = 0 then q₀ else if s = 1 then 2 else 0

private theorem cases (s : Fin 3) : s = 0 ∨ s = 1 ∨ s = 2 := by
  revert s; decide

/-- The kernel is a probability kernel. -/
theorem kernel_isProb (s : Fin 3) (a : Fin 1) : IsProb (kernel K s a) where
  nonneg s' := by
    have h01 := OrderedRing.zero_lt_one (R := K)
    have h2 : (0 : K) ≤ 1 / 2 := by grind
    unfold kernel point
    split
    · split
      · exact le_refl _
      · exact h2
    · split
      · grind
      · exact le_refl _
  total := by
    rcases cases s with rfl | rfl | rfl <;> simp [kernel, point, fsum] <;> grind

/-- `Q* = (1/2, 2, 0)` is fixed by the Bellman backup with discount `1/2`. -/
theorem fixed [DecidableLE K] :
    rev (reward K) (1 / 2) (kernelE (kernel K)) maxV (fun _ _ => 0) (Q (1 / 2)) = Q (1 / 2) := by
  funext s a
  rcases cases s with rfl | rfl | rfl <;>
    simp [rev, reward, kernelE, kernel, point, expect, fsum, maxV, fmax, Q] <;> grind

/-- The variance of the next state's value is one at `s₀` and zero elsewhere, whatever the learner
believes about `s₀`. -/
theorem nextVariance_eq [DecidableLE K] (q₀ : K) (s : Fin 3) (a : Fin 1) :
    nextVariance (kernel K) (fun s' => maxV s' (Q q₀ s')) s a = if s = 0 then 1 else 0 := by
  rcases cases s with rfl | rfl | rfl <;>
    simp [nextVariance, kernel, point, expect, fsum, maxV, fmax, Q] <;> grind

/-- A learner that is `t` too low at `s₀` and exact elsewhere is poisoned, with threshold `σ₀² = 1`
and accuracy `ε = 0`. -/
theorem poisoned [DecidableLE K] {t : K} (ht : 0 < t) :
    Poisoned (Q (1 / 2)) (Q (1 / 2 - t))
      (nextVariance (kernel K) fun s' => maxV s' (Q (1 / 2 - t) s')) 1 0 := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  refine ⟨h01, ⟨0, 0, by rw [nextVariance_eq]; grind⟩, fun s a h => ?_, fun s a h => ?_⟩
  · rw [nextVariance_eq] at h
    unfold Q
    grind
  · rw [nextVariance_eq] at h
    rw [within_zero_iff]
    unfold Q
    grind

/-- **Poisoning does not exclude divergence** (against "mutually exclusive", Appendix H; C01):
`Q_t(s₀) = Q*(s₀) - t` is poisoned for every `t > 0`, and falls below every bound. -/
theorem poisoned_unbounded [DecidableLE K] (B : K) :
    ∃ t : K, 0 < t ∧ Q (1 / 2 - t) 0 0 < B ∧
      Poisoned (Q (1 / 2)) (Q (1 / 2 - t))
        (nextVariance (kernel K) fun s' => maxV s' (Q (1 / 2 - t) s')) 1 0 := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have ⟨t, ht, hB⟩ : ∃ t : K, 0 < t ∧ 1 / 2 - t < B := by
    by_cases h : 1 / 2 < B
    · exact ⟨1, h01, by grind⟩
    · exact ⟨1 / 2 - B + 1, by grind, by grind⟩
  exact ⟨t, ht, by simp only [Q]; grind, poisoned ht⟩

end Fork

end RESAC
