"""The instructions of one computation, printed from the operations of a block.

Several results of an operation are a tuple, and `get-tuple-element` where one of them is used.
Computations, whether functions or regions, are named by attributes. Several carried values of a
loop, and several operands of a branch, are a tuple. A region that uses values from around it gets
them as parameters (loops and branches), or copies of them (constants, everywhere).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

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
)
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from xla_dialect.attributes import CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.hlo_text.attributes import names as names_in
from xla_dialect.hlo_text.instruction_forms import name_list
from xla_dialect.hlo_text.naming import FreeNames, given_name
from xla_dialect.hlo_text.opcodes import OPCODE_OF, OPCODES, Opcode
from xla_dialect.hlo_text.program_printing import ComputationText, ProgramPrinter
from xla_dialect.hlo_text.structure_printing import (
    NOTHING,
    Bundle,
    Facts,
    ResultShape,
    dictionaries,
    facts_of_regions,
    fail,
    fingerprint,
    flat_shape,
    free_values,
    is_constant,
    only_block,
    parent_of,
    result_shape,
    shape_of,
    tuple_of,
)
from xla_dialect.hlo_text.syntax import COMPUTATION_LISTS
from xla_dialect.layout import Layout, LayoutAttr, LayoutError
from xla_dialect.op import XlaOp
from xla_dialect.ops.asynchronous import AsyncDoneOp, AsyncStartOp, AsyncUpdateOp
from xla_dialect.ops.control_flow import CallOp, ConditionalOp, FusionOp, ReturnOp, WhileOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.transfers import RecvDoneOp
from xla_dialect.ops.tuples import GetTupleElementOp
from xla_dialect.spelling import NoHloSpelling
from xla_dialect.text.literals import splat_element
from xla_dialect.text.shapes import count_list, spell_type
from xla_dialect.types import PRED, Array, is_scalar

OPERAND_LAYOUTS = "xla.operand_layouts"
RESULT_LAYOUTS = "xla.result_layouts"
CALLED_FUNCTIONS = "xla.called_computations"
TYPED_CONFIG = "mhlo.backend_config"


def result_types(op: CustomCallOp) -> Sequence[Attribute]:
    """The types of the results, with the layouts that the call says they have."""
    return _in_layouts(op, op.result_types, RESULT_LAYOUTS)


def called_functions(op: CustomCallOp) -> list[str]:
    """The symbols of the functions that are called computations."""
    value = op.attributes.get(CALLED_FUNCTIONS)
    entries = cast("ArrayAttr[Attribute]", value).data if isinstance(value, ArrayAttr) else ()
    return [entry.string_value() for entry in entries if isinstance(entry, SymbolRefAttr)]


def properties_and_attributes(op: CustomCallOp) -> tuple[Facts, Facts]:
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
    value = op.attributes.get(name)
    if not isinstance(value, ArrayAttr):
        return types
    layouts = cast("ArrayAttr[Attribute]", value).data
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


class ComputationPrinter:
    """
    Prints one computation, and before it those that its operations have as regions.

    `outer` prints the one around it, if there is one.
    """

    def __init__(self, program: ProgramPrinter, outer: ComputationPrinter | None = None):
        self.program = program
        self.outer = outer
        self.lines: list[str] = []
        self.parameters: list[tuple[str, Attribute]] = []
        """Names, as they are printed, and types."""
        self.callees: dict[str, None] = {}
        """The computations that it calls."""
        self._named = 0
        """How many instructions have a number for their name."""
        options = program.options
        self._percent = "%" if options.print_percent else ""
        self._counts_names = options.canonicalize_instruction_names
        self._operands_with_shapes = options.print_operand_shape
        self._counted_operands = options.print_operand_index_annotation_interval
        self._names = FreeNames(program.keywords)
        self._given: dict[Operation, str] = {}
        """The names that operations of this block have."""
        self._reserved: frozenset[str] = frozenset()
        """The names in `_given`; generated names differ from them."""
        self._operands: dict[SSAValue, str] = {}
        """Values as printed operands: `%x`, or with the shape."""
        self._bundles: dict[Operation | Block, Bundle] = {}
        self._captured: dict[SSAValue, int] = {}
        """Captured values that become parameters, with their place among the values."""
        self._waiting: list[tuple[int, int]] = []
        """Parameters that are still to be printed: line and number, in descending order."""
        self._block = Block()
        self._values: Sequence[SSAValue] = ()
        """The parameters, as long as they are not a tuple."""
        self._facts: Sequence[Facts] = ()
        self._asynchronous: dict[Operation, str] = {}
        """The opcodes that the operations of `negate-start` and its like run."""

    # The whole computation

    def print_block(
        self,
        block: Block,
        facts: Sequence[Facts],
        *,
        packed: bool = False,
        captured: Sequence[SSAValue] = (),
        hands_on: bool = False,
    ) -> ComputationText:
        """
        Prints a block that ends with a return.

        `packed`: its parameters, then `captured` ones, are a tuple unless there is one; `hands_on`:
        the captured ones are returned as well, after the results.
        """
        self._block = block
        for op in block.ops:
            if op.results and (name := _given_name(op, op.results[0])) is not None:
                self._given[op] = name
        self._reserved = frozenset(self._given.values())
        if packed and len(block.args) + len(captured) != 1:
            self._packed_parameter([*block.args, *captured], captured, facts)
        else:
            self._plain_parameters([*block.args, *captured], facts)
        last = block.last_op
        for op in block.ops:
            if op is last:
                break
            if self._waiting:
                self._print_due()
            try:
                self.instruction(op)
            except NoHloSpelling as error:
                fail(op, f"{op.name}: {error}")
        if not isinstance(last, ReturnOp | FuncReturnOp):
            found = "nothing" if last is None else last.name
            fail(last or parent_of(block), f"a computation ends with {found}, not with a return")
        try:
            result = self._mark_root([*last.operands, *(captured if hands_on else ())])
        except NoHloSpelling as error:
            fail(last, f"{last.name}: {error}")
        return ComputationText(self.lines, self.parameters, result, list(self.callees))

    def _mark_root(self, returned: Sequence[SSAValue]) -> Attribute:
        """Marks the instruction that is the result; returns its type."""
        while self._waiting:
            self._print_parameter(self._waiting.pop()[1])
        root = self.pack(returned)
        name = root.rpartition(" ")[2]
        start = f"  {name} = "
        line = next(i for i in reversed(range(len(self.lines))) if self.lines[i].startswith(start))
        self.lines[line] = f"  ROOT {self.lines[line][2:]}"
        types = [value.type for value in returned]
        return types[0] if len(types) == 1 else tuple_of(types)

    # Parameters

    def _plain_parameters(self, values: Sequence[SSAValue], facts: Sequence[Facts]) -> None:
        if len(facts) != len(values):
            facts = [NOTHING] * len(values)
        self._facts = facts
        positions = [_position(found, i) for i, found in enumerate(facts)]
        names = [
            self._names.take(given)
            if (given := given_name(value.name_hint, found.get("xla.name"))) is not None
            else self._names.take(f"Arg_{i}", self._reserved)
            for i, (value, found) in enumerate(zip(values, facts, strict=True))
        ]
        for value, name in zip(values, names, strict=True):
            name = self._spelled(name)
            self.parameters.append((name, value.type))
            self._operands[value] = self._as_operand(name, value.type)
        self._waiting = sorted(zip(positions, range(len(names)), strict=True), reverse=True)
        self._values = values

    def _print_due(self) -> None:
        """Prints the parameters whose line has come."""
        while self._waiting and self._waiting[-1][0] <= len(self.lines):
            self._print_parameter(self._waiting.pop()[1])

    def _print_parameter(self, number: int) -> None:
        name, type_ = self.parameters[number]
        facts = self._facts[number]
        text = self.program.type_text(type_)
        self.lines.append(f"  {name} = {text} parameter({number}){self._common(facts)}")

    def _packed_parameter(
        self,
        values: Sequence[SSAValue],
        captured: Sequence[SSAValue],
        facts: Sequence[Facts],
    ) -> None:
        """One tuple with all the values, which are taken out of it where they are used."""
        own = facts[0] if len(facts) == 1 else NOTHING
        type_ = tuple_of([value.type for value in values])
        name = self._spelled(self._names.take(given_name(None, own.get("xla.name")) or "arg_tuple"))
        self.parameters.append((name, type_))
        self._facts = [own]
        self._print_parameter(0)
        self._bundles[self._block] = Bundle(self._as_operand(name, type_), flat_shape(type_))
        first = len(values) - len(captured)
        self._captured = {value: first + i for i, value in enumerate(captured)}

    # Operands

    def operand(self, value: SSAValue) -> str:
        """How a value is written as an operand here; raises HloPrintError where it cannot be."""
        text = self._operands.get(value)
        if text is None:
            text = self._resolve(value)
        elif self._waiting:
            self._print_if_waiting(value)
        return text

    def _print_if_waiting(self, value: SSAValue) -> None:
        """A parameter comes before its first use, whatever line it is to stand on."""
        if isinstance(value.owner, Block):
            entry = next((w for w in self._waiting if self._values[w[1]] is value), None)
            if entry is not None:
                self._waiting.remove(entry)
                self._print_parameter(entry[1])

    def _resolve(self, value: SSAValue) -> str:
        """Takes a value out of its tuple, or gets one that is defined around this block."""
        bundle = self._bundles.get(value.owner)
        place = _index_of(value)
        if value in self._captured:
            bundle, place = self._bundles[self._block], self._captured[value]
        if bundle is not None:
            text = self._element(bundle, bundle.shape.paths[place], value.name_hint)
            self._operands[value] = text
            return text
        owner = value.owner
        if self.outer is not None and isinstance(owner, Operation) and is_constant(owner):
            self.instruction(owner)
            return self._operands[value]
        user = owner if isinstance(owner, Operation) else parent_of(owner)
        raise NoHloSpelling(
            f"uses a value of {user.name} around its computation, which HLO cannot express"
        )

    def _element(self, bundle: Bundle, path: tuple[int, ...], hint: str | None = None) -> str:
        """The element of a tuple as an operand, taken out the first time it is asked for."""
        if not path:
            return bundle.text
        known = bundle.elements.get(path)
        if known is None:
            source = self._element(bundle, path[:-1])
            type_ = bundle.shape.type
            for index in path:
                type_ = cast(TupleType, type_).types.data[index]
            if self.program.options.print_tuple_indices:
                bundle.elements[path] = self._as_index(source, path[-1], type_)
                return bundle.elements[path]
            name = given_name(hint, None) or "get-tuple-element"
            known = bundle.elements[path] = self.emit(
                name, type_, "get-tuple-element", [source], f", index={path[-1]}"
            )
        return known

    def _as_index(self, whole: str, index: int, type_: Attribute) -> str:
        """An element of a printed operand: `%p#1`."""
        return self._as_operand(f"{whole.rpartition(' ')[2]}#{index}", type_)

    def _prints_index(self, op: GetTupleElementOp) -> bool:
        """Whether an element has no line of its own: it is an operand, and nothing else."""
        if not self.program.options.print_tuple_indices or not set(op.attributes) <= {"xla.name"}:
            return False
        last = self._block.last_op
        return not any(use.operation is last for use in op.result.uses)

    def pack(self, values: Sequence[SSAValue]) -> str:
        """The only value, or the tuple of the values, as an operand."""
        if len(values) == 1:
            return self.operand(values[0])
        if values:
            owner = self._block if values[0] in self._captured else values[0].owner
            bundle = self._bundles.get(owner)
            places = [self._place_in(owner, value) for value in values]
            if bundle is not None and places == list(range(len(bundle.shape.paths))):
                return bundle.text
        operands = [self.operand(value) for value in values]
        return self.emit("tuple", tuple_of([value.type for value in values]), "tuple", operands)

    def _place_in(self, owner: Operation | Block, value: SSAValue) -> int:
        """The place of a value among the values of a bundle; -1 if it is none of them."""
        if owner is self._block and value in self._captured:
            return self._captured[value]
        return _index_of(value) if value.owner is owner else -1

    # Instructions

    def instruction(self, op: Operation) -> None:
        """Prints an operation; raises Inexpressible or HloPrintError."""
        opcode = OPCODE_OF.get(type(op))  # pyright: ignore[reportArgumentType]
        results = op.results
        if isinstance(op, GetTupleElementOp) and self._prints_index(op):
            whole = self.operand(op.operand)
            self._operands[op.result] = self._as_index(whole, op.index.value.data, op.result.type)
            return
        if opcode is None or op.regions or len(results) != 1 or opcode.name in _IRREGULAR:
            self.irregular(op, opcode)
            return
        if opcode.packed:
            operands = self._packed_operands(op, opcode)
        else:
            operands = [self.operand(operand) for operand in op.operands]
        self._define(op, opcode.name, operands, self._attributes(op, opcode))

    def emit(
        self,
        name: str,
        type_: Attribute,
        opcode: str,
        operands: Sequence[str],
        attributes: str = "",
    ) -> str:
        """Adds an instruction with a name like this one, and returns it as an operand."""
        name = self._spelled(self._names.take(name, self._reserved))
        return self._add(name, type_, opcode, operands, attributes)

    def _define(
        self,
        op: Operation,
        opcode: str,
        operands: Sequence[str],
        attributes: str,
        result: ResultShape | None = None,
    ) -> None:
        """
        Adds the instruction for an operation, whose results are known from then on.

        `result`: what HLO has for the results, if that is not what `result_shape` says.
        """
        results = op.results
        given = self._given.get(op)
        name = self._names.take(given or opcode, () if given else self._reserved)
        name = self._spelled(name)
        if len(results) == 1 and result is None:
            only = results[0]
            self._operands[only] = self._add(name, only.type, opcode, operands, attributes)
            return
        shape = result or result_shape(op)
        text = self._add(name, shape.type, opcode, operands, attributes)
        self._bundles[op] = Bundle(text, shape)

    def _add(
        self, name: str, type_: Attribute, opcode: str, operands: Sequence[str], attributes: str
    ) -> str:
        arguments = count_list(operands, self._counted_operands)
        text = self.program.type_text(type_)
        self.lines.append(f"  {name} = {text} {opcode}({arguments}){attributes}")
        return self._as_operand(name, type_)

    def _spelled(self, name: str) -> str:
        """A name as it is printed."""
        if self._counts_names:
            name = f"tmp_{self._named}"
            self._named += 1
        return self._percent + name

    def _as_operand(self, name: str, type_: Attribute) -> str:
        if self._operands_with_shapes:
            return f"{self.program.type_text(type_)} {name}"
        return name

    def _packed_operands(self, op: Operation, opcode: Opcode) -> list[str]:
        """The operands, those that are a single one in HLO as a tuple."""
        values = op.operands
        if not opcode.packed:
            return [self.operand(value) for value in values]
        places = opcode.operation.contract().structure.operands.segments(len(values))
        operands: list[str] = []
        for name, place in places.items():
            if isinstance(place, slice) and name in opcode.packed:
                operands.append(self.pack(values[place]))
            elif isinstance(place, slice):
                operands.extend(self.operand(value) for value in values[place])
            elif place is not None:
                operands.append(self.operand(values[place]))
        return operands

    # Attributes

    def _attributes(self, op: Operation, opcode: Opcode, computations: str = "") -> str:
        """All attributes of an instruction, those that name its computations in the middle."""
        return self._attributes_of(opcode, op.properties, op.attributes, computations)

    def _attributes_of(
        self, opcode: Opcode, properties: Facts, attributes: Facts, computations: str
    ) -> str:
        text = ""
        for is_kept, form in self.program.own_attributes(opcode):
            if not is_kept:
                text += form.text(properties)
            elif attributes:
                text += form.text(attributes)
        text += computations
        return text + self._common(attributes) if attributes else text

    def _common(self, attributes: Facts) -> str:
        """What any instruction may carry."""
        forms = self.program.common_attributes
        found = [
            (place, form.text(attributes))
            for key in attributes
            if (entry := forms.get(key)) is not None
            for place, form in (entry,)
        ]
        predecessors = attributes.get("xla.control_predecessors")
        if predecessors is not None and self.program.names_predecessors:
            found.append((self.program.predecessors_place, self._predecessors(predecessors)))
        if len(found) < 2:
            return found[0][1] if found else ""
        texts: dict[int, str] = {}
        for place, text in sorted(found):
            known = texts.get(place)
            texts[place] = text if known is None else _merged(known, text)
        return "".join(texts.values())

    def _predecessors(self, value: Attribute) -> str:
        """The instructions before which it must not run; those that are gone are left out."""
        text = value.data if isinstance(value, StringAttr) else "{}"
        known = self._names.taken
        found = [f"{self._percent}{name}" for name, _ in names_in(text) if name in known]
        return f", control-predecessors={{{', '.join(found)}}}" if found else ""

    # Operations that HLO has in another form

    def irregular(self, op: Operation, opcode: Opcode | None) -> None:
        """Prints an operation; raises HloPrintError for one of another dialect."""
        match op:
            case ConstantOp():
                self._constant(op)
            case CallOp() | FuncCallOp():
                self._call(op)
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
            case RecvDoneOp() if opcode is not None:
                operands = self._packed_operands(op, opcode)
                attributes = self._attributes(op, opcode)
                self._define(op, opcode.name, operands, attributes, result_shape(op))
            case XlaOp() if opcode is not None:
                names = self._computations(op)
                called = self._naming(opcode, names, op)
                operands = self._packed_operands(op, opcode)
                self._define(op, opcode.name, operands, self._attributes(op, opcode, called))
            case _:
                fail(op, f"HLO text has no operation {op.name}")

    def _constant(self, op: ConstantOp) -> None:
        attributes = self._attributes(op, OPCODES["constant"])
        element = splat_element(op.value)
        if element is not None:
            literal = self.program.literal_text(element)
            scalar = self.emit("constant", element.type, "constant", [literal])
            self._define(op, "broadcast", [scalar], f", dimensions={{}}{attributes}")
            return
        self._define(op, "constant", [self.program.literal_text(op.value)], attributes)

    def _call(self, op: CallOp | FuncCallOp) -> None:
        symbol = op.to_apply if isinstance(op, CallOp) else op.callee
        called = self._function(symbol.string_value(), op)
        operands = [self.operand(operand) for operand in op.operands]
        naming = self._naming(OPCODES["call"], [called], op)
        self._define(op, "call", operands, self._attributes(op, OPCODES["call"], naming))

    def _function(self, symbol: str, op: Operation) -> str:
        """The name of the computation of a function."""
        name = self.program.function_name(symbol)
        if name is None:
            fail(op, f"{op.name}: there is no function @{symbol} with a body")
        return name

    def _custom_call(self, op: CustomCallOp) -> None:
        opcode = OPCODES["custom-call"]
        called = self._computations(op)
        for symbol in called_functions(op):
            called.append(self._function(symbol, op))
        operands = [self.operand(operand) for operand in op.operands]
        naming = self._naming(opcode, called, op)
        properties, attributes = properties_and_attributes(op)
        text = self._attributes_of(opcode, properties, attributes, naming)
        self._define(op, opcode.name, operands, text, shape_of(result_types(op)))

    def _while(self, op: WhileOp) -> None:
        captured = free_values(op.regions)
        init = self.pack([*op.init, *captured])
        names = self._computations(op, lambda i: (captured, i == 1))
        called = self._naming(OPCODES["while"], names, op)
        attributes = self._attributes(op, OPCODES["while"], called)
        carried = shape_of([*op.result_types, *(value.type for value in captured)])
        self._define(op, "while", [init], attributes, carried if captured else None)

    def _conditional(self, op: ConditionalOp) -> None:
        operands = [self.operand(op.branch_index)]
        given = list(op.branch_operands)
        captures: list[Sequence[SSAValue]] = []
        for region in op.regions:
            count = len(region.block.args)
            captured = free_values([region])
            captures.append(captured)
            operands.append(self.pack([*given[:count], *captured]))
            given = given[count:]
        names = self._computations(op, lambda i: (captures[i], False))
        called = self._naming(OPCODES["conditional"], names, op)
        self._define(
            op, "conditional", operands, self._attributes(op, OPCODES["conditional"], called)
        )

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
        opcode = OPCODE_OF[type(inner)]
        operands = [self.operand(operand) for operand in op.operands]
        if isinstance(inner, CallOp):
            names = [self._function(inner.to_apply.string_value(), inner)]
        else:
            names = self._computations(inner)
        own = self._attributes(inner, opcode, self._naming(opcode, names, inner))
        outer = self._attributes(op, OPCODES["async-start"])
        self._asynchronous[op] = opcode.name
        self._define(op, f"{opcode.name}-start", operands, own + outer)

    def _later_part(self, op: AsyncUpdateOp | AsyncDoneOp) -> None:
        opcode = OPCODE_OF[type(op)]
        held = len(op.operands) - op.bound.value.data
        late = [self.operand(operand) for operand in op.operands[held:]]
        operands = [self.pack(op.operands[:held]), *late]
        name = opcode.name
        owner = op.operands[0].owner
        base = self._asynchronous.get(owner) if isinstance(owner, Operation) else None
        if base is not None:
            self._asynchronous[op] = base
            name = base + name.removeprefix("async")
        # The context of an update is that of its operand, nested or not.
        context = self._bundles.get(owner) if isinstance(op, AsyncUpdateOp) else None
        attributes = self._attributes(op, opcode)
        self._define(op, name, operands, attributes, context and context.shape)

    # Computations

    def _computations(
        self,
        op: Operation,
        captures: Callable[[int], tuple[Sequence[SSAValue], bool]] = lambda _: ((), False),
    ) -> list[str]:
        """
        Prints the regions of an operation as computations; returns their names.

        `captures`: the values from around it that a region takes, and whether it returns them too.
        """
        regions = op.regions
        if not regions:
            return []
        attributes = op.attributes
        names: Sequence[str | None] = name_list(attributes.get("xla.computations"))
        if len(names) != len(regions):
            names = [None] * len(regions)
        facts = facts_of_regions(attributes.get("xla.parameters"), len(regions))
        kept = dictionaries(attributes.get("xla.computation_attributes"), len(regions))
        packed = isinstance(op, WhileOp | ConditionalOp)
        found: list[str] = []
        for i, (region, name) in enumerate(zip(regions, names, strict=True)):
            may_share = not packed and not isinstance(op, FusionOp | AsyncStartOp)
            block = only_block(region, op)
            content = fingerprint(block) if may_share else None
            key = name, content, i, attributes.get("xla.parameters"), str(kept[i])
            if content is not None and key in self.program.regions:
                found.append(self.program.regions[key])
                continue
            captured, hands_on = captures(i)
            called = _called_by(block) if packed and not captured else None
            if called is not None and name in (called, self.program.function_name(called)):
                found.append(self._function(called, op))
                continue
            body = ComputationPrinter(self.program, self).print_block(
                block,
                facts[i],
                packed=packed,
                captured=captured,
                hands_on=hands_on,
            )
            make_name = partial(_new_name, op, i, body)
            self.program.regions[key] = self.program.add_region(
                name, body, kept[i], make_name, may_share
            )
            found.append(self.program.regions[key])
        return found

    def _naming(self, opcode: Opcode, called: Sequence[str], op: Operation) -> str:
        """The attributes that name the computations: `, condition=%a, body=%b`."""
        if not called:
            return ""
        self.callees.update(dict.fromkeys(called))
        names = [self.program.reference(name) for name in called]
        alternatives = opcode.computations
        chosen = alternatives[0]
        if isinstance(op, ConditionalOp) and is_scalar(op.branch_index.type, PRED):
            chosen = alternatives[1]
        if chosen[0] in COMPUTATION_LISTS:
            return f", {chosen[0]}={{{', '.join(names)}}}"
        return "".join(f", {key}={name}" for key, name in zip(chosen, names, strict=True))


_IRREGULAR = frozenset(
    {
        *("constant", "call", "while", "conditional", "custom-call"),
        *("async-update", "async-done"),
        "recv-done",  # a token alone may be the leaves of `((), token[])`
    }
)
"""Opcodes that are special even where they have no regions and one result."""


def _given_name(op: Operation, result: SSAValue) -> str | None:
    return given_name(result.name_hint, op.attributes.get("xla.name"))


def _index_of(value: SSAValue) -> int:
    """The number of a result among results, of a parameter among parameters."""
    assert isinstance(value, OpResult | BlockArgument)
    return value.index


def _position(facts: Facts, number: int) -> int:
    """The line on which a parameter stands."""
    kept = facts.get("xla.position")
    return cast("IntegerAttr[Any]", kept).value.data if isinstance(kept, IntegerAttr) else number


def _merged(first: str, second: str) -> str:
    """Two attributes of one name as one: `, a={x}` and `, a={y}` are `, a={x,y}`."""
    return f"{first[:-1]},{second[second.index('{') + 1 :]}"


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


def _new_name(op: Operation, number: int, body: ComputationText) -> str:
    """A name for the computation of a region: that of its only operation, or of the region."""
    if len(body.lines) == len(body.parameters) + 1:
        match = _ROOT_OPCODE.search(body.lines[-1])
        if match is not None:
            return match.group(1).replace("-", "_")
    opcode = op.name.removeprefix("xla.")
    regions = OPCODE_OF[type(op)].computations[0]  # pyright: ignore[reportArgumentType]
    return f"{opcode}_{regions[min(number, len(regions) - 1)]}"


_ROOT_OPCODE = re.compile(r"^  ROOT [^=]* = [^(]*? ([a-z][a-z0-9-]*)\(")
