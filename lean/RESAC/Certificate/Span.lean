module

public import RESAC.Contraction.ValueIteration
public import RESAC.Robust.Attained

public section

/-!
# What the residual of a table certifies

A solver hands over a table `Q`; nothing is known of how it was found. One backup of it says how far
it is from the fixed point: if `lo ≤ T Q - Q ≤ hi` everywhere, the fixed point lies between
`T Q + γ·lo/(1 - γ)` and `T Q + γ·hi/(1 - γ)` (MacQueen 1966, Porteus 1971). The *span* of the
residual counts, and not its size, since a backup passes constants through.

## Main statements (C47)
* `span_bounds`: these bounds, for every backup that is monotone and passes constants through. The
  formula of `pyresac.tabular.solvers.certificate`.
* `certificate`: the same about `Q` itself, with existence and uniqueness of the fixed point.
* `certified`: for the REV backup with any monetary finite expectation and value functional;
  `certified_max`, `certified_min`, `certified_policy`, `certified_next`, `certified_robust`,
  `certified_intervals` are its cases.
* `intervals_ge`, `intervals_le`: a threshold and a member of the set enclose the worst case of an
  interval set, so that a checker need not solve for it.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {n m : Nat} {γ : K}
variable {T : (Fin (n + 1) → Fin (m + 1) → K) → Fin (n + 1) → Fin (m + 1) → K}
variable {Q Qs : Fin (n + 1) → Fin (m + 1) → K} {lo hi : K}

/-- The residual of `Q` lies between `lo` and `hi`. -/
@[expose] def ResidualIn (T : (Fin (n + 1) → Fin (m + 1) → K) → Fin (n + 1) → Fin (m + 1) → K)
    (Q : Fin (n + 1) → Fin (m + 1) → K) (lo hi : K) : Prop :=
  ∀ s a, lo ≤ T Q s a - Q s a ∧ T Q s a - Q s a ≤ hi

/-- What a certificate says: `T` has exactly one fixed point, and it lies between `Q + low` and
`Q + high`. -/
@[expose] def FixedPointIn (T : (Fin (n + 1) → Fin (m + 1) → K) → Fin (n + 1) → Fin (m + 1) → K)
    (Q : Fin (n + 1) → Fin (m + 1) → K) (low high : K) : Prop :=
  ∃ Qs, T Qs = Qs ∧ (∀ Q', T Q' = Q' → Q' = Qs) ∧
    ∀ s a, Q s a + low ≤ Qs s a ∧ Qs s a ≤ Q s a + high

