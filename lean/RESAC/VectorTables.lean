module

public import RESAC.RankingCounterexamples
public import RESAC.EnsembleStd
public import RESAC.Terminal

public section

/-!
# Tables of rationals, for the vectors

Beside `table` (rewards, penalties, policies and Q-functions), the kernels, robust sets and ensembles
of `RESAC.Vectors`, read from lists.

## Main definitions
* `kernelTable rows`: the kernel `P s a s'`.
* `kernelSet k list`: `k` kernels.
* `heads k list`: `k` Q-functions.
-/

noncomputable section

namespace RESAC

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
