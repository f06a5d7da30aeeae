module

public import RESAC.Contraction.Operator
public import RESAC.Foundations.Modulus

public section

/-!
# The REV operator is a γ-contraction

The paper's route, in general: Blackwell's two conditions, monotonicity and discounting, imply a
modulus of `γ` in the sup-norm; the REV operator meets them whatever the state and action types, the
monetary expectation `E`, the monetary value functional `V` and the frozen penalty are.

## Main definitions
* `Blackwell T γ`: `T` is monotone and discounts constants, `T (Q + c) ≤ T Q + γ·c` for `c ≥ 0`.

## Main statements
* `Blackwell.modulus`: Blackwell's theorem, `‖T Q₁ - T Q₂‖ ≤ γ·‖Q₁ - Q₂‖`.
* `rev_mono` (C09), `rev_discount` (C10), `rev_cancel` (C08): the paper's two lemmas and its key
  observation, for the penalty `Γ(s,a)`.
* `revNext_mono`, `revNext_discount`: the lemmas for the penalty `Γ(s',a')` of the next pair.
  There the penalty does **not** cancel under a maximum: `revNext_not_cancel` (C08). It does under
  a linear value functional: `revNext_cancel_of_linear`.
* `rev_contraction`, `revNext_contraction`, `rev_iterate`, `revNext_iterate`: modulus `γ`, and `γⁿ`
  after `n` backups, in both forms (C11).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

/-- Blackwell's two sufficient conditions on an operator on Q-functions. -/
structure Blackwell {K : Type u} [Field K] [LE K] {S : Type v} {A : Type w}
    (T : (S → A → K) → S → A → K) (γ : K) : Prop where
  /-- Monotonicity. -/
  mono : ∀ Q₁ Q₂ : S → A → K, (∀ s a, Q₁ s a ≤ Q₂ s a) → ∀ s a, T Q₁ s a ≤ T Q₂ s a
  /-- Discounting, as an inequality for non-negative constants. -/
  discount : ∀ (Q : S → A → K) (c : K), 0 ≤ c →
    ∀ s a, T (fun s a => Q s a + c) s a ≤ T Q s a + γ * c

variable {K : Type u} [Field K] [LE K] {S : Type v} {A : Type w}
variable {R : S → A → K} {γ : K} {E : S → A → (S → K) → K} {V : S → (A → K) → K}
variable {pen lamG : S → A → K} {κ : K}

/-! ## Discounting and cancellation: what the frozen penalty does not disturb -/

/-- **Discounting.** A constant added to `Q` leaves the backup as `γ` times that constant.
Appendix E, Lemma (Discounting); C10. -/
theorem rev_discount (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) (Q : S → A → K)
    (c : K) (s : S) (a : A) :
    rev R γ E V pen (fun s a => Q s a + c) s a = rev R γ E V pen Q s a + γ * c := by
  have e : (fun s' => V s' fun a' => Q s' a' + c) = fun s' => V s' (Q s') + c := by
    funext s'; exact (hV s').translate (Q s') c
  unfold rev
  rw [e, (hE s a).translate]
  grind

omit [LE K] in
/-- **Cancellation.** The difference of two backups does not contain the penalty, nor the reward.
Appendix E, "Key observation"; C08. -/
theorem rev_cancel (Q₁ Q₂ : S → A → K) (s : S) (a : A) :
    rev R γ E V pen Q₁ s a - rev R γ E V pen Q₂ s a =
      γ * (E s a (fun s' => V s' (Q₁ s')) - E s a fun s' => V s' (Q₂ s')) := by
  unfold rev; grind

omit [LE K] in
/-- The paper's display: for a kernel the difference of two backups is
`γ·Σ_{s'} P(s'|s,a)·(V^{Q₁}(s') - V^{Q₂}(s'))`. Appendix E, proof of the theorem; C08. -/
theorem rev_cancel_kernel {n : Nat} {P : Fin n → A → Fin n → K} {R pen : Fin n → A → K}
    {V : Fin n → (A → K) → K} (Q₁ Q₂ : Fin n → A → K) (s : Fin n) (a : A) :
    rev R γ (kernelE P) V pen Q₁ s a - rev R γ (kernelE P) V pen Q₂ s a =
      γ * fsum fun s' => P s a s' * (V s' (Q₁ s') - V s' (Q₂ s')) := by
  rw [rev_cancel]
  unfold kernelE
  rw [← expect_sub]; rfl

