"""Direct policy search, and controllers kept in files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.corridor import main
from pyresac.envs.bus import (
    Corridor,
    HeadwayEqualising,
    NoHolding,
    PredictionBased,
    ScheduleHolding,
    SelfEqualising,
    SimpleRobust,
    Simulator,
    TwoWayLooking,
    controller_named,
    default_corridor,
    metrics_table,
    simulate,
    simulate_days,
)
from pyresac.envs.bus import state as at
from pyresac.envs.bus.controller_files import load_controller, save_controller
from pyresac.envs.bus.full_observation import COUNT, NAMES, SCALES
from pyresac.envs.bus.objectives import HeadwayReward, objective_named
from pyresac.envs.bus.parametric import UNIT, LinearRule, NetworkRule
from pyresac.envs.bus.tuning import FAMILIES, Panel, Search, tune
from pyresac.errors import InputError

HERE = Path(__file__).parent


def test_rewound_days_are_the_days(small: Corridor) -> None:
    simulator = Simulator(small, days=2)
    simulator.start([3, 4])
    simulator.run(NoHolding())
    simulator.rewind()
    simulator.run(HeadwayEqualising())
    for row, seed in enumerate((3, 4)):
        again, fresh = simulator.record(row), simulate(small, HeadwayEqualising(), seed)
        for name in ("visits", "passengers", "buses", "destination", "queue"):
            assert np.array_equal(getattr(again, name), getattr(fresh, name), equal_nan=True), name
        assert (again.end, again.fleet, again.seed) == (fresh.end, fresh.fleet, fresh.seed)


def test_a_rewind_needs_a_start(small: Corridor) -> None:
    with pytest.raises(InputError, match="rewind called before start"):
        Simulator(small).rewind()


def decision() -> Any:
    simulator = Simulator(default_corridor())
    simulator.start([0])
    for _ in range(400):
        simulator.step(20.0)
    return simulator.observe()


def test_linear_and_network_rules_by_hand() -> None:
    seen = decision()
    values = np.array(
        [
            seen.forward_headway - 360.0,
            seen.backward_headway - 360.0,
            seen.link_speed,
            seen.lateness,
            seen.leader_lateness,
            seen.follower_lateness,
            seen.link_delay,
            seen.load,
            seen.waiting_next,
            seen.place,
        ]
    )[:, 0]
    rng = np.random.default_rng(1)
    for _ in range(5):
        weights = rng.normal(size=COUNT) / SCALES * 10.0
        expected = np.clip(25.0 + weights @ values, 0.0, 60.0)
        assert LinearRule(25.0, tuple(weights))(seen)[0] == pytest.approx(expected)
        units = rng.normal(size=(3, UNIT)) * 20.0 ** (np.arange(UNIT) == 0)
        numbers = (20.0, *units.ravel())
        hidden = np.tanh(units[:, 1] + units[:, 2:] @ (values / SCALES))
        assert NetworkRule(numbers)(seen)[0] == pytest.approx(np.clip(20.0 + units[:, 0] @ hidden, 0.0, 60.0))


def test_the_schedule_rule_by_hand() -> None:
    seen = decision()
    late = seen.lateness[0] - 30.0 * (seen.place[0] - 1)
    expected = np.clip(30.0 - 0.8 * late - 0.5 * seen.link_delay[0], 0.0, 60.0)
    assert ScheduleHolding(slack=30.0, gain=0.8, foresight=0.5)(seen)[0] == pytest.approx(expected)


def test_self_equalising_and_two_way_rules_by_hand() -> None:
    seen = decision()
    forward, backward = seen.forward_headway[0], seen.backward_headway[0]
    assert SelfEqualising(share=0.1)(seen)[0] == pytest.approx(np.clip(0.1 * seen.visit[0, at.BEHIND], 0.0, 60.0))
    assert PredictionBased(share=0.5)(seen)[0] == pytest.approx(np.clip(0.5 * seen.visit[0, at.EVENS], 0.0, 60.0))
    expected = np.clip(20.0 + 0.7 * (360.0 - forward) + 0.2 * (backward - 360.0), 0.0, 60.0)
    assert TwoWayLooking(20.0, 0.7, 0.2)(seen)[0] == pytest.approx(expected)
    assert TwoWayLooking(0.0, 0.5, 0.5)(seen)[0] == pytest.approx(HeadwayEqualising()(seen)[0])


def test_self_equalising_control_has_no_target(small: Corridor) -> None:
    """Bartholdi and Eisenstein: uneven launches even out without a schedule or a target."""
    # a bus a minute, so that a bus on the line has its follower on it too
    launches = 60.0 * np.arange(8) + 15.0 * (np.arange(8) == 3)
    quiet = replace(small, speed_deviation=0.0, demand=0.0 * small.demand, holding_limit=600.0, headway=60.0)
    late = replace(quiet, up=replace(small.up, launches=launches))
    spread = []
    for rule in (NoHolding(), SelfEqualising(share=0.2)):
        record = simulate(late, rule, 0)
        up = record.visits[record.layout.line.plan[:, 0] == 0]
        spread.append(np.ptp(up[2:6, 4, at.SPACING]))
    assert spread[0] == pytest.approx(30.0)
    assert spread[1] < 0.9 * spread[0]


def test_the_linear_family_begins_at_the_schedule_rule() -> None:
    """30 + (place − 1)·30 is 30 a stop made."""
    family = FAMILIES["linear"]()
    corridor = default_corridor()
    first, second = (simulate(corridor, rule, 2) for rule in (family.make(family.start), ScheduleHolding()))
    assert np.allclose(first.visits, second.visits, rtol=1e-9, atol=1e-6, equal_nan=True)


def test_a_point_of_a_free_family_is_its_rule_s_numbers() -> None:
    """In their order, within no bounds; a first step is ten seconds for a typical deviation of each feature."""
    linear, network = FAMILIES["linear"](), FAMILIES["network"]()
    point = np.arange(1.0, COUNT + 2.0)
    assert linear.make(point) == LinearRule(1.0, tuple(point[1:]))
    assert linear.scale[0] == 10.0
    assert linear.scale[1:] * SCALES == pytest.approx(np.full(COUNT, 10.0))
    many = np.arange(float(network.start.size))
    assert network.make(many) == NetworkRule(tuple(many))
    heights = np.isin(np.arange(many.size), [0, *range(1, many.size, UNIT)])
    assert network.scale.tolist() == np.where(heights, 10.0, 0.1).tolist()
    for family in (linear, network):
        assert (family.low == -np.inf).all()
        assert (family.high == np.inf).all()


def test_the_network_begins_at_the_linear_family_s_rule() -> None:
    """Its first unit, nearly straight, is that rule without its bias; the others add nothing, and are unlike."""
    start = FAMILIES["network"]().start
    units = start[1:].reshape(-1, UNIT)
    assert start[0] == 0.0
    assert (units[0, 0] * units[0, 2:] / SCALES).tolist() == pytest.approx(FAMILIES["linear"]().start[1:].tolist())
    assert units[:, 0].tolist() == [120.0, *[0.0] * (len(units) - 1)]
    assert units[0, 1] == 0.0
    assert np.linalg.matrix_rank(units[1:, 1:]) == len(units) - 1
    assert units[1:, 1:].std() == pytest.approx(0.3, rel=0.3, abs=0)


@pytest.mark.parametrize("name", sorted(FAMILIES.keys() - {"linear", "network"}))
def test_a_classical_family_s_points_are_its_rule_s_parameters(name: str) -> None:
    """In their order, up to the bounds, which the rule itself accepts."""
    family = FAMILIES[name]()
    assert type(family.make(family.start)) is type(controller_named(name))
    for point in (family.start, family.low, family.high):
        assert family.make(point).parameters == pytest.approx(tuple(point))
    assert (family.low < family.start).all()
    assert (family.start < family.high).all()
    assert (family.scale < family.high - family.low).all()


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_search_is_better_than_its_start_and_can_be_repeated(small: Corridor, name: str) -> None:
    search = Search(family=name, generations=4, population=6, days=3, check_days=4)
    told: list[int] = []
    found = tune(small, HeadwayReward(), search, progress=lambda generation, best: told.append(generation))
    again = tune(small, HeadwayReward(), Search(**{**vars(search), "workers": 1}))
    assert (found.rule, found.value, found.history) == (again.rule, again.value, again.history)
    assert told == [1, 2, 3, 4]
    assert found.value >= found.start
    assert list(found.history) == sorted(found.history)
    days = range(1_000_003, 1_000_007)
    reward = metrics_table(simulate_days(small, found.rule, days))["reward"].mean()
    assert found.value == pytest.approx(reward)


def test_a_panel_s_value_is_the_mean_of_its_days(small: Corridor) -> None:
    worth = objective_named("passengers:vehicle_hour=100")
    expected = np.mean([worth(simulate(small, SimpleRobust(10.0, 0.2), seed)) for seed in range(5)])
    for workers in (1, 2, 9):
        panel = Panel(small, range(5), worth, False, workers)
        assert panel.value(SimpleRobust(10.0, 0.2)) == pytest.approx(expected, rel=1e-12, abs=0)
        panel.close()


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_search_ends_its_threads(small: Corridor, interrupted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    open_panels: list[Panel] = []
    begin, end = Panel.__init__, Panel.close

    def opened(self: Panel, *arguments: Any) -> None:
        begin(self, *arguments)
        open_panels.append(self)

    def closed(self: Panel) -> None:
        end(self)
        open_panels.remove(self)

    def stop(generation: int, best: float) -> None:
        if interrupted:
            raise KeyboardInterrupt

    monkeypatch.setattr(Panel, "__init__", opened)
    monkeypatch.setattr(Panel, "close", closed)
    tune(small, HeadwayReward(), Search(generations=2, population=4, days=2, check_days=2), progress=stop)
    assert not open_panels


def test_the_shipped_linear_rule_beats_the_classical_ones() -> None:
    corridor = default_corridor()
    values = {
        name: metrics_table(simulate_days(corridor, controller_named(name), range(4)))["reward"].mean()
        for name in ("linear", "schedule", "robust:slack=35,memory=0", "headway")
    }
    assert max(values, key=lambda name: values[name]) == "linear"
    assert values["linear"] > -220_000.0


@pytest.mark.parametrize(
    "rule",
    [
        LinearRule(3.5, tuple(range(COUNT))),
        NetworkRule(tuple(np.linspace(0.0, 1.0, 1 + 2 * UNIT))),
        ScheduleHolding(12.5, 0.9, 0.3),
        SimpleRobust(7.0, 0.25),
        NoHolding(),
    ],
)
def test_a_saved_controller_is_read_back(tmp_path: Path, rule: Any) -> None:
    path = tmp_path / "rule.json"
    save_controller(rule, path, {"objective": "reward"})
    assert load_controller(path) == controller_named(str(path)) == rule


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"format": "other"}, "format is 'other'; expected"),
        ({"rule": "magic"}, "rule is 'magic'; expected one of"),
        ({"rule": ["linear"]}, r"rule is \['linear'\]"),
        ({"parameters": 3}, "parameters are 3; expected an object"),
        ({"parameters": {"bias": 1.0}}, r"parameters of linear are \['bias'\]; expected"),
        ({"parameters": dict.fromkeys(("bias", *NAMES), "x")}, "bias is 'x'; expected a number"),
        ({"parameters": dict.fromkeys(("bias", *NAMES), 1e999)}, "expected finite numbers"),
        ({"parameters": dict.fromkeys(("bias", *NAMES), 10**400)}, "too large"),
        ({"rule": "network", "parameters": {"features": [], "numbers": [1.0]}}, r"features are \[\]; expected"),
        ({"rule": "network", "parameters": {"features": list(NAMES), "numbers": [1.0, 2.0]}}, "expected 1 \\+ 12"),
        ({"rule": "network", "parameters": {"features": list(NAMES), "numbers": "x"}}, "expected finite numbers"),
        ({"rule": "robust", "parameters": {"slack": -1.0, "memory": 0.0}}, "slack is -1.0"),
        ({"more": 1}, "keys are"),
    ],
)
def test_bad_controller_files(tmp_path: Path, edit: dict[str, Any], message: str) -> None:
    path = tmp_path / "rule.json"
    save_controller(LinearRule(), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | edit))
    with pytest.raises(InputError, match=message) as caught:
        load_controller(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000, b"[]"])
def test_unreadable_controller_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rule.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"rule\.json(: format is 'list'| is not JSON| is not UTF-8 text)"):
        load_controller(path)
    with pytest.raises(InputError, match="cannot read"):
        load_controller(tmp_path / "none.json")


MINE = """\
def half(observation):
    return observation.holding_limit / 2

