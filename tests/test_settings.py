"""Every number that nobody would notice stands once more, in corpus/settings.json: settings, bounds and constants.

A change of one is meant, or is red here. After a change that is meant: `python tests/test_settings.py` writes the file
anew, and its difference is read before it is committed.
"""

from __future__ import annotations

import ast
import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import pyresac
from pyresac.deep.algorithms import ALGORITHMS, algorithm_type
from pyresac.envs.bus.bounds import BOUNDS
from pyresac.envs.bus.corridor import Corridor
from pyresac.envs.bus.operations import LIMITS, Operations
from pyresac.envs.bus.traffic import LIMITS as TRAFFIC_LIMITS
from pyresac.envs.bus.traffic import Traffic
from pyresac.envs.bus.vehicle import Vehicle
from pyresac.options import allowed, kinds_of, to_plain
from pyresac.tabular.tabular_learner import LearnerOptions
from pyresac.tasks.discrete import EnvOptions
from pyresac.training.deep_agent import ProblemOptions
from pyresac.training.presets import PRESETS, options_for, preset_named, problem_for, run_options
from pyresac.training.run_options import CommandOptions, RunOptions

FILE = Path(__file__).parent / "corpus" / "settings.json"
TYPES: tuple[type[Any], ...] = (
    *(algorithm_type(name).options_type for name in ALGORITHMS),
    *(LearnerOptions, EnvOptions, ProblemOptions, CommandOptions, RunOptions),
)
OF_THE_CORRIDOR: tuple[type[Any], ...] = (Corridor, Vehicle, Operations, Traffic)


@cache
def settings_now() -> dict[str, Any]:
    """As the package has them, in the form of the file."""
    found: dict[str, Any] = {"defaults": {}, "bounds": {}, "presets": {}}
    for cls in TYPES:
        found["defaults"][cls.__name__] = _defaults(cls)
        bounds = {name: allowed(kind) for name, kind in kinds_of(cls).items()}
        found["bounds"][cls.__name__] = {name: words for name, words in bounds.items() if words}
    for cls in OF_THE_CORRIDOR:
        found["defaults"][cls.__name__] = _defaults(cls)
    found["bounds"]["Corridor"] = {name: list(bound[:2]) for name, bound in BOUNDS.items()}
    found["bounds"]["Operations"] = {name: list(bound) for name, bound in LIMITS.items()}
    found["bounds"]["Traffic"] = {name: list(bound) for name, bound in TRAFFIC_LIMITS.items()}
    for preset, about in PRESETS.items():
        for algorithm in [about.algorithm] if about.algorithm else list(ALGORITHMS):
            _, name = preset_named(preset, algorithm)
            plain = to_plain(algorithm_type(name).options_type())
            entry: dict[str, Any] = {"problem": problem_for(preset)}
            for task, corridor in (("box", False), ("corridor", True)):
                options = to_plain(options_for(preset, algorithm, corridor))
                entry[task] = {key: value for key, value in options.items() if value != plain[key]}
                entry[f"{task} run"] = to_plain(run_options(preset, algorithm, corridor))
            found["presets"][f"{preset} of {name}"] = entry
    found["constants"] = constants(Path(pyresac.__file__).parent)
    plain_settings: dict[str, Any] = json.loads(json.dumps(found, default=repr))
    return plain_settings


def _defaults(cls: type[Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            values[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            made = field.default_factory()
            values[field.name] = to_plain(made) if dataclasses.is_dataclass(made) else made
        else:
            values[field.name] = "required"
    return values


def constants(package: Path) -> dict[str, dict[str, str]]:
    """Of each file below `package`: its constants with numbers in them, as they are written; those of its classes, what
    decorates these, the defaults of its functions, and the seeds of what they draw from."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        values: dict[str, str] = {}
        _note(ast.parse(path.read_bytes()), "", values)
        if values:
            found[path.relative_to(package).as_posix()] = values
    return found


def _note(scope: ast.Module | ast.ClassDef | ast.FunctionDef, name: str, values: dict[str, str]) -> None:
    """Add the numbers of a scope, and of those in it, to `values`."""
    for statement in scope.body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            switches = [
                of for of in statement.decorator_list if isinstance(of, ast.Call) and of.keywords and not of.args
            ]
            values |= {f"@{name}{statement.name}": ast.unparse(of) for of in switches}
            _note(statement, f"{name}{statement.name}.", values)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and not isinstance(scope, ast.FunctionDef):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = ", ".join(ast.unparse(target) for target in targets)
            if statement.value is not None and names not in ELSEWHERE and _is_of_numbers(statement.value):
                values[name + names] = ast.unparse(statement.value)
    if isinstance(scope, ast.FunctionDef):
        given = scope.args.posonlyargs + scope.args.args
        pairs = [*zip(given[::-1], scope.args.defaults[::-1], strict=False)]
        pairs += [(key, of) for key, of in zip(scope.args.kwonlyargs, scope.args.kw_defaults, strict=True) if of]
        values |= {f"{name}{key.arg}": ast.unparse(of) for key, of in pairs if _is_of_numbers(of)}
        inner = [id(part) for of in scope.body if isinstance(of, ast.FunctionDef) for part in ast.walk(of)]
        drawn = [
            ast.unparse(call)
            for call in ast.walk(scope)
            if isinstance(call, ast.Call)
            and id(call) not in inner
            and ast.unparse(call.func).rpartition(".")[2] in SOURCES
            and any(isinstance(part, ast.Constant) and isinstance(part.value, int) for part in ast.walk(call))
        ]
        values |= {f"{name}draws": ", ".join(drawn)} if drawn else {}


BESIDE_NUMBERS = (
    *(ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.BinOp, ast.Call, ast.Name, ast.Attribute),
    *(ast.operator, ast.unaryop, ast.expr_context, ast.keyword, ast.Starred, ast.Subscript, ast.Slice, ast.Lambda),
    *(ast.arguments, ast.arg, ast.GeneratorExp, ast.DictComp, ast.comprehension, ast.IfExp),
    *(ast.JoinedStr, ast.FormattedValue),
)
ELSEWHERE = ("PRESETS",)
"""Names of what other parts of the file have by its values."""


SOURCES = ("default_rng", "SeedSequence", "PCG64", "PRNGKey", "RandomState", "manual_seed")
"""What random numbers come from; the same seed gives the same ones, and so the same intervals and tables."""


def _is_of_numbers(value: ast.expr) -> bool:
    nodes = list(ast.walk(value))
    numbers = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, int | float)]
    return bool(numbers) and all(isinstance(node, BESIDE_NUMBERS) for node in nodes)


@pytest.mark.parametrize("part", ["defaults", "bounds", "presets", "constants"])
def test_every_setting_is_the_one_written_down(part: str) -> None:
    written = json.loads(FILE.read_text(encoding="utf-8"))[part]
    found = settings_now()[part]
    assert list(found) == list(written)
    for name, settings in found.items():
        assert settings == written[name], name


if __name__ == "__main__":
    FILE.write_text(json.dumps(settings_now(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
