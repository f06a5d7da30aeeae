"""`python -m pyresac.experiments`: what each subcommand says, asks for and writes; no run is made here."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import sys
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyresac.errors import InputError
from pyresac.experiments import __main__ as command
from pyresac.experiments import cost, html_report, noise, option_search, pool, ray_pool, results_file
from pyresac.experiments.__main__ import main
from pyresac.experiments.experiment import EXPERIMENTS, Run
from pyresac.experiments.pool import PoolProgress
from pyresac.experiments.results_file import Before

NAMES = [run.name for run in noise.runs("smoke")]
LONG = "a-folder-with-a-name-that-is-longer-than-a-line-of-this-output/" * 4


def test_the_list_has_every_experiment_with_what_it_makes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    said = "".join(character for character in capsys.readouterr().out if character not in " \n│┃")
    for name, entry in EXPERIMENTS.items():
        assert name in said
        assert entry.about.split(",")[0].replace(" ", "")[:20] in said
        assert entry.source.replace(" ", "")[:8] in said


def test_a_plan_is_its_commands_and_what_they_cost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for a run, however long."""
    asked: list[Any] = []
    monkeypatch.setattr(cost, "cost_of", lambda runs: asked.append(runs) or cost.Cost(12.34, 3 * 2**29))
    assert main(["plan", "noise", "--scale", "smoke", "--only", "*noise-0-*"]) == 0
    *lines, total = capsys.readouterr().out.splitlines()
    runs = [run for run in noise.runs("smoke") if "noise-0-" in run.name]
    assert asked == [runs]
    assert len(runs) == 2
    assert [line.split(": python -m pyresac.train ")[0] for line in lines] == [run.name for run in runs]
    for line, run in zip(lines, runs, strict=True):
        assert line.endswith(" ".join(run.flags))
        assert len(line) > 160
    assert total == "2 runs, about 12.3 core-hours by rates measured now, up to 1.5 GiB of disk."
    assert main(["plan", "poisoning"]) == 0
    assert capsys.readouterr().out == "poisoning trains nothing; it computes all itself.\n"
    assert len(asked) == 1


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a run of `noise` asks for; every run succeeds at once, and has a return of 1."""
    asked: list[Any] = []

    def locally(folder: Path, runs: list[Run], workers: int, shown: Callable[[PoolProgress], None]) -> PoolProgress:
        asked.append((folder, [run.name for run in runs], workers))
        progress = PoolProgress(list(runs))
        for _ in range(2):
            shown(progress)  # as often as a poll
        progress.running["x"] = 1
        shown(progress)
        progress.finished += [run.name for run in runs]
        progress.failed += [name for name in progress.finished if name.endswith("noise-1-HalfCheetah-v5-seed8")]
        shown(progress)
        return progress

    monkeypatch.setattr(pool, "run_locally", locally)
    monkeypatch.setattr(command, "_require_tasks", lambda runs: asked.append(("tasks", len(runs))))
    monkeypatch.setattr(noise, "last_quarters", lambda folder, runs: {run.name: 1.0 for run in runs})
    return asked


def test_a_run_says_how_far_it_is_once_and_ends_with_what_was_found(
    seen: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines are not broken; a failed run is named with its log, and the code is 1."""
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    runs, results = tmp_path / LONG, tmp_path / "results"
    given = ["run", "noise", "--scale", "smoke", "--runs", str(runs), "--results", str(results)]
    assert main(given) == 1
    folder = runs / "noise-smoke"
    assert seen == [("tasks", 4), (folder, NAMES, 1)]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines[:3]] == ["0 of 4 runs done"] * 2 + ["4 of 4 runs done"]
    assert [line.split(", ")[1:3] for line in lines[:3]] == [
        ["0 running", "0 failed"],
        ["1 running", "0 failed"],
        ["1 running", "2 failed"],
    ]
    assert all(line.endswith(" 0.0 min") for line in lines[:3])
    assert lines[3] == f"wrote {results / 'noise' / 'smoke.json'}"
    content = json.loads((results / "noise" / "smoke.json").read_text())
    assert lines[4].startswith("not tried at this scale: κ harms")
    assert [one["found"] in " ".join(lines) for one in content["findings"]] == [True, True]
    assert lines[-2:] == [f"failed: {name}, see {folder / f'{name}.log'}" for name in NAMES if "noise-1" in name]
    # the plan is noted for the next call, a run a line
    text = (folder / "plan.json").read_text()
    assert json.loads(text) == {run.name: run.flags for run in noise.runs("smoke")}
    assert text.startswith(f'{{\n "{NAMES[0]}": [\n  "--preset",')
    assert text.endswith("]\n}\n")


