"""Calibration from observed arrivals and departures, on days simulated from a corridor that is known."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pyresac.corridor import main
from pyresac.corridor.vehicle_location import part
from pyresac.envs.bus import (
    Corridor,
    NoHolding,
    Operations,
    Simulator,
    Traffic,
    Vehicle,
    load_corridor,
    save_corridor,
    simulate_days,
)
from pyresac.envs.bus.avl.calibration import _filled, _running, calibrated, fit_traffic, persisting
from pyresac.envs.bus.avl.moments import Covariances, agreement
from pyresac.envs.bus.avl.observed import COLUMNS, Observed, days_of, observed_text, read_observed
from pyresac.envs.bus.changes import with_demand
from pyresac.envs.bus.corridor import Direction
from pyresac.errors import InputError

DAYS = 400


def town(links: int = 9, trips: int = 24) -> Corridor:
    """A line of three hours, links of 350 to 650 m, slower in the second hour, busy enough to bunch."""
    stops = tuple(f"stop {index}" for index in range(links + 1))
    length = 350.0 + 300.0 * (np.arange(links) * 7 % 5) / 4.0
    speed = 7.0 + 1.5 * np.cos(np.arange(links))[:, None] - np.array([0.0, 1.5, 0.5])
    launches = 300.0 * np.arange(trips)
    apart = np.arange(links + 1)[None, :] - np.arange(links + 1)[:, None]
    demand = np.stack([factor * 14.0 * (np.abs(apart) <= 4) * (apart != 0) for factor in (1.0, 1.3, 0.8)])
    up = Direction(stops, length, speed, launches)
    down = Direction(stops[::-1], length[::-1], speed[::-1], launches + 150.0)
    return Corridor("town", stops, up, down, demand, headway=300.0, vehicle=Vehicle(boarding_time=2.5))


def known() -> Corridor:
    """The town line with all that calibration must find."""
    line = town()
    spread = 0.5 + 1.2 * (np.arange(9) % 3)[:, None] / 2.0 * np.array([1.0, 1.2, 0.9])
    ways = [replace(way, deviation=spread[:: 1 - 2 * index]) for index, way in enumerate(line.directions)]
    return replace(
        line,
        up=ways[0],
        down=ways[1],
        operations=Operations(late_share=0.3, late_mean=60.0),
        traffic=Traffic(day=0.05, local=0.15, along=0.7, persistence=0.6),
    )


def unknown() -> Corridor:
    """The same line to someone who does not know its speeds, their spread, its traffic, dispatch or crowds."""
    line = with_demand(town(), 0.7)
    return replace(
        line,
        up=replace(line.up, speed=np.full_like(line.up.speed, 6.0)),
        down=replace(line.down, speed=np.full_like(line.down.speed, 9.0)),
    )


@pytest.fixture(scope="module")
def observed() -> Observed:
    return days_of(simulate_days(known(), NoHolding(), range(DAYS)))


@pytest.fixture(scope="module")
def found(observed: Observed) -> Corridor:
    return calibrated(unknown(), part(observed, slice(0, DAYS // 2)))


def test_held_out_days_vary_as_the_calibrated_line_does(observed: Observed, found: Corridor) -> None:
    """The days that the calibration did not see, against as many simulated ones of other seeds."""
    seen = agreement(part(observed, slice(DAYS // 2, None)), 3)
    simulated = agreement(days_of(simulate_days(found, NoHolding(), range(5000, 5000 + DAYS // 2))), 3)
    assert simulated.trip_variation == pytest.approx(seen.trip_variation, rel=0.05, abs=0)
    assert simulated.adjacent_correlation == pytest.approx(seen.adjacent_correlation, abs=0.05)
    for mine, other in zip(seen.headway_variation, simulated.headway_variation, strict=True):
        assert other == pytest.approx(mine, rel=0.10, abs=0)


def test_what_was_hidden_is_found(found: Corridor) -> None:
    true = known()
    assert found.traffic.day == pytest.approx(0.05, abs=0.015)
    assert found.traffic.local == pytest.approx(0.15, rel=0.1, abs=0)
    assert found.traffic.along == pytest.approx(0.7, abs=0.05)
    assert found.traffic.persistence == pytest.approx(0.6, abs=0.1)
    assert found.operations.late_share == pytest.approx(0.3, abs=0.02)
    assert found.operations.late_mean == pytest.approx(60.0, rel=0.08, abs=0)
    assert found.demand.sum() == pytest.approx(true.demand.sum(), rel=0.1, abs=0)
    for mine, other in zip(found.directions, true.directions, strict=True):
        assert np.abs(mine.speed / other.speed - 1.0).mean() < 0.04
        assert np.corrcoef(mine.deviation.ravel(), other.deviation.ravel())[0, 1] > 0.8
        assert mine.deviation.mean() == pytest.approx(other.deviation.mean(), rel=0.12, abs=0)
        assert np.array_equal(mine.launches, other.launches)


def test_the_uncalibrated_line_fails_the_same_check(observed: Observed) -> None:
    """What the tolerances are worth: the line as it was before."""
    seen = agreement(part(observed, slice(DAYS // 2, None)), 3)
    simulated = agreement(days_of(simulate_days(unknown(), NoHolding(), range(5000, 5050))), 3)
    assert simulated.trip_variation[0] < 0.8 * seen.trip_variation[0]
    assert simulated.adjacent_correlation[0] < seen.adjacent_correlation[0] - 0.2


def test_the_fit_is_exact_without_noise() -> None:
    """Covariances of the model itself give the model's numbers back."""
    links, seconds = (grid.ravel() for grid in np.meshgrid(np.arange(5.0), np.array([100.0, 400.0, 900.0, 1500.0])))
    links, seconds = np.append(links, -1.0), np.append(seconds, 0.0)
    shared = 0.15**2 * 0.7 ** np.maximum(links, 0.0) * persisting(0.6, seconds, 300.0) * (links >= 0.0)
    fit = fit_traffic(Covariances(np.expm1(0.05**2 + shared), links, seconds, np.ones_like(links)), 300.0)
    assert [fit.day, fit.local, fit.along, fit.persistence] == pytest.approx([0.05, 0.15, 0.7, 0.6], rel=1e-3, abs=0)


