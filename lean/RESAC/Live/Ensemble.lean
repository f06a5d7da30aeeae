module

public import RESAC.Live.Penalty
public import RESAC.Foundations.Sum

public section

/-!
# Ensembles: their variance, and the variance as a live penalty

The epistemic penalty is the sample variance of an ensemble of `n` heads (the paper's
Eq. (gamma_epi), with `1/(n - 1)`). Two questions are settled here: how small it is when the heads
agree, and what it does to the backup if it is computed from the heads that are being updated.

## Main definitions
* `ensembleMean q`, `ensembleVar q`: sample mean and sample variance of the heads `q`.
* `headTarget R γ pen q`, `meanTarget R γ pen q`: the backups of one state and one action with a
  live ensemble penalty, per head and for the mean of the heads.
* `kappa lam w`: the aleatoric penalty, `λ` times the l1 norm of the weights.

## Main statements
* `fsum_sq_sub_mean`: the mean is the point of least squares.
* `ensembleVar_le`, `ensembleVar_split`: heads within `ε` of a common value have variance at most
  `n·ε²/(n - 1)`, attained by every even number of heads (C21).
* `kappa_pos_iff`: `κ > 0` depends on `λ` and the weights, not on the environment (C21).
* `variance_target_unbounded`, `variance_not_modulus`: with live heads the variance penalty has no
  modulus at all, for every `λ > 0` (C15).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

attribute [local instance] Semiring.natCast

section Definitions

variable {K : Type u} [Field K] {n : Nat}

/-- The mean of the heads. -/
@[expose] def ensembleMean (q : Fin n → K) : K := fsum q / (n : K)

/-- The sample variance of the heads, the paper's `Γ_epi` (Eq. (gamma_epi)). -/
@[expose] def ensembleVar (q : Fin n → K) : K :=
  fsum (fun i => (q i - ensembleMean q) ^ 2) / ((n : K) - 1)

/-- One state, one action: each head's target under a penalty computed from all live heads. -/
@[expose] def headTarget (R γ : K) (pen : (Fin n → K) → K) (q : Fin n → K) : Fin n → K :=
  fun i => R + γ * (q i - pen q)

/-- One state, one action: the target of the mean head under a live ensemble penalty. -/
@[expose] def meanTarget (R γ : K) (pen : (Fin n → K) → K) (q : Fin n → K) : K :=
  R + γ * (ensembleMean q - pen q)

/-- The aleatoric penalty: `λ_ale` times the l1 norm of the critic's weights. -/
@[expose] def kappa [LE K] [DecidableLE K] (lam : K) (w : Fin n → K) : K :=
  lam * fsum (fun i => mag (w i))

end Definitions

variable {K : Type u} [Field K] {n : Nat}

/-! ## Sums of squares -/

/-- The sum of squared distances from a point, expanded. -/
theorem fsum_sq_sub : ∀ {n : Nat} (q : Fin n → K) (v : K),
    fsum (fun i => (q i - v) ^ 2) = fsum (fun i => q i ^ 2) - 2 * v * fsum q + (n : K) * v ^ 2
  | 0, _, _ => by simp only [fsum]; grind
  | n + 1, q, v => by
    have ih := fsum_sq_sub (fun i : Fin n => q i.succ) v
    simp only [fsum]
    rw [ih]
    grind

