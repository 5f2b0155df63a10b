"""From whole arrays to the parts of devices and back: what JAX's HLO text says with custom calls."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from jax_programs import devices
from peers import DEVICES, has_jax

import lowerings
from lowerings.compilation import Options, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.sharding.array_sharding import Shards
from xla_dialect.sharding.attributes import MeshAttr, ShardingAttr
from xla_dialect.sharding.hlo_sharding import HloSharding
from xla_dialect.sharding.mesh import AxisReference
from xla_dialect.spelling import SpellingError

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh as JaxMesh
    from jax.sharding import NamedSharding, PartitionSpec

PROGRAMS = devices.programs() if has_jax() else {}


def test_devices_by_tiles() -> None:
    parts = HloSharding.read("{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}").shards(2, 8)
    assert parts.counts == (2, 1)
    assert [parts.places[device] for device in range(8)] == [(0, 0), (1, 0)] * 4
    assert parts.slices(3, (6, 5)) == (slice(3, 6), slice(0, 5))
    listed = HloSharding.read("{devices=[1,4]3,1,0,2}").shards(2, 4)
    assert [listed.places[device] for device in range(4)] == [(0, 2), (0, 1), (0, 3), (0, 0)]
    everywhere = HloSharding.read("{replicated}").shards(1, 2)
    assert everywhere.slices(1, (3,)) == (slice(0, 3),)


def test_devices_by_axes() -> None:
    mesh = MeshAttr.read('#sdy.mesh<["x"=2, "y"=3], device_ids=[5, 4, 3, 2, 1, 0]>')
    sharding = ShardingAttr.read('<@mesh, [{"y", "x"}, {?}]>')
    parts = Shards.of_mesh(mesh, sharding, 2)
    assert parts.counts == (6, 1)
    assert [parts.places[device][0] for device in (5, 4, 3, 2, 1, 0)] == [0, 2, 4, 1, 3, 5]
    assert Shards.of_mesh(mesh, sharding, 2, [AxisReference("x")]).counts == (2, 1)


@pytest.mark.parametrize(
    "text",
    [
        *("{manual}", "{devices=[2,2]<=[8]}", "{devices=[2]0,1,2}", "{devices=[]0}"),
        *("", "{devices=[4]<=[2,2]T(1)}", "{devices=[4]<=[2,2]T(1,2)}", "{devices=[0]<=[0]}"),
        *("{devices=[999999999,999999999]<=[999999999,999999999]}", "{devices=[4]0,1,2,a}"),
    ],
)
def test_tiles_that_are_refused(text: str) -> None:
    with pytest.raises(SpellingError):
        HloSharding.read(text).shards(1, 4)


@pytest.mark.parametrize(
    "text",
    [
        *('#sdy.mesh<["x"=999999999, "y"=999999999]>', '#sdy.mesh<["x"=0]>'),
        *('#sdy.mesh<["x"=2], device_ids=[0]>', '#sdy.mesh<["x"=2], device_ids=[1, 1]>'),
    ],
)
def test_meshes_that_are_refused(text: str) -> None:
    with pytest.raises(SpellingError):
        MeshAttr.read(text)


def results(text: str, arguments: list[np.ndarray], partitions: int = DEVICES) -> list[Any]:
    """The results of every partition, all given the same arguments."""
    module = parse_program(text, "jax.txt")
    program = compile_module(module, Options(backend="reference", partitions=partitions))
    return program.run_processes([arguments] * partitions)


@pytest.fixture(params=["shardy", "gspmd"])
def partitioner(request: pytest.FixtureRequest) -> Iterator[str]:
    """JAX prints for Shardy, or for the partitioner before it."""
    before = jax.config.values["jax_use_shardy_partitioner"]
    jax.config.update("jax_use_shardy_partitioner", request.param == "shardy")
    jax.clear_caches()
    yield request.param
    jax.config.update("jax_use_shardy_partitioner", before)
    jax.clear_caches()


@pytest.mark.jax
@pytest.mark.parametrize("dialect", ["hlo", "stablehlo"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_shard_map(name: str, dialect: str, partitioner: str) -> None:
    program = PROGRAMS[name]
    expected = [
        np.asarray(x) for x in jax.tree.leaves(program.lower().compile()(*program.arguments))
    ]
    text = program.lower().as_text(dialect)
    assert ("SPMDFullToShardShape" in text) == (partitioner == "gspmd")
    for found in results(text, program.leaves()):
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.jax
@pytest.mark.parametrize("dialect", ["hlo", "stablehlo"])
def test_shardings_of_arguments_and_results(dialect: str, partitioner: str) -> None:
    mesh = JaxMesh(np.array(jax.devices()[:DEVICES])[::-1], ("x",))
    rows, columns = (NamedSharding(mesh, PartitionSpec(*spec)) for spec in (["x"], [None, "x"]))

    def program(x: Any) -> Any:
        return jax.lax.with_sharding_constraint(x * 2, columns) + 1

    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    lowered = jax.jit(program, in_shardings=rows, out_shardings=columns).lower(x)
    for (found,) in results(lowered.as_text(dialect), [x]):
        assert found.tolist() == (2 * x + 1).tolist()


@pytest.mark.jax
@pytest.mark.parametrize("dialect", ["hlo", "stablehlo"])
def test_devices_in_an_order_of_their_own(dialect: str, partitioner: str) -> None:
    order = np.random.default_rng(3).permutation(DEVICES).reshape(2, DEVICES // 2)
    mesh = JaxMesh(np.array(jax.devices())[order], ("a", "b"))
    spec = PartitionSpec("b", "a")

    def local(x: Any) -> Any:
        return x * 10 + jax.lax.axis_index("a") + 2 * jax.lax.axis_index("b")

    mapped = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=spec, out_specs=spec))
    x = jnp.arange(32, dtype=jnp.int32).reshape(8, 4)
    expected = np.asarray(mapped(x))
    for (found,) in results(mapped.lower(x).as_text(dialect), [np.asarray(x)]):
        assert found.tolist() == expected.tolist()


ANNOTATED = """HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] add(a, b)
  ROOT d = f32[] custom-call(c), custom_call_target="Sharding", sharding={replicated}
}

