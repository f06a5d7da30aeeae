"""Schedules, changing physics and noise: what they draw, what they refuse, and that they resume exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tasks.gymnasium_task import BoxTask
from pyresac.tasks.noisy import NoiseOf, Noisy, parse_noise
from pyresac.tasks.physics import ARRAYS, ChangingPhysics
from pyresac.tasks.schedules import FORMS, ScheduledFactor, parse_schedule
from pyresac.tasks.variation import Variation
from pyresac.train import main

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
        ("1000000", "constant", (1e6,), None, None),
        ("uniform 1e-300 1e6 every 1 tasks 1", "uniform", (1e-300, 1e6), 1, 1),
        ("list 1 every 1000000", "list", (1.0,), 1_000_000, None),
        ("uniform 1 2 every 2 tasks 1000000", "uniform", (1.0, 2.0), 2, 1_000_000),
    ],
)
def test_schedules_read_as_documented(
    text: str, kind: str, values: tuple[float, ...], every: int | None, tasks: int | None
) -> None:
    schedule = parse_schedule(text, "gravity")
    assert (schedule.kind, schedule.values, schedule.every, schedule.tasks) == (kind, values, every, tasks)


OUTSIDE = "{} must be above 0 and at most 1,000,000"
AFTER = "after {!r} stands a whole number from 1 to 1,000,000"
CONSTANT = "a constant is one number alone"
LIST = "a list holds at least one number, and all of them are its tasks"
EITHER = "it changes per episode and every so many steps"
RANGE = "a range is two numbers, the lower one first"


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (("", " "), "it is empty"),
        (("x", "uniform 1 x", "list 1 x"), "'x' is no number"),
        *(((word, f"list 1 {word}"), OUTSIDE.format(word)) for word in ("0", "-1", "nan", "inf", "1e7", "1000001")),
        (("log-uniform 0 1",), OUTSIDE.format("0")),
        (("1 2", "2 per-episode", "2 every 5", "2 tasks 3", "per-episode", "every 5", "tasks 3"), CONSTANT),
        (("list", "list every 5", "list per-episode", "list 1 tasks 2"), LIST),
        (("uniform 1", "uniform 2 1", "uniform 1 1", "uniform 1 2 3", "log-uniform 2 1", "log-uniform"), RANGE),
        *(
            ((f"uniform 1 2 {key}", *(f"uniform 1 2 {key} {word}" for word in ("0", "x", "1.5", "-1", "1000001"))), why)
            for key, why in ((key, AFTER.format(key)) for key in ("every", "tasks"))
        ),
        (("uniform 1 2 every 5 per-episode", "list 1 2 every 5 per-episode"), EITHER),
        (("uniform 1 2 per-episode every 5",), EITHER),
    ],
)
def test_other_words_are_refused_with_the_reason(texts: tuple[str, ...], why: str) -> None:
    for text in texts:
        with pytest.raises(InputError) as caught:
            parse_schedule(text, "gravity")
        assert str(caught.value) == f"gravity = {text!r}: {why}; it must be {FORMS}"


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


def test_steps_are_counted_anew_from_where_the_draws_begin() -> None:
    """However many were made before: a change comes after all of them, and an episode without a step was none."""
    for before in range(4):
        found = factor("uniform 1 2 every 3")
        per_episode = factor("uniform 1 2 per-episode")
        for _ in range(before):
            found.step()
            per_episode.step()
        found.begin_anew(np.random.SeedSequence(1))
        assert [found.step() for _ in range(7)] == [False, False, True, False, False, True, False]
        per_episode.begin_anew(np.random.SeedSequence(1))
        begun = per_episode.value
        assert not per_episode.episode_begins()
        assert per_episode.value == begun


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


def test_what_mujoco_derives_from_a_parameter_changes_with_it() -> None:
    """Without armature: twice the masses and inertias give twice each joint's inertia, and half of what a force does to
    a body. One of the two alone changes what it enters."""

    def model(**factors: str) -> Any:
        env = gym.make("Hopper-v5")
        env.unwrapped.model.dof_armature[:] = 0.0
        parsed = {name: parse_schedule(text, name) for name, text in factors.items()}
        return ChangingPhysics(env, parsed, 0).unwrapped.model

    nominal, both, heavier = model(mass="1", inertia="1"), model(mass="2", inertia="2"), model(mass="2")
    np.testing.assert_allclose(both.dof_M0, 2.0 * nominal.dof_M0, rtol=1e-12)
    np.testing.assert_allclose(2.0 * both.body_invweight0, nominal.body_invweight0, rtol=1e-9)
    np.testing.assert_array_equal(heavier.body_subtreemass, 2.0 * nominal.body_subtreemass)
    assert (model(inertia="2").dof_M0 > nominal.dof_M0).any()


def test_coming_back_to_one_is_exact() -> None:
    env = changing(mass="list 2 1", inertia="list 0.5 1", gravity="list 3 1")
    nominal = gym.make("Hopper-v5")
    for seed in range(20):
        play(env, 5, seed)
        play(nominal, 5, seed)
        if set(env.factors.values()) != {1.0}:
            break
    for _ in range(2):
        found, expected = play(env, 60, None), play(nominal, 60, None)
        assert (found == expected) == (set(env.factors.values()) == {1.0})
    # each parameter is back at 1 by itself
    changed = changing(mass="2", inertia="0.5", gravity="3")
    before = changed.state_dict()
    changed.load_state_dict({name: {**state, "value": 1.0} for name, state in before.items()})
    assert play_on(changed) == play_on(gym.make("Hopper-v5"))


def play_on(env: gym.Env) -> list[float]:
    """A few steps after a reset of the innermost environment alone."""
    env.unwrapped.reset(seed=11)
    return [float(np.sum(env.unwrapped.step(np.full(3, 0.3))[0])) for _ in range(40)]


def test_a_parameter_that_is_zero_everywhere_is_refused() -> None:
    env = gym.make("Hopper-v5")
    env.unwrapped.model.dof_damping[:] = 0.0
    with pytest.raises(InputError, match="damping cannot be changed in Hopper-v5: it is 0 everywhere"):
        ChangingPhysics(env, {"damping": parse_schedule("2", "damping")}, 0)


def test_other_environments_and_names_are_refused() -> None:
    with pytest.raises(InputError, match="Pendulum-v1 is a task of neither MuJoCo nor Brax"):
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


def test_noise_where_there_is_no_place_for_it_is_refused() -> None:
    noise = parse_noise("shift 1", "noise")
    with pytest.raises(InputError, match=r"^noise has no place 'sky'; it has observation, reward, action$"):
        Noisy(gym.make("Pendulum-v1"), {"reward": noise, "sky": noise}, 0)
    whole = gym.wrappers.TransformObservation(
        gym.make("Pendulum-v1"), lambda seen: seen.astype(np.int64), gym.spaces.Box(-9, 9, (3,), np.int64)
    )
    for env, place in ((gym.make("FrozenLake-v1"), "observation"), (gym.make("CartPole-v1"), "action")):
        space = {"observation": env.observation_space, "action": env.action_space}[place]
        with pytest.raises(InputError) as caught:
            Noisy(env, {place: noise}, 0)
        assert str(caught.value) == f"noise on the {place} needs a Box of floats; the {place} space is {space}"
    with pytest.raises(InputError, match=r"^noise on the observation needs a Box of floats; .*int64"):
        Noisy(whole, {"observation": noise}, 0)
    assert set(Noisy(whole, {"action": noise, "reward": noise}, 0)._noise) == {"action", "reward"}


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


def test_a_seeded_reset_draws_from_that_seed_alone() -> None:
    """Whatever was played before, and for noise as for physics; tasks stay those of the wrapper's own seed."""
    env, other = changing(gravity="uniform 0.5 2 per-episode"), changing(5, gravity="uniform 0.5 2 per-episode")
    play(env, 30)
    assert play(env, 30, seed=4) == play(other, 30, seed=4)
    assert env.factors == other.factors
    assert play(noisy(1, reward="gaussian 1"), 9, seed=4) == play(noisy(2, reward="gaussian 1"), 9, seed=4)

    def tasks(seed: int) -> set[float]:
        env = changing(seed, gravity="uniform 0.5 2 per-episode tasks 3")
        found = set()
        for start in range(12):
            env.reset(seed=start)
            found.add(env.factors["gravity"])
        return found

    assert len(tasks(0)) == 3
    assert tasks(0) == tasks(0)
    assert not tasks(0) & tasks(1)


