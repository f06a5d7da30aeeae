module

-- Foundations
public import RESAC.Order
public import RESAC.Lattice
public import RESAC.Sum
public import RESAC.Extrema
public import RESAC.Monetary
public import RESAC.Finite
public import RESAC.Modulus
-- The contraction theorem
public import RESAC.Operator
public import RESAC.Contraction
public import RESAC.Terminal
public import RESAC.FixedPoint
public import RESAC.LatticeAffine
public import RESAC.Elimination
public import RESAC.Existence
public import RESAC.FiniteTheorem
public import RESAC.ValueIteration
public import RESAC.Continuous
-- Penalties that look at Q
public import RESAC.Counterproof
public import RESAC.LivePenalty
public import RESAC.TargetNetworks
public import RESAC.Ensemble
public import RESAC.EnsembleGap
public import RESAC.EnsembleStd
public import RESAC.OneState
-- Inexact backups, greedy policies, rankings
public import RESAC.ApproxContraction
public import RESAC.Projection
public import RESAC.Greedy
public import RESAC.Depression
public import RESAC.Ranking
public import RESAC.RankingCounterexamples
-- Soft, risk-sensitive and robust backups
public import RESAC.ExpLog
public import RESAC.ExpMean
public import RESAC.Optimum
public import RESAC.Entropy
public import RESAC.Divergence
public import RESAC.SoftBellman
public import RESAC.SoftPolicy
public import RESAC.EntropicRisk
public import RESAC.Robust
public import RESAC.Ipm
public import RESAC.Transport
public import RESAC.Layers
public import RESAC.LayerSum
public import RESAC.Regularization
-- Poisoning and disentanglement
public import RESAC.Poisoning
public import RESAC.Covariance
-- What the Python operator computed
public import RESAC.Vectors

/-!
# RE-SAC: what the contraction proof proves

A backup is **reward + γ · (expectation of a value functional − penalty)**. If the expectation and
the value functional are *monetary* (monotone, and `V (f + c) = V f + c`) and the penalty is frozen,
the backup is a γ-contraction in the sup-norm, whatever the penalty is. If the penalty looks at the
`Q` that is being updated, all depends on its Lipschitz constant.

Everything holds over an arbitrary linearly ordered field; `ℚ`, where the kernel can compute, and
`ℝ` are cases. Nothing is used beyond Lean's core library. The imports above are in reading order.
A reader in a hurry begins with `RESAC.Monetary`, `RESAC.Operator`, `RESAC.Contraction` and
`RESAC.FiniteTheorem`, which states the paper's theorem as the paper does.

The docstrings cite the paper's sections and the claims `C01`-`C37` of the ledger.
-/
