"""The REV operator of the paper with frozen penalties, in float64.

penalty_at="pair":  T Q(s, a) = R(s, a) + γ(E[V(Q)](s, a) − λ_epi·Γ(s, a) − κ)   the paper's Eq. 6, Lean `RESAC.rev`
penalty_at="next":  T Q(s, a) = R(s, a) + γ(E[V(Q − λ_epi·Γ)](s, a) − κ)         its Eq. target_y, `RESAC.revNext`

For every monetary V and E both are γ-contractions in the sup-norm with one fixed point (C11, `RESAC.rev_contraction`).
In the first form the penalties cancel in T Q₁ − T Q₂; in the second only when V is linear (C08).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pyresac.errors import InputError
from pyresac.tabular.checks import Floats, check_number, finite_array, largest_of, real_array
from pyresac.tabular.expectations import ExpectationFunctional, Nominal
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.values import UNIT, Max, ValueFunctional


class RevOperator:
    """T, with everything that it depends on fixed at construction.

    mdp: the model. epistemic: Γ (S, A), finite, or None for 0. lambda_epi: λ_epi ≥ 0. kappa: κ, any finite number
    (already multiplied by λ_ale). value, expectation: monetary functionals. penalty_at: where Γ is read.

    On a done-masked reading of an MDP the frozen penalties are multiplied by the probability that the episode goes on
    (C22 d). Tables hold −inf at unavailable pairs.

    Raises InputError for shapes that disagree, numbers out of range, or a functional that does not fit the MDP.
    """

    def __init__(
        self,
        mdp: FiniteMDP,
        *,
        epistemic: ArrayLike | None = None,
        lambda_epi: float = 0.0,
        kappa: float = 0.0,
        value: ValueFunctional | None = None,
        expectation: ExpectationFunctional | None = None,
        penalty_at: Literal["pair", "next"] = "pair",
    ) -> None:
        if penalty_at not in ("pair", "next"):
            raise InputError(f"penalty_at is {penalty_at!r}; it must be 'pair' or 'next'")
        for name, given, kind in (
            ("mdp", mdp, FiniteMDP),
            ("value", Max() if value is None else value, ValueFunctional),
            ("expectation", Nominal() if expectation is None else expectation, ExpectationFunctional),
        ):
            if not isinstance(given, kind):
                what = f"the class {given.__name__}" if isinstance(given, type) else f"a {type(given).__name__}"
                raise InputError(f"{name} is {what}; it must be an instance of {kind.__name__}")
        self.mdp = mdp
        self.value: ValueFunctional = Max() if value is None else value
        self.value.check(mdp.n_states, mdp.n_actions)
        self.expectation = (Nominal() if expectation is None else expectation).bound_to(mdp)
        self.penalty_at = penalty_at
        self.lambda_epi = check_number("lambda_epi", lambda_epi, "a finite number of at least 0", low=0.0)
        self.kappa = check_number("kappa", kappa, "a finite number", low=-np.inf)
        # Zeros that nobody gave take no memory: a large model has room for few tables.
        nothing: Floats = np.broadcast_to(np.float64(0.0), mdp.reward.shape)
        gamma = nothing if epistemic is None else finite_array("epistemic", epistemic)
        if gamma.shape != mdp.reward.shape:
            raise InputError(f"epistemic has shape {gamma.shape}; the MDP asks for {mdp.reward.shape}")
        if mdp.terminal is not None and epistemic is not None:
            gamma = np.where(mdp.terminal[:, None], 0.0, gamma)
        self.scaled: Floats = nothing if epistemic is None else self.lambda_epi * gamma
        """λ_epi·Γ, (S, A)."""
        bare = self.kappa == 0.0 and (epistemic is None or penalty_at == "next")
        if bare:
            frozen = nothing
        else:
            frozen = self.scaled + self.kappa if penalty_at == "pair" else np.full(mdp.reward.shape, self.kappa)
        self.frozen: Floats = frozen if mdp.continuation is None else frozen * mdp.continuation
        """What the bracket subtracts at each pair, (S, A)."""
        self.shifted_reward: Floats = mdp.reward.view() if bare else mdp.reward - mdp.discount * self.frozen
        """R − γ·frozen, (S, A): T is a plain backup of this reward (the paper's own remark)."""
        for array in (self.scaled, self.frozen, self.shifted_reward):
            array.setflags(write=False)
        self._scaled_size, self._frozen_size = largest_of(self.scaled), largest_of(self.frozen)

    def __call__(self, q: Floats) -> Floats:
        """T Q for Q (S, A). Raises InputError for another shape."""
        table = real_array("Q", q)
        if table.shape != self.mdp.reward.shape:
            raise InputError(f"Q has shape {table.shape}; the MDP asks for {self.mdp.reward.shape}")
        return self.backup(self.value_of(table))

    def seen(self, q: Floats) -> Floats:
        """What V reads: Q in the pair form, Q − λ_epi·Γ in the next form."""
        return q if self.penalty_at == "pair" else q - self.scaled

    def value_of(self, q: Floats) -> Floats:
        """V of what it reads, (S,)."""
        return self.value(self.seen(q), self.mdp.available)

    def backup(self, v: Floats) -> Floats:
        """R + γ(E v − frozen), (S, A) from (S,)."""
        q = self.shifted_reward + self.mdp.discount * self.expectation(self.mdp, v)
        return q if self.mdp.available is None else np.where(self.mdp.available, q, -np.inf)

    def distance(self, first: Floats, second: Floats) -> float:
        """‖first − second‖∞ over the available pairs."""
        if self.mdp.available is None:
            return float(np.abs(first - second).max())
        return float(np.abs(first[self.mdp.available] - second[self.mdp.available]).max())

    @property
    def modulus(self) -> float:
        """γ: T is a γ-contraction, for the kernel whose rows are the stored ones divided by their exact sums."""
        return self.mdp.discount

    def rounding(self, magnitude: float) -> float:
        """A bound on ‖fl(T Q) − T Q‖∞ whenever |Q| ≤ magnitude, with u = 2⁻⁵³.

        T is the exact operator of the stored numbers, rows divided by their sums. The value functional's error passes
        through E unmagnified, since E is non-expansive; the rest is the arithmetic of R + γ(e − frozen), whichever way
        it is bracketed.
        """
        mdp = self.mdp
        penalty = self._scaled_size if self.penalty_at == "next" else 0.0
        seen = (magnitude + penalty) * (1 + 4 * UNIT)
        reading = 3 * UNIT * (magnitude + penalty) if self.penalty_at == "next" else 0.0
        value_error = reading + self.value.rounding(seen, mdp.n_actions)
        v = self.value.magnitude(seen, mdp.n_actions) + value_error
        inner = value_error + self.expectation.rounding(mdp, v)
        # κ + λΓ, times the continuation, times γ, and the sum with R and γe: at most 8 roundings of what is added up.
        parts = mdp.reward_size + mdp.discount * (v + self._frozen_size + abs(self.kappa) + penalty)
        return 1.01 * (mdp.discount * inner + 8 * UNIT * parts)
