"""Random programs of integers, over everything that becomes linalg."""

from collections.abc import Callable
from itertools import pairwise
from math import prod
from random import Random
from typing import Any

import numpy as np
from small_programs import computation, constant, insert, numbers, shape

from xla_dialect.ops import elementwise
from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.control_flow import ConditionalOp, WhileOp
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.data_movement import (
    BroadcastOp,
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from xla_dialect.ops.elementwise import SelectOp
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.types import array

S32 = shape("s32[]").element_type
SCALAR = array(S32, ())
MAX_ELEMENTS = 300


def sizes(x: Any) -> tuple[int, ...]:
    return x.type.get_shape()


def _prime_factors(number: int) -> list[int]:
    found: list[int] = []
    for candidate in range(2, number + 1):
        while number % candidate == 0:
            found.append(candidate)
            number //= candidate
    return found


def permuted(rng: Random, count: int) -> list[int]:
    return rng.sample(range(count), count)


class Program:
    """The values of a program so far, and one method for each kind of step."""

    def __init__(self, rng: Random, parameters: tuple[Any, ...]):
        self.rng = rng
        self.values: list[Any] = list(parameters)

    def pick(self, accept: Callable[[Any], bool] = lambda _: True) -> Any:
        """A fitting value; there is one."""
        return self.rng.choice([v for v in self.values if accept(v)])

    def like(self, x: Any) -> Any:
        return self.pick(lambda v: sizes(v) == sizes(x))

    def of_rank(self, rank: int) -> Any:
        return self.pick(lambda v: len(sizes(v)) == rank)

    def binary(self) -> Any:
        x = self.pick()
        operations = (
            elementwise.AddOp,
            elementwise.MultiplyOp,
            elementwise.SubtractOp,
            elementwise.DivideOp,
        )
        return self.rng.choice(operations)(x, self.like(x))

    def unary(self) -> Any:
        return self.rng.choice((elementwise.NegateOp, elementwise.AbsOp, elementwise.SignOp))(
            self.pick()
        )

    def select(self) -> Any:
        x = self.pick()
        condition = elementwise.CompareOp(x, self.like(x), direction="LT")
        return SelectOp(condition, self.like(x), self.like(x))

    def broadcast(self) -> Any:
        x = self.pick(lambda v: len(sizes(v)) < 3)
        rank = self.rng.randint(len(sizes(x)), 3)
        dimensions = permuted(self.rng, rank)[: len(sizes(x))]
        result = [self.rng.choice((1, 2, 3)) for _ in range(rank)]
        for size, dimension in zip(sizes(x), dimensions, strict=True):
            result[dimension] = size
        return BroadcastOp(x, dimensions=dimensions, result_types=[array(S32, result)])

    def transpose(self) -> Any:
        x = self.pick()
        return TransposeOp(x, dimensions=permuted(self.rng, len(sizes(x))))

    def reverse(self) -> Any:
        x = self.pick()
        chosen = [d for d in range(len(sizes(x))) if self.rng.random() < 0.5]
        return ReverseOp(x, dimensions=chosen)

    def slice(self) -> Any:
        x = self.pick()
        start = [self.rng.randint(0, max(size - 1, 0)) for size in sizes(x)]
        limit = [
            self.rng.randint(min(first + 1, size), size)
            for first, size in zip(start, sizes(x), strict=True)
        ]
        strides = [self.rng.randint(1, 2) for _ in start]
        return SliceOp(x, start_indices=start, limit_indices=limit, strides=strides)

    def reshape(self) -> Any:
        x = self.pick()
        result = [size for size in sizes(x) if size != 1 or self.rng.random() < 0.5]
        if self.rng.random() < 0.5:
            result.insert(self.rng.randint(0, len(result)), 1)
        if self.rng.random() < 0.3 and 0 not in result:
            factors = [p for size in result for p in _prime_factors(size)]
            self.rng.shuffle(factors)
            cuts = sorted(self.rng.randint(0, len(factors)) for _ in range(2))
            bounds = [0, *cuts, len(factors)]
            result = [prod(factors[a:b]) for a, b in pairwise(bounds)]
        return ReshapeOp(x, result_types=[array(S32, result)])

    def reduce(self) -> Any:
        x = self.pick()
        chosen = [d for d in range(len(sizes(x))) if self.rng.random() < 0.5]
        operation, init = self.rng.choice(
            ((elementwise.AddOp, 0), (elementwise.MaximumOp, -5), (elementwise.MultiplyOp, 1))
        )
        region = computation([SCALAR, SCALAR], operation)
        return ReduceOp([x], [constant("s32", init)], dimensions=chosen, regions=[region])

    def dot(self) -> Any:
        x = self.of_rank(2)
        y = self.pick(lambda v: len(sizes(v)) == 2 and sizes(v)[1] == sizes(x)[1])
        return DotOp(x, y, lhs_contracting_dims=[1], rhs_contracting_dims=[1])

    def gather(self) -> Any:
        x = self.pick(lambda v: len(sizes(v)) == 2 and 0 not in sizes(v))
        return GatherOp(
            x,
            self.of_rank(1),
            start_index_map=[0],
            collapsed_slice_dims=[0],
            offset_dims=[1],
            slice_sizes=[1, sizes(x)[1]],
            index_vector_dim=1,
        )

    def iota(self) -> Any:
        x = self.pick(lambda v: sizes(v) != ())
        dimension = self.rng.randrange(len(sizes(x)))
        return IotaOp(iota_dimension=dimension, result_types=[array(S32, sizes(x))])

    def constant(self) -> Any:
        return constant("s32", np.full(self.rng.choice(((), (3,), (2, 3))), 2))

    def concatenate(self) -> Any:
        x = self.pick(lambda v: sizes(v) != ())
        return ConcatenateOp([x, self.like(x)], dimension=self.rng.randrange(len(sizes(x))))

    def pad(self) -> Any:
        x = self.pick()
        rank = len(sizes(x))
        low = [self.rng.choice((-1, 0, 1)) if size else 0 for size in sizes(x)]
        return PadOp(
            x,
            self.of_rank(0),
            edge_padding_low=low,
            edge_padding_high=[1] * rank,
            interior_padding=[self.rng.choice((0, 1)) for _ in low],
        )

    def dynamic_slice(self) -> Any:
        x = self.pick()
        parts = [max(size - 1, 0) for size in sizes(x)]
        return DynamicSliceOp(x, [self.of_rank(0) for _ in parts], dynamic_slice_sizes=parts)

    def dynamic_update_slice(self) -> Any:
        x = self.pick()
        fitting = self.pick(
            lambda v: (
                len(sizes(v)) == len(sizes(x))
                and all(a <= b for a, b in zip(sizes(v), sizes(x), strict=True))
            )
        )
        return DynamicUpdateSliceOp(x, fitting, [self.of_rank(0) for _ in sizes(x)])

    def branch(self) -> Any:
        x, y = self.pick(), self.pick()
        branches = [
            computation(
                [x.type, y.type], lambda a, b: [elementwise.AddOp(a, x), elementwise.NegateOp(b)]
            ),
            computation([x.type, y.type], lambda a, b: [elementwise.NegateOp(a), b]),
        ]
        index = self.of_rank(0)
        return ConditionalOp(index, [x, y, x, y], regions=[branches])

    def loop(self) -> Any:
        """Three rounds over x, with y as it is."""
        x = self.pick()
        y = self.like(x)
        types = [SCALAR, x.type, x.type]
        condition = computation(
            types, lambda i, a, b: elementwise.CompareOp(i, constant("s32", 3), direction="LT")
        )
        body = computation(
            types,
            lambda i, a, b: [
                elementwise.AddOp(i, constant("s32", 1)),
                elementwise.AddOp(elementwise.MultiplyOp(a, b), y),
                b,
            ],
        )
        return WhileOp([constant("s32", 0), x, y], regions=[condition, body])

    def step(self) -> None:
        """Adds what a random step gives."""
        op = self.rng.choices(STEPS, WEIGHTS)[0](self)
        insert(self.values[0].block, [op])
        for result in op.results:
            if np.prod(sizes(result)) <= MAX_ELEMENTS:
                self.values.append(result)


STEPS: tuple[Callable[[Program], Any], ...] = (
    Program.binary,
    Program.unary,
    Program.select,
    Program.broadcast,
    Program.transpose,
    Program.reverse,
    Program.slice,
    Program.reshape,
    Program.reduce,
    Program.dot,
    Program.gather,
    Program.iota,
    Program.constant,
    Program.concatenate,
    Program.pad,
    Program.dynamic_slice,
    Program.dynamic_update_slice,
    Program.branch,
    Program.loop,
)
WEIGHTS = [4 if step in (Program.binary, Program.broadcast) else 1 for step in STEPS]


def random_program(seed: int) -> tuple[Callable[..., Any], list[Any]]:
    """Builds a program, and its arguments: integers, so that every order of sums gives the same."""
    rng = Random(seed)
    generator = np.random.default_rng(seed)
    arguments = [
        numbers("s32", generator.integers(-9, 9, n)) for n in [(), (3,), (2, 3), (2, 3, 1)]
    ]

    def build(*parameters: Any) -> Any:
        program = Program(rng, parameters)
        for _ in range(rng.randint(2, 25)):
            program.step()
        return [program.pick() for _ in range(rng.randint(0, 3))] + [program.values[-1]]

    return build, arguments
