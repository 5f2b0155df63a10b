"""
Fourier transforms of planes: tensors of sizes `[2, length, lanes]`, real and imaginary parts.

Lanes are what is not transformed, and lies in the lanes of vectors. The transforms along a column
take stages, each of which reads all and writes all: butterflies of a few numbers that are far apart
(the autosort algorithm of T. Stockham, 1966). A line, a plane of one lane, is seen as a matrix:
its columns are transformed, multiplied by factors, turned to rows, and transformed again (the four
steps of D. Bailey, "FFTs in external or hierarchical memory", 1990). Tables are computed in f64 and
rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf, isqrt
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float64Type,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.fourier.butterflies import (
    LARGEST_PRIME,
    Butterfly,
    Number,
    operation_count,
    smallest_prime,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder
from lowerings.xla_to_linalg.structured import (
    affine_map,
    empty,
    extract_slice,
    generic,
    identity,
    insert_slice,
    iterators,
    sizes_of,
)
from xla_dialect.xdsl.creation import create

COMPUTES = "xla.computes"
"""What a shared function computes: for equal argument types it is the same function."""


def shared_call(
    builder: ConversionBuilder,
    computes: str,
    arguments: Sequence[SSAValue],
    make: Callable[[ConversionBuilder, Sequence[SSAValue]], Sequence[SSAValue]],
) -> Sequence[SSAValue]:
    """
    The results of a function of tensors; `make` builds it unless the module has it already.

    `computes` names it, and says all that it depends on but the types of the arguments.
    """
    types = [argument.type for argument in arguments]
    functions = [op for op in builder.module.body.block.ops if isinstance(op, func.FuncOp)]
    mark = StringAttr(computes)
    found = next(
        (
            function
            for function in functions
            if function.attributes.get(COMPUTES) == mark
            and list(function.function_type.inputs) == types
        ),
        None,
    )
    if found is None:
        taken = {function.sym_name.data for function in functions}
        name, number = computes, 1
        while name in taken:
            name, number = f"{computes}.{number}", number + 1
        found = _made(builder, name, types, make)
        found.attributes[COMPUTES] = mark
    call = create(
        func.CallOp,
        operands=arguments,
        result_types=list(found.function_type.outputs),
        properties={"callee": SymbolRefAttr(found.sym_name)},
    )
    return builder.insert(call).results


def _made(
    builder: ConversionBuilder,
    name: str,
    types: Sequence[Attribute],
    make: Callable[[ConversionBuilder, Sequence[SSAValue]], Sequence[SSAValue]],
) -> func.FuncOp:
    block = Block(arg_types=types)
    end = func.ReturnOp()
    end.location = builder.op.location
    block.add_op(end)
    results = make(ConversionBuilder(builder.ctx, builder.module, end), block.args)
    end.operands = results
    function = func.FuncOp(
        name, (types, [value.type for value in results]), Region(block), "private"
    )
    function.location = builder.op.location
    builder.module.body.block.add_op(function)
    return function


Complex: TypeAlias = np.ndarray[Any, np.dtype[np.complex128]]
Input: TypeAlias = "tuple[SSAValue, AffineMapAttr]"
Expression: TypeAlias = "AffineExpr | int"
Planes: TypeAlias = SSAValue

LINE_BYTES = 64
"""The size of a cache line and of the widest vector; rows of planes are padded to it."""
LARGEST_RADIX = 16
"""More numbers than this do not stay in registers."""
MOVE_COST = 12
"""The cost of reading and writing a number in a stage, in arithmetic operations."""
CODE_COST = 0.2
"""The cost of compiling one operation of a stage's code, in operations per number."""
DISTINCT_SIZES = 1.2
"""The factor for matrices that are not square: transforms of two lengths are compiled."""


def roots(exponents: np.ndarray[Any, Any], length: int, sign: int) -> Complex:
    """`e^(sign 2 pi i k / length)`, from angles of at most an eighth of a turn."""
    quarters = exponents % length * 4
    nearest = (2 * quarters + length) // (2 * length)
    angles = np.pi / 2 * ((quarters - nearest * length) / length)
    found = (np.cos(angles) + 1j * np.sin(angles)) * np.array([1, 1j, -1, -1j])[nearest % 4]
    return found if sign > 0 else np.conj(found)


def is_smooth(length: int) -> bool:
    """Whether all prime factors are small."""
    while length > 1:
        prime = smallest_prime(length)
        if prime > LARGEST_PRIME:
            return False
        length //= prime
    return True


@cache
def radices(length: int) -> tuple[int, ...]:
    """The lengths of the stages of a smooth length that cost least, the longest first."""
    return _cheapest(length, LARGEST_RADIX, is_first=True)[1]


