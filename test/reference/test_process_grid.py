"""Programs whose processes wait for each other, and those that would wait forever."""

import subprocess
import sys
import threading
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest
from hlo_programs import hlo, module_of, on_grid, on_reference
from peers import has_jax
from small_programs import numbers, same

from xla_dialect.devices.process_grid import MAX_PROCESSES, Host, ProcessGrid
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.reference import run, run_programs, run_replicated
from xla_dialect.reference.interpreter import Program

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import PartitionSpec

ONE = numbers("f32", [1, 2])


def on_replica_0(then: str, otherwise: str, parameters: str = "f32[2]") -> str:
    """A module that does one thing on replica 0 and another on all others, to its argument x."""
    branches = (
        f"on_zero {{\n  x = {parameters} parameter(0)\n  t = token[] after-all()\n{then}\n}}\n"
        f"elsewhere {{\n  x = {parameters} parameter(0)\n  t = token[] after-all()\n{otherwise}\n}}\n"
    )
    return hlo(
        f"  x = {parameters} parameter(0)\n  r = u32[] replica-id()\n  z = u32[] constant(0)\n"
        "  p = pred[] compare(r, z), direction=EQ\n"
        "  ROOT y = f32[2] conditional(p, x, x), true_computation=on_zero, "
        "false_computation=elsewhere",
        branches,
    )


REDUCE = "  ROOT y = f32[2] all-reduce(x), to_apply=add"
NOTHING = "  ROOT y = f32[2] negate(x)"


def send(value: str, channel: int, name: str = "s") -> str:
    return (
        f"  {name} = (f32[2], u32[], token[]) send({value}, t), channel_id={channel}\n"
        f"  {name}.d = token[] send-done({name}), channel_id={channel}\n"
    )


def recv(channel: int, name: str = "r", token: str = "t") -> str:
    return (
        f"  {name} = (f32[2], u32[], token[]) recv({token}), channel_id={channel}\n"
        f"  {name}.d = (f32[2], token[]) recv-done({name}), channel_id={channel}\n"
        f"  {name}.v = f32[2] get-tuple-element({name}.d), index=0\n"
    )


def failure(text: str, replicas: int, **options: Any) -> str:
    with pytest.raises(XlaError) as caught:
        on_grid(text, [[ONE]] * replicas, replicas, **options)
    return str(caught.value)


def test_a_collective_that_others_do_not_execute():
    """RG6: the error names who waits for what, and who has ended."""
    message = failure(on_replica_0(REDUCE, NOTHING), 3)
    assert message == (
        "the program waits forever: replica 0 waits for replica 1 (which has ended) and replica 2 "
        "(which has ended) in execution 1 of xla.all_reduce at program.hlo:15:8"
    )


def test_different_collectives_do_not_meet():
    """Without channels only the same operation of the program meets; with one the kinds differ."""
    gather = (
        "  g = f32[4] all-gather(x), replica_groups={}, dimensions={0}, channel_id=1\n"
        "  ROOT y = f32[2] slice(g), slice={[0:2]}"
    )
    reduce = REDUCE + ", channel_id=1"
    for then, otherwise in ((REDUCE, REDUCE), (reduce, gather)):
        message = failure(on_replica_0(then, otherwise), 2)
        assert "replica 0 waits for replica 1 in execution 1 of xla.all_reduce" in message
        assert "replica 1 waits for replica 0 in execution 1 of xla.all_" in message


def test_the_same_channel_meets():
    line = REDUCE + ", channel_id=5"
    found = on_grid(on_replica_0(line, line), [[ONE]] * 2, 2)
    same(tuple(found), ((numbers("f32", [2, 4]),),) * 2)


LOOP = hlo(
    "  n = s32[] parameter(0)\n  x = f32[2] parameter(1)\n"
    "  i = (s32[], f32[2]) tuple(n, x)\n"
    "  w = (s32[], f32[2]) while(i), condition=more, body=again\n"
    "  ROOT y = f32[2] get-tuple-element(w), index=1",
    "more {\n  i = (s32[], f32[2]) parameter(0)\n  n = s32[] get-tuple-element(i), index=0\n"
    "  z = s32[] constant(0)\n  ROOT p = pred[] compare(n, z), direction=GT\n}\n"
    "again {\n  i = (s32[], f32[2]) parameter(0)\n  n = s32[] get-tuple-element(i), index=0\n"
    "  o = s32[] constant(1)\n  m = s32[] subtract(n, o)\n"
    "  x = f32[2] get-tuple-element(i), index=1\n"
    "  y = f32[2] all-reduce(x), to_apply=add\n"
    "  ROOT j = (s32[], f32[2]) tuple(m, y)\n}\n",
)


