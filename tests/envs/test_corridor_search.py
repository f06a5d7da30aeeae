"""A search of a rule's numbers step by step: what the strategy is asked and told, which rule is kept, how it ends."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import Corridor, HeadwayEqualising, tuning
from pyresac.envs.bus.controllers import Rule, TargetHeadway
from pyresac.envs.bus.objectives import HeadwayReward
from pyresac.envs.bus.tuning import FAMILIES, Panel, Search, tune
from pyresac.errors import InputError

LIMITS = {
    "generations": (1, 100_000),
    "population": (4, 1000),
    "days": (1, 1000),
    "check_days": (2, 1000),
    "first_seed": (0, 2**62),
    "seed": (0, 2**31),
    "workers": (1, 64),
}


@pytest.mark.parametrize("name", LIMITS)
def test_the_limit_of_a_search_is_accepted_and_the_next_number_is_not(name: str) -> None:
    least, most = LIMITS[name]
    assert [getattr(Search(**{name: value}), name) for value in (least, most)] == [least, most]  # type: ignore[arg-type]
    for value in (least - 1, most + 1):
        with pytest.raises(InputError, match=rf"^{name} is {value}; it must be in \[{least}, {most}\]$"):
            Search(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="family 'none' is unknown; expected one of"):
        Search(family="none")


class Strategy:
    """Asks for the same points in each generation and notes what it is told; ends after `most` generations."""

    most = 10**9

    def __init__(self, begin: Any, step: float, options: dict[str, Any]) -> None:
        self.given, self.told, self.mean = (begin, step, options), list[Any](), np.full(len(begin), 0.25)
        self.best = SimpleNamespace(f=math.inf, x=None)
        Strategy.last = self

    last: Any = None

    def ask(self) -> list[Any]:
        return [np.array([-100.0, 0.0]), np.array([0.5, -2.0 - len(self.told)]), np.array([100.0, 100.0])]

    def tell(self, points: list[Any], costs: list[float]) -> None:
        self.told.append(costs)
        for point, cost in zip(points, costs, strict=True):
            if cost < self.best.f:
                self.best = SimpleNamespace(f=cost, x=point)

    def stop(self) -> bool:
        return len(self.told) >= self.most


class Stage:
    """In a panel's place: a rule is worth what `worth` says."""

    panels: list[Any] = []  # noqa: RUF012
    worth: Any = None

    def __init__(self, corridor: Corridor, seeds: Any, objective: Any, published: bool, workers: int) -> None:
        self.seeds, self.published, self.workers, self.open, self.rules = (
            list(seeds),
            published,
            workers,
            True,
            list[Rule](),
        )
        Stage.panels.append(self)

    def value(self, rule: Rule) -> float:
        assert self.open
        self.rules.append(rule)
        return float(Stage.worth(rule))

    def close(self) -> None:
        self.open = False


@pytest.fixture
def staged(monkeypatch: pytest.MonkeyPatch) -> None:
    """`target`: slack from −200 to 200 s, 20 s and steps of 10 s at the start; gain from 0 to 3, 0.8 and 0.3."""
    monkeypatch.setitem(sys.modules, "cma", SimpleNamespace(CMAEvolutionStrategy=Strategy))
    monkeypatch.setattr(tuning, "Panel", Stage)
    monkeypatch.setattr(Strategy, "most", 10**9)
    monkeypatch.setattr(Stage, "panels", [])
    monkeypatch.setattr(Stage, "worth", lambda rule: -abs(rule.slack - 25.0) - rule.gain)


def searched(small: Corridor, **changes: Any) -> Any:
    given: dict[str, Any] = {
        "family": "target",
        "generations": 3,
        "days": 2,
        "check_days": 4,
        "seed": 7,
        "first_seed": 50,
    }
    progress = changes.pop("progress", None)
    return tune(small, HeadwayReward(), Search(**(given | changes)), True, progress)


