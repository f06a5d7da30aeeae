"""The certificates that the library ships: `python -m pyresac.formal.certified_examples`.

FrozenLake; a chain whose slips an adversary chooses from three kernels, with frozen penalties; a chain whose
probabilities he chooses from intervals; the values of a policy on a chain; and a corridor: headways of simulated
buses in bins, under three holding times, as frequencies.
Writing them again solves the tables again, whose last bits may differ on another machine; the kernel accepts either.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from pyresac.command import safe_streams
from pyresac.envs.bus.environment import BusCorridor
from pyresac.formal.certificate_text import lean_text
from pyresac.formal.certificates import certificate
from pyresac.tabular import FiniteMDP, IntervalSet, PolicyMean, RevOperator, WorstOfKernels, solve
from pyresac.tabular.checks import Floats
from pyresac.tabular.families import chain

FOLDER = "RESAC/Certificates"
BINS = np.array([120.0, 240.0, 330.0, 390.0, 480.0, 600.0])
"""Bounds between the headway bins, in seconds."""
HOLDS = np.array([0.0, 30.0, 60.0])
"""Holding times, in seconds."""


@dataclass(frozen=True)
class ExamplesOptions:
    """Where to write."""

    root: Path = Path("lean")
    """Folder of the Lean sources."""


def frozen_lake() -> tuple[RevOperator, str]:
    """The toy-text environment, its ends absorbing."""
    mdp = FiniteMDP.from_gymnasium("FrozenLake-v1", 0.95)
    return RevOperator(mdp), "Gymnasium's FrozenLake-v1, discount 0.95."


def robust_chain() -> tuple[RevOperator, str]:
    """The worst of three slips at each pair, a penalty of the next pair and a constant one."""
    models = [chain(6, 0.9, slip=slip) for slip in (0.1, 0.2, 0.3)]
    operator = RevOperator(
        models[0], epistemic=np.arange(12.0).reshape(6, 2), lambda_epi=0.05, kappa=0.01, penalty_at="next",
        expectation=WorstOfKernels([m.transition for m in models]),
    )  # fmt: skip
    title = "A chain of 6 states; the worst of the slips 0.1, 0.2, 0.3 at each pair; frozen penalties of both kinds."
    return operator, title


def interval_chain() -> tuple[RevOperator, str]:
    """Each slip off by up to 0.05, a penalty of the next pair."""
    mdp = chain(6, 0.9, slip=0.2)
    operator = RevOperator(
        mdp, epistemic=np.arange(12.0).reshape(6, 2), lambda_epi=0.05, penalty_at="next",
        expectation=IntervalSet.around(mdp, 0.05),
    )  # fmt: skip
    title = "A chain of 6 states; the worst of all probabilities within 0.05; a frozen penalty of the next pair."
    return operator, title


def policy_chain() -> tuple[RevOperator, str]:
    """The values of the policy that goes right with probability 0.7, less a penalty of the next pair."""
    operator = RevOperator(
        chain(6, 0.9), epistemic=np.arange(12.0).reshape(6, 2), lambda_epi=0.05, penalty_at="next",
        value=PolicyMean(np.tile([0.3, 0.7], (6, 1))),
    )  # fmt: skip
    return operator, "A chain of 6 states under the policy (0.3, 0.7); a frozen penalty of the next pair."


def corridor_counts(days: int = 2, seed: int = 1) -> FiniteMDP:
    """Frequencies of a bus's next headway bin and its mean reward, by bin and holding time, random holds."""
    states, actions = len(BINS) + 1, len(HOLDS)
    counts, sums = np.zeros((states, actions, states)), np.zeros((states, actions))
    draw = np.random.default_rng(seed)
    env = BusCorridor()
    for day in range(days):
        env.reset(seed=seed + day)
        ended = False
        while not ended:
            _, _, ended, _, info = env.step(np.array([draw.choice(HOLDS)], dtype=np.float32))
            found = info["transitions"]
            s, t = (np.searchsorted(BINS, x[:, 0]) for x in (found.continuous, found.next_continuous))
            a = np.abs(found.action.reshape(-1, 1) - HOLDS).argmin(axis=1)
            np.add.at(counts, (s, a, t), 1)
            np.add.at(sums, (s, a), found.reward)
    return FiniteMDP.from_counts(counts, sums, 0.9)


def corridor() -> tuple[RevOperator, str]:
    """The frequencies of two simulated days, with a frozen penalty of 0.01."""
    mdp = corridor_counts()
    title = f"Headway bins at {', '.join(f'{x:g}' for x in BINS)} s, holds of 0, 30, 60 s; two days of the corridor."
    return RevOperator(mdp, kappa=0.01), title


EXAMPLES: dict[str, Callable[[], tuple[RevOperator, str]]] = {
    "FrozenLake": frozen_lake,
    "RobustChain": robust_chain,
    "IntervalChain": interval_chain,
    "PolicyChain": policy_chain,
    "Corridor": corridor,
}


def example_text(name: str, q: Floats | None = None) -> str:
    """The Lean file of an example; of the table q where one is given, else of one solved here."""
    operator, title = EXAMPLES[name]()
    table = solve(operator, tolerance=1e-12).q if q is None else q
    return lean_text(certificate(operator, table), name, title)


@safe_streams()
def main(arguments: list[str] | None = None) -> int:
    """Write the files."""
    root = tyro.cli(
        ExamplesOptions, args=arguments, prog="python -m pyresac.formal.certified_examples", description=__doc__
    ).root
    for name in EXAMPLES:
        path = root / FOLDER / f"{name}.lean"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(example_text(name), encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