def test_equal_numbers_of_executions():
    found = on_grid(LOOP, [[numbers("s32", 3), ONE]] * 2, 2)
    same(tuple(found), ((numbers("f32", [8, 16]),),) * 2)


def test_unequal_numbers_of_executions():
    """RG6: a loop whose length differs between replicas."""
    with pytest.raises(XlaError) as caught:
        on_grid(LOOP, [[numbers("s32", n), ONE] for n in (2, 3)], 2)
    message = "replica 1 waits for replica 0 (which has ended) in execution 3 of xla.all_reduce"
    assert message in str(caught.value)


def test_send_and_recv():
    text = on_replica_0(
        send("x", 7) + "  ROOT y = f32[2] negate(x)", recv(7) + "  ROOT y = f32[2] add(r.v, x)"
    )
    found = on_grid(text, [[ONE], [numbers("f32", [10, 20])]], 2)
    same(tuple(found), ((-ONE,), (numbers("f32", [11, 22]),)))


def test_a_channel_in_a_loop_keeps_its_order():
    body = (
        "again {{\n  i = (s32[], f32[2]) parameter(0)\n  n = s32[] get-tuple-element(i), index=0\n"
        "  o = s32[] constant(1)\n  m = s32[] subtract(n, o)\n  t = token[] after-all()\n"
        "  x = f32[2] get-tuple-element(i), index=1\n{}"
        "  ROOT j = (s32[], f32[2]) tuple(m, y)\n}}\n"
    )
    sending = body.format(send("x", 1) + "  y = f32[2] add(x, x)\n")
    receiving = body.format(recv(1) + "  h = f32[2] multiply(x, x)\n  y = f32[2] add(h, r.v)\n")
    start, end = LOOP.index("again {"), LOOP.index("ENTRY")
    programs = [
        [Program(module_of(LOOP[:start] + text + LOOP[end:]), [numbers("s32", 3), ONE])]
        for text in (sending, receiving)
    ]
    sender, receiver = run_programs(programs)
    same(sender, (numbers("f32", [8, 16]),))
    # x = x * x + sent: 1, 2, 4 and 2, 4, 8
    same(receiver, (numbers("f32", [((1 + 1) ** 2 + 2) ** 2 + 4, ((4 + 2) ** 2 + 4) ** 2 + 8]),))


def communicating(*lines: str) -> Program:
    """A program that executes these lines and returns its argument."""
    return Program(
        module_of(
            hlo(
                "  x = f32[2] parameter(0)\n  t = token[] after-all()\n"
                + "".join(lines)
                + "  ROOT y = f32[2] copy(x)"
            )
        ),
        [ONE],
    )


def test_cyclic_channels():
    """Each waits for what the other sends after it has received."""
    a = communicating(recv(1), send("r.v", 2))
    b = communicating(recv(2), send("r.v", 1))
    with pytest.raises(XlaError) as caught:
        run_programs([[a], [b]])
    assert str(caught.value) == (
        "the program waits forever: replica 0 waits for a send on channel 1 in xla.recv at "
        "program.hlo:15:3; replica 1 waits for a send on channel 2 in xla.recv at program.hlo:15:3"
    )


def test_channels_without_a_cycle():
    a = communicating(recv(1), send("r.v", 2))
    b = communicating(send("x", 1), recv(2))
    same(tuple(run_programs([[a], [b]])), ((ONE,), (ONE,)))


def test_recv_comes_before_send():
    """The schedule of a channel: a send waits for its recv, which here follows another send."""
    a = communicating(send("x", 1), recv(2))
    b = communicating(send("x", 2), recv(1))
    with pytest.raises(XlaError, match=r"replica 0 waits for a recv on channel 1 in xla\.send"):
        run_programs([[a], [b]])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (send("x", 3), "replica 0 waits for a recv on channel 3 in xla.send at program.hlo:15:3"),
        (recv(3), "replica 0 waits for a send on channel 3 in xla.recv at program.hlo:15:3"),
    ],
    ids=["send", "recv"],
)
def test_nobody_at_the_other_end(lines: str, message: str):
    with pytest.raises(XlaError, match=message):
        run_programs([[communicating(lines)], [communicating()]])


