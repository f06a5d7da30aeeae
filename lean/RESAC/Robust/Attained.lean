module

public import RESAC.Contraction.Existence
public import RESAC.Robust.WorstCase

public section

/-!
# Worst cases that exist: intervals and l1 balls

`IsWorstCase U E` says that `E` *is* the infimum over the set. For the sets that solvers use it
exists over every ordered field, and is attained: finitely many members hold a minimiser for every
`f`. Then the worst case is a finite minimum, and the robust backup has exactly one fixed point.

## Main definitions
* `FinitelyGenerated U`: finitely many members of `U` suffice to minimise every expectation.
* `InIntervals lo hi p`: `p` sums to one and lies between `lo` and `hi`.
* `InL1Ball p β q`: `q` is a probability vector within l1 distance `β` of `p`.

## Main statements (C03)
* `intervals_finitelyGenerated`: the vertices of the interval set, by moving mass between two
  coordinates until one of them meets a bound.
* `l1Ball_finitelyGenerated`: all mass goes to one state (water-filling), which leaves interval sets.
* `robust_exists_unique`: for such sets the worst case exists, and the robust backup is a
  γ-contraction with exactly one fixed point.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u v

section Definitions

variable {K : Type u} [Field K] [LE K] {n : Nat}

/-- Finitely many members of `U` hold, for every `f`, one whose expectation of `f` is smallest. -/
@[expose] def FinitelyGenerated (U : (Fin n → K) → Prop) : Prop :=
  ∃ L : List (Fin n → K), (∀ q, q ∈ L → U q) ∧
    ∀ p, U p → ∀ f, ∃ q, q ∈ L ∧ expect q f ≤ expect p f

/-- `p` sums to one and lies between `lo` and `hi`. -/
structure InIntervals (lo hi p : Fin n → K) : Prop where
  /-- At least the lower bound. -/
  ge : ∀ i, lo i ≤ p i
  /-- At most the upper bound. -/
  le : ∀ i, p i ≤ hi i
  /-- Total mass one. -/
  total : fsum p = 1

/-- `q` is a probability vector within l1 distance `β` of `p`. -/
structure InL1Ball [DecidableLE K] (p : Fin n → K) (β : K) (q : Fin n → K) : Prop where
  /-- A probability vector. -/
  prob : IsProb q
  /-- Near `p`. -/
  near : (fsum fun i => mag (q i - p i)) ≤ β

/-- All vectors of truth values. -/
@[expose] def boolVectors : (n : Nat) → List (Fin n → Bool)
  | 0 => [fun i => i.elim0]
  | n + 1 => (boolVectors n).flatMap fun g => [cons true g, cons false g]

/-- How many entries are true. -/
@[expose] def count : {n : Nat} → (Fin n → Bool) → Nat
  | 0, _ => 0
  | _ + 1, b => (if b 0 then 1 else 0) + count fun i => b i.succ

end Definitions

/-! ## Counting -/

/-- Every vector of truth values is in the list. -/
theorem mem_boolVectors : ∀ {n : Nat} (g : Fin n → Bool), g ∈ boolVectors n
  | 0, g => by
    have : g = fun i => i.elim0 := funext fun i => i.elim0
    rw [this, boolVectors]
    exact List.mem_singleton.2 rfl
  | n + 1, g => by
    have e : g = cons (g 0) fun i => g i.succ := by
      funext i
      exact Fin.cases rfl (fun i => rfl) i
    rw [boolVectors, List.mem_flatMap]
    refine ⟨fun i => g i.succ, mem_boolVectors _, ?_⟩
    rw [e]
    cases g 0 <;> simp [cons]

/-- Fewer true entries count less. -/
theorem count_le : ∀ {n : Nat} {b c : Fin n → Bool}, (∀ i, b i = true → c i = true) →
    count b ≤ count c
  | 0, _, _, _ => Nat.le_refl _
  | n + 1, b, c, h => by
    have h₁ := count_le fun i : Fin n => h i.succ
    have h₂ := h 0
    simp only [count]
    cases hb : b 0 <;> cases hc : c 0 <;> simp_all <;> omega

