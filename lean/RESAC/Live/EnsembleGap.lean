module

public import RESAC.Live.Ensemble

public section

/-!
# Two live heads, penalised by their distance

With two heads the ensemble's standard deviation is their distance `|q₀ - q₁|`, up to a factor
(`isStd_two` in `RESAC.Live.EnsembleStd`). A penalty of `β` times this distance, `β = λ/√2` for the
sample standard deviation and `β = λ/2` for the population's, has known exact moduli, so that a live
standard-deviation penalty has a finite threshold where a live variance has none.

## Main definitions
* `gapPen β q`: the penalty `β·|q₀ - q₁|`.

## Main statements (C16)
* `gap_headTarget_exactModulus`: per-head target `q_k - β·|q₀ - q₁|`: exactly `γ·(1 + 2β)`.
* `gap_meanTarget_exactModulus`: mean target: exactly `γ·max(1, 2β)`.
* `gap_headTarget_contracts_iff`, `gap_meanTarget_contracts_iff`: the thresholds `2β < 1/γ - 1` and
  `2β < 1/γ`.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K] [LE K]

/-- Two heads: `β` times their distance. -/
@[expose] def gapPen [DecidableLE K] (β : K) (q : Fin 2 → K) : K := β * mag (q 0 - q 1)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {γ β ε : K}

