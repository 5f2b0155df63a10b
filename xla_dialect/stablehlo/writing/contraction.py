"""Contractions: precision, algorithms, convolutions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from xla_dialect.ops.contraction import ConvolutionOp, DotOp, RaggedDotOp
from xla_dialect.stablehlo.attribute_text import labels_text, plain_text
from xla_dialect.stablehlo.contraction import PRECISIONS
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.writing.body import BodyWriter, Write
from xla_dialect.stablehlo.writing.regular import REGULAR
from xla_dialect.types import BY_NAME, Array
from xla_dialect.xdsl.operation_table import OperationTable


def precision_words(op: Operation) -> list[str]:
    """The precision of the operands, `{high,default}` in HLO text; none if it is the default."""
    kept = op.attributes.get("xla.operand_precision")
    if not isinstance(kept, StringAttr):
        return []
    words = [word.strip().upper() for word in kept.data.strip("{}").split(",")]
    for word in words:
        if word not in PRECISIONS:
            raise Inexpressible(f"StableHLO has no precision {word}")
    return words


def precision_text(words: Sequence[str], dialect: str = "stablehlo") -> str:
    """`[#stablehlo<precision HIGH>, ...]`"""
    return f"[{', '.join(f'#{dialect}<precision {word}>' for word in words)}]"


_ALGORITHM = re.compile(
    r"dot_(?P<lhs>any_f8|[a-z]+\d+)_(?P<rhs>any_f8|[a-z]+\d+)_(?P<accumulation>[a-z]+\d+)"
    r"(?:_x(?P<count>\d+))?(?P<fast>_fast_accum)?"
)


def algorithm_fields(op: Operation, name: str) -> dict[str, str]:
    """`dot_bf16_bf16_f32_x3` as the fields of `#stablehlo.dot_algorithm`."""
    match = _ALGORITHM.fullmatch(name)
    if match is None:
        raise Inexpressible(f"StableHLO has no algorithm {name}")
    types: dict[str, str] = {}
    for side, operand in zip(("lhs", "rhs"), op.operands, strict=True):
        element = match.group(side)
        if element == "any_f8":
            own = str(cast(Array, operand.type).element_type)
            element = own if own.startswith("f8") else str(BY_NAME["f8e5m2"].type)
        types[f"{side}_precision_type"] = element
    return {
        **types,
        "accumulation_type": match.group("accumulation"),
        "lhs_component_count": "1",
        "rhs_component_count": "1",
        "num_primitive_operations": match.group("count") or "1",
        "allow_imprecise_accumulation": "true" if match.group("fast") else "false",
    }


def write_dot(op: Operation, body: BodyWriter) -> None:
    """`stablehlo.dot_general`; with an algorithm the precision says nothing."""
    extra: dict[str, object] = {}
    algorithm = op.attributes.get("xla.algorithm")
    if algorithm is not None and plain_text(algorithm) != "dot_unset":
        extra["algorithm"] = algorithm_fields(op, plain_text(algorithm))
    elif words := precision_words(op):
        extra["precision_config"] = words
    body.regular(op, REGULAR[DotOp], extra)


def write_ragged_dot(op: Operation, body: BodyWriter) -> None:
    """`chlo.ragged_dot`."""
    form = REGULAR[RaggedDotOp]
    properties = form.generic(form.values(op.properties))
    words = precision_words(op)
    if words:
        properties["precision_config"] = precision_text(words, "chlo")
    body.generic(
        op,
        form.name,
        body.leaves(op.operands),
        body.types([value.type for value in op.operands]),
        properties,
        body.types(op.result_types),
    )


def write_convolution(op: ConvolutionOp, body: BodyWriter) -> None:
    """`stablehlo.convolution(%0, %1) dim_numbers = ..., window = {...}`."""
    labels = op.dim_labels.data
    window = op.window.data.dimensions
    lists = {
        "stride": [str(d.stride) for d in window],
        "pad": [f"[{d.padding_low}, {d.padding_high}]" for d in window],
        "lhs_dilate": [str(d.base_dilation) for d in window],
        "rhs_dilate": [str(d.window_dilation) for d in window],
        "reverse": ["true" if d.reversal else "false" for d in window],
    }
    shown = ", ".join(f"{name} = [{', '.join(values)}]" for name, values in lists.items())
    texts = {
        f"{name}_group_count": f"{count.value.data} : i64"
        for name, count in (
            ("batch", op.batch_group_count),
            ("feature", op.feature_group_count),
        )
    }
    words = precision_words(op)
    if words:
        texts["precision_config"] = precision_text(words)
    operands, types = body.leaves(op.operands), body.types([v.type for v in op.operands])
    result = body.type_text(op.results[0].type)
    body.define(
        op,
        f"stablehlo.convolution({', '.join(operands)}) dim_numbers = {labels_text(labels)}, "
        f"window = {{{shown}}}{body.attributes(op, texts)} : ({', '.join(types)}) -> {result}",
        [result],
    )


WRITERS = (
    OperationTable[Write]()
    .add(DotOp, write_dot)
    .add(RaggedDotOp, write_ragged_dot)
    .add(ConvolutionOp, write_convolution)
)
