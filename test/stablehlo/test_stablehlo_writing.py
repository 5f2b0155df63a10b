"""
StableHLO that we write: jaxlib parses and verifies it, and it is the program that was read.

jaxlib's printer brings two texts of one program into one form, names aside.
"""

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax_programs import LIBRARY, MODELS, PROGRAMS
from stablehlo_operations import USES
from stablehlo_oracle import printed, printed_attribute, rejection
from stablehlo_uses import Use
from sweeps import each_or_full
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from lowerings.driver.program import parse_program
from tools.repository.programs import examples
from xla_dialect.hlo_text import read_hlo
from xla_dialect.ops import OPERATIONS
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.legalize.patterns import INEXPRESSIBLE, has_stablehlo
from xla_dialect.stablehlo.writing import StableHloPrintError, print_stablehlo

pytestmark = pytest.mark.jax


def assert_accepted(module: ModuleOp) -> str:
    """Prints a module; jaxlib accepts the text, and reading and printing it changes nothing."""
    text = print_stablehlo(module)
    assert rejection(text) is None, text
    assert print_stablehlo(read_stablehlo(text)) == text
    return text


# Every operation

REASONS: Mapping[str, str] = {op.name: reason for op, reason in INEXPRESSIBLE.items()}


def test_every_operation_is_written_or_has_a_reason() -> None:
    assert [op.name for op in OPERATIONS if has_stablehlo(op) == (op in INEXPRESSIBLE)] == []


@pytest.mark.parametrize("name", sorted(examples()))
def test_examples(name: str) -> None:
    module = parse_program(examples()[name].text, f"{name}.mlir", "mlir", make_context())
    reason = REASONS.get(f"xla.{name}")
    if reason is None:
        assert_accepted(module)
        return
    with pytest.raises(StableHloPrintError, match=reason) as error:
        print_stablehlo(module)
    assert error.value.line > 0
    assert error.value.message.startswith(f"xla.{name}: ")


# Every operation of StableHLO

OTHER_OPERATIONS = re.compile(
    r"stablehlo\.(broadcast|dot|einsum|unary_einsum|torch_index_select|cross-replica-sum|"
    r"tuple|get_tuple_element)"
)
"""What the dialect has another operation for, or none: tuples are taken apart."""

DEFAULTS = (
    (r", precision = \[DEFAULT, DEFAULT\]", ""),
    (r", precision_config = \[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>\]", ""),
    (r", NOTYPE :", " :"),
    (r'backend_config = "", ', ""),
    (r"(indices_are_sorted|unique_indices|is_stable) = false", ""),
    (r"dimension = -1", "dimension = 0"),
    (r"channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, ", ""),
    (r"type = 0>, replica_groups", "type = 1>, replica_groups"),
    (r", *(?=, |\})|(?<=\{), ", ""),
)
"""What one text says and the other leaves to the default; the type of a channel of collectives."""

STRETCHED = "dims = [1, 2] : (tensor<1x3xf32>) -> tensor<3x2x3xf32>"
"""A size of 1 that is stretched is dropped by a reshape first, where the rank changes too."""


def canonical(text: str) -> str:
    """The text as jaxlib prints it, without defaults."""
    found = printed(text)
    for pattern, replacement in DEFAULTS:
        found = re.sub(pattern, replacement, found)
    return re.sub(r" \{stablehlo\.mesh = .*\}$", "", found, flags=re.M)


@pytest.mark.parametrize("use", USES, ids=[f"{i}-{use.name}" for i, use in enumerate(USES)])
def test_operations_of_stablehlo(use: Use) -> None:
    text = use.text()
    written = assert_accepted(read_stablehlo(text))
    is_same = (
        use.name.startswith("stablehlo.")
        and not OTHER_OPERATIONS.fullmatch(use.name)
        and STRETCHED not in printed(text)
        and not (use.name == "stablehlo.all_to_all" and use.operands != use.results)
    )
    if is_same:
        assert canonical(written) == canonical(text)


# Programs of JAX

FORMULAS = re.compile(r"chlo\.\w+|sdy\.manual_computation|@ApproxTopK")
"""What reading takes apart, but for the few that the dialect has too."""

WITH_RESHAPES = ("eigenvalues_of_any",)
"""Programs that drop a size of 1 and stretch it again, which is written as one broadcast."""

ALL = {**PROGRAMS, **LIBRARY, **MODELS}
QUICK = ("bessel_functions", "contracted", "convolved_3d", "exchanges", "flax_transformer")


@pytest.mark.parametrize("name", each_or_full(sorted(ALL), (*PROGRAMS, *QUICK)))
def test_programs_of_jax(name: str) -> None:
    text = ALL[name].lower().as_text()
    written = assert_accepted(read_stablehlo(text))
    is_same = set(FORMULAS.findall(text)) <= set(FORMULAS.findall(written))
    if is_same and name not in WITH_RESHAPES:
        assert canonical(written) == canonical(text)


QUICK_HLO = ("scan", "sort", "convolution_gradient", "psum", "qr", "constants", "donated")


@pytest.mark.parametrize("name", each_or_full(sorted(ALL), QUICK_HLO))
def test_programs_of_hlo(name: str) -> None:
    assert_accepted(read_hlo(ALL[name].lower().as_text("hlo")))


FINITE = st.floats(width=16, allow_nan=False, allow_infinity=False) | st.decimals(
    min_value=1, max_value=30000, places=6
).map(float)


@given(number=FINITE, element=st.sampled_from(("f32", "f64")))
def test_numbers_have_the_digits_of_mlir(number: float, element: str):
    """Six where they are enough, else nine or seventeen, and bits where that is no decimal."""
    literal = f"dense<{number:.17e}> : tensor<{element}>"
    body = f"%0 = stablehlo.constant {literal}\n return %0 : tensor<{element}>"
    module = f"func.func @main() -> tensor<{element}> {{ {body} }}"
    constant = re.search(r"dense<.*", print_stablehlo(read_stablehlo(module)))
    assert constant is not None
    assert constant.group().lower() == printed_attribute(literal).lower()
