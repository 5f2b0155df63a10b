"""Which computations the instructions of a module call, and how large they become when copied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from typing import NoReturn

from xla_dialect.hlo_text.late_binding import note_bound_later
from xla_dialect.hlo_text.opcodes import Opcode, opcode_with_computations
from xla_dialect.hlo_text.syntax import Computation, Instruction, Module
from xla_dialect.spelling import quoted, suggestion
from xla_dialect.text.shapes import MAX_NESTING

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
