"""Every opcode of HLO is an operation of the dialect, and the tables know every operation."""

from tools.repository.docs import FOLDER, NOT_OPERATIONS, PAGES
from tools.repository.programs import examples
from xla_dialect.hlo_text.opcodes import OPCODES
from xla_dialect.ops import BY_OPCODE, OPERATIONS

# The opcodes of XLA in July 2026, as jaxlib 0.10.2 parses them.
HLO_OPCODES = frozenset(
    """
    abs acos acosh add add-dependency after-all all-gather all-gather-done all-gather-start
    all-reduce all-reduce-done all-reduce-start all-to-all and asin asinh async-done async-start
    async-update atan2 atanh batch-norm-grad batch-norm-inference batch-norm-training bitcast
    bitcast-convert broadcast call cbrt ceil cholesky clamp collective-broadcast collective-permute
    collective-permute-done collective-permute-start compare complex concatenate conditional
    constant convert convolution copy copy-done copy-start cosh cosine count-leading-zeros
    custom-call divide domain dot dynamic-reshape dynamic-slice dynamic-update-slice erf exponential
    exponential-minus-one fft floor fusion gather get-dimension-size get-tuple-element imag infeed
    iota is-finite log log-plus-one logistic map maximum minimum mulhi multiply negate not
    opt-barrier or outfeed pad parameter partition-id popcnt power ragged-all-to-all ragged-dot real
    recv recv-done reduce reduce-precision reduce-scatter reduce-window remainder replica-id reshape
    reverse rng rng-bit-generator rng-get-and-update-state round-nearest-afz round-nearest-even
    rsqrt scaled-dot scan scatter select select-and-scatter send send-done set-dimension-size
    shift-left shift-right-arithmetic shift-right-logical sign sine sinh slice sort sqrt
    stochastic-convert subtract tan tanh topk transpose triangular-solve tuple while xor
    """.split()
)


def test_every_opcode_is_an_operation_or_an_exception() -> None:
    assert len(HLO_OPCODES) == 133
    assert HLO_OPCODES - BY_OPCODE.keys() == NOT_OPERATIONS.keys()
    assert BY_OPCODE.keys() <= HLO_OPCODES


def test_operations_document_their_contract_and_are_read_from_hlo() -> None:
    for opcode, operation in BY_OPCODE.items():
        assert (operation.__doc__ or "").strip(), opcode
        assert "infer" in dir(operation), opcode
        assert opcode in OPCODES


def test_every_operation_has_an_example() -> None:
    assert examples().keys() == {op.name.removeprefix("xla.") for op in OPERATIONS}


def test_generated_pages_are_up_to_date() -> None:
    for name, page in PAGES.items():
        text = (FOLDER / name).read_text(encoding="utf-8")
        assert text == page().rstrip() + "\n", f"docs/generated/{name}: run `make docs`"
