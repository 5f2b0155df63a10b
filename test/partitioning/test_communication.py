"""Reports on what devices send, and the plans behind reshards."""

import json
import re
from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from partitioned import run_in_parts
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.partitioning.mesh_atoms import MeshAtoms, Spread
from lowerings.partitioning.planned_machine import PlannedMachine
from lowerings.partitioning.resharding import (
    Collective,
    ReshardProblem,
    ReshardStep,
    plan,
    plan_reshard,
    step_bytes,
)
from lowerings.partitioning.xla_report_communication import communication_of, step_on
from lowerings.pipelines import PARTITIONING
from tools import xla_compare, xla_opt
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.types import BY_NAME, array

LOOP = """
HloModule ring, num_partitions=4

step {{
  p = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[8] get-tuple-element(p), index=1
  one = s32[] constant({step})
  next = s32[] add(i, one)
  sent = f32[8] collective-permute(x), channel_id=1, source_target_pairs={{{{0,1}},{{1,2}},{{2,3}},{{3,0}}}}
  ROOT t = (s32[], f32[8]) tuple(next, sent)
}}

goes_on {{
  p = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] {limit}
  ROOT c = pred[] compare(i, n), direction={direction}
}}

ENTRY main {{
  x = f32[8] parameter(0)
  start = s32[] constant({start})
  t = (s32[], f32[8]) tuple(start, x)
  w = (s32[], f32[8]) while(t), condition=goes_on, body=step
  ROOT r = f32[8] get-tuple-element(w), index=1
}}
"""


@pytest.mark.parametrize(
    ("start", "step", "limit", "direction", "trips"),
    [
        (0, 1, 5, "LT", 5),
        (0, 2, 5, "LT", 3),
        (1, 1, 5, "LE", 5),
        (9, -3, 0, "GT", 3),
        (7, 1, 5, "LT", 0),
    ],
)
def test_iterations_count(start: int, step: int, limit: int, direction: str, trips: int) -> None:
    text = LOOP.format(start=start, step=step, limit=f"constant({limit})", direction=direction)
    module = parse_program(text, input_format="hlo")
    PassManager(make_context()).run(module, parse_passes("xla-flatten-tuples"))
    report = communication_of(module)
    assert (report.bytes, report.unknown_loops) == (32 * trips, 0)


ANNOTATED = """module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=4]>}} {
  func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                  %w: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = xla.dot %x, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    func.return %0 : tensor<8x4xf32>
  }
}
"""


def test_two_shardings_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "sum.mlir", tmp_path / "rows.mlir"]
    files[0].write_text(ANNOTATED, encoding="utf-8")
    rows = ANNOTATED.replace('[{}, {"x"}]', '[{"x"}, {}]').replace("[{}, {}]>}", '[{"x"}, {}]>}')
    files[1].write_text(rows, encoding="utf-8")
    assert xla_compare.main(["--communication", *map(str, files), "--json", "-"]) == 0
    first, second = json.loads(capsys.readouterr().out).values()
    # An all-reduce of 8 x 4 floats over 4 devices; the weights are gathered.
    assert (first["bytes"], second["bytes"]) == (192, 192)
    assert [e["collective"] for e in second["exchanges"]] == ["all_gather"]
    assert first["flops"] == 2 * 8 * 4 * 4
    assert xla_compare.main(["--communication", *map(str, files)]) == 0
    assert re.search(r"all bytes\W+192\W+192", capsys.readouterr().out)


def test_the_report_is_json_if_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sum.mlir"
    file.write_text(ANNOTATED, encoding="utf-8")
    passes = "xla-insert-reshards,xla-partition,xla-report-communication{json=true}"
    assert xla_opt.main([str(file), "-p", passes, "-o", str(tmp_path / "local.mlir")]) == 0
    report = json.loads(capsys.readouterr().err)
    (exchange,) = report["exchanges"]
    assert (exchange["collective"], exchange["axes"], exchange["calls"]) == ("all_reduce", '"x"', 1)
    assert exchange["line"] == f"{file}:5"
    assert report["bytes"] == exchange["bytes"] == 192


def test_a_flag_puts_the_report_where_it_belongs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sum.mlir"
    file.write_text(ANNOTATED, encoding="utf-8")
    passes = "xla-insert-reshards,xla-partition,xla-expand-communication,xla-simplify"
    assert xla_opt.main([str(file), "-p", passes, "--print-communication"]) == 0
    output = capsys.readouterr()
    assert re.search(r'all_reduce +"x" +1 +192', output.err)
    assert "xla.custom_call" in output.out


