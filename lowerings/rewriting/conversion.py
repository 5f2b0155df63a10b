"""
Dialect conversion: one walk, a table from operation class to function, and a
declaration of what may not be left over.

A lowering that replaces the operations of some dialects by those of others
subclasses `ConversionPass` and states its two class variables:

```python
def convert_negate(op: NegateOp, builder: ConversionBuilder) -> None:
    builder.replace(builder.insert(arith.NegfOp(op.operand)).results)


class ConvertXlaToArith(ConversionPass):
    name = "convert-xla-to-arith"
    conversions = conversion_table(convert_negate)
    illegal = ("xla",)
```
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, TypeAlias, TypeVar, get_args, get_type_hints

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ModuleOp,
    UnregisteredOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from lowerings.rewriting.counting import attempt, running_counter
from lowerings.rewriting.failure import describe_location, rewrites_op
from lowerings.rewriting.passes import ReportingPass
from xla_dialect.extensions import CONVERSIONS, failures, loadable_extensions
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import function_of, inventory, operations_in

__all__ = [
    "ConversionBuilder",
    "ConversionFailed",
    "ConversionFunction",
    "ConversionPass",
    "IllegalOp",
    "conversion_table",
    "describe_place",
    "illegal_op",
]

OperationT = TypeVar("OperationT", bound=Operation)

LOCATIONS_SHOWN = 5
"""How many places an error names for each kind of operation that is left."""


@dataclass(eq=False)
class ConversionBuilder:
    """Puts new operations where the operation stands that is being converted."""

    module: ModuleOp
    op: Operation
    """The operation being converted."""
    absorbed: list[Operation] = field(default_factory=list[Operation])
    """What was converted together with others, and is erased when the walk is over."""

    def insert(self, new_op: OperationT) -> OperationT:
        """Inserts `new_op` before the operation being converted, with its location."""
        return insert_before(new_op, self.op)

    def replace(self, values: Sequence[SSAValue]) -> None:
        """
        Erases the operation being converted; `values`, one for each of its
        results, take the place of its results and inherit their name hints.
        """
        op = self.op
        for result, value in zip(op.results, values, strict=True):
            replace_uses(result, value)
        erase(op)

    def absorb(self, ops: Sequence[Operation]) -> None:
        """
        Marks operations visited before, in their order, as converted together with this one; only
        operations among them may use their results.
        """
        self.absorbed.extend(ops)


ConversionFunction: TypeAlias = Callable[[Operation, ConversionBuilder], str | None]
"""
Converts one operation: inserts what replaces it and calls `builder.replace`.

