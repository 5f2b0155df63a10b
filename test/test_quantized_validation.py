"""`--validate-each` on programs with quantized arrays: compared from their source on."""

import io
import re
from dataclasses import dataclass

import pytest
from random_quantized_programs import random_quantized_program
from sweeps import each_or_full
from test_validation import Miscompile
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.expand.stablehlo_legalize_quant_to_math import StablehloLegalizeQuantToMathPass
from lowerings.validation import MeaningChanged, Validator

TYPES = {
    "a": "!quant.uniform<i8:f32, 0.1:3>",
    "b": "!quant.uniform<i8:f32, 0.05:0>",
    "c": "!quant.uniform<i8:f32, 0.7:-4>",
    "d": "!quant.uniform<i8:f32, 0.5:3>",
    "e": "!quant.uniform<i8:f32, 2.0>",
}


def program(body: str, *names: str) -> str:
    """A function of arrays of these types; the last is the result's."""
    *operands, result = (f"tensor<4x4x{TYPES[name]}>" for name in names)
    parameters = ", ".join(f"%{n}: {t}" for n, t in zip("xy", operands, strict=False))
    return (
        f"func.func @main({parameters}) -> {result} {{\n"
        f"  %r = stablehlo.{body} : ({', '.join(operands)}) -> {result}\n  return %r : {result}\n}}"
    )


DOT = program("dot_general %x, %y, contracting_dims = [1] x [0]", "a", "b", "c")
ADD = program("add %x, %y", "a", "d", "c")


def validate(text: str, *passes: ModulePass) -> str:
    """Runs passes, each validated; the notes."""
    notes = io.StringIO()
    validator = Validator(notes)
    manager = PassManager(
        make_context(), verify_each=False, before=[validator.before], after=[validator.after]
    )
    manager.run(parse_program(text, "<input>", "mlir"), passes)
    return notes.getvalue()


@dataclass(frozen=True)
class Wrong(StablehloLegalizeQuantToMathPass):
    """The pass, wrong on purpose: what it makes is changed in one place."""

    pattern: str = ""
    replacement: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        text = str(op)
        changed = re.sub(self.pattern, self.replacement, text, count=1)
        assert changed != text, f"{self.pattern} is not in\n{text}"
        op.body.detach_block(0)
        op.body.add_block(parse_program(changed, "<changed>", "mlir").body.detach_block(0))


@pytest.mark.parametrize(
    ("text", "pattern", "replacement"),
    [
        (DOT, r"xla\.subtract", "xla.add"),
        (DOT, r"round_nearest_even", "floor"),
        (DOT, r"dense<0\.007142\d*>", "dense<0.0072>"),
        (ADD, r"dense<-4\.0+e\+00>", "dense<-3.0>"),
        (DOT, r"dense<1\.27\d*e\+02>", "dense<126.0>"),
        (ADD, r"dense<3>", "dense<2>"),
    ],
)
def test_wrong_arithmetic_is_seen(text: str, pattern: str, replacement: str) -> None:
    with pytest.raises(MeaningChanged, match="stablehlo-legalize-quant-to-math changes"):
        validate(text, Wrong(pattern=pattern, replacement=replacement))


def test_ties_of_exact_numbers_are_compared() -> None:
    """Scales that are powers of two leave no doubt what is half way."""
    text = program("add %x, %y", "d", "d", "e")
    with pytest.raises(MeaningChanged, match=r"result 0: .* differ"):
        validate(text, Wrong(pattern="round_nearest_even", replacement="round_nearest_afz"))


def test_what_is_not_comparable_is_compared_after_the_pass() -> None:
    passes = parse_passes("stablehlo-legalize-quant-to-math,xla-simplify,xla-expand-compound")
    notes = validate(ADD.replace("f32", "f16"), *passes)
    assert notes == (
        "note: nothing is compared before stablehlo-legalize-quant-to-math has run: numbers of f16 "
        "overflow where stored integers do not\n"
    )
    wrong = Miscompile(r"round_nearest_even", "floor")
    with pytest.raises(MeaningChanged, match="test-miscompile changes"):
        validate(ADD.replace("f32", "f16"), passes[0], wrong)


@pytest.mark.parametrize("seed", each_or_full(range(200), quick=range(8)))
def test_no_false_alarm(seed: int) -> None:
    """Neither numbers that are nearly half way nor sums that cancel are taken for faults."""
    notes = validate(random_quantized_program(seed), StablehloLegalizeQuantToMathPass())
    assert all("compared" in line for line in notes.splitlines())
