import Lake
open Lake DSL

/-! `lake build` checks every proof of the library. Lean core only: nothing to fetch. -/

package resac where
  srcDir := "lean"
  leanOptions := #[⟨`autoImplicit, false⟩]

@[default_target]
lean_lib RESAC where
  roots := #[`RESAC]
