"""
Damaged and hostile HLO text: always a module or one located error, soon, in little memory.

What is read is verified, and printed as MLIR and as HLO. A few examples run each time, many with
`--full`.
"""

import gc
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from damaged_text import damaged
from hypothesis import given
from hypothesis import strategies as st
from sweeps import PROFILE, each_or_full, few_examples
from xdsl.dialects.builtin import ModuleOp

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import HloPrintError, print_hlo, read_hlo
from xla_dialect.hlo_text.grammars import UNINTERPRETED
from xla_dialect.hlo_text.opcodes import OPCODES
from xla_dialect.types import ELEMENT_TYPES
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
    *("f32[]", "f32[2]", "s32[0,3]{0,1}", "pred[]", "(f32[])", "()", "c64[<=3]", "token[]", "b("),
    *("0", "-1", "99999999999999999999", "nan", "{}", "{...}", "{0}", "dimensions={0}", "calls="),
    *("ROOT ", "ENTRY ", "add(", "tuple", "constant", "parameter(0)", "while", "HloModule", "\n"),
    *(
        "to_apply={",
        "sharding={devices=[2]",
        "metadata={",
        "window={size=",
        "mesh['a'=2]",
        "<=",
        "?",
    ),
]


def read(text: str) -> ModuleOp | LocatedError:
    try:
        return read_hlo(text, "fuzz.hlo")
    except LocatedError as error:
        return error


def check(text: str) -> None:
    """The contract: a module that verifies, with a print that stays, or an error inside the text."""
    found = read(text)
    if isinstance(found, ModuleOp):
        try:
            verify(found, {"fuzz.hlo": text})
        except LocatedError as error:
            found = error
    if isinstance(found, LocatedError):
        assert str(found).startswith("fuzz.hlo:"), str(found)
        assert 1 <= found.line <= text.count("\n") + 1
        assert found.message
        assert len(str(found)) < 5000
        return
    str(found)
    try:
        again = print_hlo(found)
    except HloPrintError:
        return
    assert print_hlo(read_hlo(again)) == again


# ---- Damaged programs


@given(data=st.data())
@few_examples(100, 5000)
def test_damaged(data: st.DataObject):
    check(damaged(data, data.draw(st.sampled_from(TEXTS)), WORDS))


@given(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join))
def test_words(text: str):
    check("HloModule m\nENTRY e {\n x = f32[2] parameter(0)\n y = " + text)


@given(st.text(max_size=80))
def test_any_text(text: str):
    check(text)


# ---- Texts of the grammar: every opcode and attribute, right or wrong

NAMES = st.sampled_from(["x", "%y", "p", "z.1", "f", "sum", "t"])
SIZES = st.lists(
    st.sampled_from(["0", "1", "2", "3", "<=4", "?", "9223372036854775807"]), max_size=3
)
ARRAYS = st.builds(
    lambda name, sizes, layout: f"{name}[{','.join(sizes)}]{layout}",
    st.sampled_from([element.name for element in ELEMENT_TYPES]),
    SIZES,
    st.sampled_from(["", "", "", "{0}", "{1,0}", "{0,1:T(2,2)S(1)}", "{0:E(4)}", "{:T(256)}"]),
)
TYPES = st.recursive(
    st.one_of(ARRAYS, st.sampled_from(["f32[2]", "f32[]", "token[]", "opaque[]", "b(f32[2])"])),
    lambda inner: st.lists(inner, max_size=3).map(lambda types: f"({', '.join(types)})"),
    max_leaves=5,
)
NUMBERS = st.sampled_from(
    ["0", "1", "-2", "1.5", "nan", "inf", "nan(0x1)", "true", "3e39", "(1,2)"]
)
LITERALS = st.recursive(
    NUMBERS,
    lambda inner: st.lists(inner, max_size=3).map(lambda items: f"{{{', '.join(items)}}}"),
    max_leaves=6,
)
VALUES = st.recursive(
    st.one_of(
        st.sampled_from(["0", "-1", "true", "LT", "kLoop", "highest", '"a\\"b"', "%f", "f", "sum"]),
        st.sampled_from(["[0:2:1]", "0_1x1_0", "2x2", "bf01_oi01->bf01", "[2,1]<=[2]", "size=2"]),
        st.sampled_from(
            ['op_name="a"', "maximal device=0", "devices=[2]<=[2]", "mode=highest", "a=1"]
        ),
    ),
    lambda inner: st.lists(inner, max_size=3).map(lambda items: f"{{{','.join(items)}}}"),
    max_leaves=4,
)
ATTRIBUTES = st.sampled_from(
    sorted(
        {*UNINTERPRETED}
        | {name for opcode in OPCODES.values() for name in opcode.spellings}
        | {n for opcode in OPCODES.values() for names in opcode.computations for n in names}
    )
)
OPERANDS = st.one_of(
    NAMES, st.builds(lambda type_, name: f"{type_} {name}", TYPES, NAMES), st.just("negate(x)")
)


