"""Literals whose bytes stand at the end of a text, under `dialect_resources`."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DenseResourceAttr
from xdsl.ir import Operation

from xla_dialect.stablehlo.source import SourceError
from xla_dialect.types import Array
from xla_dialect.xdsl.dense_literals import elements_of_bytes

_ALIGNMENT_BYTES = 4
"""The bytes of a resource start with their alignment, a little-endian 32-bit integer."""


def literal_of_resource(
    op: Operation, value: DenseResourceAttr, blob: str | None, type_: Array
) -> DenseIntOrFPElementsAttr[Any]:
    """
    The literal of `type_` with the bytes of a resource.

    `blob` is what the text has under its name, in hexadecimal digits; None where it has nothing.
    Raises SourceError at `op`, whose literal it is.
    """
    key = value.resource_handle.data
    if not blob:
        message = f"there is no resource {key!r} in this text; it was left out when it was printed"
        raise SourceError(op, message)
    try:
        data = bytes.fromhex(blob.removeprefix("0x"))[_ALIGNMENT_BYTES:]
        literal = elements_of_bytes(data, cast(Any, type_))
    except ValueError as error:
        raise SourceError(op, f"resource {key!r}: {error}") from None
    if literal.is_splat:
        raise SourceError(op, f"resource {key!r} has one element only, {type_} has more")
    return literal.compact()
