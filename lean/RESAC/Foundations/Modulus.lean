module

public import RESAC.Foundations.Order

public section

/-!
# Moduli of operators

The paper's question in every appendix is by which factor an operator scales the sup-distance of two
arguments. This file fixes the words in which the answers are given, for operators on numbers, on
Q-functions `S → A → K` and on ensembles `Fin n → K` alike.

## Main definitions
* `Near K X`: on `X` it makes sense to say "the sup-distance of `x` and `y` is at most `ε`". Numbers
  have it by `Within`, functions have it pointwise.
* `Modulus T c`: `T` scales distances by at most `c`.
* `ExactModulus T c`: `c` is a modulus of `T`, and every modulus of `T` is at least `c`.
* `Contracts T`: some `c < 1` is a modulus of `T`.
* `HasDist K x y`: the bounds on the distance of `x` and `y` have a least element.

## Main statements
* `modulus_iff_mag`: on numbers, `Modulus T c` says `|T x - T y| ≤ c·|x - y|`.
* `ExactModulus.contracts_iff`: an operator with exact modulus `c` contracts iff `c < 1`.
* `near_recursion`: the solution of the error recursion `e ↦ γ·e + δ`.
* `HasDist.near_of_step`: from a residual to an error.
* `hasDist_fin`, `hasDist_fin₂`: on finite, non-empty index sets every distance exists.
-/

namespace RESAC

open Lean.Grind Std

universe u v w

/-- `near ε x y` says that the sup-distance of `x` and `y` is at most `ε`. -/
class Near (K : Type u) [Field K] [LE K] (X : Type v) where
  /-- The sup-distance of the two points is at most `ε`. -/
  near : K → X → X → Prop
  /-- The distance of a point to itself is zero. -/
  near_refl : ∀ x, near 0 x x
  /-- The distance is symmetric. -/
  near_symm : ∀ {ε x y}, near ε x y → near ε y x
  /-- A larger bound is a bound. -/
  near_mono : ∀ {ε δ x y}, ε ≤ δ → near ε x y → near δ x y
  /-- The triangle inequality. -/
  near_trans : ∀ {ε δ x y z}, near ε x y → near δ y z → near (ε + δ) x z

export Near (near near_refl near_symm near_mono near_trans)

variable {K : Type u} [Field K] [LE K] {X : Type v} {Y : Type w}

section Definitions

/-- `T` scales distances by at most `c`: `‖T x - T y‖ ≤ c·‖x - y‖`, pointwise. -/
@[expose] def Modulus [Near K X] [Near K Y] (T : X → Y) (c : K) : Prop :=
  ∀ (ε : K) (x y : X), near ε x y → near (c * ε) (T x) (T y)

/-- `c` is a modulus of `T` and no smaller number is. -/
structure ExactModulus [Near K X] [Near K Y] (T : X → Y) (c : K) : Prop where
  /-- `c` is a modulus. -/
  holds : Modulus T c
  /-- Every modulus is at least `c`. -/
  least : ∀ c' : K, Modulus T c' → c ≤ c'

variable (K) in
/-- `T` is a contraction: it has a modulus below one. -/
@[expose] def Contracts [LT K] [Near K X] [Near K Y] (T : X → Y) : Prop :=
  ∃ c : K, c < 1 ∧ Modulus T c

variable (K) in
/-- The sup-distance of `x` and `y` exists: among its bounds there is a least one. Over `ℝ` this
holds for bounded functions, on finite sets over every ordered field; it fails for unbounded
functions. -/
@[expose] def HasDist [Near K X] (x y : X) : Prop :=
  ∃ d : K, near d x y ∧ ∀ ε : K, near ε x y → d ≤ ε

end Definitions

/-- Functions are compared pointwise. -/
instance [Near K Y] : Near K (X → Y) where
  near ε f g := ∀ x, near ε (f x) (g x)
  near_refl f x := near_refl (f x)
  near_symm h x := near_symm (h x)
  near_mono h h' x := near_mono h (h' x)
  near_trans h h' x := near_trans (h x) (h' x)