def cost(length: int) -> float:
    """The cost per number of the transform of a column of a smooth length."""
    return _cheapest(length, LARGEST_RADIX, is_first=True)[0]


@cache
def _cheapest(length: int, largest: int, *, is_first: bool) -> tuple[float, tuple[int, ...]]:
    if length == 1:
        return 0.0, ()
    found: list[tuple[float, tuple[int, ...]]] = []
    for radix in range(2, largest + 1):
        if length % radix == 0:
            operations = operation_count(radix) + (0 if is_first else 6 * (radix - 1))
            others, stages = _cheapest(length // radix, radix, is_first=False)
            own = MOVE_COST + operations / radix + CODE_COST * operations
            found.append((own + others, (radix, *stages)))
    return min(found, default=(inf, ()))


def indexed(*indices: Expression, rank: int) -> AffineMapAttr:
    expressions = (AffineExpr.constant(i) if isinstance(i, int) else i for i in indices)
    return affine_map(rank, tuple(expressions))


def dimension(number: int) -> AffineExpr:
    """A dimension of an iteration space."""
    return AffineExpr.dimension(number)


@dataclass(frozen=True)
class Fourier:
    """Transforms without their scale."""

    builder: ConversionBuilder
    part: AnyFloat
    """The type of the parts."""
    sign: int
    """Of the exponent: -1 forward, 1 for the inverse."""

    def within(self, builder: ConversionBuilder) -> Fourier:
        """The same with another builder, for operations inside of a loop."""
        return replace(self, builder=builder)

    @property
    def lanes(self) -> int:
        """The numbers in a cache line."""
        return LINE_BYTES // (8 if isinstance(self.part, Float64Type) else 4)

    def padded(self, count: int) -> int:
        """The lanes that fill cache lines."""
        return -(-count // self.lanes) * self.lanes

    def empty(self, *sizes: int) -> SSAValue:
        """A tensor of parts."""
        return empty(self.builder, TensorType(self.part, sizes))

    def table(self, values: Complex, *, parts_last: bool = False) -> SSAValue:
        """Constants, with a first or last dimension for both parts."""
        parts = np.stack([values.real, values.imag], axis=-1 if parts_last else 0)
        data = parts.astype(np.float64 if isinstance(self.part, Float64Type) else np.float32)
        literal = DenseIntOrFPElementsAttr(
            TensorType(self.part, data.shape), BytesAttr(data.tobytes())
        )
        return self.builder.insert(arith.ConstantOp(literal)).result

    def made(
        self,
        sizes: tuple[int, int],
        inputs: Sequence[Input],
        body: Callable[[ScalarBuilder, Sequence[SSAValue]], Number],
        into: SSAValue | None = None,
        offset: int = 0,
    ) -> Planes:
        """
        Planes of elements that a body computes; the iteration space is `[1, *sizes]`.

        They are put `into` larger planes if those are given, from this row on.
        """
        into = self.empty(2, *sizes) if into is None else into
        outputs = [(self.empty(1, *sizes), identity(3)) for _ in range(2)]
        parts = generic(self.builder, inputs, outputs, iterators(3), body)
        for number, part in enumerate(parts):
            into = insert_slice(self.builder, part, into, (number, offset, 0))
        return into

    def shared(
        self,
        name: str,
        values: Sequence[SSAValue],
        make: Callable[[Fourier, Sequence[SSAValue]], Planes],
        *numbers: int,
    ) -> Planes:
        """The result of `make` on tensors, as a call of a function that all such calls share."""
        direction = "forward" if self.sign < 0 else "backward"
        spelled = "x".join(map(str, (*sizes_of(values[0]), self.part)))
        computes = "_".join(("fourier", direction, name, *map(str, numbers), spelled))

        def body(builder: ConversionBuilder, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return [make(self.within(builder), values)]

        return shared_call(self.builder, computes, values, body)[0]

    def padded_rows(self, x: Planes) -> Planes:
        """Planes with rows padded to cache lines; the padding is unspecified."""
        _, rows, lanes = sizes_of(x)
        wide = self.padded(lanes)
        if wide == lanes:
            return x
        return insert_slice(self.builder, x, self.empty(2, rows, wide), (0, 0, 0))

    def matrix(self, x: Planes, second: int) -> Planes:
        """
        The transforms of lines that are matrices, `[2, first, second]` with padded rows.

        The results are matrices `[2, second, first]` with padded rows.
        """
        _, first, _ = sizes_of(x)
        turned = self._turned(self.columns(x, self.padded(first)), first, second)
        return self.columns(turned, length=second)

    def _turned(self, x: Planes, first: int, second: int) -> Planes:
        """The transposed matrix, multiplied by the factors between columns and rows."""
        _, rows, lanes = sizes_of(x)
        exponents = np.outer(np.arange(lanes), np.arange(rows))
        factors = self.table(roots(exponents, first * second, self.sign))
        d1, d2 = dimension(1), dimension(2)
        inputs = [(x, indexed(c, d2, d1, rank=3)) for c in (0, 1)]
        inputs += [(factors, indexed(c, d1, d2, rank=3)) for c in (0, 1)]

        def body(s: ScalarBuilder, e: Sequence[SSAValue]) -> Number:
            return Butterfly(s, self.sign).times((e[0], e[1]), (e[2], e[3]))

        return self.made((lanes, rows), inputs, body)

    def columns(self, x: Planes, rows: int = 0, length: int = 0) -> Planes:
        """
        The transforms along the columns, of a smooth length.

        They are of the first `length` rows, by default of all. The result has `rows` rows if that
        is more, with unspecified elements in the rest.
        """
        _, given, _ = sizes_of(x)
        length = length or given
        return self.shared(
            "columns",
            [x],
            lambda inner, values: inner._stages(values[0], rows or length, length),
            length,
            rows or length,
        )

    def _stages(self, x: Planes, rows: int, length: int) -> Planes:
        _, _, lanes = sizes_of(x)
        x = extract_slice(self.builder, x, (0, 0, 0), (2, length, lanes))
        done = 1
        for radix in radices(length):
            is_last = done * radix == length
            x = self._stage(x, radix, done, rows if is_last else length)
            done *= radix
        return x

    def _stage(self, x: Planes, radix: int, done: int, rows: int) -> Planes:
        """
        Transforms of length `done * radix` from those of length `done`.

        Of `x[k, i, s]`, the number `i` of `radix` parts, and `y[i, k, s]` afterwards.
        """
        _, length, lanes = sizes_of(x)
        wide = length // (done * radix) * lanes
        source = reshape(x, (2, done, radix, wide), self.builder.op)
        d1, d2, d3 = (dimension(n) for n in (1, 2, 3))
        if wide == lanes:
            sizes, k, element = (1, done, lanes), d1, d2
            target = self.empty(2, rows, lanes)
        elif done == 1:
            sizes, k, element = (1, 1, wide), 0, d2
            target = self.empty(2, radix, wide)
        else:
            sizes, k, element = (1, 1, done, wide), d2, d3
            target = self.empty(2, radix, done, wide)
        step = done if wide == lanes else 1
        places = [(c, q * step, *(0 for _ in sizes[2:])) for q in range(radix) for c in (0, 1)]
        rank = len(sizes)
        inputs = [
            (source, indexed(c, k, i, element, rank=rank)) for i in range(radix) for c in (0, 1)
        ]
        if done > 1:
            exponents = np.outer(np.arange(done), np.arange(1, radix))
            factors = self.table(roots(exponents, done * radix, self.sign), parts_last=True)
            inputs += [
                (factors, indexed(k, i, c, rank=rank)) for i in range(radix - 1) for c in (0, 1)
            ]

        def body(scalars: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
            butterfly = Butterfly(scalars, self.sign)
            pairs = list(zip(elements[::2], elements[1::2], strict=True))
            numbers, turns = pairs[:radix], pairs[radix : 2 * radix - 1] if done > 1 else ()
            for i, turn in enumerate(turns, 1):
                numbers[i] = butterfly.times(numbers[i], turn)
            return [part for number in butterfly.transform(numbers) for part in number]

        outputs = [(self.empty(*sizes), identity(rank)) for _ in range(2 * radix)]
        parts = iter(generic(self.builder, inputs, outputs, iterators(rank), body))
        for place in places:
            target = insert_slice(self.builder, next(parts), target, place)
        return reshape(target, (2, rows, lanes), self.builder.op)


@cache
def matrix_sizes(length: int, lanes: int) -> tuple[int, int] | None:
    """
    Rows and columns of the matrix that a line is seen as; None if it has no smooth ones.

    Neither is so short that it leaves most of a vector empty.
    """
    found: list[tuple[float, tuple[int, int]]] = []
    for shorter in range(lanes // 2, isqrt(length) + 1):
        longer, rest = divmod(length, shorter)
        if rest or not (is_smooth(shorter) and is_smooth(longer)):
            continue
        for first, second in ((shorter, longer), (longer, shorter)):
            wide = [-(-n // lanes) * lanes for n in (first, second)]
            work = cost(first) * first * wide[1] + cost(second) * second * wide[0]
            # Rows and columns of equal length share their code.
            found.append((work * (1 if first == second else DISTINCT_SIZES), (first, second)))
    return min(found)[1] if found else None
