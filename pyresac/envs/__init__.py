"""Environments: the bus corridor. Importing this package registers them with Gymnasium.

After `import pyresac.envs`, `gymnasium.make("pyresac/BusCorridor-v0")` and `gymnasium.make_vec(…, num_envs=n)` make
the bus corridor; `gymnasium.make("pyresac.envs:pyresac/BusCorridor-v0")` imports and makes at once.
"""

import gymnasium

gymnasium.register(
    id="pyresac/BusCorridor-v0",
    entry_point="pyresac.envs.bus.environment:BusCorridor",
    vector_entry_point="pyresac.envs.bus.vector:VectorBusCorridor",
)
