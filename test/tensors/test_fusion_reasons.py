"""Every reason for or against fusion: a program that has it, and what is said."""

from pathlib import Path

import pytest
from fusion_programs import elementwise, generic, program, tensor

from lowerings.tensors.fusion_plan import FusionReason
from tools import xla_opt

ROWS, COLUMNS, WIDE = ("4", "d0"), ("8", "d1"), ("4x8", "d0, d1")


def row_sum(name: str, value: str, attributes: str = "") -> str:
    return generic(name, "sum", {value: WIDE}, ROWS, "pr", attributes)


def spread(name: str, value: str, attributes: str = "") -> str:
    """An elementwise operation on a vector that is broadcast along columns."""
    return generic(name, "negf", {value: COLUMNS}, WIDE, "pp", attributes)


def product(lhs: str, rhs: str, attributes: str = "") -> str:
    inputs = {lhs: ("4x8", "d0, d2"), rhs: ("8x4", "d2, d1")}
    return generic("dot", "product", inputs, ("4x4", "d0, d1"), "ppr", attributes)


def part(name: str, value: str, offset: int) -> str:
    return f"%{name} = tensor.extract_slice %{value}[{offset}] [4] [1] : {tensor('8')} to {tensor('4')}\n"


LONG = "".join(f"%n{i} = arith.negf %{f'n{i - 1}' if i else 'a0'} : f32\n" for i in range(256))

