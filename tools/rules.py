"""Where the rules stand that messages quote, `xla.pad: (C3) ...`: pages and anchors of docs.

The rules of an operation stand in its docstring and those of its bases; what is common to several
families has pages in docs/specification.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from types import ModuleType

from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE

LABEL = re.compile(r"\(((?:[AB]\.)?C\d+|R[CG]\d+)\)")
INHERITED = re.compile(r"Begins an? `(\w+)`, whose rules hold")
COMMON_PAGES: Mapping[str, str] = {"RC": "computations.md", "RG": "replica_groups.md"}
"""In docs/specification, by the letters of a label."""


def family_name(family: ModuleType) -> str:
    """The name of a family's file: `elementwise`."""
    return family.__name__.rpartition(".")[2]


def anchor(owner: str, label: str) -> str:
    """The anchor of a rule of an operation, family or method on the page that states it."""
    return f"{owner.removeprefix('xla.')}-{label.lower()}".replace(".", "-")


def own_labels(text: str | None) -> list[str]:
    """The labels of the rules that a docstring states or goes on to, in order, each once."""
    return list(dict.fromkeys(LABEL.findall(text or "")))


def stating_bases(operation: type[XlaOp]) -> list[type[XlaOp]]:
    """The bases of an operation whose docstrings state rules."""
    bases = (base for base in operation.__mro__[1:] if issubclass(base, XlaOp))
    return [base for base in bases if own_labels(vars(base).get("__doc__"))]


def further_rules(operation: type[XlaOp]) -> dict[str, str]:
    """The rules of an operation that its docstring does not state: anchors by label."""
    found = {
        label: anchor(base.__name__, label)
        for base in stating_bases(operation)
        for label in own_labels(base.__doc__)
    }
    inherited = INHERITED.search(operation.__doc__ or "")
    if inherited is not None:
        begun = BY_OPCODE[inherited[1].replace("_", "-")]
        found |= {label: anchor(begun.name, label) for label in own_labels(begun.__doc__)}
    own = own_labels(operation.__doc__)
    return {
        label: place
        for label, place in found.items()
        if label not in own and not label.startswith(tuple(COMMON_PAGES))
    }


def linked(docstring: str | None, owner: str) -> str:
    """A docstring as Markdown: each rule is an anchor where it is stated, and a link elsewhere."""
    stated: set[str] = set()

    def link(found: re.Match[str]) -> str:
        label = found[1]
        page = COMMON_PAGES.get(label[:2])
        if page is not None:
            return f"[({label})](../specification/{page}#{label.lower()})"
        place = anchor(owner, label)
        if label in stated:
            return f"[({label})](#{place})"
        stated.add(label)
        return f'<a id="{place}"></a>({label})'

    return LABEL.sub(link, inspect.cleandoc(docstring or ""))
