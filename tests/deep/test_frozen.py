"""What a step of Algorithm 1 may change, and what has no gradient in it."""

from __future__ import annotations

import pytest
import torch
from deep_cases import REGULARISED, bootstrap_target, random_batch, small_learner
from pyresac.deep.deep_learner import Learner
from torch import Tensor


def tensors(learner: Learner) -> dict[str, Tensor]:
    """Everything that has a gradient, or could have one."""
    return {
        "critic": learner.critic.matrix,
        "actor": learner.actor.matrix,
        "log_alpha": learner.log_alpha,
        "target": learner.target,
        "averaged": learner.averaged,
        "best": learner.best,
    }


def copies(learner: Learner) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in tensors(learner).items()}


def changed(learner: Learner, before: dict[str, Tensor]) -> set[str]:
    return {name for name, tensor in copies(learner).items() if not torch.equal(tensor, before[name])}


def test_nothing_accumulates_a_gradient() -> None:
    learner = small_learner(**REGULARISED)
    for index in range(3):
        learner.update(random_batch(index))
    assert all(tensor.grad is None for tensor in tensors(learner).values())


def bootstrap(learner: Learner) -> tuple[Tensor, Tensor]:
    learner.generator.manual_seed(3)
    batch = random_batch()
    y, log_prob = bootstrap_target(learner, batch, learner.alpha)
    return y, log_prob


def test_the_target_reads_the_frozen_critics_alone() -> None:
    learner = small_learner(**REGULARISED)
    before, kappa = bootstrap(learner), learner.kappa().clone()
    assert not before[0].requires_grad
    assert not before[1].requires_grad
    with torch.no_grad():
        learner.critic.matrix += 1.0
        learner.averaged += 1.0
    after = bootstrap(learner)
    assert torch.equal(before[0], after[0]), "neither the online critics nor the averaged policy are in it"
    assert torch.equal(kappa, learner.kappa())
    learner.target *= 1.5
    moved = bootstrap(learner)
    going = random_batch().terminal == 0
    assert (moved[0] != before[0])[:, going].all()
    assert torch.equal(moved[0][:, ~going], before[0][:, ~going])
    assert torch.allclose(learner.kappa(), 1.5 * kappa)
    with torch.no_grad():
        learner.actor.matrix += 0.5
    assert not torch.equal(bootstrap(learner)[1], moved[1]), "a′ is drawn from the present policy"


@pytest.mark.parametrize("term", ["lambda_epi", "lambda_ale"])
def test_a_penalty_moves_the_target_and_not_the_slope(term: str) -> None:
    """The critics' gradient is 2(Q_k − y_k)·∇Q_k/B: a penalty enters by y alone, equally for all that follows."""
    plain, penalised = (small_learner(**{"lambda_epi": 0.0, "lambda_ale": 0.0, term: size}) for size in (0.0, 0.5))
    (y, _), (lower, _) = bootstrap(plain), bootstrap(penalised)
    going = random_batch().terminal == 0
    assert (lower < y)[:, going].all()
    gap = (y - lower)[:, going]
    if term == "lambda_ale":
        expected = (0.99 * 0.5 * plain.kappa())[:, None].expand_as(gap)
        torch.testing.assert_close(gap, expected, rtol=1e-4, atol=1e-4)
    else:
        torch.testing.assert_close(gap, gap[:1].expand_as(gap), rtol=1e-4, atol=1e-4)


def test_an_update_changes_what_it_should() -> None:
    learner = small_learner(actor_every=2, anchor_weight=0.1, tau=0.02, ema_rate=0.3)
    before = copies(learner)
    learner.update(random_batch(0))
    assert changed(learner, before) == {"critic", "log_alpha", "target"}
    torch.testing.assert_close(learner.target, torch.lerp(before["target"], learner.critic.matrix.detach(), 0.02))
    second = copies(learner)
    learner.update(random_batch(1))
    assert changed(learner, second) == {"critic", "log_alpha", "target", "actor", "averaged"}
    torch.testing.assert_close(learner.target, torch.lerp(second["target"], learner.critic.matrix.detach(), 0.02))
    torch.testing.assert_close(learner.averaged, torch.lerp(second["averaged"], learner.actor.matrix.detach(), 0.3))
    assert learner.updates == 2


@pytest.mark.parametrize(("clip", "moved"), [(1e-12, False), (None, True)])
def test_gradients_are_clipped_head_by_head(clip: float | None, moved: bool) -> None:
    """Adam forgets a gradient's size unless it is far below its ε of 1e-8."""
    learner = small_learner(grad_clip=clip, actor_every=1)
    before = copies(learner)
    learner.update(random_batch())
    for name in ("critic", "actor"):
        step = (copies(learner)[name] - before[name]).abs().amax(1)
        assert ((step > 1e-5) == moved).all()


def test_one_heads_gradient_does_not_shrink_anothers() -> None:
    learner = small_learner(ensemble_size=2, beta_ood=0.0, grad_clip=1.0, lambda_epi=0.0)
    plain = small_learner(ensemble_size=2, beta_ood=0.0, grad_clip=1.0, lambda_epi=0.0)
    with torch.no_grad():
        layout = learner.critic.layout
        learner.critic.matrix[1, layout.offsets[2 * layout.layers - 1]] += 1e4  # the second head is far off
    before = learner.critic.matrix.detach().clone()
    for one in (learner, plain):
        one.update(random_batch())
    torch.testing.assert_close(learner.critic.matrix[0], plain.critic.matrix[0])
    assert not torch.equal(learner.critic.matrix[1], before[1])


def test_terminal_states_do_not_count_for_the_temperature() -> None:
    first, second = small_learner(), small_learner()
    batch = random_batch()
    other = batch.next_state.dense.clone()
    other[batch.terminal == 1] = 50.0
    first.update(batch)
    second.update(batch._replace(next_state=batch.next_state._replace(dense=other)))
    assert first.log_alpha.item() == second.log_alpha.item()
    assert torch.equal(first.critic.matrix, second.critic.matrix), "nor for the critics"


def test_states_that_are_all_terminal_leave_the_temperature_alone() -> None:
    learner = small_learner()
    before, batch = learner.log_alpha.item(), random_batch()
    learner.update(batch._replace(terminal=torch.ones_like(batch.terminal)))
    assert learner.log_alpha.item() == before
