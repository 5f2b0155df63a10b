"""Random numbers of StableHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from xla_dialect.attributes import (
    RandomAlgorithm,
    RandomAlgorithmAttr,
    RandomDistribution,
    RandomDistributionAttr,
)
from xla_dialect.ops import random as xla
from xla_dialect.shapes.size_arithmetic import compatible
from xla_dialect.stablehlo.conversion import Conversion, Row, sizes_of
from xla_dialect.stablehlo.correspondence import same, word
from xla_dialect.stablehlo.dynamic_shapes import sized_result
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import form, word_clause
from xla_dialect.types import as_array, spell

DISTRIBUTIONS = {
    "UNIFORM": RandomDistribution.UNIFORM,
    "NORMAL": RandomDistribution.NORMAL,
}
_ALGORITHMS = {
    "DEFAULT": RandomAlgorithm.DEFAULT,
    "THREE_FRY": RandomAlgorithm.THREE_FRY,
    "PHILOX": RandomAlgorithm.PHILOX,
}


def convert_rng(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.rng`; the operand with the sizes says what the result type does."""
    word = op.word("rng_distribution") or ""
    if word not in DISTRIBUTIONS:
        op.fail(f"rng_distribution is {word or 'missing'}")
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
    return conversion.emit(
        xla.RngOp,
        operands[:2],
        declared,
        {"distribution": RandomDistributionAttr(DISTRIBUTIONS[word])},
    )


RNG_BIT_GENERATOR = same(
    xla.RngBitGeneratorOp,
    {"algorithm": word("rng_algorithm", "rng_algorithm", RandomAlgorithmAttr, _ALGORITHMS)},
)

ROWS: Mapping[str, Row] = {
    "stablehlo.rng": Row(
        form(distribution=word_clause("rng_distribution", "rng_distribution")),
        convert_rng,
        operands=3,
        index_operands=2,
    ),
    "stablehlo.rng_bit_generator": Row(
        form(algorithm=word_clause("rng_algorithm", "rng_algorithm")),
        RNG_BIT_GENERATOR,
        operands=1,
        results=2,
    ),
}
