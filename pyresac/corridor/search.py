"""`tune`: direct policy search of a rule's numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.markup import escape

from pyresac.atomic import require_output
from pyresac.corridor.days import print_json, progress_bar
from pyresac.envs.bus.controller_files import save_controller
from pyresac.envs.bus.named import corridor_named
from pyresac.envs.bus.objectives import objective_named
from pyresac.envs.bus.tuning import Found, Search, tune
from pyresac.errors import InputError


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Tune:
    """Search the numbers of a rule on the compiled simulator, by CMA-ES; all candidates play the same days."""

    out: Path
    """JSON file to write; compare, simulate, evaluate and controller_named take it as a controller."""
    rule: Literal["linear", "network", "schedule", "robust", "target", "forward", "self", "two-way", "predictive"] = (
        "linear"
    )
    """linear: of the full observation; network: a layer of six units over it; or a classical rule's parameters."""
    objective: str = "reward"
    """reward, or passengers with prices in passenger-minutes: passengers:vehicle_hour=480,denied=5."""
    corridor: str = "default"
    """As for simulate."""
    generations: int = 100
    population: int = 12
    days: int = 6
    """Days that every candidate plays."""
    check_days: int = 16
    """Other days, on which the last and the best candidate and the start are compared at the end."""
    first_seed: int = 1_000_000
    """Seed of the first of these days: far from those that simulate, compare and evaluate play."""
    seed: int = 0
    """Seed of the search's own draws."""
    workers: int | None = None
    """Threads, all cores without it. The result does not depend on them."""
    published: bool = False
    """As for simulate."""
    json: bool = False
    """Print JSON."""

    def run(self, console: Console) -> None:
        """Search, write the file, print what it was worth."""
        if self.out.suffix != ".json":
            raise InputError(f"out is {self.out}; expected a file ending in .json")
        require_output(self.out, self.corridor)
        objective, corridor = objective_named(self.objective), corridor_named(self.corridor)
        search = Search(
            family=self.rule,
            generations=self.generations,
            population=self.population,
            days=self.days,
            check_days=self.check_days,
            first_seed=self.first_seed,
            seed=self.seed,
            workers=cores() if self.workers is None else self.workers,
        )
        with progress_bar() as progress:
            task = progress.add_task(f"tuning {self.rule}", total=self.generations)

            def step(generation: int, value: float) -> None:
                progress.update(task, completed=generation, description=f"tuning {self.rule}, best {value:,.0f}")

            found = tune(corridor, objective, search, self.published, step)
        note = self._note(found, search)
        save_controller(found.rule, self.out, note)
        if self.json:
            print_json(note | {"out": str(self.out), "seconds": found.seconds})
            return
        console.print(
            escape(
                f"{self.objective} a day on {search.check_days} days that the search did not see: "
                f"{found.start:,.0f} where it began, {found.value:,.0f} found, "
                f"in {found.generations} generations and {found.seconds:.0f} s; in {self.out}"
            ),
            soft_wrap=True,
        )

    def _note(self, found: Found, search: Search) -> dict[str, object]:
        first = search.first_seed
        return {
            "corridor": self.corridor,
            "published": self.published,
            "objective": self.objective,
            "search_days": [first, first + search.days - 1],
            "check_days": [first + search.days, first + search.days + search.check_days - 1],
            "population": search.population,
            "generations": found.generations,
            "seed": search.seed,
            "start": found.start,
            "value": found.value,
        }
