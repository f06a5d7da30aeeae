"""Random small corridors and controllers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from pyresac.envs.bus import (
    Corridor,
    Direction,
    ForwardHeadway,
    HeadwayEqualising,
    NoHolding,
    Operations,
    RandomHolding,
    SimpleRobust,
    TargetHeadway,
    Vehicle,
)
from pyresac.envs.bus.controllers import (
    PredictionBased,
    Rule,
    ScheduleHolding,
    SelfEqualising,
    SkippingRule,
    TwoWayLooking,
)

seeds = st.integers(0, 2**63 - 1)


@st.composite
def corridors(draw: st.DrawFn, short_turns: bool = False) -> Corridor:
    """3–6 stops, 2–6 trips a direction, 1 or 2 hours, buses of 1–20 places, sometimes no holding at all; with
    `short_turns` about half of the trips serve a part of the line."""
    count, hours = draw(st.integers(3, 6)), draw(st.integers(1, 2))
    noise = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    stops = tuple(f"stop {index}" for index in range(count))
    busy = draw(st.floats(0.0, 200.0))
    demand = (
        busy * noise.random((hours, count, count)) * (noise.random((count, count)) < 0.7) * ~np.eye(count, dtype=bool)
    )

    def way(names: tuple[str, ...]) -> Direction:
        launches = np.cumsum(noise.uniform(30.0, 900.0, draw(st.integers(2, 6))))
        length = noise.uniform(5.0, 900.0, count - 1)
        whole = Direction(names, length, noise.uniform(1.5, 14.0, (count - 1, hours)), launches)
        if not short_turns:
            return whole
        # more than one whole trip in the mean, and at least one: some trip must serve every pair of stops
        short = (noise.random(launches.size) < 0.5) & (np.arange(launches.size) > 0)
        ends = np.sort([noise.permutation(count)[:2] for _ in launches], axis=1)
        return replace(whole, first=np.where(short, ends[:, 0], 0), last=np.where(short, ends[:, 1], count - 1))

    return Corridor(
        name="random",
        stops=stops,
        up=way(stops),
        down=way(stops[::-1]),
        demand=demand,
        headway=draw(st.floats(60.0, 900.0)),
        holding_limit=draw(st.sampled_from([0.0, 30.5, 60.0, 200.0])),
        vehicle=Vehicle(capacity=draw(st.integers(1, 20))),
        speed_deviation=draw(st.sampled_from([0.0, 1.5, 4.0])),
    )


operations = st.builds(
    Operations,
    buses=st.integers(0, 4),
    layover=st.sampled_from([0.0, 45.0, 600.0]),
    late_share=st.sampled_from([0.0, 0.5, 1.0]),
    late_mean=st.sampled_from([0.0, 60.0, 900.0]),
    open_doors=st.booleans(),
    closed_holds=st.booleans(),
    control_stops=st.sampled_from([(), ("stop 1",), ("stop 0", "stop 2")]),
    seats=st.integers(0, 10),
    crowding=st.sampled_from([0.0, 0.5]),
    in_order=st.booleans(),
    berths=st.sampled_from([0, 0, 1, 2]),
    patience=st.sampled_from([0.0, 0.0, 300.0]),
    advice=st.booleans(),
    skipping=st.booleans(),
)
"""Of any of `corridors`."""

controllers: st.SearchStrategy[Rule] = st.one_of(
    st.just(NoHolding()),
    st.just(HeadwayEqualising()),
    st.just(RandomHolding()),
    st.builds(TargetHeadway, slack=st.floats(-50.0, 100.0), gain=st.floats(0.0, 3.0)),
    st.builds(ForwardHeadway, slack=st.floats(0.0, 60.0), gain=st.floats(0.0, 1.0)),
    st.builds(SimpleRobust, slack=st.floats(0.0, 60.0), memory=st.floats(0.0, 1.0)),
    st.builds(ScheduleHolding, slack=st.floats(0.0, 60.0)),
    st.builds(SelfEqualising, share=st.floats(0.0, 1.0)),
    st.builds(PredictionBased, share=st.floats(0.0, 1.0)),
    st.builds(TwoWayLooking, slack=st.floats(0.0, 60.0)),
    st.builds(SkippingRule, gain=st.floats(0.0, 2.0), threshold=st.floats(0.0, 200.0)),
)
