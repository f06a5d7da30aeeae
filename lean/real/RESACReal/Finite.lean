module

public import RESACReal.Contraction
public import Mathlib.Algebra.BigOperators.Ring.Finset
public import Mathlib.Algebra.Order.BigOperators.Group.Finset
public import Mathlib.Data.Finset.Lattice.Fold
public import Mathlib.Data.Fintype.Basic

public section

/-!
# Appendix E over `ℝ`, with Mathlib's sums and maxima

Any finite `S` and `A`, not only `Fin n`.

## Main statements
* `sum_monetary`, `sup_monetary`: an expectation and a maximum over a finite type are monetary.
* `finite_resac_contraction`: Appendix E, Theorem (RE-SAC Contraction), as it is written (C11).
-/

noncomputable section

namespace RESAC.Reals

universe u v

variable {S : Type u} {A : Type v} [Fintype S] [Fintype A]

/-- The expectation under a probability vector on a finite type is monetary. -/
theorem sum_monetary {p : S → Real} (h₀ : ∀ i, 0 ≤ p i) (h₁ : Finset.univ.sum p = 1) :
    Monetary fun f : S → Real => Finset.univ.sum fun i => p i * f i where
  mono f g h := Finset.sum_le_sum fun i _ => mul_le_mul_left (h i) (h₀ i)
  translate f c := by
    have e : (fun i => p i * (f i + c)) = fun i => p i * f i + p i * c := by funext i; grind
    show Finset.univ.sum (fun i => p i * (f i + c)) = Finset.univ.sum (fun i => p i * f i) + c
    rw [e, Finset.sum_add_distrib, ← Finset.sum_mul, h₁]
    grind

/-- The maximum over a finite, non-empty type is monetary: property (P). -/
theorem sup_monetary [Nonempty A] :
    Monetary fun q : A → Real => Finset.univ.sup' Finset.univ_nonempty q where
  mono f g h := Finset.sup'_le _ _ fun a ha => Std.le_trans (h a) (Finset.le_sup' g ha)
  translate f c := by
    have key : ∀ g : A → Real, ∀ a, g a ≤ Finset.univ.sup' Finset.univ_nonempty g :=
      fun g a => Finset.le_sup' g (Finset.mem_univ a)
    apply Std.le_antisymm
    · exact Finset.sup'_le _ _ fun a _ => by have := key f a; grind
    · have h : Finset.univ.sup' Finset.univ_nonempty f ≤
          Finset.univ.sup' Finset.univ_nonempty (fun a => f a + c) - c :=
        Finset.sup'_le _ _ fun a _ => by have := key (fun a => f a + c) a; grind
      grind

/-- The operator of Appendix E:
`T Q(s,a) = R(s,a) + γ·(Σ_{s'} P(s'|s,a)·max_{a'} Q(s',a') - λ·Γ(s,a) - κ)`. -/
@[expose] def finiteRev [Nonempty A] (R : S → A → Real) (P : S → A → S → Real) (Γ : S → A → Real)
    (γ lam κ : Real) (Q : S → A → Real) : S → A → Real :=
  fun s a => R s a + γ * ((Finset.univ.sum fun s' => P s a s' *
    Finset.univ.sup' Finset.univ_nonempty (Q s')) - lam * Γ s a - κ)

/-- It is a case of the general operator. -/
theorem finiteRev_eq_rev [Nonempty A] (R : S → A → Real) (P : S → A → S → Real)
    (Γ : S → A → Real) (γ lam κ : Real) : finiteRev R P Γ γ lam κ =
      rev R γ (fun s a f => Finset.univ.sum fun s' => P s a s' * f s')
        (fun _ q => Finset.univ.sup' Finset.univ_nonempty q) fun s a => lam * Γ s a + κ := by
  funext Q s a
  unfold finiteRev rev
  grind

/-- **Theorem (RE-SAC Contraction).** Under (A0)-(A2) the operator of Appendix E is a γ-contraction
in the sup metric with a unique fixed point. C11. -/
theorem finite_resac_contraction [Nonempty A] (R : S → A → Real) {P : S → A → S → Real}
    (Γ : S → A → Real) {γ : NNReal} (lam κ : Real) (A0 : γ < 1) (A1 : ∀ s a s', 0 ≤ P s a s')
    (A2 : ∀ s a, Finset.univ.sum (P s a) = 1) :
    ContractingWith γ (finiteRev R P Γ γ lam κ) ∧
      ∃ Q, finiteRev R P Γ γ lam κ Q = Q ∧ ∀ Q', finiteRev R P Γ γ lam κ Q' = Q' → Q' = Q := by
  rw [finiteRev_eq_rev]
  have hE : ∀ s a, Monetary fun f : S → Real => Finset.univ.sum fun s' => P s a s' * f s' :=
    fun s a => sum_monetary (A1 s a) (A2 s a)
  have h := rev_contractingWith R (fun s a => lam * Γ s a + κ) A0 hE fun _ : S => sup_monetary
  exact ⟨h, _, h.fixedPoint_isFixedPt, fun _ e => h.fixedPoint_unique e⟩

end RESAC.Reals
