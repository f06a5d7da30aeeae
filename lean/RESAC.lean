module

-- Foundations
public import RESAC.Foundations.Order
public import RESAC.Foundations.Lattice
public import RESAC.Foundations.Sum
public import RESAC.Foundations.Squares
public import RESAC.Foundations.Extrema
public import RESAC.Foundations.Monetary
public import RESAC.Foundations.Finite
public import RESAC.Foundations.Modulus
public import RESAC.Foundations.Optimum
public import RESAC.Foundations.Tables
-- The contraction theorem
public import RESAC.Contraction.Operator
public import RESAC.Contraction.Blackwell
public import RESAC.Contraction.Terminal
public import RESAC.Contraction.FixedPoint
public import RESAC.Contraction.LatticeAffine
public import RESAC.Contraction.Elimination
public import RESAC.Contraction.Existence
public import RESAC.Contraction.FiniteTheorem
public import RESAC.Contraction.ValueIteration
public import RESAC.Contraction.Continuous
public import RESAC.Contraction.Feller
-- Penalties that look at Q
public import RESAC.Live.Counterproof
public import RESAC.Live.Penalty
public import RESAC.Live.WeightNorm
public import RESAC.Live.Polyak
public import RESAC.Live.TargetNetworks
public import RESAC.Live.Ensemble
public import RESAC.Live.EnsembleGap
public import RESAC.Live.EnsembleStd
public import RESAC.Live.OneState
-- Inexact backups, greedy policies, rankings
public import RESAC.Errors.ApproxContraction
public import RESAC.Errors.Projection
public import RESAC.Errors.Residual
public import RESAC.Errors.Greedy
public import RESAC.Errors.Depression
public import RESAC.Errors.Ranking
public import RESAC.Errors.RankingCounterexamples
-- Soft, risk-sensitive and robust backups
public import RESAC.Soft.ExpLog
public import RESAC.Soft.ExpMean
public import RESAC.Soft.Entropy
public import RESAC.Soft.Divergence
public import RESAC.Soft.SoftBellman
public import RESAC.Soft.SoftPolicy
public import RESAC.Soft.EntropicRisk
public import RESAC.Robust.WorstCase
public import RESAC.Robust.Attained
public import RESAC.Robust.Ipm
public import RESAC.Robust.UncertaintySets
public import RESAC.Robust.Transport
public import RESAC.Robust.Layers
public import RESAC.Robust.LayerSum
public import RESAC.Robust.Regularization
public import RESAC.Robust.Euclidean
-- Poisoning and disentanglement
public import RESAC.Statistics.Poisoning
public import RESAC.Statistics.Covariance
public import RESAC.Statistics.Residual
-- What the fixed point is the optimum of, and learning it
public import RESAC.Optimality.Policies
public import RESAC.Optimality.PolicyIteration
public import RESAC.Optimality.Sweeps
public import RESAC.Optimality.Stochastic
-- What a solver's answer is worth
public import RESAC.Certificate.Span
public import RESAC.Certificate.Rounding
public import RESAC.Certificate.Float
public import RESAC.Certificate.Checker
public import RESAC.Certificate.Intervals
public import RESAC.Certificates.FrozenLake
public import RESAC.Certificates.IntervalChain
public import RESAC.Certificates.PolicyChain
public import RESAC.Certificates.RobustChain
public import RESAC.Certificates.Corridor
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
A reader in a hurry begins with `RESAC.Foundations.Monetary` and the folder `RESAC/Contraction`:
`Operator`, `Blackwell`, and `FiniteTheorem`, which states the paper's theorem as the paper does.

The docstrings cite the paper's sections and the claims `C01`-`C50` of the ledger.
-/
