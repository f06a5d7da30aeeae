"""What a day draws, number by number: hashes in plain integers, quantiles of known distributions, tables by loops."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from interpreted_kernels import plain
from scipy import stats

from pyresac.envs.bus import Corridor, Simulator
from pyresac.envs.bus import compiled as compiled_module
from pyresac.envs.bus.boarding import waiting_at
from pyresac.envs.bus.compiled import (
    ARRIVALS,
    CACHE,
    EPISODE,
    PATIENCE,
    SPEED_ANGLE,
    SPEED_RADIUS,
    hashed,
    normal,
    poisson,
    sources_digest,
    uniform,
)
from pyresac.envs.bus.day import CREATED, HEAD, START, TAIL, draw_passengers, epochs, expected_passengers
from pyresac.envs.bus.episodes import day_seed
from pyresac.envs.bus.layout import lay_out
from pyresac.envs.bus.state import State

KEYS = [(0, 1, 0, 0), (7, 3, 5, 2), (2**63 - 1, 16, 10**6, 65537), (123456789, 7, 0, 99)]
MASK = 2**64 - 1


def mixed(bits: int) -> int:
    """SplitMix64's finaliser, in integers without a limit."""
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def bits_of(*key: int) -> int:
    """One step of SplitMix64's stream for each part of the key."""
    found = key[0]
    for part in key[1:]:
        found = mixed((found + 0x9E3779B97F4A7C15 * (part + 1)) & MASK)
    return found


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_hashed_by_splitmix(key: tuple[int, int, int, int]) -> None:
    assert int(hashed(*key)) == bits_of(*key)
    assert uniform(*key) == ((bits_of(*key) >> 11) + 0.5) / 2**53
    seed, _, a, b = key
    radius, angle = uniform(seed, SPEED_RADIUS, a, b), uniform(seed, SPEED_ANGLE, a, b)
    expected = math.sqrt(-2.0 * math.log(radius)) * math.cos(2.0 * math.pi * angle)
    assert normal(seed, a, b) == pytest.approx(expected, rel=1e-12, abs=0)


def test_the_seed_of_an_episode_is_63_bits_of_its_hash() -> None:
    for base in (0, 5, 2**63 - 1):
        assert day_seed(base, 0) == base
        for episode in (1, 2, 10**6):
            assert day_seed(base, episode) == bits_of(base, EPISODE, episode, 0) >> 1


@pytest.mark.parametrize("mean", [1e-3, 0.7, 15.9, 16.0, 16.1, 40.0, 100.0])
def test_a_poisson_number_is_a_sum_of_quantiles(mean: float) -> None:
    """One for each part of at most 16 of the mean, each of a draw of its own."""
    parts = math.ceil(mean / 16.0)
    for seed in range(40):
        levels = [uniform(seed, ARRIVALS, 3, 2 * 65536 + part) for part in range(parts)]
        assert poisson(mean, seed, 3, 2) == sum(int(stats.poisson.ppf(level, mean / parts)) for level in levels)


