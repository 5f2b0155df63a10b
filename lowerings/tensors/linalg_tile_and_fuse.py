"""The pass `linalg-tile-and-fuse`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations
from math import ceil, prod
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, ModuleOp, TensorType
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from lowerings.bufferize.strided import static_bytes
from lowerings.bufferize.tensor_operands import is_tensor
from lowerings.dialects.schedule import schedule_of
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.dead_code import remove_dead_code
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.rewriting.passes import ReportingPass, ResultDifference
from lowerings.tensors.indices import Indices, index_of, loops_of
from lowerings.tensors.indices import constant as constant_index
from lowerings.tensors.purity import is_pure
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX
from lowerings.xla_to_linalg.structured import (
    array_type,
    constant,
    counted_loop,
    empty,
    extract_slice,
    fill_into,
    insert_slice,
    pointwise,
    projection,
    shared_loop,
)
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import free_values, operations_in, outs_of, tensor_shape

Dimension = tuple[Operation | SSAValue, int]
"""A loop of an operation, or a dimension of a tensor."""

MOST_PARTS = 8
"""In how many parts the outermost loop is divided at most: each has tiles of its own."""

LEAST_IMAGES = 2
"""How many images a part has at least, whose tiles are in the same memory: it is in the cache."""

EVEN = 16
"""What tiles are a multiple of where they do not divide a dimension: the widest vector of f32."""

LONGEST = 256
"""How far apart in the block, in operations, a chain may begin and end."""

NEAR_BYTES = 1 << 22
"""What stays in the last cache from tile to tile."""
NEAR_COST = 4
"""How often it is read from there in the time that memory takes."""

WINDOW_WEIGHT = 2
"""How many bytes one counts for that windows cover: there is little to compute with each."""

BYTES_PER_NANOSECOND = 10
"""What one thread writes of results, at most."""


@dataclass(frozen=True)
class LinalgTileAndFusePass(ReportingPass):
    """
    Computes chains of operations that hand each other large tensors tile by tile.

    What one operation writes the next one reads while it is in the cache, and only a tile of it is
    ever in memory. A chain is tiled along the dimensions that all of its operations share, the
    outer ones first: heads and rows of attention's scores, for example. The outermost loop is
    parallel, so none of the operations may reduce along it; along the others they may, if only
    what is outside of the chain uses the result.

    Where no tile divides a dimension well, the rest is a shorter tile behind the loop.

    If a product reads an operand again for each tile, the tiled dimension lies last in tensors
    between operations, so that the operand is read as it lies in memory: 4096 keys for 128 rows of
    scores are `4096 x 128`. What other operations read from outside is transposed for each tile.

    It is done where what the tiles keep out of memory is more than what they read again: an
    operand that does not have the innermost tiled dimension is read for each tile.

    What windows slide over is tiled along its other dimensions: a padded image is made, and then
    the windows of it. Not where several results come of one window, as in most convolutions: they
    are many more products than numbers, and would pack their weights for each image.

    ```
    %s = linalg.generic {(h, q, k, d) -> ..} ins(%a, %b) outs(..) { mulf, addf }  // contraction
    %m = linalg.generic {(h, q, k) -> (h, q)} ins(%s) outs(..) { maximumf }
    %e = linalg.generic {(h, q, k) -> ..} ins(%s, %m) outs(..) { subf, exp }
    %o = linalg.generic {(h, q, d, k) -> ..} ins(%e, %v) outs(..) { mulf, addf }
    // becomes
    %o = scf.for %h = .. iter_args(%r = ..) {
      scf.for %q = .. {
        // the same on slices, 128 rows of one head at a time
        tensor.insert_slice .. into %r
      }
    }
    ```
    """

    name = "linalg-tile-and-fuse"
    takes = ON_TENSORS
    difference = ResultDifference(4096, "what tiles have summed is summed in their order")

    least_bytes: int = 1 << 23
    """Tensors of fewer bytes are not worth it: they stay in the cache anyway."""
    tile_bytes: int = 1 << 20
    """The most bytes of one tensor in a tile: about those of a second-level cache."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through every block from the outside in."""
        changed = False
        for block in _blocks(op.body.block):
            chains = _Chains(list(block.ops), self.least_bytes, self.tile_bytes)
            tilings = list(chains.tilings())
            for tiling in tilings:
                builder = ConversionBuilder(op, tiling.members[-1])
                attempt(_Emission(tiling, builder).emit)
            if tilings:
                remove_dead_code(block, is_pure, in_regions=False)
                changed = True
        return changed


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for op in list(block.ops):
        if type(op) not in (GenericOp, FillOp):
            for region in op.regions:
                for inner in region.blocks:
                    yield from _blocks(inner)


