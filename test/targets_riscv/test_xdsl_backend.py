"""
Scalar loops through xDSL's RISC-V backend, run by qemu: operations against numpy, nests of loops
against the same nests compiled by LLVM for this machine.
"""

from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from typing import Any

import numpy as np
import pytest
from loops_level import context, parse, spec
from loops_level import run as run_by_llvm
from xdsl.dialects.riscv.abstract_ops import print_assembly

from lowerings.execution.signature import Signature
from lowerings.targets.riscv.convert_loops_to_rv64 import require_lowerings
from lowerings.targets.riscv.target import TILES, RegisterTile, XdslRiscvAssemblyTarget, lower
from tools.xla_microkernels import run, same
from xla_dialect.diagnostics import XlaError

on_riscv64 = pytest.mark.riscv64

NUMBERS = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, -np.nan, 5e-324, 1.7e308]


def assembly(text: str, **options: Any) -> str:
    output = StringIO()
    XdslRiscvAssemblyTarget(**options).emit(context(), parse(text), output)
    return output.getvalue()


def elementwise(body: str, element: str, *operands: np.ndarray) -> np.ndarray:
    """Applies an expression for `%r` from `%a0`, `%a1`, ..., of type `{t}`, to arrays."""
    (size,) = operands[0].shape
    memref = f"memref<{size}x{element}>"
    names = [f"%p{n}: {memref}" for n in range(len(operands) + 1)]
    loads = "\n".join(f"%a{n} = memref.load %p{n}[%i] : {memref}" for n in range(len(operands)))
    text = f"""
    func.func @kernel({", ".join(names)}) attributes {{xla.kernel}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant {size} : index
      scf.for %i = %c0 to %n step %c1 {{
        {loads}
        {body.replace("{t}", element)}
        memref.store %r, %p{len(operands)}[%i] : {memref}
      }}
      func.return
    }}
    """
    dtype = {"f64": np.float64, "f32": np.float32}[element]
    arrays = [np.asarray(operand, dtype) for operand in operands]
    shape = spec(f"{element}[{size}]")
    signature = Signature((shape,) * len(arrays), (shape,))
    (found,) = run(assembly(text, rows=1), signature, arrays).results
    return np.asarray(found)


def pairs(numbers: list[float]) -> tuple[np.ndarray, np.ndarray]:
    left, right = np.meshgrid(numbers, numbers)
    return left.reshape(-1), right.reshape(-1)


def maximum(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """MLIR's: NaN if an operand is, and 0.0 is more than -0.0, on which numpy does not decide."""
    return np.where((x == 0) & (y == 0), np.where(np.signbit(x), y, x), np.maximum(x, y))


BINARY: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maximumf": maximum,
    "arith.minimumf": lambda x, y: -maximum(-x, -y),
    "arith.maxnumf": lambda x, y: np.where(np.isnan(x), y, np.where(np.isnan(y), x, maximum(x, y))),
}


@on_riscv64
@pytest.mark.parametrize("element", ["f64", "f32"])
@pytest.mark.parametrize("operation", BINARY)
def test_binary(operation: str, element: str) -> None:
    with np.errstate(all="ignore"):
        dtype = np.float64 if element == "f64" else np.float32
        x, y = (array.astype(dtype) for array in pairs(NUMBERS))
        found = elementwise(f"%r = {operation} %a0, %a1 : {{t}}", element, x, y)
        assert same(found, BINARY[operation](x, y))


COMPARISONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "oeq": np.equal,
    "ogt": np.greater,
    "oge": np.greater_equal,
    "olt": np.less,
    "ole": np.less_equal,
    "ugt": lambda x, y: ~np.less_equal(x, y),
    "uge": lambda x, y: ~np.less(x, y),
    "ult": lambda x, y: ~np.greater_equal(x, y),
    "ule": lambda x, y: ~np.greater(x, y),
    "une": np.not_equal,
}


