"""The generated pages, and what pages show of commands: `python -m tools.repository.docs`."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.irdl import OpDef, OptionalDef, VarOperandDef, VarRegionDef, VarResultDef
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpecConvertible
from xdsl.utils.target import Target

from lowerings.communication.xla_expand_communication import CONVERSIONS
from lowerings.driver.program import parse_program
from lowerings.expand.dynamic_dimension_rules import SIZE_RULES
from lowerings.expand.xla_expand_bitcast import XlaExpandBitcastPass
from lowerings.expand.xla_expand_compound import XlaExpandCompoundPass
from lowerings.partitioning.xla_populate_sharding_rules import relations_text
from lowerings.pipelines import PIPELINES
from lowerings.rewriting.levels import level_given, levels_taken
from lowerings.targets.llvm.machine import MACHINES
from lowerings.universe import UNIVERSE, toolkit_universe
from lowerings.xla_to_linalg import ConvertXlaToLinalgPass
from lowerings.xla_to_scf import ConvertXlaToScfPass
from xla_dialect import self_checking
from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE, FAMILIES, OPERATIONS, opcode, operations_of
from xla_dialect.stablehlo.legalize.patterns import INEXPRESSIBLE, has_stablehlo
from xla_dialect.stablehlo.reader import CHLO, STABLEHLO
from xla_dialect.text.shapes import parse_type
from xla_dialect.xdsl.traversal import operations_in

from ..command_line import guarded
from ..layout_drawing import drawing
from ..pass_listing import options_of
from ..rules import anchor, family_name, further_rules, linked, stating_bases
from .api_pages import NOTICE, api_page, builder_page, builder_stub
from .pictures import PERFORMANCE, drawn_times
from .programs import examples
from .shown_commands import PAGES as SHOWING_COMMANDS
from .shown_commands import renewed

NOT_OPERATIONS: Mapping[str, str] = {
    "parameter": "an argument of its computation: a block argument in MLIR",
}
"""The opcodes of HLO that are no operation of the dialect, with the reason."""

STABLEHLO_NAMES: Mapping[str, str | None] = {
    "broadcast": "stablehlo.broadcast_in_dim",
    "call": None,
    "conditional": "stablehlo.case",
    "dot": "stablehlo.dot_general",
    "opt-barrier": "stablehlo.optimization_barrier",
    "topk": "chlo.top_k",
}
"""What StableHLO or CHLO call an opcode where it is not `stablehlo.<opcode>` or `chlo.<opcode>`;
None where `func` has it."""


@cache
def lowered_operations() -> frozenset[type[Operation]]:
    """The operations that a conversion of the native pipeline takes."""
    passes = (
        XlaExpandCompoundPass,
        XlaExpandBitcastPass,
        ConvertXlaToScfPass,
        ConvertXlaToLinalgPass,
    )
    found = (op for each in passes for op in each().conversions_in(ModuleOp([])))
    return frozenset((*found, *SIZE_RULES, *CONVERSIONS))


_READ = frozenset(op.name for op in (*STABLEHLO.operations, *CHLO.operations))
"""The operations of StableHLO and CHLO that are read."""


def is_in_stablehlo(operation: type[XlaOp]) -> bool:
    """Whether the StableHLO reader makes this operation."""
    name = opcode(operation)
    if name in STABLEHLO_NAMES:
        named = STABLEHLO_NAMES[name]
        return named is None or named in _READ
    name = name.replace("-", "_")
    return f"stablehlo.{name}" in _READ or f"chlo.{name}" in _READ


ASPECTS: Mapping[str, Callable[[type[XlaOp]], bool]] = {
    "inferred": lambda op: not op.contract().takes_declared,
    "lowered": lambda op: op in lowered_operations(),
    "StableHLO in": is_in_stablehlo,
    "StableHLO out": has_stablehlo,
}
"""The columns of the status table, after the opcode itself."""


ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "generated"
STUB = ROOT / "xla_dialect" / "builder" / "xla_builder.pyi"
WORKED = ROOT / "test" / "run"
FUNCTION = re.compile(r"^(?://(?! RUN:)[^\n]*\n)*func\.func .*?^}\n", re.M | re.S)
"""A function of MLIR with the comment above it."""


def operations_page() -> str:
    """Every operation by family: opcode, docstring, parts, and an example that the tests run."""
    lines = [
        NOTICE + "# Operations of the `xla` dialect\n",
        "Constraints are numbered as messages quote them;"
        " [the specification](../specification/README.md) has the rules that operations share,"
        " [worked examples](worked_examples.md) show what they compute. An operand, result or"
        " region marked `...` stands for any number; a property marked `?` may be absent, or has"
        " a default. In the examples a comment above the end states each result.\n",
    ]
    for family in (*FAMILIES, self_checking):
        name = family_name(family)
        lines.append(f"## {name.replace('_', ' ')}\n")
        operations = operations_of(family)
        bases = dict.fromkeys(base for op in operations for base in stating_bases(op))
        lines.append(linked(family.__doc__, name) + "\n")
        lines += [f"`{base.__name__}`: {linked(base.__doc__, base.__name__)}\n" for base in bases]
        lines += map(_operation_entry, operations)
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
    further = (
        f'<a id="{anchor(operation.name, label)}"></a>[({label})](#{place})'
        for label, place in further_rules(operation).items()
    )
    shape = "; ".join(
        f"{title}: {names}" for title, names in (*rows, ("rules", ", ".join(further))) if names
    )
    name = operation.name.removeprefix("xla.")
    text = linked(operation.__doc__, operation.name)
    example = examples().get(name)
    code = f"\n```mlir\n{example.text}\n```\n" if example is not None else ""
    return (
        f'<a id="{name.replace(".", "-")}"></a>\n\n'
        f"### `{operation.name}`{hlo}\n\n{text}\n\n*{shape or 'no operands'}*\n{code}"
    )


def worked_examples_page() -> str:
    """The functions of test/run that check their results, by the operation of their file."""
    lines = [
        NOTICE.replace("the docstrings", "test/run") + "# Worked examples\n",
        "What operations compute: programs that check their own results, from `test/run`. The"
        " tests run them on the reference, the interpreter at every level, and as machine code;"
        " `xla-run test/run/pad.mlir --all-functions` runs those of one file. Beside them the files"
        " hold programs of every element type, which are compared with the reference.\n",
    ]
    for path in sorted(WORKED.glob("*.mlir")):
        name, functions = path.stem, FUNCTION.findall(path.read_text(encoding="utf-8"))
        if any("check." in function for function in functions):
            lines.append(f'<a id="{name}"></a>\n\n## [`xla.{name}`](ops.md#{name})\n')
            shown = (f for f in functions if "check." in f or f.startswith("func.func private"))
            lines.append("```mlir\n" + "\n".join(shown) + "```\n")
    return "\n".join(lines)


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
    lines.append("## All passes\n\n| pass | takes | what it does |\n| --- | --- | --- |")
    lines.extend(_pass_row(name, factory()) for name, factory in UNIVERSE.all_passes.items())
    lines.append("")
    lines.extend(_pass_entry(name, factory()) for name, factory in UNIVERSE.all_passes.items())
    lines.append("## Targets\n\nWhat `xla-opt -t` prints, with options as passes have them.\n")
    targets = toolkit_universe().all_targets
    for name in sorted(name for name, factory in targets.items() if _is_ours(factory())):
        target = targets[name]()
        lines.append(f"### `-t {name}`\n\n{inspect.cleandoc(target.__doc__ or '')}")
        lines.append(f"{_options(target)}\n")
    lines.append("## Machines\n\nWhat `native{target=...}` and `xla-run --target` name.\n")
    lines.extend(f"- `{name}`: {machine.summary}" for name, machine in MACHINES.items())
    return "\n".join(lines)


def _is_ours(target: type[Target]) -> bool:
    """Whether it is one of ours under its own name: others are there for stock `xdsl-opt`."""
    return target.__module__.startswith("lowerings.") and not target.name.startswith("xla-")


def _pass_row(name: str, module_pass: type[ModulePass]) -> str:
    """The pass with the first sentence of its docstring."""
    taken = ", ".join(levels_taken(module_pass) or ())
    summary = " ".join(inspect.cleandoc(module_pass.__doc__ or "").partition("\n\n")[0].split())
    return f"| [`{name}`](#{name}) | {taken} | {summary} |"


def _pass_entry(name: str, module_pass: type[ModulePass]) -> str:
    return (
        f"### `{name}`\n\n{inspect.cleandoc(module_pass.__doc__ or '')}\n\n"
        f"{_levels(module_pass)}{_options(module_pass)}\n"
    )


def _levels(module_pass: type[ModulePass]) -> str:
    taken, given = levels_taken(module_pass), level_given(module_pass)
    if taken is None:
        return ""
    gives = "" if given is None else f"; gives {given}"
    return f"*takes {', '.join(taken)}{gives}*\n"


def _options(owner: type[ArgSpecConvertible]) -> str:
    lines = (
        f"- `{option.name}`: {option.kind}"
        + ("" if option.default is None else f", default `{option.shown_default}`")
        + (f". {option.description}" if option.description else "")
        for option in options_of(owner)
    )
    return "".join(f"\n{line}" for line in lines)


def status_page() -> str:
    """Which operation has come how far, and which opcodes are none."""
    lines = [
        NOTICE + "# Status of the operations\n",
        "*inferred*: result types follow from operands and properties (elsewhere the declared type"
        " is checked). *lowered*: to machine code. *StableHLO in*, *StableHLO out*: read from"
        " StableHLO or CHLO, and written as such or as what is exactly the same there. The numpy"
        " reference runs all operations, and all are read from HLO text and written as such.\n",
        f"| opcode | {' | '.join(ASPECTS)} |",
        f"| --- {'| --- ' * len(ASPECTS)}|",
    ]
    for name, operation in sorted(BY_OPCODE.items()):
        cells = ("yes" if holds(operation) else "" for holds in ASPECTS.values())
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    lines.append("\nOperations that StableHLO cannot say:\n")
    lines.extend(f"- `{opcode(op)}`: {reason}" for op, reason in INEXPRESSIBLE.items())
    lines.append("\nOpcodes of HLO that are no operation:\n")
    lines.extend(f"- `{name}`: {reason}" for name, reason in NOT_OPERATIONS.items())
    return "\n".join(lines)


def rooms_page() -> str:
    """The folders of modules, with what each says that it is."""
    lines = [
        NOTICE + "# Rooms\n",
        "Each folder of modules with the number of its files, those of its folders among them, and"
        " what it is. Paths are from the root; the way of a program through them is in"
        " [the map](../architecture.md).\n",
        "| room | files | what it is |\n| --- | --- | --- |",
    ]
    for package in ("xla_dialect", "lowerings", "tools"):
        rooms = sorted(path.parent for path in (ROOT / package).glob("*/__init__.py"))
        for room in (ROOT / package, *rooms):
            own = room.glob("*.py") if room == ROOT / package else room.rglob("*.py")
            tree = ast.parse((room / "__init__.py").read_text(encoding="utf-8"))
            text = " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())
            lines.append(f"| `{room.relative_to(ROOT)}` | {len(list(own))} | {text} |")
    return "\n".join(lines)


def layout_picture(shape: str) -> Callable[[], str]:
    """What draws the memory of a shape for docs/layouts.md."""
    return lambda: drawing(parse_type(shape))


def dimensions_page() -> str:
    """How the dimensions of each operation relate, on its example."""
    lines = [
        NOTICE + "# How dimensions relate\n",
        "The relations of each operation in its example, in the words of Shardy's sharding rules: a"
        " letter is a factor of the iteration space, a dimension a factor or a product of factors."
        " Loops, branches and fusions have data-flow edges: values that are forwarded, dimension by"
        " dimension, from operands and what computations return to parameters and results."
        " `xla-opt -p xla-populate-sharding-rules` says them on the operations of a program;"
        " what the words mean is in `xla_dialect/dimensions.py`.\n",
        "| operation | relations |\n| --- | --- |",
    ]
    for operation in OPERATIONS:
        said = f"none: {operation.UNRELATED}"
        if operation.UNRELATED is None or operation.forwards_values():
            said = _relations_of_example(operation) or "no example"
        lines.append(f"| `{operation.name}` | {said} |")
    return "\n".join(lines)


def _relations_of_example(operation: type[XlaOp]) -> str | None:
    example = examples().get(operation.name.removeprefix("xla."))
    if example is None:
        return None
    module = parse_program(example.text, input_format="mlir")
    found = next(op for op in operations_in(module) if isinstance(op, operation))
    return f"`{relations_text(found)}`"


PAGES = {
    "ops.md": operations_page,
    "worked_examples.md": worked_examples_page,
    "dimensions.md": dimensions_page,
    "passes.md": passes_page,
    "status.md": status_page,
    "rooms.md": rooms_page,
    "api.md": api_page,
    "builder.md": builder_page,
    "layout_column_major.svg": layout_picture("f32[2,3]{0,1}"),
    "layout_tiled.svg": layout_picture("f32[3,5]{1,0:T(2,2)}"),
    "layout_tiles_of_tiles.svg": layout_picture("bf16[4,8]{1,0:T(2,4)(2,1)}"),
    "times.svg": lambda: drawn_times(PERFORMANCE.read_text(encoding="utf-8")),
}
"""Every generated page and what writes it."""


def main() -> int:
    """Writes all pages; returns the exit code."""

    def write() -> int:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, page in PAGES.items():
            (FOLDER / name).write_text(page().rstrip() + "\n", encoding="utf-8")
            print(f"docs/generated/{name}")
        STUB.write_text(builder_stub(), encoding="utf-8")
        for name in SHOWING_COMMANDS:
            page = ROOT / name
            page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
            print(name)
        return 0

    return guarded("docs", write)


if __name__ == "__main__":
    sys.exit(main())