/-- Strictly fewer count strictly less. -/
theorem count_lt : ∀ {n : Nat} {b c : Fin n → Bool}, (∀ i, b i = true → c i = true) →
    ∀ j, b j = false → c j = true → count b < count c
  | n + 1, b, c, h, j, hb, hc => by
    have h₁ := count_le fun i : Fin n => h i.succ
    have h₂ := h 0
    revert hb hc
    refine Fin.cases (fun hb hc => ?_) (fun j hb hc => ?_) j
    · simp only [count]
      rw [hb, hc]
      simp
      omega
    · have h₃ := count_lt (fun i : Fin n => h i.succ) j hb hc
      simp only [count]
      cases hb₀ : b 0 <;> cases hc₀ : c 0 <;> simp_all <;> omega

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {n : Nat}

/-! ## Interval sets -/

section Intervals

variable {lo hi p : Fin n → K}

/-- A coordinate is free if it meets neither bound. -/
@[expose] def free (lo hi p : Fin n → K) (i : Fin n) : Bool :=
  decide (¬ p i ≤ lo i) && decide (¬ hi i ≤ p i)

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- A coordinate that is not free lies at a bound. -/
theorem InIntervals.at_bound (h : InIntervals lo hi p) {i : Fin n} (hi' : free lo hi p i = false) :
    p i = lo i ∨ p i = hi i := by
  have h₁ := h.ge i
  have h₂ := h.le i
  simp only [free, Bool.and_eq_false_iff, decide_eq_false_iff_not, Classical.not_not] at hi'
  rcases hi' with h₃ | h₃
  · exact Or.inl (le_antisymm h₃ h₁)
  · exact Or.inr (le_antisymm h₂ h₃)

/-- The lower or upper bounds that `g` chooses, and the missing mass at `j`. -/
@[expose] def vertex (lo hi : Fin n → K) (g : Fin n → Bool) (j : Fin n) : Fin n → K :=
  fun i => (if g i then hi i else lo i) +
    (1 - fsum fun k => if g k then hi k else lo k) * point j i

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- A member with at most one free coordinate is a vertex. -/
theorem InIntervals.eq_vertex (h : InIntervals lo hi p) {j : Fin n}
    (hj : ∀ i, i ≠ j → free lo hi p i = false) : ∃ g, p = vertex lo hi g j := by
  refine ⟨fun i => decide (hi i ≤ p i), ?_⟩
  have hb : ∀ i, i ≠ j → (if decide (hi i ≤ p i) = true then hi i else lo i) = p i := fun i hij => by
    have h₁ := h.at_bound (hj i hij)
    have h₂ := h.ge i
    have h₃ := h.le i
    by_cases hle : hi i ≤ p i
    · simp only [hle, decide_true, if_true]; exact le_antisymm hle h₃
    · simp only [hle, decide_false, Bool.false_eq_true, if_false]
      rcases h₁ with h₁ | h₁
      · exact h₁.symm
      · rw [h₁] at hle; exact absurd (le_refl _) hle
  have hs := fsum_eq_single
    (fun i => p i - if decide (hi i ≤ p i) = true then hi i else lo i) j fun i hij => by
      dsimp only
      rw [hb i hij]; clear hb hj; grind
  rw [fsum_sub, h.total] at hs
  funext i
  unfold vertex
  rw [hs]
  by_cases hij : i = j
  · subst hij
    simp only [point, if_true]
    clear hs hb hj
    grind
  · rw [hb i hij]
    simp only [point, hij, if_false]
    clear hs hb hj
    grind

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] [DecidableLE K] in
/-- Mass `t` moved from `j` to `i`. -/
theorem expect_move (p f : Fin n → K) (t : K) (i j : Fin n) :
    expect (fun k => p k + t * point i k + -t * point j k) f =
      expect p f + t * f i - t * f j := by
  rw [expect_weight_add (fun k => p k + t * point i k), expect_weight_add p, expect_weight_mul,
    expect_weight_mul, expect_point, expect_point]
  grind

omit [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K] [DecidableLE K] in
/-- A vector's sum is its expectation of one. -/
theorem fsum_eq_expect (p : Fin n → K) : fsum p = expect p fun _ => 1 := by
  unfold expect
  congr 1; funext i; grind

