"""`interpreter.run_parallel`: programs over replicas and partitions, with one infeed for all."""

from pathlib import Path

import pytest

from tools import xla_run

GRID = """func.func @main() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %r:2 = "interpreter.run_parallel"(%a, %b) {
    programs = [[@sum], [@sum]]
  } : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %r#0, dense<[11.0, 22.0]> : tensor<2xf32>
  check.expect_eq %r#0, %r#1 : tensor<2xf32>
  return
}
func.func @sum(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""

# Two partitions of each of two replicas, with different numbers of inputs and results.
RAGGED = """func.func @main() {
  %x = stablehlo.constant dense<7> : tensor<ui32>
  %r:3 = "interpreter.run_parallel"(%x, %x) <{
    programs = [[@ids, @none], [@none, @add]]
  }> : (tensor<ui32>, tensor<ui32>) -> (tensor<ui32>, tensor<ui32>, tensor<ui32>)
  check.expect_eq_const %r#0, dense<0> : tensor<ui32>
  check.expect_eq_const %r#1, dense<0> : tensor<ui32>
  check.expect_eq_const %r#2, dense<16> : tensor<ui32>
  return
}
func.func @ids() -> (tensor<ui32>, tensor<ui32>) {
  %r = stablehlo.replica_id : tensor<ui32>
  %p = stablehlo.partition_id : tensor<ui32>
  return %r, %p : tensor<ui32>, tensor<ui32>
}
func.func @none() {
  return
}
func.func @add(%x: tensor<ui32>, %y: tensor<ui32>) -> tensor<ui32> {
  %r = stablehlo.replica_id : tensor<ui32>
  %p = stablehlo.partition_id : tensor<ui32>
  %0 = stablehlo.add %x, %y : tensor<ui32>
  %1 = stablehlo.add %r, %p : tensor<ui32>
  %2 = stablehlo.add %0, %1 : tensor<ui32>
  return %2 : tensor<ui32>
}
"""

# Which replica reads which item is open; together they read both.
INFEED = """func.func @main() {
  %r:2 = "interpreter.run_parallel"() {
    infeed = [@first, @second], programs = [[@read], [@read]]
  } : () -> (tensor<i32>, tensor<i32>)
  %sum = stablehlo.add %r#0, %r#1 : tensor<i32>
  check.expect_eq_const %sum, dense<12> : tensor<i32>
  return
}
func.func @read() -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %i:2 = "stablehlo.infeed"(%t) {infeed_config = ""} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  %o = "stablehlo.outfeed"(%i#0, %i#1) {outfeed_config = ""} : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
  return %i#0 : tensor<i32>
}
func.func @first() -> tensor<i32> {
  %0 = stablehlo.constant dense<5> : tensor<i32>
  return %0 : tensor<i32>
}
func.func @second() -> tensor<i32> {
  %0 = stablehlo.constant dense<7> : tensor<i32>
  return %0 : tensor<i32>
}
"""

# One program sends, the other receives.
TRANSFER = """func.func @main() {
  %x = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %t = stablehlo.create_token : !stablehlo.token
  %r:2 = "interpreter.run_parallel"(%x, %t) {
    programs = [[@send], [@receive]]
  } : (tensor<2xi32>, !stablehlo.token) -> (!stablehlo.token, tensor<2xi32>)
  check.expect_eq %r#1, %x : tensor<2xi32>
  return
}
func.func @send(%x: tensor<2xi32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.send"(%x, %t) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false
  } : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
