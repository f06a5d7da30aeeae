"""`python -m pyresac.corridor` as a person would use it, and its pictures."""

from __future__ import annotations

import csv
import errno
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import shown
from matplotlib.collections import LineCollection
from test_corridor_gtfs import DATE, write

from pyresac.corridor import main
from pyresac.corridor.days import print_json
from pyresac.envs.bus import (
    Corridor,
    HeadwayEqualising,
    NoHolding,
    TargetHeadway,
    day_metrics,
    default_corridor,
    metrics_table,
    simulate,
    simulate_days,
)
from pyresac.envs.bus.animation import animation_page, day_plain
from pyresac.envs.bus.corridor_files import save_corridor
from pyresac.envs.bus.figures import headways_by_stop, pareto, time_space, wait_against_travel
from pyresac.errors import InputError


@pytest.fixture
def line(tmp_path: Path, small: Corridor) -> str:
    """The small corridor as a file."""
    save_corridor(small, tmp_path / "line.json")
    return str(tmp_path / "line.json")


def hold_five_seconds(observation: Any) -> float:
    """A plug-in."""
    return 5.0


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(list(arguments)) == 0
    return json.loads(capsys.readouterr().out)


def test_simulate_as_json_is_the_library_s_result(
    capsys: pytest.CaptureFixture[str], line: str, small: Corridor
) -> None:
    arguments = [
        "simulate",
        "--corridor",
        line,
        "--controller",
        "target:slack=30",
        "--seeds",
        "2",
        "--first-seed",
        "4",
        "--json",
    ]
    content = output(capsys, *arguments)
    assert content["seeds"] == [4, 5]
    expected = [day_metrics(simulate(small, TargetHeadway(30.0), seed)).wait for seed in (4, 5)]
    assert content["metrics"]["wait"]["values"] == expected
    assert content["metrics"]["wait"]["mean"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(("by", "rows"), [("stop", 10), ("hour", 2)])
def test_simulate_by_stop_and_hour(capsys: pytest.CaptureFixture[str], line: str, by: str, rows: int) -> None:
    content = output(capsys, "simulate", "--corridor", line, "--seeds", "2", "--by", by, "--json")
    assert len(content[f"by_{by}"]) == rows
    assert main(["simulate", "--corridor", line, "--seeds", "2", "--by", by]) == 0
    shown = capsys.readouterr().out
    assert f"by {by}, means over days" in shown
    assert "…" not in shown


def test_a_plug_in_controller(capsys: pytest.CaptureFixture[str], line: str) -> None:
    name = f"{__name__}:hold_five_seconds"
    content = output(capsys, "simulate", "--corridor", line, "--seeds", "1", "--controller", name, "--json")
    assert content["metrics"]["holding"]["mean"] == 5.0
    assert content["metrics"]["holding"]["deviation"] is None


def test_the_published_switch(capsys: pytest.CaptureFixture[str], line: str) -> None:
    arguments = ["simulate", "--corridor", line, "--seeds", "1", "--json"]
    exact, published = output(capsys, *arguments), output(capsys, *arguments, "--published")
    assert published["metrics"]["travel"]["mean"] > exact["metrics"]["travel"]["mean"]


def test_compare(capsys: pytest.CaptureFixture[str], line: str) -> None:
    arguments = ["compare", "--corridor", line, "--seeds", "3", "--controllers", "none", "headway", "random"]
    content = output(capsys, *arguments, "--json")
    assert set(content["differences"]) == {"headway", "random"}
    values = [content["controllers"][name]["holding"]["values"] for name in ("none", "headway")]
    assert content["differences"]["headway"]["holding"]["mean"] == pytest.approx(
        np.mean(values[1]) - np.mean(values[0])
    )
    assert main(arguments) == 0
    assert "less none" in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize("kind", ["time-space", "headways", "wait-travel", "pareto"])
def test_figure(tmp_path: Path, line: str, kind: str) -> None:
    out = tmp_path / "picture.png"
    hours = ["--hours", "0", "1"] if kind == "time-space" else []
    assert main(["figure", "--kind", kind, "--out", str(out), "--corridor", line, "--seeds", "1", *hours]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")


def test_gtfs_makes_a_corridor_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    feed, out = write(tmp_path / "feed.zip"), tmp_path / "made.json"
    assert main(["gtfs", "--feed", str(feed), "--out", str(out), "--route", "7", "--date", DATE]) == 0
    assert "5 stops, 14 trips" in capsys.readouterr().out
    content = output(capsys, "simulate", "--corridor", str(out), "--seeds", "1", "--json")
    assert content["metrics"]["passengers"]["mean"] > 100


def test_as_a_program(line: str, small: Corridor) -> None:
    """Another process has the same days, to the last digit."""
    command = [sys.executable, "-m", "pyresac.corridor", "simulate", "--corridor", line, "--seeds", "3"]
    shown, plain = (
        subprocess.run([*command, *more], capture_output=True, text=True, check=False) for more in ([], ["--json"])
    )
    assert shown.returncode == plain.returncode == 0, shown.stderr + plain.stderr
    assert "none on small, 3 days" in shown.stdout
    expected = metrics_table(simulate_days(small, NoHolding(), range(3)))
    found = json.loads(plain.stdout)["metrics"]
    assert {name: found[name]["values"] for name in expected} == {
        name: values.tolist() for name, values in expected.items()
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "--seeds", "0"], "seeds is 0; at least 1 day is needed"),
        (["simulate", "--first-seed", "-1"], "seed is -1"),
        (["simulate", "--controller", "brake"], "controller 'brake' is unknown"),
        (["simulate", "--corridor", "nowhere"], "corridor is 'nowhere'; expected default, disturbed, a .json file, or"),
        (["simulate", "--corridor", "nowhere.json"], "cannot read nowhere.json: No such file"),
        (["simulate", "--corridor", "published-slow:nowhere"], "no such workbook"),
        (["compare", "--seeds", "1"], "compare needs at least 2 days and 2 controllers"),
        (["compare", "--controllers", "none"], "compare needs at least 2 days and 2 controllers"),
        (["compare", "--controllers", "none", "none"], "each once"),
        (["compare", "--level", "95"], "level is 95.0; it must lie between 0 and 1"),
        (["figure", "--kind", "headways", "--out", "a.txt"], "expected a file ending in .png, .svg, .pdf"),
        (
            ["figure", "--kind", "time-space", "--out", "a.png", "--seeds", "1", "--hours", "5", "2"],
            "expected 0 ≤ first < last",
        ),
        (["gtfs", "--feed", "no.zip", "--out", "o.json", "--route", "7", "--date", DATE], "no.zip: no such file"),
        (["gtfs", "--feed", "a.zip", "--out", "a.zip", "--route", "7", "--date", DATE], "a file ending in .json"),
    ],
)
def test_bad_commands(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize("hours", [("5", "6"), ("50", "1e9")])
def test_hours_after_the_day(capsys: pytest.CaptureFixture[str], line: str, hours: tuple[str, str]) -> None:
    arguments = ["figure", "--kind", "time-space", "--out", "a.png", "--corridor", line, "--seeds", "1", "--hours"]
    assert main([*arguments, *hours]) == 2
    assert "the last trip ends after 1." in capsys.readouterr().err.replace("\n", " ")


def test_endless_hours_are_cut_at_the_end_of_the_day(small: Corridor) -> None:
    record = simulate(small, NoHolding(), 0)
    assert time_space({"a day": record}, hours=(0.0, math.inf)).axes[0].get_xlim() == (0.0, record.end)


def test_names_are_shown_as_they_are(capsys: pytest.CaptureFixture[str], tmp_path: Path, small: Corridor) -> None:
    """Brackets in a name are no markup of the terminal."""
    path, names = tmp_path / "line.json", {stop: f"[/{stop}]" for stop in small.stops}
    ways = [replace(way, stops=tuple(names[stop] for stop in way.stops)) for way in small.directions]
    save_corridor(replace(small, name="[/red]line", stops=tuple(names.values()), up=ways[0], down=ways[1]), path)
    assert main(["simulate", "--corridor", str(path), "--seeds", "1", "--by", "stop"]) == 0
    shown = capsys.readouterr().out
    assert "[/red]line" in shown
    assert "[/B]" in shown


def test_an_endless_interval_is_null_in_json(capsys: pytest.CaptureFixture[str], line: str) -> None:
    arguments = ["compare", "--corridor", line, "--seeds", "2", "--controllers", "none", "headway", "--json"]
    content = output(capsys, *arguments, "--level", "0.9999999999999999")
    assert content["differences"]["headway"]["reward"]["half_width"] is None


@pytest.mark.parametrize(
    "command",
    [
        "figure --kind headways --out OUT.png",
        "animate --out OUT.html",
        "simulate --csv OUT.csv",
        "simulate --avl OUT.csv",
        "tune --out OUT.json",
        "avl days.csv --out OUT.json",
        "gtfs --feed feed.zip --route 7 --date 2026-01-05 --out OUT.json",
    ],
)
def test_a_folder_that_is_not_there_is_said_before_any_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("pyresac.envs.bus.simulator.Simulator.__init__", lambda *_: pytest.fail("a day was played"))
    (tmp_path / "days.csv").write_text("no observations")
    monkeypatch.chdir(tmp_path)
    for out in ("nowhere", "days.csv"):
        assert main(command.replace("OUT", f"{out}/picture").split()) == 2
        assert "there is no folder" in capsys.readouterr().err.replace("\n", " ")
    assert [path.name for path in tmp_path.iterdir()] == ["days.csv"]


def test_a_disk_that_refuses(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "picture.png"
    arguments = ["figure", "--kind", "headways", "--out", str(out), "--corridor", line, "--seeds", "1"]

    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(out))

    with monkeypatch.context() as refusing:
        refusing.setattr("pyresac.atomic.os.replace", full)
        assert main(arguments) == 1
    assert "stopped:" in capsys.readouterr().err
    assert list(tmp_path.glob("*.png*")) == []
    # a folder in the picture's place is said before any day
    out.mkdir()
    assert main(arguments) == 2


def test_trajectories_are_the_visits(small: Corridor) -> None:
    record = simulate(small, HeadwayEqualising(), 0)
    axes = time_space({"here": record}, 0, (0.0, 1.0)).axes[0]
    (lines,) = [artist for artist in axes.collections if isinstance(artist, LineCollection)]
    segments = lines.get_segments()
    assert len(segments) == 8 * 4
    assert segments[0][:, 1].tolist() == [0.0, 0.0, 0.4]
    assert segments[1][0, 0] == record.visits[0, 1, 0]
    assert lines.get_array().max() <= small.vehicle.capacity


def test_figures_need_something_to_draw() -> None:
    for draw in (lambda: time_space({}), lambda: headways_by_stop({}), lambda: wait_against_travel({})):
        with pytest.raises(InputError):
            draw()


def test_wait_against_travel_has_a_point_a_controller(small: Corridor) -> None:
    tables = {
        type(rule).__name__: metrics_table(simulate_days(small, rule, range(3)))
        for rule in (NoHolding(), HeadwayEqualising())
    }
    axes = wait_against_travel(tables).axes[0]
    assert axes.get_legend_handles_labels()[1] == ["NoHolding", "HeadwayEqualising"]


def test_visits_as_csv_and_pandas(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str, small: Corridor
) -> None:
    path = tmp_path / "visits.csv"
    assert main(["simulate", "--corridor", line, "--seeds", "2", "--controller", "headway", "--csv", str(path)]) == 0
    rows = list(csv.DictReader(path.open()))
    assert len(rows) == 2 * 16 * 5
    record = simulate(small, HeadwayEqualising(), 1)
    mine = [row for row in rows if row["seed"] == "1"]
    assert mine[7]["stop"] == small.up.stops[2] or mine[7]["direction"] == "down"
    assert [float(row["arrival"]) for row in mine] == record.visits[..., 0].ravel().tolist()
    frame = record.to_pandas()
    assert frame.shape[0] == len(mine)
    assert frame["load"].max() == day_metrics(record).largest_load
    assert frame.loc[frame.place == 0, "alighted"].sum() == 0


def test_an_animation_is_one_page(tmp_path: Path, line: str, small: Corridor) -> None:
    out = tmp_path / "day.html"
    assert main(["animate", "--corridor", line, "--controller", "headway", "--out", str(out)]) == 0
    page = out.read_text()
    assert "__" not in page.replace("__proto__", "")
    assert "src=" not in page
    assert "http" not in page
    day = day_plain(simulate(small, HeadwayEqualising(), 0))
    assert json.dumps(day, separators=(",", ":")) in page
    for (way, first, stops), visits in zip(day["trips"], simulate(small, HeadwayEqualising(), 0).visits, strict=True):
        assert way in (0, 1)
        assert first == 0
        assert [row[0] for row in stops] == pytest.approx(visits[:, 0].tolist(), abs=0.051)
        assert all(arrive <= hold <= leave for arrive, leave, hold, _ in stops)
    assert main(["animate", "--corridor", line, "--out", str(tmp_path / "day.txt")]) == 2


def test_a_whole_day_s_page_is_small() -> None:
    """262 trips of 22 stops."""
    page = animation_page(simulate(default_corridor(), HeadwayEqualising(), 0), "a day")
    assert len(page.encode()) < 500_000


def test_a_name_cannot_leave_the_page_s_script(small: Corridor) -> None:
    names = {stop: f"</script><b>{stop}" for stop in small.stops}
    ways = [replace(way, stops=tuple(names[stop] for stop in way.stops)) for way in small.directions]
    line = replace(small, stops=tuple(names.values()), up=ways[0], down=ways[1])
    page = animation_page(simulate(line, NoHolding(), 0), "<i>a title</i>")
    assert page.count("</script>") == 1
    assert "<i>" not in page


def test_what_is_no_number_is_written_into_no_json(small: Corridor, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has no NaN: a page with one would draw nothing, and another program would not read it."""
    record = simulate(small, NoHolding(), 0)
    assert "NaN" not in animation_page(record, "a day")
    for end in (math.nan, math.inf):
        with pytest.raises(ValueError, match="not JSON compliant"):
            animation_page(replace(record, end=end), "a day")
        with pytest.raises(ValueError, match="not JSON compliant"):
            print_json({"end": end})
    assert capsys.readouterr().out == ""


def test_the_pareto_figure_rings_what_nothing_beats() -> None:
    def days(hours: float, time: float, uneven: float) -> dict[str, Any]:
        keys = ("vehicle_hours", "weighted_journey", "headway_variation")
        return dict(zip(keys, (np.array([value, value]) for value in (hours, time, uneven)), strict=True))

    axes = pareto({"good": days(1, 1, 1), "even": days(2, 2, 0.5), "bad": days(2, 2, 2)}).axes[0]
    dots, rings = axes.collections[-2:]
    assert len(dots.get_offsets()) == 3
    assert rings.get_offsets().tolist() == [[1.0, 1.0], [2.0, 2.0]]


@pytest.mark.slow
def test_the_page_plays_in_a_browser(tmp_path: Path) -> None:
    """Headless Chromium, where there is one: it draws buses at once, and the clock goes on when it plays."""
    path = tmp_path / "day.html"
    path.write_text(animation_page(simulate(default_corridor(), HeadwayEqualising(), 0), "a day"))
    minutes = []
    for address in (path.as_uri(), f"{path.as_uri()}#play"):
        page, _ = shown(address, tmp_path / "profile")
        buses = re.search(r"(\d+) buses on the line, \d+ held, (\d+) passengers on board", page)
        clock = re.search(r'<output id="clock">(\d\d):(\d\d)<', page)
        assert buses is not None
        assert clock is not None
        assert 5 < int(buses[1]) < 40
        assert int(buses[2]) > 50
        minutes.append(60 * int(clock[1]) + int(clock[2]))
    assert minutes[0] == 8 * 60
    assert minutes[0] < minutes[1]
