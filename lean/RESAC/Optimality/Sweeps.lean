module

public import RESAC.Optimality.Policies

public section

/-!
# Solvers that climb: modified policy iteration, Gauss–Seidel

From a table below its own backup both solvers climb towards the fixed point, and each of their
rounds gains at least what one sweep of value iteration would: so they are at least as fast, and
inherit its rate `γⁿ`.

## Main definitions
* `updateState T s Q`: the row of state `s` replaced by its backup, in place.
* `inPlace T order Q`: such updates one after another, each seeing those before it.

## Main statements (C49)
* `modifiedPolicyIteration_step`, `inPlace_step`: one round.
* `climbing_rate`: any method whose rounds gain what one sweep gains is within `γⁿ·ε` after `n`.
* `modifiedPolicyIteration_rate`, `gaussSeidel_rate`: the two solvers.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

section Definitions

variable {K : Type u} {S : Type v} {A : Type w} [DecidableEq S]

/-- The row of state `s` replaced by its backup. -/
@[expose] def updateState (T : (S → A → K) → S → A → K) (s : S) (Q : S → A → K) : S → A → K :=
  fun s' => if s' = s then T Q s' else Q s'

/-- A sweep in place: the states in `order` are updated one after another. -/
@[expose] def inPlace (T : (S → A → K) → S → A → K) : List S → (S → A → K) → S → A → K
  | [], Q => Q
  | s :: order, Q => inPlace T order (updateState T s Q)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {S : Type v} {A : Type w} {γ : K} {T : (S → A → K) → S → A → K} {Qs : S → A → K}

/-- What a climbing solver keeps: it is below its own backup and below the fixed point. -/
structure Climbing (T : (S → A → K) → S → A → K) (Qs Q : S → A → K) : Prop where
  /-- Below its own backup. -/
  le_backup : ∀ s a, Q s a ≤ T Q s a
  /-- Below the fixed point. -/
  le_fixed : ∀ s a, Q s a ≤ Qs s a

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- One round that gains at least a sweep keeps the sweep's iterates below. -/
theorem climbing_above_sweeps (hT : Blackwell T γ) {Q : Nat → S → A → K}
    (step : ∀ k s a, T (Q k) s a ≤ Q (k + 1) s a) :
    ∀ (k : Nat) (s : S) (a : A), Nat.repeat T k (Q 0) s a ≤ Q k s a
  | 0, _, _ => le_refl _
  | k + 1, s, a =>
    le_trans (hT.mono _ _ (climbing_above_sweeps hT step k) s a) (step k s a)

/-- **A solver whose rounds gain at least one sweep each** is within `γⁿ·ε` of the fixed point after
`n` rounds, if it started below it and within `ε`. C49. -/
theorem climbing_rate (hT : Blackwell T γ) (hQs : T Qs = Qs) {Q : Nat → S → A → K} {ε : K}
    (climb : ∀ k, Climbing T Qs (Q k)) (step : ∀ k s a, T (Q k) s a ≤ Q (k + 1) s a)
    (h₀ : near ε (Q 0) Qs) (n : Nat) : near (γ ^ n * ε) (Q n) Qs := fun s a => by
  have h₁ := iterate_bound hT.modulus hQs h₀ n s a
  have h₂ := climbing_above_sweeps hT step n s a
  have h₃ := (climb n).le_fixed s a
  rw [near_iff] at h₁ ⊢
  have h₄ := h₁.nonneg
  unfold Within at *
  grind

/-! ## Modified policy iteration -/

section Modified

variable {R pen : S → A → K} {E : S → A → (S → K) → K} {V W : S → (A → K) → K}

/-- **One round of modified policy iteration**: `j + 1` backups under a policy greedy for `Q` gain at
least one sweep, and the table goes on climbing. C49. -/
theorem modifiedPolicyIteration_step (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hW : ∀ s, Monetary (W s)) (hWV : ∀ s q, W s q ≤ V s q)
    (hQs : rev R γ E V pen Qs = Qs) {Q : S → A → K} (h : Climbing (rev R γ E V pen) Qs Q)
    (greedy : ∀ s, W s (Q s) = V s (Q s)) (j : Nat) :
    (∀ s a, rev R γ E V pen Q s a ≤ Nat.repeat (rev R γ E W pen) (j + 1) Q s a) ∧
      Climbing (rev R γ E V pen) Qs (Nat.repeat (rev R γ E W pen) (j + 1) Q) := by
  have hTV := rev_blackwell (R := R) (pen := pen) hγ hE hV
  have hTW := rev_blackwell (R := R) (pen := pen) hγ hE hW
  have e : rev R γ E V pen Q = rev R γ E W pen Q := by
    have e : (fun s => W s (Q s)) = fun s => V s (Q s) := funext greedy
    funext s a
    unfold rev
    rw [e]
  have up : ∀ k s a, Nat.repeat (rev R γ E W pen) k Q s a ≤
      Nat.repeat (rev R γ E W pen) (k + 1) Q s a := fun k => by
    induction k with
    | zero => exact fun s a => by have := h.le_backup s a; rwa [e] at this
    | succ k ih => exact fun s a => hTW.mono _ _ ih s a
  have first : ∀ k s a, rev R γ E V pen Q s a ≤
      Nat.repeat (rev R γ E W pen) (k + 1) Q s a := fun k => by
    induction k with
    | zero => exact fun s a => by rw [e]; exact le_refl _
    | succ k ih => exact fun s a => le_trans (ih s a) (up (k + 1) s a)
  have below : ∀ k s a, Nat.repeat (rev R γ E W pen) k Q s a ≤ Qs s a := fun k => by
    induction k with
    | zero => exact h.le_fixed
    | succ k ih =>
      intro s a
      have h₁ := rev_mono_value (R := R) (pen := pen) hγ hE
        (fun s => hWV s (Nat.repeat (rev R γ E W pen) k Q s)) s a
      have h₂ := hTV.mono _ _ ih s a
      rw [hQs] at h₂
      exact le_trans h₁ h₂
  exact ⟨first j, fun s a => le_trans (up (j + 1) s a)
    (rev_mono_value (R := R) (pen := pen) hγ hE (fun s => hWV s _) s a), below (j + 1)⟩

