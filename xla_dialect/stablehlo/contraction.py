"""Contractions of StableHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, SSAValue

from xla_dialect.ops.contraction import DotOp, RaggedDotOp
from xla_dialect.stablehlo import attributes
from xla_dialect.stablehlo.conversion import Conversion, Row, dimension_list, sizes_of
from xla_dialect.stablehlo.correspondence import FieldProperties, Property, Special, integers, same
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import Gathered, fields_clause, form, pair_clause, words_clause

_DIMENSIONS = {
    "lhs_batch_dims": "lhs_batching_dimensions",
    "lhs_contracting_dims": "lhs_contracting_dimensions",
    "rhs_batch_dims": "rhs_batching_dimensions",
    "rhs_contracting_dims": "rhs_contracting_dimensions",
}
"""From the properties of `xla.dot` to the fields of `#stablehlo.dot`."""


KNOWN_ALGORITHMS = {
    "dot_any_f8_any_f8_f32": (1,),
    "dot_f16_f16_f16": (1,),
    "dot_f16_f16_f32": (1,),
    "dot_bf16_bf16_bf16": (1,),
    "dot_bf16_bf16_f32": (1, 3, 6, 9),
    "dot_tf32_tf32_f32": (1, 3),
    "dot_f32_f32_f32": (1,),
    "dot_f64_f64_f64": (1,),
}
"""The algorithms of dots that some hardware has, and of how many products each may consist."""

_ALGORITHM_COUNTS = ("lhs_component_count", "rhs_component_count", "num_primitive_operations")
_ALGORITHM_TYPES = ("lhs_precision", "rhs_precision", "accumulation")


def algorithm_name(op: SourceOp, algorithm: Attribute) -> str:
    """The name that HLO has for a dot algorithm: `dot_bf16_bf16_f32_x3`."""
    if not isinstance(algorithm, attributes.Fields):
        op.fail(f"algorithm is {algorithm}, not #stablehlo.dot_algorithm<...>")
    fields = dict(algorithm.data)
    types = [str(fields.get(f"{name}_type")) for name in _ALGORITHM_TYPES]
    counts = [_count(fields.get(name)) for name in _ALGORITHM_COUNTS]
    for name, count in zip(_ALGORITHM_COUNTS, counts, strict=True):
        if count < 1:
            op.fail(f"{name} of the algorithm is {count}, not positive")
    products = counts.pop()
    fast = fields.get("allow_imprecise_accumulation") == BoolAttr.from_bool(True)
    if all(type_.startswith("f8") for type_ in types[:2]):
        types[:2] = ["any_f8", "any_f8"]
    name = f"dot_{'_'.join(types)}"
    if products not in KNOWN_ALGORITHMS.get(name, ()) or counts != [1, 1]:
        op.fail(f"no hardware has the algorithm {algorithm}")
    if fast and types[0] != "any_f8":
        op.fail(f"no hardware has an imprecise algorithm {algorithm}")
    return f"{name}{f'_x{products}' if products > 1 else ''}{'_fast_accum' if fast else ''}"


def _count(value: Attribute | None) -> int:
    return value.value.data if isinstance(value, IntegerAttr) else 1


PRECISIONS = ("DEFAULT", "HIGH", "HIGHEST")


def keep_precision(op: SourceOp) -> None:
    """Keeps a precision that is not the default one, spelled as in HLO text."""
    precisions = op.words("precision_config")
    for word in precisions:
        if word not in PRECISIONS:
            op.fail(f"{word} is none of {', '.join(PRECISIONS)}")
    if len(precisions) > 2:
        op.fail(f"precision_config has {len(precisions)} entries for two operands")
    if any(word != "DEFAULT" for word in precisions):
        op.attributes["xla.operand_precision"] = StringAttr(
            f"{{{','.join(word.lower() for word in precisions)}}}"
        )


def emit_dot(
    op: SourceOp, conversion: Conversion, dimensions: Mapping[str, Sequence[int]]
) -> Sequence[SSAValue]:
    """Emits `xla.dot`; precision and algorithm are kept if they are not the default."""
    keep_precision(op)
    algorithm = op.take("algorithm")
    if algorithm is not None:
        if "xla.operand_precision" in op.attributes:
            op.fail("precision_config is not DEFAULT, though there is an algorithm")
        op.attributes["xla.algorithm"] = StringAttr(algorithm_name(op, algorithm))
    properties = {name: dimension_list(values) for name, values in dimensions.items()}
    return conversion.emit(DotOp, conversion.operands(op), conversion.result_types(op), properties)


def convert_dot_general(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dot_general`."""
    op.spread("dot_dimension_numbers")
    dimensions = {ours: op.integers(theirs, ()) for ours, theirs in _DIMENSIONS.items()}
    return emit_dot(op, conversion, dimensions)


def convert_dot(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dot`: the last dimension of lhs against the first one of rhs, ranks 1 or 2."""
    ranks = [len(sizes_of(value.type)) for value in conversion.operands(op)]
    if not all(1 <= rank <= 2 for rank in ranks):
        op.fail(f"operands have rank {ranks[0]} and {ranks[1]}, expected 1 or 2")
    dimensions = {"lhs_contracting_dims": (ranks[0] - 1,), "rhs_contracting_dims": (0,)}
    return emit_dot(op, conversion, dimensions)


_RAGGED_DIMENSIONS = {
    **_DIMENSIONS,
    "lhs_ragged_dims": "lhs_ragged_dimensions",
    "rhs_group_dims": "rhs_group_dimensions",
}
"""From the properties of `xla.ragged_dot` to the fields of `#chlo.ragged_dot`."""


def _lists(names: Mapping[str, str]) -> Mapping[str, Property]:
    return {ours: integers(theirs, ()) for ours, theirs in names.items()}


_DOT = same(
    DotOp,
    _lists(_DIMENSIONS),
    fields=FieldProperties("dot_dimension_numbers", "stablehlo.dot", tuple(_DIMENSIONS)),
)
_PRECISION = words_clause("precision_config", "precision")

ROWS: Mapping[str, Row] = {
    "chlo.ragged_dot": Row(
        None,
        same(
            RaggedDotOp,
            _lists(_RAGGED_DIMENSIONS),
            fields=FieldProperties(
                "ragged_dot_dimension_numbers", "chlo.ragged_dot", tuple(_RAGGED_DIMENSIONS)
            ),
            before=keep_precision,
        ),
        operands=3,
    ),
    "stablehlo.dot": Row(form(precision=_PRECISION), convert_dot, operands=2),
    "stablehlo.dot_general": Row(
        form(
            batching_dims=pair_clause(
                "lhs_batching_dimensions", "rhs_batching_dimensions", empty=False
            ),
            contracting_dims=pair_clause(
                "lhs_contracting_dimensions", "rhs_contracting_dimensions"
            ),
            precision=_PRECISION,
            algorithm=fields_clause("algorithm", "dot_algorithm"),
            gathered=Gathered("dot_dimension_numbers", "dot", tuple(_DIMENSIONS.values())),
        ),
        Special(_DOT, convert_dot_general),
        operands=2,
    ),
}
