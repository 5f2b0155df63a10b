"""Reductions, over windows too, and `map`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeGuard, cast

from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import (
    SameVariadicOperandSize,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import RecursiveMemoryEffect

from xla_dialect.attributes import INTEGERS
from xla_dialect.constraints import (
    ArrayOf,
    require_computation,
    require_dimensions,
    require_same_elements,
    require_same_shape,
    require_window,
    signature,
)
from xla_dialect.dimensions import (
    Factor,
    FactorType,
    Numbering,
    RelationsBuilder,
    Traversal,
    pointwise,
)
from xla_dialect.op import Types, XlaOp
from xla_dialect.ops.elementwise import ElementwiseBinaryOp
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.size_arithmetic import compatible_sizes, marked, united
from xla_dialect.shapes.window import Window, WindowAttr
from xla_dialect.types import (
    PRED,
    Array,
    array,
    is_scalar,
    sizes_of,
    spell,
    spell_all,
)
from xla_dialect.violations import require


def require_reduction(
    inputs: tuple[Array, ...],
    init_values: tuple[Attribute, ...],
    computation: Region,
    same_sizes: str,
) -> tuple[int, ...]:
    """
    The sizes that the inputs of a reduction have; raises Violation (C1), (RC1), (RC2), (RC3).

    The computation takes N accumulators and N values, scalars of the element types, and returns N
    scalars (or their tuple). `same_sizes`: the label of the rule that the inputs have the same
    dimensions.
    """
    require(
        len(inputs) == len(init_values) and bool(inputs),
        "C1",
        "{} inputs and {} init values",
        len(inputs),
        len(init_values),
    )
    for i, (source, init) in enumerate(zip(inputs, init_values, strict=True)):
        require_same_shape(inputs[0], source, f"inputs 0 and {i}", same_sizes)
        require(
            is_scalar(init, source.element_type),
            "RC3",
            "init value {} is {}, not a scalar of {}",
            i,
            init,
            source.element_type,
        )
    require_reducer(computation, "to_apply", inputs)
    return united(*map(sizes_of, inputs))


def require_reducer(computation: Region, name: str, arrays: Sequence[Array]) -> None:
    """
    A computation takes N accumulators and N values of the arrays' element types and returns N.

    Raises Violation (RC1), (RC2).
    """
    scalars = [array(a.element_type, ()) for a in arrays]
    require_computation(computation, name, scalars * 2, scalars, ("RC1", "RC2"))


def only_operation(computation: Block) -> type[XlaOp] | None:
    """The operation of both parameters that a computation of two parameters consists of."""
    op, last = computation.first_op, computation.last_op
    if (
        not isinstance(op, XlaOp)
        or last is None
        or len(computation.args) != 2
        or set(op.operands) != set(computation.args)
        or op.next_op is not last
        or tuple(last.operands) != tuple(op.results)
    ):
        return None
    return type(op)


def may_reassociate(computation: Region) -> bool:
    """Whether a fold may be reassociated: the computation is one operation on both parameters."""
    return is_associative(only_operation(computation.block))


def is_associative(operation: type[XlaOp] | None) -> TypeGuard[type[ElementwiseBinaryOp]]:
    """Whether an operation is commutative and, up to rounding, associative."""
    return (
        operation is not None
        and issubclass(operation, ElementwiseBinaryOp)
        and operation.NEUTRAL is not None
    )


class FoldOp(XlaOp):
    """An operation that folds all inputs at once by a computation, starting from init values."""

    inputs = var_operand_def(ArrayOf())
    init_values = var_operand_def()
    outputs = var_result_def()
    to_apply = region_def()
    irdl_options = (SameVariadicOperandSize(),)
    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class ReduceOp(FoldOp):
    """
    Folds `dimensions` of all inputs at once: `acc = to_apply(acc, value)`, starting from init.

    The reference folds in row-major order of the reduced positions, sums of floats in blocks, as
    RC4 says; implementations may reassociate. The computation takes the N accumulators, then the
    N values.

    (C1) as many init values as inputs, at least one. (C2) all inputs have the same dimensions.
    (C3) (RC1) the computation takes 2N scalars of the element types; (RC2) it returns N of them;
    (RC3) init values are such scalars. (C4) `dimensions` are distinct dimensions.
    """

    name = "xla.reduce"
    NUMBERING: ClassVar = {"dimensions": Numbering(numbers=0)}
    dimensions = prop_def(INTEGERS)

    @staticmethod
    def infer(
        inputs: tuple[Array, ...],
        init_values: tuple[Attribute, ...],
        *,
        dimensions: tuple[int, ...],
        to_apply: Region,
    ) -> Types:
        """Per input its element type and its dimensions without the reduced ones."""
        sizes = require_reduction(inputs, init_values, to_apply, same_sizes="C2")
        require_dimensions(dimensions, len(sizes), "dimensions", "C4")
        kept = shapes.without(sizes, dimensions)
        return tuple(cast(Attribute, array(a.element_type, kept)) for a in inputs)

    @staticmethod
    def relate(
        relations: RelationsBuilder, *, dimensions: tuple[int, ...], to_apply: Region
    ) -> None:
        """`dimensions` are reduced, those that are left pass through in order."""
        count = len(relations.results)
        kept = 0
        for d, size in enumerate(relations.operands[0]):
            inputs = dict.fromkeys(range(count), d)
            if d in dimensions:
                relations.add(Factor(size, FactorType.REDUCTION), inputs)
            else:
                relations.add(size, inputs, dict.fromkeys(range(count), kept))
                kept += 1
        if not may_reassociate(to_apply):
            relations.ordered = tuple(sorted(dimensions))


@irdl_op_definition
class ReduceWindowOp(FoldOp):
    """
    Folds every placement of a window over all inputs: `acc = to_apply(acc, value)` from init.

    `result[p]` folds the values at `p * stride + k * window_dilation - padding_low`, k in row-major
    order, in the dilated base. The reference skips padding and the holes of the base: init enters
    once per placement. Implementations may reassociate.

    (C1) as many init values as inputs, at least one; all inputs have the same dimensions.
    (C2) (RC1) the computation takes 2N scalars of the element types; (RC2) it returns N of them;
    (RC3) init values are such scalars. (C3) the window has one dimension per dimension of the
    inputs. (C4) sizes, strides and dilations are at least 1; the window is not reversed.
    """

    name = "xla.reduce_window"
    NUMBERING: ClassVar = {"window": Numbering(listed=0)}
    window = prop_def(WindowAttr, default_value=WindowAttr(Window()))

    @staticmethod
    def infer(
        inputs: tuple[Array, ...],
        init_values: tuple[Attribute, ...],
        *,
        window: Window,
        to_apply: Region,
    ) -> Types:
        """Per input its element type, and per dimension how often the window fits."""
        sizes = require_reduction(inputs, init_values, to_apply, same_sizes="C1")
        require_window(window, len(sizes), ("C3", "C4"))
        _require_unreversed(window, "C4")
        placements = window.placements(sizes)
        return tuple(cast(Attribute, array(a.element_type, placements)) for a in inputs)

    @staticmethod
    def relate(relations: RelationsBuilder, *, window: Window, to_apply: Region) -> None:
        """Along each dimension the window moves; what it covers is reduced."""
        count = range(len(relations.results))
        ordered: list[int] = []
        for d, (size, part) in enumerate(zip(relations.results[0], window.dimensions, strict=True)):
            places = dict.fromkeys(count, d)
            if not part.moves:
                relations.add(size, places, places)
                continue
            relations.add(Factor(size, FactorType.PERMUTATION, part), places, places)
            covered = Factor(part.size, FactorType.REDUCTION, Traversal.WINDOW)
            ordered.append(relations.add(covered, places))
        if not may_reassociate(to_apply):
            relations.ordered = tuple(ordered)


@irdl_op_definition
class SelectAndScatterOp(XlaOp):
    """
    Picks one element per placement of a window, and scatters `source` to where they stand.

    `result = init_value` everywhere; for every placement p in row-major order: best is the first
    element of the window, then every next element e with `not select(best, e)`; then
    `result[place of best] = scatter(result[place of best], source[p])`. Padding is never picked.

    (C1) operand, source and init value have one element type; init is a scalar. (C2) `select` takes
    two such scalars and returns a pred. (C3) `scatter` takes (RC1) and returns (RC2) such scalars,
    the accumulator first. (C4) the window has one dimension per dimension of the operand, sizes and
    strides of at least 1, no dilation and no reversal. (C5) `source` has one element per placement.
    """

    name = "xla.select_and_scatter"
    NUMBERING: ClassVar = {"window": Numbering(listed=0)}
    operand = operand_def(ArrayOf())
    source = operand_def(ArrayOf())
    init_value = operand_def()
    window = prop_def(WindowAttr, default_value=WindowAttr(Window()))
    result = result_def()
    select = region_def()
    scatter = region_def()
    traits = traits_def(RecursiveMemoryEffect())

    @staticmethod
    def infer(
        operand: Array,
        source: Array,
        init_value: Attribute,
        *,
        window: Window,
        select: Region,
        scatter: Region,
    ) -> Types:
        """The type of the operand."""
        require_same_elements(operand, source, "operand and source", "C1")
        require(
            is_scalar(init_value, operand.element_type),
            "C1",
            "init value is {}, the operand {}",
            spell(init_value),
            spell(operand),
        )
        scalar = array(operand.element_type, ())
        require_computation(select, "select", (scalar, scalar), (array(PRED, ()),), ("C2", "C2"))
        require_reducer(scatter, "scatter", [operand])
        sizes = sizes_of(operand)
        require_window(window, len(sizes), ("C4", "C4"))
        _require_unreversed(window, "C4")
        require(
            all(d.base_dilation == 1 and d.window_dilation == 1 for d in window.dimensions),
            "C4",
            "window {} has dilations",
            window,
        )
        placements = window.placements(sizes)
        require(
            compatible_sizes(sizes_of(source), placements),
            "C5",
            "source has sizes {}, the window {} placements",
            list(sizes_of(source)),
            list(placements),
        )
        dynamic = [marked(n, m) for n, m in zip(sizes, sizes_of(source), strict=True)]
        return (array(operand.element_type, dynamic),)

    @staticmethod
    def relate(relations: RelationsBuilder, *, window: Window) -> None:
        """Dimension by dimension; where the window moves, it picks the places of the source."""
        ordered: list[int] = []
        for d, part in enumerate(window.dimensions):
            size, source = relations.operands[0][d], relations.operands[1][d]
            if not part.moves:
                relations.add(size, {0: d, 1: d}, {0: d})
                continue
            placement = Factor(source, FactorType.NEED_REPLICATION, Traversal.INDEXED)
            relations.add(placement, {1: d})
            places = Factor(size, FactorType.PERMUTATION, Traversal.INDEXED)
            ordered.append(relations.add(places, {0: d}, {0: d}))
            relations.static[0, d] = relations.static[1, d] = "the window slides along it"
        # Of elements that are selected alike the first one is.
        relations.ordered = tuple(ordered)


def _require_unreversed(window: Window, label: str) -> None:
    require(not any(d.reversal for d in window.dimensions), label, "window {} is reversed", window)


@irdl_op_definition
class MapOp(XlaOp):
    """
    `result[i] = to_apply(inputs[0][i], inputs[1][i], ...)`, a function of scalars at every index.

    (C1) at least one input; all have the same dimensions. (C2) the computation takes one scalar per
    input, of its element type, and returns one scalar. (C3) `dimensions`, if given, are all
    dimensions in order.
    """

    name = "xla.map"
    inputs = var_operand_def(ArrayOf())
    dimensions = opt_prop_def(INTEGERS)
    result = result_def()
    to_apply = region_def()
    traits = traits_def(RecursiveMemoryEffect())

    @staticmethod
    def infer(
        inputs: tuple[Array, ...], *, dimensions: tuple[int, ...] | None, to_apply: Region
    ) -> Types:
        """The dimensions of the inputs with the element type that the computation returns."""
        require(bool(inputs), "C1", "there are no inputs")
        for i, other in enumerate(inputs):
            require_same_shape(inputs[0], other, f"inputs 0 and {i}", "C1")
        sizes = united(*map(sizes_of, inputs))
        _, returned = signature(to_apply, "to_apply", "C2")
        require(
            len(returned) == 1 and is_scalar(returned[0]),
            "C2",
            "to_apply returns {}, not one scalar",
            spell_all(returned),
        )
        scalars = [array(a.element_type, ()) for a in inputs]
        require_computation(to_apply, "to_apply", scalars, returned, ("C2", "C2"))
        require(
            dimensions is None or dimensions == tuple(range(len(sizes))),
            "C3",
            "dimensions are {} for arrays of rank {}",
            dimensions,
            len(sizes),
        )
        return (array(cast(Array, returned[0]).element_type, sizes),)

    relate = staticmethod(pointwise)
