"""Checks, prints and probes of programs that cannot call out: the values they see become results.

An emulated program returns them beside its results; when it has ended, each operation does with
them what it does on the reference, in the order of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
)
from xdsl.ir import Block, Operation, SSAValue

from lowerings.execution.runnable import Runnable, SurroundedProgram
from lowerings.execution.signature import Signature
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import dense_to_numpy, from_numpy
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.tuples import TupleOp
from xla_dialect.runtime.observation import Observer
from xla_dialect.runtime.self_checking import CHECK_CALLS, OBSERVATIONS, call_check, require_check
from xla_dialect.types import tuple_elements
from xla_dialect.violations import located_error
from xla_dialect.xdsl.traversal import operations_in

AnyArray = NDArray[Any]


def is_observing(op: Operation) -> bool:
    """Whether an operation does something with its operands beside computing its results."""
    if isinstance(op, CustomCallOp):
        return op.custom_call_target.data in CHECK_CALLS
    return type(op) in OBSERVATIONS


def observes(module: ModuleOp) -> bool:
    """Whether a module has operations that `take_observations` takes."""
    return any(map(is_observing, operations_in(module)))


@dataclass(frozen=True)
class Observation:
    """One operation that was taken out of a program, and where its operands are now."""

    op: Operation
    operands: tuple[int | AnyArray, ...]
    """For each the number of the result that has it, or its value where that is known."""

    def perform(self, results: Sequence[AnyArray], observer: Observer) -> None:
        """Does what the operation does; raises its error, with its place."""
        values = [results[each] if isinstance(each, int) else each for each in self.operands]
        try:
            if isinstance(self.op, CustomCallOp):
                call_check(self.op, *values)
            else:
                OBSERVATIONS[type(self.op)](self.op, values, observer)
        except XlaError as error:
            raise located_error(self.op, str(error)) from error


def take_observations(function: func.FuncOp, count: int) -> list[Observation]:
    """
    Takes the observing operations out of a function without calls; it returns what they see.

    `count`: the number of arrays that it returns so far. Raises XlaError for operations inside
    control flow, where they see one value per execution.
    """
    block = function.body.block
    _require_top_level(block)
    returned = cast(func.ReturnOp, block.last_op)
    added: dict[SSAValue, int] = {}
    observations: list[Observation] = []
    for op in list(block.ops):
        if not is_observing(op):
            continue
        operands: list[int | AnyArray] = []
        for operand in op.operands:
            if isinstance(operand.owner, ConstantOp):
                literal = cast("DenseIntOrFPElementsAttr[Any]", operand.owner.value)
                operands.append(dense_to_numpy(literal))
            else:
                operands.append(added.setdefault(operand, count + len(added)))
        observations.append(Observation(_without_uses(op, block), tuple(operands)))
    block.insert_ops_before([func.ReturnOp(*returned.operands, *added)], returned)
    block.erase_op(returned)
    _widen(function, list(added))
    return observations


def _require_top_level(block: Block) -> None:
    for op in operations_in(block):
        if isinstance(op, CustomCallOp) and is_observing(op):
            try:
                require_check(op)
            except XlaError as error:
                raise located_error(op, str(error)) from None
        if is_observing(op) and op.parent is not block:
            place = cast(Operation, op.parent_op())
            raise located_error(
                op,
                f"stands inside {place.name}, where an emulated program cannot return what it "
                "sees; use another backend",
            )


def _without_uses(op: Operation, block: Block) -> Operation:
    """A copy that is no use of the operands; its original is erased, for its results are known."""
    stand_ins = Block(arg_types=op.operand_types).args
    for old, new in zip(op.operands, stand_ins, strict=True):
        new.name_hint = old.name_hint
    kept = op.clone(dict(zip(op.operands, stand_ins, strict=True)))
    for result in op.results:
        if isinstance(op, CustomCallOp):
            new = (
                TupleOp.make([], {})
                if tuple_elements(result.type) is not None
                else ConstantOp.make([], {"value": from_numpy(np.array(True))})
            )
            block.insert_ops_before([new], op)
            result.replace_all_uses_with(new.results[0])
        else:
            result.replace_all_uses_with(op.operands[0])
    block.erase_op(op)
    return kept


def _widen(function: func.FuncOp, added: Sequence[SSAValue]) -> None:
    """Puts the types of more results into the type of a function."""
    type_ = function.function_type
    outputs = [*type_.outputs.data, *(value.type for value in added)]
    function.properties["function_type"] = FunctionType.from_lists(type_.inputs.data, outputs)
    if function.res_attrs is not None:
        more = [DictionaryAttr({}) for _ in added]
        function.properties["res_attrs"] = ArrayAttr([*function.res_attrs.data, *more])


class ObservedProgram(SurroundedProgram):
    """A program whose checks, prints and probes come when it has ended."""

    def __init__(
        self,
        program: Runnable,
        signature: Signature,
        observations: Sequence[Observation],
        observer: Observer,
    ):
        """`signature` is that of the program without the results that `observations` need."""
        super().__init__(program, signature)
        self.observations = observations
        self.observer = observer

    def __call__(self, *arguments: Any) -> tuple[AnyArray, ...]:
        """Runs the program; raises XlaError for the first check that fails."""
        results = self.program(*arguments)
        for observation in self.observations:
            observation.perform(results, self.observer)
        return results[: len(self.signature.results)]
