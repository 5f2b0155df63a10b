"""
xDSL's `arith` dialect, extended where xDSL 0.74.0 is narrower than MLIR 22.

Three gaps of xDSL 0.74.0 are closed here, and only here:

* The casts between integers, between integers and floats and to and from `index`
  take scalars only; MLIR takes vectors and tensors as well.
* `arith.select`, `arith.cmpi` and `arith.cmpf` know scalar conditions only: on vector
  operands xDSL's comparisons yield one `i1`, where MLIR yields `vector<Nxi1>`.
* `arith.remf` and `arith.index_castui` are not defined.

Every class is a subclass of xDSL's class of the same name where there is one, so that
`isinstance(op, xdsl.dialects.arith.SelectOp)` holds for both. The first two gaps show up
as a subclass that declares the same operands with wider constraints.

`ARITH` is to be loaded in the place of `xdsl.dialects.arith.Arith`.
"""

from __future__ import annotations

import abc
from typing import Any, ClassVar

from xdsl.dialects import arith
from xdsl.dialects.arith import (
    CMPF_COMPARISON_OPERATIONS,
    CMPI_COMPARISON_OPERATIONS,
    FastMathFlagsAttr,
    IntegerOverflowAttr,
)
from xdsl.dialects.builtin import (
    AnyFloat,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    VectorType,
    container_of,
    i1,
)
from xdsl.ir import Attribute, Dialect, Operation, OpResult, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.type import get_element_type_or_self, have_compatible_shape

from xla_dialect.xdsl.definition import op_definition

BoolLike = container_of(i1)
IntegerLike = container_of(IntegerType)
IndexLike = container_of(IndexType)
FloatLike = container_of(AnyFloat)

NO_FAST_MATH = FastMathFlagsAttr("none")


def with_element_type(container: Attribute, element_type: Attribute) -> Attribute:
    """`container` with its elements (or, for a scalar, itself) replaced by `element_type`."""
    if isinstance(container, VectorType):
        return VectorType(element_type, container.shape, container.scalable_dims)
    if isinstance(container, TensorType):
        return TensorType(element_type, container.shape, container.encoding)
    return element_type


def bit_width(element_type: Attribute) -> int:
    """The number of bits of an integer type."""
    assert isinstance(element_type, FixedBitwidthType)
    return element_type.bitwidth


class ElementwiseCast(IRDLOperation, abc.ABC):
    """What the casts share: one operand, one result, both of the same shape."""

    # xDSL 0.74.0 refuses an assembly format on a class that inherits a parser and a printer,
    # as those xDSL made for its own class.
    parse = vars(Operation)["parse"]
    print = vars(Operation)["print"]
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, value: SSAValue | Operation, target_type: Attribute):
        # Not super(): next in line is the class of xDSL that a subclass is mixed with.
        IRDLOperation.__init__(self, operands=[value], result_types=[target_type])

    def verify_(self) -> None:
        source, target = self.operands[0].type, self.results[0].type
        if not have_compatible_shape(source, target):
            raise VerifyException(f"operand type {source} and result type {target} differ in shape")
        self.verify_element_types(
            get_element_type_or_self(source), get_element_type_or_self(target)
        )

    def verify_element_types(self, source: Attribute, target: Attribute) -> None:
        """Raises a VerifyException where the cast does not go from `source` to `target`."""


class IntegerCast(ElementwiseCast, abc.ABC):
    """A cast between integers."""

    input: SSAValue[Any] = operand_def(IntegerLike)
    result: OpResult[Any] = result_def(IntegerLike)


class WideningCast(IntegerCast, abc.ABC):
    """A cast of integers to more bits."""

    def verify_element_types(self, source: Attribute, target: Attribute) -> None:
        if bit_width(target) <= bit_width(source):
            raise VerifyException(f"result type {target} must be wider than operand type {source}")


class FloatToInteger(ElementwiseCast, abc.ABC):
    """A cast of floats to integers, rounding towards zero."""

    input: SSAValue[Any] = operand_def(FloatLike)
    result: OpResult[Any] = result_def(IntegerLike)


class IntegerToFloat(ElementwiseCast, abc.ABC):
    """A cast of integers to floats."""

    input: SSAValue[Any] = operand_def(IntegerLike)
    result: OpResult[Any] = result_def(FloatLike)


class IndexCast(ElementwiseCast, abc.ABC):
    """A cast between `index` and an integer type."""

    input: SSAValue[Any] = operand_def(IntegerLike | IndexLike)
    result: OpResult[Any] = result_def(IntegerLike | IndexLike)

    def verify_element_types(self, source: Attribute, target: Attribute) -> None:
        if isinstance(source, IndexType) == isinstance(target, IndexType):
            raise VerifyException(
                f"exactly one of operand type {source} and result type {target} must be index"
            )


@op_definition
class ExtSIOp(WideningCast, arith.ExtSIOp):
    """Sign extension, of scalars, vectors and tensors."""

    name = "arith.extsi"


@op_definition
class ExtUIOp(WideningCast, arith.ExtUIOp):
    """Zero extension, of scalars, vectors and tensors."""

    name = "arith.extui"


@op_definition
class TruncIOp(IntegerCast, arith.TruncIOp):
    """Truncation to the low bits, of scalars, vectors and tensors."""

    name = "arith.trunci"
    assembly_format = (
        "$input (`overflow` `` $overflowFlags^)? attr-dict `:` type($input) `to` type($result)"
    )
    overflow_flags = prop_def(
        IntegerOverflowAttr,
        default_value=IntegerOverflowAttr("none"),
        prop_name="overflowFlags",
    )

    def verify_element_types(self, source: Attribute, target: Attribute) -> None:
        if bit_width(target) >= bit_width(source):
            raise VerifyException(
                f"result type {target} must be narrower than operand type {source}"
            )


