"""Programs that check themselves, in StableHLO and in HLO text, interpreted and compiled."""

from pathlib import Path

import numpy as np
import pytest

import lowerings
from lowerings.compilation import Options, compile_module
from lowerings.driver.program import load_program
from tools import xla_run
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.runtime.observation import Observer
from xla_dialect.types import BY_NAME, ELEMENT_TYPES

BACKENDS = ["reference", "llvm"]

E8M0 = BY_NAME["f8e8m0fnu"].type
"""A type without zero."""

PLACE = "<input>:4:3: error: "


def stablehlo(check: str, type_: str = "tensor<4xf32>") -> str:
    """A program that checks its two arguments on line 4."""
    return (
        f"func.func @main(%x: {type_}, %y: {type_}) -> {type_} {{\n"
        f"  // The operation is there for the reader to see that this is StableHLO.\n"
        f"  %0 = stablehlo.optimization_barrier %x : {type_}\n"
        f"  {check}\n  return %x : {type_}\n}}\n"
    )


def outcome(text: str, *arrays: np.ndarray, backend: str) -> str:
    """The error of a run, nothing if there is none."""
    try:
        lowerings.compile(text, backend=backend)(*arrays)
    except XlaError as error:
        return str(error)
    return ""


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


A = f32(1, 2, 3, 4)

