"""Modules that are compiled in parts: the same code and results, errors, Ctrl-C."""

import os
import re
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import lowerings
from lowerings.driver.program import Source, parse_source
from lowerings.native_lowering import Lowering
from lowerings.targets.llvm import module_parts
from lowerings.targets.llvm.machine import CodeGenerationError, Machine, host
from lowerings.targets.llvm.module import LONG_ENTRY_CALLS, emit_module
from lowerings.targets.llvm.module_parts import Part, object_parts

PROGRAMS = Path(__file__).parents[1] / "programs"
NAMES = ("transformer_block", "lstm", "argmax")
SMALL = 40
"""Lines; each of these programs has several parts of this size."""


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_the_same_code(name: str) -> None:
    """One by one, by their assembly: one thread and no checks, so parts share no variable."""
    machine = host()
    lowering = Lowering(parse_source(Source.of(PROGRAMS / f"{name}.mlir")), "main", machine)
    lowering.to("loops")
    text = emit_module(lowering.module, machine).text
    parts = module_parts.module_parts(text, SMALL)
    assert len(parts) > 1
    found = [code for part in parts for code in functions(machine.assembly(part.text))]
    assert sorted(found) == sorted(functions(machine.assembly(text)))


def functions(assembly: str) -> list[tuple[str, str]]:
    """
    Names and instructions of functions, without the numbers of their labels and constants, and
    without a word that changes no byte of a call.
    """
    pattern = re.compile(r"^(\w[\w.]*):\n(.*?)^\.Lfunc_end", re.MULTILINE | re.DOTALL)
    found = pattern.findall(assembly)
    assert found
    return [(name, re.sub(r"(\.L[A-Z]+)\d+(_\d+)?|@PLT", r"\1", code)) for name, code in found]


@pytest.mark.parametrize("name", NAMES)
def test_results_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With threads, checks and a profile, whose variables all parts share."""
    with np.load(PROGRAMS / f"{name}.inputs.npz") as stored:
        inputs = [stored[key] for key in stored.files]

    def results(check_bounds: bool = False, profile: bool = False) -> list[np.ndarray]:
        program = lowerings.compile(
            PROGRAMS / f"{name}.mlir",
            num_threads=2,
            compile_cache=False,
            check_bounds=check_bounds,
            profile=profile,
        )
        return [result.copy() for result in program(*inputs)]

    whole = results()
    monkeypatch.setattr(module_parts, "LINES_OF_A_PART", SMALL)
    for options in ({}, {"check_bounds": True}, {"profile": True}):
        for one, other in zip(whole, results(**options), strict=True):
            np.testing.assert_array_equal(one, other)


def many(body: str, count: int) -> str:
    """A module of functions with a body each."""
    return "".join(f"define void @f{n}(ptr %p) {{\n{body}  ret void\n}}\n" for n in range(count))


def test_an_error_of_any_part_is_told() -> None:
    good = "  store i32 0, ptr %p\n" * 100
    text = many(good, 40) + "define void @wrong() {\n  ret i32 0\n}\n"
    with pytest.raises(CodeGenerationError, match="LLVM rejects the module"):
        object_parts(host(), text, 2)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_after_the_parts_that_have_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes with the third part, so that the caller waits for the results of others."""
    count = 100
    text = many("  store volatile i32 0, ptr %p\n" * module_parts.LINES_OF_A_PART, count)
    begun: list[Part] = []
    ended: list[Part] = []
    compiled = Part.object_code

    def noted(part: Part, machine: Machine) -> bytes:
        begun.append(part)
        if len(begun) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        code = compiled(part, machine)
        ended.append(part)
        return code

    monkeypatch.setattr(Part, "object_code", noted)
    threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        object_parts(host(), text, 2)
    assert threading.active_count() == threads
    assert len(begun) == len(ended) < count


@pytest.mark.parametrize("has_loop", [False, True])
def test_a_long_entry_is_compiled_in_a_hurry(
    has_loop: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What calls many kernels has a part of its own, unless it has long loops itself."""
    size = "tensor<24x24xf32>"
    steps = "".join(
        f"  %{n + 1} = stablehlo.dot_general %{n}, %w, contracting_dims = [1] x [0]"
        f" : ({size}, {size}) -> {size}\n"
        for n in range(LONG_ENTRY_CALLS + 1)
    )
    loop = """  %n = stablehlo.constant dense<0> : tensor<i32>
  %i, %y = stablehlo.while(%j = %n, %x = %LAST) : tensor<i32>, TYPE
  cond {
    %most = stablehlo.constant dense<100> : tensor<i32>
    %c = stablehlo.compare LT, %j, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %j, %one : tensor<i32>
    %turned = stablehlo.transpose %x, dims = [1, 0] : (TYPE) -> TYPE
    stablehlo.return %next, %turned : tensor<i32>, TYPE
  }
"""
    last = str(LONG_ENTRY_CALLS + 1)
    loop = loop.replace("LAST", last).replace("TYPE", size) if has_loop else ""
    result = "y" if has_loop else last
    program = (
        f"func.func @main(%0: {size}, %w: {size}) -> {size} {{\n{steps}{loop}"
        f"  return %{result} : {size}\n}}\n"
    )
    lowering = Lowering(parse_source(Source.of(program)), "main", host())
    lowering.to("loops")
    text = emit_module(lowering.module, host()).text
    (level,) = (
        part.level
        for part in module_parts.module_parts(text, SMALL)
        if part.text.count("call void @xla.contraction") > LONG_ENTRY_CALLS
    )
    assert level == (3 if has_loop else 0)
    monkeypatch.setattr(module_parts, "LINES_OF_A_PART", SMALL)
    generator = np.random.default_rng(0)
    x, w = generator.integers(-2, 3, (24, 24)), np.eye(24)[generator.permutation(24)]
    (found,) = lowerings.compile(program, compile_cache=False)(
        x.astype(np.float32), w.astype(np.float32)
    )
    power = np.linalg.matrix_power(w.astype(int), LONG_ENTRY_CALLS + 1)
    np.testing.assert_array_equal(found, x @ power)
