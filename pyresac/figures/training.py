"""Pictures of training and of what was learned. Each function returns a Figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator
from numpy.typing import NDArray

from pyresac.figures.curves import Array, Group, Spread
from pyresac.figures.style import BLUE, DASHES, GREY, RED, curve_styles, new_figure, plain


@dataclass(frozen=True)
class Scale:
    """How returns are shown."""

    label: str = "return of an episode"
    factor: float = 1.0
    values: str = "discounted return"
    """What the critics' values are compared with."""


CORRIDOR = Scale("reward of a day, 10⁶", 1e-6, "discounted reward of a trip, 10³")
PASSENGERS = Scale("passengers' time of a day, −10³ min", 1e-3, "discounted cost of a trip, −min")
RETURN = Scale()
VALUE_FACTORS = {CORRIDOR: 1e-3, PASSENGERS: 1.0, RETURN: 1.0}


def learning_curve(groups: Sequence[Group], scale: Scale, title: str, rules: Mapping[str, float]) -> Figure:
    """Evaluation return over environment steps: mean over seeds with their range; `rules` as horizontal lines."""
    figure = new_figure(title, 8.6, 4.4)
    axes = figure.subplots()
    returns_on(axes, groups, scale, rules)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8.5)
    return figure


def returns_on(axes: Axes, groups: Sequence[Group], scale: Scale, rules: Mapping[str, float]) -> None:
    """The learning curves alone, labelled for a legend."""
    plain(axes)
    for group, style in zip(groups, curve_styles(), strict=False):
        _curve(axes, group.spread("eval_return", scale.factor), style, group.label)
    for index, (name, value) in enumerate(rules.items()):
        shown = f"{value * scale.factor:,.3f}".replace("-", "−")
        dash = DASHES[1 + index % (len(DASHES) - 1)]
        label = f"{rule_label(name)}: {shown}"
        axes.axhline(value * scale.factor, color=GREY, ls=dash, lw=1.3, zorder=1, label=label)
    _steps(axes)
    axes.set_ylabel(scale.label)


def rule_label(name: str) -> str:
    """A classical rule in words."""
    words = {"none": "no holding", "headway": "headway rule"}
    slack = name.removeprefix("target:slack=")
    return words.get(name, name if slack == name else f"slack rule, {slack} s")


