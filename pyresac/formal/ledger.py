"""The claims ledger: `python -m pyresac.formal.ledger`.

`claims.toml` holds, for every claim of the paper, what it says and where, our verdict, what is true, and the evidence:
Lean theorems (the main one first) and property tests. This prints it as a table and writes `docs/claims.md` and the
README's table of theorems. `problems` compares it with the sources in both directions.
"""

from __future__ import annotations

import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.table import Table

from pyresac.command import safe_streams
from pyresac.formal.declarations import Declaration, declarations
from pyresac.formal.errors import FormalError
from pyresac.formal.headlines import headlines
from pyresac.formal.markers import Marker, markers, names_of_tests
from pyresac.formal.real import FOLDER as LAYER

FILE = Path(__file__).with_name("claims.toml")
WIDTH = 118
FOLDERS = ("property_tests", "tests")
BEGIN, END = "<!-- theorems: begin -->", "<!-- theorems: end -->"
VERDICTS = {
    "proved": "Holds as stated",
    "corrected": "Holds after repair",
    "refuted": "Does not hold",
    "checked": "Figures, recomputed",
    "program": "The published program",
    "informal": "Not a mathematical statement",
}
"""Verdict → its heading; the order is that of docs/claims.md."""
REQUIRED = {"id", "title", "place", "claim", "verdict", "finding"}
FIGURES = "C34"
"""The claim under which the page prints the recomputed figures."""
FIELDS = REQUIRED | {"note", "added", "theorems", "tests", "untested"}


@dataclass(frozen=True)
class Claim:
    """One row. claim: what the paper says. finding: what is true, with the smallest counterexample where there is one.
    added: a statement of ours that the paper does not make. untested: why no test states it, where none does."""

    id: str
    title: str
    place: str
    claim: str
    verdict: str
    finding: str
    theorems: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    note: str = ""
    added: bool = False
    untested: str = ""


@dataclass(frozen=True)
class LedgerOptions:
    """Where the repository is."""

    repository: Path = Path()
    """Folder with lean/, docs/ and README.md."""


def load(file: Path = FILE) -> list[Claim]:
    """The ledger in its order. FormalError names the entry that is not well formed."""
    with file.open("rb") as handle:
        entries = tomllib.load(handle).get("claims", [])
    claims = [_claim(entry) for entry in entries]
    twice = [i for i, n in Counter(c.id for c in claims).items() if n > 1]
    if twice:
        raise FormalError(f"{file.name}: {', '.join(twice)} occur more than once")
    return claims


def _claim(entry: Mapping[str, Any]) -> Claim:
    name = entry.get("id", "an entry without id")
    wrong = sorted(set(entry) - FIELDS)
    missing = sorted(REQUIRED - set(entry))
    if wrong or missing:
        raise FormalError(f"{name}: unknown fields {wrong}, missing fields {missing}")
    if entry["verdict"] not in VERDICTS:
        raise FormalError(f"{name}: verdict is {entry['verdict']!r}; it must be one of {', '.join(VERDICTS)}")
    values: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else " ".join(v.split()) if isinstance(v, str) else v
        for k, v in entry.items()
    }
    return Claim(**values)


# ---------------------------------------------------------------------------------------------- against the sources


def problems(claims: list[Claim], repository: Path) -> list[str]:
    """Every disagreement between the ledger, the Lean sources and the tests; empty where there is none."""
    folders = [repository / "lean", repository / "lean" / LAYER]
    declared = {name: d for f in folders if f.is_dir() for name, d in declarations(f).items()}
    marked = markers(repository, FOLDERS)
    tests = names_of_tests(repository, FOLDERS)
    return [
        *_without_evidence(claims),
        *_dangling(claims, declared, tests),
        *_unlisted_theorems(claims, declared),
        *_unlisted_tests(claims, marked),
        *_wrong_names(marked, declared),
    ]


