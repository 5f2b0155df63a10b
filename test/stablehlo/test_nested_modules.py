"""Modules inside of modules, and several in one text: each is a program."""

from typing import Any

import numpy as np
import pytest

from lowerings.compilation import Options, compile_module
from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import print_stablehlo

ARRAY = "tensor<2xf32>"
X = np.array([1, -2], np.float32)


def module(name: str, operation: str, attributes: str = "") -> str:
    """A program that calls a function of its own, which has the same name in all programs."""
    return (
        f"module{f' @{name}' if name else ''}{f' attributes {{{attributes}}}' if attributes else ''}"
        f" {{\n  func.func public @main(%x: {ARRAY}) -> {ARRAY} {{\n"
        f"    %0 = call @helper(%x) : ({ARRAY}) -> {ARRAY}\n    return %0 : {ARRAY}\n  }}\n"
        f"  func.func private @helper(%x: {ARRAY}) -> {ARRAY} {{\n"
        f"    %0 = stablehlo.{operation} %x : {ARRAY}\n    return %0 : {ARRAY}\n  }}\n}}\n"
    )


def functions(text: str) -> list[str]:
    return [op.sym_name.data for op in read_stablehlo(text).ops]  # pyright: ignore


TWO = module("a", "abs") + module("b", "negate")
TEXTS = {
    "one": (module("a", "abs"), {"main": np.abs(X)}),
    "one inside": (f"module {{\n{module('a', 'abs')}}}", {"main": np.abs(X)}),
    "two inside of each other": (
        f"module {{\nmodule {{\n{module('a', 'abs')}}}}}",
        {"main": np.abs(X)},
    ),
    "two": (TWO, {"a": np.abs(X), "b": -X}),
    "two inside": (f"module @all {{\n{TWO}}}", {"a": np.abs(X), "b": -X}),
    "without names": (
        module("", "abs") + module("", "negate"),
        {"module": np.abs(X), "module.main": -X},
    ),
    "beside a function": (
        f"module {{\n{TWO}func.func @main(%x: {ARRAY}) -> {ARRAY} {{\n  return %x : {ARRAY}\n}}\n}}",
        {"main": X, "a": np.abs(X), "b": -X},
    ),
    "of other depths": (
        f"module {{\n{module('c', 'exponential')}module @d {{\n{TWO}}}\n}}",
        {"a": np.abs(X), "b": -X, "c": np.exp(X)},
    ),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_each_is_a_program(name: str, backend: Any) -> None:
    text, expected = TEXTS[name]
    for entry, value in expected.items():
        program = compile_module(read_stablehlo(text), Options(backend=backend, entry=entry))
        (found,) = program(X)
        np.testing.assert_allclose(found, value, rtol=1e-6)


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_written_is_read_again(name: str) -> None:
    program = read_stablehlo(TEXTS[name][0])
    again = read_stablehlo(print_stablehlo(program))
    assert print_mlir(again) == print_mlir(program)


def test_names_of_other_functions() -> None:
    assert functions(TWO) == ["a", "helper", "b", "b.helper"]


def test_the_only_module_keeps_what_it_says() -> None:
    text = module("a", "abs", "mhlo.num_partitions = 2 : i32")
    assert print_mlir(read_stablehlo(f"module {{\n{text}}}")) == print_mlir(read_stablehlo(text))


def test_programs_that_do_not_agree() -> None:
    first, second = (module(f"m{n}", "abs", f"mhlo.num_partitions = {n} : i32") for n in "12")
    with pytest.raises(XlaError, match=r"<input>:11:1: error: builtin.module: mhlo.num_partitions"):
        read_stablehlo(first + second)
