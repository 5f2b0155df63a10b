"""`--validate-each` sees passes that change the meaning, and raises no false alarm."""

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laid_out_programs import PROGRAMS as LAID_OUT
from laid_out_programs import ascending, flat_module, in_layouts, mixed, padded, text_of, tiled
from sweeps import each_or_full
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from lowerings.driver import pass_manager
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program, parse_program
from lowerings.rewriting.passes import ResultDifference
from lowerings.universe import UNIVERSE, toolkit_universe
from lowerings.validation import MeaningChanged, Validator
from lowerings.validation.allowances import Allowance, allowance_of
from lowerings.validation.dependence import dependent_results
from lowerings.validation.shrinking import shrink
from tools import xla_opt
from tools.repository.programs import stored_programs

ELEMENTWISE = """
func.func @main(%x: tensor<6xf32>, %y: tensor<6xf32>, %i: tensor<i32>, %u: tensor<6xui8>)
    -> (tensor<3xf32>, tensor<6xi1>, tensor<2xf32>, tensor<6xui8>) {
  %sum = xla.add %x, %y : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %difference = xla.subtract %sum, %y : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %low = xla.constant dense<-1.0> : tensor<f32>
  %high = xla.constant dense<1.0> : tensor<f32>
  %clamped = xla.clamp %low, %difference, %high
    : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %slice = xla.slice %clamped {start_indices = [1], limit_indices = [4], strides = [1]}
    : (tensor<6xf32>) -> tensor<3xf32>
  %less = xla.compare %x, %y {direction = LT} : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %part = xla.dynamic_slice %y, %i {dynamic_slice_sizes = [2]}
    : (tensor<6xf32>, tensor<i32>) -> tensor<2xf32>
  %three = xla.constant dense<3> : tensor<6xui8>
  %third = xla.divide %u, %three : (tensor<6xui8>, tensor<6xui8>) -> tensor<6xui8>
  func.return %slice, %less, %part, %third
    : tensor<3xf32>, tensor<6xi1>, tensor<2xf32>, tensor<6xui8>
}
"""
CONTRACTION = """
func.func @main(%x: tensor<4x20xi8>, %y: tensor<20x7xf32>) -> tensor<4x7xf32> {
  %a = xla.convert %x : (tensor<4x20xi8>) -> tensor<4x20xf32>
  %d = xla.dot %a, %y {lhs_contracting_dims=[1], rhs_contracting_dims=[0]}
    : (tensor<4x20xf32>, tensor<20x7xf32>) -> tensor<4x7xf32>
  %e = xla.tanh %d : (tensor<4x7xf32>) -> tensor<4x7xf32>
  %f = xla.add %e, %d : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  func.return %f : tensor<4x7xf32>
}
"""


@dataclass(frozen=True)
class Miscompile(ModulePass):
    """A pass that is wrong on purpose: it changes the text of the module in one place."""

    name = "test-miscompile"

    pattern: str = ""
    replacement: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        text = str(op)
        changed = re.sub(self.pattern, self.replacement, text, count=1)
        assert changed != text, f"{self.pattern} is not in\n{text}"
        module = parse_program(changed, "<changed>", "mlir")
        block = module.body.detach_block(0)
        op.body.detach_block(0)
        op.body.add_block(block)


@dataclass(frozen=True)
class StatedMiscompile(Miscompile):
    """The same, where its class says that results may be a little off."""

    difference = ResultDifference(64, "it says so")


