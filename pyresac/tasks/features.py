"""Observations of a Gymnasium space as the deep agent's features: continuous numbers and categories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from pyresac.errors import InputError
from pyresac.tasks.experience import LARGEST_CODE, Numbers
from pyresac.tasks.task import Codes, code_offsets

Path = tuple[int | str, ...]
ALLOWED = "a Box, a Discrete, a MultiDiscrete or MultiBinary, or a Tuple or Dict of them"


@dataclass(frozen=True)
class _Leaf:
    """A part of an observation, and the columns that it fills."""

    path: Path
    columns: slice
    categories: tuple[NDArray[np.int64], NDArray[np.int64]] | None
    """Their counts and smallest values; None for numbers."""


class Observations:
    """How a space's observations fill `dense` continuous columns and one column for each of `categories`."""

    def __init__(self, space: gym.Space[Any], where: str) -> None:
        """Raises InputError naming the part of the space that is not allowed, or for too many categories."""
        self._leaves: list[_Leaf] = []
        dense, categories = 0, list[int]()
        for path, part in _parts(space, ()):
            kinds = _categories(part)
            if kinds is not None:
                columns = slice(len(categories), len(categories) + len(kinds[0]))
                categories += kinds[0].tolist()
                self._leaves.append(_Leaf(path, columns, kinds))
            elif isinstance(part, gym.spaces.Box | gym.spaces.MultiBinary):
                size = int(np.prod(part.shape))
                self._leaves.append(_Leaf(path, slice(dense, dense + size), None))
                dense += size
            else:
                name = "".join(f"[{step!r}]" for step in path)
                raise InputError(f"{where} has the observation space{name} {part}; the deep agent needs {ALLOWED}")
        if not dense and not categories:
            raise InputError(f"{where} has the observation space {space}, which holds no number")
        if sum(categories) > LARGEST_CODE:
            raise InputError(f"{where} has {sum(categories):,} categories; at most {LARGEST_CODE:,} can be kept")
        self.dense, self.categories, self._where = dense, tuple(categories), where
        self._offsets = code_offsets(self.categories)

    def read(self, observation: Any, dense: Numbers, codes: Codes) -> None:
        """Fill dense (C,) and codes (F,), offset. Raises InputError where the observation is not one of the space."""
        for leaf in self._leaves:
            value = observation
            for step in leaf.path:
                value = value[step]
            numbers = np.asarray(value).reshape(-1)
            expected = leaf.columns.stop - leaf.columns.start
            if numbers.size != expected:
                raise InputError(f"{self._where} observed {numbers.size} numbers where its space has {expected}")
            if leaf.categories is None:
                dense[leaf.columns] = numbers
                continue
            counts, smallest = leaf.categories
            found = numbers - smallest
            if ((found < 0) | (found >= counts)).any():
                raise InputError(f"{self._where} observed the categories {numbers.tolist()}, beyond its space")
            codes[leaf.columns] = found + self._offsets[leaf.columns]


def _parts(space: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(space, gym.spaces.Tuple):
        for index, part in enumerate(space.spaces):
            yield from _parts(part, (*path, index))
    elif isinstance(space, gym.spaces.Dict):
        for name, part in space.spaces.items():
            yield from _parts(part, (*path, name))
    else:
        yield path, space


def _categories(space: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Counts and smallest values of a space of categories, None for another space."""
    if isinstance(space, gym.spaces.Discrete):
        return np.array([space.n], dtype=np.int64), np.array([space.start], dtype=np.int64)
    if isinstance(space, gym.spaces.MultiDiscrete):
        return space.nvec.reshape(-1).astype(np.int64), space.start.reshape(-1).astype(np.int64)
    return None
