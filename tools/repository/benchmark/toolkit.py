"""How fast the compiler's own parts are: readers, printers, verifier, passes, the reference."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.driver.collector import collector_paused
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.pipelines import NATIVE, PARTITIONING, pass_specs
from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.reference import run
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import print_stablehlo
from xla_dialect.verification import verify

from ...measuring_times import Call, alternate, bind, processors
from ..programs import StoredProgram
from .report import ratios, table
from .transformer import LAYERS, SEQUENCE, VOCABULARY, WIDTH, transformer

LARGEST_PROGRAM = "transformer_block"
"""Its passes are reported."""
OPERATIONS = 20_000
"""Of a large model, or an HLO dump of one."""
REPETITIONS = 7
OPERATIONS_OF_A_LAYER = 12
"""Of `chain_of_layers`, its computation included."""
CONSTANT_BYTES = 10_000_000


def measure_toolkit(turns: int) -> None:
    """Prints all figures; binds this process to one processor."""
    if hasattr(os, "sched_setaffinity"):
        bind(processors()[:1])
    pass_throughput(StoredProgram(LARGEST_PROGRAM, ""))
    text_speeds()
    reference_speed(turns)


def pass_throughput(program: StoredProgram) -> None:
    """Prints what reading and each pass take on a program, and the operations they do a second."""
    counts: list[int] = []

    def count(_: ModulePass, module: ModuleOp) -> None:
        counts.append(sum(1 for _ in module.walk()))

    start = time.perf_counter()
    module = load_program(program.hlo)
    steps = [("read and verify", time.perf_counter() - start)]
    # One more run than needed: passes load on first use.
    for _ in range(2):
        counts.clear()
        module = load_program(program.hlo)
        manager = PassManager(make_context(), verify_each=False, before=[count])
        manager.run(module, parse_passes(",".join(pass_specs(NATIVE))))
    steps += [(timing.name, timing.seconds) for timing in manager.timings]
    rows = [
        [step, str(operations), f"{seconds * 1e3:.1f}", f"{operations / seconds:,.0f}"]
        for (step, seconds), operations in zip(steps, [counts[0], *counts], strict=True)
    ]
    header = [f"step of the compiler on {program.name}", "operations", "ms", "operations/s"]
    print(table(header, rows), end="\n\n")


def text_speeds() -> None:
    """Prints how fast a large program, and a large constant, are verified, read and printed."""
    module = chain_of_layers(OPERATIONS)
    count = sum(1 for _ in module.walk())
    hlo, stablehlo = print_hlo(module), print_stablehlo(module)
    b = XlaBuilder("constant")
    elements = np.random.default_rng(0).standard_normal(CONSTANT_BYTES // 4, np.float32)
    constant = b.build(b.constant(elements))
    numbers = print_hlo(constant)
    million = f"a constant of {elements.size} elements of f32"
    for what, units, action in (
        ("verification", count, lambda: verify(module)),
        ("reading HLO text", count, lambda: read_hlo(hlo)),
        ("reading StableHLO", count, lambda: read_stablehlo(stablehlo)),
        ("printing HLO text", count, lambda: print_hlo(module)),
        ("printing StableHLO", count, lambda: print_stablehlo(module)),
        (f"reading: {million}", elements.size, lambda: read_hlo(numbers)),
        (f"printing: {million}", elements.size, lambda: print_hlo(constant)),
    ):
        seconds = processor_seconds(action)
        print(f"{what}: {seconds * 1e3:.0f} ms of processor time, {units / seconds:,.0f} a second")


def chain_of_layers(operations: int) -> ModuleOp:
    """A program of at least so many operations: layers of a network, one after the other."""
    b = XlaBuilder("chain")
    x = b.parameter(0, "f32[8,16]", "x")
    weights = b.parameter(1, "f32[16,16]", "weights")
    bias = b.parameter(2, "f32[16]", "bias")
    for _ in range(operations // OPERATIONS_OF_A_LAYER + 1):
        y = b.tanh(b.add(b.dot(x, weights), bias, broadcast_dimensions=[1]))
        sums = b.reduce(y, 0.0, b.add, dimensions=[1])
        x = b.reshape(b.transpose(b.sub(y, sums, broadcast_dimensions=[0]), [1, 0]), [8, 16])
    return b.build(x)


_MILLION, _SQUARE = (1 << 20,), (1 << 10, 1 << 10)
REFERENCE_ROWS: Mapping[str, tuple[Callable[..., XlaValue], Callable[..., Any], Sequence[Any]]] = {
    "add": (XlaBuilder.add, np.add, (_MILLION, _MILLION)),
    "maximum": (XlaBuilder.max, np.maximum, (_MILLION, _MILLION)),
    "exponential": (XlaBuilder.exp, np.exp, (_MILLION,)),
    "tanh": (XlaBuilder.tanh, np.tanh, (_MILLION,)),
    "sum of all": (lambda b, x: b.reduce(x, 0.0, b.add, [0]), np.sum, (_MILLION,)),
    "sum of columns": (
        lambda b, x: b.reduce(x, 0.0, b.add, [0]),
        lambda x: x.sum(0),
        (_SQUARE,),
    ),
    "sum of rows": (lambda b, x: b.reduce(x, 0.0, b.add, [1]), lambda x: x.sum(1), (_SQUARE,)),
    "dot, vectors": (XlaBuilder.dot, np.dot, (_MILLION, _MILLION)),
    "dot, matrices": (XlaBuilder.dot, np.dot, (_SQUARE, _SQUARE)),
    "gather of rows": (
        lambda b, x: b.gather(x, b.iota("s32[1024]", 0), [1], [0], [1, 1024], [0], 1),
        lambda x: x[np.arange(1024)],
        (_SQUARE,),
    ),
}
"""What the reference computes, what plain numpy does instead, and the sizes of the operands:
arrays of f32 with a million elements each."""


def reference_speed(turns: int) -> None:
    """Prints what whole runs of the reference take beside numpy, which has threads in a dot."""
    times: dict[str, list[list[float]]] = {}
    random = np.random.default_rng(0)
    for name, (build, plain, operands) in REFERENCE_ROWS.items():
        inputs = [random.standard_normal(sizes).astype(np.float32) for sizes in operands]
        b = XlaBuilder("row")
        root = build(b, *(b.parameter(i, x) for i, x in enumerate(inputs)))
        calls = [partial(run, b.build(root), inputs), partial(plain, *inputs)]
        times[name] = alternate(calls, turns)
    print()
    print(ratios("the reference beside numpy, 2^20 elements of f32, ms", times, 1e3))


def processor_seconds(action: Call) -> float:
    """The median of the processor's time: what other processes take does not count."""
    times: list[float] = []
    with collector_paused():
        for _ in range(REPETITIONS):
            start = time.process_time()
            action()
            times.append(time.process_time() - start)
    return statistics.median(times)


