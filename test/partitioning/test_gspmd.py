"""Programs annotated for GSPMD, in StableHLO and in HLO, are partitioned as Shardy's are."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jax_programs.sharded import PROGRAMS, ShardedProgram
from peers import DEVICES, has_jax
from sweeps import each_or_full

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.execution.runnable import PartitionedProgram
from lowerings.partitioning.xla_report_communication import communication_of
from lowerings.pipelines import PARTITIONING
from tools import xla_run
from xla_dialect.diagnostics import XlaError

if has_jax():
    import jax


pytestmark = pytest.mark.filterwarnings(
    "ignore::lowerings.partitioning.partition_warning.PartitionWarning"
)


@contextmanager
def for_gspmd() -> Iterator[None]:
    """JAX prints for the partitioner before Shardy."""
    before = jax.config.values["jax_use_shardy_partitioner"]
    jax.config.update("jax_use_shardy_partitioner", False)
    jax.clear_caches()
    try:
        yield
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)
        jax.clear_caches()


def bytes_of(text: str, input_format: Any) -> float:
    """What a device sends, of a program that is partitioned."""
    module = parse_program(text, "jax.txt", input_format)
    PassManager(make_context()).run(module, parse_passes(",".join(PARTITIONING)))
    report = communication_of(module)
    assert report.devices == DEVICES
    return report.bytes


def results_in_parts(text: str, arguments: Sequence[Any]) -> Sequence[Any]:
    """Of the program run on a thread for each device."""
    compiled = lowerings.compile(text, partitioned=True)
    assert isinstance(compiled, PartitionedProgram)
    assert compiled.local.process_counts == (1, DEVICES)
    return compiled(*arguments)


def texts_for_gspmd(program: ShardedProgram) -> list[str]:
    """The program in HLO and in StableHLO; XLA itself cannot compile some that are partly manual."""
    with for_gspmd():
        lowered = program.jitted().lower(*program.arguments)
        return [lowered.as_text(each) for each in FORMATS]


FORMATS: tuple[Any, ...] = ("hlo", "stablehlo")


@pytest.mark.jax
@pytest.mark.parametrize("name", each_or_full(PROGRAMS, ["ring_attention"]))
def test_as_many_bytes_as_for_shardy(name: str) -> None:
    """Of both texts; the borders of shard_map cost nothing."""
    program = PROGRAMS[name](DEVICES)
    hlo, stablehlo = texts_for_gspmd(program)
    assert "mhlo.sharding" in stablehlo
    assert "sdy." not in stablehlo
    wanted = bytes_of(program.stablehlo(), "stablehlo")
    assert [bytes_of(hlo, "hlo"), bytes_of(stablehlo, "stablehlo")] == [wanted, wanted]


@pytest.mark.jax
@pytest.mark.parametrize("name", each_or_full(PROGRAMS, ["partly_manual"]))
def test_parts_give_what_jax_gives(name: str) -> None:
    program = PROGRAMS[name](DEVICES)
    expected = jax.tree.leaves(program.jitted()(*program.arguments))
    for text in texts_for_gspmd(program):
        found = results_in_parts(text, program.leaves())
        for mine, theirs in zip(found, map(np.asarray, expected), strict=True):
            scale = max(float(np.abs(theirs).max()), 1e-3)
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=scale * 1e-5)


@pytest.mark.jax
def test_jit_partitions() -> None:
    from jax.sharding import NamedSharding, PartitionSpec  # noqa: PLC0415

    from lowerings.jax import jit  # noqa: PLC0415

    mesh = jax.make_mesh((DEVICES,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    rows = NamedSharding(mesh, PartitionSpec("x"))
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    with for_gspmd():
        compiled = jit(lambda x: x @ x.T, in_shardings=rows).lower(x).program
    assert isinstance(compiled, PartitionedProgram)
    np.testing.assert_array_equal(compiled(x)[0], x @ x.T)


ROWS = """HloModule m, num_partitions=4

ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT y = f32[8,4] add(x, x)
}
"""


def test_what_xla_has_partitioned_stays() -> None:
    """Its parameters say of what they are parts."""
    local = ROWS.replace("num_partitions", "is_scheduled=true, num_partitions")
    assert not isinstance(lowerings.compile(local, partitioned=True), PartitionedProgram)
    sums = ROWS.replace("add(x, x)", "all-gather(x), dimensions={0}, channel_id=1")
    talks = sums.replace("ROOT y = f32[8,4]", "ROOT y = f32[32,4]").replace(
        "=1", "=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true", 1
    )
    module = parse_program(talks, "talks.hlo")
    PassManager(make_context()).run(module, parse_passes("xla-import-shardings"))
    assert "devices=[4,1]<=[4]" in str(module)


def test_xla_run_splits_hlo(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.hlo"
    path.write_text(ROWS.replace("8,4", "4,1"))
    argument = "--input=4x1xf32=[[1],[2],[3],[4]]"
    assert xla_run.main([str(path), "--partitions=4", argument, "--print-communication"]) == 0
    out, err = capfd.readouterr()
    assert out == "f32[4,1] [[2.],\n [4.],\n [6.],\n [8.]]\n"
    assert "a device of 4: 1 floating-point operations, 8 bytes at the peak" in err
    assert xla_run.main([str(path), "--partitions=3", argument]) == 1


def test_the_root_of_one_result() -> None:
    """JAX says it of an element of a tuple, both of which disappear."""
    element = "get-tuple-element(t), index=0, sharding={devices=[1,4]<=[4]}"
    text = ROWS.replace("add(x, x)", element)
    text = text.replace("  ROOT", "  d = f32[8,4] add(x, x)\n  t = (f32[8,4]) tuple(d)\n  ROOT")
    compiled = lowerings.compile(text, partitioned=True)
    assert isinstance(compiled, PartitionedProgram)
    assert str(compiled.local.signature) == "main(%x: f32[2,4]) -> (f32[8,1])"
    array = np.arange(32, dtype=np.float32).reshape(8, 4)
    np.testing.assert_array_equal(compiled(array)[0], 2 * array)


KINDS = {
    "maximal": ("{maximal device=1}", "{maximal device=2}"),
    "maximal and tiles": ("{maximal device=1}", "{devices=[4,1]<=[4]}"),
    "an order of its own": ("{devices=[4,1]2,0,3,1}", "{devices=[1,4]2,0,3,1}"),
    "an order and nothing": ("{devices=[4,1]2,0,3,1}", "{replicated}"),
    "transposed": ("{devices=[2,2]<=[2,2]T(1,0)}", "{devices=[2,2]<=[4]}"),
    "subgroups": (
        "{devices=[2,1,2]<=[4] last_tile_dims={replicated}}",
        "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
    ),
    "unknown": ("{unknown}", "{devices=[1,4]<=[4]}"),
    "by name": ("{mesh['a'=2,'b'=2], [{'b'}, {'a'}]}", "{devices=[4,1]<=[4]}"),
    "with metadata": (
        '{devices=[4,1]<=[4] metadata={op_name="a"}}',
        "{devices=[2,2]<=[4] shard_as 1}",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_sharding(kind: str) -> None:
    given, returned = KINDS[kind]
    text = ROWS.replace("8,4", "7,6").replace("{devices=[4,1]<=[4]}", given)
    text = text.replace("add(x, x)", f"tuple(d, x), sharding={{{returned}, {given}}}")
    text = text.replace(
        "  ROOT y = f32[7,6]", "  d = f32[7,6] add(x, x)\n  ROOT y = (f32[7,6], f32[7,6])"
    )
    array = np.arange(42, dtype=np.float32).reshape(7, 6)
    found = lowerings.compile(text, partitioned=True)(array)
    np.testing.assert_array_equal(found[0], 2 * array)
    np.testing.assert_array_equal(found[1], array)


SEVERAL = """
module attributes {sdy.meshes = {a = #sdy.mesh<["x"=2, "y"=3]>, b = #sdy.mesh<["z"=6]>, c = #sdy.mesh<["u"=3, "v"=2], device_ids=[0, 3, 1, 4, 2, 5]>}} {
  func.func @main(%x: tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@a, [{"y"}, {"x"}]>}, %w: tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@b, [{}, {"z"}]>})
      -> (tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@c, [{"u"}, {"v"}]>}) {
    %y = xla.add %x, %w : tensor<7x6xf32>
    func.return %y : tensor<7x6xf32>
  }
}
"""


def test_several_meshes_of_the_same_devices() -> None:
    """They are over the axes of one; those of `c` are those of `a`, transposed."""
    array = np.arange(42, dtype=np.float32).reshape(7, 6)
    compiled = lowerings.compile(SEVERAL, partitioned=True)
    assert isinstance(compiled, PartitionedProgram)
    np.testing.assert_array_equal(compiled(array, array)[0], 2 * array)
    assert str(compiled.local.signature) == "main(%x: f32[3,3], %w: f32[7,1]) -> (f32[3,3])"


def test_meshes_without_axes_in_common() -> None:
    text = SEVERAL.replace('"u"=3, "v"=2], device_ids=[0, 3, 1, 4, 2, 5]', '"u"=3, "v"=2]')
    with pytest.raises(XlaError, match="over one mesh"):
        lowerings.compile(text, partitioned=True)
