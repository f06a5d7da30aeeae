"""β_lcb over a run, the averaged policy and the anchor, and what else of RE-SAC reaches an update."""

from __future__ import annotations

import json
import math

import pytest
import torch
from deep_cases import PLAIN, random_batch, small_algorithm, small_learner

from pyresac.deep.algorithms.algorithm import ActorInputs
from pyresac.deep.algorithms.pessimism import PessimismSchedule
from pyresac.deep.algorithms.resac import RESACOptions
from pyresac.errors import InputError


def schedule(start: float = -2.0, end: float | None = -1.0, steps: int = 1000) -> PessimismSchedule:
    return PessimismSchedule(start, end, steps)


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
        with pytest.raises(InputError, match=r"beta_lcb.* = 0\.[15]; it must be at most 0"):
            RESACOptions(**options)
    RESACOptions(beta_lcb=0.0, beta_lcb_end=0.0)


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
        ([100.0] * 3 + [90.0] * 3, False),  # a tenth to the last digit
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


@pytest.mark.parametrize("returns", [[], [1.0], [100.0] * 3 + [50.0] * 2])
def test_a_schedule_goes_on_from_its_state(returns: list[float]) -> None:
    one, other = after(returns), schedule()
    other.load(json.loads(json.dumps(one.state(), allow_nan=False)))
    for step, value in ((650, 10.0), (700, 20.0), (900, 5.0)):
        one.evaluated(value, step)
        other.evaluated(value, step)
        assert one.beta == other.beta
        assert one.state() == other.state()


# --- in the learner


def test_the_schedule_reaches_the_actors_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no α, no entropy hides it: the loss of heads 0 and 2 is −(1 + β·√2)."""
    algorithm = small_algorithm("resac", beta_lcb=-2.0, beta_lcb_end=-1.0, beta_steps=1000)
    heads = torch.tensor([[0.0], [2.0]])
    unit = torch.zeros(1, 2)
    found = []
    for step in (0, 600, 1000):
        algorithm.moved(step)
        found.append(algorithm.actor_loss(ActorInputs(heads, torch.zeros(1), unit, 0.2, unit)).item())
    assert found == pytest.approx([-(1.0 + beta * math.sqrt(2.0)) for beta in (-2.0, -1.5, -1.0)])
    assert algorithm.statistics(*(small_learner().critic,) * 2)["beta_lcb"] == -1.0


def test_a_learners_evaluation_reaches_the_schedule() -> None:
    learner = small_learner(beta_lcb=-2.0, beta_lcb_end=-1.0, beta_steps=1000)
    for value in (100.0, 100.0, 100.0, 50.0, 50.0, 50.0):
        learner.evaluated(value, 600)
    assert learner.algorithm.schedule.beta == pytest.approx(-1.75)
    assert learner.best_return == 100.0


def test_an_actors_loss_that_is_not_finite_is_noticed() -> None:
    learner = small_learner(anchor_weight=1.0, actor_every=1)
    learner.best.matrix.fill_(1e30)
    learner.update(random_batch())
    assert learner.not_finite == "actor_loss is inf at update 1"
    learner.update(random_batch())
    assert learner.not_finite == "actor_loss is inf at update 1", "the first one is what is told"


def test_the_average_follows_at_its_rate() -> None:
    learner = small_learner(ema_rate=0.25, actor_every=1, actor_lr=0.1)
    expected = learner.averaged.matrix.clone()
    for index in range(3):
        learner.update(random_batch(index))
        expected = 0.75 * expected + 0.25 * learner.actor.matrix
        torch.testing.assert_close(learner.averaged.matrix, expected)
    at_once = small_learner(ema_rate=1.0, actor_every=1)
    at_once.update(random_batch())
    assert torch.equal(at_once.averaged.matrix, at_once.actor.matrix)


def test_the_anchor_is_the_policy_of_the_best_evaluation() -> None:
    learner = small_learner(anchor_weight=1.0, actor_every=1, actor_lr=0.1)
    learner.update(random_batch(0))
    learner.evaluated(-10.0, 100)
    averaged = learner.averaged.matrix.clone()
    assert torch.equal(learner.best.matrix, averaged)
    learner.update(random_batch(1))
    for value in (-11.0, -10.0):
        learner.evaluated(value, 200)
        assert torch.equal(learner.best.matrix, averaged), "neither a worse one nor its equal"
        assert learner.best_return == -10.0
    learner.update(random_batch(2))
    learner.evaluated(-9.0, 300)
    assert torch.equal(learner.best.matrix, learner.averaged.matrix)
    assert learner.best_return == -9.0


def test_a_heavy_anchor_holds_the_policy() -> None:
    free, held = (small_learner(anchor_weight=w, actor_every=1, actor_lr=0.01, grad_clip=None) for w in (0.0, 1e4))
    for learner in (free, held):
        for index in range(30):
            learner.update(random_batch(index))
    distance = [float((one.actor.matrix - one.best.matrix).norm()) for one in (free, held)]
    assert distance[1] < 0.2 * distance[0]


@pytest.mark.parametrize("initial", [-3.0, 0.0, 1.0])
def test_the_initial_mean_moves_the_means_alone(initial: float) -> None:
    plain, moved = small_learner(), small_learner(initial_mean=initial)
    state = random_batch().state
    outputs, shifted = (learner.actor.run(state).output[0] for learner in (plain, moved))
    torch.testing.assert_close(shifted, outputs + torch.tensor([initial, initial, 0.0, 0.0]))


def test_one_heads_gradient_does_not_shrink_anothers() -> None:
    learner, plain = (small_learner(**{**PLAIN, "ensemble_size": 2, "grad_clip": 1.0}) for _ in "12")
    layout = learner.critic.layout
    learner.critic.matrix[1, layout.offsets[2 * layout.layers - 1]] += 1e4  # the second head is far off
    before = learner.critic.matrix.clone()
    for one in (learner, plain):
        one.update(random_batch())
    torch.testing.assert_close(learner.critic.matrix[0], plain.critic.matrix[0])
    assert not torch.equal(learner.critic.matrix[1], before[1])
