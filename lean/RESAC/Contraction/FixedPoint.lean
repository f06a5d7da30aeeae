module

public import RESAC.Contraction.Blackwell

public section

/-!
# Fixed points: uniqueness, error bounds, the stopping rule, order

What a contraction says about its fixed points *when they exist* (`RESAC.Contraction.Existence` shows that they
do, for finite state and action sets). Over an arbitrary ordered field, or on infinite sets, the
pointwise form of the contraction is not enough: `fixedPoint_not_unique`. What is needed is that the
distance of the two functions in question exists, `HasDist`: among its bounds there is a least one.
Finite sets have it over every ordered field (`hasDist_fin₂`), bounded functions over `ℝ`.

## Main statements
* `fixedPoint_unique`, `fixedPoint_unique_fin` (C11).
* `apriori_bound`, `iterate_bound`: `γⁿ/(1-γ)·‖T Q - Q‖`, and `γⁿ·‖Q - Q*‖`.
* `aposteriori_bound_self`: `‖Q - Q*‖ ≤ ‖T Q - Q‖/(1-γ)`.
* `aposteriori_bound`: `‖T Q - Q*‖ ≤ γ/(1-γ)·‖T Q - Q‖`.
* `iterateUntil_bound`: what value iteration with a stopping rule *returns* is within the tolerance
  of the fixed point; `iterateUntil_isSome`: enough fuel makes it return.
* `comparison`: a function below its backup is below a function above its backup.
* `rev_fixedPoint_mono`: the fixed point is increasing in the reward, decreasing in the penalty.
* `fixedPoint_not_unique`: on `ℕ` with `n → n + 1` and `γ = 1/2`, both `0` and `2ⁿ` are fixed.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-! ## Bounds for any contraction -/

section Metric

variable {X : Type v} [Near K X] {T : X → X} {γ : K}

/-- Two fixed points are at distance zero. -/
theorem fixedPoint_near {x y : X} (hT : Modulus T γ) (hγ₁ : γ < 1) (hx : T x = x) (hy : T y = y)
    (hd : HasDist K x y) : near (0 : K) x y := by
  have h := hd.near_of_step (γ := γ) (δ := 0) hγ₁ fun e he => by
    have h := hT e x y he
    rw [hx, hy] at h
    rwa [Semiring.add_zero]
  have e : (0 : K) / (1 - γ) = 0 := by clear h; grind
  rwa [e] at h

