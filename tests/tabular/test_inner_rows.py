"""The inner problem of each divergence, row by row and without Numba: the row found obeys the conditions of optimality,
all of the radius is spent, and the search takes a few steps: a wrong slope, guess or bracket shows in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from interpreted_kernels import interpret, kernels_of, plain

from pyresac.tabular.expectations import chi2, gibbs, likelihood, power

MOMENTS = {gibbs: "tilt", likelihood: "pulled", power: "moments"}
"""What the searches of these files call once a step."""
ROWS = {
    "six, one without mass": ([0.25, 0.0, 0.125, 0.5, 0.0625, 0.0625], [3.0, -9.0, 1.0, 0.0, 2.0, -1.0]),
    "six, another order": ([0.0625, 0.125, 0.5, 0.0, 0.25, 0.0625], [-1.0, 1.0, 0.0, 99.0, 3.0, 2.0]),
    "a coin": ([0.5, 0.5], [1.0, 0.0]),
    "ties": ([0.25, 0.125, 0.125, 0.25, 0.25], [2.0, 0.0, 0.0, 2.0, 1.0]),
    "a rare bad one": ([1e-6, 0.3, 0.699999], [-1e3, 0.0, 1.0]),
    "a rare good one": ([0.6, 0.4 - 1e-6, 1e-6], [0.0, 1.0, 1e3]),
    "one likely": ([1.0 - 2e-5, 1e-5, 1e-5], [0.0, 1.0, -1.0]),
    "small and apart": ([0.2, 0.2, 0.2, 0.2, 0.2], [1e-201, 3e-200, 5e-201, -4e-200, 0.0]),
}
every_row = pytest.mark.parametrize("name", ROWS)


class Calls:
    """How often the moments of a row were asked for."""

    count = 0


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    """Within it nothing is compiled, and steps are counted."""
    found = Calls()

    def counted(kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            found.count += 1
            return kernel(*given)

        return call

    for module, name in MOMENTS.items():
        interpret(monkeypatch, module, *(other for other in kernels_of(module) if not other.startswith("over")))
        monkeypatch.setattr(module, name, counted(plain(getattr(module, name))))
    with np.errstate(all="ignore"):
        yield found


class Found:
    """What a row's solver returned, and the weights."""

    def __init__(
        self, row: Callable[..., Any], name: str, parameter: float, lowest: float = 0.0, warm: float = np.nan,
        exponent: float = 0.0, wanted: bool = True,
    ) -> None:  # fmt: skip
        p, x = (np.array(part) for part in ROWS[name])
        self.p, self.x, self.w = p, x, np.full(len(p), np.nan)
        upper = np.full(len(p), exponent) if exponent else p
        self.value, self.moved, self.warm = row(p, upper, x.copy(), parameter, lowest, warm, wanted, self.w)
        self.on = p > 0.0
        self.spread = x[self.on].max() - x[self.on].min()
        self.mean = p @ x / p.sum()
        self.deviation = self.spread * np.sqrt(p @ ((x - self.mean) / self.spread) ** 2 / p.sum())
        self.ratio = self.w[self.on] / p[self.on] if wanted else np.empty(0)
        """q/p over the successors."""
        self.d = (x[self.on] - x[self.on].min()) / self.spread
        self.share = p[self.on] / p.sum()

    def is_a_row(self) -> None:
        """Of sum 1, nowhere negative, on the successors, and it attains the value."""
        assert self.w.min() >= 0.0
        assert not self.w[~self.on].any()
        assert self.w.sum() + self.moved == pytest.approx(1.0, abs=1e-12)

    def attains(self, lowest: float = 0.0) -> None:
        """The value is the row's mean."""
        assert abs(self.w @ self.x + self.moved * lowest - self.value) <= 1e-13 * self.spread

    def on_a_line(self, of_ratio: Callable[[np.ndarray], np.ndarray], *, falls: bool, kept: np.ndarray) -> None:
        """A function of q/p is a linear function of the value where `kept`: the condition of optimality."""
        start, slope = line(of_ratio(self.ratio[kept]), self.d[kept])
        y, d = of_ratio(self.ratio[kept]), self.d[kept]
        np.testing.assert_allclose(y, start + slope * d, rtol=1e-7, atol=1e-9 * np.abs(y).max())
        assert slope < 0.0 if falls else slope > 0.0


