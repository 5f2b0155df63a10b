"""How fast the compiler's own parts are: readers, printers, verifier, passes, the reference."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec
from rich.console import Console
from rich.table import Table
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

from ...measuring_times import Call, alternate
from ..programs import StoredProgram, stored_programs
from .transformer import LAYERS, SEQUENCE, VOCABULARY, WIDTH, transformer

# Its passes are reported.
LARGEST_PROGRAM = "transformer_block"
# A large model, or an HLO dump of one.
VERIFIED_OPERATIONS = 10_000
REPETITIONS = 7
# Of `chain_of_layers`, its computation included.
OPERATIONS_OF_A_LAYER = 12
# A large dump, and a large constant; 20,000 instructions a second and 2 seconds are asked for.
READ_INSTRUCTIONS = 20_000
CONSTANT_BYTES = 10_000_000
TEXT_OF_A_LAYER = (
    "%dot.{i} = {t} dot({t} %x.{x}, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
    "%tanh.{i} = {t} tanh(%dot.{i})",
    "%sum.{i} = f32[8]{{0}} reduce(%tanh.{i}, %z), dimensions={{1}}, to_apply=%add",
    "%sums.{i} = {t} broadcast(%sum.{i}), dimensions={{0}}",
    "%x.{i} = {t} subtract(%tanh.{i}, %sums.{i})",
)


def measure_toolkit(turns: int, console: Console) -> None:
    """Prints all figures."""
    programs = {program.name: program for program in stored_programs()}
    pass_throughput(programs[LARGEST_PROGRAM], console)
    verification_speed(console)
    stablehlo_reading_speed(console)
    reading_speed(console)
    printing_speed(console)
    reference_speed(turns, console)


def pass_throughput(program: StoredProgram, console: Console) -> None:
    """Prints what reading and each pass take on a program, and the operations they do a second."""
    table = Table(
        "step", "operations", "ms", "operations/s", title=f"the compiler on {program.name}"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    counts: list[int] = []

    def count(_: ModulePass, module: ModuleOp) -> None:
        counts.append(sum(1 for _ in module.walk()))

    start = time.perf_counter()
    module = load_program(program.hlo)
    rows = [("read and verify", time.perf_counter() - start)]
    # One more run than needed: passes load on first use.
    for _ in range(2):
        counts.clear()
        module = load_program(program.hlo)
        manager = PassManager(make_context(), verify_each=False, before=[count])
        manager.run(module, parse_passes(",".join(pass_specs(NATIVE))))
    rows += [(timing.name, timing.seconds) for timing in manager.timings]
    for (step, seconds), operations in zip(rows, [counts[0], *counts], strict=True):
        table.add_row(step, str(operations), f"{seconds * 1e3:.1f}", f"{operations / seconds:,.0f}")
    console.print(table)


def verification_speed(console: Console) -> None:
    """Prints how fast a module of at least `VERIFIED_OPERATIONS` operations is verified."""
    module = chain_of_layers(VERIFIED_OPERATIONS)
    operations = sum(1 for _ in module.walk())
    seconds = processor_seconds(lambda: verify(module))
    console.print(
        f"verification: {operations} operations in {seconds * 1e3:.0f} ms of processor time, "
        f"{operations / seconds:,.0f} operations/s"
    )


def stablehlo_reading_speed(console: Console) -> None:
    """Prints how fast StableHLO of at least `VERIFIED_OPERATIONS` operations is read."""
    text = stablehlo_of_layers(VERIFIED_OPERATIONS // OPERATIONS_OF_A_LAYER + 1)
    operations = sum(1 for _ in read_stablehlo(text).walk())
    seconds = processor_seconds(lambda: read_stablehlo(text))
    console.print(
        f"reading StableHLO: {operations} operations in {seconds * 1e3:.0f} ms of processor time, "
        f"{operations / seconds:,.0f} operations/s, verification included"
    )


STABLEHLO_LAYER = """\
    %w{i} = stablehlo.dot_general %x{i}, %weights, contracting_dims = [1] x [0] : ({x}, {w}) -> {x}
    %b{i} = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<16xf32>) -> {x}
    %s{i} = stablehlo.add %w{i}, %b{i} : {x}
    %y{i} = stablehlo.tanh %s{i} : {x}
    %z{i} = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r{i} = stablehlo.reduce(%y{i} init: %z{i}) applies stablehlo.add across dimensions = [1] {t}
    %c{i} = stablehlo.broadcast_in_dim %r{i}, dims = [0] : (tensor<8xf32>) -> {x}
    %d{i} = stablehlo.subtract %y{i}, %c{i} : {x}
    %t{i} = stablehlo.transpose %d{i}, dims = [1, 0] : ({x}) -> tensor<16x8xf32>
    %x{next} = stablehlo.reshape %t{i} : (tensor<16x8xf32>) -> {x}
