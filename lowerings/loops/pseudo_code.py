"""Loops as indented text for people: extents, tiles, vectors, and where things lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, prod
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from lowerings.loops.access import Access
from lowerings.loops.constants import element_bits, part_type
from lowerings.loops.loop_tree import InnerLoops, LoopPart, OuterLoop, Scratch


def pseudo_code(parts: Sequence[LoopPart]) -> str:
    """
    What loops do, a line for each loop, each piece of memory, and each body:

        for d1 in 8 in parallel
          scratch0 = 4x512x32xf32 on the stack, 256 KiB
    """
    return "\n".join(_lines(parts, {}, ""))


def _lines(parts: Iterable[LoopPart], names: dict[SSAValue, str], margin: str) -> Iterator[str]:
    for part in parts:
        match part:
            case Scratch():
                name = names[part.memory] = f"scratch{len(names)}"
                yield f"{margin}{name} = {_memory_text(part.memory)}"
            case OuterLoop():
                yield f"{margin}{_loop_text(part.dimension, part.iterations, 1, part.is_parallel)}"
                yield from _lines(part.parts, names, margin + "  ")
            case InnerLoops():
                yield from _inner_lines(part, names, margin)


def _memory_text(memory: SSAValue) -> str:
    type_ = cast("MemRefType[Attribute]", memory.type)
    sizes, element = type_.get_shape(), type_.element_type
    size = prod(sizes) * (element_bits(part_type(element)) or 0) / 8192
    return f"{'x'.join(map(str, (*sizes, element)))} on the stack, {size:.3g} KiB"


def _loop_text(dimension: int, iterations: int, tile: int, is_parallel: bool) -> str:
    by = f" by {tile}" if tile > 1 else ""
    return f"for d{dimension} in {iterations}{by}{' in parallel' if is_parallel else ''}"


def _inner_lines(inner: InnerLoops, names: dict[SSAValue, str], margin: str) -> Iterator[str]:
    nest, order = inner.nest, inner.order
    at_once: list[str] = []
    for level, loop in enumerate(order.loops):
        for own in inner.in_memory.values():
            if own.level == level:
                yield from _lines(own.parts[:1], names, margin)
        extent, blocks = nest.extents[loop.dimension], inner.blocks
        if loop.tile < extent:
            text = _loop_text(loop.dimension, extent, loop.tile, loop.is_parallel)
            if blocks is not None and blocks.level == level:
                text += f" in blocks of {blocks.size}"
            yield margin + text
            margin += "  "
        unrolled = min(loop.tile, extent)
        if loop.dimension == order.vector:
            lanes = min(order.lanes, extent)
            count = ceil(unrolled / lanes)
            vectors = "a vector" if count == 1 else f"{count} vectors"
            at_once.append(f"{vectors} of {lanes} along d{loop.dimension}")
        elif unrolled > 1:
            turned = " transposed" if loop.dimension == order.transposed else ""
            at_once.append(f"{unrolled} of d{loop.dimension}{turned}")

    def name(access: Access) -> str:
        hint = access.memref.name_hint
        number = list(nest.op.operands).index(access.memref) if access.memref not in names else 0
        return names.get(access.memref) or (f"%{hint}" if hint else f"operand {number}")

    def listed(accesses: Iterable[Access]) -> str:
        return ", ".join(dict.fromkeys(map(name, accesses)))

    read = listed(each for each in nest.inputs if isinstance(each, Access))
    is_sum = any(value in inner.nest.folded for value in inner.nest.accumulators)
    line = f"{listed(nest.outputs)} {'+=' if is_sum else '='} {read or 'a scalar'}"
    yield f"{margin}{line}{': ' if at_once else ''}{', '.join(at_once)}"
