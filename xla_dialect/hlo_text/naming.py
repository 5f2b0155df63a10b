"""Names of HLO text: which are valid, and which are still free."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from xla_dialect.hlo_text.uninterpreted import TABLE_LINES
from xla_dialect.sharding.hlo_sharding import SHARDING_KEYWORDS
from xla_dialect.types import BY_NAME

RESERVED = frozenset({*BY_NAME, "token", "opaque"})
"""Words that XLA reads as the beginning of a shape."""

KEYWORDS = frozenset(
    {
        *("ENTRY", "HloModule", "ROOT", "false", "inf", "nan", "true"),
        *SHARDING_KEYWORDS,
        *TABLE_LINES,
    }
)
"""Words that cannot be names where names have no `%`."""

_VALID = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)
_INVALID_CHARACTER = re.compile(r"[^\w.\-]", re.ASCII)
_NUMBER_AT_END = re.compile(r"\.[0-9]+$")


def valid_name(wanted: str) -> str:
    """The name, if XLA takes it; otherwise one like it: `0` is `_0`, `a$b` `a_b`, `f32` `f32_`."""
    if _VALID.fullmatch(wanted) is not None:
        return f"{wanted}_" if wanted in RESERVED else wanted
    name = _INVALID_CHARACTER.sub("_", wanted)
    return name if _VALID.match(name) is not None else f"_{name}"


def given_name(hint: str | None, kept: Attribute | None) -> str | None:
    """The name that a value has, if it has one: `xla.name` where it is kept, or else its hint."""
    name = kept.data if isinstance(kept, StringAttr) else hint
    return None if name is None else valid_name(name)


class FreeNames:
    """The names of one scope that are taken; two things never get the same one."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken: set[str] = set(taken)
        self._numbers: dict[str, int] = {}

    def take(self, wanted: str, avoided: Container[str] = ()) -> str:
        """The name itself if it is free, otherwise with a number: `add`, `add.1`, `add.2`."""
        name = wanted
        if name in self.taken or name in avoided:
            root = _NUMBER_AT_END.sub("", wanted)
            number = self._numbers.get(root, 1)
            while (name := f"{root}.{number}") in self.taken or name in avoided:
                number += 1
            self._numbers[root] = number + 1
        self.taken.add(name)
        return name
