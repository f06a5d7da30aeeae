"""The REV operator over ℚ and its exact fixed point (Lean: `RESAC.rev`, `RESAC.revNext`; claims C08–C11, C22)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from pyresac.errors import InputError
from pyresac.tabular.exact.linear import solve_linear
from pyresac.tabular.exact.mdp import (
    ExactMDP,
    Kernel,
    Number,
    Table,
    check_flags,
    check_kernel,
    check_shape,
    kernel,
    rational,
    table,
    vector,
)
from pyresac.tabular.exact.sets import WorstRow

Value: TypeAlias = Literal["max", "min"] | Table
"""The value functional: the best action, the worst one, or the mean under a policy π[s][a]."""

Adversary: TypeAlias = list[list[Sequence[Fraction]]]
"""A row for each pair."""


@dataclass(frozen=True)
class ExactRev:
    """T Q = R + γ(E[V(Q)] − λ_epi·Γ − κ) with frozen penalties, exactly.

    epistemic: Γ as a table, or None for 0. value: "max", "min", or a policy [s][a] (rows are probability vectors).
    kernels: a finite (s,a)-rectangular set; E is then the worst of them at each pair (Lean: `fmin` of expectations).
    inner: the worst row of a set, one of `exact.sets`, instead of `kernels`; its rows are vertices of the set.
    penalty_at: "pair" reads Γ(s, a); "next" reads Γ(s', a') inside the expectation: R + γ(E[V(Q − λ_epi·Γ)] − κ).
    done: [s][a] booleans. Where true, the bracket is masked, R + γ·0: the reading of terminal transitions
    that `(1 − done)` gives. Discounting (C10) and the ranking under a constant κ (C22 d) fail there.

    Unavailable pairs hold 0 in every table returned and are never read.
    """

    mdp: ExactMDP
    epistemic: Table | None = None
    lambda_epi: Number = Fraction(0)
    kappa: Number = Fraction(0)
    value: Value = "max"
    kernels: Sequence[Kernel] | None = None
    penalty_at: Literal["pair", "next"] = "pair"
    done: Sequence[Sequence[bool]] | None = None
    inner: WorstRow | None = None
    _gamma: Table = field(init=False, repr=False, default=())
    _kernels: tuple[Kernel, ...] = field(init=False, repr=False, default=())

    def __post_init__(self) -> None:
        mdp = self.mdp
        if not isinstance(mdp, ExactMDP):
            raise InputError(f"mdp is a {type(mdp).__name__}; it must be an ExactMDP (FiniteMDP.to_exact gives one)")
        gamma = mdp.constant(0) if self.epistemic is None else table(self.epistemic)
        check_shape("epistemic", gamma, mdp.n_states, mdp.n_actions)
        object.__setattr__(self, "_gamma", gamma)
        object.__setattr__(self, "lambda_epi", rational(self.lambda_epi))
        object.__setattr__(self, "kappa", rational(self.kappa))
        if self.penalty_at not in ("pair", "next"):
            raise InputError(f"penalty_at is {self.penalty_at!r}; it must be 'pair' or 'next'")
        if not isinstance(self.value, str):
            object.__setattr__(self, "value", _policy(self.value, mdp))
        elif self.value not in ("max", "min"):
            raise InputError(f"value is {self.value!r}; it must be 'max', 'min' or a policy [s][a]")
        if self.kernels is not None and (not isinstance(self.kernels, Sequence) or len(self.kernels) == 0):
            raise InputError(f"kernels is {self.kernels!r}; a robust set needs a sequence of at least one kernel")
        chosen = (mdp.transition,) if self.kernels is None else tuple(kernel(k) for k in self.kernels)
        for i, k in enumerate(chosen):
            check_kernel(f"kernels[{i}]", k, mdp)
        object.__setattr__(self, "_kernels", chosen)
        if self.kernels is not None and self.inner is not None:
            raise InputError("kernels and inner are both given; a robust set is one of them")
        if self.inner is not None and not callable(self.inner):
            raise InputError(f"inner is {self.inner!r}; it must be a function of (p, v), one of exact.sets")
        if self.done is not None:
            check_flags("done", self.done, mdp)

    def __call__(self, q: Table) -> Table:
        """T Q for rationals Q [s][a]. Raises InputError for floats or another shape."""
        return self.backup(self.value_of(q))

    def value_of(self, q: Table) -> tuple[Fraction, ...]:
        """V(Q) in the pair form, V(Q − λ_epi·Γ) in the next form: one number a state. Raises InputError as a call."""
        q = table(q)
        check_shape("Q", q, self.mdp.n_states, self.mdp.n_actions)
        return tuple(self._value(s, self._seen(q, s)) for s in range(self.mdp.n_states))

    def backup(self, v: Sequence[Fraction]) -> Table:
        """R + γ(E v − frozen penalty), masked where done. Raises InputError for floats or another length."""
        mdp, v = self.mdp, vector("v", v, self.mdp.n_states)
        return tuple(
            tuple(
                mdp.reward[s][a] + mdp.discount * self._bracket(s, a, v) if a in mdp.actions(s) else Fraction(0)
                for a in range(mdp.n_actions)
            )
            for s in range(mdp.n_states)
        )

    def frozen(self, s: int, a: int) -> Fraction:
        """What is subtracted inside the bracket at (s, a): λ_epi·Γ(s, a) + κ in the pair form, κ in the next form."""
        here = self.lambda_epi * self._gamma[s][a] if self.penalty_at == "pair" else Fraction(0)
        return Fraction(here + self.kappa)

    def fixed_point(self) -> Table:
        """The unique Q with T Q = Q, exactly (C11).

        Strategy improvement (Howard for one player, Hoffman–Karp against a robust set): each evaluation is one
        rational linear system, each improvement strict, so it ends after finitely many.
        """
        mdp = self.mdp
        weights = [self._start(s) for s in range(mdp.n_states)]
        adversary: Adversary = [list(self._kernels[0][s]) for s in range(mdp.n_states)]
        while True:
            v = self._evaluate_against(weights, adversary)
            q = self.backup(v)
            if isinstance(self.value, tuple):
                return q
            better = False
            for s in range(mdp.n_states):
                seen = self._seen(q, s)
                best = self._value(s, seen)
                if best != v[s]:
                    choice = next(a for a in mdp.actions(s) if seen[a] == best)
                    weights[s] = [Fraction(int(a == choice)) for a in range(mdp.n_actions)]
                    better = True
            if not better:
                return q

    def _seen(self, q: Table, s: int) -> list[Fraction]:
        """The values that V reads at state s."""
        if self.penalty_at == "pair":
            return list(q[s])
        return [x - self.lambda_epi * g for x, g in zip(q[s], self._gamma[s], strict=True)]

    def _value(self, s: int, values: Sequence[Fraction]) -> Fraction:
        if isinstance(self.value, tuple):
            return sum((p * x for p, x in zip(self.value[s], values, strict=True)), Fraction(0))
        choose = max if self.value == "max" else min
        return choose(values[a] for a in self.mdp.actions(s))

    def _worst_row(self, s: int, a: int, v: Sequence[Fraction]) -> Sequence[Fraction]:
        """The first row of the set at (s, a) with the least expectation of v."""
        if self.inner is not None:
            row = vector(f"inner's row at (s={s}, a={a})", self.inner(self.mdp.transition[s][a], v), len(v))
            if min(row) < 0 or sum(row) != 1:
                raise InputError(
                    f"inner's row at (s={s}, a={a}) is {[str(x) for x in row]}; it must sum to 1, each ≥ 0"
                )
            return row
        return min((k[s][a] for k in self._kernels), key=lambda row: _dot(row, v))

    def _masked(self, s: int, a: int) -> bool:
        return self.done is not None and self.done[s][a]

    def _bracket(self, s: int, a: int, v: Sequence[Fraction]) -> Fraction:
        if self._masked(s, a):
            return Fraction(0)
        return _dot(self._worst_row(s, a, v), v) - self.frozen(s, a)

    def _start(self, s: int) -> list[Fraction]:
        if isinstance(self.value, tuple):
            return list(self.value[s])
        first = self.mdp.actions(s)[0]
        return [Fraction(int(a == first)) for a in range(self.mdp.n_actions)]

    def _evaluate_against(self, weights: list[list[Fraction]], adversary: Adversary) -> list[Fraction]:
        """The value of `weights` against the worst kernel of each pair; `adversary` is improved in place."""
        while True:
            v = self._evaluate(weights, adversary)
            changed = False
            for s in range(self.mdp.n_states):
                for a in self.mdp.actions(s):
                    worst = self._worst_row(s, a, v)
                    if _dot(worst, v) < _dot(adversary[s][a], v):
                        adversary[s][a] = worst
                        changed = True
            if not changed:
                return v

    def _evaluate(self, weights: list[list[Fraction]], adversary: Adversary) -> list[Fraction]:
        """Solve v(s) = Σ_a w(s,a)·(seen(s,a)), linear once the kernels are chosen."""
        mdp, n = self.mdp, self.mdp.n_states
        matrix = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
        right = [Fraction(0)] * n
        for s in range(n):
            for a in mdp.actions(s):
                w = weights[s][a]
                right[s] += w * mdp.reward[s][a]
                if self.penalty_at == "next":
                    right[s] -= w * self.lambda_epi * self._gamma[s][a]
                if self._masked(s, a):
                    continue
                right[s] -= w * mdp.discount * self.frozen(s, a)
                row = adversary[s][a]
                for j in range(n):
                    matrix[s][j] -= w * mdp.discount * row[j]
        return solve_linear(matrix, right)


def _dot(row: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    return sum((p * x for p, x in zip(row, v, strict=True)), Fraction(0))


def _policy(policy: Table, mdp: ExactMDP) -> Table:
    policy = table(policy)
    check_shape("policy", policy, mdp.n_states, mdp.n_actions)
    for s, row in enumerate(policy):
        if min(row) < 0 or sum(row) != 1:
            raise InputError(
                f"row s={s} of policy is {[str(x) for x in row]}; it must be a probability vector over the actions"
            )
        blocked = [a for a in range(mdp.n_actions) if row[a] > 0 and a not in mdp.actions(s)]
        if blocked:
            raise InputError(f"policy takes the unavailable action a={blocked[0]} at s={s}")
    return policy
