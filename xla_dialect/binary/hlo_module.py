"""
HloModuleProto, HloProto and HloSnapshot, read as the HLO text of the module.

The importer of texts gives everything its meaning; here are the numbers of fields.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from xla_dialect.attributes import (
    CustomCallApiVersion,
    FftType,
    RandomAlgorithm,
    RandomDistribution,
    Transpose,
)
from xla_dialect.binary.cursor import BinaryError, Cursor
from xla_dialect.binary.stablehlo_encodings import FEATURES, labels
from xla_dialect.element_types import NUMPY_TYPES
from xla_dialect.hlo_text.instruction_text import quoted_text
from xla_dialect.hlo_text.opcodes import OPCODES
from xla_dialect.hlo_text.syntax import COMPUTATION_LISTS
from xla_dialect.literals.arrays import Value, flatten_results, literal_of
from xla_dialect.shapes.window import Window
from xla_dialect.sharding.mesh import Iota
from xla_dialect.stablehlo.attributes import Precision
from xla_dialect.text.accuracy import Accuracy, AccuracyMode
from xla_dialect.text.literals import spell_float, spell_literal

# The wire format of protocol buffers: numbers of fields, and varints or bytes for each.
#
# The library `protobuf` (0.02 s to load) would need the definitions of all messages, generated or
# by hand; what is read here are some hundred fields.

_VARINT, _FIXED64, _LENGTH_DELIMITED, _FIXED32 = 0, 1, 2, 5


class Message:
    """The fields of a message by their numbers; messages inside are read when asked for."""

    def __init__(self, cursor: Cursor):
        self.cursor = cursor
        self.start = cursor.offset
        self._fields: dict[int, list[int | Cursor]] = {}
        for number, value in fields(cursor):
            self._fields.setdefault(number, []).append(value)

    def has(self, number: int) -> bool:
        """Whether a field is there."""
        return number in self._fields

    def integer(self, number: int) -> int:
        """A number of up to 64 bits, signed; 0 where it is left out."""
        value = self._fields.get(number, (0,))[-1]
        if not isinstance(value, int):
            value.fail(f"field {number} is no number")
        return value

    def integers(self, number: int) -> list[int]:
        """A list of numbers, packed or not."""
        found: list[int] = []
        for value in self._fields.get(number, ()):
            if isinstance(value, int):
                found.append(value)
                continue
            packed = Cursor(value.data, value.file, value.offset, value.end)
            while not packed.is_done:
                found.append(varint(packed))
        return found

    def bytes(self, number: int) -> bytes:
        """A text or bytes; empty where it is left out."""
        found = self.all_bytes(number)
        return found[-1] if found else b""

    def all_bytes(self, number: int) -> list[bytes]:
        """A list of texts or bytes."""
        return [part.data[part.offset : part.end] for part in self._parts(number)]

    def text(self, number: int) -> str:
        """A text; empty where it is left out."""
        return self.cursor.text_of(self.bytes(number), f"field {number}", self.start)

    def float(self, number: int, form: str = "f") -> float:
        """A number of 32 bits, or of 64 (`d`); 0 where it is left out."""
        size = struct.calcsize(form)
        data = self.bytes(number) or bytes(size)
        self.cursor.check(
            len(data) == size,
            "field {} has {} bytes, not {}",
            number,
            len(data),
            size,
            at=self.start,
        )
        return struct.unpack(f"<{form}", data)[0]

    def message(self, number: int) -> Message:
        """A message; one without fields where it is left out."""
        found = self.messages(number)
        return found[-1] if found else Message(Cursor(b"", self.cursor.file))

    def messages(self, number: int) -> list[Message]:
        """A list of messages."""
        return [
            Message(Cursor(part.data, part.file, part.offset, part.end))
            for part in self._parts(number)
        ]

    def _parts(self, number: int) -> Sequence[Cursor]:
        parts: list[Cursor] = []
        for value in self._fields.get(number, ()):
            if isinstance(value, int):
                self.cursor.fail(f"field {number} is a number", self.start)
            parts.append(value)
        return parts


def fields(cursor: Cursor) -> Iterator[tuple[int, int | Cursor]]:
    """The numbers and values of the fields of a message, one by one; raises BinaryError."""
    while not cursor.is_done:
        key = varint(cursor)
        number, wire = key >> 3, key & 7
        if not number:
            cursor.fail("a field has the number 0")
        if wire == _VARINT:
            yield number, varint(cursor)
        elif wire == _LENGTH_DELIMITED:
            yield number, cursor.part(varint(cursor))
        elif wire in (_FIXED32, _FIXED64):
            yield number, cursor.part(4 if wire == _FIXED32 else 8)
        else:
            cursor.fail(f"field {number} has the unknown wire type {wire}")


def varint(cursor: Cursor) -> int:
    """An integer of seven bits a byte, in two's complement of 64 bits."""
    value = shift = 0
    while True:
        byte = cursor.byte()
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 63:
            cursor.fail("a number has more than 64 bits")
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


