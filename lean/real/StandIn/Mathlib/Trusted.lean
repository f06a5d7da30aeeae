module

public section

/-!
# Stand-in for Mathlib

Declarations of Mathlib that the layer uses, so that the layer can be checked where Mathlib is absent. The class
hierarchy at `ℝ` is Mathlib's own, as of v4.28.0: what extends what, which operation comes from where, what is an
instance by which name and priority, what unfolds. Proofs of propositions are taken on trust: `trusted`, which
proves anything, or an `axiom`; so are the operations of `ℝ` themselves. Classes of properties that the layer only
passes on have `True` for a field. No file of the layer may name `trusted`. A build with Mathlib does not see these
files.

The modules that the layer imports have Mathlib's names. Each holds what the layer takes from it, and what Mathlib has
in modules that it imports. This one, with the axiom, is not Mathlib's.
-/

noncomputable section

universe u v w

axiom trusted {p : Prop} : p
