"""The generated pages of the Python API: signatures and docstrings, read off the sources."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from textwrap import dedent, indent
from typing import Any, get_overloads

from xla_dialect import attributes
from xla_dialect.builder import XlaBuilder, arguments, recorder
from xla_dialect.builder.operation_methods import OPERATION_OF, contract_text
from xla_dialect.devices import replica_groups
from xla_dialect.ops import FAMILIES

from ..rules import family_name, linked

ROOT = Path(__file__).parents[2]
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
        *_api("xla_dialect.hlo_text", "read_hlo"),
        *_api("xla_dialect.hlo_text", "print_hlo", source="xla_dialect.hlo_text.printer"),
        *_api(
            "xla_dialect.hlo_text",
            "HloPrintOptions",
            source="xla_dialect.hlo_text.instruction_text",
        ),
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


_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
"""Of a docstring: lines of a session of Python, up to an empty one."""


def _docstring(node: ast.FunctionDef | ast.ClassDef) -> str:
    return _EXAMPLE.sub("```pycon\n\\g<0>\n```", ast.get_docstring(node) or "")


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


def _families() -> Mapping[str, dict[str, Callable[..., Any]]]:
    """The public methods by the family of the operation that they append."""
    families: dict[str, dict[str, Callable[..., Any]]] = {"program": {}}
    families |= {family_name(family): {} for family in FAMILIES}
    for name, method in inspect.getmembers(XlaBuilder, inspect.isfunction):
        if not name.startswith("_"):
            operation = OPERATION_OF.get(name)
            module = "program" if operation is None else operation.__module__
            families[module.rpartition(".")[2]][name] = method
    return families


def builder_page() -> str:
    """Every method of XlaBuilder by family, with the rules that are its own."""
    lines = [
        NOTICE + "# Methods of `XlaBuilder`\n",
        "Each names the operation that it appends; `help` shows formula and rules of that, too."
        " Rules that a method has beside those are numbered as messages quote them,"
        " `broadcast_in_dim: (C3) ...`. Where operands are broadcast, it is by"
        " [the rules of broadcasting](../specification/broadcasting.md).\n",
    ]
    for family, methods in _families().items():
        lines.append(f"## {family.replace('_', ' ')}\n")
        for name, method in methods.items():
            operation, text = OPERATION_OF.get(name), inspect.getdoc(method) or ""
            code = "\n".join(map(_declared, _signatures(name, method)))
            lines.append(f"### `{name}`\n\n```python\n{code}\n```\n")
            if operation is not None:
                place = operation.name.removeprefix("xla.")
                own = text.replace(contract_text(operation), "").strip()
                text = f"[`{operation.name}`](ops.md#{place}). {own}"
            lines.append(linked(text, name) + "\n")
    return "\n".join(lines)


_FORMS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "Results": (
        {"Values": "XlaValue", "Operands": "Operand", "Results": "XlaValue"},
        {
            "Values": "Sequence[XlaValue]",
            "Operands": "Sequence[Operand]",
            "Results": "tuple[XlaValue, ...]",
        },
    ),
    "Any": ({"Computation": "Callable[..., ResultsT]", "Any": "ResultsT"}, {}),
}
"""
The forms of a method by what it returns: one value for one and several for several; or what its
computation returns.
"""


def _signatures(name: str, method: Callable[..., Any]) -> list[tuple[str, inspect.Signature]]:
    """The name and a signature of a method for each form that its arguments may have."""
    overloads = get_overloads(inspect.unwrap(method)) or [method]
    return [
        (name, _in_form(signature, form))
        for signature in map(inspect.signature, overloads)
        for form in _FORMS.get(signature.return_annotation, ({},))
    ]


class _Bare(str):
    """An annotation or a default, which a signature shows without quotes."""

    __repr__ = str.__str__


def _in_form(signature: inspect.Signature, form: Mapping[str, str]) -> inspect.Signature:
    def spelled(annotation: str) -> _Bare:
        return _Bare(re.sub(r"\w+", lambda word: form.get(word[0], word[0]), annotation))

    self, *parameters = signature.parameters.values()
    shown = [
        parameter.replace(
            annotation=spelled(parameter.annotation),
            default=_Bare("...") if isinstance(parameter.default, Enum) else parameter.default,
        )
        for parameter in parameters
    ]
    self = self.replace(annotation=inspect.Parameter.empty)
    return inspect.Signature([self, *shown], return_annotation=spelled(signature.return_annotation))


def _declared(method: tuple[str, inspect.Signature]) -> str:
    """The first lines of a method; one parameter a line where they are long."""
    name, signature = method
    text = f"def {name}{signature}"
    if len(text) < 92:
        return text
    head, _, returned = text.removeprefix(f"def {name}(").rpartition(") -> ")
    listed = re.sub(r", (?=\*|/|\w+[:=])", ",\n    ", head)
    return f"def {name}(\n    {listed},\n) -> {returned}"


def builder_stub() -> str:
    """What editors and type checkers read of XlaBuilder."""
    found = {"__init__": XlaBuilder.__init__}
    for family in _families().values():
        found |= family
    imports: dict[str, set[str]] = {"typing": {"TypeVar", "overload"}}
    lines: list[str] = []
    for name, method in found.items():
        signatures = _signatures(name, method)
        for _, signature in signatures:
            _add_imports(imports, method, signature)
        *first, last = (indent(_declared(each), "    ") for each in signatures)
        over = "    @overload\n" if first else ""
        lines += [f"{over}{text}: ..." for text in first]
        documentation = indent(f'r"""{inspect.getdoc(method)}\n"""', " " * 8)
        lines.append(f"{over}{last}:\n{documentation}\n")
    head = indent(f'"""{inspect.getdoc(XlaBuilder)}\n"""', "    ")
    return "\n".join(
        [
            "# Written by `make docs`; edit the builder and the operations instead.",
            *(
                f"from {m} import {', '.join(sorted(names))}"
                for m, names in sorted(imports.items())
            ),
            'ResultsT = TypeVar("ResultsT", bound="XlaValue | tuple[XlaValue, ...]")',
            f"class XlaBuilder:\n{head}\n    name: str\n",
            *lines,
        ]
    )


def _add_imports(
    imports: dict[str, set[str]], method: Callable[..., Any], signature: inspect.Signature
) -> None:
    """Adds the names that the annotations of a signature have, by the modules that have them."""
    own = import_module(inspect.unwrap(method).__module__)
    places = (collections.abc, recorder, attributes, replica_groups, arguments, own)
    annotations = [each.annotation for each in signature.parameters.values()][1:]
    for annotation in (*annotations, signature.return_annotation):
        for node in ast.walk(ast.parse(annotation)):
            if isinstance(node, ast.Name) and node.id not in {*vars(builtins), "ResultsT"}:
                place = next(place for place in places if node.id in vars(place))
                named = vars(place)[node.id]
                module = named.__module__ if inspect.isclass(named) else place.__name__
                imports.setdefault(module, set()).add(node.id)
