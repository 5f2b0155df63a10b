"""Programs with dynamic dimensions as callers see them: arrays in the sizes that they have."""

import io
from typing import Any

import numpy as np
import pytest
from small_programs import numbers, same
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import lowerings
from lowerings.compilation import INTERPRETED_LEVELS
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.validation import MeaningChanged, Validator
from tools.xla_run import main as xla_run
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import from_numpy
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.dynamic_shapes import GetDimensionSizeOp

COLUMNS = "f32[<=3,<=4]{0,1}"
LINES = f"""HloModule lines, entry_computation_layout={{({COLUMNS}, s32[])->({COLUMNS}, s32[])}}

ENTRY main {{
  x = {COLUMNS} parameter(0)
  n = s32[] parameter(1)
  cut = {COLUMNS} set-dimension-size(x, n), dimensions={{1}}
  y = {COLUMNS} negate(cut)
  columns = s32[] get-dimension-size(y), dimensions={{1}}
  ROOT result = ({COLUMNS}, s32[]) tuple(y, columns)
}}
"""

BOUNDED = """
func.func @main(%x: tensor<?x2xf32, #stablehlo.bounds<4, ?>>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %x, %x : tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<?x2xf32, #stablehlo.bounds<4, ?>>, tensor<f32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""

RUNS: list[Any] = [
    {"backend": "reference"},
    *({"backend": "interpreter", "level": level} for level in INTERPRETED_LEVELS),
    {"backend": "llvm"},
    pytest.param({"backend": "riscv64"}, marks=pytest.mark.riscv64),
]


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_layouts_and_tuples(run: dict[str, Any]) -> None:
    """Column-major arrays with sizes beside them."""
    program = lowerings.compile(LINES, **run)
    x = numbers("f32", [[1, 2, 3], [4, 5, 6]])
    same(program(x, np.int32(2)), (-x[:, :2], numbers("s32", 2)))
    same(program(x[:0], np.int32(0)), (np.zeros((0, 0), np.float32), numbers("s32", 0)))
    largest = np.asfortranarray(np.ones((3, 4), np.float32))
    same(program(largest, np.int32(4)), (-largest, numbers("s32", 4)))


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_stablehlo_with_bounds(run: dict[str, Any]) -> None:
    program = lowerings.compile(BOUNDED, **run)
    for rows in (0, 1, 4):
        x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
        same(program(x), (2 * x.sum(axis=0),))


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_errors_at_run_time(run: dict[str, Any]) -> None:
    """The operation, its place, the rule and what was found; the next call is as good as any."""
    program = lowerings.compile(LINES, **run)
    x = np.ones((2, 3), np.float32)
    for size in (5, -1):
        with pytest.raises(
            XlaError,
            match=rf":6:3: error: xla.set_dimension_size: \(C4\) size {size} of dimension 1",
        ):
            program(x, np.int32(size))
    same(program(x, np.int32(1))[1], numbers("s32", 1))


@pytest.mark.parametrize("run", RUNS[:2] + RUNS[4:], ids=str)
def test_arrays_that_exceed_their_bounds(run: dict[str, Any]) -> None:
    program = lowerings.compile(LINES, **run)
    assert str(program.signature.parameters[0]).startswith("f32[<=3,<=4]")
    for shape in ((4, 4), (3, 5), (3,), (3, 4, 1)):
        with pytest.raises(XlaError, match=r"expected f32\[<=3,<=4\].*found f32"):
            program(np.ones(shape, np.float32), np.int32(1))


WHOLE = """HloModule whole

