"""From StableHLO to `xla`: by a pattern, or else by what a class states."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.legalize.patterns import TO_XLA
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.source import HloOperation


class ToXla(Conversion):
    """A conversion by patterns."""

    def by_pattern(self, op: HloOperation) -> Sequence[SSAValue]:
        """What the results of an operation become, whatever its operands stand for."""
        assert isinstance(op, StableHloOp)
        pattern = TO_XLA.get(type(op))
        if pattern is not None:
            return pattern(op, self)
        assert op.SAME is not None
        properties = op.xla_properties()
        regions = self.regions(op) if op.regions else ()
        return self.emit(op.SAME, self.operands(op), self.result_types(op), properties, regions)
