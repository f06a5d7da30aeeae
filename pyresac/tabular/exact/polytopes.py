"""Polytopes of rows, {p ≥ 0 : Σ p = 1, A p ≤ b}, by their vertices: exact, and for small models."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from pyresac.errors import InputError
from pyresac.tabular.exact.linear import solve_linear
from pyresac.tabular.exact.mdp import Number, table, vector


def vertices(matrix: Sequence[Sequence[Number]], bound: Sequence[Number], states: int) -> list[tuple[Fraction, ...]]:
    """The vertices of {p ≥ 0 : Σ p = 1, matrix·p ≤ bound}, p of length `states`, each once; none where it is empty.

    With a slack for each inequality a vertex is a basic solution: as many columns as there are equations are solved
    for, all others are 0. There are C(states + m, m + 1) choices for m inequalities.
    """
    matrix, bound = table(matrix), vector("bound", bound)
    if len(matrix) != len(bound) or any(len(row) != states for row in matrix):
        raise InputError(f"the inequalities must be rows of {states} numbers, each with a bound")
    m = len(matrix)
    right = [Fraction(1), *bound]
    # of p, then of the slacks
    columns = [[Fraction(1), *(row[i] for row in matrix)] for i in range(states)]
    columns += [[Fraction(int(j == i + 1)) for j in range(m + 1)] for i in range(m)]
    found: dict[tuple[Fraction, ...], None] = {}
    for basis in combinations(range(states + m), m + 1):
        try:
            solution = solve_linear([[columns[k][j] for k in basis] for j in range(m + 1)], right)
        except StopIteration:  # a singular choice
            continue
        if min(solution) >= 0:
            point = [Fraction(0)] * (states + m)
            for k, x in zip(basis, solution, strict=True):
                point[k] = x
            found[tuple(point[:states])] = None
    return list(found)
