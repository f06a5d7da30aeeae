"""The layer over ℝ: its stand-in is the only place of axioms, and a wrong use of a signature is refused."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from pyresac.formal import check as command
from pyresac.formal import real
from pyresac.formal.build import OPTIONS, Builder
from pyresac.formal.errors import FormalError
from pyresac.formal.install import Checker
from pyresac.formal.screen import forbidden_words
from pyresac.formal.sources import check_imports, closure, read_module, unreached

ROOT = Path(__file__).parents[2]
CORE = ROOT / "lean"
RIGHT = "theorem right (hr : 0 ≤ r) (h : ∀ b, dist (f b) (g b) ≤ r) : dist f g ≤ r := (dist_pi_le_iff hr).2 h"
WRONG = "theorem wrong (h : ∀ b, dist (f b) (g b) ≤ r) : dist f g ≤ r := (dist_pi_le_iff dist_nonneg).2 h"
HEADER = """module

public import Mathlib.Topology.MetricSpace.Pseudo.Pi

public section

variable {β : Type} [Fintype β] {f g : β → Real} {r : Real}
"""


def test_the_layer_is_whole_and_takes_the_core_and_the_stand_in_from_their_folders() -> None:
    modules = real.read_layer(CORE)
    check_imports(modules)
    assert unreached(modules, real.TOP) == []
    assert modules["RESACReal.Contraction"].root == CORE / "real"
    assert modules["RESAC.Contraction.Blackwell"].root == CORE
    assert modules["Mathlib.Topology.MetricSpace.Contracting"].root == CORE / "real" / "StandIn"
    assert "lakefile" not in modules


def test_only_the_stand_in_declares_axioms() -> None:
    for module in real.read_layer(CORE).values():
        found = {w.word for w in forbidden_words(module.text)}
        assert found <= ({"axiom"} if module.stand_in else set()), module.name


def test_the_layer_imports_single_modules_of_mathlib_and_the_stand_in_has_no_others() -> None:
    modules = real.read_layer(CORE)
    assert "Mathlib" not in modules
    named = {i for m in modules.values() if not m.stand_in for i in m.imports if i.split(".")[0] == "Mathlib"}
    assert named >= {"Mathlib.Topology.MetricSpace.Contracting", "Mathlib.Probability.Kernel.Basic"}
    assert unreached(modules, real.TOP) == []


def test_the_layer_may_not_use_what_proves_anything(tmp_path: Path) -> None:
    (tmp_path / "real/StandIn").mkdir(parents=True)
    (tmp_path / "real/RESACReal.lean").write_text("import Mathlib\n-- trusted\ntheorem a : 1 = 2 := trusted\n")
    with pytest.raises(FormalError, match=r"RESACReal\.lean uses `trusted`, which only the stand-in for Mathlib may"):
        real.read_layer(tmp_path)


def test_a_build_with_mathlib_does_not_see_the_stand_in() -> None:
    with (CORE / "real/lakefile.toml").open("rb") as handle:
        lakefile = tomllib.load(handle)
    (library,) = lakefile["lean_lib"]
    assert library == {"name": real.TOP}
    required = {r["name"]: r for r in lakefile["require"]}
    assert required["mathlib"]["rev"] == (CORE / "real/lean-toolchain").read_text().strip().partition(":")[2]
    assert (CORE / "real" / required["resac"]["path"]).resolve() == ROOT
    assert [f"-D{k}={str(v).lower()}" for k, v in lakefile["leanOptions"].items()] == [*OPTIONS, *real.OPTIONS]
    assert (CORE / "real/lean-toolchain").read_text() == (ROOT / "lean-toolchain").read_text()


def test_the_manifest_pins_what_the_lakefile_asks_for() -> None:
    """Lake takes the revisions from the manifest; it says that the manifest is old where the two differ."""
    manifest = json.loads((CORE / "real/lake-manifest.json").read_text(encoding="utf-8"))
    lakefile = tomllib.loads((CORE / "real/lakefile.toml").read_text(encoding="utf-8"))
    packages = {p["name"]: p for p in manifest["packages"]}
    direct = {name: p for name, p in packages.items() if not p["inherited"]}
    required = {r["name"]: r for r in lakefile["require"]}
    assert manifest["name"] == f"«{lakefile['name']}»"  # as Lake quotes a name with a hyphen
    assert set(direct) == set(required)
    assert direct["resac"]["dir"] == required["resac"]["path"]
    assert direct["mathlib"]["url"] == required["mathlib"]["git"]
    assert direct["mathlib"]["inputRev"] == required["mathlib"]["rev"]
    assert all(re.fullmatch("[0-9a-f]{40}", p["rev"]) for name, p in packages.items() if name != "resac")


def test_signatures_are_counted(tmp_path: Path) -> None:
    (tmp_path / "real/StandIn").mkdir(parents=True)
    (tmp_path / "real/RESACReal.lean").write_text("import Mathlib\n")
    text = "axiom trusted {p : Prop} : p\nclass A\n@[instance] axiom a : A\n-- axiom no\ntheorem b : A := trusted\n"
    (tmp_path / "real/StandIn/Mathlib.lean").write_text(text)
    assert real.signatures(real.read_layer(tmp_path)) == (4, 2)


def test_the_command_says_that_it_is_not_a_build_with_mathlib(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "install", lambda *_, **__: None)
    monkeypatch.setattr(command, "check_tree", lambda *_: 1)
    assert command.main(["--real", "--root", str(CORE), "--cache", str(tmp_path)]) == 1
    count, axioms = real.signatures(real.read_layer(CORE))
    out = capsys.readouterr().out
    assert f"a stand-in of {count} declarations, of which {axioms} proofs and operations were taken on trust" in out


@pytest.mark.slow
def test_a_wrong_use_of_a_signature_is_refused(checker: Checker, tmp_path: Path) -> None:
    built = tmp_path / "built"
    built.mkdir()
    file = tmp_path / "Use.lean"
    file.write_text(f"{HEADER}\n{RIGHT}\n{WRONG}\n")
    layer, needed = real.read_layer(CORE), "Mathlib.Topology.MetricSpace.Pseudo.Pi"
    modules = {m: layer[m] for m in [needed, *closure(layer, needed)]} | {"Use": read_module("Use", file)}
    results = {r.module.name: r for r in Builder(checker, built, modules, timeout=900.0).run(jobs=1)}
    assert results[needed].state == "checked"
    assert results["Use"].state == "failed"
    wrong_line = len(HEADER.splitlines()) + 3
    assert {(m.line, m.severity) for m in results["Use"].messages} == {(wrong_line, "error")}
