"""The normal form in which HLO has a computation, made from the operations of a block.

Every instruction has one result: several are a tuple, and a `get-tuple-element` takes out of it
what is used. Computations are named, not nested. Several carried values of a loop, and several
operands of a branch, are a tuple. A region that uses values from around it gets them as parameters
(loops and branches), or copies of them (constants, everywhere).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
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
    TypeAttribute,
)
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.hlo_text.opcodes import EMPTY, OPCODE_OF, OPCODES, Opcode
from xla_dialect.hlo_text.syntax import HloPrintError
from xla_dialect.hlo_text.uninterpreted import TABLE_LINES
from xla_dialect.layout import Layout, LayoutAttr, LayoutError
from xla_dialect.op import XlaOp
from xla_dialect.ops.asynchronous import AsyncDoneOp, AsyncStartOp, AsyncUpdateOp
from xla_dialect.ops.control_flow import CallOp, ConditionalOp, FusionOp, ReturnOp, WhileOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.transfers import InfeedOp, RecvDoneOp
from xla_dialect.sharding.hlo_sharding import SHARDING_KEYWORDS
from xla_dialect.spelling import NoHloSpelling
from xla_dialect.text.literals import splat_element
from xla_dialect.text.shapes import spell_type
from xla_dialect.types import BY_NAME, PRED, Array, flatten, is_scalar
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import free_values

RESERVED = frozenset({*BY_NAME, "token", "opaque"})
"""Words that XLA reads as the beginning of a shape."""

KEYWORDS = frozenset(
    {
        *("ENTRY", "HloModule", "ROOT", "false", "inf", "nan", "true"),
        *SHARDING_KEYWORDS,
        *TABLE_LINES,
    }
)
"""Words that cannot be names where names have no `%`."""

_VALID = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)
_INVALID_CHARACTER = re.compile(r"[^\w.\-]", re.ASCII)
_NUMBER_AT_END = re.compile(r"\.[0-9]+$")


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


class FreeNames:
    """The names of one scope that are taken; two things never get the same one."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken: set[str] = set(taken)
        self._numbers: dict[str, int] = {}

    def take(self, wanted: str, avoided: Container[str] = ()) -> str:
        """The name itself if it is free, otherwise with a number: `add`, `add.1`, `add.2`."""
        name = wanted
        if name in self.taken or name in avoided:
            root = _NUMBER_AT_END.sub("", wanted)
            number = self._numbers.get(root, 1)
            while (name := f"{root}.{number}") in self.taken or name in avoided:
                number += 1
            self._numbers[root] = number + 1
        self.taken.add(name)
        return name


Attributes = Mapping[str, Attribute]
"""Properties, or discardable attributes."""

NO_ATTRIBUTES: Attributes = {}


def fail(op: Operation, message: str) -> NoReturn:
    """Raises HloPrintError at the place of an operation."""
    file, line, column = place_of(op.location) or ("<module>", 0, 0)
    raise HloPrintError(message, file, line, column)


@dataclass(slots=True, eq=False)
class NormalInstruction:
    """`name = type opcode(operands), attributes`"""

    opcode: str
    type: Attribute
    name: str
    """The name that is wanted; the one that is printed may have a number behind it."""
    is_given: bool
    """Whether the operation has that name; otherwise it makes way for names that others have."""
    operands: Sequence[NormalInstruction]
    form: Opcode | None
    """How `properties` are spelled; a parameter has none."""
    properties: Attributes
    attributes: Attributes
    source: Operation | None
    """The operation that it stands for, or is made for; none of a parameter or of an element that
    is only taken out of a tuple."""
    argument: Attribute | int | None = None
    """What stands in the place of operands: a literal, or the number of a parameter."""
    called: Sequence[tuple[str, Sequence[str]]] = ()
    """Attributes with the names of computations."""
    inner: NormalInstruction | None = None
    """Of `negate-start` and its like, what runs; its attributes are printed first."""
    reference: str = ""
    """How it is printed as an operand; the printer fills it in."""


