"""No certificate outlives its data: whatever a caller does with its arrays later, nothing that was built changes."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from pyresac.tabular import (
    Chi2Ball,
    Contamination,
    CressieReadBall,
    CVaR,
    EntropicRisk,
    FiniteMDP,
    IntervalSet,
    KLBall,
    L1Ball,
    LikelihoodBall,
    LInfinityBall,
    PolicyEntropy,
    PolicyMean,
    RenyiBall,
    RevOperator,
    TotalVariation,
    WassersteinBall,
    WorstOfKernels,
    solve,
)
from pyresac.tabular.checks import owned

KERNEL = np.array([[[0.5, 0.5], [0.25, 0.75]], [[1.0, 0.0], [0.5, 0.5]]])
REWARD = np.array([[1.0, -2.0], [0.5, 3.0]])
POLICY = np.array([[0.5, 0.5], [0.25, 0.75]])
FORMATS = ["csr_array", "csc_array", "coo_array", "bsr_array", "csr_matrix"]


def spoil(given: Any) -> None:
    """Write rubbish into every buffer of `given`."""
    if sparse.issparse(given):
        for part in (given.data, *(getattr(given, name, None) for name in ("indices", "indptr"))):
            if part is not None:
                part[...] = 0
    elif isinstance(given, np.ndarray):
        given[...] = 0
    else:
        for i in range(len(given)):
            given[i] = 0.0


def mdp_of(kernel: Any = KERNEL, reward: Any = REWARD, **options: Any) -> FiniteMDP:
    return FiniteMDP.from_arrays(kernel, reward, 0.9, **options)


MDP = mdp_of()
CASES: dict[str, tuple[Callable[[], Any], Callable[[Any], RevOperator]]] = {
    "transition": (KERNEL.copy, lambda x: RevOperator(mdp_of(x))),
    "reward": (REWARD.copy, lambda x: RevOperator(mdp_of(reward=x))),
    "available": (lambda: np.array([[True, False], [True, True]]), lambda x: RevOperator(mdp_of(available=x))),
    "epistemic": (REWARD.copy, lambda x: RevOperator(MDP, epistemic=x, lambda_epi=1.0)),
    "policy": (POLICY.copy, lambda x: RevOperator(MDP, value=PolicyMean(x))),
    "policy with entropy": (POLICY.copy, lambda x: RevOperator(MDP, value=PolicyEntropy(x, 0.1))),
    "kernels": (KERNEL.copy, lambda x: RevOperator(MDP, expectation=WorstOfKernels([x]))),
    "lower": (lambda: KERNEL / 2, lambda x: RevOperator(MDP, expectation=IntervalSet(x, np.ones((2, 2, 2))))),
    "upper": (lambda: KERNEL + 0.0, lambda x: RevOperator(MDP, expectation=IntervalSet(np.zeros((2, 2, 2)), x))),
    "l1 radius": (lambda: REWARD * 0 + 0.5, lambda x: RevOperator(MDP, expectation=L1Ball(x))),
    "kl radius": (lambda: REWARD * 0 + 0.5, lambda x: RevOperator(MDP, expectation=KLBall(x))),
    "beta": (lambda: REWARD * 0 + 0.5, lambda x: RevOperator(MDP, expectation=EntropicRisk(x))),
    "counts": (KERNEL.copy, lambda x: RevOperator(FiniteMDP.from_counts(x, REWARD, 0.9))),
    **{
        f"transition as {name}": (
            lambda name=name: getattr(sparse, name)(KERNEL.reshape(4, 2)),  # type: ignore[misc]
            lambda x: RevOperator(mdp_of(x)),
        )
        for name in FORMATS
    },
}


@pytest.mark.parametrize("name", CASES)
def test_a_buffer_refilled_later_changes_nothing(name: str) -> None:
    make, build = CASES[name]
    given = make()
    operator = build(given)
    before = solve(operator, tolerance=1e-12).q.copy()
    spoil(given)
    np.testing.assert_array_equal(solve(operator, tolerance=1e-12).q, before)


BALLS: dict[str, Callable[[Any], Any]] = {
    "l1": L1Ball, "total variation": TotalVariation, "contamination": Contamination, "kl": KLBall,
    "likelihood": LikelihoodBall, "chi2": Chi2Ball, "cressie-read": CressieReadBall, "renyi": RenyiBall,
    "l infinity": LInfinityBall, "cvar": CVaR, "entropic": EntropicRisk,
    "wasserstein": lambda x: WassersteinBall(x, 1.0 - np.eye(2)),
    "metric": lambda x: WassersteinBall(0.1, x * (1.0 - np.eye(2))),
}  # fmt: skip


@pytest.mark.parametrize("name", BALLS)
def test_a_parameter_was_checked_and_stays_as_it_was(name: str) -> None:
    """Before any operator has it, too: nobody else writes to it, and it cannot be written to."""
    given = np.full((2, 2), 0.5)
    ball = BALLS[name](given)
    before = ball(MDP, np.array([1.0, -2.0]))
    given[...] = 0.25
    np.testing.assert_array_equal(ball(MDP, np.array([1.0, -2.0])), before)
    held = ball.metric if name == "metric" else getattr(ball, ball._name())
    assert held.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        held[0, 0] = 0.25


def test_only_what_others_may_write_to_is_copied() -> None:
    """A large model has room for few tables: what was made of a list, or of another form, is nobody else's."""
    table = np.arange(4.0).reshape(2, 2)
    for given in (None, [[0.0, 1.0], [2.0, 3.0]], ((0.0, 1.0), (2.0, 3.0)), 1.0, table + 1.0, sparse.csr_array(table)):
        assert np.shares_memory(owned(table, given), table)
    shared = sparse.csr_array(table)
    for form in (shared, shared.tocoo(copy=False), table, table.data):
        part = shared.data if sparse.issparse(form) else table
        kept = owned(part, form)
        assert not np.shares_memory(kept, part)
        np.testing.assert_array_equal(kept, part)
        assert not kept.flags.writeable


def test_what_an_mdp_holds_cannot_be_written_to() -> None:
    mask = mdp_of(available=[[True, False], [True, True]]).available
    assert mask is not None
    with pytest.raises(ValueError, match="read-only"):
        mask[...] = True
    for mdp in (mdp_of(initial=[0.5, 0.5]), mdp_of(sparse.csr_array(KERNEL.reshape(4, 2)))):
        parts = [mdp.reward, *mdp.csr()] + ([mdp.initial] if mdp.initial is not None else [])
        for part in parts[:1] + ([mdp.transition] if isinstance(mdp.transition, np.ndarray) else parts[1:]):
            with pytest.raises(ValueError, match="read-only"):
                part[...] = 0


def test_other_buffers_are_copied_too() -> None:
    buffer = array.array("d", REWARD.ravel())
    mdp = mdp_of(reward=np.frombuffer(buffer).reshape(2, 2))
    buffer[0] = 7.0
    assert mdp.reward[0, 0] == 1.0
    first = np.array([0.5, 0.5])
    mdp = mdp_of(initial=first)
    first[0] = 0.0
    assert mdp.initial is not None
    assert mdp.initial.tolist() == [0.5, 0.5]
