"""Decisions on fusion change what is computed where, and nothing of what is computed."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from differential.generation import generate
from fusion_programs import elementwise, program
from tensors_level import FUSION, compare, interpreted, lower
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.utils.exceptions import PassFailedException

import lowerings
from lowerings.compilation import Options, cache_entry
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.source import Source
from lowerings.pipelines import NATIVE, pass_specs
from lowerings.tensors.fusion_decisions import (
    ALONE,
    GROUP,
    INLINE,
    FusionDecision,
    decision_of,
    remove_decision,
    set_decision,
)
from lowerings.tensors.linalg_plan_fusion import LinalgPlanFusionPass
from tools import xla_opt, xla_run
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run

TO_LOOPS = ",".join(pass_specs(NATIVE)[len(pass_specs(NATIVE, "tensors")) :])
CHOICES = (
    None,
    FusionDecision(INLINE),
    FusionDecision(ALONE),
    *(FusionDecision(GROUP, n) for n in (0, 1)),
)

MOST_DECISIONS = 8
"""Each one has the whole program planned."""


def decide_at_random(module: ModuleOp, rng: Random) -> int:
    """Decides on some operations one by one, and takes back what cannot be; how much could."""
    followed = 0
    operations = [op for op in module.walk() if isinstance(op, GenericOp)]
    for op in rng.sample(operations, min(len(operations), MOST_DECISIONS)):
        choice = rng.choice(CHOICES)
        if choice is None:
            continue
        set_decision(op, choice)
        try:
            LinalgPlanFusionPass().apply(make_context(), module.clone())
            followed += 1
        except PassFailedException:
            remove_decision(op)
    return followed


def check_integers(
    module: ModuleOp, arguments: Sequence[Any], expected: Sequence[np.ndarray]
) -> None:
    """Whatever the order of their sums, integers are the same; floats may not be."""
    found = interpreted(module, arguments, expected)
    exact = [number for number, array in enumerate(expected) if array.dtype.kind in "biu"]
    compare([found[number] for number in exact], [expected[number] for number in exact], 0)


def run_decided(seed: int) -> int:
    """A random program of integers, not planned and planned at random; how many decisions it followed."""
    program = generate(seed, ("s32", "pred"), returns_all=False)
    module, arguments = program.module, program.arguments
    expected = flatten_results(run(module, arguments))
    lower(module)
    undecided = module.clone()
    lower(undecided, FUSION)
    check_integers(undecided, arguments, expected)
    lower(module, FUSION[:-1])
    followed = decide_at_random(module, Random(seed))
    decided = module.clone()
    lower(module, FUSION[-1:])
    assert not any(decision_of(op) for op in module.walk())
    check_integers(module, arguments, expected)
    if seed % 5 == 0:
        # Bufferization, schedules and loops take what is forced, arithmetic in contractions too.
        loops = module.clone()
        PassManager(make_context(), verify_each=False).run(loops, parse_passes(TO_LOOPS))
        check_integers(loops, arguments, expected)
    # What is planned around the decisions is what is done.
    lower(decided, (LinalgPlanFusionPass(), *FUSION[-1:]))
    assert str(decided) == str(module)
    return followed


@pytest.mark.parametrize("block", range(2))
def test_random_decisions(block: int) -> None:
    assert sum(map(run_decided, range(10 * block, 10 * block + 10))) > 20


@pytest.mark.full
@pytest.mark.parametrize("block", range(60))
def test_many_random_decisions(block: int) -> None:
    for seed in range(100 * block + 100, 100 * block + 200):
        run_decided(seed)


CHAIN = program(
    elementwise("first", "exp", "x"),
    elementwise("second", "negf", "first"),
    results={"second": "8"},
    x="8",
)


def fuse_with(path: Path, text: str, file: str) -> int:
    (path / "p.mlir").write_text(text)
    (path / "given.fusion").write_text(file)
    option = f'linalg-fuse-producers-and-siblings{{file="{path / "given.fusion"}"}}'
    return xla_opt.main([str(path / "p.mlir"), "-p", option])


def test_operations_are_named_by_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuse_with(tmp_path, CHAIN, "") == 0
    assert capsys.readouterr().out.count("linalg.generic") == 1
    assert fuse_with(tmp_path, CHAIN, f'alone "{tmp_path / "p.mlir"}":2:1 // %first') == 0
    assert capsys.readouterr().out.count("linalg.generic") == 2


@pytest.mark.parametrize(
    ("file", "place", "message"),
    [
        ("keep %first", "1:1", "expected one of group, inline, alone"),
        ("alone %first inline", "1:20", "of a location, or the name of a value"),
        ("alone 12", "1:7", "of a location, or the name of a value"),
        ('alone "p.mlir":2', "1:17", "Expected ':'"),
        ('alone "p.mlir":2:-1', "1:18", "Expected integer literal"),
        ("// %x is none\nalone %x", "2:7", "no operation that fusion begins with has this name"),
        ("alone %firs", "1:7", "no operation that fusion begins with has this name"),
        ('inline "p.mlir":2:1', "1:8", "no operation that fusion begins with has this name"),
        ("inline %first\nalone %second, %first", "2:16", "a second decision on this operation"),
    ],
)
def test_bad_files(
    file: str, place: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuse_with(tmp_path, CHAIN, file) == 1
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith(f"{tmp_path / 'given.fusion'}:{place}: error: "), first
    assert message in first


def test_groups_of_several_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two functions, here; operations of one name in several functions have a group in each."""
    other = CHAIN.replace("@main", "@other").replace("%first", "%third")
    assert fuse_with(tmp_path, CHAIN + other, "group %first, %third") == 1
    assert "given.fusion:1:15: error: operations of a group have to be in one block" in (
        capsys.readouterr().err
    )
    assert fuse_with(tmp_path, CHAIN + other, "group %second") == 0
    assert capsys.readouterr().out.count("linalg.generic") == 2


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_unreadable_files(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.mlir").write_text(CHAIN)
    path = tmp_path / "bad.fusion"
    if content is not None:
        path.write_bytes(content)
    option = f'linalg-plan-fusion{{file="{path}"}}'
    assert xla_opt.main([str(tmp_path / "p.mlir"), "-p", option]) == 1
    assert f"{path}: error: " in capsys.readouterr().err


SOFTMAX = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  x = f32[3,4]{1,0} parameter(0)
  e = f32[3,4]{1,0} exponential(x)
  zero = f32[] constant(0)
  s = f32[3]{0} reduce(e, zero), dimensions={1}, to_apply=add
  w = f32[3,4]{1,0} broadcast(s), dimensions={0}
  ROOT d = f32[3,4]{1,0} divide(e, w)
}
"""


def test_options_of_xla_opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, file = tmp_path / "p.hlo", tmp_path / "given.fusion"
    path.write_text(SOFTMAX)
    file.write_text("inline %e")
    options = ["-p", "native{to=tensors}", "--fusion", str(file), "--print-fusion"]
    assert xla_opt.main([str(path), *options]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("math.exp") == 2
    assert f"{path}:9:3: remark: %e is computed in group 0, because it is so decided" in printed.err
    for option in (["--fusion", str(file)], ["--print-fusion"]):
        assert xla_opt.main([str(path), "-p", "native{to=xla}", *option]) == 1
        assert f"{option[0]} is for pipelines with the pass linalg-plan-fusion or" in (
            capsys.readouterr().err
        )


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_programs_run_by_them(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, file = tmp_path / "p.hlo", tmp_path / "given.fusion"
    path.write_text(SOFTMAX)
    file.write_text("inline %e\nalone %d")
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    wanted = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    with pytest.raises(XlaError, match="%e: fusion: cannot be computed by what uses it"):
        lowerings.compile(path, backend=backend, fusion=file)
    file.write_text("alone %e")
    (found,) = lowerings.compile(path, backend=backend, fusion=file)(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    options = [str(path), "--backend", backend, "--input", "3x4xf32=0.0", "--fusion", str(file)]
    assert xla_run.main(options) == 0
    assert "0.25" in capsys.readouterr().out
    file.write_text("alone %f")
    assert xla_run.main(options) == 1
    assert capsys.readouterr().err.startswith(f"{file}:1:7: error: no operation")


def test_what_fuses_nothing_takes_no_decisions(tmp_path: Path) -> None:
    (tmp_path / "p.hlo").write_text(SOFTMAX)
    with pytest.raises(XlaError, match="backend 'reference' fuses nothing"):
        lowerings.compile(tmp_path / "p.hlo", backend="reference", fusion=tmp_path / "none")


def test_the_cache_knows_their_content(tmp_path: Path) -> None:
    file, keys = tmp_path / "given.fusion", set[str]()
    for content in (None, "inline %e", "alone %e"):
        if content is not None:
            file.write_text(content)
        options = Options(fusion=None if content is None else file)
        entry = cache_entry(Source(SOFTMAX), options, tmp_path / "cache")
        assert entry is not None
        keys.add(entry.key)
    assert len(keys) == 3
