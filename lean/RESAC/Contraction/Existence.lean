module

public import RESAC.Contraction.Elimination
public import RESAC.Contraction.FixedPoint

public section

/-!
# Existence of the REV fixed point without completeness

For finite state and action sets the REV operator has exactly one fixed point over **every**
linearly ordered field: `ℚ` and `ℝ`, but also non-Archimedean fields, in which iteration need not
converge. The paper cites Banach's theorem; here the values `x(s) = V(s, Q(s,·))` solve a system of
maxima and minima of affine functions, and `RESAC.Contraction.Elimination` solves such systems one state after
another.

## Main definitions
* `HasUniqueFixedPoint T`.
* `minV`: the pessimistic value functional `min_{a'} Q(s',a')`.

## Main statements
* `rev_exists_fixedPoint`, `rev_unique_fixedPoint`: for all `E` and `V` that are finite maxima and
  minima of (sub-)probability expectations (C11).
* `rev_unique_fixedPoint_max`, `…_min`, `…_policy`, `…_robust`: the paper's value functionals, and
  the maximum over actions of the worst case over finitely many kernels.
* `revNext_unique_fixedPoint`, `revDone_unique_fixedPoint`: the next-pair penalty, the done mask.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

/-- `T` has exactly one fixed point. -/
@[expose] def HasUniqueFixedPoint {X : Type u} (T : X → X) : Prop :=
  ∃ x, T x = x ∧ ∀ y, T y = y → y = x

/-- The pessimistic value functional: `minV s q = min_a q(a)`. -/
@[expose] def minV {K : Type u} [LE K] [DecidableLE K] {S : Type v} {m : Nat} :
    S → (Fin (m + 1) → K) → K :=
  fun _ q => fmin q

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {k n m : Nat} {γ : K}

/-! ## The finite functionals are of the right kind -/

section Functionals

variable {S : Type v} {A : Type w}

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- A probability vector's expectation. -/
theorem IsProb.latticeAffine {p : Fin n → K} (hp : IsProb p) : LatticeAffine 1 (expect p) :=
  latticeAffine_expect hp.nonneg (by rw [hp.total]; exact le_refl 1)

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- The expectation under a finite kernel. -/
theorem kernelE_latticeAffine {P : S → A → Fin n → K} (hP : ∀ s a, IsProb (P s a)) (s : S)
    (a : A) : LatticeAffine 1 (kernelE P s a) :=
  (hP s a).latticeAffine

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- The worst case over finitely many kernels. -/
theorem robustE_latticeAffine {P : Fin (k + 1) → S → A → Fin n → K}
    (hP : ∀ i s a, IsProb (P i s a)) (s : S) (a : A) : LatticeAffine 1 (robustE P s a) :=
  LatticeAffine.min_family fun i => (hP i s a).latticeAffine

/-- An expectation masked at terminal pairs. -/
theorem maskE_latticeAffine {cont : Fin n → A → K} {E : Fin n → A → (Fin n → K) → K}
    (hE : ∀ s a, LatticeAffine 1 (E s a)) (h₀ : ∀ s a, 0 ≤ cont s a) (h₁ : ∀ s a, cont s a ≤ 1)
    (s : Fin n) (a : A) : LatticeAffine 1 (maskE cont E s a) := by
  have h := (hE s a).scale (h₀ s a)
  rw [Semiring.mul_one] at h
  exact h.weaken (h₁ s a)

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- A policy's mean. -/
theorem policyV_latticeAffine {π : S → Fin m → K} (hπ : ∀ s, IsProb (π s)) (s : S) :
    LatticeAffine 1 (policyV π s) :=
  (hπ s).latticeAffine

/-- The maximum over actions. -/
theorem maxV_latticeAffine (s : S) : LatticeAffine (1 : K) (maxV s : (Fin (m + 1) → K) → K) :=
  LatticeAffine.max_family latticeAffine_proj

