"""Single steps of the tabular learner by hand: uniforms on an edge, what a step returns, what is stored."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tabular import learner_kernels as kernels
from pyresac.tabular.tabular_learner import LearnerOptions, TabularLearner

EVEN = np.zeros((1, 2, 4))
"""One head that finds all four actions as good."""


@pytest.mark.parametrize(
    ("noise", "action"),
    [
        # the first uniform is below the exploration of 1/4: the second says which of four
        ((0.0, 0.0), 0), ((0.2499, 0.2499), 0), ((0.2499, 0.25), 1), ((0.0, 0.5), 2), ((0.0, 0.75), 3), ((0.0, 1.0), 3),
        # it is not: the policy's shares are added up
        ((0.25, 0.0), 0), ((0.25, 0.9999), 3), ((0.25, 1.0), 3), ((0.9, 0.51), 2),
    ],
)  # fmt: skip
def test_a_uniform_on_an_edge_belongs_to_the_next_action(noise: tuple[float, float], action: int) -> None:
    assert kernels.sample_action(EVEN, 1, 0.5, 0.0, 0.25, np.array(noise)) == action


def test_the_share_of_an_action_ends_below_the_next() -> None:
    """π = (1, 0) to the last bit, and the policy is read at the state that is asked for."""
    q = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    for state, action in ((0, 1), (1, 0)):
        for second in (0.0, 0.999):
            assert kernels.sample_action(q, state, 1e-9, 0.0, 0.0, np.array([0.0, second])) == action


@pytest.mark.parametrize("terminated", [False, True])
def test_a_step_by_hand(terminated: bool) -> None:
    """Two heads, two states, one action: π = 1, log π = 0. Γ_epi of the frozen (3, 1) is 2; targets are
    r + ½(Q̂_k − ¼·2 − κ_k); σ of (1, 2) is 1/√2, so that β/(2σ)·(Q_k − Q̄) is ∓ 0.1/√2·…"""
    options = LearnerOptions(
        discount=0.5, ensemble_size=2, bootstrap_probability=0.5, lambda_epi=0.25, lambda_ale=1.0, beta_lcb=0.0,
        beta_ood=0.2, learning_rate=0.5, learning_rate_power=1.0, learning_rate_min=0.125, target_period=100,
    )  # fmt: skip
    learner = TabularLearner(2, 1, options, 0)
    learner.q[...] = np.array([[[9.0], [1.0]], [[9.0], [2.0]]])
    learner.target[...] = np.array([[[3.0], [7.0]], [[1.0], [7.0]]])
    learner.kappa[...] = [0.5, 0.25]
    learner.counts[:, 1, 0] = [1, 9]
    y = [1.0, 1.0] if terminated else [1.0 + 0.5 * (3.0 - 0.5 - 0.5), 1.0 + 0.5 * (1.0 - 0.5 - 0.25)]
    assert learner.targets(1.0, 0, terminated=terminated).tolist() == y
    slope = 0.2 / (2.0 * math.sqrt(0.5))
    moved = [1.0 + 0.25 * (y[0] - 1.0 + slope * 0.5), 2.0 + 0.125 * (y[1] - 2.0 - slope * 0.5)]
    for noise, steps in (((0.0, 0.499), (True, True)), ((0.5, 0.0), (False, True)), ((0.0, 0.5), (True, False))):
        q, counts = learner.q.copy(), learner.counts.copy()
        error = kernels.update(
            q, learner.target, counts, learner.kappa, learner._scalars, learner.temperature, np.array(noise),
            1, 0, 1.0, 0, terminated,
        )  # fmt: skip
        assert error == (abs(y[0] - 1.0) + abs(y[1] - 2.0)) / 2
        wanted = [new if step else old for new, old, step in zip(moved, (1.0, 2.0), steps, strict=True)]
        assert q[:, 1, 0].tolist() == pytest.approx(wanted, rel=1e-15, abs=0.0)
        assert counts[:, 1, 0].tolist() == [1 + steps[0], 9 + steps[1]]
        assert q[:, 0, 0].tolist() == [9.0, 9.0]
        assert not counts[:, 0, 0].any()
    assert learner.update(1, 0, 1.0, 0, terminated=terminated) == (abs(y[0] - 1.0) + abs(y[1] - 2.0)) / 2
    assert learner.step == 1


def test_a_refresh_by_hand() -> None:
    """Two heads, one state, two actions: a quarter of the way, and half the mean size of what is then frozen."""
    q, target = np.array([[[4.0, -4.0]], [[0.0, 8.0]]]), np.array([[[0.0, 4.0]], [[-4.0, 0.0]]])
    kappa = np.full(2, 9.0)
    kernels.refresh(q, target, kappa, 0.25, 0.5)
    assert target.tolist() == [[[1.0, 2.0]], [[-3.0, 2.0]]]
    assert kappa.tolist() == [0.5 * 1.5, 0.5 * 2.5]


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_mean_and_deviation_of_one_pair(heads: int) -> None:
    q = np.random.default_rng(0).normal(size=(heads, 3, 2))
    mean, deviation = kernels.mean_and_deviation(q, 2, 1)
    assert mean == pytest.approx(q[:, 2, 1].mean(), rel=1e-15, abs=0.0)
    assert deviation == (pytest.approx(q[:, 2, 1].std(ddof=1), rel=1e-14, abs=0.0) if heads > 1 else 0.0)


def test_a_learner_begins_as_its_options_say() -> None:
    options = LearnerOptions(ensemble_size=3, initial_value=-2.5, initial_spread=0.0, lambda_ale=0.5)
    learner = TabularLearner(4, 2, options, 7)
    for table in (learner.q, learner.target):
        assert table.shape == (3, 4, 2)
        assert (table == -2.5).all()
    assert not np.shares_memory(learner.q, learner.target)
    assert learner.kappa.tolist() == [1.25] * 3
    assert (learner.counts.dtype, learner.counts.any(), learner.step) == (np.int64, False, 0)
    spread = TabularLearner(50, 40, LearnerOptions(initial_spread=2.0, initial_value=3.0), 0)
    # 10,000 normal numbers: four deviations of their mean and of their deviation
    assert abs(spread.q.mean() - 3.0) < 4 * 2.0 / 100
    assert abs(spread.q.std() - 2.0) < 4 * 2.0 / 141
    assert np.array_equal(spread.q, spread.target)
    expected = 0.0001 * np.abs(spread.q).mean(axis=(1, 2))
    assert spread.kappa.tolist() == pytest.approx(expected.tolist(), rel=1e-14, abs=0.0)
    assert len(set(spread.kappa.tolist())) == 5


def test_bounds_and_policies_are_those_of_the_online_heads() -> None:
    learner = TabularLearner(3, 2, LearnerOptions(ensemble_size=3, beta_lcb=-0.5, temperature=0.5), 0)
    learner.q[...] = np.random.default_rng(0).normal(size=(3, 3, 2))
    for s in range(3):
        bounds = []
        for a in range(2):
            column = learner.q[:, s, a].tolist()
            mean = sum(column) / 3
            deviation = math.sqrt(sum((x - mean) ** 2 for x in column) / 2)
            assert learner.deviation()[s, a] == pytest.approx(deviation, rel=1e-14, abs=0.0)
            bounds.append(mean - 0.5 * deviation)
        assert learner.lower_confidence_bound()[s].tolist() == pytest.approx(bounds, rel=1e-13, abs=0.0)
        assert learner.greedy_policy()[s] == (0 if bounds[0] >= bounds[1] else 1)
        odds = math.exp((bounds[1] - bounds[0]) / 0.5)
        assert learner.policy()[s].tolist() == pytest.approx([1 / (1 + odds), odds / (1 + odds)], rel=1e-12, abs=0.0)
        log_pi = kernels.log_policy(learner.q, s, 0.5, -0.5)
        assert np.exp(log_pi).tolist() == pytest.approx(learner.policy()[s].tolist(), rel=1e-12, abs=0.0)


def test_tables_are_put_back_and_each_is_looked_at() -> None:
    options = LearnerOptions(ensemble_size=2)
    first, second = TabularLearner(3, 2, options, 0), TabularLearner(3, 2, options, 1)
    for _ in range(30):
        first.update(0, 1, 1.0, 2, terminated=False)
    kept = {name: table.copy() for name, table in first.arrays().items()}
    assert list(kept) == ["q", "target", "counts", "kappa"]
    second.load_arrays(kept, first.step)
    assert second.step == 30
    for name, own in second.arrays().items():
        assert own is getattr(second, name)
        np.testing.assert_array_equal(own, kept[name])
        assert not np.shares_memory(own, kept[name])
        for given in (None, kept[name][..., :1], kept[name].astype(np.float32)):
            with pytest.raises(InputError, match=rf"^table '{name}': found .*; expected {own.dtype}\["):
                second.load_arrays({**kept, name: given}, 0)  # type: ignore[dict-item]


@pytest.mark.parametrize(("name", "count"), [("n_states", 0), ("n_actions", 0), ("seed", -1)])
def test_a_learner_has_a_state_an_action_and_a_seed(name: str, count: int) -> None:
    least = {"n_states": 1, "n_actions": 1, "seed": 0}
    TabularLearner(**least, options=LearnerOptions())
    with pytest.raises(InputError, match=f"^{name} is {count}; it must be a whole number of at least {least[name]}$"):
        TabularLearner(**{**least, name: count}, options=LearnerOptions())


@pytest.mark.parametrize("name", ["lambda_epi", "beta_lcb", "beta_ood"])
def test_one_head_has_no_variance_to_weigh(name: str) -> None:
    none = {"lambda_epi": 0.0, "beta_lcb": 0.0, "beta_ood": 0.0}
    LearnerOptions(ensemble_size=1, **none)
    LearnerOptions(ensemble_size=2, **{**none, name: -0.5 if name == "beta_lcb" else 0.5})
    with pytest.raises(InputError, match=rf"^ensemble_size = 1 with {name} = .*take ensemble_size ≥ 2 or {name} = 0$"):
        LearnerOptions(ensemble_size=1, **{**none, name: -0.5 if name == "beta_lcb" else 0.5})


@pytest.mark.parametrize(
    ("indices", "name"), [((2, 0, 0), "state"), ((0, 3, 0), "action"), ((0, 0, 2), "next_state"), ((-1, 0, 0), "state")]
)
def test_an_index_beyond_the_last_is_refused_before_anything_is_drawn(indices: tuple[int, int, int], name: str) -> None:
    learner, other = (TabularLearner(2, 3, LearnerOptions(), 0) for _ in range(2))
    state, action, successor = indices
    with pytest.raises(InputError, match=f"^{name} = "):
        learner.update(state, action, 0.0, successor, terminated=False)
    assert learner.step == 0
    for each in (learner, other):
        each.update(1, 2, 0.0, 1, terminated=False)
    np.testing.assert_array_equal(learner.q, other.q)


def test_an_action_takes_two_uniforms_and_an_update_one_a_head() -> None:
    """In the order of the generator that the seed gives, after the tables."""
    learner, source = TabularLearner(2, 3, LearnerOptions(ensemble_size=4), 5), np.random.Generator(np.random.PCG64(5))
    source.standard_normal((4, 2, 3))
    learner.act(1)
    learner.act(0)
    source.random(4)
    learner.update(0, 1, 0.0, 1, terminated=True)
    masks = source.random(4)
    assert learner.counts[:, 0, 1].tolist() == (masks < 0.8).tolist()
    assert learner.rng.random() == source.random()


def test_a_policy_of_huge_differences_is_a_distribution() -> None:
    learner = TabularLearner(2, 3, LearnerOptions(ensemble_size=2, temperature=1e-3), 0)
    learner.q[...] = np.array([[5.0, 5.0, -9.0], [-7e5, -7e5 + 1.0, -8e5]])
    assert learner.policy().tolist() == [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
