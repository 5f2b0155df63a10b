"""Schedules made by calls in Python: their text, what they refuse, and operations they are given to."""

from collections.abc import Callable
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
import pytest
from loops_level import run
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.printer import Printer
from xdsl.utils.exceptions import PassFailedException

from lowerings.dialects.schedule import Schedule, ScheduleAttr, ScheduleError, schedule_of
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.nest import nest_of
from lowerings.scheduling.apply import apply, matching
from lowerings.scheduling.primitives import LoopNest
from xla_dialect.mlir_text import print_mlir
from xla_dialect.xdsl.text import MlirParser

PLAIN = Schedule.plain(3)
VECTORS = PLAIN.vectorize(1, 8)
COPY = Schedule.over(2, 1).vectorize(1, 8)
PRODUCT = """
    ENTRY main {
      a = f32[21,37] parameter(0)
      b = f32[37,70] parameter(1)
      d = f32[21,70] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT e = f32[21,70] negate(d)
    }
"""
CONTRACTION = matching(iterators=("parallel", "parallel", "reduction"))


def text_of(schedule: Schedule) -> str:
    printer = Printer(output := StringIO())
    printer.print_attribute(ScheduleAttr(schedule))
    return output.getvalue().removeprefix("#schedule.nest<").removesuffix(">")


def buffers() -> ModuleOp:
    module = parse_program(PRODUCT)
    PassManager(make_context()).run(module, parse_passes("native{to=buffers}"))
    return module


@pytest.mark.parametrize(
    ("schedule", "text"),
    [
        (PLAIN, "loops = [d0, d1, d2]"),
        (PLAIN.interchange(2, 0, 1), "loops = [d2, d0, d1]"),
        (PLAIN.tile(1, 64).tile(0, 4), "loops = [d1 by 64, d0 by 4, d0, d1, d2]"),
        (PLAIN.tile(1, 64).tile(1, 16), "loops = [d1 by 64, d1 by 16, d0, d1, d2]"),
        (PLAIN.tile(1, 64).interchange(1, 2, 0), "loops = [d1 by 64, d1, d2, d0]"),
        (PLAIN.unroll(0, 2).unroll(0, 3), "loops = [d0 by 6, d1, d2]"),
        (PLAIN.tile(1, 64).parallel(1), "loops = [d1 by 64 parallel, d0, d1, d2]"),
        (VECTORS, "loops = [d0, d1 by 8, d2], vector = d1 x 8"),
        (VECTORS.unroll(1, 4), "loops = [d0, d1 by 32, d2], vector = d1 x 8"),
        (PLAIN.unroll(1, 4).vectorize(1, 8), "loops = [d0, d1 by 32, d2], vector = d1 x 8"),
        (VECTORS.tile(1, 8), "loops = [d1 by 8, d0, d1 by 8, d2], vector = d1 x 8"),
        (
            VECTORS.transpose(0),
            "loops = [d0 by 8, d1 by 8, d2], vector = d1 x 8, transpose = d0",
        ),
        (PLAIN.collapse(0, 1), "collapse = [[d0, d1]], loops = [d1, d2]"),
        (
            PLAIN.pair(2, Schedule.plain(2)),
            "pairs = d2, loops = [d0, d1, d2], odd = {loops = [d0, d1]}",
        ),
        (PLAIN.fold_fills(0, 2), "loops = [d0, d1, d2], fold_fills = [0, 2]"),
        (
            VECTORS.tile(2, 16).pack("rhs", COPY).tile(1, 32),
            "loops = [d2 by 16, pack rhs {loops = [d2, d1 by 8], vector = d1 x 8}, d1 by 32, "
            "d0, d1 by 8, d2], vector = d1 x 8",
        ),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_calls_and_their_text(schedule: Schedule, text: str) -> None:
    assert text_of(schedule) == text
    parsed = MlirParser(make_context(), f"#schedule.nest<{text}>").parse_attribute()
    assert parsed == ScheduleAttr(schedule)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PLAIN.interchange(0, 1), r"\(SR1\) .* are over d0, d1, d2"),
        (lambda: PLAIN.interchange(0, 1, 1), r"\(SR1\) .* are over d0, d1, d2"),
        (lambda: PLAIN.unroll(7, 2), r"\(SR1\) no loop over d7"),
        (lambda: VECTORS.vectorize(0, 4), r"\(SR4\) vectors lie along d1 already"),
        (lambda: PLAIN.parallel(4), r"\(SR1\) no loop over d4"),
        (lambda: PLAIN.tile(0, 4).parallel(0, 2), r"\(SR1\) 2 loops over d0; none is number 2"),
        (lambda: PLAIN.pack("out", COPY), "out"),
        (lambda: PLAIN.pack("rhs", COPY.fold_fills(0)), r"\(SR9\) a copy has loops"),
        (lambda: PLAIN.pack("rhs", COPY, 4), r"\(SR9\) a copy inside of 4 of 3 loops"),
        (lambda: PLAIN.pair(2, at_once=3), r"\(SR10\) terms are taken 2 or 4 at a time, not 3"),
    ],
    ids=range(10),
)
def test_what_no_schedule_says(call: Callable[[], Schedule], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("schedule", "primitive", "message"),
    [
        (PLAIN, ("tile", 3, 4), r"\(SR1\) no loop over d3"),
        (PLAIN, ("tile", 1, 1), r"\(SR2\) d1 is tiled again, but has one"),
        (PLAIN.tile(1, 8), ("tile", 1, 9), r"\(SR2\) d1 is tiled by 9, allowed: 1 to 8"),
        (PLAIN, ("unroll", 0, 0), r"\(SR2\) d0 is tiled by 0, allowed: 1 to 21"),
        (PLAIN, ("vectorize", 1, 0), r"\(SR2\) d1 by 0|\(SR8\) vectors of 0 lanes"),
        (PLAIN, ("vectorize", 1, 257), r"\(SR8\) vectors of 257 lanes"),
        (PLAIN, ("transpose", 0), r"\(SR5\)"),
        (VECTORS, ("transpose", 1), r"\(SR5\)"),
        (PLAIN.parallel(0), ("parallel", 1), r"\(SR6\) 2 parallel loops"),
        (VECTORS.pack("rhs", COPY), ("pack", "lhs", COPY), r"\(SR9\) a second copy"),
        (PLAIN, ("collapse", 0, 0), r"\(SR1\) d0 is collapsed twice"),
        (PLAIN, ("collapse", 0, 3), r"\(SR1\) d3 is no dimension of 3"),
        (PLAIN, ("collapse",), r"\(SR1\) an empty group"),
        (PLAIN, ("pair", 3), r"\(SR10\) d3 is not summed"),
        (Schedule.over(1, 1), ("tile", 1, 4), r"\(SR1\) no loop over d0, d2"),
    ],
    ids=range(15),
)
def test_what_loops_refuse(schedule: Schedule, primitive: tuple[Any, ...], message: str) -> None:
    loops = LoopNest(nest_of(contraction()), schedule)
    with pytest.raises(ScheduleError, match=message):
        loops.after(*primitive)


