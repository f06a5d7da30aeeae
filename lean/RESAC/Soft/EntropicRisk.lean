module

public import RESAC.Soft.Divergence
public import RESAC.Foundations.Optimum
public import RESAC.Contraction.Blackwell

public section

/-!
# Entropic risk is a robust value with a KL penalty

## Main definitions
* `entropicRisk exp log β p f`: `ρ_β(f) = -β⁻¹·log E_p[exp (-β·f)]`.
* `riskBackup`: the paper's `T_β V(s) = max_a (R(s,a) + γ·ρ_β(V(s')))`.

## Main statements
* `entropicRisk_monetary`: the entropic risk is monetary, so the risk-sensitive backup contracts
  (`entropicRisk_rev_contraction`, `riskBackup_contraction`).
* `entropicRisk_le`: Donsker–Varadhan's inequality, for every `p ≪ p°`.
* `entropicRisk_dual`: `ρ_β(f) = min_{p ≪ p°} (E_p f + β⁻¹·KL(p‖p°))`, attained (C26).
* `entropicRisk_minimiser`: the minimiser is the Gibbs measure `∝ p°·exp (-β·f)`, and no other.
* `riskBackup_eq_robust`: the Bellman equivalence
  `T_β V(s) = max_a min_p (E_p[R + γV] + (γ/β)·KL(p‖p°))`.

Paper: Appendix B (the correspondence chain), "Risk-sensitivity ⟺ Robustness" (Osogami). The paper's
minimum runs over all distributions, with `KL = ∞` off `p ≪ p°`; division by zero is zero in Lean,
so the condition is written out.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

section Definitions

variable {K : Type u} [Field K] {n : Nat}

/-- The entropic risk measure `ρ_β(f) = -β⁻¹·log E_p[exp (-β·f)]`. -/
@[expose] def entropicRisk (exp log : K → K) (β : K) (p f : Fin n → K) : K :=
  -(1 / β) * log (expect p fun i => exp (-β * f i))

/-- The risk-sensitive Bellman operator `T_β V(s) = max_a (R(s,a) + γ·ρ_β(V(s')))`. -/
@[expose] def riskBackup [LE K] [DecidableLE K] {S : Type v} {m : Nat} (exp log : K → K) (β : K)
    (R : S → Fin (m + 1) → K) (γ : K) (P : S → Fin (m + 1) → Fin n → K) (V : Fin n → K)
    (s : S) : K :=
  fmax fun a => R s a + γ * entropicRisk exp log β (P s a) V

end Definitions

variable {K : Type u} [Field K]
variable {exp log : K → K} {n : Nat} {β : K} {p₀ : Fin n → K}

/-- The entropic risk is the exponential mean at the negative temperature `-1/β`. -/
theorem entropicRisk_eq_expMean (exp log : K → K) (β : K) (p₀ : Fin n → K) :
    entropicRisk exp log β p₀ = expMean exp log (-(1 / β)) p₀ := by
  funext f
  unfold entropicRisk expMean
  congr 3
  funext i
  congr 1
  grind

variable [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- **The entropic risk is monetary**, for `β` of either sign. -/
theorem entropicRisk_monetary (h : ExpLog exp log) (hβ : β ≠ 0) (h₀ : IsProb p₀) :
    Monetary (entropicRisk exp log β p₀) := by
  rw [entropicRisk_eq_expMean]
  exact expMean_monetary h (by grind) h₀.isWeight

/-- The variational identity at `α = -1/β`: what an adversary `p` pays above the entropic risk. -/
theorem expect_add_kl (h : ExpLog exp log) (hβ : β ≠ 0) (h₀ : IsProb p₀) {p : Fin n → K}
    (hp : IsProb p) (hac : AbsCont p p₀) (f : Fin n → K) :
    expect p f + 1 / β * kl log p p₀ =
      entropicRisk exp log β p₀ f + 1 / β * kl log p (gibbs exp (-(1 / β)) p₀ f) := by
  have := expect_sub_kl h (α := -(1 / β)) (by grind) h₀.isWeight hp hac f
  rw [entropicRisk_eq_expMean]
  grind

/-- **Donsker–Varadhan's inequality**: every `p ≪ p°` gives an upper bound of the entropic risk
(C26). -/
theorem entropicRisk_le (h : ExpLog exp log) (hβ : 0 < β) (h₀ : IsProb p₀) {p : Fin n → K}
    (hp : IsProb p) (hac : AbsCont p p₀) (f : Fin n → K) :
    entropicRisk exp log β p₀ f ≤ expect p f + 1 / β * kl log p p₀ := by
  have h₁ := (kl_gibbs_nonneg h h₀.isWeight (-(1 / β)) f hp hac).1
  have h₂ := mul_nonneg (show 0 ≤ 1 / β by have := inv_pos hβ; grind) h₁
  rw [expect_add_kl h (by grind) h₀ hp hac]
  grind

/-- **The minimiser is the Gibbs measure** `∝ p°·exp (-β·f)`, and it alone (C26). -/
theorem entropicRisk_minimiser (h : ExpLog exp log) (hβ : 0 < β) (h₀ : IsProb p₀) {p : Fin n → K}
    (hp : IsProb p) (hac : AbsCont p p₀) (f : Fin n → K) :
    expect p f + 1 / β * kl log p p₀ = entropicRisk exp log β p₀ f ↔
      p = gibbs exp (-(1 / β)) p₀ f := by
  have h₁ := (kl_gibbs_nonneg h h₀.isWeight (-(1 / β)) f hp hac).2
  have h₂ := inv_pos hβ
  rw [expect_add_kl h (by grind) h₀ hp hac, ← h₁]
  grind

/-- **Entropic risk is a KL-penalised worst case** (Appendix B, Theorem
(Bellman equivalence), first half; C26):
`ρ_β(f) = min_{p ≪ p°} (E_p f + β⁻¹·KL(p‖p°))`, and the minimum is attained. -/
theorem entropicRisk_dual (h : ExpLog exp log) (hβ : 0 < β) (h₀ : IsProb p₀) (f : Fin n → K) :
    IsMinimum (fun p => IsProb p ∧ AbsCont p p₀) (fun p => expect p f + 1 / β * kl log p p₀)
      (entropicRisk exp log β p₀ f) where
  le _ hp := entropicRisk_le h hβ h₀ hp.1 hp.2 f
  attained := by
    have hg := gibbs_isProb h h₀.isWeight (-(1 / β)) f
    have hac := gibbs_absCont h h₀.isWeight (-(1 / β)) f
    exact ⟨_, ⟨hg, hac⟩, (entropicRisk_minimiser h hβ h₀ hg hac f).2 rfl⟩

/-! ## The Bellman operator of the entropic risk -/

variable {S : Type v} {A : Type w} {γ : K}

/-- The robust form of one action's risk-sensitive value:
`R + γ·ρ_β(V) = min_p (E_p[R + γV] + (γ/β)·KL(p‖p°))`. -/
theorem entropicRisk_backup_dual (h : ExpLog exp log) (hβ : 0 < β) (hγ : 0 ≤ γ) (h₀ : IsProb p₀)
    (r : K) (V : Fin n → K) :
    IsMinimum (fun p => IsProb p ∧ AbsCont p p₀)
      (fun p => expect p (fun s' => r + γ * V s') + γ / β * kl log p p₀)
      (r + γ * entropicRisk exp log β p₀ V) := by
  have h₁ := (entropicRisk_dual h hβ h₀ V).affine hγ r
  have e : ∀ p, IsProb p → expect p (fun s' => r + γ * V s') + γ / β * kl log p p₀ =
      r + γ * (expect p V + 1 / β * kl log p p₀) := by
    intro p hp
    rw [expect_add, expect_mul_left, expect_const hp]
    grind
  constructor
  · intro p hp
    rw [e p hp.1]
    exact h₁.le p hp
  · obtain ⟨p, hp, hm⟩ := h₁.attained
    exact ⟨p, hp, by rw [e p hp.1]; exact hm⟩

/-- **The Bellman equivalence** (Appendix B; C26): the risk-sensitive backup is the robust backup
`max_a min_p (E_p[R + γV] + (γ/β)·KL(p‖p°))`, whatever `worst` names the inner minima. -/
theorem riskBackup_eq_robust [DecidableLE K] {m : Nat} (h : ExpLog exp log) (hβ : 0 < β)
    (hγ : 0 ≤ γ) {R : S → Fin (m + 1) → K} {P : S → Fin (m + 1) → Fin n → K}
    (hP : ∀ s a, IsProb (P s a)) (V : Fin n → K) {worst : S → Fin (m + 1) → K}
    (hw : ∀ s a, IsMinimum (fun p => IsProb p ∧ AbsCont p (P s a))
      (fun p => expect p (fun s' => R s a + γ * V s') + γ / β * kl log p (P s a)) (worst s a))
    (s : S) : riskBackup exp log β R γ P V s = fmax (worst s) := by
  unfold riskBackup
  congr 1
  funext a
  exact (entropicRisk_backup_dual h hβ hγ (hP s a) (R s a) V).unique (hw s a)

/-- The risk-sensitive backup of value functions is a `γ`-contraction. -/
theorem riskBackup_contraction [DecidableLE K] {m : Nat} (h : ExpLog exp log) (hβ : β ≠ 0)
    (hγ : 0 ≤ γ) {R : S → Fin (m + 1) → K} {P : S → Fin (m + 1) → Fin n → K}
    (hP : ∀ s a, IsProb (P s a)) {V₁ V₂ : Fin n → K} {ε : K}
    (hV : ∀ s, Within ε (V₁ s) (V₂ s)) (s : S) :
    Within (γ * ε) (riskBackup exp log β R γ P V₁ s) (riskBackup exp log β R γ P V₂ s) :=
  fmax_monetary.within fun a =>
    (((entropicRisk_monetary h hβ (hP s a)).within hV).mul_left hγ).add_left _

/-- The REV backup with the entropic risk in place of the expectation is a `γ`-contraction, for
every monetary value functional and every frozen penalty. -/
theorem entropicRisk_rev_contraction (h : ExpLog exp log) (hβ : β ≠ 0) (hγ : 0 ≤ γ)
    {R : Fin n → A → K} {P : Fin n → A → Fin n → K} (hP : ∀ s a, IsProb (P s a))
    {V : Fin n → (A → K) → K} (hV : ∀ s, Monetary (V s)) {pen Q₁ Q₂ : Fin n → A → K} {ε : K}
    (hQ : ∀ s a, Within ε (Q₁ s a) (Q₂ s a)) (s : Fin n) (a : A) :
    Within (γ * ε) (rev R γ (fun s a => entropicRisk exp log β (P s a)) V pen Q₁ s a)
      (rev R γ (fun s a => entropicRisk exp log β (P s a)) V pen Q₂ s a) :=
  rev_contraction hγ (fun s a => entropicRisk_monetary h hβ (hP s a)) hV hQ s a

end RESAC
