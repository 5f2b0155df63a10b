"""The operations that the examples and the programs of test/run execute, to be executed again."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from lowerings.driver.program import parse_program
from tools.repository.programs import examples
from xla_dialect.devices.process_grid import Process
from xla_dialect.diagnostics import XlaError
from xla_dialect.dimensions import DimensionRelations
from xla_dialect.op import XlaOp
from xla_dialect.reference.interpreter import ReferenceInterpreter, register_reference
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.types import Array, extents, is_array

RUN = Path(__file__).parents[1] / "run"
OF_A_KIND = 3
"""How often operations with the same relations are executed again."""

Arrays = tuple[np.ndarray, ...]


@dataclass
class Executed:
    """An operation that a program executed, and its operands."""

    op: XlaOp
    operands: Arrays
    relations: DimensionRelations
    interpreter: ReferenceInterpreter = field(repr=False)

    def results(self, operands: Sequence[np.ndarray]) -> Arrays:
        return tuple(map(np.asarray, self.interpreter.run_op(self.op, tuple(operands))))


@dataclass
class Recorder(Interpreter.Listener):
    """Notes what an interpreter executes."""

    found: list[Executed]
    counts: Counter[tuple[str, str]]
    interpreter: ReferenceInterpreter = field(init=False)

    def will_interpret_op(self, op: Operation, args: tuple[Any, ...]) -> None:
        if not isinstance(op, XlaOp) or not op.results:
            return
        relations = op.dimension_relations()
        arrays = [np.array(x) for x in args if isinstance(x, np.ndarray | np.generic)]
        types = [value.type for value in (*op.operands, *op.results)]
        if (
            relations is None
            or len(arrays) != len(args)
            or any(is_dynamic(extents(cast(Array, t))) for t in types if is_array(t))
        ):
            return
        key = op.name, f"{relations} {[x.dtype.kind for x in arrays]}"
        self.counts[key] += 1
        if self.counts[key] <= OF_A_KIND and sum(x.size for x in arrays) < 5000:
            self.found.append(Executed(op, tuple(arrays), relations, self.interpreter))


def programs() -> Iterator[str]:
    yield from (example.text for example in examples().values())
    yield from (path.read_text() for path in sorted(RUN.glob("*.mlir")))


@cache
def executed() -> list[Executed]:
    """One operation of every kind that the programs execute."""
    recorder = Recorder([], Counter())
    for program in programs():
        module = parse_program(program, input_format="mlir", verified=True)
        for function in module.ops:
            if (
                isinstance(function, FuncOp)
                and function.body.blocks
                and not function.body.block.args
            ):
                interpreter = ReferenceInterpreter(module, listeners=(recorder,))
                process = Process()
                register_reference(interpreter, process)
                recorder.interpreter = interpreter
                try:
                    process.grid.run_alone(lambda i=interpreter, f=function: i.call_op(f, ()))
                except XlaError:
                    # A test of an error, or one that needs several processes.
                    continue
                finally:
                    interpreter.listeners = ()
    return recorder.found
