"""The instructions of one computation, printed from the operations of a block.

Several results of an operation are a tuple, and `get-tuple-element` where one of them is used.
`computation_printing.py` has the operations that are irregular.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TupleType
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from xla_dialect.hlo_text.attributes import names as names_in
from xla_dialect.hlo_text.naming import FreeNames, given_name
from xla_dialect.hlo_text.opcodes import OPCODE_OF, Opcode
from xla_dialect.hlo_text.program_printing import ComputationText, ProgramPrinter
from xla_dialect.hlo_text.structure_printing import (
    NOTHING,
    Bundle,
    Facts,
    ResultShape,
    fail,
    flat_shape,
    is_constant,
    parent_of,
    result_shape,
    tuple_of,
)
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.tuples import GetTupleElementOp
from xla_dialect.spelling import NoHloSpelling
from xla_dialect.text.shapes import count_list


class BodyPrinter(ABC):
    """Prints one computation; `outer` prints the one around it, if there is one."""

    def __init__(self, program: ProgramPrinter, outer: BodyPrinter | None = None):
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

    @abstractmethod
    def irregular(self, op: Operation, opcode: Opcode | None) -> None:
        """Prints an operation with regions, with several results, or of an irregular opcode."""

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
