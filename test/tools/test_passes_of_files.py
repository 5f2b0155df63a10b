"""Passes that stand in files: what is wrong in a file is an error with its place, and no crash."""

from pathlib import Path

import pytest

from lowerings.driver.pass_manager import parse_passes
from tools.xla_opt import main

PROGRAM = """\
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = xla.multiply %x, %x : tensor<3xf32>
  func.return %y : tensor<3xf32>
}
"""
RULE = """\
pdl.pattern @rule : benefit(1) {{
  %type = pdl.type
  %x = pdl.operand : %type
  {more}
  %old = pdl.operation "xla.multiply" (%x, %x : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %old {{
    %new = pdl.operation "{name}" (%x : !pdl.value) -> (%type : !pdl.type)
    pdl.replace %old with %new
  }}
}}
"""
PASS = """\
from xdsl.passes import ModulePass


class {name}Pass(ModulePass):
    name = "{name}"

    def apply(self, ctx, op):
        {body}
"""


def error_of(folder: Path, pipeline: str, capsys: pytest.CaptureFixture[str]) -> str:
    (folder / "program.mlir").write_text(PROGRAM)
    assert main([str(folder / "program.mlir"), "-p", pipeline]) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no pdl.pattern in it"),
        ("pdl.pattern", "rules.pdl:1:12"),
        (
            RULE.format(more="", name="xla.rsqr"),
            "rule rule: pdl.operation: there is no operation 'xla.rsqr'; did you mean 'xla.rsqrt'?",
        ),
        (
            RULE.format(more="", name="xla.abs").replace("xla.multiply", "xla.multiplies"),
            "there is no operation 'xla.multiplies'; did you mean 'xla.multiply'?",
        ),
        (RULE.format(more="", name="xla.dot"), "after pdl the module does not verify"),
        (RULE.format(more="%v = pdl.operands", name="xla.abs"), "pdl.operands is not supported"),
        (RULE.format(more="%v = pdl.attribute : %type", name="xla.abs"), "not by its type"),
    ],
)
def test_wrong_rules(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rules.pdl").write_text(text)
    assert message in error_of(tmp_path, f"pdl{{file={tmp_path}/rules.pdl}}", capsys)


def test_a_rule_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rules.pdl").write_text(RULE.format(more="", name="xla.abs"))
    pipeline = f"pdl{{file={tmp_path}/rules.pdl rule=other}}"
    assert "has no rule 'other'" in error_of(tmp_path, pipeline, capsys)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.py has no pass"),
        ("x = 1\n1 / 0\n", "mine.py:2: error: ZeroDivisionError: division by zero"),
        ("x = 1\ndef\n", "mine.py:2: error: SyntaxError"),
        (
            PASS.format(name="one", body="pass") + PASS.format(name="two", body="pass"),
            "has 2 passes, of which pass_name= says one (it has: one, two)",
        ),
        (PASS.format(name="bad", body="op.nothing()"), "AttributeError"),
    ],
)
def test_wrong_files(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(text)
    assert message in error_of(tmp_path, f"python{{file={tmp_path}/mine.py}}", capsys)


def test_a_pass_that_a_file_does_not_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(PASS.format(name="first", body="pass"))
    error = error_of(tmp_path, f"python{{file={tmp_path}/mine.py pass_name=frist}}", capsys)
    assert "has no pass 'frist'; did you mean 'first'?" in error


def test_a_path_is_read_as_one_whatever_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "there is no option 'fil'" in error_of(tmp_path, f"pdl{{fil={tmp_path}/a.pdl}}", capsys)


def test_a_pass_is_read_anew_and_spelled_as_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    for name in ("first", "second"):
        path.write_text(PASS.format(name=name, body="pass"))
        (found,) = parse_passes(f"python{{file={path}}}")
        assert found.name == name
        (again,) = parse_passes(str(found.spec()))
        assert again.name == name


NATIVE = """\
pdl.pattern @twice : benefit(1) {{
  %type = pdl.type
  %x = pdl.operand : %type
  %old = pdl.operation "xla.multiply" (%x, %x : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.apply_native_constraint "{constraint}"(%type : !pdl.type){more}
  pdl.rewrite %old {{
    %new = pdl.apply_native_rewrite "powered"(%old, %x : !pdl.operation, !pdl.value) : !pdl.value
    pdl.replace %old with (%new : !pdl.value)
  }}
}}
"""
FUNCTIONS = """\
from xla_dialect.ops.elementwise import AbsOp


def has_3_elements(type_):
    return type_.get_shape() == (3,)


def has_4_elements(type_):
    return type_.get_shape() == (4,)


def powered(rewriter, op, x):
    return rewriter.insert(AbsOp.create(operands=[x], result_types=[x.type])).results[0]
"""


@pytest.mark.parametrize(("constraint", "applies"), [("has_3_elements", 1), ("has_4_elements", 0)])
def test_native_functions_stand_beside_the_rules(
    constraint: str, applies: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rules.pdl").write_text(NATIVE.format(constraint=constraint, more=""))
    (tmp_path / "rules.py").write_text(FUNCTIONS)
    (tmp_path / "program.mlir").write_text(PROGRAM)
    rules = str(tmp_path / "rules.pdl")
    assert main([str(tmp_path / "program.mlir"), "-p", f"pdl{{file={rules}}}"]) == 0
    assert capsys.readouterr().out.count("xla.abs") == applies


@pytest.mark.parametrize(
    ("constraint", "more", "message"),
    [
        ("has_5_elements", "", "rules.py has no function 'has_5_elements'"),
        ("has_3_elements", " {isNegated = true}", "it has results, or is negated"),
        ("has_3_elements", " : !pdl.attribute", "it has results, or is negated"),
    ],
)
def test_native_functions_that_are_not_called(
    constraint: str, more: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = NATIVE.format(constraint=constraint, more=more)
    if "attribute" in more:
        text = text.replace("  pdl.apply_native_constraint", "  %r = pdl.apply_native_constraint")
    (tmp_path / "rules.pdl").write_text(text)
    (tmp_path / "rules.py").write_text(FUNCTIONS)
    assert message in error_of(tmp_path, f"pdl{{file={tmp_path}/rules.pdl}}", capsys)


def test_a_rule_without_an_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rules.pdl").write_text(ENDLESS)
    error = error_of(tmp_path, f"pdl{{file={tmp_path}/rules.pdl}}", capsys)
    assert "rule turned applies to what it makes, without an end" in error


ENDLESS = """\
pdl.pattern @turned : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %y = pdl.operand : %type
  %old = pdl.operation "xla.multiply" (%x, %y : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %old {
    %new = pdl.operation "xla.multiply" (%y, %x : !pdl.value, !pdl.value) -> (%type : !pdl.type)
    pdl.replace %old with %new
  }
}
"""
