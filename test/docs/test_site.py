"""The site that the pages become: nothing is missing, and a link that leads nowhere is an error."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"

INDEX = """\
# Index

```{{toctree}}
page
```

<a id="there"></a>There: [own](page{suffix}#own), [heading](page{suffix}#some-heading).

```mlir
%0 = "a.b"() : () -> f32 // A comment.
```
"""
PAGE = """\
# Page

<a id="own"></a>

## Some heading

[there](index{suffix}#there), [own](#own), [heading](#some-heading)
"""


def build(folder: Path, page: str) -> subprocess.CompletedProcess[str]:
    """Builds a site of two pages as `make site` does."""
    for name, text in (("page", page), ("index", INDEX)):
        (folder / name).with_suffix(".md").write_text(text.format(suffix=".md"), encoding="utf-8")
    flags = ["--quiet", "--fail-on-warning", "--keep-going", "--nitpicky", "-c", str(DOCS)]
    command = [sys.executable, "-m", "sphinx", *flags, str(folder), str(folder / "site")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_every_page_is_in_the_site() -> None:
    files = [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in files}
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = [
        line
        for block in re.findall(r"^```\{toctree\}$(.*?)^```$", index, re.MULTILINE | re.DOTALL)
        for line in block.split("\n")
        if line and not line.startswith(":")
    ]
    assert sorted(listed) == sorted(pages - {"index"})
    assert pages.isdisjoint({"search", "genindex"}), "Sphinx has pages of these names"


@pytest.mark.site
def test_links_to_headings_and_anchors(tmp_path: Path) -> None:
    result = build(tmp_path, PAGE)
    assert (result.returncode, result.stderr) == (0, "")
    page = (tmp_path / "site" / "page.html").read_text(encoding="utf-8")
    assert 'href="index.html#there"' in page
    assert '<a id="own"></a>' in page
    assert (tmp_path / "site" / "searchindex.js").exists()


@pytest.mark.site
def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    links = ["nowhere{suffix}", "index{suffix}#nowhere", "#nowhere", "page{suffix}#index"]
    result = build(tmp_path, PAGE + "".join(f"\n[here]({link})\n" for link in links))
    assert result.returncode == 1
    places = re.findall(r"page\.\w+:(\d+): WARNING: .*myst", result.stderr)
    assert len(set(places)) == len(links), result.stderr
