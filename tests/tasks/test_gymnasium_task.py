"""`BoxTask`: ends of episodes, features, actions, resuming bit for bit, evaluation, and what it refuses."""

from __future__ import annotations

import importlib.util
import itertools
import json
import math
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from numpy.typing import NDArray

from pyresac.errors import CheckpointError, DivergenceError, InputError
from pyresac.tasks import environments
from pyresac.tasks.encoding import MISSING, decode, encode
from pyresac.tasks.experience import Experience
from pyresac.tasks.gymnasium_task import SIDE_BY_SIDE, BoxTask
from pyresac.tasks.task import Played

LIMIT = 6
GOAL = 2.0
CLASSIC = ["Pendulum-v1", "MountainCarContinuous-v0"]
MUJOCO = [
    *("Hopper-v5", "HalfCheetah-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5", "Swimmer-v5"),
    *("Reacher-v5", "Pusher-v5", "InvertedPendulum-v5", "InvertedDoublePendulum-v5"),
]
needs_mujoco = pytest.mark.skipif(importlib.util.find_spec("mujoco") is None, reason="needs the mujoco extra")
RESUMED = [*CLASSIC, *(pytest.param(name, marks=needs_mujoco) for name in MUJOCO)]


class Line(gym.Env[Any, Any]):
    """x ← x + a, reward x; terminated beyond ±GOAL, truncated after LIMIT steps; begins at x in [0, 1)."""

    observation_space: spaces.Space[Any] = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space: spaces.Space[Any] = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, observed: spaces.Space[Any] | None = None, acted: spaces.Space[Any] | None = None) -> None:
        self.observation_space = observed or self.observation_space
        self.action_space = acted or self.action_space
        self.x, self.steps = 0.0, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.x, self.steps = float(self.np_random.random()), 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.x += float(np.sum(action))
        self.steps += 1
        return self.seen(), self.x, abs(self.x) > GOAL, self.steps == LIMIT, {}

    def seen(self) -> Any:
        return np.array([self.x, self.steps])


class Forgetful(Line):
    """Keeps its state where no snapshot looks."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = {0: 0.0}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.hidden[0] += float(action[0])
        after, _, terminated, truncated, info = super().step(action)
        return after, self.hidden[0], terminated, truncated, info


class Speaking(Forgetful):
    """The same, but it speaks for itself."""

    def state_dict(self) -> dict[str, Any]:
        return {"x": self.x, "steps": self.steps, "hidden": self.hidden[0]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.x, self.steps, self.hidden[0] = state["x"], state["steps"], state["hidden"]


class Breaking(Line):
    """Gives NaN as a number of the observation or as the reward from the ninth step of its life on."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where, self.life = where, 0

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        after, reward, terminated, truncated, info = super().step(action)
        self.life += 1
        broken = self.life > 8
        if broken and self.where == "observation":
            after[1] = np.nan
        return after, math.nan if broken and self.where == "reward" else reward, terminated, truncated, info


class Mixed(Line):
    """An observation of every allowed kind."""

    observation_space = spaces.Dict(
        {
            "place": spaces.Box(-9.0, 9.0, (1, 2), np.float32),
            "rest": spaces.Tuple((spaces.Discrete(LIMIT + 1, start=-1), spaces.MultiDiscrete([2, 3]))),
            "bits": spaces.MultiBinary(2),
        }
    )
    fault = 0

    def seen(self) -> Any:
        parity = np.array([self.steps % 2, self.steps % 3])
        place = np.array([[self.x, -self.x]], dtype=np.float32)
        return {"place": place, "rest": (self.steps - 1 + self.fault, parity), "bits": np.array([1, self.steps > 2])}


class Listening(Line):
    """Acts in a matrix of doubles with unequal bounds; its state is the last action."""

    def __init__(self) -> None:
        low, high = np.array([[-0.1, 0.0], [-3.0, 5.0]]), np.array([[0.3, 0.7], [-1.0, 5.1]])
        super().__init__(spaces.Box(-9.0, 9.0, (4,)), spaces.Box(low, high, dtype=np.float64))
        self.last = np.zeros(4)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action.dtype == np.float64
        assert self.action_space.contains(action), action
        self.last = action.reshape(-1).copy()
        return self.last, 0.0, False, False, {}

    def seen(self) -> Any:
        return np.zeros(4)


