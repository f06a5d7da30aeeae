"""The one error of the formal tools."""

from __future__ import annotations


class FormalError(RuntimeError):
    """The checker cannot be set up, a source tree cannot be ordered, or the ledger is not well formed.

    The message says what was found, what was expected, and what to do.
    """