/-- Between two free coordinates mass can be moved until one of them is free no more, and the
expectation of `f` does not rise. -/
theorem InIntervals.move (h : InIntervals lo hi p) (f : Fin n → K) {i j : Fin n} (hij : i ≠ j)
    (hi' : free lo hi p i = true) (hj' : free lo hi p j = true) (hf : f i ≤ f j) :
    ∃ q, InIntervals lo hi q ∧ expect q f ≤ expect p f ∧
      count (free lo hi q) < count (free lo hi p) := by
  have hpi : ¬ p i ≤ lo i ∧ ¬ hi i ≤ p i := by
    simpa [free] using hi'
  have hpj : ¬ p j ≤ lo j ∧ ¬ hi j ≤ p j := by
    simpa [free] using hj'
  let t := smaller (hi i - p i) (p j - lo j)
  have ht₁ : t ≤ hi i - p i := smaller_le_left _ _
  have ht₂ : t ≤ p j - lo j := smaller_le_right _ _
  have ht₃ : t = hi i - p i ∨ t = p j - lo j := by
    show smaller _ _ = _ ∨ smaller _ _ = _
    unfold smaller; split
    · exact Or.inl rfl
    · exact Or.inr rfl
  have ht₀ : 0 ≤ t := by clear hf h; grind
  generalize t = t at *
  let q : Fin n → K := fun k => p k + t * point i k + -t * point j k
  have qi : q i = p i + t := by simp [q, point, hij]; grind
  have qj : q j = p j - t := by simp [q, point, hij.symm]; grind
  have qk : ∀ k, k ≠ i → k ≠ j → q k = p k := fun k h₁ h₂ => by simp [q, point, h₁, h₂]; grind
  have hq : InIntervals lo hi q := by
    refine ⟨fun k => ?_, fun k => ?_, ?_⟩
    · have := h.ge k
      by_cases h₁ : k = i
      · subst h₁; rw [qi]; clear qk hf; grind
      · by_cases h₂ : k = j
        · subst h₂; rw [qj]; clear qk hf; grind
        · rw [qk k h₁ h₂]; exact this
    · have := h.le k
      by_cases h₁ : k = i
      · subst h₁; rw [qi]; clear qk hf; grind
      · by_cases h₂ : k = j
        · subst h₂; rw [qj]; clear qk hf; grind
        · rw [qk k h₁ h₂]; exact this
    · rw [fsum_eq_expect, expect_move, ← fsum_eq_expect, h.total]
      grind
  refine ⟨q, hq, ?_, ?_⟩
  · have e : expect q f = expect p f + t * f i - t * f j := expect_move p f t i j
    have := mul_le_mul_left hf ht₀
    rw [e]
    clear e qk
    grind
  · have sub : ∀ k, free lo hi q k = true → free lo hi p k = true := fun k hk => by
      by_cases h₁ : k = i
      · subst h₁; exact hi'
      · by_cases h₂ : k = j
        · subst h₂; exact hj'
        · have e := qk k h₁ h₂
          unfold free at hk ⊢
          rw [e] at hk; exact hk
    rcases ht₃ with ht | ht
    · refine count_lt sub i ?_ hi'
      have : hi i ≤ q i := by rw [qi, ht]; clear qk hf sub; grind
      simp [free, this]
    · refine count_lt sub j ?_ hj'
      have : q j ≤ lo j := by rw [qj, ht]; clear qk hf sub; grind
      simp [free, this]

/-- Below every member of an interval set there is a vertex of it. -/
theorem InIntervals.exists_vertex (f : Fin n → K) : ∀ (k : Nat) {p : Fin n → K},
    InIntervals lo hi p → count (free lo hi p) ≤ k →
      ∃ g j, InIntervals lo hi (vertex lo hi g j) ∧ expect (vertex lo hi g j) f ≤ expect p f
  | k, p, h, hk => by
    by_cases two : ∃ i j, i ≠ j ∧ free lo hi p i = true ∧ free lo hi p j = true
    · obtain ⟨i, j, hij, h₁, h₂⟩ := two
      have ⟨q, hq, hqf, hlt⟩ : ∃ q, InIntervals lo hi q ∧ expect q f ≤ expect p f ∧
          count (free lo hi q) < count (free lo hi p) := by
        rcases le_total (a := f i) (b := f j) with hf | hf
        · exact h.move f hij h₁ h₂ hf
        · exact h.move f hij.symm h₂ h₁ hf
      match k with
      | 0 => omega
      | k + 1 =>
        obtain ⟨g, j, hv, hf⟩ := InIntervals.exists_vertex f k hq (by omega)
        exact ⟨g, j, hv, le_trans hf hqf⟩
    · have ⟨j, hj⟩ : ∃ j, ∀ i, i ≠ j → free lo hi p i = false := by
        by_cases one : ∃ j, free lo hi p j = true
        · obtain ⟨j, hj⟩ := one
          refine ⟨j, fun i hij => ?_⟩
          cases hfi : free lo hi p i
          · rfl
          · exact absurd ⟨i, j, hij, hfi, hj⟩ two
        · cases n with
          | zero =>
            have := h.total
            have := OrderedRing.zero_lt_one (R := K)
            simp only [fsum] at *
            grind
          | succ n =>
            refine ⟨0, fun i _ => ?_⟩
            cases hfi : free lo hi p i
            · rfl
            · exact absurd ⟨i, hfi⟩ one
      obtain ⟨g, e⟩ := h.eq_vertex hj
      exact ⟨g, j, e ▸ h, e ▸ le_refl _⟩

