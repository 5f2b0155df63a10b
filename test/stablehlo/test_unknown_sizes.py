"""Acceptance of programs with sizes that are not known, compared with jaxlib's StableHLO verifier.

Valid uses and systematic changes of them, in which sizes are replaced by `?`. What jaxlib rejects
we reject; what it accepts we accept, but for the exceptions below and those of `test_strictness`.
"""

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from stablehlo_acceptance import ends_the_oracle, own_rejection, reasons
from stablehlo_changes import changed_uses
from stablehlo_operations import USES
from stablehlo_oracle import rejection
from stablehlo_uses import Use

from xla_dialect.diagnostics import LocatedError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.stablehlo import read_stablehlo

_TENSOR = re.compile(r"tensor<((?:[0-9?]+x)*)([^<>]*(?:<[^<>]*>)?)>")

# Operation, our message, and why we reject what jaxlib accepts.
EXCEPTIONS = (
    (
        r".*",
        r"\(Size\) sizes \[.*\] are those of one dimension",
        "jaxlib compares operands with the first one, whose size is unknown; the others differ",
    ),
    (
        r"stablehlo\.(dynamic_broadcast_in_dim|dynamic_iota)",
        r"has [0-9]+ sizes for rank [0-9]+",
        "jaxlib does not count the sizes that an operand says, unless it is constant",
    ),
    (
        r"stablehlo\.(reduce_scatter|all_gather|all_to_all)",
        r"\(C[0-9]\) (size|shard_count|.* operands)",
        "jaxlib looks at the number of shards in the result only; here the operand tells",
    ),
    (r"chlo\.top_k", r"k is -1", "jaxlib takes a negative k of an unknown size"),
    (
        r"stablehlo\.dynamic_conv",
        r"\(Result\) declared",
        "jaxlib does not look at the result, whose batch and features are known",
    ),
    (
        r"stablehlo\.reduce_scatter",
        r"declared \(.*\), (inferred|found)",
        "jaxlib does not compare element types of a result whose sizes are unknown",
    ),
    (
        r"stablehlo\.dynamic_conv",
        r"(size|stride|padding|dilation|reversal|window_.*) (has [0-9]+ entries|of window dimension)",
        "jaxlib does not look at windows where sizes of the kernel are unknown",
    ),
    (
        r"stablehlo\.(clamp|select|batch_norm_\w+|reduce|triangular_solve)",
        r"\(Result\) declared",
        "jaxlib infers the result from some of the operands; others have the same sizes",
    ),
    (
        r"stablehlo\.batch_norm_\w+",
        r"\(C3\) features and (offset|mean|variance)",
        "jaxlib compares operands with the scale, whose size is unknown; the others differ",
    ),
    (
        r"stablehlo\.cholesky",
        r"\(Result\) declared",
        "jaxlib does not see that the last two sizes are equal, one of which is known",
    ),
    (
        r"stablehlo\.fft",
        r"\(C4\) the last sizes",
        "jaxlib does not look at the length of a complex transform; XLA does",
    ),
    (
        r"stablehlo\.set_dimension_size",
        r"declared \(.*\), (inferred|found)",
        "jaxlib compares no bounds; in XLA the size of the operand is the bound of the result",
    ),
    (
        r"stablehlo\.(real_dynamic_slice|dynamic_gather)",
        r"\(Result\) declared",
        "jaxlib does not look at the result; rank and offset sizes follow from the operands",
    ),
    (
        r"stablehlo\.dynamic_iota",
        r"\(C3\) the result has element type pred",
        "jaxlib looks at the elements of iota only; XLA has no iota of pred",
    ),
    (
        r"stablehlo\.reshape",
        r"\(C2\) .* elements of \[",
        "jaxlib does not count elements where a size is unknown; none times any number is none",
    ),
)


def opened(type_: str, chance: float, choose: random.Random) -> str:
    """The type with some of its sizes unknown."""
    found = _TENSOR.fullmatch(type_)
    if found is None:
        return type_
    sizes = found.group(1).split("x")[:-1]
    open_sizes = "".join(("?" if choose.random() < chance else size) + "x" for size in sizes)
    return f"tensor<{open_sizes}{found.group(2)}>"


def some_use(choose: random.Random, uses: Sequence[Use]) -> Use | None:
    """A use, changed or not, with unknown sizes; None for one that the oracle does not survive."""
    use, label = choose.choice(uses), "none"
    changes = list(changed_uses(use))
    if changes and choose.random() < 0.75:
        label, use = choose.choice(changes)
    if ends_the_oracle(use.name, label) or reasons(use.name, label):
        return None
    chance = choose.choice((0.2, 0.5, 1))
    operands = [
        type_ if i in use.made else opened(type_, chance, choose)
        for i, type_ in enumerate(use.operands)
    ]
    results = tuple(opened(type_, chance, choose) for type_ in use.results)
    return replace(use, operands=tuple(operands), results=results)


def compare(seed: int, count: int, names: str = ".*") -> Counter[str]:
    """Fails where acceptance differs without a reason; how often which verdict was given."""
    choose = random.Random(seed)
    uses = [use for use in USES if re.fullmatch(names, use.name)]
    verdicts = Counter[str]()
    while verdicts.total() < count:
        use = some_use(choose, uses)
        if use is None or "?" not in "".join((*use.operands, *use.results)):
            continue
        text = use.text()
        expected, found = rejection(text), own_rejection(use)
        assert expected is None or found is not None, f"jaxlib says {expected}\n{text}"
        if expected is None and found is not None:
            allowed = [
                number
                for number, (names, message, _) in enumerate(EXCEPTIONS)
                if re.fullmatch(names, use.name) and re.search(message, found)
            ]
            assert allowed, f"{found}\n{text}"
            verdicts[f"exception {allowed[0]}"] += 1
        else:
            verdicts["accepted" if expected is None else "rejected"] += 1
    return verdicts


