"""HLO text that is read and printed is the same module for XLA, whoever printed it first."""

from pathlib import Path
from typing import Any

import pytest
from jax_programs import PROGRAMS
from same_modules import assert_round_trip, printed_by_xla

from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.stablehlo import read_stablehlo

STORED = sorted((Path(__file__).parents[1] / "programs").glob("*.hlo"))

pytestmark = pytest.mark.jax


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_stored_programs(path: Path) -> None:
    assert_round_trip(path.read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_lowered_programs(name: str) -> None:
    lowered: Any = PROGRAMS[name].lower()
    assert_round_trip(lowered.as_text(dialect="hlo"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_optimised_programs(name: str) -> None:
    """What XLA CPU makes of them: fusions, schedules, backend configurations, custom calls."""
    executable = PROGRAMS[name].lower().compile().runtime_executable()
    for module in executable.hlo_modules():
        text = printed_by_xla(module.to_string())
        assert_round_trip(text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_stablehlo_becomes_hlo(name: str) -> None:
    printed = print_hlo(read_stablehlo(PROGRAMS[name].lower().as_text()))
    printed_by_xla(printed)
    assert print_hlo(read_hlo(printed)) == printed
