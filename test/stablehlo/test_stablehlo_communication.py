"""Collectives, transfers, random numbers and custom calls of StableHLO: errors, and what they do."""

from typing import Any

import numpy as np
import pytest
from peers import has_jax
from small_programs import numbers, same

from xla_dialect.devices.process_grid import Host
from xla_dialect.diagnostics import LocatedError
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run, run_replicated
from xla_dialect.stablehlo import read_stablehlo

if has_jax():
    import jax
    from jax import lax

ARGUMENTS = "%x: tensor<4xf32>, %s: tensor<2xui64>, %f: tensor<f32>, %t: !stablehlo.token"
ONE_TO_ONE = "(tensor<4xf32>) -> tensor<4xf32>"
MESH_A = '#stablehlo.mesh<axes=[<name = "a", size = 2>]>'
REF_A = '#stablehlo.axis_ref<name = "a">'
GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            f'"stablehlo.collective_broadcast"(%x) : {ONE_TO_ONE}',
            "replica_groups is missing",
        ),
        (
            f'"stablehlo.collective_broadcast"(%x) <{{replica_groups = dense<0> : tensor<1xi64>}}> : {ONE_TO_ONE}',
            "replica_groups is dense<0> : tensor<1xi64>, not a matrix of i64",
        ),
        (
            f'"stablehlo.collective_broadcast"(%x) <{{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}}> : {ONE_TO_ONE}',
            "xla.collective_broadcast: (C2) replica groups {{0,0}} repeat an id",
        ),
        (
            f'"stablehlo.collective_broadcast"(%x) <{{{GROUPS}, channel_handle = 1 : i64}}> : {ONE_TO_ONE}',
            "channel_handle: 1 : i64 should be of base attribute stablehlo.channel_handle",
        ),
        (
            f'"stablehlo.collective_broadcast"(%x) <{{{GROUPS}, channel_handle = #stablehlo.channel_handle<type = 1>}}> : {ONE_TO_ONE}',
            "channel_handle: handle is missing",
        ),
        (
            f'"stablehlo.all_gather"(%x) <{{all_gather_dim = 1 : i64, {GROUPS}}}> : (tensor<4xf32>) -> tensor<8xf32>',
            "xla.all_gather: (C2) dimension 1 of operand 0: rank 1",
        ),
        (
            f'"stablehlo.all_gather"(%x) <{{all_gather_dim = 0 : i64, {GROUPS}, use_global_device_ids}}> : (tensor<4xf32>) -> tensor<8xf32>',
            "xla.all_gather: (RG5) use_global_device_ids without channel_id",
        ),
        (
            f'"stablehlo.all_to_all"(%x) <{{concat_dimension = 0 : i64, split_dimension = 0 : i64, split_count = 3 : i64, {GROUPS}}}> : {ONE_TO_ONE}',
            "split_count 3 for groups of [2]",
        ),
        (
            f'"stablehlo.all_to_all"(%x) <{{concat_dimension = 1 : i64, split_dimension = 0 : i64, split_count = 2 : i64, {GROUPS}}}> : {ONE_TO_ONE}',
            "(C2) dimensions 0 and 1 of rank 1",
        ),
        (
            f'"stablehlo.collective_permute"(%x) <{{source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}}> : {ONE_TO_ONE}',
            "source_target_pairs is [[0, 1, 2]], not pairs",
        ),
        (
            "stablehlo.rng %f, %f, %x, distribution = GAMMA : (tensor<f32>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>",
            "GAMMA is none of UNIFORM, NORMAL",
        ),
        (
            '"stablehlo.rng_bit_generator"(%s) : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)',
            "rng_algorithm is missing",
        ),
        (
            "stablehlo.get_dimension_size %x, dim = 1 : (tensor<4xf32>) -> tensor<i32>",
            "xla.get_dimension_size: (C2) dimension 1 of rank 1",
        ),
        (
            "stablehlo.dynamic_reshape %x, %f : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>",
            "operand 1 is f32[], not a list of sizes",
        ),
        (
            "stablehlo.negate %x : (tensor<4xf32>) -> tensor<?xf32, #stablehlo.bounds<4, 4>>",
            "2 bounds for 1 dimensions",
        ),
        (
            f"stablehlo.custom_call @f(%x) {{api_version = 9 : i32}} : {ONE_TO_ONE}",
            "api_version is 9, not 0 to 4",
        ),
        (
            f'stablehlo.custom_call @""(%x) : {ONE_TO_ONE}',
            "xla.custom_call: (C1) the target is empty",
        ),
        (
            f"stablehlo.custom_call @f(%x) {{output_operand_aliases = [1 : i64]}} : {ONE_TO_ONE}",
            "output_operand_aliases has 1 : i64",
        ),
        (
            '"stablehlo.infeed"(%t) <{infeed_config = 1 : i64}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)',
            "infeed_config: 1 : i64 should be of base attribute string",
        ),
        *(
            (
                f'"stablehlo.{name}"() : () -> !stablehlo.token',
                "(Operands) found 0, taken are (inputs..., token)",
            )
            for name in ("outfeed", "send")
        ),
        (
            '"stablehlo.recv"(%t) : (!stablehlo.token) -> ()',
            "(Results) found 0, taken are (outputs..., next_token)",
        ),
        *(
            (
                f'"stablehlo.all_gather"(%x) <{{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [{axes}]>}}> : {ONE_TO_ONE}',
                message,
            )
            for mesh, axes, message in (
                ("@lost", REF_A, "replica_groups: there is no mesh @lost"),
                (MESH_A, '#stablehlo.axis_ref<name = "b">', "there is no axis 'b' in the mesh"),
                (MESH_A, f"{REF_A}, {REF_A}", "axes 'a', 'a' overlap"),
                (MESH_A, REF_A.replace(">", ", sub_axis_info = (0)1>"), "[2, 0, 1]"),
                (MESH_A.replace("2", "0"), REF_A, "are not all positive"),
                (MESH_A.replace("2", "-2"), REF_A, "expected a number, found '-'"),
                (MESH_A.replace("2", "1099511627776"), REF_A, "are more than 1048576"),
                (MESH_A.replace("2", "4611686018427387904"), REF_A, "expected a number, found"),
                (
                    MESH_A.replace("]>", "], device_ids=dense<[1, 3]> : tensor<2xi64>>"),
                    REF_A,
                    "2 ids are not 0 to 1",
                ),
                (
                    MESH_A.replace("]>", "], device_ids=dense<1> : tensor<1xi64>>"),
                    REF_A,
                    "1 ids for 2 devices",
                ),
                (
                    MESH_A.replace("size = 2", 'name = "b"'),
                    REF_A,
                    "field name is unknown, or given twice",
                ),
                (MESH_A.replace(", size = 2", ""), REF_A, "field size is missing"),
                ("3 : i32", REF_A, "replica_group_mesh_axes: expected '<', found '3'"),
                (MESH_A, "@a", "replica_group_mesh_axes: expected '<', found '@'"),
            )
        ),
        (
            f'"stablehlo.cross-replica-sum"(%x) <{{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = {MESH_A}, axes = [{REF_A}]>}}> : {ONE_TO_ONE}',
            "should be of base attribute dense",
        ),
        (
            '"stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token',
            "source_target_pairs is [[0, 1, 2]], not pairs",
        ),
    ],
)
def test_error(operation: str, message: str):
    results = operation.rpartition("->")[2].strip()
    name = "" if results == "()" else "%0:2 = " if "(" in results else "%0 = "
    text = f"func.func @main({ARGUMENTS}) {{\n  {name}{operation}\n  return\n}}\n"
    with pytest.raises(LocatedError) as caught:
        read_stablehlo(text, "f.mlir")
    assert message in caught.value.message
    assert caught.value.line == 2


