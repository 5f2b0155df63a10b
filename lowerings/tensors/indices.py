"""Where an operation reads a tensor, in terms of its loops: one linear expression a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

Index: TypeAlias = "tuple[int | None, int, int]"
"""`(loop, scale, offset)`: `scale * loop + offset`; without a loop the offset alone, scale 0."""

Indices: TypeAlias = tuple[Index, ...]
"""One index for each dimension of a tensor, or for each loop of another operation."""


@cache
def identity(rank: int) -> Indices:
    """Every dimension is indexed by the loop of its number."""
    return tuple((d, 1, 0) for d in range(rank))


def constant(value: int) -> Index:
    """An index that does not depend on any loop."""
    return None, 0, value


@lru_cache(4096)
def indices_of(map_: AffineMap) -> Indices | None:
    """The results of a map; None where one of them involves more than one loop."""
    found: list[Index] = []
    for expression in map_.results:
        index = index_of(expression)
        if index is None:
            return None
        found.append(index)
    return tuple(found)


def index_of(expression: AffineExpr) -> Index | None:
    """One result of a map; None where it involves more than one loop."""
    match expression:
        case AffineDimExpr():
            return expression.position, 1, 0
        case AffineConstantExpr():
            return constant(expression.value)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add | AffineBinaryOpKind.Mul):
            lhs, rhs = index_of(expression.lhs), index_of(expression.rhs)
            if lhs is None or rhs is None:
                return None
            if rhs[0] is not None:
                lhs, rhs = rhs, lhs
            if rhs[0] is not None:
                return None
            if expression.kind == AffineBinaryOpKind.Add:
                return lhs[0], lhs[1], lhs[2] + rhs[2]
            return (lhs[0] if rhs[2] else None), lhs[1] * rhs[2], lhs[2] * rhs[2]
        case _:
            return None


@lru_cache(4096)
def affine_map(indices: Indices, rank: int) -> AffineMapAttr:
    """The map from `rank` loops to these indices."""
    return AffineMapAttr(AffineMap(rank, 0, tuple(_expression(index) for index in indices)))


def _expression(index: Index) -> AffineExpr:
    loop, scale, offset = index
    if loop is None:
        return AffineExpr.constant(offset)
    expression: AffineExpr = AffineExpr.dimension(loop)
    if scale != 1:
        expression = expression * scale
    return expression + offset if offset else expression


def compose(outer: Sequence[Index], inner: Sequence[Index]) -> Indices:
    """`outer`, in terms of some loops, where those loops stand at `inner`."""
    composed: list[Index] = []
    for loop, scale, offset in outer:
        if loop is None:
            composed.append((None, 0, offset))
            continue
        inner_loop, inner_scale, inner_offset = inner[loop]
        combined = scale * inner_scale
        composed.append((inner_loop if combined else None, combined, scale * inner_offset + offset))
    return tuple(composed)


def loops_of(indices: Sequence[Index]) -> set[int]:
    """The loops on which indices depend."""
    return {loop for loop, _, _ in indices if loop is not None}


def is_permutation(indices: Sequence[Index], rank: int) -> bool:
    """Whether the indices are all the loops, each once, in some order."""
    return len(indices) == rank and sorted(
        i[0] for i in indices if i[1:] == (1, 0) and i[0] is not None
    ) == list(range(rank))
