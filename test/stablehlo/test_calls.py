"""Composites, asynchronous computations, and what StableHLO has left of earlier dialects."""

from typing import Any

import numpy as np
import pytest
from peers import has_jax

from lowerings.driver.context import make_context
from lowerings.simplify.xla_inline import XlaInlinePass
from xla_dialect.diagnostics import LocatedError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.reference import run, run_replicated
from xla_dialect.stablehlo import read_stablehlo

if has_jax():
    import jax
    import jax.numpy as jnp

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(5)


def computed(operation: str, *operands: Array, result: Array) -> Array:
    """One operation on f32 and s32 arrays; `$types` in its text stands for its types."""

    def spell(value: Array) -> str:
        sizes = "".join(f"{size}x" for size in value.shape)
        return f"tensor<{sizes}{'f32' if value.dtype == np.float32 else 'i32'}>"

    types = [spell(operand) for operand in operands]
    arguments = ", ".join(f"%{i}: {t}" for i, t in enumerate(types))
    names = ", ".join(f"%{i}" for i in range(len(operands)))
    text = (
        f"func.func @main({arguments}) -> {spell(result)} {{\n"
        f"%r = {operation.replace('$operands', names)} : ({', '.join(types)}) -> {spell(result)}\n"
        f"return %r : {spell(result)}\n}}"
    )
    return np.asarray(run(read_stablehlo(text), operands)[0])


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,kj->ki", (2, 3), (4, 3)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("ibj,jkb->kib", (2, 5, 3), (3, 4, 5)),
    ("ij,kl->jl", (2, 3), (4, 2)),
    ("i,i->", (3,), (3,)),
    ("i,j->ij", (3,), (2,)),
    ("ij,ij->ij", (3, 2), (3, 2)),
    ("...ij,...jk->...ik", (5, 2, 3), (5, 3, 4)),
    ("i...,...j->ij...", (2, 4, 3), (4, 3, 5)),
    ("...i,i->...", (2, 4, 3), (3,)),
    ("...,...->...", (2, 3), (2, 3)),
    ("ii,i->i", (3, 3), (3,)),
    ("iji,jj->j", (2, 3, 2), (3, 3)),
    ("iii,ij->", (2, 2, 2), (2, 3)),
]


@pytest.mark.parametrize(("config", "left", "right"), EINSUMS)
def test_einsum(config: str, left: tuple[int, ...], right: tuple[int, ...]):
    a, b = (RANDOM.standard_normal(sizes).astype(np.float32) for sizes in (left, right))
    expected = np.asarray(np.einsum(config, a, b))
    found = computed(f'stablehlo.einsum $operands, config = "{config}"', a, b, result=expected)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "config",
    ["ij->ji", "ij->j", "ij->i", "ij->", "ij->ij", "...i->...", "i...->...i", "jj->j", "ii->"],
)
def test_unary_einsum(config: str):
    a = RANDOM.standard_normal((3, 3) if config[0] == config[1] else (2, 3)).astype(np.float32)
    expected = np.asarray(np.einsum(config, a))
    found = computed(f'stablehlo.unary_einsum $operands, config = "{config}"', a, result=expected)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("ij", "is not made of 1 operands, '->' and a result"),
        ("ij,jk->ik", "is not made of 1 operands"),
        ("i.j->i", "is not made of letters, with one '...' for each operand"),
        ("......->...", "is not made of letters, with one '...' for each operand"),
        ("ij->ii", "makes 'ii', with a letter twice"),
        ("ijk->i", "einsum_config has 'ijk->i' for tensor<2x3xf32>"),
        ("i->i", "einsum_config has 'i->i' for tensor<2x3xf32>"),
        ("ii->i", "gives sizes 2 and 3 the letter 'i'"),
        ("ij->ik", "makes 'ik' of 'i"),
    ],
)
def test_einsum_that_is_wrong(config: str, message: str):
    operation = f'stablehlo.unary_einsum $operands, config = "{config}"'
    with pytest.raises(LocatedError, match=r":2:\d+: error: stablehlo.unary_einsum: ") as caught:
        computed(operation, np.zeros((2, 3), np.float32), result=np.zeros(2, np.float32))
    assert message in str(caught.value)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_torch_index_select(dim: int):
    a = RANDOM.standard_normal((4, 5, 6)).astype(np.float32)
    index = np.array([[3, 0], [1, 1]], np.int32)
    operation = (
        f'"stablehlo.torch_index_select"($operands) <{{dim = {dim} : i64, batch_dims = 0 : i64}}>'
    )
    expected = np.take(a, index, dim)
    assert np.array_equal(computed(operation, a, index, result=expected), expected)


