"""The layout of an array in memory: `#xla.layout<{1,0:T(8,128)S(1)}>`, spelled as HLO spells it.

The fields and their order are those of HLO text (docs/specification/layouts.md#spelling). What HLO
text cannot spell follows after the braces: bounds of dynamic dimensions and the padding of the
older layout form.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

from xdsl.irdl import irdl_attr_definition
from xdsl.printer import Printer

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.spelling import Scanner, SpellingError

COMBINE = None
"""The tile entry `*`: the dimension is merged with the next more minor one before tiling."""

PADDING_VALUES = ("ZERO_PAD", "ONE_PAD", "LOWEST_PAD", "HIGHEST_PAD", "UNKNOWN_PAD")
"""What the padding of the older form holds."""


MEMORY_SPACES = {
    0: "the default memory, on an accelerator its high-bandwidth memory",
    1: "fast memory on the device, VMEM on a TPU",
    5: "memory of the host",
    6: "unpinned memory of the host",
}
"""What the memory spaces are whose numbers have one meaning everywhere."""

MAX_TILES = 64
"""Levels of tiles; real layouts have up to three, and every level adds dimensions to the buffer."""


class LayoutError(SpellingError):
    """A layout that is misspelled or does not fit its shape; the message names the rule."""


Tile = tuple[int | None, ...]


@dataclass(frozen=True)
class Layout:
    """All facts of one layout. `Layout(minor_to_major)` is dense and untiled."""

    minor_to_major: tuple[int, ...]
    """Dimension numbers, the most minor (fastest changing) first."""
    tiles: tuple[Tile, ...] = ()
    """Tiles in order of application; each covers the most minor physical dimensions."""
    tail_padding_alignment_in_elements: int = 1
    """Elements are appended until their number is a multiple of this."""
    index_type: str = ""
    """Element type of the indices of a sparse array; rejected for arrays."""
    pointer_type: str = ""
    """Element type of the pointers of a sparse array; rejected for arrays."""
    element_size_in_bits: int = 0
    """Width of a packed element; 0 is the natural size."""
    memory_space: int = 0
    """One of `MEMORY_SPACES`, or a number that the device knows."""
    split_configs: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """(physical dimension from major, split indices) pairs."""
    dynamic_shape_metadata_prefix_bytes: int = 0
    """Bytes of size data in front of a bounded dynamic array."""
    bounds: tuple[int | None, ...] = ()
    """Upper bound of each dynamic dimension, None where a dimension is static or unbounded."""
    padded_dimensions: tuple[int, ...] = ()
    """Older form: the width that each dimension is padded to."""
    padding_value: str = ""
    """Older form: one of `PADDING_VALUES`."""

    @staticmethod
    def default(rank: int) -> Layout:
        """The default layout: major to minor, dense."""
        return Layout(tuple(range(rank - 1, -1, -1)))

    @property
    def is_default(self) -> bool:
        """Whether this says nothing beyond the default of its rank."""
        return self == Layout.default(len(self.minor_to_major))

    @staticmethod
    def parse(text: str) -> Layout:
        """
        Reads the braces of a layout, `{1,0:T(2,2)}`; blanks are allowed between tokens.

        Raises LayoutError (with the position in the text) for any other spelling.
        """
        scanner = _LayoutScanner(text)
        layout = scanner.layout()
        if scanner.position != len(text) or text != text.rstrip():
            scanner.fail("nothing more after '}'")
        return layout

    def __str__(self) -> str:
        parts = "".join(
            spell(value)
            for name, spell in _SPELLINGS
            if (value := getattr(self, name)) != _DEFAULTS[name]
        )
        dims = ",".join(map(str, self.minor_to_major))
        return f"{{{dims}:{parts}}}" if parts else f"{{{dims}}}"

    def validate(self, dimensions: Sequence[int]) -> None:
        """
        Checks the rules (C1) to (C8), docs/specification/layouts.md#c1.

        `dimensions`: sizes of the array, negative where dynamic. Raises LayoutError.
        """
        rank = len(dimensions)
        _rule(
            sorted(self.minor_to_major) == list(range(rank)),
            f"(C1) minor_to_major {{{','.join(map(str, self.minor_to_major))}}} is no permutation "
            f"of the {rank} dimensions",
        )
        _rule(len(self.tiles) <= MAX_TILES, f"(C2) more than {MAX_TILES} levels of tiles")
        for tile in self.tiles:
            _rule(
                bool(tile)
                and tile[-1] is not COMBINE
                and all(entry is None or entry >= 1 for entry in tile),
                f"(C2) tile {_spell_tiles((tile,))} needs entries that are * or at least 1, "
                "and a number last",
            )
        _rule(
            self.tail_padding_alignment_in_elements >= 1,
            f"(C3) tail padding alignment is {self.tail_padding_alignment_in_elements}",
        )
        self._validate_older_form(dimensions)
        _rule(self.memory_space >= 0, f"(C5) memory space is {self.memory_space}")
        _rule(
            self.element_size_in_bits >= 0, f"(C6) element size is {self.element_size_in_bits} bits"
        )
        self._validate_splits([dimensions[d] for d in reversed(self.minor_to_major)])
        _rule(
            not self.index_type and not self.pointer_type,
            "(C8) index and pointer types belong to sparse arrays only",
        )
        self._validate_bounds(dimensions)

    def divisions(self, dimensions: Sequence[int]) -> tuple[TileDivision, ...]:
        """What each tile makes of the sizes that the tiles before it left."""
        sizes = self.untiled_shape(dimensions)
        found: list[TileDivision] = []
        for tile in self.tiles:
            found.append(TileDivision.of(sizes, tile))
            sizes = found[-1].sizes
        return tuple(found)

    def untiled_shape(self, dimensions: Sequence[int]) -> tuple[int, ...]:
        """
        The sizes in memory before any tile, the most major first.

        `dimensions`: sizes of the array, bounds of dynamic ones. Padded to the widths of the older
        form; of a split dimension only the largest part.
        """
        widths = self.padded_dimensions or dimensions
        sizes = [int(widths[d]) for d in reversed(self.minor_to_major)]
        for position, indices in self.split_configs:
            limits = (0, *indices, sizes[position])
            sizes[position] = max(b - a for a, b in pairwise(limits))
        return tuple(sizes)

    def physical_shape(self, dimensions: Sequence[int]) -> tuple[int, ...]:
        """
        The sizes of the buffer as a dense row-major array: all tiles applied, the most major first.

        `dimensions`: sizes of the array, bounds of dynamic ones. Tail padding has no place in it.
        """
        divisions = self.divisions(dimensions)
        return divisions[-1].sizes if divisions else self.untiled_shape(dimensions)

    def steps(self, dimensions: Sequence[int]) -> list[LayoutStep]:
        """
        The way from an array to the sizes of its buffer, `physical_shape`, step by step.

        `dimensions`: sizes of the array, bounds of dynamic ones.
        """
        sizes = tuple(map(int, dimensions))
        found: list[LayoutStep] = []

        def add(after: tuple[int, ...], pads: bool = False) -> None:
            found.append(LayoutStep(found[-1].after if found else sizes, after, pads))

        def transpose(order: tuple[int, ...]) -> None:
            before = found[-1].after
            found.append(LayoutStep(before, tuple(before[d] for d in order), order=order))

        add(self.padded_dimensions or sizes, pads=True)
        transpose(self.minor_to_major[::-1])
        for division in self.divisions(dimensions):
            lead = division.lead
            pairs = list(zip(division.counts, division.entries, strict=True))
            add((*lead, *division.merged))
            add((*lead, *(count * entry for count, entry in pairs)), pads=True)
            add((*lead, *(n for pair in pairs for n in pair)))
            first, last = len(lead), len(lead) + 2 * len(pairs)
            transpose((*range(first), *range(first, last, 2), *range(first + 1, last, 2)))
        return found

    def buffer_elements(self, dimensions: Sequence[int]) -> int:
        """
        The number of elements of the buffer, padding included.

        `dimensions`: sizes of the array, bounds of dynamic ones.
        """
        alignment = self.tail_padding_alignment_in_elements
        return -(-math.prod(self.physical_shape(dimensions)) // alignment) * alignment

    def _validate_older_form(self, dimensions: Sequence[int]) -> None:
        if not self.padded_dimensions:
            _rule(not self.padding_value, "(C4) a padding value without padded dimensions")
            return
        _rule(
            len(self.padded_dimensions) == len(dimensions)
            and all(p >= d for p, d in zip(self.padded_dimensions, dimensions, strict=True)),
            f"(C4) padded dimensions {list(self.padded_dimensions)} for sizes {list(dimensions)}",
        )
        _rule(not self.tiles, "(C4) padded dimensions cannot be combined with tiles")

    def _validate_bounds(self, dimensions: Sequence[int]) -> None:
        rank = len(dimensions)
        _rule(len(self.bounds) in (0, rank), f"{len(self.bounds)} bounds for {rank} dimensions")
        for number, bound in enumerate(self.bounds):
            _rule(
                bound is None or (bound >= 0 and dimensions[number] < 0),
                f"dimension {number} has the bound {bound}, the size {dimensions[number]}",
            )

    def _validate_splits(self, physical: Sequence[int]) -> None:
        numbers = [dimension for dimension, _ in self.split_configs]
        _rule(len(set(numbers)) == len(numbers), "(C7) a dimension is split twice")
        for dimension, indices in self.split_configs:
            _rule(0 <= dimension < len(physical), f"(C7) no physical dimension {dimension}")
            limits = (0, *indices, physical[dimension])
            _rule(
                all(a < b for a, b in pairwise(limits)),
                f"(C7) split indices {list(indices)} do not rise strictly inside "
                f"size {physical[dimension]}",
            )


class LayoutStep(NamedTuple):
    """From sizes to others: by padding at the ends, by a transpose, or else by a reshape."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    pads: bool = False
    order: tuple[int, ...] | None = None
    """Of a transpose: which dimension comes first, second and so on."""

    @property
    def order_back(self) -> tuple[int, ...]:
        """Of a transpose: the order that undoes it."""
        order = self.order or ()
        return tuple(sorted(range(len(order)), key=order.__getitem__))