def _without_evidence(claims: list[Claim]) -> Iterator[str]:
    for c in claims:
        if c.verdict in ("proved", "corrected", "refuted") and not c.theorems:
            yield f"{c.id} is {c.verdict}; it needs a Lean theorem"
        if c.verdict != "informal" and bool(c.tests) == bool(c.untested):
            yield f"{c.id} is {c.verdict}; it needs tests, or a word on why there are none (untested), and not both"


def _dangling(claims: list[Claim], declared: Mapping[str, Declaration], tests: set[str]) -> Iterator[str]:
    for c in claims:
        for name in c.theorems:
            if name not in declared or declared[name].kind != "theorem":
                yield f"{c.id} names the theorem {name}, which the Lean sources do not have"
        for test in c.tests:
            if test not in tests:
                yield f"{c.id} names the test {test}, which does not exist"


def _unlisted_theorems(claims: list[Claim], declared: Mapping[str, Declaration]) -> Iterator[str]:
    listed = {c.id: c.theorems for c in claims}
    for d in declared.values():
        for claim in d.claims:
            if claim not in listed:
                yield f"{d.name} cites {claim}, which is not in the ledger"
            elif d.kind == "theorem" and d.name not in listed[claim]:
                yield f"{d.name} cites {claim}, which does not list it"


def _unlisted_tests(claims: list[Claim], marked: list[Marker]) -> Iterator[str]:
    listed = {c.id: c.tests for c in claims}
    for m in marked:
        if m.claim not in listed:
            yield f"{m.test} states {m.claim}, which is not in the ledger"
        elif m.test not in listed[m.claim]:
            yield f"{m.test} states {m.claim}, which does not list it"


def _wrong_names(marked: list[Marker], declared: Mapping[str, Declaration]) -> Iterator[str]:
    for m in marked:
        for name in m.lean:
            if name not in declared:
                yield f"{m.test} names {name}, which the Lean sources do not have"


# ---------------------------------------------------------------------------------------------- what it looks like


def table(claims: list[Claim]) -> Table:
    """One line a claim."""
    result = Table("Claim", "Paper", "Statement", "Verdict", "Theorems", "Tests", title="Claims of the paper")
    for c in claims:
        main = c.theorems[0].removeprefix("RESAC.") if c.theorems else "–"
        more = f" (+{len(c.theorems) - 1})" if len(c.theorems) > 1 else ""
        result.add_row(c.id, c.place, c.title, c.verdict, main + more, str(len(c.tests)))
    return result


def page(claims: list[Claim]) -> str:
    """docs/claims.md."""
    counts = Counter(c.verdict for c in claims if not c.added)
    own = [c for c in claims if c.added]
    lines = [
        "# What the paper claims, and what is true of it\n",
        _filled(
            SUMMARY.format(
                claims=len(claims) - len(own),
                added=len(own),
                own=", ".join(c.id for c in own),
                **{v: counts[v] for v in VERDICTS},
            )
        ),
        READING,
    ]
    for verdict, heading in VERDICTS.items():
        lines.append(f"## {heading}\n")
        for c in claims:
            if c.verdict == verdict and not c.added:
                lines += [_entry(c), _figures()] if c.id == FIGURES else [_entry(c)]
    lines.append("## What the paper leaves open\n")
    lines += [_entry(c) for c in own]
    return "\n".join(lines).rstrip() + "\n"


def _entry(c: Claim) -> str:
    parts = [f"### {c.id}. {c.title}\n", f"*{c.place}.* {c.claim}\n", f"{c.finding}\n"]
    if c.note:
        parts.append(f"{c.note}\n")
    evidence = []
    if c.theorems:
        evidence.append("Lean: " + ", ".join(f"`{t.removeprefix('RESAC.')}`" for t in c.theorems) + ".")
    if c.tests:
        files = Counter(t.partition("::")[0] for t in c.tests)
        evidence.append("Tests: " + ", ".join(f"`{f}` ({n})" for f, n in files.items()) + ".")
    if c.untested:
        evidence.append(f"No test: {c.untested}.")
    if evidence:
        parts.append(" ".join(evidence) + "\n")
    return "\n".join(_filled(part) for part in parts)


