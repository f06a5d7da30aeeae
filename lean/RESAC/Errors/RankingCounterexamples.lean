module

public import RESAC.Errors.Ranking
public import RESAC.Contraction.Terminal
public import RESAC.Foundations.Tables

public section

/-!
# Action-ranking preservation, refuted

The paper's Proposition (Action-ranking preservation) says that the penalised and the unpenalised
fixed point rank the actions in the same way, for *every* penalty, since "the penalty is identical
for every action `a`". A penalty at the next state is not: different actions lead to different next
states. Here the proposition is written down as the paper states it, in each form in which the paper
writes the penalty, and refuted by MDPs with at most two states over `ℚ`, whose fixed points the
kernel checks against the operators `rev`, `revNext` and `revDone` themselves.

All examples have `γ = 1/2` and `λ = 1`:

| | MDP | penalty | `Q*(s₀)` | `Q_rob(s₀)` |
|---|---|---|---|---|
| a | one state, `R = (1, 0)` | `Γ(s,a) = (4, 0)` | `(2, 1)` | `(-1, 0)` |
| b | stay or leave, `R = (1, 1)` | `Γ(s) = (4, 0)` | `(2, 1)` | `(-3/2, -1)` |
| c | stay or leave, `R = (1, 1)` | next pair, `Γ(s') = (2, 0)` | `(2, 1)` | `(1/2, 1)` |
| d | loop or end, `R = (1, 1)` | constant `κ = 2` under a done mask | `(2, 1)` | `(1/2, 1)` |
| e | one state, `R = (1, 0, -100)` | `Γ(s,a) = (4, 0, 0)` | `(2, 1, -99)` | `(-1, 0, -100)` |

## Main statements
* `ranking_refuted` (a), `ranking_refuted_state` (b), `ranking_refuted_next` (c): the proposition
  for `Γ(s,a)`, for `Γ(s)`, and for the paper's own `Γ(s',a')` (C22).
* `ranking_refuted_policy`: the same for the value of a fixed policy (C22).
* `ranking_refuted_done` (d): under a done mask even a constant penalty changes the ranking (C22);
  `depression_refuted_done`: and there is no uniform depression (C23).
* `practical_bound_refuted` (e): the paper's rule for `λ` allows a reversal (C25).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

section Definitions

