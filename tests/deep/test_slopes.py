"""Leaf autograd: the loss, its slopes, and nothing else that has a gradient."""

from __future__ import annotations

import torch
from deep_cases import numbers

from pyresac.deep.slopes import slopes


@torch.no_grad()
def test_loss_and_slopes_without_a_graph_even_where_gradients_are_off() -> None:
    first, second = numbers(3, 4, seed=0), numbers(3, seed=1)
    loss, (of_first, of_second) = slopes(lambda a, b: (a.square().sum(1) * b).sum(), first, second)
    assert of_first is not None
    assert of_second is not None
    torch.testing.assert_close(loss, (first.square().sum(1) * second).sum())
    torch.testing.assert_close(of_first, 2.0 * first * second[:, None])
    torch.testing.assert_close(of_second, first.square().sum(1))
    assert not any(part.requires_grad for part in (loss, of_first, of_second, first, second))
    assert not torch.is_grad_enabled()


def test_a_leaf_that_the_loss_does_not_use_has_no_slope() -> None:
    loss, (used, unused) = slopes(lambda a, _: a.sum(), torch.ones(2), torch.ones(3))
    assert loss == 2.0
    assert used is not None
    assert used.tolist() == [1.0, 1.0]
    assert unused is None


def test_what_leads_to_a_leaf_gets_no_gradient() -> None:
    """A leaf is detached, and so what the formula takes beside it must be: here it is not, and is left alone."""
    source = torch.ones(3, requires_grad=True)
    beside = torch.full((3,), 2.0, requires_grad=True)
    loss, (slope,) = slopes(lambda leaf: (leaf * beside).sum(), 3.0 * source)
    assert slope is not None
    assert slope.tolist() == [2.0, 2.0, 2.0]
    assert not loss.requires_grad
    assert source.grad is None
    assert beside.grad is None


def test_a_change_of_the_leaf_changes_nothing_outside() -> None:
    heads = numbers(2, 3, seed=0)
    before = heads.clone()

    def loss_of(leaf: torch.Tensor) -> torch.Tensor:
        return (leaf * 1.0).mul_(2.0).sum()

    _, (slope,) = slopes(loss_of, heads)
    assert slope is not None
    assert torch.equal(heads, before)
    assert torch.equal(slope, torch.full_like(heads, 2.0))
