"""
Programs compiled for RISC-V, run by qemu, against the same programs compiled for this machine.

What is computed element by element has the same bits on both, but for the signs and payloads of
NaNs; sums are added in another order where vectors are wider.
"""

import importlib.util
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from element_values import float_values, integer_values, pairs
from elementwise_operations import operations_taking
from run_files import ASK_THEIR_PROCESS
from small_programs import numbers, same
from tensors_level import module_of

import lowerings
from lowerings.compilation import Options, compile_module
from lowerings.driver.program import load_program
from lowerings.execution.arrays import ArgumentError, OutOfMemory
from lowerings.execution.emulator import (
    EmulatedExecutable,
    Emulation,
    EmulationError,
    EmulatorMissing,
    link,
)
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.targets.llvm.machine import CodeGenerationError, host
from tools import xla_run
from tools.comparison import DEFAULT_TOLERANCE, largest_relative_error
from tools.repository.programs import examples, stored_programs
from xla_dialect.attributes import ComparisonDirection
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.elementwise import CompareOp
from xla_dialect.runtime.limits import physical_memory
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, array

SCALAR, VECTOR, WIDE = "", "+v", "+v,+zvl256b"
on_riscv64 = pytest.mark.riscv64
PEER = "host{features=-avx512vl}" if "x86_64" in host().triple else None
"""This machine without its estimate of reciprocal roots, which others do not have."""


def both(
    module: Any,
    *arguments: Any,
    features: str = SCALAR,
    entry: str = "main",
) -> None:
    """A module has the same results on both machines."""
    expected = compile_module(module.clone(), Options(entry=entry, target=PEER))(*arguments)
    emulation = Emulation(features)
    program = compile_module(module, Options(backend="riscv64", entry=entry, emulation=emulation))
    found = program(*arguments)
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        same(mine, theirs)


@on_riscv64
@pytest.mark.parametrize(
    ("program", "features"),
    [
        pytest.param(program, features, id=f"{program.name}{features}")
        for program, features in zip(stored_programs(), (SCALAR, VECTOR, WIDE, VECTOR), strict=True)
    ],
)
def test_stored_programs(program: Any, features: str) -> None:
    compiled = lowerings.compile(program.hlo, backend="riscv64", emulation=Emulation(features))
    for mine, theirs in zip(compiled(*program.inputs()), program.outputs(), strict=True):
        assert largest_relative_error(mine, theirs) <= DEFAULT_TOLERANCE


def compiled_examples() -> list[str]:
    """The examples of what this machine's backend compiles, and that call nothing outside."""
    found: list[str] = []
    for name, example in examples().items():
        if re.search(rf"xla\.({'|'.join(ASK_THEIR_PROCESS)})\b", example.text):
            continue
        try:
            compile_module(load_program(example.text), Options(entry=name))
        except XlaError:
            continue
        found.append(name)
    return found


SOME_EXAMPLES = (
    "reduce",
    "dot",
    "convolution",
    "gather",
    "scatter",
    "while",
    "reduce_precision",
)


@on_riscv64
@pytest.mark.parametrize("name", SOME_EXAMPLES)
def test_examples(name: str) -> None:
    both(load_program(examples()[name].text), entry=name, features=VECTOR)


@on_riscv64
@pytest.mark.full
@pytest.mark.parametrize("features", [SCALAR, VECTOR])
def test_all_examples(features: str) -> None:
    for name in compiled_examples():
        try:
            both(load_program(examples()[name].text), entry=name, features=features)
        except EmulationError as error:
            # A fault of old emulators: see the test of it.
            if features == SCALAR or "vfcvt.rtz" not in str(error):
                raise


ARITHMETIC = {
    elementwise.AddOp,
    elementwise.DivideOp,
    elementwise.MaximumOp,
    elementwise.MinimumOp,
    elementwise.MultiplyOp,
    elementwise.SubtractOp,
    elementwise.AbsOp,
    elementwise.CeilOp,
    elementwise.FloorOp,
    elementwise.NegateOp,
    elementwise.RoundNearestEvenOp,
    elementwise.RsqrtOp,
    elementwise.SignOp,
    elementwise.SqrtOp,
}


