"""Any pipeline, from any level on, on any executor: `xla-run -p`, `compile(pipeline=...)`, `jit`."""

import math
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowerings
import lowerings.execution.emulator as emulator
from lowerings.compilation import Options, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, machine_target, parse_passes
from lowerings.driver.program import load_program
from lowerings.execution.function_signature import order_of_strides
from lowerings.pipelines import LEVELS, NATIVE, pass_specs
from lowerings.targets.llvm.machine import (
    CodeGenerationError,
    Machine,
    host,
    parse_machine,
    riscv64,
)
from tools import xla_opt, xla_run
from xla_dialect.diagnostics import XlaError
from xla_dialect.runtime.limits import TimeLimitReached

LAYER = """
HloModule layer
ENTRY main {
  x = f32[16,32] parameter(0)
  w = f32[32,8] parameter(1)
  p = f32[16,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT e = f32[16,8] exponential(p)
}
"""
GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((16, 32)).astype(np.float32)
W = GENERATOR.standard_normal((32, 8)).astype(np.float32)
EXPECTED = np.exp(X.astype(np.float64) @ W.astype(np.float64))

EXECUTORS = ["llvm", "interpreter", pytest.param("riscv64", marks=pytest.mark.riscv64)]
PIPELINES = (
    # Passes between levels, passes of xDSL, levels left out, and each pass alone.
    "native{to=tensors},canonicalize,cse,native{from=tensors to=buffers}",
    "native{to=buffers},canonicalize",
    "native{to=tensors},xla-bufferize",
    "native{to=tensors},xla-bufferize,convert-linalg-to-vector-loops",
    "native{to=buffers},xla-plan-schedules{vector_bits=128},convert-linalg-to-vector-loops",
    "xla-simplify",
    ",".join(pass_specs(NATIVE)),
)


