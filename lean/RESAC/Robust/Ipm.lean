module

public import RESAC.Robust.WorstCase
public import RESAC.Foundations.Optimum

public section

/-!
# Worst cases over an IPM ball

## Main definitions
* `Lipschitz d L f`: `|f x - f y| ≤ L·d(x,y)`, for any cost `d`.
* `InBall d δ p q`: the integral probability metric of `p` and `q` over the 1-Lipschitz functions is
  at most `δ`: `|E_p f - E_q f| ≤ δ` for each of them.

## Main statements
* `ipm_lower_bound`: `E_q V ≥ E_p V - δ·L` on the ball (Eq. robust_lower_bound; C04), for every cost
  and every non-negative Lipschitz constant, zero included.
* `ipm_worst_case_bound`: the same for the infimum over the ball.
* `ipm_bound_strict`: the bound is not an equality for probabilities: on two states, with
  `V = (0, 1)`, `p = δ₀` and `δ = 1/2`, the worst case is `0` and the bound `-1/2`.
* `ipm_bound_attained_signed`: it is attained there by a signed measure. So the appendix's "exact
  duality" holds for signed perturbations only.

Paper: §4.1 (robustness via regularization), and Appendix D, "Dynamics robustness".
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v

section Definitions

variable {K : Type u} [Field K] [LE K]

/-- `f` is `L`-Lipschitz for the cost `d`: `|f x - f y| ≤ L·d(x,y)`. -/
@[expose] def Lipschitz {X : Type v} (d : X → X → K) (L : K) (f : X → K) : Prop :=
  ∀ x y, Within (L * d x y) (f x) (f y)

/-- `q` lies in the ball of radius `δ` around `p` in the integral probability metric over the
1-Lipschitz functions. -/
@[expose] def InBall {n : Nat} (d : Fin n → Fin n → K) (δ : K) (p q : Fin n → K) : Prop :=
  ∀ f, Lipschitz d 1 f → Within δ (expect p f) (expect q f)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {n : Nat} {d : Fin n → Fin n → K} {δ L : K} {p q V : Fin n → K}

/-- The expectations of an `L`-Lipschitz function differ by at most `δ·L` on a ball of radius `δ`,
for measures of equal mass, signed ones included. -/
theorem InBall.within (hball : InBall d δ p q) (hpq : fsum p = fsum q) (hL : 0 ≤ L)
    (hV : Lipschitz d L V) : Within (δ * L) (expect p V) (expect q V) := by
  by_cases hL' : L = 0
  · subst hL'
    have hc : ∀ x y, V x = V y := fun x y => by
      have := hV x y
      rw [Semiring.zero_mul, within_zero_iff] at this
      exact this
    have he : expect p V = expect q V := by
      cases n with
      | zero => rfl
      | succ k =>
        have e : V = fun _ => V 0 := funext fun x => hc x 0
        rw [e]
        unfold expect
        rw [fsum_mul_right, fsum_mul_right, hpq]
    rw [he, Semiring.mul_zero]
    exact Within.refl _
  · have hL₀ : 0 < L := by grind
    have h₁ : Lipschitz d 1 fun x => L⁻¹ * V x := fun x y => by
      have h₂ := (hV x y).mul_left (show 0 ≤ L⁻¹ by have := inv_pos hL₀; grind)
      rwa [show L⁻¹ * (L * d x y) = 1 * d x y by clear h₂ hV hball; grind] at h₂
    have h₃ := (hball _ h₁).mul_left hL
    rw [expect_mul_left, expect_mul_left] at h₃
    rwa [show L * δ = δ * L by grind, show ∀ x : K, L * (L⁻¹ * x) = x by
      intro x; clear h₃ h₁ hV hball; grind, show ∀ x : K, L * (L⁻¹ * x) = x by
      intro x; clear h₃ h₁ hV hball; grind] at h₃

