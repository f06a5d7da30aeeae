"""How a line is run: its buses, terminals, doors and control points. The defaults leave a day as it always was."""

from __future__ import annotations

from dataclasses import dataclass, fields

from pyresac.envs.bus.number_checks import check_inside, is_whole
from pyresac.errors import InputError

MOST_BUSES = 100_000
LIMITS = {
    "layover": (0.0, 4 * 3600.0),
    "late_share": (0.0, 1.0),
    "late_mean": (0.0, 3600.0),
    "crowding": (0.0, 10.0),
    "patience": (0.0, 24 * 3600.0),
}
LONGEST_LATE = 10.0
"""A late dispatch is at most so many means late."""


@dataclass(frozen=True)
class Operations:
    """Options of a corridor beyond the published model, each off by default."""

    buses: int = 0
    """Buses of the line; a trip without a free bus leaves as soon as one has come in. A bus drives to the other
    terminal empty only when nothing else can happen. 0: as many as the day needs."""
    layover: float = 0.0
    """s that a bus rests at a terminal, at least, before its next trip."""
    late_share: float = 0.0
    """Share of trips whose dispatch is late (driver, vehicle), in [0, 1]."""
    late_mean: float = 0.0
    """Mean of such a lateness, s, exponential, cut at LONGEST_LATE means. J. G. Strathman et al., Automated bus
    dispatching, operations control, and service reliability, Transportation Research Record 1666 (1999) 28–36, find
    departure delay the first cause of delay along the line."""
    open_doors: bool = False
    """Passengers who come while the bus stands board it, until it leaves or is full. Those who come during the dwell
    lengthen it; those who come during a hold do not. Otherwise only those board who were there at its arrival."""
    closed_holds: bool = False
    """With open doors: a held bus has closed them, and who comes during the hold waits for the next one. Passengers
    then board until the bus is ready to leave, as in EXACT (see docs/corridor-validation.md)."""
    control_stops: tuple[str, ...] = ()
    """Stops at which a bus may be held; all without them. M. D. Abkowitz and I. Engelstein, Methods for maintaining
    transit service regularity, Transportation Research Record 961 (1984) 1–8."""
    seats: int = 0
    """Seats; with more passengers on board than that, boarding takes longer by `crowding`."""
    crowding: float = 0.0
    """Share by which boarding takes longer on a bus with standing passengers. Transit Capacity and Quality of Service
    Manual, third edition (TCRP Report 165, 2013), chapter 6: about 0.2."""
    in_order: bool = False
    """Buses of a direction do not overtake: none comes to a stop or leaves it before its leader. W. Wu, R. Liu and
    W. Jin, Modelling bus bunching and holding control with vehicle overtaking and distributed passenger boarding
    behaviour, Transportation Research Part B 104 (2017) 175–197, show what overtaking changes."""
    berths: int = 0
    """Buses that can stand at a stop of one direction; those that come later wait before it, in order, and buses leave
    it in order (on-line loading areas of the same Manual, chapter 6). 0: any number."""
    patience: float = 0.0
    """Mean of the exponential time after which a waiting passenger gives up, s; 0: never. Such a passenger is not
    served, and is counted so. C. Palm's impatient customers: Research on telephone traffic carried by full availability
    groups, Tele 1 (1957) 1–107."""
    advice: bool = False
    """The seconds asked of a bus are spent driving slower on the next link, not standing: C. F. Daganzo and
    J. Pilachowski, Reducing bunching with bus-to-bus cooperation, Transportation Research Part B 45 (2011) 267–277."""
    skipping: bool = False
    """A bus may be told to pass its next stop (a negative number of seconds): it boards nobody there, and stands only
    to let off those who are bound for it, whom it never carries on. A. Sun and M. Hickman, The real-time stop-skipping
    problem, Journal of Intelligent Transportation Systems 9 (2005) 91–109; V.-L. Saw and L. Y. Chew, No-boarding buses,
    arXiv:1905.07613. A stop is not passed by two buses in a row, nor the trip's last one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "control_stops", tuple(self.control_stops))
        for name in ("buses", "seats", "berths"):
            value = getattr(self, name)
            if not is_whole(value) or not 0 <= value <= MOST_BUSES:
                raise InputError(f"operations.{name} is {value!r}; it must be an integer from 0 to {MOST_BUSES}")
        for name, (least, most) in LIMITS.items():
            check_inside(f"operations.{name}", getattr(self, name), least, most)
        for name in ("open_doors", "closed_holds", "in_order", "advice", "skipping"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"operations.{name} is {getattr(self, name)!r}; it must be true or false")
        if not all(isinstance(stop, str) for stop in self.control_stops):
            raise InputError(f"operations.control_stops are {self.control_stops!r}; they must be names of stops")

    @property
    def ordered(self) -> bool:
        """Whether buses keep their order: asked for, or since a queue before a stop does."""
        return self.in_order or self.berths > 0

    @property
    def latest(self) -> float:
        """s: the longest lateness of a dispatch that is not for want of a bus."""
        return LONGEST_LATE * self.late_mean if self.late_share > 0.0 else 0.0


NAMES = tuple(field.name for field in fields(Operations))
