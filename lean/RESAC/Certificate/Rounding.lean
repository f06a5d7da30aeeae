module

public import RESAC.Foundations.Squares
public import RESAC.Live.Ensemble

public section

/-!
# Rounding: what float64 does to a backup

The model: a computed product `y` of `p` and `v` obeys `|y - p·v| ≤ u·|p·v| + η` (`η` for underflow),
a computed sum `y` of `a` and `b` obeys `|y - (a + b)| ≤ u·|a + b|`. IEEE 754 meets it with
`u = 2⁻⁵³` and `η = 2⁻¹⁰⁷⁵`, sums without `η` since a subnormal sum is exact.

## Main definitions
* `Sums u η n x a y`: `y` was computed, in some order, as a sum of `n` products; `x` is the exact sum
  and `a` that of the absolute values.

## Main statements (C48)
* `Sums.error`: `|y - x| ≤ ((1 + u)ⁿ - 1)·a + n·η·(1 + u)ⁿ`, whatever the order.
* `pow_le_of_small`: `(1 + u)ᴺ - 1 ≤ 1.0102·N·u` while `N·u ≤ 1/100`.
* `backup_error`: the compiled backup `q = fl(r + fl(γ·Σ p·v))` against the exact backup with the row
  divided by its sum, which misses one by at most `ρ`.
* `backup_formula`: that error is at most `1.015·(γM((n + 1)u + ρ) + u|q|)`, the error of `r` and the
  underflow; `formula_covers`: and what `Rounding.backup` computes with its factor `1.02` is no less.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

attribute [local instance] Semiring.natCast

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {u η : K}

/-- `y` was computed as a sum of `n` products, in some order; `x` is its exact value and `a` the sum
of the products' absolute values. -/
inductive Sums (u η : K) : Nat → K → K → K → Prop
  /-- A single rounded product. -/
  | product (p v y : K) (h : Within (u * mag (p * v) + η) y (p * v)) :
      Sums u η 1 (p * v) (mag (p * v)) y
  /-- A rounded sum of two computed sums. -/
  | sum {n₁ n₂ : Nat} {x₁ x₂ a₁ a₂ y₁ y₂ y : K} (h₁ : Sums u η n₁ x₁ a₁ y₁)
      (h₂ : Sums u η n₂ x₂ a₂ y₂) (h : Within (u * mag (y₁ + y₂)) y (y₁ + y₂)) :
      Sums u η (n₁ + n₂) (x₁ + x₂) (a₁ + a₂) y

omit [DecidableLE K] in
/-- Powers of a factor of at least one grow. -/
theorem pow_le_pow_of_one_le {c : K} (hc : 1 ≤ c) {k n : Nat} (h : k ≤ n) : c ^ k ≤ c ^ n := by
  obtain ⟨d, rfl⟩ := Nat.exists_eq_add_of_le h
  clear h
  induction d with
  | zero => exact le_refl _
  | succ d ih =>
    have h₁ := pow_nonneg (a := c) (by have := OrderedRing.zero_lt_one (R := K); grind) (k + d)
    have h₂ := mul_le_mul_left hc h₁
    rw [← Nat.add_assoc, Semiring.pow_succ]
    grind

