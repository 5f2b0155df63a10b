"""
Random programs at the tensors level, of i32 elements, for comparing what they mean before and
after a pass. They always end, and never depend on unspecified elements.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i32,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

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
    (2, 2),
    (1, 4),
    (4, 1),
    (2, 1, 3),
    (0,),
    (0, 3),
)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def tensor_type(shape: Sequence[int], element: Attribute = i32) -> TensorType:
    return TensorType(element, shape)


class ProgramMaker:
    """Makes one module; `random` decides everything."""

    def __init__(self, random: random.Random):
        self.random = random
        self.block = Block()
        self.scope: list[SSAValue] = []
        self.depth = 0
        self.functions: list[func.FuncOp] = []

    # Building

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
        # What was made last most often: long chains, short lives.
        return found[-1] if self.random.random() < 0.4 else self.random.choice(found)

    def constant(self, shape: Sequence[int]) -> SSAValue:
        count = int(np.prod(shape, dtype=np.int64))
        elements = [self.random.randrange(-9, 10) for _ in range(count)]
        if self.random.random() < 0.3:
            elements = [7] * count
        attribute = DenseIntOrFPElementsAttr.from_list(tensor_type(shape), elements)
        return self.add(arith.ConstantOp(attribute, tensor_type(shape)))

    def function(self, name: str, private: bool) -> func.FuncOp:
        outer = self.block, self.scope, self.depth
        inputs = [self.random.choice(SHAPES) for _ in range(self.random.randrange(1, 4))]
        self.block = Block(arg_types=[tensor_type(shape) for shape in inputs])
        self.scope, self.depth = list(self.block.args), 1 if private else 0
        self.statements(self.random.randrange(1, 4 if private else 12))
        results = [self.pick() for _ in range(self.random.randrange(1, 4))]
        self.block.add_op(func.ReturnOp(*results))
        type = ([a.type for a in self.block.args], [v.type for v in results])
        made = func.FuncOp(name, type, Region(self.block), "private" if private else None)
        self.functions.append(made)
        self.block, self.scope, self.depth = outer
        return made

    def module(self) -> ModuleOp:
        for number in range(self.random.randrange(2)):
            self.function(f"helper{number}", True)
        self.function("main", False)
        return ModuleOp(list(self.functions))

    # Statements

    def statements(self, count: int) -> None:
        simple: list[Callable[[], SSAValue | None]] = [
            *([self.elementwise] * 4),
            *([self.insert_slice] * 3),
            *([self.extract_slice] * 2),
            self.accumulate,
            self.two_results,
            self.reduction,
            self.transpose,
            self.gather,
            self.collapse,
            self.expand,
            self.reshape,
            self.concat,
            self.concat_by_insertion,
            self.insert,
            self.from_elements,
            self.pad,
            self.splat,
            self.large_constant,
        ]
        nested = [self.conditional, self.switch, self.for_loop, self.while_loop, self.call]
        for _ in range(count):
            choices = simple if self.depth > 2 or self.random.random() < 0.7 else nested
            made = self.random.choice(choices)()
            if made is not None:
                self.scope.append(made)

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
        op = self.generic(
            [source],
            [initial],
            [
                AffineMap.identity(rank),
                AffineMap(rank, 0, tuple(AffineDimExpr(d) for d in kept)),
            ],
            iterators,
            lambda block: [self.combine(block, block.args[1], block.args[0])],
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
        shape = self.random.choice([*shapes, (count,)])
        elements = DenseIntOrFPElementsAttr.from_list(
            TensorType(i64, [len(shape)]), list(shape) or []
        )
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
        type = tensor_type([1025])
        attribute = DenseIntOrFPElementsAttr.from_list(type, [6])
        whole = self.add(arith.ConstantOp(attribute, type))
        inserted = tensor.InsertSliceOp.create(
            operands=(self.pick((4,)), whole),
            result_types=(type,),
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

    # Control flow

    def nested_block(self, arguments: Sequence[Attribute], types: Sequence[TensorType]) -> Block:
        """A block with some statements, ended by a yield of values of these types."""
        outer = self.block, list(self.scope)
        self.block = Block(arg_types=arguments)
        self.scope.extend(a for a in self.block.args if isinstance(a.type, TensorType))
        self.depth += 1
        self.statements(self.random.randrange(4))
        yielded = [self.pick(type.get_shape()) for type in types]
        self.block.add_op(scf.YieldOp(*yielded))
        self.depth -= 1
        made = self.block
        self.block, self.scope = outer
        return made

    def some_types(self) -> list[TensorType]:
        return [
            tensor_type(self.random.choice(((4,), (2, 3), (), (6,))))
            for _ in range(self.random.randrange(1, 4))
        ]

    def conditional(self) -> None:
        types = self.some_types()
        element = self.element()
        zero = self.add(arith.ConstantOp(IntegerAttr(0, i32)))
        condition = self.add(arith.CmpiOp(element, zero, "slt"))
        regions = [Region(self.nested_block((), types)) for _ in range(2)]
        op = scf.IfOp(condition, types, *regions)
        self.block.add_op(op)
        self.scope.extend(op.results)

    def switch(self) -> None:
        types = self.some_types()
        cast = self.add(arith.IndexCastOp(self.element(), INDEX))
        regions = [Region(self.nested_block((), types)) for _ in range(3)]
        cases = DenseArrayBase.from_list(i64, [1, 7])
        op = scf.IndexSwitchOp(cast, cases, regions[0], regions[1:], types)
        self.block.add_op(op)
        self.scope.extend(op.results)

    def for_loop(self) -> None:
        initials = [self.pick(type.get_shape()) for type in self.some_types()]
        types = [value.type for value in initials]
        bounds = [self.index(n) for n in (0, self.random.randrange(4), 1)]
        body = self.nested_block([INDEX, *types], types)  # pyright: ignore[reportArgumentType]
        op = scf.ForOp(*bounds, initials, body)
        self.block.add_op(op)
        self.scope.extend(op.results)

    def while_loop(self) -> None:
        """
        A counter in a tensor of rank 0 ends the loop. What is passed to the body is what is
        carried, permuted and repeated, or computed from it.
        """
        zero = DenseIntOrFPElementsAttr.from_list(tensor_type(()), [0])
        counter = self.add(arith.ConstantOp(zero, zero.type))
        initials = [counter, *(self.pick(type.get_shape()) for type in self.some_types())]
        types = [value.type for value in initials]
        before = Block(arg_types=types)
        outer = self.block, list(self.scope)
        self.block = before
        self.scope.extend(before.args)
        limit = self.add(arith.ConstantOp(IntegerAttr(self.random.randrange(4), i32)))
        count = self.add(tensor.ExtractOp(before.args[0], [], i32))
        condition = self.add(arith.CmpiOp(count, limit, "slt"))
        self.depth += 1
        self.statements(self.random.randrange(2))
        self.depth -= 1
        passed: list[SSAValue] = [before.args[0]]
        for argument in before.args[1:]:
            choice = self.random.random()
            passed.append(argument if choice < 0.6 else self.pick(shape_of(argument)))
        if self.random.random() < 0.3:
            passed.append(self.random.choice(before.args))
        self.block.add_op(scf.ConditionOp(condition, *passed))
        self.block, self.scope = outer
        after = self.loop_body(passed, types)
        op = scf.WhileOp(initials, [v.type for v in passed], Region(before), Region(after))
        self.block.add_op(op)
        self.scope.extend(op.results)

    def loop_body(self, passed: Sequence[SSAValue], types: Sequence[Attribute]) -> Block:
        after = self.nested_block([v.type for v in passed], types)  # pyright: ignore[reportArgumentType]
        terminator = after.last_op
        assert terminator is not None
        yielded = list(terminator.operands)
        outer = self.block
        terminator.detach()
        terminator.erase()
        self.block = after
        if self.random.random() < 0.3:
            for index, argument in enumerate(after.args[1 : len(types)], 1):
                if argument.type == yielded[index].type and self.random.random() < 0.6:
                    yielded[index] = argument
        empty = self.empty(())
        identity = AffineMap.identity(0)
        step = self.generic([after.args[0]], [empty], [identity] * 2, [], self.increment)
        yielded[0] = step.results[0]
        self.block.add_op(scf.YieldOp(*yielded))
        self.block = outer
        return after

    def increment(self, block: Block) -> list[SSAValue]:
        one = arith.ConstantOp(IntegerAttr(1, i32))
        addition = arith.AddiOp(block.args[0], one)
        block.add_ops([one, addition])
        return [addition.result]

    def call(self) -> None:
        helpers = [f for f in self.functions if f.sym_name.data != "main"]
        if not helpers:
            return
        callee = self.random.choice(helpers)
        arguments = [
            self.pick(type.get_shape())
            for type in callee.function_type.inputs
            if isinstance(type, TensorType)
        ]
        op = func.CallOp(callee.sym_name.data, arguments, callee.function_type.outputs.data)
        self.block.add_op(op)
        self.scope.extend(op.results)


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


def random_inputs(module: ModuleOp, random: random.Random) -> list[np.ndarray]:
    """Arguments for `@main` of a module at the tensors level."""
    main = next(
        op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main"
    )
    inputs: list[np.ndarray] = []
    for type in main.function_type.inputs:
        assert isinstance(type, TensorType)
        shape = type.get_shape()
        count = int(np.prod(shape, dtype=np.int64))
        elements = [random.randrange(-9, 10) for _ in range(count)]
        inputs.append(np.array(elements, np.int32).reshape(shape))
    return inputs
