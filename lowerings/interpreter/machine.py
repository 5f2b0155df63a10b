"""
The interpreter itself: blocks become lists of steps, which run on the values of a call.

A step is one operation. The modules of this folder, named after the dialects, say for each
operation what its step does: `VALUES` for operations that see their operands only,
`STRUCTURED` for those that run regions or know the program around them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, ShapedType, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import GlobalOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.bufferize.liveness import WrittenArguments
from lowerings.execution.declared_functions import DeclaredFunction, run_program
from lowerings.interpreter.cf import TERMINATORS, successor
from lowerings.interpreter.elements import IterationLimitReached, element_of
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.element_types import require_rank
from xla_dialect.extensions import INTERPRETER, failures, loadable_extensions
from xla_dialect.literals.arrays import MEMORY_LIMIT, Array, MemoryLimitError
from xla_dialect.runtime.limits import Deadline, TimeLimitReached
from xla_dialect.runtime.runs import COUNTED_BYTES, MemoryMeter
from xla_dialect.violations import OperationError, located_error
from xla_dialect.xdsl.traversal import deep_recursion

Frame: TypeAlias = dict[int, Any]
"""The values of one call of a function, by `id`; of a body of linalg, the indices of its loops."""

Function: TypeAlias = Callable[..., Any]
"""From operands to the result; to a sequence of results if there are several, or none."""

FrameFunction: TypeAlias = Callable[..., Any]
"""The same, with the frame as its first argument."""

ValueMaker: TypeAlias = Callable[[Operation], Function]
StructuredMaker: TypeAlias = "Callable[[ModuleInterpreter, Operation], FrameFunction]"


def of_one(function: Callable[[Any], Any]) -> Function:
    """Types a function of one operand, such as a numpy function without annotations."""
    return function


def of_two(function: Callable[[Any, Any], Any]) -> Function:
    """As `of_one`, for a function of two operands, or of the frame and one operand."""
    return function


@dataclass(frozen=True)
class Dialect:
    """What the operations of a dialect do, by class."""

    values: Mapping[type[Operation], ValueMaker]
    structured: Mapping[type[Operation], StructuredMaker]
    terminators: frozenset[str] = frozenset()
    others: Callable[[Operation], StructuredMaker | None] = lambda op: None
    """How steps are made for operations that are in no table."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation, ready to be carried out."""

    function: Function
    takes_frame: bool
    operands: tuple[int, ...]
    results: tuple[int, ...]
    op: Operation


@dataclass(frozen=True, slots=True)
class Code:
    """A block: its arguments, its steps, the operands of its terminator."""

    arguments: tuple[int, ...]
    steps: tuple[Step, ...]
    yielded: tuple[int, ...]

    def run(self, frame: Frame, values: Sequence[Any] = ()) -> list[Any]:
        """
        Runs the block with values for its arguments; returns the operands of its terminator.

        Raises LocatedError or OperationError, naming the operation that failed.
        """
        frame.update(zip(self.arguments, values, strict=True))
        step: Step | None = None
        try:
            for step in self.steps:
                operands = [frame[value] for value in step.operands]
                found = (
                    step.function(frame, *operands)
                    if step.takes_frame
                    else step.function(*operands)
                )
                results = step.results
                if len(results) == 1:
                    frame[results[0]] = found
                elif results:
                    frame.update(zip(results, found, strict=True))
        except (LocatedError, OperationError, IterationLimitReached, TimeLimitReached):
            raise
        except MemoryError as error:
            assert step is not None
            raise located_error(step.op, "there is not enough memory") from error
        except XlaError as error:
            assert step is not None
            raise located_error(step.op, str(error)) from error
        return [frame[value] for value in self.yielded]


def ids(values: Iterable[SSAValue]) -> tuple[int, ...]:
    """What a frame knows values by."""
    return tuple(map(id, values))


def _tensor_bytes(type_: Attribute) -> int:
    """The bytes of a tensor of known sizes; memrefs are counted where their memory is made."""
    if not isinstance(type_, TensorType):
        return 0
    tensor = cast("TensorType[Attribute]", type_)
    sizes = tensor.get_shape()
    if DYNAMIC_INDEX in sizes:
        return 0
    return math.prod(sizes) * element_of(tensor.element_type).dtype.itemsize


def _metered(function: Function, meter: MemoryMeter, size: int) -> Function:
    """A function whose results, of so many bytes, are counted."""

    def run(*operands: Any) -> Any:
        meter.require(size)
        found = function(*operands)
        meter.keep(found)
        return found

    return run


