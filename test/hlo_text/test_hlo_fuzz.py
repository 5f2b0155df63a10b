"""Damaged HLO text: always a module or one located error, soon."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import read_hlo
from xla_dialect.verification import verify

PROGRAMS = Path(__file__).parents[1] / "programs"
TEXTS = [
    (PROGRAMS / f"{name}.hlo").read_text()
    for name in ("argmax", "argmax_optimized", "lstm", "mlp_classifier_optimized")
]
WORDS = [
    *(
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ",",
        "=",
        "->",
        ":",
        '"',
        "%",
        "\\",
        "/*",
        "*/",
        "//",
        "\0",
        "é",
    ),
    *("f32[]", "f32[2]", "s32[0,3]{0,1}", "pred[]", "(f32[])", "()", "c64[<=3]", "token[]"),
    *("0", "-1", "99999999999999999999", "nan", "{}", "{...}", "{0}", "dimensions={0}", "calls="),
    *("ROOT ", "ENTRY ", "add(", "tuple", "constant", "parameter(0)", "while", "HloModule", "\n"),
]


def read(text: str) -> ModuleOp | LocatedError:
    try:
        return read_hlo(text, "fuzz.hlo")
    except LocatedError as error:
        return error


def check(text: str) -> None:
    found = read(text)
    if isinstance(found, LocatedError):
        assert str(found).startswith("fuzz.hlo:")
        assert 1 <= found.line <= text.count("\n") + 1
    else:
        verify(found)
        str(found)


@pytest.mark.parametrize("text", TEXTS)
@given(data=st.data())
def test_truncated(text: str, data: st.DataObject):
    check(text[: data.draw(st.integers(0, len(text)))])


@pytest.mark.parametrize("text", TEXTS)
@given(data=st.data())
def test_edited(text: str, data: st.DataObject):
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 12))
        text = text[:start] + data.draw(st.sampled_from(["", *WORDS])) + text[end:]
    check(text)


@given(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join))
def test_words(text: str):
    check("HloModule m\nENTRY e {\n x = f32[2] parameter(0)\n y = " + text)


@given(st.text(max_size=80))
def test_any_text(text: str):
    check(text)
