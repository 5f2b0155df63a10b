"""Custom calls as StableHLO has them, in the terms of HLO text.

StableHLO gives layouts as lists of dimensions, a dictionary for calls through XLA's typed foreign
function interface, and called computations by the symbols of their functions. HLO text has layouts
in shapes, the dictionary as `backend_config`, and computations by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute

from xla_dialect.attributes import CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.hlo_text.structure_printing import Facts, fail
from xla_dialect.layout import Layout, LayoutAttr, LayoutError
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.text.shapes import spell_type
from xla_dialect.types import Array

OPERAND_LAYOUTS = "xla.operand_layouts"
RESULT_LAYOUTS = "xla.result_layouts"
CALLED_FUNCTIONS = "xla.called_computations"
TYPED_CONFIG = "mhlo.backend_config"


def result_types(op: CustomCallOp) -> Sequence[Attribute]:
    """The types of the results, with the layouts that the call says they have."""
    return _in_layouts(op, op.result_types, RESULT_LAYOUTS)


def called_functions(op: CustomCallOp) -> list[str]:
    """The symbols of the functions that are called computations."""
    value = op.attributes.get(CALLED_FUNCTIONS)
    entries = cast("ArrayAttr[Attribute]", value).data if isinstance(value, ArrayAttr) else ()
    return [entry.string_value() for entry in entries if isinstance(entry, SymbolRefAttr)]


def properties_and_attributes(op: CustomCallOp) -> tuple[Facts, Facts]:
    """The properties and the discardable attributes as the reader of HLO text would have them."""
    properties, attributes = dict(op.properties), dict(op.attributes)
    if OPERAND_LAYOUTS in attributes:
        types = _in_layouts(op, [operand.type for operand in op.operands], OPERAND_LAYOUTS)
        text = f"{{{', '.join(map(spell_type, types))}}}"
        attributes.setdefault("xla.operand_layout_constraints", StringAttr(text))
    config = attributes.get(TYPED_CONFIG) or attributes.get("xla.backend_config")
    if isinstance(config, DictionaryAttr):
        entries = ", ".join(f"{name} = {value}" for name, value in config.data.items())
        attributes["xla.backend_config"] = StringAttr(f"{{{entries}}}")
        typed = CustomCallApiVersionAttr(CustomCallApiVersion.TYPED_FFI)
        properties.setdefault("api_version", typed)
    return properties, attributes


def _in_layouts(op: CustomCallOp, types: Sequence[Attribute], name: str) -> Sequence[Attribute]:
    value = op.attributes.get(name)
    if not isinstance(value, ArrayAttr):
        return types
    layouts = cast("ArrayAttr[Attribute]", value).data
    if len(layouts) != len(types):
        fail(op, f"{op.name}: {len(layouts)} {name.removeprefix('xla.')} for {len(types)} values")
    return [_in_layout(op, type_, entry) for type_, entry in zip(types, layouts, strict=True)]


def _in_layout(op: CustomCallOp, type_: Attribute, layout: Attribute) -> Attribute:
    """The array type with `minor_to_major` as its layout; any other type itself."""
    if not isinstance(type_, TensorType) or not isinstance(layout, DenseIntOrFPElementsAttr):
        return cast(Attribute, type_)
    array = cast(Array, type_)
    numbers = cast("DenseIntOrFPElementsAttr[Any]", layout).get_values()
    found = Layout(tuple(int(number) for number in numbers))
    try:
        found.validate(array.get_shape())
    except LayoutError as error:
        fail(op, f"{op.name}: {error}")
    encoding = NoneAttr() if found.is_default else LayoutAttr(found)
    return TensorType(array.element_type, array.get_shape(), encoding)
