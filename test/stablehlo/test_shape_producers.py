"""Shapes of type `index`: which operations take them, and what makes them."""

from typing import Any

import numpy as np
import pytest
from stablehlo_oracle import rejection
from xdsl.dialects.builtin import TensorType, f32

from lowerings.driver.context import make_context
from lowerings.expand.stablehlo import ConvertStablehloToXlaPass
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.reference import run
from xla_dialect.stablehlo import read_stablehlo

MATRIX = "tensor<?x?xf32>"
PAIR = "tensor<2xindex>"

# Operations on %x, %z and the shapes %s, %o, by what their result has for x = [[0, 1, 2], [3, 4, 5]].
X = np.arange(6, dtype=np.float32).reshape(2, 3)
TAKERS: dict[str, tuple[str, Any]] = {
    "reshape": (
        f"stablehlo.dynamic_reshape %x, %s : ({MATRIX}, {PAIR}) -> {MATRIX}",
        X.reshape(3, 2),
    ),
    "iota": (
        f"stablehlo.dynamic_iota %s, dim = 0 : ({PAIR}) -> {MATRIX}",
        np.repeat(np.arange(3), 2).reshape(3, 2),
    ),
    "broadcast": (
        f"stablehlo.dynamic_broadcast_in_dim %z, %s, dims = [] : (tensor<f32>, {PAIR}) -> {MATRIX}",
        np.full((3, 2), 7),
    ),
    "slice": (
        f"stablehlo.real_dynamic_slice %x, %o, %t, %o : ({MATRIX}, {PAIR}, {PAIR}, {PAIR}) -> {MATRIX}",
        X[1:2, 1:3],
    ),
    "pad": (
        f"stablehlo.dynamic_pad %x, %z, %o, %o, %o : ({MATRIX}, tensor<f32>, {PAIR}, {PAIR}, {PAIR}) -> {MATRIX}",
        [
            [7, 7, 7, 7, 7, 7, 7],
            [7, 0, 7, 1, 7, 2, 7],
            [7, 7, 7, 7, 7, 7, 7],
            [7, 3, 7, 4, 7, 5, 7],
            [7, 7, 7, 7, 7, 7, 7],
        ],
    ),
}

# How the shape [3, 2] can be made in a program that takes x.
MAKERS = {
    "constant": "%s = arith.constant dense<[3, 2]> : tensor<2xindex>",
    "generic": '%s = "arith.constant"() {value = dense<[3, 2]> : tensor<2xindex>} : () -> tensor<2xindex>',
    "const_shape": "%s = shape.const_shape [3, 2] : tensor<2xindex>",
    "index_cast": (
        "%i = stablehlo.constant dense<[3, 2]> : tensor<2xi32>\n"
        "%s = arith.index_cast %i : tensor<2xi32> to tensor<2xindex>"
    ),
    "shape_of": (
        f"%y = stablehlo.transpose %x, dims = [1, 0] : ({MATRIX}) -> {MATRIX}\n"
        f"%s = shape.shape_of %y : {MATRIX} -> tensor<2xindex>"
    ),
    "broadcast": (
        "%a = shape.const_shape [3, 1] : tensor<2xindex>\n"
        "%b = shape.const_shape [2] : tensor<1xindex>\n"
        "%s = shape.broadcast %a, %b : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>"
    ),
    "concat": (
        "%a = shape.const_shape [3] : tensor<1xindex>\n"
        "%b = arith.constant dense<2> : tensor<1xindex>\n"
        "%e = shape.const_shape [] : tensor<0xindex>\n"
        "%c = shape.concat %a, %b : tensor<1xindex>, tensor<1xindex> -> tensor<2xindex>\n"
        "%s = shape.concat %c, %e : tensor<2xindex>, tensor<0xindex> -> tensor<2xindex>"
    ),
    "sizes": (
        "%0 = arith.constant 0 : index\n%1 = arith.constant 1 : index\n"
        f"%a = tensor.dim %x, %1 : {MATRIX}\n%b = tensor.dim %x, %0 : {MATRIX}\n"
        "%s = tensor.from_elements %a, %b : tensor<2xindex>"
    ),
    "elements": (
        f"%y = shape.shape_of %x : {MATRIX} -> tensor<2xindex>\n"
        "%0 = arith.constant 0 : index\n%1 = arith.constant 1 : index\n"
        "%a = tensor.extract %y[%1] : tensor<2xindex>\n%b = tensor.extract %y[%0] : tensor<2xindex>\n"
        "%s = tensor.from_elements %a, %b : tensor<2xindex>"
    ),
    "arithmetic": (
        f"%y = shape.shape_of %x : {MATRIX} -> tensor<2xindex>\n"
        "%n = shape.num_elements %y : tensor<2xindex> -> index\n"
        "%i = arith.index_cast %n : index to i32\n%2 = arith.constant 2 : i32\n"
        "%a = arith.divsi %i, %2 : i32\n%b = arith.subi %i, %a : i32\n%c = arith.addi %b, %2 : i32\n"
        "%d = arith.muli %c, %2 : i32\n%e = arith.remsi %d, %a : i32\n%f = arith.maxsi %e, %2 : i32\n"
        "%g = arith.minsi %f, %a : i32\n%h = arith.extsi %a : i32 to i64\n%j = arith.trunci %h : i64 to i32\n"
        "%s32 = tensor.from_elements %j, %g : tensor<2xi32>\n"
        "%s = arith.index_cast %s32 : tensor<2xi32> to tensor<2xindex>"
    ),
    "cast": (
        f"%y = shape.shape_of %x : {MATRIX} -> tensor<2xindex>\n"
        "%c = tensor.cast %y : tensor<2xindex> to tensor<?xindex>\n"
        "%d = tensor.cast %c : tensor<?xindex> to tensor<2xindex>\n"
        "%e = arith.constant dense<[1, -1]> : tensor<2xindex>\n%s = arith.addi %d, %e : tensor<2xindex>"
    ),
    "call": (
        "%c = shape.const_shape [3, 2] : tensor<2xindex>\n"
        "%s = func.call @same(%c) : (tensor<2xindex>) -> tensor<2xindex>"
    ),
}


