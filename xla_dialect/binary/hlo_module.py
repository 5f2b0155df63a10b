"""
HloModuleProto, HloProto and HloSnapshot, read as the HLO text of the module.

`DEFINITIONS` has the messages and their fields. The importer of texts gives everything its meaning:
fields of instructions have the names of attributes in text, and are spelled by their kinds.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
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
from xla_dialect.binary.cursor import BinaryError, Cursor, definitions
from xla_dialect.binary.stablehlo_encodings import FEATURES, labels
from xla_dialect.element_types import NUMPY_TYPES
from xla_dialect.hlo_text.opcodes import OPCODES
from xla_dialect.hlo_text.syntax import COMPUTATION_LISTS
from xla_dialect.literals.arrays import Value, flatten_results, literal_of
from xla_dialect.shapes.window import Window
from xla_dialect.sharding.mesh import Iota
from xla_dialect.stablehlo.attributes import Precision
from xla_dialect.text.accuracy import Accuracy, AccuracyMode
from xla_dialect.text.literals import spell_float, spell_literal
from xla_dialect.text.strings import quoted_text

DEFINITIONS = definitions("""
Wrapper: Wrapper inner = 1, Literal* arguments = 2
Module: bytes name = 1, Computation* computations = 3, ProgramShape program_shape = 4,
    int entry_id = 6, Schedule schedule = 7, InputOutputAliases input_output_alias = 8,
    StackFrameIndex stack_frames = 17, Map frontend_attributes = 19
ProgramShape: Shape* parameters = 1, Shape result = 2
Schedule: Sequence* sequences = 1
Sequence: int computation = 1, Ids order = 2
Ids: int* ids = 1
InputOutputAliases: InputOutputAlias* entries = 1
InputOutputAlias: int* output = 1, int operand = 2, int* index = 3, int kind = 4
StackFrameIndex: bytes* FileNames = 1, bytes* FunctionNames = 2, FileLocation* FileLocations = 3,
    StackFrame* StackFrames = 4
FileLocation: int file_name_id = 1, int function_name_id = 2, int line = 3, int end_line = 5,
    int column = 4, int end_column = 6
StackFrame: int file_location_id = 1, int parent_frame_id = 2
Map: Entry* entries = 1
Entry: string key = 1, bytes value = 2
Computation: bytes name = 1, Instruction* instructions = 2, int id = 5, int root_id = 6,
    string thread = 8

Instruction: bytes name = 1, string opcode = 2, Shape shape = 3, Literal literal = 8,
    int parameter_number = 9, int id = 35, int* operands = 36, int* predecessors = 37,
    int* computations = 38, Sharding exit = 54, Sharding entry = 55, bool constrains_layouts = 56
Attributes: Metadata metadata = 7, string kind = 11, int index = 13, int* dimensions = 14,
    Window window = 15, ConvolutionNumbers dim_labels = 16, Slice* slice = 17,
    int exponent_bits = 18, int mantissa_bits = 19, int* dynamic_slice_sizes = 20,
    Padding padding = 21, bytes outfeed_config = 22, Distribution distribution = 23,
    float epsilon = 24, int feature_index = 25, int channel_id = 26, bytes infeed_config = 27,
    bytes custom_call_target = 28, Shape outfeed_shape = 29, Dot dot = 30, FftType fft_type = 31,
    int* fft_length = 32, Gather gather = 33, int* slice_sizes = 34, Sharding sharding = 40,
    json backend_config = 43, bool is_host_transfer = 47, Scatter scatter = 48,
    Group* groups = 49, count feature_group_count = 50, Precisions operand_precision = 51,
    Pair* source_target_pairs = 52, Shape* operand_layout_constraints = 57,
    count batch_group_count = 58, TriangularSolve triangular_solve = 59, bool is_stable = 60,
    Cholesky cholesky = 62, string direction = 63, bool custom_call_has_side_effect = 65,
    int delta = 66, bool indices_are_sorted = 67, Map frontend_attributes = 68,
    bool unique_indices = 69, Algorithm algorithm = 70, bool use_global_device_ids = 71,
    string type = 72, Alias* output_to_operand_aliasing = 74, ApiVersion api_version = 77,
    thread async_execution_thread = 79, int k = 81, bool largest = 85, Devices devices = 87,
    bool is_composite = 89, RaggedDot ragged_dot = 90, Accuracy result_accuracy = 91,
    IotaGroups iota_groups = 92, bool is_reverse = 94, int num_carries = 95
