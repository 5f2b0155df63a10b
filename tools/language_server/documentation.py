"""What operations, shapes and passes are, as Markdown for an editor."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, OptPropertyDef
from xdsl.passes import ModulePass

from lowerings.driver.context import make_context
from lowerings.pipelines import PIPELINES
from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError
from xla_dialect.hlo_text.opcodes import OPCODES, Opcode, asynchronous_opcode
from xla_dialect.ops import BY_OPCODE
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import TokenType

from ..layout_report import described, leaves_of
from ..pass_listing import options_of, text_of
from ..rules import INHERITED, LABEL

FULL_NAMES = {"module": "builtin.module"} | {
    name.removeprefix("func."): name for name in ("func.func", "func.call", "func.return")
}
"""Of the operations whose dialect MLIR leaves out."""
MOST_ARRAYS = 4
"""Arrays of a tuple that are described."""

_PARAMETER = """An argument of the computation.

`parameter(i)` is argument number `i`, counted from 0. In the dialect it is the argument of a block.
"""
_RULE = re.compile(rf"^{LABEL.pattern}", re.MULTILINE)


@cache
def context() -> Context:
    """The dialects of the toolkit."""
    return make_context()


def operation_class(name: str, *, is_hlo: bool) -> type[Operation] | None:
    """
    The class that states what an operation is: for an opcode of HLO, or a name in MLIR.

    Operations of StableHLO that XLA has as well are those of the `xla` dialect.
    """
    if is_hlo:
        opcode = opcode_of(name)
        return None if opcode is None else opcode.operation
    dialect, _, rest = name.partition(".")
    if dialect in ("stablehlo", "chlo", "mhlo"):
        return BY_OPCODE.get(rest.replace("_", "-"))
    return context().get_optional_op(FULL_NAMES.get(name, name))


def opcode_of(name: str) -> Opcode | None:
    """The row of an opcode, also of one that runs another asynchronously."""
    found = asynchronous_opcode(name)
    return OPCODES.get(name) if found is None else OPCODES.get(found[0])


def operation_text(name: str, *, is_hlo: bool) -> str | None:
    """The contract of an operation: its docstring, operands, attributes, results."""
    if is_hlo and name == "parameter":
        return f"**parameter**\n\n{_PARAMETER}"
    found = operation_class(name, is_hlo=is_hlo)
    if found is None:
        return None
    title = f"**{name}**" if name == found.name else f"**{name}** — `{found.name}`"
    # Every numbered rule is a paragraph of its own.
    parts = [title, _RULE.sub(r"\n**(\1)**", docstring(found) or "(no description)")]
    if issubclass(found, IRDLOperation):
        parts.append("\n".join(_signature(found)))
    if is_hlo and (opcode := opcode_of(name)) is not None:
        parts.append(f"HLO text: {opcode.describe_operands()}; {opcode.describe_attributes()}.")
    return "\n\n".join(part for part in parts if part)


def docstring(operation: type[Operation]) -> str:
    """The docstring of a class; empty where it only inherits one."""
    return inspect.cleandoc(operation.__dict__.get("__doc__") or "")


def _signature(operation: type[IRDLOperation]) -> Iterator[str]:
    definition = operation.get_irdl_definition()
    for title, names in (
        ("operands", [name for name, _ in definition.operands]),
        (
            "attributes",
            [
                name + ("?" if isinstance(prop, OptPropertyDef) or prop.default_value else "")
                for name, prop in definition.properties.items()
            ],
        ),
        ("regions", [name for name, _ in definition.regions]),
        ("results", [name for name, _ in definition.results]),
    ):
        if names:
            yield f"- {title}: {', '.join(f'`{name}`' for name in names)}"


def rule_text(name: str, label: str) -> str | None:
    """The sentence of a numbered rule of an operation, wherever it is stated."""
    operation = operation_class(name, is_hlo=False)
    texts = [] if operation is None else _statements(operation)
    # Up to the next label or blank line.
    rule = rf"\({re.escape(label)}\).*?(?=\n\s*\n|\n\s*\([A-Z][\w.]*\)|\Z)"
    found = (re.search(rule, text, re.DOTALL) for text in texts)
    return next((" ".join(each.group().split()) for each in found if each is not None), None)


def _statements(operation: type[Operation]) -> Iterator[str]:
    """The docstrings that state rules: its own, that of what it begins, that of its family."""
    yield docstring(operation)
    inherited = INHERITED.search(docstring(operation))
    if inherited is not None:
        yield docstring(BY_OPCODE[inherited[1].replace("_", "-")])
    yield inspect.getdoc(inspect.getmodule(operation)) or ""


def shape_text(shape: str) -> str | None:
    """An array in words: what it is, its layout, its memory; None for what HLO does not spell."""
    try:
        type_ = parse_type(shape)
    except (XlaError, ValueError):
        return None
    if isinstance(type_, TokenType):
        return "A token: no data, only an order of side effects."
    leaves = [leaf for _, leaf in leaves_of(type_)]
    arrays = [leaf for leaf in leaves if isinstance(leaf, TensorType)]
    parts = [] if arrays == [type_] else [f"A tuple with {len(leaves)} leaves."]
    for each in arrays[:MOST_ARRAYS]:
        parts.append("```text\n{}\n```".format("\n".join(described(each)).rstrip()))
    if len(arrays) > MOST_ARRAYS:
        parts.append(f"{len(arrays) - MOST_ARRAYS} more arrays are left out.")
    return "\n\n".join(parts)


def pass_class(name: str) -> type[ModulePass] | None:
    """The class of a pass."""
    factory = toolkit_universe().all_passes.get(name)
    return None if factory is None else factory()


def pass_text(name: str) -> str | None:
    """A pass or pipeline: its docstring and options, or its levels."""
    if name in PIPELINES:
        levels = (f"- **{s.level}**: {', '.join(s.passes)}" for s in PIPELINES[name])
        return f"**{name}** (pipeline)\n\n" + "\n".join(levels)
    found = pass_class(name)
    if found is None:
        return None
    options = [
        f"- `{o.name}`: {o.kind}"
        + (f", by default {o.shown_default}" if o.default is not None else "")
        + (f". {o.description}" if o.description else "")
        for o in options_of(found)
    ]
    return "\n\n".join(part for part in (f"**{name}**", text_of(found), "\n".join(options)) if part)
