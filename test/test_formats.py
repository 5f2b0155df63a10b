"""Which format a text without an extension is in; resources of MLIR."""

import pytest

import lowerings
from lowerings.driver.program import detect_format, parse_program
from xla_dialect.diagnostics import XlaError
from xla_dialect.verification import verify

HLO = [
    "HloModule m\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n",
    "// dump\n/* of */ HloModule m\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n",
    "ENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n",
    "%e (x: f32[]) -> f32[] {\n  ROOT x = f32[] parameter(0)\n}\n",
    "e {\n  ROOT x = f32[] parameter(0)\n}\n",
    "ROOT y = f32[2] negate(f32[2] x)",
    "%y = (f32[2], s32[]) tuple(f32[2] x, s32[] n)",
    "y = () tuple()",
    "y = add(f32[2] a, f32[2] b)",
    'HloModule m\nENTRY e {\n  ROOT x = f32[] parameter(0), metadata={op_name="func.func @f"}\n}\n',
]
MLIR = [
    "module {\n}\n",
    "builtin.module {\n}\n",
    "module @m {\n  func.func @f() {\n    func.return\n  }\n}\n",
    '"builtin.module"() ({\n^bb0:\n}) : () -> ()\n',
    "func.func private @stablehlo.add(i32) -> i32\n",
    'module attributes {stablehlo.note = "a", xla.stablehlo.b} {\n}\n',
    'module attributes {\n  stablehlo.note = "stablehlo.add (x)",\n  chlo.on} {\n}\n',
    "// CHECK: %0 = stablehlo.add %a, %b\nmodule {\n}\n",
]
STABLEHLO = [
    "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
    "  %0 = stablehlo.abs %a : tensor<2xf32>\n  func.return %0 : tensor<2xf32>\n}\n",
    "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
    '  %0 = "stablehlo.abs"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n'
    "  func.return %0 : tensor<2xf32>\n}\n",
    "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
    "  %0 = chlo.sinh %a : tensor<2xf32> -> tensor<2xf32>\n  func.return %0 : tensor<2xf32>\n}\n",
    "func.func @f(%a: !stablehlo.token) -> !stablehlo.token {\n"
    "  func.return %a : !stablehlo.token\n}\n",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, "hlo") for text in HLO),
        *((text, "mlir") for text in MLIR),
        *((text, "stablehlo") for text in STABLEHLO),
    ],
)
def test_format_by_content(text: str, expected: str):
    assert detect_format(text, "program.txt") == expected
    verify(parse_program(text, "program.txt"))


def test_format_by_extension():
    assert detect_format("module {}", "a.hlo") == "hlo"
    assert detect_format("e {\n}", "a.mlir") == "mlir"
    assert detect_format(STABLEHLO[0], "a.mlir") == "stablehlo"


PARAMETERS = ", ".join(f"%a{n}: tensor<768x3072xf32> {{mhlo.donor = true}}" for n in range(5000))
"""The signature of a training step: 250 kB before the first operation."""


def with_parameters(operation: str) -> str:
    return f"func.func @main({PARAMETERS}) {{\n  {operation}\n  func.return\n}}\n"


def test_operations_are_found_after_a_long_signature():
    assert (
        detect_format(with_parameters("%0 = stablehlo.abs %a0 : tensor<768x3072xf32>"))
        == "stablehlo"
    )
    assert detect_format(with_parameters("// %0 = stablehlo.abs %a0")) == "mlir"
    assert detect_format(with_parameters('%0 = xla.abs %a0 {note = "= stablehlo.abs"}')) == "mlir"


def test_operations_are_found_in_one_long_line():
    lines = with_parameters("%0 = stablehlo.abs %a0 : tensor<768x3072xf32>").splitlines()
    assert detect_format(" ".join(lines)) == "stablehlo"


WITH_A_RESOURCE = """
func.func @main() -> tensor<2xf32> {
  %0 = arith.constant dense_resource<b> : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      b: "0x040000000000803F00000040"
    }
  }
#-}
"""
"""MLIR of any level, without an operation of StableHLO."""


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_resources_of_mlir(backend: str) -> None:
    (found,) = lowerings.compile(WITH_A_RESOURCE, backend=backend)()
    assert found.tolist() == [1, 2]


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
@pytest.mark.parametrize(
    ("name", "message"),
    [("c", "there is no resource 'c' in this text"), ("__elided__", "were left out")],
)
def test_resources_that_are_not_there(name: str, message: str, backend: str) -> None:
    text = WITH_A_RESOURCE.replace("dense_resource<b>", f"dense_resource<{name}>")
    with pytest.raises(XlaError, match=r"<input>:3:3") as caught:
        lowerings.compile(text, backend=backend)()
    assert message in str(caught.value)
