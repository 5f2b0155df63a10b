"""The pass `linalg-detensorize`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr

from lowerings.bufferize.tensor_operands import is_tensor
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.dead_code import remove_dead_code
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.rewriting.passes import ReportingPass
from lowerings.tensors.purity import is_pure
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX
from lowerings.xla_to_linalg.structured import array_type
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import free_values, operations_in, outs_of, tensor_shape

MOST_ELEMENTS = 4
"""Of a tensor that becomes scalars."""

MOST_POINTS = 16
"""How often the body of an operation is written."""

_RESHAPES = (tensor.CollapseShapeOp, tensor.ExpandShapeOp, tensor.CastOp)
_SLICES = (tensor.ExtractSliceOp, tensor.InsertSliceOp)
_WRITTEN = (GenericOp, FillOp, tensor.EmptyOp, tensor.ExtractOp, tensor.FromElementsOp)


class LinalgDetensorizePass(ReportingPass):
    """
    Loops of few numbers carry scalars.

    Where all that an `scf.while` carries, and all that is computed in it, are tensors of at most
    four elements, each element is a value of its own: registers hold it from one iteration to the
    next, where a tensor would be written to memory and read again. MLIR's pass of this name does it
    for tensors without dimensions.

    ```
    %r = scf.while (%i = %zero) : (tensor<i32>) -> tensor<i32> { .. } do {
    ^bb0(%j: tensor<i32>):
      %k = linalg.generic {..} ins(%j, %one : tensor<i32>, tensor<i32>) outs(..) { addi }
      scf.yield %k : tensor<i32>
    }
    // becomes
    %r = scf.while (%i = %zero_0) : (i32) -> i32 { .. } do {
    ^bb0(%j: i32):
      %k = arith.addi %j, %one_0 : i32
      scf.yield %k : i32
    }
    %t = tensor.from_elements %r : tensor<i32>
    ```
    """

    name = "linalg-detensorize"
    takes = ON_TENSORS

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through all loops from the inside out."""
        loops = [each for each in operations_in(op) if type(each) is scf.WhileOp]
        changed = False
        for loop in reversed(loops):
            if any(map(is_tensor, loop.operands)) and _is_small(loop):
                attempt(lambda loop=loop: _rewrite(loop))
                changed = True
        return changed


def _is_small(loop: scf.WhileOp) -> bool:
    blocks = [region.block for region in loop.regions]
    values = (*loop.operands, *loop.results, *(arg for block in blocks for arg in block.args))
    return all(map(_has_few_elements, values)) and all(
        map(_becomes_scalar, (op for block in blocks for op in block.ops))
    )


def _has_few_elements(value: SSAValue) -> bool:
    """Whether a value is a scalar, or a tensor of few."""
    if not is_tensor(value):
        return not isinstance(value.type, TensorType)
    type_ = array_type(value)
    is_number = isinstance(type_.element_type, IntegerType | IndexType | AnyFloat)
    return is_number and type_.has_static_shape() and prod(type_.get_shape()) <= MOST_ELEMENTS


def _becomes_scalar(op: Operation) -> bool:
    """Whether scalar operations do what an operation of a loop does."""
    values = (*op.operands, *op.results)
    if not all(map(_has_few_elements, values)):
        return False
    if isinstance(op, GenericOp):
        is_plain = all(not inner.regions for inner in op.body.block.ops)
        is_plain = is_plain and not any(map(is_tensor, free_values(op.body)))
        extents = _extents(op) if is_plain else None
        return extents is not None and prod(extents) <= MOST_POINTS
    if isinstance(op, _SLICES):
        return not (op.offsets or op.sizes or op.strides)
    if isinstance(op, tensor.ExtractOp):
        return all(isinstance(index.owner, arith.ConstantOp) for index in op.indices)
    if isinstance(op, arith.ConstantOp):
        return isinstance(op.value, DenseIntOrFPElementsAttr | IntegerAttr | FloatAttr)
    if isinstance(op, (*_WRITTEN, *_RESHAPES, scf.YieldOp, scf.ConditionOp)):
        return True
    inside = (value for each in operations_in(op) for value in (*each.operands, *each.results))
    return not any(isinstance(value.type, TensorType) for value in (*values, *inside))