@pytest.mark.parametrize("dim", [1, 2])
def test_torch_index_select_with_batch(dim: int):
    a = RANDOM.standard_normal((2, 5, 6)).astype(np.float32)
    index = np.array([[3, 0, 2], [1, 1, 4]], np.int32)
    operation = (
        f'"stablehlo.torch_index_select"($operands) <{{dim = {dim} : i64, batch_dims = 1 : i64}}>'
    )
    expected = np.stack([np.take(a[i], index[i], dim - 1) for i in range(2)])
    assert np.array_equal(computed(operation, a, index, result=expected), expected)


def test_cross_replica_sum():
    text = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.cross-replica-sum"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
    a = np.array([1, 2], np.float32)
    results = run_replicated(read_stablehlo(text), [[a], [10 * a]], replicas=2)
    assert [list(np.asarray(result[0])) for result in results] == [[11, 22], [11, 22]]


COMPOSITE = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = stablehlo.composite "my.op" %a {{{attributes}}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}}
func.func private @f(%a: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = stablehlo.negate %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}}"""


def test_composite():
    attributes = "composite_attributes = {n = 1 : i64}, decomposition = @f, version = 3 : i32"
    module = read_stablehlo(COMPOSITE.format(attributes=attributes))
    kept = (
        'xla.frontend_attributes = "{composite.attributes={n = 1 : i64},'
        'composite.name=\\22my.op\\22,composite.version=\\223\\22}"'
    )
    assert "xla.call %a {to_apply = @f, is_composite = true}" in print_mlir(module)
    assert kept in print_mlir(module)
    assert list(np.asarray(run(module, [np.array([1, 2], np.float32)])[0])) == [-1, -2]
    XlaInlinePass().apply(make_context(), module)
    assert "is_composite" not in print_mlir(module)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ("decomposition = @g", "there is no function @g"),
        ("version = 1 : i32", "decomposition is missing"),
        ("decomposition = @f, version = -1 : i32", "version is -1, which is negative"),
        (
            'decomposition = @f, composite_attributes = "x"',
            "should be of base attribute dictionary",
        ),
    ],
)
def test_composite_errors(attributes: str, message: str):
    with pytest.raises(LocatedError, match=r"^f.mlir:3:8: error: ") as caught:
        read_stablehlo(COMPOSITE.format(attributes=attributes), "f.mlir")
    assert message in str(caught.value)


@pytest.mark.jax
def test_composite_of_jax():
    tangent = jax.lax.composite(lambda x: jnp.sin(x) / jnp.cos(x), name="my.tangent")
    scale = jax.lax.composite(lambda x, *, n: x * n, name="my.scale", version=2)
    jitted = jax.jit(lambda x: scale(tangent(x), n=np.float32(3)))
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    module = read_stablehlo(jitted.lower(x).as_text())
    assert print_mlir(module).count("is_composite = true") == 2
    np.testing.assert_allclose(np.asarray(run(module, [x])[0]), np.tan(x) * 3, rtol=1e-5)


def test_function_that_ends_as_a_computation():
    """As JAX ends the comparators that `lax.approx_max_k` names, which nothing calls."""
    text = (
        "func.func private @second(%0: tensor<f32>, %1: tensor<f32>) -> tensor<f32> {\n"
        "  stablehlo.return %1 : tensor<f32>\n}\n"
        "func.func @main(%0: tensor<f32>) -> tensor<f32> {\n"
        "  %1 = stablehlo.negate %0 : tensor<f32>\n"
        "  %2 = call @second(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
        "  return %2 : tensor<f32>\n}"
    )
    (found,) = run(read_stablehlo(text), [np.float32(3)])
    assert found == -3
    with pytest.raises(LocatedError, match="the function type of @second says"):
        read_stablehlo(
            text.replace("return %1 :", "return %1, %1 :").replace(
                ": tensor<f32>\n}\nfunc.func @main",
                ": tensor<f32>, tensor<f32>\n}\nfunc.func @main",
            )
        )
