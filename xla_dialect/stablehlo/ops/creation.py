"""What makes arrays: constants, indices, random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
)
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from xla_dialect.ops import creation as xla
from xla_dialect.ops import random
from xla_dialect.shapes.size_arithmetic import compatible
from xla_dialect.stablehlo.attributes import (
    RngDistributionAttr,
    is_index,
    literal_of_integers,
)
from xla_dialect.stablehlo.op import StableHloOp, just_as, same_as
from xla_dialect.types import Array, ElementClass, as_array, element_class, sizes_of, spell
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.dense_literals import dense_text
from xla_dialect.xdsl.text import parse_literal


class LiteralOp(StableHloOp):
    """The elements of a literal; for a quantized result they are the integers that are stored."""

    value = prop_def()
    output = result_def()
    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses `{attributes} dense<...> : type`, or what is stored."""
        if parser.parse_optional_punctuation("(") is not None:
            return cls._parse_stored(parser)
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parse_literal(parser)
        if not isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr):
            parser.raise_error("expected dense<...> or dense_resource<...>", position)
        type_ = cast(Attribute, cast(Any, value).type)
        properties = {"value": cast(Attribute, value)}
        return create(cls, result_types=[type_], properties=properties, attributes=attributes)

    @classmethod
    def _parse_stored(cls, parser: Parser) -> Self:
        """Parses `) <{value = dense<...> : integers}> : () -> type`, of a quantized type."""
        parser.parse_punctuation(")")
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_punctuation("<") is not None:
            properties = parser.parse_optional_attr_dict()
            parser.parse_punctuation(">")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_function_type().outputs.data
        return create(cls, result_types=types, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Prints what `parse` parses."""
        stored = cast(Attribute, cast(Any, self.value).type)
        if stored != self.output.type:
            printer.print_string("() <{value = ")
            self._print_value(printer, stored)
            printer.print_string("}>")
            printer.print_op_attributes(self.attributes)
            printer.print_string(" : () -> ")
            printer.print_attribute(self.output.type)
            return
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        self._print_value(printer, self.output.type)

    def _print_value(self, printer: Printer, type_: Attribute) -> None:
        value = self.value
        if not isinstance(value, DenseIntOrFPElementsAttr) or is_index(type_):
            printer.print_attribute(cast(Attribute, value))
            return
        printer.print_string(f"dense<{dense_text(cast(Any, value), packs_flags=False)}> : ")
        printer.print_attribute(type_)

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute] | None:
        """The type of the literal; None for one whose elements the text says elsewhere."""
        value = self.value
        if isinstance(value, DenseResourceAttr):
            return None
        if isinstance(value, DenseIntOrFPElementsAttr):
            value = literal_of_integers(cast(Any, value))
        return xla.ConstantOp.types_of((), {"value": value}, (), declared)

    def result_name(self) -> str | None:
        """`cst` of inexact numbers, `c` of others."""
        inexact = ElementClass.FLOAT | ElementClass.COMPLEX
        element_type = cast(Array, self.output.type).element_type
        return "cst" if element_class(element_type) & inexact else "c"


@just_as(xla.ConstantOp)
class ConstantOp(LiteralOp):
    """A constant array."""

    SIZED_RESULTS: ClassVar = slice(1)


IotaOp = same_as(
    xla.IotaOp,
    StableHloOp,
    SIZED_RESULTS=slice(1),
    assembly_format="`dim` `=` $iota_dimension attr-dict `:` type($result)",
)


@op_definition
class RngOp(StableHloOp):
    """Numbers of a distribution with two parameters, as many as an operand says."""

    name = "stablehlo.rng"
    NAMES: ClassVar = {"rng_distribution": "distribution"}
    INDEX_OPERANDS: ClassVar = 2
    a = operand_def()
    b = operand_def()
    shape = operand_def()
    rng_distribution = prop_def(RngDistributionAttr)
    result = result_def()
    assembly_format = (
        "$a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict `:` "
        "functional-type(operands, results)"
    )

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """The declared type, of as many dimensions as an operand says sizes."""
        shape, result = as_array(operands[2]), as_array(declared[0])
        if shape is None or len(shape.get_shape()) != 1:
            raise VerifyException(f"operand 2 is {spell(operands[2])}, not a list of sizes")
        count = sizes_of(shape)[0]
        if result is not None and not compatible(count, len(sizes_of(result))):
            raise VerifyException(f"operand 2 has {count} sizes for {spell(result)}")
        return random.RngOp.types_of(operands[:2], self.xla_properties(), (), declared)


@just_as(random.RngBitGeneratorOp)
class RngBitGeneratorOp(StableHloOp):
    """Random bits of a state, and the next state."""

    NAMES: ClassVar = {"rng_algorithm": "algorithm"}
    SIZED_RESULTS: ClassVar = slice(1, 2)
    output_state = result_def()
    output = result_def()
    assembly_format = (
        "$initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` "
        "functional-type(operands, results)"
    )