def instruction(data: st.DataObject) -> str:
    """One line of any opcode."""
    opcode = data.draw(st.sampled_from(["constant", "parameter", "negate-start", *OPCODES]))
    if opcode == "constant":
        argument = data.draw(LITERALS)
    elif opcode == "parameter":
        argument = data.draw(st.sampled_from(["1", "2", "7"]))
    else:
        argument = ", ".join(data.draw(st.lists(OPERANDS, max_size=4)))
    type_ = data.draw(st.one_of(st.just("f32[2]"), st.just(""), TYPES))
    pairs = data.draw(st.lists(st.tuples(ATTRIBUTES, VALUES), max_size=3))
    attributes = "".join(f", {name}={value}" for name, value in pairs)
    return f"{type_} {opcode}({argument}){attributes}"


def grammatical(data: st.DataObject) -> str:
    lines = [instruction(data) for _ in range(data.draw(st.integers(1, 4)))]
    body = "".join(f"  %v.{i} = {line}\n" for i, line in enumerate(lines))
    return (
        "HloModule m\nf {\n  a = f32[2] parameter(0)\n  b = negate(a)\n}\n"
        "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = add(a, b)\n}\n"
        "ENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] copy(x)\n  p = pred[] constant(true)\n"
        f"  z.1 = s32[] constant(0)\n  t = (f32[2], s32[]) tuple(x, z.1)\n{body}}}\n"
    )


@given(data=st.data())
@few_examples(200, 5000)
def test_grammatical(data: st.DataObject):
    check(grammatical(data))


# ---- Hostile texts: deep, long, and with sizes that nobody has

NESTED = 100_000 if PROFILE == "full" else 10_000
X = "  x = f32[2] parameter(0)\n"


def in_entry(line: str) -> str:
    return f"HloModule m\nENTRY e {{\n{X}  y = {line}\n}}\n"


PLACES: dict[str, Callable[[str], str]] = (
    {
        "text": lambda deep: deep,
        "head": lambda deep: f"HloModule m, input_output_alias={deep}\n",
        "entry layout": lambda deep: f"HloModule m, entry_computation_layout={{{deep}->f32[]}}\n",
        "table": lambda deep: (
            f'HloModule m\nFileNames\n1 "a"\nFunctionNames\nFileLocations\n1 {deep}\n'
        ),
        "signature": lambda deep: f"HloModule m\nENTRY e (x: {deep}) -> f32[2] {{\n{X}}}\n",
        "type": lambda deep: in_entry(f"{deep} copy(x)"),
        "layout": lambda deep: in_entry(f"f32[2]{{0:T{deep}}} copy(x)"),
        "operand": lambda deep: in_entry(f"f32[2] copy({deep} x)"),
        "nested instruction": lambda deep: in_entry(f"f32[2] copy(copy{deep})"),
        "literal": lambda deep: in_entry(f"f32[2] constant({deep})"),
        "tuple literal": lambda deep: in_entry(f"(f32[2]) constant(({deep}))"),
        "computation": lambda deep: in_entry(f"f32[2] call(x), to_apply={deep}"),
        "computations": lambda deep: in_entry(f"f32[2] conditional(x), branch_computations={deep}"),
        "after the computation": lambda deep: (
            in_entry("f32[2] copy(x)") + f", execution_thread={deep}"
        ),
    }
    | {
        name: lambda deep, name=name: in_entry(f"f32[2] exponential(x), {name}={deep}")
        for name in (
            "backend_config",
            "frontend_attributes",
            "metadata",
            "origin",
            "sharding",
            "window",
        )
    }
    | {
        name: lambda deep, name=name: in_entry(
            f'f32[2] custom-call(x), custom_call_target="t", {name}={deep}'
        )
        for name in (
            "literal",
            "operand_layout_constraints",
            "output_to_operand_aliasing",
            "dim_labels",
        )
    }
    | {
        name: lambda deep, name=name: in_entry(f"f32[2] all-reduce(x), to_apply=f, {name}={deep}")
        for name in ("replica_groups", "channel_id", "mode")
    }
)
BRACKETS = ("{", "(", "{(", "[", "({[", "a={", '{"a":', "{%f,", "f32[2]{")


