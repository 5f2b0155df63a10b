"""
Decisions on fusion as attributes of a `linalg.generic`.

    fusion.group = 3 : i64   its results are stored, by the operation that group 3 becomes: that of
                             all operations of a block with this number
    fusion.inline            it is computed in the body of every operation that uses it
    fusion.alone             its results are stored by an operation that computes nothing else

Files of decisions name operations by what they compute or by where they come from, as the remarks
of fusion do:

    // Comments, and lines between entries, are as in MLIR.
    group %e, %sum             // one operation stores the results of both
    inline %scaled, %shifted   // each is computed by what uses it alone
    alone "model.hlo":12:3     // it is fused with nothing
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Block, Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from xla_dialect.diagnostics import LocatedError, read_text
from xla_dialect.mlir_text import parser_of
from xla_dialect.violations import described, place_of
from xla_dialect.xdsl.traversal import operations_in

GROUP = "fusion.group"
INLINE = "fusion.inline"
ALONE = "fusion.alone"


@dataclass(frozen=True)
class FusionDecision:
    """What is decided on an operation: the name of its attribute, and the number of a group."""

    name: str
    group: int | None = None

    @property
    def attribute(self) -> Attribute:
        """The attribute that says it."""
        return UnitAttr() if self.group is None else IntegerAttr(self.group, 64)


def decision_of(op: Operation) -> FusionDecision | None:
    """The decision that an operation carries; raises PassFailedException for what is none."""
    found = [name for name in (GROUP, INLINE, ALONE) if name in op.attributes]
    if not found:
        return None
    if len(found) > 1:
        raise FusionError(op, f"{found[0]} and {found[1]} exclude each other")
    name, attribute = found[0], op.attributes[found[0]]
    if name == GROUP:
        if not isinstance(attribute, IntegerAttr):
            raise FusionError(op, f"{name} is the number of a group, not {attribute}")
        return FusionDecision(name, cast("IntegerAttr[Any]", attribute).value.data)
    if not isinstance(attribute, UnitAttr):
        raise FusionError(op, f"{name} has no value, but is {attribute}")
    return FusionDecision(name)


def set_decision(op: Operation, decision: FusionDecision) -> None:
    """Makes an operation carry a decision."""
    op.attributes[decision.name] = decision.attribute


def remove_decision(op: Operation) -> None:
    """Takes what has been done off an operation."""
    for name in (GROUP, INLINE, ALONE):
        op.attributes.pop(name, None)


class FusionError(PassFailedException):
    """A decision that cannot be followed."""

    def __init__(self, op: Operation, reason: str):
        """`reason` is what comes after the place and the name of the operation."""
        place = place_of(op.location)
        where = "" if place is None else f"{':'.join(map(str, place))}: "
        super().__init__(f"{where}{named(op)}: fusion: {reason}")
        self.reason = reason


def named(op: Operation) -> str:
    """An operation as messages name it: by its first result, if that has a name."""
    hint = op.results[0].name_hint if op.results else None
    return described(op) if hint is None else f"%{hint}"


_WORDS = {"group": GROUP, "inline": INLINE, "alone": ALONE}


def take_decisions(path: str, module: ModuleOp) -> None:
    """
    Makes operations carry what a file says of them, unless they carry a decision; "" is no file.

    Raises XlaError for a file that cannot be read, for names that nothing has, for second decisions
    on an operation, and for groups of several blocks.
    """
    if not path:
        return
    text = read_text(path)
    generics = [op for op in operations_in(module) if isinstance(op, GenericOp)]
    given = {op: decision for op in generics if (decision := decision_of(op)) is not None}
    taken = {decision.group for decision in given.values()}
    numbers = (number for number in count() if number not in taken)
    decided: set[GenericOp] = set()

    def take_mentioned(parser: Parser, word: str, groups: dict[Block | None, int]) -> None:
        start, name = parser.pos, _parse_mention(parser)
        meant = [op for op in generics if _means(name, op)]
        against = _reason_against(word, meant, decided, groups)
        if against is not None:
            raise LocatedError.at_offset(against, path, text, start)
        decided.update(meant)
        for op in meant:
            if word == "group" and op.parent not in groups:
                groups[op.parent] = next(numbers)
            if op not in given:
                set_decision(op, FusionDecision(_WORDS[word], groups.get(op.parent)))

    with parser_of(text, Context(), path) as parser:
        while (word := parser.parse_optional_keyword_in(_WORDS)) is not None:
            take = partial(take_mentioned, parser, word, dict[Block | None, int]())
            parser.parse_comma_separated_list(parser.Delimiter.NONE, take)
        if parser.pos < len(text):
            parser.raise_error(f"expected one of {', '.join(_WORDS)}")


def _parse_mention(parser: Parser) -> str | tuple[str, int, int]:
    """The name of an operation: that of its first result, or file, line and column."""
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        return operand.operand_name
    file = parser.parse_str_literal(" of a location, or the name of a value")
    parser.parse_punctuation(":")
    line = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_punctuation(":")
    return file, line, parser.parse_integer(False, False)


def _means(name: str | tuple[str, int, int], op: GenericOp) -> bool:
    if isinstance(name, str):
        return any(result.name_hint == name for result in op.results)
    return place_of(op.location) == name


def _reason_against(
    word: str,
    meant: Sequence[GenericOp],
    decided: Container[GenericOp],
    groups: Mapping[Block | None, int],
) -> str | None:
    """Why what is said of some operations makes no sense, if it does not."""
    if not meant:
        return "no operation that fusion begins with has this name"
    if any(op in decided for op in meant):
        return "a second decision on this operation"
    if word == "group" and groups and {op.parent for op in meant} != {*groups}:
        return "operations of a group have to be in one block"
    return None
