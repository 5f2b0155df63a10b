"""Programs that say how their arrays are split: whole arrays in and out, computed in parts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers import DEVICES
from xdsl.dialects.builtin import ModuleOp

import lowerings
from lowerings.driver.program import parse_program
from lowerings.execution.program_shards import ProgramShards
from lowerings.execution.runnable import PartitionedProgram
from tools import xla_run
from xla_dialect.diagnostics import XlaError


def program(x: str, y: str, mesh: str = '["x"=2, "y"=2]', sizes: str = "7x6") -> str:
    """Adds two arrays, one split as `x` says, with a result that is split as `y` says."""
    return f"""
module attributes {{sdy.meshes = {{mesh = #sdy.mesh<{mesh}>}}}} {{
  func.func @main(%x: tensor<{sizes}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{x}]>}}, %w: tensor<{sizes}xf32>)
      -> (tensor<{sizes}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{y}]>}}) {{
    %y = xla.add %x, %w : tensor<{sizes}xf32>
    func.return %y : tensor<{sizes}xf32>
  }}
}}
"""


def counted(*sizes: int) -> np.ndarray:
    return np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)


SPLIT = [
    ('{"x"}, {"y"}', '{"y"}, {}', '["x"=2, "y"=2]'),
    ('{"x", "y"}, {}', '{}, {"x"}', '["x"=2, "y"=2], device_ids=[3,1,0,2]'),
    ('{}, {"x":(2)2}', '{"x":(1)2}, {"x":(2)2}', '["x"=4]'),
    ('{"x"}, {}', "{}, {}", '["x"=16]'),
]


@pytest.mark.parametrize("backend", ["llvm", "reference", "interpreter"])
@pytest.mark.parametrize(("x", "y", "mesh"), SPLIT)
def test_wholes_are_cut_and_joined(backend: str, x: str, y: str, mesh: str):
    compiled = lowerings.compile(program(x, y, mesh), partitioned=True, backend=backend)
    assert isinstance(compiled, PartitionedProgram)
    array = counted(7, 6)
    (result,) = compiled(array, array[::-1])
    np.testing.assert_array_equal(result, array + array[::-1])


def test_devices_have_parts_of_the_arguments():
    compiled = lowerings.compile(program('{"x"}, {"y"}', '{"x"}, {"y"}'), partitioned=True)
    assert isinstance(compiled, PartitionedProgram)
    assert str(compiled.signature) == "main(%x: f32[7,6], %w: f32[7,6]) -> (f32[7,6])"
    assert str(compiled.local.signature.parameters[0]) == "f32[4,3]"


def test_padding_is_behind_uneven_parts():
    module: ModuleOp = parse_program(program('{"x"}, {}', "{}, {}"))
    shards = ProgramShards.of(module, "main")
    assert shards is not None
    array = counted(7, 6)
    parts = [shards.cut(device, [array, array]) for device in range(shards.device_count)]
    for device, (part, whole) in enumerate(parts):
        row = 4 * (device // 2)
        np.testing.assert_array_equal(part[: 7 - row], array[row : row + 4])
        np.testing.assert_array_equal(part[7 - row :], 0)
        np.testing.assert_array_equal(whole, array)


def test_scalars_stay_scalars():
    text = program('{"x"}, {}', "{}, {}").replace(
        "%w: tensor<7x6xf32>)", "%w: tensor<7x6xf32>, %s: tensor<f32>)"
    )
    array = counted(7, 6)
    (result,) = lowerings.compile(text, partitioned=True)(array, array, np.float32(3))
    np.testing.assert_array_equal(result, 2 * array)


def test_nothing_is_split():
    text = program("{}, {}", "{}, {}").replace("sdy.", "other.")
    compiled = lowerings.compile(text, partitioned=True)
    assert not isinstance(compiled, PartitionedProgram)
    np.testing.assert_array_equal(compiled(counted(7, 6), counted(7, 6))[0], 2 * counted(7, 6))


def test_arrays_that_do_not_fit():
    compiled = lowerings.compile(program('{"x"}, {}', "{}, {}"), partitioned=True)
    with pytest.raises(ValueError, match="2"):
        compiled(counted(7, 6))
    with pytest.raises(ValueError, match=r"f32\[7,6\]"):
        compiled(counted(4, 6), counted(7, 6))


def test_the_cache_keeps_parts(tmp_path: Path):
    text = program('{"x"}, {"y"}', '{"y"}, {}')
    for _ in range(2):
        compiled = lowerings.compile(text, partitioned=True, compile_cache=tmp_path / "cache")
        np.testing.assert_array_equal(compiled(counted(7, 6), counted(7, 6))[0], 2 * counted(7, 6))
        whole = lowerings.compile(text, compile_cache=tmp_path / "cache")
        np.testing.assert_array_equal(whole(counted(7, 6), counted(7, 6))[0], 2 * counted(7, 6))


def test_another_number_of_partitions():
    with pytest.raises(XlaError, match="4 partitions, not for 1 and 3"):
        lowerings.compile(program('{"x"}, {}', "{}, {}"), partitioned=True, partitions=3)


def test_xla_run_splits_and_joins(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    path = tmp_path / "program.mlir"
    path.write_text(program('{"x"}, {"y"}', '{"y"}, {}', sizes="3x2"))
    inputs = ["--input=3x2xf32=[[1,2],[3,4],[5,6]]", "--input=3x2xf32=1"]
    assert xla_run.main([str(path), "--partitions=4", *inputs]) == 0
    out, _ = capfd.readouterr()
    assert out == "f32[3,2] [[2., 3.],\n [4., 5.],\n [6., 7.]]\n"


@pytest.mark.jax
def test_shardings_of_jax():
    """Given to `jit`, said by an argument, and by a constraint: all are computed in parts."""
    import jax  # noqa: PLC0415
    import jax.numpy as jnp  # noqa: PLC0415
    from jax.sharding import NamedSharding, PartitionSpec  # noqa: PLC0415

    from lowerings.jax import jit  # noqa: PLC0415

    auto = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((2, DEVICES // 2), ("x", "y"), axis_types=auto)

    def over(*axes: Any) -> NamedSharding:
        return NamedSharding(mesh, PartitionSpec(*axes))

    def function(x: Any, w: Any) -> Any:
        h = jax.lax.with_sharding_constraint(jnp.tanh(x @ w), over("x", "y"))
        return h, h.sum(0)

    x, w = counted(8, 6) / 48, counted(6, 4) / 24
    expected = jax.jit(function)(x, w)
    shardings: dict[str, Any] = {
        "in_shardings": (over("x"), over(None, "y")),
        "out_shardings": (over("x", "y"), over()),
    }
    given = jit(function, **shardings)
    said = jit(function)
    split = (jax.device_put(x, over("x", "y")), jax.device_put(w, over("y")))
    for fast, arguments in ((given, (x, w)), (said, split), (given, (jnp.asarray(x), w))):
        found = fast(*arguments)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
    assert found[0].sharding == over("x", "y")
    compiled = given.lower(x, w).program
    assert isinstance(compiled, PartitionedProgram)
    assert (
        str(compiled.local.signature)
        == "main(%arg0: f32[4,6], %arg1: f32[6,2]) -> (f32[4,2], f32[4])"
    )


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_custom_calls_run_on_parts_by_their_rules(backend: str):
    """Columns are turned over in each part, sums over rows are summed over devices."""
    text = """
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x6xf32>, tensor<6xf32>) {
    %0 = xla.custom_call %x {custom_call_target = "turn"} attributes {
        sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=6, k=6}, custom>
      } : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %1 = xla.custom_call %0 {custom_call_target = "sums"} attributes {
        sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j]) {i=8, j=6} reduction={i}, custom>
      } : (tensor<8x6xf32>) -> tensor<6xf32>
    func.return %0, %1 : tensor<8x6xf32>, tensor<6xf32>
  }
}
"""
    taken: list[tuple[str, tuple[int, ...]]] = []

    def turn(_: object, x: np.ndarray) -> np.ndarray:
        taken.append(("turn", x.shape))
        return x[:, ::-1]

    def sums(_: object, x: np.ndarray) -> np.ndarray:
        taken.append(("sums", x.shape))
        return x.sum(0)

    calls = {"turn": turn, "sums": sums}
    compiled = lowerings.compile(text, partitioned=True, backend=backend, custom_calls=calls)
    array = counted(8, 6)
    turned, summed = compiled(array)
    np.testing.assert_array_equal(turned, array[:, ::-1])
    np.testing.assert_array_equal(summed, array[:, ::-1].sum(0))
    assert sorted(taken) == [("sums", (4, 6))] * 2 + [("turn", (4, 6))] * 2


@pytest.mark.jax
@pytest.mark.parametrize(("rows", "part"), [(8, (4, 3)), (7, (7, 3))])
def test_authors_say_what_devices_compute(rows: int, part: tuple[int, int]):
    """Also in a loop; along a dimension that is not divisible they get all of it."""
    import jax  # noqa: PLC0415
    from jax.sharding import NamedSharding, PartitionSpec  # noqa: PLC0415
    from jax_programs.custom_partitioning import PARTS, sums_and_next  # noqa: PLC0415

    from lowerings.jax import jit  # noqa: PLC0415

    auto = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((2, DEVICES // 2), ("x", "y"), axis_types=auto)
    over = NamedSharding(mesh, PartitionSpec("x", "y"))

    def function(x: Any) -> Any:
        x = jax.lax.with_sharding_constraint(x, over)

        def step(carry: Any, _: Any) -> Any:
            sums, following = sums_and_next(carry, 2.0)
            return following, sums

        return jax.lax.scan(step, x * 2, None, length=2)

    x = counted(rows, 6)
    PARTS.clear()
    last, sums = jit(function)(x)
    assert PARTS == [part]
    np.testing.assert_array_equal(last, x * 2 + 2)
    np.testing.assert_array_equal(sums, [(x * 2).sum(1) * 2, (x * 2 + 1).sum(1) * 2])


def test_tokens_are_not_passed():
    text = """sdy.mesh @mesh = <["x"=4]>
