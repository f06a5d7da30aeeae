"""Rational linear systems by Gaussian elimination."""

from __future__ import annotations

from fractions import Fraction


def solve_linear(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """x with matrix·x = right, exactly, for a square regular matrix (I − γP is one, for γ < 1)."""
    n = len(right)
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        head = rows[i][i]
        rows[i] = [x / head for x in rows[i]]
        for r in range(n):
            factor = rows[r][i]
            if r != i and factor != 0:
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[n] for row in rows]
