"""Shardy: annotations are kept, manual computations compute what JAX's `shard_map` does."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from peers import DEVICES, has_jax

from lowerings.driver.program import parse_program
from xla_dialect.diagnostics import LocatedError
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.mlir_text import print_mlir
from xla_dialect.reference import run, run_replicated
from xla_dialect.sharding.attributes import meshes_of
from xla_dialect.stablehlo import read_stablehlo

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

X = np.arange(32, dtype=np.float32).reshape(4, 8)


def manual_programs() -> list[tuple[Callable[..., Any], Any, Any]]:
    """Functions of one device's part, with the specifications of argument and result."""
    return [
        (lambda x: x + lax.psum(x, "y"), P("x", "y"), P("x", "y")),
        (lambda x: lax.psum(x, "y") * lax.axis_index("x"), P("x", "y"), P("x")),
        (lambda x: x * (1 + lax.axis_index("y")), P("x"), P(None, ("y", "x"))),
        (lambda x: lax.all_gather(x, "x", axis=0, tiled=True), P("x"), P()),
        (lambda x: lax.ppermute(x, "y", [(0, 1), (1, 0)]), P(("y", "x")), P(("y", "x"))),
        (lambda x: lax.psum_scatter(x, "x", tiled=True), P(None, "y"), P("x", "y")),
        (lambda x: lax.all_to_all(x, "y", 0, 1, tiled=True), P("x", "y"), P("x", None)),
    ]


