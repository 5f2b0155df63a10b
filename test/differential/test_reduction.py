"""Programs on which an executor is made to fail are reduced to what it fails on."""

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from differential.draft import Array
from differential.generation import generate
from differential.judging import Executor
from differential.reduction import failure_of, reduced
from differential.rewriting import operations, return_all, returned
from xla_dialect.builder import XlaBuilder
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run


def program() -> tuple[ModuleOp, list[Array]]:
    """Ten operations in a row, and others beside them."""
    b = XlaBuilder("test")
    x = b.parameter(0, "f32[6,4]")
    y = b.parameter(1, "f32[4,5]")
    z = b.tanh(b.dot(b.add(x, x), y))
    w = b.sort(b.mul(z, z), b.lt_total_order, 0)
    b.neg(b.reduce(w, 0, b.add, [1]))
    module = b.build(b.sub(b.exp(z), w))
    return_all(module)
    random = np.random.default_rng(1)
    return module, [random.standard_normal(n).astype(np.float32) for n in ((6, 4), (4, 5))]


def wrong_in(name: str) -> Executor:
    """The reference, but for the results of an operation where they are above 0."""

    def execute(module: ModuleOp, arguments: Sequence[Array]) -> list[Array]:
        arrays = list(flatten_results(run(module, arguments)))
        for number, value in enumerate(returned(module)):
            if value.op.name == name:
                wrong = arrays[number] + np.where(arrays[number] > 0, 1, 0)
                arrays[number] = wrong.astype(arrays[number].dtype)
        return arrays

    return Executor(execute)


def refusing(*names: str) -> Executor:
    """The reference, which does not take programs that have all these operations."""

    def execute(module: ModuleOp, arguments: Sequence[Array]) -> list[Array]:
        if set(names_in(module)) >= set(names):
            raise NotImplementedError("all at once")
        return list(flatten_results(run(module, arguments)))

    return Executor(execute)


def names_in(module: ModuleOp) -> list[str]:
    return [op.name for op in operations(module)]


def test_the_program_itself_is_right() -> None:
    module, arguments = program()
    assert failure_of(module, arguments, refusing("xla.fft")) is None


@pytest.mark.parametrize("name", ["xla.dot", "xla.tanh", "xla.sort", "xla.reduce", "xla.subtract"])
def test_one_wrong_operation(name: str) -> None:
    executor = wrong_in(name)
    failure = failure_of(*program(), executor)
    assert failure is not None
    assert name in failure.kinds
    small = reduced(failure, executor, seed=1)
    assert names_in(small.module) == [name]
    sizes = [size for array in small.arguments for size in array.shape]
    assert sizes == [1] * len(sizes)
    report = small.report(1)
    assert f"{name}: result 0 at [" in report
    assert "inputs" in report


def test_operations_that_fail_together() -> None:
    executor = refusing("xla.tanh", "xla.sort")
    failure = failure_of(*program(), executor)
    assert failure is not None
    small = reduced(failure, executor, seed=1)
    assert sorted(names_in(small.module)) == ["xla.sort", "xla.tanh"]
    assert small.has_inputs_of(1), "whatever the inputs are, so they are those of the seed"
    assert "NotImplementedError: all at once" in small.report(1)
    assert "(1, number)" in small.report(1)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    """Each reduced to the operation that comes first in it."""
    found = generate(seed)
    name = operations(found.module)[0].name
    executor = refusing(name)
    failure = failure_of(found.module, found.arguments, executor)
    assert failure is not None
    small = reduced(failure, executor, seed)
    assert names_in(small.module) == [name]
    assert all(array.size <= 16 for array in small.arguments)


def test_sizes_that_attributes_speak_of_stay() -> None:
    b = XlaBuilder("test")
    x = b.parameter(0, "f32[6,4]")
    module = b.build([b.slice(x, [3, 0], [6, 4])])
    failure = failure_of(module, [np.ones((6, 4), np.float32)], wrong_in("xla.slice"))
    assert failure is not None
    small = reduced(failure, wrong_in("xla.slice"), 1)
    assert small.arguments[0].shape == (6, 4)
