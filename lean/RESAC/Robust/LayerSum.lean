module

public import RESAC.Robust.Layers

public section

/-!
# The sum of the layers' norms does not bound the Lipschitz constant

Eq. (gamma_ale) of the paper bounds the product of the layers' norms by the sum of their `l¹`
norms.
That is false, and so is the bound that it draws from it for the network.

## Main definitions
* `tripleNet`: the network `3·relu(3x)`.
* `fprod`: the product of the values of a vector.

## Main statements
* `norm_sum_refuted`: for `tripleNet` the product is `9`, the sum is `6`, and the sum is no
  Lipschitz constant of the network (C06).
* `fprod_le_mean_pow`: what is true is the inequality of arithmetic and geometric means,
  `nⁿ·∏ aₗ ≤ (∑ aₗ)ⁿ` for `aₗ ≥ 0`, over every ordered field, without roots.
* `Net.normProduct_le`: so the sum of the norms bounds the Lipschitz constant after all, through
  its `L`-th power: `L^L·∏‖Wₗ‖∞→∞ ≤ (∑‖vec Wₗ‖₁)^L` for a network of `L` layers (C06, corrected).
* `Net.eval_within_normSum`: the Lipschitz constant that follows.

Paper: §4.2, Eq. (gamma_ale), and scope remark (S2).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K]

/-- The product of the values of a vector. -/
@[expose] def fprod : {n : Nat} → (Fin n → K) → K
  | 0, _ => 1
  | _ + 1, f => f 0 * fprod fun i => f i.succ

variable [LE K] [DecidableLE K]

/-- The rectifier. -/
@[expose] def relu (x : K) : K := larger x 0

variable (K) in
/-- The network `3·relu(3x)`: two layers of one weight each. -/
@[expose] def tripleNet : Net K 1 1 :=
  .layer (k := 0) (.layer (k := 0) (.input 1) (fun _ _ => 3) (fun _ => 0) relu)
    (fun _ _ => 3) (fun _ => 0) fun x => x

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-! ## The counterexample -/

/-- The rectifier is 1-Lipschitz. -/
theorem relu_within [DecidableLE K] {ε x y : K} (h : Within ε x y) :
    Within ε (relu x) (relu y) := by
  unfold Within relu larger at *; grind

/-- `tripleNet` has 1-Lipschitz activations. -/
theorem tripleNet_nonExpansive [DecidableLE K] : (tripleNet K).NonExpansive := by
  simp only [tripleNet, Net.NonExpansive, true_and]
  exact ⟨fun _ _ _ => relu_within, fun _ _ _ h => h⟩

/-- `tripleNet` moves `0` to `0` and `1` to `9`. -/
theorem tripleNet_eval [DecidableLE K] :
    (tripleNet K).eval (fun _ => 0) 0 = 0 ∧ (tripleNet K).eval (fun _ => 1) 0 = 9 := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  constructor <;> simp only [tripleNet, Net.eval, dot, fsum, relu, larger] <;> grind

/-- **The product of the layers' norms is not bounded by the sum of their `l¹` norms, and the sum is
no Lipschitz constant of the network** (refutes Eq. (gamma_ale) and (S2); C06): for `3·relu(3x)` the
product is `9`, the sum is `6`, and inputs at distance `1` have outputs at distance `9`. -/
theorem norm_sum_refuted [DecidableLE K] :
    (tripleNet K).normProduct = 9 ∧ (tripleNet K).normSum = 6 ∧
      ¬ ∀ (ε : K) (x y : Fin 1 → K), (∀ j, Within ε (x j) (y j)) →
        Within ((tripleNet K).normSum * ε) ((tripleNet K).eval x 0) ((tripleNet K).eval y 0) := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have h₃ : mag (3 : K) = 3 := mag_of_nonneg (by grind)
  have hsum : (tripleNet K).normSum = 6 := by
    simp only [tripleNet, Net.normSum, entryNorm, l1, fsum, h₃]; grind
  refine ⟨?_, hsum, fun h => ?_⟩
  · simp only [tripleNet, Net.normProduct, opNorm, fmax, l1, fsum, h₃]; grind
  · have h₁ := h 1 (fun _ => 0) (fun _ => 1) fun _ => by unfold Within; grind
    rw [hsum, tripleNet_eval.1, tripleNet_eval.2] at h₁
    unfold Within at h₁
    grind

/-! ## Arithmetic and geometric means, without roots -/

section Means

attribute [local instance] Semiring.natCast

