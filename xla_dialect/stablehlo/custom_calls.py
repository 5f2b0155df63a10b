"""Custom calls of StableHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, StringAttr, TupleType, i32
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.devices.replica_groups import ReplicaGroupsAttr
from xla_dialect.op import decode
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.stablehlo.attributes import Fields
from xla_dialect.stablehlo.conversion import Conversion, Row
from xla_dialect.stablehlo.dynamic_calls import (
    REPLACED_CALLS,
    apply_shape_operands,
    take_shape_operands,
)
from xla_dialect.stablehlo.mesh_groups import MeshAxes
from xla_dialect.stablehlo.ops.collectives import groups_among
from xla_dialect.stablehlo.source import SourceOp, UnknownShape, integers_of
from xla_dialect.stablehlo.syntax import parse_attributes_and_types
from xla_dialect.types import as_array, is_unbounded, spell_all
from xla_dialect.xdsl.creation import create

API_VERSIONS = tuple(CustomCallApiVersion)
"""The versions by their numbers in StableHLO."""

_TYPED = 4
"""The version whose configuration is a dictionary; it is a string for the others."""


def parse_custom_call(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `stablehlo.custom_call @target(%0, %1) {attributes} : (a, b) -> c`."""
    target = parser.parse_symbol_name()
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    attributes, values, results = parse_attributes_and_types(parser, operands)
    return create(
        op_class,
        operands=values,
        result_types=results,
        properties={"call_target_name": target},
        attributes=attributes,
    )


def spelled_aliases(op: SourceOp, aliases: Sequence[Attribute], dropped: Sequence[int] = ()) -> str:
    """
    Which results share memory with operands, as HLO text says it: `{{}: (0, {})}`.

    The operands at the positions `dropped` say shapes, and are none of the call that is left.
    """
    found: list[str] = []
    for alias in aliases:
        fields = dict(alias.data) if isinstance(alias, Fields) else {}
        output_indices, operand_indices = (
            cast("tuple[int, ...]", decode(fields.get(f"{side}_tuple_indices")) or ())
            for side in ("output", "operand")
        )
        index = decode(fields.get("operand_index"))
        if not isinstance(index, int):
            op.fail(f"output_operand_aliases has {alias}, not #stablehlo.output_operand_alias<...>")
        check_alias(op, output_indices, index, operand_indices)
        if index in dropped:
            op.fail(f"output_operand_aliases: operand {index} says a shape")
        index -= sum(position < index for position in set(dropped))
        output, operand = (",".join(map(str, found)) for found in (output_indices, operand_indices))
        found.append(f"{{{output}}}: ({index}, {{{operand}}})")
    return f"{{{', '.join(found)}}}"


def check_layouts(op: SourceOp) -> None:
    """Layouts are given for all operands and all results, or for none; each is a permutation."""
    given = [op.properties.get(name, op.attributes.get(name)) for name in _LAYOUTS]
    if given == [None, None]:
        return
    results: Sequence[Attribute] = [result.type for result in op.results]
    if len(results) == 1 and isinstance(results[0], TupleType):
        results = results[0].types.data
    for name, value, types in zip(
        _LAYOUTS, given, ([operand.type for operand in op.operands], results), strict=True
    ):
        if not isinstance(value, ArrayAttr):
            op.fail(f"{name} is {'missing' if value is None else value}, the other list is given")
        layouts = cast("ArrayAttr[Attribute]", value).data
        if len(layouts) != len(types):
            op.fail(f"{name} has {len(layouts)} entries for {len(types)} values")
        for layout, type_ in zip(layouts, types, strict=True):
            array_type = as_array(type_)
            rank = 0 if array_type is None else len(array_type.get_shape())
            found = integers_of(layout)
            if found is None or sorted(found) != list(range(rank)):
                op.fail(f"{name}: {layout} is no layout of {type_}")


_LAYOUTS = ("operand_layouts", "result_layouts")


def part_of(op: SourceOp, type_: Attribute, indices: Sequence[int]) -> Attribute:
    """The part of a type at indices into nested tuples."""
    for index in indices:
        if not isinstance(type_, TupleType) or not 0 <= index < len(type_.types.data):
            op.fail(f"output_operand_aliases: {type_} has no element {index}")
        type_ = type_.types.data[index]
    return type_


