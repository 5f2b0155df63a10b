"""What is tried: the generators of the tests, with the checks of the tests."""

import io
import os
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch
from zipfile import ZipFile

import numpy as np
from binary import test_damaged as binary
from binary import test_hlo_module as protos
from damaged_text import damaged, exchanged
from differential.executors import EXECUTORS, OF_TEXT, XLA, ends_xla
from differential.generation import OWN_TYPES, TYPES, generate
from differential.reduction import failure_of, reduced
from execution import test_custom_calls as callbacks
from hlo_text import test_hlo_fuzz as hlo
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from verification import test_mlir_fuzz as mlir

import lowerings
from fuzzing.campaign import Case
from fuzzing.watching import Watch
from lowerings.compilation import Program
from lowerings.execution.arrays import ArgumentError
from tools import xla_layout, xla_opt, xla_run
from tools.array_spec import AnyArray, ArraySpecError, as_parameter, load_arrays
from xla_dialect.diagnostics import XlaError
from xla_dialect.verification import verify

EXAMPLES = 50
"""Inputs of one seed, where one takes milliseconds."""


@dataclass(frozen=True)
class Kind:
    case: Case
    what: str
    peers: tuple[str, ...] = ()
    """Without which it cannot run."""


def texts(
    number: int,
    watch: Watch,
    make: Callable[[st.DataObject], str],
    check: Callable[[str], None],
) -> None:
    """Random texts; where one fails, the smallest that does is the last."""

    @seed(number)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=False,
        report_multiple_bugs=False,
        # The same seed gives the same message: an explanation depends on what was run before.
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=tuple(HealthCheck.__members__.values()),
    )
    @given(data=st.data())
    def examples(data: st.DataObject) -> None:
        text = make(data)
        with watch.input(text):
            check(text)

    examples()


def damaged_hlo(data: st.DataObject) -> str:
    return damaged(data, data.draw(st.sampled_from(_hlo_texts())), hlo.WORDS)


LONGEST = 6_000
"""Characters: of longer texts most places say the same."""


@cache
def _hlo_texts() -> Sequence[str]:
    """Programs, and what the FileCheck tests read."""
    tests = Path(__file__).parents[1]
    files = [tests / "hlo_text" / "inputs" / "newer_forms.txt"]
    files += [path for name in ("hlo_text", "run") for path in (tests / name).glob("*.hlo")]
    parts = [part for path in sorted(files) for part in path.read_text().split("// -----\n")]
    return [*hlo.TEXTS, *(part for part in parts if len(part) <= LONGEST)]


def other_hlo(data: st.DataObject) -> str:
    return exchanged(data, data.draw(st.sampled_from(_hlo_texts())), OPCODES_AND_TYPES)


def other_mlir(data: st.DataObject) -> str:
    return exchanged(data, mlir.printed(data.draw(st.sampled_from(mlir.LEVELS))), mlir.WORDS)


OPCODES_AND_TYPES = (
    *("f32", "s32", "bf16", "u8", "pred", "c64", "f64", "s4", "f8e5m2", "0,1", "1,0", "LT", "max"),
    *("add", "negate", "copy", "tuple", "minimum", "dot", "while", "f32[]", "f32[2]", "true"),
)
ENOUGH = 1 << 28
"""Bytes for a program that a wrong size may have made large."""


def check_compiled(text: str) -> None:
    """What verifies is compiled, or refused with a reason; it runs where the reference does."""
    try:
        program = lowerings.compile(text, input_format="hlo", memory_limit=ENOUGH)
        arguments = [np.zeros(each.shape, each.dtype) for each in program.signature.parameters]
        results = program(*arguments)
        reference = lowerings.compile(
            text, backend="reference", input_format="hlo", memory_limit=ENOUGH
        )
        expected = reference(*arguments)
    except XlaError:
        return
    assert [(x.shape, x.dtype) for x in results] == [(x.shape, x.dtype) for x in expected]


def check_lowered(text: str) -> None:
    """What verifies is compiled, or refused with a reason. It may write anywhere: nobody runs it."""
    with suppress(XlaError):
        lowerings.compile(text, input_format="mlir", memory_limit=ENOUGH)


def damaged_mlir(data: st.DataObject) -> str:
    return damaged(data, mlir.printed(data.draw(st.sampled_from(mlir.LEVELS))), mlir.WORDS)


