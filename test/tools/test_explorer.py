"""`xla-opt --explore`: what is on the page. `test_explorer_in_browser.py` looks at it."""

import re
from contextlib import redirect_stdout
from io import StringIO
from itertools import combinations
from pathlib import Path

import pytest
from explored import Page, explore

from lowerings.driver.program import parse_program
from lowerings.pipelines import PARTITIONING
from lowerings.targets.llvm.instruction_origins import with_own_lines, without_locations
from lowerings.targets.llvm.machine import Machine, host, riscv64
from lowerings.targets.llvm.module import emit_module
from tools.xla_opt import main

PROGRAMS = Path(__file__).parents[1] / "programs"

LAYER = """\
HloModule layer

ENTRY main {
  x = f32[64,64] parameter(0)
  w = f32[64,64] parameter(1)
  d = f32[64,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(layer)/dot" source_file="FILE" source_line=2}
  t = f32[64,64] tanh(d), metadata={op_name="jit(layer)/tanh" source_file="FILE" source_line=3}
  ROOT s = f32[64,64] subtract(t, w), metadata={op_name="jit(layer)/sub" source_file="FILE" source_line=4}
}
"""
PYTHON = "def layer(x, w):\n    d = x @ w\n    t = jnp.tanh(d)\n    return t - w\n"

TWICE = """\
func.func @main(%x: tensor<8x128xf32>, %a: tensor<8x128xf32>) -> tensor<8x128xf32> {
  %0 = stablehlo.add %x, %a : tensor<8x128xf32>
  %1 = stablehlo.sine %0 : tensor<8x128xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<8x128xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xf32>) -> tensor<8x128xf32>
  %4 = stablehlo.subtract %x, %3 : tensor<8x128xf32>
  %5 = stablehlo.sine %4 : tensor<8x128xf32>
  %6 = stablehlo.reduce(%5 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<8x128xf32>, tensor<f32>) -> tensor<8xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<8xf32>) -> tensor<8x128xf32>
  %8 = stablehlo.add %7, %x : tensor<8x128xf32>
  return %8 : tensor<8x128xf32>
}
"""


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("layer")
    source = folder / "model.py"
    source.write_text(PYTHON)
    program = LAYER.replace("FILE", str(source))
    return explore(folder, program, "-p", "native", "-t", "riscv-asm", name="layer.hlo")


def test_a_line_of_python_is_followed_down_to_instructions(layer: Page) -> None:
    text = next(state["name"] for state in layer.states if state["level"] == "input")
    down = {
        name: layer.outcomes("Python", layer.find("Python", "jnp.tanh"), name)
        for name in (text, "as read", "convert-xla-to-linalg", "xla-outline-kernels", "expand-math")
    }
    assert [line.split(" = ")[0] for line in down[text]] == ["t"]
    assert [line.split()[2] for line in down["as read"]] == ["xla.tanh"]
    # Operations on elements are converted together: of it there is what it does to one.
    assert [line.split()[2] for line in down["convert-xla-to-linalg"]] == ["math.tanh"]
    assert [line.split()[2] for line in down["xla-outline-kernels"]] == ["math.tanh"]
    assert not any("math.tanh" in line for line in down["expand-math"])
    assert any("math.copysign" in line for line in down["expand-math"])
    instructions = layer.outcomes("Python", layer.find("Python", "jnp.tanh"), "riscv64")
    # Without vectors a function computes one sign; what is divided comes from this line only.
    assert any(line.startswith("fsgnj.s") for line in instructions)
    assert any(line.startswith("fdiv.s") for line in instructions)


def test_instructions_are_followed_up_to_python(layer: Page) -> None:
    divisions = [i for i, line in enumerate(layer.lines("riscv64")) if "\tfdiv.s" in line]
    assert divisions
    for line in divisions:
        assert layer.origins("riscv64", line, "Python") == ["t = jnp.tanh(d)"]
    subtractions = [i for i, line in enumerate(layer.lines("riscv64")) if "\tfsub.s" in line]
    origins = [layer.origins("riscv64", line, "Python") for line in subtractions]
    assert ["return t - w"] in origins
    assert ["d = x @ w"] not in origins


def test_operations_at_one_place_are_told_apart(tmp_path: Path) -> None:
    """As those of a layer that a loop of Python repeats."""
    program = """\
func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = stablehlo.exponential %x : tensor<64xf32> loc("model.py":3:0)
  %1 = stablehlo.negate %x : tensor<64xf32> loc("model.py":3:0)
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}
"""
    page = explore(tmp_path, program, "-p", "native{to=tensors}")
    text = page.states[1]["name"]
    exponential = page.outcomes(text, 1, "convert-xla-to-linalg")
    negation = page.outcomes(text, 2, "convert-xla-to-linalg")
    assert any("math.exp" in line for line in exponential)
    assert any("arith.negf" in line for line in negation)
    assert not set(exponential) & set(negation) - {""}


