"""Days of a corridor: one call a day under a compiled rule, lockstep for anything that decides in arrays.

What the published program does by accident, kept behind `published=True`, and what is done instead without it:

- Drawn speeds are cut to whole m/s, half a metre a second below their means. Instead: as drawn.
- A bus moves in whole seconds, with the speed that each began with, does not brake, is seen at the stop a second
later, and
  a hold is rounded up to whole seconds. Instead: speeds change linearly, the bus brakes to a stand, all times are
  exact.

Two more that change no figure of the published corridor: its observation takes 500 m for every link (here the link's
own length), and its reward sum leaves out each trip's first decision (here both sums are reported).

Kept, since they are modelling choices: no layover, demand that goes on with the last hour's rates until the last bus
has arrived, boarding counted at arrival, hb as the follower's latest hf, reward of a missing neighbour, overtaking
allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyresac.envs.bus import observation as seen
from pyresac.envs.bus import state as at
from pyresac.envs.bus.controllers import Controller, Rule
from pyresac.envs.bus.corridor import Array, Corridor
from pyresac.envs.bus.kernel import advance_days
from pyresac.envs.bus.layout import Layout, lay_out
from pyresac.envs.bus.line import Integers
from pyresac.envs.bus.record import Record
from pyresac.envs.bus.rules import run_days
from pyresac.envs.bus.state import State, allocate, rewind_days, start_days
from pyresac.errors import InputError

LARGEST_SEED = 2**63 - 1
AT_ONCE = 16
"""Days that compiled code runs in one call: an interrupt waits for their end."""


def checked_seed(seed: Any) -> int:
    """The seed as an int; InputError unless it is an integer in [0, 2⁶³ − 1]."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"seed is {seed!r} ({type(seed).__name__}); it must be an integer in [0, {LARGEST_SEED}]")
    return int(seed)


