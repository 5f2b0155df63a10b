"""`xla-run` with several replicas and partitions: what each gets, prints, stores, and waits for."""

from pathlib import Path

import numpy as np
import pytest

from tools import xla_run

SUM = """func.func @main(%x: tensor<2xf32>, %y: tensor<f32>) -> (tensor<2xf32>, tensor<ui32>) {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = stablehlo.replica_id : tensor<ui32>
  return %0, %2 : tensor<2xf32>, tensor<ui32>
}
"""

# Replica 0 sums, replica 1 does not: replica 0 waits for ever.
DEADLOCK = """HloModule waits, replica_count=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

sum {
  x = f32[2] parameter(0)
  ROOT y = f32[2] all-reduce(x), to_apply=add
}

other {
  x = f32[2] parameter(0)
  ROOT y = f32[2] negate(x)
}

ENTRY main {
  x = f32[2] constant({1, 2})
  r = u32[] replica-id()
  z = u32[] constant(0)
  p = pred[] compare(r, z), direction=EQ
  ROOT y = f32[2] conditional(p, x, x), true_computation=sum, false_computation=other
}
"""

FEEDS = """HloModule feeds, replica_count=2

ENTRY main {
  t = token[] after-all()
  i = ((f32[2], s32[]), token[]) infeed(t)
  item = (f32[2], s32[]) get-tuple-element(i), index=0
  x = f32[2] get-tuple-element(item), index=0
  t1 = token[] get-tuple-element(i), index=1
  o = token[] outfeed(x, t1), outfeed_shape=f32[2]
  ROOT n = s32[] get-tuple-element(item), index=1
}
"""

PARTITION = """func.func @main(%x: tensor<ui32>) -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.add %0, %x : tensor<ui32>
  return %1 : tensor<ui32>
}
"""


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_inputs_for_all_and_for_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "sum.mlir", SUM)
    inputs = ["--input", "0:2xf32=[1, 2]", "--input", "1:2xf32=[10, 20]", "--input", "f32=0"]
    assert xla_run.main([path, "--replicas", "2", *inputs]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "replica 0: f32[2] [11., 22.]",
        "replica 0: u32[] 0",
        "replica 1: f32[2] [11., 22.]",
        "replica 1: u32[] 1",
    ]


def test_expected_outputs_by_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "sum.mlir", SUM)
    command = [path, "--replicas", "2", "--input", "2xf32=[1, 2]", "--input", "f32=0"]
    expected = ["--expected-output", "2xf32=[2, 4]", "--expected-output", "0:ui32=0"]
    assert xla_run.main([*command, *expected, "--expected-output", "1:ui32=1"]) == 0
    assert xla_run.main([*command, *expected, "--expected-output", "1:ui32=7"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "replica 1: result 1 (u32[]): 1 of 1 elements differ" in captured.err


def test_partitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "partition.mlir", PARTITION)
    inputs = ["--input", "*,0:u32=10", "--input", "0,1:u32=20", "--input", "1,1:u32=30"]
    assert xla_run.main([path, "--replicas", "2", "--partitions", "2", *inputs]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "replica 0, partition 0: u32[] 10",
        "replica 0, partition 1: u32[] 21",
        "replica 1, partition 0: u32[] 10",
        "replica 1, partition 1: u32[] 31",
    ]
    command = [path, "--partitions", "2", "--input", "u32=0", "--output-dir", str(tmp_path / "out")]
    assert xla_run.main(command) == 0
    stored = sorted(file.name for file in (tmp_path / "out").iterdir())
    assert stored == ["main.partition0.0.npy", "main.partition1.0.npy"]
    assert np.load(tmp_path / "out" / "main.partition1.0.npy") == 1


def test_a_program_that_waits_forever_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "waits.hlo", DEADLOCK)
    assert xla_run.main([path]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "xla-run: error: the program waits forever: replica 0 waits for replica 1 (which has "
        f"ended) in execution 1 of xla.all_reduce at {path}:11:8\n"
    )


def test_infeed_and_outfeed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "feeds.hlo", FEEDS)
    items = ["--infeed", "0:2xf32=[1, 2]; s32=3", "--infeed", "1:2xf32=[4, 5]; s32=6"]
    assert xla_run.main([path, *items]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "replica 0: s32[] 3",
        "replica 1: s32[] 6",
        "replica 0: outfeed: f32[2] [1., 2.]",
        "replica 1: outfeed: f32[2] [4., 5.]",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "xla.infeed: waits forever: the infeed has no item left"),
        (["--infeed", "2xf32=1"], "expected (f32[2], s32[]), found f32[2]"),
        (["--replicas", "3"], "the module is for 2 replicas and 1 partitions, not for 3 and 1"),
        (["--replicas", "0"], "0 replicas and 1 partitions has not 1 to 256 processes"),
        (["--replicas", "1000000"], "has not 1 to 256 processes"),
        (["--infeed", "2:f32=1"], "'2:f32=1': there is no replica 2, only 2"),
        (["--input", "0,1:f32=1"], "'0,1:f32=1': there is no partition 1, only 1"),
        (["--input", "1:f32=1"], "replica 1: 1 inputs for 0 parameters"),
        (["--backend", "riscv64"], "an emulated program cannot call 'xla.infeed' outside of it"),
        (["--num-threads", "0"], "num_threads is 0"),
    ],
)
def test_what_does_not_fit(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "feeds.hlo", FEEDS)
    assert xla_run.main([path, *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert "internal error" not in captured.err
