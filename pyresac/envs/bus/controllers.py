"""Holding controllers. A controller is `controller(observation) -> seconds`: any function or object will do.

`observation` is an `Observation` with scalar fields; seconds outside [0, H_max] or not finite are refused by the
simulator; where `observation.skipping`, [−H_max, 0) passes the next stop. A controller with a true attribute `batched`
also takes an observation whose fields are arrays (n,) and returns (n,) seconds; many days then run in lockstep. The
classical rules below are values: two of the same parameters are equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from pyresac.envs.bus import rules
from pyresac.envs.bus.compiled import HOLDING, compiled, uniform
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.full_observation import COUNT
from pyresac.envs.bus.line import Integers
from pyresac.envs.bus.number_checks import is_number
from pyresac.envs.bus.observation import Observation
from pyresac.errors import InputError


class Controller(Protocol):
    """Anything that gives seconds of holding for an observation."""

    def __call__(self, observation: Observation) -> Any: ...


@compiled
def _holding(
    rule: int,
    p: Array,
    rows: Array,
    headway: float,
    limit: float,
    skipping: bool,
    trip: Integers,
    made: Integers,
    seed: Integers,
) -> Array:
    """(n,) seconds for n visits."""
    result, values = np.empty(rows.shape[0]), np.empty(COUNT)
    for i in range(rows.shape[0]):
        level = uniform(seed[i], HOLDING, trip[i], made[i])
        result[i] = rules.rule_holding(rule, p, rows[i], headway, limit, skipping, made[i], level, values)
    return result


@dataclass(frozen=True)
class Rule:
    """A rule that the simulator also runs compiled, by its number and parameters (see `rules`)."""

    number: ClassVar[int]
    batched: ClassVar[bool] = True

    @property
    def parameters(self) -> tuple[float, ...]:
        """What the compiled formula calls p."""
        return (0.0,)

    def __call__(self, observation: Observation) -> Any:
        """Seconds in [0, H_max], or −H_max to pass the next stop: a float, or (n,) for n observations."""
        fields = [np.atleast_1d(part) for part in (observation.trip, observation.stops_behind, observation.seed)]
        rows = np.atleast_2d(observation.visit)
        limits = observation.headway, observation.holding_limit, observation.skipping
        seconds = _holding(self.number, np.array(self.parameters), rows, *limits, *fields)
        return seconds if np.ndim(observation.visit) == 2 else float(seconds[0])


@dataclass(frozen=True)
class NoHolding(Rule):
    """Leave at once."""

    number: ClassVar[int] = rules.NONE


@dataclass(frozen=True)
class HeadwayEqualising(Rule):
    """clip((hb − hf)/2, 0, H_max): the paper's classical rule."""

    number: ClassVar[int] = rules.HEADWAY


