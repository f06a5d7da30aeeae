"""The tabular learner against the paper's equations, written out plainly or through `RevOperator`."""

from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tabular.families import chain, random_dense
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.tabular_learner import LearnerOptions, TabularLearner
from pyresac.tabular.values import UNIT, PolicyEntropy

PLAIN = {"lambda_epi": 0.0, "lambda_ale": 0.0, "beta_lcb": 0.0, "beta_ood": 0.0}


def make(n_states: int = 5, n_actions: int = 3, seed: int = 0, **options: object) -> TabularLearner:
    """A learner whose online and frozen tables differ and are spread over [−1, 1]."""
    learner = TabularLearner(n_states, n_actions, LearnerOptions(**options), seed)  # type: ignore[arg-type]
    draw = np.random.default_rng(seed + 1)
    learner.q[...] = draw.uniform(-1, 1, learner.q.shape)
    learner.target[...] = draw.uniform(-1, 1, learner.q.shape)
    learner.kappa[...] = learner.options.lambda_ale * np.abs(learner.target).mean(axis=(1, 2))
    return learner


def operator_of_head(learner: TabularLearner, mdp: FiniteMDP, head: int) -> RevOperator:
    """The backup that the target of one head samples, all but that head's frozen table held (Eq. target_y)."""
    gamma_epi = np.zeros(mdp.reward.shape)
    gamma_epi[: learner.q.shape[1]] = learner.target.var(axis=0, ddof=1)
    policy = np.full(mdp.reward.shape, 1 / mdp.n_actions)
    policy[: learner.q.shape[1]] = learner.policy()
    return RevOperator(
        mdp,
        epistemic=gamma_epi,
        lambda_epi=learner.options.lambda_epi,
        kappa=float(learner.kappa[head]),
        value=PolicyEntropy(policy, learner.temperature),
        penalty_at="next",
    )


def allowed(mdp: FiniteMDP, learner: TabularLearner) -> float:
    """Rounding of two evaluations: logits of at most 2/α + 1 cost that many units in π, sums one unit a term."""
    logits = 4.0 / learner.temperature
    magnitude = (np.abs(mdp.reward).max() + 4.0 + learner.temperature * logits) / (1 - mdp.discount)
    return 8 * UNIT * (logits + mdp.n_states + mdp.n_actions + 8) * float(magnitude)


def test_target_averages_to_the_rev_operator() -> None:
    mdp = random_dense(5, 3, discount=0.9, seed=3)
    learner = make(discount=0.9, lambda_epi=0.7, lambda_ale=0.3, beta_lcb=-0.6, temperature=0.5)
    kernel = mdp.dense()
    for head in range(learner.options.ensemble_size):
        wanted = operator_of_head(learner, mdp, head)(learner.target[head])
        for s, a in np.ndindex(5, 3):
            ys = [learner.targets(mdp.reward[s, a], t, terminated=False)[head] for t in range(5)]
            assert abs(float(kernel[s, a] @ np.array(ys)) - wanted[s, a]) <= allowed(mdp, learner)


def test_target_with_terminals_is_the_done_masked_reading() -> None:
    env = gym.make("FrozenLake-v1")
    masked = FiniteMDP.from_gymnasium(env, 0.9, done_masked=True)
    learner = make(16, 4, discount=0.9, lambda_epi=0.7, lambda_ale=0.3, temperature=0.5)
    table = env.unwrapped.P  # type: ignore[attr-defined]
    assert masked.terminal is not None
    assert masked.n_states == 16
    operator = operator_of_head(learner, masked, 2)
    # The operator is given the pinned value of terminals; in the learner the mask drops all of the bracket there.
    expected = operator.backup(np.where(masked.terminal, 0.0, operator.value_of(learner.target[2])))
    for s in np.flatnonzero(~masked.terminal):
        for a in range(4):
            got = sum(p * learner.targets(r, t, terminated=d)[2] for p, t, r, d in table[s][a])
            assert abs(got - expected[s, a]) <= allowed(masked, learner)


def test_constant_kappa_is_no_uniform_shift_under_the_mask() -> None:
    # C22(d): a₁ loops, a₂ ends, R = (1, 1), γ = ½, κ = 2 turns (2, 1) into (½, 1) at the fixed point.
    learner = make(1, 2, ensemble_size=2, discount=0.5, temperature=1e-9, **{**PLAIN, "lambda_ale": 1.0})
    learner.q[...] = learner.target[...] = np.array([0.5, 1.0])
    learner.kappa[...] = 2.0
    assert learner.targets(1.0, 0, terminated=False) == pytest.approx(0.5, abs=4 * UNIT + 1e-9)
    assert np.array_equal(learner.targets(1.0, 0, terminated=True), np.ones(2))
    assert learner.greedy_policy()[0] == 1


