"""What we read although XLA does not, and that what we print of it XLA reads; and the reverse."""

import re
from typing import Any

import pytest
from peers import has_jax
from sweeps import row

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import HloPrintOptions, print_hlo, read_hlo
from xla_dialect.hlo_text.printer import KEYWORDS, RESERVED
from xla_dialect.mlir_text import print_mlir

if has_jax():
    from xla_cpu import hlo_module

F = "f {\n  a = f32[2] parameter(0)\n  ROOT b = f32[2] negate(a)\n}\n"


def module(*lines: str, attributes: str = "") -> str:
    """A module whose entry has parameters `x` and `t` before these lines."""
    lines = ("x = f32[2] parameter(0)", "t = (f32[2], (s32[], f32[3])) parameter(1)", *lines)
    body = "\n  ".join(lines)
    return f"HloModule m{attributes}\n{F}ENTRY e {{\n  {body}\n}}\n"


LENIENT = {
    "several instructions alone": "y = f32[2] negate(f32[2] x)\nz = f32[2] abs(y)\n",
    "a sign in front of a number": module("ROOT y = f32[2] constant({+1, +2.5})"),
    "no digit in front of the point": module("ROOT y = f32[2] constant({.5, -.5})"),
    "names that start with a digit": module("1y = f32[2] negate(x)", "ROOT 2 = f32[2] abs(1y)"),
    "a fusion that does not say its kind": module("ROOT y = f32[2] fusion(x), calls=f"),
    "older metadata": module(
        'ROOT y = f32[2] negate(x), metadata={op_name="a, preserve_layout=true" '
        'size_of_generated_code_in_bytes=5, preserve_layout=true profile_info={a={1}}, op_type="b"}'
    ),
    "nothing but older metadata": module(
        "ROOT y = f32[2] negate(x), metadata={size_of_memory_working_set_in_bytes=5}"
    ),
}


@pytest.mark.parametrize("text", LENIENT.values(), ids=LENIENT)
def test_is_read(text: str) -> None:
    assert print_mlir(read_hlo(print_hlo(read_hlo(text)))).count("\n") == print_mlir(
        read_hlo(text)
    ).count("\n")


@pytest.mark.parametrize("word", sorted({"ROOT", "ENTRY", "HloModule", "nan", "replicated"}))
def test_keywords_as_names_of_parameters(word: str) -> None:
    """They have no `%` in the signature that is printed; XLA does not read its own text there."""
    printed = print_hlo(read_hlo(f"ENTRY e {{\n %{word} = f32[] parameter(0)\n}}"))
    assert f"({word}: f32[]) -> f32[]" in printed
    assert print_hlo(read_hlo(printed)) == printed


@pytest.mark.jax
@pytest.mark.parametrize("text", LENIENT.values(), ids=LENIENT)
def test_xla_reads_what_is_printed_only(text: str) -> None:
    with pytest.raises(Exception, match="Syntax error"):
        hlo_module(text)
    hlo_module(print_hlo(read_hlo(text)))


def test_older_metadata_is_left_out() -> None:
    printed = print_hlo(read_hlo(LENIENT["older metadata"]))
    assert 'metadata={op_name="a, preserve_layout=true" op_type="b"}' in re.sub(
        ", op_t", " op_t", printed
    )


@pytest.mark.jax
@pytest.mark.parametrize("options", [{}, {"print_percent": False}], ids=["percent", "bare"])
def test_no_name_is_misread(options: dict[str, Any]) -> None:
    """XLA takes some words for something else, in front of which no `%` stands or even so."""
    for name in sorted(KEYWORDS | RESERVED):
        text = f"HloModule m\n%{name}.c {{\n  %{name} = f32[2] parameter(0)\n  ROOT y = f32[2] abs(%{name})\n}}\n"
        with row(name):
            hlo_module(print_hlo(read_hlo(text), HloPrintOptions(**options)))


ENTRY_ALIASES = [
    ("input_output_alias={ {}: (0, {}, may-alias) }", None),
    ("input_output_alias={ {}: (1, {1,1}), {}: (1, {}) }", None),
    ("buffer_donor={ (0, {}), (1, {1, 0}) }", None),
    ("input_output_alias={ {0}: (0, {}) }", "the result, f32[2], has no element {0}"),
    ("input_output_alias={ {}: (2, {}) }", "there is no parameter 2: the entry computation has 2"),
    ("input_output_alias={ {}: (1, {1,2}) }", "parameter 1, (f32[2], (s32[], f32[3])), has no el"),
    ("buffer_donor={ (0, {0}) }", "parameter 0, f32[2], has no element {0}"),
    ("buffer_donor={ (7, {}) }", "there is no parameter 7"),
    ("buffer_donor={ (1, {999999999999999999}) }", "has no element {999999999999999999}"),
]


@pytest.mark.parametrize(("attribute", "message"), ENTRY_ALIASES)
def test_aliases_name_what_exists(attribute: str, message: str | None) -> None:
    text = module("ROOT y = f32[2] negate(x)", attributes=f", {attribute}")
    if message is None:
        assert attribute.partition("=")[0] in print_hlo(read_hlo(text))
        return
    with pytest.raises(LocatedError) as caught:
        read_hlo(text)
    assert message in caught.value.message
    assert caught.value.line == 1


CONSTRAINTS = [
    ("{f32[2]{0}, (f32[2]{0}, (s32[], f32[3]{0}))}", None),
    ("{f32[2], (f32[2], (s32[], f32[3]))}", None),
    ("{}", "() for operands of (f32[2], (f32[2], (s32[], f32[3])))"),
    ("{f32[2]{0}}", "(f32[2]) for operands of"),
    ("{f32[2]{0}, f32[2]{0}}", "(f32[2], f32[2]) for operands of"),
    ("{f32[3]{0}, (f32[2], (s32[], f32[3]))}", "for operands of"),
    ("{s32[2]{0}, (f32[2], (s32[], f32[3]))}", "for operands of"),
]


@pytest.mark.parametrize(("value", "message"), CONSTRAINTS)
def test_layouts_of_operands(value: str, message: str | None) -> None:
    call = 'custom-call(x, t), custom_call_target="f", operand_layout_constraints='
    text = module(f"ROOT y = f32[2] {call}{value}")
    if message is None:
        assert "operand_layout_constraints" in print_hlo(read_hlo(text))
        return
    with pytest.raises(LocatedError) as caught:
        read_hlo(text)
    assert message in caught.value.message


@pytest.mark.jax
@pytest.mark.parametrize(("value", "message"), CONSTRAINTS)
def test_layouts_of_operands_in_xla(value: str, message: str | None) -> None:
    call = 'custom-call(x, t), custom_call_target="f", operand_layout_constraints='
    text = module(f"ROOT y = f32[2] {call}{value}")
    if message is None:
        hlo_module(text)
        return
    with pytest.raises(Exception, match=r"[Oo]perand layout constraint"):
        hlo_module(text)
