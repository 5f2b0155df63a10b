"""Literals that are printed have the elements that are read, bit by bit, here and in XLA."""

import re
from typing import Any

import numpy as np
import pytest
from same_modules import printed_by_xla
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr

from xla_dialect.literals.arrays import from_numpy, numpy_dtype, to_numpy
from xla_dialect.ops.creation import literal_type
from xla_dialect.spelling import NoHloSpelling
from xla_dialect.text.literals import MAX_SPLAT_ELEMENTS, parse_literal, spell_literal
from xla_dialect.text.shapes import spell_type
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, array

AnyArray = np.ndarray[Any, np.dtype[Any]]

RANDOM = 2_000
"""How many random bit patterns are tried of types with more than 16 bits."""


def elements(name: str) -> AnyArray:
    """Values of an element type: all of them, or where these are too many, of every sort."""
    row = BY_NAME[name]
    dtype = numpy_dtype(row.type)
    if row.element_class is ElementClass.PRED:
        return np.array([False, True])
    if row.element_class is ElementClass.COMPLEX:
        component = elements({"c64": "f32", "c128": "f64"}[name])
        return np.stack([component, component[::-1]], 1).reshape(-1).view(dtype)
    if row.bits <= 16:
        patterns = np.arange(1 << row.bits, dtype=np.uint16)
        return patterns.astype(f"u{dtype.itemsize}").view(dtype)
    bits = np.dtype(f"u{dtype.itemsize}")
    random = np.random.default_rng(0).integers(0, np.iinfo(bits).max, RANDOM, bits, endpoint=True)
    few = np.arange(40, dtype=bits)
    ends = [few, ~few, few + bits.type(1 << row.bits - 1), few << bits.type(row.bits - 8)]
    simple = np.round(np.linspace(-3, 3, 97), 3).astype(dtype)
    return np.concatenate([np.concatenate([random, *ends]).view(dtype), simple])


def bits_of(literal: Any) -> list[bytes]:
    """The element bytes of every array in a literal; sub-byte types have a byte each."""
    if isinstance(literal, ArrayAttr):
        return [part for element in literal.data for part in bits_of(element)]
    assert isinstance(literal, DenseIntOrFPElementsAttr)
    return [literal.data.data]


NAMES = [row.name for row in ELEMENT_TYPES]


@pytest.mark.parametrize("name", NAMES)
def test_elements_survive(name: str) -> None:
    """But for the NaNs of types that have several and no spelling to tell them apart."""
    literal = from_numpy(elements(name))
    type_ = literal_type(literal)
    again = parse_literal(spell_literal(literal), type_)
    found: Any = to_numpy(again)
    expected: Any = to_numpy(literal)
    if BY_NAME[name].element_class not in (ElementClass.FLOAT, ElementClass.COMPLEX):
        assert bits_of(again) == bits_of(literal)
        return
    kind = {"c64": "f32", "c128": "f64"}.get(name, name)
    parts = [a.view(numpy_dtype(BY_NAME[kind].type)) for a in (found, expected)]
    unsigned = f"u{parts[0].dtype.itemsize}"
    differs = parts[0].view(unsigned) != parts[1].view(unsigned)
    assert not differs.any(), parts[1][differs][:5]


@pytest.mark.jax
@pytest.mark.parametrize("name", NAMES)
def test_xla_reads_the_elements(name: str) -> None:
    """XLA prints what it has read: the same digits, but for two numbers that it does not reread."""
    if BY_NAME[name].element_class is ElementClass.COMPLEX:
        values: Any = elements(name)
        # XLA adds the imaginary part times i, which makes more NaNs and loses the signs of zeros.
        literal = from_numpy(values[np.isfinite(values) & (values.real != 0) & (values.imag != 0)])
    else:
        literal = from_numpy(elements(name))
    ours = spell_literal(literal)
    text = f"ENTRY e {{\n  ROOT c = {spell_type(literal_type(literal))} constant({ours})\n}}\n"
    (line,) = [line for line in printed_by_xla(text).splitlines() if "ROOT" in line]
    theirs = line[line.index("constant(") + len("constant(") : -1]
    for ours_of_number, theirs_of_number in (
        (r"-0\.0(?![0-9])", "-0"),
        ("5.87747175e-39", "5.9e-39"),
    ):
        ours = re.sub(ours_of_number, theirs_of_number, ours)
    assert theirs == ours


def test_the_sign_of_zero_is_written() -> None:
    """XLA reads `-0` as the integer 0."""
    assert spell_literal(from_numpy(np.array([-0.0, 0.0], np.float32))) == "{-0.0, 0}"


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ((), "7"),
        ((0,), "{}"),
        ((2,), "{7, 7}"),
        ((2, 2), "{ { 7, 7 }, { 7, 7 } }"),
        ((2, 1), "{ {7}, {7} }"),
        ((2, 0), "{ {}, {} }"),
        ((0, 2), "{  }"),
        ((1, 2, 1), "{ { {7}, {7} } }"),
        ((2, 1, 1, 1), "{ { /*i0=0*/ { /*i1=0*/ {7} } }, { /*i0=1*/ { /*i1=0*/ {7} } } }"),
    ],
)
def test_braces(sizes: tuple[int, ...], text: str) -> None:
    assert spell_literal(from_numpy(np.full(sizes, 7, np.int32))) == text


def test_tuples() -> None:
    parts = [from_numpy(np.array([1, 2], np.int8)), ArrayAttr([]), from_numpy(np.array(True))]
    assert spell_literal(ArrayAttr(parts)) == "( {1, 2}, (  ), true )"


def dense(sizes: tuple[int, ...], literal: Any) -> Any:
    """The elements of another literal as an array of f32 of these sizes."""
    type_: Any = array(BY_NAME["f32"].type, sizes)
    return DenseIntOrFPElementsAttr(type_, literal.data)


def test_one_element_for_all() -> None:
    """A splat may be stored as one element."""
    plain = from_numpy(np.array(0.5, np.float32))
    splat = dense((2, 2), plain)
    assert spell_literal(splat) == "{ { 0.5, 0.5 }, { 0.5, 0.5 } }"
    huge = dense((1 << 40,), plain)
    with pytest.raises(NoHloSpelling, match="equal elements"):
        spell_literal(huge)
    assert MAX_SPLAT_ELEMENTS < 1 << 40


def test_empty_rows_have_a_bound() -> None:
    empty = dense((1 << 40, 0), from_numpy(np.zeros(0, np.float32)))
    with pytest.raises(NoHloSpelling, match="empty rows"):
        spell_literal(empty)