def _extents(op: GenericOp) -> list[int] | None:
    """The iterations of each loop; None where no operand tells."""
    found: dict[int, int] = {}
    for operand, map_ in zip(op.operands, op.indexing_maps.data, strict=True):
        if is_tensor(operand):
            for size, result in zip(tensor_shape(operand), map_.data.results, strict=True):
                if isinstance(result, AffineDimExpr):
                    found[result.position] = size
    loops = range(len(op.iterator_types))
    return [found[loop] for loop in loops] if found.keys() >= {*loops} else None


def _rewrite(loop: scf.WhileOp) -> None:
    scalars = _Scalars(loop)
    initial = [each for operand in loop.operands for each in scalars.of(operand)]
    regions = [scalars.region(region) for region in loop.regions]
    types = [each for result in loop.results for each in _types(result)]
    new = insert_before(
        create(
            scf.WhileOp,
            operands=initial,
            result_types=types,
            regions=regions,
            attributes=loop.attributes,
        ),
        loop,
    )
    results: Iterator[SSAValue] = iter(new.results)
    for result in loop.results:
        if not is_tensor(result):
            replace_uses(result, next(results))
            continue
        elements = [next(results) for _ in _types(result)]
        made = create(tensor.FromElementsOp, operands=elements, result_types=[result.type])
        replace_uses(result, insert_before(made, loop).results[0])
    block = cast(Block, loop.parent)
    erase(loop)
    remove_dead_code(block, is_pure)


def _types(value: SSAValue) -> list[Attribute]:
    """Those of the elements."""
    if not is_tensor(value):
        return [value.type]
    return [array_type(value).element_type] * prod(tensor_shape(value))


