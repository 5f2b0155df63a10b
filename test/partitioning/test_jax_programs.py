"""What JAX says of shardings, partitioned: parts give what the whole program gives."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jax_programs.gpt import GPTS, Sizes
from jax_programs.sharded import PROGRAMS
from partitioned import (
    Arrays,
    on_the_reference,
    partition_into,
    run_in_parts,
    run_partitioned,
)
from partitioned_outcomes import reports_of
from peers import DEVICES
from sweeps import each_or_full
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from lowerings.compilation import compile_module
from lowerings.driver import InputFormat
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.ir.equality import KnownOperations, StructuralKeys
from lowerings.partitioning.partition_warning import no_partition_warnings
from lowerings.partitioning.xla_report_communication import communication_of
from lowerings.simplify.purity import is_pure
from xla_dialect.xdsl.traversal import operations_in

pytestmark = pytest.mark.jax
LONG = pytest.mark.full
SUMS_TOLERANCE = 1e-5
"""Sums over devices are rounded otherwise; errors are relative to the largest magnitude."""


def flat(text: str, input_format: InputFormat | None = None) -> ModuleOp:
    """A program without calls and tuples."""
    module = parse_program(text, input_format=input_format)
    passes = parse_passes("xla-inline,xla-flatten-tuples")
    PassManager(make_context()).run(module, passes)
    return module


def on_threads(module: ModuleOp, arguments: Sequence[Arrays]) -> Sequence[Arrays]:
    """Runs machine code, a thread for each device."""
    return compile_module(module).run_processes(arguments)


def assert_close(mine: Sequence[Any], theirs: Sequence[Any]) -> None:
    """Nearly equal, by the largest magnitude of each array."""
    for found, expected in zip(mine, theirs, strict=True):
        scale = max(float(np.abs(expected).max()), 1e-3)
        np.testing.assert_allclose(found, expected, rtol=0, atol=scale * SUMS_TOLERANCE)


DIVIDED = {"mlp_step": 1.01, "fsdp_step": 1.01, "megatron": 1.1, "noise": 1.01}
"""How much more a device computes than its part of the whole, at most."""
ONCE = ("spatial_convolution uneven", "partly_manual by rows", "spatial_convolution")
"""Programs of which a device computes nothing twice."""
LARGE_UNEVEN = [f"{name} uneven" for name in ("megatron", "linear_recurrence", "fsdp_step", "lstm")]


@pytest.mark.parametrize(
    "name", each_or_full(PROGRAMS, [each for each in PROGRAMS if each not in LARGE_UNEVEN])
)
def test_a_program_in_parts(name: str) -> None:
    """
    Gives what JAX gives, on the reference and as machine code.

    Its devices send no more, by the same count of bytes, than what XLA's own partitioner makes.
    """
    import jax  # noqa: PLC0415

    program = PROGRAMS[name](DEVICES)
    lowered = program.jitted().lower(*program.arguments)
    compiled = lowered.compile()
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(compiled(*program.arguments))]
    module = flat(lowered.as_text())
    whole = communication_of(module)
    partitioned = partition_into(module)
    local = partitioned[0]
    cost = communication_of(local)
    if name in DIVIDED:
        assert cost.flops <= DIVIDED[name] * whole.flops / DEVICES
    if name in ONCE:
        keys = StructuralKeys()
        known = defaultdict[Block | None, KnownOperations](lambda: KnownOperations(keys))
        pure = [op for op in operations_in(local) if is_pure(op)]
        assert [op for op in pure if known[op.parent].first_equal(op) is not op] == []
    executors = [on_the_reference]
    if "uneven" not in name:
        theirs = communication_of(flat(compiled.as_text(), "hlo"))
        assert cost.bytes <= theirs.bytes + 0.5
        executors.append(on_threads)
    for execute in executors:
        assert_close(run_partitioned(module, partitioned, program.leaves(), execute), expected)


SMALL = Sizes(layers=2, width=8, heads=4, hidden=16, words=24, length=8, sequences=2, experts=4)


@pytest.mark.full
@pytest.mark.parametrize("name", GPTS)
def test_parts_of_a_gpt_give_what_jax_gives(name: str) -> None:
    import jax  # noqa: PLC0415

    rng = np.random.default_rng(7)

    def filled(leaf: Any) -> Any:
        if leaf.dtype == np.int32:
            return rng.integers(0, SMALL.words, leaf.shape, np.int32)
        return rng.uniform(0.1, 0.9, leaf.shape).astype(leaf.dtype)

    shapes = GPTS[name](DEVICES, SMALL)
    program = replace(shapes, arguments=jax.tree.map(filled, shapes.arguments))
    lowered = program.jitted().lower(*program.arguments)
    expected = jax.tree.leaves(lowered.compile()(*program.arguments))
    module = flat(lowered.as_text())
    assert_close(run_in_parts(module, program.leaves(), on_threads), expected)


@pytest.mark.parametrize(
    ("count", "names"),
    [(8, ("FSDP",)), *(pytest.param(n, (), marks=LONG) for n in (8, 64, 512))],
)
def test_devices_send_and_compute_no_more_of_a_gpt_than_after_xla(
    count: int, names: Sequence[str], tmp_path: Path
) -> None:
    with no_partition_warnings():
        found = reports_of(count, tmp_path, names)
    for mine, theirs in found.values():
        assert mine.bytes <= 1.1 * theirs.bytes
        assert mine.flops <= 1.05 * theirs.flops
