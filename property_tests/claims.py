"""The decorator that ties a property test to the claim it tests and to the Lean theorem of the same content.

The claims ledger reads the decorators from the source, without importing it: write the claim id as a literal,
and the Lean names as literals too.
"""

from __future__ import annotations

import pytest

MARKER = "claim(id, lean): the claim a property test states, and the Lean theorems of the same content"


def claim(claim_id: str, *, lean: str | tuple[str, ...] = ()) -> pytest.MarkDecorator:
    """Mark a test as stating `claim_id` (like "C11"); `lean` names theorems (like "RESAC.rev_contraction").

    A test of several claims stacks several decorators. `pytest -m claim` selects every such test.
    """
    names = (lean,) if isinstance(lean, str) else tuple(lean)
    return pytest.mark.claim(claim_id, lean=names)
