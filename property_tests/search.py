"""Looking for a counterexample with Hypothesis: the refutation tests assert that one is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st

T = TypeVar("T")


def find_instance(instances: st.SearchStrategy[T], predicate: Callable[[T], bool]) -> T:
    """The first generated instance with the property; `hypothesis.errors.NoSuchExample` where there is none.

    Not shrunk, which would cost most of the time: the smallest instances stand as examples beside each search.
    """
    return find(
        instances,
        predicate,
        settings=settings(
            max_examples=2000, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck)
        ),
    )