def test_terminal_target_is_the_reward() -> None:
    learner = make(lambda_ale=5.0)
    assert np.array_equal(learner.targets(1.25, 2, terminated=True), np.full(5, 1.25))


def test_update_is_half_a_gradient_step_of_the_critic_loss() -> None:
    options = {"beta_ood": 0.8, "bootstrap_probability": 1.0, "learning_rate": 0.25, "target_period": 100}
    learner = make(**options)
    before, y = learner.q.copy(), learner.targets(0.3, 4, terminated=False)

    def loss(column: np.ndarray, head: int) -> float:
        return float((column[head] - y[head]) ** 2 + 0.8 * column.std(ddof=1))

    learner.update(1, 2, 0.3, 4, terminated=False)
    h = 1e-5
    for head in range(5):
        up, down = before[:, 1, 2].copy(), before[:, 1, 2].copy()
        up[head] += h
        down[head] -= h
        slope = (loss(up, head) - loss(down, head)) / (2 * h)
        moved = learner.q[head, 1, 2] - before[head, 1, 2]
        # Central differences: h²/6 of a third derivative of at most 10²/σ² (σ > 0.1 here), and rounding over h.
        assert abs(moved + 0.125 * slope) <= h * h / 6 * 1e4 + 16 * UNIT / h
    before[:, 1, 2] = learner.q[:, 1, 2]
    assert np.array_equal(before, learner.q), "an update touches one pair only"


def test_learning_rate_follows_the_count_and_its_floor() -> None:
    options = {"bootstrap_probability": 1.0, "learning_rate": 0.5, "learning_rate_power": 0.5}
    learner = make(1, 1, ensemble_size=1, **PLAIN, **options, learning_rate_min=0.2)
    value = float(learner.q[0, 0, 0])
    for n in range(1, 12):
        learner.update(0, 0, 3.0, 0, terminated=True)
        value += max(0.2, 0.5 * n**-0.5) * (3.0 - value)
        assert learner.q[0, 0, 0] == pytest.approx(value, rel=n * 8 * UNIT, abs=0)


def test_bootstrap_masks_give_each_head_its_own_share() -> None:
    n, p = 4000, 0.3
    learner = make(1, 1, bootstrap_probability=p)
    for _ in range(n):
        learner.update(0, 0, 1.0, 0, terminated=True)
    shares = learner.counts[:, 0, 0]
    # Six standard deviations of a binomial: a false alarm once in 10⁸ runs, and the seed is fixed.
    assert np.abs(shares - n * p).max() <= 6 * math.sqrt(n * p * (1 - p))
    assert len(set(shares.tolist())) > 1, "heads must not share one mask"


def test_frozen_tables_and_kappa_move_only_when_refreshed() -> None:
    learner = make(target_period=3, target_rate=0.25, lambda_ale=0.5)
    target, kappa = learner.target.copy(), learner.kappa.copy()
    for _ in range(2):
        learner.update(0, 0, 1.0, 1, terminated=False)
        assert np.array_equal(learner.target, target)
        assert np.array_equal(learner.kappa, kappa)
    learner.update(0, 0, 1.0, 1, terminated=False)
    assert np.allclose(learner.target, 0.25 * learner.q + 0.75 * target, rtol=0, atol=4 * UNIT)
    wanted = 0.5 * np.abs(learner.target).mean(axis=(1, 2))
    assert np.allclose(learner.kappa, wanted, rtol=learner.q[0].size * 2 * UNIT, atol=0)


def test_identical_heads_stay_finite() -> None:
    learner = make(beta_ood=1.0, lambda_ale=0.0, bootstrap_probability=1.0)
    learner.q[...] = learner.target[...] = 0.25
    learner.update(0, 0, 1.0, 1, terminated=False)
    assert np.isfinite(learner.q).all()
    assert len(set(learner.q[:, 0, 0].tolist())) == 1


def test_policy_is_the_softmax_of_the_lcb_and_survives_a_tiny_temperature() -> None:
    learner = make(temperature=0.5, beta_lcb=-0.7)
    lcb = learner.q.mean(axis=0) - 0.7 * learner.q.std(axis=0, ddof=1)
    weights = np.exp(lcb / 0.5)
    assert np.allclose(learner.policy(), weights / weights.sum(axis=1, keepdims=True), rtol=64 * UNIT, atol=0)
    cold = make(temperature=1e-300, temperature_final=1e-300, exploration=0.0, exploration_final=0.0)
    assert [cold.act(s) for s in range(5)] == cold.greedy_policy().tolist()
    assert np.isfinite(cold.targets(0.0, 1, terminated=False)).all()


