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
from collections.abc import Container, Iterator
from typing import NoReturn

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
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

from xla_dialect.diagnostics import LocatedError
from xla_dialect.entry.aliases import ALIASES, check_aliases
from xla_dialect.entry.names import ENTRY_LAYOUT, ENTRY_SYMBOL, kept_name
from xla_dialect.hlo_text.attributes import (
    COMPUTATION_ATTRIBUTES,
    LAYOUT_DEPENDENT,
    MODULE_ATTRIBUTES,
    Properties,
)
from xla_dialect.hlo_text.instructions import FIRST_INDEX, InstructionImporter, Values, set_name
from xla_dialect.hlo_text.opcodes import (
    OPCODES,
    Opcode,
    asynchronous_opcode,
    opcode_with_computations,
)
from xla_dialect.hlo_text.syntax import Computation, HloImportError, Instruction, Module, Recovery
from xla_dialect.ops.control_flow import CallOp, ReturnOp
from xla_dialect.ops.open_contexts import OPEN
from xla_dialect.spelling import Excerpt, SpellingError, quoted, suggestion
from xla_dialect.text.shapes import MAX_NESTING, spell_entry_layout
from xla_dialect.types import all_compatible, compatible, spell, spell_all, tuple_elements
from xla_dialect.xdsl.creation import create

TABLE_ATTRIBUTES = {
    "FileNames": "xla.file_names",
    "FunctionNames": "xla.function_names",
    "FileLocations": "xla.file_locations",
    "StackFrames": "xla.stack_frames",
}
"""Where the lines of the stack frame tables are kept, without quotes, braces and numbers."""


def import_module(module: Module, recovery: Recovery | None = None) -> ModuleOp:
    """
    The module of the dialect for the syntax of an HLO module; not verified.

    Raises HloImportError or HloSyntaxError for the first thing that is wrong. With a `recovery`, an
    instruction that is wrong becomes a cast of nothing to its declared shape.
    """
    resolve_computations(module)
    try:
        return _ModuleImporter(module, recovery).module_op()
    except SpellingError as error:
        raise module.source.syntax_error(error) from None