@pytest.fixture
def with_miscompile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pass `test-miscompile` can be named in pipelines."""
    known = toolkit_universe()
    wider = Universe(
        all_dialects=known.all_dialects,
        all_passes=known.all_passes | {Miscompile.name: lambda: Miscompile},
        all_targets=known.all_targets,
    )
    monkeypatch.setattr(pass_manager, "toolkit_universe", lambda: wider)


def validate(module: ModuleOp, *passes: ModulePass) -> str:
    """Runs the passes, each validated; returns the notes."""
    notes = io.StringIO()
    validator = Validator(notes)
    manager = PassManager(
        make_context(), verify_each=False, before=[validator.before], after=[validator.after]
    )
    manager.run(module, passes)
    return notes.getvalue()


def assert_compared(notes: str) -> None:
    """All that was not checked are inputs on which a pass may do as it does."""
    assert all("is not compared after" in line for line in notes.splitlines()), notes


SEEDED: dict[str, tuple[str, str, str, str, str]] = {
    "an add becomes a subtract": (
        ELEMENTWISE,
        "",
        r"xla\.add",
        "xla.subtract",
        "result 0: .* differ",
    ),
    "operands of a subtract are swapped": (
        ELEMENTWISE,
        "",
        r"xla\.subtract (%\w+), (%\w+)",
        r"xla.subtract \2, \1",
        "result 0",
    ),
    "a bound of a clamp is dropped": (
        ELEMENTWISE,
        "",
        r"dense<1\.0\w*\+00> : tensor<f32>",
        "dense<3.0e+38> : tensor<f32>",
        "result 0",
    ),
    "a slice is off by one": (
        ELEMENTWISE,
        "",
        r"start_indices = \[1\], limit_indices = \[4\]",
        "start_indices = [2], limit_indices = [5]",
        "result 0",
    ),
    "NaN is less": (
        ELEMENTWISE,
        "native{to=tensors}",
        "cmpf olt",
        "cmpf ult",
        "result 1: .* true, expected false",
    ),
    "unsigned is signed": (
        ELEMENTWISE,
        "native{to=tensors}",
        "arith.divui",
        "arith.divsi",
        "result 3",
    ),
    "a start index is not clamped": (
        ELEMENTWISE,
        "native{to=tensors}",
        r"arith\.maxsi (%\w+), %\w+",
        r"arith.maxsi \1, \1",
        "tensor.extract_slice: the slice from -.* is out of bounds",
    ),
    "a NaN is lost": (
        ELEMENTWISE,
        "native{to=tensors}",
        "arith.maximumf",
        "arith.maxnumf",
        "result 0: .*nan",
    ),
    "buffers share their place": (
        CONTRACTION,
        "native{to=buffers}",
        "arith.constant 320 : index",
        "arith.constant 0 : index",
        "overlap",
    ),
    "a kernel writes a view that is too long": (
        CONTRACTION,
        "native{to=buffers}",
        "arith.constant 320 : index",
        "arith.constant 448 : index",
        "reach beyond 448 bytes",
    ),
    "a loop starts too late": (
        CONTRACTION,
        "native",
        r"(scf\.for %\w+ = )%c0( to %c20)",
        r"\1%c1\2",
        "differ by more than rounding|differ",
    ),
    "a vector is loaded beyond an array": (
        CONTRACTION,
        "native",
        r"vector\.load %(\w+)\[%c0\] : memref<28",
        r"vector.load %\1[%c16] : memref<28",
        "out of bounds|differ",
    ),
}


@pytest.mark.parametrize("name", SEEDED)
def test_seeded_miscompiles_are_seen(name: str) -> None:
    program, pipeline, pattern, replacement, message = SEEDED[name]
    passes = (*parse_passes(pipeline), Miscompile(pattern, replacement))
    with pytest.raises(MeaningChanged) as error:
        validate(load_program(program, "mlir"), *passes)
    assert str(error.value).startswith("test-miscompile changes what @main computes: ")
    assert re.search(message, str(error.value)), str(error.value)


def test_the_first_wrong_pass_is_named() -> None:
    good = parse_passes("xla-simplify")
    wrong = Miscompile(r"xla\.add", "xla.subtract")
    later = parse_passes("convert-xla-to-linalg")
    with pytest.raises(MeaningChanged, match=r"^test-miscompile changes"):
        validate(load_program(ELEMENTWISE, "mlir"), *good, wrong, *later)


def test_the_input_is_made_small() -> None:
    wrong = Miscompile(r"xla\.add", "xla.subtract")
    with pytest.raises(MeaningChanged) as error:
        validate(load_program(ELEMENTWISE, "mlir"), wrong)
    said = dict(re.findall(r"^  %(\w): \S+ = (.*)$", str(error.value), re.M))
    assert {said["i"], said["u"]} == {"0", "all 0"}
    assert len(re.findall(r"\] = ", said["x"] + said["y"])) == 1
    assert "all 0" in (said["x"], said["y"])


def test_shrinking_keeps_what_is_needed() -> None:
    """Two elements of different arrays that have to be set together."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=40), rng.integers(1, 99, 30)

    def fails(arrays: list[Any]) -> bool:
        return bool(arrays[0][17] != 0 and arrays[1][3] > 1)

    found = shrink([x, y], fails)
    np.testing.assert_array_equal(np.flatnonzero(found[0]), [17])
    np.testing.assert_array_equal(np.flatnonzero(found[1]), [3])
    assert (found[0][17], found[1][3]) == (1, 2)


