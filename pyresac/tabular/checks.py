"""Validation of arrays: each error says what was given, what is allowed, and where."""

from __future__ import annotations

from numbers import Real
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pyresac.errors import InputError
from pyresac.memory import require_memory

Floats = NDArray[np.float64]
Number = TypeVar("Number", bound=np.generic)

ROW_SLACK = 4.0
"""How many units of rounding per stored entry a row sum may miss 1 by: enough for any sane normalisation."""


SMALL_MEMORY = 2**28
"""Bytes that are taken without asking what is free."""


def check_room(needed: int, what: str) -> None:
    """InputError, which begins with `what`, where so many bytes are not free; a small need is not looked into."""
    if needed > SMALL_MEMORY:
        require_memory(needed, what)


REAL_KINDS = "biuf"


def real_array(name: str, value: object) -> NDArray[Any]:
    """`value` as an array of real numbers, of its own dtype; InputError for strings, dates, complex numbers, a lone
    boolean, or rows of different lengths. Objects must be real numbers (fractions, say)."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InputError(f"{name} is not an array of numbers: {error}") from None
    if array.dtype.kind == "O":
        odd = next((type(x).__name__ for x in array.flat if not isinstance(x, Real)), None)
        if odd is not None:
            raise InputError(f"{name} is not an array of numbers: it holds a {odd}")
    elif array.dtype.kind not in REAL_KINDS or (array.dtype.kind == "b" and array.ndim == 0):
        raise InputError(f"{name} is not an array of numbers: it holds {array.dtype}; real numbers are allowed")
    return array


def real_matrix(name: str, given: sparse.sparray | sparse.spmatrix) -> sparse.csr_array:
    """A sparse matrix as CSR of its own dtype; InputError for other than real numbers, or indices out of range."""
    if given.dtype.kind not in REAL_KINDS:
        raise InputError(f"{name} is not a matrix of numbers: it holds {given.dtype}; real numbers are allowed")
    try:
        # The compiled kernels trust the indices, and so does SciPy's own conversion.
        if hasattr(given, "check_format"):
            given.check_format(full_check=True)
        return sparse.csr_array(given)
    except (ValueError, IndexError) as error:
        raise InputError(f"{name} is no valid sparse matrix: {error}") from None


def finite_array(
    name: str,
    value: ArrayLike,
    *,
    ndim: int | None = None,
    shape: tuple[int, ...] | None = None,
    allow_nonfinite: bool = False,
) -> Floats:
    """`value` as a float64 array, or InputError: not numeric, wrong shape, NaN or infinite."""
    given = real_array(name, value)
    try:
        array = np.asarray(given, dtype=np.float64)
    except OverflowError as error:
        raise InputError(f"{name} is not an array of float64: {error}") from None
    if ndim is not None and array.ndim != ndim:
        raise InputError(f"{name} has shape {array.shape}; expected {ndim} dimensions")
    if shape is not None and array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}; expected {shape}")
    if not allow_nonfinite and not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = list(where) if where else ""
        raise InputError(f"{name}{place} is {array[where]}; {'every entry' if where else 'it'} must be finite")
    return array


@overload
def owned(checked: NDArray[Number], given: object) -> NDArray[Number]: ...


@overload
def owned(checked: sparse.csr_array, given: object) -> sparse.csr_array: ...


def owned(checked: NDArray[Any] | sparse.csr_array, given: object) -> NDArray[Any] | sparse.csr_array:
    """`checked` in memory that nobody else writes to: copied where it may be that of `given`, then made read-only.

    A certificate speaks of the numbers that it saw; a buffer that its owner refills later must not change them.
    """
    if isinstance(checked, np.ndarray):
        free = np.ascontiguousarray(checked)
        if _shared(free, given):
            free = free.copy()
        free.setflags(write=False)
        return free
    parts = [owned(part, given) for part in (checked.data, checked.indices, checked.indptr)]
    return sparse.csr_array(tuple(parts), shape=checked.shape)


def _shared(array: NDArray[Any], given: object) -> bool:
    """Whether writing to `given`, an array, a sparse matrix or any other buffer, may change `array`."""
    if given is None or isinstance(given, (list, tuple, Real)):
        return False
    if not sparse.issparse(given):
        return bool(np.may_share_memory(array, np.asarray(given)))
    parts = [getattr(given, name, None) for name in ("data", "indices", "indptr", "offsets")]
    parts += getattr(given, "coords", ())
    return any(np.may_share_memory(array, part) for part in parts if isinstance(part, np.ndarray))


def check_number(
    name: str, value: float, allowed: str, *, low: float, high: float = np.inf, open_low: bool = False
) -> float:
    """`value` as a float; InputError unless it is a real number, no boolean, finite and in [low, high] (low excluded
    where `open_low`)."""
    number = as_float(value)
    if number is None:
        raise InputError(f"{name} is {value!r}; it must be {allowed}")
    if not np.isfinite(number) or number < low or number > high or (open_low and number == low):
        raise InputError(f"{name} is {number}; it must be {allowed}")
    return number


def largest_of(values: Floats) -> float:
    """max |values|, without a copy of them."""
    return float(max(values.max(), -values.min()))


def as_float(value: object) -> float | None:
    """`value` as a float, None where it is no real number (strings, booleans and arrays are none) or too large."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def check_whole(name: str, value: object, *, low: int) -> int:
    """`value` as an int; InputError unless it is a whole number of at least `low`, and no boolean."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise InputError(f"{name} is {value!r}; it must be a whole number of at least {low}")
    return int(value)


def same_mask(first: NDArray[np.bool_] | None, second: NDArray[np.bool_] | None) -> bool:
    """Whether two masks of available pairs are equal; None stands for all."""
    if first is None or second is None:
        return first is second
    return first is second or np.array_equal(first, second)


def check_available(available: ArrayLike, shape: tuple[int, int]) -> NDArray[np.bool_] | None:
    """The mask as bool (S, A), None where all true; InputError on another shape or a state without an action."""
    mask = np.asarray(available)
    if mask.shape != shape:
        raise InputError(f"available has shape {mask.shape}; expected {shape} like reward")
    if mask.dtype != np.bool_ and not np.isin(mask, (0, 1)).all():
        raise InputError("available must hold booleans (or 0 and 1)")
    mask = mask.astype(np.bool_)
    without = np.flatnonzero(~mask.any(axis=1))
    if len(without):
        raise InputError(f"state s={without[0]} has no available action; each state needs at least one")
    return None if mask.all() else mask


def check_initial(initial: ArrayLike, n_states: int) -> Floats:
    """A probability vector (S,) or InputError."""
    first = finite_array("initial", initial, shape=(n_states,))
    if first.min() < 0 or abs(first.sum() - 1) > 1e-8:
        raise InputError(f"initial has minimum {first.min()} and sum {first.sum()}; it must be a probability vector")
    return first


def check_policy(name: str, policy: ArrayLike, shape: tuple[int, int] | None = None) -> Floats:
    """A policy (S, A): rows are probability vectors to float64 rounding, then divided by their sums."""
    array = finite_array(name, policy, ndim=2, shape=shape)
    if array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; it needs at least one state and one action")
    if array.min() < 0:
        s, a = np.unravel_index(int(array.argmin()), array.shape)
        raise InputError(f"{name} is {array[s, a]} at (s={s}, a={a}); probabilities are at least 0")
    sums = array.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > 1e-9:
        raise InputError(f"row s={worst} of {name} sums to {sums[worst]}; rows must sum to 1")
    normalised: Floats = array / sums[:, None]
    return owned(normalised, None)


def checked_rows(
    transition: ArrayLike | sparse.sparray | sparse.spmatrix,
    n_states: int,
    n_actions: int,
    available: NDArray[np.bool_] | None,
    *,
    renormalise: bool,
    n_columns: int | None = None,
) -> tuple[Floats | sparse.csr_array, float]:
    """The checked kernel and its `row_error`; rows of unavailable pairs are zeroed. Raises InputError.

    n_columns: S where a sparse kernel's rows are those of some states only.
    """
    if sparse.issparse(transition):
        rows = real_matrix("transition", transition)
        return _checked_sparse(rows, n_states, n_actions, n_columns or n_states, available, renormalise)
    given = real_array("transition", transition)
    expected = (n_states, n_actions, n_states)
    if given.shape != expected:
        raise InputError(f"transition has shape {given.shape}; reward asks for {expected} (S, A, S)")
    unit = _unit(given.dtype, renormalise)
    dense = finite_array("transition", given, allow_nonfinite=available is not None)
    if available is not None:
        dense = np.where(available[:, :, None], dense, 0.0)
    if not np.isfinite(dense).all() or dense.min() < 0:
        bad = int(np.argmax(~np.isfinite(dense) | (dense < 0)))
        s, a, t = np.unravel_index(bad, dense.shape)
        raise InputError(
            f"transition is {dense[s, a, t]} at (s={s}, a={a}, s'={t}); probabilities must be finite and at least 0"
        )
    sums = dense.sum(axis=2)
    lengths = np.full(sums.shape, n_states)
    _check_sums(sums, lengths, unit, available, renormalise)
    if renormalise:
        dense = dense / np.where(sums > 0, sums, 1.0)[:, :, None]
        sums = dense.sum(axis=2)
    return np.ascontiguousarray(dense), _row_error(sums, lengths, available)


def _checked_sparse(
    given: sparse.csr_array,
    n_states: int,
    n_actions: int,
    n_columns: int,
    available: NDArray[np.bool_] | None,
    renormalise: bool,
) -> tuple[sparse.csr_array, float]:
    expected = (n_states * n_actions, n_columns)
    if given.shape != expected:
        raise InputError(f"transition is sparse of shape {given.shape}; reward asks for {expected} (S·A, S)")
    unit = _unit(given.dtype, renormalise)
    rows = given.astype(np.float64)
    if available is not None:
        keep = np.repeat(available.ravel(), np.diff(rows.indptr))
        counts = np.where(available.ravel(), np.diff(rows.indptr), 0)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(rows.indptr.dtype)
        rows = sparse.csr_array((rows.data[keep], rows.indices[keep], indptr), shape=expected)
    if not rows.has_canonical_format:
        rows.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(rows.data) | (rows.data < 0))
    if len(bad):
        pair = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        where = f"(s={pair // n_actions}, a={pair % n_actions}, s'={rows.indices[bad[0]]})"
        raise InputError(f"transition is {rows.data[bad[0]]} at {where}; probabilities must be finite and at least 0")
    lengths = np.diff(rows.indptr).reshape(n_states, n_actions)
    sums = np.asarray(rows.sum(axis=1), dtype=np.float64).reshape(n_states, n_actions)
    _check_sums(sums, lengths, unit, available, renormalise)
    if renormalise:
        scale = np.repeat(np.where(sums > 0, sums, 1.0).ravel(), lengths.ravel())
        rows = sparse.csr_array((rows.data / scale, rows.indices, rows.indptr), shape=expected)
        sums = np.asarray(rows.sum(axis=1), dtype=np.float64).reshape(n_states, n_actions)
    if max(rows.nnz, n_columns) < 2**31:
        indices, indptr = rows.indices.astype(np.int32, copy=False), rows.indptr.astype(np.int32, copy=False)
        rows = sparse.csr_array((rows.data, indices, indptr), shape=expected)
    return rows, _row_error(sums, lengths, available)


def _unit(dtype: np.dtype[np.generic], renormalise: bool) -> float:
    """The rounding unit that row sums are judged by: the input's own only where it will be divided out."""
    coarse = renormalise and dtype.kind == "f" and dtype.itemsize < 8
    return float(
        np.finfo(np.float32 if dtype.itemsize == 4 else np.float16).eps if coarse else np.finfo(np.float64).eps
    )


