module

public import RESAC.Live.Penalty

public section

/-!
# Inexact backups, noise, and penalties that drift

Training applies the backup approximately, from samples, and with penalties that change between
steps. What the contraction gives in these cases, with explicit constants. Statements about fixed
points ask that a distance exists (`HasDist`), which holds on finite sets; statements about
iterates need no such thing.

## Main statements
* `approx_iterates`: a backup error of `ε` in every step leaves `γⁿ·d₀ + ε·(1 - γⁿ)/(1 - γ)`;
  `approx_iterates_attained`: and no less (C17).
* `noisy_backups`: bounded (mini-batch) noise is a case of it (C17).
* `fixed_point_near`, `rev_fixed_point_near`: the fixed point depends on the penalty with modulus
  `γ/(1 - γ)`; `fixed_point_penalty_exactModulus`: exactly so on one state (C18).
* `tracking`: penalties that drift by `η` a step keep the iterates within
  `γⁿ·e₀ + γη·(1 - γⁿ)/(1 - γ)²` of the current fixed point; `tracking_attained` (C18).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

attribute [local instance] Semiring.natCast

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {S : Type v} {A : Type w} {X : Type v} [Near K X]
variable {R : S → A → K} {γ ε δ η d₀ e₀ : K} {E : S → A → (S → K) → K} {V : S → (A → K) → K}

/-! ## Errors in every backup -/

/-- Iterates of a `γ`-contraction with an error of at most `ε` in every step stay within
`γⁿ·d₀ + ε·(1 - γⁿ)/(1 - γ)` of the fixed point. Appendix E, "Remark (function approximation in
practice)"; C17. -/
theorem approx_iterates {T : X → X} (hT : Modulus T γ) (hγ₁ : γ < 1) {x : Nat → X} {xs : X}
    (fixed : T xs = xs) (h₀ : near d₀ (x 0) xs) (step : ∀ n, near ε (x (n + 1)) (T (x n)))
    (n : Nat) :
    near (γ ^ n * d₀ + ε * (1 - γ ^ n) / (1 - γ)) (x n) xs :=
  near_recursion hγ₁ (y := fun _ => xs) h₀ (fun n e he => by
    have h := near_trans (step n) (hT e _ _ he)
    rw [fixed] at h
    exact near_mono (by grind) h) n

/-- The bound of `approx_iterates` is attained: `T q = γ·q`, started at its fixed point `0`, with
the error `ε` in every step. C17. -/
theorem approx_iterates_attained (hγ₁ : γ < 1) (hε : 0 ≤ ε) : ∃ q : Nat → K, q 0 = 0 ∧
    (∀ n, Within ε (q (n + 1)) (γ * q n)) ∧ ∀ n, q n = ε * (1 - γ ^ n) / (1 - γ) := by
  refine ⟨fun n => ε * (1 - γ ^ n) / (1 - γ), ?_, fun n => ?_, fun _ => rfl⟩
  · simp only [Semiring.pow_zero]; grind
  · dsimp only
    have hne : 1 - γ ≠ 0 := by grind
    have e : ε * (1 - γ ^ (n + 1)) / (1 - γ) = γ * (ε * (1 - γ ^ n) / (1 - γ)) + ε := by
      rw [Semiring.pow_succ]; grind
    rw [e]
    unfold Within
    grind

/-- Mini-batch noise: if each step adds noise of at most `ε` to the exact backup of every pair, the
iterates stay within `γⁿ·d₀ + ε·(1 - γⁿ)/(1 - γ)` of `Q*`. C17. -/
theorem noisy_backups [DecidableLE K] (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) {pen : S → A → K} {Q : Nat → S → A → K} {Qs : S → A → K}
    {noise : Nat → S → A → K} (fixed : rev R γ E V pen Qs = Qs) (h₀ : near d₀ (Q 0) Qs)
    (hnoise : ∀ n s a, mag (noise n s a) ≤ ε)
    (step : ∀ n s a, Q (n + 1) s a = rev R γ E V pen (Q n) s a + noise n s a) (n : Nat) :
    near (γ ^ n * d₀ + ε * (1 - γ ^ n) / (1 - γ)) (Q n) Qs :=
  approx_iterates (rev_blackwell hγ hE hV).modulus hγ₁ fixed h₀ (fun n s a => by
    rw [near_iff, within_iff_mag, step n s a]
    have e : rev R γ E V pen (Q n) s a + noise n s a - rev R γ E V pen (Q n) s a = noise n s a := by
      grind
    rw [e]
    exact hnoise n s a) n

/-! ## Fixed points depend on the penalty -/

/-- If `T` and `U` differ by at most `δ` at the fixed point of `U`, their fixed points differ by at
most `δ/(1 - γ)`. -/
theorem fixed_point_near {T U : X → X} (hT : Modulus T γ) (hγ₁ : γ < 1) {x y : X} (hx : T x = x)
    (hy : U y = y) (hd : HasDist K x y) (h : near δ (T y) (U y)) : near (δ / (1 - γ)) x y :=
  hd.near_of_step hγ₁ (fun e he => by
    have h' := near_trans (hT e _ _ he) h
    rwa [hx, hy] at h')

/-- Backups whose penalties differ by at most `η` differ by at most `γ·η`. -/
theorem rev_near_of_penalty (hγ : 0 ≤ γ) {pen pen' : S → A → K} (h : near η pen pen')
    (Q : S → A → K) : near (γ * η) (rev R γ E V pen Q) (rev R γ E V pen' Q) := fun s a => by
  have h' := within_backup (R := R s a) hγ (Within.refl (E s a fun s' => V s' (Q s'))) (h s a)
  rwa [AddCommMonoid.zero_add] at h'

