"""HLO text without all that a dump has: heads, names, and computations of their own left out."""

from itertools import combinations_with_replacement

import pytest
from hlo_import import function, name_of, operations
from peers import has_jax
from xdsl.dialects.builtin import StringAttr

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.mlir_text import print_mlir
from xla_dialect.types import ELEMENT_TYPES
from xla_dialect.verification import verify

if has_jax():
    from xla_cpu import hlo_module

X = "  x = f32[2] parameter(0)\n"
NEGATE = "f {\n  a = f32[2] parameter(0)\n  ROOT b = f32[2] negate(a)\n}\n"
SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
ENTRY = f"ENTRY e {{\n{X}  ROOT y = f32[2] call(x), to_apply=f\n}}\n"

STARTS = "".join(
    f"  s{i} = s32[1] slice(i), slice={{[{i}:{i + 1}]}}\n  r{i} = s32[] reshape(s{i})\n"
    for i in (0, 1)
)

PAIRS = {
    "no head": (f"{NEGATE}{ENTRY}", f"HloModule module_e\n{NEGATE}{ENTRY}"),
    "no head, ENTRY first": (f"ENTRY {NEGATE}", f"HloModule module_f\nENTRY {NEGATE}"),
    "no ENTRY: the last computation": (
        f"HloModule m\n{NEGATE}{ENTRY.replace('ENTRY ', '')}",
        f"HloModule m\n{NEGATE}{ENTRY}",
    ),
    "an instruction": (
        "ROOT y = f32[2] add(f32[2] a, f32[2]{0} %b)",
        "HloModule module_entry\nENTRY entry {\n  a = f32[2] parameter(0)\n"
        "  b = f32[2] parameter(1)\n  ROOT y = f32[2] add(a, b)\n}\n",
    ),
    "an instruction whose operands have no names": (
        "y = add(f32[2], f32[2])",
        "HloModule module_entry\nENTRY entry {\n  arg = f32[2] parameter(0)\n"
        "  arg.1 = f32[2] parameter(1)\n  ROOT y = f32[2] add(arg, arg.1)\n}\n",
    ),
    "an instruction in an instruction": (
        "y = f32[2] add(negate(f32[2] a), f32[2] abs(f32[2] b))",
        "HloModule module_entry\nENTRY entry {\n  a = f32[2] parameter(0)\n"
        "  negate.anon = f32[2] negate(a)\n  b = f32[2] parameter(1)\n"
        "  abs.anon = f32[2] abs(b)\n  ROOT y = f32[2] add(negate.anon, abs.anon)\n}\n",
    ),
    "instructions in instructions of a computation": (
        f"HloModule m\nENTRY e {{\n{X}  ROOT y = f32[2] add(negate(negate(x)), constant({{1, 2}}))\n}}".replace(
            "constant", "f32[2] constant"
        ),
        f"HloModule m\nENTRY e {{\n{X}  negate.anon = f32[2] negate(x)\n"
        "  negate.anon.1 = f32[2] negate(negate.anon)\n"
        "  constant.anon = f32[2] constant({1, 2})\n"
        "  ROOT y = f32[2] add(negate.anon.1, constant.anon)\n}\n",
    ),
    "a computation in an instruction": (
        f"HloModule m\nENTRY e {{\n{X}  z = f32[] constant(0)\n  ROOT y = f32[] reduce(x, z), "
        f"dimensions={{0}}, to_apply={SUM[4:]}}}\n",
        f"HloModule m\n{SUM.replace('sum', 'e.to_apply')}ENTRY e {{\n{X}  z = f32[] constant(0)\n"
        "  ROOT y = f32[] reduce(x, z), dimensions={0}, to_apply=e.to_apply\n}\n",
    ),
    "two computations of one name in instructions": (
        f"HloModule m\nENTRY e {{\n{X}  y = f32[2] call(x), to_apply={NEGATE[2:]}"
        f"  ROOT z = f32[2] call(y), to_apply={NEGATE[2:]}}}\n",
        f"HloModule m\ne.to_apply {NEGATE[2:]}e.to_apply.1 {NEGATE[2:]}"
        f"ENTRY e {{\n{X}  y = f32[2] call(x), to_apply=e.to_apply\n"
        "  ROOT z = f32[2] call(y), to_apply=e.to_apply.1\n}\n",
    ),
    "a list of computations in an instruction": (
        f"HloModule m\n{NEGATE}ENTRY e {{\n{X}  i = s32[] constant(0)\n"
        f"  ROOT y = f32[2] conditional(i, x, x), branch_computations={{f, {NEGATE[2:]}}}\n}}\n",
        f"HloModule m\n{NEGATE}e.branch_computations {NEGATE[2:]}ENTRY e {{\n{X}"
        "  i = s32[] constant(0)\n  ROOT y = f32[2] conditional(i, x, x), "
        "branch_computations={f, e.branch_computations}\n}\n",
    ),
}
# XLA reads one instruction without a computation, not more, and none after computations.
BEYOND_XLA = {
    "instructions": (
        f"{X}y = f32[2] negate(x)\nz = f32[2] add(y, f32[2] w)",
        f"HloModule module_entry\nENTRY entry {{\n{X}  y = f32[2] negate(x)\n"
        "  w = f32[2] parameter(1)\n  z = f32[2] add(y, w)\n}\n",
    ),
    "computations and instructions": (
        f"HloModule m\n{NEGATE}ROOT y = f32[2] call(f32[2] x), to_apply=f\n",
        f"HloModule m\n{NEGATE}{ENTRY.replace('ENTRY e', 'ENTRY entry')}",
    ),
}


