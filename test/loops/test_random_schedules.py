"""Random schedules: each is refused by a rule, or computes what numpy does."""

import random
import re
from collections.abc import Iterator

import numpy as np
import pytest
from einsums import Einsum
from linalg_nests import NestProgram, random_buffer, random_nest
from loops_level import context, parse
from machine_code import MachineCode
from random_schedules import random_loops, random_schedule
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.utils.exceptions import PassFailedException

import lowerings
from lowerings.dialects.schedule import (
    Factor,
    Loop,
    Schedule,
    schedule_of,
    schedule_text,
    set_schedule,
)
from lowerings.loops.convert_linalg_to_vector_loops import ConvertLinalgToVectorLoopsPass
from lowerings.loops.nest import nest_of
from lowerings.scheduling.primitives import LoopNest, primitives_of
from lowerings.scheduling.schedule_file import parse_schedule_file
from xla_dialect.mlir_text import MlirSyntaxError, print_mlir

CONTRACTIONS = (
    Einsum("mk,kn->mn", (13, 9, 37)),
    Einsum("mk,nk->mn", (21, 12, 19), fill=False),
    Einsum("bmk,bkn->bmn", (2, 7, 11, 18)),
    Einsum("km,kn->mn", (20, 9, 33), "f64", "f64"),
    Einsum("mk,kn->mn", (8, 14, 40), "i8", "i32"),
    Einsum("mjk,jkn->mn", (5, 9, 12, 10)),
)


def lowered(text: str, pick: random.Random, case: Einsum | None = None) -> ModuleOp | None:
    """The loops of a text with a random schedule on its operation; None if a rule refuses it."""
    return lowered_by(text, random_schedule_for(text, pick, case))


def random_schedule_for(text: str, pick: random.Random, case: Einsum | None = None) -> Schedule:
    (op,) = (op for op in parse(text).walk() if isinstance(op, GenericOp) and op.inputs)
    extents = nest_of(op).extents
    factors = None
    if case is not None:
        left, right, _ = case.operands
        factors = {
            factor: [case.letters.index(c) for c in operand]
            for factor, operand in ((Factor.LHS, left), (Factor.RHS, right))
        }
    return random_schedule(pick, extents, factors)


def lowered_by(text: str, schedule: Schedule) -> ModuleOp | None:
    """The loops of a text with a schedule on its operation; None if a rule refuses it."""
    module = parse(text)
    (op,) = (op for op in module.walk() if isinstance(op, GenericOp) and op.inputs)
    set_schedule(op, schedule)
    printed = parse(print_mlir(module))
    (again,) = (op for op in printed.walk() if isinstance(op, GenericOp) and op.inputs)
    assert schedule_of(again) == schedule_of(op)
    try:
        ConvertLinalgToVectorLoopsPass().apply(context(), printed)
    except PassFailedException as error:
        if not re.search(r"schedule: \(SR\d+\)", str(error)):
            raise
        return None
    printed.verify()
    return printed


def check_nest(program: NestProgram, module: ModuleOp) -> None:
    source = np.random.default_rng(0)
    buffers = [random_buffer(source, operand) for operand in [*program.inputs, *program.outputs]]
    expected = program.expected(buffers)
    MachineCode(module).run("main", buffers)
    for found, right in zip(buffers[len(program.inputs) :], expected, strict=True):
        if program.body.exact or found.dtype.kind in "biu":
            np.testing.assert_array_equal(found, right, err_msg=print_mlir(module))
        else:
            scale = max(1.0, float(np.abs(right).max(initial=0)))
            np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5 * scale)


def check_nests(seeds: range) -> int:
    """How many of the schedules are admitted."""
    admitted = 0
    for seed in seeds:
        program = random_nest(seed)
        if not program.inputs:
            continue
        module = lowered(program.text(), random.Random(seed))
        if module is not None:
            check_nest(program, module)
            admitted += 1
    return admitted


def check_contractions(seeds: range) -> int:
    """How many of the schedules are admitted."""
    admitted = 0
    for seed in seeds:
        pick = random.Random(seed)
        case = pick.choice(CONTRACTIONS)
        module = lowered(case.text(), pick, case)
        if module is None:
            continue
        arrays = case.arrays(seed)
        found = arrays[-1].copy()
        MachineCode(module).run("main", [*arrays[:-1], found])
        case.assert_result(arrays, found)
        admitted += 1
    return admitted


def check_primitives(seeds: range) -> tuple[int, int]:
    """How many primitives are refused, and how many loops that others made are run."""
    refused, ran = 0, 0
    for seed in seeds:
        pick = random.Random(seed)
        case = pick.choice(CONTRACTIONS)
        program = None if seed % 2 else random_nest(seed)
        text = case.text() if program is None else program.text()
        found = [op for op in parse(text).walk() if isinstance(op, GenericOp) and op.inputs]
        if not found:
            continue
        plain = LoopNest.of(found[0])
        if plain.nest.is_empty or not plain.schedule.steps:
            continue
        loops, count = random_loops(pick, plain, 12)
        refused += count
        assert str(loops), "they are shown"
        again = plain.schedule
        for primitive in primitives_of(loops.schedule, plain.nest.loop_dimensions):
            again = primitive.on(again)
        assert again == loops.schedule
        module = lowered_by(text, loops.schedule)
        assert module is not None, "what primitives admit is admitted"
        if program is not None:
            check_nest(program, module)
        else:
            arrays = case.arrays(seed)
            result = arrays[-1].copy()
            MachineCode(module).run("main", [*arrays[:-1], result])
            case.assert_result(arrays, result)
        ran += 1
    return refused, ran


