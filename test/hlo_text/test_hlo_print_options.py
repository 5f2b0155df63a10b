"""The forms of printing are those of XLA, to the letter."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from peers import has_jax
from same_modules import everything, printed_by_xla

from xla_dialect.hlo_text import HloPrintOptions, print_hlo, read_hlo

if has_jax():
    from same_modules import hlo

STORED = sorted((Path(__file__).parents[1] / "programs").glob("*.hlo"))

pytestmark = pytest.mark.jax

CHOICES = (
    "print_percent",
    "print_program_shape",
    "print_operand_shape",
    "include_layout_in_shapes",
    "print_backend_config",
    "print_control_dependencies",
    "print_large_constants",
)
"""The choices that XLA has under the same name. Its Python interface does not reach the comments
that count operands, and metadata it prints with tables in another order at every turn."""


@pytest.mark.parametrize("choice", [None, *CHOICES])
@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_single_choices(path: Path, choice: str | None) -> None:
    text = printed_by_xla(path.read_text())
    theirs: Any = everything()
    theirs.print_metadata = False
    ours = HloPrintOptions(print_metadata=False)
    if choice is not None:
        setattr(theirs, choice, not getattr(theirs, choice))
        ours = replace(ours, **{choice: getattr(theirs, choice)})
    expected = hlo.hlo_module_from_text(text).to_string(theirs)
    assert print_hlo(read_hlo(text), ours).strip() == expected.strip()


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_short_form(path: Path) -> None:
    text = printed_by_xla(path.read_text())
    expected = hlo.hlo_module_from_text(text).to_string(hlo.HloPrintOptions.short_parsable())
    printed = print_hlo(read_hlo(text), HloPrintOptions.short_parsable())
    assert printed.strip() == expected.strip()


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_canonical_form(path: Path) -> None:
    """The same for other names, and a fixed point."""
    text = path.read_text()
    module = read_hlo(text)
    canonical = HloPrintOptions.canonical()
    printed = print_hlo(module, canonical)
    for other in (printed, print_hlo(module, HloPrintOptions.short_parsable())):
        assert print_hlo(read_hlo(other), canonical) == printed
    # XLA makes names of its own here: `a` in a second computation is `a.1`.
    assert print_hlo(read_hlo(printed_by_xla(text)), canonical) == printed
    printed_by_xla(printed)
