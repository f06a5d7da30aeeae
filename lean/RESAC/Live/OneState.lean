module

public import RESAC.Live.EnsembleStd

public section

/-!
# The line is a Markov decision process

The examples on a line, `normBackup`, `headTarget` and those that attain the bounds of
`RESAC.Errors.ApproxContraction`, are backups of the MDP with one state and one action. Here they are
instances of the operators themselves.

## Main statements
* `rev_one_state`: on one state and one action the REV backup is `R + γ·(q - pen)`.
* `normBackup_eq_revLive`, `headTarget_eq_ensembleBackup`: so are the live examples.
* `ensembleBackup_variance_not_modulus`: the live variance penalty has no modulus as an operator on
  ensembles of Q-functions (C15).
* `populationStd_two`: two heads with the population's standard deviation (C16).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

attribute [local instance] Semiring.natCast

variable {K : Type u} [Field K]

/-- The backup of one state with one action. -/
theorem rev_one_state (R γ pen q : K) :
    rev (fun _ _ => R) γ (fun _ _ f => f ()) (fun _ v => v ()) (fun _ _ => pen) (fun _ _ => q) =
      fun (_ _ : Unit) => R + γ * (q - pen) := rfl

/-- `headTarget` is the ensemble backup of one state with one action. -/
theorem headTarget_eq_ensembleBackup {n : Nat} (R γ : K) (pen : (Fin n → K) → K) (q : Fin n → K) :
    ensembleBackup (fun _ _ => R) γ (fun _ _ f => f ()) (fun _ v => v ()) pen (fun i _ _ => q i) =
      fun i (_ _ : Unit) => headTarget R γ pen q i := rfl

variable [LE K]

/-- `normBackup` is the backup of one state with one action and the live norm penalty. -/
theorem normBackup_eq_revLive [DecidableLE K] (R γ lam q : K) :
    revLive (fun _ _ => R) γ (fun _ _ f => f ()) (fun _ v => v ()) (normPen lam) (fun _ _ => q) =
      fun (_ _ : Unit) => normBackup R γ lam q := rfl

variable [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- **The live variance penalty has no modulus**, as an operator on ensembles of Q-functions: for
every `γ, λ > 0` and every number `n ≥ 2` of heads one state and one action are enough. Section 4.4
and Appendix E, (S3); C15. -/
theorem ensembleBackup_variance_not_modulus {γ lam : K} (hγ : 0 < γ) (hlam : 0 < lam) {n : Nat}
    (hn : 2 ≤ n) (R c : K) :
    ¬ Modulus (ensembleBackup (n := n) (fun (_ _ : Unit) => R) γ (fun _ _ f => f ())
      (fun _ v => v ()) fun q => lam * ensembleVar q) c := fun hm =>
  (variance_not_modulus hγ hlam hn R c).1 fun ε q q' h i =>
    hm ε (fun i _ _ => q i) (fun i _ _ => q' i) (fun i _ _ => h i) i () ()

/-- With two heads a penalty of `λ` standard deviations of the *population*, which divide by two, is
the gap penalty with `β = λ/2`. C16. -/
theorem populationStd_two [DecidableLE K] {lam s : K} {q : Fin 2 → K} (hs : 0 ≤ s)
    (hs₂ : s ^ 2 = fsum (fun i => (q i - ensembleMean q) ^ 2) / ((2 : Nat) : K)) :
    lam * s = gapPen (lam / 2) q := by
  have e : ensembleMean q = (q 0 + q 1) / 2 := by
    have e : fsum q = q 0 + (q 1 + 0) := rfl
    unfold ensembleMean; rw [e]; grind
  have e' : fsum (fun i => (q i - (q 0 + q 1) / 2) ^ 2) =
    (q 0 - (q 0 + q 1) / 2) ^ 2 + ((q 1 - (q 0 + q 1) / 2) ^ 2 + 0) := rfl
  rw [e, e'] at hs₂
  have hm := mag_nonneg (q 0 - q 1)
  have hm₂ : mag (q 0 - q 1) ^ 2 = (q 0 - q 1) ^ 2 := by unfold mag; split <;> grind
  have e₂ : (2 * s) ^ 2 = mag (q 0 - q 1) ^ 2 := by rw [hm₂]; clear hm₂ hm; grind
  have h₁ := within_zero_of_sq_le (by grind : 0 ≤ 2 * s)
    (by rw [e₂]; exact le_refl _ : mag (q 0 - q 1) ^ 2 ≤ _)
  have h₂ := within_zero_of_sq_le hm (by rw [e₂]; exact le_refl _ : (2 * s) ^ 2 ≤ _)
  have h : mag (q 0 - q 1) = 2 * s := by unfold Within at h₁ h₂; grind
  unfold gapPen
  rw [h]
  clear hs₂ hm₂ e₂ e e' h₁ h₂
  grind

end RESAC