@on_riscv64
@pytest.mark.parametrize("element", ["f64", "f32"])
def test_comparisons_and_selections(element: str) -> None:
    """All predicates in one number: the n-th adds 2^n."""
    x, y = pairs([-np.inf, -1.5, -0.0, 0.0, 1.5, np.inf, np.nan])
    lines = ["%one = arith.constant 1.0 : {t}", "%s0 = arith.constant 0.0 : {t}"]
    for number, predicate in enumerate(COMPARISONS):
        lines += [
            f"%w{number} = arith.constant {float(1 << number)} : {{t}}",
            f"%t{number} = arith.addf %s{number}, %w{number} : {{t}}",
            f"%k{number} = arith.cmpf {predicate}, %a0, %a1 : {{t}}",
            f"%s{number + 1} = arith.select %k{number}, %t{number}, %s{number} : {{t}}",
        ]
    lines.append(f"%r = arith.mulf %s{len(COMPARISONS)}, %one : {{t}}")
    wanted = sum(compare(x, y) * (1 << n) for n, compare in enumerate(COMPARISONS.values()))
    assert same(elementwise("\n".join(lines), element, x, y), np.asarray(wanted, np.float64))


INTEGER_COMPARISONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
    "ult": lambda x, y: x.astype(np.uint64) < y.astype(np.uint64),
    "ule": lambda x, y: x.astype(np.uint64) <= y.astype(np.uint64),
    "ugt": lambda x, y: x.astype(np.uint64) > y.astype(np.uint64),
    "uge": lambda x, y: x.astype(np.uint64) >= y.astype(np.uint64),
}


@on_riscv64
def test_comparisons_of_integers() -> None:
    """Of -3, ..., 3 with each other."""
    size = 7
    lines = ["%zero = arith.constant 0.0 : f64", "%three = arith.constant 3 : index"]
    lines += ["%x = arith.subi %i, %three : index", "%y = arith.subi %j, %three : index"]
    for number, predicate in enumerate(INTEGER_COMPARISONS):
        lines += [
            f"%w{number} = arith.constant {float(1 << number)} : f64",
            f"%k{number} = arith.cmpi {predicate}, %x, %y : index",
            f"%v{number} = arith.select %k{number}, %w{number}, %zero : f64",
            f"%s{number} = arith.addf %v{number}, {f'%s{number - 1}' if number else '%zero'} : f64",
        ]
    body = "\n".join(lines)
    text = f"""
    func.func @kernel(%p: memref<7x7xf64>) attributes {{xla.kernel}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant {size} : index
      scf.for %i = %c0 to %n step %c1 {{
        scf.for %j = %c0 to %n step %c1 {{
          {body}
          memref.store %s{len(INTEGER_COMPARISONS) - 1}, %p[%i, %j] : memref<7x7xf64>
        }}
      }}
      func.return
    }}
    """
    y, x = np.meshgrid(np.arange(-3, 4), np.arange(-3, 4))
    signature = Signature((), (spec("f64[7,7]"),))
    (found,) = run(assembly(text, rows=1), signature, []).results
    wanted = sum(compare(x, y) * (1 << n) for n, compare in enumerate(INTEGER_COMPARISONS.values()))
    assert same(found, np.asarray(wanted, np.float64))


@on_riscv64
@pytest.mark.parametrize("element", ["f64", "f32"])
def test_constants_and_unary_operations(element: str) -> None:
    numbers = np.asarray([-0.0, 4.0, np.inf, 2.25, np.nan])
    found = elementwise(
        """
        %c = arith.constant -0.0 : {t}
        %d = arith.constant 0.1 : {t}
        %s = math.sqrt %a0 : {t}
        %g = arith.negf %s : {t}
        %m = arith.addf %c, %g : {t}
        %b = math.absf %m : {t}
        %e = arith.divf %d, %c : {t}
        %f = arith.maxnumf %e, %b : {t}
        %r = math.fma %f, %d, %g : {t}
        """,
        element,
        numbers,
    )
    dtype = np.float64 if element == "f64" else np.float32
    root = np.sqrt(numbers.astype(dtype))
    tenth = dtype(0.1)
    size = np.where(np.isnan(root), dtype(-np.inf), np.abs(root))
    with np.errstate(invalid="ignore"):
        exact = size.astype(np.longdouble) * np.longdouble(tenth) - root.astype(np.longdouble)
        assert same(found, exact.astype(dtype))