omit [LE K] in
/-- In the next-pair form the penalty cancels if expectation and value functional are linear, as
they are for a fixed policy. C08. -/
theorem revNext_cancel_of_linear
    (hE : ∀ s a f g, E s a (fun s' => f s' - g s') = E s a f - E s a g)
    (hV : ∀ s f g, V s (fun a' => f a' - g a') = V s f - V s g)
    (Q₁ Q₂ : S → A → K) (s : S) (a : A) :
    revNext R γ E V lamG κ Q₁ s a - revNext R γ E V lamG κ Q₂ s a =
      γ * (E s a (fun s' => V s' (Q₁ s')) - E s a fun s' => V s' (Q₂ s')) := by
  unfold revNext
  simp only [hV, hE]
  grind

omit [LE K] in
/-- A policy's mean under a kernel is linear, so there the next-pair penalty cancels. C08. -/
theorem revNext_cancel_policy {n m : Nat} {P : Fin n → Fin m → Fin n → K} {π : Fin n → Fin m → K}
    {R lamG : Fin n → Fin m → K} (Q₁ Q₂ : Fin n → Fin m → K) (s : Fin n) (a : Fin m) :
    revNext R γ (kernelE P) (policyV π) lamG κ Q₁ s a -
        revNext R γ (kernelE P) (policyV π) lamG κ Q₂ s a =
      γ * fsum fun s' => P s a s' * expect (π s') fun a' => Q₁ s' a' - Q₂ s' a' := by
  have h := revNext_cancel_of_linear (R := R) (γ := γ) (E := kernelE P) (V := policyV π)
    (lamG := lamG) (κ := κ) (fun s a f g => expect_sub (P s a) f g)
    (fun s f g => expect_sub (π s) f g) Q₁ Q₂ s a
  rw [h]
  unfold kernelE policyV
  rw [← expect_sub]
  unfold expect
  congr 2; funext s'; congr 1
  exact (expect_sub (π s') (Q₁ s') (Q₂ s')).symm

variable [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- **Under a maximum the next-pair penalty does not cancel.** One state and two actions,
`Q₁ = Γ = (1, 0)` and `Q₂ = 0`: with the penalty both backups agree, without it they are `γ` apart.
Refutes the paper's "cancel exactly" for this form; C08. -/
theorem revNext_not_cancel [DecidableLE K] (γ κ : K) :
    let T (lamG : Fin 1 → Fin 2 → K) :=
      revNext (fun _ _ => 0) γ (kernelE fun _ _ => point 0) maxV lamG κ
    let Q₁ : Fin 1 → Fin 2 → K := fun _ => point 0
    let Q₂ : Fin 1 → Fin 2 → K := fun _ _ => 0
    T (fun _ => point 0) Q₁ 0 0 - T (fun _ => point 0) Q₂ 0 0 = 0 ∧
      T (fun _ _ => 0) Q₁ 0 0 - T (fun _ _ => 0) Q₂ 0 0 = γ := by
  have h : ∀ f : Fin 2 → K, fmax f = larger (f 0) (f 1) := fun _ => rfl
  have h₀ : (point 0 : Fin 2 → K) 0 = 1 := rfl
  have h₁ : (point 0 : Fin 2 → K) 1 = 0 := rfl
  simp only [revNext, kernelE, maxV, expect_point, h, h₀, h₁, larger]
  grind

/-! ## Monotonicity -/

/-- **Monotonicity.** Appendix E, Lemma (Monotonicity); C09. -/
theorem rev_mono (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    {Q₁ Q₂ : S → A → K} (h : ∀ s a, Q₁ s a ≤ Q₂ s a) (s : S) (a : A) :
    rev R γ E V pen Q₁ s a ≤ rev R γ E V pen Q₂ s a := by
  have h₁ := (hE s a).mono _ _ fun s' => (hV s').mono _ _ (h s')
  have h₂ := mul_le_mul_left h₁ hγ
  unfold rev; grind

/-- Both backups are increasing in the reward and decreasing in the penalty. -/
theorem rev_mono_data (hγ : 0 ≤ γ) {R₁ R₂ pen₁ pen₂ : S → A → K} (hR : ∀ s a, R₁ s a ≤ R₂ s a)
    (hpen : ∀ s a, pen₂ s a ≤ pen₁ s a) (Q : S → A → K) (s : S) (a : A) :
    rev R₁ γ E V pen₁ Q s a ≤ rev R₂ γ E V pen₂ Q s a := by
  have h₁ := hR s a
  have h₂ := mul_le_mul_left (hpen s a) hγ
  unfold rev; grind

/-! ## Contraction -/

/-- **Blackwell's theorem**: monotonicity and discounting make a contraction. Appendix E, proof of
the theorem, "By Blackwell's Theorem, Lemmas 1 and 2 suffice"; C11. -/
theorem Blackwell.modulus {T : (S → A → K) → S → A → K} (hT : Blackwell T γ) : Modulus T γ := by
  intro ε Q₁ Q₂ h s a
  have hε : 0 ≤ ε := (h s a : Within _ _ _).nonneg
  have h₁ := hT.mono Q₁ (fun s a => Q₂ s a + ε) (fun s a => (h s a).1) s a
  have h₂ := hT.mono Q₂ (fun s a => Q₁ s a + ε) (fun s a => (h s a).2) s a
  exact ⟨le_trans h₁ (hT.discount Q₂ ε hε s a), le_trans h₂ (hT.discount Q₁ ε hε s a)⟩

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- A modulus is taken to the power of the number of backups. -/
theorem Modulus.iterate {X : Type v} [Near K X] {T : X → X} {c : K} (hT : Modulus T c) :
    ∀ n : Nat, Modulus (Nat.repeat T n) (c ^ n)
  | 0 => fun ε x y h => by rw [Semiring.pow_zero, Semiring.one_mul]; exact h
  | n + 1 => fun ε x y h => by
    have h' := hT _ _ _ (Modulus.iterate hT n ε x y h)
    have e : c ^ (n + 1) * ε = c * (c ^ n * ε) := by rw [Semiring.pow_succ]; clear h'; grind
    rw [e]; exact h'

/-- The REV operator meets Blackwell's conditions. -/
theorem rev_blackwell (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) :
    Blackwell (rev R γ E V pen) γ where
  mono _ _ h := rev_mono hγ hE hV h
  discount Q c _ s a := by rw [rev_discount hE hV]; exact le_refl _

/-- So does the next-pair form. -/
theorem revNext_blackwell (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) : Blackwell (revNext R γ E V lamG κ) γ :=
  rev_blackwell hγ hE fun s' => (hV s').shift_sub (lamG s')

/-- Monotonicity of the next-pair form. C09. -/
theorem revNext_mono (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    {Q₁ Q₂ : S → A → K} (h : ∀ s a, Q₁ s a ≤ Q₂ s a) (s : S) (a : A) :
    revNext R γ E V lamG κ Q₁ s a ≤ revNext R γ E V lamG κ Q₂ s a :=
  (revNext_blackwell hγ hE hV).mono _ _ h s a

/-- Discounting of the next-pair form. C10. -/
theorem revNext_discount (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    (Q : S → A → K) (c : K) (s : S) (a : A) :
    revNext R γ E V lamG κ (fun s a => Q s a + c) s a = revNext R γ E V lamG κ Q s a + γ * c :=
  rev_discount (pen := fun _ _ => κ) hE (fun s' => (hV s').shift_sub (lamG s')) Q c s a

/-- **The REV operator is a γ-contraction**, for all state and action types, all monetary `E` and
`V`, every frozen penalty. Appendix E, Theorem (RE-SAC Contraction), first half; C11. -/
theorem rev_contraction (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    {Q₁ Q₂ : S → A → K} {ε : K} (h : ∀ s a, Within ε (Q₁ s a) (Q₂ s a)) (s : S) (a : A) :
    Within (γ * ε) (rev R γ E V pen Q₁ s a) (rev R γ E V pen Q₂ s a) :=
  (rev_blackwell hγ hE hV).modulus ε Q₁ Q₂ h s a

/-- The next-pair form is a γ-contraction as well, although its penalty does not cancel. C08,
C11. -/
theorem revNext_contraction (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) {Q₁ Q₂ : S → A → K} {ε : K}
    (h : ∀ s a, Within ε (Q₁ s a) (Q₂ s a)) (s : S) (a : A) :
    Within (γ * ε) (revNext R γ E V lamG κ Q₁ s a) (revNext R γ E V lamG κ Q₂ s a) :=
  (revNext_blackwell hγ hE hV).modulus ε Q₁ Q₂ h s a

/-- `n` backups contract by `γⁿ`. C11. -/
theorem rev_iterate (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    {Q₁ Q₂ : S → A → K} {ε : K} (h : ∀ s a, Within ε (Q₁ s a) (Q₂ s a)) (n : Nat) (s : S)
    (a : A) :
    Within (γ ^ n * ε) (Nat.repeat (rev R γ E V pen) n Q₁ s a)
      (Nat.repeat (rev R γ E V pen) n Q₂ s a) :=
  (rev_blackwell hγ hE hV).modulus.iterate n ε Q₁ Q₂ h s a

/-- `n` backups of the next-pair form contract by `γⁿ`. C11. -/
theorem revNext_iterate (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s))
    {Q₁ Q₂ : S → A → K} {ε : K} (h : ∀ s a, Within ε (Q₁ s a) (Q₂ s a)) (n : Nat) (s : S)
    (a : A) :
    Within (γ ^ n * ε) (Nat.repeat (revNext R γ E V lamG κ) n Q₁ s a)
      (Nat.repeat (revNext R γ E V lamG κ) n Q₂ s a) :=
  (revNext_blackwell hγ hE hV).modulus.iterate n ε Q₁ Q₂ h s a

end RESAC
