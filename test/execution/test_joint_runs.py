"""Participants that run together without Python: in turn, and on threads that are kept."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hlo_programs import hlo, module_of
from joint_runs import run_jointly
from small_programs import same

from lowerings.compilation import Options, compile_module
from lowerings.execution.executable import Executable
from xla_dialect.diagnostics import XlaError

PARTITIONS = 4
SUMS = (
    "  x = f32[50] parameter(0)\n"
    "  y = f32[50] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}},\n"
    "    use_global_device_ids=true, to_apply=add\n"
    "  z = f32[50] multiply(x, y)\n"
    "  ROOT r = f32[50] all-reduce(z), channel_id=1, replica_groups={{2,0},{3,1}},\n"
    "    use_global_device_ids=true, to_apply=subtract"
)
ONLY_THE_FIRST = """\
sums {
  x = f32[50] parameter(0)
  ROOT y = f32[50] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}},
    use_global_device_ids=true, to_apply=add
}
nothing {
  ROOT x = f32[50] parameter(0)
}
"""
STUCK = (
    "  x = f32[50] parameter(0)\n  me = u32[] partition-id()\n  zero = u32[] constant(0)\n"
    "  is_first = pred[] compare(me, zero), direction=EQ\n"
    "  ROOT r = f32[50] conditional(is_first, x, x), true_computation=sums,\n"
    "    false_computation=nothing"
)


def compiled(lines: str, computations: str = "") -> Executable:
    module = module_of(hlo(lines, computations, f", num_partitions={PARTITIONS}"))
    # What checks accesses is run by a grid, whose failures end the others at once.
    program = compile_module(module, Options(partitions=PARTITIONS, check_bounds=False))
    assert isinstance(program, Executable)
    assert program.can_run_jointly
    return program


def given(seed: int = 0) -> list[list[np.ndarray]]:
    random = np.random.default_rng(seed)
    return [[random.standard_normal(50).astype(np.float32)] for _ in range(PARTITIONS)]


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


both_ways = pytest.mark.parametrize("in_turn", [True, False], ids=["in turn", "on threads"])


def test_in_turn_no_thread_is_started():
    program, before = compiled(SUMS), threads()
    assert run_jointly(program, given(), True) is not None
    assert threads() == before


def test_threads_are_kept():
    first, second = compiled(SUMS), compiled(SUMS)
    run_jointly(first, given(), False)
    before = threads()
    for program in (first, second) * 5:
        run_jointly(program, given(), False)
    # One that is not back yet from the run before has another one run in its place.
    assert before <= threads() < before + len(given())


@both_ways
def test_calls_at_the_same_time(in_turn: bool):
    program = compiled(SUMS)
    expected = [program.run_processes(given(seed)) for seed in range(4)]
    found: dict[int, list[list[tuple[np.ndarray, ...]] | None]] = {}

    def call(seed: int) -> None:
        found[seed] = [run_jointly(program, given(seed), in_turn) for _ in range(50)]

    callers = [threading.Thread(target=call, args=(seed,)) for seed in range(4)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    for seed, results in found.items():
        for each in results:
            same(tuple(each or ()), tuple(expected[seed]))


@both_ways
def test_who_waits_for_ever_is_told(in_turn: bool):
    program = compiled(STUCK, ONLY_THE_FIRST)
    for _ in range(2):
        assert run_jointly(program, given(), in_turn) is None
    with pytest.raises(XlaError, match=r"waits for partition 1 \(which has ended\)"):
        program.run_processes(given())


def test_processes_with_idle_threads(tmp_path: Path):
    """Children of `fork` start threads of their own; idle ones do not keep a process."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\n"
        f"sys.path[:0] = {sys.path!r}\n"
        "from test_joint_runs import SUMS, compiled, given, run_jointly\n"
        "program = compiled(SUMS)\n"
        "expected = run_jointly(program, given(), False)\n"
        "child = os.fork()\n"
        "found = run_jointly(program, given(), False)\n"
        "assert all((a == b).all() for x, y in zip(expected, found) for a, b in zip(x, y))\n"
        "if child:\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "print('done')\n"
    )
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parent))
    found = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment, timeout=60
    )
    assert found.returncode == 0, found.stderr
    assert set(found.stdout.split()) == {"done"}


def test_parallel_loops_in_turn():
    """Stacks of processes are none of the runtime's."""
    program = compiled(
        "  x = f32[384,384] parameter(0)\n"
        "  d = f32[384,384] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  ROOT r = f32[384,384] all-reduce(d), channel_id=1, replica_groups={{0,1,2,3}},\n"
        "    use_global_device_ids=true, to_apply=add"
    )
    assert program.has_parallel_loops
    x = np.random.default_rng(0).standard_normal((PARTITIONS, 1, 384, 384)).astype(np.float32)
    expected = run_jointly(program, list(map(list, x)), False)
    for _ in range(3):
        found = run_jointly(program, list(map(list, x)), True)
        same(tuple(found or ()), tuple(expected or ()))