def _filled(paragraph: str) -> str:
    return textwrap.fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def _figures() -> str:
    rows = ["| The paper | From its tables | Agrees |", "|---|---|---|"]
    for h in headlines():
        remark = f"; {h.remark}" if h.remark else ""
        rows.append(f"| {h.printed} | {h.recomputed}{remark} | {'yes' if h.agrees else 'no'} |")
    return "\n".join(rows) + "\n"


def theorem_table(claims: list[Claim], files: Mapping[str, str]) -> str:
    """The README's table: every claim with a theorem. files: theorem → the file that holds it, for a link."""
    rows = ["| Claim | What it says | Verdict | Main theorem |", "|---|---|---|---|"]
    for c in claims:
        if c.theorems:
            main = f"`{c.theorems[0]}`"
            link = f"[{main}]({files[c.theorems[0]]})" if c.theorems[0] in files else main
            rows.append(f"| {c.id} | {c.title} | {c.verdict} | {link} |")
    return "\n".join(rows)


def theorem_files(repository: Path) -> dict[str, str]:
    """Full name → the file that declares it, relative to the repository."""
    folders = [repository / "lean", repository / "lean" / LAYER]
    return {
        name: d.file.relative_to(repository).as_posix()
        for folder in folders
        if folder.is_dir()
        for name, d in declarations(folder).items()
    }


def with_table(readme: str, claims: list[Claim], files: Mapping[str, str]) -> str:
    """The README with the table between its two markers. FormalError where the markers are not there once each."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1 or readme.index(BEGIN) > readme.index(END):
        raise FormalError(f"README.md must hold the lines {BEGIN} and {END} once each, in this order")
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{theorem_table(claims, files)}\n{END}{after}"


SUMMARY = """The paper is *RE-SAC*. Of its {claims} claims that we looked at, {proved} hold as stated, {corrected} hold
after a repair that we prove, {refuted} do not hold, {checked} are figures that we recomputed or read off published
logs, {program} is about the published program, and {informal} are not mathematical statements. {added} more ({own})
are ours. The main theorem, contraction with a unique fixed point under frozen penalties, stands, and in greater
generality than the paper has it."""
READING = """\
The theorems below are in `lean/RESAC/`, over an arbitrary linearly ordered field (so for ℚ and for ℝ), from Lean's
core library alone; the soft ones assume three laws of exp and log, and the counterexamples of C22, C23 and C25 are
MDPs over ℚ. They were checked with the npm build of Lean 4.28.0-pre (`python -m pyresac.formal.check`). The pinned
release, Lean 4.28.0 with `lake build`, is the authority.
Names that begin with `Reals.` are in `lean/real`, over ℝ in Mathlib's terms, checked so far against a stand-in for
Mathlib only ([real-layer.md](real-layer.md)).
Tests are property tests on exact rational arithmetic unless their names say otherwise. A test holds this page, the
Lean sources and the tests against each other.

"Pair form" is the penalty Γ(s,a) of the contraction theorem; "next form" is Γ(s',a') inside the expectation, as in
the algorithm's target. Tuples list the actions of one state.
"""


@safe_streams()
def main(arguments: list[str] | None = None) -> int:
    """Print the table, write the page and the README's table; 1 where the ledger and the sources disagree."""
    repository = tyro.cli(
        LedgerOptions, args=arguments, prog="python -m pyresac.formal.ledger", description=__doc__
    ).repository
    try:
        claims = load()
        readme = repository / "README.md"
        text = with_table(readme.read_text(encoding="utf-8"), claims, theorem_files(repository))
        found = problems(claims, repository)
    except (FormalError, FileNotFoundError) as error:
        print(f"python -m pyresac.formal.ledger: {error}", file=sys.stderr)
        return 2
    Console().print(table(claims))
    (repository / "docs").mkdir(exist_ok=True)
    (repository / "docs/claims.md").write_text(page(claims), encoding="utf-8")
    readme.write_text(text, encoding="utf-8")
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
