"""The formats of 4 and 8 bits, converted and computed by machine code, against the reference."""

import subprocess
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from loops_level import mlir_type, spell
from machine_code import AnyArray, MachineCode, lower
from small_programs import same

import lowerings
from lowerings.ir.float_formats import SMALL_FLOATS
from lowerings.loops.expand_small_floats import ExpandSmallFloatsPass
from lowerings.targets.llvm.machine import host
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.mlir_text import print_mlir
from xla_dialect.reference.rounding import rounded
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass

NAMES = [e.name for e in ELEMENT_TYPES if e.element_class == ElementClass.FLOAT and e.bits <= 8]
LANES = 16
LANES_OR_SCALAR = pytest.mark.parametrize("lanes", [None, LANES], ids=["scalar", "vector"])


def dtype(name: str) -> np.dtype[Any]:
    return numpy_dtype(BY_NAME[name].type)


def codes(name: str) -> AnyArray:
    """All values of a format; those of 4 bits as often as fills a vector."""
    count = 1 << BY_NAME[name].bits
    return np.resize(np.arange(count, dtype=np.uint8), max(count, LANES)).view(dtype(name))


def bits(array: AnyArray) -> AnyArray:
    return array.view(f"u{array.itemsize}")


def text_of(line: str, operands: tuple[str, ...], result: str, lanes: int | None, size: int) -> str:
    """A program that does `line`, from `%x0`, `%x1`, ... to `%y`, for every element."""

    def shaped(name: str) -> str:
        return f"vector<{lanes}x{mlir_type(name)}>" if lanes else mlir_type(name)

    names = [*operands, result]
    memrefs = [f"memref<{size}x{mlir_type(name)}>" for name in names]
    dialect = "vector" if lanes else "memref"
    suffix = [f", {shaped(name)}" if lanes else "" for name in names]
    loads = "\n".join(
        f"%x{n} = {dialect}.load %p{n}[%i] : {memrefs[n]}{suffix[n]}" for n in range(len(operands))
    )
    parameters = ", ".join(f"%p{n}: {memref}" for n, memref in enumerate(memrefs))
    return f"""
    func.func @main({parameters}) attributes {{xla.entry}} {{
      %zero = arith.constant 0 : index
      %size = arith.constant {size} : index
      %step = arith.constant {lanes or 1} : index
      scf.for %i = %zero to %size step %step {{
        {loads}
        {line.format(*map(shaped, operands), result=shaped(result))}
        {dialect}.store %y, %p{len(operands)}[%i] : {memrefs[-1]}{suffix[-1]}
      }}
      func.return
    }}
    """


@cache
def compiled(
    line: str, operands: tuple[str, ...], result: str, lanes: int | None, size: int
) -> MachineCode:
    text = text_of(line, operands, result, lanes, size)
    return MachineCode(lower(text, [ExpandSmallFloatsPass()]))


def apply(line: str, operands: tuple[AnyArray, ...], result: str, lanes: int | None) -> AnyArray:
    """What machine code computes for arrays of one size, padded to full vectors."""
    size = operands[0].size
    padded = size + -size % (lanes or 1)
    names = tuple(spell(operand).partition("[")[0] for operand in operands)
    found = np.empty(padded, dtype(result))
    arrays = [np.ascontiguousarray(np.resize(operand, padded)) for operand in operands]
    compiled(line, names, result, lanes, padded).run("main", [*arrays, found])
    return found[:size]


EXTEND = "%y = arith.extf %x0 : {0} to {result}"
ROUND = "%y = arith.truncf %x0 : {0} to {result}"


@LANES_OR_SCALAR
@pytest.mark.parametrize("name", NAMES)
def test_every_code_as_f32(name: str, lanes: int | None) -> None:
    found, expected = apply(EXTEND, (codes(name),), "f32", lanes), codes(name).astype(np.float32)
    nan = np.isnan(expected)
    assert np.array_equal(bits(found)[~nan], bits(expected)[~nan])
    assert np.isnan(found[nan]).all()
    # Quiet, so that a copy through a register of floats does not change it.
    assert (bits(found)[nan] & 0x40_0000).all()


