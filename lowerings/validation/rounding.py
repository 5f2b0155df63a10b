"""Modules whose operations round otherwise: what a pass that says so may make of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from lowerings.validation.conditioning import has_last_bits
from lowerings.validation.execution import is_pure_xla
from xla_dialect.literals.arrays import literal_of, numpy_dtype
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.elementwise_binary import MultiplyOp
from xla_dialect.shapes.dynamic_size import is_dynamic
from xla_dialect.types import Array, ElementClass, element_class, is_array, sizes_of
from xla_dialect.xdsl.traversal import operations_in

VARIANTS = 6
"""How many such modules there are: each second one, say, has no root of a singular matrix."""


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
    type_ = value.type
    if not is_array(type_) or is_dynamic(sizes_of(type_)):
        return False
    if element_class(type_.element_type) != ElementClass.FLOAT:
        return False
    return has_last_bits(numpy_dtype(type_.element_type))


def _rounded(value: SSAValue, op: Operation, generator: np.random.Generator) -> SSAValue:
    type_ = cast(Array, value.type)
    dtype = numpy_dtype(type_.element_type)
    steps = generator.integers(-1, 2, tuple(map(int, sizes_of(type_))))
    factors = 1 + steps * float(cast(Any, ml_dtypes).finfo(dtype).eps)
    factor = ConstantOp.make([], {"value": literal_of(factors.astype(dtype))})
    product = MultiplyOp.make([value, factor.result], {}, result_types=[type_])
    block = op.parent_block()
    assert block is not None
    block.insert_ops_before([factor, product], op)
    return product.results[0]
