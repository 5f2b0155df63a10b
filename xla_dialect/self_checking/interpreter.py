"""The dialect `interpreter`: running programs on a grid, printing values and probing them.

Names, operands, attributes and forms are those of StableHLO's dialect of this name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import (
    BaseAttr,
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

from xla_dialect.op import Types, XlaOp
from xla_dialect.rules.constraints import with_elements
from xla_dialect.self_checking.assembly_format import AssemblyFormat, FormattedOp
from xla_dialect.syntax import Parts, parse_signature, print_signature
from xla_dialect.types import ElementClass, all_compatible, is_array, spell_all
from xla_dialect.violations import Violation, require
from xla_dialect.xdsl.creation import create

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


@irdl_op_definition
class PrintOp(FormattedOp):
    """Prints the operand, which is the result. (C1) it is an array."""

    name = "interpreter.print"
    operand = operand_def()
    result = result_def()
    FORMAT: ClassVar = AssemblyFormat(has_result=True)

    @staticmethod
    def infer(operand: Attribute) -> Types:
        """The type of the operand."""
        with_elements(operand, ElementClass.ANY, "operand")
        return (operand,)


@irdl_op_definition
class ProbeOp(FormattedOp):
    """
    Writes the operand, which is the result, into a file.

    The file `index.csv` beside it has a line for each: `probe_id`, the type, and the file. (C1) the
    operand is an array.
    """

    name = "interpreter.probe"
    operand = operand_def()
    probe_id = prop_def(StringAttr)
    result = result_def()
    FORMAT: ClassVar = AssemblyFormat(clauses={"probe_id": ("probe_id", None)}, has_result=True)

    @staticmethod
    def infer(operand: Attribute) -> Types:
        """The type of the operand."""
        with_elements(operand, ElementClass.ANY, "operand")
        return (operand,)


INTERPRETER = Dialect("interpreter", [RunParallelOp, PrintOp, ProbeOp])
