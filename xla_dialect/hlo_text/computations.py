"""Which computations the instructions of a module call, and how large they become when copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from xla_dialect.hlo_text.attributes import AttributeValueError, names
from xla_dialect.hlo_text.errors import HloImportError, HloSyntaxError
from xla_dialect.hlo_text.opcodes import OPCODES, Opcode
from xla_dialect.hlo_text.parser import MAX_NESTING
from xla_dialect.hlo_text.syntax import Computation, Instruction, Module

MAX_INSTRUCTIONS = 1 << 22
"""How many instructions a computation may have, those of the computations inside it included."""


@dataclass
class _Extent:
    """What a computation is when every computation inside it is copied to where it is used."""

    instructions: int
    depth: int


def resolve_computations(module: Module) -> None:
    """
    Fills in `callees` of all instructions and `is_called`, `is_inlined` of all computations.

    A computation is defined before it is used, as XLA has it; so none can call itself. Raises
    HloImportError where that does not hold, and where copying exceeds the bounds.
    """
    defined: dict[str, _Extent] = {}
    for computation in module.computations.values():
        extent = _Extent(len(computation.instructions), 1)
        for instruction in computation.instructions:
            opcode = OPCODES.get(instruction.opcode)
            if opcode is None or not opcode.computations:
                continue
            instruction.callees = _callees(module, computation, instruction, opcode, defined)
            is_call = instruction.opcode == "call"
            for callee in instruction.callees:
                callee.is_called |= is_call
                callee.is_inlined |= not is_call
                if not is_call:
                    inner = defined[callee.name]
                    extent.instructions += inner.instructions
                    extent.depth = max(extent.depth, inner.depth + 1)
        if extent.depth > MAX_NESTING:
            _fail(
                module,
                f"computations are nested deeper than {MAX_NESTING} in '{computation.name}'",
                computation.start,
            )
        if extent.instructions > MAX_INSTRUCTIONS:
            _fail(
                module,
                f"'{computation.name}' has more than {MAX_INSTRUCTIONS} instructions when every "
                "computation it uses is copied to where it is used",
                computation.start,
            )
        defined[computation.name] = extent


def _fail(module: Module, message: str, offset: int) -> NoReturn:
    raise HloImportError.at_offset(message, module.file, module.text, offset)


def _callees(
    module: Module,
    caller: Computation,
    instruction: Instruction,
    opcode: Opcode,
    defined: dict[str, _Extent],
) -> list[Computation]:
    """The computations that an instruction names, in the order of the attributes."""
    given = instruction.attributes
    chosen = next(
        (alternative for alternative in opcode.computations if alternative[0] in given),
        opcode.computations[0],
    )
    found: list[Computation] = []
    for attribute in chosen:
        if attribute not in given:
            _fail(
                module,
                f"{opcode.name} needs the attribute '{attribute}'",
                instruction.opcode_start,
            )
        start, end = given[attribute].value
        try:
            listed = names(module.text[start:end])
        except AttributeValueError as error:
            raise HloSyntaxError.at_offset(
                f"{attribute}: {error}", module.file, module.text, start + error.position
            ) from None
        if attribute != "branch_computations" and module.text[start] == "{":
            _fail(module, f"{attribute} takes one computation, not a list", start)
        for name, position in listed:
            if name not in defined:
                _fail_undefined(module, caller, name, start + position)
            found.append(module.computations[name])
    return found


def _fail_undefined(module: Module, caller: Computation, name: str, offset: int) -> NoReturn:
    if name == caller.name:
        _fail(module, f"computation '{name}' calls itself", offset)
    if name in module.computations:
        _fail(module, f"computation '{name}' is called before its definition", offset)
    _fail(module, f"computation '{name}' is not defined", offset)