class Boundless(Line):
    """Has only its registered time limit; reward 1, 2, 3, …"""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self.seen(), float(self.steps), False, False, {}


class Ageing(Line):
    """Begins farther to the right with every episode of its life."""

    def __init__(self) -> None:
        super().__init__()
        self.life = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.life += 1
        self.x += self.life / 1000.0
        return self.seen(), {}


@pytest.fixture(autouse=True)
def ids(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The environments above, each as test/<name>-v0."""
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings to a file where it is
    kinds = (Line, Forgetful, Speaking, Breaking, Mixed, Listening, Boundless, Ageing)
    for kind in kinds:
        limit = 40 if kind is Boundless else None
        gym.register(f"test/{kind.__name__}-v0", entry_point=kind, max_episode_steps=limit)
    yield
    for kind in kinds:
        del gym.registry[f"test/{kind.__name__}-v0"]


def units(task: BoxTask, seed: int) -> Iterator[NDArray[np.float32]]:
    generator = np.random.default_rng(seed)
    while True:
        yield generator.uniform(-1.0, 1.0, (task.copies, len(task.box.half))).astype(np.float32)


def walk(task: BoxTask, steps: int, seed: int) -> None:
    for unit, _ in zip(units(task, seed), range(steps), strict=False):
        task.step(unit)


def right(dense: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float32]:
    """A policy that depends on the state; on the line it often reaches the goal, and often does not."""
    return np.where(dense[:, :1] < 0.5, np.float32(0.05), np.float32(0.4))


def idle(count: int) -> Any:
    return lambda dense, codes: np.zeros((len(dense), count), dtype=np.float32)


def bits(found: Experience) -> list[bytes]:
    return [part.tobytes() for part in found]


def test_a_time_limit_is_no_terminal_and_the_last_observation_is_the_true_one() -> None:
    task = BoxTask("test/Line-v0", {}, 3, 0)
    terminated = truncated = 0
    for unit, _ in zip(units(task, 1), range(300), strict=False):
        dense, codes = task.observe()
        before = dense.copy()
        found = task.step(unit)
        assert codes.shape == (3, 0)
        assert found.dense.tobytes() == before.tobytes()
        assert len(found.reward) == 3
        x, steps = found.next_dense.T
        # what the step itself led to: one step further, and the reward is the new place
        np.testing.assert_array_equal(steps, before[:, 1] + 1)
        np.testing.assert_allclose(x, before[:, 0] + unit[:, 0], rtol=0, atol=1e-6)
        np.testing.assert_array_equal(x, found.reward)
        np.testing.assert_array_equal(found.terminal, np.abs(x) > GOAL)
        ended = found.terminal | (steps == LIMIT)
        now = task.observe()[0]
        np.testing.assert_array_equal(now[~ended], found.next_dense[~ended])
        assert (now[ended, 1] == 0).all()
        terminated += int(found.terminal.sum())
        truncated += int((ended & ~found.terminal).sum())
    assert terminated > 20
    assert truncated > 20


def test_finished_returns_are_those_of_the_episodes() -> None:
    task = BoxTask("test/Line-v0", {}, 2, 0)
    expected: list[float] = []
    running = [0.0, 0.0]
    for unit, _ in zip(units(task, 2), range(100), strict=False):
        found = task.step(unit)
        for row in range(2):
            running[row] += float(found.reward[row])
            if task.observe()[0][row, 1] == 0:
                expected.append(running[row])
                running[row] = 0.0
    # rewards are noted in float32, each with an error below 2⁻²³ times 3, at most 6 in an episode
    np.testing.assert_allclose(task.finished(), expected, rtol=0, atol=18 * 2.0**-23)
    assert len(expected) > 10
    assert task.finished() == []


def test_copies_and_seeds_differ_and_repeat() -> None:
    first = BoxTask("test/Line-v0", {}, 4, 7).observe()[0]
    assert len(set(first[:, 0].tolist())) == 4
    np.testing.assert_array_equal(first, BoxTask("test/Line-v0", {}, 4, 7).observe()[0])
    assert not set(first[:, 0].tolist()) & set(BoxTask("test/Line-v0", {}, 4, 8).observe()[0][:, 0].tolist())


@pytest.mark.parametrize(
    ("copies", "seed", "said"), [(0, 0, "copies = 0"), (-1, 0, "copies = -1"), (1, -1, "seed = -1")]
)
def test_no_copies_and_a_negative_seed_are_refused(copies: int, seed: int, said: str) -> None:
    with pytest.raises(InputError, match=rf"^{said}; it must be at least [01]$"):
        BoxTask("Pendulum-v1", {}, copies, seed)


def test_actions_have_the_type_and_shape_of_the_space_and_stay_in_it() -> None:
    task = BoxTask("test/Listening-v0", {}, 1, 0)
    low, high = np.array([-0.1, 0.0, -3.0, 5.0]), np.array([0.3, 0.7, -1.0, 5.1])
    for unit, _ in zip(units(task, 3), range(50), strict=False):
        expected = low + (unit[0].astype(np.float64) + 1.0) / 2.0 * (high - low)
        # a few roundings to float32 of numbers up to 5.1
        np.testing.assert_allclose(task.step(unit).next_dense[0], expected, rtol=0, atol=4 * 5.1 * 2.0**-23)
    for end, bound in ((-1.0, low), (1.0, high)):
        found = task.step(np.full((1, 4), end, dtype=np.float32))
        np.testing.assert_allclose(found.next_dense[0], bound, rtol=0, atol=4 * 5.1 * 2.0**-23)


def test_categories_become_codes_and_numbers_stay_numbers() -> None:
    task = BoxTask("test/Mixed-v0", {}, 2, 0)
    # a Dict's parts come in the order of their names: bits, place, rest
    assert task.dense == 4
    assert task.categories == (LIMIT + 1, 2, 3)
    for step in range(1, 5):
        found = task.step(np.full((2, 1), 0.01, dtype=np.float32))
        bits_, places = found.next_dense[:, :2], found.next_dense[:, 2:]
        np.testing.assert_array_equal(bits_, [[1, step > 2]] * 2)
        np.testing.assert_array_equal(places[:, 0], found.reward)
        np.testing.assert_array_equal(places[:, 1], -found.reward)
        codes = [step, LIMIT + 1 + step % 2, LIMIT + 3 + step % 3]
        np.testing.assert_array_equal(found.next_codes, [codes] * 2)
    played = task.play(idle(1), 2, 0, 0.9)
    assert played.codes.shape == (len(played.dense), 3)


def test_a_category_beyond_its_space_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    task = BoxTask("test/Mixed-v0", {}, 1, 0)
    monkeypatch.setattr(Mixed, "fault", LIMIT)
    with pytest.raises(InputError, match=r"'test/Mixed-v0' observed the categories \[6\], beyond its space"):
        task.step(np.zeros((1, 1), dtype=np.float32))


@pytest.mark.parametrize("name", RESUMED)
def test_a_restored_task_goes_on_bit_for_bit(name: str) -> None:
    task, twin = BoxTask(name, {}, 2, 0), BoxTask(name, {}, 2, 5)
    stream, ends = units(task, 4), 0
    walk(task, 7, 3)
    for _ in range(3):
        saved = json.dumps(task.state(), allow_nan=False)
        twin.load(json.loads(saved), {part: array.copy() for part, array in task.arrays().items()})
        assert json.dumps(twin.state()) == saved
        for _ in range(350):
            assert [part.tobytes() for part in task.observe()] == [part.tobytes() for part in twin.observe()]
            unit = next(stream)
            assert bits(task.step(unit)) == bits(twin.step(unit))
        finished = task.finished()
        assert finished == twin.finished()
        ends += len(finished)
    assert ends >= 2


@needs_mujoco
def test_contact_forces_are_among_what_is_compared() -> None:
    task = BoxTask("Ant-v5", {}, 1, 0)
    stream = units(task, 4)
    forces = [np.abs(task.step(next(stream)).next_dense[:, 27:]).max() for _ in range(100)]
    assert max(forces) > 0.5


@needs_mujoco
def test_what_ant_reads_of_the_last_step_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    # without mjData's arrays the restored Ant begins from other positions of its bodies, so its reward differs
    task, twin = BoxTask("Ant-v5", {}, 1, 0), BoxTask("Ant-v5", {}, 1, 5)
    stream = units(task, 4)
    walk(task, 7, 3)
    state, unit = task.state(), next(stream)
    monkeypatch.setattr("pyresac.tasks.mujoco_state._sized_by_model", lambda model: [])
    for saved in state["environments"]:
        saved["physics"]["arrays"] = {}
    twin.load(state, task.arrays())
    assert bits(task.step(unit)) != bits(twin.step(unit))


SLEEPER = """
<mujoco>
  <option timestep="0.01"><flag sleep="enable"/></option>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
    <body pos="-0.6 0 0.2">
      <joint name="push" type="slide" axis="1 0 0" damping="20" limited="true" range="-1 1"/>
      <geom type="sphere" size="0.1"/>
    </body>
  </worldbody>
  <actuator><motor joint="push" gear="60" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>
"""


@needs_mujoco
def test_bodies_that_fall_asleep_and_are_woken_resume(tmp_path: Path) -> None:
    from gymnasium.envs.mujoco.mujoco_env import MujocoEnv

    class Sleeper(MujocoEnv):
        metadata: ClassVar[dict[str, Any]] = {"render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"]}

        def __init__(self) -> None:
            super().__init__(str(tmp_path / "sleeper.xml"), 5, spaces.Box(-np.inf, np.inf, (16,), np.float64))

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self.do_simulation(action, self.frame_skip)
            return self.seen(), 0.0, False, False, {}

        def reset_model(self) -> Any:
            self.set_state(self.init_qpos, self.init_qvel + self.np_random.uniform(-0.1, 0.1, self.model.nv))
            return self.seen()

        def seen(self) -> Any:
            return np.concatenate([self.data.qpos, self.data.qvel, [self.data.nv_awake]])

    (tmp_path / "sleeper.xml").write_text(SLEEPER)
    gym.register("test/Sleeper-v0", entry_point=Sleeper, max_episode_steps=400)
    try:
        task, twin = BoxTask("test/Sleeper-v0", {}, 1, 0), BoxTask("test/Sleeper-v0", {}, 1, 1)
    finally:
        del gym.registry["test/Sleeper-v0"]
    stream, awake = units(task, 4), []
    for step in range(600):
        # long pushes, so that the block is hit again after it has come to rest
        unit = np.full((1, 1), 1.0 if step % 200 > 120 else -1.0, dtype=np.float32) * np.abs(next(stream))
        found = task.step(unit)
        awake.append(found.next_dense[0, -1])
        if step:
            assert bits(found) == bits(twin.step(unit))
        twin.load(json.loads(json.dumps(task.state())), task.arrays())
    assert len(set(awake)) > 1
    assert any(after > before for before, after in itertools.pairwise(awake[:400]))


def test_an_environment_that_speaks_for_itself_resumes() -> None:
    task, twin = BoxTask("test/Speaking-v0", {}, 1, 0), BoxTask("test/Speaking-v0", {}, 1, 1)
    stream = units(task, 4)
    walk(task, 20, 3)
    twin.load(json.loads(json.dumps(task.state())), task.arrays())
    for _ in range(50):
        unit = next(stream)
        assert bits(task.step(unit)) == bits(twin.step(unit))


def test_states_of_other_tasks_are_refused() -> None:
    task = BoxTask("Pendulum-v1", {}, 2, 0)
    state, arrays = task.state(), task.arrays()
    with pytest.raises(CheckpointError, match=r"dense observations are float32\(2, 2\); expected float32\(2, 3\)"):
        task.load(state, {**arrays, "dense": arrays["dense"][:, :2]})
    with pytest.raises(CheckpointError, match="the checkpoint has 1 environments, not 2"):
        task.load({**state, "environments": state["environments"][:1]}, arrays)
    broken = json.loads(json.dumps(state))
    broken["environments"][0]["layers"][-1]["attributes"]["state"]["array"]["shape"] = [5]
    with pytest.raises(CheckpointError, match="a saved value is unusable"):
        task.load(broken, arrays)


@needs_mujoco
def test_physics_of_another_model_is_refused() -> None:
    hopper, walker = BoxTask("Hopper-v5", {}, 1, 0), BoxTask("Walker2d-v5", {}, 1, 0)
    pendulum = BoxTask("Pendulum-v1", {}, 1, 0)
    for other in (walker, pendulum):
        with pytest.raises(
            CheckpointError, match=r"saved environment is .*(Walker2dEnv|PendulumEnv); this one is .*Hopp"
        ):
            hopper.load(other.state(), hopper.arrays())
    state = json.loads(json.dumps(hopper.state()))
    state["environments"][0]["physics"] = walker.state()["environments"][0]["physics"]
    with pytest.raises(CheckpointError, match=r"the saved MuJoCo state has \d+ numbers; this model's has \d+"):
        hopper.load(state, hopper.arrays())
    del state["environments"][0]["physics"]
    with pytest.raises(CheckpointError, match="are not both of MuJoCo"):
        hopper.load(state, hopper.arrays())
    state = json.loads(json.dumps(hopper.state()))
    del state["environments"][0]["physics"]["arrays"]["xpos"]
    with pytest.raises(CheckpointError, match="of another model or version: xpos on one side only"):
        hopper.load(state, hopper.arrays())


@needs_mujoco
@pytest.mark.parametrize(
    ("change", "given"),
    [
        (lambda own: own[:-1], r"float64\(4, 3\)"),
        (lambda own: own[0], r"float64\(3,\)"),
        (lambda own: own.astype(np.float32), r"float32\(5, 3\)"),
    ],
)
def test_a_part_of_the_physics_of_another_shape_or_type_is_refused(change: Any, given: str) -> None:
    """NumPy would take a row for all rows, and numbers of fewer digits for those of more."""
    hopper = BoxTask("Hopper-v5", {}, 1, 0)
    state = json.loads(json.dumps(hopper.state()))
    arrays = state["environments"][0]["physics"]["arrays"]
    arrays["xpos"] = encode(change(decode(arrays["xpos"])))
    with pytest.raises(CheckpointError, match=rf"^MuJoCo's xpos was saved as {given}; this model's is float64\(5, 3\)"):
        hopper.load(state, hopper.arrays())


def same(one: Played, other: Played) -> bool:
    pairs = [(one.metrics[name], other.metrics[name]) for name in one.metrics]
    pairs += [(one.dense, other.dense), (one.codes, other.codes), (one.action, other.action)]
    return all(a.tobytes() == b.tobytes() for a, b in [*pairs, (one.discounted, other.discounted)])


def test_play_is_the_same_whenever_and_wherever_it_is_asked() -> None:
    task, other = BoxTask("Pendulum-v1", {}, 2, 0), BoxTask("Pendulum-v1", {}, 3, 9)
    undisturbed = BoxTask("Pendulum-v1", {}, 2, 0)
    first = task.play(right, 4, 0, 0.9)
    # training goes on as if nothing had been played
    for unit, _ in zip(units(task, 5), range(30), strict=False):
        assert bits(task.step(unit)) == bits(undisturbed.step(unit))
    assert same(first, task.play(right, 4, 0, 0.9))
    assert same(first, other.play(right, 4, 0, 0.9))
    assert not same(first, task.play(right, 4, 1, 0.9))
    assert len(set(first.returns.tolist())) == 4
    more = task.play(right, 6, 0, 0.9)
    np.testing.assert_array_equal(more.returns[:4], first.returns)


def test_earlier_evaluations_leave_no_trace() -> None:
    task = BoxTask("test/Ageing-v0", {}, 1, 0)
    first = task.play(right, 5, 0, 0.9)
    task.play(right, 3, 1, 0.9)
    assert same(first, task.play(right, 5, 0, 0.9))


def test_episodes_beyond_one_batch_are_played_from_their_own_seeds() -> None:
    task = BoxTask("test/Line-v0", {}, 1, 0)
    played = task.play(right, SIDE_BY_SIDE + 3, 0, 0.0)
    begun = played.dense[played.dense[:, 1] == 0]
    assert len(begun) == SIDE_BY_SIDE + 3
    expected = [np.random.SeedSequence([0, 1, i]).generate_state(1, np.uint32)[0] for i in range(SIDE_BY_SIDE + 3)]
    places = [np.random.default_rng(int(word)).random() for word in expected]
    np.testing.assert_array_equal(begun[:, 0], np.array(places, dtype=np.float32))
    # training's own starts are hashed from (seed, 0)
    assert not set(task.observe()[0][:, 0].tolist()) & set(begun[:, 0].tolist())


def by_hand(seed: int, episodes: int, discount: float) -> list[dict[str, Any]]:
    """The line's episodes under `right`, one after the other, with a double loop for the discounted returns."""
    found = []
    for index in range(episodes):
        word = int(np.random.SeedSequence([seed, 1, index]).generate_state(1, np.uint32)[0])
        env = Line()
        observation, _ = env.reset(seed=word)
        rewards, terminated, truncated, actions, states = [], False, False, [], []
        while not (terminated or truncated):
            seen = observation.astype(np.float32)
            action = right(seen[None], np.empty((1, 0), dtype=np.int64))[0]
            states.append(seen)
            actions.append(action)
            observation, reward, terminated, truncated, _ = env.step(action)
            rewards.append(reward)
        known = [
            sum(discount**i * reward for i, reward in enumerate(rewards[place:]))
            for place in range(len(rewards))
            if terminated or discount == 0.0 or len(rewards) - place >= math.log(0.01) / math.log(discount)
        ]
        found.append({"rewards": rewards, "cut": not terminated, "known": known, "states": states, "actions": actions})
    return found


@pytest.mark.parametrize("discount", [0.0, 0.3, 0.999])
def test_played_episodes_equal_a_plain_loop(discount: float) -> None:
    episodes = by_hand(2, 12, discount)
    played = BoxTask("test/Line-v0", {}, 1, 0).play(right, 12, 2, discount)
    cut = [episode["cut"] for episode in episodes]
    assert 0 < sum(cut) < 12
    np.testing.assert_array_equal(played.metrics["cut"], cut)
    np.testing.assert_array_equal(played.metrics["length"], [len(episode["rewards"]) for episode in episodes])
    # sums of at most 6 numbers up to 3 in another order
    tolerance = {"rtol": 0, "atol": 18 * 6 * 2.0**-52}
    np.testing.assert_allclose(played.returns, [sum(episode["rewards"]) for episode in episodes], **tolerance)
    np.testing.assert_allclose(played.discounted, np.concatenate([e["known"] for e in episodes]), **tolerance)
    for name, values in (("states", played.dense), ("actions", played.action)):
        kept = [row for episode in episodes for row in episode[name][: len(episode["known"])]]
        np.testing.assert_array_equal(values, kept)
    lost = [episode for episode in episodes if len(episode["known"]) < len(episode["rewards"])]
    assert len(lost) == (0 if discount == 0.0 else sum(cut))


@pytest.mark.parametrize(("discount", "kept"), [(0.0, 40), (0.01, 40), (0.5, 34), (0.9, 0), (1.0, 0)])
def test_decisions_too_near_a_cut_are_left_out(discount: float, kept: int) -> None:
    # 0.5⁷ is the first power of a half below 1 %, which 0.01 meets at once; 0.9⁴⁰ is still 1.5 %
    played = BoxTask("test/Boundless-v0", {}, 1, 0).play(idle(1), 3, 0, discount)
    assert len(played.discounted) == 3 * kept
    assert played.dense.shape == (3 * kept, 2)
    assert played.action.shape == (3 * kept, 1)
    np.testing.assert_array_equal(played.returns, [820.0] * 3)
    np.testing.assert_array_equal(played.metrics["cut"], [1.0] * 3)


def test_an_episode_that_nothing_ends_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyresac.tasks.gymnasium_task.LONGEST", 25)
    played = BoxTask("test/Boundless-v0", {}, 1, 0).play(idle(1), 2, 0, 0.5)
    np.testing.assert_array_equal(played.metrics["length"], [25.0, 25.0])
    np.testing.assert_array_equal(played.metrics["cut"], [1.0, 1.0])


@pytest.mark.parametrize("where", ["observation", "reward"])
def test_numbers_that_are_not_finite_stop_the_run(where: str) -> None:
    task = BoxTask("test/Breaking-v0", {"where": where}, 2, 0)
    message = rf"environment 'test/Breaking-v0' gave an? {where} that is not finite in float32: .*nan.* in copy [01]"
    with pytest.raises(DivergenceError, match=message):
        walk(task, 9, 0)
    with pytest.raises(DivergenceError, match=message):
        task.play(right, 5 * SIDE_BY_SIDE, 0, 0.9)


@pytest.mark.parametrize("reward", [None, "1.0", [1.0], np.ones(1), np.ones(2)])
def test_a_reward_that_is_no_number_is_named(reward: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    task = BoxTask("test/Line-v0", {}, 1, 0)
    for env in (*task._envs, *task._players):
        plain = env.unwrapped.step
        monkeypatch.setattr(
            env.unwrapped, "step", lambda action, plain=plain: (plain(action)[0], reward, False, False, {})
        )
    message = rf"^environment 'test/Line-v0' gave the reward {re.escape(repr(reward))}; it must be a number$"
    for play in (lambda: walk(task, 9, 0), lambda: task.play(right, 1, 0, 0.9)):
        with pytest.raises(TypeError, match=message):
            play()


FLOATS = spaces.Box(-1.0, 1.0, (1,))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_action_without_a_dimension_is_played(dtype: type[Any]) -> None:
    task = BoxTask("test/Line-v0", {"acted": spaces.Box(-1.0, 1.0, (), dtype)}, 2, 0)
    before = task.observe()[0].copy()
    found = task.step(np.array([[0.5], [-0.25]], dtype=np.float32))
    np.testing.assert_allclose(found.next_dense[:, 0] - before[:, 0], [0.5, -0.25], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"acted": spaces.Discrete(3)}, r"has the action space Discrete\(3\); the deep agent needs a Box"),
        ({"acted": spaces.Box(0, 5, (2,), np.int64)}, "needs a Box of floats"),
        (
            {"acted": spaces.Box(np.array([0.0, -np.inf]), np.array([1.0, 1.0]), dtype=np.float64)},
            r"action coordinate 1 lies in \[-inf, 1.0\]; it needs finite bounds, low < high",
        ),
        ({"acted": spaces.Box(1.0, 1.0, (1,))}, r"action coordinate 0 lies in \[1.0, 1.0\]"),
        ({"acted": spaces.Box(-1.0, 1.0, (0,))}, "has the action space .*, which holds no number"),
        (
            {"acted": spaces.Box(-1e300, 1e300, (1,), np.float64)},
            r"action coordinate 0 lies in \[-1e\+300, 1e\+300\]; its bounds must be finite in float32",
        ),
        ({"observed": spaces.Text(4)}, r"observation space Text\(.*\); the deep agent needs a Box, a Discrete"),
        (
            {"observed": spaces.Dict({"a": FLOATS, "b": spaces.Tuple((FLOATS, spaces.Sequence(FLOATS)))})},
            r"observation space\['b'\]\[1\] Sequence\(.*\); the deep agent needs a Box, a Discrete",
        ),
        ({"observed": spaces.Box(0.0, 1.0, (0,))}, "which holds no number"),
        ({"observed": spaces.Discrete(2**25)}, "has 33,554,432 categories; at most 16,777,216 can be kept"),
        ({"observed": spaces.Box(0.0, 1.0, (3,))}, "observed 2 numbers where its space has 3"),
        ({"nonsense": 1}, "cannot make environment 'test/Line-v0': .*nonsense"),
    ],
)
def test_environments_that_do_not_fit_are_refused(keywords: Mapping[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        BoxTask("test/Line-v0", keywords, 1, 0)
    assert "test/Line-v0" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Nowhere-v0", "cannot make environment 'Nowhere-v0': Environment `Nowhere` doesn't exist"),
        ("nowhere:Nowhere-v0", "cannot make environment 'nowhere:Nowhere-v0': No module named 'nowhere'"),
        ("CartPole-v1", "environment 'CartPole-v1' has the action space Discrete(2); the deep agent needs a Box"),
    ],
)
def test_ids_that_do_not_fit_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        BoxTask(name, {}, 1, 0)