@st.composite
def spreads(draw: st.DrawFn, rank: int) -> Spread:
    dimensions: list[list[int]] = [[] for _ in range(rank)]
    for atom in draw(st.permutations(range(3))):
        place = draw(st.integers(-1, rank - 1))
        if place >= 0:
            dimensions[place].append(atom)
    return Spread(tuple(map(tuple, dimensions)))


@given(data=st.data())
def test_no_plan_sends_more_than_gathering_all(data: st.DataObject) -> None:
    sizes = tuple(data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=3)))
    start, target = data.draw(spreads(len(sizes))), data.draw(spreads(len(sizes)))
    problem = ReshardProblem((2, 2, 3), sizes, 4, target)
    steps, bytes_ = plan_reshard(problem, start)
    assert (steps[-1].after if steps else start) == target
    here, most = start, 0.0
    for d, atoms in enumerate(start.dimensions):
        if atoms != target.dimensions[d] and atoms:
            after = here.with_dimension(d, ())
            gather = ReshardStep(Collective.ALL_GATHER, after, atoms, source=d)
            most += step_bytes(problem, here, gather)
            here = after
    assert bytes_ <= most + 1e-9
    # Atoms that go the same way are one, for less to look at.
    mesh = MeshAtoms.of("mesh", Mesh((("a", 4), ("b", 3))))
    assert plan(mesh, array(BY_NAME["f32"].type, sizes), start, target).bytes == bytes_
    assert not steps or bool(bytes_) or {s.collective for s in steps} == {Collective.ALL_SLICE}


def test_ways_to_gather_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = MeshAtoms.of("mesh", Mesh((("d", 64), ("m", 8))))
    looked_at: list[Spread] = []
    steps_from = ReshardProblem.steps_from
    monkeypatch.setattr(
        ReshardProblem, "steps_from", lambda p, s: looked_at.append(s) or steps_from(p, s)
    )
    start, whole = Spread(((0, 1, 2, 3, 4, 5), (6, 7, 8), ())), Spread(((), (), ()))
    found = plan(mesh, array(BY_NAME["f32"].type, (1024, 4096, 3)), start, whole)
    assert [len(step.atoms) for step in found.steps] in ([3, 6], [6, 3])
    assert len(looked_at) < 10


ROLL = """
HloModule roll, num_partitions=8

ENTRY main {{
  x = f32[{sizes}] parameter(0), sharding={{devices=[4,2]<=[8]}}
  end = f32[{rest}] slice(x), slice={{{behind}}}
  start = f32[{first}] slice(x), slice={{{before}}}
  ROOT r = f32[{sizes}] concatenate(end, start), dimensions={{{d}}}, sharding={{devices=[4,2]<=[8]}}
}}
"""


def rolled(sizes: Sequence[int], d: int, cut: int) -> ModuleOp:
    """What is before `cut` comes behind the rest."""

    def shape(size: int) -> str:
        return ",".join(str(size if e == d else n) for e, n in enumerate(sizes))

    def part(start: int, end: int) -> str:
        return ",".join(f"[{start}:{end}]" if e == d else f"[0:{n}]" for e, n in enumerate(sizes))

    return parse_program(
        ROLL.format(
            sizes=shape(sizes[d]),
            rest=shape(sizes[d] - cut),
            first=shape(cut),
            behind=part(cut, sizes[d]),
            before=part(0, cut),
            d=d,
        )
    )


@given(blocks=st.tuples(st.integers(1, 5), st.integers(1, 5)), d=st.integers(0, 1), data=st.data())
def test_rolls_send_as_much_in_both_directions(
    blocks: tuple[int, int], d: int, data: st.DataObject
) -> None:
    """By one element it is that of a border, and as much where the array is closed."""
    sizes = blocks[0] * 4, blocks[1] * 2
    by = data.draw(st.integers(1, blocks[d]))
    x = np.arange(prod(sizes), dtype=np.float32).reshape(sizes)
    sent: list[float] = []
    for cut in (by, sizes[d] - by):
        module = rolled(sizes, d, cut)
        (found,) = run_in_parts(module, [x])
        np.testing.assert_array_equal(found, np.roll(x, -cut, d))
        PassManager(make_context()).run(module, parse_passes(",".join(PARTITIONING)))
        sent.append(communication_of(module).bytes)
    assert sent[0] == sent[1]
    assert by > 1 or sent[0] <= 2 * blocks[1 - d] * x.itemsize