def line(y: np.ndarray, d: np.ndarray) -> tuple[float, float]:
    """(start, slope) of the line through the first and the last point, by d; of one point alone with slope −|y|."""
    i, j = int(d.argmin()), int(d.argmax())
    slope = (y[j] - y[i]) / (d[j] - d[i]) if d[j] > d[i] else -np.abs(y[i])
    return float(y[i] - slope * d[i]), float(slope)


def least(name: str) -> float:
    p, x = (np.array(part) for part in ROWS[name])
    return float(x[p > 0.0].min())


def mass_at_least(name: str) -> float:
    p, x = (np.array(part) for part in ROWS[name])
    return float(p[(p > 0.0) & (x == least(name))].sum())


RADII = (1e-4, 0.01, 0.1, 0.5, 2.0, 5.0, 13.0)


def a_row_of_the_kl_ball(calls: Calls, name: str, radius: float) -> None:
    found = Found(gibbs.kl_row, name, radius)
    found.is_a_row()
    found.attains()
    assert found.moved == 0.0
    if radius >= -np.log(mass_at_least(name)):
        assert found.value == least(name)
        assert calls.count == 0
        return
    kept = found.ratio > 0.0  # a weight may be too small a number
    found.on_a_line(np.log, falls=True, kept=kept)
    assert (found.w[found.on][kept] * np.log(found.ratio[kept])).sum() == pytest.approx(radius, rel=1e-9, abs=1e-13)
    assert found.warm == pytest.approx(-line(np.log(found.ratio[kept]), found.d[kept])[1], rel=1e-6, abs=0)
    again = Found(gibbs.kl_row, name, radius, warm=found.warm)
    assert again.value == pytest.approx(found.value, abs=1e-14 * found.spread)


@every_row
def test_a_row_of_the_kl_ball(calls: Calls, name: str) -> None:
    """q ∝ p·exp(−θd) with KL(q‖p) = radius; all on the least value where the radius allows it."""
    for radius in RADII:
        calls.count = 0
        a_row_of_the_kl_ball(calls, name, radius)


def a_row_of_the_chi2_ball(calls: Calls, name: str, radius: float) -> None:
    found = Found(chi2.chi2_row, name, radius, warm=7.0)
    found.is_a_row()
    found.attains()
    assert (found.moved, found.warm) == (0.0, 7.0)
    if mass_at_least(name) * (1.0 + radius) >= 1.0:
        assert found.value == least(name)
        return
    found.on_a_line(lambda r: r, falls=True, kept=found.ratio > 0.0)
    spent = (found.share * (found.ratio - 1.0) ** 2).sum()
    assert spent == pytest.approx(radius, rel=1e-9, abs=0)
    left, dropped = found.d[found.ratio > 0.0], found.d[found.ratio == 0.0]
    if len(dropped):
        start, slope = line(found.ratio[found.ratio > 0.0], left)
        assert start + slope * dropped.min() <= 1e-9, "a successor is dropped where the line is below 0"


@every_row
def test_a_row_of_the_chi2_ball(calls: Calls, name: str) -> None:
    """q/p falls along a line until it is 0, and Σ (q − p)²/p is the radius."""
    for radius in RADII:
        calls.count = 0
        a_row_of_the_chi2_ball(calls, name, radius)


def a_row_of_a_power_divergence(calls: Calls, name: str, order: float, log_c: float) -> None:
    s = order / (order - 1.0)
    found = Found(power.power_row, name, log_c, exponent=s)
    found.is_a_row()
    found.attains()
    assert found.moved == 0.0
    if s * log_c >= -np.log(mass_at_least(name)):
        assert found.value == least(name)
        assert calls.count == 0
        return
    kept = found.ratio > 1e-6
    found.on_a_line(lambda r: r ** (order - 1.0), falls=True, kept=kept)
    spent = np.log((found.share * found.ratio**order).sum()) / order
    assert spent == pytest.approx(log_c, rel=1e-8, abs=0)
    again = Found(power.power_row, name, log_c, warm=found.warm, exponent=s)
    assert again.value == pytest.approx(found.value, abs=1e-14 * found.spread)


@every_row
def test_a_row_of_a_power_divergence(calls: Calls, name: str) -> None:
    """(q/p)^(k − 1) falls along a line until it is 0, and E (q/p)^k = c^k."""
    for order, log_c in product((1.2, 2.0, 3.0, 8.0), (1e-4, 0.01, 0.1, 0.5, 2.0)):
        calls.count = 0
        a_row_of_a_power_divergence(calls, name, order, log_c)


