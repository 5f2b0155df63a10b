"""Random programs compute the same at the buffers level, in uninitialized memory."""

import io
import random
from contextlib import redirect_stderr

import numpy as np
import pytest
from bufferize.interpreting import call_buffers, call_tensors
from bufferize.random_programs import ProgramMaker, alias_some_results, main_of, random_inputs
from hypothesis import given
from hypothesis import strategies as st
from mlir_acceptance import assert_mlir_takes
from xdsl.dialects import memref
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.passes import ModulePass

from lowerings.bufferize.bufferization import INPLACE_ATTRIBUTE
from lowerings.bufferize.xla_bufferize import XlaBufferizePass
from lowerings.bufferize.xla_outline_kernels import XlaOutlineKernelsPass
from lowerings.bufferize.xla_plan_buffers import XlaPlanBuffersPass
from lowerings.driver.context import make_context
from lowerings.execution.loops_compiler import aliased_results, compile_loops_module
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.loops.convert_linalg_to_vector_loops import ConvertLinalgToVectorLoopsPass
from lowerings.scheduling.xla_plan_schedules import XlaPlanSchedulesPass
from xla_dialect.mlir_text import print_mlir
from xla_dialect.xdsl.text import MlirParser

CONTEXT = make_context()
SEEDS = st.integers(0, 1 << 40)


def passes(in_place_bytes: int) -> list[ModulePass]:
    return [
        XlaBufferizePass(in_place_bytes=in_place_bytes),
        XlaOutlineKernelsPass(),
        XlaPlanBuffersPass(),
    ]


def make_program(
    seed: int, *, aliased: bool = False
) -> tuple[ModuleOp, list[np.ndarray], list[np.ndarray]]:
    """
    A program, arguments for it, and its results at the tensors level; results may be in the memory
    of parameters if `aliased`.
    """
    choices = random.Random(seed)
    module = ProgramMaker(choices).module()
    if aliased:
        alias_some_results(module, choices)
    module.verify()
    arguments = random_inputs(module, choices)
    return module, arguments, call_tensors(module, arguments, 1)


@given(SEEDS)
def test_the_generator_leaves_nothing_unspecified(seed: int):
    module, arguments, expected = make_program(seed)
    for a, b in zip(expected, call_tensors(module, arguments, 2), strict=True):
        np.testing.assert_array_equal(a, b)


@given(SEEDS, st.sampled_from([0, 1 << 18]), st.booleans())
def test_every_pass_keeps_the_meaning(seed: int, in_place_bytes: int, aliased: bool):
    module, arguments, expected = make_program(seed, aliased=aliased)
    for step in passes(in_place_bytes):
        step.apply(CONTEXT, module)
        module.verify()
        found = call_buffers(module, arguments, 3)
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b, step.name)
    text = print_mlir(module)
    assert str(MlirParser(CONTEXT, text).parse_module()) == text


@given(SEEDS)
def test_operands_are_copied_as_attributes_demand(seed: int):
    module, arguments, expected = make_program(seed)
    choices = random.Random(seed)
    for op in module.walk():
        if any(isinstance(value.type, TensorType) for value in op.operands):
            wishes = [choices.choice(("false", "none")) for _ in op.operands]
            op.attributes[INPLACE_ATTRIBUTE] = ArrayAttr(map(StringAttr, wishes))
    XlaBufferizePass(in_place_bytes=0).apply(CONTEXT, module)
    assert INPLACE_ATTRIBUTE not in print_mlir(module)
    for a, b in zip(expected, call_buffers(module, arguments, 3), strict=True):
        np.testing.assert_array_equal(a, b)


@given(SEEDS, st.booleans())
def test_nothing_is_copied_without_a_reason(seed: int, aliased: bool):
    """What is printed of a program says whether there are copies in it."""
    module, _, _ = make_program(seed, aliased=aliased)
    report = io.StringIO()
    with redirect_stderr(report):
        XlaBufferizePass(print_decisions=True).apply(CONTEXT, module)
    is_copied = any(isinstance(op, memref.CopyOp) for op in module.walk())
    has_reason = " is copied, " in report.getvalue()
    assert has_reason or not is_copied


@given(SEEDS, st.sampled_from([0, 1 << 18]), st.booleans())
def test_machine_code_means_the_same(seed: int, in_place_bytes: int, aliased: bool):
    module, arguments, expected = make_program(seed, aliased=aliased)
    for step in (
        *passes(in_place_bytes),
        XlaPlanSchedulesPass(),
        ConvertLinalgToVectorLoopsPass(),
    ):
        step.apply(CONTEXT, module)
    signature = Signature(
        tuple(ArraySpec.of("s32", *array.shape) for array in arguments),
        tuple(ArraySpec.of("s32", *array.shape) for array in expected),
        aliases=aliased_results(main_of(module), len(arguments)),
    )
    given_away = [array.copy() for array in arguments]
    found = compile_loops_module(module, signature)(*given_away)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)
    aliases = dict(signature.aliases)
    for number, (before, after) in enumerate(zip(arguments, given_away, strict=True)):
        if number not in aliases.values():
            np.testing.assert_array_equal(before, after)
    for number, parameter in aliases.items():
        assert found[number] is given_away[parameter] or not found[number].nbytes


@pytest.mark.mlir_opt
def test_mlir_opt_takes_the_buffers_level(mlir_opt_path: str):
    texts: list[str] = []
    for seed in range(25):
        module, _, _ = make_program(seed)
        for step in passes(0 if seed % 2 else 1 << 18):
            step.apply(CONTEXT, module)
            texts.append(print_mlir(module))
    assert_mlir_takes(mlir_opt_path, *texts)
