"""Holding rules, compiled. Each formula stands here once; `controllers` and `parametric` give them names.

x is a visit's row (columns of `state`), p the rule's parameters, H the scheduled headway; the caller clips to [0,
H_max].
"""

from __future__ import annotations

import math

import numpy as np

from pyresac.envs.bus import state as at
from pyresac.envs.bus.compiled import HOLDING, borrowing, compiled, uniform
from pyresac.envs.bus.corridor import Array
from pyresac.envs.bus.full_observation import COUNT, SCALES, fill_features
from pyresac.envs.bus.kernel import act, advance
from pyresac.envs.bus.line import FIRST, Integers, Line
from pyresac.envs.bus.state import State, day_of

NONE, HEADWAY, TARGET, FORWARD_HEADWAY, SIMPLE, RANDOM, SCHEDULE, LINEAR, NETWORK, SELF, TWO_WAY, PREDICTIVE, SKIP = (
    range(13)
)


@borrowing
def fill_deviations(x: Array, made: int, headway: float, values: Array) -> None:
    """The features of a decision into values (COUNT,), the two headways as their excess over the scheduled one."""
    fill_features(x, made, False, values)
    values[0] -= headway
    values[1] -= headway


@borrowing
def linear(p: Array, values: Array) -> float:
    """p₀ + Σ p_{k+1}·f_k, in s."""
    total = 0.0
    for k in range(values.size):
        total += p[1 + k] * values[k]
    return float(p[0] + total)


@borrowing
def network(p: Array, values: Array) -> float:
    """b + Σ_j v_j·tanh(c_j + Σ_k w_jk·f_k/scale_k), in s; p = (b, then v_j, c_j, w_j· of each unit j)."""
    result, width = p[0], COUNT + 2
    for j in range((p.size - 1) // width):
        unit, total = p[1 + j * width : 1 + (j + 1) * width], 0.0
        for k in range(COUNT):
            total += unit[2 + k] * (values[k] / SCALES[k])
        result += unit[0] * math.tanh(unit[1] + total)
    return float(result)


@borrowing
def rule_holding(
    rule: int,
    p: Array,
    x: Array,
    headway: float,
    limit: float,
    skipping: bool,
    made: int,
    level: float,
    values: Array,
) -> float:
    """Seconds of holding, in [0, limit], or −limit to pass the next stop where `skipping` allows it, `made` stops after
    the trip's first; `level` is a uniform number in (0, 1) for the random rule, values (COUNT,) room to work in."""
    holding = 0.0
    if rule == HEADWAY:
        # half the difference of the headways: holding h moves both by h, in opposite ways
        holding = (x[at.BACKWARD] - x[at.FORWARD]) / 2.0
    elif rule == TARGET:
        # slack + g·(H − hf)
        holding = p[0] + p[1] * (headway - x[at.FORWARD])
    elif rule == FORWARD_HEADWAY:
        # Daganzo (2009): D = d + (α + β)·(H − h), h the headway of the arrivals at the stop
        holding = p[0] + (p[1] + x[at.PRESSURE]) * (headway - x[at.SPACING])
    elif rule == SIMPLE:
        # Xuan, Argote and Daganzo (2011): D = d − (1 + β − f₀)·ε_n + β·ε_{n−1}, ε against a schedule with slack d a
        # stop
        slack = p[0] * (made - 1)
        own, leader = x[at.LATENESS] - slack, x[at.LEADER_LATENESS] - slack
        holding = p[0] - (1.0 + x[at.PRESSURE] - p[1]) * own + x[at.PRESSURE] * leader
    elif rule == RANDOM:
        holding = limit * level
    elif rule == SCHEDULE:
        # D = d − g·ε − w·δ: ε the lateness of the departure against a schedule with slack d a stop, δ the next link's
        # expected delay
        holding = p[0] - p[1] * (x[at.LATE] - p[0] * (made - 1)) - p[2] * x[at.LINK_DELAY]
    elif rule == SELF:
        # Bartholdi and Eisenstein (2012): D = α·h, h the predicted headway of the follower
        holding = p[0] * x[at.BEHIND]
    elif rule == TWO_WAY:
        # Daganzo and Pilachowski (2011): D = d + f·(H − hf) + b·(hb − H)
        holding = p[0] + p[1] * (headway - x[at.FORWARD]) + p[2] * (x[at.BACKWARD] - headway)
    elif rule == PREDICTIVE:
        # Berrebi, Watkins and Laval (2015): until the headway is the largest mean of the next ones
        holding = p[0] * x[at.EVENS]
    elif rule == SKIP:
        # g·(hb − hf)/2 as holding; a bus that would have to gain more than s passes the next stop
        holding = p[0] * (x[at.BACKWARD] - x[at.FORWARD]) / 2.0
        if skipping and holding < -p[1]:
            return -limit
    elif rule == LINEAR:
        fill_deviations(x, made, headway, values)
        holding = linear(p, values)
    elif rule == NETWORK:
        fill_deviations(x, made, headway, values)
        holding = network(p, values)
    return min(max(holding, 0.0), limit)


@compiled
def run_days(line: Line, state: State, rows: Integers, rule: int, parameters: Array) -> None:
    """Run the days of `rows` to their ends under one rule."""
    values = np.empty(COUNT)
    for index in range(rows.size):
        day = day_of(state, rows[index])
        while advance(line, day):
            bus = day.cursor[at.PENDING]
            trip, place = day.buses[bus, at.TRIP], day.buses[bus, at.PLACE]
            made = place - line.plan[trip, FIRST]
            level = uniform(day.cursor[at.SEED], HOLDING, trip, made)
            row = day.visits[trip, place]
            limits = line.headway, line.holding_limit, line.skipping
            act(line, day, rule_holding(rule, parameters, row, *limits, made, level, values))
