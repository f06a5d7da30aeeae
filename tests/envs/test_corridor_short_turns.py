"""Trips that serve a part of the line: who boards them, which bus follows which, and where their buses go."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from short_turns import PATTERNS, corridor

from pyresac.envs.bus import (
    Corridor,
    HeadwayEqualising,
    NoHolding,
    Operations,
    PredictionBased,
    RandomHolding,
    Record,
    ScheduleHolding,
    SimpleRobust,
    Simulator,
    Vehicle,
    day_metrics,
    load_corridor,
    save_corridor,
    simulate,
)
from pyresac.envs.bus import state as at
from pyresac.envs.bus.animation import day_plain
from pyresac.envs.bus.avl.observed import read_observed
from pyresac.envs.bus.changes import doubts, with_headway
from pyresac.envs.bus.controllers import Rule
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.demand import default_demand
from pyresac.envs.bus.episodes import Episodes
from pyresac.envs.bus.line import AFTER, BEFORE, DIRECTION, FIRST, FREE, FROM_LAST, GATE, LAST, TO_FIRST, Integers
from pyresac.envs.bus.objectives import PassengerTime
from pyresac.errors import InputError

LATE = Operations(late_share=0.5, late_mean=240.0)
CASES: dict[str, tuple[Operations, Rule, bool]] = {
    "plain": (Operations(), NoHolding(), False),
    "published": (Operations(), HeadwayEqualising(), True),
    "late": (LATE, RandomHolding(), False),
    "doors": (replace(LATE, open_doors=True, patience=600.0), PredictionBased(), False),
    "in order": (replace(LATE, in_order=True), RandomHolding(), False),
    "berths": (replace(LATE, berths=1, open_doors=True), RandomHolding(), False),
    "three buses": (replace(LATE, buses=3, layover=90.0), HeadwayEqualising(), False),
    "passing": (replace(LATE, skipping=True), RandomHolding(), False),
}
Day = tuple[Record, Integers]


@pytest.fixture(scope="module", params=list(product(CASES, (1, 2))), ids=lambda case: f"{case[0]} {case[1]}")
def day(request: pytest.FixtureRequest) -> Day:
    """A day of small buses, and its order of trips at the end."""
    case, seed = request.param
    operations, rule, published = CASES[case]
    simulator = Simulator(corridor(vehicle=Vehicle(capacity=14), operations=operations), published=published)
    simulator.start([seed])
    simulator.run(rule)
    return simulator.record(), simulator.state.order[0]


def served(record: Record) -> tuple[Array, Array, Array]:
    """(first, last, mask of the visits that the timetable has)."""
    plan, place = record.layout.line.plan, np.arange(record.layout.places)
    first, last = plan[:, FIRST], plan[:, LAST]
    return first, last, (place >= first[:, None]) & (place <= last[:, None])


def test_a_trip_stops_where_the_timetable_has_it_and_nowhere_else(day: Day) -> None:
    record, _ = day
    first, last, mask = served(record)
    arrived = record.visits[..., at.ARRIVED]
    assert (np.isfinite(arrived) == mask).all()
    assert (np.diff(arrived, axis=1)[mask[:, 1:] & mask[:, :-1]] > 0.0).all()
    assert (np.isfinite(record.layout.line.schedule) == mask).all()
    launches = arrived[np.arange(len(first)), first]
    scheduled = np.concatenate([way.launches for way in record.layout.corridor.directions])
    assert (np.sort(record.layout.line.schedule[np.arange(len(first)), first]) == np.sort(scheduled)).all()
    assert (launches >= record.layout.line.schedule[np.arange(len(first)), first]).all()
    assert {*zip(first.tolist(), last.tolist(), strict=True)} == set(PATTERNS)


def test_passengers_ride_to_where_they_are_bound(day: Day) -> None:
    """Who boards a bus leaves it at the own destination; who is bound beyond a trip's last stop lets it go."""
    record, _ = day
    first, last, mask = served(record)
    visits, stops = record.visits, record.layout.places
    assert (visits[mask][:, at.ONBOARD] >= 0).all()
    for trip, rows in enumerate(visits):
        used = rows[first[trip] : last[trip] + 1]
        assert (used[:, at.ONBOARD] == np.cumsum(used[:, at.BOARDED] - used[:, at.ALIGHTED])).all()
        assert used[-1, at.ONBOARD] == 0
        assert used[:, at.ONBOARD].max() <= 14
    boarded, alighted = record.passengers.T[1:]
    way, place = record.queue // stops, record.queue % stops
    plan = record.layout.line.plan
    arrived, alighting = visits[..., at.ARRIVED], np.zeros(mask.shape)
    for rider in np.flatnonzero(np.isfinite(boarded)):
        trips = np.flatnonzero(
            (plan[:, DIRECTION] == way[rider])
            & (arrived[:, record.destination[rider]] == alighted[rider])
            & (arrived[:, place[rider]] <= boarded[rider])
        )
        assert trips.size
        alighting[trips[0], record.destination[rider]] += 1
    assert (alighting == np.nan_to_num(visits[..., at.ALIGHTED])).all()
    for origin in np.unique(record.queue):
        for target in np.unique(record.destination[record.queue == origin]):
            times = boarded[(record.queue == origin) & (record.destination == target)]
            rode = np.isfinite(times)
            assert (np.diff(times[rode]) >= 0.0).all()
            if not record.layout.line.patience:
                assert not rode[rode.sum() :].any()


