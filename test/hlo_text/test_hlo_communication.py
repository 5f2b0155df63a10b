"""Collectives, transfers and asynchronous operations in HLO text."""

from typing import Any

import pytest
from hlo_programs import hlo, module_of
from peers import has_jax

from lowerings.driver.context import make_context
from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import read_hlo
from xla_dialect.mlir_text import read_mlir
from xla_dialect.verification import verify

if has_jax():
    from xla_cpu import hlo_module

WRAPPED = (
    "wrapped {\n  a = f32[2] parameter(0)\n  b = f32[2] add(a, a)\n  ROOT c = f32[2] negate(b)\n}\n"
)
X = "  x = f32[2] parameter(0)\n  t = token[] after-all()\n"

LINES = {
    "all-gather": "  ROOT r = f32[4] all-gather(x), channel_id=3, replica_groups={{0,1}}, "
    "constrain_layout=true, dimensions={0}, use_global_device_ids=true",
    "all-gather of two": "  ROOT r = (f32[4], f32[4]) all-gather(x, x), replica_groups={{0,1}}, "
    "dimensions={0}",
    "all-reduce": "  ROOT r = f32[2] all-reduce(x), replica_groups=[2,2]<=[2,2]T(1,0), to_apply=add",
    "all-reduce over a mesh": "  ROOT r = f32[2] all-reduce(x), "
    "replica_groups=mesh['a'=2,'b'=2] {'a'}, to_apply=add",
    "all-reduce over some devices": "  ROOT r = f32[2] all-reduce(x), "
    "replica_groups=mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'a'}, to_apply=add",
    "reduce-scatter": "  ROOT r = f32[1] reduce-scatter(x), replica_groups={{0,1}}, "
    "dimensions={0}, to_apply=add",
    "all-to-all": "  ROOT r = f32[2] all-to-all(x), replica_groups={{0,1}}, dimensions={0}",
    "all-to-all of a tuple": "  ROOT r = (f32[2], f32[2]) all-to-all(x, x), replica_groups={{0,1}}",
    "collective-permute": "  ROOT r = f32[2] collective-permute(x), channel_id=1, "
    "source_target_pairs={{0,1},{1,0}}",
    "collective-permute in place": "  n = s32[] constant(0)\n"
    "  ROOT r = f32[2] collective-permute(x, x, n, n), source_target_pairs={}, slice_sizes={{1}}",
    "collective-broadcast": "  ROOT r = f32[2] collective-broadcast(x), replica_groups={{1,0}}",
    "ragged-all-to-all": "  n = s32[2] constant({0, 1})\n  ROOT r = f32[2] "
    "ragged-all-to-all(x, x, n, n, n, n), replica_groups={{0,1}}",
    "ids": "  a = u32[] replica-id()\n  b = u32[] partition-id()\n"
    "  ROOT r = (u32[], u32[]) tuple(a, b)",
    "all-gather-start": "  s = (f32[2], f32[4]) all-gather-start(x), replica_groups={{0,1}}, "
    "dimensions={0}\n  ROOT r = f32[4] all-gather-done(s)",
    "all-gather-start of two": "  s = ((f32[2], f32[2]), (f32[4], f32[4])) "
    "all-gather-start(x, x), replica_groups={{0,1}}, dimensions={0}\n"
    "  ROOT r = (f32[4], f32[4]) all-gather-done(s)",
    "all-reduce-start": "  s = f32[2] all-reduce-start(x), replica_groups={}, to_apply=add\n"
    "  ROOT r = f32[2] all-reduce-done(s)",
    "all-reduce-start of two": "  s = (f32[2], f32[2]) all-reduce-start(x, x), "
    "replica_groups={}, to_apply=add\n  ROOT r = (f32[2], f32[2]) all-reduce-done(s)",
    "collective-permute-start": "  s = (f32[2], f32[2], u32[], u32[]) "
    "collective-permute-start(x), source_target_pairs={{0,1}}\n"
    "  ROOT r = f32[2] collective-permute-done(s)",
    "copy-start": "  s = (f32[2], f32[2], u32[]) copy-start(x), cross_program_prefetch_index=0\n"
    "  ROOT r = f32[2] copy-done(s)",
    "async": '  s = ((f32[2]), f32[2], s32[]) async-start(x), async_execution_thread="other", '
    "calls=wrapped\n  u = ((f32[2]), f32[2], s32[]) async-update(s)\n"
    "  ROOT r = f32[2] async-done(u)",
    "async of one operation": "  s = ((f32[2]), f32[2], s32[]) negate-start(x), "
    'async_execution_thread="other"\n  u = ((f32[2]), f32[2], s32[]) negate-update(s)\n'
    "  ROOT r = f32[2] negate-done(u)",
    "async with a computation": "  s = ((f32[2]), f32[1]) reduce-scatter-start(x), "
    "replica_groups={{0,1}}, dimensions={0}, to_apply=add\n  ROOT r = f32[1] reduce-scatter-done(s)",
    "send": "  s = (f32[2], u32[], token[]) send(x, t), channel_id=1, is_host_transfer=true\n"
    "  ROOT r = token[] send-done(s), channel_id=1, is_host_transfer=true",
    "recv": "  s = (f32[2], u32[], token[]) recv(t), channel_id=1\n"
    "  ROOT r = (f32[2], token[]) recv-done(s), channel_id=1",
    "send of a tuple": "  p = (f32[2], f32[2]) tuple(x, x)\n"
    "  s = ((f32[2], f32[2]), u32[], token[]) send(p, t), channel_id=1\n"
    "  ROOT r = token[] send-done(s), channel_id=1",
    "recv of nothing": "  s = ((), u32[], token[]) recv(t), channel_id=1\n"
    "  ROOT r = ((), token[]) recv-done(s), channel_id=1",
    "infeed": '  ROOT r = ((f32[2], s32[]), token[]) infeed(t), infeed_config="a\\"b"',
    "outfeed": '  ROOT r = token[] outfeed(x, t), outfeed_shape=f32[2]{0}, outfeed_config="s"',
    "outfeed of a tuple": "  p = (f32[2], f32[2]) tuple(x, x)\n"
    "  ROOT r = token[] outfeed(p, t), outfeed_shape=(f32[2]{0}, f32[2]{0})",
    "tokens": "  u = token[] after-all(t, t)\n  ROOT r = f32[2] add-dependency(x, u)",
    "domain": '  ROOT r = f32[2] domain(x), domain={kind="sharding", entry={maximal device=0}, '
    "exit={maximal device=1}}",
    "custom-call": '  ROOT r = f32[2] custom-call(x), custom_call_target="foo", '
    "operand_layout_constraints={f32[2]{0}}, custom_call_has_side_effect=true, "
    "api_version=API_VERSION_TYPED_FFI",
    "custom-call with a configuration": "  ROOT r = f32[2] custom-call(x), "
    'custom_call_target="foo", output_to_operand_aliasing={{}: (0, {})}, '
    "schedule=SCHEDULE_LATEST, to_apply=add, backend_config={a=1}",
    "rng": "  a = f32[] constant(0)\n  ROOT r = f32[8] rng(a, a), distribution=rng_uniform",
    "rng-bit-generator": "  s = u64[2] constant({1, 2})\n"
    "  ROOT r = (u64[2], u32[8]) rng-bit-generator(s), algorithm=rng_philox",
    "rng-get-and-update-state": "  ROOT r = u64[2] rng-get-and-update-state(), delta=4",
    "stochastic-convert": "  u = u32[2] constant({1, 2})\n  ROOT r = bf16[2] stochastic-convert(x, u)",
    "dynamic sizes": "  n = s32[] constant(1)\n"
    "  s = f32[<=2] set-dimension-size(x, n), dimensions={0}\n"
    "  d = f32[<=2,<=1] dynamic-reshape(s, n, n)\n"
    "  ROOT r = s32[] get-dimension-size(d), dimensions={0}",
}


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
def test_read_and_print(lines: str):
    """What is read verifies, and is the same when it is printed and parsed as MLIR."""
    text = str(module_of(hlo(X + lines, WRAPPED)))
    reparsed = read_mlir(text, make_context(), "printed.mlir")
    verify(reparsed)
    assert str(reparsed) == text


