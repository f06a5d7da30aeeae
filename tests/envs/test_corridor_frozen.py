"""Days as they have always been: whatever is added to the corridor, a day without it stays what it was."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
import short_turns
from rounded_bytes import rounded_bytes

from pyresac.envs.bus import (
    Corridor,
    Operations,
    Record,
    Simulator,
    Traffic,
    Vehicle,
    controller_named,
    default_corridor,
    simulate,
)
from pyresac.envs.bus import state as at

FIRST_COLUMNS = 19
"""Columns of a visit that the first simulator had."""
FROZEN = {
    "small none exact": "b30c0f3dd19c34f3",
    "small none published": "342a62d27dcea6d5",
    "small headway exact": "a45925ba90fb566a",
    "small headway published": "ef76faaa0ba7cae9",
    "small target:slack=50 exact": "b9bc452c5a07b71e",
    "small target:slack=50 published": "c73d2b8754af159a",
    "small forward exact": "db8baca8b061e18d",
    "small forward published": "6b175db8a6bf9d40",
    "small robust exact": "aa8a6636820ac890",
    "small robust published": "c0a761529a8547b8",
    "small random exact": "eaf0596472aa56e5",
    "small random published": "774dd62aa850741a",
    "default none exact": "aa6735aaba11f6c6",
    "default none published": "c05aef14a403bd43",
    "default headway exact": "9c66ffac6af69326",
    "default headway published": "04b5c52c6ebfca87",
    "default target:slack=50 exact": "4a616ffda474dccd",
    "default target:slack=50 published": "699e0bf931b0e140",
    "default forward exact": "219940feb42d9306",
    "default forward published": "adf5bfb31946b002",
    "default robust exact": "4c92f83ed7d759bf",
    "default robust published": "802cccb15aa2358a",
    "default random exact": "904521682cb7e3ff",
    "default random published": "5ed3570fc40cb219",
}


def digest(record: Record) -> str:
    """Of all that happened, to 0.1 ms: a last digit of the machine's cosine changes no digest."""
    content = hashlib.sha256()
    for array in (record.visits[..., :FIRST_COLUMNS], record.passengers):
        content.update(rounded_bytes(array))
    for whole in (record.buses, record.destination.astype(np.int64), record.queue):
        content.update(whole.tobytes())
    content.update(f"{record.end:.4f} {record.fleet}".encode())
    return content.hexdigest()[:16]


@pytest.mark.parametrize("name", sorted(FROZEN))
def test_a_day_stays_what_it_was(small: Corridor, name: str) -> None:
    line, rule, published = name.split()
    corridor = small if line == "small" else default_corridor()
    assert digest(simulate(corridor, controller_named(rule), 7, published == "published")) == FROZEN[name]


