module

public import Mathlib.Data.Real.Archimedean

public section

/-! The exponential and the logarithm. -/

noncomputable section

universe u v w

axiom Real.exp : Real → Real
axiom Real.log : Real → Real
axiom Real.exp_add (x y : Real) : Real.exp (x + y) = Real.exp x * Real.exp y
axiom Real.add_one_le_exp (x : Real) : x + 1 ≤ Real.exp x
axiom Real.exp_log {x : Real} (hx : 0 < x) : Real.exp (Real.log x) = x
