module

public import RESAC.Certificate.Span

public section

/-!
# A checker that the kernel runs

A solved finite MDP as lists of integers, and a Boolean function that decides whether the residual of
its table lies in a given range. The function uses integers only, so the kernel computes it quickly;
`Problem.sound` says what `true` means, in terms of the library's operators over `ℚ`. A file written
by `python -m pyresac.formal.certify` holds such a problem and `by decide +kernel`.

All numbers are numerators over the common denominator `den`. Rows are sparse lists of (next state,
weight) with natural weights; a row stands for the probability vector weight/(sum of weights), which
is how the solvers read rows of float64 whose sum misses one. A policy's weights sum to `scale` in
every state.

## Main definitions
* `Entry`, `Problem`: a pair, and the whole problem.
* `Problem.backup`: the operator: `rev` with the worst case over the kernels (one kernel: its
  expectation), the maximum, minimum or a policy's mean over actions after the frozen penalty of the
  next pair, and the frozen penalty of the pair.
* `Problem.check`: the checker.

## Main statements (C47)
* `Problem.residual`: if `check` says `true`, the residual is between `lo` and `hi`.
* `Problem.sound`: the fixed point then exists, is unique, and lies between `Q + lo/(1-γ)` and
  `Q + hi/(1-γ)`.
-/

noncomputable section

namespace RESAC

open Lean.Grind Std

section Definitions

/-- A sparse row: (next state, weight). -/
abbrev Row := List (Nat × Nat)

/-- What is taken of the values of a state's actions. -/
inductive Functional where
  /-- The largest. -/
  | max
  /-- The smallest. -/
  | min
  /-- A policy's mean. -/
  | mean
deriving DecidableEq

/-- A pair: its reward, the frozen penalty of the pair, that of the pair as seen from the state
before, its Q-value, all over the common denominator, the policy's weight on it, and a row for each
kernel. -/
structure Entry where
  /-- The reward. -/
  reward : Int
  /-- The frozen penalty `λ·Γ(s,a) + κ` of the pair. -/
  penalty : Int
  /-- The frozen penalty `λ·Γ(s',a')` that the value functional subtracts. -/
  offset : Int
  /-- The value to certify. -/
  value : Int
  /-- The policy's weight of the action; not looked at for a maximum or minimum. -/
  weight : Nat
  /-- One row for each kernel. -/
  rows : List Row

/-- A problem: `n + 1` states, `m + 1` actions, `k + 1` kernels, and a table to certify. -/
structure Problem where
  /-- States, less one. -/
  n : Nat
  /-- Actions, less one. -/
  m : Nat
  /-- Kernels, less one. -/
  k : Nat
  /-- The common denominator. -/
  den : Nat
  /-- The discount's numerator. -/
  gammaNum : Nat
  /-- The discount's denominator. -/
  gammaDen : Nat
  /-- The value functional. -/
  functional : Functional
  /-- What the policy's weights sum to in every state; 1 for a maximum or minimum. -/
  scale : Nat
  /-- The pairs, state by state. -/
  states : List (List Entry)
  /-- The least residual claimed. -/
  lo : Int
  /-- The largest residual claimed. -/
  hi : Int

/-- The sum of a row's weights. -/
@[expose] def rowTotal : Row → Nat
  | [] => 0
  | (_, w) :: row => w + rowTotal row

/-- The sum of a row's weights times values. -/
@[expose] def rowDot (v : List Int) : Row → Int
  | [] => 0
  | (i, w) :: row => w * v.getD i 0 + rowDot v row

/-- Every state of a row exists, and its weights do not all vanish. -/
@[expose] def rowGood (states : Nat) (row : Row) : Bool :=
  row.all (fun e => Nat.blt e.1 states) && Nat.blt 0 (rowTotal row)

/-- The larger of two integers. -/
@[expose] def pickInt (maximise : Bool) (a b : Int) : Int :=
  if maximise then (if a ≤ b then b else a) else (if a ≤ b then a else b)

/-- The largest, or smallest, value of a state as seen from the state before. -/
@[expose] def rowValue (maximise : Bool) : List Entry → Int
  | [] => 0
  | [e] => e.value - e.offset
  | e :: f :: rest => pickInt maximise (e.value - e.offset) (rowValue maximise (f :: rest))

/-- The sum of the policy's weights of a state. -/
@[expose] def weightTotal : List Entry → Nat
  | [] => 0
  | e :: row => e.weight + weightTotal row

/-- The policy's weighted sum of a state's values. -/
@[expose] def weightDot : List Entry → Int
  | [] => 0
  | e :: row => e.weight * (e.value - e.offset) + weightDot row

