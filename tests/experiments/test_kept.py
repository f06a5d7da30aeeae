"""What an analysis computes itself is kept as soon as it is there."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pyresac.experiments import poisoning, uncertainty
from pyresac.experiments.kept import kept


class Maker:
    """Counts what it makes."""

    def __init__(self, value: object) -> None:
        self.value, self.made = value, 0

    def __call__(self) -> object:
        self.made += 1
        return self.value


def test_a_value_is_made_once_for_the_same_settings(tmp_path: Path) -> None:
    maker = Maker([[1.5, -2.0, 1 / 3]])
    for _ in range(2):
        assert kept(tmp_path / "new" / "folder", "One value", (1, 2), maker) == maker.value
    assert maker.made == 1
    assert kept(tmp_path / "new" / "folder", "One value", (1, 3), maker) == maker.value
    assert kept(tmp_path / "new" / "folder", "another", (1, 3), maker) == maker.value
    assert maker.made == 3


def test_what_is_no_number_stays_none(tmp_path: Path) -> None:
    for _ in range(2):
        assert math.isnan(kept(tmp_path, "nan", 1, lambda: [math.nan])[0])


@pytest.mark.parametrize("damage", [b"", b'{"name"', b"[1]", b"{}", b"\xff\xfe", b'{"name": "x", "settings": 1}'])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    maker = Maker(7)
    kept(tmp_path, "x", 1, maker)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)
    assert kept(tmp_path, "x", 1, maker) == 7
    assert maker.made == 2
    assert kept(tmp_path, "x", 1, maker) == 7
    assert maker.made == 2


def test_a_failure_keeps_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        kept(tmp_path, "x", 1, lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    assert not list(tmp_path.iterdir())


def test_the_curves_of_poisoning_are_those_of_each_seed_and_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poisoning, "SWEEPS", {"smoke": 3})
    problem = poisoning.problems()["noisy chain"]()
    found = poisoning.curves_of(tmp_path, "noisy chain", problem, "SAC", "smoke")
    each = [poisoning.curve(problem, poisoning.FORMS["SAC"], 3, seed) for seed in range(3)]
    assert np.array_equal(found, np.stack(each), equal_nan=True)
    monkeypatch.setattr(poisoning, "curve", lambda *_: pytest.fail("it was there"))
    again = poisoning.curves_of(tmp_path, "noisy chain", problem, "SAC", "smoke")
    assert np.array_equal(again, found, equal_nan=True)
    # a problem that has changed under the same name is another
    monkeypatch.setattr(poisoning, "curve", lambda *_: np.zeros((poisoning.POINTS, 3)))
    mdp = replace(problem.mdp, reward=2.0 * problem.mdp.reward)
    for other in (replace(problem, noise=0.5), replace(problem, mdp=mdp, optimum=2.0 * problem.optimum)):
        assert not poisoning.curves_of(tmp_path, "noisy chain", other, "SAC", "smoke").any()


def test_the_measures_of_uncertainty_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = uncertainty.made(tmp_path, 64, 0.5, 2, 0)
    assert found == uncertainty.measured(64, 0.5, 2, 0)
    monkeypatch.setattr(uncertainty, "measured", lambda *_: pytest.fail("it was there"))
    assert uncertainty.made(tmp_path, 64, 0.5, 2, 0) == found
