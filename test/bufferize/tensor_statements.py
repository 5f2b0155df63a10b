"""Random operations on tensors, of i32 elements, that never depend on unspecified ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bufferize.program_building import (
    INDEX,
    SHAPES,
    ProgramBuilding,
    reassociation,
    shape_of,
    slice_properties,
    tensor_type,
)
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap


class TensorStatements(ProgramBuilding):
    """One method a kind of statement; each returns the tensor it makes, or None for none."""

    def elementwise(self) -> SSAValue:
        """A map over all elements; the destination is empty, or a tensor that is overwritten."""
        first = self.pick()
        shape = shape_of(first)
        inputs = [first, *(self.pick(shape) for _ in range(self.random.randrange(2)))]
        output = self.pick(shape) if self.random.random() < 0.3 else self.empty(shape)
        identity = AffineMap.identity(len(shape))
        op = self.generic(
            inputs,
            [output],
            [identity] * (len(inputs) + 1),
            [IteratorTypeAttr.parallel()] * len(shape),
            lambda block: [self.combine(block, *block.args[: len(inputs)])],
        )
        return op.results[0]

    def accumulate(self) -> SSAValue:
        """Reads its destination."""
        output = self.pick()
        shape = shape_of(output)
        identity = AffineMap.identity(len(shape))
        op = self.generic(
            [self.pick(shape)],
            [output],
            [identity] * 2,
            [IteratorTypeAttr.parallel()] * len(shape),
            lambda block: [self.combine(block, *block.args)],
        )
        return op.results[0]

    def two_results(self) -> None:
        first = self.pick()
        shape = shape_of(first)
        outputs = [
            self.pick(shape) if self.random.random() < 0.5 else self.empty(shape) for _ in range(2)
        ]
        reads = [not isinstance(output.owner, tensor.EmptyOp) for output in outputs]
        identity = AffineMap.identity(len(shape))

        def body(block: Block) -> list[SSAValue]:
            source, *targets = block.args
            used = [t for t, r in zip(targets, reads, strict=True) if r]
            used = used if self.random.random() < 0.7 else []
            return [self.combine(block, source, *used), self.combine(block, *used, source)]

        op = self.generic(
            [first], outputs, [identity] * 3, [IteratorTypeAttr.parallel()] * len(shape), body
        )
        self.scope.extend(op.results)

    def reduction(self) -> SSAValue | None:
        source = self.pick()
        shape = shape_of(source)
        if not shape:
            return None
        reduced = self.random.randrange(len(shape))
        kept = [d for d in range(len(shape)) if d != reduced]
        if self.random.random() < 0.7:
            zero = self.add(arith.ConstantOp(IntegerAttr(5, i32)))
            empty = self.empty([shape[d] for d in kept])
            initial = self.add(linalg.FillOp((zero,), (empty,)))
        else:
            initial = self.pick([shape[d] for d in kept])
        rank = len(shape)
        iterators = [IteratorTypeAttr.parallel()] * rank
        iterators[reduced] = IteratorTypeAttr.reduction()
        of_result = AffineMap(rank, 0, tuple(AffineDimExpr(d) for d in kept))
        # The initial value is read again and again, while the result changes.
        others = [initial] if self.random.random() < 0.3 else []
        op = self.generic(
            [source, *others],
            [initial],
            [AffineMap.identity(rank), *([of_result] * (1 + len(others)))],
            iterators,
            lambda block: [self.combine(block, block.args[-1], *block.args[:-1])],
        )
        return op.results[0]

    def transpose(self) -> SSAValue:
        source = self.pick()
        shape = shape_of(source)
        order = list(range(len(shape)))
        self.random.shuffle(order)
        output_shape = [shape[d] for d in order]
        output = self.empty(output_shape)
        if self.random.random() < 0.5:
            output = self.pick(output_shape)
        rank = len(shape)
        inverse = [order.index(d) for d in range(rank)]
        op = self.generic(
            [source],
            [output],
            [
                AffineMap(rank, 0, tuple(AffineDimExpr(d) for d in inverse)),
                AffineMap.identity(rank),
            ],
            [IteratorTypeAttr.parallel()] * rank,
            lambda block: [self.combine(block, block.args[0])],
        )
        return op.results[0]

    def gather(self) -> SSAValue | None:
        """Reads elements of a whole tensor at computed positions: here, backwards."""
        table = self.pick((4,))
        output = self.pick((4,)) if self.random.random() < 0.5 else self.empty((4,))

        def body(block: Block) -> list[SSAValue]:
            index = linalg.IndexOp(0)
            three = arith.ConstantOp(IntegerAttr(3, INDEX))
            mirrored = arith.SubiOp(three, index.result)
            element = tensor.ExtractOp(table, [mirrored.result], i32)
            block.add_ops([index, three, mirrored, element])
            return [self.combine(block, element.result)]

        op = self.generic(
            [], [output], [AffineMap.identity(1)], [IteratorTypeAttr.parallel()], body
        )
        return op.results[0]

    def extract_slice(self) -> SSAValue:
        source = self.pick()
        offsets, dynamic, sizes, strides = self.random_slice(shape_of(source))
        shape = [n for n in sizes if n != 1 or self.random.random() < 0.5]
        op = tensor.ExtractSliceOp.create(
            operands=(source, *dynamic),
            result_types=(tensor_type(shape),),
            properties=slice_properties(offsets, dynamic, sizes, strides, 1),
        )
        return self.add(op)

    def insert_slice(self) -> SSAValue:
        target = self.pick()
        offsets, dynamic, sizes, strides = self.random_slice(shape_of(target))
        if self.random.random() < 0.3 and len(set(strides)) <= 1 and 1 in (*strides, 1):
            # Of the same tensor: source and destination may overlap.
            zeros = [0] * len(sizes)
            ones = [1] * len(sizes)
            op = tensor.ExtractSliceOp.create(
                operands=(target,),
                result_types=(tensor_type(sizes),),
                properties=slice_properties(zeros, [], sizes, ones, 1),
            )
            source = self.add(op)
        else:
            source = self.pick(sizes)
        op = tensor.InsertSliceOp.create(
            operands=(source, target, *dynamic),
            result_types=(target.type,),
            properties=slice_properties(offsets, dynamic, sizes, strides, 2),
        )
        return self.add(op)

    def collapse(self) -> SSAValue | None:
        source = self.pick()
        shape = shape_of(source)
        if len(shape) < 2:
            return None
        split = self.random.randrange(1, len(shape))
        groups = [list(range(split)), list(range(split, len(shape)))]
        if self.random.random() < 0.5:
            groups = [list(range(len(shape)))]
        result = [int(np.prod([shape[d] for d in group])) for group in groups]
        return self.add(
            tensor.CollapseShapeOp.create(
                operands=(source,),
                result_types=(tensor_type(result),),
                properties={"reassociation": reassociation(groups)},
            )
        )

    def expand(self) -> SSAValue | None:
        source = self.pick()
        shape = shape_of(source)
        if not shape:
            # xDSL's verifier does not take an expansion of rank 0.
            return None
        result: list[int] = []
        groups: list[list[int]] = []
        for size in shape:
            factors = [size]
            if self.random.random() < 0.6:
                factor = self.random.choice([n for n in (1, 2, 3) if size % n == 0])
                factors = [size // factor, factor]
            groups.append(list(range(len(result), len(result) + len(factors))))
            result.extend(factors)
        return self.add(
            tensor.ExpandShapeOp.create(
                operands=(source,),
                result_types=(tensor_type(result),),
                properties={
                    "reassociation": reassociation(groups),
                    "static_output_shape": DenseArrayBase.from_list(i64, result),
                },
            )
        )

    def reshape(self) -> SSAValue:
        source = self.pick()
        count = int(np.prod(shape_of(source), dtype=np.int64))
        shapes = [s for s in SHAPES if int(np.prod(s, dtype=np.int64)) == count]
        return self.reshape_to(source, self.random.choice([*shapes, (count,)]))

    def reshape_to(self, source: SSAValue, shape: Sequence[int]) -> SSAValue:
        elements = DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(shape)]), list(shape))
        to = self.add(arith.ConstantOp(elements, elements.type))
        return self.add(tensor.ReshapeOp(source, to, tensor_type(shape)))

    def concat(self) -> SSAValue | None:
        first = self.pick()
        shape = shape_of(first)
        if not shape:
            return None
        dimension = self.random.randrange(len(shape))
        parts = [first, *(self.pick(shape) for _ in range(self.random.randrange(3)))]
        result = list(shape)
        result[dimension] *= len(parts)
        return self.add(tensor.ConcatOp(parts, dimension, tensor_type(result)))

    def concat_by_insertion(self) -> SSAValue | None:
        first = self.elementwise()
        shape = shape_of(first)
        if not shape:
            return None
        dimension = self.random.randrange(len(shape))
        parts = [first, *(self.elementwise_of(shape) for _ in range(self.random.randrange(3)))]
        self.random.shuffle(parts)
        result_shape = list(shape)
        result_shape[dimension] *= len(parts)
        result = self.empty(result_shape)
        if self.random.random() < 0.5:
            # Views of the parts, which are used when the parts are in place.
            count = int(np.prod(shape, dtype=np.int64))
            self.scope.extend(self.reshape_to(part, (count,)) for part in parts)
        order = list(range(len(parts)))
        self.random.shuffle(order)
        for position in order:
            offsets = [0] * len(shape)
            offsets[dimension] = position * shape[dimension]
            op = tensor.InsertSliceOp.create(
                operands=(parts[position], result),
                result_types=(result.type,),
                properties=slice_properties(offsets, [], list(shape), [1] * len(shape), 2),
            )
            result = self.add(op)
        if self.random.random() < 0.5:
            self.scope.extend(parts)
        return result

    def elementwise_of(self, shape: Sequence[int]) -> SSAValue:
        identity = AffineMap.identity(len(shape))
        op = self.generic(
            [self.pick(shape)],
            [self.empty(shape)],
            [identity] * 2,
            [IteratorTypeAttr.parallel()] * len(shape),
            lambda block: [self.combine(block, block.args[0])],
        )
        return op.results[0]

    def element(self) -> SSAValue:
        """One element of some tensor."""
        source = self.pick()
        shape = shape_of(source)
        if 0 in shape:
            return self.add(arith.ConstantOp(IntegerAttr(11, i32)))
        indices = [self.index(self.random.randrange(n)) for n in shape]
        return self.add(tensor.ExtractOp(source, indices, i32))

    def insert(self) -> SSAValue | None:
        target = self.pick()
        shape = shape_of(target)
        if 0 in shape:
            return None
        scalar = self.element()
        indices = [self.index(self.random.randrange(n)) for n in shape]
        return self.add(tensor.InsertOp(scalar, target, indices))

    def from_elements(self) -> SSAValue:
        shape = self.random.choice([(2, 2), (4,), (), (1,)])
        count = int(np.prod(shape))
        elements = [self.element() for _ in range(count)]
        return self.add(tensor.FromElementsOp(*elements, result_type=tensor_type(shape)))

    def splat(self) -> SSAValue:
        return self.add(tensor.SplatOp(self.element(), (), tensor_type(self.random.choice(SHAPES))))

    def large_constant(self) -> SSAValue:
        """A constant that is filled in at run time, and a part of it."""
        whole = self.dense((1025,), [6])
        inserted = tensor.InsertSliceOp.create(
            operands=(self.pick((4,)), whole),
            result_types=(whole.type,),
            properties=slice_properties([3], [], [4], [1], 2),
        )
        op = tensor.ExtractSliceOp.create(
            operands=(self.add(inserted),),
            result_types=(tensor_type((6,)),),
            properties=slice_properties([2], [], [6], [1], 1),
        )
        return self.add(op)

    def pad(self) -> SSAValue | None:
        source = self.pick()
        shape = shape_of(source)
        low = [self.random.randrange(2) for _ in shape]
        high = [self.random.randrange(2) for _ in shape]
        padding = self.element()
        block = Block(arg_types=[INDEX] * len(shape))
        block.add_op(tensor.YieldOp(padding))
        result = [n + a + b for n, a, b in zip(shape, low, high, strict=True)]
        op = tensor.PadOp.create(
            operands=(source,),
            result_types=(tensor_type(result),),
            properties={
                "static_low": DenseArrayBase.from_list(i64, low),
                "static_high": DenseArrayBase.from_list(i64, high),
                "operandSegmentSizes": DenseArrayBase.from_list(i32, (1, 0, 0)),
            },
            regions=[Region(block)],
        )
        return self.add(op)
