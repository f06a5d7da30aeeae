"""Each algorithm's target on a finite MDP is a tabular operator's backup; on real networks it is its equation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from deep_cases import CPU, plain_outputs, random_batch, small_algorithm, small_learner, stirred, watched_update
from numpy.typing import NDArray

from pyresac.deep.algorithms.algorithm import TargetInputs
from pyresac.deep.algorithms.resac import Departures
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.random_source import Noise
from pyresac.tabular import FiniteMDP, PolicyEntropy, PolicyMean, RevOperator, Soft

Floats = NDArray[np.float64]
STATES, ACTIONS, HEADS = 5, 3, 4
DISCOUNT, LAMBDA_EPI, LAMBDA_ALE, ALPHA = 0.9, 0.3, 0.05, 0.4
UNIT32 = 2.0**-24


@dataclass(frozen=True)
class Case:
    """An MDP, tables of heads, and critics that compute exactly these tables."""

    mdp: FiniteMDP
    ends: NDArray[np.bool_]
    tables: NDArray[np.float32]
    """(K, S, A)"""
    layout: NetworkLayout
    critics: torch.Tensor
    """(K, P)"""

    @property
    def kappa(self) -> Floats:
        """κ_k from the architecture: 2 weights of 1 into each unit, and the table itself out of them."""
        return 2.0 * STATES * ACTIONS + np.abs(self.tables.astype(np.float64)).sum(axis=(1, 2))


def case(seed: int, ends: bool) -> Case:
    """Unit (s, a) is relu(1[s] + 1[a] − 1), so that the network is a table. States that end: the last one."""
    generator = np.random.default_rng(seed)
    transition = generator.dirichlet(np.ones(STATES), size=(STATES, ACTIONS))
    reward = generator.normal(size=(STATES, ACTIONS))
    final = np.zeros(STATES, dtype=bool)
    if ends:
        final[-1] = True
        transition[final], reward[final] = np.eye(STATES)[-1], 0.0
    mdp = FiniteMDP.from_arrays(transition, reward, DISCOUNT)
    if ends:
        mdp = replace(mdp, continuation=1.0 - transition[:, :, -1], terminal=final)
    tables = generator.normal(size=(HEADS, STATES, ACTIONS)).astype(np.float32)
    tables[:, final] = 0.0
    layout = NetworkLayout(ACTIONS + STATES, (), (STATES * ACTIONS,), 1)
    critics = torch.zeros(HEADS, layout.length)
    (first, last), (bias, _), _ = layout.split(critics)
    for s in range(STATES):
        for a in range(ACTIONS):
            unit = s * ACTIONS + a
            first[:, a, unit] = first[:, ACTIONS + s, unit] = 1.0
            bias[:, unit] = -1.0
            last[:, unit, 0] = torch.from_numpy(tables[:, s, a])
    return Case(mdp, final, tables, layout, critics)


def deep_backup(given: Case, policy: Floats, log_policy: Floats, name: str = "resac", **options: Any) -> Floats:
    """(K, S, A): an algorithm's target on every (s, a, s′, a′), averaged exactly over s′ ~ P and a′ ~ π."""
    s, a, after, next_action = (
        index.reshape(-1) for index in np.indices((STATES, ACTIONS, STATES, ACTIONS), dtype=np.int64)
    )
    critic = Network(given.layout, given.critics)
    next_state = Inputs(torch.eye(STATES)[after], None)

    def heads_at(unit: torch.Tensor) -> torch.Tensor:
        return critic.run(next_state.with_action(unit)).output[..., 0]

    alpha = options.pop("alpha", 0.0)
    algorithm = small_algorithm(name, ensemble_size=HEADS, discount=DISCOUNT, **options)
    y = algorithm.target(
        TargetInputs(
            reward=torch.from_numpy(given.mdp.reward[s, a].astype(np.float32)),
            going=1.0 - torch.from_numpy(given.ends[after].astype(np.float32)),
            discount=DISCOUNT,
            heads=heads_at(torch.eye(ACTIONS)[next_action]),
            next_action=torch.eye(ACTIONS)[next_action],
            log_prob=torch.from_numpy(log_policy[after, next_action].astype(np.float32)),
            alpha=alpha,
            critic=critic,
            heads_at=heads_at,
            noise=Noise(0, CPU),
        )
    )
    transition = np.asarray(given.mdp.transition)
    weight = (transition[:, :, :, None] * policy[None, None]).reshape(-1)
    wide = (y.expand(HEADS, -1).double().numpy() * weight).reshape(HEADS, STATES, ACTIONS, -1)
    return wide.sum(axis=-1)


