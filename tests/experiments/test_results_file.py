"""The file of results: measures of several machines add up, and tables follow from them alone."""

from __future__ import annotations

import json
import math
import re
import shutil
import threading
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from pyresac.errors import InputError
from pyresac.experiments import noise, pool, results_file, returns
from pyresac.experiments.__main__ import main
from pyresac.experiments.experiment import SCALES
from pyresac.experiments.results_file import path_of, redraw, require_readable, write_results
from pyresac.training.versions import of_libraries

COMMITTED = Path(__file__).parents[2] / "results" / "experiments"
NAMES = [run.name for run in noise.runs("cpu")]


def rows(results: Path) -> dict[str, list[str]]:
    (table,) = json.loads((results / "noise" / "cpu.json").read_text())["tables"]
    return dict(table["rows"])


def test_what_another_machine_measured_stays(tmp_path: Path) -> None:
    # the first machine makes the last rows of the plan
    first = {name: 100.0 + place for place, name in enumerate(NAMES) if "lambda-0.001-" in name}
    second = {name: 10.0 for name in NAMES if name not in first}
    assert NAMES[0] in second
    write_results(tmp_path, "noise", "cpu", first)
    before = rows(tmp_path)
    assert before["λ_ale = 0"] == ["", ""]
    write_results(tmp_path, "noise", "cpu", second)
    after = rows(tmp_path)
    assert after["λ_ale = 0.001"] == before["λ_ale = 0.001"]
    assert after["λ_ale = 0"] == ["10 [10, 10]"] * 2
    content = json.loads((tmp_path / "noise" / "cpu.json").read_text())
    assert content["finished"] == content["planned"] == len(NAMES)
    assert list(content["measures"]) == NAMES, "in the order of the plan, whoever came first"
    assert content["versions"] == [of_libraries()], "named once"
    # what is measured again takes the place of what was there
    write_results(tmp_path, "noise", "cpu", dict.fromkeys(first, 5.0))
    assert rows(tmp_path)["λ_ale = 0.001"] == ["5 [5, 5]"] * 2


def add(results: str, half: int) -> None:
    """In a process of its own."""
    write_results(Path(results), "noise", "cpu", {name: float(half) for name in NAMES[half::2]})


