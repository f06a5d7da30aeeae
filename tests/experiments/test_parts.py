"""The parts of RE-SAC, one at a time: what each run is, and what follows from its curve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyresac.experiments import parts
from pyresac.experiments.experiment import Scale
from pyresac.options import to_plain
from pyresac.training.presets import PENALTIES_BOX, options_for

SEEDS = (8, 16, 24)


def options_of(label: str) -> dict[str, Any]:
    """The options of the algorithm that a row trains with."""
    given = dict(parts.settings_of(label))
    return {**to_plain(options_for(given.pop("preset"), None, corridor=False)), **given}


def test_a_row_differs_from_the_base_by_its_part_alone() -> None:
    base = options_of(parts.NONE)
    whole = options_of(parts.ALL)
    changed = [{key for key, value in options_of(label).items() if value != base[key]} for label in parts.PARTS]
    assert all(len(keys) == 1 for keys in changed)
    # every option of the whole is one of a part, but for the number of critics
    together = set().union(*changed) | {"ensemble_size"}
    assert {key for key in whole if whole[key] != base[key]} == together
    for label in parts.PARTS:
        (key,) = {key for key, value in options_of(label).items() if value != base[key]}
        assert options_of(label)[key] == whole[key] == PENALTIES_BOX[key]
    shared = options_of(parts.WHOLE)
    assert {key for key in whole if whole[key] != shared[key]} == {"independence"}


def test_the_base_has_no_penalty_and_the_minimum_of_two() -> None:
    base = options_of(parts.NONE)
    assert (base["ensemble_size"], base["independence"]) == (2, 0.0)
    assert [base[name] for name in ("lambda_epi", "lambda_ale", "beta_ood", "beta_lcb")] == [0.0] * 4
    assert (base["ema_rate"], base["actor_every"]) == (1.0, 1)


@pytest.mark.parametrize(
    ("scale", "seeds", "steps", "tasks"),
    [
        ("smoke", (8,), 12_000, ["Hopper-v5"]),
        ("cpu", SEEDS, 60_000, ["Hopper-v5"]),
        ("paper", SEEDS, 1_000_000, ["Hopper-v5", "Walker2d-v5", "HalfCheetah-v5"]),
    ],
)
def test_every_row_is_run_with_every_seed(scale: Scale, seeds: tuple[int, ...], steps: int, tasks: list[str]) -> None:
    cells = parts.cells(scale)
    assert [(one.task, one.seed, one.label) for one in cells] == [
        (task, seed, label) for task in tasks for seed in seeds for label in parts.LABELS
    ]
    assert len({one.run.name for one in cells}) == len(cells)
    for one in cells:
        options = one.run.options
        assert (options["env"], options["seed"], options["steps"]) == (one.task, one.seed, steps)
        assert {key: options[key] for key in parts.settings_of(one.label)} == parts.settings_of(one.label)
    assert parts.runs(scale) == [one.run for one in cells]
    shown = [label for panel in parts.PANELS for label in panel]
    assert set(shown) == set(parts.LABELS)


def curve(early: float, late: float) -> dict[str, list[float]]:
    """Four evaluations: the first two are not counted."""
    return {"step": [1.0, 2.0, 3.0, 4.0], "eval_return": [early, early, late - 1.0, late + 1.0]}


def measured(gain: dict[str, tuple[float, ...]]) -> dict[str, Any]:
    """Curves of the base, whose seeds are far apart, and of rows that earn so much more with each seed."""
    levels = (100.0, 5_000.0, -3_000.0)
    names = {(one.label, one.seed): one.run.name for one in parts.cells("cpu")}
    found = {names[parts.NONE, seed]: curve(7.0, level) for seed, level in zip(SEEDS, levels, strict=True)}
    for label, gains in gain.items():
        for seed, level, more in zip(SEEDS, levels, gains, strict=False):
            found[names[label, seed]] = curve(-9e9, level + more)
    return found


def test_verdicts_are_on_the_second_half_and_paired_by_seed(tmp_path: Path) -> None:
    found = measured({"κ": (20.0, 30.0, 40.0), "β_ood": (-5.0, 4.0, 4.0), "β_lcb": (-2.0, -3.0, -4.0), "Γ_epi": (9.0,)})
    outcome = parts.conclude(found, "cpu", tmp_path)
    verdicts = {finding.claim.rpartition(": ")[2]: finding.verdict for finding in outcome.findings}
    assert verdicts == {
        "κ": "reproduces",
        "β_ood": "undecided",
        "β_lcb": "does not reproduce",
        **dict.fromkeys(
            ("independent targets", "Γ_epi", "averaged policy", "actor every 2nd update", parts.ALL),
            "not tried at this scale",
        ),
    }
    (table,) = outcome.tables
    rows = dict(table.rows)
    assert list(rows) == [parts.NONE, "Γ_epi", "κ", "β_ood", "β_lcb"]
    assert rows[parts.NONE] == ("700 [-3,000, 5,000]", "", "100, 5,000, -3,000")
    assert rows["κ"] == ("730 [-2,960, 5,030]", "+30 [+20, +40]", "120, 5,030, -2,960")
    assert rows["Γ_epi"] == ("109", "", "109"), "one pair has no interval"
    assert next(one.found for one in outcome.findings if one.claim.endswith(": κ")) == "Hopper-v5: +30 [+20, +40]"
    assert [(tmp_path / name).stat().st_size > 10_000 for name in outcome.figures] == [True]


def test_the_middle_evaluation_of_an_odd_number_is_counted() -> None:
    assert parts.second_half({"step": [1.0, 2.0, 3.0], "eval_return": [9.0, 2.0, 4.0]}) == 3.0
