"""One instruction of HLO text to one operation of the dialect, by the table of opcodes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import NoReturn, TypeAlias, cast

from xdsl.dialects.builtin import (
    FileLineColLoc,
    FunctionType,
    IntAttr,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
    TupleType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Region, SSAValue, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from xla_dialect.entry.aliases import check_aliases
from xla_dialect.entry.names import kept_name
from xla_dialect.hlo_text.attributes import COMMON_ATTRIBUTES, Properties, kept_value, names
from xla_dialect.hlo_text.opcodes import OPCODE_OF, OPCODES, Opcode, asynchronous_opcode
from xla_dialect.hlo_text.syntax import (
    AttributeText,
    Instruction,
    Module,
    Operand,
    Span,
)
from xla_dialect.hlo_text.uninterpreted import DEFAULT
from xla_dialect.op import XlaOp, undeclared
from xla_dialect.ops.asynchronous import AsyncStartOp, context_start
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.data_movement import ReshapeOp, SliceOp
from xla_dialect.ops.open_contexts import OPEN
from xla_dialect.spelling import Excerpt, SpellingError, quoted, suggestion
from xla_dialect.text.literals import parse_literal
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import (
    PRED,
    Array,
    all_compatible,
    array,
    compatible,
    extents,
    flatten,
    is_array,
    is_scalar,
    spell,
    spell_all,
    tuple_elements,
    without_bounds,
)
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.text import hint_at

Values: TypeAlias = dict[str, SSAValue]
"""The instructions of one computation met so far, by name."""

_MEMORIZED_LITERAL = 32
"""The longest literal, in characters, that is looked up among those read before."""


_number = lru_cache(1 << 12)(IntAttr)
"""A line or a column; making an attribute costs more than looking it up."""


def set_name(value: SSAValue, name: str) -> dict[str, Attribute]:
    """
    Gives a value its HLO name as hint; returns `xla.name` where a hint cannot hold that name.

    xDSL's hints start with no digit and lose a suffix `_<digits>`.
    """
    try:
        hint_at(value, name)
    except ValueError:
        return {"xla.name": StringAttr(name)}
    return {} if value.name_hint == name else {"xla.name": StringAttr(name)}


def _location(file: StringAttr, line: IntAttr, column: IntAttr) -> FileLineColLoc:
    """The attribute without xDSL's check of its fields, which takes ten times as long."""
    location = object.__new__(FileLineColLoc)
    for name, value in (("filename", file), ("line", line), ("column", column)):
        object.__setattr__(location, name, value)
    return location


