"""
Random nests for the tests of loops: the text of a linalg.generic, and what it computes, in numpy.

The operands are reached in all the ways that buffers are: transposed memory, parts of larger
arrays at static and dynamic offsets, constant, reversed and overlapping indices.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

AnyArray = np.ndarray[Any, np.dtype[Any]]

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "i1": np.bool_,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
}


@dataclass(frozen=True)
class Term:
    """One index of an operand: `sum(coefficient * d) + constant`."""

    coefficients: tuple[tuple[int, int], ...]
    """Pairs of a dimension and its coefficient."""
    constant: int = 0

    def text(self) -> str:
        parts = [f"d{d} * {c}" if c != 1 else f"d{d}" for d, c in self.coefficients]
        return " + ".join([*parts, *([str(self.constant)] if self.constant or not parts else [])])

    def value(self, point: Sequence[Any]) -> Any:
        return sum(c * point[d] for d, c in self.coefficients) + self.constant


@dataclass
class Operand:
    """A memref with the map by which a nest reaches it, and how it lies in its buffer."""

    element: str
    terms: tuple[Term, ...]
    shape: tuple[int, ...]
    order: tuple[int, ...] = ()
    """The memref's dimensions from the slowest to the fastest in memory."""
    low: tuple[int, ...] = ()
    """How many elements of the buffer come before the memref in each dimension."""
    high: tuple[int, ...] = ()
    dynamic: bool = False
    """Whether the offset is known at run time only."""

    @property
    def buffer_shape(self) -> tuple[int, ...]:
        sizes = [
            before + n + after
            for before, n, after in zip(self.low, self.shape, self.high, strict=True)
        ]
        return tuple(sizes[d] for d in self.order)

    def window(self, buffer: AnyArray) -> AnyArray:
        """The memref's elements in the buffer."""
        rank = len(self.shape)
        seen = buffer.transpose([self.order.index(d) for d in range(rank)])
        return seen[
            (*(slice(start, start + n) for start, n in zip(self.low, self.shape, strict=True)), ...)
        ]

    def strides(self) -> list[int]:
        """Of the memref, in elements."""
        shape = self.buffer_shape
        place = {d: i for i, d in enumerate(self.order)}
        return [math.prod(shape[place[d] + 1 :]) for d in range(len(self.shape))]

    def offset(self) -> int:
        return sum(s * first for s, first in zip(self.strides(), self.low, strict=True))

    def buffer_type(self) -> str:
        return memref_type(self.buffer_shape, self.element)

    @property
    def is_whole(self) -> bool:
        """Whether the memref is its buffer."""
        padding = any((*self.low, *self.high))
        return not padding and self.order == tuple(range(len(self.shape)))

    def type(self) -> str:
        if self.is_whole:
            return self.buffer_type()
        offset = "?" if self.dynamic else str(self.offset())
        strides = ", ".join(map(str, self.strides()))
        return memref_type(self.shape, self.element, f", strided<[{strides}], offset: {offset}>")

    def view_text(self, name: str, buffer: str) -> str:
        """The operation that makes the memref from its buffer."""
        sizes = f"[{', '.join(map(str, self.shape))}]"
        if self.order == tuple(range(len(self.shape))):
            offsets = ["%zero" if self.dynamic and not n else str(n) for n in self.low]
            if self.dynamic and "%zero" not in offsets:
                offsets[0] = f"%c{self.low[0]}"
            ones = f"[{', '.join('1' for _ in self.shape)}]"
            return (
                f"{name} = memref.subview {buffer}[{', '.join(offsets)}] {sizes} {ones} : "
                f"{self.buffer_type()} to {self.type()}"
            )
        strides = f"[{', '.join(map(str, self.strides()))}]"
        return (
            f"{name} = memref.reinterpret_cast {buffer} to offset: [{self.offset()}], "
            f"sizes: {sizes}, strides: {strides} : {self.buffer_type()} to {self.type()}"
        )


def memref_type(shape: Sequence[int], element: str, layout: str = "") -> str:
    return f"memref<{''.join(f'{n}x' for n in shape)}{element}{layout}>"