/-- The value of a state, over `den·scale`. -/
@[expose] def Functional.value : Functional → List Entry → Int
  | .max, row => rowValue true row
  | .min, row => rowValue false row
  | .mean, row => weightDot row

/-- Whether the scale is that of a state. -/
@[expose] def Functional.fits : Functional → Nat → List Entry → Bool
  | .max, scale, _ => Nat.beq scale 1
  | .min, scale, _ => Nat.beq scale 1
  | .mean, scale, row => Nat.beq (weightTotal row) scale

/-- Numerator of residual − bound, over `den·scale·gammaDen·total`: what must be ≥ 0, or ≤ 0. `v`
holds the values of the states, over `den·scale`. -/
@[expose] def excess (gn gd scale : Nat) (v : List Int) (e : Entry) (row : Row) (bound : Int) : Int :=
  gd * rowTotal row * scale * (e.reward - e.value - bound) +
    gn * (rowDot v row - rowTotal row * scale * e.penalty)

/-- An entry is right: the residual is at least `lo` for every kernel, and at most `hi` for one. -/
@[expose] def Entry.check (p : Problem) (v : List Int) (e : Entry) : Bool :=
  Nat.beq e.rows.length (p.k + 1) && e.rows.all (rowGood (p.n + 1)) &&
    e.rows.all (fun row => decide (0 ≤ excess p.gammaNum p.gammaDen p.scale v e row p.lo)) &&
    e.rows.any (fun row => decide (excess p.gammaNum p.gammaDen p.scale v e row p.hi ≤ 0))

/-- **The checker.** -/
@[expose] def Problem.check (p : Problem) : Bool :=
  Nat.blt 0 p.den && Nat.blt p.gammaNum p.gammaDen && Nat.beq p.states.length (p.n + 1) &&
    p.states.all (fun row => Nat.beq row.length (p.m + 1)) && Nat.blt 0 p.scale &&
    p.states.all (p.functional.fits p.scale) &&
    (let v := p.states.map p.functional.value
     p.states.all fun row => row.all fun e => e.check p v)

/-- An entry where there is none. -/
@[expose] def Entry.none : Entry := ⟨0, 0, 0, 0, 0, []⟩

/-- The entry of a pair. -/
@[expose] def Problem.entry (p : Problem) (s : Fin (p.n + 1)) (a : Fin (p.m + 1)) : Entry :=
  (p.states.getD s []).getD a Entry.none

/-- The weight of a state in a row. -/
@[expose] def rowWeight (i : Nat) : Row → Nat
  | [] => 0
  | (j, w) :: row => (if j = i then w else 0) + rowWeight i row

/-- The probability vector of a row. -/
@[expose] def rowProb {n : Nat} (row : Row) : Fin n → Rat :=
  fun i => (rowWeight i row : Rat) / (rowTotal row : Rat)

variable (p : Problem)

/-- The discount. -/
@[expose] def Problem.discount : Rat := (p.gammaNum : Rat) / (p.gammaDen : Rat)

/-- The rewards. -/
@[expose] def Problem.reward (s : Fin (p.n + 1)) (a : Fin (p.m + 1)) : Rat :=
  ((p.entry s a).reward : Rat) / (p.den : Rat)

/-- The frozen penalties of the pairs. -/
@[expose] def Problem.penalty (s : Fin (p.n + 1)) (a : Fin (p.m + 1)) : Rat :=
  ((p.entry s a).penalty : Rat) / (p.den : Rat)

/-- The frozen penalties of the next pairs. -/
@[expose] def Problem.offset (s : Fin (p.n + 1)) (a : Fin (p.m + 1)) : Rat :=
  ((p.entry s a).offset : Rat) / (p.den : Rat)

/-- The table to certify. -/
@[expose] def Problem.table (s : Fin (p.n + 1)) (a : Fin (p.m + 1)) : Rat :=
  ((p.entry s a).value : Rat) / (p.den : Rat)

/-- The kernels. -/
@[expose] def Problem.kernel (i : Fin (p.k + 1)) (s : Fin (p.n + 1)) (a : Fin (p.m + 1)) :
    Fin (p.n + 1) → Rat :=
  rowProb ((p.entry s a).rows.getD i [])

/-- The policy. -/
@[expose] def Problem.policy (s : Fin (p.n + 1)) (a : Fin (p.m + 1)) : Rat :=
  ((p.entry s a).weight : Rat) / (p.scale : Rat)

