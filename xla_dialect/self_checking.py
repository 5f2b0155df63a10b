"""The dialects of programs that check themselves, spelled as StableHLO spells them.

`check` has operations that fail where an array is not as expected, `interpreter` runs programs on a
grid, prints values and probes them. What counts as equal, and what is done with values, stands in
`xla_dialect.runtime.self_checking`.

    check.expect_almost_eq %0, %1, tolerance = 1.000000e-03 : tensor<2xf32>
    check.expect_eq_const %0, dense<[1, 2]> : tensor<2xi32>
    %1 = interpreter.probe %0, probe_id = "x" : tensor<2xf32>

Operands and a literal, then clauses, attributes, and the type of the operands unless the literal
has said it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    f64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Dialect, TypedAttribute
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    EqAttrConstraint,
    ParamAttrConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from xla_dialect.constraints import with_elements
from xla_dialect.op import Types, XlaOp
from xla_dialect.types import ElementClass, all_compatible, compatible, is_array, spell, spell_all
from xla_dialect.violations import Violation, require
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.directives import Parts, parse_signature, print_signature
from xla_dialect.xdsl.text import parse_literal, print_literal

_LITERALS = (DenseIntOrFPElementsAttr, DenseResourceAttr)
"""What may stand for `value`. The reader of StableHLO puts a literal in the place of a resource."""

_CLAUSE_TYPES: tuple[type[Attribute], ...] = (IntegerType, Float64Type)


@dataclass(frozen=True)
class AssemblyFormat:
    """How one class of operations is written."""

    operands: int = 1
    has_literal: bool = False
    """Whether the property `value` follows the operands."""
    clauses: Mapping[str, tuple[str, Attribute | None]] = field(
        default_factory=dict[str, tuple[str, Attribute | None]]
    )
    """By keyword: the property, and the type of its number; None for a string."""
    is_typed_twice: bool = False
    """Whether the types of both operands are written."""
    has_result: bool = False
    """Whether there is a result, of the type of the operands."""


class FormattedOp(XlaOp):
    """An operation that is written in a custom assembly format."""

    FORMAT: ClassVar[AssemblyFormat]

    def print(self, printer: Printer) -> None:
        """Prints everything after the name; clauses with their default value are left out."""
        format_ = self.FORMAT
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        if format_.has_literal:
            printer.print_string(", ")
            print_literal(self.properties["value"], printer)
        definitions = self.get_irdl_definition().properties
        for keyword, (name, _) in format_.clauses.items():
            value = self.properties[name]
            if value != definitions[name].default_value or format_.is_typed_twice:
                printer.print_string(f", {keyword} = ")
                if isinstance(value, TypedAttribute):
                    value.print_without_type(printer)
                else:
                    printer.print_attribute(value)
        if not format_.has_literal:
            printer.print_string(" :" if format_.is_typed_twice else "")
        printer.print_op_attributes(self.attributes)
        if not format_.has_literal:
            printer.print_string(" " if format_.is_typed_twice else " : ")
            written = self.operands if format_.is_typed_twice else self.operands[:1]
            printer.print_list([operand.type for operand in written], printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses everything after the name; raises ParseError."""
        format_ = cls.FORMAT
        position = parser.pos
        operands = [parser.parse_unresolved_operand()]
        for _ in range(format_.operands - 1):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        properties: dict[str, Attribute] = {}
        if format_.has_literal:
            parser.parse_punctuation(",")
            start = parser.pos
            properties["value"] = parse_literal(parser)
            if not isinstance(properties["value"], _LITERALS):
                message = "expected dense<...> or dense_resource<...> as the expected value"
                parser.raise_error(message, start, parser.pos)
        while parser.parse_optional_punctuation(","):
            properties |= _parse_clause(format_, cls.name, parser)
        attributes = parser.parse_optional_attr_dict()
        if format_.has_literal:
            types = [cast(Attribute, cast(Any, properties["value"]).type)]
        else:
            parser.parse_punctuation(":")
            attributes |= parser.parse_optional_attr_dict()
            types = [parser.parse_type()]
            if isinstance(types[0], _CLAUSE_TYPES) and parser.parse_optional_punctuation(":"):
                # Some printers write the type of the last number in front of that of the operands.
                attributes |= parser.parse_optional_attr_dict()
                types = [parser.parse_type()]
            if format_.is_typed_twice:
                parser.parse_punctuation(",")
                types.append(parser.parse_type())
        if len(types) < format_.operands:
            types *= format_.operands
        return create(
            cls,
            operands=parser.resolve_operands(operands, types, position),
            result_types=types[:1] if format_.has_result else (),
            properties=properties,
            attributes=attributes,
        )


