"""Building what an operation expands to, with `XlaBuilder`; the builder is loaded on use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import operations_in


def build_before(
    op: Operation,
    operands: Sequence[SSAValue],
    build: Callable[..., Sequence[Any]],
    *given: object,
) -> list[SSAValue]:
    """
    Inserts what a function builds before an operation, with its location; the results.

    The function takes an `XlaBuilder`, what is `given`, and the operands.
    """
    # It takes time to load.
    from xla_dialect.builder import XlaBuilder  # noqa: PLC0415

    b = XlaBuilder(op.name)
    parameters = [b.parameter(i, operand.type) for i, operand in enumerate(operands)]
    block = b.build_computation(tuple(build(b, *given, *parameters))).body.block
    for argument, operand in zip(block.args, operands, strict=True):
        argument.replace_all_uses_with(operand)
    *operations, last = block.ops
    assert isinstance(last, ReturnOp)
    returned = list(last.operands)
    erase(last)
    target = op.parent
    assert target is not None
    for built in operations:
        built.detach()
        for inner in operations_in(built):
            inner.location = op.location
    target.insert_ops_before(operations, op)
    return returned
