"""Running a module at any point of a pipeline, on arrays of its first form."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from lowerings.bufferize.xla_plan_buffers import ARENA_ATTRIBUTE
from lowerings.driver.context import make_context
from lowerings.driver.entry import reached_from
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.execution.dynamic_sizes import in_sizes, static_signature, with_sizes
from lowerings.execution.function_signature import signature_of, with_memory_orders
from lowerings.execution.laid_out import Bring, LaidOutExecutable, to_logical_order, to_memory_order
from lowerings.execution.limited import Death, in_child
from lowerings.execution.loops_compiler import compile_loops_module
from lowerings.execution.observed_values import is_observing
from lowerings.execution.process_calls import run_on_reference
from lowerings.execution.program_shards import ProgramShards
from lowerings.execution.runnable import Runnable
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.interpreter import InterpretedProgram
from lowerings.interpreter.program import DIALECTS
from lowerings.interpreter.xla import XLA
from lowerings.ir.functions import functions_of
from lowerings.layouts.entry_layout import entry_type
from lowerings.layouts.memory_order import MemoryOrder
from lowerings.pipelines import NATIVE
from xla_dialect.devices.process_grid import Process, ProcessGrid
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.op import XlaOp
from xla_dialect.ops import asynchronous, collectives, operations_of, random, transfers
from xla_dialect.runtime.limits import TimeLimitReached
from xla_dialect.self_checking import RunParallelOp
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.types import flatten, is_array, sizes_of
from xla_dialect.xdsl.traversal import inventory, operations_in

Results = tuple[Array, ...]
Runner = Callable[[Sequence[Array]], Results]

ITERATION_LIMIT = 10_000
"""The limit of iterations of a loop, as random inputs may make loops infinite."""
TIME_LIMIT = 20.0
"""Seconds that a run may take."""

_WHAT_IS_LEFT = ",".join(NATIVE[-1].passes[1:])

_OF_THE_XLA_LEVEL = frozenset({"xla", "func", "builtin", "check", "interpreter"})

_NOT_REPEATABLE: dict[type[Operation], str] = {
    **dict.fromkeys(operations_of(collectives), "it talks to other processes"),
    **dict.fromkeys(operations_of(asynchronous), "it is not alone"),
    **dict.fromkeys(operations_of(transfers), "it talks to its host"),
    random.RngOp: "its numbers differ in every run",
    random.RngGetAndUpdateStateOp: "its numbers differ in every run",
    RunParallelOp: "it runs other programs",
}
"""The operations whose results or effects differ between two runs, with the reason."""


def obstacle(module: ModuleOp, entry: str | None = None) -> str | None:
    """
    Why runs of a module, or of one of its functions with those that it calls, cannot be compared
    before and after a pass; None if they can.
    """
    tops = [module] if entry is None else reached_from(module, entry)
    for op in (op for top in tops for op in operations_in(top)):
        reason = _NOT_REPEATABLE.get(type(op))
        if reason is None and is_observing(op):
            reason = "it prints or checks, which has an effect"
        if reason is not None:
            return f"{op.name}: {reason}"
    return None


def entries(module: ModuleOp) -> list[str]:
    """The names of the functions that are called from outside."""
    return [
        op.sym_name.data
        for op in module.ops
        if isinstance(op, FuncOp)
        and op.body.blocks
        and (op.sym_visibility is None or op.sym_visibility.data == "public")
    ]


def is_pure_xla(module: ModuleOp) -> bool:
    """Whether every operation is one that the reference evaluates."""
    found = inventory(module).operations
    # Operations of `xla` may be from other packages, in dialects of their own.
    others = [each for each in found if not issubclass(each, XlaOp)]
    dialects = {each.name.partition(".")[0] for each in others}
    return len(others) < len(found) and dialects <= _OF_THE_XLA_LEVEL


def signature_before(module: ModuleOp, entry: str) -> Signature:
    """What a function takes, with the layouts of its arrays; raises XlaError."""
    function = functions_of(module)[entry]
    if is_pure_xla(module):
        return signature_of(function, entry_type(module, function))
    return InterpretedProgram(module, entry, dialects=(*DIALECTS, XLA)).signature


@dataclass
class Execution:
    """Runs a function of a module, which must not change, on arrays of its original signature."""

    module: ModuleOp
    entry: str
    signature: Signature

    def __call__(self, arrays: Sequence[Array]) -> Results:
        """The results; raises XlaError where the program cannot be run, or goes wrong."""
        return self._results(self._runner, arrays)

    def of(self, module: ModuleOp) -> Execution:
        """What runs the same function of another module."""
        return Execution(module, self.entry, self.signature)

    def compiled(self) -> Runner:
        """
        The same as machine code that checks its accesses to memory; raises XlaError where the
        module is not at the loops level, or cannot be compiled.
        """
        module = self.module.clone()
        # What is left to do of the last level. Who calls this believes nothing that is unexpected.
        PassManager(make_context(), verify_each=False).run(module, parse_passes(_WHAT_IS_LEFT))
        program = compile_loops_module(
            module,
            self.static_signature.in_memory,
            self.entry,
            check_bounds=True,
            time_limit=TIME_LIMIT,
            num_threads=1,
        )
        return partial(self._results, self._laid_out(program))

    def _results(self, run: Callable[..., Results], arrays: Sequence[Array]) -> Results:
        passed, static = self._with_sizes(arrays), self.static_signature
        with np.errstate(all="ignore"):
            found = run(*passed)
        if static is self.signature or len(found) != len(static.results):
            return found
        has_status = len(found) > len(static_signature(self.signature, has_status=False).results)
        if has_status and found[-2]:
            raise XlaError(f"@{self.entry}: check {found[-2]} fails at run time, for {found[-1]}")
        return in_sizes(self.signature.results, found)

    @cached_property
    def static_signature(self) -> Signature:
        """The signature, with sizes beside arrays if dynamic dimensions have been expanded."""
        function = functions_of(self.module)[self.entry]
        type_ = function.function_type
        leaves = flatten([*type_.inputs, *type_.outputs])
        count = len(leaves) - (ARENA_ATTRIBUTE in function.attributes)
        if any(is_array(leaf) and is_dynamic(sizes_of(leaf)) for leaf in leaves):
            return self.signature
        found = [static_signature(self.signature, has_status=status) for status in (False, True)]
        return next(
            (each for each in found if len((*each.parameters, *each.results)) == count),
            self.signature,
        )

    def _with_sizes(self, arrays: Sequence[Array]) -> list[Array]:
        if self.static_signature is self.signature:
            return list(arrays)
        return with_sizes(self.signature.parameters, arrays)

    def own_arguments(self, arrays: Sequence[Array]) -> list[Array]:
        """The arguments in the form that the signature of this module has."""
        return self._own_arguments(self._with_sizes(arrays))

    def _own_arguments(self, arrays: Sequence[Array]) -> list[Array]:
        specs = self.static_signature.parameters
        if is_pure_xla(self.module):
            own = self._own_signature().parameters
            return [
                array if spec.shape == first.shape else _moved(array, to_memory_order(first))
                for array, first, spec in zip(arrays, specs, own, strict=True)
            ]
        return [_moved(array, to_memory_order(s)) for array, s in zip(arrays, specs, strict=True)]

    def _own_signature(self) -> Signature:
        return signature_of(functions_of(self.module)[self.entry])

    @cached_property
    def _runner(self) -> Callable[..., Results]:
        if is_pure_xla(self.module):
            return self._on_reference
        return self._laid_out(
            InterpretedProgram(
                self.module,
                self.entry,
                self.static_signature.in_memory,
                (*DIALECTS, XLA),
                iteration_limit=ITERATION_LIMIT,
                time_limit=TIME_LIMIT,
            )
        )

    def _laid_out(self, program: Runnable) -> Callable[..., Results]:
        signature = self.static_signature
        return (
            program if signature.in_memory is signature else LaidOutExecutable(program, signature)
        )

    def _on_reference(self, *arrays: Array) -> Results:
        """Runs the reference; once layouts are expanded, it takes tiled arrays in memory order."""
        if self._misplaced:
            raise XlaError(self._misplaced)
        found = run_on_reference(
            self.module,
            self._own_arguments(arrays),
            self.entry,
            iteration_limit=ITERATION_LIMIT,
            time_limit=TIME_LIMIT,
        )
        own, results = self._own_signature().results, self.static_signature.results
        if not len(found) == len(own) == len(results):
            return found
        return tuple(
            array
            if spec.shape == first.shape or array.shape != first.in_memory.shape
            else _moved(array, to_logical_order(first))
            for array, first, spec in zip(found, results, own, strict=True)
        )

    @cached_property
    def _misplaced(self) -> str:
        """
        Which array lies in memory otherwise than in the first form, which the reference would not
        see: its numbers have no places. Empty if there is none.
        """
        function = functions_of(self.module)[self.entry]
        own = signature_of(function, entry_type(self.module, function))
        own, first = with_memory_orders(own, function), self.static_signature
        for kind, here, there in (
            ("parameter", own.parameters, first.parameters),
            ("result", own.results, first.results),
        ):
            for number, (one, other) in enumerate(zip(here, there, strict=False)):
                if one.shape == other.shape and _places(one) != _places(other):
                    return f"@{self.entry}: {kind} {number} is {one}, was {other}"
        return ""


class ExecutionInParts(Execution):
    """The same with the program of one device, which runs on all."""

    def __init__(
        self,
        module: ModuleOp,
        entry: str,
        signature: Signature,
        shards: ProgramShards,
        local: Signature,
    ):
        """`signature`: that of the whole program; `local`: that of a device when it was made."""
        super().__init__(module, entry, signature)
        self.shards = shards
        self.local = Execution(module, entry, local)

    def __call__(self, arrays: Sequence[Array]) -> Results:
        """Cuts the arguments by their shardings, and joins the results."""
        grid = ProcessGrid(1, self.shards.device_count)

        def run_device(process: Process) -> Results:
            with process.running():
                return self.local(self.shards.cut(process.number, arrays))

        programs = {place: partial(run_device, Process(grid, place)) for place in grid.places}
        found = grid.run(programs)
        return self.shards.joined(found, [spec.shape for spec in self.signature.results])

    def of(self, module: ModuleOp) -> Execution:
        """What runs the same function of another program of one device."""
        return ExecutionInParts(
            module, self.entry, self.signature, self.shards, self.local.signature
        )

    def compiled(self) -> Runner:
        """Raises XlaError: the devices talk to each other."""
        raise XlaError(f"@{self.entry} is the program of one device")

    @cached_property
    def static_signature(self) -> Signature:
        """What the first device takes."""
        return self.local.static_signature

    def own_arguments(self, arrays: Sequence[Array]) -> list[Array]:
        """The arguments of the first device."""
        return self.local.own_arguments(self.shards.cut(0, arrays))


def _places(spec: ArraySpec) -> object:
    """What is the same for arrays of one shape whose elements lie in the same places of memory."""
    order = spec.order or MemoryOrder.default(len(spec.shape))
    if 0 in spec.shape:
        return None
    if order.tiles:
        return order
    return [step for step, n in zip(order.strides(spec.shape), spec.shape, strict=True) if n != 1]


def _moved(array: Array, bring: Bring | None) -> Array:
    return array if bring is None else bring(array)


Outcome: TypeAlias = "Results | XlaError"

LONG = 0.5
"""Seconds of processor time that interpreting one input may take before the others are compiled."""


def outcome_of(run: Callable[[Sequence[Array]], Results], arrays: Sequence[Array]) -> Outcome:
    """The results, or why there are none."""
    try:
        return run(arrays)
    except XlaError as error:
        return error


def outcomes(
    execution: Execution,
    inputs: Sequence[Sequence[Array]],
    agrees: Callable[[int, Outcome], bool],
) -> Iterator[Outcome]:
    """
    The outcome on each input. The first is interpreted, and so are all if that does not take long.

    Else the others are run as machine code that checks its accesses to memory, in a child: what
    does not agree there with what is expected is interpreted again, so all that a pass is blamed
    for is what the interpreter says. Where that does not end in time, what agrees is taken.
    """
    start = time.process_time()
    compiled: Sequence[Outcome | None] = [None] * len(inputs)
    for number, arrays in enumerate(inputs):
        found = compiled[number]
        if found is None or not agrees(number, found):
            found = outcome_of(execution, arrays)
        if not number and time.process_time() - start > LONG:
            compiled = _compiled(execution, inputs)
            first = compiled[0]
            if isinstance(found, TimeLimitReached) and first is not None and agrees(0, first):
                found = first
        yield found


def _compiled(execution: Execution, inputs: Sequence[Sequence[Array]]) -> Sequence[Outcome | None]:
    """What machine code computes; None where there is none, or it does not come to an end."""

    def results() -> list[Results | None]:
        run = execution.compiled()
        outcomes_ = [outcome_of(run, arrays) for arrays in inputs]
        return [None if isinstance(each, XlaError) else each for each in outcomes_]

    found: Any = in_child(results, TIME_LIMIT * len(inputs))
    return [None] * len(inputs) if isinstance(found, Death) else found
