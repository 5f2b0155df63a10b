"""What XLA's own converter makes of HLO text is read: StableHLO, MHLO, and attributes of both."""

from pathlib import Path

import pytest
from stablehlo_oracle import of_hlo_text, rejection

from xla_dialect.diagnostics import XlaError
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import print_stablehlo

FOLDER = Path(__file__).parents[1]
PROGRAMS = sorted([*FOLDER.glob("hlo_text/*.hlo"), *FOLDER.glob("stablehlo/writing/*.hlo")])

# By the file, what is said of the first fault, and why.
REFUSED = {
    "hlo_text/collectives.hlo": ("split_dimension is missing", "all-to-all of a tuple"),
    "hlo_text/random.hlo": ("a state of its own", "StableHLO has no such generator"),
    "stablehlo/writing/inexpressible.hlo": (
        "a state of its own",
        "StableHLO has no such generator",
    ),
    "stablehlo/writing/of_hlo.hlo": ("async_start", "asynchronous operations of MHLO"),
}


def fault(text: str) -> str | None:
    """What is said of a program that is not read, or not written as jaxlib takes it."""
    try:
        written = print_stablehlo(read_stablehlo(text))
    except XlaError as error:
        return str(error)
    why = rejection(written)
    if why is None and print_stablehlo(read_stablehlo(written)) != written:
        return "written in another way after it is read again"
    return why


# XLA names the aliases of a fusion so, and its definition of the operation has another name.
@pytest.mark.filterwarnings("ignore:.*attribute 'output_operand_aliasing' is kept")
@pytest.mark.jax
def test_what_is_converted_is_read() -> None:
    texts = {
        str(path.relative_to(FOLDER)): text
        for path in PROGRAMS
        if (text := of_hlo_text(path.read_text())) is not None
    }
    assert len(texts) > 15
    faults = {name: found for name, text in texts.items() if (found := fault(text)) is not None}
    assert faults.keys() == REFUSED.keys(), faults
    for name, (said, _) in REFUSED.items():
        assert said in faults[name]