@pytest.mark.jax
@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
def test_what_xla_prints(lines: str):
    """XLA reads the same text, and its print of it is read to the same operations."""
    text = hlo(X + lines, WRAPPED)
    printed = hlo_module(text).to_string()
    theirs = read_hlo(printed, "printed.hlo")
    verify(theirs, {"printed.hlo": printed})
    assert operations(theirs) == operations(module_of(text))


def operations(module: Any) -> list[Any]:
    """Names, properties and result types of all operations that compute, in any order."""
    return sorted(
        (op.name, str(op.properties), str(op.result_types))
        for op in module.walk()
        if op.name.startswith("xla.")
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "  ROOT r = f32[2] all-reduce(x), replica_groups={{0,1},}, to_apply=add",
            "replica_groups: expected '{', found '}'",
        ),
        (
            "  ROOT r = f32[2] all-reduce(x), replica_groups={{0,2}}, to_apply=add",
            "xla.all_reduce: (RG1) replica groups {{0,2}}: 2 ids are not 0 to 1",
        ),
        (
            "  ROOT r = f32[2] all-reduce(x), replica_groups=mesh['a'=2], to_apply=add",
            "replica_groups: expected '{', found 'the end'",
        ),
        ("  ROOT r = f32[2] all-reduce(x)", "all-reduce needs the attribute 'to_apply'"),
        (
            "  ROOT r = f32[2] collective-permute(x), source_target_pairs={{0}}",
            "source_target_pairs: expected pairs, found '{{0}}'",
        ),
        ("  ROOT r = f32[2] collective-permute(x)", "needs the attribute 'source_target_pairs'"),
        (
            "  ROOT r = f32[2] custom-call(x), custom_call_target=foo",
            "custom_call_target: expected a string in quotes, found 'foo'",
        ),
        ("  ROOT r = f32[2] custom-call(x)", "needs the attribute 'custom_call_target'"),
        (
            '  ROOT r = f32[2] custom-call(x), custom_call_target="f", to_apply=gone',
            "computation 'gone' is not defined",
        ),
        (
            "  ROOT r = token[] outfeed(x, t), outfeed_shape=f32[",
            "",
        ),
        (
            "  ROOT r = token[] outfeed(x, t), outfeed_shape=q32[2]",
            "outfeed_shape: unknown element type 'q32'",
        ),
        (
            "  ROOT r = token[] outfeed(x, t), outfeed_shape=f32[3]",
            "xla.outfeed: (C3) outfeed_shape is f32[3], the item (f32[2])",
        ),
        ("  ROOT r = f32[2] negate-done(x)", "xla.async_done: (C1) the operand is (f32[2]), no"),
        (
            "  ROOT r = f32[2] negate-start(x)",
            "negate-start needs its shape ((operands), result, ...) written",
        ),
        (
            "  ROOT r = negate-start(x)",
            "negate-start needs its shape ((operands), result, ...) written",
        ),
        (
            "  ROOT r = ((f32[2]), f32[3]) negate-start(x)",
            "xla.negate: (Result) declared (f32[3]), inferred (f32[2])",
        ),
        (
            "  ROOT r = ((f32[2], f32[2]), f32[2]) negate-start(x, x)",
            "negate takes 1 operand, found 2",
        ),
        ("  ROOT r = ((f32[2]), f32[2]) nagate-start(x)", "unknown opcode 'nagate-start'"),
        ("  ROOT r = f32[4] all-gather(x), dimensions={0,1}", "expected one dimension, found 2"),
    ],
)
def test_error(line: str, message: str):
    text = hlo(X + line)
    with pytest.raises(LocatedError) as caught:
        read_hlo(text, "f.hlo")
    assert message in caught.value.message
    assert caught.value.line >= 14


