"""Errors of the package: each says what was given, what is allowed, and where."""

from __future__ import annotations


class InputError(ValueError):
    """An argument, a file or an option is not usable. Raised before any work starts."""


class CheckpointError(InputError):
    """A checkpoint file is truncated, foreign, corrupted, or belongs to another configuration."""


class NotAContractionError(TypeError):
    """A live (Q-dependent) penalty was handed to a solver that promises convergence.

    Freezing is what makes the backup a γ-contraction (claim C11); a live penalty with Lipschitz constant
    L only has modulus at most γ(1 + L) (C37), and the live variance penalty has none (C15).
    """


class DivergenceError(ArithmeticError):
    """Training reached a value that is not finite; the message names the quantity, the step and the last good state."""
