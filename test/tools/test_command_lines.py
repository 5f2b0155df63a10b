"""Command lines as shells start them: streams that fail, interrupts, versions, completion."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from tools import new_package, xla_opt, xla_run
from tools.expected_diagnostics import expectations

PROGRAM = """\
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = xla.add %x, %x : tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
"""
SCRIPTS = Path(sys.executable).parent


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return str(path)


def started(*command: str, stdout: int | None = subprocess.PIPE) -> subprocess.Popen[str]:
    path = str(SCRIPTS / command[0])
    return subprocess.Popen([path, *command[1:]], text=True, stdout=stdout, stderr=subprocess.PIPE)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "command", [["xla-opt"], ["xla-run", "--input", "3xf32=1"], ["xla-opt", "--help"]]
)
def test_full_output_is_one_line(command: list[str], program: str) -> None:
    with open("/dev/full", "w") as full:
        process = started(*command, program, stdout=full.fileno())
    _, errors = process.communicate()
    assert process.returncode == 1
    assert errors == f"{command[0]}: error: cannot write to stdout: No space left on device\n"


def test_closed_output_is_one_line(program: str) -> None:
    command = [str(SCRIPTS / "xla-opt"), program]
    closing = "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])"
    process = subprocess.run(
        [sys.executable, "-c", closing, *command], text=True, stderr=subprocess.PIPE
    )
    assert (process.returncode, process.stderr) == (1, "xla-opt: error: stdout is closed\n")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("seconds", [0.15, 0.4, 0.7])
def test_interrupts_are_one_line(seconds: float, program: str) -> None:
    """Whenever one comes: while modules are loaded, or while passes run."""
    while True:
        process = started("xla-opt", program, "-p", ",".join(["native{to=xla}"] * 4000))
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        if process.returncode != -signal.SIGINT or "in _run" in errors:
            break
        seconds *= 2  # Python itself was still starting.
    assert (process.returncode, errors) == (1, "xla-opt: interrupted\n")


def test_help_and_version_load_no_compiler() -> None:
    """They take a tenth of a second, which loading xDSL or numpy takes by itself."""
    code = "import sys; from tools.xla_opt import main; main(sys.argv[1:]); print(*sys.modules)"
    for option in ("--help", "--version"):
        run = subprocess.run([sys.executable, "-c", code, option], text=True, capture_output=True)
        loaded = run.stdout.splitlines()[-1].split()
        assert run.returncode == 0
        assert "argparse" in loaded
        assert not {"numpy", "xdsl.ir", "llvmlite"} & {*loaded}


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    assert xla_run.main(["--version"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"xla-run {version('xla-dialect')} (xdsl {version('xdsl')}, ")


@pytest.mark.parametrize(
    ("main", "arguments", "message"),
    [
        (xla_opt.main, ["--prnt-ir-diff"], "--prnt-ir-diff; did you mean '--print-ir-diff'?"),
        (xla_run.main, ["--reps=3"], "unrecognized arguments: --reps=3; did you mean '--repeat'?"),
        (xla_opt.main, ["a.hlo", "b.hlo"], "unrecognized arguments: b.hlo (see xla-opt --help)"),
        (xla_opt.main, ["--example=sofmax"], "no example 'sofmax'; did you mean 'softmax'?"),
        (new_package.main, ["class"], "'class' is no name for a package, such as my_ops"),
        (new_package.main, ["numpy"], "there is a package 'numpy' already: choose another name"),
        (new_package.main, ["lit"], "there is a package 'lit' already"),
        (new_package.main, ["xla"], "there is a dialect 'xla' already: choose another name"),
        (new_package.main, ["linalg_ops"], "there is a dialect 'linalg' already"),
    ],
)
def test_misspelled_and_taken_names(
    main: Callable[[list[str]], int],
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(arguments) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("xla-opt --print-ir-t", "--print-ir-tree-dir"),
        ("xla-opt -p xla-simplify,xla-assign-l", "xla-simplify,xla-assign-layouts"),
        ("xla-opt -p nat", "native"),
        ("xla-opt -t riscv-a", "riscv-asm"),
        ("xla-run --backend ref", "reference"),
    ],
)
def test_completion(typed: str, completed: str, shell: str, tmp_path: Path) -> None:
    """As the functions of `register-python-argcomplete` ask; fish gets descriptions too."""
    answer = tmp_path / "answer"
    environment = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_DFS": "\t",
        "_ARGCOMPLETE_SHELL": shell,
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": typed,
        "COMP_POINT": str(len(typed)),
    }
    subprocess.run(
        [SCRIPTS / typed.split()[0]], env=os.environ | environment, capture_output=True, timeout=60
    )
    lines = answer.read_text().split("\n")
    assert completed in [line.partition("\t")[0].strip() for line in lines]


@pytest.mark.parametrize("text", ["nan", "-1", "inf", "much"])
def test_tolerance_is_a_number_from_zero_on(
    text: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert xla_run.main([program, f"--tolerance={text}"]) == 1
    assert f"{text} is no tolerance" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input=3xf32=1", "--expected-output=3xs32=2"], "elements are float32, expected int32"),
        (["--input=3xf32=[1,2,x]"], "'x' is no number"),
        (["--input=3xf32=x1.npy"], "'x1.npy' is no number"),
        (["--input=3xf32="], "'' is no number, and no list of them"),
        (["--input=3xf32=[1,"], "'[1,' is no number, and no list of them"),
        (["--input=3xf32=1+2j"], "a complex value for a real type"),
    ],
)
def test_wrong_arrays(
    arguments: list[str], message: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert xla_run.main([program, *arguments, "--backend=reference"]) == 1
    assert message in capsys.readouterr().err


def test_places_of_expectations() -> None:
    """Lines that expect something are passed over, as in MLIR."""
    text = """first
// expected-error@above {{a}}
// expected-note@above {{b}}
// expected-error@below {{c}}
// expected-warning@unknown {{d}}
last // expected-error {{e}}
"""
    targets = [(each.text, each.target) for each in expectations(text)]
    assert targets == [("a", 1), ("b", 1), ("c", 7), ("d", 0), ("e", 6)]