class ModuleInterpreter:
    """Runs the functions of one module, which must not change meanwhile."""

    def __init__(
        self,
        module: ModuleOp,
        dialects: Sequence[Dialect],
        declared: Mapping[str, DeclaredFunction],
        *,
        seed: int = 0,
        iteration_limit: int | None = None,
        memory_limit: int | None = None,
        time_limit: float | None = None,
    ):
        """
        `declared`: the functions that the module only declares. `seed`: of the arbitrary bytes in
        uninitialized memory. `iteration_limit`: of each `scf.while`. `memory_limit`: bytes of the
        largest array, and of all at the same time. `time_limit`: seconds that a call from outside
        may take.
        """
        self.module = module
        self.declared = declared
        self.iteration_limit = iteration_limit
        self.memory_limit = MEMORY_LIMIT if memory_limit is None else memory_limit
        self.meter = MemoryMeter() if memory_limit is None else MemoryMeter(memory_limit)
        self.time_limit = time_limit
        self._deadline: Deadline | None = None
        dialects = (*dialects, *loadable_extensions(INTERPRETER))
        # By name: a dialect of ours may have a class of its own in the place of one of xDSL's.
        self.values = {op.name: maker for d in dialects for op, maker in d.values.items()}
        self.structured = {op.name: maker for d in dialects for op, maker in d.structured.items()}
        self.terminators = frozenset(name for d in dialects for name in d.terminators)
        self.terminators |= TERMINATORS
        self._others = [d.others for d in dialects]
        self._generator = np.random.default_rng(seed)
        self._codes: dict[Block, Code] = {}

    def structured_maker(self, op: Operation) -> StructuredMaker | None:
        """How a step is made for an operation that is in no table of `values`, if that is known."""
        found = self.structured.get(op.name)
        makers = (others(op) for others in self._others)
        return found or next((maker for maker in makers if maker is not None), None)

    @cached_property
    def functions(self) -> dict[str, FuncOp]:
        """The functions by name."""
        return {op.sym_name.data: op for op in self.module.ops if isinstance(op, FuncOp)}

    @cached_property
    def written(self) -> WrittenArguments:
        """The arguments that the functions write."""
        return WrittenArguments(self.functions)

    @cached_property
    def globals(self) -> dict[str, GlobalOp]:
        """The constants in memory by name."""
        return {op.sym_name.data: op for op in self.module.ops if isinstance(op, GlobalOp)}

    def code(self, block: Block) -> Code:
        """The code of a block; raises LocatedError for an operation that is not known."""
        operations, last = list(block.ops), block.last_op
        ends = last is not None and last.name in self.terminators
        yielded = ids(operations.pop().operands) if ends else ()
        return Code(ids(block.args), self.steps(operations), yielded)

    def steps(self, operations: Iterable[Operation]) -> tuple[Step, ...]:
        """What operations do, one after the other; raises as `code` does."""
        return tuple(map(self._step, operations))

    def _step(self, op: Operation) -> Step:
        value_maker = self.values.get(op.name)
        try:
            for type_ in op.result_types:
                if isinstance(type_, ShapedType):
                    require_rank(type_.get_num_dims())
            if value_maker is not None:
                function = value_maker(op)
            else:
                maker = self.structured_maker(op)
                if maker is None:
                    raise XlaError(
                        f"the interpreter does not know this operation{failures(INTERPRETER)}"
                    )
                function = maker(self, op)
        except (LocatedError, OperationError):
            raise
        except XlaError as error:
            raise located_error(op, str(error)) from error
        size = sum(map(_tensor_bytes, op.result_types))
        # Results of control flow are values of their regions, which are counted there.
        if not op.name.startswith("scf.") and size >= COUNTED_BYTES:
            function = _metered(function, self.meter, size)
        return Step(function, value_maker is None, ids(op.operands), ids(op.results), op)

    def run(self, name: str, values: Sequence[Any]) -> list[Any]:
        """The results of a function that a program calls; raises XlaError if there is none."""
        function = self.functions.get(name)
        if function is None or not function.body.blocks:
            raise XlaError(f"function @{name} is not defined in this module")
        frame: Frame = {}
        block = function.body.blocks[0]
        for jumps in itertools.count(1):
            if block not in self._codes:
                self._codes[block] = self.code(block)
            values = self._codes[block].run(frame, values)
            last = block.last_op
            if last is None or not last.successors:
                break
            block, values = successor(last, values)
            self.check_jump(jumps)
        return list(values)

    @deep_recursion()
    def call(self, name: str, values: Sequence[Any]) -> list[Any]:
        """The results of a function; raises XlaError, with the operation that failed."""
        limit = self.time_limit
        self._deadline = None if limit is None else Deadline(f"@{name}", limit)
        with np.errstate(all="ignore"):
            try:
                return run_program(
                    lambda: self.run(name, values),
                    any(function.asks_process for function in self.declared.values()),
                )
            except RecursionError:
                raise XlaError(f"@{name} nests too deeply; is there a recursion?") from None

    def check_jump(self, count: int) -> None:
        """To be called for jumps between blocks, which are counted; raises as loops do."""
        if self.iteration_limit is not None and count > self.iteration_limit:
            raise IterationLimitReached(f"more than {self.iteration_limit} jumps in a function")
        self.check_time()

    def check_time(self) -> None:
        """To be called by loops; raises TimeLimitReached when the time is over."""
        if self._deadline is not None:
            self._deadline.check()

    def arbitrary_bytes(self, size: int) -> Array:
        """New memory that holds anything; raises MemoryLimitError."""
        if size > self.memory_limit:
            raise MemoryLimitError(
                f"an array of {size} bytes, the limit is {self.memory_limit} bytes"
            )
        self.meter.require(size)
        memory = np.frombuffer(bytearray(self._generator.bytes(size)), np.uint8)
        self.meter.keep(memory)
        return memory


def single_block(region: Any) -> Block:
    """The block of a region of a structured operation."""
    return cast(Block, region.block)