def values_of(name: str) -> Any:
    """Values of a type, its edges included."""
    kind = BY_NAME[name].element_class
    if kind == ElementClass.COMPLEX:
        return numbers(name, [0, -0.0, 1 + 2j, -3.5, 1e10, -1e39j, np.inf, complex(np.nan, 1)])
    if kind == ElementClass.FLOAT:
        return float_values(name)
    return integer_values(name)


@on_riscv64
@pytest.mark.parametrize(
    ("name", "features"),
    [
        ("bf16", SCALAR),
        ("f16", SCALAR),
        ("f16", VECTOR),
        ("f32", WIDE),
        ("f64", SCALAR),
        ("f8e4m3fn", SCALAR),
        ("c64", SCALAR),
        ("s4", VECTOR),
        ("s64", SCALAR),
    ],
)
def test_elementwise(name: str, features: str) -> None:
    unary, binary = operations_taking(BY_NAME[name].element_class)
    if (features and BY_NAME[name].element_class == ElementClass.FLOAT) or name == "c64":
        # Of the others some make integers of floats, what qemu 7 cannot do with vectors; those of
        # complex numbers take long to compile.
        unary, binary = ([op for op in ops if op in ARITHMETIC] for ops in (unary, binary))
    values = values_of(name)
    if name == "c64":
        # Where a part is a NaN or infinite, which of the two comes out is for the processor.
        values = values[np.isfinite(values)]

    def build(x: Any, y: Any, z: Any) -> list[XlaOp]:
        compared = [CompareOp(y, z, direction=ComparisonDirection.NE)]
        return [*(op(x) for op in unary), *(op(y, z) for op in binary), *compared]

    arguments = (values, *pairs(values[::2]))
    both(module_of(build, arguments), *arguments, features=features)


@on_riscv64
def test_conversions() -> None:
    sources = ("bf16", "f16", "f64", "s4", "u64")
    arguments = [numbers(n, [0, 1, 6, 3]) if n == "u64" else values_of(n) for n in sources]

    def build(*operands: Any) -> list[XlaOp]:
        return [
            ConvertOp(x, result_types=[array(e.type, x.type.get_shape())])
            for x in operands
            for e in ELEMENT_TYPES
        ]

    both(module_of(build, arguments), *arguments)


SHAPES = """HloModule m, entry_computation_layout={(f32[2,3]{0,1}, s4[], f32[0,4]{1,0}, pred[3]{0})->(f32[2,3]{0,1}, s4[], f32[0,4]{1,0}, pred[3]{0}, f32[6]{0})}
ENTRY main {
  x = f32[2,3]{0,1} parameter(0)
  y = s4[] parameter(1)
  z = f32[0,4]{1,0} parameter(2)
  p = pred[3]{0} parameter(3)
  twice = f32[2,3]{0,1} add(x, x)
  square = s4[] multiply(y, y)
  nothing = f32[0,4]{1,0} negate(z)
  other = pred[3]{0} not(p)
  flat = f32[6]{0} reshape(x)
  ROOT all = (f32[2,3]{0,1}, s4[], f32[0,4]{1,0}, pred[3]{0}, f32[6]{0}) tuple(twice, square, nothing, other, flat)
}
"""


@on_riscv64
def test_shapes_and_layouts() -> None:
    arguments = (
        np.arange(6, dtype=np.float32).reshape(2, 3),
        numbers("s4", -3),
        np.zeros((0, 4), np.float32),
        np.array([True, False, True]),
    )
    both(load_program(SHAPES), *arguments)


@on_riscv64
def test_no_arrays_and_large_constants() -> None:
    nothing = "HloModule m\nENTRY main { ROOT r = () tuple() }"
    assert lowerings.compile(nothing, backend="riscv64")() == ()
    empty = "HloModule m\nENTRY main { ROOT r = f32[0] iota(), iota_dimension=0 }"
    assert lowerings.compile(empty, backend="riscv64")()[0].shape == (0,)
    table = np.random.default_rng(0).integers(0, 100, 3000)
    listed = ", ".join(map(str, table))
    text = f"HloModule m\nENTRY main {{ ROOT c = s32[3000] constant({{{listed}}}) }}"
    (found,) = lowerings.compile(text, backend="riscv64")()
    assert found.tolist() == table.tolist()


