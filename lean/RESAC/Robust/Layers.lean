module

public import RESAC.Foundations.Finite

public section

/-!
# Layers and the Lipschitz constant of a network

## Main definitions
* `dot w x`, `l1 w`: the product of a weight row with an input, and its `l¹` norm.
* `opNorm W`: the operator norm `‖W‖∞→∞`, the largest `l¹` norm of a row.
* `entryNorm W`: the entrywise norm `‖vec W‖₁`, which the paper writes `‖W‖₁`.
* `Net K n m`: a feed-forward network: weights, biases and an activation for each layer.
* `Net.normProduct`, `Net.normSum`: the product of the layers' operator norms, and the sum of their
  entrywise norms.

## Main statements
* `layer_sensitivity`: `‖Wδ‖∞ ≤ ‖W‖∞→∞·‖δ‖∞ ≤ ‖vec W‖₁·‖δ‖∞` (C07).
* `opNorm_attained`: `‖W‖∞→∞` is the operator norm: some unit input attains it.
* `Net.eval_within`: a network with 1-Lipschitz activations is Lipschitz in the sup-norm with the
  product of its layers' operator norms (C05).

Paper: §4.1. The sum of the layers' norms is another matter: see `RESAC.Robust.LayerSum` (C06).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K] {n m : Nat}

/-- The product of a row of weights with an input. -/
@[expose] def dot (w x : Fin n → K) : K := fsum fun i => w i * x i

variable [LE K] [DecidableLE K]

/-- The `l¹` norm of a vector. -/
@[expose] def l1 (w : Fin n → K) : K := fsum fun i => mag (w i)

/-- The operator norm `‖W‖∞→∞`: the largest `l¹` norm of a row. -/
@[expose] def opNorm (W : Fin (m + 1) → Fin n → K) : K := fmax fun i => l1 (W i)

/-- The entrywise norm `‖vec W‖₁`. -/
@[expose] def entryNorm (W : Fin m → Fin n → K) : K := fsum fun i => l1 (W i)

/-- The sign of an element, `±1`. -/
@[expose] def sign (x : K) : K := if 0 ≤ x then 1 else -1

end Definitions

/-- A feed-forward network from `n` inputs to `m` outputs: layers `x ↦ σ(W x + b)` on top of the
input. The output layer of a critic has the identity for `σ`. -/
inductive Net (K : Type u) : Nat → Nat → Type u
  /-- No layer: the input itself. -/
  | input (n : Nat) : Net K n n
  /-- One more layer, with weights `W`, biases `b` and activation `σ`. -/
  | layer {n m k : Nat} (net : Net K n m) (W : Fin (k + 1) → Fin m → K) (b : Fin (k + 1) → K)
      (σ : K → K) : Net K n (k + 1)

namespace Net

variable {K : Type u} [Field K]

/-- The function that a network computes. -/
@[expose] def eval : {n m : Nat} → Net K n m → (Fin n → K) → Fin m → K
  | _, _, input _, x => x
  | _, _, layer net W b σ, x => fun i => σ (dot (W i) (net.eval x) + b i)

/-- Every activation is 1-Lipschitz, as ReLU, tanh and the identity are. -/
@[expose] def NonExpansive [LE K] : {n m : Nat} → Net K n m → Prop
  | _, _, input _ => True
  | _, _, layer net _ _ σ => net.NonExpansive ∧ ∀ ε x y : K, Within ε x y → Within ε (σ x) (σ y)

/-- The number of layers. -/
@[expose] def depth : {n m : Nat} → Net K n m → Nat
  | _, _, input _ => 0
  | _, _, layer net _ _ _ => net.depth + 1

variable [LE K] [DecidableLE K]

/-- The product `∏ₗ ‖Wₗ‖∞→∞` of the layers' operator norms. -/
@[expose] def normProduct : {n m : Nat} → Net K n m → K
  | _, _, input _ => 1
  | _, _, layer net W _ _ => net.normProduct * opNorm W

/-- The sum `∑ₗ ‖vec Wₗ‖₁` of the layers' entrywise norms: the paper's `Γ_ale`, up to its factor. -/
@[expose] def normSum : {n m : Nat} → Net K n m → K
  | _, _, input _ => 0
  | _, _, layer net W _ _ => net.normSum + entryNorm W

end Net

variable {K : Type u} [Field K] {n m : Nat}

/-- A row applied to zero. -/
theorem dot_zero (w : Fin n → K) : dot w (fun _ => 0) = 0 := by
  unfold dot
  rw [fsum_mul_right]
  grind

