"""How `make site` builds these pages: Sphinx, with MyST for Markdown and for the notebook."""

import re
from importlib import metadata
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from lowerings.notebook import ProgramLexer

project = "XLA on xDSL"
release = metadata.version("xla-dialect")
extensions = ["myst_nb"]
exclude_patterns = ["examples"]
html_theme = "furo"
html_title = f"{project} {release}"
html_copy_source = False
html_show_copyright = False
# Code without a language is of many: consoles, text, pseudocode.
highlight_language = "none"
# As deep as links go, and named as on GitHub.
myst_heading_anchors = 6
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_show_tb = True

_ANCHOR = re.compile(r'<a id="([\w.-]+)"></a>')
_LOCAL_LINK = re.compile(r"\]\(#([\w.-]+)\)")
_ANCHORS: dict[str, list[str]] = {}
"""The anchors that pages set themselves, by page."""


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Notes the anchors of a page; links to its own become links as from other pages."""
    _ANCHORS[page] = _ANCHOR.findall(source[0])
    own = page.rpartition("/")[2]
    source[0] = _LOCAL_LINK.sub(rf"]({own}.md#\1)", source[0])


def know_anchors(app: Sphinx, doctree: Any) -> None:
    """Makes a page's own anchors known to links: MyST knows only those of headings."""
    page = app.env.docname
    slugs = app.env.metadata[page].setdefault("myst_slugs", {})
    for anchor in _ANCHORS.get(page, ()):
        slugs.setdefault(anchor, (0, anchor, anchor))


def setup(app: Sphinx) -> None:
    """What Sphinx calls."""
    app.add_lexer("mlir", ProgramLexer)
    app.add_lexer("hlo", ProgramLexer)
    app.add_lexer("error", TextLexer)
    app.connect("source-read", read)
    app.connect("doctree-read", know_anchors)
