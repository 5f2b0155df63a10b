"""Reductions over sliding windows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.contraction import zero
from lowerings.xla_to_linalg.cumulative import CumulativeReduction, Running
from lowerings.xla_to_linalg.running_sums import BLOCK, RunningSums
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.scalar_operations import inline_where
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder
from lowerings.xla_to_linalg.structured import (
    array_type,
    extract_scalar,
    fill,
    generic,
    iterators,
    projection,
    sizes_of,
)
from lowerings.xla_to_linalg.windows import (
    Neutral,
    Sliding,
    WindowElements,
    WindowLoops,
    sliding_dimensions,
)
from xla_dialect.analysis.computations import neutral_element
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.reduction import ReduceWindowOp, may_reassociate, only_operation
from xla_dialect.types import BY_TYPE, ElementClass, element_class, is_array


def convert_reduce_window(op: ReduceWindowOp, builder: ConversionBuilder) -> str | None:
    """
    One generic over all inputs: loops over the placements, then over the window's elements.

    The inputs are padded with the neutral element of the computation. Where that is not known,
    the body checks for padding. A cumulative window becomes a loop along its dimension.
    """
    if not all(is_array(t) for t in op.result_types):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    computation = op.to_apply.block
    inits = [extract_scalar(builder, init) for init in op.init_values]
    sizes = sizes_of(op.inputs[0])
    dimensions = sliding_dimensions(op.window.data, sizes)
    restricted = [d.restricted() if d.base else None for d in dimensions]
    met = [d for d in restricted if d is not None]
    if len(met) < len(dimensions):
        results = [
            fill(builder, init, array_type(result))
            for init, result in zip(inits, op.results, strict=True)
        ]
        builder.replace(results)
        return None
    running = Running.of(met)
    if running is not None and (not running.backwards or may_reassociate(op.to_apply)):
        kind = RunningSums if _sums_floats(op, running) else CumulativeReduction
        builder.replace(kind.converted(builder, computation, op.inputs, inits, running))
        return None
    builder.replace(_windows(op, builder, met, inits))
    return None


def _sums_floats(op: ReduceWindowOp, running: Running) -> bool:
    """Whether an operation has long running sums of floats, in a type in which they accumulate."""
    row = BY_TYPE[array_type(op.inputs[0]).element_type]
    is_wide = row.element_class == ElementClass.FLOAT and row.bits >= 32
    return is_wide and running.length > BLOCK and only_operation(op.to_apply.block) is AddOp


def is_in_blocks(op: Operation) -> bool:
    """Whether an operation has running sums that are computed in blocks, unlike its windows."""
    if not isinstance(op, ReduceWindowOp) or not all(is_array(t) for t in op.result_types):
        return False
    dimensions = sliding_dimensions(op.window.data, sizes_of(op.inputs[0]))
    running = Running.of(dimensions)
    return running is not None and _sums_floats(op, running)


def _neutral(computation: Block) -> Neutral | None:
    """The neutral element of a computation, for padding; None for computations without one."""
    type_ = elements_of(computation.args[0])
    number = neutral_element(computation, type_)
    return None if number is None else partial(_constant, number, type_)


def _constant(number: float | int, type_: Attribute, s: ScalarBuilder) -> SSAValue:
    is_float = element_class(type_) == ElementClass.FLOAT
    return s.constant(float(number) if is_float else number, type_)


def _windows(
    op: ReduceWindowOp,
    builder: ConversionBuilder,
    dimensions: Sequence[Sliding],
    inits: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """The generic of a window that slides."""
    computation = op.to_apply.block
    loops = WindowLoops.after(dimensions)
    rank, count = len(dimensions), len(op.inputs)
    neutral = _neutral(computation) if count == 1 else None
    elements = WindowElements.plan(
        loops, range(rank), {}, sizes_of(op.inputs[0]), neutral=neutral is not None
    )
    padding = [neutral or partial(zero, element_type=elements_of(value)) for value in op.inputs]
    operands = [
        elements.operand(builder, value, own)
        for value, own in zip(op.inputs, padding, strict=True)
        if elements.has_image
    ]
    operands += loops.shape_operands(builder)

    def body(s: ScalarBuilder, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        inside = elements.inside(s)
        accumulators = values[-count:]
        met = (
            values[:count]
            if elements.has_image
            else [elements.read(s, value, inside) for value in op.inputs]
        )
        return inline_where(s, inside, computation, (*accumulators, *met), accumulators)

    outputs = [
        (fill(builder, init, array_type(result)), projection(loops.rank, loops.places))
        for init, result in zip(inits, op.results, strict=True)
    ]
    return generic(builder, operands, outputs, iterators(rank, loops.rank - rank), body)
