"""
The wire format of protocol buffers, and the messages of HLO modules in it.

`DEFINITIONS` has the messages and their fields, for reading and for writing. The library `protobuf`
(0.02 s to load) would need the definitions of all messages, generated or by hand; used here are
some hundred fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, cast

from xla_dialect.attributes import (
    CustomCallApiVersion,
    FftType,
    RandomAlgorithm,
    RandomDistribution,
    Transpose,
)
from xla_dialect.binary.cursor import Cursor, definitions
from xla_dialect.hlo_text.grammars import PRECISION_ALGORITHMS
from xla_dialect.stablehlo.attributes import Precision

DEFINITIONS = definitions("""
Wrapper: Wrapper inner = 1, Literal* arguments = 2
Module: bytes name = 1, bytes entry_name = 2, Computation* computations = 3,
    ProgramShape program_shape = 4, int entry_id = 6, Schedule schedule = 7,
    StackFrameIndex stack_frames = 17
ModuleWithConfig: Module module = 1, Config config = 2
Config: ProgramShape entry_layout = 1, int replica_count = 4, int num_partitions = 5,
    bool alias_passthrough_params = 17, bool* allow_spmd_sharding_propagation_to_output = 27,
    bool* allow_spmd_sharding_propagation_to_parameters = 33
ModuleAttributes: Aliases input_output_alias = 8, Donors buffer_donor = 18,
    Map frontend_attributes = 19
ProgramShape: Shape* parameters = 1, Shape result = 2, bytes* names = 3
Schedule: Sequence* sequences = 1
Sequence: int computation = 1, Ids order = 2
Ids: int* ids = 1
Aliases: ModuleAlias* entries = 1
ModuleAlias: int* output = 1, int operand = 2, int* index = 3, AliasKind kind = 4
Donors: Donor* entries = 1
Donor: int operand = 1, int* index = 2
StackFrameIndex: bytes* FileNames = 1, bytes* FunctionNames = 2, FileLocation* FileLocations = 3,
    StackFrame* StackFrames = 4
FileLocation: int file_name_id = 1, int function_name_id = 2, int line = 3, int end_line = 5,
    int column = 4, int end_column = 6
StackFrame: int file_location_id = 1, int parent_frame_id = 2
Map: Entry* entries = 1
Entry: string key = 1, bytes value = 2
Computation: bytes name = 1, Instruction* instructions = 2, ProgramShape program_shape = 4,
    int id = 5, int root_id = 6
ComputationAttributes: thread execution_thread = 8

Instruction: bytes name = 1, string opcode = 2, Shape shape = 3, Literal literal = 8,
    int parameter_number = 9, int id = 35, int* operands = 36, int* predecessors = 37,
    int* computations = 38, Sharding exit = 54, Sharding entry = 55
Attributes: Metadata metadata = 7, string kind = 11, int index = 13, int* dimensions = 14,
    Window window = 15, ConvolutionNumbers dim_labels = 16, Slice* slice = 17,
    int exponent_bits = 18, int mantissa_bits = 19, int* dynamic_slice_sizes = 20,
    Padding padding = 21, bytes outfeed_config = 22, Distribution distribution = 23,
    float epsilon = 24, int feature_index = 25, int channel_id = 26, bytes infeed_config = 27,
    bytes custom_call_target = 28, Shape outfeed_shape = 29, DotNumbers dot = 30,
    FftType fft_type = 31, int* fft_length = 32, GatherNumbers gather = 33, int* slice_sizes = 34,
    Sharding sharding = 40, json backend_config = 43, bool is_host_transfer = 47,
    ScatterNumbers scatter = 48, Group* groups = 49, count feature_group_count = 50,
    PrecisionConfig precision_config = 51, Pair* source_target_pairs = 52,
    bool constrain_layout = 56, Shape* operand_layout_constraints = 57,
    count batch_group_count = 58, TriangularSolveOptions triangular_solve = 59,
    bool is_stable = 60, Replication replication = 61, CholeskyOptions cholesky = 62,
    string direction = 63, bool custom_call_has_side_effect = 65, int delta = 66,
    bool indices_are_sorted = 67, Map frontend_attributes = 68, bool unique_indices = 69,
    Algorithm algorithm = 70, bool use_global_device_ids = 71, string type = 72,
    Alias* output_to_operand_aliasing = 74, PaddingType padding_type = 75,
    ScheduleWord schedule = 76, ApiVersion api_version = 77, thread async_execution_thread = 79,
    int k = 81, bool largest = 85, Devices devices = 87, bool is_composite = 89,
    RaggedDotNumbers ragged_dot = 90, Accuracy result_accuracy = 91, IotaGroups iota_groups = 92,
    MeshGroups mesh_groups = 93, bool is_reverse = 94, int num_carries = 95,
    TriState is_associative = 96, ConvolutionKind convolution_kind = 97