def require_close(found: Any) -> None:
    np.testing.assert_allclose(found, EXPECTED, rtol=1e-5)


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_pipeline(pipeline: str, backend: str) -> None:
    (found,) = lowerings.compile(LAYER, backend=backend, pipeline=pipeline)(X, W)
    require_close(found)


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("level", LEVELS)
def test_a_printed_level(
    level: str, backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, printed = tmp_path / "layer.hlo", tmp_path / "printed.mlir"
    source.write_text(LAYER)
    assert xla_opt.main([str(source), "-p", f"native{{to={level}}}", "-o", str(printed)]) == 0
    (found,) = compile_module(load_program(printed), Options(backend=backend))(X, W)
    require_close(found)
    np.savez(tmp_path / "inputs.npz", X, W)
    command = [str(printed), "--backend", backend, "--input", f"@{tmp_path / 'inputs.npz'}"]
    assert xla_run.main([*command, "-p", "canonicalize", "--output-dir", str(tmp_path)]) == 0
    require_close(np.load(tmp_path / "main.0.npy"))


def test_a_pass_is_seen_in_results() -> None:
    """What runs is what the pipeline made: without `expand-math` there is no machine code for it."""
    text = "ENTRY main { x = f32[3] parameter(0) ROOT y = f32[3] multiply(x, x) }"
    pipeline = "native{to=tensors},test-double"
    with pytest.raises(XlaError, match="there is no pass 'test-double'"):
        lowerings.compile(text, pipeline=pipeline)
    with pytest.raises(XlaError, match="a module cannot be brought up to 'tensors'"):
        lowerings.compile(text, backend="interpreter", level="tensors", pipeline="native")
    with pytest.raises(XlaError, match="the reference runs programs of the level 'xla'"):
        lowerings.compile(text, backend="reference", pipeline="native{to=tensors}")
    x = np.array([1, 2, 3], np.float32)
    (found,) = lowerings.compile(text, backend="reference", pipeline="xla-simplify")(x)
    assert found.tolist() == [1, 4, 9]


ON_MEMORY = """
#map = affine_map<(d0) -> (d0)>
func.func private @main(%x: memref<3xf32>, %y: memref<3xf32>) {
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : memref<3xf32>) outs(%y : memref<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}
func.func @twice(%x: memref<3xf32>, %r: memref<3xf32>, %s: memref<2x3xf32, strided<[1, 2]>>) {
  %t = memref.alloc() : memref<3xf32>
  func.call @main(%x, %t) : (memref<3xf32>, memref<3xf32>) -> ()
  func.call @main(%t, %r) : (memref<3xf32>, memref<3xf32>) -> ()
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %v = memref.load %r[%j] : memref<3xf32>
      %e = math.exp2 %v : f32
      memref.store %e, %s[%i, %j] : memref<2x3xf32, strided<[1, 2]>>
    }
  }
  return
}
"""


@pytest.mark.parametrize("backend", EXECUTORS)
def test_what_no_hlo_says(backend: str) -> None:
    """Memory, strides and allocations that were written by hand; the entry has another name."""
    program = compile_module(
        load_program(ON_MEMORY, "mlir"), Options(backend=backend, entry="twice")
    )
    doubled, powers = program(np.array([1, 2, -0.5], np.float32))
    assert doubled.tolist() == [4, 8, -2]
    assert powers.tolist() == [[16, 256, 0.25]] * 2


def test_allocations_get_a_place_in_an_arena() -> None:
    program = compile_module(load_program(ON_MEMORY, "mlir"), Options(entry="twice"))
    assert "aligned_alloc" not in str(getattr(program, "arena_size", ""))
    for _ in range(3):
        assert program(np.array([1, 2, 3], np.float32))[0].tolist() == [4, 8, 12]


ALIASED = """
HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main {
  x = f32[4] parameter(0)
  one = f32[1] constant({1})
  two = s32[] constant(2)
  ROOT r = f32[4] dynamic-update-slice(x, one, two)
}
"""


@pytest.mark.parametrize("level", ["tensors", "buffers", "loops"])
@pytest.mark.parametrize("backend", EXECUTORS)
def test_nothing_is_given_away_that_was_not(level: str, backend: str, tmp_path: Path) -> None:
    source, printed = tmp_path / "aliased.hlo", tmp_path / "printed.mlir"
    source.write_text(ALIASED)
    assert xla_opt.main([str(source), "-p", f"native{{to={level}}}", "-o", str(printed)]) == 0
    x = np.zeros(4, np.float32)
    (found,) = lowerings.compile(printed, backend=backend)(x)
    assert found.tolist() == [0, 0, 1, 0]
    assert not x.any()


SCALARS = {
    "alone": "func.func @main(%x: f32) -> f32 {\n  %y = arith.negf %x : f32\n  return %y : f32\n}",
    "handed on": "func.func @main(%x: f32) -> (tensor<f32>, f32) {\n"
    "  %y = arith.negf %x : f32\n  %e = tensor.empty() : tensor<f32>\n"
    "  %t = linalg.fill ins(%y : f32) outs(%e : tensor<f32>) -> tensor<f32>\n"
    "  return %t, %x : tensor<f32>, f32\n}",
    "beside memory": "func.func @main(%x: f32, %r: memref<f32>) {\n  %y = arith.negf %x : f32\n"
    "  memref.store %y, %r[] : memref<f32>\n  return\n}",
}


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("name", SCALARS)
def test_scalars_are_arrays_without_dimensions(name: str, backend: str) -> None:
    module = load_program(SCALARS[name], "mlir")
    found, *rest = compile_module(module, Options(backend=backend))(np.float32(2))
    assert (found.shape, found) == ((), -2)
    assert rest == [2] * len(rest)


GCD = """
func.func @main(%a: i32, %b: i32) -> i32 {
  %zero = arith.constant 0 : i32
  cf.br ^loop(%a, %b : i32, i32)
^loop(%x: i32, %y: i32):
  %done = arith.cmpi eq, %y, %zero : i32
  cf.cond_br %done, ^end(%x : i32), ^next
^next:
  %r = arith.remsi %x, %y : i32
  cf.br ^loop(%y, %r : i32, i32)
^end(%g: i32):
  func.return %g : i32
}
"""
ON_BLOCKS = """
func.func private @scaled(%x: memref<4xf32>, %r: memref<4xf32>, %up: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  cf.cond_br %up, ^head(%c0, %two : index, f32), ^head(%c0, %one : index, f32)
^head(%i: index, %k: f32):
  %go = arith.cmpi slt, %i, %c4 : index
  cf.cond_br %go, ^body(%x : memref<4xf32>), ^done
^body(%from: memref<4xf32>):
  %v = memref.load %from[%i] : memref<4xf32>
  %w = arith.mulf %v, %k : f32
  memref.store %w, %r[%i] : memref<4xf32>
  %n = arith.addi %i, %c1 : index
  cf.br ^head(%n, %k : index, f32)
^done:
  func.return
}
func.func @main(%x: memref<4xf32>, %up: i1, %r: memref<4xf32>) {
  func.call @scaled(%x, %r, %up) : (memref<4xf32>, memref<4xf32>, i1) -> ()
  func.return
}
"""


ON_TENSORS_AND_BLOCKS = """
func.func @main(%x: tensor<4x3xf32>, %n: tensor<i32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0 : i32
  %i = tensor.extract %n[] : tensor<i32>
  %t = xla.transpose %x {dimensions = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %c = arith.cmpi sgt, %i, %zero : i32
  cf.cond_br %c, ^loop(%t, %i : tensor<3x4xf32>, i32), ^done(%t : tensor<3x4xf32>)
^loop(%a: tensor<3x4xf32>, %k: i32):
  %one = arith.constant 1 : i32
  %u = xla.transpose %a {dimensions = [1, 0]} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %v = xla.add %u, %x : tensor<4x3xf32>
  %w = xla.transpose %v {dimensions = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %k1 = arith.subi %k, %one : i32
  %more = arith.cmpi sgt, %k1, %zero : i32
  cf.cond_br %more, ^loop(%w, %k1 : tensor<3x4xf32>, i32), ^done(%w : tensor<3x4xf32>)
^done(%r: tensor<3x4xf32>):
  func.return %r : tensor<3x4xf32>
}
"""
"""No operation of `scf` or `cf` takes arrays with a layout."""


@pytest.mark.parametrize("pipeline", [None, *(f"native{{to={level}}}" for level in LEVELS)])
def test_blocks_on_tensors(pipeline: str | None) -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    for backend in ("llvm", "interpreter"):
        options = Options(backend=backend, pipeline=pipeline)
        program = compile_module(load_program(ON_TENSORS_AND_BLOCKS, "mlir"), options)
        for rounds in (-1, 0, 1, 3):
            (result,) = program(x, np.int32(rounds))
            np.testing.assert_array_equal(result, x.T * (1 + max(rounds, 0)))


@pytest.mark.parametrize("backend", EXECUTORS)
def test_functions_of_several_blocks(backend: str) -> None:
    gcd = compile_module(load_program(GCD, "mlir"), Options(backend=backend))
    for x, y in ((12, 18), (17, 5), (0, 7), (7, 0), (1, 1)):
        assert gcd(np.int32(x), np.int32(y))[0] == math.gcd(x, y)
    scaled = compile_module(load_program(ON_BLOCKS, "mlir"), Options(backend=backend))
    x = np.array([1, -2, 0.5, np.inf], np.float32)
    for up in (False, True):
        assert scaled(x, np.bool_(up))[0].tolist() == (x * (1 + up)).tolist()


ENDLESS = """
func.func @main(%x: memref<i32>, %r: memref<i32>) {
  %v = memref.load %x[] : memref<i32>
  cf.br ^again(%v : i32)
^again(%w: i32):
  %n = arith.addi %w, %v : i32
  memref.store %n, %r[] : memref<i32>
  cf.br ^again(%n : i32)
}
"""


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_loops_of_blocks_end_when_they_are_asked_to(backend: str) -> None:
    options = Options(backend=backend, time_limit=0.2)
    with pytest.raises(TimeLimitReached):
        compile_module(load_program(ENDLESS, "mlir"), options)(np.int32(1))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 3), (3, 1), (0, 3), (2, 1, 4), (2, 3, 4)])