def _check_sums(
    sums: Floats, lengths: NDArray[np.integer], unit: float, available: NDArray[np.bool_] | None, renormalise: bool
) -> None:
    miss = np.abs(sums - 1.0)
    allowed = ROW_SLACK * unit * (lengths + 1)
    wrong = miss > allowed
    if available is not None:
        wrong &= available
    if not wrong.any():
        return
    s, a = np.unravel_index(int(np.where(wrong, miss, -1.0).argmax()), sums.shape)
    hint = "" if renormalise or miss[s, a] > 1e-3 else " (renormalise=True divides coarser rows by their sums)"
    digits = 17 if miss[s, a] < 1e-12 else 12
    raise InputError(f"row (s={s}, a={a}) of transition sums to {sums[s, a]:.{digits}g}; rows must sum to 1{hint}")


def _row_error(sums: Floats, lengths: NDArray[np.integer], available: NDArray[np.bool_] | None) -> float:
    """A bound on |exact row sum − 1|: what was measured plus the rounding of measuring it (recursive summation)."""
    if available is not None:
        sums, lengths = sums[available], lengths[available]
    measured = np.abs(sums - 1.0)
    rounding = (lengths + 2) * 2.0**-53 * 1.0625
    return float(np.nextafter((measured + rounding).max(), np.inf))
