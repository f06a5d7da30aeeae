module

public import RESAC.Contraction.Terminal
public import RESAC.Foundations.Lattice

public section

/-!
# Maxima and minima of affine functions

A finite Bellman equation is a system `xᵢ = Fᵢ(x)` in which every `Fᵢ` is built by finite maxima and
minima from affine functions with non-negative coefficients. This file defines the class of such
functions and shows that everything of which finite backups are made belongs to it;
`RESAC.Contraction.Elimination` solves the systems.

## Main definitions
* `LatticeAffine ρ F`: `F` is such a function, and its coefficients sum to at most `ρ`.

## Main statements
* `LatticeAffine.subMonetary`: such functions are sub-monetary for `ρ ≤ 1`.
* `latticeAffine_const`, `latticeAffine_proj`, `latticeAffine_expect`: constants, unknowns and
  expectations.
* `LatticeAffine.add`, `LatticeAffine.scale`, `LatticeAffine.weighted_sum`,
  `LatticeAffine.max_family`, `LatticeAffine.min_family`, `LatticeAffine.comp`: closure.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

/-- Functions built by finite maxima and minima from affine functions whose coefficients are
non-negative and sum to at most `ρ`. -/
inductive LatticeAffine {K : Type u} [Field K] [LE K] [DecidableLE K] (ρ : K) {n : Nat} :
    ((Fin n → K) → K) → Prop
  /-- An affine function `x ↦ b + Σ cᵢ·xᵢ`. -/
  | affine (b : K) (c : Fin n → K) (hc : ∀ i, 0 ≤ c i) (hs : fsum c ≤ ρ) :
      LatticeAffine ρ fun x => b + expect c x
  /-- The larger of two such functions. -/
  | sup {F G : (Fin n → K) → K} (hF : LatticeAffine ρ F) (hG : LatticeAffine ρ G) :
      LatticeAffine ρ fun x => larger (F x) (G x)
  /-- The smaller of two such functions. -/
  | inf {F G : (Fin n → K) → K} (hF : LatticeAffine ρ F) (hG : LatticeAffine ρ G) :
      LatticeAffine ρ fun x => smaller (F x) (G x)

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {ρ σ : K} {m n : Nat} {F G : (Fin n → K) → K}

/-! ## Order -/

/-- Such functions are monotone. -/
theorem LatticeAffine.mono (hF : LatticeAffine ρ F) {x y : Fin n → K} (h : ∀ i, x i ≤ y i) :
    F x ≤ F y := by
  induction hF with
  | affine b c hc hs => have := expect_mono hc h; grind
  | sup _ _ h₁ h₂ => unfold larger; grind
  | inf _ _ h₁ h₂ => unfold smaller; grind

/-- A non-negative constant added to every unknown adds at most `ρ` times itself. -/
theorem LatticeAffine.translate_le (hF : LatticeAffine ρ F) (x : Fin n → K) {e : K} (he : 0 ≤ e) :
    F (fun i => x i + e) ≤ F x + ρ * e := by
  induction hF with
  | affine b c hc hs =>
    have h₁ : expect c (fun i => x i + e) = expect c x + fsum c * e := by
      rw [expect_add, ← fsum_mul_right]; rfl
    have h₂ := mul_le_mul_right hs he
    grind
  | sup _ _ h₁ h₂ => unfold larger; grind
  | inf _ _ h₁ h₂ => unfold smaller; grind

/-- For `ρ ≤ 1` such functions are sub-monetary. -/
theorem LatticeAffine.subMonetary (hF : LatticeAffine ρ F) (hρ : ρ ≤ 1) : SubMonetary F where
  mono _ _ h := hF.mono h
  translate_le x e he := by
    have h₁ := hF.translate_le x he
    have h₂ := mul_le_mul_right hρ he
    grind

/-! ## Closure -/

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- A larger row sum is allowed. -/
theorem LatticeAffine.weaken (hF : LatticeAffine ρ F) (h : ρ ≤ σ) : LatticeAffine σ F := by
  induction hF with
  | affine b c hc hs => exact .affine b c hc (le_trans hs h)
  | sup _ _ h₁ h₂ => exact .sup h₁ h₂
  | inf _ _ h₁ h₂ => exact .inf h₁ h₂

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- Constants. -/
theorem latticeAffine_const (b : K) : LatticeAffine 0 fun _ : Fin n → K => b := by
  have e : (fun _ : Fin n → K => b) = fun x => b + expect (fun _ => 0) x := by
    funext x; unfold expect; rw [fsum_mul_left]; grind
  rw [e]
  exact .affine b _ (fun _ => le_refl 0) (by rw [fsum_zero]; exact le_refl 0)

/-- A single unknown. -/
theorem latticeAffine_proj (i : Fin n) : LatticeAffine (1 : K) fun x : Fin n → K => x i := by
  have e : (fun x : Fin n → K => x i) = fun x => 0 + expect (point i) x := by
    funext x; rw [expect_point]; grind
  rw [e]
  exact .affine 0 _ (point_isProb i).nonneg (by rw [fsum_point]; exact le_refl 1)

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- An expectation, also under weights that lose mass. -/
theorem latticeAffine_expect {p : Fin n → K} (hp : ∀ i, 0 ≤ p i) (hs : fsum p ≤ 1) :
    LatticeAffine 1 (expect p) := by
  have e : expect p = fun x => 0 + expect p x := by funext x; grind
  rw [e]
  exact .affine 0 p hp hs

