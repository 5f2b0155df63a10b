"""Meshes, axes and shardings as data, beside counting by hand in numpy."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xla_dialect.sharding.array_sharding import Sharding, Shards
from xla_dialect.sharding.attributes import MeshAttr, ShardingAttr, ShardingPerValueAttr
from xla_dialect.sharding.hlo_sharding import HloSharding, HloShardingKind, MeshesOfTiles
from xla_dialect.sharding.mesh import AxisReference, Mesh, in_mesh_order, merged_axes
from xla_dialect.spelling import SpellingError
from xla_dialect.violations import Violation

MESH = Mesh((("x", 4), ("y", 2), ("z", 2)))
X, Y = AxisReference("x"), AxisReference("y")
MAJOR, MINOR = AxisReference("x", 1, 2), AxisReference("x", 2, 2)

SHARDINGS = [
    '@mesh, [{"x", "y":(1)2}p1, {?}, {}], replicated={"z"}, unreduced={"w"}',
    "@mesh, []",
    '@"a b", [{"x", ?}]',
    'mesh<["x"=2], device_ids=[1, 0]>, [{"x"}p0]',
]


@pytest.mark.parametrize("text", SHARDINGS)
def test_shardings_are_written_as_they_were_read(text: str) -> None:
    assert str(ShardingAttr(ShardingAttr.read(f"<{text}>")).data) == text
    per_value = f"[<{text}>, <{text}>]"
    assert str(ShardingPerValueAttr.read(f"<{per_value}>")) == per_value
    assert ShardingAttr.read(f"#sdy.sharding<{text}>") == ShardingAttr.read(f"<{text}>")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('["x"=2, "x"=4]', "axis 'x' is named twice"),
        ('["x"=0]', "axis 'x' has size 0"),
        ('["x"=2], device_ids=[0, 1, 2]', "has 3 device ids for 2 devices"),
        ('["x"=2], device_ids=[1, 1]', "its device ids are not 0 to 1"),
        ('["x"=2], device_ids=[1, 2]', "its device ids are not 0 to 1"),
        ('["x"=2', "expected ']'"),
        ("[x=2]", "expected a name in quotes"),
    ],
)
def test_meshes_that_are_none(text: str, message: str) -> None:
    with pytest.raises(SpellingError, match=message):
        MeshAttr.read(f"<{text}>")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('@m, [{"x"}]', "has 1 dimensions for an array of rank 2"),
        ('@m, [{"v"}, {}]', "unknown axis 'v'"),
        ('@m, [{"x"}, {"x"}]', 'axis "x" is used twice'),
        ('@m, [{"x":(1)2}, {"x"}]', 'axes "x":\\(1\\)2 and "x" overlap'),
        ('@m, [{"x"}, {}], replicated={"x":(1)2}', 'axes "x" and "x":\\(1\\)2 overlap'),
        ('@m, [{"x":(1)4}, {}]', "is all of the axis"),
        ('@m, [{"x":(3)2}, {}]', "3 times 2 does not divide 4"),
        ('@m, [{"x":(4)1}, {}]', "its size at least 2"),
        ('@m, [{"x":(1)2, "x":(2)2}, {}]', "are one"),
        ('@m, [{}, {}], replicated={"y", "x"}', "are not in the order of the mesh"),
        ('@m, [{}, {}], unreduced={"y", "x"}', "are not in the order of the mesh"),
    ],
)
def test_shardings_that_do_not_fit(text: str, message: str) -> None:
    with pytest.raises(Violation, match=message):
        ShardingAttr.read(f"<{text}>").check(MESH, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('@m, [{"x"}p]', "expected a priority"),
        ("@m, [{}p1]", "closed and empty has no priority"),
        ("@m, [{?, ?}]", "expected '}'"),
        ('@m, [], replicated={"x"}, replicated={"y"}', "each once"),
        ("m, []", "expected '@'"),
        ("@m, [{}] x", "expected '>'"),
        ("@m, []> x", "expected nothing more"),
    ],
)
def test_shardings_that_are_none(text: str, message: str) -> None:
    with pytest.raises(SpellingError, match=message):
        ShardingAttr.read(f"<{text}>")


def test_axes() -> None:
    sizes = MESH.sizes
    assert MAJOR.merged(MINOR, sizes) == X
    assert MINOR.merged(MAJOR, sizes) is None
    assert X.contains(MINOR, sizes)
    assert not MINOR.contains(X, sizes)
    assert X.overlaps(MINOR, sizes)
    assert not MAJOR.overlaps(MINOR, sizes)
    assert X.without([MAJOR], sizes) == [MINOR]
    assert X.without([X], sizes) == []
    assert X.split(2, sizes) == (MAJOR, MINOR)
    assert X.split(4, sizes) == (X, None)
    assert merged_axes([Y, MAJOR, MINOR], sizes) == (Y, X)
    assert in_mesh_order([MINOR, Y, MAJOR], sizes) == (X, Y)


@given(
    order=st.permutations(range(4)),
    chosen=st.permutations([MAJOR, MINOR, Y, AxisReference("z")]),
    count=st.integers(0, 4),
)
def test_groups_and_coordinates_are_those_of_an_array_of_the_devices(
    order: list[int], chosen: list[AxisReference], count: int
) -> None:
    """Sub-axes are dimensions of the array of devices when it is taken apart that far."""
    parts = (MAJOR, MINOR, Y, AxisReference("z"))
    ids = np.arange(16).reshape(2, 2, 2, 2).transpose(order).flatten()
    mesh = Mesh(MESH.axes, tuple(ids.tolist()))
    axes = chosen[:count]
    front = [parts.index(axis) for axis in axes]
    rest = [d for d in range(4) if d not in front]
    rows = ids.reshape(2, 2, 2, 2).transpose([*rest, *front]).reshape(-1, 2**count)
    assert sorted(mesh.groups(axes)) == sorted(map(tuple, rows.tolist()))
    for row in rows.tolist():
        assert [mesh.coordinate(device, axes) for device in row] == list(range(2**count))


@given(
    sizes=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    text=st.sampled_from(
        [
            '@m, [{"x"}, {"y"}]',
            '@m, [{"x":(2)2, "y"}, {"z", "x":(1)2}]',
            "@m, [{}, {}]",
            '@m, [{"y", "x"}, {}]',
        ]
    ),
)
def test_parts_are_a_cover(sizes: tuple[int, int], text: str) -> None:
    """Every element is in the parts of equally many devices, uneven ones too."""
    sharding = ShardingAttr.read(f"<{text}>")
    parts = Shards.of_mesh(MESH, sharding, 2)
    seen, local, is_even = np.zeros(sizes, int), parts.local_sizes(sizes), True
    for device in MESH.devices:
        slices = parts.slices(device, sizes)
        seen[slices] += 1
        found = tuple(each.stop - each.start for each in slices)
        assert all(size <= most for size, most in zip(found, local, strict=True))
        is_even &= found == local
    assert (seen == 16 // np.prod(parts.counts)).all()
    assert parts.is_even(sizes) == is_even


def test_a_maximal_sharding_is_all_of_the_array() -> None:
    mesh = MeshAttr.read("<[], device_ids=[3]>")
    assert mesh.is_maximal
    assert mesh.devices == (3,)
    assert Shards.of_mesh(mesh, Sharding("m"), 1).slices(3, (5,)) == (slice(0, 5),)
    with pytest.raises(
        Violation, match=r"\(SH7\) a sharding to one device has no dimensions or axes"
    ):
        ShardingAttr.read("<@m, [{}]>").check(mesh, 1)


HLO = {
    "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}": HloShardingKind.TILED,
    "{devices=[2,2]0,2,1,3}": HloShardingKind.TILED,
    "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}": HloShardingKind.TILED,
    "{replicated}": HloShardingKind.REPLICATED,
    "{maximal device=3}": HloShardingKind.MAXIMAL,
    "{manual}": HloShardingKind.MANUAL,
    "{unknown}": HloShardingKind.UNKNOWN,
    "{replicated shard_like 2}": HloShardingKind.REPLICATED,
    '{devices=[2]0,1 metadata={{op_name="a}"}, {op_name="b"}}}': HloShardingKind.TILED,
    "{{replicated}, {devices=[2]<=[2] shard_as 1}}": HloShardingKind.TUPLE,
    "{mesh['a'=2,'b'=4], [{'a'}, {?}], replicated={'b'}}": HloShardingKind.NAMED,
    "{}": HloShardingKind.TUPLE,
}


@pytest.mark.parametrize("text", HLO)
def test_hlo_shardings(text: str) -> None:
    sharding = HloSharding.read(text)
    assert sharding.kind is HLO[text]
    assert str(sharding) == text


def test_what_hlo_shardings_say() -> None:
    tiled = HloSharding.read("{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}")
    assert tiled.subgroups == ("replicated",)
    parts = tiled.shards(2, 8)
    for device, (row, column) in itertools.product(range(8), [(0, 0)]):
        assert parts.places[device] == (device % 4 + row, column)
    manual = HloSharding.read("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}")
    assert manual.subgroups == ("manual", "replicated")
    pair = HloSharding.read("{{replicated}, {devices=[2]<=[2] shard_as 1}}")
    assert pair.leaves[1].group == ("shard_as", 1)


@given(
    order=st.permutations(range(4)),
    sizes=st.tuples(*[st.sampled_from([1, 2, 3, 4])] * 4),
    cut=st.integers(1, 4),
    named=st.booleans(),
)
def test_tiles_over_a_mesh_are_the_same_parts(
    order: list[int], sizes: tuple[int, ...], cut: int, named: bool
) -> None:
    """Every device has the same part by HLO's tiles and by axes, whichever mesh is taken."""
    count = int(np.prod(sizes))
    turned = [sizes[d] for d in order]
    tiles = [*turned[:cut], int(np.prod(turned[cut:]))]
    text = (
        f"{{devices=[{','.join(map(str, tiles))}]<=[{','.join(map(str, sizes))}]"
        f"T({','.join(map(str, order))}) last_tile_dim_replicate}}"
    )
    sharding = HloSharding.read(text)
    meshes = MeshesOfTiles.of([sharding], count)
    if named:
        meshes = MeshesOfTiles(Mesh((("a", count),)))
    found = meshes.sharding(sharding, cut, "mesh")
    assert found is not None
    mesh = found.mesh if isinstance(found.mesh, Mesh) else meshes.common
    expected = sharding.shards(cut, count)
    assert Shards.of_mesh(mesh, found, cut).places == expected.places
