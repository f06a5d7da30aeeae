"""Days as episodes of decisions: the engine that the Gymnasium, vector and PettingZoo views share.

**Whose reward.** A decision of a bus is rewarded, and succeeded, by the same bus's next one on the same trip: other
buses decide in between. Completed transitions (s, a, r, s′, terminal) put that right. At a decision of a trip, the
transition from the trip's previous decision is complete: r is the reward of the headways met there, s′ the new
observation. When a trip ends, the one from its last decision is: r is the reward of the headways met at the last
stop, s′ the observation there (its next link's speed is 0), and terminal is true, since holding can do no more for
this trip and the bus's next one starts by the timetable; nothing is bootstrapped from there. Every decision gives
exactly one transition. Where an objective shares what neighbours earn, a trip's last transition waits for the end of
its follower's trip, so that what holding does to the follower is counted to its end.

**Form.** `Transitions` holds arrays ready for a replay buffer: with the paper's observation, continuous (m, 3) float32
(hf in s, hb in s, next link's speed in m/s), categorical (m, 4) int64 (bus, stop, direction, period, each below its
cardinality, to be embedded); with the published one, continuous (m, 7 + links) and categorical (m, 0). Action (m, 1)
float32, in seconds whatever the action space; reward (m,) float32; terminal (m,) bool; day, trip and place (m,) int64
say where.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pyresac.envs.bus import observation as seen
from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import EPISODE, compiled, hashed
from pyresac.envs.bus.corridor import Array, Corridor
from pyresac.envs.bus.day import START
from pyresac.envs.bus.default import default_corridor
from pyresac.envs.bus.line import FOLLOWER, LAST, LEADER, Integers, Line
from pyresac.envs.bus.objectives import (
    PassengerTime,
    earned_beside,
    objective_named,
    owed,
    paid_behind,
    ready,
    visit_costs,
)
from pyresac.envs.bus.simulator import Simulator, checked_seed
from pyresac.envs.bus.state import State
from pyresac.errors import InputError

Form: TypeAlias = Literal["paper", "full", "published"]
FORMS: tuple[Form, ...] = ("paper", "full", "published")
BOUNDS = {"paper": seen.paper_bounds, "full": seen.full_bounds, "published": seen.published_bounds}


class Transitions(NamedTuple):
    """m completed transitions, in order of completion within a day; see the module's text."""

    continuous: NDArray[np.float32]
    categorical: NDArray[np.int64]
    action: NDArray[np.float32]
    reward: NDArray[np.float32]
    next_continuous: NDArray[np.float32]
    next_categorical: NDArray[np.int64]
    terminal: NDArray[np.bool_]
    day: NDArray[np.int64]
    trip: NDArray[np.int64]
    place: NDArray[np.int64]


@compiled
def day_seed(base: int, episode: int) -> np.int64:
    """Seed of the n-th day after a reset with seed `base`: `base` itself first, then hashes of both, in [0, 2⁶³)."""
    if episode == 0:
        return np.int64(base)
    return np.int64(hashed(base, EPISODE, episode, 0) >> np.uint64(1))


@compiled
def completed(
    line: Line,
    cursor: Integers,
    log: Integers,
    visits: Array,
    collected: Integers,
    waits: bool,
    before: Integers,
    after: Integers,
) -> int:
    """Walk each log on from `collected` to its end; (day, trip, place) of both ends of each transition; how many
    there are. waits: a trip's last transition is complete only when its follower's trip has ended too."""
    count, places = 0, visits.shape[2]
    for day in range(cursor.shape[0]):
        for entry in range(collected[day], cursor[day, at.LOGGED]):
            trip, place = log[day, entry] // places, log[day, entry] % places
            leader, follower = line.plan[trip, LEADER], line.plan[trip, FOLLOWER]
            ends = waits and place == line.plan[trip, LAST]
            # of two trips the one that ends last completes the pair; a trip that has not ended is NaN
            mine = not ends or follower < 0 or ready(visits, day, follower, place) < ready(visits, day, trip, place)
            its = ends and leader >= 0 and ready(visits, day, leader, place) <= ready(visits, day, trip, place)
            for one, due in ((leader, its), (trip, mine)):
                prior = int(visits[day, one, place, at.PRIOR]) if due else -1
                if prior >= 0:
                    before[count, 0], before[count, 1], before[count, 2] = day, one, prior
                    after[count, 0], after[count, 1], after[count, 2] = day, one, place
                    count += 1
        collected[day] = cursor[day, at.LOGGED]
    return count