variable [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- Natural numbers are non-negative in `K`. -/
theorem natCast_nonneg (n : Nat) : (0 : K) ≤ (n : K) := by
  have h := fsum_nonneg (f := fun _ : Fin n => (1 : K)) (fun _ => by grind)
  rw [fsum_const] at h
  grind

/-- With at least two heads, `n - 1` is positive. -/
theorem natCast_sub_one_pos (hn : 2 ≤ n) : (0 : K) < (n : K) - 1 := by
  obtain ⟨m, rfl⟩ : ∃ m, n = m + 2 := ⟨n - 2, by omega⟩
  have := natCast_nonneg (K := K) m
  grind

/-- The mean is the point of least squares: any other point `v` costs `n·(mean - v)²` more. -/
theorem fsum_sq_sub_mean (hn : 0 < n) (q : Fin n → K) (v : K) :
    fsum (fun i => (q i - v) ^ 2) =
      fsum (fun i => (q i - ensembleMean q) ^ 2) + (n : K) * (ensembleMean q - v) ^ 2 := by
  obtain ⟨m, rfl⟩ : ∃ m, n = m + 1 := ⟨n - 1, by omega⟩
  have hc : ((m + 1 : Nat) : K) ≠ 0 := by
    have := natCast_nonneg (K := K) m
    grind
  have e : fsum q = ((m + 1 : Nat) : K) * ensembleMean q := by unfold ensembleMean; grind
  rw [fsum_sq_sub q v, fsum_sq_sub q (ensembleMean q), e]
  generalize ((m + 1 : Nat) : K) = c
  grind

/-- Squared deviations from the mean sum to at most those from any other point. -/
theorem fsum_sq_sub_mean_le (hn : 0 < n) (q : Fin n → K) (v : K) :
    fsum (fun i => (q i - ensembleMean q) ^ 2) ≤ fsum (fun i => (q i - v) ^ 2) := by
  have h := mul_nonneg (natCast_nonneg (K := K) n) (mul_self_nonneg (ensembleMean q - v))
  rw [fsum_sq_sub_mean hn q v]
  grind

/-- Two numbers within `ε` of each other have a squared distance of at most `ε²`. -/
theorem Within.sq_le {ε a b : K} (h : Within ε a b) : (a - b) ^ 2 ≤ ε ^ 2 := by
  unfold Within at h
  have := mul_nonneg (a := ε - (a - b)) (b := ε + (a - b)) (by grind) (by grind)
  grind

/-! ## The variance of heads that agree -/

/-- Heads within `ε` of one value have variance at most `n·ε²/(n - 1)`. So the epistemic penalty
vanishes as the heads converge to one function. Appendix F, Proposition (Epistemic penalty vanishes
in the infinite-data limit), Part 1; C21. -/
theorem ensembleVar_le (hn : 2 ≤ n) {q : Fin n → K} {v ε : K} (h : ∀ i, Within ε (q i) v) :
    ensembleVar q ≤ (n : K) * ε ^ 2 / ((n : K) - 1) := by
  have hpos := natCast_sub_one_pos (K := K) hn
  have h₁ := fsum_sq_sub_mean_le (by omega) q v
  have h₂ := fsum_mono (fun i => (h i).sq_le)
  rw [fsum_const] at h₂
  unfold ensembleVar
  rw [div_le_iff hpos]
  generalize (n : K) = c at *
  have hne : c - 1 ≠ 0 := by grind
  have e : c * ε ^ 2 / (c - 1) * (c - 1) = c * ε ^ 2 := by grind
  rw [e]
  exact le_trans h₁ h₂

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- A sum over `2k` heads that alternate between two values. -/
theorem fsum_alternate (a b : K) : ∀ k : Nat,
    fsum (fun i : Fin (2 * k) => if i.val % 2 = 0 then a else b) = (k : K) * (a + b)
  | 0 => by simp only [fsum]; grind
  | k + 1 => by
    have ih := fsum_alternate a b k
    have e : fsum (fun i : Fin (2 * (k + 1)) => if i.val % 2 = 0 then a else b) =
        a + (b + fsum (fun i : Fin (2 * k) => if (i.val + 1 + 1) % 2 = 0 then a else b)) := rfl
    have e' : (fun i : Fin (2 * k) => if (i.val + 1 + 1) % 2 = 0 then a else b) =
        fun i => if i.val % 2 = 0 then a else b := by
      funext i
      have : (i.val + 1 + 1) % 2 = i.val % 2 := by omega
      rw [this]
    rw [e, e', ih]
    grind

/-- Half of the heads at `v + ε` and half at `v - ε` attain the bound of `ensembleVar_le`: it is
sharp for every even number of heads. C21. -/
theorem ensembleVar_split {k : Nat} (hk : 1 ≤ k) (v ε : K) :
    ensembleVar (fun i : Fin (2 * k) => if i.val % 2 = 0 then v + ε else v - ε) =
      ((2 * k : Nat) : K) * ε ^ 2 / (((2 * k : Nat) : K) - 1) := by
  have hc : ((2 * k : Nat) : K) = 2 * (k : K) := by grind
  have hpos : (0 : K) < (k : K) := by
    obtain ⟨m, rfl⟩ : ∃ m, k = m + 1 := ⟨k - 1, by omega⟩
    have := natCast_nonneg (K := K) m
    grind
  have hm : ensembleMean (fun i : Fin (2 * k) => if i.val % 2 = 0 then v + ε else v - ε) = v := by
    unfold ensembleMean
    rw [fsum_alternate, hc]
    generalize (k : K) = c at *
    grind
  unfold ensembleVar
  rw [hm]
  have e : (fun i : Fin (2 * k) => ((if i.val % 2 = 0 then v + ε else v - ε) - v) ^ 2) =
      fun i => if i.val % 2 = 0 then ε ^ 2 else ε ^ 2 := by
    funext i; split <;> grind
  rw [e, fsum_alternate, hc]
  generalize (k : K) = c at *
  grind

/-- `κ` is positive iff `λ_ale` is and some weight is not zero. The noise of the environment plays
no part: with zero weights `κ = 0`, however stochastic the environment is. Appendix F, Proposition
(Epistemic penalty vanishes in the infinite-data limit), Part 2; C21. -/
theorem kappa_pos_iff [DecidableLE K] {lam : K} (hlam : 0 ≤ lam) (w : Fin n → K) :
    0 < kappa lam w ↔ 0 < lam ∧ ∃ i, w i ≠ 0 := by
  unfold kappa
  have hs := fsum_nonneg (f := fun i => mag (w i)) (fun i => mag_nonneg (w i))
  constructor
  · intro h
    refine ⟨by false_or_by_contra; have : lam = 0 := by grind
               rw [this] at h; grind, ?_⟩
    false_or_by_contra
    rename_i hw
    have e : (fun i => mag (w i)) = fun _ => 0 := by
      funext i
      rw [mag_eq_zero_iff]
      false_or_by_contra
      rename_i hi
      exact hw ⟨i, hi⟩
    rw [e, fsum_zero] at h
    grind
  · rintro ⟨h, i, hi⟩
    have h₁ := le_fsum (f := fun i => mag (w i)) (fun i => mag_nonneg (w i)) i
    have h₂ := mag_nonneg (w i)
    have h₃ := mag_eq_zero_iff (a := w i)
    exact OrderedRing.mul_pos h (by grind)

/-! ## The variance as a live penalty -/

/-- Two opposite heads, the others at zero. -/
@[expose] def oppositeHeads {K : Type u} [Field K] {n : Nat} (t : K) : Fin n → K :=
  fun i => if i.val = 0 then t else if i.val = 1 then -t else 0

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- The variance of two opposite heads among `n ≥ 2` is `2t²/(n - 1)`. -/
theorem ensembleVar_opposite (hn : 2 ≤ n) (t : K) :
    ensembleMean (oppositeHeads t : Fin n → K) = 0 ∧
      ensembleVar (oppositeHeads t : Fin n → K) = 2 * t ^ 2 / ((n : K) - 1) := by
  obtain ⟨m, rfl⟩ : ∃ m, n = m + 2 := ⟨n - 2, by omega⟩
  have hm : ensembleMean (oppositeHeads t : Fin (m + 2) → K) = 0 := by
    have e : fsum (oppositeHeads t : Fin (m + 2) → K) = t + (-t + fsum (fun _ : Fin m => 0)) := rfl
    unfold ensembleMean
    rw [e, fsum_zero]
    grind
  refine ⟨hm, ?_⟩
  unfold ensembleVar
  rw [hm]
  have e : fsum (fun i => ((oppositeHeads t : Fin (m + 2) → K) i - 0) ^ 2) =
      (t - 0) ^ 2 + ((-t - 0) ^ 2 + fsum (fun _ : Fin m => ((0 : K) - 0) ^ 2)) := rfl
  have e' : (fun _ : Fin m => ((0 : K) - 0) ^ 2) = fun _ => 0 := by funext i; grind
  rw [e, e', fsum_zero]
  grind

/-- **The variance penalty with live heads.** For every `γ, λ > 0`, every number `n ≥ 2` of heads
and every `c` there are two ensembles at distance one whose targets are more than `c` apart: at
every head, and for the mean. Section 4.4 and Appendix E, (S3); C15. -/
theorem variance_target_unbounded {γ lam : K} (hγ : 0 < γ) (hlam : 0 < lam) (hn : 2 ≤ n)
    (R c : K) : ∃ q q' : Fin n → K, near (1 : K) q q' ∧
      (∀ i, ¬ Within c (headTarget R γ (fun q => lam * ensembleVar q) q i)
        (headTarget R γ (fun q => lam * ensembleVar q) q' i)) ∧
      ¬ Within c (meanTarget R γ (fun q => lam * ensembleVar q) q)
        (meanTarget R γ (fun q => lam * ensembleVar q) q') := by
  have hpos := natCast_sub_one_pos (K := K) hn
  let t : K := ((c / γ + 2) / lam * ((n : K) - 1) - 2) / 4
  have h₀ := ensembleVar_opposite hn t
  have h₁ := ensembleVar_opposite hn (t + 1)
  have hgap : lam * ensembleVar (oppositeHeads (t + 1) : Fin n → K)
      - lam * ensembleVar (oppositeHeads t : Fin n → K) = c / γ + 2 := by
    rw [h₀.2, h₁.2]
    have ht : t = ((c / γ + 2) / lam * ((n : K) - 1) - 2) / 4 := rfl
    generalize c / γ = c' at *
    generalize (n : K) - 1 = N at *
    have e : 2 * (t + 1) ^ 2 / N - 2 * t ^ 2 / N = (4 * t + 2) / N := by grind
    have e' : 4 * t + 2 = (c' + 2) / lam * N := by grind
    have e'' : (4 * t + 2) / N = (c' + 2) / lam := by rw [e']; clear e e' ht; grind
    have hne : lam ≠ 0 := by grind
    have e₃ : lam * ((c' + 2) / lam) = c' + 2 := by clear e e' ht e''; grind
    rw [← e₃, ← e'', ← e]
    clear e e' ht e'' e₃
    grind
  have far : ∀ x y : K, -1 ≤ x - y →
      ¬ Within c (R + γ * (x - lam * ensembleVar (oppositeHeads t : Fin n → K)))
        (R + γ * (y - lam * ensembleVar (oppositeHeads (t + 1) : Fin n → K))) := by
    intro x y hxy hw
    have h₂ := mul_le_mul_left (c := γ) (a := c / γ + 1) (b := x - y + (c / γ + 2)) (by grind)
      (by grind)
    have e : γ * (c / γ + 1) = c + γ := by clear hgap h₀ h₁ hw h₂; grind
    rw [e, ← hgap] at h₂
    have h₃ := hw.1
    clear hgap h₀ h₁ hw e
    grind
  refine ⟨oppositeHeads t, oppositeHeads (t + 1), fun i => ?_, fun i => ?_, ?_⟩
  · rw [near_iff]; unfold Within oppositeHeads; grind
  · refine far _ _ ?_
    unfold oppositeHeads
    clear far hgap h₀ h₁
    grind
  · have h := far 0 0 (by grind)
    unfold meanTarget
    rwa [h₀.1, h₁.1]

/-- So no number at all is a modulus of the backup with a live variance penalty: unlike the norm and
the standard deviation it has no safe range of `λ`. C15. -/
theorem variance_not_modulus {γ lam : K} (hγ : 0 < γ) (hlam : 0 < lam) (hn : 2 ≤ n) (R c : K) :
    ¬ Modulus (headTarget (n := n) R γ (fun q => lam * ensembleVar q)) c ∧
      ¬ Modulus (meanTarget (n := n) R γ (fun q => lam * ensembleVar q)) c := by
  obtain ⟨q, q', h, h₁, h₂⟩ := variance_target_unbounded hγ hlam hn R c
  refine ⟨fun hm => h₁ ⟨0, by omega⟩ ?_, fun hm => h₂ ?_⟩
  · have := hm 1 q q' h ⟨0, by omega⟩
    rwa [Semiring.mul_one] at this
  · have := hm 1 q q' h
    rwa [Semiring.mul_one] at this

end RESAC