/-- The minimum over actions. -/
theorem minV_latticeAffine (s : S) : LatticeAffine (1 : K) (minV s : (Fin (m + 1) → K) → K) :=
  LatticeAffine.min_family latticeAffine_proj

/-- A value functional with a penalty inside. -/
theorem LatticeAffine.shift_sub {V : (Fin m → K) → K} (hV : LatticeAffine 1 V) (h : Fin m → K) :
    LatticeAffine 1 fun q => V fun a => q a - h a := by
  have h₀ : ∀ a, LatticeAffine (1 : K) fun q : Fin m → K => q a - h a := fun a => by
    have e : (fun q : Fin m → K => q a - h a) = fun q => q a + -h a := by funext q; grind
    have h₁ := (latticeAffine_proj (K := K) a).add (latticeAffine_const (n := m) (-h a))
    rw [Semiring.add_zero] at h₁
    rw [e]; exact h₁
  have h₁ : (0 : K) ≤ 1 := by
    have := OrderedRing.zero_lt_one (R := K)
    grind
  have h₂ := hV.comp h₀ h₁
  rwa [Semiring.mul_one] at h₂

end Functionals

/-! ## Existence -/

/-- **Existence.** With finite `S = Fin n` and `A = Fin m` the REV operator has a fixed point, over
every ordered field, if expectations and value functionals are finite maxima and minima of
(sub-)probability expectations. Appendix E, Theorem (RE-SAC Contraction), second half; C11. -/
theorem rev_exists_fixedPoint {R pen : Fin n → Fin m → K} {E : Fin n → Fin m → (Fin n → K) → K}
    {V : Fin n → (Fin m → K) → K} (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    (hE : ∀ s a, LatticeAffine 1 (E s a)) (hV : ∀ s, LatticeAffine 1 (V s)) :
    ∃ Q, rev R γ E V pen Q = Q := by
  have hF : ∀ s, LatticeAffine γ fun x => V s fun a => R s a + γ * (E s a x - pen s a) := by
    intro s
    have h₁ : ∀ a, LatticeAffine γ fun x => R s a + γ * (E s a x - pen s a) := fun a => by
      have e : (fun x => R s a + γ * (E s a x - pen s a)) =
          fun x => R s a - γ * pen s a + γ * E s a x := by funext x; grind
      have h := (latticeAffine_const (n := n) (R s a - γ * pen s a)).add ((hE s a).scale hγ)
      rw [e]
      exact h.weaken (by clear h e; grind)
    have h₂ := (hV s).comp h₁ hγ
    rwa [Semiring.one_mul] at h₂
  obtain ⟨x, hx⟩ := exists_solution hγ₁ hF
  refine ⟨fun s a => R s a + γ * (E s a x - pen s a), ?_⟩
  have e : (fun s => V s fun a => R s a + γ * (E s a x - pen s a)) = x := funext hx
  unfold rev
  rw [e]

variable {R pen : Fin (n + 1) → Fin (m + 1) → K}
variable {E : Fin (n + 1) → Fin (m + 1) → (Fin (n + 1) → K) → K}
variable {V : Fin (n + 1) → (Fin (m + 1) → K) → K}

/-- **The finite theorem in general form**: contraction, and exactly one fixed point, over every
ordered field and for every frozen penalty. Appendix E, Theorem (RE-SAC Contraction); C11. -/
theorem rev_unique_fixedPoint (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, LatticeAffine 1 (E s a))
    (hV : ∀ s, LatticeAffine 1 (V s)) :
    Modulus (rev R γ E V pen) γ ∧ HasUniqueFixedPoint (rev R γ E V pen) := by
  have hT : Modulus (rev R γ E V pen) γ :=
    (rev_blackwell_of_subMonetary hγ (fun s a => (hE s a).subMonetary (le_refl 1))
      fun s => (hV s).subMonetary (le_refl 1)).modulus
  obtain ⟨Q, hQ⟩ := rev_exists_fixedPoint (R := R) (pen := pen) hγ hγ₁ hE hV
  exact ⟨hT, Q, hQ, fun Q' hQ' => fixedPoint_unique_fin hT hγ₁ hQ' hQ⟩

/-- The finite theorem for the maximum over actions. C11. -/
theorem rev_unique_fixedPoint_max {P : Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → K} (hγ : 0 ≤ γ)
    (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a)) :
    Modulus (rev R γ (kernelE P) maxV pen) γ ∧
      HasUniqueFixedPoint (rev R γ (kernelE P) maxV pen) :=
  rev_unique_fixedPoint hγ hγ₁ (kernelE_latticeAffine hP) maxV_latticeAffine

