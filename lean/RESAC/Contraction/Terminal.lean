module

public import RESAC.Contraction.Blackwell

public section

/-!
# Terminal states: discounting fails, contraction survives

Every implementation masks the bootstrap at the end of an episode, `r + γ·(1 - done)·(…)`. A masked
expectation is no longer translation-equivariant, so the paper's Lemma (Discounting) fails. The
inequality `V (f + c) ≤ V f + c` for `c ≥ 0` remains, and it is all that Blackwell's theorem needs.

## Main definitions
* `SubMonetary V`: monotone, and a constant added to the argument adds at most itself to the value.
  (Risk theory calls this *cash-subadditive*.)
* `maskE cont E`: the expectation `E`, weighted by the probability `cont s a` that the episode
  continues; a done mask is the case `cont ∈ {0, 1}`.
* `revDone`: the masked backup `R + γ·cont·(E V Q - pen)`.

## Main statements
* `SubMonetary.within`: sub-monetary functionals are non-expansive.
* `rev_blackwell_of_subMonetary`, `revDone_contraction`: masked backups are monotone γ-contractions
  (C10).
* `pin_subMonetary`: the same for a terminal state whose value is pinned to zero.
* `revDone_discount_fails`, `pin_discount_fails`: the paper's Lemma (Discounting) fails at a done pair
  and at a pair that leads into a pinned state (C10).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

/-- A functional is *sub-monetary* if it is monotone and a non-negative constant added to the
argument raises the value by at most that constant. -/
structure SubMonetary {K : Type u} [Field K] [LE K] {X : Type v} (V : (X → K) → K) : Prop where
  /-- A pointwise larger argument has a larger value. -/
  mono : ∀ f g : X → K, (∀ x, f x ≤ g x) → V f ≤ V g
  /-- A constant raises the value by at most itself. -/
  translate_le : ∀ (f : X → K) (c : K), 0 ≤ c → V (fun x => f x + c) ≤ V f + c

section Definitions

variable {K : Type u} [Field K] {S : Type v} {A : Type w}

/-- The expectation `E` weighted by the continuation `cont s a`. -/
@[expose] def maskE (cont : S → A → K) (E : S → A → (S → K) → K) : S → A → (S → K) → K :=
  fun s a f => cont s a * E s a f

