"""β_lcb over a run, the cap of α, the averaged policy and the anchor."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from deep_cases import random_batch, small_learner
from pyresac.deep.algorithms.resac_options import AlgorithmOptions, Departures
from pyresac.deep.networks.modules import critic_values

from pyresac.deep.algorithms.pessimism import PessimismSchedule
from pyresac.errors import InputError


def schedule(start: float = -2.0, end: float | None = -1.0, steps: int = 1000) -> PessimismSchedule:
    return PessimismSchedule(AlgorithmOptions(beta_lcb=start, beta_lcb_end=end, beta_steps=steps))


@pytest.mark.parametrize(
    ("step", "beta"), [(0, -2.0), (200, -2.0), (201, -1.99875), (600, -1.5), (1000, -1.0), (5000, -1.0)]
)
def test_a_fifth_is_held_and_the_rest_is_linear(step: int, beta: float) -> None:
    at_once, by_steps = schedule(), schedule()
    at_once.moved(step)
    for one in range(step + 1):
        by_steps.moved(one)
    assert at_once.beta == pytest.approx(beta, abs=1e-12)
    assert by_steps.beta == pytest.approx(beta, abs=1e-12)


def test_without_an_end_it_stays() -> None:
    still = schedule(end=None)
    still.moved(900)
    assert still.beta == -2.0


def test_the_lower_bound_never_turns_into_optimism() -> None:
    for options in ({"beta_lcb": 0.1}, {"beta_lcb": -1.0, "beta_lcb_end": 0.5}):
        with pytest.raises(InputError, match=r"beta_lcb.* must lie in \(-inf, 0\]"):
            AlgorithmOptions(**options)  # type: ignore[arg-type]
    AlgorithmOptions(beta_lcb=0.0, beta_lcb_end=0.0)


def after(returns: list[float], step: int = 600) -> PessimismSchedule:
    found = schedule()
    found.moved(step)
    for value in returns:
        found.evaluated(value, step)
    return found


@pytest.mark.parametrize(
    ("returns", "falls"),
    [
        ([100.0] * 3 + [89.0] * 3, True),
        ([100.0] * 3 + [91.0] * 3, False),
        # the same of negative returns, where "below 0.9 times" would be above
        ([-100.0] * 3 + [-111.0] * 3, True),
        ([-100.0] * 3 + [-109.0] * 3, False),
        ([-100.0] * 3 + [-95.0] * 3, False),
        ([-100.0] * 3 + [-111.0] * 2, False),
        ([60.0, 100.0, 140.0, 20.0, 80.0, 160.0], True),  # means of 100 and 86.7
        ([1.0, 1.0, 100.0, 100.0, 100.0, 89.0, 89.0, 89.0], True),  # only the last six count
    ],
)
def test_a_fall_moves_half_way_back(returns: list[float], falls: bool) -> None:
    assert after(returns).beta == pytest.approx(-1.75 if falls else -1.5, abs=1e-12)


def test_after_a_fall_it_goes_on_from_there() -> None:
    fallen = after([100.0] * 3 + [50.0] * 3)
    assert fallen.beta == pytest.approx(-1.75)
    fallen.moved(800)
    assert fallen.beta == pytest.approx(-1.5), "at the same rate as before"
    fallen.evaluated(49.0, 800)
    assert fallen.beta == pytest.approx(-1.5), "one fall is answered once"


def test_the_best_so_far() -> None:
    found = schedule()
    assert [found.evaluated(value, 0) for value in (-5.0, -6.0, -5.0, -1.0)] == [True, False, False, True]
    assert found.best == -1.0


@pytest.mark.parametrize("returns", [[], [1.0], [100.0] * 3 + [50.0] * 2])
def test_a_schedule_goes_on_from_its_state(returns: list[float]) -> None:
    one, other = after(returns), schedule()
    other.load(json.loads(json.dumps(one.state(), allow_nan=False)))
    for step, value in ((650, 10.0), (700, 20.0), (900, 5.0)):
        assert one.evaluated(value, step) == other.evaluated(value, step)
        assert (one.beta, one.best) == (other.beta, other.best)


# --- in the learner


@pytest.mark.parametrize("entropy", [None, -1.0, 50.0, 1e6, -1e6])
def test_the_temperature_keeps_to_its_cap(entropy: float | None) -> None:
    learner = small_learner(target_entropy=entropy, alpha_max=0.25, alpha_init=0.2, temperature_lr=0.3)
    seen = []
    for index in range(20):
        learner.update(random_batch(index))
        seen.append(learner.alpha)
    assert all(0.0 < alpha <= 0.25 * (1 + 2.0**-22) for alpha in seen)
    if entropy in (50.0, 1e6):
        assert seen[-1] == pytest.approx(0.25), "asking for more entropy than a policy has ends at the cap"
    if entropy == -1e6:
        # Adam's steps are 0.3 as long as the slope keeps its sign
        assert seen[-1] == pytest.approx(0.2 * math.exp(-0.3 * 20), rel=1e-3), "there is no floor"


def test_the_target_entropy_is_in_units_of_the_box() -> None:
    """−dim(A) is meant for [−1, 1]; a box of another size shifts every policy's entropy by the logarithm of its
    volume, and the target with it."""
    assert small_learner().target_entropy == pytest.approx(0.3 - 2.0)
    assert small_learner(target_entropy=-1.0).target_entropy == -1.0
    program = small_learner(departures=Departures(full_range_jacobian=True))
    assert program.target_entropy == pytest.approx(0.3 - 2.0), "the program's slip is in log π alone"


def test_a_temperature_beyond_float32_is_infinite() -> None:
    """And stops the run as any other divergence does, instead of an error on the way."""
    learner = small_learner(alpha_init=1e200, alpha_max=1e300)
    assert learner.alpha == math.inf
    learner.update(random_batch())
    assert learner.not_finite is not None
    assert learner.not_finite.startswith("critic_loss is ")


def test_each_network_has_its_rate() -> None:
    """Adam's first step is its rate along the sign of the slope."""
    learner = small_learner(critic_lr=1e-3, actor_lr=2e-3, temperature_lr=4e-3, actor_every=1, grad_clip=None)
    before = {name: getattr(learner, name).matrix.detach().clone() for name in ("critic", "actor")}
    log_alpha = learner.log_alpha.item()
    learner.update(random_batch())
    steps = {name: (getattr(learner, name).matrix - matrix).abs().max().item() for name, matrix in before.items()}
    assert steps == pytest.approx({"critic": 1e-3, "actor": 2e-3}, rel=1e-3)
    assert abs(learner.log_alpha.item() - log_alpha) == pytest.approx(4e-3, rel=1e-3)


