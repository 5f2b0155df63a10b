"""The writer of every operation, or why StableHLO cannot express it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from xdsl.ir import Operation, SSAValue

from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import ScaledDotOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.random import RngGetAndUpdateStateOp, RngOp, StochasticConvertOp
from xla_dialect.self_checking.check import CHECK
from xla_dialect.self_checking.interpreter import INTERPRETER
from xla_dialect.stablehlo.attribute_text import attribute_text
from xla_dialect.stablehlo.conversion import sizes_of
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.legalize.from_xla import SAME
from xla_dialect.stablehlo.legalize.patterns import FROM_XLA
from xla_dialect.stablehlo.ops.creation import ConstantOp
from xla_dialect.stablehlo.random import DISTRIBUTIONS
from xla_dialect.stablehlo.source import integers_of
from xla_dialect.stablehlo.syntax import integers_text
from xla_dialect.stablehlo.writing import (
    collectives,
    contraction,
    control_flow,
    custom_calls,
    data_movement,
    reduction,
)
from xla_dialect.stablehlo.writing.body import BodyWriter, Write
from xla_dialect.stablehlo.writing.regular import REGULAR
from xla_dialect.xdsl.operation_table import OperationTable

INEXPRESSIBLE: Mapping[type[XlaOp], str] = {
    RngGetAndUpdateStateOp: "StableHLO has no generator with a state of its own",
    StochasticConvertOp: "StableHLO has no rounding by chance",
    ScaledDotOp: "StableHLO has no contraction of scaled blocks",
}
"""The operations that StableHLO cannot express, with the reason."""


def _write_inexpressible(reason: str, op: Operation, body: BodyWriter) -> None:
    raise Inexpressible(reason)


def write_rng(op: RngOp, body: BodyWriter) -> None:
    """`stablehlo.rng`, whose last operand is the sizes of the result."""
    sizes = sizes_of(op.result.type)
    shape = f"tensor<{len(sizes)}xi64>"
    given = _constant_before(op, sizes)
    text = str(sizes[0]) if len(set(sizes)) == 1 else integers_text(sizes) if sizes else ""
    if given is None:
        last = body.emit(f"stablehlo.constant dense<{text}> : {shape}", "c")
    else:
        last, shape = body.operand(given), body.type_text(given.type)
    operands = [*body.leaves([op.a, op.b]), last]
    types = [*body.types([op.a.type, op.b.type]), shape]
    results = body.types(op.result_types)
    words = {member: word for word, member in DISTRIBUTIONS.items()}
    body.define(
        op,
        f"stablehlo.rng {', '.join(operands)}, distribution = {words[op.distribution.data]}"
        f"{body.attributes(op)} : ({', '.join(types)}) -> {results[0]}",
        results,
    )


def _constant_before(op: RngOp, sizes: Sequence[int]) -> SSAValue | None:
    """The constant of these sizes before an `rng` that was read, which nothing uses."""
    before = op.prev_op
    while isinstance(before, ConstantOp):
        found = integers_of(before.value)
        if before.output.first_use is None and found == tuple(sizes):
            return before.output
        before = before.prev_op
    return None


def write_kept(op: Operation, body: BodyWriter) -> None:
    """A check, print, probe or `run_parallel`, unchanged."""
    body.generic(
        op,
        op.name,
        body.leaves(op.operands),
        body.types(value.type for value in op.operands),
        {name: attribute_text(value) for name, value in op.properties.items()},
        body.types(op.result_types),
    )


WRITERS = (
    OperationTable[Write](
        {
            **data_movement.WRITERS,
            **contraction.WRITERS,
            **reduction.WRITERS,
            **control_flow.WRITERS,
            **collectives.WRITERS,
            **custom_calls.WRITERS,
            **{op: partial(_write_inexpressible, reason) for op, reason in INEXPRESSIBLE.items()},
        }
    )
    .add(RngOp, write_rng)
    .add((*CHECK.operations, *INTERPRETER.operations), write_kept)
)
"""The operations with a writer of their own; `REGULAR` has the others."""


def has_stablehlo(operation: type[XlaOp]) -> bool:
    """Whether StableHLO text has an operation, or what is exactly the same."""
    has_form = any(operation in table for table in (SAME, FROM_XLA, WRITERS, REGULAR))
    return operation is ReturnOp or (operation not in INEXPRESSIBLE and has_form)
