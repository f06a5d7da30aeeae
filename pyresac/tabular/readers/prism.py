"""PRISM's explicit files: transitions (.tra), and beside them labels (.lab), state and transition rewards.

    http://www.prismmodelchecker.org/manual/Appendices/ExplicitModelFiles

Read are PRISM's own headers ("3 4 6": states, choices, transitions) and Storm's ("mdp", "dtmc"). Of the labels `init`
counts: a run begins in those states. Rewards are taken as they stand, whatever they mean: a cost is minimised by
`value=Min()`. A transition's reward weighs by its probability; rewards of states are earned at each step from there.
"""

from __future__ import annotations

from pathlib import Path

from pyresac.errors import InputError
from pyresac.tabular.readers.arrays import Arrays
from pyresac.tabular.readers.model_rows import MOST_STATES, Rows, TextLine, lines_of, require_count

BESIDE = {"labels": (".lab",), "states": (".srew", ".state.rew"), "transitions": (".trew", ".trans.rew")}
"""Endings of the files beside a .tra of the same name."""


def load(path: Path, discount: float) -> Arrays:
    """The model of a .tra file with the files beside it. Raises InputError naming file and line."""
    rows, probabilities = Rows(str(path)), dict[tuple[int, int, int], float]()
    header, chain, first, states, counts = "", False, True, 0, list[int]()
    for line in lines_of(path, "//"):
        words = line.text.split()
        if first:
            first = False
            header = " ".join(words).lower()
            chain = header == "dtmc" or len(words) == 2
            if header not in ("mdp", "dtmc") and not (len(words) in (2, 3) and all(map(str.isdecimal, words))):
                raise line.refused(
                    "the first line is 'mdp', 'dtmc', 'STATES CHOICES TRANSITIONS' or 'STATES TRANSITIONS'"
                )
            counts = [int(word) for word in words if word.isdecimal()]
            states = counts[0] if counts else 0
            if states >= MOST_STATES:
                raise line.refused("states are numbered below 2³¹")
            continue
        ids = 2 if chain else 3
        if len(words) < ids + 1:
            raise line.refused(f"expected {ids} numbers of states and choices and a probability")
        places, (probability, *_) = line.numbers(words[: ids + 1], ids)
        state, action, successor = (places[0], 0, places[1]) if chain else (places[0], places[1], places[2])
        if states and max(state, successor) >= states:
            raise line.refused(f"the header says {states} states")
        rows.add(state, action, successor, probability)
        place = (state, action, successor)
        probabilities[place] = probabilities.get(place, 0.0) + probability
    if counts:
        require_count(path, "transitions", counts[-1], len(rows.source))
    if counts and not chain:
        require_count(path, "choices", counts[1], len(set(zip(rows.source, rows.action, strict=True))))
    _labels(path, rows)
    for line in _beside(path, "states"):
        (state,), values = line.numbers(line.text.split(), 1)
        if len(values) != 1:
            raise line.refused("expected a state and its reward")
        rows.state_reward[state] = rows.state_reward.get(state, 0.0) + values[0]
    for line in _beside(path, "transitions"):
        places, values = line.numbers(line.text.split(), 2 if chain else 3)
        if len(values) != 1:
            raise line.refused("expected a transition and its reward")
        state, action, successor = (places[0], 0, places[1]) if chain else (places[0], places[1], places[2])
        if (state, action, successor) not in probabilities:
            raise line.refused("there is no such transition")
        earned = probabilities[state, action, successor] * values[0]
        rows.pair_reward[state, action] = rows.pair_reward.get((state, action), 0.0) + earned
    return rows.arrays(discount, states)


def _labels(path: Path, rows: Rows) -> None:
    """States with the label init, in PRISM's form (`0="init" 1="deadlock"`, then `3: 0`) or Storm's."""
    number: str | None = None
    for line in _beside(path, "labels"):
        words = line.text.replace(":", " ").split()
        if words[0].startswith("#"):
            continue
        if "=" in words[0]:
            names = dict(word.split("=", 1) for word in words if "=" in word)
            number = next((key for key, name in names.items() if name.strip('"') == "init"), None)
        elif words[0].isdecimal() and ("init" in words[1:] or (number is not None and number in words[1:])):
            rows.first.append(int(words[0]))


def _beside(path: Path, what: str) -> list[TextLine]:
    """Lines of a file beside; none if it is not there. PRISM's rewards have a header of counts, Storm's have none.

    Raises InputError if two endings are there, or a header counts other rewards than there are.
    """
    found = [path.with_suffix(ending) for ending in BESIDE[what] if path.with_suffix(ending).is_file()]
    if len(found) > 1:
        raise InputError(f"{found[0]} and {found[1]} both hold rewards of {what}; keep one")
    lines = [line for file in found for line in lines_of(file, "//")]
    if not found or found[0].suffix not in (".srew", ".trew"):
        return lines
    counts = lines[0].text.split() if lines else []
    if counts and counts[-1].isdecimal():
        require_count(found[0], "rewards", int(counts[-1]), len(lines) - 1)
    return lines[1:]