def test_what_is_inlined_comes_from_its_call_too(tmp_path: Path) -> None:
    program = """\
func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = call @positive(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = stablehlo.exponential %x : tensor<64xf32>
  %2 = call @positive(%1) : (tensor<64xf32>) -> tensor<64xf32>
  return %0, %2 : tensor<64xf32>, tensor<64xf32>
}
func.func private @positive(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.abs %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
"""
    page = explore(tmp_path, program, "-p", "xla-inline")
    text = page.states[0]["name"]
    for call in ("%0 = call", "%2 = call"):
        assert len(page.outcomes(text, page.find(text, call), "xla-inline")) == 1
    assert len(page.outcomes(text, page.find(text, "stablehlo.abs"), "xla-inline")) == 2
    absolutes = [i for i, line in enumerate(page.lines("xla-inline")) if "xla.abs" in line]
    assert [page.origins("xla-inline", line, text) for line in absolutes] == [
        [
            "%0 = call @positive(%x) : (tensor<64xf32>) -> tensor<64xf32>",
            "%0 = stablehlo.abs %x : tensor<64xf32>",
        ],
        [
            "%2 = call @positive(%1) : (tensor<64xf32>) -> tensor<64xf32>",
            "%0 = stablehlo.abs %x : tensor<64xf32>",
        ],
    ]


def test_equal_kernels_come_from_each_of_their_calls(tmp_path: Path) -> None:
    program = """\
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("model.py":3:0)
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("model.py":3:0)
  return %1 : tensor<64x64xf32>
}
"""
    page = explore(tmp_path, program, "-p", "native{to=loops}")
    name = "convert-linalg-to-vector-loops"
    text = page.states[1]["name"]
    loops = [i for i, line in enumerate(page.lines(name)) if "scf.for" in line]
    assert loops
    for loop in loops:
        assert [line[:2] for line in page.origins(name, loop, text)] == ["%0", "%1"]


@pytest.fixture(scope="module")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Page:
    program = (PROGRAMS / "transformer_block.mlir").read_text()
    return explore(tmp_path_factory.mktemp("transformer"), program, "-p", "native{to=loops}")


def test_whatever_passes_make_comes_from_something(transformer: Page) -> None:
    require_origins(transformer)


@pytest.mark.full
@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.[hm]l*")), ids=lambda path: path.name)
def test_in_all_programs_what_passes_make_comes_from_something(path: Path, tmp_path: Path) -> None:
    require_origins(explore(tmp_path, path.read_text(), "-p", "native{to=loops}", name=path.name))


def require_origins(page: Page) -> None:
    places = range(page.place("as read") + 1, len(page.states))
    for place in (place for place in places if page.states[place]["kind"] == "mlir"):
        links = page.links(place)
        lines = page.lines(page.states[place]["name"])
        lost = [
            line
            for number, line in enumerate(lines)
            if number not in links
            and not re.match(r"\s*([\^}]|builtin\.module|%[\w.$-]+ = arith\.constant)", line)
        ]
        assert not lost, page.states[place]["name"]


def test_the_program_stays_what_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, output = tmp_path / "program.mlir", tmp_path / "output.mlir"
    program.write_text(TWICE)
    common = [str(program), "-p", "native{to=loops}", "--print-debuginfo"]
    assert main([*common]) == 0
    plain = capsys.readouterr().out
    page = str(tmp_path / "page.html")
    assert main([*common, "--explore", page, "-o", str(output), "--print-ir-after-all"]) == 0
    assert output.read_text() == plain
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "fused<" not in captured.err


@pytest.mark.parametrize("machine", [host(), riscv64()], ids=["host", "riscv64"])
def test_locations_do_not_change_the_code(machine: Machine) -> None:
    module = parse_program(lowered("mlp_classifier.hlo"))
    text = emit_module(module, machine).text
    with_places, places = without_locations(machine.assembly(with_own_lines(text.splitlines())))
    assert with_places == without_locations(machine.assembly(text))[0]
    assert sum(place is not None for place in places) > 100


def lowered(name: str) -> str:
    """A program of `test/programs` at the loops level."""
    with redirect_stdout(StringIO()) as output:
        assert main([str(PROGRAMS / name), "-p", "native"]) == 0
    return output.getvalue()


def test_buffers_that_are_in_use_do_not_overlap(transformer: Page) -> None:
    (arena,) = transformer.content["views"]["memory"]["arenas"]
    buffers = arena["buffers"]
    assert len(buffers) > 5
    assert max(offset + size for _, offset, size, *_ in buffers) <= arena["size"]
    assert sum(size for _, _, size, *_ in buffers) == arena["allocated"] > arena["size"]
    for (_, a, m, first, last, _), (_, b, n, start, end, _) in combinations(buffers, 2):
        assert a + m <= b or b + n <= a or last < start or end < first


