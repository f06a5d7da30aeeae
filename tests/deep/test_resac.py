"""RE-SAC's equations of section 4, term by term, against plain NumPy in float64."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from deep_cases import CPU, small_algorithm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pyresac.deep.algorithms.algorithm import ActorInputs, TargetInputs
from pyresac.deep.algorithms.resac import RESAC, Departures, lower_confidence_bound
from pyresac.deep.networks.eager_passes import perceptrons
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.deep.random_source import Noise
from pyresac.deep.slopes import slopes

Floats = NDArray[np.float64]
UNIT = 2.0**-53
EXAMPLES = settings(deadline=None, derandomize=True, database=None, max_examples=60)


def by_hand(
    reward: Floats,
    terminal: Floats,
    heads: Floats,
    log_prob: Floats,
    kappa: Floats,
    *,
    discount: float,
    lambda_epi: float,
    lambda_ale: float,
    alpha: float,
    independence: float,
) -> Floats:
    """Eq. target_y, one number after the other."""
    count, size = heads.shape
    result = np.empty((count, size))
    for b in range(size):
        column = [float(heads[k, b]) for k in range(count)]
        mean = sum(column) / count
        variance = sum((q - mean) ** 2 for q in column) / (count - 1)
        for k in range(count):
            value = independence * column[k] + (1 - independence) * min(column)
            bracket = value - lambda_epi * variance - lambda_ale * kappa[k] - alpha * log_prob[b]
            result[k, b] = reward[b] + (0.0 if terminal[b] else discount * bracket)
    return result


def resac(**options: Any) -> RESAC:
    """RE-SAC with these options, of all the terms none but them."""
    found = small_algorithm("resac", **{**dict.fromkeys(TERMS, 0.0), "independence": 1.0, **options})
    assert isinstance(found, RESAC)
    return found


TERMS = ("lambda_epi", "lambda_ale", "beta_ood", "beta_lcb", "anchor_weight")


def target(arrays: list[Floats], *, discount: float, alpha: float, lambda_ale: float, **options: float) -> Floats:
    """`target` of heads with these κ. lambda_ale < 0: the published program's, which adds κ."""
    reward, terminal, heads, log_prob, kappa = (torch.from_numpy(array) for array in arrays)

    def not_asked(unit: torch.Tensor) -> torch.Tensor:
        raise AssertionError("the target has one action a state")

    algorithm = resac(
        ensemble_size=len(heads),
        lambda_ale=abs(lambda_ale),
        departures=Departures(add_kappa=lambda_ale < 0.0),
        **options,
    )
    critic: Any = SimpleNamespace(weight_norms=lambda biases: kappa)
    after = TargetInputs(
        reward=reward,
        going=1.0 - terminal,
        discount=discount,
        heads=heads,
        next_action=torch.zeros(len(reward), 1),
        log_prob=log_prob,
        alpha=alpha,
        critic=critic,
        heads_at=not_asked,
        noise=Noise(0, CPU),
    )
    result: Floats = algorithm.target(after).numpy()
    return result


REWARD, HEADS, LOG_PROB, KAPPA = np.array([2.0]), np.array([[1.0], [3.0]]), np.array([-1.0]), np.array([10.0, 20.0])
GOING, ENDED = np.array([0.0]), np.array([1.0])
NONE: dict[str, float] = {"discount": 0.5, "lambda_epi": 0.0, "lambda_ale": 0.0, "alpha": 0.0, "independence": 1.0}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [2.5, 3.5]),  # r + γ·Q̂_k
        # the heads 1 and 3 have the unbiased variance 2 (the population's is 1), under the discount
        ({"lambda_epi": 0.1}, [2.5 - 0.5 * 0.1 * 2, 3.5 - 0.5 * 0.1 * 2]),
        ({"lambda_ale": 0.01}, [2.5 - 0.5 * 0.1, 3.5 - 0.5 * 0.2]),
        ({"lambda_ale": -0.01}, [2.5 + 0.5 * 0.1, 3.5 + 0.5 * 0.2]),
        ({"alpha": 0.4}, [2.5 + 0.5 * 0.4, 3.5 + 0.5 * 0.4]),
        ({"independence": 0.0}, [2.5, 2.5]),
        ({"independence": 0.75}, [2.5, 2.0 + 0.5 * (0.75 * 3 + 0.25 * 1)]),
        # the variance is that of the heads themselves, whatever the blend makes of them
        ({"independence": 0.0, "lambda_epi": 0.1}, [2.4, 2.4]),
        ({"discount": 0.0, "lambda_epi": 0.1, "lambda_ale": 0.01, "alpha": 0.4}, [2.0, 2.0]),
    ],
)
def test_each_term_alone(options: dict[str, float], expected: list[float]) -> None:
    found = target([REWARD, GOING, HEADS, LOG_PROB, KAPPA], **{**NONE, **options})
    assert found[:, 0] == pytest.approx(expected, abs=1e-14)
    ended = target([REWARD, ENDED, HEADS, LOG_PROB, KAPPA], **{**NONE, **options})
    assert ended[:, 0].tolist() == [2.0, 2.0], "nothing is left of the bracket in a terminal state"


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_subnormal=False)


