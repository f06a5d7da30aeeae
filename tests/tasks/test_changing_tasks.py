"""Schedules, changing physics and noise: what they draw, what they refuse, and that they resume exactly."""

from __future__ import annotations

import json

import gymnasium as gym
import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tasks.noisy import NoiseOf, Noisy, parse_noise
from pyresac.tasks.physics import ARRAYS, ChangingPhysics
from pyresac.tasks.schedules import ScheduledFactor, parse_schedule

pytest.importorskip("mujoco", reason="the physics are those of MuJoCo: pip install 'pyresac[mujoco]'")


@pytest.mark.parametrize(
    ("text", "kind", "values", "every", "tasks"),
    [
        ("2", "constant", (2.0,), None, None),
        ("list 0.5 1 2 per-episode", "list", (0.5, 1.0, 2.0), None, None),
        ("list 3", "list", (3.0,), None, None),
        ("uniform 0.5 1.5 every 1000", "uniform", (0.5, 1.5), 1000, None),
        ("log-uniform 0.05 20 every 20000 tasks 40", "log-uniform", (0.05, 20.0), 20000, 40),
        ("log-uniform 0.33 3 tasks 2 per-episode", "log-uniform", (0.33, 3.0), None, 2),
    ],
)
def test_schedules_read_as_documented(
    text: str, kind: str, values: tuple[float, ...], every: int | None, tasks: int | None
) -> None:
    schedule = parse_schedule(text, "gravity")
    assert (schedule.kind, schedule.values, schedule.every, schedule.tasks) == (kind, values, every, tasks)


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "0", "-1", "nan", "inf", "1e7", "1 2", "2 per-episode", "2 every 5", "list", "list 1 tasks 2"),
        *("uniform 1", "uniform 2 1", "uniform 1 1", "uniform 1 2 3", "uniform 1 2 every", "uniform 1 2 every 0"),
        *(
            "uniform 1 2 every x",
            "uniform 1 2 tasks 0",
            "uniform 1 2 per-episode every 5",
            "log-uniform 0 1",
            "per-episode",
        ),
    ],
)
def test_other_words_are_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match="gravity = "):
        parse_schedule(text, "gravity")


def factor(text: str, seed: int = 0) -> ScheduledFactor:
    return ScheduledFactor(parse_schedule(text, "gravity"), np.random.SeedSequence(seed))


def test_a_list_is_taken_in_turn_and_cycled() -> None:
    found = factor("list 1 2 3 every 2")
    values = []
    for _ in range(8):
        values.append(found.value)
        found.step()
    assert values == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 1.0, 1.0]


def test_per_episode_changes_with_each_episode_that_was_played() -> None:
    found = factor("list 1 2 3 per-episode")
    assert not found.episode_begins()
    for expected in (2.0, 3.0, 1.0):
        found.step()
        assert found.episode_begins()
        assert found.value == expected
        assert not found.episode_begins()


def test_tasks_are_drawn_once_and_cycled() -> None:
    found = factor("log-uniform 0.05 20 every 1 tasks 3")
    values = []
    for _ in range(9):
        values.append(found.value)
        found.step()
    assert values[:3] == values[3:6] == values[6:]
    assert len(set(values)) == 3
    assert all(0.05 <= value <= 20.0 for value in values)


def test_log_uniform_is_uniform_in_the_logarithm() -> None:
    found = factor("log-uniform 0.1 10 every 1")
    logs = []
    for _ in range(4000):
        logs.append(np.log10(found.value))
        found.step()
    # a mean of 4,000 uniform numbers on [−1, 1] has deviation 0.0091; a uniform factor would have mean log10 of 0.56
    assert abs(np.mean(logs)) < 0.05
    assert abs(np.mean(np.array(logs) > 0.5) - 0.25) < 0.04


def test_a_schedule_resumes_exactly() -> None:
    one = factor("uniform 0.5 2 every 3")
    for _ in range(10):
        one.step()
    other = factor("uniform 0.5 2 every 3", seed=7)
    other.load(json.loads(json.dumps(one.state())))
    for _ in range(20):
        assert one.step() == other.step()
        assert one.value == other.value


def play(env: gym.Env, steps: int, seed: int | None = 3) -> list[float]:
    env.action_space.seed(5)
    observation, _ = env.reset(seed=seed)
    rows = [float(np.sum(observation))]
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        rows += [float(np.sum(observation)), float(reward)]
        if terminated or truncated:
            observation, _ = env.reset()
            rows.append(float(np.sum(observation)))
    return rows


