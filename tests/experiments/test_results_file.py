"""The file of results: measures of several machines add up, and tables follow from them alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pyresac.errors import InputError
from pyresac.experiments import noise, results_file
from pyresac.experiments.__main__ import main
from pyresac.experiments.experiment import SCALES, experiment
from pyresac.experiments.results_file import measured_before, path_of, redraw, write_results
from pyresac.training.versions import of_libraries

COMMITTED = Path(__file__).parents[2] / "results" / "experiments"
NAMES = [run.name for run in noise.runs("cpu")]


def rows(results: Path) -> dict[str, list[str]]:
    (table,) = json.loads((results / "noise" / "cpu.json").read_text())["tables"]
    return dict(table["rows"])


def test_what_another_machine_measured_stays(tmp_path: Path) -> None:
    first = {name: 100.0 + place for place, name in enumerate(NAMES) if "lambda-0-" in name}
    second = {name: 10.0 for name in NAMES if name not in first}
    write_results(tmp_path, "noise", "cpu", first)
    before = rows(tmp_path)
    assert before["λ_ale = 0.001"] == ["", ""]
    write_results(tmp_path, "noise", "cpu", second)
    after = rows(tmp_path)
    assert after["λ_ale = 0"] == before["λ_ale = 0"]
    assert after["λ_ale = 0.001"] == ["10 [10, 10]"] * 2
    content = json.loads((tmp_path / "noise" / "cpu.json").read_text())
    assert content["finished"] == content["planned"] == len(NAMES)
    assert list(content["measures"]) == NAMES, "in the order of the plan, whoever came first"
    assert content["versions"] == [of_libraries()], "named once"
    # what is measured again takes the place of what was there
    write_results(tmp_path, "noise", "cpu", dict.fromkeys(first, 5.0))
    assert rows(tmp_path)["λ_ale = 0"] == ["5 [5, 5]"] * 2


def spoiled(path: Path, change: Any) -> bytes:
    """Write a file of results with `change` done to its measures."""
    write_results(path.parents[1], "noise", "cpu", {NAMES[0]: 1.0})
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path.read_bytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content["measures"][NAMES[0]].update(options="--steps 7"), "measures of another plan, of "),
        (lambda content: content["measures"].update(other=content["measures"][NAMES[0]]), "of another plan, of other"),
        (lambda content: content["measures"].update({NAMES[0]: 3.0}), "cannot be read as results"),
        (lambda content: content.update(measures=[1]), "cannot be read as results"),
        (lambda content: content["measures"][NAMES[0]].pop("measured"), "cannot be read as results"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_before_any_run(
    change: Any, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = path_of(tmp_path / "results", "noise", "cpu")
    content = spoiled(path, change)
    with pytest.raises(InputError, match=words):
        measured_before(path, experiment("noise"), "cpu")
    given = ["--runs", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    assert main(["run", "noise", *given]) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert path.read_bytes() == content
    assert not list((tmp_path / "runs").glob("*/*/config.json"))


def test_a_file_without_measures_gives_way(tmp_path: Path) -> None:
    """Earlier versions kept none."""
    spoiled(path_of(tmp_path, "noise", "cpu"), lambda content: content.pop("measures"))
    assert redraw(tmp_path) == []
    write_results(tmp_path, "noise", "cpu", {NAMES[0]: 2.0})
    assert rows(tmp_path)["λ_ale = 0"] == ["2", ""]


@pytest.mark.slow
def test_the_committed_tables_follow_from_the_committed_measures(tmp_path: Path) -> None:
    shutil.copytree(COMMITTED, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.png"))
    found = redraw(tmp_path)
    assert found
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