SIZE = 30_000
AREA = 400


def nests(seed: int) -> Iterator[str]:
    """Nests that read anywhere in %x and write, each element once, to an area of their own in %y."""
    rng = np.random.default_rng(seed)
    trips = (0, 1, 2, 3, 4, 5, 7)
    for number in range(10):
        depth = int(rng.choice([1, 2, 2, 3]))
        counts = [int(rng.choice(trips)) for _ in range(depth)]
        lowers = [int(rng.integers(0, 3)) for _ in range(depth)]
        steps = [int(rng.integers(1, 4)) for _ in range(depth)]
        name = f"n{number}"
        lines: list[str] = []

        def constant(value: int, lines: list[str] = lines, name: str = name) -> str:
            found = f"%{name}_{len(lines)}"
            lines.append(f"{found} = arith.constant {value} : index")
            return found

        def place(
            factors: list[int], offset: int, lines: list[str] = lines, name: str = name
        ) -> str:
            total = constant(offset)
            for level, factor in enumerate(factors):
                by = constant(factor)
                product, added = f"%{name}_p{len(lines)}", f"%{name}_s{len(lines)}"
                lines.append(f"{product} = arith.muli %{name}_i{level}, {by} : index")
                lines.append(f"{added} = arith.addi {total}, {product} : index")
                total = added
            return total

        for level in range(depth):
            lower, step = lowers[level], steps[level]
            low, high = constant(lower), constant(lower + counts[level] * step)
            by = constant(step)
            lines.append(f"scf.for %{name}_i{level} = {low} to {high} step {by} {{")
        values: list[str] = []
        for each in range(3):
            factors = [int(rng.choice([0, 1, 2, 17, 300])) for _ in range(depth)]
            where = place(factors, int(rng.choice([0, 3, 600, 9_000])))
            lines.append(f"%{name}_v{each} = memref.load %x[{where}] : memref<{SIZE}xf64>")
            values.append(f"%{name}_v{each}")
        lines.append(f"%{name}_f = math.fma {', '.join(values)} : f64")
        strides, stride = [], 1
        for level in reversed(range(depth)):
            strides.append(stride)
            stride *= counts[level] * steps[level] + lowers[level]
        offset = number * AREA
        where = place(strides[::-1], offset)
        kept = f"%{name}_f"
        if rng.integers(0, 2):
            lines.append(f"%{name}_o = memref.load %y[{where}] : memref<{SIZE}xf64>")
            lines.append(f"%{name}_a = arith.addf %{name}_o, %{name}_f : f64")
            kept = f"%{name}_a"
        lines.append(f"memref.store {kept}, %y[{where}] : memref<{SIZE}xf64>")
        yield "\n".join(lines) + "\n" + "}" * depth


def kernel_of(nests: Iterable[str]) -> str:
    """A kernel that clears the areas and runs nests."""
    memref = f"memref<{SIZE}xf64>"
    return f"""
    func.func @kernel(%x: {memref}, %y: {memref}) attributes {{xla.kernel}} {{
      %zero = arith.constant 0.0 : f64
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %end = arith.constant {SIZE} : index
      scf.for %i = %c0 to %end step %c1 {{
        memref.store %zero, %y[%i] : {memref}
      }}
      {"".join(nests)}
      func.return
    }}
    """


def has_registers(nests: list[str], tile: RegisterTile) -> bool:
    try:
        lower(context(), parse(kernel_of(nests)), [tile])
    except XlaError:
        return False
    return True


