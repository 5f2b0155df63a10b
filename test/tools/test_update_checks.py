"""`xla-update-checks`: which CHECK lines it writes, and which it leaves alone."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import xla_opt
from tools.update_checks import UpdateError, main, update

PRINTED = """builtin.module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tensor.empty() : tensor<4xf32>
    %1 = linalg.generic {iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
    ^bb0(%2: f32, %3: f32):
      %4 = arith.addf %2, %2 : f32
      linalg.yield %4 : f32
    } -> tensor<4xf32>
    func.return %1 : tensor<4xf32>
  }
  func.func @g() {
    %0 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> loc("g.mlir":1:2)
    func.return
  }
}
"""
RUN = "// RUN: cat %s.out | filecheck %s"
FUNCTIONS = "func.func @f(%x: tensor<4xf32>) {\n}\n\nfunc.func @g() {\n}\n"


def updated(folder: Path, text: str, printed: str = PRINTED, **options: list[str]) -> str:
    """What becomes of a test that prints a text; FileCheck is content with it."""
    path = folder / "test.mlir"
    Path(f"{path}.out").write_text(printed)
    path.write_text(update(text, path, **options))
    assert update(path.read_text(), path) == path.read_text()
    return path.read_text()


def accepted(folder: Path, *options: str) -> bool:
    """Whether FileCheck finds in what was printed what the test says."""
    path = folder / "test.mlir"
    command = [sys.executable, "-m", "filecheck", str(path), "--input-file", f"{path}.out"]
    return subprocess.run([*command, *options]).returncode == 0


def test_a_prefix_without_lines_gets_a_block_for_every_function(tmp_path: Path) -> None:
    assert (
        updated(tmp_path, f"{RUN}\n\n{FUNCTIONS}")
        == """// RUN: cat %s.out | filecheck %s

// xla-update-checks: CHECK @f
// CHECK-LABEL:   func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT:      %[[GENERIC:.*]] = linalg.generic {iterator_types = ["parallel"]}
// CHECK-SAME:        ins(%x : tensor<4xf32>) outs(%[[EMPTY]] : tensor<4xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[ARG]], %[[ARG]] : f32
// CHECK-NEXT:        linalg.yield %[[ADDF]] : f32
// CHECK-NEXT:      } -> tensor<4xf32>
// CHECK-NEXT:      func.return %[[GENERIC]] : tensor<4xf32>
// CHECK-NEXT:    }
func.func @f(%x: tensor<4xf32>) {
}

