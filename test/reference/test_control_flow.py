"""Calls, branches, loops and tuples: worked examples, both forms of several results, limits."""

from typing import Any

import numpy as np
import pytest
from small_programs import computation, constant, evaluate, function, numbers, same, shape, tuple_of
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import CallOp as FuncCallOp

from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.control_flow import CallOp, ConditionalOp, FusionOp, OptBarrierOp, WhileOp
from xla_dialect.ops.elementwise import AddOp, CompareOp, MultiplyOp, SubtractOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.reference import run

S32 = shape("s32[]")
I32_MIN = -(2**31)


@pytest.mark.parametrize(
    ("index", "expected"),
    [(0, 10), (1, 20), (2, 30), (3, 30), (-1, 30), (I32_MIN, 30), (2**31 - 1, 30)],
    ids=lambda n: f"{n}",
)
def test_branch_index(index: int, expected: int):
    """Worked example: docs/generated/worked_examples.md#conditional."""

    def build(i: Any) -> Any:
        branches = [computation([], lambda n=n: constant("s32", n)) for n in (10, 20, 30)]
        return ConditionalOp(i, [], regions=[branches])

    same(evaluate(build, numbers("s32", index)), numbers("s32", expected))


@pytest.mark.parametrize(("pred", "expected"), [(True, [11, 12]), (False, [-1, -2])])
def test_branch_operands(pred: bool, expected: list[int]):
    """Each branch has its own operands, here of different number; true is branch 0."""

    def build(p: Any, x: Any, y: Any) -> Any:
        branches = [
            computation(["s32[2]", "s32[2]"], AddOp),
            computation(["s32[2]"], lambda a: SubtractOp(a, a)),
        ]
        branches[1] = computation(["s32[2]"], lambda a: MultiplyOp(a, constant("s32", [-1, -1])))
        return ConditionalOp(p, [x, y, x], regions=[branches])

    x, y = numbers("s32", [1, 2]), numbers("s32", [10, 10])
    same(evaluate(build, numbers("pred", pred), x, y), numbers("s32", expected))


def test_branches_may_return_either_form():
    """A tuple and its elements stand for each other, in the branches and in the results."""
    branches = [
        computation(["s32[]"], lambda a: [a, a]),
        computation(["s32[]"], lambda a: TupleOp([a, a])),
    ]
    for declared in (None, [S32, S32], [tuple_of(S32, S32)]):
        for pred in (True, False):
            result = evaluate(
                lambda p, x, types=declared: ConditionalOp(
                    p, [x, x], regions=[[r.clone() for r in branches]], result_types=types
                ),
                numbers("pred", pred),
                numbers("s32", 5),
            )
            same(result, (numbers("s32", 5), numbers("s32", 5)))


def test_only_one_branch_runs():
    def build(p: Any, x: Any) -> Any:
        endless = [
            computation(["s32[]"], lambda a: CompareOp(a, a, direction="EQ")),
            computation(["s32[]"], lambda a: a),
        ]
        branches = [
            computation(["s32[]"], lambda a: a),
            computation(["s32[]"], lambda a: WhileOp([a], regions=endless)),
        ]
        return ConditionalOp(p, [x, x], regions=[branches])

    same(evaluate(build, numbers("pred", True), numbers("s32", 1)), numbers("s32", 1))


def counter_loop(carried: Any, as_tuple: bool) -> Any:
    """`while (n < 1000) (n, v) = (n + 1, v + 0.5)`"""
    half = constant("f32", [0.5] * 10)
    if as_tuple:
        types = [tuple_of(S32, shape("f32[10]"))]
        condition = computation(types, lambda t: below(GetTupleElementOp(t, index=0)))
        body = computation(
            types,
            lambda t: TupleOp(
                [
                    AddOp(GetTupleElementOp(t, index=0), constant("s32", 1)),
                    AddOp(GetTupleElementOp(t, index=1), half),
                ]
            ),
        )
    else:
        condition = computation(["s32[]", "f32[10]"], lambda n, v: below(n))
        body = computation(
            ["s32[]", "f32[10]"], lambda n, v: [AddOp(n, constant("s32", 1)), AddOp(v, half)]
        )
    return WhileOp(carried, regions=[condition, body])


def below(n: Any) -> Any:
    return CompareOp(n, constant("s32", 1000), direction="LT")


@pytest.mark.parametrize("as_tuple", [True, False])
def test_while(as_tuple: bool):
    """Carrying one tuple or two values: docs/generated/worked_examples.md#while."""
    start = (numbers("s32", 0), numbers("f32", [0] * 10))
    if as_tuple:
        result = evaluate(lambda t: counter_loop([t], True), start)
    else:
        result = evaluate(lambda n, v: counter_loop([n, v], False), *start)
    same(result, (numbers("s32", 1000), numbers("f32", [500] * 10)))