def test_random_primitives() -> None:
    refused, ran = check_primitives(range(30))
    assert refused > 60
    assert ran > 20


@pytest.mark.full
@pytest.mark.parametrize("batch", range(10))
def test_many_random_primitives(batch: int) -> None:
    refused, ran = check_primitives(range(1000 + batch * 200, 1200 + batch * 200))
    assert min(refused, ran) > 150


@pytest.mark.parametrize(
    ("case", "steps", "vector"),
    [
        (Einsum("mk,kn->mn", (150, 70, 5)), (Loop(1, 64), Loop(0), Loop(2)), 1),
        # The memory has two dimensions, and the loop around is over the third one of the sum.
        (
            Einsum("bmk,bkn->bmn", (1, 300, 7, 64)),
            (Loop(3, 32), Loop(1, 2), Loop(2), Loop(3, 32), Loop(1)),
            3,
        ),
    ],
)
def test_long_sums_in_memory_within_tiles_of_a_loop_around(
    case: Einsum, steps: tuple[Loop, ...], vector: int
) -> None:
    """Memory for the rounding of sums has the elements of loops inside: those of a tile have none."""
    module = lowered_by(case.text(), Schedule(steps, vector=vector, lanes=32))
    assert module is not None
    arrays = case.arrays(0)
    # The interpreter ends where memory ends.
    (found,) = lowerings.compile(print_mlir(module), backend="interpreter", level="loops")(
        *arrays[:-1]
    )
    case.assert_result(arrays, found)


NUMBERS = (0, 1, 3, 257, 1 << 63)


def with_other_numbers(schedule: Schedule) -> Iterator[Schedule]:
    """A schedule as a file may have it, each of its numbers in turn another one."""
    text = schedule_text(schedule)
    for number in re.finditer(r"\d+", text):
        for other in NUMBERS:
            own = f"{text[: number.start()]}{other}{text[number.end() :]}"
            file = f'schedules {{ "key" = #schedule.nest<{own}> }}'
            try:
                (entry,) = parse_schedule_file(file).entries
            except MlirSyntaxError:
                continue  # No dimension has so large a number.
            yield entry.schedule


def check_numbers(seeds: range) -> int:
    """How many schedules with another number are admitted and run."""
    admitted = 0
    for seed in seeds:
        pick = random.Random(seed)
        case = CONTRACTIONS[seed % len(CONTRACTIONS)]
        arrays = case.arrays(seed)
        schedule = random_schedule_for(case.text(), pick, case)
        while lowered_by(case.text(), schedule) is None:
            schedule = random_schedule_for(case.text(), pick, case)
        for other in with_other_numbers(schedule):
            module = lowered_by(case.text(), other)
            # One in four is run: the rules are quick, machine code is not.
            if module is not None and other != schedule and pick.random() < 0.25:
                found = arrays[-1].copy()
                MachineCode(module).run("main", [*arrays[:-1], found])
                case.assert_result(arrays, found)
                admitted += 1
    return admitted


def test_any_number_is_refused_or_right() -> None:
    assert check_numbers(range(4)) > 3


@pytest.mark.full
def test_any_number_of_many_schedules() -> None:
    assert check_numbers(range(100, 130)) > 50


def test_random_schedules_of_nests() -> None:
    assert check_nests(range(30)) > 7


def test_random_schedules_of_contractions() -> None:
    assert check_contractions(range(30)) > 7


@pytest.mark.full
@pytest.mark.parametrize("batch", range(20))
def test_many_random_schedules(batch: int) -> None:
    seeds = range(1000 + batch * 100, 1100 + batch * 100)
    assert check_nests(seeds) > 20
    assert check_contractions(seeds) > 20


def test_each_sum_is_compensated_by_what_rounding_made_of_it_alone() -> None:
    """Of two sums, tiles of a loop around add to one with compensation; the other is far smaller."""
    text = """
        func.func @main(%x : memref<1024x4xf32>, %y : memref<1024x4xf32>, %large : memref<4xf32>,
                        %small : memref<4xf32>) attributes {xla.entry} {
          linalg.generic {
              indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>,
                               affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>],
              iterator_types = ["reduction", "parallel"]}
              ins(%x, %y : memref<1024x4xf32>, memref<1024x4xf32>)
              outs(%large, %small : memref<4xf32>, memref<4xf32>) {
          ^bb0(%a : f32, %b : f32, %sum : f32, %other : f32):
            %0 = arith.addf %sum, %a : f32
            %1 = arith.addf %other, %b : f32
            linalg.yield %0, %1 : f32, f32
          }
          func.return
        }"""
    module = lowered_by(text, Schedule((Loop(0, 16), Loop(1, 4), Loop(0)), vector=1, lanes=4))
    assert module is not None
    source = np.random.default_rng(0)
    large, small = source.uniform(1e8, 2e8, (1024, 4)), source.uniform(1, 2, (1024, 4))
    sums = np.zeros((2, 4), np.float32)
    terms = [each.astype(np.float32) for each in (large, small)]
    MachineCode(module).run("main", [*terms, *sums])
    wanted = np.stack([each.sum(0, dtype=np.float64) for each in terms])
    np.testing.assert_allclose(sums, wanted, rtol=1e-6)
