"""Citations lead somewhere: links of pages, paths with anchors, labels of rules and of examples."""

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from specification_tables import PAGES as SPECIFICATION

from tools.rules import LABEL, anchor, own_labels, stating_bases
from xla_dialect.ops import OPERATIONS

ROOT = Path(__file__).parents[1]
FOLDERS = ("xla_dialect", "lowerings", "tools", "test", "docs", ".ci")
SUFFIXES = {".py", ".md", ".mlir", ".hlo", ".lit", ".c", ""}
SOURCES = sorted(
    path
    for path in (
        *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*")),
        *(ROOT / name for name in ("README.md", "Makefile", "pyproject.toml")),
    )
    if path.suffix in SUFFIXES and path.is_file() and "__pycache__" not in path.parts
)
OPERATIONS_PAGE = ROOT / "docs" / "generated" / "ops.md"

ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
CODE_BLOCK = re.compile(r"^```.*?^```$|^ {4}.*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^][]*(?:\[[^][]*\][^][]*)*\]\(([^)\s]+)\)")
PAGE = re.compile(r"(?<![\w/.*{}-])((?:[\w.-]+/)*\w[\w.-]*\.md)(?:#([\w-]+))?")
PAGE_OF_RULES = re.compile(r"docs/specification/([\w.]+\.md)")
FILE = re.compile(r"(?<![\w/.*-])((?:xla_dialect|lowerings|tools|test|docs)(?:/\w+)+(?:\.\w+)+)\b")
NAMED_FILE = re.compile(r"`(\w+\.(?:py|c))`")
COMMON_LABEL = re.compile(r"(?<![\w\])])\(((?:RC|RG|SH|SR|B|S|L|P|W|I)\d+)\)")
"""In brackets that no name is before: there it would be an argument."""
EXAMPLE_LABEL = re.compile(r"(?<![\w.\"'%@])((?:RC|RG|SH|[BSLPWIGTN])\d{1,2})(?=[ ,:;.)\"-]|$)")
MESSAGE = re.compile(r"\b((?:xla|check|interpreter)\\?\.\w+): \\?\((C\d+)\\?\)")
BUILDER_MESSAGE = re.compile(r"\"(\w+): \(((?:[AB]\.)?C\d+)\)")
ELSEWHERE = re.compile(
    r"\b[Ss]ections? \d|\bappendix [A-Z]|\b[A-Z]\w+\.[CG]\d*\b|shapes_layouts_broadcasting"
)
"""Ways to cite what is not a page of this repository."""


