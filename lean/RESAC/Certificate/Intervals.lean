module

public import RESAC.Certificate.Checker

public section

/-!
# A checker for interval sets

The worst case over an interval set is a linear program. A certificate need not solve it: it holds,
for each pair, a member of the set at which the worst case is attained, and a threshold that shows
it. Whatever is worth more than the threshold has its lower bound, whatever is worth less its upper
one; no member of the set can do worse. With these members the problem is a `Problem` with one
kernel, and its checker is used again.

## Main definitions
* `worstOf U`: the worst case over a set of vectors.
* `IntervalProblem`: a `Problem` whose rows are the worst members, with the bounds and thresholds.
* `IntervalProblem.backup`: its operator, the worst case over `IntervalProblem.set` at each pair.
* `IntervalProblem.check`: the checker.

## Main statements (C47)
* `rowWorst_eq`: a row that passes attains the worst case.
* `IntervalProblem.sound`: if `check` says `true`, the fixed point exists, is unique, and lies
  between `Q + lo/(1-γ)` and `Q + hi/(1-γ)`.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

universe u

section Definitions

/-- The worst case over a set of vectors, where there is one. -/
@[expose] def worstOf {K : Type u} [Field K] [LE K] {n : Nat} (U : (Fin n → K) → Prop) :
    (Fin n → K) → K :=
  open Classical in
  if h : ∃ W, IsInfimum (fun p : {p : Fin n → K // U p} => expect p.1) W then Classical.choose h
  else fun _ => 0

/-- Bounds on a row's weights, entry by entry: (lower, upper). -/
abbrev Bounds := List (Nat × Nat)

/-- What a pair adds: the state whose value is the threshold, and the bounds on its row. -/
structure Box where
  /-- The state whose value is the threshold. -/
  pivot : Nat
  /-- The bounds on the weights of the row. -/
  bounds : Bounds

/-- Both lists are as long, and the test holds entry by entry. -/
@[expose] def allTwo {α β : Type} (test : α → β → Bool) : List α → List β → Bool
  | [], [] => true
  | x :: xs, y :: ys => test x y && allTwo test xs ys
  | _, _ => false

/-- The lower bounds, as a row. -/
@[expose] def lowerRow : Row → Bounds → Row
  | (i, _) :: row, (a, _) :: bounds => (i, a) :: lowerRow row bounds
  | _, _ => []

/-- The upper bounds, as a row. -/
@[expose] def upperRow : Row → Bounds → Row
  | (i, _) :: row, (_, b) :: bounds => (i, b) :: upperRow row bounds
  | _, _ => []

/-- The row is within its bounds; where the value is above the threshold `t` it is at the lower
bound, where it is below at the upper one. -/
@[expose] def rowWorst (v : List Int) (t : Int) : Row → Bounds → Bool :=
  allTwo fun e b => Nat.ble b.1 e.2 && Nat.ble e.2 b.2 &&
    (Nat.beq e.2 b.1 || decide (v.getD e.1 0 ≤ t)) && (Nat.beq e.2 b.2 || decide (t ≤ v.getD e.1 0))

/-- A problem whose kernel is chosen from an interval set at each pair. Its one row for each pair is
the worst member of the set; the bounds are over the row's total. -/
structure IntervalProblem extends Problem where
  /-- The bounds and thresholds, state by state. -/
  boxes : List (List Box)

/-- The row of an entry. -/
@[expose] def Entry.row (e : Entry) : Row := e.rows.getD 0 []

/-- **The checker for interval sets.** -/
@[expose] def IntervalProblem.check (p : IntervalProblem) : Bool :=
  p.toProblem.check && Nat.beq p.k 0 &&
    (let v := p.states.map p.functional.value
     allTwo (allTwo fun e b => rowWorst v (v.getD b.pivot 0) e.row b.bounds) p.states p.boxes)

variable (p : IntervalProblem) (s : Fin (p.n + 1)) (a : Fin (p.m + 1))

/-- The box of a pair. -/
@[expose] def IntervalProblem.box : Box := (p.boxes.getD s []).getD a ⟨0, []⟩

/-- The lower bounds on the probabilities. -/
@[expose] def IntervalProblem.lower (i : Fin (p.n + 1)) : Rat :=
  (rowWeight i (lowerRow (p.entry s a).row (p.box s a).bounds) : Rat) /
    (rowTotal (p.entry s a).row : Rat)

/-- The upper bounds on the probabilities. -/
@[expose] def IntervalProblem.upper (i : Fin (p.n + 1)) : Rat :=
  (rowWeight i (upperRow (p.entry s a).row (p.box s a).bounds) : Rat) /
    (rowTotal (p.entry s a).row : Rat)

/-- The interval set of a pair. -/
@[expose] def IntervalProblem.set : (Fin (p.n + 1) → Rat) → Prop :=
  InIntervals (p.lower s a) (p.upper s a)

/-- **The operator of the problem**: the worst case over the interval set of each pair. -/
@[expose] def IntervalProblem.backup : (Fin (p.n + 1) → Fin (p.m + 1) → Rat) →
    Fin (p.n + 1) → Fin (p.m + 1) → Rat :=
  rev p.reward p.discount (fun s a => worstOf (p.set s a))
    (fun s q => p.valueOf s fun a => q a - p.offset s a) p.penalty

end Definitions

/-! ## Lists -/

/-- What holds entry by entry holds at each place. -/
theorem allTwo_getD {α β : Type} {test : α → β → Bool} (x₀ : α) (y₀ : β) :
    ∀ {xs : List α} {ys : List β}, allTwo test xs ys = true → ∀ i, i < xs.length →
      test (xs.getD i x₀) (ys.getD i y₀) = true
  | x :: xs, y :: ys, h, i, hi => by
    simp only [allTwo, Bool.and_eq_true] at h
    cases i with
    | zero => exact h.1
    | succ i =>
      have := allTwo_getD x₀ y₀ h.2 i (by simpa using hi)
      simpa using this

/-- A row that passes: its weights are within the bounds, and at them off the threshold. -/
theorem rowWorst_weight {v : List Int} {t : Int} (i : Nat) : ∀ {row : Row} {bounds : Bounds},
    rowWorst v t row bounds = true →
      rowWeight i (lowerRow row bounds) ≤ rowWeight i row ∧
      rowWeight i row ≤ rowWeight i (upperRow row bounds) ∧
      (t < v.getD i 0 → rowWeight i row = rowWeight i (lowerRow row bounds)) ∧
      (v.getD i 0 < t → rowWeight i row = rowWeight i (upperRow row bounds))
  | [], [], _ => by simp [rowWeight, lowerRow, upperRow]
  | (j, w) :: row, (a, b) :: bounds, h => by
    simp only [rowWorst, allTwo, Bool.and_eq_true, Bool.or_eq_true, Nat.ble_eq, Nat.beq_eq,
      decide_eq_true_eq] at h
    obtain ⟨⟨⟨⟨h₁, h₂⟩, h₃⟩, h₄⟩, h₅⟩ := h
    have ih := rowWorst_weight (v := v) (t := t) i (row := row) (bounds := bounds) h₅
    simp only [lowerRow, upperRow, rowWeight]
    by_cases hj : j = i
    · subst hj
      simp only [if_true]
      omega
    · simp only [hj, if_false]
      omega

/-! ## The worst case over a set -/

section Worst

variable {K : Type u} [Field K] [LE K] [LT K] [LawfulOrderLT K] [IsLinearOrder K] [OrderedRing K]
variable [DecidableLE K] {n : Nat} {U : (Fin n → K) → Prop}

omit [LT K] [LawfulOrderLT K] [OrderedRing K] [IsLinearOrder K] [DecidableLE K] in
/-- If there is a worst case, this is it. -/
theorem worstOf_isInfimum {W : (Fin n → K) → K}
    (h : IsInfimum (fun p : {p : Fin n → K // U p} => expect p.1) W) :
    IsInfimum (fun p : {p : Fin n → K // U p} => expect p.1) (worstOf U) := by
  have hex : ∃ W, IsInfimum (fun p : {p : Fin n → K // U p} => expect p.1) W := ⟨W, h⟩
  have e : worstOf U = Classical.choose hex := by
    unfold worstOf
    exact dif_pos hex
  rw [e]
  exact Classical.choose_spec hex

/-- A member of an interval set that is at its lower bounds where `f` is above a threshold, and at
its upper bounds where it is below, attains the worst case. -/
theorem intervals_attained {lower upper p f : Fin n → K} {W : (Fin n → K) → K}
    (hw : IsInfimum (fun p : {p // InIntervals lower upper p} => expect p.1) W)
    (hp : InIntervals lower upper p) (t : K) (hl : ∀ i, t < f i → p i = lower i)
    (hu : ∀ i, f i < t → p i = upper i) : W f = expect p f := by
  refine le_antisymm (intervals_le hw hp) ?_
  have h := intervals_ge (f := f) hw t
  have e : (fun i => if t ≤ f i then lower i * (f i - t) else upper i * (f i - t)) =
      fun i => p i * f i - p i * t := by
    funext i
    by_cases h₁ : t ≤ f i
    · simp only [h₁, if_true]
      by_cases h₂ : f i ≤ t
      · have := le_antisymm h₁ h₂
        clear h hw hl hu
        grind
      · have := hl i (by clear h hw hl hu; grind)
        clear h hw hl hu
        grind
    · simp only [h₁, if_false]
      have := hu i (by clear h hw hl hu; grind)
      clear h hw hl hu
      grind
  rw [e, fsum_sub, fsum_mul_right, hp.total] at h
  unfold expect
  clear e
  grind

end Worst

/-! ## Soundness -/

/-- Division by a positive number keeps the order of natural numbers. -/
theorem natCast_div_le {a b : Nat} {d : Rat} (hd : 0 < d) : (a : Rat) / d ≤ (b : Rat) / d ↔ a ≤ b := by
  have h := intCast_div_le (a := (a : Int)) (b := (b : Int)) hd
  rw [Rat.intCast_natCast, Rat.intCast_natCast] at h
  exact h.trans Int.ofNat_le

/-- **A row that passes attains the worst case** over its interval set. -/
theorem rowWorst_eq {n : Nat} {v : List Int} {t : Int} {d : Rat} (hd : 0 < d) {f : Fin n → Rat}
    (hf : ∀ i, f i = (v.getD i 0 : Rat) / d) {row : Row} {bounds : Bounds} {lower upper : Fin n → Rat}
    (hl : ∀ i, lower i = (rowWeight i (lowerRow row bounds) : Rat) / (rowTotal row : Rat))
    (hu : ∀ i, upper i = (rowWeight i (upperRow row bounds) : Rat) / (rowTotal row : Rat))
    (hrow : rowGood n row = true) (h : rowWorst v t row bounds = true) :
    InIntervals lower upper (rowProb row) ∧
      worstOf (InIntervals lower upper) f = expect (rowProb row) f := by
  have hprob : IsProb (rowProb row : Fin n → Rat) := rowProb_isProb hrow
  have hW : (0 : Rat) < (rowTotal row : Rat) := by
    simp only [rowGood, Bool.and_eq_true, Nat.blt_eq] at hrow
    exact Rat.natCast_pos.2 hrow.2
  have hin : InIntervals lower upper (rowProb row) := by
    refine ⟨fun i => ?_, fun i => ?_, hprob.total⟩
    · rw [hl, rowProb]
      exact (natCast_div_le hW).2 (rowWorst_weight i.val h).1
    · rw [hu, rowProb]
      exact (natCast_div_le hW).2 (rowWorst_weight i.val h).2.1
  have h₀ : ∀ i, 0 ≤ lower i := fun i => by rw [hl]; exact div_nonneg Rat.natCast_nonneg hW
  obtain ⟨W, hw, -⟩ := (intervals_finitelyGenerated lower upper).exists_worst
    (fun p hp => hp.isProb h₀) ⟨_, hin⟩
  refine ⟨hin, intervals_attained (worstOf_isInfimum hw) hin ((t : Rat) / d) (fun i hi => ?_)
    fun i hi => ?_⟩
  · rw [hf] at hi
    rw [hl, rowProb, (rowWorst_weight i.val h).2.2.1 ?_]
    exact Int.not_le.1 fun hn => absurd ((intCast_div_le hd).2 hn) (by grind)
  · rw [hf] at hi
    rw [hu, rowProb, (rowWorst_weight i.val h).2.2.2 ?_]
    exact Int.not_le.1 fun hn => absurd ((intCast_div_le hd).2 hn) (by grind)

variable {p : IntervalProblem}

/-- What the checker decides of a pair. -/
theorem IntervalProblem.pair (hp : p.check = true) (s : Fin (p.n + 1)) (a : Fin (p.m + 1)) :
    p.set s a (rowProb (p.entry s a).row) ∧
      worstOf (p.set s a) (fun s' => p.valueOf s' fun a => p.table s' a - p.offset s' a) =
        robustE p.kernel s a (fun s' => p.valueOf s' fun a => p.table s' a - p.offset s' a) := by
  simp only [IntervalProblem.check, Bool.and_eq_true, Nat.beq_eq] at hp
  obtain ⟨⟨hp, hk⟩, hbox⟩ := hp
  have h := Problem.checked hp
  have hstate : s.val < p.states.length := by
    false_or_by_contra
    have h₁ := h.actions s
    rw [List.getD_eq_getElem?_getD, List.getElem?_eq_none (by omega)] at h₁
    simp at h₁
  have hb := allTwo_getD [] [] hbox s.val hstate
  have hb' := allTwo_getD Entry.none ⟨0, []⟩ hb a.val (by have := h.actions s; have := a.isLt; omega)
  have hrow : rowGood (p.n + 1) (p.entry s a).row = true := h.row ⟨0, by omega⟩ s a
  obtain ⟨h₁, h₂⟩ := rowWorst_eq (OrderedRing.mul_pos h.den_pos h.scale_pos) h.value
    (lower := p.lower s a) (upper := p.upper s a) (fun _ => rfl) (fun _ => rfl) hrow hb'
  refine ⟨h₁, h₂.trans ?_⟩
  obtain ⟨i, hi⟩ := exists_eq_fmin fun i => expect (p.kernel i s a)
    fun s' => p.valueOf s' fun a => p.table s' a - p.offset s' a
  have hi₀ : i.val = 0 := by have := i.isLt; omega
  unfold robustE
  rw [← hi]
  unfold Problem.kernel Entry.row
  rw [hi₀]

/-- The total of a pair's row is positive. -/
theorem IntervalProblem.total_pos (hp : p.check = true) (s : Fin (p.n + 1)) (a : Fin (p.m + 1)) :
    (0 : Rat) < (rowTotal (p.entry s a).row : Rat) := by
  simp only [IntervalProblem.check, Bool.and_eq_true] at hp
  have h : rowGood (p.n + 1) (p.entry s a).row = true :=
    (Problem.checked hp.1.1).row ⟨0, by omega⟩ s a
  simp only [rowGood, Bool.and_eq_true, Nat.blt_eq] at h
  exact Rat.natCast_pos.2 h.2

/-- The operator's expectation is the worst case over the sets. -/
theorem IntervalProblem.isWorstCase (hp : p.check = true) :
    IsWorstCase p.set fun s a => worstOf (p.set s a) := fun s a => by
  obtain ⟨W, hw, -⟩ := (intervals_finitelyGenerated (p.lower s a) (p.upper s a)).exists_worst
    (fun q hq => hq.isProb fun i => div_nonneg Rat.natCast_nonneg (IntervalProblem.total_pos hp s a))
    ⟨_, (IntervalProblem.pair hp s a).1⟩
  exact worstOf_isInfimum hw

/-- **The residual is in its range.** C47. -/
theorem IntervalProblem.residual (hp : p.check = true) :
    ResidualIn p.backup p.table p.low p.high := by
  have hp' := hp
  simp only [IntervalProblem.check, Bool.and_eq_true] at hp'
  have e : p.backup p.table = p.toProblem.backup p.table := by
    funext s a
    exact congrArg (fun x => p.reward s a + p.discount * (x - p.penalty s a))
      (IntervalProblem.pair hp s a).2
  have h := Problem.residual hp'.1.1
  intro s a
  rw [e]
  exact h s a

/-- **The checker for interval sets is sound.** If it says `true`, the operator of the problem has
exactly one fixed point `Q*`, and `low/(1-γ) ≤ Q* - Q ≤ high/(1-γ)` at every pair of the table. C47. -/
theorem IntervalProblem.sound (hp : p.check = true) :
    FixedPointIn p.backup p.table (p.low / (1 - p.discount)) (p.high / (1 - p.discount)) := by
  have hp' := hp
  simp only [IntervalProblem.check, Bool.and_eq_true] at hp'
  have h := Problem.checked hp'.1.1
  exact certified_intervals h.discount_nonneg h.discount_lt_one
    (fun s a i => div_nonneg Rat.natCast_nonneg (IntervalProblem.total_pos hp s a))
    (fun s a => ⟨_, (IntervalProblem.pair hp s a).1⟩) (IntervalProblem.isWorstCase hp)
    (fun s => (h.monetary s).shift_sub (p.offset s))
    (fun s => (h.latticeAffine s).shift_sub (p.offset s)) (IntervalProblem.residual hp)

/-- The sup-norm form: `‖Q - Q*‖∞ ≤ bound`. C47. -/
theorem IntervalProblem.sound_supNorm (h : p.check = true) {bound : Rat}
    (hb : -(p.low / (1 - p.discount)) ≤ bound ∧ p.high / (1 - p.discount) ≤ bound) :
    ∃ Qs, p.backup Qs = Qs ∧ (∀ Q', p.backup Q' = Q' → Q' = Qs) ∧
      supNorm (fun s a => p.table s a - Qs s a) ≤ bound :=
  (IntervalProblem.sound h).supNorm_le hb.1 hb.2

end RESAC
