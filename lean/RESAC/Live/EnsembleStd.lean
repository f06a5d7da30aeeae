module

public import RESAC.Live.EnsembleGap

public section

/-!
# The standard deviation of an ensemble as a live penalty

Subtracting `λ` times the ensemble's *standard deviation* (a lower confidence bound) from live heads
is another matter than subtracting its variance: the standard deviation is Lipschitz, so there is a
finite threshold. No square root is needed to say so: a standard deviation is any `s ≥ 0` with
`s² = Var`.

## Main definitions
* `IsStd s q`: `s` is the sample standard deviation of the heads `q`.
* `ensembleBackup R γ E V pen`: the REV backup of `n` heads with a live ensemble penalty.

## Main statements (C16)
* `isStd_two`: with two heads the standard deviation is their distance over a square root of two, so
  the penalty is `gapPen (λ/√2)`, with the exact moduli of `RESAC.Live.EnsembleGap`.
* `IsStd.within`: `n` heads: the standard deviation is `L`-Lipschitz if `L²·(n - 1) ≥ n`.
* `std_headTarget_modulus`, `std_ensembleBackup_modulus`: so the modulus is at most `γ·(1 + λL)`, on
  one state and on every MDP.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

attribute [local instance] Semiring.natCast

section Definitions

variable {K : Type u} [Field K] [LE K] {n : Nat} {S : Type v} {A : Type w}

/-- `s` is the sample standard deviation of the heads `q`. -/
structure IsStd (s : K) (q : Fin n → K) : Prop where
  /-- A standard deviation is non-negative. -/
  nonneg : 0 ≤ s
  /-- Its square is the variance. -/
  sq : s ^ 2 = ensembleVar q

/-- The REV backup of every head, with a live penalty computed from all heads at `(s, a)`. -/
@[expose] def ensembleBackup (R : S → A → K) (γ : K) (E : S → A → (S → K) → K)
    (V : S → (A → K) → K) (pen : (Fin n → K) → K) (Q : Fin n → S → A → K) : Fin n → S → A → K :=
  fun i => rev R γ E V (fun s a => pen (fun j => Q j s a)) (Q i)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {n : Nat} {γ lam β L R ε : K}

/-- Numbers whose squares are ordered are ordered, if the larger one is non-negative. -/
theorem within_zero_of_sq_le {d e : K} (he : 0 ≤ e) (h : d ^ 2 ≤ e ^ 2) : Within e d 0 := by
  have key : ∀ x : K, x ^ 2 ≤ e ^ 2 → x ≤ e := by
    intro x hx
    false_or_by_contra
    rename_i hn
    have h₁ := OrderedRing.mul_pos (a := x - e) (b := x + e) (by grind) (by grind)
    grind
  have h₁ := key d h
  have h₂ := key (-d) (by grind)
  unfold Within
  grind

/-! ## Two heads -/

section TwoHeads

variable [DecidableLE K]

