"""Collectives and slices that run beside what follows."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from xla_dialect.stablehlo.attributes import FutureType
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops.collectives import CollectiveOp
from xla_dialect.stablehlo.ops.data_movement import (
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    SliceOp,
)
from xla_dialect.types import spell_all


@irdl_op_definition
class AsyncStartOp(StableHloOp):
    """Begins what the only operation of its region does, and gives a future of its results."""

    name = "stablehlo.async_start"
    inputs = var_operand_def()
    future = result_def()
    body = region_def()

    @property
    def contents(self) -> Sequence[Attribute]:
        """The types that the future gives; raises VerifyException for another type."""
        return contents_of(self.future.type, "the result")

    def verify_(self) -> None:
        """Checks what the region takes, and that it is one operation of the right kind."""
        self.contents  # noqa: B018
        given = list(self.operand_types)
        taken = [argument.type for block in self.body.blocks for argument in block.args]
        if taken != given:
            found = f"{spell_all(given)}, its region takes {spell_all(taken)}"
            raise VerifyException(f"its operands are {found}")
        inside = [op for block in self.body.blocks for op in block.ops]
        if len(inside) != 2 or not isinstance(inside[0], _ASYNCHRONOUS):
            names = ", ".join(op.name for op in inside)
            raise VerifyException(
                f"its region has {names}, not one collective or slice and a return"
            )


_ASYNCHRONOUS = (CollectiveOp, DynamicSliceOp, DynamicUpdateSliceOp, SliceOp)
"""What runs asynchronously."""


@irdl_op_definition
class AsyncDoneOp(StableHloOp):
    """Waits for what was begun."""

    name = "stablehlo.async_done"
    future = operand_def()
    outputs = var_result_def()

    def verify_(self) -> None:
        """Checks that the results are what the future gives."""
        future, declared = self.future.type, list(self.result_types)
        if not isinstance(future, FutureType) or list(future.types.data) != declared:
            listed = ", ".join(map(str, declared))
            raise VerifyException(f"waits for {future}, its results are ({listed})")


def contents_of(type_: Attribute, name: str) -> Sequence[Attribute]:
    """The types that a future gives; raises VerifyException for another type."""
    if not isinstance(type_, FutureType):
        raise VerifyException(f"{name} is {type_}, not a future")
    return type_.types.data