@on_riscv64
def test_arguments_are_checked() -> None:
    text = "HloModule m\nENTRY main { x = f32[2] parameter(0)\n ROOT y = f32[2] negate(x) }"
    program = lowerings.compile(text, backend="riscv64")
    with pytest.raises(ArgumentError, match="expected 1 arrays, found 0"):
        program()
    with pytest.raises(ArgumentError, match=r"expected f32\[2\], found"):
        program(np.zeros(2))
    assert program([1, 2])[0].tolist() == [-1, -2]


ENDLESS = """HloModule m
condition { p = s32[] parameter(0)
  ROOT c = pred[] constant(true) }
body { p = s32[] parameter(0)
  three = s32[] constant(3)
  ROOT r = s32[] multiply(p, three) }
ENTRY main { x = s32[] parameter(0)
  ROOT w = s32[] while(x), condition=condition, body=body }
"""


@on_riscv64
def test_an_endless_program_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "endless.hlo"
    path.write_text(ENDLESS)
    command = [str(path), "--backend", "riscv64", "--input", "s32=3", "--timeout", "0.3"]
    assert xla_run.main(command) == 1
    answer = capsys.readouterr()
    assert "main: did not end within 0.3 s on " in answer.err


def emulated(body: str, results: int = 0, **options: Any) -> EmulatedExecutable:
    """A program written in LLVM IR."""
    emulation = Emulation(**options)
    text = f"""define void @main(ptr %arrays) {{
    {body}
      ret void
    }}
    declare ptr @aligned_alloc(i64, i64)
    declare void @free(ptr)
    declare void @llvm.trap()
    """
    signature = Signature((), (ArraySpec.of("s64"),) * results)
    code = emulation.machine.object_code(text)
    return EmulatedExecutable(link(code), signature, 4096, emulation)


@on_riscv64
def test_a_crash_is_named() -> None:
    with pytest.raises(EmulationError, match="main: qemu-riscv64 ended by SIGSEGV"):
        emulated("store volatile i8 1, ptr inttoptr (i64 8 to ptr)")()
    with pytest.raises(EmulationError, match="main: qemu-riscv64 ended by SIGILL"):
        emulated("call void @llvm.trap()")()
    endless = "br label %loop\nloop:\nbr label %loop\nend:"
    with pytest.raises(EmulationError, match=r"did not end within 0\.2 s on qemu"):
        emulated(endless, time_limit=0.2)()


CONVERT = """
  %x = load volatile <4 x float>, ptr %arrays
  %y = fptosi <4 x float> %x to <4 x i32>
  store volatile <4 x i32> %y, ptr %arrays
"""


@on_riscv64
def test_a_fault_of_the_emulator_is_named() -> None:
    """Version 7 of qemu ends where a vector of floats becomes integers; version 8 does not."""
    answer = subprocess.run(
        ["qemu-riscv64", "--version"], capture_output=True, text=True, check=True
    )
    program = emulated(CONVERT, features=VECTOR)
    if re.search(r"version 7\.", answer.stdout):
        with pytest.raises(EmulationError, match=r"ended by SIGSEGV: qemu before 8\.0 cannot"):
            program()
    else:
        assert program() == ()


ALLOCATE = """
  %p = call ptr @aligned_alloc(i64 64, i64 100000)
  store volatile i8 1, ptr %p
"""


@on_riscv64
def test_allocations_are_limited() -> None:
    assert emulated(ALLOCATE, memory_limit=200_000)() == ()
    with pytest.raises(OutOfMemory, match="main: needs more memory than it may have"):
        emulated(ALLOCATE, memory_limit=100_000)()


