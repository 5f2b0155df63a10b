"""Fusion makes the loops that one would write by hand."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from small_programs import computation, constant, numbers, shape
from tensors_level import FUSION, TO_TENSORS, check, lower, module_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp

from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.data_movement import BroadcastOp, ReshapeOp, SliceOp, TransposeOp
from xla_dialect.ops.elementwise import SelectOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.types import array

F32 = shape("f32[]").element_type


def broadcast(x: Any, result: Sequence[int], dimensions: Sequence[int]) -> Any:
    result_type = array(x.type.element_type, result)
    return BroadcastOp(x, dimensions=list(dimensions), result_types=[result_type]).result


def reduce(operation: Callable[..., XlaOp], init: Any, x: Any, dimensions: Sequence[int]) -> Any:
    scalar = array(x.type.element_type, ())
    region = computation([scalar, scalar], operation)
    start = constant("f32", init).results[0]
    return ReduceOp([x], [start], dimensions=list(dimensions), regions=[region]).outputs[0]


def fused(build: Callable[..., Any], *arguments: Any) -> list[GenericOp]:
    """The structured operations that are left, contractions included."""
    module: ModuleOp = module_of(build, arguments)
    lower(module, (*TO_TENSORS, *FUSION))
    return [op for op in module.walk() if isinstance(op, GenericOp)]


def operations(generic: GenericOp) -> Counter[str]:
    return Counter(op.name for op in generic.body.block.ops)


X = numbers("f32", np.random.default_rng(0).normal(size=(4, 16)))


def softmax(x: Any) -> Any:
    rows = reduce(elementwise.MaximumOp, -np.inf, x, [1])
    rows = elementwise.MaximumOp(
        rows, broadcast(constant("f32", -np.inf).results[0], (4,), [])
    ).result
    kept = ReshapeOp(rows, result_types=[array(F32, (4, 1))]).result
    wide = broadcast(ReshapeOp(kept, result_types=[array(F32, (4,))]).result, (4, 16), [0])
    e = elementwise.ExponentialOp(elementwise.SubtractOp(x, wide)).result
    total = reduce(elementwise.AddOp, 0, e, [1])
    return elementwise.DivideOp(e, broadcast(total, (4, 16), [0]))


def test_softmax_is_three_loops() -> None:
    loops = fused(softmax, X)
    assert [len(loop.res) for loop in loops] == [1, 2, 1]
    assert operations(loops[0])["arith.maximumf"] == 1
    assert operations(loops[1])["math.exp"] == 1
    assert operations(loops[2])["arith.divf"] == 1
    check(softmax, X, ulps=4)


def layer_norm(x: Any, scale: Any) -> Any:
    width = broadcast(constant("f32", 16).results[0], (4,), [])
    mean = elementwise.DivideOp(reduce(elementwise.AddOp, 0, x, [1]), width).result
    centered = elementwise.SubtractOp(x, broadcast(mean, (4, 16), [0])).result
    squares = elementwise.MultiplyOp(centered, centered).result
    variance = elementwise.DivideOp(reduce(elementwise.AddOp, 0, squares, [1]), width)
    factor = elementwise.RsqrtOp(
        elementwise.AddOp(variance, broadcast(constant("f32", 1e-5).results[0], (4,), []))
    ).result
    normal = elementwise.MultiplyOp(centered, broadcast(factor, (4, 16), [0]))
    return elementwise.MultiplyOp(normal, broadcast(scale, (4, 16), [1]))


def test_layer_norm_is_three_loops() -> None:
    scale = numbers("f32", np.arange(16))
    loops = fused(layer_norm, X, scale)
    assert [len(loop.res) for loop in loops] == [1, 1, 1]
    # The mean is a product with 1/16, computed again; divisions are gone.
    assert all("arith.divf" not in operations(loop) for loop in loops)
    assert operations(loops[2])["math.rsqrt"] == 1
    check(layer_norm, X, scale, ulps=4)


def gates(x: Any, bias: Any, cell: Any) -> Any:
    y = elementwise.AddOp(x, broadcast(bias, (4, 16), [1])).result
    parts = [
        SliceOp(y, start_indices=[0, 4 * i], limit_indices=[4, 4 * i + 4], strides=[1, 1]).result
        for i in range(4)
    ]
    forgotten = elementwise.MultiplyOp(elementwise.LogisticOp(parts[0]), cell)
    added = elementwise.MultiplyOp(elementwise.LogisticOp(parts[1]), elementwise.TanhOp(parts[2]))
    new = elementwise.AddOp(forgotten, added).result
    return [new, elementwise.MultiplyOp(elementwise.LogisticOp(parts[3]), elementwise.TanhOp(new))]


def test_gates_are_one_loop() -> None:
    bias, cell = numbers("f32", np.arange(16)), numbers("f32", np.ones((4, 4)))
    (loop,) = fused(gates, X, bias, cell)
    assert len(loop.res) == 2
    assert operations(loop)["math.tanh"] == 2
    check(gates, X, bias, cell, ulps=4)


def test_contractions_take_data_movement_only() -> None:
    def build(x: Any, y: Any) -> Any:
        transposed = TransposeOp(y, dimensions=[1, 0])
        return DotOp(
            elementwise.ExponentialOp(x),
            transposed,
            lhs_contracting_dims=[1],
            rhs_contracting_dims=[0],
        )

    exponential, dot = fused(build, X, X)
    assert operations(exponential)["math.exp"] == 1
    assert operations(dot) == Counter({"arith.mulf": 1, "arith.addf": 1, "linalg.yield": 1})


def test_transposes_sink_into_contractions() -> None:
    def build(x: Any, y: Any) -> Any:
        dot = DotOp(x, y, lhs_contracting_dims=[1], rhs_contracting_dims=[1])
        return TransposeOp(dot, dimensions=[1, 0])

    (dot,) = fused(build, X, X)
    assert str(dot.indexing_maps.data[-1].data) == "(d0, d1, d2) -> (d1, d0)"
    check(build, X, X, ulps=0)


def test_reshapes_do_not_keep_apart() -> None:
    """Whatever is merged or split, one loop over the finest dimensions does all."""

    def build(x: Any, bias: Any) -> Any:
        rows = ReshapeOp(elementwise.ExponentialOp(x), result_types=[array(F32, (8, 8))])
        y = elementwise.AddOp(rows, broadcast(bias, (8, 8), [0])).result
        flat = ReshapeOp(y, result_types=[array(F32, (64,))])
        return ReshapeOp(elementwise.NegateOp(flat), result_types=[array(F32, (4, 16))])

    (loop,) = fused(build, X, numbers("f32", np.arange(8)))
    assert operations(loop)["math.exp"] == operations(loop)["arith.negf"] == 1
    check(build, X, numbers("f32", np.arange(8)), ulps=4)


def test_equal_operations_are_one() -> None:
    def build(x: Any) -> Any:
        return [reduce(elementwise.AddOp, 0, x, [1]), reduce(elementwise.AddOp, 0, x, [1])]

    assert len(fused(build, X)) == 1


def test_reductions_of_one_tensor_share_a_loop() -> None:
    def build(x: Any) -> Any:
        squares = elementwise.MultiplyOp(x, x).result
        return [reduce(elementwise.AddOp, 0, x, [1]), reduce(elementwise.AddOp, 0, squares, [1])]

    (loop,) = fused(build, X)
    assert len(loop.res) == 2
    check(build, X)


def test_expensive_values_are_computed_once() -> None:
    """The exponential of a row is needed in every column: it is a loop of its own."""

    def build(x: Any, row: Any) -> Any:
        return elementwise.AddOp(x, broadcast(elementwise.ExponentialOp(row).result, (4, 16), [1]))

    loops = fused(build, X, numbers("f32", np.arange(16)))
    assert [operations(loop)["math.exp"] for loop in loops] == [1, 0]


def test_constants_fold() -> None:
    def build(x: Any) -> Any:
        two = elementwise.SubtractOp(constant("f32", 3), constant("f32", 1)).result
        is_large = elementwise.CompareOp(two, constant("f32", 1), direction="GT")
        y = elementwise.DivideOp(x, broadcast(two, (4, 16), []))
        return SelectOp(is_large, y, x)

    (loop,) = fused(build, X)
    assert operations(loop) == Counter({"arith.constant": 1, "arith.mulf": 1, "linalg.yield": 1})
    check(build, X)


def test_what_turns_out_constant_is_filled() -> None:
    def build() -> Any:
        one = broadcast(constant("f32", 1).results[0], (4, 16), [])
        return elementwise.AddOp(one, one)

    assert fused(build) == []
    check(build)


@pytest.mark.parametrize("count", [3000])
def test_time_is_about_linear(count: int) -> None:
    """A long chain is cut into loops of bounded size."""

    def build(x: Any) -> Any:
        block = x.block
        for _ in range(count):
            op = elementwise.AddOp(x, x)
            block.add_op(op)
            x = op.result
        return x

    loops = fused(build, numbers("s32", np.arange(3)))
    assert 1 < len(loops) < count / 50


def test_users_of_a_slice_do_not_compute_the_whole() -> None:
    """The slice begins with the first element, where its loops look like those of the whole."""

    def program(x: Any) -> list[Any]:
        whole = elementwise.ExponentialOp(x).result
        part = SliceOp(whole, start_indices=[0, 0], limit_indices=[4, 7], strides=[1, 1]).result
        return [whole, elementwise.NegateOp(part).result]

    check(program, X, ulps=4)
