"""The figures of the theory in their parts: which tables go into which operator, and which rows a border is made of."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from pyresac.figures import convergence, sets, style
from pyresac.tabular import (
    EnsembleVariance,
    IntervalSet,
    L1Ball,
    LiveOperator,
    NormPenalty,
    RevOperator,
    Soft,
    ensemble_variance,
    families,
)


def test_a_distance_at_the_ceiling_is_not_the_last() -> None:
    zero, three = np.zeros((2, 1)), np.array([[1.0], [3.0]])
    assert convergence.distances(lambda q: 10 * q, zero, three) == [1.0, 10.0, 100.0, 1000.0, 10_000.0]
    # the largest entry counts, whichever it is
    assert convergence.distances(lambda q: q * [[0.5], [0.25]], three, zero)[:3] == [1.0, 0.25, 1 / 12]


def test_each_curve_is_of_the_operator_and_the_tables_that_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs: rewards of a random MDP less 4. Two heads of values between −3 and −2, and two below them; the live
    variance begins 40 apart, and a step of 1 towards there."""
    met: list[tuple[Any, np.ndarray, np.ndarray]] = []

    def noted(operator: Any, first: np.ndarray, second: np.ndarray) -> list[float]:
        met.append((operator, first, second))
        return [1.0]

    monkeypatch.setattr(convergence, "distances", noted)
    labels = list(convergence.curves())
    looks = [(colour, line) for _, colour, line in convergence.curves().values()]
    mdp = families.random_dense(8, 3, 0.9, seed=3)
    first, second = np.random.default_rng(0).random((2, 2, 8, 3))
    heads = -(2.0 + first)
    others = heads - (1.0 - 0.9 * second)
    assert ((others < heads) & (others > -4.0)).all()
    for label, (operator, q, p) in zip(labels, met, strict=False):
        assert operator.mdp.discount == 0.9
        np.testing.assert_array_equal(operator.mdp.dense(), mdp.dense())
        np.testing.assert_array_equal(operator.mdp.reward, mdp.reward - 4.0)
        if "variance" in label:
            np.testing.assert_allclose(q, [20.0 * heads[0], -20.0 * heads[1]], rtol=1e-15)
            np.testing.assert_allclose(p, [20.0 * heads[0] + 1.0, -20.0 * heads[1] - 1.0], rtol=1e-15)
        else:
            np.testing.assert_allclose([q, p], [heads[0], others[0]], rtol=1e-15)
        if label.startswith("frozen"):
            assert isinstance(operator, RevOperator)
            np.testing.assert_allclose(operator.scaled, 0.5 * ensemble_variance(heads), rtol=1e-12)
            assert (operator.lambda_epi, operator.kappa) == (0.5, 0.2)
        else:
            assert isinstance(operator, LiveOperator)
            size = float(re.findall(r"λ = ([\d.]+)", label)[0])
            assert operator.penalty == (EnsembleVariance if "variance" in label else NormPenalty)(size)
    soft, robust = met[1][0], met[2][0]
    assert soft.value == Soft(0.5)
    assert "α = 0.5" in labels[1]
    assert isinstance(robust.expectation, L1Ball)
    assert robust.expectation.radius == 0.4
    assert "≤ 0.4" in labels[2]
    assert len(set(looks)) == len({colour for colour, _ in looks}) == 6


def test_the_axes_of_distances_begin_and_end_where_they_are_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convergence, "curves", dict)
    (axes,) = convergence.drawn().axes
    assert (axes.get_xlim(), axes.get_ylim()) == ((0.0, convergence.BACKUPS), (1e-4, convergence.CEILING))
    (bound,) = axes.get_lines()
    assert (bound.get_color(), bound.get_label()) == ("black", "γⁿ, γ = 0.9")
    (shade,) = axes.collections
    assert np.asarray(shade.get_paths()[0].vertices)[:, 1].min() == 1e-6
    assert np.asarray(shade.get_facecolor())[0].tolist() == list(to_rgba(style.BLUE, 0.07))


