"""A policy from data, with a lower bound on what it truly earns: python examples/robust_policy_from_counts.py

The data are counts of transitions. With 95 % confidence the true kernel lies in the set that is put around their
frequencies, and then the policy earns at least the bound.
"""

from __future__ import annotations

import numpy as np

from pyresac.tabular import FiniteMDP, RevOperator, RobustMDP, solve

generator = np.random.default_rng(0)
truth = generator.dirichlet(np.ones(4), size=(4, 2))
reward = generator.uniform(0.0, 1.0, (4, 2))
counts = np.array([[generator.multinomial(200, row) for row in rows] for rows in truth])

robust = RobustMDP.from_counts(counts, reward, 0.9, confidence=0.95, set="bernstein")
solution, lower = robust.solve()

best = solve(RevOperator(FiniteMDP.from_arrays(truth, reward, 0.9)), tolerance=1e-9)
print("state  action  at least  the best with the true kernel")
for state in range(4):
    print(f"{state:5}{solution.policy[state]:8}{lower[state]:10.3f}{best.v[state]:10.3f}")
