"""The two figures of the theory show what their words say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from pyresac.figures import convergence, sets
from pyresac.tabular import CVaR, IntervalSet, L1Ball, LInfinityBall, RevOperator, WorstOfKernels, families

N = np.arange(convergence.BACKUPS + 1)


def test_distances_are_relative_and_cut_above_the_ceiling() -> None:
    zero, three = np.zeros((1, 2)), np.array([[3.0, 1.0]])
    assert convergence.distances(lambda q: 2 * q, zero, three) == [2.0**n for n in range(11)]
    assert convergence.distances(lambda q: q / 2, three, zero) == [0.5**n for n in N]


def test_curves_keep_to_the_moduli_that_their_labels_name() -> None:
    """C11 for the frozen ones, C14 and C37 for live norms, C15 for the live variance."""
    found = {label: np.array(ratios) for label, (ratios, _, _) in convergence.curves().items()}
    frozen = [ratios for label, ratios in found.items() if label.startswith("frozen")]
    assert len(frozen) == 3
    # What a table of size 100 (values of costs below 6 are above −60) misses after any number of backups is at most a
    # backup's rounding times 1/(1 − γ), and the first distance is at least 0.1; the robust backup rounds most of all.
    robust = RevOperator(families.random_dense(8, 3, convergence.GAMMA, seed=3), expectation=L1Ball(0.4))
    noise = 2 * robust.rounding(100.0) / (1 - convergence.GAMMA) / 0.1
    for ratios in frozen:
        assert (ratios <= convergence.GAMMA**N + noise).all()
    for modulus in ("0.945", "1.08"):
        (ratios,) = (ratios for label, ratios in found.items() if modulus in label)
        # one backup's rounding; with modulus 1.08 tables grow a hundredfold in 60 backups
        assert (ratios[1:] <= float(modulus) * ratios[:-1] + 2 * robust.rounding(1e4) / 0.1).all()
        assert (ratios[1:] / ratios[:-1]).max() > convergence.GAMMA + 0.01, "it must show that γ is not its modulus"
    assert found["live norm, λ = 0.2: γ(1 + λ) = 1.08"].max() > 1.0
    (variance,) = (ratios for label, ratios in found.items() if "variance" in label)
    assert variance[1] > 1.0, "no modulus below 1"


def test_what_is_below_the_dashed_bound_is_shaded() -> None:
    (axes,) = convergence.drawn().axes
    bound, *curves = axes.get_lines()
    np.testing.assert_array_equal(np.asarray(bound.get_xdata()), N)
    np.testing.assert_allclose(np.asarray(bound.get_ydata()), 0.9**N, rtol=1e-14)
    assert [curve.get_label() for curve in curves] == list(convergence.curves())
    for curve, (ratios, _, _) in zip(curves, convergence.curves().values(), strict=True):
        assert list(np.asarray(curve.get_ydata())) == ratios
        assert list(np.asarray(curve.get_xdata())) == list(range(len(ratios)))
    (shade,) = (drawn for drawn in axes.collections if isinstance(drawn, PolyCollection))
    edge = np.asarray(shade.get_paths()[0].vertices)
    for n in N:
        assert edge[edge[:, 0] == n, 1].max() == pytest.approx(0.9**n)
    assert axes.get_yscale() == "log"


def test_titles_of_sets_name_their_sizes() -> None:
    for title, functional in sets.shown().items():
        if isinstance(functional, IntervalSet | WorstOfKernels):
            continue
        stated = [float(number) for number in re.findall(r"\d+\.\d+|(?<=order )\d+", title)]
        sizes = [float(np.max(value)) for value in vars(functional).values() if isinstance(value, float | np.ndarray)]
        assert set(stated) <= set(sizes), title


@pytest.mark.parametrize("functional", [L1Ball(0.3), LInfinityBall(0.12), CVaR(0.7)])
def test_the_drawn_border_is_the_set_s(functional: L1Ball | LInfinityBall | CVaR) -> None:
    row = sets.NOMINAL
    found = sets.boundary(functional, row)
    assert found.shape == (sets.DIRECTIONS, 3)
    np.testing.assert_allclose(found.sum(1), 1.0, rtol=1e-14)
    assert (found >= 0.0).all()
    if isinstance(functional, L1Ball):
        np.testing.assert_allclose(np.abs(found - row).sum(1), 0.3, rtol=1e-12)
    elif isinstance(functional, LInfinityBall):
        np.testing.assert_allclose(np.abs(found - row).max(1), 0.12, rtol=1e-12)
    else:
        assert (found <= row / 0.7 * (1 + 1e-12)).all()
    # directions go all the way round: each state gets more than the row gives it, and less
    assert (found.max(0) > row).all()
    assert (found.min(0) < row).all()


def test_each_panel_has_its_row_within_its_border() -> None:
    panels = sets.figure().axes
    assert [axes.get_title() for axes in panels] == list(sets.shown())
    for axes in panels:
        simplex = axes.patches[0].get_xy()
        np.testing.assert_array_equal(simplex[:-1], sets.CORNERS)
        names = {text.get_text(): text.get_position() for text in axes.texts}
        for corner, name in zip(sets.CORNERS, ("s₁", "s₂", "s₃"), strict=True):
            assert np.abs(names[name] - corner).max() < 0.1
        borders = [line for line in axes.get_lines() if line.get_marker() != "o"]
        points = [line for line in axes.get_lines() if line.get_marker() == "o"]
        assert len(borders) == len(points) >= 1
        for border, point, row in zip(borders, points, (sets.NOMINAL, np.array([0.6, 0.4, 0.0])), strict=False):
            around = np.asarray(border.get_xydata())
            centre = np.asarray(point.get_xydata())[0]
            np.testing.assert_allclose(centre, row @ sets.CORNERS)
            np.testing.assert_array_equal(around[0], around[-1])
            assert (around.min(0) - 1e-12 <= centre).all()
            assert (centre <= around.max(0) + 1e-12).all()
