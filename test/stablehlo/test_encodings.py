"""Encodings that XLA does not have, as of sparse arrays, are kept; nothing runs such programs."""

import pytest
from peers import has_jax
from stablehlo_operations import ELEMENTWISE, MOVEMENTS
from stablehlo_uses import Use

import lowerings
from lowerings.driver.context import make_context
from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import print_mlir, read_mlir
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import print_stablehlo

if has_jax():
    from stablehlo_oracle import printed, rejection

SPARSE = "#sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>"


def encoded(text: str, encoding: str) -> str:
    return text.replace("tensor<2x3xf32>", f"tensor<2x3xf32, {encoding}>")


USES = [use for use in (*ELEMENTWISE, *MOVEMENTS) if "tensor<2x3xf32>" in use.operands]


@pytest.mark.jax
@pytest.mark.parametrize("use", USES, ids=[use.name for use in USES])
def test_what_is_kept(use: Use) -> None:
    """What jaxlib takes is kept and printed again; and so is what it cannot know, of sparse arrays."""
    text = encoded(use.text(), '"here"')
    if rejection(text) is None:
        written = print_stablehlo(read_stablehlo(text))
        assert printed(written) == printed(text)
        sparse = print_stablehlo(read_stablehlo(encoded(use.text(), SPARSE)))
        assert sparse == written.replace('"here"', SPARSE)
        assert print_stablehlo(read_stablehlo(sparse)) == sparse


PROGRAM = encoded(
    "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
    "  %0 = stablehlo.abs %x : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>\n}\n",
    SPARSE,
)


@pytest.mark.parametrize("backend", ["reference", "llvm", "interpreter"])
def test_nothing_runs_it(backend: str) -> None:
    with pytest.raises(XlaError, match=r"nothing here computes arrays that are encoded as #sparse"):
        lowerings.compile(PROGRAM, backend=backend)


def test_it_is_verified() -> None:
    wrong = PROGRAM.replace("abs %x", "reverse %x, dims = [0, 2]")
    with pytest.raises(XlaError, match=r"stablehlo\.reverse: .*\(C1\)"):
        read_stablehlo(wrong)
    assert SPARSE in print_mlir(read_mlir(print_mlir(read_stablehlo(PROGRAM)), make_context()))
