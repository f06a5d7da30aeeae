"""Parts of the corridor's command by themselves: which days are played, what is asked of the library, what is shown."""

from __future__ import annotations

import io
import json
import math
import os
import runpy
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from pyresac import corridor as command
from pyresac.corridor import days as days_module
from pyresac.corridor import feeds, main, pictures, search, tables, vehicle_location
from pyresac.corridor.days import MOST_DAYS, Days
from pyresac.envs.bus import Corridor, Operations
from pyresac.envs.bus.avl.moments import Agreement
from pyresac.envs.bus.avl.observed import ObservedWay
from pyresac.envs.bus.changes import with_demand
from pyresac.envs.bus.corridor_files import save_corridor
from pyresac.envs.bus.gtfs_feed import RouteSummary
from pyresac.envs.bus.simulator import LARGEST_SEED
from pyresac.errors import InputError

LONG = "a-folder-with-a-name-that-is-longer-than-a-line-of-this-output/" * 4


@pytest.fixture
def line(tmp_path: Path, small: Corridor) -> str:
    save_corridor(small, tmp_path / "line.json")
    return str(tmp_path / "line.json")


def printed(run: Callable[[Console], None]) -> list[str]:
    """The lines that a command prints on a console 80 wide."""
    text = io.StringIO()
    run(Console(file=text, width=80))
    return text.getvalue().splitlines()


# --- days


@pytest.mark.parametrize("factor", [1.0, 2.0, 0.5])
def test_any_factor_of_demand_but_one_changes_the_line(factor: float, line: str, small: Corridor) -> None:
    found = Days(corridor=line, demand=factor).line()
    assert np.array_equal(found.demand, with_demand(small, factor).demand)
    assert found.operations == Operations()


def test_an_option_of_operations_is_given_on_by_its_name(line: str) -> None:
    given: dict[str, Any] = {"buses": 3, "layover": 60.0, "open_doors": True, "closed_holds": False, "in_order": False}
    given |= {"berths": 1, "patience": 600.0, "advice": False, "skipping": False}
    assert given.keys() == set(days_module.DIRECT)
    assert Days(corridor=line, late=(0.25, 30.0), **given).line().operations == Operations(
        late_share=0.25, late_mean=30.0, **given
    )


def test_days_follow_one_another_up_to_the_last_seed() -> None:
    assert Days(seeds=1).numbers() == range(1)
    assert Days(seeds=3, first_seed=5).numbers() == range(5, 8)
    assert len(Days(seeds=MOST_DAYS).numbers()) == MOST_DAYS
    assert Days(seeds=2, first_seed=LARGEST_SEED - 1).numbers()[-1] == LARGEST_SEED
    for bad in (Days(seeds=0), Days(seeds=MOST_DAYS + 1), Days(seeds=2, first_seed=LARGEST_SEED)):
        with pytest.raises(InputError):
            bad.numbers()


def test_json_says_what_was_changed_and_nothing_else() -> None:
    assert Days(seeds=2, first_seed=3).plain() == {"corridor": "default", "published": False, "seeds": [3, 4]}
    given = Days(seeds=1, published=True, headway=300.0, late=(0.1, 20.0), advice=False, demand=2.0)
    assert given.plain() == {
        "corridor": "default",
        "published": True,
        "seeds": [0],
        "headway": 300.0,
        "demand": 2.0,
        "late": (0.1, 20.0),
        "advice": False,
    }


def test_the_bar_goes_to_the_errors_and_leaves_nothing() -> None:
    bar = days_module.progress_bar()
    assert bar.live.transient
    assert bar.console.stderr or bar.console.file is not sys.stdout
    assert getattr(bar.console.file, "_stream", bar.console.file) is sys.stderr


@pytest.mark.parametrize("names", [(), ("none", "none"), ("none", "headway", "none")])
def test_controllers_are_at_least_one_each_once(names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="expected at least one, each once"):
        days_module.run_controllers(names, Days(seeds=1))


