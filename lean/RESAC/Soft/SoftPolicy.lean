module

public import RESAC.Soft.Divergence
public import RESAC.Foundations.Optimum
public import RESAC.Soft.SoftBellman

public section

/-!
# Regularised policies

## Main definitions
* `softmax exp α q`: the Boltzmann policy `∝ exp (q/α)`.
* `softValue log α π q`: the soft value of a policy, `∑ₐ π(a)·(q(a) - α·log π(a))` (§3.1).

## Main statements
* `regularised_le`, `regularised_maximiser`, `regularised_policy`: `π ∝ π₀·exp (Q/α)` maximises
  `⟨Q, π⟩ - α·KL(π‖π₀)`, it alone, and the value is `α·log ∑ π₀·exp (Q/α)` (C29).
* `softValue_max`: without a prior: log-sum-exp is the largest soft value of a policy, attained by
  the Boltzmann policy. So the optimal soft backup is the best policy backup.
* `softPolicy_contraction`: the soft backup of a fixed policy contracts, too, but
* `softPolicy_fixed_point_not_optimal`: its fixed point is the policy's, not the optimal soft
  Q-function as §3.1 of the paper has it (C02).

Paper: §3.1, and Appendix C (the semi-Bayesian prior), "Regularization as the optimal Bayesian
update" (Geist et al.).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v

section Definitions

variable {K : Type u} [Field K] {n : Nat}

/-- The Boltzmann policy `∝ exp (q/α)`: the Gibbs measure with all weights one. -/
@[expose] def softmax (exp : K → K) (α : K) (q : Fin n → K) : Fin n → K :=
  gibbs exp α (fun _ => 1) q

/-- The soft value of a policy, `∑ₐ π(a)·(q(a) - α·log π(a))`. -/
@[expose] def softValue (log : K → K) (α : K) (π q : Fin n → K) : K :=
  expect π fun a => q a - α * log (π a)

end Definitions

variable {K : Type u} [Field K]
variable {exp log : K → K} {n : Nat} {α : K} {π₀ π : Fin n → K}

/-- Without a prior the KL-regularised value is the soft value. -/
theorem softValue_eq (α : K) (π q : Fin n → K) :
    softValue log α π q = expect π q - α * kl log π fun _ => 1 := by
  unfold softValue kl
  rw [expect_sub, expect_mul_left]
  congr 2
  unfold expect
  congr 1
  funext a
  grind

