"""The dialect as HLO text, beside the FileCheck tests: XLA takes it, and it means the same."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hlo_examples import on_reference, on_xla
from jax_programs import PROGRAMS
from same_modules import printed_by_xla
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from tools.repository.programs import examples
from xla_dialect.hlo_text import HloPrintOptions, print_hlo, read_hlo
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run
from xla_dialect.verification import verify

EVERYTHING = (Path(__file__).parent / "inputs" / "everything.txt").read_text()
STORED = sorted((Path(__file__).parents[1] / "programs").glob("*.hlo"))


def module_of(text: str) -> ModuleOp:
    """The verified module of MLIR text."""
    module = parse_program(text, "input.mlir", "mlir")
    verify(module, {"input.mlir": text})
    return module


def printed(text: str) -> str:
    """MLIR text as HLO text, which reads and prints as the same again."""
    found = print_hlo(module_of(text))
    again = read_hlo(found, "printed.hlo")
    verify(again, {"printed.hlo": found})
    assert print_hlo(again) == found
    return found


def in_main(signature: str, *lines: str) -> str:
    """A module of one function."""
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @main{signature} {{\n{body}}}\n"


# What is kept


def test_all_that_a_text_says_is_printed_as_it_was() -> None:
    assert print_hlo(read_hlo(EVERYTHING)) == EVERYTHING


@pytest.mark.jax
def test_xla_takes_all_of_it() -> None:
    assert "buffer_donor={ (1, {}) }" in printed_by_xla(EVERYTHING)


def test_metadata_goes_with_its_tables() -> None:
    text = print_hlo(read_hlo(EVERYTHING), HloPrintOptions(print_metadata=False))
    assert "metadata" not in text
    assert "FileNames" not in text


def test_joint_names_of_asynchronous_operations() -> None:
    text = """\
HloModule m, entry_computation_layout={(f32[2]{0}, f32[2]{0})->f32[2]{0}}

%negated (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  %y = f32[2]{0} negate(%x)
  ROOT %z = f32[2]{0} negate(%y)
}

ENTRY %e (a: f32[2], b: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  %b = f32[2]{0} parameter(1)
  %s = ((f32[2]{0}, f32[2]{0}), pred[2]{0}, u32[]) compare-start(%a, %b), direction=LT
  %u = ((f32[2]{0}, f32[2]{0}), pred[2]{0}, u32[]) compare-update(%s)
  %d = pred[2]{0} compare-done(%u)
  %f = f32[2]{0} convert(%d)
  %t = ((f32[2]{0}), f32[2]{0}, u32[]) call-start(%f), to_apply=%negated
  ROOT %r = f32[2]{0} call-done(%t)
}
"""
    assert print_hlo(read_hlo(text)) == text


def test_unused_and_shared_computations() -> None:
    """A computation that several instructions apply is printed once, also beside a call of it."""
    text = """\
HloModule m, entry_computation_layout={(f32[2]{0})->f32[]}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