/-- The value functional: the maximum, minimum or the policy's mean over actions. -/
@[expose] def Problem.valueOf : Fin (p.n + 1) → (Fin (p.m + 1) → Rat) → Rat :=
  match p.functional with
  | .max => maxV
  | .min => minV
  | .mean => policyV p.policy

/-- **The operator of the problem.** -/
@[expose] def Problem.backup : (Fin (p.n + 1) → Fin (p.m + 1) → Rat) →
    Fin (p.n + 1) → Fin (p.m + 1) → Rat :=
  rev p.reward p.discount (robustE p.kernel)
    (fun s q => p.valueOf s fun a => q a - p.offset s a) p.penalty

/-- The least residual. -/
@[expose] def Problem.low : Rat := (p.lo : Rat) / (p.den : Rat)

/-- The largest residual. -/
@[expose] def Problem.high : Rat := (p.hi : Rat) / (p.den : Rat)

end Definitions

/-! ## Rows -/

/-- The weights of the states sum to the total. -/
theorem fsum_rowWeight {n : Nat} : ∀ {row : Row}, (∀ e, e ∈ row → e.1 < n) →
    fsum (fun i : Fin n => (rowWeight i row : Rat)) = (rowTotal row : Rat)
  | [], _ => by
    simp only [rowWeight, rowTotal]
    exact fsum_zero
  | (j, w) :: row, h => by
    have ih := fsum_rowWeight (n := n) fun e he => h e (List.mem_cons_of_mem _ he)
    have hj := h (j, w) List.mem_cons_self
    have e : (fun i : Fin n => (rowWeight i ((j, w) :: row) : Rat)) =
        fun i => (w : Rat) * point ⟨j, hj⟩ i + (rowWeight i row : Rat) := by
      funext i
      rw [rowWeight, Rat.natCast_add]
      by_cases hi : j = i.val
      · subst hi
        have this : (⟨i.val, hj⟩ : Fin n) = i := rfl
        rw [this]
        simp only [if_true, point]
        grind
      · have : i ≠ ⟨j, hj⟩ := fun e => hi (congrArg Fin.val e).symm
        simp only [hi, if_false, point, this]
        grind
    rw [e, fsum_add, fsum_mul_left, fsum_point, ih, rowTotal, Rat.natCast_add]
    grind

/-- The weighted sum of values, over the row's total. -/
theorem expect_rowProb {n : Nat} {v : List Int} {d : Rat} {f : Fin n → Rat}
    (hf : ∀ i, f i = (v.getD i 0 : Rat) / d) : ∀ {row : Row}, (∀ e, e ∈ row → e.1 < n) →
    fsum (fun i : Fin n => (rowWeight i row : Rat) * f i) = (rowDot v row : Rat) / d
  | [], _ => by
    have e : (fun i : Fin n => (rowWeight i [] : Rat) * f i) = fun _ => 0 := by
      funext i
      rw [rowWeight, show ((0 : Nat) : Rat) = 0 from rfl]
      grind
    rw [e, fsum_zero, rowDot, show ((0 : Int) : Rat) = 0 from rfl]
    grind
  | (j, w) :: row, h => by
    have ih := expect_rowProb hf (row := row) fun e he => h e (List.mem_cons_of_mem _ he)
    have hj := h (j, w) List.mem_cons_self
    have e : (fun i : Fin n => (rowWeight i ((j, w) :: row) : Rat) * f i) =
        fun i => (w : Rat) * (point ⟨j, hj⟩ i * f i) + (rowWeight i row : Rat) * f i := by
      funext i
      rw [rowWeight, Rat.natCast_add]
      by_cases hi : j = i.val
      · subst hi
        have this : (⟨i.val, hj⟩ : Fin n) = i := rfl
        rw [this]
        simp only [if_true, point]
        grind
      · have : i ≠ ⟨j, hj⟩ := fun e => hi (congrArg Fin.val e).symm
        simp only [hi, if_false, point, this]
        grind
    have e₁ : fsum (fun i : Fin n => (point ⟨j, hj⟩ i : Rat) * f i) = f ⟨j, hj⟩ :=
      expect_point ⟨j, hj⟩ f
    rw [e, fsum_add, fsum_mul_left, e₁, ih, hf, rowDot, Rat.intCast_add, Rat.intCast_mul,
      Rat.intCast_natCast]
    clear e e₁ ih
    grind