MESHES = """
sdy.mesh @mesh = <["a"=2, "b"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
func.func @main(%x: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<1xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "b">]>}> : (tensor<1xf32>) -> tensor<4xf32>
  %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 8>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)4>]>}> : (tensor<1xf32>) -> tensor<4xf32>
  %2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "it's", size = 4>, <name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">]>}> : (tensor<1xf32>) -> tensor<2xf32>
  %3 = "stablehlo.collective_broadcast"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = []>}> : (tensor<1xf32>) -> tensor<1xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<1xf32>
}
"""


def test_groups_of_a_mesh():
    """Devices count down in `@mesh`; those of the part `(1)4` of an axis of 8 are 2 apart."""
    x = [numbers("f32", [i]) for i in range(8)]
    found = run_replicated(read_stablehlo(MESHES), [[value] for value in x], replicas=8)
    for i, result in enumerate(found):
        row = [3, 2, 1, 0] if i < 4 else [7, 6, 5, 4]
        apart = [i % 2, i % 2 + 2, i % 2 + 4, i % 2 + 6]
        expected = row, apart, [i - i % 2, i - i % 2 + 1], [i]
        same(result, tuple(numbers("f32", values) for values in expected))


REPLICATED = """
func.func @main(%x: tensor<2x4xf32>) -> (tensor<4x2xf32>, tensor<2x4xf32>, tensor<ui32>) {
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, split_dimension = 1 : i64,
    split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
    : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %1 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = stablehlo.replica_id : tensor<ui32>
  return %0, %1, %3 : tensor<4x2xf32>, tensor<2x4xf32>, tensor<ui32>
}
"""


