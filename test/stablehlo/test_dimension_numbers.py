"""Attributes with dimension numbers: fields in any order, a comma behind the last, beside jaxlib."""

import random
from collections.abc import Mapping, Sequence

import pytest
from stablehlo_oracle import printed_attribute

from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.reader import make_reading_context

pytestmark = pytest.mark.jax

LISTS: Mapping[str, Sequence[str]] = {
    "stablehlo.dot": (
        *("lhs_batching_dimensions", "rhs_batching_dimensions"),
        *("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
    ),
    "chlo.ragged_dot": (
        *("lhs_batching_dimensions", "rhs_batching_dimensions"),
        *("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
        *("lhs_ragged_dimensions", "rhs_group_dimensions"),
    ),
    "stablehlo.gather": (
        *("offset_dims", "collapsed_slice_dims", "operand_batching_dims"),
        *("start_indices_batching_dims", "start_index_map"),
    ),
    "stablehlo.scatter": (
        *("update_window_dims", "inserted_window_dims", "input_batching_dims"),
        *("scatter_indices_batching_dims", "scatter_dims_to_operand_dims"),
    ),
}


def numbers(name: str, source: random.Random) -> str:
    """An attribute with some of its fields, in some order."""
    fields = [
        f"{field} = {[source.randrange(9) for _ in range(source.randrange(3))]}"
        for field in LISTS[name]
        if source.random() < 0.7
    ]
    if name in ("stablehlo.gather", "stablehlo.scatter"):
        fields.append(f"index_vector_dim = {source.randrange(3)}")
    source.shuffle(fields)
    comma = "," if fields and source.random() < 0.5 else ""
    return f"#{name}<{', '.join(fields)}{comma}>"


def convolution(source: random.Random) -> str:
    """The numbers of a convolution with their names."""
    rank = 2 + source.randrange(4)
    fields: list[str] = []
    for side, first, second in (
        ("input", "batch", "feature"),
        ("kernel", "input_feature", "output_feature"),
        ("output", "batch", "feature"),
    ):
        one, two, *spatial = source.sample(range(rank), rank)
        fields.append(f"{side}_{first}_dimension = {one}")
        fields.append(f"{side}_{second}_dimension = {two}")
        fields.append(f"{side}_spatial_dimensions = {spatial}")
    source.shuffle(fields)
    return f"#stablehlo.conv<raw {', '.join(fields)}{source.choice(['', ','])}>"


def printed(text: str) -> str:
    """The attribute as it is printed after it is read."""
    context = make_reading_context()
    return str(StableHloParser(context, text, "attribute").parse_attribute())


@pytest.mark.parametrize("name", [*LISTS, "stablehlo.conv"])
def test_printed_as_by_jaxlib(name: str) -> None:
    source = random.Random(name)
    for _ in range(40):
        text = convolution(source) if name == "stablehlo.conv" else numbers(name, source)
        assert printed(text) == printed_attribute(text), text
