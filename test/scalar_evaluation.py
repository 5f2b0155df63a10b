"""
Scalar operations of the tensors level in numpy, on arrays of any shape.

It is strict where the machine would be free: a division by zero, a shift by the width or a
conversion out of range is an AssertionError.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects import builtin
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import ComplexType, IndexType, IntegerType

from xla_dialect.reference.rounding import rounded

Array = np.ndarray

FLOATS: dict[type, Any] = {
    builtin.Float64Type: np.float64,
    builtin.Float32Type: np.float32,
    builtin.Float16Type: np.float16,
    builtin.BFloat16Type: ml_dtypes.bfloat16,
    builtin.Float8E4M3FNType: ml_dtypes.float8_e4m3fn,
    builtin.Float8E5M2Type: ml_dtypes.float8_e5m2,
    builtin.Float8E4M3Type: ml_dtypes.float8_e4m3,
    builtin.Float8E3M4Type: ml_dtypes.float8_e3m4,
    builtin.Float8E4M3B11FNUZType: ml_dtypes.float8_e4m3b11fnuz,
    builtin.Float8E4M3FNUZType: ml_dtypes.float8_e4m3fnuz,
    builtin.Float8E5M2FNUZType: ml_dtypes.float8_e5m2fnuz,
    builtin.Float8E8M0FNUType: ml_dtypes.float8_e8m0fnu,
    builtin.Float4E2M1FNType: ml_dtypes.float4_e2m1fn,
    builtin.Float6E2M3FNType: ml_dtypes.float6_e2m3fn,
    builtin.Float6E3M2FNType: ml_dtypes.float6_e3m2fn,
}
INTEGERS = {1: np.bool_, 8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


def dtype_of(type_: Any) -> np.dtype:
    """The dtype that holds scalars of a type; integers of unusual widths are Python integers."""
    if isinstance(type_, IndexType):
        return np.dtype(np.int64)
    if isinstance(type_, IntegerType):
        return np.dtype(INTEGERS.get(type_.width.data, object))
    if isinstance(type_, ComplexType):
        is_double = isinstance(type_.element_type, builtin.Float64Type)
        return np.dtype(np.complex128 if is_double else np.complex64)
    return np.dtype(FLOATS[type(type_)])


def width_of(type_: Any) -> int:
    return 64 if isinstance(type_, IndexType) else type_.width.data


def wrap(values: Any, type_: Any) -> Array:
    """Integers of any size as signed integers of a width."""
    width = width_of(type_)
    values = np.asarray(values)
    if width == 1:
        return np.asarray(objects(values) & 1).astype(np.bool_)
    half = 1 << (width - 1)
    values = ((objects(values) + half) & ((1 << width) - 1)) - half
    return objects(values).astype(dtype_of(type_))


def objects(values: Any) -> Array:
    """An array of Python integers, which do not wrap."""
    return np.asarray(np.asarray(values).astype(object), dtype=object)


def unsigned(values: Any, type_: Any) -> Array:
    """Signless integers as Python integers from 0."""
    return objects(objects(values) & ((1 << width_of(type_)) - 1))


def signed(values: Any) -> Array:
    """Signless integers as signed Python integers; i1 is 0 or -1."""
    values = np.asarray(values)
    return objects(-values.astype(int) if values.dtype == bool else values)


def float_binary(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(op: Any, x: Array, y: Array) -> Array:
        assert dtype_of(op.results[0].type) in (np.float32, np.float64)
        return np.asarray(function(x, y)).astype(dtype_of(op.results[0].type))

    return run


def float_unary(function: Callable[..., Any]) -> Callable[..., Any]:
    """Computed in f64 and rounded to f32."""

    def run(op: Any, x: Array) -> Array:
        assert dtype_of(op.results[0].type) in (np.float32, np.float64)
        return np.asarray(function(np.asarray(x, np.float64))).astype(dtype_of(op.results[0].type))

    return run


def integer(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda op, *xs: wrap(function(*map(signed, xs)), op.results[0].type)


def of_unsigned(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(op: Any, *xs: Array) -> Array:
        types = [o.type for o in op.operands]
        return wrap(
            function(*(unsigned(x, t) for x, t in zip(xs, types, strict=True))),
            op.results[0].type,
        )

    return run


def shift(function: Callable[..., Any], is_signed: bool) -> Callable[..., Any]:
    def run(op: Any, x: Array, amount: Array) -> Array:
        type_ = op.results[0].type
        amounts = unsigned(amount, type_)
        assert np.all(amounts < width_of(type_))
        return wrap(function(signed(x) if is_signed else unsigned(x, type_), amounts), type_)

    return run


def quotient(x: Array, y: Array) -> Array:
    assert np.all(y != 0), "division by zero"
    magnitude = abs(x) // abs(y)
    return np.where((x < 0) != (y < 0), -magnitude, magnitude)


def divide_signed(op: Any, x: Array, y: Array) -> Array:
    type_ = op.results[0].type
    least = -(1 << (width_of(type_) - 1))
    assert not np.any((signed(x) == least) & (signed(y) == -1)), "quotient overflows"
    return wrap(quotient(signed(x), signed(y)), type_)


def remainder_signed(op: Any, x: Array, y: Array) -> Array:
    divide_signed(op, x, y)
    return wrap(signed(x) - quotient(signed(x), signed(y)) * signed(y), op.results[0].type)


def compare_integers(op: Any, x: Array, y: Array) -> Array:
    word = CMPI_COMPARISON_OPERATIONS[op.properties["predicate"].value.data]
    type_ = op.operands[0].type
    if word.startswith("u"):
        x, y = unsigned(x, type_), unsigned(y, type_)
    elif word not in ("eq", "ne"):
        x, y = signed(x), signed(y)
    return np.asarray(RELATIONS[word[-2:]](x, y), dtype=bool)


RELATIONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def compare_floats(op: Any, x: Array, y: Array) -> Array:
    word = CMPF_COMPARISON_OPERATIONS[op.properties["predicate"].value.data]
    either_nan = np.isnan(x) | np.isnan(y)
    if word in ("ord", "uno"):
        return either_nan == (word == "uno")
    relation = RELATIONS[word[1:]](x, y)
    return (relation | either_nan) if word[0] == "u" else (relation & ~either_nan)


def maximum(x: Array, y: Array) -> Array:
    larger = np.maximum(x, y)
    return np.where((x == 0) & (y == 0), np.where(np.signbit(x), y, x), larger)


def minimum(x: Array, y: Array) -> Array:
    smaller = np.minimum(x, y)
    return np.where((x == 0) & (y == 0), np.where(np.signbit(x), x, y), smaller)


def to_integer(is_signed: bool) -> Callable[..., Any]:
    def run(op: Any, x: Array) -> Array:
        type_ = op.results[0].type
        width = width_of(type_)
        low, high = (-(1 << (width - 1)), 1 << (width - 1)) if is_signed else (0, 1 << width)
        truncated = np.trunc(np.asarray(x, np.float64))
        assert np.all((truncated >= low) & (truncated < high)), "float out of range"
        return wrap(np.asarray(np.vectorize(int, otypes=[object])(truncated)), type_)

    return run


def from_integer(is_signed: bool) -> Callable[..., Any]:
    def run(op: Any, x: Array) -> Array:
        values = signed(x) if is_signed else unsigned(x, op.operands[0].type)
        target = dtype_of(op.results[0].type)
        assert target in (np.float32, np.float64)
        # numpy rounds 64-bit integers to f32 once.
        container = np.int64 if is_signed else np.uint64
        return np.asarray(values, dtype=object).astype(container).astype(target)

    return run


def bits_of(values: Array) -> Array:
    """The bits of floats as signed integers of their width."""
    return np.asarray(values).view(f"i{np.asarray(values).dtype.itemsize}")


def bitcast(op: Any, x: Array) -> Array:
    source, target = op.operands[0].type, op.results[0].type
    x = np.asarray(x)
    if isinstance(target, IntegerType):
        if isinstance(source, IntegerType):
            return x
        return wrap(bits_of(x), target)
    carrier = np.dtype(f"i{dtype_of(target).itemsize}")
    if isinstance(source, IntegerType):
        x = unsigned(x, source).astype(np.dtype(f"u{carrier.itemsize}"))
    return x.view(dtype_of(target))


def constant(op: Any) -> Array:
    value = op.properties["value"]
    type_ = op.results[0].type
    if isinstance(value, builtin.DenseIntOrFPElementsAttr):
        element_type = type_.element_type
        dtype = dtype_of(element_type)
        if dtype.kind == "O":
            values = np.array([int(v) for v in value.get_values()], dtype=object)
            return wrap(values, element_type).reshape(type_.get_shape())
        stored = np.uint8 if dtype.kind == "b" else dtype
        flat = np.frombuffer(value.data.data, dtype=stored)
        return flat.astype(dtype).reshape(type_.get_shape())
    if isinstance(value, builtin.ArrayAttr):
        real, imaginary = (part.value.data for part in value.data)
        return np.asarray(complex(real, imaginary), dtype=dtype_of(type_))
    if isinstance(value, builtin.FloatAttr):
        return np.asarray(value.value.data, dtype=dtype_of(type_))
    return wrap(np.asarray(value.value.data, dtype=object), type_)


def create_complex(op: Any, real: Array, imaginary: Array) -> Array:
    real, imaginary = np.broadcast_arrays(real, imaginary)
    result = np.empty(real.shape, dtype_of(op.results[0].type))
    result.real, result.imag = real, imaginary
    return result


def convert(op: Any, x: Array) -> Array:
    return np.asarray(x).astype(dtype_of(op.results[0].type))


@np.vectorize
def multiply_add(x: float, y: float, z: float) -> float:
    """`x * y + z`, rounded once to f64."""
    if not all(map(math.isfinite, (x, y, z))):
        return x * y + z
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def truncate(op: Any, x: Array) -> Array:
    return rounded(np.asarray(x), dtype_of(op.results[0].type))


def round_afz(x: Array) -> Array:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole)


def leading_zeros(op: Any, x: Array) -> Array:
    type_ = op.results[0].type
    lengths = np.vectorize(lambda v: v.bit_length(), otypes=[object])(unsigned(x, type_))
    return wrap(width_of(type_) - lengths, type_)


def population(op: Any, x: Array) -> Array:
    type_ = op.results[0].type
    return wrap(np.vectorize(lambda v: v.bit_count(), otypes=[object])(unsigned(x, type_)), type_)


def extract(op: Any, source: Array, *indices: Array) -> Array:
    for index, size in zip(indices, source.shape, strict=True):
        assert np.all((np.asarray(index) >= 0) & (np.asarray(index) < size)), "out of bounds"
    return np.asarray(source[tuple(np.asarray(i, np.int64) for i in indices)])


def same_sign_bit(op: Any, x: Array) -> Array:
    return np.negative(x)


SCALARS: dict[str, Callable[..., Any]] = {
    "arith.constant": constant,
    "arith.addf": float_binary(np.add),
    "arith.subf": float_binary(np.subtract),
    "arith.mulf": float_binary(np.multiply),
    "arith.divf": float_binary(np.divide),
    "arith.remf": float_binary(np.fmod),
    "arith.maximumf": float_binary(maximum),
    "arith.minimumf": float_binary(minimum),
    "arith.negf": same_sign_bit,
    "arith.addi": integer(lambda x, y: x + y),
    "arith.subi": integer(lambda x, y: x - y),
    "arith.muli": integer(lambda x, y: x * y),
    "arith.andi": integer(lambda x, y: x & y),
    "arith.ori": integer(lambda x, y: x | y),
    "arith.xori": integer(lambda x, y: x ^ y),
    "arith.maxsi": integer(np.maximum),
    "arith.minsi": integer(np.minimum),
    "arith.maxui": of_unsigned(np.maximum),
    "arith.minui": of_unsigned(np.minimum),
    "arith.divsi": divide_signed,
    "arith.remsi": remainder_signed,
    "arith.divui": of_unsigned(quotient),
    "arith.remui": of_unsigned(lambda x, y: x - quotient(x, y) * y),
    "arith.shli": shift(lambda x, y: x << y, False),
    "arith.shrui": shift(lambda x, y: x >> y, False),
    "arith.shrsi": shift(lambda x, y: x >> y, True),
    "arith.cmpi": compare_integers,
    "arith.cmpf": compare_floats,
    "arith.select": lambda _op, c, x, y: np.where(c, x, y),
    "arith.bitcast": bitcast,
    "arith.extf": convert,
    "arith.truncf": truncate,
    "arith.extsi": integer(lambda x: x),
    "arith.extui": of_unsigned(lambda x: x),
    "arith.trunci": integer(lambda x: x),
    "arith.index_cast": integer(lambda x: x),
    "arith.index_castui": of_unsigned(lambda x: x),
    "arith.fptosi": to_integer(True),
    "arith.fptoui": to_integer(False),
    "arith.sitofp": from_integer(True),
    "arith.uitofp": from_integer(False),
    "math.absf": lambda _op, x: np.abs(x),
    "math.atan2": float_binary(lambda x, y: np.arctan2(np.float64(x), np.float64(y))),
    "math.powf": float_binary(lambda x, y: np.power(np.float64(x), np.float64(y))),
    "math.copysign": float_binary(np.copysign),
    "math.cbrt": float_unary(np.cbrt),
    "math.ceil": float_unary(np.ceil),
    "math.cos": float_unary(np.cos),
    "math.erf": float_unary(np.vectorize(math.erf, otypes=[float])),
    "math.exp": float_unary(np.exp),
    "math.expm1": float_unary(np.expm1),
    "math.floor": float_unary(np.floor),
    "math.fma": lambda _op, *factors: multiply_add(*factors),
    "math.log": float_unary(np.log),
    "math.log1p": float_unary(np.log1p),
    "math.round": float_unary(round_afz),
    "math.roundeven": float_unary(np.rint),
    "math.rsqrt": float_unary(lambda x: 1 / np.sqrt(x)),
    "math.sin": float_unary(np.sin),
    "math.sqrt": float_unary(np.sqrt),
    "math.tan": float_unary(np.tan),
    "math.tanh": float_unary(np.tanh),
    "math.trunc": float_unary(np.trunc),
    "math.ctlz": leading_zeros,
    "math.ctpop": population,
    "complex.constant": constant,
    "complex.create": create_complex,
    "complex.re": lambda _op, z: np.real(z),
    "complex.im": lambda _op, z: np.imag(z),
    "tensor.extract": extract,
}
