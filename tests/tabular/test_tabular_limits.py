"""What just meets a limit of a tabular model is allowed, and what goes one further is refused; paths may be text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from pyresac import memory
from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, IntervalSet, RevOperator, WorstOfKernels, checks, families, solve
from pyresac.tabular.checks import check_initial, check_policy
from pyresac.tabular.expectations import base
from pyresac.tabular.readers import folders
from pyresac.tabular.shares import OneProcess, Share
from pyresac.tabular.tabular_learner import LearnerOptions, TabularLearner

MDP = families.random_sparse(20, 2, 3, 0.9, seed=0)
HALF_AND_HALF = (
    "@type: MDP\n@nr_states\n2\n@model\nstate 0\n\taction 0\n\t\t0 : {}\n\t\t1 : {}\nstate 1\n\taction 0\n\t\t1 : 1\n"
)


def queue(arrival: float, speed: float) -> Callable[[], Any]:
    return lambda: families.queue(2, 0.9, arrival=arrival, speeds=(speed,))


def learner(step: int) -> Callable[[], Any]:
    return lambda: TabularLearner(2, 3, LearnerOptions(), 0).act(step)


def table(successor: int) -> Callable[[], Any]:
    rows = {s: {0: [(1.0, successor, 0.0, False)]} for s in range(2)}

    class OneAction(gym.Env[int, int]):
        observation_space, action_space = gym.spaces.Discrete(2), gym.spaces.Discrete(1)
        P = rows

    return lambda: FiniteMDP.from_gymnasium(OneAction(), 0.9)


@pytest.mark.parametrize(
    ("met", "beyond", "message"),
    [
        (
            lambda: LearnerOptions(learning_rate=0.5, learning_rate_min=0.5),
            lambda: LearnerOptions(learning_rate=0.5, learning_rate_min=math.nextafter(0.5, 1.0)),
            "learning_rate_min = 0.5000000000000001; it must lie in [0, learning_rate = 0.5]",
        ),
        (learner(0), learner(-1), "state = -1; this learner has 0…1"),
        (learner(1), learner(2), "state = 2; this learner has 0…1"),
        (queue(0.5, 0.5), queue(0.5, 0.5 + 2.0**-50), "arrival is 0.5 and speeds are (0.5000000000000009,)"),
        (queue(0.5, 1e-300), queue(0.5, 0.0), "arrival is 0.5 and speeds are (0.0,); each must be positive"),
        (
            lambda: families.grid(3, 0.9, slip=math.nextafter(1.0, 0.0)),
            lambda: families.grid(3, 0.9, slip=1.0),
            "slip is 1.0; it must be in [0, 1)",
        ),
        (lambda: MDP.with_discount(0.0), lambda: MDP.with_discount(-5e-324), "discount is -5e-324"),
        (lambda: MDP.with_discount(math.nextafter(1.0, 0.0)), lambda: MDP.with_discount(1.0), "discount is 1.0"),
        (lambda: check_initial([0.5, 0.5 + 9e-9], 2), lambda: check_initial([0.5, 0.5 + 11e-9], 2), "initial has"),
        (lambda: check_initial([0.0, 1.0], 2), lambda: check_initial([-5e-324, 1.0], 2), "initial has minimum -5e-324"),
        (
            lambda: check_policy("policy", [[0.5, 0.5 - 9e-10]]),
            lambda: check_policy("policy", [[0.5, 0.5 - 11e-10]]),
            "row s=0 of policy sums to 0.9999999989; rows must sum to 1",
        ),
        (table(1), table(2), "the table `P` names a successor outside 0…1"),
        (table(0), table(-1), "the table `P` names a successor outside 0…1"),
    ],
)
def test_a_limit_is_allowed_and_nothing_beyond(met: Callable[[], Any], beyond: Callable[[], Any], message: str) -> None:
    met()
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        beyond()


@pytest.mark.parametrize(
    ("ending", "met", "beyond", "message"),
    [
        (".tra", "2 2\n0 1 1\n1 1 1\n", "2 2\n0 1 1\n1 2 1\n", "line 3: the header says 2 states"),
        (
            ".mdp",
            "discount: 0.5\nstates: 2\nactions: 1\nT: 0\nidentity\nR: 0 : 1 : * 1\n",
            "discount: 0.5\nstates: 2\nactions: 1\nT: 0\nidentity\nR: 0 : 2 : * 1\n",
            "line 6: expected '*' or one of the states",
        ),
        # one state may have 64 actions for its one row, and 1,024 more
        (
            ".csv",
            "idstatefrom,idaction,idstateto,probability,reward\n0,1087,0,1,0\n",
            "idstatefrom,idaction,idstateto,probability,reward\n0,1088,0,1,0\n",
            "ids reach s=0, a=1088 with only 1 rows",
        ),
    ],
)
def test_a_file_may_go_as_far(tmp_path: Path, ending: str, met: str, beyond: str, message: str) -> None:
    path = tmp_path / f"m{ending}"
    path.write_text(met)
    FiniteMDP.load(path, 0.9)
    path.write_text(beyond)
    with pytest.raises(InputError, match=re.escape(message)):
        FiniteMDP.load(path, 0.9)


@pytest.mark.parametrize(
    ("intervals", "message"),
    [
        (("[0.5, 0.75]", "[0.5, 1]"), None),
        (("[0.25, 0.5]", "[0, 0.5]"), None),
        (("[0.5, 0.5]", "[0.5, 0.5]"), None),
        (("[0.5, 0.75]", "[0.5000001, 1]"), "lower ends that sum to 1 and upper ones that sum to 1.75"),
        (("[0.25, 0.5]", "[0, 0.4999]"), "upper ones that sum to 0.9999"),
        (("[0.5, 0.75]", "[0.5, 1.0001]"), "an interval of probabilities lies in [0, 1], its lower end first"),
        (("[0.5, 0.75]", "[-0.0001, 1]"), "an interval of probabilities lies in [0, 1], its lower end first"),
        (("[0.75, 0.5]", "[0.0, 1]"), "an interval of probabilities lies in [0, 1], its lower end first"),
    ],
)
def test_ends_of_intervals_may_sum_to_one(tmp_path: Path, intervals: tuple[str, str], message: str | None) -> None:
    path = tmp_path / "m.drn"
    path.write_text(HALF_AND_HALF.format(*intervals))
    if message is None:
        assert IntervalSet.load(path, 0.9)[0].n_states == 2
        return
    with pytest.raises(InputError, match=re.escape(message)):
        IntervalSet.load(path, 0.9)


def test_a_folder_has_a_discount_below_one_and_a_state_for_each_process(tmp_path: Path) -> None:
    MDP.with_discount(0.0).save_folder(tmp_path / "model")
    assert FiniteMDP.load(tmp_path / "model").discount == 0.0
    folder = folders.open_folder(tmp_path / "model")
    assert folder.cuts(20) == list(range(21))
    with pytest.raises(InputError, match="has 20 states; 21 processes are too many"):
        folder.cuts(21)
    head = tmp_path / "model" / folders.HEAD
    for discount in (1, 1.0, -5e-324):
        head.write_text(json.dumps(json.loads(head.read_text()) | {"discount": discount}))
        with pytest.raises(InputError, match=rf"discount is {discount}; it must be a number in \[0, 1\)"):
            folders.open_folder(tmp_path / "model")


def test_so_many_bases_of_a_polytope_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two states and one inequality: each choice of 2 among 3 columns, once where the pairs share it."""
    mdp = families.random_dense(2, 2, 0.9, seed=0)
    shared, own = ([[1.0, 0.0]], [0.5]), (np.tile([[1.0, 0.0]], (2, 2, 1, 1)), np.full((2, 2, 1), 0.5))
    for (matrix, bound), bases in ((shared, 3), (own, 12)):
        monkeypatch.setattr(base, "MOST_BASES", bases)
        assert len(WorstOfKernels.of_polytope(mdp, matrix, bound).kernels) == 2
        monkeypatch.setattr(base, "MOST_BASES", bases - 1)
        with pytest.raises(InputError, match=f"the polytopes have {bases} bases; at most {bases - 1} are looked at"):
            WorstOfKernels.of_polytope(mdp, matrix, bound)


