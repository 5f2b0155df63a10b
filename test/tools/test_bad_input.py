"""Bad input through the command line: exit code 1 and one message with place, operation and rule."""

import re
import warnings
from pathlib import Path
from random import Random
from zipfile import ZipFile

import numpy as np
import pytest

import lowerings
from tools import xla_opt, xla_run
from tools.array_spec import ArraySpecError, load_arrays

HLO = """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4,8]{1,0} parameter(0)
  y = f32[8,4]{1,0} parameter(1)
  zero = f32[] constant(0)
  d = f32[4,4]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[4]{0} reduce(d, zero), dimensions={1}, to_apply=add
}
"""

STABLEHLO = """module @m {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
    return %2 : tensor<4x4xf32>
  }
}
"""

# What to replace, by what, and what the message has to say (after file:line:column).
HLO_CASES = {
    "truncated": (HLO[HLO.index("ROOT r") :], "", ""),
    "unknown opcode": ("dot(x, y)", "dott(x, y)", "unknown opcode 'dott'"),
    "unknown attribute": ("dimensions={1}", "dimension={1}", "dimension"),
    "repeated attribute": ("dimensions={1}", "dimensions={1}, dimensions={1}", "dimensions"),
    "shapes disagree": ("d = f32[4,4]", "d = f32[4,5]", "f32[4,5]"),
    "contracting sizes": ("lhs_contracting_dims={1}", "lhs_contracting_dims={0}", "(C2)"),
    "undefined name": ("reduce(d, zero)", "reduce(e, zero)", "'e'"),
    "doubly defined name": ("y = f32[8,4]{1,0} parameter(1)", "x = f32[] constant(0)", "'x'"),
    "arity": ("dot(x, y)", "dot(x)", "dot"),
    "long dimension": ("x = f32[4,8]", f"x = f32[{'9' * 200},8]", ""),
    "huge shape": ("x = f32[4,8]{1,0} p", "x = f32[4294967296,4294967296]{1,0} p", ""),
    "element type": ("c = f32[] add", "c = f31[] add", "f31"),
    "computation missing": ("to_apply=add", "to_apply=sub", "sub"),
    "region signature": ("b = f32[] parameter(1)", "b = s32[] parameter(1)", ""),
    "deep nesting": ("constant(0)", "constant(" + "{" * 100_000, ""),
    "recursion": ("ROOT c = f32[] add(a, b)", "ROOT c = f32[] call(a, b), to_apply=add", "add"),
    "negative size": ("x = f32[4,8]", "x = f32[-4,8]", ""),
    "layout": ("x = f32[4,8]{1,0}", "x = f32[4,8]{1,1}", ""),
}
STABLEHLO_CASES = {
    "truncated": (STABLEHLO[STABLEHLO.index("return") :], "", ""),
    "unknown operation": ("stablehlo.transpose", "stablehlo.transposed", "stablehlo.transposed"),
    "shapes disagree": ("-> tensor<4x4xf32>\n    %1", "-> tensor<4x5xf32>\n    %1", "4"),
    "permutation": ("dims = [1, 0]", "dims = [1, 1]", "(C1)"),
    "undefined value": ("add %0, %1", "add %0, %7", "%7"),
    "doubly defined value": ("%1 = stablehlo.tr", "%0 = stablehlo.tr", "%0"),
    "long dimension": ("tensor<4x8xf32>, %arg1", f"tensor<{'9' * 200}x8xf32>, %arg1", ""),
    "element type": ("%arg0: tensor<4x8xf32>", "%arg0: tensor<4x8xf31>", ""),
    "deep nesting": ("module @m {", "module @m {" * 5000, ""),
}

PLACE = re.compile(r"^(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): error: \S")


def cases() -> list[object]:
    rows: list[object] = []
    for suffix, text, table in ((".hlo", HLO, HLO_CASES), (".mlir", STABLEHLO, STABLEHLO_CASES)):
        for name, (old, new, expected) in table.items():
            assert old in text
            rows.append(
                pytest.param(suffix, text.replace(old, new, 1), expected, id=f"{suffix[1:]} {name}")
            )
    return rows


