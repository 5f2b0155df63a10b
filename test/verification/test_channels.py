"""Channels whose ends do not fit, or wait for each other, are found before anything runs."""

import numpy as np
import pytest
from hlo_programs import FILE, hlo, module_of
from small_programs import same

from xla_dialect.builder import ChannelHandle, XlaBuilder
from xla_dialect.hlo_text import read_hlo
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run, run_programs
from xla_dialect.reference.interpreter import Program
from xla_dialect.verification import InvalidProgram, verify

HEAD = "  x = f32[2] parameter(0)\n  t = token[] after-all()\n"
ROOT = "  ROOT y = f32[2] copy(x)"
PAIRS = ", frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2}}}"


def send(value: str, channel: int, name: str = "s", token: str = "t", more: str = "") -> str:
    return (
        f"  {name} = (f32[2], u32[], token[]) send({value}, {token}), channel_id={channel}{more}\n"
        f"  {name}.d = token[] send-done({name}), channel_id={channel}{more}\n"
    )


def recv(channel: int, name: str = "r", token: str = "t", more: str = "") -> str:
    return (
        f"  {name} = (f32[2], u32[], token[]) recv({token}), channel_id={channel}{more}\n"
        f"  {name}.d = (f32[2], token[]) recv-done({name}), channel_id={channel}{more}\n"
        f"  {name}.v = f32[2] get-tuple-element({name}.d), index=0\n"
    )


def program(*lines: str) -> str:
    return hlo(HEAD + "".join(lines) + ROOT)


def conditional(on_true: str, on_false: str) -> str:
    """Replica 0 executes some lines, the others other lines."""
    branches = "".join(
        f"{name} {{\n{HEAD}{lines}{ROOT}\n}}\n"
        for name, lines in (("on_true", on_true), ("on_false", on_false))
    )
    return hlo(
        "  x = f32[2] parameter(0)\n  r = u32[] replica-id()\n  z = u32[] constant(0)\n"
        "  p = pred[] compare(r, z), direction=EQ\n"
        "  ROOT y = f32[2] conditional(p, x, x), true_computation=on_true, "
        "false_computation=on_false",
        branches,
    )


def failure(text: str) -> InvalidProgram:
    with pytest.raises(InvalidProgram) as caught:
        module_of(text)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(program(send("x", 1)), id="the other end in another program"),
        pytest.param(program(recv(1)), id="the other end in another program, recv"),
        pytest.param(program(recv(1), send("x", 1)), id="recv before send, no dependence"),
        pytest.param(program(send("x", 1), recv(1)), id="the order of the text is no dependence"),
        pytest.param(program(recv(1), send("r.v", 2)), id="half of a deadlock"),
        pytest.param(conditional(send("x", 1), recv(1)), id="ends in two branches"),
        pytest.param(
            conditional(recv(1) + send("r.v", 2), send("x", 1) + recv(2)), id="there and back"
        ),
        pytest.param(
            program(*(send("x", 1, f"s{i}", more=", is_host_transfer=true") for i in range(2))),
            id="host transfers",
        ),
        pytest.param(program(send("x", 0), send("x", 0, "again")), id="no channel"),
        pytest.param(
            program(recv(1, more=PAIRS), send("r.v", 1, more=PAIRS)), id="source-target pairs"
        ),
        pytest.param(
            program(
                "  a = f32[2] all-reduce(x), channel_id=1, replica_groups={}, to_apply=add\n",
                "  b = f32[2] all-reduce(a), channel_id=1, replica_groups={}, to_apply=add\n",
            ),
            id="collectives of one channel",
        ),
    ],
)
def test_what_may_run(text: str):
    module_of(text)


def test_there_and_back_runs():
    """One of two sends before it receives."""
    text = conditional(recv(1) + send("r.v", 2), send("x", 1) + recv(2))
    x = np.ones(2, np.float32)
    module = module_of(text)
    found = run_programs([[Program(module, [x])], [Program(module, [x])]])
    same(flatten_results(found[0] + found[1]), (x, x))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            (send("x", 3), send("x", 3, "again")),
            "xla.send: (C1) channel 3 has another xla.send at program.hlo:15:3",
        ),
        (
            (recv(3), recv(3, "again")),
            "xla.recv: (C1) channel 3 has another xla.recv at program.hlo:15:3",
        ),
    ],
)
def test_two_ends_of_a_kind(lines: tuple[str, ...], message: str):
    """docs/generated/ops.md#send-c1 and docs/generated/ops.md#recv-c1."""
    error = failure(program(*lines))
    assert error.message == message
    assert (error.line, error.source_line.split()[0]) == (15 + len(lines[0].splitlines()), "again")


def test_ends_of_different_types():
    """docs/generated/ops.md#recv-c4."""
    error = failure(
        program(recv(1), send("x", 1).replace("f32[2]", "f32[3]").replace("x,", "w,")).replace(
            "  t = ", "  w = f32[3] constant({1,2,3})\n  t = "
        )
    )
    assert error.message == (
        "xla.recv: (C4) receives f32[2] on channel 1, xla.send at program.hlo:19:3 sends f32[3]"
    )
    assert error.line == 16


def test_a_tuple_where_an_array_is_received():
    """docs/generated/ops.md#recv-c4, of data by its elements."""
    text = program(
        "  p = (f32[2], f32[2]) tuple(x, x)\n",
        recv(1),
        send("p", 1).replace("(f32[2],", "((f32[2], f32[2]),"),
    )
    assert failure(text).message == (
        "xla.recv: (C4) receives f32[2] on channel 1, "
        "xla.send at program.hlo:19:3 sends (f32[2], f32[2])"
    )