class InstructionImporter:
    """
    Makes operations from instructions.

    `functions` are those made so far, by computation; `regions` makes the regions for computations
    that an instruction calls, and the attributes that say whose they are.
    """

    def __init__(
        self,
        module: Module,
        functions: Mapping[str, FuncOp],
        regions: Callable[[Instruction], tuple[list[Region], Properties]],
    ):
        self.module = module
        self.text = module.text
        self.functions = functions
        self.regions = regions
        self._file = StringAttr(module.source.file)
        self._locations: dict[tuple[int, int], FileLineColLoc] = {}
        """Made once, however often a computation is copied."""
        self._properties: dict[tuple[str, str, str], Properties] = {}
        """Opcode, attribute and the text of its value, to what they mean."""
        self._kept: dict[tuple[str, str], Attribute] = {}
        """Attribute and the text of its value, to what is kept of it."""
        self._inferred: dict[tuple[object, ...], tuple[Attribute, ...]] = {}
        """The results of instructions checked before, by the identity of all they follow from;
        operations keep those objects."""
        self._literals: dict[tuple[int, str], Attribute] = {}
        """Literals by the identity of their type (the parser has one object per type) and text."""

    def fail(self, message: str, offset: int) -> NoReturn:
        """Raises HloImportError at an offset of the text."""
        raise self.module.source.import_error(message, offset)

    @contextmanager
    def meaning(self, start: int = 0, name: str = "") -> Generator[None]:
        """As `Excerpt`, where what is read is HLO, but has no meaning: an HloImportError."""
        try:
            with Excerpt(start, name):
                yield
        except SpellingError as error:
            self.fail(error.message, error.position)

    def location(self, instruction: Instruction) -> FileLineColLoc:
        """Where the instruction stands in the text."""
        place = (instruction.line, instruction.column)
        found = self._locations.get(place)
        if found is None:
            found = _location(self._file, *map(_number, place))
            self._locations[place] = found
        return found

    def operations(self, instruction: Instruction, values: Values) -> list[XlaOp]:
        """
        The operation for an instruction as `operation` makes it, last; before it, those that take
        apart an array of starts.
        """
        with self.meaning():
            vector = index_vector(instruction, values)
        if vector is None:
            return [self.operation(instruction, values)]
        ops = start_scalars(vector, self.location(instruction))
        # The blanks keep these names apart from all names of the text.
        scalars = {f"{i} of {instruction.name}": op.results[0] for i, op in enumerate(ops[1::2])}
        values |= scalars
        op = self.operation(with_scalars(instruction, scalars), values)
        for name in scalars:
            del values[name]
        return [*ops, op]

    def operation(self, instruction: Instruction, values: Values) -> XlaOp:
        """
        The operation for an instruction, detached, its result named.

        Raises HloImportError or HloSyntaxError for whatever is wrong with it.
        """
        opcode = OPCODES.get(instruction.opcode)
        if opcode is None:
            return self._asynchronous(instruction, values)
        operands = self._operands(opcode, instruction, values)
        properties, attributes = self._attributes(opcode, instruction, values)
        regions: list[Region] = []
        declared = instruction.type
        if opcode.name == "constant":
            declared, properties["value"] = self._literal(instruction)
        elif opcode.name == "call":
            declared = self._call(instruction, operands, properties)
        elif opcode.name == "conditional":
            self._check_branches(instruction, operands)
        elif opcode.name == "custom-call":
            self._check_operand_layouts(instruction, operands)
        elif opcode.name in _LATER and len(operands) > 1:
            properties["bound"] = IntegerAttr(len(operands) - 1, i64)
        if instruction.callees and opcode.name != "call":
            regions, names_of_regions = self.regions(instruction)
            attributes |= names_of_regions
        if declared is None and opcode.takes_declared:
            self.fail(
                f"the shape of {opcode.name} does not follow from its operands: write it",
                instruction.opcode_start,
            )
        op = create(
            opcode.operation,
            operands=operands,
            result_types=() if declared is None else (declared,),
            properties=properties,
            attributes=attributes,
            regions=regions,
            location=self.location(instruction),
        )
        return self._finished(op, instruction)

    def _finished(self, op: XlaOp, instruction: Instruction) -> XlaOp:
        """The operation with its result, checked and named."""
        self._check_result(op, instruction)
        if _ALIASING in op.attributes and op.name != AsyncStartOp.name:
            self._check_aliasing(op, instruction)
        op.attributes |= set_name(op.results[0], instruction.name)
        return op

    def _asynchronous(self, instruction: Instruction, values: Values) -> XlaOp:
        """The operation for `negate-start` and its like: what runs is one operation in a region."""
        found = asynchronous_opcode(instruction.opcode)
        if found is None:
            self._fail_unknown_opcode(instruction)
        name, base = found
        opcode = OPCODES[name]
        if name != "async-start":
            op = self.operation(replace(instruction, opcode=name), values)
            self._check_wrapped(instruction, base, op)
            return op
        elements = None if instruction.type is None else tuple_elements(instruction.type)
        if elements is None or len(elements) < 2:
            self.fail(
                f"{instruction.opcode} needs its shape ((operands), result, ...) written",
                instruction.type_start,
            )
        own = {
            attribute: text
            for attribute, text in instruction.attributes.items()
            if attribute in opcode.spellings or attribute in COMMON_ATTRIBUTES
        }
        outer = replace(instruction, opcode=name, attributes=own)
        operands = self._operands(opcode, outer, values)
        properties, attributes = self._attributes(opcode, outer, values)
        types = [*(operand.type for operand in operands), *instruction.bound_later]
        block = Block(arg_types=types)
        later = Operand(instruction.start, "", None)
        written = [*instruction.operands, *[later] * len(instruction.bound_later)]
        is_open = elements[1] == OPEN and instruction.result_bound_later is not None
        inner = replace(
            instruction,
            opcode=base.name,
            type=instruction.result_bound_later if is_open else elements[1],
            operands=[replace(operand, name=str(i)) for i, operand in enumerate(written)],
            attributes={k: v for k, v in instruction.attributes.items() if k not in own},
        )
        wrapped = self.operation(inner, {str(i): arg for i, arg in enumerate(block.args)})
        block.add_ops([wrapped, create(ReturnOp, operands=wrapped.results)])
        op = create(
            opcode.operation,
            operands=operands,
            result_types=(instruction.type,) if instruction.type is not None else (),
            properties=properties,
            attributes=attributes,
            regions=[Region(block)],
            location=self.location(instruction),
        )
        return self._finished(op, instruction)

    def parameter(self, instruction: Instruction) -> tuple[Attribute, Properties]:
        """The type of a `parameter`, and its attributes as they are kept."""
        if instruction.type is None:
            self.fail("a parameter needs its shape written", instruction.opcode_start)
        kept: Properties = {}
        for name, attribute in instruction.attributes.items():
            if name not in COMMON_ATTRIBUTES:
                self.fail(f"parameter has no attribute '{name}'", attribute.start)
            kept[kept_name(name)] = self.kept(name, attribute.value)
        replication = instruction.attributes.get("parameter_replication")
        if replication is not None:
            flags = self.text[slice(*replication.value)].replace("}", "").count("e")
            leaves = len(flatten([instruction.type]))
            if flags != leaves:
                self.fail(
                    f"parameter_replication has {flags} flags, the parameter {leaves} arrays",
                    replication.start,
                )
        return instruction.type, kept

    def kept(self, name: str, value: Span) -> Attribute:
        """What is kept of an attribute that is not interpreted."""
        key = (name, self.module.source.text[value.start : value.end])
        found = self._kept.get(key)
        if found is None:
            with Excerpt(value.start, name):
                found = self._kept[key] = kept_value(*key)
        return found

    def _operands(self, opcode: Opcode, instruction: Instruction, values: Values) -> list[SSAValue]:
        operands: list[SSAValue] = []
        for operand in instruction.operands:
            value = values.get(operand.name)
            if value is None:
                hint = suggestion(operand.name, values)
                self.fail(
                    f"{quoted(operand.name)} is not defined before its use{hint}", operand.start
                )
            if operand.type is not None and not compatible(operand.type, value.type):
                self.fail(
                    f"operand '{operand.name}' is written as {spell(operand.type)}, "
                    f"but defined as {spell(value.type)}",
                    operand.start,
                )
            operands.append(value)
        if not opcode.takes_operands(len(operands)):
            self.fail(
                f"{opcode.name} takes {opcode.describe_operands()}, found {len(operands)}",
                instruction.opcode_start,
            )
        return operands

    def _attributes(
        self, opcode: Opcode, instruction: Instruction, values: Values
    ) -> tuple[Properties, dict[str, Attribute]]:
        """The properties that the attributes give, and the attributes that are kept as written."""
        properties = dict(opcode.defaults)
        kept: dict[str, Attribute] = {}
        for name, attribute in instruction.attributes.items():
            start, end = attribute.value
            if name in opcode.spellings:
                key = (opcode.name, name, self.text[start:end])
                found = self._properties.get(key)
                if found is None:
                    found = self._properties[key] = self._read(opcode, name, attribute.value)
                properties |= found
            elif name == "parameter_replication":
                self.fail(f"{opcode.name} is no parameter, but has {name}", attribute.start)
            elif name in COMMON_ATTRIBUTES or name in opcode.kept:
                value = self.kept(name, attribute.value)
                if value != _DEFAULT:
                    kept[kept_name(name)] = value
                if name == "control-predecessors":
                    self.check_predecessors(attribute.value, values)
            elif opcode.name in _LATER and name in _INHERITED:
                self._check_inherited(name, attribute, instruction, values)
            elif not any(name in alternative for alternative in opcode.computations):
                self._fail_unknown_attribute(opcode, name, attribute)
        for name in opcode.required:
            if name not in instruction.attributes:
                self.fail(f"{opcode.name} needs the attribute '{name}'", instruction.opcode_start)
        for name, other in opcode.otherwise.items():
            if name in instruction.attributes and other in instruction.attributes:
                start = instruction.attributes[name].start
                self.fail(f"'{name}' says what '{other}' says; {opcode.name} takes one", start)
        return properties, kept

    def _check_wrapped(self, instruction: Instruction, base: Opcode, op: XlaOp) -> None:
        """`negate-done` belongs to a `negate-start`."""
        start = context_start(op.operands[0])
        wrapped = None if start is None else start.regions[0].block.first_op
        if wrapped is not None and not isinstance(wrapped, base.operation):
            found = OPCODE_OF[type(wrapped)].name if isinstance(wrapped, XlaOp) else wrapped.name
            self.fail(
                f"{instruction.opcode} of an operand that runs {found}", instruction.opcode_start
            )

    def _check_inherited(
        self, name: str, attribute: AttributeText, instruction: Instruction, values: Values
    ) -> None:
        """What `async-done` repeats of its `async-start` is the same; it is not kept."""
        value = values.get(instruction.operands[0].name) if instruction.operands else None
        start = None if value is None else context_start(value)
        if start is None:
            return
        if name == "calls":
            given = f'"{attribute.computations[0].name}"'
            computations = start.attributes.get("xla.computations")
            inherited = given if computations is None else str(computations)[1:-1]
        else:
            given = self.text[attribute.value.start : attribute.value.end]
            thread = start.async_execution_thread
            inherited = f'"{"main" if thread is None else thread.data}"'
        if given != inherited:
            self.fail(
                f"{instruction.opcode} has {name}={quoted(given)}, its async-start {inherited}",
                attribute.start,
            )

    def _read(self, opcode: Opcode, name: str, value: Span) -> Properties:
        with Excerpt(value.start, name):
            return opcode.spellings[name].read(self.text[value.start : value.end])

    def check_predecessors(self, value: Span, values: Values) -> None:
        """What `control-predecessors` names is defined before."""
        with Excerpt(value.start, "control-predecessors"):
            predecessors = names(self.text[value.start : value.end])
        for name, position in predecessors:
            if name not in values:
                hint = suggestion(name, values)
                self.fail(
                    f"{quoted(name)} is not defined before its use{hint}", value.start + position
                )

    def _literal(self, instruction: Instruction) -> tuple[Attribute, Attribute]:
        """The type of a `constant` and its value; bounds are sizes there, as in XLA."""
        if instruction.type is None:
            self.fail("a constant needs its shape written", instruction.opcode_start)
        type_ = without_bounds(instruction.type)
        start, end = instruction.argument
        text = self.text[start:end]
        key = (id(instruction.type), text)
        found = self._literals.get(key) if len(text) <= _MEMORIZED_LITERAL else None
        if found is None:
            with self.meaning(start):
                found = parse_literal(text, type_)
            if len(text) <= _MEMORIZED_LITERAL:
                self._literals[key] = found
        return type_, found

    def _call(
        self, instruction: Instruction, operands: list[SSAValue], properties: Properties
    ) -> Attribute:
        """Makes a `call` name its function; returns the type of the result."""
        (callee,) = instruction.callees
        function = self.functions[callee.name]
        properties["to_apply"] = SymbolRefAttr(function.sym_name)
        signature: FunctionType = function.function_type
        given = [operand.type for operand in operands]
        if not all_compatible(given, signature.inputs.data):
            self.fail(
                f"xla.call: (C2) operands {spell_all(given)} for parameters "
                f"{spell_all(signature.inputs.data)} of '{callee.name}'",
                instruction.opcode_start,
            )
        (result,) = signature.outputs.data
        if instruction.type is None:
            return result
        if not compatible(instruction.type, result):
            self.fail(
                f"xla.call: (C2) declared {spell(instruction.type)}, but '{callee.name}' "
                f"returns {spell(result)}",
                instruction.type_start,
            )
        return instruction.type

    def _check_operand_layouts(self, instruction: Instruction, operands: list[SSAValue]) -> None:
        """`operand_layout_constraints` has one shape for each operand, and of its type."""
        attribute = instruction.attributes.get("operand_layout_constraints")
        if attribute is None:
            return
        start, end = attribute.value
        shapes = tuple_elements(parse_type(f"({self.text[start + 1 : end - 1]})")) or ()
        given = [operand.type for operand in operands]
        if not all_compatible(shapes, given):
            self.fail(
                f"operand_layout_constraints are {spell_all(shapes)} for operands of "
                f"{spell_all(given)}",
                attribute.start,
            )

    def _check_aliasing(self, op: XlaOp, instruction: Instruction) -> None:
        """`output_to_operand_aliasing` names operands and results, and parts of one type."""
        start, end = instruction.attributes["output_to_operand_aliasing"].value
        types = [operand.type for operand in op.operands]
        result, whose = op.results[0].type, instruction.opcode
        with self.meaning(start, "output_to_operand_aliasing"):
            check_aliases(self.text[start:end], types, result, whose, "operand")

    def _check_branches(self, instruction: Instruction, operands: list[SSAValue]) -> None:
        """A pred chooses between a true and a false computation, an s32 among branches."""
        is_pred = is_scalar(operands[0].type, PRED)
        if is_pred == ("branch_computations" in instruction.attributes):
            expected = "true_computation" if is_pred else "branch_computations"
            self.fail(
                f"conditional on {spell(operands[0].type)} needs the attribute '{expected}'",
                instruction.opcode_start,
            )

    def _check_result(self, op: XlaOp, instruction: Instruction) -> None:
        """
        Infers the result where its type is not written, else compares the two.

        That depends on types, properties and computations only, and in a large module most
        instructions have those of one before.
        """
        key = (
            instruction.opcode,
            id(instruction.type),
            tuple([id(operand.type) for operand in op.operands]),
            tuple([(name, id(value)) for name, value in op.properties.items()]),
            tuple([callee.name for callee in instruction.callees]),
        )
        inferred = self._inferred.get(key)
        if inferred is not None and instruction.type is not None:
            return
        if inferred is None:
            inferred = self._infer(op, instruction)
            # The key tells regions apart by their callees; that of `negate-start` has none.
            if not op.regions or instruction.opcode in OPCODES:
                self._inferred[key] = inferred
        if not op.results:
            op.set_result_types(inferred if len(inferred) == 1 else (_tuple(inferred),))
        elif not op.declares(inferred):
            self.fail(str(undeclared(op, inferred)), instruction.type_start)

    def _infer(self, op: XlaOp, instruction: Instruction) -> tuple[Attribute, ...]:
        try:
            return op.infer_types()
        except VerifyException as violation:
            computed = op.in_one_precision()
            if computed is None:
                self.fail(str(violation), instruction.opcode_start)
            return computed[1]

    def _fail_unknown_opcode(self, instruction: Instruction) -> NoReturn:
        opcode = instruction.opcode
        removed = _REMOVED_OPCODES.get(opcode)
        hint = f"; {removed}" if removed else suggestion(opcode, (*OPCODES, "parameter"))
        self.fail(f"unknown opcode {quoted(opcode)}{hint}", instruction.opcode_start)

    def _fail_unknown_attribute(
        self, opcode: Opcode, name: str, attribute: AttributeText
    ) -> NoReturn:
        own = opcode.describe_attributes()
        hint = suggestion(name, (*own.split(", "), *COMMON_ATTRIBUTES))
        removed = _REMOVED_ATTRIBUTES.get(name)
        self.fail(
            f"{opcode.name} has no attribute {quoted(name)} (it has {own})"
            + (f"; {removed}" if removed else hint),
            attribute.start,
        )


