"""What the tables are made of: each measure beside a loop over numbers that are known, and verdicts both ways."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from pyresac.deep.learner import Learner
from pyresac.deep.replay import Batch
from pyresac.errors import InputError
from pyresac.experiments import deep_runs, nonstationary, oracle, returns, uncertainty
from pyresac.experiments.experiment import Run
from pyresac.figures.training import RETURN
from pyresac.tasks.task import Played
from pyresac.tasks.variation import Variation

STATES = np.arange(7, dtype=np.float32)[:, None]
"""Of seven decisions."""
ACTIONS = 10.0 * STATES
EARNED = np.array([1.0, 5.0, 2.0, 0.0, 3.0, 9.0, 4.0])
SCALE = 0.5


def heads_at(state: float, action: float) -> list[float]:
    """What three critics say, in scaled rewards."""
    return [state + 0.01 * action, 2.0 * state, 3.0 - state]


def run_of(returns_: list[float], played_with: list[Any] | None = None) -> Any:
    """Stands for a finished run, whose seven decisions are those above."""
    played = Played({"return": np.array(returns_)}, STATES, np.empty((7, 0), np.int64), ACTIONS, EARNED)

    def values(state: Tensor, unit: Tensor) -> Tensor:
        rows = [heads_at(float(s), float(a)) for s, a in zip(state[:, 0], unit[:, 0], strict=True)]
        return torch.tensor(rows).T

    def play(*given: Any) -> Played:
        if played_with is not None:
            played_with.extend(given)
        return played

    trainee = SimpleNamespace(
        features=lambda dense, codes: torch.from_numpy(dense), learner=SimpleNamespace(values=values), play=play
    )
    problem = SimpleNamespace(env="Some-v0", keywords=dict, variation=Variation(gravity="2"))
    config = SimpleNamespace(options=SimpleNamespace(reward_scale=SCALE), problem=problem)
    return SimpleNamespace(trainee=trainee, config=config, actor="the actor", play=play)


def test_values_are_in_the_tasks_rewards_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [
        [value / SCALE for value in heads_at(float(s), float(a))]
        for s, a in zip(STATES[:, 0], ACTIONS[:, 0], strict=True)
    ]
    run = run_of([0.0])
    for block in (3, 7, 100):
        monkeypatch.setattr(oracle, "BLOCK", block)
        found = oracle.values_of(run, run.play())
        assert found.tolist() == [pytest.approx([row[k] for row in expected], rel=1e-6, abs=0) for k in range(3)]


def test_oracle_errors_come_raw_and_aligned() -> None:
    raw, under_map = oracle.both_errors(run_of([0.0]), 50)
    heads = oracle.values_of(run_of([0.0]), run_of([0.0]).play())
    nearest = [min(abs(heads[k, i] - EARNED[i]) for k in range(3)) for i in range(7)]
    assert raw.oracle == pytest.approx(sum(nearest) / 7.0)
    assert raw.bias == pytest.approx(float(heads.mean() - EARNED.mean()))
    assert under_map.bias == pytest.approx(0.0, abs=1e-12)
    assert abs(raw.bias) > 1.0


def oracle_cells(aligned: float) -> dict[str, list[dict[str, float]]]:
    """Of three seeds around an aligned error; the raw ones say the contrary."""
    seeds = [{"oracle": aligned + shift} for shift in (-0.2, 0.0, 0.2)]
    return {"aligned": seeds, "raw": [{"oracle": -aligned}] * 3}


@pytest.mark.parametrize(
    ("ours", "verdict"), [(1.0, "reproduces"), (3.0, "does not reproduce"), (2.1, "undecided"), (1.9, "undecided")]
)
def test_the_lowest_oracle_error_decides_where_it_surely_is_the_lowest(ours: float, verdict: str) -> None:
    found = {"RE-SAC v1": oracle_cells(ours), "SAC": oracle_cells(2.0), "TD3": oracle_cells(5.0)}
    (finding,) = oracle._findings({"Hopper-v5": found})
    assert finding.verdict == verdict
    assert f"RE-SAC v1 {ours:.1f}, the least of the others SAC 2.0" in finding.found


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ((1.0, 1.0, 1.0, 3.0), "reproduces"),  # three of four, as the claim says
        ((1.0, 1.0, 3.0, 3.0), "does not reproduce"),
        ((1.0, 1.0, 2.0, 3.0), "undecided"),
        ((1.0, 3.0), "does not reproduce"),
    ],
)
def test_three_of_four_tasks_are_enough(errors: tuple[float, ...], verdict: str) -> None:
    numbers = {f"task {n}": {"RE-SAC v1": oracle_cells(e), "SAC": oracle_cells(2.0)} for n, e in enumerate(errors)}
    assert oracle._findings(numbers)[0].verdict == verdict


def test_the_papers_own_oracle_errors_bear_its_claim_out() -> None:
    numbers = {
        task: {label: {"aligned": [{"oracle": float(value)}]} for label, value in row.items()}
        for task, row in oracle.PAPER.items()
    }
    assert oracle._findings(numbers)[0].verdict == "reproduces"


@pytest.mark.parametrize("where", ["held-out", "training"])
def test_the_worst_quartile_is_of_the_tasks_that_are_asked_for(where: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(nonstationary, "BoxTask", lambda *given: made.append(given) or "the task")
    given: list[Any] = []
    earned = [8.0, 1.0, 7.0, 3.0, 6.0, 5.0, 4.0, 2.0, 0.0]
    mean, worst = nonstationary.played(run_of(earned, given), where, 9)
    assert (mean, worst) == (4.0, 0.5)  # of nine the worst two
    assert nonstationary.played(run_of([2.0, 1.0]), where, 2) == (1.5, 1.0)
    assert given == [9, nonstationary.SEED, "the actor", "the task"]
    (env, keywords, copies, seed, variation), _ = made
    assert (env, keywords, copies, seed) == ("Some-v0", {}, 1, 0)
    assert variation == Variation(gravity="2", test_tasks=where)


@pytest.mark.parametrize(("rows", "expected"), [(8, 6.5), (9, 7.5), (3, 2.0), (1, 0.0)])
def test_the_final_return_is_of_the_last_quarter(rows: int, expected: float, tmp_path: Path) -> None:
    """⌊n/4⌋ of n evaluations, one at least."""
    run = Run("one", {})
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "result.json").write_text("{}")
    text = "step,eval_return\n" + "".join(f"{100 * row},{float(row)}\n" for row in range(rows))
    (tmp_path / "one" / "metrics.csv").write_text(text)
    curve = {"step": [100.0 * row for row in range(rows)], "eval_return": [float(row) for row in range(rows)]}
    assert deep_runs.curves_of_runs(tmp_path, [run]) == {"one": curve}
    assert deep_runs.last_quarters(tmp_path, [run]) == {"one": expected}


def test_a_finished_run_without_an_evaluation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "result.json").write_text("{}")
    (tmp_path / "one" / "metrics.csv").write_text("step,eval_return\n")
    with pytest.raises(InputError, match=r"metrics\.csv has no evaluation, although its run is finished"):
        deep_runs.curves_of_runs(tmp_path, [Run("one", {})])


def test_returns_stand_beside_the_papers() -> None:
    scores = {"SAC": [3.0, 1.0, 2.0, 100.0], "RE-SAC B0": [4.0]}
    table = returns._table("Walker2d-v5", scores, {"SAC": [10.0, 20.0, 30.0, 1000.0], "RE-SAC B0": [7.0]})
    rows = dict(table.rows)
    # the mean of the middle two
    assert rows["SAC"][0].startswith("2 [")
    assert rows["SAC"][1] == "25"
    assert rows["RE-SAC B0"] == ("4 [4, 4]", "7")
    assert table.paper["SAC"] == ("", "335 ± 14"), "of up to 5,000 steps, on Walker2d"


@pytest.mark.parametrize(
    ("ours", "leads", "elsewhere"),
    [
        (9.0, "reproduces", "reproduces"),
        (7.0, "does not reproduce", "reproduces"),  # above SAC, below TD3
        (1.0, "does not reproduce", "does not reproduce"),
        (5.0, "does not reproduce", "undecided"),
        (8.0, "undecided", "reproduces"),
    ],
)
def test_the_lead_is_over_all_and_elsewhere_the_match_is_sac(ours: float, leads: str, elsewhere: str) -> None:
    """Other forms of RE-SAC are no rivals: the claim is of the rows of three seeds."""
    row = {"RE-SAC B0": [ours] * 3, "SAC": [5.0] * 3, "TD3": [8.0] * 3, "RE-SAC v1": [99.0] * 3}
    found = returns._findings({"HalfCheetah-v5": row, "Ant-v5": row})
    assert [one.verdict for one in found] == [leads, elsewhere]
    assert [one.found.count("-v5") for one in found] == [1, 1]
    alone = returns._findings({"Ant-v5": row})
    assert [one.verdict for one in alone] == ["not tried at this scale", elsewhere]
    assert {one.verdict for one in returns._findings({"Ant-v5": {"SAC": [1.0]}})} == {"not tried at this scale"}


def test_a_panel_without_a_curve_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the two panels, as with `--only 'td3-*'`: no empty axes, and no note of the library about their legend."""
    seen = list[Any]()
    groups = deep_runs.curve_groups([("TD3", {"step": [100.0, 200.0], "eval_return": [1.0, 2.0]})])
    plain = deep_runs.new_figure
    monkeypatch.setattr(deep_runs, "new_figure", lambda *given: seen.append(plain(*given)) or seen[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        deep_runs.draw_curves(tmp_path / "a.png", "title", RETURN, groups, returns.PANELS, {})
    assert len(seen[0].axes) == 1
    assert (tmp_path / "a.png").stat().st_size > 1_000


# --- uncertainty


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    """What critics would learn from; they stay as they began."""
    batches: list[Batch] = []
    monkeypatch.setattr(Learner, "update", lambda _, batch: batches.append(batch))
    return batches


def targets(batch: Batch) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Inputs and rewards of a batch."""
    inputs = torch.cat([batch.action, batch.state.dense], 1).double().numpy()
    return inputs, batch.reward.double().numpy()


def test_data_have_the_noise_that_is_asked_for_and_nothing_follows_them(learned: list[Batch]) -> None:
    for noise in (0.0, 2.0):
        learned.clear()
        uncertainty.measured(64, noise, 40, 0)
        assert len(learned) == 40
        assert all(bool((batch.terminal == 1.0).all()) for batch in learned)
        inputs, rewards = (np.concatenate(parts) for parts in zip(*map(targets, learned), strict=True))
        samples, places = np.unique(inputs, axis=0, return_index=True)
        assert len(samples) == 64
        assert np.abs(samples).max() <= 1.0
        x, y, z = samples.T
        away = rewards[places] - (np.sin(3.0 * x) + y * z)
        # a deviation of 64 draws errs by a part 1/√128; five of them
        assert away.std() == pytest.approx(noise, abs=max(5 * noise / np.sqrt(128.0), 1e-6))
        same = {tuple(row): reward for row, reward in zip(inputs, rewards, strict=True)}
        assert [same[tuple(row)] for row in inputs] == rewards.tolist(), "a sample has one label"


@pytest.mark.usefixtures("learned")
def test_measures_are_of_the_critics_at_data_and_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the samples themselves, and at others of the same box; the error is that of the mean head, squared."""
    asked: list[tuple[Any, Any]] = []
    plain = uncertainty._values

    def watched(learner: Learner, inputs: Any) -> Any:
        asked.append((inputs, plain(learner, inputs)))
        return asked[-1][1]

    monkeypatch.setattr(uncertainty, "_values", watched)
    found = uncertainty.measured(64, 1.0, 1, 3)
    (data, at_data), (others, there) = asked
    assert data.shape == (64, 3)
    assert others.shape == (2_000, 3)
    assert not {tuple(row) for row in data} & {tuple(row) for row in others}

    def variance(heads: Any) -> float:
        return float(np.mean(((heads - heads.mean(0)) ** 2).sum(0) / 9.0))

    assert found["Γ_epi at data"] == pytest.approx(variance(at_data))
    assert found["Γ_epi away"] == pytest.approx(variance(there))
    x, y, z = others.T
    assert found["error"] == pytest.approx(float(np.mean((there.mean(0) - np.sin(3.0 * x) - y * z) ** 2)))


def correlated(**given: float) -> dict[str, Any]:
    """Correlations with narrow intervals: `epi_data=-0.9` and so on."""
    names = {"epi": "Γ_epi away", "kappa": "κ"}
    found: dict[str, Any] = {"Γ_epi at data": {"noise": (0.0, -0.1, 0.1)}}
    for key, r in given.items():
        name, _, cause = key.partition("_")
        found.setdefault(names[name], {})[cause] = (r, r - 0.1, r + 0.1)
    return found


def test_verdicts_on_what_uncertainty_follows() -> None:
    paper = correlated(epi_data=-0.9, epi_noise=0.0, kappa_noise=0.9, kappa_data=0.0)
    contrary = correlated(epi_data=0.9, epi_noise=0.9, kappa_noise=0.9, kappa_data=0.9)
    assert [one.verdict for one in uncertainty._findings(paper)] == ["reproduces", "undecided", "reproduces"]
    assert {one.verdict for one in uncertainty._findings(contrary)} == {"does not reproduce"}
    deaf = correlated(epi_data=0.05, epi_noise=-0.9, kappa_noise=0.05, kappa_data=0.0)
    assert [one.verdict for one in uncertainty._findings(deaf)] == ["undecided", "does not reproduce", "undecided"]
    against = correlated(epi_data=0.9, epi_noise=0.0, kappa_noise=-0.9, kappa_data=0.0)
    assert [one.verdict for one in uncertainty._findings(against)][::2] == ["does not reproduce"] * 2
