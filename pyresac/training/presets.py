"""Named settings: an algorithm, and what differs from its paper's settings. The command line overrides single ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from pyresac.deep.algorithms import algorithm_type
from pyresac.deep.algorithms.deep_options import DeepOptions
from pyresac.deep.algorithms.resac import Departures
from pyresac.errors import InputError
from pyresac.training.run_options import RunOptions

DEFAULT = "default"
DEFAULT_ALGORITHM = "resac"
Settings = Mapping[str, Any]

CORRIDOR: Settings = {
    "hidden": (64, 64, 64),
    "actor_hidden": (64, 64, 64),
    # a decision's consequences are over within a few stops; a shorter horizon is learned faster than the paper's 0.99
    "discount": 0.97,
    "reward_scale": 0.01,
    "critic_lr": 2e-3,
    "actor_lr": 2e-3,
    "temperature_lr": 1e-3,
    "tau": 0.01,
    "random_steps": 0,
    "learning_starts": 5_000,
    "update_every": 4,
    "actor_every": 2,
    "alpha_init": 0.2,
    "alpha_max": 0.6,
    "grad_clip": 1.0,
    "ema_rate": 0.005,
}
"""What every algorithm has on the corridor, as far as it reads it; chosen for RE-SAC on the published slow corridor."""


CORRIDOR_PROBLEM: Settings = {"observation": "full", "rule": "schedule"}
"""How the corridor is seen, and the rule that actions are added to: learning starts from what a good rule earns."""


@dataclass(frozen=True)
class Preset:
    """Settings over the defaults of an algorithm."""

    about: str
    algorithm: str | None = None
    """The only algorithm that it fits; None if it fits all."""
    always: Settings = field(default_factory=dict)
    """On every task, over what follows."""
    box: Settings = field(default_factory=dict)
    """On Gymnasium tasks."""
    corridor: Settings = field(default_factory=dict)
    """On the corridor."""
    replaces_corridor: bool = False
    """Whether the general settings of the corridor are left out."""
    steps: int | None = None
    """Environment steps, where they differ from the usual ones."""


PAPER: Settings = {
    "ensemble_size": 10,
    "hidden": (64, 64, 64),
    "actor_hidden": (64, 64, 64),
    "lambda_epi": 0.005,
    "lambda_ale": 0.01,
    "beta_ood": 0.01,
    "beta_lcb": -2.0,
    "critic_lr": 1e-5,
    "actor_lr": 1e-5,
    "temperature_lr": 1e-5,
    "tau": 0.01,
    "batch_size": 2048,
    "update_every": 5,
    "actor_every": 2,
    "grad_clip": 1.0,
    "random_steps": 0,
    "learning_starts": 5_000,
    "alpha_max": 0.6,
    "target_entropy": -1.0,
}
"""Section 5.2 to the letter; λ_epi, which it leaves out, from the worked figure of the appendix (claim C24)."""

PUBLISHED_CORRIDOR = Departures(
    add_kappa=True,
    kappa_biases=True,
    standardise_rewards=True,
    cloning=1e-3,
    full_range_jacobian=True,
    fan_out_init=True,
    skip_terminals=True,
)

RHYTHM: Settings = {"update_every": 16}
"""Section 5.1: 250 updates for 4,000 environment steps."""

PUBLISHED_MUJOCO: Settings = {
    **RHYTHM,
    "ensemble_size": 10,
    "lambda_epi": 0.0,
    "lambda_ale": 0.001,
    "beta_ood": 0.001,
    "beta_lcb": -2.0,
    "actor_every": 1,
    "grad_clip": None,
    "alpha_max": None,
    "random_steps": 10_000,
    "learning_starts": 10_000,
    "ema_rate": 1.0,
    "initial_mean": 0.0,
    "beta_steps": 8_000_000,
}
"""What all RE-SAC variants of the published MuJoCo program have, but for `VARIANTS`: no Γ_epi term, K = 10."""

VARIANTS: Mapping[str, Settings] = {
    "v1": {"independence": 0.0, "beta_ood": 0.01, "lambda_ale": 0.01},
    "v2": {"independence": 0.0},
    "v3": {"independence": 0.0, "beta_lcb_end": -0.5},
    "v4": {"beta_lcb_end": -0.5},
    "v5": {"beta_lcb_end": -1.0, "ema_rate": 0.005, "anchor_weight": 0.1},
    "v5b": {"beta_lcb_end": -1.0, "ema_rate": 0.005, "anchor_weight": 0.01},
    "v6b": {"independence": 0.5, "beta_lcb_end": -1.0, "ema_rate": 0.005, "anchor_weight": 0.01},
    "b0": {
        "independence": 0.75,
        "beta_lcb_end": -1.0,
        "beta_ood": 0.01,
        "lambda_ale": 0.01,
        "ema_rate": 0.005,
        "anchor_weight": 0.1,
    },
}
"""RE-SAC's variants, as data: what each has beside `PUBLISHED_MUJOCO`."""