_TUPLE, _OPAQUE, _TOKEN, _BUFFER = 13, 14, 17, 34
ELEMENT_TYPES = {
    1: "pred",
    **dict(enumerate(("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"), 2)),
    **dict(enumerate(("f16", "f32", "f64", "tuple", "opaque", "c64", "bf16", "token", "c128"), 10)),
    **dict(enumerate(("f8e5m2", "f8e4m3fn", "s4", "u4", "f8e4m3b11fnuz", "f8e5m2fnuz"), 19)),
    **dict(enumerate(("f8e4m3fnuz", "s2", "u2", "f8e4m3", "f8e3m4", "s1", "u1"), 25)),
    **dict(enumerate(("f4e2m1fn", "f8e8m0fnu", "b", "f6e3m2fn", "f6e2m3fn"), 32)),
}
"""By number, as HLO text names them."""

# Shapes


def shape_text(shape: Message) -> str:
    """`f32[2,<=3]{1,0}`, or a tuple of shapes."""
    number = shape.integer(2)
    if number == _TUPLE:
        return f"({', '.join(map(shape_text, shape.messages(4)))})"
    name = ELEMENT_TYPES.get(number)
    if name is None or number == _BUFFER:
        shape.cursor.fail(f"element type {number} is not known", shape.start)
    sizes, dynamic = shape.integers(3), shape.bytes(6)
    packed = list(dynamic) or shape.integers(6)
    bounds = [
        f"<={size}" if i < len(packed) and packed[i] else str(size) for i, size in enumerate(sizes)
    ]
    layout = _layout_text(shape.message(5)) if shape.has(5) else ""
    return f"{name}[{','.join(bounds)}]{layout}"


def _layout_text(layout: Message) -> str:
    order = ",".join(map(str, layout.integers(1)))
    tiles = "".join(f"({','.join(map(str, tile.integers(1)))})" for tile in layout.messages(6))
    rest = f"T{tiles}" if tiles else ""
    rest += f"E({layout.integer(7)})" if layout.integer(7) else ""
    rest += f"S({layout.integer(8)})" if layout.integer(8) else ""
    if not order and not rest:
        return ""
    return f"{{{order}:{rest}}}" if rest else f"{{{order}}}"


# Literals

_VARINTS = {"pred": 2, "s32": 4, "s64": 5, "u32": 6, "u64": 7}
"""Fields of literals with a varint for each element."""
_BYTES = {
    "u8": 3,
    "f32": 8,
    "f64": 9,
    "f16": 11,
    "c64": 12,
    "bf16": 13,
    "s8": 15,
    "u16": 16,
    "s16": 17,
    "c128": 18,
}
"""Fields of literals with the bytes of all elements; other types have that of their number."""


