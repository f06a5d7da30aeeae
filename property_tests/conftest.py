"""Hypothesis profiles and the marker of the claims ledger.

`ci` (the default) is derandomised, so that a run is repeatable; `thorough` looks at twenty times as many
examples, different ones in each run: `pytest property_tests/ --hypothesis-profile thorough`. `mutants` is `ci`
without shrinking, for `property_tests.mutants`.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings

from property_tests.claims import MARKER

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough",
    derandomize=False,
    deadline=None,
    print_blob=True,
    max_examples=1200,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "mutants",
    settings.get_profile("ci"),
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and load `ci` unless the command line names a profile."""
    config.addinivalue_line("markers", MARKER)
    settings.load_profile(config.getoption("--hypothesis-profile", default=None) or "ci")