class Episodes:
    """n days side by side, each from decision to decision, with what has been completed since the last call."""

    def __init__(
        self, corridor: Corridor | None, days: int, form: Form, published: bool, objective: str = "reward"
    ) -> None:
        if form not in FORMS:
            raise InputError(f"observation is {form!r}; it must be one of {list(FORMS)}")
        self.simulator = Simulator(default_corridor() if corridor is None else corridor, days, published)
        self.layout = self.simulator.layout
        self.form: Form = form
        self.low, self.high = BOUNDS[form](self.layout)
        self.worth = objective_named(objective)
        if self.worth.shares and self.layout.line.short:
            raise InputError(
                f"objective {objective!r} shares what neighbours earn, and {self.simulator.layout.corridor.name!r} has "
                f"short turns, whose neighbours change along the line; take one without followers and neighbours"
            )
        self.base = np.zeros(days, dtype=np.int64)
        """(n,) seeds given at the last reset with a seed."""
        self.episode = np.full(days, -1, dtype=np.int64)
        """(n,) days begun since then, less one."""
        self._collected = np.zeros(days, dtype=np.int64)
        self._charged, self._due = np.zeros(days), np.zeros(days)  # cost before and after the last step

    @property
    def coded(self) -> bool:
        """True where an observation has a categorical part beside the continuous one."""
        return self.form != "published"

    @property
    def limit(self) -> float:
        """H_max, s."""
        return self.layout.line.holding_limit

    @property
    def least(self) -> float:
        """The least action, s: −H_max where a negative one passes the next stop, else 0."""
        return self.layout.least

    def begin(self, rows: Integers, seeds: list[int] | None) -> None:
        """Begin a day in each of `rows`: of these seeds, or the next of the current ones."""
        if seeds is not None:
            self.base[rows] = [checked_seed(seed) for seed in seeds]
            self.episode[rows] = 0
        else:
            self.episode[rows] += 1
        pairs = zip(self.base[rows], self.episode[rows], strict=True)
        numbers = [int(day_seed(base, episode)) for base, episode in pairs]
        self.simulator.start(numbers, rows)
        empty = rows[self.simulator.pending[rows] == 0]
        if empty.size:
            name = self.layout.corridor.name
            raise InputError(f"corridor {name!r} has a day without a decision: no bus has a leader or a follower")
        self._collected[rows] = 0
        self._charged[rows], self._due[rows] = 0.0, 0.0

    def act(self, seconds: Array, rows: Integers) -> None:
        """Hold the pending buses of `rows`, clipped to [least, H_max]; InputError for NaN and infinities."""
        wrong = np.flatnonzero(~np.isfinite(seconds))
        if wrong.size:
            raise InputError(f"action {wrong[0]} is {seconds[wrong[0]]}; it must be a finite number of seconds")
        self.simulator.step(np.clip(seconds, self.least, self.limit), rows)
        if isinstance(self.worth, PassengerTime):
            self._charge(self.worth, rows)

    def observe(self) -> tuple[seen.Numbers, Integers]:
        """(continuous, categorical) of all days: of the pending decision, or of the day's last visit once it has
        ended."""
        return self._parts(self._latest())

    def rewards(self) -> Array:
        """(n,) reward that the pending decision completes; 0 at a trip's first decision and after the end of a day.

        Of passengers' time: what the last step has cost, the morning before the first decision included.
        """
        if isinstance(self.worth, PassengerTime):
            return self._charged - self._due
        day, trip, place = self._latest().T
        visit = self.simulator.state.visits[day, trip, place]
        earned = (self.simulator.pending == 1) & (visit[:, at.PRIOR] >= 0)
        return np.where(earned, visit[:, at.REWARD], 0.0)

    def collect(self) -> Transitions:
        """Transitions completed since the last call."""
        state = self.simulator.state
        room = int((state.cursor[:, at.LOGGED] - self._collected).sum())
        # the end of a trip may complete its leader's too
        before, after = np.empty((2 * room, 3), dtype=np.int64), np.empty((2 * room, 3), dtype=np.int64)
        days = state.cursor, state.log, state.visits, self._collected
        count = completed(self.layout.line, *days, self.worth.shares, before, after)
        return self._transitions(before[:count], after[:count])

    def get_state(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on exactly, as named arrays (copies)."""
        arrays = {f"day.{name}": array.copy() for name, array in self.simulator.state._asdict().items()}
        own: dict[str, NDArray[Any]] = {"pending": self.simulator.pending, "base": self.base, "episode": self.episode}
        own |= {"collected": self._collected, "charged": self._charged, "due": self._due}
        return arrays | {name: array.copy() for name, array in own.items()}

    def set_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from `get_state` of the same corridor and number of days; InputError naming what does not fit."""
        expected = self.get_state()
        if set(arrays) != set(expected):
            raise InputError(f"the state has arrays {sorted(arrays)}; expected {sorted(expected)}")
        grows = ("day.passengers", "day.bound")
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray):
                raise InputError(f"state array {name} is a {type(array).__name__}; expected a NumPy array")
            same = [size for axis, size in enumerate(array.shape) if not (name in grows and axis == 1)]
            wanted = [size for axis, size in enumerate(expected[name].shape) if not (name in grows and axis == 1)]
            if same != wanted or array.dtype != expected[name].dtype:
                kind = f"{expected[name].dtype}{expected[name].shape}"
                raise InputError(f"state array {name} is {array.dtype}{array.shape}; expected {kind}")
        if arrays["day.queues"][..., START].max() > arrays["day.passengers"].shape[1]:
            raise InputError("state array day.queues points past the end of day.passengers")
        self.simulator.state = State(**{name: arrays[f"day.{name}"].copy() for name in State._fields})
        self.simulator.pending = arrays["pending"].copy()
        self.base, self.episode = arrays["base"].copy(), arrays["episode"].copy()
        self._collected = arrays["collected"].copy()
        self._charged, self._due = arrays["charged"].copy(), arrays["due"].copy()

    def _charge(self, worth: PassengerTime, rows: Integers) -> None:
        state = self.simulator.state
        self._charged[rows] = self._due[rows]
        self._due[rows] = worth.so_far(state.clock[rows])
        for row in rows[self.simulator.pending[rows] == 0]:
            count = state.queues[row, -1, START]
            end = float(state.clock[row, [at.NOW, at.END]].max())
            self._due[row] += owed(state.passengers[row, :count], end)

    def _latest(self) -> Integers:
        """(n, 3) day, trip and place of the last entry of each log."""
        cursor, log = self.simulator.state.cursor, self.simulator.state.log
        days = np.arange(self.simulator.days)
        trip, place = np.divmod(log[days, cursor[:, at.LOGGED] - 1], self.layout.places)
        return np.stack([days, trip, place], axis=1)

    def _parts(self, at_visit: Integers) -> tuple[seen.Numbers, Integers]:
        state, line, route = self.simulator.state, self.layout.line, self.layout.route
        count, coded = len(at_visit), self.coded
        numbers = np.empty((count, len(self.low)), dtype=np.float32)
        categories = np.empty((count, len(seen.CATEGORICAL) if coded else 0), dtype=np.int64)
        if coded:
            fill = seen.fill_paper if self.form == "paper" else seen.fill_full
            fill(state.visits, state.trips, line, route, at_visit, numbers, categories)
        else:
            seen.fill_published(state.visits, state.trips, line, route, at_visit, state.speeds, numbers)
        return np.clip(numbers, self.low, self.high, out=numbers), categories

    def _earned(self, before: Integers, after: Integers) -> Array:
        """(m,) rewards of transitions between two visits of a trip."""
        visits = self.simulator.state.visits
        if isinstance(self.worth, PassengerTime):
            costs = visit_costs(visits, before, after, self.worth.vehicle_hour, self.worth.denied)
            if self.worth.followers:
                costs += self.worth.followers * paid_behind(self.layout.line, visits, before, after)
            return -costs
        earned = np.asarray(visits[after[:, 0], after[:, 1], after[:, 2], at.REWARD])
        if self.worth.neighbours:
            earned += self.worth.neighbours * earned_beside(self.layout.line, visits, before, after)
        return earned

    def _transitions(self, before: Integers, after: Integers) -> Transitions:
        numbers, categories = self._parts(np.concatenate([before, after]))
        count, visits = len(before), self.simulator.state.visits
        day, trip, place = after.T
        return Transitions(
            continuous=numbers[:count],
            categorical=categories[:count],
            action=visits[day, trip, before[:, 2], at.ACTION].astype(np.float32)[:, None],
            reward=self._earned(before, after).astype(np.float32),
            next_continuous=numbers[count:],
            next_categorical=categories[count:],
            terminal=place == self.layout.line.plan[trip, LAST],
            day=day,
            trip=trip,
            place=before[:, 2],
        )