def literal_value(literal: Message) -> Value:
    """The array that a literal is, or a tuple of values."""
    shape = literal.message(1)
    if shape.integer(2) == _TUPLE:
        return tuple(map(literal_value, literal.messages(10)))
    return literal_array(literal, shape)


def literal_array(literal: Message, shape: Message) -> np.ndarray[Any, Any]:
    """The elements of a literal of an array type, row-major."""
    number, sizes = shape.integer(2), shape.integers(3)
    name = ELEMENT_TYPES.get(number, "")
    literal.cursor.check(
        name in NUMPY_TYPES and all(size >= 0 for size in sizes),
        "a literal has element type {}, sizes {}",
        number,
        sizes,
        at=literal.start,
    )
    dtype = NUMPY_TYPES[name]
    if name in _VARINTS:
        numbers = np.array(literal.integers(_VARINTS[name]), np.int64)
        elements = numbers.view(np.uint64).astype(dtype) if name == "u64" else numbers.astype(dtype)
    else:
        data = b"".join(literal.all_bytes(_BYTES.get(name, number)))
        literal.cursor.check(
            not len(data) % dtype.itemsize,
            "a literal of {} has {} bytes",
            name,
            len(data),
            at=literal.start,
        )
        elements = np.frombuffer(data, dtype)
    literal.cursor.check(
        elements.size == prod(sizes),
        "a literal of {}{} has {} elements",
        name,
        sizes,
        elements.size,
        at=literal.start,
    )
    return in_rows(elements, sizes, shape.message(5).integers(1))


def in_rows(
    elements: np.ndarray[Any, Any], sizes: Sequence[int], minor_to_major: Sequence[int]
) -> np.ndarray[Any, Any]:
    """An array of elements that stand in the order of a layout."""
    order = list(reversed(minor_to_major))
    if sorted(order) != list(range(len(sizes))):
        return elements.reshape(sizes)
    return elements.reshape([sizes[d] for d in order]).transpose(np.argsort(order))


# Attributes of instructions

_Writer = Callable[[Message], str]
"""The value of an attribute in text; empty where it is left out."""


def _list(numbers: Sequence[int]) -> str:
    return f"{{{','.join(map(str, numbers))}}}"


def _quoted(value: bytes) -> str:
    return quoted_text(value.decode("utf-8", "surrogateescape"))


def _numbers(number: int) -> _Writer:
    return lambda message: _list(message.integers(number)) if message.has(number) else ""


def _number(number: int) -> _Writer:
    return lambda message: str(message.integer(number)) if message.has(number) else ""


def _flag(number: int) -> _Writer:
    return lambda message: "true" if message.integer(number) else ""


def _string(number: int) -> _Writer:
    return lambda message: _quoted(message.bytes(number)) if message.has(number) else ""


def _word(number: int, *words: str) -> _Writer:
    def write(message: Message) -> str:
        value = message.integer(number)
        message.cursor.check(
            0 <= value < len(words),
            "field {} is {}, of {} words",
            number,
            value,
            len(words),
            at=message.start,
        )
        return words[value]

    return write


def _inside(number: int, write: _Writer) -> _Writer:
    """Of a message within."""
    return lambda message: write(message.message(number)) if message.has(number) else ""


def window_text(window: Message) -> str:
    """`{size=2x3 stride=2x1}`"""
    dimensions = window.messages(1)
    if not dimensions:
        return ""
    column = {n: [each.integer(n) for each in dimensions] for n in range(1, 8)}
    found = Window.of(
        column[1],
        stride=column[2],
        padding=list(zip(column[3], column[4], strict=True)),
        window_dilation=column[5],
        base_dilation=column[6],
        reversal=[bool(each) for each in column[7]],
    )
    return f"{{{found}}}"


def _labels(numbers: Message) -> str:
    sides: list[str] = []
    fields = ((7, 8, 11), (3, 4, 6), (9, 10, 12))
    for letters, (first, second, spatial) in zip(FEATURES, fields, strict=True):
        features = numbers.integer(first), numbers.integer(second)
        sides.append(labels(letters, *features, numbers.integers(spatial)))
    return f"{sides[0]}_{sides[1]}->{sides[2]}"


