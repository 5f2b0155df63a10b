"""A program under construction, and what its steps draw from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from xdsl.ir import Block

from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, ElementType

Array = np.ndarray[Any, Any]

MAX_ELEMENTS = 300
MAX_RANK = 4
ROWS = {row.type: row for row in ELEMENT_TYPES}


class NoOperandError(Exception):
    """The program so far has no operand for a step."""


def row_of(value: XlaValue) -> ElementType:
    """What is known of the element type of an array."""
    return ROWS[value.element_type]


def random_array(name: str, sizes: Sequence[int], seed: Sequence[int]) -> Array:
    """Elements of a type: mostly small numbers, now and then all bits, or numbers of their own."""
    random = np.random.default_rng(list(seed))
    row, dtype = BY_NAME[name], numpy_dtype(BY_NAME[name].type)
    if row.element_class == ElementClass.PRED:
        return random.integers(0, 2, sizes).astype(bool)
    if row.element_class & ElementClass.INTEGER:
        wide = random.random() < 0.3 and row.bits >= 8
        low, high = (-(2**62), 2**62) if wide else (-4, 8)
        numbers = random.integers(low, high, sizes)
        return (numbers if row.bits >= 8 else numbers % (1 << (row.bits - 1))).astype(dtype)
    if row.element_class == ElementClass.COMPLEX:
        parts = random.standard_normal((2, *sizes)) * 2
        return (parts[0] + 1j * parts[1]).astype(dtype)
    numbers = random.standard_normal(sizes) * 2
    if random.random() < 0.5:
        numbers = np.round(numbers)
    if random.random() < 0.15 and numbers.size:
        places = random.integers(0, numbers.size, 2)
        numbers.flat[places] = random.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e4, 1e-4], 2)
    with np.errstate(all="ignore"):
        return np.asarray(numbers).astype(dtype)


@dataclass
class Draft:
    """The values so far; every step appends operations and returns what it made."""

    seed: int
    names: Sequence[str]
    """The element types that parameters have."""
    b: XlaBuilder = field(default_factory=lambda: XlaBuilder("random"))
    values: list[XlaValue] = field(default_factory=list[XlaValue])
    arguments: list[Array] = field(default_factory=list[Array])

    def __post_init__(self) -> None:
        self.random = Random(self.seed)

    def count(self) -> int:
        """How many operations there are, but for constants."""
        if not self.values:
            return 0
        block = self.values[0].ssa.owner
        assert isinstance(block, Block)
        return sum(not isinstance(op, ConstantOp) for op in block.ops)

    def integer(self, low: int, high: int) -> int:
        """An integer of low..high, both included."""
        return self.random.randint(low, high)

    def chance(self, probability: float) -> bool:
        """True as often as that."""
        return self.random.random() < probability

    def choose(self, options: Sequence[Any]) -> Any:
        """One of them."""
        if not options:
            raise NoOperandError
        return self.random.choice(options)

    def size(self) -> int:
        """The size of a dimension, 0 seldom."""
        return self.choose((0, 1, 2, 2, 3, 3, 4, 5, 7)) if self.chance(0.3) else self.integer(2, 5)

    def sizes(self, low: int = 0, high: int = 3) -> list[int]:
        """Sizes of so many dimensions."""
        return [self.size() for _ in range(self.integer(low, high))]

    def parameter(self, name: str, sizes: Sequence[int]) -> XlaValue:
        """One more parameter."""
        array = random_array(name, sizes, (self.seed, len(self.arguments)))
        value = self.b.parameter(len(self.arguments), array)
        self.arguments.append(array)
        self.values.append(value)
        return value

    def pick(self, holds: Callable[[XlaValue], bool] = lambda _: True) -> XlaValue:
        """A value so far for which that holds, later ones more often."""
        found = [value for value in self.values if holds(value)]
        if not found:
            raise NoOperandError
        return found[max(self.integer(0, len(found) - 1), self.integer(0, len(found) - 1))]

    def of(self, classes: ElementClass, low: int = 0, high: int = MAX_RANK) -> XlaValue:
        """A value of these element types and this rank."""
        return self.pick(
            lambda v: bool(row_of(v).element_class & classes) and low <= v.rank <= high
        )

    def beside(self, value: XlaValue) -> XlaValue:
        """Another value of the same type."""
        others = [v for v in self.values if v.type == value.type and v.ssa is not value.ssa]
        if others and self.chance(0.7):
            return self.choose(others)
        return self.parameter(row_of(value).name, value.shape)

    def dimension(self, value: XlaValue) -> int:
        """A dimension of an array that has one."""
        return self.integer(0, value.rank - 1)

    def dimensions(self, value: XlaValue) -> list[int]:
        """Some of the dimensions, in order."""
        return [d for d in range(value.rank) if self.chance(0.5)]

    def shuffled(self, values: Sequence[Any]) -> list[Any]:
        """In any order."""
        return self.random.sample(values, len(values))