@pytest.mark.usefixtures("with_miscompile")
@pytest.mark.parametrize(
    ("pipeline", "pattern", "replacement"),
    [
        ("", "xla[.]add", "xla.subtract"),
        ("native{to=tensors},", "arith[.]divui", "arith.divsi"),
        ("native,", "to %c20 step", "to %c3 step"),
    ],
)
def test_the_reproducer_replays(
    pipeline: str,
    pattern: str,
    replacement: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, place = tmp_path / "program.mlir", tmp_path / "reproducer.mlir"
    source.write_text(CONTRACTION if pipeline == "native," else ELEMENTWISE)
    spec = f'test-miscompile{{pattern="{pattern}" replacement="{replacement}"}}'
    command = [str(source), "-p", pipeline + spec, "--validate-each"]
    options = [f"--pass-pipeline-crash-reproducer={place}"]
    assert xla_opt.main([*command, *options]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    wrong = next(line for line in said.err.splitlines() if not line.startswith("note: "))
    assert wrong.startswith("xla-opt: error: test-miscompile changes what @main computes")
    replay = re.search(r"^to reproduce: xla-opt (.*)$", said.err, re.M)
    assert replay is not None
    assert xla_opt.main([*replay[1].split(), *options]) == 1
    again = capsys.readouterr().err
    # Below the xla level integers have no sign.
    first, second = (
        re.sub(r"-?\d+, expected", "expected", line) for line in (wrong, again.splitlines()[0])
    )
    assert first == second
    # Only the wrong pass runs again, on the inputs that were found.
    assert "native" not in place.read_text()


def test_programs_that_cannot_be_compared_are_noted() -> None:
    program = """
    func.func @main() -> tensor<4xf32> {
      %a = xla.constant dense<0.0> : tensor<f32>
      %b = xla.constant dense<1.0> : tensor<f32>
      %r = xla.rng %a, %b {distribution = rng_uniform}
        : (tensor<f32>, tensor<f32>) -> tensor<4xf32>
      func.return %r : tensor<4xf32>
    }
    """
    notes = validate(load_program(program, "mlir"), *parse_passes("xla-simplify"))
    assert "@main is not validated: xla.rng: its numbers differ in every run" in notes


@pytest.mark.parametrize(
    ("first", "end", "step", "is_whole"),
    [(0, 8, 1, True), (2, 8, 1, False), (0, 8, 2, False), (0, 0, 1, False), (0, 7, 1, False)],
)
def test_loops_that_leave_results_unwritten_are_noted(
    first: int, end: int, step: int, is_whole: bool
) -> None:
    """What is in such memory is no pass's fault: each run, and each pass, finds something else."""
    program = f"""
        func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {{xla.entry}} {{
          %first = arith.constant {first} : index
          %end = arith.constant {end} : index
          %step = arith.constant {step} : index
          scf.for %i = %first to %end step %step {{
            %t = memref.alloc() : memref<f32>
            %v = memref.load %x[%i] : memref<8xf32>
            memref.store %v, %t[] : memref<f32>
            %w = memref.load %t[] : memref<f32>
            memref.store %w, %y[%i] : memref<8xf32>
          }}
          func.return
        }}"""
    module, notes = load_program(program), io.StringIO()
    validator = Validator(notes)
    manager = PassManager(make_context(), before=[validator.before], after=[validator.after])
    manager.run(module, parse_passes("xla-plan-buffers,native{from=schedules}"))
    unwritten = "note: @main is not validated: what it returns depends on memory that nothing is"
    assert notes.getvalue().startswith("" if is_whole else unwritten)
    assert bool(validator.unchecked) == (not is_whole)


def test_functions_beside_one_that_cannot_be_compared_are() -> None:
    program = """
    func.func @random() -> tensor<4xf32> {
      %a = xla.constant dense<0.0> : tensor<f32>
      %r = xla.rng %a, %a {distribution = rng_uniform}
        : (tensor<f32>, tensor<f32>) -> tensor<4xf32>
      func.return %r : tensor<4xf32>
    }
    func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %z = xla.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %z : tensor<4xf32>
    }
    """
    with pytest.raises(MeaningChanged, match="test-miscompile changes what @main computes"):
        validate(load_program(program, "mlir"), Miscompile(r"xla\.add", "xla.subtract"))


def test_arrays_that_are_too_large_are_noted() -> None:
    text = "ENTRY e { a = f32[100000,100000] parameter(0) ROOT r = f32[100000,100000] negate(a) }"
    notes = validate(load_program(text, "hlo"), *parse_passes("native"))
    assert "@main is not validated: f32[100000,100000] has 40000000000 bytes" in notes


@pytest.mark.parametrize(
    ("line", "products"),
    [
        (
            "a = f32[3000,3000] parameter(0)\n ROOT r = f32[3000,3000] dot(a, a), "
            "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            3000**3,
        ),
        (
            "a = f32[1,512,512,64] parameter(0)\n k = f32[3,3,64,64] parameter(1)\n "
            "ROOT r = f32[1,512,512,64] convolution(a, k), window={size=3x3 pad=1_1x1_1}, "
            "dim_labels=b01f_01io->b01f",
            512 * 512 * 64 * 9 * 64,
        ),
    ],
)
def test_contractions_that_are_too_large_are_noted(line: str, products: int) -> None:
    """One step of numpy would take minutes, and looks at no time limit."""
    notes = validate(load_program(f"ENTRY e {{ {line} }}", "hlo"), *parse_passes("xla-simplify"))
    assert f" takes {products} products, the limit is" in notes


def test_no_false_alarm_where_a_singular_matrix_has_a_root_or_none() -> None:
    """Of equal rows neither the product is regular, nor is that of neighbouring numbers."""
    text = """ENTRY e {
      row = f32[2] constant({-0.22471687197685242, -0.10025585442781448})
      a = f32[2,2] broadcast(row), dimensions={1}
      d = f32[2,2] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={1}
      ROOT r = f32[2,2] cholesky(d), lower=true
    }"""
    notes = validate(load_program(text, "hlo"), *parse_passes("xla-expand-compound"))
    assert "is not compared after xla-expand-compound on 1 of 1 inputs" in notes


@pytest.mark.parametrize("name", ["c64", "c128"])
def test_no_false_alarm_where_complex_numbers_are_undefined(name: str) -> None:
    """Of no square root that exists either part may be NaN."""
    text = f"""ENTRY e {{
      a = {name}[4,4] parameter(0)
      n = {name}[4,4] negate(a)
      ROOT r = {name}[4,4] cholesky(n), lower=true
    }}"""
    assert_compared(validate(load_program(text, "hlo"), *parse_passes("native")))


def test_no_false_alarm_where_the_sign_of_a_nan_is_seen() -> None:
    """Of two NaNs either comes out of a sum; of what is not computed each keeps its sign."""
    text = """func.func @main(%x: tensor<99xf32>) -> (tensor<99xi1>, tensor<99xi1>) {
      %n = xla.negate %x : tensor<99xf32>
      %sum = xla.add %n, %x : tensor<99xf32>
      %a = xla.compare %n, %x {direction = LT, comparison_type = TOTALORDER}
        : (tensor<99xf32>, tensor<99xf32>) -> tensor<99xi1>
      %b = xla.compare %sum, %x {direction = LT, comparison_type = TOTALORDER}
        : (tensor<99xf32>, tensor<99xf32>) -> tensor<99xi1>
      func.return %a, %b : tensor<99xi1>, tensor<99xi1>
    }"""
    notes = validate(load_program(text, "mlir"), Miscompile(r"add %n, %x", "add %x, %n"))
    assert re.search(r"in result 1 on \d+ of \d+ inputs: they depend on the sign of a NaN", notes)
    assert_compared(notes)
    with pytest.raises(MeaningChanged, match="result 0: "):
        validate(load_program(text, "mlir"), Miscompile(r"negate", "abs"))


def test_results_beside_complex_numbers_are_compared_on_special_numbers() -> None:
    """What depends on none is seen to lose a NaN."""
    text = """
    !pair = tuple<tensor<4xf32>, tensor<4xf32>>
    func.func @main(%x: tensor<4xf32>, %c: tensor<4xcomplex<f32>>)
        -> (tensor<4xf32>, tensor<4xcomplex<f32>>) {
      %one = xla.constant dense<1.0> : tensor<4xf32>
      %t = xla.tuple %x, %one : (tensor<4xf32>, tensor<4xf32>) -> !pair
      %e = xla.get_tuple_element %t {index = 0} : (!pair) -> tensor<4xf32>
      %same = xla.compare %e, %e {direction = EQ}
        : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
      %y = xla.select %same, %e, %e : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %d = xla.multiply %c, %c : tensor<4xcomplex<f32>>
      func.return %y, %d : tensor<4xf32>, tensor<4xcomplex<f32>>
    }"""
    changed = StatedMiscompile(r"select %same, (%\w+), %\w+", r"select %same, \1, %one")
    with pytest.raises(MeaningChanged, match=r"result 0: .* expected nan"):
        validate(load_program(text, "mlir"), changed)


def test_passes_say_what_they_may_change() -> None:
    stated = {name for name in UNIVERSE.all_passes if allowance_of(name) != Allowance()}
    assert {"convert-linalg-to-vector-loops", "expand-math", "xla-partition"} <= stated
    assert "xla-bufferize" not in stated
    assert all(allowance_of(name).reason for name in stated)


def test_a_pass_of_others_says_what_it_may_change() -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %one = xla.constant dense<1.0> : tensor<4xf32>
      %y = xla.multiply %x, %one : tensor<4xf32>
      func.return %y : tensor<4xf32>
    }"""
    little, much = (("dense<1.000000e\\+00>", f"dense<{n}>") for n in ("1.000001", "1.01"))
    assert_compared(validate(load_program(text, "mlir"), StatedMiscompile(*little)))
    for changed in (Miscompile(*little), StatedMiscompile(*much)):
        with pytest.raises(MeaningChanged, match="test-miscompile changes what @main computes"):
            validate(load_program(text, "mlir"), changed)


WAVES = """func.func @main(%x: tensor<4xf64>, %y: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %often = xla.constant dense<1.0e+04> : tensor<4xf64>
  %a = xla.multiply %x, %often : tensor<4xf64>
  %wave = xla.cosine %a : (tensor<4xf64>) -> tensor<4xf64>
  %sum = xla.add %y, %y : tensor<4xf64>
  func.return %wave, %sum : tensor<4xf64>, tensor<4xf64>
}"""
"""The last bits of %x change %wave by more than 64 of its last bits."""


@pytest.mark.parametrize(
    ("pattern", "replacement", "wrong"),
    [
        (r"xla\.add", "xla.subtract", "result 1"),
        (r"xla\.cosine", "xla.sine", "result 0"),
        (r"dense<1\.0+e\+04>", "dense<1.0000000000000002e+04>", None),
    ],
    ids=["beside it", "much", "little"],
)
def test_ill_conditioned_results_are_compared_with_those_of_neighbouring_inputs(
    pattern: str, replacement: str, wrong: str | None
) -> None:
    changed = StatedMiscompile(pattern, replacement)
    if wrong is None:
        notes = validate(load_program(WAVES, "mlir"), changed)
        assert "in result 0 on 11 of 18 inputs: the last bits of the inputs" in notes
        assert_compared(notes)
        return
    with pytest.raises(MeaningChanged, match=f"test-miscompile changes what @main .*{wrong}: "):
        validate(load_program(WAVES, "mlir"), changed)


@dataclass(frozen=True)
class WaveMiscompile(Miscompile):
    """The same, where its class says that only cosines may be others."""

    difference = ResultDifference(
        64, "it says so", inputs=("plain",), where=lambda op: op.name == "xla.cosine"
    )


def test_results_keep_every_bit_that_depend_on_nothing_that_is_rounded() -> None:
    """A zero without its sign is seen on special numbers, on which cosines are not compared."""
    little = r"dense<1\.0+e\+04>", "dense<1.0000000000000002e+04>"
    notes = validate(load_program(WAVES, "mlir"), WaveMiscompile(*little))
    assert "in result 0 on inputs with special and limits values: it says so" in notes
    program = WAVES.replace(
        "%sum = xla.add %y, %y",
        "%no = xla.constant dense<-0.0> : tensor<4xf64> %sum = xla.add %y, %no",
    )
    with pytest.raises(MeaningChanged, match=r"result 1: .* differ, the first at"):
        validate(load_program(program, "mlir"), WaveMiscompile("dense<-0", "dense<0"))


def is_negation(op: Operation) -> bool:
    """The operations of the next test."""
    return op.name == "xla.negate"


@pytest.mark.parametrize(
    ("body", "dependent"),
    [
        ("%a = xla.negate %x : tensor<f32> %b = xla.abs %y : tensor<f32>", {0}),
        ("%n = xla.negate %x : tensor<f32> %a, %b = func.call @swapped(%n, %y) : !f", {0, 1}),
        ("%a, %b = func.call @swapped(%x, %y) : !f", set[int]()),
        (
            "%a = func.call @negated(%x) : (tensor<f32>) -> tensor<f32> "
            "%b = xla.abs %y : tensor<f32>",
            {0},
        ),
        (
            "%n = xla.negate %x : tensor<f32> %i = arith.constant true "
            "%a = scf.if %i -> (tensor<f32>) { scf.yield %n : tensor<f32> } "
            "else { scf.yield %y : tensor<f32> } %b = xla.abs %y : tensor<f32>",
            {0},
        ),
        (
            "%n = xla.negate %x : tensor<f32> %m = memref.alloc() : memref<f32> "
            "%a = xla.abs %y : tensor<f32> %b = xla.abs %y : tensor<f32>",
            {0, 1},
        ),
    ],
    ids=["value", "call", "call beside", "in a function", "in a region", "memory"],
)
def test_what_results_depend_on(body: str, dependent: set[int]) -> None:
    text = f"""
    func.func private @negated(%x: tensor<f32>) -> tensor<f32> {{
      %n = xla.negate %x : tensor<f32>
      func.return %n : tensor<f32>
    }}
    func.func private @swapped(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {{
      func.return %y, %x : tensor<f32>, tensor<f32>
    }}
    func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {{
      {body.replace("!f", "(tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)")}
      func.return %a, %b : tensor<f32>, tensor<f32>
    }}"""
    module = parse_program(text, "<text>", "mlir")
    assert {*dependent_results(module, "main", 2, is_negation)} == dependent


def test_results_in_a_tuple_depend_on_what_is_put_into_it() -> None:
    text = """ENTRY e {
      x = f32[2] parameter(0)
      n = f32[2] negate(x)
      a = f32[2] abs(x)
      t = (f32[2], f32[2]) tuple(a, n)
      ROOT r = (f32[2], (f32[2], f32[2]), f32[2]) tuple(n, t, a)
    }"""
    assert {*dependent_results(load_program(text, "hlo"), "main", 4, is_negation)} == {0, 2}


@pytest.mark.parametrize("program", [ELEMENTWISE, CONTRACTION])
def test_no_false_alarm_on_small_programs(program: str) -> None:
    assert_compared(validate(load_program(program, "mlir"), *parse_passes("native")))


LAYOUTS = {"written": None, "ascending": ascending, "padded": padded, "tiled": tiled}


@pytest.mark.parametrize(
    "case",
    each_or_full(
        [(name, layout) for name in LAID_OUT for layout in (*LAYOUTS, "mixed")],
        {("matmul", "tiled"), ("batched", "mixed"), ("gather", "mixed"), ("reshapes", "padded")},
    ),
)
def test_no_false_alarm_on_programs_in_layouts(case: tuple[str, str]) -> None:
    name, layout = case
    choose = LAYOUTS[layout] if layout in LAYOUTS else mixed(3)
    module = (
        load_program(text_of(name), "hlo")
        if choose is None
        else in_layouts(flat_module(name), choose)
    )
    assert_compared(validate(module, *parse_passes("native")))


@pytest.mark.parametrize(
    "case",
    each_or_full(
        [(p.name, to) for p in stored_programs() for to in ("buffers", "loops")],
        # What leads to the loops goes by the buffers.
        {("argmax", "loops"), ("mlp_classifier", "buffers")},
    ),
)
def test_no_false_alarm_on_stored_programs(case: tuple[str, str]) -> None:
    name, level = case
    program = next(each for each in stored_programs() if each.name == name)
    assert_compared(
        validate(load_program(program.stablehlo), *parse_passes(f"native{{to={level}}}"))
    )


def test_conditioning_is_not_measured_by_units_that_are_large() -> None:
    """With another last bit every number of f8E8M0FNU is another power of two."""
    text = """func.func @main() -> tensor<2xf32> {
      %x = xla.constant dense<[1.0, 2.0]> : tensor<2xf8E8M0FNU>
      %y = xla.convert %x : (tensor<2xf8E8M0FNU>) -> tensor<2xf32>
      %z = xla.add %y, %y : tensor<2xf32>
      func.return %z : tensor<2xf32>
    }"""
    with pytest.raises(MeaningChanged, match="result 0: 1 of 2 elements"):
        validate(load_program(text, "mlir"), StatedMiscompile(r"xla\.add", "xla.multiply"))
