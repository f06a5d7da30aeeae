"""What a run says at its end, word for word, from numbers that are given."""

from __future__ import annotations

import io
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table
from scipy import stats

from pyresac.tasks.task import Task
from pyresac.training import deep_report, tabular_report
from pyresac.training.contest import Contest, contest_plain, contest_shown
from pyresac.training.mean_intervals import half_width

TABULAR: Mapping[str, Any] = {
    "steps": 12_000,
    "discount": 0.9,
    "optimum": 0.5,
    "optimum_error": 1e-9,
    "policy_value": 0.4,
    "policy_value_error": 2e-4,
    "estimate": 0.45,
    "episodes": 1_000,
    "measured_discounted": 0.41,
    "measured_discounted_error": 0.02,
    "measured_return": 0.7,
    "measured_return_error": 0.03,
    "measured_cut": 0,
}
LEGEND = "± is a guaranteed bound of exact values, the 95 % interval of measured ones."


def printed(say: Any, *arguments: Any) -> list[str]:
    stream = io.StringIO()
    say(Console(file=stream, width=200, color_system=None), *arguments)
    return [line.strip() for line in stream.getvalue().splitlines()]


def cells(lines: list[str]) -> list[list[str]]:
    """The rows of a printed table."""
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]


def test_the_report_of_a_tabular_run() -> None:
    lines = printed(tabular_report.print_report, "Lake", TABULAR)
    assert lines[0] == "Lake after 12,000 steps"
    assert cells(lines) == [
        ["from the start distribution", "value", "±"],
        ["exact optimum, γ = 0.9", "0.5000", "1.0e-09"],
        ["learned greedy policy, exact", "0.4000", "0.0002"],
        ["learned estimate (penalties, entropy)", "0.4500", ""],
        ["measured in 1,000 episodes, γ = 0.9", "0.4100", "0.0200"],
        ["measured in 1,000 episodes, undiscounted", "0.7000", "0.0300"],
    ]
    assert lines[-2:] == [LEGEND, "The learned policy is 0.1 below the optimum (20.00% of the optimum)."]


def test_the_report_says_what_a_time_limit_did_and_what_is_not_known() -> None:
    lines = printed(tabular_report.print_report, "Lake", {**TABULAR, "measured_cut": 7, "optimum": None})
    assert len(cells(lines)) == 3
    assert lines[-3:] == [
        LEGEND,
        "7 of 1,000 episodes hit a time limit, which the exact values do not have.",
        "The environment has no transition table, so its optimum is not known.",
    ]


@pytest.mark.parametrize(
    ("optimum", "policy", "words"),
    [
        (1.0, 1.0 - 1e-6, "The learned policy is optimal, to within 1.0e-06."),
        (-2.0, -3.0, "The learned policy is 1 below the optimum (50.00% of the optimum)."),
        (0.0, -3.0, "The learned policy is 3 below the optimum."),
    ],
)
def test_how_far_a_policy_is_from_the_optimum(optimum: float, policy: float, words: str) -> None:
    assert tabular_report.verdict(optimum, policy, 1e-6 + 1e-12) == words


def test_a_policy_as_near_as_the_bounds_say_is_optimal() -> None:
    """The error of both numbers together; one of 1e-4 is still written out."""
    given = {**TABULAR, "optimum": 1.0, "policy_value": 0.5, "optimum_error": 0.4999, "policy_value_error": 1e-4}
    lines = printed(tabular_report.print_report, "Lake", given)
    assert [row[2] for row in cells(lines)[1:3]] == ["0.4999", "0.0001"]
    assert lines[-1] == "The learned policy is optimal, to within 5.0e-01."
    nearer = {**given, "policy_value_error": 9.9e-5}
    assert printed(tabular_report.print_report, "Lake", nearer)[-1].startswith("The learned policy is 0.5 below the")
    assert cells(printed(tabular_report.print_report, "Lake", nearer))[2][2] == "9.9e-05"