START = "  s = ((f32[2]), f32[2], s32[]) "
ASYNC = {
    "calls": f"{START}async-start(x), calls=wrapped\n  ROOT r = f32[2] async-done(s), calls=%wrapped",
    "thread": f'{START}async-start(x), calls=wrapped, async_execution_thread="t"\n'
    '  u = ((f32[2]), f32[2], s32[]) async-update(s), async_execution_thread="t"\n'
    '  ROOT r = f32[2] async-done(u), calls=wrapped, async_execution_thread="t"',
    "main thread": f"{START}async-start(x), calls=wrapped\n"
    '  ROOT r = f32[2] async-done(s), async_execution_thread="main"',
    "aliasing": f"{START}async-start(x), calls=wrapped, output_to_operand_aliasing={{{{}}: (0, {{}})}}\n"
    "  ROOT r = f32[2] async-done(s)",
    "a call": f"{START}call-start(x), to_apply=wrapped\n  ROOT r = f32[2] call-done(s)",
    "a fusion": f"{START}fusion-start(x), kind=kLoop, calls=wrapped\n  ROOT r = f32[2] fusion-done(s)",
    "a computation in place": f"{START}async-start(x), calls={WRAPPED[8:-1]}\n"
    "  ROOT r = f32[2] async-done(s)",
}


