"""Arrays of their largest sizes with the sizes that they have, and what rules do with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from xdsl.ir import Attribute, Operation, Region

from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.constraints import flat_results
from xla_dialect.dimensions import DimensionRelations, Place
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.shapes.size_arithmetic import DynamicSize, Sizes
from xla_dialect.types import Array, sizes_of, without_bounds
from xla_dialect.xdsl.creation import create

Counts: TypeAlias = Mapping[int, XlaValue]
"""By dynamic dimension how many elements are there, as `s32[]`."""


class Sized(NamedTuple):
    """An array of static sizes, of which the first elements along some dimensions count."""

    data: XlaValue
    sizes: Counts


class Check(NamedTuple):
    """What has to hold at run time."""

    holds: XlaValue
    value: XlaValue
    """The number that is wrong if not, `s32[]`."""
    message: str
    """With `{}` for that number."""


@dataclass
class Rules:
    """Builds what takes the place of one operation."""

    b: XlaBuilder
    op: XlaOp
    operands: Sequence[Sized]
    checks: list[Check] = field(default_factory=list[Check])

    def bounds(self, number: int) -> Sizes:
        """The sizes that the type of an operand had, dynamic ones as `DynamicSize`."""
        data, counts = self.operands[number]
        return tuple(DynamicSize(n) if d in counts else n for d, n in enumerate(data.shape))

    @cached_property
    def relations(self) -> DimensionRelations:
        """How the dimensions of the operation relate."""
        found = self.op.dimension_relations()
        assert found is not None
        return found

    @cached_property
    def counts(self) -> Mapping[Place, XlaValue]:
        """
        How many elements are there along dimensions of operands, where some have dynamic sizes.

        Dimensions that belong together all have the smallest of their sizes.
        """
        found: dict[Place, XlaValue] = {}
        for group in self.relations.sized_together:
            known = [self.operands[i].sizes[d] for i, d in group if d in self.operands[i].sizes]
            if known:
                found.update(dict.fromkeys(group, self.smallest(known)))
        return found

    def counted(self, number: int) -> Counts:
        """Those of one operand."""
        return {d: count for (i, d), count in self.counts.items() if i == number}

    def result_bounds(self, number: int = 0) -> Sizes:
        """The sizes of the type of a result, dynamic ones as `DynamicSize`."""
        return sizes_of(cast(Array, self.op.results[number].type))

    def number(self, value: int, element_type: str = "s32") -> XlaValue:
        """An integer constant."""
        return self.b.constant(value, element_type)

    def size(self, x: Sized, dimension: int) -> XlaValue:
        """How many elements are there along a dimension."""
        found = x.sizes.get(dimension)
        return self.number(int(x.data.shape[dimension])) if found is None else found

    def smallest(self, sizes: Iterable[XlaValue]) -> XlaValue:
        """The smallest of sizes."""
        return reduce(self.b.min, {size.ssa: size for size in sizes}.values())

    def wide(self, size: XlaValue) -> XlaValue:
        """A size as `s64[]`, in which no product of sizes overflows."""
        return self.b.convert_element_type(size, "s64")

    def narrow(self, size: XlaValue) -> XlaValue:
        """A size as `s32[]` again."""
        return self.b.convert_element_type(size, "s32")

    def inside(self, sizes: Sequence[int], counts: Counts) -> XlaValue:
        """Of an array of these sizes, where all indices are below the counts."""
        masks = [
            self.b.lt(self._index(sizes, d), self.b.broadcast(count, list(map(int, sizes))))
            for d, count in counts.items()
        ]
        return reduce(self.b.and_, masks)

    def _index(self, sizes: Sequence[int], dimension: int) -> XlaValue:
        return self.b.iota(f"s32[{','.join(str(int(n)) for n in sizes)}]", dimension)

    def filled(self, data: XlaValue, counts: Counts, value: XlaValue | None = None) -> XlaValue:
        """The array with a value, zero by default, in the place of all that is not there."""
        if not counts:
            return data
        value = self.zero(data.element_type) if value is None else value
        return self.b.select(
            self.inside(data.shape, counts), data, self.b.broadcast(value, data.shape)
        )

    def zero(self, element_type: Attribute) -> XlaValue:
        """The scalar whose bits are 0."""
        return self.b.constant(np.zeros((), numpy_dtype(element_type)))

    def again(self, *operands: XlaValue) -> tuple[XlaValue, ...]:
        """The operation on other operands; its results have their bounds as sizes."""
        op = self.op
        return self.b.append(
            create(
                type(op),
                operands=[operand.ssa for operand in operands],
                result_types=[without_bounds(type_) for type_ in op.result_types],
                properties=op.properties,
                attributes=op.attributes,
                regions=[region.clone() for region in op.regions],
            )
        )

    def applied(self, computation: Region, *arguments: XlaValue) -> list[XlaValue]:
        """The results of a computation of the operation, its operations put here."""
        block = computation.block
        known: dict[Any, Any] = dict(
            zip(block.args, (argument.ssa for argument in arguments), strict=True)
        )
        *operations, last = block.ops
        for inner in operations:
            self.b.append(cast(XlaOp, inner.clone(known)))
        assert isinstance(last, ReturnOp)
        return [XlaValue(self.b, known.get(value, value)) for value in last.operands]

    def require(self, holds: XlaValue, value: XlaValue, message: str) -> None:
        """The program fails at run time unless this holds; `{}` in the message is the value."""
        self.checks.append(Check(holds, value, message))

    def scalars(self, computation: Region) -> list[Array]:
        """The types of the scalars that a computation returns."""
        last = computation.block.last_op
        assert last is not None
        return [cast(Array, t) for t in flat_results([value.type for value in last.operands])]


Rule: TypeAlias = Callable[[Rules, Operation, Sequence[Sized]], Sequence[Sized]]
"""From the operation and its operands to what its results become."""


def dynamic(sizes: Sequence[int]) -> list[int]:
    """The dimensions that are dynamic."""
    return [d for d, size in enumerate(sizes) if isinstance(size, DynamicSize)]
