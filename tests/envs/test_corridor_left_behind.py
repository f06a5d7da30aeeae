"""All that days of tiny lines leave behind, whatever option they are run with, stays what it was: every array."""

from __future__ import annotations

import hashlib
from random import Random
from typing import Any

import numpy as np
import pytest
from rounded_bytes import rounded_bytes

from pyresac.envs.bus import Corridor, Direction, Operations, Simulator, Traffic, Vehicle, by_hour, by_stop, day_metrics
from pyresac.envs.bus.compiled import HOLDING, uniform
from pyresac.envs.bus.controllers import CONTROLLERS, ScheduleHolding, SkippingRule
from pyresac.envs.bus.full_observation import COUNT
from pyresac.envs.bus.observation import scaling
from pyresac.envs.bus.parametric import UNIT, LinearRule, NetworkRule
from pyresac.envs.bus.vector import VectorBusCorridor

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "published": {},
    "traffic": {},
    "doors": {"open_doors": True},
    "closed holds": {"open_doors": True, "closed_holds": True, "seats": 3, "crowding": 0.7},
    "in order": {"in_order": True, "control_stops": ("b", "c")},
    "berths": {"berths": 1, "open_doors": True},
    "two berths": {"berths": 2, "late_share": 0.5, "late_mean": 300.0},
    "fleet": {"buses": 2, "layover": 50.0},
    "one bus": {"buses": 1, "late_share": 0.4, "late_mean": 120.0},
    "patience": {"patience": 240.0, "late_share": 0.7, "late_mean": 200.0},
    "advice": {"advice": True, "open_doors": True},
    "skipping": {"skipping": True},
    "all": {
        "skipping": True, "open_doors": True, "berths": 1, "buses": 3, "layover": 20.0, "late_share": 0.5,
        "late_mean": 90.0, "patience": 500.0, "seats": 2, "crowding": 0.3,
    },
}  # fmt: skip
LINES = 8
"""Of each option: half of them with short turns."""
RULES = [
    *(kind() for name, kind in CONTROLLERS.items() if name not in ("linear", "network")),
    SkippingRule(0.8, 20.0),
    ScheduleHolding(10.0, 0.9, 0.7),
    LinearRule(3.0, tuple(0.1 * (k + 1) * (-1) ** k for k in range(COUNT))),
    NetworkRule((5.0, *(0.3 * ((7 * k) % 11 - 5) + 10.0 * (k % UNIT == 0) for k in range(2 * UNIT)))),
]


