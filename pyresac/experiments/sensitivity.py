"""One setting at a time around a base, and λ_epi × λ_ale: table 3 and the text's findings on it.

The paper's tasks at the scale `paper`, with its B0 as the base; at the smaller scales the corridor, where a run takes a
minute, with the corridor's own settings as the base.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import f_oneway

from pyresac.experiments.deep_runs import Cell, cell, last_quarters, mean_cell, seeds_at
from pyresac.experiments.experiment import Finding, Measures, Outcome, Run, Scale, Table, decided

RUNS_IN = "sensitivity"
CORRIDOR = "corridor"
TASKS: Mapping[Scale, tuple[str, ...]] = {
    "smoke": (CORRIDOR,),
    "cpu": (CORRIDOR,),
    "paper": ("Ant-v5", "HalfCheetah-v5"),
}
STEPS: Mapping[Scale, int] = {"smoke": 8_000, "cpu": 40_000, "paper": 8_000_000}
EVERY: Mapping[Scale, int] = {"smoke": 4_000, "cpu": 4_000, "paper": 40_000}
SWEEPS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "K": {str(k): {"ensemble_size": k} for k in (2, 5, 10, 20)},
    "λ_anc": {f"{weight:g}": {"anchor_weight": weight} for weight in (0.0, 0.001, 0.01, 0.1, 0.5, 1.0)},
    "β_end": {f"{beta:g}": {"beta_lcb_end": beta} for beta in (-2.0, -1.5, -1.0, -0.5, 0.0)},
    "α_ind": {f"{share:g}": {"independence": share} for share in (0.0, 0.25, 0.5, 0.75, 1.0)},
    # 0 is the policy itself, without averaging
    "τ_ema": {f"{rate:g}": {"ema_rate": rate if rate else 1.0} for rate in (0.0, 0.001, 0.005, 0.01, 0.05)},
    "λ_epi × λ_ale": {
        f"{epi:g}, {ale:g}": {"lambda_epi": epi, "lambda_ale": ale}
        for epi in (0.0, 0.01, 0.1)
        for ale in (0.0, 1e-4, 1e-3)
    },
}
"""Options that are varied one at a time, and their values; the base has one value of each."""
SMOKE = {"K": ("2", "5")}
"""What the smallest scale tries."""
PAPER = {
    "Ant-v5": {
        "K": ("diverged", "4376 ± 6200", "6639 ± 9416", "11620 ± 8917"),
        "λ_anc": ("8350 ± 11828", "6458 ± 9152", "9103 ± 9280", "7310 ± 10360", "4869 ± 6899", "20167 ± 1750"),
        "β_end": ("8502 ± 12044", "7981 ± 11114", "3899 ± 5530", "8440 ± 11946", "12866 ± 9168"),
        "α_ind": ("15260 ± 3492", "10307 ± 7611", "8965 ± 6824", "7613 ± 10790", "-12 ± 7"),
        "τ_ema": ("1301 ± 1851", "4953 ± 7014", "5341 ± 7576", "7764 ± 10990", "11883 ± 9261"),
    },
    "HalfCheetah-v5": {
        "K": ("diverged", "18611 ± 3642", "16274 ± 5659", "14636 ± 1914"),
        "λ_anc": ("16636 ± 1830", "16886 ± 3205", "16639 ± 2633", "13643 ± 2084", "16798 ± 5905", "13000 ± 3729"),
        "β_end": ("16787 ± 2982", "17027 ± 5728", "17802 ± 4644", "16990 ± 5693", "16386 ± 4746"),
        "α_ind": ("6138 ± 4350", "8358 ± 2203", "11089 ± 2797", "13697 ± 2259", "15706 ± 5935"),
        "τ_ema": ("8279 ± 6379", "8369 ± 1749", "16530 ± 3567", "14500 ± 57", "15918 ± 521"),
    },
}
"""Table 3: returns of up to 5,000 steps after 8M on Brax, three seeds."""


def cells(scale: Scale) -> list[tuple[str, str, Cell]]:
    """(sweep, value, run); equal settings of two sweeps are two runs."""
    found = []
    for task in TASKS[scale]:
        base = {"preset": "default", "algorithm": "resac"} if task == CORRIDOR else {"preset": "resac-b0"}
        for sweep, values in SWEEPS.items():
            for value, settings in values.items():
                if scale == "smoke" and value not in SMOKE.get(sweep, ()):
                    continue
                own = dict(settings)
                if "beta_lcb_end" in own:
                    own["beta_steps"] = STEPS[scale]
                label = f"{_ascii(sweep)}={value}"
                for seed in seeds_at(scale):
                    one = cell(label, {**base, **own}, task, seed, STEPS[scale], EVERY[scale])
                    found.append((sweep, value, one))
    return found


def _ascii(sweep: str) -> str:
    names = {"λ_anc": "anchor", "β_end": "beta", "α_ind": "independence", "τ_ema": "ema", "λ_epi × λ_ale": "lambdas"}
    return names.get(sweep, sweep)


def runs(scale: Scale) -> list[Run]:
    """See `Experiment`."""
    return [one.run for _, _, one in cells(scale)]


def measures(folder: Path, scale: Scale, runs: Sequence[Run]) -> Measures:
    """See `Experiment`: a run's final return."""
    return last_quarters(folder, runs)