class Towards:
    """A set that notes the values that it is asked for; the worst row is the state of least value."""

    def __init__(self) -> None:
        self.values: list[np.ndarray] = []

    def worst_rows(self, mdp: Any, v: np.ndarray) -> Any:
        self.values.append(v)
        rows = np.eye(3)[[np.argmin(v), 0, 1]]

        class Rows:
            def toarray(self) -> np.ndarray:
                return rows

        return Rows()


@pytest.mark.parametrize("directions", [6, 8])
def test_values_point_once_in_each_direction(directions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "DIRECTIONS", directions)
    asked: Any = Towards()
    rows = sets.boundary(asked, sets.NOMINAL)
    values = np.array(asked.values)
    assert values.shape == rows.shape == (directions, 3)
    np.testing.assert_allclose(values.sum(1), 0.0, atol=1e-15)
    np.testing.assert_allclose(values[0], [1.0, -0.5, -0.5], atol=1e-15)
    # in the plane: corners of a regular polygon
    plane = (values @ sets.CORNERS) @ [1.0, 1j]
    turns = np.roll(plane, -1) / plane
    np.testing.assert_allclose(np.abs(plane), np.abs(plane[0]), rtol=1e-14)
    np.testing.assert_allclose(turns, turns[0], rtol=1e-13)
    np.testing.assert_allclose(np.angle(turns[0]), -2 * np.pi / directions, rtol=1e-13)
    np.testing.assert_array_equal(rows.argmax(1), values.argmin(1))


def test_intervals_are_as_wide_as_their_title_says() -> None:
    ((title, found),) = ((title, found) for title, found in sets.shown().items() if isinstance(found, IntervalSet))
    widths = [float(number) for number in re.findall(r"±([\d.]+)", title)]
    low, high = (np.asarray(part).reshape(3, 3) for part in (found.lower, found.upper))
    for s in range(3):
        np.testing.assert_allclose(sets.NOMINAL - low[s], widths, rtol=1e-14)
        np.testing.assert_allclose(high[s] - sets.NOMINAL, widths, rtol=1e-14)


def test_all_states_of_a_panel_have_one_row() -> None:
    mdp = sets.mdp_of(np.array([3.0, 4.0, 3.0]) / 10.0)
    np.testing.assert_allclose(mdp.dense(), np.tile([0.3, 0.4, 0.3], (3, 1, 1)), rtol=1e-15)
    assert not mdp.reward.any()


def test_panels_of_sets_are_small_triangles_with_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve in four columns, with names just beside the corners, in small grey letters."""
    monkeypatch.setattr(sets, "DIRECTIONS", 4)
    monkeypatch.setattr(sets, "shown", lambda: {str(i): L1Ball(0.3) for i in range(12)})
    figure = sets.figure()
    assert figure.get_size_inches().tolist() == [11.0, 8.8]
    grid = figure.axes[0].get_subplotspec()
    assert grid is not None
    assert grid.get_geometry()[:2] == (3, 4)
    for axes in figure.axes:
        assert axes.title.get_fontsize() == 8.5
        assert axes.patches[0].get_linewidth() == 1.0
        for text, corner, below in zip(axes.texts, sets.CORNERS, (0.07, 0.07, -0.03), strict=True):
            assert text.get_position() == pytest.approx((corner[0], corner[1] - below))
            assert (text.get_fontsize(), text.get_ha(), text.get_color()) == (8, "center", style.GREY)


@pytest.mark.parametrize("name", ["convergence", "sets"])
def test_the_commands_of_the_theory_draw_one_file(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = {"convergence": convergence, "sets": sets}[name]
    monkeypatch.setattr(module, "drawn" if name == "convergence" else "figure", lambda: Figure(figsize=(1.0, 1.0)))
    assert module.main([str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.png").is_file()
    assert module.main([str(tmp_path / "a.jpg")]) == 2
