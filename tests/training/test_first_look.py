"""What is read of a command line and of a file before the options are parsed; options that are refused when made."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pyresac.errors import InputError
from pyresac.training.agents import AGENTS, FirstLook, agent_module, require_known
from pyresac.training.command_line import first_look, planned
from pyresac.training.deep_agent import ProblemOptions, description, preset_config, require_use
from pyresac.training.restored import restore_run
from pyresac.training.run_options import CommandOptions

NAMES = ("agent", "run_dir", "config", "algorithm", "preset", "env")


@pytest.mark.parametrize("name", NAMES)
def test_each_option_is_seen_in_every_spelling(name: str) -> None:
    for flag in {f"--{name}", f"--{name.replace('_', '-')}"}:
        for words in ([flag, "of it"], [f"{flag}=of it"], ["--other", "1", flag, "of it", "rest"]):
            assert first_look(words) == FirstLook(**{name: "of it"})
    with pytest.raises(InputError, match=rf"^argument .*--{name}.*: expected one argument$"):
        first_look([f"--{name}"])


def test_nothing_else_is_seen() -> None:
    """No abbreviation, which the parser itself does not know, and no help, which is the parser's to give."""
    assert first_look(["--resume"]) == FirstLook(resume=True)
    for words in (["--help"], ["-h"], ["--res"], ["--algo", "sac"], ["--conf=x"], ["--env-options", "{}"], ["env"], []):
        assert first_look(words) == FirstLook()


@pytest.mark.parametrize("name", ["sarsa", "", None, 3, ["deep"]])
def test_an_unknown_agent_is_named_where_it_stands(name: Any) -> None:
    said = f"agent {name!r} is unknown; known are deep, tabular"
    with pytest.raises(InputError, match=f"^here: {re.escape(said)}$"):
        require_known(name, "here")
    with pytest.raises(InputError, match=f"^{re.escape(said)}$"):
        agent_module(name)
    for known, module in AGENTS.items():
        require_known(known, "here")
        assert agent_module(known).__name__ == module


def test_the_commands_own_options_stand_in_no_file(tmp_path: Path) -> None:
    path = tmp_path / "options.json"
    for agent in AGENTS:
        path.write_text(json.dumps({"agent": agent, "run": {"seed": 5}}))
        name, config = planned(["--config", str(path)])
        assert (name, config.run.seed, config.command.agent) == (agent, 5, agent)
        path.write_text(json.dumps({"agent": agent, "command": {"resume": True}}))
        message = f"{path}: command stands in no file; --run-dir, --config and --resume go on the command line"
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            planned(["--config", str(path)])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"run_dir": ""}, "--run-dir was given an empty path"),
        ({"config": ""}, "--config was given an empty path"),
        ({"resume": True}, "--resume was given without --run-dir; name the folder of the run to resume"),
        (
            {"resume": True, "run_dir": "a", "config": "b"},
            "--resume was given with --config; a resumed run has the options saved in its folder",
        ),
    ],
)
def test_a_command_that_means_nothing_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        CommandOptions(**given)
    for fine in ({"resume": True, "run_dir": "a"}, {"run_dir": "a", "config": "b"}, {"config": "b"}, {}):
        CommandOptions(**fine)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"env": "Some-v0", "env_options": "{"}, "env_options = '{' is not JSON"),
        ({"objective": "speed"}, "objective 'speed' is unknown; expected one of"),
        ({"rule": "nobody"}, "controller 'nobody' is unknown"),
        ({"variation": {"gravity": "2", "noise_in": "both"}}, "gravity is given, but physics and noise go with"),
        ({"variation": {"mass": "2", "reward_noise": "shift 1"}}, "mass, reward_noise is given, but physics and"),
    ],
)
def test_what_a_problem_does_not_know_is_refused_when_it_is_made(given: dict[str, Any], message: str) -> None:
    """Not when its environments are, which takes longer."""
    plain = ProblemOptions()
    if "variation" in given:
        given = {"variation": dataclasses.replace(plain.variation, **given["variation"])}
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        ProblemOptions(**given)


def test_a_typed_option_that_is_idle_is_refused_whatever_its_value_is() -> None:
    """Also where it is the usual one; one that is not typed and is usual may be idle."""
    config = preset_config(None, "tqc", "Pendulum-v1")
    usual = getattr(config.options, "cosines")  # noqa: B009 - an option of this algorithm alone
    require_use(config, [])
    with pytest.raises(InputError, match=r"^--cosines: it goes with critics = 'implicit'; critics is 'fixed'$"):
        require_use(config, ["--cosines", str(usual)])
    changed = dataclasses.replace(config, options=dataclasses.replace(config.options, cosines=usual + 1))
    with pytest.raises(InputError, match=rf"^cosines = {usual + 1}: it goes with critics = 'implicit'"):
        require_use(changed, [])


def test_the_help_names_the_algorithm_and_what_there_is() -> None:
    text = description(preset_config(None, "sac", None))
    assert text.startswith("Train SAC on the bus corridor or another continuous task. Algorithms: resac, sac, td3")
    assert " Presets: default, quick, " in text


@pytest.mark.parametrize("policy", ["worst", "", "Averaged"])
def test_an_unknown_policy_is_refused_before_any_file_is_read(policy: Any) -> None:
    message = rf"^policy is '{policy}'; it must be one of averaged, best, actor$"
    with pytest.raises(InputError, match=message):
        restore_run(Path("nowhere"), policy)