# The operation or call, what it compares A with and accepts, what it refuses, and what it says.
CHECKS = {
    "check.expect_eq %x, %y : tensor<4xf32>": (
        A,
        f32(1, 2, 3.0000002, 5),
        "check.expect_eq: 2 of 4 elements differ, the first at [2]: 3.0, expected 3.0000002 "
        "(error 1 ULP)",
    ),
    '"check.expect_eq"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> ()': (
        A,
        f32(1, 2, 3, np.nan),
        "check.expect_eq: 1 of 4 elements differ, the first at [3]: 4.0, expected nan "
        "(no finite error)",
    ),
    "check.expect_almost_eq %x, %y : tensor<4xf32>": (
        f32(1.00009, 2, 3, 4),
        f32(1.0002, 2, 3, 4),
        "check.expect_almost_eq: 1 of 4 elements differ by more than 0.0001, the first at [0]: "
        "1.0, expected 1.0002 (error 1678 ULP)",
    ),
    "check.expect_almost_eq %x, %y, tolerance = 0.5 : tensor<4xf32>": (
        f32(1.5, 2, 3, 4),
        f32(1.5, 2, 3, 4.75),
        "check.expect_almost_eq: 1 of 4 elements differ by more than 0.5, the first at [3]: 4.0, "
        "expected 4.75 (error 1572864 ULP)",
    ),
    '"check.expect_almost_eq"(%x, %y) {tolerance = 0.5} : (tensor<4xf32>, tensor<4xf32>) -> ()': (
        f32(1.5, 2, 3, 4),
        f32(0.25, 2, 3, 4),
        "check.expect_almost_eq: 1 of 4 elements differ by more than 0.5, the first at [0]: 1.0, "
        "expected 0.25 (error 16777216 ULP)",
    ),
    "check.expect_close %x, %y, max_ulp_difference = 3 : tensor<4xf32>, tensor<4xf32>": (
        f32(1, 2, 3, 4.000001),
        f32(1, 2, 3, 4.000002),
        "check.expect_close: 1 of 4 elements differ by more than 3 ULP, the first at [3]: 4.0, "
        "expected 4.000002 (error 4 ULP)",
    ),
    "check.expect_close %x, %y, max_ulp_difference = 4, min_ulp_difference = 1 : tensor<4xf32>, "
    "tensor<4xf32>": (
        np.nextafter(A, f32(9)),
        A,
        "check.expect_close: 4 of 4 elements do not differ by 1 to 4 ULP, the first at [0]: 1.0, "
        "expected 1.0 (error 0 ULP)",
    ),
    '"check.expect_close"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> ()': (
        np.nextafter(A, f32(9)),
        f32(1, 2.0000005, 3, 4),
        "check.expect_close: 1 of 4 elements differ by more than 1 ULP, the first at [1]: 2.0, "
        "expected 2.0000005 (error 2 ULP)",
    ),
    "stablehlo.custom_call @check.expect_eq(%x, %y) {has_side_effect = true} : "
    "(tensor<4xf32>, tensor<4xf32>) -> ()": (
        A,
        f32(1, 2, 3, 8),
        "xla.custom_call: check.expect_eq: 1 of 4 elements differ, the first at [3]: 4.0, "
        "expected 8.0 (error 8388608 ULP)",
    ),
    "stablehlo.custom_call @check.expect_close(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> ()": (
        f32(1, 2, 3, 4.000001),
        f32(1, 2, 3, 4.000002),
        "xla.custom_call: check.expect_close: 1 of 4 elements differ by more than 3 ULP, the first "
        "at [3]: 4.0, expected 4.000002 (error 4 ULP)",
    ),
    "stablehlo.custom_call @check.expect_almost_eq(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> ()": (
        f32(1.0009, 2, 3, 4),
        f32(1.002, 2, 3, 4),
        "xla.custom_call: check.expect_almost_eq: 1 of 4 elements differ by more than 0.001, the "
        "first at [0]: 1.0, expected 1.002 (error 16777 ULP)",
    ),
    "%c = stablehlo.custom_call @check.eq(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<i1>": (
        f32(1.00009, 2, 3, 4),
        f32(1.0002, 2, 3, 4),
        "xla.custom_call: check.eq: 1 of 4 elements differ by more than 0.0001, the first at [0]: "
        "1.0, expected 1.0002 (error 1678 ULP)",
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("check", CHECKS)
def test_checks(check: str, backend: str) -> None:
    accepted, refused, message = CHECKS[check]
    column = {"%": 8, '"': 4}.get(check[0], 3)
    program = lowerings.compile(stablehlo(check), backend=backend)
    (result,) = program(A, accepted)
    np.testing.assert_array_equal(result, A)
    with pytest.raises(XlaError) as caught:
        program(A, refused)
    assert str(caught.value) == f"<input>:4:{column}: error: {message}"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            "check.expect_eq_const %x, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>",
            "check.expect_eq_const: 1 of 4 elements differ, the first at [1]: 2.5, expected 2.0 "
            "(error 2097152 ULP)",
        ),
        (
            "check.expect_almost_eq_const %x, dense<[1.1, 2.0, 3.0, 4.0]> : tensor<4xf32>, "
            "tolerance = 0.25",
            "check.expect_almost_eq_const: 1 of 4 elements differ by more than 0.25, the first at "
            "[1]: 2.5, expected 2.0 (error 2097152 ULP)",
        ),
        (
            '"check.expect_almost_eq_const"(%x) {value = dense<[1.0, 2.0, 3.00001, 4.0]> : '
            "tensor<4xf32>} : (tensor<4xf32>) -> ()",
            "check.expect_almost_eq_const: 1 of 4 elements differ by more than 0.0001, the first "
            "at [1]: 2.5, expected 2.0 (error 2097152 ULP)",
        ),
    ],
)
def test_checks_against_literals(check: str, message: str, backend: str) -> None:
    text = stablehlo(check)
    assert outcome(text, A, A, backend=backend) == ""
    column = 4 if check.startswith('"') else 3
    expected = f"<input>:4:{column}: error: {message}"
    assert outcome(text, f32(1, 2.5, 3, 4), A, backend=backend) == expected


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_element_type(backend: str) -> None:
    types = [f"tensor<3x{row.type}>" for row in ELEMENT_TYPES]
    parameters = ", ".join(f"%x{i}: {type_}, %y{i}: {type_}" for i, type_ in enumerate(types))
    checks = (f"  check.expect_eq %x{i}, %y{i} : {type_}\n" for i, type_ in enumerate(types))
    text = f"func.func @main({parameters}) {{\n{''.join(checks)}  func.return\n}}\n"
    program = lowerings.compile(text, backend=backend)
    dtypes = [numpy_dtype(row.type) for row in ELEMENT_TYPES]
    arrays = [np.ones(3).astype(dtype) for dtype in dtypes for _ in range(2)]
    assert program(*arrays) == ()
    for i, dtype in enumerate(dtypes):
        wrong = arrays.copy()
        wrong[2 * i] = np.array([1, 0.5 if dtype == numpy_dtype(E8M0) else 0, 1]).astype(dtype)
        with pytest.raises(XlaError) as caught:
            program(*wrong)
        message = f"<input>:{i + 2}:3: error: check.expect_eq: 1 of 3 elements differ, the first at"
        assert str(caught.value).startswith(f"{message} [1]: ")


@pytest.mark.parametrize("backend", BACKENDS)
def test_scalars_and_nothing(backend: str) -> None:
    scalar = stablehlo("check.expect_eq_const %x, dense<3> : tensor<i32>", "tensor<i32>")
    three = np.array(3, np.int32)
    assert outcome(scalar, three, three, backend=backend) == ""
    assert outcome(scalar, three + np.int32(1), three, backend=backend) == (
        PLACE + "check.expect_eq_const: 1 of 1 elements differ, the first at []: 4, expected 3"
    )
    empty = stablehlo("check.expect_eq_const %x, dense<> : tensor<0x2xf32>", "tensor<0x2xf32>")
    assert outcome(empty, *[np.zeros((0, 2), np.float32)] * 2, backend=backend) == ""