def test_exploration_draws_from_the_present_policy() -> None:
    learner, state = small_learner(), random_batch().state
    noise = torch.randn(len(state.dense), 2, generator=torch.Generator().manual_seed(5))
    learner.generator.manual_seed(5)
    found = learner.explore(state)
    policy = learner.actor(state)
    drawn = torch.tanh(policy.mean + policy.log_std.exp() * noise).detach().numpy()
    assert found == pytest.approx(drawn, abs=1e-6)
    assert not np.allclose(learner.explore(state), found), "each time anew"
    with torch.no_grad():
        learner.averaged += 1.0
    learner.generator.manual_seed(5)
    assert np.array_equal(learner.explore(state), found), "not from the averaged policy"


def test_values_are_those_of_the_online_critics() -> None:
    learner, batch = small_learner(), random_batch()
    with torch.no_grad():
        learner.target += 1.0
    found = learner.values(batch.state, batch.action)
    assert torch.equal(found, critic_values(learner.critic.matrix, learner.critic.layout, batch.state, batch.action))
    assert found.abs().max() > 0.0


def test_an_actors_loss_that_is_not_finite_is_noticed() -> None:
    learner = small_learner(anchor_weight=1.0, actor_every=1)
    with torch.no_grad():
        learner.best.fill_(1e30)
    learner.update(random_batch())
    assert learner.not_finite == "actor_loss is inf at update 1"