def _slices(message: Message) -> str:
    parts: list[str] = []
    for each in message.messages(17):
        start, limit, stride = (each.integer(n) for n in (1, 2, 3))
        parts.append(f"[{start}:{limit}:{stride}]" if stride != 1 else f"[{start}:{limit}]")
    return f"{{{', '.join(parts)}}}" if message.has(17) else ""


def _padding(message: Message) -> str:
    entries = ([each.integer(n) for n in (1, 2, 3)] for each in message.message(21).messages(1))
    return "x".join("_".join(map(str, each)) for each in entries)


def _groups(message: Message) -> str:
    groups = message.messages(49) or message.message(87).messages(1)
    if groups:
        return f"{{{','.join(_list(each.integers(1)) for each in groups)}}}"
    iota = message.message(87).message(2) if message.has(87) else message.message(92)
    return _iota_groups(iota)


def _iota_groups(iota: Message) -> str:
    """`[2,4]<=[4,2]T(1,0)`"""
    dimensions = tuple(iota.integers(3))
    if not dimensions:
        return ""
    return f"[{iota.integer(1)},{iota.integer(2)}]<={Iota(dimensions, tuple(iota.integers(4)))}"


def _pairs(message: Message) -> str:
    pairs = (f"{{{each.integer(1)},{each.integer(2)}}}" for each in message.messages(52))
    return f"{{{','.join(pairs)}}}" if message.has(52) else ""


def _entries(message: Message) -> str:
    """The entries of a map of texts: `{a="b"}`."""
    found = (f"{each.text(1)}={_quoted(each.bytes(2))}" for each in message.messages(1))
    return f"{{{','.join(found)}}}" if message.has(1) else ""


def _backend_config(message: Message) -> str:
    config = message.bytes(43)
    return config.decode("utf-8", "surrogateescape") if config[:1] == b"{" else _string(43)(message)


def _precision(message: Message) -> str:
    words = tuple(Precision)
    found = [words[n] if 0 <= n < len(words) else str(n) for n in message.message(51).integers(1)]
    return f"{{{','.join(found)}}}" if any(word != Precision.DEFAULT for word in found) else ""


def _layouts(message: Message) -> str:
    if not message.integer(56):
        return ""
    return f"{{{', '.join(map(shape_text, message.messages(57)))}}}"


def _aliases(message: Message) -> str:
    parts: list[str] = []
    for each in message.messages(74):
        output, operand = _list(each.integers(1)), _list(each.integers(3))
        parts.append(f"{output}: ({each.integer(2)}, {operand})")
    return f"{{{', '.join(parts)}}}" if parts else ""


def sharding_text(sharding: Message) -> str:
    """`{devices=[2,1]<=[2]}`, `{replicated}`, or a tuple of these."""
    kind = sharding.integer(1)
    if kind == _TUPLE_SHARDING:
        return f"{{{', '.join(map(sharding_text, sharding.messages(5)))}}}"
    if kind == _MAXIMAL:
        return f"{{maximal device={(sharding.integers(4) or [0])[0]}}}"
    if kind != _DEVICES:
        return f"{{{_KINDS.get(kind, 'replicated')}}}"
    dimensions = sharding.integers(10)
    if dimensions:
        devices = f"<={Iota(tuple(dimensions), tuple(sharding.integers(11)))}"
    else:
        devices = ",".join(map(str, sharding.integers(4)))
    rest = " last_tile_dim_replicate" if sharding.integer(6) else ""
    if sharding.has(9):
        names = ", ".join(_KINDS.get(n, "replicated") for n in sharding.integers(9))
        rest = f" last_tile_dims={{{names}}}"
    sizes = ",".join(map(str, sharding.integers(3)))
    return f"{{devices=[{sizes}]{devices}{rest}}}"


