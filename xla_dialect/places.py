"""Where operations come from, as messages say it."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation


def place_of(location: Attribute) -> tuple[str, int, int] | None:
    """File, line and column of a location, looked up through names, fusions and call sites."""
    match location:
        case FileLineColLoc():
            return location.filename.data, location.line.data, location.column.data
        case CallSiteLoc():
            return place_of(location.callee)
        case NameLoc():
            return place_of(location.location)
        case FusedLoc(locations=ArrayAttr() as parts):
            places = (place_of(part) for part in parts)
            return next((place for place in places if place is not None), None)
        case _:
            return None


def described(op: Operation) -> str:
    """An operation and where it stands, as messages about others name it."""
    place = place_of(op.location)
    return op.name if place is None else f"{op.name} at {':'.join(map(str, place))}"
