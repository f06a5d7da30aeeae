"""The family on tables: with nothing to disagree about every form finds Q*, and each penalty pulls as it must."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pyresac.experiments import poisoning_kernels as kernels
from pyresac.experiments.poisoning import FORMS, Form, Problem, conclude, curve, noisy_chain, sampled, shown, verdicts
from pyresac.tabular import FiniteMDP, RevOperator, solve


def problem(noise: float, length: int = 3) -> Problem:
    mdp = noisy_chain(length)
    return Problem(mdp, noise, solve(RevOperator(mdp), tolerance=1e-9).q)


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if not form.lambda_ale and not form.blend])
def test_without_noise_every_form_finds_the_optimum(name: str) -> None:
    form = FORMS[name]
    found = curve(problem(0.0), form, 6_000 if form.quantiles else 1_000, seed=0)
    # quantile tables go on stepping by at most the learning rate times the values' unit
    assert found[-1, 1] < (0.05 if form.quantiles else 1e-3)
    assert found[-1, 2] < 1e-6


def test_the_exact_optimum_of_the_chain() -> None:
    optimum = problem(0.0).optimum
    assert optimum[:3, 1].tolist() == pytest.approx([0.95**2, 0.95, 1.0])
    assert optimum[3].tolist() == [0.0, 0.0]


def test_ends_give_no_data_and_lead_nowhere() -> None:
    successors, chances, rewards, pairs = sampled(noisy_chain(3))
    assert sorted(map(tuple, pairs.tolist())) == [(s, a) for s in range(3) for a in range(2)]
    assert successors[2, 1, 0] == -1
    assert rewards[2, 1, 0] == 1.0
    assert (chances[..., -1] >= 1.0 - 1e-12).all()


def test_chances_are_those_of_the_kernel() -> None:
    mdp = FiniteMDP.from_gymnasium("FrozenLake-v1", 0.95)
    successors, chances, _, pairs = sampled(mdp)
    P = mdp.dense()
    for s, a in pairs:
        steps = np.diff(chances[s, a], prepend=0.0)
        reached = {int(n): float(p) for n, p in zip(successors[s, a], steps, strict=True) if n >= 0 and p > 0.0}
        assert all(P[s, a, n] == pytest.approx(p) for n, p in reached.items())


def bias(form: Form) -> float:
    return float(np.mean([curve(problem(1.0, 5), form, 400, seed)[-1, 0] for seed in range(8)]))


def test_a_maximum_over_noise_overestimates_and_minima_underestimate_in_order() -> None:
    plain = bias(Form(1, kernels.FIRST, kernels.OWN))
    two, ten = bias(Form(2)), bias(Form(10))
    assert plain > 0.1
    assert ten < two < plain


@pytest.mark.parametrize(("name", "size"), [("lambda_epi", 1.0), ("lambda_ale", 0.01)])
def test_each_penalty_lowers_the_values(name: str, size: float) -> None:
    form = Form(10, kernels.MEAN, kernels.OWN)
    assert bias(replace(form, **{name: size})) < bias(form) - 0.02


def test_what_an_actor_sees() -> None:
    heads = np.array([3.0, 1.0, 2.0])
    assert kernels.score(heads, kernels.FIRST, 0.0) == 3.0
    assert kernels.score(heads, kernels.MEAN, 0.0) == 2.0
    assert kernels.score(heads, kernels.LEAST, 0.0) == 1.0
    assert kernels.score(heads, kernels.BOUND, -2.0) == pytest.approx(0.0)  # mean − 2·1, the unbiased deviation


def ends(*errors: float | None) -> list[list[list[float | None]]]:
    """Curves of one point, a seed each, that end at these absolute errors."""
    return [[[None if error is None else -error, error, 0.0]] for error in errors]


@pytest.mark.parametrize(
    ("penalised", "verdict", "words"),
    [
        ((0.1, 0.2, 0.1), "reproduces", "P -0.8667 ± "),
        ((1.9, 2.0, 1.9), "does not reproduce", "P +0.9333 ± "),
        ((0.9, 1.1, 1.0), "undecided", "P +0.0000 ± "),
        ((0.1, None, 0.1), "does not reproduce", "P: it diverges, 1 of 3 seeds"),
    ],
)
def test_verdicts_follow_the_interval_and_divergence_is_no_accuracy(
    penalised: tuple[float | None, ...], verdict: str, words: str
) -> None:
    numbers = {"P": {"ensemble, no penalty": ends(1.0, 1.0, 1.0), "RE-SAC": ends(*penalised)}}
    (found,) = verdicts(numbers)
    assert found.verdict == verdict
    assert words in found.found


def test_tables_have_the_last_measurement_of_every_form(tmp_path: Path) -> None:
    """From the curves of two seeds: bias, error and shortfall, each a mean with half of its interval; where one has
    diverged, that."""

    def curves(*last: list[float | None]) -> list[list[list[float | None]]]:
        return [[[9.0, 9.0, 9.0], one] for one in last]

    plain = curves([-1.0, 1.0, 0.5], [-3.0, 3.0, 0.5])
    forms = {
        "ensemble, no penalty": plain,
        "RE-SAC": curves([-2.0, 2.0, 0.25], [-4.0, 4.0, 0.25]),
        "TQC": curves([0.0, 0.0, 0.0], [None, None, None]),
    }
    measures = {"FrozenLake": {"size": 0.123456, "curves": forms}, "Taxi": {"size": 20.0, "curves": forms}}
    outcome = conclude(measures, "cpu", tmp_path)
    first, second = outcome.tables
    assert (first.title, second.title) == ("FrozenLake: mean |Q*| is 0.123", "Taxi: mean |Q*| is 20")
    assert first.note == "2 seeds, 1,000 updates a pair, ± half of the 95 % interval"
    assert list(first.columns) == ["Q̄ − Q*", "|Q̄ − Q*|", "V* − V of its policy"]
    # two seeds a unit from their mean: a deviation of √2, a standard error of 1
    rows = {label: list(cells) for label, cells in first.rows}
    assert list(rows) == list(forms)
    assert rows["ensemble, no penalty"] == ["-2.0000 ± 1.9600", "+2.0000 ± 1.9600", "+0.5000 ± 0.0000"]
    assert rows["RE-SAC"] == ["-3.0000 ± 1.9600", "+3.0000 ± 1.9600", "+0.2500 ± 0.0000"]
    assert set(rows["TQC"]) == {"diverged, 1 of 2 seeds"}
    (finding,) = outcome.findings
    assert finding.verdict == "does not reproduce"
    assert "FrozenLake +1.0000 ± 0.0000; Taxi +1.0000 ± 0.0000" in finding.found


def test_a_cell_says_how_many_seeds_diverged() -> None:
    assert shown(np.array([1.0, 1.0])) == "+1.0000 ± 0.0000"
    assert shown(np.array([1.0, np.nan, np.inf])) == "diverged, 2 of 3 seeds"
