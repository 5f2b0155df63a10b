"""`run_parallel` in compiled programs: a call of what runs the programs that it names.

Each of those is compiled by itself, before the program that runs them is lowered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import TypeAlias

from xdsl.dialects.builtin import BoolAttr, StringAttr
from xdsl.dialects.func import FuncOp

from lowerings.execution.processes import Runnable, run_as
from xla_dialect.devices.process_grid import Host, Process, ProcessGrid
from xla_dialect.literals.arrays import Array
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.transfers import AfterAllOp
from xla_dialect.runtime.custom_calls import CustomCallFunction
from xla_dialect.self_checking.interpreter import RunParallelOp
from xla_dialect.types import TokenType
from xla_dialect.xdsl.traversal import operations_in

Compile: TypeAlias = Callable[[str, int, int], Runnable]
"""From the name of a function, and how many replicas and partitions run, to a program."""


def take_parallel_runs(
    functions: Iterable[FuncOp], compile_program: Compile
) -> dict[str, CustomCallFunction]:
    """
    Puts a custom call in the place of every `run_parallel`; gives the functions for their targets.

    Raises XlaError for programs that cannot be compiled.
    """
    found: dict[str, CustomCallFunction] = {}
    for op in [op for function in functions for op in operations_in(function)]:
        if isinstance(op, RunParallelOp):
            target = f"{op.name}.{len(found)}"
            found[target] = _function_of(op, compile_program)
            _replace(op, target)
    return found


def _replace(op: RunParallelOp, target: str) -> None:
    # Programs neither take nor give tokens once they are compiled; calls keep their order.
    token = AfterAllOp.make([], {})
    call = CustomCallOp.make(
        tuple(value for value in op.operands if not isinstance(value.type, TokenType)),
        {
            "custom_call_target": StringAttr(target),
            "custom_call_has_side_effect": BoolAttr.from_bool(True),
        },
        result_types=tuple(t for t in op.result_types if not isinstance(t, TokenType)),
    )
    token.location = call.location = op.location
    block = op.parent
    assert block is not None
    block.insert_ops_before([call, token], op)
    given = iter(call.results)
    for result in op.results:
        is_token = isinstance(result.type, TokenType)
        result.replace_all_uses_with(token.result if is_token else next(given))
    block.erase_op(op)


def _function_of(op: RunParallelOp, compile_program: Compile) -> CustomCallFunction:
    """What runs the programs; what their outfeeds write goes to the host of who runs them all."""
    rows = op.program_names
    replicas, partitions = len(rows), len(rows[0])
    names = [name for row in rows for name in row]
    programs = {name: compile_program(name, replicas, partitions) for name in dict.fromkeys(names)}
    feeds = [compile_program(name, 1, 1) for name in op.infeed_names]

    def run(_: CustomCallOp, *arrays: Array) -> object:
        infeed = deque[object](item for feed in feeds for item in feed.run_processes([()])[0])
        grid = ProcessGrid(replicas, partitions)
        hosts = [Host(infeed) for _ in names]  # the same queue for all
        given = iter(arrays)
        runs: dict[tuple[int, int], Callable[[], tuple[Array, ...]]] = {}
        for place, name, host in zip(grid.places, names, hosts, strict=True):
            program = programs[name]
            process = Process(grid, place, host, same_program=len(programs) == 1)
            own = list(islice(given, len(program.signature.parameters)))
            runs[place] = partial(run_as, process, program, own)
        results = tuple(value for values in grid.run(runs) for value in values)
        around = Process.current()
        if around is not None:
            for host in hosts:
                around.host.outfeed.extend(host.outfeed)
        return results[0] if len(results) == 1 else results

    return run