def bound(given: Case) -> float:
    """Of float32's error. A target is a sum of five parts after at most 2·S·A + 16 roundings (κ is a sum of 2SA + 2SA
    entries, the others are shorter); rewards and log π are rounded once."""
    parts = np.abs(given.mdp.reward).max() + 3 + np.abs(given.tables).max() + LAMBDA_ALE * given.kappa.max()
    variance = 4 * LAMBDA_EPI * np.abs(given.tables).max() ** 2 * HEADS / (HEADS - 1)
    return float(UNIT32 * (4 * STATES * ACTIONS + 16) * (parts + variance))


def policies(seed: int) -> Floats:
    result: Floats = np.random.default_rng(seed + 100).dirichlet(np.full(ACTIONS, 5.0), size=STATES)
    return result


def operator(given: Case, head: int, value: object, lambda_epi: float, lambda_ale: float) -> RevOperator:
    variance = given.tables.astype(np.float64).var(axis=0, ddof=1)
    return RevOperator(
        given.mdp,
        epistemic=variance,
        lambda_epi=lambda_epi,
        kappa=lambda_ale * float(given.kappa[head]),
        value=value,  # type: ignore[arg-type]
        penalty_at="next",
    )


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize(
    ("lambda_epi", "lambda_ale", "alpha"),
    [(LAMBDA_EPI, LAMBDA_ALE, ALPHA), (LAMBDA_EPI, 0.0, 0.0), (0.0, LAMBDA_ALE, 0.0), (0.0, 0.0, ALPHA)],
)
@pytest.mark.parametrize("seed", range(3))
def test_each_head_gets_the_backup_of_its_table(
    seed: int, ends: bool, lambda_epi: float, lambda_ale: float, alpha: float
) -> None:
    given, policy = case(seed, ends), policies(seed)
    found = deep_backup(
        given, policy, np.log(policy), lambda_epi=lambda_epi, lambda_ale=lambda_ale, alpha=alpha, independence=1.0
    )
    value = PolicyEntropy(policy, alpha) if alpha else PolicyMean(policy)
    for head in range(HEADS):
        rev = operator(given, head, value, lambda_epi, lambda_ale)
        table = given.tables[head].astype(np.float64)
        expected = rev.backup(np.where(given.ends, 0.0, rev.value_of(table)))
        living = ~given.ends
        assert np.abs(found[head] - expected)[living].max() <= bound(given)
        # and the bound is small beside what it must not hide
        assert bound(given) < 1e-3


def test_the_shared_minimum_is_the_backup_of_the_lowest_table() -> None:
    given, policy = case(0, False), policies(0)
    found = deep_backup(
        given,
        policy,
        np.log(policy),
        lambda_epi=LAMBDA_EPI,
        lambda_ale=LAMBDA_ALE,
        alpha=ALPHA,
        independence=0.0,
    )
    lowest = given.tables.min(axis=0).astype(np.float64)
    for head in range(HEADS):
        expected = operator(given, head, PolicyEntropy(policy, ALPHA), LAMBDA_EPI, LAMBDA_ALE)(lowest)
        assert np.abs(found[head] - expected).max() <= bound(given)


