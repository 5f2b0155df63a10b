"""Protos of HLO modules that XLA writes are read as the text of the same module."""

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import same_modules
from same_modules import everything, printed_by_xla
from sweeps import each_or_full

from lowerings.driver.program import load_program
from tools import xla_run
from xla_dialect.binary import BinaryError, read_snapshot
from xla_dialect.binary.hlo_module import ELEMENT_TYPES
from xla_dialect.element_types import NUMPY_TYPES
from xla_dialect.types import ELEMENT_TYPES as TYPES

TESTS = Path(__file__).parents[1]
FILES = {
    f"{path.parent.name}/{path.name}": path
    for folder in ("programs", "hlo_text")
    for path in sorted((TESTS / folder).glob("*.hlo"))
}
QUICK = ("programs/lstm_optimized.hlo", "hlo_text/contraction.hlo", "hlo_text/newer_forms.hlo")
OF_CONFIGURATION = re.compile(
    r", (?:allow_spmd_sharding_propagation_to_\w+=\{[^}]*\}|(?:replica_count|num_partitions)=\d+"
    r"|statistics=\{[^}]*\})"
)
"""What a module's proto does not have, and statistics, which nobody reads."""


def modules(name: str) -> Iterator[tuple[str, bytes]]:
    """What XLA prints of the modules of a file, and their protos."""
    for part in FILES[name].read_text().split("// -----"):
        try:
            module = same_modules.hlo.hlo_module_from_text(part)
        except Exception:
            continue  # Texts that XLA rejects are there too.
        yield module.to_string(everything()), module.as_serialized_hlo_module_proto()


@pytest.mark.jax
@pytest.mark.parametrize("name", each_or_full(FILES, QUICK))
def test_protos_are_read_as_text(name: str) -> None:
    for expected, data in modules(name):
        found = printed_by_xla(read_snapshot(data).text)
        assert found == OF_CONFIGURATION.sub("", expected)


@pytest.mark.jax
def test_protos_are_programs(tmp_path: Path) -> None:
    _, data = next(modules("programs/argmax.hlo"))
    path = tmp_path / "argmax.pb"
    path.write_bytes(data)
    expected = load_program(TESTS / "programs" / "argmax.hlo")
    for source in (data, path):
        found = load_program(source)
        assert [op.name for op in found.walk()] == [op.name for op in expected.walk()]


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def shape(number: int, sizes: tuple[int, ...]) -> bytes:
    layout = field(1, bytes(reversed(range(len(sizes)))))
    return field(2, number) + field(3, b"".join(map(varint, sizes))) + field(5, layout)


def instruction(id_: int, opcode: str, type_: bytes, rest: bytes = b"") -> bytes:
    return (
        field(1, f"i{id_}".encode())
        + field(2, opcode.encode())
        + field(3, type_)
        + field(35, id_)
        + rest
    )


def module(*instructions: bytes) -> bytes:
    body = b"".join(field(2, each) for each in instructions)
    computation = field(1, b"main") + body + field(5, 1) + field(6, len(instructions))
    return field(1, b"m") + field(2, b"main") + field(3, computation) + field(6, 1)


@pytest.fixture
def snapshot() -> bytes:
    """Three numbers are doubled, with the numbers."""
    type_ = shape(11, (3,))
    parameter = instruction(1, "parameter", type_, field(9, 0))
    total = instruction(2, "add", type_, field(36, bytes([1, 1])))
    literal = field(1, type_) + field(8, struct.pack("<3f", 1, 2, 4.5))
    return field(1, field(1, module(parameter, total))) + field(2, literal) + field(4, b"cpu")


def test_a_snapshot_runs_with_its_arguments(
    snapshot: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "snapshot.pb"
    path.write_bytes(snapshot)
    (argument,) = read_snapshot(snapshot).arguments
    np.testing.assert_array_equal(argument, np.array([1, 2, 4.5], np.float32))
    assert not xla_run.main([str(path), "--backend", "reference"])
    assert capsys.readouterr().out == "f32[3] [2., 4., 9.]\n"


@pytest.mark.parametrize("number", sorted(ELEMENT_TYPES))
def test_literals_of_every_type(number: int) -> None:
    """Their bytes stand in the order of the layout."""
    name = ELEMENT_TYPES[number]
    if name not in {each.name for each in TYPES} or name in ("s1", "u1"):
        return
    values = np.arange(4).reshape(2, 2).astype(NUMPY_TYPES[name])
    varints = {"pred": 2, "s32": 4, "s64": 5, "u32": 6, "u64": 7}
    places = {"u8": 3, "f32": 8, "f64": 9, "f16": 11, "c64": 12, "bf16": 13, "s8": 15}
    places |= {"u16": 16, "s16": 17, "c128": 18}
    columns = values.T.copy()
    content = (
        field(varints[name], b"".join(varint(int(n)) for n in columns.flat))
        if name in varints
        else field(places.get(name, number), columns.tobytes())
    )
    type_ = field(2, number) + field(3, b"\2\2") + field(5, field(1, b"\0\1"))
    literal = field(1, type_) + content
    constant = instruction(1, "constant", type_, field(8, literal))
    snapshot = field(1, field(1, module(constant))) + field(2, literal)
    (found,) = read_snapshot(snapshot).arguments
    assert (found.dtype, found.tobytes()) == (values.dtype, values.tobytes())
    load_program(snapshot)


def test_damaged_protos_are_an_error_with_the_offset(snapshot: bytes) -> None:
    # The first field is the module; only behind it may a file end.
    for size in range(2, len(snapshot) - 40):
        with pytest.raises(BinaryError, match=r"^f: error: offset \d+: "):
            read_snapshot(snapshot[:size], "f")
