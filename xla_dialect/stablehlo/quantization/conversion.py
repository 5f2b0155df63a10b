"""The conversion of programs with quantized arrays, which become arrays of stored integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue

from xla_dialect.quantized_types import has_quantized
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.quantization.expressed import expressed_arithmetic
from xla_dialect.stablehlo.quantization.integers import integer_arithmetic
from xla_dialect.stablehlo.quantization.rules import check_quantized
from xla_dialect.violations import check

Arithmetic: TypeAlias = Callable[[StableHloOp, Conversion], Sequence[SSAValue]]
"""What an operation with quantized operands or results becomes."""

ARITHMETIC: Mapping[str, Arithmetic] = {
    "float": expressed_arithmetic,
    "integer": integer_arithmetic,
}
"""With what quantized operations compute, by name: as they are defined, or in integers."""


class QuantizedConversion(Conversion):
    """As any conversion; operations on quantized arrays become arithmetic on stored integers."""

    def __init__(
        self,
        places: Mapping[Operation, LocationAttr],
        arithmetic: str = "float",
    ):
        super().__init__(places)
        self._arithmetic = ARITHMETIC[arithmetic]

    def convert(self, op: StableHloOp) -> Sequence[SSAValue]:
        """What the results of an operation become."""
        if not has_quantized([v.type for v in (*op.operands, *op.results)]):
            blocks = [block for region in op.regions for block in region.blocks]
            check(
                all(not has_quantized([a.type for a in block.args]) for block in blocks),
                "its region takes quantized arrays, no operand is one",
            )
            return super().convert(op)
        check_quantized(op)
        return self._arithmetic(op, self)

    check = staticmethod(check_quantized)