_MAXIMAL, _TUPLE_SHARDING, _DEVICES = 1, 2, 3
_KINDS = {0: "replicated", 4: "manual", 5: "unknown", 6: "unreduced"}


def _metadata(metadata: Message) -> str:
    parts = [
        f"{name}={_quoted(metadata.bytes(n))}"
        for n, name in ((1, "op_type"), (2, "op_name"), (3, "source_file"))
        if metadata.has(n)
    ]
    parts += [
        f"{name}={metadata.integer(n)}"
        for n, name in ((4, "source_line"), (15, "stack_frame_id"))
        if metadata.has(n)
    ]
    return f"{{{' '.join(parts)}}}" if parts else ""


def _accuracy(message: Message) -> str:
    if not message.has(2):
        return "{mode=highest}" if message.integer(1) == 1 else ""
    tolerance = message.message(2)
    atol, rtol = (tolerance.float(n, "d") for n in (1, 2))
    return str(Accuracy(atol, rtol, tolerance.integer(3), AccuracyMode.TOLERANCE))


def _domain(message: Message) -> str:
    sides = [_inside(n, sharding_text)(message) for n in (55, 54)]
    return f'{{kind="sharding", entry={sides[0]}, exit={sides[1]}}}'


_DIMENSIONS_OF = {
    "lhs_contracting_dims": 1,
    "rhs_contracting_dims": 2,
    "lhs_batch_dims": 3,
    "rhs_batch_dims": 4,
}
_GATHER = {
    "offset_dims": 1,
    "collapsed_slice_dims": 2,
    "start_index_map": 3,
    "operand_batching_dims": 5,
    "start_indices_batching_dims": 6,
}
_SCATTER = {
    "update_window_dims": 1,
    "inserted_window_dims": 2,
    "scatter_dims_to_operand_dims": 3,
    "input_batching_dims": 5,
    "scatter_indices_batching_dims": 6,
}


def _dot_dimensions(number: int) -> _Writer:
    """Of a dot, and of a ragged one."""

    def write(message: Message) -> str:
        numbers = message.message(90).message(1) if message.has(90) else message.message(30)
        return _numbers(number)(numbers)

    return write


_API_VERSIONS = tuple(CustomCallApiVersion)[2:]
"""Those that are written, and have the numbers from 2 on."""

ATTRIBUTES: Mapping[str, _Writer] = {
    "dimensions": _numbers(14),
    "index": _number(13),
    "window": _inside(15, window_text),
    "dim_labels": _inside(16, _labels),
    "slice": _slices,
    "exponent_bits": _number(18),
    "mantissa_bits": _number(19),
    "padding": _padding,
    "outfeed_config": _string(22),
    "outfeed_shape": _inside(29, shape_text),
    "infeed_config": _string(27),
    "distribution": _word(23, "", *RandomDistribution),
    "epsilon": lambda message: spell_float(message.float(24)) if message.has(24) else "",
    "feature_index": _number(25),
    "channel_id": _number(26),
    "custom_call_target": _string(28),
    **{name: _dot_dimensions(n) for name, n in _DIMENSIONS_OF.items()},
    "lhs_ragged_dims": _inside(90, _numbers(2)),
    "rhs_group_dims": _inside(90, _numbers(3)),
    "fft_length": _numbers(32),
    **{name: _inside(33, _numbers(n)) for name, n in _GATHER.items()},
    "slice_sizes": _numbers(34),
    **{name: _inside(48, _numbers(n)) for name, n in _SCATTER.items()},
    "index_vector_dim": lambda message: next(
        (str(message.message(n).integer(4)) for n in (33, 48) if message.has(n)), ""
    ),
    "sharding": _inside(40, sharding_text),
    "backend_config": _backend_config,
    "is_host_transfer": _flag(47),
    "replica_groups": _groups,
    "feature_group_count": lambda message: _above_one(message.integer(50)),
    "batch_group_count": lambda message: _above_one(message.integer(58)),
    "operand_precision": _precision,
    "source_target_pairs": _pairs,
    "operand_layout_constraints": _layouts,
    "left_side": _inside(59, _flag(1)),
    "unit_diagonal": _inside(59, _flag(3)),
    "transpose_a": _inside(59, _word(4, "TRANSPOSE_INVALID", *Transpose)),
    "lower": lambda message: _flag(2)(message.message(59)) or _flag(1)(message.message(62)),
    "is_stable": _flag(60),
    "direction": lambda message: message.text(63),
    "type": lambda message: message.text(72),
    "custom_call_has_side_effect": _flag(65),
    "delta": _number(66),
    "indices_are_sorted": _flag(67),
    "frontend_attributes": _inside(68, _entries),
    "unique_indices": _flag(69),
    "use_global_device_ids": _flag(71),
    "output_to_operand_aliasing": _aliases,
    "api_version": _word(77, "", "", *_API_VERSIONS),
    "async_execution_thread": lambda message: (
        _string(79)(message) if message.text(79) not in ("", "main") else ""
    ),
    "k": _number(81),
    "is_reverse": _flag(94),
    "num_carries": _number(95),
    "is_composite": _flag(89),
    "result_accuracy": _inside(91, _accuracy),
    "metadata": _inside(7, _metadata),
}
"""Those that are written the same of every instruction that has them."""