@dataclass(frozen=True)
class TargetHeadway(Rule):
    """clip(slack + gain·(τ − hf), 0, H_max)."""

    slack: float = 0.0
    """s"""
    gain: float = 1.0

    number: ClassVar[int] = rules.TARGET

    def __post_init__(self) -> None:
        _finite("slack", self.slack, -math.inf)
        _finite("gain", self.gain, 0.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        """(slack, gain)."""
        return self.slack, self.gain


@dataclass(frozen=True)
class ForwardHeadway(Rule):
    """Forward-headway control: clip(d + (α + β)·(τ − h), 0, H_max), h the headway of arrivals, β the stop's demand
    rate.

    C. F. Daganzo, A headway-based approach to eliminate bus bunching: systematic analysis and comparisons,
    Transportation Research Part B 43 (2009) 913–921. Where d is large enough to keep the clip from acting, deviations
    of the headway decay by 1 − α a stop.
    """

    slack: float = 20.0
    """d, s"""
    gain: float = 0.5
    """α in [0, 1]."""

    number: ClassVar[int] = rules.FORWARD_HEADWAY

    def __post_init__(self) -> None:
        _finite("slack", self.slack, 0.0)
        _finite("gain", self.gain, 0.0, 1.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        """(d, α)."""
        return self.slack, self.gain


@dataclass(frozen=True)
class SimpleRobust(Rule):
    """The simple control of Xuan et al.: clip(d − (1 + β − f₀)·ε_n + β·ε_{n−1}, 0, H_max), ε delays against a virtual
    schedule.

    Y. Xuan, J. Argote and C. F. Daganzo, Dynamic bus holding strategies for schedule reliability: optimal linear
    control and performance analysis, Transportation Research Part B 45 (2011) 1831–1845: all coefficients but f₀
    zero, so that without the clip ε decays by f₀ a stop. The schedule is the corridor's mean running and dwell times
    plus d at every stop.
    """

    slack: float = 20.0
    """d, s"""
    memory: float = 0.5
    """f₀ in [0, 1): what is left of a delay one stop later."""

    number: ClassVar[int] = rules.SIMPLE

    def __post_init__(self) -> None:
        _finite("slack", self.slack, 0.0)
        _finite("memory", self.memory, 0.0, 1.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        """(d, f₀)."""
        return self.slack, self.memory


@dataclass(frozen=True)
class RandomHolding(Rule):
    """Uniform on [0, H_max], a function of (seed, trip, stop) so that a day can be repeated."""

    number: ClassVar[int] = rules.RANDOM


@dataclass(frozen=True)
class ScheduleHolding(Rule):
    """Holding to a schedule with slack, and foresight: clip(d − g·ε − w·δ, 0, H_max).

    ε is the lateness of the departure against the corridor's schedule plus d at every stop; δ the delay that the next
    link's speed of now foretells. w = 0 is plain schedule-based holding. What slack costs, and how much is best:
    J. Zhao, M. Dessouky and S. Bukkapatnam, Optimal slack time for schedule-based transit operations, Transportation
    Science 40 (2006) 529–539.
    """

    slack: float = 30.0
    """d, s"""
    gain: float = 1.0
    """g in [0, 2]."""
    foresight: float = 0.5
    """w in [0, 1]: the share of the foretold delay that is counted on."""

    number: ClassVar[int] = rules.SCHEDULE

    def __post_init__(self) -> None:
        _finite("slack", self.slack, 0.0)
        _finite("gain", self.gain, 0.0, 2.0)
        _finite("foresight", self.foresight, 0.0, 1.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        """(d, g, w)."""
        return self.slack, self.gain, self.foresight


@dataclass(frozen=True)
class SelfEqualising(Rule):
    """Self-coordinating control: clip(α·h, 0, H_max), h the predicted headway behind, without a schedule or a target
    headway.

    J. J. Bartholdi and D. D. Eisenstein, A self-coördinating bus route to resist bus bunching, Transportation Research
    Part B 46 (2012) 481–491: a bus at a control point waits α of the headway behind it, as `predictions` foretells it.
    """

    share: float = 0.1
    """α in [0, 1]."""

    number: ClassVar[int] = rules.SELF

    def __post_init__(self) -> None:
        _finite("share", self.share, 0.0, 1.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        """(α,)."""
        return (self.share,)


@dataclass(frozen=True)
class PredictionBased(Rule):
    """Prediction-based holding: clip(γ·e, 0, H_max), e the seconds until d₀ + max_k (a_k − d₀)/k.

    S. J. Berrebi, K. E. Watkins and J. A. Laval, A real-time bus dispatching policy to minimize passenger wait on a
    high frequency route, Transportation Research Part B 81 (2015) 377–389. d₀ is the leader's departure, a₁ the own
    end of dwell, a₂ … those predicted of the next trips (`predictions.evening_hold`): the first of the departures of
    least headway variance that these allow. γ = 1 is the paper's rule.
    """

    share: float = 1.0
    """γ in [0, 1]."""

    number: ClassVar[int] = rules.PREDICTIVE

    def __post_init__(self) -> None:
        _finite("share", self.share, 0.0, 1.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        """(γ,)."""
        return (self.share,)


@dataclass(frozen=True)
class TwoWayLooking(Rule):
    """Two-way-looking control: clip(d + f·(τ − hf) + b·(hb − τ), 0, H_max); `headway` is d = 0, f = b = 1/2.

    C. F. Daganzo and J. Pilachowski, Reducing bunching with bus-to-bus cooperation, Transportation Research Part B 45
    (2011) 267–277, where buses change their speeds by both spacings; here the same law sets the holding.
    """

    slack: float = 20.0
    """d, s"""
    forward: float = 0.5
    """f in [0, 2]."""
    backward: float = 0.3
    """b in [0, 2]."""

    number: ClassVar[int] = rules.TWO_WAY

    def __post_init__(self) -> None:
        _finite("slack", self.slack, -math.inf)
        _finite("forward", self.forward, 0.0, 2.0)
        _finite("backward", self.backward, 0.0, 2.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        """(d, f, b)."""
        return self.slack, self.forward, self.backward


@dataclass(frozen=True)
class SkippingRule(Rule):
    """Hold clip(g·(hb − hf)/2, 0, H_max); where a stop may be passed, pass the next one if that is below −s.

    A bus that is further behind its leader than ahead of its follower by more than 2·s/g cannot be held into place; it
    boards nobody at the next stop, after A. Sun and M. Hickman, The real-time stop-skipping problem, Journal of
    Intelligent Transportation Systems 9 (2005) 91–109. Without skipping it is `headway` times g.
    """

    gain: float = 1.0
    """g in [0, 2]."""
    threshold: float = 120.0
    """s, s."""

    number: ClassVar[int] = rules.SKIP

    def __post_init__(self) -> None:
        _finite("gain", self.gain, 0.0, 2.0)
        _finite("threshold", self.threshold, 0.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        """(g, s)."""
        return self.gain, self.threshold


CONTROLLERS: dict[str, type[Rule]] = {
    "none": NoHolding,
    "headway": HeadwayEqualising,
    "target": TargetHeadway,
    "forward": ForwardHeadway,
    "robust": SimpleRobust,
    "random": RandomHolding,
    "schedule": ScheduleHolding,
    "self": SelfEqualising,
    "two-way": TwoWayLooking,
    "predictive": PredictionBased,
    "skip": SkippingRule,
}


def _finite(name: str, value: Any, least: float, most: float = math.inf) -> None:
    number = is_number(value)
    if not number or not (math.isfinite(value) and least <= value <= most):
        given = value if number else repr(value)
        raise InputError(f"{name} is {given}; it must be finite and in [{least:g}, {most:g}]")
