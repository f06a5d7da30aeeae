module

public import RESAC.Errors.Depression

public section

/-!
# What penalties do to the ranking of actions

The paper's appendix on non-degeneration (Appendix G) says that the penalties leave the ranking of
the actions alone. That is true of a *constant* penalty. For any other penalty the right statement
is about its oscillation: if `pen ∈ [m, M]`, gaps of at least `γ(M-m)/(1-γ)` keep their order. The
counterexamples to the paper's statement are in `RESAC.Errors.RankingCounterexamples`.

## Main statements
* `constant_ranking`, `constant_greedy`: a constant penalty preserves the ranking, hence `κ` plays
  no part in the policy (C22).
* `ranking_of_margin`, `ranking_of_margin_strict`: the margin theorem (C22, C25).
* `rev_ranking_of_margin`: the sharper margin for the penalty `Γ(s,a)` (C22).
* `margin_theorem`, `margin_theorem_next`, `margin_theorem_policy` (for a fixed policy, the
  oscillation of the policy's mean penalty), `constant_penalty`, `kappa_ranking_next`: the finite
  statements in the paper's terms.
* `margin_sharp`: no smaller margin will do (C22).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {S : Type v} {A : Type w} {R : S → A → K} {γ : K}
variable {E : S → A → (S → K) → K} {V : S → (A → K) → K}

/-! ## Constant penalties -/

section Constant

variable {pen Qs Qr : S → A → K} {Δ : K}

/-- A constant penalty **preserves the ranking** of any two actions. In particular `κ` plays no
part in the policy. Appendix G, Proposition (Action-ranking preservation), repaired; C22. -/
theorem constant_ranking (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hQs : rev R γ E V pen Qs = Qs)
    (hQr : rev R γ E V (fun s a => pen s a + Δ) Qr = Qr)
    (hd : HasDist K Qr (fun s a => Qs s a - γ * Δ / (1 - γ))) (s : S) (a₁ a₂ : A) :
    Qr s a₂ ≤ Qr s a₁ ↔ Qs s a₂ ≤ Qs s a₁ := by
  have h := constant_depression hγ hγ₁ hE hV hQs hQr hd s
  rw [h a₁, h a₂]
  generalize γ * Δ / (1 - γ) = k
  grind

/-- A constant penalty preserves the greedy actions. Appendix G, "the greedy policy is unchanged";
C22. -/
theorem constant_greedy (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hQs : rev R γ E V pen Qs = Qs)
    (hQr : rev R γ E V (fun s a => pen s a + Δ) Qr = Qr)
    (hd : HasDist K Qr (fun s a => Qs s a - γ * Δ / (1 - γ))) (s : S) (a : A) :
    (∀ b, Qr s b ≤ Qr s a) ↔ ∀ b, Qs s b ≤ Qs s a :=
  forall_congr' fun b => constant_ranking hγ hγ₁ hE hV hQs hQr hd s a b

end Constant

/-! ## The margin theorem -/

section Margin

variable {Qs Qr : S → A → K} {m M : K} {pen : S → A → K} {s : S} {a₁ a₂ : A}

/-- **Margin theorem.** If the depression lies in `[γm/(1-γ), γM/(1-γ)]` (`rev_depression`,
`revNext_depression`), a gap of at least `γ(M-m)/(1-γ)` in `Q*` keeps its order. The size of the
penalty does not matter, its oscillation does. Appendix G, Proposition (Action-ranking preservation)
and Eq. (lambda_practical), corrected; C22, C25. -/
theorem ranking_of_margin (h : ∀ s a, γ * m / (1 - γ) ≤ Qs s a - Qr s a ∧
      Qs s a - Qr s a ≤ γ * M / (1 - γ))
    (gap : γ * (M - m) / (1 - γ) ≤ Qs s a₁ - Qs s a₂) : Qr s a₂ ≤ Qr s a₁ := by
  have h₁ := (h s a₁).2
  have h₂ := (h s a₂).1
  have e : γ * (M - m) / (1 - γ) = γ * M / (1 - γ) - γ * m / (1 - γ) := by
    clear h h₁ h₂ gap; grind
  rw [e] at gap
  clear h e
  grind

/-- The margin theorem for a strict gap. C22, C25. -/
theorem ranking_of_margin_strict (h : ∀ s a, γ * m / (1 - γ) ≤ Qs s a - Qr s a ∧
      Qs s a - Qr s a ≤ γ * M / (1 - γ))
    (gap : γ * (M - m) / (1 - γ) < Qs s a₁ - Qs s a₂) : Qr s a₂ < Qr s a₁ := by
  have h₁ := (h s a₁).2
  have h₂ := (h s a₂).1
  have e : γ * (M - m) / (1 - γ) = γ * M / (1 - γ) - γ * m / (1 - γ) := by
    clear h h₁ h₂ gap; grind
  rw [e] at gap
  clear h e
  grind

/-- **The sharper margin for the penalty `Γ(s,a)`**: what the two actions themselves pay counts
once, the oscillation elsewhere only from the next step on. C22. -/
theorem rev_ranking_of_margin (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hQs : rev R γ E V (fun _ _ => 0) Qs = Qs)
    (hQr : rev R γ E V pen Qr = Qr)
    (h : ∀ s a, γ * m / (1 - γ) ≤ Qs s a - Qr s a ∧ Qs s a - Qr s a ≤ γ * M / (1 - γ))
    (gap : γ * (pen s a₁ - pen s a₂) + γ ^ 2 * (M - m) / (1 - γ) ≤ Qs s a₁ - Qs s a₂) :
    Qr s a₂ ≤ Qr s a₁ := by
  have e : γ ^ 2 * (M - m) / (1 - γ) = γ * (γ * M / (1 - γ)) - γ * (γ * m / (1 - γ)) := by
    clear h gap hQs hQr; grind
  rw [e] at gap
  generalize γ * m / (1 - γ) = lo at *
  generalize γ * M / (1 - γ) = hi at *
  have shift : ∀ (a : A) (c : K), E s a (fun s' => V s' (fun a' => Qs s' a' + c)) =
      E s a (fun s' => V s' (Qs s')) + c := by
    intro a c
    have e : (fun s' => V s' (fun a' => Qs s' a' + c)) = fun s' => V s' (Qs s') + c := by
      funext s'; exact (hV s').translate (Qs s') c
    rw [e, (hE s a).translate]
  have v₁ := (hE s a₁).mono (fun s' => V s' (fun a' => Qs s' a' + -hi)) _
    (fun s' => (hV s').mono _ (Qr s') (fun a' => by have := (h s' a').2; clear h shift; grind))
  have v₂ := (hE s a₂).mono _ (fun s' => V s' (fun a' => Qs s' a' + -lo))
    (fun s' => (hV s').mono (Qr s') _ (fun a' => by have := (h s' a').1; clear h shift; grind))
  rw [shift] at v₁ v₂
  have w₁ := mul_le_mul_left v₁ hγ
  have w₂ := mul_le_mul_left v₂ hγ
  have q₁ := congrFun (congrFun hQs s) a₁
  have q₂ := congrFun (congrFun hQs s) a₂
  have r₁ := congrFun (congrFun hQr s) a₁
  have r₂ := congrFun (congrFun hQr s) a₂
  unfold rev at q₁ q₂ r₁ r₂
  generalize E s a₁ (fun s' => V s' (Qr s')) = y₁ at *
  generalize E s a₂ (fun s' => V s' (Qr s')) = y₂ at *
  generalize E s a₁ (fun s' => V s' (Qs s')) = x₁ at *
  generalize E s a₂ (fun s' => V s' (Qs s')) = x₂ at *
  clear h shift v₁ v₂ e
  grind

end Margin

/-! ## The finite statements, in the paper's terms -/

section Finite

variable [DecidableLE K] {n k : Nat} {P : Fin (n + 1) → Fin (k + 1) → Fin (n + 1) → K}
variable {R Γ Qs Qr : Fin (n + 1) → Fin (k + 1) → K} {lam κ Γmin Γmax : K}

/-- **Action-ranking preservation, repaired.** Finite states and actions, any value functional that
is monetary, penalty `λ·Γ(s,a) + κ` with `Γ ∈ [Γmin, Γmax]`: if `Q*(s,a₁) - Q*(s,a₂)` is at least
`γλ(Γmax - Γmin)/(1-γ)`, then `Q_rob` ranks `a₁` and `a₂` in the same way. `κ` plays no part.
Appendix G, Proposition (Action-ranking preservation), corrected; C22, C25. -/
theorem margin_theorem (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a)) (hlam : 0 ≤ lam)
    {V : Fin (n + 1) → (Fin (k + 1) → K) → K} (hV : ∀ s, Monetary (V s))
    (hΓ : ∀ s a, Γmin ≤ Γ s a ∧ Γ s a ≤ Γmax)
    (hQs : rev R γ (kernelE P) V (fun _ _ => 0) Qs = Qs)
    (hQr : rev R γ (kernelE P) V (fun s a => lam * Γ s a + κ) Qr = Qr) (s : Fin (n + 1))
    (a₁ a₂ : Fin (k + 1)) (gap : γ * (lam * (Γmax - Γmin)) / (1 - γ) ≤ Qs s a₁ - Qs s a₂) :
    Qr s a₂ ≤ Qr s a₁ := by
  have h := rev_depression (m := lam * Γmin + κ) (M := lam * Γmax + κ) hγ hγ₁
    (fun s a => expect_monetary (hP s a)) hV hQs hQr (fun _ => hasDist_fin₂ _ _)
    (fun s a => by
      have h₁ := mul_le_mul_left (hΓ s a).1 hlam
      have h₂ := mul_le_mul_left (hΓ s a).2 hlam
      grind)
  refine ranking_of_margin h ?_
  have e : lam * Γmax + κ - (lam * Γmin + κ) = lam * (Γmax - Γmin) := by clear h hQs hQr; grind
  rwa [e]

/-- The same for the penalty `Γ(s',a')` of the next pair, the form of Appendix G. C22, C25. -/
theorem margin_theorem_next (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a))
    (hlam : 0 ≤ lam) {V : Fin (n + 1) → (Fin (k + 1) → K) → K} (hV : ∀ s, Monetary (V s))
    (hΓ : ∀ s a, Γmin ≤ Γ s a ∧ Γ s a ≤ Γmax)
    (hQs : rev R γ (kernelE P) V (fun _ _ => 0) Qs = Qs)
    (hQr : revNext R γ (kernelE P) V (fun s a => lam * Γ s a) κ Qr = Qr) (s : Fin (n + 1))
    (a₁ a₂ : Fin (k + 1)) (gap : γ * (lam * (Γmax - Γmin)) / (1 - γ) ≤ Qs s a₁ - Qs s a₂) :
    Qr s a₂ ≤ Qr s a₁ := by
  have h := revNext_depression (m := lam * Γmin + κ) (M := lam * Γmax + κ) hγ hγ₁
    (fun s a => expect_monetary (hP s a)) hV hQs hQr (fun _ => hasDist_fin₂ _ _)
    (fun s a => by
      have h₁ := mul_le_mul_left (hΓ s a).1 hlam
      have h₂ := mul_le_mul_left (hΓ s a).2 hlam
      grind)
  refine ranking_of_margin h ?_
  have e : lam * Γmax + κ - (lam * Γmin + κ) = lam * (Γmax - Γmin) := by clear h hQs hQr; grind
  rwa [e]

/-- **The margin theorem for a fixed policy**, `a' ∼ π(·|s')`, the penalty of the next pair: what
counts is the oscillation of the penalty's *mean under the policy*, `Σ_a π(a|s)·Γ(s,a)`, however much
`Γ` itself varies. Appendix G, "sampled via `a' ∼ π`", corrected; C22. -/
theorem margin_theorem_policy (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a))
    (hlam : 0 ≤ lam) {π : Fin (n + 1) → Fin (k + 1) → K} (hπ : ∀ s, IsProb (π s))
    (hΓ : ∀ s, Γmin ≤ expect (π s) (Γ s) ∧ expect (π s) (Γ s) ≤ Γmax)
    (hQs : rev R γ (kernelE P) (policyV π) (fun _ _ => 0) Qs = Qs)
    (hQr : revNext R γ (kernelE P) (policyV π) (fun s a => lam * Γ s a) κ Qr = Qr)
    (s : Fin (n + 1)) (a₁ a₂ : Fin (k + 1))
    (gap : γ * (lam * (Γmax - Γmin)) / (1 - γ) ≤ Qs s a₁ - Qs s a₂) : Qr s a₂ ≤ Qr s a₁ := by
  let mean : Fin (n + 1) → Fin (k + 1) → K := fun s a => expect (P s a) fun s' => expect (π s') (Γ s')
  have e₁ : rev R γ (kernelE P) (policyV π) (fun s a => lam * mean s a + κ) =
      revNext R γ (kernelE P) (policyV π) (fun s a => lam * Γ s a) κ := by
    funext Q s a
    have e : expect (P s a) (fun s' => expect (π s') fun a' => Q s' a' - lam * Γ s' a') =
        expect (P s a) (fun s' => expect (π s') (Q s')) - lam * mean s a := by
      rw [← expect_mul_left, ← expect_sub]
      congr 1; funext s'
      rw [expect_sub, expect_mul_left]
    show R s a + γ * (expect (P s a) (fun s' => expect (π s') (Q s')) - (lam * mean s a + κ)) =
      R s a + γ * (expect (P s a) (fun s' => expect (π s') fun a' => Q s' a' - lam * Γ s' a') - κ)
    rw [e]
    clear e gap hQs hQr
    grind
  rw [← e₁] at hQr
  exact margin_theorem hγ hγ₁ hP hlam (policyV_monetary hπ)
    (fun s a => ⟨le_expect (hP s a) fun s' => (hΓ s').1, expect_le (hP s a) fun s' => (hΓ s').2⟩)
    hQs hQr s a₁ a₂ gap

/-- The finite case of `constant_ranking`: a constant penalty `Δ` preserves the ranking of actions
and lowers the fixed point by `γΔ/(1-γ)`. Appendix G, for `Δ` constant; C22, C23. -/
theorem constant_penalty (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a))
    {V : Fin (n + 1) → (Fin (k + 1) → K) → K} (hV : ∀ s, Monetary (V s)) {Δ : K}
    (hQs : rev R γ (kernelE P) V (fun _ _ => 0) Qs = Qs)
    (hQr : rev R γ (kernelE P) V (fun _ _ => Δ) Qr = Qr) (s : Fin (n + 1)) :
    (∀ a, Qr s a = Qs s a - γ * Δ / (1 - γ)) ∧
      ∀ a₁ a₂, Qr s a₂ ≤ Qr s a₁ ↔ Qs s a₂ ≤ Qs s a₁ := by
  have e : (fun (_ : Fin (n + 1)) (_ : Fin (k + 1)) => Δ) = fun _ _ => 0 + Δ := by
    funext s a; clear hQs hQr; grind
  rw [e] at hQr
  have hE := fun s a => expect_monetary (hP s a)
  exact ⟨constant_depression hγ hγ₁ hE hV hQs hQr (hasDist_fin₂ _ _) s,
    constant_ranking hγ hγ₁ hE hV hQs hQr (hasDist_fin₂ _ _) s⟩

/-- In the next-pair form `κ` plays no part either: two values of `κ` give the same ranking,
whatever `Γ` is. Appendix G, "Key observation", for `κ`; C22. -/
theorem kappa_ranking_next (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a))
    {V : Fin (n + 1) → (Fin (k + 1) → K) → K} (hV : ∀ s, Monetary (V s)) {κ' : K}
    (hQs : revNext R γ (kernelE P) V (fun s a => lam * Γ s a) κ Qs = Qs)
    (hQr : revNext R γ (kernelE P) V (fun s a => lam * Γ s a) κ' Qr = Qr) (s : Fin (n + 1))
    (a₁ a₂ : Fin (k + 1)) : Qr s a₂ ≤ Qr s a₁ ↔ Qs s a₂ ≤ Qs s a₁ := by
  have e : (fun (_ : Fin (n + 1)) (_ : Fin (k + 1)) => κ') = fun _ _ => κ + (κ' - κ) := by
    funext s a; clear hQs hQr; grind
  rw [revNext_eq_rev] at hQs hQr
  rw [e] at hQr
  exact constant_ranking hγ hγ₁ (fun s a => expect_monetary (hP s a))
    (fun s => (hV s).shift_sub (fun a => lam * Γ s a)) hQs hQr (hasDist_fin₂ _ _) s a₁ a₂

end Finite

/-! ## The margin is sharp -/

/-- Three states: the first action of `s₀` leads to `s₁`, the second to `s₂`, and both are
absorbing. -/
@[expose] def fork : Fin 3 → Fin 2 → Fin 3 :=
  fun s a => if s = 0 then (if a = 0 then 1 else 2) else s

/-- From the second step on the state does not change. -/
theorem fork_fork : ∀ (s : Fin 3) (a b : Fin 2), fork (fork s a) b = fork s a := by decide

/-- **The margin theorem cannot be improved.** For all `m`, `M` and every gap `g` there is an MDP
with the penalties `m` and `M` in which the gap of two actions falls from `g` to exactly
`g - γ(M-m)/(1-γ)`: the first action pays `M` for ever, the second `m`. C22. -/
theorem margin_sharp [DecidableLE K] (hγ₁ : γ < 1) (m M g : K) :
    let R : Fin 3 → Fin 2 → K := fun s a => if s = 0 ∧ a = 0 then g else 0
    let pen : Fin 3 → Fin 2 → K := fun s a => if fork s a = 1 then M else m
    let E : Fin 3 → Fin 2 → (Fin 3 → K) → K := kernelE fun s a => point (fork s a)
    ∃ Qs Qr : Fin 3 → Fin 2 → K, rev R γ E maxV (fun _ _ => 0) Qs = Qs ∧
      rev R γ E maxV pen Qr = Qr ∧ Qs 0 0 - Qs 0 1 = g ∧
      Qr 0 0 - Qr 0 1 = g - γ * (M - m) / (1 - γ) := by
  intro R pen E
  have hne : 1 - γ ≠ 0 := by grind
  have hmax : ∀ x : K, fmax (fun _ : Fin 2 => x) = x := fun x => fmax_eq 0 rfl fun _ => le_refl x
  refine ⟨R, fun s a => R s a - γ * pen s a / (1 - γ), ?_, ?_, ?_, ?_⟩
  · funext s a
    have h : maxV (fork s a) (R (fork s a)) = 0 := by
      have e : R (fork s a) = fun _ => 0 := by
        funext b; simp only [R, fork]; grind
      unfold maxV; rw [e, hmax]
    simp only [rev, E, kernelE, expect_point, h]
    grind
  · funext s a
    have h : maxV (fork s a) (fun b => R (fork s a) b - γ * pen (fork s a) b / (1 - γ)) =
        -(γ * pen s a / (1 - γ)) := by
      have e : (fun b => R (fork s a) b - γ * pen (fork s a) b / (1 - γ)) =
          fun _ => -(γ * pen s a / (1 - γ)) := by
        funext b
        have h₁ : R (fork s a) b = 0 := by simp only [R, fork]; grind
        have h₂ : pen (fork s a) b = pen s a := by
          simp only [pen, fork_fork]
        rw [h₁, h₂]; grind
      unfold maxV; rw [e, hmax]
    simp only [rev, E, kernelE, expect_point, h]
    grind
  · simp only [R]; grind
  · simp only [R, pen, fork]; grind

end RESAC