def test_only_a_run_that_is_named_is_a_learned_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else there is, is a controller's name."""
    asked: list[str] = []
    monkeypatch.setattr(days_module, "controller_named", lambda text: asked.append(text) or "known")
    for text in ("learned", "learned:", "headway", "mine.py:run"):
        assert days_module.named(text) == "known"
    assert asked == ["learned", "learned:", "headway", "mine.py:run"]


def test_json_is_written_a_field_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    days_module.print_json({"a": [1], "b": None})
    assert capsys.readouterr().out == '{\n "a": [\n  1\n ],\n "b": null\n}\n'


@pytest.mark.parametrize("level", ["0", "1", "-0.5"])
def test_a_level_lies_between_0_and_1_without_them(level: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--level", level]) == 2
    assert f"level is {float(level)}; it must lie between 0 and 1" in capsys.readouterr().err


def test_two_days_of_two_controllers_can_be_compared_and_fewer_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "run_controllers", lambda *given: pytest.fail(f"{given} are played"))
    for seeds, names in ((1, ("none", "headway")), (2, ("none",)), (1, ("none",))):
        with pytest.raises(InputError, match="at least 2 days and 2 controllers"):
            tables.Compare(names, days=Days(seeds=seeds)).run(Console())
    with pytest.raises(pytest.fail.Exception, match="are played"):
        tables.Compare(("none", "headway"), days=Days(seeds=2)).run(Console())


