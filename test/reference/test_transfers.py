"""Infeed, outfeed, transfers with the host, tokens and custom calls, on the reference."""

from typing import Any

import numpy as np
import pytest
from hlo_programs import hlo, module_of, on_grid
from small_programs import numbers, same

import lowerings
from xla_dialect.devices.process_grid import Host
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run

TOKEN = "  t = token[] after-all()\n"


def evaluated(text: str, *arguments: Any, **options: Any) -> tuple[np.ndarray, ...]:
    return flatten_results(run(module_of(text), arguments, **options))


def test_tokens():
    """AfterAll: no data, no effect beyond the order."""
    text = hlo(
        "  x = f32[2] parameter(0)\n  a = token[] after-all()\n  b = token[] after-all(a, a)\n"
        "  ROOT y = f32[2] add-dependency(x, b)"
    )
    same(evaluated(text, numbers("f32", [1, 2])), (numbers("f32", [1, 2]),))


INFEED = hlo(
    TOKEN + '  i = (f32[2], token[]) infeed(t), infeed_config="c"\n'
    "  t2 = token[] get-tuple-element(i), index=1\n"
    "  j = ((f32[], s32[1]), token[]) infeed(t2)\n"
    "  t3 = token[] get-tuple-element(j), index=1\n  k = ((), token[]) infeed(t3)\n"
    "  a = f32[2] get-tuple-element(i), index=0\n  b = (f32[], s32[1]) get-tuple-element(j), index=0\n"
    "  ROOT r = (f32[2], (f32[], s32[1])) tuple(a, b)"
)
ITEMS = [numbers("f32", [1, 2]), (numbers("f32", 3), numbers("s32", [4]))]


def test_infeed():
    """Infeed: items in order; an empty tuple reads nothing."""
    host = Host.of(ITEMS)
    same(evaluated(INFEED, host=host), (ITEMS[0], *ITEMS[1]))
    assert not host.infeed


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], r"xla.infeed: waits forever: the infeed has no item left"),
        (ITEMS[:1], r"program.hlo:16:3: error: xla.infeed: waits forever"),
        ([numbers("f32", [1])], r"the next item of the infeed: expected f32\[2\], found f32\[1\]"),
        ([ITEMS[0], ITEMS[0]], r"expected \(f32\[\], s32\[1\]\), found f32\[2\]"),
    ],
)
def test_infeed_without_the_right_items(items: Any, message: str):
    with pytest.raises(XlaError, match=message):
        evaluated(INFEED, host=Host.of(items))


def test_infeeds_in_loops():
    """Two loops, ordered because the second depends on the first."""
    loop = (
        "more {{\n  i = (s32[], f32[], token[]) parameter(0)\n"
        "  n = s32[] get-tuple-element(i), index=0\n  z = s32[] constant(0)\n"
        "  ROOT p = pred[] compare(n, z), direction=GT\n}}\n"
        "step {{\n  i = (s32[], f32[], token[]) parameter(0)\n"
        "  n = s32[] get-tuple-element(i), index=0\n  o = s32[] constant(1)\n"
        "  m = s32[] subtract(n, o)\n  x = f32[] get-tuple-element(i), index=1\n"
        "  t = token[] get-tuple-element(i), index=2\n  f = (f32[], token[]) infeed(t)\n"
        "  y = f32[] get-tuple-element(f), index=0\n  u = token[] get-tuple-element(f), index=1\n"
        "  h = f32[] add(x, x)\n  s = f32[] add(h, y)\n"
        "  ROOT j = (s32[], f32[], token[]) tuple(m, s, u)\n}}\n"
    ).format()
    text = hlo(
        TOKEN + "  n = s32[] constant(2)\n  x = f32[] constant(0)\n"
        "  init = (s32[], f32[], token[]) tuple(n, x, t)\n"
        "  first = (s32[], f32[], token[]) while(init), condition=more, body=step\n"
        "  y = f32[] get-tuple-element(first), index=1\n"
        "  u = token[] get-tuple-element(first), index=2\n"
        "  again = (s32[], f32[], token[]) tuple(n, y, u)\n"
        "  second = (s32[], f32[], token[]) while(again), condition=more, body=step\n"
        "  ROOT r = f32[] get-tuple-element(second), index=1",
        loop,
    )
    host = Host.of([numbers("f32", n) for n in (1, 2, 3, 4)])
    same(evaluated(text, host=host), (numbers("f32", 8 * 1 + 4 * 2 + 2 * 3 + 4),))