func.func @main(%t: !stablehlo.token, %x: tensor<8xf32>) -> (!stablehlo.token, tensor<8xf32>) {
  %0:2 = sdy.manual_computation(%t, %x)
      in_shardings=[<@mesh, []>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, []>, <@mesh, [{"x"}]>]
      manual_axes={"x"} (%u: !stablehlo.token, %y: tensor<2xf32>) {
    %1 = stablehlo.custom_call @tell(%u, %y) {has_side_effect = true}
        : (!stablehlo.token, tensor<2xf32>) -> !stablehlo.token
    %2 = stablehlo.custom_call @tell(%1, %y) {has_side_effect = true}
        : (!stablehlo.token, tensor<2xf32>) -> !stablehlo.token
    %3 = stablehlo.add %y, %y : tensor<2xf32>
    sdy.return %2, %3 : !stablehlo.token, tensor<2xf32>
  } : (!stablehlo.token, tensor<8xf32>) -> (!stablehlo.token, tensor<8xf32>)
  return %0#0, %0#1 : !stablehlo.token, tensor<8xf32>
}"""
    told: list[Any] = []

    def tell(_: Any, token: None, part: np.ndarray) -> None:
        told.append(part.tolist())

    program = lowerings.compile(text, partitioned=True, custom_calls={"tell": tell})
    x = counted(8)
    np.testing.assert_array_equal(program(x)[0], x * 2)
    assert sorted(told) == sorted([*x.reshape(4, 2).tolist()] * 2)


@pytest.mark.jax
def test_functions_that_are_gone():
    from lowerings.pjrt.shardings import spread  # noqa: PLC0415

    text = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @CustomSPMDPartitioning(%x) {backend_config = "17"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
    with pytest.raises(XlaError, match=":2:8: the function that JAX left for it is not in this"):
        spread(parse_program(text), 2)