@dataclass(frozen=True)
class TileDivision:
    """What a tile makes of physical sizes, see docs/specification/layouts.md#tiling."""

    prepended: int
    """How many sizes 1 were added in front, because the tile is longer than the sizes."""
    lead: tuple[int, ...]
    """The sizes that the tile leaves alone."""
    runs: tuple[tuple[int, ...], ...]
    """The sizes that it divides; those of `*` entries stand in one run with the next other one."""
    entries: tuple[int, ...]
    """Its entries that are numbers: one for each run."""

    @property
    def merged(self) -> tuple[int, ...]:
        """The size of each run, merged into one dimension."""
        return tuple(math.prod(run) for run in self.runs)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many tiles there are along each merged size, the last one perhaps not full."""
        return tuple(-(-n // e) for n, e in zip(self.merged, self.entries, strict=True))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The physical sizes after the tile: its own dimensions are the most minor ones."""
        return (*self.lead, *self.counts, *self.entries)

    @staticmethod
    def of(sizes: Sequence[int], tile: Tile) -> TileDivision:
        """Divides the most minor sizes; where the tile is longer, sizes 1 are added in front."""
        prepended = max(0, len(tile) - len(sizes))
        sizes = (1,) * prepended + tuple(sizes)
        split = len(sizes) - len(tile)
        runs: list[tuple[int, ...]] = []
        start = split
        for position, entry in enumerate(tile, split + 1):
            if entry is not COMBINE:
                runs.append(sizes[start:position])
                start = position
        entries = tuple(entry for entry in tile if entry is not None)
        return TileDivision(prepended, sizes[:split], tuple(runs), entries)