variable [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- Numbers are compared by `Within`. -/
instance : Near K K where
  near := Within
  near_refl := Within.refl
  near_symm := Within.symm
  near_mono h h' := h'.mono h
  near_trans := Within.trans

/-- On numbers the distance is that of `Within`. -/
theorem near_iff {ε a b : K} : near ε a b ↔ Within ε a b := Iff.rfl

/-- On numbers a modulus bounds the ratio of distances. -/
theorem modulus_iff_mag [DecidableLE K] {T : K → K} {c : K} :
    Modulus T c ↔ ∀ x y, mag (T x - T y) ≤ c * mag (x - y) := by
  constructor
  · intro h x y
    exact within_iff_mag.1 (h (mag (x - y)) x y (within_iff_mag.2 (le_refl _)))
  · intro h ε x y hxy
    have hc : 0 ≤ c := by
      have h0 := h 1 0
      have h1 : mag (1 - 0 : K) = 1 := by unfold mag; grind
      have h2 := mag_nonneg (T 1 - T 0)
      rw [h1] at h0
      grind
    have h1 := mul_le_mul_left (within_iff_mag.1 hxy) hc
    exact within_iff_mag.2 (le_trans (h x y) h1)

/-- An operator with a known exact modulus contracts iff that modulus is below one. -/
theorem ExactModulus.contracts_iff [Near K X] [Near K Y] {T : X → Y} {c : K}
    (h : ExactModulus T c) : Contracts K T ↔ c < 1 := by
  constructor
  · intro ⟨c', hc', hT⟩
    have := h.least c' hT
    grind
  · intro hc
    exact ⟨c, hc, h.holds⟩

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- Two points at distance one whose images are `c` apart, and no less, bound every modulus. -/
theorem Modulus.le_of_pair [Near K X] [Near K Y] {T : X → Y} {c c' : K} (h : Modulus T c') (x y : X)
    (hxy : near (1 : K) x y) (hT : ∀ ε : K, near ε (T x) (T y) → c ≤ ε) : c ≤ c' := by
  have h' := hT _ (h 1 x y hxy)
  rwa [Semiring.mul_one] at h'

/-- Errors that obey `e ↦ γ·e + δ` from step to step stay below `γⁿ·e₀ + δ·(1 - γⁿ)/(1 - γ)`. -/
theorem near_recursion [Near K X] {γ δ e₀ : K} (hγ : γ < 1) {x y : Nat → X}
    (h₀ : near e₀ (x 0) (y 0))
    (step : ∀ (n : Nat) (e : K), near e (x n) (y n) → near (γ * e + δ) (x (n + 1)) (y (n + 1))) :
    ∀ n : Nat, near (γ ^ n * e₀ + δ * (1 - γ ^ n) / (1 - γ)) (x n) (y n)
  | 0 => by
    have e : γ ^ 0 * e₀ + δ * (1 - γ ^ 0) / (1 - γ) = e₀ := by
      rw [Semiring.pow_zero]; clear step; grind
    rw [e]; exact h₀
  | n + 1 => by
    have h := step n _ (near_recursion hγ h₀ step n)
    have hne : 1 - γ ≠ 0 := by clear step; grind
    have e : γ * (γ ^ n * e₀ + δ * (1 - γ ^ n) / (1 - γ)) + δ
        = γ ^ (n + 1) * e₀ + δ * (1 - γ ^ (n + 1)) / (1 - γ) := by
      rw [Semiring.pow_succ]; clear step h; grind
    rwa [e] at h

section Distances

/-- Two numbers have a distance. -/
theorem hasDist_scalar [DecidableLE K] (a b : K) : HasDist K a b :=
  ⟨mag (a - b), within_iff_mag.2 (le_refl _), fun _ h => within_iff_mag.1 h⟩

/-- Families over a finite, non-empty index set have a distance if their members have. -/
theorem HasDist.fin [Near K Y] : ∀ {n : Nat} (f g : Fin (n + 1) → Y),
    (∀ i, HasDist K (f i) (g i)) → HasDist K f g
  | 0, f, g, h => by
    obtain ⟨d, hd, hmin⟩ := h 0
    exact ⟨d, fun i => by rw [Fin.fin_one_eq_zero i]; exact hd, fun ε hε => hmin ε (hε 0)⟩
  | n + 1, f, g, h => by
    obtain ⟨d, hd, hmin⟩ := h 0
    obtain ⟨e, he, hmin'⟩ :=
      HasDist.fin (fun i => f (Fin.succ i)) (fun i => g (Fin.succ i)) (fun i => h i.succ)
    have key : ∀ m : K, d ≤ m → e ≤ m → (m = d ∨ m = e) → HasDist K f g := by
      intro m h1 h2 h3
      refine ⟨m, fun i => ?_, fun ε hε => ?_⟩
      · refine Fin.cases ?_ (fun j => ?_) i
        · exact near_mono h1 hd
        · exact near_mono h2 (he j)
      · rcases h3 with h3 | h3
        · rw [h3]; exact hmin ε (hε 0)
        · rw [h3]; exact hmin' ε (fun j => hε j.succ)
    rcases (inferInstanceAs (Std.IsLinearOrder K)).le_total d e with hde | hde
    · exact key e hde (by grind) (Or.inr rfl)
    · exact key d (by grind) hde (Or.inl rfl)

/-- Two ensembles have a distance. -/
theorem hasDist_fin [DecidableLE K] {n : Nat} (f g : Fin (n + 1) → K) : HasDist K f g :=
  HasDist.fin f g (fun _ => hasDist_scalar _ _)

/-- Two Q-functions on finite, non-empty state and action sets have a distance. -/
theorem hasDist_fin₂ [DecidableLE K] {n m : Nat} (Q₁ Q₂ : Fin (n + 1) → Fin (m + 1) → K) :
    HasDist K Q₁ Q₂ :=
  HasDist.fin Q₁ Q₂ (fun _ => hasDist_fin _ _)

/-- If every bound `e` on a distance yields the bound `γ·e + δ`, the distance is at most
`δ/(1 - γ)`. This is how a contraction turns a residual into an error. -/
theorem HasDist.near_of_step [Near K X] {x y : X} (h : HasDist K x y) {γ δ : K} (hγ : γ < 1)
    (step : ∀ e : K, near e x y → near (γ * e + δ) x y) : near (δ / (1 - γ)) x y := by
  obtain ⟨d, hd, hmin⟩ := h
  have h' := hmin _ (step d hd)
  refine near_mono ((le_div_iff (by clear step hmin; grind)).2 ?_) hd
  clear step hmin
  grind

end Distances

end RESAC
