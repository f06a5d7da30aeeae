"""The search for a Gibbs tilt, by the tilts that it asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from interpreted_kernels import interpret, plain

from pyresac.tabular.expectations import gibbs


def asked(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The tilts at which a row that never spends its radius is looked at; Newton's step is 1/θ."""
    thetas: list[float] = []

    def tilt(p: Any, x: Any, theta: float, w: Any) -> tuple[float, float, float]:
        thetas.append(theta)
        return -1e-300, 1e-150, 0.0

    interpret(monkeypatch, gibbs)
    monkeypatch.setattr(gibbs, "tilt", tilt)
    row = np.full(2, 0.5), np.ones(2), np.array([0.0, 1.0])
    plain(gibbs.kl_row)(*row, 0.5, 0.0, 1.0, False, np.empty(2))
    return thetas


def test_newton_has_forty_steps_and_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the tilt grows by orders of magnitude: 4, 16, 256, 65,536 times and so on."""
    thetas = np.array(asked(monkeypatch))
    growth = thetas[1:] / thetas[:-1]
    assert thetas[0] == 1.0
    assert (growth[:41] != 4.0).all()
    assert growth[41:45].tolist() == [4.0, 16.0, 256.0, 65536.0]