CASES = {
    FusionReason.MOVES_DATA: (
        program(
            generic("wide", "move", {"x": ROWS}, WIDE, "pp"),
            generic("y", "exp", {"wide": WIDE}, WIDE, "pp"),
            results={"y": "4x8"},
            x="4",
        ),
        "%wide is computed in group 0, because {}",
    ),
    FusionReason.COMPUTED_ONCE: (
        program(
            elementwise("e", "exp", "x"), elementwise("y", "negf", "e"), results={"y": "8"}, x="8"
        ),
        "%e is computed in group 0, because {}",
    ),
    FusionReason.CHEAP_FOR_ONE: (
        program(elementwise("c", "negf", "x"), spread("y", "c"), results={"y": "4x8"}, x="8"),
        "%c is computed in group 0, because {}",
    ),
    FusionReason.CHEAP_FOR_ALL: (
        program(
            elementwise("c", "negf", "x"),
            elementwise("y", "exp", "c"),
            spread("z", "c"),
            results={"y": "8", "z": "4x8"},
            x="8",
        ),
        "%c is computed in group 1, because {}",
    ),
    FusionReason.STORED_BY_USER: (
        program(
            generic("e", "exp", {"x": WIDE}, WIDE, "pp"),
            row_sum("s", "e"),
            results={"e": "4x8", "s": "4"},
            x="4x8",
        ),
        "%e is stored by group 0, because {}",
    ),
    FusionReason.STORED_BY_SIBLING: (
        program(row_sum("s", "x"), row_sum("t", "x"), results={"s": "4", "t": "4"}, x="4x8"),
        "%s is stored by group 0, because {}",
    ),
    FusionReason.GIVEN: (
        program(
            elementwise("e", "exp", "x", attributes="fusion.inline"),
            elementwise("y", "negf", "e"),
            results={"y": "8"},
            x="8",
        ),
        "%e is computed in group 0, because {}",
    ),
    FusionReason.NOT_ELEMENTWISE: (
        program(
            row_sum("s", "x"), elementwise("y", "negf", "s", size="4"), results={"y": "4"}, x="4x8"
        ),
        "%s is not fused into group 1, because {}",
    ),
    FusionReason.NEEDED_IN_MEMORY: (
        program(
            elementwise("e", "exp", "x"), spread("y", "e"), results={"e": "8", "y": "4x8"}, x="8"
        ),
        "%e is not fused into group 1, because {}, and the iteration spaces differ",
    ),
    FusionReason.CONTRACTION_TAKES_MOVES: (
        program(
            generic("e", "exp", {"x": WIDE}, WIDE, "pp"),
            product("e", "y"),
            results={"dot": "4x4"},
            x="4x8",
            y="8x4",
        ),
        "%e is not fused into group 1, because {}, and a contraction has loops of its own",
    ),
    FusionReason.RECOMPUTATION: (
        program(
            elementwise("e", "exp", "x"),
            elementwise("y", "negf", "e"),
            spread("z", "e"),
            results={"y": "8", "z": "4x8"},
            x="8",
        ),
        "%e is not fused into group 1, because {}",
    ),
    FusionReason.IS_CONTRACTION: (
        program(
            generic("e", "exp", {"x": WIDE}, WIDE, "pp"),
            product("e", "y"),
            results={"dot": "4x4", "e": "4x8"},
            x="4x8",
            y="8x4",
        ),
        "%e is not fused into group 1, because an operation that is not fused needs it in memory, "
        "and {}",
    ),
    FusionReason.NO_LOOPS: (
        program(
            generic("e", "exp", {"x": ("", "")}, ("", ""), ""),
            "%element = tensor.extract %e[] : tensor<f32>\n"
            "%from = tensor.from_elements %element : tensor<1xf32>\n",
            results={"e": "", "from": "1"},
            x="",
        ),
        "%e is not fused into %element, because an operation that is not fused needs it in memory, "
        "and {}",
    ),
    FusionReason.USED_BEFORE: (
        program(
            elementwise("e", "exp", "x"),
            "%element = tensor.extract %e[%i] : tensor<8xf32>\n"
            "%from = tensor.from_elements %element : tensor<1xf32>\n",
            elementwise("y", "negf", "e"),
            results={"y": "8", "from": "1"},
            x="8",
        ),
        "%e is not fused into group 1, because an operation that is not fused needs it in memory, "
        "and {}",
    ),
    FusionReason.SPACES_DIFFER: (
        program(
            elementwise("e", "exp", "x"),
            part("p", "e", 0),
            elementwise("y", "negf", "p", size="4"),
            results={"e": "8", "y": "4"},
            x="8",
        ),
        "%e is not fused into group 1, because an operation that is not fused needs it in memory, "
        "and {}",
    ),
    FusionReason.SEVERAL_PLACES: (
        program(
            elementwise("e", "exp", "x"),
            part("p", "e", 0),
            part("q", "e", 4),
            elementwise("y", "add", "p", "q", size="4"),
            results={"e": "8", "y": "4"},
            x="8",
        ),
        "%e is not fused into group 1, because an operation that is not fused needs it in memory, "
        "and {}",
    ),
    FusionReason.TRANSPOSED: (
        program(
            generic("e", "exp", {"x": WIDE}, WIDE, "pp"),
            generic("y", "negf", {"e": ("4x8", "d1, d0")}, ("8x4", "d0, d1"), "pp"),
            results={"e": "4x8", "y": "8x4"},
            x="4x8",
        ),
        "%e is not fused into group 1, because an operation that is not fused needs it in memory, "
        "and {}",
    ),
    FusionReason.TOO_MANY_RESULTS: (
        program(
            *(row_sum(f"s{i}", "x") for i in range(9)),
            results={f"s{i}": "4" for i in range(9)},
            x="4x8",
        ),
        "%s0 is not fused into group 1, because {}",
    ),
    FusionReason.ALONE: (
        program(
            elementwise("e", "exp", "x"),
            elementwise("y", "negf", "e", attributes="fusion.alone"),
            results={"y": "8"},
            x="8",
        ),
        "%e is not fused into group 1, because {}",
    ),
    FusionReason.TOO_LARGE: (
        program(
            elementwise("e", "exp", "x"),
            elementwise("y", f"{LONG}linalg.yield %n255 : f32", "e"),
            results={"y": "8"},
            x="8",
        ),
        "%e is not fused into group 1, because {}",
    ),
}
"""Groups are numbered as they will stand in the block."""


def test_every_reason_has_a_case() -> None:
    assert set(CASES) == set(FusionReason)