/-- The masked REV backup: `R + γ·cont·(E V Q - pen)`, where `cont s a` is `0` at a terminal pair
and `1` elsewhere. -/
@[expose] def revDone (R : S → A → K) (γ : K) (cont : S → A → K) (E : S → A → (S → K) → K)
    (V : S → (A → K) → K) (pen : S → A → K) (Q : S → A → K) : S → A → K :=
  fun s a => R s a + γ * (cont s a * (E s a (fun s' => V s' (Q s')) - pen s a))

/-- A masked backup is a REV backup with a masked expectation and a masked penalty. -/
theorem revDone_eq_rev (R : S → A → K) (γ : K) (cont : S → A → K) (E : S → A → (S → K) → K)
    (V : S → (A → K) → K) (pen : S → A → K) :
    revDone R γ cont E V pen = rev R γ (maskE cont E) V fun s a => cont s a * pen s a := by
  funext Q s a
  unfold revDone rev maskE; grind

/-- The value functional `V`, pinned to zero at the states that `terminal` marks. -/
@[expose] def pinV (terminal : S → Prop) [DecidablePred terminal] (V : S → (A → K) → K) :
    S → (A → K) → K :=
  fun s q => if terminal s then 0 else V s q

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {S : Type v} {A : Type w} {X : Type v} {Y : Type w} {V : (X → K) → K}

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- A monetary functional is sub-monetary. -/
theorem Monetary.subMonetary (hV : Monetary V) : SubMonetary V where
  mono := hV.mono
  translate_le f c _ := by rw [hV.translate]; exact le_refl _

/-- A constant functional is sub-monetary: the value of a terminal state. -/
theorem SubMonetary.const (b : K) : SubMonetary fun _ : X → K => b where
  mono _ _ _ := le_refl b
  translate_le _ _ _ := by grind

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- **A sub-monetary functional is non-expansive.** -/
theorem SubMonetary.within (hV : SubMonetary V) {f g : X → K} {ε : K} (hε : 0 ≤ ε)
    (h : ∀ x, Within ε (f x) (g x)) : Within ε (V f) (V g) :=
  ⟨le_trans (hV.mono f (fun x => g x + ε) fun x => (h x).1) (hV.translate_le g ε hε),
    le_trans (hV.mono g (fun x => f x + ε) fun x => (h x).2) (hV.translate_le f ε hε)⟩

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- Sub-monetary functionals compose. -/
theorem SubMonetary.comp {U : (Y → K) → K} {W : Y → (X → K) → K} (hU : SubMonetary U)
    (hW : ∀ y, SubMonetary (W y)) : SubMonetary fun f => U fun y => W y f where
  mono f g h := hU.mono _ _ fun y => (hW y).mono f g h
  translate_le f c hc :=
    le_trans (hU.mono _ _ fun y => (hW y).translate_le f c hc) (hU.translate_le _ c hc)

/-- A weight in `[0, 1]` keeps a functional sub-monetary. -/
theorem SubMonetary.mask (hV : SubMonetary V) {t : K} (h₀ : 0 ≤ t) (h₁ : t ≤ 1) :
    SubMonetary fun f => t * V f where
  mono f g h := mul_le_mul_left (hV.mono f g h) h₀
  translate_le f c hc := by
    have h₂ := mul_le_mul_left (hV.translate_le f c hc) h₀
    have h₃ := mul_le_mul_right h₁ hc
    grind

variable {R : S → A → K} {γ : K} {E : S → A → (S → K) → K} {V : S → (A → K) → K}
variable {pen cont : S → A → K}

/-- A pinned value functional is sub-monetary. C10. -/
theorem pin_subMonetary {terminal : S → Prop} [DecidablePred terminal]
    (hV : ∀ s, SubMonetary (V s)) (s : S) : SubMonetary (pinV terminal V s) := by
  unfold pinV
  split
  · exact SubMonetary.const 0
  · exact hV s

/-- The REV operator meets Blackwell's conditions for all sub-monetary functionals, so it is a
γ-contraction by `Blackwell.modulus`. C10, C11. -/
theorem rev_blackwell_of_subMonetary (hγ : 0 ≤ γ) (hE : ∀ s a, SubMonetary (E s a))
    (hV : ∀ s, SubMonetary (V s)) : Blackwell (rev R γ E V pen) γ where
  mono Q₁ Q₂ h s a := by
    have h₁ := (hE s a).mono _ _ fun s' => (hV s').mono _ _ (h s')
    have h₂ := mul_le_mul_left h₁ hγ
    unfold rev; grind
  discount Q c hc s a := by
    have h₁ := le_trans ((hE s a).mono _ _ fun s' => (hV s').translate_le (Q s') c hc)
      ((hE s a).translate_le _ c hc)
    have h₂ := mul_le_mul_left h₁ hγ
    unfold rev; grind

/-- The masked backup meets Blackwell's conditions. C10. -/
theorem revDone_blackwell (hγ : 0 ≤ γ) (h₀ : ∀ s a, 0 ≤ cont s a) (h₁ : ∀ s a, cont s a ≤ 1)
    (hE : ∀ s a, SubMonetary (E s a)) (hV : ∀ s, SubMonetary (V s)) :
    Blackwell (revDone R γ cont E V pen) γ := by
  rw [revDone_eq_rev]
  exact rev_blackwell_of_subMonetary hγ (fun s a => (hE s a).mask (h₀ s a) (h₁ s a)) hV

/-- **The masked backup is a γ-contraction**, although it does not discount constants. C10, C11. -/
theorem revDone_contraction (hγ : 0 ≤ γ) (h₀ : ∀ s a, 0 ≤ cont s a) (h₁ : ∀ s a, cont s a ≤ 1)
    (hE : ∀ s a, SubMonetary (E s a)) (hV : ∀ s, SubMonetary (V s)) {Q₁ Q₂ : S → A → K} {ε : K}
    (h : ∀ s a, Within ε (Q₁ s a) (Q₂ s a)) (s : S) (a : A) :
    Within (γ * ε) (revDone R γ cont E V pen Q₁ s a) (revDone R γ cont E V pen Q₂ s a) :=
  (revDone_blackwell hγ h₀ h₁ hE hV).modulus ε Q₁ Q₂ h s a

/-- **Under a done mask the Lemma (Discounting) fails.** At a terminal pair the backup of `Q + c` is
the backup of `Q`; the lemma would have it differ by `γ·c`. C10. -/
theorem revDone_discount_fails (Q : S → A → K) (c : K) (s : S) (a : A) (hdone : cont s a = 0)
    (hγ : γ ≠ 0) (hc : c ≠ 0) :
    revDone R γ cont E V pen (fun s a => Q s a + c) s a = revDone R γ cont E V pen Q s a ∧
      revDone R γ cont E V pen (fun s a => Q s a + c) s a
        ≠ revDone R γ cont E V pen Q s a + γ * c := by
  unfold revDone
  rw [hdone]
  grind

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- **With a pinned terminal state the Lemma (Discounting) fails as well.** At a pair that leads
into a state `t` whose value is pinned to zero, the backup of `Q + c` is the backup of `Q`. C10. -/
theorem pin_discount_fails {terminal : S → Prop} [DecidablePred terminal] (Q : S → A → K) (c : K)
    (s : S) (a : A) {t : S} (ht : terminal t) (hE : ∀ f, E s a f = f t) (hγ : γ ≠ 0)
    (hc : c ≠ 0) :
    rev R γ E (pinV terminal V) pen (fun s a => Q s a + c) s a =
        rev R γ E (pinV terminal V) pen Q s a ∧
      rev R γ E (pinV terminal V) pen (fun s a => Q s a + c) s a ≠
        rev R γ E (pinV terminal V) pen Q s a + γ * c := by
  have e : ∀ q, pinV terminal V t q = 0 := fun q => if_pos ht
  unfold rev
  rw [hE, hE, e, e]
  grind

end RESAC
