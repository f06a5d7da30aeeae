"""Named settings. Every one is a full set of options; the command line overrides single ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyresac.deep.algorithms.resac_options import AlgorithmOptions, Departures
from pyresac.errors import InputError
from pyresac.training.run_options import RunOptions

CORRIDOR = AlgorithmOptions(
    ensemble_size=10,
    # a decision's consequences are over within a few stops; a shorter horizon is learned faster than the paper's 0.99
    discount=0.97,
    lambda_epi=0.01,
    lambda_ale=0.0001,
    reward_scale=0.01,
    critic_lr=2e-3,
    actor_lr=2e-3,
    temperature_lr=1e-3,
    tau=0.01,
    batch_size=256,
    update_every=4,
    # equal headways can be kept with any common amount of holding; policies that begin high stay higher, and gain by it
    initial_mean=1.0,
)
"""Chosen for time to quality on the published slow corridor."""

CONTROL = AlgorithmOptions(
    ensemble_size=5,
    hidden=(256, 256),
    actor_hidden=(256, 256),
    lambda_epi=0.01,
    lambda_ale=1e-5,
    grad_clip=None,
)
"""Soft actor-critic's usual settings with five critics, for any other environment.

λ_ale: κ of such critics is about 10⁴, so it shifts a step's value by a tenth, where tasks pay about 1.
"""

PAPER = AlgorithmOptions(
    ensemble_size=10,
    lambda_epi=0.005,
    lambda_ale=0.01,
    beta_ood=0.01,
    beta_lcb=-2.0,
    reward_scale=1.0,
    critic_lr=1e-5,
    actor_lr=1e-5,
    temperature_lr=1e-5,
    tau=0.01,
    batch_size=2048,
    update_every=5,
    alpha_max=0.6,
    target_entropy=-1.0,
    ema_rate=1.0,
)
"""Section 5.2 to the letter; λ_epi, which it leaves out, from the worked figure of the appendix (claim C24)."""

B0 = AlgorithmOptions(
    ensemble_size=10,
    hidden=(256, 256),
    actor_hidden=(256, 256),
    lambda_epi=0.0,
    lambda_ale=0.01,
    beta_ood=0.01,
    beta_lcb=-2.0,
    beta_lcb_end=-1.0,
    independence=0.75,
    ema_rate=0.005,
    anchor_weight=0.1,
    actor_every=1,
    update_every=16,
    grad_clip=None,
)
"""Section 5.1, B0: 250 updates for 4,000 environment steps."""

PUBLISHED_CODE = replace(
    PAPER,
    lambda_epi=0.0,
    departures=Departures(
        add_kappa=True,
        kappa_biases=True,
        standardise_rewards=True,
        cloning=1e-3,
        full_range_jacobian=True,
        fan_out_init=True,
        skip_terminals=True,
    ),
)

PRESETS = ("resac", "quick", "resac-paper", "resac-b0", "epistemic-only", "aleatoric-only", "published-code")


def algorithm(preset: str, corridor: bool) -> AlgorithmOptions:
    """The algorithm's options. Raises InputError for an unknown preset."""
    base = CORRIDOR if corridor else CONTROL
    options = {
        "resac": base,
        "quick": base,
        "resac-paper": PAPER,
        "resac-b0": B0,
        "epistemic-only": replace(base, lambda_ale=0.0),
        # without an ensemble there is soft actor-critic's minimum of two
        "aleatoric-only": replace(
            base, ensemble_size=2, independence=0.0, lambda_epi=0.0, beta_ood=0.0, beta_lcb=0.0, beta_lcb_end=None
        ),
        "published-code": PUBLISHED_CODE,
    }
    if preset not in options:
        raise InputError(f"preset {preset!r} is unknown; known are {', '.join(PRESETS)}")
    return options[preset]


def run_options(preset: str, corridor: bool) -> RunOptions:
    """How long a preset runs and how often it is evaluated."""
    if not corridor:
        common: dict[str, Any] = {"eval_every": 5_000, "eval_episodes": 5, "final_episodes": 10}
        steps = 10_000 if preset == "quick" else 50_000 if preset != "resac-b0" else 8_000_000
        return RunOptions(steps=steps, checkpoint_every=10_000, **common)
    common = {"eval_episodes": 4, "final_episodes": 10}
    if preset == "quick":
        return RunOptions(steps=40_000, eval_every=10_000, checkpoint_every=20_000, **common)
    if preset in ("resac-paper", "published-code"):
        # 500 days
        return RunOptions(steps=2_600_000, eval_every=52_000, checkpoint_every=52_000, **common)
    return RunOptions(steps=180_000, eval_every=10_000, checkpoint_every=40_000, **common)
