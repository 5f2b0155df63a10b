"""Literals whose bytes stand at the end of a text, under `dialect_resources`."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute

from xla_dialect.xdsl.dense_literals import elements_of_bytes

_ALIGNMENT_BYTES = 4
"""The bytes of a resource start with their alignment, a little-endian 32-bit integer."""


def literal_of_blob(
    key: str, blob: str | bytes | None, type_: Attribute
) -> DenseIntOrFPElementsAttr[Any]:
    """
    The literal of a type with the bytes of a resource.

    `blob` is what the text has under its name, in hexadecimal digits, or what was given with the
    text, without an alignment; None where there is nothing. Raises ValueError.
    """
    if not blob:
        raise ValueError(
            f"there is no resource {key!r} in this text; it was left out when it was printed"
        )
    try:
        data = blob if isinstance(blob, bytes) else _bytes_of(blob)
        literal = elements_of_bytes(data, cast(Any, type_))
    except ValueError as error:
        raise ValueError(f"resource {key!r}: {error}") from None
    if literal.is_splat:
        raise ValueError(f"resource {key!r} has one element only, {type_} has more")
    return literal.compact()


def _bytes_of(blob: str) -> bytes:
    return bytes.fromhex(blob.removeprefix("0x"))[_ALIGNMENT_BYTES:]
