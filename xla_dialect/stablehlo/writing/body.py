# pyright: reportPrivateUsage=false
"""The operations of one function as lines of StableHLO.

StableHLO, as frameworks write it, has no tuples. So every value is a tree here, whose leaves are
the names of values; operations take and give leaves, `tuple` and `get_tuple_element` print nothing.
Where StableHLO does have a tuple (custom calls), it is packed and taken apart again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

from xdsl.dialects.builtin import TupleType, UnrealizedConversionCastOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xla_dialect.stablehlo.attribute_text import (
    METADATA,
    dictionary_text,
    kept_texts,
    location_of,
)
from xla_dialect.stablehlo.inexpressible import Inexpressible, fail
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.writing.type_text import signature_text
from xla_dialect.types import flatten

Tree: TypeAlias = "str | tuple[Tree, ...] | None"
"""A value: its name, or its elements; None where StableHLO has no such value."""

Write: TypeAlias = "Callable[[Operation, BodyWriter], None]"
"""Writes one operation; raises Inexpressible or StableHloPrintError."""

_STEP = "  "


class ModuleWriter(Protocol):
    """What is around the operations."""

    debug_info: bool
    _indent: int
    _ssa_values: dict[SSAValue, Any]

    def type_text(self, type_: Attribute, /) -> str: ...

    def captured(self, op: Operation, /) -> str: ...

    def new_name(self, hint: str | None, /) -> str: ...

    def argument_name(self, hint: str | None, /) -> str: ...

    def heading(self, count: int, hints: Sequence[str | None], /) -> tuple[list[str], str]: ...


class BodyWriter:
    """Writes operations of families that have no classes."""

    def __init__(self, program: ModuleWriter, writers: Mapping[type[Operation], Write]):
        self.program = program
        self.lines: list[str] = []
        self.writers = writers
        self.trees: dict[SSAValue, Any] = program._ssa_values
        self.type_text = program.type_text
        self.name = program.new_name
        self.argument_name = program.argument_name
        self.heading = program.heading
        self._location = ""

    @property
    def _indent(self) -> str:
        return _STEP * self.program._indent

    # Values

    def tree(self, value: SSAValue) -> Tree:
        """The names of a value."""
        return self.trees[value]

    def leaves(self, values: Iterable[SSAValue]) -> list[str]:
        """The names of the leaves of some values; raises Inexpressible."""
        found: list[str] = []
        for value in values:
            tree = self.trees[value]
            if isinstance(tree, str):
                found.append(tree)
            else:
                found.extend(leaves_of(tree))
        return found

    def types(self, types: Iterable[Attribute]) -> list[str]:
        """The types of the leaves of values of some types; raises Inexpressible."""
        text = self.type_text
        found: list[str] = []
        for type_ in types:
            if isinstance(type_, TupleType):
                found.extend(map(text, flatten([type_])))
            else:
                found.append(text(type_))
        return found

    def operand(self, value: SSAValue) -> str:
        """A single name for a value; raises Inexpressible for a tuple."""
        tree = self.trees[value]
        if isinstance(tree, str):
            return tree
        raise Inexpressible("a tuple is an operand, where StableHLO has none")

    def bind(self, values: Sequence[SSAValue], names: Iterable[Tree]) -> None:
        """Values have these leaves from now on."""
        rest = iter(names)
        for value in values:
            self.trees[value] = grown(value.type, rest)

    # Lines

    def line(self, text: str) -> None:
        """Adds a line."""
        self.lines.append(f"{self._indent}{text}")

    def emit(self, text: str, hint: str | None = None) -> str:
        """Adds an operation with one result, and returns its name."""
        name = self.name(hint)
        self.lines.append(f"{self._indent}{name} = {text}{self._location}")
        return name

    def named(self, text: str, count: int, hints: Sequence[str | None]) -> list[str]:
        """Adds an operation with so many results, and returns their names."""
        names, head = self.heading(count, hints)
        self.lines.append(f"{self._indent}{head}{text}{self._location}")
        return names

    def define(self, op: Operation, text: str, types: Sequence[str]) -> None:
        """Adds an operation for this one, with a leaf of its results for each type."""
        results = op.results
        if len(results) == 1 and len(types) == 1:
            tree = self.emit(text, results[0].name_hint)
            value = results[0]
            self.trees[value] = (
                grown(value.type, iter((tree,))) if isinstance(value.type, TupleType) else tree
            )
            return
        names = self.named(text, len(types), [value.name_hint for value in results])
        self.bind(results, names)

    def attributes(self, op: Operation, texts: Mapping[str, str] | None = None) -> str:
        """` {a = 1 : i32}`: what is kept with an operation, and these texts; or nothing."""
        if op.attributes:
            found = kept_texts(op.attributes)
            if texts:
                found.update(texts)
        else:
            found = texts
        return f" {dictionary_text(found)}" if found else ""

    # Regions

    @contextmanager
    def indented(self) -> Generator[None]:
        """Lines inside are one step further to the right."""
        location = self._location
        self.program._indent += 1
        yield
        self.program._indent -= 1
        self._location = location

    def parameters(self, block: Block, hint: str | None = None) -> list[str]:
        """New names for the parameters of a block."""
        names = [
            self.argument_name(argument.name_hint or hint)
            for argument in block.args
            for _ in flatten([argument.type])
        ]
        self.bind(block.args, names)
        return names

    def operations(self, block: Block) -> None:
        """Adds the operations of a block, but the last, which returns."""
        last = block.last_op
        for op in block.ops:
            if op is last:
                break
            self.operation(op)

    def returned(self, block: Block) -> Sequence[SSAValue]:
        """What a block returns."""
        last = block.last_op
        return () if last is None else last.operands

    def content(self, block: Block) -> None:
        """Adds the operations of a block and `stablehlo.return`."""
        with self.indented():
            self.operations(block)
            values = self.returned(block)
            names = self.leaves(values)
            types = self.types(value.type for value in values)
            what = f" {', '.join(names)} : {', '.join(types)}" if names else ""
            self.line(f"stablehlo.return{what}")

    def generic(
        self,
        op: Operation,
        name: str,
        operands: Sequence[str],
        operand_types: Sequence[str],
        properties: Mapping[str, str],
        result_types: Sequence[str],
        regions: Sequence[Region] = (),
    ) -> None:
        """Adds an operation in generic form for this one."""
        hints = [value.name_hint for value in op.results]
        self.bind(
            op.results,
            self.generic_value(
                name, operands, operand_types, properties, result_types, regions, op, hints
            ),
        )

    def generic_value(
        self,
        name: str,
        operands: Sequence[str],
        operand_types: Sequence[str],
        properties: Mapping[str, str],
        result_types: Sequence[str],
        regions: Sequence[Region] = (),
        op: Operation | None = None,
        hints: Sequence[str | None] = (),
    ) -> list[str]:
        """Adds an operation in generic form, with what is kept with `op`; returns its results."""
        given = f" <{dictionary_text(properties)}>" if properties else ""
        text = f'"{name}"({", ".join(operands)}){given}'
        kept = self.attributes(op) if op is not None and op.attributes else ""
        end = f"{kept} : {signature_text(operand_types, result_types)}"
        if not regions:
            return self.named(text + end, len(result_types), hints)
        names, head = self.heading(len(result_types), hints)
        self.line(f"{head}{text} ({{")
        for i, region in enumerate(regions):
            if i:
                self.line("}, {")
            self.block_head(region.block)
            self.content(region.block)
        self.close(f"}}){end}")
        return names

    def block_head(self, block: Block) -> None:
        """Adds the label of a block with its parameters, if it has any."""
        if block.args:
            types = self.types(argument.type for argument in block.args)
            parameters = zip(self.parameters(block), types, strict=True)
            self.line(f"^bb0({', '.join(f'{n}: {t}' for n, t in parameters)}):")

    def close(self, text: str) -> None:
        """Adds the last line of an operation with regions."""
        self.lines.append(f"{self._indent}{text}{self._location}")

    # Operations

    def operation(self, op: Operation) -> None:
        """Adds the lines for one operation; raises StableHloPrintError."""
        if self.program.debug_info:
            self._location = f" {location_of(op.location, op.attributes.get(METADATA))}"
        try:
            write = self.writers.get(type(op))
            if write is not None:
                write(op, self)
                return
            if not self.writes(op):
                self.lines.append(f"{self._indent}{self.program.captured(op)}")
            elif isinstance(op, UnrealizedConversionCastOp):
                self.trees[op.results[0]] = self.trees[op.operands[0]]
            else:
                raise Inexpressible("it is no operation that StableHLO has")
        except Inexpressible as error:
            fail(op, str(error))

    def writes(self, op: Operation) -> bool:
        """Whether an operation is written here."""
        return not isinstance(op, StableHloOp) and op.name.split(".")[0] not in ("func", "sdy")

    def lines_of(self, op: Operation) -> list[str]:
        """The lines of an operation."""
        outer, self.lines = self.lines, []
        self.operation(op)
        lines, self.lines = self.lines, outer
        return lines


def leaves_of(tree: Tree) -> list[str]:
    """The leaves of a tree; raises Inexpressible where StableHLO has no value."""
    if isinstance(tree, str):
        return [tree]
    if tree is None:
        raise Inexpressible(
            "the context of an asynchronous operation is used by something else than its done"
        )
    return [leaf for part in tree for leaf in leaves_of(part)]


def grown(type_: Attribute, leaves: Iterator[Tree]) -> Tree:
    """The tree of a value of this type with the next leaves."""
    if isinstance(type_, TupleType):
        return tuple([grown(element, leaves) for element in type_.types.data])
    return next(leaves)
