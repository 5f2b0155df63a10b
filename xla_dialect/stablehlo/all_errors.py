"""Reading StableHLO for all that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Operation, SSAValue

from xla_dialect.diagnostics import LocatedError
from xla_dialect.mlir_text import MAX_FAULTS, RecoveringParser, recovered
from xla_dialect.stablehlo.legalize.to_xla import ToXla
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.reader import (
    make_reading_context,
    naming_the_source,
    offset_of,
    read_stablehlo,
    takes_dynamic_arguments,
)
from xla_dialect.stablehlo.source import SourceError, UnknownShape
from xla_dialect.stablehlo.source_locations import SourceLocations
from xla_dialect.verification.verify import violations


class _Parser(RecoveringParser, StableHloParser):
    """Reads StableHLO, and goes on after errors."""


class _Conversion(ToXla):
    """Notes errors; what an operation that is wrong would give is a cast to its declared types."""

    def __init__(self, locations: SourceLocations, resource: Callable[[str], str | None]):
        super().__init__(locations, resource)
        self.errors: list[SourceError] = []

    def convert_operation(self, op: Operation) -> None:
        """Adds what an operation becomes, or a cast."""
        place = self._block, self._location
        try:
            super().convert_operation(op)
        except UnknownShape:
            raise
        except SourceError as error:
            if len(self.errors) >= MAX_FAULTS:
                raise
            self.errors.append(error)
            self._block, self._location = place
            types = self.result_types(op)
            results = self.add(UnrealizedConversionCastOp.create(result_types=types))
            for old, new in zip(op.results, results, strict=True):
                self.define(old, new)


def errors_of_stablehlo(
    text: str, file_name: str = "<input>"
) -> tuple[list[LocatedError], dict[int, Sequence[SSAValue]]]:
    """
    All errors of a program in StableHLO, as far as reading can go on after one.

    With them the values as parsed, by the offset of the names that define them. What
    `read_stablehlo` accepts has no errors.
    """
    resources = OpAsmDialectInterface()
    parsers: list[_Parser] = []

    def make_parser() -> RecoveringParser:
        parsers.append(_Parser(make_reading_context(resources), text, file_name))
        return parsers[0]

    module, errors, values = recovered(make_parser, text, file_name)
    if module is None:
        return errors, values
    positions = parsers[0].positions
    conversion = _Conversion(SourceLocations(text, file_name, positions), resources.lookup)

    def located(error: SourceError) -> LocatedError:
        place = offset_of(error.op, positions)
        return LocatedError.at_offset(str(error), file_name, text, place)

    is_dynamic = takes_dynamic_arguments(module)
    if not is_dynamic:
        try:
            result = conversion.module(module)
            errors = [
                naming_the_source(e, text)
                for e in violations(result, {file_name: text}, mixes_precisions=False)
            ]
        except UnknownShape:
            is_dynamic = True
        except SourceError as error:
            conversion.errors.append(error)
        errors = [*map(located, conversion.errors), *errors]
    if not errors and (is_dynamic or conversion.refines):
        # Sizes that only the program knows have a way of their own, which stops at one error.
        try:
            read_stablehlo(text, file_name)
        except LocatedError as error:
            errors = [error]
    return errors, values