BATCH = 8
MESH = AbstractMesh((2, 4), ("data", "model"))
LEARNING_RATE = 0.1
LAYER = (
    (WIDTH, 3 * WIDTH, None, "model"),
    (WIDTH, WIDTH, "model", None),
    (WIDTH, 4 * WIDTH, None, "model"),
    (4 * WIDTH, WIDTH, "model", None),
)
"""Sizes and axes of its matrices. Megatron's way: of a pair one by columns, one by rows."""


def measure_partitioning() -> None:
    """Prints the time of each pass, and the processor time of all of them."""
    text = training_step()
    reading = processor_seconds(lambda: read_stablehlo(text))
    passes = processor_seconds(lambda: partitioned(text)) - reading
    title = f"pass on a training step of {LAYERS} layers, partitioned over 2 x 4 devices"
    timings = partitioned(text).timings
    print(table([title, "ms"], ([each.name, f"{each.seconds * 1e3:.0f}"] for each in timings)))
    print(f"partitioning: {passes:.2f} s of processor time, reading {reading:.2f} s")


def partitioned(text: str) -> PassManager:
    """What has run the passes on a program in StableHLO."""
    module = read_stablehlo(text)
    manager = PassManager(make_context(), verify_each=False)
    manager.run(module, parse_passes(",".join(PARTITIONING)))
    return manager


def training_step() -> str:
    """A step of gradient descent: the batch is split by `data`, matrices by `model`."""
    rows = ((VOCABULARY, WIDTH, None, None), *LAYER * LAYERS)
    parameters = tuple(jax.ShapeDtypeStruct(row[:2], jnp.float32) for row in rows)
    tokens = jax.ShapeDtypeStruct((BATCH, SEQUENCE), jnp.int32)
    shardings = (_split("data", None), tuple(_split(*row[2:]) for row in rows))
    jitted = jax.jit(_step, in_shardings=shardings, out_shardings=shardings[1])
    return jitted.trace(tokens, parameters).lower(lowering_platforms=("cpu",)).as_text()


def _split(*axes: str | None) -> NamedSharding:
    return NamedSharding(MESH, PartitionSpec(*axes))


def _step(tokens: Any, parameters: Any) -> Any:
    gradients = jax.grad(_loss)(parameters, tokens)
    return jax.tree.map(lambda p, g: p - LEARNING_RATE * g, parameters, gradients)


def _loss(parameters: Any, tokens: Any) -> Any:
    logits = jax.vmap(lambda each: transformer(each, *parameters))(tokens)
    scores = jax.nn.log_softmax(logits[:, :-1])
    return -jnp.take_along_axis(scores, tokens[:, 1:, None], -1).mean()
