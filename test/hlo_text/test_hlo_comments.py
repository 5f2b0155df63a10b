"""Comments wherever a token may end: what is read is what is read without them, as in XLA."""

import re

import pytest
from peers import has_jax

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.text.lexer import STRING

if has_jax():
    from xla_cpu import hlo_module

PROGRAM = """HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }, num_partitions=2

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}, execution_thread="x // y"

ENTRY e (x: f32[3,5], y: f32[4]) -> (f32[3,5], f32[5]) {
  x = f32[3,5]{1,0} parameter(0), parameter_replication={false}
  y = f32[4]{0:T(8)} parameter(1), sharding={devices=[2]<=[2] metadata={op_name="/* no */"}}
  z = f32[] constant(0), control-predecessors={x, y}
  k = f32[2,2] constant({ {1, 2.5}, {-3, inf} })
  s = f32[2,5] slice(x), slice={[0:2], [0:5]}
  t = f32[5,3]{1,0} transpose(x), dimensions={1,0}, backend_config="// {"
  p = f32[4,7] pad(s, z), padding=1_1x0_2, frontend_attributes={u="v"}
  w = f32[2,4] reduce-window(x, z), window={size=2x2}, to_apply=sum
  h = f32[3,5] exponential(x), result_accuracy={tolerance={atol=1, rtol=0.5, ulps=2}}
  g = f32[3,5] all-reduce(h), channel_id=1, replica_groups={{0,1}}, to_apply=sum
  i = f32[3,5] collective-permute(g), source_target_pairs={{0,1},{1,0}}
  d = f32[3,3] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}
  j = f32[5] custom-call(d, k), custom_call_target="f", operand_layout_constraints={f32[3,3]{1,0}, f32[2,2]{1,0}}
  l = f32[3,5] fusion(i), kind=kLoop, calls={
    o = f32[3,5] parameter(0)
    ROOT n = f32[3,5] negate(o), statistics={visits=1}, origin={{"a" {1}}}
  }
  ROOT r = (f32[3,5], f32[5]) tuple(l, j), sharding={{replicated}, {maximal device=1}}, metadata={op_type="a" source_line=3}
}
"""
PLACES = [
    match.start()
    for match in re.finditer(rf"(?:{STRING})|(?P<place>(?<=[{{(,=])|(?=[}}),])|(?<= ))", PROGRAM)
    if match["place"] is not None and PROGRAM[match.start() - 1 : match.start() + 1] != "=:"
]
STEP = 6
"""Every so many of the places have a comment at once."""


def commented(first: int, comment: str) -> str:
    """The program with a comment at every so many places from one on."""
    text = PROGRAM
    for place in reversed(PLACES[first::STEP]):
        text = text[:place] + comment + text[place:]
    return text


def without_comments_kept(text: str) -> str:
    """A printed program without the comments that are kept where a value is kept as written."""
    return re.sub(r"\s+", "", re.sub(r"/\*.*?\*/|//.*?\n", "", text, flags=re.DOTALL))


@pytest.mark.parametrize("comment", ["/*index=5*/", '/* } \n ) " */', "// { (\n"])
@pytest.mark.parametrize("first", range(STEP))
def test_a_comment_is_a_blank(first: int, comment: str) -> None:
    text = commented(first, comment)
    if has_jax():
        hlo_module(text)
    printed = print_hlo(read_hlo(text))
    plain = print_hlo(read_hlo(PROGRAM))
    assert without_comments_kept(printed) == without_comments_kept(plain)
    assert print_hlo(read_hlo(printed)) == printed


def test_errors_stand_where_they_are() -> None:
    text = "ENTRY e { /* one\n two */ x = f32[2] parameter(0) // three\n ROOT y = f32[2] /*4*/ foo(x) }"
    with pytest.raises(LocatedError) as caught:
        read_hlo(text)
    error = caught.value
    assert (error.line, error.column) == (3, 24)
    assert error.source_line == " ROOT y = f32[2] /*4*/ foo(x) }"


@pytest.mark.jax
@pytest.mark.parametrize("count", [1, 5, 6, 11])
def test_shardings_of_long_tuples(count: int) -> None:
    """XLA counts the elements in comments."""
    types, names = ", ".join(["f32[2]"] * count), ", ".join(["x"] * count)
    shardings = ", ".join(["{replicated}", "{devices=[2]<=[2]}"][i % 2] for i in range(count))
    text = f"""HloModule m
ENTRY e {{
  x = f32[2] parameter(0)
  ROOT r = ({types}) tuple({names}), sharding={{{shardings}}}
}}
"""
    printed = hlo_module(text).to_string()
    (expected,) = re.findall(r"sharding=.*", printed)
    assert expected in print_hlo(read_hlo(text))
    assert print_hlo(read_hlo(printed)) == print_hlo(read_hlo(text))