@dataclass
class NormalComputation:
    """The inside of a computation."""

    parameters: Sequence[NormalInstruction]
    instructions: Sequence[NormalInstruction]
    """All of them, parameters too, in the order of printing."""
    root: NormalInstruction
    result: Attribute
    callees: Sequence[str]
    """The names of the computations that it calls."""


class NormalComputations:
    """The computations of a module by name, called ones before those that call them."""

    def __init__(
        self,
        text_of: Callable[[NormalComputation, Attributes], str],
        names: FreeNames,
        avoided: Sequence[str] = (),
        *,
        are_numbered: bool = False,
    ):
        """
        `text_of` prints a computation with what is kept of it. New names differ from `avoided`, the
        names of the text that the module comes from; or all are `computation_0` and so on.
        """
        self.by_name: dict[str, tuple[NormalComputation, str]] = {}
        """With their texts. Functions may be called before they are here."""
        self.functions: dict[str, str] = {}
        """The names of the computations of functions, by symbol."""
        self.regions: dict[tuple[object, ...], str] = {}
        """The names of the computations of regions, by all that their texts depend on."""
        self._text_of = text_of
        self._names = names
        self._avoided = frozenset(avoided)
        self._are_numbered = are_numbered
        self._numbers = count()
        self._by_text: dict[tuple[str | None, str], str] = {}

    def declare(self, symbol: str, name: str) -> None:
        """Names the computation of a function, before any is made."""
        self.functions[symbol] = self._free_name(name)

    def add_function(self, function: FuncOp, name: str) -> str:
        """Adds the computation of a function that is declared; returns its name."""
        block = only_block(function.body, function)
        kept = dictionaries(function.arg_attrs, len(block.args))
        try:
            for argument in block.args:
                spell_type(argument.type)  # What is no type of HLO is said before what uses it.
            computation = ComputationBuilder(self, block).build(kept)
            text = self._text_of(computation, function.attributes)
        except NoHloSpelling as error:
            fail(function, str(error))
        taken = self.functions[function.sym_name.data]
        self.by_name[taken] = computation, text
        self._by_text.setdefault((name, text), taken)
        return taken

    def add_region(
        self,
        name: str | None,
        computation: NormalComputation,
        kept: Attributes,
        make_name: Callable[[], str],
        may_share: bool,
    ) -> str:
        """
        Adds the computation of a region, unless it is there already; returns its name.

        `name` is that of the text that the module comes from. What has none shares the computation
        of another region that has none either, where HLO allows that (`may_share`).
        """
        text = self._text_of(computation, kept)
        found = self._by_text.get((name, text)) if name is not None or may_share else None
        if found is None:
            new = name is None
            found = self._free_name(make_name() if new else name, self._avoided if new else ())
            self.by_name[found] = computation, text
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


def tuple_of(types: Iterable[Attribute]) -> TupleType:
    """The type of the tuple of these."""
    return TupleType(cast("tuple[TypeAttribute, ...]", tuple(types)))


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
    nested = tuple_of([_nested(type_, leaves) for type_ in inferred])
    return ResultShape(nested, list(_paths(nested, ())))


