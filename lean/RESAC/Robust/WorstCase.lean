module

public import RESAC.Contraction.Blackwell

public section

/-!
# Robust backups

The robust Bellman operator replaces the expectation by its infimum over an uncertainty set, chosen
afresh at each pair (rectangularity). Over an arbitrary ordered field an infimum need not exist, so
the library speaks of any functional that *is* the greatest lower bound of a family. That covers
finite sets, `l¹` balls, intervals, KL balls, IPM balls and every other set for which the paper's
`inf` makes sense.

## Main definitions
* `IsInfimum F V`: `V f = inf_i F i f` for every `f`; `IsSupremum F V` likewise.
* `IsWorstCase U E`: `E s a f = inf {E_p f | p ∈ U s a}`, `U` a rectangular uncertainty set.
* `robustBackup`: the paper's `T^R V(s) = max_a (R(s,a) + γ·inf_{p ∈ U(s,a)} E_p V)`.

## Main statements
* `IsInfimum.monetary`, `IsSupremum.monetary`: the infimum and the supremum of monetary functionals
  are monetary. The family is non-empty by itself (`IsInfimum.nonempty`).
* `fmin_isInfimum`: the finite case, where the infimum exists over every ordered field.
* `fmax_isSupremum`: the paper's `max_π E_{a∼π}` is the maximum over actions.
* `robust_rev_contraction`, `robustBackup_contraction`: the robust backups contract (C03).

Paper: §3.2, Robust Markov decision process (Iyengar).
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w x

section Definitions

variable {K : Type u} [Field K] [LE K] {X : Type v} {ι : Type w}

/-- `V` is the pointwise greatest lower bound of the functionals `F i`. -/
structure IsInfimum (F : ι → (X → K) → K) (V : (X → K) → K) : Prop where
  /-- `V` is a lower bound. -/
  le : ∀ i f, V f ≤ F i f
  /-- Every lower bound is at most `V`. -/
  greatest : ∀ f b, (∀ i, b ≤ F i f) → b ≤ V f

/-- `V` is the pointwise least upper bound of the functionals `F i`. -/
structure IsSupremum (F : ι → (X → K) → K) (V : (X → K) → K) : Prop where
  /-- `V` is an upper bound. -/
  le : ∀ i f, F i f ≤ V f
  /-- Every upper bound is at least `V`. -/
  least : ∀ f b, (∀ i, F i f ≤ b) → V f ≤ b

