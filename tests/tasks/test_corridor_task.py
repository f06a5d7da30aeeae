"""`CorridorTask`: a policy as a controller, the limits of what it has learned, and states of another corridor."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from pyresac.envs.bus.episodes import Form, Transitions
from pyresac.envs.bus.metrics import METRICS, metrics_table
from pyresac.envs.bus.named import corridor_named
from pyresac.envs.bus.named_controllers import controller_named
from pyresac.envs.bus.observation import CATEGORICAL, Observation
from pyresac.envs.bus.simulator import simulate_days
from pyresac.envs.bus.vector import VectorBusCorridor
from pyresac.errors import CheckpointError, InputError
from pyresac.tasks import corridor_task
from pyresac.tasks.corridor_task import CorridorTask
from pyresac.tasks.experience import Numbers
from pyresac.tasks.task import Codes


def looking(dense: Numbers, codes: Codes) -> Numbers:
    """A policy that looks at the headways and at the stop, each row by itself."""
    return np.tanh(0.5 * dense[:, :1] - dense[:, 1:2] + 0.25 * codes[:, 1:2].astype(np.float32) - 2.0)


class Looking:
    """That policy as a controller, and all that it saw."""

    batched: ClassVar[bool] = True

    def __init__(self, task: CorridorTask) -> None:
        self.task, self.seen = task, list[Observation]()

    def __call__(self, observation: Observation) -> Any:
        """See `LearnedController`."""
        copied: list[Any] = [np.array(field) for field in observation]
        self.seen.append(Observation(*copied))
        return self.task.holding(observation, looking(*self.task.observed(observation)))


def task_of(path: Path, **given: Any) -> CorridorTask:
    return CorridorTask(corridor_named(str(path)), 2, 0, **given)


def seen_by(task: CorridorTask, days: list[int]) -> list[Observation]:
    controller = Looking(task)
    simulate_days(task.corridor, controller, days)
    return controller.seen


@pytest.mark.parametrize("form", ["paper", "full"])
@pytest.mark.parametrize("rule", [None, "schedule:slack=20"])
@pytest.mark.parametrize("published", [False, True])
def test_a_policy_plays_the_same_days_as_a_controller(
    form: Form, rule: str | None, published: bool, tiny: Path
) -> None:
    task = task_of(tiny, form=form, rule=None if rule is None else controller_named(rule), published=published)
    played = task.play(looking, 3, 5, 0.9)
    assert len(set(played.action.ravel().tolist())) > 20
    days = metrics_table(simulate_days(task.corridor, Looking(task), [10_005, 10_006, 10_007], published))
    for name in METRICS:
        np.testing.assert_array_equal(days[name], played.metrics[name])


def test_numbers_beyond_those_of_training_are_seen_at_their_bound(tiny: Path) -> None:
    """A task's observations are clipped, and what a policy sees elsewhere must be, too."""
    task = task_of(tiny)
    seen = seen_by(task, [1, 2])[5]
    plain, codes = task.observed(seen)
    episodes = task._days.env.episodes
    for huge, bound in ((-1e12, episodes.low), (1e12, episodes.high)):
        dense, same = task.observed(seen._replace(link_speed=np.full_like(seen.link_speed, huge)))
        assert np.array_equal(same, codes)
        assert np.array_equal(dense[:, :2], plain[:, :2])
        np.testing.assert_array_equal(dense[:, 2], (bound[2] - task._centre[2]) / task._scale[2])


def test_a_policy_is_asked_about_no_bus_stop_or_hour_that_it_has_not_learned(tiny: Path) -> None:
    task = task_of(tiny)
    seen = seen_by(task, [1, 2])[5]
    assert len(seen.stop) == 2
    for name, count in zip(CATEGORICAL, task.categories, strict=True):
        known, beyond = ({name: np.array([0, last])} for last in (count - 1, count))
        task.observed(Observation(**{**seen._asdict(), **known}))
        message = f"{name} {count} was met on another corridor than tiny, with {count}"
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            task.observed(Observation(**{**seen._asdict(), **beyond}))