def gravity_of(env: gym.Env) -> float:
    return float(env.unwrapped.model.opt.gravity[2]) / -9.81


def factors_played(task: BoxTask, episodes: int) -> list[float]:
    """Gravity of each evaluation episode, in the order of the episodes."""
    found = []

    def policy(dense: np.ndarray, codes: np.ndarray) -> np.ndarray:
        if not found:
            found.extend(gravity_of(env) for env in task._players[:episodes])
        return np.zeros((len(dense), 3), dtype=np.float32)

    task.play(policy, episodes, 0, 0.9)
    return found


@pytest.mark.parametrize(("test_tasks", "shared"), [("held-out", 0), ("training", 4), ("nominal", 0)])
def test_evaluation_has_the_tasks_that_it_is_told(test_tasks: str, shared: int) -> None:
    variation = Variation(gravity="log-uniform 0.3 3 per-episode tasks 4", test_tasks=test_tasks)
    task = BoxTask("Hopper-v5", {}, 1, 0, variation)
    seen = set()
    for seed in range(30):
        task._envs[0].reset(seed=seed)
        seen.add(gravity_of(task._envs[0]))
    assert len(seen) == 4
    played = factors_played(task, 24)
    assert len(set(played)) == (1 if test_tasks == "nominal" else 4)
    assert len(set(played) & seen) == shared
    if test_tasks == "nominal":
        assert set(played) == {1.0}
    # the same episodes whatever was played before
    assert factors_played(task, 24) == played
    # another run has the same tasks
    again = factors_played(BoxTask("Hopper-v5", {}, 1, 7, variation), 24)
    assert set(again) == set(played)


