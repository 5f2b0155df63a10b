"""Arrays of any rank and futures, which cross borders of functions, and what calls keep."""

import numpy as np
import pytest
from stablehlo_oracle import rejection

import lowerings
from tools import xla_run
from xla_dialect.diagnostics import LocatedError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.stablehlo import read_stablehlo

ANY, PAIR = "tensor<*xf32>", "tensor<2xf32>"


def function(body: str, arguments: str, result: str) -> str:
    return f"func.func @main({arguments}) -> {result} {{\n  {body}\n  return %r : {result}\n}}\n"


SAME = f"func.func private @g(%x: {ANY}) -> {ANY} {{\n  return %x : {ANY}\n}}\n"
CALL = function(f"%r = call @g(%a) : ({ANY}) -> {ANY}", f"%a: {ANY}", ANY) + SAME

ANY_RANK = {
    "call": (CALL, None),
    "custom_call": (
        function(f"%r = stablehlo.custom_call @f(%a) : ({ANY}) -> {ANY}", f"%a: {ANY}", ANY),
        None,
    ),
    "beside": (function(f"%r = stablehlo.abs %b : {PAIR}", f"%a: {ANY}, %b: {PAIR}", PAIR), None),
    "beside wrong": (
        function(
            f"%r = stablehlo.transpose %b, dims = [1] : ({PAIR}) -> {PAIR}",
            f"%a: {ANY}, %b: {PAIR}",
            PAIR,
        ),
        "stablehlo.transpose: (C1)",
    ),
    "abs": (
        function(f"%r = stablehlo.abs %a : {ANY}", f"%a: {ANY}", ANY),
        "operand is tensor<*xf32>, not an array",
    ),
    "add": (
        function(
            f"%r = stablehlo.add %b, %a : ({PAIR}, {ANY}) -> {PAIR}",
            f"%a: {ANY}, %b: {PAIR}",
            PAIR,
        ),
        "rhs is tensor<*xf32>, not an array",
    ),
    "result": (
        function(f"%r = stablehlo.abs %a : ({PAIR}) -> {ANY}", f"%a: {PAIR}", ANY),
        "(Result) declared (tensor<*xf32>), inferred (f32[2])",
    ),
    "argument": (
        function(f"%r = call @g(%a) : ({PAIR}) -> {ANY}", f"%a: {PAIR}", ANY) + SAME,
        "expected operand type tensor<*xf32>, but provided tensor<2xf32>",
    ),
    "returned": (
        f"func.func @main(%a: {ANY}, %b: {PAIR}) -> {ANY} {{\n  return %b : {PAIR}\n}}",
        "expected [tensor<*xf32>], got [tensor<2xf32>]",
    ),
}


@pytest.mark.jax
@pytest.mark.parametrize("name", ANY_RANK)
def test_arrays_of_any_rank(name: str):
    text, fault = ANY_RANK[name]
    assert (rejection(text) is None) == (fault is None)
    if fault is None:
        kept = print_mlir(read_stablehlo(text))
        assert "tensor<*xf32>" in kept
        assert print_mlir(read_stablehlo(kept)) == kept
        return
    with pytest.raises(LocatedError) as caught:
        read_stablehlo(text)
    assert fault in caught.value.message


def test_arguments_give_the_rank(tmp_path, capsys):
    path = tmp_path / "any.mlir"
    path.write_text(CALL)
    assert xla_run.main([str(path), "--input", "2x2xf32=[[1,2],[3,4]]"]) == 0
    assert "f32[2,2] [[1., 2.],\n [3., 4.]]" in capsys.readouterr().out
    assert xla_run.main([str(path), "--input", "2xs32=[1,2]"]) == 1


FUTURE = "!stablehlo.future<tensor<2xf32>>"
LONG = "tensor<4xf32>"
START = f"""%s = "stablehlo.async_start"(%a) ({{
  ^bb0(%x: {LONG}):
    %y = stablehlo.slice %x [1:3] : ({LONG}) -> {PAIR}
    "stablehlo.return"(%y) : ({PAIR}) -> ()
  }}) : ({LONG}) -> {FUTURE}"""
