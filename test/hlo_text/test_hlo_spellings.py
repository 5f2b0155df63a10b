"""Every spelling writes what it reads."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.ir import Operation

from xla_dialect.hlo_text import read_hlo
from xla_dialect.hlo_text.opcodes import OPCODES

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.hlo"))

ATTRIBUTES = {
    "dimensions={1,0}": "transpose",
    "dimensions={0}": "concatenate",
    "slice={[0:4:2], [1:3]}": "slice",
    "slice={}": "slice",
    "padding=1_2x-3_0": "pad",
    "padding=1_2_0x-3_0_4": "pad",
    "direction=LT": "compare",
    "type=TOTALORDER": "compare",
    "is_stable=true": "sort",
    "is_stable=false": "sort",
    "epsilon=0.001": "batch-norm-training",
    "epsilon=1e-05": "batch-norm-training",
    "epsilon=0.333333343": "batch-norm-training",
    "epsilon=nan": "batch-norm-training",
    "feature_index=3": "batch-norm-training",
    "window={size=2x3 stride=1x2 pad=0_1x-1_0 lhs_dilate=1x2 rhs_dilate=3x1}": "reduce-window",
    "window={}": "reduce-window",
    "dim_labels=b01f_01io->b01f": "convolution",
    "replica_groups={{0,1},{2,3}}": "all-reduce",
    "replica_groups=[2,4]<=[4,2]T(1,0)": "all-reduce",
    "source_target_pairs={{0,1},{1,0}}": "collective-permute",
    'custom_call_target="a\\"b"': "custom-call",
    "api_version=API_VERSION_TYPED_FFI": "custom-call",
    "outfeed_shape=(f32[2,3]{0,1:T(8,128)S(1)}, s32[], token[], f32[<=4]{0}, (), "
    "/*index=5*/pred[1]{0})": "outfeed",
    'domain={kind="sharding", entry={replicated}, exit={maximal device=0}}': "domain",
}


@pytest.mark.parametrize("text", ATTRIBUTES)
def test_attributes_are_written_as_they_are_read(text: str) -> None:
    name, _, value = text.partition("=")
    spelling = OPCODES[ATTRIBUTES[text]].spellings[name]
    properties = spelling.read(value)
    assert tuple(properties) == spelling.properties
    assert spelling.write(*properties.values()) == value


def operations() -> Iterator[tuple[Operation, str]]:
    """All operations of the stored programs, each with its opcode."""
    for path in PROGRAMS:
        for op in read_hlo(path.read_text(), path.name).walk():
            if op.name.startswith("xla."):
                yield op, op.name.removeprefix("xla.").replace("_", "-")


def test_properties_of_programs_survive() -> None:
    count = 0
    for op, name in operations():
        if name == "return":
            continue
        for spelling in OPCODES[name].spellings.values():
            values = [op.properties[p] for p in spelling.properties if p in op.properties]
            if len(values) == len(spelling.properties):
                count += 1
                properties = dict(zip(spelling.properties, values, strict=True))
                assert spelling.read(spelling.write(*values)) == properties
    assert count > 300