def test_nobody_is_left_beside_a_bus_with_room_that_goes_there(day: Day) -> None:
    record, _ = day
    line, stops = record.layout.line, record.layout.places
    if line.patience or line.open_doors:
        pytest.skip("counted by those who were there at the bus's arrival and stay")
    created, boarded, _ = record.passengers.T
    for trip, place in np.argwhere(served(record)[2]):
        visit, queue = record.visits[trip, place], line.plan[trip, DIRECTION] * stops + place
        beside = record.visits[line.plan[:, DIRECTION] == line.plan[trip, DIRECTION], place, at.ARRIVED]
        if (beside == visit[at.ARRIVED]).sum() > 1:
            # two late buses leave their first stop at once, and the first one has taken them
            continue
        there = (record.queue == queue) & (created <= visit[at.ARRIVED]) & ~(boarded < visit[at.ARRIVED])
        wants = int((there & (record.destination <= line.plan[trip, LAST])).sum())
        assert visit[at.BOARDED] + visit[at.LEFT] == wants
        assert visit[at.LEFT] == 0 or visit[at.ONBOARD] == line.capacity or visit[at.SKIPPED] == 1.0


def test_whoever_comes_first_to_where_two_trips_meet_is_before_the_other(day: Day) -> None:
    """Of trips that begin at one stop the one launched first; at every stop that both serve."""
    record, order = day
    plan, arrived = record.layout.line.plan, record.visits[..., at.ARRIVED]
    _, _, mask = served(record)
    swapped = 0
    for way, place in product((0, 1), range(record.layout.places)):
        mine = np.flatnonzero((plan[:, DIRECTION] == way) & mask[:, place])
        chain = [int(trip) for trip in mine if order[trip, place, BEFORE] < 0]
        assert len(chain) == 1
        while order[chain[-1], place, AFTER] >= 0:
            assert order[order[chain[-1], place, AFTER], place, BEFORE] == chain[-1]
            chain.append(int(order[chain[-1], place, AFTER]))
        assert sorted(chain) == mine.tolist()
        swapped += (record.layout.order[mine, place] != order[mine, place]).any()
        for i, before in enumerate(chain):
            for after in chain[i + 1 :]:
                meet = max(plan[before, FIRST], plan[after, FIRST])
                assert arrived[before, meet] <= arrived[after, meet]
    # a day on which no trip is late may keep the timetable's order
    assert swapped or not record.layout.line.late_share


