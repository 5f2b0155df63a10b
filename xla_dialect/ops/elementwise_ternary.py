"""Elementwise operations of three operands."""

from __future__ import annotations

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xla_dialect.dimensions import pointwise
from xla_dialect.op import Types, XlaOp
from xla_dialect.rules.constraints import (
    ArrayOf,
    as_array,
    require_same_elements,
    require_same_shape,
)
from xla_dialect.types import Array, ElementClass, united_type


@irdl_op_definition
class ClampOp(XlaOp):
    """
    `result[i] = min(max(min[i], operand[i]), max[i])`; NaN in any argument gives NaN.

    (C1) one element type: integer, float or pred. (C2) `min` and `max` have the dimensions of the
    operand or are scalars.
    """

    name = "xla.clamp"
    min = operand_def()
    operand = operand_def(ArrayOf(ElementClass.REAL | ElementClass.PRED))
    max = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def infer(min: Attribute, operand: Array, max: Attribute) -> Types:
        """The type of the operand."""
        parts = [operand]
        for name, bound in (("min", min), ("max", max)):
            limit = as_array(bound, name)
            require_same_elements(limit, operand, f"{name} and operand", "C1")
            if limit.shape.data:
                require_same_shape(limit, operand, f"{name} and operand", "C2")
                parts.append(limit)
        return (united_type(*parts),)

    relate = staticmethod(pointwise)


@irdl_op_definition
class SelectOp(XlaOp):
    """
    `result[i] = pred[i] ? on_true[i] : on_false[i]`; a scalar pred picks one of the two arrays.

    (C1) `pred` has element type pred. (C2) `on_true` and `on_false` have one type.
    (C3) `pred` has their dimensions or is a scalar.
    """

    name = "xla.select"
    pred = operand_def(ArrayOf(ElementClass.PRED))
    on_true = operand_def(ArrayOf(ElementClass.ANY, "C2"))
    on_false = operand_def(ArrayOf(ElementClass.ANY, "C2"))
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def infer(pred: Array, on_true: Array, on_false: Array) -> Types:
        """The type of `on_true`."""
        require_same_elements(on_true, on_false, "on_true and on_false", "C2")
        require_same_shape(on_true, on_false, "on_true and on_false", "C2")
        if not pred.shape.data:
            return (united_type(on_true, on_false),)
        require_same_shape(pred, on_true, "pred and on_true", "C3")
        return (united_type(on_true, on_false, pred),)

    relate = staticmethod(pointwise)
