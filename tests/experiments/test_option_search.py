"""The search of a preset's options: it finds, goes on after a kill, names failures, and refuses before it trains."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from pathlib import Path

import pytest

from pyresac.errors import InputError
from pyresac.experiments import option_search, pool
from pyresac.experiments.__main__ import main
from pyresac.experiments.experiment import Run
from pyresac.experiments.option_search import parsed

optuna = pytest.importorskip("optuna", reason="tune needs optuna: pip install 'pyresac[optuna]'")

WORKER = """
import json, sys
from pathlib import Path
path, rate, size = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
if size == 3:
    sys.exit(1)
path.mkdir(exist_ok=True)
with open(path.parent / "count", "a") as file:
    file.write("x")
score = -abs(rate - 2e-3)
(path / "metrics.csv").write_text("step,eval_return\\n" + "".join(f"{i},{score}\\n" for i in range(1, 9)))
(path / "result.json").write_text("{}")
"""
"""Stands for a run that earns more the nearer its rate is to 0.002, and fails with three heads."""


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def command(folder: Path, run: Run) -> list[str]:
        given = [str(run.options["critic_lr"]), str(run.options.get("ensemble_size", 2))]
        return [sys.executable, "-c", WORKER, str(folder / run.name), *given]

    monkeypatch.setattr(pool, "command", command)


def searched(folder: Path, trials: int, *search: str) -> int:
    flags = ["--env", "Pendulum-v1", "--trials", str(trials), "--steps", "6000", "--folder", str(folder)]
    return main(["tune", "penalties", *flags, "--search", *search])


@pytest.mark.usefixtures("stand_in")
def test_the_best_is_printed_and_an_earlier_search_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert searched(tmp_path, 3, "critic_lr=1e-4:3e-3:log") == 0
    assert searched(tmp_path, 8, "critic_lr=1e-4:3e-3:log") == 0
    assert len((tmp_path / "count").read_text()) == 8
    best = json.loads((tmp_path / "best.json").read_text())
    scores = [one["score"] for one in best["trials"]]
    assert len(scores) == 8
    assert best["best"]["score"] == max(scores)
    rate = best["best"]["options"]["critic_lr"]
    assert best["best"]["score"] == pytest.approx(-abs(rate - 2e-3))
    assert 1e-4 <= rate <= 3e-3
    said = " ".join(capsys.readouterr().out.split())
    assert f"python -m pyresac.train --env Pendulum-v1 --preset penalties --critic-lr {rate}" in said


@pytest.mark.usefixtures("stand_in")
def test_a_killed_search_trains_its_last_proposal_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = option_search.run_locally

    def killed(folder: Path, runs: list[Run], *rest: object) -> pool.PoolProgress:
        asked.append(runs[0].name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return real(folder, runs, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(option_search, "run_locally", killed)
    assert searched(tmp_path, 4, "critic_lr=1e-4:3e-3:log") == 130
    assert searched(tmp_path, 4, "critic_lr=1e-4:3e-3:log") == 0
    assert asked[2] == asked[1]
    assert len(set(asked)) == len(asked) - 1 == 4


@pytest.mark.usefixtures("stand_in")
def test_a_failing_run_stops_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert searched(tmp_path, 6, "critic_lr=1e-4:3e-3:log", "ensemble_size=2:3") == 0
    best = json.loads((tmp_path / "best.json").read_text())
    for one in best["trials"]:
        assert (one["score"] is None) == (one["options"]["ensemble_size"] == 3)
    assert any(one["score"] is None for one in best["trials"])
    assert "failed, see" in " ".join(capsys.readouterr().out.split())


def test_a_search_of_which_every_run_fails_says_where_to_look(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "command", lambda *_: [sys.executable, "-c", "raise SystemExit(1)"])
    assert searched(tmp_path, 2, "critic_lr=1e-4:3e-3") == 2
    assert f"all 2 runs failed; their logs are in {tmp_path}" in "".join(capsys.readouterr().err.split("\n"))
    assert not (tmp_path / "best.json").exists()


@pytest.mark.parametrize(
    "text",
    ["", "critic_lr", "critic_lr=1", "critic_lr=2:1", "critic_lr=a:b", "critic_lr=1:2:sqrt", "x-y=1:2", "a=nan:1"],
)
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="cannot be read; it must be NAME=LOW:HIGH"):
        parsed(text)


@pytest.mark.parametrize(
    ("search", "words"),
    [
        (["critic_lr=0:1:log"], "a logarithmic range begins above 0"),
        (["colour=0:1"], "colour"),
        (["discount=0.5:1.5"], "discount"),
        (["ensemble_size=1.5:3"], "ensemble"),
        (["seed=0:5"], "__search seed: every run of a search has the same seed"),
        (["buffer_size=500:5000"], "every run of a search has the same buffer_size"),
        (["critic_lr=1e-4:1e-3", "critic_lr=1e-3:1e-2"], "__search gives critic_lr more than one range"),
        (["learning_starts=10:9000"], "__steps 6000: 6,000 steps end before the first update, at step 9,001"),
    ],
)
def test_ranges_that_training_refuses_make_nothing(
    search: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = searched(tmp_path / "new", 2, *search)
    except SystemExit as error:
        code = int(str(error.code))
    assert code == 2
    assert words in " ".join(capsys.readouterr().err.replace("-", "_").split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("search", ["discount=-0.5:0.5", "beta_lcb=-1:0.5"])
def test_both_ends_of_a_range_must_be_allowed(search: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.suppress(SystemExit):
        assert searched(tmp_path / "new", 2, search) == 2
    assert search.partition("=")[0] in capsys.readouterr().err.replace("-", "_")
    assert list(tmp_path.iterdir()) == []


def test_a_search_needs_a_range_a_run_and_twenty_steps(tmp_path: Path) -> None:
    for search, trials, steps, words in (
        ((), 1, 20, "--search gives 0; tune needs at least 1"),
        (("critic_lr=1e-4:1e-3",), 0, 20, "--trials gives 0; tune needs at least 1"),
        (("critic_lr=1e-4:1e-3",), 1, 19, "--steps gives 19; tune needs at least 20"),
        # the limits themselves pass; the buffer of so few steps does not
        (("critic_lr=1e-4:1e-3",), 1, 20, "buffer_size = 20; it must be at least batch_size = 256"),
    ):
        with pytest.raises(InputError, match=words):
            option_search.tune("penalties", "Pendulum-v1", search, trials, steps, 0, tmp_path / "new", print)
    assert list(tmp_path.iterdir()) == []


def test_an_option_that_would_change_nothing_is_not_searched(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="batch_size"):
        option_search.tune("penalties", "Pendulum-v1", ("batch_size=64:9000",), 1, 6000, 0, tmp_path / "new", print)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("stand_in")
def test_a_seed_makes_one_search_and_nothing_else_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Its folder and those above it are made. Each run is told, in order."""
    for name in ("a", "b"):
        assert searched(tmp_path / name / "folder", 3, "critic_lr=1e-4:3e-3", "ensemble_size=4:6") == 0
    first, second = (json.loads((tmp_path / name / "folder" / "best.json").read_text()) for name in "ab")
    assert first == second
    assert {key: first[key] for key in ("preset", "env", "steps", "seed")} == {
        "preset": "penalties",
        "env": "Pendulum-v1",
        "steps": 6000,
        "seed": 0,
    }
    assert {one["options"]["ensemble_size"] for one in first["trials"]} <= {4, 5, 6}
    out, error = capfd.readouterr()
    assert error == ""
    assert re.findall(r"^(\d of \d|best)", out, flags=re.MULTILINE) == ["1 of 3", "2 of 3", "3 of 3", "best"] * 2


