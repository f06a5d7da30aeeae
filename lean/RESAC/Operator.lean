module

public import RESAC.Finite

public section

/-!
# The REV operator
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

variable {K : Type u} [Field K] {S : Type v} {A : Type w}

/-- The robust-ensemble value (REV) backup with a frozen penalty. -/
@[expose] def rev (R : S → A → K) (γ : K) (E : S → A → (S → K) → K) (V : S → (A → K) → K)
    (pen : S → A → K) (Q : S → A → K) : S → A → K :=
  fun s a => R s a + γ * (E s a (fun s' => V s' (Q s')) - pen s a)

/-- The REV backup with the epistemic penalty `Γ(s',a')` inside the expectation. -/
@[expose] def revNext (R : S → A → K) (γ : K) (E : S → A → (S → K) → K) (V : S → (A → K) → K)
    (lamG : S → A → K) (κ : K) (Q : S → A → K) : S → A → K :=
  fun s a => R s a + γ * (E s a (fun s' => V s' (fun a' => Q s' a' - lamG s' a')) - κ)

/-- The expectation family of a finite kernel. -/
@[expose] def kernelE {n : Nat} (P : S → A → Fin n → K) : S → A → (Fin n → K) → K :=
  fun s a f => expect (P s a) f

end RESAC
