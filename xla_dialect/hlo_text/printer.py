"""Modules of the dialect as HLO text: head, tables, and the texts of their computations.

Functions become computations, the entry last among those that the text did not order. Regions
become computations of their own; where the module comes from HLO text they have the names they had,
and one that is the same in several places is printed once.

Every instruction has one result: several are a tuple, and a `get-tuple-element` takes out of it
what is used. Several carried values of a loop, and several operands of a branch, are a tuple. A
region that uses values from around it gets them as parameters (loops and branches), or copies of
them (constants, everywhere).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NoReturn, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    i64,
)
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR
from xla_dialect.attributes import CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.entry import ENTRY_LAYOUT, ENTRY_SYMBOL, kept_name
from xla_dialect.hlo_text.attributes import LAYOUT_DEPENDENT, MODULE_ATTRIBUTES
from xla_dialect.hlo_text.grammars import STACK_FRAME_TABLES
from xla_dialect.hlo_text.instruction_text import (
    NO_ATTRIBUTES,
    Attributes,
    HloPrintOptions,
    InstructionTexts,
)
from xla_dialect.hlo_text.opcodes import EMPTY, OPCODE_OF, OPCODES, Opcode
from xla_dialect.hlo_text.syntax import HloPrintError
from xla_dialect.layout import Layout, LayoutError
from xla_dialect.layouts.type_layouts import with_layout
from xla_dialect.op import XlaOp
from xla_dialect.ops.asynchronous import AsyncDoneOp, AsyncStartOp, AsyncUpdateOp
from xla_dialect.ops.collectives import process_counts
from xla_dialect.ops.control_flow import CallOp, ConditionalOp, FusionOp, ReturnOp, WhileOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.transfers import InfeedOp, RecvDoneOp
from xla_dialect.ops.tuples import GetTupleElementOp
from xla_dialect.sharding.attributes import MeshAttr, meshes_of
from xla_dialect.sharding.hlo_sharding import SHARDING_KEYWORDS
from xla_dialect.spelling import FreeNames, NoHloSpelling, SpellingError
from xla_dialect.text.literals import splat_element
from xla_dialect.text.shapes import count_list, parse_type, spell_entry_layout, spell_type
from xla_dialect.text.strings import dictionary_text
from xla_dialect.types import (
    BY_NAME,
    PRED,
    Array,
    compatible,
    flatten,
    is_scalar,
    map_leaves,
    tuple_of,
)
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import free_values


def print_hlo(module: ModuleOp, options: HloPrintOptions | None = None) -> str:
    """
    Prints a verified module of functions with operations of the dialect as HLO text.

    What was read by `read_hlo` is printed as the same module: names, attributes, order, schedule,
    metadata and layouts are kept. Raises HloPrintError, a `LocatedError`, for what HLO text cannot
    express, for example operations of other dialects.

    >>> from xla_dialect.hlo_text import print_hlo, read_hlo
    >>> module = read_hlo("ENTRY main { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }")
    >>> print(print_hlo(module).splitlines()[-2])
      ROOT %y = f32[2]{0} add(%x, %x)
    """
    options = options or HloPrintOptions()
    functions = _functions(module)
    entry = _entry(module, functions)
    order = _name_list(module.attributes.get("xla.computation_order"))
    computations = _Computations(InstructionTexts(options), functions, order)
    main = computations.functions[entry.sym_name.data]
    name = valid_name("module" if module.sym_name is None else module.sym_name.data)
    try:
        text = f"HloModule {name}{_head_attributes(module, entry, computations.by_name[main])}\n\n"
    except NoHloSpelling as error:
        _fail(module, str(error))
    if options.print_metadata:
        text += _tables(module)
    for name in _in_order(computations.by_name, order, main):
        computation = computations.by_name[name]
        marker = "ENTRY " if name == main else ""
        text += f"{marker}{computation.head(name)} {{\n{computation.text}\n\n"
    return text[:-1]


def _fail(op: Operation, message: str) -> NoReturn:
    """Raises HloPrintError at the place of an operation."""
    file, line, column = place_of(op.location) or ("<module>", 0, 0)
    raise HloPrintError(message, file, line, column)


def _functions(module: ModuleOp) -> list[FuncOp]:
    """The functions that have a body; raises HloPrintError for anything else."""
    found: list[FuncOp] = []
    for op in module.ops:
        if not isinstance(op, FuncOp):
            _fail(op, f"HLO text has no {op.name} beside computations")
        if op.body.first_block is not None:
            found.append(op)
    return found


def _entry(module: ModuleOp, functions: Sequence[FuncOp]) -> FuncOp:
    """The function that a run of the module starts with."""
    public = [
        f for f in functions if f.sym_visibility is None or f.sym_visibility.data != "private"
    ]
    named = [f for f in public if f.sym_name.data == ENTRY_SYMBOL]
    for candidates in (named, public, functions):
        if len(candidates) == 1:
            return candidates[0]
    found = ", ".join(f"@{f.sym_name.data}" for f in public or functions) or "none"
    _fail(module, f"HLO text needs one entry: @{ENTRY_SYMBOL}, or one function; found {found}")


def _tables(module: ModuleOp) -> str:
    """The stack frame tables; a blank line follows each, and one more the last."""
    text = ""
    for name, table in STACK_FRAME_TABLES.items():
        value = module.attributes.get(table.attribute)
        if isinstance(value, ArrayAttr):
            opening, closing = table.brackets
            lines = _name_list(cast("ArrayAttr[StringAttr]", value))
            rows = (f"{i} {opening}{line}{closing}\n" for i, line in enumerate(lines, 1))
            text += f"{name}\n{''.join(rows)}\n"
    return text and f"{text}\n"


def _in_order(
    computations: Mapping[str, _Computation], order: Sequence[str], entry: str
) -> Iterable[str]:
    """
    The computations in the order of the text that the module comes from, the entry last otherwise.

    A computation that is called always comes first.
    """
    found: dict[str, None] = {}
    for root in (*order, *(name for name in computations if name != entry), entry):
        pending = [root] if root in computations else []
        while pending:
            name = pending[-1]
            missing = [c for c in computations[name].callees if c not in found]
            if name in found or not missing:
                found[name] = None
                pending.pop()
            else:
                pending.extend(reversed(missing))
    return found


# The head of the module

SILENT = {
    "xla.is_scheduled": BoolAttr.from_bool(False),
    "xla.alias_passthrough_params": BoolAttr.from_bool(False),
    "xla.replica_count": IntegerAttr(1, i64),
    "xla.num_partitions": IntegerAttr(1, i64),
}
"""Values of attributes that are not printed, as they are the default."""


def _head_attributes(module: ModuleOp, entry: FuncOp, computation: _Computation) -> str:
    """The attributes after the name of the module: `, is_scheduled=true, ...`."""
    parameters = [parameter.type for parameter in computation.parameters]
    found = _of_stablehlo(module, entry) | dict(module.attributes)
    layout = found.get(ENTRY_LAYOUT)
    if isinstance(layout, StringAttr) and not _is_of(layout.data, parameters, computation.result):
        for name in (ENTRY_LAYOUT, *LAYOUT_DEPENDENT):
            found.pop(name, None)
    text = spell_entry_layout(parameters, computation.result)
    found.setdefault(ENTRY_LAYOUT, StringAttr(text))
    texts: list[str] = []
    for name, spelling in MODULE_ATTRIBUTES.items():
        (key,) = spelling.properties
        value = found.get(key)
        if value is not None and value != SILENT.get(key):
            texts.append(f", {name}={spelling.write(value)}")
    return "".join(texts)


def _is_of(layout: str, parameters: Sequence[Attribute], result: Attribute) -> bool:
    """Whether an `entry_computation_layout` is that of such a computation."""
    inputs, _, output = layout[1:-1].rpartition("->")
    try:
        return compatible(parse_type(inputs), tuple_of(parameters)) and compatible(
            parse_type(output), result
        )
    except SpellingError:
        return False


def _of_stablehlo(module: ModuleOp, entry: FuncOp) -> dict[str, Attribute]:
    """What attributes of StableHLO programs say of the module, as HLO has it."""
    replicas, partitions = process_counts(module)
    found: dict[str, Attribute] = {
        "xla.replica_count": IntegerAttr(replicas, i64),
        "xla.num_partitions": IntegerAttr(partitions, i64),
    }
    block = entry.body.block
    returned = block.last_op
    is_tuple = returned is None or len(returned.operands) != 1
    aliases: list[str] = []
    donors: list[str] = []
    for i, kept in enumerate(_dictionaries(entry.arg_attrs, len(block.args))):
        output = kept.get(ALIASING_OUTPUT)
        if isinstance(output, IntegerAttr):
            number = cast("IntegerAttr[Any]", output).value.data
            path = f"{{{number}}}" if is_tuple else "{}"
            aliases.append(f"{path}: ({i}, {{}}, may-alias)")
        elif kept.get(BUFFER_DONOR) == BoolAttr.from_bool(True):
            donors.append(f"({i}, {{}})")
    for key, entries in (("input_output_alias", aliases), ("buffer_donor", donors)):
        if entries:
            found[kept_name(key)] = StringAttr(f"{{ {', '.join(entries)} }}")
    meshes = meshes_of(module)
    if meshes:
        text = "{" + ", ".join(f"{n} = {MeshAttr(mesh)}" for n, mesh in meshes.items()) + "}"
        found["xla.frontend_attributes"] = StringAttr(dictionary_text({"xla.sdy.meshes": text}))
    return found


# Names

RESERVED = frozenset({*BY_NAME, "token", "opaque"})
"""Words that XLA reads as the beginning of a shape."""

KEYWORDS = frozenset(
    {
        *("ENTRY", "HloModule", "ROOT", "false", "inf", "nan", "true"),
        *SHARDING_KEYWORDS,
        *STACK_FRAME_TABLES,
    }
)
"""Words that cannot be names where names have no `%`."""

_VALID = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)
_INVALID_CHARACTER = re.compile(r"[^\w.\-]", re.ASCII)


def valid_name(wanted: str) -> str:
    """The name, if XLA takes it; otherwise one like it: `0` is `_0`, `a$b` `a_b`, `f32` `f32_`."""
    if _VALID.fullmatch(wanted) is not None:
        return f"{wanted}_" if wanted in RESERVED else wanted
    name = _INVALID_CHARACTER.sub("_", wanted)
    return name if _VALID.match(name) is not None else f"_{name}"


def _given_name(hint: str | None, kept: Attribute | None) -> str | None:
    """The name that a value has, if it has one: `xla.name` where it is kept, or else its hint."""
    name = kept.data if isinstance(kept, StringAttr) else hint
    return None if name is None else valid_name(name)


def _name_of(function: FuncOp) -> str:
    kept = function.attributes.get("xla.computation")
    return valid_name(kept.data if isinstance(kept, StringAttr) else function.sym_name.data)


# What the reader kept


def _entries_of(value: Attribute | None) -> Sequence[Attribute]:
    """The entries of an array attribute; none of anything else."""
    return cast("ArrayAttr[Attribute]", value).data if isinstance(value, ArrayAttr) else ()


def _name_list(value: Attribute | None) -> list[str]:
    """The strings of an array attribute; nothing else in it counts."""
    return [entry.data for entry in _entries_of(value) if isinstance(entry, StringAttr)]


def _dictionaries(value: Attribute | None, count: int) -> Sequence[Attributes]:
    """The dictionaries of an array attribute of this length; empty ones for anything else."""
    found = [entry.data for entry in _entries_of(value) if isinstance(entry, DictionaryAttr)]
    return found if len(found) == count else [NO_ATTRIBUTES] * count


# Tuples

Path: TypeAlias = tuple[int, ...]
"""Where an element is in nested tuples."""

ResultShape: TypeAlias = tuple[Attribute, Sequence[Path]]
"""What HLO has for several values, a tuple, and where each is in it; of one value itself: `()`."""


def _shape_of(types: Sequence[Attribute]) -> ResultShape:
    """The only value itself, or the tuple of the values."""
    return (
        (types[0], [()])
        if len(types) == 1
        else (tuple_of(types), [(i,) for i in range(len(types))])
    )


def _result_shape(op: Operation) -> ResultShape:
    """
    What HLO has for the results of an operation.

    Where these are the leaves of nested tuples, HLO has the nested tuples.
    """
    types = op.result_types
    if isinstance(op, InfeedOp):
        *item, token = types
        nested = tuple_of([*(item if len(item) == 1 else [tuple_of(item)]), token])
        return nested, list(_paths(nested, ()))
    if not isinstance(op, XlaOp) or any(isinstance(type_, TupleType) for type_ in types):
        return _shape_of(types)
    try:
        inferred = op.infer_types()
    except VerifyException as error:
        _fail(op, str(error))
    if len(flatten(inferred)) != len(types):
        return _shape_of(types)
    leaves = iter(types)
    nested = tuple_of(map_leaves(lambda _: next(leaves), type_) for type_ in inferred)
    return nested, list(_paths(nested, ()))


def _paths(type_: Attribute, path: Path) -> Iterator[Path]:
    if isinstance(type_, TupleType):
        for i, element in enumerate(type_.types.data):
            yield from _paths(element, (*path, i))
    else:
        yield path


# Regions


def _only_block(region: Region, op: Operation) -> Block:
    """The block of a computation; raises HloPrintError where there is not exactly one."""
    block = region.first_block
    if block is None or block.next_block is not None:
        _fail(op, f"{op.name}: HLO text has no computations of {len(region.blocks)} blocks")
    return block


def _captured_values(regions: Sequence[Region]) -> list[SSAValue]:
    """The values that regions use and do not define, but for constants, in order of first use."""
    return [value for value in free_values(*regions) if not _is_constant(value.owner)]


def _is_constant(op: Operation | Block) -> bool:
    """Whether a copy of an operation in another computation has the same value."""
    return isinstance(op, ConstantOp | IotaOp)


def _called_by(block: Block) -> str | None:
    """The function that a block calls, if it does nothing else; see `importer.py`."""
    call, last = block.first_op, block.last_op
    if (
        last is None
        or not isinstance(call, CallOp)
        or list(call.operands) != list(block.args)
        or list(last.operands) != list(call.results)
    ):
        return None
    return call.to_apply.string_value()


# Custom calls

OPERAND_LAYOUTS = "xla.operand_layouts"
RESULT_LAYOUTS = "xla.result_layouts"
CALLED_FUNCTIONS = "xla.called_computations"
TYPED_CONFIG = "mhlo.backend_config"


def _properties_and_attributes(op: CustomCallOp) -> tuple[Attributes, Attributes]:
    """The properties and the discardable attributes as the reader of HLO text would have them."""
    properties, attributes = dict(op.properties), dict(op.attributes)
    if OPERAND_LAYOUTS in attributes:
        types = _in_layouts(op, op.operand_types, OPERAND_LAYOUTS)
        text = f"{{{', '.join(map(spell_type, types))}}}"
        attributes.setdefault("xla.operand_layout_constraints", StringAttr(text))
    config = attributes.get(TYPED_CONFIG) or attributes.get("xla.backend_config")
    if isinstance(config, DictionaryAttr):
        entries = ", ".join(f"{name} = {value}" for name, value in config.data.items())
        attributes["xla.backend_config"] = StringAttr(f"{{{entries}}}")
        typed = CustomCallApiVersionAttr(CustomCallApiVersion.TYPED_FFI)
        properties.setdefault("api_version", typed)
    return properties, attributes


def _in_layouts(op: CustomCallOp, types: Sequence[Attribute], name: str) -> Sequence[Attribute]:
    """The types, arrays with the `minor_to_major` that the call says they have."""
    if not isinstance(op.attributes.get(name), ArrayAttr):
        return types
    layouts = _entries_of(op.attributes[name])
    if len(layouts) != len(types):
        _fail(op, f"{op.name}: {len(layouts)} {name.removeprefix('xla.')} for {len(types)} values")
    found: list[Attribute] = []
    for type_, entry in zip(types, layouts, strict=True):
        if isinstance(type_, TensorType) and isinstance(entry, DenseIntOrFPElementsAttr):
            numbers = cast("DenseIntOrFPElementsAttr[Any]", entry).get_values()
            try:
                type_ = with_layout(cast(Array, type_), Layout(tuple(map(int, numbers))))
            except LayoutError as error:
                _fail(op, f"{op.name}: {error}")
        found.append(cast(Attribute, type_))
    return found


# Computations


@dataclass(slots=True, eq=False)
class _Printed:
    """An instruction that has its text, as others refer to it."""

    opcode: str
    type: Attribute
    reference: str
    """How it is printed as an operand."""
    line: str
    """Empty where its uses say `%p#0` in its place."""


class _Computations:
    """The computations of a module by name, called ones before those that call them."""

    def __init__(
        self, texts: InstructionTexts, functions: Sequence[FuncOp], avoided: Sequence[str]
    ):
        """`avoided`: new names differ from these, those of the text that the module comes from."""
        self.texts = texts
        self.keywords = () if texts.options.print_percent else KEYWORDS
        """Words that cannot be names in this form."""
        self.by_name: dict[str, _Computation] = {}
        """Functions may be called before they are here."""
        self._names = FreeNames(self.keywords)
        self._avoided = frozenset(avoided)
        self._numbers = count()
        self._by_text: dict[tuple[str | None, str], str] = {}
        self.functions = {f.sym_name.data: self._free_name(_name_of(f)) for f in functions}
        """The names of the computations of functions, by symbol."""
        for function in functions:
            block = _only_block(function.body, function)
            computation = _Computation(self, block)
            try:
                kept = _dictionaries(function.arg_attrs, len(block.args))
                computation.build(kept, function.attributes)
            except NoHloSpelling as error:
                _fail(function, str(error))
            name = self.functions[function.sym_name.data]
            self.by_name[name] = computation
            self._by_text.setdefault((_name_of(function), computation.text), name)

    def add_region(
        self, name: str | None, wanted: str, computation: _Computation, may_share: bool
    ) -> str:
        """
        Adds the computation of a region, unless it is there already; returns its name.

        `name` is that of the text that the module comes from. What has none is named as `wanted`,
        and shares the computation of another region that has none either, where HLO allows that
        (`may_share`).
        """
        key = name, computation.text
        found = self._by_text.get(key) if name is not None or may_share else None
        if found is None:
            found = (
                self._free_name(wanted, self._avoided) if name is None else self._free_name(name)
            )
            self.by_name[found] = computation
            self._by_text.setdefault(key, found)
        return found

    def _free_name(self, wanted: str, avoided: Container[str] = ()) -> str:
        if self.texts.options.canonicalize_computations:
            return self._names.take(f"computation_{next(self._numbers)}")
        return self._names.take(wanted, avoided)


@dataclass
class _Computation:
    """
    One computation, whose text is made by a walk over the operations of its block, after the texts
    of the computations that these have as regions.
    """

    computations: _Computations
    block: Block
    outer: _Computation | None = None
    """That of the computation around it, if there is one."""
    parameters: list[_Printed] = field(default_factory=list[_Printed])
    lines: list[_Printed] = field(default_factory=list[_Printed])
    """All instructions, parameters too, in the order of printing."""
    waiting: dict[_Printed, int] = field(default_factory=dict[_Printed, int])
    """Parameters that stand on later lines, with these."""
    callees: dict[str, None] = field(default_factory=dict[str, None])
    """The names of the computations that it calls."""
    names: FreeNames = field(init=False)
    given: dict[Operation, str | None] = field(init=False)
    """The names that operations have."""
    reserved: Container[str | None] = ()
    """The same; others make way for them."""
    returned: Sequence[SSAValue] = ()
    root: _Printed = field(init=False)
    values: dict[SSAValue, _Printed] = field(default_factory=dict[SSAValue, _Printed])
    parts: dict[SSAValue, tuple[_Printed, Path]] = field(
        default_factory=dict[SSAValue, tuple[_Printed, Path]]
    )
    """The values that are in a tuple: results of an operation, or parameters of a block."""
    tuples: dict[_Printed, Sequence[SSAValue]] = field(
        default_factory=dict[_Printed, Sequence[SSAValue]]
    )
    """The values in these tuples."""
    elements: dict[tuple[_Printed, int], _Printed] = field(
        default_factory=dict[tuple[_Printed, int], _Printed]
    )
    """What is taken out of them already."""
    asynchronous: dict[Operation | Block, str] = field(default_factory=dict[Operation | Block, str])
    """The opcodes that the operations of `negate-start` and its like run."""
    text: str = ""
    """The lines, the closing brace and what follows that."""

    def build(
        self,
        kept_of_each: Sequence[Attributes],
        kept: Attributes,
        *,
        packed: bool = False,
        captured: Sequence[SSAValue] = (),
        hands_on: bool = False,
    ) -> None:
        """
        Makes the text of the block, which ends with a return.

        `kept_of_each`: what is kept of each parameter; `kept`: of the computation. `packed`: its
        parameters, then `captured` ones, are a tuple unless there is one; `hands_on`: the captured
        ones are returned as well, after the results.
        """
        block = self.block
        last = block.last_op
        if not isinstance(last, ReturnOp | FuncReturnOp):
            found = "nothing" if last is None else last.name
            _fail(last or _parent_of(block), f"a computation ends with {found}, not with a return")
        self.returned = [*last.operands, *(captured if hands_on else ())]
        self.names = FreeNames(self.computations.keywords)
        self.given = {
            op: _given_name(op.results[0].name_hint, op.attributes.get("xla.name"))
            for op in block.ops
            if op.results
        }
        self.reserved = frozenset(self.given.values())
        values = [*block.args, *captured]
        if packed and len(values) != 1:
            self._packed_parameter(values, kept_of_each)
        else:
            self._plain_parameters(values, kept_of_each)
        for op in block.ops:
            try:
                if op is last:
                    self.root = self.pack(self.returned)
                else:
                    self.operation(op)
            except NoHloSpelling as error:
                _fail(op, f"{op.name}: {error}")
        root = self.root
        lines = [*self.lines, *self.waiting]
        texts = [f"  ROOT {i.line}" if i is root else f"  {i.line}" for i in lines if i.line]
        closing = f"}}{self.computations.texts.trailing(kept) if kept else ''}"
        self.text = "\n".join((*texts, closing))

    @property
    def result(self) -> Attribute:
        """The type of what it returns."""
        return _shape_of([value.type for value in self.returned])[0]

    def head(self, name: str) -> str:
        """The name, and its signature."""
        texts = self.computations.texts
        if not texts.options.print_program_shape:
            return texts.percent + name
        parameters = (
            f"{p.reference.removeprefix('%')}: {texts.type(p.type, False)}" for p in self.parameters
        )
        result = texts.type(self.result, False)
        return f"{texts.percent}{name} ({', '.join(parameters)}) -> {result}"

    def name_in(self, op: Operation, number: int) -> str:
        """A name for it as a region of an operation: that of its only operation, or region."""
        root = self.root
        is_only = len(self.lines) == len(self.parameters) + 1
        if is_only and root is self.lines[-1] and "(" not in spell_type(root.type):
            return root.opcode.replace("-", "_")
        regions = OPCODE_OF[type(op)].computations[0]  # pyright: ignore[reportArgumentType]
        return f"{op.name.removeprefix('xla.')}_{regions[min(number, len(regions) - 1)]}"

    # Lines

    def _instruction(
        self,
        opcode: str,
        type_: Attribute,
        inside: str,
        attributes: str,
        given: str | None = None,
        wanted: str = "",
    ) -> _Printed:
        """`name = type opcode(inside), attributes`, with a name that is free."""
        names, texts = self.names, self.computations.texts
        name = names.take(given or wanted or opcode, () if given else self.reserved)
        if texts.options.canonicalize_instruction_names:
            name = f"tmp_{len(names.taken) - len(self.computations.keywords) - 1}"
        reference = texts.percent + name
        line = f"{reference} = {texts.type(type_)} {opcode}({inside}){attributes}"
        return _Printed(opcode, type_, reference, line)

    def _add(
        self,
        form: Opcode,
        type_: Attribute,
        operands: Sequence[_Printed],
        properties: Attributes = NO_ATTRIBUTES,
        attributes: Attributes = NO_ATTRIBUTES,
        given: str | None = None,
        called: Sequence[tuple[str, Sequence[str]]] = (),
        wanted: str = "",
        opcode: str = "",
        literal: Attribute | None = None,
        first: str = "",
    ) -> _Printed:
        """
        Adds an instruction; raises NoHloSpelling.

        `literal` stands in the place of operands; `first` are attributes that come first.
        """
        texts = self.computations.texts
        if literal is not None:
            inside = texts.literal(literal)
        elif texts.options.print_operand_shape:
            shown = [f"{texts.type(o.type)} {o.reference}" for o in operands]
            inside = count_list(shown, texts.counted)
        else:
            inside = count_list([operand.reference for operand in operands], texts.counted)
        text = first + texts.attributes(form, properties, attributes, called, self.names.taken)
        opcode = opcode or form.name
        return self._put(self._instruction(opcode, type_, inside, text, given, wanted), operands)

    def _put(self, instruction: _Printed, operands: Sequence[_Printed]) -> _Printed:
        """Puts an instruction on the next line, or behind parameters that are due."""
        if self.waiting:
            for parameter, place in list(self.waiting.items()):
                if place <= len(self.lines) or parameter in operands:
                    self.lines.append(parameter)
                    del self.waiting[parameter]
        self.lines.append(instruction)
        return instruction

    # Parameters

    def _parameter(
        self, type_: Attribute, given: str | None, wanted: str, kept: Attributes
    ) -> _Printed:
        text = self.computations.texts.common_attributes(kept, self.names.taken)
        number = str(len(self.parameters))
        found = self._instruction("parameter", type_, number, text, given, wanted)
        self.parameters.append(found)
        return found

    def _plain_parameters(self, values: Sequence[SSAValue], kept: Sequence[Attributes]) -> None:
        if len(kept) != len(values):
            kept = [NO_ATTRIBUTES] * len(values)
        for i, (value, attributes) in enumerate(zip(values, kept, strict=True)):
            given = _given_name(value.name_hint, attributes.get("xla.name"))
            self.values[value] = self._parameter(value.type, given, f"Arg_{i}", attributes)
        if any("xla.position" in attributes for attributes in kept):
            places = sorted((_position(attributes, i), i) for i, attributes in enumerate(kept))
            self.waiting = {self.parameters[i]: position for position, i in places}
        else:
            self.lines = list(self.parameters)

    def _packed_parameter(self, values: Sequence[SSAValue], kept: Sequence[Attributes]) -> None:
        """One tuple with all the values, which are taken out of it where they are used."""
        own = kept[0] if len(kept) == 1 else NO_ATTRIBUTES
        type_, paths = _shape_of([value.type for value in values])
        given = _given_name("arg_tuple", own.get("xla.name"))
        parameter = self._parameter(type_, given, "", own)
        self.lines = [parameter]
        self._bind(parameter, values, paths)

    # Operands

    def operand(self, value: SSAValue) -> _Printed:
        """The instruction that a value is here; raises NoHloSpelling where there is none."""
        return self.values.get(value) or self._resolve(value)

    def _resolve(self, value: SSAValue) -> _Printed:
        """Takes a value out of its tuple, or gets one that is defined around this block."""
        if value in self.parts:
            known = self.values[value] = self._element(*self.parts[value], value)
            return known
        owner = value.owner
        if self.outer is not None and isinstance(owner, Operation) and _is_constant(owner):
            self.operation(owner)
            return self.values[value]
        user = owner if isinstance(owner, Operation) else _parent_of(owner)
        raise NoHloSpelling(
            f"uses a value of {user.name} around its computation, which HLO cannot express"
        )

    def _element(self, whole: _Printed, path: Path, value: SSAValue) -> _Printed:
        """The element of a tuple, taken out the first time it is asked for."""
        for depth, index in enumerate(path, 1):
            known = self.elements.get((whole, index))
            if known is None:
                is_last = depth == len(path)
                name = _given_name(value.name_hint, None) if is_last else None
                type_ = cast(TupleType, whole.type).types.data[index]
                is_root = is_last and list(self.returned) == [value]
                known = self._taken_out(type_, whole, index, name, has_line=is_root)
                self.elements[whole, index] = known
            whole = known
        return whole

    def _taken_out(
        self,
        type_: Attribute,
        whole: _Printed,
        index: int,
        name: str | None = None,
        *,
        has_line: bool = False,
    ) -> _Printed:
        """Element `index` of a tuple: an instruction, or `%p#0` unless it `has_line`."""
        form = OPCODES["get-tuple-element"]
        if self.computations.texts.options.print_tuple_indices and not has_line:
            reference = f"{whole.reference}#{index}"
            return self._put(_Printed(form.name, type_, reference, ""), [whole])
        properties = {"index": IntegerAttr(index, i64)}
        return self._add(form, type_, [whole], properties, wanted=name or "")

    def pack(self, values: Sequence[SSAValue]) -> _Printed:
        """The only value, or the tuple of the values."""
        if len(values) == 1:
            return self.operand(values[0])
        whole = self.parts[values[0]][0] if values and values[0] in self.parts else None
        if whole is not None and list(self.tuples[whole]) == list(values):
            return whole
        operands = [self.operand(value) for value in values]
        type_ = tuple_of([value.type for value in values])
        return self._add(OPCODES["tuple"], type_, operands)

    def _packed_operands(self, op: Operation, opcode: Opcode) -> list[_Printed]:
        """The operands, those that are a single one in HLO as a tuple."""
        values = op.operands
        if not opcode.difference.packed:
            known = self.values
            return [known.get(value) or self._resolve(value) for value in values]
        operands: list[_Printed] = []
        places = opcode.operation.contract().structure.operands.segments(len(values))
        for name, place in places.items():
            group = values[place] if isinstance(place, slice) else [values[cast(int, place)]]
            is_packed = name in opcode.difference.packed
            operands += [self.pack(group)] if is_packed else map(self.operand, group)
        return operands

    # Instructions

    def operation(self, op: Operation) -> None:
        """Adds the instructions of an operation; raises NoHloSpelling or HloPrintError."""
        special = _SPECIAL.get(type(op))
        if special is None:
            self._regular(op)
        else:
            special(self, op)

    def _regular(self, op: Operation) -> None:
        form = OPCODE_OF.get(type(op))  # pyright: ignore[reportArgumentType]
        if form is None:
            _fail(op, f"HLO text has no operation {op.name}")
        called = self._regions(op) if op.regions else ()
        self._define(op, form, self._packed_operands(op, form), called=called)

    def _define(
        self,
        op: Operation,
        form: Opcode,
        operands: Sequence[_Printed],
        shape: ResultShape | None = None,
        properties: Attributes | None = None,
        attributes: Attributes | None = None,
        called: Sequence[str] = (),
        opcode: str = "",
        literal: Attribute | None = None,
        first: str = "",
    ) -> None:
        """
        Adds the instruction for an operation, whose results are known from then on.

        `shape`: what HLO has for the results, if that is not what `_result_shape` says.
        """
        results = op.results
        # A token alone may be the leaves of `((), token[])`.
        if shape is None and (len(results) != 1 or type(op) is RecvDoneOp):
            shape = _result_shape(op)
        instruction = self._add(
            form,
            results[0].type if shape is None else shape[0],
            operands,
            op.properties if properties is None else properties,
            op.attributes if attributes is None else attributes,
            self.given.get(op),
            self._naming(op, form, called) if called else (),
            *("", opcode, literal, first),
        )
        if shape is None:
            self.values[results[0]] = instruction
        else:
            self._bind(instruction, results, shape[1])

    def _bind(self, whole: _Printed, values: Sequence[SSAValue], paths: Sequence[Path]) -> None:
        """Notes where values are in a tuple; behind the results there may be captured ones."""
        self.tuples[whole] = values if len(values) == len(paths) else ()
        for value, path in zip(values, paths, strict=False):
            self.parts[value] = whole, path

    # Operations that HLO has in another form

    def constant(self, op: ConstantOp) -> None:
        element = splat_element(op.value)
        form = OPCODES["constant"]
        if element is None:
            self._define(op, form, (), literal=op.value)
            return
        scalar = self._add(form, element.type, (), literal=element)
        self._define(op, OPCODES["broadcast"], [scalar], properties={"dimensions": EMPTY})

    def get_tuple_element(self, op: GetTupleElementOp) -> None:
        """It has no line of its own where its uses say `%p#0` in its place."""
        last = self.block.last_op
        if (
            self.computations.texts.options.print_tuple_indices
            and set(op.attributes) <= {"xla.name"}
            and all(use.operation is not last for use in op.result.uses)
        ):
            whole = self.operand(op.operand)
            self.values[op.result] = self._taken_out(op.result.type, whole, op.index.value.data)
        else:
            self._regular(op)

    def call(self, op: CallOp | FuncCallOp) -> None:
        symbol = op.to_apply if isinstance(op, CallOp) else op.callee
        called = self._function(symbol.string_value(), op)
        operands = [self.operand(operand) for operand in op.operands]
        self._define(op, OPCODES["call"], operands, called=[called])

    def _function(self, symbol: str, op: Operation) -> str:
        """The name of the computation of a function."""
        name = self.computations.functions.get(symbol)
        if name is None:
            _fail(op, f"{op.name}: there is no function @{symbol} with a body")
        return name

    def custom_call(self, op: CustomCallOp) -> None:
        called = self._regions(op)
        for entry in _entries_of(op.attributes.get(CALLED_FUNCTIONS)):
            if isinstance(entry, SymbolRefAttr):
                called.append(self._function(entry.string_value(), op))
        operands = [self.operand(operand) for operand in op.operands]
        result = _shape_of(_in_layouts(op, op.result_types, RESULT_LAYOUTS))
        form = OPCODES["custom-call"]
        self._define(op, form, operands, result, *_properties_and_attributes(op), called=called)

    def while_loop(self, op: WhileOp) -> None:
        captured = _captured_values(op.regions)
        init = self.pack([*op.init, *captured])
        called = self._regions(op, [captured] * len(op.regions))
        carried = _shape_of([*op.result_types, *(value.type for value in captured)])
        self._define(op, OPCODES["while"], [init], carried if captured else None, called=called)

    def conditional(self, op: ConditionalOp) -> None:
        operands = [self.operand(op.branch_index)]
        given = iter(op.branch_operands)
        captures = [_captured_values([region]) for region in op.regions]
        for region, captured in zip(op.regions, captures, strict=True):
            own = [next(given) for _ in region.block.args]
            operands.append(self.pack([*own, *captured]))
        called = self._regions(op, captures)
        self._define(op, OPCODES["conditional"], operands, called=called)

    # Asynchronous operations

    def start(self, op: AsyncStartOp) -> None:
        """As `negate-start`, where it runs one operation, on the start's operands."""
        block = op.calls.block
        inner, last = block.first_op, block.last_op
        form = OPCODE_OF.get(type(inner))  # pyright: ignore[reportArgumentType]
        if (
            "xla.computations" in op.attributes
            or not self.computations.texts.options.syntax_sugar_async_ops
            or inner is None
            or last is None
            or inner.next_op is not last
            or len(op.results) != 1
            or form is None
            or f"{form.name}-start" in OPCODES
            or isinstance(inner, ConstantOp | WhileOp | ConditionalOp)
            or list(inner.operands) != list(block.args)
            or list(last.operands) != list(inner.results)
        ):
            self._regular(op)
            return
        operands = [self.operand(operand) for operand in op.operands]
        if isinstance(inner, CallOp):
            called = [self._function(inner.to_apply.string_value(), inner)]
        else:
            called = self._regions(inner)
        first = self.computations.texts.attributes(
            form,
            inner.properties,
            inner.attributes,
            self._naming(inner, form, called) if called else (),
            self.names.taken,
        )
        self.asynchronous[op] = form.name
        start = OPCODES["async-start"]
        self._define(op, start, operands, opcode=f"{form.name}-start", first=first)

    def later_part(self, op: AsyncUpdateOp | AsyncDoneOp) -> None:
        form = OPCODE_OF[type(op)]
        held = len(op.operands) - op.bound.value.data
        late = [self.operand(operand) for operand in op.operands[held:]]
        operands = [self.pack(op.operands[:held]), *late]
        context, shape = op.operands[0], None
        if isinstance(op, AsyncUpdateOp) and context in self.parts:
            # The context of an update is that of its operand, nested or not.
            whole = self.parts[context][0]
            shape = whole.type, [self.parts[value][1] for value in self.tuples[whole]]
        base = self.asynchronous.get(context.owner)
        opcode = ""
        if base is not None:
            self.asynchronous[op] = base
            opcode = base + form.name.removeprefix("async")
        self._define(op, form, operands, shape, opcode=opcode)

    # Computations

    def _regions(
        self, op: Operation, captures: Sequence[Sequence[SSAValue]] | None = None
    ) -> list[str]:
        """
        Makes computations of the regions of an operation; returns their names.

        `captures`: of loops and branches, the values from around it that each region takes.
        """
        regions, attributes = op.regions, op.attributes
        names: Sequence[str | None] = _name_list(attributes.get("xla.computations"))
        if len(names) != len(regions):
            names = [None] * len(regions)
        parameters: Sequence[Attribute | None] = _entries_of(attributes.get("xla.parameters"))
        if len(parameters) != len(regions):
            parameters = [None] * len(regions)
        kept = _dictionaries(attributes.get("xla.computation_attributes"), len(regions))
        packed = captures is not None
        may_share = not packed and not isinstance(op, FusionOp | AsyncStartOp)
        found: list[str] = []
        for i, (region, name) in enumerate(zip(regions, names, strict=True)):
            block = _only_block(region, op)
            captured = captures[i] if captures else ()
            called = _called_by(block) if packed and not captured else None
            if called is not None and name in (called, self.computations.functions.get(called)):
                found.append(self._function(called, op))
                continue
            computation = _Computation(self.computations, block, self)
            hands_on = i == 1 and isinstance(op, WhileOp)
            kept_of_each = _dictionaries(parameters[i], len(_entries_of(parameters[i])))
            computation.build(
                kept_of_each, kept[i], packed=packed, captured=captured, hands_on=hands_on
            )
            wanted = computation.name_in(op, i)
            found.append(self.computations.add_region(name, wanted, computation, may_share))
        return found

    def _naming(
        self, op: Operation, form: Opcode, called: Sequence[str]
    ) -> Sequence[tuple[str, Sequence[str]]]:
        """The attributes that name the computations, which are callees from then on."""
        self.callees.update(dict.fromkeys(called))
        is_pred = isinstance(op, ConditionalOp) and is_scalar(op.branch_index.type, PRED)
        attributes = form.computations[is_pred]
        if len(attributes) == 1:
            return [(attributes[0], called)]
        return [(name, [one]) for name, one in zip(attributes, called, strict=True)]


_SPECIAL: Mapping[type[Operation], Callable[[_Computation, Any], None]] = {
    ConstantOp: _Computation.constant,
    CallOp: _Computation.call,
    FuncCallOp: _Computation.call,
    WhileOp: _Computation.while_loop,
    ConditionalOp: _Computation.conditional,
    CustomCallOp: _Computation.custom_call,
    GetTupleElementOp: _Computation.get_tuple_element,
    AsyncStartOp: _Computation.start,
    AsyncUpdateOp: _Computation.later_part,
    AsyncDoneOp: _Computation.later_part,
}


def _parent_of(block: Block) -> Operation:
    parent = block.parent_op()
    assert parent is not None  # only blocks of operations are printed
    return parent


def _position(kept: Attributes, number: int) -> int:
    """The line on which a parameter stands."""
    found = kept.get("xla.position")
    return cast("IntegerAttr[Any]", found).value.data if isinstance(found, IntegerAttr) else number