def test_replicas():
    x = [numbers("f32", 10 * i + np.arange(8).reshape(2, 4)) for i in range(2)]
    results = run_replicated(read_stablehlo(REPLICATED), [[value] for value in x], replicas=2)
    for replica, result in enumerate(results):
        columns = slice(2 * replica, 2 * replica + 2)
        exchanged = np.concatenate([value[:, columns] for value in x], 0)
        same(result, (exchanged, x[0] + x[1], numbers("u32", replica)))


PAIRS = "source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>"
KEPT = 'mhlo.frontend_attributes = {_xla_send_recv_source_target_pairs = "{{0,1},{1,2}}"}'


@pytest.mark.parametrize(
    ("pairs", "more"),
    [
        (f", {PAIRS}", ""),
        ("", f"{{{KEPT}}}"),
        (f", {PAIRS}", '{mhlo.frontend_attributes = {a = "b"}}'),
    ],
)
def test_transfers_with_pairs(pairs: str, more: str):
    """As StableHLO has them, and as jaxlib writes those of HLO; with another attribute."""
    channel = (
        f"<{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>{pairs}}}> {more}"
    )
    text = f"""
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %t = stablehlo.create_token : !stablehlo.token
  %r, %u = "stablehlo.recv"(%t) {channel} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %s = "stablehlo.send"(%x, %t) {channel} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %r : tensor<2xf32>
}}
"""
    x = [numbers("f32", [i, -0.0]) for i in range(1, 5)]
    module = read_stablehlo(text)
    found = run_replicated(module, [[value] for value in x], partitions=4)
    none = numbers("f32", [0, 0])
    for result, expected in zip(found, (none, x[0], x[1], none), strict=True):
        same(result, (expected,))


HOST = """
func.func @main() -> tensor<2xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %x, %y, %u = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xf32>, tensor<2xf32>, !stablehlo.token)
  %v = "stablehlo.outfeed"(%x, %u) : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %r, %w = "stablehlo.recv"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 3>,
    is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %s = "stablehlo.send"(%y, %w) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 2>,
    is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %r : tensor<2xf32>
}
"""


def test_host():
    x, y, z = (numbers("f32", [n, n]) for n in range(3))
    host = Host.of([(x, y)], {3: [z]})
    same(run(read_stablehlo(HOST), host=host), (z,))
    same(host.outfeed[0], x)
    same(host.received[4][0], y)


@pytest.mark.jax
@pytest.mark.parametrize("algorithm", ["RNG_THREE_FRY", "RNG_PHILOX", "RNG_DEFAULT"])
def test_bits_of_jax(algorithm: str):
    """The bits that JAX gets, from the program that it makes."""
    key = np.array([1, 2, 3, 4], np.uint32)

    def function(k: Any) -> Any:
        return lax.rng_bit_generator(k, (3, 5), algorithm=lax.RandomAlgorithm[algorithm])

    lowered = jax.jit(function).lower(key)
    found = flatten_results(run(read_stablehlo(lowered.as_text()), [key]))
    same(found, tuple(np.asarray(value) for value in function(key)))


@pytest.mark.jax
def test_random_numbers_of_jax():
    """Keys, splits and distributions of `jax.random`, which are built of integer operations."""
    key = jax.random.key(7)

    def function() -> Any:
        first, second = jax.random.split(key)
        return jax.random.uniform(first, (5,)), jax.random.randint(second, (5,), 0, 10)

    found = flatten_results(run(read_stablehlo(jax.jit(function).lower().as_text())))
    same(found, tuple(np.asarray(value) for value in function()))


@pytest.mark.jax
def test_rng_uniform_of_jax():
    def function(a: Any, b: Any) -> Any:
        return lax.rng_uniform(a, b, (100,))

    arguments = np.float32(2), np.float32(3)
    module = read_stablehlo(jax.jit(function).lower(*arguments).as_text())
    (found,) = flatten_results(run(module, arguments))
    assert found.shape == (100,)
    assert np.all((found >= 2) & (found < 3))
