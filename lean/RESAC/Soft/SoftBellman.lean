module

public import RESAC.Soft.ExpMean
public import RESAC.Contraction.Blackwell

public section

/-!
# The soft Bellman operator

Soft actor-critic values a state by log-sum-exp of its action values instead of by their maximum.
Log-sum-exp is monetary, so the soft backup is one more case of the REV backup and contracts like
every other. The exponential is used through three laws only (`ExpLog`).

## Main definitions
* `lse exp log α q`: `α·log (∑ₐ exp (qₐ/α))`, log-sum-exp at temperature `α`.
* `mellowmax exp log α q`: the same with the mean in place of the sum.
* `softBackup`: the REV backup with `V = lse`.

## Main statements
* `lse_monetary`, `mellowmax_monetary`: both are monetary at every temperature `α > 0` (mellowmax
  at every `α ≠ 0`).
* `fmax_le_lse`, `lse_le_fmax_add`: `max ≤ lse ≤ max + α·log n`, so soft values tend to the hard
  ones as `α → 0`; `lt_lse`: strictly above every value when there are two or more actions.
* `softBackup_contraction`: the soft backup is a `γ`-contraction (C02).

Paper: §3.1, and `SoftBellman.lean` of its list of formal results. §3.1 says of the *policy*
operator that it converges to the optimal soft Q-function: see `RESAC.Soft.SoftPolicy`.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

section Definitions

variable {K : Type u} [Field K] {n : Nat}

/-- Log-sum-exp at temperature `α`: `α·log (∑ₐ exp (qₐ/α))`. -/
@[expose] def lse (exp log : K → K) (α : K) (q : Fin n → K) : K :=
  α * log (fsum fun i => exp (q i / α))

attribute [local instance] Semiring.natCast in
/-- Mellowmax at temperature `α`: `α·log (n⁻¹·∑ₐ exp (qₐ/α))`. -/
@[expose] def mellowmax (exp log : K → K) (α : K) (q : Fin n → K) : K :=
  α * log (fsum (fun i => exp (q i / α)) / (n : K))

/-- The soft Bellman backup `R(s,a) + γ·(E_{s'}[α·log ∑_{a'} exp (Q(s',a')/α)] - pen(s,a))`. -/
@[expose] def softBackup {S : Type v} (exp log : K → K) (α : K) (R : S → Fin n → K) (γ : K)
    (E : S → Fin n → (S → K) → K) (pen : S → Fin n → K) (Q : S → Fin n → K) : S → Fin n → K :=
  rev R γ E (fun _ => lse exp log α) pen Q

end Definitions

variable {K : Type u} [Field K]
variable {exp log : K → K} {n : Nat} {α : K}

/-- Log-sum-exp is the exponential mean with all weights one. -/
theorem lse_eq_expMean : lse exp log α = expMean exp log α fun _ : Fin n => 1 := by
  funext q
  unfold lse expMean expect
  congr 3
  funext i; grind

