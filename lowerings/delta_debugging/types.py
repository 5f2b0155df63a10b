"""Simpler types, wherever the text of a module has them: sizes, dimensions, elements, layouts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from xdsl.dialects.builtin import ModuleOp

from lowerings.delta_debugging.edits import Edit
from lowerings.driver.context import make_context
from lowerings.layouts.entry_layout import ENTRY_LAYOUT
from xla_dialect.mlir_text import print_mlir, read_mlir

_ARRAY = re.compile(r"(?<=tensor<|memref<|vector<)((?:[\d?]+x)*)(complex<\w+>|[a-zA-Z]\w*)?")
"""What follows in the type of an array: its sizes, and the type of its elements."""
_NUMBER = re.compile(r"(?<![\w.%@#^\"-])\d+(?![\w.])")
"""A number that is no part of a name, of a float or of a type."""
_LAYOUT = re.compile(r", (?:#xla\.layout|strided)<[^<>]*>")
_LIST = re.compile(r"\[[-\d, ]+\]")
SMALL = (1, 2, 3)
"""Sizes that are tried first."""


def _rewritten(module: ModuleOp, change: Callable[[str], str]) -> bool:
    """Puts what becomes of the text of a module into its place; raises for what is no program."""
    text = print_mlir(module)
    changed = change(text)
    if changed == text:
        return False
    new = read_mlir(changed, make_context())
    # It may be that of other types.
    module.attributes = {k: v for k, v in new.attributes.items() if k != ENTRY_LAYOUT}
    module.detach_region(module.body)
    module.add_region(new.detach_region(new.body))
    return True


def _shapes(module: ModuleOp) -> set[str]:
    """The sizes of arrays, as `4x6x`."""
    return {array[1] for array in _ARRAY.finditer(print_mlir(module))}


def smaller_sizes(module: ModuleOp) -> list[Edit]:
    """
    A size becomes a smaller one wherever it occurs, or wherever a multiple of it does; as a number
    of operations, too, or in types only.
    """
    found = {int(size) for shape in _shapes(module) for size in re.findall(r"\d+", shape)}
    return [
        partial(_rewritten, module, partial(_resized, size, smaller, multiples, in_types))
        for size in sorted(found, reverse=True)
        for smaller in dict.fromkeys((*SMALL, size // 4, size // 2))
        if 0 < smaller < size
        for multiples in (False, True)
        if not multiples or any(other > size and other % size == 0 for other in found)
        for in_types in (False, True)
    ]


def _resized(size: int, smaller: int, multiples: bool, in_types: bool, text: str) -> str:
    def resized(match: re.Match[str]) -> str:
        number = int(match[0])
        is_other = number == 0 or number % size if multiples else number != size
        return match[0] if is_other else str(number // size * smaller)

    text = _ARRAY.sub(lambda array: re.sub(r"\d+", resized, array[1]) + (array[2] or ""), text)
    return text if in_types else _NUMBER.sub(resized, text)


def fewer_dimensions(module: ModuleOp) -> list[Edit]:
    """
    Dimensions of size 1 go, all of them or all but those of the arrays of some rank; with what
    lists of numbers say of them, or in types only.
    """
    shapes = [shape.split("x")[:-1] for shape in _shapes(module)]
    ranks = sorted({len(sizes) for sizes in shapes if "1" in sizes})
    return [
        partial(_rewritten, module, partial(_squeezed, least, in_types))
        for least in ranks
        for in_types in (False, True)
    ]


def _squeezed(least: int, in_types: bool, text: str) -> str:
    """Arrays of this rank or more have no dimensions of size 1 any more."""

    def squeezed(array: re.Match[str]) -> str:
        sizes = array[1].split("x")[:-1]
        kept = [f"{size}x" for size in sizes if size != "1" or len(sizes) < least]
        return "".join(kept) + (array[2] or "")

    text = _ARRAY.sub(squeezed, text)
    return text if in_types else _LIST.sub("[]", text)


def simpler_elements(module: ModuleOp) -> list[Edit]:
    """An element type becomes f32 or s32 wherever it occurs, scalars too or those of arrays."""
    found = dict.fromkeys(array[2] or "f32" for array in _ARRAY.finditer(print_mlir(module)))
    return [
        partial(_rewritten, module, partial(_with_elements, name, in_arrays))
        for name in found
        if name not in ("f32", "i1", "i32", "index")
        for in_arrays in (False, True)
    ]


def _with_elements(name: str, in_arrays: bool, text: str) -> str:
    new = "i32" if re.match(r"[su]?i\d", name) else "f32"
    text = _ARRAY.sub(lambda array: array[1] + (new if array[2] == name else array[2] or ""), text)
    return text if in_arrays else re.sub(rf"(?<![\w.%@#^]){re.escape(name)}(?!\w)", new, text)


def default_layouts(module: ModuleOp) -> list[Edit]:
    """A layout becomes the default one, wherever arrays have it."""
    found = dict.fromkeys(_LAYOUT.findall(print_mlir(module)))
    edits: list[Edit] = [
        partial(_rewritten, module, partial(_without_layout, layout)) for layout in found
    ]
    if ENTRY_LAYOUT in module.attributes:
        edits.append(lambda: module.attributes.pop(ENTRY_LAYOUT, None) is not None)
    return edits


def _without_layout(layout: str, text: str) -> str:
    return text.replace(layout, "")