@pytest.mark.parametrize(("suffix", "text", "expected"), cases())
def test_bad_programs_end_in_one_located_message(
    suffix: str, text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_text(text)
    assert xla_opt.main([str(path)]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    match = PLACE.match(output.err)
    assert match is not None, output.err
    assert match["file"] == str(path)
    assert 1 <= int(match["line"]) <= text.count("\n") + 1
    assert expected in output.err.splitlines()[0]
    assert "Traceback" not in output.err
    assert "internal error" not in output.err
    assert max(map(len, output.err.splitlines())) < 2000


def test_good_programs_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix, text in ((".hlo", HLO), (".mlir", STABLEHLO)):
        path = tmp_path / f"good{suffix}"
        path.write_text(text)
        assert xla_opt.main([str(path)]) == 0
        assert "xla.dot" in capsys.readouterr().out


def test_format_follows_content_for_stdin_and_txt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, text in enumerate((HLO, STABLEHLO)):
        path = tmp_path / f"program{number}.txt"
        path.write_text(text)
        assert xla_opt.main([str(path)]) == 0
        assert "xla.dot" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["missing.hlo"], "missing.hlo: error: No such file"),
        (["good.hlo", "-p", "xla-inlin"], "there is no pass 'xla-inlin'; did you mean xla-inline"),
        (["good.hlo", "-p", "xla-inline{depth=3}"], "xla-inline"),
        (["good.hlo", "-p", "native{to=nowhere}"], "no level 'nowhere'"),
        (["good.hlo", "-p", "xla-inline{"], "pipeline"),
        (["good.hlo", "-t", "elf"], "there is no target 'elf'"),
        (["good.hlo", "--no-such-flag"], "--no-such-flag"),
        (["good.hlo", "-f", "onnx"], "onnx"),
        (["binary.hlo"], "not UTF-8 text"),
        ([".", "-f", "hlo"], "error:"),
    ],
)
def test_bad_command_lines_of_xla_opt(
    arguments: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "good.hlo").write_text(HLO)
    (tmp_path / "binary.hlo").write_bytes(b"HloModule \xff\xfe")
    monkeypatch.chdir(tmp_path)
    assert xla_opt.main(arguments) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert expected in output.err
    assert "Traceback" not in output.err
    assert "internal error" not in output.err


ARRAYS = ["--input", "4x8xf32=1.5", "--input", "8x4xf32=random"]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "main(%x: f32[4,8], %y: f32[8,4]) -> (f32[4])"),
        (["--input", "4x8xf32=1"], "1 inputs for 2 parameters"),
        ([*ARRAYS, "--input", "f32=1"], "3 inputs for 2 parameters"),
        (["--input", "4x9xf32=1", "--input", "8x4xf32=1"], "f32[4,8]"),
        (["--input", "4x8xs32=1", "--input", "8x4xf32=1"], "f32"),
        (["--input", "4x8xf32=[[1,2],[3,4]]", "--input", "8x4xf32=1"], "shape [2, 2]"),
        (["--input", "4x8xf33=1", "--input", "8x4xf32=1"], "4x8xf33=1"),
        (["--input", "4x8xf32=abc", "--input", "8x4xf32=1"], "4x8xf32=abc"),
        (["--input", "@missing.npy", "--input", "8x4xf32=1"], "missing.npy"),
        (["--input", "@text.npy", "--input", "8x4xf32=1"], "text.npy"),
        ([*ARRAYS, "--entry", "nothing"], "no public function @nothing"),
        ([*ARRAYS, "--expected-output", "4xf32=123.0"], "elements differ"),
        ([*ARRAYS, "--expected-output", "5xf32=123.0"], "shape [4], expected [5]"),
        ([*ARRAYS, "--num-threads", "0"], "num_threads"),
    ],
)
def test_bad_command_lines_of_xla_run(
    arguments: list[str],
    expected: str,
    backend: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "good.hlo").write_text(HLO)
    (tmp_path / "text.npy").write_text("no numpy file")
    monkeypatch.chdir(tmp_path)
    assert xla_run.main(["good.hlo", "--backend", backend, *arguments]) == 1
    output = capsys.readouterr()
    assert expected in output.err
    assert "Traceback" not in output.err
    assert "internal error" not in output.err


def test_damaged_numpy_files(tmp_path: Path) -> None:
    """Whatever is wrong with one, it is named and taken for no numpy file, or it is read."""
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "b.npz", array, array)
    np.savez_compressed(tmp_path / "c.npz", array, array)
    random = Random(1)
    refused: list[str] = []
    for number in range(600):
        source = tmp_path / ("a.npy", "b.npz", "c.npz")[number % 3]
        content = bytearray(source.read_bytes())
        for _ in range(random.choice((1, 2, 5))):
            content[random.randrange(min(len(content), random.choice((140, 10_000))))] = (
                random.randrange(256)
            )
        damaged = source.with_stem("damaged")
        damaged.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                load_arrays(str(damaged))
            except ArraySpecError as error:
                refused.append(str(error))
    assert len(refused) > 200
    assert all(
        "damaged.npy: error: no numpy file" in each.replace("npz", "npy") for each in refused
    )


def test_archives_of_something_else(tmp_path: Path) -> None:
    """Numpy gives the bytes of a member that is no array."""
    with ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.txt", "text")
    with pytest.raises(ArraySpecError, match=r"a.npz: error: no numpy file: a.txt is no array"):
        load_arrays(str(tmp_path / "a.npz"))


def test_a_text_longer_than_a_file_name() -> None:
    name = "m" * 300
    program = lowerings.compile(f"HloModule {name} ENTRY e {{ ROOT c = f32[] constant(7) }}")
    assert program()[0] == 7
