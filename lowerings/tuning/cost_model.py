"""
The cost of a schedule as the planner estimates it: vector instructions, by the tile of registers.

It ranks candidates before they are compiled, and knows nothing of caches but that long strides miss
them.
"""

from __future__ import annotations

from math import ceil, prod

from lowerings.dialects.schedule import Schedule
from lowerings.loops.body import Body
from lowerings.loops.constants import element_bits
from lowerings.loops.memory import lane_stride
from lowerings.loops.nest import Access, Nest
from lowerings.scheduling.lanes import ACCESS_COST, STRIDED_LANE_COST, body_cost, bytes_of
from lowerings.tuning.space import TuningProblem

LOOP_COST = 1.5
"""Of one iteration of a loop: its counter, the branch, what the compiler cannot overlap."""
LATENCY_COST = 8.0
"""What a running value waits for its last term; two vector instructions start a cycle."""
SPILL_COST = 2.0
"""Of a running value beyond the registers, stored and loaded each time."""
FAR_COST = 3.0
"""Of a vector that the innermost loop finds on another page each time."""
PAGE_BYTES = 4096
PACKED_BYTE_COST = 0.05


def estimated(problem: TuningProblem, schedule: Schedule) -> float:
    """The estimated vector instructions that a schedule takes."""
    nest, body = problem.view(schedule)
    tile = dict.fromkeys(range(len(nest.extents)), 1)
    tile.update(
        {loop.dimension: min(loop.tile, nest.extents[loop.dimension]) for loop in schedule.loops}
    )
    vectors = dict(tile)
    if schedule.vector is not None:
        vectors[schedule.vector] = ceil(tile[schedule.vector] / schedule.lanes)
    trips = {d: ceil(n / tile[d]) for d, n in enumerate(nest.extents)}
    loops = [loop.dimension for loop in schedule.loops]
    inner = [d for i, d in enumerate(loops) if d not in loops[i + 1 :]]
    cost = prod(vectors.values()) * body_cost(body) + LOOP_COST
    for access in nest.accesses:
        cost += _access_cost(nest, schedule, access, vectors, trips, inner)
    cost += _waiting(nest, body, schedule, vectors, inner, problem.vector_bits)
    packed = sum(bytes_of(nest, each) for each in nest.accesses[:1]) if any(schedule.packs) else 0
    return cost * prod(trips.values()) + PACKED_BYTE_COST * packed


def _access_cost(
    nest: Nest,
    schedule: Schedule,
    access: Access,
    vectors: dict[int, int],
    trips: dict[int, int],
    inner: list[int],
) -> float:
    """Of what a tile reads or writes, where it is not kept from one to the next."""
    vector = schedule.vector
    moved = prod(n for d, n in vectors.items() if access.reaches(d))
    if vector is None:
        each = 1.0
    else:
        stride = lane_stride(access, vector)
        is_turned = schedule.transposed is not None or any(schedule.packs)
        strided = 6.0 if is_turned else STRIDED_LANE_COST * schedule.lanes
        each = strided if stride is None else ACCESS_COST.get(stride, strided)
    kept = 1
    for d in reversed(inner):
        if access.reaches(d):
            if access.strides is not None and trips[d] > 1 and not any(schedule.packs):
                bits = element_bits(access.type.element_type) or 64
                if abs(access.strides[d]) * bits // 8 >= PAGE_BYTES:
                    each += FAR_COST
            break
        kept *= trips[d]
    return moved * each / kept


def _waiting(
    nest: Nest,
    body: Body,
    schedule: Schedule,
    vectors: dict[int, int],
    inner: list[int],
    vector_bits: int,
) -> float:
    """What running values cost by waiting for each other, and by being too many."""
    if not inner or not nest.is_reduction[inner[-1]]:
        return 0.0
    running = prod(
        n for d, n in vectors.items() if not nest.is_reduction[d] or d == schedule.vector
    )
    registers = 28 if vector_bits >= 512 else 13
    work = prod(vectors.values()) * max(1.0, body_cost(body) - 1)
    waiting = max(0.0, LATENCY_COST * prod(vectors.values()) / max(running, 1) - work)
    return waiting + SPILL_COST * max(0, running - registers)
