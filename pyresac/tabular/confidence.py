"""From data to a guarantee: a robust MDP that holds the true one with a given confidence.

Let the transitions of each pair be n independent draws from its row p, p̂ their frequencies, m the number of pairs, and
δ = 1 − confidence. By a union bound over the pairs, all rows lie in their sets at once with probability at least 1 − δ:

* "l1": ‖p̂ − p‖₁ ≤ √(2(log(2^S − 2) + log(m/δ))/n), S states (Weissman and others 2003).
* "kl": KL(p̂‖p) ≤ (log C(n + S − 1, S − 1) + log(m/δ))/n, by the method of types: there are so many frequencies of n
  draws, and each whose divergence is r has probability e^(−nr) at most (Cover and Thomas 2006, Theorem 11.1.4).
* "bernstein": |p̂(s') − p(s')| ≤ √(2·V·log(4mS/δ)/n) + 7·log(4mS/δ)/(3(n − 1)) for each s', V the sample variance of
  the indicator of s' (Maurer and Pontil 2009, Theorem 4, for both tails and all S successors). Sharper where rows are
  sparse. It takes S·A·S numbers.
* "bayes": p(s') between the δ/(2mS)-quantiles of its posterior, Beta(1 + count(s'), S − 1 + n − count(s')), under the
  uniform prior on rows. The promise is of the posterior: it holds for the data in hand if the truth was drawn from the
  prior, and of no fixed truth (Russel and Petrik 2019). It takes S·A·S numbers.

In that event the robust value of every policy is at most its true value (`RESAC.robust_rev_contraction` and monotony;
C03): so the value of the robust policy, less the solver's error, is a lower bound on what that policy truly earns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, special

from pyresac.errors import InputError
from pyresac.tabular.checks import Floats, check_number, finite_array
from pyresac.tabular.expectations import ExpectationFunctional, IntervalSet, L1Ball, LikelihoodBall
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.readers.counts import checked_counts
from pyresac.tabular.solvers import Solution, solve

SetName = Literal["l1", "kl", "bernstein", "bayes"]
UNSEEN = 1e4
"""A radius of the likelihood ball at which a row keeps e^−10000 of its mass at least: 0 in float64."""


@dataclass(frozen=True, eq=False)
class RobustMDP:
    """A nominal MDP and a set around its kernel that holds the true kernel with probability at least `confidence`."""

    mdp: FiniteMDP
    expectation: ExpectationFunctional
    confidence: float

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike | sparse.sparray,
        reward: ArrayLike,
        discount: float,
        *,
        confidence: float = 0.95,
        set: SetName = "l1",
    ) -> RobustMDP:
        """From transitions seen: counts (S, A, S) or sparse (S·A, S), whole numbers; reward (S, A), known.

        A pair that was never seen may do anything (its nominal row stays where it is, its set is the whole simplex).
        Raises InputError for shapes that disagree, counts that are no whole numbers, or options out of range.
        """
        delta = 1.0 - check_number("confidence", confidence, "in (0, 1)", low=0.0, high=1.0, open_low=True)
        if delta <= 0.0:
            raise InputError(f"confidence is {confidence}; it must be in (0, 1)")
        if set not in get_args(SetName):
            raise InputError(f"set is {set!r}; it must be one of {', '.join(map(repr, get_args(SetName)))}")
        rewards = finite_array("reward", reward, ndim=2)
        table, seen = checked_counts(counts, rewards.shape)
        if (table.data != np.floor(table.data)).any():
            raise InputError(
                f"counts holds {table.data[table.data != np.floor(table.data)][0]}; counts are whole numbers"
            )
        n_states, n_actions = rewards.shape
        never = np.flatnonzero(seen.ravel() == 0)
        loops = sparse.csr_array((np.ones(len(never)), (never, never // n_actions)), shape=table.shape)
        scale = sparse.diags_array(1.0 / np.maximum(seen.ravel(), 1.0))
        mdp = FiniteMDP.from_arrays((scale @ table + loops).tocsr(), rewards, discount, renormalise=True)
        if set == "l1":
            return cls(mdp, L1Ball(_weissman(seen, n_states, delta)), 1.0 - delta)
        if set == "kl":
            return cls(mdp, LikelihoodBall(_types(seen, n_states, delta)), 1.0 - delta)
        if set == "bayes":
            return cls(mdp, _posterior(table.toarray().reshape(n_states, n_actions, n_states), delta), 1.0 - delta)
        return cls(mdp, _bernstein(mdp, seen, delta), 1.0 - delta)

    def operator(self, **options: Any) -> RevOperator:
        """The robust backup; options as for `RevOperator` (value, penalties)."""
        return RevOperator(self.mdp, expectation=self.expectation, **options)

    def solve(self, **options: Any) -> tuple[Solution, Floats]:
        """(the robust solution, a lower bound (S,) on the true value of its policy). Options as for `solve`.

        With probability at least `confidence` over the data, the bound holds in all states at once, whatever the true
        kernel is; rounding is counted.
        """
        solution = solve(self.operator(), **options)
        # The greedy policy may give away four error bounds a step against its own robust value.
        loss = 1.0000001 * solution.error_bound * (1.0 + 4.0 / (1.0 - self.mdp.discount))
        return solution, np.nextafter(solution.v - loss, -np.inf)


def _weissman(seen: Floats, n_states: int, delta: float) -> Floats:
    """The radius of each pair; 2 where nothing was seen, 0 where there is one state."""
    if n_states == 1:
        return np.zeros(seen.shape)
    # log(2^S − 2) = S·log 2 + log(1 − 2^(1 − S)), rounded up as a whole
    subsets = n_states * math.log(2.0) + math.log1p(-(2.0 ** (1 - n_states)))
    radius = 1.0000001 * np.sqrt(2.0 * (subsets + math.log(seen.size / delta)) / np.maximum(seen, 1.0))
    return np.where(seen > 0, np.minimum(radius, 2.0), 2.0)


def _types(seen: Floats, n_states: int, delta: float) -> Floats:
    """The radius of each pair; `UNSEEN` where nothing was seen, 0 where there is one state."""
    if n_states == 1:
        return np.zeros(seen.shape)
    draws, place = np.unique(seen, return_inverse=True)
    # log C(n + S − 1, S − 1) = Σ log(1 + n/i)
    log_types = sum((np.log1p(draws / i) for i in range(1, n_states)), np.zeros(len(draws)))
    radius = 1.0000001 * (log_types + math.log(seen.size / delta)) / np.maximum(draws, 1.0)
    return np.where(draws > 0, radius, UNSEEN)[place].reshape(seen.shape)


def _posterior(counts: Floats, delta: float) -> IntervalSet:
    """Equal tails of each probability's posterior, rounded outwards."""
    n_states = counts.shape[2]
    if n_states == 1:
        return IntervalSet(np.ones(counts.shape), np.ones(counts.shape))
    tail = delta / (2 * counts.size)
    hits = 1.0 + counts
    misses = n_states + counts.sum(axis=2, keepdims=True) - hits
    low, slack = special.betaincinv(hits, misses, tail), special.betaincinv(misses, hits, tail)
    return IntervalSet(0.9999999 * low, np.minimum(1.0 - 0.9999999 * slack, 1.0))


def _bernstein(mdp: FiniteMDP, seen: Floats, delta: float) -> IntervalSet:
    frequency, n = mdp.dense(), seen[:, :, None]
    log_term = math.log(4.0 * seen.size * mdp.n_states / delta)
    trials = np.maximum(n, 2.0)
    variance = frequency * (1.0 - frequency) * trials / (trials - 1.0)
    radius = 1.0000001 * (np.sqrt(2.0 * variance * log_term / trials) + 7.0 * log_term / (3.0 * (trials - 1.0)))
    radius = np.where(n >= 2, radius, 1.0)
    return IntervalSet(np.clip(frequency - radius, 0.0, 1.0), np.clip(frequency + radius, 0.0, 1.0))
