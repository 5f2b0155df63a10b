"""Calls of functions that the program does not contain (docs/generated/ops.md#custom-calls)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr

from xla_dialect.attributes import CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.builder.computations import Computations, XlaComputation
from xla_dialect.builder.type_spelling import TypeLike, as_type
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.custom_calls import CustomCallOp


class CustomCallMethods(Computations):
    """The method for custom calls."""

    def custom_call(
        self,
        target_name: str,
        args: Sequence[XlaValue],
        shape: TypeLike,
        *,
        has_side_effect: bool = False,
        backend_config: str | None = None,
        api_version: CustomCallApiVersion | str | None = None,
        called_computations: Sequence[XlaComputation] = (),
    ) -> XlaValue:
        """
        The result, of type `shape`, of the external function of this name on the arguments.

        Whoever runs the program has to register the function.
        Example: `b.custom_call("myfunc", [x, v], "f32[3,3]")`.
        """
        version = None
        if api_version is not None:
            version = self._word("custom_call", CustomCallApiVersionAttr, api_version)
        config = None if backend_config is None else StringAttr(backend_config)
        called = [self._region(computation, ()) for computation in called_computations]
        return self._append_one(
            CustomCallOp,
            self._all_ssa(args, "argument"),
            custom_call_target=target_name,
            custom_call_has_side_effect=has_side_effect,
            api_version=version,
            regions=[called],
            attributes={} if config is None else {"xla.backend_config": config},
            result_types=[as_type(shape)],
        )
