"""Acceptance, compared with jaxlib's StableHLO verifier: valid uses and systematic changes of them.

What jaxlib rejects we reject, naming the operation; what it accepts we accept, but for the
exceptions below.
"""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from peers import has_jax
from stablehlo_acceptance import EXCEPTIONS, ends_the_oracle, own_rejection, reasons
from stablehlo_changes import changed_uses
from stablehlo_operations import USES
from stablehlo_oracle import printed, rejection
from stablehlo_spellings import is_dynamic
from stablehlo_uses import Use

from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.reader import CHLO, STABLEHLO

if has_jax():
    from jaxlib.mlir.dialects import chlo, stablehlo

pytestmark = pytest.mark.jax

QUANTIZED = {"stablehlo.uniform_dequantize", "stablehlo.uniform_quantize"}
"""Operations on quantized types only: test_quantized_rules.py."""


STATIC = [use for use in USES if not is_dynamic(use)]
NAMES = sorted({use.name for use in STATIC})


def changes_of(name: str) -> Iterator[tuple[str, Use]]:
    """Every change of every use of an operation that the oracle survives."""
    for use in STATIC:
        if use.name == name:
            for label, change in changed_uses(use):
                if not ends_the_oracle(name, label):
                    yield label, change


# What is wrong before there is an operation: with a type, a name, or the uses of a value.
_NOT_OF_THE_OPERATION = re.compile(
    r"used or defined with type|func\.func|Complex type must|is not defined before|was given"
    r"|expected array, dense|Expected|is no value of|is out of range for|the literal has|a literal of type"
)


def compare(name: str, labels: list[str], use: Use) -> int | None:
    """Fails where acceptance differs without a reason; returns the exception that is used."""
    expected, found = rejection(use.text()), own_rejection(use)
    if expected is not None:
        assert found is not None, f"{labels}: jaxlib says {expected}\n{use.text()}"
        assert name in found or "stablehlo." in found or _NOT_OF_THE_OPERATION.search(found), found
        return None
    if found is None:
        return None
    allowed = [number for label in labels for number in reasons(name, label)]
    assert allowed, f"{labels}: {found}\n{use.text()}"
    return allowed[0]


def test_every_operation_has_a_use():
    defined = {
        f"{found.OPERATION_NAME}"
        for module in (stablehlo, chlo)
        for found in vars(module).values()
        if isinstance(found, type) and hasattr(found, "OPERATION_NAME")
    }
    assert defined <= {op.name for op in (*STABLEHLO.operations, *CHLO.operations)}
    used = {use.name for use in USES} | {"stablehlo.return", "stablehlo.async_done"}
    assert defined - QUANTIZED == used


@pytest.mark.parametrize("use", STATIC, ids=lambda use: use.name)
def test_valid_uses(use: Use):
    """What jaxlib prints of them gives the same module as the generic form."""
    assert rejection(use.text()) is None
    assert own_rejection(use) is None
    text = printed(use.text())
    assert read_stablehlo(text).is_structurally_equivalent(read_stablehlo(use.text())), text


SAMPLED = 12
"""One of so many changes is tried in every run, all of them with `--full`."""


def test_sampled_changes():
    everything = ((name, change) for name in NAMES for change in changes_of(name))
    for number, (name, (label, use)) in enumerate(everything):
        if number % SAMPLED == 0:
            compare(name, [label], use)


@pytest.mark.full
def test_all_changes():
    used = {compare(name, [label], use) for name in NAMES for label, use in changes_of(name)}
    assert used - {None} == set(range(len(EXCEPTIONS)))


@given(st.data())
def test_two_changes(data: st.DataObject):
    """Acceptance agrees after two changes as well, where no exception applies to one of them."""
    name = data.draw(st.sampled_from(NAMES))
    first, use = data.draw(st.sampled_from(list(changes_of(name))))
    second, use = data.draw(st.sampled_from(list(changed_uses(use))))
    if ends_the_oracle(name, second):
        return
    if not reasons(name, first) and not reasons(name, second):
        compare(name, [first, second], use)
