"""Steps that compute element by element."""

from collections.abc import Callable, Sequence

from differential.draft import Draft, row_of
from xla_dialect.builder import XlaValue
from xla_dialect.types import BY_NAME, ElementClass

Step = Callable[[Draft], Sequence[XlaValue] | XlaValue]

NUMBER, REAL, FLOAT = ElementClass.NUMBER, ElementClass.REAL, ElementClass.FLOAT
INTEGER, COMPLEX, ANY = ElementClass.INTEGER, ElementClass.COMPLEX, ElementClass.ANY
BITS = INTEGER | ElementClass.PRED

UNARY: dict[ElementClass, tuple[str, ...]] = {
    NUMBER: ("neg",),
    ElementClass.SIGNED | FLOAT | COMPLEX: ("abs",),
    ElementClass.SIGNED | FLOAT: ("sign",),
    FLOAT: (
        *("exp", "log", "sin", "cos", "tanh", "sqrt", "rsqrt", "cbrt", "expm1", "log1p"),
        *("logistic", "floor", "ceil", "round", "round_nearest_even", "is_finite", "tan", "erf"),
    ),
    COMPLEX: ("exp", "log", "sin", "cos", "tanh", "sqrt", "real", "imag", "expm1"),
    INTEGER: ("population_count", "clz"),
    BITS: ("not_",),
}
BINARY: dict[ElementClass, tuple[str, ...]] = {
    NUMBER: ("add", "sub", "mul", "add", "sub", "mul"),
    FLOAT | COMPLEX: ("div",),
    FLOAT: ("rem", "atan2", "pow"),
    REAL: ("max", "min"),
    INTEGER: ("div", "rem", "shift_left", "shift_right_logical", "shift_right_arithmetic"),
    BITS: ("and_", "or_", "xor"),
    ANY: ("eq", "ne"),
    REAL | ElementClass.PRED: ("lt", "le", "gt", "ge"),
}


def methods(table: dict[ElementClass, tuple[str, ...]], value: XlaValue) -> list[str]:
    """The methods for the element type of a value."""
    found = row_of(value).element_class
    return [name for classes, names in table.items() if classes & found for name in names]


def unary(d: Draft) -> XlaValue:
    x = d.pick()
    return getattr(d.b, d.choose(methods(UNARY, x)))(x)


def binary(d: Draft) -> XlaValue:
    x = d.pick()
    y = d.beside(x)
    return getattr(d.b, d.choose(methods(BINARY, x)))(x, y)


def with_scalar(d: Draft) -> XlaValue:
    x = d.of(NUMBER)
    name = d.choose(("add", "mul", "sub"))
    return getattr(d.b, name)(x, d.integer(0, 1 if row_of(x).bits < 4 else 3))


def clamp(d: Draft) -> XlaValue:
    x = d.of(REAL)
    return d.b.clamp(d.beside(x), x, d.beside(x))


def select(d: Draft) -> XlaValue:
    p = d.of(ElementClass.PRED)
    x = d.parameter(d.choose(d.names), p.shape)
    return d.b.select(p, x, d.beside(x))


def select_by_comparison(d: Draft) -> XlaValue:
    x = d.of(REAL)
    y = d.beside(x)
    return d.b.select(d.b.lt(x, y), x, y)


def convert(d: Draft) -> XlaValue:
    x = d.pick()
    if row_of(x).element_class == COMPLEX:
        return d.b.convert_element_type(x, d.choose(("c64", "c128")))
    return d.b.convert_element_type(x, d.choose(d.names))


def bitcast(d: Draft) -> XlaValue:
    x = d.pick(lambda v: row_of(v).bits >= 8 and bool(row_of(v).element_class & REAL))
    names = [n for n in d.names if BY_NAME[n].element_class & REAL]
    return d.b.bitcast_convert_type(
        x, d.choose([n for n in names if BY_NAME[n].bits == row_of(x).bits])
    )


def reduce_precision(d: Draft) -> XlaValue:
    x = d.pick(lambda v: row_of(v).name in ("f32", "f64", "bf16", "f16"))
    return d.b.reduce_precision(x, d.integer(3, 8), d.integer(1, 10))


def complex_of_parts(d: Draft) -> XlaValue:
    x = d.pick(lambda v: row_of(v).name in ("f32", "f64"))
    return d.b.complex(x, d.beside(x))


def iota(d: Draft) -> XlaValue:
    sizes = d.sizes(1)
    name = d.choose([n for n in d.names if n != "pred"])
    return d.b.iota(f"{name}[{','.join(map(str, sizes))}]", d.integer(0, len(sizes) - 1))


def constant(d: Draft) -> XlaValue:
    x = d.of(REAL)
    numbers = [d.integer(0, 3 if row_of(x).bits > 2 else 1) for _ in range(d.integer(1, 4))]
    return d.b.constant(numbers, row_of(x).name)


STEPS: tuple[Step, ...] = (
    unary, unary, unary, binary, binary, binary, with_scalar, clamp, select, select_by_comparison,
    convert, convert, bitcast, reduce_precision, complex_of_parts, iota, constant,
)  # fmt: skip
