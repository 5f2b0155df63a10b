"""What a program costs, operation by operation, before anything is fused."""

from __future__ import annotations

from collections import Counter

from xdsl.ir import Block

from lowerings.partitioning.device_work import bytes_of, flops_of
from lowerings.partitioning.trip_counts import trip_count
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.control_flow import WhileOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.xdsl.traversal import operands_of

_NOT_TRANSCENDENTAL = (
    elementwise.ComponentOp,
    elementwise.CeilOp,
    elementwise.CountLeadingZerosOp,
    elementwise.FloorOp,
    elementwise.IsFiniteOp,
    elementwise.NegateOp,
    elementwise.NotOp,
    elementwise.PopcntOp,
    elementwise.RoundNearestAfzOp,
    elementwise.RoundNearestEvenOp,
    elementwise.SignOp,
)
_ALSO_TRANSCENDENTAL = (elementwise.Atan2Op, elementwise.PowerOp)


def costs_of(block: Block) -> dict[str, float]:
    """
    What the operations of a block cost, in XLA's words: floating-point operations without those of
    functions such as `tanh`, the number of these, and bytes read and written. Of branches the
    dearest counts, of a loop whose length cannot be seen one round.
    """
    count = _block_costs(block)
    return {name: float(count[name]) for name in (_FLOPS, _TRANSCENDENTALS, _BYTES)}


_FLOPS, _TRANSCENDENTALS, _BYTES = "flops", "transcendentals", "bytes accessed"


def _block_costs(block: Block) -> Counter[str]:
    found: Counter[str] = Counter()
    for op in block.ops:
        if not isinstance(op, XlaOp) or isinstance(op, ConstantOp):
            continue
        if op.forwards_values():
            inside = [_block_costs(region.block) for region in op.regions]
            match op:
                case WhileOp():
                    rounds = trip_count(op) or 1
                    for each in inside:
                        found.update({name: rounds * value for name, value in each.items()})
                case _:
                    found.update(max(inside, key=lambda each: each[_BYTES]) if inside else {})
            continue
        flops = flops_of(op)
        found[_TRANSCENDENTALS if _is_transcendental(op) else _FLOPS] += flops
        types = (*(value.type for value in operands_of(op)), *op.result_types)
        found[_BYTES] += sum(map(bytes_of, types))
    return found


def _is_transcendental(op: XlaOp) -> bool:
    if isinstance(op, elementwise.ElementwiseUnaryOp):
        return not isinstance(op, _NOT_TRANSCENDENTAL)
    return isinstance(op, _ALSO_TRANSCENDENTAL)
