module

public import RESAC.Contraction.LatticeAffine

public section

/-!
# Solving a system of maxima and minima by elimination

A system `xᵢ = Fᵢ(x)` in which every `Fᵢ` is `LatticeAffine ρ` with `ρ < 1` has a solution. Over `ℝ`
this is Banach's theorem. An arbitrary ordered field is not complete, but there the solution can be
computed, one unknown after another:

* `x = b + c·x + …` is solved by `x = (b + …)/(1 - c)`, and the new coefficients are again
  non-negative with row sum at most `ρ`;
* the solution of `x = max(f(x), g(x))` is the larger of the solutions of `x = f(x)` and `x = g(x)`,
  and of `x = min(f(x), g(x))` the smaller;
* substituting the solution in the other equations leaves a system of the same kind with one
  unknown fewer.

## Main definitions
* `cons a y`: the vector with first entry `a` and the others from `y`.

## Main statements
* `LatticeAffine.solve`: one unknown is eliminated.
* `LatticeAffine.subst`: what remains is of the same kind.
* `exists_solution`: the system has a solution, over every ordered field (C11).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

/-- The vector with first entry `a` and the others from `y`. -/
@[expose] def cons {K : Type u} {n : Nat} (a : K) (y : Fin n → K) : Fin (n + 1) → K :=
  fun i => Fin.cases a y i

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {ρ : K} {n : Nat}

/-! ## Elimination of one unknown -/

/-- Raising the first unknown from `a` to `b` raises the value by at most `ρ·(b - a)`. -/
theorem LatticeAffine.cons_le {F : (Fin (n + 1) → K) → K} (hF : LatticeAffine ρ F) {a b : K}
    (hab : a ≤ b) (y : Fin n → K) : F (cons b y) ≤ F (cons a y) + ρ * (b - a) := by
  refine le_trans (hF.mono fun i => ?_) (hF.translate_le (cons a y) (e := b - a) (by grind))
  refine Fin.cases ?_ (fun i => ?_) i
  · have e : cons b y 0 = b ∧ cons a y 0 = a := ⟨rfl, rfl⟩
    rw [e.1, e.2]; grind
  · have e : cons b y i.succ = y i ∧ cons a y i.succ = y i := ⟨rfl, rfl⟩
    rw [e.1, e.2]; grind

/-- Above its solution a function of the first unknown lies below the diagonal. -/
theorem LatticeAffine.le_of_solution {F : (Fin (n + 1) → K) → K} (hF : LatticeAffine ρ F)
    (hρ : ρ ≤ 1) {a b : K} {y : Fin n → K} (ha : F (cons a y) = a) (hab : a ≤ b) :
    F (cons b y) ≤ b := by
  have h₁ := hF.cons_le hab y
  have h₂ := mul_le_mul_right (c := b - a) hρ (by grind)
  grind

/-- Below its solution a function of the first unknown lies above the diagonal. -/
theorem LatticeAffine.le_of_le_solution {F : (Fin (n + 1) → K) → K} (hF : LatticeAffine ρ F)
    (hρ : ρ ≤ 1) {a b : K} {y : Fin n → K} (hb : F (cons b y) = b) (hab : a ≤ b) :
    a ≤ F (cons a y) := by
  have h₁ := hF.cons_le hab y
  have h₂ := mul_le_mul_right (c := b - a) hρ (by grind)
  grind