def test_persistence_between_intervals_is_linear() -> None:
    seconds = np.array([0.0, 150.0, 300.0, 450.0, 900.0])
    expected = [1.0, 0.75, 0.5, (0.5 + 0.25) / 2, 0.125]
    assert persisting(0.5, seconds, 300.0) == pytest.approx(expected)


def test_drawn_traffic_has_its_moments() -> None:
    """Logarithms of drawn speeds: variance, correlation along links and in time, one factor a day for both directions,
    and a mean factor of 1."""
    line, quiet = town(), {"speed_deviation": 0.0, "speed_floor": 1.0, "speed_ceiling": 60.0}
    simulator = Simulator(replace(line, **quiet, traffic=Traffic(0.1, 0.2, 0.6, 0.5)), days=1500)
    simulator.start(range(1500))
    speeds = simulator.state.speeds
    chances = simulator.layout.chances
    hour = np.minimum(np.arange(speeds.shape[1]) * 300 // 3600, 2)
    mean = chances.mean_speed[:, :, hour].transpose(2, 0, 1)
    slow = np.log(mean / speeds)
    assert np.exp(slow).mean() == pytest.approx(1.0, abs=0.01)
    z = slow - slow.mean()
    assert z.var() == pytest.approx(0.1**2 + 0.2**2, rel=0.05, abs=0)

    def shared(product: np.ndarray) -> float:
        return float((product.mean() - 0.01) / 0.04)

    assert shared(z[:, :, :, 1:] * z[:, :, :, :-1]) == pytest.approx(0.6, abs=0.03)
    assert shared(z[:, :, :, 2:] * z[:, :, :, :-2]) == pytest.approx(0.36, abs=0.03)
    assert shared(z[:, 1:] * z[:, :-1]) == pytest.approx(0.5, abs=0.03)
    assert (z[:, :, 0] * z[:, :, 1]).mean() == pytest.approx(0.01, rel=0.2, abs=0)


def test_a_link_and_an_hour_have_their_own_deviation(small: Corridor) -> None:
    deviation = np.zeros((4, 2))
    deviation[2, 0] = 1.0
    line = replace(small, up=replace(small.up, deviation=deviation))
    simulator_speeds = [simulate_days(line, NoHolding(), [seed])[0] for seed in range(2)]
    times = [record.visits[record.layout.line.plan[:, 0] == 0] for record in simulator_speeds]
    running = [np.diff(rows[:6, :5, 0], axis=1) - rows[:6, :4, 1] - np.nan_to_num(rows[:6, :4, 3]) for rows in times]
    assert np.allclose(running[0][:, [0, 1, 3]], running[1][:, [0, 1, 3]])
    assert np.ptp(running[0][:, 2]) > 1.0


def test_deviation_and_traffic_are_kept_in_files(tmp_path: Path) -> None:
    save_corridor(known(), tmp_path / "line.json")
    again = load_corridor(tmp_path / "line.json")
    assert again.traffic == known().traffic
    assert np.array_equal(again.up.deviation, known().up.deviation)
    content = json.loads((tmp_path / "line.json").read_text())
    for change, message in (
        ({"traffic": {"day": 2}}, "traffic.day is 2; it must be a number from 0 to 1"),
        ({"traffic": {"wind": 1}}, "traffic is .* expected an object with some of the keys"),
        ({"traffic": {"along": True}}, "traffic.along is True"),
        ({"up": content["up"] | {"deviation": [[1.0]]}}, r"up.deviation has shape \(1, 1\); it must be"),
        ({"up": content["up"] | {"deviation": (-np.ones((9, 3))).tolist()}}, r"up.deviation\[link 0, hour 0\] is -1.0"),
    ):
        (tmp_path / "bad.json").write_text(json.dumps(content | change))
        with pytest.raises(InputError, match=message):
            load_corridor(tmp_path / "bad.json")


def test_a_file_of_observations_is_read_as_written(tmp_path: Path, observed: Observed) -> None:
    few = part(observed, slice(0, 2))
    (tmp_path / "days.csv").write_text(observed_text(few, known()))
    again, labels = read_observed(tmp_path / "days.csv", unknown())
    assert labels == ["0", "1"]
    for mine, other in zip(again, few, strict=True):
        assert np.array_equal(mine.launch, other.launch)
        for name in ("arrive", "depart"):
            assert np.nanmax(np.abs(getattr(mine, name) - getattr(other, name))) <= 0.5
            assert np.array_equal(np.isnan(getattr(mine, name)), np.isnan(getattr(other, name)))


GOOD = "1,up,06:00:00,A,05:58:00,06:00:10"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["1,sideways,06:00,A,06:00,06:01"], "row 2: direction is 'sideways'; expected up or down"),
        (["1,up,06:00,Z,06:00,06:01"], "row 2: stop is 'Z', which direction up of 'small' does not visit"),
        (["1,up,05:00,A,06:00,06:01"], "launch is 05:00, before the corridor's service, which starts at 06:00:00"),
        (["1,up,noon,A,06:00,06:01"], "row 2: launch is 'noon'; expected a clock time"),
        (["1,up,06:00,A,06:00,"], "row 2: departure is ''; expected a clock time"),
        (["1,up,06:00,B,06:02,06:01"], "departure 06:01 is before the arrival at 06:02:00"),
        (["1,up,06:00,B,06:02"], "row 2: 5 cells; expected 6"),
        ([GOOD, GOOD], "row 3: the trip has a row for stop 'A' already"),
        (
            [GOOD, "1,up,06:00:00,B,06:00:05,06:00:20"],
            "day '1', direction up, launch 06:00:00: it comes to 'B' no later",
        ),
        ([GOOD], "no trip of direction down; a corridor needs both"),
        ([], "no trip of direction up; a corridor needs both"),
    ],
)
def test_bad_observations(tmp_path: Path, small: Corridor, rows: list[str], message: str) -> None:
    (tmp_path / "days.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    with pytest.raises(InputError, match=message):
        read_observed(tmp_path / "days.csv", small)


def test_a_link_that_nobody_saw() -> None:
    few = days_of(simulate_days(known(), NoHolding(), range(4)))
    few[0].arrive[:, :, 3] = math.nan
    with pytest.raises(InputError, match="direction up: no running time from 'stop 2' to 'stop 3' was observed"):
        calibrated(unknown(), few)


def test_a_link_that_no_bus_drives_like_that() -> None:
    few = days_of(simulate_days(known(), NoHolding(), range(4)))
    few[1].arrive[:, :, 3:] -= few[1].running[:, :, 2][:, :, None] - 2.0
    few[1].depart[:, :, 3:] -= few[1].running[:, :, 2][:, :, None] - 2.0
    with pytest.raises(
        InputError, match=r"direction down, from 'stop 7' to 'stop 6': .* in 2.0 s is .* at most 50 m/s"
    ):
        calibrated(unknown(), few)


def test_the_calibrated_line_has_room_for_the_speeds_that_were_observed() -> None:
    """Half of the slowest mean speed of a link and hour, and twice the fastest one, can be drawn, whatever the line
    allowed before; what it allowed already is kept, and no speed is below 1 m/s."""
    few = days_of(simulate_days(known(), NoHolding(), range(2)))
    means = [_filled(unknown(), index, way) for index, way in enumerate(few)]
    speeds = [way.length[:, None] / times for way, times in zip(unknown().directions, means, strict=True)]
    slowest, fastest = min(speed.min() for speed in speeds), max(speed.max() for speed in speeds)
    for floor, ceiling in ((7.0, 8.0), (1.5, 30.0)):
        line = replace(unknown(), speed_floor=floor, speed_ceiling=ceiling)
        found = _running(line, few, means, 1.0)
        assert found.speed_floor == pytest.approx(min(floor, 0.5 * slowest))
        assert found.speed_ceiling == pytest.approx(max(ceiling, 2.0 * fastest))
    crawling = [times * 10.0 for times in means]
    assert _running(unknown(), few, crawling, 1.0).speed_floor == 1.0


def test_sparse_days_are_enough() -> None:
    """A direction that is missing on a day, trips seen at some stops alone, few trips: a corridor comes out."""
    few = days_of(simulate_days(known(), NoHolding(), range(3)))
    few[0].arrive[0], few[0].depart[0] = math.nan, math.nan
    few[1].arrive[:, ::2, 5:], few[1].depart[:, ::2, 5:] = math.nan, math.nan
    found = calibrated(unknown(), few)
    assert len(found.up.launches) == len(known().up.launches)
    assert np.isfinite(found.up.speed).all()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, line in (("known", known()), ("unknown", unknown())):
        save_corridor(line, tmp_path / f"{name}.json")
    days, out = str(tmp_path / "days.csv"), str(tmp_path / "out.json")
    base = ["--corridor", str(tmp_path / "known.json")]
    assert main(["simulate", *base, "--seeds", "8", "--avl", days, "--json"]) == 0
    capsys.readouterr()
    command = ["avl", days, "--out", out, "--corridor", str(tmp_path / "unknown.json")]
    assert main([*command, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["days"], content["calibrated_on"]) == (8, 6)
    assert load_corridor(out).traffic.local == content["traffic"]["local"] > 0.05
    assert main([*command, "--keep-demand"]) == 0
    assert "adjacent links, correlation" in capsys.readouterr().out
    assert np.array_equal(load_corridor(out).demand, unknown().demand)
    for wrong, message in (
        ([*command[:3], "out.txt"], "expected a file ending in .json"),
        ([*command, "--held-out", "1"], "held_out is 1.0; it must be a share"),
        ([*command, "--held-out", "0.9"], "at least 3 are needed"),
    ):
        assert main(wrong) == 2
        assert message in capsys.readouterr().err.replace("\n", " ")
