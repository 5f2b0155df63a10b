"""`--validate-each` names passes in whose sources a mistake was made."""

import ast
from collections.abc import Iterator
from dataclasses import asdict
from random import Random

import numpy as np
import pytest

from mutation.campaign import FAULTS, Campaign, Worker
from mutation.operators import Mutation, changed, changes, modules, mutations, source_of
from mutation.programs import Program, programs
from mutation.results import difference

EDGES = Program(
    "edges.hlo",
    """HloModule edges

ENTRY e {
  x = f32[37] parameter(0)
  y = f32[37] parameter(1)
  i = s32[5] parameter(2)
  high = f32[37] maximum(x, y)
  less = pred[37] compare(x, high), direction=LT
  zero = s32[] constant(0)
  none = s32[5] broadcast(zero), dimensions={}
  size = s32[5] maximum(i, none)
  d = f32[37] subtract(high, y)
  ROOT r = (f32[37], pred[37], s32[5], f32[37]) tuple(high, less, size, d)
}
""",
    "hlo",
    "test",
)
BINARY = "lowerings.xla_to_linalg.elementwise"
MISTAKES = (
    (BINARY, "arith.MaximumfOp", "arith.MaxnumfOp"),
    (BINARY, "arith.MaxSIOp", "arith.MaxUIOp"),
    (BINARY, "ScalarBuilder.subf", "ScalarBuilder.addf"),
)
"""Modules with what stands there, and what is put in its place."""


FAULTS_AMONG_THEM = 30
"""How many of the mutations of the full test change a result, at least."""


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A process that loads the passes in each child."""
    found = Worker()
    yield found
    found.end()


def mutation_of(module: str, before: str, after: str) -> Mutation:
    """The first that there is."""
    return next(each for each in mutations(module) if (each.before, each.after) == (before, after))


def test_mistakes_in_tables_are_named(worker: Worker) -> None:
    job = {"program": asdict(EDGES)}
    nothing = {**job, "job": "trials", "tried": (), "only": (), "count": 0, "seed": 0}
    digests = worker.run(nothing)["digests"]
    for mistake in MISTAKES:
        mutation = mutation_of(*mistake)
        change = {"change_when_loaded": (mutation.module, mutation.number)}
        outcome = worker.run({**job, **change, "job": "at_ends", "digests": digests})
        found = (outcome["status"], outcome.get("pass"), outcome.get("first"))
        assert found == ("named", "convert-xla-to-linalg", "convert-xla-to-linalg"), mistake


def test_results_that_are_rounded_otherwise_are_no_fault() -> None:
    right, ours = np.array([1, 2, 3], np.float32), np.array([1, 2, 3], np.float32)
    rounded = np.nextafter(right, np.float32(9))
    assert difference([[ours]], [[right]], [[right]])["status"] == "equivalent"
    assert difference([[rounded]], [[right]], [[right]])["status"] == "rounding"
    for wrong in (right[::-1], np.array([1, 2, np.nan], np.float32), right * np.float32(1.001)):
        assert difference([[wrong]], [[right]], [[right]])["status"] == "missed"
    assert difference(["out of bounds"], [[right]], [[right]])["status"] == "missed"


def test_changes_are_of_one_place() -> None:
    text = "def f(a, b):\n    return min(a + 1, b) if a < b else g(a, b)[0]\n"
    found = [ast.unparse(changed(text, n)) for n in range(len(changes(ast.parse(text))))]
    assert len(set(found)) == len(found)
    assert ast.unparse(ast.parse(text)) not in found
    for expected in (
        *("min(a - 1, b)", "min(b, a + 1)", "max(a + 1, b)", "if a <= b", "if not a < b"),
        *("g(b, a)[0]", "g(a, b)[1]", "min(a + 2, b)", "min(a + 0, b)"),
    ):
        assert any(expected in each for each in found), expected


def test_modules_compile_with_their_changes() -> None:
    random = Random(0)
    for module in random.sample(modules(), 8):
        text = source_of(module).read_text(encoding="utf-8")
        count = len(mutations(module))
        for number in random.sample(range(count), min(count, 2)):
            compile(changed(text, number), module, "exec")


@pytest.mark.full
def test_most_mistakes_are_named_by_the_right_pass() -> None:
    campaign = Campaign()
    laid_out = [program for program in programs() if program.origin == "laid-out"]
    outcomes = [outcome for _, outcome in campaign.tried(laid_out, 7)]
    campaign.end()
    assert not campaign.alarms
    faults = [each for each in outcomes if each["status"] in FAULTS]
    assert len(faults) >= FAULTS_AMONG_THEM
    named = [each for each in faults if each["status"] == "named" and each["right"]]
    assert len(named) >= 0.95 * len(faults)
