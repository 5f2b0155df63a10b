"""What we make of a use of an operation, and where that differs from jaxlib's verifier."""

import re

from stablehlo_uses import Use

from xla_dialect.diagnostics import LocatedError
from xla_dialect.stablehlo import read_stablehlo

# Operation, change, and why we reject what jaxlib accepts.
EXCEPTIONS = (
    (
        r"stablehlo\.(einsum|unary_einsum|torch_index_select)",
        r".*",
        "jaxlib does not verify it at all; we reject what has no meaning",
    ),
    (
        r"stablehlo\.cross-replica-sum",
        r"replica_groups .*",
        "jaxlib does not verify its groups; a participant would be in two of them, or in none",
    ),
    (
        r"chlo\.broadcast_.*",
        r"(operand|broadcast_dimensions) .*",
        "jaxlib checks no shapes; no element of one operand belongs to one of the other",
    ),
    (
        r"chlo\.broadcast_select",
        r"result 0: .*",
        "jaxlib does not look at the element type of the result; it is that of the operands",
    ),
    (
        r"stablehlo\.(reduce|reduce_window|scatter)",
        r"an operand more",
        "jaxlib ignores an operand that is left over",
    ),
    (
        r"stablehlo\.fft",
        r"fft_length .*",
        "jaxlib does not look at the length of a complex transform; XLA does",
    ),
    (
        r"stablehlo\.rng_bit_generator",
        r"(operand|result) .*",
        "jaxlib does not look at element types; XLA has states of u64 and results of integers",
    ),
    (
        r"stablehlo\.bitcast_convert",
        r"(operand|result) 0: (rank-1|size 2 = .|ui8|f32|i1|i32)|f32 to (ui8|f8E4M3FN)",
        "jaxlib compares widths by the last size only; here the numbers of bits differ",
    ),
    (
        r"stablehlo\.scatter",
        r"operand 1: i1|i32 to (i1|index)",
        "jaxlib takes truth values and MLIR's index as indices; XLA does not",
    ),
    (
        r"stablehlo\.compare",
        r"[fi]32 to .*",
        "jaxlib does not compare the comparison type with the element type; specification, (C3)",
    ),
    (
        r"chlo\.broadcast_.*",
        r"[fi]32 to .*",
        "jaxlib looks at no element types; the operation of StableHLO has not this one",
    ),
    (
        r"stablehlo\.remainder",
        r"[fi]32 to complex<f32>",
        "what it is of complex numbers the specification leaves open",
    ),
    (
        r"chlo\.(bessel_i1e|top_k)",
        r"((operand|result) 0:|f32 to) complex<f32>",
        "StableHLO has no definition of it, XLA no operation",
    ),
    (
        r"stablehlo\.(all_gather|reduce_scatter)",
        r"(operand|result) 0: size . = [01]|channel_handle missing",
        "jaxlib does not look at the number of shards, nor for the channel of global ids; XLA does",
    ),
    (
        r"chlo\.scan",
        r"result . ?: .*|result [01]: .*",
        "jaxlib compares no element types; results have those that the computation returns",
    ),
)

ORACLE_CRASHES = ((r"chlo\..*", r".*= -1"), (r"stablehlo\.reduce", "an operand less"))
"""
What ends the process in jaxlib 0.10.2: negative dimensions of a broadcast, and a reduction of an
array without an initial value.
"""


def ends_the_oracle(name: str, label: str) -> bool:
    """Whether jaxlib does not survive a change."""
    return any(re.fullmatch(n, name) and re.fullmatch(c, label) for n, c in ORACLE_CRASHES)


def reasons(name: str, label: str) -> list[int]:
    """The exceptions that allow us to reject a change."""
    return [
        i
        for i, (names, labels, _) in enumerate(EXCEPTIONS)
        if re.fullmatch(names, name) and re.fullmatch(labels, label)
    ]


def own_rejection(use: Use) -> str | None:
    """Our message, a located one; None where we accept."""
    try:
        read_stablehlo(use.text(), "f.mlir")
    except LocatedError as error:
        message = str(error).splitlines()[0]
    else:
        return None
    assert re.match(r"f\.mlir:\d+:\d+: error: .", message), message
    return message
