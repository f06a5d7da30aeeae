"""Streams that are closed, full of other letters, or read by somebody who has seen enough."""

from __future__ import annotations

from corpus.case import Case

TINY = "--agent tabular --steps 200 --eval-every 100 --eval-episodes 1 --final-episodes 2 --no-tensorboard"
COMPARE = "python -m pyresac.corridor compare --seeds 2 --controllers none headway"

CASES = [
    *(
        Case(f"{name} --help | head -1", f"python -m pyresac.{name} --help | head -1", "usage", 0, shell=True)
        for name in ("train", "evaluate", "solve", "corridor", "experiments", "figures.sets", "formal.check")
    ),
    Case("no output", f"{COMPARE} >&-", "", 0, shell=True),
    Case("no output, JSON", f"{COMPARE} --json >&-", "", 0, shell=True),
    Case("no streams at all", f"{COMPARE} <&- >&- 2>&-", "", 0, shell=True),
    Case("no errors", f"{COMPARE} 2>&-", "headway", 0, shell=True),
    Case("ascii", f"PYTHONIOENCODING=ascii {COMPARE}", "headway", 0, shell=True),
    Case("ascii, a run", f"PYTHONIOENCODING=ascii python -m pyresac.train {TINY} --run-dir run", "Curves", 0,
         shell=True, makes=("run/result.json",)),
    Case("a reader of one line, a run", f"python -m pyresac.train {TINY} --run-dir run | head -1", "seed 0", 0,
         shell=True, makes=("run/result.json",)),
    Case("a run without streams", f"python -m pyresac.train {TINY} --run-dir run >&- 2>&-", "", 0, shell=True,
         makes=("run/result.json",)),
]  # fmt: skip