/-- **A-posteriori bound for `Q` itself**: a residual `δ` bounds the error by `δ/(1-γ)`. C11. -/
theorem aposteriori_bound_self {x y : X} {δ : K} (hT : Modulus T γ) (hγ₁ : γ < 1) (hy : T y = y)
    (hd : HasDist K x y) (hδ : near δ x (T x)) : near (δ / (1 - γ)) x y :=
  hd.near_of_step hγ₁ fun e he => by
    have h := near_trans hδ (hT e x y he)
    rw [hy] at h
    have e' : δ + γ * e = γ * e + δ := by clear h; grind
    rwa [e'] at h

/-- **A-posteriori bound for the iterate `T Q`**: a residual `δ` at `Q` bounds the error of `T Q` by
`γ/(1-γ)·δ`. C11. -/
theorem aposteriori_bound {x y : X} {δ : K} (hT : Modulus T γ) (hγ₁ : γ < 1) (hy : T y = y)
    (hd : HasDist K x y) (hδ : near δ x (T x)) : near (γ * (δ / (1 - γ))) (T x) y := by
  have h := hT _ x y (aposteriori_bound_self hT hγ₁ hy hd hδ)
  rwa [hy] at h

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- Iterates approach a fixed point by a factor `γ` a step: no further hypothesis is needed. C11. -/
theorem iterate_bound {x y : X} {ε : K} (hT : Modulus T γ) (hy : T y = y) (h₀ : near ε x y) :
    ∀ n : Nat, near (γ ^ n * ε) (Nat.repeat T n x) y
  | 0 => by rw [Semiring.pow_zero, Semiring.one_mul]; exact h₀
  | n + 1 => by
    have h := hT _ _ _ (iterate_bound hT hy h₀ n)
    have e : γ ^ (n + 1) * ε = γ * (γ ^ n * ε) := by rw [Semiring.pow_succ]; clear h; grind
    rw [hy] at h
    rw [e]; exact h

/-- **A-priori bound**: the first residual bounds the error of every iterate, by
`γⁿ·‖T Q - Q‖/(1-γ)`. C11. -/
theorem apriori_bound {x y : X} {δ : K} (hT : Modulus T γ) (hγ₁ : γ < 1) (hy : T y = y)
    (hd : HasDist K x y) (hδ : near δ x (T x)) (n : Nat) :
    near (γ ^ n * (δ / (1 - γ))) (Nat.repeat T n x) y :=
  iterate_bound hT hy (aposteriori_bound_self hT hγ₁ hy hd hδ) n

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- Residuals shrink by a factor `γ` a step. -/
theorem residual_bound {x : X} {δ : K} (hT : Modulus T γ) (hδ : near δ x (T x)) :
    ∀ n : Nat, near (γ ^ n * δ) (Nat.repeat T n x) (T (Nat.repeat T n x))
  | 0 => by rw [Semiring.pow_zero, Semiring.one_mul]; exact hδ
  | n + 1 => by
    have h := hT _ _ _ (residual_bound hT hδ n)
    have e : γ ^ (n + 1) * δ = γ * (γ ^ n * δ) := by rw [Semiring.pow_succ]; clear h; grind
    rw [e]; exact h

end Metric

/-! ## The stopping rule -/

section Stopping

variable {X : Type v}

/-- Value iteration as it is run: back up until `stop Q (T Q)` says so, and return the last iterate
`T Q`; give up, with `none`, when the fuel is spent. -/
@[expose] def iterateUntil (T : X → X) (stop : X → X → Bool) : Nat → X → Option X
  | 0, _ => none
  | fuel + 1, x => if stop x (T x) then some (T x) else iterateUntil T stop fuel (T x)

variable [Near K X] {T : X → X} {γ : K} {stop : X → X → Bool}

/-- **The stopping rule is right.** If value iteration stops only at a residual of at most `δ` with
`γ·δ ≤ τ·(1-γ)`, then whatever it returns is within `τ` of the fixed point. C11. -/
theorem iterateUntil_bound {δ τ : K} {y : X} (hT : Modulus T γ) (hγ₁ : γ < 1) (hy : T y = y)
    (hd : ∀ x, HasDist K x y) (hstop : ∀ x x', stop x x' = true → near δ x x')
    (hτ : γ * δ ≤ τ * (1 - γ)) :
    ∀ (fuel : Nat) (x r : X), iterateUntil T stop fuel x = some r → near τ r y
  | 0, x, r, h => by simp [iterateUntil] at h
  | fuel + 1, x, r, h => by
    rw [iterateUntil] at h
    split at h
    · next hs =>
      have hr : T x = r := Option.some.inj h
      rw [← hr]
      refine near_mono ?_ (aposteriori_bound hT hγ₁ hy (hd x) (hstop _ _ hs))
      have h₁ : 0 < 1 - γ := by clear hd hstop h; grind
      have h₂ : γ * (δ / (1 - γ)) = γ * δ / (1 - γ) := by clear hd hstop h; grind
      rw [h₂, div_le_iff h₁]; exact hτ
    · exact iterateUntil_bound hT hγ₁ hy hd hstop hτ fuel (T x) r h

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- **The stopping rule stops.** If value iteration stops at every residual of at most `δ`, it
returns within `n + 1` backups once `γⁿ·‖T Q - Q‖ ≤ δ`. C11. -/
theorem iterateUntil_isSome {δ : K} (hT : Modulus T γ)
    (hstop : ∀ x x', near δ x x' → stop x x' = true) :
    ∀ (n : Nat) (x : X) (ε : K), near ε x (T x) → γ ^ n * ε ≤ δ →
      (iterateUntil T stop (n + 1) x).isSome = true
  | 0, x, ε, h, hε => by
    rw [Semiring.pow_zero, Semiring.one_mul] at hε
    rw [iterateUntil, hstop x (T x) (near_mono hε h)]; rfl
  | n + 1, x, ε, h, hε => by
    rw [iterateUntil]
    split
    · rfl
    · refine iterateUntil_isSome hT hstop n (T x) (γ * ε) (hT ε x (T x) h) ?_
      have e : γ ^ n * (γ * ε) = γ ^ (n + 1) * ε := by
        rw [Semiring.pow_succ, Semiring.mul_assoc]
      rw [e]; exact hε

end Stopping

/-! ## Uniqueness of the REV fixed point -/

variable {S : Type v} {A : Type w} {T : (S → A → K) → S → A → K} {γ : K}

/-- **Uniqueness.** Two fixed points of a γ-contraction, γ < 1, whose distance exists are equal.
Appendix E, Theorem (RE-SAC Contraction); C11. -/
theorem fixedPoint_unique {Q₁ Q₂ : S → A → K} (hT : Modulus T γ) (hγ₁ : γ < 1) (h₁ : T Q₁ = Q₁)
    (h₂ : T Q₂ = Q₂) (hd : HasDist K Q₁ Q₂) : Q₁ = Q₂ := by
  have h := fixedPoint_near hT hγ₁ h₁ h₂ hd
  funext s a
  exact within_zero_iff.1 (h s a)

/-- On finite, non-empty sets the distance exists, over every ordered field: a γ-contraction has at
most one fixed point. C11. -/
theorem fixedPoint_unique_fin [DecidableLE K] {n m : Nat}
    {T : (Fin (n + 1) → Fin (m + 1) → K) → Fin (n + 1) → Fin (m + 1) → K}
    {Q₁ Q₂ : Fin (n + 1) → Fin (m + 1) → K} (hT : Modulus T γ) (hγ₁ : γ < 1) (h₁ : T Q₁ = Q₁)
    (h₂ : T Q₂ = Q₂) : Q₁ = Q₂ :=
  fixedPoint_unique hT hγ₁ h₁ h₂ (hasDist_fin₂ Q₁ Q₂)

/-- **Without a distance there is no uniqueness.** On the states `ℕ` with `n → n + 1`, one action,
no reward and `γ = 1/2`, both `0` and `2ⁿ` are fixed points. C11. -/
theorem fixedPoint_not_unique :
    let T : (Nat → Fin 1 → K) → Nat → Fin 1 → K :=
      rev (fun _ _ => 0) (1 / 2) (fun n _ f => f (n + 1)) (fun _ q => q 0) fun _ _ => 0
    let Q : Nat → Fin 1 → K := fun n _ => 2 ^ n
    T (fun _ _ => 0) = (fun _ _ => 0) ∧ T Q = Q ∧ Q ≠ fun _ _ => 0 := by
  have h2 : (2 : K) ≠ 0 := by
    have := OrderedRing.zero_lt_one (R := K)
    grind
  refine ⟨?_, ?_, fun h => ?_⟩
  · funext n a; simp only [rev]; grind
  · funext n a; simp only [rev]; rw [Semiring.pow_succ]; grind
  · have := congrFun (congrFun h 0) 0
    rw [Semiring.pow_zero] at this
    have := OrderedRing.zero_lt_one (R := K)
    grind

/-! ## Order -/

section Comparison

variable [DecidableLE K]

/-- **Comparison.** If `Q₁` is below its backup and `Q₂` above its own, then `Q₁ ≤ Q₂`. The distance
that must exist is that of `max(Q₁, Q₂)` and `Q₂`: how far `Q₁` rises above `Q₂`. (Without it
`fixedPoint_not_unique` is a counterexample: `2ⁿ` is below its backup and `0` above its own.)
C11. -/
theorem comparison {Q₁ Q₂ : S → A → K} (hT : Blackwell T γ) (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    (h₁ : ∀ s a, Q₁ s a ≤ T Q₁ s a) (h₂ : ∀ s a, T Q₂ s a ≤ Q₂ s a)
    (hd : HasDist K (fun s a => larger (Q₁ s a) (Q₂ s a)) Q₂) (s : S) (a : A) :
    Q₁ s a ≤ Q₂ s a := by
  have step : ∀ e : K, near e (fun s a => larger (Q₁ s a) (Q₂ s a)) Q₂ →
      near (γ * e + 0) (fun s a => larger (Q₁ s a) (Q₂ s a)) Q₂ := fun e he s a => by
    have he₀ : 0 ≤ e := (he s a : Within _ _ _).nonneg
    have hle : ∀ s a, Q₁ s a ≤ Q₂ s a + e := fun s a =>
      le_trans (le_larger_left (Q₁ s a) (Q₂ s a)) (he s a).1
    have h₃ := le_trans (h₁ s a) (hT.mono Q₁ (fun s a => Q₂ s a + e) hle s a)
    have h₄ := le_trans h₃ (hT.discount Q₂ e he₀ s a)
    have h₅ := h₂ s a
    have h₆ := mul_nonneg hγ he₀
    have h₇ := le_larger_right (Q₁ s a) (Q₂ s a)
    rw [Semiring.add_zero]
    exact ⟨larger_le_iff.2 ⟨by grind, by grind⟩, by grind⟩
  have h : Within _ _ _ := hd.near_of_step hγ₁ step s a
  have h₃ := le_trans (le_larger_left (Q₁ s a) (Q₂ s a)) h.1
  have e : (0 : K) / (1 - γ) = 0 := by clear h₃ h; grind
  rwa [e, Semiring.add_zero] at h₃

/-- Comparison on finite, non-empty sets, over every ordered field. C11. -/
theorem comparison_fin {n m : Nat}
    {T : (Fin (n + 1) → Fin (m + 1) → K) → Fin (n + 1) → Fin (m + 1) → K}
    {Q₁ Q₂ : Fin (n + 1) → Fin (m + 1) → K} (hT : Blackwell T γ) (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    (h₁ : ∀ s a, Q₁ s a ≤ T Q₁ s a) (h₂ : ∀ s a, T Q₂ s a ≤ Q₂ s a) (s : Fin (n + 1))
    (a : Fin (m + 1)) : Q₁ s a ≤ Q₂ s a :=
  comparison hT hγ hγ₁ h₁ h₂ (hasDist_fin₂ _ _) s a

variable {E : S → A → (S → K) → K} {V : S → (A → K) → K}
variable {R₁ R₂ pen₁ pen₂ Q₁ Q₂ : S → A → K}

/-- **The fixed point is increasing in the reward and decreasing in the penalty.** More penalty
never raises the robust value. C11. -/
theorem rev_fixedPoint_mono (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hR : ∀ s a, R₁ s a ≤ R₂ s a)
    (hpen : ∀ s a, pen₂ s a ≤ pen₁ s a) (h₁ : rev R₁ γ E V pen₁ Q₁ = Q₁)
    (h₂ : rev R₂ γ E V pen₂ Q₂ = Q₂) (hd : HasDist K (fun s a => larger (Q₁ s a) (Q₂ s a)) Q₂)
    (s : S) (a : A) : Q₁ s a ≤ Q₂ s a := by
  refine comparison (rev_blackwell (R := R₂) (pen := pen₂) hγ hE hV) hγ hγ₁ (fun s a => ?_)
    (fun s a => ?_) hd s a
  · have h := rev_mono_data (E := E) (V := V) hγ hR hpen Q₁ s a
    rwa [h₁] at h
  · rw [h₂]; exact le_refl _

/-- The same on finite, non-empty sets, over every ordered field. C11. -/
theorem rev_fixedPoint_mono_fin {n m : Nat}
    {E : Fin (n + 1) → Fin (m + 1) → (Fin (n + 1) → K) → K}
    {V : Fin (n + 1) → (Fin (m + 1) → K) → K}
    {R₁ R₂ pen₁ pen₂ Q₁ Q₂ : Fin (n + 1) → Fin (m + 1) → K} (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    (hR : ∀ s a, R₁ s a ≤ R₂ s a) (hpen : ∀ s a, pen₂ s a ≤ pen₁ s a)
    (h₁ : rev R₁ γ E V pen₁ Q₁ = Q₁) (h₂ : rev R₂ γ E V pen₂ Q₂ = Q₂) (s : Fin (n + 1))
    (a : Fin (m + 1)) : Q₁ s a ≤ Q₂ s a :=
  rev_fixedPoint_mono hγ hγ₁ hE hV hR hpen h₁ h₂ (hasDist_fin₂ _ _) s a

end Comparison

end RESAC