def program(maker: str, taker: str) -> str:
    return (
        f"func.func @main(%x: {MATRIX}) -> {MATRIX} {{\n"
        "%z = stablehlo.constant dense<7.0> : tensor<f32>\n"
        "%o = arith.constant dense<1> : tensor<2xindex>\n"
        "%t = shape.const_shape [2, 3] : tensor<2xindex>\n"
        f"{maker}\n%r = {taker}\nreturn %r : {MATRIX}\n}}\n"
        "func.func private @same(%s: tensor<2xindex>) -> tensor<2xindex> {\n"
        "return %s : tensor<2xindex>\n}"
    )


PROGRAMS = [
    *(pytest.param(MAKERS["constant"], *taker, id=name) for name, taker in TAKERS.items()),
    *(pytest.param(maker, *TAKERS["reshape"], id=name) for name, maker in MAKERS.items()),
]


@pytest.mark.parametrize(("maker", "taker", "expected"), PROGRAMS)
def test_shapes_of_type_index(maker: str, taker: str, expected: Any):
    text = program(maker, taker)
    kept = read_stablehlo(text)
    assert print_mlir(read_stablehlo(print_mlir(kept))) == print_mlir(kept)
    ConvertStablehloToXlaPass("2x3xf32").apply(make_context(), kept)
    module = read_stablehlo(text, argument_types=[TensorType(f32, (2, 3))])
    assert kept.is_structurally_equivalent(module)
    assert "index" not in print_mlir(module)
    assert np.array_equal(np.asarray(run(module, [X])[0]), expected)


@pytest.mark.jax
@pytest.mark.parametrize(("maker", "taker", "expected"), PROGRAMS)
def test_jaxlib_takes_them_as_read_and_as_printed(maker: str, taker: str, expected: Any):
    text = program(maker, taker)
    assert rejection(text) is None
    assert rejection(print_mlir(read_stablehlo(text))) is None


@pytest.mark.jax
def test_shape_that_is_an_argument():
    """It stays StableHLO, and is asked for where the sizes have to be known."""
    text = (
        f"func.func @main(%x: {MATRIX}, %s: {PAIR}) -> {MATRIX} {{\n"
        f"%r = {TAKERS['reshape'][0]}\nreturn %r : {MATRIX}\n}}"
    )
    kept = read_stablehlo(text)
    assert rejection(str(kept)) is None
    with pytest.raises(XlaError, match="operand 1 says a shape, but depends on the arguments"):
        ConvertStablehloToXlaPass("2x3xf32,2xindex").apply(make_context(), kept)