DONE = f'%r = "stablehlo.async_done"(%s) : ({FUTURE}) -> {PAIR}'
BEGIN = (
    f"func.func private @begin(%a: {LONG}) -> {FUTURE} {{\n  {START}\n  return %s : {FUTURE}\n}}\n"
)
END = f"func.func private @end(%s: {FUTURE}) -> {PAIR} {{\n  {DONE}\n  return %r : {PAIR}\n}}\n"
RUN = {
    "here": function(f"{START}\n  {DONE}", f"%a: {LONG}", PAIR),
    "begun elsewhere": function(
        f"%s = call @begin(%a) : ({LONG}) -> {FUTURE}\n  {DONE}", f"%a: {LONG}", PAIR
    )
    + BEGIN,
    "done elsewhere": function(
        f"{START}\n  %r = call @end(%s) : ({FUTURE}) -> {PAIR}", f"%a: {LONG}", PAIR
    )
    + END,
}


@pytest.mark.jax
@pytest.mark.parametrize("name", RUN)
@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_futures(name: str, backend: str):
    assert rejection(RUN[name]) is None
    argument = np.arange(4, dtype=np.float32)
    (found,) = lowerings.compile(RUN[name], backend=backend)(argument)
    np.testing.assert_array_equal(found, argument[1:3])


@pytest.mark.jax
@pytest.mark.parametrize(
    "text",
    [function(DONE, f"%s: {FUTURE}", PAIR), BEGIN.replace("private @begin", "@main")],
    ids=["taken", "returned"],
)
def test_futures_of_entries_stay(text: str):
    """Nobody can call them, but they are programs."""
    assert rejection(text) is None
    assert "async_" in print_mlir(read_stablehlo(text))


ADD = START.replace(f"stablehlo.slice %x [1:3] : ({LONG}) -> {PAIR}", f"stablehlo.abs %x : {LONG}")
WRONG_FUTURES = {
    ADD.replace(PAIR, LONG): "its region has stablehlo.abs, stablehlo.return, not one collective",
    f'%r = "stablehlo.async_done"(%f) : ({FUTURE}) -> {LONG}': "waits for !stablehlo.future<",
}


@pytest.mark.jax
@pytest.mark.parametrize("operation", WRONG_FUTURES)
def test_wrong_futures(operation: str):
    text = f"func.func @main(%a: {LONG}, %f: {FUTURE}) {{\n  {operation}\n  return\n}}"
    assert rejection(text) is not None
    with pytest.raises(LocatedError) as caught:
        read_stablehlo(text)
    assert WRONG_FUTURES[operation] in caught.value.message


GROUPS = (
    '#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", '
    'size = 2>]>, axes = [#stablehlo.axis_ref<name = "x">]>'
)


@pytest.mark.jax
def test_groups_of_custom_calls():
    text = function(
        f"%r = stablehlo.custom_call @f(%a) {{replica_groups = {GROUPS}}} : ({PAIR}) -> {PAIR}",
        f"%a: {PAIR}",
        PAIR,
    )
    assert rejection(text) is None
    assert "xla.replica_groups = #xla.replica_groups<mesh" in print_mlir(read_stablehlo(text))
    with pytest.raises(LocatedError, match=r"replica_groups: .*axis"):
        read_stablehlo(text.replace('axis_ref<name = "x">', 'axis_ref<name = "y">'))


@pytest.mark.jax
def test_regions_of_composites():
    """They say what is modelled; the decomposition is what is computed."""
    region = f"^bb0(%x: {PAIR}):\n  stablehlo.return %x : {PAIR}"
    text = function(
        f'%r = "stablehlo.composite"(%a) ({{\n  {region}\n}}) '
        f'{{name = "a.b", decomposition = @g}} : ({PAIR}) -> {PAIR}',
        f"%a: {PAIR}",
        PAIR,
    )
    text += f"func.func private @g(%x: {PAIR}) -> {PAIR} {{\n  %0 = stablehlo.negate %x : {PAIR}\n  return %0 : {PAIR}\n}}"
    assert rejection(text) is None
    (found,) = lowerings.compile(text, backend="reference")(np.array([1, -2], np.float32))
    np.testing.assert_array_equal(found, [-1, 2])
