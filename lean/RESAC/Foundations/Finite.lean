module

public import RESAC.Foundations.Monetary
public import RESAC.Foundations.Sum
public import RESAC.Foundations.Extrema

public section

/-!
# Expectations, maxima and minima are monetary

The functionals from which the paper's finite backups are made (Appendix E, Setup).

## Main definitions
* `IsProb p`: `p` is a probability vector; the paper's (A1) and (A2).
* `expect p f`: the expectation of `f` under `p`.
* `point i`: the probability vector that puts all weight on `i`.

## Main statements
* `expect_monetary`: an expectation is monetary; `isProb_of_monetary` is the converse, so that (A1)
  and (A2) are necessary as well as sufficient.
* `fmax_monetary`, `fmin_monetary`: maximum and minimum are monetary (Appendix E, property (P)).
* `Monetary.mixture`, `Monetary.convex`, `Monetary.pointwise_max`, `Monetary.pointwise_min`:
  monetary functionals are closed under finite mixtures, maxima and minima.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v

section Definitions

variable {K : Type u} [Field K]

/-- `p` is a probability vector: non-negative weights that sum to one. -/
structure IsProb [LE K] {n : Nat} (p : Fin n → K) : Prop where
  /-- Weights are non-negative: the paper's (A1). -/
  nonneg : ∀ i, 0 ≤ p i
  /-- Weights sum to one: the paper's (A2). -/
  total : fsum p = 1

/-- The expectation of `f` under the weights `p`. -/
@[expose] def expect {n : Nat} (p f : Fin n → K) : K := fsum (fun i => p i * f i)

/-- The probability vector that puts all weight on `i`. -/
@[expose] def point {n : Nat} (i : Fin n) : Fin n → K := fun j => if j = i then 1 else 0

end Definitions

variable {K : Type u} [Field K]

/-! ## Expectations are linear -/

/-- Expectations are additive in the function. -/
theorem expect_add {n : Nat} (p f g : Fin n → K) :
    expect p (fun i => f i + g i) = expect p f + expect p g := by
  unfold expect
  rw [← fsum_add]; congr 1; funext i; grind

/-- Expectations respect differences. -/
theorem expect_sub {n : Nat} (p f g : Fin n → K) :
    expect p (fun i => f i - g i) = expect p f - expect p g := by
  unfold expect
  rw [← fsum_sub]; congr 1; funext i; grind

/-- Expectations respect negation. -/
theorem expect_neg {n : Nat} (p f : Fin n → K) : expect p (fun i => -f i) = -expect p f := by
  unfold expect
  rw [← fsum_neg]; congr 1; funext i; grind

/-- A factor moves out of an expectation. -/
theorem expect_mul_left {n : Nat} (p : Fin n → K) (c : K) (f : Fin n → K) :
    expect p (fun i => c * f i) = c * expect p f := by
  unfold expect
  rw [← fsum_mul_left]; congr 1; funext i; grind

/-- Expectations are additive in the weights. -/
theorem expect_weight_add {n : Nat} (p q f : Fin n → K) :
    expect (fun i => p i + q i) f = expect p f + expect q f := by
  unfold expect
  rw [← fsum_add]; congr 1; funext i; grind

/-- Expectations are linear in the weights. -/
theorem expect_weight_mul {n : Nat} (c : K) (p f : Fin n → K) :
    expect (fun i => c * p i) f = c * expect p f := by
  unfold expect
  rw [← fsum_mul_left]; congr 1; funext i; grind

/-- Two expectations may be exchanged. -/
theorem expect_swap {m n : Nat} (p : Fin m → K) (q : Fin n → K) (f : Fin m → Fin n → K) :
    expect p (fun i => expect q (f i)) = expect q (fun j => expect p (fun i => f i j)) := by
  unfold expect
  simp only [← fsum_mul_left]
  rw [fsum_swap]; congr 1; funext j; congr 1; funext i; grind

/-- The expectation under a point mass is the value there. -/
theorem expect_point {n : Nat} (i : Fin n) (f : Fin n → K) : expect (point i) f = f i := by
  unfold expect
  rw [fsum_eq_single _ i (fun j hj => by simp [point, hj, Semiring.zero_mul])]
  simp [point, Semiring.one_mul]