def boundaries(name: str) -> AnyArray:
    """All numbers of a format, those halfway between two of them, and the neighbours of each."""
    values = codes(name).astype(np.float32)
    exact = np.unique(values[np.isfinite(values)])
    beyond = exact[-1] + (exact[-1] - exact[-2])
    if np.isfinite(beyond):
        exact = np.append(exact, [beyond, -beyond])
    exact = np.sort(exact).astype(np.float64)
    between = np.concatenate([exact, (exact[1:] + exact[:-1]) / 2]).astype(np.float32)
    above, below = (np.nextafter(between, np.float32(limit)) for limit in (np.inf, -np.inf))
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45, 3e38, -3e38])
    return np.concatenate([between, above, below, special.astype(np.float32)])


def random_floats(count: int) -> AnyArray:
    """Floats of random bits."""
    source = np.random.default_rng(0)
    return source.integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)


def check_rounding(values: AnyArray, name: str, lanes: int | None) -> None:
    """Equal bits; a NaN is a NaN."""
    with np.errstate(all="ignore"):
        expected = rounded(values.astype(np.float64), dtype(name))
    same(apply(ROUND, (values,), name, lanes), expected)


@LANES_OR_SCALAR
@pytest.mark.parametrize("name", NAMES)
def test_rounding_of_f32(name: str, lanes: int | None) -> None:
    values = np.concatenate([boundaries(name), random_floats(1 << 14)])
    check_rounding(values, name, lanes)
    # Nothing that the format has changes when it is rounded.
    exact = codes(name).astype(np.float32)
    same(apply(ROUND, (exact,), name, lanes), rounded(exact, dtype(name)))


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_rounding_of_every_f32(name: str) -> None:
    size = 1 << 22
    for start in range(0, 1 << 32, size):
        values = np.arange(start, start + size, dtype=np.uint64).astype(np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            expected = rounded(values, dtype(name))
        assert np.array_equal(bits(apply(ROUND, (values,), name, LANES)), bits(expected))


@pytest.mark.parametrize("source", ["f64", "f16", "bf16"])
@pytest.mark.parametrize("name", NAMES)
def test_rounding_of_other_floats(name: str, source: str) -> None:
    values = boundaries(name).astype(np.float64)
    # Just beside a tie, where rounding to f32 first would lose which side it was.
    near = np.concatenate([values, values * (1 + 2.0**-50), values * (1 - 2.0**-50)])
    with np.errstate(all="ignore"):
        check_rounding(near.astype(dtype(source)), name, LANES)


@pytest.mark.parametrize("target", ["f64", "f16", "bf16"])
@pytest.mark.parametrize("name", NAMES)
def test_every_code_as_other_floats(name: str, target: str) -> None:
    with np.errstate(all="ignore"):
        expected = codes(name).astype(np.float32).astype(dtype(target))
    same(apply(EXTEND, (codes(name),), target, LANES), expected)


@pytest.mark.parametrize("name", [name for name in NAMES if BY_NAME[name].bits == 8])
def test_small_floats_as_smaller_ones(name: str) -> None:
    values = codes(name)
    expected = rounded(values.astype(np.float32), dtype("f4e2m1fn"))
    same(apply(ROUND, (values,), "f4e2m1fn", LANES), expected)
    wide = codes("f4e2m1fn")
    with np.errstate(all="ignore"):
        same(apply(EXTEND, (wide,), name, LANES), rounded(wide.astype(np.float32), dtype(name)))


ARITHMETIC: dict[str, Callable[..., AnyArray]] = {
    "%y = arith.addf %x0, %x1 : {0}": np.add,
    "%y = arith.mulf %x0, %x1 : {0}": np.multiply,
    "%y = arith.divf %x0, %x1 : {0}": np.divide,
    "%y = arith.maximumf %x0, %x1 : {0}": np.maximum,
    "%y = arith.negf %x0 : {0}": lambda x, _: -x,
    "%y = math.absf %x0 : {0}": lambda x, _: np.abs(x),
    "%y = math.sqrt %x0 : {0}": lambda x, _: np.sqrt(x),
}


@LANES_OR_SCALAR
@pytest.mark.parametrize("name", NAMES)
def test_arithmetic(name: str, lanes: int | None) -> None:
    first = codes(name)
    operands = (first, np.random.default_rng(0).permutation(first))
    for line, function in ARITHMETIC.items():
        with np.errstate(all="ignore"):
            wide = function(*(x.astype(np.float32) for x in operands))
            expected = rounded(wide, dtype(name))
        same(apply(line, operands, name, lanes), expected)


@LANES_OR_SCALAR
@pytest.mark.parametrize("name", ["f8e4m3fn", "f8e8m0fnu", "f4e2m1fn"])
def test_integers_and_truth_values(name: str, lanes: int | None) -> None:
    values = codes(name)
    wide = values.astype(np.float32)
    with np.errstate(all="ignore"):
        found = apply("%y = arith.cmpf olt, %x0, %x1 : {0}", (values, values[::-1]), "pred", lanes)
        assert np.array_equal(found, wide < wide[::-1])
        small = values[np.abs(wide) < 1e6]
        found = apply("%y = arith.fptosi %x0 : {0} to {result}", (small,), "s32", lanes)
        assert np.array_equal(found, small.astype(np.float32).astype(np.int32))
        numbers = np.arange(-256, 256).astype(np.int16)
        found = apply("%y = arith.sitofp %x0 : {0} to {result}", (numbers,), name, lanes)
        same(found, rounded(numbers.astype(np.float32), dtype(name)))


def test_constants_and_choices_are_codes() -> None:
    line = """
      %k = arith.constant {constant} : {{0}}
      %c = arith.cmpf une, %x0, %x0 : {{0}}
      %y = arith.select %c, %k, %x0 : {{0}}
    """
    for name in ("f8e5m2", "f8e4m3fn"):
        found = apply(line.format(constant="-1.5"), (codes(name),), name, None)
        with np.errstate(all="ignore"):
            values = codes(name).astype(np.float32)
            same(found, np.where(np.isnan(values), np.float32(-1.5), values).astype(dtype(name)))


def test_the_table_has_every_format() -> None:
    assert {type(BY_NAME[name].type) for name in NAMES} == SMALL_FLOATS.keys()
    for name in NAMES:
        row, values = SMALL_FLOATS[type(BY_NAME[name].type)], codes(name).astype(np.float32)
        magnitudes = values[: row.sign]
        assert row.bits == BY_NAME[name].bits
        assert magnitudes[row.largest] == np.max(magnitudes[np.isfinite(magnitudes)])
        assert row.infinity is None or np.isinf(values[row.infinity])
        assert row.nan is None or np.isnan(values[row.nan])
        assert (row.nan is None) == (not np.isnan(values).any())


@pytest.mark.mlir_opt
@pytest.mark.parametrize("name", NAMES)
def test_mlir_accepts_the_expansions(name: str, mlir_opt_path: str) -> None:
    lines = [(ROUND, "f32", name), (EXTEND, name, "f32"), (ROUND, "f64", name)]
    for line, source, target in lines:
        for lanes in (None, LANES):
            module = lower(text_of(line, (source,), target, lanes, 64), [ExpandSmallFloatsPass()])
            subprocess.run(
                [mlir_opt_path],
                input=print_mlir(module),
                text=True,
                check=True,
                capture_output=True,
            )


@pytest.mark.skipif("x86_64" not in host().triple, reason="others have instructions for it")
def test_f16_where_no_instruction_converts_it() -> None:
    """LLVM would call functions that this process need not have; 3e-3 squared is subnormal."""
    text = "ENTRY m { x = f16[3] parameter(0) y = f16[3] multiply(x, x) ROOT z = f16[3] add(y, x) }"
    x = np.array([3e-3, -0.0, 200.5], np.float16)
    (found,) = lowerings.compile(text, target="host{features=-avx}")(x)
    np.testing.assert_array_equal(found, x * x + x)