def _rule(holds: bool, message: str) -> None:
    if not holds:
        raise LayoutError(message)


def _spell_tiles(tiles: tuple[Tile, ...]) -> str:
    entries = (",".join("*" if e is COMBINE else str(e) for e in tile) for tile in tiles)
    return "T" + "".join(f"({e})" for e in entries)


def _spell_splits(splits: tuple[tuple[int, tuple[int, ...]], ...]) -> str:
    return "SC" + "".join(f"({d}:{','.join(map(str, indices))})" for d, indices in splits)


_SPELLINGS: tuple[tuple[str, Callable[..., str]], ...] = (
    ("tiles", _spell_tiles),
    ("tail_padding_alignment_in_elements", "L({})".format),
    ("index_type", "#({})".format),
    ("pointer_type", "*({})".format),
    ("element_size_in_bits", "E({})".format),
    ("memory_space", "S({})".format),
    ("split_configs", _spell_splits),
    ("dynamic_shape_metadata_prefix_bytes", "M({})".format),
)
"""The fields after the colon in the one order HLO text has them, with their spelling."""

_DEFAULTS = {f.name: f.default for f in fields(Layout)}

_INTEGER = re.compile(r"-?\d{1,19}(?!\d)")
_KEY = re.compile(r"[A-Z]+|[#*]")
_LEVEL = re.compile(r"[DCSH]\+?~?(?!\w)")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class _LayoutScanner(Scanner):
    """Reads one layout from a text, left to right."""

    def __init__(self, text: str):
        super().__init__(text)
        self.found: dict[str, object] = {}

    def fail(self, expected: str) -> NoReturn:
        found = self.text[self.position : self.position + 1] or "the end"
        raise LayoutError(f"expected {expected} in a layout, found '{found}'", self.position)

    def integer(self) -> int:
        return int(self.match(_INTEGER, "an integer").group())

    def entry(self) -> int | None:
        return COMBINE if self.accept("*") else self.integer()

    def word(self) -> str:
        return self.match(_WORD, "a name").group()

    def one(self, item: Callable[[], int | str]) -> int | str:
        self.expect("(")
        value = item()
        self.expect(")")
        return value

    def groups(self, item: Callable[[], object]) -> tuple[object, ...]:
        self.expect("(")
        items = [item()]
        while self.accept("("):
            items.append(item())
        return tuple(items)

    def split(self) -> tuple[int, tuple[int | None, ...]]:
        dimension = self.integer()
        self.expect(":")
        return dimension, tuple(self.items(")", self.integer))

    def levels(self, count: int) -> None:
        """The level types of the old sparse form: read and dropped, as XLA does."""
        self.expect("(")
        start = self.position
        found = len(self.items(")", self.level))
        if found != count:
            self.position = start
            self.fail(f"{count} level types")

    def level(self) -> None:
        """Dense, compressed (H: loosely) or singleton; `+`: not unique, `~`: not ordered."""
        self.match(_LEVEL, "a level type D, C, S or H")

    def layout(self) -> Layout:
        self.expect("{")
        order: list[int] = []
        while not (closed := self.accept("}")) and not self.accept(":"):
            if order:
                self.expect(",")
            order.append(self.integer())
        if not closed:
            self.attributes(len(order))
        return Layout(tuple(order), **self.found)  # pyright: ignore[reportArgumentType]

    def bound(self) -> int | None:
        return None if self.accept("?") else self.integer()

    def sizes(self, item: Callable[[], int | None]) -> tuple[int | None, ...]:
        """`[item, item]`"""
        self.expect("[")
        return tuple(self.items("]", item))

    def option(self, found: dict[str, Any]) -> None:
        """`name = value`"""
        start, name = self.position, self.word()
        if name not in _OPTIONS or name in found:
            raise LayoutError(f"unknown or repeated layout field '{name}'", start)
        self.expect("=")
        found[name] = _OPTIONS[name](self)

    def key(self) -> str:
        """The key of the next field; the position stays in front of it."""
        match = _KEY.match(self.text, self.position)
        return match.group() if match else ""

    def attributes(self, rank: int) -> None:
        if self.key() == "D":
            self.expect("D")
            self.levels(rank)
        for key, name, read in _READERS:
            if self.key() == key:
                self.expect(key)
                self.found[name] = read(self)
        self.expect("}")


