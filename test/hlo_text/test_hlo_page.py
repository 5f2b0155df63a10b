"""Every example of docs/hlo_text.md."""

import re
from pathlib import Path

import pytest
from hlo_import import operations
from xdsl.dialects.builtin import ArrayAttr, StringAttr

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.mlir_text import print_mlir
from xla_dialect.verification import verify

PAGE = (Path(__file__).parents[2] / "docs" / "hlo_text.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
FOLLOWING = [*(kind for kind, _ in BLOCKS[1:]), ""]
LEGAL = [
    text
    for (kind, text), after in zip(BLOCKS, FOLLOWING, strict=True)
    if kind == "hlo" and after != "error"
]
WRONG = [
    (text, BLOCKS[i + 1][1])
    for i, (kind, text) in enumerate(BLOCKS)
    if kind == "hlo" and FOLLOWING[i] == "error"
]
TILED = "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"
IN_VMEM = "{2,1,0:T(8,128)(2,1)S(1)}"


def test_blocks_are_found():
    assert (len(LEGAL), len(WRONG)) == (8, 3)
    assert {kind for kind, _ in BLOCKS} == {"hlo", "mlir", "error", "python"}


@pytest.mark.parametrize("text", LEGAL)
def test_examples_are_read(text: str):
    module = read_hlo(text)
    verify(module)
    again = read_hlo(print_hlo(module))
    assert [op.name for op in again.walk()] == [op.name for op in module.walk()]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_errors(text: str, message: str):
    with pytest.raises(LocatedError) as caught:
        read_hlo(text, "example.hlo")
    # The page has one line for each of a message; a long one is printed as it is.
    assert str(caught.value) == message.rstrip("\n")


def test_what_the_module_becomes():
    (module,) = [text for text in LEGAL if text.startswith("HloModule")]
    (expected,) = [text for kind, text in BLOCKS if kind == "mlir"]
    assert print_mlir(read_hlo(module)) == expected.rstrip("\n")


def test_python():
    (code,) = [text for kind, text in BLOCKS if kind == "python"]
    exec(compile(code, "hlo_text.md", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize(
    "text",
    [
        LEGAL[0],
        f"HloModule m\nENTRY e {{\n  exponential.183 = {TILED} parameter(0)\n"
        f"  broadcast.3115 = {TILED} parameter(1)\n"
        f"  ROOT add.936 = {TILED}\n          add(exponential.183, broadcast.3115)\n}}\n",
    ],
)
def test_addition_with_tiles(text: str):
    (op,) = operations(read_hlo(text))
    assert op.name == "xla.add"
    assert op.results[0].name_hint == "add.936"
    assert [operand.name_hint for operand in op.operands] == ["exponential.183", "broadcast.3115"]
    assert "#xla.layout<{3,2,0,1:T(8,128)(2,1)}>" in str(op.results[0].type)


@pytest.mark.parametrize(
    "text",
    [
        LEGAL[1],
        f"HloModule m\n{LEGAL[1].partition('%fusion.3')[0]}ENTRY e {{\n"
        f"  %fusion.32 = bf16[32,32,8192]{IN_VMEM} parameter(0)\n"
        f"  ROOT {LEGAL[1][LEGAL[1].index('%fusion.3') :]}}}\n",
    ],
)
def test_fusion_with_memory_spaces(text: str):
    (op,) = operations(read_hlo(text))
    assert op.name == "xla.fusion"
    assert op.attributes["xla.computations"] == ArrayAttr([StringAttr("all-reduce-scatter.3")])
    assert str(op.properties["kind"]) == "#xla<fusion_kind kCustom>"
    for value in (op.operands[0], op.results[0]):
        assert f"#xla.layout<{IN_VMEM}>" in str(value.type)
