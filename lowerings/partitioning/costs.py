"""What operations cost: floating-point operations, bytes, and how often loops run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lowerings.partitioning.annotations import is_annotation
from lowerings.partitioning.mesh_atoms import rank_of
from lowerings.simplify.constant_folding import splat_of
from xla_dialect.attributes import ComparisonDirection
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.contraction import ConvolutionOp, DotOp
from xla_dialect.ops.control_flow import CallOp, ConditionalOp, WhileOp
from xla_dialect.ops.conversion import ConvertOp, ReducePrecisionOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.ops.elementwise import AddOp, CompareOp, SelectOp, SubtractOp
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
    given = sum(bytes_of(value.type) for value in operands_of(op))
    blocks = computations_of(op, functions) if isinstance(op, XlaOp) else ()
    return max((peak_bytes(block, functions) - given for block in blocks), default=0)


def computations_of(op: XlaOp, functions: Mapping[str, Block]) -> Sequence[Block]:
    """The computations on arrays that an operation runs: its own, or that of a function."""
    if isinstance(op, CallOp):
        return [functions[op.to_apply.string_value()]]
    blocks = [region.block for region in op.regions if region.blocks]
    is_on_arrays = any(rank_of(argument.type) for block in blocks for argument in block.args)
    return blocks if is_on_arrays or op.forwards_values() else ()


KeyT = TypeVar("KeyT")


def totals(
    block: Block,
    functions: Mapping[str, Block],
    cost: Callable[[XlaOp], Mapping[KeyT, float]],
    weight: Callable[[Mapping[KeyT, float]], Any],
) -> Counter[KeyT]:
    """
    What the operations that a block runs cost in all, by what is counted.

    Loops count as often as they run, or once where that depends on data; of branches the one that
    weighs the most.
    """
    found: Counter[KeyT] = Counter()
    for op in block.ops:
        if not isinstance(op, XlaOp):
            continue
        inside = [totals(b, functions, cost, weight) for b in computations_of(op, functions)]
        if isinstance(op, ConditionalOp):
            inside = [max(inside, key=weight)]
        known = trip_count(op) if isinstance(op, WhileOp) else None
        rounds = 1 if known is None else known
        for each in inside or [cost(op)]:
            for name, number in each.items():
                found[name] += rounds * number  # pyright: ignore
    return found


_KNOWN = re.compile(r"known_trip_count\W+n\W+(\d{1,18})")
_UP = {ComparisonDirection.LT: 0, ComparisonDirection.LE: 1, ComparisonDirection.NE: 0}
_DOWN = {ComparisonDirection.GT: 0, ComparisonDirection.GE: 1, ComparisonDirection.NE: 0}


def trip_count(op: WhileOp) -> int | None:
    """
    How often the body of a loop runs; None where that depends on data.

    What XLA has noted counts; else the loop has to count one of its values from a constant by a
    constant to a constant, as JAX's `scan` and `fori_loop` do.
    """
    for name in ("xla.backend_config", "mhlo.backend_config"):
        noted = op.attributes.get(name)
        found = _KNOWN.search(noted.data) if isinstance(noted, StringAttr) else None
        if found:
            return int(found.group(1))
    compared = operands_of(op.condition.block.last_op)[0].owner  # pyright: ignore
    if not isinstance(compared, CompareOp):
        return None
    counter = _source(compared.lhs)
    if not isinstance(counter, BlockArgument) or counter.block is not op.condition.block:
        return None
    i = counter.index
    start, limit = _number(op, operands_of(op)[i]), _number(op, compared.rhs)
    last = op.body.block.last_op
    assert last is not None
    step = _step(op, _source(operands_of(last)[i]), i)
    if start is None or limit is None or not step:
        return None
    beyond = (_UP if step > 0 else _DOWN).get(compared.direction.data)
    if beyond is None:
        return None
    distance = (limit - start if step > 0 else start - limit) + beyond
    return max(0, -(-distance // abs(step)))


def _source(value: SSAValue) -> SSAValue:
    """Behind copies, conversions and what only says how it is split."""
    while isinstance(op := value.owner, CopyOp | ConvertOp) or (
        isinstance(op, Operation) and is_annotation(op)
    ):
        value = operands_of(op)[0]
    return value


def _number(op: WhileOp, value: SSAValue) -> int | None:
    """A constant integer, also one that a loop carries along unchanged."""
    value = _source(value)
    if isinstance(value, BlockArgument) and value.block in (op.condition.block, op.body.block):
        returned = operands_of(op.body.block.last_op)[value.index]  # pyright: ignore
        if _source(returned) is not op.body.block.args[value.index]:
            return None
        return _number(op, operands_of(op)[value.index])
    found: Any = splat_of(value)
    if found is None or not np.issubdtype(found.dtype, np.integer):
        return None
    return int(found)


def _step(op: WhileOp, value: SSAValue, i: int) -> int | None:
    """What a body adds to its parameter i."""
    made = value.owner
    if not isinstance(made, AddOp | SubtractOp):
        return None
    lhs, rhs = _source(made.lhs), _source(made.rhs)
    counter = op.body.block.args[i]
    if lhs is counter:
        number = _number(op, rhs)
        return None if number is None else number * (1 if isinstance(made, AddOp) else -1)
    return _number(op, lhs) if rhs is counter and isinstance(made, AddOp) else None


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


_FLOPS, _TRANSCENDENTALS, _BYTES = "flops", "transcendentals", "bytes accessed"


def costs_of(block: Block, functions: Mapping[str, Block]) -> dict[str, float]:
    """
    What the operations of a block cost, in XLA's words: floating-point operations without those of
    functions such as `tanh`, the number of these, and bytes read and written.
    """
    found = totals(block, functions, _costs_of_operation, lambda each: each.get(_BYTES, 0))
    return {name: float(found[name]) for name in (_FLOPS, _TRANSCENDENTALS, _BYTES)}


def _costs_of_operation(op: XlaOp) -> Mapping[str, int]:
    if isinstance(op, ConstantOp):
        return {}
    types = (*(value.type for value in operands_of(op)), *op.result_types)
    kind = _TRANSCENDENTALS if _is_transcendental(op) else _FLOPS
    return {kind: flops_of(op), _BYTES: sum(map(bytes_of, types))}


def _is_transcendental(op: XlaOp) -> bool:
    if isinstance(op, elementwise.ElementwiseUnaryOp):
        return not isinstance(op, _NOT_TRANSCENDENTAL)
    return isinstance(op, _ALSO_TRANSCENDENTAL)
