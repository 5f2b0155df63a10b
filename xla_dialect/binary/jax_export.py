"""
Files of `jax.export`, which `Exported.serialize()` makes: a flatbuffer around a portable artifact.

A table starts with the distance to its list of slots; a slot has the place of a field within the
table, or 0 where the field is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from xla_dialect.binary.bytecode import MAGIC
from xla_dialect.binary.cursor import BinaryError, Cursor
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.mesh import AxisReference, Mesh, spell_axes

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class ExportedSignature:
    """What a file says of its function beside the program."""

    name: str
    platforms: Sequence[str]
    devices: int
    calling_convention: int
    parameters: Sequence[str]
    """`float32[4,8]`; sizes may be symbols. Unused ones are no parameters of the program."""
    results: Sequence[str]
    parameter_shardings: Sequence[str]
    result_shardings: Sequence[str]
    used_parameters: Sequence[int]

    def attribute(self) -> DictionaryAttr:
        """It all as an attribute of the module."""
        entries: dict[str, Attribute] = {
            "name": StringAttr(self.name),
            "devices": IntegerAttr(self.devices, i64),
            "calling_convention": IntegerAttr(self.calling_convention, i64),
            "used_parameters": ArrayAttr(IntegerAttr(n, i64) for n in self.used_parameters),
        }
        lists = ("platforms", "parameters", "results", "parameter_shardings", "result_shardings")
        entries |= {name: ArrayAttr(map(StringAttr, getattr(self, name))) for name in lists}
        return DictionaryAttr(entries)


@dataclass(frozen=True)
class Exported:
    """A file of `jax.export`."""

    signature: ExportedSignature
    artifact: bytes
    """The portable artifact, which has the program."""


def read_export(data: bytes, file_name: str = "<bytes>") -> Exported:
    """What a file of `jax.export` has; raises BinaryError."""
    root = _Table.at(_Reader(data, file_name), 0)
    artifact = root.bytes(_PROGRAM)
    root.cursor.check(artifact.startswith(MAGIC), "the program of this export is no MLIR bytecode")
    arrays = [_array(each) for each in root.tables(19)]
    meshes = [_mesh(each) for each in root.tables(20)]
    shardings = ["unspecified", *(_sharding(each, meshes) for each in root.tables(21))]

    def chosen(slot: int, found: Sequence[str]) -> Sequence[str]:
        numbers = root.integers(slot, "I")
        root.cursor.check(
            all(number < len(found) for number in numbers),
            "there are {} arrays or shardings, not {}",
            len(found),
            list(numbers),
        )
        return [found[number] for number in numbers]

    signature = ExportedSignature(
        root.text(1),
        root.strings(9),
        root.integer(18, "I") or root.integer(6, "h"),
        root.integer(14, "H"),
        # Older files have each array where it is used.
        chosen(22, arrays) or [_array(each) for each in root.tables(3)],
        chosen(23, arrays) or [_array(each) for each in root.tables(5)],
        chosen(24, shardings),
        chosen(25, shardings),
        root.integers(15, "H"),
    )
    return Exported(signature, artifact)


def _array(table: _Table) -> str:
    """`float32[n,8]`, or `token`."""
    if table.integer(0, "B"):
        return "token"
    number = table.integer(2, "B")
    type_ = _TYPES[number] if number < len(_TYPES) else f"type {number}"
    return f"{type_}[{','.join(table.strings(1))}]"


_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bfloat16", "int4", "uint4"),
    *("float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    *("float0", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn"),
    *("key<fry>", "key<rbg>", "key<unsafe_rbg>"),
)
"""By number, as JAX names them."""


def _mesh(table: _Table) -> Mesh:
    return Mesh(tuple(zip(table.strings(1), table.integers(0, "I"), strict=False)))


def _sharding(table: _Table, meshes: Sequence[Mesh]) -> str:
    """`mesh<["x"=2]>, [{"x"}, {}]`, as Shardy writes it."""
    number, spec = table.integer(3, "I"), table.table(1)
    partitions = () if spec is None else spec.tables(0)
    axes = [list(map(AxisReference, each.strings(0))) for each in partitions]
    if number < len(meshes):
        return str(Sharding.of_axes(meshes[number], axes))
    return f"[{', '.join(map(spell_axes, axes))}]"


_PROGRAM = 13
"""The slot of the portable artifact."""


def is_export(data: bytes) -> bool:
    """Whether data may be a file of `jax.export`, which has no mark of its own at its start."""
    try:
        return _Table.at(_Reader(data, ""), 0).bytes(_PROGRAM).startswith(MAGIC)
    except BinaryError:
        return False


@dataclass(frozen=True)
class _Table:
    """A table of a flatbuffer."""

    cursor: _Reader
    """At its start."""
    slots: Sequence[int]
    """Where fields are, from its start; 0 where one is left out."""

    @staticmethod
    def at(cursor: _Reader, place: int) -> _Table:
        """The table that the reference at a place leads to."""
        start = _target(cursor, place)
        table = _moved(cursor, start)
        slots = _moved(cursor, start - _moved(cursor, start).fixed("i"))
        size = slots.fixed("H")
        slots.skip(2)
        return _Table(table, [slots.fixed("H") for _ in range(size // 2 - 2)])

    def place(self, slot: int) -> int | None:
        """Where a field is in the file; None where it is left out."""
        offset = self.slots[slot] if slot < len(self.slots) else 0
        return self.cursor.offset + offset if offset else None

    def integer(self, slot: int, form: str) -> int:
        """A number, by its letter in `struct`; 0 where it is left out."""
        place = self.place(slot)
        return 0 if place is None else _moved(self.cursor, place).fixed(form)

    def bytes(self, slot: int) -> bytes:
        """A list of bytes; none where it is left out."""
        place = self.place(slot)
        if place is None:
            return b""
        found = _moved(self.cursor, _target(self.cursor, place))
        return found.bytes(found.fixed("I"))

    def text(self, slot: int) -> str:
        """A text, empty where it is left out."""
        return self.cursor.text_of(self.bytes(slot))

    def integers(self, slot: int, form: str) -> Sequence[int]:
        """A list of numbers, by their letter in `struct`."""
        return self.list(slot, 2 if form == "H" else 4, lambda cursor: cursor.fixed(form))

    def tables(self, slot: int) -> Sequence[_Table]:
        """A list of tables."""
        return self.list(slot, 4, lambda cursor: _Table.at(cursor, cursor.offset))

    def table(self, slot: int) -> _Table | None:
        """A table, if it is there."""
        place = self.place(slot)
        return None if place is None else _Table.at(self.cursor, place)

    def strings(self, slot: int) -> Sequence[str]:
        """A list of texts."""

        def text(cursor: _Reader) -> str:
            found = _moved(cursor, _target(cursor, cursor.offset))
            return cursor.text_of(found.bytes(found.fixed("I")))

        return self.list(slot, 4, text)

    def list(self, slot: int, size: int, item: Callable[[_Reader], _Item]) -> Sequence[_Item]:
        """A list of items of a size, each read where it stands."""
        place = self.place(slot)
        if place is None:
            return ()
        found = _moved(self.cursor, _target(self.cursor, place))
        count = found.fixed("I")
        start = found.offset
        found.skip(count * size)
        return [item(_moved(self.cursor, start + size * i)) for i in range(count)]


class _Reader(Cursor):
    """A place in a file whose parts may be shared; how much is read in all is bounded."""

    def __init__(self, data: bytes, file: str, place: int = 0, around: _Reader | None = None):
        super().__init__(data, file, place)
        self.left: list[int] = [_LEAST + _MOST * len(data)] if around is None else around.left

    def bytes(self, size: int) -> bytes:
        """The next bytes, as long as not too many are read in all."""
        self.left[0] -= size
        self.check(self.left[0] >= 0, "too many things of this file refer to the same")
        return super().bytes(size)


_MOST, _LEAST = 16, 1 << 16
"""So many bytes are read for each that a file has, and so many in any file."""


def _moved(cursor: _Reader, place: int) -> _Reader:
    """A cursor at another place of the file."""
    cursor.check(
        0 <= place <= len(cursor.data),
        "something is referred to at {}, the file has {} bytes",
        place,
        len(cursor.data),
    )
    return _Reader(cursor.data, cursor.file, place, cursor)


def _target(cursor: _Reader, place: int) -> int:
    """Where the reference at a place leads to."""
    return place + _moved(cursor, place).fixed("I")
