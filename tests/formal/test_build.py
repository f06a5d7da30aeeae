"""Checking a tree: order, cache, failures, the command's status. A stand-in plays Lean: it refuses a file whose
text says WRONG, warns where it says WARN, and compiles a file to its lines that start with `theorem`. A process of it
answers wrongly once it has checked a file that says SPOIL."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from pyresac.formal import check as command
from pyresac.formal.build import OPTIONS, Builder, chains
from pyresac.formal.errors import FormalError
from pyresac.formal.install import Checker
from pyresac.formal.sources import read_tree

ROOT = Path(__file__).parents[2]

STAND_IN = f"""#!{sys.executable}
import json, os, sys, time
if "--version" in sys.argv:
    print("v24.0.0"); sys.exit()
spoiled = False
def check(mounts, options, source, said):
    global spoiled
    def real(path):
        return next(real + path[len(seen):] for real, seen in mounts if path.startswith(seen + "/"))
    target = real(next(o for o in options if o.startswith("-o"))[2:])
    text = open(real(source)).read()
    for line in text.splitlines():
        name = line.removeprefix("import ").removeprefix("all ").replace(".", "/")
        if line.startswith("import ") and not os.path.exists(real(f"/lean/built/{{name}}.olean")):
            said.append(f"{{source}}:1:0: error: no compiled {{name}}")
            return 1
    if "WRONG" in text or spoiled:
        said.append(f"{{source}}:2:3: error: it is wrong")
        return 1
    if "WARN" in text:
        said.append(f"{{source}}:1:0: warning: unused")
    if "SLOW" in text:
        time.sleep(30)
    if "CRASH" in text:
        sys.exit("out of memory")
    spoiled = "SPOIL" in text
    for part, data in ((".olean", [x for x in text.splitlines() if x.startswith("theorem")]), (".olean.private", text)):
        open(target.removesuffix(".olean") + part, "w").write(str(data))
    return 0