It erases no other operation, but may `absorb` some. Returning a string leaves the operation as it
is; the string is the reason that the error message quotes, in the form
"window dilation is not supported".
"""


def conversion_table(
    *functions: Callable[[Any, ConversionBuilder], str | None],
) -> OperationTable[ConversionFunction]:
    """Functions by the class that their first parameter is annotated with, or a union of some."""
    table = OperationTable[ConversionFunction]()
    for function in functions:
        annotation = next(iter(get_type_hints(function).values()))
        table.add(get_args(annotation) or (annotation,), function)
    return table


@dataclass(frozen=True)
class IllegalOp:
    """An illegal operation that a conversion has left."""

    name: str
    place: str
    reason: str | None = None


def illegal_op(op: Operation, reason: str | None = None) -> IllegalOp:
    """An illegal operation that is left, and why it did not match."""
    return IllegalOp(_operation_name(op), describe_place(op), reason)


SEVERAL_BLOCKS = "it has several blocks: lift-cf-to-scf structures them"
"""Why a function on tensors is not lowered."""


def require_single_blocks(pass_name: str, module: ModuleOp) -> None:
    """Raises ConversionFailed where functions have several blocks."""
    found = [
        illegal_op(op, SEVERAL_BLOCKS)
        for op in module.body.block.ops
        if isinstance(op, FuncOp) and len(op.body.blocks) > 1
    ]
    if found:
        raise ConversionFailed(pass_name, found)


class ConversionFailed(PassFailedException):
    """Operations are left that a conversion declares illegal afterwards."""

    def __init__(self, pass_name: str, illegal_ops: Sequence[IllegalOp]):
        self.pass_name = pass_name
        self.illegal_ops = tuple(illegal_ops)
        super().__init__(self._message())

    def _message(self) -> str:
        groups: dict[str, list[IllegalOp]] = {}
        for op in self.illegal_ops:
            groups.setdefault(op.name, []).append(op)
        count = len(self.illegal_ops)
        noun = "operation is" if count == 1 else "operations are"
        lines = [f"{self.pass_name}: {count} {noun} left unconverted"]
        for name, group in sorted(groups.items()):
            places = ", ".join(
                f"{op.place} ({op.reason})" if op.reason else op.place
                for op in group[:LOCATIONS_SHOWN]
            )
            if len(group) > LOCATIONS_SHOWN:
                places += f", and {len(group) - LOCATIONS_SHOWN} more"
            lines.append(f"  {name}: {len(group)}, {places}")
        return "\n".join(lines) + failures(CONVERSIONS)


@dataclass(frozen=True)
class ConversionPass(ReportingPass, ABC):
    """
    A pass that converts operations in one walk.

    The walk goes from the outside in and from first to last. Where an operation's
    class is in `conversions`, its function is called; what stands in its place
    afterwards is visited in turn (so a conversion may expand into operations that
    have a conversion themselves, but must not make its own kind again). Regions
    are entered after the operation that holds them has been converted: a
    conversion may therefore use up its regions, or move them.
    """

    conversions: ClassVar[Mapping[type[Operation], ConversionFunction]] = {}
    """The function for each class of operation (the exact class, not subclasses)."""

    illegal: ClassVar[Sequence[str | type[Operation]]] = ()
    """What may not be left: names of dialects and classes of operations."""

    @classmethod
    def added_conversions(cls) -> Mapping[type[Operation], ConversionFunction]:
        """
        What installed packages add to `conversions`; none of their classes may be left.

        They name the pass in the group of entry points `xla.conversions`.
        """
        added: dict[type[Operation], ConversionFunction] = {}
        for conversions in loadable_extensions(CONVERSIONS, cls.name):
            added.update(conversions)
        return added

    def conversions_in(self, module: ModuleOp) -> Mapping[type[Operation], ConversionFunction]:
        """The function for each class of operation; a pass may look at the module first."""
        return {**self.added_conversions(), **self.conversions}

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Converts; raises `ConversionFailed` as `check` does."""
        conversions = self.conversions_in(op)
        if inventory(op).operations.isdisjoint(conversions):
            self.check(op)
            return False
        walk = _ConversionWalk(op, conversions)
        walk.convert_regions(op)
        for absorbed in reversed(walk.absorbed):
            erase(absorbed)
        counter = running_counter()
        if counter is None or not counter.has_stopped:
            self.check(op, walk.reasons)
        return walk.has_changed

    def check(self, module: ModuleOp, reasons: Mapping[Operation, str] | None = None) -> None:
        """
        Raises `ConversionFailed` naming every operation of `module` that is illegal and does not
        stand in the regions of another: those go with it.

        `reasons` says why a conversion function left an operation.
        """
        is_illegal: dict[type[Operation], bool] = {}
        classes = {entry.name for entry in self.illegal if not isinstance(entry, str)}
        classes.update(op_class.name for op_class in self.added_conversions())
        dialects = {entry for entry in self.illegal if isinstance(entry, str)}
        illegal_ops: list[IllegalOp] = []
        inside: set[Operation] = set()
        for op in operations_in(module):
            illegal = is_illegal.get(type(op))
            if illegal is None:
                # xDSL makes a class for each name of an operation that it does not know.
                name = _operation_name(op)
                illegal = name in classes or name.partition(".")[0] in dialects
                is_illegal[type(op)] = illegal
            if illegal and op not in inside:
                reason = None if reasons is None else reasons.get(op)
                illegal_ops.append(illegal_op(op, reason))
                inside.update(operations_in(op))
        if illegal_ops:
            raise ConversionFailed(self.name, illegal_ops)


@dataclass(eq=False)
class _ConversionWalk:
    module: ModuleOp
    conversions: Mapping[type[Operation], ConversionFunction]
    reasons: dict[Operation, str] = field(default_factory=dict[Operation, str])
    absorbed: list[Operation] = field(default_factory=list[Operation])
    has_changed: bool = False

    def convert_regions(self, op: Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                self._convert_block(block)

    def _convert_block(self, block: Block) -> None:
        op = block.first_op
        while op is not None:
            convert = self.conversions.get(type(op))
            if convert is not None:
                before = op.prev_op
                self._convert(op, convert)
                if op.parent is not block:
                    self.has_changed = True
                    op = block.first_op if before is None else before.next_op
                    continue
            if op.regions:
                self.convert_regions(op)
            op = op.next_op

    @rewrites_op
    def _convert(self, op: Operation, convert: ConversionFunction) -> None:
        block, builder = op.parent, ConversionBuilder(self.module, op, self.absorbed)
        reason = attempt(partial(convert, op, builder), is_made=lambda _: op.parent is not block)
        if reason is not None:
            self.reasons[op] = reason


def _operation_name(op: Operation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def describe_place(op: Operation) -> str:
    """Where `op` is: its location if known, else the function that it is or is in."""
    described = describe_location(op.location)
    if described is not None:
        return described
    function = function_of(op)
    return "at an unknown location" if function is None else f"in @{function}"
