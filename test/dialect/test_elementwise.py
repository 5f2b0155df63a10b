"""Which element types and sizes elementwise operations take, operation by operation."""

from typing import Any

import pytest
from small_programs import value
from sweeps import row
from violations import accepts, assert_violates

from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE
from xla_dialect.ops.elementwise import (
    CompareOp,
    ComplexOp,
    ElementwiseBinaryOp,
    ElementwiseUnaryOp,
)
from xla_dialect.types import ELEMENT_TYPES, ElementClass, ElementType, TokenType, spell

SIGNED, UNSIGNED, FLOAT = ElementClass.SIGNED, ElementClass.UNSIGNED, ElementClass.FLOAT
INT = ElementClass.INTEGER
COMPLEX, PRED, NUMBER = ElementClass.COMPLEX, ElementClass.PRED, ElementClass.NUMBER

ALLOWED: dict[str, ElementClass] = {
    # two operands
    "add": NUMBER | PRED,
    "subtract": NUMBER,
    "multiply": NUMBER | PRED,
    "divide": NUMBER,
    "power": NUMBER,
    "remainder": INT | FLOAT,
    "maximum": INT | FLOAT | PRED,
    "minimum": INT | FLOAT | PRED,
    "and": INT | PRED,
    "or": INT | PRED,
    "xor": INT | PRED,
    "shift-left": INT,
    "shift-right-arithmetic": INT,
    "shift-right-logical": INT,
    "atan2": FLOAT | COMPLEX,
    # one operand
    "abs": SIGNED | UNSIGNED | FLOAT | COMPLEX,
    "cbrt": FLOAT,
    "ceil": FLOAT,
    "count-leading-zeros": INT,
    "cosine": FLOAT | COMPLEX,
    "erf": FLOAT,
    "exponential": FLOAT | COMPLEX,
    "exponential-minus-one": FLOAT | COMPLEX,
    "floor": FLOAT,
    "imag": FLOAT | COMPLEX,
    "is-finite": FLOAT,
    "log": FLOAT | COMPLEX,
    "log-plus-one": FLOAT | COMPLEX,
    "logistic": FLOAT | COMPLEX,
    "negate": NUMBER,
    "not": INT | PRED,
    "popcnt": INT,
    "real": FLOAT | COMPLEX,
    "round-nearest-afz": FLOAT,
    "round-nearest-even": FLOAT,
    "rsqrt": FLOAT | COMPLEX,
    "sign": SIGNED | FLOAT | COMPLEX,
    "sine": FLOAT | COMPLEX,
    "sqrt": FLOAT | COMPLEX,
    "tan": FLOAT | COMPLEX,
    "tanh": FLOAT | COMPLEX,
    # those that XlaBuilder has no method for
    "acos": FLOAT | COMPLEX,
    "acosh": FLOAT | COMPLEX,
    "asin": FLOAT | COMPLEX,
    "asinh": FLOAT | COMPLEX,
    "atanh": FLOAT | COMPLEX,
    "cosh": FLOAT | COMPLEX,
    "sinh": FLOAT | COMPLEX,
    "mulhi": INT,
}
COMPONENTS = ("abs", "imag", "real")
"""Of a complex operand they give the component type."""


def operands(opcode: str, element: ElementType) -> list[Any]:
    count = len(BY_OPCODE[opcode].get_irdl_definition().operands)
    return [value(f"{element.name}[2,0]") for _ in range(count)]


def result_name(opcode: str, element: ElementType) -> str:
    if opcode == "is-finite":
        return "pred"
    if opcode in COMPONENTS:
        return {"c64": "f32", "c128": "f64"}.get(element.name, element.name)
    return element.name


@pytest.mark.parametrize("opcode", ALLOWED)
def test_element_types(opcode: str):
    op = BY_OPCODE[opcode]
    for element in ELEMENT_TYPES:
        given = operands(opcode, element)
        with row(element.name):
            if ALLOWED[opcode] & element.element_class:
                built = accepts(lambda given=given: op(*given))
                assert spell(built.results[0].type) == f"{result_name(opcode, element)}[2,0]"
            else:
                assert_violates(op.name, "C1", lambda given=given: op(*given))


def test_the_table_is_complete():
    """Every operation with one elementwise rule has its row."""
    bases = (ElementwiseUnaryOp, ElementwiseBinaryOp)
    elementwise = {opcode for opcode, op in BY_OPCODE.items() if issubclass(op, bases)}
    assert elementwise == {*ALLOWED, "complex"}


@pytest.mark.parametrize("opcode", [o for o in ALLOWED if len(operands(o, ELEMENT_TYPES[0])) == 2])
def test_operands_agree(opcode: str):
    op = BY_OPCODE[opcode]
    name, other = ("f32", "f64") if ALLOWED[opcode] & FLOAT else ("s32", "u32")
    one = value(f"{name}[2,3]")
    assert_violates(op.name, "C1", lambda: op(one, value(f"{other}[2,3]")))
    assert_violates(op.name, "C2", lambda: op(one, value(f"{name}[3,2]")))
    assert_violates(op.name, "C2", lambda: op(one, value(f"{name}[]")))
    assert_violates(op.name, "C2", lambda: op(one, value(f"{name}[1,3]")))


@pytest.mark.parametrize("opcode", ALLOWED)
def test_operands_are_arrays(opcode: str):
    op = BY_OPCODE[opcode]
    count = len(op.get_irdl_definition().operands)
    token = [value(TokenType()) for _ in range(count)]
    assert_violates(op.name, "C1", lambda: op(*token))


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=lambda element: element.name)
def test_complex(element: ElementType):
    def build() -> XlaOp:
        return ComplexOp(value(f"{element.name}[2]"), value(f"{element.name}[2]"))

    if element.name in ("f32", "f64"):
        result = {"f32": "c64[2]", "f64": "c128[2]"}[element.name]
        assert spell(accepts(build).results[0].type) == result
    else:
        assert_violates("xla.complex", "C1", build)


DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
ORDERS = (None, "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
FITTING = {
    SIGNED: (None, "SIGNED"),
    UNSIGNED: (None, "UNSIGNED"),
    PRED: (None, "UNSIGNED"),
    FLOAT: (None, "FLOAT", "TOTALORDER"),
    COMPLEX: (None, "FLOAT"),
}


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=lambda element: element.name)
def test_compare(element: ElementType):
    """All directions with all comparison types."""
    for direction in DIRECTIONS:
        for order in ORDERS:

            def build(direction: str = direction, order: str | None = order) -> XlaOp:
                x, y = value(f"{element.name}[2]"), value(f"{element.name}[2]")
                return CompareOp(x, y, direction=direction, comparison_type=order)

            if element.element_class == COMPLEX and direction not in ("EQ", "NE"):
                assert_violates("xla.compare", "C5", build)
            elif order not in FITTING[element.element_class]:
                assert_violates("xla.compare", "C6", build)
            else:
                assert spell(accepts(build).results[0].type) == "pred[2]"
