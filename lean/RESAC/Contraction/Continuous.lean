module

public import RESAC.Contraction.FixedPoint

public section

/-!
# Continuous spaces: functionals on a class of functions

The paper's Theorem (Continuous-Space Extension) lets `Q` range over bounded measurable functions.
An integral is then not a functional on *all* functions, so `Monetary` does not apply as it stands.
The remedy is to say on which functions it lives: `MonetaryOn D V` asks for monotonicity and
translation on a class `D` only. The theorem follows for every class that the backup preserves.

The paper's statement has three gaps, and each is a field of `BackupOn` (C12):
1. `values`: the supremum over an uncountable `A` of a measurable function need not be measurable,
   so `s' ↦ sup_{a'} Q(s',a')` may fall out of the class. (Continuity in `a'` mends it, or a class
   of upper semicontinuous or universally measurable functions.)
2. `maps`: (C3) asks neither that `Γ_epi` be bounded nor that it be measurable; without both, `T Q`
   is not in the class.
3. `expectation`: an integral is no total functional; it is monetary on integrable functions only.

## Main definitions
* `ClosedUnderConst D`, `MonetaryOn D V`.
* `BackupOn 𝒬 DA DS R γ E V pen`: the REV operator makes sense on the class `𝒬`, with sections in
  `DA` and value functions in `DS`.

## Main statements
* `BackupOn.contraction`, `BackupOn.iterate`: modulus `γ`, and `γⁿ`, on the class (C12).
* `BackupOn.unique`: at most one fixed point in the class, if distances exist there.
* `BackupOn.exists_unique`: exactly one, if moreover the class is complete along geometric
  sequences. Bounded measurable functions over `ℝ` with the sup-norm have both properties.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

section Definitions

variable {K : Type u} [Field K] [LE K] {X : Type v}

/-- A class of functions that is closed under adding constants. -/
structure ClosedUnderConst (D : (X → K) → Prop) : Prop where
  /-- Adding a constant stays in the class. -/
  add_const : ∀ f c, D f → D fun x => f x + c

/-- `V` is monetary on the class `D`. -/
structure MonetaryOn (D : (X → K) → Prop) (V : (X → K) → K) : Prop where
  /-- Monotonicity on the class. -/
  mono : ∀ f g, D f → D g → (∀ x, f x ≤ g x) → V f ≤ V g
  /-- Translation on the class. -/
  translate : ∀ f c, D f → V (fun x => f x + c) = V f + c

/-- A monetary functional is monetary on every class. -/
theorem Monetary.on {V : (X → K) → K} (hV : Monetary V) (D : (X → K) → Prop) : MonetaryOn D V where
  mono f g _ _ h := hV.mono f g h
  translate f c _ := hV.translate f c

/-- On its class a monetary functional is non-expansive. -/
theorem MonetaryOn.within {D : (X → K) → Prop} {V : (X → K) → K} (hV : MonetaryOn D V)
    (hD : ClosedUnderConst D) {f g : X → K} (hf : D f) (hg : D g) {ε : K}
    (h : ∀ x, Within ε (f x) (g x)) : Within ε (V f) (V g) := by
  have h₁ := hV.mono f (fun x => g x + ε) hf (hD.add_const g ε hg) fun x => (h x).1
  have h₂ := hV.mono g (fun x => f x + ε) hg (hD.add_const f ε hf) fun x => (h x).2
  rw [hV.translate g ε hg] at h₁
  rw [hV.translate f ε hf] at h₂
  exact ⟨h₁, h₂⟩

variable {S : Type v} {A : Type w}

