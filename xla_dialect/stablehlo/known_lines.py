"""Operations made by copying one from an equal line, as generated programs repeat themselves.

JAX prints an operation on a line of its own. Two lines that differ only in the names of values are
operations of one class with the same types, properties and attributes. So the first is parsed, and
the next ones are copied, with their own operands: a tenth of the work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue

from xla_dialect.xdsl.creation import create

LINE = re.compile(r'(?:%([\w$.-]+)(?::([0-9]{1,9}))? = )?(("?)([\w$.-]+)[^\n]*)\n')
"""A line with an operation: name and number of its results, the rest, a quote, its own name."""

_VALUE = re.compile(r"%([\w$.-]+)(?:#([0-9]{1,9}))?")
_BLANK = re.compile(r"(?:\s|//[^\n]*\n)*")
Values: TypeAlias = Mapping[str, tuple[SSAValue, ...]]
"""The values that are defined, by their names."""

_MAX_LENGTH = 1 << 10
"""Longer lines hold large constants, which are not repeated."""


@dataclass(frozen=True)
class _Known:
    """What the operations of equal lines have in common."""

    op_class: type[Operation]
    operand_types: Sequence[Attribute]
    result_types: Sequence[Attribute]
    properties: Mapping[str, Attribute]
    attributes: Mapping[str, Attribute]
    location: LocationAttr
    regions: Sequence[Region]
    """Those of `reduce(...) applies ...`, which stand in the line; to be copied."""


class KnownLines:
    """The kinds of lines of one text that have been read."""

    def __init__(self, text: str):
        self._text = text
        self._known: dict[tuple[str, str], _Known] = {}

    def copy(self, line: re.Match[str], dialect: str, values: Values) -> Operation | None:
        """
        The operation of a line, read in the context of a dialect and of the values defined so far.

        None where no such line was read before, or where its operands are not what they were then.
        """
        text = line.group(3)
        known = self._known.get((dialect, _VALUE.sub("%", text)))
        if known is None or int(line.group(2) or line.group(1) is not None) != len(
            known.result_types
        ):
            return None
        operands = _operands(text, values)
        types = known.operand_types
        if operands is None or any(
            value.type is not type_ and value.type != type_
            for value, type_ in zip(operands, types, strict=True)
        ):
            return None
        return create(
            known.op_class,
            operands=operands,
            result_types=known.result_types,
            properties=known.properties,
            attributes=known.attributes,
            location=known.location,
            regions=[region.clone() for region in known.regions],
        )

    def remember(
        self, line: re.Match[str], dialect: str, values: Values, op: Operation, end: int
    ) -> None:
        """Remembers the operation that was read from a line; `end` is where the next one starts."""
        text = line.group(3)
        if len(text) > _MAX_LENGTH or op.successors:
            return
        rest = _BLANK.match(self._text, line.end())
        if rest is None or rest.end() != end or _operands(text, values) != list(op.operands):
            return
        self._known[dialect, _VALUE.sub("%", text)] = _Known(
            type(op),
            tuple(operand.type for operand in op.operands),
            tuple(result.type for result in op.results),
            dict(op.properties),
            dict(op.attributes),
            op.location,
            op.regions,
        )


def _operands(text: str, values: Values) -> list[SSAValue] | None:
    """The values that a line names, in order; None where one is not defined."""
    operands: list[SSAValue] = []
    for name, index in _VALUE.findall(text):
        found = values.get(name)
        place = int(index) if index else 0
        if found is None or place >= len(found):
            return None
        operands.append(found[place])
    return operands
