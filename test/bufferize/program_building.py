"""What random programs are built with: values to choose from, operations, slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

INDEX = IndexType()
SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    (1,),
    (4,),
    (4,),
    (4,),
    (6,),
    (2, 3),
    (2, 3),
    (2, 3),
    (3, 2),
    (3, 3),
    (3, 3),
    (1, 4),
    (4, 1),
    (2, 1, 3),
    (0,),
    (0, 3),
)


def shape_of(value: SSAValue | Attribute) -> tuple[int, ...]:
    """The shape of a tensor or of its type."""
    type = value.type if isinstance(value, SSAValue) else value
    assert isinstance(type, TensorType)
    return type.get_shape()


def tensor_type(shape: Sequence[int], element: Attribute = i32) -> TensorType:
    return TensorType(element, shape)


def slice_properties(
    offsets: Sequence[int],
    dynamic: Sequence[SSAValue],
    sizes: Sequence[int],
    strides: Sequence[int],
    tensors: int,
) -> dict[str, Attribute]:
    """The properties of a slicing operation with this many tensor operands."""
    segments = (*([1] * tensors), len(dynamic), 0, 0)
    return {
        "static_offsets": DenseArrayBase.from_list(i64, offsets),
        "static_sizes": DenseArrayBase.from_list(i64, sizes),
        "static_strides": DenseArrayBase.from_list(i64, strides),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, segments),
    }


def reassociation(groups: Sequence[Sequence[int]]) -> ArrayAttr:
    return ArrayAttr(ArrayAttr(IntegerAttr(d, i64) for d in group) for group in groups)


class ProgramBuilding:
    """Puts operations into a block; `random` decides everything."""

    def __init__(self, random: Random):
        self.random = random
        self.block = Block()
        self.scope: list[SSAValue] = []
        self.depth = 0
        self.functions: list[func.FuncOp] = []

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def index(self, value: int) -> SSAValue:
        return self.add(arith.ConstantOp(IntegerAttr(value, INDEX)))

    def empty(self, shape: Sequence[int]) -> SSAValue:
        return self.add(tensor.EmptyOp((), tensor_type(shape)))

    def pick(self, shape: Sequence[int] | None = None) -> SSAValue:
        """A value in scope, of this shape if given; a constant if there is none."""
        found = [v for v in self.scope if shape is None or shape_of(v) == tuple(shape)]
        if not found:
            return self.constant((4,) if shape is None else shape)
        # Recent values are the most likely: long use-def chains, short live ranges.
        return found[-1] if self.random.random() < 0.4 else self.random.choice(found)

    def dense(self, shape: Sequence[int], elements: Sequence[int]) -> SSAValue:
        type = TensorType(i32, shape)
        return self.add(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, elements), type))

    def constant(self, shape: Sequence[int]) -> SSAValue:
        count = int(np.prod(shape, dtype=np.int64))
        elements = [self.random.randrange(-9, 10) for _ in range(count)]
        if self.random.random() < 0.3:
            elements = [7] * count
        return self.dense(shape, elements)

    def generic(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        maps: Sequence[AffineMap],
        iterators: Sequence[IteratorTypeAttr],
        body: Callable[[Block], Sequence[SSAValue]],
    ) -> linalg.GenericOp:
        block = Block(arg_types=[i32] * (len(inputs) + len(outputs)))
        block.add_op(linalg.YieldOp(*body(block)))
        op = linalg.GenericOp(
            inputs,
            outputs,
            Region(block),
            [AffineMapAttr(m) for m in maps],
            iterators,
            [output.type for output in outputs],
        )
        self.block.add_op(op)
        return op

    def combine(self, block: Block, *values: SSAValue) -> SSAValue:
        """Some scalar function of several values, not symmetric in them."""
        total = values[0]
        for value in values[1:]:
            three = arith.ConstantOp(IntegerAttr(3, i32))
            product = arith.MuliOp(total, three)
            addition = arith.AddiOp(product, value)
            block.add_ops([three, product, addition])
            total = addition.result
        one = arith.ConstantOp(IntegerAttr(self.random.randrange(1, 5), i32))
        addition = arith.AddiOp(total, one)
        block.add_ops([one, addition])
        return addition.result

    def random_slice(
        self, shape: Sequence[int]
    ) -> tuple[list[int], list[SSAValue], list[int], list[int]]:
        offsets: list[int] = []
        dynamic: list[SSAValue] = []
        sizes: list[int] = []
        strides: list[int] = []
        for size in shape:
            stride = self.random.choice([1, 1, 1, 2])
            count = self.random.randrange(0 if size == 0 else 1, (size + stride - 1) // stride + 1)
            span = (count - 1) * stride + 1 if count else 0
            offset = self.random.randrange(size - span + 1)
            if self.random.random() < 0.4:
                dynamic.append(self.index(offset))
                offset = DYNAMIC_INDEX
            offsets.append(offset)
            sizes.append(count)
            strides.append(stride)
        return offsets, dynamic, sizes, strides