def test_states_of_another_corridor_are_refused(tiny: Path) -> None:
    task, same, other = task_of(tiny), task_of(tiny), task_of(tiny)
    task.step(np.zeros((2, 1), dtype=np.float32))
    state = json.loads(json.dumps(task.state()))
    same.load_for_play(state)
    same.load(state, task.arrays())
    assert same.state() == task.state()
    changed = dataclasses.replace(other.corridor, headway=201.0)
    with pytest.raises(CheckpointError, match=r"^the checkpoint's corridor is not the one that 'tiny' names now: its"):
        CorridorTask(changed, 2, 0).load_for_play(state)
    with pytest.raises(CheckpointError, match=r"^the checkpoint's corridor does not fit: "):
        CorridorTask(other.corridor, 3, 0).load(state, task.arrays())


def test_training_days_have_hashed_seeds_and_their_returns_are_sums_of_rewards(tiny: Path) -> None:
    """Beside the environment itself, begun with the upper 63 bits of each hashed word. A day that goes on is saved."""
    task, twin = CorridorTask(corridor_named(str(tiny)), 3, 7), CorridorTask(corridor_named(str(tiny)), 3, 8)
    env = VectorBusCorridor(3, task.corridor)
    words = np.random.SeedSequence([7, 0]).generate_state(3, np.uint64).tolist()
    seen, _ = env.reset(seed=[word // 2 for word in words])
    rewards, expected, saved = [0.0] * 3, list[float](), 0
    source = np.random.default_rng(0)
    for step in range(140):
        for mine, name in zip(task.observe(), ("continuous", "categorical"), strict=True):
            plain = (seen[name] - task._centre) / task._scale if name == "continuous" else seen[name] + task._offsets
            np.testing.assert_array_equal(mine, plain)
        unit = source.uniform(-1.0, 1.0, (3, 1)).astype(np.float32)
        task.step(unit)
        seen, reward, ended, _, _ = env.step(task.box.to_action(unit))
        for row in range(3):
            rewards[row] += float(reward[row])
            if ended[row]:
                expected.append(rewards[row])
                rewards[row] = 0.0
        state = task.state()
        assert state["running"] == pytest.approx(rewards)
        assert state["finished"] == pytest.approx(expected)
        if step > 60 and expected and all(rewards):
            twin.load(json.loads(json.dumps(state)), task.arrays())
            assert twin.state() == state
            saved += 1
    assert saved > 0
    assert len(expected) >= 3
    assert task.finished() == pytest.approx(expected)
    assert task.finished() == task.state()["finished"] == []


def test_discounted_returns_are_sums_along_each_trip() -> None:
    """Two days, trips of unequal length, in any order; by hand."""
    # day, trip, place, reward
    rows = [(1, 0, 0, 1.0), (0, 2, 0, 5.0), (1, 0, 1, 2.0), (0, 2, 1, 7.0), (1, 0, 2, 4.0), (1, 2, 0, 9.0)]
    day, trip, place, reward = (np.array(column) for column in zip(*rows, strict=True))
    fields: dict[str, Any] = dict.fromkeys(Transitions._fields, np.zeros(6))
    found = Transitions(**{**fields, "day": day, "trip": trip, "place": place, "reward": reward})
    # 1 + (2 + 4/2)/2, 5 + 7/2, 2 + 4/2, 7, 4, 9
    assert corridor_task._returns_to_go(found, 0.5).tolist() == [3.0, 8.5, 4.0, 7.0, 4.0, 9.0]


def test_a_state_without_what_was_asked_of_a_rule_is_refused(tiny: Path) -> None:
    task = task_of(tiny, rule=controller_named("schedule:slack=20"))
    arrays = {name: array for name, array in task.arrays().items() if name != "rule.asked"}
    message = r"^the checkpoint's corridor does not fit: the asked actions are \(0,\); expected \(2, \d+, \d+\)$"
    with pytest.raises(CheckpointError, match=message):
        task.load(task.state(), arrays)
