"""What one device computes and keeps: floating-point operations, and bytes of values."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import cast

from xdsl.ir import Attribute, Block, Operation, SSAValue

from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import ConvolutionOp, DotOp
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.ops.conversion import ConvertOp, ReducePrecisionOp
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.ops.elementwise import CompareOp, SelectOp
from xla_dialect.ops.reduction import ReduceOp, ReduceWindowOp
from xla_dialect.types import Array, ElementClass, byte_size, element_class, is_array, sizes_of
from xla_dialect.xdsl.traversal import operands_of

_NO_ARITHMETIC = (CopyOp, SelectOp, CompareOp, ConvertOp, ReducePrecisionOp)


def flops_of(op: XlaOp) -> int:
    """
    Floating-point operations of one operation, without those in computations on arrays.

    A product and the addition of it are two, a function of an element is one.
    """
    result = op.result_types[0] if op.result_types else None
    if result is None or not is_array(result):
        return 0
    if not element_class(result.element_type) & (ElementClass.FLOAT | ElementClass.COMPLEX):
        return 0
    match op:
        case DotOp():
            relations = op.dimension_relations()
            return 0 if relations is None else 2 * prod(f.size for f in relations.factors)
        case ConvolutionOp():
            inputs = op.dim_labels.data.rhs_order()[0]
            kernel = sizes_of(cast(Array, op.rhs.type))
            per_element = prod(n for d, n in enumerate(kernel) if d != inputs)
            return 2 * prod(sizes_of(result)) * per_element
        case ReduceOp():
            return prod(sizes_of(cast(Array, op.inputs[0].type)))
        case ReduceWindowOp():
            return prod(sizes_of(result)) * prod(op.window.data.sizes)
        case _ if op.is_pointwise() and not isinstance(op, _NO_ARITHMETIC):
            return prod(sizes_of(result))
        case _:
            return 0


def bytes_of(type_: Attribute) -> int:
    """The bytes of an array; 0 of anything else."""
    return byte_size(type_) if is_array(type_) else 0


def peak_bytes(block: Block, functions: Mapping[str, Block]) -> int:
    """
    The most bytes of values at any time, each operation's results in memory of their own.

    Operations run in order; a value is kept from where it is made to its last use. Fusion and
    reuse make it less, so it compares programs rather than predicting a process.
    """
    last_use: dict[SSAValue, Operation] = {}
    for op in block.ops:
        for value in operands_of(op):
            last_use[value] = op
    alive = sum(bytes_of(argument.type) for argument in block.args)
    peak = alive
    for op in block.ops:
        made = sum(bytes_of(result.type) for result in op.results)
        peak = max(peak, alive + made, alive + _inside(op, functions))
        alive += sum(bytes_of(r.type) for r in op.results if r in last_use)
        for value in set(operands_of(op)):
            if last_use[value] is op and value.owner is not block:
                alive -= bytes_of(value.type)
    return peak


def _inside(op: Operation, functions: Mapping[str, Block]) -> int:
    """The peak in the computations of an operation, without what it is given."""
    blocks = [region.block for region in op.regions if region.blocks]
    if isinstance(op, CallOp):
        blocks = [functions[op.to_apply.string_value()]]
    given = sum(bytes_of(value.type) for value in operands_of(op))
    return max((peak_bytes(block, functions) - given for block in blocks), default=0)
