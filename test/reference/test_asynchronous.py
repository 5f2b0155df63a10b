"""Asynchronous operations on the reference."""

from typing import Any

import numpy as np
import pytest
from hlo_programs import hlo, module_of, on_grid
from small_programs import computation, evaluate, numbers, same, shape

from lowerings.driver.context import make_context
from lowerings.simplify.xla_flatten_tuples import XlaFlattenTuplesPass
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.ops.asynchronous import AsyncDoneOp, AsyncStartOp, AsyncUpdateOp
from xla_dialect.ops.elementwise import AddOp, NegateOp
from xla_dialect.reference import run, run_programs, run_replicated
from xla_dialect.reference.interpreter import Program

X = "  x = f32[2] parameter(0)\n"
TENS = [[numbers("f32", [10 * i + 1, 10 * i + 2])] for i in range(4)]

PAIRS = {
    "all-gather": (
        "f32[4] all-gather(x), replica_groups={{2,0},{3,1}}, dimensions={0}",
        "(f32[2], f32[4]) all-gather-start(x), replica_groups={{2,0},{3,1}}, dimensions={0}",
        "f32[4] all-gather-done(s)",
    ),
    "all-gather of two": (
        "(f32[4], f32[4]) all-gather(x, y), replica_groups={{2,0},{3,1}}, dimensions={0}",
        "((f32[2], f32[2]), (f32[4], f32[4])) all-gather-start(x, y), "
        "replica_groups={{2,0},{3,1}}, dimensions={0}",
        "(f32[4], f32[4]) all-gather-done(s)",
    ),
    "all-reduce": (
        "f32[2] all-reduce(x), to_apply=add",
        "f32[2] all-reduce-start(x), to_apply=add",
        "f32[2] all-reduce-done(s)",
    ),
    "all-reduce of two": (
        "(f32[2], f32[2]) all-reduce(x, y), to_apply=add",
        "(f32[2], f32[2]) all-reduce-start(x, y), to_apply=add",
        "(f32[2], f32[2]) all-reduce-done(s)",
    ),
    "collective-permute": (
        "f32[2] collective-permute(x), source_target_pairs={{0,1},{3,0}}",
        "(f32[2], f32[2], u32[], u32[]) collective-permute-start(x), "
        "source_target_pairs={{0,1},{3,0}}",
        "f32[2] collective-permute-done(s)",
    ),
    "collective-permute of two": (
        "(f32[2], f32[2]) collective-permute(x, y), source_target_pairs={{0,1},{3,0}}",
        "((f32[2], f32[2]), (f32[2], f32[2])) collective-permute-start(x, y), "
        "source_target_pairs={{0,1},{3,0}}",
        "(f32[2], f32[2]) collective-permute-done(s)",
    ),
    "copy": ("f32[2] copy(x)", "(f32[2], f32[2], u32[]) copy-start(x)", "f32[2] copy-done(s)"),
    "reduce-scatter": (
        "f32[1] reduce-scatter(x), replica_groups={{0,1},{2,3}}, dimensions={0}, to_apply=add",
        "((f32[2]), f32[1], s32[]) reduce-scatter-start(x), replica_groups={{0,1},{2,3}}, "
        "dimensions={0}, to_apply=add",
        "f32[1] reduce-scatter-done(s)",
    ),
    "add": (
        "f32[2] add(x, x)",
        "((f32[2], f32[2]), f32[2]) add-start(x, x)",
        "f32[2] add-done(s)",
    ),
}


def two_parts(start: str, done: str) -> str:
    return hlo(f"{X}  y = f32[2] negate(x)\n  s = {start}\n  ROOT r = {done}")