def a_row_of_the_likelihood_ball(calls: Calls, name: str, radius: float, below: float) -> None:
    p, x = (np.array(part) for part in ROWS[name])
    lowest = least(name) - below * (x[p > 0.0].max() - least(name))
    found = Found(likelihood.likelihood_row, name, radius, lowest)
    found.is_a_row()
    found.attains(lowest)
    found.on_a_line(lambda r: 1.0 / r, falls=False, kept=np.full(len(found.d), True))
    assert -(found.share * np.log(found.ratio)).sum() == pytest.approx(radius, rel=1e-8, abs=0)
    start, slope = line(1.0 / found.ratio, found.d)
    whole = 1.0 + below
    if found.moved > 0.0:
        assert below > 0.0
        assert start / slope == pytest.approx(below, rel=1e-7, abs=1e-9)
        assert found.warm == 0.0
        assert calls.count == 1
        return
    assert found.warm * whole == pytest.approx(start / slope - below, rel=1e-6, abs=1e-9)
    again = Found(likelihood.likelihood_row, name, radius, lowest, warm=found.warm)
    assert again.value == pytest.approx(found.value, abs=1e-14 * found.spread * whole)


@every_row
def test_a_row_of_the_likelihood_ball(calls: Calls, name: str) -> None:
    """p/q rises along a line and KL(p‖q) is the radius; mass goes to a state below all successors where all of the line
    is above it already. `below`: how many spreads the least value of all states is below that of the successors."""
    for radius, below in product(RADII[:-1], (0.0, 1e-3, 0.5, 20.0)):
        calls.count = 0
        a_row_of_the_likelihood_ball(calls, name, radius, below)


def likelihood_floor(name: str, below: float) -> float:
    p, x = (np.array(part) for part in ROWS[name])
    return least(name) - below * float(x[p > 0.0].max() - least(name))


SEARCHES: dict[str, tuple[int, int, Callable[[str, float, float], Found]]] = {
    "kl": (297, 199, lambda n, size, warm: Found(gibbs.kl_row, n, size, warm=warm)),
    "power, order 1.2": (218, 46, lambda n, size, warm: Found(power.power_row, n, size / 6, warm=warm, exponent=6.0)),
    "power, order 2": (173, 46, lambda n, size, warm: Found(power.power_row, n, size / 2, warm=warm, exponent=2.0)),
    "power, order 3": (244, 46, lambda n, size, warm: Found(power.power_row, n, size / 1.5, warm=warm, exponent=1.5)),
    "likelihood": (285, 50, lambda n, size, warm: Found(likelihood.likelihood_row, n, size, least(n), warm)),
    "likelihood, a state below": (
        228, 87,
        lambda n, size, warm: Found(likelihood.likelihood_row, n, size, likelihood_floor(n, 1e-3), warm),
    ),
}  # fmt: skip
"""Steps from nothing and from the answer, over all rows and `SIZES`; and the search."""
SIZES = (1e-6, 1e-4, 0.01, 0.1, 0.5, 1.0)


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_search_takes_few_steps(calls: Calls, kind: str) -> None:
    """Newton's method doubles the digits: some six steps a row from a good guess, one or two from the answer. Another
    library's logarithm may cost a step here and there; a wrong slope costs more."""
    cold, again, find = SEARCHES[kind]
    taken = [0, 0]
    for name, size in product(ROWS, SIZES):
        calls.count = 0
        found = find(name, size, np.nan)
        taken[0] += calls.count
        calls.count = 0
        find(name, size, found.warm)
        taken[1] += calls.count
    assert taken[0] <= cold + 3, taken
    assert taken[1] <= again + 3, taken


WARM = {
    "kl": (gibbs.kl_row, 0.1, 0.0),
    "power": (power.power_row, 0.05, 2.0),
    "likelihood": (likelihood.likelihood_row, 0.1, 0.0),
}


def a_guess_that_is_none_costs_steps_and_nothing_else(calls: Calls, name: str, kind: str, warm: float) -> None:
    row, size, exponent = WARM[kind]
    plain = Found(row, name, size, likelihood_floor(name, 1e-3), exponent=exponent)
    calls.count = 0
    found = Found(row, name, size, likelihood_floor(name, 1e-3), warm, exponent)
    assert found.value == pytest.approx(plain.value, abs=1e-14 * plain.spread)
    assert calls.count <= 70
    found.is_a_row()


