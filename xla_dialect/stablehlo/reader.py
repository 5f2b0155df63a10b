"""The entry point: StableHLO text to a module of the `xla` dialect."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    DictionaryAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnknownLoc,
)
from xdsl.dialects.func import Func, FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from xla_dialect.diagnostics import LocatedError, line_at
from xla_dialect.mlir_text import (
    LocatingParser,
    RecoveringParser,
    Resources,
    parser_of,
    recovered,
    resolve_resources,
)
from xla_dialect.ops import XLA
from xla_dialect.quantized_types import QUANT, has_quantized, has_quantized_arrays
from xla_dialect.self_checking import CHECK, INTERPRETER
from xla_dialect.sharding.attributes import ATTRIBUTES as SHARDING_ATTRIBUTES
from xla_dialect.sharding.attributes import MESH
from xla_dialect.stablehlo.attributes import ATTRIBUTES, CHLO_ATTRIBUTES, MhloFusionKindAttr
from xla_dialect.stablehlo.conversion import (
    Conversion,
    rules_of,
    takes_dynamic,
)
from xla_dialect.stablehlo.op import SourceError, StableHloOp, UnknownShape
from xla_dialect.stablehlo.ops import LazyDialect, operation_named
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.verification import InvalidProgram, Sources, invalid_program, verify, violations
from xla_dialect.xdsl.linking import release
from xla_dialect.xdsl.traversal import deep_recursion, operations_in

if TYPE_CHECKING:
    from xla_dialect.stablehlo.quantization.conversion import QuantizedConversion

ArithmeticName: TypeAlias = Literal["float", "integer"]
"""With what quantized operations compute: as they are defined, or in integers."""

STABLEHLO = LazyDialect("stablehlo", [], list(ATTRIBUTES))
CHLO = LazyDialect("chlo", [], list(CHLO_ATTRIBUTES))
SHARDY = LazyDialect("sdy", [], list(SHARDING_ATTRIBUTES))
MHLO = LazyDialect("mhlo", [], [MhloFusionKindAttr])

_SHAPES = tuple(map(LazyDialect, ("arith", "shape", "tensor")))
"""What makes shapes."""


class ReadingContext(Context):
    """A context that loads families of operations as they are asked for."""

    def load_lazy(self, dialect: LazyDialect) -> None:
        """Loads the attributes of a dialect."""
        self._loaded_dialects[dialect.name] = dialect
        for attribute in dialect.attributes:
            self.load_attr_or_type(attribute)

    def _get_known_op(self, name: str) -> type[Operation] | None:
        found = super()._get_known_op(name) or operation_named(name)
        if found is not None:
            self._loaded_ops[name] = found
        return found

    def clone(self) -> ReadingContext:
        """A context with the same dialects."""
        return ReadingContext(**{name: copy(value) for name, value in vars(self).items()})


@deep_recursion()
def read_stablehlo(
    text: str,
    file_name: str = "<input>",
    argument_types: Sequence[Attribute] | None = None,
    *,
    places: dict[Operation, LocationAttr] | None = None,
    given: Resources | None = None,
    parser_class: type[StableHloParser] = StableHloParser,
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

    >>> from xla_dialect.stablehlo import read_stablehlo
    >>> body = "%y = stablehlo.negate %x : tensor<f32> return %y : tensor<f32>"
    >>> print(read_stablehlo("func.func @main(%x: tensor<f32>) -> tensor<f32> { " + body + " }"))
    builtin.module {
      func.func @main(%x: tensor<f32>) -> tensor<f32> {
        %y = xla.negate %x : tensor<f32>
        func.return %y : tensor<f32>
      }
    }
    """
    with parser_of(text, make_reading_context(), file_name, parser_class) as parser:
        module = parser.parse_module()
    _resolve(module, parser, given)
    return legalized(module, parser.places, {file_name: text}, argument_types, places)


def _resolve(module: ModuleOp, parser: LocatingParser, given: Resources | None = None) -> None:
    if "dense_resource<" in parser.lexer.input.content:
        resolve_resources(module, parser, given)


