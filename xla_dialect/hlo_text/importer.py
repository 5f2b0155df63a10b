"""The syntax of an HLO module to a `builtin.module` of functions.

ENTRY becomes `func.func public @main`, the target of a `call` a private function of its name, and
so does a computation that nothing uses. Every other computation becomes a region of the operation
that uses it, one copy per use; where those are too many, bodies and branches
used more than once become functions, and the region calls them.

Everything that is not interpreted is kept, under names with the prefix `xla.`: attributes of
instructions, computations and the module, see `kept_value`. Besides these:

- `xla.name`: the name of an instruction, where the name hint of its value cannot hold it.
- `xla.computation`, on functions: the name of the computation, where the symbol is another.
- `xla.computations`: the names of the computations that became the regions of an operation.
- `xla.parameters`: what the parameters of these carried: a dictionary per parameter, per region.
  For functions these are the attributes of the arguments.
- `xla.computation_attributes`: what followed the closing braces of these, likewise. For functions
  these are attributes.
- `xla.position`, on parameters: the line of the computation it stands on (from 0), where
  parameter i is not line i.
- `xla.computation_order`, on the module: all computations in the order of the text.
- `xla.file_names` and so on, on the module: the lines of the stack frame tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import NoReturn, TypeAlias

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    NoneType,
    StringAttr,
    SymbolRefAttr,
    UnrealizedConversionCastOp,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.diagnostics import LocatedError
from xla_dialect.entry import ALIASES, ENTRY_LAYOUT, ENTRY_SYMBOL, check_aliases, kept_name
from xla_dialect.hlo_text.attributes import (
    COMMON_ATTRIBUTES,
    COMPUTATION_ATTRIBUTES,
    LAYOUT_DEPENDENT,
    MODULE_ATTRIBUTES,
    Properties,
    Spelling,
    names,
)
from xla_dialect.hlo_text.grammars import STACK_FRAME_TABLES, UNINTERPRETED
from xla_dialect.hlo_text.opcodes import (
    OPCODE_OF,
    OPCODES,
    Opcode,
    asynchronous_opcode,
    opcode_with_computations,
)
from xla_dialect.hlo_text.syntax import (
    AttributeText,
    Computation,
    HloImportError,
    Instruction,
    Module,
    Operand,
    Recovery,
    Span,
)
from xla_dialect.op import XlaOp, undeclared
from xla_dialect.ops.asynchronous import OPEN, AsyncStartOp, context_start
from xla_dialect.ops.control_flow import CallOp, ReturnOp
from xla_dialect.ops.data_movement import ReshapeOp, SliceOp
from xla_dialect.spelling import Excerpt, SpellingError, quoted, suggestion
from xla_dialect.text.grammars import parsed
from xla_dialect.text.literals import parse_literal
from xla_dialect.text.shapes import MAX_NESTING, spell_entry_layout
from xla_dialect.types import (
    PRED,
    all_compatible,
    array,
    compatible,
    flatten,
    is_array,
    is_scalar,
    spell,
    spell_all,
    tuple_elements,
    tuple_of,
    without_bounds,
)
from xla_dialect.xdsl.creation import create, location_at
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


class _Importer:
    """Makes operations from instructions, and functions and regions from computations."""

    def __init__(self, module: Module, recovery: Recovery | None):
        self.module = module
        self.fail = module.fail
        self.text = module.text
        self.recovery = recovery
        self.functions: dict[str, FuncOp] = {}
        """Those made so far, by computation."""
        self.kept_of_parameters: dict[str, list[Properties]] = {}
        """What the parameters of each computation carry."""
        self._file = StringAttr(module.source.file)
        self._properties: dict[tuple[int, str], Properties] = {}
        """The identity of a spelling and the text of a value, to what they mean."""
        self._inferred: dict[tuple[object, ...], tuple[Attribute, ...]] = {}
        """The results of instructions checked before, by the identity of all they follow from;
        operations keep those objects."""
        self._literals: dict[tuple[int, str], Attribute] = {}
        """Literals by the identity of their type (the parser has one object per type) and text."""

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
        return location_at(self._file, _number(instruction.line), _number(instruction.column))

    def operation(
        self,
        instruction: Instruction,
        values: Values,
        block: Block,
        wrapped: Instruction | None = None,
    ) -> XlaOp:
        """
        The operation for an instruction, detached, its result named.

        What takes an array of starts apart goes into the block before it. `wrapped` is the one
        operation in its region, if it has no computation for that. Raises HloImportError or
        HloSyntaxError for whatever is wrong with the instruction.
        """
        opcode = OPCODES.get(instruction.opcode)
        if opcode is None:
            return self._asynchronous(instruction, values, block)
        operands = self._operands(opcode, instruction, values)
        first = FIRST_START.get(opcode.name)
        if first is not None and len(operands) == first + 1:
            starts = self._starts(instruction, operands[0], operands[first])
            if starts is not None:
                block.add_ops(starts)
                operands[first:] = [op.results[0] for op in starts[1::2]]
        self._check_operand_count(opcode, instruction, len(operands))
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
        if wrapped is not None:
            regions = [self._region_of(wrapped, operands)]
        elif instruction.callees and opcode.name != "call":
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
        self._check_result(op, instruction)
        if _ALIASING in op.attributes and op.name != AsyncStartOp.name:
            self._check_aliasing(op, instruction)
        op.attributes |= set_name(op.results[0], instruction.name)
        return op

    def _asynchronous(self, instruction: Instruction, values: Values, block: Block) -> XlaOp:
        """The operation for `negate-start` and its like: what runs is one operation in a region."""
        found = asynchronous_opcode(instruction.opcode)
        if found is None:
            self._fail_unknown_opcode(instruction)
        name, base = found
        opcode = OPCODES[name]
        if name != "async-start":
            op = self.operation(replace(instruction, opcode=name), values, block)
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
        is_open = elements[1] == OPEN and instruction.result_bound_later is not None
        inner = replace(
            instruction,
            opcode=base.name,
            type=instruction.result_bound_later if is_open else elements[1],
            attributes={k: v for k, v in instruction.attributes.items() if k not in own},
        )
        outer = replace(instruction, opcode=name, attributes=own, callees=[])
        return self.operation(outer, values, block, inner)

    def _region_of(self, instruction: Instruction, operands: Sequence[SSAValue]) -> Region:
        """A region of one operation, whose parameters are all its operands."""
        types = [*(operand.type for operand in operands), *instruction.bound_later]
        block = Block(arg_types=types)
        values: Values = {str(i): argument for i, argument in enumerate(block.args)}
        later = [Operand(instruction.start, "", None)] * len(instruction.bound_later)
        written = [*instruction.operands, *later]
        named = [replace(operand, name=name) for operand, name in zip(written, values, strict=True)]
        op = self.operation(replace(instruction, operands=named), values, block)
        block.add_ops([op, create(ReturnOp, operands=op.results)])
        return Region(block)

    def parameter(self, instruction: Instruction) -> tuple[Attribute, Properties]:
        """The type of a `parameter`, and its attributes as they are kept."""
        if instruction.type is None:
            self.fail("a parameter needs its shape written", instruction.opcode_start)
        kept = self.kept("parameter", COMMON_ATTRIBUTES, instruction.attributes)
        replication = instruction.attributes.get("parameter_replication")
        if replication is not None:
            grammar = UNINTERPRETED["parameter_replication"]
            flags = len(parsed(grammar, self.text[slice(*replication.value)]))
            leaves = len(flatten([instruction.type]))
            if flags != leaves:
                self.fail(
                    f"parameter_replication has {flags} flags, the parameter {leaves} arrays",
                    replication.start,
                )
        return instruction.type, kept

    def read(self, spelling: Spelling, name: str, value: Span) -> Properties:
        """What an attribute says; one that is kept as it is written keeps its comments."""
        text = self.module.source.text if spelling.is_kept else self.text
        key = id(spelling), text[value.start : value.end]
        found = self._properties.get(key)
        if found is None:
            with Excerpt(value.start, name):
                found = self._properties[key] = spelling.read(key[1])
        return found

    def kept(
        self, whose: str, known: Mapping[str, Spelling], given: Mapping[str, AttributeText]
    ) -> Properties:
        """What is kept of the attributes of a parameter, a computation or the module."""
        found: Properties = {}
        for name, attribute in given.items():
            if name not in known:
                own = ", ".join(sorted(known))
                self._fail_unknown_attribute(whose, own, known, name, attribute)
            found |= self.read(known[name], name, attribute.value)
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
        return operands

    def _check_operand_count(self, opcode: Opcode, instruction: Instruction, count: int) -> None:
        if not opcode.takes_operands(count):
            self.fail(
                f"{opcode.name} takes {opcode.describe_operands()}, found {count}",
                instruction.opcode_start,
            )

    def _starts(
        self, instruction: Instruction, operand: SSAValue, starts: SSAValue
    ) -> list[XlaOp] | None:
        """
        For each of the starts that are one array of rank 1, as older HLO text has them, a slice
        and, right after it, the scalar: the dialect, and HLO today, has one scalar per dimension.

        None for starts that are scalars.
        """
        vector, array_type = starts.type, operand.type
        if not is_array(vector) or not is_array(array_type) or len(vector.shape.data) != 1:
            return None
        rank = len(array_type.shape.data)
        if vector.get_shape() != (rank,):
            message = f"{spell(vector)} does not hold one start for each of {rank} dimensions"
            self.fail(message, instruction.operands[-1].start)
        scalar = array(vector.element_type, ())
        ops: list[XlaOp] = []
        for i in range(rank):
            part = SliceOp(starts, start_indices=[i], limit_indices=[i + 1], strides=[1])
            ops += [part, ReshapeOp(part, result_types=[scalar])]
        for op in ops:
            op.location = self.location(instruction)
        return ops

    def _attributes(
        self, opcode: Opcode, instruction: Instruction, values: Values
    ) -> tuple[Properties, dict[str, Attribute]]:
        """The properties that the attributes give, and the attributes that are kept as written."""
        properties = dict(opcode.defaults)
        kept: dict[str, Attribute] = {}
        for name, attribute in instruction.attributes.items():
            spelling = opcode.spellings.get(name) or COMMON_ATTRIBUTES.get(name)
            if name == "parameter_replication":
                self.fail(f"{opcode.name} is no parameter, but has {name}", attribute.start)
            elif spelling is not None:
                found = self.read(spelling, name, attribute.value)
                (kept if spelling.is_kept else properties).update(found)
                if name == "control-predecessors":
                    self.check_predecessors(attribute.value, values)
            elif opcode.name in _LATER and name in _INHERITED:
                self._check_inherited(name, attribute, instruction, values)
            elif not any(name in alternative for alternative in opcode.computations):
                own = opcode.describe_attributes()
                known = (*own.split(", "), *COMMON_ATTRIBUTES)
                self._fail_unknown_attribute(opcode.name, own, known, name, attribute)
        for name in opcode.required:
            if name not in instruction.attributes:
                self.fail(f"{opcode.name} needs the attribute '{name}'", instruction.opcode_start)
        for name, (other, _) in opcode.difference.otherwise.items():
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
        grammar = UNINTERPRETED["operand_layout_constraints"]
        shapes = parsed(grammar, self.text[slice(*attribute.value)])
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
            try:
                inferred = op.infer_types()
            except VerifyException as violation:
                computed = op.in_one_precision()
                if computed is None:
                    self.fail(str(violation), instruction.opcode_start)
                inferred = computed[1]
            # The key tells regions apart by their callees; that of `negate-start` has none.
            if not op.regions or instruction.callees:
                self._inferred[key] = inferred
        if not op.results:
            if len(inferred) != 1:
                inferred = (tuple_of(inferred),)
            op.set_result_types(inferred)
        elif not op.declares(inferred):
            self.fail(str(undeclared(op, inferred)), instruction.type_start)

    def _fail_unknown_opcode(self, instruction: Instruction) -> NoReturn:
        opcode = instruction.opcode
        removed = _REMOVED_OPCODES.get(opcode)
        hint = f"; {removed}" if removed else suggestion(opcode, (*OPCODES, "parameter"))
        self.fail(f"unknown opcode {quoted(opcode)}{hint}", instruction.opcode_start)

    def _fail_unknown_attribute(
        self, whose: str, own: str, known: Iterable[str], name: str, attribute: AttributeText
    ) -> NoReturn:
        hint = suggestion(name, known)
        removed = _REMOVED_ATTRIBUTES.get(name)
        self.fail(
            f"{whose} has no attribute {quoted(name)} (it has {own})"
            + (f"; {removed}" if removed else hint),
            attribute.start,
        )

    def module_op(self) -> ModuleOp:
        module = self.module
        for computation in module.computations.values():
            if computation.becomes_function:
                self.functions[computation.name] = self.function(computation)
        if self.recovery is not None:
            # Those whose only user is wrong have not been looked at.
            for computation in module.computations.values():
                if computation.name not in self.kept_of_parameters:
                    self.block(computation)
        attributes = self.module_attributes()
        self.check_entry_layout()
        return ModuleOp(list(self.functions.values()), attributes, sym_name=StringAttr(module.name))

    def function(self, computation: Computation) -> FuncOp:
        """The function for a computation, with its private or public symbol."""
        block, root = self.block(computation)
        block.add_op(FuncReturnOp(root))
        is_entry = computation is self.module.entry
        symbol = ENTRY_SYMBOL if is_entry else self.symbol(computation.name)
        kept_of_each = self.kept_of_parameters[computation.name]
        function = FuncOp(
            symbol,
            ([argument.type for argument in block.args], [root.type]),
            Region(block),
            "public" if is_entry else "private",
            arg_attrs=ArrayAttr([DictionaryAttr(f) for f in kept_of_each])
            if any(kept_of_each)
            else None,
        )
        if symbol != computation.name:
            function.attributes["xla.computation"] = StringAttr(computation.name)
        function.attributes |= self.kept_of(computation)
        return function

    def symbol(self, name: str) -> str:
        """The symbol for a computation: its name, unless the entry has that symbol."""
        symbol = name
        while symbol == ENTRY_SYMBOL or (symbol != name and symbol in self.module.computations):
            symbol += "_"
        return symbol

    def regions(self, instruction: Instruction) -> tuple[list[Region], Properties]:
        """
        A fresh region for each computation of an instruction, and the attributes that tell whose
        they are.
        """
        callees = instruction.callees
        regions: list[Region] = []
        for callee in callees:
            found = self.call if is_called(callee, instruction) else self.block
            block, root = found(callee)
            block.add_op(create(ReturnOp, operands=[root]))
            regions.append(Region(block))
        attributes: Properties = {
            "xla.computations": ArrayAttr([StringAttr(callee.name) for callee in callees])
        }
        kept_of_each = [self.kept_of_parameters[callee.name] for callee in callees]
        if any(any(parameters) for parameters in kept_of_each):
            attributes["xla.parameters"] = ArrayAttr(
                [ArrayAttr([DictionaryAttr(f) for f in parameters]) for parameters in kept_of_each]
            )
        if any(callee.attributes for callee in callees):
            attributes["xla.computation_attributes"] = ArrayAttr(
                [DictionaryAttr(self.kept_of(callee)) for callee in callees]
            )
        return regions, attributes

    def kept_of(self, computation: Computation) -> Properties:
        """The attributes that follow the closing brace of a computation, as they are kept."""
        return self.kept("a computation", COMPUTATION_ATTRIBUTES, computation.attributes)

    def block(self, computation: Computation) -> tuple[Block, SSAValue]:
        """The instructions of a computation as a block without terminator, and its root."""
        parameters = [self.parameter(parameter) for parameter in computation.parameters]
        block = Block(arg_types=[type_ for type_, _ in parameters])
        values: Values = {}
        kept_of_each: list[Properties] = []
        for argument, (_, kept), parameter in zip(
            block.args, parameters, computation.parameters, strict=True
        ):
            argument.location = self.location(parameter)
            kept_of_each.append(set_name(argument, parameter.name) | kept)
        for position, instruction in enumerate(computation.instructions):
            if instruction.opcode == "parameter":
                number = instruction.number
                predecessors = instruction.attributes.get("control-predecessors")
                if predecessors is not None:
                    self.check_predecessors(predecessors.value, values)
                values[instruction.name] = block.args[number]
                if number != position:
                    kept_of_each[number]["xla.position"] = IntegerAttr(position, i64)
            else:
                try:
                    op = self.operation(instruction, values, block)
                except SpellingError as error:
                    op = self.stand_in(instruction, self.module.source.syntax_error(error))
                except HloImportError as error:
                    op = self.stand_in(instruction, error)
                block.add_op(op)
                values[instruction.name] = op.results[0]
        self.kept_of_parameters[computation.name] = kept_of_each
        assert computation.root is not None  # the parser sets it
        root = values[computation.root.name]
        if self.recovery is None or not self.recovery.errors:
            self.check_signature(computation, block, root)
        return block, root

    def call(self, computation: Computation) -> tuple[Block, SSAValue]:
        """As `block`, of a computation that is a function: a block that calls it."""
        function = self.functions[computation.name]
        block = Block(arg_types=function.function_type.inputs.data)
        call = create(
            CallOp,
            operands=block.args,
            result_types=function.function_type.outputs.data,
            properties={"to_apply": SymbolRefAttr(function.sym_name)},
            location=function.location,
        )
        block.add_op(call)
        return block, call.results[0]

    def stand_in(self, instruction: Instruction, error: LocatedError) -> Operation:
        """What stands for an instruction that is wrong; raises its error where nothing can."""
        recovery = self.recovery
        if recovery is None or recovery.is_full:
            raise error
        if recovery.lost.isdisjoint(operand.name for operand in instruction.operands):
            recovery.errors.append(error)
        if instruction.type is None:
            recovery.lost.add(instruction.name)
        type_ = NoneType() if instruction.type is None else instruction.type
        return UnrealizedConversionCastOp.create(result_types=[type_])

    def check_signature(self, computation: Computation, block: Block, root: SSAValue) -> None:
        """The types in the head of a computation are those of its parameters and its root."""
        signature = computation.signature
        if signature is None:
            return
        name = computation.name
        found = [argument.type for argument in block.args]
        if not all_compatible(signature.parameters, found):
            self.fail(
                f"'{name}' is declared with parameters {spell_all(signature.parameters)}, "
                f"but has {spell_all(found)}",
                signature.start,
            )
        if not compatible(signature.result, root.type):
            self.fail(
                f"'{name}' is declared to return {spell(signature.result)}, "
                f"but its root is {spell(root.type)}",
                signature.result_start,
            )

    def check_entry_layout(self) -> None:
        """The types in `entry_computation_layout` are those of the entry computation."""
        layout = self.module.entry_layout
        if layout is None:
            return
        signature = self.functions[self.module.entry.name].function_type
        declared = [*layout.parameters, layout.result]
        if not all_compatible(declared, [*signature.inputs.data, *signature.outputs.data]):
            self.fail(
                f"entry_computation_layout is {spell_all(layout.parameters)} -> "
                f"{spell(layout.result)}, but '{self.module.entry.name}' is "
                f"{spell_all(signature.inputs.data)} -> {spell_all(signature.outputs.data)}",
                layout.start,
            )

    def module_attributes(self) -> Properties:
        """The attributes and tables in the head of the module, as they are kept."""
        module = self.module
        found = self.kept("HloModule", MODULE_ATTRIBUTES, module.attributes)
        signature = self.functions[module.entry.name].function_type
        for name in ALIASES:
            if name in module.attributes:
                start, end = module.attributes[name].value
                with Excerpt(start, name):
                    text = module.text[start:end]
                    check_aliases(text, signature.inputs.data, signature.outputs.data[0])
        if any(name in found for name in LAYOUT_DEPENDENT):
            layout = spell_entry_layout(signature.inputs.data, signature.outputs.data[0])
            found.setdefault(ENTRY_LAYOUT, StringAttr(layout))
        if len(module.computations) > 1:
            names = [StringAttr(name) for name in module.computations]
            found["xla.computation_order"] = ArrayAttr(names)
        for table, lines in module.tables.items():
            found[STACK_FRAME_TABLES[table].attribute] = ArrayAttr(
                [StringAttr(line) for line in lines]
            )
        return found


_REMOVED_OPCODES = {
    "create-token": "XLA has after-all without operands instead",
    "trace": "XLA has removed it; it did nothing",
    "tuple-select": "XLA has a select of every element instead",
}
_REMOVED_ATTRIBUTES = {"sparsity": "XLA has removed dots of sparse operands"}
"""Attributes of older texts, with the reason for rejecting them."""

_ALIASING = kept_name("output_to_operand_aliasing")

_LATER = ("async-update", "async-done")
_INHERITED = ("calls", "async_execution_thread")
"""What these may repeat of their `async-start`."""


FIRST_START = {"dynamic-slice": 1, "dynamic-update-slice": 2}
"""Which operand is the first start."""


def import_module(module: Module, recovery: Recovery | None = None) -> ModuleOp:
    """
    The module of the dialect for the syntax of an HLO module; not verified.

    Raises HloImportError or HloSyntaxError for the first thing that is wrong. With a `recovery`, an
    instruction that is wrong becomes a cast of nothing to its declared shape.
    """
    resolve_computations(module)
    try:
        return _Importer(module, recovery).module_op()
    except SpellingError as error:
        raise module.source.syntax_error(error) from None


# Which computations the instructions of a module call, and how large they become when copied.

MAX_COPIED_INSTRUCTIONS = 1 << 18
"""How many instructions a module may have once every computation is copied to where it is used;
a large text may have more, up to `MAX_COPIES` times its own."""
MAX_COPIES = 8

MAX_UNSHARED_INSTRUCTIONS = 1 << 13
"""The same for modules that are left as they are. In those that copies make larger, bodies and
branches that are used more than once become functions, and are called."""
_SHARING = frozenset({"conditional", "while"})


def resolve_computations(module: Module) -> None:
    """
    Fills in `callees` of all instructions, with what is bound to them later, and
    `becomes_function` of all computations.

    A computation is defined before it is used, as XLA has it; so none can call itself. Raises
    HloImportError where that does not hold, and where copying exceeds the bounds.
    """
    defined: set[str] = set()
    called = {module.entry.name}
    inlined: set[str] = set()
    asynchronous: dict[str, str] = {}
    """What runs a computation asynchronously, by its name."""
    for computation in module.computations.values():
        for instruction in computation.instructions:
            opcode = opcode_with_computations(instruction.opcode)
            if opcode is None or not opcode.computations:
                continue
            callees = _callees(module, computation, instruction, opcode, defined)
            instruction.callees = callees
            if opcode.name == "async-start":
                for callee in callees:
                    other = asynchronous.setdefault(callee.name, instruction.name)
                    if other != instruction.name:
                        message = f"computation '{callee.name}' is run by '{other}' already"
                        module.fail(message, instruction.attributes["calls"].start)
            if opcode.name == "call":
                called.update(callee.name for callee in callees)
                continue
            inlined.update(callee.name for callee in callees)
        defined.add(computation.name)
        note_bound_later(computation)
    for name, computation in module.computations.items():
        computation.becomes_function = name in called or name not in inlined
    if not inlined:
        return
    own = sum(len(computation.instructions) for computation in module.computations.values())
    if _copied(module) > max(MAX_UNSHARED_INSTRUCTIONS, MAX_COPIES * own):
        _share(module)
    _check_nesting(module)
    limit = max(MAX_COPIED_INSTRUCTIONS, MAX_COPIES * own)
    if _copied(module) > limit:
        message = (
            f"module has more than {limit} instructions, when every computation is copied to "
            "where it is used"
        )
        module.fail(message, module.entry.start)


def _share(module: Module) -> None:
    """Bodies and branches that are used more than once become functions that regions call."""
    uses = Counter[str]()
    for computation in module.computations.values():
        for instruction in computation.instructions:
            if instruction.opcode in _SHARING:
                uses.update(callee.name for callee in instruction.callees)
    for name, count in uses.items():
        if count > 1:
            computation = module.computations[name]
            computation.is_shared = computation.becomes_function = True


def _regions(computation: Computation) -> Iterator[Computation]:
    """What becomes regions in a computation."""
    for instruction in computation.instructions:
        for callee in instruction.callees:
            if not is_called(callee, instruction):
                yield callee


def _check_nesting(module: Module) -> None:
    depths = dict[str, int]()
    for name, computation in module.computations.items():
        depth = max((depths[region.name] for region in _regions(computation)), default=0) + 1
        if depth > MAX_NESTING:
            message = f"computations are nested deeper than {MAX_NESTING} in '{name}'"
            module.fail(message, computation.start)
        depths[name] = depth


def _copied(module: Module) -> int:
    """How many instructions a module has once every computation is copied to where it is used."""
    sizes = dict[str, int]()
    for name, computation in module.computations.items():
        copies = sum(sizes[region.name] for region in _regions(computation))
        sizes[name] = len(computation.instructions) + copies
    return sum(sizes[name] for name, each in module.computations.items() if each.becomes_function)


def is_called(callee: Computation, instruction: Instruction) -> bool:
    """Whether an instruction calls a computation, or what it has as a region does."""
    return instruction.opcode == "call" or (callee.is_shared and instruction.opcode in _SHARING)


def _callees(
    module: Module,
    caller: Computation,
    instruction: Instruction,
    opcode: Opcode,
    defined: Container[str],
) -> list[Computation]:
    """The computations that an instruction names, in the order of the attributes."""
    given = instruction.attributes
    both = [names[0] for names in opcode.computations if names[0] in given]
    if len(both) > 1:
        message = f"{opcode.name} has {both[0]} and {both[1]}, which say the same"
        module.fail(message, given[both[1]].start)
    chosen = next(
        (alternative for alternative in opcode.computations if alternative[0] in given),
        opcode.computations[0] if opcode.difference.computations_required else (),
    )
    found: list[Computation] = []
    for attribute in chosen:
        if attribute not in given:
            module.fail(
                f"{opcode.name} needs the attribute '{attribute}'",
                instruction.opcode_start,
            )
        for name, start in given[attribute].computations:
            if name == caller.name:
                module.fail(f"computation '{name}' calls itself", start)
            if name not in defined and name in module.computations:
                module.fail(f"computation '{name}' is called before its definition", start)
            if name not in defined:
                hint = suggestion(name, module.computations)
                module.fail(f"computation {quoted(name)} is not defined{hint}", start)
            found.append(module.computations[name])
    return found


# What `dot-start` and its like leave open, and the `-update` or `-done` after it binds.
#
# The operation that runs needs all its operands, and the start may not say what they are.


def note_bound_later(computation: Computation) -> None:
    """Fills in `bound_later` and `result_bound_later` of the starts that leave something open."""
    starts: dict[str, Instruction] = {}
    """The start of each context so far, by the name of the context."""
    types: dict[str, Attribute | None] = {}
    for instruction in computation.instructions:
        types[instruction.name] = instruction.type
        found = asynchronous_opcode(instruction.opcode)
        if found is None:
            continue
        if found[0] == "async-start":
            starts[instruction.name] = instruction
            continue
        start = starts.get(instruction.operands[0].name) if instruction.operands else None
        if start is None:
            continue
        if found[0] == "async-update":
            starts[instruction.name] = start
            operands, result = _parts(instruction)
            start.bound_later = list(operands[len(start.operands) :]) or start.bound_later
        else:
            late = [operand.type or types.get(operand.name) for operand in instruction.operands[1:]]
            known = [type_ for type_ in late if type_ is not None]
            bound = len(start.operands) + len(start.bound_later)
            start.bound_later += known[: _missing(start, found[1].name, bound, len(known))]
            result = instruction.type
        if result not in (None, OPEN):
            start.result_bound_later = result


def _parts(instruction: Instruction) -> tuple[tuple[Attribute, ...], Attribute | None]:
    """The operands and the result in the written type of a context; none where it is no context."""
    elements = None if instruction.type is None else tuple_elements(instruction.type)
    if elements is None or len(elements) < 2:
        return (), None
    return tuple_elements(elements[0]) or (), elements[1]


def _missing(start: Instruction, opcode: str, bound: int, most: int) -> int:
    """How many of so many operands of a `-done` are operands of what runs, not buffers."""
    if start.callees:
        return len(start.callees[0].parameters) - bound
    return next((n for n in range(most, 0, -1) if OPCODES[opcode].takes_operands(bound + n)), 0)
