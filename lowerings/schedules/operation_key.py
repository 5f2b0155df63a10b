"""
A key for a linalg operation on memrefs that is the same in every process and program.

It tells apart what a schedule may depend on: what is computed, on which types, shapes and strides.
Names, locations, offsets into buffers, and where the operation stands do not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from math import prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

KEY_CHARACTERS = 16
"""Of a key, in hexadecimal; of a million operations two have the same once in 10^7 times."""


def operation_key(op: Operation) -> str:
    """The key of an operation; what it carries besides its properties does not count."""
    text = "\n".join(_lines(op))
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_CHARACTERS]


def _lines(op: Operation) -> Iterator[str]:
    yield op.name
    yield from _properties(op.properties)
    yield from (_type_text(operand.type) for operand in op.operands)
    numbers: dict[SSAValue, int] = {}
    for region in op.regions:
        for block in region.blocks:
            yield from _block_lines(block, numbers)


def _block_lines(block: Block, numbers: dict[SSAValue, int]) -> Iterator[str]:
    for argument in block.args:
        numbers[argument] = len(numbers)
    yield f"block {', '.join(str(argument.type) for argument in block.args)}"
    for op in block.ops:
        operands = " ".join(_value_text(operand, numbers) for operand in op.operands)
        yield f"{op.name} {operands}"
        yield from _properties(op.properties)
        for result in op.results:
            numbers[result] = len(numbers)
            yield f"-> {result.type}"
        for region in op.regions:
            for inner in region.blocks:
                yield from _block_lines(inner, numbers)
        yield "end"


def _value_text(value: SSAValue, numbers: Mapping[SSAValue, int]) -> str:
    """A value of the body by its number, one from outside by what it is."""
    if value in numbers:
        return f"%{numbers[value]}"
    if isinstance(value.owner, arith.ConstantOp):
        return str(value.owner.value)
    return _type_text(value.type)


def _properties(properties: Mapping[str, Attribute]) -> Iterator[str]:
    return (f"{name} = {value}" for name, value in sorted(properties.items()))


def _type_text(type_: Attribute) -> str:
    if not isinstance(type_, MemRefType):
        return str(type_)
    memref = cast("MemRefType[Attribute]", type_)
    return f"memref {memref.shape} {memref.element_type} {_strides(memref)} {memref.memory_space}"


def _strides(memref: MemRefType[Attribute]) -> str:
    shape, layout = memref.get_shape(), memref.layout
    if isinstance(layout, StridedLayoutAttr):
        return " ".join(str(s.data) if isinstance(s, IntAttr) else "?" for s in layout.strides)
    if isinstance(layout, NoneAttr) and DYNAMIC_INDEX not in shape:
        return " ".join(str(prod(shape[d + 1 :])) for d in range(len(shape)))
    return str(layout)
