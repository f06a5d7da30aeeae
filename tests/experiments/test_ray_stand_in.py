"""What a plan asks of Ray, from a stand-in for it: Ray itself is in few environments, and its cluster takes seconds."""

from __future__ import annotations

import importlib.machinery
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pyresac.errors import InputError
from pyresac.experiments import pool, ray_pool
from pyresac.experiments.experiment import Run
from pyresac.experiments.pool import PoolProgress
from pyresac.experiments.ray_pool import LOCAL, run_on_ray

RUNS = [Run(name, {}) for name in ("one", "bad", "lost", "two")]


class Ray(ModuleType):
    """A cluster in which a task ends when it is first waited for; `lost` goes with its machine."""

    class RayError(Exception):
        """Of a task that was lost."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.__spec__ = importlib.machinery.ModuleSpec("ray", None)
        self.exceptions = SimpleNamespace(RayError=self.RayError)
        self.said: list[Any] = []
        self.asked = set[str]()
        self.refusal: Exception | None = None

    def init(self, **options: Any) -> None:
        self.said.append(("init", options))
        if self.refusal is not None:
            raise self.refusal

    def shutdown(self) -> None:
        self.said.append("shutdown")

    def remote(self, **options: Any) -> Callable[[Any], Any]:
        self.said.append(("remote", options))
        return lambda task: SimpleNamespace(remote=lambda folder, run: (folder, run))

    def wait(self, handles: list[Any], timeout: float, num_returns: int = 1) -> tuple[list[Any], list[Any]]:
        if num_returns > 1 or timeout > 0.0:
            self.said.append(("wait", [run.name for _, run in handles], num_returns, timeout))
        ready = [handle for handle in handles if handle[1].name in self.asked]
        self.asked |= {run.name for _, run in handles}
        return ready, []

    def get(self, handle: Any) -> bool:
        folder, run = handle
        if run.name == "lost":
            raise self.RayError
        (folder / run.name).mkdir()
        (folder / run.name / "result.json").write_text("{}")
        return bool(run.name != "bad")

    def cancel(self, handle: Any) -> None:
        self.said.append(("cancel", handle[1].name))


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    found = Ray()
    monkeypatch.setitem(sys.modules, "ray", found)
    monkeypatch.setattr(pool, "POLL_SECONDS", 0.0)
    return found


def test_a_plan_has_a_cluster_of_its_own_and_leaves_it(ray: Ray, tmp_path: Path) -> None:
    progress = run_on_ray(LOCAL, tmp_path, RUNS, 3)
    assert sorted(progress.finished) == ["one", "two"]
    assert sorted(progress.failed) == ["bad", "lost"]
    assert ray.said == [
        ("init", {"num_cpus": 3, "include_dashboard": False, "log_to_driver": False}),
        ("remote", {"num_cpus": 1}),
        "shutdown",
    ]


def test_a_cluster_is_asked_at_its_address(ray: Ray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def connected(address: tuple[str, int], seconds: float) -> Any:
        asked.append((*address, seconds))
        return SimpleNamespace(close=lambda: asked.append("closed"))

    monkeypatch.setattr(socket, "create_connection", connected)
    run_on_ray("ray://head:10001", tmp_path, RUNS[:1], 1)
    assert asked == [("head", 10001, ray_pool.CONNECT_SECONDS), "closed"]
    assert ray.said[0] == ("init", {"address": "ray://head:10001", "log_to_driver": False})
    run_on_ray("auto", tmp_path, RUNS[:1], 1)
    assert len(asked) == 2, "a word is no address to knock at"


def test_an_interrupt_cancels_the_tasks_waits_for_them_and_leaves_the_cluster(ray: Ray, tmp_path: Path) -> None:
    def interrupt(progress: PoolProgress) -> None:
        if len(progress.running) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_on_ray(LOCAL, tmp_path, RUNS, 2, interrupt)
    assert ray.said[2:] == [("cancel", "one"), ("cancel", "bad"), ("wait", ["one", "bad"], 2, 60.0), "shutdown"]


@pytest.mark.parametrize("refusal", [ConnectionError("gone\nand more"), RuntimeError("gone"), ValueError("gone")])
def test_a_cluster_that_refuses_is_one_sentence(ray: Ray, tmp_path: Path, refusal: Exception) -> None:
    ray.refusal = refusal
    with pytest.raises(InputError, match=r"^--ray auto: no cluster there: gone$"):
        run_on_ray("auto", tmp_path, RUNS, 1)
    assert ray.said == [("init", {"address": "auto", "log_to_driver": False})], "there is nothing to leave"


@pytest.mark.parametrize("address", ["head:none", "127.0.0.1:99999999", "ray://127.0.0.1:1"])
@pytest.mark.usefixtures("ray")
def test_an_address_at_which_nobody_listens_is_one_sentence(tmp_path: Path, address: str) -> None:
    with pytest.raises(InputError, match=f"--ray {address}: no cluster there: "):
        run_on_ray(address, tmp_path, RUNS, 1)


@pytest.mark.parametrize(("code", "succeeded"), [(0, True), (1, False)])
def test_a_task_succeeds_as_its_command_does(
    code: int, succeeded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "command", lambda *_: [sys.executable, "-c", f"raise SystemExit({code})"])
    monkeypatch.setattr(ray_pool, "POLL_SECONDS", 0.01)
    assert ray_pool._make(tmp_path, RUNS[0]) is succeeded


def test_a_cancelled_task_ends_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    def started(folder: Path, run: Run) -> Any:
        begun.append(pool.started(folder, run))
        return begun[0]

    def cancelled(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "command", lambda *_: [sys.executable, "-c", "import time; time.sleep(100.0)"])
    monkeypatch.setattr(ray_pool, "started", started)
    monkeypatch.setattr(ray_pool, "time", SimpleNamespace(sleep=cancelled))
    with pytest.raises(KeyboardInterrupt):
        ray_pool._make(tmp_path, RUNS[0])
    assert [process.poll() for process in begun] == [-15]