/-- **MacQueen's and Porteus' bounds**: the formula of the solvers' certificate. C47. -/
theorem span_bounds (hT : Blackwell T γ)
    (hd : ∀ Q c s a, T (fun s a => Q s a + c) s a = T Q s a + γ * c) (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    (hQs : T Qs = Qs) (h : ResidualIn T Q lo hi) (s : Fin (n + 1)) (a : Fin (m + 1)) :
    T Q s a + γ * (lo / (1 - γ)) ≤ Qs s a ∧ Qs s a ≤ T Q s a + γ * (hi / (1 - γ)) := by
  have hne : 1 - γ ≠ 0 := by clear h hd; grind
  have el : lo / (1 - γ) = lo + γ * (lo / (1 - γ)) := by clear h hd; grind
  have eh : hi / (1 - γ) = hi + γ * (hi / (1 - γ)) := by clear h hd; grind
  generalize lo / (1 - γ) = l at *
  generalize hi / (1 - γ) = u at *
  have h₁ : ∀ s a, Q s a + l ≤ Qs s a := fun s a =>
    comparison_fin (Q₁ := fun s a => Q s a + l) hT hγ hγ₁
      (fun s a => by rw [hd]; have := (h s a).1; clear h hd; grind)
      (fun s a => by rw [hQs]; exact le_refl _) s a
  have h₂ : ∀ s a, Qs s a ≤ Q s a + u := fun s a =>
    comparison_fin (Q₂ := fun s a => Q s a + u) hT hγ hγ₁
      (fun s a => by rw [hQs]; exact le_refl _)
      (fun s a => by rw [hd]; have := (h s a).2; clear h hd; grind) s a
  have m₁ := hT.mono _ _ h₁ s a
  have m₂ := hT.mono _ _ h₂ s a
  rw [hd, hQs] at m₁
  rw [hd, hQs] at m₂
  exact ⟨m₁, m₂⟩

/-- **A certificate**: with existence, and about `Q` itself: `lo/(1-γ) ≤ Q* - Q ≤ hi/(1-γ)`. C47. -/
theorem certificate (hT : Blackwell T γ)
    (hd : ∀ Q c s a, T (fun s a => Q s a + c) s a = T Q s a + γ * c) (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    (hex : HasUniqueFixedPoint T) (h : ResidualIn T Q lo hi) :
    FixedPointIn T Q (lo / (1 - γ)) (hi / (1 - γ)) := by
  obtain ⟨Qs, hQs, hu⟩ := hex
  refine ⟨Qs, hQs, hu, fun s a => ?_⟩
  have h₁ := span_bounds hT hd hγ hγ₁ hQs h s a
  have h₂ := h s a
  have hne : 1 - γ ≠ 0 := by clear h h₁ h₂ hd; grind
  have el : lo / (1 - γ) = lo + γ * (lo / (1 - γ)) := by clear h h₁ h₂ hd; grind
  have eh : hi / (1 - γ) = hi + γ * (hi / (1 - γ)) := by clear h h₁ h₂ hd; grind
  generalize lo / (1 - γ) = l at *
  generalize hi / (1 - γ) = u at *
  clear h hd
  grind

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- The sup-norm form: what is certified is `‖Q - Q*‖∞ ≤ max(-low, high)`. C47. -/
theorem FixedPointIn.supNorm_le [LT K] [LawfulOrderLT K] [OrderedRing K] {low high b : K}
    (h : FixedPointIn T Q low high) (hl : -low ≤ b) (hh : high ≤ b) :
    ∃ Qs, T Qs = Qs ∧ (∀ Q', T Q' = Q' → Q' = Qs) ∧ supNorm (fun s a => Q s a - Qs s a) ≤ b := by
  obtain ⟨Qs, hQs, hu, hb⟩ := h
  refine ⟨Qs, hQs, hu, near_iff_supNorm.1 fun s a => ?_⟩
  have := hb s a
  rw [near_iff]
  unfold Within
  clear hb hu
  grind

/-! ## The REV backup -/

variable {R pen : Fin (n + 1) → Fin (m + 1) → K}
variable {E : Fin (n + 1) → Fin (m + 1) → (Fin (n + 1) → K) → K}
variable {V : Fin (n + 1) → (Fin (m + 1) → K) → K}

/-- **The certificate of a REV backup**, for finite maxima and minima of expectations. C47. -/
theorem certified (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hE : ∀ s a, Monetary (E s a))
    (hE' : ∀ s a, LatticeAffine 1 (E s a)) (hV : ∀ s, Monetary (V s))
    (hV' : ∀ s, LatticeAffine 1 (V s)) (h : ResidualIn (rev R γ E V pen) Q lo hi) :
    FixedPointIn (rev R γ E V pen) Q (lo / (1 - γ)) (hi / (1 - γ)) :=
  certificate (rev_blackwell hγ hE hV) (fun Q c s a => rev_discount hE hV Q c s a) hγ hγ₁
    (rev_unique_fixedPoint hγ hγ₁ hE' hV').2 h

section Cases

variable {k : Nat} {P : Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → K}

/-- The minimum over actions is monetary. -/
theorem minV_monetary {S : Type u} (s : S) : Monetary (minV s : (Fin (m + 1) → K) → K) :=
  fmin_monetary

/-- The maximum over actions. C47. -/
theorem certified_max (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a))
    (h : ResidualIn (rev R γ (kernelE P) maxV pen) Q lo hi) :
    FixedPointIn (rev R γ (kernelE P) maxV pen) Q (lo / (1 - γ)) (hi / (1 - γ)) :=
  certified hγ hγ₁ (kernelE_monetary hP) (kernelE_latticeAffine hP) maxV_monetary
    maxV_latticeAffine h

/-- The minimum over actions. C47. -/
theorem certified_min (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hP : ∀ s a, IsProb (P s a))
    (h : ResidualIn (rev R γ (kernelE P) minV pen) Q lo hi) :
    FixedPointIn (rev R γ (kernelE P) minV pen) Q (lo / (1 - γ)) (hi / (1 - γ)) :=
  certified hγ hγ₁ (kernelE_monetary hP) (kernelE_latticeAffine hP) (fun _ => fmin_monetary)
    minV_latticeAffine h

/-- A policy's mean. C47. -/
theorem certified_policy {π : Fin (n + 1) → Fin (m + 1) → K} (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    (hP : ∀ s a, IsProb (P s a)) (hπ : ∀ s, IsProb (π s))
    (h : ResidualIn (rev R γ (kernelE P) (policyV π) pen) Q lo hi) :
    FixedPointIn (rev R γ (kernelE P) (policyV π) pen) Q (lo / (1 - γ)) (hi / (1 - γ)) :=
  certified hγ hγ₁ (kernelE_monetary hP) (kernelE_latticeAffine hP) (policyV_monetary hπ)
    (policyV_latticeAffine hπ) h

/-- The penalty of the next pair. C47. -/
theorem certified_next {lamG : Fin (n + 1) → Fin (m + 1) → K} {κ : K} (hγ : 0 ≤ γ) (hγ₁ : γ < 1)
    (hE : ∀ s a, Monetary (E s a)) (hE' : ∀ s a, LatticeAffine 1 (E s a))
    (hV : ∀ s, Monetary (V s)) (hV' : ∀ s, LatticeAffine 1 (V s))
    (h : ResidualIn (revNext R γ E V lamG κ) Q lo hi) :
    FixedPointIn (revNext R γ E V lamG κ) Q (lo / (1 - γ)) (hi / (1 - γ)) :=
  certified hγ hγ₁ hE hE' (fun s => (hV s).shift_sub (lamG s)) (fun s => (hV' s).shift_sub (lamG s)) h

/-- The worst case over finitely many kernels. C47. -/
theorem certified_robust {P : Fin (k + 1) → Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → K}
    (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hP : ∀ i s a, IsProb (P i s a))
    (h : ResidualIn (rev R γ (robustE P) maxV pen) Q lo hi) :
    FixedPointIn (rev R γ (robustE P) maxV pen) Q (lo / (1 - γ)) (hi / (1 - γ)) :=
  certified hγ hγ₁ (robustE_monetary hP) (robustE_latticeAffine hP) maxV_monetary
    maxV_latticeAffine h

end Cases

/-! ## Interval sets -/

section Intervals

variable {l h' : Fin (n + 1) → Fin (m + 1) → Fin (n + 1) → K}

/-- **Interval sets**: `E` is *the* worst case over the rectangular set. C47. -/
theorem certified_intervals (hγ : 0 ≤ γ) (hγ₁ : γ < 1) (hl : ∀ s a i, 0 ≤ l s a i)
    (hne : ∀ s a, ∃ p, InIntervals (l s a) (h' s a) p)
    (hw : IsWorstCase (fun s a => InIntervals (l s a) (h' s a)) E) (hV : ∀ s, Monetary (V s))
    (hV' : ∀ s, LatticeAffine 1 (V s)) (h : ResidualIn (rev R γ E V pen) Q lo hi) :
    FixedPointIn (rev R γ E V pen) Q (lo / (1 - γ)) (hi / (1 - γ)) := by
  have hU : ∀ s a p, InIntervals (l s a) (h' s a) p → IsProb p := fun s a p hp => hp.isProb (hl s a)
  have hE' : ∀ s a, LatticeAffine 1 (E s a) := fun s a => by
    obtain ⟨W, hW, hW'⟩ := (intervals_finitelyGenerated (l s a) (h' s a)).exists_worst (hU s a)
      (hne s a)
    rw [(hw s a).unique hW]
    exact hW'
  exact certified hγ hγ₁ (hw.monetary hU) hE' hV hV' h

variable {lower upper p f : Fin n → K} {W : (Fin n → K) → K}

omit [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] [DecidableLE K] in
/-- A member of the set bounds its worst case from above. -/
theorem intervals_le (hw : IsInfimum (fun p : {p // InIntervals lower upper p} => expect p.1) W)
    (hp : InIntervals lower upper p) : W f ≤ expect p f :=
  hw.le ⟨p, hp⟩ f

/-- Any threshold `t` bounds the worst case from below: mass above `t` counts at its lower bound,
mass below `t` at its upper bound. -/
theorem intervals_ge (hw : IsInfimum (fun p : {p // InIntervals lower upper p} => expect p.1) W)
    (t : K) : t + fsum (fun i => if t ≤ f i then lower i * (f i - t) else upper i * (f i - t)) ≤
      W f := by
  refine hw.greatest f _ fun p => ?_
  have e : expect p.1 f = t + expect p.1 fun i => f i - t := by
    rw [expect_sub]
    have : expect p.1 (fun _ => t) = t := by
      unfold expect
      rw [fsum_mul_right, p.2.total]; grind
    rw [this]; grind
  have h₁ : fsum (fun i => if t ≤ f i then lower i * (f i - t) else upper i * (f i - t)) ≤
      expect p.1 fun i => f i - t := fsum_mono fun i => by
    have h₂ := p.2.ge i
    have h₃ := p.2.le i
    by_cases h : t ≤ f i
    · simp only [h, if_true]
      exact mul_le_mul_right h₂ (by clear e; grind)
    · simp only [h, if_false]
      have := mul_le_mul_right (c := t - f i) h₃ (by clear e; grind)
      clear e
      grind
  rw [e]
  clear e
  grind

end Intervals

end RESAC
