"""The equations of section 4, term by term, against plain NumPy in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pyresac.deep.algorithms import objectives as eq
from pyresac.deep.networks.layout import NetworkLayout, weight_norms
from pyresac.deep.networks.passes import ensemble_forward

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


def target(arrays: list[Floats], **options: float) -> Floats:
    result: Floats = eq.resac_target(*(torch.from_numpy(array) for array in arrays), **options).numpy()
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


def test_kappa_of_a_head_is_of_its_weights() -> None:
    layout = NetworkLayout(3, (4,), (5, 2), 1)
    matrix = layout.initial(3, torch.Generator().manual_seed(0)).double()
    weights, biases, tables = layout.split(matrix)
    before = weight_norms(matrix, layout)
    assert before.numpy() == pytest.approx(
        [sum(float(layer[k].abs().sum()) for layer in weights) for k in range(3)], rel=1e-12
    )
    for part in (*biases, *tables):
        part += 1.0
    assert weight_norms(matrix, layout).tolist() == before.tolist()
    assert (weight_norms(matrix, layout, biases=True) > before).all()


# --- the critic's loss


def critic_loss_of(heads: Floats, aim: Floats, beta_ood: float, head: int) -> float:
    """L_Q(φ_k) with the values as its arguments."""
    deviation = heads.std(axis=0, ddof=1).mean()
    return float(((heads[head] - aim[head]) ** 2).mean() + beta_ood * deviation)


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from([0.0, 0.01, 3.0]))
def test_the_gradient_in_each_head_is_that_of_its_own_loss(seed: int, count: int, beta_ood: float) -> None:
    generator = np.random.default_rng(seed)
    layout = NetworkLayout(2, (), (4,), 1)
    matrix = torch.from_numpy(generator.normal(size=(count, layout.length)))
    inputs, aim = torch.from_numpy(generator.normal(size=(6, 2))), torch.from_numpy(generator.normal(size=(count, 6)))

    def values(parameters: torch.Tensor) -> torch.Tensor:
        return ensemble_forward(parameters, layout, inputs, None)[..., 0]

    matrix.requires_grad_()
    loss, _ = eq.critic_loss(values(matrix), aim, beta_ood)
    (found,) = torch.autograd.grad(loss, [matrix])
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
    tensor = torch.from_numpy(heads).requires_grad_()
    loss, deviation = eq.critic_loss(tensor, torch.from_numpy(aim), 0.5)
    # squares 1, .25, .25, 1 over a batch of 2; deviations √2 and 3/√2
    assert float(deviation) == pytest.approx((math.sqrt(2) + 3 / math.sqrt(2)) / 2)
    assert float(loss.detach()) == pytest.approx(2.5 / 2 + 0.5 * float(deviation))
    loss.backward()
    assert tensor.grad is not None
    step = 1e-6
    for head in range(2):
        for b in range(2):
            ahead, behind = heads.copy(), heads.copy()
            ahead[head, b] += step
            behind[head, b] -= step
            slope = (critic_loss_of(ahead, aim, 0.5, head) - critic_loss_of(behind, aim, 0.5, head)) / (2 * step)
            assert float(tensor.grad[head, b]) == pytest.approx(slope, abs=1e-8)
    assert not deviation.requires_grad


@pytest.mark.parametrize("count", [2, 3, 10])
def test_heads_that_agree_give_finite_gradients(count: int) -> None:
    heads = torch.full((count, 4), 7.0, requires_grad=True)
    aim = torch.full((count, 4), 6.0)
    (gradient,) = torch.autograd.grad(eq.critic_loss(heads, aim, 5.0)[0], [heads])
    assert gradient.tolist() == torch.full((count, 4), 0.5).tolist(), "the squares' alone: 2·(7 − 6)/4"
    (gradient,) = torch.autograd.grad(eq.actor_loss(torch.zeros(4), heads, 0.1, -2.0), [heads])
    assert gradient.numpy() == pytest.approx(np.full((count, 4), -1 / (4 * count)))
    mixed = torch.tensor([[1.0, 1.0], [1.0, 2.0]], requires_grad=True)
    (gradient,) = torch.autograd.grad(eq.ensemble_deviation(mixed).sum(), [mixed])
    assert gradient.numpy() == pytest.approx(np.array([[0.0, -1.0], [0.0, 1.0]]) / math.sqrt(2))


def test_one_head_has_no_deviation() -> None:
    loss, deviation = eq.critic_loss(torch.tensor([[3.0, 1.0]]), torch.tensor([[1.0, 1.0]]), 0.0)
    assert (float(loss), float(deviation)) == (2.0, 0.0)


# --- the actor, the anchor, the temperature


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from([0.0, -0.5, -2.0]), st.floats(0.0, 1.0))
def test_the_actor_maximises_the_lower_bound(seed: int, count: int, beta: float, alpha: float) -> None:
    generator = np.random.default_rng(seed)
    heads, log_prob = generator.normal(size=(count, 5)), generator.normal(size=5)
    expected = (alpha * log_prob - (heads.mean(axis=0) + beta * heads.std(axis=0, ddof=1))).mean()
    found = eq.actor_loss(torch.from_numpy(log_prob), torch.from_numpy(heads), alpha, beta)
    assert float(found) == pytest.approx(expected, abs=1e-13)


def test_disagreement_counts_against_an_action() -> None:
    sure, unsure = torch.tensor([[2.0], [2.0]]), torch.tensor([[0.0], [4.0]])
    zero = torch.zeros(1)
    assert eq.lower_confidence_bound(sure, -1.0).item() == 2.0
    assert eq.lower_confidence_bound(unsure, -1.0).item() == pytest.approx(2.0 - math.sqrt(8.0))
    assert eq.actor_loss(zero, sure, 0.0, -1.0) < eq.actor_loss(zero, unsure, 0.0, -1.0)
    assert eq.actor_loss(zero, sure, 0.0, 0.0) == eq.actor_loss(zero, unsure, 0.0, 0.0)
    # a surer policy pays α·log π
    assert eq.actor_loss(zero + 1.0, sure, 0.5, -1.0).item() == pytest.approx(-1.5)


def test_the_anchor_is_a_mean_square() -> None:
    here, there = torch.tensor([[1.0, 2.0, 5.0, 0.0]], requires_grad=True), torch.tensor([[1.0, 0.0, 4.0, 1.0]])
    penalty = eq.anchor_penalty(here, there, 0.1)
    assert penalty.item() == pytest.approx(0.1 * (4 + 1 + 1) / 4)
    (gradient,) = torch.autograd.grad(penalty, [here])
    assert gradient.numpy() == pytest.approx(0.1 * 2 * np.array([[0.0, 2.0, 1.0, -1.0]]) / 4)


@pytest.mark.parametrize(("entropy", "sign"), [(-3.0, 1.0), (1.0, -1.0), (-1.0, 0.0)])
def test_the_temperature_follows_the_entropy(entropy: float, sign: float) -> None:
    """Entropy below its target of −1: α must grow; above: shrink."""
    log_alpha = torch.tensor(-1.0, requires_grad=True)
    log_prob = torch.tensor([-entropy - 0.5, -entropy + 0.5], requires_grad=True)
    loss = eq.temperature_loss(log_alpha, log_prob, -1.0)
    gradients: Any = torch.autograd.grad(loss, [log_alpha, log_prob], allow_unused=True)
    assert np.sign(-gradients[0].item()) == sign
    assert gradients[1] is None, "the temperature's loss moves no policy"