def test_every_table_that_is_asked_for_is_printed_once(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--corridor", line, "--seeds", "2", "--by", "hour"]) == 0
    said = capsys.readouterr().out
    assert said.count("none on small, 2 days") == said.count("by hour, means over days") == 1
    assert main(["simulate", "--corridor", line, "--seeds", "2"]) == 0
    said = capsys.readouterr().out
    assert said.count("none on small, 2 days") == 1
    assert "means over days" not in said
    for by in ("day", "hour"):
        assert main(["simulate", "--corridor", line, "--seeds", "1", "--by", by, "--json"]) == 0
        content = json.loads(capsys.readouterr().out)
        assert ("by_hour" in content) == (by == "hour")
        assert "by_day" not in content


# --- pictures


def test_a_diagram_is_of_the_first_day_and_the_direction_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    records = {name: [SimpleNamespace(seed=seed) for seed in (4, 5)] for name in ("none", "headway")}
    monkeypatch.setattr(pictures, "run_controllers", lambda names, days: records)
    monkeypatch.setattr("pyresac.envs.bus.figures.time_space", lambda *given: drawn.append(given) or "figure")
    monkeypatch.setattr("pyresac.envs.bus.figures.headways_by_stop", lambda *given: drawn.append(given) or "figure")
    monkeypatch.setattr("pyresac.figures.style.write", lambda figure, path, dpi: drawn.append((figure, path, dpi)))
    out = tmp_path / "a.png"
    lines = printed(pictures.Draw("time-space", out, direction="down", hours=(1.0, 2.0)).run)
    assert drawn[0] == (
        {"none, seed 4": records["none"][0], "headway, seed 4": records["headway"][0]}, 1, (1.0, 2.0),
    )  # fmt: skip
    assert drawn[1] == ("figure", out, 110)
    assert lines == [f"wrote {out}"]
    pictures.Draw("headways", out).run(Console(quiet=True))
    assert drawn[2] == (records, 0)


def test_a_page_is_of_one_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    record = SimpleNamespace(seed=7, layout=SimpleNamespace(corridor=SimpleNamespace(name="a line")))
    monkeypatch.setattr(pictures, "run_controllers", lambda *given: asked.append(given) or {"headway": [record]})
    monkeypatch.setattr("pyresac.envs.bus.animation.animation_page", lambda *given: asked.append(given) or "page")
    out = tmp_path / "x.html"
    lines = printed(pictures.Animate(out, "headway", Days(seeds=5, first_seed=7)).run)
    assert asked == [(("headway",), Days(seeds=1, first_seed=7)), (record, "a line, headway, day 7")]
    assert out.read_text() == "page"
    assert lines == [f"wrote {out}"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "headways", "days": Days(json=True)}, "--json is given to a command that writes a picture"),
        ({"kind": "time-space", "days": Days(json=True)}, "--json is given to a command that writes a picture"),
        ({"kind": "headways", "hours": (2.0, 4.0)}, "--hours is given with headways"),
        ({"kind": "pareto", "hours": (1.0, 5.0)}, "--hours is given with pareto"),
        ({"kind": "pareto", "direction": "down"}, "--direction down is given with pareto"),
        ({"kind": "wait-travel", "direction": "down"}, "--direction down is given with wait-travel"),
        ({"kind": "headways", "direction": "down"}, None),
        ({"kind": "time-space", "direction": "down", "hours": (0.0, 1.0)}, None),
        ({"kind": "wait-travel"}, None),
    ],
)
def test_a_picture_takes_the_options_of_its_kind_alone(
    given: dict[str, Any], words: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said before any day is played."""
    monkeypatch.setattr(pictures, "run_controllers", lambda *_: pytest.fail("a day is played"))
    with pytest.raises((InputError, pytest.fail.Exception), match=words or "a day is played"):
        pictures.Draw(out=tmp_path / "a.png", **given).run(Console(quiet=True))
    for out, days, reason in (("a.html", Days(json=True), "--json is given"), ("a.png", Days(), "ending in .html")):
        with pytest.raises(InputError, match=reason):
            pictures.Animate(tmp_path / out, days=days).run(Console(quiet=True))


# --- search


@pytest.mark.parametrize(("allowed", "counted", "found"), [({0, 3}, 8, 2), (None, 8, 8), (None, None, 1)])
def test_cores_are_those_that_the_process_may_use(
    allowed: set[int] | None, counted: int | None, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if allowed is None:
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    else:
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: allowed if pid == 0 else set(), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    assert search.cores() == found


class Bar:
    """Stands for the progress bar."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.said.append("closed")

    def add_task(self, description: str, total: int) -> int:
        self.said.append((description, total))
        return 5

    def update(self, task: int, completed: int, description: str) -> None:
        self.said.append((task, completed, description))


@pytest.mark.parametrize(("workers", "threads"), [(None, 3), (1, 1)])
def test_a_search_is_told_while_it_goes_and_kept_with_what_it_was(
    workers: int | None, threads: int, tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar, given, kept = Bar(), list[Any](), list[Any]()

    def tune(corridor: Corridor, objective: Any, asked: Any, published: bool, step: Any) -> Any:
        given.append((corridor.name, asked, published))
        step(1, -1234.4)
        step(2, 5.0)
        return SimpleNamespace(rule="the rule", generations=2, start=-10.4, value=5.2, seconds=3.4)

    monkeypatch.setattr(search, "progress_bar", lambda: bar)
    monkeypatch.setattr(search, "cores", lambda: 3)
    monkeypatch.setattr(search, "tune", tune)
    monkeypatch.setattr(search, "save_controller", lambda *what: kept.append(what))
    out = tmp_path / "rule.json"
    numbers = {"generations": 7, "population": 5, "days": 4, "check_days": 3, "first_seed": 100, "seed": 9}
    tuned = search.Tune(out, "schedule", corridor=line, workers=workers, published=True, **numbers)
    lines = printed(tuned.run)
    assert given == [("small", search.Search(family="schedule", workers=threads, **numbers), True)]
    assert bar.said == [
        ("tuning schedule", 7),
        (5, 1, "tuning schedule, best -1,234"),
        (5, 2, "tuning schedule, best 5"),
        "closed",
    ]
    note = {
        "corridor": line,
        "published": True,
        "objective": "reward",
        "search_days": [100, 103],
        "check_days": [104, 106],
        "population": 5,
        "generations": 2,
        "seed": 9,
        "start": -10.4,
        "value": 5.2,
    }
    assert kept == [("the rule", out, note)]
    assert lines == [
        "reward a day on 3 days that the search did not see: -10 where it began, 5 found, "
        f"in 2 generations and 3 s; in {out}"
    ]


# --- feeds


def test_routes_are_listed_with_their_first_and_last_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        feeds,
        "summaries",
        lambda feed: [
            RouteSummary("R1", "7", "Line", 12, ("2026-01-05", "2026-01-06", "2026-01-09")),  # type: ignore[arg-type]
            RouteSummary("R2", "8", "Other", 0, ()),
        ],
    )
    rows = [[cell.strip() for cell in text.split("│")[1:-1]] for text in printed(feeds.Routes(tmp_path).run)]
    assert [row for row in rows if row] == [
        ["R1", "7", "Line", "12", "3", "2026-01-05", "2026-01-09"],
        ["R2", "8", "Other", "0", "0", "", ""],
    ]


def test_a_feed_s_corridor_is_saved_and_told_in_a_line(
    tmp_path: Path, small: Corridor, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(feeds, "gtfs_corridor", lambda *given, **more: asked.append((given, more)) or small)
    out = tmp_path / "out.json"
    given = feeds.Gtfs(Path("feed.zip"), out, "7", "2026-01-05", (1, 0), Path("demand.csv"), None, 300.0)
    assert printed(given.run) == [f"small: 5 stops, 16 trips, in {out}"]
    more = {"directions": (1, 0), "demand": Path("demand.csv"), "per_trip": None, "headway": 300.0}
    assert asked == [((Path("feed.zip"), "7", "2026-01-05"), more)]
    assert out.is_file()


# --- observed days


def way(days: int) -> ObservedWay:
    """Its arrivals say which day they are of."""
    of = np.arange(float(days))[:, None, None] + np.zeros((1, 2, 3))
    return ObservedWay(np.array([0.0, 600.0]), of, of.copy())


def agreeing(shift: float) -> Agreement:
    """Up and down apart; the last stop is the worst of both ways."""
    up, down = np.array([0.5, 0.4, 0.8]), np.array([0.5, math.nan, 0.25])
    return Agreement(
        (0.1 + shift, 0.2 + shift),
        (0.3, 0.4 - shift),
        (up + shift * np.array([0.1, -0.2, 8.0]), down + shift * np.array([1.0, 1.0, 1.0])),
    )


@pytest.mark.parametrize(
    ("days", "share", "kept"),
    [(8, 0.25, 6), (3, 0.25, 2), (3, 0.01, 2), (4, 0.5, 2), (10, 0.26, 7), (3, 0.5, None), (2, 0.25, None)],
)
def test_the_last_days_are_held_out_one_at_least(
    days: int, share: float, kept: int | None, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And as many are simulated, from the first seed on; two at least are left to calibrate with."""
    seen: dict[str, Any] = {}

    def calibrated(corridor: Corridor, observed: Any, demand: bool) -> Corridor:
        seen["calibrated"] = [one.arrive[:, 0, 0].tolist() for one in observed]
        seen["demand"] = demand
        return corridor

    def simulated(corridor: Corridor, rule: Any, seeds: range) -> Any:
        seen["seeds"] = list(seeds)
        return "records"

    def agreed(observed: Any, hours: int) -> Agreement:
        if observed == "simulated":
            return agreeing(0.05)
        seen["checked"] = [one.arrive[:, 0, 0].tolist() for one in observed]
        return agreeing(0.0)

    module = vehicle_location
    observed = (way(days), way(days))
    monkeypatch.setattr(module, "read_observed", lambda *_: (observed, [str(day) for day in range(days)]))
    monkeypatch.setattr(module, "calibrated", calibrated)
    monkeypatch.setattr(module, "simulate_days", simulated)
    monkeypatch.setattr(module, "days_of", lambda records: "simulated")
    monkeypatch.setattr(module, "agreement", agreed)
    out = tmp_path / "out.json"
    given = module.Avl(Path("days.csv"), out, line, held_out=share, first_seed=30)
    if kept is None:
        with pytest.raises(InputError, match=f"days.csv has {days} days; at least 3 are needed"):
            given.run(Console(quiet=True))
        return
    text = printed(given.run)
    assert seen == {
        "calibrated": [[float(day) for day in range(kept)]] * 2,
        "checked": [[float(day) for day in range(kept, days)]] * 2,
        "demand": True,
        "seeds": list(range(30, 30 + days - kept)),
    }
    assert out.is_file()
    assert text[0].strip() == f"{days - kept} days held out"
    assert text[-1].startswith("traffic: day 0.000, local ")
    assert text[-1].endswith(f"0% of dispatches late by 0 s; from {kept} days, in {out}")
    replace(given, keep_demand=True).run(Console(quiet=True))
    assert seen["demand"] is False


def test_what_agrees_is_told_way_by_way_with_the_worst_stop() -> None:
    """A stop that nobody observed is not the worst."""
    rows = vehicle_location._rows(agreeing(0.0), agreeing(0.05))
    worst = [
        ("up", "headway variation at stop 4, the worst", 0.8, 1.2),
        ("down", "headway variation at stop 4, the worst", 0.25, 0.3),
    ]
    expected = [
        ("up", "trip time, variation", 0.1, 0.15),
        ("up", "adjacent links, correlation", 0.3, 0.3),
        ("up", "headway, mean variation of stops", 1.7 / 3.0, (0.505 + 0.39 + 1.2) / 3.0),
        worst[0],
        ("down", "trip time, variation", 0.2, 0.25),
        ("down", "adjacent links, correlation", 0.4, 0.35),
        ("down", "headway, mean variation of stops", 0.375, 0.425),
        worst[1],
    ]
    assert [row[:2] for row in rows] == [row[:2] for row in expected]
    assert [row[2:] for row in rows] == [pytest.approx(row[2:]) for row in expected]


def test_in_json_what_is_no_number_is_null(small: Corridor) -> None:
    none = np.full(3, math.nan)
    with pytest.warns(RuntimeWarning):
        found = vehicle_location._plain(
            small, 6, 8, replace(agreeing(0.0), headway_variation=(none, none)), agreeing(0.0)
        )
    assert (found["days"], found["calibrated_on"]) == (8, 6)
    assert set(found) == {"days", "calibrated_on", "traffic", "late_share", "late_mean", "agreement"}
    first, _, mean, *_ = found["agreement"]
    assert first == {"direction": "up", "statistic": "trip time, variation", "observed": 0.1, "simulated": 0.1}
    assert mean["observed"] is None
    assert mean["simulated"] == pytest.approx(1.7 / 3.0)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.25])
def test_a_share_of_none_or_all_days_is_none(share: float, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"held_out is {share}; it must be a share of the days"):
        vehicle_location.Avl(Path("days.csv"), tmp_path / "out.json", held_out=share).run(Console(quiet=True))
    with pytest.raises(InputError, match="seed is -1"):
        vehicle_location.Avl(Path("days.csv"), tmp_path / "out.json", first_seed=-1).run(Console(quiet=True))


# --- the command


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("figure --kind headways --out OUT.png", "wrote OUT.png"),
        ("animate --out OUT.html", "wrote OUT.html"),
    ],
)
def test_a_long_name_is_told_in_one_line(
    arguments: str, words: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / LONG / "picture"
    out.parent.mkdir(parents=True)
    assert main([*arguments.replace("OUT", str(out)).split(), "--corridor", line, "--seeds", "1"]) == 0
    assert capsys.readouterr().out == words.replace("OUT", str(out)) + "\n"


def test_the_package_is_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["corridor", "compare", "--level", "2"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("pyresac.corridor", run_name="__main__", alter_sys=True)
    assert end.value.code == 2
    ran: list[Any] = []
    command.run(SimpleNamespace(run=ran.append), "console")  # type: ignore[arg-type]
    assert ran == ["console"]
