"""
How a nest reaches memory: the element of a memref at each point of its iteration space, as affine
indices and as strides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias, TypeGuard

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineExpr,
    AffineSymExpr,
)
from xdsl.utils.exceptions import PassFailedException

from xla_dialect.xdsl.traversal import shape_of

Strides: TypeAlias = tuple[int, ...]

StridedLayout: TypeAlias = "tuple[tuple[int | None, ...], int | None]"
"""Strides and offset of a memref in elements, None where dynamic."""


@dataclass(frozen=True)
class Linear:
    """`sum(coefficients[d] * d) + constant` over the dimensions of a nest."""

    coefficients: Mapping[int, int]
    """By dimension, without zeros."""
    constant: int

    def bounds(self, extents: Sequence[int]) -> tuple[int, int]:
        """The least and the greatest value where no extent is zero."""
        spans = [c * (extents[d] - 1) for d, c in self.coefficients.items()]
        low = self.constant + sum(span for span in spans if span < 0)
        return low, self.constant + sum(span for span in spans if span > 0)


@lru_cache(4096)
def linear_form(expression: AffineExpr) -> Linear | None:
    """`expression` as a linear function of dimensions; None where it is not one."""
    is_linear = expression.is_pure_affine() and not any(
        isinstance(each, AffineSymExpr)
        or (isinstance(each, AffineBinaryOpExpr) and each.kind not in _LINEAR)
        for each in expression.dfs()
    )
    if not is_linear:
        return None
    used = expression.used_dims()
    point = [0] * (max(used, default=-1) + 1)
    constant, coefficients = expression.eval(point, ()), dict[int, int]()
    for dimension in used:
        point[dimension] = 1
        coefficients[dimension] = expression.eval(point, ()) - constant
        point[dimension] = 0
    return Linear({d: c for d, c in coefficients.items() if c}, constant)


_LINEAR = (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)


def static_memref(value_type: Attribute) -> MemRefType[Attribute] | None:
    """The type of a memref or tensor of static shape, in memory; None for other types."""
    if not is_array(value_type) or DYNAMIC_INDEX in shape_of(value_type):
        return None
    if isinstance(value_type, MemRefType):
        return value_type
    return MemRefType(value_type.element_type, value_type.get_shape())


def is_array(value_type: Attribute) -> TypeGuard[MemRefType[Attribute] | TensorType[Attribute]]:
    """Whether a type is one of memrefs or tensors."""
    return isinstance(value_type, MemRefType | TensorType)


def memref_layout(memref_type: MemRefType[Attribute]) -> StridedLayout | None:
    """Strides and offset in elements, None where dynamic; None as a whole for other layouts."""
    strides = memref_type.get_strides()
    return None if strides is None else (tuple(strides), memref_type.get_offset())


@dataclass(frozen=True)
class Access:
    """How a nest reads or writes one memref: the element at each point of the iteration space."""

    memref: SSAValue
    type: MemRefType[Attribute]
    indices: tuple[AffineExpr, ...]
    strides: Strides | None
    """Elements that one step in each dimension of the nest moves; None where not constant."""
    offset: int
    """The element at the nest's origin, in elements from the memref's first one, if strides are."""
    recast: bool = False
    """Whether `indices` no longer hold and only a view made from the strides gives access."""

    def __hash__(self) -> int:
        # What tells accesses apart: types and expressions take long to hash.
        return hash((self.memref, self.strides, self.offset))

    def reaches(self, dimension: int) -> bool:
        """Whether the element depends on `dimension`."""
        if self.strides is not None:
            return self.strides[dimension] != 0
        return any(dimension in index.used_dims() for index in self.indices)

    @cached_property
    def layout(self) -> StridedLayout | None:
        """Strides and offset of the memref; None if its layout has none."""
        return memref_layout(self.type)


def make_access(value: SSAValue, indices: Sequence[AffineExpr], extents: Sequence[int]) -> Access:
    """
    The access to `value` at `indices`.

    Raises PassFailedException if `value` is no memref of static shape, or if an index leaves it.
    """
    memref_type = static_memref(value.type)
    if memref_type is None:
        raise PassFailedException(f"expected a memref of static shape, found {value.type}")
    forms = [linear_form(index) for index in indices]
    if 0 not in extents:
        for position, (form, size) in enumerate(zip(forms, shape_of(memref_type), strict=True)):
            low, high = (0, 0) if form is None else form.bounds(extents)
            if low < 0 or high >= max(size, 1 if form is None else size):
                raise PassFailedException(
                    f"index {indices[position]} runs from {low} to {high} in dimension "
                    f"{position} of {memref_type}"
                )
    return Access(value, memref_type, tuple(indices), *_address(memref_type, forms, extents))


def _address(
    memref_type: MemRefType[Attribute], forms: Sequence[Linear | None], extents: Sequence[int]
) -> tuple[Strides | None, int]:
    """The strides of each dimension of a nest and the offset of its origin."""
    layout = memref_layout(memref_type)
    if layout is None:
        return None, 0
    memref_strides, _ = layout
    strides, offset = [0] * len(extents), 0
    for form, stride in zip(forms, memref_strides, strict=True):
        if form is None or stride is None:
            return None, 0
        for dimension, coefficient in form.coefficients.items():
            if extents[dimension] > 1:
                strides[dimension] += coefficient * stride
        offset += form.constant * stride
    return tuple(strides), offset