/-- The fixed point depends on the penalty with modulus `γ/(1 - γ)`. Appendix E, (S1); C18. -/
theorem rev_fixed_point_near (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) {pen pen' Q Q' : S → A → K} (hQ : rev R γ E V pen Q = Q)
    (hQ' : rev R γ E V pen' Q' = Q') (hd : HasDist K Q Q') (h : near η pen pen') :
    near (γ * η / (1 - γ)) Q Q' :=
  fixed_point_near (rev_blackwell hγ hE hV).modulus hγ₁ hQ hQ' hd (rev_near_of_penalty hγ h Q')

/-- On one state with one action the fixed point is `(R - γ·p)/(1 - γ)`, and its modulus in the
penalty `p` is exactly `γ/(1 - γ)`. C18. -/
theorem fixed_point_penalty_exactModulus (R : K) (hγ : 0 ≤ γ) (hγ₁ : γ < 1) :
    (∀ p : K, R + γ * ((R - γ * p) / (1 - γ) - p) = (R - γ * p) / (1 - γ)) ∧
      ExactModulus (fun p : K => (R - γ * p) / (1 - γ)) (γ / (1 - γ)) := by
  have hpos : 0 < 1 - γ := by grind
  have hne : 1 - γ ≠ 0 := by grind
  have e : ∀ p : K, (R - γ * p) / (1 - γ) = R / (1 - γ) - γ / (1 - γ) * p := by intro p; grind
  refine ⟨fun p => by grind, fun ε p p' h => ?_, fun c h => ?_⟩
  · rw [e, e]
    have h' := Within.mul_left h (div_nonneg hγ hpos)
    rw [near_iff]
    unfold Within at *
    grind
  · refine h.le_of_pair 0 1 (by rw [near_iff]; unfold Within; grind) (fun ε h' => ?_)
    rw [e, e, near_iff] at h'
    unfold Within at h'
    grind

/-! ## Penalties that drift between steps -/

/-- **Tracking.** Step `t` backs up with the penalty `pen t`, which moves by at most `η` a step. If
`Q* t` is the fixed point that belongs to `pen t`, then after `n` steps the iterate is within
`γⁿ·e₀ + γη·(1 - γⁿ)/(1 - γ)²` of `Q* n`. Appendix E, (S1); C18. -/
theorem tracking (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) {pen Q Qs : Nat → S → A → K}
    (fixed : ∀ t, rev R γ E V (pen t) (Qs t) = Qs t)
    (step : ∀ t, Q (t + 1) = rev R γ E V (pen t) (Q t))
    (hd : ∀ t, HasDist K (Qs t) (Qs (t + 1))) (drift : ∀ t, near η (pen t) (pen (t + 1)))
    (h₀ : near e₀ (Q 0) (Qs 0)) (n : Nat) :
    near (γ ^ n * e₀ + γ * η * (1 - γ ^ n) / (1 - γ) ^ 2) (Q n) (Qs n) := by
  have h := near_recursion (δ := γ * η / (1 - γ)) hγ₁ h₀ (fun t e he => by
    have h₁ := (rev_blackwell (R := R) (pen := pen t) hγ hE hV).modulus e _ _ he
    rw [fixed t, ← step t] at h₁
    exact near_trans h₁
      (rev_fixed_point_near hγ hγ₁ hE hV (fixed t) (fixed (t + 1)) (hd t) (drift t))) n
  have hne : 1 - γ ≠ 0 := by grind
  have e : γ ^ n * e₀ + γ * η / (1 - γ) * (1 - γ ^ n) / (1 - γ)
      = γ ^ n * e₀ + γ * η * (1 - γ ^ n) / (1 - γ) ^ 2 := by grind
  rwa [e] at h

/-- The tracking bound is attained: one state with one action, `R = 0`, `pen t = η·t`, started at
the fixed point. C18. -/
theorem tracking_attained (hγ₁ : γ < 1) (η : K) : ∃ q qs : Nat → K,
    q 0 = qs 0 ∧ (∀ t : Nat, qs t = γ * (qs t - η * (t : K))) ∧
      (∀ t : Nat, q (t + 1) = γ * (q t - η * (t : K))) ∧
      ∀ n, q n - qs n = γ * η * (1 - γ ^ n) / (1 - γ) ^ 2 := by
  have hne : 1 - γ ≠ 0 := by grind
  refine ⟨fun t => -(γ * η * (t : K)) / (1 - γ) + γ * η * (1 - γ ^ t) / (1 - γ) ^ 2,
    fun t => -(γ * η * (t : K)) / (1 - γ), ?_, fun t => ?_, fun t => ?_, fun t => ?_⟩
  · simp only [Semiring.pow_zero]; grind
  · dsimp only
    generalize (t : K) = c
    grind
  · have e : ((t + 1 : Nat) : K) = (t : K) + 1 := by grind
    simp only [e, Semiring.pow_succ]
    generalize (t : K) = c
    generalize γ ^ t = p
    grind
  · grind

end RESAC
