module

public import RESAC.Foundations.Finite

public section

/-!
# The aleatoric penalty is correlated with the amount of data

Proposition "Aleatoric penalty does not encode epistemic information" (Appendix F) says that
`κ = λ·∑‖W_l‖₁` has zero covariance with every statistic of data coverage, because the weights are
fixed *during* a backup. Across training runs, or across the steps of one, the weights are a
function of the data, and so is `κ`.

## Main definitions
* `cov p f g`: the covariance of `f` and `g` under the weights `p`.
* `criticWeight n`: one weight, trained on `n` samples with target `1` and step size `1/2`.

## Main statements
* `cov_const`: what is true: for fixed weights `κ` is a constant and covaries with nothing.
* `cov_kappa`: what is not: with the sample count `n` uniform on `{1, 2}`, `Cov(κ, n) = λ/16` (C20).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K]

/-- The covariance `E[f·g] - E[f]·E[g]` under the weights `p`. -/
@[expose] def cov {n : Nat} (p f g : Fin n → K) : K :=
  expect p (fun i => f i * g i) - expect p f * expect p g

/-- A critic of one weight after `n` samples: each moves it half the way to the target `1`, which is
stochastic gradient descent on `(1 - w)²/2` with step size `1/2` from `w = 0`. -/
@[expose] def criticWeight : Nat → K
  | 0 => 0
  | n + 1 => criticWeight n + 1 / 2 * (1 - criticWeight n)

end Definitions

variable {K : Type u} [Field K] [LE K]

/-- **For fixed weights the proposition is true**, and trivial: a constant has zero covariance with
every statistic. -/
theorem cov_const {n : Nat} {p : Fin n → K} (hp : IsProb p) (c : K) (g : Fin n → K) :
    cov p (fun _ => c) g = 0 := by
  unfold cov
  rw [expect_mul_left, expect_const hp]
  grind

variable [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- The trained weight in closed form: `1 - 2⁻ⁿ`. -/
theorem criticWeight_eq : ∀ n : Nat, criticWeight n = 1 - (1 / 2 : K) ^ n
  | 0 => by simp only [criticWeight, Semiring.pow_zero]; grind
  | n + 1 => by rw [criticWeight, criticWeight_eq n, Semiring.pow_succ]; grind

/-- **`κ` has non-zero covariance with data coverage** (refutes Proposition "Aleatoric penalty does
not encode epistemic information", Appendix F; C20): two training runs of equal probability, one
with one sample and one with two, have `κ = λ·|w| = λ/2` and `3λ/4`; the covariance of `κ` with the
sample count is `λ/16`. -/
theorem cov_kappa [DecidableLE K] (lam : K) :
    let samples : Fin 2 → Nat := fun run => run.val + 1
    let κ : Fin 2 → K := fun run => lam * mag (criticWeight (samples run))
    let count : Fin 2 → K := fun run => if run = 0 then 1 else 2
    cov (fun _ => 1 / 2) κ count = lam / 16 := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have h₁ : mag (criticWeight 1 : K) = 1 / 2 := by
    rw [mag_of_nonneg] <;> simp only [criticWeight] <;> grind
  have h₂ : mag (criticWeight 2 : K) = 3 / 4 := by
    rw [mag_of_nonneg] <;> simp only [criticWeight] <;> grind
  simp [cov, expect, fsum, h₁, h₂]
  grind

end RESAC
