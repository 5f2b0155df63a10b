"""Where the operations of a text stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Operation, Region

from xla_dialect.xdsl.creation import location_at
from xla_dialect.xdsl.traversal import operations_in

_number = lru_cache(4096)(IntAttr)
"""Numbers of lines and columns, which recur."""


class SourceLocations:
    """File, line and column of the operations of one text."""

    def __init__(
        self,
        text: str = "",
        file_name: str = "<input>",
        positions: dict[Operation, int] | None = None,
    ):
        """`positions`: where in the text operations start; others have their own location."""
        self._positions = {} if positions is None else positions
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._file = StringAttr(file_name)
        self.start = FileLineColLoc(self._file, IntAttr(1), IntAttr(1))
        """The start of the text."""

    def of(self, op: Operation) -> FileLineColLoc | None:
        """Where an operation stands, None where that is not known."""
        offset = self._positions.get(op)
        if offset is None:
            return op.location if isinstance(op.location, FileLineColLoc) else None
        line = bisect_right(self._line_starts, offset)
        column = offset - self._line_starts[line - 1] + 1
        return location_at(self._file, _number(line), _number(column))

    def copy(self, source: Region, target: Region) -> None:
        """The operations of a copied region stand where the original ones do."""
        for old, new in zip(operations_in(source), operations_in(target), strict=True):
            if old in self._positions:
                self._positions[new] = self._positions[old]