def _slice_sizes(message: Message) -> str:
    """Of a collective-permute that moves parts of buffers: a list for each of these."""
    numbers, shape = message.integers(20), message.message(3)
    part = shape.messages(4)[0] if shape.has(4) else shape
    each = max(1, len(part.integers(3)))
    lists = (_list(numbers[i : i + each]) for i in range(0, len(numbers), each))
    return f"{{{','.join(lists)}}}" if numbers else ""


def _above_one(value: int) -> str:
    return str(value) if value > 1 else ""


_WRITTEN_ALWAYS: Mapping[str, Mapping[str, str]] = {
    **{
        opcode: {"dimensions": "{}"}
        for opcode in ("broadcast", "map", "reduce", "reverse", "transpose")
    },
    "get-tuple-element": {"index": "0"},
    "gather": dict.fromkeys(_GATHER, "{}") | {"slice_sizes": "{}"},
    "scatter": dict.fromkeys(_SCATTER, "{}"),
    "reduce-precision": {"exponent_bits": "0", "mantissa_bits": "0"},
    **{
        f"batch-norm-{kind}": {"epsilon": "0", "feature_index": "0"}
        for kind in ("training", "inference", "grad")
    },
    "rng-get-and-update-state": {"delta": "0"},
    "topk": {"k": "0", "largest": "false"},
}
"""Attributes that text always has: what they are where a file leaves them out."""

_OF_OPCODE: Mapping[str, Mapping[str, _Writer]] = {
    "collective-permute": {"slice_sizes": _slice_sizes},
    "collective-permute-start": {"slice_sizes": _slice_sizes},
    "domain": {"domain": _domain},
    "dynamic-slice": {"dynamic_slice_sizes": _numbers(20)},
    "fft": {"fft_type": _word(31, *FftType)},
    "fusion": {"kind": lambda message: message.text(11)},
    "iota": {
        "dimensions": lambda message: "",
        "iota_dimension": lambda message: str((message.integers(14) or [0])[0]),
    },
    "rng-bit-generator": {"algorithm": _word(70, *RandomAlgorithm)},
    "topk": {"largest": _flag(85)},
}
"""Those that are written in another way, or at all, of one opcode only."""


def _callees(opcode: str, names: Sequence[str], selects_by_flag: bool) -> dict[str, str]:
    """The attributes that name computations."""
    form = OPCODES.get(opcode)
    if not names:
        return {}
    keys: Sequence[str] = ("calls" if opcode.startswith("async-") else "to_apply",)
    if form is not None and form.computations:
        keys = form.computations[opcode == "conditional" and selects_by_flag]
    if keys[0] in COMPUTATION_LISTS:
        return {keys[0]: f"{{{', '.join(names)}}}"}
    # The body of a loop stands before its condition.
    return dict(zip(keys, reversed(names) if opcode == "while" else names, strict=False))


