"""The pass `xla-name-operations`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    DictionaryAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from lowerings.ir.locations import parts_of
from lowerings.rewriting.levels import UNLOWERED
from xla_dialect.op import XlaOp
from xla_dialect.xdsl.traversal import operations_in

_T = TypeVar("_T")
_NO_METADATA = DictionaryAttr({})
_FIELD = re.compile(r"(\w+)=(\d+)")


@dataclass(frozen=True)
class XlaNameOperationsPass(ModulePass):
    """
    Puts the name of each operation of `xla` into its location, as profiles show it.

    That is the `op_name` of its metadata, with the line of the source that the metadata names
    (`source_file`, `source_line`, or a stack frame), else the opcode. Locations that have a name,
    such as JAX's, stay.

    ```
    %0 = xla.tanh %x attributes {xla.metadata = {op_name = "jit(f)/tanh",
        source_file = "model.py", source_line = 12 : i64}} : tensor<8xf32> loc("program.hlo":3:3)
    // becomes
    %0 = xla.tanh %x attributes {...} : tensor<8xf32> loc("jit(f)/tanh"("model.py":12:0))
    ```
    """

    name = "xla-name-operations"
    takes = UNLOWERED

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Goes through all operations."""
        frames = StackFrames.of(op)
        for inner in operations_in(op):
            inner.location = named_location(inner, frames)


def named_location(op: Operation, frames: StackFrames) -> LocationAttr:
    """The location of an operation with its name, see `XlaNameOperationsPass`."""
    location = op.location
    if isinstance(location, FusedLoc) and len(parts := parts_of(location)) == 1:
        (location,) = parts  # Fused with nothing but a mark, as the explorer puts it.
    callee = location
    while isinstance(callee, CallSiteLoc):
        callee = callee.callee
    if not isinstance(op, XlaOp) or isinstance(callee, NameLoc | FusedLoc):
        return op.location
    metadata = op.attributes.get("xla.metadata", _NO_METADATA)
    fields = cast(DictionaryAttr, metadata).data
    name = fields.get("op_name")
    if not isinstance(name, StringAttr):
        name = StringAttr(op.name.partition(".")[2])
    place = _written_place(fields) or frames.place(fields.get("stack_frame_id"))
    named = NameLoc(name, place or location)
    if location is op.location:
        return named
    return FusedLoc(ArrayAttr((named,)), cast(FusedLoc, op.location).metadata)


def _written_place(fields: Mapping[str, Attribute]) -> FileLineColLoc | None:
    file = fields.get("source_file")
    if not isinstance(file, StringAttr) or not file.data:
        return None
    line = fields.get("source_line")
    return FileLineColLoc(file, IntAttr(_number(line) or 0), IntAttr(0))


def _number(attribute: Attribute | None) -> int | None:
    if not isinstance(attribute, IntegerAttr):
        return None
    return cast("IntegerAttr[Any]", attribute).value.data


@dataclass(frozen=True)
class StackFrames:
    """The tables of newer HLO text in which metadata look up a source line; they count from 1."""

    files: Sequence[str]
    locations: Sequence[Mapping[str, int]]
    frames: Sequence[Mapping[str, int]]

    @staticmethod
    def of(module: ModuleOp) -> StackFrames:
        def table(name: str) -> list[str]:
            found = module.attributes.get(f"xla.{name}")
            rows = cast("ArrayAttr[Attribute]", found).data if isinstance(found, ArrayAttr) else ()
            return [row.data if isinstance(row, StringAttr) else "" for row in rows]

        def fields(name: str) -> list[dict[str, int]]:
            return [{k: int(v) for k, v in _FIELD.findall(row)} for row in table(name)]

        return StackFrames(table("file_names"), fields("file_locations"), fields("stack_frames"))

    def place(self, frame_id: Attribute | None) -> FileLineColLoc | None:
        """The place of the innermost call of a stack; None where the tables do not have it."""
        frame = _row(self.frames, _number(frame_id))
        location = _row(self.locations, frame.get("file_location_id") if frame else None)
        file = _row(self.files, location.get("file_name_id") if location else None)
        if not file or location is None:
            return None
        line, column = (IntAttr(location.get(key, 0)) for key in ("line", "column"))
        return FileLineColLoc(StringAttr(file), line, column)


def _row(table: Sequence[_T], number: int | None) -> _T | None:
    return table[number - 1] if number is not None and 0 < number <= len(table) else None
