"""Programs with quantized arrays: what they are compared with, and on which stored integers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import frexp, prod
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.expand.stablehlo_legalize_quant_to_math import StablehloLegalizeQuantToMathPass
from lowerings.ir.functions import functions_of
from lowerings.validation.conditioning import is_of_floats
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import literal_of, numpy_dtype
from xla_dialect.op import Ints, XlaOp, decode
from xla_dialect.ops.contraction import ConvolutionOp, DotOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.elementwise import (
    AbsOp,
    AddOp,
    CompareOp,
    MultiplyOp,
    RoundNearestEvenOp,
    SubtractOp,
)
from xla_dialect.quantized_types import Quantization, has_quantized_arrays, quantization_of
from xla_dialect.types import BY_TYPE, Array, flatten, sizes_of
from xla_dialect.xdsl.linking import insert_before
from xla_dialect.xdsl.traversal import operations_in

RANDOM_VARIANTS = 4
"""How many modules round each tie to either side, beside those that round all up, or all down."""
NEAR = 2.0**-8
"""How near to half way between two stored integers numbers are ties."""
LARGEST_SHIFT = 128
"""What is taken off numbers before they are rounded, whose last bits they inherit."""
ROUNDINGS = 8
"""Roundings of the expressed type on the way to a number."""

COMPARED = ("bf16", "f32", "f64")
"""The types of numbers that do not overflow where stored integers are multiplied and summed."""

EXACT_SPREAD = 256.0
EXACT_TERMS = 128
"""
Bytes are exact in f32 with scales that are powers of two, the largest this many times the smallest,
in sums of so many products.
"""


def as_defined(module: ModuleOp) -> ModuleOp:
    """
    The program of `xla` that computes with the numbers that integers stand for, as StableHLO
    defines it; a module without quantized arrays itself. Raises XlaError for unknown sizes, and
    where nothing could be said of the results.
    """
    if not has_quantized_arrays(module):
        return module
    for each in _quantizations_in(module):
        if BY_TYPE[each.expressed].name not in COMPARED:
            raise XlaError(f"numbers of {each.expressed} overflow where stored integers do not")
    copy = module.clone()
    StablehloLegalizeQuantToMathPass("float").apply(Context(), copy)
    return copy


def quantizations(module: ModuleOp, entry: str) -> tuple[list[Quantization | None], ...]:
    """How stored integers of the parameters stand for numbers, and those of the results."""
    type_ = functions_of(module)[entry].function_type
    sides = (type_.inputs.data, type_.outputs.data)
    return tuple([quantization_of(leaf) for leaf in flatten([*side])] for side in sides)


def with_other_ties(module: ModuleOp) -> Iterator[ModuleOp]:
    """
    What a module with quantized arrays is defined as, but that what is as good as half way between
    two integers is rounded otherwise; nothing where all numbers are exact.
    """
    defined = as_defined(module)
    if _is_exact(module, defined):
        return
    generator = np.random.default_rng(0)
    for sign in (1, -1, *([0] * RANDOM_VARIANTS)):
        copy = defined.clone()
        for op in operations_in(copy):
            if isinstance(op, RoundNearestEvenOp):
                op.operands[0] = _moved(op, 0, generator, sign, is_rounded=True)
            elif isinstance(op, _CANCELLING):
                for number, operand in enumerate(op.operands):
                    if is_of_floats(operand):
                        op.operands[number] = _moved(op, number, generator)
        yield copy


_CANCELLING = (AddOp, SubtractOp, DotOp, ConvolutionOp, CompareOp)
"""What is left of large numbers has their last bits."""


def _moved(
    op: Operation,
    number: int,
    generator: np.random.Generator,
    sign: int = 0,
    *,
    is_rounded: bool = False,
) -> SSAValue:
    """
    An operand moved further than roundings on the way may have done, up or down as the sign says;
    0 for each element by itself. One that is rounded to integers is moved over ties nearby.
    """
    value = op.operands[number]
    type_ = cast(Array, value.type)
    dtype, sizes = numpy_dtype(type_.element_type), tuple(map(int, sizes_of(type_)))
    signs = np.full(sizes, sign) if sign else generator.choice([-1, 1], sizes)
    epsilon = float(cast(Any, ml_dtypes).finfo(dtype).eps)
    shift = max(NEAR, LARGEST_SHIFT * epsilon) if is_rounded else 0.0

    def emit(kind: type[XlaOp], *operands: SSAValue, **properties: Attribute) -> SSAValue:
        made = kind.make(operands, properties, result_types=[type_])
        return insert_before(made, op).results[0]

    relative, absolute = (
        emit(ConstantOp, value=literal_of((signs * size).astype(dtype)))
        for size in (ROUNDINGS * epsilon, shift)
    )
    distance = emit(AddOp, emit(MultiplyOp, emit(AbsOp, value), relative), absolute)
    return emit(AddOp, value, distance)


def _is_exact(module: ModuleOp, defined: ModuleOp) -> bool:
    """Whether numbers are exact, so that ties are ties."""
    found = _quantizations_in(module)
    scales = [scale for each in found for scale in each.scales]
    return (
        all(BY_TYPE[each.expressed].bits >= 32 for each in found)
        and all(each.storage.width.data <= 8 for each in found)
        and all(frexp(scale)[0] == 0.5 for scale in scales)
        and max(scales, default=1.0) <= EXACT_SPREAD * min(scales, default=1.0)
        and all(terms_of(op) <= EXACT_TERMS for op in operations_in(defined))
    )


def _quantizations_in(module: ModuleOp) -> set[Quantization]:
    types = [value.type for op in operations_in(module) for value in (*op.operands, *op.results)]
    return {each for each in map(quantization_of, types) if each is not None}


def terms_of(op: Operation) -> int:
    """How many products an element of a dot or convolution sums; 1 for other operations."""
    match op:
        case DotOp():
            sizes = sizes_of(cast(Array, op.lhs.type))
            return prod(map(int, (sizes[d] for d in cast(Ints, decode(op.lhs_contracting_dims)))))
        case ConvolutionOp():
            sizes = sizes_of(cast(Array, op.rhs.type))
            order: Sequence[int] = op.dim_labels.data.rhs_order()
            return prod(int(sizes[d]) for d in order[1:])
        case _:
            return 1
