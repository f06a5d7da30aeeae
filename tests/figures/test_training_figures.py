"""Curves over seeds, the pictures made of them, and the results page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from pyresac.errors import InputError
from pyresac.figures import results, training
from pyresac.figures.curves import Curves, Group, grouped, read_curves

COLUMNS = ("eval_return", "q_eval", "sigma_eval", "earned_eval", "sigma_mean", "kappa", "alpha")


def curves(shift: float = 0.0, rows: int = 5) -> Curves:
    steps = 100.0 * np.arange(1, rows + 1)
    return Curves({"step": steps} | {name: steps + shift + index for index, name in enumerate(COLUMNS)})


def lines(figure: Figure, panel: int = 0) -> dict[str, tuple[list[float], list[float]]]:
    found = figure.axes[panel].get_lines()
    return {str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata())) for line in found}


def test_spread_is_mean_and_range_at_common_steps() -> None:
    spread = Group("a", [curves(0.0), curves(30.0, rows=3), curves(60.0)]).spread("eval_return", 2.0)
    np.testing.assert_array_equal(spread.steps, [100.0, 200.0, 300.0])
    np.testing.assert_array_equal(spread.mean, [260.0, 460.0, 660.0])
    np.testing.assert_array_equal(spread.low, [200.0, 400.0, 600.0])
    np.testing.assert_array_equal(spread.high, [320.0, 520.0, 720.0])


def test_runs_of_one_name_are_one_group() -> None:
    groups = grouped([("b", curves()), ("a", curves()), ("b", curves(1.0))])
    assert [(group.name, len(group.runs), group.label) for group in groups] == [("b", 2, "b, 2 seeds"), ("a", 1, "a")]


def test_read_curves(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("step,x\n1,2.5\n2,nan\n3,4")
    found = read_curves(path)
    assert found is not None
    np.testing.assert_array_equal(found.steps, [1.0, 2.0])
    np.testing.assert_array_equal(found.columns["x"], [2.5, np.nan])
    path.write_text("step,x\n")
    assert read_curves(path) is None
    for content in ("", "time,x\n1,2\n", "step,x\n1\n", "step,x\n1,2,3\n", "step,x\n1,2\n1\n", "step,x\n1,b\n"):
        path.write_text(content)
        with pytest.raises(InputError, match=r"metrics\.csv"):
            read_curves(path)
    with pytest.raises(InputError, match="cannot read"):
        read_curves(tmp_path / "none.csv")


def test_learning_curve_draws_means_and_rules() -> None:
    groups = [Group("a", [curves(), curves(10.0)]), Group("b", [curves(5.0)])]
    rules = {"none": -990_000.0, "target:slack=50": -410_000.0}
    found = lines(training.learning_curve(groups, training.CORRIDOR, "title", rules))
    np.testing.assert_allclose(found["a, 2 seeds"][1], (100.0 * np.arange(1, 6) + 5.0) * 1e-6)
    np.testing.assert_allclose(found["b"][1], (100.0 * np.arange(1, 6) + 5.0) * 1e-6)
    assert found["no holding: −0.990"][1] == [-0.99, -0.99]
    assert found["slack rule, 50 s: −0.410"][1] == [-0.41, -0.41]


def test_bands_are_two_deviations_wide() -> None:
    figure = training.value_bands([Group("a", [curves()]), Group("b", [curves(7.0)])], training.RETURN, "title")
    found = lines(figure, 1)
    steps = 100.0 * np.arange(1, 6)
    np.testing.assert_allclose(found["Q̄, mean of the critics"][1], steps + 8.0)
    np.testing.assert_allclose(found["earned (Monte Carlo)"][1], steps + 10.0)
    (band,) = figure.axes[1].collections
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].min() == pytest.approx(508.0 - 2.0 * 509.0)
    assert corners[:, 1].max() == pytest.approx(508.0 + 2.0 * 509.0)


def test_uncertainty_has_a_panel_for_each_quantity() -> None:
    figure = training.uncertainty([Group("a", [curves()])], training.RETURN, "title")
    firsts = [lines(figure, panel)["a"][1][0] for panel in range(3)]
    assert firsts == [104.0, 105.0, 106.0]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for found in figure.legends for text in found.get_texts()]


def test_what_needs_a_legend_has_one() -> None:
    one, two = [Group("a", [curves()])], [Group("a", [curves()]), Group("b", [curves(7.0)])]
    assert legend(training.uncertainty(one, training.RETURN, "title")) == []
    assert legend(training.uncertainty(two, training.RETURN, "title")) == ["a", "b"]
    for groups in (one, two):
        assert legend(training.value_bands(groups, training.RETURN, "title")) == [
            "± 2 σ_ens",
            "Q̄, mean of the critics",
            "earned (Monte Carlo)",
        ]


def test_uncertainty_begins_at_zero_in_the_task_s_units() -> None:
    figure = training.uncertainty([Group("a", [curves()])], training.CORRIDOR, "title")
    assert [axes.get_ylim()[0] for axes in figure.axes] == [0.0] * 3
    assert lines(figure)["a"][1][0] == pytest.approx(0.104)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "σ_ens, 10³",
        "κ, l1 norm of a\ncritic's weights",
        "temperature α",
    ]


def test_each_group_has_a_panel_and_no_panel_is_empty() -> None:
    groups = [Group(name, [curves()]) for name in "abcd"]
    panels = training.value_bands(groups, training.RETURN, "title").axes
    assert [panel.get_visible() for panel in panels] == [True] * 4 + [False] * 2
    assert [panel.get_title(loc="left") for panel in panels[:4]] == list("abcd")
    (alone,) = training.value_bands(groups[:1], training.RETURN, "title").axes
    assert alone.get_title(loc="left") == ""


def test_correlation() -> None:
    value = np.array([0.0, 1.0, 2.0])
    assert training.Predictions(value, 3.0 * value - 1.0).correlation == pytest.approx(1.0)
    assert np.isnan(training.Predictions(value, np.ones(3)).correlation)
    figure = training.predictions({"a": training.Predictions(value, -value)}, training.RETURN, "title")
    assert "correlation −1.00, 3 decisions" in figure.axes[0].get_title(loc="left")


def write_run(folder: Path, label: str, seed: int, reward: float | None, columns: tuple[str, ...] = COLUMNS) -> None:
    run = folder / f"{label}-seed{seed}"
    run.mkdir(parents=True)
    table = curves(float(seed))
    names = ("step", *columns)
    text = [",".join(names)] + [",".join(str(table.columns[name][row]) for name in names) for row in range(5)]
    (run / "metrics.csv").write_text("\n".join(text) + "\n")
    if reward is not None:
        days = {"reward": [reward, reward], "wait": [3.0, 5.0], "travel": [15.0, 15.0]}
        rule = {"reward": [-5e5], "wait": [4.0], "travel": [13.0]}
        content = {"return": reward, "controllers": {"learned": days, "headway": rule}}
        (run / "result.json").write_text(json.dumps(content))


def test_results_are_redrawn_and_absent_ones_said_to_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "results"
    for seed, reward in enumerate((-4.0e5, -4.2e5)):
        write_run(root / "corridor-slow", "resac", seed, reward)
        write_run(root / "corridor-ablations", "other", seed, reward)
        write_run(root / "corridor-ablations", "resac-half", seed, reward)
        write_run(root / "corridor-ablations", "bare", seed, None, ("eval_return",))
    assert results.main([str(root), str(tmp_path / "figures")]) == 0
    shown = capsys.readouterr()
    assert "skipped hopper" in shown.err
    assert sorted(p.name for p in (tmp_path / "figures").iterdir()) == ["results-ablations.png", "results-corridor.png"]
    assert "| RE-SAC | 2 | −0.410 (−0.420 to −0.400) | 4.00 (4.00 to 4.00) | 15.00 (15.00 to 15.00) |" in shown.out
    assert "| headway rule | | −0.500 | 4.00 | 13.00 |" in shown.out
    assert "| bare (last evaluation) | 2 | 0.001 (0.001 to 0.001) | – | – |" in shown.out
    ablations = shown.out.partition("### corridor-ablations")[2]
    assert ablations.index("| RE-SAC, K = 10 |") < ablations.index("| bare") < ablations.index("| other |")


def test_hopper_compares_curves_without_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "results"
    write_run(root / "hopper", "sb3-sac", 0, None, ("eval_return",))
    assert results.main([str(root), str(tmp_path)]) == 0
    assert "| SAC of Stable-Baselines3 (last evaluation) | 1 | 500 |" in capsys.readouterr().out
    assert (tmp_path / "results-hopper.png").exists()


def test_results_that_are_none_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "results"
    assert results.main([str(root)]) == 2
    assert "is no folder of results" in capsys.readouterr().err
    root.mkdir()
    (tmp_path / "file").write_text("kept")
    assert results.main([str(root), str(tmp_path / "file")]) == 2
    assert "which is a file; name a folder" in capsys.readouterr().err
    write_run(root / "hopper", "a", 0, None, ("kappa",))
    assert results.main([str(root), str(tmp_path)]) == 2
    assert "expected the columns step and eval_return" in capsys.readouterr().err
    write_run(root / "hopper", "b", 0, None)
    (root / "hopper" / "a-seed0" / "metrics.csv").write_text("step,eval_return\n1,2\n")
    (root / "hopper" / "b-seed0" / "result.json").write_text("[1]")
    assert results.main([str(root), str(tmp_path)]) == 2
    assert "it must be a JSON object" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"controllers": []}', "controllers is []; it must be an object"),
        ('{"controllers": {"learned": 3}}', "reward of learned is None; it must be a list of numbers"),
        ('{"controllers": {"none": {"reward": []}}}', "reward of none is []; it must be a list of numbers"),
        ('{"controllers": {"none": {"reward": [1, "a"]}}}', "reward of none is [1, 'a']; it must be a list of numbers"),
        ('{"return": "abc"}', "return is 'abc'; it must be a number"),
    ],
)
def test_results_of_another_shape_are_refused(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "results"
    write_run(root / "corridor-slow", "resac", 0, None)
    (root / "corridor-slow" / "resac-seed0" / "result.json").write_text(content)
    assert results.main([str(root), str(tmp_path / "figures")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "result.json" in error


def test_ablations_without_values_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "results"
    write_run(root / "corridor-ablations", "bare", 0, None, ("eval_return",))
    assert results.main([str(root), str(tmp_path / "figures")]) == 2
    assert "no run of the ablations has the columns q_eval" in capsys.readouterr().err
