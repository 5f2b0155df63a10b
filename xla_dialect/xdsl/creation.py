# pyright: reportPrivateUsage=false
"""Making operations of any class in less time than xDSL 0.74 takes.

Making operations is a third of the time of most passes. `Operation.create` links operands and
successors by way of their old ones, which a new operation does not have, and goes through all
properties of the class to find those with a default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation, OptionalDef

OperationT = TypeVar("OperationT", bound=Operation)

_Defaults: TypeAlias = Sequence[tuple[str, Attribute]]


def create(
    operation: type[OperationT],
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    location: LocationAttr | None = None,
    regions: Sequence[Region] = (),
) -> OperationT:
    """
    An operation without successors, as `operation.create` makes it; no constructor is called.

    Raises ValueError for a region that is attached to another operation.
    """
    op = operation.__new__(operation)
    values = op._operands = SSAValues(operands)
    if values:
        uses = op._operand_uses = tuple([Use(op, index) for index in range(len(values))])
        for value, use in zip(values, uses, strict=True):
            value.add_use(use)
    op.results = SSAValues([OpResult(type_, op, i) for i, type_ in enumerate(result_types)])
    op.properties = dict(properties) if properties else {}
    op.attributes = dict(attributes) if attributes else {}
    op.location = UNKNOWN_LOC if location is None else location
    op.regions = ()
    for region in regions:
        op.add_region(region)
    defaults = _defaults(operation)
    if defaults is not None:
        for name, default in defaults[0]:
            op.properties.setdefault(name, default)
        for name, default in defaults[1]:
            op.attributes.setdefault(name, default)
    # `ImplicitBuilder` replaces `__post_init__` to insert operations that are created.
    Operation.__post_init__(op)
    return op


def location_at(file: StringAttr, line: IntAttr, column: IntAttr) -> FileLineColLoc:
    """`FileLineColLoc(file, line, column)`, whose constructor checks the types of the three."""
    location = FileLineColLoc.__new__(FileLineColLoc)
    # A frozen dataclass refuses assignment.
    set_field = object.__setattr__
    set_field(location, "filename", file)
    set_field(location, "line", line)
    set_field(location, "column", column)
    return location


def annotated_location(location: LocationAttr, metadata: Attribute) -> FusedLoc:
    """
    A location with metadata, `loc(fused<metadata>[location])`; the constructor of `FusedLoc` checks
    the types of both.
    """
    annotated = FusedLoc.__new__(FusedLoc)
    set_field = object.__setattr__
    set_field(annotated, "locations", ArrayAttr((location,)))
    set_field(annotated, "metadata", metadata)
    return annotated


def call_site(callee: LocationAttr, caller: LocationAttr) -> LocationAttr:
    """
    The location of an operation that was inlined, `loc(callsite(callee at caller))`; what is not
    known is left out. As above, without the constructor.
    """
    if isinstance(callee, UnknownLoc) or isinstance(caller, UnknownLoc):
        return caller if isinstance(callee, UnknownLoc) else callee
    location = CallSiteLoc.__new__(CallSiteLoc)
    set_field = object.__setattr__
    set_field(location, "callee", callee)
    set_field(location, "caller", caller)
    return location


@cache
def _defaults(operation: type[Operation]) -> tuple[_Defaults, _Defaults] | None:
    """The properties and attributes of a class that are there unless others are given."""
    # `issubclass` asks all subclasses of an abstract class before it says no.
    if IRDLOperation not in operation.__mro__:
        return None
    definition = cast("type[IRDLOperation]", operation).get_irdl_definition()
    properties, attributes = (
        tuple(
            (name, entry.default_value)
            for name, entry in entries.items()
            if not isinstance(entry, OptionalDef) and entry.default_value is not None
        )
        for entries in (definition.properties, definition.attributes)
    )
    return (properties, attributes) if properties or attributes else None