@pytest.mark.parametrize(
    ("mine", "others", "message"),
    [
        (send("x", 1), send("x", 1), r"\(C1\) channel 1 has two senders, replica [01] and replica"),
        (recv(1), recv(1), r"\(C1\) channel 1 has two receivers, replica [01] and replica [01]"),
    ],
    ids=["send", "recv"],
)
def test_a_channel_has_two_ends(mine: str, others: str, message: str):
    """docs/generated/ops.md#send-c1 and docs/generated/ops.md#recv-c1."""
    third = recv(1) if "send" in mine else send("x", 1)
    programs = [[communicating(lines)] for lines in (mine, others, third)]
    with pytest.raises(XlaError, match=message):
        run_programs(programs)


def test_what_is_sent_has_the_type_of_what_is_received():
    """docs/generated/ops.md#recv-c4."""
    other = hlo(
        "  x = s32[3] parameter(0)\n  t = token[] after-all()\n"
        "  s = (s32[3], u32[], token[]) send(x, t), channel_id=1\n"
        "  ROOT d = token[] send-done(s), channel_id=1"
    )
    programs = [[communicating(recv(1))], [Program(module_of(other), [numbers("s32", [1, 2, 3])])]]
    with pytest.raises(XlaError, match=r"\(C4\) what is sent: expected f32\[2\], found s32\[3\]"):
        run_programs(programs)


def test_an_error_names_its_process():
    """And the place in the text; processes that wait for it end too."""
    bad = (
        "  n = s32[] constant(9)\n  d = f32[<=2] set-dimension-size(x, n), dimensions={0}\n"
        "  ROOT y = f32[2] copy(x)"
    )
    with pytest.raises(LocatedError) as caught:
        on_reference(on_replica_0(bad, REDUCE), [[ONE]] * 3, 3)
    assert (caught.value.line, caught.value.column) == (16, 3)
    assert caught.value.message.startswith("replica 0: xla.set_dimension_size: (C4) size 9")


def test_an_endless_loop_ends_when_another_process_fails():
    text = on_replica_0(
        '  ROOT y = f32[2] custom-call(x), custom_call_target="gone"',
        "  ROOT y = f32[2] while(x), condition=always, body=same",
    ).replace(
        "elsewhere {",
        "always {\n  x = f32[2] parameter(0)\n  ROOT p = pred[] constant(true)\n}\n"
        "same {\n  ROOT x = f32[2] parameter(0)\n}\nelsewhere {",
    )
    with pytest.raises(LocatedError, match=r"replica 0: xla\.custom_call: no function is"):
        on_reference(text, [[ONE]] * 2, 2)


def test_errors_that_are_no_verdict_on_the_program():
    """A bug in a registered function comes out as it is."""

    def broken(op: Any, x: Any) -> Any:
        raise ZeroDivisionError("broken")

    text = hlo(
        '  x = f32[2] parameter(0)\n  ROOT y = f32[2] custom-call(x), custom_call_target="f"'
    )
    with pytest.raises(ZeroDivisionError):
        on_grid(text, [[ONE]] * 2, 2, custom_calls={"f": broken})


def test_threads_are_kept():
    def round_of_calls() -> int:
        failure(on_replica_0(REDUCE, NOTHING), 4)
        on_grid(hlo("  x = f32[2] parameter(0)\n" + REDUCE), [[ONE]] * 4, 4)
        return threading.active_count()

    before = round_of_calls()
    assert [round_of_calls() for _ in range(5)] == [before] * 5


def test_threads_are_as_new():
    """What a process leaves in its context is gone."""
    seen: list[str] = []
    variable: ContextVar[str] = ContextVar("variable", default="new")

    def process() -> None:
        seen.append(variable.get())
        variable.set("used")

    for _ in range(2):
        grid = ProcessGrid(2)
        grid.run(dict.fromkeys(grid.places, process))
    assert seen == ["new"] * 4


