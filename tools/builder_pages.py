"""What is generated of the builder: the page of its methods, and the stub that editors read."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from importlib import import_module
from textwrap import indent
from typing import Any, get_overloads

from xla_dialect import attributes
from xla_dialect.builder import XlaBuilder, arguments, recorder
from xla_dialect.builder.operation_methods import OPERATION_OF, contract_text
from xla_dialect.ops import FAMILIES

from .api_pages import NOTICE
from .rules import family_name, linked


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
    places = (collections.abc, recorder, attributes, arguments, own)
    annotations = [each.annotation for each in signature.parameters.values()][1:]
    for annotation in (*annotations, signature.return_annotation):
        for node in ast.walk(ast.parse(annotation)):
            if isinstance(node, ast.Name) and node.id not in {*vars(builtins), "ResultsT"}:
                place = next(place for place in places if node.id in vars(place))
                named = vars(place)[node.id]
                module = named.__module__ if inspect.isclass(named) else place.__name__
                imports.setdefault(module, set()).add(node.id)