OLDER = {
    "a literal of a bounded dynamic shape, which has all elements": (
        "ROOT r = f32[2,<=3]{0,1} constant({{1,2,3},{4,5,6}})",
        "HloModule module_entry\nENTRY entry {\n"
        "  ROOT r = f32[2,3]{0,1} constant({{1,2,3},{4,5,6}})\n}\n",
    ),
    "all starts of a slice in one array": (
        "ROOT r = f32[2,2] dynamic-slice(f32[4,5] x, s32[2] i), dynamic_slice_sizes={2,2}",
        f"HloModule module_entry\nENTRY entry {{\n  x = f32[4,5] parameter(0)\n"
        f"  i = s32[2] parameter(1)\n{STARTS}"
        "  ROOT r = f32[2,2] dynamic-slice(x, r0, r1), dynamic_slice_sizes={2,2}\n}\n",
    ),
    "all starts of an update in one array": (
        "ROOT r = f32[4,5] dynamic-update-slice(f32[4,5] x, f32[2,0] u, s32[2] i)",
        f"HloModule module_entry\nENTRY entry {{\n  x = f32[4,5] parameter(0)\n"
        f"  u = f32[2,0] parameter(1)\n  i = s32[2] parameter(2)\n{STARTS}"
        "  ROOT r = dynamic-update-slice(x, u, r0, r1)\n}\n",
    ),
    "the start of a slice of one dimension in an array": (
        "r = f32[2] dynamic-slice(f32[4] x, u64[1]{0} i), dynamic_slice_sizes={2}",
        "HloModule module_entry\nENTRY entry {\n  x = f32[4] parameter(0)\n"
        "  i = u64[1] parameter(1)\n  s = u64[1] slice(i), slice={[0:1]}\n"
        "  t = u64[] reshape(s)\n  ROOT r = dynamic-slice(x, t), dynamic_slice_sizes={2}\n}\n",
    ),
    "no starts in an array": (
        "r = f32[] dynamic-slice(f32[] x, s32[0] i), dynamic_slice_sizes={}",
        "HloModule module_entry\nENTRY entry {\n  x = f32[] parameter(0)\n"
        "  i = s32[0] parameter(1)\n  ROOT r = dynamic-slice(x), dynamic_slice_sizes={}\n}\n",
    ),
}
"""Forms that XLA reads still, and what they mean."""


@pytest.mark.parametrize(
    ("short", "long"), [*PAIRS.values(), *BEYOND_XLA.values()], ids=[*PAIRS, *BEYOND_XLA]
)
def test_short_is_long(short: str, long: str):
    module = read_hlo(short)
    verify(module)
    assert print_mlir(module) == print_mlir(read_hlo(long))


@pytest.mark.parametrize(("old", "new"), OLDER.values(), ids=OLDER)
def test_older_forms(old: str, new: str):
    module = read_hlo(old)
    verify(module)
    assert module.is_structurally_equivalent(read_hlo(new))


