"""The output formats `hlo` and `hlo-proto`, of `xla_dialect.hlo_text` and `.binary`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from lowerings.targets.binary_target import BinaryTarget
from xla_dialect.diagnostics import XlaError
from xla_dialect.hlo_text import HloPrintOptions, print_hlo

FORMS: Mapping[str, Callable[[], HloPrintOptions]] = {
    "default": HloPrintOptions,
    "short": HloPrintOptions.short_parsable,
    "canonical": HloPrintOptions.canonical,
}
"""The forms that options start from."""


@dataclass(frozen=True)
class HloTarget(Target):
    """
    HLO text for a module of the xla level.

    `form` is `default`, `short` (as JAX prints lowered functions) or `canonical` (without given
    names, for comparing); the other options, named as XLA names them, change single choices of it.
    """

    name = "hlo"
    described_by = (HloPrintOptions,)

    form: str = "default"
    """The choices to start from: `default`, `short` or `canonical`."""
    print_percent: bool | None = None
    print_program_shape: bool | None = None
    print_operand_shape: bool | None = None
    print_tuple_indices: bool | None = None
    print_operand_index_annotation_interval: int | None = None
    include_layout_in_shapes: bool | None = None
    print_metadata: bool | None = None
    print_backend_config: bool | None = None
    print_control_dependencies: bool | None = None
    print_large_constants: bool | None = None
    syntax_sugar_async_ops: bool | None = None
    canonicalize_instruction_names: bool | None = None
    canonicalize_computations: bool | None = None

    def options(self) -> HloPrintOptions:
        """The choices together; raises XlaError for an unknown form."""
        if self.form not in FORMS:
            raise XlaError(f"hlo: form is one of {', '.join(FORMS)}; found '{self.form}'")
        changed = {
            field.name: value
            for field in fields(HloPrintOptions)
            if (value := getattr(self, field.name)) is not None
        }
        return replace(FORMS[self.form](), **changed)

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Prints the module; raises HloPrintError for what HLO text cannot express."""
        output.write(print_hlo(module, self.options()))


@dataclass(frozen=True)
class HloProtoTarget(BinaryTarget):
    """
    An HloModuleProto for a module of the xla level.

    It has what HLO text has, but for origins, statistics and metadata of shardings.
    """

    name = "hlo-proto"

    def content(self, ctx: Context, module: ModuleOp) -> bytes:
        """The bytes of the proto; raises HloPrintError for what HLO cannot express."""
        # It loads the readers of all binary formats.
        from xla_dialect.binary import write_hlo_module  # noqa: PLC0415

        return write_hlo_module(module)
