"""Backward slices of a nest's body, as bodies of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.loops.body import Body
from lowerings.loops.nest import Access
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class BodySlice:
    """A body that computes some values of another one, from some of its inputs."""

    block: Block
    """Its arguments: one for each of `inputs`, then the given ones, then one for each output."""
    inputs: tuple[Access | SSAValue, ...]


def slice_body(
    body: Body,
    results: Sequence[SSAValue],
    given: Sequence[SSAValue] = (),
    outputs: Sequence[SSAValue | Attribute] = (),
) -> BodySlice:
    """
    The body that yields `results`.

    `given` are values that it is given instead of computing them; `outputs` are the accumulators
    of the new body, or just a type where it does not read what the output holds.
    """
    needed = set(results)
    ops: list[Operation] = []
    for op in reversed(body.ops):
        wanted = [result for result in op.results if result in needed and result not in given]
        if wanted:
            ops.append(op)
            needed.update(operand for inner in operations_in(op) for operand in inner.operands)
    arguments = body.nest.body.args[: len(body.nest.inputs)]
    used = [
        (argument, entry)
        for argument, entry in zip(arguments, body.nest.inputs, strict=True)
        if argument in needed and argument not in given
    ]
    types = [argument.type for argument, _ in used] + [value.type for value in given]
    types += [each.type if isinstance(each, SSAValue) else each for each in outputs]
    block = Block(arg_types=types)
    named = [argument for argument, _ in used] + list(given)
    named_outputs = [each for each in outputs if isinstance(each, SSAValue)]
    mapping: dict[SSAValue, SSAValue] = dict(zip(named, block.args, strict=False))
    if named_outputs:
        mapping |= dict(zip(named_outputs, block.args[len(named) :], strict=True))
    for op in reversed(ops):
        block.add_op(op.clone(mapping))
    block.add_op(YieldOp(*(mapping.get(result, result) for result in results)))
    return BodySlice(block, tuple(entry for _, entry in used))