ENTRY %e (x: f32[2]) -> f32[] {
  %x = f32[2]{0} parameter(0)
  %z = f32[] constant(0)
  %r = f32[] reduce(%x, %z), dimensions={0}, to_apply=%sum
  %s = f32[] reduce(%x, %r), dimensions={0}, to_apply=%sum
  ROOT %t = f32[] call(%r, %s), to_apply=%sum
}
"""
    assert print_hlo(read_hlo(text)) == text


def test_one_name_for_two_computations_after_a_pass() -> None:
    module = read_hlo(EVERYTHING)
    regions = [op for op in module.walk() if op.name == "xla.maximum"]
    (maximum,) = regions
    reduce = maximum.parent_op()
    assert reduce is not None
    copy = reduce.clone()
    block = reduce.parent
    assert block is not None
    block.insert_op_before(copy, reduce)
    inner = copy.regions[0].block.first_op
    assert inner is not None
    inner.operands = list(reversed(inner.operands))
    text = print_hlo(module)
    assert "%max (a" in text
    assert "%max.1 (a" in text
    assert text.index("%max (a") < text.index("ENTRY")
    # The second instruction of the name gets another one.
    assert "%r = " in text
    assert "%r.1 = " in text


# Names


@pytest.mark.jax
def test_words_of_the_short_form() -> None:
    lines = [f"%{word} = xla.abs %x : tensor<f32>" for word in ("nan", "ROOT", "true", "pred")]
    module = module_of(
        in_main("(%x: tensor<f32>) -> tensor<f32>", *lines, "func.return %x : tensor<f32>")
    )
    short = print_hlo(module, HloPrintOptions.short_parsable())
    printed_by_xla(short)
    assert "nan.1 = f32[] abs(x)" in short
    assert "pred_ = f32[] abs(x)" in short
    assert "%nan = f32[] abs(%x)" in print_hlo(module)


# What the dialect has and HLO does not

CAPTURING = """\
func.func @main(%x: tensor<4xf32>, %n: tensor<f32>, %p: tensor<i1>, %i: tensor<i32>)
    -> (tensor<f32>, tensor<4xf32>, tensor<i32>) {
  %zero = xla.constant dense<0.5> : tensor<f32>
  %one = xla.constant dense<5> : tensor<i32>
  %r = xla.reduce %x, %zero {dimensions = [0]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    to_apply (%a: tensor<f32>, %b: tensor<f32>) {
      %t = xla.add %a, %b : tensor<f32>
      %u = xla.add %t, %zero : tensor<f32>
      xla.return %u : tensor<f32>
    }
  %w = xla.while %i : tensor<i32> condition (%c: tensor<i32>) {
      %less = xla.compare %c, %one {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      xla.return %less : tensor<i1>
    } body (%c: tensor<i32>) {
      %d = xla.convert %n : (tensor<f32>) -> tensor<i32>
      %s = xla.add %c, %d : tensor<i32>
      %v = xla.while %s : tensor<i32> condition (%e: tensor<i32>) {
        %less = xla.compare %e, %i {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
        xla.return %less : tensor<i1>
      } body (%e: tensor<i32>) {
        %f = xla.add %c, %e : tensor<i32>
        xla.return %f : tensor<i32>
      }
      xla.return %v : tensor<i32>
    }
  %y = xla.conditional %p : (tensor<i1>) -> tensor<4xf32> branch () {
      xla.return %x : tensor<4xf32>
    } branch () {
      %k = xla.broadcast %r : (tensor<f32>) -> tensor<4xf32>
      %l = xla.add %k, %x : tensor<4xf32>
      xla.return %l : tensor<4xf32>
    }
  func.return %r, %y, %w : tensor<f32>, tensor<4xf32>, tensor<i32>
}
"""

OPERANDS = {
    "x": np.array([1, 2, 3, 4], np.float32),
    "n": np.array(2, np.float32),
    "p": np.array(False),
    "i": np.array(1, np.int32),
}


def assert_equal(found: Sequence[Any], expected: Sequence[Any]) -> None:
    """The same arrays."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.jax
def test_values_from_around_a_computation() -> None:
    """Loops and branches get them as parameters, reductions get copies of constants."""
    text = printed(CAPTURING)
    expected = flatten_results(run(module_of(CAPTURING), list(OPERANDS.values())))
    assert_equal(on_reference(text, OPERANDS), expected)
    assert_equal(on_xla(text, OPERANDS), expected)


# Operations, passes


@pytest.mark.jax
@pytest.mark.parametrize("name", sorted(examples()))
def test_examples_of_all_operations(name: str) -> None:
    """XLA takes the text, and it says what the example says: the reference finds its results."""
    example = examples()[name]
    text = printed(example.text)
    printed_by_xla(text)
    expected = flatten_results(run(parse_program(example.text), entry=name))
    assert_equal(flatten_results(run(read_hlo(text))), expected)


PASSES = ("xla-inline", "xla-flatten-tuples", "xla-inline,xla-flatten-tuples,xla-simplify")


@pytest.mark.jax
@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_after_passes(path: Path, passes: str) -> None:
    module = read_hlo(path.read_text())
    PassManager(make_context(), True).run(module, parse_passes(passes))
    text = print_hlo(module)
    printed_by_xla(text)
    assert print_hlo(read_hlo(text)) == text


@pytest.mark.jax
@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("name", ["nested_loops", "switch", "cholesky", "sort", "donated", "scan"])
def test_jax_programs_after_passes(name: str, passes: str) -> None:
    lowered = PROGRAMS[name].lower()
    for text in (lowered.as_text(), lowered.as_text(dialect="hlo")):
        module = parse_program(text)
        PassManager(make_context(), True).run(module, parse_passes(passes))
        found = print_hlo(module)
        printed_by_xla(found)
        assert print_hlo(read_hlo(found)) == found


def test_what_speaks_of_the_signature_goes_with_it() -> None:
    """Aliases of the entry count parameters that flattening has changed."""
    text = """\
HloModule m, input_output_alias={ {0}: (0, {1}, may-alias) }

ENTRY e {
  t = (f32[2], f32[2]) parameter(0)
  a = f32[2] get-tuple-element(t), index=1
  ROOT r = (f32[2], f32[2]) tuple(a, a)
}
"""
    module = read_hlo(text)
    assert "input_output_alias" in print_hlo(module)
    PassManager(make_context(), True).run(module, parse_passes("xla-flatten-tuples"))
    assert "input_output_alias" not in print_hlo(module)


def test_leaves_of_a_context_are_nested_again() -> None:
    module = read_hlo(EVERYTHING)
    PassManager(make_context(), True).run(module, parse_passes("xla-flatten-tuples"))
    text = print_hlo(module)
    assert "%async-start = ((f32[4]{0}), f32[4]{0:S(5)}, s32[]) async-start(%r)" in text
    assert print_hlo(read_hlo(text)) == text


def test_an_element_that_is_returned_has_a_line() -> None:
    """Where elements of tuples are `%p#0`, the root of a computation is an instruction all the same."""
    module = parse_program(
        """
        func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
          %w, %v = xla.while %n, %x : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
            condition (%c: tensor<i32>, %y: tensor<f32>) {
              %limit = xla.constant dense<3> : tensor<i32>
              %p = xla.compare %c, %limit {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
              xla.return %p : tensor<i1>
            } body (%c: tensor<i32>, %y: tensor<f32>) {
              %one = xla.constant dense<1> : tensor<i32>
              %d = xla.add %c, %one : tensor<i32>
              %z = xla.add %y, %y : tensor<f32>
              xla.return %d, %z : tensor<i32>, tensor<f32>
            }
          func.return %v : tensor<f32>
        }
        """
    )
    text = print_hlo(module, HloPrintOptions(print_tuple_indices=True))
    (doubled,) = run(read_hlo(text), [np.float32(0.75), np.int32(1)])
    assert doubled == 3