@pytest.mark.parametrize("backend", BACKENDS)
def test_of_a_large_array_the_first_element_is_reported(backend: str) -> None:
    type_ = "tensor<1000x1000xf32>"
    text = stablehlo(f"check.expect_eq_const %x, dense<0.0> : {type_}", type_)
    zeros = np.zeros((1000, 1000), np.float32)
    wrong = zeros.copy()
    wrong[123, 456:] = 1
    assert outcome(text, zeros, zeros, backend=backend) == ""
    assert outcome(text, wrong, zeros, backend=backend) == (
        PLACE + "check.expect_eq_const: 544 of 1000000 elements differ, the first at [123, 456]: "
        "1.0, expected 0.0 (error 1065353216 ULP)"
    )


HLO_RESULTS = [
    ("check.expect_eq", "()"),
    ("check.expect_eq", "pred[]"),
    ("check.expect_close", "()"),
    ("check.expect_almost_eq", "()"),
    ("check.eq", "pred[]"),
]


def hlo(target: str, result: str) -> str:
    return (
        "HloModule m\nENTRY main {\n  x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n"
        f'  c = {result} custom-call(x, y), custom_call_target="{target}"\n'
        "  ROOT r = f32[4] negate(x)\n}\n"
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("target", "result"), HLO_RESULTS)
def test_custom_calls_of_hlo_text(target: str, result: str, backend: str) -> None:
    text = hlo(target, result)
    assert outcome(text, A, A, backend=backend) == ""
    message = outcome(text, A, f32(1, 2, 5, 4), backend=backend)
    assert message.startswith(f"<input>:5:3: error: xla.custom_call: {target}: 1 of 4 elements")
    assert message.endswith("the first at [2]: 3.0, expected 5.0 (error 6291456 ULP)")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_check_that_holds_is_true(backend: str) -> None:
    text = hlo("check.eq", "pred[]").replace("ROOT r", "r").replace("  c =", "  ROOT c =")
    (result,) = lowerings.compile(text, backend=backend)(A, A)
    assert result.dtype == np.bool_
    assert result


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("custom-call(x, y)", "custom-call(x)", "takes two arrays of one type, not (f32[4])"),
        ("y = f32[4]", "y = f32[5]", "takes two arrays of one type, not (f32[4], f32[5])"),
        ("c = pred[]", "c = f32[4]", "returns pred[], () or nothing, not f32[4]"),
    ],
)
def test_custom_calls_that_are_no_checks(old: str, new: str, message: str, backend: str) -> None:
    text = hlo("check.eq", "pred[]").replace(old, new)
    y = np.ones(5 if "f32[5]" in new else 4, np.float32)
    assert outcome(text, A, y, backend=backend) == (
        f"<input>:5:3: error: xla.custom_call: check.eq: {message}"
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_are_not_close(backend: str) -> None:
    text = hlo("check.expect_close", "()").replace("f32", "s32")
    ones = np.ones(4, np.int32)
    assert outcome(text, ones, ones, backend=backend) == (
        "<input>:5:3: error: xla.custom_call: check.expect_close: compares floats or complex "
        "numbers, not s32[4]"
    )


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            '"check.expect_eq"(%x, %i) : (tensor<4xf32>, tensor<i32>) -> ()',
            "check.expect_eq: (C1) what is compared has types f32[4] and s32[]",
        ),
        (
            "check.expect_almost_eq %i, %i : tensor<i32>",
            "check.expect_almost_eq: (C2) what is compared has element type s32, allowed: float or "
            "complex",
        ),
        (
            "check.expect_close %i, %i, max_ulp_difference = 1 : tensor<i32>, tensor<i32>",
            "check.expect_close: (C2) what is compared has element type s32, allowed: float or "
            "complex",
        ),
        (
            "check.expect_close %x, %i, max_ulp_difference = 1 : tensor<4xf32>, tensor<i32>",
            "check.expect_close: (C1) what is compared has types f32[4] and s32[]",
        ),
        (
            '"check.expect_eq_const"(%x) {value = dense<1.0> : tensor<3xf32>} : '
            "(tensor<4xf32>) -> ()",
            "check.expect_eq_const: (C1) what is compared has types f32[4] and f32[3]",
        ),
        (
            '"check.expect_eq_const"(%x) : (tensor<4xf32>) -> ()',
            "check.expect_eq_const: (Properties) value is missing",
        ),
        (
            "check.expect_almost_eq_const %i, dense<1> : tensor<i32>",
            "check.expect_almost_eq_const: (C2) what is compared has element type s32, allowed: "
            "float or complex",
        ),
        (
            '"check.expect_almost_eq"(%x, %x) {tolerance = 1.0 : f32} : (tensor<4xf32>, '
            "tensor<4xf32>) -> ()",
            "check.expect_almost_eq: (Properties) tolerance: ",
        ),
        (
            '"check.expect_close"(%x, %x) {max_ulp_difference = 1 : i64} : (tensor<4xf32>, '
            "tensor<4xf32>) -> ()",
            "check.expect_close: (Properties) max_ulp_difference: ",
        ),
        ('"check.expect_eq"(%x) : (tensor<4xf32>) -> ()', "check.expect_eq: (Operands) found 1"),
        ("check.expect_eq %x : tensor<4xf32>", "Expected ','"),
        ("check.expect_eq %x, %x, tolerance = 1.0 : tensor<4xf32>", "Expected ':'"),
        ("check.expect_eq_const %x, 7 : i32", "expected dense<...> or dense_resource<...> as"),
        (
            "check.expect_close %x, %x, max_ulp_difference = 18446744073709551616 : tensor<4xf32>,"
            " tensor<4xf32>",
            "max_ulp_difference = 18446744073709551616 does not fit ui64",
        ),
        ("check.expect_all %x, %x : tensor<4xf32>", "check.expect_all: this operation is not sup"),
    ],
)
def test_checks_that_are_refused(check: str, message: str) -> None:
    text = stablehlo(check).replace("%x: tensor<4xf32>,", "%x: tensor<4xf32>, %i: tensor<i32>,", 1)
    with pytest.raises(XlaError) as caught:
        lowerings.compile(text)
    first = str(caught.value).splitlines()[0]
    assert first.startswith("<input>:4:")
    assert message in first


