"""What the verifiers of foreign dialects look at, whose verdicts are kept by types and attributes."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.traits import IsTerminator

from lowerings.driver.context import make_context
from xla_dialect.op import XlaOp
from xla_dialect.verification import VERIFIED_BY_KEY, Decided, decided_by_key

# What an operation does not have in common with others of its types and attributes.
AROUND = {
    *("block", "blocks", "first_block", "last_block", "next_block", "ops", "first_op", "last_op"),
    *("next_op", "prev_op", "owner", "op", "uses", "users", "walk", "successors", "predecessors"),
    *("parent", "parent_op", "parent_block", "parent_region", "get_toplevel_object"),
    *("lookup_symbol", "location"),
}
ARGUMENTS_OF_REGIONS = {"block", "blocks", "first_block"}


@cache
def operations() -> list[type[IRDLOperation]]:
    context = make_context()
    return [
        operation
        for dialect in sorted(VERIFIED_BY_KEY)
        for operation in context.get_dialect(dialect).operations
        if issubclass(operation, IRDLOperation)
    ]


def functions_of(function: Callable[..., Any], owner: type, seen: set[object]) -> Iterator[ast.AST]:
    """The texts of a function and of the methods of its class that it calls."""
    if function in seen:
        return
    seen.add(function)
    # `irdl_op_definition` puts a function of its own around the `verify_` of a class.
    for inner in inspect.getclosurevars(function).nonlocals.values():
        if inspect.isfunction(inner):
            yield from functions_of(inner, owner, seen)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
            called = inspect.getattr_static(owner, node.attr, None)
            if inspect.isfunction(called):
                yield from functions_of(called, owner, seen)


def looks_at(function: Callable[..., Any], owner: type) -> set[str]:
    return {
        node.attr
        for tree in functions_of(function, owner, set())
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    }


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
def test_verifiers_look_at_types_and_attributes(operation: type[IRDLOperation]) -> None:
    decided = decided_by_key(operation)
    has_regions = bool(operation.get_irdl_definition().regions)
    if decided is Decided.NONE or (decided is not Decided.WITH_REGIONS and has_regions):
        return
    allowed = ARGUMENTS_OF_REGIONS if decided is Decided.WITH_REGIONS else set[str]()
    assert looks_at(operation.verify_, operation) & AROUND <= allowed
    for trait in operation.traits.traits:
        # That a terminator ends its block is part of what is kept, see `Decided`.
        if not isinstance(trait, IsTerminator):
            assert looks_at(trait.verify, type(trait)) & AROUND <= allowed, trait


def test_looking_around_is_seen() -> None:
    @irdl_op_definition
    class Looks(IRDLOperation):
        name = "test.looks"

        def verify_(self) -> None:
            self.deeper()

        def deeper(self) -> None:
            assert self.parent_op() is not None

    assert "parent_op" in looks_at(Looks.verify_, Looks)


def test_operations_of_xla_have_no_verifier_of_xdsl() -> None:
    with pytest.raises(TypeError, match=r"Mine\.verify_ is never called: .*infer.*verify_context"):

        class Mine(XlaOp):
            def verify_(self) -> None: ...