def damaged_arrays(data: st.DataObject) -> str:
    """The bytes of a numpy file, as a text of Latin-1."""
    text = data.draw(st.sampled_from(_array_files())).decode("latin-1")
    return damaged(data, text, ARRAY_WORDS)


ARRAY_WORDS = (
    *("\0", "\xff", "<f8", "|O", "|V4", ">f4", "<U1", "<f16", "<M8[s]", "[('a','<f4')]"),
    *("-1", "9" * 20, "(", "PK", "arr_0", ".npy", "NUMPY", "True", "1,"),
)


@cache
def _array_files() -> Sequence[bytes]:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    plain, archive, compressed, mixed = (io.BytesIO() for _ in range(4))
    np.save(plain, array)
    np.savez(archive, array, array)
    np.savez_compressed(compressed, array, array)
    with ZipFile(mixed, "w") as members:
        members.writestr("a.npy", plain.getvalue())
        members.writestr("a.txt", "no array")
    return [each.getvalue() for each in (plain, archive, compressed, mixed)]


def check_arrays(text: str) -> None:
    """Arrays, or one error that names the file; and a program takes them, or says why not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.npz"
        path.write_bytes(text.encode("latin-1"))
        arrays: Sequence[AnyArray] = ()
        message = f"{path}: error: "
        try:
            arrays = load_arrays(str(path))
        except ArraySpecError as error:
            message = str(error)
    assert message.startswith(f"{path}: error: "), message
    (parameter,) = _doubling().signature.parameters
    for array in arrays:
        with suppress(ArgumentError):
            _doubling()(as_parameter(array, parameter.type))


@cache
def _doubling() -> Program:
    return lowerings.compile("ENTRY e { x = f32[4,6] parameter(0)\n ROOT r = add(x, x) }")


def damaged_bytecode(data: st.DataObject) -> str:
    """The bytes of a file, as a text of Latin-1."""
    file = data.draw(st.sampled_from(binary.files()))
    return damaged(data, file.decode("latin-1"), binary.WORDS)


def damaged_proto(data: st.DataObject) -> str:
    """The bytes of a module of HLO, as a text of Latin-1."""
    file = data.draw(st.sampled_from(_protos()))
    return damaged(data, file.decode("latin-1"), binary.WORDS)


@cache
def _protos() -> Sequence[bytes]:
    files = (path for path in protos.FILES if path.startswith("programs/"))
    return [data for name in files for _, data in protos.modules(name) if len(data) < LONGEST]


def check_bytecode(text: str) -> None:
    """A program, or one error that names the file."""
    binary.check(text.encode("latin-1", "replace"))


COMMANDS = {"xla-opt": xla_opt.main, "xla-run": xla_run.main, "xla-layout": xla_layout.main}
COMMAND_LINES = (
    "xla-opt good.hlo",
    "xla-opt good.hlo -f hlo -t stablehlo",
    "xla-opt good.hlo -p native{to=buffers}",
    "xla-opt good.hlo -t llvm --verify-diagnostics",
    "xla-run good.hlo --input 2x3xf32=1.5 --backend reference",
    "xla-run good.hlo --input 2x3xf32=[[1,2,3],[4,5,nan]] --expected-output 2x3xf32=random",
    "xla-run good.hlo --input @good.npy --entry main --num-threads 1 --memory-limit 1G",
    "xla-run good.hlo --backend interpreter --level loops --input 2x3xf32=random",
    "xla-opt good.hlo -p xla-simplify,xla-dce --print-ir-after-all --print-ir-diff --timing",
    "xla-opt good.hlo -p native --validate-each --validate-seed 3 --pass-statistics",
    "xla-opt good.hlo -p native --opt-bisect-limit 3 --print-memory --print-fusion --explain",
    "xla-opt good.hlo --print-op-generic --print-debuginfo --print-ir-after xla-dce -o out.mlir",
    "xla-run good.hlo --input 2x3xf32=random --seed 3 --iterations 2 --reference reference",
    "xla-run good.hlo --input 2x3xf32=1 --check-bounds --timeout 5 --num-threads 2 --repeat 2",
    "xla-run good.hlo --replicas 2 --input 2x3xf32=1 --output-dir out --tolerance f32=3",
    "xla-layout f32[8,128]{1,0:T(4,128)}",
)
GOOD = "ENTRY main { x = f32[2,3] parameter(0)\n ROOT y = f32[2,3] add(x, x) }\n"
WORDS = (
    *("-p", "-t", "-f", "--", "-", "=", ",", "{", "}", " ", "@", "'", '"', "--input", "--level"),
    *("x", "0x", "f32", "s4", "token", "99999999999999999999", "-1", "nan", "1e999", "native"),
)


def damaged_command_line(data: st.DataObject) -> str:
    line = damaged(data, data.draw(st.sampled_from(COMMAND_LINES)), WORDS)
    # An absolute path may be one of the machine that runs this.
    return line.replace("/", "").replace("~", "").replace("..", "")


def check_command_line(line: str) -> None:
    """Success, or an exit code with a message: no traceback, and no error of ours."""
    try:
        command, *arguments = shlex.split(line)
    except ValueError:
        return
    if command not in COMMANDS or "\0" in line:
        return
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("good.hlo").write_text(GOOD)
        np.save("good.npy", np.ones((2, 3), np.float32))
        output, errors, nothing = (io.TextIOWrapper(io.BytesIO()) for _ in range(3))
        with (
            redirect_stdout(output),
            redirect_stderr(errors),
            patch("sys.stdin", nothing),
            patch.dict(os.environ),
        ):
            try:
                code = COMMANDS[command](arguments)
            except SystemExit as exit_:
                code = exit_.code
        errors.seek(0)
        message = errors.read()
    assert "Traceback" not in message, message
    assert "internal error" not in message, message
    assert code == 0 or message, f"exit code {code} without a message"


def programs(number: int, watch: Watch, executors: Sequence[str]) -> None:
    """A random program on executors, each beside the reference."""
    for name in executors:
        program = generate(number, OWN_TYPES if name in OF_TEXT else TYPES)
        verify(program.module)
        if name == "xla" and ends_xla(program.module):
            continue
        executor = XLA if name == "xla" else EXECUTORS[name]
        with watch.input(f"{name}: the program of {number}"):
            failure = failure_of(program.module, program.arguments, executor)
        if failure is not None:
            watch.last_input = reduced(failure, executor, number).report(number)
            raise AssertionError(f"{name}: {failure.message}")


def kept_and_written(number: int, watch: Watch) -> None:
    """Functions that keep what they are given and write to it, on every executor in turn."""
    tests = (
        callbacks.test_operands_may_be_kept_and_written,
        callbacks.test_results_may_be_written_by_who_returned_them,
    )
    for test in tests:
        backend, level = callbacks.EXECUTORS[number % len(callbacks.EXECUTORS)]
        with watch.input(f"{test.__name__}({backend!r}, {level!r})"):
            test(backend, level)


def _of_texts(
    make: Callable[[st.DataObject], str], check: Callable[[str], None], what: str, *peers: str
) -> Kind:
    return Kind(partial(texts, make=make, check=check), what, peers)


def _of_programs(executors: Sequence[str], what: str, *peers: str) -> Kind:
    return Kind(partial(programs, executors=executors), what, peers)


KINDS: Mapping[str, Kind] = {
    "hlo": _of_texts(damaged_hlo, hlo.check, "damaged HLO text"),
    "grammar": _of_texts(hlo.grammatical, hlo.check, "HLO text of the grammar, right or wrong"),
    "mlir": _of_texts(damaged_mlir, mlir.check, "damaged MLIR of every level"),
    "compiled": _of_texts(other_hlo, check_compiled, "HLO with other words, compiled and run"),
    "lowered": _of_texts(other_mlir, check_lowered, "MLIR with other words, compiled"),
    "arrays": _of_texts(damaged_arrays, check_arrays, "damaged npy and npz files"),
    "bytecode": _of_texts(
        damaged_bytecode, check_bytecode, "damaged MLIR bytecode and portable artifacts", "jax"
    ),
    "proto": _of_texts(damaged_proto, check_bytecode, "damaged protos of modules of HLO", "jax"),
    "commands": _of_texts(damaged_command_line, check_command_line, "damaged command lines"),
    "programs": _of_programs(
        ("llvm", "tensors", "buffers", "loops"), "random programs beside the reference"
    ),
    "layouts": _of_programs(OF_TEXT, "programs in random layouts, and printed levels run again"),
    "xla": _of_programs(("xla",), "random programs on XLA CPU beside the reference", "jax"),
    "riscv64": _of_programs(("riscv64",), "random programs on riscv64", "riscv64"),
    "callbacks": Kind(kept_and_written, "functions that keep and write their operands"),
}