def conclude(measures: Measures, scale: Scale, figures: Path) -> Outcome:
    """See `Experiment`."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    missing: dict[str, dict[str, list[str]]] = {}
    for sweep, value, one in cells(scale):
        if one.run.name in measures:
            own = found.setdefault(one.task, {}).setdefault(sweep, {}).setdefault(value, [])
            own.append(measures[one.run.name])
        else:
            missing.setdefault(one.task, {}).setdefault(sweep, []).append(value)
    tables = []
    for task, sweeps in found.items():
        for sweep, values in sweeps.items():
            paper = PAPER.get(task, {}).get(sweep, ())
            given = dict(zip(SWEEPS[sweep], paper, strict=False))
            rows = [(value, (mean_cell(scores, 0),)) for value, scores in values.items()]
            theirs = {value: (given[value],) for value in values if value in given}
            tables.append(Table(f"{task}: {sweep}", ("return, mean over seeds [95 %]",), rows, theirs))
    return Outcome(_findings(found, missing), tables)


ANT, CHEETAH = "Ant-v5", "HalfCheetah-v5"
COLLAPSES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("K", "2", "K = 2 diverges (finding i)", (ANT, CHEETAH)),
    ("τ_ema", "0", "Without averaging of the policy training collapses, on HalfCheetah (finding ii)", (CHEETAH,)),
    ("α_ind", "1", "Independent targets collapse, on Ant (finding iii)", (ANT,)),
)
STEADY = ("λ_anc", "1", "λ_anc = 1 is the steadiest over seeds, on Ant (finding iv)", (ANT,))
ALIKE = ("β_end", "All values of β_end are within one deviation of each other, on Ant (finding v)", (ANT,))
"""The sweep, the value, the claim and its tasks; where none of those was run, the tasks that were decide."""
Returns: TypeAlias = Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]
"""By task, sweep and value, the final return of every seed."""
Missing: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
"""By task and sweep, the values of the runs that are not there."""
Seen: TypeAlias = dict[str, tuple[int, str]]
"""By task, which side it takes, and what is seen there (`decided`)."""


def _findings(found: Returns, missing: Missing) -> list[Finding]:
    collapses = [_collapse(sweep, value, claim, on, found, missing) for sweep, value, claim, on in COLLAPSES]
    return [*collapses, _steadiest(found), _alike(found)]


def _collapse(sweep: str, value: str, claim: str, tasks: Sequence[str], found: Returns, missing: Missing) -> Finding:
    """A value collapses if it falls short of the mean of all others by more than half of that mean's size.

    On HalfCheetah, where 0 is doing nothing, it then earns less than half. A run that did not finish has diverged.
    """
    seen: Seen = {}
    for task, sweeps in found.items():
        values = sweeps.get(sweep, {})
        others = [float(np.mean(scores)) for name, scores in values.items() if name != value]
        if values.keys() == SWEEPS[sweep].keys():
            own = float(np.mean(values[value]))
            mean = float(np.mean(others))
            side = 1 if own < mean - abs(mean) / 2 else -1
            seen[task] = side, f"{own:,.0f}; the others {min(others):,.0f} to {max(others):,.0f}"
        elif set(missing.get(task, {}).get(sweep, ())) == {value}:
            seen[task] = 1, "its runs did not finish"
    return decided(claim, tasks, seen)


def _steadiest(found: Returns) -> Finding:
    """A value is the steadiest if its deviation over seeds is below half of every other's.

    It is not if another's is below half of its own. Deviations of three seeds differ by such factors by chance.
    """
    sweep, value, claim, tasks = STEADY
    seen: Seen = {}
    for task, sweeps in found.items():
        spread = {name: float(np.std(scores)) for name, scores in sweeps.get(sweep, {}).items() if len(scores) > 1}
        own = spread.pop(value, None)
        if own is not None and len(spread) == len(SWEEPS[sweep]) - 1:
            least = min(spread.values())
            side = 1 if own < least / 2 else -1 if least < own / 2 else 0
            seen[task] = side, f"deviation {own:,.0f}; the others {least:,.0f} to {max(spread.values()):,.0f}"
    return decided(claim, tasks, seen)


def _alike(found: Returns) -> Finding:
    """Means are alike if all lie within the deviation over seeds, the root of the values' mean variance.

    They are not if they differ by more than chance explains (F test at 5 %): the means of three equal seeds often lie
    further apart than one deviation.
    """
    sweep, claim, tasks = ALIKE
    seen: Seen = {}
    for task, sweeps in found.items():
        values = [scores for scores in sweeps.get(sweep, {}).values() if len(scores) > 1]
        if len(values) == len(SWEEPS[sweep]):
            means = [float(np.mean(scores)) for scores in values]
            deviation = float(np.sqrt(np.mean([np.var(scores) for scores in values])))
            chance = float(f_oneway(*values).pvalue)
            side = 1 if max(means) - min(means) <= deviation else -1 if chance < 0.05 else 0
            seen[task] = side, f"means from {min(means):,.0f} to {max(means):,.0f}, deviation {deviation:,.0f}"
    return decided(claim, tasks, seen)