def test_grids_within_grids_and_beside_them():
    def program(depth: int) -> int:
        if depth == 0:
            return 1
        grid = ProcessGrid(2)
        return sum(grid.run(dict.fromkeys(grid.places, lambda: program(depth - 1))))

    found: list[int] = []
    callers = [threading.Thread(target=lambda: found.append(program(3))) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [8] * 3


def test_a_child_of_fork_has_threads_of_its_own():
    script = (
        "import os\n"
        "from xla_dialect.devices.process_grid import ProcessGrid\n"
        "def run():\n"
        "    grid = ProcessGrid(3)\n"
        "    return grid.run(dict.fromkeys(grid.places, lambda: 7))\n"
        "run()\n"
        "child = os.fork()\n"
        "assert run() == [7] * 3\n"
        "assert not child or os.waitpid(child, 0)[1] == 0\n"
    )
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stderr


def test_many_processes():
    text = hlo(
        "  r = u32[] replica-id()\n  x = f32[] convert(r)\n"
        "  ROOT y = f32[] all-reduce(x), to_apply=add"
    )
    found = on_grid(text, [[]] * 100, 100)
    same(tuple(found), ((numbers("f32", 99 * 50),),) * 100)


@pytest.mark.parametrize(
    ("replicas", "partitions"), [(0, 1), (MAX_PROCESSES + 1, 1), (1, 0), (-1, -1)]
)
def test_impossible_grids(replicas: int, partitions: int):
    with pytest.raises(XlaError, match="processes"):
        ProcessGrid(replicas, partitions)


def test_arguments_for_every_process():
    module = module_of(hlo("  x = f32[2] parameter(0)\n" + REDUCE))
    with pytest.raises(XlaError, match="arguments for 1 processes, there are 2"):
        run_replicated(module, [[ONE]], replicas=2)
    with pytest.raises(XlaError, match="hosts for 3 processes, there are 2"):
        run_replicated(module, [[ONE]] * 2, replicas=2, hosts=[Host()] * 3)
    with pytest.raises(XlaError, match="replicas have different numbers of partitions"):
        run_programs([[Program(module, [ONE])], []])
    with pytest.raises(XlaError, match="a grid of 0 replicas"):
        run_programs([])


def test_a_module_says_how_many_processes_it_is_for():
    head = ", replica_count=2, num_partitions=2"
    module = module_of(hlo("  x = f32[2] parameter(0)\n" + REDUCE, head=head))
    with pytest.raises(XlaError, match="the module is for 2 replicas and 2 partitions, not for 4"):
        run_replicated(module, [[ONE]] * 4, replicas=4)
    found = run_replicated(module, [[ONE]] * 4, replicas=2, partitions=2)
    same(tuple(found), ((2 * ONE,),) * 4)


def test_seeds_differ_between_processes():
    text = hlo(
        "  a = f32[] constant(0)\n  b = f32[] constant(1)\n"
        "  ROOT y = f32[4] rng(a, b), distribution=rng_uniform"
    )
    (first,), (second,) = on_reference(text, [[], []], 2, seed=3)
    assert not np.any(first == second)
    same(run(module_of(text), seed=4), (second,))


@pytest.mark.jax
def test_programs_of_jax():
    """What XLA makes of a program over a mesh of devices, run by the grid on the same shards."""
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

    def on_shard(a: Any) -> Any:
        return (
            *(lax.psum(a, "x"), lax.pmax(a, ("x", "y")), lax.all_gather(a, "x")),
            *(lax.psum_scatter(a, "y", tiled=True), lax.all_to_all(a, "x", 0, 1, tiled=True)),
            *(lax.ppermute(a, "y", [(0, 1)]), lax.axis_index("x")[None]),
        )

    specs = [PartitionSpec("x", "y")] * 7
    specs[2], specs[6] = PartitionSpec(None, "x", "y"), PartitionSpec("x")
    function = jax.shard_map(
        on_shard, mesh=mesh, in_specs=specs[0], out_specs=tuple(specs), check_vma=False
    )
    argument = jnp.arange(64, dtype=jnp.float32).reshape(8, 8)
    compiled = jax.jit(function).lower(argument).compile()
    argument = jax.device_put(argument, compiled.input_shardings[0][0])
    expected = [
        tuple(np.asarray(shard.data) for shard in result.addressable_shards)
        for result in compiled(argument)
    ]
    shards = [[np.asarray(shard.data)] for shard in argument.addressable_shards]
    found = on_grid(compiled.as_text() or "", shards, 1, 4)
    for number, theirs in enumerate(expected):
        same(tuple(result[number] for result in found), theirs)