/-- The two heads' distance changes by at most `2ε`. -/
theorem gapPen_within (hβ : 0 ≤ β) {q q' : Fin 2 → K} (h : ∀ i, Within ε (q i) (q' i)) :
    Within (2 * β * ε) (gapPen β q) (gapPen β q') := by
  have h' := (Within.mag ((h 0).sub (h 1))).mul_left hβ
  have e : β * (ε + ε) = 2 * β * ε := by grind
  rwa [e] at h'

/-- Two live heads, per-head target `q_k - β·|q₀ - q₁|`: the modulus is exactly `γ·(1 + 2β)`. So it
contracts iff `2β < 1/γ - 1`. Section 4.4 and Appendix E, (S3); C16. -/
theorem gap_headTarget_exactModulus (R : K) (hγ : 0 ≤ γ) (hβ : 0 ≤ β) :
    ExactModulus (headTarget R γ (gapPen β)) (γ * (1 + 2 * β)) where
  holds ε q q' h i := by
    have h' := within_backup (R := R) hγ (h i) (gapPen_within hβ h)
    have e : γ * (1 + 2 * β) * ε = γ * (ε + 2 * β * ε) := by grind
    rw [e]
    exact h'
  least c h := by
    refine h.le_of_pair (fun _ => 0) (fun i => if i = 0 then -1 else 1) (fun i => ?_)
      (fun ε h' => ?_)
    · rw [near_iff]; unfold Within; grind
    · have h₀ := h' 0
      have e : mag ((0 : K) - 0) = 0 := by unfold mag; grind
      have e' : mag ((-1 : K) - 1) = 2 := by unfold mag; grind
      rw [near_iff] at h₀
      simp [headTarget, gapPen, Within, e, e'] at h₀
      grind

/-- Two live heads, per-head target: a contraction iff `2β < 1/γ - 1`. C16. -/
theorem gap_headTarget_contracts_iff (R : K) (hγ : 0 < γ) (hβ : 0 ≤ β) :
    Contracts K (headTarget R γ (gapPen β)) ↔ 2 * β < 1 / γ - 1 :=
  (gap_headTarget_exactModulus R (by grind) hβ).contracts_iff.trans (live_threshold hγ)

/-- Two live heads, target of the mean head: the modulus is exactly `γ·max(1, 2β)`. As long as
`2β ≤ 1` the live penalty costs nothing. Section 4.4 and Appendix E, (S3); C16. -/
theorem gap_meanTarget_exactModulus (R : K) (hγ : 0 ≤ γ) (hβ : 0 ≤ β) :
    ExactModulus (meanTarget R γ (gapPen β)) (γ * larger 1 (2 * β)) where
  holds ε q q' h := by
    have hM₁ := le_larger_left 1 (2 * β)
    have hM₂ := le_larger_right 1 (2 * β)
    generalize larger 1 (2 * β) = M at *
    have key : ∀ p p' : Fin 2 → K, (∀ i, Within ε (p i) (p' i)) →
        (p 0 + p 1) / 2 - β * mag (p 0 - p 1) ≤ (p' 0 + p' 1) / 2 - β * mag (p' 0 - p' 1)
          + M * ε := by
      intro p p' hp
      have h₀ := hp 0
      have h₁ := hp 1
      unfold Within at h₀ h₁
      -- `a` moves the mean, `b` moves the gap; together they are at most `ε`
      have hb₁ : mag (p' 0 - p' 1) ≤ mag (p 0 - p 1)
          + 2 * mag ((p 0 - p' 0 - (p 1 - p' 1)) / 2) := by
        unfold mag; grind
      have hab : mag ((p 0 - p' 0 + (p 1 - p' 1)) / 2) + mag ((p 0 - p' 0 - (p 1 - p' 1)) / 2)
          ≤ ε := by unfold mag; grind
      have ha : (p 0 + p 1) / 2 ≤ (p' 0 + p' 1) / 2
          + mag ((p 0 - p' 0 + (p 1 - p' 1)) / 2) := by unfold mag; grind
      have ha₀ := mag_nonneg ((p 0 - p' 0 + (p 1 - p' 1)) / 2)
      have hb₀ := mag_nonneg ((p 0 - p' 0 - (p 1 - p' 1)) / 2)
      generalize mag ((p 0 - p' 0 + (p 1 - p' 1)) / 2) = a at *
      generalize mag ((p 0 - p' 0 - (p 1 - p' 1)) / 2) = b at *
      have m₁ := mul_le_mul_left hb₁ hβ
      have m₂ := mul_le_mul_left hab (by grind : 0 ≤ M)
      have m₃ := mul_le_mul_right hM₁ ha₀
      have m₄ := mul_le_mul_right hM₂ hb₀
      generalize mag (p 0 - p 1) = g at *
      generalize mag (p' 0 - p' 1) = g' at *
      clear hb₁ hab h₀ h₁ hp h
      grind
    have hw : Within (M * ε) (ensembleMean q - gapPen β q) (ensembleMean q' - gapPen β q') := by
      have e : ∀ p : Fin 2 → K, ensembleMean p = (p 0 + p 1) / 2 := by
        intro p
        have e : fsum p = p 0 + (p 1 + 0) := rfl
        unfold ensembleMean; rw [e]; grind
      rw [e q, e q']
      exact ⟨key q q' h, key q' q (fun i => near_symm (h i))⟩
    have h' := (hw.mul_left hγ).add_left R
    rwa [← Semiring.mul_assoc] at h'
  least c h := by
    have e₂ : ∀ x y : K, ensembleMean (fun i : Fin 2 => if i = 0 then x else y) = (x + y) / 2 := by
      intro x y
      have e : fsum (fun i : Fin 2 => if i = 0 then x else y) = x + (y + 0) := rfl
      unfold ensembleMean; rw [e]; grind
    have e : ∀ x y : K, meanTarget R γ (gapPen β) (fun i => if i = 0 then x else y) =
        R + γ * ((x + y) / 2 - β * mag (x - y)) := by
      intro x y
      unfold meanTarget; rw [e₂]; rfl
    have m₀ : mag ((0 : K) - 0) = 0 := by unfold mag; grind
    have m₁ : mag ((-1 : K) - -1) = 0 := by unfold mag; grind
    have m₂ : mag ((-1 : K) - 1) = 2 := by unfold mag; grind
    have near₁ : ∀ x y : K, Within 1 0 x → Within 1 0 y →
        near (1 : K) (fun i : Fin 2 => if i = 0 then (0 : K) else 0)
          (fun i : Fin 2 => if i = 0 then x else y) := by
      intro x y hx hy i
      rw [near_iff]; unfold Within at *; grind
    have h₁ : γ ≤ c := h.le_of_pair _ _ (near₁ (-1) (-1) (by unfold Within; grind)
      (by unfold Within; grind)) (fun ε h' => by
        rw [near_iff, e, e, m₀, m₁] at h'; unfold Within at h'; grind)
    have h₂ : γ * (2 * β) ≤ c := h.le_of_pair _ _ (near₁ (-1) 1 (by unfold Within; grind)
      (by unfold Within; grind)) (fun ε h' => by
        rw [near_iff, e, e, m₀, m₂] at h'; unfold Within at h'; grind)
    unfold larger
    split <;> grind

/-- Two live heads, target of the mean head: for `0 < γ < 1` a contraction iff `2β < 1/γ`. C16. -/
theorem gap_meanTarget_contracts_iff (R : K) (hγ : 0 < γ) (hγ₁ : γ < 1) (hβ : 0 ≤ β) :
    Contracts K (meanTarget R γ (gapPen β)) ↔ 2 * β < 1 / γ := by
  rw [(gap_meanTarget_exactModulus R (by grind) hβ).contracts_iff]
  have h := live_threshold (lam := 2 * β - 1) hγ
  have e : γ * (1 + (2 * β - 1)) = γ * (2 * β) := by clear h; grind
  rw [e] at h
  have h' : 2 * β < 1 / γ ↔ γ * (2 * β) < 1 := by
    rw [h]; generalize 1 / γ = g; clear h; grind
  rw [h']
  unfold larger
  split
  · rfl
  · have := mul_le_mul_left (c := γ) (by grind : 2 * β ≤ 1) (by grind)
    clear h h'
    grind

end RESAC
