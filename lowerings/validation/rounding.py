"""
Modules that compute what nothing defines otherwise: their operations round otherwise, as a pass
that says so may make them, or the NaNs that they compute have another sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from lowerings.validation.conditioning import has_last_bits
from lowerings.validation.execution import is_pure_xla
from xla_dialect.attributes import ComparisonDirection, ComparisonDirectionAttr
from xla_dialect.literals.arrays import literal_of, numpy_dtype
from xla_dialect.ops import (
    contraction,
    elementwise,
    linear_algebra,
    normalization,
    operations_of,
)
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.elementwise import (
    AbsOp,
    ClampOp,
    CompareOp,
    ImagOp,
    MultiplyOp,
    NegateOp,
    RealOp,
    SelectOp,
)
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.types import Array, ElementClass, element_class, is_array, sizes_of
from xla_dialect.xdsl.traversal import operations_in

VARIANTS = 6
"""How many such modules there are: each second one, say, has no root of a singular matrix."""

_COMPUTING_NANS = frozenset(
    op
    for family in (contraction, elementwise, linear_algebra, normalization)
    for op in operations_of(family)
    if op not in (AbsOp, ClampOp, ImagOp, NegateOp, RealOp, SelectOp)
)
"""The operations of whose NaNs nothing says the sign; others pass numbers on, bit by bit."""


def with_signs_of_nans(module: ModuleOp) -> Iterator[ModuleOp]:
    """Modules of the xla level whose operations compute NaNs of one sign; of other levels none."""
    for sign in (1.0, -1.0) if is_pure_xla(module) else ():
        copy = module.clone()
        for op in operations_in(copy):
            if type(op) in _COMPUTING_NANS:
                for result in filter(_is_of_static_floats, op.results):
                    _give_nans_a_sign(result, sign)
        yield copy


def _give_nans_a_sign(value: OpResult, sign: float) -> None:
    type_ = cast(Array, value.type)
    with np.errstate(all="ignore"):
        nan = np.copysign(np.nan, sign).astype(numpy_dtype(type_.element_type))
    if not np.isnan(nan):
        return
    nans = ConstantOp.make([], {"value": literal_of(np.full(_shape(type_), nan))})
    unequal = {"direction": ComparisonDirectionAttr(ComparisonDirection.NE)}
    is_nan = CompareOp.make([value, value], unequal)
    signed = SelectOp.make([is_nan.result, nans.result, value], {}, result_types=[type_])
    ours = (is_nan, signed)
    value.replace_uses_with_if(signed.result, lambda use: use.operation not in ours)
    block = value.op.parent_block()
    assert block is not None
    block.insert_ops_after([nans, *ours], value.op)


def rounded_otherwise(module: ModuleOp, holds: Callable[[Operation], bool]) -> Iterator[ModuleOp]:
    """
    Modules of the xla level in which operations for which `holds` holds take floats whose last bits
    are others, each element for itself; of other levels none.
    """
    for seed in range(VARIANTS if is_pure_xla(module) else 0):
        generator = np.random.default_rng(seed)
        copy = module.clone()
        for op in filter(holds, operations_in(copy)):
            for number, operand in enumerate(op.operands):
                if is_of_floats(operand):
                    op.operands[number] = _rounded(operand, op, generator)
        yield copy


def is_of_floats(value: SSAValue) -> bool:
    """Whether a value is an array of floats whose sizes are known, with bits to spare."""
    return _is_of_static_floats(value) and has_last_bits(
        numpy_dtype(cast(Array, value.type).element_type)
    )


def _is_of_static_floats(value: SSAValue) -> bool:
    type_ = value.type
    if not is_array(type_) or is_dynamic(sizes_of(type_)):
        return False
    return element_class(type_.element_type) == ElementClass.FLOAT


def _shape(type_: Array) -> tuple[int, ...]:
    return tuple(map(int, sizes_of(type_)))


def _rounded(value: SSAValue, op: Operation, generator: np.random.Generator) -> SSAValue:
    type_ = cast(Array, value.type)
    dtype = numpy_dtype(type_.element_type)
    steps = generator.integers(-1, 2, _shape(type_))
    factors = 1 + steps * float(cast(Any, ml_dtypes).finfo(dtype).eps)
    factor = ConstantOp.make([], {"value": literal_of(factors.astype(dtype))})
    product = MultiplyOp.make([value, factor.result], {}, result_types=[type_])
    block = op.parent_block()
    assert block is not None
    block.insert_ops_before([factor, product], op)
    return product.results[0]
