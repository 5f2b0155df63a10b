"""The table of opcodes agrees with the definitions of the operations."""

import pytest

from xla_dialect.hlo_text.opcodes import DIFFERENCES, OPCODES
from xla_dialect.ops import BY_OPCODE


def test_every_operation_is_read():
    assert set(OPCODES) == set(BY_OPCODE)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences_name_opcodes_and_properties(name: str):
    difference = DIFFERENCES[name]
    definition = BY_OPCODE[name].get_irdl_definition()
    named = {*difference.covered, *difference.renamed.values(), *difference.defaults}
    assert named <= set(definition.properties)


def test_computations_fill_the_regions():
    for name in OPCODES:
        regions = len(BY_OPCODE[name].get_irdl_definition().regions)
        assert bool(OPCODES[name].computations) == (regions > 0 or name == "call"), name


@pytest.mark.parametrize(
    ("name", "count", "takes"),
    [
        ("add", 2, True),
        ("add", 3, False),
        ("iota", 0, True),
        ("tuple", 0, True),
        ("reduce", 4, True),
        ("reduce", 3, False),
        ("dynamic-slice", 1, True),
        ("dynamic-slice", 0, False),
    ],
)
def test_number_of_operands(name: str, count: int, takes: bool):
    assert OPCODES[name].takes_operands(count) == takes