/-- **Interval sets are finitely generated**, by their vertices. C03. -/
theorem intervals_finitelyGenerated (lo hi : Fin n → K) :
    FinitelyGenerated (InIntervals lo hi) := by
  classical
  refine ⟨((boolVectors n).flatMap fun g => (List.finRange n).map fun j => vertex lo hi g j).filter
    fun q => decide (InIntervals lo hi q), fun q hq => ?_, fun p hp f => ?_⟩
  · exact of_decide_eq_true (List.mem_filter.1 hq).2
  · obtain ⟨g, j, hv, hf⟩ := InIntervals.exists_vertex f _ hp (Nat.le_refl _)
    refine ⟨vertex lo hi g j, List.mem_filter.2 ⟨?_, decide_eq_true hv⟩, hf⟩
    rw [List.mem_flatMap]
    exact ⟨g, mem_boolVectors g, List.mem_map.2 ⟨j, List.mem_finRange j, rfl⟩⟩

omit [LT K] [LawfulOrderLT K] [OrderedRing K] [DecidableLE K] in
/-- Members of an interval set with non-negative bounds are probability vectors. -/
theorem InIntervals.isProb (h : InIntervals lo hi p) (h₀ : ∀ i, 0 ≤ lo i) : IsProb p where
  nonneg i := le_trans (h₀ i) (h.ge i)
  total := h.total

end Intervals

/-! ## l1 balls -/

section Ball

variable {p q : Fin n → K} {β : K}

/-- The interval set in which only `j` gains mass, and at most `β/2`. -/
@[expose] def gainLo (p : Fin n → K) (j i : Fin n) : K := if i = j then p i else 0

/-- The upper bounds of that set. -/
@[expose] def gainHi (p : Fin n → K) (β : K) (j i : Fin n) : K :=
  if i = j then p i + β / 2 else p i

/-- That set lies in the ball. -/
theorem InIntervals.inL1Ball (hp : IsProb p) {j : Fin n}
    (h : InIntervals (gainLo p j) (gainHi p β j) q) : InL1Ball p β q := by
  have hj := h.ge j
  have hj' := h.le j
  simp only [gainLo, gainHi, if_true] at hj hj'
  refine ⟨⟨fun i => ?_, h.total⟩, ?_⟩
  · have h₁ := h.ge i
    have h₂ := hp.nonneg i
    unfold gainLo at h₁
    split at h₁ <;> grind
  · have e : (fun i => mag (q i - p i)) =
        fun i => p i - q i + 2 * (q j - p j) * point j i := by
      funext i
      have h₁ := h.le i
      by_cases hij : i = j
      · subst hij
        simp only [point, if_true]
        rw [mag_of_nonneg (by grind)]
        grind
      · simp only [gainHi, hij, if_false] at h₁
        simp only [point, hij, if_false]
        rw [mag_of_nonpos (by grind)]
        grind
    rw [e, fsum_add, fsum_sub, fsum_mul_left, fsum_point, h.total, hp.total]
    clear e
    grind