def test_under_the_soft_policy_it_is_the_soft_backup() -> None:
    given, head, soft = case(1, False), 2, Soft(ALPHA)
    rev = operator(given, head, soft, LAMBDA_EPI, LAMBDA_ALE)
    table = given.tables[head].astype(np.float64)
    policy = soft.policy(rev.seen(table))
    found = deep_backup(
        given, policy, np.log(policy), lambda_epi=LAMBDA_EPI, lambda_ale=LAMBDA_ALE, alpha=ALPHA, independence=1.0
    )
    size = float(np.abs(np.log(policy)).max())
    assert np.abs(found[head] - rev(table)).max() <= bound(given) + 8 * UNIT32 * ALPHA * size


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_sacs_target_is_the_backup_of_the_lowest_table_with_the_policys_entropy(seed: int, ends: bool) -> None:
    given, policy = case(seed, ends), policies(seed)
    found = deep_backup(given, policy, np.log(policy), "sac", alpha=ALPHA)
    check_lowest(given, found, PolicyEntropy(policy, ALPHA))


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_td3s_target_is_the_backup_of_the_lowest_table_under_the_policy(seed: int, ends: bool) -> None:
    """Of the smoothed target policy; one that is certain of its action is μ itself."""
    given, policy = case(seed, ends), policies(seed)
    for smoothed in (policy, np.eye(ACTIONS)[policy.argmax(axis=1)]):
        found = deep_backup(given, smoothed, np.zeros_like(smoothed), "td3")
        check_lowest(given, found, PolicyMean(smoothed))


def check_lowest(given: Case, found: Floats, value: object) -> None:
    """One target for all heads, of the pointwise minimum of their tables."""
    lowest = given.tables.min(axis=0).astype(np.float64)
    rev = operator(given, 0, value, 0.0, 0.0)
    expected = rev.backup(np.where(given.ends, 0.0, rev.value_of(lowest)))
    assert np.abs(found - expected)[:, ~given.ends].max() <= bound(given)
    assert np.abs(rev(given.tables[0].astype(np.float64)) - expected)[~given.ends].max() > 100 * bound(given)


# --- real networks


def wide(tensor: torch.Tensor) -> Floats:
    result: Floats = tensor.detach().double().numpy()
    return result


@pytest.mark.parametrize("preset", ["equation", "blended", "departures"])
def test_the_learners_target_is_its_equation(preset: str) -> None:
    """From a batch on, through the actor and the target critics, departures included."""
    departures = Departures(add_kappa=True, kappa_biases=True, full_range_jacobian=True)
    independence = 0.6 if preset == "blended" else 1.0
    learner = stirred(
        small_learner(
            lambda_epi=0.4,
            lambda_ale=0.02,
            discount=0.8,
            alpha_init=0.3,
            independence=independence,
            departures=departures if preset == "departures" else Departures(),
        )
    )
    batch = random_batch(1)
    seen = watched_update(learner, batch)
    noise, state = wide(seen.noise[0])[-len(batch.reward) :], batch.next_state

    def outputs(network: Network, dense: Floats) -> Floats:
        matrix, inputs = network.matrix.double(), torch.from_numpy(dense)
        return wide(plain_outputs(matrix, network.layout, inputs, state.codes))

    given = outputs(learner.actor, wide(state.dense))[0]
    mean, log_std = given[:, :2], np.clip(given[:, 2:], -20.0, 2.0)
    unit = np.tanh(mean + np.exp(log_std) * noise)
    gaussian = -0.5 * noise**2 - log_std - 0.5 * np.log(2 * np.pi)
    volume = 0.3 + (2 * np.log(2.0) if preset == "departures" else 0.0)
    log_prob = (gaussian - np.log(1.0 - unit**2)).sum(axis=1) - volume
    heads = outputs(learner.target, np.concatenate([unit, wide(state.dense)], axis=1))[..., 0]
    layout, target = learner.critic.layout, wide(learner.target.matrix)
    counted = layout.offsets[2 * layout.layers] if preset == "departures" else layout.offsets[layout.layers]
    kappa = np.abs(target[:, :counted]).sum(axis=1)
    blended = independence * heads + (1 - independence) * heads.min(axis=0)
    sign = 1.0 if preset == "departures" else -1.0
    bracket = blended - 0.4 * heads.var(axis=0, ddof=1) + sign * 0.02 * kappa[:, None] - 0.3 * log_prob
    expected = wide(batch.reward) + 0.8 * (1.0 - wide(batch.terminal)) * bracket
    # sums of at most 100 numbers below 10, through four layers that enlarge an error at most tenfold in all
    tolerance = 100 * 10 * 10 * UNIT32
    assert np.abs(wide(seen.inputs.log_prob) - log_prob).max() <= tolerance
    assert np.abs(wide(seen.target) - expected).max() <= tolerance
