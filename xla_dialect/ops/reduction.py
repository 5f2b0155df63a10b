"""Reductions (operations.md, section 42 and the rules RC of section 0)."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, Region
from xdsl.irdl import (
    SameVariadicOperandSize,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import RecursiveMemoryEffect

from xla_dialect import shapes
from xla_dialect.constraints import (
    require_computation,
    require_dimensions,
    require_same_shape,
    with_elements,
)
from xla_dialect.op import Types, XlaOp
from xla_dialect.types import Array, ElementClass, array, is_scalar
from xla_dialect.violation import require


def require_reduction(
    inputs: tuple[Attribute, ...], init_values: tuple[Attribute, ...], computation: Region
) -> list[Array]:
    """
    The inputs of a reduction as arrays; raises Violation (C1), (C2), (RC1), (RC2), (RC3).

    The computation takes N accumulators and N values, scalars of the element types, and returns N
    scalars (or their tuple).
    """
    require(
        len(inputs) == len(init_values) and bool(inputs),
        "C1",
        "{} inputs and {} init values",
        len(inputs),
        len(init_values),
    )
    arrays = [with_elements(t, ElementClass.ANY, f"input {i}") for i, t in enumerate(inputs)]
    for i, (source, init) in enumerate(zip(arrays, init_values, strict=True)):
        require_same_shape(arrays[0], source, f"inputs 0 and {i}", "C2")
        require(
            is_scalar(init, source.element_type),
            "RC3",
            "init value {} is {}, not a scalar of {}",
            i,
            init,
            source.element_type,
        )
    scalars = [array(a.element_type, ()) for a in arrays]
    require_computation(computation, "to_apply", scalars * 2, scalars, ("RC1", "RC2"))
    return arrays


@irdl_op_definition
class ReduceOp(XlaOp):
    """
    Folds `dimensions` of all inputs at once: `acc = to_apply(acc, value)`, starting from init.

    The reference folds in row-major order of the reduced positions; implementations may
    reassociate. The computation takes the N accumulators, then the N values.

    (C1) as many init values as inputs, at least one. (C2) all inputs have the same dimensions.
    (C3) (RC1) the computation takes 2N scalars of the element types; (RC2) it returns N of them;
    (RC3) init values are such scalars. (C4) `dimensions` are distinct dimensions.
    """

    name = "xla.reduce"
    inputs = var_operand_def()
    init_values = var_operand_def()
    dimensions = prop_def(DenseArrayBase.constr(i64))
    outputs = var_result_def()
    to_apply = region_def()
    irdl_options = (SameVariadicOperandSize(),)
    traits = traits_def(RecursiveMemoryEffect())

    @staticmethod
    def infer(
        inputs: tuple[Attribute, ...],
        init_values: tuple[Attribute, ...],
        *,
        dimensions: tuple[int, ...],
        to_apply: Region,
    ) -> Types:
        """Per input its element type and its dimensions without the reduced ones."""
        arrays = require_reduction(inputs, init_values, to_apply)
        sizes = arrays[0].get_shape()
        require_dimensions(dimensions, len(sizes), "dimensions", "C4")
        kept = shapes.without(sizes, dimensions)
        return tuple(cast(Attribute, array(a.element_type, kept)) for a in arrays)
