"""
Protos of HLO modules that XLA writes are read as the text of the same module, and those that we
write are the same module for XLA.
"""

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import same_modules
from hlo_text.test_hlo_uninterpreted import LEGAL_CASES, NEWER, text_of
from same_modules import everything, printed_by_xla
from sweeps import each_or_full

import lowerings
from lowerings.driver.program import load_program
from tools import xla_opt, xla_run
from xla_dialect.binary import BinaryError, read_snapshot, write_hlo_module
from xla_dialect.binary.hlo_forms import ELEMENT_TYPES
from xla_dialect.element_types import NUMPY_TYPES
from xla_dialect.hlo_text import print_hlo, read_hlo
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


def unnamed(module: Any) -> str:
    """All that XLA knows of a module but names: two instructions of a proto have different ones."""
    options = everything()
    options.canonicalize_instruction_names = True
    return OF_CONFIGURATION.sub("", module.to_string(options))


def assert_written(program: str) -> None:
    """What we write of a program is for XLA what our text of it is, and for us the program."""
    module = read_hlo(program)
    data = write_hlo_module(module)
    expected = unnamed(same_modules.hlo.hlo_module_from_text(print_hlo(module)))
    found = same_modules.hlo.HloModule.from_serialized_hlo_module_proto(data)
    assert unnamed(found) == expected
    again = print_hlo(read_hlo(read_snapshot(data).text))
    assert unnamed(same_modules.hlo.hlo_module_from_text(again)) == expected


LEFT_OUT = ("constant({...})", "is_composite=true")
"""Constants without their elements, and composites that have no name are no protos."""


@pytest.mark.jax
@pytest.mark.parametrize(
    "name", each_or_full(sorted(FILES.keys() - {"hlo_text/invalid.hlo"}), QUICK)
)
def test_programs_are_written(name: str) -> None:
    for text, _ in modules(name):
        if not any(each in text for each in LEFT_OUT):
            assert_written(text)


WITHOUT_FIELDS = ("original_value", "origin", "origin_recovery_table", "sparsity_config")
"""Attributes that are not in our protos; origins and how sparse arrays are, nobody asks."""


@pytest.mark.jax
@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        case
        for case in LEGAL_CASES
        # XLA reads no \u, its reader of protos fails at `slice_sizes`; metadata of shardings go.
        if case[0] not in (*WITHOUT_FIELDS, "slice_sizes", "statistics")
        and not (case[0] == "sharding" and ("metadata" in case[1] or "T(1,0)), [" in case[1]))
        and "\\u" not in case[1]
    ],
)
def test_attributes_are_written(attribute: str, value: str) -> None:
    if any(newer in f"{attribute}={value}" for newer in NEWER):
        pytest.skip("jaxlib 0.10.2 does not know it")
    assert_written(text_of(attribute, value))


SHARDINGS = (
    "{replicated shard_as 1}",
    "{devices=[2,1,2]<=[4] last_tile_dims={manual}}",
    "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
    "{mesh['a'=2,'b'=4], [{'a'}, {'b':(2)2, ?}], unreduced={'b':(1)2}}",
)
GROUPS = ("{{0,1},{2,3}}", "[2,2]<=[2,2]T(1,0)", "mesh['a'=2,'b'=2] {'b'}")
COLLECTIVE = """HloModule m, num_partitions=4
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}
ENTRY main {{
  x = f32[4,4]{{0,1:T(4,2)(2,1)S(1)}} parameter(0), sharding={}
  ROOT y = f32[4,4] all-reduce(x), to_apply=add, channel_id=1, replica_groups={}, {}
}}
"""


@pytest.mark.jax
@pytest.mark.parametrize("sharding", SHARDINGS)
@pytest.mark.parametrize("groups", GROUPS)
def test_shardings_and_groups_are_read_and_written(sharding: str, groups: str) -> None:
    rest = "use_global_device_ids=true, constrain_layout=true"
    text = COLLECTIVE.format(sharding, groups, rest)
    assert_written(text)
    module = same_modules.hlo.hlo_module_from_text(text)
    found = printed_by_xla(read_snapshot(module.as_serialized_hlo_module_proto()).text)
    assert found == OF_CONFIGURATION.sub("", module.to_string(everything()))


@pytest.mark.jax
def test_protos_are_programs(tmp_path: Path) -> None:
    _, data = next(modules("programs/argmax.hlo"))
    path = tmp_path / "argmax.pb"
    path.write_bytes(data)
    expected = load_program(TESTS / "programs" / "argmax.hlo")
    for source in (data, path):
        found = load_program(source)
        assert [op.name for op in found.walk()] == [op.name for op in expected.walk()]


def test_a_program_runs_from_what_xla_opt_writes(tmp_path: Path) -> None:
    path = tmp_path / "program.pb"
    source = TESTS / "programs" / "argmax.hlo"
    assert not xla_opt.main([str(source), "-t", "hlo-proto", "-o", str(path)])
    x = np.random.default_rng(0).random((64, 257), np.float32)
    (found,) = lowerings.compile(path)(x)
    np.testing.assert_array_equal(found, x.argmax(1))


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
    assert content in write_hlo_module(load_program(snapshot))


def test_damaged_protos_are_an_error_with_the_offset(snapshot: bytes) -> None:
    # The first field is the module; only behind it may a file end.
    for size in range(2, len(snapshot) - 40):
        with pytest.raises(BinaryError, match=r"^f: error: offset \d+: "):
            read_snapshot(snapshot[:size], "f")
