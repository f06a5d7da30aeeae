module

public import RESAC.Foundations.Finite

public section

/-!
# The REV operator

A backup is **reward + γ · (expectation of a value functional − penalty)**. The state and action
types, the expectation `E` and the value functional `V` are arbitrary; the penalty is *frozen*: it
is an argument of the operator and does not look at the `Q` that is being backed up (Appendix E,
"both penalties are fixed scalars per training step").

## Main definitions
* `rev`: the paper's operator with the penalty `pen s a = λ·Γ(s,a) + κ` (Appendix E, Setup).
* `revNext`: the form in which the epistemic penalty `Γ(s',a')` of the *next* pair stands inside the
  expectation and under the value functional (Section 4 and the appendix on non-degeneration).
* `kernelE P`: the expectation family of a finite transition kernel.
* `maxV`, `policyV π`: the value functionals `max_{a'} Q(s',a')` and `Σ_{a'} π(a'|s')·Q(s',a')`.
* `robustE P`: the worst case over finitely many kernels.

## Main statements
* `revNext_eq_rev`: the second form is the first, with another monetary value functional.
* `rev_eq_shifted_reward`: a frozen penalty is a change of reward (Appendix E, last remark).
* `kernelE_monetary`, `maxV_monetary`, `policyV_monetary`, `robustE_monetary`.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

section Definitions

variable {K : Type u} [Field K] {S : Type v} {A : Type w}

/-- The robust-ensemble value (REV) backup with a frozen penalty. With `E` the expectation under a
kernel, `V` the maximum and `pen = λ·Γ + κ` it is the operator of Appendix E. -/
@[expose] def rev (R : S → A → K) (γ : K) (E : S → A → (S → K) → K) (V : S → (A → K) → K)
    (pen : S → A → K) (Q : S → A → K) : S → A → K :=
  fun s a => R s a + γ * (E s a (fun s' => V s' (Q s')) - pen s a)

/-- The REV backup with the epistemic penalty of the next pair, `Γ(s',a')`, inside the expectation:
`lamG = λ·Γ`. The constant `κ` stays outside. -/
@[expose] def revNext (R : S → A → K) (γ : K) (E : S → A → (S → K) → K) (V : S → (A → K) → K)
    (lamG : S → A → K) (κ : K) (Q : S → A → K) : S → A → K :=
  fun s a => R s a + γ * (E s a (fun s' => V s' (fun a' => Q s' a' - lamG s' a')) - κ)

/-- The expectation family of a finite kernel: `kernelE P s a f = Σ_{s'} P(s'|s,a)·f(s')`. -/
@[expose] def kernelE {n : Nat} (P : S → A → Fin n → K) : S → A → (Fin n → K) → K :=
  fun s a f => expect (P s a) f

/-- A policy's value functional: `policyV π s q = Σ_a π(a|s)·q(a)`. -/
@[expose] def policyV {m : Nat} (π : S → Fin m → K) : S → (Fin m → K) → K :=
  fun s q => expect (π s) q

variable [LE K] [DecidableLE K]

/-- The greedy value functional: `maxV s q = max_a q(a)`. -/
@[expose] def maxV {m : Nat} : S → (Fin (m + 1) → K) → K :=
  fun _ q => fmax q

/-- The worst case over finitely many kernels, chosen afresh at each pair (rectangular):
`robustE P s a f = min_i Σ_{s'} Pᵢ(s'|s,a)·f(s')`. -/
@[expose] def robustE {k n : Nat} (P : Fin (k + 1) → S → A → Fin n → K) :
    S → A → (Fin n → K) → K :=
  fun s a f => fmin fun i => expect (P i s a) f

end Definitions

variable {K : Type u} [Field K] {S : Type v} {A : Type w}

/-! ## Two ways to read the penalty -/

/-- The next-pair form is the plain form: its penalty moves into the value functional, which stays
monetary by `Monetary.shift_sub`. -/
theorem revNext_eq_rev (R : S → A → K) (γ : K) (E : S → A → (S → K) → K) (V : S → (A → K) → K)
    (lamG : S → A → K) (κ : K) :
    revNext R γ E V lamG κ =
      rev R γ E (fun s' q => V s' fun a' => q a' - lamG s' a') (fun _ _ => κ) := rfl

/-- A frozen penalty is a change of reward: the REV backup is the plain Bellman backup of
`R - γ·pen`. Appendix E, Remark (non-triviality of the fixed-penalty design). -/
theorem rev_eq_shifted_reward (R : S → A → K) (γ : K) (E : S → A → (S → K) → K)
    (V : S → (A → K) → K) (pen : S → A → K) :
    rev R γ E V pen = rev (fun s a => R s a - γ * pen s a) γ E V fun _ _ => 0 := by
  funext Q s a
  unfold rev; grind

/-! ## The paper's functionals are monetary -/

variable [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]

/-- The expectation under a probability kernel is monetary. -/
theorem kernelE_monetary {n : Nat} {P : S → A → Fin n → K} (hP : ∀ s a, IsProb (P s a)) (s : S)
    (a : A) : Monetary (kernelE P s a) :=
  expect_monetary (hP s a)

/-- A policy's mean is monetary. -/
theorem policyV_monetary {m : Nat} {π : S → Fin m → K} (hπ : ∀ s, IsProb (π s)) (s : S) :
    Monetary (policyV π s) :=
  expect_monetary (hπ s)

/-- The maximum over actions is monetary. -/
theorem maxV_monetary [DecidableLE K] {m : Nat} (s : S) :
    Monetary (maxV s : (Fin (m + 1) → K) → K) :=
  fmax_monetary

/-- The worst case over finitely many probability kernels is monetary. -/
theorem robustE_monetary [DecidableLE K] {k n : Nat} {P : Fin (k + 1) → S → A → Fin n → K}
    (hP : ∀ i s a, IsProb (P i s a)) (s : S) (a : A) : Monetary (robustE P s a) :=
  Monetary.pointwise_min fun i => expect_monetary (hP i s a)

end RESAC
