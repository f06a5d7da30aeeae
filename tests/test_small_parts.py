"""The files directly in the package, by themselves: memory, warnings, compilation, streams, and reading."""

from __future__ import annotations

import builtins
import io
import os
import re
import runpy
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pyresac import atomic, caches, jit, memory, mujoco_warnings, reading, train
from pyresac import command as command_module
from pyresac.command import Output, abandon, checked, console, exit_code, wide_console
from pyresac.errors import DivergenceError, InputError
from pyresac.options import Checked, Count, allowed, differences, read_options
from pyresac.options import _number as number

# --- memory and caches


def meminfo(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    """Let the system say this of its memory, or nothing."""
    real = builtins.open

    def opened(path: Any, *given: Any, **more: Any) -> Any:
        if path != "/proc/meminfo":
            return real(path, *given, **more)
        if text is None:
            raise FileNotFoundError(path)
        return io.StringIO(text)

    monkeypatch.setattr(builtins, "open", opened)


def test_free_memory_is_what_the_system_calls_available(monkeypatch: pytest.MonkeyPatch) -> None:
    meminfo(monkeypatch, "MemTotal:       900 kB\nMemFree:        100 kB\nMemAvailable:   300 kB\nCached: 5 kB\n")
    assert memory.available_bytes() == 300 * 1024
    pages = {"SC_AVPHYS_PAGES": 7, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", lambda name: pages[name])
    meminfo(monkeypatch, "MemTotal: 900 kB\n")
    assert memory.available_bytes() == 7 * 4096
    for words in (None, "MemAvailable: much kB\n"):
        meminfo(monkeypatch, words)
        assert memory.available_bytes() is None


def test_exactly_what_is_free_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 3 * 2**20)
    memory.require_memory(3 * 2**20, "a table")
    with pytest.raises(InputError, match=r"^a table needs 3 MiB of memory or more; 3 MiB are free$"):
        memory.require_memory(3 * 2**20 + 1, "a table")
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    memory.require_memory(2**60, "a table")


def test_the_user_s_cache_is_where_xdg_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a" / ".." / "xdg"))
    assert caches.user_cache("name") == (tmp_path / "xdg").resolve() / "name"
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for empty in (True, False):
        monkeypatch.setenv("XDG_CACHE_HOME", "") if empty else monkeypatch.delenv("XDG_CACHE_HOME")
        assert caches.user_cache("name") == tmp_path.resolve() / ".cache" / "name"


def test_a_file_that_is_written_leaves_nothing_else(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd") if Path("/proc/self/fd").is_dir() else []
    for content in (b"one", b"three"):
        atomic.write_atomically(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert len(before) in (0, len(os.listdir("/proc/self/fd")) if before else 0)
    with pytest.raises(OSError, match="No such file") as missing:
        atomic.write_atomically(tmp_path / "nowhere" / "file", b"one")
    assert missing.value.filename == str(tmp_path / "nowhere" / "file")

    def cut_short() -> None:
        with atomic.atomic_path(tmp_path / "file") as temporary:
            temporary.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut_short()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    # another file's name stays
    with pytest.raises(OSError, match="refused") as other, atomic.naming(tmp_path / "file"):
        raise OSError(13, "refused", "elsewhere")
    assert other.value.filename == "elsewhere"


# --- warnings and compilation


def test_warnings_say_whose_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(UserWarning, match=r"^MuJoCo: a word$") as seen:
        mujoco_warnings._warn(" a word\n")
    assert seen[0].filename == mujoco_warnings.__file__
    monkeypatch.setattr(jit.Cache, "_said", set())

    def asking() -> None:
        for _ in range(2):
            jit.Cache._say(SimpleNamespace(), "kind", "what", ValueError("why"))  # type: ignore[arg-type]

    with pytest.warns(RuntimeWarning, match=r"^what \(ValueError: why\)$") as seen:
        asking()
    assert len(seen) == 1, "once a process"
    assert seen[0].lineno == asking.__code__.co_firstlineno + 2


def options_of(function: Any) -> dict[str, Any]:
    return {name: value for name, value in function.targetoptions.items() if name not in ("boundscheck", "parallel")}


def test_compiled_code_holds_no_lock_and_keeps_the_order_of_sums_unless_it_says_so() -> None:
    def half(x: float) -> float:
        return x / 2.0

    made = {way: options_of(way(half)) for way in (jit.compiled, jit.borrowing, jit.compiled_sum, jit.inlined)}
    assert {way.__name__: options.get("nogil", False) for way, options in made.items()} == {
        "compiled": True,
        "borrowing": True,
        "compiled_sum": True,
        "inlined": False,
    }
    assert made[jit.compiled_sum]["fastmath"] == {"reassoc"}
    assert {made[way].get("fastmath", False) for way in (jit.compiled, jit.borrowing)} == {False}
    assert made[jit.borrowing]["_nrt"] is False
    assert "_nrt" not in made[jit.compiled]
    assert made[jit.inlined]["inline"] == "always"


def test_what_calls_itself_has_a_digest() -> None:
    """Directly, or by another: each is read once."""
    space: dict[str, Any] = {"jit": jit, "__name__": "mine", "LIMIT": 3}
    source = (
        "def down(x):\n    return x if x < LIMIT else up(x - 1)\n"
        "def up(x):\n    return down(x)\n"
        "def other(x):\n    return up(x) + up(x + 1)\n"
    )
    exec(source, space)
    functions = {name: space[name] for name in ("down", "up", "other")}
    space |= {name: jit.numba.njit(function) for name, function in functions.items()}
    digests = {name: jit.made_of(function) for name, function in functions.items()}
    assert all(re.fullmatch("[0-9a-f]{16}", digest) for digest in digests.values())
    space["LIMIT"] = 4
    assert all(jit.made_of(function) != digests[name] for name, function in functions.items())


# --- streams and messages


def test_the_three_streams_alone_are_opened_where_they_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, opened = list[int](), list[Any]()

    def fstat(number: int) -> None:
        asked.append(number)
        if number == 1:
            raise OSError

    monkeypatch.setattr(command_module, "os", SimpleNamespace(
        fstat=fstat, open=lambda *given: opened.append(given), devnull="null", O_RDWR=2,
    ))  # fmt: skip
    command_module._open_descriptors()
    assert (asked, opened) == ([0, 1, 2], [("null", 2)])


def test_an_abandoned_stream_goes_nowhere_and_costs_no_descriptor(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w") as stream:
        before = os.listdir("/proc/self/fd") if Path("/proc/self/fd").is_dir() else []
        stream.write("what it holds")
        abandon(stream)
        assert not before or os.listdir("/proc/self/fd") == before
        os.write(stream.fileno(), b"more")
    assert (tmp_path / "file").read_bytes() == b""
    abandon(None)
    abandon(io.StringIO())
    with open(tmp_path / "file", "w") as stream:
        pass
    abandon(stream)


class Terminal(io.StringIO):
    """Says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_messages_are_shown_as_they_are(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, paths and words between colons have no colour and are no pictures."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    text = Terminal()
    monkeypatch.setattr(sys, stream, text)
    makers: list[Callable[[], Any]] = [lambda: console(stream == "stderr")]
    if stream == "stdout":
        makers.append(wide_console)
    for make in makers:
        text.truncate(0)
        text.seek(0)
        make().print("12 steps in /a/b: :smile: True", soft_wrap=True)
        assert text.getvalue() == "12 steps in /a/b: :smile: True\n"


def test_a_pipe_has_room_for_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert wide_console().width == 160
    monkeypatch.setenv("COLUMNS", "77")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert wide_console().width == 77


@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        (None, 0, ""),
        (0, 0, ""),
        (3, 3, ""),
        (InputError("bad [b]"), 2, "error: bad [b]"),
        (DivergenceError("infinite"), 1, "stopped: infinite"),
        (OSError("full"), 1, "stopped: full"),
        (MemoryError("much"), 1, "stopped: memory is exhausted: much"),
        (KeyboardInterrupt(), 130, "stopped: interrupted"),
        (KeyboardInterrupt("by hand"), 130, "stopped: by hand"),
        (InputError("words " * 60), 2, "error: " + "words " * 60),
    ],
)
def test_every_end_has_its_code_and_its_sentence_in_one_line(
    end: Any, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> Any:
        if isinstance(end, BaseException):
            raise end
        return end

    assert exit_code(work) == code
    out, error = capsys.readouterr()
    assert (out, error.rstrip()) == ("", words.rstrip())


def test_a_warning_of_the_package_is_a_note_and_another_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    others: list[Any] = []
    before = warnings.showwarning

    def work() -> None:
        words = "doubtful " * 30 + "[b]"
        warnings.warn_explicit(words, UserWarning, str(Path(memory.__file__)), 3)
        warnings.warn_explicit("of another", UserWarning, "/elsewhere/file.py", 7)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *given, **more: others.append(given[:4])
        assert exit_code(work) == 0
    assert warnings.showwarning is before
    assert capsys.readouterr().err == "note: " + "doubtful " * 30 + "[b]\n"
    ((message, category, filename, line),) = others
    assert (str(message), category, filename, line) == ("of another", UserWarning, "/elsewhere/file.py", 7)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ([""], "one"),
        (["a", ""], "one"),
        (["--out", ""], "--out"),
        (["--out="], "--out"),
        (["--out", "--path="], "--path"),
        (["-x", ""], "one"),
    ],
)
def test_an_empty_argument_is_named(arguments: list[str], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=rf"^{name} was given an empty path or value$"):
        checked(arguments)
    monkeypatch.setattr(sys, "argv", ["program", *arguments])
    with pytest.raises(InputError, match=rf"^{name} was given"):
        checked(None)
    good = ["run", "--flag", "a=", "--b=c", "-="]
    assert checked(good) == good
    monkeypatch.setattr(sys, "argv", ["program", *good])
    assert checked(None) == good


def test_an_output_tells_how_much_it_took_and_is_its_stream_else() -> None:
    stream = io.StringIO()
    output = Output(stream)
    assert (output.write("three"), output.write("")) == (5, 0)
    assert stream.getvalue() == "three"
    assert output.getvalue() == "three"
    assert Output(Terminal()).isatty()
    assert not output.isatty()
    assert Output(io.TextIOWrapper(io.BytesIO(), "latin-1")).encoding == "latin-1"


# --- reading and options


def test_rows_have_the_number_of_their_last_line_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('a,b\n\n"1\n2",3\n4')
    assert reading.read_rows(path) == [(1, ["a", "b"]), (4, ["1\n2", "3"]), (5, ["4"])]
    assert reading.read_rows(path, whole_lines=True) == [(1, ["a", "b"]), (4, ["1\n2", "3"])]
    path.write_text("a\n")
    assert reading.read_rows(path, whole_lines=True) == [(1, ["a"])]
    path.write_text("a")
    assert reading.read_rows(path, whole_lines=True) == []
    path.write_text("a\n" + "x" * 200_000 + "\n")
    with pytest.raises(InputError, match=r"rows.csv cannot be read as CSV: .* in line 2"):
        reading.read_rows(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "holds a list"),
        ('"x"', "holds text"),
        ("true", "holds a truth value"),
        ("1", "holds a number"),
        ("1.5", "holds a number"),
        ("null", "holds null"),
        ('{"a": 1, "b": 2, "b": 3}', "'b' stands twice in one object"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_what_is_no_object_is_called_what_it_is(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"^setting {re.escape(str(path))} .*{words}|^setting .*{words}"):
        reading.read_object(path, "setting")
    path.write_bytes(b'\xef\xbb\xbf{"a": {"a": 1}}')
    assert reading.read_object(path) == {"a": {"a": 1}}
    for bad, reason in ((b"a\xff", "is not UTF-8 text: byte 0xFF at 1"), (None, "No such file")):
        path.unlink(missing_ok=True)
        if bad is not None:
            path.write_bytes(bad)
        with pytest.raises(InputError, match=reason):
            reading.read_text(path)
    with pytest.raises(InputError, match=r"cannot read .*null"):
        reading.read_text(Path("a\0b"))


@dataclass(frozen=True)
class Deep(Checked):
    """Options inside options, and lists of them."""

    widths: tuple[Count, ...] = (1,)
    table: tuple[tuple[Count, ...], ...] = ()


@dataclass(frozen=True)
class Outer(Checked):
    """One more floor."""

    deep: Deep = field(default_factory=Deep)
    size: int = 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"deep": {"widths": [1, 0]}}, "here: deep.widths[1] = 0; it must be at least 1"),
        ({"deep": {"table": [[1], [2, 0]]}}, "here: deep.table[1][1] = 0; it must be at least 1"),
        ({"deep": {"widths": [1, "x"]}}, "here: deep.widths[1] = 'x'; expected `int`, got `str`"),
        ({"size": 1.5}, "here: size = 1.5; expected `int`, got `float`"),
        ({"deep": 3}, "here: deep = 3; expected `object`, got `int`"),
    ],
)
def test_what_was_read_is_named_down_to_its_place(values: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_options(Outer, values, "here")
    assert str(error.value) == message
    with pytest.raises(InputError, match=r"^deep = 3; it must be Deep\(…\)$"):
        Outer(deep=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bound", "words"),
    [(3.0, "3"), (-2, "-2"), (0.5, "0.5"), (1e14, "100000000000000"), (1e15, "1e+15"), (0.1234567891, "0.1234567891")],
)
def test_a_bound_is_shown_as_short_as_it_is_exact(bound: float, words: str) -> None:
    assert number(bound) == words
    assert allowed(int) == ""


def test_a_dictionary_in_place_of_a_number_differs_as_a_whole() -> None:
    assert differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}) == ["a.c: 2 → 3"]
    assert differences({"a": {"b": 1}}, {"a": 5}) == ["a: {'b': 1} → 5"]
    assert differences({"a": 5}, {"a": {"b": 1}}) == ["a: 5 → {'b': 1}"]
    assert differences({"a": {"b": 1}}, {"a": {"b": 2}}, free=frozenset({"b"})) == ["a.b: 1 → 2"]


# --- training's command


class Trainee:
    """Stands for an agent at a step."""

    title = "an agent"

    def __init__(self, step: int) -> None:
        self.step = step

    def result(self) -> dict[str, int]:
        return {"steps": self.step}

    def show(self, result: dict[str, int], out: Any) -> None:
        out.print(f"shown {result}")


@pytest.mark.parametrize(
    ("start", "end", "stopped", "words"),
    [
        (0, 8_000, None, ["training 8,000 steps in RUN", "shown {'steps': 8000}", "8,000 steps in 2.0 s (4,000/s). "]),
        (
            2_000,
            8_000,
            None,
            ["resumed at step 2,000 of 8,000 steps in RUN", "shown", "6,000 steps in 2.0 s (3,000/s)"],
        ),
        (8_000, 8_000, None, ["resumed at step 8,000 of", "shown", "Nothing was left to do. Curves: RUN/metrics.csv"]),
        (0, 8_000, "SIGTERM", ["training", "shown {'steps': 8000}", "8,000 steps in"]),
        (0, 7_999, "SIGTERM", ["training", "Stopped by SIGTERM at step 7,999; the checkpoint", "  go on in RUN"]),
    ],
)
def test_a_run_says_what_it_did(
    start: int, end: int, stopped: str | None, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Each in a line of its own, however long its folder's name."""
    run, results = tmp_path / ("a-long-name-" * 18), list[Any]()
    folder: Any = SimpleNamespace(
        path=run,
        metrics_file=run / "metrics.csv",
        resume_command=lambda: f"go on in {run}",
        write_result=results.append,
    )
    trainee = Trainee(start)

    def trained(*_: Any) -> str | None:
        trainee.step = end
        return stopped

    clock = iter([100.0, 102.0])
    monkeypatch.setattr(train, "train", trained)
    monkeypatch.setattr(train, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    config = SimpleNamespace(run=SimpleNamespace(steps=8_000, seed=5))
    assert train._train_and_report(trainee, config, folder, {}, console()) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "an agent, seed 5"
    assert len(lines) == len(words)
    for line, expected in zip(lines, words, strict=True):
        assert line.startswith(expected.replace("RUN", str(run)))
    assert results == ([] if end < 8_000 else [{"steps": 8_000}])


def test_the_way_on_and_what_the_system_refused_are_told(tmp_path: Path) -> None:
    newest: list[Path | None] = [None, tmp_path / "step"]
    folder: Any = SimpleNamespace(latest=lambda: newest.pop(0), resume_command=lambda: "again")
    assert train._way_on(None) == " before there was a run folder"
    assert train._way_on(folder) == "; go on from the beginning, there is no checkpoint, with\n  again"
    assert train._way_on(folder) == f"; go on from {tmp_path / 'step'}, with\n  again"
    assert train._refused(OSError(28, "full", "file")) == "full: file"
    assert train._refused(OSError(28, "full")) == "full"
    assert train._refused(OSError("words")) == "words"


@pytest.mark.parametrize("name", ["run-dir", "config"])
def test_an_empty_path_is_no_path(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main([f"--{name}", ""]) == 2
    assert f"--{name} was given an empty path" in capsys.readouterr().err


def test_the_module_trains(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["train", "--config", ""])
    monkeypatch.delitem(sys.modules, "pyresac.train")
    with pytest.raises(SystemExit) as end:
        runpy.run_module("pyresac.train", run_name="__main__", alter_sys=True)
    assert end.value.code == 2
    assert "--config was given an empty path" in capsys.readouterr().err
