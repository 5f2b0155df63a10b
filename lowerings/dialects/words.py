"""
The `words` dialect: several narrow numbers in one of 32 bits, and the sums of their products that
processors have instructions for.

Its operations stand in the bodies of nests while loops are made of them, so that what a nest
computes is in one place; loops have what `lowerings.loops.narrow_products` writes for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FixedBitwidthType, StringAttr, UnitAttr, f32, i32
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from lowerings.dialects.schedule import Factor
from xla_dialect.xdsl.definition import op_definition

WORD_BITS, HALF_BITS = 32, 16

SIGN_BITS = -0x7F7F7F80
"""The sign bits of the four bytes of a word."""


@op_definition
class JoinOp(IRDLOperation):
    """The number of 32 bits that holds numbers of as many bits as fill it, the first one lowest."""

    name = "words.join"
    parts = var_operand_def(FixedBitwidthType)
    result = result_def(i32)
    traits = traits_def(Pure())
    assembly_format = "$parts attr-dict `:` type($parts)"

    def __init__(self, parts: Sequence[SSAValue]):
        super().__init__(operands=[parts], result_types=[i32])

    def verify_(self) -> None:
        types = list(dict.fromkeys(self.parts.types))
        bits = sum(t.bitwidth for t in self.parts.types if isinstance(t, FixedBitwidthType))
        if bits != WORD_BITS or len(types) > 1:
            found = ", ".join(map(str, types)) if len(types) > 1 else bits
            raise VerifyException(f"{WORD_BITS} bits of one type are joined; found {found}")


class _ProductOp(IRDLOperation):
    lhs = operand_def(i32)
    rhs = operand_def(i32)
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)


@op_definition
class PairProductOp(_ProductOp):
    """`low(lhs) * low(rhs) + high(lhs) * high(rhs)`, of the signed halves of 32-bit numbers."""

    name = "words.pair_product"
    result = result_def(i32)
    assembly_format = "$lhs `,` $rhs attr-dict"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[lhs, rhs], result_types=[i32])


@op_definition
class DotProductOp(_ProductOp):
    """
    The sum of the products of what two words hold: of four bytes, an i32, those of one factor
    unsigned and of the other signed; or of two numbers of bf16, an f32.
    """

    name = "words.dot_product"
    result = result_def()
    rhs_is_unsigned = opt_prop_def(UnitAttr)
    """Of bytes."""
    flipped = opt_prop_def(StringAttr)
    """
    The factor whose bytes have their sign bits flipped, which makes signed ones unsigned and the
    other way round. Whoever writes the loops subtracts the products of `SIGN_BITS`.
    """
    assembly_format = "$lhs `,` $rhs attr-dict `->` type($result)"

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        total: Attribute,
        *,
        rhs_is_unsigned: bool = False,
        flipped: Factor | None = None,
    ):
        properties: dict[str, Attribute] = {}
        if rhs_is_unsigned:
            properties["rhs_is_unsigned"] = UnitAttr()
        if flipped is not None:
            properties["flipped"] = StringAttr(flipped)
        super().__init__(operands=[lhs, rhs], result_types=[total], properties=properties)

    def verify_(self) -> None:
        total = self.result.type
        if total not in (i32, f32):
            raise VerifyException(f"bytes are added to an i32, bf16 to an f32; found {total}")
        if total == f32 and self.properties:
            raise VerifyException(f"{', '.join(self.properties)}, of numbers of bf16")
        if self.flipped is not None and self.flipped.data not in tuple(Factor):
            raise VerifyException(f"flipped is lhs or rhs, not {self.flipped.data}")


WORDS = Dialect("words", [JoinOp, PairProductOp, DotProductOp], [])
