"""The generated pages of docs/generated: `python -m tools.docs` writes them anew."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from xdsl.irdl import OpDef, OptionalDef, VarOperandDef, VarRegionDef, VarResultDef
from xdsl.passes import ModulePass, get_pass_option_infos

from lowerings.pipelines import PIPELINES
from lowerings.universe import UNIVERSE
from tools.examples import examples
from tools.layout_drawing import drawing
from tools.reporting import guarded
from tools.status import ASPECTS, NOT_OPERATIONS
from xla_dialect.hlo_text.type_parser import parse_type
from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE, FAMILIES, opcode, operations_of
from xla_dialect.stablehlo.writing.operations import INEXPRESSIBLE

FOLDER = Path(__file__).parent.parent / "docs" / "generated"
NOTICE = "<!-- Written by `make docs`; edit the docstrings instead. -->\n\n"


def operations_page() -> str:
    """Every operation by family: opcode, docstring, parts, and an example that the tests run."""
    lines = [
        NOTICE + "# Operations of the `xla` dialect\n",
        "Constraints are numbered as messages quote them. An operand, result or region marked `...`"
        " stands for any number; a property marked `?` may be absent, or has a default. In the"
        " examples a comment above the end states each result.\n",
    ]
    for family in FAMILIES:
        lines.append(f"## {family.__name__.rpartition('.')[2].replace('_', ' ')}\n")
        lines.append(inspect.cleandoc(family.__doc__ or "") + "\n")
        lines.extend(_operation_entry(operation) for operation in operations_of(family))
    return "\n".join(lines)


def _operation_entry(operation: type[XlaOp]) -> str:
    definition = operation.get_irdl_definition()
    hlo = f", HLO `{opcode(operation)}`" if operation in BY_OPCODE.values() else ""
    rows = [
        ("operands", _names(definition.operands, VarOperandDef)),
        ("properties", _properties(definition)),
        ("regions", _names(definition.regions, VarRegionDef)),
        ("results", _names(definition.results, VarResultDef)),
    ]
    shape = "; ".join(f"{title}: {names}" for title, names in rows if names)
    text = inspect.cleandoc(operation.__doc__ or "")
    example = examples().get(operation.name.removeprefix("xla."))
    code = f"\n```mlir\n{example.text}\n```\n" if example is not None else ""
    return f"### `{operation.name}`{hlo}\n\n{text}\n\n*{shape or 'no operands'}*\n{code}"


def _names(definitions: Sequence[tuple[str, object]], variadic: type) -> str:
    return ", ".join(
        f"`{name}{'...' if isinstance(definition, variadic) else ''}`"
        for name, definition in definitions
    )


def _properties(definition: OpDef) -> str:
    return ", ".join(
        f"`{name}`"
        if not isinstance(prop, OptionalDef) and prop.default_value is None
        else f"`{name}?`"
        for name, prop in definition.properties.items()
    )


def passes_page() -> str:
    """Every pass of the toolkit with its options and docstring, and the pipelines."""
    lines = [NOTICE + "# Passes\n"]
    for name, stages in PIPELINES.items():
        lines.append(f"## The pipeline `{name}`\n")
        lines.append("| level | passes that lead to it |\n| --- | --- |")
        lines.extend(f"| {s.level} | {', '.join(f'`{p}`' for p in s.passes)} |" for s in stages)
        lines.append("")
    lines.append("## All passes\n")
    lines.extend(_pass_entry(name, factory()) for name, factory in UNIVERSE.all_passes.items())
    return "\n".join(lines)


def _pass_entry(name: str, module_pass: type[ModulePass]) -> str:
    options = "".join(
        f"\n- `{option.name}`: {option.expected_type}"
        + ("" if option.default_value is None else f", default `{option.default_value}`")
        for option in get_pass_option_infos(module_pass)
    )
    return f"### `{name}`\n\n{inspect.cleandoc(module_pass.__doc__ or '')}\n{options}\n"


def status_page() -> str:
    """Which operation has come how far, and which opcodes are none."""
    lines = [
        NOTICE + "# Status of the operations\n",
        "*inferred*: result types follow from operands and properties (elsewhere the declared type"
        " is checked). *interpreted*: by the numpy reference. *lowered*: to machine code."
        " *HLO text*: read and written. *StableHLO in*, *StableHLO out*: read from StableHLO or"
        " CHLO, and written as such or as what is exactly the same there.\n",
        f"| opcode | {' | '.join(aspect.title for aspect in ASPECTS)} |",
        f"| --- {'| --- ' * len(ASPECTS)}|",
    ]
    for name, operation in sorted(BY_OPCODE.items()):
        cells = ("yes" if aspect.holds(operation) else "" for aspect in ASPECTS)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    lines.append("\nOperations that StableHLO cannot say:\n")
    lines.extend(f"- `{opcode(op)}`: {reason}" for op, reason in INEXPRESSIBLE.items())
    lines.append("\nOpcodes of HLO that are no operation:\n")
    lines.extend(f"- `{name}`: {reason}" for name, reason in NOT_OPERATIONS.items())
    return "\n".join(lines)


def layout_picture(shape: str) -> Callable[[], str]:
    """What draws the memory of a shape for docs/layouts.md."""
    return lambda: drawing(parse_type(shape))


PAGES = {
    "ops.md": operations_page,
    "passes.md": passes_page,
    "status.md": status_page,
    "layout_column_major.svg": layout_picture("f32[2,3]{0,1}"),
    "layout_tiled.svg": layout_picture("f32[3,5]{1,0:T(2,2)}"),
    "layout_tiles_of_tiles.svg": layout_picture("bf16[4,8]{1,0:T(2,4)(2,1)}"),
}
"""Every generated page and what writes it."""


def main() -> int:
    """Writes all pages; returns the exit code."""

    def write() -> int:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, page in PAGES.items():
            (FOLDER / name).write_text(page().rstrip() + "\n", encoding="utf-8")
            print(f"docs/generated/{name}")
        return 0

    return guarded("docs", write)


if __name__ == "__main__":
    sys.exit(main())