@st.composite
def targets(draw: st.DrawFn) -> tuple[list[Floats], dict[str, float]]:
    count, size = draw(st.integers(2, 6)), draw(st.integers(1, 4))

    def array(shape: tuple[int, ...], low: float, high: float) -> Floats:
        length = math.prod(shape)
        return np.array(draw(st.lists(numbers(low, high), min_size=length, max_size=length))).reshape(shape)

    arrays = [
        array((size,), -1e3, 1e3),
        np.array(draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=size, max_size=size))),
        array((count, size), -1e3, 1e3),
        array((size,), -30.0, 30.0),
        array((count,), 0.0, 1e4),
    ]
    options = {
        "discount": draw(numbers(0.0, 0.999)),
        "lambda_epi": draw(st.sampled_from([0.0, 0.01, 1.0])),
        "lambda_ale": draw(st.sampled_from([0.0, 0.01, -0.01])),
        "alpha": draw(numbers(0.0, 1.0)),
        "independence": draw(st.sampled_from([0.0, 0.25, 0.75, 1.0])),
    }
    return arrays, options


@EXAMPLES
@given(targets())
def test_the_target_is_its_equation(case: tuple[list[Floats], dict[str, float]]) -> None:
    arrays, options = case
    reward, _, heads, log_prob, kappa = arrays
    size = np.abs(heads).max()
    parts = np.abs(reward).max() + size + 0.01 * kappa.max() + np.abs(log_prob).max()
    # each number goes through fewer than 16 roundings, a variance of K ≤ 6 heads of size at most 2|Q| off their mean
    # through fewer than 32; both sides are rounded
    bound = UNIT * (32 * parts + 64 * options["lambda_epi"] * 12 * size**2)
    assert np.abs(target(arrays, **options) - by_hand(*arrays, **options)).max() <= bound


@EXAMPLES
@given(targets(), st.integers(0, 5))
def test_every_penalty_lowers_every_target(case: tuple[list[Floats], dict[str, float]], head: int) -> None:
    (reward, _, heads, log_prob, kappa), options = case
    going = np.zeros_like(reward)
    plain = target([reward, going, heads, log_prob, kappa], **{**options, "lambda_epi": 0.0, "lambda_ale": 0.0})
    for penalised in ({"lambda_epi": 0.5, "lambda_ale": 0.0}, {"lambda_epi": 0.0, "lambda_ale": 0.5}):
        found = target([reward, going, heads, log_prob, kappa], **{**options, **penalised})
        assert (found <= plain).all()
    k = head % len(heads)
    larger = kappa + 1.0 * (np.arange(len(kappa)) == k)
    before, after = (
        target([reward, going, heads, log_prob, norms], **{**options, "discount": 0.5, "lambda_ale": 1e3})
        for norms in (kappa, larger)
    )
    lowered = (after < before).any(axis=1)
    assert lowered.tolist() == [index == k for index in range(len(heads))], "κ_k is head k's own"


# --- the critic's loss


def critic_loss_of(heads: Floats, aim: Floats, beta_ood: float, head: int) -> float:
    """L_Q(φ_k) with the values as its arguments."""
    deviation = heads.std(axis=0, ddof=1).mean()
    return float(((heads[head] - aim[head]) ** 2).mean() + beta_ood * deviation)


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from([0.0, 0.01, 3.0]))
def test_the_gradient_in_each_head_is_that_of_its_own_loss(seed: int, count: int, beta_ood: float) -> None:
    generator = np.random.default_rng(seed)
    layout, algorithm = NetworkLayout(2, (), (4,), 1), resac(ensemble_size=count, beta_ood=beta_ood)
    matrix = torch.from_numpy(generator.normal(size=(count, layout.length)))
    inputs, aim = torch.from_numpy(generator.normal(size=(6, 2))), torch.from_numpy(generator.normal(size=(count, 6)))

    def values(parameters: torch.Tensor) -> torch.Tensor:
        return perceptrons(parameters, layout, Inputs(inputs, None))[..., 0]

    matrix.requires_grad_()
    (found,) = torch.autograd.grad(algorithm.critic_loss(values(matrix), aim), [matrix])
    for head in range(count):
        # L_Q(φ_k) as PyTorch's own operations say it, only φ_k having a gradient
        own = matrix.detach().clone()
        row = own[head].clone().requires_grad_()
        stacked = torch.stack([row if index == head else own[index] for index in range(count)])
        outputs = values(stacked)
        squared = (outputs[head] - aim[head]).square().mean()
        centred = outputs - outputs.mean(0)
        deviation = (centred.square().sum(0) / (count - 1)).sqrt().mean()
        (expected,) = torch.autograd.grad(squared + beta_ood * deviation, [row])
        torch.testing.assert_close(found[head], expected, rtol=1e-8, atol=1e-9)


