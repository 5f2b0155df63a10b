"""The generated pages of the Python API: signatures and docstrings, read off the sources."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parent.parent
NOTICE = "<!-- Written by `make docs`; edit the docstrings instead. -->\n\n"


@dataclass(frozen=True)
class PublicName:
    """A public function or class: from where it is imported, and which file defines it."""

    module: str
    name: str
    source: str

    @property
    def path(self) -> Path:
        """The file that defines it."""
        path = ROOT / self.source.replace(".", "/")
        module = path.with_suffix(".py")
        return module if module.is_file() else path / "__init__.py"


def _api(module: str, *names: str, source: str = "") -> tuple[PublicName, ...]:
    return tuple(PublicName(module, name, source or module) for name in names)


STABLE: Mapping[str, tuple[PublicName, ...]] = {
    "Compiling and running": (
        *_api("lowerings", "compile", source="lowerings.compilation"),
        *_api("lowerings.backends", "Options"),
        *_api("lowerings.execution.runnable", "Runnable"),
        *_api("lowerings.execution.executable", "Executable"),
        *_api("lowerings.execution.signature", "Signature", "ArraySpec"),
    ),
    "Functions of JAX": (
        *_api("lowerings.jax", "jit", "Jitted", source="lowerings.jax.jit"),
        *_api("lowerings.jax", "Lowered", source="lowerings.jax.lowered"),
    ),
    "Looking": (
        *_api("lowerings", "explain", source="lowerings.explaining"),
        *_api("lowerings.explaining", "Explanation"),
        *_api("lowerings.notebook", "program_diff"),
    ),
    "Reading and printing": (
        *_api("xla_dialect.hlo_text", "read_hlo", "print_hlo"),
        *_api("xla_dialect.hlo_text", "HloPrintOptions", source="xla_dialect.hlo_text.printer"),
        *_api("xla_dialect.stablehlo", "read_stablehlo", source="xla_dialect.stablehlo.reader"),
        *_api("xla_dialect.stablehlo.writing", "print_stablehlo"),
        *_api("xla_dialect.mlir_text", "read_mlir"),
        *_api("xla_dialect.verification", "verify"),
    ),
    "Running passes": (
        *_api("lowerings.driver.context", "make_context"),
        *_api("lowerings.driver.program", "parse_program", "load_program"),
        *_api("lowerings.driver.pass_manager", "PassManager", "parse_passes"),
    ),
    "Schedules": (
        *_api("lowerings.dialects.schedule", "Schedule", "ScheduleError"),
        *_api("lowerings.scheduling.apply", "apply", "matching"),
    ),
    "The reference": (
        *_api("xla_dialect.reference", "run", source="xla_dialect.reference.interpreter"),
        *_api("xla_dialect.runtime.runs", "RunOptions"),
        *_api(
            "xla_dialect.reference", "run_replicated", source="xla_dialect.reference.interpreter"
        ),
    ),
    "Errors": _api("xla_dialect.diagnostics", "XlaError", "LocatedError"),
    "Commands": (
        *_api("tools.xla_opt", "main"),
        *_api("tools.xla_run", "main"),
        *_api("tools.xla_layout", "main"),
        *_api("tools.xla_tune", "main"),
    ),
}
"""What is stable, by sections of the page."""


def api_page() -> str:
    """Every stable function and class with its signature and docstring."""
    lines = [
        NOTICE + "# Python API: signatures\n",
        "[The Python API](../python_api.md) shows how these are used, and says what stable means."
        " The methods of `XlaBuilder` have [a page of their own](builder.md).\n",
    ]
    for title, members in STABLE.items():
        lines.append(f"## {title}\n")
        lines.extend(entry(member) for member in members)
    return "\n".join(lines)


def entry(member: PublicName) -> str:
    """A function or class of the page; of a class, its public methods and attributes too."""
    text = member.path.read_text(encoding="utf-8")
    lines = text.splitlines()
    (node,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == member.name
    )
    head = f"### `{member.module}.{member.name}`\n"
    if isinstance(node, ast.FunctionDef):
        return f"{head}\n{_code(node, lines)}\n{_docstring(node)}\n"
    parts = [head, _docstring(node), *_attributes(node)]
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and _is_public(method):
            parts.append(f"{_code(method, lines)}\n{_docstring(method)}")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _is_public(method: ast.FunctionDef) -> bool:
    is_setter = any(isinstance(each, ast.Attribute) for each in method.decorator_list)
    return (method.name == "__call__" or not method.name.startswith("_")) and not is_setter


def _code(function: ast.FunctionDef, lines: Sequence[str]) -> str:
    """The signature as it stands in the lines of a source."""
    start = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    text = dedent("\n".join(lines[start - 1 : function.body[0].lineno - 1]))
    return f"```python\n{text.rstrip().removesuffix(':')}\n```\n"


def _docstring(node: ast.FunctionDef | ast.ClassDef) -> str:
    return ast.get_docstring(node) or ""


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    """The annotated attributes of a class with the strings below them, as a list."""
    for attribute, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(attribute, ast.AnnAssign) and isinstance(attribute.target, ast.Name):
            text = ""
            declared = attribute.value
            if isinstance(declared, ast.Call) and ast.unparse(declared.func) == "field":
                given = {each.arg: each.value for each in declared.keywords}
                if isinstance(said := given.get("metadata"), ast.Call):
                    # An option of compilation.
                    attribute.value = given.get("default")
                    text = f": {ast.literal_eval(said.args[0])}"
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = f": {inspect.cleandoc(str(after.value.value))}"
            yield f"- `{ast.unparse(attribute)}`{text}"
