"""Programs built with `XlaBuilder`, and what they give."""

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

import lowerings
from lowerings.driver.context import make_context
from xla_dialect.builder import XlaBuilder
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.mlir_text import print_mlir, read_mlir
from xla_dialect.reference import run
from xla_dialect.verification import verify


def build(body: Callable[..., Any], *arguments: Any) -> ModuleOp:
    """
    The program whose parameters have the types of the arguments (which may be types themselves).

    `body` takes the builder and the parameters and gives the root.
    """
    b = XlaBuilder("test")
    return b.build(body(b, *(b.parameter(i, argument) for i, argument in enumerate(arguments))))


def evaluate(body: Callable[..., Any], *arguments: np.ndarray, compiled: bool = False) -> Any:
    """
    What a program gives on the reference, or else compiled: one array, or a tuple of them.

    On the way it is printed, read back and compared.
    """
    module = build(body, *arguments)
    reparsed(module)
    if compiled:
        results = lowerings.compile(print_mlir(module), input_format="mlir")(*arguments)
    else:
        results = flatten_results(run(module, arguments))
    return results[0] if len(results) == 1 else results


def reparsed(module: ModuleOp) -> ModuleOp:
    """The module after printing and reading; both print the same."""
    text = print_mlir(module)
    again = read_mlir(text, make_context())
    verify(again)
    assert print_mlir(again) == text
    return again


def f32(*values: Any) -> np.ndarray:
    """An array of f32; several values are its rows."""
    return np.array(values[0] if len(values) == 1 else values, np.float32)


def s32(*values: Any) -> np.ndarray:
    """An array of s32; several values are its rows."""
    return np.array(values[0] if len(values) == 1 else values, np.int32)