@pytest.mark.jax
@pytest.mark.parametrize(
    ("short", "long"), [*PAIRS.values(), *OLDER.values()], ids=[*PAIRS, *OLDER]
)
def test_as_xla(short: str, long: str):
    """XLA reads the short text too, to as many instructions."""
    theirs = read_hlo(hlo_module(short).to_string())
    ours = read_hlo(long)
    assert [op.name for op in theirs.walk()] == [op.name for op in ours.walk()]


def test_bounds_of_a_literal_in_a_tuple():
    tuple_type = function(read_hlo("t = tuple((f32[1], (s32[], f32[2])) x)")).args[0].type
    module = read_hlo("t = (f32[<=1], (s32[], f32[2])) constant(({7}, (8, {1, 2})))")
    assert operations(module)[-1].results[0].type == tuple_type


def test_explicit_parameters_come_first():
    module = read_hlo(
        "y = add(f32[2] a, f32[3] b)\nc = f32[2] parameter(0)\n".replace("[3]", "[2]")
    )
    assert [argument.name_hint for argument in function(module).args] == ["c", "a", "b"]


def test_names_of_what_has_none():
    module = read_hlo("ROOT y = add(negate(f32[2] x), negate(negate(x)))")
    assert [name_of(op) for op in operations(module)] == [
        "negate.anon",
        "negate.anon.1",
        "negate.anon.2",
        "y",
    ]
    assert module.sym_name == StringAttr("module_entry")


NESTED = 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"y = f32[2] {'negate(' * NESTED}f32[2] x{')' * NESTED}",
            "instructions are nested deeper",
        ),
        (
            f"y = f32[2] call(f32[2] x), {'to_apply={ y = call(x), ' * NESTED}",
            "computations are nes",
        ),
        (f"y = f32[2] call(f32[2] x), to_apply={'{' * NESTED}", "to_apply takes one computation"),
        (f"y = f32[2] call(f32[2] x), called_computations={'{' * NESTED}", "expected an instruct"),
        (f"{'f {' * NESTED}", "expected '=', found '{'"),
        (f"y = {'b(' * NESTED}f32[2]{')' * NESTED} copy(x)", ""),
        (
            "r = f32[2] dynamic-slice(f32[4] x, s32[2] i), dynamic_slice_sizes={2}",
            "s32[2] does not hold one start for each of 1 dimensions",
        ),
        (
            "r = f32[2] dynamic-slice(f32[4] x, s32[1000000000000] i), dynamic_slice_sizes={2}",
            "s32[1000000000000] does not hold one start",
        ),
        (
            "r = f32[2] dynamic-slice(f32[4] x, f32[1] i), dynamic_slice_sizes={2}",
            "xla.dynamic_slice: (C1) start index is f32[], not an integer scalar",
        ),
        ("y = add(f32[2] a, b)", "'b' is not defined before its use; with its shape"),
        ("y = f32[2] add(f32[2] a, negate(a), dimensions={0})", "expected an operand, found 'dim"),
    ],
)
def test_errors(text: str, message: str):
    with pytest.raises(LocatedError) as caught:
        read_hlo(text)
    assert caught.value.message.startswith(message)


def test_many_names_in_linear_time():
    operands = ", ".join(["negate(x)"] * 20_000)
    text = f"HloModule m\nENTRY e {{\n{X}  y = tuple({operands})\n}}\n"
    assert len(operations(read_hlo(text))) == 20_001


def spelled_product(left: str, right: str) -> str:
    """A dot of two element types, its shape left out."""
    return f"HloModule m\nENTRY e {{\n  x = {left}[2] parameter(0)\n  y = {right}[2] parameter(1)\n  ROOT r = dot(x, y), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}\n}}\n"


@pytest.mark.jax
def test_products_have_the_type_that_xla_gives_them():
    undecided = set[frozenset[str]]()
    for left, right in combinations_with_replacement([each.name for each in ELEMENT_TYPES], 2):
        text = spelled_product(left, right)
        try:
            printed = print_hlo(read_hlo(text))
        except LocatedError:
            undecided.add(frozenset((left, right)))
            continue
        assert printed.partition("ROOT %r = ")[2] in hlo_module(text).to_string(), (left, right)
    # XLA ends the process at these.
    ties = ("f8e5m2", "f8e5m2fnuz"), ("f8e4m3", "f8e4m3fnuz"), ("pred", "u1")
    assert undecided == set(map(frozenset, ties))
