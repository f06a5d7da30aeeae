"""A figure goes to one file: which files are allowed, how large it is, and what its command says."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import matplotlib.image
import pytest
from matplotlib.figure import Figure

from pyresac.errors import InputError
from pyresac.figures import style


def test_a_figure_has_its_title_at_the_left() -> None:
    for figure, size in ((style.new_figure("what"), [8.0, 4.6]), (style.new_figure("what", 3.0, 2.0), [3.0, 2.0])):
        assert figure.get_size_inches().tolist() == size
        title = figure._suptitle  # type: ignore[attr-defined]
        assert (title.get_text(), title.get_fontsize(), title.get_ha()) == ("what", 11, "left")
        assert title.get_position()[0] == 0.02
        assert figure.get_layout_engine() is not None


def test_colours_begin_again() -> None:
    looks = list(islice(style.curve_styles(), 19))
    assert [colour for colour, _ in looks] == [*style.CYCLE, *style.CYCLE, *style.CYCLE, style.CYCLE[0]]
    assert [dash for _, dash in looks] == [*"------", *["--"] * 6, *"::::::", "-"]


def test_a_folder_for_figures_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for allowed in (None, tmp_path, tmp_path / "new"):
        style.require_folder(allowed)
    with pytest.raises(InputError, match="file, which is a file; name a folder"):
        style.require_folder(tmp_path / "file")


def test_a_picture_is_a_file_of_a_known_form_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for ending in style.FORMATS:
        style.require_picture(tmp_path / f"a.{ending}")
        style.require_picture(Path(f"a.{ending}"))
    (tmp_path / "b.png").mkdir()
    for path, message in (
        (tmp_path / "a.jpg", "a.jpg; expected a file ending in .png, .svg, .pdf"),
        (tmp_path / "png", "png; expected a file ending in .png, .svg, .pdf"),
        (tmp_path / "b.png", "b.png, which is a folder; name a file in it"),
        (tmp_path / "none" / "a.png", f"a.png; there is no folder {tmp_path / 'none'}"),
    ):
        with pytest.raises(InputError, match=f"^out is .*{re.escape(message)}$"):
            style.require_picture(path)


def test_a_figure_is_written_whole_into_a_new_folder(tmp_path: Path) -> None:
    figure = Figure(figsize=(1.0, 0.5))
    path = tmp_path / "a" / "b" / "c.png"
    for dpi, shape in (({}, (80, 160)), ({"dpi": 100}, (50, 100))):
        assert style.write(figure, path, **dpi) == path
        assert matplotlib.image.imread(path).shape[:2] == shape
        assert list(path.parent.iterdir()) == [path]
    assert style.write(figure, tmp_path / "a.svg").read_text().startswith("<?xml")


def test_the_command_asks_for_a_file_before_it_draws_and_tells_its_name_on_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    drawn: list[Figure] = []

    def draw() -> Figure:
        drawn.append(Figure(figsize=(1.0, 1.0)))
        return drawn[-1]

    out = tmp_path / f"{'long' * 55}[bold].svg"
    assert style.figure_command(draw, "the program", "what it does", [str(tmp_path / "a.jpg")]) == 2
    assert not drawn
    assert "expected a file ending in" in " ".join(capsys.readouterr().err.split())
    assert style.figure_command(draw, "the program", "what it does", [str(out)]) == 0
    assert len(drawn) == 1
    assert capsys.readouterr().out == f"wrote {out}\n"
    assert out.is_file()
