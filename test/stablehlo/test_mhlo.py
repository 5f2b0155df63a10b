"""MHLO is read by the definitions of StableHLO and CHLO, with what only it has; never written."""

import re
from typing import Any

import numpy as np
import pytest
from peers import has_jax
from stablehlo_operations import USES
from stablehlo_uses import Use

import lowerings
from lowerings.driver.program import detect_format
from xla_dialect.diagnostics import XlaError
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import print_stablehlo

if has_jax():
    from stablehlo_oracle import mhlo_printed, printed, rejection

X = np.array([[0.5, -1, 3], [2, -4, 0.25]], np.float32)


def in_mhlo(use: Use) -> str:
    """A use in the dialect that StableHLO came from, whose lists are dense literals."""

    def dense(found: re.Match[str]) -> str:
        numbers = found.group(2).split(", ") if found.group(2) else []
        return f"dense<[{', '.join(numbers)}]> : tensor<{len(numbers)}x{found.group(1)}>"

    text = re.sub(r"array<(i\d+)(?:: ([^<>]*))?>", dense, use.text())
    text = re.sub(r"#stablehlo\.bounds<(.*?)>", r"#mhlo.type_extensions<bounds = [\1]>", text)
    return re.sub(r'(["#!])(?:stable|c)hlo', r"\1mhlo", text)


@pytest.mark.jax
def test_operations_of_stablehlo() -> None:
    """What jaxlib takes in MHLO, in both forms, is the program that StableHLO says."""
    count, refused = 0, set[str]()
    for use in USES:
        expected = printed(print_stablehlo(read_stablehlo(use.text())))
        for generic in (False, True):
            text = mhlo_printed(in_mhlo(use), generic)
            if text is None:
                continue
            count += 1
            assert detect_format(text) == "stablehlo"
            written = print_stablehlo(read_stablehlo(text))
            if rejection(written) is not None:
                refused.add(use.name)
            else:
                assert printed(written) == expected, text
    assert count > 400
    assert not refused


def program(operation: str, result: str = "tensor<2x3xf32>") -> str:
    return (
        f"func.func @main(%x: tensor<2x3xf32>) -> {result} {{\n"
        f"  %t = mhlo.create_token : !mhlo.token\n  %0 = {operation}\n  return %0 : {result}\n}}\n"
    )


ROW, SAME = "tensor<2x3xf32>", "(tensor<2x3xf32>) -> tensor<3x2xf32>"
LAYOUT = "dense<[{}]> : tensor<2xindex>"
ONLY_MHLO: dict[str, tuple[str, Any]] = {
    "copy": (program(f"mhlo.copy %x {{cross_program_prefetch_index = 1 : i32}} : {ROW}"), X),
    "dependency": (program(f"mhlo.add_dependency %x, %t : ({ROW}, !mhlo.token) -> {ROW}"), X),
    "fusion": (
        program(
            '"mhlo.fusion"(%x) <{fusion_kind = #mhlo<fusion_kind kLoop>, output_operand_aliases = []}> ({\n'
            f"^bb0(%y: {ROW}):\n  %1 = mhlo.negate %y : {ROW}\n  mhlo.return %1 : {ROW}\n"
            f"}}) : ({ROW}) -> {ROW}"
        ),
        -X,
    ),
    "bitcast": (program(f"mhlo.bitcast %x : {SAME}", "tensor<3x2xf32>"), X.reshape(3, 2)),
    "bitcast of columns": (
        program(
            f"mhlo.bitcast %x {{source_layout = {LAYOUT.format('0, 1')}, "
            f"result_layout = {LAYOUT.format('1, 0')}}} : {SAME}",
            "tensor<3x2xf32>",
        ),
        X.T,
    ),
    "bitcast to columns": (
        program(
            f"mhlo.bitcast %x {{result_layout = {LAYOUT.format('0, 1')}}} : {SAME}",
            "tensor<3x2xf32>",
        ),
        X.reshape(2, 3).T,
    ),
    "bits": (
        program('"mhlo.bitcast"(%x) : (tensor<2x3xf32>) -> tensor<2x3xi32>', "tensor<2x3xi32>"),
        X.view(np.int32),
    ),
    "topk": (
        program(
            "mhlo.topk(%x, k = 2, largest = false) : "
            "tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)",
            "tensor<2x2xf32>",
        ).replace("%0 =", "%0, %1 ="),
        np.sort(X)[:, :2],
    ),
    "erf": (
        program(f"mhlo.erf %x : {ROW}"),
        [[0.5204998778, -0.8427007929, 0.9999779095], [0.9953222650, -0.9999999846, 0.2763263902]],
    ),
}


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("name", ONLY_MHLO)
def test_operations_of_its_own(name: str, backend: str) -> None:
    text, expected = ONLY_MHLO[name]
    (found,) = lowerings.compile(text, backend=backend)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert "mhlo." not in print_stablehlo(read_stablehlo(text))


@pytest.mark.jax
@pytest.mark.parametrize("name", ONLY_MHLO)
def test_jaxlib_takes_them(name: str) -> None:
    for generic in (False, True):
        text = mhlo_printed(ONLY_MHLO[name][0], generic)
        assert text is not None
        written = print_stablehlo(read_stablehlo(text))
        assert written == print_stablehlo(read_stablehlo(print_stablehlo(read_stablehlo(written))))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("mhlo.trace %x", "mhlo.trace: this operation is not supported"),
        (
            f"mhlo.bitcast %x {{source_layout = {LAYOUT.format('0, 2')}}} : {SAME}",
            "source_layout is .*, not an order of 2 dimensions",
        ),
    ],
)
def test_errors(operation: str, message: str) -> None:
    with pytest.raises(XlaError, match=message):
        read_stablehlo(program(operation, "tensor<3x2xf32>"))