ENTRY main {
  x = f32[2,3] parameter(0)
  zero = f32[] constant(0)
  y = f32[2,3] custom-call(x), custom_call_target="Sharding", sharding={devices=[2,1]<=[2]}
  z = f32[2] reduce(y, zero), dimensions={1}, to_apply=sum
  ROOT r = f32[2] custom-call(z), custom_call_target="xla.sdy.FuncResultSharding", custom_call_has_side_effect=true
}
"""


@pytest.mark.parametrize("backend", ["reference", "llvm", "interpreter"])
def test_annotations_are_their_operands(backend: str) -> None:
    (found,) = lowerings.compile(ANNOTATED, backend=backend)(
        np.arange(6, dtype=np.float32).reshape(2, 3)
    )
    assert found.tolist() == [3, 12]


def test_nothing_is_called_for_annotations() -> None:
    module = parse_program(ANNOTATED, "annotated.hlo")
    PassManager(make_context()).run(module, parse_passes("native{to=tensors}"))
    assert "call" not in print_mlir(module)


CALL = """HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}

ENTRY main {
  a = f32[4] parameter(0)
  ROOT b = f32[2] custom-call(a), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\\"x\\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\\"x\\"}>"}
}
"""


@pytest.mark.parametrize(
    ("text", "partitions", "message"),
    [
        (CALL, 3, "spread over 2 devices, the program runs on 3 partitions (--partitions)"),
        (CALL.replace("@mesh", "@other"), 2, "there is no mesh @other"),
        (CALL.replace('"x"=2', '"y"=2'), 2, "unknown axis 'x'"),
        (CALL.replace('{\\"x\\"}]', '{\\"x\\":(1)2}]'), 2, "is all of the axis"),
        (CALL.replace("f32[4]", "f32[5]"), 2, "size 5 of dimension 0 for 2 devices"),
        (CALL.replace("f32[2]", "f32[3]"), 2, "expected f32[3], found f32[2]"),
        (
            CALL.replace("xla.sdy.in_shardings", "xla.sdy.in"),
            2,
            "GlobalToLocalShape: xla.sdy.in_shardings is missing",
        ),
        (
            CALL.replace("xla.sdy.GlobalToLocalShape", "SPMDFullToShardShape"),
            2,
            "nothing says how the whole array is spread over devices",
        ),
    ],
)
def test_what_is_wrong(text: str, partitions: int, message: str) -> None:
    size = 5 if "f32[5]" in text else 4
    with pytest.raises(XlaError, match=r":5:\d+: error: partition \d: xla.custom_call: ") as caught:
        results(text, [np.zeros(size, np.float32)], partitions)
    assert message in str(caught.value)
