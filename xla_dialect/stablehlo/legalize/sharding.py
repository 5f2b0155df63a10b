"""Operations of Shardy in the `xla` dialect, which has HLO's way to say them, and back.

A mesh becomes an entry of the module attribute `sdy.meshes`. Constraints, groups and barriers
become the custom calls that XLA has for them in HLO; any other operation that gives its operand
becomes a copy with the attribute of its name. Sums over devices are sums. Outside of
`sdy.manual_computation` values are whole arrays, so it becomes custom calls that go to the part
that belongs to this partition, what is computed, and custom calls that go back. Rules:
docs/specification/shardings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, IntegerAttr, StringAttr, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect import shardy
from xla_dialect.analysis.manual_borders import ManualBorder
from xla_dialect.op import decode, properties_of_class
from xla_dialect.ops.custom_calls import (
    ALLOWED_DIRECTION,
    GROUP_ID,
    PROPAGATION_BARRIER,
    SHARDING_CONSTRAINT,
    SHARDING_GROUP,
    CustomCallOp,
)
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.ops.transfers import KEPT_IN
from xla_dialect.sharding.array_sharding import Shardings
from xla_dialect.sharding.attributes import (
    RESHARD,
    SHARDING,
    ShardingAttr,
    ShardingPerValueAttr,
    TokensAttribute,
)
from xla_dialect.sharding.mesh import axes_in
from xla_dialect.stablehlo.attributes import Inexpressible
from xla_dialect.stablehlo.conversion import Conversion, Legalize
from xla_dialect.stablehlo.legalize.creation import emit_constant
from xla_dialect.stablehlo.legalize.from_xla import (
    FromXla,
    LegalizeFromXla,
    Tree,
    discardable,
    flat,
)
from xla_dialect.stablehlo.op import SourceError, warn_of_misspellings
from xla_dialect.stablehlo.ops import custom_calls
from xla_dialect.stablehlo.terms import Terms
from xla_dialect.types import PRED, TokenType, is_array
from xla_dialect.xdsl.operation_table import OperationTable


def _legalize_mesh(op: Operation, conversion: Conversion) -> Sequence[SSAValue]:
    """A mesh stands beside functions, not in them; see `Conversion.module`."""
    raise VerifyException("stands inside a function")


def _legalize_constant(op: shardy.ConstantOp, conversion: Conversion) -> Sequence[SSAValue]:
    return emit_constant(op, op.value, conversion)


# Copies


def _legalize_copy(op: shardy.ShardyOp, conversion: Conversion) -> Sequence[SSAValue]:
    """The operand, with the sharding and the name of the operation."""
    return _copy(op, conversion.value(op.operands[0]), StringAttr(""), conversion)


def _legalize_collective(op: shardy.CollectiveOp, conversion: Conversion) -> Sequence[SSAValue]:
    """The operand in another sharding, or what devices have of it added up."""
    value = conversion.value(op.input)
    if op.axes is not None and op.SUMS:
        value = _summed(op, value, conversion)
        axes = None
    else:
        axes = None if op.axes is None else StringAttr(str(op.axes))
    op.attributes[RESHARD] = StringAttr(op.name.removeprefix("sdy."))
    return _copy(op, value, axes, conversion)


def _copy(
    op: shardy.ShardyOp, value: SSAValue, kept: Attribute | None, conversion: Conversion
) -> Sequence[SSAValue]:
    """A copy with the sharding of an operation, and an attribute of its name."""
    sharding = op.said(0)
    if sharding is not None:
        op.attributes[SHARDING] = ShardingPerValueAttr(Shardings([sharding]))
    if kept is not None:
        op.attributes[op.name] = kept
    return conversion.emit(CopyOp, [value], conversion.result_types(op))


def _summed(op: shardy.CollectiveOp, value: SSAValue, conversion: Conversion) -> SSAValue:
    """
    The sum of what devices have of an operand along axes, for which values here are whole arrays.

    Along an axis that the operand is unreduced over they have its terms: it is the sum. So it is
    along one that splits an operand of the operation before, whose terms Shardy folds right behind
    it. Along others they all have it, so the sum is a multiple.
    """
    sharding, before = op.operand_sharding(), op.input.owner
    terms = list(sharding.unreduced)
    if isinstance(before, Operation) and not isinstance(before, shardy.ShardyOp):
        for each in before.operands:
            said = shardy.sharding_of(each)
            terms += () if said is None else said.split_axes
    mesh = sharding.mesh_in(conversion.meshes)
    assert mesh is not None
    count = mesh.size_along(axes_in(op.axes), terms)
    if count == 1 or not is_array(value.type) or value.type.element_type == PRED:
        return value
    return (Terms(conversion, value.type).of(value) * count).value


# Custom calls


@dataclass(frozen=True)
class Annotation:
    """An operation of Shardy that is a custom call with an attribute, as XLA has it in HLO."""

    op_class: type[shardy.ShardyOp]
    target: str
    attribute: str
    property: str
    to_xla: Callable[[Any], Attribute | None]
    """The attribute of the call for the property."""
    of_xla: Callable[[Any], Attribute | None]
    """The property for the attribute; None where that is none of the operation."""


def _as_i64(value: Attribute) -> Attribute | None:
    number = decode(value)
    return IntegerAttr(number, i64) if isinstance(number, int) else None


def _per_value(value: ShardingAttr) -> Attribute:
    return ShardingPerValueAttr(Shardings([value.data]))


def _constraint(value: Attribute) -> Attribute | None:
    if not isinstance(value, ShardingPerValueAttr) or len(value.data) != 1:
        return None
    return ShardingAttr(value.data[0])


def _direction(value: Attribute) -> Attribute | None:
    is_word = isinstance(value, StringAttr)
    return IntegerAttr(shardy.DIRECTIONS.index(value.data), i32) if is_word else None


_ANNOTATIONS = (
    Annotation(
        shardy.ShardingConstraintOp,
        SHARDING_CONSTRAINT,
        SHARDING,
        "sharding",
        _per_value,
        _constraint,
    ),
    Annotation(
        *(shardy.ShardingGroupOp, SHARDING_GROUP, GROUP_ID, "group_id"),
        _as_i64,
        _as_i64,
    ),
    Annotation(
        shardy.PropagationBarrierOp,
        PROPAGATION_BARRIER,
        ALLOWED_DIRECTION,
        "allowed_direction",
        lambda value: StringAttr(shardy.DIRECTIONS[cast(int, decode(value))]),
        _direction,
    ),
)


def _legalize_annotation(op: shardy.ShardyOp, conversion: Conversion) -> Sequence[SSAValue]:
    (found,) = (each for each in _ANNOTATIONS if isinstance(op, each.op_class))
    value = found.to_xla(op.properties[found.property])
    assert value is not None
    op.attributes[found.attribute] = value
    effect = BoolAttr.from_bool(found.target != SHARDING_CONSTRAINT)
    target = {"custom_call_target": StringAttr(found.target)}
    return conversion.replaced(op, CustomCallOp, {**target, "custom_call_has_side_effect": effect})


def annotation_of_xla(call: CustomCallOp) -> tuple[Annotation, dict[str, Attribute]] | None:
    """The operation that a call stands for, if its attribute says so, and its properties."""
    for each in _ANNOTATIONS:
        if call.custom_call_target.data == each.target and each.attribute in call.attributes:
            found = each.of_xla(call.attributes[each.attribute])
            return None if found is None else (each, {each.property: found})
    return None


# Computations


def _legalize_manual(op: shardy.ManualComputationOp, conversion: Conversion) -> Sequence[SSAValue]:
    """What a computation of parts computes, between calls that cut and join."""

    def call(value: SSAValue, border: ManualBorder, result: Attribute) -> SSAValue:
        """The custom call that XLA has for this in HLO; a token has no parts."""
        if isinstance(result, TokenType):
            return value
        target = {"custom_call_target": StringAttr(border.target)}
        (found,) = conversion.emit(CustomCallOp, [value], [result], target)
        made = cast(Operation, found.owner)
        made.attributes[KEPT_IN[1]] = DictionaryAttr(border.entries())
        return found

    axes = op.manual_axes.data
    parts = [
        call(value, ManualBorder(True, [sharding], axes), conversion.type(inside.type, op))
        for value, sharding, inside in zip(
            conversion.operands(op), op.in_shardings.data, op.body.block.args, strict=True
        )
    ]
    returned = conversion.inline(op.body, op, parts, shardy.ReturnOp.name)
    return [
        call(value, ManualBorder(False, [sharding], axes), type_)
        for value, sharding, type_ in zip(
            returned, op.out_shardings.data, conversion.result_types(op), strict=True
        )
    ]


def _legalize_named(op: shardy.NamedComputationOp, conversion: Conversion) -> Sequence[SSAValue]:
    """What the computation computes, in its place."""
    return conversion.inline(op.body, op, conversion.operands(op), shardy.ReturnOp.name)


def _checked(legalize: Callable[[Any, Conversion], Sequence[SSAValue]]) -> Legalize:
    """A legalization of operations that are verified first."""

    def of_verified(op: Any, conversion: Conversion) -> Sequence[SSAValue]:
        if isinstance(op, shardy.ManualComputationOp) and "manual_axes" in op.properties:
            inside = op.manual_axis_inside()
            if inside is not None:
                raise SourceError(*inside)
        definition = op.get_irdl_definition()
        definition.verify(op)
        op.check(conversion.meshes)
        place = conversion.place_of(op)
        warn_of_misspellings(op, definition.properties, place)
        return legalize(op, conversion)

    return of_verified


# From XLA: copies, some of which are operations of Shardy


def copy_of_xla(op: CopyOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing, where no sharding or other annotation is kept with it."""
    attributes = op.attributes
    if any(name in attributes for name in (SHARDING, *_EDGES)):
        return _shardy_operation(op, legalization)
    if "xla.sharding" in attributes or "mhlo.sharding" in attributes:
        properties = {"call_target_name": StringAttr("Sharding")}
        return legalization.replaced(op, custom_calls.CustomCallOp, properties)
    return flat(legalization.tree(op.operand))


