"""Sorting."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Region
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, RecursiveMemoryEffect

from xla_dialect.attributes import FALSE, FLAG, INTEGER, TRUE
from xla_dialect.constraints import (
    ArrayOf,
    require_computation,
    require_same_shape,
)
from xla_dialect.dimensions import Factor, FactorType, Numbering, RelationsBuilder, Traversal
from xla_dialect.op import Types, XlaOp
from xla_dialect.shapes.size_arithmetic import bounded
from xla_dialect.types import PRED, S32, Array, ElementClass, array, sizes_of, united_type
from xla_dialect.violations import require


@irdl_op_definition
class SortOp(XlaOp):
    """
    Sorts every line along `dimension` of all inputs at once, as tuples, by a comparator.

    The comparator takes per input its value at one place and its value at the other, and says
    whether the first place comes before. It must be a strict weak order; else the order is
    unspecified. The reference sorts stably whatever `is_stable` says.

    (C1) at least one input; all have the same dimensions. (C2) the comparator takes two scalars per
    input, of its element type, and returns a pred. (C3) `dimension` is one of the dimensions.
    (C4) the inputs have at least one dimension.
    """

    name = "xla.sort"
    NUMBERING: ClassVar = {"dimension": Numbering(numbers=0)}
    inputs = var_operand_def(ArrayOf())
    dimension = prop_def(INTEGER)
    is_stable = prop_def(FLAG, default_value=FALSE)
    outputs = var_result_def()
    to_apply = region_def()
    traits = traits_def(RecursiveMemoryEffect())

    @staticmethod
    def infer(inputs: tuple[Array, ...], *, dimension: int, to_apply: Region) -> Types:
        """The types of the inputs."""
        require(bool(inputs), "C1", "there are no inputs")
        for i, other in enumerate(inputs):
            require_same_shape(inputs[0], other, f"inputs 0 and {i}", "C1")
        rank = len(sizes_of(inputs[0]))
        require(rank > 0, "C4", "the inputs are scalars")
        require(0 <= dimension < rank, "C3", "dimension {} of arrays of rank {}", dimension, rank)
        pairs = [array(a.element_type, ()) for a in inputs for _ in range(2)]
        require_computation(to_apply, "to_apply", pairs, (array(PRED, ()),), ("C2", "C2"))
        return tuple(united_type(a, *inputs) for a in inputs)

    @staticmethod
    def relate(relations: RelationsBuilder, *, dimension: int) -> None:
        """Lines along `dimension` stay whole."""
        sizes = relations.results[0]
        count = range(len(relations.results))
        line = Factor(
            sizes[dimension], FactorType.NEED_REPLICATION, Traversal.WHOLE, blocked=len(sizes) == 1
        )
        relations.add_each(
            (line if d == dimension else n for d, n in enumerate(sizes)), count, count
        )


@irdl_op_definition
class TopkOp(XlaOp):
    """
    The k largest (or smallest) entries along the last dimension, in order, and their indices.

    Among equal entries the lower index comes first. Floats are in total order: NaN above +inf,
    -NaN below -inf, -0 below +0.

    (C1) the operand has at least one dimension. (C2) `0 <= k <=` size of the last dimension.
    (C3) elements are integers or floats.
    """

    name = "xla.topk"
    operand = operand_def(ArrayOf(ElementClass.REAL, "C3"))
    k = prop_def(INTEGER)
    largest = prop_def(FLAG, default_value=TRUE)
    outputs = var_result_def()
    traits = traits_def(Pure())

    @staticmethod
    def infer(operand: Array, *, k: int) -> Types:
        """The operand's type with k as the last size, and the same with elements s32."""
        sizes = sizes_of(operand)
        require(bool(sizes), "C1", "the operand is a scalar")
        require(
            bounded(0, k, sizes[-1]), "C2", "k is {}, the last dimension has size {}", k, sizes[-1]
        )
        kept = (*sizes[:-1], k)
        return array(operand.element_type, kept), array(S32, kept)

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        """Lines along the last dimension stay whole."""
        *batch, size = relations.operands[0]
        line = Factor(size, FactorType.NEED_REPLICATION, Traversal.WHOLE, blocked=True)
        relations.add_each((*batch, line), results=(0, 1))
        relations.static[0, len(batch)] = "it may have fewer than k elements"
