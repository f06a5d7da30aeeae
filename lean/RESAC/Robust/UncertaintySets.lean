module

public import RESAC.Robust.Ipm

public section

/-!
# Which uncertainty set a penalty belongs to

## Main definitions
* `FeatureBall φ δ p q`: the means of the features `φ` under `p` and `q` differ by at most `δ` each.

## Main statements
* `worstCase_inter`, `intersection_refuted`: the penalty of an intersection is at most each of the
  two penalties, and not their sum (C38); `worstCase_sum`: what adds the penalties is the sum of the
  two sets of perturbations.
* `bayes_lower_bound`, `credible_bound_refuted`: the worst model of a credible set of mass `1 - α`
  does not bound the Bayesian value; with the share `α` at its worst it does (C40).
* `worst_shift`: over perturbations of mass zero the worst shift is `ε·Lip(V)`, attained (C41).
* `feature_duality_le`, `feature_duality_iff`, `feature_duality_strict`: over probability vectors
  "exact duality" is an inequality, and an equality iff some vector attains it (C42).

Paper: §4.2; Appendix C (Derman et al.); Appendix D.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v w

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable {n k : Nat}

/-! ## Intersections and sums -/

omit [LT K] [LawfulOrderLT K] [OrderedRing K] [IsLinearOrder K] in
/-- **The penalty of an intersection is at most each of the two penalties**: its worst case is at
least as good as either. §4.2, "the intersection of …"; C38. -/
theorem worstCase_inter {U₁ U₂ : (Fin n → K) → Prop} {V₁ V₂ V : (Fin n → K) → K}
    (h₁ : IsInfimum (fun p : {p : Fin n → K // U₁ p} => expect p.1) V₁)
    (h₂ : IsInfimum (fun p : {p : Fin n → K // U₂ p} => expect p.1) V₂)
    (h : IsInfimum (fun p : {p : Fin n → K // U₁ p ∧ U₂ p} => expect p.1) V) (f : Fin n → K) :
    V₁ f ≤ V f ∧ V₂ f ≤ V f :=
  ⟨h.greatest f _ fun p => h₁.le ⟨p.1, p.2.1⟩ f, h.greatest f _ fun p => h₂.le ⟨p.1, p.2.2⟩ f⟩

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- Expectations under a vector and two perturbations of it. -/
theorem expect_two_shifts (p a b f : Fin n → K) :
    expect (fun i => p i + a i + b i) f = expect p f + expect a f + expect b f := by
  rw [expect_weight_add (fun i => p i + a i) b, expect_weight_add]

/-- **Penalties add over the sum of two sets of perturbations**, chosen independently. §4.2,
corrected; C38. -/
theorem worstCase_sum {A B : (Fin n → K) → Prop} {VA VB : (Fin n → K) → K}
    (hA : IsInfimum (fun a : {a : Fin n → K // A a} => expect a.1) VA)
    (hB : IsInfimum (fun b : {b : Fin n → K // B b} => expect b.1) VB) (p : Fin n → K) :
    IsInfimum (fun ab : {a : Fin n → K // A a} × {b : Fin n → K // B b} =>
      expect fun i => p i + ab.1.1 i + ab.2.1 i) fun f => expect p f + VA f + VB f where
  le ab f := by
    have h₁ := hA.le ab.1 f
    have h₂ := hB.le ab.2 f
    rw [expect_two_shifts]
    grind
  greatest f c h := by
    have key : ∀ b : {b : Fin n → K // B b}, c - expect p f - expect b.1 f ≤ VA f := fun b =>
      hA.greatest f _ fun a => by
        have := h (a, b)
        rw [expect_two_shifts] at this
        grind
    have := hB.greatest f (c - expect p f - VA f) fun b => by have := key b; grind
    grind

/-- **Refuted: "the sum of the penalties corresponds to the intersection of the sets".** Two states,
the set of the two point masses taken twice, nominal `δ₁` and `f = (0, 1)`: each penalty is `1`, and
so is that of the intersection; the sum is `2`. §4.2; C38. -/
theorem intersection_refuted [DecidableLE K] : ¬ ∀ (U₁ U₂ : (Fin 2 → K) → Prop)
    (V₁ V₂ V : (Fin 2 → K) → K) (p f : Fin 2 → K), U₁ p → U₂ p →
    IsInfimum (fun p : {p : Fin 2 → K // U₁ p} => expect p.1) V₁ →
    IsInfimum (fun p : {p : Fin 2 → K // U₂ p} => expect p.1) V₂ →
    IsInfimum (fun p : {p : Fin 2 → K // U₁ p ∧ U₂ p} => expect p.1) V →
    expect p f - V f = expect p f - V₁ f + (expect p f - V₂ f) := by
  intro h
  let U : (Fin 2 → K) → Prop := fun q => q = point 0 ∨ q = point 1
  let W : (Fin 2 → K) → K := fun f => smaller (f 0) (f 1)
  have hW : IsInfimum (fun p : {p : Fin 2 → K // U p} => expect p.1) W := by
    refine ⟨fun p f => ?_, fun f b hb => le_smaller_iff.2 ⟨?_, ?_⟩⟩
    · rcases p.2 with e | e
      · rw [e, expect_point]; exact smaller_le_left _ _
      · rw [e, expect_point]; exact smaller_le_right _ _
    · have := hb ⟨point 0, Or.inl rfl⟩
      rwa [expect_point] at this
    · have := hb ⟨point 1, Or.inr rfl⟩
      rwa [expect_point] at this
  have hW₂ : IsInfimum (fun p : {p : Fin 2 → K // U p ∧ U p} => expect p.1) W :=
    ⟨fun p f => hW.le ⟨p.1, p.2.1⟩ f, fun f b hb => hW.greatest f b fun p => hb ⟨p.1, p.2, p.2⟩⟩
  have h' := h U U W W W (point 1) (fun i => if i = 0 then 0 else 1) (Or.inr rfl) (Or.inr rfl)
    hW hW hW₂
  have h01 := OrderedRing.zero_lt_one (R := K)
  have e : W (fun i => if i = 0 then 0 else 1) = 0 := by
    show smaller _ _ = _
    unfold smaller
    simp
    grind
  rw [expect_point, e] at h'
  simp at h'
  grind

/-! ## Credible sets -/

/-- **The Bayesian value against a credible set, corrected**: if the models in `C` have posterior
mass at least `1 - α`, some policy earns at least `c` in each of them, and no policy earns less than
`b ≤ c` anywhere, then the Bayesian value is at least `(1 - α)·c + α·b`. Appendix C (Derman et al.);
C40. -/
theorem bayes_lower_bound [DecidableLE K] {policies : Nat} {w : Fin n → K} (hw : IsProb w)
    {C : Fin n → Prop} [DecidablePred C] {α c b : K} (v : Fin (policies + 1) → Fin n → K)
    (hC : 1 - α ≤ fsum fun i => if C i then w i else 0) (π : Fin (policies + 1))
    (hc : ∀ i, C i → c ≤ v π i) (hb : ∀ i, b ≤ v π i) (hbc : b ≤ c) :
    (1 - α) * c + α * b ≤ fmax fun π => expect w (v π) := by
  refine le_trans ?_ (le_fmax (fun π => expect w (v π)) π)
  have h₁ : expect w (fun i => b + (c - b) * if C i then 1 else 0) ≤ expect w (v π) :=
    expect_mono hw.nonneg fun i => by
      by_cases h : C i
      · have := hc i h
        simp only [h, if_true]; grind
      · have := hb i
        simp only [h, if_false]; grind
  have e : expect w (fun i => b + (c - b) * if C i then 1 else 0) =
      b + (c - b) * fsum fun i => if C i then w i else 0 := by
    rw [expect_add, expect_const hw, expect_mul_left]
    congr 2
    unfold expect
    congr 1; funext i; split <;> grind
  have h₂ := mul_le_mul_left hC (c := c - b) (by clear h₁ e; grind)
  rw [e] at h₁
  clear e
  grind

/-- **Refuted: "the worst model of the credible set bounds the Bayesian value".** Two models of
posterior mass `1 - α` and `α`, one policy that earns `1` and `0`, the credible set `{first}` of mass
`1 - α`: the worst case over it is `1`, the Bayesian value `1 - α`. Appendix C, 2.; C40. -/
theorem credible_bound_refuted {α : K} (h₀ : 0 < α) (h₁ : α ≤ 1) :
    let w : Fin 2 → K := fun i => if i = 0 then 1 - α else α
    let v : Fin 2 → K := fun i => if i = 0 then 1 else 0
    IsProb w ∧ (fsum fun i => if i = 0 then w i else 0) = 1 - α ∧ (∀ i, i = 0 → v i = 1) ∧
      expect w v = 1 - α ∧ expect w v < 1 := by
  refine ⟨⟨fun i => ?_, ?_⟩, ?_, fun i hi => by simp [hi], ?_, ?_⟩
  · dsimp only; split <;> grind
  · simp [fsum]; grind
  · simp [fsum]; grind
  · simp [expect, fsum]; grind
  · simp [expect, fsum]; grind

/-! ## Perturbations of mass zero -/

/-- **The worst shift of size `ε` is `ε·Lip(V)`**, over signed perturbations of mass zero: attained
by moving mass between two states at which `V` is as steep as its Lipschitz constant `L`. Over
probability vectors it is an upper bound only (`ipm_lower_bound`, `ipm_bound_strict`). Appendix D,
"Implication for RE-SAC"; C41. -/
theorem worst_shift {d : Fin n → Fin n → K} {ε L : K} {V : Fin n → K} (hε : 0 ≤ ε) (hL : 0 ≤ L)
    (hV : Lipschitz d L V) {x y : Fin n} (hd : 0 < d x y) (hxy : V x - V y = L * d x y) :
    IsMaximum (fun μ : Fin n → K => fsum μ = 0 ∧ InBall d ε (fun _ => 0) μ)
      (fun μ => expect μ V) (ε * L) where
  le μ hμ := by
    have h := hμ.2.within (by rw [hμ.1, fsum_zero]) hL hV
    have e : expect (fun _ => (0 : K)) V = 0 := by unfold expect; rw [fsum_mul_left]; grind
    rw [e] at h
    unfold Within at h
    grind
  attained := by
    have hdi := inv_pos hd
    have hne : d x y ≠ 0 := by clear hxy; grind
    have hc := mul_nonneg hε (show 0 ≤ (d x y)⁻¹ by clear hxy; grind)
    have key : ∀ f : Fin n → K,
        expect (fun i => ε * (d x y)⁻¹ * (point x i - point y i)) f =
          ε * (d x y)⁻¹ * (f x - f y) := fun f => by
      rw [expect_weight_mul]
      have e : expect (fun i => point x i - point y i) f = f x - f y := by
        have e : (fun i => (point x i : K) - point y i) = fun i => point x i + -1 * point y i := by
          funext i; grind
        rw [e, expect_weight_add, expect_weight_mul, expect_point, expect_point]
        grind
      rw [e]
    refine ⟨fun i => ε * (d x y)⁻¹ * (point x i - point y i), ⟨?_, fun f hf => ?_⟩, ?_⟩
    · rw [fsum_mul_left, fsum_sub, fsum_point, fsum_point]; grind
    · have e : expect (fun _ => (0 : K)) f = 0 := by unfold expect; rw [fsum_mul_left]; grind
      rw [e, key]
      have h := (hf x y).mul_left hc
      have e₂ : ε * (d x y)⁻¹ * (1 * d x y) = ε := by clear h e key hxy; grind
      rw [e₂] at h
      unfold Within at *
      clear e e₂ key hxy
      grind
    · rw [key, hxy]
      clear key
      grind

/-! ## Feature matching -/

/-- The means of `k` features under `p` and `q` differ by at most `δ` each. -/
@[expose] def FeatureBall (φ : Fin k → Fin n → K) (δ : K) (p q : Fin n → K) : Prop :=
  ∀ j, Within δ (expect p (φ j)) (expect q (φ j))

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] in
/-- The mean of a linear value is linear in the means of the features. -/
theorem expect_linear (φ : Fin k → Fin n → K) (weights : Fin k → K) (p : Fin n → K) :
    expect p (fun i => fsum fun j => weights j * φ j i) =
      fsum fun j => weights j * expect p (φ j) := by
  unfold expect
  simp only [← fsum_mul_left]
  rw [fsum_swap]
  congr 1; funext j; congr 1; funext i; grind

/-- **One half of "exact duality"**: on a feature ball the value `w·φ` falls by at most `δ‖w‖₁`.
Appendix D, Zhou et al.; C42. -/
theorem feature_duality_le [DecidableLE K] {φ : Fin k → Fin n → K} {weights : Fin k → K} {δ : K}
    {p q : Fin n → K} (h : FeatureBall φ δ p q) :
    expect p (fun i => fsum fun j => weights j * φ j i) - δ * fsum (fun j => mag (weights j)) ≤
      expect q fun i => fsum fun j => weights j * φ j i := by
  rw [expect_linear, expect_linear]
  have e : fsum (fun j => weights j * expect p (φ j)) - δ * fsum (fun j => mag (weights j)) =
      fsum fun j => weights j * expect p (φ j) - δ * mag (weights j) := by
    rw [fsum_sub, fsum_mul_left]
  rw [e]
  refine fsum_mono fun j => ?_
  have h₁ := h j
  unfold Within at h₁
  rcases le_total (a := 0) (b := weights j) with hw | hw
  · have := mul_le_mul_left h₁.1 hw
    rw [mag_of_nonneg hw]; grind
  · have := mul_le_mul_left h₁.2 (show 0 ≤ -weights j by grind)
    rw [mag_of_nonpos hw]; grind

/-- **The other half holds iff some probability vector of the ball attains the bound.** Appendix D,
"Exact Duality", corrected; C42. -/
theorem feature_duality_iff [DecidableLE K] {φ : Fin k → Fin n → K} {weights : Fin k → K} {δ m : K}
    {p : Fin n → K} (hm : IsMinimum (fun q => IsProb q ∧ FeatureBall φ δ p q)
      (fun q => expect q fun i => fsum fun j => weights j * φ j i) m) :
    m = expect p (fun i => fsum fun j => weights j * φ j i) -
        δ * fsum (fun j => mag (weights j)) ↔
      ∃ q, IsProb q ∧ FeatureBall φ δ p q ∧
        expect q (fun i => fsum fun j => weights j * φ j i) =
          expect p (fun i => fsum fun j => weights j * φ j i) -
            δ * fsum fun j => mag (weights j) := by
  constructor
  · intro h
    obtain ⟨q, hq, e⟩ := hm.attained
    exact ⟨q, hq.1, hq.2, e.trans h⟩
  · rintro ⟨q, hq, hball, e⟩
    obtain ⟨r, hr, e'⟩ := hm.attained
    have h₁ := hm.le q ⟨hq, hball⟩
    have h₂ := feature_duality_le (weights := weights) hr.2
    rw [e] at h₁
    rw [e'] at h₂
    exact le_antisymm h₁ h₂

/-- **It fails on two states**: one feature `(0, 1)`, weight `1`, nominal `δ₀`, radius `1/2`: the
worst case is `0`, the formula gives `-1/2`. C42. -/
theorem feature_duality_strict [DecidableLE K] :
    let φ : Fin 1 → Fin 2 → K := fun _ i => if i = 0 then 0 else 1
    let value : Fin 2 → K := fun i => fsum fun j : Fin 1 => (1 : K) * φ j i
    IsMinimum (fun q => IsProb q ∧ FeatureBall φ (1 / 2) (point 0) q)
        (fun q => expect q value) 0 ∧
      expect (point 0) value - 1 / 2 * fsum (fun _ : Fin 1 => mag (1 : K)) = -1 / 2 := by
  have h01 := OrderedRing.zero_lt_one (R := K)
  have m₁ : mag (1 : K) = 1 := mag_of_nonneg (by grind)
  refine ⟨⟨fun q hq => ?_, point 0, ⟨point_isProb 0, fun j => ?_⟩, ?_⟩, ?_⟩
  · exact expect_nonneg hq.1.nonneg fun i => by simp only [fsum]; split <;> grind
  · exact (Within.refl _).mono (by grind)
  · rw [expect_point]; simp [fsum]; grind
  · rw [expect_point]; simp [fsum, m₁]; grind

end RESAC