NEEDS: dict[str, tuple[Callable[[], Any], int]] = {
    # Q, its copy, the counts and what they become: four tables of 3 heads, 5 states and 2 actions
    "a learner of (3, 5, 2) heads": (lambda: TabularLearner(5, 2, LearnerOptions(ensemble_size=3), 0), 4 * 8 * 30),
    # one table of 20 states and 2 actions, six vectors
    "solving FiniteMDP(20 states": (lambda: solve(RevOperator(MDP)), 8 * (40 + 6 * 20)),
    # a column and a probability of each transition, and a copy of the latter
    "a model of 120 transitions": (lambda: families.random_sparse(20, 2, 3, 0.9, seed=0), (4 + 8 + 8) * 120),
}


@pytest.mark.parametrize("what", NEEDS)
def test_what_just_fits_into_memory_is_made(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, needed = NEEDS[what]
    monkeypatch.setattr(checks, "SMALL_MEMORY", 0)
    for free in (None, needed):
        monkeypatch.setattr(memory, "available_bytes", lambda free=free: free)
        make()
    monkeypatch.setattr(memory, "available_bytes", lambda: needed - 1)
    with pytest.raises(InputError, match=rf"^{re.escape(what)}.* needs 0 MiB of memory or more; 0 MiB are free$"):
        make()


def test_little_memory_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    checks.check_room(2**28, "this")
    with pytest.raises(InputError, match=r"^this needs 256 MiB of memory or more; 0 MiB are free$"):
        checks.check_room(2**28 + 1, "this")


@pytest.mark.parametrize("ending", [".npz", ".csv"])
def test_a_path_may_be_text(tmp_path: Path, ending: str) -> None:
    path = str(tmp_path / f"m{ending}")
    MDP.save(path)
    np.testing.assert_array_equal(FiniteMDP.load(path, 0.9).dense(), MDP.dense())


def test_a_path_of_a_folder_or_another_form_may_be_text(tmp_path: Path) -> None:
    folder, intervals = str(tmp_path / "model"), str(tmp_path / "m.drn")
    MDP.save_folder(folder)
    np.testing.assert_array_equal(FiniteMDP.load(folder).dense(), MDP.dense())
    assert Share.load(folder, OneProcess()).n_states == 20
    Path(intervals).write_text(HALF_AND_HALF.format("[0.5, 0.75]", "[0.25, 1]"))
    assert IntervalSet.load(intervals, 0.9)[0].n_states == 2
    Path(intervals).write_text(HALF_AND_HALF.format("0.5", "0.5"))
    assert FiniteMDP.load(intervals, 0.9).dense()[0, 0].tolist() == [0.5, 0.5]
