module

public import RESAC.ApproxContraction
public import RESAC.Contraction
public import RESAC.Finite

public section

/-!
# What penalties do to the fixed point and to the ranking of actions

The paper's appendix on non-degeneration (Appendix G) says that the penalties lower `Q*` by the same
amount everywhere and so leave the ranking of the actions alone. That is true of a *constant*
penalty. For any other penalty the right statement is about its oscillation: with `pen ∈ [m, M]` the
depression lies in `[γm/(1-γ), γM/(1-γ)]`, and gaps of at least `γ(M-m)/(1-γ)` keep their order.
The counterexamples to the paper's statement are in `RESAC.RankingCounterexamples`.

`Qs` is the unpenalised fixed point `Q*`, `Qr` the penalised one. The general statements ask that the
distances of `Qr` to the constant shifts of `Qs` exist; finite sets have them, and the statements at
the end of the file no longer mention them.

## Main statements
* `rev_const_fixed`, `constant_depression`: a constant `Δ` lowers the fixed point by exactly
  `γΔ/(1-γ)`, on top of whatever other penalty there is (C23); `depression_figure`: the paper's
  12.4 (C24).
* `constant_ranking`, `constant_greedy`: it preserves the ranking, hence `κ` plays no part (C22).
* `rev_depression`, `revNext_depression`: `γm/(1-γ) ≤ Q* - Q_rob ≤ γM/(1-γ)`, both forms (C23).
* `ranking_of_margin`, `ranking_of_margin_strict`: the margin theorem (C22, C25).
* `rev_ranking_of_margin`: the sharper margin for the penalty `Γ(s,a)` (C22).
* `margin_theorem`, `margin_theorem_next`: the finite statements in the paper's terms.
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

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- A shift of the argument by `-k` leaves the backup as `-γ·k`. -/
theorem rev_sub_const (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    (pen Q : S → A → K) (k : K) (s : S) (a : A) :
    rev R γ E V pen (fun s a => Q s a - k) s a = rev R γ E V pen Q s a - γ * k := by
  have e : (fun s a => Q s a - k) = fun s a => Q s a + -k := by funext s a; grind
  rw [e, rev_discount hE hV]
  grind

/-- If `Q*` is a fixed point, then `Q* - γΔ/(1-γ)` is one for the penalty raised by `Δ`. Appendix G,
Eq. (depression); C23. -/
theorem rev_const_fixed (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    (hQs : rev R γ E V pen Qs = Qs) (Δ : K) :
    rev R γ E V (fun s a => pen s a + Δ) (fun s a => Qs s a - γ * Δ / (1 - γ)) =
      fun s a => Qs s a - γ * Δ / (1 - γ) := by
  have hne : 1 - γ ≠ 0 := by grind
  funext s a
  rw [rev_sub_const hE hV]
  have h := congrFun (congrFun hQs s) a
  have e : rev R γ E V (fun s a => pen s a + Δ) Qs s a = rev R γ E V pen Qs s a - γ * Δ := by
    unfold rev; grind
  rw [e, h]
  grind

/-- **Uniform depression.** Raising the penalty by a constant `Δ` lowers the fixed point by exactly
`γΔ/(1-γ)`. Appendix G, Eq. (depression); C23. -/
theorem constant_depression (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hQs : rev R γ E V pen Qs = Qs)
    (hQr : rev R γ E V (fun s a => pen s a + Δ) Qr = Qr)
    (hd : HasDist K Qr (fun s a => Qs s a - γ * Δ / (1 - γ))) (s : S) (a : A) :
    Qr s a = Qs s a - γ * Δ / (1 - γ) := by
  have h := fixed_point_near (δ := 0) (rev_blackwell hγ hE hV).modulus hγ₁ hQr
    (rev_const_fixed hγ₁ hE hV hQs Δ) hd (near_refl _)
  have e : (0 : K) / (1 - γ) = 0 := by clear h; grind
  rw [e] at h
  exact within_zero_iff.1 (h s a)

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

/-- The paper's figure: `Δ = 0.005·5 + 10⁻⁴·10³ = 0.125` and `γ = 0.99` give `12.375`, printed as
12.4. Appendix G, below Eq. (depression); C24. -/
theorem depression_figure : (5 / 1000 * 5 + 1 / 10000 * 1000 : K) = 125 / 1000 ∧
    (99 / 100 * (125 / 1000) / (1 - 99 / 100) : K) = 12375 / 1000 := by
  constructor <;> grind

end Constant

/-! ## Depression bounds for any penalty -/

section Depression

variable {Qs Qr : S → A → K} {m M κ : K} {pen lamG : S → A → K}

/-- If a contraction maps every constant shift `Q* - k` into
`[Q* - γk - γM, Q* - γk - γm]`, its fixed point lies between `Q* - γM/(1-γ)` and `Q* - γm/(1-γ)`. -/
theorem depression_of_shift {T : (S → A → K) → S → A → K} (hT : Modulus T γ) (hγ₁ : γ < 1)
    (hQr : T Qr = Qr) (hd : ∀ k : K, HasDist K Qr (fun s a => Qs s a - k))
    (h : ∀ (k : K) (s : S) (a : A), Qs s a - γ * k - γ * M ≤ T (fun s a => Qs s a - k) s a ∧
      T (fun s a => Qs s a - k) s a ≤ Qs s a - γ * k - γ * m) (s : S) (a : A) :
    γ * m / (1 - γ) ≤ Qs s a - Qr s a ∧ Qs s a - Qr s a ≤ γ * M / (1 - γ) := by
  have hne : 1 - γ ≠ 0 := by clear h hd; grind
  -- the centre of the interval, and the penalty's half-width
  let k : K := γ * ((m + M) / 2) / (1 - γ)
  have hk : k - γ * k = γ * ((m + M) / 2) := by
    have hk : k = γ * ((m + M) / 2) / (1 - γ) := rfl
    clear h hd; grind
  have hx : near (γ * ((M - m) / 2)) (T (fun s a => Qs s a - k)) (fun s a => Qs s a - k) := by
    intro s a
    have h' := h k s a
    rw [near_iff]
    unfold Within
    clear h hd
    grind
  have h' := fixed_point_near (U := fun _ => fun s a => Qs s a - k) hT hγ₁ hQr rfl (hd k) hx s a
  rw [near_iff] at h'
  have e₁ : γ * m / (1 - γ) = k - γ * ((M - m) / 2) / (1 - γ) := by
    have hk : k = γ * ((m + M) / 2) / (1 - γ) := rfl
    clear h hd h' hx; grind
  have e₂ : γ * M / (1 - γ) = k + γ * ((M - m) / 2) / (1 - γ) := by
    have hk : k = γ * ((m + M) / 2) / (1 - γ) := rfl
    clear h hd h' hx; grind
  rw [e₁, e₂]
  unfold Within at h'
  generalize γ * ((M - m) / 2) / (1 - γ) = r at *
  clear h hd hx
  grind

/-- **Depression, penalty `Γ(s,a)`.** A penalty in `[m, M]`, of any sign, lowers the fixed point by
at least `γm/(1-γ)` and at most `γM/(1-γ)`. Appendix G, Eq. (depression), corrected; C23. -/
theorem rev_depression (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hQs : rev R γ E V (fun _ _ => 0) Qs = Qs)
    (hQr : rev R γ E V pen Qr = Qr) (hd : ∀ k : K, HasDist K Qr (fun s a => Qs s a - k))
    (hpen : ∀ s a, m ≤ pen s a ∧ pen s a ≤ M) (s : S) (a : A) :
    γ * m / (1 - γ) ≤ Qs s a - Qr s a ∧ Qs s a - Qr s a ≤ γ * M / (1 - γ) := by
  refine depression_of_shift (rev_blackwell hγ hE hV).modulus hγ₁ hQr hd (fun k s a => ?_) s a
  have h := congrFun (congrFun hQs s) a
  have e : rev R γ E V pen Qs s a = Qs s a - γ * pen s a := by
    rw [← h]; unfold rev; clear h hd; grind
  rw [rev_sub_const hE hV, e]
  have h₁ := mul_le_mul_left (hpen s a).1 hγ
  have h₂ := mul_le_mul_left (hpen s a).2 hγ
  clear h hd e
  grind

/-- **Depression, penalty `Γ(s',a')` of the next pair.** The same bounds, with `lamG + κ` in
`[m, M]`. Appendix G, Eq. (depression), corrected; C23. -/
theorem revNext_depression (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hQs : rev R γ E V (fun _ _ => 0) Qs = Qs)
    (hQr : revNext R γ E V lamG κ Qr = Qr) (hd : ∀ k : K, HasDist K Qr (fun s a => Qs s a - k))
    (hpen : ∀ s a, m ≤ lamG s a + κ ∧ lamG s a + κ ≤ M) (s : S) (a : A) :
    γ * m / (1 - γ) ≤ Qs s a - Qr s a ∧ Qs s a - Qr s a ≤ γ * M / (1 - γ) := by
  refine depression_of_shift (revNext_blackwell hγ hE hV).modulus hγ₁ hQr hd (fun k s a => ?_) s a
  have h := congrFun (congrFun hQs s) a
  unfold rev at h
  -- under `V` and `E` the penalised value lies between two constant shifts of `Q*`
  have shift : ∀ c : K, E s a (fun s' => V s' (fun a' => Qs s' a' + c)) =
      E s a (fun s' => V s' (Qs s')) + c := by
    intro c
    have e : (fun s' => V s' (fun a' => Qs s' a' + c)) = fun s' => V s' (Qs s') + c := by
      funext s'; exact (hV s').translate (Qs s') c
    rw [e, (hE s a).translate]
  have lower : E s a (fun s' => V s' (Qs s')) - k - (M - κ) ≤
      E s a (fun s' => V s' (fun a' => Qs s' a' - k - lamG s' a')) := by
    have h' := (hE s a).mono (fun s' => V s' (fun a' => Qs s' a' + (-k - (M - κ)))) _
      (fun s' => (hV s').mono _ (fun a' => Qs s' a' - k - lamG s' a') (fun a' => by
        have := (hpen s' a').2; clear h hd shift; grind))
    rw [shift] at h'
    clear h hd shift
    grind
  have upper : E s a (fun s' => V s' (fun a' => Qs s' a' - k - lamG s' a')) ≤
      E s a (fun s' => V s' (Qs s')) - k - (m - κ) := by
    have h' := (hE s a).mono _ (fun s' => V s' (fun a' => Qs s' a' + (-k - (m - κ))))
      (fun s' => (hV s').mono (fun a' => Qs s' a' - k - lamG s' a') _ (fun a' => by
        have := (hpen s' a').1; clear h hd shift; grind))
    rw [shift] at h'
    clear h hd shift
    grind
  have h₁ := mul_le_mul_left lower hγ
  have h₂ := mul_le_mul_left upper hγ
  unfold revNext
  generalize E s a (fun s' => V s' (fun a' => Qs s' a' - k - lamG s' a')) = y at *
  generalize E s a (fun s' => V s' (Qs s')) = x at *
  clear shift hd lower upper
  grind

end Depression

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

/-- **The sharper margin for the penalty `Γ(s,a)`**: what the two actions themselves pay counts once,
the oscillation elsewhere only from the next step on. C22. -/
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

end Finite

end RESAC
