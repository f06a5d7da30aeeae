"""The small corridor of the deep agent's runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_run import save_tiny_corridor


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its JSON file."""
    path: Path = tmp_path_factory.mktemp("corridor") / "tiny.json"
    save_tiny_corridor(path)
    return path
