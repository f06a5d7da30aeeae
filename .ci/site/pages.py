"""The site's pages from outside docs/: the README, the other guides, and each source that a page links to.

MkDocs reads one folder, but our pages link to the whole repository. This hook makes a page of every file that a page
links to, and points the link at it. So links work on the site without a host of the repository, and without a network.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import Any
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
FRONT = "README.md"
FOLDER = "repository"
LANGUAGES = {".py": "python", ".lean": "lean4", ".cff": "yaml", ".toml": "toml"}
CODE_OR_LINK = re.compile(r"^ *(?P<fence>```+|~~~+).*?^ *(?P=fence)|`[^`]+`|\]\((?P<target>[^)\s]+)\)", re.M | re.S)


def page_of(path: str) -> str:
    """Where the site has a file of the repository, both as paths."""
    if path == FRONT:
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    visible = f"{FOLDER}/{path.lstrip('.')}"  # MkDocs leaves out what begins with a dot
    if (ROOT / path).is_dir():
        return f"{visible}/index.md"
    return visible if path.endswith(".md") else f"{visible}.md"


def origin_of(page: str) -> str:
    """The file of the repository that a page of Markdown was made from."""
    if page == "index.md":
        return FRONT
    return page.removeprefix(f"{FOLDER}/") if page.startswith(f"{FOLDER}/") else f"docs/{page}"


def linked(target: str, origin: str) -> str | None:
    """The path in the repository that a link leads to; None for a link to elsewhere, or to nothing."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc or not parts.path:
        return None
    path = normpath(f"{dirname(origin)}/{parts.path}".lstrip("/"))
    return path if not path.startswith("..") and (ROOT / path).exists() else None


def links(text: str) -> Iterator[str]:
    """The targets of all links and images, those in code left out."""
    return (found["target"] for found in CODE_OR_LINK.finditer(text) if found["target"])


def listing(path: str) -> str:
    """A folder's files, each with the first line of its docstring."""
    lines = [f"# {path}", ""]
    for file in sorted((ROOT / path).iterdir()):
        if file.is_file():
            about = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) if file.suffix == ".py" else None
            lines.append(f"- [{file.name}]({file.name})" + (f": {about.splitlines()[0]}" if about else ""))
    return "\n".join(lines)


def content_of(path: str) -> str:
    """The Markdown of a page."""
    file = ROOT / path
    if file.is_dir():
        return listing(path)
    text = file.read_text(encoding="utf-8")
    if path == FRONT:
        return f"---\nhide: [navigation]\n---\n{text}"
    if file.suffix == ".md":
        return text
    language = LANGUAGES.get(file.suffix, "text")
    # the search leaves sources out: they would bury the guides
    front = f"---\ntitle: {path}\nhide: [navigation, toc]\nsearch: {{exclude: true}}\n---\n"
    return f"{front}# `{path}`\n\n~~~~~~{language}\n{text}\n~~~~~~\n"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add a page for the README, and for all that it, the pages of docs/ and such pages link to."""
    texts = {origin_of(file.src_uri): file.content_string for file in files.documentation_pages()}
    texts[FRONT] = content_of(FRONT)
    files.append(File.generated(config, page_of(FRONT), content=texts[FRONT]))
    while texts:
        origin, text = texts.popitem()
        for target in links(text):
            path = linked(target, origin)
            if path is None or path.startswith("docs/") or files.get_file_from_path(page_of(path)):
                continue
            content = content_of(path)
            files.append(File.generated(config, page_of(path), content=content))
            if page_of(path).endswith(".md") and (path.endswith(".md") or (ROOT / path).is_dir()):
                texts[f"{path}/" if (ROOT / path).is_dir() else path] = content
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Point each link at the page of the file that it leads to; MkDocs warns of those that lead to nothing."""
    here = page.file.src_uri
    origin = origin_of(here)

    def moved(found: re.Match[str]) -> str:
        target = found["target"]
        path = target and linked(target, origin)
        if not path:
            return found[0]
        _, mark, heading = target.partition("#")
        return f"]({relpath(page_of(path), dirname(here) or '.')}{mark}{heading})"

    return CODE_OR_LINK.sub(moved, markdown)