@pytest.mark.parametrize("reason", CASES)
@pytest.mark.parametrize("name", ["linalg-plan-fusion", "linalg-fuse-producers-and-siblings"])
def test_reason(
    reason: FusionReason, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, remark = CASES[reason]
    path = tmp_path / "p.mlir"
    path.write_text(text)
    assert xla_opt.main([str(path), "-p", f"{name}{{print-reasons=true}}"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert all(line.startswith(f"{path}:") for line in said)
    wanted = f": remark: {remark.format(reason.value)}"
    assert any(line.endswith(wanted) for line in said), "\n".join(said)


FORCED = [
    (
        program(
            row_sum("s", "x", "fusion.inline"),
            elementwise("y", "negf", "s", size="4"),
            results={"y": "4"},
            x="4x8",
        ),
        f"cannot be computed by what uses it, because {FusionReason.NOT_ELEMENTWISE.value}",
    ),
    (
        program(
            elementwise("s", "exp", "x", attributes="fusion.inline"), results={"s": "8"}, x="8"
        ),
        f"cannot be computed by what uses it, because {FusionReason.NEEDED_IN_MEMORY.value}",
    ),
    (
        program(
            elementwise("s", "exp", "x", attributes="fusion.inline"),
            elementwise("y", "negf", "s", attributes="fusion.alone"),
            results={"y": "8"},
            x="8",
        ),
        f"cannot be computed by what uses it, because {FusionReason.ALONE.value}",
    ),
    (
        program(
            generic(
                "s", "exp", {"x": ("4x4", "d0, d1")}, ("4x4", "d0, d1"), "pp", "fusion.group = 2"
            ),
            product("a", "b", "fusion.group = 2"),
            results={"s": "4x4", "dot": "4x4"},
            x="4x4",
            a="4x8",
            b="8x4",
        ),
        f"cannot be in group 2, because {FusionReason.IS_CONTRACTION.value}",
    ),
    (
        program(
            elementwise("s", "exp", "x", attributes="fusion.group = 2"),
            "%element = tensor.extract %s[%i] : tensor<8xf32>\n"
            "%from = tensor.from_elements %element : tensor<1xf32>\n",
            elementwise("y", "negf", "x", attributes="fusion.group = 2"),
            results={"y": "8", "from": "1"},
            x="8",
        ),
        f"cannot be in group 2, because {FusionReason.USED_BEFORE.value}",
    ),
    (
        program(
            elementwise("s", "exp", "x", attributes="fusion.group = 2"),
            generic("y", "negf", {"z": WIDE}, WIDE, "pp", "fusion.group = 2"),
            results={"s": "8", "y": "4x8"},
            x="8",
            z="4x8",
        ),
        f"cannot be in group 2, because {FusionReason.SPACES_DIFFER.value}",
    ),
    (
        program(
            elementwise("s", "exp", "x", attributes="fusion.group = 2"),
            part("p", "s", 0),
            part("q", "s", 4),
            elementwise("y", "add", "p", "q", size="4", attributes="fusion.group = 2"),
            results={"y": "4"},
            x="8",
        ),
        f"cannot be in group 2, because {FusionReason.SEVERAL_PLACES.value}",
    ),
    (
        program(
            row_sum("s", "x", "fusion.group = 2"),
            elementwise("y", "negf", "s", size="4", attributes="fusion.group = 2"),
            results={"y": "4"},
            x="4x8",
        ),
        f"cannot be in group 2, because {FusionReason.NOT_ELEMENTWISE.value}",
    ),
    *(
        (
            program(elementwise("s", "exp", "x", attributes=attributes), results={"s": "8"}, x="8"),
            message,
        )
        for attributes, message in (
            ("fusion.group = 1, fusion.alone", "fusion.group and fusion.alone exclude each other"),
            ('fusion.group = "one"', 'fusion.group is the number of a group, not "one"'),
            ("fusion.inline = true", "fusion.inline has no value, but is true"),
        )
    ),
    (
        program(
            elementwise("s", "exp", "x", size="?", attributes="fusion.alone").replace("%to?", "%x"),
            results={"s": "?"},
            x="?",
        ),
        "fusion.alone is for what fusion can take apart",
    ),
]


@pytest.mark.parametrize(("text", "message"), FORCED)
@pytest.mark.parametrize("name", ["linalg-plan-fusion", "linalg-fuse-producers-and-siblings"])
def test_what_cannot_be_forced(
    text: str, message: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.mlir"
    path.write_text(text)
    assert xla_opt.main([str(path), "-p", name]) == 1
    line = text[: text.index("%s = ")].count("\n") + 1
    expected = f"xla-opt: error: {name}: {path}:{line}:1: %s: fusion: {message}"
    assert capsys.readouterr().err.splitlines()[0] == expected
