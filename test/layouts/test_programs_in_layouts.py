"""The same programs in row-major, column-major, padded, tiled and mixed layouts, run natively."""

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laid_out_programs import (
    PROGRAMS,
    STYLES,
    bytes_moved,
    flat_module,
    in_layouts,
    mixed,
    text_of,
)
from mlir_acceptance import assert_mlir_takes
from xdsl.dialects.builtin import ModuleOp
from xla_cpu import xla_cpu

from lowerings.compilation import Options, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.execution.signature import Signature
from lowerings.pipelines import NATIVE, pass_specs

Arrays = tuple[np.ndarray, ...]


def arguments(signature: Signature) -> Arrays:
    """Small numbers of every type."""
    generator = np.random.default_rng(7)
    found: list[np.ndarray] = []
    for spec in signature.parameters:
        values: Any = generator.integers(-3, 4, spec.shape) / 4
        if spec.dtype.kind == "c":
            values = values + 1j * generator.integers(-3, 4, spec.shape)
        elif spec.dtype.kind in "biu" or spec.element_type in ("s4", "u4"):
            values = generator.integers(0, 4, spec.shape)
        found.append(np.asarray(values).astype(spec.dtype))
    return tuple(found)


@cache
def reference(name: str) -> tuple[Arrays, Arrays]:
    """Arguments and results of a program."""
    program = compile_module(load_program(text_of(name), "hlo"), Options(backend="reference"))
    given_arrays = arguments(program.signature)
    return given_arrays, program(*given_arrays)


def assert_close(found: Arrays, expected: Arrays) -> None:
    """Integers are equal; floats are as close as sums in another order are."""
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        wide = np.complex128 if theirs.dtype.kind in "fcV" else theirs.dtype
        np.testing.assert_allclose(mine.astype(wide), theirs.astype(wide), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_the_same_in_every_layout(name: str, style: str) -> None:
    given_arrays, expected = reference(name)
    program = compile_module(in_layouts(flat_module(name), STYLES[style]))
    assert_close(program(*given_arrays), expected)


@pytest.mark.parametrize("style", ["ascending", "padded", "tiled"])
@pytest.mark.parametrize("name", ["matmul", "while", "types"])
def test_numbers_are_the_same_when_callers_ask_for_layouts(name: str, style: str) -> None:
    """Only parameters and results have layouts: the pass chooses the others."""
    given_arrays, expected = reference(name)
    program = compile_module(in_layouts(flat_module(name), STYLES[style], inside=False))
    assert_close(program(*given_arrays), expected)


@pytest.mark.parametrize("tiles", ["", ":T(2,2)"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_the_same_in_layouts_of_hlo_text(name: str, tiles: str) -> None:
    """Every matrix of the text is column-major, those in tuples, calls, fusions and loops too."""
    given_arrays, expected = reference(name)
    text = re.sub(r"\[([0-9]+),([0-9]+)\]", rf"[\1,\2]{{0,1{tiles}}}", text_of(name))
    program = compile_module(load_program(text, "hlo"))
    assert_close(program(*given_arrays), expected)


@given(st.sampled_from(list(PROGRAMS)), st.integers(0, 10**6), st.booleans())
def test_numbers_are_the_same_in_random_layouts(name: str, seed: int, inside: bool) -> None:
    given_arrays, expected = reference(name)
    program = compile_module(in_layouts(flat_module(name), mixed(seed), inside=inside))
    assert_close(program(*given_arrays), expected)


@pytest.mark.jax
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_those_of_xla(name: str) -> None:
    """XLA runs the program in row-major order, we in column-major."""
    given_arrays, _ = reference(name)
    program = compile_module(in_layouts(flat_module(name), STYLES["ascending"]))
    (expected,) = xla_cpu(text_of(name), [given_arrays])
    assert_close(program(*given_arrays), tuple(expected))


def levels(module: ModuleOp) -> dict[str, str]:
    """The text at each level; every pass leaves what verifies."""
    texts: dict[str, str] = {}
    manager = PassManager(make_context())
    for stage in NATIVE:
        manager.run(module, parse_passes(",".join(pass_specs((stage,)))))
        texts[stage.level] = f"{module!s}\n"
    return texts


@pytest.mark.mlir_opt
@pytest.mark.parametrize("name", PROGRAMS)
def test_mlir_opt_accepts_all_levels(name: str, mlir_opt_path: str) -> None:
    texts = levels(in_layouts(flat_module(name), STYLES["mixed"]))
    assert_mlir_takes(mlir_opt_path, *(texts[level] for level in ("tensors", "buffers", "loops")))


@given(st.sampled_from(list(PROGRAMS)), st.integers(0, 10**6), st.booleans())
def test_choosing_layouts_never_moves_more(name: str, seed: int, inside: bool) -> None:
    module = in_layouts(flat_module(name), mixed(seed), inside=inside)
    before = bytes_moved(module)
    PassManager(make_context()).run(module, parse_passes("xla-assign-layouts"))
    after = bytes_moved(module)
    assert after <= before
    PassManager(make_context()).run(module, parse_passes("xla-assign-layouts"))
    assert bytes_moved(module) == after