/-- **The IPM lower bound** (Eq. robust_lower_bound; C04): on a ball of radius `δ` around `p` the
expectation of an `L`-Lipschitz value is at least `E_p V - δ·L`. -/
theorem ipm_lower_bound (hp : IsProb p) (hq : IsProb q) (hball : InBall d δ p q) (hL : 0 ≤ L)
    (hV : Lipschitz d L V) : expect p V - δ * L ≤ expect q V := by
  have := hball.within (by rw [hp.total, hq.total]) hL hV
  unfold Within at this
  grind

/-- **The bound for the worst case** over the IPM ball, as the paper writes it:
`inf_{q ∈ ball} E_q V ≥ E_p V - δ·Lip(V)` (Eq. robust_lower_bound; C04). -/
theorem ipm_worst_case_bound (hp : IsProb p) (hL : 0 ≤ L) (hV : Lipschitz d L V)
    {worst : (Fin n → K) → K}
    (hw : IsInfimum (fun q : {q // IsProb q ∧ InBall d δ p q} => expect q.1) worst) :
    expect p V - δ * L ≤ worst V :=
  hw.greatest V _ fun q => ipm_lower_bound hp q.2.1 q.2.2 hL hV

/-! ## The bound is not exact -/

/-- The discrete metric on two states. -/
@[expose] def discrete (K : Type u) [Field K] : Fin 2 → Fin 2 → K :=
  fun x y => if x = y then 0 else 1

/-- The value `V = (0, 1)`. -/
@[expose] def unitStep (K : Type u) [Field K] : Fin 2 → K := fun x => if x = 0 then 0 else 1

/-- `V = (0, 1)` has Lipschitz constant exactly one. -/
theorem unitStep_lipschitz (L : K) : Lipschitz (discrete K) L (unitStep K) ↔ 1 ≤ L := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  constructor
  · intro h
    have := h 0 1
    simp [Within, discrete, unitStep] at this
    grind
  · intro h x y
    have hx : x = 0 ∨ x = 1 := by revert x; decide
    have hy : y = 0 ∨ y = 1 := by revert y; decide
    rcases hx with rfl | rfl <;> rcases hy with rfl | rfl <;>
      simp [Within, discrete, unitStep] <;> grind

/-- **Strictness** (C04). On two states with the discrete metric, `V = (0, 1)` of Lipschitz constant
`1`, `p = δ₀` and `δ = 1/2`: the worst case over the ball is `0`, the bound is `-1/2`. -/
theorem ipm_bound_strict :
    IsMinimum (fun q => IsProb q ∧ InBall (discrete K) (1 / 2) (point 0) q)
        (fun q => expect q (unitStep K)) 0 ∧
      expect (point 0) (unitStep K) - 1 / 2 * 1 < 0 := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have e : expect (point 0) (unitStep K) = 0 := by rw [expect_point]; simp [unitStep]
  refine ⟨⟨fun q hq => ?_, point 0, ⟨point_isProb 0, fun f _ => ?_⟩, e⟩, by rw [e]; grind⟩
  · exact expect_nonneg hq.1.nonneg fun i => by unfold unitStep; grind
  · exact (Within.refl _).mono (by grind)

/-- The signed measure `(3/2, -1/2)` attains the bound of `ipm_bound_strict`: it has mass one, lies
in the ball, and gives `-1/2`. -/
theorem ipm_bound_attained_signed :
    let q : Fin 2 → K := fun x => if x = 0 then 3 / 2 else -1 / 2
    fsum q = 1 ∧ InBall (discrete K) (1 / 2) (point 0) q ∧
      expect q (unitStep K) = expect (point 0) (unitStep K) - 1 / 2 * 1 := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  refine ⟨by simp [fsum]; grind, fun f hf => ?_, ?_⟩
  · have h := hf 0 1
    simp [Within, discrete, expect, fsum, point] at *
    grind
  · simp [expect, fsum, point, unitStep]
    grind

end RESAC
