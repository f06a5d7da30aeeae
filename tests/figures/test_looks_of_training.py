"""Sizes, letters and styles of the figures of training, which no number of a curve tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from test_training_figures import curves, legend, lines

from pyresac.figures import style, training
from pyresac.figures.curves import Curves, Group

TITLE = "What is shown"


def groups(count: int) -> list[Group]:
    return [Group(name, [curves()]) for name in "abcdefghi"[:count]]


def title_size(axes: Axes) -> float:
    """Of the title at the left."""
    return float(axes._left_title.get_fontsize())  # type: ignore[attr-defined]


def test_rules_differ_by_their_dashes_and_begin_again_after_six() -> None:
    rules = {f"rule {i}": -1234.5 * i for i in range(8)}
    figure = training.learning_curve(groups(8), training.PASSENGERS, TITLE, rules)
    assert figure.get_size_inches().tolist() == [8.6, 4.4]
    found = figure.axes[0].get_lines()
    assert [line.get_color() for line in found[:8]] == [*style.CYCLE, *style.CYCLE[:2]]
    dashes = [line._unscaled_dash_pattern for line in found[8:]]  # type: ignore[attr-defined]
    assert dashes[:2] == dashes[6:]
    assert len({str(dash) for dash in dashes[:6]}) == 6
    assert (0, None) not in dashes, "a curve alone is drawn through"
    assert found[9].get_label() == "rule 1: −1.234"
    np.testing.assert_allclose(np.asarray(found[15].get_ydata()), [-1.2345 * 7] * 2, rtol=1e-15)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_bands_and_uncertainty_have_legends_of_three_columns_at_most(count: int) -> None:
    bands = training.value_bands(groups(count), training.RETURN, TITLE)
    label = bands._supylabel  # type: ignore[attr-defined]
    assert (label.get_text(), label.get_fontsize()) == ("discounted return", 10)
    (below,) = bands.legends
    assert below._ncols == 3  # type: ignore[attr-defined]
    assert {title_size(axes) for axes in bands.axes[:count] if count > 1} <= {9.5}
    figure = training.uncertainty(groups(count), training.RETURN, TITLE)
    assert figure.get_size_inches().tolist() == [8.0, 6.4]
    assert legend(figure) == (list("abcde"[:count]) if count > 1 else [])
    assert [found._ncols for found in figure.legends] == ([min(3, count)] if count > 1 else [])  # type: ignore[attr-defined]


def test_panels_of_uncertainty_share_their_steps_which_are_named_once() -> None:
    figure = training.uncertainty(groups(2), training.RETURN, TITLE)
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "environment steps"]
    assert figure.axes[0].get_ylabel() == "σ_ens"
    figure.axes[0].set_xlim(3.0, 7.0)
    assert [axes.get_xlim() for axes in figure.axes] == [(3.0, 7.0)] * 3
    assert [list(lines(figure, panel)) for panel in range(3)] == [["a", "b"]] * 3


def without(*columns: str) -> Curves:
    return Curves({name: values for name, values in curves().columns.items() if name not in columns})


def test_panels_of_uncertainty_are_of_what_an_algorithm_has() -> None:
    """SAC has no κ, TD3 no temperature either; beside RE-SAC their curves are in the other panels."""
    whole, sac, td3 = (Group(name, [run]) for name, run in (
        ("whole", curves()), ("sac", without("kappa")), ("td3", without("kappa", "alpha")),
    ))  # fmt: skip
    for shown, labels in (
        ([sac], [["sac"], ["sac"]]),
        ([td3], [["td3"]]),
        ([sac, td3], [["sac", "td3"], ["sac"]]),
        ([td3, whole, sac], [["td3", "whole", "sac"], ["whole"], ["whole", "sac"]]),
    ):
        figure = training.uncertainty(shown, training.RETURN, TITLE)
        assert [list(lines(figure, panel)) for panel in range(len(figure.axes))] == labels
        assert figure.get_size_inches().tolist() == [8.0, 1.0 + 1.8 * len(labels)]
        assert figure.axes[-1].get_xlabel() == "environment steps"
        assert legend(figure) == ([group.name for group in shown] if len(shown) > 1 else [])


@pytest.mark.parametrize(
    ("value", "earned", "expected"),
    [
        ([], [], np.nan),
        ([1.0], [2.0], np.nan),
        ([1.0, 3.0], [2.0, 9.0], 1.0),
        ([1.0, 3.0], [2.0, -9.0], -1.0),
        ([1.0, 2.0], [5.0, 9.0], 1.0),
        ([5.0, 9.0], [2.0, 1.0], -1.0),
        ([1.0, 3.0, 2.0], [1.0, 3.0, 3.5], 0.7559289460184544),
        ([1.0, 1.0, 1.0], [1.0, 3.0, 2.0], np.nan),
        ([1.0, 3.0, 2.0], [1.0, 1.0, 1.0], np.nan),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_correlation_needs_two_points_that_differ(value: list[float], earned: list[float], expected: float) -> None:
    """Pearson's; of three points by hand 2 over the root of 2 · 3.5. Nothing is divided by 0."""
    found = training.Predictions(np.array(value), np.array(earned)).correlation
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_panel_of_predictions_has_its_name_where_there_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[dict[str, Any]] = []
    hexbin = Axes.hexbin

    def noted(self: Axes, *given: Any, **named: Any) -> Any:
        met.append(named | {"given": given})
        return hexbin(self, *given, **named)

    monkeypatch.setattr(Axes, "hexbin", noted)
    points = training.Predictions(np.array([1000.0, 3000.0]), np.array([4000.0, 2000.0]))
    alone = training.predictions({"a": points}, training.CORRIDOR, TITLE)
    several = training.predictions({"a": points, "b": points}, training.RETURN, TITLE)
    told = "correlation −1.00, 2 decisions"
    assert alone.axes[0].get_title(loc="left") == told
    assert [several.axes[i].get_title(loc="left") for i in (0, 1)] == [f"a: {told}", f"b: {told}"]
    assert {title_size(axes) for axes in (alone.axes[0], several.axes[0])} == {9.5}
    assert several.axes[0].get_ylabel() == "foreseen: Q̄, discounted return"
    earned, value = met[0]["given"]
    assert (earned.tolist(), value.tolist()) == ([4.0, 2.0], [1.0, 3.0])
    assert met[0]["extent"] == pytest.approx([0.88, 4.12] * 2)
    for call in met:
        assert (call["gridsize"], call["mincnt"], call["linewidths"], call["cmap"]) == (75, 1, 0.1, "viridis_r")
    bar = next(axes for axes in alone.axes if axes.get_label() == "<colorbar>")
    assert bar._colorbar_info["shrink"] == 0.8  # type: ignore[attr-defined]