@op_definition
class FPToSIOp(FloatToInteger, arith.FPToSIOp):
    """Float to signed integer, of scalars, vectors and tensors."""

    name = "arith.fptosi"


@op_definition
class FPToUIOp(FloatToInteger, arith.FPToUIOp):
    """Float to unsigned integer, of scalars, vectors and tensors."""

    name = "arith.fptoui"


@op_definition
class SIToFPOp(IntegerToFloat, arith.SIToFPOp):
    """Signed integer to float, of scalars, vectors and tensors."""

    name = "arith.sitofp"


@op_definition
class UIToFPOp(IntegerToFloat, arith.UIToFPOp):
    """Unsigned integer to float, of scalars, vectors and tensors."""

    name = "arith.uitofp"


@op_definition
class IndexCastOp(IndexCast, arith.IndexCastOp):
    """`index` to or from a signed integer, of scalars, vectors and tensors."""

    name = "arith.index_cast"


@op_definition
class IndexCastUIOp(IndexCast):
    """`index` to or from an unsigned integer, of scalars, vectors and tensors."""

    name = "arith.index_castui"


@op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """Remainder of floats with the sign of the dividend, as C's `fmod`."""

    name = "arith.remf"
    traits = traits_def(Pure())


class ElementwiseComparison(IRDLOperation, abc.ABC):
    """What the comparisons share: a result of the shape of their operands."""

    MNEMONICS: ClassVar[list[str]]
    predicate = prop_def(IntegerAttr)
    result: OpResult[Any] = result_def(BoolLike)

    def __init__(
        self,
        operand1: Operation | SSAValue,
        operand2: Operation | SSAValue,
        arg: int | str,
        **properties: Attribute,
    ):
        if isinstance(arg, str):
            if arg not in self.MNEMONICS:
                raise VerifyException(f"unknown comparison predicate: {arg}")
            arg = self.MNEMONICS.index(arg)
        lhs = SSAValue.get(operand1)
        IRDLOperation.__init__(
            self,
            operands=[lhs, operand2],
            result_types=[with_element_type(lhs.type, i1)],
            properties={"predicate": IntegerAttr(arg, 64), **properties},
        )

    def verify_(self) -> None:
        (lhs, rhs), result = (operand.type for operand in self.operands), self.result.type
        if lhs != rhs:
            raise VerifyException(f"operand types differ: {lhs} and {rhs}")
        expected = with_element_type(lhs, i1)
        if result != expected:
            raise VerifyException(f"result type is {result}, expected {expected}")


@op_definition
class CmpiOp(ElementwiseComparison, arith.CmpiOp):
    """Integer comparison whose result has the shape of its operands."""

    name = "arith.cmpi"
    MNEMONICS: ClassVar = CMPI_COMPARISON_OPERATIONS
    lhs = operand_def(arith.signlessIntegerLike)
    rhs = operand_def(arith.signlessIntegerLike)


# xDSL 0.74.0 folds `cmpi eq, %x, %x` to a scalar constant also where %x is a vector, and
# a subclass inherits that pattern; LLVM folds it anyway.
CmpiOp.traits = traits_def(Pure())


@op_definition
class CmpfOp(ElementwiseComparison, arith.CmpfOp):
    """Float comparison whose result has the shape of its operands."""

    name = "arith.cmpf"
    MNEMONICS: ClassVar = CMPF_COMPARISON_OPERATIONS
    lhs = operand_def(arith.floatingPointLike)
    rhs = operand_def(arith.floatingPointLike)
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FAST_MATH)

    def __init__(
        self,
        operand1: Operation | SSAValue,
        operand2: Operation | SSAValue,
        arg: int | str,
        fastmath: FastMathFlagsAttr = NO_FAST_MATH,
    ):
        ElementwiseComparison.__init__(self, operand1, operand2, arg, fastmath=fastmath)


@op_definition
class SelectOp(arith.SelectOp):
    """
    One of two values, by a condition that is one `i1` or, for vectors and tensors, also
    one `i1` for each element.
    """

    name = "arith.select"
    assembly_format = None
    _T: ClassVar = VarConstraint("_T", AnyAttr())
    cond: SSAValue[Any] = operand_def(BoolLike)
    lhs: SSAValue[Any] = operand_def(_T)
    rhs: SSAValue[Any] = operand_def(_T)
    result: OpResult[Any] = result_def(_T)

    def verify_(self) -> None:
        condition, value = self.cond.type, self.result.type
        if condition != i1 and condition != with_element_type(value, i1):
            raise VerifyException(
                f"condition type {condition} must be i1 or have the shape of {value}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        condition_type: Attribute = i1
        value_type = parser.parse_type()
        if parser.parse_optional_punctuation(","):
            condition_type, value_type = value_type, parser.parse_type()
        op = cls(
            *parser.resolve_operands(operands, [condition_type, value_type, value_type], position)
        )
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.cond.type != i1:
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)


EXTENSIONS: dict[str, type[Operation]] = {
    op.name: op
    for op in (
        ExtSIOp,
        ExtUIOp,
        TruncIOp,
        FPToSIOp,
        FPToUIOp,
        SIToFPOp,
        UIToFPOp,
        IndexCastOp,
        IndexCastUIOp,
        RemFOp,
        CmpiOp,
        CmpfOp,
        SelectOp,
    )
}

ARITH = Dialect(
    "arith",
    [
        *(op for op in arith.Arith.operations if op.name not in EXTENSIONS),
        *EXTENSIONS.values(),
    ],
    list(arith.Arith.attributes),
    [arith.ArithConstantMaterializationInterface()],
)
"""`arith` with the classes above in the place of xDSL's."""
