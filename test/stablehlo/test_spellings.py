"""
Every spelling of StableHLO's and CHLO's operations that jaxlib takes is taken, and what is printed
of it is the same program; but for what `REFUSED` lists with its reason.
"""

import random
import re

import pytest
from quantized_uses import quantized_uses
from stablehlo_operations import USES
from stablehlo_oracle import rejection
from stablehlo_spellings import program
from stablehlo_uses import Use

from xla_dialect.diagnostics import XlaError
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import print_stablehlo

ALL = [*USES, *quantized_uses()]

# Operation, what is said, and why.
REFUSED = (
    (
        r"stablehlo\.async_start",
        r".*the context of an asynchronous operation is used by something else than its done",
        "a future that an entry returns has no place in `xla`",
    ),
    (
        r"stablehlo\.bitcast_convert",
        r".*\(Result\) declared",
        "jaxlib counts the bits of the expressed type of quantized arrays, not those stored",
    ),
    (
        r"stablehlo\.(all_gather|all_reduce|reduce_scatter)",
        r".*use_global_device_ids without channel_id",
        "jaxlib does not look for the channel of global ids; XLA does",
    ),
    (
        r"stablehlo\.select_and_scatter",
        r"another program",
        "a list of equal elements, which is one element when it is printed, where it stays a literal",
    ),
    (
        r"stablehlo\.infeed",
        r"another program",
        "the layout of what is fed, where none is said, is written as that of the result",
    ),
    (
        r"chlo\.broadcast_.*",
        r".*\(B5\)",
        "jaxlib checks no shapes; no element of one operand belongs to one of the other",
    ),
    (
        r"stablehlo\.dot",
        r".*\(C14\)",
        "jaxlib takes floats on the left and quantized arrays else; the specification has (C14)",
    ),
    (
        r"stablehlo\.all_gather",
        r".*there is no axis",
        "an escape in the name of an axis of a mesh",
    ),
)


TAKEN_APART = re.compile(r"stablehlo\.(tuple|get_tuple_element)")
"""What is written has no tuples: it is the same from the first time that it is written on."""


def difference(text: str) -> str | None:
    """What is wrong with what becomes of a module; None where it is taken and printed as it is."""
    try:
        read = read_stablehlo(text)
        written = print_stablehlo(read)
        again = read_stablehlo(written)
    except XlaError as error:
        return str(error)
    if (why := rejection(written)) is not None:
        return f"jaxlib on what is written: {why}"
    if print_stablehlo(again) != written:
        return "written in another way after it is read again"
    is_same = again.is_structurally_equivalent(read) or TAKEN_APART.search(text) is not None
    return None if is_same else "another program"


def refused(use: Use, text: str) -> set[int]:
    """The reason for which a text is not taken, if it is not; fails where there is none."""
    found = difference(text)
    if found is None:
        return set()
    for number, (names, messages, _) in enumerate(REFUSED):
        if re.fullmatch(names, use.name) and re.match(messages, found):
            return {number}
    raise AssertionError(f"{found}\n{text}")


def texts(use: Use, count: int) -> list[str]:
    """Spellings of a use that jaxlib takes."""
    seed = f"{use.name} {use.operands} {use.attributes}"
    found = (program(use, random.Random(f"{seed} {number}")) for number in range(count))
    return [text for text in found if rejection(text) is None]


@pytest.mark.jax
@pytest.mark.parametrize("part", range(4))
def test_some_spellings(part: int) -> None:
    for use in ALL[part::4]:
        for text in texts(use, 1):
            refused(use, text)


@pytest.mark.jax
@pytest.mark.full
def test_all_spellings() -> None:
    """98 of 100 are taken; each reason is one of something."""
    known: set[int] = set()
    taken = count = 0
    for use in ALL:
        for text in texts(use, 40):
            why = refused(use, text)
            known |= why
            taken, count = taken + (not why), count + 1
    assert count > 10_000
    assert taken > 0.98 * count
    assert known == set(range(len(REFUSED)))
