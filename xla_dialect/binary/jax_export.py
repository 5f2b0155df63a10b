"""
Files of `jax.export`, which `Exported.serialize()` makes: a flatbuffer around a portable artifact.

A table starts with the distance to its list of slots; a slot has the place of a field within the
table, or 0 where the field is left out.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from xla_dialect.binary.bytecode import MAGIC
from xla_dialect.binary.cursor import BinaryError, Cursor, definitions
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.mesh import AxisReference, Mesh, spell_axes

_TABLES = definitions("""
Exported: string name = 1, Array* in_arrays = 3, Array* out_arrays = 5, short few_devices = 6,
    string* platforms = 9, bytes program = 13, ushort calling_convention = 14, ushort* used = 15,
    uint devices = 18, Array* arrays = 19, Mesh* meshes = 20, Sharding* shardings = 21,
    uint* parameters = 22, uint* results = 23, uint* parameter_shardings = 24,
    uint* result_shardings = 25
Array: byte is_token = 0, string* sizes = 1, byte type = 2
Mesh: uint* sizes = 0, string* names = 1
Sharding: Spec spec = 1, uint mesh = 3
Spec: Partition* partitions = 0
Partition: string* axes = 0
""")
"""Tables of a flatbuffer with the fields that are read, by their slots."""

_NUMBERS = {"byte": "B", "short": "h", "ushort": "H", "uint": "I"}
"""The kinds of numbers, with their letters in `struct`."""


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
    root = _Table.at("Exported", _Reader(data, file_name), 0)
    artifact: bytes = root["program"]
    root.cursor.check(artifact.startswith(MAGIC), "the program of this export is no MLIR bytecode")
    arrays = list(map(_array, root["arrays"]))
    meshes = list(map(_mesh, root["meshes"]))
    shardings = ["unspecified", *(_sharding(each, meshes) for each in root["shardings"])]

    def chosen(name: str, found: Sequence[str]) -> Sequence[str]:
        numbers: Sequence[int] = root[name]
        root.cursor.check(
            all(number < len(found) for number in numbers),
            "there are {} arrays or shardings, not {}",
            len(found),
            list(numbers),
        )
        return [found[number] for number in numbers]

    signature = ExportedSignature(
        root["name"],
        root["platforms"],
        root["devices"] or root["few_devices"],
        root["calling_convention"],
        # Older files have each array where it is used.
        chosen("parameters", arrays) or list(map(_array, root["in_arrays"])),
        chosen("results", arrays) or list(map(_array, root["out_arrays"])),
        chosen("parameter_shardings", shardings),
        chosen("result_shardings", shardings),
        root["used"],
    )
    return Exported(signature, artifact)


def _array(table: _Table) -> str:
    """`float32[n,8]`, or `token`."""
    if table["is_token"]:
        return "token"
    type_ = dict(enumerate(_TYPES)).get(table["type"], f"type {table['type']}")
    return f"{type_}[{','.join(table['sizes'])}]"


_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bfloat16", "int4", "uint4"),
    *("float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    *("float0", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn"),
    *("key<fry>", "key<rbg>", "key<unsafe_rbg>"),
)
"""By number, as JAX names them."""


def _mesh(table: _Table) -> Mesh:
    return Mesh(tuple(zip(table["names"], table["sizes"], strict=False)))


def _sharding(table: _Table, meshes: Sequence[Mesh]) -> str:
    """`mesh<["x"=2]>, [{"x"}, {}]`, as Shardy writes it."""
    number: int = table["mesh"]
    spec: _Table | None = table["spec"]
    partitions: Sequence[_Table] = () if spec is None else spec["partitions"]
    axes = [list(map(AxisReference, each["axes"])) for each in partitions]
    if number < len(meshes):
        return str(Sharding.of_axes(meshes[number], axes))
    return f"[{', '.join(map(spell_axes, axes))}]"


def is_export(data: bytes) -> bool:
    """Whether data may be a file of `jax.export`, which has no mark of its own at its start."""
    try:
        return _Table.at("Exported", _Reader(data, ""), 0)["program"].startswith(MAGIC)
    except BinaryError:
        return False


@dataclass(frozen=True)
class _Table:
    """A table of a flatbuffer."""

    kind: str
    cursor: _Reader
    """At its start."""
    slots: Sequence[int]
    """Where fields are, from its start; 0 where one is left out."""

    @staticmethod
    def at(kind: str, cursor: _Reader, place: int) -> _Table:
        """The table that the reference at a place leads to."""
        start = _target(cursor, place)
        table = _moved(cursor, start)
        slots = _moved(cursor, start - _moved(cursor, start).fixed("i"))
        size = slots.fixed("H")
        slots.skip(2)
        return _Table(kind, table, [slots.fixed("H") for _ in range(size // 2 - 2)])

    def __getitem__(self, name: str) -> Any:
        """The value of a field; nothing of its kind, or None for a table, where it is left out."""
        kind, _, slot = _TABLES[self.kind][name]
        offset = self.slots[slot] if slot < len(self.slots) else 0
        if offset:
            return self._read(kind, self.cursor.offset + offset)
        nothing: Mapping[str, object] = {"bytes": b"", "string": "", **dict.fromkeys(_NUMBERS, 0)}
        return () if kind.endswith("*") else nothing.get(kind)

    def _read(self, kind: str, place: int) -> Any:
        """What stands at a place of the file, or what the reference there leads to."""
        if kind in _NUMBERS:
            return _moved(self.cursor, place).fixed(_NUMBERS[kind])
        if kind in _TABLES:
            return _Table.at(kind, self.cursor, place)
        found = _moved(self.cursor, _target(self.cursor, place))
        count = found.fixed("I")
        if not kind.endswith("*"):
            data = found.bytes(count)
            return found.text_of(data) if kind == "string" else data
        item = kind[:-1]
        size = struct.calcsize(_NUMBERS.get(item, "I"))
        start = found.offset
        found.skip(count * size)
        return [self._read(item, start + size * i) for i in range(count)]


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