/-- The tangent of `yⁿ⁺¹` at `x`: `(n+1)·xⁿ·y ≤ yⁿ⁺¹ + n·xⁿ⁺¹`, by induction on `n`. -/
theorem tangent_pow {x y : K} (hx : 0 ≤ x) (hy : 0 ≤ y) : ∀ n : Nat,
    ((n : K) + 1) * (x ^ n * y) ≤ y ^ (n + 1) + (n : K) * x ^ (n + 1)
  | 0 => by
    rw [show ((0 : Nat) : K) = 0 from Semiring.natCast_zero]
    simp only [Semiring.pow_succ, Semiring.pow_zero]; grind
  | n + 1 => by
    have ih := mul_le_mul_left (tangent_pow hx hy n) hy
    have hn := OrderedRing.natCast_nonneg (R := K) (a := n + 1)
    have h₁ := mul_nonneg hn (mul_nonneg (pow_nonneg hx n) (mul_self_nonneg (y - x)))
    rw [Semiring.natCast_succ] at *
    have e₁ : y ^ (n + 1 + 1) = y ^ (n + 1) * y := Semiring.pow_succ _ _
    have e₂ : x ^ (n + 1 + 1) = x ^ n * x * x := by rw [Semiring.pow_succ, Semiring.pow_succ]
    have e₃ : x ^ (n + 1) = x ^ n * x := Semiring.pow_succ _ _
    rw [e₁, e₂, e₃]
    rw [e₃] at ih
    clear e₁ e₂ e₃
    generalize y ^ (n + 1) = Y at *
    generalize x ^ n = X at *
    generalize (n : K) = N at *
    grind

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- A power of a product. -/
theorem mul_pow (a b : K) : ∀ n : Nat, (a * b) ^ n = a ^ n * b ^ n
  | 0 => by simp only [Semiring.pow_zero]; grind
  | n + 1 => by simp only [Semiring.pow_succ]; rw [mul_pow a b n]; grind

omit [LawfulOrderLT K] in
/-- A power of a positive element is positive. -/
theorem pow_pos {a : K} (ha : 0 < a) : ∀ n : Nat, 0 < a ^ n
  | 0 => by rw [Semiring.pow_zero]; exact OrderedRing.zero_lt_one
  | n + 1 => by rw [Semiring.pow_succ]; exact OrderedRing.mul_pos (pow_pos ha n) ha

/-- One more factor: with `x = S/n` and `y = (S+a)/(n+1)` the two successive means, the new factor
is `a = (n+1)·y - n·x`, and `tangent_pow` bounds `xⁿ·a` by `yⁿ⁺¹`. -/
theorem mean_pow_step {n : Nat} {x y a P : K} (hx : 0 ≤ x) (hy : 0 ≤ y) (ha : 0 ≤ a)
    (hP : P ≤ x ^ n) (hxy : (n : K) * x + a = ((n : K) + 1) * y) : P * a ≤ y ^ (n + 1) := by
  have h₁ := tangent_pow hx hy n
  have h₂ := mul_le_mul_right hP ha
  have e₁ : x ^ (n + 1) = x ^ n * x := Semiring.pow_succ _ _
  have e₂ : a = ((n : K) + 1) * y - (n : K) * x := by clear h₁ h₂ e₁; grind
  rw [e₁] at h₁
  have e₃ : x ^ n * a = ((n : K) + 1) * (x ^ n * y) - (n : K) * (x ^ n * x) := by
    rw [e₂]; clear h₁ h₂ e₁ e₂; grind
  clear e₁ e₂
  grind

/-- The mean of `n + 1` numbers with sum `S`, cleared of its denominator. -/
theorem succ_mul_div (n : Nat) (S : K) : ((n : K) + 1) * (S / ((n : K) + 1)) = S := by
  have hn := OrderedRing.natCast_nonneg (R := K) (a := n)
  have h01 := OrderedRing.zero_lt_one (R := K)
  generalize (n : K) = N at *
  grind

/-- A product of `n` non-negative factors is at most the `n`-th power of their mean; for `n = 0` any
`x` does. -/
private theorem le_mean_pow : ∀ {n : Nat} {a : Fin n → K}, (∀ i, 0 ≤ a i) →
    ∃ x : K, 0 ≤ x ∧ (n : K) * x = fsum a ∧ fprod a ≤ x ^ n
  | 0, a, _ => ⟨0, le_refl _, by rw [Semiring.mul_zero]; rfl, by
      rw [fprod, Semiring.pow_zero]; exact le_refl _⟩
  | n + 1, a, h => by
    obtain ⟨x, hx, hS, hP⟩ := le_mean_pow fun i : Fin n => h i.succ
    have hn := OrderedRing.natCast_nonneg (R := K) (a := n)
    have h01 := OrderedRing.zero_lt_one (R := K)
    have e := succ_mul_div n (fsum a)
    have hy : 0 ≤ fsum a / ((n : K) + 1) := div_nonneg (fsum_nonneg h) (by grind)
    have hstep := mean_pow_step hx hy (h 0) hP (by rw [e, hS, fsum_succ]; grind)
    exact ⟨_, hy, by rw [Semiring.natCast_succ]; exact e, by rw [fprod]; grind⟩