def test_orders_of_strides(shape: tuple[int, ...]) -> None:
    """The strides of every order of numpy's arrays, and of slices of larger ones."""
    for axes in np.ndindex((len(shape),) * len(shape)):
        if sorted(axes) != list(range(len(shape))):
            continue
        for padding in (0, 2):
            whole = np.empty([shape[d] + padding * (d != axes[0]) for d in axes], np.int8)
            view = whole.transpose(np.argsort(axes))[tuple(map(slice, shape))]
            order = order_of_strides(shape, view.strides)
            assert order is not None
            if 0 in shape:
                continue
            wanted = [n for n, size in zip(view.strides, shape, strict=True) if size > 1]
            found = order.strides(shape)
            assert [n for n, size in zip(found, shape, strict=True) if size > 1] == wanted
    assert order_of_strides((2, 3), (3, 2)) is None
    assert order_of_strides((2, 3), (2, 1)) is None
    assert order_of_strides((2, 3), (None, 1)) is None


def object_code(machine_spec: str, text: str) -> bytes:
    """What `xla-opt -t riscv-object` writes."""
    path = Path(text)
    code = path.with_suffix(".o")
    target = f"riscv-object{{{machine_spec}}}" if machine_spec else "riscv-object"
    assert xla_opt.main([str(path), "-p", "native", "-t", target, "-o", str(code)]) == 0
    return code.read_bytes()