def legalized(
    module: ModuleOp,
    known_places: Mapping[Operation, LocationAttr],
    sources: Sources,
    argument_types: Sequence[Attribute] | None = None,
    places: dict[Operation, LocationAttr] | None = None,
    *,
    is_kept: bool = False,
) -> ModuleOp:
    """
    What `read_stablehlo` returns, for a module of StableHLO that takes its place.

    `known_places`: where operations stand whose own location says something else. `sources`: the
    text, if the module is from one. Unless it `is_kept`, the module is taken apart. Raises
    LocatedError.
    """
    try:
        flatten_modules(module)
        may_be_quantized = not sources or any("!quant." in text for text in sources.values())
        quantized = may_be_quantized and has_quantized_arrays(module)
        make = _quantized_conversion() if quantized else Conversion
        conversion = make(known_places)
        result = None
        if argument_types is not None or not takes_dynamic_arguments(module):
            with suppress(UnknownShape):
                result = conversion.module(module, argument_types)
        is_resolved = result is not None and (argument_types is not None or not quantized)
        if not is_resolved or (argument_types is None and conversion.refines):
            _verify_unresolved(module, conversion, sources)
        if result is not None:
            verify(result, sources, mixes_precisions=False)
    except SourceError as error:
        raise _located(error, known_places, sources) from None
    except InvalidProgram as error:
        raise naming_the_source(error, sources) from None
    if result is None or not is_resolved:
        return module
    for op, location in conversion.explicit_locations.items():
        if places is not None:
            places[op] = op.location
        op.location = location
    if not is_kept:
        release(module)
    return result


def _verify_unresolved(module: ModuleOp, conversion: Conversion, sources: Sources) -> None:
    """
    Verifies a program that stays StableHLO by the rules of its classes, as far as sizes are known.

    Raises SourceError and InvalidProgram.
    """
    for op in operations_in(module):
        blocks = [block for region in op.regions for block in region.blocks]
        for value in (*op.results, *(argument for block in blocks for argument in block.args)):
            with suppress(UnknownShape):
                conversion.type(value.type, op)
        if isinstance(op, StableHloOp) and has_quantized([*op.operand_types, *op.result_types]):
            with rules_of(op):
                _quantized_conversion().check(op)
    verify(module, sources, mixes_precisions=False, has_unknown_sizes=True)


def _quantized_conversion() -> type[QuantizedConversion]:
    """Few programs have quantized arrays: others do not load it."""
    from xla_dialect.stablehlo.quantization.conversion import QuantizedConversion  # noqa: PLC0415

    return QuantizedConversion


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
    conversion = _quantized_conversion()({}, arithmetic)
    try:
        flatten_modules(module)
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
    return any(
        isinstance(op, StableHloOp) or op.name.startswith("sdy.") for op in operations_in(module)
    )


def make_reading_context() -> Context:
    """A context for a text, which may add operations and attributes that nobody knows."""
    return _common_context().clone()


@cache
def _common_context() -> ReadingContext:
    """What all texts share, to be cloned: loading a dialect takes longer than a short text."""
    context = ReadingContext(allow_unregistered=True)
    for dialect in (Builtin, Func, XLA, QUANT, CHECK, INTERPRETER):
        context.load_dialect(dialect)
    for dialect in (STABLEHLO, CHLO, MHLO, SHARDY, *_SHAPES):
        context.load_lazy(dialect)
    return context


def _located(
    error: SourceError, places: Mapping[Operation, LocationAttr], sources: Sources
) -> LocatedError:
    """The error at the place of its operation, or of one around it that is in the text."""
    op = error.op
    while isinstance(places.get(op, op.location), UnknownLoc) and op.parent_op() is not None:
        op = cast(Operation, op.parent_op())
    return invalid_program(op, str(error), sources, places.get(op))


def naming_the_source(error: InvalidProgram, sources: Sources) -> LocatedError:
    """The error with the name of the operation in the text that broke the rule."""
    line = line_at(sources.get(error.file, ""), error.line)
    found = _NAME.match(line, max(0, error.column - 1))
    if found is None or error.message.startswith(found.group()):
        return error
    message = f"{found.group()}: {error.message}"
    return LocatedError(message, error.file, error.line, error.column, error.source_line)


_NAME = re.compile(r"(?:stablehlo|chlo|sdy)\.[\w.-]+")


