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


_ALGORITHM_TYPES = ("lhs_precision", "rhs_precision", "accumulation")


def algorithm_name(op: SourceOp, algorithm: Attribute) -> str:
    """The name that HLO has for a dot algorithm: `dot_bf16_bf16_f32_x3`."""
    if not isinstance(algorithm, attributes.Fields):
        op.fail(f"algorithm is {algorithm}, not #stablehlo.dot_algorithm<...>")
    fields = dict(algorithm.data)
    types = [str(fields.get(f"{name}_type")) for name in _ALGORITHM_TYPES]
    if all(type_.startswith("f8") for type_ in types[:2]):
        fast = fields.get("allow_imprecise_accumulation") == BoolAttr.from_bool(True)
        return f"dot_any_f8_any_f8_{types[2]}{'_fast_accum' if fast else ''}"
    products = fields.get("num_primitive_operations")
    count = products.value.data if isinstance(products, IntegerAttr) else 1
    return f"dot_{'_'.join(types)}{f'_x{count}' if count > 1 else ''}"


def keep_precision(op: SourceOp) -> None:
    """Keeps a precision that is not the default one, spelled as in HLO text."""
    precisions = op.words("precision_config")
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
