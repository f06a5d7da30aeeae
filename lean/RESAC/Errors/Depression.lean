module

public import RESAC.Errors.ApproxContraction
public import RESAC.Contraction.FixedPoint
public import RESAC.Contraction.Terminal

public section

/-!
# How far penalties lower the fixed point

The paper's appendix on non-degeneration (Appendix G) says that the penalties lower `Q*` by the same
amount `γΔ/(1-γ)` everywhere. That is true of a *constant* penalty `Δ`. A penalty in `[m, M]` lowers
it by something between `γm/(1-γ)` and `γM/(1-γ)`, which may differ from action to action.

`Qs` is the unpenalised fixed point `Q*`, `Qr` the penalised one. Statements for arbitrary state and
action types ask that the distances that they speak of exist (`HasDist`); on finite sets they do.

## Main statements (C23)
* `rev_const_fixed`, `constant_depression`: a constant `Δ` lowers the fixed point by exactly
  `γΔ/(1-γ)`, on top of whatever other penalty there is.
* `depression_figure`: the paper's 12.4 (C24).
* `rev_depression`, `revNext_depression`: `γm/(1-γ) ≤ Q* - Q_rob ≤ γM/(1-γ)` for both of the paper's
  forms and penalties of any sign.
* `Blackwell.depression_le`, `revDone_depression_le`: the upper bound survives terminal states; the
  lower one does not (`depression_refuted_done` in `RESAC.Errors.RankingCounterexamples`).
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

/-! ## Terminal states -/

section Terminal

variable [DecidableLE K] {Qs Qr : S → A → K} {M : K} {pen cont : S → A → K}

/-- The upper bound for every operator that meets Blackwell's conditions, terminal states included:
if the penalties take at most `γM`, `M ≥ 0`, from the backup of `Q*`, they take at most `γM/(1-γ)`
from the fixed point. C23. -/
theorem Blackwell.depression_le {T : (S → A → K) → S → A → K} (hT : Blackwell T γ) (hγ : 0 ≤ γ)
    (hγ₁ : γ < 1) (hM : 0 ≤ M) (hQr : T Qr = Qr) (h : ∀ s a, Qs s a - γ * M ≤ T Qs s a)
    (hd : HasDist K (fun s a => larger (Qs s a - γ * M / (1 - γ)) (Qr s a)) Qr) (s : S) (a : A) :
    Qs s a - Qr s a ≤ γ * M / (1 - γ) := by
  have hb := div_nonneg (mul_nonneg hγ hM) (by grind : 0 < 1 - γ)
  have hk : γ * M / (1 - γ) - γ * (γ * M / (1 - γ)) = γ * M := by clear h hd; grind
  generalize γ * M / (1 - γ) = b at *
  have h' := comparison (Q₁ := fun s a => Qs s a - b) hT hγ hγ₁ (fun s a => by
    have h₁ := hT.discount (fun s a => Qs s a - b) b hb s a
    have e : (fun s a => Qs s a - b + b) = Qs := by funext s a; clear h hd h₁; grind
    have h₂ := h s a
    rw [e] at h₁
    clear h hd e
    grind) (fun s a => by rw [hQr]; exact le_refl _) hd s a
  clear h hd
  grind

/-- Under a done mask a penalty of at most `M ≥ 0` lowers the fixed point by at most `γM/(1-γ)`.
Appendix G, Eq. (depression), with terminal states; C23. -/
theorem revDone_depression_le (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (h₀ : ∀ s a, 0 ≤ cont s a)
    (h₁ : ∀ s a, cont s a ≤ 1) (hE : ∀ s a, SubMonetary (E s a)) (hV : ∀ s, SubMonetary (V s))
    (hM : 0 ≤ M) (hpen : ∀ s a, pen s a ≤ M) (hQs : revDone R γ cont E V (fun _ _ => 0) Qs = Qs)
    (hQr : revDone R γ cont E V pen Qr = Qr)
    (hd : HasDist K (fun s a => larger (Qs s a - γ * M / (1 - γ)) (Qr s a)) Qr) (s : S) (a : A) :
    Qs s a - Qr s a ≤ γ * M / (1 - γ) := by
  refine (revDone_blackwell hγ h₀ h₁ hE hV).depression_le hγ hγ₁ hM hQr (fun s a => ?_) hd s a
  have h := congrFun (congrFun hQs s) a
  have e : revDone R γ cont E V pen Qs s a = Qs s a - γ * (cont s a * pen s a) := by
    rw [← h]; unfold revDone; clear h hd; grind
  rw [e]
  have m₁ := mul_le_mul_left (hpen s a) (h₀ s a)
  have m₂ := mul_le_mul_right (h₁ s a) hM
  have m₃ := mul_le_mul_left (by grind : cont s a * pen s a ≤ M) hγ
  clear h hd e
  grind

end Terminal

end RESAC