/-- **One unknown is eliminated**: `x₀ = F(x₀, y)` is solved by a function `x₀ = G(y)` of the same
kind. -/
theorem LatticeAffine.solve {F : (Fin (n + 1) → K) → K} (hF : LatticeAffine ρ F) (hρ : ρ < 1) :
    ∃ G : (Fin n → K) → K, LatticeAffine ρ G ∧ ∀ y, F (cons (G y) y) = G y := by
  have hρ₁ : ρ ≤ 1 := by grind
  induction hF with
  | affine b c hc hs =>
    have hs' : c 0 + fsum (fun i : Fin n => c i.succ) ≤ ρ := hs
    have h₀ := hc 0
    have ht := fsum_nonneg (f := fun i : Fin n => c i.succ) fun i => hc i.succ
    have hpos : 0 < 1 - c 0 := by clear hc; grind
    have hne : 1 - c 0 ≠ 0 := by clear hc; grind
    refine ⟨fun y => b / (1 - c 0) + expect (fun i => (1 - c 0)⁻¹ * c i.succ) y,
      .affine _ _ (fun i => ?_) ?_, fun y => ?_⟩
    · have := inv_pos hpos
      exact mul_nonneg (by grind) (hc i.succ)
    · have h₁ := mul_le_mul_right hρ₁ h₀
      have h₂ : (1 - c 0)⁻¹ * fsum (fun i => c i.succ) =
          fsum (fun i => c i.succ) / (1 - c 0) := by clear hc; grind
      rw [fsum_mul_left, h₂, div_le_iff hpos]
      clear hc; grind
    · have e : ∀ a, expect c (cons a y) = c 0 * a + expect (fun i => c i.succ) y :=
        fun _ => rfl
      dsimp only
      rw [e, expect_weight_mul]
      clear e hc hs hs'; grind
  | @sup F₁ F₂ hF₁ hF₂ h₁ h₂ =>
    obtain ⟨G₁, hG₁, e₁⟩ := h₁
    obtain ⟨G₂, hG₂, e₂⟩ := h₂
    refine ⟨fun y => larger (G₁ y) (G₂ y), .sup hG₁ hG₂, fun y => ?_⟩
    rcases le_total (a := G₁ y) (b := G₂ y) with h | h
    · have h₃ := hF₁.le_of_solution hρ₁ (e₁ y) h
      dsimp only
      rw [larger_eq_right h, e₂ y, larger_eq_right h₃]
    · have h₃ := hF₂.le_of_solution hρ₁ (e₂ y) h
      dsimp only
      rw [larger_eq_left h, e₁ y, larger_eq_left h₃]
  | @inf F₁ F₂ hF₁ hF₂ h₁ h₂ =>
    obtain ⟨G₁, hG₁, e₁⟩ := h₁
    obtain ⟨G₂, hG₂, e₂⟩ := h₂
    refine ⟨fun y => smaller (G₁ y) (G₂ y), .inf hG₁ hG₂, fun y => ?_⟩
    rcases le_total (a := G₁ y) (b := G₂ y) with h | h
    · have h₃ := hF₂.le_of_le_solution hρ₁ (e₂ y) h
      dsimp only
      rw [smaller_eq_left h, e₁ y, smaller_eq_left h₃]
    · have h₃ := hF₁.le_of_le_solution hρ₁ (e₁ y) h
      dsimp only
      rw [smaller_eq_right h, e₂ y, smaller_eq_right h₃]

/-- Substituting a solution for the first unknown keeps the kind and the row sum. -/
theorem LatticeAffine.subst {F : (Fin (n + 1) → K) → K} {G : (Fin n → K) → K}
    (hF : LatticeAffine ρ F) (hG : LatticeAffine ρ G) (hρ : ρ ≤ 1) :
    LatticeAffine ρ fun y => F (cons (G y) y) := by
  have h₁ : (0 : K) ≤ 1 := by
    have := OrderedRing.zero_lt_one (R := K)
    grind
  have h := hF.comp (F := fun j y => cons (G y) y j) (ρ := 1)
    (fun j => Fin.cases (motive := fun j => LatticeAffine 1 fun y => cons (G y) y j)
      (hG.weaken hρ) (fun i => latticeAffine_proj i) j) h₁
  rwa [Semiring.mul_one] at h

/-- **A system of maxima and minima of contracting affine functions has a solution, over every
ordered field.** C11. -/
theorem exists_solution (hρ : ρ < 1) : ∀ {n : Nat} {F : Fin n → (Fin n → K) → K},
    (∀ i, LatticeAffine ρ (F i)) → ∃ x : Fin n → K, ∀ i, F i x = x i
  | 0, _, _ => ⟨fun _ => 0, fun i => i.elim0⟩
  | n + 1, F, hF => by
    obtain ⟨G, hG, e⟩ := (hF 0).solve hρ
    obtain ⟨y, hy⟩ := exists_solution hρ fun i : Fin n =>
      (hF i.succ).subst hG (by clear e; grind)
    exact ⟨cons (G y) y, fun i => Fin.cases (e y) (fun i => hy i) i⟩

end RESAC