/-- What is known of a computed sum. -/
theorem Sums.invariant (hu : 0 ≤ u) (hη : 0 ≤ η) {n : Nat} {x a y : K} (h : Sums u η n x a y) :
    1 ≤ n ∧ mag x ≤ a ∧
      mag (y - x) ≤ ((1 + u) ^ n - 1) * a + (n : K) * (η * (1 + u) ^ n) := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  induction h with
  | product p v y h =>
    refine ⟨Nat.le_refl _, le_refl _, ?_⟩
    have h₁ := within_iff_mag.1 h
    have e : (1 + u) ^ 1 = 1 + u := by rw [Semiring.pow_succ, Semiring.pow_zero]; grind
    have e₁ : ((1 : Nat) : K) = 1 := Semiring.natCast_one
    have h₂ := mul_nonneg hη hu
    rw [e, e₁]
    generalize mag (p * v) = z at *
    clear e
    grind
  | @sum n₁ n₂ x₁ x₂ a₁ a₂ y₁ y₂ y _ _ h ih₁ ih₂ =>
    obtain ⟨hn₁, hx₁, he₁⟩ := ih₁
    obtain ⟨hn₂, hx₂, he₂⟩ := ih₂
    refine ⟨by omega, ?_, ?_⟩
    · have := mag_add_le x₁ x₂
      grind
    · have hc : (1 : K) ≤ 1 + u := by grind
      -- both exponents are below `n₁ + n₂`, with one factor to spare for this sum
      obtain ⟨d, hd⟩ : ∃ d, n₁ + n₂ = d + 1 := ⟨n₁ + n₂ - 1, by omega⟩
      have g₁ := pow_le_pow_of_one_le hc (show n₁ ≤ d by omega)
      have g₂ := pow_le_pow_of_one_le hc (show n₂ ≤ d by omega)
      have g₀ := pow_le_pow_of_one_le hc (Nat.zero_le d)
      rw [Semiring.pow_zero] at g₀
      have ha₁ := le_trans (mag_nonneg x₁) hx₁
      have ha₂ := le_trans (mag_nonneg x₂) hx₂
      have k₁ := natCast_nonneg (K := K) n₁
      have k₂ := natCast_nonneg (K := K) n₂
      have f₁ := mul_le_mul_right g₁ ha₁
      have f₂ := mul_le_mul_right g₂ ha₂
      have f₃ := mul_le_mul_left (mul_le_mul_left g₁ hη) k₁
      have f₄ := mul_le_mul_left (mul_le_mul_left g₂ hη) k₂
      have t₁ := mag_add_le (y₁ - x₁) (y₂ - x₂)
      have t₂ := mag_add_le (y - (y₁ + y₂)) (y₁ - x₁ + (y₂ - x₂))
      have t₃ := mag_add_le (y₁ - x₁ + (y₂ - x₂)) (x₁ + x₂)
      have t₄ := mag_add_le x₁ x₂
      have h₁ := within_iff_mag.1 h
      have ee₁ : y - (y₁ + y₂) + (y₁ - x₁ + (y₂ - x₂)) = y - (x₁ + x₂) := by grind
      have ee₂ : y₁ - x₁ + (y₂ - x₂) + (x₁ + x₂) = y₁ + y₂ := by grind
      rw [ee₁] at t₂
      rw [ee₂] at t₃
      have ec : ((n₁ + n₂ : Nat) : K) = (n₁ : K) + (n₂ : K) := Semiring.natCast_add _ _
      rw [ec, hd, Semiring.pow_succ]
      clear ee₁ ee₂ ec hd
      generalize (1 + u) ^ n₁ = p₁ at *
      generalize (1 + u) ^ n₂ = p₂ at *
      generalize (1 + u) ^ d = G at *
      generalize (n₁ : K) = N₁ at *
      generalize (n₂ : K) = N₂ at *
      generalize mag (y - (x₁ + x₂)) = z at *
      generalize mag (y₁ - x₁ + (y₂ - x₂)) = z₁ at *
      generalize mag (y₁ - x₁) = z₂ at *
      generalize mag (y₂ - x₂) = z₃ at *
      generalize mag (y - (y₁ + y₂)) = z₄ at *
      generalize mag (y₁ + y₂) = z₅ at *
      generalize mag (x₁ + x₂) = z₆ at *
      have b : z₁ ≤ (G - 1) * (a₁ + a₂) + (N₁ + N₂) * (η * G) := by grind
      have b₅ : z₅ ≤ (G - 1) * (a₁ + a₂) + (N₁ + N₂) * (η * G) + (a₁ + a₂) := by grind
      have b₆ := mul_le_mul_left b₅ hu
      clear f₁ f₂ f₃ f₄ g₁ g₂ he₁ he₂ t₁ t₃ b₅ h
      grind

/-- **A computed sum of `n` products, in any order**, errs by at most
`((1 + u)ⁿ - 1)·Σ|pᵢvᵢ| + n·η·(1 + u)ⁿ`. C48. -/
theorem Sums.error (hu : 0 ≤ u) (hη : 0 ≤ η) {n : Nat} {x a y : K} (h : Sums u η n x a y) :
    mag (y - x) ≤ ((1 + u) ^ n - 1) * a + (n : K) * (η * (1 + u) ^ n) :=
  (h.invariant hu hη).2.2

