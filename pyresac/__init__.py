"""RE-SAC: a penalised Bellman operator, its proofs, its solvers and its agents."""
