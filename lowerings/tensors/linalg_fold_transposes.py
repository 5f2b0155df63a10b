"""The pass `linalg-fold-transposes`."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir.affine import AffineMap

from lowerings.bufferize.tensor_operands import transposed_dimensions
from lowerings.rewriting.conversion import ConversionBuilder, ConversionPass, conversion_table
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.xla_to_linalg.structured import array_type, empty, fill_into
from xla_dialect.xdsl.creation import create


def fold_transpose(transpose: GenericOp, builder: ConversionBuilder) -> None:
    """Has a reduction write its result as a transpose of it would, from a fill in that order."""
    order = transposed_dimensions(transpose)
    if order is None or order == tuple(range(len(order))):
        return
    value = transpose.inputs[0]
    reduction = value.owner
    if (
        not isinstance(reduction, GenericOp)
        or reduction.parent is not transpose.parent
        or len(reduction.res) != 1
        or not value.has_one_use()
        or IteratorTypeAttr.reduction() not in reduction.iterator_types.data
    ):
        return
    fill = reduction.outputs[0].owner
    if not isinstance(fill, FillOp):
        return
    before = replace(builder, op=reduction)
    type_ = array_type(transpose.res[0])
    destination = fill_into(before, fill.inputs[0], empty(before, type_))
    *maps, last = reduction.indexing_maps.data
    written = AffineMap(last.data.num_dims, 0, tuple(last.data.results[d] for d in order))
    new = create(
        GenericOp,
        operands=[*reduction.inputs, destination],
        result_types=(type_,),
        properties={
            **reduction.properties,
            "indexing_maps": ArrayAttr[AffineMapAttr]([*maps, AffineMapAttr(written)]),
        },
        regions=[reduction.detach_region(reduction.body)],
    )
    before.insert(new)
    builder.absorb([reduction])
    builder.replace(new.results)


class LinalgFoldTransposesPass(ConversionPass):
    """
    Folds transposes into the reductions and contractions that they are the only users of.

    The indexing map of the result is permuted, so that it is written as it is read.

    ```
    %0 = linalg.generic {indexing_maps = [.., (i, j, k) -> (i, j)]} ins(%x, %y) ... { mulf, addf }
    %1 = linalg.generic {indexing_maps = [(i, j) -> (j, i), (i, j) -> (i, j)]} ins(%0) ... { }
    // becomes
    %1 = linalg.generic {indexing_maps = [.., (i, j, k) -> (j, i)]} ins(%x, %y) ... { mulf, addf }
    ```
    """

    name = "linalg-fold-transposes"
    takes = ON_TENSORS
    conversions = conversion_table(fold_transpose)
