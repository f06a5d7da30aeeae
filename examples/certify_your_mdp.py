"""Solve an MDP of your own and read its certificate: python examples/certify_your_mdp.py

A machine that is new, worn or broken, and can be used or repaired. The printed bound holds for the table that is
printed, rounding included.
"""

from __future__ import annotations

import numpy as np

from pyresac.tabular import FiniteMDP, RevOperator, solve

STATES, ACTIONS = ("new", "worn", "broken"), ("use", "repair")

transition = np.array(
    [
        [[0.7, 0.3, 0.0], [1.0, 0.0, 0.0]],
        [[0.0, 0.6, 0.4], [1.0, 0.0, 0.0]],
        [[0.0, 0.0, 1.0], [0.9, 0.1, 0.0]],
    ]
)
reward = np.array([[10.0, 4.0], [8.0, 4.0], [0.0, -5.0]])
machine = FiniteMDP.from_arrays(transition, reward, discount=0.95)

solution = solve(RevOperator(machine), tolerance=1e-10)
for name, value, action in zip(STATES, solution.v, solution.policy, strict=True):
    print(f"{name:8}{value:10.4f}  {ACTIONS[action]}")
print(f"‖Q − Q*‖ ≤ {solution.error_bound:.1e}, rounding included")
