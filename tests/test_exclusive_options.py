"""Options that must not stand together: each pair is refused before any work, each of the two alone is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_feed import DATE, write

from pyresac import corridor, evaluate, solve, train
from pyresac.envs.bus.demand import COLUMNS
from pyresac.formal import certify
from pyresac.tabular import families
from pyresac.training.command_line import planned

Main = Callable[[list[str]], int]
TINY = [
    *("--agent", "tabular", "--env", "FrozenLake-v1", "--steps", "100", "--eval-every", "100"),
    *("--eval-episodes", "1", "--final-episodes", "2", "--checkpoint-every", "100", "--no-tensorboard"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the commands are given: a run, a model, an interval model, a table, a feed, a demand file."""
    folder: Path = tmp_path_factory.mktemp("files")
    assert train.main([*TINY, "--run-dir", str(folder / "RUN")]) == 0
    families.chain(3, 0.5).save(folder / "MODEL.npz")
    np.save(folder / "POLICY.npy", np.full((3, 2), 0.5))
    (folder / "INTERVALS.drn").write_text(
        "@type: MDP\n@value_type: double-interval\n@parameters\n\n@reward_models\n\n@nr_states\n2\n@nr_choices\n2\n"
        "@model\nstate 0 init\n\taction 0\n\t\t0 : [0.2, 0.6]\n\t\t1 : [0.3, 0.9]\n"
        "state 1\n\taction 0\n\t\t1 : [1, 1]\n"
    )
    (folder / "FAST.json").write_text(json.dumps({"preset": "fast"}))
    (folder / "TD3.json").write_text(json.dumps({"algorithm": "td3"}))
    (folder / "DEMAND.csv").write_text(",".join(COLUMNS) + "\nStop 0,Stop 3,22:00,25:00,30\n")
    write(folder / "FEED.zip")
    return {path.stem: str(path) for path in folder.iterdir()} | {"OUT": str(folder / "OUT")}


PAIRS: list[tuple[str, Main, str, str, str, str]] = [
    # of training
    (
        "resume and config",
        train.main,
        "--run-dir RUN",
        "--resume",
        "--config RUN/config.json",
        "--resume was given with --config",
    ),
    (
        "resume and another agent",
        train.main,
        "--run-dir RUN",
        "--resume",
        "--agent deep",
        "was started with agent 'tabular', not 'deep'",
    ),
    ("resume and another seed", train.main, "--run-dir RUN", "--resume", "--seed 1", "a resumed run keeps its options"),
    ("config and another preset", train.main, "", "--config FAST", "--preset published-code", "give one"),
    ("config and another algorithm", train.main, "", "--config TD3", "--algorithm sac", "give one"),
    (
        "an environment and a corridor",
        train.main,
        "",
        "--env Pendulum-v1",
        "--corridor disturbed",
        "corridor and published go with",
    ),
    (
        "an environment and published",
        train.main,
        "",
        "--env Pendulum-v1",
        "--published",
        "corridor and published go with",
    ),
    (
        "an environment and a view",
        train.main,
        "",
        "--env Pendulum-v1",
        "--observation full",
        "observation and rule go with",
    ),
    (
        "an environment and a rule",
        train.main,
        "",
        "--env Pendulum-v1",
        "--rule schedule",
        "observation and rule go with",
    ),
    (
        "the corridor and keywords",
        train.main,
        "",
        "--env corridor",
        '--env-options {"g":1}',
        "env_options go with a Gymnasium id",
    ),
    (
        "the corridor and physics",
        train.main,
        "",
        "--env corridor",
        "--gravity 2",
        "physics and noise go with a Gymnasium id",
    ),
    (
        "the corridor and noise",
        train.main,
        "",
        "--env corridor",
        "--reward-noise shift=1",
        "physics and noise go with a Gymnasium id",
    ),
    (
        "an algorithm and another's option",
        train.main,
        "",
        "--algorithm sac",
        "--lambda-ale 1",
        "sac reads no lambda_ale",
    ),
    ("an algorithm and quantiles", train.main, "", "--algorithm td3", "--quantiles 5", "td3 reads no quantiles"),
    (
        "a preset and another's option",
        train.main,
        "",
        "--preset published-td3",
        "--alpha-init 0.1",
        "td3 reads no alpha_init",
    ),
    # of evaluation
    (
        "no figures and their folder",
        evaluate.main,
        "RUN",
        "--no-figures",
        "--figures OUT",
        "with --no-figures, which draws none",
    ),
    (
        "no figures and their form",
        evaluate.main,
        "RUN",
        "--no-figures",
        "--format pdf",
        "with --no-figures, which draws none",
    ),
    # of solving
    (
        "intervals and a set",
        solve.main,
        "INTERVALS --discount 0.5",
        "",
        "--set l1:0.1",
        "is an interval model, which has its set",
    ),
    ("the best case without a set", solve.main, "MODEL", "", "--optimistic", "--optimistic is given without --set"),
    # of certificates
    (
        "kernels and a radius",
        certify.main,
        "MODEL --out OUT.lean",
        "--kernels MODEL",
        "--radius 0.1",
        "are two robust sets; give one",
    ),
    (
        "intervals and kernels",
        certify.main,
        "INTERVALS --discount 0.5 --out OUT.lean",
        "",
        "--kernels MODEL",
        "holds its own intervals",
    ),
    (
        "intervals and a radius",
        certify.main,
        "INTERVALS --discount 0.5 --out OUT.lean",
        "",
        "--radius 0.1",
        "holds its own intervals",
    ),
    (
        "a policy and the worst action",
        certify.main,
        "MODEL --out OUT.lean",
        "--policy POLICY",
        "--value min",
        "are two value functionals",
    ),
    # of the corridor
    (
        "a demand file and passengers a trip",
        corridor.main,
        f"gtfs --feed FEED --out OUT.json --route 7 --date {DATE}",
        "--demand DEMAND",
        "--per-trip 20",
        "which is of the default model; give one",
    ),
    (
        "one direction twice",
        corridor.main,
        f"gtfs --feed FEED --out OUT.json --route 7 --date {DATE}",
        "",
        "--directions 1 1",
        "expected two different direction_ids",
    ),
    (
        "headways and hours",
        corridor.main,
        "figure --out OUT.png",
        "--kind headways",
        "--hours 1 2",
        "they are of the time-space diagram",
    ),
    (
        "a Pareto chart and hours",
        corridor.main,
        "figure --out OUT.png",
        "--kind pareto",
        "--hours 1 2",
        "they are of the time-space diagram",
    ),
    (
        "a Pareto chart and a direction",
        corridor.main,
        "figure --out OUT.png",
        "--kind pareto",
        "--direction down",
        "which is of both directions",
    ),
    (
        "waiting and a direction",
        corridor.main,
        "figure --out OUT.png",
        "--kind wait-travel",
        "--direction down",
        "which is of both directions",
    ),
    (
        "a picture and JSON",
        corridor.main,
        "figure --out OUT.png --kind headways",
        "",
        "--json",
        "simulate and compare print JSON",
    ),
    ("an animation and JSON", corridor.main, "animate --out OUT.html", "", "--json", "simulate and compare print JSON"),
    ("a controller twice", corridor.main, "compare", "", "--controllers none none", "expected at least one, each once"),
    ("a comparison of one", corridor.main, "compare", "", "--controllers none", "at least 2 days and 2 controllers"),
]