@pytest.mark.parametrize("openings", each_or_full([BRACKETS, BRACKETS[:2]], [BRACKETS[:2]]))
@pytest.mark.parametrize("place", PLACES)
def test_deep_brackets(place: str, openings: tuple[str, ...]):
    """Ten times as many brackets in every position as Python has frames, closed and not."""
    for opening in openings:
        closing = "".join({"(": ")", "{": "}", "[": "]"}.get(c, "") for c in reversed(opening))
        check(PLACES[place](opening * NESTED))
        check(PLACES[place](opening * NESTED + closing * NESTED))


def repeated(piece: str, around: str = "{}") -> Callable[[int], str]:
    return lambda length: in_entry(around.replace("{}", piece * (length // len(piece))))


LONG: dict[str, Callable[[int], str]] = {
    "name of an operand": repeated("a", "f32[2] copy({})"),
    "name with dashes": repeated("a-", "f32[2] copy({})"),
    "opcode": repeated("a", "f32[2] {}(x)"),
    "element type": repeated("f", "{}[2] copy(x)"),
    "attribute": repeated("a", "f32[2] copy(x), {}=1"),
    "string never closed": repeated('a"\\', 'f32[2] copy(x), metadata={op_name="{}'),
    "strings": repeated('""', "f32[2] copy(x), a={}"),
    "escapes": repeated("\\n", 'f32[2] copy(x), metadata={op_name="{}"}'),
    "wrong escapes": repeated("\\q", 'f32[2] copy(x), backend_config="{}"'),
    "commas": repeated(",", "f32[2] copy(x{})"),
    "commas in a literal": repeated(",", "f32[2] constant({{}})"),
    "operands": repeated("x,", "tuple({}x)"),
    "nested instructions": repeated("copy(x),", "tuple({}x)"),
    "comments": repeated("/**/", "f32[2] {}copy(x)"),
    "comments never closed": repeated("/* ", "f32[2] {}copy(x)"),
    "comments in a shape": repeated("/**/", "f32[2{}] copy(x)"),
    "comments after a shape": repeated("f32[]/**/", "({}) copy(x)"),
    "line comments": repeated("//\n", "f32[2] {}copy(x)"),
    "slashes in a value": repeated("/", "f32[2] copy(x), a={{}}"),
    "blank lines": repeated(" \n", "f32[2] {}copy(x)"),
    "numbers": repeated("1", "f32[{}] copy(x)"),
    "dimensions": repeated("1,", "f32[{}1] copy(x)"),
    "tiles": repeated("(2)", "f32[2]{0:T{}} copy(x)"),
    "elements": repeated("1,", "f32[2] constant({{}1})"),
    "payloads": repeated("nan(0x1),", "f32[2] constant({{}1})"),
    "digits": repeated("9", "f32[2] constant({{},1})"),
    "types": repeated("f32[2],", "({}f32[2]) copy(x)"),
    "ranges": repeated("[0:1],", "f32[2] slice(x), slice={{}[0:1]}"),
    "metadata": repeated('op_type="a" ', "f32[2] copy(x), metadata={{}}"),
    "fields": repeated('a="b",', 'f32[2] copy(x), frontend_attributes={{}c="d"}'),
    "predecessors": repeated("x,", "f32[2] copy(x), control-predecessors={{}x}"),
    "devices": repeated("1,", "f32[2] copy(x), sharding={devices=[2]{}1}"),
    "shardings": repeated("{replicated},", "f32[2] copy(x), sharding={{}{manual}}"),
    "groups": repeated("{0},", "f32[2] all-reduce(x), replica_groups={{}{1}}"),
    "window": repeated("2x", "f32[2] reduce-window(x, x), window={size={}2}"),
    "labels": repeated("0", "f32[2] convolution(x, x), dim_labels=b{}_oi->bf"),
    "json": repeated('{"a":1},', 'f32[2] copy(x), backend_config={"l":[{}1]}'),
    "arrays of origins": repeated('{"a"},', 'f32[2] copy(x), origin={({}{"b"})}'),
}


def seconds_for(text: str) -> float:
    """Processor time of reading, without the collector: it depends on what other tests left."""
    gc.disable()
    try:
        start = time.process_time()
        check_quickly(text)
        return time.process_time() - start
    finally:
        gc.enable()


def assert_linear(make: Callable[[int], str], size: int, allowance: float) -> None:
    """
    Ten times the text takes about ten times as long: quadratic time would take a hundred times.

    Tried up to three times, for a machine may be busy; what is quadratic fails each time.
    """
    short, long = 0.0, 0.0
    for _ in range(3):
        short, long = (min(seconds_for(make(n)) for _ in range(2)) for n in (size, 10 * size))
        if long < 40 * short + allowance:
            return
    raise AssertionError(f"{short:.3f} s and {long:.3f} s at the last try")


def check_quickly(text: str) -> None:
    """As `check`, without what comes after reading."""
    found = read(text)
    assert isinstance(found, ModuleOp) or found.line


@pytest.mark.parametrize("kind", LONG)
def test_long_texts_in_linear_time(kind: str):
    assert_linear(LONG[kind], 10_000, 0.2)


@pytest.mark.full
@pytest.mark.parametrize("kind", LONG)
def test_longer_texts_in_linear_time(kind: str):
    assert_linear(LONG[kind], 100_000, 1)


@pytest.mark.parametrize(
    "line",
    [
        "f32[1000000000000] constant({1})",
        "f32[1000000000000] constant({...})",
        "f32[1000000,1000000] constant({{1}})",
        "f32[0,1000000000000] constant({})",
        "f32[1000000000000,0] constant({})",
        "pred[9223372036854775807] constant({1})",
        "f32[1000000000000] iota(), iota_dimension=0",
        "f32[1000000000000] broadcast(f32[] constant(1)), dimensions={}",
        "f32[<=1000000000000] copy(x)",
        "f32[1000000000000]{0:T(1000000000000)} copy(x)",
        "f32[2] all-reduce(x), replica_groups=[1,1000000000000]<=[1000000000000], to_apply=f",
        "f32[2] copy(x), sharding={devices=[1000000000000]<=[1000000000000]}",
        "f32[2] reduce-window(x, x), window={size=1000000000000}, to_apply=f",
        "f32[2] pad(x, x), padding=0_1000000000000",
    ],
)
def test_declared_sizes_allocate_nothing(line: str):
    text = in_entry(line).replace("ENTRY", "f {\n  a = f32[] parameter(0)\n}\nENTRY", 1)
    tracemalloc.start()
    check_quickly(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000


def test_deep_but_legal():
    """What the reader takes at its bounds, the later stages take too."""
    deep = f"{'(' * 32}f32[]{')' * 32}"
    check(f"HloModule m\nENTRY e {{\n  ROOT x = {deep} parameter(0)\n}}\n")
    check(in_entry(f"tuple({'tuple(' * 30}x{')' * 30})"))
    check(in_entry(f"{'(' * 32}f32[]{')' * 32} constant({'(' * 32}1{')' * 32})"))
    body = "x"
    for i in range(30):
        body = (
            f"y{i} = f32[2] parameter(0) z{i} = call(y{i}), to_apply={{ {body} }}"
            if i
            else ("y = f32[2] parameter(0)")
        )
    check(in_entry(f"call(x), to_apply={{ {body} }}"))
    for text in (deep, f"f32[{','.join(['1'] * 5000)}]"):
        assert isinstance(read(f"ENTRY e {{\n  ROOT x = {text} parameter(0)\n}}\n"), ModuleOp)
