"""
Whether an executor computes what the reference does, operation by operation.

The program returns all arrays that it computes. Each is compared with what the reference makes of
the operands as the executor computed them: so errors do not add up, integers and all that moves or
compares has to be equal, and an operation on floats may be off by what its own roundings explain.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from differential.draft import ROWS, Array
from differential.rewriting import block_of, cut, returned
from xla_dialect.literals.arrays import element_type_of, flatten_results
from xla_dialect.reference import run
from xla_dialect.types import ElementClass

Explanation = Callable[[Operation, Sequence[Array]], bool]
"""Whether an operation is not compared for these operands."""


@dataclass(frozen=True)
class Executor:
    """Who runs programs, and what explains that its results differ from those of the reference."""

    run: Callable[[ModuleOp, Sequence[Array]], Sequence[Array]]
    explained: Mapping[str, Explanation] = field(default_factory=lambda: EXPLAINED)
    flushes_subnormals: bool = False
    """Whether its functions take subnormal numbers for 0."""


FLOATS = ElementClass.FLOAT | ElementClass.COMPLEX
FUNCTIONS = frozenset(
    f"xla.{name}"
    for name in (
        *("exponential", "log", "sine", "cosine", "tanh", "rsqrt", "cbrt", "tan", "erf", "power"),
        *("exponential_minus_one", "log_plus_one", "logistic", "atan2"),
    )
)
ARITHMETIC = frozenset(f"xla.{name}" for name in ("add", "subtract", "multiply", "divide", "sqrt"))
PRODUCTS = frozenset(("xla.dot", "xla.convolution"))
SOLVED = frozenset(("xla.cholesky", "xla.triangular_solve", "xla.fft", "xla.batch_norm_training"))
FOLDS = frozenset(("xla.reduce", "xla.reduce_window", "xla.select_and_scatter", "xla.scatter"))
DECISIONS = frozenset(
    f"xla.{name}" for name in ("compare", "convert", "maximum", "minimum", "clamp", "sign", "sort")
)
REGIONS = frozenset(("xla.while", "xla.conditional", "xla.call", "xla.map"))
FUNCTION_UNITS = {"float32": 16, "float64": 256}
"""What XLA CPU's functions are good for, in epsilons; narrower floats are rounded from f32."""


@dataclass(frozen=True)
class Difference:
    """A result of an operation that an executor does not compute as the reference does."""

    number: int
    """Of the result of the function."""
    operation: Operation
    index: tuple[int, ...]
    found: Any
    expected: Any
    tolerance: float

    def __str__(self) -> str:
        return (
            f"{self.operation.name}: result {self.number} at {list(self.index)} is {self.found}, "
            f"the reference has {self.expected} (tolerance {self.tolerance:.3g})"
        )


def differences(
    module: ModuleOp, arguments: Sequence[Array], executor: Executor
) -> list[Difference]:
    """Where an executor differs from the reference; at most one place per result."""
    theirs = list(executor.run(module.clone(), arguments))
    local = module.clone()
    values = returned(local)
    cut(local, values)
    inputs = [*arguments, *theirs]
    mine = flatten_results(run(local, inputs))
    arrays = dict(zip(block_of(local).args, inputs, strict=True))
    found: list[Difference] = []
    for number, value in enumerate(values):
        operands = [arrays[x] for x in inputs_of(value.op) if x in arrays]
        place = first_difference(value.op, operands, theirs[number], mine[number], executor)
        if place is not None:
            found.append(Difference(number, value.op, *place))
    return found


def inputs_of(op: Operation) -> list[Any]:
    """The values that an operation uses, those of its computations included."""
    return [operand for inner in op.walk() for operand in inner.operands]


def first_difference(
    op: Operation, operands: Sequence[Array], theirs: Array, mine: Array, executor: Executor
) -> tuple[tuple[int, ...], Any, Any, float] | None:
    """The first index at which two results differ more than they may, both, and the tolerance."""
    assert (theirs.dtype, theirs.shape) == (mine.dtype, mine.shape), op.name
    element_class = element_class_of(mine)
    if any(explains(op, operands) for explains in executor.explained.values()):
        return None
    if not element_class & FLOATS:
        wrong, allowed = theirs != mine, np.zeros(mine.shape)
    else:
        wide = np.complex128 if element_class == ElementClass.COMPLEX else np.float64
        with np.errstate(all="ignore"):
            a, b = theirs.astype(wide), mine.astype(wide)
            allowed = np.broadcast_to(tolerance(op, operands, b, mine.dtype), mine.shape)
            if executor.flushes_subnormals and is_function(op, operands):
                allowed = np.where(any_subnormal(operands, mine.dtype), np.inf, allowed)
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= allowed)
        wrong = ~same
    if not wrong.any():
        return None
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return index, theirs[index], mine[index], float(allowed[index])