@on_riscv64
def test_memory_is_limited() -> None:
    emulated(
        ALLOCATE + "call void @free(ptr %p)" + ALLOCATE.replace("%p", "%q"), memory_limit=110_000
    )()
    with pytest.raises(OutOfMemory, match=r"main: needs \d+ bytes for its arrays, the limit is 10"):
        emulated("", memory_limit=10)
    size = physical_memory()
    text = f"HloModule m\nENTRY main {{ ROOT x = s8[{size}] iota(), iota_dimension=0 }}"
    with pytest.raises(OutOfMemory, match=f"this machine has {size}"):
        lowerings.compile(text, backend="riscv64")


@on_riscv64
def test_executed_instructions_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A round takes a load, an addition and a branch; the count of rounds may need one more."""
    loop = """
      br label %loop
    loop:
      %i = phi i64 [ 0, %0 ], [ %next, %loop ]
      %read = load volatile i64, ptr %arrays
      %next = add i64 %i, 1
      %more = icmp ne i64 %next, ROUNDS
      br i1 %more, label %loop, label %end
    end:
    """
    counted: list[int] = []
    for rounds in (1000, 3000):
        emulated(loop.replace("ROUNDS", str(rounds)), on_executed=counted.append)()
    per_round = round((counted[1] - counted[0]) / 2000, 2)
    assert per_round in (3, 4)
    assert counted[0] - 1000 * per_round < 50
    path = tmp_path / "one.hlo"
    path.write_text("HloModule m\nENTRY main { ROOT c = s32[] constant(1) }")
    assert xla_run.main([str(path), "--count-instructions"]) == 1
    assert "--count-instructions is for emulated backends (riscv64)" in capsys.readouterr().err


@on_riscv64
def test_vectors_execute_fewer_instructions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "add.hlo"
    path.write_text(
        "HloModule m\nENTRY main { x = f32[1024] parameter(0)\n ROOT y = f32[1024] add(x, x) }"
    )
    counts: list[int] = []
    for features in (SCALAR, VECTOR, WIDE):
        command = [str(path), "--backend", "riscv64", f"--features={features}"]
        spec = ["--input", "1024xf32=1.5", "--expected-output", "1024xf32=3"]
        assert xla_run.main([*command, *spec, "--count-instructions"]) == 0
        count, what = capsys.readouterr().err.strip().split(" ", 1)
        assert what == "instructions executed"
        counts.append(int(count))
    scalar, vector, wide = counts
    assert scalar > 2 * vector > 2 * wide


@on_riscv64
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "HloModule m\nENTRY main { x = f32[2] parameter(0)\n ROOT y = f32[2] negate(x) }"
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EmulatorMissing, match=r"run by qemu-riscv64, which is not installed"):
        lowerings.compile(text, backend="riscv64")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EmulatorMissing, match=r"pip install 'xla-dialect\[riscv\]'"):
        link(b"")


@on_riscv64
def test_wrong_features_are_named() -> None:
    text = "HloModule m\nENTRY main { x = f32[2] parameter(0)\n ROOT y = f32[2] negate(x) }"
    with pytest.raises(CodeGenerationError, match=r"'v' is no feature as LLVM spells them"):
        lowerings.compile(text, backend="riscv64", emulation=Emulation("v"))
    with pytest.raises(EmulationError, match=r"qemu-riscv64: .*VLEN"):
        lowerings.compile(text, backend="riscv64", emulation=Emulation("+v,+zvl64b"))([1, 2])


@on_riscv64
def test_what_cannot_be_compiled_is_named() -> None:
    with pytest.raises(CodeGenerationError, match="zig cannot link the program"):
        link(b"no object code")
    text = "HloModule m\nENTRY main { x = f32[2] parameter(0)\n ROOT y = f32[2] negate(x) }"
    with pytest.raises(XlaError, match="the backend 'llvm' emulates no processor"):
        lowerings.compile(text, emulation=Emulation())
    text = (
        "HloModule m\nENTRY main { x = f32[2] parameter(0)\n"
        'ROOT y = f32[2] custom-call(x), custom_call_target="f" }'
    )
    with pytest.raises(XlaError, match="an emulated program cannot call 'f' outside of it"):
        lowerings.compile(text, backend="riscv64")
