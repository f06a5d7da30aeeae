module

public import RESAC.Live.Penalty

public section

/-!
# Target networks: freeze for `N` backups, then refresh

The paper answers a live penalty by freezing it ("target networks"). Frozen parameters are refreshed
sooner or later, so the map to look at goes from one refresh to the next: compute the penalty from
`Q`, run `N` backups with it, refresh. Each inner backup is a `γ`-contraction; the outer map need
not be one, and **its threshold is that of the live penalty, for every `N`** (C36).

## Main definitions
* `refresh R γ E V pen N`: `N` backups with the penalty frozen at `pen Q`, from `Q`.
* `refreshFactor γ L N`: `γᴺ + L·γ·(1 - γᴺ)/(1 - γ)`.

## Main statements
* `refresh_modulus`: a penalty with Lipschitz constant `L` gives at most `refreshFactor γ L N`.
* `refresh_norm_exactModulus`: the norm penalty attains it on every MDP.
* `refreshFactor_lt_one_iff`, `refresh_norm_contracts_iff`: the threshold `L < 1/γ - 1`.
* `refreshFactor_paper`: `γ = 0.99`, `λ = 0.02`.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {S : Type v} {A : Type w}

section Definitions

variable {K : Type u} [Field K] {S : Type v} {A : Type w}

/-- Freeze the penalty at `pen Q`, back up `N` times from `Q`; the next call refreshes it. -/
@[expose] def refresh (R : S → A → K) (γ : K) (E : S → A → (S → K) → K) (V : S → (A → K) → K)
    (pen : (S → A → K) → S → A → K) (N : Nat) (Q : S → A → K) : S → A → K :=
  Nat.repeat (rev R γ E V (pen Q)) N Q

/-- The modulus of the map from one refresh to the next. -/
@[expose] def refreshFactor (γ L : K) (N : Nat) : K := γ ^ N + L * γ * (1 - γ ^ N) / (1 - γ)

end Definitions

variable {R : S → A → K} {γ : K} {E : S → A → (S → K) → K} {V : S → (A → K) → K}

