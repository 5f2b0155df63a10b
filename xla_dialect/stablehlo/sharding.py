"""Shardy (`sdy`), which JAX prints where arrays have a sharding.

A mesh becomes an entry of the module attribute `sdy.meshes`. Operations that say how an array is
spread over devices do not change its value: constraints, groups and barriers become the custom
calls that XLA has for them in HLO; any other a copy with the attribute of its name. The ones with a
meaning of their own are sums over devices, and `sdy.manual_computation`, see there. Rules:
docs/specification/shardings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import SpelledAttribute
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
from xla_dialect.sharding.attributes import (
    RESHARD,
    SHARDING,
    ShardingPerValueAttr,
    Shardings,
    sharding_fault,
)
from xla_dialect.sharding.axes import AxisReference
from xla_dialect.sharding.collectives import COLLECTIVES, CollectiveRule, axes_in, counted_along
from xla_dialect.stablehlo.conversion import MESH, Conversion, Row, sizes_of
from xla_dialect.stablehlo.creation import convert_constant, parse_constant
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.shardy_attributes import (
    SdyAxisList,
    SdyAxisLists,
    SdyAxisMoves,
    SdyMesh,
    SdySharding,
    SdyShardingPerValue,
)
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types
from xla_dialect.stablehlo.terms import Terms
from xla_dialect.types import PRED, is_array
from xla_dialect.xdsl.creation import create

_Spelled = TypeVar("_Spelled", bound=SpelledAttribute[Any])


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


def parse_spelled(parser: Parser, attribute: type[_Spelled]) -> _Spelled:
    """Parses what a custom form has in brackets, as the attribute of the generic form."""
    start = parser.pos
    text = cast(StableHloParser, parser).parse_balanced_text()
    return attribute(attribute.read_at(parser, text, start))


def _parse_sharding(parser: Parser) -> Attribute:
    return SdySharding(SdySharding.parse_parameter(cast(StableHloParser, parser)))


def _parse_direction(parser: Parser) -> Attribute:
    """`NONE`, as the number that the generic form has."""
    word = parser.parse_identifier()
    if word not in DIRECTIONS:
        parser.raise_error(f"expected one of {', '.join(DIRECTIONS)}, found {word}")
    return IntegerAttr(DIRECTIONS.index(word), i32)


def _parse_number(parser: Parser) -> Attribute:
    return IntegerAttr(parser.parse_integer(allow_boolean=False), i64)


def _annotation_form(
    name: str,
    parse: Callable[[Parser], Attribute],
    *,
    is_optional: bool = False,
    is_bare: bool = False,
    axes: tuple[str, type[SpelledAttribute[Any]]] | None = None,
) -> Callable[[Parser, type[SourceOp]], SourceOp]:
    """
    How an operation of Shardy on one operand is written: `name`, its one property, behind it.

        sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : type
        sdy.all_gather [{"b"}, {}] %1 out_sharding=<@mesh, [{"a"}, {}]> : type
        sdy.propagation_barrier %0 allowed_direction=NONE : type
    """

    def form(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
        properties: dict[str, Attribute] = {}
        if axes is not None:
            properties[axes[0]] = cast(Attribute, parse_spelled(parser, axes[1]))
        operand = parser.parse_unresolved_operand()
        if is_bare:
            properties[name] = parse(parser)
        elif not is_optional or parser.parse_optional_keyword(name) is not None:
            if not is_optional:
                parser.parse_keyword(name)
            parser.parse_punctuation("=")
            properties[name] = parse(parser)
        attributes, operands, results = parse_attributes_and_types(parser, [operand])
        return create(
            op_class,
            operands=operands,
            result_types=() if op_class.row.results == 0 else results,
            properties=properties,
            attributes=attributes,
        )

    return form


# What is said of values


def sharding_of(value: SSAValue, conversion: Conversion) -> Sharding | None:
    """What the text says of a parsed value; None where it says nothing."""
    found = conversion.shardings.get(value)
    if found is not None:
        return found
    match value:
        case OpResult():
            entry = value.owner.attributes.get(SHARDING)
        case BlockArgument():
            entry = _said_of_argument(value)
        case _:
            entry = None
    match entry, value:
        case SdySharding(), _:
            return entry.data
        case SdyShardingPerValue(), OpResult() | BlockArgument() if value.index < len(entry.data):
            return entry.data[value.index]
        case _:
            return None


def _said_of_argument(value: BlockArgument) -> Attribute | None:
    """The attribute of a function's parameter, or of the loop that carries a value along."""
    parent = value.owner.parent_op()
    if isinstance(parent, FuncOp):
        given = () if parent.arg_attrs is None else parent.arg_attrs.data
        return given[value.index].data.get(SHARDING) if value.index < len(given) else None
    if parent is None or parent.name != "stablehlo.while":
        return None
    return parent.attributes.get(SHARDING)


