"""Shardy (`sdy`), which JAX prints where arrays have a sharding. It is kept, not interpreted.

A mesh becomes an entry of the module attribute `sdy.meshes`; a sharding constraint, which does not
change the value, becomes a copy with the attribute `sdy.sharding`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.stablehlo.conversion import MESH, Conversion
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.source import Row, SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types


def parse_mesh(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `sdy.mesh @name = <["x"=2]> {attributes}`."""
    name = parser.parse_symbol_name()
    parser.parse_punctuation("=")
    mesh = cast(StableHloParser, parser).parse_balanced_text()
    properties: dict[str, Attribute] = {"sym_name": name, "mesh": StringAttr(f"#sdy.mesh{mesh}")}
    return op_class.create(properties=properties, attributes=parser.parse_optional_attr_dict())


def convert_mesh(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """A mesh stands beside functions, not in them; see `Conversion.module`."""
    op.fail("stands inside a function")


def parse_sharding_constraint(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : type`."""
    operand = parser.parse_unresolved_operand()
    sharding = cast(StableHloParser, parser).parse_balanced_text()
    attributes, operands, results = parse_attributes_and_types(parser, [operand])
    properties = {"sharding": StringAttr(f"#sdy.sharding{sharding}")}
    return op_class.create(
        operands=operands, result_types=results, properties=properties, attributes=attributes
    )


def convert_sharding_constraint(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`sdy.sharding_constraint`."""
    sharding = op.take("sharding")
    if sharding is None:
        op.fail("sharding is missing")
    op.attributes["sdy.sharding"] = sharding
    return conversion.emit(CopyOp, conversion.operands(op), conversion.result_types(op))


ROWS: Mapping[str, Row] = {
    MESH: Row(parse_mesh, convert_mesh, operands=0, results=0),
    "sdy.sharding_constraint": Row(
        parse_sharding_constraint, convert_sharding_constraint, operands=1
    ),
}