def test_two_processes_add_to_one_file(tmp_path: Path) -> None:
    """Each concludes from what the other wrote, or waits for it."""
    context = get_context("spawn")
    processes = [context.Process(target=add, args=(str(tmp_path), half)) for half in (0, 1)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    assert json.loads((tmp_path / "noise" / "cpu.json").read_text())["finished"] == len(NAMES)


def test_a_file_is_written_by_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads before the other has written would lose what that one adds."""
    concluding, go_on = threading.Event(), threading.Event()
    plain = noise.conclude

    def slow(*given: Any) -> Any:
        concluding.set()
        assert go_on.wait(60)
        return plain(*given)

    monkeypatch.setattr(noise, "conclude", slow)
    threads = [threading.Thread(target=add, args=(str(tmp_path), half)) for half in (0, 1)]
    threads[0].start()
    assert concluding.wait(60)
    threads[1].start()
    threads[1].join(1.0)
    assert threads[1].is_alive(), "it waits"
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert json.loads((tmp_path / "noise" / "cpu.json").read_text())["finished"] == len(NAMES)


def spoiled(path: Path, change: Any) -> bytes:
    """Write a file of results with `change` done to its measures."""
    write_results(path.parents[1], "noise", "cpu", {NAMES[0]: 1.0})
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path.read_bytes()


OF_ANOTHER_PLAN = "has measures of runs that are not of this plan or had other options: "


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content["measures"][NAMES[0]].update(options="--steps 7"), OF_ANOTHER_PLAN + NAMES[0]),
        (lambda content: content["measures"].update(other=content["measures"][NAMES[0]]), OF_ANOTHER_PLAN + "other"),
        (lambda content: content["measures"].update({NAMES[0]: 3.0}), "cannot be read as results"),
        (lambda content: content.update(measures=[1]), "cannot be read as results"),
        (lambda content: content.update(versions={"numpy": "1"}), "cannot be read as results"),
        (lambda content: content["measures"][NAMES[0]].pop("measured"), "cannot be read as results"),
        (lambda content: content["measures"][NAMES[0]].update(measured=None), "no tables follow from its measures"),
        (lambda content: content["measures"][NAMES[0]].update(measured="much"), "no tables follow from its measures"),
        (lambda content: content["measures"][NAMES[0]].update(measured=math.nan), f"the measure of {NAMES[0]} has nan"),
        (lambda content: content["measures"][NAMES[0]].update(measured={"x": [math.inf]}), "has inf; a measure is a"),
        (lambda content: content.update(format=2), "is of format 2, and this version of the package reads 1"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_before_any_run(
    change: Any, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "run_locally", lambda *_: pytest.fail("a run began"))
    path = path_of(tmp_path / "results", "noise", "cpu")
    content = spoiled(path, change)
    with pytest.raises(InputError, match=re.escape(words)):
        require_readable(tmp_path / "results", "noise", "cpu")
    given = ["--runs", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    for command in (["run", "noise", *given], ["redraw", *given[2:]]):
        assert main(command) == 2
        assert words in " ".join(capsys.readouterr().err.split())
        assert path.read_bytes() == content
    assert not list((tmp_path / "runs").glob("*/*/config.json"))


def test_a_measure_that_is_no_number_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    write_results(tmp_path, "noise", "cpu", {NAMES[0]: 1.0})
    before = (tmp_path / "noise" / "cpu.json").read_bytes()
    with pytest.raises(InputError, match=f"the measure of {NAMES[1]} has nan"):
        write_results(tmp_path, "noise", "cpu", {NAMES[1]: math.nan})
    assert (tmp_path / "noise" / "cpu.json").read_bytes() == before


def test_a_file_without_measures_is_set_aside_and_never_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier versions kept none. Where nothing was measured it stays where it is."""
    results = tmp_path / "results"
    path = path_of(results, "noise", "cpu")
    content = spoiled(path, lambda content: content.pop("measures"))
    assert redraw(results) == ([], [path])
    assert main(["redraw", "--results", str(results)]) == 0
    assert "it keeps no measures, run it again" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(InputError, match="keeps no measures, so nothing can be added to it"):
        write_results(results, "noise", "cpu", {NAMES[0]: 2.0})
    assert path.read_bytes() == content
    monkeypatch.setattr(pool, "run_locally", lambda folder, runs, *_: pool.PoolProgress([]))
    for number, measures in enumerate(({NAMES[0]: 2.0}, {NAMES[0]: 3.0}), start=1):
        path.write_bytes(content)
        monkeypatch.setattr(noise, "measures", lambda *_, measures=measures: measures)
        assert main(["run", "noise", "--runs", str(tmp_path / "runs"), "--results", str(results)]) == 0
        assert f"it is now {path.parent}/cpu.earlier-{number}.json" in "".join(capsys.readouterr().out.split("\n"))
        assert (path.parent / f"cpu.earlier-{number}.json").read_bytes() == content
        assert rows(results)["λ_ale = 0"] == [str(int(measures[NAMES[0]])), ""]


def test_the_thousandth_earlier_file_has_no_name_left(tmp_path: Path) -> None:
    path = tmp_path / "cpu.json"
    for number in range(1, 999):
        (tmp_path / f"cpu.earlier-{number}.json").touch()
    path.write_text("first")
    assert results_file.set_aside(path) == tmp_path / "cpu.earlier-999.json"
    path.write_text("second")
    with pytest.raises(InputError, match="has a thousand earlier files; move them away"):
        results_file.set_aside(path)
    assert path.read_text() == "second"
    assert (tmp_path / "cpu.earlier-999.json").read_text() == "first"


def test_a_figure_that_cannot_be_written_leaves_the_former_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Figure, path: Path, **_: Any) -> None:
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    runs = [run.name for run in returns.runs("smoke")]
    measure = {"curve": {"step": [4000.0, 8000.0], "eval_return": [1.0, 2.0]}, "long": 3.0}
    write_results(tmp_path, "returns", "smoke", {runs[0]: measure})
    (figure,) = (tmp_path / "returns" / "figures").iterdir()
    before = figure.read_bytes()
    monkeypatch.setattr(Figure, "savefig", full)
    with pytest.raises(OSError, match="No space left") as error:
        write_results(tmp_path, "returns", "smoke", {runs[1]: measure})
    assert error.value.filename == str(figure)
    assert figure.read_bytes() == before
    assert list((tmp_path / "returns" / "figures").iterdir()) == [figure]
    assert json.loads((tmp_path / "returns" / "smoke.json").read_text())["finished"] == 1


@pytest.mark.slow
def test_the_committed_tables_follow_from_the_committed_measures(tmp_path: Path) -> None:
    if not COMMITTED.is_dir():
        pytest.skip("no results beside the tests")
    shutil.copytree(COMMITTED, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.png"))
    found, _ = redraw(tmp_path)
    assert {path.parent.name for path in found} >= {"returns", "oracle", "noise", "nonstationary", "poisoning"}
    for path in found:
        assert path.read_bytes() == (COMMITTED / path.relative_to(tmp_path)).read_bytes(), path.parent.name
        for figure in json.loads(path.read_text())["figures"]:
            assert (path.parent / "figures" / figure).is_file()
            assert (COMMITTED / path.parent.name / "figures" / figure).is_file()
    assert {path.stem for path in found} <= set(SCALES)


def test_redraw_without_results_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redraw", "--results", str(tmp_path / "none")]) == 2
    assert "none has no results; make some: python -m pyresac.experiments run NAME" in " ".join(
        capsys.readouterr().err.split()
    )


def test_a_file_names_the_versions_of_every_machine_that_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def versions() -> Any:
        return json.loads((tmp_path / "noise" / "cpu.json").read_text())["versions"]

    for version in ("1", "2", "1"):
        monkeypatch.setattr(results_file, "of_libraries", lambda version=version: {"mujoco": version})
        write_results(tmp_path, "noise", "cpu", {NAMES[0]: 1.0})
    assert versions() == [{"mujoco": "1"}, {"mujoco": "2"}]
    monkeypatch.setattr(results_file, "of_libraries", lambda: {"mujoco": "3"})
    redraw(tmp_path)  # measures nothing
    assert versions() == [{"mujoco": "1"}, {"mujoco": "2"}]