@pytest.mark.parametrize(("options", "cores", "workers"), [([], 7, 7), (["--workers", "1"], 7, 1), ([], 0, 1)])
def test_as_many_runs_go_side_by_side_as_there_are_cores_or_as_was_asked_for(
    options: list[str], cores: int, workers: int, seen: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    folders = ["--runs", str(tmp_path / "a"), "--results", str(tmp_path / "b")]
    assert main(["run", "noise", "--scale", "smoke", "--only", "*noise-0-*", *folders, *options]) == 0
    assert seen[-1][2] == workers


def test_a_cluster_gets_the_runs_that_it_is_given(
    seen: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def on_ray(address: str, folder: Path, runs: list[Run], workers: int, shown: Any) -> PoolProgress:
        asked.append((address, len(runs), workers))
        return PoolProgress([])

    monkeypatch.setattr(ray_pool, "require_ray", lambda address: asked.append(address))
    monkeypatch.setattr(ray_pool, "run_on_ray", on_ray)
    folders = ["--runs", str(tmp_path / "a"), "--results", str(tmp_path / "b")]
    assert main(["run", "noise", "--scale", "smoke", "--ray", "auto", "--workers", "3", *folders]) == 0
    assert asked == ["auto", ("auto", 4, 3)]
    assert seen == [("tasks", 4)]


def test_a_bare_file_stays_where_nothing_was_measured(
    seen: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(noise, "last_quarters", lambda folder, runs: {})
    path = tmp_path / "b" / "noise" / "smoke.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"tables": [1], "findings": []}))
    folders = ["--runs", str(tmp_path / "a"), "--results", str(tmp_path / "b")]
    assert main(["run", "noise", "--scale", "smoke", *folders]) == 2
    assert "keeps no measures, so nothing can be added to it" in " ".join(capsys.readouterr().err.split())
    assert [one.name for one in path.parent.iterdir() if one.is_file()] == ["smoke.json"]


@pytest.mark.parametrize(("free", "refused"), [(2**30 - 1, True), (2**30, False)])
def test_a_new_plan_needs_a_gibibyte_of_free_disk(
    free: int, refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is noted already goes on, and one without runs needs none."""
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(free))
    runs = noise.runs("smoke")
    if refused:
        with pytest.raises(InputError, match="has less than 1 GiB of free disk"):
            command._require_plan(tmp_path, runs)
        assert list(tmp_path.iterdir()) == []
        command._require_plan(tmp_path, [])
    else:
        command._require_plan(tmp_path, runs)
        monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(0))
        command._require_plan(tmp_path, runs)


def test_a_page_and_redrawn_tables_are_named_in_a_line_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(html_report, "write_report", lambda *given: asked.append(given))
    page = tmp_path / LONG / "page.html"
    assert main(["report", "--results", str(tmp_path), "--output", str(page)]) == 0
    assert asked == [(tmp_path, page)]
    assert capsys.readouterr().out == f"wrote {page}\n"
    for written, left in (([page], []), ([], [page]), ([page, tmp_path], [page])):
        monkeypatch.setattr(results_file, "redraw", lambda results, both=(written, left): both)
        assert main(["redraw", "--results", str(tmp_path)]) == 0
        lines = [f"wrote {path}" for path in written]
        lines += [f"left {path}: it keeps no measures, run it again" for path in left]
        assert capsys.readouterr().out.splitlines() == lines


def test_the_best_options_are_kept_and_printed_as_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    best = {"options": {"critic_lr": 0.001, "ensemble_size": 3}, "score": -1234.5}

    def tune(shown: Callable[[str], None], **given: Any) -> dict[str, Any]:
        assert given == {
            "preset": "penalties",
            "env": "Pendulum-v1",
            "search": ("a=1:2",),
            "trials": 20,
            "steps": 50_000,
            "seed": 0,
            "folder": tmp_path,
        }
        shown("[bold] " + "words " * 40)
        return {"best": best}

    monkeypatch.setattr(option_search, "tune", tune)
    given = ["tune", "penalties", "--env", "Pendulum-v1", "--search", "a=1:2", "--folder", str(tmp_path)]
    assert main(given) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.rstrip() == ("[bold] " + "words " * 40).rstrip()
    flags = "--critic-lr 0.001 --ensemble-size 3"
    assert second == f"best, -1,234: python -m pyresac.train --env Pendulum-v1 --preset penalties {flags}"
    assert len(second) < 160
    text = (tmp_path / "best.json").read_text()
    assert text == json.dumps({"best": best}, indent=1) + "\n"


def test_the_module_is_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["experiments", "plan", "nothing"])
    monkeypatch.delitem(sys.modules, "pyresac.experiments.__main__")
    with pytest.raises(SystemExit) as end:
        runpy.run_module("pyresac.experiments", run_name="__main__", alter_sys=True)
    assert end.value.code == 2


def test_what_is_measured_has_the_threads_of_a_run(
    seen: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a file that keeps its measures is added to, not set aside."""
    import torch

    counts: list[int] = []
    monkeypatch.setattr(
        noise,
        "last_quarters",
        lambda folder, runs: counts.append(torch.get_num_threads()) or {run.name: 2.0 for run in runs},
    )
    folders = ["--runs", str(tmp_path / "a"), "--results", str(tmp_path / "b")]
    for only in ("*noise-0-*", "*0.001-noise-1-*"):
        assert main(["run", "noise", "--scale", "smoke", "--only", only, *folders]) in (0, 1)
    assert counts == [1, 1]
    content = json.loads((tmp_path / "b" / "noise" / "smoke.json").read_text())
    assert content["finished"] == 3
    assert results_file.read_before(tmp_path / "none", "noise", "smoke") == Before({})
