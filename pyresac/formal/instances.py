"""Small random rational instances for the vectors.

Drawn with `random.Random.random` alone, whose sequence Python guarantees for a seed; the strategies of the property
tests shrink and adapt, and another release of Hypothesis would draw other instances, so a generated file could not
be compared with a fresh one. Sizes and numbers are alike: one to three states, actions and kernels, small
numerators and denominators, absorbing and repeated rows among the transitions.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

from pyresac.tabular.exact import ExactMDP, Table
from pyresac.tabular.exact.mdp import Kernel

DENOMINATORS = (1, 1, 2, 3, 4, 5)
DISCOUNTS = (Fraction(1, 2), Fraction(0), Fraction(1, 3), Fraction(3, 4), Fraction(9, 10), Fraction(99, 100))
FACTORS = (Fraction(1), Fraction(1, 2), Fraction(3), Fraction(1, 100), Fraction(0))


@dataclass
class InstanceSource:
    """A source of instances, the same for the same seed on every machine."""

    generator: random.Random

    def below(self, n: int) -> int:
        """An integer in 0 … n − 1."""
        return int(self.generator.random() * n)

    def number(self, size: int = 8) -> Fraction:
        """n/d with |n| ≤ size."""
        return Fraction(self.below(2 * size + 1) - size, DENOMINATORS[self.below(len(DENOMINATORS))])

    def factor(self) -> Fraction:
        """A coefficient λ ≥ 0."""
        return FACTORS[self.below(len(FACTORS))]

    def discount(self) -> Fraction:
        """A discount in [0, 1)."""
        return DISCOUNTS[self.below(len(DISCOUNTS))]

    def distribution(self, n: int) -> tuple[Fraction, ...]:
        """A probability vector: the counts of one to five draws, so that zeros and point masses occur."""
        draws = [self.below(n) for _ in range(1 + self.below(5))]
        return tuple(Fraction(draws.count(i), len(draws)) for i in range(n))

    def table(self, n_states: int, n_actions: int) -> Table:
        """[s][a] numbers."""
        return tuple(tuple(self.number() for _ in range(n_actions)) for _ in range(n_states))

    def kernel(self, n_states: int, n_actions: int) -> Kernel:
        """[s][a][s'] rows of `distribution`, now and then absorbing."""
        return tuple(tuple(self._row(s, n_states) for _ in range(n_actions)) for s in range(n_states))

    def _row(self, s: int, n_states: int) -> tuple[Fraction, ...]:
        if self.below(5) == 0:
            return tuple(Fraction(int(j == s)) for j in range(n_states))
        return self.distribution(n_states)

    def mdp(self) -> ExactMDP:
        """One to three states with one to three actions each, not one of both."""
        n_states, n_actions = 1 + self.below(3), 1 + self.below(3)
        if n_states == n_actions == 1:
            n_states = 2
        discount = self.discount()
        return ExactMDP(self.kernel(n_states, n_actions), self.table(n_states, n_actions), discount)

    def like(self, mdp: ExactMDP) -> Table:
        """A table of the shape of `mdp`."""
        return self.table(mdp.n_states, mdp.n_actions)

    def policy(self, mdp: ExactMDP) -> Table:
        """π[s][a]."""
        return tuple(self.distribution(mdp.n_actions) for _ in range(mdp.n_states))

    def kernels(self, mdp: ExactMDP) -> tuple[Kernel, ...]:
        """A robust set: the kernel of `mdp` and one or two more."""
        return (mdp.transition, *(self.kernel(mdp.n_states, mdp.n_actions) for _ in range(1 + self.below(2))))

    def done(self, mdp: ExactMDP) -> tuple[tuple[bool, ...], ...]:
        """[s][a] marks of terminal pairs."""
        return tuple(tuple(self.below(2) == 0 for _ in range(mdp.n_actions)) for _ in range(mdp.n_states))
