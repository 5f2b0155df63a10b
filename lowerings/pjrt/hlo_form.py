"""
Modules of jaxlib as XLA has them when it propagates shardings, which is behind their way to HLO.

Calls are inlined there, a broadcast that repeats nothing is a reshape, what a loop does not change
is used in it from outside, and operations are in an order of their own.
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
        _make_reshape(broadcast)
    for loop in operations(main, lambda op: op.name == "stablehlo.while"):
        _use_from_outside(loop)
    _order(main.entry_block)


def _make_reshape(broadcast: Any) -> None:
    """Replaces a broadcast that repeats nothing."""
    (operand,), (result,) = broadcast.operands, broadcast.results
    sizes = [IR.RankedTensorType(each.type).shape for each in (operand, result)]
    if prod(sizes[0]) != prod(sizes[1]):
        return
    own = broadcast.attributes
    kept = {SHARDING: own[SHARDING]} if SHARDING in own else {}
    with IR.InsertionPoint(broadcast):
        new = IR.Operation.create(
            "stablehlo.reshape", results=[result.type], operands=[operand], attributes=kept
        )
    result.replace_all_uses_with(new.result)
    broadcast.erase()


def _use_from_outside(loop: Any) -> None:
    """Lets a loop use what no turn changes as it comes in, and what follows, too."""
    condition, body = (region.blocks[0] for region in loop.regions)
    *_, end = body.operations
    for number, value in enumerate(loop.operands):
        if end.operands[number] == body.arguments[number]:
            for block in (condition, body):
                block.arguments[number].replace_all_uses_with(value)
            end.operands[number] = body.arguments[number]
            loop.results[number].replace_all_uses_with(value)


def _order(block: Any) -> None:
    """
    Puts operations in the post-order of HLO: operands in their order before what uses them, from
    what nobody uses on, the end last.
    """
    own = [op.operation for op in block.operations]
    places = {op: place for place, op in enumerate(own)}
    *others, end = own
    roots = [*(op for op in others if not _is_used(op)), end]
    ordered: list[Any] = []
    seen: set[Any] = set()
    stack = [(op, False) for op in reversed(roots)]
    while stack:
        op, is_done = stack.pop()
        if is_done:
            ordered.append(op)
        elif op not in seen:
            seen.add(op)
            stack.append((op, True))
            stack += [(each, False) for each in reversed(_operands(op)) if each in places]
    for op in ordered[:-1]:
        op.move_before(end)
        for region in op.regions:
            for inner in region.blocks:
                _order(inner)


def _is_used(op: Any) -> bool:
    return any(True for result in op.results for _ in result.uses)


def _operands(op: Any) -> list[Any]:
    """The operations whose results an operation, or what is in it, uses."""
    return [
        value.owner
        for each in operations(op, lambda _: True)
        for value in each.operands
        if not isinstance(value.owner, IR.Block)
    ]


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