omit [DecidableLE K] in
/-- `(1 + u)ᴺ·(1 - N·u) ≤ 1`. -/
theorem pow_mul_le_one (hu : 0 ≤ u) : ∀ N : Nat, (1 + u) ^ N * (1 - (N : K) * u) ≤ 1
  | 0 => by
    rw [Semiring.pow_zero, show ((0 : Nat) : K) = 0 from Semiring.natCast_zero]
    grind
  | N + 1 => by
    have ih := pow_mul_le_one hu N
    have h01 := OrderedRing.zero_lt_one (R := K)
    have h₁ := pow_nonneg (a := 1 + u) (by grind) N
    have h₂ := mul_nonneg h₁ (mul_nonneg (natCast_nonneg (K := K) (N + 1)) (mul_nonneg hu hu))
    rw [Semiring.pow_succ]
    rw [Semiring.natCast_succ] at *
    generalize (1 + u) ^ N = p at *
    generalize (N : K) = k at *
    grind

/-- **While `N·u ≤ 1/100`**, `(1 + u)ᴺ - 1` is at most `1.0102·N·u`. C48. -/
theorem pow_le_of_small (hu : 0 ≤ u) {N : Nat} (h : (N : K) * u ≤ 1 / 100) :
    (1 + u) ^ N - 1 ≤ 10102 / 10000 * ((N : K) * u) := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have h₁ := pow_mul_le_one hu N
  have h₀ := mul_nonneg (natCast_nonneg (K := K) N) hu
  have h₂ := pow_nonneg (a := 1 + u) (by grind) N
  generalize (1 + u) ^ N = p at *
  generalize (N : K) * u = x at *
  -- `p ≤ 1/(1 - x)` and `1 ≤ (1 + 1.0102·x)(1 - x)` for `x ≤ 1/100`
  false_or_by_contra
  rename_i hn
  have h₃ := OrderedRing.mul_lt_mul_of_pos_right (show 1 + 10102 / 10000 * x < p by grind)
    (show 0 < 1 - x by grind)
  have h₄ := mul_nonneg h₀ (show 0 ≤ 1 / 100 - x by grind)
  grind

/-- **The compiled backup.** `q = fl(r + fl(γ·s))`, `s` a computed sum of `n` products `pᵢ·vᵢ` with
exact value `x` and absolute values summing to `a ≤ (1 + ρ)·M`; `w` is the row's sum, `|w - 1| ≤ ρ`,
so that `x/w` is the expectation, of size at most `M`. Against the exact backup `b = r₀ + γ·x/w`,
with `|r - r₀| ≤ c`. C48. -/
theorem backup_error (hu : 0 ≤ u) (hη : 0 ≤ η) {n : Nat} {γ x a s t r r₀ q e w ρ M c : K}
    (hγ : 0 ≤ γ) (hs : Sums u η n x a s) (ha : a ≤ (1 + ρ) * M) (hw : mag (w - 1) ≤ ρ)
    (he : x = w * e) (hM : mag e ≤ M) (ht : mag (t - γ * s) ≤ u * (γ * mag s) + η)
    (hq : mag (q - (r + t)) ≤ u * mag q) (hr : mag (r - r₀) ≤ c) :
    mag (q - (r₀ + γ * e)) ≤ u * mag q + c + η + γ *
      ((((1 + u) ^ (n + 1) - 1) * (1 + ρ) + ρ) * M + (n : K) * (η * (1 + u) ^ (n + 1))) := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  obtain ⟨-, hxa, hes⟩ := hs.invariant hu hη
  have hp := pow_le_pow_of_one_le (show (1 : K) ≤ 1 + u by grind) (Nat.zero_le n)
  rw [Semiring.pow_zero] at hp
  -- the sum, of exact value x
  have h₁ := mul_le_mul_left ha (show 0 ≤ (1 + u) ^ n - 1 by grind)
  have t₁ := mag_add_le (s - x) x
  rw [show s - x + x = s by grind] at t₁
  -- the row's sum
  have h₂ : mag (x - e) ≤ ρ * M := by
    have e₁ : x - e = (w - 1) * e := by rw [he]; grind
    rw [e₁, mag_mul]
    exact le_trans (mul_le_mul_right hw (mag_nonneg e))
      (mul_le_mul_left hM (le_trans (mag_nonneg _) hw))
  -- put together
  have t₂ := mag_add_le (q - (r + t)) (r - r₀ + (t - γ * s + γ * (s - x + (x - e))))
  have t₃ := mag_add_le (r - r₀) (t - γ * s + γ * (s - x + (x - e)))
  have t₄ := mag_add_le (t - γ * s) (γ * (s - x + (x - e)))
  have t₅ := mag_add_le (s - x) (x - e)
  rw [mag_mul, mag_of_nonneg hγ] at t₄
  rw [show q - (r + t) + (r - r₀ + (t - γ * s + γ * (s - x + (x - e)))) = q - (r₀ + γ * e) by
    grind] at t₂
  rw [Semiring.pow_succ]
  clear he hw
  generalize mag (q - (r₀ + γ * e)) = z₁ at *
  generalize mag (r - r₀ + (t - γ * s + γ * (s - x + (x - e)))) = z₂ at *
  generalize mag (t - γ * s + γ * (s - x + (x - e))) = z₃ at *
  generalize mag (s - x + (x - e)) = z₄ at *
  generalize mag (q - (r + t)) = z₅ at *
  generalize mag (t - γ * s) = z₆ at *
  generalize mag (s - x) = es at *
  generalize mag (x - e) = z₇ at *
  generalize mag (r - r₀) = z₈ at *
  generalize (1 + u) ^ n = p at *
  generalize (n : K) = N at *
  generalize mag s = ms at *
  generalize mag q = mq at *
  generalize mag x = mx at *
  have es₁ : es ≤ (p - 1) * ((1 + ρ) * M) + N * (η * p) := by grind
  have ms₁ : ms ≤ (p - 1) * ((1 + ρ) * M) + N * (η * p) + (1 + ρ) * M := by grind
  have b₁ := mul_le_mul_left (mul_le_mul_left ms₁ hγ) hu
  have b₂ := mul_le_mul_left (show z₄ ≤ (p - 1) * ((1 + ρ) * M) + N * (η * p) + ρ * M by grind) hγ
  clear ms₁ es₁ hes t₁ h₁ t₅ ha hxa hM h₂
  grind