def _bytes(value: SSAValue) -> int:
    """Those of a tensor; 0 where they are not known, and for what is none."""
    return static_bytes(value.type) if is_tensor(value) else 0


@dataclass(frozen=True)
class _TileLoop:
    """A loop over tiles along one shared dimension."""

    size: int
    """Of the dimension."""
    step: int
    """Of a tile."""

    @property
    def tiles(self) -> int:
        """How many there are, with a shorter one for the rest."""
        return ceil(self.size / self.step)


@dataclass(eq=False)
class _Tiling:
    """A chain, and how it is cut."""

    members: list[GenericOp]
    """In the order of the block."""
    loops: dict[Dimension, _TileLoop]
    """By shared dimension, the outermost first."""
    shared: _SharedDimensions

    @cached_property
    def columns(self) -> Dimension | None:
        """
        The dimension that lies last in each tile: the innermost tiled one, if a product reads
        an operand again for every tile whose numbers lie along the sum.

        It then has the rows, whose numbers are read one by one. Columns would be copied for each
        tile, so that vectors of them can be loaded.
        """
        columns, loop = list(self.loops.items())[-1]
        lies_along_sum = any(
            op.iterator_types.data[factor[-1][0]].data is IteratorType.REDUCTION
            for op in self.members
            for factor in _factors_read_again(op, self.shared, columns)
            if factor[-1][0] is not None
        )
        return columns if lies_along_sum and loop.step >= EVEN else None

    @cached_property
    def gain(self) -> int:
        """Bytes that are not written or read, less those that are read again."""
        names = set(self.members)
        gain = 0
        for op in self.members:
            for result in op.results:
                users = [use.operation for use in result.uses]
                inside = sum(user in names for user in users)
                if inside:
                    gain += _bytes(result) * (inside + (inside == len(users)))
            for value, indices in zip(op.inputs, _maps(op), strict=False):
                if value.owner in names:
                    continue
                tiles = {self.shared.loop_in(op, d): loop.tiles for d, loop in self.loops.items()}
                own = prod(tiles.pop(loop, 1) for loop in loops_of(indices))
                again = _bytes(value) * (prod(tiles.values()) - 1)
                # Otherwise it may be copied for each tile.
                is_near = self.columns is not None and _bytes(value) // own <= NEAR_BYTES
                gain -= again // NEAR_COST if is_near else again
        return gain

    @property
    def is_worth_memory(self) -> bool:
        """
        Whether more goes than stays for others, which cannot be where a dead operand was; that of
        windows never is.
        """
        names = set(self.members)
        kept = gone = 0
        for result in (result for op in self.members for result in op.results):
            if any(use.operation not in names for use in result.uses):
                kept += 0 if _windows(cast(GenericOp, result.owner)) else _bytes(result)
            else:
                gone += _bytes(result)
        return gone > 2 * kept


