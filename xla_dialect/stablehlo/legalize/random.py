"""Random numbers: in StableHLO an operand of `rng` has the sizes of the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, i64
from xdsl.ir import SSAValue

from xla_dialect.ops import random as xla
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.shapes.size_arithmetic import compatible
from xla_dialect.stablehlo.attributes import own_word, xla_word
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sizes_of
from xla_dialect.stablehlo.dynamic_shapes import sized_result
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla
from xla_dialect.stablehlo.ops import creation
from xla_dialect.stablehlo.ops import random as stablehlo
from xla_dialect.stablehlo.source import integers_of
from xla_dialect.types import array, as_array, spell
from xla_dialect.xdsl.operation_table import OperationTable


def convert_rng(op: stablehlo.RngOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.rng`; the operand with the sizes says what the result type does."""
    declared, operands = conversion.result_types(op), conversion.operands(op)
    shape = as_array(operands[2].type)
    if shape is None or len(shape.get_shape()) != 1:
        op.fail(f"operand 2 is {spell(operands[2].type)}, not a list of sizes")
    count, rank = sizes_of(shape)[0], len(sizes_of(declared[0]))
    if not compatible(count, rank) and as_array(declared[0]) is not None:
        op.fail(f"operand 2 has {count} sizes for {spell(declared[0])}")
    sizes = conversion.constant_integers(operands[2])
    if sizes is not None:
        declared = [sized_result(op, conversion, sizes)]
    distribution = {"distribution": xla_word(op.rng_distribution)}
    return conversion.emit(xla.RngOp, operands[:2], declared, distribution)


def rng_of_xla(op: xla.RngOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.rng`, whose last operand is the sizes of the result."""
    sizes = sizes_of(op.result.type)
    shape = _constant_before(op, sizes, legalization)
    if shape is None:
        type_: Any = array(i64, (len(sizes),))
        literal = {"value": DenseIntOrFPElementsAttr.from_list(type_, list(sizes))}
        (shape,) = legalization.emit(creation.ConstantOp, (), [type_], literal).results
        shape.name_hint = "c"
    operands, types = [*legalization.operands(op), shape], legalization.result_types(op)
    distribution = {"rng_distribution": own_word(op.distribution)}
    return legalization.emit(stablehlo.RngOp, operands, types, distribution).results


def _constant_before(op: xla.RngOp, sizes: Sequence[int], legalization: FromXla) -> SSAValue | None:
    """The constant of these sizes before an `rng` that was read, which nothing uses."""
    before = op.prev_op
    while isinstance(before, ConstantOp | BroadcastOp):
        if before.results[0].first_use is None:
            value = legalization.value(before.results[0])
            made = value.owner
            if isinstance(made, creation.ConstantOp) and integers_of(made.value) == tuple(sizes):
                return value
        before = before.prev_op
    return None


TO_XLA = OperationTable[Legalize]().add(stablehlo.RngOp, convert_rng)

FROM_XLA = OperationTable[LegalizeFromXla]().add(xla.RngOp, rng_of_xla)
