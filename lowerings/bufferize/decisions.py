"""What the analysis of a function has decided, for people to read: what is copied, and why."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from lowerings.bufferize.bufferization import Decision
from lowerings.bufferize.liveness import Liveness
from lowerings.bufferize.strided import buffer_type
from lowerings.rewriting.conversion import describe_place


def print_decisions(
    function: func.FuncOp, decisions: Sequence[Decision], liveness: Liveness
) -> None:
    """Prints the decisions about the operands of a function, in the order of the program."""
    copied = sum(bool(each.reason) for each in decisions)
    kept = len(decisions) - copied
    summary = f"@{function.sym_name.data} has {kept} operands in place and {copied} that are copied"
    lines = [f"{describe_place(function)}: remark: {summary}"]
    lines += [_described(each, liveness) for each in decisions]
    print(*lines, sep="\n", file=sys.stderr)


def _described(decision: Decision, liveness: Liveness) -> str:
    op, operand = decision.op, decision.operand
    value = op.operands[operand]
    what = f"{describe_place(op)}: remark: operand {operand}{_named(value)} of {op.name} is"
    if not decision.reason:
        return f"{what} in place"
    use = _forcing_use(decision, liveness)
    by = "" if use is None else f": {use}"
    return f"{what} copied, {buffer_type(value)}: {decision.reason}{by}"


def _named(value: SSAValue) -> str:
    return f" (%{value.name_hint})" if value.name_hint else ""


def _forcing_use(decision: Decision, liveness: Liveness) -> str | None:
    """The operation that forces a copy."""
    by = decision.forced_by
    if by is None:
        return None
    if isinstance(by, int):
        by = next((op for op, position in liveness.position.items() if position == by), None)
    if by is None or isinstance(by, Operation):
        return None if by is None else f"{by.name} at {describe_place(by)}"
    now = liveness.position[decision.op]
    uses = [use for use in by.uses if use.operation in liveness.position]
    later = [use for use in uses if liveness.position[use.operation] > now]
    # Without a later one, an earlier use is made again by the next iteration of a loop.
    last = max(later or uses, key=lambda use: liveness.position[use.operation], default=None)
    if last is None:
        return None
    again = "" if later else " in the next iteration"
    op = last.operation
    return f"operand {last.index}{_named(by)} of {op.name} at {describe_place(op)}{again}"
