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
from stablehlo_changes import changed_uses
from stablehlo_operations import USES
from stablehlo_oracle import printed, rejection
from stablehlo_uses import Use

from xla_dialect.diagnostics import LocatedError
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.reader import ROWS

if has_jax():
    from jaxlib.mlir.dialects import chlo, stablehlo

pytestmark = pytest.mark.jax

# Operation, change, and why we reject what jaxlib accepts.
EXCEPTIONS = (
    (
        r"stablehlo\.(einsum|unary_einsum|torch_index_select)",
        r".*",
        "jaxlib does not verify it at all; we reject what has no meaning",
    ),
    (
        r"stablehlo\.cross-replica-sum",
        r"replica_groups .*",
        "jaxlib does not verify its groups; a participant would be in two of them, or in none",
    ),
    (
        r"chlo\.broadcast_.*",
        r"(operand|broadcast_dimensions) .*",
        "jaxlib checks no shapes; no element of one operand belongs to one of the other",
    ),
    (
        r"chlo\.broadcast_select",
        r"result 0: .*",
        "jaxlib does not look at the element type of the result; it is that of the operands",
    ),
    (
        r"stablehlo\.(reduce|reduce_window|scatter)",
        r"an operand more",
        "jaxlib ignores an operand that is left over",
    ),
    (
        r"stablehlo\.fft",
        r"fft_length .*",
        "jaxlib does not look at the length of a complex transform; XLA does",
    ),
    (
        r"stablehlo\.rng_bit_generator",
        r"(operand|result) .*",
        "jaxlib does not look at element types; XLA has states of u64 and results of integers",
    ),
    (
        r"stablehlo\.bitcast_convert",
        r"(operand|result) 0: (rank-1|ui8|f32|i32)",
        "jaxlib compares widths by the last size only; here the numbers of bits differ",
    ),
    (r"stablehlo\.scatter", r"operand 1: i1", "jaxlib takes truth values as indices; XLA does not"),
    (r"stablehlo\.while", r"i32 to complex<f32>", "jaxlib compares complex numbers by size"),
    (
        r"stablehlo\.(all_gather|reduce_scatter)",
        r"(operand|result) 0: size . = [01]|channel_handle missing",
        "jaxlib does not look at the number of shards, nor for the channel of global ids; XLA does",
    ),
    (
        r"chlo\.scan",
        r"result . ?: .*|result [01]: .*",
        "jaxlib compares no element types; results have those that the computation returns",
    ),
)

ORACLE_CRASHES = ((r"chlo\..*", r".*= -1"), (r"stablehlo\.reduce", "an operand less"))
"""
What ends the process in jaxlib 0.10.2: negative dimensions of a broadcast, and a reduction of an
array without an initial value.
"""

REFUSED = {"stablehlo.uniform_dequantize", "stablehlo.uniform_quantize"}
"""Operations on quantized types, which are not supported."""


def is_dynamic(use: Use) -> bool:
    return "dynamic" in use.name or any("?" in type_ for type_ in (*use.operands, *use.results))


STATIC = [use for use in USES if not is_dynamic(use)]
NAMES = sorted({use.name for use in STATIC})


def ends_the_oracle(name: str, label: str) -> bool:
    """Whether jaxlib does not survive a change."""
    return any(re.fullmatch(n, name) and re.fullmatch(c, label) for n, c in ORACLE_CRASHES)


def changes_of(name: str) -> Iterator[tuple[str, Use]]:
    """Every change of every use of an operation that the oracle survives."""
    for use in STATIC:
        if use.name == name:
            for label, change in changed_uses(use):
                if not ends_the_oracle(name, label):
                    yield label, change


def reasons(name: str, label: str) -> list[int]:
    """The exceptions that allow us to reject a change."""
    return [
        i
        for i, (names, labels, _) in enumerate(EXCEPTIONS)
        if re.fullmatch(names, name) and re.fullmatch(labels, label)
    ]


def own_rejection(use: Use) -> str | None:
    """Our message, a located one; None where we accept."""
    try:
        read_stablehlo(use.text(), "f.mlir")
    except LocatedError as error:
        message = str(error).splitlines()[0]
    else:
        return None
    assert re.match(r"f\.mlir:\d+:\d+: error: .", message), message
    return message


# What is wrong before there is an operation: with a type, a name, or the uses of a value.
_NOT_OF_THE_OPERATION = re.compile(
    r"used or defined with type|func\.func|Complex type must|is not defined before|was given"
    r"|expected array, dense|Expected"
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
    assert defined <= set(ROWS)
    used = {use.name for use in USES} | {"stablehlo.return", "stablehlo.async_done"}
    assert defined - REFUSED == used


@pytest.mark.parametrize("use", STATIC, ids=lambda use: use.name)
def test_valid_uses(use: Use):
    assert rejection(use.text()) is None
    assert own_rejection(use) is None


@pytest.mark.parametrize("use", STATIC, ids=lambda use: use.name)
def test_custom_form(use: Use):
    """What jaxlib prints gives the same module as the generic form."""
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