/-- Below every member of the ball there is one that gains mass at one state only. -/
theorem InL1Ball.exists_gain (hp : IsProb p) (h : InL1Ball p β q) (f : Fin n → K) :
    ∃ j r, InIntervals (gainLo p j) (gainHi p β j) r ∧ expect r f ≤ expect q f := by
  cases n with
  | zero =>
    have := hp.total
    have := OrderedRing.zero_lt_one (R := K)
    simp only [fsum] at *
    grind
  | succ n =>
    obtain ⟨j, hj⟩ := exists_eq_fmin f
    have hmin : ∀ i, f j ≤ f i := fun i => hj ▸ fmin_le f i
    let s : Fin (n + 1) → K := fun i => smaller (q i) (p i)
    let M := 1 - fsum s
    have hs₁ : ∀ i, s i ≤ q i := fun i => smaller_le_left _ _
    have hs₂ : ∀ i, s i ≤ p i := fun i => smaller_le_right _ _
    have hs₀ : ∀ i, 0 ≤ s i := fun i => le_smaller_iff.2 ⟨h.prob.nonneg i, hp.nonneg i⟩
    have hd : (fsum fun i => q i - s i) = M := by rw [fsum_sub, h.prob.total]
    have he : (fsum fun i => p i - s i) = M := by rw [fsum_sub, hp.total]
    have hM : 2 * M ≤ β := by
      have e : (fun i => mag (q i - p i)) = fun i => q i - s i + (p i - s i) := by
        funext i
        show _ = q i - smaller (q i) (p i) + (p i - smaller (q i) (p i))
        rcases le_total (a := q i) (b := p i) with hle | hle
        · rw [smaller_eq_left hle, mag_of_nonpos (by grind)]; grind
        · rw [smaller_eq_right hle, mag_of_nonneg (by grind)]; grind
      have hn := h.near
      rw [e, fsum_add, hd, he] at hn
      clear e hd he hs₁ hs₂ hs₀ hmin
      grind
    have hpj : p j - s j ≤ M := by
      rw [← he]
      exact le_fsum (f := fun i => p i - s i) (fun i => by have := hs₂ i; grind) j
    let r : Fin (n + 1) → K := fun i => s i + M * point j i
    have rj : r j = s j + M := by simp [r, point]; grind
    have ri : ∀ i, i ≠ j → r i = s i := fun i hij => by simp [r, point, hij]; grind
    refine ⟨j, r, ⟨fun i => ?_, fun i => ?_, ?_⟩, ?_⟩
    · unfold gainLo
      by_cases hij : i = j
      · subst hij; rw [if_pos rfl, rj]; clear ri; grind
      · rw [if_neg hij, ri i hij]; exact hs₀ i
    · unfold gainHi
      have h₂ := hs₂ i
      by_cases hij : i = j
      · subst hij; rw [if_pos rfl, rj]; clear ri; grind
      · rw [if_neg hij, ri i hij]; exact h₂
    · show fsum (fun i => s i + M * point j i) = 1
      rw [fsum_add, fsum_mul_left, fsum_point]
      show fsum s + (1 - fsum s) * 1 = 1
      grind
    · have e₁ : expect r f = expect s f + M * f j := by
        show expect (fun i => s i + M * point j i) f = _
        rw [expect_weight_add s, expect_weight_mul, expect_point]
      have e₂ : expect q f = expect s f + expect (fun i => q i - s i) f := by
        rw [← expect_weight_add s]
        congr 1; funext i; grind
      have h₁ : expect (fun i => q i - s i) (fun _ => f j) ≤ expect (fun i => q i - s i) f :=
        expect_mono (fun i => by have := hs₁ i; grind) hmin
      have e₃ : expect (fun i => q i - s i) (fun _ => f j) = M * f j := by
        unfold expect
        rw [fsum_mul_right, hd]
      rw [e₁, e₂, ← e₃]
      clear e₁ e₂ e₃ hd he ri
      grind

/-- **l1 balls are finitely generated.** C03. -/
theorem l1Ball_finitelyGenerated (hp : IsProb p) (β : K) : FinitelyGenerated (InL1Ball p β) := by
  have hg := fun j => intervals_finitelyGenerated (gainLo p j) (gainHi p β j)
  refine ⟨(List.finRange n).flatMap fun j => Classical.choose (hg j), fun q hq => ?_,
    fun q hq f => ?_⟩
  · obtain ⟨j, -, hj⟩ := List.mem_flatMap.1 hq
    exact ((Classical.choose_spec (hg j)).1 q hj).inL1Ball hp
  · obtain ⟨j, r, hr, hf⟩ := hq.exists_gain hp f
    obtain ⟨v, hv, hvf⟩ := (Classical.choose_spec (hg j)).2 r hr f
    exact ⟨v, List.mem_flatMap.2 ⟨j, List.mem_finRange j, hv⟩, le_trans hvf hf⟩

