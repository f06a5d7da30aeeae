"""Options of `solve` and `evaluate`: the last number that is allowed is taken, the next one is refused by name."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest

from pyresac import evaluate, solve
from pyresac.envs.bus.simulator import LARGEST_SEED
from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, families

TINY, LESS, MORE = 5e-324, math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0)
EVALUATE: dict[str, tuple[list[Any], list[Any]]] = {
    "episodes": ([1, evaluate.MOST_EPISODES], [0, -1, evaluate.MOST_EPISODES + 1]),
    "seed": ([0, LARGEST_SEED // 2], [-1, LARGEST_SEED // 2 + 1]),
    "level": ([TINY, LESS], [0.0, 1.0, -TINY, MORE, math.nan, math.inf]),
}
SOLVE: dict[str, tuple[list[Any], list[Any]]] = {
    "discount": ([0.0, LESS], [1.0, -TINY, math.nan, math.inf]),
    "tolerance": ([0.0, TINY, 1e300], [-TINY, math.nan, math.inf]),
    "show": ([0, 10**9], [-1]),
}
UNIT = ([0.0, 1.0], [-TINY, MORE])
POSITIVE = ([TINY, 1e300], [0.0, -TINY])
NOT_NEGATIVE = ([0.0, 1e300], [-TINY, -1.0])
SETS: dict[str, tuple[list[float], list[float]]] = {
    "l1": ([0.0, 2.0], [-TINY, math.nextafter(2.0, 3.0)]),
    "tv": UNIT,
    "linf": UNIT,
    "interval": UNIT,
    "kl": NOT_NEGATIVE,
    "renyi": NOT_NEGATIVE,
    "likelihood": NOT_NEGATIVE,
    "chi2": NOT_NEGATIVE,
    "cvar": ([TINY, 1.0], [0.0, MORE]),
    "contamination": UNIT,
    "entropic": POSITIVE,
}
VALUES = {"soft": POSITIVE, "mellowmax": POSITIVE}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("model") / "chain.npz"
    families.chain(3, 0.5).save(path)
    return path


@pytest.mark.parametrize(("options", "table"), [(evaluate.Evaluate, EVALUATE), (solve.Solve, SOLVE)])
def test_every_number_has_its_limits(options: Any, table: dict[str, Any]) -> None:
    """A new option that is a number must be in the tables above."""
    numbers = [
        field.name for field in dataclasses.fields(options) if "int" in str(field.type) or "float" in str(field.type)
    ]
    assert sorted(numbers) == sorted(table)


@pytest.mark.parametrize("name", EVALUATE)
def test_limits_of_evaluate(name: str) -> None:
    allowed, refused = EVALUATE[name]
    for value in allowed:
        evaluate.Evaluate((Path("run"),), **{name: value}).require_usable()
    for value in refused:
        with pytest.raises(InputError, match=rf"{name} = {value}; it must lie "):
            evaluate.Evaluate((Path("run"),), **{name: value}).require_usable()


@pytest.mark.parametrize("name", SOLVE)
def test_limits_of_solve(name: str, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed, refused = SOLVE[name]
    for value in allowed:
        if name == "discount":
            # of the model alone: near 1 a solve takes its time
            assert solve.model_of(solve.Solve(model, discount=value), None)[0].discount == value
        else:
            assert solve.run(solve.Solve(model, **{name: value})) in (0, solve.NOT_CERTIFIED)
    for value in refused:
        with pytest.raises(InputError, match=rf"{name} is {value}; it must "):
            solve.run(solve.Solve(model, **{name: value}))
    capsys.readouterr()


def loaded(model: Path) -> FiniteMDP:
    return FiniteMDP.load(model)


def test_every_set_and_value_has_its_limits() -> None:
    assert sorted(SETS) == sorted(solve.SETS)
    assert sorted(VALUES) == sorted(solve.VALUES)


@pytest.mark.parametrize(("option", "name"), [*(("set", name) for name in SETS), *(("value", name) for name in VALUES)])
@pytest.mark.parametrize("optimistic", [False, True])
def test_limits_of_sets_and_values(option: str, name: str, optimistic: bool, model: Path) -> None:
    allowed, refused = (SETS if option == "set" else VALUES)[name]
    best = optimistic and option == "set"
    for number in allowed:
        options = solve.Solve(model, optimistic=best, **{option: f"{name}:{number!r}"})
        solve.operator_of(options, loaded(model))
    for number in refused:
        options = solve.Solve(model, optimistic=best, **{option: f"{name}:{number!r}"})
        with pytest.raises(InputError, match=rf"(?i)is {number!r}; it must "):
            solve.operator_of(options, loaded(model))
    for text in ("nan", "inf", "-inf", "", "a", "0.1:0.1"):
        with pytest.raises(InputError, match=rf"{option} is '{name}:{text}'; it must be NAME:NUMBER"):
            solve.operator_of(solve.Solve(model, **{option: f"{name}:{text}"}), loaded(model))
    with pytest.raises(InputError, match=rf"{option} is '{name}'; it must be NAME:NUMBER"):
        solve.operator_of(solve.Solve(model, **{option: name}), loaded(model))
