module

public section

/-!
# Tables of rationals

Rewards, penalties, policies, Q-functions, kernels, robust sets and ensembles, read from lists.

## Main definitions
* `table rows`: the function `(s, a) ↦ rows[s][a]`.
* `kernelTable rows`: the kernel `P s a s'`.
* `kernelSet k list`: `k` kernels.
* `heads k list`: `k` Q-functions.
-/

noncomputable section

namespace RESAC

/-- Rational Q-functions, rewards and penalties, row by row. -/
@[expose] def table {n m : Nat} (rows : List (List Rat)) (s : Fin n) (a : Fin m) : Rat :=
  (rows.getD s []).getD a 0

/-- A kernel, state by state and action by action. -/
@[expose] def kernelTable {n m l : Nat} (rows : List (List (List Rat))) (s : Fin n) (a : Fin m) :
    Fin l → Rat :=
  fun s' => ((rows.getD s []).getD a []).getD s' 0

/-- A finite robust set: `k` kernels. -/
@[expose] def kernelSet (k : Nat) {n m l : Nat} (list : List (List (List (List Rat)))) (i : Fin k) :
    Fin n → Fin m → Fin l → Rat :=
  kernelTable (list.getD i [])

/-- An ensemble: `k` Q-functions. -/
@[expose] def heads (k : Nat) {n m : Nat} (list : List (List (List Rat))) (i : Fin k) :
    Fin n → Fin m → Rat :=
  table (list.getD i [])

end RESAC
