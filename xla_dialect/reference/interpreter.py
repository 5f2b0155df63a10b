"""Running modules of the `xla` dialect with numpy, by one process or by a grid of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Unpack, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    OpImpl,
    OpImplResult,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_callable,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from xla_dialect.analysis.mixed_precision import in_one_precision
from xla_dialect.devices.process_grid import Host, Pending, Process, ProcessGrid
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.extensions import REFERENCE, failures, loadable_extensions
from xla_dialect.literals.arrays import (
    MEMORY_LIMIT,
    Array,
    Value,
    check_memory,
    flatten_results,
)
from xla_dialect.ops.collectives import process_counts
from xla_dialect.reference.asynchronous import AsynchronousFunctions
from xla_dialect.reference.collectives import CollectiveFunctions
from xla_dialect.reference.contraction import ContractionFunctions
from xla_dialect.reference.control_flow import ControlFlowFunctions
from xla_dialect.reference.conversion import ConversionFunctions
from xla_dialect.reference.creation import CreationFunctions
from xla_dialect.reference.custom_calls import CustomCallFunctions
from xla_dialect.reference.data_movement import DataMovementFunctions
from xla_dialect.reference.dynamic_shapes import (
    DynamicShapeFunctions,
    Preparation,
    preparation,
)
from xla_dialect.reference.elementwise import ElementwiseFunctions
from xla_dialect.reference.gather_scatter import GatherScatterFunctions, OutOfBounds
from xla_dialect.reference.linear_algebra import LinearAlgebraFunctions
from xla_dialect.reference.normalization import NormalizationFunctions
from xla_dialect.reference.random import RandomFunctions
from xla_dialect.reference.reduction import ReductionFunctions
from xla_dialect.reference.sorting import SortingFunctions
from xla_dialect.reference.transfers import TransferFunctions
from xla_dialect.reference.tuples import TupleFunctions
from xla_dialect.runtime.limits import Deadline, TimeLimitReached
from xla_dialect.runtime.observation import Observer
from xla_dialect.runtime.runs import (
    COUNTED_BYTES,
    MemoryMeter,
    RunOptions,
    checked_arguments,
    entry_function,
)
from xla_dialect.runtime.self_checking import OBSERVATIONS
from xla_dialect.self_checking import RunParallelOp
from xla_dialect.violations import OperationError, located_error
from xla_dialect.xdsl.traversal import deep_recursion

# What the processes of a grid run, each a program of its own.


@dataclass
class Program:
    """The program, infeeds and outfeeds of one process."""

    module: ModuleOp
    arguments: Sequence[object] = ()
    entry: str = "main"
    host: Host = field(default_factory=Host)
    """What its infeeds read and its outfeeds write."""


@register_impls
@dataclass
class ParallelFunctions(InterpreterFunctions):
    """`run_parallel`, in programs with these options; `process` runs here."""

    options: RunOptions
    process: Process

    @impl(RunParallelOp)
    def run_parallel(
        self, running: Interpreter, op: RunParallelOp, args: PythonValues
    ) -> PythonValues:
        """
        The results of all programs; what infeeds read is computed first.

        What outfeeds write goes, program by program, to the host of the process that runs them.
        """
        functions = {f.sym_name.data: f for f in running.module.ops if isinstance(f, FuncOp)}
        infeed = deque[object](
            item
            for name in op.infeed_names
            for item in run(running.module, (), name, **self.options)
        )
        programs: list[list[Program]] = []
        given = iter(args)
        for row in op.program_names:
            programs.append([])
            for name in row:
                count = len(functions[name].function_type.inputs)
                host = Host(infeed)  # the same queue for all
                programs[-1].append(Program(running.module, list(islice(given, count)), name, host))
        results = run_programs(programs, **self.options)
        for program in chain.from_iterable(programs):
            self.process.host.outfeed.extend(program.host.outfeed)
        return tuple(chain.from_iterable(results))


def _implementation(op_type: type[Operation]) -> OpImpl[InterpreterFunctions, Operation]:
    observation = OBSERVATIONS[op_type]

    def run(
        functions: InterpreterFunctions, _: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        observer = cast(ObservationFunctions, functions).observer
        observation(op, [np.asarray(value) for value in args], observer)
        return args[: len(op.results)]

    return impl(op_type)(run)


@dataclass
class ObservationFunctions(InterpreterFunctions):
    """Checks, prints and probes, carried out when the interpreter reaches them."""

    observer: Observer


for _op_type in OBSERVATIONS:
    setattr(ObservationFunctions, _op_type.__name__, _implementation(_op_type))
register_impls(ObservationFunctions)


# Functions of the func dialect, for the reference.
#
# xDSL has them too, in a package that loads the interpreters of all its dialects with them: 0.3 s
# for every program that is started.


@register_impls
class FuncFunctions(InterpreterFunctions):
    """Calls, and what functions return; one without a body is looked for outside of the module."""

    @impl(CallOp)
    def run_call(self, interpreter: Interpreter, op: CallOp, args: PythonValues) -> PythonValues:
        """The results of the function with the name."""
        return interpreter.call_op(op.callee, args)

    @impl_callable(FuncOp)
    def call_function(
        self, interpreter: Interpreter, op: FuncOp, args: PythonValues
    ) -> PythonValues:
        """What the body returns."""
        if op.is_declaration:
            return interpreter.call_external(op.sym_name.data, op, args)
        return interpreter.run_ssacfg_region(op.body, args, op.sym_name.data)

    @impl_terminator(ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """Ends the function."""
        return ReturnedValues(args), ()


@dataclass
class ReferenceInterpreter(Interpreter):
    """
    xDSL's interpreter with errors that are meant for the user.

    xDSL 0.74.0 prints the whole module into every error, once per enclosing operation; here an
    error names the operation and its place. Array sizes are checked before anything is allocated.
    """

    memory_limit: int = MEMORY_LIMIT
    """Bytes of the largest array."""
    meter: MemoryMeter = field(default_factory=MemoryMeter)
    """The arrays of all operations that are still held."""
    deadline: Deadline | None = None
    """When the run has to end; None for no limit."""
    _large: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """The bytes of the results of operations whose results are counted."""
    _preparations: dict[Operation, Preparation | None] = field(
        default_factory=dict[Operation, "Preparation | None"]
    )
    """By operation the result of `preparation`, for operands with dynamic dimensions."""

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        try:
            if op not in self._preparations:
                size = sum(check_memory(each.type, self.memory_limit) for each in op.results)
                if size >= COUNTED_BYTES:
                    self._large[op] = size
                self._preparations[op] = preparation(op)
            if self.deadline is not None:
                self.deadline.check()
            size = self._large.get(op)
            if size is not None:
                self.meter.require(size)
            prepare = self._preparations[op]
            if prepare is not None:
                inputs = prepare(inputs)
            known = self._impls._impl_dict  # pyright: ignore[reportPrivateUsage]
            if type(op) not in known:
                raise XlaError(
                    f"the reference does not evaluate this operation{failures(REFERENCE)}"
                )
            functions, implementation = known[type(op)]
            for listener in self.listeners:
                listener.will_interpret_op(op, inputs)
            result = implementation(functions, self, op, inputs)
        except (LocatedError, OperationError, TimeLimitReached):
            raise
        except (XlaError, InterpretationError) as error:
            raise located_error(op, str(error)) from error
        except MemoryError as error:
            raise located_error(op, "there is not enough memory") from error
        if size is not None:
            for value in result.values:
                self.meter.keep(value)
        for listener in self.listeners:
            listener.did_interpret_op(op, result.values)
        return result


def register_reference(
    interpreter: Interpreter, process: Process | None = None, **options: Unpack[RunOptions]
) -> None:
    """
    Registers the functions of all operations of the dialect, of func, and of what installed
    packages add, with an interpreter.

    Values are arrays, numpy scalars and Python tuples of them. `process`: the one that runs, by
    default the only one there is.
    """
    process = Process() if process is None else process
    collectives = CollectiveFunctions(process)
    library = {
        target: function
        for known in options.get("libraries", ())
        for target, function in known(process).items()
    }
    for functions in (
        CreationFunctions(),
        ElementwiseFunctions(),
        ConversionFunctions(),
        DynamicShapeFunctions(),
        RandomFunctions(options.get("seed", 0) + process.number),
        DataMovementFunctions(),
        ReductionFunctions(),
        SortingFunctions(),
        ContractionFunctions(),
        GatherScatterFunctions(OutOfBounds(options.get("scatter_oob", OutOfBounds.WINDOW))),
        LinearAlgebraFunctions(),
        NormalizationFunctions(),
        ControlFlowFunctions(options.get("iteration_limit"), process),
        TupleFunctions(),
        collectives,
        AsynchronousFunctions(collectives),
        TransferFunctions(process),
        CustomCallFunctions(options.get("custom_calls", {}), library, process),
        ObservationFunctions(options.get("observer") or Observer()),
        ParallelFunctions(options, process),
        FuncFunctions(),
        *(functions() for functions in loadable_extensions(REFERENCE)),
    ):
        interpreter.register_implementations(functions)


def run(
    module: ModuleOp,
    arguments: Sequence[object] = (),
    entry: str = "main",
    *,
    host: Host | None = None,
    **options: Unpack[RunOptions],
) -> tuple[Value, ...]:
    """
    The results of a function of the module on the arguments, one value per result.

    Arguments: anything that is an array to numpy, of exactly the parameter's element type and
    sizes; a tuple for a parameter that is a tuple. Results are new C-contiguous arrays; a tuple is
    a Python tuple (`flatten_results` takes it apart). `host`: what infeeds read and outfeeds write.
    The program is the only process of its grid, see `run_replicated`.

    Raises XlaError for arguments that do not fit, exceeded limits, unknown functions, operations
    that the reference does not evaluate, and programs that wait forever.

    >>> import numpy
    >>> from xla_dialect.hlo_text import read_hlo
    >>> from xla_dialect.reference import run
    >>> module = read_hlo("ENTRY main { x = s32[2] parameter(0) ROOT y = s32[2] add(x, x) }")
    >>> run(module, [numpy.int32([1, 2])])
    (array([2, 4], dtype=int32),)
    """
    process = Process(host=Host() if host is None else host)
    return process.grid.run_alone(prepared(module, arguments, entry, process, **options))


def prepared(
    module: ModuleOp,
    arguments: Sequence[object],
    entry: str,
    process: Process,
    **options: Unpack[RunOptions],
) -> Callable[[], tuple[Value, ...]]:
    """
    A run of a function by one process, to be called in the thread of that process.

    The arguments are checked here; see `run`.
    """
    module = in_one_precision(module)
    function = entry_function(module, entry)
    if function.is_declaration or function.body.blocks[0].is_empty:
        raise XlaError(f"@{entry} is only declared")
    values = checked_arguments(function, arguments)
    memory_limit = options.get("memory_limit", MEMORY_LIMIT)
    time_limit = options.get("time_limit")
    interpreter = ReferenceInterpreter(module, memory_limit=memory_limit)
    if "memory_limit" in options:
        interpreter.meter.limit = memory_limit
    register_reference(interpreter, process, **options)

    @deep_recursion()
    def call() -> tuple[Value, ...]:
        interpreter.deadline = None if time_limit is None else Deadline(f"@{entry}", time_limit)
        try:
            results = interpreter.call_op(function, values)
        except RecursionError:
            raise XlaError(
                f"the calls and computations of @{entry} nest too deeply; is there a cycle?"
            ) from None
        return _owned(results, {id(array) for array in flatten_results(values)})

    return call


def _owned(values: Sequence[Value], foreign: set[int]) -> tuple[Value, ...]:
    """The values in arrays that share no memory; `foreign`: ids of the arrays of others."""
    return tuple(_owned_value(value, foreign) for value in values)


def _owned_value(value: Value, foreign: set[int]) -> Value:
    if isinstance(value, tuple):
        return _owned(value, foreign)
    if value is None:
        return value
    if isinstance(value, Pending):
        raise XlaError("the program returns what an asynchronous operation has not finished")
    array: Array = np.asarray(value)
    flags = array.flags
    if id(array) in foreign or not (flags.owndata and flags.writeable and flags.c_contiguous):
        array = np.array(array, order="C")
    foreign.add(id(array))
    return array


def run_replicated(
    module: ModuleOp,
    arguments: Sequence[Sequence[object]] | None = None,
    entry: str = "main",
    *,
    replicas: int = 1,
    partitions: int = 1,
    hosts: Sequence[Host] | None = None,
    **options: Unpack[RunOptions],
) -> list[tuple[Value, ...]]:
    """
    The results of a function on every process, all of which run the same module.

    `arguments`, `hosts` and the results have one entry per process: replica by replica, and inside
    a replica partition by partition. Arguments and results are those of `run`; without `arguments`
    there are none.

    Raises XlaError where any process does, which the error names; where the program waits forever,
    because processes execute a collective unequally often or channels form a cycle, the error says
    who waits for what. A module that says how many processes it is for is run by as many.
    """
    wanted = process_counts(module)
    if wanted not in ((1, 1), (replicas, partitions)):
        raise XlaError(
            f"the module is for {wanted[0]} replicas and {wanted[1]} partitions, "
            f"not for {replicas} and {partitions}"
        )
    count = replicas * partitions
    for name, found in (("arguments", arguments), ("hosts", hosts)):
        if found is not None and len(found) != count:
            raise XlaError(f"{name} for {len(found)} processes, there are {count}")
    programs = [
        Program(
            module,
            () if arguments is None else arguments[number],
            entry,
            Host() if hosts is None else hosts[number],
        )
        for number in range(count)
    ]
    rows = [programs[r * partitions : (r + 1) * partitions] for r in range(replicas)]
    return run_programs(rows, **options)


def run_programs(
    programs: Sequence[Sequence[Program]], **options: Unpack[RunOptions]
) -> list[tuple[Value, ...]]:
    """
    The results of processes that run programs of their own, replica by replica.

    `programs` has one row per replica and in each one program per partition. Collectives of
    different programs meet if they are of one kind and have one channel, or none.

    Raises XlaError where the rows differ in length, where any process does, and where the processes
    wait forever.
    """
    if len({len(row) for row in programs}) > 1:
        raise XlaError("replicas have different numbers of partitions")
    grid = ProcessGrid(len(programs), len(programs[0]) if programs else 0)
    in_row = list(chain.from_iterable(programs))
    same_program = len({(program.module, program.entry) for program in in_row}) == 1
    runs = {
        place: prepared(
            program.module,
            program.arguments,
            program.entry,
            Process(grid, place, program.host, same_program),
            **options,
        )
        for place, program in zip(grid.places, in_row, strict=True)
    }
    return grid.run(runs)