variable [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- **Log-sum-exp is monetary** at every temperature `α > 0` (C02). -/
theorem lse_monetary (h : ExpLog exp log) (hα : 0 < α) :
    Monetary (lse exp log α : (Fin (n + 1) → K) → K) := by
  rw [lse_eq_expMean]
  exact expMean_monetary h (by grind) isWeight_one

/-! ## Log-sum-exp against the maximum -/

/-- Every value is at most log-sum-exp. -/
theorem le_lse (h : ExpLog exp log) (hα : 0 < α) (q : Fin n → K) (i : Fin n) :
    q i ≤ lse exp log α q := by
  have h₁ := le_fsum (f := fun i => exp (q i / α))
    (fun i => by have := h.exp_pos (q i / α); grind) i
  have h₂ := mul_le_mul_left (h.log_le (h.exp_pos (q i / α)) h₁) (show 0 ≤ α by grind)
  rw [h.log_exp] at h₂
  have h₃ : α * (q i / α) = q i := by grind
  unfold lse
  grind

/-- A sum of positive values exceeds each of them when there are two or more. -/
theorem lt_fsum {f : Fin n → K} (hf : ∀ i, 0 < f i) {i j : Fin n} (hij : i ≠ j) : f i < fsum f := by
  have h₁ := le_fsum (f := fun k => f k - if k = i then f i else 0)
    (fun k => by have := hf k; grind) j
  have h₂ : fsum (fun k => if k = i then f i else 0) = f i := by
    rw [fsum_eq_single _ i fun k hk => by grind]; grind
  rw [fsum_sub, h₂] at h₁
  have := hf j
  grind

/-- With two or more actions log-sum-exp is strictly above every value. -/
theorem lt_lse (h : ExpLog exp log) (hα : 0 < α) (q : Fin n → K) {i j : Fin n} (hij : i ≠ j) :
    q i < lse exp log α q := by
  have h₁ := lt_fsum (f := fun i => exp (q i / α)) (fun i => h.exp_pos _) hij
  have h₂ := OrderedRing.mul_lt_mul_of_pos_left (h.log_lt (h.exp_pos (q i / α)) h₁) hα
  rw [h.log_exp] at h₂
  have h₃ : α * (q i / α) = q i := by grind
  unfold lse
  grind

section Count

attribute [local instance] Semiring.natCast

/-- A positive number of actions is positive in the field. -/
theorem natCast_succ_pos (n : Nat) : (0 : K) < ((n + 1 : Nat) : K) := by
  have := OrderedRing.natCast_nonneg (R := K) (a := n)
  have := OrderedRing.zero_lt_one (R := K)
  rw [Semiring.natCast_succ]
  grind

/-- Log-sum-exp of equal values: the value plus `α·log n`. -/
theorem lse_const (h : ExpLog exp log) (hα : 0 < α) (c : K) :
    lse exp log α (fun _ : Fin (n + 1) => c) = c + α * log ((n + 1 : Nat) : K) := by
  unfold lse
  rw [fsum_const, show ((n + 1 : Nat) : K) * exp (c / α) = exp (c / α) * ((n + 1 : Nat) : K) by
    grind, h.log_exp_mul _ (natCast_succ_pos n)]
  grind

/-- Log-sum-exp exceeds an upper bound of the values by at most `α·log n`. -/
theorem lse_le (h : ExpLog exp log) (hα : 0 < α) {q : Fin (n + 1) → K} {m : K}
    (hq : ∀ i, q i ≤ m) : lse exp log α q ≤ m + α * log ((n + 1 : Nat) : K) := by
  rw [← lse_const h hα]
  exact (lse_monetary h hα).mono _ _ hq

/-- **Log-sum-exp is at least the maximum.** -/
theorem fmax_le_lse [DecidableLE K] (h : ExpLog exp log) (hα : 0 < α) (q : Fin (n + 1) → K) :
    fmax q ≤ lse exp log α q :=
  fmax_le (le_lse h hα q)

/-- **Log-sum-exp is at most the maximum plus `α·log n`**, with equality for equal values
(`lse_const`). -/
theorem lse_le_fmax_add [DecidableLE K] (h : ExpLog exp log) (hα : 0 < α) (q : Fin (n + 1) → K) :
    lse exp log α q ≤ fmax q + α * log ((n + 1 : Nat) : K) :=
  lse_le h hα (le_fmax q)

/-- Mellowmax is log-sum-exp less `α·log n`. -/
theorem mellowmax_eq (h : ExpLog exp log) (q : Fin (n + 1) → K) :
    mellowmax exp log α q = lse exp log α q - α * log ((n + 1 : Nat) : K) := by
  unfold mellowmax lse
  rw [h.log_div (fsum_pos fun i => h.exp_pos (q i / α)) (natCast_succ_pos n)]
  grind

/-- Mellowmax is monetary, for a temperature of either sign. -/
theorem mellowmax_monetary (h : ExpLog exp log) (hα : α ≠ 0) :
    Monetary (mellowmax exp log α : (Fin (n + 1) → K) → K) := by
  have hm := expMean_monetary (n := n + 1) h hα isWeight_one
  rw [← lse_eq_expMean] at hm
  exact ⟨fun f g hfg => by
      have := hm.mono f g hfg
      rw [mellowmax_eq h, mellowmax_eq h]; grind,
    fun f c => by rw [mellowmax_eq h, mellowmax_eq h, hm.translate]; grind⟩

/-- Mellowmax lies below the maximum, and above it less `α·log n`. -/
theorem mellowmax_bounds [DecidableLE K] (h : ExpLog exp log) (hα : 0 < α) (q : Fin (n + 1) → K) :
    fmax q - α * log ((n + 1 : Nat) : K) ≤ mellowmax exp log α q ∧
      mellowmax exp log α q ≤ fmax q := by
  have h₁ := fmax_le_lse h hα q
  have h₂ := lse_le_fmax_add h hα q
  rw [mellowmax_eq h]
  constructor <;> grind

end Count

/-! ## The backup -/

variable {S : Type v} {R : S → Fin (n + 1) → K} {γ : K}
variable {E : S → Fin (n + 1) → (S → K) → K} {pen : S → Fin (n + 1) → K}

/-- **The soft Bellman backup is a `γ`-contraction in the sup-norm** (§3.1; C02), at every
temperature `α > 0`, for every monetary expectation and every frozen penalty. -/
theorem softBackup_contraction (h : ExpLog exp log) (hα : 0 < α) (hγ : 0 ≤ γ)
    (hE : ∀ s a, Monetary (E s a)) {Q₁ Q₂ : S → Fin (n + 1) → K} {ε : K}
    (hQ : ∀ s a, Within ε (Q₁ s a) (Q₂ s a)) (s : S) (a : Fin (n + 1)) :
    Within (γ * ε) (softBackup exp log α R γ E pen Q₁ s a)
      (softBackup exp log α R γ E pen Q₂ s a) :=
  rev_contraction hγ hE (fun _ => lse_monetary h hα) hQ s a

end RESAC
