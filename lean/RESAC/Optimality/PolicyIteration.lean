module

public import RESAC.Optimality.Policies
public import RESAC.Contraction.Elimination

public section

/-!
# Policy iteration ends

Evaluate, act greedily, repeat. There are `|A|^|S|` deterministic policies, values never fall, and
they stand still only at the optimum: so one of the first `|A|^|S| + 1` policies is optimal, over
every ordered field.

## Main statements (C49)
* `policyIteration_terminates`: the theorem.
* `pigeonhole`: of `N + 1` numbers below `N` two are equal; `code_injective`: policies as numbers.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

/-! ## Counting policies -/

/-- Of `N + 1` numbers below `N` two are equal. -/
theorem pigeonhole : ∀ (N : Nat) (f : Nat → Nat), (∀ i, i ≤ N → f i < N) →
    ∃ i j, i < j ∧ j ≤ N ∧ f i = f j
  | 0, f, h => absurd (h 0 (Nat.le_refl 0)) (Nat.not_lt_zero _)
  | N + 1, f, h => by
    by_cases hx : ∃ i, i ≤ N ∧ f i = f (N + 1)
    · obtain ⟨i, hi, e⟩ := hx
      exact ⟨i, N + 1, by omega, Nat.le_refl _, e⟩
    · have hne : ∀ i, i ≤ N → f i ≠ f (N + 1) := fun i hi e => hx ⟨i, hi, e⟩
      have hl := h (N + 1) (Nat.le_refl _)
      obtain ⟨i, j, hij, hj, e⟩ := pigeonhole N
        (fun i => if f (N + 1) < f i then f i - 1 else f i) fun i hi => by
          have h₁ := h i (by omega)
          have h₂ := hne i hi
          show (if f (N + 1) < f i then f i - 1 else f i) < N
          split <;> omega
      refine ⟨i, j, hij, by omega, ?_⟩
      have h₁ := hne i (by omega)
      have h₂ := hne j hj
      split at e <;> split at e <;> omega

/-- A deterministic policy as a number with `n` digits to the base `b`. -/
@[expose] def code {b : Nat} : {n : Nat} → (Fin n → Fin b) → Nat
  | 0, _ => 0
  | _ + 1, π => (π 0).val + b * code fun i => π i.succ

/-- It has `n` digits. -/
theorem code_lt {b : Nat} : ∀ {n : Nat} (π : Fin n → Fin b), code π < b ^ n
  | 0, _ => by simp [code]
  | n + 1, π => by
    have ih := code_lt fun i : Fin n => π i.succ
    have h₀ := (π 0).isLt
    have h₁ := Nat.mul_le_mul_left b (Nat.succ_le_of_lt ih)
    rw [code, Nat.pow_succ]
    rw [Nat.mul_succ] at h₁
    rw [Nat.mul_comm (b ^ n) b]
    omega

/-- Different policies have different numbers. -/
theorem code_injective {b : Nat} : ∀ {n : Nat} {π ρ : Fin n → Fin b}, code π = code ρ → π = ρ
  | 0, π, ρ, _ => funext fun i => i.elim0
  | n + 1, π, ρ, h => by
    have h₀ := (π 0).isLt
    have h₁ := (ρ 0).isLt
    simp only [code] at h
    have e₀ : (π 0).val = (ρ 0).val := by
      have := congrArg (· % b) h
      simp only [Nat.add_mul_mod_self_left, Nat.mod_eq_of_lt h₀, Nat.mod_eq_of_lt h₁] at this
      exact this
    have e₁ : code (fun i => π i.succ) = code fun i => ρ i.succ := by
      rw [e₀] at h
      exact Nat.eq_of_mul_eq_mul_left (by omega) (Nat.add_left_cancel h)
    have e₂ := code_injective e₁
    funext i
    exact Fin.cases (Fin.ext e₀) (fun i => congrFun e₂ i) i

/-! ## The theorem -/

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {n m : Nat} {γ : K}
variable {R pen : Fin (n + 1) → Fin (m + 1) → K}
variable {E : Fin (n + 1) → Fin (m + 1) → (Fin (n + 1) → K) → K}

/-- **Policy iteration ends at the optimum within `|A|^|S|` improvements.** `π k` is the `k`-th
policy, `Q k` its value, and `π (k + 1)` is greedy for `Q k`. For every monetary expectation, robust
ones included, over every ordered field. C49. -/
theorem policyIteration_terminates (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    {Qs : Fin (n + 1) → Fin (m + 1) → K} (hQs : rev R γ E maxV pen Qs = Qs)
    {π : Nat → Fin (n + 1) → Fin (m + 1)} {Q : Nat → Fin (n + 1) → Fin (m + 1) → K}
    (eval : ∀ k, rev R γ E (onPolicy (π k)) pen (Q k) = Q k)
    (greedy : ∀ k s a, Q k s a ≤ Q k s (π (k + 1) s)) :
    (∀ k s a, Q k s a ≤ Q (k + 1) s a) ∧
      ∃ k, k ≤ (m + 1) ^ (n + 1) ∧ Q k = Qs := by
  have hgreedy : ∀ k s, onPolicy (π (k + 1)) s (Q k s) = maxV s (Q k s) := fun k s =>
    (fmax_eq (π (k + 1) s) rfl (greedy k s)).symm
  have step : ∀ k s a, Q k s a ≤ Q (k + 1) s a := fun k s a => by
    have h := policy_improvement hγ hγ₁ hE (onPolicy_monetary (π (k + 1)))
      (onPolicy_le_max (π k)) (hgreedy k) (eval k) (eval (k + 1)) s a
    exact le_trans h.1 h.2
  refine ⟨step, ?_⟩
  obtain ⟨i, j, hij, hj, e⟩ := pigeonhole ((m + 1) ^ (n + 1)) (fun k => code (π k))
    fun k _ => code_lt (π k)
  have eπ : π i = π j := code_injective e
  have eQ : Q j = Q i :=
    fixedPoint_unique_fin (rev_blackwell hγ hE (onPolicy_monetary (π i))).modulus hγ₁
      (by rw [eπ]; exact eval j) (eval i)
  have mono : ∀ d s a, Q (i + 1) s a ≤ Q (i + 1 + d) s a := fun d => by
    induction d with
    | zero => exact fun s a => le_refl _
    | succ d ih => exact fun s a => le_trans (ih s a) (step _ s a)
  refine ⟨i, by omega, ?_⟩
  refine optimal_of_no_improvement hγ hγ₁ hE maxV_monetary (onPolicy_monetary (π (i + 1)))
    (onPolicy_le_max (π i)) (hgreedy i) hQs (eval i) (eval (i + 1)) fun s a => ?_
  have h := mono (j - (i + 1)) s a
  rw [show i + 1 + (j - (i + 1)) = j by omega, eQ] at h
  exact h

end RESAC