@dataclass(eq=False)
class _Scalars:
    """Writes what a loop computes on scalars."""

    loop: scf.WhileOp
    ops: list[Operation] = field(default_factory=list[Operation])
    """Of the block that is written."""
    tensors: dict[SSAValue, Sequence[SSAValue]] = field(
        default_factory=dict[SSAValue, Sequence[SSAValue]]
    )
    """The elements, the last dimension fastest."""
    scalars: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def of(self, value: SSAValue) -> Sequence[SSAValue]:
        """The elements of a tensor, or a scalar; what is made outside is read before the loop."""
        if not is_tensor(value):
            return [self.scalars.get(value, value)]
        if value not in self.tensors:
            self.tensors[value] = [
                self._before(
                    tensor.ExtractOp,
                    [value, *(self._before_constant(index) for index in place)],
                    array_type(value).element_type,
                )
                for place in np.ndindex(*tensor_shape(value))
            ]
        return self.tensors[value]

    def _before(self, op_class: type[Operation], operands: Any, type_: Attribute) -> SSAValue:
        made = create(op_class, operands=operands, result_types=[type_])
        return insert_before(made, self.loop).results[0]

    def _before_constant(self, number: int) -> SSAValue:
        return insert_before(arith.ConstantOp(IntegerAttr(number, INDEX)), self.loop).result

    def region(self, region: Region) -> Region:
        """A region of the loop."""
        self.ops = []
        block = Block(arg_types=[each for arg in region.block.args for each in _types(arg)])
        given = iter(block.args)
        for arg in region.block.args:
            own = [next(given) for _ in _types(arg)]
            if is_tensor(arg):
                self.tensors[arg] = own
            else:
                self.scalars[arg] = own[0]
        for op in region.block.ops:
            self._write(op)
        block.add_ops(self.ops)
        return Region(block)

    def _add(self, new: Operation, origin: Operation) -> Operation:
        new.location = origin.location
        self.ops.append(new)
        return new

    def _write(self, op: Operation) -> None:
        if isinstance(op, scf.YieldOp | scf.ConditionOp):
            operands = [each for operand in op.operands for each in self.of(operand)]
            self._add(create(type(op), operands=operands), op)
        elif isinstance(op, tensor.ExtractOp):
            sizes = tensor_shape(op.tensor)
            place = [cast(Any, index.owner).value.value.data for index in op.indices]
            number = int(np.ravel_multi_index(place, sizes, mode="clip")) if sizes else 0
            self.scalars[op.result] = self.of(op.tensor)[number]
        elif not any(map(is_tensor, op.results)):
            copy = self._add(op.clone(self.scalars), op)
            self.scalars.update(zip(op.results, copy.results, strict=True))
        elif isinstance(op, GenericOp):
            self._write_points(op)
        else:
            self.tensors[op.results[0]] = self._elements(op)

    def _elements(self, op: Operation) -> Sequence[SSAValue]:
        """Those of an operation that moves elements, or makes them of nothing."""
        (result,) = op.results
        count = len(_types(result))
        if isinstance(op, arith.ConstantOp):
            numbers = cast("DenseIntOrFPElementsAttr[Any]", op.value).iter_attrs()
            return [self._add(arith.ConstantOp(each), op).results[0] for each in numbers]
        if isinstance(op, tensor.EmptyOp):
            element = cast(Any, array_type(result).element_type)
            # Nobody reads what a new tensor holds; some floats have no zero.
            is_float = isinstance(element, AnyFloat)
            number = FloatAttr(1.0, element) if is_float else IntegerAttr(0, element)
            return [self._add(arith.ConstantOp(number), op).results[0]] * count
        if isinstance(op, FillOp):
            return [*self.of(op.inputs[0])] * count
        if isinstance(op, tensor.FromElementsOp):
            return [each for operand in op.operands for each in self.of(operand)]
        if isinstance(op, _RESHAPES):
            return self.of(op.operands[0])
        assert isinstance(op, _SLICES)
        slices = tuple(
            slice(first, first + size * step, step)
            for first, size, step in zip(
                *(part.get_values() for part in (op.static_offsets, op.static_sizes)),
                op.static_strides.get_values(),
                strict=True,
            )
        )
        whole = self._array(op.dest if isinstance(op, tensor.InsertSliceOp) else op.source)
        if isinstance(op, tensor.ExtractSliceOp):
            return [*whole[slices].flat]
        whole = whole.copy()
        whole[slices] = self._array(op.source).reshape(whole[slices].shape)
        return [*whole.flat]

    def _array(self, value: SSAValue) -> np.ndarray[Any, Any]:
        """The elements in the shape of a tensor."""
        array = np.empty(len(_types(value)), object)
        array[:] = self.of(value)
        return array.reshape(tensor_shape(value))

    def _write_points(self, op: GenericOp) -> None:
        """The body at each point; what is reduced goes from one to the next."""
        outputs = [self._array(out).copy() for out in outs_of(op)]
        arrays = [
            *(self._array(each) if is_tensor(each) else self.of(each)[0] for each in op.inputs),
            *outputs,
        ]
        maps = [map_.data for map_ in op.indexing_maps.data]
        block = op.body.block
        for point in product(*map(range, _extents(op) or ())):
            places = [map_.eval(point, ()) for map_ in maps]
            mapping = dict(self.scalars)
            for arg, array, place in zip(block.args, arrays, places, strict=True):
                mapping[arg] = array[tuple(place)] if isinstance(array, np.ndarray) else array
            for inner in block.ops:
                if isinstance(inner, IndexOp):
                    number = IntegerAttr(point[inner.dim.value.data], INDEX)
                    made: Operation = arith.ConstantOp(number)
                elif isinstance(inner, YieldOp):
                    yielded = [mapping.get(each, each) for each in inner.operands]
                    for array, place, value in zip(
                        outputs, places[len(op.inputs) :], yielded, strict=True
                    ):
                        array[tuple(place)] = value
                    continue
                else:
                    made = inner.clone(mapping)
                self._add(made, inner)
                mapping.update(zip(inner.results, made.results, strict=True))
        for result, array in zip(op.results, outputs, strict=True):
            self.tensors[result] = [*array.flat]
