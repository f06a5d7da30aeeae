"""Models of toy-text environments: ends of episodes as absorbing states, and the done-masked reading apart."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, RevOperator


class Loop(gymnasium.Env):
    """Two states; action 0 stays, action 1 ends the episode *in state 0*, which is also where episodes begin."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)
    initial_state_distrib = np.array([1.0, 0.0])
    P = {  # noqa: RUF012
        0: {0: [(0.5, 0, 1.0, False), (0.5, 0, 1.0, False)], 1: [(1.0, 0, 5.0, True)]},
        1: {0: [(1.0, 1, 0.0, False)], 1: [(1.0, 0, 0.0, False)]},
    }


def test_an_end_that_is_an_ordinary_state_becomes_one_more_state() -> None:
    mdp = FiniteMDP.from_gymnasium(Loop(), 0.5)
    assert mdp.n_states == 3
    assert mdp.dense()[0, 0].tolist() == [1.0, 0.0, 0.0], "duplicate successors are added"
    assert mdp.dense()[0, 1].tolist() == [0.0, 0.0, 1.0]
    assert mdp.dense()[2].tolist() == [[0.0, 0.0, 1.0]] * 2
    assert mdp.reward.tolist() == [[1.0, 5.0], [0.0, 0.0], [0.0, 0.0]]
    assert mdp.initial is not None
    assert mdp.initial.tolist() == [1.0, 0.0, 0.0]


def test_where_nothing_is_said_episodes_begin_anywhere() -> None:
    env = Loop()
    env.initial_state_distrib = None
    initial = FiniteMDP.from_gymnasium(env, 0.5).initial
    assert initial is not None
    assert initial.tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("name", ["FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "Taxi-v4"])
def test_terminals_become_absorbing_with_reward_zero(name: str) -> None:
    env = gymnasium.make(name)
    mdp = FiniteMDP.from_gymnasium(env, 0.99)
    table = env.unwrapped.P  # type: ignore[attr-defined]
    ends = {t for by in table.values() for rows in by.values() for _, t, _, done in rows if done}
    assert mdp.n_states == len(table)
    for s in ends:
        np.testing.assert_array_equal(mdp.dense()[s], np.eye(mdp.n_states)[[s] * mdp.n_actions])
        assert not mdp.reward[s].any()
    for s in set(table) - ends:
        for a, rows in table[s].items():
            expected = np.bincount([t for _, t, _, _ in rows], [p for p, _, _, _ in rows], minlength=mdp.n_states)
            np.testing.assert_allclose(mdp.dense()[s, a], expected, atol=1e-15)
            assert mdp.reward[s, a] == pytest.approx(sum(p * r for p, _, r, _ in rows), abs=1e-15)


def test_the_model_predicts_what_the_environment_does() -> None:
    env = gymnasium.make("FrozenLake-v1")
    mdp = FiniteMDP.from_gymnasium(env, 0.99)
    counts = np.zeros((16, 4, 16))
    env.action_space.seed(0)
    state, _ = env.reset(seed=0)
    for _ in range(20_000):
        action = int(env.action_space.sample())
        nxt, _, terminated, truncated, _ = env.step(action)
        counts[state, action, nxt] += 1
        state = env.reset()[0] if terminated or truncated else nxt
    seen = counts.sum(axis=2)
    frequent = seen > 300
    observed = counts[frequent] / seen[frequent][:, None]
    # Hoeffding at 300 samples and 1e-9 for each of at most 1024 entries.
    assert np.abs(observed - mdp.dense()[frequent]).max() <= np.sqrt(np.log(2 * 1024 / 1e-9) / (2 * 300))


def test_the_done_masked_reading_spares_the_last_step_its_penalty() -> None:
    """Claim C22 d, in the environment's own words: κ taxes going on, not ending."""
    full = RevOperator(FiniteMDP.from_gymnasium(Loop(), 0.5), kappa=8.0)
    masked = RevOperator(FiniteMDP.from_gymnasium(Loop(), 0.5, done_masked=True), kappa=8.0)
    zero = np.zeros((3, 2))
    assert full(zero)[0].tolist() == [1.0 - 4.0, 5.0 - 4.0]
    assert masked(zero)[0].tolist() == [1.0 - 4.0, 5.0]
    assert masked(zero)[2].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("CartPole-v1", "observation space Box"),
        ("Blackjack-v1", "observation space Tuple"),
        ("NoSuchThing-v0", "cannot be made"),
    ],
)
def test_environments_without_a_finite_model_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FiniteMDP.from_gymnasium(name, 0.9)