def _attributes(instruction: Message, opcode: str) -> dict[str, str]:
    writers = {**ATTRIBUTES, **_OF_OPCODE.get(opcode, {})}
    found = {name: value for name, write in writers.items() if (value := write(instruction))}
    return {**_WRITTEN_ALWAYS.get(opcode, {}), **found}


# The module


@dataclass
class _Names:
    """What instructions and computations are called, by the low half of their ids."""

    computations: dict[int, str]
    instructions: dict[int, str]

    @staticmethod
    def of(found: Mapping[int, str], id_: int, message: Message) -> str:
        name = found.get(id_ & _LOCAL)
        if name is None:
            message.cursor.fail(f"there is nothing with the id {id_} here", message.start)
        return name


_LOCAL = (1 << 32) - 1


def module_text(module: Message) -> str:
    """The HLO text of an HloModuleProto; raises BinaryError."""
    computations = module.messages(3)
    ids = {each.integer(5) & _LOCAL: _name(each.bytes(1)) for each in computations}
    entry = _Names.of(ids, module.integer(6), module)
    head = f"HloModule {_name(module.bytes(1)) or 'module'}"
    if module.message(7).has(1):
        head += ", is_scheduled=true"
    aliases = _input_output_aliases(module.message(8))
    head += f", input_output_alias={aliases}" if aliases else ""
    if module.has(4):
        head += f", entry_computation_layout={{{_program_shape(module.message(4))}}}"
    attributes = _entries(module.message(19))
    head += f", frontend_attributes={attributes}" if attributes else ""
    texts = [head, *_tables(module.message(17))]
    schedule = {
        each.integer(1) & _LOCAL: [id_ & _LOCAL for id_ in each.message(2).integers(1)]
        for each in module.message(7).messages(1)
    }
    for computation in computations:
        name = _name(computation.bytes(1))
        prefix = "ENTRY " if name == entry else ""
        thread = computation.text(8)
        end = f', execution_thread="{thread}"' if thread not in ("", "main") else ""
        texts.append(f"{prefix}%{name} {{\n{_body(computation, ids, schedule)}\n}}{end}")
    return "\n\n".join(texts) + "\n"


def _name(name: bytes) -> str:
    """A name without what no name in text has."""
    return _NO_NAME.sub("_", name.decode("utf-8", "replace"))


_NO_NAME = re.compile(r"[^\w.\-]", re.ASCII)


def _program_shape(shape: Message) -> str:
    return f"({', '.join(map(shape_text, shape.messages(1)))})->{shape_text(shape.message(2))}"


def _input_output_aliases(aliases: Message) -> str:
    parts: list[str] = []
    for each in aliases.messages(1):
        output, parameter = _list(each.integers(1)), _list(each.integers(3))
        kind = "must-alias" if each.integer(4) == 2 else "may-alias"
        parts.append(f"{output}: ({each.integer(2)}, {parameter}, {kind})")
    return f"{{ {', '.join(parts)} }}" if parts else ""


def _tables(index: Message) -> list[str]:
    """The tables of stack frames, in the order of their lines."""
    texts: list[str] = []
    for number, (table, fields) in enumerate(_TABLES.items(), 1):
        if not index.has(number):
            continue
        lines = (
            [_quoted(each) for each in index.all_bytes(number)]
            if fields is None
            else [_line(each, fields) for each in index.messages(number)]
        )
        texts.append("\n".join([table, *(f"{i} {line}" for i, line in enumerate(lines, 1))]))
    return texts


def _line(entry: Message, fields: Mapping[str, int]) -> str:
    # In text, no parent is 1.
    values = {name: entry.integer(n) + (name == "parent_frame_id") for name, n in fields.items()}
    return f"{{{' '.join(f'{name}={value}' for name, value in values.items())}}}"


