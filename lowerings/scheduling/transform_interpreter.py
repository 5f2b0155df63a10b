"""The pass `transform-interpreter`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.transform import NamedSequenceOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.exceptions import PassFailedException

from lowerings.scheduling.control_steps import CONSUMING_STEPS, READING_STEPS
from lowerings.scheduling.script import Script
from lowerings.scheduling.structured_steps import STRUCTURED_STEPS
from xla_dialect.diagnostics import XlaError, read_text
from xla_dialect.mlir_text import read_mlir
from xla_dialect.verification import verify
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class TransformInterpreterPass(ModulePass):
    """
    Runs a script of the transform dialect, the sequence `@__transform_main`, on the module that it
    is in, or from a file.

    Steps of `transform.structured` and `transform.loop` on linalg operations on memrefs or tensors
    say the schedules that `convert-linalg-to-vector-loops` obeys; docs/transform_scripts.md has the
    list.

    ```mlir
    transform.named_sequence @__transform_main(%program: !transform.any_op {transform.readonly}) {
      %op = transform.structured.match ops{["linalg.generic"]} in %program
          : (!transform.any_op) -> !transform.any_op
      %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [4, 16]
          : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
      transform.structured.vectorize %tiled vector_sizes [4, 16] : !transform.any_op
      transform.yield
    }
    ```
    gives every `linalg.generic` of two dimensions
    ```mlir
    attrs = {schedule.nest = #schedule.nest<loops = [d0 by 4, d1 by 16], vector = d1 x 16>}
    ```
    """

    name = "transform-interpreter"

    entry_point: str = "__transform_main"
    """The sequence that is run."""
    script: str = ""
    """A file with sequences; those of the module itself can be included."""
    knobs: tuple[str, ...] = ()
    """What `transform.tune.knob` selects: `name=option`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sequences = _sequences_of(op)
        if self.script:
            try:
                text = read_text(self.script)
                module = read_mlir(text, ctx, self.script)
                verify(module, {self.script: text})
            except XlaError as error:
                raise PassFailedException(f"{self.name}: {error}") from None
            sequences |= _sequences_of(module)
        knobs: dict[str, str] = {}
        for knob in self.knobs:
            name, equals, option = knob.partition("=")
            if not equals:
                raise PassFailedException(f"{self.name}: a knob is set by name=option, not {knob}")
            knobs[name] = option
        consuming = {**CONSUMING_STEPS, **STRUCTURED_STEPS}
        script = Script(ctx, op, sequences, READING_STEPS, consuming, _find_pass, knobs)
        script.run(self.entry_point)
        unknown = sorted(knobs.keys() - script.settled)
        if unknown:
            raise PassFailedException(f"{self.name}: the script asks for no knob {unknown[0]}")


def _sequences_of(module: ModuleOp) -> dict[str, NamedSequenceOp]:
    return {op.sym_name.data: op for op in operations_in(module) if isinstance(op, NamedSequenceOp)}


def _find_pass(name: str, options: Mapping[str, Any]) -> ModulePass:
    factory = Universe.get_multiverse().all_passes.get(name)
    if factory is None:
        raise XlaError(f"there is no pass '{name}'")
    try:
        return factory().from_spec(ArgSpec(name, dict(options)))
    except (ValueError, TypeError) as error:
        raise XlaError(f"pass {name}: {error}") from None