/-- A good row is a probability vector. -/
theorem rowProb_isProb {n : Nat} {row : Row} (h : rowGood n row = true) :
    IsProb (rowProb row : Fin n → Rat) := by
  simp only [rowGood, Bool.and_eq_true, List.all_eq_true, Nat.blt_eq] at h
  have ht : (0 : Rat) < (rowTotal row : Rat) := Rat.natCast_pos.2 h.2
  refine ⟨fun i => div_nonneg (Rat.natCast_nonneg) ht, ?_⟩
  have e : (rowProb row : Fin n → Rat) =
      fun i : Fin n => (rowTotal row : Rat)⁻¹ * (rowWeight i row : Rat) := by
    funext i
    unfold rowProb
    grind
  rw [e, fsum_mul_left, fsum_rowWeight h.1]
  grind

/-- The expectation under a good row. -/
theorem expect_row {n : Nat} {v : List Int} {d : Rat} {f : Fin n → Rat}
    (hf : ∀ i, f i = (v.getD i 0 : Rat) / d) {row : Row} (h : rowGood n row = true) :
    expect (rowProb row) f = (rowDot v row : Rat) / d / (rowTotal row : Rat) := by
  simp only [rowGood, Bool.and_eq_true, List.all_eq_true, Nat.blt_eq] at h
  have e : (rowProb row : Fin n → Rat) =
      fun i : Fin n => (rowTotal row : Rat)⁻¹ * (rowWeight i row : Rat) := by
    funext i
    unfold rowProb
    grind
  have h' := expect_rowProb hf h.1
  rw [e, expect_weight_mul]
  unfold expect
  rw [h']
  grind

/-! ## Values -/

/-- Division by a positive number keeps the order of integers. -/
theorem intCast_div_le {a b : Int} {d : Rat} (hd : 0 < d) :
    (a : Rat) / d ≤ (b : Rat) / d ↔ a ≤ b := by
  rw [le_div_iff hd, ← Rat.intCast_le_intCast (a := a) (b := b)]
  rw [show (a : Rat) / d * d = (a : Rat) by grind]

/-- The largest value of a row of entries. -/
theorem rowValue_max {d : Rat} (hd : 0 < d) : ∀ {m : Nat} {row : List Entry}, row.length = m + 1 →
    fmax (fun a : Fin (m + 1) => ((row.getD a Entry.none).value : Rat) / d -
      ((row.getD a Entry.none).offset : Rat) / d) = (rowValue true row : Rat) / d
  | 0, [e], _ => by
    rw [fmax, rowValue, Rat.intCast_sub]
    show (e.value : Rat) / d - (e.offset : Rat) / d = _
    grind
  | m + 1, e :: f :: rest, h => by
    have ih := rowValue_max hd (m := m) (row := f :: rest) (by simpa using h)
    have e₁ : fmax (fun a : Fin (m + 1 + 1) => (((e :: f :: rest).getD a Entry.none).value : Rat) / d -
        (((e :: f :: rest).getD a Entry.none).offset : Rat) / d) =
        larger ((e.value : Rat) / d - (e.offset : Rat) / d)
          (fmax fun a : Fin (m + 1) => (((f :: rest).getD a Entry.none).value : Rat) / d -
            (((f :: rest).getD a Entry.none).offset : Rat) / d) := rfl
    have e₂ : (e.value : Rat) / d - (e.offset : Rat) / d = ((e.value - e.offset : Int) : Rat) / d := by
      rw [Rat.intCast_sub]; grind
    rw [e₁, ih, e₂, rowValue]
    unfold larger pickInt
    by_cases hle : e.value - e.offset ≤ rowValue true (f :: rest)
    · rw [if_pos ((intCast_div_le hd).2 hle)]; simp [hle]
    · rw [if_neg fun h => hle ((intCast_div_le hd).1 h)]; simp [hle]

/-- The smallest value of a row of entries. -/
theorem rowValue_min {d : Rat} (hd : 0 < d) : ∀ {m : Nat} {row : List Entry}, row.length = m + 1 →
    fmin (fun a : Fin (m + 1) => ((row.getD a Entry.none).value : Rat) / d -
      ((row.getD a Entry.none).offset : Rat) / d) = (rowValue false row : Rat) / d
  | 0, [e], _ => by
    rw [fmin, rowValue, Rat.intCast_sub]
    show (e.value : Rat) / d - (e.offset : Rat) / d = _
    grind
  | m + 1, e :: f :: rest, h => by
    have ih := rowValue_min hd (m := m) (row := f :: rest) (by simpa using h)
    have e₁ : fmin (fun a : Fin (m + 1 + 1) => (((e :: f :: rest).getD a Entry.none).value : Rat) / d -
        (((e :: f :: rest).getD a Entry.none).offset : Rat) / d) =
        smaller ((e.value : Rat) / d - (e.offset : Rat) / d)
          (fmin fun a : Fin (m + 1) => (((f :: rest).getD a Entry.none).value : Rat) / d -
            (((f :: rest).getD a Entry.none).offset : Rat) / d) := rfl
    have e₂ : (e.value : Rat) / d - (e.offset : Rat) / d = ((e.value - e.offset : Int) : Rat) / d := by
      rw [Rat.intCast_sub]; grind
    rw [e₁, ih, e₂, rowValue]
    unfold smaller pickInt
    by_cases hle : e.value - e.offset ≤ rowValue false (f :: rest)
    · rw [if_pos ((intCast_div_le hd).2 hle)]; simp [hle]
    · rw [if_neg fun h => hle ((intCast_div_le hd).1 h)]; simp [hle]

/-- The policy's weights of a state sum to their total. -/
theorem fsum_weights : ∀ {m : Nat} {row : List Entry}, row.length = m →
    fsum (fun a : Fin m => ((row.getD a Entry.none).weight : Rat)) = (weightTotal row : Rat)
  | 0, [], _ => rfl
  | m + 1, e :: row, h => by
    have ih := fsum_weights (m := m) (row := row) (by simpa using h)
    have e₁ : fsum (fun a : Fin (m + 1) => (((e :: row).getD a Entry.none).weight : Rat)) =
        (e.weight : Rat) + fsum (fun a : Fin m => ((row.getD a Entry.none).weight : Rat)) := rfl
    rw [e₁, ih, weightTotal, Rat.natCast_add]

/-- The policy's weighted sum of a state's values. -/
theorem fsum_weightDot {d w : Rat} : ∀ {m : Nat} {row : List Entry}, row.length = m →
    fsum (fun a : Fin m => ((row.getD a Entry.none).weight : Rat) / w *
      (((row.getD a Entry.none).value : Rat) / d - ((row.getD a Entry.none).offset : Rat) / d)) =
        (weightDot row : Rat) / (d * w)
  | 0, [], _ => by
    rw [weightDot, show ((0 : Int) : Rat) = 0 from rfl]
    show (0 : Rat) = _
    grind
  | m + 1, e :: row, h => by
    have ih := fsum_weightDot (d := d) (w := w) (m := m) (row := row) (by simpa using h)
    have e₁ : fsum (fun a : Fin (m + 1) => (((e :: row).getD a Entry.none).weight : Rat) / w *
        ((((e :: row).getD a Entry.none).value : Rat) / d -
          (((e :: row).getD a Entry.none).offset : Rat) / d)) =
        (e.weight : Rat) / w * ((e.value : Rat) / d - (e.offset : Rat) / d) +
          fsum (fun a : Fin m => ((row.getD a Entry.none).weight : Rat) / w *
            (((row.getD a Entry.none).value : Rat) / d -
              ((row.getD a Entry.none).offset : Rat) / d)) := rfl
    rw [e₁, ih, weightDot, Rat.intCast_add, Rat.intCast_mul, Rat.intCast_sub, Rat.intCast_natCast]
    clear e₁ ih
    grind

/-! ## Soundness -/

/-- What stands at a place of a list is in the list. -/
theorem getD_mem {α : Type} {l : List α} {i : Nat} (h : i < l.length) (d : α) : l.getD i d ∈ l := by
  rw [List.getD_eq_getElem?_getD, List.getElem?_eq_getElem h]
  exact List.getElem_mem h

/-- The inverse of a product of positive numbers. -/
theorem inv_product {x y : Rat} (hx : 0 < x) (hy : 0 < y) : (x * y)⁻¹ = x⁻¹ * y⁻¹ := by
  have := OrderedRing.mul_pos hx hy
  have h₁ : x ≠ 0 := by grind
  have h₂ : y ≠ 0 := by grind
  have h₃ : x * y ≠ 0 := by grind
  grind

/-- The checker's number is the residual minus the bound, times a positive denominator. -/
theorem residual_eq {r q b pen dot D W gn gd sc : Rat} (hD : 0 < D) (hW : 0 < W) (hg : 0 < gd)
    (hsc : 0 < sc) : r / D + gn / gd * (dot / (D * sc) / W - pen / D) - q / D - b / D =
      (gd * W * sc * (r - q - b) + gn * (dot - W * sc * pen)) / (gd * W * sc * D) := by
  have h₁ : D ≠ 0 := by grind
  have h₂ : W ≠ 0 := by grind
  have h₃ : gd ≠ 0 := by grind
  have h₄ : sc ≠ 0 := by grind
  have h₅ := OrderedRing.mul_pos hg hW
  have h₆ := OrderedRing.mul_pos h₅ hsc
  simp only [Field.div_eq_mul_inv, inv_product hD hsc, inv_product h₆ hD, inv_product h₅ hsc,
    inv_product hg hW]
  clear h₅ h₆
  grind

/-- The checker's number, as a rational. -/
theorem excess_cast (gn gd sc : Nat) (v : List Int) (e : Entry) (row : Row) (b : Int) :
    (excess gn gd sc v e row b : Rat) = (gd : Rat) * (rowTotal row : Rat) * (sc : Rat) *
      ((e.reward : Rat) - (e.value : Rat) - (b : Rat)) +
        (gn : Rat) * ((rowDot v row : Rat) - (rowTotal row : Rat) * (sc : Rat) * (e.penalty : Rat)) := by
  unfold excess
  simp only [Rat.intCast_add, Rat.intCast_mul, Rat.intCast_sub, Rat.intCast_natCast]

variable {p : Problem}

/-- What `check` decides, as facts about the problem. -/
structure Problem.Checked (p : Problem) : Prop where
  /-- The denominators and the scale are positive. -/
  den_pos : (0 : Rat) < (p.den : Rat)
  /-- The discount's too. -/
  gammaDen_pos : (0 : Rat) < (p.gammaDen : Rat)
  /-- The scale too. -/
  scale_pos : (0 : Rat) < (p.scale : Rat)
  /-- The discount is not negative. -/
  discount_nonneg : 0 ≤ p.discount
  /-- And below one. -/
  discount_lt_one : p.discount < 1
  /-- Every state is in the list. -/
  state : ∀ s : Fin (p.n + 1), p.states.getD s [] ∈ p.states
  /-- With all of its actions. -/
  actions : ∀ s : Fin (p.n + 1), (p.states.getD s []).length = p.m + 1
  /-- The scale is that of each state. -/
  fits : ∀ s : Fin (p.n + 1), p.functional.fits p.scale (p.states.getD s []) = true
  /-- Every entry passes. -/
  entry : ∀ (s : Fin (p.n + 1)) (a : Fin (p.m + 1)),
    (p.entry s a).check p (p.states.map p.functional.value) = true

/-- The facts. -/
theorem Problem.checked (h : p.check = true) : p.Checked := by
  simp only [Problem.check, Bool.and_eq_true, Nat.blt_eq, Nat.beq_eq, List.all_eq_true] at h
  obtain ⟨⟨⟨⟨⟨⟨hden, hγ⟩, hlen⟩, hrow⟩, hscale⟩, hfits⟩, hall⟩ := h
  have hgd : (0 : Rat) < (p.gammaDen : Rat) := Rat.natCast_pos.2 (by omega)
  have hstate : ∀ s : Fin (p.n + 1), p.states.getD s [] ∈ p.states := fun s =>
    getD_mem (by have := s.isLt; omega) []
  refine ⟨Rat.natCast_pos.2 hden, hgd, Rat.natCast_pos.2 hscale, div_nonneg Rat.natCast_nonneg hgd, ?_,
    hstate, fun s => hrow _ (hstate s), fun s => hfits _ (hstate s), fun s a =>
      hall _ (hstate s) _ (getD_mem (by have := hrow _ (hstate s); have := a.isLt; omega) Entry.none)⟩
  have h₁ : (p.gammaNum : Rat) < (p.gammaDen : Rat) := Rat.natCast_lt_natCast.2 hγ
  have h₂ : p.discount * (p.gammaDen : Rat) = (p.gammaNum : Rat) := by
    unfold Problem.discount
    grind
  false_or_by_contra
  rename_i hn
  have := mul_le_mul_right (show 1 ≤ p.discount by grind) (show 0 ≤ (p.gammaDen : Rat) by grind)
  grind

/-- The policy's weights are probabilities. -/
theorem Problem.Checked.policy_isProb (h : p.Checked) (hm : p.functional = .mean)
    (s : Fin (p.n + 1)) : IsProb (p.policy s) := by
  refine ⟨fun a => div_nonneg Rat.natCast_nonneg h.scale_pos, ?_⟩
  have hf := h.fits s
  rw [hm] at hf
  have hw : weightTotal (p.states.getD s []) = p.scale := Nat.beq_eq ▸ hf
  have e : p.policy s = fun a : Fin (p.m + 1) => (p.scale : Rat)⁻¹ *
      (((p.states.getD s []).getD a Entry.none).weight : Rat) := by
    funext a
    unfold Problem.policy Problem.entry
    grind
  have := h.scale_pos
  rw [e, fsum_mul_left, fsum_weights (h.actions s), hw]
  grind

/-- The functional is monetary. -/
theorem Problem.Checked.monetary (h : p.Checked) (s : Fin (p.n + 1)) : Monetary (p.valueOf s) := by
  unfold Problem.valueOf
  cases hf : p.functional
  · exact maxV_monetary s
  · exact minV_monetary s
  · exact policyV_monetary (h.policy_isProb hf) s

/-- It is a finite maximum or minimum of means. -/
theorem Problem.Checked.latticeAffine (h : p.Checked) (s : Fin (p.n + 1)) :
    LatticeAffine 1 (p.valueOf s) := by
  unfold Problem.valueOf
  cases hf : p.functional
  · exact maxV_latticeAffine s
  · exact minV_latticeAffine s
  · exact policyV_latticeAffine (h.policy_isProb hf) s

/-- The values of the states are those that the checker computes. -/
theorem Problem.Checked.value (h : p.Checked) (s : Fin (p.n + 1)) :
    (p.valueOf s fun a => p.table s a - p.offset s a) =
      ((p.states.map p.functional.value).getD s 0 : Rat) / ((p.den : Rat) * (p.scale : Rat)) := by
  have hlen : s.val < p.states.length := by
    false_or_by_contra
    rename_i hn
    have h₁ := h.actions s
    rw [List.getD_eq_getElem?_getD, List.getElem?_eq_none (by omega)] at h₁
    simp at h₁
  have e₁ : (p.states.map p.functional.value).getD s 0 =
      p.functional.value (p.states.getD s []) := by
    rw [List.getD_eq_getElem?_getD, List.getD_eq_getElem?_getD, List.getElem?_map,
      List.getElem?_eq_getElem hlen]
    rfl
  rw [e₁]
  have hl := h.actions s
  have hf := h.fits s
  have hD := h.den_pos
  unfold Problem.valueOf Problem.table Problem.offset Problem.entry
  cases hk : p.functional
  · rw [hk] at hf
    have hs : p.scale = 1 := Nat.beq_eq ▸ hf
    rw [hs, show (p.den : Rat) * ((1 : Nat) : Rat) = (p.den : Rat) by
      rw [show ((1 : Nat) : Rat) = 1 from rfl]; grind]
    exact rowValue_max hD hl
  · rw [hk] at hf
    have hs : p.scale = 1 := Nat.beq_eq ▸ hf
    rw [hs, show (p.den : Rat) * ((1 : Nat) : Rat) = (p.den : Rat) by
      rw [show ((1 : Nat) : Rat) = 1 from rfl]; grind]
    exact rowValue_min hD hl
  · exact fsum_weightDot hl

/-- A row of an entry is good. -/
theorem Problem.Checked.row (h : p.Checked) (i : Fin (p.k + 1)) (s : Fin (p.n + 1))
    (a : Fin (p.m + 1)) : rowGood (p.n + 1) ((p.entry s a).rows.getD i.val []) = true := by
  have hc := h.entry s a
  simp only [Entry.check, Bool.and_eq_true, Nat.beq_eq, List.all_eq_true] at hc
  exact hc.1.1.2 _ (getD_mem (by have := hc.1.1.1; have := i.isLt; omega) [])

/-- The residual under a good row, less a bound, is the checker's number over a positive one. -/
theorem Problem.Checked.excess_eq (h : p.Checked) (s : Fin (p.n + 1)) (a : Fin (p.m + 1)) {row : Row}
    (hrow : rowGood (p.n + 1) row = true) (b : Int) :
    p.reward s a + p.discount * (expect (rowProb row)
      (fun s' => p.valueOf s' fun a => p.table s' a - p.offset s' a) - p.penalty s a) -
      p.table s a - (b : Rat) / (p.den : Rat) =
    (excess p.gammaNum p.gammaDen p.scale (p.states.map p.functional.value) (p.entry s a) row b : Rat) /
      ((p.gammaDen : Rat) * (rowTotal row : Rat) * (p.scale : Rat) * (p.den : Rat)) ∧
    (0 : Rat) < (p.gammaDen : Rat) * (rowTotal row : Rat) * (p.scale : Rat) * (p.den : Rat) := by
  have hW : (0 : Rat) < (rowTotal row : Rat) := by
    simp only [rowGood, Bool.and_eq_true, Nat.blt_eq] at hrow
    exact Rat.natCast_pos.2 hrow.2
  refine ⟨?_, OrderedRing.mul_pos (OrderedRing.mul_pos (OrderedRing.mul_pos h.gammaDen_pos hW)
    h.scale_pos) h.den_pos⟩
  rw [expect_row h.value hrow, excess_cast]
  exact residual_eq h.den_pos hW h.gammaDen_pos h.scale_pos

/-- **The residual is in its range.** C47. -/
theorem Problem.residual (hp : p.check = true) : ResidualIn p.backup p.table p.low p.high := by
  have h := Problem.checked hp
  intro s a
  have hc := h.entry s a
  simp only [Entry.check, Bool.and_eq_true, Nat.beq_eq, List.all_eq_true, List.any_eq_true,
    decide_eq_true_eq] at hc
  obtain ⟨⟨⟨hk, -⟩, hlow⟩, row, hrow', hhigh⟩ := hc
  show p.low ≤ p.reward s a + p.discount * (robustE p.kernel s a _ - p.penalty s a) - p.table s a ∧
    p.reward s a + p.discount * (robustE p.kernel s a _ - p.penalty s a) - p.table s a ≤ p.high
  unfold robustE Problem.low Problem.high
  constructor
  · obtain ⟨i, hi⟩ := exists_eq_fmin fun i => expect (p.kernel i s a)
      fun s' => p.valueOf s' fun a => p.table s' a - p.offset s' a
    rw [← hi]
    obtain ⟨e, hpos⟩ := h.excess_eq s a (h.row i s a) p.lo
    have h₁ := hlow _ (getD_mem (by have := i.isLt; omega) [] :
      (p.entry s a).rows.getD i.val [] ∈ (p.entry s a).rows)
    have h₂ := div_nonneg (Rat.intCast_nonneg.2 h₁) hpos
    rw [← e] at h₂
    unfold Problem.kernel
    clear e hlow
    grind
  · obtain ⟨j, hj, ej⟩ := List.mem_iff_getElem.1 hrow'
    let i : Fin (p.k + 1) := ⟨j, by omega⟩
    have er : (p.entry s a).rows.getD i.val [] = row := by
      rw [List.getD_eq_getElem?_getD, List.getElem?_eq_getElem hj]
      exact ej
    obtain ⟨e, hpos⟩ := h.excess_eq s a (er ▸ h.row i s a) p.hi
    have h₁ := fmin_le (fun i => expect (p.kernel i s a)
      fun s' => p.valueOf s' fun a => p.table s' a - p.offset s' a) i
    have h₂ := mul_le_mul_left h₁ h.discount_nonneg
    have ek : p.kernel i s a = rowProb row := by unfold Problem.kernel; rw [er]
    rw [ek] at h₂
    have h₃ := div_nonneg (Rat.intCast_nonneg.2 (show 0 ≤ -excess p.gammaNum p.gammaDen p.scale
      (p.states.map p.functional.value) (p.entry s a) row p.hi by omega)) hpos
    rw [Rat.intCast_neg] at h₃
    clear hlow h₁
    grind

/-- **The checker is sound.** If it says `true`, the operator of the problem has exactly one fixed
point `Q*`, and `low/(1-γ) ≤ Q* - Q ≤ high/(1-γ)` at every pair of the table. C47. -/
theorem Problem.sound (hp : p.check = true) :
    FixedPointIn p.backup p.table (p.low / (1 - p.discount)) (p.high / (1 - p.discount)) := by
  have h := Problem.checked hp
  have hP : ∀ i s a, IsProb (p.kernel i s a) := fun i s a => rowProb_isProb (h.row i s a)
  exact certified h.discount_nonneg h.discount_lt_one (robustE_monetary hP) (robustE_latticeAffine hP)
    (fun s => (h.monetary s).shift_sub (p.offset s))
    (fun s => (h.latticeAffine s).shift_sub (p.offset s)) (Problem.residual hp)

/-- The sup-norm form, for a bound that is decided with the check: `‖Q - Q*‖∞ ≤ bound`. C47. -/
theorem Problem.sound_supNorm (h : p.check = true) {bound : Rat}
    (hb : -(p.low / (1 - p.discount)) ≤ bound ∧ p.high / (1 - p.discount) ≤ bound) :
    ∃ Qs, p.backup Qs = Qs ∧ (∀ Q', p.backup Q' = Q' → Q' = Qs) ∧
      supNorm (fun s a => p.table s a - Qs s a) ≤ bound :=
  (Problem.sound h).supNorm_le hb.1 hb.2

end RESAC
