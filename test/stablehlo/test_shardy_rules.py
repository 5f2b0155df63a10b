"""The rules of Shardy's operations: every one is broken, and jaxlib's verifier says the same."""

import re

import numpy as np
import pytest
from peers import has_jax
from shardy_programs import MESHES, OPERATIONS, uses
from stablehlo_oracle import made_local, rejection

from xla_dialect.diagnostics import LocatedError
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run, run_replicated
from xla_dialect.sharding.array_sharding import Shards
from xla_dialect.sharding.attributes import ShardingAttr
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import print_stablehlo

RULE = re.compile(r"t\.mlir:\d+:\d+: error: .*\((SH\d+)\)")


def broken(text: str) -> str | None:
    """The rule that a program breaks, by the label in the message; None where it is right."""
    message = ""
    try:
        read_stablehlo(text, "t.mlir")
    except LocatedError as error:
        message = str(error)
    found = RULE.match(message)
    assert bool(found) == bool(message), message
    return None if found is None else found[1]


def on_x(
    operation: str, sharding: str = '@mesh, [{"x"}, {}]', type_: str = "tensor<8x16xf32>"
) -> str:
    """A function of one array, of which a sharding is said."""
    return (
        f"{MESHES}func.func @main(%a: {type_} {{sdy.sharding = #sdy.sharding<{sharding}>}}) "
        f"{{\n{operation}\nreturn\n}}\n"
    )


def manual(
    in_sharding: str = '@mesh, [{"x"}, {}]', part: str = "tensor<4x16xf32>", body: str = ""
) -> str:
    """A manual computation over "x"."""
    return on_x(
        f"%0 = sdy.manual_computation(%a) in_shardings=[<{in_sharding}>] "
        f'out_shardings=[<@mesh, [{{"x"}}, {{}}]>] manual_axes={{"x"}} (%b: {part}) {{\n{body}\n'
        f"sdy.return %b : {part}\n}} : (tensor<8x16xf32>) -> tensor<8x16xf32>"
    )


def rule(text: str) -> str:
    """An addition with this sharding rule."""
    given = f"{{sdy.sharding_rule = #sdy.op_sharding_rule<{text}, custom>}}"
    return on_x(f"%0 = stablehlo.add %a, %a {given} : tensor<8x16xf32>")


BARRIER = "%0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<8x16xf32>"
EDGE = "%0 = sdy.data_flow_edge %a : tensor<8x16xf32>\n%1 = stablehlo.negate %a : tensor<8x16xf32>"
CONSTRAINT = '%c = sdy.sharding_constraint %b <@mesh, [{}, {"x"}]> : tensor<4x16xf32>'
TURNED = "<@turned, [{}, {}]>"
SLICE = (
    '%0 = sdy.all_slice [{"z"}, {"z"}] %a out_sharding=<@mesh, [{"x", "z"}, {}]> : tensor<8x16xf32>'
)

BROKEN = {
    "SH1": 'sdy.mesh @mesh = <["x"=2, "x"=2]>\n',
    "SH2": on_x("%0 = sdy.reshard %a <@lost, [{}, {}]> : tensor<8x16xf32>"),
    "SH3": on_x("", '@mesh, [{"y":(1)3}, {}]'),
    "SH4": on_x(SLICE),
    "SH5": on_x("", '@mesh, [{"y":(1)2, "y":(2)2}, {}]'),
    "SH6": on_x("", '@mesh, [{}, {}], unreduced={"z", "x"}'),
    "SH7": on_x("", '@mesh, [{"x"}]'),
    "SH8": on_x("", "@mesh, [{}p1, {}]"),
    "SH9": on_x("%0 = stablehlo.negate %a {sdy.sharding = 3 : i32} : tensor<8x16xf32>"),
    "SH10": manual(body=CONSTRAINT),
    "SH11": on_x(
        "%b = stablehlo.negate %a : tensor<8x16xf32>\n%0 = sdy.collective_permute %b out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>"
    ),
    "SH12": on_x(
        f'%0 = sdy.all_gather [{{"x"}}, {{}}] %a out_sharding={TURNED} : tensor<8x16xf32>'
    ),
    "SH13": on_x(
        '%0 = sdy.all_gather [{"z"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>'
    ),
    "SH14": on_x(
        '%0 = sdy.all_to_all [{"x"}: 0->0] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xf32>'
    ),
    "SH15": on_x(
        '%0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x16xf32>'
    ),
    "SH16": on_x(
        '%0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xf32>'
    ),
    "SH17": on_x(
        '%0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>'
    ),
    "SH18": on_x(BARRIER),
    "SH19": on_x(EDGE),
    "SH20": manual(part="tensor<8x16xf32>"),
    "SH21": manual('@mesh, [{"y", "x"}, {}]'),
    "SH22": rule("([i, j])->([i, j]) {i=8, j=16}"),
    "SH23": rule("([i, i], [i, j])->([i, j]) {i=8, j=16}"),
    "SH24": rule("([ik, j], [i, j])->([i, j]) {i=8, j=16, k=1}"),
    "SH25": rule("([i, k], [i, k])->([i, k]) {i=8, j=16, k=16}"),
    "SH26": rule("([i, j], [i, j])->([i, j]) {i=8, j=16} need_replication={j, i}"),
    "SH27": rule("([i, j], [i, j])->([i, j]) {i=8, j=16} reduction={i}"),
}
"""A program for each rule that breaks this one."""


