module

public import RESAC.Contraction.ValueIteration

public section

/-!
# What the fixed point is the optimum of

A policy enters the backup through its value functional `W`; that it is no better than the best one
is `∀ s q, W s q ≤ V s q` (for the maximum over actions: every mean is at most the maximum). So all
of this holds for stochastic policies, and for robust and risk-sensitive expectations alike.

## Main definitions
* `onPolicy π`: the value functional of the deterministic policy `π`.
* `Rule A K`, `historyReturn`: a decision rule for every history, and the return of `k` steps of it.

## Main statements (C49)
* `policy_le_optimum`: `Q^π ≤ Q*` and `V^π ≤ V*` for every stationary policy.
* `greedy_eq_optimum`: a policy that is greedy for `Q*` attains it.
* `policy_improvement`: a policy greedy for `Q^π` is at least as good as one sweep of value iteration
  from `Q^π`; `optimal_of_no_improvement`: where it is no better, `Q^π = Q*`.
* `history_le_optimum`: no history-dependent policy does better: `k` steps of it and then `Q*` are
  worth at most `Q*`; `history_return_le`: its plain `k`-step return at most `Q* + γᵏ·c`.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

section Definitions

variable {K : Type u} {S : Type v} {A : Type w}

/-- The value functional of a deterministic policy. -/
@[expose] def onPolicy (π : S → A) : S → (A → K) → K := fun s q => q (π s)

variable [Field K]