def numbers(values: Any) -> Array:
    """(n,) real numbers out of an array or a nest of lists; ValueError for anything else, texts of numbers too."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"found {array.dtype}; expected real numbers")
    return array.astype(np.float64).reshape(-1)


def checked_holding(seconds: Any, count: int, least: float, limit: float) -> Array:
    """(count,) seconds; InputError, naming the first offender, unless all are numbers in [least, limit]."""
    try:
        array = numbers(seconds)
    except ValueError as error:
        raise InputError(f"holding is {seconds!r}; it must be seconds in [{least:g}, {limit:g}]") from error
    if array.size != count:
        raise InputError(f"holding has {array.size} entries for {count} buses")
    wrong = np.flatnonzero(~((array >= least) & (array <= limit)))
    if wrong.size:
        raise InputError(f"holding[{wrong[0]}] is {array[wrong[0]]} s; it must be in [{least:g}, {limit:g}]")
    return array


class Simulator:
    """`days` days of one corridor, side by side, each from decision to decision.

    Holding outside [0, H_max] ([−H_max, H_max] where stops may be passed) and NaN are refused with InputError; nothing
    is clipped here.
    """

    def __init__(self, corridor: Corridor, days: int = 1, published: bool = False) -> None:
        if isinstance(days, bool) or not isinstance(days, int) or days < 1:
            raise InputError(f"days is {days!r}; it must be an integer of at least 1")
        if not isinstance(corridor, Corridor):
            raise InputError(f"corridor is {corridor!r}; it must be a Corridor")
        self.layout: Layout = lay_out(corridor, published)
        self.state: State = allocate(self.layout, days)
        self.pending: Integers = np.zeros(days, dtype=np.int64)
        """(days,) 1 where a bus must decide; 0 before the start and after the end of a day."""

    @property
    def days(self) -> int:
        """Days side by side."""
        return int(self.pending.size)

    def start(self, seeds: Sequence[int], rows: Sequence[int] | Integers | None = None) -> None:
        """Start a day of each seed in `rows` (all of them by default) and run it to its first decision."""
        where = np.arange(self.days) if rows is None else np.asarray(rows)
        if where.dtype.kind not in "iu" or not ((where >= 0) & (where < self.days)).all():
            raise self._no_rows(rows)
        if len(seeds) != where.size:
            raise InputError(f"{len(seeds)} seeds for {where.size} days")
        numbers = np.array([checked_seed(seed) for seed in seeds], dtype=np.int64)
        self.state = start_days(self.layout.chances, self.layout.order, self.state, where, numbers)
        self._advance(where, np.zeros(where.size))

    def _no_rows(self, rows: object) -> InputError:
        return InputError(f"rows are {rows!r}; they must be integers in [0, {self.days - 1}]")

    def rewind(self) -> None:
        """Start all days again, with the speeds and passengers that they have: as `start`, without the drawing."""
        if (self.state.cursor[:, at.FLEET] == 0).any():
            raise InputError("rewind called before start; start the days first")
        where = np.arange(self.days)
        rewind_days(self.layout.order, self.state, where)
        self._advance(where, np.zeros(where.size))

    def step(self, holding: Any, rows: Sequence[int] | Integers | None = None) -> None:
        """Hold the pending bus of each of `rows` (all pending days by default) and run on to the next decision."""
        where = np.flatnonzero(self.pending) if rows is None else np.asarray(rows)
        try:
            waits = self.pending[where]
        except IndexError:  # not looked for before: a step takes microseconds
            raise self._no_rows(rows) from None
        if not waits.all():
            raise InputError(
                f"days {where[self.pending[where] == 0].tolist()} have no bus that must decide; start them first"
            )
        self._advance(where, checked_holding(holding, where.size, self.layout.least, self.layout.line.holding_limit))

    def observe(self, rows: Integers | None = None) -> seen.Observation:
        """Observation, fields (n,), of the pending buses of `rows` (all pending days by default)."""
        return seen.pending(self.layout, self.state, np.flatnonzero(self.pending) if rows is None else rows)

    def run(self, controller: Controller) -> None:
        """Run all started days to their ends; compiled for a `Rule`, in lockstep for a batched one, else day by day."""
        if not callable(controller):
            raise InputError(f"controller is {controller!r}; it must be callable, see controller_named")
        rows = np.flatnonzero(self.pending)
        if isinstance(controller, Rule):
            parameters = np.array(controller.parameters, dtype=np.float64)
            for first in range(0, rows.size, AT_ONCE):
                few = rows[first : first + AT_ONCE]
                run_days(self.layout.line, self.state, few, controller.number, parameters)
                self.pending[few] = 0
        elif getattr(controller, "batched", False):
            while self.pending.any():
                self.step(controller(self.observe()))
        else:
            for row in rows:
                day = np.array([row])
                while self.pending[row]:
                    self.step(controller(seen.single(self.observe(day))), day)

    def record(self, row: int = 0) -> Record:
        """A copy of what a day has left behind so far."""
        state = self.state
        count = int(state.queues[row, -1, 0])
        return Record(
            layout=self.layout,
            seed=int(state.cursor[row, at.SEED]),
            end=float(max(state.clock[row, [at.NOW, at.END]])),
            fleet=int(state.cursor[row, at.FLEET]),
            visits=state.visits[row].copy(),
            buses=state.trips[row, :, at.BUS].copy(),
            passengers=state.passengers[row, :count].copy(),
            destination=state.bound[row, :count, 0].copy(),
            queue=np.repeat(np.arange(len(state.queues[row]) - 1), np.diff(state.queues[row, :, 0])),
        )

    def _advance(self, rows: Integers, holding: Array) -> None:
        pending = np.zeros(rows.size, dtype=np.int64)
        advance_days(self.layout.line, self.state, rows, holding, pending)
        self.pending[rows] = pending


def simulate(corridor: Corridor, controller: Controller, seed: int = 0, published: bool = False) -> Record:
    """One day."""
    return simulate_days(corridor, controller, [seed], published)[0]


def simulate_days(
    corridor: Corridor, controller: Controller, seeds: Sequence[int], published: bool = False
) -> list[Record]:
    """One day a seed; the same records, bit for bit, as one call a seed."""
    if not hasattr(seeds, "__len__"):
        raise InputError(f"seeds are {seeds!r}; they must be a sequence of integers, one a day")
    simulator = Simulator(corridor, days=len(seeds), published=published)
    simulator.start(seeds)
    simulator.run(controller)
    return [simulator.record(row) for row in range(len(seeds))]