BRANCH = """func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({
    check.expect_eq_const %x, dense<1.0> : tensor<f32>
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


EXECUTORS = [
    ("reference", None),
    ("llvm", None),
    ("interpreter", "tensors"),
    ("interpreter", "buffers"),
    ("interpreter", "loops"),
]


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_inside_control_flow_what_is_executed_is_checked(backend: str, level: str | None) -> None:
    program = lowerings.compile(BRANCH, backend=backend, level=level)
    two = np.array(2, np.float32)
    assert program(np.array(False), two)[0] == 2
    with pytest.raises(XlaError) as caught:
        program(np.array(True), two)
    assert str(caught.value) == (
        "<input>:3:5: error: check.expect_eq_const: 1 of 1 elements differ, the first at []: 2.0, "
        "expected 1.0 (error 8388608 ULP)"
    )
    assert program(np.array(False), two)[0] == 2


ROUNDS = """func.func @main(%x: tensor<2xui8>, %limit: tensor<2xui8>) -> tensor<2xui8> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<2xui8>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %j = interpreter.print %i : tensor<i32>
    %c = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.add %v, %v : tensor<2xui8>
    %p = interpreter.print %w : tensor<2xui8>
    %low = stablehlo.minimum %w, %limit : tensor<2xui8>
    %unused = stablehlo.custom_call @check.eq(%low, %w) : (tensor<2xui8>, tensor<2xui8>) -> tensor<i1>
    stablehlo.return %j, %w : tensor<i32>, tensor<2xui8>
  }
  return %r#1 : tensor<2xui8>
}
"""


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_in_every_round_of_a_loop_in_order(
    backend: str, level: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first that fails ends the checks and prints; the loop itself goes on."""
    program = lowerings.compile(ROUNDS, backend=backend, level=level)
    x = np.array([30, 60], np.uint8)
    (found,) = program(x, np.array([255, 255], np.uint8))
    assert found.tolist() == [240, 224]
    with pytest.raises(XlaError) as caught:
        program(x, np.array([255, 200], np.uint8))
    assert str(caught.value) == (
        "<input>:15:15: error: xla.custom_call: check.eq: 1 of 2 elements differ, the first at "
        "[1]: 200, expected 240"
    )
    printed = [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()]
    rounds = [
        *("s32[] 0", "u8[2] [ 60, 120]", "s32[] 1", "u8[2] [120, 240]"),
        *("s32[] 2", "u8[2] [240, 224]", "s32[] 3"),
    ]
    assert printed == rounds + rounds[:4]