def _shardy_operation(op: CopyOp, legalization: FromXla) -> Sequence[SSAValue]:
    """The operation of Shardy that a copy stands for."""
    rest = dict(op.attributes)
    said, kind = rest.pop(SHARDING, None), rest.pop(RESHARD, None)
    sharding = ShardingAttr(said.data[0]) if isinstance(said, ShardingPerValueAttr) else None
    collective = f"sdy.{kind.data}" if isinstance(kind, StringAttr) else ""
    axes = rest.pop(collective, None)
    edges = [edge for edge in _EDGES if rest.pop(edge, None) is not None]
    properties: dict[str, Attribute] = {} if sharding is None else {"sharding": sharding}
    op_class = _COLLECTIVES.get(collective)
    if edges:
        is_function = sharding is None and shardy.FuncDataFlowEdgeOp.name in edges
        op_class = shardy.FuncDataFlowEdgeOp if is_function else shardy.DataFlowEdgeOp
    elif sharding is None:
        raise Inexpressible(f"{SHARDING} is {said}, not the sharding of its result")
    elif kind is None:
        op_class = shardy.ShardingConstraintOp
    elif op_class is None or (axes is None and op_class is not shardy.CollectivePermuteOp):
        # A pass has chosen the collective, and chooses it again.
        op_class = shardy.ReshardOp
    else:
        properties = {"out_sharding": sharding}
        if isinstance(axes, StringAttr):
            definition = op_class.get_irdl_definition()
            for name, found in properties_of_class(definition, TokensAttribute).items():
                if name != "out_sharding":
                    attribute_class = cast("type[TokensAttribute[Any]]", found)
                    properties[name] = attribute_class(attribute_class.read(axes.data))
    return legalization.replaced(op, op_class, properties, attributes=discardable(rest))


_EDGES = (shardy.DataFlowEdgeOp.name, shardy.FuncDataFlowEdgeOp.name)
_COLLECTIVES = {op.name: op for op in shardy.COLLECTIVE_OPERATIONS}


TO_XLA = (
    OperationTable[Legalize]()
    .add(shardy.MeshOp, _legalize_mesh)
    .add(shardy.ConstantOp, _checked(_legalize_constant))
    .add(tuple(each.op_class for each in _ANNOTATIONS), _checked(_legalize_annotation))
    .add(
        (shardy.ReshardOp, shardy.DataFlowEdgeOp, shardy.FuncDataFlowEdgeOp),
        _checked(_legalize_copy),
    )
    .add(shardy.ManualComputationOp, _checked(_legalize_manual))
    .add(shardy.NamedComputationOp, _checked(_legalize_named))
    .add(shardy.COLLECTIVE_OPERATIONS, _checked(_legalize_collective))
)

FROM_XLA = OperationTable[LegalizeFromXla]().add(CopyOp, copy_of_xla)
