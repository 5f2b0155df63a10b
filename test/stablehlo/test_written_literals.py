"""Literals that we write are, for jaxlib, the same bits; every element type, short and long."""

from typing import Any

import numpy as np
import pytest
from stablehlo_oracle import printed
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from xla_dialect.ops.creation import ConstantOp
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import StableHloPrintError, print_stablehlo
from xla_dialect.types import ELEMENT_TYPES, ElementClass, ElementType

pytestmark = pytest.mark.jax


def random_bytes(element: ElementType, count: int) -> bytes:
    """Elements with any bits; integers of less than 8 bits are kept one to a byte, sign extended."""
    random = np.random.default_rng(count)
    size = max(element.bits // 8, 1)
    values = random.integers(0, 256, count * size, dtype=np.uint8)
    if element.element_class is ElementClass.PRED:
        values &= 1
    elif element.element_class is ElementClass.SIGNED and element.bits < 8:
        lowest = -(1 << element.bits - 1)
        values = random.integers(lowest, -lowest, count, dtype=np.int8).view(np.uint8)
    elif element.bits < 8:
        values &= (1 << element.bits) - 1
    return values.tobytes()


def module_of(type_: TensorType[Any], data: bytes) -> ModuleOp:
    """A program that returns a constant."""
    constant = ConstantOp(value=DenseIntOrFPElementsAttr(type_, BytesAttr(data)))
    block = Block([constant, ReturnOp(constant.result)])
    return ModuleOp([FuncOp("main", ([], [type_]), Region(block))])


def constant_of(module: ModuleOp) -> bytes:
    """The elements of the first constant of a program."""
    constant = next(op for op in module.walk() if isinstance(op, ConstantOp))
    assert isinstance(constant.value, DenseIntOrFPElementsAttr)
    return constant.value.data.data


MISSING = ("s1", "u1")


@pytest.mark.parametrize(
    "element", [e for e in ELEMENT_TYPES if e.name not in MISSING], ids=lambda element: element.name
)
def test_literals_keep_their_bits(element: ElementType) -> None:
    for count in (1, 2, 60, 120, 510):
        data = random_bytes(element, count)
        shape = () if count == 1 else (count // 2, 2)
        text = print_stablehlo(module_of(TensorType(element.type, shape), data))
        found = constant_of(read_stablehlo(printed(text)))
        if element.element_class is ElementClass.PRED:
            assert [byte != 0 for byte in found] == [byte != 0 for byte in data], count
        else:
            assert found == data, count


@pytest.mark.parametrize("element", [e for e in ELEMENT_TYPES if e.name in MISSING])
def test_element_types_that_stablehlo_has_not(element: ElementType) -> None:
    module = module_of(TensorType(element.type, (2,)), b"\0\0")
    with pytest.raises(StableHloPrintError, match=f"StableHLO has no element type {element.name}"):
        print_stablehlo(module)


SPECIAL = {
    "f32": [0x80000000, 0x7F800001, 0xFFC00001, 0xFF800000, 1, 0x3DCCCCCD, 0x7F7FFFFF, 0x4B800001],
    "f64": [1 << 63, 0x7FF0000000000001, 1, 0x3FB999999999999A, 0x7FEFFFFFFFFFFFFF],
    "bf16": [0x8000, 0x7F81, 0xFF80, 1, 0x3DCD],
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_floats_keep_their_bits(name: str) -> None:
    element = next(each for each in ELEMENT_TYPES if each.name == name)
    data = np.array(SPECIAL[name], f"<u{element.bits // 8}").tobytes()
    type_: TensorType[Any] = TensorType(element.type, (len(SPECIAL[name]),))
    text = print_stablehlo(module_of(type_, data))
    assert constant_of(read_stablehlo(printed(text))) == data


def test_no_elements_and_one_for_all() -> None:
    f32 = next(each for each in ELEMENT_TYPES if each.name == "f32").type
    empty = print_stablehlo(module_of(TensorType(f32, (2, 0)), b""))
    assert "dense<> : tensor<2x0xf32>" in printed(empty)
    one = print_stablehlo(module_of(TensorType(f32, (1 << 40,)), b"\0\0\0\x80"))
    assert "dense<-0.000000e+00> : tensor<1099511627776xf32>" in printed(one)
