"""The documentation's site: every page is in its navigation, every link leads somewhere, nothing is foreign."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest
from browser import shown

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FETCHED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src")}
"""What a browser fetches by itself."""
ADDRESS_IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?([^\"')\s;]+)")
MARKDOWN = re.compile(r"\s*([-+*] |\d+\. |\|.*\|\s*$|#+ |:::)|.*(\]\(|\*\*|`)")
"""Of a line of text that Markdown was meant to read."""


class Page(HTMLParser):
    """What the checks need of a page of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[tuple[str, str, str]] = []
        """(element, attribute, address)"""
        self.styles: list[str] = []
        self.lines: list[str] = []
        """Lines of paragraphs, without what stands in code."""
        self._paragraph = self._code = self._style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        self.links += [(tag, name, given[name]) for name in ("href", "src") if name in given]
        self.styles += [given["style"]] if "style" in given else []
        self._style = self._style or tag == "style"
        self._code = self._code or tag == "code"
        if tag == "p":
            self._paragraph = True
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        self._style = self._style and tag != "style"
        self._code = self._code and tag != "code"
        self._paragraph = self._paragraph and tag != "p"

    def handle_data(self, data: str) -> None:
        if self._style:
            self.styles.append(data)
        elif self._paragraph:
            first, *others = ("·" if self._code else data).split("\n")
            self.lines[-1] += first
            self.lines += others


def pages_of(site: Path) -> dict[Path, Page]:
    return {file.resolve(): Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}


def broken_links(site: Path) -> list[str]:
    """Addresses within the site without a file, or without the heading that they name."""
    pages, found = pages_of(site), []
    for file, page in pages.items():
        for _, _, address in page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            path = unquote(parts.path)
            # a server shows this page at any address, so its links begin at the root
            from_root = file.name == "404.html" and path.startswith("/")
            target = (site / path[1:] if from_root else file.parent / path).resolve() if path else file
            if target.is_dir():
                target /= "index.html"
            lost = parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids
            if lost or not target.is_file():
                found.append(f"{file.relative_to(site.resolve())}: {address}")
    return found


def foreign(site: Path) -> list[str]:
    """What a browser would fetch from another host."""
    found = []
    for file, page in pages_of(site).items():
        addresses = [address for tag, name, address in page.links if (tag, name) in FETCHED]
        addresses += [address for style in page.styles for address in ADDRESS_IN_STYLE.findall(style)]
        found += [f"{file.name}: {address}" for address in addresses if urlsplit(address).netloc]
    for file in site.rglob("*.css"):
        addresses = ADDRESS_IN_STYLE.findall(file.read_text(encoding="utf-8"))
        found += [f"{file.name}: {address}" for address in addresses if urlsplit(address).netloc]
    return found


def unread(site: Path) -> list[str]:
    """Markdown that came out as text: a list without a blank line before it, for instance."""
    return [
        f"{file.name}: {line}" for file, page in pages_of(site).items() for line in page.lines if MARKDOWN.match(line)
    ]


def hook(name: str) -> ModuleType:
    """A module of .ci/site. Skips without what it imports."""
    for needed in ("mkdocs", "material", "mkdocstrings_handlers.python", "griffe"):
        try:
            importlib.import_module(needed)
        except ImportError:
            pytest.skip(f"{needed} is not installed: pip install 'pyresac[docs]'")
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / ".ci" / "site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in strict mode: a warning of MkDocs, of a link to nothing for instance, is an error."""
    hook("pages")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYRESAC_SITE": "", "PYRESAC_REPOSITORY": ""}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    assert "WARNING" not in run.stderr
    return folder


@pytest.mark.slow
def test_the_site_is_whole(site: Path) -> None:
    assert broken_links(site) == []
    assert foreign(site) == []
    assert unread(site) == []
    for page in DOCS.rglob("*.md"):
        path = page.relative_to(DOCS).with_suffix(".html")
        assert (site / (path.with_stem("index") if path.stem == "README" else path)).is_file()
    assert (site / "repository" / "pyresac" / "deep" / "algorithms" / "resac.py.html").is_file()
    assert (site / "figures" / "convergence.png").read_bytes() == (DOCS / "figures" / "convergence.png").read_bytes()


@pytest.mark.slow
def test_the_search_works_from_a_disk(site: Path, tmp_path: Path) -> None:
    page, console = shown((site / "index.html").as_uri() + "?q=contraction", tmp_path)
    assert console == ""
    assert "md-search-result__item" in page
    assert 'href="file://' in page
    assert "matching documents" in page


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].partition("\n\n")[0]
    named = re.findall(r"^ +- .+: (\S+\.md)$", navigation, re.MULTILINE)
    assert sorted(set(named)) == sorted(named)
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert pages == {page for page in named if not page.startswith(("repository/", "index"))}


