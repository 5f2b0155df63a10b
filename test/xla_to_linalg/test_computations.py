"""
Computations with control flow and small arrays in them, in every operation that has one.

The expected values are folds in Python.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate, product
from random import Random
from typing import Any

import numpy as np
import pytest
from sweeps import each_or_full

import lowerings
from lowerings.backends import INTERPRETED_LEVELS, Options
from lowerings.compilation import compile_source
from lowerings.driver.source import Source

Array = np.ndarray[Any, np.dtype[np.int32]]
Fold = Callable[[int, int], int]
Step = Callable[[str, str, str], str]
"""From the names of two scalars, and that of the result, to operations."""
T, P = "tensor<i32>", "tensor<i1>"


def branch(x: str, y: str, out: str) -> str:
    """The larger is doubled, the other one is what the smaller is less 3."""
    return f"""
  {out}p = xla.compare {x}, {y} {{direction = GT}} : ({T}, {T}) -> {P}
  {out} = xla.conditional {out}p, {x}, {y} : ({P}, {T}, {T}) -> {T} branch (%t: {T}) {{
    %twice = xla.add %t, %t : {T}
    xla.return %twice : {T}
  }} branch (%t: {T}) {{
    %three = xla.constant dense<3> : {T}
    %less = xla.subtract %t, %three : {T}
    xla.return %less : {T}
  }}"""


def loop(x: str, y: str, out: str) -> str:
    """Less 7 as long as it is above 20; what the loop takes from outside it captures."""
    return f"""
  {out}seven = xla.constant dense<7> : {T}
  {out}sum = xla.add {x}, {y} : {T}
  {out} = xla.while {out}sum : {T} condition (%t: {T}) {{
    %limit = xla.constant dense<20> : {T}
    %more = xla.compare %t, %limit {{direction = GT}} : ({T}, {T}) -> {P}
    xla.return %more : {P}
  }} body (%t: {T}) {{
    %less = xla.subtract %t, {out}seven : {T}
    xla.return %less : {T}
  }}"""


def array(x: str, y: str, out: str) -> str:
    """Both in an array, times weights, and the sum of it."""
    return f"""
  {out}x = xla.reshape {x} : ({T}) -> tensor<1xi32>
  {out}y = xla.reshape {y} : ({T}) -> tensor<1xi32>
  {out}both = xla.concatenate {out}x, {out}y {{dimension = 0}} : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  {out}weights = xla.constant dense<[2, -1]> : tensor<2xi32>
  {out}zero = xla.constant dense<0> : {T}
  {out}products = xla.multiply {out}both, {out}weights : tensor<2xi32>
  {out} = xla.reduce {out}products, {out}zero {{dimensions = [0]}} : (tensor<2xi32>, {T}) -> {T} to_apply (%t: {T}, %u: {T}) {{
    %v = xla.add %t, %u : {T}
    xla.return %v : {T}
  }}"""


def slices(x: str, y: str, out: str) -> str:
    """The second of both in an array: no operation has a region."""
    return f"""
  {out}x = xla.reshape {x} : ({T}) -> tensor<1xi32>
  {out}y = xla.reshape {y} : ({T}) -> tensor<1xi32>
  {out}both = xla.concatenate {out}y, {out}x {{dimension = 0}} : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  {out}second = xla.slice {out}both {{start_indices = [1], limit_indices = [2], strides = [1]}} : (tensor<2xi32>) -> tensor<1xi32>
  {out} = xla.reshape {out}second : (tensor<1xi32>) -> {T}"""


STEPS: dict[Step, Fold] = {
    branch: lambda x, y: 2 * x if x > y else y - 3,
    loop: lambda x, y: x + y if x + y <= 20 else 20 - (20 - x - y) % 7,
    array: lambda x, y: 2 * x - y,
    slices: lambda x, _y: x,
}


def computation(steps: Sequence[Step]) -> tuple[str, Fold]:
    """The operations that go from %a and %b to %out, and what they compute."""
    names = ["%a", *(f"%s{n}" for n in range(len(steps) - 1)), "%out"]
    lines = [step(x, "%b", out) for step, x, out in zip(steps, names, names[1:], strict=False)]

    def fold(a: int, b: int) -> int:
        return reduce(lambda value, step: STEPS[step](value, b), steps, a)

    return "\n".join(lines), fold


def region(steps: Sequence[Step]) -> str:
    return f"(%a: {T}, %b: {T}) {{{computation(steps)[0]}\n  xla.return %out : {T}\n}}"


WINDOW = "#xla.window<size=2x2 pad=1_0x0_1>"
RUNNING = "#xla.window<size=1x4 pad=0_0x3_0>"
ROWS = "update_window_dims = [1], inserted_window_dims = [0]"
PLACES = [1, 1, 2, 7, 0]


def windows(x: Array, fold: Fold) -> Array:
    rows, columns = x.shape
    found = np.empty_like(x)
    for i, j in product(range(rows), range(columns)):
        met = [(i - 1, j), (i - 1, j + 1), (i, j), (i, j + 1)]
        values = [int(x[at]) for at in met if at[0] >= 0 and at[1] < columns]
        found[i, j] = reduce(fold, values, 5)
    return found


def scattered(x: Array, fold: Fold) -> Array:
    found = x.copy()
    for update, place in enumerate(PLACES):
        if place < len(found):
            row = zip(found[place].tolist(), x[update % 3].tolist(), strict=True)
            found[place] = [fold(old, new) for old, new in row]
    return found


def along(x: Array, line: Callable[[list[int]], Any]) -> Array:
    return np.array([line(row) for row in x.tolist()], np.int32)


def by_key(fold: Fold) -> Callable[[list[int]], list[int]]:
    return lambda row: sorted(row, key=lambda value: fold(value, 3))


def comparator(steps: Sequence[Step]) -> str:
    """Of the first value, and of the second, each with 3."""
    own = [computation(steps)[0].replace("%b", "%fixed") for _ in range(2)]
    own[1] = own[1].replace("%a", "%b").replace("%s", "%r").replace("%out", "%other")
    return f"""(%a: {T}, %b: {T}) {{
  %fixed = xla.constant dense<3> : {T}{own[0]}{own[1]}
  %less = xla.compare %out, %other {{direction = LT}} : ({T}, {T}) -> {P}
  xla.return %less : {P}
}}"""


OPERATIONS: dict[str, tuple[str, Callable[[Array, Fold], Array]]] = {
    "reduce": (
        "xla.reduce %x, %five {dimensions = [1]} : (X, tensor<i32>) -> tensor<3xi32> to_apply F",
        lambda x, fold: along(x, lambda row: reduce(fold, row, 5)),
    ),
    "map": (
        "xla.map %x, %x {dimensions = [0, 1]} : X to_apply F",
        lambda x, fold: along(x, lambda row: [fold(value, value) for value in row]),
    ),
    "window": (
        f"xla.reduce_window %x, %five {{window = {WINDOW}}} : (X, tensor<i32>) -> X to_apply F",
        windows,
    ),
    "running": (
        f"xla.reduce_window %x, %five {{window = {RUNNING}}} : (X, tensor<i32>) -> X to_apply F",
        lambda x, fold: along(x, lambda row: list(accumulate(row, fold, initial=5))[1:]),
    ),
    "scatter": (
        f"xla.scatter %x, %places, %updates {{{ROWS}, scatter_dims_to_operand_dims = [0], "
        "index_vector_dim = 1} : (X, tensor<5xi32>, tensor<5x4xi32>) -> X to_apply F",
        scattered,
    ),
    "sort": (
        "xla.sort %x {dimension = 1, is_stable = true} : X to_apply C",
        lambda x, fold: along(x, by_key(fold)),
    ),
}


def program(operation: str, steps: Sequence[Step], rows: int = 3) -> str:
    text, _ = OPERATIONS[operation]
    result = f"tensor<{rows}xi32>" if operation == "reduce" else "X"
    text = text.replace(" F", " " + region(steps)).replace(" C", " " + comparator(steps))
    text = f"""
