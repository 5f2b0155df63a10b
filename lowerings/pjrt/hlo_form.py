"""
Modules of jaxlib as XLA has them when it propagates shardings, which is behind their way to HLO.

Calls are inlined there, and a broadcast that repeats nothing is a reshape.
"""

from __future__ import annotations

from math import prod
from typing import Any

from lowerings.pjrt.interfaces import IR, SHARDING, main_function, operations


def bring_to_hlo_form(module: Any) -> None:
    """Changes what clients call."""
    main = main_function(module)
    _inline_calls(module, main)
    for broadcast in operations(main, lambda op: op.name == "stablehlo.broadcast_in_dim"):
        (operand,), (result,) = broadcast.operands, broadcast.results
        sizes = [IR.RankedTensorType(each.type).shape for each in (operand, result)]
        if prod(sizes[0]) == prod(sizes[1]):
            own = broadcast.attributes
            kept = {SHARDING: own[SHARDING]} if SHARDING in own else {}
            with IR.InsertionPoint(broadcast):
                new = IR.Operation.create(
                    "stablehlo.reshape", results=[result.type], operands=[operand], attributes=kept
                )
            result.replace_all_uses_with(new.result)
            broadcast.erase()


def _inline_calls(module: Any, main: Any) -> None:
    functions = {
        op.attributes["sym_name"].value: op
        for op in module.body.operations
        if op.operation.name == "func.func"
    }
    waiting = operations(main, _is_call)
    while waiting:
        call = waiting.pop()
        waiting += _inline(call, functions[call.attributes["callee"].value].entry_block)


def _inline(call: Any, body: Any) -> list[Any]:
    """Inlines one call; returns the calls that are in its place."""
    values = dict(zip(body.arguments, call.operands, strict=True))
    found: list[Any] = []

    def rename(op: Any) -> Any:
        for number, value in enumerate(op.operands):
            if value in values:
                op.operands[number] = values[value]
        return IR.WalkResult.ADVANCE

    *copied, end = body.operations
    with IR.InsertionPoint(call):
        for op in copied:
            copy = op.operation.clone()
            copy.walk(rename)
            values.update(zip(op.operation.results, copy.results, strict=True))
            found += operations(copy, _is_call)
    for result, value in zip(call.results, end.operands, strict=True):
        result.replace_all_uses_with(values[value])
    call.erase()
    return found


def _is_call(op: Any) -> bool:
    return op.name == "func.call"