"""


def stablehlo_of_layers(layers: int) -> str:
    """What `chain_of_layers` computes, as JAX would print it."""
    x, weights = "tensor<8x16xf32>", "tensor<16x16xf32>"
    types = f": ({x}, tensor<f32>) -> tensor<8xf32>"
    body = "".join(
        STABLEHLO_LAYER.format(i=i, next=i + 1, x=x, w=weights, t=types) for i in range(layers)
    )
    return (
        f"func.func public @main(%x0: {x}, %weights: {weights}, %bias: tensor<16xf32>) -> {x} {{\n"
        f"{body}    return %x{layers} : {x}\n}}\n"
    )


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


@dataclass(frozen=True)
class ReferenceRow:
    """What the reference computes, and what plain numpy does instead."""

    name: str
    build: Callable[..., XlaValue]
    plain: Callable[..., Any]
    sizes: tuple[tuple[int, ...], ...]


_MILLION, _SQUARE = (1 << 20,), (1 << 10, 1 << 10)
REFERENCE_ROWS = (
    ReferenceRow("add", XlaBuilder.add, np.add, (_MILLION, _MILLION)),
    ReferenceRow("maximum", XlaBuilder.max, np.maximum, (_MILLION, _MILLION)),
    ReferenceRow("exponential", XlaBuilder.exp, np.exp, (_MILLION,)),
    ReferenceRow("tanh", XlaBuilder.tanh, np.tanh, (_MILLION,)),
    ReferenceRow("sum of all", lambda b, x: b.reduce(x, 0.0, b.add, [0]), np.sum, (_MILLION,)),
    ReferenceRow(
        "sum of columns", lambda b, x: b.reduce(x, 0.0, b.add, [0]), lambda x: x.sum(0), (_SQUARE,)
    ),
    ReferenceRow(
        "sum of rows", lambda b, x: b.reduce(x, 0.0, b.add, [1]), lambda x: x.sum(1), (_SQUARE,)
    ),
    ReferenceRow("dot, vectors", XlaBuilder.dot, np.dot, (_MILLION, _MILLION)),
    ReferenceRow("dot, matrices", XlaBuilder.dot, np.dot, (_SQUARE, _SQUARE)),
    ReferenceRow(
        "gather of rows",
        lambda b, x: b.gather(x, b.iota("s32[1024]", 0), [1], [0], [1, 1024], [0], 1),
        lambda x: x[np.arange(1024)],
        (_SQUARE,),
    ),
)
"""Arrays of f32 with a million elements each."""


def reference_speed(turns: int, console: Console) -> None:
    """Prints what whole runs of the reference take beside plain numpy."""
    table = Table(
        title="the reference, 2^20 elements of f32",
        caption="ratio: reference / numpy, which reassociates, and has threads in a dot",
    )
    table.add_column("program", no_wrap=True)
    for column in ("ms", "numpy ms", "ratio"):
        table.add_column(column, justify="right", no_wrap=True)
    random = np.random.default_rng(0)
    for row in REFERENCE_ROWS:
        inputs = [random.standard_normal(sizes).astype(np.float32) for sizes in row.sizes]
        b = XlaBuilder("row")
        root = row.build(b, *(b.parameter(i, x) for i, x in enumerate(inputs)))
        calls = [partial(run, b.build(root), inputs), partial(row.plain, *inputs)]
        own, plain = alternate(calls, turns)
        ratio = statistics.median(a / b for a, b in zip(own, plain, strict=True))
        milliseconds = [f"{statistics.median(times) * 1e3:.3f}" for times in (own, plain)]
        table.add_row(row.name, *milliseconds, f"{ratio:.1f}")
    console.print(table)


def reading_speed(console: Console) -> None:
    """Prints how fast HLO text is read: many instructions, and one large constant."""
    text = layers_as_text(READ_INSTRUCTIONS)
    instructions = text.count(" = ")
    seconds = processor_seconds(lambda: read_hlo(text))
    console.print(
        f"reading: {instructions} instructions in {seconds * 1e3:.0f} ms of processor time, "
        f"{instructions / seconds:,.0f} instructions/s"
    )
    numbers = ",".join(f"{n * 0.37 % 1:.7f}" for n in range(CONSTANT_BYTES // 10))
    text = f"ROOT c = f32[{CONSTANT_BYTES // 10}] constant({{{numbers}}})"
    seconds = processor_seconds(lambda: read_hlo(text))
    console.print(f"reading: a constant of {len(text) / 1e6:.0f} MB of text in {seconds:.2f} s")


def printing_speed(console: Console) -> None:
    """Prints how fast programs are printed: as HLO text and StableHLO, and a large constant."""
    module = read_hlo(layers_as_text(READ_INSTRUCTIONS))
    instructions = print_hlo(module).count(" = ")
    seconds = processor_seconds(lambda: print_hlo(module))
    console.print(
        f"printing: {instructions} instructions in {seconds * 1e3:.0f} ms of processor time, "
        f"{instructions / seconds:,.0f} instructions/s"
    )
    seconds = processor_seconds(lambda: print_stablehlo(module))
    console.print(
        f"printing: {instructions} instructions as StableHLO in {seconds * 1e3:.0f} ms of "
        f"processor time, {instructions / seconds:,.0f} instructions/s"
    )
    b = XlaBuilder("constant")
    elements = np.random.default_rng(0).standard_normal(CONSTANT_BYTES // 4, np.float32)
    constant = b.build(b.constant(elements))
    seconds = processor_seconds(lambda: print_hlo(constant))
    console.print(
        f"printing: a constant of {CONSTANT_BYTES // 4} random elements of f32 in {seconds:.2f} s"
    )


def processor_seconds(action: Call) -> float:
    """The median of the processor's time: what other processes take does not count."""
    times: list[float] = []
    with collector_paused():
        for _ in range(REPETITIONS):
            start = time.process_time()
            action()
            times.append(time.process_time() - start)
    return statistics.median(times)


