"""The numbers of a row of metrics.csv, beside a recount of what the environment gave; which seeds are drawn from."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from pyresac.errors import CheckpointError, DivergenceError, InputError
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.tabular_learner import LearnerOptions, TabularLearner
from pyresac.tasks.discrete import EnvOptions, PlayedEpisodes
from pyresac.tasks.snapshots import generator_state
from pyresac.training import deep_trainee, tabular_agent
from pyresac.training.deep_agent import build, make_task, preset_config
from pyresac.training.deep_trainee import DeepTrainee, device_named
from pyresac.training.run_options import RunOptions
from pyresac.training.tabular_agent import TabularConfig, TabularTrainee
from pyresac.training.tabular_report import exact_values


class Steps(gym.Env[int, int]):
    """Begins at a drawn place of eight; earns 1, 2, 3, …; ends truly after 5 steps, or after 2 where action 0 began.

    Whoever steps on after an end is told.
    """

    observation_space, action_space = gym.spaces.Discrete(8), gym.spaces.Discrete(2)

    def __init__(self) -> None:
        self.place = self.steps = 0
        self.limited = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.steps = int(self.np_random.integers(8)), 0
        return self.place, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if self.steps == 0:
            self.limited = action == 0
        if self.steps == (2 if self.limited else 5):
            raise RuntimeError("stepped after its end")
        self.steps += 1
        self.place = (self.place + 1) % 8
        return self.place, float(self.steps), self.steps == 5, self.limited and self.steps == 2, {}


@pytest.fixture
def stepping() -> Iterator[TabularTrainee]:
    gym.register("test/Steps-v0", entry_point=Steps)
    yield TabularTrainee(
        TabularConfig(
            run=RunOptions(seed=6, eval_episodes=4, final_episodes=3),
            problem=EnvOptions("test/Steps-v0", eval_step_limit=77),
            learner=LearnerOptions(discount=0.75, exploration=1.0),
        )
    )
    del gym.registry["test/Steps-v0"]


def words(*entropy: int, count: int) -> list[int]:
    return [int(word) for word in np.random.SeedSequence(entropy).generate_state(count)]


def test_a_tabular_row_is_of_the_steps_since_the_last_one(
    stepping: TabularTrainee, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors, rewards, played = list[float](), list[float](), list[tuple[Any, ...]]()
    update = stepping.learner.update

    def noted(state: int, action: int, reward: float, after: int, terminated: bool) -> float:
        errors.append(update(state, action, reward, after, terminated=terminated))
        # with truth, where the state came from and whether it ended
        assert after == (state + 1) % 8
        assert terminated == (reward == 5.0)
        rewards.append(reward)
        return errors[-1]

    def play(env: Any, policy: Any, *given: Any) -> PlayedEpisodes:
        played.append(given)
        return PlayedEpisodes(np.array([3.0, 5.0, 7.0, 2.0]), np.ones(4), np.array([2.0, 3.0, 4.0, 1.0]), 3)

    monkeypatch.setattr(stepping.learner, "update", noted)
    monkeypatch.setattr(tabular_agent, "play", play)
    ended, episode = 0, 0.0
    for steps in (7, 60, 33):
        errors.clear()
        rewards.clear()
        stepping.advance(2)
        stepping.advance(steps)
        finished = list[float]()
        for place, reward in enumerate(rewards):
            following = rewards[place + 1] if place + 1 < len(rewards) else math.nan
            episode += reward
            over = following == 1.0 or (math.isnan(following) and stepping._episode_return == 0.0)
            if over:
                finished.append(episode)
                episode = 0.0
        ended += len(finished)
        assert stepping._episode_return == episode
        row = stepping.measure()
        assert list(row) == list(stepping.columns)
        assert row["episodes"] == ended
        assert row["train_return"] == pytest.approx(np.mean(finished))
        assert set(finished) <= {3.0, 15.0}
        assert row["td_error"] == pytest.approx(sum(errors) / (steps + 2))
        assert (row["eval_return"], row["eval_length"], row["eval_cut"]) == (4.25, 2.5, 0.75)
        assert played[-1] == (4, words(6, 1, stepping.step, count=1)[0], 0.75, 77)
    assert stepping.step == 106
    assert stepping.result()["measured_cut"] == 3
    assert played[-1] == (3, words(6, 1, 2**32, count=1)[0], 0.75, 77)


def test_a_tabular_run_has_one_seed_for_its_learner_and_one_for_its_environment(stepping: TabularTrainee) -> None:
    of_learner, of_environment = words(6, 0, 0, count=2)
    twin = TabularLearner(8, 2, stepping.config.learner, of_learner)
    np.testing.assert_array_equal(stepping.learner.q, twin.q)
    assert generator_state(stepping.learner.rng) == generator_state(twin.rng)
    source = np.random.default_rng(of_environment)
    assert stepping._state == source.integers(8)
    assert generator_state(stepping._env.unwrapped.np_random) == generator_state(source)


class Ageing(Steps):
    """Earns more in every episode of its life, which it counts from its first reset on."""

    life: int

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        self.life = getattr(self, "life", 0) + 1
        return super().reset(seed=seed, options=options)

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        place, reward, terminated, truncated, info = super().step(action)
        return place, reward + self.life, terminated, truncated, info


def test_earlier_evaluations_leave_no_trace_in_a_tabular_run(monkeypatch: pytest.MonkeyPatch) -> None:
    gym.register("test/Ageing-v0", entry_point=Ageing)
    try:
        trainee = TabularTrainee(TabularConfig(problem=EnvOptions("test/Ageing-v0")))
    finally:
        del gym.registry["test/Ageing-v0"]
    first = trainee._play(4, 7)
    assert len(set(first.returns.tolist())) > 1
    for _ in range(2):
        trainee.advance(9)
        monkeypatch.setattr(trainee.learner, "greedy_policy", lambda: np.ones(8, dtype=np.int64))
        again = trainee._play(4, 7)
        # its second to fifth episode, of five steps each
        assert again.returns.tolist() == [15.0 + 5 * life for life in (2, 3, 4, 5)]


def test_a_row_without_an_episode_has_no_return(stepping: TabularTrainee) -> None:
    stepping.advance(1)
    row = stepping.measure()
    assert row["episodes"] == 0.0
    assert math.isnan(row["train_return"])


def test_tables_of_another_shape_are_of_no_use(stepping: TabularTrainee) -> None:
    arrays = {name: array[..., :1] if array.ndim == 3 else array for name, array in stepping.arrays().items()}
    before = stepping.learner.q.copy()
    with pytest.raises(CheckpointError, match=r"^the checkpoint's "):
        stepping.restore(stepping.state(), arrays)
    np.testing.assert_array_equal(stepping.learner.q, before)


def test_the_tabular_agent_uses_one_thread_and_says_what_it_is(stepping: TabularTrainee) -> None:
    with tabular_agent.threads():
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}
    assert tabular_agent.description(stepping.config) == TabularConfig.__doc__
    assert tabular_agent.unlearned(stepping.config) is None
    assert stepping.config.label == "tabular-test-Steps-v0-seed6"
    heads = stepping.config.learner.ensemble_size
    assert stepping.title == f"tabular RE-SAC, {heads} heads, on test/Steps-v0 (8 states, 2 actions)"


def test_exact_values_are_those_of_the_start_distribution() -> None:
    """Two states, the second of which the environment does not have; by hand with a discount of ½."""
    # action 0 earns 1 and stays, action 1 earns 3 and ends; in the last state nothing is earned for ever
    transition = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    mdp = FiniteMDP(transition, np.array([[1.0, 3.0], [0.0, 0.0]]), 0.5, initial=np.array([1.0, 0.0]))
    for action, own in ((0, 2.0), (1, 3.0)):
        found = exact_values(mdp, np.array([action]), np.array([[-1.0, 2.5]]))
        assert found["optimum"] == pytest.approx(3.0, abs=1e-6)
        assert found["policy_value"] == pytest.approx(own, abs=1e-6)
        assert found["estimate"] == 2.5
        assert max(found["optimum_error"], found["policy_value_error"]) < 1e-6


# --- the deep agent


def deep(algorithm: str = "sac", **given: Any) -> DeepTrainee:
    """Small networks on Pendulum; no task steps are made yet."""
    config = preset_config(None, algorithm, "Pendulum-v1")
    small = {"hidden": (5, 4), "actor_hidden": (4,), "buffer_size": 300, "batch_size": 4, "random_steps": 0, **given}
    options = dataclasses.replace(config.options, **small)
    run = dataclasses.replace(config.run, eval_episodes=2, final_episodes=3)
    return build(dataclasses.replace(config, options=options, run=run))


def test_episodes_and_returns_of_training_are_those_since_the_last_row(monkeypatch: pytest.MonkeyPatch) -> None:
    trainee, told = deep(learning_starts=2), list[tuple[float, int]]()
    monkeypatch.setattr(trainee.learner, "evaluated", lambda value, step: told.append((value, step)))
    assert trainee.columns[:3] == ("episodes", "train_return", "eval_return")
    for finished, episodes, mean in (([], 0, math.nan), ([1.0, 4.0], 2, 2.5), ([], 2, math.nan), ([7.0], 3, 7.0)):
        trainee.advance(20)
        monkeypatch.setattr(trainee.task, "finished", lambda finished=finished: finished)
        assert math.isfinite(trainee.learner.statistics.means()["critic_loss"])
        row = trainee.measure()
        assert list(row) == list(trainee.columns)
        assert (row["episodes"], row["updates"]) == (episodes, trainee.step - 2)
        np.testing.assert_equal(row["train_return"], mean)
        assert math.isfinite(row["critic_loss"])
        assert all(map(math.isnan, trainee.learner.statistics.means().values())), "the next row begins anew"
        assert told.pop() == (row["eval_return"], trainee.step)
        assert not told


@pytest.mark.parametrize(("every", "updates", "counts"), [(1, 1, [0, 0, 1, 2, 3]), (1, 2, [0, 0, 2, 4, 6])])
def test_no_update_is_made_before_its_time(every: int, updates: int, counts: list[int]) -> None:
    """After the steps that learning begins with, and the algorithm hears of each step before the updates after it."""
    trainee, found, heard = deep(learning_starts=2, update_every=every, updates=updates), list[int](), list[Any]()
    trainee.algorithm.moved = lambda step: heard.append((step, trainee.learner.updates))  # type: ignore[method-assign]
    for _ in counts:
        trainee.advance(1)
        found.append(trainee.learner.updates)
    assert found == counts
    assert heard == list(zip(range(1, 6), [0, *counts], strict=False))


def test_the_title_says_what_the_buffer_takes() -> None:
    """An action, two states of three numbers, a reward and an end: nine numbers of four bytes."""
    assert deep(buffer_size=10_000_000, batch_size=4).title == (
        "SAC, 2 critics 5×4, on Pendulum-v1; replay of 10,000,000 transitions, 343 MiB"
    )


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_a_deviation_is_of_two_critics_or_more(heads: int) -> None:
    """Of one it is 0."""
    trainee = deep("sac-n", ensemble_size=heads, discount=0.5, reward_scale=0.5)
    trainee.learner.critic.matrix += 0.3 * torch.randn(trainee.learner.critic.matrix.shape)
    played = trainee.play(1, 0)
    value, deviation, earned = trainee.predictions(played)
    assert len(value) == len(deviation) == len(earned) == len(played.discounted) > 100
    state = trainee.features(played.dense, played.codes)
    each = 2.0 * trainee.learner.values(state, torch.from_numpy(played.action)).double().numpy()
    assert each.shape == (heads, len(value))
    middle = sum(each) / heads
    squares = sum((head - middle) ** 2 for head in each)
    np.testing.assert_allclose(value, middle, rtol=1e-12)
    np.testing.assert_allclose(deviation, np.sqrt(squares / max(heads - 1, 1)), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(earned, played.discounted)


def test_nothing_is_compared_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    trainee = deep(discount=0.5)
    played = trainee.play(1, 0)
    assert [len(part) for part in trainee.predictions(played.without_decisions())] == [0, 0, 0]
    monkeypatch.setattr(deep_trainee, "COMPARED", 5)
    count = len(played.discounted)
    chosen = [int(share * (count - 1) / 4) for share in range(5)]
    np.testing.assert_array_equal(trainee.predictions(played)[2], played.discounted[chosen])
    monkeypatch.setattr(type(trainee.algorithm), "values_have_a_unit", False)
    assert [len(part) for part in trainee.predictions(played)] == [0, 0, 0]


def test_the_policy_whose_actions_are_not_finite_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    trainee = deep()
    monkeypatch.setattr(
        trainee.learner, "exploit", lambda state, actor: np.full((len(state.dense), 1), np.nan, dtype=np.float32)
    )
    for actor, name in ((None, "averaged policy"), (trainee.learner.actor, "policy")):
        with pytest.raises(DivergenceError, match=rf"^actions of the {name} are not finite at update 0$"):
            trainee.play(1, 0, actor)


def test_another_task_is_played_where_it_is_given() -> None:
    trainee = deep()
    config = preset_config(None, "sac", "Pendulum-v1").problem
    light = make_task(dataclasses.replace(config, env_options='{"g": 0.0}'), 0)
    own, other, again = (trainee.play(1, 0, task=task).returns for task in (None, light, trainee.task))
    assert own == again
    assert own != other


def test_a_device_that_cannot_hold_a_number_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*given: Any, **more: Any) -> Any:
        raise RuntimeError("no chip\nand much more")

    assert device_named("cpu") == torch.device("cpu")
    for call in ("empty", "Generator"):
        with monkeypatch.context() as patch:
            patch.setattr(torch, call, refused)
            with pytest.raises(InputError, match=r"^device = 'cpu' cannot be used: no chip$"):
                device_named("cpu")


def test_a_run_is_named_after_what_it_is() -> None:
    labels = [preset_config(*of).label for of in ((None, None, None), ("quick", "sac", "a:b/Hopper-v5"))]
    assert labels == ["resac-corridor-seed0", "sac-quick-a-b-Hopper-v5-seed0"]
    assert preset_config(None, "td3", "Pendulum-v1").problem.num_envs == 1
