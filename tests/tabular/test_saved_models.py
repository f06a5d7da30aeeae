"""What is saved is loaded as the same model, or is not saved at all: every format, every kind of model."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from property_tests.floating import sparse_copy
from property_tests.strategies import mdps
from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, families
from pyresac.tabular.exact import ExactMDP

NOT_IN_A_CSV = ("discount", "initial")
"""A CSV holds transitions and rewards, as its documentation says."""


def assert_same(found: FiniteMDP, wanted: FiniteMDP, ending: str) -> None:
    """Every field, bit for bit; no mask is a mask that allows all."""
    for field in fields(FiniteMDP):
        first, second = getattr(found, field.name), getattr(wanted, field.name)
        if field.name == "transition":
            np.testing.assert_array_equal(found.dense(), wanted.dense())
        elif field.name == "available":
            masks = [np.ones(wanted.reward.shape, dtype=bool) if mask is None else mask for mask in (first, second)]
            np.testing.assert_array_equal(*masks)
        elif field.name == "row_error":
            # a bound, which counts the entries that are stored
            assert first <= second or ending == ".csv"
        elif field.name not in NOT_IN_A_CSV or ending == ".npz":
            np.testing.assert_array_equal(first, second)


def partly_available(as_csr: bool) -> FiniteMDP:
    """Some actions in some states, each somewhere; rewards that no mean gives back."""
    rng = np.random.default_rng(0)
    available = rng.random((6, 4)) < 0.5
    available[np.arange(6), np.arange(6) % 4] = True
    kernel, reward = rng.dirichlet(np.ones(6), size=(6, 4)), rng.normal(size=(6, 4)) / 3.0
    first = rng.dirichlet(np.ones(6))
    found = FiniteMDP.from_arrays(kernel, reward, 0.9, available=available, initial=first)
    return FiniteMDP.from_arrays(found.matrix, reward, 0.9, available=available, initial=first) if as_csr else found


MODELS = {
    "dense": families.random_dense(5, 3, 0.9, seed=1),
    "sparse": families.random_sparse(30, 3, 4, 0.9, seed=1),
    "grid": families.grid(3, 0.95),
    "one pair": families.random_dense(1, 1, 0.0, seed=0),
    "partly available, dense": partly_available(as_csr=False),
    "partly available, sparse": partly_available(as_csr=True),
}


@pytest.mark.parametrize("ending", [".npz", ".csv"])
@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_is_the_model(name: str, ending: str, tmp_path: Path) -> None:
    mdp, path = MODELS[name], tmp_path / f"mdp{ending}"
    mdp.save(path)
    assert_same(FiniteMDP.load(path, mdp.discount), mdp, ending)
    if ending == ".npz":
        assert FiniteMDP.load(path).is_sparse == mdp.is_sparse


@pytest.mark.parametrize("ending", [".npz", ".csv"])
@given(mdp=mdps(masked=True), as_csr=st.booleans())
def test_any_model_is_loaded_as_it_was_or_not_saved(
    ending: str, tmp_path_factory: pytest.TempPathFactory, mdp: ExactMDP, as_csr: bool
) -> None:
    copy = FiniteMDP.from_exact(mdp)
    copy = sparse_copy(copy) if as_csr else copy
    path = tmp_path_factory.getbasetemp() / f"any{ending}"
    nowhere = mdp.available is not None and not any(row[-1] for row in mdp.available)
    if ending == ".csv" and nowhere:
        with pytest.raises(InputError, match=f"action {mdp.n_actions - 1} is available in no state"):
            copy.save(path)
        return
    copy.save(path)
    assert_same(FiniteMDP.load(path, copy.discount), copy, ending)


@pytest.mark.parametrize("ending", [".npz", ".csv"])
@pytest.mark.parametrize("left", ["both", "continuation", "terminal"])
def test_a_done_masked_reading_is_not_saved(left: str, ending: str, tmp_path: Path) -> None:
    """Its mask would be lost, and the file would be another model."""
    mdp = FiniteMDP.from_gymnasium("FrozenLake-v1", 0.9, done_masked=True, is_slippery=False)
    assert mdp.continuation is not None
    assert mdp.terminal is not None
    for name in ("continuation", "terminal"):
        if left not in ("both", name):
            mdp = mdp.replace(**{name: None})
    path = tmp_path / f"mdp{ending}"
    with pytest.raises(InputError, match="a done-masked reading is not saved; save the full-kernel MDP"):
        mdp.save(path)
    assert not path.exists()
    full = FiniteMDP.from_gymnasium("FrozenLake-v1", 0.9, is_slippery=False)
    full.save(path)
    assert_same(FiniteMDP.load(path, 0.9), full, ending)


@pytest.mark.parametrize("ending", [".csv", ".npz"])
def test_a_refused_model_leaves_the_file_that_was_there(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"mdp{ending}"
    MODELS["grid"].save(path)
    before = path.read_bytes()
    with pytest.raises(InputError):
        FiniteMDP.from_gymnasium("FrozenLake-v1", 0.9, done_masked=True).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("stays", [False, True])
def test_what_cannot_be_written_is_the_error_even_if_nothing_can_be_removed(
    stays: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **named: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(np, "save", fail)
    if stays:
        monkeypatch.setattr(os, "rmdir", fail)
    path = tmp_path / "model"
    with pytest.raises(OSError, match="no space") as raised:
        families.random_dense(3, 2, 0.9, seed=0).save_folder(path)
    assert "rmtree" not in str(raised.getrepr())
    assert path.exists() == stays