Metadata: bytes op_type = 1, bytes op_name = 2, bytes source_file = 3, int source_line = 4,
    int stack_frame_id = 15
Window: WindowDimension* dimensions = 1
WindowDimension: int size = 1, int stride = 2, int low = 3, int high = 4, int window_dilation = 5,
    int base_dilation = 6, int reversal = 7
ConvolutionNumbers: int input_batch = 7, int input_feature = 8, int* input_spatial = 11,
    int kernel_input = 3, int kernel_output = 4, int* kernel_spatial = 6,
    int output_batch = 9, int output_feature = 10, int* output_spatial = 12
Slice: int start = 1, int limit = 2, int stride = 3
Padding: PaddingDimension* dimensions = 1
PaddingDimension: int low = 1, int high = 2, int interior = 3
Dot: int* lhs_contracting_dims = 1, int* rhs_contracting_dims = 2, int* lhs_batch_dims = 3,
    int* rhs_batch_dims = 4
RaggedDot: Dot dot = 1, int* lhs_ragged_dims = 2, int* rhs_group_dims = 3
Gather: int* offset_dims = 1, int* collapsed_slice_dims = 2, int* start_index_map = 3,
    int index_vector_dim = 4, int* operand_batching_dims = 5, int* start_indices_batching_dims = 6
Scatter: int* update_window_dims = 1, int* inserted_window_dims = 2,
    int* scatter_dims_to_operand_dims = 3, int index_vector_dim = 4, int* input_batching_dims = 5,
    int* scatter_indices_batching_dims = 6
TriangularSolve: bool left_side = 1, bool lower = 2, bool unit_diagonal = 3,
    Transpose transpose_a = 4
Cholesky: bool lower = 1
Group: int* ids = 1
Devices: Group* groups = 1, IotaGroups iota = 2
IotaGroups: int count = 1, int size = 2, int* dimensions = 3, int* permutation = 4
Precisions: int* operands = 1
Pair: int source = 1, int target = 2
Alias: int* output = 1, int operand = 2, int* index = 3
Accuracy: int mode = 1, Tolerance tolerance = 2
Tolerance: double atol = 1, double rtol = 2, int ulps = 3
Sharding: int kind = 1, int* sizes = 3, int* devices = 4, Sharding* elements = 5,
    bool replicates_last = 6, int* last_kinds = 9, int* iota = 10, int* permutation = 11

Shape: int element_type = 2, int* sizes = 3, Shape* elements = 4, Layout layout = 5,
    int* is_dynamic = 6
Layout: int* minor_to_major = 1, Tile* tiles = 6, int element_bits = 7, int memory_space = 8
Tile: int* sizes = 1
Literal: Shape shape = 1, int* pred = 2, bytes* u8 = 3, int* s32 = 4, int* s64 = 5, int* u32 = 6,
    int* u64 = 7, bytes* f32 = 8, bytes* f64 = 9, Literal* elements = 10, bytes* f16 = 11,
    bytes* c64 = 12, bytes* bf16 = 13, bytes* s8 = 15, bytes* u16 = 16, bytes* s16 = 17,
    bytes* c128 = 18, bytes* f8e5m2 = 19, bytes* f8e4m3fn = 20, bytes* s4 = 21, bytes* u4 = 22,
    bytes* f8e4m3b11fnuz = 23, bytes* f8e5m2fnuz = 24, bytes* f8e4m3fnuz = 25, bytes* s2 = 26,
    bytes* u2 = 27, bytes* f8e4m3 = 28, bytes* f8e3m4 = 29, bytes* s1 = 30, bytes* u1 = 31,
    bytes* f4e2m1fn = 32, bytes* f8e8m0fnu = 33, bytes* f6e3m2fn = 35, bytes* f6e2m3fn = 36
""")
"""
Messages of protos with the fields that are read.

