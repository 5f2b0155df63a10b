"""One method per operation of XLA's XlaBuilder: its name, its arguments, its example."""

import ast
import doctest
import inspect
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from built_programs import reparsed
from xdsl.dialects.builtin import ModuleOp

import xla_dialect.builder
from tools.repository.api_pages import builder_page, builder_stub
from tools.repository.docs import FOLDER, STUB
from tools.rules import own_labels
from xla_dialect.builder import BuildError, XlaBuilder
from xla_dialect.builder.operation_methods import OPERATION_OF
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops import OPERATIONS, elementwise, operations_of

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

# Names and order of the arguments are those of XLA's XlaBuilder.
SIGNATURES = {
    **dict.fromkeys(UNARY, "operand"),
    **dict.fromkeys(BINARY + COMPARISONS, "lhs rhs broadcast_dimensions"),
    "after_all": "operands",
    "all_gather": "operand all_gather_dim shard_count replica_groups channel_id",
    "all_reduce": "operand computation replica_groups channel_id",
    "all_to_all": "operand split_dimension concat_dimension split_count replica_groups channel_id",
    "collective_permute": "operand source_target_pairs channel_id",
    "cross_replica_sum": "operand replica_groups",
    "custom_call": "target_name args shape",
    "infeed": "shape infeed_config",
    "recv": "shape channel_handle",
    "reduce_scatter": "operand computation scatter_dimension shard_count replica_groups channel_id",
    "replica_id": "",
    "send": "operand channel_handle",
    **{f"{name}_total_order": "lhs rhs broadcast_dimensions" for name in COMPARISONS},
    "batch_norm_grad": "operand scale mean variance grad_output epsilon feature_index",
    "batch_norm_inference": "operand scale offset mean variance epsilon feature_index",
    "batch_norm_training": "operand scale offset epsilon feature_index",
    "bitcast_convert_type": "operand new_element_type",
    "broadcast": "operand broadcast_sizes",
    "broadcast_in_dim": "operand out_dim_size broadcast_dimensions",
    "call": "computation args",
    "cholesky": "a lower",
    "clamp": "min operand max",
    "collapse": "operand dimensions",
    "composite_call": "computation args name composite_attributes version",
    "concat_in_dim": "operands dimension",
    "concatenate": "operands dimension",
    "conv": "lhs rhs window_strides padding feature_group_count batch_group_count",
    "conv_with_general_padding": "lhs rhs window_strides padding lhs_dilation rhs_dilation "
    "feature_group_count batch_group_count",
    "convert_element_type": "operand new_element_type",
    "dot": "lhs rhs",
    "dot_general": "lhs rhs dimension_numbers preferred_element_type",
    "dynamic_slice": "operand start_indices size_indices",
    "dynamic_update_slice": "operand update start_indices",
    "fft": "operand fft_type fft_length",
    "gather": "operand start_indices offset_dims collapsed_slice_dims slice_sizes start_index_map "
    "index_vector_dim indices_are_sorted",
    "get_dimension_size": "operand dimension",
    "get_tuple_element": "tuple index",
    "iota": "shape iota_dimension",
    "map": "operands computation dimensions",
    "optimization_barrier": "operand",
    "pad": "operand padding_value padding_config",
    "reduce": "operands init_values computation dimensions",
    "reduce_precision": "operand exponent_bits mantissa_bits",
    "reduce_window": "operands init_values computation window_dimensions window_strides "
    "base_dilations window_dilations padding",
    "reshape": "operand dimensions",
    "rev": "operand dimensions",
    "rng_bit_generator": "algorithm initial_state shape",
    "rng_normal": "mu sigma shape",
    "rng_uniform": "a b shape",
    "scatter": "operands scatter_indices updates update_computation index_vector_dim "
    "update_window_dims inserted_window_dims scatter_dims_to_operand_dims indices_are_sorted "
    "unique_indices",
    "select": "pred on_true on_false",
    "select_and_scatter": "operand select window_dimensions window_strides padding source "
    "init_value scatter",
    "set_dimension_size": "operand size dimension",
    "slice": "operand start_indices limit_indices strides",
    "sort": "operands comparator dimension is_stable",
    "top_k": "operand k largest",
    "transpose": "operand permutation",
    "triangular_solve": "a b left_side lower unit_diagonal transpose_a",
    "tuple": "elements",
    "while_": "condition body init",
}
WITHOUT_SIGNATURE = {
    "append",  # for operations that are made elsewhere
    "build",
    "build_computation",
    "stand_before",  # for passes
    "conditional",  # has two
    # Those that XLA's XlaBuilder does not have, or has for other purposes:
    "add_dependency",
    "all_gather_done",
    "all_gather_start",
    "all_reduce_done",
    "all_reduce_start",
    "all_to_all_tuple",
    "async_done",
    "async_start",
    "async_update",
    "collective_broadcast",
    "collective_permute_done",
    "collective_permute_start",
    "copy_done",
    "copy_start",
    "domain",
    "infeed_with_token",
    "outfeed",
    "outfeed_with_token",
    "partition_id",
    "ragged_all_to_all",
    "recv_with_token",
    "send_with_token",
    "bitcast",
    "constant",
    "conv_general",
    "copy",
    "dynamic_reshape",
    "fusion",
    "parameter",
    "ragged_dot",
    "rng_get_and_update_state",
    "scaled_dot",
    "scan",
    "stochastic_convert",
}


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
    root = eval(example.replace("\n", " "), vars(xla_dialect.builder) | {"b": b, "np": np} | names)
    return b.build(root)


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: str) -> None:
    reparsed(program_of(example))


