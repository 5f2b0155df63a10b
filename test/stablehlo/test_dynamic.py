"""Arrays of unbounded size: kept until argument types are known, then static programs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers import has_jax
from stablehlo_operations import DYNAMIC
from stablehlo_oracle import rejection
from stablehlo_uses import Use
from xdsl.dialects.builtin import TensorType, f32, i32

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.execution.process_calls import run_on_reference
from lowerings.expand.stablehlo import ConvertStablehloToXlaPass
from tools import xla_run
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.reference import run
from xla_dialect.stablehlo import read_stablehlo, takes_dynamic_arguments

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import export, lax

RANDOM = np.random.default_rng(11)


def softmax(x: Any, y: Any) -> Any:
    z = jnp.concatenate([x, x], 0)
    return jax.nn.softmax(z @ y.T).sum(0), x.reshape(-1), jnp.arange(x.shape[0]), x.mean()


def slices_and_pads(x: Any, y: Any) -> Any:
    return (
        *(x[: x.shape[0] // 2], x[::-1], jnp.pad(x, ((0, x.shape[0]), (1, 1)))),
        *(jnp.zeros((x.shape[0], 3)) + 1, jnp.cumsum(x, 0), jnp.sort(y, 0), lax.top_k(x, 2)),
        *(lax.dynamic_slice(x, (1, 0), (1, 2)), x.at[0].set(1), jnp.where(x > 0, x, 0)),
    )


def loops(x: Any, y: Any) -> Any:
    total = lax.fori_loop(0, x.shape[0], lambda i, a: a + x[i], x[0])
    halves = lax.while_loop(lambda v: v.sum() > 1, lambda v: v / 2, jnp.abs(y))
    return total, halves, lax.cond(x[0, 0] > 0, lambda: x * 2, lambda: x)


def custom_calls(x: Any, y: Any) -> Any:
    """What has operands that say the sizes of results, or slices of every row."""
    positive = x[:, :, None] * x[:, None, :] + 4 * jnp.eye(4, dtype=jnp.float32)
    return (
        *(jnp.linalg.cholesky(positive), positive[:, :, 1], lax.top_k(y.T, y.shape[0])),
        *(lax.approx_max_k(x, 2), lax.approx_max_k(y[:, 0], y.shape[0])),
        jax.random.bits(jax.random.key(3, impl="unsafe_rbg"), x.shape),
    )


@pytest.mark.jax
@pytest.mark.parametrize("function", [softmax, slices_and_pads, loops, custom_calls])
def test_export_with_symbolic_shapes(function: Callable[..., Any]):
    b, c = export.symbolic_shape("b, c")
    specs = [jax.ShapeDtypeStruct((size, 4), jnp.float32) for size in (b, c)]
    text = export.export(jax.jit(function))(*specs).mlir_module()
    kept = read_stablehlo(text)
    assert takes_dynamic_arguments(kept)
    assert rejection(str(kept)) is None
    assert print_mlir(read_stablehlo(print_mlir(kept))) == print_mlir(kept)
    for sizes in ((3, 5), (2, 1)):
        arguments = [RANDOM.standard_normal((n, 4)).astype(np.float32) for n in sizes]
        types = [TensorType(f32, argument.shape) for argument in arguments]
        module = read_stablehlo(text, argument_types=types)
        found = run_on_reference(module, arguments, "main")
        expected = jax.tree.leaves(jax.jit(function)(*arguments))
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=2e-5, atol=1e-6)
        converted = read_stablehlo(text)
        spelled = ",".join(f"{n}x4xf32" for n in sizes)
        ConvertStablehloToXlaPass(spelled).apply(make_context(), converted)
        assert converted.is_structurally_equivalent(module)
        passes = parse_passes(
            f'stablehlo-refine-arguments{{types="{spelled}"}},stablehlo-check-shape-assertions,'
            "stablehlo-canonicalize-dynamism,stablehlo-refine-shapes"
        )
        refined = read_stablehlo(text)
        PassManager(make_context()).run(refined, passes)
        for mine, theirs in zip(run_on_reference(refined, arguments, "main"), found, strict=True):
            np.testing.assert_array_equal(np.asarray(mine), np.asarray(theirs))


def test_compile_with_the_passes_of_stablehlo():
    """They come before there is a signature; what a composite applies is there for them."""
    text = (
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
        '%0 = stablehlo.composite "a.b" %x {decomposition = @f} : (tensor<?xf32>) -> tensor<?xf32>\n'
        "return %0 : tensor<?xf32>\n}\n"
        "func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
        "%0 = stablehlo.add %x, %x : tensor<?xf32>\nreturn %0 : tensor<?xf32>\n}"
    )
    pipeline = 'stablehlo-refine-arguments{types="3xf32"},stablehlo-refine-shapes,xla-inline'
    for backend in ("reference", "llvm"):
        program = lowerings.compile(text, backend=backend, pipeline=pipeline)
        assert program(np.array([1, 2, 3], np.float32))[0].tolist() == [2, 4, 6]


SHAPE_OPERANDS = [
    ("indices_of_shape_operands = dense<1> : tensor<1xi64>", None),
    ("indices_of_shape_operands = dense<2> : tensor<1xi64>", "is [2], there are 2 operands"),
    ("indices_of_shape_operands = dense<[1, 1]> : tensor<2xi64>", "has 2 entries for 1 results"),
    ("indices_of_shape_operands = dense<0> : tensor<1xi64>", "f32[?], not a list of sizes"),
    ("a.b = 1", "no operand says the sizes of its results (f32[?,5])"),
]


@pytest.mark.parametrize(("attribute", "message"), SHAPE_OPERANDS)
def test_operands_that_say_sizes(attribute: str, message: str | None):
    text = (
        "func.func @main(%x: tensor<?xf32>) -> tensor<?x5xf32> {\n"
        "%s = stablehlo.constant dense<[4, 5]> : tensor<2xi64>\n"
        f"%0 = stablehlo.custom_call @f(%x, %s) {{{attribute}}} : "
        "(tensor<?xf32>, tensor<2xi64>) -> tensor<?x5xf32>\nreturn %0 : tensor<?x5xf32>\n}"
    )
    if message is None:
        printed = print_mlir(read_stablehlo(text, argument_types=[TensorType(f32, (3,))]))
        assert "xla.custom_call %x " in printed
        assert "(tensor<3xf32>) -> tensor<4x5xf32>" in printed
        wrong = text.replace("[4, 5]", "[4, 6]")
        with pytest.raises(LocatedError, match=r"3:6: .* declared f32\[\?,5\], the sizes are"):
            read_stablehlo(wrong)
        return
    with pytest.raises(
        LocatedError, match=r"^f.mlir:3:6: error: stablehlo.custom_call: "
    ) as caught:
        read_and_convert(text)
    assert message in str(caught.value)


@pytest.mark.jax
def test_shape_assertion():
    (b,) = export.symbolic_shape("b", constraints=["b >= 2"])
    exported = export.export(jax.jit(jnp.sin))(jax.ShapeDtypeStruct((b,), jnp.float32))
    text = exported.mlir_module()
    read_stablehlo(text, argument_types=[TensorType(f32, (2,))])
    with pytest.raises(LocatedError, match=r"Obtained dimension variables: 'b' = 1"):
        read_stablehlo(text, argument_types=[TensorType(f32, (1,))])


@pytest.mark.jax
@pytest.mark.parametrize("use", DYNAMIC, ids=lambda use: use.name)
def test_dynamic_operations_parse_and_print(use: Use):
    assert rejection(use.text()) is None
    text = print_mlir(read_stablehlo(use.text()))
    if "stablehlo." in text:
        assert print_mlir(read_stablehlo(text)) == text
        assert rejection(text) is None


# Operation, operand types, what shape operands are, and the result for the arguments.
X = np.arange(6, dtype=np.float32).reshape(2, 3)
STATIC: list[tuple[str, str, str, Any]] = [
    (
        "stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1, 2] : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<?x2x3xf32>",
        "dense<[4, 2, 3]> : tensor<3xi32>",
        "tensor<4x2x3xf32>",
        np.broadcast_to(X, (4, 2, 3)),
    ),
    (
        "stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<?x?xf32>",
        "dense<[2, 3]> : tensor<2xi64>",
        "tensor<2x3xf32>",
        np.tile(np.arange(3), (2, 1)),
    ),
    (
        "stablehlo.dynamic_pad %x, %z, %s, %s, %s : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>",
        "dense<[0, 1]> : tensor<2xi32>",
        "tensor<2x7xf32>",
        np.array([[0, 0, 0, 1, 0, 2, 0], [0, 3, 0, 4, 0, 5, 0]]),
    ),
    (
        "stablehlo.real_dynamic_slice %x, %o, %s, %o : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>",
        "dense<[2, 3]> : tensor<2xi32>",
        "tensor<1x2xf32>",
        X[1:, 1:],
    ),
    (
        "stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>",
        "dense<[3, 2]> : tensor<2xi32>",
        "tensor<3x2xf32>",
        X.reshape(3, 2),
    ),
    (
        '"stablehlo.dynamic_gather"(%x, %o, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x?xf32>',
        "dense<[1, 2]> : tensor<2xi32>",
        "tensor<2x2xf32>",
        X[[1, 1], :2],
    ),
]


@pytest.mark.parametrize(("operation", "shape", "result", "expected"), STATIC)
def test_constant_shapes(operation: str, shape: str, result: str, expected: Any):
    """The declared result is dynamic, or says the sizes; both become the same program."""
    declared = operation.rsplit("-> ", 1)[1]
    for type_ in (declared, result):
        text = (
            f"func.func @main(%x: tensor<2x3xf32>) -> {result} {{\n"
            f"%s = stablehlo.constant {shape}\n%o = stablehlo.constant dense<1> : tensor<2xi32>\n"
            f"%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
            f"%r = {operation.replace(declared, type_)}\nreturn %r : {type_}\n}}"
        )
        if type_ == declared:
            text = text.replace(f"-> {result} {{", f"-> {declared} {{")
        module = read_stablehlo(text)
        assert "stablehlo" not in print_mlir(module)
        assert np.array_equal(np.asarray(run(module, [X])[0]), expected)


def test_dynamic_convolution():
    operation = (
        '"stablehlo.dynamic_conv"(%x, %k, %p) <{window_strides = array<i64: 1>, dimension_numbers = '
        "#stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, "
        "batch_group_count = 1 : i64}> : (tensor<1x1x4xf32>, tensor<1x1x2xf32>, tensor<1x2xi64>)"
    )
    text = (
        "func.func @main(%x: tensor<1x1x4xf32>, %k: tensor<1x1x2xf32>) -> tensor<1x1x?xf32> {\n"
        "%p = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi64>\n"
        f"%r = {operation} -> tensor<1x1x?xf32>\nreturn %r : tensor<1x1x?xf32>\n}}"
    )
    x, k = np.arange(4, dtype=np.float32), np.array([2, 1], np.float32)
    found = run(read_stablehlo(text), [x.reshape(1, 1, 4), k.reshape(1, 1, 2)])[0]
    assert np.array_equal(np.asarray(found).reshape(-1), [0, 1, 4, 7])


def test_resources_of_a_program_that_stays_dynamic():
    """What stands at the end of its text is put where it belongs, and printed there."""
    text = (
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
        "%c = stablehlo.constant dense_resource<c> : tensor<2xf32>\n"
        "%0 = stablehlo.add %x, %c : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>\n"
        "return %0 : tensor<?xf32>\n}\n"
        '{-#\n  dialect_resources: {\n    builtin: {\n      c: "RESOURCE"\n    }\n  }\n#-}'
    )
    data = np.array([1.5, -2], np.float32)
    resource = "0x04000000" + data.tobytes().hex()
    kept = read_stablehlo(text.replace("RESOURCE", resource))
    for module in (read_stablehlo(str(kept)), kept):
        convert(module, "2xf32")
        found = run(module, [np.ones(2, np.float32)])[0]
        assert np.array_equal(np.asarray(found), data + 1)
    with pytest.raises(LocatedError, match=r"^f.mlir:2:6: error: .*resource 'c'"):
        read_stablehlo(text.replace("RESOURCE", resource[:-2]), "f.mlir")


WRONG = [
    (
        "%0 = stablehlo.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<4xf32>",
        "stablehlo.add: xla.add: (Result) declared (f32[4]), inferred (f32[3])",
    ),
    (
        "%0 = stablehlo.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>",
        "stablehlo.add: xla.add: (C",
    ),
    (
        "%0 = stablehlo.dynamic_reshape %x, %s : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>",
        "stablehlo.dynamic_reshape: (C2)",
    ),
    (
        "%z = stablehlo.convert %y : (tensor<?xf32>) -> tensor<?xi32>\n"
        "%w = stablehlo.slice %z [0:1] : (tensor<?xi32>) -> tensor<1xi32>\n"
        "%0 = stablehlo.dynamic_iota %w, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>",
        "operand 0 says a shape, but depends on the arguments",
    ),
]


@pytest.mark.parametrize(("operation", "message"), WRONG)
def test_errors(operation: str, message: str):
    text = (
        "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) {\n"
        f"%s = stablehlo.constant dense<7> : tensor<1xi32>\n{operation}\nreturn\n}}"
    )
    types = [TensorType(f32, (3,)), TensorType(f32, (2,))]
    converted = read_stablehlo(text, "f.mlir")
    place = rf"^f.mlir:{3 + operation.count(chr(10))}:6: error: "
    with pytest.raises(LocatedError, match=place) as caught:
        convert(converted, "3xf32,2xf32")
    assert message.split(": ", 1)[-1] in str(caught.value)
    if "depends" not in message:
        with pytest.raises(LocatedError, match=r"^f.mlir:3:6: error: ") as caught:
            read_stablehlo(text, "f.mlir", types)
        assert message in str(caught.value)


def read_and_convert(text: str) -> None:
    convert(read_stablehlo(text, "f.mlir"), "3xf32")


def convert(module: Any, arguments: str) -> None:
    passes = parse_passes(f'convert-stablehlo-to-xla{{arguments="{arguments}"}}')
    PassManager(make_context()).run(module, passes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("3xf32", r"takes \(f32\[\?\], s32\[\?\]\), the arguments are \(f32\[3\]\)"),
        ("3xi32,3xi32", r"the arguments are \(s32\[3\], s32\[3\]\)"),
        ("3x3xf32,3xi32", r"the arguments are \(f32\[3,3\], s32\[3\]\)"),
        ("3xf99,3xi32", "'3xf99' is no type like 3x4xf32"),
    ],
)
def test_wrong_arguments(arguments: str, message: str):
    text = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xi32>) {\n%0 = stablehlo.negate %x : tensor<?xf32>\nreturn\n}"
    with pytest.raises(XlaError, match=message):
        convert(read_stablehlo(text), arguments)
    module = read_stablehlo(text, argument_types=[TensorType(f32, (0,)), TensorType(i32, (1,))])
    assert "tensor<0xf32>" in print_mlir(module)


def test_element_types_are_the_declared_ones():
    """A product of bf16 that gives f32 does so whatever its sizes are."""
    text = (
        "func.func @main(%x: tensor<?x3xbf16>, %y: tensor<3x4xbf16>) -> tensor<?x4xf32> {\n"
        "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<?x3xbf16>, tensor<3x4xbf16>) -> tensor<?x4xf32>\n"
        "return %0 : tensor<?x4xf32>\n}"
    )
    converted = read_stablehlo(text)
    convert(converted, "2x3xbf16,3x4xbf16")
    assert "-> tensor<2x4xf32>" in print_mlir(converted)


def test_recursive_calls_end():
    text = (
        "func.func @main(%x: tensor<?xf32>) {\n"
        "%0 = func.call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>\nreturn\n}\n"
        "func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
        "%0 = func.call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>\nreturn %0 : tensor<?xf32>\n}\n"
        "func.func private @g() {\n%0 = stablehlo.constant dense<0> : tensor<i32>\nreturn\n}"
    )
    with pytest.raises(LocatedError, match="calls of @f are recursive"):
        read_stablehlo(text, argument_types=[TensorType(f32, (3,))])


DOUBLED = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


def test_xla_run_takes_the_sizes_of_its_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "doubled.mlir"
    file.write_text(DOUBLED)
    arguments = [str(file), "--input", "3xf32=[1, 2, 3]", "--expected-output", "3xf32=[2, 4, 6]"]
    assert xla_run.main(arguments) == 0
    assert xla_run.main([str(file)]) == 1
    assert "0 inputs for 1 parameters, from which" in capsys.readouterr().err
    assert xla_run.main([str(file), "--input", "3x1xf32=1"]) == 1
    assert "the arguments are (f32[3,1])" in capsys.readouterr().err
