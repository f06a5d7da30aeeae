"""What Lean says about a file, picked out of what the npm build prints."""

from __future__ import annotations

import re
from dataclasses import dataclass

START = re.compile(
    r"\S.*?\.lean:(?P<line>\d+):(?P<column>\d+): "
    r"(?P<severity>error|warning|info)(?:\([\w.]+\))?: ?(?P<text>.*)"
)
# The build's own traces, which also quote the input; a message never starts with one of these.
NOISE = re.compile(r"\[DEBUG|  - /|  mainModule\? = ")


@dataclass(frozen=True)
class Message:
    """One message: line from 1, column from 0, severity "error", "warning" or "info", text of one or more lines."""

    line: int
    column: int
    severity: str
    text: str

    def show(self, file: str) -> str:
        """file:line:column: severity: text"""
        return f"{file}:{self.line}:{self.column}: {self.severity}: {self.text}"


def messages(output: str) -> list[Message]:
    """The messages in the order printed; a message's further lines belong to it up to the next trace or message."""
    found: list[Message] = []
    lines: list[str] | None = None
    for line in output.splitlines():
        if start := START.match(line):
            lines = [start.group("text")]
            place = (int(start.group("line")), int(start.group("column")), start.group("severity"))
            found.append(Message(*place, text=lines[0]))
        elif NOISE.match(line):
            lines = None
        elif lines is not None:
            lines.append(line)
            last = found[-1]
            found[-1] = Message(last.line, last.column, last.severity, "\n".join(lines).rstrip())
    return found