class _ModuleImporter:
    def __init__(self, module: Module, recovery: Recovery | None):
        self.module = module
        self.recovery = recovery
        self.functions: dict[str, FuncOp] = {}
        self.kept_of_parameters: dict[str, list[Properties]] = {}
        """What the parameters of each computation carry."""
        self.instructions = InstructionImporter(module, self.functions, self.regions)

    def module_op(self) -> ModuleOp:
        module = self.module
        for computation in module.computations.values():
            self.check_attributes(computation)
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
        function.attributes |= self.kept(computation)
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
                [DictionaryAttr(self.kept(callee)) for callee in callees]
            )
        return regions, attributes

    def kept(self, computation: Computation) -> Properties:
        """The attributes that follow the closing brace of a computation, as they are kept."""
        return {
            kept_name(name): self.instructions.kept(name, attribute.value)
            for name, attribute in computation.attributes.items()
        }

    def block(self, computation: Computation) -> tuple[Block, SSAValue]:
        """The instructions of a computation as a block without terminator, and its root."""
        importer = self.instructions
        parameters = [importer.parameter(parameter) for parameter in computation.parameters]
        block = Block(arg_types=[type_ for type_, _ in parameters])
        values: Values = {}
        kept_of_each: list[Properties] = []
        for argument, (_, kept), parameter in zip(
            block.args, parameters, computation.parameters, strict=True
        ):
            argument.location = importer.location(parameter)
            kept_of_each.append(set_name(argument, parameter.name) | kept)
        for position, instruction in enumerate(computation.instructions):
            if instruction.opcode == "parameter":
                number = instruction.number
                predecessors = instruction.attributes.get("control-predecessors")
                if predecessors is not None:
                    importer.check_predecessors(predecessors.value, values)
                values[instruction.name] = block.args[number]
                if number != position:
                    kept_of_each[number]["xla.position"] = IntegerAttr(position, i64)
            else:
                try:
                    if instruction.opcode in FIRST_INDEX:
                        *before, op = importer.operations(instruction, values)
                        block.add_ops(before)
                    else:
                        op = importer.operation(instruction, values)
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
            self.instructions.fail(
                f"'{name}' is declared with parameters {spell_all(signature.parameters)}, "
                f"but has {spell_all(found)}",
                signature.start,
            )
        if not compatible(signature.result, root.type):
            self.instructions.fail(
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
            self.instructions.fail(
                f"entry_computation_layout is {spell_all(layout.parameters)} -> "
                f"{spell(layout.result)}, but '{self.module.entry.name}' is "
                f"{spell_all(signature.inputs.data)} -> {spell_all(signature.outputs.data)}",
                layout.start,
            )

    def check_attributes(self, computation: Computation) -> None:
        """The attributes after a computation are known."""
        for name, attribute in computation.attributes.items():
            if name not in COMPUTATION_ATTRIBUTES:
                hint = suggestion(name, COMPUTATION_ATTRIBUTES)
                self.instructions.fail(
                    f"a computation has no attribute {quoted(name)}{hint}", attribute.start
                )

    def module_attributes(self) -> Properties:
        """The attributes and tables in the head of the module, as they are kept."""
        module = self.module
        found: Properties = {}
        for name, attribute in module.attributes.items():
            spelling = MODULE_ATTRIBUTES.get(name)
            start, end = attribute.value
            if spelling is None:
                known = ", ".join(sorted(MODULE_ATTRIBUTES))
                hint = suggestion(name, MODULE_ATTRIBUTES)
                self.instructions.fail(
                    f"HloModule has no attribute {quoted(name)} (it has {known}){hint}",
                    attribute.start,
                )
            with Excerpt(start, name):
                found |= spelling.read(module.source.text[start:end])
                if name in ALIASES:
                    entry = self.functions[module.entry.name].function_type
                    (result,) = entry.outputs.data
                    check_aliases(module.text[start:end], entry.inputs.data, result)
        if any(name in found for name in LAYOUT_DEPENDENT):
            signature = self.functions[module.entry.name].function_type
            layout = spell_entry_layout(signature.inputs.data, signature.outputs.data[0])
            found.setdefault(ENTRY_LAYOUT, StringAttr(layout))
        if len(module.computations) > 1:
            names = [StringAttr(name) for name in module.computations]
            found["xla.computation_order"] = ArrayAttr(names)
        for table, lines in module.tables.items():
            found[TABLE_ATTRIBUTES[table]] = ArrayAttr([StringAttr(line) for line in lines])
        return found


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
                        _fail(module, message, instruction.attributes["calls"].start)
            if opcode.name == "call":
                called.update(callee.name for callee in callees)
                continue
            inlined.update(callee.name for callee in callees)
        defined.add(computation.name)
        note_bound_later(computation)
    for name, computation in module.computations.items():
        computation.becomes_function = name in called or name not in inlined
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
        _fail(module, message, module.entry.start)


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
            _fail(module, message, computation.start)
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


def _fail(module: Module, message: str, offset: int) -> NoReturn:
    raise module.source.import_error(message, offset)


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
        _fail(module, message, given[both[1]].start)
    chosen = next(
        (alternative for alternative in opcode.computations if alternative[0] in given),
        opcode.computations[0] if opcode.computations_required else (),
    )
    found: list[Computation] = []
    for attribute in chosen:
        if attribute not in given:
            _fail(
                module,
                f"{opcode.name} needs the attribute '{attribute}'",
                instruction.opcode_start,
            )
        for name, start in given[attribute].computations:
            if name not in defined:
                _fail_undefined(module, caller, name, start)
            found.append(module.computations[name])
    return found


def _fail_undefined(module: Module, caller: Computation, name: str, offset: int) -> NoReturn:
    if name == caller.name:
        _fail(module, f"computation '{name}' calls itself", offset)
    if name in module.computations:
        _fail(module, f"computation '{name}' is called before its definition", offset)
    hint = suggestion(name, module.computations)
    _fail(module, f"computation {quoted(name)} is not defined{hint}", offset)


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