/-- The centre lies in the ball. -/
theorem InL1Ball.center (hp : IsProb p) (hβ : 0 ≤ β) : InL1Ball p β p := by
  refine ⟨hp, ?_⟩
  have e : (fun i => mag (p i - p i)) = fun _ => 0 := by
    funext i
    rw [show p i - p i = 0 by grind, mag_zero]
  rw [e, fsum_zero]
  exact hβ

end Ball

/-! ## The worst case exists, and the robust backup has its fixed point -/

omit [LT K] [LawfulOrderLT K] [OrderedRing K] in
/-- **Over a finitely generated set the worst case exists**, and it is a minimum of finitely many
expectations. C03. -/
theorem FinitelyGenerated.exists_worst {U : (Fin n → K) → Prop} (h : FinitelyGenerated U)
    (hU : ∀ p, U p → IsProb p) (hne : ∃ p, U p) :
    ∃ V : (Fin n → K) → K, IsInfimum (fun p : {p // U p} => expect p.1) V ∧ LatticeAffine 1 V := by
  obtain ⟨L, hL, hmin⟩ := h
  obtain ⟨p, hp⟩ := hne
  match L with
  | [] =>
    obtain ⟨q, hq, -⟩ := hmin p hp fun _ => 0
    exact absurd hq (List.not_mem_nil)
  | q :: qs =>
    let P : Fin (qs.length + 1) → Fin n → K := (q :: qs).get
    refine ⟨fun f => fmin fun i => expect (P i) f, ⟨fun p f => ?_, fun f b hb => ?_⟩, ?_⟩
    · obtain ⟨r, hr, hrf⟩ := hmin p.1 p.2 f
      obtain ⟨i, hi⟩ := List.mem_iff_get.1 hr
      have : expect (P i) f ≤ expect p.1 f := by
        show expect ((q :: qs).get i) f ≤ _
        rw [hi]; exact hrf
      exact le_trans (fmin_le (fun i => expect (P i) f) i) this
    · exact le_fmin fun i => hb ⟨P i, hL _ (List.get_mem _ _)⟩
    · exact LatticeAffine.min_family fun i => (hU _ (hL _ (List.get_mem _ _))).latticeAffine

omit [Field K] [LT K] [LawfulOrderLT K] [OrderedRing K] [DecidableLE K] in
/-- An infimum is unique. -/
theorem IsInfimum.unique {X : Type v} {ι : Type u} {F : ι → (X → K) → K} {V W : (X → K) → K}
    (hV : IsInfimum F V) (hW : IsInfimum F W) : V = W :=
  funext fun f => le_antisymm (hW.greatest f _ fun i => hV.le i f)
    (hV.greatest f _ fun i => hW.le i f)

/-- **The robust theorem with its worst case discharged** (§3.2, Iyengar): over rectangular,
non-empty, finitely generated sets of probability vectors, as intervals and l1 balls are, the worst
case exists, and the robust backup is a γ-contraction with exactly one fixed point, over every
ordered field. C03, C11. -/
theorem robust_exists_unique {n m : Nat} {U : Fin (n + 1) → Fin (m + 1) → (Fin (n + 1) → K) → Prop}
    (hU : ∀ s a p, U s a p → IsProb p) (hne : ∀ s a, ∃ p, U s a p)
    (hg : ∀ s a, FinitelyGenerated (U s a)) {R pen : Fin (n + 1) → Fin (m + 1) → K} {γ : K}
    (hγ : 0 ≤ γ) (hγ₁ : γ < 1) {V : Fin (n + 1) → (Fin (m + 1) → K) → K}
    (hV : ∀ s, LatticeAffine 1 (V s)) :
    ∃ E, IsWorstCase U E ∧ Modulus (rev R γ E V pen) γ ∧ HasUniqueFixedPoint (rev R γ E V pen) := by
  have h := fun s a => (hg s a).exists_worst (hU s a) (hne s a)
  refine ⟨fun s a => Classical.choose (h s a), fun s a => (Classical.choose_spec (h s a)).1, ?_⟩
  exact rev_unique_fixedPoint hγ hγ₁ (fun s a => (Classical.choose_spec (h s a)).2) hV

end RESAC
