"""Composites of StableHLO."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    BoolAttr,
    DictionaryAttr,
    StringAttr,
    SymbolRefAttr,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.ops.control_flow import CallOp
from xla_dialect.stablehlo.conversion import Conversion, Row
from xla_dialect.stablehlo.legalize.chlo import FUNCTIONS
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types
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


ROWS: Mapping[str, Row] = {
    "stablehlo.composite": Row(parse_composite, convert_composite, results=None, regions=None),
}
