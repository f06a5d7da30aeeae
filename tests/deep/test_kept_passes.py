"""A pass keeps what its gradients need where one is taken, and nowhere else: that is most of an update's memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from deep_cases import random_batch, readable, small_learner
from torch import Tensor

from pyresac.deep.algorithms import ALGORITHMS
from pyresac.deep.networks.implicit_quantiles import ImplicitQuantiles
from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.passes import ForwardPass


@dataclass
class Record:
    """Of one pass: whether it was kept, and whether a gradient was taken of it."""

    kept: bool
    used: bool = False


@dataclass
class Watched:
    """A pass, with its record."""

    through: ForwardPass
    record: Record = field(compare=False)

    @property
    def output(self) -> Tensor:
        """See `ForwardPass`."""
        return self.through.output

    def first(self, rows: int) -> Watched:
        """See `ForwardPass`."""
        return Watched(self.through.first(rows), self.record)

    def gradient(self, of_output: Tensor, out: Tensor | None = None) -> Tensor:
        """See `ForwardPass`."""
        self.record.used = True
        return self.through.gradient(of_output, out)

    def input_gradient(self, of_output: Tensor, columns: int | None = None) -> Tensor:
        """See `ForwardPass`."""
        self.record.used = True
        return self.through.input_gradient(of_output, columns)


def watch(patch: pytest.MonkeyPatch) -> list[Record]:
    """The records of all passes from here on."""
    records: list[Record] = []
    for kind in (Network, ImplicitQuantiles):
        plain = kind.run

        def run(own: Network, inputs: Inputs, keep: bool = True, plain: Any = plain) -> Watched:
            record = Record(keep)
            records.append(record)
            return Watched(plain(own, inputs, keep), record)

        patch.setattr(kind, "run", run)
    return records


CASES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ALGORITHMS),
    ("sac", {"normalisation": "layer"}),
    ("sac", {"normalisation": "batch"}),
    ("tqc", {"critics": "implicit"}),
    ("bac", {"exploitation": "uniform"}),
    ("td3", {"normalisation": "batch"}),
]


@pytest.mark.parametrize(("algorithm", "options"), CASES, ids=str)
def test_what_is_kept_is_used(algorithm: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """In updates with the actor's step and without it, and where an agent acts and values, which learns nothing."""
    learner = small_learner(algorithm, **options, **readable(algorithm, {"actor_every": 2}))
    batch, records = random_batch(0), watch(monkeypatch)
    for update in range(2):
        learner.update(random_batch(update))
        assert records
        assert [record for record in records if record.kept != record.used] == []
    assert any(record.kept for record in records)
    records.clear()
    learner.explore(batch.state)
    learner.exploit(batch.state)
    learner.values(batch.state, torch.zeros_like(batch.action))
    assert records
    assert not any(record.kept or record.used for record in records)
