"""Help and messages about bad input come before PyTorch is imported, which takes seconds.

That is held by the modules that a process has, and by no clock.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pyresac.deep.algorithms import ALGORITHMS
from pyresac.training.presets import PRESETS

ANSWERS = """
import contextlib, io, json, sys
from importlib import import_module
main = import_module(sys.argv[1]).main
slow = json.loads(sys.argv[3])
for arguments, expected in json.loads(sys.argv[2]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code
    assert code == expected, (arguments, code)
    assert not [name for name in slow if name in sys.modules], (arguments, slow)
"""
"""Calls a command with one list of arguments after the other, in one process."""

HELP = [
    (["--help"], 0),
    *((["--algorithm", name, "--help"], 0) for name in ALGORITHMS),
    *((["--preset", name, "--help"], 0) for name in PRESETS),
    (["--algorithm", "td3", "--env", "Pendulum-v1", "--help"], 0),
    (["--agent", "tabular", "--help"], 0),
]
BAD = [
    (["--tau", "3"], 2),
    (["--hidden", "0"], 2),
    (["--nonsense", "1"], 2),
    (["--steps", "many"], 2),
    (["--steps", "7"], 2),  # no multiple of num_envs
    (["--algorithm", "ppo"], 2),
    (["--algorithm", "sac", "--lambda-ale", "1"], 2),
    (["--preset", "slow"], 2),
    (["--rule", "nobody"], 2),
    (["--corridor", "nowhere.json"], 2),
    (["--env", "Nowhere-v0"], 2),
    (["--env", "CartPole-v1"], 2),  # its actions are no Box
    (["--run-dir", "nowhere", "--resume"], 2),
    (["--config", "nowhere.json"], 2),
]


def answers(command: str, calls: list[tuple[list[str], int]], folder: Path, slow: tuple[str, ...]) -> None:
    """The command ends with these codes, in a process that has none of the slow modules."""
    program = [sys.executable, "-c", ANSWERS, command, json.dumps(calls), json.dumps(slow)]
    found = subprocess.run(program, capture_output=True, text=True, cwd=folder, timeout=300, check=False)
    assert found.returncode == 0, found.stderr
    assert not list(folder.iterdir())


@pytest.mark.parametrize("calls", [HELP, BAD], ids=["help", "bad input"])
def test_train_answers_without_pytorch(calls: list[tuple[list[str], int]], tmp_path: Path) -> None:
    answers("pyresac.train", calls, tmp_path, ("torch", "matplotlib"))


def test_evaluate_answers_without_pytorch(tmp_path: Path) -> None:
    calls = [(["--help"], 0), (["nowhere"], 2), (["nowhere", "--episodes", "0"], 2), (["--nonsense"], 2)]
    answers("pyresac.evaluate", calls, tmp_path, ("torch",))


def test_the_experiments_answer_without_pytorch(tmp_path: Path) -> None:
    calls = [(["list"], 0), (["--help"], 0), (["plan", "--help"], 0), (["plan", "nothing"], 2), (["run"], 2)]
    answers("pyresac.experiments.__main__", calls, tmp_path, ("torch", "matplotlib"))


def test_the_tabular_half_needs_neither_pytorch_nor_gymnasium() -> None:
    program = "import sys, pyresac.tabular; assert not {'torch', 'gymnasium', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
