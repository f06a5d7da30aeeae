module

public import RESAC.Contraction.FiniteTheorem

public section

/-!
# Value iteration on finite sets: what a solver may promise

The bounds of `RESAC.Contraction.FixedPoint` in the sup-norm of finite Q-functions, where every distance exists,
over every ordered field. They are about what the program *returns*: the stopping rule is part of
the statement. Nothing here mentions the penalty: any γ-contraction will do.

## Main definitions
* `valueIteration T δ fuel Q`: back up until two iterates are within `δ`, return the later one.

## Main statements
* `residual_bounds_error`: `‖Q - Q*‖∞ ≤ ‖Q - T Q‖∞/(1-γ)`, and for the next iterate
  `‖T Q - Q*‖∞ ≤ γ/(1-γ)·‖Q - T Q‖∞` (C11).
* `valueIteration_bound`: what value iteration returns is within the tolerance of the fixed point.
* `valueIteration_returns`: it returns once `γⁿ·‖Q - T Q‖∞ ≤ δ`.
* `revNext_fixedPoint_mono`: with the penalty of the next pair, too, the fixed point is increasing
  in the reward and decreasing in the penalties.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

/-- Value iteration: back up until two iterates differ by at most `δ` in the sup-norm, and return
the later one; `none` when the fuel is spent. -/
@[expose] def valueIteration {K : Type u} [Field K] [LE K] [DecidableLE K] {n m : Nat}
    (T : (Fin (n + 1) → Fin (m + 1) → K) → Fin (n + 1) → Fin (m + 1) → K) (δ : K) :
    Nat → (Fin (n + 1) → Fin (m + 1) → K) → Option (Fin (n + 1) → Fin (m + 1) → K) :=
  iterateUntil T fun Q Q' => decide (supNorm (fun s a => Q s a - Q' s a) ≤ δ)

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {γ : K}

section Finite

variable {n m : Nat} {T : (Fin (n + 1) → Fin (m + 1) → K) → Fin (n + 1) → Fin (m + 1) → K}
variable {Q Qs : Fin (n + 1) → Fin (m + 1) → K}

/-- **The a-posteriori bounds.** The residual of `Q` bounds the error of `Q` by the factor
`1/(1-γ)`, and the error of the next iterate `T Q` by the factor `γ/(1-γ)`. C11. -/
theorem residual_bounds_error (hT : Modulus T γ) (hγ₁ : γ < 1) (hQs : T Qs = Qs)
    (Q : Fin (n + 1) → Fin (m + 1) → K) :
    supNorm (fun s a => Q s a - Qs s a) ≤ supNorm (fun s a => Q s a - T Q s a) / (1 - γ) ∧
      supNorm (fun s a => T Q s a - Qs s a) ≤
        γ * (supNorm (fun s a => Q s a - T Q s a) / (1 - γ)) := by
  have hδ := near_iff_supNorm.2 (le_refl (supNorm fun s a => Q s a - T Q s a))
  have hd := hasDist_fin₂ Q Qs
  exact ⟨near_iff_supNorm.1 (aposteriori_bound_self hT hγ₁ hQs hd hδ),
    near_iff_supNorm.1 (aposteriori_bound hT hγ₁ hQs hd hδ)⟩

/-- **The a-priori bound**: `‖Tⁿ Q - Q*‖∞ ≤ γⁿ/(1-γ)·‖Q - T Q‖∞`. C11. -/
theorem first_residual_bounds_error (hT : Modulus T γ) (hγ₁ : γ < 1) (hQs : T Qs = Qs)
    (Q : Fin (n + 1) → Fin (m + 1) → K) (k : Nat) :
    supNorm (fun s a => Nat.repeat T k Q s a - Qs s a) ≤
      γ ^ k * (supNorm (fun s a => Q s a - T Q s a) / (1 - γ)) := by
  have hδ := near_iff_supNorm.2 (le_refl (supNorm fun s a => Q s a - T Q s a))
  exact near_iff_supNorm.1 (apriori_bound hT hγ₁ hQs (hasDist_fin₂ Q Qs) hδ k)