WRONG = (None, "?", 1.5, object(), [None], ["a"], [[0]], -1, 2**70, np.ones((2, 2)))


def with_one_wrong(example: str) -> list[Any]:
    """The code of a call with each of its arguments in turn replaced by WRONG."""

    def call() -> ast.Call:
        found = ast.parse(example.replace("\n", " "), mode="eval").body
        assert isinstance(found, ast.Call)
        return found

    def code(changed: ast.Call) -> Any:
        return compile(ast.fix_missing_locations(ast.Expression(changed)), "<example>", "eval")

    codes: list[Any] = []
    wrong = ast.Name("WRONG", ast.Load())
    for position in range(len(call().args)):
        changed = call()
        changed.args[position] = wrong
        codes.append(code(changed))
    for position in range(len(call().keywords)):
        changed = call()
        changed.keywords[position].value = wrong
        codes.append(code(changed))
    return codes


@pytest.mark.parametrize("example", EXAMPLES)
def test_any_wrong_argument(example: str) -> None:
    """It is taken, or it is an error of ours; nothing else happens."""
    places: set[str] = set()
    for code in with_one_wrong(example):
        b = XlaBuilder("example")
        names: dict[str, Any] = {name: b.constant(0, shape) for name, shape in VALUES.items()}
        for wrong in WRONG:
            known = {"b": b, "np": np, "WRONG": wrong} | names
            try:
                eval(code, vars(xla_dialect.builder) | known)
            except BuildError as error:
                places.add(error.file)
            except XlaError:
                pass
    assert places <= {"<example>"}


def test_there_is_an_example_of_every_method() -> None:
    found = {str(parameter.id).split("-")[0] for parameter in EXAMPLES}
    assert methods().keys() - found == {"append", "build", "build_computation", "stand_before"}


def test_there_is_a_method_for_every_operation() -> None:
    made = {
        type(op)
        for (example,) in (p.values for p in EXAMPLES)
        for op in program_of(str(example)).walk()
    }
    assert [op for op in OPERATIONS if op not in made] == []


def test_signatures() -> None:
    for name, arguments in SIGNATURES.items():
        parameters = inspect.signature(getattr(XlaBuilder, name)).parameters.values()
        positional = [p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
        assert positional[1:] == arguments.split(), name


def test_every_method_with_a_section_in_the_reference_is_checked() -> None:
    assert methods().keys() - SIGNATURES.keys() == WITHOUT_SIGNATURE


def test_what_is_generated_is_fresh() -> None:
    """`make docs` writes both."""
    assert STUB.read_text(encoding="utf-8") == builder_stub()
    page = FOLDER / "builder.md"
    assert page.read_text(encoding="utf-8") == builder_page().rstrip() + "\n"


def test_help_shows_signature_and_rules() -> None:
    """Of a method about an operation those of the operation, too; the first line says what it is."""
    for name in methods().keys() - {"append", "build"}:
        text = methods()[name]
        first, *_ = text.splitlines()
        assert first, name
        assert not first.startswith("Example"), name
        assert "self" in inspect.signature(getattr(XlaBuilder, name)).parameters, name
        operation = OPERATION_OF.get(name)
        for rule in own_labels(operation.__doc__ if operation else ""):
            assert f"({rule})" in text, name


def test_functions_of_elements_need_no_more_than_their_class() -> None:
    made = {operation for name, operation in OPERATION_OF.items() if hasattr(XlaBuilder, name)}
    assert made >= set(operations_of(elementwise))


def test_the_documentation_of_the_package() -> None:
    assert doctest.testmod(xla_dialect.builder, raise_on_error=True).attempted > 10
