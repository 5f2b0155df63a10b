"""Lanes and tiles no larger than the dimensions they divide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from lowerings.schedules.schedule import Loop, LoopOrder, Pack, Schedule, Step


def fitted(schedule: Schedule, extents: Sequence[int]) -> Schedule:
    """A schedule whose vectors have at most as many lanes as there are iterations to fill them."""
    room = list(extents)
    lanes, vector = schedule.lanes, schedule.vector
    steps: list[Step] = []
    for step in schedule.steps:
        if isinstance(step, Pack):
            steps.append(replace(step, copy=_fitted_order(step.copy, room)))
            continue
        own = step
        if vector is not None and step.dimension == vector:
            lanes = min(schedule.lanes, room[vector])
            own = _fitted_loop(step, lanes, room)
        steps.append(own)
        if own.tile != 1:
            room[own.dimension] = own.tile
    return replace(schedule, steps=tuple(steps), lanes=lanes)


def _fitted_order(order: LoopOrder, extents: Sequence[int]) -> LoopOrder:
    if order.vector is None:
        return order
    lanes = min(order.lanes, extents[order.vector])
    loops = (
        _fitted_loop(loop, lanes, extents) if loop.dimension == order.vector else loop
        for loop in order.loops
    )
    return replace(order, loops=tuple(loops), lanes=lanes)


def _fitted_loop(loop: Loop, lanes: int, extents: Sequence[int]) -> Loop:
    whole = ceil(extents[loop.dimension] / lanes) * lanes
    return replace(loop, tile=min(loop.tile, whole))
