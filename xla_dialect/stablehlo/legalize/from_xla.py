"""From `xla` to StableHLO: by a pattern, or else by what a class states.

StableHLO, as frameworks write it, has no tuples. So every value is a tree here, whose leaves are
values; operations take and give leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    DictionaryAttr,
    FileLineColLoc,
    IntAttr,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    SymbolRefAttr,
    TupleType,
    UnknownLoc,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from xla_dialect.op import XlaOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.sharding.attributes import MESH, MeshAttr, meshes_of
from xla_dialect.stablehlo.attributes import Inexpressible, fail, stablehlo_type
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops import operation_named, operations_of_dialect
from xla_dialect.text.strings import frontend_attributes, unescaped
from xla_dialect.types import tuple_of
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import append


@cache
def _same_operations() -> Mapping[type[Operation], type[StableHloOp]]:
    every = (op for dialect in ("chlo", "stablehlo") for op in operations_of_dialect(dialect))
    return {op.SAME: op for op in every if issubclass(op, StableHloOp) and op.SAME is not None}


def same_operation(op_class: type[Operation]) -> type[StableHloOp]:
    """
    The operation of StableHLO that is just as one of `xla`; else that of CHLO.

    Raises Inexpressible where there is none.
    """
    found = _same_operations().get(op_class)
    if found is None:
        raise Inexpressible("it is no operation that StableHLO has")
    return found


Tree: TypeAlias = "SSAValue | tuple[Tree, ...] | None"
"""What a value becomes: a value, or its elements; None where StableHLO has no such value."""


class FromXla:
    """The state of one legalization: what has become of which value, and where to put more."""

    def __init__(self, patterns: Mapping[type[Operation], LegalizeFromXla]):
        self._patterns = patterns
        self._trees: dict[SSAValue, Tree] = {}
        self._types: dict[int, tuple[Attribute, Attribute]] = {}
        """By the identity of the type, which is held to keep it unique."""
        self._block = Block()
        self._location: LocationAttr = UnknownLoc()
        self._last: Operation | None = None
        """The last operation that was added for the one that is legalized."""
        self._takes_attributes = True
        """Whether it takes the attributes of that one."""
        self._symbols: set[str] = set()
        self._outlined: list[FuncOp] = []
        self.contexts: dict[Operation, Sequence[SSAValue]] = {}
        """What the done of an asynchronous operation returns, by the start."""
        self.futures: dict[Operation, SSAValue] = {}
        """The results of `stablehlo.async_start`, by the start."""

    def module(self, module: ModuleOp) -> ModuleOp:
        """The module with operations of StableHLO; raises StableHloPrintError."""
        self._symbols = {op.sym_name.data for op in module.ops if isinstance(op, FuncOp)}
        try:
            attributes = discardable(module.attributes)
        except Inexpressible as error:
            fail(module, str(error))
        block = self._block
        for name, mesh in meshes_of(module).items():
            properties = {"sym_name": StringAttr(name), "mesh": MeshAttr(mesh)}
            append(block, create(cast(Any, operation_named(MESH)), properties=properties))
        for op in module.ops:
            if not isinstance(op, FuncOp):
                fail(op, "StableHLO has functions only in a module")
            self._operation(op)
        block.add_ops(self._outlined)
        return create(
            ModuleOp,
            properties=module.properties,
            attributes=attributes,
            location=module.location,
            regions=[Region(block)],
        )

    # What patterns use

    def emit(
        self,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Operation:
        """
        Adds an operation at the current place.

        The last one that a pattern adds gets the names of the results and, unless it is given
        others, the attributes.
        """
        op = self._last = self.emit_unnamed(op_class, operands, result_types, properties, regions)
        self._takes_attributes = attributes is None
        op.attributes.update(attributes or {})
        return op

    def replaced(
        self,
        op: Operation,
        op_class: type[Operation],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Sequence[SSAValue]:
        """Adds an operation with the operands and the results of one of `xla`."""
        operands, types = self.operands(op), self.result_types(op)
        return self.emit(op_class, operands, types, properties, regions, attributes).results

    def same(self, op: XlaOp, op_class: type[StableHloOp]) -> Sequence[SSAValue]:
        """Adds the operation that is just as one of `xla`; returns its results."""
        regions = [self.region(region) for region in op.regions]
        return self.replaced(op, op_class, op_class.properties_of(op), regions)

    def tree(self, value: SSAValue) -> Tree:
        """What a value has become."""
        return self._trees[value]

    def leaves(self, values: Iterable[SSAValue]) -> list[SSAValue]:
        """What values have become, tuples taken apart; raises Inexpressible."""
        found: list[SSAValue] = []
        for value in values:
            tree = self._trees[value]
            if isinstance(tree, SSAValue):
                found.append(tree)
            else:
                found.extend(leaves_of(tree))
        return found

    def operands(self, op: Operation) -> list[SSAValue]:
        """What the operands of an operation have become, tuples taken apart."""
        return self.leaves(op.operands)

    def value(self, value: SSAValue) -> SSAValue:
        """What a value has become that is no tuple; raises Inexpressible for one."""
        tree = self.tree(value)
        if isinstance(tree, SSAValue):
            return tree
        raise Inexpressible("a tuple is an operand, where StableHLO has none")

    def types(self, types: Iterable[Attribute]) -> Sequence[Attribute]:
        """The types of StableHLO for types of `xla`, tuples taken apart; raises Inexpressible."""
        found: list[Attribute] = []
        for type_ in types:
            if isinstance(type_, TupleType):
                found.extend(self.types(type_.types.data))
                continue
            known = self._types.get(id(type_))
            if known is None:
                known = self._types[id(type_)] = type_, stablehlo_type(type_)
            found.append(known[1])
        return found

    def result_types(self, op: Operation) -> Sequence[Attribute]:
        """The types of the results in StableHLO, tuples taken apart."""
        return self.types([value.type for value in op.results])

    def region(self, region: Region, arguments: Iterable[Tree] | None = None) -> Region:
        """
        The region with operations of StableHLO.

        Its arguments become those of the block, tuples taken apart, or are what is given.
        """
        block = region.block
        outer = self._block, self._location, self._last
        made = self._block = Block(
            arg_types=self.types(block.arg_types) if arguments is None else ()
        )
        leaves: Iterator[Tree] = iter(made.args if arguments is None else arguments)
        for argument in block.args:
            tree = self._trees[argument] = grown(argument.type, leaves)
            for leaf in leaves_of(tree) if arguments is None else ():
                leaf.name_hint = argument.name_hint
                cast(BlockArgument, leaf).location = argument.location
        for op in block.ops:
            self._operation(op)
        self._block, self._location, self._last = outer
        return Region(made)

    def inline(self, block: Block, arguments: Iterable[Tree]) -> list[SSAValue]:
        """Adds the operations of a block on these values; returns the leaves of its results."""
        self._bind(block.args, iter(arguments))
        last = block.last_op
        assert last is not None
        location = self._location
        for op in block.ops:
            if op is not last:
                self._operation(op)
        # Names and attributes of the results are not for what is inside.
        self._location, self._last = location, None
        return self.leaves(last.operands)

    def outline(self, region: Region, name: str) -> SymbolRefAttr:
        """Makes a private function of a region; returns its symbol."""
        symbol, number = name, 0
        while symbol in self._symbols:
            symbol, number = f"{name}_{number}", number + 1
        self._symbols.add(symbol)
        body = self.region(region)
        end = body.block.last_op
        assert end is not None
        returned = create(FuncReturnOp, operands=end.operands)
        Rewriter.replace_op(end, returned)
        types = body.block.arg_types, returned.operand_types
        self._outlined.append(FuncOp(symbol, types, body, "private"))
        return SymbolRefAttr(symbol)

    def packed(self, value: SSAValue) -> SSAValue:
        """What a value has become, tuples as values of StableHLO."""
        return self._packed(self.tree(value))

    def _packed(self, tree: Tree) -> SSAValue:
        if not isinstance(tree, tuple):
            return leaves_of(tree)[0]
        elements = list(map(self._packed, tree))
        tuple_class = same_operation(TupleOp)
        return self.emit_unnamed(
            tuple_class, elements, [tuple_of([element.type for element in elements])]
        ).results[0]

    def unpacked(self, value: SSAValue) -> Sequence[SSAValue]:
        """The leaves of a value that may be a tuple."""
        if not isinstance(value.type, TupleType):
            return (value,)
        element = same_operation(GetTupleElementOp)
        return [
            leaf
            for i, type_ in enumerate(value.type.types.data)
            for leaf in self.unpacked(
                self.emit_unnamed(
                    element, [value], [type_], {"index": IntegerAttr(i, i32)}
                ).results[0]
            )
        ]

    # The walk

    def emit_unnamed(
        self,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Operation:
        """Adds an operation that gets neither names nor attributes."""
        op = create(
            op_class,
            operands=operands,
            result_types=result_types,
            properties=properties,
            location=self._location,
            regions=regions,
        )
        append(self._block, op)
        return op

    def _operation(self, op: Operation) -> None:
        """Adds what an operation becomes at the current place."""
        pattern = self._patterns.get(type(op))
        attributes = op.attributes
        self._location = location_of(op.location, attributes.get(METADATA))
        self._last = None
        try:
            if pattern is not None:
                leaves = pattern(op, self)
            else:
                leaves = self.same(cast(XlaOp, op), same_operation(type(op)))
        except Inexpressible as error:
            fail(op, str(error))
        made = self._last
        if made is not None:
            if attributes and self._takes_attributes:
                made.attributes.update(discardable(attributes))
            hints = [value.name_hint for value in op.results]
            results = cast(Sequence[SSAValue], made.results)
            for position, value in enumerate(results):
                hint = hints[position if len(hints) == len(results) else 0]
                if hint is not None:
                    value.name_hint = hint
        self._bind(op.results, iter(leaves))

    def _bind(self, values: Iterable[SSAValue], leaves: Iterator[Tree]) -> None:
        """Says what values become, by the leaves of all."""
        for value in values:
            self._trees[value] = grown(value.type, leaves)


NO_VALUE = "the context of an asynchronous operation is used by something else than its done"


def flat(tree: Tree) -> Sequence[SSAValue | None]:
    """The leaves of a tree."""
    return [leaf for part in tree for leaf in flat(part)] if isinstance(tree, tuple) else (tree,)


def leaves_of(tree: Tree) -> Sequence[SSAValue]:
    """The leaves of a tree; raises Inexpressible where StableHLO has no value."""
    found = flat(tree)
    if None in found:
        raise Inexpressible(NO_VALUE)
    return cast("Sequence[SSAValue]", found)


def grown(type_: Attribute, leaves: Iterator[Tree]) -> Tree:
    """The tree of a value of a type with the next leaves."""
    if isinstance(type_, TupleType):
        return tuple([grown(element, leaves) for element in type_.types.data])
    return next(leaves)


LegalizeFromXla: TypeAlias = Callable[[Operation, FromXla], Sequence[Tree]]
"""Emits what replaces an operation of `xla`; returns the leaves of its results."""


# Attributes that are kept with operations, functions and modules. What readers of HLO text keep
# under `xla.*` becomes `mhlo.sharding` and `mhlo.frontend_attributes`, as XLA itself translates it.
# The rest of it has no place in StableHLO and is left out: names, control dependencies, statistics,
# original values, schedules, stack frames; metadata becomes the location. All other attributes are
# those of a StableHLO program and stay.

KEPT_PREFIX = "xla."


def _frontend(value: Attribute) -> Attribute:
    entries = frontend_attributes(value)
    return DictionaryAttr({name: StringAttr(text) for name, text in entries.items()})


def _count(value: Attribute) -> Attribute:
    if not isinstance(value, IntegerAttr):
        raise Inexpressible(f"a number of processes is an integer, not {value}")
    return IntegerAttr(cast("IntegerAttr[Any]", value).value.data, i32)


def _same(value: Attribute) -> Attribute:
    return value


_TRANSLATED: Mapping[str, tuple[str, Callable[[Attribute], Attribute]]] = {
    "xla.sharding": ("mhlo.sharding", _same),
    "xla.frontend_attributes": ("mhlo.frontend_attributes", _frontend),
    "xla.replica_count": ("mhlo.num_replicas", _count),
    "xla.num_partitions": ("mhlo.num_partitions", _count),
}
"""The kept attributes that StableHLO programs have too, with their names there."""


def discardable(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """The attributes that StableHLO has too, by their names there."""
    found: dict[str, Attribute] = {}
    for name, value in attributes.items():
        if not name.startswith(KEPT_PREFIX):
            found[name] = value
        elif (entry := _TRANSLATED.get(name)) is not None:
            found[entry[0]] = entry[1](value)
    return found


# Locations


METADATA = "xla.metadata"
"""What HLO text says of the place that an operation comes from."""


def location_of(location: LocationAttr, metadata: Attribute | None) -> LocationAttr:
    """Where an operation comes from: what its metadata say, or else its location."""
    if not isinstance(metadata, DictionaryAttr):
        return location
    fields = metadata.data
    file, line = fields.get("source_file"), fields.get("source_line")
    place: LocationAttr = UnknownLoc()
    if isinstance(file, StringAttr):
        number = cast("IntegerAttr[Any]", line).value.data if isinstance(line, IntegerAttr) else 0
        place = FileLineColLoc(StringAttr(unescaped(file.data)), IntAttr(number), IntAttr(0))
    name = fields.get("op_name")
    return (
        NameLoc(StringAttr(unescaped(name.data)), place) if isinstance(name, StringAttr) else place
    )