/-- The return of `k` steps under the decision rules `W`, one for every history, with the value `F`
at the end. A history lists the pairs visited, the last one first. -/
@[expose] def historyReturn (R : S → A → K) (γ : K) (E : S → A → (S → K) → K) (pen : S → A → K)
    (W : List (S × A) → S → (A → K) → K) (F : S → A → K) : Nat → List (S × A) → S → A → K
  | 0, _, s, a => F s a
  | k + 1, h, s, a => R s a + γ * (E s a (fun s' => W ((s, a) :: h) s'
      (historyReturn R γ E pen W F k ((s, a) :: h) s')) - pen s a)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {n m : Nat} {γ : K}
variable {R pen : Fin (n + 1) → Fin (m + 1) → K}
variable {E : Fin (n + 1) → Fin (m + 1) → (Fin (n + 1) → K) → K}
variable {V W W' : Fin (n + 1) → (Fin (m + 1) → K) → K}
variable {Qs Qp Qp' : Fin (n + 1) → Fin (m + 1) → K}

omit [DecidableLE K] in
/-- A larger value functional makes a larger backup. -/
theorem rev_mono_value {S : Type v} {A : Type w} {R pen : S → A → K} {E : S → A → (S → K) → K}
    {V W : S → (A → K) → K} (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) {Q : S → A → K}
    (h : ∀ s, W s (Q s) ≤ V s (Q s)) (s : S) (a : A) :
    rev R γ E W pen Q s a ≤ rev R γ E V pen Q s a := by
  have h₁ := (hE s a).mono _ _ h
  have h₂ := mul_le_mul_left h₁ hγ
  unfold rev; grind

/-- **No stationary policy is better than the optimum**: `Q^π ≤ Q*` and `V^π ≤ V*`. C49. -/
theorem policy_le_optimum (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hWV : ∀ s q, W s q ≤ V s q) (hQs : rev R γ E V pen Qs = Qs)
    (hQp : rev R γ E W pen Qp = Qp) :
    (∀ s a, Qp s a ≤ Qs s a) ∧ ∀ s, W s (Qp s) ≤ V s (Qs s) := by
  have h : ∀ s a, Qp s a ≤ Qs s a := fun s a =>
    comparison_fin (rev_blackwell (R := R) (pen := pen) hγ hE hV) hγ hγ₁
      (fun s a => by
        have := rev_mono_value (R := R) (pen := pen) hγ hE (fun s => hWV s (Qp s)) s a
        rwa [hQp] at this)
      (fun s a => by rw [hQs]; exact le_refl _) s a
  exact ⟨h, fun s => le_trans (hWV s _) ((hV s).mono _ _ (h s))⟩

/-- **A policy greedy for the optimum attains it.** C49. -/
theorem greedy_eq_optimum (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hW : ∀ s, Monetary (W s)) (greedy : ∀ s, W s (Qs s) = V s (Qs s))
    (hQs : rev R γ E V pen Qs = Qs) (hQp : rev R γ E W pen Qp = Qp) : Qp = Qs := by
  have e : rev R γ E W pen Qs = Qs := by
    have e : (fun s => W s (Qs s)) = fun s => V s (Qs s) := funext greedy
    rw [← hQs]
    rw [hQs]
    funext s a
    have := congrFun (congrFun hQs s) a
    unfold rev at this ⊢
    rw [e]
    exact this
  exact fixedPoint_unique_fin (rev_blackwell hγ hE hW).modulus hγ₁ hQp e

/-- **Policy improvement.** If `W'` is greedy for `Q^π`, its value is at least the backup of `Q^π`,
which is at least `Q^π`. C49. -/
theorem policy_improvement (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hW' : ∀ s, Monetary (W' s)) (hWV : ∀ s q, W s q ≤ V s q)
    (greedy : ∀ s, W' s (Qp s) = V s (Qp s)) (hQp : rev R γ E W pen Qp = Qp)
    (hQp' : rev R γ E W' pen Qp' = Qp') (s : Fin (n + 1)) (a : Fin (m + 1)) :
    Qp s a ≤ rev R γ E V pen Qp s a ∧ rev R γ E V pen Qp s a ≤ Qp' s a := by
  have e : rev R γ E V pen Qp = rev R γ E W' pen Qp := by
    have e : (fun s => W' s (Qp s)) = fun s => V s (Qp s) := funext greedy
    funext s a
    unfold rev
    rw [e]
  have h₁ : ∀ s a, Qp s a ≤ rev R γ E V pen Qp s a := fun s a => by
    have := rev_mono_value (R := R) (pen := pen) hγ hE (fun s => hWV s (Qp s)) s a
    rwa [hQp] at this
  refine ⟨h₁ s a, ?_⟩
  have hT := rev_blackwell (R := R) (pen := pen) hγ hE hW'
  exact comparison_fin hT hγ hγ₁
    (fun s a => by
      rw [e]
      exact hT.mono _ _ (fun s a => by have := h₁ s a; rwa [e] at this) s a)
    (fun s a => by rw [hQp']; exact le_refl _) s a

/-- **Where greedy improvement improves nothing, the policy is optimal.** C49. -/
theorem optimal_of_no_improvement (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hW' : ∀ s, Monetary (W' s)) (hWV : ∀ s q, W s q ≤ V s q)
    (greedy : ∀ s, W' s (Qp s) = V s (Qp s)) (hQs : rev R γ E V pen Qs = Qs)
    (hQp : rev R γ E W pen Qp = Qp) (hQp' : rev R γ E W' pen Qp' = Qp')
    (h : ∀ s a, Qp' s a ≤ Qp s a) : Qp = Qs := by
  have e : rev R γ E V pen Qp = Qp := by
    funext s a
    have h₁ := policy_improvement hγ hγ₁ hE hW' hWV greedy hQp hQp' s a
    exact le_antisymm (le_trans h₁.2 (h s a)) h₁.1
  exact fixedPoint_unique_fin (rev_blackwell hγ hE hV).modulus hγ₁ e hQs

/-! ## Policies that remember -/

omit [DecidableLE K] in
/-- **No history-dependent policy is better**, for all states and actions, finite or not: `k` steps of
it with a value of at most `Q* + c` at the end are worth at most `Q* + γᵏ·c`. With `c = 0` and the
end value `Q*`: return plus `γᵏ·V*` is at most `V*`. C49. -/
theorem history_le_optimum {S : Type v} {A : Type w} {R pen Qs F : S → A → K}
    {E : S → A → (S → K) → K} {V : S → (A → K) → K} {W : List (S × A) → S → (A → K) → K} {c : K}
    (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    (hWV : ∀ h s q, W h s q ≤ V s q) (hQs : rev R γ E V pen Qs = Qs)
    (hF : ∀ s a, F s a ≤ Qs s a + c) : ∀ (k : Nat) (h : List (S × A)) (s : S) (a : A),
    historyReturn R γ E pen W F k h s a ≤ Qs s a + γ ^ k * c
  | 0, _, s, a => by rw [historyReturn, Semiring.pow_zero, Semiring.one_mul]; exact hF s a
  | k + 1, h, s, a => by
    have ih := history_le_optimum hγ hE hV hWV hQs hF k ((s, a) :: h)
    have h₁ : ∀ s', W ((s, a) :: h) s' (historyReturn R γ E pen W F k ((s, a) :: h) s') ≤
        V s' (Qs s') + γ ^ k * c := fun s' => by
      have h₂ := le_trans (hWV ((s, a) :: h) s' _) ((hV s').mono _ _ (ih s'))
      rwa [(hV s').translate] at h₂
    have h₂ := (hE s a).mono _ _ h₁
    rw [(hE s a).translate] at h₂
    have h₃ := mul_le_mul_left h₂ hγ
    have e := congrFun (congrFun hQs s) a
    rw [historyReturn, Semiring.pow_succ]
    unfold rev at e
    clear ih h₁ h₂
    grind

omit [DecidableLE K] in
/-- **The plain `k`-step return** of any history-dependent policy, with nothing at the end, exceeds
`Q*` by at most `γᵏ·c` where `-c ≤ Q*`. C49. -/
theorem history_return_le {S : Type v} {A : Type w} {R pen Qs : S → A → K}
    {E : S → A → (S → K) → K} {V : S → (A → K) → K} {W : List (S × A) → S → (A → K) → K} {c : K}
    (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    (hWV : ∀ h s q, W h s q ≤ V s q) (hQs : rev R γ E V pen Qs = Qs)
    (hc : ∀ s a, -c ≤ Qs s a) (k : Nat) (s : S) (a : A) :
    historyReturn R γ E pen W (fun _ _ => 0) k [] s a ≤ Qs s a + γ ^ k * c :=
  history_le_optimum hγ hE hV hWV hQs (fun s a => by have := hc s a; grind) k [] s a

/-! ## The maximum over actions -/

omit [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- A deterministic policy is no better than the maximum. -/
theorem onPolicy_le_max (π : Fin (n + 1) → Fin (m + 1)) (s : Fin (n + 1)) (q : Fin (m + 1) → K) :
    onPolicy π s q ≤ maxV s q := le_fmax q (π s)

/-- Nor is a stochastic one. -/
theorem policyV_le_max {π : Fin (n + 1) → Fin (m + 1) → K} (hπ : ∀ s, IsProb (π s))
    (s : Fin (n + 1)) (q : Fin (m + 1) → K) : policyV π s q ≤ maxV s q :=
  expect_le_fmax (hπ s)

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] [DecidableLE K] in
/-- A deterministic policy's functional is monetary. -/
theorem onPolicy_monetary {S : Type v} {A : Type w} (π : S → A) (s : S) :
    Monetary (onPolicy (K := K) π s) := Monetary.eval (π s)

end RESAC
