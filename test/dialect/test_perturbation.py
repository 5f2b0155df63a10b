"""Whatever is changed in a valid operation: a labelled error, or the reference runs it."""

import re
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturbation import Sample, perturbed, program, value_of
from sweeps import few_examples
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

from tools.repository.programs import examples
from xla_dialect import types
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import check_memory, flatten_results, numpy_dtype
from xla_dialect.reference import run
from xla_dialect.verification import InvalidProgram, verify

NAMES = sorted(examples())
MEMORY_LIMIT = 1 << 20
ITERATION_LIMIT = 2000

LABELLED = re.compile(
    r"xla\.\w+: \((C\d+|RC\d|RG\d|Result|Size|Type|Operands|Regions|Properties|Block)\) \S[^\n]*"
)
AT_RUN_TIME = re.compile(
    r"limit is \d+ bytes"  # an array that is too large
    r"|has not ended after \d+ iterations"  # a loop that does not end
    r"|does not evaluate dynamic sizes"  # a result without a bound
    r"|returns what an asynchronous operation has not finished"
    r"|waits forever|no item left"  # for what nobody sends
    r"|cannot be dynamic"  # a dimension that has no meaning then
    r"|no physical order for the layout"  # a bitcast by a layout that is more than an order
    r"|\(C\d+\)",  # a rule that is checked at run time
)


def runnable(sample: Sample) -> bool:
    """Whether there are arguments: they have to fit the memory, and their sizes to be known."""
    try:
        for type_ in sample.operands:
            check_memory(type_, MEMORY_LIMIT)
    except XlaError:
        return False
    return True


def assert_runs(module: ModuleOp, sample: Sample) -> None:
    """The results have the element types and sizes of the result types."""
    arguments = [
        value_of(type_, value) for type_, value in zip(sample.operands, sample.values, strict=True)
    ]
    message = ""
    try:
        results = run(module, arguments, iteration_limit=ITERATION_LIMIT, memory_limit=MEMORY_LIMIT)
    except XlaError as error:
        message = str(error)
        results = None
    if results is None:
        assert AT_RUN_TIME.search(message), message
        return
    main = next(f for f in module.ops if isinstance(f, FuncOp) and f.sym_name.data == "main")
    leaves = [t for t in types.flatten(main.function_type.outputs.data) if types.is_array(t)]
    arrays = flatten_results(results)
    assert len(arrays) == len(leaves)
    for array, type_ in zip(arrays, leaves, strict=True):
        assert_fits(array, cast(types.Array, type_))


def assert_fits(array: np.ndarray, type_: types.Array) -> None:
    assert array.dtype == numpy_dtype(type_.element_type)
    sizes = types.extents(type_)
    assert array.ndim == len(sizes)
    for have, size in zip(array.shape, sizes, strict=True):
        assert have <= size if isinstance(size, types.DynamicSize) else have == size


def check(sample: Sample) -> None:
    """The verifier rejects the operation with a labelled message, or the reference runs it."""
    rejection = None
    module = ModuleOp([])
    try:
        module = program(sample)
        verify(module)
    except (VerifyException, InvalidProgram) as error:
        rejection = error.message if isinstance(error, InvalidProgram) else str(error)
    if rejection is not None:
        assert LABELLED.fullmatch(rejection.removesuffix(" (in @main)")), rejection
    elif sample.runs and runnable(sample):
        assert_runs(module, sample)


@pytest.mark.parametrize("name", NAMES)
@few_examples(4)
@given(st.data())
def test_a_changed_operation_is_rejected_or_runs(name: str, data: Any) -> None:
    check(data.draw(perturbed(name)))
