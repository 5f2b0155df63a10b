"""Fourier transforms, Cholesky and triangular solve."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, i1, i64
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xla_dialect.ops import linear_algebra as xla
from xla_dialect.stablehlo.attributes import StableHloFftTypeAttr, StableHloTransposeAttr
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.xdsl.directives import Integers, SameType

_FLAG: Any = IntegerAttr.constr(i1)


@irdl_op_definition
class FftOp(StableHloOp):
    """A discrete Fourier transform of the last dimensions."""

    name = "stablehlo.fft"
    SAME: ClassVar = xla.FftOp
    operand = operand_def()
    fft_type = prop_def(StableHloFftTypeAttr)
    fft_length = prop_def(DenseArrayBase.constr(i64))
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (Integers,)
    assembly_format = (
        "$operand `,` `type` `=` $fft_type `,` `length` `=` custom<Integers>($fft_length) "
        "attr-dict `:` functional-type(operands, results)"
    )


@irdl_op_definition
class CholeskyOp(StableHloOp):
    """The triangular factor of positive definite matrices."""

    name = "stablehlo.cholesky"
    SAME: ClassVar = xla.CholeskyOp
    a = operand_def()
    lower = opt_prop_def(_FLAG, default_value=BoolAttr.from_bool(False))
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (SameType,)
    assembly_format = (
        "$a (`,` `lower` `=` $lower^)? attr-dict `:` "
        "custom<SameType>(type(operands), type(results))"
    )


@irdl_op_definition
class TriangularSolveOp(StableHloOp):
    """Solves systems of linear equations with triangular matrices."""

    name = "stablehlo.triangular_solve"
    SAME: ClassVar = xla.TriangularSolveOp
    a = operand_def()
    b = operand_def()
    left_side = prop_def(_FLAG)
    lower = prop_def(_FLAG)
    unit_diagonal = prop_def(_FLAG)
    transpose_a = prop_def(StableHloTransposeAttr)
    result = result_def()
    traits = traits_def(Pure())
