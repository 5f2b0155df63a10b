"""Custom calls of StableHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.attributes import CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.op import decode
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.stablehlo.attributes import Fields
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.source import Row, SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types

_API_VERSIONS = tuple(CustomCallApiVersion)
"""The versions by their numbers in StableHLO."""

_KEPT = ("called_computations", "operand_layouts", "result_layouts")


def parse_custom_call(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `stablehlo.custom_call @target(%0, %1) {attributes} : (a, b) -> c`."""
    target = parser.parse_symbol_name()
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    attributes, values, results = parse_attributes_and_types(parser, operands)
    return op_class.create(
        operands=values,
        result_types=results,
        properties={"call_target_name": target},
        attributes=attributes,
    )


def spelled_aliases(op: SourceOp, aliases: Sequence[Attribute]) -> str:
    """Which results share memory with operands, as HLO text says it: `{{}: (0, {})}`."""
    found: list[str] = []
    for alias in aliases:
        fields = dict(alias.data) if isinstance(alias, Fields) else {}
        output, operand = (
            ",".join(map(str, decode(fields.get(f"{side}_tuple_indices")) or ()))
            for side in ("output", "operand")
        )
        index = decode(fields.get("operand_index"))
        if not isinstance(index, int):
            op.fail(f"output_operand_aliases has {alias}, not #stablehlo.output_operand_alias<...>")
        found.append(f"{{{output}}}: ({index}, {{{operand}}})")
    return f"{{{', '.join(found)}}}"


def convert_custom_call(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.custom_call`; what is not interpreted is kept."""
    version = op.integer("api_version", 1)
    if not 0 <= version < len(_API_VERSIONS):
        op.fail(f"api_version is {version}, not 0 to {len(_API_VERSIONS) - 1}")
    properties: dict[str, Attribute] = {
        "custom_call_target": StringAttr(op.text("call_target_name")),
        "custom_call_has_side_effect": BoolAttr.from_bool(op.flag("has_side_effect")),
    }
    if version != 1:
        properties["api_version"] = CustomCallApiVersionAttr(_API_VERSIONS[version])
    config = op.take("backend_config")
    if isinstance(config, StringAttr):
        # As HLO text has it; an empty one is none.
        escaped = config.data.replace("\\", "\\\\").replace('"', '\\"')
        config = StringAttr(f'"{escaped}"') if config.data else None
    if config is not None:
        op.attributes["xla.backend_config"] = config
    aliases = op.take("output_operand_aliases")
    listed = cast("ArrayAttr[Attribute]", aliases).data if isinstance(aliases, ArrayAttr) else ()
    if listed:
        spelled = spelled_aliases(op, listed)
        op.attributes["xla.output_to_operand_aliasing"] = StringAttr(spelled)
    for name in _KEPT:
        value = op.take(name)
        if value is not None and value != ArrayAttr(()):
            op.attributes[f"xla.{name}"] = value
    return conversion.emit(
        CustomCallOp, conversion.operands(op), conversion.result_types(op), properties
    )


ROWS: Mapping[str, Row] = {
    "stablehlo.custom_call": Row(parse_custom_call, convert_custom_call, results=None),
}