@dataclass(frozen=True)
class Body:
    """What a nest computes at each point: as MLIR and, on arrays over all points, as numpy."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    text: str
    """From `%x0`, ... (inputs) and `%y0`, ... (outputs); ends in the linalg.yield."""
    combine: Callable[[list[Any], list[Any], Sequence[int]], list[Any]]
    """From the elements of inputs and outputs and the point to the next ones of the outputs."""
    exact: bool = True


def sum_of(element: str, operation: str) -> Body:
    text = f"%r = {operation} %x0, %y0 : {element}\n linalg.yield %r : {element}"
    functions = {
        "arith.addf": lambda a, b: a + b,
        "arith.maximumf": max,
        "arith.addi": lambda a, b: a + b,
        "arith.xori": lambda a, b: a ^ b,
        "arith.minsi": min,
        "arith.maxui": lambda a, b: max(a, b, key=lambda v: v.view(f"u{v.dtype.itemsize}")),
        "arith.muli": lambda a, b: a * b,
        "arith.andi": lambda a, b: a & b,
        "arith.ori": lambda a, b: a | b,
    }
    function = functions[operation]
    return Body(
        (element,),
        (element,),
        text,
        lambda x, y, _: [function(x[0], y[0])],
        exact=operation != "arith.addf",
    )


REDUCTIONS: tuple[Body, ...] = (
    *(sum_of("f32", op) for op in ("arith.addf", "arith.maximumf")),
    sum_of("f64", "arith.addf"),
    *(sum_of("i32", op) for op in ("arith.addi", "arith.xori", "arith.minsi", "arith.maxui")),
    *(sum_of("i8", op) for op in ("arith.muli", "arith.minsi")),
    *(sum_of("i1", op) for op in ("arith.andi", "arith.ori")),
    Body(
        ("f32", "f32"),
        ("f32",),
        "%p = arith.mulf %x0, %x1 : f32\n %r = arith.addf %y0, %p : f32\n linalg.yield %r : f32",
        lambda x, y, _: [x[0] * x[1] + y[0]],
        exact=False,
    ),
    Body(
        ("i8", "i8"),
        ("i32",),
        "%a = arith.extsi %x0 : i8 to i32\n %b = arith.extsi %x1 : i8 to i32\n"
        "%p = arith.muli %a, %b : i32\n %r = arith.addi %p, %y0 : i32\n linalg.yield %r : i32",
        lambda x, y, _: [np.int32(x[0]) * np.int32(x[1]) + y[0]],
    ),
    Body(
        ("bf16", "bf16"),
        ("f32",),
        "%a = arith.extf %x0 : bf16 to f32\n %b = arith.extf %x1 : bf16 to f32\n"
        "%p = arith.mulf %a, %b : f32\n %r = arith.addf %p, %y0 : f32\n linalg.yield %r : f32",
        lambda x, y, _: [np.float32(x[0]) * np.float32(x[1]) + y[0]],
        exact=False,
    ),
    Body(
        ("f32",),
        ("f32", "i64"),
        "%i = linalg.index 0 : index\n %j = arith.index_cast %i : index to i64\n"
        "%g = arith.cmpf ogt, %x0, %y0 : f32\n %r = arith.select %g, %x0, %y0 : f32\n"
        "%s = arith.select %g, %j, %y1 : i64\n linalg.yield %r, %s : f32, i64",
        lambda x, y, p: [x[0], np.int64(p[0])] if x[0] > y[0] else y,
    ),
    Body(
        ("i32",),
        ("i32", "i32"),
        "%a = arith.addi %y0, %x0 : i32\n %m = arith.maxsi %x0, %y1 : i32\n"
        "linalg.yield %a, %m : i32, i32",
        lambda x, y, _: [x[0] + y[0], max(x[0], y[1])],
    ),
    Body(
        ("i32",),
        ("i32",),
        "%a = arith.muli %y0, %three : i32\n %r = arith.addi %a, %x0 : i32\nlinalg.yield %r : i32",
        lambda x, y, _: [y[0] * np.int32(3) + x[0]],
    ),
)

ELEMENTWISE: tuple[Body, ...] = (
    Body(("f32",), ("f32",), "linalg.yield %x0 : f32", lambda x, y, _: [x[0]]),
    Body(("i1",), ("i1",), "linalg.yield %x0 : i1", lambda x, y, _: [x[0]]),
    Body(
        ("f32", "f32"),
        ("f32",),
        "%r = arith.addf %x0, %x1 : f32\n linalg.yield %r : f32",
        lambda x, y, _: [x[0] + x[1]],
    ),
    Body(
        ("i32",),
        ("i32",),
        "%a = arith.muli %y0, %three : i32\n %r = arith.addi %a, %x0 : i32\nlinalg.yield %r : i32",
        lambda x, y, _: [y[0] * np.int32(3) + x[0]],
    ),
    Body(
        ("i8", "f32"),
        ("f32", "i1"),
        "%i = linalg.index 0 : index\n %j = arith.index_cast %i : index to i32\n"
        "%k = arith.extsi %x0 : i8 to i32\n %g = arith.cmpi slt, %j, %k : i32\n"
        "%r = arith.select %g, %x1, %y0 : f32\n linalg.yield %r, %g : f32, i1",
        lambda x, y, p: [x[1] if p[0] < x[0] else y[0], np.bool_(p[0] < x[0])],
    ),
    Body(
        ("bf16",),
        ("f64",),
        "%a = arith.extf %x0 : bf16 to f64\n linalg.yield %a : f64",
        lambda x, y, _: [np.float64(x[0])],
    ),
)


@dataclass
class NestProgram:
    """A function with one generic nest on parts of its arguments."""

    extents: tuple[int, ...]
    reduced: frozenset[int]
    body: Body
    inputs: list[Operand]
    outputs: list[Operand]
    fill: tuple[int | float | None, ...] = field(default=())
    """What outputs are filled with before."""

    def text(self) -> str:
        operands = [*self.inputs, *self.outputs]
        parameters = ", ".join(f"%b{i}: {o.buffer_type()}" for i, o in enumerate(operands))
        constants = sorted({o.low[0] for o in operands if o.low})
        views = [o.view_text(f"%v{i}", f"%b{i}") for i, o in enumerate(operands) if not o.is_whole]
        names = [f"%b{i}" if o.is_whole else f"%v{i}" for i, o in enumerate(operands)]
        dims = ", ".join(f"d{d}" for d in range(len(self.extents)))
        maps = ", ".join(
            f"affine_map<({dims}) -> ({', '.join(t.text() for t in o.terms)})>" for o in operands
        )
        kinds = ", ".join(
            '"reduction"' if d in self.reduced else '"parallel"' for d in range(len(self.extents))
        )
        count = len(self.inputs)
        arguments = ", ".join(
            f"%{'x' if i < count else 'y'}{i if i < count else i - count}: {o.element}"
            for i, o in enumerate(operands)
        )
        return "\n".join(
            [
                f"func.func @main({parameters}) attributes {{xla.entry}} {{",
                "%zero = arith.constant 0 : index",
                *(f"%c{c} = arith.constant {c} : index" for c in constants),
                "%three = arith.constant 3 : i32",
                *views,
                *self._fills(names[count:]),
                f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
                *self._group("ins", names[:count], self.inputs),
                *self._group("outs", names[count:], self.outputs),
                f"{{\n^bb0({arguments}):\n{self.body.text}\n}}",
                "func.return\n}",
            ]
        )

    def _group(self, keyword: str, names: list[str], operands: Sequence[Operand]) -> list[str]:
        if not operands:
            return []
        return [f"{keyword}({', '.join(names)} : {', '.join(o.type() for o in operands)})"]

    def _fills(self, names: list[str]) -> list[str]:
        lines: list[str] = []
        for i, (name, value) in enumerate(zip(names, self.fill, strict=False)):
            if value is not None:
                operand = self.outputs[i]
                lines.append(f"%f{i} = arith.constant {value} : {operand.element}")
                lines.append(
                    f"linalg.fill ins(%f{i} : {operand.element}) outs({name} : {operand.type()})"
                )
        return lines

    def expected(self, buffers: Sequence[AnyArray]) -> list[AnyArray]:
        """The buffers of the outputs afterwards."""
        operands = [*self.inputs, *self.outputs]
        results = [b.copy() for b in buffers]
        windows = [o.window(b) for o, b in zip(operands, results, strict=True)]
        count = len(self.inputs)
        for window, value in zip(windows[count:], self.fill, strict=False):
            if value is not None:
                window[...] = value
        with np.errstate(all="ignore"):
            for point in itertools.product(*map(range, self.extents)):
                places = [tuple(t.value(point) for t in o.terms) for o in operands]
                held = [w[p] for w, p in zip(windows, places, strict=True)]
                values = self.body.combine(held[:count], held[count:], point)
                for window, place, value in zip(
                    windows[count:], places[count:], values, strict=True
                ):
                    window[place] = value
        return results[count:]


def random_operand(
    pick: random.Random, element: str, extents: Sequence[int], dims: Sequence[int], plain: bool
) -> Operand:
    """An operand that depends on `dims`; a plain one has each as one index of its own."""
    terms: list[Term] = []
    for d in dims:
        choice = pick.random()
        if plain or choice < 0.7:
            terms.append(Term(((d, 1),)))
        elif choice < 0.85:
            terms.append(Term(((d, -1),), max(extents[d] - 1, 0)))
        else:
            terms.append(Term(((d, 2),), pick.randint(0, 1)))
    if not plain and pick.random() < 0.2:
        terms.insert(pick.randint(0, len(terms)), Term((), pick.randint(0, 2)))
    if not plain and len(terms) >= 2 and pick.random() < 0.15:
        first, second = terms.pop(), terms.pop()
        merged = (*first.coefficients, *second.coefficients)
        terms.append(Term(merged, first.constant + second.constant))
    shape = []
    for term in terms:
        steps = [(c, extents[d]) for d, c in term.coefficients]
        empty = any(n == 0 for _, n in steps)
        high = term.constant + sum(c * (n - 1) for c, n in steps if c > 0)
        shape.append(0 if empty and plain else max(high + 1, 1))
    return with_random_layout(pick, Operand(element, tuple(terms), tuple(shape)))


def with_random_layout(pick: random.Random, operand: Operand) -> Operand:
    rank = len(operand.shape)
    order = list(range(rank))
    inside = rank > 0 and 0 not in operand.shape and pick.random() < 0.3
    if not inside and pick.random() < 0.25:
        pick.shuffle(order)
    operand.order = tuple(order)
    operand.low = tuple(pick.randint(0, 2) if inside else 0 for _ in range(rank))
    operand.high = tuple(pick.randint(0, 2) if inside else 0 for _ in range(rank))
    operand.dynamic = inside and pick.random() < 0.5
    return operand


SIZES = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 20, 33)
LARGE_SIZES = (*SIZES, 1, 1, 64, 100, 257, 1024, 4099, 100_000)


def random_nest(seed: int, limit: int = 6000, sizes: Sequence[int] = SIZES) -> NestProgram:
    """Any nest of at most `limit` points."""
    pick = random.Random(seed)
    rank = pick.randint(0, 4)
    extents: list[int] = []
    for _ in range(rank):
        size = 0 if pick.random() < 0.02 else pick.choice(sizes)
        extents.append(size if size * math.prod(extents or [1]) <= limit else 2)
    is_reduction = rank > 0 and pick.random() < 0.6
    body = pick.choice(REDUCTIONS if is_reduction else ELEMENTWISE)
    if "linalg.index 0" in body.text and rank == 0:
        body = ELEMENTWISE[0]
    dims = list(range(rank))
    reduced = set(pick.sample(dims, pick.randint(1, rank))) if is_reduction else set[int]()
    if pick.random() < 0.2:
        extents = [1 if d in reduced else n for d, n in enumerate(extents)]
    outer = [d for d in dims if d not in reduced]
    inputs = [
        random_operand(pick, element, extents, _subset(pick, dims, 0.8 if i else 1.0), 0 in extents)
        for i, element in enumerate(body.inputs)
    ]
    outputs = []
    for element in body.outputs:
        pick.shuffle(outer)
        outputs.append(random_operand(pick, element, extents, outer, True))
    # A dimension needs an operand that gives its extent.
    known = {
        t.coefficients[0][0]
        for o in (*inputs, *outputs)
        for t in o.terms
        if len(t.coefficients) == 1 and t.coefficients[0][1] == 1 and not t.constant
    }
    missing = [d for d in dims if d not in known]
    if missing:
        shaped = random_operand(pick, inputs[0].element, extents, missing, True)
        terms = tuple(t for t in shaped.terms)
        inputs[0] = with_random_layout(
            pick,
            Operand(
                inputs[0].element,
                (*inputs[0].terms, *terms),
                (*inputs[0].shape, *(max(n, 0) for n in shaped.shape)),
            ),
        )
    fill = tuple(
        _fill_value(element) if is_reduction and pick.random() < 0.5 else None
        for element in body.outputs
    )
    return NestProgram(tuple(extents), frozenset(reduced), body, inputs, outputs, fill)


def _fill_value(element: str) -> int | float | None:
    return 0.0 if element.startswith("f") else 0


def _subset(pick: random.Random, dims: Sequence[int], share: float) -> list[int]:
    chosen = [d for d in dims if pick.random() < share]
    pick.shuffle(chosen)
    return chosen


def random_buffer(random_source: np.random.Generator, operand: Operand) -> AnyArray:
    """Values for a buffer; of floats, few enough digits that sums are nearly exact."""
    shape, dtype = operand.buffer_shape, np.dtype(DTYPES[operand.element])
    if operand.element == "i1":
        return random_source.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "i":
        info = np.iinfo(dtype)
        return random_source.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return random_source.normal(size=shape).astype(dtype)
