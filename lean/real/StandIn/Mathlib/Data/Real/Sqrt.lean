module

public import Mathlib.Data.Real.Archimedean

public section

/-! Square roots. -/

noncomputable section

universe u v w

axiom Real.sqrt : Real → Real
axiom Real.sqrt_nonneg (x : Real) : 0 ≤ Real.sqrt x
axiom Real.sq_sqrt {x : Real} (h : 0 ≤ x) : Real.sqrt x ^ 2 = x