PENALTIES_BOX: Settings = {
    "ensemble_size": 5,
    "independence": 1.0,
    "lambda_epi": 0.01,
    "lambda_ale": 1e-5,
    "beta_ood": 0.01,
    "beta_lcb": -0.5,
    "temperature_on": "next",
    "actor_every": 2,
    "alpha_max": 0.6,
    "ema_rate": 0.005,
    "random_steps": 0,
    "learning_starts": 5_000,
}
"""The paper's equations on Gymnasium tasks: five independent critics, both penalties, the averaged policy."""

CROSSQ: Settings = {
    "normalisation": "batch",
    "actor_every": 3,
    "adam_beta1": 0.5,
    "critic_lr": 1e-3,
    "actor_lr": 1e-3,
    "temperature_lr": 1e-3,
}
"""Bhatt et al. 2024, arXiv:1902.05605, as in its authors' program; the wider critics cost a CPU too much."""

NARROW_CROSSQ = Preset(
    "CrossQ, with critics of 256 units (its paper has 2,048: --hidden 2048 2048)",
    "sac",
    always=CROSSQ,
    box={"random_steps": 5_000, "learning_starts": 5_000, "alpha_init": 1.0},
)

PRESETS: dict[str, Preset] = {
    DEFAULT: Preset("the algorithm's own settings"),
    "quick": Preset("the same for a short time"),
    "resac-paper": Preset("section 5.2 to the letter", "resac", always=PAPER, replaces_corridor=True),
    "published-code": Preset(
        "the published corridor program",
        "resac",
        always={**PAPER, "lambda_epi": 0.0, "departures": PUBLISHED_CORRIDOR},
        replaces_corridor=True,
    ),
    "penalties": Preset("both penalties, on Gymnasium tasks too", "resac", box=PENALTIES_BOX),
    "epistemic-only": Preset("without κ", "resac", always={"lambda_ale": 0.0}, box=PENALTIES_BOX),
    # without an ensemble there is soft actor-critic's minimum of two
    "aleatoric-only": Preset(
        "without the ensemble: κ and the minimum of two critics",
        "resac",
        always={
            "ensemble_size": 2,
            "independence": 0.0,
            "lambda_epi": 0.0,
            "beta_ood": 0.0,
            "beta_lcb": 0.0,
            "beta_lcb_end": None,
        },
        box={"lambda_ale": 1e-5},
    ),
    **{
        f"resac-{name}": Preset(
            f"variant {name} of the published MuJoCo program",
            "resac",
            always={**PUBLISHED_MUJOCO, **own},
            replaces_corridor=True,
            steps=8_000_000,
        )
        for name, own in VARIANTS.items()
    },
    "crossq": NARROW_CROSSQ,
    # an actor's return swings by thousands from one evaluation to the next, that of its average by far less
    "fast": replace(
        NARROW_CROSSQ,
        about="the best return for an hour of one core on Gymnasium tasks: crossq's settings, the averaged policy",
        box={**NARROW_CROSSQ.box, "ema_rate": 1e-3},
    ),
    "published-sac": Preset("the published SAC", "sac", always={**RHYTHM, "actor_ascends": "mean"}, steps=8_000_000),
    "published-td3": Preset("the published TD3", "td3", always={**RHYTHM, "actor_ascends": "mean"}, steps=8_000_000),
    "published-sac-n": Preset(
        "the published SAC-N", "sac-n", always={**RHYTHM, "actor_optimism": 1.0}, steps=8_000_000
    ),
    "published-redq": Preset(
        "the published REDQ: N = 10, M = 2, but one update every 16 steps",
        "redq",
        always={
            **RHYTHM,
            "updates": 1,
            "actor_every": 1,
            "alpha_init": 0.2,
            "random_steps": 10_000,
            "learning_starts": 10_000,
        },
        steps=8_000_000,
    ),
    "published-tqc": Preset(
        "the published TQC: implicit critics, the largest quantiles of each dropped",
        "tqc",
        always={
            **RHYTHM,
            "hidden": (256, 256),
            "critics": "implicit",
            "cosines": 32,
            "embedding_activation": "relu",
            "drops_from": "critic",
        },
        steps=8_000_000,
    ),
    "published-dsac": Preset(
        "the published DSAC: 8 quantiles", "dsac", always={**RHYTHM, "quantiles": 8}, steps=8_000_000
    ),
    "published-bac": Preset(
        "the published BAC: the best of 10 uniformly random actions in place of V",
        "bac",
        always={**RHYTHM, "exploitation": "uniform"},
        steps=8_000_000,
    ),
}