variable [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- Bounds add up over sums. -/
theorem fsum_within : ∀ {n : Nat} {e f g : Fin n → K}, (∀ i, Within (e i) (f i) (g i)) →
    Within (fsum e) (fsum f) (fsum g)
  | 0, _, _, _, _ => Within.refl 0
  | n + 1, e, f, g, h => by
    simp only [fsum]
    exact (h 0).add (fsum_within fun i : Fin n => h i.succ)

variable [DecidableLE K]

/-- `x·sgn x = |x|`. -/
theorem mul_sign (x : K) : x * sign x = mag x := by
  unfold sign mag; grind

/-- A sign has absolute value one. -/
theorem mag_sign (x : K) : mag (sign x) = 1 := by
  have := OrderedRing.zero_lt_one (R := K)
  unfold sign mag; grind

/-- An `l¹` norm is non-negative. -/
theorem l1_nonneg (w : Fin n → K) : 0 ≤ l1 w := fsum_nonneg fun _ => mag_nonneg _

/-- An operator norm is non-negative. -/
theorem opNorm_nonneg (W : Fin (m + 1) → Fin n → K) : 0 ≤ opNorm W :=
  le_trans (l1_nonneg (W 0)) (le_fmax (fun i => l1 (W i)) 0)

/-- The operator norm is at most the entrywise norm. -/
theorem opNorm_le_entryNorm (W : Fin (m + 1) → Fin n → K) : opNorm W ≤ entryNorm W :=
  fmax_le fun i => le_fsum (f := fun i => l1 (W i)) (fun i => l1_nonneg (W i)) i

/-- A factor of either sign scales a bound by its absolute value. -/
theorem Within.scale {ε a b : K} (h : Within ε a b) (c : K) :
    Within (RESAC.mag c * ε) (c * a) (c * b) := by
  rcases le_total (a := 0) (b := c) with hc | hc
  · rw [mag_of_nonneg hc]; exact h.mul_left hc
  · rw [mag_of_nonpos hc]
    have := h.mul_left (c := -c) (by grind)
    unfold Within at *
    grind

/-- One row is Lipschitz with its `l¹` norm. -/
theorem dot_within (w : Fin n → K) {x y : Fin n → K} {ε : K} (h : ∀ i, Within ε (x i) (y i)) :
    Within (l1 w * ε) (dot w x) (dot w y) := by
  have h₁ : Within _ (dot w x) (dot w y) := fsum_within fun i => (h i).scale (w i)
  rwa [fsum_mul_right] at h₁

/-- A layer's matrix is Lipschitz with its operator norm. -/
theorem matrix_within (W : Fin (m + 1) → Fin n → K) {x y : Fin n → K} {ε : K} (hε : 0 ≤ ε)
    (h : ∀ j, Within ε (x j) (y j)) (i : Fin (m + 1)) :
    Within (opNorm W * ε) (dot (W i) x) (dot (W i) y) :=
  (dot_within (W i) h).mono (mul_le_mul_right (le_fmax (fun i => l1 (W i)) i) hε)

/-- **The sensitivity of a layer** (§4.1; C07): `‖Wδ‖∞ ≤ ‖W‖∞→∞·‖δ‖∞ ≤ ‖vec W‖₁·‖δ‖∞`, with `ε`
for any bound of `‖δ‖∞`. -/
theorem layer_sensitivity (W : Fin (m + 1) → Fin n → K) {δ : Fin n → K} {ε : K} (hε : 0 ≤ ε)
    (h : ∀ j, mag (δ j) ≤ ε) :
    (∀ i, mag (dot (W i) δ) ≤ opNorm W * ε) ∧ opNorm W * ε ≤ entryNorm W * ε := by
  refine ⟨fun i => ?_, mul_le_mul_right (opNorm_le_entryNorm W) hε⟩
  have h₁ := matrix_within W (y := fun _ => 0) hε (fun j => within_iff_mag.2 (by
    rw [show δ j - 0 = δ j by grind]; exact h j)) i
  rw [within_iff_mag, dot_zero] at h₁
  rwa [show dot (W i) δ - 0 = dot (W i) δ by grind] at h₁

/-- `‖W‖∞→∞` is no mere bound: the signs of the heaviest row attain it. -/
theorem opNorm_attained (W : Fin (m + 1) → Fin n → K) :
    ∃ (x : Fin n → K) (i : Fin (m + 1)), (∀ j, mag (x j) ≤ 1) ∧ mag (dot (W i) x) = opNorm W := by
  obtain ⟨i, hi⟩ := exists_eq_fmax fun i => l1 (W i)
  refine ⟨fun j => sign (W i j), i, fun j => by rw [mag_sign]; exact le_refl _, ?_⟩
  unfold opNorm dot
  rw [← hi, show (fun j => W i j * sign (W i j)) = fun j => mag (W i j) by
    funext j; exact mul_sign _]
  exact mag_of_nonneg (l1_nonneg (W i))

namespace Net

/-- The product of the norms is non-negative. -/
theorem normProduct_nonneg {n m : Nat} (net : Net K n m) : 0 ≤ net.normProduct := by
  induction net with
  | input => have := OrderedRing.zero_lt_one (R := K); rw [normProduct]; grind
  | layer net W b σ ih => rw [normProduct]; exact mul_nonneg ih (opNorm_nonneg W)

/-- **A network is Lipschitz with the product of its layers' operator norms** (§4.1, "the Lipschitz
constant of a deep network is upper-bounded by the product"; C05), in the sup-norm and for
1-Lipschitz activations. -/
theorem eval_within {n m : Nat} (net : Net K n m) (hσ : net.NonExpansive) {x y : Fin n → K} {ε : K}
    (hε : 0 ≤ ε) (h : ∀ j, Within ε (x j) (y j)) (i : Fin m) :
    Within (net.normProduct * ε) (net.eval x i) (net.eval y i) := by
  induction net with
  | input => rw [normProduct, Semiring.one_mul]; simp only [eval]; exact h i
  | layer net W b σ ih =>
    rw [NonExpansive] at hσ
    have h₁ := matrix_within W (mul_nonneg net.normProduct_nonneg hε) (ih hσ.1) i
    have h₂ := hσ.2 _ _ _ (h₁.add (Within.refl (b i)))
    rw [normProduct, show net.normProduct * opNorm W * ε = opNorm W * (net.normProduct * ε) + 0 by
      grind]
    simp only [eval]
    exact h₂

end Net

end RESAC
