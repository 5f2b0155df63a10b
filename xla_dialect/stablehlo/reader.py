"""The entry point: StableHLO text to a module of the `xla` dialect."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import (
    Builtin,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    LocationAttr,
    ModuleOp,
    UnknownLoc,
)
from xdsl.dialects.func import Func, FuncOp
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.utils.exceptions import ParseError, VerifyException

from xla_dialect.diagnostics import LocatedError
from xla_dialect.dialect import XLA
from xla_dialect.quantized_types import QUANT, has_quantized_arrays
from xla_dialect.self_checking.check import CHECK
from xla_dialect.self_checking.interpreter import INTERPRETER
from xla_dialect.shardy import SHARDY, ShardyOp
from xla_dialect.stablehlo import (
    sharding,
)
from xla_dialect.stablehlo.attributes import ATTRIBUTES, CHLO_ATTRIBUTES
from xla_dialect.stablehlo.conversion import LEGALIZATIONS
from xla_dialect.stablehlo.dynamic_types import takes_dynamic
from xla_dialect.stablehlo.legalize import self_checking
from xla_dialect.stablehlo.legalize.to_xla import ToXla
from xla_dialect.stablehlo.mesh_groups import ATTRIBUTES as MESH_ATTRIBUTES
from xla_dialect.stablehlo.nested_modules import flatten_modules
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops import mhlo, operations_of_dialect
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.quantization.conversion import ArithmeticName, QuantizedConversion
from xla_dialect.stablehlo.resources import Resources, lookup_in
from xla_dialect.stablehlo.size_checks import SizeChecks
from xla_dialect.stablehlo.source import SourceError, UnknownShape
from xla_dialect.stablehlo.source_locations import SourceLocations
from xla_dialect.verification.verify import InvalidProgram, invalid_program, verify
from xla_dialect.xdsl.linking import release
from xla_dialect.xdsl.traversal import deep_recursion, operations_in


def _dialect(name: str, attributes: Sequence[type[Attribute]] = ()) -> Dialect:
    return Dialect(name, list(operations_of_dialect(name)), list(attributes))


STABLEHLO = _dialect("stablehlo", [*ATTRIBUTES, *MESH_ATTRIBUTES])
CHLO = _dialect("chlo", CHLO_ATTRIBUTES)
MHLO = Dialect("mhlo", list(mhlo.OPERATIONS), [mhlo.MhloFusionKindAttr])

LEGALIZATIONS.update({**sharding.LEGALIZATIONS, **self_checking.LEGALIZATIONS})

ARITH, SHAPE, TENSOR = map(_dialect, ("arith", "shape", "tensor"))
"""What makes shapes."""


@deep_recursion()
def read_stablehlo(
    text: str,
    file_name: str = "<input>",
    argument_types: Sequence[Attribute] | None = None,
    *,
    places: dict[Operation, LocationAttr] | None = None,
    given: Resources | None = None,
) -> ModuleOp:
    """
    Reads StableHLO, as `jax.jit(f).lower(...).as_text()` prints it or in generic form.

    A program whose public functions take arrays of unbounded size is read for arguments of
    `argument_types`. Without them, or where a shape depends on the values of arguments, the module
    keeps the operations of StableHLO; `convert_stablehlo` may go on with it. So it does where
    arrays are quantized.

    Returns a verified module of functions (`main` is the entry) with operations of the `xla`
    dialect. What is not interpreted stays as attributes: `jax.result_info`, `mhlo.sharding`, ...
    Raises LocatedError for everything that is wrong with the text. Declared shapes are never
    allocated. `places` is filled with where in the text operations stand whose own location, from
    the text, says something else. `given` has the elements of resources that the text only names.
    """
    resources = OpAsmDialectInterface()
    module, positions = _parse(text, file_name, make_reading_context(resources))
    try:
        flatten_modules(module)
        quantized = "!quant." in text and has_quantized_arrays(module)
        make = QuantizedConversion if quantized else ToXla
        conversion = make(SourceLocations(text, file_name, positions), lookup_in(resources, given))
        if argument_types is None and (quantized or takes_dynamic_arguments(module)):
            _check_sizes(text, file_name, given)
            return _unresolved(module, conversion)
        try:
            result = conversion.module(module, argument_types)
        except UnknownShape:
            resources = OpAsmDialectInterface()
            module, positions = _parse(text, file_name, make_reading_context(resources))
            flatten_modules(module)
            conversion = ToXla(
                SourceLocations(text, file_name, positions), lookup_in(resources, given)
            )
            _check_sizes(text, file_name, given)
            return _unresolved(module, conversion)
        if argument_types is None and conversion.refines:
            _check_sizes(text, file_name, given)
    except SourceError as error:
        offset = offset_of(error.op, positions)
        raise LocatedError.at_offset(str(error), file_name, text, offset) from None
    try:
        verify(result, {file_name: text}, mixes_precisions=False)
    except InvalidProgram as error:
        raise naming_the_source(error, text) from None
    for op, location in conversion.explicit_locations.items():
        if places is not None:
            places[op] = op.location
        op.location = location
    release(module)
    return result


def _check_sizes(text: str, file_name: str, given: Resources | None) -> None:
    """
    Checks a program that stays StableHLO by the rules that known sizes and ranks decide.

    Conversion takes the parsed program apart, so it is read once more. Raises LocatedError.
    """
    resources = OpAsmDialectInterface()
    module, positions = _parse(text, file_name, make_reading_context(resources))
    checks = SizeChecks(SourceLocations(text, file_name, positions), lookup_in(resources, given))
    try:
        result = checks.module(module)
    except SourceError as error:
        offset = offset_of(error.op, positions)
        raise LocatedError.at_offset(str(error), file_name, text, offset) from None
    try:
        verify(result, {file_name: text}, mixes_precisions=False, has_unknown_sizes=True)
    except InvalidProgram as error:
        raise naming_the_source(error, text) from None


def convert_stablehlo(
    module: ModuleOp,
    argument_types: Sequence[Attribute] | None = None,
    arithmetic: ArithmeticName = "integer",
) -> ModuleOp:
    """
    The `xla` operations for a module that `read_stablehlo` left as StableHLO; takes it apart.

    Quantized arrays become arrays of the integers that are stored; `arithmetic` says with what
    operations on them compute. Raises InvalidProgram where sizes are still not known, or something
    else is wrong.
    """
    # No resources: those of its text have become literals.
    conversion = QuantizedConversion(SourceLocations(), lambda key: None, arithmetic)
    try:
        result = conversion.module(module, argument_types)
    except SourceError as error:
        raise invalid_program(error.op, str(error), {}) from None
    verify(result, mixes_precisions=False)
    return result


def takes_dynamic_arguments(module: ModuleOp) -> bool:
    """Whether a public function has to know its arguments before its arrays have sizes."""
    return any(isinstance(op, FuncOp) and takes_dynamic(op) for op in module.ops)


def has_source_operations(module: ModuleOp) -> bool:
    """Whether operations of StableHLO or CHLO are in a module, which stayed what it was."""
    return any(isinstance(op, StableHloOp | ShardyOp) for op in operations_in(module))


def _unresolved(module: ModuleOp, conversion: ToXla) -> ModuleOp:
    """
    The parsed module, its operations with their locations, and literals instead of resources.

    Resources belong to the text, and the module goes on without it.
    """
    for op in operations_in(module):
        place = conversion.locations.of(op)
        if place is not None and isinstance(op.location, UnknownLoc):
            op.location = place
        for entries in (op.properties, op.attributes):
            for name, value in entries.items():
                if isinstance(value, DenseResourceAttr):
                    literal = conversion.literal_of_resource(value, op)
                    # The converted type differs from the one that the operation declares.
                    entries[name] = DenseIntOrFPElementsAttr(cast(Any, value.type), literal.data)
    return module


def make_reading_context(resources: OpAsmDialectInterface) -> Context:
    """A context of its own for every text: resources are kept in the builtin dialect."""
    context = _context_without_builtin().clone()
    context.load_dialect(
        Dialect("builtin", list(Builtin.operations), list(Builtin.attributes), [resources])
    )
    return context


@cache
def _context_without_builtin() -> Context:
    """What all texts share, to be cloned: loading a dialect takes longer than a short text."""
    context = Context(allow_unregistered=True)
    for dialect in (
        Func,
        XLA,
        STABLEHLO,
        CHLO,
        MHLO,
        QUANT,
        SHARDY,
        ARITH,
        SHAPE,
        TENSOR,
        CHECK,
        INTERPRETER,
    ):
        context.load_dialect(dialect)
    return context


def _parse(text: str, file_name: str, context: Context) -> tuple[ModuleOp, dict[Operation, int]]:
    """
    Parses the text; returns the module and where its operations stand.

    Whatever xDSL raises on the way is an error at the current place.
    """
    parser = None
    try:
        parser = StableHloParser(context, text, file_name)
        return parser.parse_module(), parser.positions
    except ParseError as error:
        offset, message = error.span.start, error.msg
    except RecursionError:
        offset = 0 if parser is None else parser.pos
        message = "types, attributes or locations are nested too deeply"
    except VerifyException as error:
        offset, message = 0 if parser is None else parser.pos, str(error)
    except Exception as error:  # xDSL 0.74 checks malformed text with assertions and ValueErrors
        offset = 0 if parser is None else parser.pos
        message = f"malformed text: {error}"
    raise LocatedError.at_offset(message, file_name, text, offset)


def naming_the_source(error: InvalidProgram, text: str) -> LocatedError:
    """The error with the name of the operation in the text that broke the rule."""
    lines = text.split("\n", error.line)
    line = lines[error.line - 1] if 0 < error.line <= len(lines) else ""
    found = _NAME.match(line, max(0, error.column - 1))
    if found is None or error.message.startswith(found.group()):
        return error
    message = f"{found.group()}: {error.message}"
    return LocatedError(message, error.file, error.line, error.column, error.source_line)


_NAME = re.compile(r"(?:stablehlo|chlo|sdy)\.[\w.-]+")


def offset_of(op: Operation, positions: Mapping[Operation, int]) -> int:
    place: Operation | None = op
    while place is not None and place not in positions:
        place = place.parent_op()
    return 0 if place is None else positions[place]
