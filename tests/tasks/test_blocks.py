"""Evaluation and rules are played in blocks, so that their number is no matter of memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pyresac.envs.bus.metrics import metrics_table
from pyresac.envs.bus.named import corridor_named
from pyresac.envs.bus.named_controllers import controller_named
from pyresac.envs.bus.simulator import Simulator, simulate_days
from pyresac.tasks import corridor_baselines, corridor_task
from pyresac.tasks.corridor_baselines import SEARCHES, rules_of, searched
from pyresac.tasks.corridor_task import CorridorTask
from pyresac.tasks.gymnasium_task import BoxTask
from pyresac.tasks.task import Played


def ahead(dense: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float32]:
    """A policy that looks at the state."""
    return np.tanh(dense[:, :1])


def decisions(played: Played) -> list[bytes]:
    parts = (played.dense, played.codes, played.action, played.discounted)
    return sorted(b"".join(part[row].tobytes() for part in parts) for row in range(len(played.dense)))


def test_days_in_blocks_are_the_days_at_once(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = CorridorTask(corridor_named(str(tiny)), 2, 0)
    whole, rules = task.play(ahead, 5, 3, 0.9), rules_of(task, ("none", "headway"), 5, 3)
    monkeypatch.setattr(corridor_task, "BLOCK", 2)
    monkeypatch.setattr(corridor_baselines, "BLOCK", 2)
    parts = task.play(ahead, 5, 3, 0.9)
    assert whole.metrics.keys() == parts.metrics.keys()
    for name, values in whole.metrics.items():
        np.testing.assert_array_equal(values, parts.metrics[name])
    assert decisions(whole) == decisions(parts)
    again = rules_of(task, ("none", "headway"), 5, 3)
    for rule, table in rules.items():
        for name, values in table.items():
            np.testing.assert_array_equal(values, again[rule][name])


def test_decisions_beyond_a_number_are_not_kept(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = BoxTask("Pendulum-v1", {}, 1, 0).play(ahead, 7, 0, 0.0)
    monkeypatch.setattr("pyresac.tasks.gymnasium_task.SIDE_BY_SIDE", 2)
    assert len(whole.dense) == 1400
    for enough, count in ((300, 400), (400, 400), (401, 800)):
        monkeypatch.setattr("pyresac.tasks.task.KEPT_DECISIONS", enough)
        kept = BoxTask("Pendulum-v1", {}, 1, 0).play(ahead, 7, 0, 0.0)
        np.testing.assert_array_equal(kept.returns, whole.returns)
        assert len(kept.dense) == len(kept.codes) == len(kept.action) == len(kept.discounted) == count
        np.testing.assert_array_equal(kept.dense, whole.dense[:count])
    task = CorridorTask(corridor_named(str(tiny)), 2, 0)
    monkeypatch.setattr(corridor_task, "BLOCK", 1)
    monkeypatch.setattr("pyresac.tasks.task.KEPT_DECISIONS", 1)
    assert len(task.play(ahead, 3, 0, 0.5).dense) == len(task.play(ahead, 1, 0, 0.5).dense) > 0


@pytest.mark.parametrize("published", [False, True])
def test_rules_play_the_days_of_evaluation(published: bool, tiny: Path) -> None:
    """Each rule by itself, on the days from 10,000 + seed on."""
    task = CorridorTask(corridor_named(str(tiny)), 1, 0, published)
    found = rules_of(task, ("none", "headway"), 3, 4)
    assert list(found) == ["none", "headway"]
    for name, values in found.items():
        records = simulate_days(task.corridor, controller_named(name), [10_004, 10_005, 10_006], published)
        expected = {"return": np.array([task.worth(record) for record in records]), **metrics_table(records)}
        assert values.keys() == expected.keys()
        for metric, days in expected.items():
            np.testing.assert_array_equal(values[metric], days)


def test_a_search_plays_the_six_days_before_those_of_evaluation(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[list[int]] = []

    class Noted(Simulator):
        """Keeps which days were begun."""

        def start(self, seeds: Sequence[int], rows: Any = None) -> None:
            begun.append(list(seeds))
            super().start(seeds, rows)

    monkeypatch.setattr(corridor_baselines, "Simulator", Noted)
    task = CorridorTask(corridor_named(str(tiny)), 1, 0)
    assert searched(task, "best-schedule") in SEARCHES["best-schedule"]
    assert begun == [[9_994, 9_995, 9_996, 9_997, 9_998, 9_999]] * len(SEARCHES["best-schedule"])
    assert searched(task, "schedule") == "schedule"
