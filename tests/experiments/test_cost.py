"""What `plan` says a plan costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from pyresac.experiments import cost
from pyresac.experiments.experiment import Run

RUN = Run(
    "one", {"env": "Pendulum-v1", "algorithm": "sac", "steps": 1_000, "learning_starts": 100, "buffer_size": 1_000}
)


def test_steps_and_updates_are_timed_on_the_one_thread_that_a_run_has(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def timed(work: Callable[[], None]) -> float:
        work()
        seen.append(torch.get_num_threads())
        return 3.6

    monkeypatch.setattr(cost, "_seconds", timed)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        found = cost.cost_of([RUN])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 1]
    # 1,000 steps and 900 updates of 3.6 s each
    assert found.core_hours == pytest.approx(1.9)
    # two checkpoints of 1,000 transitions of 1 + 2·3 + 2 numbers
    assert found.disk_bytes == 2 * 1_000 * 4 * 9


def test_a_run_that_ends_before_it_learns_has_no_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "_seconds", lambda _: 3.6)
    ends = replace(RUN, options={**RUN.options, "steps": 1_000, "learning_starts": 1_000})
    assert cost.cost_of([ends]).core_hours == pytest.approx(1.0, rel=1e-6, abs=0)