/-- The finite theorem for the minimum over actions. C11. -/
theorem rev_unique_fixedPoint_min {P : Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → K} (hγ : 0 ≤ γ)
    (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a)) :
    Modulus (rev R γ (kernelE P) minV pen) γ ∧
      HasUniqueFixedPoint (rev R γ (kernelE P) minV pen) :=
  rev_unique_fixedPoint hγ hγ₁ (kernelE_latticeAffine hP) minV_latticeAffine

/-- The finite theorem for a policy's mean. C11. -/
theorem rev_unique_fixedPoint_policy {P : Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → K}
    {π : Fin (n + 1) → Fin (m + 1) → K} (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a))
    (hπ : ∀ s, IsProb (π s)) :
    Modulus (rev R γ (kernelE P) (policyV π) pen) γ ∧
      HasUniqueFixedPoint (rev R γ (kernelE P) (policyV π) pen) :=
  rev_unique_fixedPoint hγ hγ₁ (kernelE_latticeAffine hP) (policyV_latticeAffine hπ)

/-- The finite theorem for the robust operator: the maximum over actions of the worst case over
finitely many kernels. C03, C11. -/
theorem rev_unique_fixedPoint_robust
    {P : Fin (k + 1) → Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → K} (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    (hP : ∀ i s a, IsProb (P i s a)) :
    Modulus (rev R γ (robustE P) maxV pen) γ ∧
      HasUniqueFixedPoint (rev R γ (robustE P) maxV pen) :=
  rev_unique_fixedPoint hγ hγ₁ (robustE_latticeAffine hP) maxV_latticeAffine

/-- The finite theorem for the penalty `Γ(s',a')` of the next pair. C08, C11. -/
theorem revNext_unique_fixedPoint {lamG : Fin (n + 1) → Fin (m + 1) → K} {κ : K} (hγ : 0 ≤ γ)
    (hγ₁ : γ < 1) (hE : ∀ s a, LatticeAffine 1 (E s a)) (hV : ∀ s, LatticeAffine 1 (V s)) :
    Modulus (revNext R γ E V lamG κ) γ ∧ HasUniqueFixedPoint (revNext R γ E V lamG κ) :=
  rev_unique_fixedPoint hγ hγ₁ hE fun s => (hV s).shift_sub (lamG s)

/-- The finite theorem under a done mask. C10, C11. -/
theorem revDone_unique_fixedPoint {cont : Fin (n + 1) → Fin (m + 1) → K} (hγ : 0 ≤ γ)
    (hγ₁ : γ < 1) (h₀ : ∀ s a, 0 ≤ cont s a) (h₁ : ∀ s a, cont s a ≤ 1)
    (hE : ∀ s a, LatticeAffine 1 (E s a)) (hV : ∀ s, LatticeAffine 1 (V s)) :
    Modulus (revDone R γ cont E V pen) γ ∧ HasUniqueFixedPoint (revDone R γ cont E V pen) := by
  rw [revDone_eq_rev]
  exact rev_unique_fixedPoint hγ hγ₁ (maskE_latticeAffine hE h₀ h₁) hV

end RESAC
