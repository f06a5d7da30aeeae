"""Options: every bound of every option is where its type says, and what is wrong is named."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from pyresac.deep.algorithms import ALGORITHMS, algorithm_type
from pyresac.errors import InputError
from pyresac.options import (
    Checked,
    Count,
    Discount,
    Fraction,
    NonNegative,
    Positive,
    Share,
    allowed,
    differences,
    kinds_of,
    load_json,
    read_options,
    to_plain,
)
from pyresac.tabular.tabular_learner import LearnerOptions
from pyresac.tasks.discrete import EnvOptions
from pyresac.tasks.variation import Variation
from pyresac.training.deep_agent import ProblemOptions
from pyresac.training.presets import PRESETS, options_for
from pyresac.training.run_options import CommandOptions, RunOptions

EXAMPLES = settings(deadline=None, derandomize=True, database=None, max_examples=60)


def option_types() -> Iterator[type[Any]]:
    """Of every algorithm in the registry, with the dataclasses inside them, of the problem and of the command."""
    found: list[type[Any]] = [algorithm_type(name).options_type for name in ALGORITHMS]
    for cls in found:
        found += [
            kind
            for kind in kinds_of(cls).values()
            if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind not in found
        ]
    yield from found
    yield from (ProblemOptions, Variation, EnvOptions, LearnerOptions, CommandOptions, RunOptions)


class Bound(NamedTuple):
    """An option whose type has bounds."""

    cls: type[Any]
    name: str
    kind: Any
    meta: Meta
    whole: bool
    shape: str
    """plain; or tuple, where they are of each entry."""

    @property
    def limits(self) -> list[tuple[float, float]]:
        """The last value that is allowed and the first that is not, at each end."""
        down: Any = (lambda x: x - 1) if self.whole else (lambda x: math.nextafter(x, -math.inf))
        up: Any = (lambda x: x + 1) if self.whole else (lambda x: math.nextafter(x, math.inf))
        meta, kind = self.meta, int if self.whole else float
        ends = [
            (kind(meta.ge), down(kind(meta.ge))) if meta.ge is not None else None,
            (up(kind(meta.gt)), kind(meta.gt)) if meta.gt is not None else None,
            (kind(meta.le), up(kind(meta.le))) if meta.le is not None else None,
            (down(kind(meta.lt)), kind(meta.lt)) if meta.lt is not None else None,
        ]
        return [end for end in ends if end is not None]


def bounds() -> Iterator[Bound]:
    for cls in option_types():
        kinds = kinds_of(cls)
        for own in dataclasses.fields(cls):
            for meta, whole, shape in _metas(kinds[own.name]):
                yield Bound(cls, own.name, kinds[own.name], meta, whole, shape)


def _metas(kind: Any, shape: str = "plain") -> Iterator[tuple[Meta, bool, str]]:
    if get_origin(kind) is Annotated:
        inner, *notes = get_args(kind)
        yield from ((note, inner is int, shape) for note in notes if isinstance(note, Meta))
        yield from _metas(inner, shape)
    elif get_origin(kind) is tuple:
        yield from _metas(get_args(kind)[0], "tuple")
    elif get_origin(kind) is not Literal:
        for part in get_args(kind):
            yield from _metas(part, shape)


def refusal(cls: type[Any], **values: Any) -> str | None:
    """What the options are refused with."""
    try:
        cls(**values)
    except InputError as error:
        return str(error)
    return None


every_bound = pytest.mark.parametrize("bound", list(bounds()), ids=lambda b: f"{b.cls.__name__}.{b.name}")


def test_there_are_bounds() -> None:
    found = list(bounds())
    assert len(found) > 20 * len(ALGORITHMS)
    assert {bound.name for bound in found} >= {"discount", "tau", "hidden", "alpha_max", "beta_lcb_end", "grad_clip"}


@every_bound
def test_the_limit_is_accepted_and_the_next_number_is_not(bound: Bound) -> None:
    words = allowed(bound.kind)
    assert words.startswith("it must")
    assert bound.limits
    for inside, outside in bound.limits:
        good, bad = ((inside,), (outside,)) if bound.shape == "tuple" else (inside, outside)
        found = refusal(bound.cls, **{bound.name: good})
        # in combination with another option a limit may be refused, by a sentence of its own
        assert found is None or not found.endswith(words), found
        assert refusal(bound.cls, **{bound.name: bad}) == f"{bound.name} = {bad!r}; {words}"
        plain = {bound.name: list(bad) if isinstance(bad, tuple) else bad}
        with pytest.raises(InputError, match=rf"^here: .*{bound.name}"):
            read_options(bound.cls, plain, "here")


@pytest.mark.parametrize("cls", list(option_types()), ids=lambda c: c.__name__)
def test_every_option_is_checked(cls: type[Any]) -> None:
    """Not only those with bounds: types, infinities, choices."""
    assert issubclass(cls, Checked)
    kinds = kinds_of(cls)
    assert cls() == read_options(cls, to_plain(cls()), "here")
    for own in dataclasses.fields(cls):
        kind = kinds[own.name]
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            continue
        assert refusal(cls, **{own.name: object()}) is not None, own.name
        parts = {kind, *get_args(kind), *(part for inner in get_args(kind) for part in get_args(inner))}
        if float in parts:
            for number in (math.inf, -math.inf, math.nan):
                found = refusal(cls, **{own.name: number})
                assert found is not None, f"{own.name} = {number} passes"
                assert found.startswith(f"{own.name} = {number!r}; it must")
        if int in parts and bool not in parts:
            assert refusal(cls, **{own.name: 1.5}) is not None or float in parts, own.name
            assert refusal(cls, **{own.name: True}) is not None, own.name
        if get_origin(kind) is Literal:
            for choice in get_args(kind):
                found = refusal(cls, **{own.name: choice})
                # a choice may be refused together with another option, by a sentence of its own
                assert found is None or "it is not usable" not in found, found
            found = refusal(cls, **{own.name: "neither"})
            assert found is not None
            assert found.startswith(f"{own.name} = 'neither'; ")
        if type(None) in get_args(kind):
            assert refusal(cls, **{own.name: None}) is None


def test_every_class_of_options_is_among_those_tested() -> None:
    """What is left out is only a base of others."""
    found, open_ = set[type[Any]](), [Checked]
    while open_:
        open_ += (below := open_.pop().__subclasses__())
        found |= {cls for cls in below if cls.__module__.startswith("pyresac.") and not cls.__subclasses__()}
    assert found <= set(option_types())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_options_come_back_from_json_as_they_were(algorithm: str) -> None:
    cls = algorithm_type(algorithm).options_type
    changed = cls(hidden=(3, 4), discount=0.5, grad_clip=2.0, activation="tanh")
    plain = to_plain(changed)
    assert plain["hidden"] == [3, 4]
    assert read_options(cls, plain, "here") == changed
    assert read_options(cls, {"tau": 1}, "here") == cls(tau=1.0), "absent ones keep their defaults"


@pytest.mark.parametrize("corridor", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_preset_gives_options_of_its_algorithm(algorithm: str, corridor: bool) -> None:
    for name, preset in PRESETS.items():
        if preset.algorithm in (None, algorithm):
            options = options_for(name, algorithm, corridor)
            assert isinstance(options, algorithm_type(algorithm).options_type)
            assert options == read_options(type(options), to_plain(options), "here")
        else:
            with pytest.raises(InputError, match=f"preset '{name}' is one of the algorithm '{preset.algorithm}'"):
                options_for(name, algorithm, corridor)


# --- the checks themselves


@dataclass(frozen=True)
class Inner(Checked):
    """Options inside options."""

    share: Share = 0.5


@dataclass(frozen=True)
class Example(Checked):
    """One option of every kind."""

    count: Count = 1
    size: NonNegative = 0.0
    scale: Positive = 1.0
    share: Share = 0.5
    part: Fraction = 0.5
    discount: Discount = 0.9
    cap: Positive | None = None
    below: Annotated[float, Meta(le=0)] = 0.0
    under: Annotated[float, Meta(lt=3)] = 0.0
    widths: tuple[Count, ...] = (1,)
    free: float = 0.0
    inner: Inner = field(default_factory=Inner)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("count", 0, "count = 0; it must be at least 1"),
        ("count", 1.5, "count = 1.5; it must be an integer"),
        ("size", -0.5, "size = -0.5; it must be at least 0"),
        ("scale", 0.0, "scale = 0.0; it must be greater than 0"),
        ("share", 0.0, "share = 0.0; it must lie in (0, 1]"),
        ("part", 1.5, "part = 1.5; it must lie in [0, 1]"),
        ("discount", 1.0, "discount = 1.0; it must lie in [0, 1)"),
        ("cap", -1.0, "cap = -1.0; it must be greater than 0"),
        ("below", 0.5, "below = 0.5; it must be at most 0"),
        ("under", 3.0, "under = 3.0; it must be less than 3"),
        ("widths", (2, 0), "widths = (2, 0); it must be at least 1"),
        ("free", math.inf, "free = inf; it must be finite"),
        ("free", "x", "free = 'x'; it must be a number"),
    ],
)
def test_a_value_is_refused_with_what_is_allowed(name: str, value: Any, message: str) -> None:
    assert refusal(Example, **{name: value}) == message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cuont": 2}, r"here has unknown options cuont; known are below, cap, count"),
        ({"inner": {"shaer": 1}}, r"here: inner has unknown options shaer; known are share"),
        ({"inner": {"share": 2.0}}, r"here: .*inner"),
        ({"count": "2"}, r"here: .*count"),
        ([1], r"here: "),
    ],
)
def test_what_was_read_is_refused_with_where_it_stands(values: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_options(Example, values, "here")


@EXAMPLES
@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_share_is_what_it_says(value: float) -> None:
    assert (refusal(Example, share=value) is None) == (0.0 < value <= 1.0)
    assert (refusal(Example, discount=value) is None) == (0.0 <= value < 1.0)


def test_json_files(tmp_path: Path) -> None:
    path = tmp_path / "options.json"
    with pytest.raises(InputError, match=r"cannot read configuration .*options.json: No such file"):
        load_json(path)
    for text, message in (("{", "is not JSON"), ("[" * 100_000, "is not JSON"), ("[1]", "holds a list; it must be")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            load_json(path)
    path.write_text('{"count": 3}', encoding="utf-8")
    assert read_options(Example, load_json(path), "here").count == 3


def test_differences_are_lines_that_name_what_changed() -> None:
    old = to_plain(Example())
    new = to_plain(Example(count=2, inner=Inner(share=1.0), cap=3.0))
    assert differences(old, old) == []
    assert differences(old, new) == ["count: 1 → 2", "cap: None → 3.0", "inner.share: 0.5 → 1.0"]
    assert differences(old, new, free=frozenset({"cap", "inner.share"})) == ["count: 1 → 2"]
    assert differences({"a": 1}, {"b": 2}) == ["a: 1 → None", "b: None → 2"]