/-- Sums: row sums add up. -/
theorem LatticeAffine.add (hF : LatticeAffine ρ F) (hG : LatticeAffine σ G) :
    LatticeAffine (ρ + σ) fun x => F x + G x := by
  induction hF with
  | affine b c hc hs =>
    induction hG with
    | affine b' c' hc' hs' =>
      have e : (fun x => b + expect c x + (b' + expect c' x)) =
          fun x => b + b' + expect (fun i => c i + c' i) x := by
        funext x; rw [expect_weight_add]; grind
      rw [e]
      refine .affine _ _ (fun i => ?_) ?_
      · have h₁ := hc i
        have h₂ := hc' i
        grind
      · rw [fsum_add]; grind
    | @sup F G _ _ h₁ h₂ =>
      have e : (fun x => b + expect c x + larger (F x) (G x)) =
          fun x => larger (b + expect c x + F x) (b + expect c x + G x) := by
        funext x; unfold larger; grind
      rw [e]; exact .sup h₁ h₂
    | @inf F G _ _ h₁ h₂ =>
      have e : (fun x => b + expect c x + smaller (F x) (G x)) =
          fun x => smaller (b + expect c x + F x) (b + expect c x + G x) := by
        funext x; unfold smaller; grind
      rw [e]; exact .inf h₁ h₂
  | @sup F F' _ _ h₁ h₂ =>
    have e : (fun x => larger (F x) (F' x) + G x) =
        fun x => larger (F x + G x) (F' x + G x) := by
      funext x; unfold larger; grind
    rw [e]; exact .sup h₁ h₂
  | @inf F F' _ _ h₁ h₂ =>
    have e : (fun x => smaller (F x) (F' x) + G x) =
        fun x => smaller (F x + G x) (F' x + G x) := by
      funext x; unfold smaller; grind
    rw [e]; exact .inf h₁ h₂

/-- A non-negative factor scales the row sum. -/
theorem LatticeAffine.scale (hF : LatticeAffine ρ F) {t : K} (ht : 0 ≤ t) :
    LatticeAffine (t * ρ) fun x => t * F x := by
  induction hF with
  | affine b c hc hs =>
    have e : (fun x => t * (b + expect c x)) = fun x => t * b + expect (fun i => t * c i) x := by
      funext x; rw [expect_weight_mul]; grind
    rw [e]
    refine .affine _ _ (fun i => mul_nonneg ht (hc i)) ?_
    rw [fsum_mul_left]; exact mul_le_mul_left hs ht
  | @sup F G _ _ h₁ h₂ =>
    have e : (fun x => t * larger (F x) (G x)) =
        fun x => larger (t * F x) (t * G x) := by
      funext x; exact mul_larger ht _ _
    rw [e]; exact .sup h₁ h₂
  | @inf F G _ _ h₁ h₂ =>
    have e : (fun x => t * smaller (F x) (G x)) =
        fun x => smaller (t * F x) (t * G x) := by
      funext x; exact mul_smaller ht _ _
    rw [e]; exact .inf h₁ h₂

/-- A weighted sum of such functions, with non-negative weights. -/
theorem LatticeAffine.weighted_sum : ∀ {m : Nat} {c : Fin m → K} {F : Fin m → (Fin n → K) → K},
    (∀ j, 0 ≤ c j) → (∀ j, LatticeAffine ρ (F j)) →
      LatticeAffine (fsum c * ρ) fun x => expect c fun j => F j x
  | 0, c, F, _, _ => by
    have e : fsum c * ρ = 0 := by simp only [fsum]; grind
    rw [e]; exact latticeAffine_const 0
  | m + 1, c, F, hc, hF => by
    have h := ((hF 0).scale (hc 0)).add
      (LatticeAffine.weighted_sum (fun j => hc j.succ) fun j => hF j.succ)
    have e : fsum c * ρ = c 0 * ρ + fsum (fun j => c j.succ) * ρ := by rw [fsum_succ]; grind
    rw [e]; exact h

/-- **Composition**: row sums multiply. -/
theorem LatticeAffine.comp {U : (Fin m → K) → K} {F : Fin m → (Fin n → K) → K}
    (hU : LatticeAffine σ U) (hF : ∀ j, LatticeAffine ρ (F j)) (hρ : 0 ≤ ρ) :
    LatticeAffine (σ * ρ) fun x => U fun j => F j x := by
  induction hU with
  | affine b c hc hs =>
    have h := (latticeAffine_const (n := n) b).add (LatticeAffine.weighted_sum hc hF)
    have h₁ := mul_le_mul_right hs hρ
    exact h.weaken (by grind)
  | sup _ _ h₁ h₂ => exact .sup h₁ h₂
  | inf _ _ h₁ h₂ => exact .inf h₁ h₂

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- The largest of finitely many such functions. -/
theorem LatticeAffine.max_family : ∀ {m : Nat} {F : Fin (m + 1) → (Fin n → K) → K},
    (∀ j, LatticeAffine ρ (F j)) → LatticeAffine ρ fun x => fmax fun j => F j x
  | 0, _, h => h 0
  | _ + 1, _, h => .sup (h 0) (LatticeAffine.max_family fun j => h j.succ)

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- The smallest of finitely many such functions. -/
theorem LatticeAffine.min_family : ∀ {m : Nat} {F : Fin (m + 1) → (Fin n → K) → K},
    (∀ j, LatticeAffine ρ (F j)) → LatticeAffine ρ fun x => fmin fun j => F j x
  | 0, _, h => h 0
  | _ + 1, _, h => .inf (h 0) (LatticeAffine.min_family fun j => h j.succ)

end RESAC