@pytest.mark.parametrize("label", BROKEN)
def test_every_rule_is_broken(label: str) -> None:
    assert broken(BROKEN[label]) == label
    if has_jax():
        assert rejection(BROKEN[label]) is not None


@pytest.mark.jax
@pytest.mark.parametrize("count", [25, pytest.param(1000, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", OPERATIONS)
def test_uses_are_taken_where_jaxlib_takes_them(name: str, count: int) -> None:
    """So it does what is written of those that are taken."""
    taken = 0
    for text in uses(name, count):
        reason, label = rejection(text), broken(text)
        assert (reason is None) == (label is None), f"{text}\njaxlib: {reason}\nhere: {label}"
        if label is None:
            taken += 1
            written = print_stablehlo(read_stablehlo(text))
            assert rejection(written) is None, written
    assert 0 < taken < count


SPLIT = '@mesh, [{"y"}, {}]'
WHOLE = "@mesh, [{}, {}]"
REPLICATED_SUM = '%r = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<4x4xf32>'
SUMS = [
    (SPLIT, SPLIT, REPLICATED_SUM),
    (
        WHOLE,
        WHOLE,
        '%r = sdy.all_reduce {"x", "y"} %a out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>',
    ),
    (
        SPLIT,
        '@mesh, [{"y"}, {"x"}]',
        '%r = sdy.reduce_scatter [{}, {"x"}] %a out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<4x4xf32>',
    ),
    (
        SPLIT,
        SPLIT,
        '%b = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} '
        f": tensor<4x4xf32>\n{REPLICATED_SUM.replace('%a', '%b')}",
    ),
    (
        '@mesh, [{}, {"x"}]',
        WHOLE,
        "%b = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : "
        "(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>\n"
        '%r = sdy.all_reduce {"x"} %b out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>',
    ),
]
"""The shardings of parameter and result, and operations between them."""


@pytest.mark.jax
@pytest.mark.parametrize(("before", "after", "operations"), SUMS)
def test_sums_are_those_of_the_programs_of_devices(
    before: str, after: str, operations: str
) -> None:
    """Shardy makes the program of a device, in which a sum is what StableHLO says it is."""
    text = (
        'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'
        f"func.func @main(%a: tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<{before}>}}) -> "
        f"(tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<{after}>}}) {{\n{operations}\n"
        "return %r : tensor<4x4xf32>\n}\n"
    )
    array = np.arange(16, dtype=np.float32).reshape(4, 4)
    mesh = Mesh((("x", 2), ("y", 2)))
    parts, places = (Shards.of_mesh(mesh, ShardingAttr.read(f"<{s}>"), 2) for s in (before, after))
    shards = [[array[parts.slices(device, (4, 4))]] for device in range(4)]
    expected = np.empty_like(array)
    found = run_replicated(read_stablehlo(made_local(text)), shards, partitions=4)
    for device, result in enumerate(found):
        expected[places.slices(device, (4, 4))] = flatten_results(result)[0]
    assert np.array_equal(flatten_results(run(read_stablehlo(text), [array]))[0], expected)
    written = print_stablehlo(read_stablehlo(text))
    assert np.array_equal(flatten_results(run(read_stablehlo(written), [array]))[0], expected)
