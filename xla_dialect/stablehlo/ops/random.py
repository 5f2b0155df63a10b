"""Random numbers."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from xla_dialect.ops import random as xla
from xla_dialect.stablehlo.attributes import RngAlgorithmAttr, RngDistributionAttr
from xla_dialect.stablehlo.op import StableHloOp


@irdl_op_definition
class RngOp(StableHloOp):
    """Numbers of a distribution with two parameters, as many as an operand says."""

    name = "stablehlo.rng"
    INDEX_OPERANDS: ClassVar = 2
    a = operand_def()
    b = operand_def()
    shape = operand_def()
    rng_distribution = prop_def(RngDistributionAttr)
    result = result_def()
    assembly_format = (
        "$a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict `:` "
        "functional-type(operands, results)"
    )


@irdl_op_definition
class RngBitGeneratorOp(StableHloOp):
    """Random bits of a state, and the next state."""

    name = "stablehlo.rng_bit_generator"
    SAME: ClassVar = xla.RngBitGeneratorOp
    NAMES: ClassVar = {"rng_algorithm": "algorithm"}
    initial_state = operand_def()
    rng_algorithm = prop_def(RngAlgorithmAttr)
    output_state = result_def()
    output = result_def()
    assembly_format = (
        "$initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` "
        "functional-type(operands, results)"
    )
