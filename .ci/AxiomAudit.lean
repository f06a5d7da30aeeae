import Lean
import RESAC

/-!
# The axioms behind the theorems

`lake env lean .ci/AxiomAudit.lean`, after `lake build`. It prints the axioms of every theorem whose
docstring cites a claim, and it fails if any theorem of the library rests on anything other than
propositional extensionality, choice and the soundness of quotients. A `sorry` would show as
`sorryAx`, a `native_decide` as `Lean.ofReduceBool`.

This file is no `module`: a module sees its imports without their proofs.
-/

open Lean Elab Command

namespace AxiomAudit

/-- The three axioms of Lean's logic. -/
def allowed : List Name := [``propext, ``Classical.choice, ``Quot.sound]

/-- Does the text contain the id of a claim: `C` and two digits? -/
def citesClaim (text : String) : Bool :=
  go text.toList
where
  go : List Char → Bool
    | 'C' :: a :: b :: rest => (a.isDigit && b.isDigit) || go (a :: b :: rest)
    | _ :: rest => go rest
    | [] => false

/-- The theorems of the library, in alphabetical order. -/
def theorems (env : Environment) : Array Name :=
  let found := env.constants.fold (init := #[]) fun names name info =>
    if name.getRoot == `RESAC && !name.isInternal && info matches .thmInfo _ then
      names.push name
    else
      names
  found.qsort fun a b => a.toString < b.toString

/-- Print and check; the command fails if it logs an error. -/
def audit : CommandElabM Unit := do
  let env ← getEnv
  let names := theorems env
  let mut cited := 0
  for name in names do
    let axioms ← liftCoreM (collectAxioms name)
    if let some doc ← findDocString? env name then
      if citesClaim doc then
        cited := cited + 1
        IO.println s!"{name}: {", ".intercalate (axioms.toList.map (·.toString))}"
    let wrong := axioms.toList.filter fun a => !allowed.contains a
    unless wrong.isEmpty do
      logError m!"{name} rests on {wrong}"
  if cited == 0 then
    logError "no theorem cites a claim: were the docstrings and proofs loaded?"
  IO.println s!"{names.size} theorems audited, {cited} of them cite a claim"

end AxiomAudit

run_cmd AxiomAudit.audit
