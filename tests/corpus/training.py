"""Options, sizes, folders and files of `python -m pyresac.train`."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

from corpus.case import Case, Files

TABULAR = "train --agent tabular --steps 200 --eval-every 100 --eval-episodes 1 --final-episodes 2 --no-tensorboard"
DEEP = "train --env Pendulum-v1 --algorithm sac --run-dir run"
UNDECODABLE = os.fsdecode(b"run\xff")


def config(content: str | bytes) -> Files:
    """A file of options."""
    return {"options.json": content}


def run(path: Path) -> None:
    """A run that has ended."""
    from pyresac.train import main

    with contextlib.redirect_stdout(io.StringIO()):
        assert main([*TABULAR.split()[1:], "--run-dir", str(path)]) == 0


def run_without_checkpoints(path: Path) -> None:
    """Somebody has made room on the disk."""
    run(path)
    for file in (path / "checkpoints").iterdir():
        file.unlink()


def run_of_another_hand(path: Path) -> None:
    """A checkpoint that is signed as it should be, whose state is a list where a dictionary was."""
    from pyresac.training.checkpoint import load_checkpoint, save_checkpoint

    run(path)
    (file,) = (path / "checkpoints").iterdir()
    saved = load_checkpoint(file)
    save_checkpoint(file, saved.state | {"trainee": [1, 2]}, saved.arrays)


def run_with_rows(rows: bytes) -> Files:
    """A run with another metrics.csv."""

    def changed(path: Path) -> None:
        run(path)
        (path / "metrics.csv").write_bytes((path / "metrics.csv").read_bytes() + rows)

    return {"run": changed}


READ = "train --config options.json --run-dir run"
RESUME = "train --run-dir run --resume"
FEW, MANY = "[1, 1000000]", "100000000"

CASES = [
    Case("an empty path to resume", "train --run-dir '' --resume", "--run-dir was given an empty path"),
    Case("an empty path of options", "train --config ''", "--config was given an empty path"),
    Case("figures in an empty path", "evaluate run --figures ''", "--figures was given an empty path"),
    Case("a line in an empty path", "corridor simulate --corridor=", "--corridor was given an empty path"),
    Case("an MDP in an empty path", "solve ''", "one was given an empty path"),
    Case("nothing to resume", "train --resume", "--resume was given without --run-dir"),
    Case("checkpoints are gone", RESUME, "so checkpoints were written, but there is none in", 2,
         {"run": run_without_checkpoints}),
    Case("a state of another hand", RESUME, "does not fit this version", 2, {"run": run_of_another_hand}),
    Case("rows that are no text", RESUME, "run/metrics.csv is not UTF-8 text: byte 0xFF", 2, run_with_rows(b"\xff\n")),
    Case("a step ²", RESUME, "Nothing was left to do", 0, run_with_rows("²,1,2,3\n".encode())),
    Case("a preset in a list", READ, "preset = ['resac']; it must be a name", 2, config('{"preset": ["resac"]}')),
    Case("nested 10⁵ times", READ, "options.json is not JSON that can be read: it is nested", 2, config("[" * 10**5)),
    Case("400 digits", READ, "steps = 999", 2, config(f'{{"run": {{"steps": {"9" * 400}}}}}')),
    Case("5,000 digits", READ, "configuration options.json is not JSON: Exceeds the limit", 2, config("9" * 5000)),
    Case("an option twice", READ, "'seed' stands twice in one object", 2, config('{"run": {"seed": 1, "seed": 2}}')),
    Case("options in UTF-16", READ, "is not UTF-8 text: byte 0xFF at 0", 2, config("{}".encode("utf-16"))),
    Case("options in a folder", "train --config .", "cannot read configuration .: Is a directory"),
    Case("many evaluation episodes", f"{DEEP} --eval-episodes {MANY}", f"it must lie in {FEW}"),
    Case("many final episodes", f"{DEEP} --final-episodes {MANY}", "it must lie in [2, 1000000]"),
    Case("many copies", f"{DEEP} --num-envs 10000000", "num_envs = 10000000; it must lie in [1, 4096]"),
    Case("a large buffer", f"{DEEP} --buffer-size 1{'0' * 15}", "MiB of memory, 36 bytes a transition"),
    Case("a large batch", f"{DEEP} --batch-size 1{'0' * 15}", "MiB of memory or more"),
    Case("many tabular heads", f"{TABULAR} --run-dir run --ensemble-size 1{'0' * 12}", "MiB of memory or more"),
    Case("1e25 tabular heads", f"{TABULAR} --run-dir run --ensemble-size 1e25", "'1e25'"),
    Case("many episodes to evaluate", f"evaluate run --episodes {MANY}", f"it must lie in {FEW}"),
    Case("many days", f"corridor compare --seeds {MANY}", "at most 1,000,000"),
    Case("a folder whose name is no text", f"{TABULAR} --run-dir {UNDECODABLE}", "200 steps in", 0,
         makes=(f"{UNDECODABLE}/result.json",)),
    Case("a folder with a null character", f"{TABULAR} --run-dir 'a\0b'", "embedded null byte"),
    Case("a name of 300 letters", f"{TABULAR} --run-dir {'a' * 300}", "File name too long"),
    Case("a folder in a file", f"{TABULAR} --run-dir file/run", "Not a directory", 2, {"file": "text"}),
]  # fmt: skip
