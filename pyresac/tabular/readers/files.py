"""Reading and writing finite MDPs: `.npz` (everything, no pickles) and the CSV that robust-MDP tools share."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
from scipy import sparse

from pyresac.atomic import atomic_writer
from pyresac.errors import InputError
from pyresac.reading import read_text
from pyresac.tabular.readers.arrays import Arrays

COLUMNS = ("idstatefrom", "idaction", "idstateto", "probability", "reward")
FORMAT = "pyresac-mdp-1"
COUNT = "rows"
"""A sixth column, which every CSV that is written here has: the number of all rows, so that no cut goes unseen. Readers
by name or by place do not mind it, and a file of another tool need not have it."""


def load(path: Path, discount: float | None = None) -> Arrays:
    """The model in `path`; `discount` replaces the one stored (and is needed for CSV). Raises InputError."""
    if not path.is_file():
        raise InputError(f"{path} is not a file")
    if path.suffix == ".npz":
        return _load_npz(path, discount)
    if path.suffix == ".csv":
        if discount is None:
            raise InputError(f"{path}: a CSV holds no discount; give discount=… in [0, 1)")
        return _load_csv(path, discount)
    raise InputError(f"{path} ends in {path.suffix!r}; known endings are .npz and .csv")


def save(mdp: Arrays, path: Path) -> None:
    """Write `mdp`, which was checked, to `path`: `.npz` or `.csv`. Raises InputError for another ending."""
    if not path.parent.is_dir():
        raise InputError(f"{path.parent} is not a folder; make it before saving {path.name} into it")
    if mdp.continuation is not None or mdp.terminal is not None:
        raise InputError("a done-masked reading is not saved; save the full-kernel MDP")
    if path.suffix == ".npz":
        _save_npz(mdp, path)
    elif path.suffix == ".csv":
        _save_csv(mdp, path)
    else:
        raise InputError(f"{path} ends in {path.suffix!r}; known endings are .npz and .csv")


def _save_npz(mdp: Arrays, path: Path) -> None:
    fields = {"format": np.array(FORMAT), "reward": mdp.reward, "discount": np.array(mdp.discount)}
    if isinstance(mdp.transition, np.ndarray):
        fields["transition"] = mdp.transition
    else:
        rows = sparse.csr_array(mdp.transition)
        fields |= {"indptr": rows.indptr, "indices": rows.indices, "data": rows.data}
    if mdp.available is not None:
        fields["available"] = mdp.available
    if mdp.initial is not None:
        fields["initial"] = mdp.initial
    with atomic_writer(path) as file:
        np.savez_compressed(file, allow_pickle=False, **fields)


def _load_npz(path: Path, discount: float | None) -> Arrays:
    try:
        with np.load(path, allow_pickle=False) as archive:
            fields = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{path} is no readable .npz archive: {error}") from error
    if str(fields.get("format")) != FORMAT:
        raise InputError(f"{path} is not an MDP written by FiniteMDP.save (entries: {sorted(fields)})")
    missing = {"reward", "discount"} - fields.keys()
    if missing or not ("transition" in fields or {"indptr", "indices", "data"} <= fields.keys()):
        raise InputError(f"{path} lacks entries of an MDP (entries: {sorted(fields)})")
    reward = fields["reward"]
    if reward.ndim != 2:
        raise InputError(f"{path}: reward has shape {reward.shape}; expected (S, A)")
    if "transition" in fields:
        kernel = fields["transition"]
    else:
        shape = (reward.size, reward.shape[0])
        try:
            kernel = sparse.csr_array((fields["data"], fields["indices"], fields["indptr"]), shape=shape)
            kernel.check_format(full_check=True)
        except (ValueError, IndexError) as error:
            raise InputError(f"{path}: the sparse kernel is not valid: {error}") from error
    gamma = fields["discount"][()] if discount is None else discount
    return Arrays(kernel, reward, gamma, available=fields.get("available"), initial=fields.get("initial"))


def _save_csv(mdp: Arrays, path: Path) -> None:
    reward = np.asarray(mdp.reward)
    kernel = mdp.transition.reshape(-1, len(reward)) if isinstance(mdp.transition, np.ndarray) else mdp.transition
    rows = sparse.coo_array(kernel)
    pair = rows.coords[0]
    state, action = pair // reward.shape[1], pair % reward.shape[1]
    if action.max() < reward.shape[1] - 1:
        raise InputError(
            f"action {reward.shape[1] - 1} is available in no state, and a CSV names none but those that are; "
            f"save it as .npz, or leave the action out"
        )
    with atomic_writer(path) as file:
        file.write((",".join((*COLUMNS, COUNT)) + "\n").encode())
        for s, a, t, p in zip(state, action, rows.coords[1], rows.data, strict=True):
            file.write(f"{s},{a},{t},{float(p)!r},{float(reward[s, a])!r},{len(state)}\n".encode())


def _load_csv(path: Path, discount: float) -> Arrays:
    """Rows of `COLUMNS` in any order; a pair without rows is unavailable, its reward is Σ_s' p·reward, or the reward
    that all its rows have."""
    first, _, text = read_text(path).partition("\n")
    header = [name.strip().lower() for name in first.split(",")]
    if sorted(set(header) - {COUNT}) != sorted(COLUMNS) or len(set(header)) < len(header):
        raise InputError(f"{path}: the columns are {header}; expected {list(COLUMNS)}")
    if not text.strip():
        raise InputError(f"{path} has no rows under its header")
    try:
        values = np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2, comments=None, dtype=np.float64)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    if values.shape[1] != len(header):
        raise InputError(f"{path}: rows have {values.shape[1]} fields; the header names {len(header)}")
    if COUNT in header and (values[:, header.index(COUNT)] != len(values)).any():
        told = values[0, header.index(COUNT)]
        raise InputError(
            f"{path}: {len(values)} rows where its column {COUNT} says {told:g}; the file was cut or joined"
        )
    column = {name: values[:, header.index(name)] for name in COLUMNS}
    ids = []
    for name in COLUMNS[:3]:
        ok = (column[name] >= 0) & (column[name] < 2**31) & (column[name] == np.floor(column[name]))
        bad = np.flatnonzero(~ok)
        if len(bad):
            raise InputError(
                f"{path}, line {bad[0] + 2}: {name} is {column[name][bad[0]]}; ids are whole numbers from 0, below 2³¹"
            )
        ids.append(column[name].astype(np.int64))
    src, act, dst = ids
    n_states, n_actions = int(max(src.max(), dst.max())) + 1, int(act.max()) + 1
    if n_states * n_actions > 64 * len(values) + 1024:
        raise InputError(f"{path}: ids reach s={n_states - 1}, a={n_actions - 1} with only {len(values)} rows")
    pair = src * n_actions + act
    key = pair * n_states + dst
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(np.diff(key[order]) == 0)
    if len(twice):
        first, again = sorted(order[twice[0] : twice[0] + 2])
        raise InputError(
            f"{path}, line {again + 2}: (idstatefrom={src[again]}, idaction={act[again]}, idstateto={dst[again]}) "
            f"stands on line {first + 2} already"
        )
    probability = column["probability"]
    kernel = sparse.csr_array((probability, (pair, dst)), shape=(n_states * n_actions, n_states))
    reward = np.zeros(n_states * n_actions)
    np.add.at(reward, pair, probability * column["reward"])
    least, most = np.full_like(reward, np.inf), np.full_like(reward, -np.inf)
    np.minimum.at(least, pair, column["reward"])
    np.maximum.at(most, pair, column["reward"])
    # without the rounding of a mean
    reward = np.where(least == most, least, reward)
    available = np.zeros(n_states * n_actions, dtype=np.bool_)
    available[pair] = True
    shape = (n_states, n_actions)
    return Arrays(kernel, reward.reshape(shape), discount, available=available.reshape(shape))
