module

public import RESAC.Errors.ApproxContraction

public section

/-!
# Projected backups: what function approximation costs

The paper bounds the error of a function class by `min_φ ‖Q_φ - Q*‖/(1 - γ)` (Appendix E, "Remark
(function approximation in practice)", and (S4)). The fixed point `Q̂ = Π(T Q̂)` of a projected
backup obeys a bound of this kind only if the projection is non-expansive in the sup-norm, and then
with another constant.

## Main definitions
* `jump R γ`: the backup of two states that both lead to the second one, as an instance of `rev`.
* `firstState`: the projection onto constants that copies the value of the first state.
* `leastSquares`: the least-squares projection onto the multiples of `(1, 2)`.

## Main statements (C17)
* `projected_error`: `‖Q̂ - Q*‖ ≤ ‖ΠQ* - Q*‖/(1 - γ)` for a non-expansive `Π`.
* `projected_error_best`: `‖Q̂ - Q*‖ ≤ 2·min‖Q_φ - Q*‖/(1 - γ)` if `Π` is idempotent as well.
* `paper_constant_refuted`: the paper's constant, without the factor 2, is wrong.
  `factor_two_attained`: the factor 2 is attained.
* `leastSquares_fixed`, `leastSquares_no_bound`, `leastSquares_diverges`: without non-expansiveness
  there is no bound at all, and the iteration may diverge.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-! ## Non-expansive projections -/

section NonExpansive

variable {X : Type v} [Near K X] {proj T : X → X} {γ d m : K}

/-- The fixed point of a projected backup is within `‖ΠQ* - Q*‖/(1 - γ)` of `Q*`, if the projection
is non-expansive in the sup-norm. Appendix E, (S4); C17. -/
theorem projected_error (hproj : Modulus proj (1 : K)) (hT : Modulus T γ) (hγ₁ : γ < 1) {xh xs : X}
    (hxs : T xs = xs) (hxh : proj (T xh) = xh) (hd : HasDist K xh xs) (h : near d (proj xs) xs) :
    near (d / (1 - γ)) xh xs :=
  hd.near_of_step hγ₁ (fun e he => by
    have h' := hproj _ _ _ (hT e _ _ he)
    rw [hxh, hxs, Semiring.one_mul] at h'
    exact near_trans h' h)

/-- If the projection is idempotent too, the error is at most `2/(1 - γ)` times that of **any**
representable `Π y`, so of the best one. Appendix E, (S4), corrected; C17. -/
theorem projected_error_best (hproj : Modulus proj (1 : K)) (idem : ∀ x, proj (proj x) = proj x)
    (hT : Modulus T γ) (hγ₁ : γ < 1) {xh xs : X} (hxs : T xs = xs) (hxh : proj (T xh) = xh)
    (hd : HasDist K xh xs) (y : X) (h : near m (proj y) xs) : near (2 * m / (1 - γ)) xh xs := by
  refine projected_error hproj hT hγ₁ hxs hxh hd ?_
  have h' := hproj _ _ _ (near_symm h)
  rw [idem y] at h'
  exact near_mono (by grind) (near_trans h' h)

end NonExpansive

/-! ## The paper's constant fails -/

section Definitions

variable {K : Type u} [Field K]

/-- Two states and one action; both states lead to the second state. -/
@[expose] def jump (R : Fin 2 → Unit → K) (γ : K) : (Fin 2 → Unit → K) → Fin 2 → Unit → K :=
  rev R γ (fun _ _ f => f 1) (fun _ q => q ()) (fun _ _ => 0)

/-- The value of the first state at every state: a projection onto the constants. -/
@[expose] def firstState (Q : Fin 2 → Unit → K) : Fin 2 → Unit → K := fun _ _ => Q 0 ()

/-- A value function on two states, by its values. -/
@[expose] def twoStates (x y : K) : Fin 2 → Unit → K := fun s _ => if s = 0 then x else y

/-- The least-squares projection onto the multiples of `(1, 2)`. -/
@[expose] def leastSquares (Q : Fin 2 → Unit → K) : Fin 2 → Unit → K :=
  twoStates ((Q 0 () + 2 * Q 1 ()) / 5) (2 * ((Q 0 () + 2 * Q 1 ()) / 5))

end Definitions

omit [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- A function on the two states is given by its two values. -/
theorem twoStates_ext {Q : Fin 2 → Unit → K} {x y : K} (h₀ : Q 0 () = x) (h₁ : Q 1 () = y) :
    Q = twoStates x y := by
  funext s a
  match s with
  | 0 => simp [twoStates, h₀]
  | 1 => simp [twoStates, h₁]

/-- Evaluation at the second state and the one action is monetary: `jump` is a `γ`-contraction. -/
theorem jump_modulus (R : Fin 2 → Unit → K) {γ : K} (hγ : 0 ≤ γ) : Modulus (jump R γ) γ :=
  (rev_blackwell hγ (fun _ _ => Monetary.eval 1) (fun _ => Monetary.eval ())).modulus

/-- `firstState` is non-expansive and idempotent. -/
theorem firstState_projection :
    Modulus (firstState (K := K)) (1 : K) ∧ ∀ Q : Fin 2 → Unit → K,
      firstState (firstState Q) = firstState Q := by
  refine ⟨fun ε Q Q' h s a => ?_, fun Q => rfl⟩
  rw [Semiring.one_mul]
  exact h 0 ()

/-- Fixed points of the example `R = (1, 0)`, `γ = 1/2`: `Q* = (1, 0)`, and `Q̂ = (2, 2)` after
projection onto constants. -/
theorem jump_fixed_points :
    jump (twoStates 1 0) (1 / 2) (twoStates 1 0) = (twoStates 1 0 : Fin 2 → Unit → K) ∧
      firstState (jump (twoStates 1 0) (1 / 2) (twoStates 2 2)) =
        (twoStates 2 2 : Fin 2 → Unit → K) := by
  constructor
  · apply twoStates_ext <;> simp [jump, rev, twoStates] <;> grind
  · apply twoStates_ext <;> simp [firstState, jump, rev, twoStates] <;> grind

/-- **The paper's constant is refuted**: it is not true that the fixed point of a projected
contraction errs by at most `1/(1 - γ)` times the error of the best representable function, even for
a non-expansive, idempotent projection. Two states that lead to the second one, `R = (1, 0)`,
`γ = 1/2`: `Q* = (1, 0)` is within `1/2` of the constant `1/2`, and `Q̂ = (2, 2)` errs by `2 > 1`.
Appendix E, "Remark (function approximation in practice)" and (S4); C17. -/
theorem paper_constant_refuted : ¬ ∀ (proj T : (Fin 2 → Unit → K) → Fin 2 → Unit → K) (γ m : K)
    (Qs Qh Qφ : Fin 2 → Unit → K), 0 ≤ γ → γ < 1 → Modulus proj (1 : K) →
    (∀ Q, proj (proj Q) = proj Q) → Modulus T γ → T Qs = Qs → proj (T Qh) = Qh →
    proj Qφ = Qφ → near m Qφ Qs → near (m / (1 - γ)) Qh Qs := by
  intro h
  have h' := h firstState (jump (twoStates 1 0) (1 / 2)) (1 / 2) (1 / 2) (twoStates 1 0)
    (twoStates 2 2) (twoStates (1 / 2) (1 / 2)) (by grind) (by grind) firstState_projection.1
    firstState_projection.2 (jump_modulus _ (by grind)) jump_fixed_points.1 jump_fixed_points.2
    (by apply twoStates_ext <;> simp [firstState, twoStates])
    (fun s a => by rw [near_iff]; unfold Within twoStates; split <;> grind)
  have h₁ := h' 1 ()
  rw [near_iff] at h₁
  simp [Within, twoStates] at h₁
  grind

/-- In the same example the corrected constant `2/(1 - γ)` is attained: every bound on the error of
`Q̂` is at least `2·(1/2)/(1 - 1/2)`. C17. -/
theorem factor_two_attained (ε : K)
    (h : near ε (twoStates 2 2 : Fin 2 → Unit → K) (twoStates 1 0)) :
    2 * (1 / 2) / (1 - 1 / 2) ≤ ε := by
  have h₁ := h 1 ()
  rw [near_iff] at h₁
  simp [Within, twoStates] at h₁
  grind

/-! ## Without non-expansiveness there is no bound -/

/-- `leastSquares` is what its name says: no multiple of `(1, 2)` has a smaller sum of squares. -/
theorem leastSquares_le (Q : Fin 2 → Unit → K) (θ : K) :
    (Q 0 () - leastSquares Q 0 ()) ^ 2 + (Q 1 () - leastSquares Q 1 ()) ^ 2 ≤
      (Q 0 () - θ) ^ 2 + (Q 1 () - 2 * θ) ^ 2 := by
  have e₀ : leastSquares Q 0 () = (Q 0 () + 2 * Q 1 ()) / 5 := by simp [leastSquares, twoStates]
  have e₁ : leastSquares Q 1 () = 2 * ((Q 0 () + 2 * Q 1 ()) / 5) := by
    simp [leastSquares, twoStates]
  rw [e₀, e₁]
  generalize Q 0 () = x
  generalize Q 1 () = y
  have := mul_self_nonneg ((x + 2 * y) / 5 - θ)
  grind

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- With no reward at all, one projected backup multiplies the weight `θ` of `(1, 2)` by `6γ/5`. -/
theorem leastSquares_jump (γ θ : K) :
    leastSquares (jump (fun _ _ => 0) γ (twoStates θ (2 * θ))) =
      twoStates (6 * γ / 5 * θ) (2 * (6 * γ / 5 * θ)) := by
  apply twoStates_ext <;> simp [leastSquares, jump, rev, twoStates] <;> grind

/-- At `γ = 5/6` every multiple of `(1, 2)` is a fixed point of the projected backup. C17. -/
theorem leastSquares_fixed (θ : K) :
    leastSquares (jump (fun _ _ => 0) (5 / 6) (twoStates θ (2 * θ))) = twoStates θ (2 * θ) := by
  rw [leastSquares_jump]
  congr 1 <;> grind

/-- So no multiple `C` of the best approximation error bounds the error of a fixed point: `Q* = 0`
is representable without error, and the fixed points lie at every distance from it. C17. -/
theorem leastSquares_no_bound :
    jump (fun _ _ => (0 : K)) (5 / 6) (twoStates 0 0) = twoStates 0 0 ∧
      leastSquares (twoStates 0 0 : Fin 2 → Unit → K) = twoStates 0 0 ∧
      ∀ C : K, ∃ Qh : Fin 2 → Unit → K,
        leastSquares (jump (fun _ _ => 0) (5 / 6) Qh) = Qh ∧
          ¬ near (C * 0) Qh (twoStates 0 0) := by
  refine ⟨?_, ?_, fun C => ⟨twoStates 1 (2 * 1), leastSquares_fixed 1, fun h => ?_⟩⟩
  · apply twoStates_ext <;> simp [jump, rev, twoStates] <;> grind
  · apply twoStates_ext <;> simp [leastSquares, twoStates] <;> grind
  · have h₀ := h 0 ()
    rw [near_iff] at h₀
    simp [Within, twoStates] at h₀
    grind

/-- At `γ = 9/10` the projected iteration diverges: after `n` steps the weight `θ` has grown to
`(27/25)ⁿ·θ`. C17. -/
theorem leastSquares_diverges (θ : K) : ∀ n : Nat,
    Nat.repeat (fun Q => leastSquares (jump (fun _ _ => 0) (9 / 10) Q)) n (twoStates θ (2 * θ)) =
      twoStates ((27 / 25) ^ n * θ) (2 * ((27 / 25) ^ n * θ))
  | 0 => by
    simp only [Nat.repeat, Semiring.pow_zero, Semiring.one_mul]
  | n + 1 => by
    simp only [Nat.repeat]
    rw [leastSquares_diverges θ n, leastSquares_jump, Semiring.pow_succ]
    congr 1 <;> grind

end RESAC