class Citation(NamedTuple):
    """A page, perhaps with an anchor, and where it is cited."""

    source: Path
    page: str
    anchor: str | None

    def __str__(self) -> str:
        return f"{self.source.relative_to(ROOT)}: {self.page}#{self.anchor or ''}"


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page: those that it sets, and its headings as GitHub names them."""
    text = text_of(page)
    found = set(ANCHOR.findall(text))
    for heading in HEADING.findall(re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)):
        plain = re.sub(r"<[^>]*>|[^\w\- ]", "", LINK.sub("", heading)).strip().lower()
        slug = name = plain.replace(" ", "-")
        number = 0
        while name in found and number < 100:
            number += 1
            name = f"{slug}-{number}"
        found.add(name)
    return frozenset(found)


@cache
def text_of(source: Path) -> str:
    """What stands in a file."""
    return source.read_text(encoding="utf-8")


def texts(source: Path) -> Iterator[str]:
    """Comments and strings of a file of Python."""
    for token in tokenize.generate_tokens(io.StringIO(text_of(source)).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield token.string.strip("\"'# ")


def cited() -> Iterator[Citation]:
    """Every mention of a page, in all sources."""
    for source in SOURCES:
        if source != Path(__file__):
            for page, anchor in PAGE.findall(text_of(source)):
                yield Citation(source, page, anchor or None)


def linked() -> Iterator[Citation]:
    """Every link of a page that does not lead out of the repository."""
    for source in SOURCES:
        if source.suffix == ".md":
            for link in LINK.findall(CODE_BLOCK.sub("", text_of(source))):
                page, _, anchor = link.partition("#")
                if not re.match(r"\w+:", page):
                    yield Citation(source, page, anchor or None)


def leads_nowhere(citation: Citation, *folders: Path) -> bool:
    """Whether there is no such page in any of these folders, or no such anchor on it."""
    pages = [folder / citation.page for folder in folders] if citation.page else [citation.source]
    found = [page for page in pages if page.exists()]
    if citation.anchor is None:
        return not found
    return not any(citation.anchor in anchors(page) for page in found)


def test_pages_that_are_mentioned_exist() -> None:
    docs = ROOT / "docs"
    places = (ROOT, docs, docs / "generated", SPECIFICATION)
    lost = [c for c in cited() if leads_nowhere(c, *places, c.source.parent)]
    assert "\n".join(map(str, lost)) == ""


def test_links_lead_to_pages_and_anchors() -> None:
    lost = [citation for citation in linked() if leads_nowhere(citation, citation.source.parent)]
    assert "\n".join(map(str, lost)) == ""


def test_files_that_are_mentioned_exist() -> None:
    """Paths from the root in all sources; in pages, names of files too."""
    names = {source.name for source in SOURCES}
    lost = [
        f"{source.relative_to(ROOT)}: {name}"
        for source in SOURCES
        if source != Path(__file__)
        for pattern in ((FILE, NAMED_FILE) if source.suffix == ".md" else (FILE,))
        for name in pattern.findall(text_of(source))
        if not (ROOT / name).exists() and name not in names
    ]
    assert lost == []


def test_nothing_else_is_cited() -> None:
    found = [
        f"{source.relative_to(ROOT)}: {mention[0]}"
        for source in SOURCES
        if source != Path(__file__)
        for mention in ELSEWHERE.finditer(text_of(source))
    ]
    assert found == []


def test_labels_of_common_rules_are_stated() -> None:
    """`(RC1)`, `(B7)` and so on, wherever they are, are on a page of docs/specification."""
    stated = {name for page in SPECIFICATION.glob("*.md") for name in anchors(page)}
    lost = [
        f"{source.relative_to(ROOT)}: {label}"
        for source in SOURCES
        for label in COMMON_LABEL.findall(text_of(source))
        if label.lower() not in stated
    ]
    assert lost == []


@pytest.mark.parametrize(
    "source",
    [
        s
        for s in SOURCES
        if s.suffix == ".py" and PAGE_OF_RULES.search(s.read_text(encoding="utf-8"))
    ],
    ids=lambda source: source.name,
)
def test_labels_are_on_the_pages_that_the_file_cites(source: Path) -> None:
    """In a file that cites pages of docs/specification, all labels of its texts are theirs."""
    pages = {SPECIFICATION / page for page in PAGE_OF_RULES.findall(text_of(source))}
    stated = {name for page in pages if page.exists() for name in anchors(page)}
    labels = {label for text in texts(source) for label in EXAMPLE_LABEL.findall(text)}
    assert sorted(label for label in labels if label.lower() not in stated) == []


def test_every_rule_of_an_operation_has_an_anchor() -> None:
    """What a message quotes, `xla.pad: (C3) ...`, is docs/generated/ops.md#pad-c3."""
    known = anchors(OPERATIONS_PAGE)
    for operation in OPERATIONS:
        name = operation.name.removeprefix("xla.")
        assert name in known
        for label in own_labels(operation.__doc__):
            assert label.startswith("R") or f"{name}-{label.lower()}" in known, (name, label)


def test_rules_in_messages_have_anchors() -> None:
    """`xla.pad: (C3)` in any source is docs/generated/ops.md#pad-c3."""
    known = anchors(OPERATIONS_PAGE)
    found = {
        (f"{source.relative_to(ROOT)}: {name}", anchor(name.replace("\\", ""), label))
        for source in SOURCES
        for name, label in MESSAGE.findall(text_of(source))
    }
    assert len(found) > 300
    assert [place for place, name in sorted(found) if name not in known] == []


def test_rules_of_the_builder_are_stated() -> None:
    """Those of methods are in docs/generated/builder.md, the others are those of the operation."""
    known = anchors(OPERATIONS_PAGE) | anchors(OPERATIONS_PAGE.with_name("builder.md"))
    found = {
        anchor(method, label)
        for source in (ROOT / "xla_dialect" / "builder").glob("*.py")
        for method, label in BUILDER_MESSAGE.findall(text_of(source))
    }
    assert len(found) > 15
    assert sorted(found - known) == []


def test_anchors_are_unambiguous() -> None:
    for page in SOURCES:
        if page.suffix == ".md":
            names = ANCHOR.findall(text_of(page))
            assert len(names) == len(set(names)), page


def test_labels_are_found() -> None:
    """The patterns of this file see what they are for."""
    assert LABEL.findall("(C3) (RC1), (RG5)") == ["C3", "RC1", "RG5"]
    assert PAGE.findall("see docs/a_b.md#c-3, x.md.") == [("docs/a_b.md", "c-3"), ("x.md", "")]
    assert EXAMPLE_LABEL.findall("T1, G13 and S5 scalar; (B7)") == ["T1", "G13", "S5", "B7"]
    assert any(map(stating_bases, OPERATIONS))
    assert sum(1 for _ in cited()) > 100
    assert sum(1 for _ in linked()) > 100