class Odd(Loop):
    """Like `Loop`, but for what a test takes from it."""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"P": None}, "Odd has no transition table `P`; toy-text environments such as FrozenLake-v1 have one"),
        (
            {"action_space": gymnasium.spaces.Box(0.0, 1.0)},
            r"Odd has the action space Box\(.*\); a finite MDP needs Discrete spaces",
        ),
        (
            {"observation_space": gymnasium.spaces.MultiDiscrete([2, 2])},
            r"Odd has the observation space MultiDiscrete\(.*\); a finite MDP needs Discrete spaces",
        ),
        ({"P": {0: {0: [(1.0, 0, 0.0, False)], 1: [(1.0, 2, 0.0, False)]}}}, "names a successor outside 0…1"),
        ({"P": {0: {2: [(1.0, 0, 0.0, False)]}}}, "names a action outside 0…1"),
        ({"P": {2: {0: [(1.0, 0, 0.0, False)]}}}, "names a state outside 0…1"),
        ({"P": {0: {0: [(1.0, -1, 0.0, False)]}}}, "names a successor outside 0…1"),
        ({"P": {0: {0: [(1.0, 0.5, 0.0, False)]}}}, "names a successor outside 0…1"),
    ],
)
def test_environments_of_ones_own_that_are_none(change: dict[str, object], message: str) -> None:
    env = Odd()
    for name, value in change.items():
        setattr(env, name, value)
    with pytest.raises(InputError, match=message):
        FiniteMDP.from_gymnasium(env, 0.9)


def test_starts_are_weights() -> None:
    """A start distribution need not sum to 1."""
    env = Odd()
    env.initial_state_distrib = np.array([3.0, 1.0])
    initial = FiniteMDP.from_gymnasium(env, 0.5).initial
    assert initial is not None
    assert initial.tolist() == [0.75, 0.25, 0.0]


def test_options_for_an_environment_already_made_are_refused() -> None:
    with pytest.raises(InputError, match="already made"):
        FiniteMDP.from_gymnasium(Loop(), 0.9, is_slippery=False)


class Way(gymnasium.Env):
    """Four states in a row. The third one is entered by going on, after two steps, and by an end in the second; the
    last one, which is never reached, goes on into itself."""

    observation_space = gymnasium.spaces.Discrete(4)
    action_space = gymnasium.spaces.Discrete(2)
    initial_state_distrib = np.array([1.0, 0.0, 0.0, 0.0])
    P = {  # noqa: RUF012
        0: {0: [(0.75, 1, 1.0, False), (0.25, 0, 2.0, False)], 1: [(1.0, 0, 0.0, False)]},
        1: {0: [(1.0, 2, 3.0, False)], 1: [(0.25, 2, 4.0, True), (0.75, 0, 8.0, False)]},
        2: {0: [(1.0, 2, 5.0, False)], 1: [(1.0, 2, 6.0, False)]},
        3: {0: [(0.1, 3, 1.0, False)] * 10, 1: [(1.0, 3, 7.0, False)]},
    }


def test_an_end_that_is_reached_by_going_on_after_two_steps_is_an_ordinary_state() -> None:
    mdp = FiniteMDP.from_gymnasium(Way(), 0.5, done_masked=True)
    assert mdp.n_states == 5
    expected = np.eye(5)[[0, 0, 2, 3, 4]]
    expected[1] = [0.75, 0, 0, 0, 0.25]
    np.testing.assert_array_equal(mdp.dense()[:, 1], expected)
    np.testing.assert_allclose(mdp.reward, [[1.25, 0], [3, 7], [5, 6], [1, 7], [0, 0]], rtol=1e-15)
    assert mdp.continuation is not None
    assert mdp.continuation.tolist() == [[1, 1], [1, 0.75], [1, 1], [1, 1], [0, 0]]
    assert mdp.terminal is not None
    assert mdp.terminal.tolist() == [False, False, False, False, True]


def test_an_end_that_only_a_state_never_reached_goes_on_into_is_absorbing_itself() -> None:
    env = Way()
    env.P = Way.P | {
        1: {0: [(1.0, 2, 3.0, True)], 1: [(1.0, 0, 0.0, False)]},
        3: {a: [(1.0, 2, 1.0, False)] for a in (0, 1)},
    }
    mdp = FiniteMDP.from_gymnasium(env, 0.5, done_masked=True)
    assert mdp.n_states == 4
    assert mdp.dense()[2].tolist() == [[0, 0, 1, 0]] * 2
    assert mdp.reward.tolist() == [[1.25, 0], [3, 0], [0, 0], [1, 1]]
    assert mdp.terminal is not None
    assert mdp.terminal.tolist() == [False, False, True, False]


def test_rows_are_divided_by_their_sums() -> None:
    """Ten tenths do not sum to 1 in float64."""
    row = FiniteMDP.from_gymnasium(Way(), 0.5).dense()[3, 0]
    assert sum([0.1] * 10) < 1.0
    assert row.tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]