Metadata: bytes op_type = 1, bytes op_name = 2, bytes source_file = 3, int source_line = 4,
    int* profile_type = 5, bytes deduplicated_name = 12, int stack_frame_id = 15,
    bytes scheduling_name = 16, int source_end_line = 17, int source_column = 18,
    int source_end_column = 19
Window: WindowDimension* dimensions = 1
WindowDimension: int size = 1, int stride = 2, int low = 3, int high = 4, int base_dilation = 6,
    int window_dilation = 5, int reversal = 7
ConvolutionNumbers: int input_batch = 7, int input_feature = 8, int* input_spatial = 11,
    int kernel_input = 3, int kernel_output = 4, int* kernel_spatial = 6,
    int output_batch = 9, int output_feature = 10, int* output_spatial = 12
Slice: int start = 1, int limit = 2, int stride = 3
Padding: PaddingDimension* dimensions = 1
PaddingDimension: int low = 1, int high = 2, int interior = 3
DotNumbers: int* lhs_contracting_dims = 1, int* rhs_contracting_dims = 2, int* lhs_batch_dims = 3,
    int* rhs_batch_dims = 4
RaggedDotNumbers: DotNumbers dot = 1, int* lhs_ragged_dims = 2, int* rhs_group_dims = 3
GatherNumbers: int* offset_dims = 1, int* collapsed_slice_dims = 2, int* start_index_map = 3,
    int index_vector_dim = 4, int* operand_batching_dims = 5, int* start_indices_batching_dims = 6
ScatterNumbers: int* update_window_dims = 1, int* inserted_window_dims = 2,
    int* scatter_dims_to_operand_dims = 3, int index_vector_dim = 4, int* input_batching_dims = 5,
    int* scatter_indices_batching_dims = 6
TriangularSolveOptions: bool left_side = 1, bool lower = 2, bool unit_diagonal = 3,
    Transpose transpose_a = 4
CholeskyOptions: bool lower = 1
Replication: bool* parameter_replication = 1
Group: int* ids = 1
Devices: Group* groups = 1, IotaGroups iota = 2
IotaGroups: int count = 1, int size = 2, int* dimensions = 3, int* permutation = 4
MeshGroups: Mesh mesh = 1, Axis* axes = 2
PrecisionConfig: Precision* operand_precision = 1, DotAlgorithm algorithm = 2
Pair: int source = 1, int target = 2
Alias: int* output = 1, int operand = 2, int* index = 3
Accuracy: int mode = 1, Tolerance tolerance = 2
Tolerance: double atol = 1, double rtol = 2, int ulps = 3
Sharding: int kind = 1, int* sizes = 3, int* devices = 4, Sharding* elements = 5,
    int replicates_last = 6, int* last_kinds = 8, int* iota = 9, int* permutation = 10,
    int is_grouped = 11, int group = 12, int group_kind = 13, NamedSharding named = 14
NamedSharding: Mesh mesh = 2, DimensionSharding* dimensions = 3, Axis* replicated = 4,
    Axis* unreduced = 5, Axis* manual = 7
DimensionSharding: Axis* axes = 1, int is_closed = 2
Mesh: MeshAxis* axes = 1, int* devices = 2, Iota iota = 3
MeshAxis: string name = 1, int size = 2
Iota: int* dimensions = 1, int* permutation = 2
Axis: int number = 1, SubAxis part = 2
SubAxis: int pre_size = 1, int size = 2

Shape: int element_type = 2, int* sizes = 3, Shape* elements = 4, Layout layout = 5,
    int* is_dynamic = 6
Layout: int* minor_to_major = 1, Tile* tiles = 6, int tail_padding_alignment_in_elements = 16,
    int element_size_in_bits = 7, int memory_space = 8, Split* split_configs = 17,
    int dynamic_shape_metadata_prefix_bytes = 15
Tile: int* sizes = 1
Split: int dimension = 1, int* indices = 2
Literal: Shape shape = 1, int* pred = 2, bytes* u8 = 3, int* s32 = 4, int* s64 = 5, int* u32 = 6,
    int* u64 = 7, bytes* f32 = 8, bytes* f64 = 9, Literal* elements = 10, bytes* f16 = 11,
    bytes* c64 = 12, bytes* bf16 = 13, bytes* s8 = 15, bytes* u16 = 16, bytes* s16 = 17,
    bytes* c128 = 18, bytes* f8e5m2 = 19, bytes* f8e4m3fn = 20, bytes* s4 = 21, bytes* u4 = 22,
    bytes* f8e4m3b11fnuz = 23, bytes* f8e5m2fnuz = 24, bytes* f8e4m3fnuz = 25, bytes* s2 = 26,
    bytes* u2 = 27, bytes* f8e4m3 = 28, bytes* f8e3m4 = 29, bytes* s1 = 30, bytes* u1 = 31,
    bytes* f4e2m1fn = 32, bytes* f8e8m0fnu = 33, bytes* f6e3m2fn = 35, bytes* f6e2m3fn = 36