@pytest.mark.usefixtures("staged")
def test_a_search_asks_for_points_around_its_start_within_its_bounds(small: Corridor) -> None:
    told: list[tuple[int, float]] = []
    found = searched(small, population=5, progress=lambda *seen: told.append(seen))
    begin, step, options = Strategy.last.given
    assert (begin.tolist(), step) == ([0.0, 0.0], 1.0)
    assert (options["seed"], options["popsize"], options["verbose"]) == (8, 5, -9)
    np.testing.assert_allclose(options["bounds"], [[-22.0, -0.8 / 0.3], [18.0, 2.2 / 0.3]])
    days, checks = Stage.panels
    assert (days.seeds, checks.seeds) == ([50, 51], [52, 53, 54, 55])
    assert (days.published, days.workers, days.open, checks.open) == (True, 2, False, False)
    # 20 + 10·x and 0.8 + 0.3·y, clipped
    asked = [(-200.0, 0.8), (25.0, 0.2), (200.0, 3.0), (-200.0, 0.8), (25.0, 0.0), (200.0, 3.0)]
    assert [rule.parameters for rule in days.rules[:6]] == [pytest.approx(pair) for pair in asked]
    assert Strategy.last.told[0] == pytest.approx([225.8, 0.2, 178.0])
    assert found.history == pytest.approx((-0.2, 0.0, 0.0))
    assert found.generations == 3
    assert told == [(1, pytest.approx(-0.2)), (2, 0.0), (3, 0.0)]
    # on the check days: the start, the mean and the best point, each once
    assert [rule.parameters for rule in checks.rules] == [
        pytest.approx(pair) for pair in ((20.0, 0.8), (22.5, 0.875), (25.0, 0.0))
    ]
    assert found.rule == TargetHeadway(25.0, 0.0)
    assert (found.start, found.value) == (pytest.approx(-5.8), 0.0)
    assert found.seconds >= 0.0


@pytest.mark.usefixtures("staged")
@pytest.mark.parametrize(("generations", "most", "made"), [(1, 9, 1), (9, 1, 1), (9, 4, 4), (4, 9, 4), (4, 4, 4)])
def test_a_search_ends_at_its_generations_or_where_it_converged(
    small: Corridor, generations: int, most: int, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Strategy, "most", most)
    found = searched(small, generations=generations)
    assert (found.generations, len(found.history)) == (made, made)


@pytest.mark.usefixtures("staged")
def test_a_start_that_nothing_beats_is_kept(small: Corridor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stage, "worth", lambda rule: -abs(rule.slack - 20.0) - abs(rule.gain - 0.8))
    found = searched(small)
    assert found.rule == TargetHeadway(20.0, 0.8)
    assert found.value == found.start == 0.0


@pytest.mark.usefixtures("staged")
def test_an_interrupt_ends_the_search_at_what_it_has(small: Corridor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before its first generation it has nothing; in both cases its threads end."""

    def stop(generation: int, best: float) -> None:
        if generation == 2:
            raise KeyboardInterrupt

    assert searched(small, generations=9, progress=stop).generations == 2

    def interrupt(rule: Rule) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(Stage, "worth", interrupt)
    with pytest.raises(KeyboardInterrupt):
        searched(small)
    assert not any(panel.open for panel in Stage.panels)


@pytest.mark.usefixtures("staged")
def test_an_error_on_the_check_days_ends_their_threads(small: Corridor, monkeypatch: pytest.MonkeyPatch) -> None:
    def worth(rule: TargetHeadway) -> float:
        if len(Stage.panels) == 2:
            raise ValueError("no day")
        return 0.0

    monkeypatch.setattr(Stage, "worth", worth)
    with pytest.raises(ValueError, match="no day"):
        searched(small)
    assert [panel.open for panel in Stage.panels] == [False, False]


@pytest.mark.usefixtures("staged")
@pytest.mark.parametrize("name", ["linear", "network", "self"])
def test_only_families_with_bounds_give_them(small: Corridor, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    family = FAMILIES[name]()
    monkeypatch.setattr(Strategy, "ask", lambda self: [np.ones(len(family.start))])
    monkeypatch.setattr(Stage, "worth", lambda rule: 1.0)
    searched(small, family=name, generations=1)
    bounds = Strategy.last.given[2]["bounds"]
    assert bounds == ([[pytest.approx(-2.0)], [pytest.approx(18.0)]] if name == "self" else [None, None])
    expected = family.start + family.scale
    assert Stage.panels[0].rules[0].parameters == pytest.approx(tuple(expected))


def test_without_the_package_the_extra_is_named(small: Corridor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cma", None)
    with pytest.raises(InputError, match=r"pip install 'pyresac\[tune\]'"):
        tune(small, HeadwayReward(), Search())


@pytest.mark.parametrize(
    ("workers", "shares"), [(1, [[3, 4, 5, 6, 7]]), (2, [[3, 5, 7], [4, 6]]), (9, [[3], [4], [5], [6], [7]])]
)
def test_a_panel_deals_its_days_out_to_its_threads(small: Corridor, workers: int, shares: list[list[int]]) -> None:
    panel = Panel(small, range(3, 8), HeadwayReward(), False, workers)
    try:
        assert [simulator.state.cursor[:, 5].tolist() for simulator in panel._simulators] == shares
        assert panel.days == 5
        assert panel._pool._max_workers == len(shares)
        assert panel.value(HeadwayEqualising()) == panel.value(HeadwayEqualising())
    finally:
        panel.close()
    with pytest.raises(RuntimeError, match="shutdown"):
        panel.value(HeadwayEqualising())
