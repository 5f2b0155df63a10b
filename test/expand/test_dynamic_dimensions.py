"""Dynamic dimensions expanded, against the reference, whose arrays have the sizes they have."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from dynamic_programs import CASES
from hypothesis import given
from hypothesis import strategies as st
from small_programs import function, numbers, same, shape
from sweeps import few_examples
from tensors_level import within
from xdsl.dialects.builtin import ModuleOp

from lowerings.compilation import Options, Program, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.execution.dynamic_sizes import in_sizes, run_time_checks, with_sizes
from lowerings.execution.function_signature import signature_of
from lowerings.ir.functions import functions_of
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run
from xla_dialect.shapes.size_arithmetic import DynamicSize
from xla_dialect.types import element_name, sizes_of
from xla_dialect.verification import verify

Arrays = Sequence[np.ndarray[Any, Any]]
ROUNDED = ("convolution", "batch-norm", "cholesky", "triangular-solve", "fft", "dot", "product")
"""What machine code rounds elsewhere."""


@cache
def module_of(name: str) -> ModuleOp:
    types, build = CASES[name]
    module = ModuleOp([function("main", types, build)])
    verify(module)
    return module


@cache
def expanded(name: str) -> ModuleOp:
    module = module_of(name).clone()
    manager = PassManager(make_context(), verify_each=True)
    manager.run(module, parse_passes("xla-expand-dynamic-dimensions"))
    return module


@cache
def compiled(name: str, backend: str) -> Program:
    return compile_module(module_of(name).clone(), Options(backend=backend))


@st.composite
def arguments(draw: st.DrawFn, name: str) -> list[np.ndarray[Any, Any]]:
    """Arrays of any size that the types admit, and indices that may be out of range."""
    generator = np.random.default_rng(draw(st.integers(0, 1000)))
    found: list[np.ndarray[Any, Any]] = []
    for text in CASES[name].types:
        type_: Any = shape(text)
        sizes = [
            draw(st.integers(0, int(n))) if isinstance(n, DynamicSize) else n
            for n in sizes_of(type_)
        ]
        element = element_name(type_.element_type)
        values = generator.integers(0 if element[0] in "up" else -2, 6, sizes)
        # Machine code multiplies padding, where the reference leaves it out.
        if element.startswith("f") and generator.integers(4) == 0 and "convolution" not in name:
            values = np.where(generator.integers(5, size=sizes) == 0, np.nan, values)
        found.append(numbers(element, values))
    return found


def poisoned(specs: Sequence[Any], arrays: Arrays) -> list[np.ndarray[Any, Any]]:
    """The arrays in their largest sizes, with what would show if it were met."""
    found = with_sizes(specs, arrays)
    for number, (spec, each) in enumerate(zip(specs, arrays, strict=True)):
        poison = np.nan if spec.element_type[0] in "fc" else 1
        filled = np.full(spec.shape, poison).astype(spec.dtype)
        filled[tuple(map(slice, each.shape))] = each
        found[number] = filled
    return found


def outcome(run_it: Any) -> Any:
    """The results, or the error."""
    try:
        return tuple(run_it())
    except XlaError as error:
        return str(error)


def agree(found: Any, expected: Any, rounded: bool) -> None:
    if isinstance(expected, str) or isinstance(found, str):
        assert isinstance(found, str), expected
        assert isinstance(expected, str), found
        return
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        if rounded and theirs.dtype.kind in "fc":
            np.testing.assert_allclose(mine, theirs, rtol=3e-4, atol=1e-3)
            assert mine.shape == theirs.shape
        elif mine.dtype.kind == "f":
            within(mine, theirs, 4)
        else:
            same(mine, theirs)


@pytest.mark.parametrize("name", CASES)
@few_examples(6)
@given(data=st.data())
def test_against_the_reference(name: str, data: st.DataObject) -> None:
    """What is not there is poison; what is there has any size, 0 and the bound among them."""
    given_arrays = data.draw(arguments(name))
    module = module_of(name)
    signature = signature_of(functions_of(module)["main"])
    with np.errstate(all="ignore"):
        expected = outcome(lambda: flatten_results(run(module, given_arrays)))
        static = expanded(name)
        passed = poisoned(signature.parameters, given_arrays)
        found = flatten_results(run(static, passed))
    if run_time_checks(functions_of(static)["main"]) and found[-2]:
        assert isinstance(expected, str)
        return
    is_rounded = name.startswith(ROUNDED)
    agree(in_sizes(signature.results, found), expected, is_rounded)
    agree(outcome(lambda: compiled(name, "llvm")(*given_arrays)), expected, is_rounded)
