"""The layer over ℝ in Mathlib's terms, and the stand-in that it is checked against where Mathlib is absent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pyresac.formal.errors import FormalError
from pyresac.formal.screen import blanked
from pyresac.formal.sources import Module, closure, read_tree

FOLDER = "real"
STAND_IN = "StandIn"
OPTIONS = ("-DmaxSynthPendingDepth=3",)
"""Mathlib's own setting for its search of instances, which the lakefile of the layer repeats."""
TOP = "RESACReal"
"""The module that imports the whole layer."""
SIGNATURE = re.compile(
    r"^(?:@\[[^\]]*\]\s*)*(?:axiom|theorem|class|structure|inductive|def|abbrev|instance)\b", re.MULTILINE
)
TRUSTED = "trusted"
"""The stand-in's axiom that proves anything: what it proves is taken on trust, and only the stand-in may use it."""
TRUST = re.compile(rf"^(?:@\[[^\]]*\]\s*)*axiom\b(?! {TRUSTED}\b)|\b{TRUSTED}\b(?! \{{)", re.MULTILINE)


def read_layer(core: Path) -> dict[str, Module]:
    """The layer below the core's source folder, the stand-in, and what they import of the core, by module name.

    Raises FormalError where a folder is missing, or a file of the layer uses what proves anything.
    """
    folder = core / FOLDER
    layer = {name: m for name, m in read_tree(folder).items() if name.split(".")[0] != STAND_IN}
    for module in layer.values():
        if re.search(rf"\b{TRUSTED}\b", blanked(module.text)):
            raise FormalError(f"{module.file} uses `{TRUSTED}`, which only the stand-in for Mathlib may")
    layer = {name: replace(m, options=OPTIONS) for name, m in layer.items()}
    trusted = {name: replace(m, stand_in=True, options=OPTIONS) for name, m in read_tree(folder / STAND_IN).items()}
    everything = read_tree(core) | layer | trusted
    wanted = {*layer, *trusted}.union(*(closure(everything, name) for name in layer))
    return {name: everything[name] for name in sorted(wanted)}


def signatures(modules: Mapping[str, Module]) -> tuple[int, int]:
    """How many declarations the stand-in has, and how many things in it are taken on trust."""
    texts = [blanked(m.text) for m in modules.values() if m.stand_in]
    return sum(len(SIGNATURE.findall(x)) for x in texts), sum(len(TRUST.findall(x)) for x in texts)


def notice(modules: Mapping[str, Module]) -> str:
    """What a check against the stand-in does not show."""
    count, axioms = signatures(modules)
    return (
        f"This is not a build with Mathlib: it has a stand-in of {count} declarations, of which {axioms} proofs and "
        "operations were taken on trust.\nOnly `lake build` in lean/real, with the pinned toolchain and Mathlib, shows "
        "that they are Mathlib's."
    )