def test_outfeed():
    text = hlo(
        TOKEN + "  x = f32[2] parameter(0)\n"
        '  a = token[] outfeed(x, t), outfeed_shape=f32[2]{0}, outfeed_config="c"\n'
        "  p = (f32[2], f32[2]) tuple(x, x)\n"
        "  ROOT b = token[] outfeed(p, a), outfeed_shape=(f32[2], f32[2])"
    )
    host = Host()
    x = numbers("f32", [1, 2])
    assert run(module_of(text), [x], host=host) == (None,)
    same(tuple(host.outfeed), (x, (x, x)))


@pytest.mark.parametrize("backend", ["reference", "llvm", "interpreter"])
def test_what_the_host_has_sent_and_got_is_its_own(backend: str):
    """The host may write to what it has sent and received, and the caller to the arguments."""
    text = hlo(
        TOKEN + "  x = f32[2] parameter(0)\n  i = (f32[2], token[]) infeed(t)\n"
        "  y = f32[2] get-tuple-element(i), index=0\n  u = token[] get-tuple-element(i), index=1\n"
        "  v = token[] outfeed(x, u)\n"
        "  s = (f32[2], u32[], token[]) send(x, v), channel_id=1, is_host_transfer=true\n"
        "  w = token[] send-done(s), channel_id=1, is_host_transfer=true\n"
        "  r = (f32[2], u32[], token[]) recv(w), channel_id=2, is_host_transfer=true\n"
        "  d = (f32[2], token[]) recv-done(r), channel_id=2, is_host_transfer=true\n"
        "  z = f32[2] get-tuple-element(d), index=0\n"
        "  ROOT all = (f32[2], f32[2], f32[2]) tuple(x, y, z)"
    )
    x, y, z = (numbers("f32", pair) for pair in ([1, 2], [3, 4], [5, 6]))
    host = Host.of([y], {2: [z]})
    program = lowerings.compile(text, backend=backend)
    (results,) = program.run_processes([[x]], hosts=[host])
    for sent in (x, y, z):
        sent[...] = 0
    same(tuple(host.outfeed), (numbers("f32", [1, 2]),))
    same(tuple(host.received[1]), (numbers("f32", [1, 2]),))
    for got in (host.outfeed[0], host.received[1][0]):
        got[...] = 0
    same(results, tuple(numbers("f32", pair) for pair in ([1, 2], [3, 4], [5, 6])))


def test_every_process_has_its_host():
    text = hlo(
        TOKEN + "  i = (f32[], token[]) infeed(t)\n  x = f32[] get-tuple-element(i), index=0\n"
        "  s = f32[] all-reduce(x), to_apply=add\n  ROOT o = token[] outfeed(s, t)"
    )
    hosts = [Host.of([numbers("f32", n)]) for n in (1, 2)]
    on_grid(text, [[], []], 2, hosts=hosts)
    same(tuple(host.outfeed[0] for host in hosts), (numbers("f32", 3),) * 2)


HOST = "is_host_transfer=true"


def test_transfers_with_the_host():
    text = hlo(
        TOKEN + f"  r = (f32[2], u32[], token[]) recv(t), channel_id=1, {HOST}\n"
        f"  d = (f32[2], token[]) recv-done(r), channel_id=1, {HOST}\n"
        "  x = f32[2] get-tuple-element(d), index=0\n"
        f"  s = (f32[2], u32[], token[]) send(x, t), channel_id=2, {HOST}\n"
        f"  e = token[] send-done(s), channel_id=2, {HOST}\n"
        "  ROOT y = f32[2] add-dependency(x, e)"
    )
    x = numbers("f32", [1, 2])
    host = Host.of(sent={1: [x]})
    same(evaluated(text, host=host), (x,))
    assert list(host.received) == [2]
    same(host.received[2][0], x)
    with pytest.raises(XlaError, match="waits forever: the host's channel 1 has no item left"):
        run(module_of(text), host=Host())


OF_SEVERAL = hlo(
    "  x = f32[2] parameter(0)\n  n = s32[] parameter(1)\n"
    + TOKEN
    + f"  p = (f32[2], s32[]) tuple(x, n)\n"
    f"  s = ((f32[2], s32[]), u32[], token[]) send(p, t), channel_id=1, {HOST}\n"
    f"  s.d = token[] send-done(s), channel_id=1, {HOST}\n  nothing = () tuple()\n"
    f"  e = ((), u32[], token[]) send(nothing, s.d), channel_id=2, {HOST}\n"
    f"  e.d = token[] send-done(e), channel_id=2, {HOST}\n"
    f"  r = ((f32[2], s32[]), u32[], token[]) recv(e.d), channel_id=3, {HOST}\n"
    f"  r.d = ((f32[2], s32[]), token[]) recv-done(r), channel_id=3, {HOST}\n"
    "  q = (f32[2], s32[]) get-tuple-element(r.d), index=0\n"
    "  u = token[] get-tuple-element(r.d), index=1\n"
    f"  w = ((), u32[], token[]) recv(u), channel_id=4, {HOST}\n"
    f"  w.d = ((), token[]) recv-done(w), channel_id=4, {HOST}\n"
    "  v = token[] get-tuple-element(w.d), index=1\n"
    "  y = f32[2] get-tuple-element(q), index=0\n  m = s32[] get-tuple-element(q), index=1\n"
    "  z = f32[2] add-dependency(y, v)\n  ROOT a = (f32[2], s32[]) tuple(z, m)"
)