func.func @receive() -> tensor<2xi32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = "stablehlo.recv"(%t) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false
  } : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
  return %0#0 : tensor<2xi32>
}
"""

# Different programs meet in operations of one kind, with a channel or without.
DIFFERENT = """func.func @main() {
  %x = stablehlo.constant dense<5> : tensor<i32>
  %r:2 = "interpreter.run_parallel"(%x) {
    programs = [[@first], [@second]]
  } : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
  check.expect_eq_const %r#0, dense<0> : tensor<i32>
  check.expect_eq_const %r#1, dense<5> : tensor<i32>
  return
}
func.func @first(%x: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
func.func @second() -> tensor<i32> {
  %x = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
"""

PROGRAMS = {
    "different": DIFFERENT,
    "grid": GRID,
    "ragged": RAGGED,
    "infeed": INFEED,
    "transfer": TRANSFER,
}


def run(text: str, folder: Path, *options: str) -> int:
    path = folder / "program.mlir"
    path.write_text(text)
    return xla_run.main([str(path), *options])


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(PROGRAMS[name], tmp_path) == 0, capsys.readouterr().err
    # What run_parallel names is not run by itself: alone, some of it would wait for ever.
    assert run(PROGRAMS[name], tmp_path, "--all-functions") == 0, capsys.readouterr().err


def test_what_outfeeds_write_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(INFEED, tmp_path) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == ["outfeed: s32[] 5", "outfeed: s32[] 7"]


def test_all_in_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [GRID, GRID.replace("[11.0, 22.0]", "[11.0, 23.0]"), "", RAGGED, INFEED, TRANSFER]
    assert run("// -----\n".join(parts), tmp_path, "--split-input-file") == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": FAIL")[0] for line in lines] == [
        "chunk 1: PASS",
        "chunk 2",
        "chunk 3: PASS",
        "chunk 4: PASS",
        "chunk 5: PASS",
        "chunk 6: PASS",
    ]
    line = GRID.count("\n") + 1 + 7
    assert lines[1] == (
        f"chunk 2: FAIL: {tmp_path}/program.mlir:{line}:3: error: check.expect_eq_const: 1 of 2 "
        "elements differ, the first at [1]: 22.0, expected 23.0 (error 524288 ULP)"
    )


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (GRID, "[[@sum], [@sum]]", "[[@sum], [@gone]]", "(C1) there is no function @gone"),
        (GRID, "[[@sum], [@sum]]", "[[@sum], [@sum, @sum]]", "have lengths [1, 2]"),
        (GRID, "[[@sum], [@sum]]", "[[@sum], []]", "(C1) a row of programs is [], not a list of"),
        (GRID, "[[@sum], [@sum]]", "[]", "(C1) there are no programs"),
        (GRID, "[[@sum], [@sum]]", "[@sum, @sum]", "(C1) a row of programs is @sum, not a list"),
        (GRID, "[[@sum], [@sum]]", '[["sum"]]', '(C1) a row of programs has "sum", which is no'),
        (GRID, "[[@sum], [@sum]]", "[[@sum]]", "(C2) inputs (f32[2], f32[2]), those of the progra"),
        (GRID, "[[@sum], [@sum]]", "[[@sum], [@main]]", "(C2) inputs"),
        (RAGGED, "@ids, @none", "@none, @ids", "differ, the first at []: 1, expected 0"),
        (RAGGED, "[[@ids, @none], [@none, @add]]", "[[@add]]", "(C3) results (u32[], u32[], u32["),
        (RAGGED, "programs", "program", "(Properties) programs is missing"),
        (INFEED, "[@first, @second]", "[@first, @gone]", "(C1) there is no function @gone"),
        (INFEED, "[@first, @second]", "[]", "(C4) infeed is [], not a list of functions"),
        (INFEED, "[@first, @second]", "[@main]", "(C4) @main of the infeed is () -> ()"),
        (INFEED, "[@first, @second]", "@first", "(Properties) infeed: @first should be"),
        (INFEED, "[@first, @second]", "[@first]", "waits forever: the infeed has no item left"),
        (INFEED, "[@first, @second], programs = [[@read]", "[@read, @second], programs = [[@read]",
         "xla.infeed: waits forever"),
        (TRANSFER, "type = 1>, is_host_transfer = false\n  } : (tensor", "type = 2>, is_host_transfer"
         " = true\n  } : (tensor", "waits forever: replica 1 waits for a send on channel 1"),
    ],
)  # fmt: skip
def test_what_is_wrong(
    text: str,
    old: str,
    new: str,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert old in text
    changed = text.replace(old, new)
    assert run(changed, tmp_path) == 1
    error = capsys.readouterr().err
    assert message in error
    assert "internal error" not in error


def test_programs_may_not_run_each_other_in_a_cycle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """func.func @main() {
  "interpreter.run_parallel"() {programs = [[@other]]} : () -> ()
  return
}
func.func @other() {
  call @main() : () -> ()
  %0 = stablehlo.constant dense<0> : tensor<i32>
  return
}
"""
    assert run(text, tmp_path) == 1
    assert "functions call each other in a cycle: @main -> @other -> @main" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("backend", ["reference", "interpreter"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_on_other_executors(
    name: str, backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(PROGRAMS[name], tmp_path, "--backend", backend) == 0, capsys.readouterr().err


def test_a_module_for_several_replicas_runs_them_itself(tmp_path: Path) -> None:
    text = f"module @m attributes {{mhlo.num_replicas = 2 : i32}} {{\n{GRID}}}\n"
    assert run(text, tmp_path) == 0