/-- The weights of a point mass sum to one. -/
theorem fsum_point {n : Nat} (i : Fin n) : fsum (point i : Fin n → K) = 1 := by
  rw [fsum_eq_single _ i (fun j hj => by simp [point, hj])]; simp [point]

/-- The expectation under a mixture is the expectation of the expectations. -/
theorem expect_mix {m n : Nat} (p : Fin m → K) (q : Fin m → Fin n → K) (f : Fin n → K) :
    expect (fun j => expect p fun i => q i j) f = expect p fun i => expect (q i) f := by
  unfold expect
  simp only [← fsum_mul_left, ← fsum_mul_right]
  rw [fsum_swap]; congr 1; funext i; congr 1; funext j; grind

variable [LE K]

/-- Under a probability vector a constant is its own expectation. -/
theorem expect_const {n : Nat} {p : Fin n → K} (hp : IsProb p) (c : K) :
    expect p (fun _ => c) = c := by
  unfold expect
  rw [fsum_mul_right, hp.total]; grind

variable [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-! ## Expectations are monetary -/

/-- Expectations under non-negative weights are monotone. -/
theorem expect_mono {n : Nat} {p f g : Fin n → K} (hp : ∀ i, 0 ≤ p i) (h : ∀ i, f i ≤ g i) :
    expect p f ≤ expect p g :=
  fsum_mono fun i => mul_le_mul_left (h i) (hp i)

/-- An expectation under non-negative weights of a non-negative function is non-negative. -/
theorem expect_nonneg {n : Nat} {p f : Fin n → K} (hp : ∀ i, 0 ≤ p i) (h : ∀ i, 0 ≤ f i) :
    0 ≤ expect p f :=
  fsum_nonneg fun i => mul_nonneg (hp i) (h i)

/-- An expectation is at most any upper bound. -/
theorem expect_le {n : Nat} {p f : Fin n → K} {c : K} (hp : IsProb p) (h : ∀ i, f i ≤ c) :
    expect p f ≤ c := by
  have := expect_mono hp.nonneg h
  rwa [expect_const hp] at this

/-- An expectation is at least any lower bound. -/
theorem le_expect {n : Nat} {p f : Fin n → K} {c : K} (hp : IsProb p) (h : ∀ i, c ≤ f i) :
    c ≤ expect p f := by
  have := expect_mono hp.nonneg h
  rwa [expect_const hp] at this

/-- **An expectation under a probability vector is monetary.** The paper's (A1) gives monotonicity,
(A2) translation. -/
theorem expect_monetary {n : Nat} {p : Fin n → K} (hp : IsProb p) : Monetary (expect p) where
  mono _ _ h := expect_mono hp.nonneg h
  translate f c := by rw [expect_add, expect_const hp]

/-- A point mass is a probability vector. -/
theorem point_isProb {n : Nat} (i : Fin n) : IsProb (point i : Fin n → K) where
  nonneg j := by unfold point; split <;> grind
  total := fsum_point i

/-- Conversely, weights whose expectation is monetary are a probability vector: the paper's (A1) and
(A2) are necessary as well as sufficient. -/
theorem isProb_of_monetary {n : Nat} {p : Fin n → K} (h : Monetary (expect p)) : IsProb p where
  nonneg i := by
    have h₁ := h.mono (fun _ => 0) (point i) (point_isProb i).nonneg
    have e₁ : expect p (fun _ => 0) = 0 := by
      unfold expect; rw [fsum_mul_right]; grind
    have e₂ : expect p (point i) = p i := by
      unfold expect
      rw [fsum_eq_single _ i (fun j hj => by simp [point, hj, Semiring.mul_zero])]
      simp [point, Semiring.mul_one]
    rwa [e₁, e₂] at h₁
  total := by
    have h₁ := h.translate (fun _ => 0) 1
    have e₁ : expect p (fun _ => 0) = 0 := by
      unfold expect; rw [fsum_mul_right]; grind
    have e₂ : expect p (fun _ => 0 + 1) = fsum p := by
      unfold expect; rw [fsum_mul_right]; grind
    rw [e₁, e₂] at h₁; grind

/-- The mixture of probability vectors is a probability vector. -/
theorem IsProb.mix {m n : Nat} {p : Fin m → K} {q : Fin m → Fin n → K} (hp : IsProb p)
    (hq : ∀ i, IsProb (q i)) : IsProb fun j => expect p fun i => q i j where
  nonneg j := expect_nonneg hp.nonneg fun i => (hq i).nonneg j
  total := by
    unfold expect
    rw [fsum_swap, ← hp.total]
    congr 1; funext i
    rw [fsum_mul_left, (hq i).total]; grind

/-! ## Maximum and minimum are monetary -/

section Decidable

variable [DecidableLE K]

/-- **The maximum over actions is monetary** (Appendix E: "max is monotone", "the argmax is
unchanged"). With `Monetary.within` this is the paper's property (P). -/
theorem fmax_monetary {n : Nat} : Monetary (fmax : (Fin (n + 1) → K) → K) where
  mono f g h := fmax_le fun i => le_trans (h i) (le_fmax g i)
  translate f c := by
    obtain ⟨i, hi⟩ := exists_eq_fmax f
    refine fmax_eq i (by rw [hi]) fun j => ?_
    have := le_fmax f j
    grind

/-- The minimum is monetary. -/
theorem fmin_monetary {n : Nat} : Monetary (fmin : (Fin (n + 1) → K) → K) where
  mono f g h := le_fmin fun i => le_trans (fmin_le f i) (h i)
  translate f c := by
    obtain ⟨i, hi⟩ := exists_eq_fmin f
    refine fmin_eq i (by rw [hi]) fun j => ?_
    have := fmin_le f j
    grind

/-- An expectation is at most the largest value. -/
theorem expect_le_fmax {n : Nat} {p f : Fin (n + 1) → K} (hp : IsProb p) : expect p f ≤ fmax f :=
  expect_le hp (le_fmax f)

/-- An expectation is at least the smallest value. -/
theorem fmin_le_expect {n : Nat} {p f : Fin (n + 1) → K} (hp : IsProb p) : fmin f ≤ expect p f :=
  le_expect hp (fmin_le f)

end Decidable

/-! ## Finite families of monetary functionals -/

section Families

variable {X : Type v} {n : Nat}

/-- A mixture of monetary functionals is monetary. -/
theorem Monetary.mixture {p : Fin n → K} {V : Fin n → (X → K) → K} (hp : IsProb p)
    (hV : ∀ i, Monetary (V i)) : Monetary fun f => expect p fun i => V i f :=
  (expect_monetary hp).comp hV

/-- A convex combination of two monetary functionals is monetary. -/
theorem Monetary.convex {V W : (X → K) → K} (hV : Monetary V) (hW : Monetary W) {t : K}
    (h₀ : 0 ≤ t) (h₁ : t ≤ 1) : Monetary fun f => t * V f + (1 - t) * W f where
  mono f g h := by
    have h₂ := mul_le_mul_left (hV.mono f g h) h₀
    have h₃ := mul_le_mul_left (c := 1 - t) (hW.mono f g h) (by grind)
    grind
  translate f c := by rw [hV.translate, hW.translate]; grind

/-- The pointwise maximum of finitely many monetary functionals is monetary. -/
theorem Monetary.pointwise_max [DecidableLE K] {V : Fin (n + 1) → (X → K) → K}
    (hV : ∀ i, Monetary (V i)) : Monetary fun f => fmax fun i => V i f :=
  fmax_monetary.comp hV

/-- The pointwise minimum of finitely many monetary functionals is monetary: the worst case over a
finite set of models. -/
theorem Monetary.pointwise_min [DecidableLE K] {V : Fin (n + 1) → (X → K) → K}
    (hV : ∀ i, Monetary (V i)) : Monetary fun f => fmin fun i => V i f :=
  fmin_monetary.comp hV

end Families

end RESAC
