"""Shardy (`sdy`), which JAX prints where arrays have a sharding.

A mesh becomes an entry of the module attribute `sdy.meshes`. Operations that say how an array is
spread over devices do not change its value: constraints, groups and barriers become the custom
calls that XLA has for them in HLO; any other a copy with the attribute of its name. The one with a
meaning of its own is `sdy.manual_computation`, see there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.attributes import SpellingError
from xla_dialect.ops.custom_calls import (
    ALLOWED_DIRECTION,
    GROUP_ID,
    PROPAGATION_BARRIER,
    SHARDING_CONSTRAINT,
    SHARDING_GROUP,
    CustomCallOp,
)
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import SHARDING, ShardingPerValueAttr, Shardings
from xla_dialect.stablehlo.conversion import MESH, Conversion, Row
from xla_dialect.stablehlo.creation import convert_constant, parse_constant
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.shardy_attributes import SdyMesh, SdySharding
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types
from xla_dialect.xdsl.creation import create

_TEXT = "text"
"""The property with what stands between the name of an operation and its types."""


def parse_mesh(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `sdy.mesh @name = <["x"=2]> {attributes}`."""
    name = parser.parse_symbol_name()
    parser.parse_punctuation("=")
    mesh = SdyMesh(SdyMesh.parse_parameter(cast(StableHloParser, parser)))
    properties: dict[str, Attribute] = {"sym_name": name, "mesh": mesh}
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


def take_sharding(op: SourceOp) -> Sharding:
    """Takes the sharding of an operation, which pretty and generic form have in other places."""
    sharding, text = op.take("sharding"), op.take(_TEXT)
    if isinstance(text, StringAttr):
        try:
            return Sharding.read(text.data)
        except SpellingError as error:
            op.fail(f"sharding: {error}")
    if not isinstance(sharding, SdySharding):
        op.fail(f"sharding is {'missing' if sharding is None else sharding}")
    return sharding.data


def _annotation(
    op: SourceOp, conversion: Conversion, target: str, attributes: Mapping[str, Attribute]
) -> Sequence[SSAValue]:
    """A custom call with this target, as XLA has them in HLO."""
    op.attributes.update(attributes)
    return conversion.emit(
        CustomCallOp,
        conversion.operands(op),
        conversion.result_types(op),
        {
            "custom_call_target": StringAttr(target),
            "custom_call_has_side_effect": BoolAttr.from_bool(target != SHARDING_CONSTRAINT),
        },
    )


def convert_sharding_constraint(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """A call that returns the operand, with its sharding."""
    sharding = ShardingPerValueAttr(Shardings([take_sharding(op)]))
    return _annotation(op, conversion, SHARDING_CONSTRAINT, {SHARDING: sharding})


def convert_group(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """A call without a result, with the number of the group."""
    number, text = op.take("group_id"), op.take(_TEXT)
    if isinstance(text, StringAttr):
        found = _GROUP_ID.fullmatch(text.data)
        number = None if found is None else IntegerAttr(int(found.group(1)), i64)
    if not isinstance(number, IntegerAttr):
        op.fail("group_id is no number")
    return _annotation(op, conversion, SHARDING_GROUP, {GROUP_ID: cast(Attribute, number)})


def convert_barrier(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """A call that returns the operand, with the direction in which shardings pass."""
    direction, text = op.take("allowed_direction"), op.take(_TEXT)
    if isinstance(text, StringAttr):
        direction = StringAttr(text.data.removeprefix("allowed_direction="))
    if isinstance(direction, IntegerAttr):
        number = cast("IntegerAttr[Any]", direction).value.data
        direction = StringAttr(DIRECTIONS[number] if number < len(DIRECTIONS) else str(number))
    if not isinstance(direction, StringAttr) or direction.data not in DIRECTIONS:
        op.fail(f"allowed_direction is {direction}, not one of {', '.join(DIRECTIONS)}")
    return _annotation(op, conversion, PROPAGATION_BARRIER, {ALLOWED_DIRECTION: direction})


DIRECTIONS = ("NONE", "FORWARD", "BACKWARD", "BOTH")
"""The ways in which shardings pass a barrier, by their numbers."""
_GROUP_ID = re.compile(r"group_id *= *([0-9]{1,18})")

_ANNOTATIONS = (
    "all_gather",
    "all_reduce",
    "all_slice",
    "all_to_all",
    "collective_permute",
    "data_flow_edge",
    "reduce_scatter",
    "replicated_to_unreduced",
    "reshard",
    "sharded_to_unreduced",
)

ROWS: Mapping[str, Row] = {
    MESH: Row(parse_mesh, convert_mesh, operands=0, results=0),
    "sdy.constant": Row(parse_constant, convert_constant, operands=0),
    "sdy.sharding_group": Row(parse_annotation, convert_group, operands=1, results=0),
    "sdy.propagation_barrier": Row(parse_annotation, convert_barrier, operands=1),
    "sdy.sharding_constraint": Row(parse_annotation, convert_sharding_constraint, operands=1),
    **{
        f"sdy.{name}": Row(parse_annotation, convert_annotation, operands=1)
        for name in _ANNOTATIONS
    },
}
