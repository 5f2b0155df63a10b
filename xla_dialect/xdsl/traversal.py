# pyright: reportPrivateUsage=false
"""Going through IR quickly.

Most passes look at every operation and change few of them. The iterators and properties of xDSL
0.74 take several times as long as such a look does; so do the hashes of its attributes.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from struct import calcsize, unpack
from typing import Any, Generic, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    VectorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

ValueT = TypeVar("ValueT")

Named: TypeAlias = tuple[str | int, ...]
"""Names, each with the identity of its attribute."""


class AttributeMemo(Generic[ValueT]):
    """A function of attributes that computes its value once for each object; lives for one pass."""

    def __init__(self, function: Callable[[Attribute], ValueT]) -> None:
        self._function = function
        # The attribute is kept alive: another one could get its id.
        self._values: dict[int, tuple[Attribute, ValueT]] = {}

    def __call__(self, attribute: Attribute) -> ValueT:
        """The value for an attribute."""
        found = self._values.get(id(attribute))
        if found is None:
            found = self._values[id(attribute)] = attribute, self._function(attribute)
        return found[1]


class AttributeIdentities(AttributeMemo[int]):
    """
    Tells attributes apart by numbers that are quick to hash; equal attributes have the same.

    The hash of an attribute of xDSL 0.74 goes through all of it each time, and most attributes of a
    program are the same few objects.
    """

    def __init__(self) -> None:
        first: dict[Attribute, int] = {}
        super().__init__(lambda attribute: first.setdefault(attribute, len(first)))

    def named(self, attributes: Mapping[str, Attribute]) -> Named:
        """What a dictionary of attributes says, whatever its order."""
        if not attributes:
            return ()
        if len(attributes) == 1:
            ((name, attribute),) = attributes.items()
            return name, self(attribute)
        return tuple(part for name in sorted(attributes) for part in (name, self(attributes[name])))


operands_of: Callable[[Operation], Sequence[SSAValue]] = attrgetter("_operands")
"""The operands of an operation as a tuple, without the view of them that `op.operands` makes."""


def shape_of(type_: TensorType[Any] | MemRefType[Any] | VectorType[Any]) -> tuple[int, ...]:
    """The sizes of an array, without the iterator over attributes that `get_shape` makes."""
    return tuple([size.data for size in type_.shape.data])


def tensor_shape(value: SSAValue) -> tuple[int, ...]:
    """The sizes of a value that is known to be a ranked tensor."""
    return shape_of(cast("TensorType[Any]", value.type))


def ins_of(op: Operation) -> Sequence[SSAValue]:
    """The `ins` of a linalg operation that keeps the sizes of its operand segments."""
    return _slice(op._operands, slice(segment_sizes(op)[0]))


def outs_of(op: Operation) -> Sequence[SSAValue]:
    """The `outs` of a linalg operation that keeps the sizes of its operand segments."""
    return _slice(op._operands, slice(segment_sizes(op)[0], None))


# `SSAValues.__getitem__` would construct another `SSAValues` from the slice.
_slice: Callable[[Sequence[SSAValue], slice], Sequence[SSAValue]] = cast(Any, tuple).__getitem__


def segment_sizes(op: Operation) -> tuple[int, ...]:
    """How many operands each of those that an operation names has, where it keeps that."""
    sizes = cast("DenseArrayBase[IntegerType]", op.properties["operandSegmentSizes"])
    return _unpacked(sizes.data.data, "i")


def long_integers(array: DenseArrayBase[Any]) -> tuple[int, ...]:
    """The numbers of an array of 64-bit integers: the static sizes of slices, masks."""
    return _unpacked(array.data.data, "q")


@lru_cache(4096)
def _unpacked(numbers: bytes, code: str) -> tuple[int, ...]:
    return unpack(f"<{len(numbers) // calcsize(code)}{code}", numbers)


def operations_in(top: Operation | Region | Block) -> list[Operation]:
    """What `top.walk()` gives, in one list: each operation before what is in it."""
    found: list[Operation] = []
    # These have no subclasses, and to be asked by `isinstance` makes abstract classes look it up.
    if type(top) is Block:
        _append_block(top, found)
    elif type(top) is Region:
        _append_region(top, found)
    else:
        found.append(top := cast(Operation, top))
        for region in top.regions:
            _append_region(region, found)
    return found


def _append_region(region: Region, found: list[Operation]) -> None:
    block = region._first_block
    while block is not None:
        _append_block(block, found)
        block = block._next_block


def _append_block(block: Block, found: list[Operation]) -> None:
    op = block._first_op
    while op is not None:
        found.append(op)
        for region in op.regions:
            _append_region(region, found)
        op = op._next_op


def operands_in(op: Operation) -> Sequence[SSAValue]:
    """The operands of an operation and of all in its regions, some of them several times."""
    if not op.regions:
        return op._operands
    return [operand for each in operations_in(op) for operand in each._operands]


def free_values(*tops: Operation | Region) -> list[SSAValue]:
    """The values that operations or regions use but do not define, in the order of their uses."""
    operations = [op for top in tops for op in operations_in(top)]
    used = dict.fromkeys([operand for op in operations for operand in op._operands])
    regions = [region for op in operations for region in op.regions]
    regions += [top for top in tops if type(top) is Region]
    if not regions and len(operations) == 1:
        return list(used)
    defined: set[SSAValue] = {result for op in operations for result in op.results}
    defined.update([a for region in regions for block in region.blocks for a in block.args])
    return [value for value in used if value not in defined]


def block_of(value: SSAValue) -> Block:
    """The block that a value is an argument of, or that its operation stands in."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    assert block is not None
    return block