@pytest.mark.riscv64
def test_inside_control_flow_an_emulated_program_cannot_check() -> None:
    with pytest.raises(XlaError) as caught:
        lowerings.compile(BRANCH, backend="riscv64")
    assert str(caught.value) == (
        "<input>:3:5: error: check.expect_eq_const: stands inside xla.conditional, where an "
        "emulated program cannot return what it sees; use another backend"
    )


CALLED = """func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = "y"}) {
  %0 = call @halve(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @halve(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @halve(%x: tensor<2xf32>) -> tensor<2xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<2xf32>
  %0 = stablehlo.divide %x, %two : tensor<2xf32>
  check.expect_almost_eq_const %0, dense<1.0> : tensor<2xf32>, tolerance = 0.6
  return %0 : tensor<2xf32>
}
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_checks_in_functions_that_are_called(backend: str) -> None:
    program = lowerings.compile(CALLED, backend=backend)
    assert str(program.signature) == "main(%x: f32[2]) -> (f32[2])"
    (result,) = program(f32(2, 2.1))
    np.testing.assert_array_equal(result, f32(0.5, 0.525))
    with pytest.raises(XlaError) as caught:
        program(f32(2, 1.4))
    assert str(caught.value) == (
        "<input>:9:3: error: check.expect_almost_eq_const: 1 of 2 elements differ by more than "
        "0.6, the first at [1]: 0.35, expected 1.0 (error 13421773 ULP)"
    )


PROBES = """func.func @main() -> tensor<2xbf16> {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xbf16>
  %y = stablehlo.add %x, %x : tensor<2xbf16>
  %0 = interpreter.probe %x, probe_id = "../a,b" : tensor<2xbf16>
  %1 = interpreter.probe %y, probe_id = "../a,b" : tensor<2xbf16>
  %2 = interpreter.print %1 : tensor<2xbf16>
  check.expect_serialized_eq %x, probe_id = "../a,b" : tensor<2xbf16>
  check.expect_serialized_eq %2, probe_id = "../a,b", iter = 1 : tensor<2xbf16>
  return %2 : tensor<2xbf16>
}
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_probes_are_written_and_printed(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, folder = tmp_path / "probes.mlir", tmp_path / "out"
    program.write_text(PROBES)
    command = [str(program), "--backend", backend]
    assert xla_run.main(command) == 1
    assert "interpreter.probe: there is no folder for probes" in capsys.readouterr().err
    command += ["--probe-output-dir", str(folder)]
    for _ in range(2):  # the second run begins the index anew
        assert xla_run.main(command) == 0
        assert capsys.readouterr().out == f"{program}:6:8: bf16[2] [2, 4]\nbf16[2] [2, 4]\n"
    assert (folder / "index.csv").read_text() == (
        f'"../a,b",tensor<2xbf16>,{folder}/probe1.npy\n'
        f'"../a,b",tensor<2xbf16>,{folder}/probe2.npy\n'
    )
    for old, new, message in [
        ("iter = 1", "iter = 2", "the probe '../a,b' was executed 2 times"),
        ("_eq %x", "_eq %y", "2 of 2 elements differ, the first at [0]: 1, expected 2 (error 128"),
    ]:
        program.write_text(PROBES.replace(old, new))
        assert xla_run.main(command) == 1
        assert f"check.expect_serialized_eq: {message}" in capsys.readouterr().err


class Keeping(Observer):
    """An observer that keeps what it is shown, and writes to it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[np.ndarray] = []

    def show(self, where: str, value: np.ndarray) -> None:
        self.seen += [value.copy(), value]
        value[...] = 0

    def write(self, probe: str, type_: str, value: np.ndarray) -> None:
        self.show(probe, value)


SHOWN = """func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.add %x, %c : tensor<2xf32>
  %0 = interpreter.print %x : tensor<2xf32>
  %1 = interpreter.print %c : tensor<2xf32>
  %2 = interpreter.probe %y, probe_id = "y" : tensor<2xf32>
  return %0, %2 : tensor<2xf32>, tensor<2xf32>
}
"""


@pytest.mark.parametrize(
    "backend",
    [*BACKENDS, "interpreter", pytest.param("riscv64", marks=pytest.mark.riscv64)],
)
def test_observers_may_keep_and_write_what_they_are_shown(backend: str) -> None:
    observer = Keeping()
    program = compile_module(load_program(SHOWN), Options(backend=backend, observer=observer))
    x = f32(3, 4)
    for _ in range(2):
        first, second = program(x)
        assert (x.tolist(), first.tolist(), second.tolist()) == ([3, 4], [3, 4], [4, 6])
    del program
    assert [each.tolist() for each in observer.seen] == [
        *([3, 4], [0, 0], [1, 2], [0, 0], [4, 6], [0, 0])
    ] * 2
