"""From `xla` to StableHLO: by a pattern, or else by what a class states.

Operations of families that the text writer still writes stay what they are. Where one of them gives
or takes a tuple of what StableHLO has one by one, the tuple is made or taken apart in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TupleType, UnrealizedConversionCastOp, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xla_dialect.op import XlaOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.stablehlo.array_types import stablehlo_type
from xla_dialect.stablehlo.attribute_text import METADATA, discardable, location_of
from xla_dialect.stablehlo.inexpressible import Inexpressible, fail
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops import OPERATIONS
from xla_dialect.stablehlo.ops.control_flow import ReturnOp
from xla_dialect.types import flatten
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import append

SAME: Mapping[type[Operation], type[StableHloOp]] = {
    op.SAME: op for op in OPERATIONS if op.SAME is not None and op is not ReturnOp
}
"""The operation of StableHLO that is just as one of `xla`."""


class FromXla:
    """The state of one legalization: what has become of which value, and where to put more."""

    def __init__(self, patterns: Mapping[type[Operation], LegalizeFromXla]):
        self._patterns = patterns
        self._values: dict[SSAValue, SSAValue] = {}
        self._block = Block()

    def module(self, module: ModuleOp) -> ModuleOp:
        """The module with operations of StableHLO; raises StableHloPrintError."""
        region = self.region(module.body)
        return create(
            ModuleOp,
            properties=module.properties,
            attributes=module.attributes,
            location=module.location,
            regions=[region],
        )

    def region(self, region: Region, is_plain: bool = False) -> Region:
        """The region with operations of StableHLO; `is_plain`: its arguments have types of it."""
        block = region.first_block
        if block is None or block.next_block is not None:
            return region.clone()
        outer = self._block
        types = list(map(stablehlo_type, block.arg_types)) if is_plain else block.arg_types
        made = self._block = Block(arg_types=types)
        self._define(block.args, made.args)
        for old, new in zip(block.args, made.args, strict=True):
            new.location = old.location
        for op in block.ops:
            self._operation(op)
        self._block = outer
        return Region(made)

    def operands(self, op: Operation) -> list[SSAValue]:
        """The operands of an operation, tuples taken apart, of types of StableHLO."""
        leaves = (leaf for value in op.operands for leaf in self._leaves(self._values[value]))
        return [self._cast(leaf, stablehlo_type(leaf.type)) for leaf in leaves]

    def value(self, value: SSAValue) -> SSAValue:
        """What a value has become, of a type of StableHLO."""
        found = self._values[value]
        return self._cast(found, stablehlo_type(found.type))

    def result_types(self, op: Operation) -> Sequence[Attribute]:
        """The types of the results in StableHLO, tuples taken apart."""
        return list(map(stablehlo_type, flatten(op.result_types)))

    def emit(
        self,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Operation:
        """Adds an operation at the current place."""
        op = create(
            op_class,
            operands=operands,
            result_types=result_types,
            properties=properties,
            regions=regions,
        )
        append(self._block, op)
        return op

    def same(self, op: XlaOp, op_class: type[StableHloOp]) -> Sequence[SSAValue]:
        """Adds the operation that is just as one of `xla`; returns its results."""
        regions = [self.region(region, is_plain=True) for region in op.regions]
        properties, types = op_class.properties_of(op), self.result_types(op)
        return self.emit(op_class, self.operands(op), types, properties, regions).results

    def _operation(self, op: Operation) -> None:
        """Adds what an operation becomes at the current place."""
        pattern, same = self._patterns.get(type(op)), SAME.get(type(op))
        before = self._block.last_op
        try:
            if pattern is not None:
                leaves = pattern(op, self)
            elif same is None or not isinstance(op, XlaOp):
                self.kept(op)
                return
            else:
                leaves = self.same(op, same)
        except Inexpressible as error:
            fail(op, str(error))
        made = self._block.last_op
        if made is not None and made is not before:
            made.attributes.update(discardable(op.attributes))
            made.location = location_of(op.location, op.attributes.get(METADATA))
        hints = [value.name_hint for value in op.results]
        for position, value in enumerate(leaves if made is not before else ()):
            value.name_hint = hints[position if len(hints) == len(leaves) else 0]
        self._define(op.results, self._packed(op.result_types, iter(leaves)))

    def kept(self, op: Operation) -> Sequence[SSAValue]:
        """Adds an operation that the text writer still writes; returns its results."""
        operands = [self._values[value] for value in op.operands]
        regions = list(map(self.region, op.regions))
        made = self.emit(type(op), operands, op.result_types, op.properties, regions)
        made.attributes.update(op.attributes)
        made.location = op.location
        self._define(op.results, made.results)
        return made.results

    def _define(self, old: Sequence[SSAValue], new: Iterable[SSAValue]) -> None:
        """Says what values become, which get their names."""
        for before, after in zip(old, new, strict=True):
            if before.name_hint is not None:
                after.name_hint = before.name_hint
            self._values[before] = self._cast(after, before.type)

    def _cast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """The value as one of another type that says the same; text has no casts."""
        if value.type is type_ or value.type == type_:
            return value
        owner = value.owner
        if isinstance(owner, UnrealizedConversionCastOp) and owner.operands[0].type == type_:
            return owner.operands[0]
        return self.emit(UnrealizedConversionCastOp, [value], [type_]).results[0]

    def _leaves(self, value: SSAValue) -> Iterable[SSAValue]:
        """The elements of a tuple, those of tuples in it; of any other value the value."""
        if not isinstance(value.type, TupleType):
            return (value,)
        owner = value.owner
        elements: Iterable[SSAValue] = (
            owner.operands
            if isinstance(owner, TupleOp)
            else (
                self.emit(
                    GetTupleElementOp, [value], [type_], {"index": IntegerAttr(i, i64)}
                ).results[0]
                for i, type_ in enumerate(value.type.types.data)
            )
        )
        return [leaf for element in elements for leaf in self._leaves(element)]

    def _packed(self, types: Iterable[Attribute], leaves: Iterator[SSAValue]) -> list[SSAValue]:
        """Values of these types, tuples made of the next leaves."""
        return [
            self.emit(TupleOp, self._packed(type_.types.data, leaves), [type_]).results[0]
            if isinstance(type_, TupleType)
            else self._cast(next(leaves), type_)
            for type_ in types
        ]


LegalizeFromXla: TypeAlias = Callable[[Operation, FromXla], Sequence[SSAValue]]
"""Emits what replaces an operation of `xla`; returns its results, tuples taken apart."""
