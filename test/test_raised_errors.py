"""Errors can be made as they are raised: an error in an error hides what is wrong."""

import ast
import importlib
import importlib.util
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("xla_dialect", "lowerings")
OUTSIDE = {
    "lowerings.execution.mpi_ranks",
    "lowerings.notebook",
    "lowerings.runtime.build_hook",
}
"""What needs packages that are there for its users."""


def modules() -> Iterator[str]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if name not in OUTSIDE:
                yield name


def raised(name: str) -> Iterator[tuple[ast.Call, type[BaseException]]]:
    """The calls of classes that make the errors of a module."""
    path = importlib.util.find_spec(name)
    assert path is not None
    assert path.origin is not None
    tree = ast.parse(Path(path.origin).read_text())
    calls = [n.exc for n in ast.walk(tree) if isinstance(n, ast.Raise)]
    found = [c for c in calls if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)]
    if not found:
        return
    module = importlib.import_module(name)
    for call in found:
        assert isinstance(call.func, ast.Name)
        class_ = getattr(module, call.func.id, None)
        if isinstance(class_, type) and issubclass(class_, BaseException):
            yield call, class_


def problem(call: ast.Call, class_: type[BaseException]) -> str | None:
    """Why an error cannot be made of what it is given; None if it can."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    own = class_.__init__
    if own in (BaseException.__init__, Exception.__init__, ValueError.__init__):
        # It takes anything, and shows several things as a tuple.
        return "it takes one message" if len(call.args) > 1 or call.keywords else None
    try:
        signature = inspect.signature(own)
    except ValueError:
        return None
    keywords = {each.arg: None for each in call.keywords if each.arg is not None}
    try:
        signature.bind(None, *call.args, **keywords)
    except TypeError as error:
        return str(error)
    return None


@pytest.mark.parametrize("package", PACKAGES)
def test_errors_take_what_they_are_given(package: str) -> None:
    wrong = [
        f"{name}:{call.lineno}: {ast.unparse(call)}: {why}"
        for name in modules()
        if name.startswith(package)
        for call, class_ in raised(name)
        if (why := problem(call, class_)) is not None
    ]
    assert not wrong, "\n".join(wrong)
