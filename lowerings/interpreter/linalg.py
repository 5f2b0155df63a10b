"""
`linalg`: structured operations. Their parallel loops are carried out all at once, as operations of
arrays; their reduction loops one after the other, in row-major order. Sums of floats are blocked as
those of the reference are.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects import arith, complex
from xdsl.dialects.builtin import MemRefType, ShapedType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from lowerings.bufferize.tensor_operands import LINALG_OPERATIONS, linalg_inputs
from lowerings.interpreter.elements import (
    Element,
    Number,
    UndefinedBehavior,
    element_of,
    require_inside,
)
from lowerings.interpreter.machine import (
    Code,
    Dialect,
    Frame,
    FrameFunction,
    ModuleInterpreter,
    StructuredMaker,
    ids,
    of_one,
    single_block,
)
from lowerings.interpreter.memory import Memref
from lowerings.interpreter.views import named
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.reference.reduction import BlockedSum
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import free_values


def sums_of(block: Block, maps: Sequence[AffineMap], parallel: Sequence[bool]) -> frozenset[int]:
    """
    The outputs of a body to which it adds one term at each step of the reduction loops.

    `maps` are those of all operands.
    """
    terminator = block.last_op
    if all(parallel) or not isinstance(terminator, YieldOp):
        return frozenset()
    first = len(block.args) - len(terminator.operands)
    return frozenset(
        output
        for output, result in enumerate(terminator.operands)
        if all(parallel[d] for d in maps[first + output].used_dims())
        and _adds(result, block.args[first + output])
    )


def _adds(result: SSAValue, total: SSAValue) -> bool:
    """Whether a result is the total and a term, or the total itself."""
    op, uses = result.owner, {use.operation for use in total.uses}
    if isinstance(op, arith.SelectOp) and op.rhs is total and op.lhs.has_one_use():
        uses.discard(op)
        result, op = op.lhs, op.lhs.owner
    if isinstance(op, arith.AddfOp):
        return uses == {op} and (op.lhs is total) != (op.rhs is total)
    if not isinstance(op, complex.CreateOp) or len(uses) != 2:
        return False
    return all(
        isinstance(added := part.owner, arith.AddfOp)
        and any(isinstance(term.owner, taken) and term.owner in uses for term in added.operands)
        for part, taken in ((op.real, complex.ReOp), (op.imaginary, complex.ImOp))
    )


SCALAR_POINT_LIMIT = 1 << 22
"""How many points of an iteration space are carried out one by one, where they have to be."""


_FAR = 1_000_003


@dataclass(frozen=True)
class OperandAccess:
    """How an operand is indexed by the loops, by a linear map."""

    map: AffineMap
    what: str
    """The operand, as messages call it."""
    origin: tuple[int, ...]
    """The index at the first point of the loops."""
    steps: tuple[tuple[int, ...], ...]
    """By how much each loop advances the index."""

    @staticmethod
    def of(map_: AffineMap, what: str) -> OperandAccess:
        """Raises XlaError for a map that is not linear."""
        origin, loops = map_.eval([0] * map_.num_dims, ()), range(map_.num_dims)
        units = (map_.eval([int(d == loop) for d in loops], ()) for loop in loops)
        steps = [tuple(map(operator.sub, unit, origin)) for unit in units]
        far = tuple(n + _FAR * sum(step) for n, *step in zip(origin, *steps, strict=True))
        if far != map_.eval([_FAR] * map_.num_dims, ()):
            raise XlaError(f"{map_} is not linear")
        return OperandAccess(map_, what, origin, tuple(steps))

    def over_loops(self, array: Array, sizes: Sequence[int]) -> Array:
        """A view with an axis for each loop; raises UndefinedBehavior for elements outside."""
        least, most = self.origin, self.origin
        for step, size in zip(self.steps, sizes, strict=True):
            least = tuple(n + min(0, s * (size - 1)) for n, s in zip(least, step, strict=True))
            most = tuple(n + max(0, s * (size - 1)) for n, s in zip(most, step, strict=True))
        require_inside(least, array.shape, self.what)
        require_inside(most, array.shape, self.what)
        strides = [sum(map(operator.mul, step, array.strides)) for step in self.steps]
        # numpy does not take dtypes of other packages here.
        first = array[(*self.origin, ...)].view(f"V{array.itemsize}")
        return as_strided(first, sizes, strides).view(array.dtype)


@dataclass(frozen=True)
class StructuredCode:
    """A structured operation, ready to be carried out."""

    accesses: tuple[OperandAccess, ...]
    elements: tuple[Element, ...]
    parallel: tuple[int, ...]
    """The loops that are carried out at once, as operations of arrays."""
    in_order: tuple[int, ...]
    """The loops that are carried out one step after the other."""
    code: Code
    dimensions: int
    """Where a frame has the indices of the loops."""
    input_count: int
    is_scalar: bool
    """Whether the body has operations that see one point only."""
    sums: frozenset[int]
    """The outputs to which the body adds one term at each step of the reduction loops."""

    def sizes(self, arrays: Sequence[Array]) -> list[int]:
        """The sizes of the loops: of the dimensions of operands that one loop indexes alone."""
        found: dict[int, int] = {}
        for access, array in zip(self.accesses, arrays, strict=True):
            for expression, size in zip(access.map.results, array.shape, strict=True):
                if isinstance(expression, AffineDimExpr):
                    loop = expression.position
                    if found.setdefault(loop, size) != size:
                        raise UndefinedBehavior(
                            f"loop {loop} has {found[loop]} or {size} iterations"
                        )
        missing = set(range(len(self.parallel) + len(self.in_order))) - found.keys()
        if missing:
            raise XlaError(f"no operand says how long loop {min(missing)} is")
        return [size for _, size in sorted(found.items())]

    def run(self, frame: Frame, arrays: Sequence[Array], outputs: list[Array]) -> None:
        """Carries out all points; `outputs` are read and written."""
        arrays = [*arrays, *outputs]
        sizes = self.sizes(arrays)
        if 0 in sizes:
            return
        if self.is_scalar and math.prod(sizes) > SCALAR_POINT_LIMIT:
            raise XlaError(f"{sizes} points one by one are too many")
        operands = [
            access.over_loops(array, sizes).transpose(*self.in_order, *self.parallel)
            for access, array in zip(self.accesses, arrays, strict=True)
        ]
        sums = {
            place: BlockedSum(-self.elements[place].dtype.type(0))
            for place in (self.input_count + output for output in self.sums)
        }
        positions: list[Number] = [None] * len(sizes)
        at_once = np.indices([sizes[loop] for loop in self.parallel], np.int64, sparse=True)
        for loop, numbers in zip(self.parallel, at_once, strict=True):
            positions[loop] = numbers
        frame[self.dimensions] = positions
        place: tuple[int, ...] = ()
        for place in itertools.product(*(range(sizes[loop]) for loop in self.in_order)):
            for loop, index in zip(self.in_order, place, strict=True):
                positions[loop] = np.int64(index)
            values = [
                element.loaded(operand[place])
                for element, operand in zip(self.elements, operands, strict=True)
            ]
            starts = {output: values[output] for output in sums}
            for output, total in sums.items():
                # What the body adds to this is the term.
                values[output] = total.nothing
            found = self.code.run(frame, values)
            for output, total in sums.items():
                total.add(found[output - self.input_count])
                found[output - self.input_count] = starts[output]
            if len(outputs) > 1:
                # A yielded value may be a view of another output that is about to be written.
                found = [np.array(value) for value in found]
            for output, value in enumerate(found, self.input_count):
                operands[output][(*place, ...)] = self.elements[output].stored(value)
        for output, total in sums.items():
            element, target = self.elements[output], operands[output][(*place, ...)]
            target[...] = element.stored(element.loaded(target) + total.total())


def _is_vectorizable(block: Block) -> bool:
    return not any(op.regions for op in block.walk())


def _loops(op: Operation) -> tuple[list[AffineMap], list[bool]]:
    """The maps of the operands, and for each loop whether it is parallel."""
    if isinstance(op, LinalgStructuredOperation):
        maps = [attribute.data for attribute in op.get_indexing_maps()]
        return maps, [each.data is IteratorType.PARALLEL for each in op.get_iterator_types()]
    assert isinstance(op, linalg.ReduceOp | linalg.BroadcastOp)
    rank = max(cast(ShapedType, type_).get_num_dims() for type_ in op.operand_types)
    some = op.dimensions.get_values()
    whole = AffineMap.identity(rank)
    rest = AffineMap(rank, 0, tuple(whole.results[d] for d in range(rank) if d not in some))
    if isinstance(op, linalg.BroadcastOp):
        return [rest, whole], [True] * rank
    return [whole, rest], [dimension not in some for dimension in range(rank)]


def structured(machine: ModuleInterpreter, op: Operation) -> FrameFunction:
    """A structured operation with a body."""
    maps, parallel = _loops(op)
    operands, input_count = op.operands, len(linalg_inputs(op))
    block = single_block(op.regions[0])
    is_scalar = not _is_vectorizable(block)
    kinds = [kind and not is_scalar for kind in parallel]
    nest = StructuredCode(
        tuple(map(OperandAccess.of, maps, map(named, operands))),
        tuple(element_of(operand.type) for operand in operands),
        tuple(d for d, kind in enumerate(kinds) if kind),
        tuple(d for d, kind in enumerate(kinds) if not kind),
        machine.code(block),
        id(block),
        input_count,
        is_scalar,
        frozenset() if is_scalar else sums_of(block, maps, kinds),
    )
    captured = [v for v in free_values(*op.regions) if isinstance(v.type, MemRefType)]
    others = ids(captured)

    def run(frame: Frame, *values: Any) -> Any:
        inputs, targets = values[:input_count], values[input_count:]
        arrays = [_stored_array(v, e) for v, e in zip(inputs, nest.elements, strict=False)]
        memrefs = [target for target in targets if isinstance(target, Memref)]
        _require_disjoint(memrefs, [*inputs, *(frame[value] for value in others)])
        outputs = [
            target.array if isinstance(target, Memref) else np.array(element.stored(target))
            for target, element in zip(targets, nest.elements[input_count:], strict=True)
        ]
        nest.run(frame, arrays, outputs)
        if memrefs:
            return []
        results = [e.loaded(o) for o, e in zip(outputs, nest.elements[input_count:], strict=True)]
        return results[0] if len(results) == 1 else results

    return run


def _stored_array(value: Any, element: Element) -> Array:
    """An input as memory holds it."""
    return value.array if isinstance(value, Memref) else np.asarray(element.stored(value))


def _require_disjoint(written: Sequence[Memref], others: Sequence[Any]) -> None:
    for number, target in enumerate(written):
        for other in (*written[number + 1 :], *others):
            if isinstance(other, Memref) and target.overlaps(other):
                raise UndefinedBehavior("an operand that is written overlaps another one")


def index(_machine: ModuleInterpreter, op: linalg.IndexOp) -> FrameFunction:
    """The index of a loop."""
    block, dimension = op.parent, op.dim.value.data
    while block is not None and not isinstance(block.parent_op(), LINALG_OPERATIONS):
        around = block.parent_op()
        block = around and around.parent
    positions = id(block)
    return of_one(lambda frame: frame[positions][dimension])


STRUCTURED = (
    OperationTable[StructuredMaker]().add(LINALG_OPERATIONS, structured).add(linalg.IndexOp, index)
)
LINALG = Dialect({}, STRUCTURED, frozenset({"linalg.yield"}))
