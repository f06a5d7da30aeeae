"""Live (Q-dependent) penalties over ℚ: what happens when nothing is frozen (claims C13–C16, C36, C37)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from pyresac.errors import InputError
from pyresac.tabular.exact.mdp import ExactMDP, Number, Table, check_shape, rational, table
from pyresac.tabular.exact.operator import ExactRev, Value

Ensemble = Sequence[Table]
"""K tables, one a head."""


@dataclass(frozen=True)
class ExactLive:
    """The backup with a penalty that looks at the Q being updated.

    kind "scaled": R + γE[V(Q)] + λ·Q(s, a)            — the paper's T_bad on every pair (Lean: `RESAC.tBad`; C13)
    kind "norm":   R + γ(E[V(Q)] − λ·|Q(s, a)|)        — C14
    The next two act on K ≥ 2 heads; head k becomes R + γ(E[V(q_k)] − penalty), or, with target="mean",
    every head becomes R + γ(E[V(q̄)] − penalty):
    kind "variance": λ·Var, unbiased (K − 1)           — C15
    kind "gap":      λ·|q₁ − q₂|, K = 2              — C16
    "gap" is the standard deviation without roots: λ is λ_std/√2 for the unbiased one, λ_std/2 for the population one.
    """

    mdp: ExactMDP
    kind: Literal["scaled", "norm", "variance", "gap"]
    lam: Number
    value: Value = "max"
    target: Literal["head", "mean"] = "head"
    _backup: ExactRev = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam", rational(self.lam))
        if self.kind not in ("scaled", "norm", "variance", "gap"):
            raise InputError(f"kind is {self.kind!r}; it must be 'scaled', 'norm', 'variance' or 'gap'")
        if self.target not in ("head", "mean"):
            raise InputError(f"target is {self.target!r}; it must be 'head' or 'mean'")
        object.__setattr__(self, "_backup", ExactRev(self.mdp, value=self.value))

    def single(self, q: Table) -> Table:
        """T Q for the kinds "scaled" and "norm"."""
        if self.kind not in ("scaled", "norm"):
            raise InputError(f"kind {self.kind!r} acts on an ensemble of heads; call `heads`")
        q = table(q)
        plain = self._backup(q)
        factor = self.lam if self.kind == "scaled" else -self.mdp.discount * self.lam
        size = (lambda x: x) if self.kind == "scaled" else abs
        return self._each(lambda s, a: plain[s][a] + factor * size(q[s][a]))

    def heads(self, ensemble: Ensemble) -> tuple[Table, ...]:
        """The K new heads for the kinds "variance" and "gap"."""
        if not isinstance(ensemble, Sequence):
            raise InputError(f"the ensemble is a {type(ensemble).__name__}; it must be a sequence of tables [s][a]")
        k = len(ensemble)
        if self.kind not in ("variance", "gap"):
            raise InputError(f"kind {self.kind!r} acts on one table; call `single`")
        if k < 2 or (self.kind == "gap" and k != 2):
            allowed = "exactly 2" if self.kind == "gap" else "at least 2"
            raise InputError(f"the ensemble has K = {k} heads; kind {self.kind!r} needs {allowed}")
        for i, q in enumerate(tables := [table(q) for q in ensemble]):
            check_shape(f"head {i}", q, self.mdp.n_states, self.mdp.n_actions)
        penalty = self._each(lambda s, a: self.lam * self._spread([q[s][a] for q in tables]))
        if self.target == "mean":
            mean = self._each(lambda s, a: sum((q[s][a] for q in tables), Fraction(0)) / k)
            plains = [self._backup(mean)] * k
        else:
            plains = [self._backup(q) for q in tables]
        gamma = self.mdp.discount
        return tuple(self._minus(plain, penalty, gamma) for plain in plains)

    def _spread(self, values: list[Fraction]) -> Fraction:
        if self.kind == "gap":
            return abs(values[0] - values[1])
        mean = sum(values, Fraction(0)) / len(values)
        return sum(((x - mean) ** 2 for x in values), Fraction(0)) / (len(values) - 1)

    def _minus(self, plain: Table, penalty: Table, gamma: Fraction) -> Table:
        return self._each(lambda s, a: plain[s][a] - gamma * penalty[s][a])

    def _each(self, entry: Callable[[int, int], Fraction | int]) -> Table:
        mdp = self.mdp
        return tuple(
            tuple(Fraction(entry(s, a)) if a in mdp.actions(s) else Fraction(0) for a in range(mdp.n_actions))
            for s in range(mdp.n_states)
        )
