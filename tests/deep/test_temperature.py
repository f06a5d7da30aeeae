"""The temperature: the sign of its step, the states that count, its cap."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from deep_cases import CPU, ROUNDING, numbers, random_batch, small_learner, watched_update

from pyresac.deep.algorithms.deep_options import EntropyOptions
from pyresac.deep.algorithms.resac import Departures
from pyresac.deep.slopes import slopes
from pyresac.deep.temperature import Temperature, entropy_gap


def test_the_slope_is_that_of_its_loss() -> None:
    log_alpha, log_prob = torch.tensor(-1.0, dtype=torch.double), numbers(7, seed=0)

    def slope_at(states: torch.Tensor) -> torch.Tensor:
        """Of J(α) = −log α·(E[log π] + H_target)."""
        _, (slope,) = slopes(lambda leaf: -leaf * (states.mean() - 1.5), log_alpha)
        assert slope is not None
        return slope

    torch.testing.assert_close(-entropy_gap(log_prob, -1.5), slope_at(log_prob), **ROUNDING)
    torch.testing.assert_close(-entropy_gap(log_prob, -1.5, torch.ones(7).double()), slope_at(log_prob), **ROUNDING)
    # states in which no action is taken do not count, wherever they stand
    going = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0], dtype=torch.double)
    torch.testing.assert_close(-entropy_gap(log_prob, -1.5, going), slope_at(log_prob[going == 1.0]), **ROUNDING)
    assert entropy_gap(log_prob, -1.5, torch.zeros(7).double()) == 0.0
    alone = torch.eye(7, dtype=torch.double)[3]
    torch.testing.assert_close(entropy_gap(log_prob, -1.5, alone), log_prob[3] - 1.5, **ROUNDING)


@pytest.mark.parametrize(("entropy", "sign"), [(-3.0, 1.0), (1.0, -1.0), (-1.0, 0.0)])
def test_it_follows_the_entropy(entropy: float, sign: float) -> None:
    """Entropy below its target of −1: α must grow; above: shrink."""
    found = Temperature(EntropyOptions(alpha_init=0.2, temperature_lr=0.1), -1.0, CPU)
    found.adjust(torch.tensor([-entropy - 0.5, -entropy + 0.5]))
    assert (
        np.sign(found.alpha - 0.2) == pytest.approx(sign)
        if sign
        else found.alpha == pytest.approx(0.2, rel=1e-6, abs=0)
    )


def test_a_rate_of_0_keeps_it() -> None:
    found = Temperature(EntropyOptions(alpha_init=0.3, temperature_lr=0.0), -1.0, CPU)
    found.adjust(torch.full((4,), 9.0))
    assert found.alpha == pytest.approx(0.3, rel=1e-6, abs=0)
    assert found.optimiser is None
    learner = small_learner("sac", temperature_lr=0.0)
    learner.update(random_batch())
    assert learner.alpha == pytest.approx(0.2, rel=1e-6, abs=0)
    assert not any(name.startswith("temperature") for name in learner.arrays())


@pytest.mark.parametrize("entropy", [None, -1.0, 50.0, 1e6, -1e6])
def test_it_keeps_to_its_cap(entropy: float | None) -> None:
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
        assert seen[-1] == pytest.approx(0.2 * math.exp(-0.3 * 20), rel=1e-3, abs=0), "there is no floor"


def test_without_a_cap_it_grows() -> None:
    learner = small_learner("sac", target_entropy=1e6, temperature_lr=0.3)
    for index in range(20):
        learner.update(random_batch(index))
    assert learner.alpha == pytest.approx(0.2 * math.exp(0.3 * 20), rel=1e-3, abs=0)


def test_the_target_entropy_is_in_units_of_the_box() -> None:
    """−dim(A) is meant for [−1, 1]; a box of another size shifts every policy's entropy by the logarithm of its
    volume, and the target with it."""

    def target_entropy(algorithm: str = "resac", **options: object) -> float:
        temperature = small_learner(algorithm, **options).temperature  # type: ignore[arg-type]
        assert temperature is not None
        return temperature.target_entropy

    assert target_entropy() == pytest.approx(0.3 - 2.0)
    assert target_entropy("sac", actions=1) == pytest.approx(0.3 - 1.0)
    assert target_entropy(target_entropy=-1.0) == -1.0
    program = target_entropy(departures=Departures(full_range_jacobian=True))
    assert program == pytest.approx(0.3 - 2.0), "the program's slip is in log π alone"


def test_beyond_float32_it_is_infinite() -> None:
    """And stops the run as any other divergence does, instead of an error on the way."""
    learner = small_learner(alpha_init=1e200, alpha_max=1e300)
    assert learner.alpha == math.inf
    learner.update(random_batch())
    assert learner.not_finite is not None
    assert learner.not_finite.startswith("critic_loss is ")


def test_terminal_states_do_not_count() -> None:
    first, second = small_learner(temperature_on="next"), small_learner(temperature_on="next")
    batch = random_batch()
    other = batch.next_state.dense.clone()
    other[batch.terminal == 1] = 50.0
    first.update(batch)
    second.update(batch._replace(next_state=batch.next_state._replace(dense=other)))
    assert first.alpha == second.alpha != pytest.approx(0.2, rel=1e-6, abs=0)
    assert torch.equal(first.critic.matrix, second.critic.matrix), "nor for the critics"


def test_states_that_are_all_terminal_leave_it_alone() -> None:
    learner = small_learner(temperature_on="next")
    before, batch = learner.alpha, random_batch()
    learner.update(batch._replace(terminal=torch.ones_like(batch.terminal)))
    assert learner.alpha == before


@pytest.mark.parametrize("algorithm", ["sac", "resac"])
def test_on_the_batchs_states_it_follows_their_actions(algorithm: str) -> None:
    """Of states that are there anyway, terminal or not what follows; only when the actor takes part."""
    learner, batch = small_learner(algorithm, temperature_on="state", actor_every=2), random_batch()
    assert "temperature" not in watched_update(learner, batch).gradients
    seen = watched_update(learner, batch)
    elsewhere = batch._replace(next_state=batch.next_state._replace(dense=batch.next_state.dense + 9.0))
    other = small_learner(algorithm, temperature_on="state", actor_every=2)
    other.updates = 1
    for one in (batch, elsewhere._replace(terminal=1.0 - batch.terminal)):
        other.updates = 1
        assert torch.equal(watched_update(other, one).gradients["temperature"], seen.gradients["temperature"])
    there = batch._replace(state=batch.state._replace(dense=batch.state.dense + 9.0))
    other.updates = 1
    assert not torch.equal(watched_update(other, there).gradients["temperature"], seen.gradients["temperature"])
