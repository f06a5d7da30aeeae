"""Verdicts at their edges: a value exactly at a threshold, groups of one, and what has nothing to be compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.experiments import (
    corridor,
    corridor_rareness,
    noise,
    nonstationary,
    oracle,
    rareness,
    returns,
    sensitivity,
)

NOT_TRIED = "not tried at this scale"


@pytest.mark.parametrize(
    ("own", "other", "verdict"),
    [
        (19.9, 200.0, "reproduces"),
        (20.0, 200.0, "does not reproduce"),  # a tenth is no less than a tenth
        (-5.0, 0.0, "undecided"),
        (5.0, 0.0, "undecided"),
        (0.05, 1.0, "reproduces"),
        (-5.0, -1.0, "undecided"),
    ],
)
def test_a_collapse_under_gravity_is_less_than_a_tenth_of_what_sac_earns(
    own: float, other: float, verdict: str
) -> None:
    numbers = {"Hopper-v5": {name: {"training": [(mean, 1e9)]} for name, mean in (("TQC", own), ("SAC", other))}}
    assert nonstationary._collapses(numbers).verdict == verdict


def sweep(name: str, own: tuple[str, list[float]], others: list[list[float]]) -> dict[str, Any]:
    values = [value for value in sensitivity.SWEEPS[name] if value != own[0]]
    assert len(values) >= len(others)
    filled = [others[min(place, len(others) - 1)] for place in range(len(values))]
    return {"Ant-v5": {name: dict([own, *zip(values, filled, strict=True)])}}


@pytest.mark.parametrize(
    ("own", "verdict"), [(5.75, "reproduces"), (6.0, "does not reproduce"), (-18.25, "reproduces")]
)
def test_exactly_half_of_the_mean_is_no_collapse(own: float, verdict: str) -> None:
    others = [[12.0, 8.0], [14.0]] if own > 0.0 else [[-12.0]]
    found = sweep("K", ("2", [own + 1.0, own - 1.0]), others)
    if own > 0.0:  # means 10, 14 and 12
        found["Ant-v5"]["K"]["20"] = [12.0]
    assert sensitivity._findings(found, {})[0].verdict == verdict


@pytest.mark.parametrize(
    ("own", "others", "verdict"),
    [
        (1.0, (2.0, 3.0), "undecided"),  # half of the least of the others, no less
        (0.9375, (2.0, 3.0), "reproduces"),
        (4.0, (2.0, 30.0), "undecided"),
        (4.125, (2.0, 30.0), "does not reproduce"),
    ],
)
def test_exactly_half_of_another_s_deviation_is_not_the_steadiest(own: float, others: Any, verdict: str) -> None:
    """Of two seeds each, whose deviation is half of their distance."""
    pairs = [[50.0 - deviation, 50.0 + deviation] for deviation in others]
    found = sensitivity._findings(sweep("λ_anc", ("1", [7.0 - own, 7.0 + own]), pairs), {})[3]
    assert found.verdict == verdict
    assert f"deviation {own:,.0f}; the others {others[0]:,.0f} to {others[1]:,.0f}" in found.found


@pytest.mark.parametrize(("mean", "verdict"), [(1.0, "reproduces"), (1.0625, "undecided"), (1e6, "does not reproduce")])
def test_means_exactly_one_deviation_apart_are_alike(mean: float, verdict: str) -> None:
    found = sensitivity._findings(sweep("β_end", ("-1", [mean - 1.0, mean + 1.0]), [[-1.0, 1.0]]), {})[4]
    assert found.verdict == verdict
    assert found.found.endswith(f"means from 0 to {mean:,.0f}, deviation 1")


@pytest.mark.parametrize(("own", "verdict"), [(-1.5e6, "does not reproduce"), (-1.6e6, "reproduces")])
def test_epistemic_only_collapses_where_it_costs_more_than_half_as_much_again(own: float, verdict: str) -> None:
    days = {"RE-SAC K=10": [{"reward": -0.5e6}, {"reward": -1.5e6}], "epistemic only": [{"reward": own}]}
    found = corridor._collapse({"epistemic only": [{"q": -3000.0}, {"q": -1000.0}]}, days)
    assert found.verdict == verdict
    assert found.found == (f"epistemic only {own / 1e6:.3f}·10⁶ at a mean value of -2,000; RE-SAC, K = 10 -1.000·10⁶")
    for label in days:
        assert corridor._collapse({}, {label: days[label]}).verdict == NOT_TRIED


@pytest.mark.parametrize(("rule", "verdict"), [(-4e5, "does not reproduce"), (-4.1e5, "reproduces")])
def test_what_was_learned_must_be_above_the_best_rule(rule: float, verdict: str) -> None:
    days = {
        "SAC": [{"reward": -3e5}, {"reward": -5e5}],
        "BAC": [{"reward": -9e5}],
        "none": [{"reward": -8e5}],
        "linear": [{"reward": rule}],
    }
    found = corridor._against_rules(days)
    assert found.verdict == verdict
    assert found.found == f"best learned: SAC, -0.4000·10⁶; best rule: linear, {rule / 1e6:.4f}·10⁶"
    assert corridor._against_rules({"SAC": days["SAC"]}).verdict == NOT_TRIED
    assert corridor._against_rules({"none": days["none"]}).verdict == NOT_TRIED


@pytest.mark.parametrize(
    ("ours", "sac", "verdict"),
    [
        ([5.0, 6.0], [6.0, 7.0], "undecided"),
        ([6.0, 7.0], [5.0, 6.0], "undecided"),
        ([5.0], [6.0], "reproduces"),
        ([7.0], [6.0], "does not reproduce"),
    ],
)
def test_errors_that_meet_on_the_corridor_are_not_apart(ours: list[float], sac: list[float], verdict: str) -> None:
    mean = {"RE-SAC K=10": ours, "SAC": sac}
    assert corridor_rareness._ratio(mean).verdict == verdict
    for label in mean:
        assert corridor_rareness._ratio({label: mean[label]}).verdict == NOT_TRIED


def growing(**found: tuple[float, ...]) -> dict[str, Any]:
    names = {"b0": "RE-SAC B0", "v1": "RE-SAC v1", "sac": "SAC", "td3": "TD3"}
    return {"T": {names[key]: {"training": list(values)} for key, values in found.items()}}


@pytest.mark.parametrize(
    ("numbers", "verdict", "words"),
    [
        (growing(b0=(0.0, 0.2), sac=(0.2, 0.3)), "undecided", "T: least correlation RE-SAC B0 +0.10"),
        (growing(b0=(0.2, 0.3), sac=(0.0, 0.2)), "undecided", "SAC +0.10, RE-SAC B0 +0.25"),
        (growing(b0=(0.3,), v1=(0.1,), sac=(0.2,)), "reproduces", "RE-SAC v1 +0.10, RE-SAC B0 +0.30"),
        (growing(b0=(0.3,), v1=(0.25,), sac=(0.2,)), "does not reproduce", "SAC +0.20, RE-SAC B0 +0.30, RE-SAC v1"),
        (growing(b0=(0.1,), sac=(0.2,), td3=(0.05,)), "does not reproduce", "least correlation TD3 +0.05"),
        (growing(b0=(0.1,), sac=(0.2,), td3=(0.1,)), "undecided", "least correlation RE-SAC B0 +0.10"),
        (growing(b0=(0.1,), v1=(0.2,)), NOT_TRIED, "no finished runs"),
        (growing(sac=(0.1,), td3=(0.2,)), NOT_TRIED, "no finished runs"),
    ],
)
def test_the_least_growth_is_of_a_form_of_resac_below_every_rival(numbers: Any, verdict: str, words: str) -> None:
    """The other forms of RE-SAC are told, and are no rivals."""
    found = rareness.finding("c", numbers)
    assert found.verdict == verdict
    assert words in found.found


def test_where_sac_was_not_run_elsewhere_nothing_is_matched() -> None:
    row = {"RE-SAC B0": [3.0] * 3, "TD3": [1.0] * 3}
    assert [one.verdict for one in returns._findings({"Ant-v5": row})] == [NOT_TRIED, NOT_TRIED]
    assert [one.verdict for one in returns._findings({"HalfCheetah-v5": row})] == ["reproduces", NOT_TRIED]


@pytest.mark.parametrize(
    ("sides", "verdict"),
    [
        ("+++-", "reproduces"),
        ("++0-", "undecided"),  # exactly a fourth is against it
        ("++--", "does not reproduce"),
        ("+++0", "reproduces"),
        ("000-", "undecided"),
    ],
)
def test_a_claim_on_three_of_four_tasks_stands_with_three_and_falls_with_two(sides: str, verdict: str) -> None:
    def cell(error: float) -> dict[str, Any]:
        return {"aligned": [{"oracle": error}] * 3}

    ours = {"+": 1.0, "0": 2.0, "-": 3.0}
    numbers = {f"{n}": {"RE-SAC v1": cell(ours[side]), "SAC": cell(2.0)} for n, side in enumerate(sides)}
    numbers["without"] = {"SAC": cell(2.0)}
    numbers["alone"] = {"RE-SAC v1": cell(2.0)}
    (found,) = oracle._findings(numbers)
    assert found.verdict == verdict
    assert found.found.count("the least of the others SAC 2.0") == 4


@pytest.mark.parametrize(("scale", "gain", "verdicts"), [
    ("cpu", -50.0, ["reproduces", "does not reproduce"]),
    ("cpu", 50.0, ["does not reproduce", "reproduces"]),
    ("paper", -50.0, ["reproduces", "does not reproduce"]),
])  # fmt: skip
def test_noise_is_concluded_from_its_own_cells(scale: Any, gain: float, verdicts: list[str], tmp_path: Path) -> None:
    """λ_ale = 10⁻³ against 0 at noise 1 and at noise 0; what else the grid has decides nothing."""
    measures = {}
    for weight, size, one in noise.grid(scale):
        decided = weight in (0.0, 1e-3) and size in (0.0, 1.0)
        away = (gain if weight else 0.0) if decided else -1e3 * np.sign(gain) * (weight + size)
        measures[one.run.name] = 10.0 * one.seed + away
    outcome = noise.conclude(measures, scale, tmp_path)
    assert [one.verdict for one in outcome.findings] == verdicts
    (table,) = outcome.tables
    sizes = {"cpu": ["(0, 0)", "(0.1, 1)"], "paper": ["(0, 0)", "(0.05, 0.5)", "(0.1, 1)", "(0.2, 2)"]}[scale]
    assert list(table.columns) == [f"noise {size}" for size in sizes]
    assert dict(table.rows)["λ_ale = 0"][0].split(" [")[0] == "160"
    assert bool(table.paper) == (scale == "cpu"), "the paper's 2 × 2 has no place in the finer grid"


def test_noise_is_an_option_of_training_alone() -> None:
    assert noise.noise_options(0.0) == {}
    half = {"observation_noise": "gaussian 0.05", "reward_noise": "gaussian 0.5", "noise_in": "training"}
    assert noise.noise_options(0.5) == half
    names = [one.run.name for *_, one in noise.grid("smoke")]
    assert [name.removesuffix("-HalfCheetah-v5-seed8") for name in names] == [
        "lambda-0-noise-0",
        "lambda-0-noise-1",
        "lambda-0.001-noise-0",
        "lambda-0.001-noise-1",
    ]
