"""Plans on a local Ray cluster of two workers: a failing run stops nobody, an interrupt loses nothing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from pyresac.errors import InputError
from pyresac.experiments import pool
from pyresac.experiments.__main__ import main
from pyresac.experiments.experiment import Run
from pyresac.experiments.pool import PoolProgress
from pyresac.experiments.ray_pool import LOCAL, require_ray, run_on_ray

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install 'pyresac[ray]'"
)
STAND_IN = """#!{python}
import json, sys, time
from pathlib import Path
path = Path(sys.argv[sys.argv.index("--run-dir") + 1])
path.mkdir(exist_ok=True)
(path / "config.json").write_text("{{}}")
with open(path / "calls", "a") as file:
    file.write("x")
first = (path / "calls").read_text() == "x"
time.sleep(100.0 if first and "long" in path.name else 0.3)
if "bad" in path.name:
    sys.exit(1)
(path / "result.json").write_text("{{}}")
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the interpreter's place: tasks of Ray import the package anew, so nothing there can be replaced."""
    program = tmp_path / "interpreter"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv(pool.INTERPRETER, str(program))
    return tmp_path / "runs"


@needs_ray
@pytest.mark.slow
def test_all_runs_are_made_and_a_failing_one_stops_nobody(stand_in: Path) -> None:
    runs = [Run(name, {}) for name in ("one", "bad", "two")]
    most = 0

    def shown(progress: PoolProgress) -> None:
        nonlocal most
        most = max(most, len(progress.running))

    progress = run_on_ray(LOCAL, stand_in, runs, 2, shown)
    assert sorted(progress.finished) == ["one", "two"]
    assert progress.failed == ["bad"]
    assert most == 2
    # a finished one is not made again, an interrupt leaves what is done, and the same call goes on
    more = [*runs[:1], Run("long", {})]

    def interrupt(progress: PoolProgress) -> None:
        if "long" in progress.running and (stand_in / "long" / "calls").exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_on_ray(LOCAL, stand_in, more, 2, interrupt)
    assert not (stand_in / "long" / "result.json").exists()
    assert sorted(run_on_ray(LOCAL, stand_in, more, 2).finished) == ["long", "one"]
    assert (stand_in / "one" / "calls").read_text() == "x"


@needs_ray
def test_an_address_without_a_cluster_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--ray 127\.0\.0\.1:1: no cluster there"):
        run_on_ray("127.0.0.1:1", tmp_path, [Run("one", {})], 1)


def test_without_ray_the_extra_is_named_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    folder = tmp_path / "runs"
    assert main(["run", "noise", "--scale", "smoke", "--ray", "auto", "--runs", str(folder)]) == 2
    assert "pip install 'pyresac[ray]'" in capsys.readouterr().err
    assert not folder.exists()
    with pytest.raises(InputError, match="empty address"):
        require_ray("")
