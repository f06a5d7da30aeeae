"""Environments: the bus corridor, and Brax's tasks. Importing this package registers them with Gymnasium.

After `import pyresac.envs`, `gymnasium.make("pyresac/BusCorridor-v0")` and `gymnasium.make_vec(…, num_envs=n)` make
the bus corridor; `gymnasium.make("pyresac.envs:pyresac/BusCorridor-v0")` imports and makes at once. Brax's tasks are
`brax/Hopper-v0`, `brax/Walker2d-v0`, `brax/HalfCheetah-v0` and `brax/Ant-v0` (`pip install 'pyresac[brax]'`).
"""

import gymnasium

gymnasium.register(
    id="pyresac/BusCorridor-v0",
    entry_point="pyresac.envs.bus.environment:BusCorridor",
    vector_entry_point="pyresac.envs.bus.vector:VectorBusCorridor",
)

for _name in ("Hopper", "Walker2d", "HalfCheetah", "Ant"):
    gymnasium.register(
        id=f"brax/{_name}-v0",
        entry_point="pyresac.envs.brax_tasks:BraxTask",
        max_episode_steps=1_000,
        kwargs={"task": _name.lower()},
    )
