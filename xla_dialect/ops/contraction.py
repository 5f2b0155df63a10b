"""Contractions (operations.md, section 25)."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from xla_dialect import shapes
from xla_dialect.constraints import (
    declared_array,
    require_dimensions,
    require_same_elements,
    with_elements,
)
from xla_dialect.op import Types, XlaOp
from xla_dialect.types import ElementClass, array, sizes_of
from xla_dialect.violation import require

Ints = tuple[int, ...]
EMPTY = DenseArrayBase.from_list(i64, ())


@irdl_op_definition
class DotOp(XlaOp):
    """
    Sums of products over the contracting dimensions, for every batch index.

    `result[b.., m.., n..] = Σ_k lhs[b.., m.., k..] * rhs[b.., k.., n..]`. The result type is the
    declared one: bf16 operands may give f32. Floats below f64 accumulate in f32 and round once,
    integers are first converted to the result type; pred: or of ands.

    (C1) numbers or pred of one element type, unless a result type is declared.
    (C2) contracting dimensions pair up with equal sizes. (C3) so do the batch dimensions.
    (C4) on each side, no dimension is named twice.
    """

    name = "xla.dot"
    lhs = operand_def()
    rhs = operand_def()
    lhs_batch_dims = prop_def(DenseArrayBase.constr(i64), default_value=EMPTY)
    lhs_contracting_dims = prop_def(DenseArrayBase.constr(i64), default_value=EMPTY)
    rhs_batch_dims = prop_def(DenseArrayBase.constr(i64), default_value=EMPTY)
    rhs_contracting_dims = prop_def(DenseArrayBase.constr(i64), default_value=EMPTY)
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def infer(
        lhs: Attribute,
        rhs: Attribute,
        *,
        lhs_batch_dims: Ints,
        lhs_contracting_dims: Ints,
        rhs_batch_dims: Ints,
        rhs_contracting_dims: Ints,
        declared: Types,
    ) -> Types:
        """Batch, free lhs and free rhs dimensions; the declared element type, or that of lhs."""
        left = with_elements(lhs, ElementClass.ANY, "lhs")
        right = with_elements(rhs, ElementClass.ANY, "rhs")
        if not declared:
            require_same_elements(left, right, "lhs and rhs", "C1")
        sizes, others = sizes_of(left), sizes_of(right)
        require_dimensions(
            (*lhs_batch_dims, *lhs_contracting_dims), len(sizes), "lhs dimensions", "C4"
        )
        require_dimensions(
            (*rhs_batch_dims, *rhs_contracting_dims), len(others), "rhs dimensions", "C4"
        )
        for label, kind, mine, theirs in (
            ("C2", "contracting", lhs_contracting_dims, rhs_contracting_dims),
            ("C3", "batch", lhs_batch_dims, rhs_batch_dims),
        ):
            found = [sizes[d] for d in mine], [others[d] for d in theirs]
            require(found[0] == found[1], label, "{} sizes are {} and {}", kind, *found)
        element = left.element_type
        if declared:
            result = with_elements(declared_array(declared), ElementClass.ANY, "the result")
            element = result.element_type
        return (
            array(
                element,
                shapes.contracted(
                    sizes,
                    others,
                    lhs_batch_dims,
                    lhs_contracting_dims,
                    rhs_batch_dims,
                    rhs_contracting_dims,
                ),
            ),
        )
