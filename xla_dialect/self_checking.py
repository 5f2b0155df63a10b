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
from typing import Any, ClassVar, cast

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
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    ParamAttrConstraint,
    ParsePropInAttrDict,
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from xla_dialect.constraints import with_elements
from xla_dialect.op import Types, XlaOp
from xla_dialect.types import ElementClass, all_compatible, compatible, is_array, spell, spell_all
from xla_dialect.violations import Violation, require
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.text import parse_literal, print_literal

_LITERALS = (DenseIntOrFPElementsAttr, DenseResourceAttr)
"""What may stand for `value`. The reader of StableHLO puts a literal in the place of a resource."""


@irdl_custom_directive
class CheckedLiteral(CustomDirective):
    """The literal that an array is compared with; it says the type of that too."""

    value: AttributeVariable
    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the literal."""
        start = parser.pos
        value = parse_literal(parser)
        if not isinstance(value, _LITERALS):
            message = "expected dense<...> or dense_resource<...> as the expected value"
            parser.raise_error(message, start, parser.pos)
        self.value.set(state, cast(Attribute, value))
        self.type.set(state, (cast(Any, value).type,))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the literal."""
        state.print_whitespace(printer)
        print_literal(op.properties[self.value.name], printer)


@irdl_custom_directive
class CheckedType(CustomDirective):
    """The type of all operands; some printers write that of the last number in front of it."""

    types: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the type."""
        type_ = parser.parse_type()
        if isinstance(type_, IntegerType | Float64Type) and parser.parse_optional_punctuation(":"):
            type_ = parser.parse_type()
        count = sum(map(len, filter(None, state.operands)))
        self.types.set(state, [cast(Attribute, type_)] * count)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the type."""
        state.print_whitespace(printer)
        printer.print_attribute(op.operand_types[0])


@irdl_custom_directive
class Distances(CustomDirective):
    """`, max_ulp_difference = 3, min_ulp_difference = 0`; both are printed, and may lack."""

    most: AttributeVariable
    least: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses one, both or none."""
        while parser.parse_optional_punctuation(","):
            position = parser.pos
            name = parser.parse_identifier()
            found = {each.name: each for each in (self.most, self.least)}.get(name)
            if found is None:
                parser.raise_error(f"there is no distance {name}", position, parser.pos)
            parser.parse_punctuation("=")
            position = parser.pos
            number = parser.parse_integer(allow_boolean=False, allow_negative=False)
            if number >= 1 << 64:
                parser.raise_error(f"{name} = {number} does not fit ui64", position, parser.pos)
            found.set(state, IntegerAttr(number, _U64))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints both."""
        for each in (self.most, self.least):
            number = cast("IntegerAttr[Any]", op.properties[each.name]).value.data
            printer.print_string(f", {each.name} = {number}")


INEXACT = ElementClass.FLOAT | ElementClass.COMPLEX

_U32 = IntegerType(32, Signedness.UNSIGNED)
_U64 = IntegerType(64, Signedness.UNSIGNED)
_LITERAL = BaseAttr(DenseIntOrFPElementsAttr) | BaseAttr(DenseResourceAttr)
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


_PAIR = "$lhs `,` $rhs {} attr-dict `:` custom<CheckedType>(type(operands))"
_WITH_LITERAL = "$lhs `,` custom<CheckedLiteral>($value, type($lhs)) {} attr-dict"
_OBSERVED = "$expected {} attr-dict `:` custom<CheckedType>(type(operands))"
_SHOWN = "$operand {} attr-dict `:` type($operand)"
_TOLERANCE = "(`,` `tolerance` `=` $tolerance^)?"
_PROBE = "`,` `probe_id` `=` $probe_id"


class PairCheckOp(XlaOp):
    """A check of two arrays of one type."""

    ALLOWED: ClassVar[ElementClass] = INEXACT
    lhs = operand_def()
    rhs = operand_def()

    @classmethod
    def infer(cls, lhs: Attribute, rhs: Attribute) -> Types:
        """No results."""
        require_comparable(lhs, rhs, cls.ALLOWED)
        return ()


class LiteralCheckOp(XlaOp):
    """A check of an array and a literal of one type."""

    ALLOWED: ClassVar[ElementClass] = INEXACT
    lhs = operand_def()
    value = prop_def(_LITERAL)

    @classmethod
    def infer(cls, lhs: Attribute, *, value: DenseIntOrFPElementsAttr) -> Types:
        """No results."""
        require_comparable(lhs, value.type, cls.ALLOWED)
        return ()