@pytest.mark.parametrize(("at_once", "start", "done"), PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("flat", [False, True], ids=["tuples", "leaves"])
def test_two_parts_are_the_whole(at_once: str, start: str, done: str, flat: bool):
    """Also where contexts are taken apart to their leaves."""
    expected = on_grid(hlo(f"{X}  y = f32[2] negate(x)\n  ROOT r = {at_once}"), TENS, 4)
    module = module_of(two_parts(start, done))
    if flat:
        XlaFlattenTuplesPass().apply(make_context(), module)
        module.verify()
    found = run_replicated(module, TENS, replicas=4)
    same(tuple(flatten_results(result) for result in found), tuple(expected))


def test_start_does_not_wait():
    """Replica 0 sends between start and done what replica 1 waits for before its own start."""
    t = "  t = token[] after-all()\n"
    both = "  ROOT y = f32[2] all-reduce-done(s)\n"
    text = hlo(
        X + "  r = u32[] replica-id()\n  z = u32[] constant(0)\n"
        "  p = pred[] compare(r, z), direction=EQ\n"
        "  ROOT y = f32[2] conditional(p, x, x), true_computation=on_zero, "
        "false_computation=elsewhere",
        f"on_zero {{\n{X}{t}  s = f32[2] all-reduce-start(x), channel_id=1, to_apply=add\n"
        "  o = (f32[2], u32[], token[]) send(x, t), channel_id=2\n"
        f"  d = token[] send-done(o), channel_id=2\n{both}}}\n"
        f"elsewhere {{\n{X}{t}  i = (f32[2], u32[], token[]) recv(t), channel_id=2\n"
        "  d = (f32[2], token[]) recv-done(i), channel_id=2\n"
        "  v = f32[2] get-tuple-element(d), index=0\n"
        f"  s = f32[2] all-reduce-start(v), channel_id=1, to_apply=add\n{both}}}\n",
    )
    same(tuple(on_grid(text, TENS[:2], 2)), ((numbers("f32", [2, 4]),),) * 2)


WRAPPED = "wrapped {\n  x = f32[2] parameter(0)\n  ROOT r = f32[2] all-reduce(x), to_apply=add\n}\n"


def test_a_computation_runs_beside():
    """The same with a computation that waits in a thread of its own."""
    text = hlo(
        X + "  s = ((f32[2]), f32[2], s32[]) async-start(x), calls=wrapped\n"
        "  u = ((f32[2]), f32[2], s32[]) async-update(s)\n"
        "  y = f32[2] all-reduce(x), to_apply=add\n  d = f32[2] async-done(u)\n"
        "  ROOT r = f32[2] add(y, d)",
        WRAPPED,
    )
    same(tuple(on_grid(text, TENS[:2], 2)), ((numbers("f32", [24, 28]),),) * 2)


def test_a_computation_that_waits_forever():
    text = hlo(
        X + "  s = ((f32[2]), f32[2], s32[]) async-start(x), calls=wrapped\n"
        "  ROOT d = f32[2] async-done(s)",
        WRAPPED.replace("all-reduce(x),", "all-reduce(x), replica_groups={{0,1}},"),
    )
    other = hlo(X + "  ROOT r = f32[2] copy(x)")
    programs = [[Program(module_of(source), TENS[0])] for source in (text, other)]
    with pytest.raises(XlaError) as caught:
        run_programs(programs)
    assert "replica 0 waits for replica 1 (which has ended) in execution 1 of" in str(caught.value)
    assert "replica 0 waits for the computation of xla.async_start" in str(caught.value)


def test_an_error_in_a_computation():
    text = hlo(
        X + '  s = ((f32[2]), f32[2]) custom-call-start(x), custom_call_target="gone"\n'
        "  ROOT d = f32[2] custom-call-done(s)"
    )
    with pytest.raises(XlaError, match=r"program.hlo:14:3: error: xla.custom_call: no function is"):
        run(module_of(text), TENS[0])


def test_captured_values():
    """A computation sees the values around it; here the context has three results."""

    def build(x: Any) -> Any:
        region = computation(["f32[2]"], lambda a: AddOp(a, x))
        start = AsyncStartOp([NegateOp(x)], regions=[region])
        assert len(start.results) == 3
        update = AsyncUpdateOp(start.results)
        return AsyncDoneOp(update.results, result_types=[shape("f32[2]")])

    same(evaluate(build, numbers("f32", [1, 2])), numbers("f32", [0, 0]))


def test_a_context_without_a_start():
    context = ((numbers("f32", [1, 2]),), numbers("f32", [1, 2]), numbers("s32", 0))
    with pytest.raises(XlaError, match="the operand is not the context of a start"):
        evaluate(lambda c: AsyncDoneOp([c], result_types=[shape("f32[2]")]), context)


def test_results_that_nobody_waited_for():
    text = hlo(X + "  ROOT s = ((f32[2]), f32[2], s32[]) negate-start(x)")
    with pytest.raises(XlaError, match="returns what an asynchronous operation has not finished"):
        run(module_of(text), TENS[0])


def test_many_computations_at_once():
    starts = "".join(f"  s{i} = ((f32[2]), f32[2]) negate-start(x)\n" for i in range(50))
    dones = "".join(f"  d{i} = f32[2] negate-done(s{i})\n" for i in range(50))
    text = hlo(f"{X}{starts}{dones}  ROOT r = f32[2] add(d0, d49)")
    same(flatten_results(run(module_of(text), TENS[0])), (np.float32(-2) * TENS[0][0],))