def tolerance(op: Operation, operands: Sequence[Array], result: Array, dtype: Any) -> Any:
    """
    The absolute error that the roundings of one operation explain, per element.

    Sums may be taken in any order and fused with products, so operands may come unrounded.
    """
    info = ml_dtypes.finfo(np.zeros(0, dtype).real.dtype)
    eps, tiny = float(info.eps), float(info.tiny)
    sizes = [magnitudes(x) for x in operands]
    largest = max([float(x.max(initial=0)) for x in sizes], default=0.0)
    count = max([x.size for x in sizes], default=0) + 2
    size = magnitudes(result)
    overall = max(float(size.max(initial=0)), largest, 1.0)
    if op.name in ARITHMETIC:
        terms = sum(sizes) if all(x.shape == result.shape for x in sizes) else 2 * largest
        return 2 * eps * (size + terms) + tiny
    if is_function(op, operands):
        return FUNCTION_UNITS.get(info.dtype.name, 2) * eps * size + tiny
    if op.name in PRODUCTS:
        return count * (eps * float(sizes[0].max(initial=0) * sizes[-1].max(initial=0)) + tiny)
    if op.name in FOLDS:
        return count * (eps * largest + tiny) if adds(op) else 0.0
    if op.name in SOLVED:
        return 16 * eps * count * overall
    if op.name in REGIONS:
        return 64 * eps * overall**2
    return 0.0


def is_function(op: Operation, operands: Sequence[Array]) -> bool:
    """Whether an operation is evaluated by a formula of its own."""
    return op.name in FUNCTIONS or (op.name == "xla.abs" and operands[0].dtype.kind == "c")


def is_solved_with_infinities(op: Operation, operands: Sequence[Array]) -> bool:
    multiplies = op.name in (*SOLVED, "xla.convolution") or (
        op.name == "xla.dot" and any(x.dtype.kind == "c" for x in operands)
    )
    return multiplies and has_infinities(operands)


def decides_by_subnormals(op: Operation, operands: Sequence[Array]) -> bool:
    """A choice between numbers, or whether one is 0."""
    if op.name not in DECISIONS and not (op.name in FOLDS and not adds(op)):
        return False
    floats = [x for x in operands if element_class_of(x) & FLOATS]
    return any(any_subnormal([x], x.dtype).any() for x in floats)


def element_class_of(array: Array) -> ElementClass:
    return ROWS[element_type_of(array.dtype)].element_class


def has_infinities(arrays: Sequence[Array]) -> bool:
    """Or NaN."""
    return not all(np.isfinite(magnitude(array)).all() for array in arrays)


def orders_the_only_nan(op: Operation, operands: Sequence[Array]) -> bool:
    return (
        any("TOTALORDER" in str(inner.properties.get("comparison_type")) for inner in op.walk())
        and any(x.dtype.name.endswith("fnuz") for x in operands)
        and has_infinities(operands)
    )


def counts_bits_of_bytes(op: Operation, operands: Sequence[Array]) -> bool:
    """Those of a negative number with fewer bits than a byte."""
    return (
        op.name == "xla.popcnt"
        and operands[0].dtype.name in ("int2", "int4")
        and bool((operands[0].astype(np.int8) < 0).any())
    )


def squares_overflow(op: Operation, operands: Sequence[Array]) -> bool:
    if op.name != "xla.batch_norm_training":
        return False
    largest = float(magnitude(operands[0]).max(initial=0))
    return largest**2 > float(ml_dtypes.finfo(operands[0].dtype).max)


EXPLAINED: Mapping[str, Explanation] = {
    "infinities and NaN are multiplied with zeros of padding or of other rows": (
        is_solved_with_infinities
    ),
}
"""What is not compared, and why."""

EXPLAINED_OF_XLA: Mapping[str, Explanation] = EXPLAINED | {
    "XLA CPU takes subnormal numbers for 0": decides_by_subnormals,
    "XLA CPU compares bits: the NaN of fnuz types, which has no sign, is -0 to it": (
        orders_the_only_nan
    ),
    "XLA CPU extends signed integers of less than a byte before it counts their bits": (
        counts_bits_of_bytes
    ),
    "XLA CPU subtracts the square of the mean from the mean of squares": squares_overflow,
}
"""What is not compared on XLA CPU."""


def any_subnormal(operands: Sequence[Array], dtype: Any) -> Array:
    """Where an operand is subnormal in a type."""
    tiny = float(ml_dtypes.finfo(np.zeros(0, dtype).real.dtype).tiny)
    sizes = [magnitudes(x) for x in operands]
    return np.asarray(sum((0 < x) & (x < tiny) for x in sizes)) > 0


def magnitude(array: Array) -> Array:
    """Absolute values of any type."""
    with np.errstate(all="ignore"):
        return np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))


def magnitudes(array: Array) -> Array:
    """Absolute values; those that are not finite are 0."""
    wide = magnitude(array)
    return np.where(np.isfinite(wide), wide, 0)


def adds(op: Operation) -> bool:
    """Whether a fold adds, and does not only compare."""
    return any(inner.name in ARITHMETIC for inner in op.walk())