def breaks(observation):
    return observation.nothing

class Third:
    batched = True
    def __call__(self, observation):
        return observation.load * 0 + 20.0

number = 3
"""


def test_a_python_file_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Corridor, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    for name in ("./mine.py:half", "mine.py:half", str(tmp_path / "mine.py:half")):
        held = simulate(small, controller_named(name), 1).visits[..., 2]
        assert set(held[np.isfinite(held)]) == {30.0}
    held = simulate(small, controller_named("mine.py:Third"), 1).visits[..., 2]
    assert set(held[np.isfinite(held)]) == {20.0}
    assert main(["simulate", "--controller", "./mine.py:breaks", "--seeds", "1"]) == 2
    assert "mine.py:breaks failed, line 5: AttributeError" in capsys.readouterr().err
    for name, message in (
        ("mine.py:none", r"no controller 'none' in it; it has \['Third', 'breaks', 'half'\]"),
        ("mine.py:number", "it must be callable"),
        ("yours.py:half", "no such file; expected a Python file"),
    ):
        with pytest.raises(InputError, match=message):
            controller_named(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = ?\n", "line 2: SyntaxError"),
        ("a = 1\n\nb = c\n", "line 3: NameError: name 'c'"),
        ("import nothing_of_the_kind\n", "line 1: ModuleNotFoundError"),
    ],
)
def test_a_python_file_that_cannot_be_imported(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "broken.py").write_text(text)
    with pytest.raises(InputError, match=f"broken.py cannot be imported, {message}"):
        controller_named(f"{tmp_path / 'broken.py'}:half")


def test_the_command_writes_what_compare_reads(
    tmp_path: Path, small: Corridor, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyresac.envs.bus import save_corridor

    line, out = tmp_path / "line.json", tmp_path / "rule.json"
    save_corridor(small, line)
    size = ["--generations", "2", "--population", "4", "--days", "2", "--check-days", "3"]
    arguments = ["tune", "--corridor", str(line), "--out", str(out), "--objective", "passengers", *size]
    assert main([*arguments, "--json"]) == 0
    note = json.loads(capsys.readouterr().out)
    assert note["generations"] == 2
    # the first day and the last one of each, beside one another
    assert note["search_days"] == [1_000_000, 1_000_001]
    assert note["check_days"] == [1_000_002, 1_000_004]
    assert (note["population"], note["seed"]) == (4, 0)
    assert note["value"] >= note["start"]
    assert json.loads(out.read_text())["found"]["objective"] == "passengers"
    first = out.read_bytes()
    assert main(arguments) == 0
    assert out.read_bytes() == first
    assert "2 generations" in capsys.readouterr().out
    compare = ["compare", "--corridor", str(line), "--seeds", "2", "--controllers", "none", str(out)]
    assert main([*compare, "--json"]) == 0
    assert str(out) in json.loads(capsys.readouterr().out)["controllers"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "rule.txt"], "expected a file ending in .json"),
        (["--out", "nowhere/rule.json"], "there is no folder"),
        (["--out", "rule.json", "--objective", "speed"], "objective 'speed' is unknown"),
        (["--out", "rule.json", "--days", "0"], r"days is 0; it must be in \[1, 1000\]"),
        (["--out", "rule.json", "--population", "1"], "population is 1"),
        (["--out", "rule.json", "--corridor", "nowhere"], "corridor is 'nowhere'"),
    ],
)
def test_bad_searches(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    import re

    assert main(["tune", *arguments]) == 2
    assert re.search(message, capsys.readouterr().err.replace("\n", " "))