def check_alias(op: SourceOp, output: Sequence[int], operand: int, indices: Sequence[int]) -> None:
    """An alias connects parts of one type."""
    if not 0 <= operand < len(op.operands):
        op.fail(f"output_operand_aliases: there is no operand {operand}")
    results = tuple(cast(TypeAttribute, result.type) for result in op.results)
    whole = results[0] if len(results) == 1 else TupleType(results)
    result = part_of(op, whole, output)
    given = part_of(op, op.operands[operand].type, indices)
    if result != given:
        op.fail(f"output_operand_aliases: the result has type {result}, the operand {given}")


def convert_custom_call(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.custom_call`; what is not interpreted is kept."""
    version = op.integer("api_version", 1, i32)
    if not 0 <= version < len(API_VERSIONS):
        op.fail(f"api_version is {version}, not 0 to {len(API_VERSIONS) - 1}")
    target = op.text("call_target_name")
    check_layouts(op)
    replaced = REPLACED_CALLS.get(target)
    shapes = take_shape_operands(op)
    kept: Mapping[str, Attribute] = {}
    if replaced is None:
        kept = _take_layouts_and_aliases(op, shapes)
    if shapes:
        apply_shape_operands(op, conversion, shapes)
    if replaced is not None:
        op.take("has_side_effect")
        results = replaced(op, conversion)
        op.take("backend_config")
        return results
    properties: dict[str, Attribute] = {
        "custom_call_target": StringAttr(target),
        "custom_call_has_side_effect": BoolAttr.from_bool(op.flag("has_side_effect")),
    }
    if version != 1:
        properties["api_version"] = CustomCallApiVersionAttr(API_VERSIONS[version])
    config = op.take("backend_config")
    if config is not None and isinstance(config, DictionaryAttr) != (version == _TYPED):
        op.fail(f"backend_config is {config}, which does not go with api_version {version}")
    if isinstance(config, StringAttr):
        # Quoted as in HLO text, where an empty string is the same as no attribute.
        escaped = config.data.replace("\\", "\\\\").replace('"', '\\"')
        config = StringAttr(f'"{escaped}"') if config.data else None
    if config is not None:
        op.attributes["xla.backend_config"] = config
    if isinstance(
        op.properties.get("replica_groups", op.attributes.get("replica_groups")), MeshAxes
    ):
        try:
            groups = groups_among(cast(Attribute, op.take("replica_groups")), conversion.meshes)
        except VerifyException as error:
            op.fail(str(error))
        op.attributes["xla.replica_groups"] = ReplicaGroupsAttr(groups)
    op.attributes.update(kept)
    types = conversion.result_types(op)
    if any(map(is_unbounded, types)) and not conversion.KEEPS_UNKNOWN_SIZES:
        raise UnknownShape(
            op, message=f"no operand says the sizes of its results {spell_all(types)}"
        )
    return conversion.emit(CustomCallOp, conversion.operands(op), types, properties)


def _take_layouts_and_aliases(op: SourceOp, shapes: Sequence[int]) -> Mapping[str, Attribute]:
    """What a call says of its operands and results, but of operands that say shapes."""
    kept: dict[str, Attribute] = {}
    aliases = op.take("output_operand_aliases")
    listed = cast("ArrayAttr[Attribute]", aliases).data if isinstance(aliases, ArrayAttr) else ()
    if listed:
        spelled = spelled_aliases(op, listed, shapes)
        kept["xla.output_to_operand_aliasing"] = StringAttr(spelled)
    for name in ("called_computations", *_LAYOUTS):
        value = op.take(name)
        if name == _LAYOUTS[0] and isinstance(value, ArrayAttr):
            layouts = cast("ArrayAttr[Attribute]", value).data
            value = ArrayAttr(found for i, found in enumerate(layouts) if i not in shapes)
        if value is not None and value != ArrayAttr(()):
            kept[f"xla.{name}"] = value
    return kept


ROWS: Mapping[str, Row] = {
    "stablehlo.custom_call": Row(parse_custom_call, convert_custom_call, results=None),
}