@pytest.mark.jax
@pytest.mark.parametrize("number", range(7))
def test_shard_map(number: int):
    function, in_spec, out_spec = manual_programs()[number]
    mesh = Mesh(np.array(jax.devices()).reshape(2, DEVICES // 2), ("x", "y"))
    mapped = jax.jit(
        jax.shard_map(function, mesh=mesh, in_specs=in_spec, out_specs=out_spec, check_vma=False)
    )
    lowered = mapped.lower(X)
    text = lowered.as_text()
    assert "sdy.manual_computation" in text
    located = read_stablehlo(lowered.as_text(debug_info=True))
    assert located.is_structurally_equivalent(read_stablehlo(text))
    expected = np.asarray(mapped(X))
    results = run_replicated(read_stablehlo(text), [[X]] * DEVICES, partitions=DEVICES)
    # A result that not all devices agree on is that of device 0 for JAX.
    assert np.array_equal(flatten_results(results[0])[0], expected)


@pytest.mark.jax
@pytest.mark.parametrize("debug_info", [False, True])
def test_identity_under_a_sharding(debug_info: bool):
    """A program of `sdy` and `func` alone, whose format is told from that."""
    mesh = Mesh(np.array(jax.devices()).reshape(2, DEVICES // 2), ("x", "y"))
    sharding = NamedSharding(mesh, P("x", "y"))
    lowered = jax.jit(lambda x: x, in_shardings=sharding, out_shardings=sharding).lower(X)
    module = parse_program(lowered.as_text(debug_info=debug_info), verified=True)
    assert meshes_of(module)["mesh"].sizes == {"x": 2, "y": DEVICES // 2}
    assert np.array_equal(flatten_results(run(module, [X]))[0], X)


@pytest.mark.jax
def test_shardings():
    mesh = Mesh(np.array(jax.devices()).reshape(2, DEVICES // 2), ("x", "y"))

    @functools.partial(jax.jit, in_shardings=NamedSharding(mesh, P("x")), donate_argnums=0)
    def double(x: Any) -> Any:
        return lax.with_sharding_constraint(jnp.sin(x) * 2, NamedSharding(mesh, P("y", None)))

    module = read_stablehlo(double.lower(X).as_text())
    text = print_mlir(module)
    assert 'sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>' in text
    assert "jax.buffer_donor = true" in text
    np.testing.assert_allclose(np.asarray(run(module, [X])[0]), np.sin(X) * 2, rtol=1e-6)


MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'


def function(operations: str) -> str:
    split = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
    return f"{MESH}func.func @main(%a: tensor<4x8xf32> {split}) {{\n{operations}\nreturn\n}}"


ANNOTATIONS = [
    '%0 = sdy.reshard %a <@mesh, [{"x"}, {?}]> : tensor<4x8xf32>',
    '%0 = "sdy.reshard"(%a) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>',
    '%0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<4x8xf32>',
    '%0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x8xf32>',
    '%0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<4x8xf32>',
    "%0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<4x8xf32>",
    "%0 = sdy.constant dense<1.0> : tensor<4x8xf32>",
    "sdy.sharding_group %a group_id=1 : tensor<4x8xf32>",
    'sdy.named_computation<"f">(%a) (%b: tensor<4x8xf32>) {\n'
    "sdy.return %b : tensor<4x8xf32>\n} : (tensor<4x8xf32>) -> tensor<4x8xf32>",
    '%0 = "sdy.manual_computation"(%a) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, '
    'out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>}> '
    '({\n^bb0(%b: tensor<2x8xf32>):\n "sdy.return"(%b) : (tensor<2x8xf32>) -> ()\n}) '
    ": (tensor<4x8xf32>) -> tensor<4x8xf32>",
]


@pytest.mark.parametrize("operation", ANNOTATIONS)
def test_annotations_are_read(operation: str):
    module = read_stablehlo(function(operation))
    assert '#sdy.mesh<["x"=2, "y"=2]>' in print_mlir(module)


def manual(in_sharding: str, part: str = "tensor<2x8xf32>", axes: str = '{"x"}') -> str:
    return function(
        f"%0 = sdy.manual_computation(%a) in_shardings=[{in_sharding}] "
        f'out_shardings=[<@mesh, [{{"x"}}, {{}}]>] manual_axes={axes} (%b: {part}) {{\n'
        f"sdy.return %b : {part}\n}} : (tensor<4x8xf32>) -> tensor<4x8xf32>"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (manual('<@mesh, [{"x"}, {}]>', "tensor<4x8xf32>"), "a part of tensor<4x8xf32> is"),
        (manual('<@other, [{"x"}, {}]>'), "there is no mesh @other"),
        (manual('<@mesh, [{"z"}, {}]>', axes='{"z"}'), "unknown axis 'z'"),
        (manual('<@mesh, [{"x":(1)2}, {}]>'), "is all of the axis"),
        (manual('<@mesh, [{"x"}, {}]>, <@mesh, []>'), "in_shardings has 2 entries for 1 values"),
        (
            function('%0 = sdy.reshard %a <@mesh, [{"x"] > : tensor<4x8xf32>'),
            "expected ',', found ']'",
        ),
        (
            function('%0 = sdy.reshard %a <@mesh, [{"x" : tensor<4x8xf32>'),
            "expected '(', found 'tensor'",
        ),
    ],
)
def test_errors(text: str, message: str):
    with pytest.raises(LocatedError) as caught:
        read_stablehlo(text, "f.mlir")
    assert message in str(caught.value)
    assert str(caught.value).startswith("f.mlir:3:")


def test_tokens_have_no_parts():
    """A manual computation takes and returns them as they are."""
    text = (
        f"{MESH}func.func @main(%t: !stablehlo.token, %a: tensor<4x8xf32>)"
        " -> (!stablehlo.token, tensor<4x8xf32>) {\n"
        '%0:2 = sdy.manual_computation(%t, %a) in_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>] '
        'out_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} '
        "(%u: !stablehlo.token, %b: tensor<2x8xf32>) {\n"
        "sdy.return %u, %b : !stablehlo.token, tensor<2x8xf32>\n"
        "} : (!stablehlo.token, tensor<4x8xf32>) -> (!stablehlo.token, tensor<4x8xf32>)\n"
        "return %0#0, %0#1 : !stablehlo.token, tensor<4x8xf32>\n}"
    )
    read = print_mlir(read_stablehlo(text))
    assert read.count("xla.custom_call") == 2
    assert "func.return %t, " in read
