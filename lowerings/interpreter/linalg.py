"""
`linalg`: structured operations. Their parallel loops are carried out all at once, as operations of
arrays; their reduction loops one after the other, in row-major order. Sums of floats are blocked as
those of the reference are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith, complex
from xdsl.dialects.builtin import MemRefType, ShapedType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

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
    StructuredMaker,
    Translator,
    of_one,
    single_block,
)
from lowerings.interpreter.memory import Memref
from lowerings.interpreter.memref import named
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

_BINARY: dict[AffineBinaryOpKind, Callable[[Any, Any], Any]] = {
    AffineBinaryOpKind.Add: lambda x, y: x + y,
    AffineBinaryOpKind.Mul: lambda x, y: x * y,
    AffineBinaryOpKind.FloorDiv: lambda x, y: x // y,
    AffineBinaryOpKind.CeilDiv: lambda x, y: -(-x // y),
    AffineBinaryOpKind.Mod: lambda x, y: x % y,
}


def evaluate(expression: AffineExpr, positions: Sequence[Number]) -> Number:
    """An affine expression of numbers or arrays; raises XlaError for symbols."""
    match expression:
        case AffineDimExpr():
            return positions[expression.position]
        case AffineConstantExpr():
            return expression.value
        case AffineBinaryOpExpr():
            lhs, rhs = (evaluate(each, positions) for each in (expression.lhs, expression.rhs))
            return _BINARY[expression.kind](lhs, rhs)
        case _:
            raise XlaError(f"{expression} is no expression of the loops")


class OperandAccess:
    """
    How an operand is read at a step of the reduction loops: for all points of the parallel loops
    at once, with an axis for each of them, of size 1 where the operand does not depend on it.
    """

    def __init__(self, map_: AffineMap, parallel: Sequence[int], what: str):
        self.map = map_
        self.what = what
        self.parallel = {dimension: axis for axis, dimension in enumerate(parallel)}
        """The axis of each parallel loop."""
        dimensions = [e.position for e in map_.results if isinstance(e, AffineDimExpr)]
        self.is_plain = len(set(dimensions)) == len(dimensions) and all(
            isinstance(e, AffineDimExpr | AffineConstantExpr) for e in map_.results
        )
        """Whether the map is a projection to distinct dimensions, and constants."""
        self._steps = [d for d in dimensions if d not in self.parallel]
        """The loops that go step by step, as the operand is indexed by them."""
        at_once = [n for n, d in enumerate(dimensions) if d in self.parallel]
        self._order = [n for n in range(len(dimensions)) if n not in at_once]
        self._order += sorted(at_once, key=lambda n: self.parallel[dimensions[n]])
        self._spread: Any = (
            *(slice(None) for _ in self._steps),
            *(slice(None) if d in dimensions else None for d in parallel),
            ...,
        )

    def opened(self, array: Array) -> Array:
        """
        What `read` and `write` take: of a plain access a view with the axes of its steps in front.

        Loops are as long as the dimensions that they index, so that only constants may be outside.
        """
        if not self.is_plain:
            return array
        index = tuple(
            e.value if isinstance(e, AffineConstantExpr) else slice(None) for e in self.map.results
        )
        require_inside(
            [0 if isinstance(i, slice) else i for i in index],
            [1 if isinstance(i, slice) else n for i, n in zip(index, array.shape, strict=True)],
            self.what,
        )
        # The ellipsis makes numpy return a view, not a scalar, where all indices are integers.
        return array[(*index, ...)].transpose(self._order)[self._spread]

    def _part(self, opened: Array, positions: Sequence[Number]) -> Array:
        """A view of the elements, of a plain access."""
        return opened[(*[positions[loop] for loop in self._steps], ...)]

    def indices(self, array: Array, positions: Sequence[Number]) -> tuple[Number, ...]:
        """The indices of the elements, inside of the array."""
        found = tuple(evaluate(e, positions) for e in self.map.results)
        require_inside(found, array.shape, self.what)
        return found

    def read(self, opened: Array, positions: Sequence[Number]) -> Number:
        """The elements; raises UndefinedBehavior outside."""
        if self.is_plain:
            part = self._part(opened, positions)
            return part if part.ndim else part[()]
        return opened[self.indices(opened, positions)]

    def write(self, opened: Array, positions: Sequence[Number], value: Number) -> None:
        """Writes the elements; raises UndefinedBehavior outside."""
        if self.is_plain:
            self._part(opened, positions)[...] = value
        else:
            opened[self.indices(opened, positions)] = value


@dataclass(frozen=True)
class StructuredCode:
    """A structured operation, ready to be carried out."""

    accesses: tuple[OperandAccess, ...]
    elements: tuple[Element, ...]
    kinds: tuple[bool, ...]
    """For each loop, whether it is carried out at once."""
    code: Code
    dimensions: tuple[int, ...]
    """The slots of the loop indices."""
    input_count: int
    is_scalar: bool
    """Whether the body has operations that see one point only."""
    sums: frozenset[int]
    """The outputs to which the body adds one term at each step of the reduction loops."""

    def sizes(self, arrays: Sequence[Array]) -> list[int]:
        """The sizes of the loops: of the dimensions of operands that one loop indexes alone."""
        found: list[int | None] = [None] * len(self.kinds)
        for access, array in zip(self.accesses, arrays, strict=True):
            for expression, size in zip(access.map.results, array.shape, strict=True):
                if isinstance(expression, AffineDimExpr):
                    known = found[expression.position]
                    if known is not None and known != size:
                        raise UndefinedBehavior(
                            f"loop {expression.position} has {known} or {size} iterations"
                        )
                    found[expression.position] = size
        if None in found:
            raise XlaError(f"no operand says how long loop {found.index(None)} is")
        return [size for size in found if size is not None]

    def positions(self, sizes: Sequence[int]) -> Iterator[list[Number]]:
        """The loop indices at each step: arrays for the loops that are carried out at once."""
        parallel = [d for d, kind in enumerate(self.kinds) if kind]
        reduction = [d for d, kind in enumerate(self.kinds) if not kind]
        positions: list[Number] = [None] * len(sizes)
        for axis, dimension in enumerate(parallel):
            shape = [-1 if other == axis else 1 for other in range(len(parallel))]
            positions[dimension] = np.arange(sizes[dimension]).reshape(shape)
        for place in itertools.product(*(range(sizes[d]) for d in reduction)):
            for dimension, index in zip(reduction, place, strict=True):
                positions[dimension] = np.int64(index)
            yield positions

    def run(self, frame: Frame, arrays: Sequence[Array], outputs: list[Array]) -> None:
        """Carries out all points; `outputs` are read and written."""
        sizes = self.sizes([*arrays, *outputs])
        if 0 in sizes:
            return
        if self.is_scalar and math.prod(sizes) > SCALAR_POINT_LIMIT:
            raise XlaError(f"{sizes} points one by one are too many")
        operands = [
            access.opened(array)
            for access, array in zip(self.accesses, [*arrays, *outputs], strict=True)
        ]
        written = self.accesses[self.input_count :]
        sums = {
            place: BlockedSum(-self.elements[place].dtype.type(0))
            for place in (self.input_count + output for output in self.sums)
        }
        positions: list[Number] = []
        for positions in self.positions(sizes):
            for slot, position in zip(self.dimensions, positions, strict=True):
                frame[slot] = position
            values = [
                element.loaded(access.read(array, positions))
                for access, element, array in zip(
                    self.accesses, self.elements, operands, strict=True
                )
            ]
            starts = {place: values[place] for place in sums}
            for place, total in sums.items():
                # What the body adds to this is the term.
                values[place] = total.nothing
            found = self.code.run(frame, values)
            for place, total in sums.items():
                total.add(found[place - self.input_count])
                found[place - self.input_count] = starts[place]
            if len(outputs) > 1:
                # A yielded value may be a view of another output that is about to be written.
                found = [np.array(value) for value in found]
            for access, element, output, value in zip(
                written,
                self.elements[self.input_count :],
                operands[self.input_count :],
                found,
                strict=True,
            ):
                access.write(output, positions, element.stored(value))
        for place, total in sums.items():
            access, element = self.accesses[place], self.elements[place]
            start = element.loaded(access.read(operands[place], positions))
            access.write(operands[place], positions, element.stored(start + total.total()))


def _is_vectorizable(translator: Translator, block: Block) -> bool:
    return all(op.name in translator.machine.values or not op.regions for op in block.walk())


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


def structured(translator: Translator, op: Operation) -> FrameFunction:
    """A structured operation with a body."""
    maps, parallel = _loops(op)
    operands, input_count = op.operands, len(linalg_inputs(op))
    block = single_block(op.regions[0])
    is_scalar = not _is_vectorizable(translator, block)
    kinds = [kind and not is_scalar for kind in parallel]
    dimensions = tuple(translator.new_slot() for _ in kinds)
    translator.dimensions.append(dimensions)
    code = translator.block(block)
    translator.dimensions.pop()
    at_once = [d for d, kind in enumerate(kinds) if kind]
    nest = StructuredCode(
        tuple(OperandAccess(m, at_once, named(o)) for m, o in zip(maps, operands, strict=True)),
        tuple(element_of(operand.type) for operand in operands),
        tuple(kinds),
        code,
        dimensions,
        input_count,
        is_scalar,
        frozenset() if is_scalar else sums_of(block, maps, kinds),
    )
    captured = [v for v in free_values(*op.regions) if isinstance(v.type, MemRefType)]
    slots = translator.slots(captured)

    def run(frame: Frame, *values: Any) -> Any:
        inputs, targets = values[:input_count], values[input_count:]
        arrays = [_stored_array(v, e) for v, e in zip(inputs, nest.elements, strict=False)]
        memrefs = [target for target in targets if isinstance(target, Memref)]
        _require_disjoint(memrefs, [*inputs, *(frame[slot] for slot in slots)])
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


def index(translator: Translator, op: linalg.IndexOp) -> FrameFunction:
    """The index of a loop."""
    slot = translator.dimensions[-1][op.dim.value.data]
    return of_one(lambda frame: frame[slot])


def fill(translator: Translator, op: linalg.FillOp) -> FrameFunction:
    """One number everywhere."""
    elements = [element_of(value.type) for value in op.outputs]

    def run(_frame: Frame, *operands: Any) -> Any:
        values, targets = operands[: len(op.inputs)], operands[len(op.inputs) :]
        results: list[Array] = []
        for value, target, element in zip(values, targets, elements, strict=True):
            if isinstance(target, Memref):
                target.write(value)
            else:
                results.append(np.full(np.shape(target), value, element.dtype))
        return results[0] if len(results) == 1 else results

    return run


STRUCTURED = (
    OperationTable[StructuredMaker]()
    .add(LINALG_OPERATIONS, structured)
    .add(linalg.FillOp, fill)
    .add(linalg.IndexOp, index)
)
LINALG = Dialect({}, STRUCTURED, frozenset({"linalg.yield"}))