def test_deviation_lowers_an_action_that_heads_disagree_on() -> None:
    learner = make(1, 2, ensemble_size=2, beta_lcb=-1.0)
    learner.q[:, 0] = np.array([[0.0, 1.0], [2.0, 1.0]])
    assert learner.greedy_policy()[0] == 1


def test_actions_are_drawn_with_the_policys_frequencies() -> None:
    learner = make(1, 3, temperature=0.5, temperature_final=0.5, exploration=0.25, exploration_final=0.25)
    n = 20_000
    counts = np.bincount([learner.act(0) for _ in range(n)], minlength=3)
    wanted = 0.75 * learner.policy()[0] + 0.25 / 3
    assert (np.abs(counts - n * wanted) <= 6 * np.sqrt(n * wanted * (1 - wanted))).all()


def test_schedules_run_from_first_to_last_value() -> None:
    learner = make(temperature=0.1, temperature_final=0.001, exploration=0.5, exploration_final=0.1, anneal_steps=100)
    assert (learner.temperature, learner.exploration) == (0.1, 0.5)
    learner.step = 50
    assert learner.temperature == pytest.approx(0.01, rel=1e-12, abs=0)
    assert learner.exploration == pytest.approx(0.3, rel=1e-12, abs=0)
    learner.step = 1000
    assert learner.temperature == pytest.approx(0.001, rel=1e-12, abs=0)
    assert learner.exploration == pytest.approx(0.1, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discount": 1.0}, r"discount = 1.0; it must lie in \[0, 1\)"),
        ({"discount": math.nan}, r"discount = nan; it must lie in \[0, 1\)"),
        ({"beta_lcb": 0.1}, "beta_lcb = 0.1; it must be at most 0"),
        ({"temperature": 0.0}, "temperature = 0.0; it must be greater than 0"),
        ({"temperature_final": -1.0}, "temperature_final = -1.0; it must be greater than 0"),
        ({"lambda_epi": -0.1}, "lambda_epi = -0.1; it must be at least 0"),
        ({"lambda_ale": math.inf}, "lambda_ale = inf; it must be at least 0"),
        ({"ensemble_size": 0}, "ensemble_size = 0; it must be at least 1"),
        ({"bootstrap_probability": 0.0}, r"bootstrap_probability = 0.0; it must lie in \(0, 1\]"),
        ({"ensemble_size": 2.5}, "ensemble_size = 2.5; it must be an integer"),
        ({"initial_value": math.inf}, "initial_value = inf; it must be finite"),
        ({"learning_rate_min": 0.9}, r"learning_rate_min = 0.9; it must lie in \[0, learning_rate = 0.5\]"),
        ({"ensemble_size": 1}, "ensemble_size = 1 with lambda_epi = 0.1; the variance of one head is undefined"),
        ({"ensemble_size": 1, "lambda_epi": 0.0}, "ensemble_size = 1 with beta_lcb = -0.5"),
        ({"ensemble_size": 1, "lambda_epi": 0.0, "beta_lcb": 0.0}, "ensemble_size = 1 with beta_ood = 0.01"),
    ],
)
def test_bad_options_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LearnerOptions(**options)  # type: ignore[arg-type]


def test_one_head_without_variance_terms_works() -> None:
    learner = make(ensemble_size=1, **PLAIN)
    learner.update(0, 0, 1.0, 1, terminated=False)
    assert np.array_equal(learner.deviation(), np.zeros((5, 3)))


def test_tables_of_another_shape_are_refused() -> None:
    learner, other = make(5, 3), make(4, 3)
    with pytest.raises(InputError, match=r"table 'q': found float64\[5, 4, 3\]; expected float64\[5, 5, 3\]"):
        learner.load_arrays(other.arrays(), 0)
    with pytest.raises(InputError, match="table 'q': found nothing"):
        learner.load_arrays({}, 0)


def test_kappa_covaries_with_coverage_in_a_measured_run() -> None:
    """C20 in a run: the paper has κ independent of the data; here it grows with the number of transitions seen."""
    mdp = chain(5, 0.9)
    learner = TabularLearner(5, 2, LearnerOptions(discount=0.9, lambda_ale=0.01, lambda_epi=0.0), seed=0)
    kernel, draw = mdp.dense(), np.random.default_rng(1)
    seen, kappas, state = [], [], 0
    for step in range(1, 3001):
        action = learner.act(state)
        successor = int(draw.choice(5, p=kernel[state, action]))
        learner.update(state, action, float(mdp.reward[state, action]), successor, terminated=False)
        state = successor
        if step % 100 == 0:
            seen.append(step)
            kappas.append(float(learner.kappa.mean()))
    assert kappas[0] < kappas[-1]
    assert np.corrcoef(seen, kappas)[0, 1] > 0.5
