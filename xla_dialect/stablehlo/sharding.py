"""Shardy (`sdy`), which JAX prints where arrays have a sharding. It is kept, not interpreted.

A mesh becomes an entry of the module attribute `sdy.meshes`. Operations that say how an array is
spread over devices do not change its value: a sharding constraint becomes a copy with the attribute
`sdy.sharding`, any other a copy with the attribute of its name. The one with a meaning of its own
is `sdy.manual_computation`, see there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.stablehlo.conversion import MESH, Conversion, Row
from xla_dialect.stablehlo.creation import convert_constant, parse_constant
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types
from xla_dialect.xdsl.creation import create

_TEXT = "text"
"""The property with what stands between the name of an operation and its types."""


def parse_mesh(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `sdy.mesh @name = <["x"=2]> {attributes}`."""
    name = parser.parse_symbol_name()
    parser.parse_punctuation("=")
    mesh = cast(StableHloParser, parser).parse_balanced_text()
    properties: dict[str, Attribute] = {"sym_name": name, "mesh": StringAttr(f"#sdy.mesh{mesh}")}
    return create(op_class, properties=properties, attributes=parser.parse_optional_attr_dict())


def convert_mesh(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """A mesh stands beside functions, not in them; see `Conversion.module`."""
    op.fail("stands inside a function")


def parse_annotation(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """
    Parses an operand with whatever stands around it as text: all annotations are written so.

        sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : type
        sdy.all_gather [{"b"}, {}] %1 out_sharding=<@mesh, [{"a"}, {}]> : type
        sdy.propagation_barrier %0 allowed_direction=NONE : type
    """
    reader = cast(StableHloParser, parser)
    before = reader.parse_optional_balanced_text()
    operand = parser.parse_unresolved_operand()
    text = " ".join(filter(None, (before, *reader.parse_keywords_with_text())))
    attributes, operands, results = parse_attributes_and_types(parser, [operand])
    return create(
        op_class,
        operands=operands,
        result_types=() if op_class.row.results == 0 else results,
        properties={_TEXT: StringAttr(text)},
        attributes=attributes,
    )


def convert_annotation(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """The operand, copied, with the annotation as text."""
    properties = [op.take(name) for name in list(op.properties)]
    text = ", ".join(p.data if isinstance(p, StringAttr) else str(p) for p in properties)
    op.attributes[op.name] = StringAttr(text)
    return conversion.emit(CopyOp, conversion.operands(op), conversion.result_types(op))


def convert_sharding_constraint(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """The operand, copied, with its sharding."""
    sharding, text = op.take("sharding"), op.take(_TEXT)
    if isinstance(text, StringAttr):
        sharding = StringAttr(f"#sdy.sharding{text.data}")
    if sharding is None:
        op.fail("sharding is missing")
    op.attributes["sdy.sharding"] = sharding
    return conversion.emit(CopyOp, conversion.operands(op), conversion.result_types(op))


def convert_group(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`sdy.sharding_group` has no result: nothing is left of it."""
    op.properties.clear()
    op.attributes.clear()
    return ()


_ANNOTATIONS = (
    "all_gather",
    "all_reduce",
    "all_slice",
    "all_to_all",
    "collective_permute",
    "data_flow_edge",
    "propagation_barrier",
    "reduce_scatter",
    "replicated_to_unreduced",
    "reshard",
    "sharded_to_unreduced",
)

ROWS: Mapping[str, Row] = {
    MESH: Row(parse_mesh, convert_mesh, operands=0, results=0),
    "sdy.constant": Row(parse_constant, convert_constant, operands=0),
    "sdy.sharding_group": Row(parse_annotation, convert_group, operands=1, results=0),
    "sdy.sharding_constraint": Row(parse_annotation, convert_sharding_constraint, operands=1),
    **{
        f"sdy.{name}": Row(parse_annotation, convert_annotation, operands=1)
        for name in _ANNOTATIONS
    },
}
