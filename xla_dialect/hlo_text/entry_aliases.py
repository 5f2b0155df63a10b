"""What `input_output_alias` and `buffer_donor` name is there: parameters and their elements."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.ir import Attribute

from xla_dialect.hlo_text.errors import PartError
from xla_dialect.hlo_text.lexer import without_comments
from xla_dialect.types import spell, tuple_elements

ALIASES = ("input_output_alias", "buffer_donor")
"""The attributes of a module that name parameters of its entry computation."""

_ENTRY = re.compile(
    r"(?:\{(?P<output>[0-9,\s]*+)\}\s*+:\s*+)?"
    r"\(\s*+(?P<parameter>[0-9]++)\s*+,\s*+\{(?P<element>[0-9,\s]*+)\}",
    re.ASCII,
)


def check_aliases(text: str, parameters: Sequence[Attribute], result: Attribute) -> None:
    """
    Raises PartError where `{ {0}: (1, {}, may-alias) }` or `{ (1, {}) }`, spelled well, names a
    parameter, or an element of a parameter or of the result, that does not exist.
    """
    for entry in _ENTRY.finditer(without_comments(text)):
        if entry["output"] is not None:
            _check_index(entry, "output", "the result", result)
        number = int(entry["parameter"])
        if number >= len(parameters):
            message = f"there is no parameter {number}: the entry computation has {len(parameters)}"
            raise PartError(message, entry.start("parameter"))
        _check_index(entry, "element", f"parameter {number}", parameters[number])


def _check_index(entry: re.Match[str], group: str, what: str, type_: Attribute) -> None:
    """The index `0,1` is that of an element of a type, through tuples in tuples."""
    inner = type_
    for number in map(int, entry[group].replace(",", " ").split()):
        elements = tuple_elements(inner) or ()
        if number >= len(elements):
            message = f"{what}, {spell(type_)}, has no element {{{entry[group].strip()}}}"
            raise PartError(message, entry.start(group))
        inner = elements[number]