def value_bands(groups: Sequence[Group], scale: Scale, title: str) -> Figure:
    """Q̄ at evaluated decisions in its band ± 2 σ_ens beside the return that was earned there, a panel a group."""
    across = min(3, len(groups))
    down = -(-len(groups) // across)
    figure = new_figure(title, max(7.0, 1.0 + 3.4 * across), 0.9 + 3.3 * down)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for axes, group in zip(panels, groups, strict=False):
        band_on(axes, group, scale)
        if len(groups) > 1:
            axes.set_title(group.label, loc="left", fontsize=9.5)
    for axes in panels[len(groups) :]:
        axes.set_visible(False)
    figure.supylabel(scale.values, fontsize=10)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    return figure


def band_on(axes: Axes, group: Group, scale: Scale) -> None:
    """One group's Q̄ ± 2 σ_ens and earned return, means over its seeds, labelled for a legend."""
    plain(axes)
    factor = VALUE_FACTORS[scale]
    value, earned = group.spread("q_eval", factor), group.spread("earned_eval", factor)
    width = 2.0 * group.spread("sigma_eval", factor).mean
    low, high = value.mean - width, value.mean + width
    axes.fill_between(value.steps, low, high, color=BLUE, alpha=0.2, lw=0, label="± 2 σ_ens")
    axes.plot(value.steps, value.mean, color=BLUE, lw=1.8, label="Q̄, mean of the critics")
    axes.plot(earned.steps, earned.mean, color=RED, lw=1.8, ls="--", label="earned (Monte Carlo)")
    _steps(axes)


def uncertainty(groups: Sequence[Group], scale: Scale, title: str) -> Figure:
    """σ_ens of replayed batches, κ and α over training, one panel of each that an algorithm here has."""
    factor = VALUE_FACTORS[scale]
    shown = (
        ("sigma_mean", factor, f"σ_ens{', 10³' if factor == 1e-3 else ''}"),
        ("kappa", 1.0, "κ, l1 norm of a\ncritic's weights"),
        ("alpha", 1.0, "temperature α"),
    )
    known = [one for one in shown if any(group.has(one[0]) for group in groups)]
    figure = new_figure(title, 8.0, 1.0 + 1.8 * len(known))
    panels = figure.subplots(len(known), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (column, times, label) in zip(panels, known, strict=True):
        plain(axes)
        for group, style in zip(groups, curve_styles(), strict=False):
            if group.has(column):
                _curve(axes, group.spread(column, times), style, group.label)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0.0)
    _steps(panels[-1])
    if len(groups) > 1:
        handles = panels[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=min(3, len(groups)), frameon=False, fontsize=8.5)
    return figure


@dataclass(frozen=True)
class Predictions:
    """Q̄ and the discounted return at decisions, each (m,)."""

    value: Array
    earned: Array

    @property
    def correlation(self) -> float:
        """Pearson's; NaN where either does not vary."""
        if len(self.value) < 2 or np.ptp(self.value) == 0.0 or np.ptp(self.earned) == 0.0:
            return float("nan")
        return float(np.corrcoef(self.value, self.earned)[0, 1])


def predictions(found: Mapping[str, Predictions], scale: Scale, title: str) -> Figure:
    """What the critics foresaw against what was earned, decision by decision, with the line of equality."""
    across = min(3, len(found))
    down = -(-len(found) // across)
    figure = new_figure(title, 0.9 + 4.6 * across, 0.7 + 4.2 * down)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    factor = VALUE_FACTORS[scale]
    for axes, (name, points) in zip(panels, found.items(), strict=False):
        plain(axes)
        _pairs(axes, points.earned * factor, points.value * factor)
        heading = f"correlation {points.correlation:.2f}, {len(points.value):,} decisions".replace("-", "−")
        axes.set_title(heading if len(found) == 1 else f"{name}: {heading}", loc="left", fontsize=9.5)
        axes.set_xlabel(f"earned: {scale.values}")
    for axes in panels[len(found) :]:
        axes.set_visible(False)
    panels[0].set_ylabel(f"foreseen: Q̄, {scale.values.rpartition(',')[2].strip() or scale.values}")
    return figure


def _pairs(axes: Axes, earned: NDArray[np.float64], value: NDArray[np.float64]) -> None:
    low, high = min(earned.min(), value.min()), max(earned.max(), value.max())
    margin = 0.04 * (high - low or 1.0)
    ends = low - margin, high + margin
    bins = axes.hexbin(
        earned, value, gridsize=75, extent=(*ends, *ends), norm=LogNorm(), cmap="viridis_r", mincnt=1, linewidths=0.1
    )
    axes.plot(ends, ends, color=RED, lw=1.4, ls="--", label="equal")
    axes.set(xlim=ends, ylim=ends, aspect="equal")
    axes.legend(loc="upper left", frameon=False, fontsize=8.5)
    figure = axes.figure
    figure.colorbar(bins, ax=axes, label="decisions in a cell", shrink=0.8)


def _curve(axes: Axes, found: Spread, style: tuple[str, str], label: str) -> None:
    colour, dash = style
    marker = "o" if len(found.steps) <= 30 else None
    axes.plot(found.steps, found.mean, color=colour, ls=dash, lw=1.8, marker=marker, ms=3, label=label)
    axes.fill_between(found.steps, found.low, found.high, color=colour, alpha=0.2, lw=0)


def _steps(axes: Axes) -> None:
    axes.set_xlabel("environment steps")
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
