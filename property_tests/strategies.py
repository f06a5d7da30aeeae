"""Hypothesis strategies for exact MDPs, penalties, ensembles and pairs of Q-functions.

Everything is rational. With `dyadic=True` every number is a small multiple of a power of two, so that the
float64 copy of an instance is the instance itself and a float result can be held against the exact one.
Instances shrink towards one state, one action, reward 0 and γ = 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from property_tests.rational import Q, Vector
from pyresac.tabular.exact import ExactMDP, ExactRev

DYADIC = (1, 2, 4, 8)
RATIONAL = (1, 2, 3, 4, 5, 7)

DYADIC_DISCOUNTS = tuple(Fraction(n, d) for n, d in ((1, 2), (0, 1), (3, 4), (7, 8), (63, 64), (1023, 1024)))
DISCOUNTS = (*DYADIC_DISCOUNTS, Fraction(1, 3), Fraction(9, 10), Fraction(99, 100), Fraction(999, 1000))

REWARD_SCALES = (Fraction(1), Fraction(0), Fraction(1, 2**20), Fraction(2**20))
"""Ordinary, zero, tiny and huge rewards."""


def numbers(size: int = 8, *, dyadic: bool = False) -> st.SearchStrategy[Fraction]:
    """Rationals n/d with |n| ≤ size and a small denominator."""
    return st.builds(Fraction, st.integers(-size, size), st.sampled_from(DYADIC if dyadic else RATIONAL))


def positive(size: int = 8, *, dyadic: bool = False) -> st.SearchStrategy[Fraction]:
    """Rationals n/d with 1 ≤ n ≤ size and a small denominator."""
    return st.builds(Fraction, st.integers(1, size), st.sampled_from(DYADIC if dyadic else RATIONAL))


def discounts(*, dyadic: bool = False, zero: bool = True) -> st.SearchStrategy[Fraction]:
    """Discounts from 0 (unless excluded) to near 1."""
    allowed = DYADIC_DISCOUNTS if dyadic else DISCOUNTS
    return st.sampled_from([g for g in allowed if zero or g > 0])


def distributions(n: int, *, dyadic: bool = False) -> st.SearchStrategy[Vector]:
    """Probability vectors over n outcomes: the empirical distribution of at most eight draws."""
    draws = st.sampled_from(DYADIC if dyadic else RATIONAL).flatmap(
        lambda m: st.lists(st.integers(0, n - 1), min_size=m, max_size=m)
    )
    return draws.map(lambda xs: tuple(Fraction(xs.count(i), len(xs)) for i in range(n)))


def full_distributions(n: int) -> st.SearchStrategy[Vector]:
    """Probability vectors with every entry positive."""
    weights = st.lists(st.integers(1, 6), min_size=n, max_size=n)
    return weights.map(lambda w: tuple(Fraction(x, sum(w)) for x in w))


def tables(n_states: int, n_actions: int, *, size: int = 8, dyadic: bool = False) -> st.SearchStrategy[Q]:
    """Q-functions, rewards or penalties of a given shape."""
    cell = numbers(size, dyadic=dyadic)
    row = st.lists(cell, min_size=n_actions, max_size=n_actions).map(tuple)
    return st.lists(row, min_size=n_states, max_size=n_states).map(tuple)


def tables_like(mdp: ExactMDP, *, size: int = 8, dyadic: bool = False) -> st.SearchStrategy[Q]:
    """Tables of the shape of `mdp`."""
    return tables(mdp.n_states, mdp.n_actions, size=size, dyadic=dyadic)


@st.composite
def kernels(draw: st.DrawFn, n_states: int, n_actions: int, *, dyadic: bool = False) -> tuple[Q, ...]:
    """Transition kernels [s][a][s']: few distinct rows, so that rows repeat, and absorbing pairs."""
    pool = draw(st.lists(distributions(n_states, dyadic=dyadic), min_size=1, max_size=4))
    pick = st.integers(-1, len(pool) - 1)

    def row(s: int) -> Vector:
        chosen = draw(pick)
        return pool[chosen] if chosen >= 0 else tuple(Fraction(int(j == s)) for j in range(n_states))

    return tuple(tuple(row(s) for _ in range(n_actions)) for s in range(n_states))


@st.composite
def mdps(
    draw: st.DrawFn,
    *,
    dyadic: bool = False,
    max_states: int = 3,
    max_actions: int = 3,
    min_states: int = 1,
    min_actions: int = 1,
    discount: st.SearchStrategy[Fraction] | None = None,
    masked: bool = False,
    scaled: bool = True,
) -> ExactMDP:
    """Exact MDPs. `masked` leaves some actions unavailable; `scaled=False` keeps rewards of ordinary size."""
    n_states = draw(st.integers(min_states, max_states))
    n_actions = draw(st.integers(min_actions, max_actions))
    scale = draw(st.sampled_from(REWARD_SCALES)) if scaled else Fraction(1)
    reward = draw(tables(n_states, n_actions, size=4, dyadic=dyadic))
    available = None
    if masked:
        always = [draw(st.integers(0, n_actions - 1)) for _ in range(n_states)]
        available = tuple(
            tuple(a == always[s] or draw(st.booleans()) for a in range(n_actions)) for s in range(n_states)
        )
    return ExactMDP(
        transition=draw(kernels(n_states, n_actions, dyadic=dyadic)),
        reward=tuple(tuple(scale * x for x in row) for row in reward),
        discount=draw(discount if discount is not None else discounts(dyadic=dyadic)),
        available=available,
    )


@st.composite
def policies(draw: st.DrawFn, mdp: ExactMDP, *, dyadic: bool = False) -> Q:
    """Policies π[s][a] that put no weight on unavailable actions."""
    rows = []
    for s in range(mdp.n_states):
        actions = mdp.actions(s)
        weights = draw(distributions(len(actions), dyadic=dyadic))
        rows.append(tuple(weights[actions.index(a)] if a in actions else Fraction(0) for a in range(mdp.n_actions)))
    return tuple(rows)


@dataclass(frozen=True)
class Penalties:
    """What `ExactRev` freezes: λ_epi·Γ and κ, and where Γ is read."""

    epistemic: Q
    lambda_epi: Fraction
    kappa: Fraction
    penalty_at: str

    def options(self) -> dict[str, object]:
        """The keyword arguments of `ExactRev`."""
        return dict(self.__dict__)


@st.composite
def penalties(
    draw: st.DrawFn, mdp: ExactMDP, *, at: str | None = None, dyadic: bool = False, signed: bool = True
) -> Penalties:
    """Frozen penalties; of any sign unless `signed=False`, in the form `at` or in either."""
    epistemic = draw(tables_like(mdp, size=4, dyadic=dyadic))
    kappa = draw(numbers(4, dyadic=dyadic))
    if not signed:
        epistemic, kappa = tuple(tuple(abs(x) for x in row) for row in epistemic), abs(kappa)
    return Penalties(
        epistemic=epistemic,
        lambda_epi=draw(st.sampled_from([Fraction(1), Fraction(0), Fraction(1, 2), Fraction(3)])),
        kappa=kappa,
        penalty_at=at if at is not None else draw(st.sampled_from(["pair", "next"])),
    )


@st.composite
def values(draw: st.DrawFn, mdp: ExactMDP, *, dyadic: bool = False) -> str | Q:
    """The exact value functionals: max, min, or a policy's mean."""
    kind = draw(st.sampled_from(["max", "min", "policy"]))
    return draw(policies(mdp, dyadic=dyadic)) if kind == "policy" else kind


@st.composite
def operators(
    draw: st.DrawFn,
    mdp_strategy: st.SearchStrategy[ExactMDP] | None = None,
    *,
    dyadic: bool = False,
    at: str | None = None,
    robust: bool | None = None,
) -> ExactRev:
    """Exact REV operators: any value functional, nominal or finite robust set, either penalty form."""
    mdp = draw(mdps(dyadic=dyadic) if mdp_strategy is None else mdp_strategy)
    chosen = None
    if draw(st.booleans()) if robust is None else robust:
        others = kernels(mdp.n_states, mdp.n_actions, dyadic=dyadic)
        chosen = (mdp.transition, *draw(st.lists(others, min_size=1, max_size=2)))
    return ExactRev(
        mdp,
        value=draw(values(mdp, dyadic=dyadic)),
        kernels=chosen,
        **draw(penalties(mdp, at=at, dyadic=dyadic)).options(),
    )


@st.composite
def ensembles(draw: st.DrawFn, mdp: ExactMDP, *, heads: int | None = None) -> tuple[Q, ...]:
    """K tables, K ≥ 2."""
    k = heads if heads is not None else draw(st.integers(2, 4))
    return tuple(draw(tables_like(mdp)) for _ in range(k))
