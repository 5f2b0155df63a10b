"""Every pass that the toolkit offers is documented, keeps its name and has a FileCheck test."""

import re
from functools import cache
from pathlib import Path

import pytest
from xdsl.passes import ModulePass

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import parse_passes
from lowerings.driver.program import load_program
from lowerings.pipelines import LEVELS, NATIVE, PIPELINES, pass_specs
from lowerings.rewriting.levels import level_given, levels_taken
from lowerings.rewriting.passes import ReportingPass
from lowerings.universe import UNIVERSE, toolkit_universe
from tools.pass_listing import options_of
from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import print_mlir

TEST_ROOT = Path(__file__).parent


@cache
def names_in_run_lines() -> frozenset[str]:
    """All words of the RUN lines in files that have FileCheck lines."""
    words: set[str] = set()
    for path in TEST_ROOT.rglob("*"):
        if path.suffix not in (".mlir", ".hlo", ".lit"):
            continue
        text = path.read_text(encoding="utf-8")
        if "CHECK" in text:
            for line in re.findall(r"RUN:(.*)", text):
                words.update(re.findall(r"[\w-]+", line))
    return frozenset(words)


@pytest.mark.parametrize("name", UNIVERSE.all_passes)
def test_pass_has_a_filecheck_test(name: str) -> None:
    assert name in names_in_run_lines(), f"no RUN line under test/ has -p {name}"


@pytest.mark.parametrize("name", UNIVERSE.all_passes)
def test_pass_shows_what_it_does(name: str) -> None:
    module_pass = UNIVERSE.all_passes[name]()
    assert module_pass.name == name
    assert module_pass.__doc__ is not None
    shown = re.search(r"->|\bbecomes\b", module_pass.__doc__)
    assert shown, f"the docstring of {name} shows no `before -> after`"


@pytest.mark.parametrize("name", [*UNIVERSE.all_passes, *UNIVERSE.all_targets])
def test_options_are_described(name: str) -> None:
    table = UNIVERSE.all_passes if name in UNIVERSE.all_passes else UNIVERSE.all_targets
    for option in options_of(table[name]()):
        assert option.description, f"the option {option.name} of {name} has no line below it"


def test_passes_on_the_way_down_say_what_they_take_and_give() -> None:
    level = NATIVE[0].level
    for stage in NATIVE:
        for module_pass in parse_passes(",".join(stage.passes)):
            taken = levels_taken(module_pass)
            assert taken is not None, module_pass.name
            assert set(taken) <= set(LEVELS), module_pass.name
            assert level in taken, f"{module_pass.name} does not take what is before it"
            level = level_given(module_pass) or level
        assert level == stage.level


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("xla-plan-schedules{vector_bits=-1}", "vector_bits is -1, wanted 0 or a power of two"),
        ("xla-plan-schedules{vector_bits=100}", "vector_bits is 100, wanted 0 or a power of two"),
        ("xla-bufferize{in_place_bytes=-1}", "in_place_bytes is -1, wanted at least 0"),
        ("xla-simplify{max_constant_bytes=-1}", "max_constant_bytes is -1, wanted at least 0"),
        ("xla-combine-collectives{bytes=-1}", "bytes is -1, wanted at least 0"),
        ("xla-propagate-shardings{strategy=fast}", "strategy is fast, wanted one of basic"),
        ("scf-unroll-and-jam{rows=0}", "rows is 0, wanted at least 1"),
        ("riscv-scf-strength-reduction{hoisted_loads=-1}", "hoisted_loads is -1"),
        ("native{from=loops to=xla}", "the level 'xla' is above 'loops'"),
        ("native{from=linalg}", "pipeline native has no level 'linalg'"),
        ("native{via=loops}", "no option 'via' \\(it has: from, to, target\\)"),
        ("native{target=vax}", "there is no machine 'vax' \\(there are: host, x86-64, riscv64\\)"),
    ],
)
def test_options_out_of_range(spec: str, message: str) -> None:
    with pytest.raises(XlaError, match=message):
        parse_passes(spec)


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_pipelines_name_passes_of_the_toolkit(pipeline: str) -> None:
    for spec in pass_specs(PIPELINES[pipeline]):
        assert spec.partition("{")[0] in UNIVERSE.all_passes


@pytest.mark.parametrize("program", ["argmax.mlir", "lstm.hlo", "mlp_classifier_optimized.hlo"])
def test_what_a_pass_leaves_it_says(program: str) -> None:
    """A module that is not verified again, since a pass changed nothing, is the same."""
    module, ctx = load_program(TEST_ROOT / "programs" / program), make_context()
    said: set[bool] = set()
    for module_pass in parse_passes(",".join(pass_specs(NATIVE))):
        if not isinstance(module_pass, ReportingPass):
            module_pass.apply(ctx, module)
            continue
        before = print_mlir(module)
        changed = module_pass.change(ctx, module)
        assert changed or print_mlir(module) == before, module_pass.name
        said.add(changed)
    assert said == {True, False}


def test_pass_and_class_have_one_name() -> None:
    """Every pass has the name of its class, and the universe knows all that there are."""
    # One stands in our tools in the place of xDSL's of the same name.
    names = {*UNIVERSE.all_passes, "transform-interpreter"}
    offered: set[type[ModulePass]] = {toolkit_universe().all_passes[name]() for name in names}
    for module_pass in offered:
        words = module_pass.name.split("-")
        assert module_pass.__name__ == "".join(map(str.capitalize, words)) + "Pass"
    root = Path(lowerings.__file__).parent
    for path in root.rglob("*.py"):
        for class_ in re.findall(
            r"^class (\w+)\((?:ModulePass|ReportingPass)\)", path.read_text(), re.M
        ):
            assert class_ in {module_pass.__name__ for module_pass in offered}, path
