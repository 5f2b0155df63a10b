"""The entry computation: names of its function and attributes, its aliases and buffer donors.

Aliases and donors are those of HLO text, checked against the signature of the entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute

from xla_dialect.spelling import SpellingError
from xla_dialect.text.lexer import without_comments
from xla_dialect.types import compatible, flatten, spell, tuple_elements

ENTRY_SYMBOL = "main"
"""The entry function of a module that does not name one."""


def kept_name(attribute: str) -> str:
    """The discardable attribute for one of HLO: `xla.control_predecessors`."""
    return f"xla.{attribute.replace('-', '_')}"


ENTRY_LAYOUT = kept_name("entry_computation_layout")

ALIASES = ("input_output_alias", "buffer_donor")
"""The attributes of a module that name parameters of its entry computation."""

_ENTRY = re.compile(
    r"(?:\{(?P<output>[0-9,\s]*+)\}\s*+:\s*+)?"
    r"\(\s*+(?P<parameter>[0-9]++)\s*+,\s*+\{(?P<element>[0-9,\s]*+)\}",
    re.ASCII,
)


@dataclass(frozen=True)
class EntryAliases:
    """The aliases of an entry; parameters and results are counted by the leaves of their tuples."""

    results: Mapping[int, int]
    """The result that may be in the memory of each parameter."""
    donors: frozenset[int]
    """The parameters whose memory may be used, for no result in particular."""


def entry_aliases(
    module: ModuleOp, inputs: Sequence[Attribute], outputs: Sequence[Attribute]
) -> EntryAliases:
    """The aliases in the attributes of a module whose entry has these parameters and results."""
    results: dict[int, int] = {}
    donors: set[int] = set()
    for name in ALIASES:
        text = module.attributes.get(kept_name(name))
        if not isinstance(text, StringAttr):
            continue
        for entry in _ENTRY.finditer(without_comments(text.data)):
            parameter = _leaf_number(inputs, (int(entry["parameter"]), *_path(entry["element"])))
            if parameter is None:
                continue
            if entry["output"] is None:
                donors.add(parameter)
                continue
            # HLO has one result: several are the elements of a tuple, in which a path starts.
            path = _path(entry["output"])
            result = _leaf_number(outputs, (0, *path) if len(outputs) == 1 else path)
            if result is not None:
                results.setdefault(parameter, result)
    return EntryAliases(results, frozenset(donors))


def _path(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.replace(",", " ").split()))


def _leaf_number(types: Sequence[Attribute], path: Sequence[int]) -> int | None:
    """
    The number of the leaf at an index path into nested tuples, counting the leaves of all types in
    order; None where the path leaves the types or ends at a tuple.
    """
    number = 0
    inner: Sequence[Attribute] | None = types
    for step in path:
        if inner is None or step >= len(inner):
            return None
        number += len(flatten(inner[:step]))
        inner = tuple_elements(inner[step])
    return number if inner is None else None


def check_aliases(
    text: str,
    parameters: Sequence[Attribute],
    result: Attribute,
    whose: str = "the entry computation",
    kind: str = "parameter",
) -> None:
    """
    Raises SpellingError where `{ {0}: (1, {}, may-alias) }` or `{ (1, {}) }`, spelled well, names a
    parameter, or an element of a parameter or of the result, that does not exist.

    The operands of an instruction are its parameters here, see `whose` and `kind`; of these a part
    has the type of the part of the result, which is named once. Of a module XLA takes the first.
    """
    aliased = set[tuple[int, ...]]()
    for entry in _ENTRY.finditer(text):
        part: Attribute | None = None
        if entry["output"] is not None:
            part = _check_index(entry, "output", "the result", result)
            if kind == "operand" and _path(entry["output"]) in aliased:
                message = f"element {{{entry['output'].strip()}}} of the result is aliased twice"
                raise SpellingError(message, entry.start("output"))
            aliased.add(_path(entry["output"]))
        number = int(entry["parameter"])
        if number >= len(parameters):
            message = f"there is no {kind} {number}: {whose} has {len(parameters)}"
            raise SpellingError(message, entry.start("parameter"))
        found = _check_index(entry, "element", f"{kind} {number}", parameters[number])
        if kind == "operand" and part is not None and not compatible(found, part):
            message = f"operand {number} is {spell(found)} there, the result {spell(part)}"
            raise SpellingError(message, entry.start("parameter"))


def _check_index(entry: re.Match[str], group: str, what: str, type_: Attribute) -> Attribute:
    """The element of a type that the index `0,1` names, through tuples in tuples."""
    inner = type_
    for number in _path(entry[group]):
        elements = tuple_elements(inner) or ()
        if number >= len(elements):
            message = f"{what}, {spell(type_)}, has no element {{{entry[group].strip()}}}"
            raise SpellingError(message, entry.start(group))
        inner = elements[number]
    return inner