def test_tuples_and_nothing_to_the_host_and_back():
    sent = numbers("f32", [1, 2]), numbers("s32", 3)
    got = numbers("f32", [4, -0.0]), numbers("s32", 5)
    host = Host.of(sent={3: [got], 4: [()]})
    (found,) = on_grid(OF_SEVERAL, [sent], hosts=[host])
    same(found, got)
    same(host.received[1][0], sent)
    assert host.received[2] == [()]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ({3: [numbers("f32", [4, 5])]}, r"channel 3: expected \(f32\[2\], s32\[\]\), found f32"),
        ({3: [(numbers("f32", [4, 5]), numbers("s32", 1))]}, r"the host's channel 4 has no item"),
        (
            {3: [(numbers("f32", [4, 5]), numbers("s32", 1))], 4: [numbers("s32", 1)]},
            r"channel 4: expected \(\), found s32",
        ),
    ],
)
def test_items_of_the_host_that_do_not_fit(items: Any, message: str):
    arguments = [[numbers("f32", [1, 2]), numbers("s32", 3)]]
    with pytest.raises(XlaError, match=message):
        on_grid(OF_SEVERAL, arguments, hosts=[Host.of(sent=items)])


@pytest.mark.parametrize("data", ["()", "(bf16[1], bf16[1])"])
def test_tuples_between_pairs(data: str):
    """Who is no target gets zeros, and waits for nobody."""
    more = f", channel_id=1, frontend_attributes={{{NAME}={{{{0,1}}}}}}"
    parts = ", ".join("x" for _ in range(data.count("bf16")))
    text = hlo(
        f"  x = bf16[1] parameter(0)\n{TOKEN}  p = {data} tuple({parts})\n"
        f"  r = ({data}, u32[], token[]) recv(t){more}\n"
        f"  s = ({data}, u32[], token[]) send(p, t){more}\n  u = token[] send-done(s){more}\n"
        f"  d = ({data}, token[]) recv-done(r){more}\n"
        f"  ROOT y = {data} get-tuple-element(d), index=0"
    )
    x = [numbers("bf16", [i]) for i in (1, 2)]
    first, second = on_grid(text, [[value] for value in x], 1, 2)
    count = data.count("bf16")
    same(first, (numbers("bf16", [0]),) * count)
    same(second, (x[0],) * count)


def through_pairs(text: str, channel: str = ", channel_id=1") -> str:
    more = f"{channel}, frontend_attributes={{{text}}}"
    return hlo(
        f"  x = bf16[1] parameter(0)\n{TOKEN}"
        f"  r = (bf16[1], u32[], token[]) recv(t){more}\n"
        f"  s = (bf16[1], u32[], token[]) send(x, t){more}\n  u = token[] send-done(s){more}\n"
        f"  d = (bf16[1], token[]) recv-done(r){more}\n"
        "  ROOT y = bf16[1] get-tuple-element(d), index=0"
    )