def test_why_operations_are_fused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = explore(tmp_path, TWICE, "-p", "native")
    view = page.content["views"]["fusion"]
    documents = page.content["documents"][: view["document"] + 1]
    text = next(each["lines"] for each in reversed(documents) if "lines" in each)
    found: list[str] = []
    for line, subject, remark, reason in view["rows"]:
        assert "linalg." in page.content["lines"][text[line]]
        found.append(f"{subject} {remark}" + (f", because {reason}" if reason else ""))
    assert main([str(tmp_path / "program.mlir"), "-p", "native", "--print-fusion"]) == 0
    printed = capsys.readouterr().err.splitlines()
    assert found == [line.split(": remark: ")[1] for line in printed]
    assert any("is not fused into group" in each for each in found)


def test_layouts_and_schedules(layer: Page) -> None:
    views = layer.content["views"]
    (shape,) = views["layouts"]["shapes"]
    assert shape["shape"] == "f32[64,64]{1,0}"
    assert "<svg" in shape["drawing"]
    assert "16384 bytes" in shape["words"]
    schedules = views["schedules"]
    lines = layer.content["documents"][schedules["document"]]
    for row in schedules["rows"]:
        line = layer.content["lines"][lines["lines"][row["line"]]]
        assert row["operation"] in line
        assert row["schedule"] in line


SHARDED = """\
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %w: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""


def test_communication(tmp_path: Path) -> None:
    passes = "xla-propagate-shardings,xla-insert-reshards,xla-reshard-to-collectives,xla-partition"
    page = explore(tmp_path, SHARDED, "-p", passes)
    communication = page.content["views"]["communication"]
    assert communication["devices"] == 4
    assert [each["collective"] for each in communication["exchanges"]] == ["all_reduce"]
    # A device has 4x4 numbers, half of the sum of each; two of them send each other half of that.
    assert communication["bytes"] == 4 * 4 * 4


def test_a_step_on_a_machine(tmp_path: Path) -> None:
    machine = Path(__file__).parents[2] / "docs/examples/machines/host.toml"
    passes = PARTITIONING[PARTITIONING.index("xla-propagate-shardings") :]
    report = f'xla-report-communication{{machine="{machine}"}}'
    page = explore(tmp_path, SHARDED, "-p", ",".join((*passes, report)))
    step = page.content["views"]["planned"]["step"]
    ends = {each["stream"]: each["end"] for each in step["timeline"]}
    assert ends["communication"] == step["seconds"] > ends["computation"]


def test_nothing_is_loaded(layer: Page) -> None:
    assert "default-src 'none'" in layer.text
    outside = re.search(r"""(?:src|href)=["'](?!data:)|@import|url\(""", layer.text)
    assert outside is None
    assert "http-equiv" in layer.text
    assert "Permission is hereby granted" in layer.text


def test_only_python_is_taken_along(tmp_path: Path) -> None:
    """A program may name any file."""
    secret = tmp_path / "secret.txt"
    secret.write_text("one\ntwo\nthree\nfour\n")
    page = explore(tmp_path, LAYER.replace("FILE", str(secret)), name="layer.hlo")
    assert page.lines("Python") == [
        f"# {secret}",
        "jit(layer)/dot",
        "jit(layer)/tanh",
        "jit(layer)/sub",
    ]
    assert page.states[0]["numbers"] == [0, 2, 3, 4]


def test_text_of_a_program_is_no_markup(tmp_path: Path) -> None:
    program = TWICE.replace("%0 = ", '// </script><script>alert("1")</script> {{data}}\n  %0 = ')
    page = explore(tmp_path, program, name="{{data}}<b>.mlir")
    assert "<script>alert" not in page.text
    assert page.text.count('id="data"') == 1
    assert any("</script>" in line for line in page.lines(page.states[0]["name"]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--explore", "{folder}/none/page.html"], "page.html: error: No such file or directory"),
        (["--explore", "{folder}/page.html", "--split-input-file"], "--explore is for one program"),
        (["--explore", ""], "--explore takes the name of a file"),
    ],
)
def test_errors(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(TWICE)
    assert main([str(program), *(each.format(folder=tmp_path) for each in arguments)]) == 1
    assert message in capsys.readouterr().err


def test_a_pass_that_fails_leaves_a_page_about_those_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, path = tmp_path / "program.mlir", tmp_path / "page.html"
    program.write_text(TWICE)
    passes = "xla-inline,convert-xla-to-linalg,xla-plan-schedules"
    assert main([str(program), "-p", passes, "--explore", str(path)]) == 1
    assert "error: " in capsys.readouterr().err
    page = Page(path.read_text("utf-8"))
    assert any("linalg.generic" in line for line in page.lines("convert-xla-to-linalg"))


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("[]", "no profile of xla-run --profile-json"),
        (
            '{"main": {"seconds": 1, "kernels": [{"name": "another", "seconds": 1}]}}',
            "the program has none of the kernels of this profile",
        ),
    ],
)
def test_another_programs_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], profile: str, words: str
) -> None:
    program, times, page = (tmp_path / name for name in ("layer.hlo", "times.json", "page.html"))
    program.write_text(LAYER)
    times.write_text(profile)
    asked = ["--explore", str(page), "--explore-profile", str(times)]
    assert main([str(program), "-p", "native", *asked]) == 1
    assert capsys.readouterr().err.startswith(f"{times}: error: {words}")
