"""Literals whose bytes stand at the end of a text, under `dialect_resources`, or beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DenseResourceAttr
from xdsl.ir import Operation

from xla_dialect.stablehlo.source import SourceError
from xla_dialect.types import Array
from xla_dialect.xdsl.dense_literals import literal_of_blob

Lookup: TypeAlias = Callable[[str], str | bytes | None]
"""What a resource is, by its name; None for one that there is not."""

Resources: TypeAlias = Mapping[str, bytes]
"""Elements by the names of resources, row-major and little-endian, each in whole bytes."""


def lookup_in(text: OpAsmDialectInterface, given: Resources | None) -> Lookup:
    """What is given with a text, else what the text has itself."""

    def lookup(name: str) -> str | bytes | None:
        return given[name] if given is not None and name in given else text.lookup(name)

    return lookup


def literal_of_resource(
    op: Operation, value: DenseResourceAttr, blob: str | bytes | None, type_: Array
) -> DenseIntOrFPElementsAttr[Any]:
    """The literal of `type_` with the bytes of a resource; raises SourceError at `op`."""
    try:
        return literal_of_blob(value.resource_handle.data, blob, type_)
    except ValueError as error:
        raise SourceError(op, str(error)) from None
