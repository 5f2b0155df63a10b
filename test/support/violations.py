"""How the tests of verifiers break one constraint at a time."""

from collections.abc import Callable

import pytest
from xdsl.utils.exceptions import VerifyException

from xla_dialect.op import XlaOp

Case = tuple[str, Callable[[], XlaOp]]
"""The label of a rule, and a builder of an operation that breaks it and no other."""


def cases(name: str, *broken: Case) -> list[object]:
    """The parameters of a test, with ids like `pad.C3-2`."""
    return [
        pytest.param(f"xla.{name}", label, build, id=f"{name}.{label}-{i}")
        for i, (label, build) in enumerate(broken)
    ]


def assert_violates(name: str, label: str, build: Callable[[], XlaOp]) -> None:
    """
    Building or verifying the operation fails with the label of this rule, at the front.

    The constructor infers the result types unless they are given; the verifier always does.
    """
    with pytest.raises(VerifyException) as error:
        build().verify()
    message = str(error.value)
    assert message.startswith(f"{name}: ({label}) "), message
    assert len(message.splitlines()) == 1, message


def accepts(build: Callable[[], XlaOp]) -> XlaOp:
    """The operation, built and verified."""
    op = build()
    op.verify()
    return op
