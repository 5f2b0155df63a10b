"""Operations that can be computed in parts whose results are folded over devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from xdsl.ir import Attribute, Block, Region

from xla_dialect.analysis.computations import neutral_element
from xla_dialect.literals import arrays
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.contraction import ConvolutionOp, DotOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.data_movement import DynamicSliceOp
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.ops.reduction import ReduceOp, only_operation
from xla_dialect.types import PRED, Array, ElementClass, array, element_class, is_array
from xla_dialect.xdsl.creation import create

FOLDS: Mapping[str, type[elementwise.ElementwiseBinaryOp]] = {
    operation.name.removeprefix("xla."): operation
    for operation in (
        elementwise.AddOp,
        elementwise.MultiplyOp,
        elementwise.MaximumOp,
        elementwise.MinimumOp,
        elementwise.AndOp,
        elementwise.OrOp,
        elementwise.XorOp,
    )
}
"""The operations that partial results can be folded by, by name."""


def fold_of(op: XlaOp) -> str | None:
    """The name of the fold of an operation's partial results; None where there is none."""
    match op:
        case CustomCallOp() if not op.results or not is_array(op.result_types[0]):
            return None
        case DotOp() | ConvolutionOp() | GatherOp() | DynamicSliceOp() | CustomCallOp():
            return "or" if _element_type(op) == PRED else "add"
        case ReduceOp() if len(op.inputs) == 1:
            return computation_fold(op.to_apply.block, _element_type(op))
        case ScatterOp() if len(op.inputs) == 1:
            return computation_fold(op.to_apply.block, _element_type(op))
        case _:
            return None


def _element_type(op: XlaOp) -> Attribute:
    return cast(Array, op.result_types[0]).element_type


def computation_fold(computation: Block, element_type: Attribute) -> str | None:
    """The name of the fold that a computation of two scalars is; None for another one."""
    operation = only_operation(computation)
    name = None if operation is None else operation.name.removeprefix("xla.")
    if name is None or name not in FOLDS or neutral_number(name, element_type) is None:
        return None
    return name


def neutral_number(fold: str, element_type: Attribute) -> arrays.Array | None:
    """What changes nothing in a fold, of rank 0; None where it is not known."""
    if fold == "add" and element_class(element_type) & (ElementClass.COMPLEX | ElementClass.FLOAT):
        # -0.0 where there is one: -0.0 + x is x for every x.
        return np.negative(np.zeros((), numpy_dtype(element_type)))
    number = neutral_element(computation(fold, element_type).block, element_type)
    return None if number is None else np.asarray(number).astype(numpy_dtype(element_type))


def computation(fold: str, element_type: Attribute) -> Region:
    """The computation of two scalars that a fold consists of."""
    scalar = array(element_type, ())
    block = Block(arg_types=[scalar, scalar])
    combined = FOLDS[fold].make(tuple(block.args), {}, result_types=[scalar])
    block.add_ops([combined, create(ReturnOp, operands=combined.results)])
    return Region(block)