def test_the_loss_and_its_slope_in_numbers() -> None:
    heads, aim = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([[0.0, 2.5], [3.5, 0.0]])
    algorithm = resac(beta_ood=0.5)
    loss, (found,) = slopes(lambda leaf: algorithm.critic_loss(leaf, torch.from_numpy(aim)), torch.from_numpy(heads))
    # squares 1, .25, .25, 1 over a batch of 2; deviations √2 and 3/√2
    deviation = (math.sqrt(2) + 3 / math.sqrt(2)) / 2
    assert float(loss) == pytest.approx(2.5 / 2 + 0.5 * deviation)
    assert found is not None
    step = 1e-6
    for head in range(2):
        for b in range(2):
            ahead, behind = heads.copy(), heads.copy()
            ahead[head, b] += step
            behind[head, b] -= step
            slope = (critic_loss_of(ahead, aim, 0.5, head) - critic_loss_of(behind, aim, 0.5, head)) / (2 * step)
            assert float(found[head, b]) == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("count", [2, 3, 10])
def test_heads_that_agree_have_the_slopes_of_the_other_terms(count: int) -> None:
    heads, aim = torch.full((count, 4), 7.0), torch.full((count, 4), 6.0)
    algorithm = resac(ensemble_size=count, beta_ood=5.0, beta_lcb=-2.0)
    _, (slope,) = slopes(lambda leaf: algorithm.critic_loss(leaf, aim), heads)
    assert slope is not None
    assert slope.tolist() == torch.full((count, 4), 0.5).tolist(), "the squares' alone: 2·(7 − 6)/4"
    _, (slope,) = slopes(lambda leaf: algorithm.actor_loss(now(leaf)), heads)
    assert slope is not None
    assert slope.numpy() == pytest.approx(np.full((count, 4), -1 / (4 * count)))


def test_one_head_has_no_deviation() -> None:
    found = resac(ensemble_size=1).critic_loss(torch.tensor([[3.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
    assert float(found) == 2.0


# --- the actor and the anchor


def now(heads: torch.Tensor, log_prob: torch.Tensor | None = None, alpha: float = 0.1) -> ActorInputs:
    """Heads at two coordinates of an action of 0.5, where −1 was replayed."""
    size = heads.shape[1]
    own = torch.zeros(size, dtype=heads.dtype) if log_prob is None else log_prob
    unit = torch.full((size, 2), 0.5, dtype=heads.dtype)
    return ActorInputs(heads, own, unit, alpha, torch.full_like(unit, -1.0))


@EXAMPLES
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 5),
    st.sampled_from([0.0, -0.5, -2.0]),
    st.floats(0.0, 1.0),
    st.sampled_from([0.0, 0.7]),
)
def test_the_actor_maximises_the_lower_bound(seed: int, count: int, beta: float, alpha: float, cloning: float) -> None:
    generator = np.random.default_rng(seed)
    heads, log_prob = generator.normal(size=(count, 5)), generator.normal(size=5)
    expected = (alpha * log_prob - (heads.mean(axis=0) + beta * heads.std(axis=0, ddof=1))).mean() + cloning * 1.5**2
    algorithm = resac(ensemble_size=count, beta_lcb=beta, departures=Departures(cloning=cloning))
    found = algorithm.actor_loss(now(torch.from_numpy(heads), torch.from_numpy(log_prob), alpha))
    assert float(found) == pytest.approx(expected, abs=1e-13)


def test_disagreement_counts_against_an_action() -> None:
    sure, unsure = torch.tensor([[2.0], [2.0]]), torch.tensor([[0.0], [4.0]])
    assert lower_confidence_bound(sure, -1.0).item() == 2.0
    assert lower_confidence_bound(unsure, -1.0).item() == pytest.approx(2.0 - math.sqrt(8.0))
    careful, indifferent = resac(beta_lcb=-1.0), resac()
    assert careful.actor_loss(now(sure)) < careful.actor_loss(now(unsure))
    assert indifferent.actor_loss(now(sure)) == indifferent.actor_loss(now(unsure))
    # a surer policy pays α·log π
    assert careful.actor_loss(now(sure, torch.ones(1), 0.5)).item() == pytest.approx(-1.5)


def test_the_anchor_is_a_mean_square() -> None:
    here, there = torch.tensor([[1.0, 2.0, 5.0, 0.0]]), torch.tensor([[1.0, 0.0, 4.0, 1.0]])
    algorithm = resac(anchor_weight=0.1)
    assert algorithm.penalises_actor
    assert not resac().penalises_actor
    penalty, (gradient,) = slopes(lambda leaf: algorithm.actor_penalty(leaf, there), here)
    assert penalty.item() == pytest.approx(0.1 * (4 + 1 + 1) / 4)
    assert gradient is not None
    assert gradient.numpy() == pytest.approx(0.1 * 2 * np.array([[0.0, 2.0, 1.0, -1.0]]) / 4)