def test_headways_are_to_the_bus_before_and_behind(day: Day) -> None:
    record, order = day
    line, visits = record.layout.line, record.visits
    ready = visits[..., at.ARRIVED] + visits[..., at.DWELL]
    checked = 0
    for trip, place in np.argwhere(np.isfinite(visits[..., at.FORWARD])):
        leader, visit = order[trip, place, BEFORE], visits[trip, place]
        if leader < 0:
            assert visit[at.FORWARD] == line.headway
        elif visits[leader, place, at.ARRIVED] <= visit[at.ARRIVED]:
            assert visit[at.FORWARD] == pytest.approx(ready[trip, place] - ready[leader, place], abs=1e-6)
            checked += 1
        else:
            assert visit[at.FORWARD] <= 0.0
        assert np.isfinite(visit[[at.BACKWARD, at.LATENESS, at.LEADER_LATENESS, at.FOLLOWER_LATENESS]]).all()
    assert checked > 200


def test_the_headway_behind_is_predicted_where_the_follower_follows_another_bus() -> None:
    """Without holding, lateness and swapped trips: the follower's last end of dwell and the schedule from there."""
    simulator = Simulator(corridor())
    simulator.start([4])
    simulator.run(NoHolding())
    record, order = simulator.record(), simulator.state.order[0]
    line, visits = record.layout.line, record.visits
    ready, arrived = visits[..., at.ARRIVED] + visits[..., at.DWELL], visits[..., at.ARRIVED]
    predicted = seen = 0
    for trip, place in np.argwhere(np.isfinite(visits[..., at.BACKWARD])):
        behind = order[trip, place, AFTER]
        came = np.flatnonzero(arrived[behind] < arrived[trip, place])
        same = [(order[of] == record.layout.order[of]).all() for of in (trip, behind)]
        if behind < 0 or not came.size or not all(same):
            continue
        here, backward = int(came[-1]), visits[trip, place, at.BACKWARD]
        if order[behind, here, BEFORE] != trip:
            there = ready[behind, here] + line.departures[behind, place] - line.departures[behind, here]
            assert backward == pytest.approx(max(there - ready[trip, place], 0.0), abs=1e-6)
            predicted += 1
        elif here > line.plan[behind, FIRST]:
            assert backward == visits[behind, here, at.FORWARD]
            seen += 1
    assert predicted > 10
    assert seen > 50


def test_a_bus_is_in_one_place_and_has_the_time_to_come(day: Day) -> None:
    record, _ = day
    line, visits = record.layout.line, record.visits
    first, last, _ = served(record)
    trips = np.arange(len(first))
    begun, ended = visits[trips, first, at.ARRIVED], visits[trips, last][:, [at.ARRIVED, at.DWELL]].sum(axis=1)
    midway = 0
    for bus in range(record.fleet):
        mine = trips[record.buses == bus]
        mine = mine[np.argsort(begun[mine])]
        for before, after in pairwise(mine):
            free, gate = line.plan[before, FREE], line.plan[after, GATE]
            drives = line.plan[before, FROM_LAST] + (line.plan[after, TO_FIRST] if gate != free else 0.0)
            assert begun[after] >= ended[before] + line.layover + drives - 1e-9
            if not line.buses:
                assert gate == free or (gate >= 2 and line.plan[after, DIRECTION] == free)
            midway += line.plan[before, FROM_LAST] > 0 or gate >= 2
    assert midway
    assert record.fleet <= record.layout.fleet_limit
    assert not line.buses or record.fleet == line.buses


def test_buses_keep_the_order_of_trips(day: Day) -> None:
    record, order = day
    if not record.layout.line.ordered:
        pytest.skip("buses may overtake")
    arrived = record.visits[..., at.ARRIVED]
    for trip, place in np.argwhere(order[..., BEFORE] >= 0):
        assert arrived[trip, place] >= arrived[order[trip, place, BEFORE], place]


