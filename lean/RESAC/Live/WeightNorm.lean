module

public import RESAC.Live.Penalty
public import RESAC.Robust.Layers

public section

/-!
# The paper's live norm: all weights at once

The paper's `κ_Q` is `λ` times the l1 norm of **all** weights. A tabular critic's weights are its
entries, so its live penalty is `λ·Σ|Q(s,a)|`, the same at every pair. Its Lipschitz constant in the
sup-norm is `λ` times the number of entries, not `λ`.

## Main definitions
* `weightPen lam`: the penalty `λ·Σ_{s,a} |Q(s,a)|`.
* `entries K n m`: the number of entries of an `n × m` table, in `K`.

## Main statements (C14)
* `revLive_weight_exactModulus`: exact modulus `γ·(1 + λ·|S|·|A|)`.
* `revLive_weight_contracts_iff`: a contraction iff `λ·|S|·|A| < 1/γ - 1`.
* `revLive_weight_paper`: at `γ = 0.99` and `λ = 0.01` two entries are too many.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

attribute [local instance] Semiring.natCast

section Definitions

variable {K : Type u} [Field K]

/-- The l1 norm of a tabular critic, whose weights are its entries, as a live penalty. -/
@[expose] def weightPen [LE K] [DecidableLE K] {n m : Nat} (lam : K) (Q : Fin n → Fin m → K) :
    Fin n → Fin m → K :=
  fun _ _ => lam * fsum fun s => fsum fun a => mag (Q s a)

/-- The number of entries of an `n × m` table. -/
@[expose] def entries (K : Type u) [Field K] (n m : Nat) : K :=
  fsum fun _ : Fin n => fsum fun _ : Fin m => (1 : K)

/-- It is the product of the two sizes. -/
theorem entries_eq (n m : Nat) : entries K n m = (n : K) * (m : K) := by
  unfold entries
  rw [fsum_const, fsum_const]
  grind

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {n m : Nat} {γ lam : K}

/-- The norm of all entries has Lipschitz constant `λ·|S|·|A|`. -/
theorem weightPen_modulus (hlam : 0 ≤ lam) :
    Modulus (weightPen (n := n) (m := m) lam) (lam * entries K n m) := fun ε Q₁ Q₂ h s a => by
  have h₁ : Within (fsum fun _ : Fin n => fsum fun _ : Fin m => ε)
      (fsum fun s => fsum fun a => mag (Q₁ s a)) (fsum fun s => fsum fun a => mag (Q₂ s a)) :=
    fsum_within fun s => fsum_within fun a => Within.mag (h s a)
  have e : (fsum fun _ : Fin n => fsum fun _ : Fin m => ε) = entries K n m * ε := by
    unfold entries
    rw [← fsum_mul_right]
    congr 1; funext _
    rw [← fsum_mul_right]
    congr 1; funext _
    grind
  rw [e] at h₁
  have h₂ := h₁.mul_left hlam
  rw [near_iff]
  unfold weightPen
  rw [show lam * entries K n m * ε = lam * (entries K n m * ε) by grind]
  exact h₂

/-- The penalty of the constant `-1` is that of `0`, plus `λ·|S|·|A|`. -/
theorem weightPen_neg_one (lam : K) : weightPen lam (fun (_ : Fin n) (_ : Fin m) => (0 : K) + -1) =
    fun s a => weightPen lam (fun _ _ => 0) s a + lam * entries K n m := by
  have m₁ : mag (0 + -1 : K) = 1 := by unfold mag; grind
  have z : (fsum fun _ : Fin n => fsum fun _ : Fin m => (0 : K)) = 0 := by
    simp only [fsum_zero]
  funext s a
  unfold weightPen entries
  simp only [m₁, mag_zero, z]
  grind

variable {R : Fin (n + 1) → Fin (m + 1) → K}
variable {E : Fin (n + 1) → Fin (m + 1) → (Fin (n + 1) → K) → K}
variable {V : Fin (n + 1) → (Fin (m + 1) → K) → K}

/-- **The paper's live norm on a table has exact modulus `γ·(1 + λ·|S|·|A|)`.** Appendix E,
"Necessity of the frozen-parameter design", with `κ_Q = λ·Σ‖W‖₁` as printed; C14. -/
theorem revLive_weight_exactModulus (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hlam : 0 ≤ lam) :
    ExactModulus (revLive R γ E V (weightPen lam))
      (γ * (1 + lam * entries K (n + 1) (m + 1))) where
  holds := revLive_modulus hγ hE hV (weightPen_modulus hlam)
  least c' h := by
    refine h.le_of_pair (fun _ _ => 0) (fun _ _ => 0 + -1) (fun s a => ?_) (fun ε h' => ?_)
    · rw [near_iff]; unfold Within; grind
    · have h' := h' 0 0
      rw [near_iff] at h'
      unfold revLive at h'
      rw [weightPen_neg_one, rev_add_const hE hV] at h'
      unfold Within at h'
      grind

/-- So it contracts iff `λ·|S|·|A| < 1/γ - 1`: the threshold falls with the size of the table.
C14. -/
theorem revLive_weight_contracts_iff (hγ : 0 < γ) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hlam : 0 ≤ lam) :
    Contracts K (revLive R γ E V (weightPen lam)) ↔
      lam * (((n + 1 : Nat) : K) * ((m + 1 : Nat) : K)) < 1 / γ - 1 := by
  rw [(revLive_weight_exactModulus (R := R) (by grind) hE hV hlam).contracts_iff,
    live_threshold hγ, entries_eq]

/-- **At the paper's `γ = 0.99` and `λ = 0.01` a table of two entries is too large**: one state and
two actions have modulus `1.0098`. C14. -/
theorem revLive_weight_paper {R : Fin 1 → Fin 2 → K} {E : Fin 1 → Fin 2 → (Fin 1 → K) → K}
    {V : Fin 1 → (Fin 2 → K) → K} (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) :
    ExactModulus (revLive R (99 / 100) E V (weightPen (1 / 100))) (10098 / 10000 : K) ∧
      ¬ Contracts K (revLive R (99 / 100) E V (weightPen (1 / 100))) := by
  have h := revLive_weight_exactModulus (γ := 99 / 100) (lam := 1 / 100) (R := R) (by grind) hE hV
    (by grind)
  have e : (99 / 100 * (1 + 1 / 100 * entries K 1 2) : K) = 10098 / 10000 := by
    simp only [entries, fsum]
    grind
  rw [e] at h
  exact ⟨h, fun hc => by have := h.contracts_iff.1 hc; grind⟩

end RESAC
