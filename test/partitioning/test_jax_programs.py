"""What JAX says of shardings, partitioned: parts give what the whole program gives."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from jax_programs.sharded import PROGRAMS
from partitioned import Arrays, on_the_reference, partition_into, run_in_parts
from peers import DEVICES
from xdsl.dialects.builtin import ModuleOp

from lowerings.compilation import compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.partitioning.xla_report_communication import communication_of

pytestmark = pytest.mark.jax
SUMS_TOLERANCE = 1e-5
"""Sums over devices are rounded otherwise; errors are relative to the largest magnitude."""
EVEN = [name for name in PROGRAMS if "uneven" not in name]


def program_of(name: str) -> tuple[ModuleOp, Sequence[Any]]:
    """The program for all devices that JAX has here, without calls and tuples, and arguments."""
    program = PROGRAMS[name](DEVICES)
    module = parse_program(program.stablehlo())
    passes = parse_passes("xla-inline,xla-flatten-tuples")
    PassManager(make_context()).run(module, passes)
    return module, program.leaves()


def on_threads(module: ModuleOp, arguments: Sequence[Arrays]) -> Sequence[Arrays]:
    """Runs machine code, a thread for each device."""
    return compile_module(module).run_processes(arguments)


def jax_results(name: str) -> list[Any]:
    """What JAX computes on as many devices."""
    import jax  # noqa: PLC0415

    program = PROGRAMS[name](DEVICES)
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
    assert_close(on_devices, jax_results(name))


@pytest.mark.parametrize("name", EVEN)
def test_machine_code_on_threads(name: str) -> None:
    module, arguments = program_of(name)
    assert_close(run_in_parts(module, arguments, on_threads), run_in_parts(module, arguments))


@pytest.mark.parametrize(
    ("name", "goal"), [("mlp_step", 1.01), ("fsdp_step", 1.01), ("megatron", 1.1)]
)
def test_the_work_is_divided(name: str, goal: float) -> None:
    module, _ = program_of(name)
    local, _, _, _ = partition_into(module)
    whole = communication_of(module).flops
    assert communication_of(local).flops <= goal * whole / DEVICES


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
