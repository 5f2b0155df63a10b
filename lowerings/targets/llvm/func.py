"""
`func`: definitions, declarations and calls.

A memref argument is a bare pointer to its element (0, ..., 0), followed by the sizes and strides
that its type leaves open. Arguments of a function with the unit attribute `xla.kernel` are
promised not to overlap; one with `xla.inline` is inlined into all callers. A function with
`xla.entry` is exported under its name as a C function `void name(void **arguments)`, which is given
one pointer for each argument. A function that is only declared, for a custom call, a check or a
print, is outside: `int name(...)` with one pointer for each operand and result, which returns 0, or
anything else to have the function end that calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, MemRefType, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from lowerings.ir.custom_calls import declared_operation
from lowerings.ir.functions import ENTRY, KERNEL, NO_INLINE
from lowerings.targets.llvm.basic_blocks import emit_blocks
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler, Symbols, UndefinedValue
from lowerings.targets.llvm.machine import GLUE
from lowerings.targets.llvm.types import POINTER, EmissionError, UnsupportedType, layout_of
from xla_dialect.xdsl.operation_table import OperationTable

OUTSIDE_RESULT = "i32"
"""The result type of external functions."""
ARGUMENT_ALIGNMENT = "llvm.align"
"""The attribute of an argument that promises an alignment in bytes."""


def emit_call(e: FunctionEmitter, op: func.CallOp) -> None:
    name = cast(SymbolRefAttr, op.properties["callee"]).string_value()
    for operand in op.operands:
        if isinstance(operand.type, MemRefType):
            e.mark_stored(e.view(operand))
    fork = e.symbols.forks.get(name)
    if fork is not None:
        _emit_in_place(e, op, fork)
        e.after_call(op)
        return
    if name not in e.symbols.callees:
        raise UnsupportedType(f"there is no function @{name}")
    types = [text for type_ in op.result_types for text in e.component_types(type_)]
    arguments = [component for operand in op.operands for component in e.components(operand)]
    call = f"{e.symbols.callees[name]}({', '.join(map(str, arguments))})"
    if name in e.symbols.outside:
        _emit_call_outside(e, call)
        return
    call = f"call {_result_type(types)} {call}{' noinline' if NO_INLINE in op.attributes else ''}"
    if types:
        returned = e.temporary(call)
    else:
        returned = ""
        e.emit(call)
    e.after_call(op)
    if len(types) <= 1:
        e.bind_all(op.results, [returned] * len(types))
        return
    aggregate = _result_type(types)
    parts = [e.temporary(f"extractvalue {aggregate} {returned}, {i}") for i in range(len(types))]
    e.bind_all(op.results, parts)


def _emit_in_place(e: FunctionEmitter, op: func.CallOp, callee: func.FuncOp) -> None:
    """Prints what a function does that starts a parallel loop, instead of a call."""
    given = [[each.operand for each in e.components(operand)] for operand in op.operands]
    inner = e.of_callee(callee.sym_name.data)
    block = callee.body.block
    for number, (argument, operands) in enumerate(zip(block.args, given, strict=True)):
        inner.bind(argument, operands, number)
    inner.emit_block(block)
    e.go_on_after(inner)


def _emit_call_outside(e: FunctionEmitter, call: str) -> None:
    """A call of a function that returns 0, or another number to end the program."""
    e.poll()
    ended, go_on = e.new_label("ended"), e.new_label("goes_on")
    answer = e.temporary(f"call {OUTSIDE_RESULT} {call}")
    has_ended = e.temporary(f"icmp ne {OUTSIDE_RESULT} {answer}, 0")
    e.emit(f"br i1 {has_ended}, label %{ended}, label %{go_on}")
    e.start_block(ended)
    e.leave()
    e.start_block(go_on)


def _result_type(types: Sequence[str]) -> str:
    """Several results are one structure."""
    if len(types) == 1:
        return types[0]
    return f"{{ {', '.join(types)} }}" if types else "void"


def _emit_return(e: FunctionEmitter, op: func.ReturnOp) -> None:
    components = [component for value in op.operands for component in e.components(value)]
    if len(components) <= 1:
        e.emit(f"ret {components[0]}" if components else "ret void")
        return
    aggregate = _result_type([component.type for component in components])
    value = "poison"
    for number, component in enumerate(components):
        value = e.temporary(f"insertvalue {aggregate} {value}, {component}, {number}")
    e.emit(f"ret {aggregate} {value}")


def _emit_end(e: FunctionEmitter, terminator: Operation) -> None:
    """Prints what ends a function."""
    if not isinstance(terminator, func.ReturnOp):
        raise EmissionError(terminator, "a function must end with func.return")
    try:
        _emit_return(e, terminator)
    except UndefinedValue as error:
        raise EmissionError(terminator, "an operand is not defined before its use") from error


def emit_function(
    function: func.FuncOp,
    symbol: str,
    linkage: str,
    attributes: Callable[[int], str],
    symbols: Symbols,
) -> list[str]:
    """
    The lines of a function's definition, or declaration if it has no body; `linkage` is empty or
    a word such as `internal`, `attributes` tells the attribute group of a body of so many lines.
    """
    are_apart = KERNEL in function.attributes or ENTRY in function.attributes
    e = FunctionEmitter(symbols, function.sym_name.data, are_apart)
    try:
        results = [t for type_ in function.function_type.outputs for t in e.component_types(type_)]
        e.result_type = _result_type(results)
        blocks = list(function.body.blocks)
        if not blocks:
            types = [t for type_ in function.function_type.inputs for t in e.component_types(type_)]
            result = OUTSIDE_RESULT if is_outside(function) else e.result_type
            return [f"declare {result} {symbol}({', '.join(types)})"]
        names: list[list[str]] = []
        for number, argument in enumerate(blocks[0].args):
            names.append([e.name() for _ in e.component_types(argument.type)])
            e.bind(argument, names[-1], number)
    except UnsupportedType as error:
        raise EmissionError(function, str(error)) from error
    emit_blocks(e, blocks[0], _emit_end)
    parameters = ", ".join(
        text
        for number, registers in enumerate(names)
        for text in _parameters(e, function, number, registers)
    )
    lines = [*e.stack_slots, *e.lines]
    group = attributes(len(lines))
    return [
        f"define {linkage}{e.result_type} {symbol}({parameters}) {group} {{",
        "entry:",
        *lines,
        "}",
    ]


def _parameters(
    e: FunctionEmitter, function: func.FuncOp, number: int, registers: Sequence[str]
) -> list[str]:
    """An argument as typed registers, with what is known of a pointer."""
    type_ = function.body.blocks[0].args[number].type
    types = e.component_types(type_)
    texts = [f"{type_} {register}" for type_, register in zip(types, registers, strict=True)]
    if isinstance(type_, MemRefType):
        facts = " ".join(_pointer_facts(e, function, number))
        texts[0] = f"{POINTER} {facts} {registers[0]}"
    return texts


def _pointer_facts(e: FunctionEmitter, function: func.FuncOp, number: int) -> list[str]:
    facts = ["noundef"]
    if e.arguments_do_not_alias:
        facts.append("noalias")
    if not e.stores_through_unknown and number not in e.stored_parameters:
        facts.append("readonly")
    alignment = _argument_attribute(function, number, ARGUMENT_ALIGNMENT)
    if isinstance(alignment, IntegerAttr):
        facts.append(f"align {cast('IntegerAttr[Any]', alignment).value.data}")
    layout = layout_of(function.body.blocks[0].args[number].type)
    if layout.is_static and layout.span():
        facts.append(f"dereferenceable({layout.span()})")
    return facts


def is_outside(function: func.FuncOp) -> bool:
    """Whether it is only declared, for what the program calls outside of it."""
    return not function.body.blocks and declared_operation(function) is not None


def _argument_attribute(function: func.FuncOp, number: int, name: str) -> Attribute | None:
    if function.arg_attrs is None:
        return None
    attributes = function.arg_attrs.data[number]
    assert isinstance(attributes, DictionaryAttr)
    return attributes.data.get(name)


def require_entry(function: func.FuncOp) -> None:
    """Raises EmissionError for a function that no array of pointers can be passed to."""
    for type_ in function.function_type.inputs:
        if not isinstance(type_, MemRefType) or not layout_of(cast(Attribute, type_)).is_static:
            raise EmissionError(function, f"an entry takes memrefs of known sizes, not {type_}")
    if function.function_type.outputs.data:
        raise EmissionError(function, "an entry writes its results to arguments, it returns none")


def entry_wrapper(
    function: func.FuncOp,
    symbol: str,
    body: str,
    nonnull: str,
    surround: Callable[[str], Sequence[str]],
) -> list[str]:
    """
    The exported function that takes an array of pointers and calls `body` with them; `nonnull`
    is the number of an empty metadata node, `surround` tells the lines for the one of the call.
    """
    registers = [f"%pointer{number}" for number in range(len(function.function_type.inputs))]
    lines = _loaded_arguments(symbol, registers, nonnull)
    arguments = ", ".join(f"ptr {register}" for register in registers)
    return [*lines, *surround(f"  call void {body}({arguments})"), "  ret void", "}"]


def entry_alone(
    function: func.FuncOp, symbol: str, definition: Sequence[str], nonnull: str
) -> list[str]:
    """
    The exported function with the `definition` of its body for its own.

    It is for bodies that access no memory themselves: what is promised of arguments serves nothing
    there. A function takes LLVM a third of a millisecond, whatever it does.
    """
    head, _, *rest = definition
    group = head.split()[-2]
    count = len(function.function_type.inputs)
    registers = [f"%v{number}" for number in range(1, count + 1)]
    return [*_loaded_arguments(symbol, registers, nonnull, group), *rest]


def _loaded_arguments(
    symbol: str, registers: Sequence[str], nonnull: str, group: str = GLUE
) -> list[str]:
    """The first lines of an exported function: registers are loaded from the array that it gets."""
    lines = [f"define void {symbol}(ptr noundef nonnull readonly %arguments) {group} {{", "entry:"]
    for number, register in enumerate(registers):
        lines += [
            f"  %slot{number} = getelementptr inbounds ptr, ptr %arguments, i64 {number}",
            f"  {register} = load ptr, ptr %slot{number}, align 8, !nonnull {nonnull}",
        ]
    return lines


HANDLERS = OperationTable[Handler]().add(func.CallOp, emit_call)
