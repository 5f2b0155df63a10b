"""The sharding rule of an operation, and when propagation goes through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import TypeAlias, cast

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Operation

from lowerings.partitioning.factor_shardings import BACKWARD, BOTH, FORWARD, NONE, Directions
from xla_dialect.diagnostics import XlaError
from xla_dialect.extensions import SHARDING_RULES, extensions
from xla_dialect.op import XlaOp
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp, ReducePrecisionOp
from xla_dialect.ops.custom_calls import (
    ALLOWED_DIRECTION,
    ANNOTATIONS,
    PROPAGATION_BARRIER,
    CustomCallOp,
)
from xla_dialect.ops.data_movement import (
    BroadcastOp,
    CopyOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    ReshapeOp,
    TransposeOp,
)
from xla_dialect.ops.elementwise import (
    ClampOp,
    CompareOp,
    ElementwiseBinaryOp,
    ElementwiseUnaryOp,
    SelectOp,
)
from xla_dialect.sharding.attributes import SHARDING_RULE, ShardingRuleAttr
from xla_dialect.sharding.sharding_rule import ShardingRule
from xla_dialect.spelling import SpellingError
from xla_dialect.types import Array, extents
from xla_dialect.verification import fault_of_rule
from xla_dialect.violations import described
from xla_dialect.xdsl.traversal import operands_of

ELEMENTWISE: tuple[type[Operation], ...] = (
    ElementwiseUnaryOp,
    ElementwiseBinaryOp,
    CompareOp,
    SelectOp,
    ClampOp,
    ConvertOp,
    BitcastConvertOp,
    ReducePrecisionOp,
)


class OpPriority(IntEnum):
    """The steps of propagation, by which operations take part from then on."""

    PASS_THROUGH_OF_ONE_USE = 0
    """Those that pass each element on, of values that nobody else uses."""
    PASS_THROUGH = 1
    ALL = 2
    """All, but broadcasts only from their result to their operand, and no reduced factors."""
    LAST = 3


_FORWARD_FIRST = (DynamicSliceOp, DynamicUpdateSliceOp)
"""They pass elements on, but their operand is larger, or more than that."""
_PASS_THROUGH = (*ELEMENTWISE, CopyOp, ReshapeOp, TransposeOp, CustomCallOp)
"""A custom call has a rule if it annotates its operand, or its author says."""
_DIRECTIONS = {"NONE": NONE, "FORWARD": FORWARD, "BACKWARD": BACKWARD, "BOTH": BOTH}


def directions_of(op: Operation) -> tuple[Directions, ...]:
    """Where an operation carries shardings, by the steps of propagation."""
    found = _directions(type(op))
    if found[OpPriority.PASS_THROUGH] is NONE:
        return found
    uses = (value.uses.get_length() for value in operands_of(op) if rank_of(value.type))
    if all(count == 1 for count in uses):
        return found
    return (NONE, *found[OpPriority.PASS_THROUGH :])


@lru_cache(1024)
def _directions(operation: type[Operation]) -> tuple[Directions, ...]:
    """The same, of an operation whose operands nobody else uses."""
    is_forward = issubclass(operation, _FORWARD_FIRST)
    passed_on = BOTH if issubclass(operation, _PASS_THROUGH) else FORWARD if is_forward else NONE
    return passed_on, passed_on, BACKWARD if issubclass(operation, BroadcastOp) else BOTH, BOTH


def rank_of(type_: Attribute) -> int:
    """The rank of an array, 0 for what is none."""
    return len(type_.shape.data) if isinstance(type_, TensorType) else 0


def rule_of(op: Operation) -> ShardingRule | None:
    """
    The rule of an operation: given with it, by an entry point, or by its declaration of dimensions.

    Raises XlaError for a rule of an entry point that does not fit the operation; the verifier has
    looked at the others.
    """
    given = op.attributes.get(SHARDING_RULE)
    if isinstance(given, ShardingRuleAttr):
        return given.data
    if isinstance(op, CustomCallOp):
        return _of_custom_call(op)
    relations = op.dimension_relations() if isinstance(op, XlaOp) else None
    return None if relations is None else relations.sharding_rule


def barrier_directions(op: Operation) -> Directions:
    """What a custom call lets through: all but a barrier let everything."""
    if isinstance(op, CustomCallOp) and op.custom_call_target.data == PROPAGATION_BARRIER:
        allowed = op.attributes.get(ALLOWED_DIRECTION)
        return _DIRECTIONS[allowed.data] if isinstance(allowed, StringAttr) else NONE
    return BOTH


Entry: TypeAlias = Callable[[CustomCallOp], ShardingRule | str | None]
"""What an entry point of the group `xla.sharding_rules` is: its name is the target of the call."""


def _of_custom_call(op: CustomCallOp) -> ShardingRule | None:
    target = op.custom_call_target.data
    for entry in cast("Sequence[Entry]", extensions(SHARDING_RULES, target)):
        rule = entry(op)
        try:
            rule = ShardingRuleAttr.read(f"<{rule}>") if isinstance(rule, str) else rule
        except SpellingError as error:
            raise XlaError(f"{described(op)}: its sharding rule: {error}") from None
        if rule is None:
            continue
        fault = fault_of_rule(ShardingRuleAttr(rule), op)
        if fault is not None:
            raise XlaError(f"{described(op)}: {fault}")
        return rule
    if target in ANNOTATIONS and op.operand_types == op.result_types:
        return identity_rule(tuple(_sizes(op.operand_types[0])), 1)
    return None


@lru_cache(4096)
def identity_rule(sizes: tuple[int, ...], operands: int) -> ShardingRule:
    """The rule of operands that are all like the result."""
    dimensions = tuple((factor,) for factor in range(len(sizes)))
    return ShardingRule(sizes, (dimensions,) * operands, (dimensions,))


def _sizes(type_: Attribute) -> tuple[int, ...]:
    return extents(cast(Array, type_)) if isinstance(type_, TensorType) else ()
