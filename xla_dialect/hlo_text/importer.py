"""The syntax of an HLO module to a `builtin.module` of functions.

ENTRY becomes `func.func public @main`, the target of a `call` a private function of its name, and
so does a computation that nothing uses. Every other computation becomes a region of the operation
that uses it, one copy per use; where those are too many (`computations.py`), bodies and branches
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
from xdsl.ir import Block, Operation, Region, SSAValue

from xla_dialect.diagnostics import LocatedError
from xla_dialect.entry.aliases import ALIASES, check_aliases
from xla_dialect.entry.names import ENTRY_LAYOUT, ENTRY_SYMBOL, kept_name
from xla_dialect.hlo_text.attributes import (
    COMPUTATION_ATTRIBUTES,
    LAYOUT_DEPENDENT,
    MODULE_ATTRIBUTES,
    Properties,
)
from xla_dialect.hlo_text.computations import is_called, resolve_computations
from xla_dialect.hlo_text.errors import HloImportError
from xla_dialect.hlo_text.index_vectors import FIRST_INDEX
from xla_dialect.hlo_text.instructions import InstructionImporter, Values, set_name
from xla_dialect.hlo_text.recovery import Recovery
from xla_dialect.hlo_text.syntax import Computation, Instruction, Module
from xla_dialect.ops.control_flow import CallOp, ReturnOp
from xla_dialect.spelling import Excerpt, SpellingError, quoted, suggestion
from xla_dialect.text.shapes import spell_entry_layout
from xla_dialect.types import all_compatible, compatible, spell, spell_all
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
        self.facts: dict[str, list[Properties]] = {}
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
                if computation.name not in self.facts:
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
        facts = self.facts[computation.name]
        function = FuncOp(
            symbol,
            ([argument.type for argument in block.args], [root.type]),
            Region(block),
            "public" if is_entry else "private",
            arg_attrs=ArrayAttr([DictionaryAttr(f) for f in facts]) if any(facts) else None,
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
        facts = [self.facts[callee.name] for callee in callees]
        if any(any(parameters) for parameters in facts):
            attributes["xla.parameters"] = ArrayAttr(
                [ArrayAttr([DictionaryAttr(f) for f in parameters]) for parameters in facts]
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
        facts: list[Properties] = []
        for argument, (_, kept), parameter in zip(
            block.args, parameters, computation.parameters, strict=True
        ):
            argument.location = importer.location(parameter)
            facts.append(set_name(argument, parameter.name) | kept)
        for position, instruction in enumerate(computation.instructions):
            if instruction.opcode == "parameter":
                number = instruction.number
                predecessors = instruction.attributes.get("control-predecessors")
                if predecessors is not None:
                    importer.check_predecessors(predecessors.value, values)
                values[instruction.name] = block.args[number]
                if number != position:
                    facts[number]["xla.position"] = IntegerAttr(position, i64)
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
        self.facts[computation.name] = facts
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
