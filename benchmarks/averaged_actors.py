"""Train, and evaluate slow averages of the actor at several rates besides: which `ema_rate` is steady?

    python benchmarks/averaged_actors.py --out FILE --env Hopper-v5 --preset fast --ema-rate 1 --seed 0

Options after `--out FILE` are those of `python -m pyresac.train`. An average collects no experience, so all rates are
of one training. FILE gets a row an evaluation: the step, the return of what is evaluated anyway, and of each average.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

from pyresac.deep.networks.network import Network
from pyresac.deep.replay import Batch
from pyresac.train import main
from pyresac.training import deep_trainee

RATES = (0.005, 0.001, 0.0003)


def watching(out: Path) -> type[deep_trainee.DeepTrainee]:
    """A trainee that keeps the averages and writes their returns to `out`."""

    class Watching(deep_trainee.DeepTrainee):
        """Averages begin with the actor after its first step, those of a resumed run with its first step from there."""

        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            super().__init__(*arguments, **keywords)
            self._averages: dict[float, Network] = {}
            self._update = self.learner.update
            self.learner.update = self._watched  # type: ignore[method-assign]
            if not out.exists():
                self._write(["step", "eval_return", *RATES])

        def _watched(self, batch: Batch) -> None:
            self._update(batch)
            if self.learner.updates % self.options.actor_every:
                return
            actor = self.learner.actor
            if not self._averages:
                self._averages = {rate: actor.clone() for rate in RATES}
            for rate, average in self._averages.items():
                average.matrix.lerp_(actor.matrix, rate)
                if average.running is not None and actor.running is not None:
                    average.running.follow(actor.running, rate)

        def measure(self) -> dict[str, float]:
            """As the base has it."""
            row = super().measure()
            returns = [
                float(self.play(self._run.eval_episodes, 0, one).returns.mean()) for one in self._averages.values()
            ]
            # before its first step the actor is its own average
            self._write([self.step, row["eval_return"], *(returns or [row["eval_return"]] * len(RATES))])
            return row

        def _write(self, row: list[Any]) -> None:
            with out.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow(row)

    return Watching


if __name__ == "__main__":
    if sys.argv[1:2] != ["--out"] or len(sys.argv) < 3:
        sys.exit("usage: python benchmarks/averaged_actors.py --out FILE OPTIONS…")
    deep_trainee.DeepTrainee = watching(Path(sys.argv[2]))  # type: ignore[misc]
    sys.exit(main(sys.argv[3:]))