def test_the_average_follows_at_its_rate() -> None:
    learner = small_learner(ema_rate=0.25, actor_every=1, actor_lr=0.1)
    expected = learner.averaged.clone()
    for index in range(3):
        learner.update(random_batch(index))
        expected = 0.75 * expected + 0.25 * learner.actor.matrix.detach()
        torch.testing.assert_close(learner.averaged, expected)
    at_once = small_learner(ema_rate=1.0, actor_every=1)
    at_once.update(random_batch())
    assert torch.equal(at_once.averaged, at_once.actor.matrix.detach())


def test_it_is_the_average_that_is_played() -> None:
    learner, state = small_learner(), random_batch().state
    before = learner.exploit(state)
    with torch.no_grad():
        learner.actor.matrix += 1.0
    assert (learner.exploit(state) == before).all()
    learner.averaged += 1.0
    assert (learner.exploit(state) != before).any()


def test_the_anchor_is_the_policy_of_the_best_evaluation() -> None:
    learner = small_learner(anchor_weight=1.0, actor_every=1, actor_lr=0.1)
    learner.update(random_batch(0))
    assert learner.evaluated(-10.0, 100)
    averaged = learner.averaged.clone()
    learner.update(random_batch(1))
    assert not learner.evaluated(-11.0, 200)
    assert torch.equal(learner.best, averaged)
    learner.update(random_batch(2))
    assert learner.evaluated(-9.0, 300)
    assert torch.equal(learner.best, learner.averaged)


def test_a_heavy_anchor_holds_the_policy() -> None:
    free, held = (small_learner(anchor_weight=w, actor_every=1, actor_lr=0.01, grad_clip=None) for w in (0.0, 1e4))
    for learner in (free, held):
        for index in range(30):
            learner.update(random_batch(index))
    distance = [float((one.actor.matrix - one.best).detach().norm()) for one in (free, held)]
    assert distance[1] < 0.2 * distance[0]


def test_the_schedule_reaches_the_actors_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyresac.deep.algorithms import gradients

    used = []
    plain = gradients.actor_loss

    def watched(log_prob: torch.Tensor, heads: torch.Tensor, alpha: float, beta: float) -> Any:
        used.append(beta)
        return plain(log_prob, heads, alpha, beta)

    monkeypatch.setattr(gradients, "actor_loss", watched)
    learner = small_learner(beta_lcb=-2.0, beta_lcb_end=-1.0, beta_steps=1000, actor_every=1)
    for step in (0, 600, 1000):
        learner.schedule.moved(step)
        learner.update(random_batch())
    assert used == pytest.approx([-2.0, -1.5, -1.0])


def test_the_rate_of_the_actors_steps() -> None:
    learner = small_learner(actor_every=3)
    moved = []
    for index in range(6):
        before = learner.actor.matrix.detach().clone()
        learner.update(random_batch(index))
        moved.append(not torch.equal(before, learner.actor.matrix.detach()))
    assert moved == [False, False, True, False, False, True]


def test_rewards_are_scaled_once() -> None:
    plain, scaled = small_learner(reward_scale=1.0), small_learner(reward_scale=0.01)
    batch = random_batch()
    plain.update(batch)
    scaled.update(batch._replace(reward=batch.reward * 100.0))
    torch.testing.assert_close(plain.critic.matrix, scaled.critic.matrix)
    assert math.isfinite(plain.alpha)


def test_standardised_rewards_have_mean_0_and_deviation_10() -> None:
    learner = small_learner(departures=Departures(standardise_rewards=True))
    reward = random_batch().reward * 3.0 + 7.0
    found = learner._scaled(reward)
    torch.testing.assert_close(found.mean(), torch.zeros(()), rtol=0.0, atol=1e-5)
    torch.testing.assert_close(found.std(), torch.tensor(10.0), rtol=1e-5, atol=0.0)
    assert (found.argsort() == reward.argsort()).all()


def test_one_reward_cannot_be_standardised() -> None:
    with pytest.raises(InputError, match="batch_size = 1 with standardise_rewards: one reward has no deviation"):
        small_learner(departures=Departures(standardise_rewards=True), batch_size=1)
