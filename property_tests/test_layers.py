"""Layer norms: what bounds a network's Lipschitz constant, and what does not (C05, C06, C07). All exact."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from property_tests.claims import claim
from property_tests.rational import Q, dot
from property_tests.search import find_instance
from property_tests.strategies import numbers, tables

Layer = Q
Activation = Callable[[Fraction], Fraction]

ACTIVATIONS: dict[str, Activation] = {
    "relu": lambda x: max(x, Fraction(0)),
    "abs": abs,
    "clip": lambda x: max(Fraction(-1), min(x, Fraction(1))),
    "leaky": lambda x: max(x, x / 4),
}
"""Some 1-Lipschitz functions that map rationals to rationals."""


def operator_norm(w: Layer) -> Fraction:
    """‖W‖∞→∞: the largest absolute row sum."""
    return max(sum((abs(x) for x in row), Fraction(0)) for row in w)


def entrywise_norm(w: Layer) -> Fraction:
    """‖vec W‖₁."""
    return sum((abs(x) for row in w for x in row), Fraction(0))


def apply(w: Layer, x: list[Fraction]) -> list[Fraction]:
    """W x."""
    return [dot(row, x) for row in w]


def network(layers: list[Layer], activation: Activation, x: list[Fraction]) -> list[Fraction]:
    """Layers with the activation between them."""
    for w in layers[:-1]:
        x = [activation(y) for y in apply(w, x)]
    return apply(layers[-1], x)


def sup(x: list[Fraction]) -> Fraction:
    """‖x‖∞."""
    return max(abs(y) for y in x)


def vectors(n: int) -> st.SearchStrategy[list[Fraction]]:
    """Inputs of length n."""
    return st.lists(numbers(), min_size=n, max_size=n)


@st.composite
def layer_stacks(draw: st.DrawFn) -> list[Layer]:
    """One to three layers of fitting widths 1–3."""
    widths = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    return [draw(tables(rows, columns, size=4)) for columns, rows in pairwise(widths)]


@claim("C07", lean="RESAC.layer_sensitivity")
@given(st.data(), st.integers(1, 3), st.integers(1, 3))
def test_c07_norm_chain(data: st.DataObject, rows: int, columns: int) -> None:
    """‖Wδ‖∞ ≤ ‖W‖∞→∞‖δ‖∞ ≤ ‖vec W‖₁‖δ‖∞, the first attained by the signs of a row (Lean: RESAC.layer_sensitivity)."""
    w, delta = data.draw(tables(rows, columns)), data.draw(vectors(columns))
    assert sup(apply(w, delta)) <= operator_norm(w) * sup(delta) <= entrywise_norm(w) * sup(delta)
    widest = max(w, key=lambda row: sum(abs(x) for x in row))
    signs = [Fraction(1 if x >= 0 else -1) for x in widest]
    assert sup(apply(w, signs)) == operator_norm(w)


@claim("C05", lean="RESAC.Net.eval_within")
@given(st.data(), layer_stacks(), st.sampled_from(sorted(ACTIVATIONS)))
def test_c05_product_of_operator_norms_bounds_a_network(data: st.DataObject, layers: list[Layer], name: str) -> None:
    """Lip ≤ Π‖W_l‖∞→∞ for 1-Lipschitz activations, in the sup-norm (Lean: RESAC.Net.eval_within)."""
    width = len(layers[0][0])
    x, y = data.draw(vectors(width)), data.draw(vectors(width))
    u, v = (network(layers, ACTIVATIONS[name], z) for z in (x, y))
    gap = [a - b for a, b in zip(u, v, strict=True)]
    change = [a - b for a, b in zip(x, y, strict=True)]
    bound = prod((operator_norm(w) for w in layers), start=Fraction(1))
    assert sup(gap) <= bound * sup(change)


@claim("C05", lean=("RESAC.Net.sqNorm_eval_le", "RESAC.frobenius_spectralBound"))
@given(st.data(), layer_stacks(), st.sampled_from(sorted(ACTIVATIONS)))
def test_c05_product_of_frobenius_norms_bounds_a_network_in_the_euclidean_norm(
    data: st.DataObject, layers: list[Layer], name: str
) -> None:
    """‖N x − N y‖₂² ≤ ∏‖W_l‖_F²·‖x − y‖₂²: squared, so without roots (Lean: RESAC.Net.sqNorm_eval_le)."""
    n = len(layers[0][0])
    x, y = data.draw(vectors(n)), data.draw(vectors(n))
    bound = Fraction(1)
    for w in layers:
        bound *= sum((c * c for row in w for c in row), Fraction(0))
    first, second = (network(layers, ACTIVATIONS[name], z) for z in (x, y))
    moved = sum(((a - b) ** 2 for a, b in zip(first, second, strict=True)), Fraction(0))
    assert moved <= bound * sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0))


@claim("C06", lean="RESAC.norm_sum_refuted")
def test_c06_sum_of_norms_bounds_nothing_smallest() -> None:
    """[[3]], [[3]]: 9 > 6, and 3·relu(3x) has slope 9 > 6 (Lean: RESAC.norm_sum_refuted)."""
    layers: list[Layer] = [((Fraction(3),),), ((Fraction(3),),)]
    total = sum(entrywise_norm(w) for w in layers)
    assert prod(operator_norm(w) for w in layers) == 9
    assert total == 6
    rise = (
        network(layers, ACTIVATIONS["relu"], [Fraction(1)])[0] - network(layers, ACTIVATIONS["relu"], [Fraction(0)])[0]
    )
    assert rise == 9


@claim("C06", lean="RESAC.norm_sum_refuted")
def test_c06_hypothesis_finds_a_steeper_network() -> None:
    """Found, not given: two layers whose network rises faster than the sum of their l1 norms (C06)."""

    def steeper(layers: list[Layer]) -> bool:
        zero = [Fraction(0)] * len(layers[0][0])
        bound = sum(entrywise_norm(w) for w in layers)
        ones = [Fraction(1)] * len(zero)
        return sup(network(layers, ACTIVATIONS["abs"], ones)) > bound

    layers = find_instance(layer_stacks(), steeper)
    assert prod(operator_norm(w) for w in layers) > sum(entrywise_norm(w) for w in layers)


@claim("C06", lean="RESAC.fprod_le_mean_pow")
@given(st.lists(numbers().map(abs), min_size=1, max_size=6))
def test_c06_corrected_for_every_depth(norms: list[Fraction]) -> None:
    """L^L·Π a_l ≤ (Σ a_l)^L for a_l ≥ 0, with equality at equal norms (Lean: RESAC.fprod_le_mean_pow)."""
    depth = len(norms)
    assert depth**depth * prod(norms) <= sum(norms) ** depth
    equal = [norms[0]] * depth
    assert depth**depth * prod(equal) == sum(equal) ** depth


@claim("C06", lean="RESAC.fprod_le_mean_pow")
@given(st.data(), layer_stacks())
def test_c06_corrected_bound_on_a_network(data: st.DataObject, layers: list[Layer]) -> None:
    """‖f(x) − f(y)‖∞ ≤ (Σ‖vec W_l‖₁/L)^L·‖x − y‖∞: the penalty the paper wants, repaired (C05 with C06)."""
    width, depth = len(layers[0][0]), len(layers)
    x, y = data.draw(vectors(width)), data.draw(vectors(width))
    u, v = (network(layers, ACTIVATIONS["relu"], z) for z in (x, y))
    mean = sum((entrywise_norm(w) for w in layers), Fraction(0)) / depth
    gap, change = (sup([a - b for a, b in zip(*pair, strict=True)]) for pair in ((u, v), (x, y)))
    assert gap <= mean**depth * change
