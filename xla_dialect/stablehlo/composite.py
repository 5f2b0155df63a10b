"""Composites and asynchronous computations of StableHLO."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DictionaryAttr,
    StringAttr,
    SymbolRefAttr,
    TupleType,
    i32,
)
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.parser import Parser

from xla_dialect.ops.asynchronous import AsyncDoneOp, AsyncStartOp
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.stablehlo.attributes import FutureType
from xla_dialect.stablehlo.conversion import Conversion, Row
from xla_dialect.stablehlo.legalize.chlo import FUNCTIONS
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types
from xla_dialect.types import S32, array, spell_all
from xla_dialect.xdsl.creation import create


def parse_composite(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `stablehlo.composite "name" %0, %1 {attributes} : (a, b) -> c`."""
    name = StringAttr(parser.parse_str_literal())
    operands = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    attributes, values, results = parse_attributes_and_types(parser, operands or ())
    return create(
        op_class,
        operands=values,
        result_types=results,
        properties={"name": name},
        attributes=attributes,
    )


def convert_composite(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """
    A call of the decomposition; name, version and attributes are kept as HLO keeps them.

    That is as frontend attributes: a dictionary, or its text where it holds a dictionary itself.
    A composite that is named as a function of StableHLO or CHLO is that function.
    """
    name, version = op.text("name"), op.integer("version", 0, i32)
    if not _is_qualified(name):
        op.fail(f"name is {name!r}, not of the form namespace.op")
    if version < 0:
        op.fail(f"version is {version}, which is negative")
    decomposition = op.take("decomposition")
    if not isinstance(decomposition, SymbolRefAttr) or decomposition.nested_references.data:
        op.fail(f"decomposition is {decomposition}, not the name of a function")
    operands = conversion.operands(op)
    for region in list(op.regions):  # of a body that is modelled; the decomposition has the meaning
        op.detach_region(region)
    function = conversion.function_to_inline(decomposition.root_reference.data, operands)
    attributes = op.take("composite_attributes")
    if attributes is not None and not isinstance(attributes, DictionaryAttr):
        op.fail(f"composite_attributes is {attributes}, not a dictionary")
    kept: Attribute
    has_attributes = attributes is not None and bool(attributes.data)
    if name in FUNCTIONS and len(operands) == 1 and not has_attributes:
        return FUNCTIONS[name](op, conversion)
    if has_attributes:
        kept = StringAttr(
            f'{{composite.attributes={attributes},composite.name="{name}",'
            f'composite.version="{version}"}}'
        )
    else:
        kept = DictionaryAttr(
            {"composite.name": StringAttr(name), "composite.version": StringAttr(str(version))}
        )
    if function is not None:
        return conversion.inline_call(op, function)
    op.attributes["xla.frontend_attributes"] = kept
    return conversion.emit(
        CallOp,
        operands,
        conversion.result_types(op),
        {"to_apply": decomposition, "is_composite": BoolAttr.from_bool(True)},
    )


def _is_qualified(name: str) -> bool:
    return _QUALIFIED.fullmatch(name) is not None


_QUALIFIED = re.compile(r"[a-zA-Z]\w*(?:\.[\w$]+)+", re.ASCII)


def convert_async_start(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.async_start`; the context is `((operands), results, s32[])`."""
    future = op.results[0].type
    if not isinstance(future, FutureType):
        op.fail(f"the result is {future}, not a future")
    types = [cast(TypeAttribute, conversion.type(t, op)) for t in _contents(future)]
    operands = conversion.operands(op)
    taken = [a.type for block in op.regions[0].blocks for a in block.args]
    if taken != [operand.type for operand in op.operands]:
        lists = [spell_all(types) for types in ([v.type for v in op.operands], taken)]
        op.fail(f"its operands are {lists[0]}, its region takes {lists[1]}")
    names = [inner.name for block in op.regions[0].blocks for inner in block.ops]
    if len(names) != 2 or names[0] not in _ASYNCHRONOUS:
        op.fail(f"its region has {', '.join(names)}, not one collective or slice and a return")
    inputs = TupleType(tuple(cast(TypeAttribute, value.type) for value in operands))
    outputs = types[0] if len(types) == 1 else TupleType(tuple(types))
    context = TupleType((inputs, outputs, array(S32, ())))
    return conversion.emit(AsyncStartOp, operands, [context], regions=conversion.regions(op))


_ASYNCHRONOUS = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("collective_reduce", "dynamic_slice", "dynamic_update_slice", "reduce_scatter", "slice"),
    )
)
"""What runs asynchronously."""


def _contents(future: FutureType) -> Sequence[Attribute]:
    return future.types.data


def convert_async_done(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.async_done`."""
    future = op.operands[0].type
    declared = [result.type for result in op.results]
    if not isinstance(future, FutureType) or list(_contents(future)) != declared:
        op.fail(f"waits for {future}, its results are ({', '.join(map(str, declared))})")
    return conversion.emit(AsyncDoneOp, conversion.operands(op), conversion.result_types(op))


ROWS: Mapping[str, Row] = {
    "stablehlo.composite": Row(parse_composite, convert_composite, results=None, regions=None),
    "stablehlo.async_start": Row(None, convert_async_start, regions=1),
    "stablehlo.async_done": Row(None, convert_async_done, operands=1, results=None),
}