@pytest.mark.parametrize("package", ["pyresac.tabular", "pyresac.tabular.exact", "pyresac.envs.bus"])
def test_the_reference_has_every_public_name(package: str) -> None:
    written = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    shown_names = set(re.findall(r"^::: (\S+)$", written, re.MULTILINE))
    # constants have no docstring and aliases no members; what they hold is in the reference
    public = {name for name in importlib.import_module(package).__all__ if not name.isupper() and name != "Table"}
    assert {name for name in public if f"{package}.{name}" not in shown_names} == set()


def test_the_reference_names_what_is_there() -> None:
    pytest.importorskip("pettingzoo", reason="pip install 'pyresac[multi]'")
    for page in (DOCS / "api").glob("*.md"):
        for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            pkgutil.resolve_name(name)


def test_the_reference_has_every_algorithm() -> None:
    from pyresac.deep.algorithms import ALGORITHMS

    written = (DOCS / "api" / "algorithms.md").read_text(encoding="utf-8")
    assert [path for path in ALGORITHMS.values() if f"::: pyresac.deep.algorithms.{path}\n" not in written] == []


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (broken_links, '<p id="a"><a href="b.html#h">', '<a href="c.html">'),
        (broken_links, '<a href="#here"><p id="here">', '<a href="#there"><p id="here">'),
        (broken_links, '<a href="b.html#h">', '<a href="b.html#g">'),
        (broken_links, '<a href="https://example.org/none">', '<img src="none.png">'),
        (foreign, '<script src="b.js"></script>', '<script src="https://example.org/b.js"></script>'),
        (foreign, '<a href="https://example.org">', '<link rel="stylesheet" href="//example.org/b.css">'),
        (foreign, "<p>url(https://example.org)</p>", "<style>@font-face {src: url(https://example.org/a)}</style>"),
        (foreign, '<p style="color: red">', '<p style="background: url(//example.org/a)">'),
        (unread, "<p>so:</p><ul><li>a</li></ul>", "<p>so:\n- a</p>"),
        (unread, "<p><code>](`</code></p>", "<p>[a](b)</p>"),
        (unread, "<p>|a − b| ≤ ε</p>", "<p>text\n| a | b |</p>"),
    ],
)
def test_a_fault_is_found(check: object, good: str, bad: str, tmp_path: Path) -> None:
    assert callable(check)
    (tmp_path / "b.html").write_text('<h1 id="h">', encoding="utf-8")
    (tmp_path / "a.html").write_text(good, encoding="utf-8")
    assert check(tmp_path) == []
    (tmp_path / "a.html").write_text(bad, encoding="utf-8")
    assert len(check(tmp_path)) == 1


def test_links_to_the_repository_become_links_to_pages() -> None:
    pages = hook("pages")

    def moved(text: str, here: str) -> str:
        file = type("File", (), {"src_uri": here})
        return str(pages.on_page_markdown(text, page=type("Page", (), {"file": file})))

    source = "[a](../../pyresac/deep/heads.py)"
    assert moved(source, "algorithms/sac.md") == "[a](../repository/pyresac/deep/heads.py.md)"
    assert moved("[a](../../README.md#one-idea)", "algorithms/sac.md") == "[a](../index.md#one-idea)"
    assert moved("![a](docs/figures/sets.png)", "index.md") == "![a](figures/sets.png)"
    assert moved("[a](../docs/results.md)", "repository/results/README.md") == "[a](../../results.md)"
    assert moved("[a](../.ci/run)", "lean-tour.md") == "[a](repository/ci/run.md)"
    assert moved("[a](examples)", "index.md") == "[a](repository/examples/index.md)"
    for kept in (
        "[a](https://example.org/README.md)",
        "[a](#one-idea)",
        "[a](../none.py)",
        "[a](../../elsewhere)",
        "`[a](../README.md)`",
        "```\n[a](../README.md)\n```",
    ):
        assert moved(kept, "idea.md") == kept


def test_docstrings_become_lists_and_examples() -> None:
    on_a_page = hook("docstrings").on_a_page
    text = (
        "An MDP.\n\nreward: of a pair,\n    finite. discount: γ.\nThe rows sum to 1.\n\nkappa: not an argument. P[s][a]"
    )
    assert on_a_page(text, {"reward", "discount"}) == (
        "An MDP.\n\n- `reward`: of a pair, finite.\n- `discount`: γ.\n\nThe rows sum to 1.\n\n"
        "kappa: not an argument. P\\[s]\\[a]"
    )
    assert on_a_page("So.\n\n>>> a[0]\n1\n\nThen.", {"a"}) == "So.\n\n\n```pycon\n>>> a[0]\n1\n```\n\n\nThen."
    assert on_a_page("first, second: (S,) tables", {"first", "second"}) == "- `first`, `second`: (S,) tables"
