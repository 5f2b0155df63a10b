"""Removal of operations whose results nobody uses."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Block, Operation

from xla_dialect.xdsl.linking import erase


def is_used(op: Operation) -> bool:
    """Whether something uses a result of an operation."""
    for result in op.results:
        if result.first_use is not None:
            return True
    return False


def remove_dead_code(
    block: Block, is_removable: Callable[[Operation], bool], *, in_regions: bool = True
) -> None:
    """
    Removes operations without uses from a block and the regions in it, the last first.

    `is_removable` says of an operation whether it may go when nobody uses its results.
    """
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        if not is_used(op) and is_removable(op):
            erase(op)
        elif in_regions:
            for region in op.regions:
                for inner in region.blocks:
                    remove_dead_code(inner, is_removable)
        op = previous