class _SharedDimensions:
    """Which loops of a chain's operations and dimensions of what they hand on are the same."""

    def __init__(self, members: Sequence[GenericOp]):
        self._parent: dict[Dimension, Dimension] = {}
        internal = {result for op in members for result in op.results}
        for op in members:
            for value, indices in _accesses(op):
                if value in internal:
                    for dimension, (loop, scale, offset) in enumerate(indices):
                        if loop is not None and (scale, offset) == (1, 0):
                            self._parent[self.of(op, loop)] = self.of(value, dimension)

    def of(self, place: Operation | SSAValue, number: int) -> Dimension:
        """The dimension that stands for all that are the same as this one."""
        found = place, number
        while (parent := self._parent.get(found, found)) != found:
            found = parent
        return found

    def loop_in(self, op: GenericOp, dimension: Dimension) -> int | None:
        """The loop of an operation along a dimension; None if there is none, or several."""
        found = [n for n in range(len(op.iterator_types)) if self.of(op, n) == dimension]
        return found[0] if len(found) == 1 else None


def _accesses(op: GenericOp) -> Iterator[tuple[SSAValue, Indices]]:
    """Operands and results, with where they are read or written."""
    maps = _maps(op)
    yield from zip(op.operands, maps, strict=True)
    yield from zip(op.results, maps[len(op.inputs) :], strict=True)


