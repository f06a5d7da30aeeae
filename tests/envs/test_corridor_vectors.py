"""The vector environment's own numbers: seeds of its days, steps that are counted, pictures, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyresac.envs.bus import Corridor
from pyresac.envs.bus import state as at
from pyresac.envs.bus.named import corridor_named
from pyresac.envs.bus.objectives import objective_named, owed
from pyresac.envs.bus.operations import Operations
from pyresac.envs.bus.parametric import UNIT, LinearRule, NetworkRule
from pyresac.envs.bus.simulator import LARGEST_SEED
from pyresac.envs.bus.vector import VectorBusCorridor
from pyresac.errors import InputError


def seeds(env: VectorBusCorridor) -> list[int]:
    found: list[int] = env.episodes.simulator.state.cursor[:, at.SEED].tolist()
    return found


def test_days_have_the_seeds_that_follow(small: Corridor) -> None:
    env = VectorBusCorridor(3, small)
    env.reset(seed=LARGEST_SEED - 2)
    assert seeds(env) == [LARGEST_SEED - 2, LARGEST_SEED - 1, LARGEST_SEED]
    env.reset(seed=np.int64(0))  # type: ignore[arg-type]
    assert seeds(env) == [0, 1, 2]
    env.reset(seed=np.array([7, 5, 7]))  # type: ignore[arg-type]
    assert seeds(env) == [7, 5, 7]
    env.reset(seed=9, options={"reset_mask": np.array([True, False, True])})
    assert seeds(env) == [9, 5, 11]
    env.reset(seed=[1, None, None], options={"reset_mask": np.array([False, False, True])})
    assert seeds(env)[:2] == [9, 5]
    assert seeds(env)[2] != 11
    env.reset(seed=4, options={"else": 1})
    assert seeds(env) == [4, 5, 6]
    with pytest.raises(InputError, match="seed is"):
        env.reset(seed=LARGEST_SEED - 1)
    for seed in (True, [1, 2], [1, 2, 3, 4], {1, 2, 3}, 1.0):
        with pytest.raises(InputError, match=r"seed is .*; it must be an integer, or 3 integers or Nones"):
            env.reset(seed=seed)  # type: ignore[arg-type]


def test_a_first_reset_without_seeds_draws_one_a_day(small: Corridor) -> None:
    """Those that are given stay."""
    env = VectorBusCorridor(3, small)
    env.reset(seed=[5, None, None])
    first, second, third = seeds(env)
    assert first == 5
    assert len({first, second, third}) == 3
    env.reset(seed=[None, 5, 6])
    assert seeds(env)[1:] == [5, 6]
    assert seeds(env)[0] != 5


@pytest.mark.parametrize("limit", [True, 0, -1, 2.0, "2"])
def test_a_limit_of_steps_is_a_count(small: Corridor, limit: Any) -> None:
    with pytest.raises(InputError, match=r"max_episode_steps is .*; it must be an integer of at least 1"):
        VectorBusCorridor(1, small, max_episode_steps=limit)


def test_steps_are_counted_for_each_day(small: Corridor) -> None:
    """A reset of one day begins its count anew; with a limit of 1 every other step begins a day."""
    env = VectorBusCorridor(2, small, max_episode_steps=3)
    env.reset(seed=1)
    cuts = []
    for step in range(7):
        if step == 2:
            env.reset(seed=5, options={"reset_mask": np.array([False, True])})
        cuts.append(env.step(np.zeros((2, 1)))[3].tolist())
    assert np.flatnonzero([cut for cut, _ in cuts]).tolist() == [2, 6]
    assert np.flatnonzero([cut for _, cut in cuts]).tolist() == [4]
    short = VectorBusCorridor(1, small, max_episode_steps=np.int64(1))  # type: ignore[arg-type]
    short.reset(seed=1)
    assert [short.step(np.zeros((1, 1)))[3][0] for _ in range(4)] == [True, False, True, False]
    assert "steps" not in VectorBusCorridor(1, small).get_state()


def test_a_state_keeps_its_own_steps(small: Corridor) -> None:
    env = VectorBusCorridor(2, small, max_episode_steps=3)
    env.reset(seed=1)
    env.step(np.zeros((2, 1)))
    saved = env.get_state()
    env.step(np.zeros((2, 1)))
    assert saved["steps"].tolist() == [1, 1]
    env.set_state(saved)
    env.step(np.zeros((2, 1)))
    assert saved["steps"].tolist() == [1, 1]
    for wrong in ([1, 1], np.zeros(3, dtype=np.int64), None):
        with pytest.raises(InputError, match="the state has no array steps of 2 numbers"):
            env.set_state(saved | {"steps": wrong})  # type: ignore[dict-item]


def test_a_day_that_ends_at_its_last_step_is_no_cut(small: Corridor) -> None:
    """It has metrics; the other days of the step have none."""
    plain = VectorBusCorridor(2, small)
    plain.reset(seed=1)
    taken, ended = 0, np.zeros(2, dtype=bool)
    while not ended.any():
        _, _, ended, _, infos = plain.step(np.zeros((2, 1)))
        taken += 1
    for name, values in infos["metrics"].items():
        assert np.isnan(values[~ended]).all(), name
    assert infos["_metrics"].tolist() == ended.tolist()
    assert infos["metrics"]["decisions"][ended].tolist() == [taken] * int(ended.sum())
    env = VectorBusCorridor(2, small, max_episode_steps=taken)
    env.reset(seed=1)
    for _ in range(taken):
        _, _, terminated, truncated, _ = env.step(np.zeros((2, 1)))
    assert terminated.tolist() == ended.tolist()
    assert truncated.tolist() == (~ended).tolist()


def test_pictures_of_days_that_have_begun(small: Corridor) -> None:
    assert VectorBusCorridor(1, small).render() is None
    env = VectorBusCorridor(1, small, render_mode="rgb_array")
    with pytest.raises(InputError, match="render called before reset; call reset"):
        env.render()
    with pytest.raises(InputError, match="render_mode is 'human'"):
        VectorBusCorridor(1, small, render_mode="human")


def test_a_reset_mask_has_a_truth_a_day(small: Corridor) -> None:
    env = VectorBusCorridor(2, small)
    env.reset(seed=1)
    for mask in (np.array([[True, False]]), np.array([True]), np.array([1, 0]), np.array([False, False]), None):
        with pytest.raises(InputError, match=r"reset_mask is .*; expected 2 booleans, one true"):
            env.reset(options={"reset_mask": mask})


def test_who_is_left_at_a_stop_owes_waiting_to_the_end() -> None:
    nan = np.nan
    people = np.array([[10.0, nan, nan], [20.0, 30.0, 40.0], [70.0, nan, nan], [100.0, nan, nan], [100.5, nan, nan]])
    assert owed(people, 100.0) == pytest.approx(2.0 * (90.0 + 30.0) / 60.0)
    assert [objective_named(text).shares for text in ("reward", "passengers")] == [False, False]
    assert [objective_named(f"{text}=5e-324").shares for text in ("reward:neighbours", "passengers:followers")] == [
        True
    ] * 2
    assert objective_named("passengers:,denied=1,").denied == 1.0  # type: ignore[union-attr]


@pytest.mark.parametrize("stops", [(3,), ("B", 3), (None,)])
def test_control_stops_are_names(stops: Any) -> None:
    with pytest.raises(InputError, match=r"operations.control_stops are \(.*\); they must be names of stops"):
        Operations(control_stops=stops)


@pytest.mark.parametrize("wrong", [[[1.0]], ["1"], [True], [np.inf], [1j], [[1.0], [2.0, 3.0]]])
def test_numbers_of_a_rule_are_a_list_of_finite_ones(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"numbers are .*; expected (finite numbers|a list of numbers)"):
        NetworkRule(wrong)
    with pytest.raises(InputError, match=r"bias are .*; expected (finite numbers|a list of numbers)"):
        LinearRule(bias=wrong)


def test_a_network_has_whole_units() -> None:
    for units in (0, 1, 3):
        assert NetworkRule(tuple(range(1 + units * UNIT))).units == units
        for count in (units * UNIT, units * UNIT + 2):
            with pytest.raises(InputError, match=rf"numbers are {count}; expected 1 \+ {UNIT} for each unit"):
                NetworkRule((1.0,) * count)
    with pytest.raises(InputError, match=r"numbers are 1\.0; expected finite numbers"):
        NetworkRule(1.0)  # type: ignore[arg-type]
    assert NetworkRule(np.array([1, 2])[:1]).parameters == (1.0,)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["published-slow", "published-fast:", "slow:folder", "default:folder", ""])
def test_corridors_have_names(text: str) -> None:
    with pytest.raises(InputError, match=rf"^corridor is '{text}'; expected default, disturbed, a \.json file, or"):
        corridor_named(text)
    with pytest.raises(InputError, match="no such workbook"):
        corridor_named("published-fast:nowhere")