def _parse_clause(format_: AssemblyFormat, name: str, parser: Parser) -> Mapping[str, Attribute]:
    """Parses `keyword = number` or `keyword = "text"`; the number's type is known."""
    position = parser.pos
    keyword = parser.parse_identifier()
    if keyword not in format_.clauses:
        known = ", ".join(format_.clauses) or "none"
        parser.raise_error(f"{name} has no '{keyword}' (it has: {known})", position, parser.pos)
    parser.parse_punctuation("=")
    property_name, type_ = format_.clauses[keyword]
    if type_ is None:
        return {property_name: StringAttr(parser.parse_str_literal())}
    if isinstance(type_, Float64Type):
        return {property_name: FloatAttr(float(parser.parse_number()), type_)}
    position = parser.pos
    number = parser.parse_integer(allow_boolean=False, allow_negative=False)
    if number >= 1 << cast(IntegerType, type_).width.data:
        parser.raise_error(f"{keyword} = {number} does not fit {type_}", position, parser.pos)
    return {property_name: IntegerAttr(number, cast(IntegerType, type_))}


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


class PairCheckOp(FormattedOp):
    """A check of two arrays of one type."""

    ALLOWED: ClassVar[ElementClass] = INEXACT
    lhs = operand_def()
    rhs = operand_def()

    @classmethod
    def infer(cls, lhs: Attribute, rhs: Attribute) -> Types:
        """No results."""
        require_comparable(lhs, rhs, cls.ALLOWED)
        return ()


class LiteralCheckOp(FormattedOp):
    """A check of an array and a literal of one type."""

    ALLOWED: ClassVar[ElementClass] = INEXACT
    lhs = operand_def()
    value = prop_def(_LITERAL)

    @classmethod
    def infer(cls, lhs: Attribute, *, value: DenseIntOrFPElementsAttr) -> Types:
        """No results."""
        require_comparable(lhs, value.type, cls.ALLOWED)
        return ()


@irdl_op_definition
class ExpectEqOp(PairCheckOp):
    """Both arrays are equal. (C1) both have the same type. (C2) they are arrays."""

    name = "check.expect_eq"
    ALLOWED: ClassVar = ElementClass.ANY
    FORMAT: ClassVar = AssemblyFormat(operands=2)


@irdl_op_definition
class ExpectEqConstOp(LiteralCheckOp):
    """The array equals `value`. (C1) both have the same type. (C2) it is an array."""

    name = "check.expect_eq_const"
    ALLOWED: ClassVar = ElementClass.ANY
    FORMAT: ClassVar = AssemblyFormat(has_literal=True)


_TOLERANCE = {"tolerance": ("tolerance", f64)}


@irdl_op_definition
class ExpectAlmostEqOp(PairCheckOp):
    """
    Both arrays differ by at most `tolerance` in every element.

    (C1) both have the same type. (C2) the elements are floats or complex numbers.
    """

    name = "check.expect_almost_eq"
    tolerance = prop_def(_F64, default_value=FloatAttr(1e-4, f64))
    FORMAT: ClassVar = AssemblyFormat(operands=2, clauses=_TOLERANCE)


@irdl_op_definition
class ExpectAlmostEqConstOp(LiteralCheckOp):
    """
    The array differs from `value` by at most `tolerance` in every element.

    (C1) both have the same type. (C2) the elements are floats or complex numbers.
    """

    name = "check.expect_almost_eq_const"
    value = prop_def(_LITERAL)
    tolerance = prop_def(_F64, default_value=FloatAttr(1e-4, f64))
    FORMAT: ClassVar = AssemblyFormat(has_literal=True, clauses=_TOLERANCE)


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


_LIST = BaseAttr(ArrayAttr)


def _names(value: Attribute, what: str, label: str) -> list[str]:
    """The functions that a list names; raises Violation for anything else."""
    entries = cast("ArrayAttr[Attribute]", value).data if isinstance(value, ArrayAttr) else None
    if not entries:
        raise Violation(label, f"{what} is {value}, not a list of functions")
    names: list[str] = []
    for entry in entries:
        if not isinstance(entry, SymbolRefAttr) or entry.nested_references.data:
            raise Violation(label, f"{what} has {entry}, which is no function")
        names.append(entry.root_reference.data)
    return names