@cache
def contraction() -> Operation:
    (op,) = apply(buffers(), CONTRACTION, PLAIN)
    return op


def test_calls_leave_a_schedule_as_it_is() -> None:
    before = text_of(PLAIN)
    PLAIN.tile(0, 4).vectorize(1, 8).unroll(0, 2)
    assert text_of(PLAIN) == before


@pytest.mark.parametrize(
    "schedule",
    [
        PLAIN,
        PLAIN.interchange(2, 0, 1),
        PLAIN.tile(1, 32).tile(0, 8).vectorize(1, 8).unroll(0, 4).fold_fills(0),
        PLAIN.tile(1, 32).pack("rhs", COPY.unroll(1, 2)).interchange(1, 0, 2).vectorize(1, 16),
    ],
    ids=lambda case: text_of(case) if isinstance(case, Schedule) else str(case),
)
def test_programs_with_given_schedules(schedule: Schedule) -> None:
    module = buffers()
    (op,) = apply(module, CONTRACTION, schedule)
    assert schedule_of(op) == schedule
    random = np.random.default_rng(3)
    # Small integers: sums are exact in every order.
    a, b = (random.integers(-8, 8, s).astype(np.float32) for s in ((21, 37), (37, 70)))
    rest = "xla-plan-schedules,convert-linalg-to-vector-loops,expand-small-floats,expand-math"
    PassManager(make_context()).run(module, parse_passes(rest))
    (result,) = run(print_mlir(module), (a, b), ["f32[21,70]"])
    np.testing.assert_array_equal(result, -(a @ b))


def test_functions_of_extents() -> None:
    module, seen = buffers(), list[tuple[int, ...]]()

    def schedule(extents: tuple[int, ...]) -> Schedule | None:
        seen.append(extents)
        return Schedule.plain(2).vectorize(1, 4) if len(extents) == 2 else None

    scheduled = apply(module, lambda op: True, schedule)
    assert (21, 70, 37) in seen
    assert scheduled
    assert all(text_of(s).endswith("vector = d1 x 4") for s in map(schedule_of, scheduled) if s)


def test_what_matches() -> None:
    module = buffers()
    assert not apply(module, matching("linalg.matmul"), PLAIN)
    (op,) = apply(module, CONTRACTION, PLAIN)
    op.attributes["label"] = StringAttr("product")
    assert apply(module, matching(attributes={"label": StringAttr("product")}), PLAIN) == [op]
    assert not apply(module, matching(attributes={"label": StringAttr("sum")}), PLAIN)
    parent = op.parent_op()
    assert parent is not None
    kernel = parent.properties["sym_name"]
    assert isinstance(kernel, StringAttr)
    assert op in apply(
        module,
        matching(
            "linalg.generic", function=kernel.data, iterators=["parallel"] * 2 + ["reduction"]
        ),
        PLAIN,
    )
    assert not apply(module, matching("linalg.generic", function="other"), PLAIN)


@pytest.mark.parametrize(
    ("schedule", "rule"),
    [
        (Schedule.plain(2), "SR1"),
        (PLAIN.unroll(1, 2000), "SR2"),
        (PLAIN.tile(1, 32).unroll(0, 2).tile(0, 4).unroll(1, 2).tile(2, 8), None),
        (PLAIN.unroll(0, 21).unroll(1, 70), "SR8"),
        (PLAIN.parallel(2), "SR6"),
    ],
    ids=lambda case: text_of(case) if isinstance(case, Schedule) else str(case),
)
def test_what_an_operation_does_not_admit(
    schedule: Schedule, rule: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names the place, the operation and the rule, before any pass runs: no loop is written."""

    def add(self: LoopBuilder, op: Operation) -> Operation:
        raise AssertionError(f"{op.name} is written")

    monkeypatch.setattr(LoopBuilder, "add", add)
    if rule is None:
        apply(buffers(), CONTRACTION, schedule)
        return
    with pytest.raises(PassFailedException, match=rf"^<input>:5:\d+: linalg.generic: .*{rule}"):
        apply(buffers(), CONTRACTION, schedule)