/-- Freezing for `N` backups and refreshing has modulus at most `γᴺ + L·γ·(1 - γᴺ)/(1 - γ)`.
Appendix E, summary (i) and (S3); C36. -/
theorem refresh_modulus (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) {pen : (S → A → K) → S → A → K} {L : K} (hpen : Modulus pen L)
    (N : Nat) : Modulus (refresh R γ E V pen N) (refreshFactor γ L N) := fun ε Q₁ Q₂ h => by
  have key := near_recursion (e₀ := ε) (δ := γ * (L * ε)) hγ₁
    (x := fun n => Nat.repeat (rev R γ E V (pen Q₁)) n Q₁)
    (y := fun n => Nat.repeat (rev R γ E V (pen Q₂)) n Q₂) h (fun n e he s a => by
      have hv := (hE s a).within (fun s' => (hV s').within (fun a' => he s' a'))
      have h' := within_backup (R := R s a) hγ hv (hpen ε Q₁ Q₂ h s a)
      rw [Semiring.left_distrib] at h'
      exact h') N
  have hne : 1 - γ ≠ 0 := by grind
  have e : refreshFactor γ L N * ε = γ ^ N * ε + γ * (L * ε) * (1 - γ ^ N) / (1 - γ) := by
    unfold refreshFactor; grind
  rw [e]
  exact key

/-- Constants added to the start and to the frozen penalty pass through `N` backups. -/
theorem repeat_rev_add_const (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (pen Q : S → A → K) (c d : K) : ∀ N : Nat,
    Nat.repeat (rev R γ E V (fun s a => pen s a + d)) N (fun s a => Q s a + c) =
      fun s a => Nat.repeat (rev R γ E V pen) N Q s a
        + (γ ^ N * c - d * γ * (1 - γ ^ N) / (1 - γ))
  | 0 => by
    funext s a
    simp only [Nat.repeat, Semiring.pow_zero]
    grind
  | N + 1 => by
    have hne : 1 - γ ≠ 0 := by grind
    simp only [Nat.repeat]
    rw [repeat_rev_add_const hγ₁ hE hV pen Q c d N, rev_add_const hE hV]
    funext s a
    rw [Semiring.pow_succ]
    grind

/-- The norm penalty attains the bound on every MDP: the modulus of the map from one refresh to the
next is exactly `γᴺ + λ·γ·(1 - γᴺ)/(1 - γ)`. C36. -/
theorem refresh_norm_exactModulus [DecidableLE K] [Nonempty S] [Nonempty A] (hγ : 0 ≤ γ)
    (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) {lam : K}
    (hlam : 0 ≤ lam) (N : Nat) :
    ExactModulus (refresh R γ E V (normPen lam) N) (refreshFactor γ lam N) where
  holds := refresh_modulus hγ hγ₁ hE hV (normPen_modulus hlam) N
  least c' h := by
    refine h.le_of_pair (fun _ _ => 0) (fun _ _ => 0 + -1) (fun s a => ?_) (fun ε h' => ?_)
    · rw [near_iff]; unfold Within; grind
    · have h' := h' (Classical.choice inferInstance) (Classical.choice inferInstance)
      rw [near_iff] at h'
      unfold refresh at h'
      rw [normPen_neg_one, repeat_rev_add_const hγ₁ hE hV] at h'
      unfold Within at h'
      unfold refreshFactor
      grind

/-- Powers of a number in `(0, 1)` stay there. -/
theorem pow_mem_unit (hγ : 0 < γ) (hγ₁ : γ < 1) : ∀ N : Nat, 0 < γ ^ (N + 1) ∧ γ ^ (N + 1) < 1
  | 0 => by
    have e : γ ^ (0 + 1) = γ := by rw [Semiring.pow_succ, Semiring.pow_zero, Semiring.one_mul]
    rw [e]; exact ⟨hγ, hγ₁⟩
  | N + 1 => by
    obtain ⟨h₀, h₁⟩ := pow_mem_unit hγ hγ₁ N
    rw [Semiring.pow_succ γ (N + 1)]
    generalize γ ^ (N + 1) = p at *
    have h₂ := OrderedRing.mul_pos h₀ hγ
    have h₃ := OrderedRing.mul_lt_mul_of_pos_right h₁ hγ
    grind

/-- The factor is below one iff `L < 1/γ - 1`, **for every** number `N ≥ 1` of frozen backups: the
threshold is that of the live penalty. C36. -/
theorem refreshFactor_lt_one_iff {L : K} (hγ : 0 < γ) (hγ₁ : γ < 1) {N : Nat} (hN : 1 ≤ N) :
    refreshFactor γ L N < 1 ↔ L < 1 / γ - 1 := by
  obtain ⟨N, rfl⟩ : ∃ M, N = M + 1 := ⟨N - 1, by omega⟩
  have hp := pow_mem_unit hγ hγ₁ N
  rw [← live_threshold hγ]
  unfold refreshFactor
  generalize γ ^ (N + 1) = p at *
  have hpos : 0 < 1 - γ := by grind
  have hinv := inv_pos hpos
  have e : p + L * γ * (1 - p) / (1 - γ) - 1
      = (1 - p) * ((γ * (1 + L) - 1) * (1 - γ)⁻¹) := by grind
  have hq : 0 < (1 - p) * (1 - γ)⁻¹ := OrderedRing.mul_pos (by grind) hinv
  constructor
  · intro h
    false_or_by_contra
    rename_i hn
    have := mul_nonneg (by grind : 0 ≤ γ * (1 + L) - 1)
      (by grind : 0 ≤ (1 - p) * (1 - γ)⁻¹)
    grind
  · intro h
    have := OrderedRing.mul_pos (by grind : 0 < 1 - γ * (1 + L)) hq
    grind

/-- Freezing does not move the threshold: with the norm penalty, refreshed after `N ≥ 1` backups,
the outer map contracts iff `λ < 1/γ - 1`. This is where "the frozen architecture is load-bearing"
ends: it holds for each backup, not across refreshes. Appendix E, (S1) and (S3); C36. -/
theorem refresh_norm_contracts_iff [DecidableLE K] [Nonempty S] [Nonempty A] (hγ : 0 < γ)
    (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) {lam : K}
    (hlam : 0 ≤ lam) {N : Nat} (hN : 1 ≤ N) :
    Contracts K (refresh R γ E V (normPen lam) N) ↔ lam < 1 / γ - 1 := by
  rw [(refresh_norm_exactModulus (R := R) (by grind) hγ₁ hE hV hlam N).contracts_iff,
    refreshFactor_lt_one_iff hγ hγ₁ hN]

/-- At `γ = 0.99` and `λ = 0.02` freezing makes it worse: the factor is `1.98 - 0.98·0.99ᴺ`, from
`1.0098` at `N = 1` towards `1.98`. C36. -/
theorem refreshFactor_paper (N : Nat) :
    refreshFactor (99 / 100 : K) (2 / 100) N = 198 / 100 - 98 / 100 * (99 / 100) ^ N ∧
      refreshFactor (99 / 100 : K) (2 / 100) 1 = 10098 / 10000 := by
  unfold refreshFactor
  refine ⟨?_, ?_⟩
  · generalize (99 / 100 : K) ^ N = p
    grind
  · have e : (99 / 100 : K) ^ 1 = 99 / 100 := by
      rw [Semiring.pow_succ, Semiring.pow_zero, Semiring.one_mul]
    rw [e]
    grind

end RESAC