def ancestors(op: Operation) -> Iterator[Operation]:
    """The operations that an operation is inside of, the innermost first."""
    parent = op.parent_op()
    while parent is not None:
        yield parent
        parent = parent.parent_op()


def function_of(op: Operation) -> str | None:
    """The name of the function that an operation is, or is in."""
    for each in (op, *ancestors(op)):
        name = each.properties.get("sym_name")
        if isinstance(name, StringAttr) and not isinstance(each, ModuleOp):
            return name.data
    return None


@dataclass(frozen=True)
class Inventory:
    """What there is in a module: enough to say that a pass has nothing to do."""

    operations: frozenset[type[Operation]]
    """The classes of its operations."""
    types: Sequence[Attribute]
    """The types of its values, and of the parameters and results of its functions."""


def inventory(op: Operation) -> Inventory:
    """The classes and types in an operation and its regions."""
    classes: set[type[Operation]] = set()
    # A program has few types; hashing one takes longer than looking at it.
    types: dict[int, Attribute] = {}
    for each in operations_in(op):
        classes.add(type(each))
        for result in each.results:
            type_ = result._type
            types[id(type_)] = type_
        if not each.regions:
            continue
        for region in each.regions:
            block = region._first_block
            while block is not None:
                for argument in block._args:
                    types[id(argument._type)] = argument._type
                block = block._next_block
        if type(each) is FuncOp:
            for type_ in (*each.function_type.inputs, *each.function_type.outputs):
                types[id(type_)] = type_
    return Inventory(frozenset(classes), tuple(types.values()))


# Recursion as deep as regions may nest, in a process that allows less of it.

FRAMES = 6000
"""
Python's frames that work on IR may take: some 14 for each region around an operation. They are on
the heap, and what is called through C in between takes less than 2 MB of the stack.
"""


class _Room:
    """The recursion limit of the process, while threads work on IR."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads = 0
        self.before = 0

    def enter(self) -> None:
        """Raises the limit for the first thread."""
        with self.lock:
            if not self.threads:
                self.before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self.before, FRAMES))
            self.threads += 1

    def leave(self) -> None:
        """Sets the limit back behind the last thread."""
        with self.lock:
            self.threads -= 1
            if not self.threads:
                sys.setrecursionlimit(self.before)

    def after_fork(self) -> None:
        """A child has only the thread that forked, which may be within."""
        self.lock = threading.Lock()


_room = _Room()
os.register_at_fork(after_in_child=_room.after_fork)


@contextmanager
def deep_recursion() -> Generator[None]:
    """Inside, functions may call themselves for each region of a program that nests deeply."""
    _room.enter()
    try:
        yield
    finally:
        _room.leave()
