"""How the site shows docstrings: arguments as a list, and examples as code.

Our docstrings say "name: what it is" in running text, as a reader of the source likes it. On a page a list is easier.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.M)
CODE = re.compile(r"(`[^`]+`)")


def known(thing: griffe.Object) -> set[str]:
    """What a docstring may explain by its name: parameters, and fields of a class."""
    names = {parameter.name for parameter in thing.parameters} if isinstance(thing, griffe.Function) else set()
    if isinstance(thing, griffe.Class):
        names = {parameter.name for parameter in thing.parameters}
        names |= {name for name, member in thing.members.items() if not member.is_alias and member.is_attribute}
    return {name.lstrip("*") for name in names} - {"self", "cls"}


def as_list(paragraph: str, names: set[str]) -> str:
    """A paragraph whose sentences "name: what it is" are items of a list. The rest of it stays text."""
    if not names:
        return paragraph
    any_name = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    start = re.compile(rf"(?:^|(?<=[.;]\s))(?P<names>(?:{any_name})(?:, (?:{any_name}))*): ", re.M)
    found = list(start.finditer(paragraph))
    if not found:
        return paragraph
    parts = [paragraph[: found[0].start()].rstrip()]
    rest = ""
    for item, after in zip(found, [*found[1:], None], strict=True):
        text = paragraph[item.end() : after.start() if after else len(paragraph)]
        # a line that is not indented and follows a full stop belongs to the argument no longer
        text, *outside = re.split(r"(?<=\.)\n(?=\S)", text, maxsplit=1)
        shown = ", ".join(f"`{name}`" for name in item["names"].split(", "))
        parts.append(f"- {shown}: {' '.join(text.split())}")
        rest = " ".join(outside).strip()
        if rest:
            parts += ["", rest, ""]
    lead = [parts[0], ""] if parts[0] else []
    return "\n".join([*lead, *parts[1:]]).rstrip()


def literal(text: str) -> str:
    """Without links: P[s][a] is an entry of a table."""
    parts = CODE.split(text)
    parts[::2] = [part.replace("[", r"\[") for part in parts[::2]]
    return "".join(parts)


def on_a_page(text: str, names: set[str]) -> str:
    """A docstring as Markdown."""
    text = EXAMPLE.sub(lambda example: f"\n```pycon\n{example[0]}\n```\n", text)
    parts = re.split(r"(\n```pycon\n.*?\n```\n)", text, flags=re.S)
    for place in range(0, len(parts), 2):
        paragraphs = re.split(r"\n\s*\n", literal(parts[place]))
        parts[place] = "\n\n".join(as_list(paragraph, names) for paragraph in paragraphs)
    return "".join(parts)


class ReadableDocstrings(griffe.Extension):
    """Rewrite each docstring once it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """The docstring of a module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = on_a_page(obj.docstring.value, known(obj))
