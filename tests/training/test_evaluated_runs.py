"""`python -m pyresac.evaluate` by stand-ins for runs: names and labels, lines and JSON, which figures are drawn."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from pyresac import evaluate
from pyresac.envs.bus.objectives import PassengerTime
from pyresac.errors import InputError
from pyresac.figures import training
from pyresac.figures.curves import Curves
from pyresac.figures.training import Predictions
from pyresac.tasks.corridor_task import CorridorTask
from pyresac.training.contest import Contest


class Line(CorridorTask):
    """A task on a corridor of which nothing is played."""

    def __init__(self, worth: Any = None) -> None:
        self.corridor: Any = SimpleNamespace(name="small")
        self.worth = worth


def plain(value: Any) -> Any:
    """Namespaces as dictionaries."""
    return {name: plain(other) for name, other in vars(value).items()} if isinstance(value, SimpleNamespace) else value


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "to_plain", plain)


def stand_in(
    name: str = "a", *, task: Any = None, env: str = "Hopper-v5", seed: int = 0, rate: float = 0.1, heads: int = 3,
    **problem: Any,
) -> Any:  # fmt: skip
    """What `restore_run` would give, as far as the command looks at it."""
    return SimpleNamespace(
        files=SimpleNamespace(path=Path("runs") / name, metrics_file=Path(name)),
        config=SimpleNamespace(
            preset="the-preset", problem=SimpleNamespace(env=env, **problem),
            options=SimpleNamespace(ensemble_size=heads, rate=rate), run=SimpleNamespace(seed=seed, eval_episodes=4),
        ),
        trainee=SimpleNamespace(task=task, learner=SimpleNamespace(updates=12_345)), step=67_890,
    )  # fmt: skip


def known(*value: float, earned: tuple[float, ...] | None = None) -> Predictions:
    return Predictions(np.array(value), np.array(value if earned is None else earned))


def test_a_run_is_called_by_its_folder_or_by_its_path_where_two_have_one_name(tmp_path: Path) -> None:
    paths = (tmp_path / "a" / "x", tmp_path / "b" / "x", tmp_path / "b" / ".." / "y")
    assert [evaluate._name(path, paths) for path in paths] == [str(paths[0]), str(paths[1]), "y"]


def test_runs_of_one_setting_share_a_label() -> None:
    """Seeds, devices and lengths are no part of it; a label that another setting has is not taken again."""
    runs = {
        "a-seed0": stand_in(device="cpu"),
        "b": stand_in(rate=0.2),
        "c-seed7": stand_in(seed=7, device="cuda"),
        "d": stand_in(rate=0.3),
        "a-seed2-20240102-030405": stand_in(rate=0.4),
        "e-seed1-20240102-030405-2": stand_in(rate=0.5),
        "e-seed3": stand_in(rate=0.2, seed=3),
    }
    assert evaluate._labels(runs) == {
        "a-seed0": "a", "b": "the-preset", "c-seed7": "a", "d": "d", "a-seed2-20240102-030405":
        "a-seed2-20240102-030405", "e-seed1-20240102-030405-2": "e", "e-seed3": "the-preset",
    }  # fmt: skip


def test_runs_are_compared_on_one_problem() -> None:
    options = evaluate.Evaluate((Path("a"),))
    alike = {"a": stand_in(device="cpu", threads=1, num_envs=2), "b": stand_in(device="cuda", threads=3, num_envs=4)}
    evaluate._require_one_task(alike, options)
    with pytest.raises(InputError, match=r"^a and c are runs on different problems: gravity: 1 → 2$"):
        evaluate._require_one_task(
            {"a": stand_in(gravity=1), "b": stand_in(gravity=1), "c": stand_in(gravity=2)}, options
        )
    ruled = evaluate.Evaluate((Path("a"),), controllers=("none", "headway"))
    with pytest.raises(InputError, match=r"^controllers = none, headway: they hold buses, and a learned Hopper-v5$"):
        evaluate._require_one_task(alike, ruled)
    evaluate._require_one_task({"a": stand_in(env="corridor")}, ruled)


def test_a_day_s_return_is_told_on_other_tasks_alone() -> None:
    played: Any = SimpleNamespace(metrics={"return": 1, "wait": 2})
    assert evaluate._metrics(stand_in(task=Line()), played) == {"wait": 2}
    assert evaluate._metrics(stand_in(), played) == {"return": 1, "wait": 2}
    for task, passengers in ((Line(PassengerTime()), True), (Line(), False), (None, False)):
        assert evaluate._of_passengers({"a": stand_in(task=task)}) == passengers


def contest(*names: str, episodes: int = 2) -> Contest:
    return Contest({name: {"return": np.arange(episodes, dtype=float) + 1.0} for name in names}, {}, episodes)


def printed(runs: dict[str, Any], foreseen: dict[str, Predictions], **options: Any) -> list[str]:
    """The lines, on a terminal that is narrow for them."""
    output = io.StringIO()
    given = evaluate.Evaluate((Path("a"),), **options)
    console = Console(file=output, width=60, highlight=False, emoji=False)
    evaluate._print(runs, contest(*runs, episodes=given.episodes), foreseen, given, console)
    return output.getvalue().splitlines()


@pytest.mark.parametrize("episodes", [1, 2])
def test_what_is_printed_of_runs_and_of_what_they_foresaw(episodes: int) -> None:
    runs = {"[b]a-seed0": stand_in(), "c-seed1": stand_in(seed=1, heads=10), "other": stand_in(rate=0.5)}
    foreseen = {
        "[b]a-seed0": known(1000.0, 2000.0, 4500.0, earned=(3.0, 2.0, 1.0)), "c-seed1": known(), "other": known(-1.0),
    }  # fmt: skip
    lines = printed(runs, foreseen, episodes=episodes, policy="best", level=0.9)
    told = "Hopper-v5, {} critics, step 67,890, 12,345 updates"
    assert lines[:3] == [f"[b]a-seed0: {told.format(3)}", f"c-seed1: {told.format(10)}", f"other: {told.format(3)}"]
    assert f"best policy, {episodes} episodes" in " ".join(" ".join(lines).split())
    # the second run has more critics than the first, so none has a seed beside it
    assert not any("seeds" in line for line in lines)
    mean = "Under a mean: [b]a-seed0 less it on the same episodes, mean ± half-width at 90%, bold if sure."
    assert (mean in lines) == (episodes > 1)
    correlation = np.corrcoef([1000.0, 2000.0, 4500.0], [3.0, 2.0, 1.0])[0, 1]
    assert lines[-2:] == [
        f"[b]a-seed0: values of 3 decisions 2,500.0 on average, earned 2.0, correlation {correlation:.2f}.",
        "other: values of 1 decisions -1.0 on average, earned -1.0, correlation nan.",
    ]


def test_two_seeds_of_a_setting_have_a_row_together() -> None:
    lines = printed({"a-seed0": stand_in(), "a-seed1": stand_in(seed=1)}, {})
    assert any("2 seeds" in line for line in lines)


def test_json_has_all_of_a_run_and_nothing_that_it_lacks() -> None:
    runs = {"a-seed0": stand_in("a"), "b-seed5": stand_in("b", seed=5), "c": stand_in("c", rate=0.5)}
    foreseen = {
        "a-seed0": known(1.0, 3.0, earned=(2.0, 6.0)), "b-seed5": known(), "c": known(5.0, earned=(7.0,)),
    }  # fmt: skip
    options = evaluate.Evaluate((Path("a"),), policy="actor", episodes=2, seed=9, level=0.5)
    found = evaluate._plain(runs, contest(*runs), foreseen, options, [Path("x.png")])
    common = {"step": 67_890, "updates": 12_345}
    assert found["runs"] == {
        "a-seed0": common | {"run": "runs/a", "seed": 0, "setting": "a",
                             "values": {"decisions": 2, "q": 2.0, "earned": 4.0, "correlation": pytest.approx(1.0)}},
        "b-seed5": common | {"run": "runs/b", "seed": 5, "setting": "a",
                             "values": {"decisions": 0, "q": None, "earned": None, "correlation": None}},
        "c": common | {"run": "runs/c", "seed": 0, "setting": "the-preset",
                       "values": {"decisions": 1, "q": 5.0, "earned": 7.0, "correlation": None}},
    }  # fmt: skip
    assert {name: found[name] for name in ("policy", "episodes", "seed", "level", "reference", "figures")} == {
        "policy": "actor", "episodes": 2, "seed": 9, "level": 0.5, "reference": "a-seed0", "figures": ["x.png"],
    }  # fmt: skip


CURVES = Curves({"step": np.array([1.0])})


@pytest.mark.parametrize(
    ("task", "env", "scale", "title"),
    [
        (None, "hopper", training.RETURN, "Hopper"),
        (Line(), "corridor", training.CORRIDOR, "Corridor small"),
        (Line(PassengerTime()), "corridor", training.PASSENGERS, "Corridor small"),
    ],
)
def test_figures_are_of_the_task_and_of_what_is_known(
    task: Any, env: str, scale: training.Scale, title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: dict[str, Any] = {}

    def noted(name: str, result: Any) -> Any:
        def call(*given: Any) -> Any:
            called[name] = given
            return result

        return call

    def read(path: Path) -> Curves | None:
        return None if str(path) == "b" else CURVES

    curve, day, points = Figure(), Figure(), Figure()
    monkeypatch.setattr(evaluate, "read_curves", read)
    monkeypatch.setattr(evaluate, "curve_figures", noted("curves", {"learning-curve": curve}))
    monkeypatch.setattr(evaluate, "day_figure", noted("day", day))
    monkeypatch.setattr(training, "predictions", noted("points", points))
    monkeypatch.setattr(evaluate, "rules_of", noted("rules", {"none": {"return": np.array([1.0, 4.0])}}))
    written: list[tuple[Figure, Path]] = []
    monkeypatch.setattr(evaluate, "write", lambda figure, path: written.append((figure, path)) or path)
    runs = {"a": stand_in("a", task=task, env=env), "b": stand_in("b", task=task, env=env, rate=0.5)}
    runs["a"].controller = lambda: "the first one's"
    foreseen = {"a": known(), "b": known(1.0)}
    options = evaluate.Evaluate((Path("a"),), seed=8, format="svg")
    paths = evaluate._draw(runs, ["none"], foreseen, options)
    groups, of_scale, of_title, lines = called["curves"]
    assert [(group.name, list(group.runs)) for group in groups] == [("the-preset", [CURVES])]
    assert (of_scale, of_title) == (scale, title)
    assert lines == ({} if task is None else {"none": 2.5})
    assert called["points"] == ({"b": foreseen["b"]}, scale, f"{title}: values and what was earned")
    names = ["learning-curve", *([] if task is None else ["time-space"]), "predictions"]
    assert paths == [Path("runs/a/figures") / f"{name}.svg" for name in names]
    assert written == list(zip([curve, *([] if task is None else [day]), points], paths, strict=True))
    if task is not None:
        assert called["rules"] == (task, ("none",), 4, 0)
        assert called["day"] == (task, "a", "the first one's", 8)
    elsewhere = evaluate.Evaluate((Path("a"),), figures=Path("new"))
    foreseen = {"a": known(), "b": known()}
    runs["a"].files.metrics_file = Path("b")
    called.clear()
    assert evaluate._draw(runs, [], foreseen, elsewhere) == ([] if task is None else [Path("new/time-space.png")])
    assert "curves" not in called
    assert "points" not in called


@pytest.mark.parametrize("task", [None, Line()])
@pytest.mark.parametrize(
    ("as_json", "no_figures", "fails"),
    [(False, False, False), (False, False, True), (True, False, False), (True, False, True), (True, True, False)],
)
def test_numbers_are_told_before_figures_can_fail(
    task: Any, as_json: bool, no_figures: bool, fails: bool, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """As tables before, as JSON in any case; the names of what was written come last, a line each."""
    path = Path(f"{'long' * 55}[b].png")
    played = SimpleNamespace(metrics={"return": np.array([1.0, 2.0]), "wait": np.array([3.0, 4.0])})
    run = stand_in(task=task)
    run.play = lambda episodes, seed: played if (episodes, seed) == (2, 9) else None
    run.trainee.predictions = lambda given: (np.array([1.0]), None, np.array([2.0])) if given is played else None
    restored: list[Any] = []
    monkeypatch.setattr(evaluate, "restore_run", lambda *given: restored.append(given) or run)
    monkeypatch.setattr(evaluate, "baselines", lambda _: ("usual",))
    monkeypatch.setattr(evaluate, "rule_names", lambda _, names: (*names, "named"))
    ruled: list[Any] = []
    monkeypatch.setattr(evaluate, "rules_of", lambda *given: ruled.append(given) or {"named": played.metrics})
    met: list[Any] = []

    def draw(*given: Any) -> list[Path]:
        met.append(given)
        if fails:
            raise InputError("no figure")
        return [path]

    def told(*given: Any) -> None:
        assert not met, "before the figures"
        print("the tables of", *given[1].learned)

    monkeypatch.setattr(evaluate, "_draw", draw)
    monkeypatch.setattr(evaluate, "_print", told)
    options = evaluate.Evaluate((Path("runs/a"),), episodes=2, seed=9, json=as_json, no_figures=no_figures, device="d")
    console = evaluate.wide_console()
    if fails:
        with pytest.raises(InputError, match="no figure"):
            evaluate.run(options, console)
    else:
        evaluate.run(options, console)
    shown = capsys.readouterr().out
    assert restored == [(Path("runs/a"), "averaged", "d")]
    assert ruled == ([] if task is None else [(task, ("usual", "named"), 2, 9)])
    assert len(met) == (not no_figures)
    if met:
        assert met[0][:2] == ({"a": run}, [] if task is None else ["named"])
    if as_json:
        assert shown.endswith("\n}\n")
        assert shown.startswith('{\n "policy"')
        found = json.loads(shown)
        assert found["figures"] == ([] if fails or no_figures else [str(path)])
        assert found["runs"]["a"]["values"]["earned"] == 2.0
        assert list(found["learned"]["a"]) == (["return", "wait"] if task is None else ["wait"])
        assert {name: list(values) for name, values in found["controllers"].items()} == (
            {} if task is None else {"named": ["wait"]}
        )
    else:
        assert shown == "the tables of a\n" + ("" if fails else f"wrote {path}\n")


def test_no_run_is_refused() -> None:
    with pytest.raises(InputError, match="no run was named; give the folder of at least one"):
        evaluate.Evaluate(()).require_usable()


def test_json_is_out_before_the_command_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    output = SimpleNamespace(write=lambda _: done.append("written"), flush=lambda: done.append("flushed"))
    monkeypatch.setattr(evaluate, "standard_output", lambda: output)
    run = stand_in()
    run.play = lambda *_: SimpleNamespace(metrics={"return": np.ones(2)})
    run.trainee.predictions = lambda _: (np.array([]), None, np.array([]))
    monkeypatch.setattr(evaluate, "restore_run", lambda *_: run)
    evaluate.run(evaluate.Evaluate((Path("a"),), episodes=2, json=True, no_figures=True), Console(file=io.StringIO()))
    assert done == ["written", "flushed"]
