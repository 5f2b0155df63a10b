"""What printing has to know of the structure of operations: tuples, captured values, kept facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TupleType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from xla_dialect.diagnostics import place_of
from xla_dialect.hlo_text.syntax import HloPrintError
from xla_dialect.op import XlaOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.transfers import InfeedOp
from xla_dialect.types import flatten
from xla_dialect.xdsl.traversal import operations_in

Facts = Mapping[str, Attribute]
"""What the reader kept of a parameter, or of an instruction."""

NOTHING: Facts = {}

Path = tuple[int, ...]
"""Where an element is in nested tuples."""


def fail(op: Operation, message: str) -> NoReturn:
    """Raises HloPrintError at the place of an operation."""
    file, line, column = place_of(op.location) or ("<module>", 0, 0)
    raise HloPrintError(message, file, line, column)


def parent_of(block: Block) -> Operation:
    """The operation around a block."""
    parent = block.parent_op()
    assert parent is not None  # only blocks of operations are printed
    return parent


def only_block(region: Region, op: Operation) -> Block:
    """The block of a computation; raises HloPrintError where there is not exactly one."""
    block = region.first_block
    if block is None or block.next_block is not None:
        fail(op, f"{op.name}: HLO text has no computations of {len(region.blocks)} blocks")
    return block


# Tuples


@dataclass(frozen=True)
class ResultShape:
    """What HLO has for several values: a tuple, or the value itself where the path is empty."""

    type: Attribute
    paths: Sequence[Path]
    """Where each of the values is in it."""


@dataclass
class Bundle:
    """A tuple whose leaves are the results of one operation, or the parameters of one block."""

    text: str
    """The tuple as an operand."""
    shape: ResultShape
    elements: dict[Path, str] = field(default_factory=dict[Path, str])
    """The elements that are taken out already, as operands."""


def tuple_of(types: Iterable[Attribute]) -> TupleType:
    """The type of the tuple of these."""
    return TupleType(cast("tuple[TypeAttribute, ...]", tuple(types)))


def flat_shape(type_: TupleType) -> ResultShape:
    """A tuple whose elements are the values."""
    return ResultShape(type_, [(i,) for i in range(len(type_.types.data))])


def shape_of(types: Sequence[Attribute]) -> ResultShape:
    """The only value itself, or the tuple of the values."""
    return ResultShape(types[0], [()]) if len(types) == 1 else flat_shape(tuple_of(types))


def result_shape(op: Operation) -> ResultShape:
    """
    What HLO has for the results of an operation.

    Where these are the leaves of nested tuples, HLO has the nested tuples.
    """
    types = op.result_types
    if isinstance(op, InfeedOp):
        *item, token = types
        items = item if len(item) == 1 else [tuple_of(item)]
        return ResultShape(nested := tuple_of([*items, token]), list(_paths(nested, ())))
    flat = shape_of(types)
    if not isinstance(op, XlaOp) or any(isinstance(type_, TupleType) for type_ in types):
        return flat
    try:
        inferred = op.infer_types()
    except VerifyException as error:
        fail(op, str(error))
    if len(flatten(inferred)) != len(types):
        return flat
    leaves = iter(types)
    nested = tuple_of([_nested(type_, leaves) for type_ in inferred])
    return ResultShape(nested, list(_paths(nested, ())))


def _nested(like: Attribute, leaves: Iterator[Attribute]) -> Attribute:
    if isinstance(like, TupleType):
        return tuple_of([_nested(element, leaves) for element in like.types.data])
    return next(leaves)


def _paths(type_: Attribute, path: Path) -> Iterator[Path]:
    if isinstance(type_, TupleType):
        for i, element in enumerate(type_.types.data):
            yield from _paths(element, (*path, i))
    else:
        yield path


# Captured values


def free_values(regions: Sequence[Region]) -> list[SSAValue]:
    """The values that regions use and do not define, but for constants, in order of first use."""
    inside: set[SSAValue] = set()
    found: dict[SSAValue, None] = {}
    for region in regions:
        _add_arguments(region, inside)
        for op in operations_in(region):
            inside.update(op.results)
            for nested in op.regions:
                _add_arguments(nested, inside)
    for region in regions:
        for op in operations_in(region):
            for operand in op.operands:
                if operand not in inside and not is_constant(operand.owner):
                    found[operand] = None
    return list(found)


def _add_arguments(region: Region, values: set[SSAValue]) -> None:
    for block in region.blocks:
        values.update(block.args)


def is_constant(op: Operation | Block) -> bool:
    """Whether a copy of an operation in another computation has the same value."""
    return isinstance(op, ConstantOp | IotaOp)


# Equal regions


def fingerprint(block: Block) -> tuple[object, ...] | None:
    """
    A key that is equal for blocks that print the same, made faster than by printing them.

    Attributes and types count as equal only if they are one object, so it holds as long as the
    module does. None where there are regions inside, or values from around the block are used.
    """
    numbers: dict[SSAValue, int] = {}
    parts: list[object] = []
    for argument in block.args:
        numbers[argument] = len(numbers)
        parts += (id(argument.type), argument.name_hint)
    for op in block.ops:
        if op.regions:
            return None
        parts.append(type(op))
        for operand in op.operands:
            number = numbers.get(operand)
            if number is None:
                return None
            parts.append(number)
        for attributes in (op.properties, op.attributes):
            if attributes:
                parts += attributes
                parts += map(id, attributes.values())
        for result in op.results:
            numbers[result] = len(numbers)
            parts += (id(result.type), result.name_hint)
    return tuple(parts)


# What the reader kept


def dictionaries(value: Attribute | None, count: int) -> Sequence[Facts]:
    """The dictionaries of an array attribute of this length; empty ones for anything else."""
    entries = cast("ArrayAttr[Attribute]", value).data if isinstance(value, ArrayAttr) else ()
    found = [entry.data for entry in entries if isinstance(entry, DictionaryAttr)]
    return found if len(found) == count else [NOTHING] * count


def facts_of_regions(value: Attribute | None, count: int) -> Sequence[Sequence[Facts]]:
    """The facts of the parameters of every region, from `xla.parameters`."""
    entries = cast("ArrayAttr[Attribute]", value).data if isinstance(value, ArrayAttr) else ()
    found = [
        dictionaries(
            cast("ArrayAttr[Attribute]", entry), len(cast("ArrayAttr[Attribute]", entry).data)
        )
        for entry in entries
        if isinstance(entry, ArrayAttr)
    ]
    return found if len(found) == count else [() for _ in range(count)]