def test_while_that_does_not_run():
    result = evaluate(
        lambda n, v: counter_loop([n, v], False), numbers("s32", 1000), numbers("f32", [7] * 10)
    )
    same(result, (numbers("s32", 1000), numbers("f32", [7] * 10)))


def test_iteration_limit():
    start = (numbers("s32", 0), numbers("f32", [0] * 10))
    with pytest.raises(XlaError, match=r"xla.while: the loop has not ended after 999 iterations"):
        evaluate(lambda n, v: counter_loop([n, v], False), *start, iteration_limit=999)
    evaluate(lambda n, v: counter_loop([n, v], False), *start, iteration_limit=1000)


def test_while_over_nothing():
    def build() -> Any:
        condition = computation([], lambda: constant("pred", False))
        return [WhileOp([], regions=[condition, computation([], list)]), constant("s32", 3)]

    same(evaluate(build), numbers("s32", 3))


def test_while_captures():
    """Regions see the values around them."""

    def build(n: Any, step: Any) -> Any:
        condition = computation(
            ["s32[]"], lambda i: CompareOp(i, constant("s32", 20), direction="LT")
        )
        return WhileOp([n], regions=[condition, computation(["s32[]"], lambda i: AddOp(i, step))])

    same(evaluate(build, numbers("s32", 0), numbers("s32", 7)), numbers("s32", 21))


def test_fusion():
    def build(x: Any, y: Any) -> Any:
        return FusionOp([x, y], kind="kLoop", regions=[computation(["f32[2]", "f32[2]"], AddOp)])

    same(evaluate(build, *[numbers("f32", [1, 2])] * 2), numbers("f32", [2, 4]))


def test_opt_barrier():
    value = (numbers("f32", [1]), (numbers("s32", 2),))
    same(evaluate(OptBarrierOp, value), value)


def test_tuple():
    """Worked examples: docs/generated/worked_examples.md#get_tuple_element."""
    v, s = numbers("f32", np.arange(10)), numbers("s32", 5)
    same(evaluate(lambda a, b: TupleOp([a, b]), v, s), (v, s))
    same(evaluate(lambda a, b: GetTupleElementOp(TupleOp([a, b]), index=1), v, s), s)
    same(evaluate(lambda: TupleOp([])), ())


def module_with(*functions: Any) -> ModuleOp:
    module = ModuleOp(list(functions))
    module.verify()
    return module


def test_call():
    """As `xla.call` and as `func.call`; also without operands, and twice."""
    module = module_with(
        function("main", ["f32[2]"], lambda x: [called("twice", x), called("one")]),
        function("twice", ["f32[2]"], lambda x: called("double", called("double", x))),
        function("double", ["f32[2]"], lambda x: FuncCallOp("add", [x, x], [x.type]).res[0]),
        function("add", ["f32[2]", "f32[2]"], AddOp),
        function("one", [], lambda: constant("f32", [1, 1])),
    )
    (doubled, one) = run(module, [numbers("f32", [1, 2])])
    same(doubled, numbers("f32", [4, 8]))
    same(one, numbers("f32", [1, 1]))


def called(name: str, *operands: Any) -> Any:
    return CallOp(list(operands), to_apply=symbol(name), result_types=[shape("f32[2]")])


def symbol(name: str) -> Any:
    return SymbolRefAttr(name)


def test_call_with_results_in_either_form():
    pair = tuple_of(S32, S32)
    module = module_with(
        function("flat", ["s32[]"], lambda x: [x, AddOp(x, x)]),
        function("tuple", ["s32[]"], lambda x: TupleOp([x, AddOp(x, x)])),
        function(
            "main",
            ["s32[]"],
            lambda x: [
                CallOp([x], to_apply=symbol(name), result_types=types)
                for name in ("flat", "tuple")
                for types in ([S32, S32], [pair])
            ],
        ),
    )
    results = run(module, [numbers("s32", 1)])
    one, two = numbers("s32", 1), numbers("s32", 2)
    same(results, (one, two, (one, two), one, two, (one, two)))


def test_recursion_is_an_error():
    module = module_with(function("main", ["f32[2]"], lambda x: called("main", x)))
    with pytest.raises(XlaError, match="nest too deeply; is there a cycle"):
        run(module, [numbers("f32", [1, 2])])


def test_unknown_function():
    module = module_with(function("main", ["f32[2]"], lambda x: called("gone", x)))
    with pytest.raises(XlaError, match=r"xla.call: .*gone"):
        run(module, [numbers("f32", [1, 2])])
