module

public import RESAC.Robust.Ipm

public section

/-!
# Optimal transport: weak duality

The Kantorovich–Rubinstein theorem equates the least cost of transporting `p` to `q` with the
largest difference `E_p f - E_q f` over 1-Lipschitz `f`. One half, that every plan costs at least
every such difference, holds for any cost; equality needs a *metric*.

## Main definitions
* `IsCoupling p q π`: `π` is a transport plan from `p` to `q`.
* `transportCost d π`: its cost `∑ π(x,y)·d(x,y)`.

## Main statements
* `transport_weak_duality`: weak duality, for any cost and any pair of potentials (C31).
* `inBall_of_coupling`: a Wasserstein ball lies in the IPM ball of the same radius, so
* `wasserstein_lower_bound`: the lower bound `E_p V - δ·L` holds over the Wasserstein ball.
* `duality_gap_without_triangle`: a cost that breaks the triangle inequality leaves a gap: every
  plan costs `10`, every 1-Lipschitz function yields at most `2` (C31).

Paper: Appendix D, Theorem (Kantorovich–Rubinstein duality).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K] {n m : Nat}

/-- `π` is a coupling of `p` and `q`: non-negative, with these marginals. -/
structure IsCoupling [LE K] (p : Fin n → K) (q : Fin m → K) (π : Fin n → Fin m → K) : Prop where
  /-- No negative mass is moved. -/
  nonneg : ∀ x y, 0 ≤ π x y
  /-- All mass of `p` is moved. -/
  left : ∀ x, fsum (fun y => π x y) = p x
  /-- All mass of `q` is delivered. -/
  right : ∀ y, fsum (fun x => π x y) = q y

/-- The cost of a transport plan, `∑ₓᵧ π(x,y)·d(x,y)`. -/
@[expose] def transportCost (d π : Fin n → Fin m → K) : K :=
  fsum fun x => fsum fun y => π x y * d x y

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {n m : Nat}

/-- **Weak duality** (C31): `E_p f - E_q g` is at most the cost of every plan, for potentials with
`f x - g y ≤ d(x,y)`. The paper's case is `f = g`, 1-Lipschitz. -/
theorem transport_weak_duality {p : Fin n → K} {q : Fin m → K} {π d : Fin n → Fin m → K}
    (hπ : IsCoupling p q π) {f : Fin n → K} {g : Fin m → K} (hfg : ∀ x y, f x - g y ≤ d x y) :
    expect p f - expect q g ≤ transportCost d π := by
  have h₁ : fsum (fun x => fsum fun y => π x y * (f x - g y)) ≤ transportCost d π :=
    fsum_mono fun x => fsum_mono fun y => mul_le_mul_left (hfg x y) (hπ.nonneg x y)
  have e : fsum (fun x => fsum fun y => π x y * (f x - g y)) =
      fsum (fun x => fsum fun y => π x y * f x) - fsum (fun y => fsum fun x => π x y * g y) := by
    rw [← fsum_swap (fun x y => π x y * g y), ← fsum_sub]
    congr 1; funext x
    rw [← fsum_sub]
    congr 1; funext y
    grind
  have e₁ : (fun x => fsum fun y => π x y * f x) = fun x => p x * f x := by
    funext x; rw [fsum_mul_right, hπ.left]
  have e₂ : (fun y => fsum fun x => π x y * g y) = fun y => q y * g y := by
    funext y; rw [fsum_mul_right, hπ.right]
  rw [e, e₁, e₂] at h₁
  exact h₁

/-- **A Wasserstein ball lies in the IPM ball of the same radius.** -/
theorem inBall_of_coupling {p q : Fin n → K} {π d : Fin n → Fin n → K} (hπ : IsCoupling p q π)
    {δ : K} (hδ : transportCost d π ≤ δ) : InBall d δ p q := by
  intro f hf
  have h₁ := transport_weak_duality hπ (f := f) (g := f) (d := d) fun x y => by
    have := hf x y
    unfold Within at this
    grind
  have h₂ := transport_weak_duality hπ (f := fun x => -f x) (g := fun y => -f y) (d := d)
    fun x y => by
      have := hf x y
      unfold Within at this
      grind
  rw [expect_neg, expect_neg] at h₂
  unfold Within
  grind

/-- **The robust lower bound over a Wasserstein ball**: `E_q V ≥ E_p V - δ·L` whenever some plan
moves `p` to `q` at a cost of at most `δ`. -/
theorem wasserstein_lower_bound {p q V : Fin n → K} {π d : Fin n → Fin n → K} (hp : IsProb p)
    (hq : IsProb q) (hπ : IsCoupling p q π) {δ L : K} (hδ : transportCost d π ≤ δ) (hL : 0 ≤ L)
    (hV : Lipschitz d L V) : expect p V - δ * L ≤ expect q V :=
  ipm_lower_bound hp hq (inBall_of_coupling hπ hδ) hL hV

/-! ## Without the triangle inequality there is a gap -/

/-- Three states in a row: neighbours are at cost one, the ends at cost ten. -/
@[expose] def detour (K : Type u) [Field K] : Fin 3 → Fin 3 → K := fun x y =>
  if x = y then 0 else if x = 1 ∨ y = 1 then 1 else 10

/-- **The duality gap of a cost that is no metric** (C31): from `δ₀` to `δ₂` every plan costs `10`,
and no 1-Lipschitz function tells the two apart by more than `2`. -/
theorem duality_gap_without_triangle :
    (∀ π, IsCoupling (point 0) (point 2) π → transportCost (detour K) π = 10) ∧
      ∀ f, Lipschitz (detour K) 1 f → expect (point 0) f - expect (point 2) f ≤ 2 := by
  constructor
  · intro π hπ
    have l₀ := hπ.left 0
    have l₁ := hπ.left 1
    have l₂ := hπ.left 2
    have r₀ := hπ.right 0
    have r₁ := hπ.right 1
    have n := hπ.nonneg
    have n₀₀ := n 0 0
    have n₀₁ := n 0 1
    have n₀₂ := n 0 2
    have n₁₀ := n 1 0
    have n₁₁ := n 1 1
    have n₁₂ := n 1 2
    have n₂₀ := n 2 0
    have n₂₁ := n 2 1
    have n₂₂ := n 2 2
    simp [fsum, point] at l₀ l₁ l₂ r₀ r₁
    simp [transportCost, detour, fsum]
    grind
  · intro f hf
    have h₁ := hf 0 1
    have h₂ := hf 1 2
    rw [expect_point, expect_point]
    simp [Within, detour] at h₁ h₂
    grind

end RESAC