def words(text: str, files: dict[str, str]) -> list[str]:
    """The arguments, with the files' paths in the place of their names."""
    found = []
    for word in text.split():
        name = re.match(r"[A-Z0-9]+(?![A-Za-z0-9])", word)
        known = name is not None and name.group() in files
        found.append(files[name.group()] + word[name.end() :] if known and name is not None else word)
    return [word.replace("shift=1", "shift 1") for word in found]


def said(main: Main, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    try:
        code = main(arguments)
    except SystemExit as end:  # the option parser's own way out
        code = int(end.code or 0)
    return code, re.sub(r"[\s│]+", " ", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("main", "base", "first", "second", "message"), [row[1:] for row in PAIRS], ids=[row[0] for row in PAIRS]
)
def test_two_options_that_exclude_each_other(
    main: Main, base: str, first: str, second: str, message: str, files: dict[str, str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """In either order, with one sentence and code 2; nothing is written."""
    monkeypatch.chdir(tmp_path)
    kept = {path: path.read_bytes() for path in Path(files["OUT"]).parent.rglob("*") if path.is_file()}
    for order in ((first, second), (second, first)):
        arguments = words(" ".join([base, *order]), files)
        code, error = said(main, arguments, capsys)
        assert code == 2, error
        assert message in error
    assert list(tmp_path.iterdir()) == []
    assert {path: path.read_bytes() for path in Path(files["OUT"]).parent.rglob("*") if path.is_file()} == kept


ALONE = [row for row in PAIRS if row[1] is train.main and not row[2]]


@pytest.mark.parametrize("pair", ALONE, ids=[row[0] for row in ALONE])
def test_each_of_the_two_alone_is_allowed(pair: tuple[Any, ...], files: dict[str, str]) -> None:
    """Of training, whose command line can be read without training."""
    of_another = ("--lambda-ale", "--quantiles", "--alpha-init", "--env-options", "--gravity", "--reward-noise")
    for option in (pair[3], pair[4]):
        name = option.split()[0]
        # an option of one algorithm, or of Gymnasium's tasks, needs it
        needed = {
            "--quantiles": "--algorithm tqc",
            "--lambda-ale": "--algorithm resac",
            "--alpha-init": "--algorithm sac",
        }
        with_env = name in of_another and name not in needed
        planned(words(f"{needed.get(name, '')} {'--env Hopper-v5' if with_env else ''} {option}", files))


VARIATIONS = [
    ("noise in training", "--env Hopper-v5", "--noise-in training", "--action-noise shift=1", "there is no noise"),
    ("noise in evaluation", "--env Hopper-v5", "--noise-in evaluation", "--reward-noise shift=1", "there is no noise"),
    ("training tasks", "--env Hopper-v5", "--test-tasks training", "--gravity 2", "no physics changes"),
    ("nominal tasks", "--env Hopper-v5", "--test-tasks nominal", "--gear 2", "no physics changes"),
]


@pytest.mark.parametrize(
    ("base", "option", "needs", "message"), [row[1:] for row in VARIATIONS], ids=[row[0] for row in VARIATIONS]
)
def test_an_option_that_means_nothing_without_another(
    base: str, option: str, needs: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    planned(words(f"{base} {option} {needs}", {}))
    code, error = said(train.main, words(f"{base} {option}", {}), capsys)
    assert code == 2
    assert message in error


def test_the_seed_of_tasks_needs_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    base = ["--env", "Hopper-v5", "--task-seed", "3"]
    planned([*base, "--gravity", "uniform 0.5 2 per-episode tasks 4"])
    for schedule in ([], ["--gravity", "uniform 0.5 2 per-episode"]):
        code, error = said(train.main, [*base, *schedule], capsys)
        assert code == 2
        assert "task_seed = 3, but no schedule has 'tasks N'" in error


def test_a_run_to_resume_needs_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    code, error = said(train.main, ["--resume"], capsys)
    assert code == 2
    assert "--resume was given without --run-dir" in error
