module

public import RESAC.Errors.ApproxContraction
public import RESAC.Foundations.Finite

public section

/-!
# What a greedy policy loses

If `Q` is within `ε` of `Q*`, how much worse than the optimum is the policy that is greedy for `Q`?
The answer `2ε/(1 - γ)` belongs beside the paper's approximation bound (Appendix E, "Remark
(function approximation in practice)", (S4)): it is what an error in `Q` costs in return.

"Greedy" is taken in a general sense: `W s`, the value functional of the policy, agrees with the
optimal one `V s` at `Q s`. For `V = max` and `W s q = q (π s)` this says that `π s` maximises
`Q s`; it covers the soft operator with its Boltzmann policy as well.

## Main statements (C17)
* `greedy_loss`: `‖V* - V^π‖ ≤ 2ε/(1 - γ)` and `‖Q* - Q^π‖ ≤ 2γε/(1 - γ)`.
* `greedy_loss_max`: finite actions, the maximum and a deterministic greedy policy.
* `greedy_loss_attained`: both bounds are attained, for every discount.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {S : Type v} {A : Type w} {γ ε : K}

/-- **Loss of a greedy policy.** `Q*` is the fixed point under the value functional `V`, `Q^π` that
under the policy's `W`, and `W` agrees with `V` at a `Q` within `ε` of `Q*`. Then the state values
differ by at most `2ε/(1 - γ)` and the action values by at most `2γε/(1 - γ)`. C17. -/
theorem greedy_loss {R : S → A → K} {E : S → A → (S → K) → K} {V W : S → (A → K) → K}
    {pen Q Qs Qp : S → A → K} (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hW : ∀ s, Monetary (W s)) (hQs : rev R γ E V pen Qs = Qs)
    (hQp : rev R γ E W pen Qp = Qp) (greedy : ∀ s, W s (Q s) = V s (Q s)) (h : near ε Q Qs)
    (hd : HasDist K (fun s => V s (Qs s)) (fun s => W s (Qp s))) :
    near (2 * ε / (1 - γ)) (fun s => V s (Qs s)) (fun s => W s (Qp s)) ∧
      near (2 * γ * ε / (1 - γ)) Qs Qp := by
  have hQ : ∀ e : K, near e (fun s => V s (Qs s)) (fun s => W s (Qp s)) →
      near (γ * e) Qs Qp := by
    intro e he s a
    have h' := within_backup (R := R s a) hγ ((hE s a).within he) (Within.refl (pen s a))
    rw [Semiring.add_zero] at h'
    have e₁ := congrFun (congrFun hQs s) a
    have e₂ := congrFun (congrFun hQp s) a
    unfold rev at e₁ e₂
    rwa [e₁, e₂] at h'
  have hstep : near (2 * ε / (1 - γ)) (fun s => V s (Qs s)) (fun s => W s (Qp s)) :=
    hd.near_of_step hγ₁ (fun e he s => by
      have h₁ := (hV s).within (fun a => near_symm (h s a))
      have h₂ := (hW s).within (fun a => h s a)
      have h₃ := (hW s).within (fun a => hQ e he s a)
      rw [greedy s] at h₂
      exact Within.mono ((h₁.trans h₂).trans h₃) (by grind))
  refine ⟨hstep, ?_⟩
  have e : 2 * γ * ε / (1 - γ) = γ * (2 * ε / (1 - γ)) := by
    have : 1 - γ ≠ 0 := by grind
    grind
  rw [e]
  exact hQ _ hstep

/-- The case of finitely many states and actions and a deterministic greedy policy `π`: its return
is at most `2ε/(1 - γ)` below the optimum in every state. C17. -/
theorem greedy_loss_max [DecidableLE K] {n m : Nat} {R pen Q Qs Qp : Fin (n + 1) → Fin (m + 1) → K}
    {P : Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → K} {π : Fin (n + 1) → Fin (m + 1)} (hγ : 0 ≤ γ)
    (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a))
    (hQs : rev R γ (kernelE P) (fun _ => fmax) pen Qs = Qs)
    (hQp : rev R γ (kernelE P) (fun s q => q (π s)) pen Qp = Qp)
    (greedy : ∀ s a, Q s a ≤ Q s (π s)) (h : near ε Q Qs) (s : Fin (n + 1)) :
    fmax (Qs s) - Qp s (π s) ≤ 2 * ε / (1 - γ) := by
  have h' := (greedy_loss hγ hγ₁ (fun s a => expect_monetary (hP s a)) (fun _ => fmax_monetary)
    (fun s => Monetary.eval (π s)) hQs hQp (fun s => (fmax_eq (π s) rfl (greedy s)).symm) h
    (hasDist_fin _ _)).1 s
  rw [near_iff] at h'
  unfold Within at h'
  grind

section Tight

/-- Two actions, by their values. -/
@[expose] def twoActions {K : Type u} (x y : K) : Unit → Fin 2 → K :=
  fun _ a => if a = 0 then x else y

/-- **Both bounds are attained**, for every discount. One state, `R = (1, 0)`: `Q*` is
`(1, γ)/(1 - γ)`; let `Q` put both actions halfway, but for `δ ≥ 0` in favour of the second one, so
that `ε = 1/2 + δ`. A policy greedy for `Q` (the only one if `δ > 0`) takes the second action for
ever and loses `2(ε - δ)/(1 - γ)` in value and `2γ(ε - δ)/(1 - γ)` in every action value: with
`δ = 0` the bounds of `greedy_loss`, and no smaller constant will do with ties excluded. C17. -/
theorem greedy_loss_attained [DecidableLE K] (hγ₁ : γ < 1) {δ : K} (hδ : 0 ≤ δ) :
    ∃ Q Qs Qp : Unit → Fin 2 → K,
      rev (twoActions 1 0) γ (fun _ _ f => f ()) (fun _ => fmax) (fun _ _ => 0) Qs = Qs ∧
      rev (twoActions 1 0) γ (fun _ _ f => f ()) (fun _ q => q 1) (fun _ _ => 0) Qp = Qp ∧
      Q () 1 = Q () 0 + 2 * δ ∧ near (1 / 2 + δ) Q Qs ∧
      fmax (Qs ()) - Qp () 1 = 2 * (1 / 2) / (1 - γ) ∧
      ∀ a, Qs () a - Qp () a = 2 * γ * (1 / 2) / (1 - γ) := by
  have hne : 1 - γ ≠ 0 := by grind
  have hgap : 1 / (1 - γ) = γ / (1 - γ) + 1 := by grind
  have hmax : fmax (twoActions (1 / (1 - γ)) (γ / (1 - γ)) ()) = 1 / (1 - γ) := by
    refine fmax_eq 0 rfl (fun a => ?_)
    unfold twoActions
    split <;> grind
  refine ⟨twoActions ((1 + γ) / (2 * (1 - γ)) - δ) ((1 + γ) / (2 * (1 - γ)) + δ),
    twoActions (1 / (1 - γ)) (γ / (1 - γ)), twoActions 1 0, ?_, ?_, ?_, ?_, ?_, ?_⟩
  · funext s a
    simp only [rev]
    rw [hmax]
    unfold twoActions
    split <;> grind
  · funext s a
    simp only [rev, twoActions]
    split <;> grind
  · simp [twoActions]; grind
  · have e : (1 + γ) / (2 * (1 - γ)) = γ / (1 - γ) + 1 / 2 := by grind
    intro s a
    rw [near_iff, e, hgap]
    unfold Within twoActions
    split <;> grind
  · rw [hmax]; simp [twoActions]; grind
  · intro a
    unfold twoActions
    split <;> grind

end Tight

end RESAC
