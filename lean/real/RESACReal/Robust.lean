module

public import RESACReal.Contraction
public import RESAC.Robust.WorstCase
public import Mathlib.Data.Real.Archimedean
public import Mathlib.Order.ConditionallyCompleteLattice.Indexed

public section

/-!
# Robust backups over `ℝ`: every uncertainty set

Over `ℝ` the worst case over any non-empty set of probability vectors exists, as an infimum. So the
robust theorem holds for every rectangular set, with nothing assumed of it. Section 3.2; C03.

## Main definitions
* `worst U`: the infimum of the expectations over the members of `U s a`.

## Main statements
* `worst_isWorstCase`: it is the worst case.
* `robust_contractingWith`, `robust_existsUnique`: contraction, and exactly one fixed point (C03).
-/

noncomputable section

namespace RESAC.Reals

universe v

variable {n : Nat} {A : Type v}

/-- The worst case over a rectangular set: the infimum of the expectations. -/
@[expose] def worst (U : Fin (n + 1) → A → (Fin (n + 1) → Real) → Prop) (s : Fin (n + 1)) (a : A)
    (f : Fin (n + 1) → Real) : Real :=
  iInf fun p : {p : Fin (n + 1) → Real // U s a p} => expect p.1 f

variable {U : Fin (n + 1) → A → (Fin (n + 1) → Real) → Prop}

/-- Over `ℝ` **every non-empty set of probability vectors has a worst case**. Section 3.2; C03. -/
theorem worst_isWorstCase (hU : ∀ s a p, U s a p → IsProb p) (hne : ∀ s a, ∃ p, U s a p) :
    IsWorstCase U (worst U) := fun s a => by
  obtain ⟨p₀, h₀⟩ := hne s a
  have : Nonempty {p : Fin (n + 1) → Real // U s a p} := ⟨⟨p₀, h₀⟩⟩
  refine ⟨fun p f => ?_, fun f b hb => le_ciInf hb⟩
  refine ciInf_le (f := fun p : {p : Fin (n + 1) → Real // U s a p} => expect p.1 f) ?_ p
  refine ⟨fmin f, ?_⟩
  rintro _ ⟨q, rfl⟩
  exact fmin_le_expect (hU s a q.1 q.2)

variable [Fintype A] (R pen : Fin (n + 1) → A → Real) {γ : NNReal}
variable {V : Fin (n + 1) → (A → Real) → Real}

/-- **The robust backup is `ContractingWith γ`**, for every such set. Section 3.2, Iyengar; C03. -/
theorem robust_contractingWith (hU : ∀ s a p, U s a p → IsProb p) (hne : ∀ s a, ∃ p, U s a p)
    (hγ : γ < 1) (hV : ∀ s, Monetary (V s)) :
    ContractingWith γ (rev R (γ : Real) (worst U) V pen) :=
  rev_contractingWith R pen hγ (fun s a => (worst_isWorstCase hU hne).monetary hU s a) hV

/-- **It has exactly one fixed point.** C03. -/
theorem robust_existsUnique (hU : ∀ s a p, U s a p → IsProb p) (hne : ∀ s a, ∃ p, U s a p)
    (hγ : γ < 1) (hV : ∀ s, Monetary (V s)) :
    ∃ Q, rev R (γ : Real) (worst U) V pen Q = Q ∧
      ∀ Q', rev R (γ : Real) (worst U) V pen Q' = Q' → Q' = Q := by
  have h := robust_contractingWith R pen hU hne hγ hV
  exact ⟨_, h.fixedPoint_isFixedPt, fun _ e => h.fixedPoint_unique e⟩

end RESAC.Reals