/-- **Modified policy iteration converges at least as fast as value iteration**, whatever numbers
`j k + 1` of evaluation sweeps it makes. C49. -/
theorem modifiedPolicyIteration_rate (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) {W : Nat → S → (A → K) → K} (hW : ∀ k s, Monetary (W k s))
    (hWV : ∀ k s q, W k s q ≤ V s q) (hQs : rev R γ E V pen Qs = Qs) {Q : Nat → S → A → K}
    (j : Nat → Nat) (greedy : ∀ k s, W k s (Q k s) = V s (Q k s))
    (step : ∀ k, Q (k + 1) = Nat.repeat (rev R γ E (W k) pen) (j k + 1) (Q k)) {ε : K}
    (h₀ : Climbing (rev R γ E V pen) Qs (Q 0)) (hε : near ε (Q 0) Qs) (n : Nat) :
    near (γ ^ n * ε) (Q n) Qs := by
  have climb : ∀ k, Climbing (rev R γ E V pen) Qs (Q k) := fun k => by
    induction k with
    | zero => exact h₀
    | succ k ih =>
      rw [step k]
      exact (modifiedPolicyIteration_step hγ hE hV (hW k) (hWV k) hQs ih (greedy k) (j k)).2
  refine climbing_rate (rev_blackwell hγ hE hV) hQs climb (fun k s a => ?_) hε n
  rw [step k]
  exact (modifiedPolicyIteration_step hγ hE hV (hW k) (hWV k) hQs (climb k) (greedy k) (j k)).1 s a

end Modified

/-! ## Gauss–Seidel sweeps -/

section InPlace

variable [DecidableEq S]

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- One update in place: the table rises, goes on climbing, and the updated row is its backup. -/
theorem updateState_step (hT : Blackwell T γ) (hQs : T Qs = Qs) {Q : S → A → K}
    (h : Climbing T Qs Q) (s : S) :
    (∀ s' a, Q s' a ≤ updateState T s Q s' a) ∧ Climbing T Qs (updateState T s Q) := by
  have up : ∀ s' a, Q s' a ≤ updateState T s Q s' a := fun s' a => by
    unfold updateState
    by_cases e : s' = s
    · simp only [e, if_true]; exact h.le_backup s a
    · simp only [e, if_false]; exact le_refl _
  refine ⟨up, fun s' a => ?_, fun s' a => ?_⟩
  · have h₁ := hT.mono _ _ up s' a
    refine le_trans ?_ h₁
    unfold updateState
    by_cases e : s' = s
    · simp only [e, if_true]; exact le_refl _
    · simp only [e, if_false]; exact h.le_backup s' a
  · unfold updateState
    by_cases e : s' = s
    · simp only [e, if_true]
      have := hT.mono _ _ h.le_fixed s a
      rwa [hQs] at this
    · simp only [e, if_false]; exact h.le_fixed s' a

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- **One sweep in place**, in any order: the table rises and goes on climbing, and every state that
was updated gained at least its backup before the sweep. C49. -/
theorem inPlace_step (hT : Blackwell T γ) (hQs : T Qs = Qs) : ∀ (order : List S) {Q : S → A → K},
    Climbing T Qs Q → (∀ s a, Q s a ≤ inPlace T order Q s a) ∧ Climbing T Qs (inPlace T order Q) ∧
      ∀ s, s ∈ order → ∀ a, T Q s a ≤ inPlace T order Q s a
  | [], Q, h => ⟨fun _ _ => le_refl _, h, fun s hs => absurd hs List.not_mem_nil⟩
  | s₀ :: order, Q, h => by
    have h₁ := updateState_step hT hQs h s₀
    have ih := inPlace_step hT hQs order h₁.2
    refine ⟨fun s a => le_trans (h₁.1 s a) (ih.1 s a), ih.2.1, fun s hs a => ?_⟩
    rcases List.mem_cons.1 hs with e | hs
    · have h₂ := ih.1 s a
      have h₃ : updateState T s₀ Q s a = T Q s a := by
        unfold updateState; rw [if_pos e]
      rw [h₃] at h₂
      exact h₂
    · exact le_trans (hT.mono _ _ h₁.1 s a) (ih.2.2 s hs a)

/-- **Gauss–Seidel value iteration converges at least as fast as value iteration**, whatever the
orders of its sweeps are, as long as each visits every state. C49. -/
theorem gaussSeidel_rate (hT : Blackwell T γ) (hQs : T Qs = Qs) {Q : Nat → S → A → K}
    {order : Nat → List S} (all : ∀ k s, s ∈ order k)
    (step : ∀ k, Q (k + 1) = inPlace T (order k) (Q k)) {ε : K} (h₀ : Climbing T Qs (Q 0))
    (hε : near ε (Q 0) Qs) (n : Nat) : near (γ ^ n * ε) (Q n) Qs := by
  have climb : ∀ k, Climbing T Qs (Q k) := fun k => by
    induction k with
    | zero => exact h₀
    | succ k ih => rw [step k]; exact (inPlace_step hT hQs (order k) ih).2.1
  refine climbing_rate hT hQs climb (fun k s a => ?_) hε n
  rw [step k]
  exact (inPlace_step hT hQs (order k) (climb k)).2.2 s (all k s) a

end InPlace

end RESAC
