"""The generated pages of the Python API: signatures and docstrings, read off the sources."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from importlib import import_module
from pkgutil import resolve_name
from textwrap import indent
from types import GenericAlias
from typing import Any, get_overloads

from xla_dialect import attributes
from xla_dialect.builder import XlaBuilder, arguments, recorder
from xla_dialect.builder.operation_methods import OPERATION_OF, contract_text
from xla_dialect.devices import replica_groups
from xla_dialect.ops import FAMILIES

from ..pass_listing import descriptions
from ..rules import family_name, linked

NOTICE = "<!-- Written by `make docs`; edit the docstrings instead. -->\n\n"


STABLE: Mapping[str, Sequence[str]] = {
    "Compiling and running": (
        "lowerings:compile",
        "lowerings.backends:Options",
        "lowerings.execution.runnable:Runnable",
        "lowerings.execution.executable:Executable",
        "lowerings.execution.signature:Signature",
        "lowerings.execution.signature:ArraySpec",
    ),
    "Functions of JAX": ("lowerings.jax:jit", "lowerings.jax:Jitted", "lowerings.jax:Lowered"),
    "Looking": (
        "lowerings:explain",
        "lowerings.explaining:Explanation",
        "lowerings.notebook:program_diff",
    ),
    "Reading and printing": (
        "xla_dialect.hlo_text:read_hlo",
        "xla_dialect.hlo_text:print_hlo",
        "xla_dialect.hlo_text:HloPrintOptions",
        "xla_dialect.stablehlo:read_stablehlo",
        "xla_dialect.stablehlo.writing:print_stablehlo",
        "xla_dialect.mlir_text:read_mlir",
        "xla_dialect.verification:verify",
    ),
    "Running passes": (
        "lowerings.driver.context:make_context",
        "lowerings.driver.program:parse_program",
        "lowerings.driver.program:load_program",
        "lowerings.driver.pass_manager:PassManager",
        "lowerings.driver.pass_manager:parse_passes",
    ),
    "Schedules": (
        "lowerings.dialects.schedule:Schedule",
        "lowerings.dialects.schedule:ScheduleError",
        "lowerings.scheduling.apply:apply",
        "lowerings.scheduling.apply:matching",
    ),
    "The reference": (
        "xla_dialect.reference:run",
        "xla_dialect.runtime.runs:RunOptions",
        "xla_dialect.reference:run_replicated",
    ),
    "Errors": ("xla_dialect.diagnostics:XlaError", "xla_dialect.diagnostics:LocatedError"),
    "Commands": (
        "tools.xla_opt:main",
        "tools.xla_run:main",
        "tools.xla_layout:main",
        "tools.xla_tune:main",
    ),
}
"""What is stable, by sections of the page: modules and names."""


def api_page() -> str:
    """Every stable function and class with its signature and docstring."""
    lines = [
        NOTICE + "# Python API: signatures\n",
        "[The Python API](../python_api.md) shows how these are used, and says what stable means."
        " The methods of `XlaBuilder` have [a page of their own](builder.md).\n",
    ]
    for title, members in STABLE.items():
        lines += [f"## {title}\n", *map(_entry, members)]
    return "\n".join(lines)


def _entry(place: str) -> str:
    """A function or class of the page; of a class, its public methods and attributes too."""
    found = resolve_name(place)
    head = f"### `{place.replace(':', '.')}`\n\n"
    if not inspect.isclass(found):
        return f"{head}{_function(found.__name__, found)}\n"
    parts = [_documented(found), *_attributes(found)]
    for name, method in vars(found).items():
        functions = (getattr(method, each, None) for each in ("fget", "func", "__func__"))
        function = next(filter(None, functions), method)
        if inspect.isfunction(function) and (name == "__call__" or not name.startswith("_")):
            decorator = "" if function is method else f"@{type(method).__name__}\n"
            parts.append(_function(name, function, decorator))
    return head + "\n\n".join(filter(None, parts)) + "\n"


def _function(name: str, function: Callable[..., Any], decorator: str = "") -> str:
    signature = _in_form(inspect.signature(inspect.unwrap(function), follow_wrapped=False), {})
    code = f"```python\n{decorator}{_declared((name, signature))}\n```"
    return f"{code}\n\n{_documented(function)}"


_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
"""Of a docstring: lines of a session of Python, up to an empty one."""


def _documented(found: object) -> str:
    return _EXAMPLE.sub("```pycon\n\\g<0>\n```", inspect.getdoc(found) or "")


def _attributes(owner: type) -> Iterator[str]:
    """The annotated attributes of a class with the strings below them, as a list."""
    described = descriptions(owner)
    for name, annotation in inspect.get_annotations(owner).items():
        declared = getattr(owner, "__dataclass_fields__", {}).get(name)
        default = vars(owner).get(name)
        has_default = name in vars(owner) and not inspect.ismemberdescriptor(default)
        text = described.get(name, "")
        if declared is not None and "declaration" in declared.metadata:
            text = declared.metadata["declaration"].help
        spelled = getattr(annotation, "__forward_arg__", annotation)
        yield f"- `{name}: {spelled}{f' = {default!r}' if has_default else ''}`" + (
            f": {text}" if text else ""
        )


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
    def spelled(annotation: Any) -> Any:
        if not isinstance(annotation, str):
            return annotation
        return _Bare(re.sub(r"\w+", lambda word: form.get(word[0], word[0]), annotation))

    shown = [
        parameter.replace(
            annotation=spelled(parameter.annotation),
            default=_Bare("...")
            if isinstance(parameter.default, Enum | type | GenericAlias)
            and parameter.default is not inspect.Parameter.empty
            else parameter.default,
        )
        for parameter in signature.parameters.values()
    ]
    if shown and shown[0].name == "self":
        shown[0] = shown[0].replace(annotation=inspect.Parameter.empty)
    return inspect.Signature(shown, return_annotation=spelled(signature.return_annotation))


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