def check_sharding(
    op: SourceOp, what: str, sharding: Sharding, type_: Attribute, conversion: Conversion
) -> None:
    """Raises an error at an operation that names a sharding which its value cannot have."""
    fault = sharding_fault(sharding, type_, conversion.meshes)
    if fault is not None:
        op.fail(f"{what} <{sharding}>: {fault}")


def axes_named_by(op: Operation) -> Iterator[str]:
    """The names of axes in the attributes of a parsed operation."""
    for value in (*op.properties.values(), *op.attributes.values()):
        match value:
            case SdySharding():
                shardings = (value.data,)
            case SdyShardingPerValue():
                shardings = value.data
            case SdyAxisList() | SdyAxisLists() | SdyAxisMoves():
                yield from (axis.name for axis in axes_in(value.data))
                continue
            case _:
                continue
        for sharding in shardings:
            yield from (axis.name for axis in sharding.used_axes)


def _take_sharding(op: SourceOp, name: str, conversion: Conversion) -> Sharding:
    """Takes the sharding of an operation, which is that of its result."""
    found = op.take(name)
    if not isinstance(found, SdySharding):
        op.fail(f"{name} is {'missing' if found is None else found}")
    check_sharding(op, name, found.data, op.results[0].type, conversion)
    conversion.shardings[op.results[0]] = found.data
    return found.data


# Copies


def _copy(
    op: SourceOp, value: SSAValue, sharding: Sharding | None, conversion: Conversion
) -> Sequence[SSAValue]:
    if sharding is not None:
        per_value = ShardingPerValueAttr(Shardings([sharding]))
        op.attributes[SHARDING] = cast(Attribute, per_value)
    return conversion.emit(CopyOp, [value], conversion.result_types(op))


