"""One self-contained page of all results: verdicts first, then each experiment's tables beside the paper's numbers."""

from __future__ import annotations

import base64
import re
from html import escape
from pathlib import Path
from typing import Any

from pyresac.atomic import write_atomically
from pyresac.errors import InputError
from pyresac.experiments.experiment import EXPERIMENTS, SCALES
from pyresac.reading import read_object

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
.scroll { overflow-x: auto; margin: 0.5rem 0 1.5rem; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
.title { font-weight: 600; margin: 1rem 0 0; }
th, td { padding: 0.25rem 0.7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; min-width: 5rem; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: Canvas; }
.paper { opacity: 0.65; } .note { font-size: 0.85rem; opacity: 0.8; }
li { margin: 0.6rem 0; } img { max-width: 100%; height: auto; }
.verdict { display: inline-block; padding: 0 0.5rem; border-radius: 0.7rem; background: var(--soft); font-weight: 600; }
.no { background: #d335; } .yes { background: #3a35; }
code { background: var(--soft); padding: 0 0.25rem; overflow-wrap: anywhere; }
@media print {
  body { max-width: none; font-size: 11px; } th, td { white-space: normal; } .scroll { overflow: visible; }
}
"""
SEED = re.compile(r"--seed (\d+)")
ORDER = ("does not reproduce", "undecided", "not tried at this scale", "reproduces")
BADGE = {"reproduces": "yes", "does not reproduce": "no"}


def write_report(results: Path, output: Path) -> None:
    """Write the page. Raises InputError if there are no results, or a file of them cannot be read."""
    found = {name: content for name in EXPERIMENTS if (content := _newest(results / name)) is not None}
    if not found:
        raise InputError(f"{results} has no results yet; make some: python -m pyresac.experiments run NAME")
    parts = [_parts(results / name, name, content) for name, content in found.items()]
    verdicts = sorted((row for rows, _, _ in parts for row in rows), key=lambda row: row[0])
    body = [
        "<h1>RE-SAC: what the paper says and what we find</h1>",
        "<p>Every table stands beside the paper's own numbers, where it has some (grey). Intervals are of 95 %.</p>",
        f"<h2>Verdicts</h2><ul>{''.join(item for _, item in verdicts)}</ul>",
        *(section for _, section, _ in parts),
        f"<h2>How it was made</h2><ul>{''.join(made for _, _, made in parts)}</ul>",
    ]
    output.parent.mkdir(parents=True, exist_ok=True)
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>RE-SAC: results</title><style>{STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )
    write_atomically(output, page.encode())


def _parts(folder: Path, name: str, content: dict[str, Any]) -> tuple[list[tuple[int, str]], str, str]:
    """An experiment's verdicts, its section, and how it was made. Raises InputError for results without them."""
    try:
        return _verdicts(name, content), _section(folder, name, content), _made(content)
    except InputError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        path = folder / f"{content['scale']}.json"
        kind = f"{type(error).__name__}: {error}"
        raise InputError(f"{path} cannot be read as results ({kind}); make it again") from error


def _newest(folder: Path) -> dict[str, Any] | None:
    """The results of the largest scale that is there."""
    for scale in reversed(SCALES):
        path = folder / f"{scale}.json"
        if path.is_file():
            content = read_object(path)
            lacking = {"tables", "findings", "scale"} - content.keys()
            if lacking:
                raise InputError(f"{path} cannot be read as results: it lacks {', '.join(sorted(lacking))}")
            return content
    return None


def _sentence(words: str) -> str:
    """With a capital, but for a Greek letter: λ is a name, and Λ another."""
    begun = words[:1].upper() + words[1:] if words[:1].isascii() else words
    return begun if begun.endswith((".", "?")) else f"{begun}."


def _badge(verdict: str) -> str:
    return f'<span class="verdict {BADGE.get(verdict, "")}">{escape(verdict)}</span>'


def _verdicts(name: str, content: dict[str, Any]) -> list[tuple[int, str]]:
    """Each with its place on the page: unfavourable ones first."""
    return [
        (
            ORDER.index(finding["verdict"]),
            f"<li>{_badge(finding['verdict'])} <b>{escape(finding['claim'])}.</b> "
            f"{escape(_sentence(finding['found']))} "
            f'<a href="#{escape(name)}">{escape(name)}</a>{_share(content)}</li>',
        )
        for finding in content["findings"]
    ]


def _section(folder: Path, name: str, content: dict[str, Any]) -> str:
    entry = EXPERIMENTS[name]
    figures = []
    for file in content.get("figures", ()):
        path = folder / "figures" / file
        if not path.is_file():
            raise InputError(f"{path} is missing; make it: python -m pyresac.experiments redraw")
        image = base64.b64encode(path.read_bytes()).decode()
        figures.append(f'<p><img src="data:image/png;base64,{image}" alt="{escape(file)}"></p>')
    return (
        f'<h2 id="{escape(name)}">{escape(name)}</h2><p>{escape(_sentence(entry.about))} '
        f"In the paper: {escape(entry.source)}. Scale: {escape(content['scale'])}. "
        f"Command: <code>{escape(content['command'])}</code>{_share(content)}{_seeds(content)}</p>"
        + "".join(figures)
        + "".join(_table(table) for table in content["tables"])
    )


def _share(content: dict[str, Any]) -> str:
    """How many runs all stands on, where those are not all of the plan."""
    done, planned = content.get("finished"), content.get("planned")
    return "" if done == planned else f", {done} of {planned} runs"


def _seeds(content: dict[str, Any]) -> str:
    """Those that the runs were trained with."""
    options = " ".join(str(one.get("options", "")) for one in content.get("measures", {}).values())
    seeds = sorted({int(seed) for seed in SEED.findall(options)})
    return f". Seeds: {', '.join(map(str, seeds))}" if seeds else ""


def _table(table: dict[str, Any]) -> str:
    columns, paper = table["columns"], table["paper"]
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    rows = []
    for label, cells in table["rows"]:
        theirs = paper.get(label, [""] * len(cells))
        both = [
            escape(own) + (f'<br><span class="paper">{escape(other)}</span>' if other else "")
            for own, other in zip(cells, [*theirs, *[""] * len(cells)], strict=False)
        ]
        rows.append(f"<tr><td>{escape(label)}</td>{''.join(f'<td>{cell}</td>' for cell in both)}</tr>")
    note = f'<p class="note">{escape(table["note"])}</p>' if table["note"] else ""
    return (
        f'<p class="title">{escape(table["title"])}</p><div class="scroll"><table><tr><th></th>{head}</tr>'
        f"{''.join(rows)}</table></div>{note}"
    )


def _made(content: dict[str, Any]) -> str:
    """The command, and the versions that the runs were measured with, where the file names them."""
    words = ["; ".join(f"{name} {version}" for name, version in used.items()) for used in content.get("versions", ())]
    measured = f"<br>{escape(', and with '.join(words))}" if words else ""
    return f"<li><code>{escape(content['command'])}</code>{measured}</li>"