@pytest.mark.jax
def test_some_uses():
    verdicts = compare(seed=0, count=500)
    assert min(verdicts["accepted"], verdicts["rejected"]) > 100


@pytest.mark.jax
@pytest.mark.full
def test_many_uses():
    verdicts = compare(seed=1, count=20_000)
    for number, (names, _, _) in enumerate(EXCEPTIONS):
        exception = f"exception {number}"
        assert exception in verdicts or exception in compare(seed=2, count=2_000, names=names)


# What is decided, though sizes are not known; every message names the operation.
WRONG = {
    "%0 = stablehlo.add %x, %y : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<?x3xf32>": "stablehlo.add: (C2)",
    "%0 = stablehlo.reshape %x : (tensor<?x3xf32>) -> tensor<?xf32>": "sizes have to be known",
    "%0 = stablehlo.transpose %x, dims = [0] : (tensor<?x3xf32>) -> tensor<?x3xf32>": "stablehlo.transpose: (C1)",
    "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<?x?xf32>": "stablehlo.dot_general: (C2)",
    "%0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<?x3xf32>": "stablehlo.concatenate: (C4)",
    "%0 = stablehlo.dynamic_iota %n, dim = 2 : (tensor<2xi32>) -> tensor<?x?xf32>": "(C2) iota_dimension = 2",
    "%0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xi32>) -> tensor<?xf32>": "has 2 sizes for rank 1",
    "%0 = stablehlo.dynamic_reshape %x, %n : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x?xi32>": "element types f32 and s32",
    "%0 = stablehlo.dynamic_reshape %x, %k : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x5xf32>": "the sizes are [2, 4]",
    "%0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 0] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>": "broadcast_dimensions [0, 0]",
    "%0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x2xf32>": "(C4) operand sizes [?, 3] map to",
    "%0 = stablehlo.dynamic_pad %x, %z, %n, %n, %k : (tensor<?x3xf32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>": "(C1)",
    "%0 = stablehlo.real_dynamic_slice %x, %n, %n, %n : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32>": "(Result)",
    "%0 = stablehlo.convolution(%x, %y) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>": "stablehlo.convolution: (C6)",
    "%0 = stablehlo.bitcast_convert %y : (tensor<?x2xf32>) -> tensor<?x2x16xi1>": "the widths of",
    "%0 = stablehlo.get_dimension_size %x, dim = 2 : (tensor<?x3xf32>) -> tensor<i32>": "stablehlo.get_dimension_size: (C2)",
    "%0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>": "(C3)",
    '%0:2 = "stablehlo.sort"(%x, %x) <{dimension = 0 : i64}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):\n%p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n}) : (tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>)': "differ in shape",
    "%0 = func.call @f(%x) : (tensor<?x3xf32>) -> tensor<?x2xf32>": "expected result type tensor<?x3xf32>",
}


@pytest.mark.parametrize("operation", WRONG)
def test_what_is_known_decides(operation: str):
    text = (
        "func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x2xf32>, %n: tensor<2xi32>, %z: tensor<i32>) {\n"
        f"%k = stablehlo.constant dense<[2, 4]> : tensor<2xi32>\n{operation}\nreturn\n}}\n"
        "func.func private @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {\nreturn %x : tensor<?x3xf32>\n}"
    )
    with pytest.raises(LocatedError, match=r"^f.mlir:3:[69]: error: ") as caught:
        read_stablehlo(text, "f.mlir")
    assert WRONG[operation] in caught.value.message


def test_the_width_of_an_element_tells_a_size():
    text = "func.func @main(%x: tensor<2xf32>) -> tensor<2x?xi1> {\n%0 = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x?xi1>\nreturn %0 : tensor<2x?xi1>\n}"
    assert "-> tensor<2x32xi1>" in print_mlir(read_stablehlo(text))


@pytest.mark.parametrize(
    "operation",
    [
        '"stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<4x?xf32>, tensor<2xi32>) -> tensor<2x?xf32>',
        '"stablehlo.unary_einsum"(%x) <{einsum_config = "ab->b"}> : (tensor<4x?xf32>) -> tensor<?xf32>',
        '"stablehlo.unary_einsum"(%y) <{einsum_config = "aa->a"}> : (tensor<?x?xf32>) -> tensor<?xf32>',
        '"stablehlo.all_to_all"(%y) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<?x?xf32>) -> tensor<?x?xf32>',
    ],
    ids=["index_select", "einsum", "diagonal", "all_to_all"],
)
def test_what_nothing_contradicts_is_accepted(operation: str):
    """Also where an operation becomes several, whose sizes and limits depend on unknown ones."""
    result = operation.rpartition(" -> ")[2]
    text = (
        "func.func @main(%x: tensor<4x?xf32>, %y: tensor<?x?xf32>, %i: tensor<2xi32>) "
        f"-> {result} {{\n  %0 = {operation}\n  return %0 : {result}\n}}"
    )
    assert operation.partition("(")[0].strip('"') in print_mlir(read_stablehlo(text))


def test_valid_programs_stay_as_they_are():
    text = (
        "module {\n  func.func @main(%x: tensor<?x3xf32>, %n: tensor<2xi32>) -> tensor<?x?xf32> {\n"
        "    %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>\n"
        "    return %0 : tensor<?x?xf32>\n  }\n}"
    )
    kept = print_mlir(read_stablehlo(text))
    assert "stablehlo.dynamic_broadcast_in_dim" in kept
    assert print_mlir(read_stablehlo(kept)) == kept
