"""What custom calls compute: functions that the caller of the reference registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from xla_dialect.analysis.call_tokens import lacks_tokens, with_tokens
from xla_dialect.devices.process_grid import Process
from xla_dialect.ops import custom_calls as ops
from xla_dialect.reference.process_calls import ProcessCalls
from xla_dialect.reference.sharding_calls import ShardingCalls
from xla_dialect.runtime.custom_calls import (
    CustomCallFunction,
    call_function,
    call_on_arrays,
    function_for,
    on_copies,
)
from xla_dialect.runtime.process_calls import TARGETS, ProcessCall, read_process_call


@register_impls
@dataclass
class CustomCallFunctions(InterpreterFunctions):
    """Calls of registered functions."""

    registry: Mapping[str, CustomCallFunction] = field(
        default_factory=dict[str, CustomCallFunction]
    )
    """The functions by their target."""
    calls: ProcessCalls = field(default_factory=lambda: ProcessCalls(Process()))
    """Carries out the calls that are operations of the process."""
    _read: dict[ops.CustomCallOp, ProcessCall] = field(
        default_factory=dict[ops.CustomCallOp, ProcessCall]
    )

    @impl(ops.CustomCallOp)
    def run_custom_call(
        self, interpreter: Interpreter, op: ops.CustomCallOp, args: PythonValues
    ) -> PythonValues:
        """The results of the function for this target, or of the process for a process call."""
        target = op.custom_call_target.data
        if target in TARGETS:
            call = self._read.get(op)
            if call is None:
                call = self._read[op] = read_process_call(op)
            return self.calls.results(call, args)
        registered = self.registry.get(target)
        if registered is not None:
            function = on_copies(registered)
        else:
            sharding = ShardingCalls(self.calls.process, interpreter.module)
            function = sharding.function(target) or function_for(target, self.registry)
        if lacks_tokens(op):
            return call_on_arrays(with_tokens(op), function, args)
        return call_function(op, function, args)
