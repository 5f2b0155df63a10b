"""What custom calls compute: functions of the caller of the reference, and of libraries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Block

from xla_dialect.analysis.computations import lacks_tokens, top_k_properties, with_tokens
from xla_dialect.devices.process_grid import Process
from xla_dialect.ops import custom_calls as ops
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.reference.sharding_calls import ShardingCalls
from xla_dialect.runtime.custom_calls import (
    CustomCallFunction,
    call_function,
    call_on_arrays,
    function_for,
    on_copies,
)


@register_impls
@dataclass
class CustomCallFunctions(InterpreterFunctions):
    """Calls of registered functions."""

    registry: Mapping[str, CustomCallFunction] = field(
        default_factory=dict[str, CustomCallFunction]
    )
    """The functions of the caller by their target."""
    library: Mapping[str, CustomCallFunction] = field(default_factory=dict[str, CustomCallFunction])
    """Those of libraries."""
    process: Process = field(default_factory=Process)

    @impl(ops.CustomCallOp)
    def run_custom_call(
        self, interpreter: Interpreter, op: ops.CustomCallOp, args: PythonValues
    ) -> PythonValues:
        """The results of the function for this target."""
        target = op.custom_call_target.data
        registered = self.registry.get(target)
        properties = top_k_properties(op) if registered is None else None
        if properties is not None:
            found = interpreter.run_op(
                TopkOp.make(Block(arg_types=op.operand_types).args, properties), args
            )
            return found if len(op.results) == len(found) else (found,)
        if registered is not None:
            function = on_copies(registered)
        else:
            sharding = ShardingCalls(self.process, interpreter.module)
            function = sharding.function(target) or function_for(
                target, self.registry, self.library
            )
        if lacks_tokens(op):
            return call_on_arrays(with_tokens(op), function, args)
        return call_function(op, function, args)