/-- Two Q-functions rank the actions alike in every state: the paper's Eq. (ranking). -/
@[expose] def SameRanking {K : Type u} [LE K] {S : Type v} {A : Type w} (Q Q' : S → A → K) : Prop :=
  ∀ s a₁ a₂, Q' s a₂ ≤ Q' s a₁ ↔ Q s a₂ ≤ Q s a₁

/-- The kernel of deterministic transitions. -/
@[expose] def goTo {n m : Nat} (next : Fin n → Fin m → Fin n) : Fin n → Fin m → Fin n → Rat :=
  fun s a => point (next s a)

/-- The paper's Proposition (Action-ranking preservation), with `T` the penalised operator as a
function of reward, discount, kernel and of the penalty's data `Γ ≥ 0`, `κ ≥ 0`, `λ ≥ 0`. -/
@[expose] def ActionRankingPreservation (T : {n m : Nat} → (R : Fin (n + 1) → Fin (m + 1) → Rat) →
    (γ : Rat) → (P : Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → Rat) → (lam : Rat) →
    (Γ : Fin (n + 1) → Fin (m + 1) → Rat) → (κ : Rat) → (Fin (n + 1) → Fin (m + 1) → Rat) →
    Fin (n + 1) → Fin (m + 1) → Rat) : Prop :=
  ∀ (n m : Nat) (R : Fin (n + 1) → Fin (m + 1) → Rat) (γ : Rat)
    (P : Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → Rat) (lam : Rat)
    (Γ : Fin (n + 1) → Fin (m + 1) → Rat) (κ : Rat) (Qs Qr : Fin (n + 1) → Fin (m + 1) → Rat),
    0 ≤ γ → γ < 1 → (∀ s a, IsProb (P s a)) → 0 ≤ lam → (∀ s a, 0 ≤ Γ s a) → 0 ≤ κ →
    rev R γ (kernelE P) maxV (fun _ _ => 0) Qs = Qs → T R γ P lam Γ κ Qr = Qr → SameRanking Qs Qr

end Definitions

/-- Deterministic transitions are a probability kernel. -/
theorem goTo_isProb {n m : Nat} (next : Fin n → Fin m → Fin n) (s : Fin n) (a : Fin m) :
    IsProb (goTo next s a) := point_isProb _

/-! ## The MDPs -/

/-- One state, in which every action stays. -/
@[expose] def oneState {m : Nat} : Fin 1 → Fin m → Fin 1 := fun _ _ => 0

/-- Two states: in `s₀` the first action stays and the second leaves to `s₁`, which is absorbing. -/
@[expose] def stayOrLeave : Fin 2 → Fin 2 → Fin 2 := fun s a => if s = 0 ∧ a = 0 then 0 else 1

/-- `R(s₀,·) = (1, 1)`, no reward in `s₁`; its unpenalised fixed point is
`Q*(s₀,·) = (2, 1)`, `Q*(s₁,·) = 0`. -/
theorem stayOrLeave_fixed : rev (table [[1, 1], [0, 0]]) (1 / 2) (kernelE (goTo stayOrLeave)) maxV
    (fun _ _ => 0) (table [[2, 1], [0, 0]]) = table [[2, 1], [0, 0]] := by
  funext s a; revert s a; decide +kernel

/-! ## (a) The penalty `Γ(s,a)` of Section 4.2 and of the contraction theorem -/

/-- **Refuted, penalty `Γ(s,a)`**: one state, `R = (1, 0)`, `Γ = (4, 0)`: `Q* = (2, 1)` and
`Q_rob = (-1, 0)`. Appendix G, Proposition (Action-ranking preservation); C22 (a). -/
theorem ranking_refuted : ¬ ActionRankingPreservation
    (fun R γ P lam Γ κ => rev R γ (kernelE P) maxV (fun s a => lam * Γ s a + κ)) := by
  intro h
  have h' := h 0 1 (table [[1, 0]]) (1 / 2) (goTo oneState) 1 (table [[4, 0]]) 0 (table [[2, 1]])
    (table [[-1, 0]]) (by decide +kernel) (by decide +kernel) (goTo_isProb _) (by decide +kernel)
    (by decide +kernel) (by decide +kernel) (by funext s a; revert s a; decide +kernel)
    (by funext s a; revert s a; decide +kernel)
  exact absurd (h' 0 0 1) (by decide +kernel)

/-! ## (b) A penalty of the state alone -/

/-- **Refuted, penalty `Γ(s)`**, the same for every action of a state, as the paper's proof has it:
stay or leave, `Γ(s₀) = 4`, `Γ(s₁) = 0`: `Q*(s₀) = (2, 1)` and `Q_rob(s₀) = (-3/2, -1)`. The penalty
of the *next* state differs between the actions. Appendix G, "Key observation" and Proposition; C22
(b). -/
theorem ranking_refuted_state : ¬ ActionRankingPreservation
    (fun R γ P lam Γ κ => rev R γ (kernelE P) maxV (fun s _ => lam * Γ s 0 + κ)) := by
  intro h
  have h' := h 1 1 (table [[1, 1], [0, 0]]) (1 / 2) (goTo stayOrLeave) 1 (table [[4, 4], [0, 0]]) 0
    (table [[2, 1], [0, 0]]) (table [[-3 / 2, -1], [0, 0]]) (by decide +kernel) (by decide +kernel)
    (goTo_isProb _) (by decide +kernel) (by decide +kernel) (by decide +kernel) stayOrLeave_fixed
    (by funext s a; revert s a; decide +kernel)
  exact absurd (h' 0 0 1) (by decide +kernel)

/-! ## (c) The next-pair penalty that the proposition is about -/

/-- **Refuted, penalty `Γ(s',a')` of the next pair**, the paper's own form: stay or leave,
`Γ(s₀,·) = 2`, `Γ(s₁,·) = 0`: `Q*(s₀) = (2, 1)` and `Q_rob(s₀) = (1/2, 1)`. Appendix G, Proposition
(Action-ranking preservation); C22 (c). -/
theorem ranking_refuted_next : ¬ ActionRankingPreservation
    (fun R γ P lam Γ κ => revNext R γ (kernelE P) maxV (fun s a => lam * Γ s a) κ) := by
  intro h
  have h' := h 1 1 (table [[1, 1], [0, 0]]) (1 / 2) (goTo stayOrLeave) 1 (table [[2, 2], [0, 0]]) 0
    (table [[2, 1], [0, 0]]) (table [[1 / 2, 1], [0, 0]]) (by decide +kernel) (by decide +kernel)
    (goTo_isProb _) (by decide +kernel) (by decide +kernel) (by decide +kernel) stayOrLeave_fixed
    (by funext s a; revert s a; decide +kernel)
  exact absurd (h' 0 0 1) (by decide +kernel)

/-- **Refuted for a fixed policy as well**, `a' ∼ π(·|s')`: the same MDP under the uniform policy,
`Γ(s₀,·) = 2`: `Q^π(s₀) = (5/3, 1)` becomes `(1/3, 1)`. Appendix G, "sampled via `a' ∼ π`"; C22. -/
theorem ranking_refuted_policy :
    let T (Γ : Fin 2 → Fin 2 → Rat) := revNext (table [[1, 1], [0, 0]]) (1 / 2)
      (kernelE (goTo stayOrLeave)) (policyV fun _ _ => 1 / 2) Γ 0
    T (fun _ _ => 0) (table [[5 / 3, 1], [0, 0]]) = table [[5 / 3, 1], [0, 0]] ∧
      T (table [[2, 2], [0, 0]]) (table [[1 / 3, 1], [0, 0]]) = table [[1 / 3, 1], [0, 0]] ∧
      ¬ SameRanking (table [[5 / 3, 1], [0, 0]] : Fin 2 → Fin 2 → Rat)
        (table [[1 / 3, 1], [0, 0]]) := by
  refine ⟨?_, ?_, fun h => absurd (h 0 0 1) (by decide +kernel)⟩ <;>
    (funext s a; revert s a; decide +kernel)

/-! ## (d) A constant penalty under a done mask -/

/-- The masked backup of one state with a loop and an end: `R = (1, 1)`, the second action ends the
episode, and the constant `κ` is subtracted from the bootstrap value. -/
@[expose] def loopOrEnd (κ : Rat) : (Fin 1 → Fin 2 → Rat) → Fin 1 → Fin 2 → Rat :=
  revDone (table [[1, 1]]) (1 / 2) (table [[1, 0]]) (kernelE (goTo oneState)) maxV (fun _ _ => κ)

/-- The fixed points of `loopOrEnd` without and with `κ = 2`: `(2, 1)` and `(1/2, 1)`. -/
theorem loopOrEnd_fixed : loopOrEnd 0 (table [[2, 1]]) = table [[2, 1]] ∧
    loopOrEnd 2 (table [[1 / 2, 1]]) = table [[1 / 2, 1]] := by
  constructor <;> (funext s a; revert s a; decide +kernel)

/-- **Refuted under a done mask**, even for a *constant* penalty: `κ = 2` turns `(2, 1)` into
`(1/2, 1)`, since the looping action pays it for ever and the ending one never. Appendix G; C22
(d). -/
theorem ranking_refuted_done : ¬ ∀ (κ : Rat) (Qs Qr : Fin 1 → Fin 2 → Rat), 0 ≤ κ →
    loopOrEnd 0 Qs = Qs → loopOrEnd κ Qr = Qr → SameRanking Qs Qr := by
  intro h
  have h' := h 2 _ _ (by decide +kernel) loopOrEnd_fixed.1 loopOrEnd_fixed.2
  exact absurd (h' 0 0 1) (by decide +kernel)

/-- Under a done mask the depression `γκ/(1-γ)` is an upper bound only: the ending action is not
depressed at all. Appendix G, Eq. (depression); C23. -/
theorem depression_refuted_done : ¬ ∀ (κ : Rat) (Qs Qr : Fin 1 → Fin 2 → Rat), 0 ≤ κ →
    loopOrEnd 0 Qs = Qs → loopOrEnd κ Qr = Qr →
    ∀ s a, 1 / 2 * κ / (1 - 1 / 2) ≤ Qs s a - Qr s a := by
  intro h
  have h' := h 2 _ _ (by decide +kernel) loopOrEnd_fixed.1 loopOrEnd_fixed.2 0 1
  exact absurd h' (by decide +kernel)

/-! ## (e) The practical bound on `λ` -/

/-- **The practical bound on `λ` is refuted.** It asks that the depression be small against the
spread of `Q*` over the actions. One state, `R = (1, 0, -100)`, `Γ = (4, 0, 0)`, `γ = 1/2`: the
depression is at most `4`, the spread is `101`, and yet `(2, 1, -99)` turns into `(-1, 0, -100)`:
the greedy action changes. What counts is the *smallest* gap that matters, against the oscillation
of the penalty (`ranking_of_margin`). Appendix G, Eq. (lambda_practical); C25. -/
theorem practical_bound_refuted :
    let Qs : Fin 1 → Fin 3 → Rat := table [[2, 1, -99]]
    let Qr : Fin 1 → Fin 3 → Rat := table [[-1, 0, -100]]
    rev (table [[1, 0, -100]]) (1 / 2) (kernelE (goTo oneState)) maxV (fun _ _ => 0) Qs = Qs ∧
      rev (table [[1, 0, -100]]) (1 / 2) (kernelE (goTo oneState)) maxV (table [[4, 0, 0]]) Qr
        = Qr ∧
      (∀ s a, Qs s a - Qr s a ≤ 4) ∧ Qs 0 0 - Qs 0 2 = 101 ∧
      (∀ a, Qs 0 a ≤ Qs 0 0) ∧ ¬ (∀ a, Qr 0 a ≤ Qr 0 0) := by
  refine ⟨?_, ?_, by decide +kernel, by decide +kernel, by decide +kernel, by decide +kernel⟩ <;>
    (funext s a; revert s a; decide +kernel)

end RESAC
