"""Operations without operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure

from xla_dialect.attributes import INTEGER
from xla_dialect.constraints import declared_array, with_elements
from xla_dialect.dimensions import RESULT, Factor, Numbering, RelationsBuilder, Traversal
from xla_dialect.op import PureOp, Types, XlaOp
from xla_dialect.types import ElementClass, element_class, is_array, tuple_of
from xla_dialect.violations import Violation, require
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.dense_literals import is_elided
from xla_dialect.xdsl.directives import parse_attributes, print_attributes
from xla_dialect.xdsl.text import parse_literal, print_literal


def literal_type(value: Attribute) -> Attribute:
    """
    The type of a literal: a dense array, or an array attribute of literals for a tuple.

    Raises Violation for any other attribute.
    """
    if isinstance(value, ArrayAttr):
        elements = cast("ArrayAttr[Attribute]", value).data
        return tuple_of(map(literal_type, elements))
    if isinstance(value, DenseIntOrFPElementsAttr):
        type_ = cast("DenseIntOrFPElementsAttr[Any]", value).type
        if isinstance(type_, TensorType) and element_class(
            cast("TensorType[Attribute]", type_).element_type
        ):
            return cast("TensorType[Attribute]", type_)
    if isinstance(value, DenseResourceAttr) and is_elided(value) and is_array(value.type):
        return value.type
    raise Violation("C1", f"{value} is not a literal of an XLA type")


@irdl_op_definition
class ConstantOp(XlaOp):
    """
    The literal `value`; nested array attributes are tuples.

    `dense_resource<__elided__>` stands for elements that the text does not say: the program does
    not run.

    (C1) the literal is a dense array of an XLA element type, or a tuple of such literals.
    """

    name = "xla.constant"
    HANDS_ON: ClassVar = True
    value = prop_def()
    result = result_def()
    traits = traits_def(Pure(), ConstantLike())

    @staticmethod
    def infer(*, value: Attribute) -> Types:
        """The type of the literal."""
        return (literal_type(value),)

    def print(self, printer: Printer) -> None:
        """Prints `xla.constant dense<...> : type`; the type is that of the literal."""
        printer.print_string(" ")
        print_literal(self.value, printer)
        print_attributes(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses what `print` prints."""
        position = parser.pos
        value = parse_literal(parser)
        attributes = parse_attributes(parser)
        try:
            types: Sequence[Attribute] = [literal_type(value)]
        except Violation as violation:
            parser.raise_error(f"{cls.name}: {violation}", position, parser.pos)
        return create(cls, result_types=types, properties={"value": value}, attributes=attributes)

    relate = staticmethod(RelationsBuilder.add_generated)


@irdl_op_definition
class IotaOp(PureOp):
    """
    `result[i0, ..] = i_{iota_dimension}`, converted to the element type (narrow integers wrap).

    (C1) the result is an array. (C2) `0 <= iota_dimension < rank(result)`. (C3) the element type is
    a number.
    """

    name = "xla.iota"
    NUMBERING: ClassVar = {"iota_dimension": Numbering(numbers=RESULT)}
    iota_dimension = prop_def(INTEGER)

    @staticmethod
    def infer(*, iota_dimension: int, declared: Types) -> Types:
        """The declared type."""
        result = with_elements(
            declared_array(declared, "C1"), ElementClass.NUMBER, "the result", "C3"
        )
        rank = len(result.shape.data)
        require(
            0 <= iota_dimension < rank, "C2", "iota_dimension = {} of rank {}", iota_dimension, rank
        )
        return (result,)

    @staticmethod
    def relate(relations: RelationsBuilder, *, iota_dimension: int) -> None:
        """Elements differ along `iota_dimension` only."""
        for d, size in enumerate(relations.results[0]):
            along = Traversal.GENERATED if d == iota_dimension else None
            relations.add(Factor(size, along=along), {}, {0: d})
