"""What JAX says of shardings, partitioned: parts give what the whole program gives."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jax_programs.gpt import GPTS, Sizes
from jax_programs.sharded import PROGRAMS, ShardedProgram
from partitioned import Arrays, on_the_reference, partition_into, run_in_parts
from partitioned_outcomes import reports_of
from peers import DEVICES
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from lowerings.compilation import compile_module
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
EVEN = [name for name in PROGRAMS if "uneven" not in name]


def program_of(name: str) -> tuple[ModuleOp, Sequence[Any]]:
    """The program for all devices that JAX has here, without calls and tuples, and arguments."""
    return flat(PROGRAMS[name](DEVICES))


def flat(program: ShardedProgram) -> tuple[ModuleOp, Sequence[Any]]:
    """A program without calls and tuples, and its arguments."""
    module = parse_program(program.stablehlo())
    passes = parse_passes("xla-inline,xla-flatten-tuples")
    PassManager(make_context()).run(module, passes)
    return module, program.leaves()


def on_threads(module: ModuleOp, arguments: Sequence[Arrays]) -> Sequence[Arrays]:
    """Runs machine code, a thread for each device."""
    return compile_module(module).run_processes(arguments)


def jax_results(program: ShardedProgram) -> list[Any]:
    """What JAX computes on as many devices."""
    import jax  # noqa: PLC0415

    return [np.asarray(leaf) for leaf in jax.tree.leaves(program.jitted()(*program.arguments))]


def assert_close(mine: Sequence[Any], theirs: Sequence[Any]) -> None:
    """Nearly equal, by the largest magnitude of each array."""
    for found, expected in zip(mine, theirs, strict=True):
        scale = max(float(np.abs(expected).max()), 1e-3)
        np.testing.assert_allclose(found, expected, rtol=0, atol=scale * SUMS_TOLERANCE)


@pytest.mark.parametrize("name", PROGRAMS)
def test_parts_give_what_jax_gives(name: str) -> None:
    module, arguments = program_of(name)
    on_devices = run_in_parts(module, arguments, on_the_reference)
    assert_close(on_devices, jax_results(PROGRAMS[name](DEVICES)))


@pytest.mark.parametrize("name", EVEN)
def test_machine_code_on_threads(name: str) -> None:
    module, arguments = program_of(name)
    assert_close(run_in_parts(module, arguments, on_threads), run_in_parts(module, arguments))


@pytest.mark.parametrize(
    ("name", "goal"),
    [("mlp_step", 1.01), ("fsdp_step", 1.01), ("megatron", 1.1), ("noise", 1.01)],
)
def test_the_work_is_divided(name: str, goal: float) -> None:
    module, _ = program_of(name)
    local, _, _, _ = partition_into(module)
    whole = communication_of(module).flops
    assert communication_of(local).flops <= goal * whole / DEVICES


@pytest.mark.parametrize(
    "name", ["spatial_convolution uneven", "partly_manual by rows", "spatial_convolution"]
)
def test_a_device_computes_nothing_twice(name: str) -> None:
    module, _ = program_of(name)
    local, _, _, _ = partition_into(module)
    keys = StructuralKeys()
    known = defaultdict[Block | None, KnownOperations](lambda: KnownOperations(keys))
    pure = [op for op in operations_in(local) if is_pure(op)]
    assert [op for op in pure if known[op.parent].first_equal(op) is not op] == []


@pytest.mark.parametrize("name", EVEN)
def test_devices_send_no_more_than_after_xla(name: str) -> None:
    """By the same count of bytes, of what XLA's own partitioner makes of the program."""
    program = PROGRAMS[name](DEVICES)
    compiled = program.jitted().lower(*program.arguments).compile().as_text()
    theirs = parse_program(compiled, input_format="hlo")
    PassManager(make_context()).run(theirs, parse_passes("xla-flatten-tuples"))
    module, _ = program_of(name)
    mine, _, _, _ = partition_into(module)
    assert communication_of(mine).bytes <= communication_of(theirs).bytes + 0.5


SMALL = Sizes(layers=2, width=8, heads=4, hidden=16, words=24, length=8, sequences=2, experts=4)


@pytest.mark.parametrize(
    "name",
    [name if name in ("FSDP", "pipeline") else pytest.param(name, marks=LONG) for name in GPTS],
)
def test_parts_of_a_gpt_give_what_jax_gives(name: str) -> None:
    import jax  # noqa: PLC0415

    rng = np.random.default_rng(7)

    def filled(leaf: Any) -> Any:
        if leaf.dtype == np.int32:
            return rng.integers(0, SMALL.words, leaf.shape, np.int32)
        return rng.uniform(0.1, 0.9, leaf.shape).astype(leaf.dtype)

    shapes = GPTS[name](DEVICES, SMALL)
    program = replace(shapes, arguments=jax.tree.map(filled, shapes.arguments))
    module, arguments = flat(program)
    assert_close(run_in_parts(module, arguments, on_threads), jax_results(program))


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