/-- With two heads a penalty of `λ` standard deviations is the gap penalty with `β = λ/√2`. C16. -/
theorem isStd_two {s r : K} {q : Fin 2 → K} (hs : IsStd s q) (hr : 0 ≤ r) (hr₂ : r ^ 2 = 2) :
    lam * s = gapPen (lam / r) q := by
  have hv : s ^ 2 = (q 0 - q 1) ^ 2 / 2 := by
    rw [hs.sq]
    have e : ensembleMean q = (q 0 + q 1) / 2 := by
      have e : fsum q = q 0 + (q 1 + 0) := rfl
      unfold ensembleMean; rw [e]; grind
    have e' : fsum (fun i => (q i - (q 0 + q 1) / 2) ^ 2) =
      (q 0 - (q 0 + q 1) / 2) ^ 2 + ((q 1 - (q 0 + q 1) / 2) ^ 2 + 0) := rfl
    unfold ensembleVar
    rw [e, e']
    grind
  have hrs := mul_nonneg hr hs.nonneg
  have hm := mag_nonneg (q 0 - q 1)
  have hm₂ : mag (q 0 - q 1) ^ 2 = (q 0 - q 1) ^ 2 := by unfold mag; split <;> grind
  have e : (r * s) ^ 2 = mag (q 0 - q 1) ^ 2 := by grind
  have h₁ := within_zero_of_sq_le hrs (by rw [e]; exact le_refl _ : mag (q 0 - q 1) ^ 2 ≤ _)
  have h₂ := within_zero_of_sq_le hm (by rw [e]; exact le_refl _ : (r * s) ^ 2 ≤ _)
  have e : mag (q 0 - q 1) = r * s := by unfold Within at h₁ h₂; grind
  have hne : r ≠ 0 := by grind
  unfold gapPen
  rw [e]
  clear h₁ h₂ hm₂ hv
  grind

end TwoHeads

/-! ## Any number of heads -/

/-- Cauchy–Schwarz without roots: vectors of squared lengths `N·a²` and `N·b²`. -/
theorem fsum_mul_le {x y : Fin n → K} {N a b : K} (ha : 0 ≤ a) (hb : 0 ≤ b)
    (hx : fsum (fun i => x i ^ 2) = N * a ^ 2) (hy : fsum (fun i => y i ^ 2) = N * b ^ 2) :
    fsum (fun i => x i * y i) ≤ N * (a * b) := by
  have zero : ∀ z w : Fin n → K, fsum (fun i => z i ^ 2) = 0 → fsum (fun i => z i * w i) = 0 := by
    intro z w hz
    have e : (fun i => z i * w i) = fun _ => 0 := by
      funext i
      have h := eq_zero_of_fsum_eq_zero (fun i => by
        have := mul_self_nonneg (z i); grind) hz i
      have : z i = 0 := by clear hx hy hz; grind
      rw [this]; grind
    rw [e, fsum_zero]
  by_cases ha₀ : a = 0
  · rw [zero x y (by rw [hx, ha₀]; grind), ha₀]; grind
  by_cases hb₀ : b = 0
  · have e : (fun i => x i * y i) = fun i => y i * x i := by funext i; grind
    rw [e, zero y x (by rw [hy, hb₀]; grind), hb₀]; grind
  have h := fsum_nonneg (f := fun i => (b * x i - a * y i) ^ 2) (fun i => by
    have := mul_self_nonneg (b * x i - a * y i); grind)
  have e : (fun i => (b * x i - a * y i) ^ 2) = fun i =>
      (b ^ 2 * x i ^ 2 + a ^ 2 * y i ^ 2) - 2 * a * b * (x i * y i) := by funext i; grind
  rw [e, fsum_sub, fsum_add, fsum_mul_left, fsum_mul_left, fsum_mul_left, hx, hy] at h
  have hab : 0 < a * b := OrderedRing.mul_pos (by grind) (by grind)
  generalize fsum (fun i => x i * y i) = p at *
  false_or_by_contra
  rename_i hn
  have := OrderedRing.mul_pos hab (by grind : 0 < p - N * (a * b))
  clear hx hy e zero
  grind

/-- **The standard deviation of an ensemble is `L`-Lipschitz** if `L ≥ 0` and `L²·(n - 1) ≥ n`, that
is for every `L ≥ √(n/(n - 1))`. C16. -/
theorem IsStd.within (hn : 2 ≤ n) {s s' : K} {q q' : Fin n → K} (hs : IsStd s q) (hs' : IsStd s' q')
    (hL : 0 ≤ L) (hL₂ : (n : K) ≤ L ^ 2 * ((n : K) - 1)) (h : ∀ i, Within ε (q i) (q' i)) :
    Within (L * ε) s s' := by
  have hN := natCast_sub_one_pos (K := K) hn
  have hε : 0 ≤ ε := (h ⟨0, by omega⟩).nonneg
  have len : ∀ {t : K} {p : Fin n → K}, IsStd t p →
      fsum (fun i => (p i - ensembleMean p) ^ 2) = ((n : K) - 1) * t ^ 2 := by
    intro t p ht
    rw [ht.sq]
    unfold ensembleVar
    generalize (n : K) - 1 = N at *
    generalize fsum (fun i => (p i - ensembleMean p) ^ 2) = z
    clear hL₂
    grind
  have hx := len hs
  have hy := len hs'
  have cs := fsum_mul_le hs.nonneg hs'.nonneg hx hy
  -- the centred difference is at most the difference, which is at most `ε` at every head
  have hd := fsum_sq_sub_mean_le (by omega) (fun i => q i - q' i) 0
  have hd' := fsum_mono (f := fun i => (q i - q' i - 0) ^ 2) (g := fun _ : Fin n => ε ^ 2)
    (fun i => by have := (h i).sq_le; clear hx hy cs hd len; grind)
  rw [fsum_const] at hd'
  have hm : ensembleMean (fun i => q i - q' i) = ensembleMean q - ensembleMean q' := by
    unfold ensembleMean; rw [fsum_sub]; clear hx hy cs hd hd' len; grind
  have e : (fun i => (q i - q' i - ensembleMean (fun i => q i - q' i)) ^ 2) = fun i =>
      ((q i - ensembleMean q) ^ 2 + (q' i - ensembleMean q') ^ 2)
        - 2 * ((q i - ensembleMean q) * (q' i - ensembleMean q')) := by
    funext i; rw [hm]; clear hx hy cs hd hd' len; grind
  rw [e, fsum_sub, fsum_add, fsum_mul_left, hx, hy] at hd
  generalize fsum (fun i => (q i - ensembleMean q) * (q' i - ensembleMean q')) = p at *
  have hc := mul_le_mul_right hL₂ (mul_self_nonneg ε)
  generalize (n : K) = c at *
  have h₁ : (c - 1) * (s - s') ^ 2 ≤ (c - 1) * (L * ε) ^ 2 := by
    generalize fsum (fun i => (q i - q' i - 0) ^ 2) = z at *
    clear hx hy hm e len hL₂
    grind
  have h₂ : (s - s') ^ 2 ≤ (L * ε) ^ 2 := by
    false_or_by_contra
    rename_i hlt
    have := OrderedRing.mul_pos hN (by grind : 0 < (s - s') ^ 2 - (L * ε) ^ 2)
    clear hx hy hm e len hL₂ hc hd hd'
    grind
  have h₃ := within_zero_of_sq_le (mul_nonneg hL hε) h₂
  unfold Within at *
  generalize L * ε = r at *
  clear hx hy hm e len hL₂ hc hd hd' h₁ h₂ cs
  grind

/-- `n` live heads with a penalty of `λ` standard deviations, per-head target: the modulus is at
most `γ·(1 + λL)`. Section 4.4 and Appendix E, (S3); C16. -/
theorem std_headTarget_modulus (hγ : 0 ≤ γ) (hlam : 0 ≤ lam) (hn : 2 ≤ n) (hL : 0 ≤ L)
    (hL₂ : (n : K) ≤ L ^ 2 * ((n : K) - 1)) {std : (Fin n → K) → K} (hstd : ∀ q, IsStd (std q) q) :
    Modulus (headTarget R γ (fun q => lam * std q)) (γ * (1 + lam * L)) := fun ε q q' h i => by
  have hp := ((hstd q).within hn (hstd q') hL hL₂ h).mul_left hlam
  have h' := within_backup (R := R) hγ (h i) hp
  have e : γ * (1 + lam * L) * ε = γ * (ε + lam * (L * ε)) := by clear hL₂; grind
  rw [e]
  exact h'

/-- The same on every MDP: the backup of `n` live heads, each with its own value and the common
penalty of `λ` standard deviations, has modulus at most `γ·(1 + λL)`, so it contracts if
`λL < 1/γ - 1`. C16. -/
theorem std_ensembleBackup_modulus {S : Type v} {A : Type w} {R : S → A → K}
    {E : S → A → (S → K) → K} {V : S → (A → K) → K} (hγ : 0 ≤ γ) (hE : ∀ s a, Monetary (E s a))
    (hV : ∀ s, Monetary (V s)) (hlam : 0 ≤ lam) (hn : 2 ≤ n) (hL : 0 ≤ L)
    (hL₂ : (n : K) ≤ L ^ 2 * ((n : K) - 1)) {std : (Fin n → K) → K} (hstd : ∀ q, IsStd (std q) q) :
    Modulus (ensembleBackup (n := n) R γ E V (fun q => lam * std q)) (γ * (1 + lam * L)) :=
  fun ε Q Q' h i s a => by
    have hv := (hE s a).within (fun s' => (hV s').within (fun a' => h i s' a'))
    have hp := ((hstd _).within hn (hstd _) hL hL₂ (fun j => h j s a)).mul_left hlam
    have h' := within_backup (R := R s a) hγ hv hp
    have e : γ * (1 + lam * L) * ε = γ * (ε + lam * (L * ε)) := by clear hL₂; grind
    rw [e]
    exact h'

end RESAC