@pytest.mark.parametrize("installed", [False, pytest.param(True, marks=needs_mujoco)])
@pytest.mark.parametrize("name", ["Hopper-v5", "Pendulum-v1", "test/Line-v0", "Nowhere-v0"])
def test_warnings_are_turned_into_pythons_for_tasks_of_mujoco_alone(
    name: str, installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of MuJoCo is imported for another task, and where it is not there the message of the extra comes."""
    turned: list[str] = []

    @contextmanager
    def once_each() -> Iterator[None]:
        turned.append(name)
        yield

    monkeypatch.setattr(environments, "once_each", once_each)
    find = importlib.util.find_spec
    if not installed:
        monkeypatch.setattr(importlib.util, "find_spec", lambda word: None if word == "mujoco" else find(word))
    with suppress(InputError):
        environments.make_environment(name, {})
    assert turned == (["Hopper-v5"] if installed and name == "Hopper-v5" else [])


def test_a_task_is_named_with_its_copies() -> None:
    assert [BoxTask("test/Line-v0", {}, copies, 0).title for copies in (1, 2)] == [
        *("test/Line-v0", "test/Line-v0, 2 copies side by side")
    ]


def test_an_environment_that_cannot_be_saved_is_refused() -> None:
    with pytest.raises(InputError, match=r"cannot be saved and resumed: a restored copy departs after 1 steps"):
        BoxTask("test/Forgetful-v0", {}, 1, 0)


def test_a_missing_extra_says_how_to_get_it() -> None:
    # None in sys.modules is how Python is told that a module is not there
    program = "import sys; sys.modules['mujoco'] = None; from pyresac.train import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "--env", "Hopper-v5", "--steps", "8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2, done.stderr
    assert "cannot make environment 'Hopper-v5'" in done.stderr
    assert "pip install 'pyresac[mujoco]'" in done.stderr
    assert "Traceback" not in done.stderr


VALUES: list[Any] = [
    *(None, True, -3, 2**80, 0.1, -0.0, "x", math.inf, -math.inf, (1, (2.5, "y")), [1, [None]], ()),
    *(np.float32(0.1), np.int64(-5), np.bool_(True), np.float64("nan")),
    *(np.arange(6, dtype=np.int16).reshape(2, 3), np.array([math.nan, -0.0]), np.empty((0, 3)), np.array(2.5)),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(4, dtype=">f8"),
    *({"a": 1.5, "b": {"c": [np.float32(1.0)]}}, {}, deque([1, (2.5,)], 4), deque()),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back_from_json_as_they_were(value: Any) -> None:
    again = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert type(again) is type(value)
    if isinstance(value, np.ndarray | np.generic):
        assert again.dtype == value.dtype.newbyteorder("=")
        assert again.shape == value.shape
        assert again.tobytes() == value.astype(again.dtype).tobytes()
    else:
        assert repr(again) == repr(value)


LEFT_OUT = {
    "dict": {1: 2},
    "object": object(),
    "nested": [1, {"a": {2: 3}}],
    "deque": deque([object()]),
    "objects": np.array([object()]),
    "texts": np.array(["a"]),
}
LEFT_OUT |= {"complex": 1j, "set": {1}}


@pytest.mark.parametrize("value", LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_other_values_are_left_out(value: Any) -> None:
    assert encode(value) is MISSING


@pytest.mark.parametrize(
    "value",
    [
        {"set": [1]},
        {"dict": [1]},
        {"deque": {"list": [1]}},
        {"deque": 3},
        {"float": "x"},
        {},
        {"array": {"dtype": "|O", "shape": [1], "bytes": ""}},
        {"array": {"dtype": "<f8", "shape": [2], "bytes": "AAAAAAAAAAA="}},
        {"array": {"dtype": "<f8", "shape": [1], "bytes": "*"}},
        {"scalar": {"dtype": "<f8"}},
    ],
    ids=str,
)
def test_unusable_json_is_refused(value: Any) -> None:
    with pytest.raises(CheckpointError, match="a saved value is"):
        decode(value)
