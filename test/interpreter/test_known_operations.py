"""The interpreter knows every operation that a pass of the native pipeline may leave behind."""

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

import pytest
from xdsl.ir import Operation

from lowerings.driver.context import make_context
from lowerings.interpreter.cf import TERMINATORS
from lowerings.interpreter.machine import Dialect
from lowerings.interpreter.program import DIALECTS

MAKERS = (
    "lowerings.bufferize",
    "lowerings.loops",
    "lowerings.tensors",
    "lowerings.xla_to_linalg",
    "lowerings.xla_to_scf",
)
"""The packages whose passes make operations of the levels below xla."""
EMITTERS = ("lowerings.targets.llvm",)
"""The packages that print them; what these take, a program of the loops level may hold."""

NOT_STEPS = {
    "builtin.module",
    "func.func",
    "memref.global",
    "words.dot_product",
    "words.join",
    "words.pair_product",
}
"""
What holds or is looked up by steps, and is none itself; and what stands in bodies of nests only
while loops are made of them.
"""


def modules(package: str) -> Iterator[str]:
    yield package
    for found in pkgutil.walk_packages(import_module(package).__path__, package + "."):
        yield found.name


def operations_named_in(module: str) -> set[type[Operation]]:
    """The operation classes that the text of a module names, as `Op` or as `dialect.Op`."""
    imported = import_module(module)
    named = set(re.findall(r"(?:\b(\w+)\.)?\b(\w+)\b", inspect.getsource(imported)))
    values = [
        getattr(getattr(imported, dialect, None) if dialect else imported, name, None)
        for dialect, name in named
    ]
    return {each for each in values if isinstance(each, type) and issubclass(each, Operation)}


def lower_operations() -> dict[str, str]:
    """The names of operations that are not of our own dialect, and a module that names each."""
    return {
        operation.name: module
        for package in (*MAKERS, *EMITTERS)
        for module in modules(package)
        for operation in operations_named_in(module)
        if isinstance(getattr(operation, "name", None), str)
        and not operation.name.startswith(("xla.", "check.", "interpreter."))
    }


def names_of(dialect: Dialect) -> list[str]:
    return [op.name for op in (*dialect.values, *dialect.structured)] + [*dialect.terminators]


def known() -> set[str]:
    return {name for dialect in DIALECTS for name in names_of(dialect)} | TERMINATORS


def test_every_operation_that_passes_name_is_known() -> None:
    named = lower_operations()
    assert len(named) > 150
    unknown = {name: module for name, module in named.items() if name not in known() | NOT_STEPS}
    assert unknown == {}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tables_name_operations_that_exist(dialect: Dialect) -> None:
    ctx = make_context()
    for name in names_of(dialect):
        assert ctx.get_optional_op(name) is not None, name