MACHINE = """
flops = 1e9
memory_bandwidth = 1e12
memory = 1e6
[[axes]]
name = "hosts"
size = 4
bandwidth = 1e6
latency = 1e-3
[[axes]]
name = "devices"
size = 2
bandwidth = 1e9
latency = 1e-6
"""
TIMED = """
HloModule step, num_partitions=8
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}
ENTRY main {{
  x = f32[100,100] parameter(0)
  s = f32[100,100] all-reduce(x), replica_groups={groups}, channel_id=1, use_global_device_ids=true, to_apply=add
  ROOT d = f32[100,100] dot({lhs}, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""


@pytest.mark.parametrize(
    ("groups", "along", "seconds"),
    [
        # A ring of two is one message each way; so are the two rounds of four that have a half.
        ("{{0,1},{2,3},{4,5},{6,7}}", "devices=2", 2 * (1e-6 + 2e-5)),
        ("{{0,2,4,6},{1,3,5,7}}", "hosts=4", 2 * (3e-3 + 0.03)),
        ("{{0,1,2,3,4,5,6,7}}", "devices=2, hosts=4", 2 * (1e-6 + 2e-5) + 2 * (3e-3 + 0.015)),
        # Members that are no box of the mesh go around one ring.
        ("{{0,1,2},{3,4,5},{6,7}}", "devices=2, hosts=2", 2 * (2e-3 + 0.08 / 3)),
    ],
)
@pytest.mark.parametrize("depends", [True, False])
def test_a_machine_says_how_long_a_step_takes(
    groups: str, along: str, seconds: float, depends: bool, tmp_path: Path
) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(MACHINE, encoding="utf-8")
    module = parse_program(
        TIMED.format(groups=groups, lhs="s" if depends else "x"), input_format="hlo"
    )
    step = step_on(PlannedMachine.read(file), module)
    ((found, calls),) = step.collectives.items()
    assert (found.along, found.bytes, calls) == (along, 40_000, 1)
    assert found.seconds == pytest.approx(seconds)
    # A product of 2 million operations, beside the all-reduce or behind it.
    assert step.computation == pytest.approx(2e-3)
    expected = seconds + 2e-3 if depends else max(seconds, 2e-3)
    assert step.seconds == pytest.approx(expected)
    assert max(span.end for span in step.spans) == step.seconds


def test_rounds_of_a_loop_take_their_time(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(MACHINE, encoding="utf-8")
    text = LOOP.format(start=0, step=1, limit="constant(5)", direction="LT")
    module = parse_program(text, input_format="hlo")
    PassManager(make_context()).run(module, parse_passes("xla-flatten-tuples"))
    step = step_on(PlannedMachine.read(file), module)
    # The slowest of the pairs goes from host to host.
    assert step.communication == pytest.approx(5 * (1e-3 + 32 / 1e6))
    assert step.communication <= step.seconds <= step.communication + step.computation + 1e-12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flops = ", "machine.toml"),
        (MACHINE.replace("memory = 1e6", ""), "expected flops, memory_bandwidth, memory, found"),
        (MACHINE.replace("1e9", "-1", 1), "flops is -1, expected a number above 0"),
        (MACHINE.replace("size = 4", 'size = "4"'), "a whole number as its size"),
        (MACHINE.replace("latency = 1e-3", ""), "expected size, bandwidth, latency, found"),
        (MACHINE.replace("size = 4", "size = 1"), "the machine has 2 devices, the program 4"),
        (MACHINE.split("[[", maxsplit=1)[0], "expected [[axes]]"),
    ],
)
def test_no_machine(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, program = tmp_path / "machine.toml", tmp_path / "program.mlir"
    file.write_text(text, encoding="utf-8")
    program.write_text(ANNOTATED, encoding="utf-8")
    report = f'xla-report-communication{{machine="{file}"}}'
    passes = f"xla-insert-reshards,xla-partition,{report}"
    assert xla_opt.main([str(program), "-p", passes, "-o", str(tmp_path / "local.mlir")]) == 1
    assert message in capsys.readouterr().err