_TABLES: Mapping[str, Mapping[str, int] | None] = {
    "FileNames": None,
    "FunctionNames": None,
    "FileLocations": {
        "file_name_id": 1,
        "function_name_id": 2,
        "line": 3,
        "end_line": 5,
        "column": 4,
        "end_column": 6,
    },
    "StackFrames": {"file_location_id": 1, "parent_frame_id": 2},
}
"""By the number of their field; names have no fields of their own."""


def _body(
    computation: Message, computations: Mapping[int, str], schedule: Mapping[int, Sequence[int]]
) -> str:
    instructions = computation.messages(2)
    order = schedule.get(computation.integer(5) & _LOCAL)
    if order is not None:
        places = {id_: place for place, id_ in enumerate(order)}
        instructions.sort(key=lambda each: places.get(each.integer(35) & _LOCAL, len(places)))
    names = {each.integer(35) & _LOCAL: _name(each.bytes(1)) for each in instructions}
    shapes = {each.integer(35) & _LOCAL: each.message(3) for each in instructions}
    root = computation.integer(6) & _LOCAL
    lines: list[str] = []
    for each in instructions:
        opcode = each.text(2)
        operands = [_Names.of(names, id_, each) for id_ in each.integers(36)]
        callees = [f"%{_Names.of(computations, id_, each)}" for id_ in each.integers(38)]
        first = shapes.get(each.integers(36)[0] & _LOCAL) if operands else None
        attributes = _attributes(each, opcode)
        attributes |= _callees(opcode, callees, first is not None and first.integer(2) == 1)
        before = [f"%{_Names.of(names, id_, each)}" for id_ in each.integers(37)]
        if before:
            attributes["control-predecessors"] = f"{{{', '.join(before)}}}"
        match opcode:
            case "constant":
                argument = spell_literal(literal_of(literal_value(each.message(8))))
            case "parameter":
                argument = str(each.integer(9))
            case _:
                argument = ", ".join(f"%{name}" for name in operands)
        listed = "".join(f", {name}={value}" for name, value in attributes.items())
        is_root = each.integer(35) & _LOCAL == root
        name = _name(each.bytes(1))
        prefix = "ROOT " if is_root else ""
        lines.append(
            f"  {prefix}%{name} = {shape_text(each.message(3))} {opcode}({argument}){listed}"
        )
    return "\n".join(lines)


@dataclass(frozen=True)
class Snapshot:
    """A module with the arguments of one run."""

    text: str
    """The HLO text of the module."""
    arguments: Sequence[np.ndarray[Any, Any]]
    """One array for each part of each argument; none where a file has only a module."""


def read_snapshot(data: bytes, file_name: str = "<bytes>") -> Snapshot:
    """
    The module of an HloModuleProto, an HloProto or an HloSnapshot, with the arguments of the last.

    Raises BinaryError.
    """
    message = Message(Cursor(data, file_name))
    module, arguments = _unwrapped(message)
    return Snapshot(module_text(module), flatten_results(list(map(literal_value, arguments))))


def _unwrapped(message: Message) -> tuple[Message, Sequence[Message]]:
    """The module within a message, and the literals beside it."""
    around: list[Message] = []
    while len(around) < _DEEPEST:
        try:
            inner = message.message(1)
        except BinaryError:
            break  # The name of a module.
        if not inner.has(1):
            break
        around.append(message)
        message = inner
    return message, around[0].messages(2) if len(around) == _DEEPEST else ()


_DEEPEST = 2
"""A snapshot has a proto that has the module."""


def is_module(data: bytes) -> bool:
    """Whether data may be a module: protos have no mark at their start, but a name or a message."""
    try:
        return data[:1] == b"\n" and _unwrapped(Message(Cursor(data, "")))[0].has(3)
    except BinaryError:
        return False