@on_riscv64
@pytest.mark.parametrize(
    "tile", [RegisterTile(2, 4, 4, 10), RegisterTile(1, 3, 2, 1), TILES[-1]], ids=str
)
@pytest.mark.parametrize("seed", range(2))
def test_random_nests(seed: int, tile: RegisterTile) -> None:
    chosen: list[str] = []
    for nest in nests(seed):
        if has_registers([*chosen, nest], tile):
            chosen.append(nest)
    assert len(chosen) >= 3
    text = kernel_of(chosen)
    lowered, _ = lower(context(), parse(text), [tile])
    output = StringIO()
    print_assembly(lowered, output)
    x = np.random.default_rng(seed).integers(-9, 9, SIZE).astype(np.float64)
    array = spec(f"f64[{SIZE}]")
    (found,) = run(output.getvalue(), Signature((array,), (array,)), [x]).results
    as_entry = text.replace("@kernel", "@main").replace("xla.kernel", "xla.entry")
    (wanted,) = run_by_llvm(as_entry, [x], [f"f64[{SIZE}]"])
    assert same(found, wanted)
    assert np.count_nonzero(found) > 10


@on_riscv64
@pytest.mark.parametrize("steps", [1, 4])
def test_long_reduction_into_triangle(steps: int) -> None:
    """The bound of a reduction is the index of the loop around: no iteration, one, more."""
    text = """
    func.func @kernel(%a: memref<9x9xf64>, %b: memref<9xf64>) attributes {xla.kernel} {
      %zero = arith.constant 0.0 : f64
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      scf.for %i = %c0 to %c9 step %c1 {
        %sum = scf.for %k = %c0 to %i step %c1 iter_args(%s = %zero) -> (f64) {
          %x = memref.load %a[%i, %k] : memref<9x9xf64>
          %t = arith.addf %s, %x : f64
          scf.yield %t : f64
        }
        memref.store %sum, %b[%i] : memref<9xf64>
      }
      func.return
    }
    """
    a = np.arange(81.0).reshape(9, 9)
    signature = Signature((spec("f64[9,9]"),), (spec("f64[9]"),))
    (found,) = run(assembly(text, steps=steps), signature, [a]).results
    assert same(found, np.tril(a, -1).sum(axis=1))


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ("%r = math.exp %x : f64", "math.exp: xDSL's RISC-V backend has no lowering"),
        ("%r = arith.cmpf ueq, %x, %x : f64", "this predicate has no lowering"),
        ("%r = arith.truncf %x : f64 to f16", "no lowering"),
        ("%r = arith.addi %i, %i : i8", "found i8"),
        ("%r = memref.load %m[] : memref<i64>", "f32 or f64, found i64"),
        ("%r = memref.dim %d, %c : memref<?xf64>", "no lowering"),
        ("%r = memref.load %d[%c] : memref<?xf64>", "must be known, found memref"),
        ("func.call @g() : () -> ()", "func.call: .* no lowering"),
    ],
)
def test_errors(operations: str, message: str) -> None:
    """What has no lowering, or only a wrong one, is an error with its place."""
    text = f"""
    func.func @f(%x: f64, %i: i8, %m: memref<i64>, %d: memref<?xf64>, %c: index) {{
      {operations}
      func.return
    }}
    func.func private @g()
    """
    with pytest.raises(XlaError, match=message):
        require_lowerings(parse(text))


def test_modules_in_modules() -> None:
    """What is no function is not lowered, and has no assembly either."""
    nested = parse("builtin.module { builtin.module { func.func @f() { func.return } } }")
    with pytest.raises(XlaError, match=r"builtin\.module: there is no assembly for it"):
        XdslRiscvAssemblyTarget().emit(context(), nested, StringIO())


def test_registers_do_not_suffice() -> None:
    """Thirty values that live at the same time: there are twenty registers, and no spilling."""
    loads = "\n".join(f"%v{n} = memref.load %x[%c{n}] : memref<30xf64>" for n in range(30))
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(30))
    stores = "\n".join(f"memref.store %v{29 - n}, %y[%c{n}] : memref<30xf64>" for n in range(30))
    text = f"""
    func.func @kernel(%x: memref<30xf64>, %y: memref<30xf64>) attributes {{xla.kernel}} {{
      {constants}
      {loads}
      {stores}
      func.return
    }}
    """
    with pytest.raises(XlaError, match="registers do not suffice"):
        lower(context(), parse(text), [RegisterTile(1, 1, 1, 0)])