@op_definition
class ExpectEqOp(PairCheckOp):
    """Both arrays are equal. (C1) both have the same type. (C2) they are arrays."""

    name = "check.expect_eq"
    ALLOWED: ClassVar = ElementClass.ANY
    assembly_format = _PAIR.format("")


@op_definition
class ExpectEqConstOp(LiteralCheckOp):
    """The array equals `value`. (C1) both have the same type. (C2) it is an array."""

    name = "check.expect_eq_const"
    ALLOWED: ClassVar = ElementClass.ANY
    assembly_format = _WITH_LITERAL.format("")


@op_definition
class ExpectAlmostEqOp(PairCheckOp):
    """
    Both arrays differ by at most `tolerance` in every element.

    (C1) both have the same type. (C2) the elements are floats or complex numbers.
    """

    name = "check.expect_almost_eq"
    tolerance = prop_def(_F64, default_value=FloatAttr(1e-4, f64))
    assembly_format = _PAIR.format(_TOLERANCE)


@op_definition
class ExpectAlmostEqConstOp(LiteralCheckOp):
    """
    The array differs from `value` by at most `tolerance` in every element.

    (C1) both have the same type. (C2) the elements are floats or complex numbers.
    """

    name = "check.expect_almost_eq_const"
    value = prop_def(_LITERAL)
    tolerance = prop_def(_F64, default_value=FloatAttr(1e-4, f64))
    assembly_format = _WITH_LITERAL.format(_TOLERANCE)


@op_definition
class ExpectCloseOp(XlaOp):
    """
    From `actual` to `expected` it is `min_ulp_difference` to `max_ulp_difference` ULP everywhere.

    (C1) both have the same type. (C2) the elements are floats or complex numbers.
    """

    name = "check.expect_close"
    actual = operand_def()
    expected = operand_def()
    max_ulp_difference = prop_def(IntegerAttr.constr(_U64), default_value=IntegerAttr(1, _U64))
    min_ulp_difference = prop_def(IntegerAttr.constr(_U64), default_value=IntegerAttr(0, _U64))
    assembly_format = (
        "$actual `,` $expected custom<Distances>($max_ulp_difference, $min_ulp_difference) `:` "
        "attr-dict type($actual) `,` type($expected)"
    )

    @staticmethod
    def infer(actual: Attribute, expected: Attribute) -> Types:
        """No results."""
        require_comparable(actual, expected, INEXACT)
        return ()


@op_definition
class ExpectSerializedEqOp(XlaOp):
    """
    The array equals what `interpreter.probe` has written in its execution number `iteration`.

    Executions of the probe named `probe_id` count from 0. (C2) the operand is an array.
    """

    name = "check.expect_serialized_eq"
    expected = operand_def()
    probe_id = prop_def(StringAttr)
    iteration = prop_def(IntegerAttr.constr(_U32), default_value=IntegerAttr(0, _U32))
    assembly_format = _OBSERVED.format(_PROBE + " (`,` `iter` `=` $iteration^)?")

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


@op_definition
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
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "operands attr-dict `:` custom<SameType>(type(operands), type(results))"

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


class ObservedOp(XlaOp):
    """An operation that shows its operand, which is the result."""

    T: ClassVar = VarConstraint("T", AnyAttr())
    operand = operand_def(T)
    result = result_def(T)

    @staticmethod
    def infer(operand: Attribute) -> Types:
        """The type of the operand."""
        with_elements(operand, ElementClass.ANY, "operand")
        return (operand,)


@op_definition
class PrintOp(ObservedOp):
    """Prints the operand, which is the result. (C1) it is an array."""

    name = "interpreter.print"
    assembly_format = _SHOWN.format("")


@op_definition
class ProbeOp(ObservedOp):
    """
    Writes the operand, which is the result, into a file.

    The file `index.csv` beside it has a line for each: `probe_id`, the type, and the file. (C1) the
    operand is an array.
    """

    name = "interpreter.probe"
    probe_id = prop_def(StringAttr)
    assembly_format = _SHOWN.format(_PROBE)


INTERPRETER = Dialect("interpreter", [RunParallelOp, PrintOp, ProbeOp])
