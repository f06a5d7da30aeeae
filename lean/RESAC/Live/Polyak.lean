module

public import RESAC.Live.Penalty

public section

/-!
# Averaged target networks

RE-SAC's target networks are not copied every `N` steps (`RESAC.Live.TargetNetworks`): after every
step each moves a part `τ` of the way to the trained network. If that network meets its target
exactly, the target table goes from `Q` to `(1 - τ)·Q + τ·T Q`, where `T` computes the penalty from
the target table itself: for the target table the penalty is live.

## Main definitions
* `polyak τ T`: the averaged backup.

## Main statements (C46)
* `polyak_norm_exactModulus`: exact modulus `1 - τ + τ·γ·(1 + λ)` under the norm penalty.
* `polyak_norm_contracts_iff`: for every `τ ∈ (0, 1]` the threshold is `λ < 1/γ - 1`.
* `polyak_fixed_iff`: averaging moves no fixed point.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

/-- Polyak averaging: the target table moves the part `τ` of the way to its backup. -/
@[expose] def polyak {K : Type u} [Field K] {S : Type v} {A : Type w} (τ : K)
    (T : (S → A → K) → S → A → K) (Q : S → A → K) : S → A → K :=
  fun s a => (1 - τ) * Q s a + τ * T Q s a

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {S : Type v} {A : Type w} {R : S → A → K} {γ τ lam : K}
variable {E : S → A → (S → K) → K} {V : S → (A → K) → K}

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- Averaging moves no fixed point. C46. -/
theorem polyak_fixed_iff (hτ : τ ≠ 0) (T : (S → A → K) → S → A → K) (Q : S → A → K) :
    polyak τ T Q = Q ↔ T Q = Q := by
  constructor
  · intro h
    funext s a
    have := congrFun (congrFun h s) a
    unfold polyak at this
    grind
  · intro h
    funext s a
    unfold polyak
    rw [h]
    grind

/-- A modulus `c` becomes the mean `1 - τ + τ·c`. -/
theorem polyak_modulus {T : (S → A → K) → S → A → K} {c : K} (h₀ : 0 ≤ τ) (h₁ : τ ≤ 1)
    (hT : Modulus T c) : Modulus (polyak τ T) (1 - τ + τ * c) := fun ε Q₁ Q₂ h s a => by
  have a₁ : Within ε (Q₁ s a) (Q₂ s a) := h s a
  have a₂ : Within (c * ε) (T Q₁ s a) (T Q₂ s a) := hT ε Q₁ Q₂ h s a
  have b := (a₁.mul_left (show 0 ≤ 1 - τ by grind)).add (a₂.mul_left h₀)
  have e : (1 - τ + τ * c) * ε = (1 - τ) * ε + τ * (c * ε) := by clear a₁ a₂ b h; grind
  rw [e]
  exact b

/-- **Averaged target networks under the norm penalty**: exact modulus `1 - τ + τ·γ·(1 + λ)`.
Section 4 and Appendix E, (S3): "frozen (EMA-lagged) copies"; C46. -/
theorem polyak_norm_exactModulus [DecidableLE K] [Nonempty S] [Nonempty A] (hγ : 0 ≤ γ)
    (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) (hlam : 0 ≤ lam) (h₀ : 0 ≤ τ)
    (h₁ : τ ≤ 1) :
    ExactModulus (polyak τ (revLive R γ E V (normPen lam))) (1 - τ + τ * (γ * (1 + lam))) where
  holds := polyak_modulus h₀ h₁ (revLive_modulus hγ hE hV (normPen_modulus hlam))
  least c' h := by
    refine h.le_of_pair (fun _ _ => 0) (fun _ _ => 0 + -1) (fun s a => ?_) (fun ε h' => ?_)
    · rw [near_iff]; unfold Within; grind
    · have h' := h' (Classical.choice inferInstance) (Classical.choice inferInstance)
      rw [near_iff] at h'
      unfold polyak revLive at h'
      rw [normPen_neg_one, rev_add_const hE hV] at h'
      unfold Within at h'
      grind

/-- **Averaged target networks do not move the threshold**: for every `τ ∈ (0, 1]` the averaged
backup with the norm penalty contracts iff `λ < 1/γ - 1`. C46. -/
theorem polyak_norm_contracts_iff [DecidableLE K] [Nonempty S] [Nonempty A] (hγ : 0 < γ)
    (hE : ∀ s a, Monetary (E s a)) (hV : ∀ s, Monetary (V s)) (hlam : 0 ≤ lam) (h₀ : 0 < τ)
    (h₁ : τ ≤ 1) :
    Contracts K (polyak τ (revLive R γ E V (normPen lam))) ↔ lam < 1 / γ - 1 := by
  rw [(polyak_norm_exactModulus (R := R) (by grind) hE hV hlam (by grind) h₁).contracts_iff,
    ← live_threshold hγ]
  constructor
  · intro h
    false_or_by_contra
    rename_i hn
    have := mul_le_mul_left (show 1 ≤ γ * (1 + lam) by grind) (show 0 ≤ τ by grind)
    grind
  · intro h
    have := OrderedRing.mul_lt_mul_of_pos_left h h₀
    grind

end RESAC