ENTRY main {
  x = f32[3,4] parameter(0)
  n = s32[] parameter(1)
  cut = f32[3,<=4] set-dimension-size(x, n), dimensions={1}
  four = s32[] constant(4)
  filled = f32[3,4] set-dimension-size(cut, four), dimensions={1}
  again = f32[3,4] set-dimension-size(x, n), dimensions={1}
  ROOT result = (f32[3,4], f32[3,4]) tuple(filled, again)
}
"""


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_a_size_that_is_static_in_the_result(run: dict[str, Any]) -> None:
    """As TensorFlow writes it behind sorts: all elements count, and the size has to say so."""
    program = lowerings.compile(WHOLE, **run)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    same(program(x, np.int32(4)), (x, x))
    with pytest.raises(XlaError, match=r":9:3: error: .*\(C5\) size 3 of dimension 1, which has 4"):
        program(x, np.int32(3))


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_a_static_result_grows_by_zeros(run: dict[str, Any]) -> None:
    lines = [line for line in WHOLE.splitlines() if "again" not in line]
    program = lowerings.compile("\n".join([*lines[:-1], "  ROOT r = negate(filled)", "}"]), **run)
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    for n in (0, 2, 4):
        expected = x.copy()
        expected[:, n:] = 0
        (found,) = program(x, np.int32(n))
        np.testing.assert_array_equal(found, -expected)


def test_a_loop_ends_where_a_check_fails() -> None:
    """It would go on forever: the size never gets to be what it waits for."""
    text = """HloModule forever
body {
  x = f32[<=4] parameter(0)
  n = s32[] get-dimension-size(x), dimensions={0}
  two = s32[] constant(2)
  m = s32[] add(n, two)
  ROOT y = f32[<=4] set-dimension-size(x, m), dimensions={0}
}
condition {
  x = f32[<=4] parameter(0)
  n = s32[] get-dimension-size(x), dimensions={0}
  five = s32[] constant(5)
  ROOT c = pred[] compare(n, five), direction=NE
}
ENTRY main {
  x = f32[<=4] parameter(0)
  ROOT y = f32[<=4] while(x), condition=condition, body=body
}
"""
    for backend in ("reference", "llvm"):
        with pytest.raises(XlaError, match=r"size 6 of dimension 0, whose bound is 4"):
            lowerings.compile(text, backend=backend)(np.ones(2, np.float32))


def test_what_is_not_compiled_says_why() -> None:
    text = """HloModule calls
ENTRY main {
  x = f32[<=4] parameter(0)
  ROOT y = f32[<=4] custom-call(x), custom_call_target="f"
}
"""
    with pytest.raises(Exception, match=r"xla.custom_call: 1, .*:4:8 \(arrays of dynamic sizes"):
        lowerings.compile(text)


def test_command_line(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lines.hlo"
    path.write_text(LINES)
    arguments = [str(path), "--backend=llvm", "--input=2x3xf32=1.0"]
    assert xla_run([*arguments, "--input=s32=2"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("f32[2,2] ")
    assert xla_run([*arguments, "--input=s32=7"]) == 1
    assert f"{path}:6:3: error: xla.set_dimension_size: (C4) size 7" in capsys.readouterr().err
    assert xla_run([str(path), "--input=4x4xf32=1.0", "--input=s32=2"]) == 1
    assert "expected f32[<=3,<=4]" in capsys.readouterr().err


def test_validation() -> None:
    """Passes are validated on arrays of random sizes, without a note."""
    without_size = LINES.replace("{0,1}, s32[])->", "{0,1})->")
    without_size = without_size.replace("s32[] parameter(1)", "s32[] constant(3)")
    for text in (BOUNDED, without_size):
        notes = io.StringIO()
        validator = Validator(notes)
        manager = PassManager(make_context(), before=[validator.before], after=[validator.after])
        manager.run(load_program(text), parse_passes("native{to=buffers}"))
        assert notes.getvalue() == ""


def test_validation_sees_sizes_that_are_wrong() -> None:
    """A pass that forgets one size changes the meaning, and the input that shows it replays."""

    class ForgetSizes(ModulePass):
        name = "forget-sizes"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            for inner in list(op.walk()):
                if isinstance(inner, GetDimensionSizeOp):
                    bound = ConstantOp(value=from_numpy(np.array(4, np.int32)))
                    block = inner.parent
                    assert block is not None
                    block.insert_ops_before([bound], inner)
                    inner.result.replace_all_uses_with(bound.result)
                    block.erase_op(inner)

    text = """HloModule sizes
ENTRY main {
  x = f32[<=4] parameter(0)
  ROOT n = s32[] get-dimension-size(x), dimensions={0}
}
"""
    found = ""
    for _ in range(2):
        validator = Validator(io.StringIO(), found)
        manager = PassManager(make_context(), before=[validator.before], after=[validator.after])
        with pytest.raises(MeaningChanged, match="forget-sizes changes what @main") as error:
            manager.run(load_program(text), [ForgetSizes()])
        found = error.value.inputs