def layers_as_text(instructions: int) -> str:
    """HLO text of so many instructions, with layouts and metadata as in a dump."""
    sizes = "f32[8,16]{1,0}"
    lines = [f"  x.0 = {sizes} parameter(0)", "  w = f32[16,16]{1,0} parameter(1)"]
    for i in range(1, instructions // len(TEXT_OF_A_LAYER)):
        for number, operation in enumerate(TEXT_OF_A_LAYER):
            metadata = f'{{op_type="{number}" op_name="jit(f)/{i}/{number}" source_line={i % 500}}}'
            lines.append(f"  {operation.format(i=i, x=i - 1, t=sizes)}, metadata={metadata}")
    body = "\n".join(lines)
    add = "a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b)"
    return f"HloModule m\nadd {{ {add} }}\nENTRY e {{\n  z = f32[] constant(0)\n{body}\n}}\n"


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


def measure_partitioning(console: Console) -> None:
    """Prints the time of each pass, and the processor time of all of them."""
    text = training_step()
    reading = processor_seconds(lambda: read_stablehlo(text))
    passes = processor_seconds(lambda: partitioned(text)) - reading
    title = f"a training step of {LAYERS} layers, partitioned over 2 x 4 devices"
    table = Table("pass", "ms", title=title)
    table.columns[1].justify = "right"
    for timing in partitioned(text).timings:
        table.add_row(timing.name, f"{timing.seconds * 1e3:.0f}")
    console.print(table)
    console.print(f"partitioning: {passes:.2f} s of processor time, reading {reading:.2f} s")


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
