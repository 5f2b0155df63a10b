"""
Random programs at the tensors level, of i32 elements, for comparing what they mean before and
after a pass. They always end, and never depend on unspecified elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from bufferize.program_building import INDEX, SHAPES, shape_of, tensor_type
from bufferize.tensor_statements import TensorStatements
from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineMap

from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR


class ProgramMaker(TensorStatements):
    """Makes one module; `random` decides everything."""

    def function(self, name: str, private: bool) -> func.FuncOp:
        outer = self.block, self.scope, self.depth
        inputs = [self.random.choice(SHAPES) for _ in range(self.random.randrange(1, 4))]
        self.block = Block(arg_types=[tensor_type(shape) for shape in inputs])
        self.scope = list[SSAValue](self.block.args)
        self.depth = 1 if private else 0
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

    def nested_block(self, arguments: Sequence[Attribute], types: Sequence[Attribute]) -> Block:
        """A block with some statements, ended by a yield of values of these types."""
        outer = self.block, list(self.scope)
        self.block = Block(arg_types=arguments)
        self.scope.extend(a for a in self.block.args if isinstance(a.type, TensorType))
        self.depth += 1
        self.statements(self.random.randrange(4))
        yielded = [self.pick(shape_of(type)) for type in types]
        self.block.add_op(scf.YieldOp(*yielded))
        self.depth -= 1
        made = self.block
        self.block, self.scope = outer
        return made

    def some_types(self) -> list[TensorType]:
        return [
            tensor_type(self.random.choice(((4,), (2, 3), (), (6,), (3, 3))))
            for _ in range(self.random.randrange(1, 4))
        ]

    def initial_values(self) -> list[SSAValue]:
        """Values for a loop to carry, among which equal ones and views of one buffer may be."""
        initials = [self.pick(type.get_shape()) for type in self.some_types()]
        if self.random.random() < 0.3:
            made = self.elementwise_of((4,))
            again = self.reshape_to(made, (4,)) if self.random.random() < 0.5 else made
            initials.extend((made, again))
        self.random.shuffle(initials)
        return initials

    def conditional(self) -> None:
        types = self.some_types()
        element = self.element()
        zero = self.add(arith.ConstantOp(IntegerAttr(0, i32)))
        condition = self.add(arith.CmpiOp(element, zero, "slt"))
        then, otherwise = (Region(self.nested_block((), types)) for _ in range(2))
        op = scf.IfOp(condition, types, then, otherwise)
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
        initials = self.initial_values()
        types = [value.type for value in initials]
        lower, upper, step = (self.index(n) for n in (0, self.random.randrange(4), 1))
        body = self.nested_block([INDEX, *types], types)
        op = scf.ForOp(lower, upper, step, initials, body)
        self.block.add_op(op)
        self.scope.extend(op.results)

    def while_loop(self) -> None:
        """
        A counter in a tensor of rank 0 ends the loop. What is passed to the body is what is
        carried, permuted and repeated, or computed from it.
        """
        counter = self.dense((), [0])
        initials = [counter, *self.initial_values()]
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
        after = self.nested_block([v.type for v in passed], types)
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


def main_of(module: ModuleOp) -> func.FuncOp:
    """The function `@main`."""
    return next(
        op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main"
    )


def alias_some_results(module: ModuleOp, random: Random) -> None:
    """Lets results of `@main` be in the memory of parameters, where types agree and elsewhere."""
    main = main_of(module)
    results = list(range(len(main.function_type.outputs)))
    random.shuffle(results)
    attributes: list[DictionaryAttr] = []
    for _ in main.function_type.inputs:
        choice = random.randrange(4)
        entry: dict[str, Attribute] = {}
        if choice < 2 and results:
            entry[ALIASING_OUTPUT] = IntegerAttr(results.pop(), i32)
        elif choice == 2:
            entry[BUFFER_DONOR] = BoolAttr.from_bool(True)
        attributes.append(DictionaryAttr(entry))
    main.arg_attrs = ArrayAttr(attributes)


def random_inputs(module: ModuleOp, random: Random) -> list[np.ndarray]:
    """Arguments for `@main` of a module at the tensors level."""
    inputs: list[np.ndarray] = []
    for type in main_of(module).function_type.inputs:
        assert isinstance(type, TensorType)
        shape = type.get_shape()
        count = int(np.prod(shape, dtype=np.int64))
        elements = [random.randrange(-9, 10) for _ in range(count)]
        inputs.append(np.array(elements, np.int32).reshape(shape))
    return inputs