class _Chains:
    """The chains of a block that are worth tiling."""

    def __init__(self, ops: Sequence[Operation], least_bytes: int, tile_bytes: int):
        self.ops = ops
        self.positions = {op: position for position, op in enumerate(ops)}
        self.least_bytes, self.tile_bytes = least_bytes, tile_bytes
        self._reads: dict[Operation, Sequence[SSAValue]] = {}
        self._candidates: dict[Operation, bool] = {}

    def tilings(self) -> Iterator[_Tiling]:
        """Chains that grow from the largest tensors on, as long as they gain."""
        large = [each for op in self.ops for each in op.results if self._is_large(each)]
        taken: set[Operation] = set()
        for seed in sorted(large, key=_bytes, reverse=True):
            if seed.owner in taken:
                continue
            best: _Tiling | None = None
            waiting = [seed]
            seen: set[SSAValue] = set()
            while waiting:
                value = waiting.pop(0)
                if value in seen:
                    continue
                seen.add(value)
                before = best.members if best else []
                grown = self._tiling({*before, *self._around(value)})
                if grown is None or taken.intersection(grown.members):
                    continue
                if best is None or grown.gain > best.gain:
                    best = grown
                    waiting += [
                        each
                        for op in best.members
                        for each in (*op.inputs, *op.results)
                        if self._is_large(each)
                    ]
            if best is not None and best.gain > 0 and best.is_worth_memory:
                taken.update(best.members)
                yield best

    def _is_candidate(self, op: object) -> bool:
        if not isinstance(op, GenericOp) or op not in self.positions:
            return False
        found = self._candidates.get(op)
        if found is None:
            found = self._candidates[op] = (
                schedule_of(op) is None
                and bool(op.results)
                and _has_result_for_each_window(op)
                and all(_bytes(value) for value in op.operands)
            )
        return found

    def _is_large(self, value: SSAValue) -> bool:
        users = [use.operation for use in value.uses if self._is_candidate(use.operation)]
        weight = WINDOW_WEIGHT if any(map(_windows, cast("list[GenericOp]", users))) else 1
        return (
            bool(users)
            and weight * _bytes(value) >= self.least_bytes
            and self._is_candidate(value.owner)
        )

    def _around(self, value: SSAValue) -> set[Operation]:
        """What makes a tensor, and what uses it."""
        found = {value.owner, *(use.operation for use in value.uses)}
        return {cast(Operation, op) for op in found if self._is_candidate(op)}

    def _tiling(self, wanted: set[Operation]) -> _Tiling | None:
        """How operations, and those between them, are tiled; None if they cannot be."""
        members = self._closed(wanted)
        if members is None:
            return None
        shared = _SharedDimensions(members)
        names = set(members)
        internal = [
            result
            for op in members
            for result in op.results
            if any(use.operation in names for use in result.uses)
        ]
        largest = max(internal, key=_bytes, default=None)
        if largest is None:
            return None
        loops = self._loops(members, shared, largest)
        if loops is None:
            return None
        return _Tiling(members, loops, shared)

    def _closed(self, wanted: set[Operation]) -> list[GenericOp] | None:
        """Operations with those between them in the order of the block; None if one may not be."""
        positions = [self.positions[op] for op in wanted]
        first, last = min(positions), max(positions)
        if last - first > LONGEST:
            return None
        between = self.ops[first : last + 1]
        behind: set[Operation] = set()
        for op in between:
            if op in wanted or any(value.owner in behind for value in self._read(op)):
                behind.add(op)
        before: set[Operation] = set()
        for op in reversed(between):
            if op in wanted or any(
                use.operation in before for result in op.results for use in result.uses
            ):
                before.add(op)
        found = [op for op in between if op in wanted or (op in behind and op in before)]
        if not all(self._is_candidate(op) for op in found):
            return None
        made = {result for op in found for result in op.results}
        chain = cast("list[GenericOp]", found)
        whole = {value for op in chain for value in (*free_values(op.body), *outs_of(op))}
        moved = [op for op in between if op in behind and op not in before]
        if made & whole or not all(map(is_pure, moved)):
            return None
        return chain

    def _read(self, op: Operation) -> Sequence[SSAValue]:
        """What an operation, or one in its regions, uses."""
        found = self._reads.get(op)
        if found is None:
            found = self._reads[op] = free_values(op)
        return found

    def _loops(
        self, members: Sequence[GenericOp], shared: _SharedDimensions, largest: SSAValue
    ) -> dict[Dimension, _TileLoop] | None:
        """Loops that cut the largest tensor to the size of a tile."""
        sizes = tensor_shape(largest)
        dimensions = [shared.of(largest, d) for d in range(len(sizes) - 1)]
        usable = {
            dimension: reduces
            for dimension in dimensions
            if (reduces := _reduces_along(members, shared, dimension)) is not None
        }
        order = sorted(usable, key=lambda dimension: usable[dimension])
        rest = _bytes(largest)
        # Rows of a product are several; images that windows slide over are large.
        least = 1 if any(map(_windows, members)) else EVEN
        loops: dict[Dimension, _TileLoop] = {}
        for dimension in order:
            size = sizes[dimensions.index(dimension)]
            if size == 1:
                continue
            if rest <= self.tile_bytes:
                break
            one = rest // size
            most = min(size, max(self.tile_bytes // one, least if dimension == order[-1] else 1))
            whole = [n for n in range(1, most + 1) if size % n == 0 and 2 * n >= most]
            step = max(whole, key=lambda n: (n % EVEN == 0, n), default=most - most % EVEN or most)
            loops[dimension] = _TileLoop(size, step)
            rest = one * step
        if rest > EVEN * self.tile_bytes or not loops or usable[next(iter(loops))]:
            return None
        return loops


def _reduces_along(
    members: Sequence[GenericOp], shared: _SharedDimensions, dimension: Dimension
) -> bool | None:
    """Whether one of the operations reduces along a dimension; None if it cannot be tiled."""
    reduces = False
    names = set(members)
    for op in members:
        loop = shared.loop_in(op, dimension)
        if loop is None or loop in _windows(op):
            return None
        for value, indices in _accesses(op):
            # What is handed on has only the tile's part of this dimension.
            along = [
                index
                for number, index in enumerate(indices)
                if index[0] == loop or shared.of(value, number) == dimension
            ]
            if len(along) > 1 or any(index != (loop, 1, 0) for index in along):
                return None
        if op.iterator_types.data[loop].data is IteratorType.REDUCTION:
            reduces = True
            if any(use.operation in names for result in op.results for use in result.uses):
                return None
    return reduces


def _factors_read_again(
    op: GenericOp, shared: _SharedDimensions, dimension: Dimension
) -> Iterator[Indices]:
    """What each tile along a dimension is multiplied with rows or columns of: where it is read."""
    summed = {n for n, kind in enumerate(op.iterator_types) if kind.data is IteratorType.REDUCTION}
    tiled = shared.loop_in(op, dimension)
    for tile, factor in permutations(_maps(op)[: len(op.inputs)], 2):
        own, others = loops_of(factor), loops_of(tile)
        if tiled in others - own and own & others & summed and own - others - summed:
            yield factor


def _maps(op: GenericOp) -> list[Indices]:
    """Where operands are; without a loop where a window slides."""
    return [_indices(map_.data) for map_ in op.indexing_maps.data]


@lru_cache(4096)
def _indices(map_: AffineMap) -> Indices:
    return tuple(index_of(expression) or constant_index(0) for expression in map_.results)


def _windows(op: GenericOp) -> set[int]:
    """The loops along which windows slide, and those over what they cover."""
    return {loop for map_ in op.indexing_maps.data for loop in _window_loops(map_.data)}


@lru_cache(4096)
def _window_loops(map_: AffineMap) -> frozenset[int]:
    windows = (each for each in map_.results if index_of(each) is None)
    return frozenset(loop for each in windows for loop in each.used_dims())


def _has_result_for_each_window(op: GenericOp) -> bool:
    """Whether what a window covers is for one result, where there are windows."""
    kept = {n for n, kind in enumerate(op.iterator_types) if kind.data is IteratorType.PARALLEL}
    maps = [map_.data for map_ in op.indexing_maps.data]
    return all(
        not (loops := _window_loops(map_)) or kept <= loops | loops_of(_indices(map_))
        for map_ in maps
    )


_Ranges: TypeAlias = Mapping[Dimension, tuple[SSAValue, int]]
"""The offset and the size of a tile along each dimension whose loop has been entered."""


@dataclass(eq=False)
class _Emission:
    """Puts the loops of a chain in the place of its operations."""

    tiling: _Tiling
    builder: ConversionBuilder
    """Inserts before the last of them."""

    def emit(self) -> None:
        members = self.tiling.members
        names = set(members)
        results: dict[SSAValue, SSAValue] = {
            result: self._initial(op, outs_of(op)[number], number)
            for op in members
            for number, result in enumerate(op.results)
            if any(use.operation not in names for use in result.uses)
        }
        self._move_users(names)
        loops = list(self.tiling.loops.items())
        found = self._loops(self.builder, loops, {}, results)
        for result, value in zip(results, found, strict=True):
            replace_uses(result, value)
        for op in reversed(members):
            erase(op)

    def _initial(self, op: GenericOp, init: SSAValue, number: int) -> SSAValue:
        """What the loops begin with for a result: nothing, where each tile fills its part."""
        tiled = self._tiled_in(op, _maps(op)[len(op.inputs) + number])
        if isinstance(init.owner, FillOp) and len(tiled) == len(self.tiling.loops):
            return empty(self.builder, array_type(init))
        return init

    def _move_users(self, names: set[GenericOp]) -> None:
        """Operations before the last of the chain that use its results come behind it."""
        first, *_, last = self.tiling.members
        behind: set[Operation] = set(names)
        anchor: Operation = last
        op = first.next_op
        while op is not None and op is not last:
            following = op.next_op
            if op not in behind and any(value.owner in behind for value in free_values(op)):
                behind.add(op)
                op.detach()
                cast(Block, last.parent).insert_op_after(op, anchor)
                anchor = op
            op = following

    def _loops(
        self,
        builder: ConversionBuilder,
        loops: Sequence[tuple[Dimension, _TileLoop]],
        ranges: _Ranges,
        results: Mapping[SSAValue, SSAValue],
    ) -> Sequence[SSAValue]:
        """The loops from one on, around the tile; the values of results behind them."""
        if not loops:
            return self._tile(builder, ranges, results)
        (dimension, loop), *inner_loops = loops

        def along(
            inner: ConversionBuilder, offset: SSAValue, size: int, carried: Sequence[SSAValue]
        ) -> Sequence[SSAValue]:
            entered = {**ranges, dimension: (offset, size)}
            return self._loops(
                inner, inner_loops, entered, dict(zip(results, carried, strict=True))
            )

        def body(
            inner: ConversionBuilder, offset: SSAValue, carried: Sequence[SSAValue]
        ) -> Sequence[SSAValue]:
            return along(inner, offset, loop.step, carried)

        carried = tuple(results.values())
        rest = loop.size % loop.step
        whole = loop.size - rest
        if ranges:
            found = counted_loop(builder, whole, loop.step, carried, body)
        else:
            written = sum(_bytes(result) for op in self.tiling.members for result in op.results)
            nanoseconds = written / BYTES_PER_NANOSECOND / loop.size
            has_images = any(map(_windows, self.tiling.members))
            most = min(MOST_PARTS, max(1, loop.tiles // LEAST_IMAGES)) if has_images else MOST_PARTS
            found = shared_loop(builder, whole, loop.step, nanoseconds, carried, (), body, most)
        return along(builder, constant(builder, whole, INDEX), rest, found) if rest else found

    def _tiled_in(self, op: GenericOp, indices: Indices) -> set[int]:
        """The tiled loops along which an access moves."""
        tiled = {self.tiling.shared.loop_in(op, each) for each in self.tiling.loops}
        return loops_of(indices) & tiled

    def _tile(
        self,
        builder: ConversionBuilder,
        ranges: _Ranges,
        places: Mapping[SSAValue, SSAValue],
    ) -> Sequence[SSAValue]:
        """The operations of the chain on one tile; `places` with the tile's part of the results."""
        tiles: dict[SSAValue, _Turned] = {}
        turned: dict[object, _Turned] = {}
        found = dict(places)
        for op in self.tiling.members:
            part = _Part(builder, op, self.tiling, ranges)
            maps = _maps(op)
            inputs = [
                tiles.get(value) or part.read(value, indices, turned)
                for value, indices in zip(op.inputs, maps, strict=False)
            ]
            results = list(zip(op.results, outs_of(op), maps[len(inputs) :], strict=True))
            outputs = [
                part.destination(init, places.get(result), indices)
                for result, init, indices in results
            ]
            operands = [*inputs, *outputs]
            rank = len(op.iterator_types)
            turned_maps = [
                AffineMapAttr(AffineMap(rank, 0, tuple(map_.data.results[d] for d in each.order)))
                for each, map_ in zip(operands, op.indexing_maps.data, strict=True)
            ]
            copy = builder.insert(
                create(
                    GenericOp,
                    operands=[each.value for each in operands],
                    result_types=[each.value.type for each in outputs],
                    properties=op.properties | {"indexing_maps": ArrayAttr(turned_maps)},
                    attributes=op.attributes,
                    regions=[op.body.clone()],
                    location=op.location,
                )
            )
            part.shift_indices(copy)
            for (result, _, indices), output, made in zip(
                results, outputs, copy.results, strict=True
            ):
                tiles[result] = _Turned(made, output.order)
                if result in places:
                    found[result] = part.put_back(made, places[result], indices)
        return tuple(found.values())


@dataclass(frozen=True)
class _Turned:
    """A part of a tensor whose dimensions are in another order, or in their own."""

    value: SSAValue
    order: Sequence[int]


@dataclass(eq=False)
class _Part:
    """What a tile has of one operation."""

    builder: ConversionBuilder
    op: GenericOp
    tiling: _Tiling
    ranges: _Ranges

    def __post_init__(self) -> None:
        shared, columns = self.tiling.shared, self.tiling.columns
        found = {shared.loop_in(self.op, each): range for each, range in self.ranges.items()}
        self.tiled = {loop: range for loop, range in found.items() if loop is not None}
        self.columns = None if columns is None else shared.loop_in(self.op, columns)
        self.is_product = columns is not None and any(_factors_read_again(self.op, shared, columns))

    def _order(self, indices: Indices) -> list[int]:
        """The dimensions of a tensor as they are in a tile of it."""
        is_last = self.columns is not None
        return sorted(range(len(indices)), key=lambda d: is_last and indices[d][0] == self.columns)

    def read(
        self, value: SSAValue, indices: Indices, turned: MutableMapping[object, _Turned]
    ) -> _Turned:
        """
        The part of a tensor from outside; in the order of tiles, if it is not a factor, which is
        packed anyway. `turned` has those that other operations read.
        """
        order, own = self._order(indices), range(len(indices))
        if self.is_product or order == list(own):
            return _Turned(self.slice(value, indices), own)
        key = value, *(self.tiled[loop] if loop in self.tiled else None for loop, _, _ in indices)
        if key not in turned:
            part = self.slice(value, indices)
            type_ = TensorType(
                array_type(part).element_type, [tensor_shape(part)[d] for d in order]
            )
            source = part, projection(len(order), tuple(map(order.index, own)))
            made = pointwise(self.builder, [source], type_, lambda _, elements: elements[:1])
            turned[key] = _Turned(made, order)
        return turned[key]

    def _where(self, indices: Indices) -> list[SSAValue | int]:
        """Where a tile begins in a tensor."""
        return [self.tiled[loop][0] if loop in self.tiled else 0 for loop, _, _ in indices]

    def _sizes(self, value: SSAValue, indices: Indices) -> list[int]:
        return [
            self.tiled[loop][1] if loop in self.tiled else size
            for size, (loop, _, _) in zip(tensor_shape(value), indices, strict=True)
        ]

    def slice(self, value: SSAValue, indices: Indices) -> SSAValue:
        """The part of a tensor."""
        if not self.tiled.keys() & loops_of(indices):
            return value
        return extract_slice(self.builder, value, self._where(indices), self._sizes(value, indices))

    def put_back(self, tile: SSAValue, place: SSAValue, indices: Indices) -> SSAValue:
        """The tensor with its part."""
        if not self.tiled.keys() & loops_of(indices):
            return tile
        return insert_slice(self.builder, tile, place, self._where(indices))

    def destination(self, init: SSAValue, place: SSAValue | None, indices: Indices) -> _Turned:
        """Where the part of a result is computed: in what the loops carry, or in new memory."""
        order: Sequence[int] = range(len(indices))
        filled = init.owner if isinstance(init.owner, FillOp) else None
        continues = len(self.tiled.keys() & loops_of(indices)) < len(self.tiled)
        if place is not None:
            part = self.slice(place, indices)
        elif filled is not None or isinstance(init.owner, tensor.EmptyOp):
            order, sizes = self._order(indices), self._sizes(init, indices)
            type_ = TensorType(array_type(init).element_type, [sizes[d] for d in order])
            part = empty(self.builder, type_)
        else:
            part = self.slice(init, indices)
        if filled is not None and not continues:
            part = fill_into(self.builder, filled.inputs[0], part)
        return _Turned(part, order)

    def shift_indices(self, copy: GenericOp) -> None:
        """What asks for the number of an iteration gets that of the whole loop."""
        for op in operations_in(copy.body):
            loop = op.dim.value.data if isinstance(op, IndexOp) else None
            if loop in self.tiled:
                (index,) = op.results
                offset, _ = self.tiled[loop]
                shifted = create(arith.AddiOp, operands=(index, offset), result_types=[index.type])
                insert_before(shifted, cast(Operation, op.next_op))
                index.replace_uses_with_if(
                    shifted.result, lambda use, op=shifted: use.operation is not op
                )