@pytest.mark.parametrize("lines", ASYNC.values(), ids=ASYNC)
def test_asynchronous(lines: str):
    module_of(hlo(X + lines, WRAPPED))


@pytest.mark.jax
@pytest.mark.parametrize("lines", ASYNC.values(), ids=ASYNC)
def test_asynchronous_in_xla(lines: str):
    hlo_module(hlo(X + lines, WRAPPED))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            f"{START}negate-start(x)\n  r = f32[2] @@abs-done(s)",
            "abs-done of an operand that runs neg",
        ),
        (
            f"{START}async-start(x), calls=wrapped\n  r = f32[2] async-done(s), @@calls=add",
            'async-done has calls=\'"add"\', its async-start "wrapped"',
        ),
        (
            f"{START}async-start(x), calls=wrapped\n"
            '  r = f32[2] async-done(s), @@async_execution_thread="t"',
            'async-done has async_execution_thread=\'"t"\', its async-start "main"',
        ),
    ],
)
def test_what_an_asynchronous_operation_repeats(lines: str, message: str):
    before, _, after = hlo(X + lines, WRAPPED).partition("@@")
    with pytest.raises(LocatedError) as caught:
        read_hlo(before + after)
    assert caught.value.message.startswith(message)
    assert caught.value.line == before.count("\n") + 1
    assert caught.value.column == len(before) - before.rfind("\n")


@pytest.mark.parametrize(
    ("head", "line", "message"),
    [
        (
            ", replica_count=4",
            "  ROOT r = f32[2] all-reduce(x), replica_groups={{0,1}}, to_apply=add",
            "xla.all_reduce: (RG1) 2 ids in replica groups {{0,1}}, there are 4 replicas",
        ),
        (
            ", num_partitions=3",
            "  ROOT r = f32[2] all-to-all(x), replica_groups={{0,1}}, dimensions={0}, channel_id=1",
            "xla.all_to_all: (RG1) 2 ids in replica groups {{0,1}}, there are 3 partitions",
        ),
        (
            ", replica_count=3",
            "  ROOT r = f32[2] all-to-all(x), replica_groups={}, dimensions={0}",
            "xla.all_to_all: (C3) size 2 for 3 blocks",
        ),
        (
            ", replica_count=3",
            "  ROOT r = (f32[2], f32[2]) all-to-all(x, x), replica_groups={}",
            "xla.all_to_all: (C4) 2 operands for 3 replicas",
        ),
        (
            ", replica_count=2, num_partitions=2",
            "  ROOT r = f32[2] all-reduce(x), replica_groups={{0,1}}, to_apply=add, channel_id=1, "
            "use_global_device_ids=true",
            "xla.all_reduce: (RG1) 2 ids in replica groups {{0,1}}, there are 4 devices",
        ),
        (
            ", replica_count=2",
            "  ROOT r = f32[2] collective-permute(x), source_target_pairs={{0,2}}",
            "xla.collective_permute: (C2) pairs {{0,2}} name 2, there are 2 replicas",
        ),
        (
            ", replica_count=2",
            "  ROOT r = f32[2] collective-broadcast(x), replica_groups={{2}}",
            "xla.collective_broadcast: (C2) replica groups {{2}} name 2, there are 2 replicas",
        ),
    ],
)
def test_a_module_says_how_many_processes_there_are(head: str, line: str, message: str):
    """What a module that is for several processes is verified with."""
    x = X.replace("  t = token[] after-all()\n", "")
    with pytest.raises(LocatedError) as caught:
        module_of(hlo(x + line, head=head))
    assert caught.value.message == message
    module_of(hlo(x + line))


@pytest.mark.parametrize(
    "lines",
    [
        "  s = (f32[2], u32[], token[]) send(x, t)\n  ROOT y = f32[2] copy(x)",
        "  s = (f32[2], u32[], token[]) recv(t)\n  ROOT y = f32[2] copy(x)",
        "  s = (f32[2], u32[], token[]) recv(t), channel_id=1\n"
        "  ROOT y = (f32[2], token[]) recv-done(s), channel_id=2",
    ],
)
def test_a_context_without_its_done(lines: str):
    """docs/generated/ops.md#send-c2 and docs/generated/ops.md#recv-c2."""
    with pytest.raises(LocatedError, match=r"xla\.(send|recv): \(C2\)"):
        module_of(hlo(X + lines))