def test_the_best_score_may_be_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([-2.0, 0.0, 0.5, 0.25, -1.0])
    monkeypatch.setattr(option_search, "run_locally", lambda *_: pool.PoolProgress([]))
    monkeypatch.setattr(option_search, "curve_of", lambda *_: {"eval_return": [next(scores)]})
    for trials, best in ((2, 0.0), (3, 0.5), (5, 0.5)):
        found = option_search.tune(
            "penalties", "Pendulum-v1", ("critic_lr=1e-4:3e-3",), trials, 6000, 0, tmp_path, lambda line: None
        )
        assert found["best"]["score"] == best


def test_a_proposal_is_one_run_in_whatever_order_its_options_come() -> None:
    one, other = (
        option_search.trial_run(dict(pairs), "T", 0, 6000)
        for pairs in ([("tau", 0.1), ("batch_size", 8)], [("batch_size", 8), ("tau", 0.1)])
    )
    assert one.name == other.name
    assert re.fullmatch(r"trial-[0-9a-f]{12}-T-seed0", one.name)
    assert one.name != option_search.trial_run({"tau": 0.2, "batch_size": 8}, "T", 0, 6000).name
    every = {steps: option_search.trial_run({}, "T", 0, steps).options["eval_every"] for steps in (5, 20, 39, 40, 6000)}
    assert every == {5: 1, 20: 1, 39: 1, 40: 2, 6000: 300}


@pytest.mark.parametrize("text", ["a=-1e9:1e9", "a=-1e9:0", "a=0:1e9"])
def test_the_widest_range_is_allowed(text: str) -> None:
    assert parsed(text)[0] == "a"


@pytest.mark.parametrize("text", ["a=-1000000001:0", "a=0:1000000001", "a=1:1", "a=0:0"])
def test_a_wider_range_or_a_single_number_is_none(text: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        parsed(text)


def test_ranges_read_as_documented() -> None:
    assert parsed("critic_lr=1e-4:3e-3:log") == ("critic_lr", (1e-4, 3e-3), True, False)
    assert parsed("ensemble_size=2:10") == ("ensemble_size", (2.0, 10.0), False, True)
    assert parsed("lambda_ale=-1:1.5") == ("lambda_ale", (-1.0, 1.5), False, False)