MINIMUM_OF_TWO = -(0.5**0.5)
"""β_lcb with which the bound of two heads is their minimum: Q̄ − σ/√2 = Q̄ − |Q₁ − Q₂|/2."""

RESAC_BOX: Settings = {
    "ensemble_size": 2,
    "independence": 0.0,
    "lambda_epi": 0.0,
    "lambda_ale": 0.0,
    "beta_ood": 0.0,
    "beta_lcb": MINIMUM_OF_TWO,
    "temperature_on": "state",
}
"""RE-SAC where it is SAC: two heads, their minimum in target and actor, no penalty. On tasks without noise the
penalties bought no return where we measured, and an ensemble costs twice the time (docs/results.md)."""
RESAC_CORRIDOR: Settings = {"ensemble_size": 10, "lambda_epi": 0.01, "lambda_ale": 0.0001}

OWN_BOX: Mapping[str, Settings] = {"resac": RESAC_BOX}
"""What single algorithms have on Gymnasium tasks, over their defaults."""
OWN_CORRIDOR: Mapping[str, Settings] = {
    "resac": RESAC_CORRIDOR,
    # one step of the actor for its 20 of the critics, which is what REDQ is; α from where the others' begins, since
    # its own 1 is above the corridor's cap
    "redq": {"actor_every": 20, "alpha_init": 0.2},
}
"""What single algorithms have on the corridor, over `CORRIDOR`."""


def preset_named(preset: str, algorithm: str | None) -> tuple[Preset, str]:
    """A preset and the name of its algorithm. Raises InputError if it is unknown or of another algorithm."""
    if preset not in PRESETS:
        raise InputError(f"preset {preset!r} is unknown; known are {', '.join(PRESETS)}")
    found = PRESETS[preset]
    if None not in (algorithm, found.algorithm) and algorithm != found.algorithm:
        raise InputError(f"preset {preset!r} is one of the algorithm {found.algorithm!r}, not of {algorithm!r}")
    if found.algorithm is not None:
        return found, found.algorithm
    return found, DEFAULT_ALGORITHM if algorithm is None else algorithm


def options_for(preset: str, algorithm: str | None, corridor: bool) -> DeepOptions:
    """The algorithm's options. Raises InputError as `preset_named`."""
    found, name = preset_named(preset, algorithm)
    options_type = algorithm_type(name).options_type
    settings: dict[str, Any] = {}
    if corridor and not found.replaces_corridor:
        readable = {own.name for own in fields(options_type)}
        settings |= {key: value for key, value in CORRIDOR.items() if key in readable}
    if not found.replaces_corridor:
        settings |= (OWN_CORRIDOR if corridor else OWN_BOX).get(name, {})
    return options_type(**{**settings, **(found.corridor if corridor else found.box), **found.always})


def problem_for(preset: str) -> dict[str, Any]:
    """What a preset sees of the corridor: the full observation, or the paper's state for the paper's settings."""
    found, _ = preset_named(preset, None)
    return {"observation": "paper"} if found.replaces_corridor else dict(CORRIDOR_PROBLEM)


def run_options(preset: str, algorithm: str | None, corridor: bool) -> RunOptions:
    """How long a preset runs and how often it is evaluated."""
    found, _ = preset_named(preset, algorithm)
    if not corridor:
        common: dict[str, Any] = {"eval_every": 5_000, "eval_episodes": 5, "final_episodes": 10}
        steps = 20_000 if preset == "quick" else 100_000 if found.steps is None else found.steps
        return RunOptions(steps=steps, checkpoint_every=10_000, **common)
    common = {"eval_episodes": 4, "final_episodes": 10}
    if preset == "quick":
        return RunOptions(steps=40_000, eval_every=10_000, checkpoint_every=20_000, **common)
    if preset in ("resac-paper", "published-code"):
        # 500 days
        return RunOptions(steps=2_600_000, eval_every=52_000, checkpoint_every=52_000, **common)
    return RunOptions(steps=180_000, eval_every=10_000, checkpoint_every=40_000, **common)