/-- **Value iteration is right.** With a threshold `δ` such that `γ·δ ≤ τ·(1-γ)`, whatever it
returns is within `τ` of the fixed point in the sup-norm, whatever it started from. C11. -/
theorem valueIteration_bound {δ τ : K} (hT : Modulus T γ) (hγ₁ : γ < 1) (hQs : T Qs = Qs)
    (hτ : γ * δ ≤ τ * (1 - γ)) {fuel : Nat} {r : Fin (n + 1) → Fin (m + 1) → K}
    (h : valueIteration T δ fuel Q = some r) : supNorm (fun s a => r s a - Qs s a) ≤ τ :=
  near_iff_supNorm.1 <| iterateUntil_bound hT hγ₁ hQs (fun Q => hasDist_fin₂ Q Qs)
    (fun _ _ hs => near_iff_supNorm.2 (of_decide_eq_true hs)) hτ fuel Q r h

/-- **Value iteration stops**: `k + 1` backups are enough once `γᵏ·‖Q - T Q‖∞ ≤ δ`. (In an
Archimedean field such a `k` exists for every `δ > 0`.) C11. -/
theorem valueIteration_returns {δ : K} (hT : Modulus T γ) {k : Nat}
    (hk : γ ^ k * supNorm (fun s a => Q s a - T Q s a) ≤ δ) :
    (valueIteration T δ (k + 1) Q).isSome = true :=
  iterateUntil_isSome hT (fun _ _ h => decide_eq_true (near_iff_supNorm.1 h)) k Q _
    (near_iff_supNorm.2 (le_refl _)) hk

end Finite

/-- **With the penalty of the next pair**, too, the fixed point is increasing in the reward and
decreasing in both penalties. The hypothesis on distances is that of `comparison`; finite sets meet
it by `hasDist_fin₂`. C11. -/
theorem revNext_fixedPoint_mono {S : Type v} {A : Type w} {E : S → A → (S → K) → K}
    {V : S → (A → K) → K} {R₁ R₂ lamG₁ lamG₂ Q₁ Q₂ : S → A → K} {κ₁ κ₂ : K} (hγ : 0 ≤ γ)
    (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    (hR : ∀ s a, R₁ s a ≤ R₂ s a) (hG : ∀ s a, lamG₂ s a ≤ lamG₁ s a) (hκ : κ₂ ≤ κ₁)
    (h₁ : revNext R₁ γ E V lamG₁ κ₁ Q₁ = Q₁) (h₂ : revNext R₂ γ E V lamG₂ κ₂ Q₂ = Q₂)
    (hd : HasDist K (fun s a => larger (Q₁ s a) (Q₂ s a)) Q₂) (s : S) (a : A) :
    Q₁ s a ≤ Q₂ s a := by
  refine comparison (revNext_blackwell (R := R₂) (lamG := lamG₂) (κ := κ₂) hγ hE hV) hγ hγ₁
    (fun s a => ?_) (fun s a => ?_) hd s a
  · have h : revNext R₁ γ E V lamG₁ κ₁ Q₁ s a ≤ revNext R₂ γ E V lamG₂ κ₂ Q₁ s a := by
      have h₃ := (hE s a).mono (fun s' => V s' fun a' => Q₁ s' a' - lamG₁ s' a')
        (fun s' => V s' fun a' => Q₁ s' a' - lamG₂ s' a') fun s' =>
          (hV s').mono _ _ fun a' => by have := hG s' a'; grind
      have h₄ := mul_le_mul_left h₃ hγ
      have h₅ := mul_le_mul_left hκ hγ
      have h₆ := hR s a
      unfold revNext; clear h₃ hG hR h₁ h₂ hd hE hV; grind
    rwa [h₁] at h
  · rw [h₂]; exact le_refl _

end RESAC
