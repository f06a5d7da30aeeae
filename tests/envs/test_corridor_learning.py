"""Training and evaluation on the corridor's objective of passengers' time."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

pytest.importorskip("torch")

from tiny_run import TINY, save_tiny_corridor
from train_command import assert_refused

from pyresac import evaluate, train
from pyresac.envs.bus import simulate_days
from pyresac.envs.bus.metrics import metrics_table
from pyresac.envs.bus.named import corridor_named
from pyresac.envs.bus.named_controllers import controller_named
from pyresac.envs.bus.objectives import PassengerTime
from pyresac.tasks.corridor_baselines import SEARCH_DAYS, SEARCHES, rules_of, searched
from pyresac.tasks.corridor_task import EVALUATION_DAYS, CorridorTask
from pyresac.training.deep_report import FINAL_SEED, print_contest
from pyresac.training.restored import restore_run

OBJECTIVE = "passengers:vehicle_hour=30,denied=5,followers=1"
LENGTHS = ("--steps", "200")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run on top of the headway rule."""
    folder = tmp_path_factory.mktemp("passengers")
    save_tiny_corridor(folder / "tiny.json")
    where = ["--corridor", str(folder / "tiny.json"), "--run-dir", str(folder / "run")]
    assert train.main([*TINY, *where, *LENGTHS, "--objective", OBJECTIVE, "--rule", "headway"]) == 0
    return folder / "run"


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_the_return_of_a_day_is_its_objective(run: Path) -> None:
    """In the report after training, by the record of the same days under the saved policy."""
    result, worth = read(run / "result.json"), PassengerTime(30.0, 5.0)
    restored = restore_run(run)
    days = range(EVALUATION_DAYS + FINAL_SEED, EVALUATION_DAYS + FINAL_SEED + 2)
    task = restored.trainee.task
    assert isinstance(task, CorridorTask)
    records = simulate_days(task.corridor, restored.controller(), days)
    assert result["return"] == pytest.approx(np.mean([worth(record) for record in records]), rel=1e-9, abs=0)
    learned, table = result["controllers"]["learned"], metrics_table(records)
    for name in ("weighted_journey", "wait", "travel", "vehicle_hours", "reward"):
        np.testing.assert_allclose(learned[name], table[name], rtol=1e-9)


def test_the_rules_beside_it_are_those_of_passengers_time(run: Path) -> None:
    names = list(read(run / "result.json")["controllers"])
    assert names[:3] == ["learned", "none", "headway"]
    assert names[3].startswith("target:slack=")
    assert ",gain=" in names[3]
    assert names[4].startswith("schedule:slack=")
    assert names[5] == "linear-passengers"


def test_a_threshold_is_searched_for_the_task_s_objective(tiny: Path) -> None:
    """The best on the six days before those of evaluation, by passengers' time and not by the reward."""
    best = {}
    for objective in ("reward", OBJECTIVE):
        task = CorridorTask(corridor_named(str(tiny)), 1, 0, objective=objective)
        best[objective] = searched(task, "best-threshold")
        days = range(EVALUATION_DAYS - SEARCH_DAYS, EVALUATION_DAYS)
        means = {
            rule: np.mean([task.worth(day) for day in simulate_days(task.corridor, controller_named(rule), days)])
            for rule in SEARCHES["best-threshold"]
        }
        assert best[objective] == max(means, key=lambda rule: means[rule])
        values = rules_of(task, ("headway",), 2, 0)["headway"]
        if objective == "reward":
            np.testing.assert_array_equal(values["return"], values["reward"])
        else:
            price = 30.0 * values["vehicle_hours"] + 5.0 * values["left_behind"]
            np.testing.assert_allclose(values["return"], -values["weighted_time"] - price, rtol=1e-9)
    assert best["reward"] != best[OBJECTIVE]


def test_the_tables_are_in_minutes(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["--run-dir", str(run), "--resume"]) == 0
    report = " ".join(capsys.readouterr().out.split())
    assert "Cost is 2·wait + ride" in report
    assert "saved, min" in report
    assert "The reward sees headways" not in report
    assert evaluate.main([str(run), "--episodes", "2", "--figures", str(run / "drawn")]) == 0
    table = capsys.readouterr().out
    assert "denied" in table
    assert "bunching" not in table
    assert (run / "drawn" / "learning-curve.png").is_file()


def test_saved_minutes_are_positive_where_the_learned_policy_takes_less(run: Path) -> None:
    """The sign of the last column: minutes of the rule less minutes of the learned policy."""
    tables = read(run / "result.json")["controllers"]
    days = {name: {key: np.array(values) for key, values in table.items()} for name, table in tables.items()}
    days["learned"] = {key: values.copy() for key, values in days["none"].items()}
    days["learned"]["weighted_journey"] -= np.array([1.0, 2.0])
    out = io.StringIO()
    print_contest(Console(file=out, width=140), days, "days", passengers=True)
    line = next(line for line in out.getvalue().splitlines() if "none" in line)
    assert "+1.500 ±" in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--objective", "speed"], "objective 'speed' is unknown; expected one of"),
        (["--objective", "passengers:followers=-1"], "followers is -1.0; a price must be finite and not negative"),
        (["--env", "Pendulum-v1", "--objective", "passengers"], "objective goes with env = 'corridor'"),
    ],
)
def test_bad_objectives_are_refused_before_any_work(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(arguments, message, tmp_path / "run", capsys)