def _nested(like: Attribute, leaves: Iterator[Attribute]) -> Attribute:
    if isinstance(like, TupleType):
        return tuple_of([_nested(element, leaves) for element in like.types.data])
    return next(leaves)


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
class ComputationBuilder:
    """
    Makes the normal form of one computation, and before it of those that its operations have as
    regions.
    """

    computations: NormalComputations
    block: Block
    outer: ComputationBuilder | None = None
    """That of the computation around it, if there is one."""
    instructions: list[NormalInstruction] = field(default_factory=list[NormalInstruction])
    """Without parameters."""
    parameters: list[NormalInstruction] = field(default_factory=list[NormalInstruction])
    positions: Sequence[int] = ()
    """The lines on which parameters stand, where they are not the first ones."""
    callees: dict[str, None] = field(default_factory=dict[str, None])
    source: Operation | None = None
    """The operation whose instructions are being made."""
    values: dict[SSAValue, NormalInstruction] = field(
        default_factory=dict[SSAValue, NormalInstruction]
    )
    tuples: dict[Operation | Block, tuple[NormalInstruction, ResultShape]] = field(
        default_factory=dict[Operation | Block, tuple[NormalInstruction, ResultShape]]
    )
    """The tuples of the results of an operation, or of the parameters of a block."""
    elements: dict[tuple[NormalInstruction, int], NormalInstruction] = field(
        default_factory=dict[tuple[NormalInstruction, int], NormalInstruction]
    )
    """What is taken out of them already."""
    captured: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Captured values that become parameters, with their place among the values."""
    asynchronous: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """The opcodes that the operations of `negate-start` and its like run."""

    # The whole computation

    def build(
        self,
        kept: Sequence[Attributes],
        *,
        packed: bool = False,
        captured: Sequence[SSAValue] = (),
        hands_on: bool = False,
    ) -> NormalComputation:
        """
        The normal form of the block, which ends with a return.

        `packed`: its parameters, then `captured` ones, are a tuple unless there is one; `hands_on`:
        the captured ones are returned as well, after the results.
        """
        block = self.block
        if packed and len(block.args) + len(captured) != 1:
            self._packed_parameter([*block.args, *captured], captured, kept)
        else:
            self._plain_parameters([*block.args, *captured], kept)
        last = block.last_op
        for op in block.ops:
            if op is last:
                break
            self.source = op
            try:
                self.operation(op)
            except NoHloSpelling as error:
                fail(op, f"{op.name}: {error}")
        if not isinstance(last, ReturnOp | FuncReturnOp):
            found = "nothing" if last is None else last.name
            fail(last or _parent_of(block), f"a computation ends with {found}, not with a return")
        returned = [*last.operands, *(captured if hands_on else ())]
        self.source = last
        try:
            root = self.pack(returned)
        except NoHloSpelling as error:
            fail(last, f"{last.name}: {error}")
        types = [value.type for value in returned]
        result = types[0] if len(types) == 1 else tuple_of(types)
        return NormalComputation(self.parameters, self._ordered(), root, result, list(self.callees))

    def _ordered(self) -> Sequence[NormalInstruction]:
        """All instructions: a parameter on its line, but before its first use."""
        if not self.positions:
            return [*self.parameters, *self.instructions]
        waiting = sorted(zip(self.positions, range(len(self.positions)), strict=True))
        found: dict[NormalInstruction, None] = {}
        for instruction in self.instructions:
            while waiting and waiting[0][0] <= len(found):
                found[self.parameters[waiting.pop(0)[1]]] = None
            if waiting:
                found |= dict.fromkeys(o for o in instruction.operands if o.form is None)
                waiting = [w for w in waiting if self.parameters[w[1]] not in found]
            found[instruction] = None
        return [*found, *(self.parameters[number] for _, number in waiting)]

    # Parameters

    def _parameter(self, type_: Attribute, given: str | None, name: str, kept: Attributes) -> None:
        number = len(self.parameters)
        self.parameters.append(
            NormalInstruction(
                *("parameter", type_, name if given is None else given, given is not None),
                *((), None, NO_ATTRIBUTES, kept, None, number),
            )
        )

    def _plain_parameters(self, values: Sequence[SSAValue], kept: Sequence[Attributes]) -> None:
        if len(kept) != len(values):
            kept = [NO_ATTRIBUTES] * len(values)
        for i, (value, attributes) in enumerate(zip(values, kept, strict=True)):
            given = given_name(value.name_hint, attributes.get("xla.name"))
            self._parameter(value.type, given, f"Arg_{i}", attributes)
        self.values = dict(zip(values, self.parameters, strict=True))
        if any("xla.position" in attributes for attributes in kept):
            self.positions = [_position(attributes, i) for i, attributes in enumerate(kept)]

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
        self.tuples[self.block] = self.parameters[0], _flat_shape(type_)
        first = len(values) - len(captured)
        self.captured = {value: first + i for i, value in enumerate(captured)}

    # Operands

    def operand(self, value: SSAValue) -> NormalInstruction:
        """The instruction that a value is here; raises NoHloSpelling where there is none."""
        return self.values.get(value) or self._resolve(value)

    def _resolve(self, value: SSAValue) -> NormalInstruction:
        """Takes a value out of its tuple, or gets one that is defined around this block."""
        owner = self.block if value in self.captured else value.owner
        found = self.tuples.get(owner)
        if found is not None:
            whole, shape = found
            path = shape.paths[self._place_in(owner, value)]
            known = self.values[value] = self._element(whole, path, value.name_hint)
            return known
        if self.outer is not None and isinstance(owner, Operation) and _is_constant(owner):
            self.operation(owner)
            return self.values[value]
        user = owner if isinstance(owner, Operation) else _parent_of(owner)
        raise NoHloSpelling(
            f"uses a value of {user.name} around its computation, which HLO cannot express"
        )

    def _element(self, whole: NormalInstruction, path: Path, hint: str | None) -> NormalInstruction:
        """The element of a tuple, taken out the first time it is asked for."""
        for depth, index in enumerate(path, 1):
            known = self.elements.get((whole, index))
            if known is None:
                name = given_name(hint if depth == len(path) else None, None)
                type_ = cast(TupleType, whole.type).types.data[index]
                form = OPCODES["get-tuple-element"]
                known = self._made(name, type_, form, [whole], {"index": IntegerAttr(index, i64)})
                known.source = None
                self.elements[whole, index] = known
            whole = known
        return whole

    def pack(self, values: Sequence[SSAValue]) -> NormalInstruction:
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
        return self._made(None, type_, OPCODES["tuple"], operands)

    def _place_in(self, owner: Operation | Block, value: SSAValue) -> int:
        """The place of a value among the values of a tuple; -1 if it is none of them."""
        if owner is self.block and value in self.captured:
            return self.captured[value]
        assert isinstance(value, OpResult | BlockArgument)
        return value.index if value.owner is owner else -1

    def _packed_operands(self, op: Operation, opcode: Opcode) -> list[NormalInstruction]:
        """The operands, those that are a single one in HLO as a tuple."""
        values = op.operands
        if not opcode.difference.packed:
            known = self.values
            return [known.get(value) or self._resolve(value) for value in values]
        places = opcode.operation.contract().structure.operands.segments(len(values))
        operands: list[NormalInstruction] = []
        for name, place in places.items():
            if isinstance(place, slice) and name in opcode.difference.packed:
                operands.append(self.pack(values[place]))
            elif isinstance(place, slice):
                operands.extend(self.operand(value) for value in values[place])
            elif place is not None:
                operands.append(self.operand(values[place]))
        return operands

    # Instructions

    def _made(
        self,
        name: str | None,
        type_: Attribute,
        form: Opcode,
        operands: Sequence[NormalInstruction],
        properties: Attributes = NO_ATTRIBUTES,
        argument: Attribute | None = None,
    ) -> NormalInstruction:
        """Adds an instruction that no operation stands for."""
        instruction = NormalInstruction(
            *(form.name, type_, name or form.name, False, operands, form, properties),
            *(NO_ATTRIBUTES, self.source, argument),
        )
        self.instructions.append(instruction)
        return instruction

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
        operands: Sequence[NormalInstruction],
        result: ResultShape | None = None,
        properties: Attributes | None = None,
        attributes: Attributes | None = None,
        called: Sequence[str] = (),
    ) -> NormalInstruction:
        """
        Adds the instruction for an operation, whose results are known from then on.

        `result`: what HLO has for the results, if that is not what `_result_shape` says.
        """
        results = op.results
        name = None
        if results and op.parent is self.block:
            name = given_name(results[0].name_hint, op.attributes.get("xla.name"))
        is_plain = len(results) == 1 and result is None
        shape = None if is_plain else result or _result_shape(op)
        instruction = NormalInstruction(
            form.name,
            results[0].type if shape is None else shape.type,
            name or form.name,
            name is not None,
            operands,
            form,
            op.properties if properties is None else properties,
            op.attributes if attributes is None else attributes,
            op,
        )
        if called:
            instruction.called = self._naming(op, form, called)
        self.instructions.append(instruction)
        if shape is None:
            self.values[results[0]] = instruction
        else:
            self.tuples[op] = instruction, shape
        return instruction

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
            case RecvDoneOp() if form is not None:
                self._define(op, form, self._packed_operands(op, form), _result_shape(op))
            case XlaOp() if form is not None:
                called = self._regions(op)
                self._define(op, form, self._packed_operands(op, form), called=called)
            case _:
                fail(op, f"HLO text has no operation {op.name}")

    def _constant(self, op: ConstantOp) -> None:
        element = splat_element(op.value)
        if element is None:
            self._define(op, OPCODES["constant"], ()).argument = op.value
            return
        scalar = self._made(None, element.type, OPCODES["constant"], (), argument=element)
        self._define(op, OPCODES["broadcast"], [scalar], properties={"dimensions": EMPTY})

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
        start = self._define(op, OPCODES["async-start"], operands)
        start.inner = NormalInstruction(
            *(form.name, start.type, "", False, (), form, inner.properties, inner.attributes, op),
            called=self._naming(inner, form, called) if called else (),
        )
        self.asynchronous[op] = form.name
        self._rename(start, f"{form.name}-start")

    def _later_part(self, op: AsyncUpdateOp | AsyncDoneOp) -> None:
        form = OPCODE_OF[type(op)]
        held = len(op.operands) - op.bound.value.data
        late = [self.operand(operand) for operand in op.operands[held:]]
        operands = [self.pack(op.operands[:held]), *late]
        owner = op.operands[0].owner
        # The context of an update is that of its operand, nested or not.
        context = self.tuples.get(owner) if isinstance(op, AsyncUpdateOp) else None
        part = self._define(op, form, operands, context and context[1])
        base = self.asynchronous.get(owner) if isinstance(owner, Operation) else None
        if base is not None:
            self.asynchronous[op] = base
            self._rename(part, base + form.name.removeprefix("async"))

    @staticmethod
    def _rename(instruction: NormalInstruction, opcode: str) -> None:
        """Gives an instruction another opcode, after which it is named if it has no name."""
        instruction.opcode = opcode
        if not instruction.is_given:
            instruction.name = opcode

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
                computation = ComputationBuilder(computations, block, self).build(
                    parameters[i], packed=packed, captured=captured, hands_on=hands_on
                )
                make_name = _name_maker(op, i, computation)
                known = computations.add_region(name, computation, kept[i], make_name, may_share)
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
        *("constant", "call", "while", "conditional", "custom-call"),
        *("async-update", "async-done"),
        "recv-done",  # a token alone may be the leaves of `((), token[])`
    }
)
"""Opcodes that are special even where they have no regions and one result."""


def _position(kept: Attributes, number: int) -> int:
    """The line on which a parameter stands."""
    found = kept.get("xla.position")
    return cast("IntegerAttr[Any]", found).value.data if isinstance(found, IntegerAttr) else number


def _name_maker(op: Operation, number: int, computation: NormalComputation) -> Callable[[], str]:
    """A name for the computation of a region: that of its only operation, or of the region."""

    def make() -> str:
        root = computation.root
        is_only = len(computation.instructions) == len(computation.parameters) + 1
        if is_only and root is computation.instructions[-1] and "(" not in spell_type(root.type):
            return root.opcode.replace("-", "_")
        regions = OPCODE_OF[type(op)].computations[0]  # pyright: ignore[reportArgumentType]
        return f"{op.name.removeprefix('xla.')}_{regions[min(number, len(regions) - 1)]}"

    return make