def test_layouts_are_no_difference():
    module_of(program(recv(1).replace("f32[2]", "f32[2]{0:T(8)}"), send("x", 1)))


def test_cyclic_channels():
    """Each waits for the other: the two computations are branches that two devices take."""
    text = conditional(recv(1) + send("r.v", 2), recv(2) + send("r.v", 1))
    error = failure(text)
    lines = text.splitlines()

    def place(instruction: str, channel: int) -> str:
        (line,) = (
            number
            for number, line in enumerate(lines, 1)
            if f" {instruction}(" in line and f"channel_id={channel}" in line
        )
        name = instruction.replace("-", "_")
        return f"xla.{name} at {FILE}:{line}:3 on channel {channel}"

    assert error.message == (
        "xla.recv_done: on channel 2 waits forever: it "
        f"waits for {place('send', 2)}, which comes after {place('recv-done', 1)}, which "
        f"waits for {place('send', 1)}, which comes after {place('recv-done', 2)}"
    )
    assert f"{FILE}:{error.line}:3 on" in place("recv-done", 2)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param((recv(1), send("r.v", 1)), id="sends what it receives"),
        pytest.param((send("x", 1), recv(1, token="s.d")), id="receives after it has sent"),
        pytest.param(
            (
                send("x", 1),
                "  u = token[] after-all(t, s.d)\n",
                "  z = f32[2] add-dependency(x, u)\n",
                send("z", 2, "s2"),
                recv(2, "r2"),
                "  v = token[] get-tuple-element(r2.d), index=1\n",
                recv(1, token="v"),
            ),
            id="through another channel",
        ),
    ],
)
def test_waiting_for_itself(lines: tuple[str, ...]):
    error = failure(program(*lines))
    assert "waits forever: it waits for xla." in error.message
    assert "on channel 1" in error.message


WAITING = f"waiting {{\n{HEAD}{recv(1)}  ROOT y = f32[2] copy(r.v)\n}}\n"
SENDING = f"sending {{\n{HEAD}{send('x', 1)}  ROOT y = f32[2] add-dependency(x, s.d)\n}}\n"


def test_a_cycle_through_functions():
    calls = (
        "  x = f32[2] parameter(0)\n  a = f32[2] call(x), to_apply=waiting\n"
        "  ROOT b = f32[2] call(a), to_apply=sending"
    )
    error = failure(hlo(calls, WAITING + SENDING))
    assert "waits forever" in error.message


def test_a_function_that_is_called_elsewhere_too():
    """The first call may be that of another device: nothing is certain."""
    text = hlo(
        "  x = f32[2] parameter(0)\n  c = f32[2] call(x), to_apply=sending\n"
        "  a = f32[2] call(x), to_apply=waiting\n  ROOT b = f32[2] call(a), to_apply=sending",
        WAITING + SENDING,
    )
    module_of(text)


def test_a_branch_that_may_not_be_taken_precedes_nothing():
    text = conditional(send("x", 1), "").replace(
        "  ROOT y = f32[2] conditional", "  w = f32[2] conditional"
    )
    end = text.rindex("\n}")
    text = (
        text[:end]
        + "\n  v = f32[] constant(0)\n  t = token[] after-all()\n"
        + '  k = f32[2] opt-barrier(w)\n  q = token[] custom-call(k), custom_call_target="f"\n'
        + recv(1, "got", "q")
        + "  ROOT last = f32[2] copy(got.v)"
        + text[end:]
    )
    module_of(text)


def test_in_a_loop_the_order_is_that_of_one_iteration():
    """Sends what the iteration before has received: nothing waits for itself."""
    loop = (
        "more {\n  i = (f32[2], pred[]) parameter(0)\n"
        "  ROOT p = pred[] get-tuple-element(i), index=1\n}\n"
        "again {\n  i = (f32[2], pred[]) parameter(0)\n  t = token[] after-all()\n"
        "  x = f32[2] get-tuple-element(i), index=0\n  p = pred[] get-tuple-element(i), index=1\n"
        + recv(1)
        + send("{}", 1)
        + "  ROOT j = (f32[2], pred[]) tuple(r.v, p)\n}\n"
    )
    lines = (
        "  i = (f32[2], pred[]) parameter(0)\n"
        "  ROOT w = (f32[2], pred[]) while(i), condition=more, body=again"
    )
    module_of(hlo(lines, loop.replace("{}", "x")))
    assert "waits forever" in failure(hlo(lines, loop.replace("{}", "r.v"))).message


def test_what_the_builder_makes():
    """Calls follow each other: a `recv` after the `send` of its channel would wait forever."""
    channel = ChannelHandle.new()
    b = XlaBuilder("late")
    b.send(b.parameter(0, "f32[2]"), channel)
    received = b.recv("f32[2]", channel)
    with pytest.raises(InvalidProgram, match=f"channel {channel.number} waits forever") as caught:
        b.build(received)
    assert caught.value.file == __file__


def test_what_is_rejected_waits_when_it_runs():
    """The verdicts are those of the reference, for programs without branches."""
    x = np.ones(2, np.float32)
    for text in (
        program(recv(1), send("r.v", 1)),
        program(send("x", 1), recv(1, token="s.d")),
    ):
        module = read_hlo(text, FILE)
        with pytest.raises(InvalidProgram):
            verify(module)
        with pytest.raises(Exception, match="the program waits forever: "):
            run(module, [x])
