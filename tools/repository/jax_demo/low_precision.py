"""A pass of a user's: what if the units for matrix products had fewer bits?"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.conversion import ReducePrecisionOp


@dataclass
class RoundOperands(RewritePattern):
    """Rounds both operands of a product to numbers of so many bits."""

    exponent_bits: int
    mantissa_bits: int

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter) -> None:
        bits = {
            "exponent_bits": IntegerAttr(self.exponent_bits, i64),
            "mantissa_bits": IntegerAttr(self.mantissa_bits, i64),
        }
        for number, operand in enumerate(tuple(op.operands)):
            rounded = ReducePrecisionOp.create(
                operands=[operand], result_types=[operand.type], properties=bits
            )
            rewriter.insert(rounded)
            op.operands[number] = rounded.results[0]
        rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class LowPrecisionProducts(ModulePass):
    """Products take numbers of few bits, by default those of the type f8E4M3."""

    name = "low-precision-products"

    exponent_bits: int = 4
    mantissa_bits: int = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Goes through all products once."""
        pattern = RoundOperands(self.exponent_bits, self.mantissa_bits)
        PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)