@pytest.mark.parametrize(
    ("noise_in", "training", "evaluation"), [("training", 1, 0), ("evaluation", 0, 1), ("both", 1, 1)]
)
def test_noise_is_where_it_is_told(noise_in: str, training: int, evaluation: int) -> None:
    noisy_task = BoxTask("Hopper-v5", {}, 1, 0, Variation(observation_noise="gaussian 0.3", noise_in=noise_in))
    clean_task = BoxTask("Hopper-v5", {}, 1, 0)
    assert bool(np.any(noisy_task.observe()[0] != clean_task.observe()[0])) == bool(training)
    idle = lambda dense, codes: np.zeros((len(dense), 3), dtype=np.float32)  # noqa: E731
    seen = [task.play(idle, 2, 0, 0.9).dense for task in (noisy_task, clean_task)]
    assert bool(np.any(seen[0] != seen[1])) == bool(evaluation)


def test_a_varied_task_resumes_exactly() -> None:
    variation = Variation(
        gravity="log-uniform 0.3 3 every 7", mass="uniform 0.8 1.2 per-episode", action_noise="uniform 0.1",
        observation_noise="gaussian 0.05", reward_noise="shift 2", noise_in="training",
    )  # fmt: skip
    task, twin = (BoxTask("Hopper-v5", {}, 2, seed, variation) for seed in (0, 9))
    generator = np.random.default_rng(0)
    units = generator.uniform(-1, 1, (90, 2, 3)).astype(np.float32)
    for unit in units[:40]:
        task.step(unit)
    twin.load(json.loads(json.dumps(task.state())), task.arrays())
    for unit in units[40:]:
        one, other = task.step(unit), twin.step(unit)
        assert one.reward.tobytes() == other.reward.tobytes()
        assert one.next_dense.tobytes() == other.next_dense.tobytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--env", "Hopper-v5", "--gravity", "wild"], "gravity = 'wild': 'wild' is no number"),
        (["--env", "Hopper-v5", "--reward-noise", "gaussian"], "reward_noise = 'gaussian'"),
        (["--env", "Hopper-v5", "--noise-in", "none"], "noise-in"),
        (["--env", "Pendulum-v1", "--gravity", "2"], "Pendulum-v1 is a task of neither MuJoCo nor Brax"),
        (["--gravity", "2"], "gravity is given, but physics and noise go with a Gymnasium id; env is 'corridor'"),
    ],
)
def test_bad_variations_are_refused_before_a_run_folder(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main([*arguments, "--steps", "8", "--run-dir", str(tmp_path / "run")])
    except SystemExit as stopped:
        code = stopped.code
    assert code == 2
    printed = capsys.readouterr()
    assert message in " ".join((printed.out + printed.err).replace("│", " ").split())
    assert not (tmp_path / "run").exists()