@pytest.mark.parametrize(
    ("earned", "unit", "words"),
    [
        (3.5, True, "On average the critics value a decision at 1,234.5 (σ_ens 2.0), and it earned 3.5."),
        (None, True, "The critics' values cannot be compared with returns: time limits end every episode too soon."),
        (None, False, "The critics' values cannot be compared with returns: the critics learned standardised rewards."),
    ],
)
def test_the_report_of_a_deep_run(earned: float | None, unit: bool, words: str) -> None:
    result = {
        "episodes": 10,
        "return": 1234.56,
        "return_error": 7.89,
        "values": {"q": 1234.5, "sigma": 2.0, "earned": earned},
    }
    lines = printed(deep_report.print_result, cast("Task", SimpleNamespace()), result, unit)
    assert lines == ["Return of the averaged policy in 10 episodes: 1,234.6 ± 7.9 (95 %).", words]


def contest(passengers: bool, days: int) -> list[str]:
    columns = deep_report.PASSENGERS if passengers else deep_report.COLUMNS
    spread = np.linspace(-1.0, 1.0, days) if days > 1 else np.zeros(1)
    tables = {
        name: dict.fromkeys(columns, level * (1.0 + 0.1 * spread)) for name, level in (("learned", 2e6), ("none", 3e6))
    }
    return printed(deep_report.print_contest, tables, "Line", passengers)


def test_a_contest_is_judged_by_reward_or_by_passengers_minutes() -> None:
    by_reward = contest(passengers=False, days=3)
    header, learned, none = cells(by_reward)
    assert header == ["controller", *deep_report.COLUMNS.values(), "learned better by"]
    assert (learned[0], none[0]) == ("learned", "none")
    # 2 and 3 million, 2 · t(0.975; 2 days of freedom)/√3 of the differences' spread 10⁵
    assert (learned[1], none[1]) == ("2", "3")
    assert (learned[-1], none[-1]) == ("", "-1.000 ± 0.248")
    assert by_reward[-1] == (
        "± is half of the 95 % interval over the same days. The reward sees headways, not passengers' time."
    )
    by_minutes = contest(passengers=True, days=3)
    assert cells(by_minutes)[0] == ["controller", *deep_report.PASSENGERS.values(), "saved, min"]
    assert cells(by_minutes)[2][-1] == "+1000000.000 ± 248413.771"
    assert by_minutes[-1] == (
        "± is half of the 95 % interval over the same days. Cost is 2·wait + ride, the same passengers for all."
    )
    assert [row[-1] for row in cells(contest(passengers=False, days=1))[1:]] == ["", ""], "one day has no interval"


def table_cells(table: Table) -> list[list[str]]:
    """The header and the rows, with their markup."""
    return [
        [str(column.header) for column in table.columns],
        *map(list, zip(*(c.cells for c in table.columns), strict=True)),
    ]


def test_the_learned_policy_stands_out_and_no_name_nor_gain_is_broken() -> None:
    stream = io.StringIO()
    tables = {
        name: dict.fromkeys(deep_report.COLUMNS, np.array([1e6, 2e6]))
        for name in ("learned", "target:slack=20,gain=0.15")
    }
    console = Console(file=stream, width=60, force_terminal=True, color_system="standard", _environ={})
    deep_report.print_contest(console, tables, "Line")
    learned, rule = (next(line for line in stream.getvalue().splitlines() if name in line) for name in tables)
    assert "\x1b[1mlearned" in learned
    assert "\x1b[1m" not in rule
    assert "+0.000 ± 0.000" in rule


def test_a_tabular_report_is_sixty_wide_and_its_last_sentence_is_one_line() -> None:
    """So that whoever looks for it finds it."""
    given = {**TABULAR, "optimum": None, "episodes": 2}
    lines = printed(tabular_report.print_report, "Lake", given)
    assert {len(line) for line in lines if line.startswith(("╭", "│", "╰"))} == {60}
    stream = io.StringIO()
    tabular_report.print_report(Console(file=stream, width=30, color_system=None), "Lake", TABULAR)
    words = "The learned policy is 0.1 below the optimum (20.00% of the optimum)."
    assert stream.getvalue().splitlines()[-1] == words


def days_of(**values: list[float]) -> dict[str, Any]:
    return {name: np.array(of) for name, of in values.items()}


RUNS = {
    "one[a]": days_of(reward=[-1e6, -2e6, -3e6, -2e6], bunching=[0.25, 0.5, 0.25, 0.5], length=[1.0] * 4),
    "one[b]": days_of(reward=[-2e6, -3e6, -2e6, -3e6], bunching=[0.25] * 4, length=[1.0] * 4),
}
RULES = {"none": days_of(reward=[-4e6] * 4, bunching=[0.5, 0.75, 0.5, 0.75], length=[1.0] * 4)}