def test_its_metrics(day: Day) -> None:
    record, _ = day
    first, last, mask = served(record)
    metrics, trips = day_metrics(record), np.arange(len(first))
    lasts = record.visits[trips, last][:, [at.ARRIVED, at.DWELL]].sum(axis=1)
    begun = record.visits[trips, first, at.ARRIVED]
    assert metrics.vehicle_hours == pytest.approx((lasts - begun).sum() / 3600.0)
    assert metrics.late_dispatches == (begun - record.layout.line.schedule[trips, first] >= 60.0).sum()
    inner = mask.copy()
    inner[trips, first] = inner[trips, last] = False
    assert metrics.load == pytest.approx(record.visits[inner][:, at.ONBOARD].mean())
    assert all(np.isfinite([metrics.reward, metrics.weighted_journey, metrics.wait_95, metrics.crowding]))


@pytest.mark.parametrize(
    "rule", [ScheduleHolding(), SimpleRobust(), RandomHolding()], ids=["schedule", "robust", "random"]
)
def test_a_rule_is_told_the_stops_of_the_trip(rule: Rule) -> None:
    """Slack counts from a trip's own first stop: at its second one the schedule has none yet. Compiled or not."""
    made = corridor(speed_deviation=0.0, holding_limit=600.0)
    compiled, called = (simulate(made, of, 2) for of in (rule, lambda seen: rule(seen)))
    assert np.array_equal(compiled.visits, called.visits, equal_nan=True)
    if not isinstance(rule, ScheduleHolding):
        return
    plan, rows = compiled.layout.line.plan, compiled.visits
    for trip, place in np.argwhere(np.isfinite(rows[..., at.ACTION])):
        made_stops = place - plan[trip, FIRST]
        visit = rows[trip, place]
        wanted = 30.0 - (visit[at.LATE] - 30.0 * (made_stops - 1)) - 0.5 * visit[at.LINK_DELAY]
        assert visit[at.ACTION] == pytest.approx(min(max(wanted, 0.0), 600.0), abs=1e-6)


@pytest.mark.parametrize("form", ["paper", "full", "published"])
def test_an_agent_sees_its_trip_to_its_end(form: str) -> None:
    episodes, row = Episodes(corridor(), 1, form, False, "passengers"), np.zeros(1, dtype=np.int64)  # type: ignore[arg-type]
    episodes.begin(row, [3])
    plan, total, ends = episodes.layout.line.plan, float(episodes.rewards()[0]), 0
    behind: list[int] = []
    while episodes.simulator.pending[0]:
        seen = episodes.simulator.observe()
        assert seen.stops_behind[0] == seen.place[0] - plan[seen.trip[0], FIRST] > 0
        behind.append(int(seen.stops_behind[0]))
        numbers, _ = episodes.observe()
        assert np.isfinite(numbers).all()
        if form == "full":
            assert numbers[0, 9] == behind[-1]
        episodes.act(np.array([20.0]), row)
        total += float(episodes.rewards()[0])
        found = episodes.collect()
        ends += int(found.terminal.sum())
    record = episodes.simulator.record()
    assert total == pytest.approx(PassengerTime()(record), rel=1e-9, abs=0)
    decided = np.isfinite(record.visits[..., at.ACTION])
    assert ends == decided.any(axis=1).sum()
    assert not decided[np.arange(len(plan)), plan[:, LAST]].any()
    assert min(behind) == 1


def test_what_needs_one_neighbour_all_along_is_refused(tmp_path: Path) -> None:
    for objective in ("passengers:followers=1", "reward:neighbours=0.5"):
        with pytest.raises(InputError, match=f"objective '{objective}' shares .* 'short turns' has short turns"):
            Episodes(corridor(), 1, "paper", False, objective)
    with pytest.raises(InputError, match=r"headway is 300: .* 36 of 60 trips of 'short turns' do not"):
        with_headway(corridor(), 300.0)
    with pytest.raises(InputError, match="'short turns' has 36 short turns"):
        read_observed(tmp_path / "none.csv", corridor())