/-- **The inequality of arithmetic and geometric means, without roots** (C06, corrected):
`nⁿ·∏ aₗ ≤ (∑ aₗ)ⁿ` for `aₗ ≥ 0`. -/
theorem fprod_le_mean_pow {n : Nat} {a : Fin n → K} (h : ∀ i, 0 ≤ a i) :
    (n : K) ^ n * fprod a ≤ fsum a ^ n := by
  obtain ⟨x, hx, hS, hP⟩ := le_mean_pow h
  rw [← hS, mul_pow]
  exact mul_le_mul_left hP (pow_nonneg OrderedRing.natCast_nonneg n)

namespace Net

variable [DecidableLE K]

/-- The product of the norms of a network of `L` layers is at most the `L`-th power of their
mean. -/
private theorem normProduct_le_mean_pow {n m : Nat} (net : Net K n m) :
    ∃ x : K, 0 ≤ x ∧ (net.depth : K) * x = net.normSum ∧ net.normProduct ≤ x ^ net.depth := by
  induction net with
  | input => exact ⟨0, le_refl _, by rw [Semiring.mul_zero, normSum], by
      rw [normProduct, depth, Semiring.pow_zero]; exact le_refl _⟩
  | layer net W b σ ih =>
    obtain ⟨x, hx, hS, hP⟩ := ih
    have hn := OrderedRing.natCast_nonneg (R := K) (a := net.depth)
    have h01 := OrderedRing.zero_lt_one (R := K)
    have hW := opNorm_le_entryNorm W
    have hE : 0 ≤ entryNorm W := le_trans (opNorm_nonneg W) hW
    have e := succ_mul_div net.depth (net.normSum + entryNorm W)
    have hy : 0 ≤ (net.normSum + entryNorm W) / ((net.depth : K) + 1) :=
      div_nonneg (by have := mul_nonneg hn hx; grind) (by grind)
    have hstep := mean_pow_step hx hy hE hP (by rw [e, hS])
    have hle := mul_le_mul_left hW net.normProduct_nonneg
    exact ⟨_, hy, by rw [depth, normSum, Semiring.natCast_succ]; exact e, by
      rw [normProduct, depth]; exact le_trans hle hstep⟩

/-- **What the sum of the norms does bound** (Eq. (gamma_ale), corrected; C06): for a network of `L`
layers, `L^L·∏‖Wₗ‖∞→∞ ≤ (∑‖vec Wₗ‖₁)^L`. -/
theorem normProduct_le {n m : Nat} (net : Net K n m) :
    (net.depth : K) ^ net.depth * net.normProduct ≤ net.normSum ^ net.depth := by
  obtain ⟨x, hx, hS, hP⟩ := net.normProduct_le_mean_pow
  rw [← hS, mul_pow]
  exact mul_le_mul_left hP (pow_nonneg OrderedRing.natCast_nonneg net.depth)

/-- **The Lipschitz constant from the sum of the norms** (§4.2, corrected; C06): a network of `L`
layers with 1-Lipschitz activations has the constant `(∑‖vec Wₗ‖₁)^L / L^L`. The denominator stands
on the left, so that the statement covers `L = 0`. -/
theorem eval_within_normSum {n m : Nat} (net : Net K n m) (hσ : net.NonExpansive) {x y : Fin n → K}
    {ε : K} (hε : 0 ≤ ε) (h : ∀ j, Within ε (x j) (y j)) (i : Fin m) :
    Within (net.normSum ^ net.depth * ε) ((net.depth : K) ^ net.depth * net.eval x i)
      ((net.depth : K) ^ net.depth * net.eval y i) := by
  have h₁ := (net.eval_within hσ hε h i).mul_left
    (pow_nonneg (OrderedRing.natCast_nonneg (a := net.depth)) net.depth)
  rw [← Semiring.mul_assoc] at h₁
  exact h₁.mono (mul_le_mul_right net.normProduct_le hε)

end Net

end Means

end RESAC
