"""Operations of `arith`, `shape` and `tensor` that make shapes, as StableHLO's programs have them.

Only they have sizes of MLIR's type `index`, in arrays or as single numbers.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    TensorType,
)
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops.creation import LiteralOp
from xla_dialect.stablehlo.source import integers_of
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.directives import ArrowTypes, SameType, parse_i64


class ShapeOp(StableHloOp):
    """An operation that takes sizes and gives some."""

    INDEX_OPERANDS: ClassVar = 0
    GIVES_INDEX: ClassVar = True
    traits = traits_def(Pure())


# Numbers


@irdl_op_definition
class ConstantOp(LiteralOp):
    """A number, or an array of numbers."""

    name = "arith.constant"
    GIVES_INDEX: ClassVar = True

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses `arith.constant 2 : index`, or a constant array."""
        number = parser.parse_optional_integer()
        if number is None:
            return super().parse(parser)
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        value = IntegerAttr(number, cast(Any, type_))
        return create(cls, result_types=[type_], properties={"value": value})

    def result_name(self) -> None:
        """A number."""


class CastOp(ShapeOp):
    """The same numbers, of another type."""

    source = operand_def()
    result = result_def()
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"


@irdl_op_definition
class IndexCastOp(CastOp):
    """Between `index` and integers with sign."""

    name = "arith.index_cast"


@irdl_op_definition
class ExtSIOp(CastOp):
    """Wider integers."""

    name = "arith.extsi"


@irdl_op_definition
class TruncIOp(CastOp):
    """Narrower integers."""

    name = "arith.trunci"


class ArithmeticOp(ShapeOp):
    """An operation on two numbers, or on arrays of them."""

    APPLIED: ClassVar[type[XlaOp]]
    """The operation of `xla` on the integers that sizes become."""

    lhs = operand_def()
    rhs = operand_def()
    overflowFlags = opt_prop_def()
    result = result_def()
    irdl_options = (ParsePropInAttrDict(),)
    custom_directives = (SameType,)
    assembly_format = "$lhs `,` $rhs attr-dict `:` custom<SameType>(type(operands), type(results))"


@irdl_op_definition
class AddIOp(ArithmeticOp):
    """The sum."""

    name = "arith.addi"
    APPLIED: ClassVar = elementwise.AddOp


@irdl_op_definition
class DivSIOp(ArithmeticOp):
    """The quotient, rounded to zero."""

    name = "arith.divsi"
    APPLIED: ClassVar = elementwise.DivideOp


@irdl_op_definition
class MaxSIOp(ArithmeticOp):
    """The larger one."""

    name = "arith.maxsi"
    APPLIED: ClassVar = elementwise.MaximumOp


@irdl_op_definition
class MinSIOp(ArithmeticOp):
    """The smaller one."""

    name = "arith.minsi"
    APPLIED: ClassVar = elementwise.MinimumOp


@irdl_op_definition
class MulIOp(ArithmeticOp):
    """The product."""

    name = "arith.muli"
    APPLIED: ClassVar = elementwise.MultiplyOp


@irdl_op_definition
class RemSIOp(ArithmeticOp):
    """The remainder, with the sign of the dividend."""

    name = "arith.remsi"
    APPLIED: ClassVar = elementwise.RemainderOp


@irdl_op_definition
class SubIOp(ArithmeticOp):
    """The difference."""

    name = "arith.subi"
    APPLIED: ClassVar = elementwise.SubtractOp


# Shapes


@irdl_custom_directive
class Sizes(CustomDirective):
    """A shape, `[2, 3]`."""

    shape: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the sizes."""
        sizes = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_i64(parser)
        )
        type_ = TensorType(IndexType(), (len(sizes),))
        self.shape.set(state, DenseIntOrFPElementsAttr.from_list(type_, sizes))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the sizes."""
        state.print_whitespace(printer)
        value = self.shape.get(op)
        sizes = () if value is None else integers_of(value)
        printer.print_string(str(list(sizes or ())))


@irdl_op_definition
class ConstShapeOp(StableHloOp):
    """A constant shape."""

    name = "shape.const_shape"
    GIVES_INDEX: ClassVar = True
    shape = prop_def()
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (Sizes,)
    assembly_format = "attr-dict custom<Sizes>($shape) `:` type($result)"


class ShapeFunctionOp(ShapeOp):
    """A function of shapes."""

    result = result_def()
    custom_directives = (ArrowTypes,)
    assembly_format = "operands attr-dict `:` custom<ArrowTypes>(type(operands), type(results))"


@irdl_op_definition
class ShapeOfOp(ShapeFunctionOp):
    """The shape of an array."""

    name = "shape.shape_of"
    operand = operand_def()


@irdl_op_definition
class ConcatOp(ShapeFunctionOp):
    """The sizes of one shape after those of another."""

    name = "shape.concat"
    lhs = operand_def()
    rhs = operand_def()


@irdl_op_definition
class BroadcastOp(ShapeFunctionOp):
    """The shape that arrays of these shapes have together, as in numpy."""

    name = "shape.broadcast"
    shapes = var_operand_def()
    error = opt_prop_def()
    irdl_options = (ParsePropInAttrDict(),)


@irdl_op_definition
class NumElementsOp(ShapeFunctionOp):
    """The number of elements of an array of some shape."""

    name = "shape.num_elements"
    shape = operand_def()


# Arrays


@irdl_op_definition
class TensorCastOp(CastOp):
    """The same array, of which a type says more or less."""

    name = "tensor.cast"


@irdl_op_definition
class DimOp(ShapeOp):
    """The size of an array in a dimension."""

    name = "tensor.dim"
    source = operand_def()
    index = operand_def(IndexType)
    result = result_def(IndexType)
    assembly_format = "attr-dict $source `,` $index `:` type($source)"


_ELEMENT = VarConstraint("ELEMENT", AnyAttr())


@irdl_op_definition
class ExtractOp(ShapeOp):
    """An element of an array."""

    name = "tensor.extract"
    tensor = operand_def(TensorType.constr(_ELEMENT))
    indices = var_operand_def(IndexType)
    result = result_def(_ELEMENT)
    assembly_format = "$tensor `[` $indices `]` attr-dict `:` type($tensor)"


@irdl_op_definition
class FromElementsOp(ShapeOp):
    """The array of some numbers, in row-major order."""

    name = "tensor.from_elements"
    elements = var_operand_def(_ELEMENT)
    result = result_def(TensorType.constr(_ELEMENT))
    assembly_format = "$elements attr-dict `:` type($result)"
