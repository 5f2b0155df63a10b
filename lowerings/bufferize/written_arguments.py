"""Which memrefs functions write: their results, among the arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func, memref, vector
from xdsl.ir import Operation, SSAValue

from lowerings.bufferize.memory_liveness import VIEW_OPERATIONS
from lowerings.bufferize.tensor_operands import is_linalg_operation, linalg_outputs
from lowerings.dialects import vector_extension
from xla_dialect.xdsl.operation_table import OperationTable

__all__ = ["WrittenArguments"]


@dataclass(eq=False)
class WrittenArguments:
    """The arguments that the functions of a module write, found when they are asked for."""

    functions: Mapping[str, func.FuncOp]
    """The functions by name, without recursion."""
    _found: dict[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])

    def of(self, name: str) -> frozenset[int]:
        """The positions of the arguments that a function, or one that it calls, writes."""
        if name not in self._found:
            block = self.functions[name].body.blocks.first
            arguments: Sequence[SSAValue] = () if block is None else block.args
            self._found[name] = frozenset(
                index for index, argument in enumerate(arguments) if self._is_written(argument)
            )
        return self._found[name]

    def _is_written(self, value: SSAValue) -> bool:
        for use in value.uses:
            op = use.operation
            if isinstance(op, VIEW_OPERATIONS):
                if use.index == 0 and self._is_written(op.results[0]):
                    return True
            elif isinstance(op, func.CallOp):
                callee = op.callee.root_reference.data
                if callee in self.functions and use.index in self.of(callee):
                    return True
            elif any(target is value for target in _targets(op)):
                return True
        return False


_STORES = (
    OperationTable[Callable[[Operation], SSAValue]]()
    .add(memref.CopyOp, lambda op: op.destination)
    .add(memref.StoreOp, lambda op: op.memref)
    .add(vector.StoreOp, lambda op: op.base)
    .add(vector.MaskedStoreOp, lambda op: op.base)
    .add(vector_extension.ScatterOp, lambda op: op.base)
    .add(vector.TransferWriteOp, lambda op: op.source)
)
"""Where operations write that are no linalg operation."""


def _targets(op: Operation) -> Sequence[SSAValue]:
    """The memrefs that an operation writes."""
    if is_linalg_operation(op):
        return linalg_outputs(op)
    target = _STORES.get(type(op))
    return () if target is None else (target(op),)