def test_a_file_keeps_them(tmp_path: Path) -> None:
    made, path = corridor(), tmp_path / "line.json"
    save_corridor(made, path)
    loaded = load_corridor(path)
    for mine, others in zip(loaded.directions, made.directions, strict=True):
        for one, other in zip(mine.ends, others.ends, strict=True):
            assert (one == other).all()
    assert loaded.short_turns == made.short_turns == 36
    whole = replace(made.up, first=np.zeros(30), last=np.full(30, 9))
    assert whole.first is None
    assert whole.last is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first": [0] * 29}, r"up.first has shape \(29,\); it must be \(30,\), a place a launch"),
        (
            {"first": [0] * 29 + [9]},
            "up: launch 29 is from place 9 to place 9; places are 0 to 9, and",
        ),
        ({"last": [9] * 29 + [10]}, "up: launch 29 is from place .* to place 10; places are 0 to 9"),
        ({"first": [0] * 29 + [-1]}, "up: launch 29 is from place -1 to place"),
        ({"first": [0.5] * 30}, "first must be places along the direction, whole numbers"),
        ({"last": [float("inf")] * 30}, "last must be places"),
        ({"last": ["end"] * 30}, "last must be an array of numbers"),
        ({"launches": 9.0 * np.arange(-2, 28).clip(0)}, r"up.launches\[0\] and \[2\] are both 0 s from 'Stop 0'"),
    ],
)
def test_bad_parts(changes: dict[str, object], message: str) -> None:
    made = corridor()
    with pytest.raises(InputError, match=message):
        replace(made, up=replace(made.up, **changes))  # type: ignore[arg-type]


def test_the_default_demand_brings_what_its_trips_can_carry() -> None:
    """Of each trip the passengers between the stops that it serves; a pair that no trip of an hour serves has none."""
    made: Corridor = corridor()
    table = default_demand(made.stops, made.directions, made.hours)
    ways = [replace(way, first=None, last=None) for way in made.directions]
    alike = default_demand(made.stops, (ways[0], ways[1]), made.hours)
    first, last = made.up.ends
    hour = (made.up.launches // 3600.0).astype(int)
    for here, there in ((0, 9), (2, 7), (4, 8), (0, 5)):
        for index in range(made.hours):
            trips = (first <= here) & (last >= there) & (hour == index)
            # an hour's whole trips make the pair's rate of the line without short turns
            share = alike[index, here, there] / max((hour == index).sum(), 1)
            assert table[index, here, there] == pytest.approx(share * trips.sum())
    assert doubts(made) == []


def test_a_link_that_few_trips_serve_is_the_crowded_one() -> None:
    """An hour has 500 places in the middle of the line and 300 at its end, where 350 passengers do not fit."""
    line = corridor()
    first, last = line.up.ends
    early = line.up.launches < 3600.0
    middle, end = (int((early & (first <= link) & (last > link)).sum()) for link in (4, 8))
    assert middle >= 1.5 * end
    demand = np.zeros_like(line.demand)
    demand[:, 4, 5] = 450.0
    assert doubts(replace(line, demand=demand)) == []
    demand[:, 8, 9] = 350.0
    assert doubts(replace(line, demand=demand)) == [
        "short turns: 350 passengers an hour want to ride from 'Stop 8' to 'Stop 9', direction up, hour 1, and buses "
        "have 300 places"
    ]


def test_the_animation_draws_a_trip_where_it_runs(day: Day) -> None:
    record, _ = day
    first, last, _ = served(record)
    for (way, begins, seen), trip in zip(day_plain(record)["trips"], range(len(first)), strict=True):
        assert (way, begins) == (record.layout.line.plan[trip, DIRECTION], first[trip])
        assert len(seen) == last[trip] - begins + 1