NAME = "_xla_send_recv_source_target_pairs"


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        (f"{NAME}={{{{0,1}},{{1,2}},{{2,0}}}}", (2, 0, 1)),
        (f'a="b",{NAME}="{{{{0,2}}, {{1,1}}}}"', (None, 1, 0)),
        (f'{NAME}={{{{2,0}}}},a="}}"', (2, None, None)),
        (f"{NAME}={{}}", (None, None, None)),
    ],
)
@pytest.mark.parametrize("has_channel", [True, False])
def test_transfers_between_pairs(text: str, sources: tuple[int | None, ...], has_channel: bool):
    """Ids count partitions with a channel, replicas without; who has no source gets zeros."""
    x = [numbers("bf16", [i]) for i in range(1, 7)]
    program = through_pairs(text, ", channel_id=1" if has_channel else "")
    replicas, partitions = (2, 3) if has_channel else (3, 2)
    found = on_grid(program, [[value] for value in x], replicas, partitions)
    for number, result in enumerate(found):
        replica, partition = divmod(number, partitions)
        source = sources[partition if has_channel else replica]
        if source is None:
            same(result, (numbers("bf16", [0]),))
        else:
            same(result, (x[3 * replica + source if has_channel else 2 * source + partition],))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{0,1},{0,0}}", r"repeat a source"),
        ("{{0,1},{1,1}}", r"repeat a target"),
        ("{{0,2}}", r"id 2 .* runs on 2 partitions"),
        ("{{0,1,2}}", r"source-target pairs: expected pairs"),
        ("{0,1}", r"source-target pairs: expected"),
        ('"none"', r"source-target pairs: expected"),
    ],
)
def test_pairs_that_cannot_be(text: str, message: str):
    x = numbers("bf16", [1])
    with pytest.raises(
        XlaError, match=rf"program.hlo:\d+:\d+: error: .*xla.(send|recv): .*{message}"
    ):
        on_grid(through_pairs(f"{NAME}={text}"), [[x], [x]], 1, 2)


def test_the_context_of_a_send():
    """Send: the operand, the id of the request and a token."""
    text = hlo(
        "  x = f32[2] parameter(0)\n"
        + TOKEN
        + f"  s = (f32[2], u32[], token[]) send(x, t), {HOST}\n"
        f"  b = (f32[2], u32[], token[]) opt-barrier(s)\n"
        "  c = f32[2] get-tuple-element(b), index=0\n"
        f"  d = token[] send-done(b), {HOST}\n  ROOT y = f32[2] add-dependency(c, d)"
    )
    same(evaluated(text, numbers("f32", [1, 2])), (numbers("f32", [1, 2]),))


def custom(line: str) -> str:
    return hlo("  x = f32[2] parameter(0)\n  y = f32[2,3] parameter(1)\n" + line)


X, Y = numbers("f32", [1, 2]), numbers("f32", [[10, 20, 30], [40, 50, 60]])
MYFUNC = custom('  ROOT z = f32[3,3] custom-call(x, y), custom_call_target="myfunc"')


def myfunc(op: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    result = np.zeros((3, 3), np.float32)
    result[0, 0] = x[1] + y[1, 0]
    return result


def test_custom_call():
    """Worked example: docs/generated/worked_examples.md#custom_call."""
    (result,) = evaluated(MYFUNC, X, Y, custom_calls={"myfunc": myfunc})
    assert result[0, 0] == 42


def test_custom_call_of_unknown_target():
    with pytest.raises(XlaError) as caught:
        evaluated(MYFUNC, X, Y, custom_calls={"other": myfunc, "another": myfunc})
    assert "no function is registered for the target 'myfunc' (there are: another, other)" in str(
        caught.value
    )
    with pytest.raises(
        XlaError, match=r"target 'myfunc'\. XLA calls what its process has registered"
    ):
        evaluated(MYFUNC, X, Y)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.zeros((3, 3)), r"result 0 of 'myfunc': expected f32\[3,3\], found f64\[3,3\]"),
        (np.zeros(3, np.float32), r"expected f32\[3,3\], found f32\[3\]"),
        (None, r"expected f32\[3,3\], found a Python NoneType"),
        ((X,), r"expected f32\[3,3\], found a Python tuple of 1"),
    ],
)
def test_custom_call_with_a_wrong_result(result: Any, message: str):
    with pytest.raises(XlaError, match=message):
        evaluated(MYFUNC, X, Y, custom_calls={"myfunc": lambda *_: result})


def test_custom_call_sees_its_operation():
    """Attributes, and computations that it may not run but look at."""
    text = custom(
        '  ROOT z = (f32[2], f32[2,3]) custom-call(x, y), custom_call_target="f", '
        'called_computations={add}, backend_config="seven", api_version=API_VERSION_TYPED_FFI'
    )

    def function(op: Any, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert op.attributes["xla.backend_config"].data == '"seven"'
        assert len(op.called_computations) == 1
        assert op.api_version.data == "API_VERSION_TYPED_FFI"
        return x + 1, y * 2

    same(evaluated(text, X, Y, custom_calls={"f": function}), (X + 1, Y * 2))


def test_custom_call_without_results():
    text = custom('  z = () custom-call(x), custom_call_target="f"\n  ROOT r = f32[2] copy(x)')
    same(evaluated(text, X, Y, custom_calls={"f": lambda op, x: ()}), (X,))


def test_domain():
    text = custom(
        '  ROOT z = f32[2] domain(x), domain={kind="sharding", entry={maximal device=0}, '
        "exit={maximal device=1}}"
    )
    same(evaluated(text, X, Y), (X,))
