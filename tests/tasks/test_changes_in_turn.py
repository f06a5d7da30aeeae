"""When the factors of a schedule and the numbers of noise come: at which step, episode and seed, with which sign."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tasks.noisy import Noisy, parse_noise
from pyresac.tasks.physics import ChangingPhysics, scalable
from pyresac.tasks.schedules import ScheduledFactor, parse_schedule
from pyresac.tasks.variation import Variation


def factor(text: str, seed: int = 0) -> ScheduledFactor:
    return ScheduledFactor(parse_schedule(text, "gravity"), np.random.SeedSequence(seed))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_list_is_taken_from_a_drawn_value_on(count: int) -> None:
    """Each of its values is the first one of some seed, and the others follow in turn."""
    found, values = factor(" ".join(["list", *map(str, range(1, count + 1)), "every 1"])), range(1, count + 1)
    begun = set()
    for seed in range(30):
        found.begin_anew(np.random.SeedSequence(seed))
        first = int(found.value)
        begun.add(first)
        for further in range(1, 2 * count + 1):
            found.step()
            assert found.value == (first - 1 + further) % count + 1
    assert begun == set(values)


@pytest.mark.parametrize("text", ["2", "list 1 2 3 every 2", "uniform 1 2 every 2"])
def test_an_episode_changes_nothing_that_is_constant_or_counted_in_steps(text: str) -> None:
    found = factor(text)
    for _ in range(3):
        found.step()
        before = found.state()
        assert not found.episode_begins()
        assert found.state() == before


class Scaled(gym.Env[Any, Any]):
    """Says itself what it scales: its gravity, which is what it sees and earns. An episode is three steps long."""

    observation_space = gym.spaces.Box(-99.0, 99.0, (1,), np.float64)
    action_space = gym.spaces.Box(-99.0, 99.0, (1,), np.float64)
    gravity, steps, done = 1.0, 0, 0.0

    def ignored_physics(self) -> dict[str, str]:
        return {"gear": "it has no motors"}

    def scale_physics(self, factors: dict[str, float]) -> None:
        self.gravity = factors.get("gravity", 1.0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return np.array([self.gravity]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        self.done = float(action[0])
        return np.array([self.gravity]), self.gravity, self.steps == 3, False, {}


def seen(text: str, steps: int) -> list[float]:
    """Gravity at each reset and step of episodes that begin without a seed."""
    env = ChangingPhysics(Scaled(), {"gravity": parse_schedule(text, "gravity")}, 0)
    first, info = env.reset()
    found = [float(first[0])]
    assert info == {"physics": env.factors}
    for _ in range(steps):
        after, reward, ended, _, _ = env.step(np.zeros(1))
        assert reward == after[0]
        found.append(float(after[0]))
        if ended:
            found.append(float(env.reset()[0][0]))
    return found


def test_the_physics_of_a_step_are_those_of_the_schedule() -> None:
    """A change comes after the step that completes a round, or before an episode: the physics have it at once."""
    # an episode: its reset and three steps
    assert seen("list 1 2 3 per-episode", 8) == [*[1.0] * 4, *[2.0] * 4, *[3.0] * 3]
    # steps 1 2 | 3 4 | 5 6 | 7, with a reset after 3 and 6 that sees what comes next
    assert seen("list 1 2 3 every 2", 7) == [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 1.0, 1.0]
    assert seen("4", 4) == [4.0] * 6


def test_parameters_that_have_no_effect_or_are_not_scaled_are_refused() -> None:
    with pytest.raises(InputError, match=r"^gear cannot be changed in Scaled: it has no motors$"):
        ChangingPhysics(Scaled(), {"gear": parse_schedule("2", "gear")}, 0)
    for model in (None, SimpleNamespace(mass=1.0)):
        env = Still()
        if model is not None:
            env.model = model
        with pytest.raises(InputError, match=r"^Still is a task of neither MuJoCo nor Brax; its physics cannot be"):
            scalable(env)


class Still(gym.Env[Any, Any]):
    """Sees 0 and earns 10; keeps what was done."""

    observation_space = gym.spaces.Box(-99.0, 99.0, (1,), np.float64)
    action_space = gym.spaces.Box(-99.0, 99.0, (1,), np.float64)
    done = 0.0
    model: Any

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(1), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.done = float(action[0])
        return np.zeros(1), 10.0, False, False, {"place": "here"}


@pytest.mark.parametrize("shift", [3.0, -3.0])
def test_noise_is_added_wherever_it_is(shift: float) -> None:
    env = Noisy(
        Still(), {place: parse_noise(f"shift {shift}", place) for place in ("observation", "reward", "action")}, 0
    )
    assert env.reset()[0] == [shift]
    after, reward, _, _, info = env.step(np.array([1.0]))
    assert (after.tolist(), reward, env.unwrapped.done) == ([shift], 10.0 + shift, 1.0 + shift)
    assert info == {"place": "here", "clean_reward": 10.0}


@pytest.mark.parametrize("kind", ["gaussian", "uniform", "shift"])
@pytest.mark.parametrize("size", ["inf", "-inf", "nan", "0", "x"])
def test_sizes_of_noise_that_are_no_number_are_refused(kind: str, size: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_noise(f"{kind} {size}", "reward_noise")
    assert str(caught.value) == (
        f"reward_noise = '{kind} {size}'; it must be 'gaussian DEVIATION', 'uniform HALF_WIDTH' or 'shift NUMBER'"
    )
    assert parse_noise(f"{kind} 1e-300", "reward_noise").size == 1e-300


def test_without_a_seed_noise_is_that_of_seed_0() -> None:
    """In training and in evaluation; a reset with a seed draws from that one."""
    noise = {"observation": parse_noise("gaussian 1", "observation")}
    for evaluation in (False, True):
        env, plain = Variation(observation_noise="gaussian 1").applied(Still(), evaluation), Noisy(Still(), noise, 0)
        for seed in (None, 5, None):
            assert env.reset(seed=seed)[0] == plain.reset(seed=seed)[0] != 0.0
