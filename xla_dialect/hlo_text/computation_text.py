"""The texts of computations, made by one walk over the operations of a block.

Every instruction has one result: several are a tuple, and a `get-tuple-element` takes out of it
what is used. Computations are named, not nested. Several carried values of a loop, and several
operands of a branch, are a tuple. A region that uses values from around it gets them as parameters
(loops and branches), or copies of them (constants, everywhere).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    i64,
)
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Operation,
    OpResult,
    Region,
    SSAValue,
)
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.hlo_text.grammars import STACK_FRAME_TABLES
from xla_dialect.hlo_text.instruction_text import (
    NO_ATTRIBUTES,
    Attributes,
    Called,
    InstructionTexts,
)
from xla_dialect.hlo_text.opcodes import EMPTY, OPCODE_OF, OPCODES, Opcode
from xla_dialect.hlo_text.syntax import HloPrintError
from xla_dialect.layout import Layout, LayoutAttr, LayoutError
from xla_dialect.op import XlaOp
from xla_dialect.ops.asynchronous import AsyncDoneOp, AsyncStartOp, AsyncUpdateOp
from xla_dialect.ops.control_flow import CallOp, ConditionalOp, FusionOp, ReturnOp, WhileOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.transfers import InfeedOp, RecvDoneOp
from xla_dialect.ops.tuples import GetTupleElementOp
from xla_dialect.sharding.hlo_sharding import SHARDING_KEYWORDS
from xla_dialect.spelling import FreeNames, NoHloSpelling
from xla_dialect.text.literals import splat_element
from xla_dialect.text.shapes import count_list, spell_type
from xla_dialect.types import BY_NAME, PRED, Array, flatten, is_scalar, map_leaves, tuple_of
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import free_values

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


def given_name(hint: str | None, kept: Attribute | None) -> str | None:
    """The name that a value has, if it has one: `xla.name` where it is kept, or else its hint."""
    name = kept.data if isinstance(kept, StringAttr) else hint
    return None if name is None else valid_name(name)


def fail(op: Operation, message: str) -> NoReturn:
    """Raises HloPrintError at the place of an operation."""
    file, line, column = place_of(op.location) or ("<module>", 0, 0)
    raise HloPrintError(message, file, line, column)


@dataclass(slots=True, eq=False)
class Printed:
    """An instruction that has its text, as others refer to it."""

    opcode: str
    type: Attribute
    name: str
    reference: str
    """How it is printed as an operand."""
    line: str
    """Empty where its uses say `%p#0` in its place."""


class ComputationTexts:
    """The computations of a module by name, called ones before those that call them."""

    def __init__(self, texts: InstructionTexts, avoided: Sequence[str] = ()):
        """`avoided`: new names differ from these, those of the text that the module comes from."""
        options = texts.options
        self.texts = texts
        self.keywords = () if options.print_percent else KEYWORDS
        """Words that cannot be names in this form."""
        self.by_name: dict[str, ComputationText] = {}
        """Functions may be called before they are here."""
        self.functions: dict[str, str] = {}
        """The names of the computations of functions, by symbol."""
        self.regions: dict[tuple[object, ...], str] = {}
        """The names of the computations of regions, by all that their texts depend on."""
        self._names = FreeNames(self.keywords)
        self._avoided = frozenset(avoided)
        self._are_numbered = options.canonicalize_computations
        self._numbers = count()
        self._by_text: dict[tuple[str | None, str], str] = {}

    def declare(self, symbol: str, name: str) -> None:
        """Names the computation of a function, before any is made."""
        self.functions[symbol] = self._free_name(name)

    def add_function(self, function: FuncOp, name: str) -> None:
        """Adds the computation of a function that is declared."""
        block = only_block(function.body, function)
        kept = dictionaries(function.arg_attrs, len(block.args))
        try:
            for argument in block.args:
                spell_type(argument.type)  # What is no type of HLO is said before what uses it.
            computation = ComputationText(self, block)
            computation.build(kept, function.attributes)
        except NoHloSpelling as error:
            fail(function, str(error))
        taken = self.functions[function.sym_name.data]
        self.by_name[taken] = computation
        self._by_text.setdefault((name, computation.text), taken)

    def add_region(
        self,
        name: str | None,
        computation: ComputationText,
        make_name: Callable[[], str],
        may_share: bool,
    ) -> str:
        """
        Adds the computation of a region, unless it is there already; returns its name.

        `name` is that of the text that the module comes from. What has none shares the computation
        of another region that has none either, where HLO allows that (`may_share`).
        """
        text = computation.text
        found = self._by_text.get((name, text)) if name is not None or may_share else None
        if found is None:
            new = name is None
            found = self._free_name(make_name() if new else name, self._avoided if new else ())
            self.by_name[found] = computation
            self._by_text.setdefault((name, text), found)
        return found

    def _free_name(self, wanted: str, avoided: Container[str] = ()) -> str:
        if self._are_numbered:
            wanted, avoided = f"computation_{next(self._numbers)}", ()
        return self._names.take(wanted, avoided)


# Tuples

Path = tuple[int, ...]
"""Where an element is in nested tuples."""


@dataclass(frozen=True)
class ResultShape:
    """What HLO has for several values: a tuple, or the value itself where the path is empty."""

    type: Attribute
    paths: Sequence[Path]
    """Where each of the values is in it."""


def _flat_shape(type_: TupleType) -> ResultShape:
    """A tuple whose elements are the values."""
    return ResultShape(type_, [(i,) for i in range(len(type_.types.data))])


def _shape_of(types: Sequence[Attribute]) -> ResultShape:
    """The only value itself, or the tuple of the values."""
    return ResultShape(types[0], [()]) if len(types) == 1 else _flat_shape(tuple_of(types))


def _result_shape(op: Operation) -> ResultShape:
    """
    What HLO has for the results of an operation.

    Where these are the leaves of nested tuples, HLO has the nested tuples.
    """
    types = op.result_types
    if isinstance(op, InfeedOp):
        *item, token = types
        items = item if len(item) == 1 else [tuple_of(item)]
        return ResultShape(nested := tuple_of([*items, token]), list(_paths(nested, ())))
    flat = _shape_of(types)
    if not isinstance(op, XlaOp) or any(isinstance(type_, TupleType) for type_ in types):
        return flat
    try:
        inferred = op.infer_types()
    except VerifyException as error:
        fail(op, str(error))
    if len(flatten(inferred)) != len(types):
        return flat
    leaves = iter(types)
    nested = tuple_of(map_leaves(lambda _: next(leaves), type_) for type_ in inferred)
    return ResultShape(nested, list(_paths(nested, ())))


def _paths(type_: Attribute, path: Path) -> Iterator[Path]:
    if isinstance(type_, TupleType):
        for i, element in enumerate(type_.types.data):
            yield from _paths(element, (*path, i))
    else:
        yield path


# Captured values


def _captured_values(regions: Sequence[Region]) -> list[SSAValue]:
    """The values that regions use and do not define, but for constants, in order of first use."""
    return [value for value in free_values(*regions) if not _is_constant(value.owner)]


def _is_constant(op: Operation | Block) -> bool:
    """Whether a copy of an operation in another computation has the same value."""
    return isinstance(op, ConstantOp | IotaOp)


# Regions


def only_block(region: Region, op: Operation) -> Block:
    """The block of a computation; raises HloPrintError where there is not exactly one."""
    block = region.first_block
    if block is None or block.next_block is not None:
        fail(op, f"{op.name}: HLO text has no computations of {len(region.blocks)} blocks")
    return block


def _parent_of(block: Block) -> Operation:
    parent = block.parent_op()
    assert parent is not None  # only blocks of operations are printed
    return parent


def _fingerprint(block: Block) -> tuple[object, ...] | None:
    """
    A key that is equal for blocks that print the same, made faster than by printing them.

    Attributes and types count as equal only if they are one object, so it holds as long as the
    module does. None where there are regions inside, or values from around the block are used.
    """
    numbers: dict[SSAValue, int] = {}
    parts: list[object] = []
    for argument in block.args:
        numbers[argument] = len(numbers)
        parts += (id(argument.type), argument.name_hint)
    for op in block.ops:
        if op.regions:
            return None
        parts.append(type(op))
        for operand in op.operands:
            number = numbers.get(operand)
            if number is None:
                return None
            parts.append(number)
        for attributes in (op.properties, op.attributes):
            if attributes:
                parts += attributes
                parts += map(id, attributes.values())
        for result in op.results:
            numbers[result] = len(numbers)
            parts += (id(result.type), result.name_hint)
    return tuple(parts)


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


# What the reader kept


def entries_of(value: Attribute | None) -> Sequence[Attribute]:
    """The entries of an array attribute; none of anything else."""
    return cast("ArrayAttr[Attribute]", value).data if isinstance(value, ArrayAttr) else ()


def name_list(value: Attribute | None) -> list[str]:
    """The strings of an array attribute; nothing else in it counts."""
    return [entry.data for entry in entries_of(value) if isinstance(entry, StringAttr)]


def dictionaries(value: Attribute | None, count: int) -> Sequence[Attributes]:
    """The dictionaries of an array attribute of this length; empty ones for anything else."""
    found = [entry.data for entry in entries_of(value) if isinstance(entry, DictionaryAttr)]
    return found if len(found) == count else [NO_ATTRIBUTES] * count


def _kept_of_parameters(value: Attribute | None, count: int) -> Sequence[Sequence[Attributes]]:
    """What is kept of the parameters of every region, from `xla.parameters`."""
    found = [
        dictionaries(cast(Attribute, entry), len(entries_of(cast(Attribute, entry))))
        for entry in entries_of(value)
        if isinstance(entry, ArrayAttr)
    ]
    return found if len(found) == count else [() for _ in range(count)]


# Custom calls

OPERAND_LAYOUTS = "xla.operand_layouts"
RESULT_LAYOUTS = "xla.result_layouts"
CALLED_FUNCTIONS = "xla.called_computations"
TYPED_CONFIG = "mhlo.backend_config"


def _properties_and_attributes(op: CustomCallOp) -> tuple[Attributes, Attributes]:
    """The properties and the discardable attributes as the reader of HLO text would have them."""
    properties, attributes = dict(op.properties), dict(op.attributes)
    if OPERAND_LAYOUTS in attributes:
        types = _in_layouts(op, [operand.type for operand in op.operands], OPERAND_LAYOUTS)
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
    """The types with the layouts that the call says they have."""
    if not isinstance(op.attributes.get(name), ArrayAttr):
        return types
    layouts = entries_of(op.attributes[name])
    if len(layouts) != len(types):
        fail(op, f"{op.name}: {len(layouts)} {name.removeprefix('xla.')} for {len(types)} values")
    return [_in_layout(op, type_, entry) for type_, entry in zip(types, layouts, strict=True)]


def _in_layout(op: CustomCallOp, type_: Attribute, layout: Attribute) -> Attribute:
    """The array type with `minor_to_major` as its layout; any other type itself."""
    if not isinstance(type_, TensorType) or not isinstance(layout, DenseIntOrFPElementsAttr):
        return cast(Attribute, type_)
    array = cast(Array, type_)
    numbers = cast("DenseIntOrFPElementsAttr[Any]", layout).get_values()
    found = Layout(tuple(int(number) for number in numbers))
    try:
        found.validate(array.get_shape())
    except LayoutError as error:
        fail(op, f"{op.name}: {error}")
    encoding = NoneAttr() if found.is_default else LayoutAttr(found)
    return TensorType(array.element_type, array.get_shape(), encoding)


@dataclass
class ComputationText:
    """
    One computation, whose text is made after those of the computations that its operations have as
    regions.
    """

    computations: ComputationTexts
    block: Block
    outer: ComputationText | None = None
    """That of the computation around it, if there is one."""
    parameters: list[Printed] = field(default_factory=list[Printed])
    lines: list[Printed] = field(default_factory=list[Printed])
    """All instructions, parameters too, in the order of printing."""
    waiting: list[tuple[int, Printed]] = field(default_factory=list[tuple[int, Printed]])
    """Parameters that stand on later lines, with these."""
    callees: dict[str, None] = field(default_factory=dict[str, None])
    """The names of the computations that it calls."""
    names: FreeNames = field(default_factory=FreeNames)
    source: Operation | None = None
    """The operation whose instructions are being made."""
    given: str | None = None
    """The name that it has."""
    reserved: frozenset[str] = frozenset()
    """The names that operations have; others make way for them."""
    returned: Sequence[SSAValue] = ()
    root: Printed = field(init=False)
    values: dict[SSAValue, Printed] = field(default_factory=dict[SSAValue, Printed])
    tuples: dict[Operation | Block, tuple[Printed, ResultShape]] = field(
        default_factory=dict[Operation | Block, tuple[Printed, ResultShape]]
    )
    """The tuples of the results of an operation, or of the parameters of a block."""
    elements: dict[tuple[Printed, int], Printed] = field(
        default_factory=dict[tuple[Printed, int], Printed]
    )
    """What is taken out of them already."""
    captured: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Captured values that become parameters, with their place among the values."""
    asynchronous: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """The opcodes that the operations of `negate-start` and its like run."""
    text: str = ""
    """The lines, the closing brace and what follows that."""

    # The whole computation

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
            fail(last or _parent_of(block), f"a computation ends with {found}, not with a return")
        self.returned = [*last.operands, *(captured if hands_on else ())]
        self.names = FreeNames(self.computations.keywords)
        given = [
            given_name(op.results[0].name_hint, op.attributes.get("xla.name"))
            if op.results
            else None
            for op in block.ops
        ]
        self.reserved = frozenset(filter(None, given))
        if packed and len(block.args) + len(captured) != 1:
            self._packed_parameter([*block.args, *captured], captured, kept_of_each)
        else:
            self._plain_parameters([*block.args, *captured], kept_of_each)
        for op, self.given in zip(block.ops, given, strict=True):
            self.source = op
            try:
                if op is last:
                    self.root = self.pack(self.returned)
                else:
                    self.operation(op)
            except NoHloSpelling as error:
                fail(op, f"{op.name}: {error}")
        self.lines += [parameter for _, parameter in self.waiting]
        root = self.root
        lines = (f"  ROOT {i.line}" if i is root else f"  {i.line}" for i in self.lines if i.line)
        closing = f"}}{self.computations.texts.trailing(kept) if kept else ''}"
        self.text = "\n".join((*lines, closing))

    @property
    def result(self) -> Attribute:
        """The type of what it returns."""
        types = [value.type for value in self.returned]
        return types[0] if len(types) == 1 else tuple_of(types)

    def head(self, name: str) -> str:
        """The name, and its signature."""
        texts = self.computations.texts
        if not texts.options.print_program_shape:
            return texts.percent + name
        parameters = (f"{p.name}: {texts.type(p.type, False)}" for p in self.parameters)
        result = texts.type(self.result, False)
        return f"{texts.percent}{name} ({', '.join(parameters)}) -> {result}"

    # Lines

    def _instruction(
        self,
        opcode: str,
        type_: Attribute,
        inside: str,
        attributes: str,
        given: str | None = None,
        wanted: str = "",
    ) -> Printed:
        """`name = type opcode(inside), attributes`, with a name that is free."""
        names, texts = self.names, self.computations.texts
        name = names.take(given or wanted or opcode, () if given else self.reserved)
        if texts.options.canonicalize_instruction_names:
            name = f"tmp_{len(names.taken) - len(self.computations.keywords) - 1}"
        reference = texts.percent + name
        line = f"{reference} = {texts.type(type_)} {opcode}({inside}){attributes}"
        return Printed(opcode, type_, name, reference, line)

    def _add(
        self,
        form: Opcode,
        type_: Attribute,
        operands: Sequence[Printed],
        properties: Attributes = NO_ATTRIBUTES,
        attributes: Attributes = NO_ATTRIBUTES,
        given: str | None = None,
        called: Called = (),
        wanted: str = "",
        opcode: str = "",
        literal: Attribute | None = None,
        first: str = "",
    ) -> Printed:
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
        text = texts.attributes(form, properties, attributes, called, self.names.taken)
        return self._put(
            self._instruction(opcode or form.name, type_, inside, first + text, given, wanted),
            operands,
        )

    def _put(self, instruction: Printed, operands: Sequence[Printed]) -> Printed:
        """Puts an instruction on the next line, or behind parameters that are due."""
        if self.waiting:
            while self.waiting and self.waiting[0][0] <= len(self.lines):
                self.lines.append(self.waiting.pop(0)[1])
            late = {parameter: place for place, parameter in self.waiting}
            for operand in operands:
                if late.pop(operand, None) is not None:
                    self.lines.append(operand)
            self.waiting = [(place, parameter) for parameter, place in late.items()]
        self.lines.append(instruction)
        return instruction

    # Parameters

    def _parameter(
        self, type_: Attribute, given: str | None, wanted: str, kept: Attributes
    ) -> None:
        text = self.computations.texts.common_attributes(kept, self.names.taken)
        number = str(len(self.parameters))
        self.parameters.append(self._instruction("parameter", type_, number, text, given, wanted))

    def _plain_parameters(self, values: Sequence[SSAValue], kept: Sequence[Attributes]) -> None:
        if len(kept) != len(values):
            kept = [NO_ATTRIBUTES] * len(values)
        for i, (value, attributes) in enumerate(zip(values, kept, strict=True)):
            given = given_name(value.name_hint, attributes.get("xla.name"))
            self._parameter(value.type, given, f"Arg_{i}", attributes)
        self.values = dict(zip(values, self.parameters, strict=True))
        if any("xla.position" in attributes for attributes in kept):
            places = sorted((_position(attributes, i), i) for i, attributes in enumerate(kept))
            self.waiting = [(position, self.parameters[i]) for position, i in places]
        else:
            self.lines = list(self.parameters)

    def _packed_parameter(
        self,
        values: Sequence[SSAValue],
        captured: Sequence[SSAValue],
        kept: Sequence[Attributes],
    ) -> None:
        """One tuple with all the values, which are taken out of it where they are used."""
        own = kept[0] if len(kept) == 1 else NO_ATTRIBUTES
        type_ = tuple_of([value.type for value in values])
        given = given_name(None, own.get("xla.name"))
        self._parameter(type_, given or "arg_tuple", "", own)
        self.lines = list(self.parameters)
        self.tuples[self.block] = self.parameters[0], _flat_shape(type_)
        first = len(values) - len(captured)
        self.captured = {value: first + i for i, value in enumerate(captured)}

    # Operands

    def operand(self, value: SSAValue) -> Printed:
        """The instruction that a value is here; raises NoHloSpelling where there is none."""
        return self.values.get(value) or self._resolve(value)

    def _resolve(self, value: SSAValue) -> Printed:
        """Takes a value out of its tuple, or gets one that is defined around this block."""
        owner = self.block if value in self.captured else value.owner
        found = self.tuples.get(owner)
        if found is not None:
            whole, shape = found
            path = shape.paths[self._place_in(owner, value)]
            known = self.values[value] = self._element(whole, path, value)
            return known
        if self.outer is not None and isinstance(owner, Operation) and _is_constant(owner):
            self.operation(owner)
            return self.values[value]
        user = owner if isinstance(owner, Operation) else _parent_of(owner)
        raise NoHloSpelling(
            f"uses a value of {user.name} around its computation, which HLO cannot express"
        )

    def _element(self, whole: Printed, path: Path, value: SSAValue) -> Printed:
        """The element of a tuple, taken out the first time it is asked for."""
        for depth, index in enumerate(path, 1):
            known = self.elements.get((whole, index))
            if known is None:
                is_last = depth == len(path)
                name = given_name(value.name_hint, None) if is_last else None
                type_ = cast(TupleType, whole.type).types.data[index]
                is_root = is_last and list(self.returned) == [value]
                known = self._taken_out(type_, whole, index, name, has_line=is_root)
                self.elements[whole, index] = known
            whole = known
        return whole

    def _taken_out(
        self,
        type_: Attribute,
        whole: Printed,
        index: int,
        name: str | None = None,
        *,
        has_line: bool = False,
    ) -> Printed:
        """Element `index` of a tuple: an instruction, or `%p#0` unless it `has_line`."""
        form = OPCODES["get-tuple-element"]
        if self.computations.texts.options.print_tuple_indices and not has_line:
            reference = f"{whole.reference}#{index}"
            return self._put(Printed(form.name, type_, "", reference, ""), [whole])
        properties = {"index": IntegerAttr(index, i64)}
        return self._add(form, type_, [whole], properties, wanted=name or form.name)

    def pack(self, values: Sequence[SSAValue]) -> Printed:
        """The only value, or the tuple of the values."""
        if len(values) == 1:
            return self.operand(values[0])
        if values:
            owner = self.block if values[0] in self.captured else values[0].owner
            found = self.tuples.get(owner)
            places = [self._place_in(owner, value) for value in values]
            if found is not None and places == list(range(len(found[1].paths))):
                return found[0]
        operands = [self.operand(value) for value in values]
        type_ = tuple_of([value.type for value in values])
        return self._add(OPCODES["tuple"], type_, operands)

    def _place_in(self, owner: Operation | Block, value: SSAValue) -> int:
        """The place of a value among the values of a tuple; -1 if it is none of them."""
        if owner is self.block and value in self.captured:
            return self.captured[value]
        assert isinstance(value, OpResult | BlockArgument)
        return value.index if value.owner is owner else -1

    def _packed_operands(self, op: Operation, opcode: Opcode) -> list[Printed]:
        """The operands, those that are a single one in HLO as a tuple."""
        values = op.operands
        if not opcode.difference.packed:
            known = self.values
            return [known.get(value) or self._resolve(value) for value in values]
        places = opcode.operation.contract().structure.operands.segments(len(values))
        operands: list[Printed] = []
        for name, place in places.items():
            if isinstance(place, slice) and name in opcode.difference.packed:
                operands.append(self.pack(values[place]))
            elif isinstance(place, slice):
                operands.extend(self.operand(value) for value in values[place])
            elif place is not None:
                operands.append(self.operand(values[place]))
        return operands

    # Instructions

    def operation(self, op: Operation) -> None:
        """Adds the instruction of an operation; raises NoHloSpelling or HloPrintError."""
        form = OPCODE_OF.get(type(op))  # pyright: ignore[reportArgumentType]
        if form is None or op.regions or len(op.results) != 1 or form.name in _IRREGULAR:
            self.irregular(op, form)
            return
        self._define(op, form, self._packed_operands(op, form))

    def _define(
        self,
        op: Operation,
        form: Opcode,
        operands: Sequence[Printed],
        result: ResultShape | None = None,
        properties: Attributes | None = None,
        attributes: Attributes | None = None,
        called: Sequence[str] = (),
        opcode: str = "",
        literal: Attribute | None = None,
        first: str = "",
    ) -> None:
        """
        Adds the instruction for an operation, whose results are known from then on.

        `result`: what HLO has for the results, if that is not what `_result_shape` says.
        """
        results = op.results
        is_plain = len(results) == 1 and result is None
        shape = None if is_plain else result or _result_shape(op)
        instruction = self._add(
            form,
            results[0].type if shape is None else shape.type,
            operands,
            op.properties if properties is None else properties,
            op.attributes if attributes is None else attributes,
            self.given if op is self.source else None,
            self._naming(op, form, called) if called else (),
            *("", opcode, literal, first),
        )
        if shape is None:
            self.values[results[0]] = instruction
        else:
            self.tuples[op] = instruction, shape

    # Operations that HLO has in another form

    def irregular(self, op: Operation, form: Opcode | None) -> None:
        """Adds the instructions of an operation; raises HloPrintError for another dialect's."""
        match op:
            case ConstantOp():
                self._constant(op)
            case CallOp() | FuncCallOp():
                symbol = op.to_apply if isinstance(op, CallOp) else op.callee
                called = self._function(symbol.string_value(), op)
                operands = [self.operand(operand) for operand in op.operands]
                self._define(op, OPCODES["call"], operands, called=[called])
            case WhileOp():
                self._while(op)
            case ConditionalOp():
                self._conditional(op)
            case AsyncStartOp() if self._has_joint_name(op):
                self._joint_start(op)
            case AsyncUpdateOp() | AsyncDoneOp():
                self._later_part(op)
            case CustomCallOp():
                self._custom_call(op)
            case GetTupleElementOp() if self._is_index(op):
                whole = self.operand(op.operand)
                known = self._taken_out(op.result.type, whole, op.index.value.data)
                self.values[op.result] = known
            case RecvDoneOp() if form is not None:
                self._define(op, form, self._packed_operands(op, form), _result_shape(op))
            case XlaOp() if form is not None:
                called = self._regions(op)
                self._define(op, form, self._packed_operands(op, form), called=called)
            case _:
                fail(op, f"HLO text has no operation {op.name}")

    def _constant(self, op: ConstantOp) -> None:
        element = splat_element(op.value)
        form = OPCODES["constant"]
        if element is None:
            self._define(op, form, (), literal=op.value)
            return
        scalar = self._add(form, element.type, (), literal=element)
        self._define(op, OPCODES["broadcast"], [scalar], properties={"dimensions": EMPTY})

    def _is_index(self, op: GetTupleElementOp) -> bool:
        """Whether it has no line of its own where its uses say `%p#0` in its place."""
        last = self.block.last_op
        return (
            self.computations.texts.options.print_tuple_indices
            and set(op.attributes) <= {"xla.name"}
            and all(use.operation is not last for use in op.result.uses)
        )

    def _function(self, symbol: str, op: Operation) -> str:
        """The name of the computation of a function."""
        name = self.computations.functions.get(symbol)
        if name is None:
            fail(op, f"{op.name}: there is no function @{symbol} with a body")
        return name

    def _custom_call(self, op: CustomCallOp) -> None:
        called = self._regions(op)
        for entry in entries_of(op.attributes.get(CALLED_FUNCTIONS)):
            if isinstance(entry, SymbolRefAttr):
                called.append(self._function(entry.string_value(), op))
        operands = [self.operand(operand) for operand in op.operands]
        result = _shape_of(_in_layouts(op, op.result_types, RESULT_LAYOUTS))
        form = OPCODES["custom-call"]
        self._define(op, form, operands, result, *_properties_and_attributes(op), called=called)

    def _while(self, op: WhileOp) -> None:
        captured = _captured_values(op.regions)
        init = self.pack([*op.init, *captured])
        called = self._regions(op, lambda i: (captured, i == 1))
        carried = _shape_of([*op.result_types, *(value.type for value in captured)])
        self._define(op, OPCODES["while"], [init], carried if captured else None, called=called)

    def _conditional(self, op: ConditionalOp) -> None:
        operands = [self.operand(op.branch_index)]
        given = list(op.branch_operands)
        captures: list[Sequence[SSAValue]] = []
        for region in op.regions:
            count = len(region.block.args)
            captures.append(_captured_values([region]))
            operands.append(self.pack([*given[:count], *captures[-1]]))
            given = given[count:]
        called = self._regions(op, lambda i: (captures[i], False))
        self._define(op, OPCODES["conditional"], operands, called=called)

    # Asynchronous operations

    def _has_joint_name(self, op: AsyncStartOp) -> bool:
        """Whether it can be written as `negate-start`: one operation, on the start's operands."""
        if "xla.computations" in op.attributes:
            return False
        block = op.calls.block
        first, last = block.first_op, block.last_op
        return (
            first is not None
            and first.next_op is last
            and len(op.results) == 1
            and type(first) in OPCODE_OF
            and f"{OPCODE_OF[type(first)].name}-start" not in OPCODES  # pyright: ignore[reportArgumentType]
            and not isinstance(first, ConstantOp | WhileOp | ConditionalOp)
            and list(first.operands) == list(block.args)
            and last is not None
            and list(last.operands) == list(first.results)
        )

    def _joint_start(self, op: AsyncStartOp) -> None:
        inner = cast(XlaOp, op.calls.block.first_op)
        form = OPCODE_OF[type(inner)]
        operands = [self.operand(operand) for operand in op.operands]
        if isinstance(inner, CallOp):
            called = [self._function(inner.to_apply.string_value(), inner)]
        else:
            called = self._regions(inner)
        texts = self.computations.texts
        first = texts.attributes(
            form,
            inner.properties,
            inner.attributes,
            self._naming(inner, form, called) if called else (),
            self.names.taken,
        )
        start = OPCODES["async-start"]
        self.asynchronous[op] = form.name
        self._define(op, start, operands, opcode=f"{form.name}-start", first=first)

    def _later_part(self, op: AsyncUpdateOp | AsyncDoneOp) -> None:
        form = OPCODE_OF[type(op)]
        held = len(op.operands) - op.bound.value.data
        late = [self.operand(operand) for operand in op.operands[held:]]
        operands = [self.pack(op.operands[:held]), *late]
        owner = op.operands[0].owner
        # The context of an update is that of its operand, nested or not.
        context = self.tuples.get(owner) if isinstance(op, AsyncUpdateOp) else None
        base = self.asynchronous.get(owner) if isinstance(owner, Operation) else None
        opcode = ""
        if base is not None:
            self.asynchronous[op] = base
            opcode = base + form.name.removeprefix("async")
        self._define(op, form, operands, context and context[1], opcode=opcode)

    # Computations

    def _regions(
        self,
        op: Operation,
        captures: Callable[[int], tuple[Sequence[SSAValue], bool]] = lambda _: ((), False),
    ) -> list[str]:
        """
        Makes computations of the regions of an operation; returns their names.

        `captures`: the values from around it that a region takes, and whether it returns them too.
        """
        regions = op.regions
        if not regions:
            return []
        attributes = op.attributes
        names: Sequence[str | None] = name_list(attributes.get("xla.computations"))
        if len(names) != len(regions):
            names = [None] * len(regions)
        parameters = _kept_of_parameters(attributes.get("xla.parameters"), len(regions))
        kept = dictionaries(attributes.get("xla.computation_attributes"), len(regions))
        packed = isinstance(op, WhileOp | ConditionalOp)
        may_share = not packed and not isinstance(op, FusionOp | AsyncStartOp)
        computations = self.computations
        found: list[str] = []
        for i, (region, name) in enumerate(zip(regions, names, strict=True)):
            block = only_block(region, op)
            content = _fingerprint(block) if may_share else None
            key = (name, content, i, attributes.get("xla.parameters"), str(kept[i]))
            known = None if content is None else computations.regions.get(key)
            captured, hands_on = captures(i)
            called = _called_by(block) if packed and not captured else None
            if called is not None and name in (called, self.computations.functions.get(called)):
                known = self._function(called, op)
            if known is None:
                computation = ComputationText(computations, block, self)
                computation.build(
                    parameters[i], kept[i], packed=packed, captured=captured, hands_on=hands_on
                )
                make_name = _name_maker(op, i, computation)
                known = computations.add_region(name, computation, make_name, may_share)
                computations.regions[key] = known
            found.append(known)
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


_IRREGULAR = frozenset(
    {
        *("constant", "call", "while", "conditional", "custom-call", "get-tuple-element"),
        *("async-update", "async-done"),
        "recv-done",  # a token alone may be the leaves of `((), token[])`
    }
)
"""Opcodes that are special even where they have no regions and one result."""


def _position(kept: Attributes, number: int) -> int:
    """The line on which a parameter stands."""
    found = kept.get("xla.position")
    return cast("IntegerAttr[Any]", found).value.data if isinstance(found, IntegerAttr) else number


def _name_maker(op: Operation, number: int, computation: ComputationText) -> Callable[[], str]:
    """A name for the computation of a region: that of its only operation, or of the region."""

    def make() -> str:
        root = computation.root
        is_only = len(computation.lines) == len(computation.parameters) + 1
        if is_only and root is computation.lines[-1] and "(" not in spell_type(root.type):
            return root.opcode.replace("-", "_")
        regions = OPCODE_OF[type(op)].computations[0]  # pyright: ignore[reportArgumentType]
        return f"{op.name.removeprefix('xla.')}_{regions[min(number, len(regions) - 1)]}"

    return make
