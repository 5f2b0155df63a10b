"""Rewrite rules as functions of a builder: where they apply, and that wrong ones are found."""

from itertools import product
from pathlib import Path

import pytest

from tools.xla_opt import main

RULES = """\
from lowerings.rewriting.passes import ResultDifference
from lowerings.validation.builder_rules import BuilderRulePass


class DivideByRootPass(BuilderRulePass):
    name = "divide-by-root"
    examples = [("f32[4,6]", "f32[4,6]"), ("f64[3]", "f64[3]")]
    difference = ResultDifference(8, "it rounds twice", inputs=("plain",))

    @staticmethod
    def before(b, x, y):
        return b.div(x, b.sqrt(y))

    @staticmethod
    def after(b, x, y):
        return b.mul(x, b.rsqrt(y))


class SumOfNegatedPass(BuilderRulePass):
    name = "sum-of-negated"
    examples = [("s32[3,5]",)]

    @staticmethod
    def before(b, x):
        return b.reduce(b.neg(x), 0, b.add, dimensions=[1])

    @staticmethod
    def after(b, x):
        return b.neg(b.reduce(x, 0, b.add, dimensions=[1]))


class TwiceTransposedPass(BuilderRulePass):
    name = "twice-transposed"
    examples = [("s8[2,3]",)]

    @staticmethod
    def before(b, x):
        return b.transpose(b.transpose(x, [1, 0]), [1, 0])

    @staticmethod
    def after(b, x):
        return x


class WrongPass(BuilderRulePass):
    name = "wrong"
    examples = [("s32[2]", "s32[2]")]

    @staticmethod
    def before(b, x, y):
        return b.sub(x, y)

    @staticmethod
    def after(b, x, y):
        return b.sub(y, x)


class TurnedPass(BuilderRulePass):
    name = "turned"
    examples = [("s32[2]", "s32[2]")]

    @staticmethod
    def before(b, x, y):
        return b.mul(x, y)

    @staticmethod
    def after(b, x, y):
        return b.mul(y, x)


class UnusedPass(BuilderRulePass):
    name = "unused"
    examples = [("s32[2]", "s32[2]")]

    @staticmethod
    def before(b, x, y):
        return b.neg(x)

    after = before


class OtherTypePass(BuilderRulePass):
    name = "other-type"
    examples = [("s32[2]",)]

    @staticmethod
    def before(b, x):
        return b.neg(x)

    @staticmethod
    def after(b, x):
        return b.neg(x) if x.shape == (2,) else b.reshape(b.neg(x), (1, *x.shape))


class TwoArgumentsPass(BuilderRulePass):
    name = "two-arguments"
    examples = [("s32[2]",)]

    @staticmethod
    def before(b, x, y):
        return b.add(x, y)

    after = before


class MisspelledPass(BuilderRulePass):
    name = "misspelled"
    examples = [("s32[2]",)]
    befor = after = lambda b, x: b.neg(x)


class OtherRankPass(BuilderRulePass):
    name = "other-rank"
    examples = [("s32[]", "s32[3]")]

    @staticmethod
    def before(b, x, y):
        return b.neg(x)

    @staticmethod
    def after(b, x, y):
        return b.neg(y)
"""


def rewritten(
    folder: Path, rule: str, body: str, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, str, str]:
    """What `xla-opt` answers about a program with one rule of the file."""
    (folder / "rules.py").write_text(RULES)
    (folder / "program.mlir").write_text(body)
    pipeline = f"python{{file={folder}/rules.py pass_name={rule}}}"
    code = main([str(folder / "program.mlir"), "-p", pipeline, *options])
    output, errors = capsys.readouterr()
    return code, output, errors


@pytest.mark.parametrize(
    ("shape", "element"), list(product(("", "7x", "1x5x2x"), ("f32", "f64", "bf16")))
)
def test_a_rule_applies_to_all_shapes_of_its_element_types(
    shape: str, element: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensor = f"tensor<{shape}{element}>"
    program = f"""\
func.func @main(%x: {tensor}, %y: {tensor}) -> {tensor} {{
  %0 = stablehlo.sqrt %y : {tensor}
  %1 = stablehlo.divide %x, %0 : {tensor} loc("model.py":7:3)
  return %1 : {tensor}
}}
"""
    code, output, errors = rewritten(
        tmp_path, "divide-by-root", program, capsys, "--validate-each", "--print-debuginfo"
    )
    assert code == 0, errors
    assert ("xla.rsqrt" in output) == (element != "bf16")
    assert ("xla.divide" in output) == (element == "bf16")
    if element != "bf16":
        assert output.count('loc("model.py":7:3)') == 2


REDUCTION = """\
func.func @main(%x: tensor<4x2xi32>) -> tensor<{size}xi32> {{
  %c = stablehlo.constant dense<{start}> : tensor<i32>
  %0 = stablehlo.negate %x : tensor<4x2xi32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.{combiner} across dimensions = [{dimension}] : (tensor<4x2xi32>, tensor<i32>) -> tensor<{size}xi32>
  return %1 : tensor<{size}xi32>
}}
"""


@pytest.mark.parametrize(
    ("size", "dimension", "start", "combiner"),
    [(4, 1, 0, "add"), (2, 0, 0, "add"), (4, 1, 3, "add"), (4, 1, 0, "maximum")],
)
def test_attributes_constants_and_bodies_have_to_be_those_of_before(
    size: int,
    dimension: int,
    start: int,
    combiner: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = REDUCTION.format(size=size, dimension=dimension, start=start, combiner=combiner)
    code, output, errors = rewritten(tmp_path, "sum-of-negated", program, capsys, "--validate-each")
    assert code == 0, errors
    is_before = (dimension, start, combiner) == (1, 0, "add")
    assert (output.index("xla.reduce") < output.index("xla.negate")) == is_before


def test_a_rule_may_leave_what_it_got(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = """\
func.func @main(%x: tensor<3x4xi8>) -> tensor<3x4xi8> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x4xi8>) -> tensor<4x3xi8>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x3xi8>) -> tensor<3x4xi8>
  return %1 : tensor<3x4xi8>
}
"""
    _, output, _ = rewritten(tmp_path, "twice-transposed", program, capsys)
    assert "func.return %x" in output
    assert "transpose" not in output


BINARY = """\
func.func @main(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %0 = stablehlo.multiply %x, %y : tensor<3xi32>
  %1 = stablehlo.negate %0 : tensor<3xi32>
  return %1 : tensor<3xi32>
}
"""


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("wrong", "the rule does not hold: wrong changes what @main computes"),
        ("turned", "rule turned applies to what it makes, without an end"),
        ("unused", "rule unused: `before` has to use all of its arguments"),
        ("two-arguments", "`before` gets a builder and an argument for each type of an example"),
        ("misspelled", "rule misspelled: the class has no before"),
        ("other-rank", "rule other-rank: `after` makes (s32[3]), `before` (s32[])"),
        ("other-type", "rule other-type: `after` makes (s32[1,3]), not (s32[3])"),
    ],
)
def test_wrong_rules(
    rule: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output, errors = rewritten(tmp_path, rule, BINARY, capsys)
    assert (code, output) == (1, "")
    assert words in errors
