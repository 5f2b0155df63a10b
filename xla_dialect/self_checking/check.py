"""The dialect `check`: operations that fail where an array is not as expected.

Names, operands, attributes and forms are those of StableHLO's dialect of this name. What counts as
equal stands in `xla_dialect.runtime.self_checking`.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    f64,
)
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    EqAttrConstraint,
    ParamAttrConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
)

from xla_dialect.op import Types
from xla_dialect.rules.constraints import with_elements
from xla_dialect.self_checking.assembly_format import AssemblyFormat, FormattedOp
from xla_dialect.types import ElementClass, compatible, spell
from xla_dialect.violations import require

INEXACT = ElementClass.FLOAT | ElementClass.COMPLEX

_U32 = IntegerType(32, Signedness.UNSIGNED)
_U64 = IntegerType(64, Signedness.UNSIGNED)
_LITERAL = BaseAttr(DenseIntOrFPElementsAttr)
_F64 = ParamAttrConstraint(FloatAttr, (AnyAttr(), EqAttrConstraint(f64)))


def require_comparable(
    actual: Attribute, expected: Attribute, allowed: ElementClass = ElementClass.ANY
) -> None:
    """(C1) both are of the same type, an array; (C2) its elements are of an allowed class."""
    require(
        compatible(actual, expected),
        "C1",
        "what is compared has types {} and {}",
        spell(actual),
        spell(expected),
    )
    with_elements(actual, allowed, "what is compared", "C2")


@irdl_op_definition
class ExpectEqOp(FormattedOp):
    """Both arrays are equal. (C1) both have the same type. (C2) they are arrays."""

    name = "check.expect_eq"
    lhs = operand_def()
    rhs = operand_def()
    FORMAT: ClassVar = AssemblyFormat(operands=2)

    @staticmethod
    def infer(lhs: Attribute, rhs: Attribute) -> Types:
        """No results."""
        require_comparable(lhs, rhs)
        return ()


@irdl_op_definition
class ExpectEqConstOp(FormattedOp):
    """The array equals `value`. (C1) both have the same type. (C2) it is an array."""

    name = "check.expect_eq_const"
    lhs = operand_def()
    value = prop_def(_LITERAL)
    FORMAT: ClassVar = AssemblyFormat(has_literal=True)

    @staticmethod
    def infer(lhs: Attribute, *, value: DenseIntOrFPElementsAttr) -> Types:
        """No results."""
        require_comparable(lhs, value.type)
        return ()


_TOLERANCE = {"tolerance": ("tolerance", f64)}


@irdl_op_definition
class ExpectAlmostEqOp(FormattedOp):
    """
    Both arrays differ by at most `tolerance` in every element.

    (C1) both have the same type. (C2) the elements are floats or complex numbers.
    """

    name = "check.expect_almost_eq"
    lhs = operand_def()
    rhs = operand_def()
    tolerance = prop_def(_F64, default_value=FloatAttr(1e-4, f64))
    FORMAT: ClassVar = AssemblyFormat(operands=2, clauses=_TOLERANCE)

    @staticmethod
    def infer(lhs: Attribute, rhs: Attribute) -> Types:
        """No results."""
        require_comparable(lhs, rhs, INEXACT)
        return ()


@irdl_op_definition
class ExpectAlmostEqConstOp(FormattedOp):
    """
    The array differs from `value` by at most `tolerance` in every element.

    (C1) both have the same type. (C2) the elements are floats or complex numbers.
    """

    name = "check.expect_almost_eq_const"
    lhs = operand_def()
    value = prop_def(_LITERAL)
    tolerance = prop_def(_F64, default_value=FloatAttr(1e-4, f64))
    FORMAT: ClassVar = AssemblyFormat(has_literal=True, clauses=_TOLERANCE)

    @staticmethod
    def infer(lhs: Attribute, *, value: DenseIntOrFPElementsAttr) -> Types:
        """No results."""
        require_comparable(lhs, value.type, INEXACT)
        return ()


@irdl_op_definition
class ExpectCloseOp(FormattedOp):
    """
    From `actual` to `expected` it is `min_ulp_difference` to `max_ulp_difference` ULP everywhere.

    (C1) both have the same type. (C2) the elements are floats or complex numbers.
    """

    name = "check.expect_close"
    actual = operand_def()
    expected = operand_def()
    max_ulp_difference = prop_def(IntegerAttr.constr(_U64), default_value=IntegerAttr(1, _U64))
    min_ulp_difference = prop_def(IntegerAttr.constr(_U64), default_value=IntegerAttr(0, _U64))
    FORMAT: ClassVar = AssemblyFormat(
        operands=2,
        clauses={
            "max_ulp_difference": ("max_ulp_difference", _U64),
            "min_ulp_difference": ("min_ulp_difference", _U64),
        },
        is_typed_twice=True,
    )

    @staticmethod
    def infer(actual: Attribute, expected: Attribute) -> Types:
        """No results."""
        require_comparable(actual, expected, INEXACT)
        return ()


@irdl_op_definition
class ExpectSerializedEqOp(FormattedOp):
    """
    The array equals what `interpreter.probe` has written in its execution number `iteration`.

    Executions of the probe named `probe_id` count from 0. (C2) the operand is an array.
    """

    name = "check.expect_serialized_eq"
    expected = operand_def()
    probe_id = prop_def(StringAttr)
    iteration = prop_def(IntegerAttr.constr(_U32), default_value=IntegerAttr(0, _U32))
    FORMAT: ClassVar = AssemblyFormat(
        clauses={"probe_id": ("probe_id", None), "iter": ("iteration", _U32)}
    )

    @staticmethod
    def infer(expected: Attribute) -> Types:
        """No results."""
        with_elements(expected, ElementClass.ANY, "what is compared", "C2")
        return ()


CHECK = Dialect(
    "check",
    [
        ExpectEqOp,
        ExpectEqConstOp,
        ExpectAlmostEqOp,
        ExpectAlmostEqConstOp,
        ExpectCloseOp,
        ExpectSerializedEqOp,
    ],
)