_READERS: tuple[tuple[str, str, Callable[[_LayoutScanner], object]], ...] = (
    ("T", "tiles", lambda s: s.groups(lambda: tuple(s.items(")", s.entry)))),
    ("L", "tail_padding_alignment_in_elements", lambda s: s.one(s.integer)),
    ("#", "index_type", lambda s: s.one(s.word)),
    ("*", "pointer_type", lambda s: s.one(s.word)),
    ("E", "element_size_in_bits", lambda s: s.one(s.integer)),
    ("S", "memory_space", lambda s: s.one(s.integer)),
    ("SC", "split_configs", lambda s: s.groups(s.split)),
    ("M", "dynamic_shape_metadata_prefix_bytes", lambda s: s.one(s.integer)),
)
"""What may stand after the colon, in the one order that is allowed."""


_OPTIONS: Mapping[str, Callable[[_LayoutScanner], object]] = {
    "bounds": lambda s: s.sizes(s.bound),
    "padded_dimensions": lambda s: s.sizes(s.integer),
    "padding_value": lambda s: s.one_of(PADDING_VALUES),
}
"""What may follow the braces in an encoding."""


@irdl_attr_definition
class LayoutAttr(SpelledAttribute[Layout]):
    """The encoding of a tensor whose layout is not the default one."""

    name = "xla.layout"

    @classmethod
    def read(cls, text: str) -> Layout:
        """Reads `{...}, bounds = [..], padded_dimensions = [..], padding_value = ZERO_PAD`."""
        scanner = _LayoutScanner(text)
        layout = scanner.layout()
        options: dict[str, Any] = {}
        while scanner.accept(","):
            scanner.option(options)
        scanner.finish()
        return replace(layout, **options)

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `read` reads."""
        layout = self.data
        text = str(layout)
        for name in ("bounds", "padded_dimensions"):
            sizes: Sequence[int | None] = getattr(layout, name)
            if sizes:
                entries = ", ".join("?" if size is None else str(size) for size in sizes)
                text += f", {name} = [{entries}]"
        if layout.padding_value:
            text += f", padding_value = {layout.padding_value}"
        printer.print_string(f"<{text}>")
