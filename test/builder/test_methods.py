"""One method per operation of the reference: its name, its arguments, its example."""

import doctest
import inspect
import re
from functools import cache
from typing import Any

import pytest
from built_programs import reparsed
from xdsl.dialects.builtin import ModuleOp

import xla_dialect.builder
from xla_dialect.builder import XlaBuilder
from xla_dialect.ops import OPERATIONS
from xla_dialect.ops.control_flow import ReturnOp

UNARY = (
    "abs acos acosh asin asinh atanh cbrt ceil clz cos cosh erf exp expm1 floor imag is_finite log "
    "log1p logistic neg not_ population_count real round round_nearest_even rsqrt sign sin sinh "
    "sqrt tan tanh"
).split()
COMPARISONS = "eq ne ge gt le lt".split()
BINARY = (
    "add sub mul div pow rem max min and_ or_ xor mulhi shift_left shift_right_arithmetic "
    "shift_right_logical atan2 complex"
).split()

# Names and order of the arguments are those of operations.md.
SIGNATURES = {
    **dict.fromkeys(UNARY, "operand"),
    **dict.fromkeys(BINARY + COMPARISONS, "lhs rhs broadcast_dimensions"),
    **{f"{name}_total_order": "lhs rhs broadcast_dimensions" for name in COMPARISONS},
    "bitcast_convert_type": "operand new_element_type",
    "broadcast": "operand broadcast_sizes",
    "broadcast_in_dim": "operand out_dim_size broadcast_dimensions",
    "call": "computation args",
    "clamp": "min operand max",
    "collapse": "operand dimensions",
    "composite_call": "computation args name composite_attributes version",
    "concat_in_dim": "operands dimension",
    "concatenate": "operands dimension",
    "convert_element_type": "operand new_element_type",
    "dot": "lhs rhs",
    "dot_general": "lhs rhs dimension_numbers preferred_element_type",
    "dynamic_slice": "operand start_indices size_indices",
    "dynamic_update_slice": "operand update start_indices",
    "gather": "operand start_indices offset_dims collapsed_slice_dims slice_sizes start_index_map "
    "index_vector_dim indices_are_sorted",
    "get_tuple_element": "tuple index",
    "iota": "shape iota_dimension",
    "optimization_barrier": "operand",
    "pad": "operand padding_value padding_config",
    "reduce": "operands init_values computation dimensions",
    "reshape": "operand dimensions",
    "rev": "operand dimensions",
    "select": "pred on_true on_false",
    "slice": "operand start_indices limit_indices strides",
    "transpose": "operand permutation",
    "tuple": "elements",
    "while_": "condition body init",
}

WITHOUT_METHOD = {ReturnOp: "the end of a Python function is the end of a computation"}


def methods() -> dict[str, str]:
    """The public methods, with their docstrings."""
    return {
        name: inspect.getdoc(method) or ""
        for name, method in inspect.getmembers(XlaBuilder, inspect.isfunction)
        if not name.startswith("_")
    }


EXAMPLES = [
    pytest.param(example, id=f"{name}-{i}" if i else name)
    for name, text in methods().items()
    for i, example in enumerate(re.findall(r"`(b\.\w+\([^`]*\))`", text.partition("Example")[2]))
]

VALUES = {
    **dict.fromkeys("xy", "f32[4,8]"),
    "v": "f32[8]",
    **dict.fromkeys("nm", "s32[4,8]"),
    **dict.fromkeys("pq", "pred[4,8]"),
    "z": "c64[4,8]",
    "k": "s32[3]",
    "s": "f32[]",
    "i": "s32[]",
    "c": "pred[]",
}
"""What the names in the examples are, as the docstring of `XlaBuilder` says."""


@cache
def program_of(example: str) -> ModuleOp:
    """The program whose root an example makes."""
    b = XlaBuilder("example")
    names: dict[str, Any] = {name: b.constant(0, shape) for name, shape in VALUES.items()}
    root = eval(example.replace("\n", " "), vars(xla_dialect.builder) | {"b": b} | names)
    return b.build(root)


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: str) -> None:
    reparsed(program_of(example))


def test_there_is_an_example_of_every_method() -> None:
    found = {str(parameter.id).split("-")[0] for parameter in EXAMPLES}
    assert methods().keys() - found == {"build", "build_computation"}


def test_there_is_a_method_for_every_operation() -> None:
    made = {
        type(op)
        for (example,) in (p.values for p in EXAMPLES)
        for op in program_of(str(example)).walk()
    }
    assert {op for op in OPERATIONS if op not in made} == WITHOUT_METHOD.keys()


@pytest.mark.parametrize(("name", "arguments"), SIGNATURES.items())
def test_signature(name: str, arguments: str) -> None:
    parameters = inspect.signature(getattr(XlaBuilder, name)).parameters.values()
    positional = [p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
    assert positional[1:] == arguments.split()


def test_every_method_of_the_reference_is_checked() -> None:
    own = {
        "bitcast",
        "build",
        "build_computation",
        "conditional",
        "constant",
        "copy",
        "fusion",
        "parameter",
    }
    assert methods().keys() - SIGNATURES.keys() == own


def test_the_documentation_of_the_package() -> None:
    assert doctest.testmod(xla_dialect.builder, raise_on_error=True).attempted > 10
