"""Finite MDPs: the REV operator in float64 and in exact rationals, certified solvers, a tabular learner."""