@every_row
def test_a_guess_that_is_none_costs_steps_and_nothing_else(calls: Calls, name: str) -> None:
    for kind, warm in product(WARM, (-1.0, 0.0, 1e-12, 1e12, np.inf, -np.inf)):
        calls.count = 0
        a_guess_that_is_none_costs_steps_and_nothing_else(calls, name, kind, warm)


def a_tiny_ball_costs_standard_deviations(calls: Calls, name: str, share: float) -> None:
    p = np.array(ROWS[name][0])
    for kind, row, size, exponent in (
        ("kl", gibbs.kl_row, share**2 / 2, 0.0),
        ("chi2", chi2.chi2_row, share**2, 0.0),
        ("power of order 3", power.power_row, share**2, 1.5),
        ("power of order 1.2", power.power_row, share**2 / 2 * 0.2, 6.0),
        ("likelihood", likelihood.likelihood_row, share**2 / 2, 0.0),
    ):
        if kind == "power of order 3":
            size = share**2 / 2 * 2.0
        found = Found(row, name, size, least(name), exponent=exponent)
        skewed = 30.0 * share**2 * found.spread / np.sqrt(p[p > 0.0].min())
        assert abs(found.value - (found.mean - share * found.deviation)) <= skewed + 1e-14 * found.spread, kind
        found.attains()


@every_row
def test_a_tiny_ball_costs_standard_deviations(calls: Calls, name: str) -> None:
    """The mean less √(2·KL) standard deviations, and as many in the χ² distance: `share` of them, up to its square."""
    for share in (1e-5, 1e-7, 1e-10, 1e-13):
        calls.count = 0
        a_tiny_ball_costs_standard_deviations(calls, name, share)


@every_row
@pytest.mark.parametrize("size", [0.0, 1e-40])
def test_a_ball_of_nothing_is_its_centre(calls: Calls, name: str, size: float) -> None:
    for row, exponent in (
        (gibbs.kl_row, 0.0), (power.power_row, 3.0), (likelihood.likelihood_row, 0.0), (gibbs.entropic_row, 0.0),
    ):  # fmt: skip
        # in units of the spread, where it counts
        found = Found(row, name, size, least(name), warm=7.0, exponent=exponent)
        assert abs(found.value - found.mean) <= 4e-16 * np.abs(found.x).max()
        assert (found.moved, found.w.tolist()) == (0.0, found.p.tolist())
        assert (found.warm, calls.count) == (7.0, 0)


@pytest.mark.parametrize("kind", ["kl", "chi2", "power", "likelihood", "entropic"])
def test_a_row_of_one_value_is_its_centre(calls: Calls, kind: str) -> None:
    row: Any = {
        "kl": gibbs.kl_row, "chi2": chi2.chi2_row, "power": power.power_row, "likelihood": likelihood.likelihood_row,
        "entropic": gibbs.entropic_row,
    }[kind]  # fmt: skip
    p, w = np.array([0.25, 0.0, 0.5, 0.25]), np.full(4, np.nan)
    exponents = np.full(4, 3.0)
    value, moved, warm = row(p, exponents, np.array([3.0, -1.0, 3.0, 3.0]), 0.5, 3.0, 7.0, True, w)
    assert (value, moved, warm) == (3.0, 0.0, 7.0)
    assert w.tolist() == p.tolist()


def a_row_of_the_entropic_risk(calls: Calls, name: str, theta: float, wanted: bool) -> None:
    p, x = (np.array(part) for part in ROWS[name])
    spread = x[p > 0.0].max() - x[p > 0.0].min()
    found = Found(gibbs.entropic_row, name, theta / spread, wanted=wanted, warm=7.0)
    with mpmath.workdps(50):
        beta = mpmath.mpf(theta / spread)
        weights = [
            mpmath.mpf(a) * mpmath.exp(-beta * mpmath.mpf(b)) if a > 0 else mpmath.mpf(0)
            for a, b in zip(p, x, strict=True)
        ]
        total = mpmath.fsum(weights) / mpmath.fsum(p)
        assert abs(found.value + mpmath.log(total) / beta) <= 2e-15 * spread + 4e-16 * np.abs(x[p > 0.0]).max()
        if wanted:
            expected = [float(a / mpmath.fsum(weights)) for a in weights]
            np.testing.assert_allclose(found.w, expected, rtol=1e-12, atol=1e-300)
    assert (found.moved, found.warm) == (0.0, 7.0)