// xla-update-checks: CHECK @g
// CHECK-LABEL:   func.func @g() {
// CHECK-NEXT:      %{{.*}} = arith.constant dense<{{\\[\\[}}1, 2], [3, 4]]> : tensor<2x2xi32> loc({{.*}})
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
func.func @g() {
}
"""
    )
    assert accepted(tmp_path)


def test_a_block_is_written_again_and_other_lines_stay(tmp_path: Path) -> None:
    by_hand = "// CHECK: arith.addf by hand"
    marker = "// xla-update-checks: CHECK @g filter=return"
    old = f"{RUN}\n{by_hand}\n{marker}\n// CHECK-LABEL: @old\n// CHECK: gone\n{FUNCTIONS}"
    new = updated(tmp_path, old)
    block = "// CHECK-LABEL:   func.func @g() {\n// CHECK:           func.return\n"
    assert new == f"{RUN}\n{by_hand}\n{marker}\n{block}{FUNCTIONS}"


def test_a_filter_keeps_only_what_it_finds(tmp_path: Path) -> None:
    marker = "// xla-update-checks: CHECK @f filter=addf|yield"
    new = updated(tmp_path, f"{RUN}\n{marker}\n{FUNCTIONS}")
    assert "tensor.empty" not in new
    assert "// CHECK:             %[[ADDF:.*]] = arith.addf %[[ARG:.*]], %[[ARG]] : f32" in new
    assert "// CHECK-NEXT:        linalg.yield %[[ADDF]] : f32" in new
    assert accepted(tmp_path)


def test_lines_written_by_hand_are_replaced_on_request(tmp_path: Path) -> None:
    old = f"{RUN}\n// CHECK: by hand\n// OTHER: by hand\n{FUNCTIONS}"
    assert updated(tmp_path, old) == old
    new = updated(tmp_path, old, rewritten=["CHECK"])
    assert "// CHECK: by hand" not in new
    assert "// OTHER: by hand" in new
    assert accepted(tmp_path)


def test_prefixes_have_blocks_of_their_own(tmp_path: Path) -> None:
    runs = f"{RUN} --check-prefix=ONE\n// RUN: sed s/@f/@h/ %s.out \\\n// RUN:   | filecheck %s --check-prefixes=TWO,THREE"
    new = updated(tmp_path, f"{runs}\n{FUNCTIONS}")
    assert new.count("-LABEL:   func.func @f") == 1
    assert "// TWO-LABEL:   func.func @h" in new
    assert "// THREE-LABEL:   func.func @h" in new
    assert accepted(tmp_path, "--check-prefix=ONE")


def test_a_name_may_come_again_in_another_part(tmp_path: Path) -> None:
    parts = [f"func.func @f() {{\n  {word}\n}}\n" for word in ("first", "second")]
    text = "// -----\n".join(parts)
    new = updated(tmp_path, f"{RUN} --check-prefix=P\n{text}", printed=text)
    first, second = new.split("// -----\n")
    assert "P-NEXT:    first" in first
    assert "P-NEXT:    second" in second


def test_computations_of_hlo_text(tmp_path: Path) -> None:
    printed = "HloModule m\n\n%add.1 (a: f32[]) -> f32[] {\n  ROOT %a.1 = f32[] parameter(0)\n}\n\nENTRY %main.2 (x: f32[]) -> f32[] {\n}\n"
    new = updated(tmp_path, f"{RUN}\nENTRY main.2 {{\n}}\n", printed=printed)
    assert "// CHECK-LABEL: %add.1 (a: f32[]) -> f32[] {" in new
    assert new.index("@add.1") < new.index("CHECK @main.2") < new.index("\nENTRY")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f() {\n}\n", "no RUN line ends in filecheck"),
        ("// RUN: echo x | filecheck %s\n", "CHECK: nothing that is printed is a function"),
        ("// RUN: exit 3 | filecheck %s\n", "`exit 3` ended with code 3"),
        ("// RUN: not true | filecheck %s\n", "`not true` ended with code 0"),
        (
            "// RUN: echo x | filecheck %s\n// RUN: echo y | filecheck %s\n",
            "CHECK: `echo x` and `echo y` print different texts",
        ),
        (
            f"{RUN}\n// xla-update-checks: CHECK @missing\n",
            "CHECK: @missing is not printed",
        ),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UpdateError) as error:
        updated(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'test.mlir'}: {message}")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "test.mlir"
    Path(f"{path}.out").write_text(PRINTED)
    path.write_text(f"{RUN}\n{FUNCTIONS}")
    assert main([str(path)]) == 0
    assert accepted(tmp_path)
    written = path.read_text()
    assert main([str(path), "--rewrite", "NONE"]) == 1
    assert "no RUN line has the prefix NONE" in capsys.readouterr().err
    assert path.read_text() == written


def test_the_page(tmp_path: Path) -> None:
    """The example of docs/testing.md becomes what the page shows; its other one is an error."""
    page = (Path(__file__).parents[2] / "docs" / "testing.md").read_text()
    example, error, block = (
        re.sub("(?m)^    ", "", part)
        for part in re.findall(r"(?m)(?:^    .*\n|^\n(?=    ))+", page)
    )
    path = tmp_path / "test.mlir"
    marker = block.strip().partition("\n")[0]
    path.write_text(
        re.sub(r"(?m)^// CHECK.*\n", "", example).replace("func.func", f"{marker}\nfunc.func", 1)
    )
    assert main([str(path)]) == 0
    assert block.strip() in path.read_text()
    for text in (path.read_text(), example):
        run_line, _, _ = text.strip().partition("\n")
        path.write_text(text)
        command = run_line.removeprefix("// RUN: ").replace("%s", str(path))
        folder = str(Path(sys.executable).parent)
        assert subprocess.run(["bash", "-c", f"PATH={folder}:$PATH; {command}"]).returncode == 0
    path.write_text(error)
    assert xla_opt.main([str(path), "--split-input-file", "--verify-diagnostics"]) == 0