for line in sys.stdin:
    request, said = json.loads(line), []
    with open(sys.argv[-1], "a") as log:
        log.write(f"{{os.getpid()}} {{request['source']}}\\n")
    print("[DEBUG] a trace")
    status = check(**request, said=said)
    answer = dict(status=status, output=chr(10).join(said), heap=10**9)
    print("\\x1e" + json.dumps(answer), flush=True)
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> Checker:
    """A checker made of the stand-in."""
    node = tmp_path / "node"
    node.write_text(STAND_IN)
    node.chmod(node.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "library").mkdir()
    return Checker(node, tmp_path / "lean.js", tmp_path / "library", "one")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A imports B and C; C imports B."""
    root = tmp_path / "lean"
    root.mkdir()
    (root / "A.lean").write_text("import B\nimport C\ntheorem a : True := trivial\n")
    (root / "B.lean").write_text("theorem b : True := trivial\n")
    (root / "C.lean").write_text("import B\ntheorem c : True := trivial\n")
    return root


def run(checker: Checker, root: Path, *, jobs: int = 2, timeout: float = 20.0, fresh: bool = False) -> dict[str, str]:
    """The state of each module, in the order in which they came."""
    built = root.parent / "built"
    built.mkdir(exist_ok=True)
    builder = Builder(checker, built, read_tree(root), timeout, fresh)
    return {r.module.name: r.state for r in builder.run(jobs)}


def test_imports_come_first_and_nothing_is_checked_twice(stand_in: Checker, root: Path) -> None:
    first = run(stand_in, root)
    assert list(first.items()) == [("B", "checked"), ("C", "checked"), ("A", "checked")]
    assert set(run(stand_in, root).values()) == {"cached"}
    assert set(run(stand_in, root, fresh=True).values()) == {"checked"}


def test_a_changed_proof_is_checked_alone_and_a_changed_statement_with_its_users(stand_in: Checker, root: Path) -> None:
    run(stand_in, root)
    (root / "B.lean").write_text("-- shorter\ntheorem b : True := trivial\n")
    assert run(stand_in, root) == {"B": "checked", "C": "cached", "A": "cached"}
    (root / "B.lean").write_text("theorem b' : True := trivial\n")
    assert run(stand_in, root) == {"B": "checked", "C": "checked", "A": "checked"}


def test_import_all_sees_private_changes(stand_in: Checker, root: Path) -> None:
    (root / "D.lean").write_text("import all B\n")
    with_private = run(stand_in, root)
    assert with_private["D"] == "checked"
    (root / "B.lean").write_text("-- shorter\ntheorem b : True := trivial\n")
    assert run(stand_in, root) == {"B": "checked", "C": "cached", "D": "checked", "A": "cached"}


def processes(checker: Checker) -> list[tuple[str, str]]:
    """(process, module) of each file that the stand-in was asked for, in order."""
    lines = [line.split() for line in checker.script.read_text().splitlines()]
    return [(process, Path(source).stem) for process, source in lines]


def test_one_process_checks_file_after_file(stand_in: Checker, root: Path) -> None:
    run(stand_in, root, jobs=1)
    asked = processes(stand_in)
    assert [name for _, name in asked] == ["B", "C", "A"]
    assert len({process for process, _ in asked}) == 1


def test_a_process_with_a_full_memory_is_not_asked_again(
    stand_in: Checker, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyresac.formal.session.HEAP", 10**9 - 1)
    run(stand_in, root, jobs=1)
    assert len({process for process, _ in processes(stand_in)}) == 3


def test_only_a_fresh_process_may_refuse_a_file(stand_in: Checker, root: Path) -> None:
    (root / "B.lean").write_text("theorem b : True := trivial\n-- SPOIL\n")
    assert set(run(stand_in, root, jobs=1).values()) == {"checked"}
    asked = processes(stand_in)
    assert [name for _, name in asked] == ["B", "C", "C", "A"]
    assert len({process for process, _ in asked}) == 2


def test_the_file_under_most_of_the_others_comes_first(root: Path) -> None:
    (root / "Free.lean").write_text("-- a long file that nothing imports\n" * 2)
    found = chains(read_tree(root))
    assert sorted(found, key=lambda name: -found[name]) == ["B", "C", "Free", "A"]


def test_another_checker_checks_again(stand_in: Checker, root: Path) -> None:
    run(stand_in, root)
    other = Checker(stand_in.node, stand_in.script, stand_in.library, "two")
    assert set(run(other, root).values()) == {"checked"}


@pytest.mark.parametrize("text", ["WRONG", "WARN", "CRASH", "theorem b : True := by sorry", "axiom b : False"])
def test_a_bad_file_fails_and_its_users_are_not_reached(stand_in: Checker, root: Path, text: str) -> None:
    run(stand_in, root)
    (root / "B.lean").write_text(text + "\n")
    assert run(stand_in, root) == {"B": "failed", "A": "unreached", "C": "unreached"}
    assert run(stand_in, root)["B"] == "failed"


def test_a_damaged_record_is_a_miss(stand_in: Checker, root: Path) -> None:
    run(stand_in, root)
    (root.parent / "built/B.json").write_text("{")
    assert run(stand_in, root)["B"] == "checked"


def test_a_file_that_takes_too_long_fails(stand_in: Checker, root: Path) -> None:
    (root / "B.lean").write_text("SLOW\n")
    assert run(stand_in, root, timeout=0.5)["B"] == "failed"


def test_the_command(
    stand_in: Checker, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "install", lambda *_, **__: stand_in)
    arguments = ["--root", str(root), "--top", "A", "--cache", str(root.parent / "home")]
    assert command.main(arguments) == 0
    assert "3 of 3 files good (0 unchanged" in capsys.readouterr().out
    (root / "D.lean").write_text("")
    assert command.main(arguments) == 1
    out = capsys.readouterr().out
    assert f"{root}/D.lean:1:0: error: A.lean does not import D" in out
    assert "4 of 4 files good (3 unchanged since their last check), 0 failed, 0 not reached, 1 not imported" in out
    (root / "D.lean").unlink()
    (root / "B.lean").write_text("WRONG\n")
    assert command.main(arguments) == 1
    out = capsys.readouterr().out
    assert f"{root}/B.lean:2:3: error: it is wrong" in out
    assert "skip  C  an import failed" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--root", "nowhere"], "not a folder of Lean sources"),
        (["--jobs", "0"], "--jobs is 0; it must be at least 1"),
        (["--timeout", "0"], "--timeout is 0; it must be above 0"),
        (["--package", "nowhere.tgz"], "--package nowhere.tgz is not a file"),
    ],
)
def test_bad_options_end_with_status_2(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 2
    assert complaint in capsys.readouterr().err


def test_a_set_up_that_fails_ends_with_status_2(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> Checker:
        raise FormalError("no network")

    monkeypatch.setattr(command, "install", fail)
    assert command.main(["--root", str(root), "--top", "A"]) == 2
    assert "no network" in capsys.readouterr().err


def test_the_options_are_the_lakefile_s() -> None:
    lakefile = (ROOT / "lakefile.lean").read_text()
    assert "leanOptions := #[⟨`autoImplicit, false⟩]" in lakefile
    assert OPTIONS == ("-DautoImplicit=false",)
