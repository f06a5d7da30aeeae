module

public import RESACReal.Contraction
public import RESACReal.Finite
public import RESACReal.Robust
public import RESACReal.Soft
public import RESACReal.Thresholds
public import RESACReal.Continuous
public import RESACReal.Feller

public section

/-! The library's theorems over `ℝ`, in Mathlib's terms. -/