def tiny(kind: str, number: int) -> Corridor:
    """Three to six stops and four to eight trips a direction, of different lengths, speeds, rates and launches."""
    draw = Random(1000 * list(OPTIONS).index(kind) + number)
    count, hours = 3 + number % 4, 1 + number % 2
    stops = tuple("abcdef"[:count])

    def way(names: tuple[str, ...]) -> Direction:
        trips = 4 + int(5 * draw.random())
        gaps = [20.0 + 500.0 * draw.random() ** 2 for _ in range(trips)]
        launches = np.cumsum(gaps)
        length = np.array([5.0 + 700.0 * draw.random() for _ in range(len(names) - 1)])
        speed = np.array([[2.0 + 10.0 * draw.random() for _ in range(hours)] for _ in length])
        ends = np.array([sorted(draw.sample(range(len(names)), 2)) for _ in range(trips)])
        short = np.array([draw.random() < 0.6 for _ in range(trips)]) & (np.arange(trips) > 0) & (number >= LINES // 2)
        ends = np.where(short[:, None], ends, [0, len(names) - 1])
        return Direction(names, length, speed, launches, None, ends[:, 0], ends[:, 1])

    # down leaves out a stop of the longer lines
    down = stops[::-1] if count < 5 else tuple(stop for stop in stops[::-1] if stop != "b")
    demand = np.array([[[150.0 * draw.random() for _ in stops] for _ in stops] for _ in range(hours)])
    places = {(a, b) for names in (stops, down) for i, a in enumerate(names) for b in names[i + 1 :]}
    demand *= [[(a, b) in places for b in stops] for a in stops]
    return Corridor(
        name=kind,
        stops=stops,
        up=way(stops),
        down=way(down),
        demand=demand,
        headway=180.0,
        holding_limit=(60.0, 30.5)[number % 2],
        vehicle=Vehicle(capacity=3 + number, boarding_time=2.0 + 0.5 * (number % 3), alighting_time=1.5),
        speed_deviation=(2.0, 0.0)[number % 3 == 2],
        speed_interval=120.0,
        demand_interval=30.0,
        operations=Operations(**OPTIONS[kind]),
        traffic=Traffic(0.2, 0.3, 0.6, 0.5) if kind == "traffic" else Traffic(),
    )


class Digest:
    """Of numbers to 0.1 ms and of whole numbers: a last digit of the machine's cosine changes no digest."""

    def __init__(self) -> None:
        self.content = hashlib.sha256()

    def add(self, *arrays: Any) -> None:
        for array in arrays:
            found = np.asarray(array, dtype=np.float64)
            self.content.update(repr(found.shape).encode())
            self.content.update(rounded_bytes(found))

    def text(self) -> str:
        return self.content.hexdigest()[:10]


def left_behind(kind: str, number: int) -> str:
    """Digest of a line as arrays, of its day's whole state before and after, and of all that is counted."""
    digest, corridor = Digest(), tiny(kind, number)
    days = Simulator(corridor, 2, published=kind == "published")
    layout = days.layout
    digest.add(
        *layout.line, *layout.chances, layout.route, layout.order, layout.fleet_limit, layout.least, layout.gates
    )
    days.start([number, 2**62 + number])
    digest.add(*days.state, days.pending)
    days.run(RULES[(7 * number + list(OPTIONS).index(kind)) % len(RULES)])
    digest.add(*days.state, days.pending)
    for row in range(2):
        record = days.record(row)
        digest.add(record.end, record.fleet, record.buses, record.destination, record.queue)
        digest.add(list(vars(day_metrics(record)).values()), *by_stop(record).values(), *by_hour(record).values())
    return digest.text()


def seen(kind: str, number: int) -> str:
    """Digest of what agents are shown and told of two days, in every form and for every reward, and of their state."""
    digest, corridor = Digest(), tiny(kind, number)
    whole = corridor.short_turns == 0
    for form, objective in (
        ("paper", "reward:neighbours=0.5" if whole else "reward"),
        ("full", "passengers:vehicle_hour=480,denied=5" + ",followers=0.5" * whole),
        ("published", "passengers"),
    ):
        env = VectorBusCorridor(2, corridor, form, form == "published", objective=objective)  # type: ignore[arg-type]
        space: Any = env.single_observation_space if form == "published" else env.single_observation_space["continuous"]  # type: ignore[index]
        digest.add(space.low, space.high, env.cardinalities, env.episodes.layout.line.length)
        digest.add(*scaling(env.episodes.layout, form))
        env.reset(seed=number)
        for step in range(12 + 6 * whole):
            pending = env.episodes.simulator.observe()
            digest.add(*pending)
            holds = [[-9.0 if uniform(number, HOLDING, step, row) < 0.2 else 5.0 * (step % 7)] for row in range(2)]
            numbers, rewards, ended, cut, infos = env.step(holds)
            digest.add(*(numbers.values() if isinstance(numbers, dict) else [numbers]), rewards, ended, cut)
            digest.add(*infos["transitions"], *infos.get("metrics", {}).values())
    return digest.text()


FROZEN: dict[str, str] = {
    "plain": "db6cec5af6 6b369e5d4b 4defff8bf9 fc89850997 6dbaaa5642 7ea340ccfc 3e1c167f31 f97131096d",
    "published": "d09d4dc96f 1c657ff464 b789e33d94 6decc08095 5451f5579e 2ffaaf7825 15d072dc0c fd87675ab2",
    "traffic": "f2aff7d9d3 17f13866bc 99148eac5a 6940550b12 34466ceef8 181d0d0d95 0ca55d6e60 dd1ac30961",
    "doors": "3052cc8d7b 57fba78838 7300423633 bfc2d51165 4494731f4e 13cc3cd7ec bbbd311a1e fc4cdabe13",
    "closed holds": "42d62c1e38 a3f8f0fc44 bac08a27bc cee4b8708d 065c192bf9 1f5aacf233 bc39ced028 26f7c122ae",
    "in order": "c5b74ed507 b2c00bd92a f003c6eb02 c336df9479 026921cdfc f9a5dad498 c1b744e842 bee4c66539",
    "berths": "84a70cb8c7 bc5c803489 f24ef61c4b feecb97bde f6d8e7447e 3580475253 3a5b79e72f d9006f4667",
    "two berths": "027d35511b f96d7a4e6f a947906f89 0f309c0866 64f41f72d5 ef8e0f2c85 278d6e15ce fc5b832440",
    "fleet": "2cf7434fa2 f637cb367b 5e1c5eb852 e7bebd1ac7 f22e2defd8 6474302247 97146604f9 4cae896457",
    "one bus": "6f97e65e35 c9a17f2759 6b8b44e82d 3bf9262383 09d7551bc0 2b10a912dd bcf85e8cd7 c75f70c818",
    "patience": "61b1715a50 a00552a5fa 5af8bee1ee d78212e2b5 22c72d9b61 d858d6bcee 338a2f1254 1e496484ce",
    "advice": "2e79564d2b 011fb4da7b e19947fbbb 3d149c9cd4 b2acfbd6ab 88ee19c2ce 9fd636e08b 697388f99a",
    "skipping": "9a7e240ecb 54af88f9e7 29748e49f7 ef11a51319 b87c129dc7 f329b290a7 f3b85935cd da32455a28",
    "all": "51a419252b ec1d9782ff f039f65dde faf17b3cda 9b3bf9c259 dd1f61c5ad e08375fe83 b561e27e2e",
}
SEEN: dict[str, str] = {
    "plain": "20007cf0fc 37d708df2b",
    "published": "0b54c0da0c f77c0876a4",
    "traffic": "6abe667472 c6e6709e61",
    "doors": "3ec6068621 67f9957a1b",
    "closed holds": "3b52395ae5 97f3408070",
    "in order": "bd405e432c 56f4558eaa",
    "berths": "ace4c6fbb9 f66cb5827d",
    "two berths": "53a8470672 d9c25797f3",
    "fleet": "1f4a3e6526 3fa9f045a3",
    "one bus": "ebc2eb9a79 0397d35f4b",
    "patience": "ed5e6d294f 47dd9943cb",
    "advice": "7376d96cfe 9c20ed72f9",
    "skipping": "1233de79a4 a96ddc6107",
    "all": "0e7bf153df 47643a8fca",
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_what_a_day_leaves_behind_stays_what_it_was(kind: str) -> None:
    assert " ".join(left_behind(kind, number) for number in range(LINES)) == FROZEN[kind]


@pytest.mark.parametrize("kind", OPTIONS)
def test_what_agents_see_of_a_day_stays_what_it_was(kind: str) -> None:
    assert " ".join(seen(kind, number) for number in (1, LINES - 2)) == SEEN[kind]