""")
"""
Messages of protos with the fields that are read and written.

Those of `ModuleAttributes`, `ComputationAttributes` and `Attributes`, of instructions, are fields
of a `Module`, a `Computation` and an `Instruction` that have the names of attributes in text.
Elements of literals have the name of their type.
"""

WORDS: Mapping[str, Sequence[str]] = {
    "Algorithm": tuple(RandomAlgorithm),
    "AliasKind": ("", "may-alias", "must-alias"),
    # What is not specified is left out.
    "ApiVersion": ("", *tuple(CustomCallApiVersion)[1:]),
    "ConvolutionKind": ("", "fprop", "dgrad", "wgrad"),
    "Distribution": ("", *RandomDistribution),
    "DotAlgorithm": ("", *PRECISION_ALGORITHMS),
    "FftType": tuple(FftType),
    "PaddingType": ("", "PADDING_VALID", "PADDING_SAME"),
    "Precision": tuple(Precision),
    "ScheduleWord": ("", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"),
    "Transpose": ("TRANSPOSE_INVALID", *Transpose),
    "TriState": ("", "true", "false"),
    "bool": ("false", "true"),
}
"""The words of enumerations by their numbers; empty for what is not written."""

_VARINT, _FIXED64, _LENGTH_DELIMITED, _FIXED32 = 0, 1, 2, 5
_NUMBERS = ("int", "count", *WORDS)
"""The kinds of fields that are varints."""
_REALS = {"float": ("f", _FIXED32), "double": ("d", _FIXED64)}
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
        kind, name, number = DEFINITIONS[self.kind][name]
        values = self._values.get(number, ())
        if kind.endswith("*"):
            return [each for value in values for each in self._listed(kind[:-1], name, value)]
        if values or kind not in _REALS:
            nothing = 0 if kind in _NUMBERS else Cursor(b"", self.cursor.file)
            return self._value(kind, name, values[-1] if values else nothing)
        return 0.0

    def given(self) -> Iterator[tuple[str, str, Any]]:
        """Kind, name and value of each field that is there."""
        for kind, name, number in DEFINITIONS[self.kind].values():
            if number in self._values:
                yield kind, name, self[name]

    def row(self) -> tuple[Any, ...]:
        """The values of all fields, rows themselves where they are messages."""
        return tuple(_rows(self[name]) for name in DEFINITIONS[self.kind])

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
            letter, _ = _REALS[kind]
            size = struct.calcsize(letter)
            self.cursor.check(
                len(data) == size,
                "field {} has {} bytes, not {}",
                name,
                len(data),
                size,
                at=self.start,
            )
            return struct.unpack(f"<{letter}", data)[0]
        if kind in ("string", "thread"):
            return value.text_of(data, f"field {name}", self.start)
        return data


def _rows(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_rows, cast("list[Any]", value)))
    return value.row() if isinstance(value, Message) else value


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
    value &= _64_BITS
    return value - (1 << 64) if value >> 63 else value


_64_BITS = (1 << 64) - 1


def encoded(kind: str, values: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """
    A message of the values of fields by name, or of all fields.

    Messages inside are given likewise, or encoded already.
    """
    definition = DEFINITIONS[kind]
    named = values if isinstance(values, Mapping) else dict(zip(definition, values, strict=True))
    data = b""
    for name, value in named.items():
        kind, _, number = definition[name]
        element = kind.removesuffix("*")
        if element in _NUMBERS and kind != element:
            listed, element = [b"".join(map(_varint_bytes, value))], "bytes"
        else:
            listed = [value] if kind == element else value
        data += b"".join(_field(element, number, each) for each in listed)
    return data


def _field(kind: str, number: int, value: Any) -> bytes:
    if kind in _NUMBERS:
        return _varint_bytes(number << 3 | _VARINT) + _varint_bytes(value)
    if kind in _REALS:
        letter, wire = _REALS[kind]
        return _varint_bytes(number << 3 | wire) + struct.pack(f"<{letter}", value)
    if kind in DEFINITIONS and not isinstance(value, bytes):
        value = encoded(kind, value)
    content = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    head = _varint_bytes(number << 3 | _LENGTH_DELIMITED) + _varint_bytes(len(content))
    return head + content


def _varint_bytes(value: int) -> bytes:
    rest, digits = value & _64_BITS, bytearray()
    while rest > 0x7F:
        digits.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*digits, rest])
