"""
What a process does for the program that it runs: calls of `communication/process_calls.py`; and
runs of the reference interpreter, with these and the other custom calls that lowerings know.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeAlias, Unpack

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import PythonValues
from xdsl.ir import Attribute

from lowerings.communication.process_calls import SITE, TARGETS, ProcessCall, read_process_call
from lowerings.execution.lapack import LAPACK
from xla_dialect.devices.process_grid import Arrays, LogicalId, Process, piece_length, pieces
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, Value, flatten_results
from xla_dialect.op import XlaOp
from xla_dialect.ops import asynchronous, collectives, random, transfers
from xla_dialect.ops.asynchronous import as_one
from xla_dialect.ops.collectives import CollectiveOp, GroupedOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.reference.collectives import (
    CollectiveFunctions,
    Write,
    as_arrays,
    blocks,
    fill_zeros,
    new_arrays,
    require_sizes,
)
from xla_dialect.reference.interpreter import prepared, run
from xla_dialect.reference.random import RandomFunctions
from xla_dialect.reference.transfers import TransferFunctions, as_item, of_item, received
from xla_dialect.runtime.custom_calls import CustomCallFunction, CustomCallLibrary
from xla_dialect.runtime.runs import RunOptions, nest_arguments

Types: TypeAlias = Sequence[Attribute]

_FOLDED = (
    collectives.AllReduceOp,
    collectives.ReduceScatterOp,
    asynchronous.AllReduceStartOp,
)
"""The reductions: a call only exchanges operands, and the program folds them."""


_Begun: TypeAlias = Callable[[Arrays, Types], None]
"""Waits for the results of an operation under way, and writes them into arrays of these types."""


def _untyped(write: Write) -> _Begun:
    return lambda results, _: write(results)


class _CollectivesOfCalls(CollectiveFunctions):
    """Collectives that are read from calls: an operation is known by the number of its site."""

    def identity(self, op: CollectiveOp) -> Hashable:
        """The same number in all copies of a program."""
        return op.attributes.get(SITE, op)


class ProcessCalls:
    """One run of a program by a process."""

    def __init__(self, process: Process):
        self.process = process
        self.collectives = _CollectivesOfCalls(process)
        self.transfers = TransferFunctions(process)
        self.random = RandomFunctions(process.number)
        self._begun: dict[int, _Begun] = {}
        self._count = 0
        self._exchanged = 0
        """The number of the last exchange of what is folded; to gather comes next."""

    def carry_out(self, call: ProcessCall, arguments: Arrays, results: Arrays) -> None:
        """
        Writes the results of a call; waits for other processes where the operation does.

        Nothing reads the arguments afterwards. Raises XlaError where the operation does, and for a
        done without a start.
        """
        operation = call.operation
        if call.waits:
            begun = self._begun.pop(int(arguments[0]), None)
            if begun is None:
                raise XlaError("what it waits for has ended already, or was never begun")
            begun(results, call.result_types)
        elif call.begins:
            self._count += 1
            self._begun[self._count] = self._begin(operation, list(map(np.copy, arguments)))
            results[0][...] = self._count
        elif call.gathers:
            assert isinstance(operation, GroupedOp)
            self.collectives.gather_pieces(operation, arguments, self._exchanged)(results)
        elif isinstance(operation, CollectiveOp):
            self._begin(operation, arguments)(results, call.result_types)
        else:
            found = self._alone(operation, tuple(map(np.copy, arguments)), call.result_types)
            for result, value in zip(results, found, strict=True):
                result[...] = value

    def _alone(self, op: XlaOp, arguments: PythonValues, declared: Types) -> PythonValues:
        """The results of an operation that waits for no other process but to send."""
        match op:
            case transfers.InfeedOp():
                item = self.transfers.take(as_one(declared))
                return of_item(item, len(declared))
            case transfers.OutfeedOp():
                self.transfers.give(arguments)
                return ()
            case transfers.SendOp():
                self.transfers.send(op, as_item(arguments))
                return ()
            case random.RngOp():
                a, b, count = arguments
                return (self.random.draw_for(op, a, b, int(count)),)
            case random.RngGetAndUpdateStateOp():
                return (self.random.move_on(op.delta.value.data),)
            case _:
                place = self.process.place[isinstance(op, collectives.PartitionIdOp)]
                return (np.array(place, np.uint32),)

    def _begin(self, op: XlaOp, arguments: Arrays) -> _Begun:
        if isinstance(op, transfers.RecvOp):
            return self._receive(op)
        assert isinstance(op, CollectiveOp)
        if isinstance(op, _FOLDED):
            return _untyped(self._exchange(op, arguments))
        return _untyped(self.collectives.begin(op, arguments))

    def _receive(self, op: transfers.RecvOp) -> _Begun:
        value = self.transfers.receive(op)

        def write(results: Arrays, declared: Types) -> None:
            item = of_item(received(op, value.result(), as_one(declared)), len(results))
            for result, each in zip(results, item, strict=True):
                result[...] = each

        return write

    def _exchange(self, op: GroupedOp, arguments: Arrays) -> Write:
        """What all members bring, or of it the part that this one folds; and how many they are."""
        members = self.collectives.group(op)
        if members is None:
            return fill_zeros
        count, me = len(members), members.index(self.process.place)
        parts = [self._parts(op, array, members) for array in arguments]
        outgoing = list(zip(*parts, strict=True))
        begun = self.collectives.exchange(op, members, outgoing)

        def write(results: Arrays) -> None:
            *stacks, number = results
            into = [
                rows_for(stack, part[me], count) for stack, part in zip(stacks, parts, strict=True)
            ]
            begun.take(list(zip(*into, strict=True)))
            number[...] = count
            self._exchanged = begun.number

        return write

    def _parts(self, op: GroupedOp, array: Array, members: Sequence[LogicalId]) -> list[Array]:
        """What of an operand each member folds."""
        count = len(members)
        if isinstance(op, collectives.ReduceScatterOp):
            return blocks(array, op.dimension.value.data, count)
        grid = self.process.grid
        smallest = min(op.group_sizes(grid.replicas, grid.partitions))
        length = piece_length(array.size, array.dtype.itemsize, smallest)
        return [array] * count if length is None else pieces(array, length, count)


def process_functions(process: Process) -> Mapping[str, CustomCallFunction]:
    """What the calls in one run of a program compute, by target: a library of the reference."""
    calls = ProcessCalls(process)
    known: dict[CustomCallOp, ProcessCall] = {}

    def function(op: CustomCallOp, *arguments: Value) -> object:
        if op not in known:
            known[op] = read_process_call(op)
        results = new_arrays(known[op].result_types)
        calls.carry_out(known[op], as_arrays(arguments), results)
        return results[0] if len(results) == 1 else results

    return dict.fromkeys(TARGETS, function)


def rows_for(stack: Array, part: Array, members: int) -> list[Array]:
    """
    Where in a stack the members bring parts like this one; the rest of the stack is 0. Raises
    XlaError where there is no place for them.
    """
    places, row = len(stack), stack[0, ...]
    is_piece = part.ndim == row.ndim == 1 and part.size < row.size
    if not is_piece:
        require_sizes([row], [part.shape])
    if members > places:
        raise XlaError(f"the group has {members} members, the program is compiled for {places}")
    fill_zeros([stack[members:], *(row[part.size :] for row in stack if is_piece)])
    used = slice(part.size) if is_piece else ...
    return [stack[number, used] for number in range(members)]


LIBRARIES: Sequence[CustomCallLibrary] = (lambda process: LAPACK, process_functions)


def run_on_reference(
    module: ModuleOp, arrays: Sequence[Array], entry: str, **options: Unpack[RunOptions]
) -> tuple[Array, ...]:
    """
    The results of a function on one array per leaf of its parameters, one array per leaf. The
    process of this thread runs it, or the only one of a grid.

    Raises XlaError as the reference does.
    """
    nested = nest_arguments(module, arrays, entry)
    options["libraries"] = LIBRARIES
    process = Process.current()
    if process is None:
        return flatten_results(run(module, nested, entry, **options))
    return flatten_results(prepared(module, nested, entry, process, **options)())
