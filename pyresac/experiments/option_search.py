"""Search of one preset's options on one task: `python -m pyresac.experiments tune`, with optuna (extra `optuna`).

Optuna's TPE sampler proposes options; a training run answers with the mean of the last quarter of its evaluations. The
study is a file in the folder of the runs: a search that was killed goes on, its last run from its checkpoint.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyresac.errors import InputError
from pyresac.experiments.deep_runs import cell, curve_of, last_quarter
from pyresac.experiments.experiment import Run
from pyresac.experiments.pool import run_locally
from pyresac.training.agents import agent_module
from pyresac.training.command_line import planned

FORM = "NAME=LOW:HIGH or NAME=LOW:HIGH:log, whole numbers for a whole option, such as critic_lr=1e-4:3e-3:log"


def parsed(text: str) -> tuple[str, tuple[float, float], bool, bool]:
    """Option, range, whether on a logarithmic scale, whether whole. Raises InputError naming what was given."""
    name, _, words = text.partition("=")
    low, _, rest = words.partition(":")
    high, _, scale = rest.partition(":")
    try:
        limits = (float(low), float(high))
    except ValueError:
        raise InputError(f"--search {text!r} cannot be read; it must be {FORM}") from None
    if not name.isidentifier() or not -1e9 <= limits[0] < limits[1] <= 1e9 or scale not in ("", "log"):
        raise InputError(f"--search {text!r} cannot be read; it must be {FORM}")
    if scale and limits[0] <= 0.0:
        raise InputError(f"--search {text!r}: a logarithmic range begins above 0")
    return name, limits, bool(scale), low.lstrip("-").isdecimal() and high.lstrip("-").isdecimal()


def trial_run(settings: Mapping[str, Any], env: str, seed: int, steps: int) -> Run:
    """The run of these options, whose folder is named by them, so that the same proposal is never trained twice."""
    digest = hashlib.sha256(json.dumps(dict(settings), sort_keys=True).encode()).hexdigest()[:12]
    return cell(f"trial {digest}", settings, env, seed, steps, max(1, steps // 20)).run


def tune(
    preset: str,
    env: str,
    search: tuple[str, ...],
    trials: int,
    steps: int,
    seed: int,
    folder: Path,
    shown: Callable[[str], None],
) -> dict[str, Any]:
    """Search until `trials` runs are done; the best options, their score, and every trial.

    Raises InputError without optuna, for a range that cannot be read, or for ends that training refuses.
    """
    try:
        import optuna
    except ImportError as error:
        raise InputError("tune needs optuna: pip install 'pyresac[optuna]'") from error
    ranges = [parsed(text) for text in search]
    names = [name for name, *_ in ranges]
    fixed = trial_run({"preset": preset}, env, seed, steps).options
    for name in names:
        if name in fixed:
            raise InputError(f"--search {name}: every run of a search has the same {name}")
        if names.count(name) > 1:
            raise InputError(f"--search gives {name} more than one range")
    for name, given, least in (("--search", len(ranges), 1), ("--trials", trials, 1), ("--steps", steps, 20)):
        if given < least:
            raise InputError(f"{name} gives {given}; tune needs at least {least}")
    for end in (0, 1):  # both ends of every range must be options of this preset
        ends = {name: int(limits[end]) if whole else limits[end] for name, limits, _, whole in ranges}
        flags = trial_run({"preset": preset, **ends}, env, seed, steps).flags
        name, config = planned(flags)
        agent_module(name).require_use(config, flags)
        unlearned = agent_module(name).unlearned(config)
        if unlearned is not None:
            raise InputError(f"--steps {steps}: {unlearned}")
    folder.mkdir(parents=True, exist_ok=True)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    words = json.dumps([preset, env, sorted(search), steps, seed])
    storage = f"sqlite:///{folder / 'study.db'}"
    study = optuna.create_study(study_name=words, storage=storage, load_if_exists=True, direction="maximize")
    # with the same seed as before, a search that goes on would propose again what it began with
    study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials))
    done = {optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.FAIL}
    for stale in study.get_trials(states=(optuna.trial.TrialState.RUNNING,)):  # its run goes on from its checkpoint
        study.enqueue_trial(stale.params)
        study.tell(stale.number, state=optuna.trial.TrialState.PRUNED)
    while (count := sum(trial.state in done for trial in study.trials)) < trials:
        trial = study.ask()
        settings: dict[str, Any] = {"preset": preset}
        for name, (low, high), log, whole in ranges:
            if whole:
                settings[name] = trial.suggest_int(name, int(low), int(high), log=log)
            else:
                settings[name] = trial.suggest_float(name, low, high, log=log)
        run = trial_run(settings, env, seed, steps)
        failed = run_locally(folder, [run], 1, lambda _: None).failed
        score = None if failed else last_quarter(curve_of(folder, run))
        study.tell(trial, score, state=optuna.trial.TrialState.FAIL if failed else None)
        said = f"failed, see {folder / run.name}.log" if score is None else f"{score:,.4g}"
        shown(f"{count + 1} of {trials}: {said} with {trial.params}")
    found = [{"options": trial.params, "score": trial.value} for trial in study.trials if trial.state in done]
    scores = [one for one in found if one["score"] is not None]
    if not scores:
        raise InputError(f"all {len(found)} runs failed; their logs are in {folder}")
    best = max(scores, key=lambda one: float(one["score"] or 0.0))
    return {"preset": preset, "env": env, "steps": steps, "seed": seed, "best": best, "trials": found}
