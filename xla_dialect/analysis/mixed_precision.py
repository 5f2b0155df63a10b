"""Operations on floats of several precisions: they mean one of one precision between conversions.

HLO text of TPUs has `bf16[5] copy(f32[5] a)` and `f32[5] broadcast(bf16[] b)` in fusions.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.constraints import results_follow
from xla_dialect.op import Types, XlaOp, undeclared
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.types import Array, flatten, float_types, map_leaves, tuple_elements, with_floats
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.traversal import inventory, operands_of, operations_in


def expand_mixed_precision(module: ModuleOp) -> bool:
    """
    Converts operands and results of operations that mix precisions; whether there are any.

    The module is one that verifies.
    """
    found = mixed_operations(module)
    for op, (operands, results) in found.items():
        _expand(op, operands, results)
    return bool(found)


def in_one_precision(module: ModuleOp) -> ModuleOp:
    """A module without operations that mix precisions: itself, or a copy with conversions."""
    if mixed_operations(module):
        module = module.clone()
        expand_mixed_precision(module)
    return module


def mixed_operations(module: ModuleOp) -> dict[XlaOp, tuple[Types, Types]]:
    """The operations that mix precisions, with the operands and results that they compute with."""
    if len(float_types(inventory(module).types)) < 2:
        return {}
    found: dict[XlaOp, tuple[Types, Types]] = {}
    for op in operations_in(module):
        if isinstance(op, XlaOp) and _has_several(op):
            computed = _computed_types(op)
            if computed is not None:
                found[op] = computed
    return found


def require_one_precision(op: XlaOp) -> None:
    """Raises VerifyException where an operation, valid otherwise, mixes precisions."""
    if _has_several(op):
        inferred = op.infer_types(has_unknown_sizes=True)
        if not results_follow(op.result_types, inferred):
            raise undeclared(op, inferred)


def _has_several(op: XlaOp) -> bool:
    """Whether an operation that may mix precisions has floats of several."""
    if isinstance(op, ConvertOp) or not op.may_mix_precisions():
        return False
    values = (*operands_of(op), *op.results, *(a for r in op.regions for a in r.block.args))
    return len(float_types(value.type for value in values)) > 1


def _computed_types(op: XlaOp) -> tuple[Types, Types] | None:
    """The types in which an operation is computed, where they are not its own."""
    try:
        inferred = op.infer_types()
    except VerifyException:
        return op.in_one_precision()
    if results_follow(op.result_types, inferred):
        return None
    return tuple(op.operand_types), inferred


def _expand(op: XlaOp, operand_types: Types, inferred: Types) -> None:
    """Puts an operation on such types, with conversions before and behind, in the place of one."""
    block = cast(Block, op.parent)
    before: list[Operation] = []
    after: list[Operation] = []
    operands = [
        _converted(value, type_, before)
        for value, type_ in zip(op.operands, operand_types, strict=True)
    ]
    computed = map(_element_type, flatten(inferred))
    new = create(
        type(op),
        operands=operands,
        result_types=[
            map_leaves(lambda leaf: with_floats(leaf, next(computed) or leaf), result.type)
            for result in op.results
        ],
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.detach_region(region) for region in tuple(op.regions)],
        location=op.location,
    )
    for old, result in zip(op.results, new.results, strict=True):
        value = _converted(result, old.type, after)
        value.name_hint = old.name_hint
        old.replace_all_uses_with(value)
    for each in (*before, *after):
        each.location = op.location
    block.insert_ops_before([*before, new, *after], op)
    op.detach()
    op.erase()


def _converted(value: SSAValue, wanted: Attribute, ops: list[Operation]) -> SSAValue:
    """The value with the floats of this type, itself if these are its own; tuples by element."""
    pairs = zip(flatten([value.type]), flatten([wanted]), strict=True)
    if all(_element_type(mine) == _element_type(theirs) for mine, theirs in pairs):
        return value
    elements = tuple_elements(wanted)
    if elements is None:
        ops.append(ConvertOp(value, result_types=[wanted]))
    else:
        parts: list[SSAValue] = []
        for i, element in enumerate(elements):
            taken = GetTupleElementOp(value, index=i)
            ops.append(taken)
            parts.append(_converted(taken.result, element, ops))
        ops.append(TupleOp(parts, result_types=[wanted]))
    return ops[-1].results[0]


def _element_type(type_: Attribute) -> Attribute | None:
    return cast(Array, type_).element_type if isinstance(type_, TensorType) else None
