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
from lowerings.targets.llvm.module_parts import ObjectParts, Part

PROGRAMS = Path(__file__).parents[1] / "programs"
NAMES = ("transformer_block", "lstm", "argmax")
SMALL = 40
"""Lines; each of these programs has several parts of this size."""


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_the_same_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one, by their assembly: one thread and no checks, so parts share no variable."""
    machine = host()
    lowering = Lowering(parse_source(Source.of(PROGRAMS / f"{name}.mlir")), "main", machine)
    text, parts = printed(lowering, monkeypatch)
    assert len(parts) > 1
    found = [code for part in parts for code in functions(machine.assembly(part.text))]
    assert sorted(found) == sorted(functions(machine.assembly(text)))


def printed(lowering: Lowering, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[Part]]:
    """The text of a module, and its parts as they are compiled while it is printed."""
    found: list[Part] = []
    monkeypatch.setattr(module_parts, "LINES_OF_A_PART", SMALL)
    monkeypatch.setattr(Part, "object_code", lambda part, _machine: found.append(part) or b"")
    _, lower = lowering.to_functions()
    with ObjectParts(host(), 1) as parts:
        text = emit_module(lowering.module, host(), lower=lower, take=parts.take).text
        parts.finish(text)
    return text, found


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


def compile_functions(bodies: list[str]) -> None:
    """Compiles a module of functions with a body each, on two threads."""
    with ObjectParts(host(), 2) as parts:
        for number, body in enumerate(bodies):
            parts.take(f"define void @f{number}(ptr %p) {{\n{body}}}\n")
        parts.finish("")


def test_an_error_of_any_part_is_told() -> None:
    good = "  store i32 0, ptr %p\n" * 100 + "  ret void\n"
    with pytest.raises(CodeGenerationError, match="LLVM rejects the module"):
        compile_functions([good] * 40 + ["  ret i32 0\n"])


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_after_the_parts_that_have_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes with the third part of a helper, while the caller compiles one as well."""
    count = 100
    body = "  store volatile i32 0, ptr %p\n" * module_parts.LINES_OF_A_PART + "  ret void\n"
    begun: list[Part] = []
    ended: list[Part] = []
    compiled = Part.object_code

    def noted(part: Part, machine: Machine) -> bytes:
        if threading.current_thread() is threading.main_thread():
            return compiled(part, machine)
        begun.append(part)
        if len(begun) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        code = compiled(part, machine)
        ended.append(part)
        return code

    monkeypatch.setattr(Part, "object_code", noted)
    threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        compile_functions([body] * count)
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
    with monkeypatch.context() as patches:
        _, parts = printed(lowering, patches)
    (level,) = (
        part.level
        for part in parts
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