/-- **The formula of the solvers' certificate**, `N = n + 1`: for rows that are not absurdly long
(`N·u ≤ 1/100`) and miss one by at most `ρ ≤ 1/1000`, the error of the compiled backup is at most
`1.015·(γM(Nu + ρ) + u|q|)`, the error of the constant, and the underflow. C48. -/
theorem backup_formula {n : Nat} {γ ρ M c z mq : K} (hu : 0 ≤ u) (hη : 0 ≤ η) (hγ : 0 ≤ γ)
    (hγ₁ : γ ≤ 1) (hM : 0 ≤ M) (hρ : 0 ≤ ρ) (hρ₁ : ρ ≤ 1 / 1000) (hmq : 0 ≤ mq)
    (hn : ((n + 1 : Nat) : K) * u ≤ 1 / 100)
    (h : z ≤ u * mq + c + η + γ * ((((1 + u) ^ (n + 1) - 1) * (1 + ρ) + ρ) * M +
      (n : K) * (η * (1 + u) ^ (n + 1)))) :
    z ≤ 1015 / 1000 * (γ * M * (((n + 1 : Nat) : K) * u + ρ) + u * mq) + c +
      η * (1 + 1015 / 1000 * (n : K)) := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have hp := pow_le_of_small hu hn
  have hx := mul_nonneg (natCast_nonneg (K := K) (n + 1)) hu
  have hN := natCast_nonneg (K := K) n
  generalize ((n + 1 : Nat) : K) * u = x at *
  generalize (1 + u) ^ (n + 1) = p at *
  generalize (n : K) = N at *
  -- the rows
  have hr : (p - 1) * (1 + ρ) + ρ ≤ 1015 / 1000 * (x + ρ) := by
    have a₁ := mul_le_mul_right hp (show 0 ≤ 1 + ρ by grind)
    have a₂ := mul_le_mul_left hρ₁ hx
    grind
  have b₁ := mul_le_mul_left (mul_le_mul_right hr hM) hγ
  -- the underflow
  have a₃ : p ≤ 1015 / 1000 := by grind
  have b₂ := mul_le_mul_left (mul_le_mul_left (mul_le_mul_left a₃ hη) hN) hγ
  have b₃ := mul_le_mul_right hγ₁ (mul_nonneg hN (mul_nonneg hη (show (0 : K) ≤ 1015 / 1000 by
    grind)))
  have b₄ := mul_nonneg hu hmq
  clear hp hr a₃ hn
  grind

omit [DecidableLE K] in
/-- **What `Rounding.backup` computes is no less**: its own at most eight roundings cost a factor
`1 - 8u`, and `1.02·(1 - 8u) ≥ 1.015`. C48. -/
theorem formula_covers {X computed : K} (hu₁ : u ≤ 1 / 10000) (hX : 0 ≤ X)
    (h : 102 / 100 * X * (1 - 8 * u) ≤ computed) : 1015 / 1000 * X ≤ computed := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have := mul_le_mul_left hu₁ hX
  grind

end RESAC