func.func @main(%x: X) -> {result} {{
  %five = xla.constant dense<5> : {T}
  %places = xla.constant dense<{PLACES}> : tensor<5xi32>
  %first = xla.slice %x {{start_indices = [0, 0], limit_indices = [3, 4], strides = [1, 1]}} : (X) -> tensor<3x4xi32>
  %head = xla.slice %x {{start_indices = [0, 0], limit_indices = [2, 4], strides = [1, 1]}} : (X) -> tensor<2x4xi32>
  %updates = xla.concatenate %first, %head {{dimension = 0}} : (tensor<3x4xi32>, tensor<2x4xi32>) -> tensor<5x4xi32>
  %r = {text}
  func.return %r : {result}
}}"""
    return text.replace("X", f"tensor<{rows}x4xi32>")


def values(rows: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(-30, 30, (rows, 4), dtype=np.int32)


EXECUTORS = {
    "reference": Options(backend="reference"),
    "llvm": Options(backend="llvm"),
    **{level: Options(backend="interpreter", level=level) for level in INTERPRETED_LEVELS},
}


def random_computation(operation: str, seed: int) -> tuple[Source, Array, Array]:
    """A program, its argument and its value: one to three steps, each a branch, a loop, an array or a slice of one."""
    random = Random(f"{operation} {seed}")
    steps = [random.choice(list(STEPS)) for _ in range(random.randint(1, 3))]
    x = values(3, seed)
    return (
        Source.of(program(operation, steps)),
        x,
        OPERATIONS[operation][1](x, computation(steps)[1]),
    )


@pytest.mark.parametrize("seed", each_or_full(range(20), (0,)))
@pytest.mark.parametrize("operation", OPERATIONS)
def test_any_computation(operation: str, seed: int) -> None:
    source, x, expected = random_computation(operation, seed)
    for name, options in EXECUTORS.items():
        (found,) = compile_source(source, options)(x)
        np.testing.assert_array_equal(found, expected, name)


@pytest.mark.riscv64
@pytest.mark.parametrize("seed", each_or_full(range(20), (0,)))
@pytest.mark.parametrize("operation", OPERATIONS)
def test_any_computation_on_riscv64(operation: str, seed: int) -> None:
    source, x, expected = random_computation(operation, seed)
    (found,) = compile_source(source, Options(backend="riscv64"))(x)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("operation", ["running", "sort"])
def test_threads_have_arrays_of_their_own(operation: str) -> None:
    steps = [array, loop]
    compiled = lowerings.compile(program(operation, steps, 1 << 16), num_threads=2)
    x = values(1 << 16)
    expected = OPERATIONS[operation][1](x, computation(steps)[1])
    for _ in range(5):
        np.testing.assert_array_equal(compiled(x)[0], expected)