def changing(seed: int = 0, **schedules: str) -> ChangingPhysics:
    parsed = {name: parse_schedule(text, name) for name, text in schedules.items()}
    return ChangingPhysics(gym.make("Hopper-v5"), parsed, seed)


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_each_parameter_changes_the_motion_and_factor_one_does_not(name: str) -> None:
    nominal = play(gym.make("Hopper-v5"), 60)
    assert play(changing(**{name: "1"}), 60) == nominal
    assert play(changing(**{name: "1.7"}), 60) != nominal


def test_coming_back_to_one_is_exact() -> None:
    env = changing(
        mass="list 2 1 1 1 1 1 1 1 1 1", inertia="list 0.5 1 1 1 1 1 1 1 1 1", gravity="list 3 1 1 1 1 1 1 1 1 1"
    )
    play(env, 5)
    assert play(env, 60) == play(gym.make("Hopper-v5"), 60)


def test_a_parameter_that_is_zero_everywhere_is_refused() -> None:
    env = gym.make("Hopper-v5")
    env.unwrapped.model.dof_damping[:] = 0.0
    with pytest.raises(InputError, match="damping of Hopper-v5 is 0 everywhere"):
        ChangingPhysics(env, {"damping": parse_schedule("2", "damping")}, 0)


def test_other_environments_and_names_are_refused() -> None:
    with pytest.raises(InputError, match="Pendulum-v1 is no MuJoCo environment"):
        ChangingPhysics(gym.make("Pendulum-v1"), {"gravity": parse_schedule("2", "gravity")}, 0)
    with pytest.raises(InputError, match="no 'colour'"):
        ChangingPhysics(gym.make("Hopper-v5"), {"colour": parse_schedule("2", "colour")}, 0)


def test_factors_of_different_parameters_are_independent_and_do_not_depend_on_each_other() -> None:
    both = changing(gravity="uniform 0.5 2 every 1", mass="uniform 0.5 2 every 1")
    alone = changing(gravity="uniform 0.5 2 every 1")
    assert both.factors["gravity"] == alone.factors["gravity"]
    assert both.factors["gravity"] != both.factors["mass"]


def noisy(seed: int = 1, **noise: str) -> Noisy:
    return Noisy(gym.make("Pendulum-v1"), {name: parse_noise(text, name) for name, text in noise.items()}, seed)


@pytest.mark.parametrize(
    "text", ["", "gaussian", "gaussian 0", "gaussian -1", "uniform nan", "shift 0", "x 1", "shift 1 2"]
)
def test_noise_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="observation = "):
        parse_noise(text, "observation")


def test_noise_has_its_size_and_is_not_added_twice() -> None:
    clean, env = gym.make("Pendulum-v1"), noisy(observation="gaussian 0.5", reward="uniform 0.25")
    clean.reset(seed=0)
    env.reset(seed=0)
    seen, earned = [], []
    for _ in range(150):
        action = np.zeros(1, dtype=np.float32)
        true, reward, *_ = clean.step(action)
        observed, noisy_reward, *_, info = env.step(action)
        assert info["clean_reward"] == float(reward)
        seen.append(observed - true)
        earned.append(noisy_reward - reward)
    assert abs(np.std(seen) - 0.5) < 0.1
    assert abs(np.mean(seen)) < 0.1
    assert np.abs(earned).max() <= 0.25
    assert np.std(earned) > 0.1


def test_a_shift_is_the_same_each_time_and_actions_stay_in_their_box() -> None:
    env = noisy(observation="shift 2", action="shift 100")
    observation, _ = env.reset(seed=0)
    assert np.allclose(observation - gym.make("Pendulum-v1").reset(seed=0)[0], 2.0)
    after = env.step(np.zeros(1, dtype=np.float32))[0]
    pushed = gym.make("Pendulum-v1")
    pushed.reset(seed=0)
    assert np.allclose(after - 2.0, pushed.step(np.full(1, 2.0, dtype=np.float32))[0], atol=1e-6)


def test_wrappers_resume_exactly() -> None:
    def made(seed: int) -> gym.Env:
        physics = changing(seed, gravity="uniform 0.5 2 every 7")
        return Noisy(physics, {"observation": NoiseOf("gaussian", 0.1)}, seed)

    one, other = made(0), made(9)
    play(one, 25)
    for wrapper, twin in ((one, other), (one.env, other.env)):
        twin.load_state_dict(json.loads(json.dumps(wrapper.state_dict())))
    assert play(one, 40) == play(other, 40)
