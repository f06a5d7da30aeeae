"""Check every proof of the library, with no Lean toolchain: `python -m pyresac.formal.check`.

The first run sets up Lean for Node in a cache folder. Ends with status 1 where a file has an error or a warning,
uses a forbidden word (`sorry`, `axiom`, `native_decide` …), or is not imported by the library's main file, and with
status 2 where the checker cannot be set up. `lake build` with the pinned toolchain is the authority; this runs
the same elaborator and kernel, built for WebAssembly, where no toolchain can be had.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import tyro

from pyresac.command import safe_streams
from pyresac.formal import real
from pyresac.formal.build import Builder, Result
from pyresac.formal.errors import FormalError
from pyresac.formal.home import cache_folder
from pyresac.formal.install import Checker, install, lock
from pyresac.formal.sources import Module, check_imports, read_tree, unreached

PROGRAM = "python -m pyresac.formal.check"
MESSAGE_LINES = 40
"""A failed `grind` prints hundreds of lines; its goal stands in the first."""


@dataclass(frozen=True)
class CheckOptions:
    """What to check, and with what."""

    root: Path = Path("lean")
    """Folder of the Lean sources."""
    top: str = "RESAC"
    """The module that imports all the others."""
    real: bool = False
    """Check the layer over ℝ (real/ below the root) instead, against a stand-in for Mathlib."""
    cache: Path | None = None
    """Folder of the checker and of compiled files (default: $PYRESAC_LEAN_CACHE, else pyresac-lean in the user's
    cache folder)."""
    package: Path | None = None
    """The npm package's tarball, where it was fetched by other means."""
    jobs: int = 3
    """Files checked at a time, at least 1; each takes up to 3 GB, and keeps two thirds of a core busy."""
    timeout: float = 900.0
    """Seconds that one file may take."""
    fresh: bool = False
    """Check every file again, whatever was checked before."""
    setup_only: bool = False
    """Set up the checker and stop."""

    def __post_init__(self) -> None:
        """Raise FormalError for a value that is not allowed."""
        if self.jobs < 1:
            raise FormalError(f"--jobs is {self.jobs}; it must be at least 1")
        if self.timeout <= 0:
            raise FormalError(f"--timeout is {self.timeout:g}; it must be above 0")
        if self.package is not None and not self.package.is_file():
            raise FormalError(f"--package {self.package} is not a file")


@safe_streams()
def main(arguments: list[str] | None = None) -> int:
    """The command: 0 where everything is checked, 1 where a file is not, 2 where the check cannot be made."""
    try:
        options = tyro.cli(CheckOptions, args=arguments, prog=PROGRAM, description=__doc__)
        home = cache_folder(options.cache)
        if options.setup_only:
            install(home, print, package=options.package)
            print(f"The checker is ready in {home}.")
            return 0
        root = options.root.resolve()
        modules = real.read_layer(root) if options.real else read_tree(root)
        options = replace(options, top=real.TOP) if options.real else options
        check_imports(modules)
        orphans = unreached(modules, options.top)
        checker = install(home, print, package=options.package)
    except FormalError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    status = check_tree(checker, home, root, modules, orphans, options)
    if options.real:
        print(real.notice(modules))
    return status


def check_tree(
    checker: Checker, home: Path, root: Path, modules: Mapping[str, Module], orphans: list[str], options: CheckOptions
) -> int:
    """Check the modules and print a line for each; 0 where all are good and none of them is an orphan."""
    built = built_folder(home, root)
    built.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    with lock(built / "lock"):
        for result in Builder(checker, built, modules, options.timeout, options.fresh).run(options.jobs):
            counts[result.state] += 1
            print(report(result), flush=True)
    for name in orphans:
        print(f"{shown(modules[name].file)}:1:0: error: {options.top}.lean does not import {name}")
    good = counts["checked"] + counts["cached"]
    print(f"{good} of {len(modules)} files good ({counts['cached']} unchanged since their last check)", end="")
    print(f", {counts['failed']} failed, {counts['unreached']} not reached, {len(orphans)} not imported")
    return 0 if good == len(modules) and not orphans else 1


def built_folder(home: Path, root: Path) -> Path:
    """Where the compiled files of a source folder stay between runs."""
    return home / "built" / hashlib.sha256(str(root).encode()).hexdigest()[:16]


def report(result: Result) -> str:
    """A line for the file, then its messages as file:line:column."""
    labels = {"checked": "ok", "cached": "same", "failed": "FAIL", "unreached": "skip"}
    time = f"  {result.seconds:.1f} s" if result.seconds else ""
    note = "  an import failed" if result.state == "unreached" else ""
    lines = [f"{labels[result.state]:<5} {result.module.name}{time}{note}"]
    for message in result.messages:
        text = message.show(shown(result.module.file)).splitlines()
        cut = [f"  … {len(text) - MESSAGE_LINES} more lines"] if len(text) > MESSAGE_LINES else []
        lines += text[:MESSAGE_LINES] + cut
    return "\n".join(lines)


def shown(file: Path) -> str:
    """A path relative to the working folder where it lies below it."""
    return os.path.relpath(file) if file.is_relative_to(Path.cwd()) else str(file)


if __name__ == "__main__":
    sys.exit(main())