def flatten_modules(module: ModuleOp) -> None:
    """
    Puts what is in the modules inside of a module into that.

    A module that is all there is in another is the program. Of others each is one: its `main` gets
    the name of its module; other functions keep theirs, behind that of their module where there is
    one of their name. Raises SourceError for modules that say different things of a program.
    """
    inner = [op for op in module.ops if isinstance(op, ModuleOp)]
    if not inner:
        return
    is_all = len(inner) == len(list(module.ops)) == 1
    taken = {name for op in module.ops if (name := _name_of(op)) and not isinstance(op, ModuleOp)}
    for each in inner:
        flatten_modules(each)
        names = dict[str, str]() if is_all else _new_names(each, taken)
        _rename(each, names)
        _merge_attributes(module, each)
        for op in list(each.ops):
            if not (op.name == MESH and _is_there(op, module)):
                op.detach()
                module.body.block.insert_op_before(op, each)
        taken.update(names.values())
        each.detach()
        if is_all and module.sym_name is None:
            module.properties.update(each.properties)


def _name_of(op: Operation) -> str:
    name = op.properties.get("sym_name")
    return name.data if isinstance(name, StringAttr) else ""


def _new_names(module: ModuleOp, taken: set[str]) -> dict[str, str]:
    """The names of functions where the modules around have some names already."""
    own = _name_of(module) or "module"
    names: dict[str, str] = {}
    for op in module.ops:
        name = _name_of(op)
        if name and op.name != MESH:
            found = own if name == "main" else name
            number = 0
            while found in taken or found in names.values():
                found = f"{own}.{name}" + (f".{number}" if number else "")
                number += 1
            names[name] = found
    return names


def _rename(module: ModuleOp, names: Mapping[str, str]) -> None:
    for op in module.ops:
        new = names.get(_name_of(op))
        if new is not None:
            op.properties["sym_name"] = StringAttr(new)
    if all(old == new for old, new in names.items()):
        return
    for op in operations_in(module):
        for entries in (op.properties, op.attributes):
            for key, value in entries.items():
                entries[key] = _renamed(value, names)


def _renamed(value: Attribute, names: Mapping[str, str]) -> Attribute:
    """An attribute with other names of functions in it."""
    if isinstance(value, SymbolRefAttr):
        root = value.root_reference.data
        return SymbolRefAttr(names.get(root, root), value.nested_references)
    if isinstance(value, ArrayAttr):
        return ArrayAttr(_renamed(each, names) for each in cast("ArrayAttr[Attribute]", value).data)
    if isinstance(value, DictionaryAttr):
        return DictionaryAttr({key: _renamed(each, names) for key, each in value.data.items()})
    return value


def _merge_attributes(module: ModuleOp, inner: ModuleOp) -> None:
    for name, value in inner.attributes.items():
        found = module.attributes.setdefault(name, value)
        if found != value:
            raise SourceError(inner, f"{name} is {value} here, {found} in another module")


def _is_there(op: Operation, module: ModuleOp) -> bool:
    return any(other.properties == op.properties for other in module.ops if other.name == MESH)


class _Parser(RecoveringParser, StableHloParser):
    """Reads StableHLO, and goes on after errors."""


def errors_of_stablehlo(
    text: str, file_name: str = "<input>"
) -> tuple[list[LocatedError], dict[int, Sequence[SSAValue]]]:
    """
    All errors of a program in StableHLO, as far as reading can go on after one.

    With them the values as parsed, by the offset of the names that define them. What
    `read_stablehlo` accepts has no errors.
    """
    context = make_reading_context()
    module, errors, parser = recovered(_Parser, context, text, file_name)
    if module is None or parser is None:
        return errors, {} if parser is None else parser.values
    sources = {file_name: text}
    try:
        _resolve(module, parser)
        legalized(module, parser.places, sources, is_kept=True)
    except LocatedError as first:
        found = violations(module, sources, mixes_precisions=False, has_unknown_sizes=True)
        errors = [naming_the_source(error, sources) for error in found]
        if all((error.line, error.column) != (first.line, first.column) for error in errors):
            errors = [first, *errors]
    return errors, parser.values
