"""What a module says about the layouts of its entry's parameters and results."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from lowerings.rewriting.value_attributes import said_by
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.layout import Layout
from xla_dialect.layouts.type_layouts import with_layout
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import all_compatible, flatten, is_array, tuple_elements

ENTRY_LAYOUT = "xla.entry_computation_layout"
"""The attribute in which the reader of HLO text keeps what the head of a module says."""


LAYOUT_MODE = "mhlo.layout_mode"
"""The attribute with which JAX says the layout of a parameter or result: `"{0,1}"`."""


def entry_type(module: ModuleOp, function: FuncOp) -> FunctionType:
    """
    The type of a function with the layouts that its callers see.

    For the entry of HLO text that is its `entry_computation_layout`, whatever layouts the
    parameters and the root have. For programs of JAX the layout mode of each value counts.
    Raises SpellingError.
    """
    type_ = function.function_type
    written = module.attributes.get(ENTRY_LAYOUT)
    if isinstance(written, StringAttr) and function.sym_name.data == ENTRY_SYMBOL:
        text, _, output_text = written.data[1:-1].rpartition("->")
        inputs, output = tuple_elements(parse_type(text)) or (), parse_type(output_text)
        # Tuples are taken apart in the function if they are no more there.
        for given in ((inputs, [output]), (flatten(inputs), flatten([output]))):
            if all(map(all_compatible, given, (type_.inputs.data, type_.outputs.data))):
                return FunctionType.from_lists(*given)
    inputs, outputs = (
        [
            _in_mode(each, attributes.get(LAYOUT_MODE))
            for each, attributes in zip(types, said, strict=True)
        ]
        for types, said in zip((type_.inputs, type_.outputs), said_by(function), strict=True)
    )
    return FunctionType.from_lists(inputs, outputs)


def _in_mode(type_: Attribute, mode: Attribute | None) -> Attribute:
    if not isinstance(mode, StringAttr) or not mode.data.startswith("{") or not is_array(type_):
        return type_
    return with_layout(type_, Layout.parse(mode.data))
