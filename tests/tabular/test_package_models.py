"""Models of other packages at the edges of their forms, without those packages; and counts of transitions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP
from pyresac.tabular.readers import packages
from pyresac.tabular.readers.counts import from_counts


class Thing:
    """Stands for an object of another package: attributes."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


def storms(kind: str) -> Thing:
    """A model of one state, of a version that knows neither parameters nor intervals."""
    loop = Thing(transitions=[Thing(column=0, value=1.0)])
    return Thing(
        model_type=kind, reward_models={}, initial_states=[], nr_states=1, states=[Thing(id=0, actions=[loop])]
    )


@pytest.mark.parametrize("kind", ["MDP", "ModelType.MDP", "stormpy.ModelType.DTMC"])
def test_a_kind_of_stormpy_is_its_last_word(kind: str) -> None:
    mdp = FiniteMDP.from_storm(storms(kind), 0.5)
    assert mdp.dense().tolist() == [[[1.0]]]
    assert mdp.initial is None


@pytest.mark.parametrize("model", [Thing(), storms("ModelType.CTMC"), storms("MDP.Other")])
def test_another_kind_of_stormpy_is_refused(model: Thing) -> None:
    kind = getattr(model, "model_type", "Thing").rsplit(".")[-1]
    with pytest.raises(InputError, match=f"^the model is {kind}; it must be a stormpy MDP or DTMC$"):
        FiniteMDP.from_storm(model, 0.5)


def test_what_is_unavailable_in_quantecon_earns_nothing() -> None:
    """In the form of pairs, those that are not named are not there; their order is the problem's."""
    pairs = Thing(
        R=[3.0, 5.0, 7.0], Q=np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]), beta=0.5, s_indices=[1, 0, 1],
        a_indices=[2, 1, 0],
    )  # fmt: skip
    model = packages.from_quantecon(pairs)
    assert np.asarray(model.reward).tolist() == [[0, 5, 0], [7, 0, 3]]
    mdp = FiniteMDP.from_quantecon(pairs, 0.25)
    assert mdp.discount == 0.25
    assert mdp.dense().tolist() == [[[0, 0], [1, 0], [0, 0]], [[0, 1], [0, 0], [0.5, 0.5]]]
    with pytest.raises(InputError, match=r"^a DiscreteDP has R, Q and beta; this Thing lacks R, Q, beta$"):
        FiniteMDP.from_quantecon(Thing())


@pytest.mark.parametrize(("states", "actions"), [(1, 1), (2, 3), (3, 1), (4, 3)])
@pytest.mark.parametrize("as_csr", [False, True])
def test_pymdptoolbox_of_any_size(states: int, actions: int, as_csr: bool) -> None:
    """P and R entry by entry."""
    rng = np.random.default_rng(0)
    kernel = rng.integers(1, 9, size=(actions, states, states)) / 8.0
    kernel[:, :, 0] += 8.0 - kernel.sum(2)
    kernel /= 8.0
    by_transition = rng.integers(-9, 9, size=(actions, states, states)).astype(float)
    matrices = [sparse.csr_array(part) for part in kernel] if as_csr else kernel
    expected = np.zeros((states, actions))
    for s, a, t in np.ndindex(states, actions, states):
        expected[s, a] += kernel[a, s, t] * by_transition[a, s, t]
    for reward in (by_transition, [sparse.csr_array(part) for part in by_transition], tuple(by_transition)):
        mdp = FiniteMDP.from_pr(matrices, reward, 0.5)
        for s, a in np.ndindex(states, actions):
            np.testing.assert_array_equal(mdp.dense()[s, a], kernel[a, s])
        np.testing.assert_array_equal(mdp.reward, expected)
    by_pair = rng.normal(size=(states, actions))
    np.testing.assert_array_equal(FiniteMDP.from_pr(matrices, by_pair, 0.5).reward, by_pair)
    of_states = rng.normal(size=states)
    np.testing.assert_array_equal(FiniteMDP.from_pr(matrices, of_states, 0.5).reward.T, [of_states] * actions)


@pytest.mark.parametrize("shapes", [[], [(2, 3)], [(3, 2)], [(2, 2), (3, 3)], [(2, 2), (2, 3)]])
def test_matrices_of_pymdptoolbox_are_square_and_alike(shapes: list[tuple[int, int]]) -> None:
    message = f"P has matrices of shapes {shapes}; expected A of one shape (S, S)"
    with pytest.raises(InputError, match=re.escape(message)):
        FiniteMDP.from_pr([np.ones(shape) for shape in shapes], [0.0, 0.0], 0.5)


FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "an array": lambda counts: counts,
    "a sparse matrix": lambda counts: sparse.csr_array(counts.reshape(-1, counts.shape[2])),
    "a sparse matrix that stores all zeros": lambda counts: sparse.csr_array(
        (counts.ravel(), np.tile(np.arange(counts.shape[2]), counts.shape[0] * counts.shape[1]),
         np.arange(0, counts.size + 1, counts.shape[2])), shape=(counts.shape[0] * counts.shape[1], counts.shape[2])
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_counts_may_be_weights_and_states_may_be_unseen(form: str) -> None:
    """Four states and three actions; the second and the last state were never left."""
    counts, sums = np.zeros((4, 3, 4)), np.zeros((4, 3))
    counts[0, 0], sums[0, 0] = [0, 0, 1, 0], 7.0
    counts[0, 2], sums[0, 2] = [0.125, 0.25, 0, 0.125], 2.0
    counts[2, 1], sums[2, 1] = [1, 0, 0, 3], -6.0
    mdp = FiniteMDP.from_counts(FORMS[form](counts), sums, 0.5)
    expected = np.zeros((4, 3, 4))
    expected[0, 0], expected[0, 2], expected[2, 1] = [0, 0, 1, 0], [0.25, 0.5, 0, 0.25], [0.25, 0, 0, 0.75]
    expected[1, :, 1] = expected[3, :, 3] = 1.0
    np.testing.assert_array_equal(mdp.dense(), expected)
    np.testing.assert_array_equal(mdp.reward, [[7, 0, 4], [0, 0, 0], [0, -1.5, 0], [0, 0, 0]])
    np.testing.assert_array_equal(mdp.available, [[True, False, True], [True] * 3, [False, True, False], [True] * 3])
    # quotients that do not sum to 1 are divided by their sum
    assert from_counts(FORMS[form](counts), sums, 0.5).renormalise


@pytest.mark.parametrize("form", FORMS)
def test_a_sum_of_what_was_never_seen_is_refused_by_its_place(form: str) -> None:
    """Neither a pair that was seen, nor one without a sum."""
    counts, sums = np.zeros((2, 3, 2)), np.zeros((2, 3))
    counts[0, 1], sums[0, 1], sums[1, 2] = [1, 0], 5.0, -0.5
    with pytest.raises(InputError, match=r"^reward_sums is -0\.5 at \(s=1, a=2\), a pair that was never seen$"):
        FiniteMDP.from_counts(FORMS[form](counts), sums, 0.5)
    for bad in (-0.5, np.inf):
        counts[1, 2, 1] = bad
        with pytest.raises(InputError, match="counts"):
            FiniteMDP.from_counts(FORMS[form](counts), sums, 0.5)