variable [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-! ## The closed form of the regularised policy -/

/-- No policy has a larger regularised value than `α·log ∑ π₀·exp (Q/α)`. -/
theorem regularised_le (h : ExpLog exp log) (hα : 0 < α) (h₀ : IsWeight π₀) (hπ : IsProb π)
    (hac : AbsCont π π₀) (q : Fin n → K) :
    expect π q - α * kl log π π₀ ≤ expMean exp log α π₀ q := by
  have h₁ := (kl_gibbs_nonneg h h₀ α q hπ hac).1
  have h₂ := mul_nonneg (show 0 ≤ α by grind) h₁
  rw [expect_sub_kl h (by grind) h₀ hπ hac]
  grind

/-- **The maximiser is `π ∝ π₀·exp (Q/α)`**, and it alone (Appendix C, "the optimal policy update
takes the explicit closed form"; C29). -/
theorem regularised_maximiser (h : ExpLog exp log) (hα : 0 < α) (h₀ : IsWeight π₀)
    (hπ : IsProb π) (hac : AbsCont π π₀) (q : Fin n → K) :
    expect π q - α * kl log π π₀ = expMean exp log α π₀ q ↔ π = gibbs exp α π₀ q := by
  rw [expect_sub_kl h (by grind) h₀ hπ hac, ← (kl_gibbs_nonneg h h₀ α q hπ hac).2]
  grind

/-- **The regularised value** (C29): `max_π (⟨Q, π⟩ - α·KL(π‖π₀)) = α·log ∑ π₀·exp (Q/α)` over the
policies `π ≪ π₀`, attained. -/
theorem regularised_policy (h : ExpLog exp log) (hα : 0 < α) (h₀ : IsWeight π₀) (q : Fin n → K) :
    IsMaximum (fun π => IsProb π ∧ AbsCont π π₀) (fun π => expect π q - α * kl log π π₀)
      (expMean exp log α π₀ q) where
  le _ hπ := regularised_le h hα h₀ hπ.1 hπ.2 q
  attained := by
    have hg := gibbs_isProb h h₀ α q
    have hac := gibbs_absCont h h₀ α q
    exact ⟨_, ⟨hg, hac⟩, (regularised_maximiser h hα h₀ hg hac q).2 rfl⟩

/-- **Log-sum-exp is the largest soft value of a policy**, attained by the Boltzmann policy. -/
theorem softValue_max (h : ExpLog exp log) (hα : 0 < α) (q : Fin (n + 1) → K) :
    IsMaximum IsProb (fun π => softValue log α π q) (lse exp log α q) := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have hac : ∀ π : Fin (n + 1) → K, AbsCont π fun _ => 1 := fun π i h₁ => by grind
  rw [lse_eq_expMean]
  constructor
  · intro π hπ
    rw [softValue_eq]
    exact regularised_le h hα isWeight_one hπ (hac π) q
  · have hg := gibbs_isProb h (isWeight_one (n := n)) α q
    refine ⟨softmax exp α q, hg, ?_⟩
    rw [softValue_eq]
    exact (regularised_maximiser h hα isWeight_one hg (hac _) q).2 rfl

/-! ## Evaluating a fixed policy -/

/-- The soft value of a policy is monetary: its entropy bonus is a fixed shift of the values. -/
theorem softValue_monetary (log : K → K) (α : K) (hπ : IsProb π) :
    Monetary (softValue log α π) :=
  (expect_monetary hπ).shift_sub fun a => α * log (π a)

variable {S : Type v} {R : S → Fin n → K} {γ : K} {E : S → Fin n → (S → K) → K}
variable {pen : S → Fin n → K}

/-- The soft backup of a fixed policy is a `γ`-contraction (§3.1; C02). -/
theorem softPolicy_contraction (log : K → K) (α : K) {π : S → Fin n → K} (hπ : ∀ s, IsProb (π s))
    (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a)) {Q₁ Q₂ : S → Fin n → K} {ε : K}
    (hQ : ∀ s a, Within ε (Q₁ s a) (Q₂ s a)) (s : S) (a : Fin n) :
    Within (γ * ε) (rev R γ E (fun s => softValue log α (π s)) pen Q₁ s a)
      (rev R γ E (fun s => softValue log α (π s)) pen Q₂ s a) :=
  rev_contraction hγ hE (fun s => softValue_monetary log α (hπ s)) hQ s a

attribute [local instance] Semiring.natCast in
/-- **Policy evaluation does not converge to the optimal soft Q-function** (against §3.1; C02): one
state, two actions, no reward, and the policy that always takes action `0`. The policy's backup
fixes `Q = 0`; the optimal soft backup raises it by `γ·α·log 2`. -/
theorem softPolicy_fixed_point_not_optimal (h : ExpLog exp log) (hα : 0 < α) {γ : K} (hγ : 0 < γ) :
    let Q : Fin 1 → Fin 2 → K := fun _ _ => 0
    let E : Fin 1 → Fin 2 → (Fin 1 → K) → K := fun _ _ f => f 0
    rev (fun _ _ => 0) γ E (fun _ => softValue log α (point 0)) (fun _ _ => 0) Q = Q ∧
      softBackup exp log α (fun _ _ => 0) γ E (fun _ _ => 0) Q =
        (fun _ _ => γ * (α * log ((2 : Nat) : K))) ∧ 0 < γ * (α * log ((2 : Nat) : K)) := by
  have hlse : lse exp log α (fun _ : Fin 2 => 0) = α * log ((2 : Nat) : K) := by
    rw [lse_const h hα]; grind
  refine ⟨?_, ?_, ?_⟩
  · funext s a
    have e : softValue log α (point 0) (fun _ : Fin 2 => 0) = 0 := by
      unfold softValue
      rw [expect_point, show (point 0 : Fin 2 → K) 0 = 1 from rfl, h.log_one]
      grind
    simp only [rev, e]
    grind
  · funext s a
    simp only [softBackup, rev, hlse]
    clear hlse
    grind
  · rw [← hlse]
    exact OrderedRing.mul_pos hγ (lt_lse h hα (fun _ : Fin 2 => 0) (i := 0) (j := 1) (by decide))

end RESAC