/-- The REV operator makes sense on the class `𝒬` of Q-functions: their sections lie in `DA`, their
value functions in `DS`, the functionals are monetary there, and the backup stays in `𝒬`. -/
structure BackupOn (𝒬 : (S → A → K) → Prop) (DA : S → (A → K) → Prop) (DS : (S → K) → Prop)
    (R : S → A → K) (γ : K) (E : S → A → (S → K) → K) (V : S → (A → K) → K) (pen : S → A → K) :
    Prop where
  /-- Adding constants to sections. -/
  closedA : ∀ s, ClosedUnderConst (DA s)
  /-- Adding constants to value functions. -/
  closedS : ClosedUnderConst DS
  /-- Sections of Q-functions are in the class of the value functional. -/
  sections : ∀ Q, 𝒬 Q → ∀ s, DA s (Q s)
  /-- Value functions are in the class of the expectation. **The paper's first gap.** -/
  values : ∀ Q, 𝒬 Q → DS fun s => V s (Q s)
  /-- The backup stays in the class. **The paper's second gap.** -/
  maps : ∀ Q, 𝒬 Q → 𝒬 (rev R γ E V pen Q)
  /-- The expectation is monetary on its class. **The paper's third gap.** -/
  expectation : ∀ s a, MonetaryOn DS (E s a)
  /-- The value functional is monetary on its class. -/
  functional : ∀ s, MonetaryOn (DA s) (V s)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {S : Type v} {A : Type w} {𝒬 : (S → A → K) → Prop} {DA : S → (A → K) → Prop}
variable {DS : (S → K) → Prop} {R pen : S → A → K} {γ : K} {E : S → A → (S → K) → K}
variable {V : S → (A → K) → K}

/-- **Contraction on a class of functions.** Appendix E, Theorem (Continuous-Space Extension), first
half, with its gaps made hypotheses; C12. -/
theorem BackupOn.contraction (h : BackupOn 𝒬 DA DS R γ E V pen) (hγ : 0 ≤ γ) {ε : K}
    {Q₁ Q₂ : S → A → K} (h₁ : 𝒬 Q₁) (h₂ : 𝒬 Q₂) (hε : near ε Q₁ Q₂) :
    near (γ * ε) (rev R γ E V pen Q₁) (rev R γ E V pen Q₂) := fun s a => by
  have hv := (h.expectation s a).within h.closedS (h.values Q₁ h₁) (h.values Q₂ h₂) fun s' =>
    (h.functional s').within (h.closedA s') (h.sections Q₁ h₁ s') (h.sections Q₂ h₂ s') (hε s')
  exact ((hv.sub_right (pen s a)).mul_left hγ).add_left (R s a)

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- **Discounting on a class of functions.** C10, C12. -/
theorem BackupOn.discount (h : BackupOn 𝒬 DA DS R γ E V pen) {Q : S → A → K} (hQ : 𝒬 Q) (c : K)
    (s : S) (a : A) :
    rev R γ E V pen (fun s a => Q s a + c) s a = rev R γ E V pen Q s a + γ * c := by
  have e : (fun s' => V s' fun a' => Q s' a' + c) = fun s' => V s' (Q s') + c := by
    funext s'; exact (h.functional s').translate (Q s') c (h.sections Q hQ s')
  unfold rev
  rw [e, (h.expectation s a).translate _ c (h.values Q hQ)]
  grind

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- Backups stay in the class. -/
theorem BackupOn.repeat_mem (h : BackupOn 𝒬 DA DS R γ E V pen) {Q : S → A → K} (hQ : 𝒬 Q) :
    ∀ n : Nat, 𝒬 (Nat.repeat (rev R γ E V pen) n Q)
  | 0 => hQ
  | n + 1 => h.maps _ (h.repeat_mem hQ n)

/-- `n` backups contract by `γⁿ` on the class. C12. -/
theorem BackupOn.iterate (h : BackupOn 𝒬 DA DS R γ E V pen) (hγ : 0 ≤ γ) {ε : K}
    {Q₁ Q₂ : S → A → K} (h₁ : 𝒬 Q₁) (h₂ : 𝒬 Q₂) (hε : near ε Q₁ Q₂) : ∀ n : Nat,
    near (γ ^ n * ε) (Nat.repeat (rev R γ E V pen) n Q₁) (Nat.repeat (rev R γ E V pen) n Q₂)
  | 0 => by rw [Semiring.pow_zero, Semiring.one_mul]; exact hε
  | n + 1 => by
    have h' := h.contraction hγ (h.repeat_mem h₁ n) (h.repeat_mem h₂ n) (h.iterate hγ h₁ h₂ hε n)
    have e : γ ^ (n + 1) * ε = γ * (γ ^ n * ε) := by
      rw [Semiring.pow_succ]; clear h'; grind
    rw [e]; exact h'