# Refused by jaxlib too, in a function of %s: tensor<2xindex>, %i: tensor<2xi32>, %v: tensor<2x3xf32>.
REFUSED = {
    "%0 = stablehlo.constant dense<[3, 2]> : tensor<2xindex>": "index is not an element type of XLA",
    "%0 = stablehlo.add %s, %s : tensor<2xindex>": "operand 0 is tensor<2xindex>: index is not",
    "%0 = stablehlo.convert %s : (tensor<2xindex>) -> tensor<2xi64>": "operand 0 is tensor<2xindex>",
    "%0 = stablehlo.convert %i : (tensor<2xi32>) -> tensor<2xindex>": "index is not an element type",
    "%0 = stablehlo.dynamic_reshape %s, %s : (tensor<2xindex>, tensor<2xindex>) -> tensor<?x?xf32>": (
        "operand 0 is tensor<2xindex>"
    ),
    '%0 = "stablehlo.dynamic_gather"(%v, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xindex>) -> tensor<2x?xf32>': (
        "operand 2 is tensor<2xindex>"
    ),
    "%0 = arith.constant dense<1> : tensor<3xindex>\n%1 = stablehlo.abs %0 : tensor<3xindex>": (
        "operand 0 is tensor<3xindex>"
    ),
    "%c = stablehlo.constant dense<1> : tensor<2xui8>\n%0 = arith.index_cast %c : tensor<2xui8> to tensor<2xindex>": (
        "casts between index and signless"
    ),
    "%0 = arith.index_cast %i : tensor<2xi32> to tensor<2xi64>": "casts between index and",
    "%0 = arith.index_cast %v : tensor<2x3xf32> to tensor<2x3xindex>": "casts between index and",
    "%0 = arith.index_cast %i : tensor<2xi32> to tensor<3xindex>": "xla.convert",
    "%0 = shape.const_shape [3, 2] : tensor<3xindex>": "is tensor<3xindex>, not tensor<2xindex>",
    "%0 = shape.const_shape [3, 2] : tensor<2xi64>": "is tensor<2xi64>, not tensor<2xindex>",
    "%0 = shape.shape_of %v : tensor<2x3xf32> -> tensor<3xindex>": "not tensor<2xindex>",
    "%0 = shape.shape_of %v : tensor<2x3xf32> -> tensor<2xi32>": "not tensor<2xindex>",
    "%0 = shape.concat %i, %i : tensor<2xi32>, tensor<2xi32> -> tensor<4xindex>": (
        "operand 0 is tensor<2xi32>, not a shape of type index"
    ),
    "%0 = arith.constant 1 : i32\n%1 = stablehlo.abs %0 : i32": "operand 0 is i32",
    "%0 = tensor.cast %v : tensor<2x3xf32> to tensor<2x4xf32>": "cannot be tensor<2x4xf32>",
    "%0 = tensor.cast %v : tensor<2x3xf32> to tensor<?xf32>": "cannot be tensor<?xf32>",
    "%0 = tensor.cast %i : tensor<2xi32> to tensor<2xi64>": "cannot be tensor<2xi64>",
    '%0 = "tensor.dim"(%v, %i) : (tensor<2x3xf32>, tensor<2xi32>) -> index': "takes tensor<2xi32> and gives index",
    "%0 = arith.constant 0 : index\n%1 = tensor.extract %v[%0] : tensor<2x3xf32>": "type f32 is not supported",
    "%0 = arith.constant 0 : index\n%1 = tensor.from_elements %0, %0 : tensor<3xindex>": (
        "2 numbers give tensor<3xindex>"
    ),
    "%0 = arith.constant 0 : i32\n%1 = arith.trunci %0 : i32 to i64": "i32 to i64",
    "%0 = arith.constant 0 : i32\n%1 = arith.extsi %0 : i32 to i32": "i32 to i32",
    "%0 = stablehlo.constant dense<1.0> : tensor<f32>\n%1 = arith.addi %0, %0 : tensor<f32>": (
        "takes and returns integers of one type"
    ),
    '%0 = arith.constant 0 : i32\n%1 = arith.constant 0 : index\n%2 = "arith.addi"(%0, %1) : (i32, index) -> index': (
        "takes and returns integers of one type"
    ),
    '%0 = "shape.num_elements"(%i) : (tensor<2xi32>) -> index': "not a shape of type index",
    '%0 = "arith.constant"() {value = 1 : i32} : () -> i64': "value is 1 : i32, the result i64",
}

# What MLIR leaves to when a program runs, though the sizes are known.
OUT_OF_RANGE = {
    "%0 = arith.constant 2 : index\n%1 = tensor.dim %v, %0 : tensor<2x3xf32>": "dimension 2 of",
    "%0 = arith.constant 2 : index\n%1 = tensor.extract %s[%0] : tensor<2xindex>": "index (2,) of",
}


@pytest.mark.parametrize("operation", OUT_OF_RANGE)
def test_out_of_range(operation: str):
    text = f"func.func @main(%s: {PAIR}, %v: tensor<2x3xf32>) {{\n{operation}\nreturn\n}}"
    with pytest.raises(LocatedError, match=r"^f.mlir:3:[0-9]+: error: ") as caught:
        read_stablehlo(text, "f.mlir")
    assert OUT_OF_RANGE[operation] in str(caught.value)


@pytest.mark.jax
@pytest.mark.parametrize(("operation", "message"), REFUSED.items())
def test_refused(operation: str, message: str):
    text = (
        "func.func @main(%s: tensor<2xindex>, %i: tensor<2xi32>, %v: tensor<2x3xf32>) {\n"
        f"{operation}\nreturn\n}}"
    )
    assert rejection(text) is not None
    with pytest.raises(LocatedError, match=r"^f.mlir:[234]:[0-9]+: error: ") as caught:
        read_stablehlo(text, "f.mlir")
    assert message in str(caught.value)


def test_shapes_that_do_not_broadcast():
    text = (
        "func.func @main() {\n%a = shape.const_shape [4, 3] : tensor<2xindex>\n"
        "%b = shape.const_shape [2] : tensor<1xindex>\n"
        "%0 = shape.broadcast %a, %b : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>\n"
        "return\n}"
    )
    with pytest.raises(LocatedError, match=r"shapes \[4, 3\] and \[2\] do not broadcast"):
        read_stablehlo(text)
