"""Types of StableHLO with dimensions of unbounded size, and the functions that have them."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, StringAttr
from xdsl.ir import Attribute, Operation

from xla_dialect.stablehlo.attributes import Bounds
from xla_dialect.types import array, as_array, extents


def is_dynamic(op: Operation) -> bool:
    """Whether a function takes or returns arrays of unbounded size."""
    type_ = op.properties.get("function_type")
    return isinstance(type_, FunctionType) and any(
        map(_is_unbounded, (*type_.inputs.data, *type_.outputs.data))
    )


def _is_unbounded(type_: Attribute) -> bool:
    """Whether an array type, of StableHLO or of XLA, has a dynamic dimension without a bound."""
    found = as_array(type_)
    if found is None:
        return False
    bounds = found.encoding.data if isinstance(found.encoding, Bounds) else ()
    return any(
        size == DYNAMIC_INDEX and (d >= len(bounds) or bounds[d] is None)
        for d, size in enumerate(extents(found))
    )


def takes_dynamic(op: Operation) -> bool:
    """Whether a public function takes arrays of unbounded size."""
    type_ = op.properties.get("function_type")
    return (
        isinstance(type_, FunctionType)
        and not is_private(op)
        and any(map(_is_unbounded, type_.inputs.data))
    )


def is_private(op: Operation) -> bool:
    """Whether a function is called from its module only."""
    return op.properties.get("sym_visibility") == StringAttr("private")


def sized_like(source: Attribute, declared: Attribute) -> Attribute:
    """The declared type, its unbounded dimensions those of another array of that rank."""
    mine, theirs = as_array(source), as_array(declared)
    if mine is None or theirs is None or len(extents(mine)) != len(extents(theirs)):
        return declared
    sizes = [
        a if b == DYNAMIC_INDEX else b for a, b in zip(extents(mine), extents(theirs), strict=True)
    ]
    return array(theirs.element_type, sizes)
