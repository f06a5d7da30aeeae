module

public import RESAC.Contraction.Continuous

public section

/-!
# A continuous state space on which every hypothesis holds

The states are the numbers of `K` themselves, the actions are finitely many, and the dynamics are
continuous maps with random choice: from `s` the action `a` leads to `gᵢ(s)` with probability `wᵢ`.
Such a kernel has the Feller property: it maps continuous functions to continuous functions. If
rewards and penalties are bounded and continuous, so is every backup of such a function, and nothing
in `BackupOn` is left to assume.

## Main definitions
* `ContinuousFn f`, `BoundedFn f`, `Nice f`: continuity by `ε` and `δ`, boundedness, both.
* `feller w g`: the expectation of the random maps.

## Main statements (C12)
* `feller_backupOn`: the hypotheses of `BackupOn` hold for bounded continuous functions.
* `feller_contraction`: so the backup is a γ-contraction on them, over every ordered field.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

variable {K : Type u} [Field K] [LE K] [LT K]

/-- Continuity everywhere, by `ε` and `δ`. -/
@[expose] def ContinuousFn (f : K → K) : Prop :=
  ∀ x ε, 0 < ε → ∃ δ, 0 < δ ∧ ∀ y, Within δ x y → Within ε (f x) (f y)

/-- Boundedness. -/
@[expose] def BoundedFn (f : K → K) : Prop := ∃ B, ∀ x, Within B (f x) 0

/-- Bounded and continuous. -/
structure Nice (f : K → K) : Prop where
  /-- Continuous. -/
  continuous : ContinuousFn f
  /-- Bounded. -/
  bounded : BoundedFn f