/-- `E` is the worst-case expectation over the rectangular uncertainty set `U`: at each pair, the
greatest lower bound of the expectations under the kernels that `U s a` admits. -/
@[expose] def IsWorstCase {S : Type v} {A : Type w} {n : Nat} (U : S → A → (Fin n → K) → Prop)
    (E : S → A → (Fin n → K) → K) : Prop :=
  ∀ s a, IsInfimum (fun p : {p : Fin n → K // U s a p} => expect p.1) (E s a)

/-- The robust Bellman operator on value functions, `T^R V(s) = max_a (R(s,a) + γ·E(s,a)[V])`, with
`E` the worst case. -/
@[expose] def robustBackup [DecidableLE K] {S : Type v} {m : Nat} (R : S → Fin (m + 1) → K) (γ : K)
    (E : S → Fin (m + 1) → (S → K) → K) (V : S → K) (s : S) : K :=
  fmax fun a => R s a + γ * E s a V

end Definitions

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {X : Type v} {ι : Type w} {F : ι → (X → K) → K} {V : (X → K) → K}

/-! ## Infima and suprema of monetary functionals -/

/-- A family that has an infimum is not empty. -/
theorem IsInfimum.nonempty (h : IsInfimum F V) : Nonempty ι := by
  apply Classical.byContradiction
  intro hn
  have h₁ := h.greatest (fun _ => 0) (V (fun _ => 0) + 1) fun i => absurd ⟨i⟩ hn
  have := OrderedRing.zero_lt_one (R := K)
  grind

/-- **The greatest lower bound of monetary functionals is monetary** (C03). -/
theorem IsInfimum.monetary (h : IsInfimum F V) (hF : ∀ i, Monetary (F i)) : Monetary V where
  mono f g hfg := h.greatest g (V f) fun i => le_trans (h.le i f) ((hF i).mono f g hfg)
  translate f c := by
    have h₁ := h.greatest f (V (fun x => f x + c) - c) fun i => by
      have := h.le i fun x => f x + c
      rw [(hF i).translate] at this
      grind
    have h₂ := h.greatest (fun x => f x + c) (V f + c) fun i => by
      have := h.le i f
      rw [(hF i).translate]
      grind
    grind

/-- The least upper bound of monetary functionals is monetary: optimism is as harmless. -/
theorem IsSupremum.monetary (h : IsSupremum F V) (hF : ∀ i, Monetary (F i)) : Monetary V where
  mono f g hfg := h.least f (V g) fun i => le_trans ((hF i).mono f g hfg) (h.le i g)
  translate f c := by
    have h₁ := h.least f (V (fun x => f x + c) - c) fun i => by
      have := h.le i fun x => f x + c
      rw [(hF i).translate] at this
      grind
    have h₂ := h.least (fun x => f x + c) (V f + c) fun i => by
      have := h.le i f
      rw [(hF i).translate]
      grind
    grind

omit [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- The minimum of finitely many functionals is their infimum. -/
theorem fmin_isInfimum [DecidableLE K] {n : Nat} (F : Fin (n + 1) → (X → K) → K) :
    IsInfimum F fun f => fmin fun i => F i f where
  le i f := fmin_le (fun i => F i f) i
  greatest _ _ h := le_fmin h

/-- **The paper's `max_π E_{a∼π}` is the maximum over actions**: the largest mean over all policies
is attained by a deterministic one. -/
theorem fmax_isSupremum [DecidableLE K] {m : Nat} :
    IsSupremum (fun π : {π : Fin (m + 1) → K // IsProb π} => expect π.1) fmax where
  le π _ := expect_le_fmax π.2
  least f b h := by
    obtain ⟨i, hi⟩ := exists_eq_fmax f
    have := h ⟨point i, point_isProb i⟩
    rw [← hi]
    rwa [expect_point] at this

/-! ## The robust backups contract -/

section Backup

variable {n : Nat} {A : Type x} {U : Fin n → A → (Fin n → K) → Prop}
variable {E : Fin n → A → (Fin n → K) → K} {γ : K}

/-- The worst case over a rectangular set of probability kernels is monetary. -/
theorem IsWorstCase.monetary (hE : IsWorstCase U E) (hU : ∀ s a p, U s a p → IsProb p) (s : Fin n)
    (a : A) : Monetary (E s a) :=
  (hE s a).monetary fun p => expect_monetary (hU s a p.1 p.2)

/-- **The robust REV backup is a `γ`-contraction** (§3.2; C03): for every rectangular uncertainty
set, every monetary value functional and every frozen penalty. -/
theorem robust_rev_contraction (hE : IsWorstCase U E) (hU : ∀ s a p, U s a p → IsProb p)
    (hγ : 0 ≤ γ) {R pen : Fin n → A → K} {V : Fin n → (A → K) → K} (hV : ∀ s, Monetary (V s))
    {Q₁ Q₂ : Fin n → A → K} {ε : K} (hQ : ∀ s a, Within ε (Q₁ s a) (Q₂ s a)) (s : Fin n) (a : A) :
    Within (γ * ε) (rev R γ E V pen Q₁ s a) (rev R γ E V pen Q₂ s a) :=
  rev_contraction hγ (hE.monetary hU) hV hQ s a

end Backup

/-- **The robust Bellman operator `T^R` on value functions is a `γ`-contraction** (§3.2, Iyengar;
C03). -/
theorem robustBackup_contraction [DecidableLE K] {n m : Nat}
    {U : Fin n → Fin (m + 1) → (Fin n → K) → Prop} {E : Fin n → Fin (m + 1) → (Fin n → K) → K}
    (hE : IsWorstCase U E) (hU : ∀ s a p, U s a p → IsProb p) {γ : K} (hγ : 0 ≤ γ)
    {R : Fin n → Fin (m + 1) → K} {V₁ V₂ : Fin n → K} {ε : K}
    (hV : ∀ s, Within ε (V₁ s) (V₂ s)) (s : Fin n) :
    Within (γ * ε) (robustBackup R γ E V₁ s) (robustBackup R γ E V₂ s) :=
  fmax_monetary.within fun a => (((hE.monetary hU s a).within hV).mul_left hγ).add_left _

/-- The finite case: the worst case over finitely many kernels, over every ordered field (C03). -/
theorem robust_finite_contraction [DecidableLE K] {k n : Nat} {A : Type x}
    {P : Fin (k + 1) → Fin n → A → Fin n → K} (hP : ∀ i s a, IsProb (P i s a)) {γ : K}
    (hγ : 0 ≤ γ) {R pen : Fin n → A → K} {V : Fin n → (A → K) → K} (hV : ∀ s, Monetary (V s))
    {Q₁ Q₂ : Fin n → A → K} {ε : K} (hQ : ∀ s a, Within ε (Q₁ s a) (Q₂ s a)) (s : Fin n) (a : A) :
    Within (γ * ε) (rev R γ (robustE P) V pen Q₁ s a) (rev R γ (robustE P) V pen Q₂ s a) :=
  rev_contraction hγ (robustE_monetary hP) hV hQ s a

end RESAC