def test_the_largest_uniform_number_ends_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the sum of probabilities is rounded: it may never reach that level."""
    monkeypatch.setattr(compiled_module, "uniform", lambda *key: math.nextafter(1.0, 0.0))
    for mean in (0.3, 3.0, 11.0, 16.0):
        assert stats.poisson.ppf(1.0 - 1e-14, mean) <= plain(poisson)(mean, 0, 0, 0) < 400


def test_speed_intervals_and_passengers_until_the_horizon(small: Corridor) -> None:
    """The last hour's rates go on; what lies beyond the horizon does not count."""
    chances = lay_out(small).chances
    for horizon, wanted in ((600.0, 3), (601.0, 4), (899.0, 4), (900.0, 4)):
        assert epochs(chances._replace(horizon=horizon, speed_interval=300.0)) == wanted
    rate = np.random.default_rng(0).random((2, 5, 3))
    for horizon in (1800.0, 3600.0, 5000.0, 7200.0, 9000.0, 12_345.0):
        total = 0.0
        for second in range(0, int(horizon), 5):
            total += 5.0 * rate[:, :, min(second // 3600, 2)].sum()
        assert expected_passengers(chances._replace(rate=rate, horizon=horizon)) == pytest.approx(total)


def test_a_day_s_passengers_need_as_much_room_as_they_are_many(small: Corridor) -> None:
    """Not one place more."""
    simulator = Simulator(small)
    simulator.start([3])
    count = int(simulator.state.queues[0, -1, START])
    chances, queues = simulator.layout.chances, simulator.state.queues[0].copy()
    for room in (count, count - 1):
        passengers = np.full((room, 3), np.nan)
        bound = np.full((room, 2), -1, dtype=np.int32)
        assert draw_passengers(chances, 3, passengers, bound, queues) == (room == count)
    created = simulator.state.passengers[0, :count, CREATED]
    assert (created % small.demand_interval == 0.0).all()
    assert created.max() < simulator.layout.chances.horizon


def test_a_passenger_a_draw_comes_as_any_other_number_does(small: Corridor) -> None:
    """A mean of exactly one is no nobody."""
    demand = np.zeros_like(small.demand)
    demand[:, 0, 4] = 180.0
    simulator = Simulator(replace(small, demand=demand))
    chances = simulator.layout.chances
    assert chances.rate[0, 0, 0] * chances.demand_interval == 1.0
    simulator.start([1])
    count, mean = int(simulator.state.queues[0, -1, START]), expected_passengers(chances)
    assert abs(count - mean) < 5.0 * math.sqrt(mean)


@pytest.mark.parametrize("patience", [0.0, 1.0, 400.0])
def test_who_waits_at_a_time_is_counted_whichever_time_was_looked_at_before(small: Corridor, patience: float) -> None:
    """Forwards and backwards, at the moments when passengers come, to the end of a queue."""
    simulator = Simulator(small)
    simulator.start([2])
    day = State(*(part[0] for part in simulator.state))
    day.passengers[:, CREATED + 1 :] = np.nan
    line = simulator.layout.line._replace(patience=patience)
    rng = np.random.default_rng(0)
    for queue in (1, 2, 8):
        start, end = int(day.queues[queue, START]), int(day.queues[queue + 1, START])
        created = day.passengers[start:end, CREATED].tolist()
        day.queues[queue, HEAD] = day.queues[queue, TAIL] = start
        patient = [-patience * math.log(uniform(2, PATIENCE, start + index, 0)) for index in range(end - start)]
        for time in [1e9, *rng.choice([0.0, *created, 1e9], 60), 1e9, created[-1], created[0]]:
            there = [index for index, came in enumerate(created) if came <= time]
            stays = [index for index in there if not patience or time - created[index] <= patient[index]]
            assert waiting_at(line, day, queue, 4, float(time)) == len(stays)
            assert day.queues[queue, TAIL] == start + len(there)


def test_code_is_kept_in_a_folder_of_these_sources_and_numba_s_own_is_left_alone(tmp_path: Path) -> None:
    options: Any = numba.config
    before, seen = options.CACHE_DIR, []
    assert before != str(CACHE)
    assert CACHE.name == f"corridor-{sources_digest(Path(compiled_module.__file__).parent)}"
    assert len(sources_digest(tmp_path)) == 16

    def compiler(function: Any) -> Any:
        seen.append(options.CACHE_DIR)
        if function is None:
            raise ValueError("cannot be compiled")
        return function

    assert compiled_module._kept_here(compiler, abs) is abs
    assert before == options.CACHE_DIR
    with pytest.raises(ValueError, match="cannot be compiled"):
        compiled_module._kept_here(compiler, None)
    assert before == options.CACHE_DIR
    assert seen == [str(CACHE)] * 2


def test_a_digest_is_of_compiled_files_and_those_that_they_import_from(tmp_path: Path) -> None:
    """Whatever an import is written like; an import of an import is none, nor a word of another line."""
    texts = {
        "kernel": "import package.inner\nfrom package.rates import (\n@borrowing\ndef f(): return word\n",
        "inner": "from package.beyond import x\n",
        "rates": "r = 1\n",
        "beyond": "x = 1\n",
        "word": "w = 1\n",
        "plain": "text = '@compiled'\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    before = sources_digest(tmp_path)
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text + "# more\n")
        assert (sources_digest(tmp_path) != before) == (name in ("kernel", "inner", "rates")), name
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "rates.py").rename(tmp_path / "rate.py")
    assert sources_digest(tmp_path) != before


def test_hours_of_a_table_give_way_to_one_another_on_time(small: Corridor) -> None:
    """No noise: each speed interval has its hour's mean, and passengers come in the hours that have any, in all of
    them after the last."""
    speed = np.array([[5.0, 9.0]]) + np.arange(4.0)[:, None]
    demand = small.demand * np.array([0.0, 1.0])[:, None, None]
    up, down = (replace(way, speed=speed, launches=600.0 * np.arange(13)) for way in small.directions)
    simulator = Simulator(replace(small, up=up, down=down, demand=demand, speed_deviation=0.0))
    simulator.start([1])
    drawn = simulator.state.speeds[0]
    assert len(drawn) > 28
    for epoch, of in enumerate(drawn):
        assert of.tolist() == [speed[:, 0 if epoch < 12 else 1].tolist()] * 2
    created = simulator.state.passengers[0, : int(simulator.state.queues[0, -1, START]), CREATED]
    assert created.min() >= 3600.0
    assert created.max() > 7200.0
