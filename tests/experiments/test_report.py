"""The page of results, and the measured disentanglement that goes into it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import shown

from pyresac.errors import InputError
from pyresac.experiments.experiment import Finding, Outcome, Table, as_text
from pyresac.experiments.html_report import write_report
from pyresac.experiments.uncertainty import correlation, measured

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


class Tags(HTMLParser):
    """Open tags, and the text of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def outcome() -> Outcome:
    return Outcome(
        [
            Finding("A <good> claim", "reproduces", "1 ± 0.1"),
            Finding("A bad claim", "does not reproduce", "2 & more"),
        ],
        [Table("Returns <b>", ("x",), [("SAC", ("1",)), ("TD3", ("2",))], {"SAC": ("9",)}, "three seeds")],
        ("a.png",),
    )


def save(results: Path, scale: str = "cpu") -> None:
    folder = results / "returns"
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    (folder / "figures" / "a.png").write_bytes(PIXEL)
    measures = {f"sac-{seed}": {"options": f"--env x --seed {seed} --steps 9", "measured": 1.0} for seed in (16, 8)}
    content = {
        "experiment": "returns",
        "scale": scale,
        "command": f"run --scale {scale}",
        **outcome().plain(),
        "versions": [{"mujoco": "4.0.0"}, {"mujoco": "4.0.1"}],
        "measures": measures,
    }
    (folder / f"{scale}.json").write_text(json.dumps(content))