`Attributes` are those of an `Instruction`. Elements of literals have the name of their type.
"""

_BY_NUMBER = {
    name: {field[2]: field for field in definition.values()}
    for name, definition in DEFINITIONS.items()
}

_WORDS: Mapping[str, Sequence[str]] = {
    "Algorithm": tuple(RandomAlgorithm),
    # Versions before those that are written have no words.
    "ApiVersion": ("", "", *tuple(CustomCallApiVersion)[2:]),
    "Distribution": ("", *RandomDistribution),
    "FftType": tuple(FftType),
    "Transpose": ("TRANSPOSE_INVALID", *Transpose),
}
"""The words of enumerations by their numbers; empty for what is not written."""

# The wire format of protocol buffers: numbers of fields, and varints or bytes for each.
#
# The library `protobuf` (0.02 s to load) would need the definitions of all messages, generated or
# by hand; what is read here are some hundred fields.

_VARINT, _FIXED64, _LENGTH_DELIMITED, _FIXED32 = 0, 1, 2, 5


_NUMBERS = ("int", "bool", "count", *_WORDS)
"""The kinds of fields that are varints."""
_REALS = {"float": "f", "double": "d"}
"""The kinds of fields that are floats, with their letters in `struct`."""


class Message:
    """A message by its definition; messages inside are read when asked for."""

    def __init__(self, kind: str, cursor: Cursor):
        self.kind = kind
        self.cursor = cursor
        self.start = cursor.offset
        self._values: dict[int, list[int | Cursor]] = {}
        for number, value in fields(cursor):
            self._values.setdefault(number, []).append(value)

    def viewed_as(self, kind: str) -> Message:
        """The same fields by another definition."""
        message = copy(self)
        message.kind = kind
        return message

    def __contains__(self, name: str) -> bool:
        """Whether a field is there."""
        return DEFINITIONS[self.kind][name][2] in self._values

    def __getitem__(self, name: str) -> Any:
        """The value of a field, or a list; zero, empty or without fields where it is left out."""
        return self._read(*DEFINITIONS[self.kind][name])

    def given(self) -> Iterator[tuple[str, str, Any]]:
        """Kind, name and value of each field that is there."""
        for field in map(_BY_NUMBER[self.kind].get, self._values):
            if field is not None:
                yield *field[:2], self._read(*field)

    def _read(self, kind: str, name: str, number: int) -> Any:
        values = self._values.get(number, ())
        if kind.endswith("*"):
            return [each for value in values for each in self._listed(kind[:-1], name, value)]
        if values or kind not in _REALS:
            nothing = 0 if kind in _NUMBERS else Cursor(b"", self.cursor.file)
            return self._value(kind, name, values[-1] if values else nothing)
        return 0.0

    def _listed(self, kind: str, name: str, value: int | Cursor) -> Iterator[Any]:
        """The elements of a list that a value has: numbers may be packed."""
        if isinstance(value, int) or kind not in _NUMBERS:
            yield self._value(kind, name, value)
            return
        packed = value.again()
        while not packed.is_done:
            yield varint(packed)

    def _value(self, kind: str, name: str, value: int | Cursor) -> Any:
        if isinstance(value, int) != (kind in _NUMBERS):
            self.cursor.fail(f"field {name} has another wire type than {kind}", self.start)
        if isinstance(value, int):
            return value
        if kind in DEFINITIONS:
            return Message(kind, value.again())
        data = value.data[value.offset : value.end]
        if kind in _REALS:
            size = struct.calcsize(_REALS[kind])
            self.cursor.check(
                len(data) == size,
                "field {} has {} bytes, not {}",
                name,
                len(data),
                size,
                at=self.start,
            )
            return struct.unpack(f"<{_REALS[kind]}", data)[0]
        if kind in ("string", "thread"):
            return value.text_of(data, f"field {name}", self.start)
        return data


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
    number = shape["element_type"]
    if number == _TUPLE:
        return f"({', '.join(map(shape_text, shape['elements']))})"
    name = ELEMENT_TYPES.get(number)
    if name is None or number == _BUFFER:
        shape.cursor.fail(f"element type {number} is not known", shape.start)
    dynamic = [*shape["is_dynamic"], *[0] * len(shape["sizes"])]
    bounds = (
        "<=" * bool(is_dynamic) + str(size)
        for size, is_dynamic in zip(shape["sizes"], dynamic, strict=False)
    )
    return f"{name}[{','.join(bounds)}]{_layout_text(shape['layout'])}"


def _layout_text(layout: Message) -> str:
    order = ",".join(map(str, layout["minor_to_major"]))
    tiles = "".join(f"({','.join(map(str, tile['sizes']))})" for tile in layout["tiles"])
    rest = f"T{tiles}" if tiles else ""
    rest += f"E({layout['element_bits']})" if layout["element_bits"] else ""
    rest += f"S({layout['memory_space']})" if layout["memory_space"] else ""
    if not order and not rest:
        return ""
    return f"{{{order}:{rest}}}" if rest else f"{{{order}}}"


# Literals


def literal_value(literal: Message) -> Value:
    """The array that a literal is, or a tuple of values."""
    shape = literal["shape"]
    if shape["element_type"] == _TUPLE:
        return tuple(map(literal_value, literal["elements"]))
    return literal_array(literal, shape)


def literal_array(literal: Message, shape: Message) -> np.ndarray[Any, Any]:
    """The elements of a literal of an array type, row-major."""
    number, sizes = shape["element_type"], shape["sizes"]
    name = ELEMENT_TYPES.get(number, "")
    literal.cursor.check(
        name in NUMPY_TYPES and all(size >= 0 for size in sizes),
        "a literal has element type {}, sizes {}",
        number,
        sizes,
        at=literal.start,
    )
    dtype, content = NUMPY_TYPES[name], literal[name]
    if DEFINITIONS["Literal"][name][0] == "int*":
        # What is above the signed numbers stands in two's complement.
        elements = np.array(content, np.int64).astype(dtype)
    else:
        data = b"".join(content)
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
    return in_rows(elements, sizes, shape["layout"]["minor_to_major"])


def in_rows(
    elements: np.ndarray[Any, Any], sizes: Sequence[int], minor_to_major: Sequence[int]
) -> np.ndarray[Any, Any]:
    """An array of elements that stand in the order of a layout."""
    order = list(reversed(minor_to_major))
    if sorted(order) != list(range(len(sizes))):
        return elements.reshape(sizes)
    return elements.reshape([sizes[d] for d in order]).transpose(np.argsort(order))


# Attributes of instructions


def _list(items: Sequence[int | str]) -> str:
    return f"{{{','.join(map(str, items))}}}"


def _quoted(value: bytes) -> str:
    return quoted_text(value.decode("utf-8", "surrogateescape"))


def window_text(window: Message) -> str:
    """`{size=2x3 stride=2x1}`"""
    dimensions = window["dimensions"]
    if not dimensions:
        return ""
    size, stride, low, high, window_dilation, base_dilation, reversal = (
        [each[name] for each in dimensions] for name in DEFINITIONS["WindowDimension"]
    )
    found = Window.of(
        size,
        stride=stride,
        padding=list(zip(low, high, strict=True)),
        window_dilation=window_dilation,
        base_dilation=base_dilation,
        reversal=list(map(bool, reversal)),
    )
    return f"{{{found}}}"


def _labels(numbers: Message) -> str:
    found = [numbers[name] for name in DEFINITIONS[numbers.kind]]
    sides = (labels(letters, *found[3 * i : 3 * i + 3]) for i, letters in enumerate(FEATURES))
    return "{}_{}->{}".format(*sides)


def _slices(slices: Sequence[Message]) -> str:
    parts: list[str] = []
    for each in slices:
        stride = f":{each['stride']}" if each["stride"] != 1 else ""
        parts.append(f"[{each['start']}:{each['limit']}{stride}]")
    return f"{{{', '.join(parts)}}}"


def _padding(padding: Message) -> str:
    return "x".join(
        f"{each['low']}_{each['high']}_{each['interior']}" for each in padding["dimensions"]
    )


def _groups(groups: Sequence[Message]) -> str:
    return _list([_list(each["ids"]) for each in groups])


def _devices(devices: Message) -> str:
    return _groups(devices["groups"]) if "groups" in devices else _iota_groups(devices["iota"])


def _iota_groups(iota: Message) -> str:
    """`[2,4]<=[4,2]T(1,0)`"""
    dimensions = tuple(iota["dimensions"])
    if not dimensions:
        return ""
    return f"[{iota['count']},{iota['size']}]<={Iota(dimensions, tuple(iota['permutation']))}"


def _entries(map_: Message) -> str:
    """The entries of a map of texts: `{a="b"}`."""
    found = [f"{each['key']}={_quoted(each['value'])}" for each in map_["entries"]]
    return f"{{{','.join(found)}}}" if found else ""


def _precision(precisions: Message) -> str:
    words = dict(enumerate(Precision))
    found = [str(words.get(n, n)) for n in precisions["operands"]]
    return _list(found) if any(word != Precision.DEFAULT for word in found) else ""


def _aliases(aliases: Sequence[Message]) -> str:
    """`{{1}: (0, {})}`, in the head of a module with the kind: `{{1}: (0, {}, may-alias)}`."""
    parts: list[str] = []
    for each in aliases:
        kind = "" if each.kind == "Alias" else f", {_ALIAS_KINDS.get(each['kind'], 'may-alias')}"
        parts.append(f"{_list(each['output'])}: ({each['operand']}, {_list(each['index'])}{kind})")
    return f"{{{', '.join(parts)}}}" if parts else ""


_ALIAS_KINDS = {2: "must-alias"}


def sharding_text(sharding: Message) -> str:
    """`{devices=[2,1]<=[2]}`, `{replicated}`, or a tuple of these."""
    kind, devices = sharding["kind"], sharding["devices"]
    if kind == _TUPLE_SHARDING:
        return f"{{{', '.join(map(sharding_text, sharding['elements']))}}}"
    if kind == _MAXIMAL:
        return f"{{maximal device={(devices or [0])[0]}}}"
    if kind != _DEVICES:
        return f"{{{_KINDS.get(kind, 'replicated')}}}"
    iota = Iota(tuple(sharding["iota"]), tuple(sharding["permutation"]))
    listed = f"<={iota}" if iota.dimensions else ",".join(map(str, devices))
    rest = " last_tile_dim_replicate" if sharding["replicates_last"] else ""
    if "last_kinds" in sharding:
        names = ", ".join(_KINDS.get(n, "replicated") for n in sharding["last_kinds"])
        rest = f" last_tile_dims={{{names}}}"
    return f"{{devices=[{','.join(map(str, sharding['sizes']))}]{listed}{rest}}}"


_MAXIMAL, _TUPLE_SHARDING, _DEVICES = 1, 2, 3
_KINDS = {0: "replicated", 4: "manual", 5: "unknown", 6: "unreduced"}


def _metadata(metadata: Message) -> str:
    parts = [f"{name}={value}" for name, value in _attributes(metadata)]
    return f"{{{' '.join(parts)}}}" if parts else ""


def _accuracy(accuracy: Message) -> str:
    if "tolerance" not in accuracy:
        return "{mode=highest}" if accuracy["mode"] == 1 else ""
    atol, rtol, ulps = (accuracy["tolerance"][name] for name in DEFINITIONS["Tolerance"])
    return str(Accuracy(atol, rtol, ulps, AccuracyMode.TOLERANCE))


_SPELLINGS: Mapping[str, Callable[[Any], str]] = {
    "Accuracy": _accuracy,
    "Alias*": _aliases,
    "ConvolutionNumbers": _labels,
    "Devices": _devices,
    "Group*": _groups,
    "IotaGroups": _iota_groups,
    "Map": _entries,
    "Metadata": _metadata,
    "Padding": _padding,
    "Pair*": lambda pairs: _list([_list((each["source"], each["target"])) for each in pairs]),
    "Precisions": _precision,
    "Shape": shape_text,
    "Shape*": lambda shapes: f"{{{', '.join(map(shape_text, shapes))}}}",
    "Sharding": sharding_text,
    "Slice*": _slices,
    "Window": window_text,
    "bool": lambda value: "true" if value else "",
    "bytes": _quoted,
    "count": lambda value: str(value) if value > 1 else "",
    "float": spell_float,
    "int": str,
    "int*": _list,
    "json": lambda value: (
        value.decode("utf-8", "surrogateescape") if value.startswith(b"{") else _quoted(value)
    ),
    "string": str,
    "thread": lambda value: quoted_text(value) if value not in ("", "main") else "",
}
"""What HLO text has for a value of a kind; empty where it is left out."""


def _attributes(message: Message) -> Iterator[tuple[str, str]]:
    """The attributes that a message has in text; those of messages inside are its own."""
    for kind, name, value in message.given():
        if kind in _SPELLINGS:
            text = _SPELLINGS[kind](value)
        elif kind in _WORDS:
            words = dict(enumerate(_WORDS[kind]))
            message.cursor.check(
                value in words,
                "field {} is {}, of {} words",
                name,
                value,
                len(words),
                at=message.start,
            )
            text = words[value]
        else:
            yield from _attributes(value)
            continue
        if text:
            yield "replica_groups" if name in _REPLICA_GROUPS else name, text


_REPLICA_GROUPS = ("groups", "devices", "iota_groups")
"""The fields in which versions of XLA have the groups of a collective."""


_WRITTEN_ALWAYS: Mapping[str, Mapping[str, str]] = {
    **{
        opcode: {"dimensions": "{}"}
        for opcode in ("broadcast", "map", "reduce", "reverse", "transpose")
    },
    "get-tuple-element": {"index": "0"},
    "gather": dict.fromkeys([*DEFINITIONS["Gather"], "slice_sizes"], "{}")
    | {"index_vector_dim": "0"},
    "scatter": dict.fromkeys(DEFINITIONS["Scatter"], "{}") | {"index_vector_dim": "0"},
    "fft": {"fft_type": _WORDS["FftType"][0]},
    "iota": {"dimensions": "{0}"},
    "rng-bit-generator": {"algorithm": _WORDS["Algorithm"][0]},
    "triangular-solve": {"transpose_a": _WORDS["Transpose"][0]},
    "reduce-precision": {"exponent_bits": "0", "mantissa_bits": "0"},
    **{
        f"batch-norm-{kind}": {"epsilon": "0", "feature_index": "0"}
        for kind in ("training", "inference", "grad")
    },
    "rng-get-and-update-state": {"delta": "0"},
    "topk": {"k": "0", "largest": "false"},
}
"""Attributes that text always has: what they are where a file leaves them out."""


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


def _of_instruction(instruction: Message, opcode: str) -> dict[str, str]:
    """The attributes of an instruction, but for those that name computations or instructions."""
    found = {
        **_WRITTEN_ALWAYS.get(opcode, {}),
        **dict(_attributes(instruction.viewed_as("Attributes"))),
    }
    if opcode == "iota":
        found["iota_dimension"] = found.pop("dimensions").strip("{}")
    if opcode == "domain":
        sides = (f"{side}={sharding_text(instruction[side])}" for side in ("entry", "exit"))
        found["domain"] = f'{{kind="sharding", {", ".join(sides)}}}'
    if opcode.startswith("collective-permute") and "dynamic_slice_sizes" in found:
        found["slice_sizes"] = _slice_sizes(found.pop("dynamic_slice_sizes"), instruction["shape"])
    if not instruction["constrains_layouts"]:
        found.pop("operand_layout_constraints", None)
    elif opcode == "custom-call":
        found.setdefault("operand_layout_constraints", "{}")
    return found


def _slice_sizes(sizes: str, shape: Message) -> str:
    """Those of a collective-permute that moves parts of buffers: a list for each of these."""
    numbers = sizes.strip("{}").split(",")
    part = shape["elements"][0] if "elements" in shape else shape
    each = max(1, len(part["sizes"]))
    return _list([_list(numbers[i : i + each]) for i in range(0, len(numbers), each)])


# The module


def _named(names: Mapping[int, str], id_: int, message: Message) -> str:
    """What has an id, by whose low half instructions and computations are named."""
    name = names.get(id_ & _LOCAL)
    if name is None:
        message.cursor.fail(f"there is nothing with the id {id_} here", message.start)
    return name


_LOCAL = (1 << 32) - 1


def module_text(module: Message) -> str:
    """The HLO text of an HloModuleProto; raises BinaryError."""
    computations = module["computations"]
    ids = {each["id"] & _LOCAL: _name(each["name"]) for each in computations}
    entry = _named(ids, module["entry_id"], module)
    head = f"HloModule {_name(module['name']) or 'module'}"
    if module["schedule"]["sequences"]:
        head += ", is_scheduled=true"
    aliases = _aliases(module["input_output_alias"]["entries"])
    head += f", input_output_alias={aliases}" if aliases else ""
    if "program_shape" in module:
        head += f", entry_computation_layout={{{_program_shape(module['program_shape'])}}}"
    attributes = _entries(module["frontend_attributes"])
    head += f", frontend_attributes={attributes}" if attributes else ""
    texts = [head, *_tables(module["stack_frames"])]
    schedule = {
        each["computation"] & _LOCAL: [id_ & _LOCAL for id_ in each["order"]["ids"]]
        for each in module["schedule"]["sequences"]
    }
    for computation in computations:
        name = _name(computation["name"])
        prefix = "ENTRY " if name == entry else ""
        thread = computation["thread"]
        end = f', execution_thread="{thread}"' if thread not in ("", "main") else ""
        texts.append(f"{prefix}%{name} {{\n{_body(computation, ids, schedule)}\n}}{end}")
    return "\n\n".join(texts) + "\n"


def _name(name: bytes) -> str:
    """A name without what no name in text has."""
    return _NO_NAME.sub("_", name.decode("utf-8", "replace"))


_NO_NAME = re.compile(r"[^\w.\-]", re.ASCII)


def _program_shape(shape: Message) -> str:
    return f"({', '.join(map(shape_text, shape['parameters']))})->{shape_text(shape['result'])}"


def _tables(index: Message) -> list[str]:
    """The tables of stack frames, in the order of their lines."""
    texts: list[str] = []
    for _, table, entries in index.given():
        lines = (f"{i} {_line(each)}" for i, each in enumerate(entries, 1))
        texts.append("\n".join([table, *lines]))
    return texts


def _line(entry: Message | bytes) -> str:
    if isinstance(entry, bytes):
        return _quoted(entry)
    # In text, no parent is 1.
    values = {name: entry[name] + (name == "parent_frame_id") for name in DEFINITIONS[entry.kind]}
    return f"{{{' '.join(f'{name}={value}' for name, value in values.items())}}}"


def _body(
    computation: Message, computations: Mapping[int, str], schedule: Mapping[int, Sequence[int]]
) -> str:
    instructions: list[Message] = computation["instructions"]
    order = schedule.get(computation["id"] & _LOCAL)
    if order is not None:
        places = {id_: place for place, id_ in enumerate(order)}
        instructions.sort(key=lambda each: places.get(each["id"] & _LOCAL, len(places)))
    names = {each["id"] & _LOCAL: _name(each["name"]) for each in instructions}
    shapes = {each["id"] & _LOCAL: each["shape"] for each in instructions}
    root = computation["root_id"] & _LOCAL
    lines: list[str] = []
    for each in instructions:
        opcode, id_ = each["opcode"], each["id"] & _LOCAL
        operands = [f"%{_named(names, id_, each)}" for id_ in each["operands"]]
        callees = [f"%{_named(computations, id_, each)}" for id_ in each["computations"]]
        first = shapes.get(each["operands"][0] & _LOCAL) if operands else None
        attributes = _of_instruction(each, opcode)
        attributes |= _callees(opcode, callees, first is not None and first["element_type"] == 1)
        before = [f"%{_named(names, id_, each)}" for id_ in each["predecessors"]]
        if before:
            attributes["control-predecessors"] = f"{{{', '.join(before)}}}"
        match opcode:
            case "constant":
                argument = spell_literal(literal_of(literal_value(each["literal"])))
            case "parameter":
                argument = str(each["parameter_number"])
            case _:
                argument = ", ".join(operands)
        listed = "".join(f", {name}={value}" for name, value in attributes.items())
        head = f"{'ROOT ' * (id_ == root)}%{names[id_]} = {shape_text(shapes[id_])}"
        lines.append(f"  {head} {opcode}({argument}){listed}")
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
    message = Message("Wrapper", Cursor(data, file_name))
    module, arguments = _unwrapped(message)
    return Snapshot(module_text(module), flatten_results(list(map(literal_value, arguments))))


def _unwrapped(message: Message) -> tuple[Message, Sequence[Message]]:
    """The module within a message, and the literals beside it."""
    around: list[Message] = []
    while len(around) < _DEEPEST:
        try:
            inner = message["inner"]
        except BinaryError:
            break  # The name of a module.
        if "inner" not in inner:
            break
        around.append(message)
        message = inner
    arguments = around[0]["arguments"] if len(around) == _DEEPEST else ()
    return message.viewed_as("Module"), arguments


_DEEPEST = 2
"""A snapshot has a proto that has the module."""


def is_module(data: bytes) -> bool:
    """Whether data may be a module: protos have no mark at their start, but a name or a message."""
    try:
        return (
            data[:1] == b"\n"
            and "computations" in _unwrapped(Message("Wrapper", Cursor(data, "")))[0]
        )
    except BinaryError:
        return False