_REMOVED_OPCODES = {
    "create-token": "XLA has after-all without operands instead",
    "trace": "XLA has removed it; it did nothing",
    "tuple-select": "XLA has a select of every element instead",
}
_REMOVED_ATTRIBUTES = {"sparsity": "XLA has removed dots of sparse operands"}
"""Attributes of older texts, with the reason for rejecting them."""

_DEFAULT = StringAttr(DEFAULT)

_ALIASING = kept_name("output_to_operand_aliasing")

_LATER = ("async-update", "async-done")
_INHERITED = ("calls", "async_execution_thread")
"""What these may repeat of their `async-start`."""


def _tuple(types: tuple[Attribute, ...]) -> Attribute:
    return TupleType(tuple(t for t in types if isinstance(t, TypeAttribute)))


# `dynamic-slice(x, i)` with all starts in one array of rank 1, as older HLO text has it.
#
# Each start becomes a slice of that array, reshaped to a scalar: the dialect, and HLO today, has
# one scalar per dimension.

FIRST_INDEX = {"dynamic-slice": 1, "dynamic-update-slice": 2}
"""Which operand is the first start."""


def index_vector(instruction: Instruction, values: Mapping[str, SSAValue]) -> SSAValue | None:
    """
    The array of rank 1 that holds all starts; None if the instruction has them one by one.

    Raises SpellingError, its position one in the whole text, at an array that does not have one
    start for each dimension.
    """
    first = FIRST_INDEX.get(instruction.opcode)
    if first is None or len(instruction.operands) != first + 1:
        return None
    operand, starts = (values.get(instruction.operands[i].name) for i in (0, first))
    if operand is None or starts is None:
        return None
    if not (is_array(starts.type) and is_array(operand.type)):
        return None
    vector = starts.type
    rank = len(operand.type.shape.data)
    if len(vector.shape.data) != 1:
        return None
    if vector.get_shape() != (rank,):
        position = instruction.operands[first].start
        message = f"{spell(vector)} does not hold one start for each of {rank} dimensions"
        raise SpellingError(message, position)
    return starts


def start_scalars(vector: SSAValue, location: LocationAttr) -> list[XlaOp]:
    """For every element of an array of rank 1 a slice and, right after it, the scalar."""
    scalar = array(cast(Array, vector.type).element_type, ())
    ops: list[XlaOp] = []
    for i in range(extents(cast(Array, vector.type))[0]):
        part = SliceOp(vector, start_indices=[i], limit_indices=[i + 1], strides=[1])
        ops += [part, ReshapeOp(part, result_types=[scalar])]
    for op in ops:
        op.location = location
    return ops


def with_scalars(instruction: Instruction, names: Iterable[str]) -> Instruction:
    """The instruction with values of these names in place of its array."""
    before = instruction.operands[: FIRST_INDEX[instruction.opcode]]
    last = instruction.operands[-1]
    operands = [*before, *(replace(last, name=name, type=None) for name in names)]
    return replace(instruction, operands=operands)