LATE = Operations(late_share=0.5, late_mean=240.0)
DOORS = replace(LATE, open_doors=True)
WAYS: dict[str, tuple[Operations, str, Traffic]] = {
    "late": (LATE, "random", Traffic()),
    "doors": (replace(DOORS, patience=600.0), "predictive", Traffic()),
    "closed": (replace(DOORS, closed_holds=True, seats=6, crowding=0.4), "random", Traffic(0.1, 0.2, 0.6, 0.5)),
    "ordered": (replace(LATE, in_order=True), "random", Traffic(day=0.2)),
    "a berth": (replace(DOORS, berths=1, patience=300.0), "random", Traffic(local=0.3)),
    "two berths": (replace(LATE, berths=2, advice=True), "two-way", Traffic(local=0.2, along=0.9, persistence=0.9)),
    "a bus": (replace(LATE, buses=1, layover=30.0), "schedule", Traffic()),
    "two buses": (replace(DOORS, buses=2, layover=45.0, control_stops=("B", "D", "Stop 3")), "random", Traffic()),
    "three buses": (replace(LATE, buses=3, layover=90.0, in_order=True), "self", Traffic()),
    "passing": (replace(DOORS, skipping=True), "skip:threshold=20", Traffic()),
}
"""How a line is run, its rule, and what makes its links vary together."""
RUN_OTHERWISE = {
    "crowded, late": "5c92a1ba97597b59",
    "crowded, doors": "8041e5d47c7b0508",
    "crowded, closed": "ea8ca29e1203fe0d",
    "crowded, ordered": "af8a3ae55b1c6264",
    "crowded, a berth": "c1eee90173461716",
    "crowded, two berths": "f98679874c84b964",
    "crowded, a bus": "1d9f239c0fb3e421",
    "crowded, two buses": "338d92485a3b4b67",
    "crowded, three buses": "b307f52d88c957e4",
    "crowded, passing": "fb7ae7dd31236989",
    "short turns, late": "2bd08edd4bcb2aa3",
    "short turns, doors": "b9372bbd266d1c0b",
    "short turns, closed": "4c90b7d517752e58",
    "short turns, ordered": "c27304ae447b5e07",
    "short turns, a berth": "08e90009eda2d7c5",
    "short turns, two berths": "a8e97f938d84d774",
    "short turns, a bus": "b7ed54feb9d9649c",
    "short turns, two buses": "ff2abc2016291f29",
    "short turns, three buses": "cb7847b7712c654d",
    "short turns, passing": "b1b7a13a3da3332a",
    "midway, late": "68e0a3eabd29b180",
    "midway, doors": "198bb762a4f37a35",
    "midway, closed": "a7c18edcf6a47711",
    "midway, ordered": "db921c7ef3d49b81",
    "midway, a berth": "06193b8eda142a8c",
    "midway, two berths": "9c11ac645488437c",
    "midway, a bus": "073b5c287f2f54c6",
    "midway, two buses": "c66a618c63f53da8",
    "midway, three buses": "887ed891a965cd53",
    "midway, passing": "f159ada9080dbc30",
}


def crowded(small: Corridor) -> Corridor:
    """Buses every two minutes, two at once in the beginning, and more passengers than places."""
    launches = 120.0 * np.arange(8)
    ways = [replace(way, launches=launches + 50.0 * index) for index, way in enumerate(small.directions)]
    return replace(
        small, up=ways[0], down=ways[1], headway=120.0, demand=8.0 * small.demand, vehicle=Vehicle(capacity=12)
    )


def lines(small: Corridor) -> dict[str, Corridor]:
    """A crowded one; one with short turns; one up which no bus serves the first two stops."""
    turns = short_turns.corridor(vehicle=Vehicle(capacity=14))
    first, last = turns.up.ends
    late = turns.up.launches + 7.0 * (first == 0)
    order = np.argsort(late, kind="stable")
    way = replace(turns.up, launches=late[order], first=np.maximum(first, 2)[order], last=last[order])
    return {"crowded": crowded(small), "short turns": turns, "midway": replace(turns, up=way)}


def all_that_happened(simulator: Simulator) -> str:
    """Of every day: visits, passengers, buses, who was before whom, what was decided, and the sums so far."""
    state, content = simulator.state, hashlib.sha256()
    sums = state.clock[:, [at.END, at.WAITED_SO_FAR, at.RODE_SO_FAR, at.DROVE_SO_FAR, at.DENIED_SO_FAR]]
    for array in (state.visits, state.passengers, sums):
        content.update(rounded_bytes(array))
    for whole in (state.trips, state.order, state.log, state.bound, state.cursor[:, : at.NEXT]):
        content.update(whole.astype(np.int64).tobytes())
    return content.hexdigest()[:16]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("line", ["crowded", "short turns", "midway"])
def test_however_a_line_is_run_its_days_stay_what_they_were(small: Corridor, line: str, way: str) -> None:
    operations, rule, traffic = WAYS[way]
    made = lines(small)[line]
    known = tuple(stop for stop in operations.control_stops if stop in made.stops)
    simulator = Simulator(replace(made, operations=replace(operations, control_stops=known), traffic=traffic), 3)
    simulator.start([1, 2, 3])
    simulator.run(controller_named(rule))
    assert all_that_happened(simulator) == RUN_OTHERWISE[f"{line}, {way}"]