def convert_reshard(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """The operand in another sharding."""
    op.attributes[RESHARD] = StringAttr("")
    sharding = _take_sharding(op, "sharding", conversion)
    return _copy(op, conversion.value(op.operands[0]), sharding, conversion)


def convert_collective(
    op: SourceOp, conversion: Conversion, name: str, collective: CollectiveRule
) -> Sequence[SSAValue]:
    """The operand in another sharding, or what devices have of it added up."""
    (operand,) = op.operands
    axes = None
    if collective.axes_name is not None:
        found = op.take(collective.axes_name)
        if not isinstance(found, _AXES[name]):
            op.fail(f"{collective.axes_name} is {'missing' if found is None else found}")
        axes = cast("SpelledAttribute[Any]", found).data
    result = _take_sharding(op, "out_sharding", conversion)
    before = sharding_of(operand, conversion)
    if before is not None:
        check_sharding(op, "the operand's sharding", before, operand.type, conversion)
    rank = len(sizes_of(conversion.value(operand).type))
    try:
        before = collective.check(before, axes, result, rank, conversion.meshes)
    except VerifyException as error:
        op.fail(str(error))
    value = conversion.value(operand)
    if axes is not None and collective.sums:
        value = _summed(operand, before, axes_in(axes), conversion)
    elif axes is not None:
        op.attributes[op.name] = StringAttr(str(axes))
    op.attributes[RESHARD] = StringAttr(name)
    return _copy(op, value, result, conversion)


def _summed(
    operand: SSAValue, sharding: Sharding, axes: Sequence[AxisReference], conversion: Conversion
) -> SSAValue:
    """
    The sum of what devices have of an operand along axes, for which values here are whole arrays.

    Along an axis that the operand is unreduced over they have its terms: it is the sum. So it is
    along one that splits an operand of the operation before, whose terms Shardy folds right behind
    it. Along others they all have it, so the sum is a multiple.
    """
    terms = list(sharding.unreduced)
    if isinstance(operand.owner, Operation) and not operand.owner.name.startswith("sdy."):
        for each in operand.owner.operands:
            said = sharding_of(each, conversion)
            terms += () if said is None else said.split_axes
    mesh = sharding.mesh_in(conversion.meshes)
    assert mesh is not None
    count = counted_along(axes, terms, mesh)
    value = conversion.value(operand)
    if count == 1 or not is_array(value.type) or value.type.element_type == PRED:
        return value
    return (Terms(conversion, value.type).of(value) * count).value


def convert_edge(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """The operand; the sharding says how all values of an edge are split."""
    (operand,) = op.operands
    owner = operand.owner
    if isinstance(owner, SourceOp) and owner.name.startswith("sdy.") and not owner.regions:
        op.fail(f"(SH19) its operand is given by {owner.name}, which has no edges")
    if not operand.has_one_use():
        op.fail("(SH19) its operand has other uses")
    given = "sharding" in op.properties
    sharding = _take_sharding(op, "sharding", conversion) if given else None
    op.attributes[op.name] = StringAttr("")
    return _copy(op, conversion.value(operand), sharding, conversion)


# Custom calls


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
    sharding = _take_sharding(op, "sharding", conversion)
    per_value = ShardingPerValueAttr(Shardings([sharding]))
    return _annotation(op, conversion, SHARDING_CONSTRAINT, {SHARDING: cast(Attribute, per_value)})


def convert_group(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """A call without a result, with the number of the group."""
    number = IntegerAttr(op.integer("group_id"), i64)
    return _annotation(op, conversion, SHARDING_GROUP, {GROUP_ID: cast(Attribute, number)})


def convert_barrier(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """A call that returns the operand, with the direction in which shardings pass."""
    number = op.integer("allowed_direction", type_=i32)
    if not 0 <= number < len(DIRECTIONS):
        op.fail(f"allowed_direction is {number}, not 0 to {len(DIRECTIONS) - 1}")
    if DIRECTIONS[number] == "BOTH":
        op.fail("(SH18) allowed_direction is BOTH: it stops nothing")
    direction = StringAttr(DIRECTIONS[number])
    return _annotation(op, conversion, PROPAGATION_BARRIER, {ALLOWED_DIRECTION: direction})


DIRECTIONS = ("NONE", "FORWARD", "BACKWARD", "BOTH")
"""The ways in which shardings pass a barrier, by their numbers."""

_AXES: Mapping[str, type[SpelledAttribute[Any]]] = {
    "all_gather": SdyAxisLists,
    "all_slice": SdyAxisLists,
    "all_to_all": SdyAxisMoves,
    "all_reduce": SdyAxisList,
    "reduce_scatter": SdyAxisLists,
    "sharded_to_unreduced": SdyAxisLists,
    "replicated_to_unreduced": SdyAxisList,
}


def _collective_row(name: str, collective: CollectiveRule) -> Row:
    axes_name = collective.axes_name
    axes = None if axes_name is None else (axes_name, _AXES[name])
    form = _annotation_form("out_sharding", _parse_sharding, axes=axes)
    convert = partial(convert_collective, name=name, collective=collective)
    return Row(form, convert, operands=1)


_BARE_SHARDING = _annotation_form("sharding", _parse_sharding, is_bare=True)
_EDGE = Row(
    _annotation_form("sharding", _parse_sharding, is_optional=True), convert_edge, operands=1
)

ROWS: Mapping[str, Row] = {
    MESH: Row(parse_mesh, convert_mesh, operands=0, results=0),
    "sdy.constant": Row(parse_constant, convert_constant, operands=0),
    "sdy.sharding_group": Row(
        _annotation_form("group_id", _parse_number), convert_group, operands=1, results=0
    ),
    "sdy.propagation_barrier": Row(
        _annotation_form("allowed_direction", _parse_direction), convert_barrier, operands=1
    ),
    "sdy.sharding_constraint": Row(_BARE_SHARDING, convert_sharding_constraint, operands=1),
    "sdy.reshard": Row(_BARE_SHARDING, convert_reshard, operands=1),
    "sdy.data_flow_edge": _EDGE,
    "sdy.func_data_flow_edge": _EDGE,
    **{f"sdy.{name}": _collective_row(name, each) for name, each in COLLECTIVES.items()},
}