def half(spread: float, level: float = 0.9) -> float:
    """Half of the interval of the mean of four differences with this deviation."""
    return float(stats.t.ppf(0.5 + level / 2, 3)) * spread / 2


def test_a_contest_s_table_has_means_differences_and_ranges_over_seeds() -> None:
    """Below a mean the first run's less this one; bold where the interval leaves out 0."""
    known = Contest(RUNS, RULES, 4)
    table = contest_shown(known, {"one": ["one[a]", "one[b]"], "alone": ["one[a]"]}, 0.9, "On [a] line")
    assert table.title == r"On \[a] line"
    # differences of the rewards are 1, 1, −1, 1 and 3, 2, 1, 2 million
    assert half(1.0) > 0.5
    assert half((2 / 3) ** 0.5) < 2.0
    assert table_cells(table) == [
        ["policy", "reward\n10⁶", "bunching\n%"],
        [r"one\[a]", "-2.000", "37.5"],
        [
            r"one\[b]",
            f"-2.500\n[dim]+0.500±{half(1.0):.3f}[/]",
            f"25.0\n[dim]+12.5±{100 * half(0.25 / 3**0.5):.1f}[/]",
        ],
        ["none", f"-4.000\n[bold]+2.000±{half((2 / 3) ** 0.5):.3f}[/]", "62.5\n[bold]-25.0±0.0[/]"],
        ["one\n2 seeds", "-2.250\n-2.500…-2.000", "31.2\n25.0…37.5"],
    ]


def test_the_columns_of_a_contest_are_those_of_its_task() -> None:
    def header(passengers: bool, *names: str) -> list[str]:
        known = Contest({"one": {name: np.ones(1) for name in names}}, {}, 1)
        return table_cells(contest_shown(known, {}, 0.95, "", passengers))[0][1:]

    assert header(True, "reward", "left_behind", "weighted_journey", "length") == [
        "2·wait + ride\nmin",
        "denied\nboardings",
    ]
    assert header(False, "travel", "wait", "reward") == ["reward\n10⁶", "wait\nmin", "travel\nmin"]
    for passengers in (False, True):
        assert header(passengers, "cut", "return", "wait") == ["wait\nmin", "return", "cut by time\n%"]


def test_two_days_have_differences_and_a_contest_s_table_is_dense() -> None:
    """The least number of which a spread is known. Numbers are not broken, and nothing stands between the columns."""
    two = {name: {key: values[:2] for key, values in table.items()} for name, table in RUNS.items()}
    assert Contest(two, {}, 2).others(0.9).keys() == {"one[b]"}
    table = contest_shown(Contest(two, {}, 2), {}, 0.9, "")
    assert table.padding == (0, 0, 0, 0)
    assert [(column.justify, column.no_wrap) for column in table.columns] == [("left", False), *[("right", True)] * 2]


def test_a_single_day_has_no_differences_and_what_is_not_known_is_a_dash() -> None:
    known = Contest({"one": {"return": np.array([1234.56])}}, {"none": {"return": np.array([np.nan])}}, 1)
    assert table_cells(contest_shown(known, {}, 0.95, ""))[1:] == [["one", "1,234.6"], ["none", "–"]]
    assert contest_plain(known, 0.95)["differences"] == {}


def test_a_contest_in_json_has_every_metric_and_difference() -> None:
    plain = contest_plain(Contest(RUNS, RULES, 4), 0.9)
    assert (plain["level"], plain["reference"]) == (0.9, "one[a]")
    assert {name: list(table) for name, table in plain["learned"].items()} == {
        name: list(RULES["none"]) for name in RUNS
    }
    assert plain["controllers"]["none"]["reward"]["values"] == [-4e6] * 4
    assert plain["differences"].keys() == {"one[b]", "none"}
    assert plain["differences"]["none"]["reward"]["mean"] == 2e6
    assert plain["differences"]["one[b]"]["bunching"]["half_width"] == pytest.approx(half(0.25 / 3**0.5))


def test_the_interval_of_a_mean() -> None:
    """1.96 standard errors."""
    assert half_width(np.array([1.0, 2.0, 4.0, 5.0])) == pytest.approx(1.96 * (10 / 3) ** 0.5 / 2, rel=1e-15, abs=0)
    assert half_width(np.full(3, 7.0)) == 0.0