@irdl_op_definition
class RunParallelOp(XlaOp):
    """
    Runs one program on every process of a grid, and returns the results of all of them.

    `programs` has one row per replica and in each one function per partition. `inputs` and
    `outputs` are those of all programs in a row. `infeed` names functions: the n-th infeed that any
    of the programs executes reads what the n-th of them returns.

    (C1) `programs` is a list of lists of functions, none empty, all of one length. (C2) the inputs
    are those of the programs. (C3) so are the results. (C4) `infeed`, if present, is a list of
    functions without parameters that return one array.
    """

    name = "interpreter.run_parallel"
    inputs = var_operand_def()
    infeed = opt_prop_def(_LIST)
    programs = prop_def(_LIST)
    outputs = var_result_def()

    @staticmethod
    def infer(*, infeed: Attribute | None, programs: Attribute, declared: Types) -> Types:
        """The declared types; `verify_functions` compares them with those of the functions."""
        rows = cast("ArrayAttr[Attribute]", programs).data
        lengths = {len(_names(row, "a row of programs", "C1")) for row in rows}
        require(bool(rows), "C1", "there are no programs")
        require(len(lengths) == 1, "C1", "the rows of programs have lengths {}", sorted(lengths))
        if infeed is not None:
            _names(infeed, "infeed", "C4")
        return declared

    def print(self, printer: Printer) -> None:
        """Prints ` %inputs {programs = [[@f], [@g]]} : (types) -> types`."""
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes({**self.properties, **self.attributes})
        print_signature(self.operand_types, self.result_types, printer)

    @classmethod
    def parse(cls, parser: Parser) -> RunParallelOp:
        """Parses what `print` prints."""
        parts, position = Parts(), parser.pos
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        for name in cls.get_irdl_definition().properties:
            if name in attributes:
                parts.properties[name] = attributes.pop(name)
        parse_signature(operands or [], position, parts, parser)
        return create(
            cls,
            operands=parts.operands,
            result_types=parts.result_types,
            properties=parts.properties,
            attributes=attributes,
        )

    @property
    def program_names(self) -> list[list[str]]:
        """The functions by replica and partition."""
        return [_names(row, "a row of programs", "C1") for row in self.programs.data]

    @property
    def infeed_names(self) -> list[str]:
        """The functions that infeeds read."""
        return [] if self.infeed is None else _names(self.infeed, "infeed", "C4")

    def callees(self) -> Iterator[str]:
        """The functions that this runs."""
        for row in self.program_names:
            yield from row
        yield from self.infeed_names

    def verify_functions(self, functions: Mapping[str, FuncOp]) -> None:
        """(C2) to (C4), for which the functions are needed; raises Violation."""
        for name in self.callees():
            require(name in functions, "C1", "there is no function @{}", name)
        types = [functions[name].function_type for row in self.program_names for name in row]
        for label, what, found, expected in (
            ("C2", "inputs", self.operand_types, [t for each in types for t in each.inputs.data]),
            ("C3", "results", self.result_types, [t for each in types for t in each.outputs.data]),
        ):
            require(
                all_compatible(found, expected),
                label,
                "{} {}, those of the programs are {}",
                what,
                spell_all(found),
                spell_all(expected),
            )
        for name in self.infeed_names:
            type_ = functions[name].function_type
            outputs = type_.outputs.data
            require(
                not type_.inputs.data and len(outputs) == 1 and is_array(outputs[0]),
                "C4",
                "@{} of the infeed is {} -> {}, not () -> (array)",
                name,
                spell_all(type_.inputs.data),
                spell_all(outputs),
            )


class ObservedOp(FormattedOp):
    """An operation that shows its operand, which is the result."""

    operand = operand_def()
    result = result_def()

    @staticmethod
    def infer(operand: Attribute) -> Types:
        """The type of the operand."""
        with_elements(operand, ElementClass.ANY, "operand")
        return (operand,)


@irdl_op_definition
class PrintOp(ObservedOp):
    """Prints the operand, which is the result. (C1) it is an array."""

    name = "interpreter.print"
    FORMAT: ClassVar = AssemblyFormat(has_result=True)


@irdl_op_definition
class ProbeOp(ObservedOp):
    """
    Writes the operand, which is the result, into a file.

    The file `index.csv` beside it has a line for each: `probe_id`, the type, and the file. (C1) the
    operand is an array.
    """

    name = "interpreter.probe"
    probe_id = prop_def(StringAttr)
    FORMAT: ClassVar = AssemblyFormat(clauses={"probe_id": ("probe_id", None)}, has_result=True)


INTERPRETER = Dialect("interpreter", [RunParallelOp, PrintOp, ProbeOp])