@every_row
def test_a_row_of_the_entropic_risk(calls: Calls, name: str) -> None:
    """−(1/β)·log E exp(−βx) in 50 digits, with the Gibbs weights; β·spread is `theta`."""
    for theta, wanted in product((1e-12, 1e-3, 0.3, 0.5, 2.0, 40.0), (True, False)):
        calls.count = 0
        a_row_of_the_entropic_risk(calls, name, theta, wanted)


LIMITS = {
    "kl": (gibbs.kl_row, 2.0 * gibbs.NEGLIGIBLE**2, np.log(2.0), 0.0),
    "power": (power.power_row, power.NEGLIGIBLE / 2.0, np.log(2.0) / 2.0, 2.0),
    "likelihood": (likelihood.likelihood_row, likelihood.NEGLIGIBLE, np.inf, 0.0),
}
"""The row, the largest size at which it is the centre, the least at which it is all on the worst, s."""


@pytest.mark.parametrize("kind", LIMITS)
def test_sizes_at_which_nothing_is_searched(calls: Calls, kind: str) -> None:
    """Of a coin, met exactly; one bit beyond there is a search."""
    row, centre, end, exponent = LIMITS[kind]
    found = Found(row, "a coin", centre, exponent=exponent)
    assert (found.value, calls.count) == (0.5, 0)
    Found(row, "a coin", np.nextafter(centre, 1.0), exponent=exponent)
    assert calls.count > 0
    if end < np.inf:
        calls.count = 0
        found = Found(row, "a coin", end, exponent=exponent)
        assert (found.value, found.w.tolist(), calls.count) == (0.0, [0.0, 1.0], 0)
        Found(row, "a coin", end * (1.0 - 1e-15), exponent=exponent)
        assert calls.count > 0


LONG = (np.arange(1.0, 41.0) / 820.0, np.cos(np.arange(40.0)))
"""Forty successors: the gap at which a search ends grows with them."""
OTHERS = {
    "chi2": (chi2.chi2_row, 0.2, 0.0),
    "power": (power.power_row, 0.05, 2.0),
    "power of order 1.05": (power.power_row, 0.005, 21.0),
    "kl": (gibbs.kl_row, 0.1, 0.0),
    "likelihood": (likelihood.likelihood_row, 0.1, 0.0),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_long_rows_end_as_soon(calls: Calls, kind: str) -> None:
    """No digit more is asked for than forty roundings leave; the row found is of the value."""
    row, size, exponent = OTHERS[kind]
    p, x = LONG
    for warm in (np.nan, 0.7):
        calls.count, w = 0, np.empty(40)
        value, moved, _ = row(p, np.full(40, exponent), x.copy(), size, x.min(), warm, True, w)
        assert calls.count <= 6
        assert w.sum() + moved == pytest.approx(1.0, abs=1e-13)
        assert w @ x + moved * x.min() == pytest.approx(value, abs=1e-13)
        # the ball is small: near the mean less √(2·KL) standard deviations
        mean = p @ x
        assert mean - 2.0 * np.sqrt(p @ (x - mean) ** 2) < value < mean - 0.2 * np.sqrt(p @ (x - mean) ** 2)


@pytest.mark.parametrize("kind", [kind for kind in OTHERS if kind != "kl"])
def test_rows_are_divided_by_their_sums(calls: Calls, kind: str) -> None:
    """Twice all mass is the same row: the same value, the same weights, by the same steps."""
    row, size, exponent = OTHERS[kind]
    p, x = (np.array(part) for part in ROWS["six, one without mass"])
    found = []
    for scale in (1.0, 2.0):
        for warm in (np.nan, 0.7):
            calls.count, w = 0, np.empty(6)
            answer = row(scale * p, np.full(6, exponent), x.copy(), size, -1.0, warm, True, w)
            found.append((*answer, w.tolist(), calls.count))
    for one, two in zip(found[:2], found[2:], strict=True):
        assert one[4] == two[4]
        np.testing.assert_allclose(np.array(one[3]), np.array(two[3]), rtol=1e-14)
        np.testing.assert_allclose(np.array(one[:3]), np.array(two[:3]), rtol=1e-14)
