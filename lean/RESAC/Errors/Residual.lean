module

public import RESAC.Contraction.FixedPoint
public import RESAC.Errors.Projection

public section

/-!
# Minimising the Bellman residual

"The training loop minimises this residual" (Appendix E, Remark on function approximation). What a
minimiser of the residual over a function class guarantees is not the paper's constant `1/(1 - γ)`,
but `(1 + γ)/(1 - γ)`.

## Main definitions
* `exchange γ`: the backup of two states that lead to each other, without reward.

## Main statements (C17)
* `residual_minimiser`: the minimiser errs by at most `(1 + γ)/(1 - γ)` times the best error.
* `residual_constant_refuted`: `1/(1 - γ)` fails, at `γ = 1/2` over two functions.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v

/-- Two states that lead to each other, one action, no reward. -/
@[expose] def exchange {K : Type u} [Field K] (γ : K) : (Fin 2 → Unit → K) → Fin 2 → Unit → K :=
  rev (fun _ _ => 0) γ (fun s _ f => if s = 0 then f 1 else f 0) (fun _ q => q ()) (fun _ _ => 0)

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- **A minimiser of the Bellman residual** errs by at most `(1 + γ)/(1 - γ)` times the error `e` of
any competitor `y`, so of the best one. Appendix E, "minimises this residual", corrected; C17. -/
theorem residual_minimiser {X : Type v} [Near K X] {T : X → X} {γ e : K} {xs xh y : X}
    (hT : Modulus T γ) (hγ₁ : γ < 1) (hxs : T xs = xs) (hy : near e y xs)
    (hmin : ∀ r : K, near r y (T y) → near r xh (T xh)) (hd : HasDist K xh xs) :
    near ((1 + γ) / (1 - γ) * e) xh xs := by
  have h₁ := hT e y xs hy
  rw [hxs] at h₁
  have h₂ := aposteriori_bound_self hT hγ₁ hxs hd (hmin _ (near_trans hy (near_symm h₁)))
  have hne : 1 - γ ≠ 0 := by clear h₁ h₂ hmin hT; grind
  have e₁ : (1 + γ) / (1 - γ) * e = (e + γ * e) / (1 - γ) := by clear h₁ h₂ hmin hT; grind
  rw [e₁]
  exact h₂

/-- `exchange` is a γ-contraction with the fixed point zero. -/
theorem exchange_modulus {γ : K} (hγ : 0 ≤ γ) : Modulus (exchange γ) γ := by
  refine (rev_blackwell hγ (fun s _ => ?_) fun _ => Monetary.eval ()).modulus
  by_cases h : s = 0
  · simp only [h, if_true]; exact Monetary.eval 1
  · simp only [h, if_false]; exact Monetary.eval 0

/-- **The constant `1/(1 - γ)` fails for the minimiser of the residual as well.** Two states that
lead to each other, no reward, `γ = 1/2`, so `Q* = 0`; of the two functions `(1, -1)` and
`(2.9, 2.9)` the second has the smaller residual (`1.45 < 1.5`) and errs by `2.9 > 2`, twice the
first one's error. C17. -/
theorem residual_constant_refuted :
    let T : (Fin 2 → Unit → K) → Fin 2 → Unit → K := exchange (1 / 2)
    let small : Fin 2 → Unit → K := twoStates 1 (-1)
    let large : Fin 2 → Unit → K := twoStates (29 / 10) (29 / 10)
    let Qs : Fin 2 → Unit → K := twoStates 0 0
    T Qs = Qs ∧ near (1 : K) small Qs ∧
      (∀ r : K, near r small (T small) → near r large (T large)) ∧
      ¬ near (1 / (1 - 1 / 2) * 1 : K) large Qs := by
  intro T small large Qs
  have e₁ : exchange (1 / 2 : K) (twoStates 1 (-1)) = twoStates (-1 / 2) (1 / 2) := by
    apply twoStates_ext <;> simp [exchange, rev, twoStates] <;> grind
  have e₂ : exchange (1 / 2 : K) (twoStates (29 / 10) (29 / 10)) =
      twoStates (29 / 20) (29 / 20) := by
    apply twoStates_ext <;> simp [exchange, rev, twoStates] <;> grind
  refine ⟨?_, fun s a => ?_, fun r h s a => ?_, fun h => ?_⟩
  · apply twoStates_ext <;> simp [T, Qs, exchange, rev, twoStates] <;> grind
  · rw [near_iff]; simp only [small, Qs]; unfold Within twoStates; split <;> grind
  · simp only [T, small, large] at h ⊢
    rw [e₁] at h
    rw [e₂]
    have h₁ := h 0 ()
    rw [near_iff] at h₁ ⊢
    simp [Within, twoStates] at h₁ ⊢
    grind
  · have h₁ := h 0 ()
    rw [near_iff] at h₁
    simp [large, Qs, Within, twoStates] at h₁
    grind

end RESAC