/-- **Uniqueness on a class of functions** whose distances exist. C12. -/
theorem BackupOn.unique (h : BackupOn 𝒬 DA DS R γ E V pen) (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    {Q₁ Q₂ : S → A → K} (h₁ : 𝒬 Q₁) (h₂ : 𝒬 Q₂) (e₁ : rev R γ E V pen Q₁ = Q₁)
    (e₂ : rev R γ E V pen Q₂ = Q₂) (hd : HasDist K Q₁ Q₂) : Q₁ = Q₂ := by
  have h' := hd.near_of_step (γ := γ) (δ := 0) hγ₁ fun e he => by
    have h' := h.contraction hγ h₁ h₂ he
    rw [e₁, e₂] at h'
    rwa [Semiring.add_zero]
  have e : (0 : K) / (1 - γ) = 0 := by clear h'; grind
  rw [e] at h'
  funext s a
  exact within_zero_iff.1 (h' s a)

/-- **Existence and uniqueness on a class of functions.** Besides distances the class must have
limits of sequences whose steps shrink like `γⁿ`, and `γⁿ` must tend to zero. Appendix E, Theorem
(Continuous-Space Extension), with its gaps made hypotheses; C12. -/
theorem BackupOn.exists_unique (h : BackupOn 𝒬 DA DS R γ E V pen) (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    {Q₀ : S → A → K} (h₀ : 𝒬 Q₀) (hd : ∀ Q₁ Q₂, 𝒬 Q₁ → 𝒬 Q₂ → HasDist K Q₁ Q₂)
    (limit : ∀ (q : Nat → S → A → K) (c : K), (∀ n, 𝒬 (q n)) →
      (∀ n, near (γ ^ n * c) (q n) (q (n + 1))) →
        ∃ Q, 𝒬 Q ∧ ∀ n, near (γ ^ n * (c / (1 - γ))) (q n) Q)
    (vanish : ∀ c ε : K, (∀ n : Nat, ε ≤ γ ^ n * c) → ε ≤ 0) :
    ∃ Q, 𝒬 Q ∧ rev R γ E V pen Q = Q ∧ ∀ Q', 𝒬 Q' → rev R γ E V pen Q' = Q' → Q' = Q := by
  obtain ⟨c, hc, -⟩ := hd Q₀ (rev R γ E V pen Q₀) h₀ (h.maps Q₀ h₀)
  have step : ∀ n : Nat, Nat.repeat (rev R γ E V pen) n (rev R γ E V pen Q₀) =
      Nat.repeat (rev R γ E V pen) (n + 1) Q₀ := by
    intro n
    induction n with
    | zero => rfl
    | succ n ih => exact congrArg (rev R γ E V pen) ih
  obtain ⟨Q, hQ, hlim⟩ := limit (fun n => Nat.repeat (rev R γ E V pen) n Q₀) c (h.repeat_mem h₀)
    fun n => by
      have h' := h.iterate hγ h₀ (h.maps Q₀ h₀) hc n
      rwa [step n] at h'
  have hTQ : rev R γ E V pen Q = Q := by
    obtain ⟨d, hd₁, hd₂⟩ := hd (rev R γ E V pen Q) Q (h.maps Q hQ) hQ
    have hd₀ : d ≤ 0 := vanish (2 * (γ * (c / (1 - γ)))) d fun n => by
      have h₁ := h.contraction hγ (h.repeat_mem h₀ n) hQ (hlim n)
      have h₂ := hd₂ _ (near_trans (near_symm h₁) (hlim (n + 1)))
      have e : γ * (γ ^ n * (c / (1 - γ))) + γ ^ (n + 1) * (c / (1 - γ)) =
          γ ^ n * (2 * (γ * (c / (1 - γ)))) := by
        rw [Semiring.pow_succ]; clear h₁ h₂ hd₂ hlim step limit vanish; grind
      rwa [e] at h₂
    have h' := near_mono hd₀ hd₁
    funext s a
    exact within_zero_iff.1 (h' s a)
  exact ⟨Q, hQ, hTQ, fun Q' hQ' e' => h.unique hγ hγ₁ hQ' hQ e' hTQ (hd Q' Q hQ' hQ)⟩

end RESAC
