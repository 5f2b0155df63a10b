"""Files that are no programs, or of another format than they are taken for, are told what they are."""

import bz2
import gzip
import io
import lzma
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lowerings
from tools import xla_opt
from xla_dialect.diagnostics import XlaError

HLO = "HloModule m\nENTRY main { ROOT a = f32[4] parameter(0) }\n"
STABLEHLO = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
MLIR = "func.func @main(%a: memref<4xf32>) {\n  func.return\n}\n"


def zipped() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("program.mlir", STABLEHLO)
    return data.getvalue()


def saved() -> bytes:
    data = io.BytesIO()
    np.save(data, np.arange(9))
    return data.getvalue()


def message(text: str) -> bytes:
    """A message of protocol buffers: a number, a text, and a message with both."""
    word = text.encode()
    inner = b"\x18\xac\x02\x0a" + bytes([len(word)]) + word
    return inner + b"\x22" + bytes([len(inner)]) + inner


FILES: dict[str, Callable[[], bytes]] = {
    "a zip archive": zipped,
    "compressed by gzip": lambda: gzip.compress(HLO.encode()),
    "compressed by bzip2": lambda: bz2.compress(HLO.encode()),
    "compressed by xz": lambda: lzma.compress(HLO.encode()),
    "an array of numpy": saved,
    "a pickle of Python": lambda: pickle.dumps({HLO: 1}),
    "UTF-16 text": lambda: HLO.encode("utf-16"),
    "a protocol buffer": lambda: message("main"),
}


@pytest.mark.parametrize("suffix", [".hlo", ".mlir", ".txt"])
@pytest.mark.parametrize("name", FILES)
def test_what_is_no_program(
    name: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, path = FILES[name](), tmp_path / f"file{suffix}"
    path.write_bytes(data)
    assert xla_opt.main([str(path)]) == 1
    assert f"{path}: error: this is {name}, no program: " in capsys.readouterr().err
    with pytest.raises(XlaError, match=f"<bytes>: error: this is {name}"):
        lowerings.compile(data)


@pytest.mark.parametrize(
    ("suffix", "options", "text", "found"),
    [
        (".mlir", [], HLO, "hlo"),
        (".hlo", [], STABLEHLO, "stablehlo"),
        (".hlo", [], MLIR, "mlir"),
        (".txt", ["-f", "mlir"], HLO, "hlo"),
        (".txt", ["-f", "stablehlo"], HLO, "hlo"),
        (".txt", ["-f", "hlo"], "// a comment\n" + STABLEHLO, "stablehlo"),
    ],
)
def test_what_is_of_another_format(
    suffix: str,
    options: list[str],
    text: str,
    found: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_text(text)
    assert xla_opt.main([str(path), *options]) == 1
    assert f"`-f {found}` reads" in capsys.readouterr().err
    assert xla_opt.main([str(path), "-f", found]) == 0


def test_errors_of_the_right_format_stay_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for suffix, text in ((".hlo", HLO), (".mlir", STABLEHLO), (".mlir", MLIR)):
        path = tmp_path / f"file{suffix}"
        path.write_text(text.replace("4", "4x"))
        assert xla_opt.main([str(path)]) == 1
        assert "looks like" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("stablehlo.mul", "did you mean 'multiply'?"),
        ("stablehlo.substract", "did you mean 'subtract'?"),
        ("stablehloo.add", "there is no dialect 'stablehloo'; did you mean 'stablehlo'?"),
        ("chlo.arccos", "did you mean 'acos'?"),
        ("xla.sub", "did you mean 'subtract'?"),
        ("tf.Add", "there is no dialect 'tf'; a package brings dialects by its entry points"),
    ],
)
def test_operations_that_are_not_known(
    word: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file.mlir"
    path.write_text(STABLEHLO.replace("stablehlo.abs %a", f"{word} %a, %a"))
    assert xla_opt.main([str(path)]) == 1
    assert hint in capsys.readouterr().err.splitlines()[0]


def test_targets_that_are_not_registered() -> None:
    call = 'ROOT b = f32[4] custom-call(a), custom_call_target="scale"'
    program = f"HloModule m\nENTRY main {{ a = f32[4] parameter(0) {call} }}"
    with pytest.raises(XlaError) as caught:
        lowerings.compile(program)
    assert "XLA calls what its process has registered under that name" in str(caught.value)
    assert "custom_calls={'scale': function}" in str(caught.value)
    with pytest.raises(XlaError, match=r"\(there are: scales\); did you mean 'scales'\?"):
        lowerings.compile(program, custom_calls={"scales": lambda op, x: x})


def test_windows_marks_are_no_part_of_a_text(tmp_path: Path) -> None:
    path = tmp_path / "program.hlo"
    path.write_bytes(HLO.replace("\n", "\r\n").encode("utf-8-sig"))
    assert xla_opt.main([str(path), "-o", "-"]) == 0
