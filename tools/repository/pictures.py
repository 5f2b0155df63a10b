"""
The pictures of the README and of the site's first page.

That of the explorer is what Chromium shows of the page about a sample program (`make pictures`);
that of the times is drawn from the table of docs/performance.md (`make docs`).
"""

from __future__ import annotations

import re
import shutil
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

from xla_dialect.diagnostics import XlaError

from .. import xla_opt
from ..command_line import guarded, sample_file

DOCS = Path(__file__).parents[2] / "docs"
EXPLORER = DOCS / "pictures" / "explorer.png"
PERFORMANCE = DOCS / "performance.md"

KERNELS = (
    "exp",
    "gelu",
    "sum of rows",
    "softmax",
    "layer norm",
    "matmul 512",
    "matmul s8 512",
    "conv 3x3 NHWC",
    "conv 3x3 depthwise NHWC",
    "transpose",
    "embedding gradient",
    "sort 1M",
    "fft 65536",
    "1000 steps of RK4 on 3 numbers",
)
"""Those that are drawn, with all models."""

EXPLORED, EXPLORED_LINE = "attention", "stablehlo.exponential"
"""The sample program of the explorer's picture, and what the selected line has."""

_ROW, _LEFT, _UNIT, _WIDTH = 22, 250, 460, 960
"""Sizes in the drawing; `_UNIT` is how long XLA's time is."""
_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px }
  .said { fill: #57606a; paint-order: stroke; stroke: #ffffff; stroke-width: 4px }
  .end { text-anchor: end }
  .ours { fill: #2f6fd0 } .slower { fill: #c4652f }
  .xla { stroke: #8c959f; stroke-dasharray: 4 3 }
  .paper { fill: #ffffff }
"""


def measured_rows(page: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Of the tables of the page, by group and row: microseconds of a call, ratio; one thread."""
    return {
        group: {
            name.strip(): (float(own), float(ratio))
            for _, name, own, _, ratio, *_ in (line.split("|") for line in text.splitlines())
        }
        for group, text in re.findall(
            r"^\| (kernels|models) \|.*\n\|-.*\n((?:\|.*\n)+)", page, re.M
        )
    }


def drawn_times(page: str) -> str:
    """The picture of the times, as SVG; raises XlaError for a page without what it shows."""
    groups = measured_rows(page)
    kernels = groups.get("kernels", {})
    missing = [name for name in KERNELS if name not in kernels]
    means = re.findall(r"Time per call, 1 thread: (geometric mean .*? (?:0|1)\.\d+)", page)
    measured = re.search(r"^Measured on .*? on .*?;", page, re.M)
    if missing or not means or measured is None:
        raise XlaError(f"{PERFORMANCE} has no row {missing[:1]} or says no mean")
    rows = {name: kernels[name] for name in KERNELS} | groups["models"]
    bottom = 70 + _ROW * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {bottom + 50}" role="img">',
        f"<title>Times of calls beside XLA CPU</title><style>{_STYLE}</style>",
        f'<rect class="paper" width="{_WIDTH}" height="{bottom + 50}"/>',
        _text(16, 26, "Time of a call beside XLA CPU, one thread (shorter is faster)", "title"),
        _text(_LEFT + _UNIT, 52, "XLA", "said"),
    ]
    for number, (name, (own, ratio)) in enumerate(rows.items()):
        y = 60 + _ROW * number
        kind = "ours" if ratio <= 1 else "slower"
        width = max(1.0, ratio * _UNIT)
        parts += [
            _text(_LEFT - 10, y + 15, name, "end"),
            f'<rect class="{kind}" x="{_LEFT}" y="{y + 3}" width="{width:.0f}" '
            f'height="{_ROW - 6}"/>',
            _text(_LEFT + width + 6, y + 15, f"{ratio:.2f}  ({_spelled(own)})", "said"),
        ]
    x = _LEFT + _UNIT
    parts.append(f'<line class="xla" x1="{x}" x2="{x}" y1="58" y2="{bottom - 6}"/>')
    parts.append(_text(16, bottom + 16, "; ".join(means) + ".", "said"))
    parts.append(_text(16, bottom + 38, measured[0].rstrip(";").replace("`", "") + ".", "said"))
    return "\n".join([*parts, "</svg>\n"])


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.0f}" y="{y}">{escape(text)}</text>'


def _spelled(microseconds: float) -> str:
    return f"{microseconds:.0f} µs" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"


def photograph(path: Path) -> int:
    """Writes what Chromium shows of the explorer; 0. Raises XlaError without Chromium."""
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise XlaError("playwright is missing: pip install 'xla-dialect[browser]'") from error
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise XlaError("Chromium is missing (Debian: apt install chromium)")
    path = path.resolve()
    with TemporaryDirectory() as folder, chdir(folder), sync_playwright() as playwright:
        page_file = Path(folder, "page.html")
        shutil.copy(sample_file(EXPLORED), f"{EXPLORED}.mlir")
        xla_opt.main([f"{EXPLORED}.mlir", "-p", "native", "--explore", str(page_file)])
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1500, "height": 760})
        page.goto(page_file.as_uri())
        page.wait_for_selector("body[data-ready]", timeout=60_000)
        page.get_by_text(EXPLORED_LINE).first.click()
        page.screenshot(path=path)
        browser.close()
    return 0


if __name__ == "__main__":
    EXPLORER.parent.mkdir(exist_ok=True)
    sys.exit(guarded("pictures", lambda: photograph(EXPLORER)))
