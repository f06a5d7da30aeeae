module

public import RESACReal.Finite
public import RESAC.Soft.EntropicRisk
public import RESAC.Soft.SoftPolicy
public import Mathlib.Algebra.BigOperators.Fin
public import Mathlib.Analysis.SpecialFunctions.Log.Basic

public section

/-!
# Soft backups over `ℝ`

Mathlib's exponential and logarithm satisfy the core's three laws, so all of its soft theorems hold
for them. Section 3.1 and Appendix B.

## Main statements
* `expLog`: `ExpLog Real.exp Real.log`.
* `soft_contractingWith`: the soft backup over any finite action set contracts (C02).
* `real_gibbs`: the KL divergence of two distributions is at least 0 (C26).
* `real_entropicRisk_dual`: entropic risk is a KL-penalised worst case (C26).
* `real_regularised_policy`: the value of the KL-regularised policy (C29).
-/

noncomputable section

namespace RESAC.Reals

universe u v

/-- The real exponential and logarithm satisfy the laws that the core asks for. -/
theorem expLog : ExpLog Real.exp Real.log where
  exp_add := Real.exp_add
  one_add_le_exp x := by have := Real.add_one_le_exp x; grind
  exp_log _ hx := Real.exp_log hx

/-- The core's sum over `Fin n` is Mathlib's. -/
theorem fsum_eq_sum : ∀ {n : Nat} (f : Fin n → Real), fsum f = Finset.univ.sum f
  | 0, f => by rw [Fin.sum_univ_zero, fsum_empty]
  | _ + 1, f => by rw [Fin.sum_univ_succ, fsum_succ, fsum_eq_sum]

variable {A : Type v} [Fintype A] {α : Real}

/-- Log-sum-exp at temperature `α` over a finite type. -/
@[expose] def logSumExp (α : Real) (q : A → Real) : Real :=
  α * Real.log (Finset.univ.sum fun a => Real.exp (q a / α))

/-- Log-sum-exp is monetary. C02. -/
theorem logSumExp_monetary [Nonempty A] (hα : 0 < α) :
    Monetary (logSumExp α : (A → Real) → Real) where
  mono f g h := by
    have h₁ : ∀ a, f a / α ≤ g a / α := fun a => by
      have e : f a / α * α = f a := by grind
      rw [le_div_iff hα, e]; exact h a
    have h₂ : Finset.univ.sum (fun a => Real.exp (f a / α)) ≤
        Finset.univ.sum fun a => Real.exp (g a / α) :=
      Finset.sum_le_sum fun a _ => expLog.exp_le (h₁ a)
    have h₃ : 0 < Finset.univ.sum fun a => Real.exp (f a / α) :=
      Finset.sum_pos (fun a _ => expLog.exp_pos _) Finset.univ_nonempty
    unfold logSumExp
    exact mul_le_mul_left (expLog.log_le h₃ h₂) (by grind)
  translate f c := by
    have e : (fun a => Real.exp ((f a + c) / α)) =
        fun a => Real.exp (c / α) * Real.exp (f a / α) := by
      funext a
      rw [← Real.exp_add]
      congr 1
      grind
    have h₃ : 0 < Finset.univ.sum fun a => Real.exp (f a / α) :=
      Finset.sum_pos (fun a _ => expLog.exp_pos _) Finset.univ_nonempty
    unfold logSumExp
    rw [e, ← Finset.mul_sum, expLog.log_exp_mul _ h₃]
    grind

/-- **The soft backup is a γ-contraction.** Section 3.1; C02. -/
theorem soft_contractingWith {S : Type u} [Fintype S] [Nonempty A] (hα : 0 < α) (R : S → A → Real)
    {γ : NNReal} (hγ : γ < 1) {E : S → A → (S → Real) → Real} (hE : ∀ s a, Monetary (E s a))
    (pen : S → A → Real) : ContractingWith γ (rev R (γ : Real) E (fun _ => logSumExp α) pen) :=
  rev_contractingWith R pen hγ hE fun _ => logSumExp_monetary hα

/-- **Gibbs' inequality**, on which both dualities rest. Appendix B; C26. -/
theorem real_gibbs {n : Nat} {p r : Fin n → Real} (hp : IsProb p) (hr : IsProb r)
    (hpr : AbsCont p r) : 0 ≤ kl Real.log p r :=
  kl_nonneg expLog hp hr hpr

/-- **Entropic risk is a KL-penalised worst case**, and the minimum is attained.
Appendix B, Theorem (Bellman equivalence), first half; C26. -/
theorem real_entropicRisk_dual {n : Nat} {β : Real} (hβ : 0 < β) {p : Fin n → Real} (hp : IsProb p)
    (f : Fin n → Real) :
    IsMinimum (fun p' => IsProb p' ∧ AbsCont p' p)
      (fun p' => expect p' f + 1 / β * kl Real.log p' p) (entropicRisk Real.exp Real.log β p f) :=
  entropicRisk_dual expLog hβ hp f

/-- **The KL-regularised policy**: `max_π (⟨Q, π⟩ - α·KL(π‖π₀)) = α·log ∑ π₀·exp (Q/α)`, attained.
Appendix C; C29. -/
theorem real_regularised_policy {n : Nat} {α : Real} (hα : 0 < α) {π₀ : Fin n → Real}
    (h₀ : IsWeight π₀) (q : Fin n → Real) :
    IsMaximum (fun π => IsProb π ∧ AbsCont π π₀) (fun π => expect π q - α * kl Real.log π π₀)
      (expMean Real.exp Real.log α π₀ q) :=
  regularised_policy expLog hα h₀ q

end RESAC.Reals
