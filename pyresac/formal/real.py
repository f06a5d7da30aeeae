"""The layer over ℝ in Mathlib's terms, and the stand-in that it is checked against where Mathlib is absent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pyresac.formal.screen import blanked
from pyresac.formal.sources import Module, closure, read_tree

FOLDER = "real"
STAND_IN = "StandIn"
TOP = "RESACReal"
"""The module that imports the whole layer."""
SIGNATURE = re.compile(r"^(?:@\[[^\]]*\]\s*)*(?:axiom|class|structure|inductive|def|abbrev|instance)\b", re.MULTILINE)


def read_layer(core: Path) -> dict[str, Module]:
    """The layer below the core's source folder, the stand-in, and what they import of the core, by module name.

    Raises FormalError where a folder is missing.
    """
    folder = core / FOLDER
    layer = {name: m for name, m in read_tree(folder).items() if name.split(".")[0] != STAND_IN}
    trusted = {name: replace(m, stand_in=True) for name, m in read_tree(folder / STAND_IN).items()}
    everything = read_tree(core) | layer | trusted
    wanted = {*layer, *trusted}.union(*(closure(everything, name) for name in layer))
    return {name: everything[name] for name in sorted(wanted)}


def signatures(modules: Mapping[str, Module]) -> tuple[int, int]:
    """How many declarations the stand-in has, and how many of these are axioms."""
    found = [s.group() for m in modules.values() if m.stand_in for s in SIGNATURE.finditer(blanked(m.text))]
    return len(found), sum(s.endswith("axiom") for s in found)


def notice(modules: Mapping[str, Module]) -> str:
    """What a check against the stand-in does not show."""
    count, axioms = signatures(modules)
    return (
        f"This is not a build with Mathlib: {count} signatures of Mathlib, {axioms} of them axioms, were taken on "
        "trust.\nOnly `lake build` in lean/real, with the pinned toolchain and Mathlib, shows that they are Mathlib's."
    )