/-- Random maps: the action `a` leads from `s` to `g a i s` with probability `w a i`. -/
@[expose] def feller {A : Type} {k : Nat} (w : A → Fin k → K) (g : A → Fin k → K → K) :
    K → A → (K → K) → K :=
  fun s a f => expect (w a) fun i => f (g a i s)

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {f f' : K → K}

/-! ## Closure -/

/-- Constants. -/
theorem Nice.const (c : K) : Nice fun _ => c where
  continuous x ε hε := ⟨1, OrderedRing.zero_lt_one, fun y _ => by unfold Within; grind⟩
  bounded := by
    rcases le_total (a := 0) (b := c) with h | h
    · exact ⟨c, fun _ => by unfold Within; grind⟩
    · exact ⟨-c, fun _ => by unfold Within; grind⟩

/-- Sums. -/
theorem Nice.add [DecidableLE K] (hf : Nice f) (hf' : Nice f') : Nice fun x => f x + f' x where
  continuous x ε hε := by
    obtain ⟨δ₁, h₁, k₁⟩ := hf.continuous x (ε / 2) (by grind)
    obtain ⟨δ₂, h₂, k₂⟩ := hf'.continuous x (ε / 2) (by grind)
    refine ⟨smaller δ₁ δ₂, by unfold smaller; split <;> grind, fun y hy => ?_⟩
    have a₁ := k₁ y (hy.mono (smaller_le_left δ₁ δ₂))
    have a₂ := k₂ y (hy.mono (smaller_le_right δ₁ δ₂))
    exact (a₁.add a₂).mono (by clear k₁ k₂; grind)
  bounded := by
    obtain ⟨B₁, h₁⟩ := hf.bounded
    obtain ⟨B₂, h₂⟩ := hf'.bounded
    exact ⟨B₁ + B₂, fun x => by
      have := (h₁ x).add (h₂ x)
      rwa [show (0 : K) + 0 = 0 by grind] at this⟩

/-- Negatives. -/
theorem Nice.neg (hf : Nice f) : Nice fun x => -f x where
  continuous x ε hε := by
    obtain ⟨δ, h, k⟩ := hf.continuous x ε hε
    exact ⟨δ, h, fun y hy => by have := k y hy; unfold Within at *; clear k; grind⟩
  bounded := by
    obtain ⟨B, h⟩ := hf.bounded
    exact ⟨B, fun x => by have := h x; unfold Within at *; clear h; grind⟩

/-- Multiples by a non-negative number. -/
theorem Nice.mul_left (hf : Nice f) {c : K} (hc : 0 ≤ c) : Nice fun x => c * f x where
  continuous x ε hε := by
    have h01 := OrderedRing.zero_lt_one (R := K)
    have hp : 0 < c + 1 := by grind
    have hi := inv_pos hp
    obtain ⟨δ, h, k⟩ := hf.continuous x (ε * (c + 1)⁻¹) (OrderedRing.mul_pos hε hi)
    refine ⟨δ, h, fun y hy => ((k y hy).mul_left hc).mono ?_⟩
    have h₁ := OrderedRing.mul_pos hε hi
    have e : c * (ε * (c + 1)⁻¹) + ε * (c + 1)⁻¹ = ε := by clear k h₁; grind
    clear k
    grind
  bounded := by
    obtain ⟨B, h⟩ := hf.bounded
    exact ⟨c * B, fun x => by
      have := (h x).mul_left hc
      rwa [show c * 0 = 0 by grind] at this⟩

/-- A continuous map inside. -/
theorem Nice.comp (hf : Nice f) {g : K → K} (hg : ContinuousFn g) : Nice fun x => f (g x) where
  continuous x ε hε := by
    obtain ⟨δ, h, k⟩ := hf.continuous (g x) ε hε
    obtain ⟨δ', h', k'⟩ := hg x δ h
    exact ⟨δ', h', fun y hy => k _ (k' y hy)⟩
  bounded := by
    obtain ⟨B, h⟩ := hf.bounded
    exact ⟨B, fun x => h (g x)⟩

/-- The larger of two. -/
theorem Nice.larger [DecidableLE K] (hf : Nice f) (hf' : Nice f') :
    Nice fun x => RESAC.larger (f x) (f' x) where
  continuous x ε hε := by
    obtain ⟨δ₁, h₁, k₁⟩ := hf.continuous x ε hε
    obtain ⟨δ₂, h₂, k₂⟩ := hf'.continuous x ε hε
    refine ⟨smaller δ₁ δ₂, by unfold smaller; split <;> grind, fun y hy => ?_⟩
    have a₁ := k₁ y (hy.mono (smaller_le_left δ₁ δ₂))
    have a₂ := k₂ y (hy.mono (smaller_le_right δ₁ δ₂))
    clear k₁ k₂
    unfold Within RESAC.larger at *
    grind
  bounded := by
    obtain ⟨B₁, h₁⟩ := hf.bounded
    obtain ⟨B₂, h₂⟩ := hf'.bounded
    refine ⟨B₁ + B₂, fun x => ?_⟩
    have a₁ := h₁ x
    have a₂ := h₂ x
    have b₁ := a₁.nonneg
    have b₂ := a₂.nonneg
    clear h₁ h₂
    unfold Within RESAC.larger at *
    grind

/-- The largest of finitely many. -/
theorem Nice.fmax [DecidableLE K] : ∀ {m : Nat} {F : Fin (m + 1) → K → K}, (∀ a, Nice (F a)) →
    Nice fun x => RESAC.fmax fun a => F a x
  | 0, _, h => h 0
  | _ + 1, _, h => (h 0).larger (Nice.fmax fun a => h a.succ)

/-- Weighted sums, with non-negative weights. -/
theorem Nice.expect [DecidableLE K] : ∀ {k : Nat} {w : Fin k → K} {F : Fin k → K → K},
    (∀ i, 0 ≤ w i) → (∀ i, Nice (F i)) → Nice fun x => RESAC.expect w fun i => F i x
  | 0, _, _, _, _ => Nice.const 0
  | _ + 1, _, _, hw, h =>
    ((h 0).mul_left (hw 0)).add (Nice.expect (fun i => hw i.succ) fun i => h i.succ)

/-! ## The backup -/

variable [DecidableLE K] {k m : Nat} {w : Fin (m + 1) → Fin k → K}
variable {g : Fin (m + 1) → Fin k → K → K} {R pen : K → Fin (m + 1) → K} {γ : K}

/-- **All hypotheses hold**: continuous dynamics with random choice, bounded continuous rewards and
penalties, the maximum over finitely many actions. `𝒬` is the class of Q-functions that are bounded
and continuous in the state. Appendix E, Theorem (Continuous-Space Extension); C12. -/
theorem feller_backupOn (hγ : 0 ≤ γ) (hw : ∀ a, IsProb (w a)) (hg : ∀ a i, ContinuousFn (g a i))
    (hR : ∀ a, Nice fun s => R s a) (hpen : ∀ a, Nice fun s => pen s a) :
    BackupOn (fun Q : K → Fin (m + 1) → K => ∀ a, Nice fun s => Q s a) (fun _ _ => True) Nice R γ
      (feller w g) maxV pen where
  closedA _ := ⟨fun _ _ _ => trivial⟩
  closedS := ⟨fun _ c hf => hf.add (Nice.const c)⟩
  sections _ _ _ := trivial
  values Q hQ := Nice.fmax (F := fun a s => Q s a) hQ
  maps Q hQ a := by
    have hv : Nice fun s => RESAC.fmax (Q s) := Nice.fmax (F := fun a s => Q s a) hQ
    have hE : Nice fun s => feller w g s a fun s' => RESAC.fmax (Q s') :=
      Nice.expect (hw a).nonneg fun i => hv.comp (hg a i)
    have h := (hR a).add ((hE.add (hpen a).neg).mul_left hγ)
    have e : (fun s => rev R γ (feller w g) maxV pen Q s a) =
        fun s => R s a + γ * (feller w g s a (fun s' => RESAC.fmax (Q s')) + -pen s a) := by
      funext s
      unfold rev maxV
      grind
    rw [e]
    exact h
  expectation s a :=
    (Monetary.mixture (hw a) fun i => Monetary.eval (g a i s)).on Nice
  functional s := (maxV_monetary s).on _

/-- **The γ-contraction on a continuous state space**, with no hypothesis left, over every ordered
field. (The fixed point needs completeness: `BackupOn.exists_unique`.) C12. -/
theorem feller_contraction (hγ : 0 ≤ γ) (hw : ∀ a, IsProb (w a))
    (hg : ∀ a i, ContinuousFn (g a i)) (hR : ∀ a, Nice fun s => R s a)
    (hpen : ∀ a, Nice fun s => pen s a) {Q₁ Q₂ : K → Fin (m + 1) → K} {ε : K}
    (h₁ : ∀ a, Nice fun s => Q₁ s a) (h₂ : ∀ a, Nice fun s => Q₂ s a) (hε : near ε Q₁ Q₂) :
    near (γ * ε) (rev R γ (feller w g) maxV pen Q₁) (rev R γ (feller w g) maxV pen Q₂) :=
  (feller_backupOn hγ hw hg hR hpen).contraction hγ h₁ h₂ hε

end RESAC