def test_the_page_is_whole_self_contained_and_shows_all(tmp_path: Path) -> None:
    save(tmp_path)
    path = tmp_path / "new" / "folder" / "page.html"
    for _ in range(2):
        write_report(tmp_path, path)
    page = Tags()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.open == []
    addresses = [value for _, own in page.seen for name, value in own.items() if name in ("src", "href")]
    assert addresses
    assert all(str(address).startswith(("data:image/png;base64,", "#")) for address in addresses)
    for words in ("A <good> claim", "2 & more", "Returns <b>", "three seeds", "run --scale cpu", "TD3", "Seeds: 8, 16"):
        assert words in page.text
    assert "mujoco 4.0.0, and with mujoco 4.0.1" in page.text
    assert "19" in page.text  # ours, and the paper's number under it


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(versions=["numpy"]),
        lambda content: content.update(measures=[1]),
        lambda content: content.update(tables=3),
        lambda content: content.pop("command"),
        lambda content: content["findings"][0].pop("found"),
        lambda content: content["findings"][0].update(verdict="perhaps"),
        lambda content: content["tables"][0].pop("columns"),
    ],
)
def test_results_with_an_odd_part_are_refused_by_name(tmp_path: Path, change: Any) -> None:
    save(tmp_path)
    path = tmp_path / "returns" / "cpu.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"returns/cpu\.json cannot be read as results \(\w+: .*\); make it again"):
        write_report(tmp_path, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_missing_figure_is_named_with_what_makes_it(tmp_path: Path) -> None:
    save(tmp_path)
    (tmp_path / "returns" / "figures" / "a.png").unlink()
    with pytest.raises(InputError, match=r"a\.png is missing; make it: python -m pyresac\.experiments redraw"):
        write_report(tmp_path, tmp_path / "page.html")


def test_verdicts_stand_in_their_order_with_their_links(tmp_path: Path) -> None:
    """Unfavourable ones first; each leads to its section, and says so in its colour. λ stays λ, a question its mark."""
    save(tmp_path)
    order = ("does not reproduce", "undecided", "not tried at this scale", "reproduces")
    path = tmp_path / "returns" / "cpu.json"
    content = json.loads(path.read_text())
    content["findings"] = [{"claim": f"Of {word}", "verdict": word, "found": "λ_ale"} for word in reversed(order)]
    content["findings"][0]["found"] = "is it?"
    path.write_text(json.dumps(content))
    write_report(tmp_path, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [text.index(f"Of {word}.") for word in order] == sorted(text.index(f"Of {word}.") for word in order)
    assert text.count('<a href="#returns">') == 4
    assert '<h2 id="returns">' in text
    assert '<span class="verdict no">does not reproduce</span>' in text
    assert '<span class="verdict yes">reproduces</span>' in text
    assert '<span class="verdict ">undecided</span>' in text
    assert "</b> λ_ale. <a" in text
    assert "</b> Is it? <a" in text


@pytest.mark.parametrize("finished", [3, 4])
def test_the_page_says_how_many_runs_are_missing(tmp_path: Path, finished: int) -> None:
    save(tmp_path)
    path = tmp_path / "returns" / "cpu.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "planned": 4, "finished": finished}))
    write_report(tmp_path, tmp_path / "page.html")
    assert (", 3 of 4 runs" in (tmp_path / "page.html").read_text(encoding="utf-8")) == (finished == 3)


def test_the_largest_scale_that_is_there_is_shown(tmp_path: Path) -> None:
    save(tmp_path, "smoke")
    save(tmp_path, "paper")
    write_report(tmp_path, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Scale: paper" in text
    assert "Scale: smoke" not in text


@pytest.mark.parametrize("content", ["", "[]", "{}", "\x00", '{"tables": 1}'])
def test_results_that_cannot_be_read_are_refused_by_name(tmp_path: Path, content: str) -> None:
    save(tmp_path)
    path = tmp_path / "returns" / "cpu.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"cpu\.json (is not JSON|holds a list|cannot be read as results)"):
        write_report(tmp_path, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_rank_correlation() -> None:
    x = np.arange(30.0)
    assert correlation(x, np.exp(x))[0] == pytest.approx(1.0)
    assert correlation(x, -(x**3))[0] == pytest.approx(-1.0)
    assert correlation(x, np.ones(30)) == (0.0, 0.0, 0.0)
    r, low, high = correlation(x, np.random.default_rng(0).normal(size=30))
    assert low < r < high
    assert low < 0.0 < high


def test_critics_learn_the_function_and_disagree_where_data_are_few() -> None:
    few, many = measured(16, 0.0, 400, seed=0), measured(2048, 0.0, 400, seed=0)
    assert many["error"] < 0.1 < few["error"]
    assert many["Γ_epi away"] < few["Γ_epi away"]


PROBE = """<script>addEventListener("load", () => {
  const wide = [...document.querySelectorAll(".scroll")].filter(t => t.getBoundingClientRect().right > innerWidth + 1);
  const broken = [...document.images].filter(i => !i.complete || i.naturalWidth === 0);
  const body = Math.max(0, document.documentElement.scrollWidth - innerWidth);
  document.title = `wide ${wide.length} broken ${broken.length} beyond ${body} images ${document.images.length}`;
});</script>"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 500])
def test_the_page_shows_well_in_a_browser(tmp_path: Path, width: int) -> None:
    """No message in the console, no broken picture, every table within the page, wide or narrow."""
    save(tmp_path)
    write_report(tmp_path, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    long = "".join(f"<td>{'1,234.5 [1,000.0, 2,000.0]'}</td>" for _ in range(12))
    page = page.replace("</table>", f"<tr><td>x</td>{long}</tr></table>", 1).replace("</body>", f"{PROBE}</body>")
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    found, console = shown((tmp_path / "page.html").as_uri(), tmp_path / "profile", width)
    assert console == ""
    assert "<title>wide 0 broken 0 beyond 0 images 1</title>" in found


def test_a_file_of_results_keeps_seven_digits_and_a_line_for_a_list_of_numbers() -> None:
    content = {"a": [1.23456789e-7, None, 2, True], "words": ["[1,\n 2]", 'say "x"'], "deep": {"b": [[0.1, 1e300], []]}}
    text = as_text(content)
    assert json.loads(text) == {**content, "a": [1.234568e-7, None, 2, True]}
    assert ' "a": [1.234568e-07, null, 2, true],\n' in text
    assert as_text(json.loads(text)) == text
