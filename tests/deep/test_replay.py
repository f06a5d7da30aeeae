"""The replay buffer: what is kept, what is sampled, what it costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from pyresac.deep import replay
from pyresac.deep.replay import Batch, ReplayBuffer, RowWidths
from pyresac.errors import CheckpointError, InputError
from pyresac.tasks.experience import LARGEST_CODE, Experience

WIDTHS, CPU = RowWidths(action=2, dense=3, codes=2), torch.device("cpu")


def transitions(first: int, count: int) -> Experience:
    """Numbers `first`, `first` + 1, …, recognisable in every field."""
    number = np.arange(first, first + count)

    def columns(width: int, offset: float) -> Any:
        return (number[:, None] + offset + 0.125 * np.arange(width)).astype(np.float32)

    return Experience(
        action=columns(2, 0.25),
        dense=columns(3, 0.5),
        codes=np.stack([number, number + 100], axis=1),
        reward=number.astype(np.float32),
        terminal=number % 3 == 0,
        next_dense=columns(3, 0.75),
        next_codes=np.stack([number + 200, number + 300], axis=1),
    )


def numbers_in(buffer: ReplayBuffer) -> list[int]:
    return buffer.batch(torch.from_numpy(buffer.rows[: buffer.size])).reward.long().tolist()


def check_fields(batch: Batch) -> None:
    """Every field belongs to the transition that the reward names."""
    for index, number in enumerate(batch.reward.long().tolist()):
        own = transitions(number, 1)
        assert batch.action[index].tolist() == own.action[0].tolist()
        assert batch.state.dense[index].tolist() == own.dense[0].tolist()
        assert batch.next_state.dense[index].tolist() == own.next_dense[0].tolist()
        assert batch.state.codes is not None
        assert batch.next_state.codes is not None
        assert batch.state.codes[index].tolist() == own.codes[0].tolist()
        assert batch.next_state.codes[index].tolist() == own.next_codes[0].tolist()
        assert batch.terminal[index].item() == float(own.terminal[0])


@pytest.mark.parametrize("portions", [[3, 3, 3], [7], [1] * 12, [5, 5], [2, 9], [4, 23], [0, 7, 0]])
def test_the_last_ones_are_kept_in_order(portions: list[int]) -> None:
    buffer, total = ReplayBuffer(7, WIDTHS), 0
    for count in portions:
        buffer.add(transitions(total, count))
        total += count
        assert sorted(numbers_in(buffer)) == list(range(max(0, total - 7), total))
        assert buffer.size == min(total, 7)
    if buffer.size == 7:
        rolled = np.roll(numbers_in(buffer), -buffer.cursor).tolist()
        assert rolled == list(range(total - 7, total)), "from the cursor on, oldest first"
    check_fields(buffer.batch(torch.from_numpy(buffer.rows[: buffer.size])))


def test_only_filled_rows_are_sampled_and_all_of_them_alike() -> None:
    buffer = ReplayBuffer(1000, WIDTHS)
    buffer.rows[:] = np.nan
    buffer.add(transitions(0, 8))
    batch = buffer.sample(8000, np.random.default_rng(0), CPU)
    check_fields(Batch(*(part if isinstance(part, tuple) else part[:200] for part in batch)))
    counts = np.bincount(batch.reward.long().numpy(), minlength=8)
    # each count is binomial with mean 1000 and deviation 29.6
    assert np.abs(counts - 1000).max() < 5 * 29.6
    again = buffer.sample(8000, np.random.default_rng(0), CPU)
    assert torch.equal(batch.reward, again.reward)


def test_without_codes_there_are_none() -> None:
    buffer = ReplayBuffer(3, RowWidths(action=1, dense=1, codes=0))
    one = np.ones((2, 1), dtype=np.float32)
    none = np.zeros((2, 0), dtype=np.int64)
    buffer.add(Experience(one, one, none, one[:, 0], np.array([True, False]), one, none))
    batch = buffer.sample(4, np.random.default_rng(0), CPU)
    assert batch.state.codes is None
    assert batch.next_state.codes is None


def test_large_codes_are_exact() -> None:
    buffer, code = ReplayBuffer(1, RowWidths(action=1, dense=1, codes=1)), LARGEST_CODE - 1
    one = np.ones((1, 1), dtype=np.float32)
    codes = np.array([[code]])
    buffer.add(Experience(one, one, codes, one[:, 0], np.array([False]), one, codes))
    found = buffer.sample(1, np.random.default_rng(0), CPU).state.codes
    assert found is not None
    assert found.item() == code


def test_too_large_a_buffer_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    row = 4 * (2 + 2 * 5 + 2)
    assert replay.buffer_bytes(10, WIDTHS) == 10 * row
    monkeypatch.setattr(replay, "available_bytes", lambda: 100 * row)
    assert ReplayBuffer(100, WIDTHS).rows.nbytes == 100 * row

    def never(*shape: object, **keywords: object) -> None:
        raise AssertionError("no memory is asked for")

    monkeypatch.setattr(np, "empty", never)
    with pytest.raises(InputError, match=rf"buffer_size = 101 needs 0 MiB of memory, {row} bytes .* enough for 100"):
        ReplayBuffer(101, WIDTHS)


def test_the_system_says_what_is_free() -> None:
    free = replay.available_bytes()
    assert free is not None
    assert 2**20 < free < 2**50


@pytest.mark.parametrize("count", [0, 5, 7, 9])
def test_saved_rows_come_back(count: int) -> None:
    buffer, other = ReplayBuffer(7, WIDTHS), ReplayBuffer(7, WIDTHS)
    buffer.add(transitions(0, min(count, 7)))
    buffer.add(transitions(7, max(0, count - 7)))
    saved = {name: array.copy() for name, array in buffer.arrays().items()}
    assert len(saved["rows"]) == min(count, 7), "unused rows are not saved"
    other.add(transitions(50, 3))
    other.load_arrays(saved)
    for one in (buffer, other):
        one.add(transitions(20, 3))
    assert (other.size, other.cursor) == (buffer.size, buffer.cursor)
    assert numbers_in(other) == numbers_in(buffer)
    if buffer.size:
        drawn = [one.sample(50, np.random.default_rng(1), CPU).reward for one in (buffer, other)]
        assert torch.equal(*drawn)


def rows(count: int, width: int = WIDTHS.row, kind: type[Any] = np.float32) -> Any:
    return np.zeros((count, width), dtype=kind)


@pytest.mark.parametrize(
    ("saved", "cursor", "message"),
    [
        (rows(8), 0, "expected at most 7 rows of 14 float32"),
        (rows(3, 13), 3, r"replay rows are float32\(3, 13\)"),
        (rows(3, kind=np.float64), 3, r"replay rows are float64\(3, 14\)"),
        (np.zeros(14, dtype=np.float32), 0, r"replay rows are float32\(14,\)"),
        (rows(3), 2, "replay cursor is 2 for 3 rows"),
        (rows(7), 7, "replay cursor is 7 for 7 rows"),
        (rows(7), -1, "replay cursor is -1 for 7 rows"),
    ],
)
def test_rows_that_do_not_fit_are_refused(saved: Any, cursor: int, message: str) -> None:
    buffer = ReplayBuffer(7, WIDTHS)
    buffer.add(transitions(0, 2))
    with pytest.raises(CheckpointError, match=message):
        buffer.load_arrays({"rows": saved, "cursor": np.array(cursor)})
    assert (buffer.size, numbers_in(buffer)) == (2, [0, 1]), "nothing is lost"