@pytest.mark.riscv64
@pytest.mark.parametrize("features", ["", "+v", "+v,+zvl256b"])
def test_both_tools_make_the_same_code(
    features: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked: list[bytes] = []

    def link(code: bytes) -> bytes:
        linked.append(code)
        raise CodeGenerationError("seen")

    monkeypatch.setattr(emulator, "link", link)
    source = tmp_path / "layer.hlo"
    source.write_text(LAYER)
    target = f"riscv64{{features={features}}}" if features else "riscv64"
    inputs = ["--input", "16x32xf32=1", "--input", "32x8xf32=1"]
    assert xla_run.main([str(source), "--backend", "riscv64", "--target", target, *inputs]) == 1
    assert linked == [object_code(f'features="{features}"' if features else "", str(source))]


def test_the_machine_of_a_target_is_planned_for(tmp_path: Path) -> None:
    source = tmp_path / "layer.hlo"
    source.write_text(LAYER)
    for target, machine in (
        ("x86-asm", host()),
        ("x86-asm{cpu=haswell}", parse_machine("x86-64{cpu=haswell}")),
        ("riscv-asm", riscv64()),
    ):
        output, planned = tmp_path / "out.s", StringIO()
        assert xla_opt.main([str(source), "-p", "native", "-t", target, "-o", str(output)]) == 0
        module = load_program(source)
        machine_target(machine).attach(module)
        PassManager(make_context()).run(module, parse_passes("native"))
        name = target.partition("{")[0]
        emit_for(name, machine, module, planned)
        assert output.read_text() == planned.getvalue()


@pytest.mark.parametrize("level", ["xla", "tensors", "buffers", "schedules"])
@pytest.mark.parametrize("target", ["riscv64{features=+v}", "x86-64{cpu=haswell}"])
def test_a_printed_level_goes_on_as_it_would_have(level: str, target: str, tmp_path: Path) -> None:
    """Its module says what it is for."""
    source, printed = tmp_path / "layer.hlo", tmp_path / "level.mlir"
    source.write_text(LAYER)
    found: list[str] = []
    for file, pipeline, output in (
        (source, f'native{{target="{target}"}}', tmp_path / "whole.mlir"),
        (source, f'native{{to={level} target="{target}"}}', printed),
        (printed, f"native{{from={level}}}", tmp_path / "rest.mlir"),
        (source, "native", tmp_path / "default.mlir"),
    ):
        assert xla_opt.main([str(file), "-p", pipeline, "-o", str(output)]) == 0
        found.append(output.read_text())
    assert found[2] == found[0] != found[3]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('"vector_bits" = 100 : i64', "vector_bits is 100, wanted 0 or a power of two"),
        ('"vector_bits" = 128 : i32', "vector_bits = 128 : i32 is no entry"),
        ('"speed" = 1 : i64', "speed = 1 : i64 is no entry"),
    ],
)
def test_targets_that_make_no_sense(
    entry: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = f'#dlti.target_system_spec<"CPU" = #dlti.target_device_spec<{entry}>>'
    file = tmp_path / "empty.mlir"
    file.write_text(f"builtin.module attributes {{dlti.target_system_spec = {spec}}} {{}}")
    assert xla_opt.main([str(file), "-p", "expand-math"]) == 1
    assert message in capsys.readouterr().err


def emit_for(name: str, machine: Machine, module: Any, output: StringIO) -> None:
    from lowerings.targets.llvm.target import RiscvAssemblyTarget, X86AssemblyTarget  # noqa: PLC0415

    cpu = "" if machine == host() else machine.cpu
    target = {"x86-asm": X86AssemblyTarget, "riscv-asm": RiscvAssemblyTarget}[name]
    target(cpu=cpu).emit(make_context(), module, output)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("x86-64{cpu=i386}", "64-bit code requested on a subtarget that doesn't support it"),
        ("x86-64{cpu=vax}", "'vax' is not a recognized processor"),
        ("x86-64{features=-sse2}", "SSE2 register return with SSE2 disabled"),
        ("riscv64{cpu=rocket-rv32}", "RV64 target requires an RV64 CPU"),
        ("riscv64{features=+fast}", "'\\+fast' is not a recognized feature"),
        ("riscv64{features=+zfinx}", "'f' and 'zfinx' extensions are incompatible"),
        ("riscv64{features=fast}", "is no feature as LLVM spells them"),
        ("riscv64{speed=2}", "expected cpu=... or features=..., once each"),
        ("host{features=+avx2}", "features can only be taken away"),
        ("host{cpu=vax}", "the machine 'host' has the CPU that it has"),
    ],
)
def test_processors_that_llvm_does_not_have(target: str, message: str) -> None:
    with pytest.raises(XlaError, match=message):
        parse_machine(target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "riscv64"}, "a target can only be 'host', with features taken away"),
        ({"target": "host", "backend": "reference"}, "the backend 'reference' runs on no machine"),
        ({"target": "host", "backend": "riscv64"}, "only riscv64 is emulated"),
        (
            {"target": "riscv64", "backend": "riscv64", "emulation": emulator.Emulation()},
            "target and emulation both say which processor it is",
        ),
    ],
)
def test_targets_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    with pytest.raises(XlaError, match=message):
        lowerings.compile(LAYER, **options)


def test_this_machine_without_some_features() -> None:
    machine = host()
    if machine.vector_bits < 512:
        pytest.skip("this machine has no AVX-512 to be without")
    narrow = parse_machine("host{features=-avx512f}")
    assert narrow.vector_bits == 256
    (found,) = lowerings.compile(LAYER, target="host{features=-avx512f}")(X, W)
    require_close(found)
    (found,) = lowerings.compile(LAYER, target="riscv64", backend="interpreter", level="loops")(
        X, W
    )
    require_close(found)


@pytest.mark.jax
def test_a_function_of_jax() -> None:
    jnp: Any = pytest.importorskip("jax.numpy")
    from lowerings.jax import jit  # noqa: PLC0415

    pipeline = "native{to=tensors},canonicalize,native{from=tensors}"
    for backend in ("llvm", "interpreter"):
        layer = jit(lambda x, w: jnp.exp(x @ w), backend=backend, pipeline=pipeline)
        require_close(layer(X, W))
        assert "vector.load" in layer.lower(X, W).as_text("loops")
        with pytest.raises(XlaError, match="a module cannot be brought up to 'tensors'"):
            layer.lower(X, W).as_text("tensors")
